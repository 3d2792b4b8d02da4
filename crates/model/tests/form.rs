//! The canonical form is frozen: what version 2 made of a URL once, it makes of it for ever.
//!
//! A later version of the program may accept more URLs; it may not change one that was
//! accepted, for the data directories that exist know the page by that text.

use argiope_model::CanonicalUrl;

#[test]
fn what_version_2_accepted_keeps_its_text() {
    assert_eq!(CanonicalUrl::FORM_VERSION, 2);
    let pairs: Vec<(String, String)> = include_str!("data/form-2.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a pair a line"))
        .collect();
    assert_eq!(pairs.len(), 84);
    for (raw, frozen) in pairs {
        let now = CanonicalUrl::parse(&raw).map(|url| url.to_string());
        assert_eq!(now.as_deref(), Ok(frozen.as_str()), "{raw:?}");
    }
}
