//! The originals of revisit records: read from our own archive, where they were imported or
//! crawled before.
//!
//! A revisit names the record it stands for by URL and time, by the digest of its payload, or by
//! both. Whatever leads to a capture of ours will do; what is then stored is a revisit of our own
//! where the payload is one of the same site, and a whole response otherwise.

use super::take::{Candidate, Held, Taker, second, stated_digest};
use super::{ImportError, failed};
use argiope_archive::{http_status, open_record, warc_date};
use argiope_fetch::Head;
use argiope_model::{CanonicalUrl, Capture, Location, PayloadDigest};

impl Taker {
    /// The answer a revisit stands for; `None` if it is not here.
    pub(super) fn original(&self, revisit: &Candidate) -> Result<Option<Held>, ImportError> {
        let Some(at) = self.find(revisit)? else { return Ok(None) };
        let mut record = open_record(&self.warc, at).map_err(failed)?;
        let stored = record.http_head().to_vec();
        let body = self.fetcher.gather(&mut record).map_err(failed)?;
        // Its own head tells of its own visit, unless it is that of a 304 or does not fit the
        // payload as we keep it.
        let own = http_status(&revisit.http_head).filter(|status| *status != 304);
        let coding = |raw: &[u8]| {
            let head = Head::archived(0, raw.to_vec());
            head.content_encoding().unwrap_or_default().into_owned()
        };
        let fits = coding(&revisit.http_head) == coding(&stored);
        let head = if own.is_some() && fits { revisit.http_head.clone() } else { stored };
        let status = http_status(&head).unwrap_or(0);
        let truncated = revisit.headers.get("WARC-Truncated").map(Into::into);
        Ok(Some(Held { status, head, body, note: None, truncated }))
    }

    fn find(&self, revisit: &Candidate) -> Result<Option<Location>, ImportError> {
        let digest = stated_digest(&revisit.headers);
        let header = |name: &str| revisit.headers.get(name);
        let named = header("WARC-Refers-To-Target-URI")
            .map(|uri| uri.trim_start_matches('<').trim_end_matches('>'))
            .and_then(|uri| CanonicalUrl::parse(uri).ok());
        if let Some(url) = &named {
            let date = header("WARC-Refers-To-Date").and_then(warc_date);
            let captures = self.shared.store.captures(url.key(&self.shared.pinned))?;
            let when = |c: &&Capture| date.is_some_and(|d| second(c.time) == second(d));
            let same = |c: &&Capture| Some(c.payload_digest) == digest;
            let both = captures.iter().find(|c| when(c) && same(c));
            let found = both.or_else(|| captures.iter().find(when));
            let found = found.or_else(|| captures.iter().find(same));
            if let Some(capture) = found {
                return self.record_of(url, capture);
            }
        }
        if let Some(digest) = digest {
            for url in named.iter().chain([&revisit.url]) {
                if let Some(at) = self.payload_of(url, digest)? {
                    return Ok(Some(at));
                }
            }
        }
        // A 304 says no more than that the page is as it was last.
        let captures = self.shared.store.captures(revisit.key)?;
        let before = |c: &&Capture| c.time <= revisit.time && c.record.is_some();
        match captures.iter().rev().find(before) {
            Some(last) if not_modified(revisit) => self.record_of(&revisit.url, last),
            _ => Ok(None),
        }
    }

    /// The record that holds the payload of a capture: its own, or the one it is a revisit of.
    fn record_of(
        &self,
        url: &CanonicalUrl,
        capture: &Capture,
    ) -> Result<Option<Location>, ImportError> {
        match capture.revisit {
            false => Ok(capture.record),
            true => self.payload_of(url, capture.payload_digest),
        }
    }

    /// The record that holds this payload within the site of the URL.
    fn payload_of(
        &self,
        url: &CanonicalUrl,
        digest: PayloadDigest,
    ) -> Result<Option<Location>, ImportError> {
        let store = &self.shared.store;
        let site = self.shared.pinned.site_key(url.host());
        let Some(first) = store.payloads(&[(site, digest)])?.pop().flatten() else {
            return Ok(None);
        };
        let captures = store.captures(first.url.key(&self.shared.pinned))?;
        let held = captures.iter().find(|c| c.time == first.time && !c.revisit);
        Ok(held.and_then(|c| c.record))
    }
}

fn not_modified(revisit: &Candidate) -> bool {
    let profile = revisit.headers.get("WARC-Profile").unwrap_or_default();
    profile.ends_with("/server-not-modified") || http_status(&revisit.http_head) == Some(304)
}
