//! Captures as archive tools list them: of a URL, of what begins like one, of a host, of a domain.
//!
//! * Its place: the web's CDX server asks for it; `export cdxj` writes the same lines for everything.
//! * How it reads: the store knows URLs by fingerprints, the tools want them by their sort-friendly keys. Of a host
//!   all URLs are looked at, and the first rows behind a place are kept; so a listing is in order, and goes on where
//!   it ended however much was added meanwhile.
//! * Invariants: at most [`MOST_URLS`] URLs are looked at and [`MOST_ROWS`] rows held.
//! * What is not here: how rows are written down (`web`).

use crate::ask::{Asked, Question};
use argiope_archive::{digest_base32, surt, warc_segment_name};
use argiope_filter::Expression;
use argiope_model::{CanonicalUrl, Capture, HostKey, Suffixes, Time, UrlKey};
use argiope_store::{Store, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// URLs looked at for one answer.
const MOST_URLS: usize = 200_000;
/// Hosts looked at for one answer.
const MOST_HOSTS: usize = 1_000_000;
/// Rows held for one answer.
const MOST_ROWS: usize = 50_000;
/// Rows read at a time.
const PIECE: usize = 512;

/// Which captures are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CdxOrder {
    /// The URL; without a scheme too.
    pub url: String,
    /// What else is meant by it.
    pub matching: CdxMatch,
    /// Not before.
    pub from: Option<Time>,
    /// Not after.
    pub to: Option<Time>,
    /// In which order.
    pub sort: CdxSort,
    /// What each row must be like.
    pub filters: Vec<CdxFilter>,
    /// Of rows beside each other that agree in a field, or in its first characters, only the first.
    pub collapse: Option<(String, Option<usize>)>,
    /// Rows wanted.
    pub limit: usize,
    /// Rows left out before them.
    pub skip: usize,
    /// Only how many there are.
    pub count: bool,
    /// Those behind this place, as an answer named it.
    pub after: Option<Place>,
}

/// Where a row stands: its URL, its time, and what rows were collapsed by there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    url: String,
    time: Time,
    collapsed: Option<String>,
}

impl Place {
    fn row(&self) -> (String, Time, String) {
        (surt(&self.url), self.time, self.url.clone())
    }
}

/// What is meant by a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CdxMatch {
    /// It alone.
    #[default]
    Exact,
    /// All that begins like it.
    Prefix,
    /// All of its host.
    Host,
    /// All of its host and of those below it.
    Domain,
}

/// In which order captures are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CdxSort {
    /// By key and time.
    #[default]
    Forward,
    /// The newest first.
    Reverse,
    /// The nearest to a time first.
    Closest(Time),
}

/// What a row must be like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CdxFilter {
    /// The field.
    pub field: String,
    /// It must not.
    pub not: bool,
    /// How it is tried.
    pub test: CdxTest,
    /// The text or the expression.
    pub text: String,
}

/// How a field is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CdxTest {
    /// The text is in it.
    Holds,
    /// It is the text.
    Is,
    /// The expression is found at its beginning.
    Like,
}

/// A filter, ready to be asked.
struct Sieve<'a>(&'a CdxFilter, Option<Expression>);

impl Sieve<'_> {
    fn lets(&self, row: &Value) -> bool {
        let Sieve(filter, expression) = self;
        let value = row[&filter.field].as_str().unwrap_or_default();
        let fits = match (filter.test, expression) {
            (CdxTest::Is, _) => value == filter.text,
            (CdxTest::Like, Some(expression)) => expression.is_in(value),
            _ => value.contains(&filter.text),
        };
        fits != filter.not
    }
}

/// Why there is no list.
enum Failed {
    Wrong(String),
    Store(StoreError),
}

impl From<StoreError> for Failed {
    fn from(e: StoreError) -> Self {
        Failed::Store(e)
    }
}

/// Lists captures.
pub(crate) fn listed(order: &CdxOrder, pinned: &Suffixes, store: &dyn Store) -> Asked {
    match list(order, pinned, store) {
        Ok(asked) => asked,
        Err(Failed::Wrong(why)) => Asked::Wrong(why),
        Err(Failed::Store(e)) => Asked::Sorry(e.to_string()),
    }
}

fn list(order: &CdxOrder, pinned: &Suffixes, store: &dyn Store) -> Result<Asked, Failed> {
    let sieves = order.filters.iter().map(sieve).collect::<Result<Vec<_>, _>>()?;
    let wanted = Wanted::of(&order.url, order.matching)?;
    let exact = order.matching == CdxMatch::Exact;
    if !exact && order.sort != CdxSort::Forward {
        return Err(Failed::Wrong(
            "sort=reverse and sort=closest list one URL; leave matchType out, or sort".to_owned(),
        ));
    }
    let room = match order.collapse {
        _ if exact => usize::MAX,
        Some(_) => MOST_ROWS,
        None => (order.skip + order.limit + 1).min(MOST_ROWS),
    };
    let mut found = Found { rows: BTreeMap::new(), room, cut: false, number: 0 };
    let after = order.after.as_ref().map(Place::row);
    let mut take = |key: UrlKey, url: &CanonicalUrl| -> Result<(), StoreError> {
        let place = surt(url.as_str());
        if !wanted.is_meant(&place) || (!order.count && found.is_beyond(&place)) {
            return Ok(());
        }
        for capture in store.captures(key)? {
            let early = order.from.is_some_and(|from| capture.time < from);
            let late = order.to.is_some_and(|to| capture.time > to);
            let row = (place.clone(), capture.time, url.as_str().to_owned());
            let passed = after.as_ref().is_some_and(|after| row <= *after);
            let Some(told) = told(&place, url, &capture) else { continue };
            if !early && !late && !passed && sieves.iter().all(|sieve| sieve.lets(&told)) {
                found.take(row, told);
            }
        }
        Ok(())
    };
    if exact {
        let keys: Vec<UrlKey> = wanted.urls.iter().map(|url| url.key(pinned)).collect();
        for (key, row) in keys.iter().zip(store.urls(&keys)?) {
            if let Some(row) = row {
                take(*key, &row.url)?;
            }
        }
    } else {
        let mut left = MOST_URLS;
        for host in wanted.hosts(order.matching, pinned, store)? {
            let mut after = None;
            loop {
                let rows = store.host_urls(host, after, PIECE)?;
                let Some((last, _)) = rows.last() else { break };
                after = Some(last.url);
                left = left.checked_sub(rows.len()).ok_or_else(|| {
                    let most = "more than 200,000 URLs lie there: ask for one URL (matchType=exact), \
                        or list everything with `argiope export cdxj`";
                    Failed::Wrong(most.to_owned())
                })?;
                for (key, row) in rows.iter().filter(|(_, row)| row.fetched_at.is_some()) {
                    take(*key, &row.url)?;
                }
            }
        }
    }
    Ok(found.told(order))
}

fn sieve(filter: &CdxFilter) -> Result<Sieve<'_>, Failed> {
    let expression = match filter.test {
        // As Python's `re.match` has it.
        CdxTest::Like => Some(Expression::new(&format!("^(?:{})", filter.text))),
        _ => None,
    };
    let expression = expression.transpose().map_err(|why| {
        Failed::Wrong(format!("the expression {} cannot be used: {why}", filter.text))
    })?;
    Ok(Sieve(filter, expression))
}

/// Rows found, in their order.
struct Found {
    rows: BTreeMap<(String, Time, String), Value>,
    room: usize,
    /// More were found than are held.
    cut: bool,
    number: usize,
}

impl Found {
    /// Whether all that could be found there comes behind what is held.
    fn is_beyond(&self, place: &str) -> bool {
        self.cut && self.rows.last_key_value().is_some_and(|(last, _)| *place > *last.0)
    }

    fn take(&mut self, place: (String, Time, String), row: Value) {
        self.number += 1;
        self.rows.insert(place, row);
        if self.rows.len() > self.room {
            self.rows.pop_last();
            self.cut = true;
        }
    }

    fn told(self, order: &CdxOrder) -> Asked {
        if order.count {
            return Asked::Rows(vec![json!({ "rows": self.number })]);
        }
        let mut rows: Vec<((String, Time, String), Value)> = self.rows.into_iter().collect();
        match order.sort {
            CdxSort::Forward => {}
            CdxSort::Reverse => rows.reverse(),
            // What is listed are seconds: of two visits the one of the very second is the nearest.
            CdxSort::Closest(at) => {
                let second = |time: Time| time.0.div_euclid(1_000);
                rows.sort_by_key(|(place, _)| second(place.1).abs_diff(second(at)));
            }
        }
        let mut collapsed = order.after.as_ref().and_then(|after| after.collapsed.clone());
        let (mut out, mut last, mut skipped) = (Vec::new(), None, 0);
        let mut rows = rows.into_iter();
        for (place, row) in rows.by_ref() {
            let value = order.collapse.as_ref().map(|(field, first)| {
                let value = row[field].as_str().unwrap_or_default();
                value.chars().take(first.unwrap_or(usize::MAX)).collect::<String>()
            });
            let again = value.is_some() && value == collapsed;
            collapsed = value;
            last = Some(Place { url: place.2, time: place.1, collapsed: collapsed.clone() });
            if again {
                continue;
            }
            if skipped < order.skip {
                skipped += 1;
                continue;
            }
            out.push(row);
            if out.len() >= order.limit {
                break;
            }
        }
        let more = (self.cut || rows.next().is_some()) && order.sort == CdxSort::Forward;
        let rest = last.filter(|_| more).map(|after| {
            let skip = order.skip - skipped;
            Box::new(Question::Cdx(CdxOrder { after: Some(after), skip, ..order.clone() }))
        });
        Asked::Piece(out, rest)
    }
}

/// A row, as `export cdxj` has it; none where nothing was archived.
fn told(place: &str, url: &CanonicalUrl, capture: &Capture) -> Option<Value> {
    let at = capture.record?;
    let mime = match &*capture.mime {
        _ if capture.revisit => "warc/revisit",
        "" => "unk",
        known => known,
    };
    let status = Some(capture.outcome.status).filter(|status| *status != 0 && !capture.revisit);
    Some(json!({
        "urlkey": place,
        "timestamp": capture.time.digits14(),
        "url": url.as_str(),
        "mime": mime,
        "status": status.map(|status| status.to_string()),
        "digest": digest_base32(&capture.payload_digest),
        "length": at.length.to_string(),
        "offset": at.offset.to_string(),
        "filename": warc_segment_name(at.segment),
    }))
}

/// What is looked for.
struct Wanted {
    /// The ways to write the URL that have the same key.
    urls: Vec<CanonicalUrl>,
    /// What keys are, or begin with.
    starts: Vec<String>,
    exact: bool,
}

impl Wanted {
    fn of(text: &str, matching: CdxMatch) -> Result<Wanted, Failed> {
        let text = text.trim();
        let whole = match text.contains("://") {
            true => text.to_owned(),
            false => format!("http://{text}"),
        };
        let url = CanonicalUrl::parse(&whole)
            .map_err(|e| Failed::Wrong(format!("{text} is no URL: {e}")))?;
        let key = surt(url.as_str());
        let host = key.split(')').next().unwrap_or_default().to_owned();
        let starts = match matching {
            CdxMatch::Exact => vec![key],
            CdxMatch::Prefix => {
                // The slash at the end of a key is cut off, and was meant.
                let slash = whole.ends_with('/') && !key.ends_with('/');
                vec![if slash { format!("{key}/") } else { key }]
            }
            CdxMatch::Host => vec![format!("{host})")],
            CdxMatch::Domain => vec![format!("{host})"), format!("{host},"), format!("{host}:")],
        };
        Ok(Wanted { urls: ways(&url), starts, exact: matching == CdxMatch::Exact })
    }

    fn is_meant(&self, key: &str) -> bool {
        match self.exact {
            true => self.starts.iter().any(|start| key == start),
            false => self.starts.iter().any(|start| key.starts_with(start)),
        }
    }

    fn hosts(
        &self,
        matching: CdxMatch,
        pinned: &Suffixes,
        store: &dyn Store,
    ) -> Result<Vec<HostKey>, Failed> {
        if matching != CdxMatch::Domain {
            let mut hosts: Vec<HostKey> =
                self.urls.iter().map(|url| url.host_key(pinned)).collect();
            hosts.sort_unstable();
            hosts.dedup();
            return Ok(hosts);
        }
        let (mut out, mut after, mut looked) = (Vec::new(), None, 0);
        while looked < MOST_HOSTS {
            let hosts = store.scan_hosts(after, PIECE)?;
            let Some((last, _)) = hosts.last() else { break };
            after = Some(*last);
            looked += hosts.len();
            let meant = hosts.iter().filter(|(_, row)| self.is_meant(&surt(&row.origin)));
            out.extend(meant.map(|(key, _)| *key));
        }
        Ok(out)
    }
}

/// The ways to write a URL that have the same key: scheme, `www.`, the slash at the end.
fn ways(url: &CanonicalUrl) -> Vec<CanonicalUrl> {
    let text = url.as_str();
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let bare = rest.strip_prefix("www.").unwrap_or(rest);
    let (path, query) = match bare.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (bare, String::new()),
    };
    let path = path.trim_end_matches('/');
    let mut out: Vec<CanonicalUrl> = Vec::new();
    for scheme in ["http", "https"] {
        for www in ["", "www."] {
            for slash in ["", "/"] {
                let way = CanonicalUrl::parse(&format!("{scheme}://{www}{path}{slash}{query}"));
                out.extend(way.ok().filter(|way| !out.contains(way)));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_write_a_url_have_its_key() {
        let url = CanonicalUrl::parse("https://www.example.org/a/?b=1").unwrap();
        let ways = ways(&url);
        assert_eq!(ways.len(), 8);
        assert!(ways.iter().all(|way| surt(way.as_str()) == "org,example)/a?b=1"), "{ways:?}");
    }

    #[test]
    fn a_domain_is_its_host_and_those_below_and_no_other() {
        let Ok(wanted) = Wanted::of("example.org", CdxMatch::Domain) else { panic!() };
        for meant in ["org,example)/", "org,example,a)/x", "org,example:8080)/"] {
            assert!(wanted.is_meant(meant), "{meant}");
        }
        assert!(!wanted.is_meant("org,example2)/") && !wanted.is_meant("org)/"));
        let Ok(below) = Wanted::of("http://example.org/a/", CdxMatch::Prefix) else { panic!() };
        assert!(below.is_meant("org,example)/a/b") && !below.is_meant("org,example)/ab"));
    }

    #[test]
    fn rows_go_on_where_they_ended_and_agreeing_ones_are_left_out() {
        let row = |n: i64| {
            let place = (surt("http://u.test/"), Time(n), "http://u.test/".to_owned());
            (place, json!({ "digest": format!("{}", n / 2), "timestamp": n.to_string() }))
        };
        let mut order = CdxOrder { limit: 2, ..CdxOrder::default() };
        order.collapse = Some(("digest".to_owned(), None));
        let mut got = Vec::new();
        loop {
            let mut found = Found { rows: BTreeMap::new(), room: 3, cut: false, number: 0 };
            for (place, told) in (0..9).rev().map(row) {
                if order.after.as_ref().is_none_or(|after| place > after.row()) {
                    found.take(place, told);
                }
            }
            let Asked::Piece(rows, rest) = found.told(&order) else { panic!() };
            got.extend(rows.into_iter().map(|row| row["timestamp"].as_str().unwrap().to_owned()));
            match rest.map(|rest| *rest) {
                Some(Question::Cdx(rest)) => order = rest,
                _ => break,
            }
        }
        assert_eq!(got, ["0", "2", "4", "6", "8"]);
    }
}
