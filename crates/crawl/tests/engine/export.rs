//! What other tools get: segments and their index.

use crate::support::{Place, order, served, settings};
use argiope_archive::WarcReader;
use argiope_crawl::{EngineSettings, export_cdxj, export_warc};
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
