//! A PostgreSQL of our own: a private cluster in a temporary directory, on a Unix socket, no port.
//!
//! * Its place: tests of the store and the measuring example; nothing here is shipped.
//! * Its end: a shell stands between us and the server and waits on a pipe. When this process ends,
//!   however it does, the pipe closes, the shell ends the server and clears the directory.
//! * As root the server runs as the system's user `postgres`, since it refuses root.
//! * Where PostgreSQL is not installed, the tests that need it say SKIPPED; `ARGIOPE_NO_SKIP=1`
//!   turns that into a failure, and `cargo xtask test` installs it.
//! * On Citus: `ARGIOPE_TEST_CITUS=8` makes every cluster a coordinator with two workers, each a server
//!   with a socket of its own, and the tables of so many shards: all tests run on what is distributed.

#![allow(dead_code, clippy::unwrap_used, clippy::print_stderr)] // Each program uses a part of it.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Fast, and lost with the power: for tests of behaviour.
pub const CARELESS: &str = "fsync = off\nfull_page_writes = off\nshared_buffers = 64MB\n";

/// Ends the server when the pipe closes, and leaves nothing behind.
const KEEPER: &str = r#"dir=$1; shift
"$@" & server=$!
while read -r word; do
    [ "$word" = crash ] && kill -QUIT $server || kill -INT $server
    wait $server
    [ "$word" = again ] || [ "$word" = crash ] || break
    "$@" & server=$!
done
kill -INT $server 2>/dev/null; wait $server 2>/dev/null
cd /; rm -rf "$dir""#;

/// Shards of each table, where nobody says how many: each database of a test has its own.
const SHARDS: u32 = 8;

/// Citus beside what `settings` say.
const CITUS: &str = "shared_preload_libraries = 'citus, pg_stat_statements'
citus.node_conninfo = 'sslmode=prefer'
citus.enable_statistics_collection = off
citus.recover_2pc_interval = 1s
";

/// A running cluster.
pub struct Cluster {
    dir: PathBuf,
    bin: PathBuf,
    keeper: Child,
    port: u16,
    databases: AtomicU32,
    /// The servers that hold the rows, on Citus.
    workers: Vec<Cluster>,
}

/// Where the programs of the newest PostgreSQL lie.
pub fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let version = |dir: &PathBuf| dir.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = versions.map(|entry| entry.path()).filter(|dir| version(dir).is_some());
    let newest = newest.max_by_key(|dir| version(dir)).map(|dir| dir.join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = newest.into_iter().chain(std::env::split_paths(&path));
    places.find(|bin| bin.join("initdb").is_file() && bin.join("postgres").is_file())
}

/// The cluster of this test program; `None` where PostgreSQL is not installed, and says so.
pub fn shared() -> Option<&'static Cluster> {
    static SHARED: LazyLock<Option<Cluster>> = LazyLock::new(|| Cluster::start(CARELESS));
    SHARED.as_ref()
}

/// Whether the newest PostgreSQL can load Citus.
fn has_citus(bin: &Path) -> bool {
    let asked = Command::new(bin.join("pg_config")).arg("--sharedir").output();
    let shared = asked.ok().and_then(|out| String::from_utf8(out.stdout).ok());
    let shared = shared.map(|dir| Path::new(dir.trim()).join("extension/citus.control"));
    // Where only the server is installed, it lies where Debian has it.
    let debian = bin.parent().and_then(Path::file_name).map(|version| {
        Path::new("/usr/share/postgresql").join(version).join("extension/citus.control")
    });
    shared.into_iter().chain(debian).any(|control| control.is_file())
}

impl Cluster {
    /// Makes and starts one with these settings; with Citus where that is asked for.
    pub fn start(settings: &str) -> Option<Cluster> {
        if std::env::var_os("ARGIOPE_TEST_CITUS").is_some() {
            return Cluster::citus(settings);
        }
        Cluster::alone(settings)
    }

    /// One server, and no Citus.
    pub fn alone(settings: &str) -> Option<Cluster> {
        let Some(bin) = programs() else {
            assert!(
                std::env::var_os("ARGIOPE_NO_SKIP").is_none(),
                "PostgreSQL is not installed and may not be skipped"
            );
            eprintln!("SKIPPED: PostgreSQL is not installed (Debian package postgresql)");
            return None;
        };
        Some(Cluster::node(bin, settings))
    }

    /// A coordinator and two workers; `None` where Citus is not installed, and says so.
    pub fn citus(settings: &str) -> Option<Cluster> {
        let Some(bin) = programs().filter(|bin| has_citus(bin)) else {
            assert!(
                std::env::var_os("ARGIOPE_TEST_CITUS").is_none(),
                "Citus is asked for and not installed"
            );
            eprintln!("SKIPPED: Citus is not installed beside PostgreSQL");
            return None;
        };
        let asked = std::env::var("ARGIOPE_TEST_CITUS").ok().and_then(|n| n.parse().ok());
        let shards = asked.unwrap_or(SHARDS);
        let settings = format!("{settings}\n{CITUS}citus.shard_count = {shards}\n");
        let mut cluster = Cluster::node(bin.clone(), &settings);
        cluster.workers = (0..2).map(|_| Cluster::node(bin.clone(), &settings)).collect();
        Some(cluster)
    }

    /// One server.
    fn node(bin: PathBuf, settings: &str) -> Cluster {
        let dir = tempfile::Builder::new().prefix("argiope-pg-").tempdir().unwrap().keep();
        std::fs::set_permissions(&dir, PermissionsExt::from_mode(0o711)).unwrap();
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0);
        let mut user: Vec<String> = Vec::new();
        if is_root {
            let id = Command::new("id").args(["-u", "postgres"]).output().unwrap();
            let id: u32 = String::from_utf8(id.stdout).unwrap().trim().parse().unwrap();
            chown(&dir, Some(id), None).unwrap();
            let run = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"];
            user.extend(run.map(String::from));
        }
        let as_user = |program: &str| {
            let mut words = user.clone();
            words.push(bin.join(program).display().to_string());
            words
        };
        let data = dir.join("data");
        let words = as_user("initdb");
        let made = Command::new(&words[0])
            .args(&words[1..])
            .args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8"])
            .args(["--locale=C", "--pgdata"])
            .arg(&data)
            .current_dir("/")
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let log = std::fs::File::create(dir.join("log")).unwrap();
        let words = as_user("postgres");
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "keeper"]).arg(&dir).args(words).arg("-D").arg(&data);
        let options = format!(
            "listen_addresses = ''\nunix_socket_directories = '{}'\nmax_connections = 200\n{settings}",
            dir.display()
        );
        let file = data.join("postgresql.conf");
        let mut config = std::fs::OpenOptions::new().append(true).open(file).unwrap();
        config.write_all(options.as_bytes()).unwrap();
        keeper.stdin(Stdio::piped()).stdout(log.try_clone().unwrap()).stderr(log);
        let keeper = keeper.current_dir("/").spawn().unwrap();
        let port = settings.lines().find_map(|line| line.strip_prefix("port = "));
        let port = port.map_or(5432, |port| port.parse().unwrap());
        let (databases, workers) = (AtomicU32::new(0), Vec::new());
        let cluster = Cluster { dir, bin, keeper, port, databases, workers };
        cluster.await_ready();
        cluster
    }

    fn await_ready(&self) {
        let begun = Instant::now();
        loop {
            let mut ready = Command::new(self.bin.join("pg_isready"));
            let ready =
                ready.arg("-h").arg(&self.dir).args(["-p", &self.port.to_string()]).output();
            if ready.is_ok_and(|done| done.status.success()) {
                return;
            }
            let log = || std::fs::read_to_string(self.dir.join("log")).unwrap_or_default();
            assert!(begun.elapsed() < Duration::from_secs(60), "PostgreSQL: {}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the server, cutting every connection, and starts it again.
    pub fn restart(&mut self) {
        self.begin_again("again");
    }

    /// As if its machine had lost power, but that what was written is there.
    pub fn crash(&mut self) {
        self.begin_again("crash");
    }

    fn begin_again(&mut self, word: &str) {
        let pid = || std::fs::read_to_string(self.dir.join("data/postmaster.pid"));
        let before = pid().unwrap();
        self.keeper.stdin.as_mut().unwrap().write_all(format!("{word}\n").as_bytes()).unwrap();
        let begun = Instant::now();
        while pid().map_or(true, |now| now.lines().next() == before.lines().next()) {
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not restart");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.await_ready();
    }

    /// The URL of a database that nobody else uses.
    pub fn database(&self) -> String {
        let name = format!("t{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        // Nodes are made known to each other one database at a time: all of them write the same roles.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        for worker in &self.workers {
            worker.sql("postgres", &format!("CREATE DATABASE {name}"));
            worker.sql(&name, "CREATE EXTENSION citus");
        }
        if !self.workers.is_empty() {
            self.sql(&name, "CREATE EXTENSION citus");
        }
        for worker in &self.workers {
            let dir = worker.dir.display();
            self.sql(&name, &format!("SELECT citus_add_node('{dir}', 5432)"));
        }
        self.url(&name)
    }

    /// The servers that hold the rows, on Citus.
    pub fn workers(&mut self) -> &mut [Cluster] {
        &mut self.workers
    }

    /// Every server of it.
    pub fn nodes(&self) -> impl Iterator<Item = &Cluster> {
        std::iter::once(self).chain(&self.workers)
    }

    /// The URL of a database.
    pub fn url(&self, name: &str) -> String {
        format!("host={} user=postgres dbname={name} sslmode=disable", self.dir.display())
    }

    /// Runs statements; answers rows as text, fields parted by `|`.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let done = Command::new(self.bin.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-h"])
            .arg(&self.dir)
            .args(["-p", &self.port.to_string(), "-d", database, "-c", sql])
            .output()
            .unwrap();
        assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    /// Processor time of the server and everything it has started, in seconds.
    pub fn cpu_seconds(&self) -> f64 {
        let file = std::fs::read_to_string(self.dir.join("data/postmaster.pid")).unwrap();
        let server: u32 = file.lines().next().unwrap().trim().parse().unwrap();
        let mut ticks = 0.0;
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            let Some((pid, rest)) = stat.split_once(' ') else { continue };
            // The name in parentheses may hold blanks; behind it: state, parent, …
            let rest = rest.rsplit_once(')').map_or("", |(_, rest)| rest);
            let fields: Vec<&str> = rest.split_whitespace().collect();
            let number =
                |at: usize| fields.get(at).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
            let is_server = pid.parse() == Ok(server);
            if is_server || number(1) == f64::from(server) {
                ticks += number(11) + number(12);
            }
            // Of those that have ended.
            if is_server {
                ticks += number(13) + number(14);
            }
        }
        ticks / 100.0
    }

    /// The port it listens on, where the settings name one.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it lives.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// The name of the database in a URL.
pub fn name_in(url: &str) -> &str {
    url.split_once("dbname=").map_or("", |(_, rest)| rest.split(' ').next().unwrap_or(""))
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
