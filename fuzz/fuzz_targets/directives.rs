//! What pages ask of robots: more words never forbid less.
#![no_main]

use argiope_parse::{Directives, RobotsTag};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let all = Directives::header(text.lines(), "argiope");
    let one_by_one = text.lines().fold(Directives::default(), |all, line| {
        all.and(Directives::header([line].into_iter(), "argiope"))
    });
    assert_eq!(all, one_by_one, "headers are joined in any order");
    let tag = |line: &str| {
        let (name, content) = line.split_once('=').unwrap_or(("robots", line));
        RobotsTag { name: name.to_owned(), content: content.to_owned() }
    };
    let tags: Vec<RobotsTag> = text.lines().map(tag).collect();
    let whole = Directives::meta(&tags, "argiope");
    let half = Directives::meta(&tags[..tags.len() / 2], "argiope");
    assert_eq!(whole.and(half), whole, "more tags never forbid less");
});
