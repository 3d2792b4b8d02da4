//! What other tools get: segments and their index, pages, links.

use crate::support::{Opened, Place, order, served, settings};
use argiope_archive::WarcReader;
use argiope_crawl::{
    EngineSettings, PageFilter, StoredLinks, WaczOrder, export_cdxj, export_jsonl, export_text,
    export_text_tree, export_wacz, export_warc, write_edges, write_webgraph,
};
use argiope_testweb::WebSpec;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_line_of_the_index_leads_to_its_record() {
    let web = WebSpec { sites: 2, pages_per_site: 40, mean_page_bytes: 2000, ..WebSpec::demo() };
    let served = served(web).await;
    let place = Place::new();
    let settings = EngineSettings { segment_bytes: 60_000, ..settings() };
    place.crawl(settings, order(&served.bases())).await;
    let opened = place.open();
    let out = tempfile::tempdir().unwrap();
    let files = export_warc(&opened.dir, &*opened.store, out.path()).expect("an export");
    assert!(files.len() > 2, "several segments");
    let records: usize =
        files.iter().map(|(file, _)| WarcReader::new(File::open(file).unwrap()).count()).sum();
    let mut index = Vec::new();
    let lines = export_cdxj(&opened.dir, &*opened.store, &mut index).expect("an index");
    // Each file begins with a record about itself.
    assert_eq!(lines as usize, records - files.len());
    let index = String::from_utf8(index).unwrap();
    assert!(index.lines().is_sorted(), "sorted by bytes, as readers search it");
    for line in index.lines() {
        let json: Value = serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let number = |name: &str| json[name].as_str().unwrap().parse::<u64>().unwrap();
        let mut file = File::open(out.path().join(json["filename"].as_str().unwrap())).unwrap();
        file.seek(SeekFrom::Start(number("offset"))).unwrap();
        let mut entries = WarcReader::new(file.take(number("length")));
        let entry = entries.next().unwrap().expect("a whole record");
        assert_eq!(entry.headers.get("WARC-Target-URI"), json["url"].as_str());
        assert!(entries.next().is_none(), "one record and no more");
    }
    assert!(!place.path.join("spool/cdxj").exists(), "scratch files are removed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_onto_the_archive_itself_is_refused() {
    let served = served(crate::support::plain(1, 5)).await;
    let place = Place::new();
    place.crawl(settings(), order(&served.bases())).await;
    let opened = place.open();
    let before = fs::read(opened.dir.warc().join(argiope_archive::warc_segment_name(1))).unwrap();
    let there = place.path.join("store/../warc");
    assert!(export_warc(&opened.dir, &*opened.store, &there).is_err());
    let after = fs::read(opened.dir.warc().join(argiope_archive::warc_segment_name(1))).unwrap();
    assert_eq!(after, before);
    opened.assert_verified();
}

/// A directory with four pages that were imported, one of which asks not to be shown.
fn imported() -> (Place, Opened) {
    use argiope_crawl::{ImportOrder, ImportProblem, ImportSummary, ImportWatch, import_warc};
    struct Silent;
    impl ImportWatch for Silent {
        fn problem(&mut self, problem: ImportProblem) {
            panic!("{problem:?}");
        }
        fn progress(&mut self, _: &ImportSummary) {}
    }
    let page = |address: &str, head: &str, body: &str| {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{head}\r\n{body}");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {address}\r\n\
             WARC-Date: 2020-01-02T03:04:05Z\r\nContent-Type: application/http\r\n\
             Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let links =
        "<a href=/b>to b</a> <area href=/b alt=\"b &amp; again\"> <a href=http://far.test/>far</a>";
    let records = [
        page("http://a.test/", "", &format!("<title>A</title><p>front {links}")),
        page("http://a.test/secret", "X-Robots-Tag: noarchive\r\n", "<p>unshown words"),
        page("http://a.test/b", "", "<title>B</title><a href=/>home</a><p>second"),
        page("http://other.test/x.html", "", "<title>O</title><p>elsewhere"),
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.warc");
    fs::write(&path, records.concat()).unwrap();
    let place = Place::new();
    let opened = place.open();
    let order = ImportOrder { files: vec![path], dry_run: false };
    let (store, settings) = (opened.store.clone(), settings());
    import_warc(&opened.dir, store, &settings, &order, &mut Silent).expect("an import");
    (place, opened)
}

fn everything() -> PageFilter {
    PageFilter { anyway: true, ..PageFilter::default() }
}

#[test]
fn pages_are_exported_as_json_lines_and_those_that_ask_not_to_be_are_left_out() {
    let (_place, opened) = imported();
    let lines = |filter: &PageFilter| {
        let mut out = Vec::new();
        let done = export_jsonl(&opened.dir, &*opened.store, filter, &mut out).expect("lines");
        let text = String::from_utf8(out).unwrap();
        let rows: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(rows.len() as u64, done.pages);
        (rows, done.asked_not)
    };
    let (rows, asked_not) = lines(&PageFilter::default());
    assert_eq!((rows.len(), asked_not), (3, 1));
    let front = rows.iter().find(|row| row["url"] == "http://a.test/").unwrap();
    assert_eq!((&front["title"], &front["status"]), (&Value::from("A"), &Value::from(200)));
    assert_eq!(front["type"], "text/html");
    assert_eq!(front["fetched_at"], "2020-01-02T03:04:05.000Z");
    assert!(front["text"].as_str().unwrap().contains("front"), "{front}");
    assert_eq!(lines(&everything()).0.len(), 4);
    let sites = vec!["other.test".to_owned()];
    assert_eq!(lines(&PageFilter { sites, ..PageFilter::default() }).0[0]["title"], "O");
    let since = argiope_archive::warc_date("2021");
    assert_eq!(lines(&PageFilter { since, ..PageFilter::default() }).0.len(), 0);
}

#[test]
fn texts_are_exported_as_a_tree_or_one_after_the_other() {
    let (_place, opened) = imported();
    let out = tempfile::tempdir().unwrap();
    let filter = PageFilter::default();
    let done = export_text_tree(&opened.dir, &*opened.store, &filter, out.path()).expect("texts");
    assert_eq!((done.pages, done.asked_not), (3, 1));
    let doc = opened.capture("http://other.test/x.html").doc;
    let path = out.path().join(format!("other.test/x.html.{doc}.txt"));
    let text = fs::read_to_string(path).unwrap();
    assert!(text.starts_with("http://other.test/x.html\nO\n\n"), "{text}");
    assert!(text.contains("elsewhere"));
    let mut all = Vec::new();
    export_text(&opened.dir, &*opened.store, &everything(), &mut all).expect("a stream");
    let all = String::from_utf8(all).unwrap();
    assert_eq!(all.matches("\x0c\n").count(), 4);
    assert!(all.contains("unshown words"));
}

#[test]
fn a_wacz_holds_every_record_but_those_that_ask_not_to_be_shown() {
    let (_place, opened) = imported();
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("x.wacz");
    let order = WaczOrder { software: "argiope/test".into(), ..WaczOrder::default() };
    let done = export_wacz(&opened.dir, &*opened.store, &order, &path).expect("a WACZ");
    assert_eq!((done.records, done.pages, done.asked_not), (3, 3, 1));
    let zip = fs::read(&path).unwrap();
    assert_eq!(zip.len() as u64, done.bytes);
    // The records lie in it as they are: what reads WARC finds them, and each at its place.
    let begin = 30 + "archive/argiope-000001.warc.gz".len();
    let entries: Vec<_> = WarcReader::new(&zip[begin..]).flatten().collect();
    let urls: Vec<_> = entries.iter().filter_map(|e| e.headers.target_uri()).collect();
    assert_eq!(urls, ["http://a.test/", "http://a.test/b", "http://other.test/x.html"]);
    let blocks = find(&zip, b"indexes/index.cdx.gz") + "indexes/index.cdx.gz".len();
    let mut index = String::new();
    flate2::read::GzDecoder::new(&zip[blocks..]).read_to_string(&mut index).unwrap();
    assert_eq!(index.lines().count(), 3);
    for line in index.lines() {
        let json: Value = serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let number = |name: &str| json[name].as_str().unwrap().parse::<usize>().unwrap();
        let record = &zip[begin + number("offset")..][..number("length")];
        let entry = WarcReader::new(record).next().unwrap().expect("a whole record");
        assert_eq!(entry.headers.target_uri(), json["url"].as_str());
    }
    let all = WaczOrder { anyway: true, ..order };
    let done = export_wacz(&opened.dir, &*opened.store, &all, &path).expect("a WACZ");
    assert_eq!((done.records, done.pages, done.asked_not), (4, 4, 0));
    assert!(!opened.dir.spool().join("wacz").exists(), "scratch files are removed");
}

fn find(bytes: &[u8], name: &[u8]) -> usize {
    bytes.windows(name.len()).position(|w| w == name).unwrap()
}

#[test]
fn links_are_exported_once_for_each_pair_with_their_words() {
    let (_place, opened) = imported();
    let source = StoredLinks::new(&opened.dir, &*opened.store);
    let mut edges = Vec::new();
    write_edges(&source, &mut edges).expect("edges");
    let edges = String::from_utf8(edges).unwrap();
    let mut lines: Vec<&str> = edges.lines().skip(1).collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "http://a.test/\thttp://a.test/b\t2\tto b | b & again",
            "http://a.test/\thttp://far.test/\t1\tfar",
            "http://a.test/b\thttp://a.test/\t1\thome",
        ]
    );
    let (mut graph, mut urls) = (Vec::new(), Vec::new());
    let done = write_webgraph(&source, &mut graph, &mut urls).expect("a graph");
    assert_eq!((done.nodes, done.edges), (4, 2));
    let urls = String::from_utf8(urls).unwrap();
    let number = |url: &str| urls.lines().position(|u| u == url).unwrap();
    let graph = String::from_utf8(graph).unwrap();
    let lines: Vec<&str> = graph.lines().collect();
    assert_eq!((lines[0], lines.len()), ("4", 5));
    let (front, second) = (number("http://a.test/"), number("http://a.test/b"));
    assert_eq!(lines[1 + front], second.to_string());
    assert_eq!(lines[1 + second], front.to_string());
}
