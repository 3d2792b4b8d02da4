//! The parser: one pass over the characters, a sentence at the first mistake.
//!
//! Invariants: any text ends in a tree or a mistake, in time linear in its length; depth and
//! number of clauses are bounded.

use super::Mistake;
use super::date::span_of;
use argiope_model::Time;

/// Characters a query may have.
const MAX_CHARS: usize = 2_000;
/// Words, phrases and filters it may have.
const MAX_CLAUSES: usize = 128;
/// Words with `*` or `~` it may have: each is many words of the dictionary.
const MAX_WIDE: usize = 16;
/// Brackets inside brackets.
const MAX_DEPTH: usize = 20;

/// Where a word is to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Anywhere,
    Title,
    Address,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    Site(String),
    Language(String),
    Kind(String),
    Link(String),
    /// When its text last changed.
    Before(Time),
    After(Time),
    /// When it was first seen: from the one time on, before the other.
    FirstSeen(Option<Time>, Option<Time>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Plain,
    Must,
    Not,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// As it was typed; the analysis may find several words in it.
    Words {
        text: String,
        scope: Scope,
    },
    Phrase {
        text: String,
        slop: u32,
        scope: Scope,
    },
    Prefix {
        text: String,
        scope: Scope,
    },
    Near {
        text: String,
        distance: u8,
        scope: Scope,
    },
    Filter(Filter),
    All(Vec<(Sign, Node)>),
    Any(Vec<Node>),
}

const FIELDS: &[&str] = &[
    "site",
    "intitle",
    "inurl",
    "link",
    "lang",
    "type",
    "before",
    "after",
    "changed-before",
    "changed-after",
    "first-seen",
    "first-seen-before",
];

/// A query that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub node: Node,
    /// What was typed, without filters, where that may be what a page is called; whatever signs
    /// are in it.
    pub name: Option<String>,
}

/// Reads a query that is asked at a time.
pub(crate) fn parse(query: &str, now: Time) -> Result<Parsed, Mistake> {
    let chars: Vec<char> = query.chars().collect();
    if chars.len() > MAX_CHARS {
        let message = format!("A query has at most {MAX_CHARS} characters");
        return Err(Mistake { message, at: MAX_CHARS + 1 });
    }
    let mut parser = Parser {
        chars,
        now,
        at: 0,
        depth: 0,
        clauses: 0,
        wide: 0,
        owed: 0,
        filters: Vec::new(),
        scoped: false,
    };
    let node = parser.all()?;
    if parser.at < parser.chars.len() {
        return Err(parser.mistake("This bracket closes nothing; remove it", parser.at));
    }
    match node {
        Some(node) if asks(&node) => Ok(Parsed { node, name: parser.name() }),
        Some(_) => {
            Err(parser
                .mistake("There is nothing to look for: name a word that pages should hold", 0))
        }
        None => Err(parser.mistake("The query is empty: type a word", 0)),
    }
}

/// Whether a tree asks for something, and not only without something.
fn asks(node: &Node) -> bool {
    match node {
        Node::All(parts) => parts.iter().any(|(sign, node)| *sign != Sign::Not && asks(node)),
        Node::Any(parts) => parts.iter().all(asks),
        _ => true,
    }
}

struct Parser {
    chars: Vec<char>,
    now: Time,
    at: usize,
    depth: usize,
    clauses: usize,
    wide: usize,
    /// Brackets that words opened and did not close: `f( x )`.
    owed: usize,
    /// Where filters stand.
    filters: Vec<std::ops::Range<usize>>,
    /// Whether words are asked for in one field only.
    scoped: bool,
}

impl Parser {
    fn mistake(&self, message: impl Into<String>, at: usize) -> Mistake {
        Mistake { message: message.into(), at: at + 1 }
    }

    /// What was typed beside filters.
    fn name(&self) -> Option<String> {
        let beside = |(n, _): &(usize, &char)| !self.filters.iter().any(|range| range.contains(n));
        let name: String = self.chars.iter().enumerate().filter(beside).map(|(_, c)| c).collect();
        (!self.scoped && name.chars().any(char::is_alphanumeric)).then_some(name)
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn skip_space(&mut self) {
        while self.peek(0).is_some_and(|c| c.is_whitespace() || c.is_control()) {
            self.at += 1;
        }
    }

    /// Clauses side by side, up to the end or a closing bracket.
    fn all(&mut self) -> Result<Option<Node>, Mistake> {
        let mut parts: Vec<(Sign, Node)> = Vec::new();
        // Where an OR stands that still wants its right side.
        let mut or: Option<usize> = None;
        loop {
            self.skip_space();
            let start = self.at;
            match self.peek(0) {
                None => break,
                Some(')') if self.depth > 0 => break,
                Some(')') if self.owed > 0 => {
                    self.owed -= 1;
                    self.at += 1;
                    continue;
                }
                Some(')') => {
                    return Err(self.mistake("This bracket closes nothing; remove it", self.at));
                }
                _ => {}
            }
            if self.keyword("OR") {
                if parts.is_empty() || or.is_some() {
                    return Err(self.mistake("OR needs a word on both sides", start));
                }
                or = Some(start);
                continue;
            }
            if self.keyword("AND") {
                continue;
            }
            let Some((sign, node)) = self.clause()? else { continue };
            match or.take() {
                None => parts.push((sign, node)),
                Some(_) if sign == Sign::Not => {
                    let message = "OR cannot be followed by a word to leave out";
                    return Err(self.mistake(message, start));
                }
                Some(at) => match parts.pop() {
                    Some((Sign::Not, _)) | None => {
                        let message = "OR cannot follow a word to leave out";
                        return Err(self.mistake(message, at));
                    }
                    Some((sign, Node::Any(mut any))) => {
                        any.push(node);
                        parts.push((sign, Node::Any(any)));
                    }
                    Some((sign, before)) => parts.push((sign, Node::Any(vec![before, node]))),
                },
            }
        }
        if let Some(at) = or {
            return Err(self.mistake("OR needs a word on both sides", at));
        }
        // A bracket around words that are all wanted, as in a title, says nothing more.
        while let Some(at) = parts.iter().position(|p| matches!(p, (Sign::Plain, Node::All(_)))) {
            if let (_, Node::All(inside)) = parts.remove(at) {
                parts.splice(at..at, inside);
            }
        }
        if parts.len() == 1 && parts[0].0 == Sign::Plain {
            return Ok(parts.pop().map(|(_, node)| node));
        }
        Ok((!parts.is_empty()).then_some(Node::All(parts)))
    }

    /// Whether a word of the language stands here, in capitals; if so it is taken.
    fn keyword(&mut self, word: &str) -> bool {
        let length = word.len();
        let here = word.chars().enumerate().all(|(n, c)| self.peek(n) == Some(c));
        let ends = self.peek(length).is_none_or(|c| c.is_whitespace() || c == '(' || c == '"');
        if here && ends {
            self.at += length;
        }
        here && ends
    }

    /// One clause with its sign; `None` for signs that say nothing.
    fn clause(&mut self) -> Result<Option<(Sign, Node)>, Mistake> {
        let start = self.at;
        let sign = match (self.peek(0), self.peek(1)) {
            (Some('-' | '+'), Some(next)) if !next.is_whitespace() && !"-+)".contains(next) => {
                self.at += 1;
                if self.chars[start] == '-' { Sign::Not } else { Sign::Must }
            }
            _ => Sign::Plain,
        };
        self.clauses += 1;
        if self.clauses > MAX_CLAUSES {
            let message = format!("A query has at most {MAX_CLAUSES} words and phrases");
            return Err(self.mistake(message, start));
        }
        let node = match self.peek(0) {
            Some('(') => self.bracket()?,
            Some('"' | '“' | '„') => self.phrase(Scope::Anywhere)?,
            _ => self.word()?,
        };
        if matches!(node, Some(Node::Prefix { .. } | Node::Near { .. })) {
            self.wide += 1;
            if self.wide > MAX_WIDE {
                let message = format!("A query has at most {MAX_WIDE} words with * or ~");
                return Err(self.mistake(message, start));
            }
        }
        Ok(node.map(|node| (sign, node)))
    }

    fn bracket(&mut self) -> Result<Option<Node>, Mistake> {
        let start = self.at;
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.mistake("There are too many brackets inside brackets", start));
        }
        let inside = self.all()?;
        if self.peek(0) != Some(')') {
            return Err(self.mistake("This bracket is not closed: add )", start));
        }
        self.at += 1;
        self.depth -= 1;
        Ok(inside)
    }

    fn phrase(&mut self, scope: Scope) -> Result<Option<Node>, Mistake> {
        let start = self.at;
        self.at += 1;
        let first = self.at;
        while self.peek(0).is_some_and(|c| !matches!(c, '"' | '”')) {
            self.at += 1;
        }
        if self.peek(0).is_none() {
            return Err(self.mistake("This quotation mark is not closed: add \"", start));
        }
        let text: String = self.chars[first..self.at].iter().collect();
        self.at += 1;
        let mut slop = 0;
        if self.peek(0) == Some('~') {
            self.at += 1;
            slop = self.number()?.unwrap_or(2).min(100);
        }
        let any = text.chars().any(char::is_alphanumeric);
        Ok(any.then_some(Node::Phrase { text, slop, scope }))
    }

    fn number(&mut self) -> Result<Option<u32>, Mistake> {
        let start = self.at;
        while self.peek(0).is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let digits: String = self.chars[start..self.at].iter().collect();
        if digits.is_empty() {
            return Ok(None);
        }
        digits.parse().map(Some).map_err(|_| self.mistake("This number is too large", start))
    }

    /// Everything up to a space, a quotation mark, or a bracket that is not the word's own.
    fn raw(&mut self) -> String {
        let start = self.at;
        let mut own = 0;
        while let Some(c) = self.peek(0) {
            match c {
                '(' if self.at > start => own += 1,
                ')' if own > 0 => own -= 1,
                ')' if self.depth > 0 => break,
                '"' if self.at > start => break,
                c if c.is_whitespace() || c.is_control() => break,
                _ => {}
            }
            self.at += 1;
        }
        self.owed += own;
        self.chars[start..self.at].iter().collect()
    }

    fn word(&mut self) -> Result<Option<Node>, Mistake> {
        let start = self.at;
        let of_name = |c: &char| c.is_ascii_alphabetic() || *c == '-';
        let name_ends = self.chars[start..].iter().position(|c| !of_name(c));
        if let Some(length) = name_ends.filter(|length| *length > 0)
            && self.peek(length) == Some(':')
        {
            let name: String = self.chars[start..start + length].iter().collect();
            let name = name.to_ascii_lowercase();
            if FIELDS.contains(&&*name) {
                self.at += length + 1;
                let node = self.field(&name, start)?;
                match node {
                    Node::Filter(_) => self.filters.push(start..self.at),
                    _ => self.scoped = true,
                }
                return Ok(Some(node));
            }
            let value = self.peek(length + 1).is_some_and(char::is_alphanumeric);
            let near = FIELDS.iter().find(|known| name.len() > 3 && one_apart(known, &name));
            if let Some(known) = near.filter(|_| value) {
                let message = format!("There is no {name}:, did you mean {known}:");
                return Err(self.mistake(message, start));
            }
        }
        let text = self.raw();
        self.ending(&text, Scope::Anywhere, start)
    }

    fn field(&mut self, name: &str, start: usize) -> Result<Node, Mistake> {
        let at = self.at;
        let scope = match name {
            "intitle" => Some(Scope::Title),
            "inurl" => Some(Scope::Address),
            _ => None,
        };
        let quoted = self.peek(0) == Some('"');
        if let Some(scope) = scope {
            let found = if quoted {
                self.phrase(scope)?
            } else {
                let text = self.raw();
                self.ending(&text, scope, at)?
            };
            return found.ok_or_else(|| {
                self.mistake(format!("{name}: needs a word right after it"), start)
            });
        }
        let value = if quoted {
            match self.phrase(Scope::Anywhere)? {
                Some(Node::Phrase { text, .. }) => text,
                _ => String::new(),
            }
        } else {
            self.raw()
        };
        let value = value.trim();
        if value.is_empty() {
            let example = match name {
                "site" => "site:example.org",
                "link" => "link:https://example.org/",
                "lang" => "lang:en",
                "type" => "type:pdf",
                "before" | "changed-before" => "before:2024-05-31",
                "first-seen" => "first-seen:2024-05-31",
                "first-seen-before" => "first-seen-before:2024",
                _ => "after:2024",
            };
            let message = format!("{name}: needs a value right after it, as in {example}");
            return Err(self.mistake(message, start));
        }
        let span = |value: &str| {
            span_of(value, self.now).ok_or_else(|| {
                let message = format!("{value} is no day: write {name}:2024 or {name}:2024-05-31");
                self.mistake(message, at)
            })
        };
        let day = || span(value).map(|(from, _)| from);
        Ok(Node::Filter(match name {
            "site" => Filter::Site(host_in(value)),
            "lang" => Filter::Language(value.to_lowercase()),
            "type" => Filter::Kind(value.to_lowercase()),
            "link" => match is_url(value) {
                true => Filter::Link(value.to_owned()),
                false => {
                    let message = format!("{value} is no URL: write link:https://example.org/");
                    return Err(self.mistake(message, at));
                }
            },
            "before" | "changed-before" => Filter::Before(day()?),
            "first-seen" => match value.split_once("..") {
                Some((from, until)) => Filter::FirstSeen(Some(span(from)?.0), Some(span(until)?.1)),
                None => Filter::FirstSeen(Some(day()?), None),
            },
            "first-seen-before" => Filter::FirstSeen(None, Some(day()?)),
            _ => Filter::After(day()?),
        }))
    }

    /// A word with what its last characters may ask for.
    fn ending(&self, text: &str, scope: Scope, at: usize) -> Result<Option<Node>, Mistake> {
        if !text.chars().any(char::is_alphanumeric) {
            return Ok(None);
        }
        if let Some(text) = text.strip_suffix('*')
            && text.chars().next_back().is_some_and(char::is_alphanumeric)
        {
            return Ok(Some(Node::Prefix { text: text.to_owned(), scope }));
        }
        if let Some((word, distance)) = text.rsplit_once('~')
            && word.chars().next_back().is_some_and(char::is_alphanumeric)
        {
            let distance = match distance {
                "" | "1" => 1,
                "2" => 2,
                other if other.chars().all(|c| c.is_ascii_digit()) => {
                    let message = "Words are looked for that are 1 or 2 letters apart: write ~2";
                    return Err(self.mistake(message, at + word.chars().count()));
                }
                _ => return Ok(Some(Node::Words { text: text.to_owned(), scope })),
            };
            return Ok(Some(Node::Near { text: word.to_owned(), distance, scope }));
        }
        Ok(Some(Node::Words { text: text.to_owned(), scope }))
    }
}

/// The host that somebody means who writes a site as a URL.
fn host_in(value: &str) -> String {
    let rest = value.split_once("://").map_or(value, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = match rest.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => rest,
    };
    host.trim_start_matches("*.").trim_matches('.').to_lowercase()
}

/// Whether one letter is missing, added, changed or swapped with its neighbour.
fn one_apart(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let before = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[before..], &b[before..]);
    match (a.len(), b.len()) {
        (0, 0) => false,
        (x, y) if x == y => {
            a[1..] == b[1..] || (x > 1 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..])
        }
        (x, y) if x == y + 1 => a[1..] == *b,
        (x, y) if x + 1 == y => b[1..] == *a,
        _ => false,
    }
}

/// Whether this can be read as a URL, with or without its scheme.
fn is_url(text: &str) -> bool {
    let full = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    argiope_model::CanonicalUrl::parse(&full).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Time = Time(86_400_000 * 10);

    fn parse(query: &str) -> Result<Parsed, Mistake> {
        super::parse(query, NOW)
    }

    fn words(text: &str) -> Node {
        Node::Words { text: text.into(), scope: Scope::Anywhere }
    }

    fn shown(query: &str) -> String {
        fn show(node: &Node) -> String {
            let at = |scope: &Scope| match scope {
                Scope::Anywhere => "",
                Scope::Title => "title:",
                Scope::Address => "url:",
            };
            match node {
                Node::Words { text, scope } => format!("{}{text}", at(scope)),
                Node::Phrase { text, slop: 0, scope } => format!("{}'{text}'", at(scope)),
                Node::Phrase { text, slop, scope } => format!("{}'{text}'~{slop}", at(scope)),
                Node::Prefix { text, scope } => format!("{}{text}*", at(scope)),
                Node::Near { text, distance, scope } => format!("{}{text}~{distance}", at(scope)),
                Node::Filter(filter) => format!("{filter:?}"),
                Node::Any(parts) => {
                    format!("({})", parts.iter().map(show).collect::<Vec<_>>().join(" | "))
                }
                Node::All(parts) => {
                    let part = |(sign, node): &(Sign, Node)| match sign {
                        Sign::Plain => show(node),
                        Sign::Must => format!("+{}", show(node)),
                        Sign::Not => format!("-{}", show(node)),
                    };
                    format!("[{}]", parts.iter().map(part).collect::<Vec<_>>().join(" "))
                }
            }
        }
        match parse(query) {
            Ok(parsed) => show(&parsed.node),
            Err(mistake) => mistake.to_string(),
        }
    }

    #[test]
    fn everything_of_the_language_is_read() {
        assert_eq!(parse("spider").map(|parsed| parsed.node), Ok(words("spider")));
        assert_eq!(shown("a b"), "[a b]");
        assert_eq!(shown("a OR b c"), "[(a | b) c]");
        assert_eq!(shown("a b OR c OR d"), "[a (b | c | d)]");
        assert_eq!(shown("a AND b"), "[a b]");
        assert_eq!(shown("\"a b\" -c +d"), "['a b' -c +d]");
        assert_eq!(shown("(a b) OR (c -d)"), "([a b] | [c -d])");
        assert_eq!(shown("\"a b\"~3 pre* wrod~ wrod~2"), "['a b'~3 pre* wrod~1 wrod~2]");
        assert_eq!(shown("intitle:a inurl:\"b c\""), "[title:a url:'b c']");
        assert_eq!(shown("site:https://Example.org:80/x"), "Site(\"example.org\")");
        assert_eq!(shown("lang:DE type:text/html"), "[Language(\"de\") Kind(\"text/html\")]");
        assert_eq!(
            shown("after:1970-01-02 before:1970"),
            "[After(Time(86400000)) Before(Time(0))]"
        );
        assert_eq!(
            shown("changed-after:yesterday -Changed-Before:1970-01-02T00:01"),
            "[After(Time(777600000)) -Before(Time(86460000))]"
        );
        assert_eq!(
            shown("first-seen:1970-01-02 first-seen:1970-01..1970-01-02 first-seen-before:1970"),
            "[FirstSeen(Some(Time(86400000)), None) \
             FirstSeen(Some(Time(0)), Some(Time(172800000))) FirstSeen(None, Some(Time(0)))]"
        );
        assert_eq!(shown("after:\"1 day ago\""), "After(Time(777600000))");
        assert_eq!(shown("link:http://x/?a=b"), "Link(\"http://x/?a=b\")");
        assert!(parse("a link:http://[").is_err_and(|e| e.message.contains("no URL") && e.at == 8));
    }

    #[test]
    fn signs_inside_words_are_no_language() {
        assert_eq!(
            shown("std::vec f(x) C/C++ a-b --flag x:y"),
            "[std::vec f(x) C/C++ a-b --flag x:y]"
        );
        assert_eq!(shown("note: this - that * (f(x))"), "[note: this that f(x)]");
        assert_eq!(shown("or and Or a) b"), "[or and Or a) b]");
        assert_eq!(shown("fn f( a, b ) -> C"), "[fn f( a, b -> C]".replace("-> ", ""));
        assert_eq!(shown("http://example.org/a?b"), "http://example.org/a?b");
    }

    #[test]
    fn brackets_around_words_that_are_all_wanted_say_nothing() {
        assert_eq!(shown("List (Java SE 17 & JDK 17)"), "[List Java SE 17 JDK 17]");
        assert_eq!(shown("((a) (b (c)))"), "[a b c]");
        assert_eq!(shown("a (b OR c) +(d e)"), "[a (b | c) +[d e]]");
    }

    #[test]
    fn what_was_typed_beside_filters_may_be_a_name() {
        let name = |query: &str| parse(query).unwrap().name;
        assert_eq!(name("a (b) - \"c\" OR d").as_deref(), Some("a (b) - \"c\" OR d"));
        assert_eq!(name("site:x a lang:en b").as_deref().map(str::trim), Some("a  b"));
        assert_eq!(name("a intitle:b"), None);
        assert_eq!(name("site:x"), None);
    }

    #[test]
    fn a_mistake_gives_a_sentence_with_its_place() {
        for (query, start, at) in [
            ("", "The query is empty", 1),
            ("  ?!", "The query is empty", 1),
            ("-a", "There is nothing to look for", 1),
            ("a \"b", "This quotation mark is not closed", 3),
            ("a (b", "This bracket is not closed", 3),
            ("a )", "This bracket closes nothing", 3),
            ("a OR", "OR needs a word on both sides", 3),
            ("OR a", "OR needs a word on both sides", 1),
            ("a OR OR b", "OR needs a word on both sides", 6),
            ("a OR -b", "OR cannot be followed", 6),
            ("a before:soon", "soon is no day", 10),
            ("a changed-after:soon", "soon is no day", 17),
            ("a first-seen:2024..soon", "soon is no day", 14),
            ("first-seen: a", "first-seen: needs a value", 1),
            ("first-sen:2024 a", "There is no first-sen:, did you mean first-seen:", 1),
            ("a site:", "site: needs a value", 3),
            ("intitle: a", "intitle: needs a word", 1),
            ("sites:example.org a", "There is no sites:, did you mean site:", 1),
            ("ü wrod~9", "Words are looked for that are 1 or 2", 7),
        ] {
            let mistake = parse(query).expect_err(query);
            assert!(mistake.message.starts_with(start), "{query}: {mistake}");
            assert_eq!(mistake.at, at, "{query}: {mistake}");
        }
        let wide = parse(&"a* ".repeat(17)).unwrap_err();
        assert!(wide.message.contains("with * or ~") && wide.at == 49, "{wide}");
        assert!(parse(&"a* ".repeat(16)).is_ok());
        assert!(parse(&"(".repeat(500)).is_err());
        assert!(parse(&"a ".repeat(500)).is_err());
        assert!(parse(&"a".repeat(5000)).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(query in "\\PC*") {
            let _ = parse(&query);
        }

        #[test]
        fn any_signs_are_read_or_refused(query in "[ab()\"*~:+ORANDsite0-9 -]{0,40}") {
            if let Err(mistake) = parse(&query) {
                prop_assert!(mistake.at >= 1 && mistake.at <= query.chars().count() + 1);
            }
        }
    }
}
