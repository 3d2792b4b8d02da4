//! Keys against the Python package `surt` 0.3.1, which wrote the expectations in `surt.tsv`
//! (URL, tab, key).
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

use argiope_archive::surt;

#[test]
fn keys_are_the_ones_replay_tools_compute() {
    let cases = include_str!("surt.tsv");
    let mut wrong = Vec::new();
    for line in cases.lines() {
        let (url, key) = line.split_once('\t').unwrap();
        let found = surt(url);
        if found != key {
            wrong.push(format!("{url}\n  found {found}\n  not   {key}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
