//! The versions of a page: which of its texts was to be found when.
//!
//! * What this is: from the captures of a page, a list of times from and until which one of its texts
//!   held. The last may be open: that is the page as it is today, and belongs into the index itself. All
//!   others are the past.
//! * What a capture does: a text begins a version; the same text goes on with it; a redirect, `noindex`,
//!   an answer without text, or a refusal that is no accident (404) ends it. What may end better when
//!   tried again tells nothing, unless the page was given up with it. Refusals behind which nothing has
//!   come may be tried again, and end the page when log or store say that it has ended.
//! * Other words that count for nothing (a clock, a counter of views, an error page sent in place of the
//!   page) begin no version: a version is found by the text it began with. Whether they count is judged
//!   once, when they come, and told by the change log; the documents that are there remember it. Where
//!   nobody has told, another text is another version: too many are found where they were, too few not.
//! * Invariants: versions do not overlap; the same captures and the same log give the same versions, in
//!   whatever pieces they are read.
//! * What is not here: the documents of versions (`past`), today's page (`index`).

use crate::index::{Shown, tells, told};
use argiope_model::{Capture, Location, Time};
use argiope_store::{Change, Ended, UrlState};

/// A text of a page, and when it was to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub from: Time,
    /// `None` for the page as it is today.
    pub until: Option<Time>,
    pub shown: Shown,
}

/// A version that stands in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// When it was first there.
    pub from: Time,
    /// When it was there no more; `None` for the page as it is today.
    pub until: Option<Time>,
    /// The last capture that found it.
    pub fetched: Time,
    /// Its text.
    pub location: Location,
}

/// What is known of a page's captures beside themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    /// Texts that count as changed.
    changed: Vec<Time>,
    /// Texts that do not.
    same: Vec<Time>,
    /// Captures with which the page ended, whatever they say.
    ended: Vec<Time>,
    /// Captures that came when later ones were there: nobody has compared these with them.
    late: Vec<Time>,
    /// The page is known to be no more.
    gone: bool,
    held: Vec<Held>,
}

impl Hints {
    /// Hears a row of the change log.
    pub fn hear(&mut self, row: &Change) {
        match row.ended {
            Ended::Open if row.changed => self.late.push(row.time),
            Ended::Open => {}
            Ended::WithPage if row.changed => self.changed.push(row.time),
            Ended::WithPage => self.same.push(row.time),
            Ended::Broken | Ended::LeftAlone | Ended::Forgotten => self.ended.push(row.time),
        }
    }

    /// Takes the versions that are there already for what was told before.
    pub fn hold(&mut self, held: Vec<Held>) {
        self.held = held;
    }

    /// Takes the word of the store for how the page has ended, if it has.
    pub fn state(&mut self, state: UrlState) {
        self.gone = !matches!(state, UrlState::Fetched | UrlState::Queued);
    }

    /// Whether the page ended at a time.
    fn ends(&self, at: Time) -> bool {
        self.ended.contains(&at) || self.held.iter().any(|held| held.until == Some(at))
    }

    /// Whether another text at a time goes on with the version before.
    fn is_same(&self, at: Time) -> bool {
        if self.changed.contains(&at) || self.late.contains(&at) {
            return false;
        }
        self.same.contains(&at) || self.held.iter().any(|held| held.from < at && at <= held.fetched)
    }
}

/// The versions of a page with these captures, the oldest first.
pub(crate) fn versions(captures: &[Capture], hints: &Hints) -> Vec<Version> {
    let mut out: Vec<Version> = Vec::new();
    // Whether the last version is open, and its latest text.
    let mut open: Option<Location> = None;
    // The last capture that tells what there is; an unchanged page is told by it.
    let mut telling: Option<&Capture> = None;
    let mut late = false;
    let last_told = captures.iter().rposition(told).unwrap_or(0);
    let said = captures.iter().skip(last_told + 1).any(|c| hints.ends(c.time));
    for (n, capture) in captures.iter().enumerate() {
        let at = capture.time;
        let transient = capture.outcome.is_transient();
        let undecided = match n > last_told {
            false => transient,
            // Given up before there was anything to end.
            true if transient => !hints.gone || said || n + 1 < captures.len(),
            true => !hints.gone && !said,
        };
        let visible = if told(capture) {
            if tells(capture) {
                telling = Some(capture);
            }
            Shown::of(telling, capture)
        } else if undecided && !hints.ends(at) {
            continue;
        } else {
            None
        };
        let Some(shown) = visible else {
            if open.take().is_some() {
                close(&mut out, at);
            }
            continue;
        };
        match open {
            Some(text) if text == shown.location || (!late && hints.is_same(at)) => {
                open = Some(shown.location);
                if let Some(last) = out.last_mut() {
                    last.shown.fetched = at;
                    last.shown.no_snippet |= shown.no_snippet;
                }
            }
            was => {
                if was.is_some() {
                    close(&mut out, at);
                }
                open = Some(shown.location);
                out.push(Version { from: at, until: None, shown });
            }
        }
        late = hints.late.contains(&at);
    }
    out
}

fn close(versions: &mut [Version], at: Time) {
    if let Some(last) = versions.last_mut() {
        last.until = Some(at);
    }
}

/// The versions of a page, where these are in the index, today's included. What is there agrees with
/// the captures where this gives the same; of today's it may hold a later text.
pub fn versions_of(captures: &[Capture], held: Vec<Held>, state: UrlState) -> Vec<Held> {
    let mut hints = Hints::default();
    hints.state(state);
    hints.hold(held);
    versions(captures, &hints).iter().map(Version::held).collect()
}

impl Version {
    pub fn held(&self) -> Held {
        let Version { from, until, shown } = self;
        Held { from: *from, until: *until, fetched: shown.fetched, location: shown.location }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::{Directives, DocId, FetchOutcome, HostKey, JobId, OutcomeKind, UrlKey};

    fn capture(at: i64, kind: OutcomeKind, text: Option<u64>) -> Capture {
        let status = match kind {
            OutcomeKind::ClientError => 404,
            OutcomeKind::ServerError => 503,
            _ => 200,
        };
        Capture {
            doc: DocId(1),
            job: JobId(1),
            time: Time(at),
            outcome: FetchOutcome::new(kind, status),
            record: None,
            revisit: false,
            text: text.map(|offset| Location { segment: 1, offset, length: 1 }),
            mime: "text/html".into(),
            bytes: 1,
            payload_digest: [0; 20],
            body_digest: [0; 32],
            last_modified: None,
            etag: None,
            elapsed_ms: 1,
            directives: Directives::default(),
            verdict: None,
        }
    }

    fn page(at: i64, text: u64) -> Capture {
        capture(at, OutcomeKind::Fetched, Some(text))
    }

    fn row(at: i64, ended: Ended, changed: bool) -> Change {
        let key = UrlKey { host: HostKey { part: 0, host: [0; 6] }, url: 0 };
        Change { n: 1, key, time: Time(at), changed, doc: DocId(1), ended }
    }

    fn shown(captures: &[Capture], hints: &Hints) -> String {
        let one = |v: &Version| {
            let until = v.until.map_or(String::new(), |t| t.0.to_string());
            format!("{}-{until}:{}", v.from.0, v.shown.location.offset)
        };
        versions(captures, hints).iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn hints(rows: &[Change]) -> Hints {
        let mut hints = Hints::default();
        rows.iter().for_each(|row| hints.hear(row));
        hints
    }

    #[test]
    fn every_text_is_a_version_until_the_next_and_what_tells_nothing_is_passed_over() {
        let captures = [
            page(1, 10),
            capture(2, OutcomeKind::NotModified, None),
            page(3, 20),
            capture(4, OutcomeKind::TimedOut, None),
            capture(5, OutcomeKind::ServerError, None),
            page(6, 20),
            capture(7, OutcomeKind::ClientError, None),
            capture(8, OutcomeKind::ClientError, None),
            page(9, 20),
            capture(10, OutcomeKind::Redirect, None),
            capture(11, OutcomeKind::NotModified, None),
            page(12, 30),
        ];
        let plain = Hints::default();
        assert_eq!(shown(&captures, &plain), "1-3:10 3-7:20 9-10:20 12-:30");
        let mut hidden = captures[..3].to_vec();
        hidden[1].directives.noindex = true;
        assert_eq!(shown(&hidden, &plain), "1-2:10 3-:20");
        assert_eq!(shown(&[], &plain), "");
    }

    #[test]
    fn the_last_refusal_ends_a_page_when_it_is_told_to() {
        let gone = |at| capture(at, OutcomeKind::ClientError, None);
        let captures = [page(1, 10), gone(2), gone(3), page(4, 10)];
        assert_eq!(shown(&captures[..3], &Hints::default()), "1-:10");
        assert_eq!(shown(&captures[..3], &hints(&[row(3, Ended::Broken, false)])), "1-2:10");
        let told = versions_of(&captures[..3], Vec::new(), UrlState::Failed);
        assert_eq!(told.iter().map(|held| held.until).collect::<Vec<_>>(), [Some(Time(2))]);
        assert_eq!(shown(&captures, &Hints::default()), "1-2:10 4-:10");
        // What came late was there until the page was given up.
        let captures = [page(1, 10), capture(2, OutcomeKind::TimedOut, None)];
        let told = versions_of(&captures, Vec::new(), UrlState::Failed);
        assert_eq!(told[0].until, Some(Time(2)));
        // The end of the version before is not that of the page.
        let captures = [page(1, 10), page(2, 20), gone(3)];
        let held = versions(&captures[..2], &Hints::default()).iter().map(Version::held).collect();
        let mut later = Hints::default();
        later.hold(held);
        assert_eq!(shown(&captures, &later), "1-2:10 2-:20");
    }

    #[test]
    fn what_was_given_up_is_gone_and_that_is_remembered() {
        let captures =
            [page(1, 10), capture(2, OutcomeKind::TimedOut, None), page(3, 10), page(4, 20)];
        let told = hints(&[row(2, Ended::Broken, false)]);
        assert_eq!(shown(&captures, &told), "1-2:10 3-4:10 4-:20");
        let held = versions(&captures, &told).iter().map(Version::held).collect();
        let mut later = Hints::default();
        later.hold(held);
        assert_eq!(shown(&captures, &later), "1-2:10 3-4:10 4-:20");
    }

    #[test]
    fn what_does_not_count_begins_no_version_and_that_is_remembered() {
        let captures = [page(1, 10), page(2, 11), page(3, 12), page(4, 20), page(5, 21)];
        let rows = [
            row(1, Ended::WithPage, true),
            row(2, Ended::WithPage, false),
            row(3, Ended::WithPage, false),
            row(4, Ended::WithPage, true),
            row(5, Ended::WithPage, false),
        ];
        assert_eq!(shown(&captures, &hints(&rows)), "1-4:10 4-:20");
        assert_eq!(shown(&captures, &Hints::default()), "1-2:10 2-3:11 3-4:12 4-5:20 5-:21");
        // In whatever pieces the log is read, and whatever of the captures is there.
        for piece in 1..=5 {
            for ahead in [false, true] {
                let mut held = Vec::new();
                for (n, rows) in rows.chunks(piece).enumerate() {
                    let seen = if ahead { 5 } else { n * piece + rows.len() };
                    let mut hints = hints(rows);
                    hints.hold(held);
                    held = versions(&captures[..seen], &hints).iter().map(Version::held).collect();
                }
                let told: Vec<(i64, u64)> =
                    held.iter().map(|held| (held.from.0, held.location.offset)).collect();
                assert_eq!(told, [(1, 10), (4, 20)], "{piece} {ahead}");
            }
        }
    }

    #[test]
    fn what_came_late_is_a_version_of_its_own() {
        let captures = [page(1, 10), page(2, 15), page(3, 11)];
        let rows = [
            row(1, Ended::WithPage, true),
            row(3, Ended::WithPage, false),
            row(2, Ended::Open, true),
        ];
        assert_eq!(shown(&captures, &hints(&rows)), "1-2:10 2-3:15 3-:11");
        let before = [captures[0].clone(), captures[2].clone()];
        let held = versions(&before, &hints(&rows[..2])).iter().map(Version::held).collect();
        let mut late = hints(&rows[2..]);
        late.hold(held);
        assert_eq!(shown(&captures, &late), "1-2:10 2-3:15 3-:11");
    }
}
