//! What a page says, in words as numbers, for jobs that are about something.
//!
//! * What this is: the words of a page, and of each of its links that is to be judged: its own, those around
//!   it, those of its URL.
//! * Its place: a visit makes it beside other visits, the director tells it to
//!   [`argiope_frontier::topic::Topic`] in the order of commits. Other jobs have nothing of this.

use crate::group::{Found, KnownLink};
use crate::visit::Shared;
use argiope_frontier::Entry;
use argiope_frontier::topic::Word;
use argiope_index::WordNumbers;
use argiope_model::{CanonicalUrl, Job, Link, UrlKey};
use argiope_parse::text_around;
use std::cell::RefCell;
use std::collections::HashMap;

/// Words of a page that are looked at.
const MOST_TEXT: usize = 4000;
/// Words of a link, around it, of its URL.
const MOST_WORDS: usize = 24;

thread_local! {
    static NUMBERS: RefCell<WordNumbers> = RefCell::default();
}

/// A page, for the topic of its job.
#[derive(Debug, Default)]
pub(crate) struct TopicPage {
    /// Its words; `None` where it is no text.
    pub text: Option<Vec<Word>>,
    pub links: Vec<TopicLink>,
}

/// A link to a URL that may wait.
#[derive(Debug)]
pub(crate) struct TopicLink {
    pub key: UrlKey,
    pub folder: u64,
    pub words: Vec<Word>,
    pub around: Vec<Word>,
    pub url: Vec<Word>,
}

/// What a visit found.
pub(crate) struct Said<'a> {
    /// The text, and the title behind it.
    pub text: Option<&'a str>,
    pub language: Option<&'a str>,
    pub links: &'a [Link],
    /// Where each link stands in the text.
    pub at: &'a [u32],
    pub found: &'a [Found],
    pub known: &'a [KnownLink],
}

/// Whether a text has words that tell anything.
pub fn has_words(text: &str) -> bool {
    !forms(text).is_empty()
}

/// The words of a text in all their forms.
pub(crate) fn forms(text: &str) -> Vec<Vec<Word>> {
    NUMBERS.with_borrow_mut(|numbers| numbers.forms(text))
}

/// The folder of a URL, as a number.
pub(crate) fn folder_of(key: UrlKey, url: &CanonicalUrl) -> u64 {
    let path = url.path();
    let mut hash = u64::from_be_bytes(key.host.to_bytes());
    for byte in path[..path.rfind('/').unwrap_or(0)].bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

/// Whether a page is read for nothing but what it says: an example beyond the borders of the job.
pub(crate) fn is_only_example(shared: &Shared, job: &Job, entry: &Entry) -> bool {
    job.aim.as_ref().is_some_and(|aim| aim.like.contains(&entry.url))
        && !job.seeds.contains(&entry.url)
        && !job.scope.contains(&entry.url, &shared.suffixes)
}

/// The words of a page and of those of its links that the job may follow.
pub(crate) fn words_of(shared: &Shared, job: &Job, said: &Said<'_>) -> Box<TopicPage> {
    let wanted = said.found.iter().filter(|found| found.skip.is_none()).map(|found| found.key);
    let wanted = wanted.chain(said.known.iter().map(|known| known.key));
    let mut places: HashMap<UrlKey, Option<usize>> = wanted.map(|key| (key, None)).collect();
    NUMBERS.with_borrow_mut(|numbers| {
        let mut add = |text: &str, out: &mut Vec<Word>, most| {
            numbers.add(text, said.language, most, out);
        };
        let mut out = Box::new(TopicPage::default());
        if let Some(text) = said.text {
            let words = out.text.get_or_insert_default();
            add(text, words, MOST_TEXT);
        }
        for (n, link) in said.links.iter().enumerate() {
            let bare = link.url.without_session().unwrap_or_else(|| link.url.clone());
            let url = job.query.apply(bare);
            let key = url.key(&shared.pinned);
            let Some(place) = places.get_mut(&key) else { continue };
            let place = *place.get_or_insert_with(|| {
                let mut words = Vec::new();
                add(&url_words(&url), &mut words, MOST_WORDS);
                let folder = folder_of(key, &url);
                let (link_words, around) = (Vec::new(), Vec::new());
                out.links.push(TopicLink { key, folder, words: link_words, around, url: words });
                out.links.len() - 1
            });
            let entry = &mut out.links[place];
            add(&link.words, &mut entry.words, MOST_WORDS);
            if let (Some(text), Some(at)) = (said.text, said.at.get(n)) {
                let (before, after) = text_around(text, *at, &link.words);
                add(before, &mut entry.around, MOST_WORDS / 2);
                add(after, &mut entry.around, MOST_WORDS);
            }
        }
        out
    })
}

/// The words of a URL: its path and query, escapes undone, signs as spaces.
fn url_words(url: &CanonicalUrl) -> String {
    let text = url.path_and_query();
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let escaped = (*first == b'%').then(|| text_hex(more)).flatten();
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &more[2..] } else { more };
    }
    let sign = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    String::from_utf8_lossy(&bytes).chars().map(sign).collect()
}

/// The byte that two hexadecimal digits stand for.
fn text_hex(bytes: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(bytes.get(..2)?).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_url_are_its_path_and_query() {
        let url =
            CanonicalUrl::parse("http://a.test/garden-spiders/Orb%20Weaver.html?x=web").unwrap();
        let words = url_words(&url);
        let words: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(words, ["garden", "spiders", "Orb", "Weaver", "html", "x", "web"]);
        assert!(has_words("garden spiders") && !has_words("the of !"));
    }
}
