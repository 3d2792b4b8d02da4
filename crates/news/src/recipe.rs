//! Recipes: what a person knows of a site, in a few lines.
//!
//! * What this is: the front pages of a site, the form of its URLs with named parts, which section
//!   is which subject, which URLs are articles, and how often to look.
//! * Its place: the command line reads them from TOML and hands over the values; the collector
//!   asks which recipe a site has and what one of its URLs means.
//! * A pattern is a URL without its scheme in which `{name}` stands for a part: `{section}`,
//!   `{scope}`, `{subject}`, `{date}`, `{id}`, `{slug}`, and `{*}` for any that does not matter. A
//!   part stays within its segment and ends where the pattern goes on: a slug at the last such
//!   place, all others at the first. Only a date may span three: `2026/11/16`. `{**}` is any rest.
//!   `www` is no section, an id has a digit, and ports do not matter.
//! * Invariants: the first pattern that fits counts; a date must be a day that exists.
//! * What is not here: TOML, and the shipped recipes themselves, see `recipes`.

use crate::recipes::{is_plain_section, subject_of};
use crate::shape::UrlDate;
use crate::sites::{host_of, place};
use argiope_model::CanonicalUrl;
use std::borrow::Cow;
use std::time::Duration;

/// The bytes of the longest date, `2026/nov/16`.
const MAX_DATE_BYTES: usize = 11;

/// A recipe for a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// What the site is called.
    pub name: String,
    /// The site it is for: a registrable domain, or a server at home, see [`place`].
    pub site: String,
    /// The pages that show its headlines.
    pub front: Vec<String>,
    /// Feeds to be read besides those that its pages name.
    pub feeds: Vec<String>,
    /// The forms of its URLs; the first that fits counts.
    pub patterns: Vec<Pattern>,
    /// Sections, as they stand in its URLs, with the subject each belongs to.
    pub subjects: Vec<(String, String)>,
    /// What a URL must have to be an article.
    pub article: ArticleRule,
    /// How often to look for news.
    pub cycle: Option<Duration>,
}

/// What a URL must have to be an article.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArticleRule {
    /// Parts that must be there. With none, any pattern that fits makes an article.
    pub needs: Vec<Part>,
    /// Words that must not stand in the URL.
    pub without: Vec<String>,
}

/// A part of a URL that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The section of the site.
    Section,
    /// Whether it is about the world or about a place.
    Scope,
    /// The special subject.
    Subject,
    /// The day.
    Date,
    /// The number of the article, with letters perhaps.
    Id,
    /// The title, as a URL has it.
    Slug,
    /// One that does not matter.
    Any,
    /// Whatever is left.
    Rest,
}

/// Why a URL is not that of an article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoArticle {
    /// It has none of the forms.
    NoPattern,
    /// It lacks a part that articles have.
    Without(Part),
    /// It has words that articles do not have.
    With(String),
}

impl Part {
    /// The names of all of them.
    pub const NAMES: [&'static str; 8] =
        ["section", "scope", "subject", "date", "id", "slug", "*", "**"];

    /// By the name it has in patterns.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "section" => Part::Section,
            "scope" => Part::Scope,
            "subject" => Part::Subject,
            "date" => Part::Date,
            "id" => Part::Id,
            "slug" => Part::Slug,
            "*" => Part::Any,
            "**" => Part::Rest,
            _ => return None,
        })
    }

    /// The name it has in patterns.
    pub fn name(self) -> &'static str {
        match self {
            Part::Section => "section",
            Part::Scope => "scope",
            Part::Subject => "subject",
            Part::Date => "date",
            Part::Id => "id",
            Part::Slug => "slug",
            Part::Any => "*",
            Part::Rest => "**",
        }
    }
}

/// The form of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Text(String),
    Part(Part),
}

/// Why a pattern cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// A `{` without its `}`.
    Open,
    /// A part of another name.
    Unknown(String),
    /// Two parts with nothing between them.
    Adjacent,
    /// A `{**}` with more than a fixed ending behind it.
    Rest,
}

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PatternError::Open => f.write_str("a { is not closed; write {name}"),
            PatternError::Unknown(name) => write!(
                f,
                "{{{name}}} is no part of a URL; use section, scope, subject, date, id, slug, * or **"
            ),
            PatternError::Adjacent => f.write_str("two parts need a character between them"),
            PatternError::Rest => f.write_str("behind {**} only a fixed ending may stand"),
        }
    }
}

impl std::error::Error for PatternError {}

/// What a URL says by a recipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UrlParts {
    /// The section, as written.
    pub section: Option<String>,
    /// The scope, as written.
    pub scope: Option<String>,
    /// The special subject, as written.
    pub subject: Option<String>,
    /// The day.
    pub date: Option<UrlDate>,
    /// The number or name of the article.
    pub id: Option<String>,
    /// The title in the URL.
    pub slug: Option<String>,
}

impl Pattern {
    /// Reads a pattern: `{section}.sina.com.cn/{scope}/{subject}/{date}/{id}.shtml`.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let text = text.trim();
        let text = without_port(text.split_once("://").map_or(text, |(_, rest)| rest));
        let mut steps = Vec::new();
        let mut rest = text.as_ref();
        while let Some(at) = rest.find('{') {
            let (before, after) = rest.split_at(at);
            let (name, after) = after[1..].split_once('}').ok_or(PatternError::Open)?;
            let part =
                Part::named(name.trim()).ok_or_else(|| PatternError::Unknown(name.to_owned()))?;
            if before.is_empty() && matches!(steps.last(), Some(Step::Part(_))) {
                return Err(PatternError::Adjacent);
            }
            if !before.is_empty() {
                steps.push(Step::Text(before.to_owned()));
            }
            steps.push(Step::Part(part));
            rest = after;
        }
        if !rest.is_empty() {
            steps.push(Step::Text(rest.to_owned()));
        }
        let open = steps.iter().position(|step| *step == Step::Part(Part::Rest));
        if open.is_some_and(|at| steps[at + 1..].iter().any(|step| matches!(step, Step::Part(_)))) {
            return Err(PatternError::Rest);
        }
        Ok(Pattern { steps })
    }

    /// The parts of a URL, if it has this form. The scheme does not matter.
    pub fn parts(&self, url: &CanonicalUrl) -> Option<UrlParts> {
        let text = url.as_str();
        let text = without_port(text.split_once("://").map_or(text, |(_, rest)| rest));
        let mut parts = UrlParts::default();
        fits(&self.steps, &text, &mut parts).then_some(parts)
    }
}

/// A URL without scheme, and without the port of its host.
fn without_port(text: &str) -> Cow<'_, str> {
    let host = text.find('/').unwrap_or(text.len());
    match text[..host].rfind(':') {
        Some(at) if text[at + 1..host].bytes().all(|b| b.is_ascii_digit()) => {
            Cow::Owned(format!("{}{}", &text[..at], &text[host..]))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Whether the steps take the whole text.
fn fits(steps: &[Step], text: &str, parts: &mut UrlParts) -> bool {
    let Some((step, rest)) = steps.split_first() else { return text.is_empty() };
    let part = match step {
        Step::Text(wanted) => {
            return text
                .strip_prefix(wanted.as_str())
                .is_some_and(|after| fits(rest, after, parts));
        }
        Step::Part(part) => *part,
    };
    if part == Part::Rest {
        // Nothing may stand behind it but a fixed end.
        return match rest {
            [] => true,
            [Step::Text(end)] => text.ends_with(end.as_str()),
            _ => false,
        };
    }
    // The part ends where the text that follows it in the pattern begins, within its segment.
    // A date may be written in three of them.
    let segment = match part {
        Part::Date => text.len().min(MAX_DATE_BYTES),
        _ => text.find(['/', '?', '&']).unwrap_or(text.len()),
    };
    let mut ends: Vec<usize> = match rest.first() {
        None if part == Part::Date => vec![text.len()],
        None => vec![segment],
        Some(Step::Text(wanted)) => {
            let found = text.match_indices(wanted.as_str()).map(|(at, _)| at);
            found.take_while(|at| *at <= segment).collect()
        }
        Some(Step::Part(_)) => Vec::new(),
    };
    // A title goes as far as it can; all else ends as soon as it can.
    if part == Part::Slug {
        ends.reverse();
    }
    ends.into_iter().any(|end| {
        let before = parts.clone();
        let fitting = takes(part, &text[..end], parts) && fits(rest, &text[end..], parts);
        if !fitting {
            *parts = before;
        }
        fitting
    })
}

/// Takes a value for a part, if it can be one.
fn takes(part: Part, value: &str, parts: &mut UrlParts) -> bool {
    if value.is_empty() {
        return false;
    }
    // A word has no dots, so that a section is one label of a host; the rest may.
    let is_word = !value.contains('.');
    let text = Some(value.to_owned());
    match part {
        Part::Section if is_word && value != "www" => parts.section = text,
        Part::Scope if is_word => parts.scope = text,
        Part::Subject if is_word => parts.subject = text,
        Part::Id if value.bytes().any(|b| b.is_ascii_digit()) => parts.id = text,
        Part::Slug => parts.slug = text,
        Part::Date => match day(value) {
            Some(day) => parts.date = Some(day),
            None => return false,
        },
        Part::Any | Part::Rest => {}
        _ => return false,
    }
    true
}

/// A day as URLs write it: `2013-12-01`, `20131201`, `2013/12/01`, `2013/dec/01`.
fn day(value: &str) -> Option<UrlDate> {
    let url = CanonicalUrl::parse(&format!("http://d/{value}")).ok()?;
    let found = crate::shape::dates_in_url(&url);
    let pieces: Vec<&str> = value.split(['-', '_', '/']).collect();
    let digits = |piece: &str| !piece.is_empty() && piece.bytes().all(|b| b.is_ascii_digit());
    let letters = |piece: &str| piece.len() == 3 && piece.bytes().all(|b| b.is_ascii_alphabetic());
    let is_all = match pieces[..] {
        [year, month, day] => digits(year) && (digits(month) || letters(month)) && digits(day),
        _ => pieces.iter().all(|piece| digits(piece)),
    };
    found.first().copied().filter(|date| date.day > 0 && is_all && found.len() == 1)
}

impl Recipe {
    /// Whether the recipe is for this URL.
    pub fn is_for(&self, url: &CanonicalUrl) -> bool {
        self.is_at(place(url))
    }

    /// Whether the recipe is for this place, see [`place`]. A site without a port is at all of them.
    pub fn is_at(&self, place: &str) -> bool {
        let host = host_of(place);
        let host = host.strip_suffix('.').unwrap_or(host);
        place == self.site
            || host == self.site
            || host.strip_suffix(&self.site).is_some_and(|rest| rest.ends_with('.'))
    }

    /// What a URL of the site says, by the first pattern that fits.
    pub fn parts(&self, url: &CanonicalUrl) -> Option<UrlParts> {
        self.is_for(url).then(|| self.patterns.iter().find_map(|p| p.parts(url)))?
    }

    /// Whether a URL is that of an article.
    pub fn is_article(&self, url: &CanonicalUrl) -> bool {
        self.why_no_article(url).is_none()
    }

    /// Why a URL is not that of an article.
    pub fn why_no_article(&self, url: &CanonicalUrl) -> Option<NoArticle> {
        let Some(parts) = self.parts(url) else { return Some(NoArticle::NoPattern) };
        let has = |part: &Part| match part {
            Part::Section => parts.section.is_some(),
            Part::Scope => parts.scope.is_some(),
            Part::Subject => parts.subject.is_some(),
            Part::Date => parts.date.is_some(),
            Part::Id => parts.id.is_some(),
            Part::Slug => parts.slug.is_some(),
            Part::Any | Part::Rest => true,
        };
        if let Some(part) = self.article.needs.iter().find(|part| !has(part)) {
            return Some(NoArticle::Without(*part));
        }
        let mut words = self.article.without.iter();
        let word = words.find(|word| url.as_str().contains(word.as_str()))?;
        Some(NoArticle::With(word.clone()))
    }

    /// The subject of a URL: what the table says of its section, else of its special subject, else
    /// what is commonly meant by them, else the section itself.
    pub fn subject<'s>(&'s self, parts: &'s UrlParts) -> Option<&'s str> {
        let own = |name: &Option<String>| {
            let name = name.as_deref()?;
            let mut rows =
                self.subjects.iter().filter(|(section, _)| section.eq_ignore_ascii_case(name));
            rows.next().map(|(_, subject)| subject.as_str())
        };
        let common = |name: &Option<String>| subject_of(name.as_deref()?);
        own(&parts.section)
            .or_else(|| own(&parts.subject))
            .or_else(|| common(&parts.section))
            .or_else(|| common(&parts.subject))
            .or_else(|| parts.section.as_deref().filter(|section| !is_plain_section(section)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(&format!("http://{text}")).unwrap()
    }

    #[test]
    fn the_example_of_the_document_is_read_part_by_part() {
        let form = "{section}.sina.com.cn/{scope}/{subject}/{date}/{id}.shtml";
        let sina = Recipe {
            site: "sina.com.cn".to_owned(),
            patterns: vec![Pattern::parse(form).unwrap()],
            article: ArticleRule { needs: vec![Part::Date, Part::Id], without: Vec::new() },
            ..Recipe::default()
        };
        let article = url("sports.sina.com.cn/g/laliga/2013-12-01/08136911563.shtml");
        let parts = sina.parts(&article).unwrap();
        assert_eq!(parts.section.as_deref(), Some("sports"));
        assert_eq!(parts.scope.as_deref(), Some("g"));
        assert_eq!(parts.subject.as_deref(), Some("laliga"));
        assert_eq!(parts.date, Some(UrlDate { year: 2013, month: 12, day: 1 }));
        assert_eq!(parts.id.as_deref(), Some("08136911563"));
        assert_eq!(sina.subject(&parts), Some("sport"));
        assert!(sina.is_article(&article));
        assert!(!sina.is_article(&url("sports.sina.com.cn/")));
        assert!(!sina.is_article(&url("sports.sina.com.cn.evil.test/g/laliga/2013-12-01/1.shtml")));
        let front = url("sports.sina.com.cn/");
        assert_eq!(sina.why_no_article(&front), Some(NoArticle::NoPattern));
        // A day that does not exist is none.
        assert!(!sina.is_article(&url("sports.sina.com.cn/g/laliga/2013-13-41/08136911563.shtml")));
    }

    #[test]
    fn parts_end_where_the_pattern_goes_on() {
        let parts = |pattern: &str, text: &str| Pattern::parse(pattern).unwrap().parts(&url(text));
        let found =
            parts("n.test/{section}/{slug}-{id}.html", "n.test/world/a-b-c-123.html").unwrap();
        assert_eq!((found.slug.as_deref(), found.id.as_deref()), (Some("a-b-c"), Some("123")));
        let found = parts("n.test/{date}/{slug}", "n.test/20261116/a-b").unwrap();
        assert_eq!(found.date.unwrap().day, 16);
        let found = parts("n.test/{date}/{slug}", "n.test/2026/11/16/a-b").unwrap();
        assert_eq!((found.date.unwrap().day, found.slug.as_deref()), (16, Some("a-b")));
        assert!(parts("n.test/{date}/{slug}", "n.test/2026/11/a-b").is_none());
        let found = parts("https://n.test/show?id={id}", "n.test/show?id=7").unwrap();
        assert_eq!(found.id.as_deref(), Some("7"));
        assert!(parts("n.test/{section}/{id}", "n.test/a/b/c").is_none());
        assert!(parts("n.test/{section}/{**}", "n.test/a/b/c?d").is_some());
        assert!(parts("{section}.n.test/{id}", "a.b.n.test/1").is_none());
        // `www` is no section, a word no number, and ports do not matter.
        assert!(parts("{section}.n.test/{id}", "www.n.test/1").is_none());
        assert!(parts("n.test/{slug}-{id}", "n.test/about-us").is_none());
        assert!(parts("n.test/{id}", "n.test:8000/1").is_some());
        assert!(parts("n.test:9/{id}", "n.test:8000/1").is_some());
        let found = parts("n.test/{section}/{date}/{slug}", "n.test/world/2026/nov/16/a").unwrap();
        assert_eq!(found.date, Some(UrlDate { year: 2026, month: 11, day: 16 }));
    }

    #[test]
    fn patterns_that_cannot_be_read_say_why() {
        for (pattern, words) in [
            ("n.test/{id", "not closed"),
            ("n.test/{when}", "{when}"),
            ("n.test/{id}{date}", "between"),
            ("n.test/{**}/{date}", "ending"),
        ] {
            let error = Pattern::parse(pattern).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
