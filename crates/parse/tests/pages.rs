//! What is taken out of a page: one behaviour a test.

use argiope_model::LinkKind;
use argiope_parse::{Page, RawLink, meta_directives, parse_html, parse_html_reader, parse_text};

fn page(html: &str) -> Page {
    parse_html(html.as_bytes(), Some("utf-8"))
}

fn text(html: &str) -> String {
    page(html).text
}

/// `kind href [words]` of every link.
fn links(html: &str) -> Vec<String> {
    let show = |l: &RawLink| format!("{} {} [{}]", l.kind.name(), l.href, l.words);
    page(html).links.iter().map(show).collect()
}

#[test]
fn blocks_are_lines_and_white_space_folds() {
    assert_eq!(text("<p>a\n  b</p>\n<p>c<div>d</div>e"), "a b\nc\nd\ne");
    assert_eq!(text("a<br>b<br/><br>c<hr>d"), "a\nb\nc\nd");
    assert_eq!(text("<ul><li>a<li>b</ul>c"), "a\nb\nc");
    assert_eq!(text("<table><tr><td>a</td><td>b</td></tr><tr><th>c<th>d</table>"), "a b\nc d");
    assert_eq!(text("in<b>lin</b>e <i>x</i>"), "inline x");
    assert_eq!(text("<pre>a\n  b</pre>"), "a b");
    assert_eq!(text("<select><option>one<option>two</select>"), "one\ntwo");
}

#[test]
fn what_is_not_shown_is_not_text() {
    let hidden = "<head><title>T</title><style>p{}</style></head><script>var a='<p>x</p>'</script>
        <template><p>t</p></template><noembed>n</noembed><iframe>f</iframe><!-- c -->";
    assert_eq!(text(&format!("{hidden}shown")), "shown");
    assert_eq!(text("<textarea>a <b> c</textarea>d"), "a <b> c\nd");
    assert_eq!(text("<xmp><a href=x></xmp>d"), "<a href=x>\nd");
    assert_eq!(text("a<plaintext>b</plaintext>"), "a\nb</plaintext>");
    assert_eq!(text("a\0b"), "ab");
}

#[test]
fn entities_are_characters() {
    assert_eq!(
        text("&lt;p&gt; &amp;amp; &eacute;&#x4eac;&#0;&notit; &bogus;"),
        "<p> &amp; é京\u{fffd}¬it; &bogus;"
    );
    assert_eq!(links("<a href='?a=1&amp;b=2&copy=3'>x</a>"), ["a ?a=1&b=2&copy=3 [x]"]);
}

#[test]
fn the_title_is_the_first_of_the_document() {
    assert_eq!(page("<title> a\n &amp; <b> </title><title>c</title>x").title, "a & <b>");
    assert_eq!(page("<title></title><title>c</title>").title, "c");
    let svg = "<svg><title>icon</title></svg><title>page</title>";
    assert_eq!((page(svg).title.as_str(), text(svg).as_str()), ("page", ""));
    assert_eq!(text("<svg><title/><path/></svg>after"), "after");
    assert_eq!(text("<svg><style/></svg>after<svg><title>open</svg>end"), "after end");
}

#[test]
fn headings_are_collected_and_stay_in_the_text() {
    let p = page("<h1>A <a href=x>b</a></h1>c<h3>D<h2>E</h2><h6></h6>");
    let headings: Vec<_> = p.headings.iter().map(|h| (h.level, h.text.as_str())).collect();
    assert_eq!(headings, [(1, "A b"), (3, "D"), (2, "E")]);
    assert_eq!(p.text, "A b\nc\nD\nE");
}

#[test]
fn every_kind_of_link_is_found() {
    assert_eq!(
        links(
            "<link rel='Canonical' href=c><link rel='alternate stylesheet' href=s>
             <link rel=alternate hreflang=de href=de title=Deutsch><link rel=next href=n>
             <link rel=prev href=p><link rel=icon href=i>
             <meta http-equiv=Refresh content='5; url=r'>
             <frameset><frame src=f1 title='menu'></frameset>
             <iframe src=if></iframe><map><area href=ar alt='Area'><area href=a2 title=T></map>
             <a name=x>no</a><a href=' a '> an  <b>anchor</b> </a><svg><a xlink:href=sv>S</a></svg>"
        ),
        [
            "canonical c []", "alternate de [Deutsch]", "sequence n []", "sequence p []",
            "refresh r []", "frame f1 [menu]", "iframe if []", "area ar [Area]", "area a2 [T]",
            "a a [an anchor]", "a sv [S]"
        ]
    );
}

#[test]
fn links_hide_in_noscript_and_noframes_but_not_in_scripts_and_comments() {
    assert_eq!(
        links(
            "<noscript><a href=1>x</a></noscript><noframes><a href=2>y</a></noframes>
             <!-- <a href=3> --><script>'<a href=4>'</script><style><a href=5></style>
             <textarea><a href=6></textarea><title><a href=7></title><script><!--<script>
             </script><a href=8></script>"
        ),
        ["a 1 [x]", "a 2 [y]"]
    );
}

#[test]
fn words_are_the_text_then_the_picture_then_the_title() {
    assert_eq!(links("<a href=x title=t><img alt='a  b'></a>"), ["a x [a b]"]);
    assert_eq!(links("<a href=x title=t>&nbsp;<img alt=a>&nbsp;</a>"), ["a x [a]"]);
    assert_eq!(links("<a href=x title=t><img></a>"), ["a x [t]"]);
    assert_eq!(links("<a href=x title=t>w<img alt=a></a>"), ["a x [w]"]);
    assert_eq!(links("<a href=x><div>a</div><p>b</a>c"), ["a x [a b]"]);
    let long = page(&format!("<a href=x>{}</a>", "é".repeat(400)));
    assert_eq!(long.links[0].words, "é".repeat(256));
}

#[test]
fn an_anchor_ends_where_the_next_begins() {
    assert_eq!(links("<a href=1>a<a href=2>b</a>c</a>d"), ["a 1 [a]", "a 2 [b]"]);
    assert_eq!(links("<a href=1>a<a name=x>b</a>"), ["a 1 [a]"]);
    assert_eq!(links("<a href=1>open"), ["a 1 [open]"]);
}

#[test]
fn the_first_of_equal_attributes_counts() {
    assert_eq!(links("<a HREF=1 href=2 hREf>x</a>"), ["a 1 [x]"]);
    assert_eq!(links("<a href href=2>x</a>"), ["a  [x]"]);
    assert_eq!(links("<a hrefx=1 xhref=2>x</a>"), Vec::<String>::new());
    assert_eq!(links("<a data-href=1 href='2'id=3>x</a>"), ["a 2 [x]"]);
}

#[test]
fn links_into_the_page_itself_are_left_out() {
    assert_eq!(links("<a href='#top'>x</a><a href=' #'>y</a><a href=''>z</a>"), ["a  [z]"]);
}

#[test]
fn nofollow_is_a_word_of_rel() {
    let follow = |html| page(html).links[0].nofollow;
    assert!(follow("<a rel='external NOFOLLOW' href=x>"));
    assert!(!follow("<a rel='nofollower ugc' href=x>"));
}

#[test]
fn the_head_tells_about_the_page() {
    let p = page(
        "<html lang='pt-BR'><base target=x><base href='/b'><base href='/c'>
         <meta name=ROBOTS content='noindex, nofollow'><meta name=argiope content=noarchive>
         <meta name=googlebot content='max-snippet:0'><meta name=robots content='index, follow'>
         <meta name=keywords content='robots, spiders'>
         <meta property='og:description' content='shared'><meta name=Description content=' a  b '>",
    );
    assert_eq!(p.language.as_deref(), Some("pt"));
    assert_eq!(p.base.as_deref(), Some("/b"));
    let robots: Vec<_> = p.robots.iter().map(|t| (t.name.as_str(), t.content.as_str())).collect();
    let want =
        [("ROBOTS", "noindex, nofollow"), ("argiope", "noarchive"), ("googlebot", "max-snippet:0")];
    assert_eq!(robots, want, "what forbids something, whomever it is meant for");
    let directives = meta_directives(&p.robots, "argiope");
    assert!(directives.noindex && directives.nofollow && directives.noarchive);
    assert!(!directives.nosnippet);
    assert_eq!(p.description, "a b");
    assert_eq!(page("<meta property='og:description' content='shared'>").description, "shared");
    let german = "<p>Das ist ein ganz gewöhnlicher deutscher Satz, der nichts weiter sagen will.";
    assert_eq!(page(german).language.as_deref(), Some("de"));
    assert_eq!(page(&format!("<html lang=''>{german}")).language.as_deref(), Some("de"));
}

#[test]
fn encodings_are_converted() {
    let p = parse_html(b"<meta charset=shift_jis><a href='/\x93\xfa'>\x93\xfa\x96{</a>", None);
    assert_eq!((p.charset, p.text.as_str()), ("Shift_JIS", "日本"));
    assert_eq!(p.links[0].href, "/日");
    let utf16: Vec<u8> = "\u{feff}<p>hé".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(parse_html(&utf16, Some("utf-8")).text, "hé");
    let broken = parse_html(b"<p>a\xffb<a href=x>\xc3</a>", Some("utf-8"));
    assert_eq!(broken.text, "a\u{fffd}b\u{fffd}");
}

#[test]
fn plain_text_stays_as_it_is() {
    let p = parse_text(b"a  <b>\r\nc\rd\0", None);
    assert_eq!((p.text.as_str(), p.title.as_str(), p.links.len()), ("a  <b>\nc\nd", "", 0));
    assert_eq!(parse_text(b"caf\xe9", Some("latin1")).text, "café");
}

#[test]
fn an_endless_page_is_cut_and_says_so() {
    let piece = "<p>words and <a href=/x>links</a></p>".repeat(1000);
    let endless = std::io::Read::take(std::io::repeat(b'x'), 0);
    let mut body: Box<dyn std::io::Read> = Box::new(endless);
    let bytes = piece.into_bytes();
    for _ in 0..300 {
        body = Box::new(std::io::Read::chain(body, std::io::Cursor::new(bytes.clone())));
    }
    let p = parse_html_reader(body, None).unwrap();
    assert!(p.truncated);
    assert_eq!(p.links.len(), 200_000);
    let long_text = std::io::Read::take(std::io::repeat(b'x'), 40 << 20);
    let p = parse_html_reader(long_text, None).unwrap();
    assert!(p.truncated);
    assert_eq!(p.text.len(), 16 << 20);
    let heavy = format!("<a href={}>x</a>", "y".repeat(30_000)).repeat(3000);
    let p = parse_html(heavy.as_bytes(), None);
    assert!(p.truncated && p.links.len() > 2000, "{}", p.links.len());
    let long_value = std::io::Read::chain(
        &b"<a href='"[..],
        std::io::Read::take(std::io::repeat(b'x'), 1 << 20),
    );
    let p = parse_html_reader(std::io::Read::chain(long_value, &b"'>y"[..]), None).unwrap();
    assert!(p.links[0].href.len() < 40_000);
    assert_eq!(p.links[0].kind, LinkKind::Anchor);
}

#[test]
fn lines_of_menus_headers_footers_and_sidebars_are_told_from_the_page() {
    let of = |html: &str| {
        let page = page(html);
        let lines = page.text.lines().enumerate();
        let around =
            lines.filter(|(n, _)| page.around.iter().any(|run| run.contains(&(*n as u32))));
        around.map(|(_, line)| line.to_owned()).collect::<Vec<_>>().join("|")
    };
    assert_eq!(
        of("<nav><ul><li>Home<li>News</ul></nav><p>Text<footer>End</footer>"),
        "Home|News|End"
    );
    assert_eq!(
        of("<header>Top<nav>Menu</nav>More</header><main>Text</main><aside>A</aside>"),
        "Top|Menu|More|A"
    );
    assert_eq!(of("<p>Text</p><nav>never closed <p>and all the rest"), "");
    assert_eq!(of("<p>a</footer></nav><p>b"), "");
    assert_eq!(
        of(
            "<ul><li><a href=/1>One of many</a><li><a href=/2>Two</a> x</ul><p>A <a href=/3>b</a> c d e f"
        ),
        "One of many|Two x"
    );
    assert_eq!(of("<article><p>Text</article>"), "");
}
