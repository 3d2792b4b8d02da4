//! Articles: text, dates, authors.
//!
//! Each set is scored as its makers score it. The floors are a little below what was measured
//! when they were written; what other systems reach stands in decision 29.

use crate::{cases, page};
use argiope_model::{CanonicalUrl, Time};
use argiope_parse::{Article, parse_article};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// The day these tests live in: all pages are older.
const NOW: Time = Time(1_794_787_200_000);

/// A case and what was read of its page.
fn read(suite: &str) -> Option<Vec<(Value, Article)>> {
    let read = |case: Value| {
        let bytes = page(case["input"]["html_file"].as_str().unwrap());
        let url = case["input"]["url"].as_str().and_then(|u| CanonicalUrl::parse(u).ok());
        // Many pages were stored as UTF-8, whatever they declare.
        let charset = std::str::from_utf8(&bytes).is_ok().then_some("utf-8");
        let article = parse_article(&bytes, charset, url.as_ref(), NOW);
        (case, article)
    };
    Some(cases(suite, "article")?.into_iter().map(read).collect())
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
fn mean(read: &[(Value, Article)], cut: impl Fn(&str) -> Vec<String>) -> f64 {
    let each = read.iter().map(|(case, article)| {
        f1(&cut(case["expected"]["text"].as_str().unwrap()), &cut(&article.text))
    });
    each.sum::<f64>() / read.len() as f64
}

#[test]
fn the_words_of_web_pages_of_all_kinds_are_found() {
    let Some(read) = read("article-wcxb") else { return };
    let f = mean(&read, words);
    println!("article-wcxb: word F1 {f:.4}");
    assert!(f >= 0.93, "word F1 {f:.4}");
}

#[test]
fn the_words_of_news_pages_are_found() {
    let Some(read) = read("article-newspaper4k") else { return };
    let f = mean(&read, words);
    println!("article-newspaper4k: word F1 {f:.4}");
    assert!(f >= 0.92, "word F1 {f:.4}");
}

#[test]
fn the_text_is_that_of_a_reader_mode() {
    let Some(read) = read("article-readability") else { return };
    let f = mean(&read, grams);
    println!("article-readability: 4-gram F1 {f:.4}");
    assert!(f >= 0.935, "4-gram F1 {f:.4}");
}

#[test]
fn segments_are_in_or_out() {
    let Some(read) = read("article-trafilatura") else { return };
    let folded = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut hits, mut missing, mut extra) = (0, 0, 0);
    for (case, article) in &read {
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
    for suite in
        ["article-wcxb", "article-trafilatura", "article-readability", "article-newspaper4k"]
    {
        let Some(read) = read(suite) else { return };
        let before = (dates, dated, authors, authored);
        for (case, article) in &read {
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
    }
    assert!(dates * 100 >= dated * 90, "{dates} of {dated} dates");
    assert!(authors * 100 >= authored * 80, "{authors} of {authored} authors");
}
