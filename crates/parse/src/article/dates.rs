//! When an article appeared and when it was changed.
//!
//! * What this is: the sources of a date in the order of their trust, down to a line near the
//!   title that holds one, or one counted from the day of the visit.
//! * Its place: `article` asks for both dates; `when` does the reading, `facts` knows the page.
//! * Invariants: the first source with a date that makes sense wins.

use crate::article::ago::{self, Past};
use crate::article::facts::{Facts, has_token};
use crate::article::linked::value_of;
use crate::article::tree::{Id, fold};
use crate::article::{Sure, When, zones};
use argiope_model::Time;

/// Names of `<meta>` that hold the date of appearance, the surest first.
const PUBLISHED: &str = "article:published_time og:published_time og:article:published_time datepublished \
    parsely-pub-date sailthru.date citation_publication_date citation_online_date \
    citation_date dc.date.issued dcterms.issued dcterms.created dc.date.created dc.date \
    dcterms.date dcterms.available pubdate publishdate publish-date publish_date \
    publication_date publication-date published_date published-date date_published \
    article.published article:published cxenseparse:recs:publishtime \
    cxenseparse:publishtime bt:pubdate rnews:datepublished displaydate \
    originalpublicationdate ptime date article:post_date article_date_original sdate \
    created article:create_at og:pubdate shareaholic:article_published_time \
    dc.date.publication publicationdate vr:published_time dc:created dc:date datecreated \
    date.created date.release eprints.date release_date releasedate article.created \
    video:release_date og:release_date blogger-date timestamp searchdate time";

/// Words in the names of boxes that hold a date.
const DATED: &str = "date published pubdate datetime dateline timestamp time postdate entrydate datum posted byline postmeta meta fecha postinfo info created submitted publish publication artikeldatum";

/// How long a paragraph of the text is at least.
const PARAGRAPH: usize = 120;

/// How much may stand beside a date that is counted from the visit.
const ASIDE: usize = 60;

/// Whether one day is the other with day and month turned round: `11.03.17`.
fn is_turned(one: Time, other: Time) -> bool {
    let (one, other) = (one.iso_seconds(), other.iso_seconds());
    let parts = |text: &str| (text.get(..4) == other.get(..4), text.get(5..7) == other.get(8..10));
    parts(&one) == (true, true) && one.get(8..10) == other.get(5..7)
}

/// Names of `<meta>` that hold the date of a change.
const MODIFIED: &str = "article:modified_time og:updated_time og:modified_time datemodified last-modified \
    lastmod revised dcterms.modified dc.date.modified article.updated updated_time \
    date_modified modified lastmodified article:modified";

impl Facts<'_> {
    /// When the article appeared.
    pub(crate) fn published(&self) -> Option<When> {
        let stated = |text: Option<String>| text.and_then(|t| self.read(&t, Sure::Stated));
        let found = stated(self.linked.text("datePublished"))
            .or_else(|| self.dated_metas(PUBLISHED))
            .or_else(|| self.microdata(&["datePublished", "dateCreated"]))
            .or_else(|| stated(self.linked.text("dateCreated")))
            .or_else(|| stated(self.linked.any_text("datePublished")))
            .or_else(|| self.time_element())
            .or_else(|| self.url_date().map(|day| self.fuller(day, 1)))
            .or_else(|| self.named_box())
            .or_else(|| self.near_title())
            .or_else(|| stated(self.linked.any_text("uploadDate")))
            .or_else(|| self.scripts())
            .or_else(|| self.counted())
            .or_else(|| self.modified().map(|m| When { sure: Sure::Guessed, ..m }))
            .or_else(|| self.description().and_then(|d| self.read(&d, Sure::Guessed)))
            .or_else(|| self.any_box());
        found.map(|when| self.in_shown_zone(self.fuller(self.shown_earlier(when), 0)))
    }

    /// The date beside the title, where the page states that of its making: then it was never changed since it
    /// appeared, and is shown as older.
    fn shown_earlier(&self, when: When) -> When {
        const DAY: i64 = 86_400_000;
        let is_made = self.modified().is_some_and(|made| made.time.0 - when.time.0 < 60_000);
        if !is_made || when.sure == Sure::Likely {
            return when;
        }
        let shown = self.time_element().or_else(|| self.near_title());
        let is_earlier = |shown: &When| {
            when.time.0 - shown.time.0 > 2 * DAY && !is_turned(shown.time, when.time)
        };
        shown.filter(is_earlier).unwrap_or(when)
    }

    /// A date without a clock, with the clock that a short line near the title shows for that day, or
    /// for a day so many days apart.
    fn fuller(&self, when: When, apart: i64) -> When {
        if when.has_clock {
            return when;
        }
        let day = |when: When| {
            let zone = i64::from(when.offset_minutes.unwrap_or(0)) * 60_000;
            (when.time.0 + zone).div_euclid(86_400_000)
        };
        let len = self.tree.len();
        let (title, from) = self.heading.map_or((0, 0), |h| (h, self.tree.end(h)));
        let shown: Vec<When> = (from..(from + 250).min(len))
            .chain((title.saturating_sub(60)..title).rev())
            .filter(|&id| self.tree.end(id) - id < 12 && !self.beside(id) && !self.is_today(id))
            .map(|id| self.tree.line(id))
            .filter(|line| (10..120).contains(&line.len()) && !says_changed(line))
            .filter_map(|line| {
                let counted =
                    || self.passed(&line, when.sure).filter(|w| w.offset_minutes.is_none());
                self.read(&line, when.sure).or_else(counted)
            })
            .filter(|found| found.has_clock)
            .collect();
        let at = |apart: i64| shown.iter().find(|found| (day(**found) - day(when)).abs() == apart);
        (0..=apart).find_map(at).copied().unwrap_or(when)
    }

    /// A date told in UTC, in the zone in which the page shows it: machines are told one, readers
    /// the other, and the day may differ.
    fn in_shown_zone(&self, when: When) -> When {
        if !when.has_clock || when.offset_minutes != Some(0) {
            return when;
        }
        let minute = when.time.0.div_euclid(60_000);
        let near = |shown: When| {
            let apart = shown.time.0.div_euclid(60_000) - minute;
            match shown.offset_minutes {
                Some(zone) if zone != 0 && apart.abs() <= 1 => Some(zone),
                None if shown.has_clock && apart != 0 && apart.abs() <= 14 * 60 => {
                    (apart % 30 == 0).then_some(apart as i16)
                }
                _ => None,
            }
        };
        let mut places: Vec<Id> = self
            .elements()
            .filter(|&id| {
                !self.beside(id)
                    && (self.tree.name(id) == "time"
                        || self.tree.end(id) - id < 30
                            && has_token(self.tree, id, "date datetime published dateline datum"))
            })
            .collect();
        places.sort_by_key(|&id| self.distance(id));
        let zone = places.into_iter().take(8).find_map(|id| {
            let attribute = self.read(self.tree.attr(id, "datetime"), when.sure).and_then(near);
            attribute.or_else(|| {
                let words = self.tree.line(id);
                (words.len() < 120).then(|| self.read(&words, when.sure)).flatten().and_then(near)
            })
        });
        When { offset_minutes: zone.or(when.offset_minutes), ..when }
    }

    /// When it was changed, if it says so.
    pub(crate) fn modified(&self) -> Option<When> {
        let stated = |text: Option<String>| text.and_then(|t| self.read(&t, Sure::Stated));
        stated(self.linked.text("dateModified"))
            .or_else(|| self.dated_metas(MODIFIED))
            .or_else(|| self.microdata(&["dateModified"]))
            .or_else(|| stated(self.linked.any_text("dateModified")))
    }

    fn dated_metas(&self, names: &str) -> Option<When> {
        names.split(' ').find_map(|name| {
            self.metas
                .iter()
                .filter(|(n, _)| n == name)
                .find_map(|(_, c)| self.read(c, Sure::Stated))
        })
    }

    fn microdata(&self, names: &[&str]) -> Option<When> {
        names.iter().find_map(|name| {
            self.elements().find_map(|id| {
                if self
                    .tree
                    .attr(id, "itemprop")
                    .split_ascii_whitespace()
                    .all(|p| !p.eq_ignore_ascii_case(name))
                    || self.beside(id)
                {
                    return None;
                }
                self.element_date(id, Sure::Stated)
            })
        })
    }

    /// The date of an element: its attributes, else its words.
    fn element_date(&self, id: Id, sure: Sure) -> Option<When> {
        ["datetime", "content", "title"]
            .iter()
            .find_map(|key| self.read(self.tree.attr(id, key), sure))
            .or_else(|| {
                let words = self.tree.line(id);
                (words.len() < 120).then(|| self.read(&words, sure)).flatten()
            })
    }

    fn time_element(&self) -> Option<When> {
        let times: Vec<Id> = self
            .elements()
            .filter(|&id| {
                let tree = self.tree;
                (tree.name(id) == "time"
                    || (tree.name(id) == "abbr" && has_token(tree, id, "published date")))
                    && !self.beside(id)
            })
            .collect();
        let marked = times
            .iter()
            .copied()
            .find(|&id| self.tree.has(id, "pubdate") || has_token(self.tree, id, "published"));
        let near = || {
            times
                .iter()
                .copied()
                .filter(|&id| !has_token(self.tree, id, "updated modified"))
                .min_by_key(|&id| self.distance(id))
        };
        let any = || times.iter().copied().min_by_key(|&id| self.distance(id));
        marked
            .and_then(|id| self.element_date(id, Sure::Likely))
            .or_else(|| near().and_then(|id| self.element_date(id, Sure::Likely)))
            .or_else(|| any().and_then(|id| self.element_date(id, Sure::Likely)))
    }

    /// `/2026/01/31/`, `/2026-01-31-`, `/20260131/`.
    fn url_date(&self) -> Option<When> {
        let url = self.url?;
        let path = url.path();
        let bytes = path.as_bytes();
        for at in 0..bytes.len() {
            if at > 0 && bytes[at - 1].is_ascii_digit() {
                continue;
            }
            let digits = |from: usize, count: usize| {
                path.get(from..from + count)
                    .filter(|s| s.bytes().all(|b| b.is_ascii_digit()))
                    .and_then(|s| s.parse::<i64>().ok())
            };
            let sep = |i: usize| bytes.get(i).filter(|b| matches!(b, b'/' | b'-' | b'_')).copied();
            let Some(year) = digits(at, 4).filter(|y| (1995..=2100).contains(y)) else { continue };
            let found = match sep(at + 4) {
                Some(s) if sep(at + 7) == Some(s) => digits(at + 5, 2).zip(
                    digits(at + 8, 2)
                        .filter(|_| !bytes.get(at + 10).is_some_and(u8::is_ascii_digit)),
                ),
                None => digits(at + 4, 2)
                    .zip(digits(at + 6, 2))
                    .filter(|_| !bytes.get(at + 8).is_some_and(u8::is_ascii_digit)),
                _ => None,
            };
            if let Some((month, day)) = found
                && let Some(when) = self.read(&format!("{year}-{month:02}-{day:02}"), Sure::Likely)
            {
                return Some(when);
            }
        }
        None
    }

    /// An element whose class says that it holds a date.
    fn named_box(&self) -> Option<When> {
        let mut boxes: Vec<Id> = self
            .elements()
            .filter(|&id| {
                has_token(self.tree, id, DATED)
                    && !self.beside(id)
                    && self.tree.end(id) - id < 80
                    && !self.is_today(id)
            })
            .collect();
        boxes.sort_by_key(|&id| self.distance(id));
        let lines: Vec<String> = boxes
            .into_iter()
            .take(40)
            .map(|id| self.tree.line(id))
            .filter(|line| line.len() < 250 && !says_changed(line))
            .collect();
        self.first_date(&lines, Sure::Likely)
    }

    /// A date counted from the day of the visit (`Yesterday, 10:20`), in an element or a line near the title.
    fn counted(&self) -> Option<When> {
        let heading = self.heading?;
        let (from, len) = (self.tree.end(heading), self.tree.len());
        let is_near = |id: &Id| {
            self.tree.end(*id) - id < 30
                && !self.beside(*id)
                && !self.is_today(*id)
                && !self.is_in_teaser(*id)
        };
        let is_dated = |id: &Id| {
            let name = self.tree.name(*id);
            name == "time" || !name.is_empty() && has_token(self.tree, *id, DATED)
        };
        let read = |sure: Sure| {
            move |id: Id| {
                let line = self.tree.line(id);
                (line.len() < 160 && !says_changed(&line)).then(|| self.passed(&line, sure))?
            }
        };
        let after = (from..(from + 250).min(len)).filter(is_dated).filter(is_near).take(20);
        let before = (heading.saturating_sub(60)..heading).rev().filter(is_dated).filter(is_near);
        let boxes = after.chain(before.take(10)).find_map(read(Sure::Likely));
        // A line between the title and the text.
        let mut texts = 0;
        let is_above = |id: &Id| {
            texts += usize::from(self.tree.words(*id).trim().len() > PARAGRAPH);
            texts < 2
        };
        let is_loose = |id: &Id| {
            let up = self.tree.ancestors(*id).take(3);
            !up.chain([*id]).any(|up| matches!(self.tree.name(up), "a" | "li" | "button"))
        };
        let lines = || {
            let above = (from..(from + 60).min(len)).take_while(is_above);
            above.filter(is_near).filter(is_loose).take(30).find_map(read(Sure::Guessed))
        };
        boxes.or_else(lines)
    }

    /// A date counted from the day of the visit, in a line that holds little else.
    pub(super) fn passed(&self, line: &str, sure: Sure) -> Option<When> {
        let ago = ago::first(line)?;
        if !ago.alone || line.len() > ago.end - ago.start + ASIDE {
            return None;
        }
        let east = i64::from(self.east.unwrap_or(0)) * 60_000;
        let day = |time: i64| time.div_euclid(ago::DAY) * ago::DAY;
        let (time, clock) = match ago.past {
            Past::Span(ms) if ms < ago::DAY => {
                // To the minute, and the zone is known: it was counted from ours.
                let time = Time((self.now.0 - ms).div_euclid(60_000) * 60_000);
                let offset_minutes = Some(self.east.unwrap_or(0));
                return Some(When { time, offset_minutes, has_clock: true, has_zone: false, sure });
            }
            Past::Span(ms) => (day(self.now.0 + east - ms), false),
            Past::Day(back, clock) => {
                let time = day(self.now.0 + east) - back * ago::DAY + clock.unwrap_or(0) * 1000;
                // So far ahead no clock is: there it is still the day before.
                let is_ahead = clock.is_some() && time - self.now.0 > zones::AHEAD;
                (if is_ahead { time - ago::DAY } else { time }, clock.is_some())
            }
        };
        let time = Time(time);
        Some(When { time, offset_minutes: None, has_clock: clock, has_zone: false, sure })
    }

    /// The first date of some lines; what is little more than a date goes before prose.
    fn first_date(&self, lines: &[String], sure: Sure) -> Option<When> {
        let read = |line: &String| self.read(line, sure);
        let short = lines.iter().filter(|line| line.len() < 70).find_map(read);
        short.or_else(|| lines.iter().filter(|line| line.len() >= 70).find_map(read))
    }

    /// Whether an element shows the day of the visit.
    fn is_today(&self, id: Id) -> bool {
        const NAMES: &str = "today todays currentdate clock";
        (id..self.tree.end(id).min(id + 12)).any(|inner| has_token(self.tree, inner, NAMES))
            || has_token(self.tree, self.tree.parent(id), NAMES)
    }

    /// Short lines around the title.
    fn near_title(&self) -> Option<When> {
        let heading = self.heading?;
        let lines = |range: std::ops::Range<Id>| {
            range
                .filter(|&id| self.tree.is_text(id))
                .map(|id| fold(self.tree.words(id)))
                .filter(|l| (8..160).contains(&l.len()) && !says_changed(l))
                .take(30)
                .collect::<Vec<_>>()
        };
        let after =
            lines(self.tree.end(heading)..(self.tree.end(heading) + 150).min(self.tree.len()));
        let before = lines(heading.saturating_sub(40)..heading);
        let lines: Vec<String> = after.into_iter().chain(before.into_iter().rev()).collect();
        self.first_date(&lines, Sure::Guessed)
    }

    /// What scripts call the date.
    fn scripts(&self) -> Option<When> {
        const KEYS: &[&str] = &[
            "datePublished",
            "publishDate",
            "publishedAt",
            "published_at",
            "publish_date",
            "date_published",
            "publishedDate",
            "firstPublished",
            "pubDate",
            "publicationDate",
        ];
        KEYS.iter().find_map(|key| self.read(&value_of(self.html, key)?, Sure::Likely))
    }

    /// Short lines anywhere that hold nothing but a date.
    fn any_box(&self) -> Option<When> {
        (0..self.tree.len()).filter(|&id| self.tree.is_text(id)).find_map(|id| {
            let line = self.tree.words(id).trim();
            if line.len() < 8 || line.len() > 90 || !line.bytes().any(|b| b.is_ascii_digit()) {
                return None;
            }
            if self.beside(id) || line.contains('©') || line.to_lowercase().contains("copyright") {
                return None;
            }
            self.read(&fold(line), Sure::Guessed)
        })
    }
}

/// Whether a line tells of a change, and of nothing before it.
fn says_changed(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "updated",
        "last update",
        "modified",
        "last reviewed",
        "aktualisiert",
        "geändert",
        "mis à jour",
        "mise à jour",
        "actualizado",
        "actualizada",
        "atualizado",
        "aggiornato",
        "bijgewerkt",
        "обновлено",
        "更新",
    ];
    let lower = line.trim_start().to_lowercase();
    WORDS.iter().any(|word| lower.starts_with(word))
}
