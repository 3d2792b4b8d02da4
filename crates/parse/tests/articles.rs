//! Articles from pages made for one question each, and from pages meant to do harm.
#![allow(clippy::unwrap_used)]

use argiope_model::{CanonicalUrl, Time};
use argiope_parse::{Article, Sure, parse_article};
use std::time::{Duration, Instant};

/// 2026-11-16T00:00:00Z.
const NOW: Time = Time(1_794_787_200_000);

const PROSE: &str = "The council met on Tuesday, and after four hours of talk it agreed to mend \
    the old bridge before winter comes, as people in the valley had asked for years.";

fn read(html: &str) -> Article {
    let url = CanonicalUrl::parse("https://news.example.com/town/bridge.html").unwrap();
    parse_article(html.as_bytes(), Some("utf-8"), Some(&url), NOW)
}

/// A page around a head and a body.
fn page(head: &str, body: &str) -> Article {
    read(&format!("<html lang=en><head>{head}</head><body>{body}</body></html>"))
}

/// The date of appearance as text in its own zone.
fn date(article: &Article) -> String {
    let Some(when) = article.published else { return String::new() };
    Time(when.time.0 + i64::from(when.offset_minutes.unwrap_or(0)) * 60_000).iso_seconds()
}

#[test]
fn menus_comments_and_teasers_are_not_the_article() {
    let teaser = "<li><h3><a href=/x>Another story of the day</a></h3><p>Some words about it, a few.</p></li>";
    let article = page(
        "<title>A bridge is mended - The Valley Post</title><meta property=og:site_name content='The Valley Post'>",
        &format!(
            "<nav><a href=/>Home</a><a href=/s>Sport</a></nav><div id=main><h1>A bridge is mended</h1>\
             <div class=text><p>{PROSE}</p><h2>Next steps</h2><p>{PROSE}</p><ul><li>stone</li><li>wood</li></ul><p>{PROSE}</p>\
             <p>{PROSE}</p><p>{PROSE}</p><p>{PROSE}</p><p>{PROSE}</p></div></div><ul>{}</ul>\
             <div id=comments><p>First! {PROSE}</p></div><footer>All rights reserved.</footer>",
            teaser.repeat(5)
        ),
    );
    assert_eq!(article.title, "A bridge is mended");
    assert!(article.text.starts_with(PROSE), "{}", article.text);
    assert!(article.text.contains("\nNext steps\n"), "{}", article.text);
    assert!(article.text.contains("\nstone\nwood\n"), "{}", article.text);
    for beside in ["Sport", "Another story", "First!", "rights reserved", "A bridge is mended"] {
        assert!(!article.text.contains(beside), "{beside} in {}", article.text);
    }
}

#[test]
fn words_of_neighbouring_blocks_are_not_glued() {
    let article = page(
        "",
        &format!(
            "<article><p>{PROSE}</p><div>one</div><div>two</div><table><tr><td>three</td><td>four</td></tr></table>five<br>six<p>{PROSE}</p></article>"
        ),
    );
    let words: Vec<&str> = article.text.split_whitespace().collect();
    for word in ["one", "two", "three", "four", "five", "six"] {
        assert!(words.contains(&word), "{word} in {}", article.text);
    }
}

#[test]
fn json_ld_tells_in_graphs_arrays_and_references() {
    let article = page(
        r#"<script type="application/ld+json">{"@context":"https://schema.org","@graph":[
            {"@type":"WebSite","name":"x","datePublished":"2001-01-01"},
            {"@type":["NewsArticle"],"headline":"Bridge","datePublished":"2026-03-04T05:06:07+02:00","dateModified":"2026-03-05",
             "author":[{"@id":"/p"},{"@type":"Person","name":"John Roe"}],"articleSection":["Town","All"],"image":{"url":"/b.jpg"}},
            {"@type":"Person","@id":"/p","name":"Jane Doe"}]}</script>"#,
        &format!("<p>{PROSE}"),
    );
    assert_eq!(date(&article), "2026-03-04T05:06:07Z");
    let when = article.published.unwrap();
    assert_eq!((when.offset_minutes, when.has_clock, when.sure), (Some(120), true, Sure::Stated));
    assert_eq!(article.authors, ["Jane Doe", "John Roe"]);
    assert_eq!(article.section.as_deref(), Some("Town"));
    assert_eq!(article.picture.as_deref(), Some("https://news.example.com/b.jpg"));
    assert!(article.modified.is_some_and(|m| !m.has_clock));
}

#[test]
fn broken_json_ld_still_tells_its_date() {
    let article = page(
        r#"<script type="application/ld+json">{"a": "b" "datePublished" : "2026-03-04",,}</script>"#,
        PROSE,
    );
    assert_eq!(date(&article), "2026-03-04T00:00:00Z");
}

#[test]
fn a_date_that_cannot_be_is_passed_over() {
    let metas = |a: &str, b: &str| {
        format!(
            "<meta property=article:published_time content='{a}'><meta name=date content='{b}'>"
        )
    };
    for nonsense in ["2031-01-01", "0001-01-01T00:00:00Z", "2026-02-30", "{{date}}", "1970-01-01"] {
        assert_eq!(
            date(&page(&metas(nonsense, "2026-03-04"), PROSE)),
            "2026-03-04T00:00:00Z",
            "{nonsense}"
        );
    }
}

#[test]
fn dates_in_the_page_are_read_in_many_languages() {
    for (shown, day) in [
        ("4. März 2026", "2026-03-04"),
        ("Mittwoch, 04.03.2026, 14:30 Uhr", "2026-03-04T14:30"),
        ("le 4 mars 2026 à 14h30", "2026-03-04T14:30"),
        ("4 de marzo de 2026", "2026-03-04"),
        ("2026年3月4日 14:30", "2026-03-04T14:30"),
        ("4 марта 2026", "2026-03-04"),
        ("March 4th, 2026 2:30 p.m. EST", "2026-03-04T14:30"),
        ("4 marca 2026", "2026-03-04"),
        ("3/4/2026", "2026-03-04"),
    ] {
        let article = page(
            "<title>A bridge is mended</title>",
            &format!("<h1>A bridge is mended</h1><p class=post-date>{shown}</p><p>{PROSE}</p>"),
        );
        assert!(date(&article).starts_with(day), "{shown}: {}", date(&article));
        assert_eq!(article.published.unwrap().sure, Sure::Likely);
    }
}

#[test]
fn the_url_tells_a_date_when_nothing_else_does() {
    let url = CanonicalUrl::parse("https://news.example.com/g/laliga/2013-12-01/08136911563.shtml")
        .unwrap();
    let article = parse_article(PROSE.as_bytes(), None, Some(&url), NOW);
    assert_eq!(date(&article), "2013-12-01T00:00:00Z");
}

#[test]
fn authors_are_people_before_houses_and_never_admin() {
    let by = |head: &str, byline: &str| {
        page(head, &format!("<h1>A bridge</h1>{byline}<p>{PROSE}</p>")).authors
    };
    let line = "<div class=byline>By <a href=/a>Jane Doe</a> and <a href=/b>John Roe</a> <span>4 March 2026</span></div>";
    assert_eq!(by("", line), ["Jane Doe", "John Roe"]);
    assert_eq!(by("<meta name=author content=admin>", line), ["Jane Doe", "John Roe"]);
    assert_eq!(
        by(
            "<meta name=author content='The Post'><meta property=og:site_name content='The Post'>",
            line
        ),
        ["Jane Doe", "John Roe"]
    );
    assert_eq!(
        by(
            "<meta name=author content='The Post'><meta property=og:site_name content='The Post'>",
            ""
        ),
        ["The Post"]
    );
    assert_eq!(by("", "<p>Von Erika Muster</p>"), ["Erika Muster"]);
    assert_eq!(by("<meta name=author content='https://example.com/jane'>", ""), [""; 0]);
    assert_eq!(
        by(
            "<meta name=citation_author content='Doe, Jane'><meta name=citation_author content='Roe, John'>",
            ""
        ),
        ["Jane Doe", "John Roe"]
    );
}

#[test]
fn the_summary_is_one_sentence() {
    let article = page(
        "<meta name=description content='The bridge over the river will be mended before winter. Work begins soon.'>",
        PROSE,
    );
    assert_eq!(article.summary, "The bridge over the river will be mended before winter.");
    assert_eq!(page("", &format!("<p>{PROSE}</p>")).summary, PROSE);
}

#[test]
fn addresses_are_absolute() {
    let article = page(
        "<link rel=canonical href='/town/bridge'><meta property=og:image content='../i/b.png'>",
        PROSE,
    );
    assert_eq!(article.canonical.as_deref(), Some("https://news.example.com/town/bridge"));
    assert_eq!(article.picture.as_deref(), Some("https://news.example.com/i/b.png"));
}

#[test]
fn an_empty_page_is_an_empty_article() {
    let article = parse_article(b"", None, None, NOW);
    assert_eq!(article, Article::default());
}

/// Pages that are expensive for what is not bounded.
fn hostile() -> Vec<String> {
    let many = 60_000;
    let json = |inner: String| format!("<script type=application/ld+json>{inner}</script>{PROSE}");
    vec![
        "<div>".repeat(many),
        "<div class='comment date author'>2026-01-01 ".repeat(many),
        "<time class=date>2026-13-01</time>".repeat(many),
        "<a href=x><b><i>x".repeat(many / 2),
        "<table><tr><td>".repeat(many / 3),
        "<h1>a</h1>".repeat(many),
        "<h1>a ".repeat(many),
        "<button><h2>".repeat(many / 2),
        "<p itemprop=author>By 1 2 3 ".repeat(many / 2),
        format!("<p class='{}'>", "author-date-comment ".repeat(many)),
        format!("<p>{}", "1.2.3.".repeat(many)),
        format!("<h1>a</h1><p>{}", "By By By ".repeat(many)),
        format!("<meta name=author content='{}'>", "By ".repeat(1300)),
        json(format!("{}{}", "[".repeat(many), "]".repeat(many))),
        json(format!(
            "[{}1]",
            r#"{"@type":"NewsArticle","author":{"@id":"a"}},"#.repeat(many / 10)
        )),
        "<svg><script></div></p><textarea>".repeat(many / 4),
        "\u{ad}\u{200b}".repeat(many),
    ]
}

#[test]
fn hostile_pages_end_soon() {
    for html in hostile() {
        let began = Instant::now();
        let article = read(&html);
        let took = began.elapsed();
        let start: String = html.chars().take(40).collect();
        assert!(took < Duration::from_secs(10), "{took:?} for {start}");
        assert!(article.text.len() <= html.len() * 3, "{start}");
    }
}

/// A small generator: the same numbers in every run.
fn numbers(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    }
}

#[test]
fn random_and_cut_pages_are_read_without_a_panic() {
    const PIECES: &[&str] = &[
        "<div class=",
        "'post-date'>",
        "<p>",
        "</p>",
        "<a href='/x'>",
        "</a>",
        "<td>",
        "<h1>",
        "</h1>",
        "<time datetime=",
        "2026-03-04T05:06:07+99:99",
        ">",
        "<br>",
        "<li>",
        "By ",
        "Jane Doe, ",
        "and ",
        "31. Februar 2026",
        "4 März 2026 ",
        "２０２６年",
        "年月日",
        "12/12/12",
        "é",
        "\u{fffd}",
        "İ",
        "<script type=application/ld+json>",
        "{\"@type\":\"Article\",\"author\":",
        "[\"",
        "\"]",
        "}",
        "</script>",
        "<meta name=author content='",
        "'>",
        "<title>",
        "</title>",
        "-->",
        "<!--",
        "<html><body>",
        "</body>",
        "<button>",
        "<ul>",
        "</ul>",
        "</div>",
        "\0",
        "&nbsp;",
        "&#x0;",
        "<svg/>",
        "a.b, c! ",
    ];
    let mut next = numbers(7);
    for _ in 0..1500 {
        let html: String = (0..next(120)).map(|_| PIECES[next(PIECES.len())]).collect();
        let mut bytes = html.into_bytes();
        bytes.truncate(next(bytes.len() + 1).max(bytes.len() / 2));
        if !bytes.is_empty() && next(3) == 0 {
            let at = next(bytes.len());
            bytes[at] = next(256) as u8;
        }
        let _ = parse_article(&bytes, None, None, NOW);
    }
}
