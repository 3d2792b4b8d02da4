//! What a crawl leaves behind for those who come to look later: its speed over time, its newest pages and errors.
//!
//! * Its place: part of [`crate::Live`]; the director writes, whoever asks for the status reads.
//! * Invariants: bounded, however long the crawl runs. Samples stay evenly spaced: when there are [`SAMPLES`] of
//!   them every other one goes and the step doubles. Counts are kept, not rates, so that thinning loses no page.
//! * What is not here: the speed of the last seconds (`live`), counters for Prometheus (`metrics`).

use argiope_model::{Capture, OutcomeKind, Time};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Samples kept at most.
const SAMPLES: usize = 240;
/// From one sample to the next, at first.
const STEP_MS: i64 = 1_000;
/// Pages, and errors, kept.
const NEWEST: usize = 20;
/// Characters kept of what is said of an error.
const DETAIL: usize = 200;

/// How far a crawl was at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    at: Time,
    pages: u64,
    errors: u64,
    queued: u64,
}

/// What is remembered of a crawl.
#[derive(Debug)]
pub(crate) struct Trail {
    samples: Vec<Sample>,
    step_ms: i64,
    pages: VecDeque<Value>,
    errors: VecDeque<Value>,
}

impl Default for Trail {
    fn default() -> Self {
        let (pages, errors) = (VecDeque::new(), VecDeque::new());
        Trail { samples: Vec::new(), step_ms: STEP_MS, pages, errors }
    }
}

impl Trail {
    /// Notes how far it is, where that is due.
    pub fn note(&mut self, at: Time, pages: u64, errors: u64, queued: u64) {
        if self.samples.last().is_some_and(|last| at.0 - last.at.0 < self.step_ms) {
            return;
        }
        self.samples.push(Sample { at, pages, errors, queued });
        if self.samples.len() >= SAMPLES {
            let mut even = false;
            self.samples.retain(|_| {
                even = !even;
                even
            });
            self.step_ms *= 2;
        }
    }

    /// Notes how a visit ended. A redirect is neither a page nor an error.
    pub fn visited(&mut self, url: &str, capture: &Capture) {
        let outcome = &capture.outcome;
        let (list, mut row) = match (outcome.is_success(), outcome.kind) {
            (true, _) => {
                let row = json!({ "type": &*capture.mime, "bytes": capture.bytes });
                (&mut self.pages, row)
            }
            (false, OutcomeKind::Redirect) => return,
            (false, kind) => {
                let detail: Option<String> =
                    outcome.detail.as_ref().map(|d| d.chars().take(DETAIL).collect());
                (&mut self.errors, json!({ "outcome": kind.name(), "detail": detail }))
            }
        };
        row["url"] = json!(url);
        row["time"] = json!(capture.time.to_string());
        row["status"] = json!((outcome.status != 0).then_some(outcome.status));
        row["elapsed_ms"] = json!(capture.elapsed_ms);
        if list.len() == NEWEST {
            list.pop_back();
        }
        list.push_front(row);
    }

    /// Speed over time: `[seconds since the first sample, pages, errors, queued]`, counts since the crawl began.
    pub fn speed(&self) -> Value {
        let first = self.samples.first().map_or(Time(0), |s| s.at);
        let row = |s: &Sample| {
            json!([s.at.since(first).as_millis() as f64 / 1000.0, s.pages, s.errors, s.queued])
        };
        json!({
            "since": self.samples.first().map(|s| s.at.to_string()),
            "step_s": self.step_ms as f64 / 1000.0,
            "samples": self.samples.iter().map(row).collect::<Vec<_>>(),
        })
    }

    /// The newest pages, newest first.
    pub fn newest_pages(&self) -> Value {
        self.pages.iter().cloned().collect()
    }

    /// The newest errors, newest first.
    pub fn newest_errors(&self) -> Value {
        self.errors.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::{Directives, DocId, FetchOutcome, JobId};

    fn capture(kind: OutcomeKind, status: u16) -> Capture {
        Capture {
            doc: DocId(1),
            job: JobId(1),
            time: Time(0),
            outcome: FetchOutcome::with_detail(kind, status, "é".repeat(1_000)),
            record: None,
            revisit: false,
            text: None,
            mime: "text/html".into(),
            bytes: 7,
            payload_digest: [0; 20],
            body_digest: [0; 32],
            last_modified: None,
            etag: None,
            elapsed_ms: 3,
            directives: Directives::default(),
            verdict: None,
        }
    }

    #[test]
    fn a_long_crawl_is_told_whole_in_few_samples() {
        let mut trail = Trail::default();
        for second in 0..100_000 {
            trail.note(Time(second * 1_000), second as u64 * 3, 0, 5);
        }
        let told = trail.speed();
        let samples = told["samples"].as_array().unwrap();
        assert!(samples.len() < SAMPLES && samples.len() > SAMPLES / 3, "{}", samples.len());
        assert_eq!(samples[0], json!([0.0, 0, 0, 5]));
        let last = samples.last().unwrap()[0].as_f64().unwrap();
        assert!(last > 98_000.0, "{last}");
        let step = told["step_s"].as_f64().unwrap();
        for pair in samples.windows(2) {
            assert_eq!(pair[1][0].as_f64().unwrap() - pair[0][0].as_f64().unwrap(), step);
        }
    }

    #[test]
    fn the_newest_come_first_and_are_few() {
        let mut trail = Trail::default();
        for n in 0..50 {
            trail.visited(&format!("http://a.test/{n}"), &capture(OutcomeKind::Fetched, 200));
            trail.visited("http://a.test/r", &capture(OutcomeKind::Redirect, 301));
            trail.visited("http://a.test/e", &capture(OutcomeKind::TimedOut, 0));
        }
        let (pages, errors) = (trail.newest_pages(), trail.newest_errors());
        assert_eq!(pages.as_array().unwrap().len(), NEWEST);
        assert_eq!(pages[0]["url"], "http://a.test/49");
        assert_eq!(errors.as_array().unwrap().len(), NEWEST);
        assert_eq!(errors[0]["outcome"], OutcomeKind::TimedOut.name());
        assert_eq!(errors[0]["detail"].as_str().unwrap().chars().count(), DETAIL);
        assert!(errors[0]["status"].is_null());
    }
}
