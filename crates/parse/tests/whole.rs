//! Pages that are no articles: what they have to say, and that articles are not taken for them.
#![allow(clippy::unwrap_used)]

use argiope_model::{CanonicalUrl, Time};
use argiope_parse::{Article, parse_article, parse_known_article};

/// 2026-11-16T00:00:00Z.
const NOW: Time = Time(1_794_787_200_000);

const PROSE: &str = "The council met on Tuesday, and after four hours of talk it agreed to mend \
    the old bridge before winter comes, as people in the valley had asked for years.";

fn read_at(url: &str, html: &str) -> Article {
    let url = CanonicalUrl::parse(url).unwrap();
    parse_article(html.as_bytes(), Some("utf-8"), Some(&url), NOW)
}

fn has(text: &str, wanted: &[&str], not: &[&str]) {
    for part in wanted {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    for part in not {
        assert!(!text.contains(part), "{part} is in {text}");
    }
}

/// The frame of a shop.
fn shop(main: &str) -> String {
    let menu: String =
        (0..12).map(|n| format!("<li><a href=/m{n}>Department {n}</a></li>")).collect();
    format!(
        "<title>Pots</title><body><header><a href=/>Shop</a></header><ul class=departments>{menu}</ul>\
         <main><h1>Pots for plants</h1><div class='filter-list'><p>Narrow by colour</p></div>{main}</main>\
         <footer><p>We are a small shop and write long sentences about ourselves, below every page.</p></footer>"
    )
}

#[test]
fn a_list_says_its_items_not_only_the_sentence_above_them() {
    let items: String = (0..20)
        .map(|n| {
            format!(
                "<div class=card><h3><a href=/p{n}>Glazed pot number {n} for the window sill</a></h3>\
                 <div>{n}9.00 crowns</div><div>Add to cart</div></div>"
            )
        })
        .collect();
    let text = read_at(
        "https://shop.example.com/pots",
        &shop(&format!(
            "<div class=about><p>Pots of clay and stone, made by hand in the valley.</p></div>{items}"
        )),
    )
    .text;
    has(
        &text,
        &["made by hand", "Glazed pot number 0", "Glazed pot number 19", "79.00 crowns"],
        &["Department 3", "small shop", "Narrow by", "Add to cart"],
    );
}

#[test]
fn people_who_talk_are_all_heard() {
    let posts: String = (0..8)
        .map(|n| {
            format!(
                "<article class='post comment'><h4>Member {n}</h4><p>Opinion {n}. {PROSE} {PROSE}</p></article>"
            )
        })
        .collect();
    let html = format!(
        "<title>Which bridge?</title><h1>Which bridge?</h1>\
         <div class=first><p>Which bridge do you mean? {PROSE} {PROSE} {PROSE}</p></div><div id=comments>{posts}</div>"
    );
    let text = read_at("https://forum.example.com/viewtopic.php?t=5", &html).text;
    has(&text, &["Which bridge do you mean", "Opinion 0", "Opinion 7"], &[]);
    let text = read_at("https://blog.example.com/2026/bridge", &html).text;
    has(&text, &["Which bridge do you mean"], &["Opinion 0"]);
}

#[test]
fn what_is_written_for_who_runs_no_scripts_is_read_where_there_is_nothing_else() {
    let html = format!(
        "<title>A thread</title><div id=app>Loading</div><noscript><h1>A thread</h1><p>First. {PROSE}</p>\
         <p>Second. {PROSE} {PROSE} {PROSE}</p></noscript>"
    );
    has(&read_at("https://talk.example.com/t/1", &html).text, &["First.", "Second."], &[]);
    let html = format!(
        "<p>{PROSE} {PROSE} {PROSE} {PROSE}</p><noscript><p>Turn on scripts, please. {PROSE}</p></noscript>"
    );
    has(&read_at("https://talk.example.com/t/1", &html).text, &["bridge"], &["Turn on"]);
}

#[test]
fn who_asks_for_consent_says_nothing_of_the_page_however_long() {
    let ask = "<p>These cookies are needed so that the site works as it should, and cannot be turned off by you.</p>"
        .repeat(12);
    let html = format!(
        "<title>A case</title><main><h1>A case</h1><p>Is this hole meant for a pump or for a cable, does anybody know?</p></main>\
         <div id=onetrust-consent-sdk><div class=inner>{ask}</div></div>"
    );
    has(&read_at("https://example.com/case", &html).text, &["Is this hole"], &["cookies"]);
    // A page about them is one.
    let html = format!("<div class=cookie-notice><h1>Our cookies</h1>{ask}</div>");
    has(&read_at("https://example.com/cookies", &html).text, &["These cookies"], &[]);
}

#[test]
fn a_short_article_is_no_list_whatever_stands_below_it() {
    let teasers: String = (0..30)
        .map(|n| format!("<li><a href=/a{n}>Headline number {n} of what else happened in the valley today</a></li>"))
        .collect();
    let page = |head: &str, line: &str| {
        format!(
            "<head><title>A bridge is mended</title>{head}</head><div><h1>A bridge is mended</h1>{line}\
             <p>{PROSE} {PROSE}</p></div><ul>{teasers}</ul>"
        )
    };
    let url = "https://news.example.com/bridge";
    for html in [
        page("<meta property=og:type content=article>", ""),
        page("<meta property=article:published_time content=2026-11-14T10:00:00Z>", ""),
        page(
            "<script type=application/ld+json>{\"@type\":\"NewsArticle\",\"headline\":\"A bridge is mended\"}</script>",
            "",
        ),
    ] {
        has(&read_at(url, &html).text, &["The council met"], &["Headline number"]);
    }
    // Of old pages only a date tells; who knows that it is an article takes it for one.
    let html = page("", "<p>14 November 2026</p>");
    let at = CanonicalUrl::parse(url).unwrap();
    let article = parse_known_article(html.as_bytes(), Some("utf-8"), Some(&at), NOW);
    has(&article.text, &["The council met"], &["Headline number"]);
}

#[test]
fn a_page_for_two_screens_says_everything_once() {
    let part: String = (0..6).map(|n| format!("<p>Part {n}. {PROSE}</p>")).collect();
    let html = format!(
        "<meta property=og:type content=article><h1>A bridge</h1><div class=wide>{part}</div><div class=narrow>{part}</div>"
    );
    let text = read_at("https://news.example.com/bridge", &html).text;
    assert_eq!(text.matches("Part 3.").count(), 1, "{text}");
}

#[test]
fn each_part_may_follow_itself_for_the_other_screen() {
    let part: String = (0..6)
        .map(|n| format!("<p class=wide>Part {n}. {PROSE}</p><p>Part {n}. {PROSE}</p>"))
        .collect();
    let html = format!("<meta property=og:type content=article><h1>A bridge</h1><div>{part}</div>");
    let text = read_at("https://news.example.com/bridge", &html).text;
    assert_eq!(text.matches("Part 3.").count(), 1, "{text}");
}

#[test]
fn what_a_text_repeats_here_and_there_is_its_own() {
    let meal = |n: usize| format!("<li>Meal {n}: {PROSE}</li>");
    let day = |day: usize, meals: &[usize]| {
        let list: String = meals.iter().map(|n| meal(*n)).collect();
        format!("<h3>Day {day}</h3><ul>{list}</ul>")
    };
    let days: String = [
        day(1, &[0, 1, 2, 3, 4]),
        day(2, &[5, 2, 6, 0, 3]),
        day(3, &[4, 1, 0, 2, 5]),
        day(4, &[3, 0, 6, 1, 4]),
    ]
    .concat();
    let html = format!(
        "<meta property=og:type content=article><h1>A week</h1><div><p>{PROSE}</p>{days}</div>"
    );
    let text = read_at("https://food.example.com/week", &html).text;
    assert_eq!(text.matches("Meal 0:").count(), 4, "{text}");
    assert_eq!(text.matches("Meal 6:").count(), 2, "{text}");
}

#[test]
fn what_shows_over_a_word_is_not_said_and_what_was_posted_is() {
    let html = format!(
        "<h1>A bridge</h1><div><p>{PROSE}</p><p>The mayor, <span class=rollover-person><a href=/p/1>Ann Lee</a>\
         <span class=rollover-person-block><a class=name href=/p/1>Ann Lee</a><a href=/a/7>Lee opens a school</a>\
         </span></span>, told the council of the costs.</p><div class=social-media-embed>\
         <blockquote class=twitter-tweet><p>We will mend it before the winter.</p>— Ann Lee (@annlee)\
         </blockquote></div><p>{PROSE}</p></div>"
    );
    let text = read_at("https://news.example.com/bridge", &html).text;
    has(
        &text,
        &["The mayor, Ann Lee", "told the council", "We will mend it before the winter."],
        &["opens a school"],
    );
}

#[test]
fn a_short_article_is_not_what_is_called_related() {
    let related: String = (0..3)
        .map(|n| {
            format!("<li><a href=/r{n}>Other story number {n} of this day</a><p>{PROSE}</p></li>")
        })
        .collect();
    let html = format!(
        "<title>A bridge</title><meta property=og:type content=article><main><article>\
         <nav><a href=/>Home</a></nav><p><a href=/>Home</a> › <a href=/town>Town</a></p><h1>A bridge</h1>\
         <p>The old bridge is mended, the mayor said.</p><p>It had been shut for two years.</p></article></main>\
         <section class=related><h3>Related stories</h3><ul>{related}</ul></section>"
    );
    let url = CanonicalUrl::parse("https://news.example.com/town/bridge").unwrap();
    let article = parse_known_article(html.as_bytes(), Some("utf-8"), Some(&url), NOW);
    let text = "The old bridge is mended, the mayor said.\nIt had been shut for two years.";
    assert_eq!(article.text, text);
    // Nor are other articles that nothing calls so, under a heading each.
    let teasers: String = (0..4)
        .map(|n| {
            format!(
                "<div class=teaser><a href=/r{n}><h3>Other story {n}</h3></a><p>{PROSE}</p></div>"
            )
        })
        .collect();
    let html = format!(
        "<title>A bridge</title><section class=content><h1>A bridge</h1><p>The old bridge is mended, the \
         mayor said.</p><div class=info>14 November 2026</div><p>It had been shut for two years.</p>\
         <div class=nl-box><h4>Newsletter</h4><p>Get the news of the day in your inbox, every morning.</p>\
         <form><input type=email><button>Sign up</button></form></div></section><section class=more><h2>More news</h2>{teasers}</section>"
    );
    let article = parse_known_article(html.as_bytes(), Some("utf-8"), Some(&url), NOW);
    assert!(
        article.text.ends_with("two years.") && !article.text.contains("Other"),
        "{}",
        article.text
    );
}
