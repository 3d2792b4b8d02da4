//! Behaviours of what is kept about visits: captures, links, payloads, the change log.

use crate::scene::*;
use argiope_frontier::SkipReason;
use argiope_model::{DocId, Location, OutcomeKind, SiteKey, Suffixes, Time, UrlKey};
use argiope_store::{Batch, Ended, PageResult, Payload, SegmentKind, UrlState};
use std::collections::BTreeMap;

const X: &str = "http://a.test/x";

/// Fetches a URL for the n-th time: each time another job wants it after a failure.
fn visit_again(home: &mut dyn Home, n: u32, change: impl FnOnce(&mut PageResult)) {
    let store = home.store();
    give(store, 0, vec![new_job(job(n))], vec![]);
    let told = give(store, 0, vec![], vec![found(X, n, 0, place(u64::from(n)))]);
    let entry = told.queued.into_iter().chain(claim_rows(store, 0)).next().expect("queued");
    let mut page = fetched(entry, i64::from(n) * 1_000);
    change(&mut page);
    finish(store, i64::from(n) * 1_000, vec![page]);
}

pub fn captures_are_listed_oldest_first(home: &mut dyn Home) {
    for n in 1..=3 {
        visit_again(home, n, |page| {
            page.next = argiope_store::Next::Done(UrlState::Failed);
            if let Some(c) = &mut page.capture {
                c.record = Some(Location { segment: n, offset: 5, length: 9 });
                c.etag = Some("\"e\"".into());
            }
        });
    }
    begun(home.store(), job(9), &["http://a.test/other"]);
    home.reopen();
    let all = home.store().captures(key(X)).unwrap();
    let times: Vec<i64> = all.iter().map(|c| c.time.0).collect();
    assert_eq!(times, [1_000, 2_000, 3_000]);
    assert_eq!(all[2].record, Some(Location { segment: 3, offset: 5, length: 9 }));
    assert_eq!(all[0].outcome.kind, OutcomeKind::Fetched);
}

pub fn visits_and_changes_are_counted(home: &mut dyn Home) {
    visit_again(home, 1, |page| page.changed = true);
    let first = row(home.store(), X);
    assert_eq!((first.visits, first.changes), (1, 0), "the first visit changes nothing");
    assert_eq!(first.changed_at, Some(Time(1_000)));
    assert_eq!(first.first_seen, Time(0));
}

pub fn forward_links_are_kept_and_rewritten(home: &mut dyn Home) {
    visit_again(home, 1, |page| {
        page.links = Some(b"one".to_vec());
        page.next = argiope_store::Next::Done(UrlState::Failed);
    });
    assert_eq!(home.store().links(&[key(X)]).unwrap(), [Some(b"one".to_vec())]);
    visit_again(home, 2, |page| page.next = argiope_store::Next::Done(UrlState::Failed));
    assert_eq!(home.store().links(&[key(X)]).unwrap(), [Some(b"one".to_vec())]);
    // Larger than what is kept beside the key.
    let large = vec![7; 5_000];
    visit_again(home, 3, |page| page.links = Some(large.clone()));
    home.reopen();
    let read = home.store().links(&[key("http://a.test/none"), key(X)]).unwrap();
    assert_eq!(read, [None, Some(large)]);
}

pub fn payload_rows_are_per_site(home: &mut dyn Home) {
    let part = Suffixes::partition_of_site("a.test");
    let site = SiteKey { part, site: [1; 6] };
    let other = SiteKey { part, site: [2; 6] };
    let text = Some(Location { segment: 1, offset: 2, length: 3 });
    visit_again(home, 1, |page| {
        page.payload = Some(Payload { site, digest: [7; 20] });
        if let Some(c) = &mut page.capture {
            c.text = text;
        }
    });
    home.reopen();
    let asked = [(site, [7; 20]), (other, [7; 20]), (site, [8; 20])];
    let rows = home.store().payloads(&asked).unwrap();
    let first = rows[0].as_ref().expect("stored");
    assert_eq!((&first.url, first.time, first.text), (&url(X), Time(1_000), text));
    assert!(rows[1].is_none() && rows[2].is_none());
}

pub fn change_log_numbers_are_gapless_per_partition(home: &mut dyn Home) {
    let urls = ["http://a.test/1", "http://b.test/1", "http://a.test/2", "http://www.a.test/3"];
    let rows = begun(home.store(), job(1), &urls);
    for (n, entry) in (1..).zip(rows) {
        let mut page = fetched(entry, n);
        page.changed = n == 3;
        finish(home.store(), n, vec![page]);
        home.reopen();
    }
    let store = home.store();
    let part = key(urls[0]).host.part;
    let all = store.changes(part, 0, 99).unwrap();
    let got: Vec<(u64, UrlKey, i64)> = all.iter().map(|c| (c.n, c.key, c.time.0)).collect();
    assert_eq!(got, [(1, key(urls[0]), 1), (2, key(urls[2]), 3), (3, key(urls[3]), 4)]);
    assert!(all[1].changed && !all[0].changed);
    assert_eq!(store.changes(part, 1, 1).unwrap(), all[1..2]);
    assert!(store.changes(part, 3, 9).unwrap().is_empty());
    assert_eq!(store.changes(key(urls[1]).host.part, 0, 9).unwrap()[0].n, 1);
}

pub fn the_change_log_tells_what_a_visit_left_behind(home: &mut dyn Home) {
    let urls = ["http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/4"];
    let rows = begun(home.store(), job(1), &urls);
    let docs: Vec<DocId> = rows.iter().map(|e| e.doc).collect();
    let [page, broken, open, unwanted] = <[_; 4]>::try_from(rows).unwrap();
    let left = SkipReason::Type;
    let results = vec![
        fetched(page, 1),
        ended(broken, 2, UrlState::Failed),
        retried(open, 3, 9_000),
        ended(unwanted, 4, UrlState::Skipped(left)),
    ];
    finish(home.store(), 5, results);
    home.reopen();
    let all = home.store().changes(key(urls[0]).host.part, 0, 99).unwrap();
    let got: Vec<(DocId, Ended)> = all.iter().map(|c| (c.doc, c.ended)).collect();
    let want = [Ended::WithPage, Ended::Broken, Ended::Open, Ended::LeftAlone];
    assert_eq!(got, docs.into_iter().zip(want).collect::<Vec<_>>());
}

pub fn the_last_numbers_of_the_change_log_are_told(home: &mut dyn Home) {
    assert_eq!(home.store().log_heads().unwrap(), []);
    let urls = ["http://a.test/1", "http://b.test/1", "http://a.test/2", "http://c.test/3"];
    let rows = begun(home.store(), job(1), &urls);
    for (n, entry) in (1..).zip(rows) {
        finish(home.store(), n, vec![fetched(entry, n)]);
        let told = home.store().log_heads().unwrap();
        if n % 2 == 0 {
            home.reopen();
        }
        assert_eq!(home.store().log_heads().unwrap(), told, "also when it is opened again");
        let mut want: BTreeMap<u16, u64> = BTreeMap::new();
        for url in &urls[..n as usize] {
            *want.entry(key(url).host.part).or_default() += 1;
        }
        assert_eq!(told, want.into_iter().collect::<Vec<_>>());
    }
}

pub fn segment_lengths_are_kept_per_kind(home: &mut dyn Home) {
    let segments =
        vec![(SegmentKind::Warc, 1, 500), (SegmentKind::Warc, 300, 7), (SegmentKind::Text, 1, 20)];
    home.store().commit(Batch { segments, ..at(0) }).unwrap();
    let segments = vec![(SegmentKind::Warc, 1, 900)];
    home.store().commit(Batch { segments, ..at(0) }).unwrap();
    home.reopen();
    assert_eq!(home.store().segments(SegmentKind::Warc).unwrap(), [(1, 900), (300, 7)]);
    assert_eq!(home.store().segments(SegmentKind::Text).unwrap(), [(1, 20)]);
}

pub fn the_next_page_number_only_grows(home: &mut dyn Home) {
    assert_eq!(home.store().next_page().unwrap(), 1);
    for (given, want) in [(5, 5), (0, 5), (3, 5), (9, 9)] {
        home.store().commit(Batch { next_page: given, ..at(0) }).unwrap();
        home.reopen();
        assert_eq!(home.store().next_page().unwrap(), want);
    }
}

pub fn scans_page_in_key_order(home: &mut dyn Home) {
    let store = home.store();
    let names: Vec<String> = (0..9).map(|n| format!("http://h{}.test/{n}", n % 4)).collect();
    let urls: Vec<&str> = names.iter().map(String::as_str).collect();
    begun(store, job(1), &urls);
    let mut keys: Vec<UrlKey> = urls.iter().map(|u| key(u)).collect();
    keys.sort();
    let mut seen = Vec::new();
    while let Some((last, _)) = {
        let page = store.scan_urls(seen.last().copied(), 2).unwrap();
        assert!(page.len() <= 2);
        seen.extend(page.iter().map(|(k, _)| *k));
        page.last().cloned()
    } {
        assert_eq!(seen.last(), Some(&last));
    }
    assert_eq!(seen, keys);
    let first = store.scan_hosts(None, 3).unwrap();
    let rest = store.scan_hosts(Some(first[2].0), 99).unwrap();
    assert_eq!((first.len(), rest.len()), (3, 1));
    assert!(first.iter().chain(&rest).map(|(k, _)| *k).is_sorted());
    assert!(first.iter().all(|(_, h)| h.origin.starts_with("http://h")));
}

pub fn what_is_unknown_is_none(home: &mut dyn Home) {
    let store = home.store();
    begun(store, job(1), &[X]);
    let (none, some) = (key("http://a.test/none"), key(X));
    let rows = store.urls(&[none, some, none]).unwrap();
    assert!(rows[0].is_none() && rows[1].is_some() && rows[2].is_none());
    assert_eq!(store.docs(&[DocId::new(99, some.host.part)]).unwrap(), [None]);
    assert!(store.hosts(&[key("http://none.test/").host]).unwrap()[0].is_none());
    assert!(store.captures(none).unwrap().is_empty());
}
