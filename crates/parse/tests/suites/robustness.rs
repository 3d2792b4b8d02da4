//! No page of any suite is too strange, and a stream reads like the whole.

use crate::{bytes, cases, folder, page};
use argiope_model::CanonicalUrl;
use argiope_parse::{parse_html, parse_html_reader, resolve};

/// Reads both ways and resolves; the readings agree.
fn read(body: &[u8], what: &str) {
    let whole = parse_html(body, None);
    let stream = parse_html_reader(body, None).unwrap();
    // A stream shows only its first bytes when the encoding is guessed.
    if whole.charset == stream.charset {
        assert_eq!(whole, stream, "{what}");
    } else {
        assert!(body.len() > 64 << 10, "{what}");
    }
    let url = CanonicalUrl::parse("http://example.com/dir/page?q").unwrap();
    resolve(&whole, &url);
}

#[test]
fn every_token_case_is_survived() {
    let Some(cases) = cases("html5lib", "html-token") else { return };
    for case in &cases {
        read(&bytes(&case["input"]["html"]), case["id"].as_str().unwrap());
    }
}

/// The names of all pages, in order.
fn pages() -> Vec<String> {
    let Some(folder) = folder() else { return Vec::new() };
    let entries = std::fs::read_dir(folder.join("pages")).unwrap();
    let names = entries.map(|e| format!("pages/{}", e.unwrap().file_name().display()));
    let mut names: Vec<String> = names.filter(|n| n.ends_with(".gz")).collect();
    names.sort();
    assert!(names.len() > 600, "{}", names.len());
    names
}

#[test]
fn every_real_page_is_survived() {
    for name in pages() {
        read(&page(&name), &name);
    }
}

#[test]
fn damaged_pages_are_survived() {
    // Any sequence will do, as long as it is the same every time.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for name in pages().iter().step_by(8) {
        let mut body = page(name);
        let start = next(body.len());
        body = body[start..(start + 20_000).min(body.len())].to_vec();
        for _ in 0..10 {
            let (from, to, len) = (next(body.len()), next(body.len()), next(40));
            match next(3) {
                0 => body.truncate(body.len() - next(200).min(body.len())),
                1 if !body.is_empty() => body[from] = b"<>\"'&=/!-\0\xff "[next(12)],
                _ => {
                    let piece = body[from..(from + len).min(body.len())].to_vec();
                    body.splice(to..to, piece);
                }
            }
            read(&body, name);
        }
    }
}
