//! The formats on disk, frozen: what `tests/frozen/rows.txt` holds was written once and must
//! be written and read the same for ever, or get a new version and a way to read the old one.

use super::{ReadyRow, key};
use crate::row::{self, HostRow, JobCounters, JobRow, PayloadRow, UrlHead, UrlRow, UrlState, Wish};
use crate::{decode_links, encode_links};
use argiope_frontier::{Place, SkipReason};
use argiope_model::{
    CanonicalUrl, Capture, DocId, FetchOutcome, HostKey, Job, JobId, JobState, Limits, Link,
    LinkKind, Location, Order, OutcomeKind, QueryPolicy, Scope, ScopeRule, SiteKey, Suffixes, Time,
    UrlKey, Wanted,
};
use std::collections::BTreeMap;
use std::fmt::Debug;

const FROZEN: &str = include_str!("../../tests/frozen/rows.txt");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn frozen(name: &str) -> Vec<u8> {
    let lines: BTreeMap<&str, &str> =
        FROZEN.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once(' ')).collect();
    let text = lines.get(name).unwrap_or_else(|| panic!("no frozen sample of {name}"));
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex digits");
    (0..text.len()).step_by(2).map(digits).collect()
}

fn holds<T: PartialEq + Debug>(name: &str, row: &T, written: &[u8], read: impl Fn(&[u8]) -> T) {
    assert_eq!(hex(written), hex(&frozen(name)), "{name} is written differently");
    assert_eq!(read(&frozen(name)), *row, "{name} is read differently");
}

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

fn at(segment: u32) -> Option<Location> {
    Some(Location { segment, offset: 70_000, length: 512 })
}

#[test]
fn url_rows_are_as_they_were() {
    let queued = UrlHead {
        doc: DocId::new(300, 17),
        state: UrlState::Queued,
        depth: 3,
        jobs: vec![JobId(1), JobId(200)],
        first_seen: Time(1_700_000_000_123),
        fetched_at: None,
        visits: 0,
        changes: 0,
        changed_at: None,
        attempts: 2,
        place: Some(Place { order: 3 << 48 | 9, seq: 5 << 16 }),
        due: Some(Time(1_700_000_060_000)),
        expand: false,
        wishes: vec![Wish { job: JobId(3), depth: 2, place: Place { order: 1 << 48, seq: 7 } }],
    };
    let states = [
        ("fetched", UrlState::Fetched),
        ("redirected", UrlState::Redirected),
        ("failed", UrlState::Failed),
        ("skipped-extension", UrlState::Skipped(SkipReason::Extension)),
        ("skipped-depth", UrlState::Skipped(SkipReason::Depth)),
        ("skipped-type", UrlState::Skipped(SkipReason::Type)),
        ("skipped-size", UrlState::Skipped(SkipReason::Size)),
    ];
    let ended = states.map(|(name, state)| {
        let seen = Some(Time(1_700_000_100_000));
        let head = UrlHead { state, place: None, due: None, attempts: 0, ..queued.clone() };
        let head = UrlHead { visits: 9, changes: 4, fetched_at: seen, changed_at: seen, ..head };
        let head = UrlHead { wishes: Vec::new(), ..head };
        (name, head)
    });
    let expand = UrlHead { state: UrlState::Fetched, due: None, expand: true, ..queued.clone() };
    for (name, head) in [("queued", queued), ("expand", expand)].into_iter().chain(ended) {
        let row = UrlRow { url: url("https://www.example.org/a/b?c=d"), head };
        let written = row.head.encode(row.url.as_str());
        holds(&format!("url-{name}"), &row, &written, |b| UrlRow::decode(b).unwrap());
    }
}

#[test]
fn host_and_job_rows_are_as_they_were() {
    let host = HostRow {
        origin: "https://www.example.org:8443".into(),
        ready: 1_000,
        claimed: true,
        wake: Some(1_700_000_000),
        not_before: Time(1_700_000_000_999),
        known: 5_000,
        fetched: 3_000,
        failed: 20,
        bytes: 1 << 33,
    };
    holds("host", &host, &row::encode(&host), |b| row::decode("hosts", b).unwrap());
    let counters = JobCounters {
        queued: 1,
        fetched: 2,
        unchanged: 3,
        failed: 4,
        skipped_extension: 5,
        skipped_depth: 6,
        skipped_type: 7,
        skipped_size: 8,
        redirects: 9,
        errors: 10,
        bytes: 11,
        hosts: 12,
        known: 13,
        words: 14,
        links: 15,
        run_ms: 16,
    };
    let job = Job {
        id: JobId(7),
        created: Time(1_700_000_000_000),
        seeds: vec![url("http://example.org/")],
        scope: Scope { rule: ScopeRule::Domain, names: ["example.org".to_owned()].into() },
        order: Order::Depth,
        limits: Limits { pages: Some(9), depth: Some(4), time_ms: None, bytes: Some(1 << 40) },
        wanted: Wanted {
            types: ["html".to_owned()].into(),
            skip_extensions: ["png".to_owned()].into(),
        },
        query: QueryPolicy::Sort,
    };
    let states =
        [JobState::Open, JobState::Paused, JobState::Done, JobState::Limited, JobState::Dropped];
    for state in states {
        let row = JobRow { job: job.clone(), state, counters: counters.clone() };
        let name = format!("job-{}", state.name());
        holds(&name, &row, &row::encode(&row), |b| row::decode("jobs", b).unwrap());
    }
}

#[test]
fn captures_payloads_and_links_are_as_they_were() {
    let capture = Capture {
        doc: DocId::new(300, 17),
        job: JobId(2),
        time: Time(1_700_000_000_123),
        outcome: FetchOutcome::with_detail(OutcomeKind::Redirect, 302, "/elsewhere"),
        record: at(3),
        revisit: true,
        text: None,
        mime: "text/html".into(),
        bytes: 12_345,
        payload_digest: [0xab; 20],
        body_digest: [0xcd; 32],
        last_modified: Some(Time(1_600_000_000_000)),
        etag: Some("\"x\"".into()),
        elapsed_ms: 250,
    };
    holds("capture", &capture, &row::encode(&capture), |b| row::decode_capture(b).unwrap());
    let payload = PayloadRow { url: url("http://example.org/"), time: Time(5), text: at(4) };
    holds("payload", &payload, &row::encode(&payload), |b| row::decode("payloads", b).unwrap());
    let kinds = [LinkKind::Anchor, LinkKind::Area, LinkKind::Frame, LinkKind::Iframe];
    let kinds = kinds.into_iter().chain([LinkKind::Canonical, LinkKind::Alternate]);
    let links: Vec<Link> = kinds
        .map(|kind| Link {
            url: url("http://example.org/x?y=1"),
            words: "the words".into(),
            kind,
            nofollow: true,
        })
        .collect();
    // Another compressor may write it differently; it must be read the same.
    assert_eq!(decode_links(&frozen("links")).unwrap(), links, "links are read differently");
    assert_eq!(decode_links(&encode_links(&links)).unwrap(), links);
}

#[test]
fn rows_of_the_queue_and_the_counters_are_as_they_were() {
    let ready =
        ReadyRow { url: u64::MAX, job: JobId(300), attempts: 3, expand: true, waited: false };
    let read = |b: &[u8]| row::decode("queues", b).unwrap();
    holds("ready", &ready, &row::encode(&ready), read);
    let waiting = (Place { order: 1 << 50, seq: 1 << 20 }, JobId(9));
    holds("calendar", &waiting, &row::encode(&waiting), |b| row::decode("", b).unwrap());
    let docs: u64 = 70_000;
    holds("part", &docs, &row::encode(&docs), |b| row::decode("", b).unwrap());
}

#[test]
fn keys_are_as_they_were() {
    let k = url("https://www.example.org/a/b?c=d").key(&Suffixes::built_in());
    let none = UrlKey { host: HostKey { part: 0, host: [0; 6] }, url: 0 };
    assert!(k > none);
    let place = Place { order: 0x0102_0304_0506_0708, seq: 0x1112_1314_1516_1718 };
    let site = SiteKey { part: 0x0abc, site: [1, 2, 3, 4, 5, 6] };
    let time = Time(1_700_000_000_123);
    let keys: [(&str, Vec<u8>); 11] = [
        ("key-url", k.to_bytes().into()),
        ("key-ready", key::ready(k.host, place).into()),
        ("key-calendar", key::calendar(time, k).into()),
        ("key-schedule", key::schedule(key::wake_of(time), k.host).into()),
        ("key-claim", key::claim(k.host).into()),
        ("key-doc", key::doc(DocId::new(300, 17)).into()),
        ("key-capture", key::capture(k, time).into()),
        ("key-log", key::log(17, 300).into()),
        ("key-job", key::job(JobId(300)).into()),
        ("key-segment", key::segment(crate::SegmentKind::Text, 300).into()),
        ("key-payload", key::payload(site, &[9; 20]).into()),
    ];
    for (name, written) in keys {
        assert_eq!(hex(&written), hex(&frozen(name)), "{name} is written differently");
    }
    assert_eq!(key::ready_place(&frozen("key-ready")), Some(place));
    assert_eq!(key::calendar_parts(&frozen("key-calendar")), Some((time, k)));
    assert_eq!(key::schedule_parts(&frozen("key-schedule")), Some((1_700_000_001, k.host)));
}
