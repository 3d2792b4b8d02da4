//! Character encodings: what a page declares, and what its bytes look like.

use crate::{assert_none, bytes, cases};
use argiope_parse::parse_html;

fn check(suite: &str, kind: &str) {
    let Some(cases) = cases(suite, kind) else { return };
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let want = case["expected"]["encoding"].as_str().unwrap();
            let got = parse_html(&bytes(&case["input"]["bytes"]), None).charset;
            (!got.eq_ignore_ascii_case(want)).then(|| format!("{} {got}, not {want}", case["id"]))
        })
        .collect();
    assert_none(&wrong, cases.len());
}

#[test]
fn declared_encodings_are_found_where_browsers_find_them() {
    check("html5lib", "html-encoding");
}

#[test]
fn undeclared_encodings_are_guessed_as_browsers_guess_them() {
    check("wpt-misc", "html-encoding-detect");
}
