//! A WACZ file as its readers take it apart.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

use argiope_archive::*;
use argiope_model::{Location, Time};
use flate2::read::{GzDecoder, MultiGzDecoder};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

/// The entries of a zip without compression, by its list at the end.
fn entries(zip: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let number = |at: usize, len: usize| {
        zip[at..at + len].iter().rev().fold(0_usize, |n, b| n << 8 | *b as usize)
    };
    let end = zip.len() - 22;
    assert_eq!(number(end, 4), 0x0605_4b50);
    let mut at = number(end + 16, 4);
    let mut out = BTreeMap::new();
    for _ in 0..number(end + 10, 2) {
        assert_eq!((number(at, 4), number(at + 10, 2)), (0x0201_4b50, 0), "listed and stored");
        let (len, name_len) = (number(at + 24, 4), number(at + 28, 2));
        let local = number(at + 42, 4);
        let name = String::from_utf8(zip[at + 46..at + 46 + name_len].to_vec()).unwrap();
        let data = local + 30 + number(local + 26, 2) + number(local + 28, 2);
        let bytes = zip[data..data + len].to_vec();
        let mut crc = flate2::Crc::new();
        crc.update(&bytes);
        assert_eq!(crc.sum() as usize, number(local + 14, 4), "{name}");
        out.insert(name, bytes);
        at += 46 + name_len + number(at + 30, 2);
    }
    out
}

fn line(n: usize) -> String {
    let location = Location { segment: 1, offset: n as u64, length: 1 };
    let url = format!("http://a.test/{n:04}");
    cdxj_line(&url, Time(0), "text/html", 200, &[0; 20], location, "a.warc.gz", false)
}

#[test]
fn every_part_is_there_and_named_with_its_digest() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.wacz");
    let mut index = WaczIndex::create(dir.path()).unwrap();
    (0..700).for_each(|n| index.push(&line(n)).unwrap());
    let mut pages = WaczPages::create(dir.path(), false).unwrap();
    let (url, ts) = ("http://a.test/0000", Time(0).iso_seconds());
    pages.push(&WaczPage { id: "1".into(), url, ts, title: "A \"page\"", text: None }).unwrap();
    let info = WaczInfo {
        software: "argiope/0".into(),
        title: "T".into(),
        created: Time(1_700_000_000_000),
        main_page: Some((url.to_owned(), Time(0))),
    };
    let mut wacz = WaczWriter::create(&out, info).unwrap();
    wacz.add_warc("a.warc.gz", &mut &b"not really"[..], 10).unwrap();
    wacz.add_index(index).unwrap();
    wacz.add_pages(pages).unwrap();
    assert!(!out.exists(), "it appears when it is whole");
    let length = wacz.finish().unwrap();
    let zip = std::fs::read(&out).unwrap();
    assert_eq!(zip.len() as u64, length);
    assert!(!dir.path().join("x.wacz.part").exists());

    let entries = entries(&zip);
    assert_eq!(entries["archive/a.warc.gz"], b"not really");
    let package: Value = serde_json::from_slice(&entries["datapackage.json"]).unwrap();
    assert_eq!(package["wacz_version"], "1.1.1");
    assert_eq!(package["mainPageUrl"], url);
    let resources = package["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 4);
    let hash =
        |bytes: &[u8]| format!("sha256:{}", data_encoding::HEXLOWER.encode(&body_digest(bytes)));
    for resource in resources {
        let bytes = &entries[resource["path"].as_str().unwrap()];
        assert_eq!(resource["hash"], hash(bytes), "{resource}");
        assert_eq!(resource["bytes"], bytes.len());
    }
    let digest: Value = serde_json::from_slice(&entries["datapackage-digest.json"]).unwrap();
    assert_eq!(digest["hash"], hash(&entries["datapackage.json"]));

    // The blocks together are the lines, and each is found by its line of the list.
    let blocks = &entries["indexes/index.cdx.gz"];
    let mut text = String::new();
    MultiGzDecoder::new(&blocks[..]).read_to_string(&mut text).unwrap();
    assert!(text.lines().eq((0..700).map(line)));
    let list = String::from_utf8(entries["indexes/index.idx"].clone()).unwrap();
    let mut list = list.lines();
    assert!(list.next().unwrap().starts_with("!meta 0 {"));
    let mut count = 0;
    for row in list {
        let json: Value = serde_json::from_str(row.splitn(3, ' ').nth(2).unwrap()).unwrap();
        let number = |name: &str| json[name].as_u64().unwrap() as usize;
        let block = &blocks[number("offset")..number("offset") + number("length")];
        assert_eq!(json["digest"], hash(block));
        let mut first = String::new();
        GzDecoder::new(block).read_to_string(&mut first).unwrap();
        let key: Vec<&str> = row.splitn(3, ' ').take(2).collect();
        assert!(first.starts_with(&key.join(" ")), "{row}");
        count += 1;
    }
    assert_eq!(count, 3);
    let pages = String::from_utf8(entries["pages/pages.jsonl"].clone()).unwrap();
    let pages: Vec<Value> = pages.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!((&pages[0]["format"], pages.len()), (&Value::from("json-pages-1.0"), 2));
    assert_eq!((&pages[1]["title"], pages[1].get("text")), (&Value::from("A \"page\""), None));
}

#[test]
fn a_file_that_is_given_up_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.wacz");
    let mut wacz = WaczWriter::create(&out, WaczInfo::default()).unwrap();
    assert!(wacz.add_warc("a", &mut &b"short"[..], 9).is_err());
    wacz.abandon();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
