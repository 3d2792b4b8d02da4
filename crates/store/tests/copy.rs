//! Copies between the embedded store and PostgreSQL: random histories, copied there and back, every
//! row compared, and the histories gone on with in all three places.

#![allow(clippy::unwrap_used)]

#[path = "support/cluster.rs"]
mod cluster;
#[allow(dead_code)]
#[path = "model/history.rs"]
mod history;
#[path = "model/observe.rs"]
mod observe;
#[path = "conformance/scene.rs"]
mod scene;

use argiope_frontier::place_of_link;
use argiope_model::{JobState, Order, Time};
use argiope_store::{
    Batch, Copied, CopyInto, EmbeddedStore, PostgresOptions, PostgresStore, SegmentKind, Store,
    StoreError, UrlState,
};
use history::{History, Step, step};
use observe::{Observed, answers};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use scene::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

const LEASE: Duration = Duration::from_secs(60);

fn open(url: &str) -> PostgresStore {
    PostgresStore::open(url, PostgresOptions::default()).unwrap()
}

fn copy_in(from: &EmbeddedStore, url: &str, archive: &str) -> Copied {
    let store = open(url);
    let into = CopyInto { archive: archive.into(), id: 77 };
    store.holding("copy", LEASE, || store.copy_in(from, &into, &mut |_, _| {})).unwrap()
}

fn copy_out(url: &str, to: &Path) -> Copied {
    let store = open(url);
    store.holding("copy", LEASE, || store.copy_out(to, Time(1), &mut |_, _| {})).unwrap()
}

type Rows = BTreeMap<(&'static str, Vec<u8>), Vec<u8>>;

/// Every row of every table.
fn rows(store: &EmbeddedStore) -> Rows {
    let mut out = Rows::new();
    store
        .scan_rows(|table, k, v| {
            out.insert((table, k.to_vec()), v.to_vec());
        })
        .unwrap();
    out
}

fn fresh(dir: &tempfile::TempDir, name: &str) -> EmbeddedStore {
    EmbeddedStore::open(&dir.path().join(name), MEMORY).unwrap()
}

fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if asked { ProptestConfig::default().cases } else { cases };
    let failure_persistence =
        Some(Box::new(FileFailurePersistence::WithSource("regressions")) as Box<_>);
    ProptestConfig { cases, failure_persistence, ..ProptestConfig::default() }
}

fn there_and_back(before: &[Step], after: &[Step], url: &str) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().unwrap();
    let first = fresh(&dir, "first");
    let mut history = History::new();
    for step in before {
        history.advance(step);
        let told = first.commit(history.batch(step)).unwrap();
        history.heard(step, &told);
    }
    let want = rows(&first);
    let there = copy_in(&first, url, "");
    prop_assert_eq!(&there.rows, &first.count_rows().unwrap().rows);
    prop_assert_eq!(rows(&first), want.clone(), "where it came from nothing changes");
    let back = copy_out(url, &dir.path().join("second"));
    prop_assert_eq!(&back.rows, &there.rows);
    let second = fresh(&dir, "second");
    prop_assert_eq!(rows(&second), want, "row for row");
    // In all places it goes on, the same way.
    let far = sole_worker(url);
    for (n, step) in after.iter().enumerate() {
        let now = history.advance(step);
        let told = first.commit(history.batch(step)).unwrap();
        for other in [&second as &dyn Store, &far] {
            let answer = other.commit(history.batch(step)).unwrap();
            prop_assert_eq!(answers(&answer, now), answers(&told, now), "answer of step {}", n);
        }
        history.heard(step, &told);
    }
    prop_assert_eq!(Observed::of(&second), Observed::of(&first));
    prop_assert_eq!(rows(&second), rows(&first));
    prop_assert_eq!(Observed::of(&far), Observed::of(&first));
    scene::check(&second);
    scene::check(&far);
    Ok(())
}

proptest! {
    // Each case makes a database: few.
    #![proptest_config(config(6))]

    #[test]
    fn what_is_copied_there_and_back_is_the_same_row_for_row_and_goes_on_the_same_way(
        before in prop::collection::vec(step(), 1..40),
        after in prop::collection::vec(step(), 1..12),
    ) {
        if let Some(cluster) = cluster::shared() {
            there_and_back(&before, &after, &cluster.database())?;
        }
    }
}

/// Many pages on some hosts, some fetched, some queued, a few excluded.
fn filled(store: &dyn Store) {
    let found = |n: u64| {
        let text = format!("http://h{}.test/{n}", n % 50);
        found(&text, 1, 0, place_of_link(Order::Breadth, 0, n, 0))
    };
    give(store, 0, vec![new_job(job(1)), new_job(job(4))], (0..2_000).map(found).collect());
    let rows: Vec<_> = claim_rows(store, 0).into_iter().filter(|e| e.key.url % 3 > 0).collect();
    for (n, pages) in rows.chunks(64).enumerate() {
        let time = n as i64 + 1;
        let pages = pages.iter().map(|row| {
            let mut page = fetched(row.clone(), time);
            page.links = Some(vec![n as u8; 40 * n]);
            page
        });
        let segments = vec![(SegmentKind::Warc, 7, 1_000), (SegmentKind::Text, 3, 500)];
        let exclusions = vec![(format!("x{n}.test").into(), true)];
        let pages = pages.collect();
        store.commit(Batch { pages, segments, exclusions, next_page: 99, ..at(time) }).unwrap();
    }
}

#[test]
fn after_a_copy_fresh_numbers_are_given_in_the_new_place() {
    let Some(cluster) = cluster::shared() else { return };
    let (url, dir) = (cluster.database(), tempfile::tempdir().unwrap());
    let first = fresh(&dir, "first");
    filled(&first);
    let copied = copy_in(&first, &url, "there");
    assert_eq!((copied.of("urls"), copied.of("jobs"), copied.of("segments")), (2_000, 2, 2));
    let far = sole_worker(&url);
    assert_eq!(far.agreed("copied").unwrap(), Some(77));
    assert_eq!(far.take_segments(1).unwrap(), 8);
    assert_eq!(far.take_job(0).unwrap(), 5);
    assert_eq!(far.take_pages(10).unwrap(), 99);
    let kept = far.all_segments().unwrap();
    let kept = kept.iter().find(|one| (one.kind, one.number) == (SegmentKind::Text, 3));
    assert_eq!(kept.map(|one| one.archive.as_str()), Some("there"));
    assert_eq!(far.all_segments().unwrap().len(), 2);
    assert_eq!(far.claims().unwrap(), first.claims().unwrap(), "what a crash leaves");
    assert_eq!(far.log_heads().unwrap(), first.log_heads().unwrap());
    // New URLs get numbers nobody has, in all places the same.
    far.leave().unwrap();
    copy_out(&url, &dir.path().join("second"));
    let (second, far) = (fresh(&dir, "second"), sole_worker(&url));
    let old: BTreeMap<_, _> =
        all_urls(&first).into_iter().map(|(_, row)| (row.doc, row.url)).collect();
    for store in [&first as &dyn Store, &second, &far] {
        give(store, 99, vec![], vec![found("http://h1.test/new", 1, 0, place(5))]);
        let new = row(store, "http://h1.test/new");
        assert!(!old.contains_key(&new.doc), "{:?} is given twice", new.doc);
        assert_eq!(new.doc, row(&first, "http://h1.test/new").doc);
        check(store);
    }
    assert_eq!(second.next_page().unwrap(), 109, "those set aside are not given again");
}

#[test]
fn what_workers_have_told_each_other_is_not_lost_on_the_way() {
    let Some(cluster) = cluster::shared() else { return };
    let (url, dir) = (cluster.database(), tempfile::tempdir().unwrap());
    let (one, two) = (open(&url), open(&url));
    let parts: Vec<u16> = (0..4096).collect();
    let (low, high) = parts.split_at(2048);
    for (store, parts) in [(&one, low), (&two, high)] {
        store.join("worker", "", LEASE, Instant::now()).unwrap();
        store.acquire(parts).unwrap();
    }
    let urls: Vec<String> = (0..60).map(|n| format!("http://h{n}.test/")).collect();
    let found = urls.iter().zip(1..).map(|(url, n)| found(url, 1, 0, place(n))).collect();
    give(&one, 0, vec![new_job(job(1))], found);
    give(&one, 0, vec![set(1, JobState::Paused)], vec![]);
    assert!(all_urls(&one).len() < 60, "some are on their way");
    one.leave().unwrap();
    two.leave().unwrap();
    let copied = copy_out(&url, &dir.path().join("store"));
    assert_eq!((copied.of("urls"), copied.of("ready")), (60, 60));
    let store = fresh(&dir, "store");
    assert!(urls.iter().all(|url| row(&store, url).state == UrlState::Queued));
    assert_eq!(counters(&store, 1).queued, 60);
    assert_eq!(job_row(&store, 1).state, JobState::Paused);
    check(&store);
}

#[test]
fn nothing_is_written_where_a_copy_fails_and_nobody_can_disturb_it() {
    let Some(cluster) = cluster::shared() else { return };
    let (url, dir) = (cluster.database(), tempfile::tempdir().unwrap());
    let first = fresh(&dir, "first");
    filled(&first);
    let (store, into) = (open(&url), CopyInto { archive: "there".into(), id: 1 });
    // Without the partitions it does not even begin.
    let refused = store.copy_in(&first, &into, &mut |_, _| {});
    assert!(matches!(refused, Err(StoreError::LeaseEnded)), "{refused:?}");
    // While it is under way, everything is held; a row that is there already makes it fail.
    let name = cluster::name_in(&url);
    let hosts = "INSERT INTO argiope.robots SELECT part, k, v FROM argiope.robots WHERE false;
        INSERT INTO argiope.jobs VALUES (4, 4, 0, 1, '\\x00')";
    cluster.sql(name, hosts);
    let failed: Result<Copied, StoreError> = store.holding("copy", LEASE, || {
        let other = open(&url);
        let held = other.join("other", "", LEASE, Instant::now()).unwrap();
        assert!(held.free.is_empty());
        let refused: Result<(), StoreError> = other.holding("third", LEASE, || Ok(()));
        assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
        store.copy_in(&first, &into, &mut |_, _| {})
    });
    assert!(matches!(failed, Err(StoreError::Server { .. })), "{failed:?}");
    let there = store.count_rows(1_000_000).unwrap();
    assert_eq!((there.total(), there.of("jobs")), (1, 1), "{there:?}");
    assert_eq!(cluster.sql(name, "SELECT sum(docs + log) FROM argiope.parts").trim(), "0");
}
