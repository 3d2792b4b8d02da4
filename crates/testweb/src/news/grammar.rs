//! Sentences: a grammar for each language, and texts made with it.
//!
//! A grammar file has a part for every kind of event. `h` is a headline, a digit one thing that can
//! be told (a line for each way of telling it), `H` and letters the same for the day after; `g` in
//! the last part tells what can be told of anything. `[a|b]` is a choice, `{X}` a fact.

use super::calendar::Moment;
use super::names::Facts;
use super::sites::Lang;
use crate::draw::Draw;
use std::sync::LazyLock;

/// What can be told of one kind of event.
#[derive(Debug, Default)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) subject: &'static str,
    heads: Vec<&'static str>,
    told: Vec<Vec<&'static str>>,
    next_heads: Vec<&'static str>,
    next_told: Vec<Vec<&'static str>>,
}

/// All that can be told in one language.
#[derive(Debug, Default)]
pub(crate) struct Grammar {
    pub(crate) kinds: Vec<Kind>,
    of_anything: Vec<&'static str>,
}

static GRAMMARS: LazyLock<[Grammar; 3]> = LazyLock::new(|| {
    [
        Grammar::parse(include_str!("grammar/en.txt")),
        Grammar::parse(include_str!("grammar/de.txt")),
        Grammar::parse(include_str!("grammar/zh.txt")),
    ]
});

/// How one author tells an event.
#[derive(Clone, Debug)]
pub(crate) struct Telling {
    /// What the author's choices are drawn from.
    pub(crate) seed: u64,
    /// Which author of this event: decides on the ways of telling.
    pub(crate) author: usize,
    /// Which headline.
    pub(crate) head: usize,
    /// Told the day after.
    pub(crate) next_day: bool,
    /// How many sentences that could stand anywhere.
    pub(crate) asides: usize,
}

/// Headline and paragraphs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) title: String,
    pub(crate) paragraphs: Vec<String>,
}

impl Grammar {
    /// The grammar of a language.
    pub(crate) fn of(lang: Lang) -> &'static Grammar {
        &GRAMMARS[lang as usize]
    }

    fn parse(text: &'static str) -> Self {
        let mut grammar = Grammar::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
            if let Some(name) = key.strip_prefix('@') {
                grammar.kinds.push(Kind { name, subject: rest, ..Kind::default() });
                continue;
            }
            let kind = grammar.kinds.last_mut().expect("a grammar begins with a kind");
            let first = key.as_bytes()[0];
            let (list, nth) = match first {
                b'g' => (&mut grammar.of_anything, None),
                b'h' => (&mut kind.heads, None),
                b'H' => (&mut kind.next_heads, None),
                b'1'..=b'9' => (&mut kind.heads, Some((false, usize::from(first - b'1')))),
                _ => (&mut kind.heads, Some((true, usize::from(first - b'A')))),
            };
            match nth {
                None => list.push(rest),
                Some((next, nth)) => {
                    let told = if next { &mut kind.next_told } else { &mut kind.told };
                    told.resize_with(told.len().max(nth + 1), Vec::new);
                    told[nth].push(rest);
                }
            }
        }
        grammar.kinds.retain(|kind| kind.name != "general");
        grammar
    }

    /// A kind by its name.
    pub(crate) fn kind(&self, name: &str) -> &Kind {
        self.kinds.iter().find(|kind| kind.name == name).expect("every language has every kind")
    }

    /// A text about an event of a day.
    pub(crate) fn tell(
        &self,
        kind: &Kind,
        facts: &Facts,
        lang: Lang,
        day: i64,
        how: &Telling,
    ) -> Text {
        let mut draw = Draw::of(how.seed);
        let (today, next) =
            (Moment::at(day, lang.zone()), Moment::at(day + super::calendar::DAY, lang.zone()));
        let heads = if how.next_day { &kind.next_heads } else { &kind.heads };
        // Drawn apart, so that another headline leaves the text as it is.
        let (head, apart) = (heads[how.head % heads.len()], how.seed ^ how.head as u64);
        let names = (today.day_name(lang), next.day_name(lang));
        let title = fill(head, facts, lang, names.0, names.1, &mut Draw::of(apart));
        let way = |ways: &[&'static str], nth: usize| ways[(how.author + nth) % ways.len()];
        let mut sentences = Vec::new();
        let mut rest: Vec<&'static str> = Vec::new();
        if how.next_day {
            sentences.push(way(&kind.next_told[0], 0));
            rest.extend(kind.next_told[1..].iter().enumerate().map(|(n, ways)| way(ways, n + 1)));
        } else {
            sentences.push(way(&kind.told[0], 0));
        }
        // What is known already is told shorter the day after; nobody tells all.
        let mut known: Vec<usize> = (1..kind.told.len()).collect();
        shuffle(&mut known, &mut draw);
        let keep = if how.next_day { 3 } else { known.len() - usize::from(known.len() > 5) };
        rest.extend(known.iter().take(keep).map(|nth| way(&kind.told[*nth], *nth)));
        let mut asides = self.of_anything.clone();
        shuffle(&mut asides, &mut draw);
        let news = rest.len();
        rest.extend(asides.iter().take(how.asides));
        if how.next_day {
            shuffle(&mut rest[2..], &mut draw);
        } else {
            // An aside may stand anywhere but first.
            for nth in news..rest.len() {
                let to = 1 + draw.below(nth);
                rest[1..].swap(nth - 1, to - 1);
            }
        }
        sentences.extend(rest);
        let mut paragraphs: Vec<String> = Vec::new();
        let mut left = 0;
        // Figures in passing are each author's own.
        let others = facts.with_numbers(&mut draw);
        for sentence in sentences {
            let facts = if self.of_anything.contains(&sentence) { &others } else { facts };
            let sentence = fill(sentence, facts, lang, names.0, names.1, &mut draw);
            match paragraphs.last_mut().filter(|_| left > 0) {
                Some(last) => {
                    last.push_str(if lang == Lang::Zh { "" } else { " " });
                    last.push_str(&sentence);
                    left -= 1;
                }
                None => {
                    left = if paragraphs.is_empty() { 0 } else { draw.below(3) };
                    paragraphs.push(sentence);
                }
            }
        }
        Text { title, paragraphs }
    }

    /// A sentence that can be added to any text.
    pub(crate) fn aside(&self, facts: &Facts, lang: Lang, day: i64, seed: u64) -> String {
        let mut draw = Draw::of(seed);
        let name = Moment::at(day, lang.zone()).day_name(lang);
        let first = draw.pick(&self.of_anything);
        fill(first, facts, lang, name, name, &mut draw)
    }
}

fn shuffle<T>(items: &mut [T], draw: &mut Draw) {
    for end in (1..items.len()).rev() {
        items.swap(end, draw.below(end + 1));
    }
}

/// Makes the choices of a template and puts in the facts.
fn fill(
    template: &str,
    facts: &Facts,
    lang: Lang,
    day: &str,
    next: &str,
    draw: &mut Draw,
) -> String {
    let mut chosen = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('[') {
        chosen.push_str(before);
        let (choices, after) = after.split_once(']').expect("a choice ends");
        let choices: Vec<&str> = choices.split('|').collect();
        chosen.push_str(draw.pick(&choices));
        rest = after;
    }
    chosen.push_str(rest);
    let mut filled = String::with_capacity(chosen.len() + 32);
    let mut rest = chosen.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let (key, after) = after.split_once('}').expect("a fact ends");
        filled.push_str(&facts.value(key, lang, day, next));
        rest = after;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line of every grammar can be filled: no key is unknown, no bracket is left.
    #[test]
    fn every_sentence_of_every_language_can_be_told() {
        for lang in Lang::ALL {
            let grammar = Grammar::of(lang);
            let names =
                |lang| Grammar::of(lang).kinds.iter().map(|kind| kind.name).collect::<Vec<_>>();
            assert_eq!(names(lang), names(Lang::En));
            let facts = Facts::new(&mut Draw::of(7), false);
            for kind in &grammar.kinds {
                let told = kind.told.iter().chain(&kind.next_told).flatten();
                for line in
                    told.chain(&kind.heads).chain(&kind.next_heads).chain(&grammar.of_anything)
                {
                    let text = fill(line, &facts, lang, "day", "next", &mut Draw::of(1));
                    assert!(!text.contains(['[', ']', '{', '}', '|']), "{text}");
                }
            }
        }
    }
}
