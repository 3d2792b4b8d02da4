//! Media types and refreshes.

use crate::{assert_none, cases};
use argiope_parse::{MediaType, media_type, parse_html};
use serde_json::Value;

/// The encoding a label stands for, as the page parser reads it.
fn encoding(label: Option<&str>) -> Option<&'static str> {
    encoding_rs::Encoding::for_label(label?.as_bytes()).map(encoding_rs::Encoding::name)
}

/// The essence of an expected `type/subtype;…`.
fn essence(mime: &Value) -> Option<&str> {
    mime.as_str().map(|m| m.split(';').next().unwrap_or_default())
}

#[test]
fn media_types_are_read_as_the_standard_says() {
    let Some(cases) = cases("wpt-misc", "mime-parse") else { return };
    let mut wrong = Vec::new();
    for case in &cases {
        let text = case["input"]["content_type"].as_str().unwrap();
        let got = MediaType::parse(text);
        let want = &case["expected"];
        if got.as_ref().map(|m| m.essence.as_str()) != essence(&want["mime"])
            || encoding(got.as_ref().and_then(|m| m.charset.as_deref()))
                != want["encoding"].as_str()
        {
            wrong.push(format!("{} {text:?}: {got:?}, not {want}", case["id"]));
        }
    }
    assert_none(&wrong, cases.len());
}

#[test]
fn several_content_types_are_one() {
    let Some(cases) = cases("wpt-misc", "http-content-type") else { return };
    let mut wrong = Vec::new();
    for case in &cases {
        let values: Vec<&str> = case["input"]["content_type"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_str().unwrap())
            .collect();
        let got = media_type(Some(&values.join(", ")), b"", None);
        let want = &case["expected"];
        if Some(got.essence.as_str()) != essence(&want["mime"])
            || encoding(got.charset.as_deref()) != want["encoding"].as_str()
        {
            wrong.push(format!("{} {values:?}: {got:?}, not {want}", case["id"]));
        }
    }
    assert_none(&wrong, cases.len());
}

#[test]
fn a_refresh_leads_where_browsers_go() {
    let Some(cases) = cases("wpt-misc", "html-meta-refresh") else { return };
    let mut wrong = Vec::new();
    for case in &cases {
        let content = case["input"]["content"].as_str().unwrap();
        let quoted = content.replace('&', "&amp;").replace('"', "&quot;");
        let page =
            parse_html(format!("<meta http-equiv=refresh content=\"{quoted}\">").as_bytes(), None);
        let got = page.links.first().map(|l| l.href.as_str());
        let want = case["expected"]["refresh"]["url"].as_str();
        if got != want {
            wrong.push(format!("{} {content:?}: {got:?}, not {want:?}", case["id"]));
        }
    }
    assert_none(&wrong, cases.len());
}
