//! Prose: titles, names and sentences, readable if not always wise.
//!
//! Sentence patterns are text with words in braces; they are taken apart once and then filled
//! from the vocabulary of a topic. No sentence holds a character that HTML would escape.

use crate::draw::Draw;
use crate::words::{SEASONS, SYLLABLES, Topic};
use std::sync::LazyLock;

#[rustfmt::skip]
const SENTENCES: [&str; 36] = [
    "The {adj} {noun} {verbs} the {noun} near the {place}.",
    "Most {nouns} {verb} every {noun} they meet, and the {adj} ones do so twice.",
    "At the {place}, {an adj} {noun} {verbs} whatever the {noun} leaves behind.",
    "{Name} wrote in {year} that no {noun} is ever as {adj} as it looks in {season}.",
    "Between {season} and {season} the {nouns} grow {adj}, and the {noun} rests.",
    "Look closely: where the {noun} ends, the {noun} begins.",
    "We counted {number} {nouns} along the {place} and {number} more beyond it.",
    "It takes {an adj} {noun} about {number} hours to {verb} a single {noun}.",
    "Nobody at {Name} believed that the {nouns} could {verb} anything so {adj}.",
    "If the {noun} is {adj}, the {nouns} {verb} it; if it is {adj}, they wait.",
    "The oldest {noun} we know was found by {Name} in the {place}.",
    "For {number} years the {place} has had more {nouns} than {nouns}.",
    "A good {noun} {verbs} each {noun} slowly.",
    "Some readers ask whether {nouns} {verb} {nouns} at all; they do, but only in {season}.",
    "Keep the {noun} away from the {place}, above all when the {nouns} are {adj}.",
    "The {noun} of {Name} is {adj}, {adj} and a little {adj}.",
    "By {season} the {adj} {nouns} had reached the {place}, and {Name} went out to see them.",
    "Compare this with the {noun} described on an earlier page: it {verbs} the same {noun}, but from the other side.",
    "There are {number} kinds of {noun}, and only {number} of them {verb} the {adj} {nouns}.",
    "What {an adj} {noun} {verbs} in {season}, it will miss in {season}.",
    "Children in {Name} still say that the {noun} {verbs} those who talk too loudly about {nouns}.",
    "Measured from the {place}, the {noun} is {number} paces long.",
    "This is why {nouns} and {nouns} are so seldom seen together.",
    "One {adj} morning the {noun} simply stopped, and every {noun} in the {place} with it.",
    "The rule is old and {adj}: first the {noun}, then the {nouns}.",
    "Without {nouns} there would be no {noun}, and without the {noun} no {place}.",
    "Our notes from {season} {year} mention {an adj} {noun} and {number} {nouns}.",
    "You can {verb} one {noun} with patience, or {number} with none.",
    "{Name} kept one {noun} in the {place} and drew it every evening.",
    "They {verb} the {noun}, they {verb} the {noun}, and in {season} they begin again.",
    "Hardly any {noun} survives {season} unless {an adj} {noun} {verbs} it.",
    "In {year} the last {adj} {noun} left the {place}.",
    "Ask at {Name} for the {adj} {noun}; everybody knows it.",
    "The {nouns} here {verb} more {nouns} than those of {Name}, as anyone there will tell you.",
    "Seen from the {place}, a hundred {nouns} look like one {adj} {noun}.",
    "That the {noun} {verbs} the {noun} was known long before {year}.",
];

#[rustfmt::skip]
const TITLES: [&str; 12] = [
    "The {adj} {noun} of the {place}", "How {nouns} {verb} the {noun}", "Notes on {adj} {nouns}",
    "The {noun} and the {noun}", "A year with {nouns}", "Why the {noun} {verbs} the {noun}",
    "{Name} and its {nouns}", "On {nouns}, {nouns} and the {place}", "Every {noun} is {adj}",
    "Letters from the {place}", "What {an adj} {noun} {verbs}", "Seven {adj} {nouns}",
];

#[derive(Clone, Copy)]
enum Piece {
    Text(&'static str),
    Noun,
    Nouns,
    Adjective,
    AnAdjective,
    Verb,
    Verbs,
    Place,
    Name,
    Season,
    Year,
    Number,
}

static SENTENCE_PIECES: LazyLock<Vec<Vec<Piece>>> =
    LazyLock::new(|| SENTENCES.iter().map(|pattern| take_apart(pattern)).collect());
static TITLE_PIECES: LazyLock<Vec<Vec<Piece>>> =
    LazyLock::new(|| TITLES.iter().map(|pattern| take_apart(pattern)).collect());

fn take_apart(pattern: &'static str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let (slot, after) = after.split_once('}').expect("patterns close their braces");
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(match slot {
            "noun" => Piece::Noun,
            "nouns" => Piece::Nouns,
            "adj" => Piece::Adjective,
            "an adj" => Piece::AnAdjective,
            "verb" => Piece::Verb,
            "verbs" => Piece::Verbs,
            "place" => Piece::Place,
            "Name" => Piece::Name,
            "season" => Piece::Season,
            "year" => Piece::Year,
            "number" => Piece::Number,
            other => unreachable!("no words for {other}"),
        });
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    pieces
}

fn fill(out: &mut String, draw: &mut Draw, topic: &Topic, pieces: &[Piece]) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Noun => out.push_str(draw.pick(topic.nouns)),
            Piece::Nouns => {
                out.push_str(draw.pick(topic.nouns));
                out.push('s');
            }
            Piece::Adjective => out.push_str(draw.pick(topic.adjectives)),
            Piece::AnAdjective => {
                let word = draw.pick(topic.adjectives);
                out.push_str(if word.starts_with(['a', 'e', 'i', 'o', 'u']) {
                    "an "
                } else {
                    "a "
                });
                out.push_str(word);
            }
            Piece::Verb => out.push_str(draw.pick(topic.verbs)),
            Piece::Verbs => third_person(out, draw.pick(topic.verbs)),
            Piece::Place => out.push_str(draw.pick(topic.places)),
            Piece::Name => name(out, draw),
            Piece::Season => out.push_str(draw.pick(&SEASONS)),
            Piece::Year => number(out, 1740 + draw.below(280)),
            Piece::Number => number(out, 3 + draw.below(94)),
        }
    }
}

/// Appends a number; pages hold so many that formatting machinery would be felt.
fn number(out: &mut String, number: usize) {
    if number >= 10 {
        self::number(out, number / 10);
    }
    out.push(char::from(b'0' + (number % 10) as u8));
}

/// Appends a verb as `it` uses it; of a verb with a preposition only the first word changes.
fn third_person(out: &mut String, verb: &str) {
    let (head, tail) = verb.split_at(verb.find(' ').unwrap_or(verb.len()));
    match head.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => {
            out.push_str(stem);
            out.push_str("ies");
        }
        _ => {
            out.push_str(head);
            out.push_str(if head.ends_with("ss") || head.ends_with("ch") || head.ends_with("sh") {
                "es"
            } else {
                "s"
            });
        }
    }
    out.push_str(tail);
}

/// Appends a coined name.
pub(crate) fn name(out: &mut String, draw: &mut Draw) {
    for syllables in SYLLABLES {
        out.push_str(draw.pick(syllables));
    }
}

/// Appends one sentence.
pub(crate) fn sentence(out: &mut String, draw: &mut Draw, topic: &Topic) {
    let pieces = &SENTENCE_PIECES[draw.below(SENTENCE_PIECES.len())];
    fill(out, draw, topic, pieces);
}

/// Appends one title.
pub(crate) fn title(out: &mut String, draw: &mut Draw, topic: &Topic) {
    let pieces = &TITLE_PIECES[draw.below(TITLE_PIECES.len())];
    fill(out, draw, topic, pieces);
}

/// Appends the words of a title as a path segment holds them.
pub(crate) fn slug(out: &mut String, title: &str) {
    let mut gap = false;
    for byte in title.bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte.to_ascii_lowercase()));
            gap = true;
        } else if gap {
            out.push('-');
            gap = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Stream;
    use crate::words::TOPICS;

    #[test]
    fn sentences_are_whole_and_need_no_escaping() {
        let mut draw = Draw::new(1, 0, 0, Stream::Body);
        for topic in &TOPICS {
            for _ in 0..200 {
                let mut text = String::new();
                sentence(&mut text, &mut draw, topic);
                assert!(text.starts_with(char::is_uppercase) && text.ends_with('.'), "{text}");
                assert!(!text.contains(['<', '&', '{', '"']), "{text}");
            }
        }
    }

    #[test]
    fn a_slug_keeps_letters_and_digits_only() {
        let mut text = String::new();
        slug(&mut text, "The keeper's  Lamp, 1848");
        assert_eq!(text, "the-keeper-s-lamp-1848");
    }

    #[test]
    fn verbs_agree_with_their_subject() {
        let mut text = String::new();
        for verb in ["carry", "weave", "cross", "gather from", "outlay"] {
            third_person(&mut text, verb);
            text.push(' ');
        }
        assert_eq!(text, "carries weaves crosses gathers from outlays ");
    }
}
