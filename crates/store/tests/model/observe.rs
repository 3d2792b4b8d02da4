//! Everything that can be seen of a store, by names a person can read.

#![allow(clippy::unwrap_used)]

use crate::history::{URLS, hosts};
use crate::scene::{all_urls, key, window};
use argiope_frontier::{Entry, HostWindow, Place, RobotsFile, Temper};
use argiope_model::{Capture, HostKey, SiteKey, Time};
use argiope_store::{Change, Committed, HostRow, JobRow, PayloadRow, SegmentKind, Store, UrlHead};
use std::collections::BTreeMap;

#[derive(Debug, PartialEq)]
pub struct Observed {
    urls: BTreeMap<String, UrlHead>,
    hosts: BTreeMap<String, HostRow>,
    robots: Vec<Option<RobotsFile>>,
    jobs: Vec<JobRow>,
    claims: Vec<HostKey>,
    windows: Vec<Vec<Entry>>,
    changes: Vec<Vec<Change>>,
    captures: BTreeMap<&'static str, Vec<Capture>>,
    links: Vec<Option<Vec<u8>>>,
    payloads: Vec<Option<PayloadRow>>,
    segments: Vec<(u32, u64)>,
    next_page: u64,
    exclusions: Vec<(Box<str>, Time)>,
}

impl Observed {
    pub fn of(store: &dyn Store) -> Self {
        let rows = store.scan_hosts(None, 99).unwrap();
        let keys = URLS.map(key);
        let payload = |k: &argiope_model::UrlKey| {
            (SiteKey { part: k.host.part, site: [1; 6] }, [k.url as u8; 20])
        };
        Observed {
            urls: all_urls(store).into_iter().map(|(_, r)| (r.url.to_string(), r.head)).collect(),
            // How a store remembers when to wake a host is its own affair.
            hosts: rows
                .into_iter()
                .map(|(_, h)| (h.origin.to_string(), HostRow { wake: None, ..h }))
                .collect(),
            robots: store.robots(&hosts()).unwrap(),
            jobs: store.jobs().unwrap(),
            claims: store.claims().unwrap(),
            windows: hosts().into_iter().map(|h| window(store, h, 2)).collect(),
            changes: hosts().map(|h| store.changes(h.part, 0, 999).unwrap()).into(),
            captures: URLS.map(|u| (u, store.captures(key(u)).unwrap())).into(),
            links: store.links(&keys).unwrap(),
            payloads: store.payloads(&keys.each_ref().map(payload)).unwrap(),
            segments: store.segments(SegmentKind::Text).unwrap(),
            next_page: store.next_page().unwrap(),
            exclusions: store.exclusions().unwrap(),
        }
    }
}

type Window = (Option<Place>, bool, Vec<Entry>, Time, Temper, Option<RobotsFile>);

/// What a commit answered, in a form that does not depend on the order of telling.
#[derive(Debug, PartialEq)]
pub struct Answers {
    queued: BTreeMap<(HostKey, Place), Entry>,
    refills: BTreeMap<HostKey, Window>,
    claimed: BTreeMap<HostKey, Window>,
    next_due: Option<Time>,
}

pub fn answers(told: &Committed, now: Time) -> Answers {
    let window = |w: &HostWindow| {
        let host = (w.not_before, w.temper.clone(), w.robots.clone());
        (w.host, (w.cursor, w.more, w.entries.clone(), host.0, host.1, host.2))
    };
    Answers {
        // Told twice, the later word counts.
        queued: told.queued.iter().map(|e| ((e.key.host, e.place), e.clone())).collect(),
        refills: told.refills.iter().map(window).collect(),
        claimed: told.claimed.iter().map(window).collect(),
        // What is overdue is due now.
        next_due: told.next_due.map(|due| due.max(now)),
    }
}
