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
//! * Invariants: the first pattern that fits counts; a date must be a day that exists.
//! * What is not here: TOML, and the shipped recipes themselves, see `recipes`.

use crate::shape::UrlDate;
use argiope_model::CanonicalUrl;
use std::time::Duration;

/// The bytes of the longest date, `2026/11/16`.
const MAX_DATE_BYTES: usize = 10;

/// A recipe for a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// What the site is called.
    pub name: String,
    /// The registrable domain it is for.
    pub site: String,
    /// The pages that show its headlines.
    pub front: Vec<String>,
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
    /// The number or name of the article.
    Id,
    /// The title, as a URL has it.
    Slug,
    /// One that does not matter.
    Any,
    /// Whatever is left.
    Rest,
}

impl Part {
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
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        let mut steps = Vec::new();
        let mut rest = text;
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
        Ok(Pattern { steps })
    }

    /// The parts of a URL, if it has this form. The scheme does not matter.
    pub fn parts(&self, url: &CanonicalUrl) -> Option<UrlParts> {
        let text = url.as_str();
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        let mut parts = UrlParts::default();
        fits(&self.steps, text, &mut parts).then_some(parts)
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
        Part::Section if is_word => parts.section = text,
        Part::Scope if is_word => parts.scope = text,
        Part::Subject if is_word => parts.subject = text,
        Part::Id if value.chars().any(|c| c.is_ascii_alphanumeric()) => parts.id = text,
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

/// A day as URLs write it: `2013-12-01`, `20131201`, `2013/12/01`.
fn day(value: &str) -> Option<UrlDate> {
    let url = CanonicalUrl::parse(&format!("http://d/{value}")).ok()?;
    let found = crate::shape::dates_in_url(&url);
    let is_all = value.bytes().all(|b| b.is_ascii_digit() || b"-_/".contains(&b));
    found.first().copied().filter(|date| date.day > 0 && is_all && found.len() == 1)
}

impl Recipe {
    /// Whether the recipe is for this host.
    pub fn is_for(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        host == self.site || host.strip_suffix(&self.site).is_some_and(|rest| rest.ends_with('.'))
    }

    /// What a URL of the site says, by the first pattern that fits.
    pub fn parts(&self, url: &CanonicalUrl) -> Option<UrlParts> {
        self.is_for(url.host()).then(|| self.patterns.iter().find_map(|p| p.parts(url)))?
    }

    /// Whether a URL is that of an article.
    pub fn is_article(&self, url: &CanonicalUrl) -> bool {
        let Some(parts) = self.parts(url) else { return false };
        let has = |part: &Part| match part {
            Part::Section => parts.section.is_some(),
            Part::Scope => parts.scope.is_some(),
            Part::Subject => parts.subject.is_some(),
            Part::Date => parts.date.is_some(),
            Part::Id => parts.id.is_some(),
            Part::Slug => parts.slug.is_some(),
            Part::Any | Part::Rest => true,
        };
        self.article.needs.iter().all(has)
            && !self.article.without.iter().any(|word| url.as_str().contains(word.as_str()))
    }

    /// The subject of a URL: what the table says of its section, else of its special subject, else
    /// the section itself.
    pub fn subject<'s>(&'s self, parts: &'s UrlParts) -> Option<&'s str> {
        let known = |name: &Option<String>| {
            let name = name.as_deref()?;
            let mut rows =
                self.subjects.iter().filter(|(section, _)| section.eq_ignore_ascii_case(name));
            rows.next().map(|(_, subject)| subject.as_str())
        };
        known(&parts.section).or_else(|| known(&parts.subject)).or(parts.section.as_deref())
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
        let recipes = crate::shipped_recipes();
        let sina = recipes.iter().find(|r| r.site == "sina.com.cn").unwrap();
        assert_eq!(sina.front[0], "http://www.sina.com.cn/");
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
    }

    #[test]
    fn patterns_that_cannot_be_read_say_why() {
        for (pattern, words) in [
            ("n.test/{id", "not closed"),
            ("n.test/{when}", "{when}"),
            ("n.test/{id}{date}", "between"),
        ] {
            let error = Pattern::parse(pattern).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
