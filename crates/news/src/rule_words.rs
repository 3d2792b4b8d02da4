//! The words of a rule over news.
//!
//! * What this is: `storm harbour -football "city council"` asks that both words and the phrase
//!   stand in the texts, and that `football` does not.
//! * How: texts and words are folded to words with one space around each; a word of a script
//!   without spaces may begin and end anywhere.
//! * Invariants: case, accents and signs do not matter; a phrase does not reach over two texts.
//! * What is not here: what is done with news that fit.

use crate::letters::{Kind, fold_into, kind};

/// Words that must stand, or must not stand, in the texts of an article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleWords {
    /// As they must be found in a folded text.
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl RuleWords {
    /// Reads words; what is in quotes is one phrase, what has a `-` before it must not stand.
    pub fn parse(words: &str) -> Result<RuleWords, String> {
        let mut read = RuleWords { wanted: Vec::new(), unwanted: Vec::new() };
        let mut rest = words.trim();
        while !rest.is_empty() {
            let not = rest.starts_with('-');
            if not {
                rest = &rest[1..];
            }
            let word;
            if let Some(quoted) = rest.strip_prefix(is_quote) {
                let end = quoted.find(is_quote).ok_or_else(|| {
                    format!(
                        "The quotation mark before `{quoted}` is not closed: write \"a phrase\"."
                    )
                })?;
                let length = quoted[end..].chars().next().map_or(0, char::len_utf8);
                word = &quoted[..end];
                rest = &quoted[end + length..];
            } else {
                let end = rest.find(|c: char| c.is_whitespace() || is_quote(c));
                let end = end.unwrap_or(rest.len());
                (word, rest) = rest.split_at(end);
            }
            rest = rest.trim_start();
            let plain = plain(word);
            // A word of a script without spaces may stand within others.
            let mut sought = &plain[..];
            if sought.trim().chars().next().is_some_and(is_unit) {
                sought = sought.trim_start();
            }
            if sought.trim().chars().next_back().is_some_and(is_unit) {
                sought = sought.trim_end();
            }
            if !sought.trim().is_empty() {
                let list = if not { &mut read.unwanted } else { &mut read.wanted };
                list.push(sought.to_owned());
            }
        }
        if read.wanted.is_empty() && read.unwanted.is_empty() {
            return Err(
                "There is no word: name at least one, as in `storm \"city council\"`.".into()
            );
        }
        Ok(read)
    }

    /// Reads words that somebody writes now: what means something in a search and nothing here is refused.
    pub fn checked(words: &str) -> Result<RuleWords, String> {
        let read = RuleWords::parse(words)?;
        // Every second piece stands between quotation marks.
        let plain = words.split(is_quote).step_by(2).flat_map(str::split_whitespace);
        for word in plain {
            let why = match word {
                "OR" => "a rule knows no OR: make a rule for each",
                "AND" => "a rule needs no AND: all its words must stand in an article",
                "NOT" => "a rule knows no NOT: write a - before what must not stand in an article",
                _ if word.contains(['*', '~']) => {
                    "a rule takes words as they are, without * and ~: write them out, a rule for each"
                }
                _ if word.contains(['(', ')']) => "a rule knows no brackets: make a rule for each",
                _ => continue,
            };
            return Err(format!("`{word}`: {why}."));
        }
        match read.wanted.is_empty() {
            true => Err(format!(
                "`{}` fits almost everything: name a word that must stand in an article as well.",
                words.trim()
            )),
            false => Ok(read),
        }
    }

    /// Whether all words stand in these texts, and none that must not.
    pub fn is_in(&self, texts: &[&str]) -> bool {
        let texts: Vec<String> = texts.iter().map(|text| plain(text)).collect();
        let stands = |word: &String| texts.iter().any(|text| text.contains(&**word));
        self.wanted.iter().all(stands) && !self.unwanted.iter().any(stands)
    }
}

/// The words of a search, to be looked for in a text that a page with these words may not have: what stands
/// beside an article is part of its page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryWords {
    words: Vec<String>,
    /// One is enough.
    any: bool,
}

impl QueryWords {
    /// Reads a search as people write it; fields, and words that may be spelled otherwise, ask for nothing here.
    pub fn of(query: &str) -> QueryWords {
        let (mut words, mut any) = (Vec::new(), false);
        // Every second piece stands between quotation marks.
        for (n, piece) in query.split(is_quote).enumerate() {
            for word in piece.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')')) {
                any |= n % 2 == 0 && word == "OR";
                let plain_word = n % 2 == 1 || !word.contains([':', '~']);
                let operator = n % 2 == 0 && matches!(word, "OR" | "AND" | "NOT");
                let word = word.trim_end_matches('*');
                if plain_word && !operator && !word.starts_with('-') {
                    words.extend(plain(word).split_whitespace().map(beginning));
                }
            }
        }
        QueryWords { words, any }
    }

    /// Whether they stand in these texts, in whatever form.
    pub fn are_in(&self, texts: &[&str]) -> bool {
        let texts: Vec<String> = texts.iter().map(|text| plain(text)).collect();
        let stands = |word: &String| texts.iter().any(|text| text.contains(&**word));
        match self.any {
            true => self.words.is_empty() || self.words.iter().any(stands),
            false => self.words.iter().all(stands),
        }
    }
}

/// The beginning of a word that its forms have in common, with the space before it.
fn beginning(word: &str) -> String {
    if word.chars().any(is_unit) {
        return word.to_owned();
    }
    let kept = word.chars().count().saturating_sub(2).max(4);
    let end = word.char_indices().nth(kept).map_or(word.len(), |(at, _)| at);
    format!(" {}", &word[..end])
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」')
}

fn is_unit(c: char) -> bool {
    kind(c) == Kind::Unit
}

/// A text as folded words, with one space before and behind each.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    let mut last = Kind::Gap;
    for c in text.chars() {
        let kind = match kind(c) {
            Kind::Mark => continue,
            Kind::Digit => Kind::Letter,
            kind => kind,
        };
        if kind != last && !out.ends_with(' ') {
            out.push(' ');
        }
        if kind != Kind::Gap {
            fold_into(c, &mut out);
        }
        last = kind;
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_in_a_search_alone_is_refused() {
        for (words, said) in [
            ("a OR b", "no OR"),
            ("a AND b", "no AND"),
            ("NOT b", "no NOT"),
            ("castel*", "as they are"),
            ("(a b)", "no brackets"),
            ("-x", "almost everything"),
            ("\"a", "not closed"),
        ] {
            let why = RuleWords::checked(words).unwrap_err();
            assert!(why.contains(said), "{words}: {why}");
        }
        for words in ["or and", "\"a OR b\"", "storm -football", "C++", "体育"] {
            assert!(RuleWords::checked(words).is_ok(), "{words}");
        }
    }

    #[test]
    fn the_words_of_a_search_stand_in_an_article_or_beside_it() {
        let text =
            ["Two ferries collide", "The Harbour Office said that nobody was hurt. 渡轮相撞。"];
        let stand = |query: &str| QueryWords::of(query).are_in(&text);
        for good in [
            "ferry",
            "FERRY harbor*",
            "\"harbour office\"",
            "train OR ferry",
            "渡轮",
            "ferry site:n.test",
            "ferry -train",
            "feri~1",
            "",
        ] {
            assert!(stand(good), "{good}");
        }
        for bad in ["train", "ferry train", "train OR bus", "\"harbour train\"", "列车"] {
            assert!(!stand(bad), "{bad}");
        }
    }

    fn is_in(words: &str, texts: &[&str]) -> bool {
        RuleWords::parse(words).unwrap().is_in(texts)
    }

    #[test]
    fn all_words_must_stand_whole() {
        let texts = ["Storm over the harbour", "The mayor of Orléans spoke to the city council."];
        for words in
            ["storm", "STORM orleans", "\"city council\"", "storm -snow", "„the harbour“", "-snow"]
        {
            assert!(is_in(words, &texts), "{words}");
        }
        for words in [
            "stor",
            "storm snow",
            "\"council city\"",
            "storm -mayor",
            "-\"city council\"",
            "\"harbour the\"",
        ] {
            assert!(!is_in(words, &texts), "{words}");
        }
    }

    #[test]
    fn scripts_without_spaces_are_found_within() {
        assert!(is_in("地震", &["四川发生地震造成伤亡"]));
        assert!(is_in("iPhone手机", &["新iPhone 手机发布"]));
        assert!(is_in("서울", &["서울에서 열린 회의"]));
        assert!(!is_in("地震 -四川", &["四川发生地震"]));
        assert!(is_in("ДЕЛО", &["Уголовное дело закрыто"]));
        assert!(!is_in("дел", &["Уголовное дело закрыто"]));
        assert!(is_in("AT&T", &["Shares of AT&T fell"]));
    }

    #[test]
    fn what_says_nothing_is_refused() {
        for words in ["", "  ", "\"\"", "-", "+ &", "\"open"] {
            let told = RuleWords::parse(words).unwrap_err();
            assert!(told.ends_with('.'), "{words}: {told}");
        }
    }
}
