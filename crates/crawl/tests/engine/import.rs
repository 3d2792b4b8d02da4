//! Archives of others, and our own, taken in.

use crate::support::{Opened, Place, order, plain, served, settings, url};
use argiope_archive::{WarcReader, read_record, read_text};
use argiope_crawl::{
    Access, DataDir, ImportOrder, ImportProblem, ImportSummary, ImportWatch, export_warc,
    import_warc,
};
use argiope_model::{JobState, OutcomeKind};
use argiope_store::{UrlState, decode_links};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Default)]
struct Noted(Vec<ImportProblem>);

impl ImportWatch for Noted {
    fn problem(&mut self, problem: ImportProblem) {
        self.0.push(problem);
    }
    fn progress(&mut self, _: &ImportSummary) {}
}

fn import(
    opened: &Opened,
    files: &[PathBuf],
    dry_run: bool,
) -> (ImportSummary, Vec<ImportProblem>) {
    let order = ImportOrder { files: files.to_vec(), dry_run };
    let mut noted = Noted::default();
    let done = import_warc(&opened.dir, opened.store.clone(), &settings(), &order, &mut noted);
    (done.expect("an import"), noted.0)
}

/// A record as some tool would write it.
fn record(kind: &str, address: &str, date: &str, more: &str, block: &[u8]) -> Vec<u8> {
    let mut out = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {address}\r\nWARC-Date: {date}\r\n\
         WARC-Record-ID: <urn:uuid:{}>\r\nContent-Type: application/http; msgtype={kind}\r\n\
         {more}Content-Length: {}\r\n\r\n",
        address.len(),
        block.len()
    )
    .into_bytes();
    out.extend_from_slice(block);
    out.extend_from_slice(b"\r\n\r\n");
    out
}

fn answer(head: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{head}\r\n{body}").into_bytes()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn file(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

const DATE: &str = "2020-01-02T03:04:05Z";

#[test]
fn plain_packed_by_record_and_packed_as_a_whole_are_all_read() {
    let (place, dir) = (Place::new(), tempfile::tempdir().unwrap());
    let page = |n: u32| {
        let body = format!("<title>Page {n}</title><a href=/next/{n}>on</a>");
        record("response", &format!("http://a.test/{n}"), DATE, "", &answer("", &body))
    };
    let packed: Vec<u8> = [3, 4].into_iter().flat_map(|n| gz(&page(n))).collect();
    let files = [
        file(dir.path(), "plain.warc", &[page(1), page(2)].concat()),
        file(dir.path(), "packed.warc.gz", &packed),
        file(dir.path(), "whole.warc.gz", &gz(&[page(5), page(6)].concat())),
    ];
    let opened = place.open();
    let (would, problems) = import(&opened, &files, true);
    assert_eq!((would.captures, would.job, problems), (6, None, vec![]));
    assert!(opened.rows().is_empty(), "a dry run changes nothing");
    let (done, problems) = import(&opened, &files, false);
    assert_eq!((done.captures, done.records, done.known), (6, 6, 0));
    assert_eq!(problems, []);
    for n in 1..=6 {
        let address = format!("http://a.test/{n}");
        let capture = opened.capture(&address);
        assert_eq!(capture.time.iso_seconds(), DATE);
        assert_eq!(capture.outcome.kind, OutcomeKind::Fetched);
        let text = read_text(&opened.dir.text(), capture.text.unwrap()).unwrap();
        assert_eq!(text.title, format!("Page {n}"));
        let key = url(&address).key(opened.dir.suffixes());
        let links = opened.store.links(&[key]).unwrap().pop().flatten().unwrap();
        assert_eq!(decode_links(&links).unwrap()[0].url, url(&format!("http://a.test/next/{n}")));
    }
    assert_eq!(opened.rows().len(), 6, "what they link to is not queued, nor even known");
    let jobs = opened.store.jobs().unwrap();
    assert_eq!((jobs.len(), jobs[0].state), (1, JobState::Done));
    assert_eq!(jobs[0].counters.fetched, 6);
    opened.assert_verified();
    // Once more: nothing is added, not even a job.
    let before = opened.store.segments(argiope_store::SegmentKind::Warc).unwrap();
    let (again, _) = import(&opened, &files, false);
    assert_eq!((again.captures, again.known, again.job), (0, 6, None));
    assert_eq!(opened.store.segments(argiope_store::SegmentKind::Warc).unwrap(), before);
    assert_eq!(opened.store.jobs().unwrap().len(), 1);
    opened.assert_verified();
}

#[test]
fn chunks_are_undone_and_kept_ends_are_named() {
    let (place, dir) = (Place::new(), tempfile::tempdir().unwrap());
    let head = "Transfer-Encoding: chunked\r\n";
    let respond = |path: &str, body: &str| {
        record("response", &format!("http://a.test/{path}"), DATE, "", &answer(head, body))
    };
    let bytes = [
        respond("framed", "5\r\n<p>on\r\n3\r\ne\r\n\r\n0\r\n\r\n"),
        respond("plain", "<p>two"),
        respond("cut", "5\r\n<p>th\r\nff\r\nree"),
    ]
    .concat();
    let opened = place.open();
    let (done, problems) = import(&opened, &[file(dir.path(), "x.warc", &bytes)], false);
    assert_eq!((done.captures, problems.len()), (3, 1));
    assert!(problems[0].problem.contains("chunks break off") && !problems[0].skipped);
    let payload = |path: &str| opened.record(&format!("http://a.test/{path}"));
    assert_eq!(payload("framed").payload, b"<p>one\r\n");
    assert_eq!(payload("plain").payload, b"<p>two");
    assert_eq!(payload("cut").payload, b"<p>three");
    assert_eq!(payload("cut").headers.get("WARC-Truncated"), Some("unspecified"));
    let head = String::from_utf8(payload("framed").http_head).unwrap();
    assert!(head.contains("X-Archive-Orig-Transfer-Encoding: chunked"), "{head}");
    assert!(head.contains("Content-Length: 8"), "{head}");
    opened.assert_verified();
}

#[test]
fn odd_and_broken_records_are_told_with_their_place_and_the_rest_comes_in() {
    let (place, dir) = (Place::new(), tempfile::tempdir().unwrap());
    let good = |n: u32| {
        record("response", &format!("http://a.test/{n}"), DATE, "", &answer("", "<p>good"))
    };
    let mut bytes = good(1);
    let mut expected: Vec<(u64, &str)> = Vec::new();
    let odd: [(&str, Vec<u8>); 6] = [
        ("its URL", record("response", "urn:x", DATE, "", &answer("", "x"))),
        ("no date", record("response", "http://a.test/d", "yesterday", "", &answer("", "x"))),
        ("no answer of HTTP", record("response", "http://a.test/h", DATE, "", b"hello")),
        ("304", record("response", "http://a.test/n", DATE, "", b"HTTP/1.1 304 Same\r\n\r\n")),
        ("bytes passed over", b"WARC/1.0\r\nContent-Length: none\r\n\r\n".to_vec()),
        ("not give its digest", {
            let wrong = "WARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n";
            record("response", "http://a.test/w", DATE, wrong, &answer("", "<p>wrong"))
        }),
    ];
    for (why, record) in &odd {
        expected.push((bytes.len() as u64, why));
        bytes.extend_from_slice(record);
    }
    bytes.extend(record("request", "http://a.test/1", DATE, "", b"GET / HTTP/1.1\r\n\r\n"));
    bytes.extend(good(2));
    expected.push((bytes.len() as u64, "ends"));
    bytes.extend(&good(3)[..100]);
    let opened = place.open();
    let (done, problems) = import(&opened, &[file(dir.path(), "odd.warc", &bytes)], false);
    let told: Vec<u64> = problems.iter().map(|p| p.offset).collect();
    let offsets: BTreeSet<u64> = expected.iter().map(|(at, _)| *at).collect();
    assert_eq!(told.iter().copied().collect::<BTreeSet<_>>(), offsets, "{problems:#?}");
    for (at, why) in &expected[..6] {
        let found = problems.iter().find(|p| p.offset == *at).unwrap();
        assert!(found.problem.contains(why), "{found:?} should say {why}");
    }
    assert_eq!((done.captures, done.skipped, done.damages), (3, 4, 2), "{problems:#?}");
    assert_eq!(done.others["request"], 1);
    opened.assert_verified();
}

#[test]
fn revisits_are_resolved_wherever_their_originals_stand() {
    let (place, dir) = (Place::new(), tempfile::tempdir().unwrap());
    let body = "<title>Same</title><p>the same words";
    let original = record("response", "http://a.test/first", DATE, "", &answer("", body));
    let revisit = |address: &str, refers: &str, date: &str| {
        let more = format!(
            "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n\
             WARC-Refers-To-Target-URI: {refers}\r\nWARC-Refers-To-Date: {DATE}\r\n"
        );
        record("revisit", address, date, &more, &answer("X-Own: yes\r\n", ""))
    };
    let (first, later) = ("http://a.test/first", "2020-01-03T00:00:00Z");
    let bytes = [
        revisit("http://a.test/early", first, later), // before its original
        original,
        revisit(first, first, later),
        revisit("http://other.test/x", first, later), // of another site
        revisit("http://a.test/lost", "http://a.test/nowhere", later),
    ]
    .concat();
    let opened = place.open();
    let (done, problems) = import(&opened, &[file(dir.path(), "r.warc", &bytes)], false);
    assert_eq!((done.captures, done.revisits, done.skipped), (4, 3, 1), "{problems:?}");
    assert!(problems[0].problem.contains("a revisit of a record that is not here"));
    let early = opened.capture("http://a.test/early");
    assert!(early.revisit && early.text.is_some());
    let record = opened.record("http://a.test/early");
    assert!(String::from_utf8(record.http_head).unwrap().contains("X-Own: yes"));
    let other = opened.capture("http://other.test/x");
    assert!(!other.revisit, "another site's payload is stored once more");
    let stored = read_record(&opened.dir.warc(), other.record.unwrap()).unwrap();
    assert_eq!(stored.payload, body.as_bytes());
    assert_eq!(opened.captures(first).len(), 2);
    opened.assert_verified();
    let (again, _) = import(&opened, &[dir.path().join("r.warc")], false);
    assert_eq!((again.captures, again.known), (0, 4));
}

#[test]
fn two_answers_of_one_second_are_both_kept_and_known_again() {
    let (place, dir) = (Place::new(), tempfile::tempdir().unwrap());
    let page = |body: &str| record("response", "http://a.test/", DATE, "", &answer("", body));
    let bytes = [page("<p>one"), page("<p>two"), page("<p>one"), page("<p>three")].concat();
    let files = [file(dir.path(), "s.warc", &bytes)];
    let opened = place.open();
    let (done, _) = import(&opened, &files, false);
    assert_eq!((done.captures, done.known), (3, 1));
    assert_eq!(opened.captures("http://a.test/").len(), 3);
    opened.assert_verified();
    assert_eq!(import(&opened, &files, false).0.known, 4);
}

#[test]
fn large_bodies_pass_through_the_disk() {
    let (place, dir) = (Place::new(), tempfile::tempdir().unwrap());
    let body = "<p>many words of one page ".repeat(200_000);
    let bytes = record("response", "http://a.test/large", DATE, "", &answer("", &body));
    let opened = place.open();
    let (done, problems) = import(&opened, &[file(dir.path(), "l.warc.gz", &gz(&bytes))], false);
    assert_eq!((done.captures, problems), (1, vec![]));
    assert_eq!(opened.record("http://a.test/large").payload, body.as_bytes());
    assert!(!opened.dir.spool().join("import").exists());
    let bodies = fs::read_dir(opened.dir.spool().join("bodies")).unwrap().count();
    assert_eq!(bodies, 0, "nothing is left behind");
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_own_archive_comes_back_as_it_was_and_leaves_a_queue_alone() {
    let served = served(plain(2, 20)).await;
    let (first, second) = (Place::new(), Place::new());
    first.crawl(settings(), order(&served.bases())).await;
    let out = tempfile::tempdir().unwrap();
    let (rows, files) = {
        let opened = first.open();
        let files = export_warc(&opened.dir, &*opened.store, out.path()).unwrap();
        (opened.rows(), files.into_iter().map(|(path, _)| path).collect::<Vec<_>>())
    };
    let opened = second.open();
    let (done, problems) = tokio::task::block_in_place(|| import(&opened, &files, false));
    assert_eq!(problems, []);
    let fetched = rows.values().filter(|r| r.state == UrlState::Fetched).count();
    assert_eq!(opened.in_state(UrlState::Fetched).len(), fetched);
    assert!(done.captures as usize >= fetched);
    opened.assert_verified();
    let records = |dir: &DataDir| {
        let file = File::open(dir.warc().join(argiope_archive::warc_segment_name(1))).unwrap();
        let of = |e: argiope_archive::WarcEntry| {
            (e.headers.target_uri().map(str::to_owned), e.payload_digest)
        };
        WarcReader::new(file).flatten().skip(1).map(of).collect::<BTreeSet<_>>()
    };
    let ours = records(&opened.dir);
    drop(opened);
    let theirs = DataDir::open(&first.path, Access::Visit, crate::support::now()).unwrap();
    assert_eq!(ours, records(&theirs));
    // A crawl of what was imported asks anew: an import is no visit of ours.
    let summary = second.crawl(settings(), order(&served.bases())).await;
    assert!(summary.ended == argiope_crawl::Ended::Done);
    second.open().assert_verified();
}

const CHILD: &str = "ARGIOPE_TEST_IMPORT";

/// What the killed process runs; without an order in its environment it has nothing to do.
#[test]
fn child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let (path, file) = told.split_once('|').expect("a directory and a file");
    import(&crate::support::open(Path::new(path)), &[file.into()], false);
}

#[test]
fn killed_at_any_moment_the_same_command_goes_on() {
    use std::process::{Command, Stdio};
    const PAGES: u32 = 6_000;
    let (place, dir) = (Place::new(), tempfile::tempdir().unwrap());
    let mut bytes = Vec::new();
    for n in 0..PAGES {
        let address = format!("http://h{}.test/{n}", n % 7);
        let body = format!("<title>{n}</title>{}", format!("<p>words of {n} ").repeat(100));
        bytes.extend(gz(&record("response", &address, DATE, "", &answer("", &body))));
    }
    let path = file(dir.path(), "many.warc.gz", &bytes);
    let this = std::env::current_exe().unwrap();
    let (mut kills, mut known) = (0, 0);
    for millis in [300, 900, 500, 1_200] {
        let mut child = Command::new(&this)
            .args(["import::child", "--exact"])
            .env(CHILD, format!("{}|{}", place.path.display(), path.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(millis));
        kills += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        let opened = place.open();
        opened.assert_verified();
        let now = opened.rows().len();
        assert!(now >= known, "nothing that was committed is lost");
        known = now;
    }
    assert!(kills >= 2, "too quick to be killed: {kills}");
    let opened = place.open();
    let (done, problems) = import(&opened, &[path], false);
    assert_eq!(problems, []);
    assert_eq!((done.captures + done.known, done.known), (u64::from(PAGES), known as u64));
    let rows = opened.rows();
    assert_eq!(rows.len(), PAGES as usize);
    assert!(rows.keys().all(|address| opened.captures(address).len() == 1));
    opened.assert_verified();
}
