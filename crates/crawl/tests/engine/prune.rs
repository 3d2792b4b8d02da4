//! Pruning: what stays keeps its bytes, whoever held them; and half a pruning is finished.
//!
//! A site is crawled once; later versions of its pages are written beside, as visits of later days
//! would have left them.

use crate::raw::{Raw, http, missing};
use crate::support::{Opened, Place, now, order, settings, url};
use argiope_archive::{
    Compression, Payload as Bytes, Prepared, RecordHead, SegmentKind as ArchiveKind, Segments,
    WarcInfo, body_digest, not_modified_record, payload_digest, read_record, response_record,
};
use argiope_crawl::{
    ForgetError, ForgetPlan, Keep, PruneOrder, Receipt, Shelf, StoreFiles, Versions,
    finish_forgetting, forget, look_prune, pruned_between,
};
use argiope_model::{Capture, FetchOutcome, OutcomeKind, Time};
use argiope_store::{Batch, EmbeddedStore, Forget, Moved, SegmentKind, Store, StoreError};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

const MEMORY: u64 = 16 << 20;
const DAY: i64 = 86_400_000;
/// Three pages with these bytes.
const SAME: [&str; 3] = ["/a", "/b", "/c"];

fn with_files<T>(act: impl FnOnce(&StoreFiles<'_>) -> T) -> T {
    let open = |path: &Path| -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(EmbeddedStore::open(path, MEMORY)?))
    };
    let rewrite = |_: &Path| panic!("a pruning does not write the store anew");
    act(&StoreFiles { open: &open, rewrite: &rewrite })
}

async fn site() -> Raw {
    Raw::start(|asked| {
        let html = |body: &str| http("200 OK", &[("Content-Type", "text/html")], body);
        match asked.path.as_str() {
            "/" => html("<a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a>"),
            "/a" | "/b" | "/c" => html("<title>same</title><p>The same words thrice."),
            _ => missing(),
        }
    })
    .await
}

/// What a visit of a later day found: other bytes, or that nothing had changed.
enum Found<'a> {
    Other(&'a str),
    AsItWas,
}

/// Writes down a visit of a later day. `first` is the page whose record holds the bytes of that day's.
fn visited(opened: &Opened, page: &str, day: i64, found: Found<'_>, first: &Capture, holder: &str) {
    let key = url(page).key(opened.dir.suffixes());
    let last = opened.captures(page).pop().unwrap();
    let (kind, status) = match found {
        Found::Other(_) => (OutcomeKind::Fetched, 200),
        Found::AsItWas => (OutcomeKind::NotModified, 304),
    };
    let http_head = format!("HTTP/1.1 {status} X\r\nContent-Type: text/html\r\n\r\n");
    let body = if let Found::Other(body) = found { body.as_bytes() } else { b"" };
    let is_other = kind == OutcomeKind::Fetched;
    let head = RecordHead {
        url: page,
        time: Time(last.time.0 + day * DAY),
        ip: None,
        http_head: http_head.as_bytes(),
        payload_digest: if is_other { payload_digest(body) } else { last.payload_digest },
        truncated: None,
    };
    let record: Prepared = match is_other {
        true => {
            let bytes = Bytes::Memory(body);
            response_record(&head, bytes, Compression::Level1, &opened.dir.spool()).unwrap()
        }
        false => not_modified_record(&head, holder, first.time),
    };
    let info = ArchiveKind::Warc { info: WarcInfo::default() };
    let committed = opened.store.segments(SegmentKind::Warc).unwrap();
    let mut warc = Segments::open(&opened.dir.warc(), info, &committed, 1 << 30).unwrap();
    let at = warc.append(record).unwrap();
    warc.sync().unwrap();
    let segments = warc.lengths().into_iter().map(|(n, len)| (SegmentKind::Warc, n, len)).collect();
    let capture = Capture {
        time: head.time,
        outcome: FetchOutcome::new(kind, status),
        record: Some(at),
        revisit: !is_other,
        text: if is_other { None } else { last.text },
        payload_digest: head.payload_digest,
        body_digest: if is_other { body_digest(body) } else { last.body_digest },
        ..last
    };
    let forget = Forget { moved: vec![Moved { key, capture, payload: None }], ..Forget::default() };
    opened.store.commit(Batch { forget, segments, ..Batch::default() }).unwrap();
}

/// The page of [`SAME`] whose record the others refer to, and the others.
fn first_of(opened: &Opened, site: &Raw) -> (String, Vec<String>) {
    let all = SAME.map(|path| site.url(path));
    let (first, others): (Vec<String>, Vec<String>) =
        all.into_iter().partition(|page| !opened.capture(page).revisit);
    assert_eq!((first.len(), others.len()), (1, 2));
    (first[0].clone(), others)
}

fn order_of(targets: &[&String], keep: Keep) -> PruneOrder {
    let targets = targets.iter().map(|t| (*t).clone()).collect();
    PruneOrder { targets, keep, sites: Vec::new(), before_ms: i64::MAX }
}

fn prune(opened: Opened, order: &PruneOrder) -> Result<Receipt, ForgetError> {
    let Opened { dir, store } = opened;
    let plan = look_prune(&dir, &*store, order, now())?;
    with_files(|files| forget(&dir, store, plan, files))
}

/// The bytes of a version.
fn shown(opened: &Opened, page: &str, n: usize) -> String {
    let captures_of = |other: &str| Ok(opened.captures(other));
    let shelf =
        Shelf { warc: opened.dir.warc(), text: opened.dir.text(), captures_of: &captures_of };
    let versions = Versions { url: url(page), captures: opened.captures(page) };
    let mut out = String::new();
    shelf.open(&versions, n).unwrap().plain().unwrap().read_to_string(&mut out).unwrap();
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_as_it_was_refers_to_the_copy_when_its_original_goes() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    let opened = place.open();
    let (first, others) = first_of(&opened, &site);
    let original = opened.capture(&first);
    // The page with the record has another version, the others are told to be as they were.
    visited(&opened, &first, 1, Found::Other("<p>Other words."), &original, &first);
    for other in &others {
        visited(&opened, other, 2, Found::AsItWas, &original, &first);
    }
    opened.assert_verified();
    let receipt = prune(opened, &order_of(&[&first], Keep::Last(1))).unwrap();
    assert_eq!((receipt.captures, receipt.versions.len(), receipt.moved.len()), (1, 1, 4));
    assert_eq!(receipt.versions[0].lost.len(), 1, "what it said then is not shown any more");
    assert_eq!(receipt.texts, 0, "its text is the others' too");
    let opened = place.open();
    opened.assert_verified();
    assert_eq!(opened.captures(&first).len(), 1);
    assert_eq!(shown(&opened, &first, 0), "<p>Other words.");
    let mut holders = 0;
    for other in &others {
        let captures = opened.captures(other);
        assert_eq!(captures.len(), 2);
        holders += usize::from(!captures[0].revisit);
        assert!(captures[1].revisit);
        for n in 0..2 {
            assert!(shown(&opened, other, n).contains("The same words thrice"), "{other} {n}");
        }
        let record = read_record(&opened.dir.warc(), captures[1].record.unwrap()).unwrap();
        let profile = record.headers.get("WARC-Profile").unwrap_or_default();
        assert!(profile.ends_with("/server-not-modified"), "{profile}");
        let refers = record.headers.get("WARC-Refers-To-Target-URI").unwrap_or_default();
        assert!(others.iter().any(|other| other == refers), "{refers}");
    }
    assert_eq!(holders, 1, "one of them holds the bytes, for all");
    let row = &opened.rows()[&first];
    assert_eq!(row.visits, 1, "what was counted stays counted");
    let then = original.time;
    assert_eq!(pruned_between(&place.path, &first, None, then).map(|(t, _)| t), Some(then));
    assert_eq!(pruned_between(&place.path, &first, Some(then), Time(i64::MAX)), None);
    assert_eq!(pruned_between(&place.path, &others[0], None, Time(i64::MAX)), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payload_that_went_is_stored_again_when_it_comes_again() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    let opened = place.open();
    for path in SAME {
        let page = site.url(path);
        let own = opened.capture(&page);
        visited(&opened, &page, 1, Found::Other(&format!("<p>{path}")), &own, &page);
    }
    prune(opened, &order_of(&[], Keep::Last(1))).unwrap();
    let opened = place.open();
    opened.assert_verified();
    // Nothing says any more that it lies here.
    let site_key = opened.dir.suffixes().site_key(url(&site.url("/a")).host());
    let digest = payload_digest(b"<title>same</title><p>The same words thrice.");
    assert_eq!(opened.store.payloads(&[(site_key, digest)]).unwrap(), [None]);
    assert!(SAME.iter().all(|path| opened.captures(&site.url(path)).len() == 1));
}

/// A crawl of which one version is to go, and the plan for it.
async fn planned() -> (Raw, Place, String, ForgetPlan) {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    let opened = place.open();
    let (first, _) = first_of(&opened, &site);
    let original = opened.capture(&first);
    visited(&opened, &first, 1, Found::Other("<p>Other words."), &original, &first);
    let order = order_of(&[&first], Keep::Last(1));
    let plan = look_prune(&opened.dir, &*opened.store, &order, now()).unwrap();
    (site, place, first, plan)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pruning_that_stops_behind_its_commit_is_finished_by_the_next_to_come() {
    let (_site, place, first, plan) = planned().await;
    // A file in the place of the receipts stops it when all but the last step is done.
    fs::write(place.path.join("receipts"), "a file").unwrap();
    let Opened { dir, store } = place.open();
    let stopped = with_files(|files| forget(&dir, store, plan, files));
    assert!(stopped.is_err() && place.path.join("forgetting.json").is_file());
    fs::remove_file(place.path.join("receipts")).unwrap();
    let receipt = with_files(|files| finish_forgetting(&dir, files)).unwrap();
    assert_eq!(receipt.expect("there was something to finish").captures, 1);
    assert!(with_files(|files| finish_forgetting(&dir, files)).unwrap().is_none());
    drop(dir);
    let opened = place.open();
    opened.assert_verified();
    assert_eq!(opened.captures(&first).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_changed_nothing_yet_is_begun_anew_and_one_without_use_is_dropped() {
    let (_site, place, first, plan) = planned().await;
    let written = serde_json::to_vec(&plan).unwrap();
    let at = place.path.join("forgetting.json");
    fs::write(&at, &written).unwrap();
    let dir = place.open().dir;
    let receipt = with_files(|files| finish_forgetting(&dir, files)).unwrap().unwrap();
    assert_eq!((receipt.captures, receipt.moved.len()), (1, 2));
    // Somebody has put the version back meanwhile: nothing is to be done by this rule.
    drop(dir);
    let opened = place.open();
    opened.assert_verified();
    assert_eq!(opened.captures(&first).len(), 1);
    let mut other = plan.clone();
    other.versions[0].times_ms = vec![opened.captures(&first)[0].time.0];
    fs::write(&at, serde_json::to_vec(&other).unwrap()).unwrap();
    let Opened { dir, store } = opened;
    drop(store);
    assert!(with_files(|files| finish_forgetting(&dir, files)).unwrap().is_none());
    assert!(!at.exists(), "it stands in nobody's way");
    // What a newer version has planned is left to it.
    let newer = String::from_utf8(written).unwrap().replace("\"version\":2", "\"version\":9");
    fs::write(&at, newer).unwrap();
    let refused = with_files(|files| finish_forgetting(&dir, files));
    assert!(matches!(refused, Err(ForgetError::Plan { .. })), "{refused:?}");
}
