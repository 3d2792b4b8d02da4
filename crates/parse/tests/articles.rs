//! Articles from pages made for one question each, and from pages meant to do harm.
#![allow(clippy::unwrap_used)]

use argiope_model::{CanonicalUrl, Time};
use argiope_parse::{Article, Sure, parse_article, parse_known_article};
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
fn a_loose_byline_a_counter_and_a_poll_are_not_the_article() {
    let body = format!(
        "<table><tr><td width=150><a href=/>Home</a></td><td><h1>A bridge is mended</h1><i>By Jane Doe</i> - Published 14 November 2026, 14:05<br>\
         <p>{PROSE}</p><div class=live-count>432 people are reading this right now</div><p>{PROSE}</p>\
         <div class=poll>Sondage : êtes-vous inquiet ? Oui 44 % Non 56 % 1233 votes</div><p>{PROSE}</p></td></tr></table>"
    );
    let article = page("<title>A bridge is mended</title>", &body);
    assert_eq!(article.text, [PROSE; 3].join("\n"));
    assert_eq!(article.authors, ["Jane Doe"]);
    assert_eq!(date(&article), "2026-11-14T14:05:00Z");
    // A first sentence with a date in it is the article.
    let first = "On 14 November 2026 the council of the valley agreed to mend the bridge.";
    let article = page("", &format!("<h1>A bridge</h1><p>{first}</p><p>{PROSE}</p>"));
    assert!(article.text.starts_with(first), "{}", article.text);
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
fn letters_of_broken_json_ld_are_letters() {
    let object = r#""@type":"NewsArticle","headline":"Le caf\u00e9 \"ouvert\"","author":{"@type":"Person","name":"F\u00e9lix Toledano"}"#;
    for script in [
        format!("{{{object},}}"),
        format!("{{{object},\"keywords\":[\"a\", \"b\",\n ],\"x\":\"a raw\nline, }}\"}}"),
        format!("{{\"a\":\"b\" {object},,}}"),
    ] {
        let article = page(
            &format!("<script type='application/ld+json'>{script}</script>"),
            &format!("<p>{PROSE}</p>"),
        );
        assert_eq!(article.authors, ["Félix Toledano"], "{script}");
        assert_eq!(article.title, "Le café \"ouvert\"", "{script}");
    }
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
fn a_person_goes_before_the_house_that_publishes() {
    let by = |author: &str, line: &str| {
        let house = r#"{"@type":"NewsMediaOrganization","name":"Mill Lane Media"}"#;
        let head = format!(
            r#"<script type=application/ld+json>{{"@type":"NewsArticle","author":{author},"publisher":{house}}}</script>"#
        );
        page(&head, &format!("<h1>A bridge</h1>{line}<p>{PROSE}</p>")).authors
    };
    let house = r#"[{"@type":"Organization","name":"Mill Lane Media"}]"#;
    assert_eq!(by(house, "<div class=byline>By Tom Bassett</div>"), ["Tom Bassett"]);
    assert_eq!(by(house, ""), ["Mill Lane Media"]);
    let other = r#"{"@type":"Organization","name":"Press Agency"}"#;
    assert_eq!(by(other, "<div class=byline>By Tom Bassett</div>"), ["Press Agency"]);
}

#[test]
fn names_are_found_behind_words_signs_and_before_lives() {
    let by = |byline: &str| page("", &format!("<h1>A bridge</h1>{byline}<p>{PROSE}</p>")).authors;
    assert_eq!(by("<p>Gastbeitrag von Erika Muster</p>"), ["Erika Muster"]);
    assert_eq!(by("<p><em>Written by: <a href=/x>Jane Doe</a></em></p>"), ["Jane Doe"]);
    assert_eq!(
        by("<div class=day>05.02.2020 <span>- Redaktion: Erika Muster (Presse)</span></div>"),
        ["Erika Muster"]
    );
    assert_eq!(
        by(&format!("<div class=blog_author-text><div>Jane Doe</div><p>Jane {PROSE}</p></div>")),
        ["Jane Doe"]
    );
    assert_eq!(by("<ul><li><i class='bi bi-person'></i> Jane Doe</li></ul>"), ["Jane Doe"]);
    assert_eq!(by("<small>文：山本花子<br>2026年3月4日 14:30</small>"), ["山本花子"]);
    // A picture of two letters, a headline that begins with a small word, an article beside.
    assert_eq!(by("<b class=author>JD</b><p>by Jane Doe</p>"), ["Jane Doe"]);
    assert_eq!(by("<p>Von Maske über Abstand bis Zoonose</p>"), [""; 0]);
    let beside = "<ul><li class=related-article><b class=author>John Roe</b></li></ul>";
    assert_eq!(by(&format!("{beside}<p>By Jane Doe</p>")), ["Jane Doe"]);
    assert_eq!(by("<span class=reporter>Tom Bassett, Reporter</span>"), ["Tom Bassett"]);
    assert_eq!(by("<div class=autor-fecha> | Jueves 12/11/2026 10:20</div>"), [""; 0]);
    assert_eq!(by("<div class=autor-fecha>Hoy</div>"), [""; 0]);
    assert_eq!(by("<div>Jane Doe | 2 hours ago</div>"), ["Jane Doe"]);
    assert_eq!(by("<p>Words by Jane Doe. Photos by Ann Lee</p>"), ["Jane Doe"]);
    // The name of the section is none.
    let section = "<meta property=article:section content='North Valley'>";
    let line = "<h1>A bridge</h1><div>North Valley 4 March 2026</div>";
    assert_eq!(page(section, line).authors, [""; 0]);
}

#[test]
fn all_that_a_byline_links_to_have_written_it() {
    let link = |name: &str| format!("<a href='/author/{}'>{name}</a>", name.replace(' ', "-"));
    let own = |name: &str| format!("<b itemprop=author><i itemprop=name>{name}</i></b>");
    let part = |name: &str| format!("<span class=author-name>{name}</span>");
    let (jane, max) = ("Jane Doe", "Max Sternberg");
    for (line, want) in [
        (format!("By {} and {}", link(max), link(jane)), &[max, jane][..]),
        (
            format!("Von {}, {} und {}", link("Eva von Berg"), link("Jan Lund"), link("Ida Roth")),
            &["Eva von Berg", "Jan Lund", "Ida Roth"],
        ),
        (format!("By {} {}", link(jane), link("More by Jane Doe")), &[jane]),
        (format!("By {} <a href='/author/Jane-Doe'>More Articles</a>", link(jane)), &[jane]),
        (format!("By {} <a href='/author/feed'>Follow</a>", link(jane)), &[jane]),
        (format!("By {} and {}", own(jane), own(max)), &[jane, max]),
        (format!("By {} and {}", part(jane), part(max)), &[jane, max]),
        (
            "di <a rel=author href=/x>Jane Doe</a> e <a rel=author href=/y>Max Sternberg</a>"
                .to_owned(),
            &[jane, max],
        ),
    ] {
        let body = format!("<h1>A bridge</h1><p class=byline>{line}</p><p>{PROSE}</p>");
        assert_eq!(page("<title>A bridge</title>", &body).authors, want, "{line}");
    }
}

#[test]
fn a_date_in_utc_is_read_in_the_zone_of_the_page() {
    let meta = "<meta property=article:published_time content='2026-03-05T03:05:00+00:00'>";
    let shown = |time: &str| {
        let when = page(meta, &format!("<h1>A bridge</h1>{time}<p>{PROSE}</p>")).published.unwrap();
        (when.time.iso_seconds(), when.offset_minutes)
    };
    let utc = "2026-03-05T03:05:00Z".to_owned();
    let time = "<time datetime='2026-03-04T19:05:00-08:00'>yesterday</time>";
    assert_eq!(shown(time), (utc.clone(), Some(-480)));
    assert_eq!(shown("<p class=date>4 March 2026, 22:05</p>"), (utc.clone(), Some(-300)));
    // Another minute is another date.
    assert_eq!(shown("<p class=date>4 March 2026, 22:17</p>"), (utc.clone(), Some(0)));
    assert_eq!(shown("<p class=date>4 March 2026</p>"), (utc, Some(0)));
}

#[test]
fn the_day_of_a_change_or_of_the_visit_is_not_the_day_of_appearance() {
    let body = |lines: &str| date(&page("", &format!("<h1>A bridge</h1>{lines}<p>{PROSE}</p>")));
    let lines = "<p class=date>Updated 9 March 2026</p><p class=date>4 March 2026</p>";
    assert_eq!(body(lines), "2026-03-04T00:00:00Z");
    let lines = "<p class=date id=todays-date>9 March 2026</p><div class=info>04.03.2026</div>";
    assert!(body(lines).starts_with("2026-0"), "{}", body(lines));
    assert_ne!(body(lines), "2026-03-09T00:00:00Z");
}

#[test]
fn the_day_on_which_a_page_was_made_is_not_that_of_its_appearance() {
    let made = |time: &str, line: &str| {
        let head = format!(
            "<meta property=article:published_time content='{time}'><meta property=article:modified_time content='{time}'>"
        );
        date(&page(&head, &format!("<h1>A bridge</h1>{line}<p>{PROSE}</p>")))
    };
    let line = "<div class=when>4 March 2024</div>";
    assert_eq!(made("2026-03-05T03:05:00Z", line), "2024-03-04T00:00:00Z");
    // Nearly the same, another order of day and month, and what was changed later.
    assert_eq!(made("2024-03-05T03:05:00Z", line), "2024-03-05T03:05:00Z");
    assert_eq!(made("2024-11-03T03:05:00Z", "<div>11.03.24</div>"), "2024-11-03T03:05:00Z");
    let head = "<meta property=article:published_time content='2026-03-05T03:05:00Z'>\
                <meta property=article:modified_time content='2026-03-07T03:05:00Z'>";
    let changed = page(head, &format!("<h1>A bridge</h1>{line}<p>{PROSE}</p>"));
    assert_eq!(date(&changed), "2026-03-05T03:05:00Z");
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

/// A page without any names for its parts, as of the day after [`NOW`].
fn old_page(address: &str, title: &str, lang: &str, rows: &str) -> Article {
    let url = CanonicalUrl::parse(address).unwrap();
    let html = format!(
        "<html{lang}><head><title>{title}</title></head><body bgcolor=white><table><tr><td>{rows}</td></tr></table>"
    );
    parse_article(html.as_bytes(), Some("utf-8"), Some(&url), Time(NOW.0 + 86_400_000))
}

#[test]
fn a_fuller_date_on_the_page_goes_before_that_of_the_url() {
    let shown = |line: &str, path: &str| {
        let address = format!("https://news.example.com{path}bridge.html");
        let rows =
            format!("<h2>A bridge is mended</h2><div>{line}</div><p>{PROSE}</p><p>{PROSE}</p>");
        let when = old_page(&address, "A bridge is mended", " lang=en", &rows).published.unwrap();
        (when.time.iso_seconds(), when.offset_minutes)
    };
    let at = |time: &str, zone| (format!("{time}:00Z"), zone);
    let (day, short) = ("/2026-11-16/", "/a/20261115/");
    assert_eq!(shown("16 November 2026, 16:47 GMT", day), at("2026-11-16T16:47", Some(0)));
    assert_eq!(
        shown("<span>16 November 2026</span>, <b>16:47</b>", day),
        at("2026-11-16T16:47", None)
    );
    assert_eq!(shown("15.11.2026, 21:01 Uhr", short), at("2026-11-15T21:01", None));
    assert_eq!(shown("Publié le 16 novembre 2026 à 16h44", day), at("2026-11-16T16:44", None));
    assert_eq!(shown("16 ноября 2026, 00:39 MSK", short), at("2026-11-15T21:39", Some(180)));
    // Another day, a change, and no clock tell nothing.
    for line in ["3 November 2026, 16:47", "Updated 16 November 2026, 16:47", "16 November 2026"] {
        assert_eq!(shown(line, day), at("2026-11-16T00:00", None), "{line}");
    }
}

/// A page seen on 2026-11-16T12:40:30Z.
fn seen(lang: &str, inner: &str) -> Option<(String, bool, Sure)> {
    let url = CanonicalUrl::parse("https://news.example.com/a/bridge").unwrap();
    let html = format!(
        "<html lang={lang}><head><title>A bridge is mended</title></head><body><div class=top>Hoy</div>\
         <h1>A bridge is mended</h1>{inner}<p>{PROSE}</p><p>{PROSE}</p><div>Older: 2 days ago</div>"
    );
    let now = Time(NOW.0 + (12 * 60 + 40) * 60_000 + 30_000);
    let when = parse_article(html.as_bytes(), Some("utf-8"), Some(&url), now).published?;
    Some((when.time.iso_seconds()[..16].to_owned(), when.has_clock, when.sure))
}

#[test]
fn dates_counted_from_the_visit_are_read() {
    let at = |time: &str, sure| Some((time.to_owned(), true, sure));
    let on = |day: &str, sure| Some((format!("{day}T00:00"), false, sure));
    let likely = |lang, line: &str| seen(lang, &format!("<span class=date>{line}</span>"));
    let guessed = |lang, line: &str| seen(lang, &format!("<div>{line}</div>"));
    let timed = |lang, line: &str| seen(lang, &format!("<div><time>{line}</time></div>"));
    let (sure, less) = (Sure::Likely, Sure::Guessed);
    assert_eq!(likely("en", "Today, 10:20"), at("2026-11-16T10:20", sure));
    assert_eq!(timed("en", "Yesterday, 18:05"), at("2026-11-15T18:05", sure));
    assert_eq!(timed("en", "2 hours ago"), at("2026-11-16T10:40", sure));
    assert_eq!(guessed("en", "By Ann Lee | 35 minutes ago"), at("2026-11-16T12:05", less));
    assert_eq!(guessed("ru", "Вчера, 18:05"), at("2026-11-15T18:05", less));
    // In Berlin it is 13:40.
    assert_eq!(likely("de", "heute, 13:20 Uhr"), at("2026-11-16T12:20", sure));
    assert_eq!(likely("de", "gestern"), on("2026-11-15", sure));
    assert_eq!(likely("fr", "il y a 2 heures"), at("2026-11-16T10:40", sure));
    assert_eq!(likely("zh", "2小时前"), at("2026-11-16T10:40", sure));
    assert_eq!(likely("en", "3 days ago"), on("2026-11-13", sure));
    // A date that is written goes before; a change, another article and a sentence are none.
    let both = "<span class=date>2 hours ago</span><div>14 November 2026</div>";
    assert_eq!(seen("en", both), on("2026-11-14", less));
    for none in [
        "<span class=date>Updated 2 hours ago</span>",
        "<a href=/b>Another one, 2 hours ago</a>",
        "<div class=related><time>2 hours ago</time></div>",
        "<div>It fell down 2 hours ago</div>",
        "<div>Today the council met.</div>",
    ] {
        assert_eq!(seen("en", none), None, "{none}");
    }
}

#[test]
fn days_counted_from_the_visit_are_those_of_the_reader() {
    let url = CanonicalUrl::parse("https://news.example.com/a/bridge").unwrap();
    let at = |lang: &str, line: &str, now: i64| {
        let said =
            if lang == "ja" { "町の議会は橋を直すことを決めた。" } else { PROSE };
        let html = format!(
            "<html lang={lang}><title>A bridge is mended</title><h1>A bridge is mended</h1><time>{line}</time><p>{}</p>",
            said.repeat(8)
        );
        let article =
            parse_article(html.as_bytes(), Some("utf-8"), Some(&url), Time(NOW.0 + now * 60_000));
        article.published.unwrap().time.iso_seconds()[..16].to_owned()
    };
    // In Tokyo it is past midnight, in New York it is not.
    assert_eq!(at("ja", "今日 06:20", 22 * 60), "2026-11-16T21:20");
    assert_eq!(at("en", "Today, 8:20 pm", 2 * 60), "2026-11-15T20:20");
    assert_eq!(at("ja", "昨日", 22 * 60), "2026-11-16T00:00");
}

#[test]
fn times_of_eastern_pages_are_in_their_zone() {
    let japanese = "町の議会は橋を直すことを決めた。";
    let shown = |lang: &str, line: &str, sentence: &str| {
        let rows =
            format!("<h1>川の橋が冬の前に直される</h1><p>{line}</p><p>{}</p>", sentence.repeat(20));
        let article = old_page(
            "https://a.example/2026-11-14/b",
            "川の橋が冬の前に直される｜Hinode",
            lang,
            &rows,
        );
        let when = article.published.unwrap();
        (when.time.iso_seconds(), when.offset_minutes)
    };
    let ja = ("2026-11-14T13:05:00Z".to_owned(), Some(540));
    assert_eq!(shown(" lang=ja", "2026年11月14日 22:05", japanese), ja);
    assert_eq!(shown("", "2026年11月14日 22:05", japanese), ja);
    assert_eq!(
        shown(" lang=zh-CN", "2026年11月14日 22:05", "市议会决定在冬天之前修好这座旧桥。").1,
        Some(480)
    );
    // The text knows better than the page.
    assert_eq!(shown(" lang=zh-CN", "2026年11月14日 22:05", japanese), ja);
}

#[test]
fn a_page_of_tables_has_title_summary_and_text() {
    for headline in [
        "<font size=5>A bridge is mended before winter comes to the valley</font>",
        "<b>A bridge is mended before winter comes to the valley</b>",
    ] {
        let article = old_page(
            "https://valley.example/news/bridge.html",
            "A bridge is mended before winter comes to the valley - Valley",
            " lang=en",
            &format!(
                "{headline}<br>By Jane Doe, published 14 November 2026, 22:05<br><br>{PROSE}<br><br>{PROSE}"
            ),
        );
        assert_eq!(article.title, "A bridge is mended before winter comes to the valley");
        assert_eq!(article.summary, PROSE);
        assert_eq!(date(&article), "2026-11-14T22:05:00Z");
    }
    let lines = "The bridge over the river\u{2028}will be mended before the winter comes.";
    let article = page(&format!("<meta name=description content='{lines}'>"), PROSE);
    assert_eq!(article.summary, lines.replace('\u{2028}', " "));
}

#[test]
fn the_first_large_picture_leads_where_none_is_named() {
    let shown = |pictures: &str| {
        let body = format!(
            "<div><img src=/top.jpg width=900 height=200></div><h1>A bridge is mended</h1>{pictures}<p>{PROSE}</p><p>{PROSE}</p><p>{PROSE}</p>\
             <p>{PROSE}</p><img src=/late.jpg>"
        );
        let picture = page("<title>A bridge is mended</title>", &body).picture.unwrap_or_default();
        picture.trim_start_matches("https://news.example.com").to_owned()
    };
    assert_eq!(shown("<img src='/b.jpg'>"), "/b.jpg");
    assert_eq!(shown("<p><img src=/b.jpg width=640 height=400></p>"), "/b.jpg");
    assert_eq!(shown("<img src='data:image/gif;base64,R0' data-src=/b.jpg>"), "/b.jpg");
    assert_eq!(
        shown("<img src='data:image/gif;base64,R0' srcset='/s.jpg 320w, /b.jpg 900w'>"),
        "/b.jpg"
    );
    assert_eq!(shown("<picture><source srcset='/b.webp 2x'><img alt=x></picture>"), "/b.webp");
    for none in [
        "<img src=/b.jpg width=80 height=80>",
        "<img src=/img/logo.png>",
        "<img src=/b.svg>",
        "<img class=avatar src=/b.jpg>",
        "<div class=ad-box><img src=/b.jpg></div>",
        "<a href=https://shop.example/><img src=/b.jpg></a>",
        "<img src=/p.gif width=1 height=1>",
    ] {
        assert_eq!(shown(none), "", "{none}");
        assert_eq!(shown(&format!("{none}<img src=/b.jpg>")), "/b.jpg", "{none}");
    }
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

#[test]
fn a_short_last_paragraph_belongs_to_its_article() {
    let body = |parts: &str| {
        let head = "<title>A bridge is mended</title>";
        let after = "<div class=foot><div>Sign up for our letter.</div></div>";
        page(head, &format!("<h1>A bridge is mended</h1>{parts}{after}")).text
    };
    let want = |last: &str| format!("{PROSE} {PROSE} {PROSE}\n{last}");
    let long = format!("{PROSE} {PROSE} {PROSE}");
    let stated = |first: &str, last: &str| {
        body(&format!(
            "<div itemprop=articleBody><div>{first}</div><div>&nbsp;</div><div>{last}</div></div>"
        ))
    };
    assert_eq!(stated(&long, "Regresan el domingo."), want("Regresan el domingo."));
    assert_eq!(stated("It is open.", &long), format!("It is open.\n{long}"));
    for none in [
        "LA VOZ",
        "Reporting by Ann Lee; editing by Tom Fox.",
        "© Valley Post. All rights.",
        "Read more",
    ] {
        assert_eq!(stated(&long, none), long, "{none}");
    }
    let block = |text: &str| {
        format!("<div class=article__block><div class=article__text>{text}</div></div>")
    };
    for last in [
        "Кит ушел в открытое море.",
        "Пострадали около 60 тысяч пассажиров. Кибератаку в компании исключили.",
    ] {
        let blocks = format!("<div class=article__body>{}{}</div>", block(&long), block(last));
        assert_eq!(body(&blocks), want(last));
    }
    // A box of another name is not of it.
    let other =
        "<div class=article__block><div class=article__quiz>Do you know the bridge?</div></div>";
    assert_eq!(body(&format!("<div class=article__body>{}{other}</div>", block(&long))), long);
}

#[test]
fn the_title_again_and_the_date_do_not_open_the_text() {
    let said = "Мост через реку закрыли до весны. Движение пустили в обход, сообщили в мэрии.";
    let above = "<div>Сейчас на сайте 346</div><div>Мост через реку закрыт</div><div>Мост через реку закрыт</div>";
    for (line, from) in [
        ("16 ноября 2026, 10:20", above),
        ("Сегодня, 10:20", above),
        ("Сегодня, 10:20", "<h2>Мост через реку закрыт</h2>"),
        ("10:20 16.11.2026", "<div>Сейчас на сайте 346</div><h1>Мост через реку закрыт</h1>"),
    ] {
        for html in [
            format!(
                "<div class=all>{from}<div>{line}</div><div>{said}</div><div>{said}</div></div>"
            ),
            format!(
                "<table><tr><td>{from}<p>{line}</p><p>{line}</p><p>{said} <p>{said}</td></tr></table>"
            ),
        ] {
            let html = format!("<html lang=ru><title>Мост через реку закрыт</title><body>{html}");
            let article = parse_known_article(html.as_bytes(), Some("utf-8"), None, NOW);
            assert_eq!(article.text, [said; 2].join("\n"), "{html}");
        }
    }
}

#[test]
fn the_line_that_signs_an_article_is_not_its_text() {
    for last in ["LA VOZ", "(EFE)", "AFP", "Reporting by Ann Lee; Editing by Tom Fox"] {
        let text = format!("<h1>A bridge is mended</h1><p>{PROSE}</p><p>{PROSE}</p><p>{last}</p>");
        assert_eq!(page("<title>A bridge is mended</title>", &text).text, [PROSE; 2].join("\n"));
    }
}

#[test]
fn who_wrote_it_and_whose_page_it_is_are_not_its_text() {
    // A page without any element around its article.
    let html = format!(
        "<h1>A bridge is mended</h1><p>By Jane Doe and Max Stern</p><p>19 November 2026</p><p>A bridge is mended.</p>\
         <p>{PROSE}</p><h3>More news</h3><ul><li><a href=/1>Another bridge</a></li></ul>\
         <p>© 2026 The Valley News. All rights reserved.</p><p>Page generated at 23:57:47</p>"
    );
    let article = page("<title>A bridge is mended</title>", &html);
    assert_eq!(article.authors, ["Jane Doe", "Max Stern"]);
    assert_eq!(article.text, format!("A bridge is mended.\n{PROSE}"));
}

#[test]
fn words_that_look_like_what_is_beside_a_text_stay() {
    let text =
        |inner: &str| page("<title>T</title>", &format!("<h1>T</h1>{inner}<p>{PROSE}</p>")).text;
    // A link that opens a card over a name, an author in a word, a credit above the last paragraph.
    let hover = "<p>The mayor, <a class=popover-trigger href=/p>Ann Lee</a>, told the council of the new costs.</p>";
    assert!(text(hover).contains("The mayor, Ann Lee, told"), "{}", text(hover));
    let lea = page(
        "<title>T</title><meta name=author content=Lea>",
        &format!("<h1>T</h1><p>Leaving Rome</p><p>{PROSE}</p>"),
    );
    assert!(lea.text.starts_with("Leaving Rome"), "{}", lea.text);
    let credit = format!(
        "<h1>T</h1><p>{PROSE}</p><p>© City Police</p><p>The police ask for help, they said.</p>"
    );
    assert!(page("<title>T</title>", &credit).text.ends_with("they said."));
    // The page files its one article under what moves many.
    let filed = format!(
        "<header><h1>T</h1></header><div class='post-99 category-trending'>{}</div><p>{PROSE} {PROSE} {PROSE}</p>",
        format!("<p>{PROSE}</p>").repeat(9)
    );
    assert!(page("<title>T</title>", &filed).text.matches("four hours").count() > 9);
}

/// Pages that are expensive for what is not bounded.
fn hostile() -> Vec<String> {
    let many = 60_000;
    let authors: String =
        (0..4_000).map(|n| format!("<meta name=author content='Ab Cd{n}'>")).collect();
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
        "\0".repeat(10 * many),
        "<p>\0a\u{1}b</p>".repeat(many),
        "<meta property=article:published_time content=x><meta name=author content=By>"
            .repeat(many),
        "<i class='user related today date'></i><b class=byline>By A b</b>".repeat(many / 4),
        format!("<p {}>text", (0..many).map(|n| format!("a{n}=x ")).collect::<String>()),
        format!("<a href=\"{}", "x ".repeat(4 * many)),
        format!("<!--{}", "x>".repeat(4 * many)),
        format!("<title>{}", "a b ".repeat(4 * many)),
        "<p>Some words of a paragraph that go on, and on, for a while. ".repeat(many / 4),
        format!(
            "{authors}<div><h2>{}</h2><p>{PROSE}</p></div>",
            "Ab Cd7 goes ".repeat(40 * many / 12)
        ),
        format!(
            "{PROSE}{}",
            "<div class=related-posts><p>Some words that go on.".repeat(many / 12)
        ),
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
