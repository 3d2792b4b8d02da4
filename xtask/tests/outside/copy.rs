//! A crawl moves from a data directory into a fleet and back: half-way, killed, with everything kept.
//!
//! A made-up web of some hosts on loopback addresses, each page with links to its children and to its like
//! on other hosts. The store is a PostgreSQL of our own. `ARGIOPE_COPY_KILLS=20` kills copies more
//! often.

use crate::cluster::{CARELESS, Cluster, name_in};
use crate::rig::{CRAWL_LIMIT, Rig, SHORT_LIMIT, count, knob, skip, summary};
use crate::sites::Dice;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use xtask::process::{self, Running, wait_until};

const HOSTS: usize = 8;
const PAGES: usize = 60;
const ALL: usize = HOSTS * PAGES;

struct Web {
    addresses: Arc<Vec<SocketAddr>>,
    asked: Arc<AtomicUsize>,
    paths: Arc<Mutex<BTreeMap<(usize, String), usize>>>,
}

impl Web {
    fn start() -> Result<Web> {
        let bind = |host: usize| {
            TcpListener::bind((Ipv4Addr::new(127, 2, 0, host as u8 + 1), 0)).context("bind")
        };
        let listeners: Vec<TcpListener> = (0..HOSTS).map(bind).collect::<Result<_>>()?;
        let addresses: Vec<SocketAddr> =
            listeners.iter().map(TcpListener::local_addr).collect::<Result<_, _>>()?;
        let addresses = Arc::new(addresses);
        let (asked, paths) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<_>>::default());
        let web = Web { addresses, asked, paths };
        for (host, listener) in listeners.into_iter().enumerate() {
            let (addresses, asked, paths) =
                (web.addresses.clone(), web.asked.clone(), web.paths.clone());
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let (addresses, asked, paths) =
                        (addresses.clone(), asked.clone(), paths.clone());
                    std::thread::spawn(move || {
                        answer_all(&stream, host, &addresses, |path| {
                            asked.fetch_add(1, Ordering::Relaxed);
                            let mut paths = paths.lock().unwrap_or_else(PoisonError::into_inner);
                            *paths.entry((host, path)).or_insert(0) += 1;
                        })
                    });
                }
            });
        }
        Ok(web)
    }

    fn url(&self, host: usize, page: usize) -> String {
        format!("http://{}/{page}", self.addresses[host])
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// Pages that were asked for more than once, and how often in all.
    fn repeated(&self) -> usize {
        let paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        paths.iter().filter(|((_, path), _)| path != "/robots.txt").map(|(_, n)| n - 1).sum()
    }
}

fn answer_all(
    stream: &TcpStream,
    host: usize,
    addresses: &[SocketAddr],
    asked: impl Fn(String),
) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream);
    loop {
        let (mut path, mut line) = (String::new(), String::new());
        while lines.read_line(&mut line)? > 0 && !line.trim().is_empty() {
            if path.is_empty() {
                path = line.split(' ').nth(1).unwrap_or("/").to_owned();
            }
            line.clear();
        }
        if path.is_empty() {
            return Ok(());
        }
        let page = path.trim_start_matches('/').parse().ok().filter(|n| (1..=PAGES).contains(n));
        asked(path);
        std::thread::sleep(Duration::from_millis(2));
        let (status, body) = match page {
            None => ("404 Not Found", "none".to_owned()),
            Some(page) => ("200 OK", body(host, page, addresses)),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        (&*stream).write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
    }
}

fn body(host: usize, page: usize, addresses: &[SocketAddr]) -> String {
    let children =
        |n: usize, most: usize| [2 * n, 2 * n + 1].into_iter().filter(move |c| *c <= most);
    let mut text =
        format!("<title>Page {page} of host {host}</title>\n<p>word{page}of{host} stands here.\n");
    children(page, PAGES).for_each(|child| text += &format!("<a href=\"/{child}\">{child}</a>\n"));
    for child in children(host + 1, addresses.len()) {
        text += &format!("<a href=\"http://{}/{page}\">next door</a>\n", addresses[child - 1]);
    }
    // Enough for several files, whatever packs them.
    let noise = Dice::new((host * PAGES + page) as u64).bytes(12_000);
    let noise: String = noise.iter().map(|byte| format!("{byte:02x}")).collect();
    text + &format!("<!-- {noise} -->\n")
}

/// A rig, a server and a web.
struct Scene {
    rig: Rig,
    url: String,
    web: Web,
    cluster: Cluster,
}

impl Scene {
    fn new(name: &str) -> Result<Option<Scene>> {
        let Some(rig) = Rig::new(name, &[])? else { return Ok(None) };
        let Some(cluster) = Cluster::start(CARELESS) else { return Ok(None) };
        let (url, web) = (cluster.database(), Web::start()?);
        Ok(Some(Scene { rig, url, web, cluster }))
    }

    /// Crawls, and is killed when about so many pages were asked for.
    fn crawl_and_kill(&self, data: &str, args: &[&str], pages: usize) -> Result<()> {
        let start = self.web.url(0, 1);
        let always = ["--format", "json", "crawl", &start, "--scope", "any", "--allow-private"];
        let small = ["--delay", "30ms", "--set", "archive.segment_size=1MB"];
        let args = [&always[..], &small, args].concat();
        let mut crawl = Running::start(&mut self.rig.argiope(data, &args), &self.rig.dir, "half")?;
        let enough = self.web.asked() + pages;
        wait_until("half of it", CRAWL_LIMIT, || {
            ensure!(crawl.is_running()?, "it ended: {}", crawl.err_so_far());
            Ok(self.web.asked() >= enough)
        })?;
        crawl.kill().map(|_| ())
    }

    fn copy(&self, args: &[&str]) -> Result<process::Finished> {
        let args = [&["--format", "json", "store", "copy"], args].concat();
        process::run(&mut self.rig.argiope("none", &args), &self.rig.dir, "copy", CRAWL_LIMIT)
    }

    /// Copies, killed again and again, and at last to its end: before it has joined the fleet,
    /// then later and later.
    fn copy_killed(&self, args: &[&str], check: impl Fn(&Scene) -> Result<()>) -> Result<Value> {
        let all = [&["--format", "json", "store", "copy"], args].concat();
        for n in 0..knob("ARGIOPE_COPY_KILLS", 3)? {
            let mut command = self.rig.argiope("none", &all);
            let mut copy = Running::start(&mut command, &self.rig.dir, "killed")?;
            let joined = format!("SELECT count(*) FROM workers WHERE name LIKE '%{})'", copy.id());
            wait_until("its joining", SHORT_LIMIT, || {
                Ok(n == 0 || self.sql(&joined) == "1" || !copy.is_running()?)
            })?;
            std::thread::sleep(Duration::from_millis(15 * n + 15));
            if !copy.is_running()? {
                let done = copy.wait(SHORT_LIMIT)?.ok().context("a copy that was not killed")?;
                ensure!(n > 0, "it was over before it could be killed");
                return summary(&done);
            }
            copy.kill()?;
            if self.is_made(args) {
                return Ok(json!({ "finished": true }));
            }
            check(self)?;
        }
        summary(&self.copy(args)?.ok().context("the last copy")?)
    }

    /// Whether a copy had come to its end before it was killed.
    fn is_made(&self, args: &[&str]) -> bool {
        let dir = match args.contains(&"first") {
            true => self.rig.dir.join("pages/worker-1"),
            false => self.rig.dir.join("back"),
        };
        dir.join("manifest.json").exists() && !dir.join("copying.json").exists()
    }

    fn sql(&self, sql: &str) -> String {
        let sql = format!("SET search_path = argiope; {sql}");
        self.cluster.sql(name_in(&self.url), &sql).trim().to_owned()
    }

    /// The numbers of some documents, by their URLs.
    fn numbers(&self, data: &str) -> Result<BTreeMap<String, Value>> {
        let mut out = BTreeMap::new();
        for (host, page) in (0..HOSTS).flat_map(|host| [(host, 1), (host, 3), (host, 6)]) {
            let url = self.web.url(host, page);
            let done = self.rig.run(data, &["--format", "json", "doc", &url])?;
            if done.code == Some(0) {
                let row: Value = serde_json::from_str(done.out_text().trim())?;
                ensure!(row["doc"].is_u64(), "no number in {row}");
                out.insert(url, row["doc"].clone());
            }
        }
        Ok(out)
    }

    /// All pages are there, each once.
    fn is_whole(&self, data: &str) -> Result<()> {
        self.rig.verify(data)?;
        let captures = self.rig.captures(data)?;
        let pages: Vec<_> = captures.iter().filter(|c| c.status == "200").collect();
        let urls: BTreeSet<&str> = pages.iter().map(|c| c.url.as_str()).collect();
        ensure!((pages.len(), urls.len()) == (ALL, ALL), "{} captures", captures.len());
        for (host, page) in [(0, 1), (3, 17), (HOSTS - 1, PAGES)] {
            let rows = self.rig.rows(data, &["search", &format!("word{page}of{host}")])?;
            let url = self.web.url(host, page);
            let found = rows.iter().any(|row| row["url"] == url.as_str());
            ensure!(found, "{url} is not found: {rows:?}");
        }
        Ok(())
    }
}

#[test]
fn a_crawl_goes_into_a_fleet_and_back_and_every_page_is_there_once() -> Result<()> {
    let Some(scene) = Scene::new("copy-there-and-back")? else { return Ok(()) };
    let (rig, url) = (&scene.rig, scene.url.as_str());
    scene.crawl_and_kill("first", &[], ALL / 3)?;
    let before = scene.numbers("first")?;
    ensure!(before.len() >= 5, "{before:?}");
    let known = rig.captures("first")?;

    let there = ["--from", "first", "--to", url, "--archive", "pages"];
    let plan = rig.rows("none", &[&["store", "copy"], &there[..], &["--dry-run"]].concat())?;
    ensure!(!rig.dir.join("pages/worker-1").exists(), "a dry run has copied");
    let told = scene.copy_killed(&there, |_| Ok(()))?;
    // One that was killed after its last row has only been given its name.
    if told["finished"] != true {
        ensure!(told["tables"] == plan[0]["tables"], "{told} {plan:?}");
        ensure!(count(&told, "files_linked")? >= 1, "the full ones are shared: {told}");
    }
    // Where it came from stays as it was.
    rig.verify("first")?;
    ensure!(rig.captures("first")? == known && scene.numbers("first")? == before);
    // Killed between the last row and the name of the seat, it is given its name.
    let (seat, part) = (rig.dir.join("pages/worker-1"), rig.dir.join("pages/worker-1.part"));
    std::fs::rename(&seat, &part)?;
    let id = scene.sql("SELECT n FROM numbers WHERE name = 'copied'");
    let server = format!("{}:5432/{}", scene.cluster.dir().display(), name_in(url));
    let marker = format!("{{\"format\": 1, \"id\": {id}, \"server\": \"{server}\"}}");
    std::fs::write(part.join("copying.json"), marker)?;
    // A worker was quicker and has taken it.
    std::fs::create_dir(&seat)?;
    std::fs::write(seat.join("lock"), "1")?;
    let told = summary(&scene.copy(&there)?.ok()?)?;
    ensure!(told["finished"] == true && !part.exists(), "{told}");
    let other = rig.dir.join("pages/worker-2");
    ensure!(other.join("fleet.json").exists() && !other.join("copying.json").exists(), "{told}");
    std::fs::remove_dir_all(&seat)?;
    std::fs::rename(&other, &seat)?;
    let again = scene.copy(&there)?;
    ensure!(again.code == Some(1), "copied twice");
    ensure!(again.err.contains("is not empty: ") && again.err.contains("urls ("), "{}", again.err);

    // Two workers go on: one in the place of the pages that were copied, one in a place of its own.
    let always = ["--store", url, "--delay", "30ms", "--allow-private", "--set", "store.lease=3s"];
    let always = [&always[..], &["--set", "archive.segment_size=1MB"]].concat();
    let start = scene.web.url(0, 1);
    let place = |name: &str| rig.dir.join("pages").join(name).display().to_string();
    let (one, two) = (place("worker-1"), place("worker-2"));
    let crawl = ["--format", "json", "crawl", &start, "--scope", "any", "--archive", "pages"];
    let worker = ["--format", "json", "worker", "--archive", "pages"];
    let worker = rig.argiope("none", &[&worker[..], &always[..]].concat());
    let worker = Running::start(&mut { worker }, &rig.dir, "worker")?;
    let mut crawl = rig.argiope("none", &[&crawl[..], &always[..]].concat());
    let crawl = Running::start(&mut crawl, &rig.dir, "crawl")?;
    let told = summary(&crawl.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(told["ended"] == "done", "{told}");

    // Back, but not while somebody works, and not without all pages.
    let back = ["--from", url, "--archive", "pages", "--to", "back"];
    let refused = scene.copy(&back)?;
    ensure!(refused.code == Some(1) && refused.err.contains("at work"), "{}", refused.err);
    Command::new("kill").arg("-TERM").arg(worker.id().to_string()).status()?;
    worker.wait(SHORT_LIMIT)?.ok().context("the worker that was to leave")?;
    let part = scene.copy(&["--from", url, "--archive", &one, "--to", "back"])?;
    ensure!(part.code == Some(1) && part.err.contains("not among"), "{}", part.err);
    let told = scene.copy_killed(&back, |scene| {
        if scene.rig.dir.join("back/copying.json").exists() {
            let asked = scene.rig.run("back", &["search", "word"])?;
            ensure!(asked.code == Some(1) && asked.err.contains("not whole"), "{}", asked.err);
        }
        Ok(())
    })?;
    if told["finished"] != true {
        ensure!(told["tables"]["urls"].as_u64() >= Some(ALL as u64), "{told}");
        let (files, linked) = (count(&told, "files")?, count(&told, "files_linked")?);
        ensure!(linked >= 2 && files >= linked + 4, "the last of two workers are copied: {told}");
    }
    scene.is_whole("back")?;
    let after = scene.numbers("back")?;
    ensure!(before.iter().all(|(url, n)| after.get(url) == Some(n)), "{before:?} {after:?}");
    let refused = scene.copy(&back)?;
    ensure!(refused.err.contains("holds a crawl already"), "{}", refused.err);
    // It is a crawl as any other, and done.
    let told = rig.crawl("back", &[&start, "--scope", "any"])?;
    ensure!(count(&told, "fetched")? == 0 && told["ended"] == "done", "{told}");
    // An open group and what was in flight, when the first was killed.
    ensure!(scene.web.repeated() <= 128, "{} requests repeated", scene.web.repeated());
    // The first goes on by itself, and disturbs nobody.
    rig.verify("first")?;
    let told = rig.crawl("first", &[&start, "--scope", "any"])?;
    ensure!(told["ended"] == "done" && count(&told, "fetched")? > 0, "{told}");
    scene.is_whole("first")?;
    rig.verify("back")?;
    for seat in [&one, &two] {
        let args = ["verify", "--store", url, "--archive", seat];
        rig.run("none", &args)?.ok().with_context(|| format!("verify of {seat}"))?;
    }
    Ok(())
}

#[test]
fn what_a_fleet_has_begun_is_ended_in_a_directory() -> Result<()> {
    let Some(scene) = Scene::new("copy-to-end")? else { return Ok(()) };
    let url = scene.url.as_str();
    let fleet = ["--store", url, "--archive", "pages", "--set", "store.lease=2s"];
    scene.crawl_and_kill("none", &fleet, ALL / 2)?;
    // Until it is taken for dead, it could be alive.
    let back = ["--from", url, "--archive", "pages", "--to", "back"];
    let refused = scene.copy(&back)?;
    ensure!(refused.err.contains("taken for dead when"), "{}", refused.err);
    std::thread::sleep(Duration::from_secs(3));
    scene.copy(&back)?.ok()?;
    let start = scene.web.url(0, 1);
    let told = scene.rig.crawl("back", &[&start, "--scope", "any"])?;
    ensure!(told["ended"] == "done" && count(&told, "fetched")? > 0, "{told}");
    scene.is_whole("back")?;
    ensure!(scene.web.repeated() <= 128, "{} requests repeated", scene.web.repeated());
    // The fleet has kept its own; what is forgotten here is not forgotten there.
    scene.rig.run("back", &["forget", &scene.web.url(0, 1), "--yes"])?.ok()?;
    scene.rig.verify("back")?;
    let args = ["verify", "--store", url, "--archive", "pages"];
    scene.rig.run("none", &args)?.ok().context("verify of the fleet")?;
    Ok(())
}

#[test]
fn a_copy_onto_a_full_disk_says_so_and_is_made_again() -> Result<()> {
    let name = "copy-full-disk";
    let Some(scene) = Scene::new(name)? else { return Ok(()) };
    let (rig, url) = (&scene.rig, scene.url.as_str());
    let fleet = ["--store", url, "--archive", "pages", "--set", "store.lease=2s"];
    scene.crawl_and_kill("none", &fleet, ALL / 4)?;
    std::thread::sleep(Duration::from_secs(3));
    let disk = rig.folder("disk")?;
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=200k", "argiope"]).arg(&disk);
    if let Err(error) = process::output(&mut mount) {
        return skip(name, &format!("{error:#}"));
    }
    let full = scene.copy(&["--from", url, "--archive", "pages", "--to", "disk/back"]);
    let said = rig.run("disk/back", &["jobs"]);
    let mut more = Command::new("mount");
    more.args(["-o", "remount,size=300m", "argiope"]).arg(&disk);
    process::output(&mut more)?;
    let done = scene.copy(&["--from", url, "--archive", "pages", "--to", "disk/back"]);
    let checked = rig.verify("disk/back");
    let _ = Command::new("umount").arg("--lazy").arg(&disk).status();
    let (full, said) = (full?, said?);
    ensure!(full.code == Some(1) && full.err.contains("is full; make room"), "{}", full.err);
    ensure!(said.code == Some(1), "what is half copied is used: {}", said.out_text());
    done?.ok()?;
    checked
}

#[test]
fn what_cannot_be_copied_is_said_in_a_sentence() -> Result<()> {
    let Some(rig) = Rig::new("copy-refused", &[])? else { return Ok(()) };
    let away = "postgres://me:s3cret@127.0.0.1:1/argiope";
    for (from, to, code, said) in [
        ("one", "two", 2, "is the store of a fleet"),
        (away, away, 2, "is a data directory"),
        (away, "two", 1, "could not be reached"),
        ("nothing", away, 1, "there is no crawl in nothing"),
    ] {
        let args = ["store", "copy", "--from", from, "--to", to, "--archive", "pages"];
        let done = rig.run("none", &args)?;
        ensure!(done.code == Some(code), "{from} {to}: {:?} {}", done.code, done.err);
        ensure!(done.err.contains(said) && !done.err.contains("s3cret"), "{}", done.err);
    }
    Ok(())
}
