//! Articles: text, dates, authors.
//!
//! Each set is scored as its makers score it. The floors are a little below what was measured
//! when they were written; what other systems reach stands in decision 29.

use crate::{cases, page};
use argiope_model::{CanonicalUrl, Time};
use argiope_parse::{Article, Outline, parse_article, parse_outline};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::OnceLock;

/// The day these tests live in: all pages are older.
const NOW: Time = Time(1_794_787_200_000);

/// The sets.
const SETS: [&str; 4] =
    ["article-wcxb", "article-trafilatura", "article-readability", "article-newspaper4k"];

/// A case and what was read of its page.
type Read = (Value, Article);

/// All cases of a set; each page is read once for all tests.
fn read(suite: &str) -> Option<&'static [Read]> {
    static ALL: [OnceLock<Option<Vec<Read>>>; 4] = [const { OnceLock::new() }; 4];
    let at = SETS.iter().position(|set| *set == suite).unwrap();
    let read = |case: Value| {
        let bytes = page(case["input"]["html_file"].as_str().unwrap());
        let url = case["input"]["url"].as_str().and_then(|u| CanonicalUrl::parse(u).ok());
        // Many pages were stored as UTF-8, whatever they declare.
        let charset = std::str::from_utf8(&bytes).is_ok().then_some("utf-8");
        let article = parse_article(&bytes, charset, url.as_ref(), NOW);
        (case, article)
    };
    let all =
        ALL[at].get_or_init(|| Some(cases(suite, "article")?.into_iter().map(read).collect()));
    all.as_deref()
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.filter(|w| !w.is_empty()).map(str::to_lowercase).collect()
}

/// F1 of two bags.
fn f1(want: &[String], got: &[String]) -> f64 {
    let mut bag: HashMap<&str, usize> = HashMap::new();
    for word in want {
        *bag.entry(word.as_str()).or_default() += 1;
    }
    let hit = |w: &&String| match bag.get_mut(w.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    let hits = got.iter().filter(hit).count();
    if hits == 0 { 0.0 } else { 2.0 * hits as f64 / (want.len() + got.len()) as f64 }
}

fn grams(text: &str) -> Vec<String> {
    let words = words(text);
    if words.len() < 4 {
        vec![words.join(" ")]
    } else {
        words.windows(4).map(|w| w.join(" ")).collect()
    }
}

/// Mean F1 over the pages of a set.
fn mean(read: &[Read], cut: impl Fn(&str) -> Vec<String>) -> f64 {
    let each = read.iter().map(|(case, article)| {
        f1(&cut(case["expected"]["text"].as_str().unwrap()), &cut(&article.text))
    });
    each.sum::<f64>() / read.len() as f64
}

#[test]
fn the_words_of_web_pages_of_all_kinds_are_found() {
    let Some(read) = read("article-wcxb") else { return };
    let f = mean(read, words);
    println!("article-wcxb: word F1 {f:.4}");
    assert!(f >= 0.93, "word F1 {f:.4}");
}

#[test]
fn the_words_of_news_pages_are_found() {
    let Some(read) = read("article-newspaper4k") else { return };
    let f = mean(read, words);
    println!("article-newspaper4k: word F1 {f:.4}");
    assert!(f >= 0.92, "word F1 {f:.4}");
}

#[test]
fn the_text_is_that_of_a_reader_mode() {
    let Some(read) = read("article-readability") else { return };
    let f = mean(read, grams);
    println!("article-readability: 4-gram F1 {f:.4}");
    assert!(f >= 0.935, "4-gram F1 {f:.4}");
}

#[test]
fn segments_are_in_or_out() {
    let Some(read) = read("article-trafilatura") else { return };
    let folded = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut hits, mut missing, mut extra) = (0, 0, 0);
    for (case, article) in read {
        let text = folded(&article.text);
        let there = |key: &str| {
            let list = case["expected"][key].as_array().unwrap().iter();
            let (yes, no): (Vec<_>, Vec<_>) =
                list.partition(|s| text.contains(&folded(s.as_str().unwrap())));
            (yes.len(), no.len())
        };
        let (with, without) = (there("with"), there("without"));
        hits += with.0;
        missing += with.1;
        extra += without.0;
    }
    let f = 2.0 * f64::from(hits as u32) / f64::from((2 * hits + missing + extra) as u32);
    println!("article-trafilatura: F {f:.4}, {hits} found, {missing} missing, {extra} extra");
    assert!(f >= 0.924, "F {f:.4}");
}

/// What a page shows, by another reader of pages: inline elements do not part words, blocks do.
fn shown(page: &Outline) -> String {
    let mut out = String::new();
    let mut ends: Vec<usize> = Vec::new();
    for (at, node) in page.nodes.iter().enumerate() {
        while ends.last().is_some_and(|end| *end <= at) {
            ends.pop();
            out.push(' ');
        }
        if page.is_block(at) || node.name == "br" {
            out.push(' ');
            ends.push(node.end);
        }
        out.extend(node.text.chars().filter(|c| *c != '\u{ad}'));
    }
    out.replace('\u{200b}', " ")
}

#[test]
fn every_word_of_the_text_is_a_word_of_the_page() {
    let (mut all, mut strange) = (0, 0);
    for suite in SETS {
        let Some(read) = read(suite) else { return };
        for (case, article) in read {
            let bytes = page(case["input"]["html_file"].as_str().unwrap());
            let charset = std::str::from_utf8(&bytes).is_ok().then_some("utf-8");
            let page = words(&shown(&parse_outline(&bytes, charset)));
            let page: HashSet<&str> = page.iter().map(String::as_str).collect();
            let text = words(&article.text);
            all += text.len();
            for word in text.iter().filter(|word| !page.contains(word.as_str())) {
                strange += 1;
                let glued = word.char_indices().skip(1).any(|(at, c)| {
                    c.is_ascii_alphabetic()
                        && page.contains(&word[..at])
                        && page.contains(&word[at..])
                });
                assert!(!glued, "{}: {word}", case["id"]);
            }
        }
    }
    // Numbers in boxes without a space between, and what is read beside ruby.
    println!("{strange} of {all} words are not those of the other reader");
    assert!(strange * 5000 <= all, "{strange} of {all}");
}

/// The day as it is written in the page's own zone.
fn day(article: &Article) -> Option<String> {
    let when = article.published?;
    let shift = i64::from(when.offset_minutes.unwrap_or(0)) * 60_000;
    Some(Time(when.time.0 + shift).iso_seconds()[..10].to_owned())
}

/// The words of names, without what stands around them.
fn names(text: &str) -> BTreeSet<String> {
    const AROUND: [&str; 8] = ["by", "and", "und", "von", "par", "the", "written", "edited"];
    words(text).into_iter().filter(|w| !AROUND.contains(&w.as_str())).collect()
}

#[test]
fn dates_and_authors_are_those_stated() {
    let (mut dates, mut dated, mut authors, mut authored) = (0, 0, 0, 0);
    // Per hundred, of dates and of authors. The authors of newspaper4k are what its own program
    // found: three of twelve are none ("Print", a host, the authors of other articles).
    for (suite, date_floor, author_floor) in [
        ("article-wcxb", 90, 90),
        ("article-trafilatura", 90, 80),
        ("article-readability", 100, 80),
        ("article-newspaper4k", 100, 75),
    ] {
        let Some(read) = read(suite) else { return };
        let before = (dates, dated, authors, authored);
        for (case, article) in read {
            let expected = &case["expected"];
            if let Some(date) = expected["date"].as_str() {
                dated += 1;
                dates += usize::from(day(article).as_deref() == date.get(..10));
            }
            let stated = match (&expected["author"], &expected["authors"]) {
                (Value::String(s), _) => s.clone(),
                (_, Value::Array(list)) => {
                    list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
                }
                _ => continue,
            };
            let (want, got) = (names(&stated), names(&article.authors.join(", ")));
            if want.is_empty() {
                continue;
            }
            let both = want.intersection(&got).count();
            authored += 1;
            authors += usize::from(both * 2 >= want.len() && both * 2 >= got.len() && both > 0);
        }
        println!(
            "{suite}: {} of {} dates, {} of {} authors",
            dates - before.0,
            dated - before.1,
            authors - before.2,
            authored - before.3
        );
        let (dates, dated) = (dates - before.0, dated - before.1);
        assert!(dates * 100 >= dated * date_floor, "{suite}: {dates} of {dated} dates");
        let (authors, authored) = (authors - before.2, authored - before.3);
        assert!(
            authors * 100 >= authored * author_floor,
            "{suite}: {authors} of {authored} authors"
        );
    }
    assert!(dates * 1000 >= dated * 915, "{dates} of {dated} dates");
    assert!(authors * 100 >= authored * 85, "{authors} of {authored} authors");
}
