//! Behaviours of captures that were made elsewhere.

use crate::scene::*;
use argiope_frontier::Entry;
use argiope_model::{DocId, JobId, JobState, Role, SiteKey, Time};
use argiope_store::{Batch, Committed, PageResult, Payload, Store, UrlState};

const X: &str = "http://a.test/x";
const IMPORT: u32 = 9;

/// A URL as an import knows it: no number, no place in a queue.
fn outside(text: &str) -> Entry {
    Entry {
        key: key(text),
        place: place(0),
        url: url(text),
        doc: DocId(0),
        job: JobId(IMPORT),
        depth: 0,
        attempts: 0,
        expand: false,
        role: Role::Page,
        hops: 0,
        again: false,
    }
}

fn import(store: &dyn Store, pages: Vec<PageResult>) -> Committed {
    let known = store.jobs().unwrap().iter().any(|row| row.job.id == JobId(IMPORT));
    let jobs = match known {
        true => vec![],
        false => vec![new_job(job(IMPORT)), set(IMPORT, JobState::Done)],
    };
    store.commit(Batch { jobs, imports: pages, ..at(50_000) }).unwrap()
}

pub fn an_imported_capture_makes_its_url_known_and_queues_nothing(home: &mut dyn Home) {
    let mut page = fetched(outside(X), 1_000);
    page.links = Some(b"links".to_vec());
    page.changed = true;
    let site = SiteKey { part: key(X).host.part, site: [1; 6] };
    page.payload = Some(Payload { site, digest: [7; 20] });
    let gone = ended(outside("http://a.test/gone"), 2_000, UrlState::Failed);
    let told = import(home.store(), vec![page, gone]);
    assert!(told.queued.is_empty());
    home.reopen();
    let store = home.store();
    let known = row(store, X);
    assert_eq!((known.state, known.place, known.visits), (UrlState::Fetched, None, 1));
    assert_eq!((known.first_seen, known.fetched_at), (Time(1_000), Some(Time(1_000))));
    assert_eq!(row(store, "http://a.test/gone").state, UrlState::Failed);
    let captures = store.captures(key(X)).unwrap();
    assert_eq!((captures.len(), captures[0].doc), (1, known.doc));
    assert_eq!(store.links(&[key(X)]).unwrap(), [Some(b"links".to_vec())]);
    assert_eq!(store.payloads(&[(site, [7; 20])]).unwrap()[0].as_ref().unwrap().url, url(X));
    assert_eq!(store.changes(key(X).host.part, 0, 9).unwrap().len(), 2);
    let counted = counters(store, IMPORT);
    assert_eq!((counted.fetched, counted.failed, counted.queued), (1, 1, 0));
    assert_eq!((counted.known, counted.hosts), (2, 1));
    assert_eq!((host_row(store, X).known, host_row(store, X).fetched), (2, 1));
    assert!(claim(store, 99_000).is_empty(), "nothing is asked for");
}

pub fn an_older_capture_leaves_the_last_word_to_the_newer(home: &mut dyn Home) {
    let entry = begun(home.store(), job(1), &[X]).remove(0);
    let mut page = fetched(entry, 5_000);
    page.links = Some(b"new".to_vec());
    page.changed = true;
    finish(home.store(), 5_000, vec![page]);
    let mut older = ended(outside(X), 2_000, UrlState::Redirected);
    older.links = Some(b"old".to_vec());
    import(home.store(), vec![older]);
    home.reopen();
    let store = home.store();
    let known = row(store, X);
    assert_eq!((known.state, known.fetched_at), (UrlState::Fetched, Some(Time(5_000))));
    assert_eq!(known.job(), JobId(1));
    assert_eq!(known.changed_at, Some(Time(5_000)));
    assert_eq!(store.links(&[key(X)]).unwrap(), [Some(b"new".to_vec())]);
    let times: Vec<i64> = store.captures(key(X)).unwrap().iter().map(|c| c.time.0).collect();
    assert_eq!(times, [2_000, 5_000]);
    // A newer one has it.
    let mut newer = ended(outside(X), 9_000, UrlState::Failed);
    newer.links = Some(b"newest".to_vec());
    import(store, vec![newer]);
    assert_eq!(row(store, X).state, UrlState::Failed);
    assert_eq!(store.links(&[key(X)]).unwrap(), [Some(b"newest".to_vec())]);
}

pub fn a_queued_url_stays_queued_whatever_is_imported(home: &mut dyn Home) {
    let entry = begun(home.store(), job(1), &[X]).remove(0);
    import(home.store(), vec![fetched(outside(X), 1_000), fetched(outside(X), 3_000)]);
    home.reopen();
    let store = home.store();
    let waiting = row(store, X);
    assert_eq!((waiting.state, waiting.place), (UrlState::Queued, Some(entry.place)));
    assert_eq!((waiting.job(), waiting.visits), (JobId(1), 2));
    finish(store, 7_000, vec![fetched(entry, 7_000)]);
    assert_eq!(row(store, X).state, UrlState::Fetched);
    assert_eq!(store.captures(key(X)).unwrap().len(), 3);
}
