//! What happens, who writes about it and when: the articles of all editions.
//!
//! Events are told in one language or several; in a language, a story is what its sites write about
//! one event. Some write their own texts, some print what an agency sent, some come back to it the
//! day after. Weather and market reports are written every day and are no story together. Every
//! fifth event shares persons, firm and place with an earlier one and is another story.

use super::calendar::{DAY, HOUR, MINUTE};
use super::grammar::{Grammar, Telling, Text};
use super::names::{Facts, Name};
use super::sites::{Lang, Quirk, SITES};
use crate::draw::{Draw, Stream};

/// Events that are no series.
const EVENTS: usize = 46;
const KINDS: [&str; 8] = ["law", "match", "deal", "fire", "trial", "flood", "find", "resign"];
/// What is written in the last hours belongs to later editions, two hours each.
const EDITIONS: u32 = 3;
const EDITION: i64 = 2 * HOUR;
/// Articles of other days that only archives link.
const OLD_PER_SITE: usize = 6;
/// Only what is younger than this is edited.
const EDITED_WITHIN: i64 = 40 * HOUR;

/// What agencies call themselves.
const WIRES: [&str; 3] = ["SNA", "nda", "通联社"];

/// How an article came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Written by the site.
    Own,
    /// What an agency sent, with another headline and perhaps cut.
    Agency,
    /// Written the day after.
    FollowUp,
    /// A daily report.
    Series,
    /// The site's own article once more, at another address.
    Again,
    /// From other days.
    Old,
}

/// What became different in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Written,
    Headline,
    Number,
    Paragraph,
}

/// An article as it stood from an edition on.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) edition: u32,
    pub(crate) text: Text,
    pub(crate) modified: Option<i64>,
    pub(crate) change: Change,
}

/// An article.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) id: usize,
    pub(crate) site: usize,
    /// The event it tells of.
    pub(crate) event: usize,
    pub(crate) role: Role,
    pub(crate) subject: &'static str,
    pub(crate) published: i64,
    pub(crate) author: Option<String>,
    /// The article of this site that this one repeats.
    pub(crate) copy_of: Option<usize>,
    /// In a section that `robots.txt` forbids.
    pub(crate) forbidden: bool,
    /// The place it tells of, as its tag names it.
    pub(crate) tag: String,
    pub(crate) versions: Vec<Version>,
}

impl Piece {
    /// The edition it appears in.
    pub(crate) fn since(&self) -> u32 {
        self.versions[0].edition
    }

    /// As it stands in an edition, and how many versions there were by then.
    pub(crate) fn at(&self, edition: u32) -> (&Version, usize) {
        let count = self.versions.iter().filter(|v| v.edition <= edition).count().max(1);
        (&self.versions[count - 1], count)
    }

    pub(crate) fn is_old(&self) -> bool {
        self.role == Role::Old
    }
}

/// An event.
struct Event {
    number: usize,
    kind: &'static str,
    facts: Facts,
    time: i64,
    langs: Vec<Lang>,
    /// Of a daily report: which of the sites that write it comes first.
    series: Option<usize>,
}

struct Planner {
    seed: u64,
    base: i64,
    pieces: Vec<Piece>,
    authors: Vec<Vec<String>>,
}

/// All articles of a web whose present is `base`.
pub(crate) fn plan(seed: u64, base: i64) -> Vec<Piece> {
    let base = base - base.rem_euclid(MINUTE);
    let authors = SITES.iter().enumerate().map(|(nth, site)| {
        let mut draw = Draw::new(seed, nth, 0, Stream::Title);
        let mut name = || Name::person(&mut draw, site.lang == Lang::Zh).full(site.lang);
        (0..4).map(|_| name()).collect()
    });
    let mut planner = Planner { seed, base, pieces: Vec::new(), authors: authors.collect() };
    for event in events(seed, base) {
        planner.cover(&event);
    }
    planner.old();
    planner.forbidden();
    planner.repeat();
    planner.edit();
    planner.pieces
}

fn events(seed: u64, base: i64) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for number in 0..EVENTS {
        let mut draw = Draw::new(seed, 0, number, Stream::News);
        // Each kind in each language, and across languages.
        let kind = KINDS[(number + number / KINDS.len()) % KINDS.len()];
        let langs = match (number % 4, number % 3) {
            (0, 0) => Lang::ALL.to_vec(),
            (0, 1) => vec![Lang::En, Lang::De],
            (0, _) => vec![Lang::En, Lang::Zh],
            _ => vec![Lang::ALL[2 * number % 3]],
        };
        let mut facts = Facts::new(&mut draw, langs == [Lang::Zh]);
        if number % 5 == 4 {
            // The same people and places, another event.
            let other = &events[number - 3].facts;
            facts.persons[0] = other.persons[0].clone();
            facts.firms[0] = other.firms[0].clone();
            facts.places = other.places.clone();
        }
        let mut before = events.iter().filter(|event| event.kind == kind && event.langs == langs);
        if let Some(other) = before.next_back().filter(|_| kind == "match") {
            // The same team, another match.
            facts.firms[0] = other.facts.firms[0].clone();
            facts.persons = other.facts.persons.clone();
        }
        let hours = 3 + draw.below(76) as i64;
        let time = base - hours * HOUR - draw.below(60) as i64 * MINUTE;
        events.push(Event { number, kind, facts, time, langs, series: None });
    }
    // A market report a day in each language, about the same exchange; the weather of three regions.
    for (nth, lang) in Lang::ALL.into_iter().enumerate() {
        for (kind, copies) in [("stocks", 1), ("weather", 2)] {
            for copy in 0..copies {
                let mut draw = Draw::new(seed, 1 + nth, copy, Stream::News);
                let usual = Facts::new(&mut draw, lang == Lang::Zh);
                for day in 0..4 {
                    let mut facts = Facts::new(&mut draw, lang == Lang::Zh);
                    facts.places = usual.places.clone();
                    let time = base - day * DAY - (7 + nth as i64) * HOUR;
                    let (number, langs) = (events.len(), vec![lang]);
                    let series = Some(if kind == "stocks" { 0 } else { 1 + 2 * copy });
                    events.push(Event { number, kind, facts, time, langs, series });
                }
            }
        }
    }
    events
}

impl Planner {
    fn cover(&mut self, event: &Event) {
        for lang in event.langs.iter().copied() {
            let grammar = Grammar::of(lang);
            let kind = grammar.kind(event.kind);
            let mut draw = Draw::new(self.seed, 10 + lang as usize, event.number, Stream::News);
            let mut sites: Vec<usize> = (0..SITES.len())
                .filter(|&site| SITES[site].lang == lang && SITES[site].covers(kind.subject))
                .collect();
            for end in (1..sites.len()).rev() {
                sites.swap(end, draw.below(end + 1));
            }
            let mut wanted = draw.pick(&[1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 8]);
            if let Some(first) = event.series {
                // The same sites every day.
                wanted = if event.kind == "stocks" { 2 } else { 1 };
                sites.sort_unstable();
                let first = first.min(sites.len() - 1);
                sites.rotate_left(first);
            }
            sites.truncate(wanted);
            // Of many, about half print what the agency sent.
            let agency = if sites.len() >= 3 { sites.len() / 2 } else { 0 };
            let wire_seed = draw.number();
            let mut own = 1;
            for (nth, site) in sites.iter().copied().enumerate() {
                let is_wire = nth < agency;
                let mut telling = Telling {
                    seed: if is_wire { wire_seed } else { draw.number() },
                    author: if is_wire { 0 } else { own },
                    head: nth,
                    next_day: false,
                    asides: if is_wire { 5 } else { 3 + draw.below(6) },
                };
                let mut text = grammar.tell(kind, &event.facts, lang, event.time, &telling);
                let role = match (event.series.is_some(), is_wire) {
                    (true, _) => Role::Series,
                    (false, true) => Role::Agency,
                    (false, false) => Role::Own,
                };
                if is_wire {
                    // The end may be cut, but not so far that little is left.
                    let least = if lang == Lang::Zh { 200 } else { 750 };
                    let long = |text: &Text| {
                        let all = text.paragraphs.split_last().map_or(&[][..], |(_, rest)| rest);
                        all.iter().map(|part| part.chars().count()).sum::<usize>() > least
                    };
                    for _ in 0..draw.below(3) {
                        if long(&text) {
                            text.paragraphs.pop();
                        }
                    }
                    if nth % 2 == 0 {
                        let place = event.facts.places[0].full(lang);
                        let (wire, first) = (WIRES[lang as usize], &text.paragraphs[0]);
                        text.paragraphs[0] = match lang {
                            Lang::Zh => format!("{wire}{place}电　{first}"),
                            _ => format!("{} ({wire}) - {first}", place.to_uppercase()),
                        };
                    }
                } else {
                    own += 1;
                }
                let later = draw.below(9 * 60) as i64 * MINUTE;
                self.write(
                    site,
                    event,
                    kind.subject,
                    role,
                    event.time + HOUR / 4 + later,
                    text,
                    lang,
                );
                let follows = event.series.is_none()
                    && event.time + 30 * HOUR < self.base
                    && draw.per_mille(if sites.len() == 1 { 150 } else { 330 });
                if follows {
                    telling.next_day = true;
                    telling.author = nth;
                    telling.seed = draw.number();
                    telling.asides = 2 + draw.below(4);
                    let text = grammar.tell(kind, &event.facts, lang, event.time, &telling);
                    let later = DAY + draw.below(5 * 60) as i64 * MINUTE;
                    let time = event.time + later;
                    self.write(site, event, kind.subject, Role::FollowUp, time, text, lang);
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "an article has that many sides")]
    fn write(
        &mut self,
        site: usize,
        event: &Event,
        subject: &'static str,
        role: Role,
        published: i64,
        text: Text,
        lang: Lang,
    ) {
        let id = self.pieces.len();
        let published = published.min(self.base - (5 + id as i64 % 50) * MINUTE);
        let first_later = self.base - i64::from(EDITIONS) * EDITION;
        let edition = match published - first_later {
            ..0 => 0,
            after => 1 + (after / EDITION) as u32,
        };
        let names = &self.authors[site];
        let author = match role {
            Role::Agency | Role::Series => None,
            _ => Some(names[id % names.len()].clone()),
        };
        self.pieces.push(Piece {
            id,
            site,
            event: event.number,
            role,
            subject,
            published,
            author,
            copy_of: None,
            forbidden: false,
            tag: event.facts.places[0].full(lang),
            versions: vec![Version { edition, text, modified: None, change: Change::Written }],
        });
    }

    /// Articles of long ago, each an event of its own.
    fn old(&mut self) {
        for (at, site) in SITES.iter().enumerate() {
            for nth in 0..OLD_PER_SITE {
                let mut draw = Draw::new(self.seed, 100 + at, nth, Stream::News);
                let lang = site.lang;
                let kinds: Vec<&str> = KINDS
                    .into_iter()
                    .filter(|kind| site.covers(Grammar::of(lang).kind(kind).subject))
                    .collect();
                let kind = draw.pick(&kinds);
                let facts = Facts::new(&mut draw, lang == Lang::Zh);
                let time = self.base - (20 + draw.below(300) as i64) * DAY;
                let number = 1000 + at * OLD_PER_SITE + nth;
                let event = Event { number, kind, facts, time, langs: vec![lang], series: None };
                let text = old_text(kind, &event.facts, lang, time, draw.number());
                let subject = Grammar::of(lang).kind(kind).subject;
                self.write(at, &event, subject, Role::Old, time, text, lang);
            }
        }
    }

    /// Three articles of one site are for members.
    fn forbidden(&mut self) {
        let members = self
            .pieces
            .iter_mut()
            .filter(|piece| SITES[piece.site].quirk == Quirk::Forbidden && piece.role == Role::Own);
        for piece in members.take(3) {
            piece.forbidden = true;
        }
    }

    /// Some sites print their own articles once more, at another address.
    fn repeat(&mut self) {
        let own: Vec<usize> = self
            .pieces
            .iter()
            .filter(|p| p.role == Role::Own && p.since() == 0 && !p.forbidden)
            .map(|p| p.id)
            .collect();
        for nth in 0..6 {
            let mut piece = self.pieces[own[(nth * own.len() / 6 + 3) % own.len()]].clone();
            piece.copy_of = Some(piece.id);
            piece.id = self.pieces.len();
            piece.role = Role::Again;
            piece.versions[0].edition = nth as u32 / 2;
            self.pieces.push(piece);
        }
    }

    /// In every later edition some young articles are corrected, continued or named anew.
    fn edit(&mut self) {
        let copied: Vec<usize> = self.pieces.iter().filter_map(|p| p.copy_of).collect();
        for edition in 1..=EDITIONS {
            let now = self.base - i64::from(EDITIONS - edition) * EDITION - 10 * MINUTE;
            let mut young: Vec<usize> = self
                .pieces
                .iter()
                .filter(|p| p.since() < edition && p.published > self.base - EDITED_WITHIN)
                .filter(|p| matches!(p.role, Role::Own | Role::Agency | Role::FollowUp))
                .filter(|p| !p.forbidden && !copied.contains(&p.id) && p.versions.len() == 1)
                .map(|p| p.id)
                .collect();
            let mut draw = Draw::new(self.seed, 200, edition as usize, Stream::News);
            for nth in 0..9 {
                if young.is_empty() {
                    return;
                }
                let id = young.swap_remove(draw.below(young.len()));
                let seed = draw.number();
                let piece = &mut self.pieces[id];
                let lang = SITES[piece.site].lang;
                let mut text = piece.versions[0].text.clone();
                let mut change = [Change::Number, Change::Paragraph, Change::Headline][nth % 3];
                if change == Change::Number && !correct(&mut text.paragraphs) {
                    change = Change::Paragraph;
                }
                match change {
                    Change::Headline => text.title = renamed(&text.title, lang),
                    Change::Paragraph => {
                        let facts = Facts::new(&mut Draw::of(seed), lang == Lang::Zh);
                        let aside = Grammar::of(lang).aside(&facts, lang, piece.published, seed);
                        text.paragraphs.insert(2.min(text.paragraphs.len()), aside);
                    }
                    Change::Number | Change::Written => {}
                }
                let modified = Some(now.max(piece.published + MINUTE));
                piece.versions.push(Version { edition, text, modified, change });
            }
        }
    }
}

/// A text of long ago.
pub(crate) fn old_text(kind: &str, facts: &Facts, lang: Lang, time: i64, seed: u64) -> Text {
    let grammar = Grammar::of(lang);
    let telling = Telling {
        seed,
        author: seed as usize % 7,
        head: seed as usize % 5,
        next_day: false,
        asides: 4,
    };
    grammar.tell(grammar.kind(kind), facts, lang, time, &telling)
}

/// Corrects the first number of two digits that stands alone in the text; says whether there was one.
fn correct(paragraphs: &mut [String]) -> bool {
    for paragraph in paragraphs {
        let bytes = paragraph.as_bytes();
        let digit =
            |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_digit() || b".,:-".contains(b));
        let found = (0..bytes.len().saturating_sub(1)).find(|&at| {
            let alone = !digit(at + 2) && (at == 0 || !digit(at - 1));
            bytes[at].is_ascii_digit() && bytes[at + 1].is_ascii_digit() && alone
        });
        if let Some(at) = found {
            let number: u32 = paragraph[at..at + 2].parse().unwrap_or(10);
            paragraph.replace_range(at..at + 2, &(10 + (number + 87) % 90).to_string());
            return true;
        }
    }
    false
}

fn renamed(title: &str, lang: Lang) -> String {
    match lang {
        Lang::En => format!("Update: {title}"),
        Lang::De => format!("{title} – was jetzt bekannt ist"),
        Lang::Zh => format!("{title}（更新）"),
    }
}
