//! The formats on disk, frozen: what `tests/frozen` holds was written once. The newest version
//! (`rows-5.txt`) must be written and read the same for ever, or get a successor and become an
//! old one; old ones (`rows.txt`, `rows-2.txt` to `rows-4.txt`) must be read for ever, as rows of today.

use super::{EmbeddedStore, Table, key};
use crate::batch::{Batch, Claims, Discovery, JobChange, Next, PageResult};
use crate::row::{
    self, Ended, HostRow, JobCounters, JobProgress, JobRow, PayloadRow, UrlHead, UrlRow, UrlState,
    Wish,
};
use crate::work::ReadyRow;
use crate::{MalformedLink, PageLinks, Store, decode_links, decode_page_links, encode_links};
use argiope_frontier::revisit::PageState;
use argiope_frontier::{Entry, Place, RobotsFile, SkipReason, Temper, Trap};
use argiope_model::{
    CanonicalUrl, Capture, ChangeReason, Directives, DocId, FetchOutcome, HostKey, Job, JobId,
    JobState, Limits, Link, LinkKind, Location, Order, OutcomeKind, QueryPolicy, Role, Scope,
    ScopeRule, SiteKey, Suffixes, Time, UrlKey, Verdict, Wanted,
};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Version 1; its keys are those of today.
const FIRST: &str = include_str!("../../tests/frozen/rows.txt");
const SECOND: &str = include_str!("../../tests/frozen/rows-2.txt");
const THIRD: &str = include_str!("../../tests/frozen/rows-3.txt");
const FOURTH: &str = include_str!("../../tests/frozen/rows-4.txt");
const TODAY: &str = include_str!("../../tests/frozen/rows-5.txt");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn frozen(file: &str, name: &str) -> Vec<u8> {
    let lines: BTreeMap<&str, &str> =
        file.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split_once(' ')).collect();
    let text = lines.get(name).unwrap_or_else(|| panic!("no frozen sample of {name}"));
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex digits");
    (0..text.len()).step_by(2).map(digits).collect()
}

fn holds<T: PartialEq + Debug>(name: &str, row: &T, written: &[u8], read: impl Fn(&[u8]) -> T) {
    let kept = frozen(TODAY, name);
    assert_eq!(hex(written), hex(&kept), "{name} is written differently");
    assert_eq!(read(&kept), *row, "{name} is read differently");
    assert_eq!(kept[0], row::VERSION);
}

/// A row of version 1 is read as what it is today.
fn becomes<T: PartialEq + Debug>(name: &str, row: &T, read: impl Fn(&[u8]) -> T) {
    older(1, FIRST, name, row, read);
}

/// So is one of version 2.
fn became<T: PartialEq + Debug>(name: &str, row: &T, read: impl Fn(&[u8]) -> T) {
    older(2, SECOND, name, row, read);
}

/// And one of version 3.
fn was<T: PartialEq + Debug>(name: &str, row: &T, read: impl Fn(&[u8]) -> T) {
    older(3, THIRD, name, row, read);
}

/// And one of version 4.
fn lately<T: PartialEq + Debug>(name: &str, row: &T, read: impl Fn(&[u8]) -> T) {
    older(4, FOURTH, name, row, read);
}

fn older<T: PartialEq + Debug>(
    version: u8,
    file: &str,
    name: &str,
    row: &T,
    read: impl Fn(&[u8]) -> T,
) {
    let kept = frozen(file, name);
    assert_eq!(read(&kept), *row, "{name} of version {version} is read differently");
    assert_eq!(kept[0], version);
}

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

fn at(segment: u32) -> Option<Location> {
    Some(Location { segment, offset: 70_000, length: 512 })
}

fn job() -> Job {
    Job {
        id: JobId(7),
        created: Time(1_700_000_000_000),
        seeds: vec![url("http://example.org/")],
        scope: Scope { rule: ScopeRule::Domain, names: ["example.org".to_owned()].into() },
        order: Order::Depth,
        limits: Limits {
            pages: Some(9),
            depth: Some(4),
            time_ms: None,
            bytes: Some(1 << 40),
            site_pages: Some(500),
        },
        wanted: Wanted {
            types: ["html".to_owned()].into(),
            skip_extensions: ["png".to_owned()].into(),
        },
        query: QueryPolicy::Sort,
        filter: Some("not {suffix = '.cgi'}".to_owned()),
        aim: None,
        news: false,
    }
}

fn capture() -> Capture {
    Capture {
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
        directives: Directives {
            noindex: true,
            nofollow: false,
            noarchive: true,
            nosnippet: false,
        },
        verdict: Some(Verdict { reason: ChangeReason::Title, share: 512, lied: true }),
    }
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
        role: Role::Sitemap,
        hops: 4,
        plan: None,
    };
    let states = [
        ("fetched", UrlState::Fetched),
        ("redirected", UrlState::Redirected),
        ("failed", UrlState::Failed),
        ("skipped-extension", UrlState::Skipped(SkipReason::Extension)),
        ("skipped-depth", UrlState::Skipped(SkipReason::Depth)),
        ("skipped-type", UrlState::Skipped(SkipReason::Type)),
        ("skipped-size", UrlState::Skipped(SkipReason::Size)),
        ("skipped-robots", UrlState::Skipped(SkipReason::Robots)),
        ("skipped-given-up", UrlState::Skipped(SkipReason::GivenUp)),
        ("skipped-excluded", UrlState::Skipped(SkipReason::Excluded)),
        ("skipped-filter", UrlState::Skipped(SkipReason::Filter)),
        ("skipped-trap", UrlState::Skipped(SkipReason::Trap)),
        ("skipped-site-pages", UrlState::Skipped(SkipReason::SitePages)),
    ];
    let new = ["skipped-filter", "skipped-trap", "skipped-site-pages"];
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
        let read = |b: &[u8]| UrlRow::decode(b).unwrap();
        holds(&format!("url-{name}"), &row, &written, read);
        if new.contains(&name) {
            continue;
        }
        lately(&format!("url-{name}"), &row, read);
        was(&format!("url-{name}"), &row, read);
        if name == "fetched" {
            let plan =
                PageState { due: Time(1_700_000_000_000), records: 3, ..PageState::default() };
            let head = UrlHead { plan: Some(plan), ..row.head.clone() };
            let planned = UrlRow { head, url: row.url.clone() };
            lately("url-planned", &planned, read);
            holds("url-planned", &planned, &planned.head.encode(row.url.as_str()), read);
        }
        if name != "skipped-excluded" {
            became(&format!("url-{name}"), &row, read);
        }
        if !["skipped-robots", "skipped-given-up", "skipped-excluded"].contains(&name) {
            let head = UrlHead { role: Role::Page, hops: 0, ..row.head };
            becomes(&format!("url-{name}"), &UrlRow { head, ..row }, read);
        }
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
        temper: Temper {
            pause_ms: 40_000,
            failing_since: Some(Time(1_700_000_000_500)),
            failures: 3,
            given_up: Some(Time(1_700_001_800_500)),
            excluded: true,
        },
        disk: Some(1 << 32),
    };
    let read = |b: &[u8]| row::decode("hosts", b).unwrap();
    holds("host", &host, &row::encode(&host), read);
    was("host", &host, read);
    let uncounted = HostRow { disk: None, ..host.clone() };
    let temper = Temper { excluded: false, ..host.temper };
    became("host", &HostRow { temper, ..uncounted.clone() }, read);
    becomes("host", &HostRow { temper: Temper::default(), ..uncounted }, read);
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
        skipped_robots: 17,
        skipped_given_up: 18,
        sitemaps: 19,
        skipped_excluded: 20,
        skipped_filter: 21,
        skipped_trap: 22,
        skipped_site_pages: 23,
    };
    let third = JobCounters {
        skipped_filter: 0,
        skipped_trap: 0,
        skipped_site_pages: 0,
        ..counters.clone()
    };
    let second = JobCounters { skipped_excluded: 0, ..third.clone() };
    let first =
        JobCounters { skipped_robots: 0, skipped_given_up: 0, sitemaps: 0, ..second.clone() };
    let progress =
        JobProgress { id: JobId(7), state: JobState::Limited, counters: counters.clone() };
    let read = |b: &[u8]| row::decode("jobs", b).unwrap();
    holds("progress", &progress, &row::encode(&progress), read);
    let progress = JobProgress { counters: third.clone(), ..progress };
    lately("progress", &progress, read);
    was("progress", &progress, read);
    became("progress", &JobProgress { counters: second.clone(), ..progress }, read);
    let job = job();
    let states =
        [JobState::Open, JobState::Paused, JobState::Done, JobState::Limited, JobState::Dropped];
    for state in states {
        let row = JobRow { job: job.clone(), state, counters: counters.clone() };
        let name = format!("job-{}", state.name());
        let read = |b: &[u8]| row::decode("jobs", b).unwrap();
        holds(&name, &row, &row::encode(&row), read);
        let limits = Limits { site_pages: None, ..job.limits };
        let job = Job { limits, filter: None, ..job.clone() };
        let row = JobRow { job, counters: third.clone(), ..row };
        lately(&name, &row, read);
        was(&name, &row, read);
        became(&name, &JobRow { counters: second.clone(), ..row.clone() }, read);
        becomes(&name, &JobRow { counters: first.clone(), ..row }, read);
    }
}

#[test]
fn captures_payloads_and_links_are_as_they_were() {
    let capture = capture();
    let read = |b: &[u8]| row::decode("captures", b).unwrap();
    holds("capture", &capture, &row::encode(&capture), read);
    lately("capture", &capture, read);
    let capture = Capture { verdict: None, ..capture };
    was("capture", &capture, read);
    became("capture", &capture, read);
    becomes("capture", &Capture { directives: Directives::default(), ..capture }, read);
    let payload = PayloadRow { url: url("http://example.org/"), time: Time(5), text: at(4) };
    let read = |b: &[u8]| row::decode("payloads", b).unwrap();
    holds("payload", &payload, &row::encode(&payload), read);
    was("payload", &payload, read);
    became("payload", &payload, read);
    becomes("payload", &payload, read);
    let kinds = [LinkKind::Anchor, LinkKind::Area, LinkKind::Frame, LinkKind::Iframe];
    let kinds = kinds.into_iter().chain([LinkKind::Canonical, LinkKind::Alternate]);
    let links: Vec<Link> = kinds
        .map(|kind| Link {
            url: url("http://example.org/x?y=1"),
            words: "the words".into(),
            kind,
            nofollow: true,
            count: 1,
        })
        .collect();
    // Another compressor may write it differently; it must be read the same.
    assert_eq!(decode_links(&frozen(FIRST, "links")).unwrap(), links, "links are read differently");
    assert_eq!(decode_links(&encode_links(&links)).unwrap(), links);
    let bad = MalformedLink {
        href: "http://[".into(),
        words: "some words".into(),
        reason: "not a URL: the IPv6 address is invalid".into(),
    };
    let page = PageLinks { links, malformed: vec![bad] };
    assert_eq!(decode_page_links(&frozen(TODAY, "links-malformed")).unwrap(), page);
    let mut counted = page;
    for (count, link) in (1..).zip(&mut counted.links) {
        link.count = count * count;
    }
    counted.links[5].url = url("http://example.org/z");
    assert_eq!(decode_page_links(&frozen(TODAY, "links-counted")).unwrap(), counted);
    assert_eq!(frozen(TODAY, "links-counted")[0], 3);
}

#[test]
fn rows_of_the_queue_and_the_counters_are_as_they_were() {
    let ready =
        ReadyRow { url: u64::MAX, job: JobId(300), attempts: 3, expand: true, waited: false };
    let read = |b: &[u8]| row::decode("queues", b).unwrap();
    holds("ready", &ready, &row::encode(&ready), read);
    was("ready", &ready, read);
    became("ready", &ready, read);
    becomes("ready", &ready, read);
    let waiting = (Place { order: 1 << 50, seq: 1 << 20 }, JobId(9));
    let read = |b: &[u8]| row::decode("", b).unwrap();
    holds("calendar", &waiting, &row::encode(&waiting), read);
    became("calendar", &waiting, read);
    becomes("calendar", &waiting, read);
    let docs: u64 = 70_000;
    let read = |b: &[u8]| row::decode("", b).unwrap();
    holds("part", &docs, &row::encode(&docs), read);
    became("part", &docs, read);
    let since = Time(1_700_000_000_123);
    let trap = Trap {
        pages: 70,
        repeated: 60,
        made_up: 5,
        deepest: 14,
        score: 131,
        from: 1,
        shuffled: 9,
        orders: true,
        since,
        forgiven: Some(since),
        examples: vec!["http://a.test/c/1".into()],
    };
    holds("trap", &trap, &row::encode(&trap), |b| row::decode("", b).unwrap());
    holds("exclusion", &since, &row::encode(&since), |b| row::decode("", b).unwrap());
    becomes("part", &docs, read);
    let k = UrlKey { host: HostKey { part: 0x0abc, host: [1, 2, 3, 4, 5, 6] }, url: 1 << 60 };
    let change = (k, Time(1_700_000_000_123), true);
    holds("log", &change, &row::encode(&change), |b| row::decode("", b).unwrap());
    // What follows was not noted at first.
    let old = row::decode_change(&frozen(SECOND, "log")).unwrap();
    assert_eq!(old, (change, None));
    let ends = [Ended::WithPage, Ended::Broken, Ended::LeftAlone, Ended::Open, Ended::Forgotten];
    for (name, ended) in ["page", "broken", "left", "open", "forgotten"].iter().zip(ends) {
        let doc = DocId::new(70_000, 0x0abc);
        let written = row::encode_change(k, change.1, true, doc, ended);
        let read = |b: &[u8]| row::decode_change(b).unwrap();
        holds(&format!("log-{name}"), &(change, Some((doc, ended))), &written, read);
        became(&format!("log-{name}"), &(change, Some((doc, ended))), read);
    }
}

#[test]
fn robots_files_are_as_they_were() {
    let short = RobotsFile {
        asked: Time(1_700_000_000_123),
        until: Time(1_700_086_400_123),
        outcome: FetchOutcome::with_detail(OutcomeKind::TimedOut, 0, "10 s"),
        body: b"User-agent: *\nDisallow: /x\n".to_vec(),
    };
    let read = |b: &[u8]| row::decode_robots(b).unwrap();
    holds("robots", &short, &row::encode_robots(&short), read);
    became("robots", &short, read);
    // Another compressor may write it differently; it must be read the same.
    let long = RobotsFile { body: short.body.repeat(20), ..short };
    assert_eq!(read(&frozen(TODAY, "robots-packed")), long, "it is read differently");
    assert_eq!(read(&row::encode_robots(&long)), long);
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
        assert_eq!(hex(&written), hex(&frozen(FIRST, name)), "{name} is written differently");
    }
    assert_eq!(key::exclusion("example.org"), frozen(TODAY, "key-exclusion"));
    assert_eq!(key::ready_place(&frozen(FIRST, "key-ready")), Some(place));
    assert_eq!(key::calendar_parts(&frozen(FIRST, "key-calendar")), Some((time, k)));
    assert_eq!(key::schedule_parts(&frozen(FIRST, "key-schedule")), Some((1_700_000_001, k.host)));
}

/// Writes every row of a table as an older version did: what is new since stood at its end, where
/// `new` bytes precede the text that may follow.
fn make_old(
    store: &EmbeddedStore,
    version: u8,
    table: Table,
    new: impl Fn(&[u8]) -> usize,
    text: impl Fn(&[u8]) -> usize,
) {
    let rows: Vec<_> = store.tables[table].iter().map(|pair| pair.into_inner().unwrap()).collect();
    for (k, v) in rows {
        let end = v.len() - text(&v);
        let old = [&[version], &v[1..end - new(&v)], &v[end..]].concat();
        store.tables[table].insert(k, old).unwrap();
    }
}

#[test]
fn a_store_of_version_1_opens_and_goes_on() {
    an_older_store_opens_and_goes_on(1);
}

#[test]
fn a_store_of_version_2_opens_and_goes_on() {
    an_older_store_opens_and_goes_on(2);
}

#[test]
fn a_store_of_version_3_opens_and_goes_on() {
    an_older_store_opens_and_goes_on(3);
}

#[test]
fn a_store_of_version_4_opens_and_goes_on() {
    an_older_store_opens_and_goes_on(4);
}

fn an_older_store_opens_and_goes_on(old: u8) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let open = || EmbeddedStore::open(&path, 8 << 20).unwrap();
    let all = |store: &EmbeddedStore| {
        let (urls, hosts) = (store.scan_urls(None, 99).unwrap(), store.scan_hosts(None, 99));
        let key = urls[0].0;
        let logs = store.log_heads().unwrap().into_iter();
        let log: Vec<_> = logs.flat_map(|(part, _)| store.changes(part, 0, 99).unwrap()).collect();
        (urls, hosts.unwrap(), store.jobs().unwrap(), store.captures(key).unwrap(), log)
    };
    let commit = |store: &EmbeddedStore, batch: Batch| store.commit(batch).unwrap();
    let suffixes = Suffixes::built_in();
    let found = |n: u64| {
        let url = url(&format!("http://h{}.test/{n}", n % 2));
        let (key, place) = (url.key(&suffixes), Place { order: n, seq: 0 });
        let (job, depth, skip) = (JobId(7), 1, (n == 4).then_some(SkipReason::Type));
        Discovery { url, key, job, depth, place, skip, role: Role::Page, hops: 0, again: false }
    };
    let visited = |entry: &Entry| PageResult {
        entry: entry.clone(),
        next: Next::Done(UrlState::Fetched),
        capture: Some(Capture {
            directives: Directives::default(),
            outcome: FetchOutcome::new(OutcomeKind::Fetched, 200),
            verdict: None,
            ..capture()
        }),
        payload: None,
        links: None,
        changed: true,
        words: 1,
        link_count: 1,
        plan: None,
    };
    let claims = || Claims { hosts: 9, window: 9, ..Claims::default() };

    let store = open();
    let limits = Limits { site_pages: None, ..job().limits };
    let order = Job { limits, filter: None, ..job() };
    let jobs = vec![JobChange::New(Box::new(order.clone()))];
    let discoveries = (1..=6).map(found).collect();
    commit(&store, Batch { jobs, discoveries, next_page: 5, ..Batch::default() });
    let told = commit(&store, Batch { claims: claims(), ..Batch::default() });
    let rows: Vec<Entry> = told.claimed.into_iter().flat_map(|w| w.entries).collect();
    commit(&store, Batch { pages: rows[..2].iter().map(visited).collect(), ..Batch::default() });
    let mut before = all(&store);
    for (k, host) in &mut before.1 {
        assert_eq!(host.disk, Some(store.host_disk(*k).unwrap()), "counted as it came");
        host.disk = host.disk.filter(|_| old >= 3);
    }
    // Two fields of a URL, four of a capture, and of a host its temper came with version 2; whether
    // it is excluded and what it takes up with version 3; what is planned for a URL and what a visit
    // found with version 4; two fields of an order and three counters with version 5.
    let came_with_4 = |bytes: usize| if old < 4 { bytes } else { 0 };
    let came_with_3 = |bytes: usize| if old < 3 { bytes } else { 0 };
    let came_with_2 = |bytes: usize| if old == 1 { bytes } else { 0 };
    make_old(
        &store,
        old,
        Table::Urls,
        |_| came_with_4(1) + came_with_2(2),
        |v| UrlHead::decode(v).unwrap().1.len(),
    );
    let of_host = |v: &[u8]| {
        let disk = row::decode::<HostRow>("hosts", v).unwrap().disk.unwrap();
        came_with_3(row::encode(&disk).len() + 1) + came_with_2(4)
    };
    make_old(&store, old, Table::Hosts, of_host, |_| 0);
    make_old(&store, old, Table::Captures, |_| came_with_4(1) + came_with_2(4), |_| 0);
    for pair in store.tables[Table::Log].iter().filter(|_| old == 1) {
        let (k, v) = pair.into_inner().unwrap();
        let change = row::encode(&row::decode_change(&v).unwrap().0);
        store.tables[Table::Log].insert(k, [&[1], &change[1..]].concat()).unwrap();
    }
    for pair in store.tables[Table::Meta].prefix(b"j") {
        let (k, v) = pair.into_inner().unwrap();
        let end = v.len() - 3 - came_with_3(1) - came_with_2(3);
        // What came with version 5 is not there: each a byte that says so, among the limits and
        // behind the order's last field.
        let Job { id, created, seeds, scope, order, limits, wanted, query, .. } = &order;
        let four = (limits.pages, limits.depth, limits.time_ms, limits.bytes);
        let long = |bytes: Result<Vec<u8>, _>| bytes.map(|bytes: Vec<u8>| bytes.len()).unwrap();
        let first = 1 + long(postcard::to_allocvec(&(id, created, seeds, scope, order, four)));
        let last = first + 1 + long(postcard::to_allocvec(&(wanted, query)));
        assert_eq!((v[first], v[last]), (0, 0));
        let row = [&[old], &v[1..first], &v[first + 1..last], &v[last + 1..end]].concat();
        store.tables[Table::Meta].insert(k, row).unwrap();
    }
    for pair in store.tables[Table::Meta].prefix(b"c").filter(|_| old >= 2) {
        let (k, v) = pair.into_inner().unwrap();
        let end = v.len() - 3 - came_with_3(1);
        store.tables[Table::Meta].insert(k, [&[old], &v[1..end]].concat()).unwrap();
    }
    drop(store);

    let store = open();
    assert_eq!(all(&store), before);
    // Whoever copies it hands changes on with what they have left behind.
    let mut changes = 0;
    let handed_on = store.each(Table::Log, b"", |_, v| {
        let whole = store.whole_change(v)?;
        assert_eq!(whole.is_some(), old == 1);
        assert!(row::decode_change(whole.as_deref().unwrap_or(v))?.1.is_some());
        changes += 1;
        Ok(())
    });
    assert_eq!((handed_on.unwrap(), changes), ((), 2));
    let version = |key: UrlKey| store.tables[Table::Urls].get(key.to_bytes()).unwrap().unwrap()[0];
    let versions = || before.0.iter().filter(|(key, _)| version(*key) == old).count();
    assert_eq!(versions(), before.0.len());
    commit(&store, Batch { pages: vec![visited(&rows[2])], ..Batch::default() });
    let written = (version(rows[2].key), versions());
    assert_eq!(written, (row::VERSION, before.0.len() - 1), "as rows change");
    let host = rows[2].key.host;
    let disk = store.hosts(&[host]).unwrap()[0].as_ref().unwrap().disk;
    assert_eq!(disk, Some(store.host_disk(host).unwrap()), "counted once, then kept");
    assert_eq!(store.jobs().unwrap()[0].counters.fetched, 3);
    drop(store);
    let store = open();
    assert_eq!(store.jobs().unwrap()[0].counters.fetched, 3);
    assert_eq!(store.urls(&[rows[2].key]).unwrap()[0].as_ref().unwrap().state, UrlState::Fetched);
}
