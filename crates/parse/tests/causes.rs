//! Articles from small pages, one for each cause of a mistake on real ones.
#![allow(clippy::unwrap_used)]

use argiope_model::{CanonicalUrl, Time};
use argiope_parse::{Article, parse_article};

/// 2026-11-16T00:00:00Z.
const NOW: Time = Time(1_794_787_200_000);

const PROSE: &str = "The council met on Tuesday, and after four hours of talk it agreed to mend \
    the old bridge before winter comes, as people in the valley had asked for years.";

const TITLE: &str = "Council votes on the bridge";

/// A page around a head and what stands in its article.
fn page(head: &str, body: &str) -> Article {
    let url = CanonicalUrl::parse("https://news.example.com/town/bridge.html").unwrap();
    let html = format!(
        "<html lang=en><head><title>{TITLE}</title>{head}</head><body><main><article>{body}</article></main></body></html>"
    );
    parse_article(html.as_bytes(), Some("utf-8"), Some(&url), NOW)
}

/// Paragraphs with numbers.
fn story(from: usize, to: usize) -> String {
    (from..to).map(|n| format!("<p>Paragraph {n}. {PROSE}</p>")).collect()
}

#[test]
fn names_of_inline_elements_take_no_words_from_a_sentence() {
    for (name, attributes) in [
        ("a", "id=auto-tag_x href=/x"),
        ("a", "class='e_k atm-tag-link' href=/x"),
        ("a", "class=related-link href=/x"),
        ("span", "class=date"),
        ("span", "class=paywall"),
        ("b", "class=comment"),
    ] {
        let word = format!("<{name} {attributes}>WORD</{name}>");
        for sentence in [
            format!("Begin {word} and the sentence goes on for some while, until it ends."),
            format!("{word} erupted, and the sentence goes on for some while, until it ends."),
            format!("The sentence goes on for some while, with a comma, and ends in a {word}"),
        ] {
            let body = format!("<h1>{TITLE}</h1><p>{sentence}</p>{}", story(0, 8));
            let text = page("", &body).text;
            assert!(text.contains("WORD"), "{sentence} in {text}");
        }
    }
    // What is hidden stays hidden, and a line of its own is no sentence.
    for beside in [
        "<p>The council <a href=/x>met<span class=sr-only>WORD</span></a> on Tuesday, and it agreed.</p>",
        "<p><span class=share-box>WORD</span></p>",
    ] {
        let body = format!("<h1>{TITLE}</h1>{}{beside}{}", story(0, 4), story(4, 8));
        assert!(!page("", &body).text.contains("WORD"), "{beside}");
    }
}

#[test]
fn what_is_marked_as_paywalled_is_the_text() {
    let first = format!("<h1>{TITLE}</h1><p>{PROSE} {PROSE} {PROSE}</p>");
    let told = r#"<script type="application/ld+json">{"@type":"NewsArticle","headline":"x","isAccessibleForFree":false,
        "hasPart":{"@type":"WebPageElement","isAccessibleForFree":"False","cssSelector":"div.promo, #rest"}}</script>"#;
    let marked = story(0, 20).replace("<p>", "<p class=paywall aria-hidden=true>");
    for (head, body) in [
        ("", marked),
        ("", format!("<div class=paywall hidden>{}</div>", story(0, 20))),
        (told, format!("<div class=promo style='display:none'>{}</div>", story(0, 20))),
        (told, format!("<div id=rest hidden>{}</div>", story(0, 20))),
    ] {
        let text = page(head, &format!("{first}{body}")).text;
        assert!(text.contains("Paragraph 19."), "{text}");
    }
    // A small one asks for money.
    for asks in ["class=paywall", "class=paywall hidden", "class=article-paywall id=paywall"] {
        let ask = format!("<div {asks}><p>ASK. {PROSE}</p></div>");
        let text = page("", &format!("{first}{}{ask}", story(0, 20))).text;
        assert!(!text.contains("ASK"), "{text}");
    }
}

#[test]
fn headings_stay_whatever_they_are_called() {
    for name in ["id=toc_1", "id=nav_phishing__0", "class='text-l time'", "class=article__teaser"] {
        let body = format!("<h1>{TITLE}</h1>{}<h2 {name}>WORD</h2>{}", story(0, 4), story(4, 8));
        assert!(page("", &body).text.contains("\nWORD\n"), "{name}");
    }
}

#[test]
fn what_is_said_of_a_word_does_not_break_its_line() {
    let ruby = "<p>The river <ruby><rb>川</rb><rp>(</rp><rt>kawa</rt><rp>)</rp></ruby>, or kawa, is wide.</p>";
    let text = page("", &format!("<h1>{TITLE}</h1>{ruby}{}", story(0, 8))).text;
    assert!(text.starts_with("The river 川, or kawa, is wide.\n"), "{text}");
}

#[test]
fn words_in_drawings_are_not_read() {
    let url = CanonicalUrl::parse("https://news.example.com/a").unwrap();
    let logo =
        "<h1><a href=/><svg><title>POST</title><desc>The Logo of the Post</desc></svg></a></h1>";
    let html = format!(
        "<title>{TITLE} - POST</title><meta property=og:title content='{TITLE}'><header>{logo}</header><main>{}</main>",
        story(0, 8)
    );
    let article = parse_article(html.as_bytes(), Some("utf-8"), Some(&url), NOW);
    assert_eq!(article.title, TITLE);
    assert!(!article.text.contains("Logo"), "{}", article.text);
}

#[test]
fn sentences_full_of_links_stay() {
    let kept = "<p>It <a href=/a>imposed tariffs on steel and aluminum in 2018 during his first term as president</a>, \
        prompting others to implement measures <a href=/b>including duties on pork, apples and bourbon</a>. WORD.</p>";
    let short =
        "<p>In April the couple <a href=/x>announced they are expecting a third WORD.</a></p>";
    let also =
        "<p>Read also: <a href=/x>What a third WORD costs in the valley of the bridge</a></p>";
    for (paragraph, stays) in
        [(kept, true), (short, true), (&format!("<div>{short}</div>"), true), (also, false)]
    {
        let body = format!("<h1>{TITLE}</h1>{}{paragraph}{}", story(0, 4), story(4, 8));
        assert_eq!(page("", &body).text.contains("WORD"), stays, "{paragraph}");
    }
}

#[test]
fn leads_beside_the_body_are_text() {
    const LEAD: &str = "WORD: a new bridge is agreed on, and work begins next spring.";
    let body = format!("<div class=body>{}</div>", story(0, 8));
    let about = format!("<meta name=description content='{LEAD}'>");
    for (head, lead) in [
        ("", format!("<p class=lead>{LEAD}</p>")),
        ("", format!("<p class=article-excerpt>{LEAD}</p>")),
        ("", format!("<h2 class=subtitle>{LEAD}</h2>")),
        ("", format!("<p itemprop=description>{LEAD}</p>")),
        ("", format!("<ul class=summary-list><li>{LEAD}</li><li>It costs ten million.</li></ul>")),
        (&about, format!("<div class=promo>{LEAD}</div>")),
        (&about, format!("<div><span>{LEAD}</span></div>")),
    ] {
        let text = page(head, &format!("<h1>{TITLE}</h1>{lead}{body}")).text;
        assert!(text.starts_with("WORD"), "{lead} in {text}");
    }
    // In the body, whatever it is called.
    let inside = format!(
        "<h1>{TITLE}</h1><div class=body><p class=article__teaser-text>{LEAD}</p>{}</div>",
        story(0, 8)
    );
    assert!(page("", &inside).text.starts_with("WORD"));
    // What only stands there is none, nor is what links elsewhere.
    for beside in [LEAD.to_owned(), format!("<p class=summary><a href=/x>{LEAD}</a></p>")] {
        let text = page("", &format!("<h1>{TITLE}</h1><div>{beside}</div>{body}")).text;
        assert!(!text.contains("WORD"), "{beside} in {text}");
    }
}

#[test]
fn a_body_in_two_parts_has_both() {
    let text = page(
        "",
        &format!(
            "<header><h1>{TITLE}</h1></header><div class='parts a'><p>WORD, and some more words of the whole story.</p></div>\
             <div class='parts b'>{}</div>",
            story(0, 8)
        ),
    )
    .text;
    assert!(text.starts_with("WORD"), "{text}");
}

#[test]
fn a_person_goes_before_the_house_and_the_picture() {
    let by = |head: &str, byline: &str| {
        page(head, &format!("<h1>{TITLE}</h1>{byline}{}", story(0, 8))).authors
    };
    let house =
        "<meta name=author content=LTO><meta property=og:site_name content='Legal Tribune Online'>";
    assert_eq!(by(house, "<p>von <a href=/autoren/x>Dr. Max Muster</a></p>"), ["Dr. Max Muster"]);
    assert_eq!(by(house, ""), ["LTO"]);
    assert_eq!(by("<meta name=author content='Example Daily'>", "<p>By Jane Doe"), ["Jane Doe"]);
    assert_eq!(
        by(
            "<meta name=author content='The Post, Jane Doe'><meta property=og:site_name content='The Post'>",
            ""
        ),
        ["Jane Doe"]
    );
    assert_eq!(
        by("", "<span class=article__author>Von Erika Muster, Lille</span>"),
        ["Erika Muster"]
    );
    let list = "<ul><li>4 min</li><li>Von: <span><a href=/b>Jane DOE</a>, </span><span><a href=/m>John ROE</a></span></li></ul>";
    assert_eq!(by("", list), ["Jane DOE", "John ROE"]);
    let picture = "<div itemscope itemtype='https://schema.org/ImageObject'><meta itemprop=author content='Ann Other'></div>";
    assert_eq!(by("<meta name=author content='Jane Doe'>", picture), ["Jane Doe"]);
    let caption = "<figure><img src=x><figcaption><small itemprop=author>Ann Other</small></figcaption></figure>";
    assert_eq!(by("", caption), [""; 0]);
    assert_eq!(by("", "<p class=author>Photograph by Ann Other</p>"), [""; 0]);
    let teaser = format!("<a href=/2><p>{PROSE}</p><h6>By Ann Other and John Roe</h6></a>");
    assert_eq!(by("", &teaser), [""; 0]);
    let line = "<div class=byline-social><p>The council has agreed on a new bridge, and work begins.</p></div>";
    assert_eq!(by("", line), [""; 0]);
    let linked = r#"<script type="application/ld+json">{"@type":"NewsArticle","headline":"x","author":{"name":"H&#233;ctor J. Cruz"}}</script>"#;
    assert_eq!(by(linked, ""), ["Héctor J. Cruz"]);
}

#[test]
fn times_of_posts_and_comments_are_not_those_of_the_article() {
    let day = |body: &str| {
        let article = page("", &format!("<h1>{TITLE}</h1>{body}"));
        article.published.unwrap().time.iso_seconds()[..10].to_owned()
    };
    let post = "<blockquote class=instagram-media><p>A post on <time datetime='2018-03-12T19:30:12Z'>Mar 12</time></p></blockquote>";
    let shown = "<div class=PublishDate>29 January 2019</div>";
    assert_eq!(day(&format!("{shown}{}{post}{}", story(0, 1), story(1, 8))), "2019-01-29");
    let shown = "<p>Le <time datetime='2019-06-28T13:49:45Z'>28 juin 2019</time></p>";
    let comment = "<div class=commentaires><time datetime='2019-09-22T07:30:29Z' pubdate>22 septembre</time></div>";
    assert_eq!(day(&format!("{shown}{}{comment}", story(0, 8))), "2019-06-28");
}

#[test]
fn words_in_a_small_box_around_a_picture_are_its_caption() {
    let caption = "<div class=detail-img><img src=/b.jpg><div class=detail-img__description><div>WORD: the old bridge, as seen \
        from the valley last winter.</div></div></div>";
    let text = page("", &format!("<h1>{TITLE}</h1>{}{caption}{}", story(0, 4), story(4, 8))).text;
    assert!(!text.contains("WORD"), "{text}");
    // Not the text itself, and not where there is no picture.
    for kept in [
        format!("<div class=text-image><img src=/b.jpg>{}<p>WORD</p></div>", story(0, 8)),
        format!("{}<div class=image-text><p>WORD, and some more of it.</p></div>", story(0, 8)),
    ] {
        let text = page("", &format!("<h1>{TITLE}</h1>{kept}")).text;
        assert!(text.contains("WORD"), "{kept}");
    }
}

#[test]
fn hostile_pages_end_soon() {
    let many = 40_000;
    let told = format!("<meta name=description content='{}'>", "a b ".repeat(1000));
    let wall = r#"<script type=application/ld+json>{"@type":"Article","hasPart":[{"isAccessibleForFree":false,"cssSelector":".a, .b"}]}</script>"#;
    let classes: String =
        (0..many).map(|n| format!("<p class='paywall x{n} a-paywall'>x, ")).collect();
    for html in [
        format!("{wall}{}", "<div class='a paywall' hidden>a. ".repeat(many)),
        format!("{wall}{classes}"),
        format!(
            "{told}<h1>a</h1>{}",
            "<p class=lead>a b a b a b a b a b a b a b a b a b.</p>".repeat(many)
        ),
        format!("<a href=x>{}", "<i class='date tag'>By A b, </i>".repeat(many)),
        format!("<a href=x>{}</a>", "<p>By Jane Doe and <b>more</b> of it.".repeat(many)),
        "<div class=img><img>a, ".repeat(many),
        "<div class=a><img>a, ".repeat(many),
        "<picture><img>a, ".repeat(many),
        "<ruby>a<rt>b<rp>c".repeat(many),
        format!(
            "{wall}<script type=application/ld+json>{{\"@type\":\"Article\",\"author\":\"{}\"}}</script>",
            "&amp;<b>".repeat(many)
        ),
    ] {
        let began = std::time::Instant::now();
        let article = parse_article(html.as_bytes(), Some("utf-8"), None, NOW);
        let (took, start) = (began.elapsed(), html.chars().take(60).collect::<String>());
        assert!(took < std::time::Duration::from_secs(10), "{took:?} for {start}");
        assert!(article.text.len() <= html.len() * 3, "{start}");
    }
}
