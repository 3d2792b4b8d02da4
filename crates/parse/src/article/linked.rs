//! What a page says of itself in JSON-LD.
//!
//! * What this is: the object that describes the article (`NewsArticle`, `BlogPosting`, … in
//!   arrays and graphs), with references to other objects of the page followed.
//! * Its place: `facts` asks it first.
//! * Invariants: broken JSON gives what can be read of it, at least the dates; depth is limited
//!   by the JSON reader.

use crate::article::tree::{Tree, fold};
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// The blocks of a page.
#[derive(Default)]
pub(crate) struct Blocks {
    read: Vec<Value>,
    /// Dates of blocks that are not JSON.
    broken: Vec<(&'static str, String)>,
}

/// The objects of a page.
pub(crate) struct Linked<'b> {
    objects: Vec<&'b Map<String, Value>>,
    /// The number of the one that describes the article.
    main: Option<usize>,
    broken: &'b [(&'static str, String)],
}

/// How many objects are looked at.
const MAX_OBJECTS: usize = 5000;

/// What has dates of its own: comments and other articles.
const OTHERS: &[&str] = &[
    "comment",
    "comments",
    "itemListElement",
    "hasPart",
    "isPartOf",
    "mentions",
    "citation",
    "isBasedOn",
    "review",
    "reviews",
    "suggestedAnswer",
];

impl Blocks {
    /// Reads all blocks of a page.
    pub(crate) fn of(tree: &Tree) -> Blocks {
        let mut blocks = Blocks::default();
        for id in 0..tree.len() {
            if tree.name(id) != "script"
                || !tree.attr(id, "type").to_ascii_lowercase().contains("ld+json")
            {
                continue;
            }
            let text: String = tree.subtree(id).map(|t| tree.words(t)).collect();
            match parse(&text) {
                Some(value) => blocks.read.push(value),
                None => blocks.scan(&text),
            }
        }
        blocks
    }

    /// The dates, the headline and an author in what is nearly JSON.
    fn scan(&mut self, text: &str) {
        if let Some(at) = text.find("\"author\"") {
            let near = &text[at..];
            let near = &near[..crate::fold::floor_boundary(near.as_bytes(), 400)];
            if let Some(name) = value_of(near, "name") {
                self.broken.push(("author", name));
            }
        }
        for key in ["datePublished", "dateModified", "headline"] {
            if let Some(value) = value_of(text, key) {
                self.broken.push((key, value));
            }
        }
    }
}

/// The text behind a key.
pub(crate) fn value_of(text: &str, key: &str) -> Option<String> {
    let at = text.find(&format!("\"{key}\""))? + key.len() + 2;
    let value = text[at..].trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let value = &value[..closing(value)?];
    (value.len() < 500).then(|| unquoted(value))
}

/// Where the quote is that ends a text.
fn closing(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    })
}

/// What stands between two quotes: `\u00e9` is a letter. As it is where that cannot be read.
fn unquoted(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let plain: String = text.chars().map(|c| if c < ' ' { ' ' } else { c }).collect();
    serde_json::from_str(&format!("\"{plain}\"")).unwrap_or_else(|_| text.to_owned())
}

impl<'b> Linked<'b> {
    /// All objects of the blocks, outer ones first.
    pub(crate) fn of(blocks: &'b Blocks) -> Linked<'b> {
        let mut objects = Vec::new();
        let mut waiting: VecDeque<&Value> = blocks.read.iter().collect();
        while let Some(value) = waiting.pop_front() {
            match value {
                Value::Array(list) => waiting.extend(list),
                Value::Object(object) if objects.len() < MAX_OBJECTS => {
                    waiting.extend(
                        object
                            .iter()
                            .filter(|(key, _)| !OTHERS.contains(&key.as_str()))
                            .map(|(_, inner)| inner),
                    );
                    objects.push(object);
                }
                _ => {}
            }
        }
        let main = (0..objects.len())
            .max_by_key(|&at| (rank(objects[at]), Reverse(at)))
            .filter(|&at| rank(objects[at]) > 0);
        Linked { objects, main, broken: &blocks.broken }
    }

    /// A text of the article's object.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let own = self.main.and_then(|at| first_text(self.objects[at].get(key)?));
        own.or_else(|| self.broken.iter().find(|(k, _)| *k == key).map(|(_, v)| fold(v)))
            .filter(|t| !t.is_empty())
    }

    /// A text of any object.
    pub(crate) fn any_text(&self, key: &str) -> Option<String> {
        self.text(key).or_else(|| {
            self.objects.iter().filter(|o| rank(o) >= 0).find_map(|o| first_text(o.get(key)?))
        })
    }

    /// The names below a key: of persons, of a publisher.
    pub(crate) fn names(&self, key: &str) -> Vec<String> {
        let Some(value) = self.main.and_then(|at| self.objects[at].get(key)) else {
            let broken = self.broken.iter().filter(|(k, _)| *k == key);
            return broken.map(|(_, name)| fold(name)).collect();
        };
        let list: Vec<&Value> = match value {
            Value::Array(list) => list.iter().take(20).collect(),
            other => vec![other],
        };
        list.into_iter().filter_map(|v| self.name(v)).collect()
    }

    /// The authors that are no persons and publish the article themselves.
    pub(crate) fn houses(&self) -> Vec<String> {
        let publishers = self.names("publisher");
        let is_house = |name: &String| {
            let is = |object: &&Map<String, Value>| {
                kinds(object).any(|kind| kind.ends_with("Organization"))
                    && object
                        .get("name")
                        .and_then(first_text)
                        .is_some_and(|n| unescaped(&n) == *name)
            };
            publishers.contains(name) && self.objects.iter().any(is)
        };
        let mut authors = self.names("author");
        authors.retain(is_house);
        authors
    }

    fn name(&self, value: &Value) -> Option<String> {
        match value {
            Value::String(s) => Some(unescaped(s)).filter(|s| !s.is_empty()),
            Value::Object(object) => {
                if let Some(name) = object.get("name").and_then(first_text) {
                    return Some(unescaped(&name));
                }
                let wanted = object.get("@id")?.as_str()?;
                let there = self.objects.iter().find(|o| {
                    o.get("@id").and_then(Value::as_str) == Some(wanted) && o.contains_key("name")
                })?;
                there.get("name").and_then(first_text).map(|name| unescaped(&name))
            }
            _ => None,
        }
    }

    /// Whether an object is of one of these kinds.
    pub(crate) fn has_kind(&self, wanted: &[&str]) -> bool {
        self.objects.iter().any(|object| kinds(object).any(|kind| wanted.contains(&kind)))
    }

    /// The classes (`.a`) and ids (`#a`) of the parts that are not free.
    pub(crate) fn walls(&self) -> Vec<String> {
        let parts = match self.main.and_then(|at| self.objects[at].get("hasPart")) {
            Some(Value::Array(list)) => list.iter().take(20).collect(),
            Some(part) => vec![part],
            None => Vec::new(),
        };
        let closed = |part: &&Value| match part.get("isAccessibleForFree") {
            Some(Value::Bool(free)) => !free,
            Some(Value::String(free)) => free.eq_ignore_ascii_case("false"),
            _ => false,
        };
        let selectors = parts.into_iter().filter(closed).filter_map(|part| {
            match part.get("cssSelector") {
                Some(Value::Array(list)) => list.first(),
                other => other,
            }
            .and_then(Value::as_str)
        });
        // `.a`, `#a`, `div.a`, and the last of `.b .a`.
        let names = selectors.flat_map(|s| s.split(',').take(20)).filter_map(|s| {
            let last = s.trim().rsplit([' ', '>']).next()?;
            let name = &last[last.rfind(['.', '#'])?..];
            (name.len() > 1).then(|| name.to_owned())
        });
        names.take(20).collect()
    }

    /// The URL of the picture.
    pub(crate) fn picture(&self) -> Option<String> {
        let mut value = self.objects[self.main?].get("image")?;
        for _ in 0..4 {
            value = match value {
                Value::String(s) => return Some(s.trim().to_owned()),
                Value::Array(list) => list.first()?,
                Value::Object(object) => {
                    match object.get("url").or_else(|| object.get("contentUrl")) {
                        Some(url) => url,
                        None => {
                            let id = object.get("@id")?.as_str()?;
                            let there = self.objects.iter().find(|o| {
                                o.get("@id").and_then(Value::as_str) == Some(id)
                                    && o.contains_key("url")
                            })?;
                            there.get("url")?
                        }
                    }
                }
                _ => return None,
            };
        }
        None
    }
}

/// JSON-LD is JSON, yet some write references to characters into it.
pub(crate) fn unescaped(s: &str) -> String {
    if s.contains('&') { Tree::of(s).line(0) } else { fold(s) }
}

/// A text, or the first of several.
fn first_text(value: &Value) -> Option<String> {
    match value {
        Value::String(s) => Some(fold(s)).filter(|s| !s.is_empty()),
        Value::Array(list) => {
            list.iter().find_map(|v| v.as_str().map(fold)).filter(|s| !s.is_empty())
        }
        Value::Object(object) => {
            object.get("@value").or_else(|| object.get("name")).and_then(Value::as_str).map(fold)
        }
        Value::Number(n) => Some(n.to_string()),
        _ => None,
    }
}

/// The kinds of an object, without the vocabulary.
fn kinds(object: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let list = match object.get("@type") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    list.iter().filter_map(Value::as_str).map(|k| k.rsplit(['/', ':']).next().unwrap_or(""))
}

/// How likely an object describes the article.
fn rank(object: &Map<String, Value>) -> i32 {
    let kind = kinds(object)
        .map(|kind| match kind {
            "NewsArticle"
            | "ReportageNewsArticle"
            | "AnalysisNewsArticle"
            | "OpinionNewsArticle"
            | "BlogPosting"
            | "LiveBlogPosting"
            | "Article"
            | "TechArticle"
            | "ScholarlyArticle"
            | "Report"
            | "MedicalScholarlyArticle"
            | "SocialMediaPosting"
            | "DiscussionForumPosting" => 40,
            k if k.ends_with("Article") || k.ends_with("Posting") => 40,
            "Recipe" | "HowTo" | "Review" | "CreativeWork" | "Event" | "PodcastEpisode" => 20,
            "WebPage" | "ItemPage" | "AboutPage" | "MedicalWebPage" | "FAQPage"
            | "CollectionPage" => 10,
            "VideoObject" | "Product" | "QAPage" | "Question" => 5,
            "Comment" | "Answer" | "ImageObject" | "Person" | "Organization" => -1,
            _ => 0,
        })
        .max()
        .unwrap_or(0);
    if kind <= 0 {
        return kind;
    }
    let told =
        ["datePublished", "author", "headline"].iter().filter(|k| object.contains_key(**k)).count()
            as i32;
    kind + told
}

fn parse(text: &str) -> Option<Value> {
    let text = text.trim().trim_start_matches("<!--").trim_end_matches("-->").trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    // Raw line ends in texts, `//<![CDATA[`, a semicolon at the end, a comma behind the last of a list.
    let start = text.find(['{', '['])?;
    let end = text.rfind(['}', ']'])?;
    let inner: String =
        text.get(start..=end)?.chars().map(|c| if c < ' ' { ' ' } else { c }).collect();
    serde_json::from_str(&inner).or_else(|_| serde_json::from_str(&without_commas(&inner))).ok()
}

/// Without commas behind which a list or an object ends.
fn without_commas(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for c in text.chars() {
        if !quoted && matches!(c, '}' | ']') {
            out.truncate(out.trim_end_matches([',', ' ']).len());
        }
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
        out.push(c);
    }
    out
}
