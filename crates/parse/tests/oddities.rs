//! Pages that are built, sized or labelled in odd ways, and what comes of them.
#![allow(clippy::unwrap_used)]

use argiope_model::CanonicalUrl;
use argiope_parse::{Page, parse_html, parse_html_reader, resolve};

/// `kind url [words]` of every link, resolved at `http://h.test/d/page?q`.
fn links_of(page: &Page) -> Vec<String> {
    let url = CanonicalUrl::parse("http://h.test/d/page?q").unwrap();
    let links = resolve(page, &url).links;
    links.iter().map(|l| format!("{} {} [{}]", l.kind.name(), l.url, l.words)).collect()
}

fn links(html: &str) -> Vec<String> {
    links_of(&parse_html(html.as_bytes(), Some("utf-8")))
}

#[test]
fn frames_are_links_and_so_is_what_stands_in_for_them() {
    assert_eq!(
        links(
            "<frameset cols='1,2'><frame name=menu src=menu.html><frame src='main.html?a=1'/>
             <noframes><a href=plain.html>without frames</a></noframes></frameset>
             <iframe src='//other.test/in' title=Inner>fallback <a href=not-markup></iframe>
             <iframe src='about:blank'></iframe><iframe src='javascript:void(0)'></iframe>
             <iframe srcdoc='<a href=x>'></iframe><frame><iframe src=''></iframe>"
        ),
        [
            "frame http://h.test/d/menu.html []",
            "frame http://h.test/d/main.html?a=1 []",
            "a http://h.test/d/plain.html [without frames]",
            "iframe http://other.test/in [Inner]",
            "iframe http://h.test/d/page?q []",
        ]
    );
}

#[test]
fn image_maps_are_links() {
    assert_eq!(
        links(
            "<img src=map.png usemap='#m'><map name=m><area shape=rect coords='0,0,1,1' href=/north
             alt=North><AREA HREF='/south?x=1&amp;y=2' TITLE=South><area nohref><area href='#here'>
             </map><map><p><a href=/old shape=circle>Old way</a></map>"
        ),
        [
            "area http://h.test/north [North]",
            "area http://h.test/south?x=1&y=2 [South]",
            "a http://h.test/old [Old way]",
        ]
    );
}

#[test]
fn a_refresh_is_a_link_however_it_is_written() {
    assert_eq!(
        links(
            "<meta http-equiv=refresh content='0;url=/1'><META HTTP-EQUIV='Refresh' CONTENT='5; URL=\"/2\"'>
             <meta http-equiv=refresh content='0, /3'><meta http-equiv=refresh content=30>
             <meta http-equiv=refresh content=\"1;url='/4'\"><meta http-equiv=refresh content='0;url=#x'>
             <noscript><meta http-equiv=refresh content='0;url=/5'></noscript>"
        ),
        ["1", "2", "3", "4", "5"].map(|n| format!("refresh http://h.test/{n} []"))
    );
}

#[test]
fn plug_ins_are_no_links_and_their_fallback_is_part_of_the_page() {
    let html = "<p>before</p><object data=film.swf type='application/x-shockwave-flash'>
        <param name=movie value=film.swf><embed src=film.swf><a href=/watch>Watch</a></object>
        <applet code=Main.class archive=app.jar>No <b>Java</b> <a href=/java>here</a></applet>
        <embed src='movie.mov'><noembed><a href=/none></noembed><object data='page.html'></object>
        <object data=x><video src=v.mp4><source src=v.webm><track src=t.vtt></video>
        <audio src=a.mp3></audio><p>after</p>";
    let page = parse_html(html.as_bytes(), None);
    assert_eq!(links_of(&page), ["a http://h.test/watch [Watch]", "a http://h.test/java [here]"]);
    assert_eq!(page.text, "before\nWatch No Java here\nafter");
}

#[test]
fn a_reference_may_be_nothing_but_a_query() {
    assert_eq!(
        links(
            "<a href='?page=2&sort=a'>2</a><a href='?'>empty</a><a href='&page=3'>odd</a><a href='x?a=b?c=d'>x</a>"
        ),
        [
            "a http://h.test/d/page?page=2&sort=a [2]",
            "a http://h.test/d/page? [empty]",
            "a http://h.test/d/&page=3 [odd]",
            "a http://h.test/d/x?a=b?c=d [x]",
        ]
    );
}

#[test]
fn link_elements_count_when_they_lead_to_pages() {
    assert_eq!(
        links(
            "<link rel=next href='?p=2'><link rel='PREV start' href='?p=0'><link rel=canonical href=/c>
             <link rel=alternate type='application/rss+xml' href=/feed title=News>
             <link rel='alternate' hreflang=fr href=/fr><link rel='stylesheet alternate' href=/s.css>
             <link rel=preload href=/x.js><link rel=dns-prefetch href=//dns.test><link href=/none>"
        ),
        [
            "sequence http://h.test/d/page?p=2 []",
            "sequence http://h.test/d/page?p=0 []",
            "canonical http://h.test/c []",
            "alternate http://h.test/feed [News]",
            "alternate http://h.test/fr []",
        ]
    );
}

#[test]
fn a_hundred_thousand_links_are_all_found_once() {
    let mut html = String::from("<ul>");
    for i in 0..100_000 {
        html += &format!("<li><a href='/item/{i}?ref=list'>Item {i}</a>");
    }
    let page = parse_html(html.as_bytes(), None);
    assert_eq!((page.links.len(), page.truncated), (100_000, false));
    let found = links_of(&page);
    assert_eq!(found.len(), 100_000);
    assert_eq!(found[99_999], "a http://h.test/item/99999?ref=list [Item 99999]");
    let same = parse_html("<a href=x#1>same</a>".repeat(100_000).as_bytes(), None);
    assert_eq!(links_of(&same), ["a http://h.test/d/x [same]"]);
}

#[test]
fn ten_megabytes_on_one_line_are_one_page() {
    let piece = "<p>some words of text with a <a href='/x?y=1'>link</a> and &eacute; in it</p>";
    let line = piece.repeat((10 << 20) / piece.len());
    let page = parse_html(line.as_bytes(), None);
    assert!(!page.truncated && !line.contains('\n'));
    assert_eq!(page.links.len(), (10 << 20) / piece.len());
    assert_eq!(parse_html_reader(line.as_bytes(), None).unwrap(), page);
    let word = parse_html("x".repeat(10 << 20).as_bytes(), None);
    assert_eq!((word.text.len(), word.truncated), (10 << 20, false));
    // Nothing of these ever ends, and nothing is searched for twice.
    for endless in
        ["<!--", "<a href='", "<a ", "<a x", "&#x", "<script>", "<![CDATA[", "</", "<svg>", "'"]
    {
        let page = parse_html(endless.repeat((2 << 20) / endless.len()).as_bytes(), None);
        assert!(page.links.len() <= 200_000, "{endless}");
    }
}

#[test]
fn a_wrong_charset_spoils_letters_but_neither_links_nor_markup() {
    let utf8 = "<title>Straße</title><p>größe <a href='/weg'>grün</a>";
    let latin: Vec<u8> = utf8.chars().map(|c| c as u32 as u8).collect();
    let read = |body: &[u8], header: Option<&str>| {
        let page = parse_html(body, header);
        assert_eq!(page.links.len(), 1, "{header:?}");
        assert_eq!(page.links[0].href, "/weg", "{header:?}");
        page
    };
    assert_eq!(read(&latin, Some("utf-8")).title, "Stra\u{fffd}e");
    // A browser believes the header too, and shows the same.
    assert_eq!(read(utf8.as_bytes(), Some("iso-8859-1")).title, "StraÃŸe");
    // A label that names nothing is no label: the bytes decide.
    for label in ["", "unknown-9", "utf-8x", "none", "iso-2022-kr", "\0"] {
        assert_eq!(read(utf8.as_bytes(), Some(label)).title, "Straße", "{label}");
        assert_eq!(read(&latin, Some(label)).title, "Straße", "{label}");
    }
    // UTF-16 declared in readable bytes is a mistake for UTF-8.
    let declared = format!("<meta charset=utf-16>{utf8}");
    assert_eq!(read(declared.as_bytes(), None).title, "Straße");
    let quoted =
        format!("<meta http-equiv=content-type content='text/html; charset=\"utf8\"'>{utf8}");
    assert_eq!(read(quoted.as_bytes(), None).title, "Straße");
    // A header wins over the page.
    let contrary = format!("<meta charset=iso-8859-1>{utf8}");
    assert_eq!(read(contrary.as_bytes(), Some("utf-8")).title, "Straße");
}
