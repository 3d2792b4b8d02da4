//! What pages ask of robots: more words never forbid less.
#![no_main]

use argiope_model::Directives;
use argiope_parse::{RobotsTag, header_directives, meta_directives};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let all = header_directives(text.lines(), "argiope");
    let one_by_one = text.lines().fold(Directives::default(), |all, line| {
        all.and(header_directives([line].into_iter(), "argiope"))
    });
    assert_eq!(all, one_by_one, "headers are joined in any order");
    let tag = |line: &str| {
        let (name, content) = line.split_once('=').unwrap_or(("robots", line));
        RobotsTag { name: name.to_owned(), content: content.to_owned() }
    };
    let tags: Vec<RobotsTag> = text.lines().map(tag).collect();
    let whole = meta_directives(&tags, "argiope");
    let half = meta_directives(&tags[..tags.len() / 2], "argiope");
    assert_eq!(whole.and(half), whole, "more tags never forbid less");
});
