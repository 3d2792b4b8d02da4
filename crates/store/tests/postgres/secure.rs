//! TLS and passwords, on a PostgreSQL that listens on the loopback with a certificate made for it.

#![allow(clippy::print_stderr)] // What is skipped is said.

use crate::cluster::{CARELESS, Cluster, name_in};
use argiope_store::{PostgresOptions, PostgresStore, StoreError};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

fn openssl(dir: &Path, args: &str) {
    let done = Command::new("openssl").args(args.split(' ')).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "openssl {args}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A server on a port of its own; it offers TLS with a certificate of `localhost`, which `ca.crt` issued.
fn listening() -> Option<(Cluster, PathBuf)> {
    if Command::new("openssl").arg("version").output().is_err() {
        assert!(std::env::var_os("ARGIOPE_NO_SKIP").is_none(), "openssl is not installed");
        eprintln!("SKIPPED: openssl is not installed");
        return None;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = format!("{CARELESS}listen_addresses = '127.0.0.1'\nport = {port}\n");
    let cluster = Cluster::alone(&settings)?;
    let dir = cluster.dir().to_owned();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&dir, &format!("req -x509 {key} -keyout ca.key -out ca.crt -subj /CN=root -days 2"));
    openssl(&dir, &format!("req {key} -keyout server.key -out server.csr -subj /CN=localhost"));
    std::fs::write(dir.join("names"), "subjectAltName = DNS:localhost").unwrap();
    let sign = "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2";
    openssl(&dir, &format!("{sign} -extfile names -out server.crt"));
    let key = dir.join("server.key");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();
    let owner = std::fs::metadata(&dir).unwrap();
    chown(&key, Some(owner.uid()), None).unwrap();
    for (name, file) in [("ssl_cert_file", "server.crt"), ("ssl_key_file", "server.key")] {
        let set = format!("ALTER SYSTEM SET {name} = '{}'", dir.join(file).display());
        cluster.sql("postgres", &set);
    }
    cluster.sql("postgres", "ALTER SYSTEM SET ssl = on");
    reload(&cluster);
    Some((cluster, dir))
}

fn reload(cluster: &Cluster) {
    cluster.sql("postgres", "SELECT pg_reload_conf()");
    // What is reloaded counts for those who come after it was read.
    std::thread::sleep(std::time::Duration::from_millis(300));
}

fn open(url: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open(url, PostgresOptions::default())
}

#[test]
fn sslmode_means_what_it_means_to_postgresql() {
    let Some((cluster, dir)) = listening() else { return };
    let database = cluster.database();
    let (name, port) = (name_in(&database), cluster.port());
    let root = format!("&sslrootcert={}", dir.join("ca.crt").display());
    let itself = format!("&sslrootcert={}", dir.join("server.crt").display());
    let url = |host: &str, mode: &str, root: &str| {
        format!("postgres://postgres@{host}:{port}/{name}?sslmode={mode}{root}")
    };
    let is_secure = || {
        let sql = "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE application_name = 'argiope'";
        cluster.sql(name, sql).trim().to_owned()
    };
    for (host, mode, root, secure) in [
        ("localhost", "disable", "", "f"),
        ("localhost", "prefer", "", "t"),
        ("127.0.0.1", "require", "", "t"),
        ("127.0.0.1", "verify-ca", root.as_str(), "t"),
        ("localhost", "verify-full", root.as_str(), "t"),
        ("localhost", "verify-full", itself.as_str(), "t"),
    ] {
        let store = open(&url(host, mode, root)).unwrap_or_else(|e| panic!("{mode} {host}: {e}"));
        assert_eq!(is_secure(), secure, "{mode} {host}");
        store.fleet().unwrap();
        drop(store);
        while !is_secure().is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&dir, &format!("req -x509 {key} -keyout o.key -out other.crt -subj /CN=other -days 2"));
    let other = format!("&sslrootcert={}", dir.join("other.crt").display());
    for (host, mode, root, says) in [
        ("127.0.0.1", "verify-full", root.as_str(), "its certificate is for another name"),
        ("localhost", "verify-ca", other.as_str(), "issued by nobody that is trusted here"),
        ("localhost", "verify-full", other.as_str(), "issued by nobody that is trusted here"),
        ("localhost", "require", other.as_str(), "issued by nobody that is trusted here"),
    ] {
        let refused = open(&url(host, mode, root)).err().unwrap();
        assert!(!refused.is_passing() && refused.to_string().contains(says), "{mode}: {refused}");
    }
    cluster.sql("postgres", "ALTER SYSTEM SET ssl = off");
    reload(&cluster);
    let refused = open(&url("localhost", "require", "")).err().unwrap().to_string();
    assert!(refused.contains("does not offer TLS"), "{refused}");
    open(&url("localhost", "prefer", "")).unwrap();
}

/// Set for a process that only opens the store which this names.
const CHILD: &str = "ARGIOPE_TEST_OPEN";

#[test]
fn a_password_comes_from_the_environment_or_from_a_file() {
    if let Ok(url) = std::env::var(CHILD) {
        open(&url).unwrap();
        return;
    }
    let Some((cluster, dir)) = listening() else { return };
    let database = cluster.database();
    let (name, port) = (name_in(&database), cluster.port());
    cluster.sql(name, "CREATE ROLE ann LOGIN SUPERUSER PASSWORD 'only hers'");
    let hba = dir.join("data/pg_hba.conf");
    let rules = std::fs::read_to_string(&hba).unwrap();
    let first = "host all ann all scram-sha-256\nlocal all ann scram-sha-256\n";
    std::fs::write(&hba, format!("{first}{rules}")).unwrap();
    reload(&cluster);
    let url = format!("postgres://ann@localhost:{port}/{name}");
    let refused = open(&format!("{url}?passfile=/nowhere")).err().unwrap();
    assert!(!refused.is_passing(), "{refused}");

    let file = dir.join("passwords");
    std::fs::write(&file, format!("localhost:{port}:*:ann:only hers\n*:*:*:*:wrong\n")).unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let store = open(&format!("{url}?passfile={}", file.display())).unwrap();
    assert_eq!(store.name(), format!("localhost:{port}/{name}"));
    // By its socket, in both ways to write it.
    let socket = dir.display().to_string();
    std::fs::write(&file, format!("{socket}:{port}:{name}:ann:only hers\n")).unwrap();
    let words = format!("host={socket} port={port} user=ann dbname={name}");
    open(&format!("{words} passfile='{}'", file.display())).unwrap();
    let encoded = socket.replace('/', "%2F");
    let by_url = format!("postgres://ann@{encoded}:{port}/{name}?passfile={}", file.display());
    open(&by_url).unwrap();

    for (password, opens) in [("only hers", true), ("wrong", false)] {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "secure::a_password_comes_from_the_environment_or_from_a_file"]);
        let again = again.env(CHILD, &url).env("PGPASSWORD", password).output().unwrap();
        let told = String::from_utf8_lossy(&again.stdout).into_owned();
        assert_eq!(again.status.success(), opens, "{told}");
        assert!(told.contains("running 1 test"), "{told}");
        assert!(!told.contains("only hers"), "{told}");
    }
}
