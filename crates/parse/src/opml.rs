//! OPML: lists of feeds, as feed readers exchange them.
//!
//! * What this is: [`parse_opml`] reads the outlines that name a feed or a page, and [`write_opml`]
//!   writes such a list (OPML 2.0).
//! * Its place: the command line and the page take in and hand out the sites that are followed.
//! * Invariants: no bytes make it fail; a list that is broken or cut off gives what can be read;
//!   what was written is read again as it was.
//! * What is not here: outlines of other kinds; a folder is only the place of what is in it.

use crate::feed;
use crate::fold::floor_boundary;
use crate::xml::{self, Element, Piece};
use argiope_model::CanonicalUrl;

/// Entries of a list that are read.
const MAX_ENTRIES: usize = 20_000;
/// Folders inside of folders.
const MAX_DEPTH: usize = 50;
/// Bytes of a name or a URL.
const MAX_BYTES: usize = 2000;

/// A list of feeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opml {
    /// The entries, in the order of the list.
    pub entries: Vec<OpmlEntry>,
    /// How many outlines name something that is no URL.
    pub unreadable: usize,
    /// Whether it breaks off: its end is missing.
    pub cut: bool,
}

/// The address of a feed as the web knows it: `feed://example.org/rss`, `feed:https://example.org/rss`.
pub fn web_url(text: &str) -> String {
    let scheme = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("feed:"));
    match scheme.map(|_| &text[5..]) {
        Some(rest) if rest.starts_with("//") => format!("http:{rest}"),
        Some(rest) if rest.contains("://") => rest.to_owned(),
        _ => text.to_owned(),
    }
}

/// An entry of such a list: a feed, a page, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpmlEntry {
    /// What it is called; may be empty.
    pub title: String,
    /// The feed.
    pub feed: Option<CanonicalUrl>,
    /// The page it belongs to.
    pub page: Option<CanonicalUrl>,
    /// The names of the folders it stands in, the outermost first.
    pub folders: Vec<String>,
}

/// Reads a list; `None` if the bytes are none.
pub fn parse_opml(bytes: &[u8]) -> Option<Opml> {
    let text = feed::text_of(bytes);
    let mut out = Opml::default();
    let mut is_opml = false;
    // Of each open outline the name of its folder, if it is one.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut ended = false;
    for piece in xml::pieces(&text) {
        match piece {
            Piece::Open(element) => match &*xml::local_name(element.name).0 {
                "opml" => {
                    is_opml = true;
                    ended |= element.is_empty;
                }
                "outline" => {
                    is_opml = true;
                    let folder = out.take(&element, &open);
                    if !element.is_empty && open.len() < MAX_DEPTH {
                        open.push(folder);
                    }
                }
                _ => {}
            },
            Piece::Close(name) if &*xml::local_name(name).0 == "outline" => {
                open.pop();
            }
            Piece::Close(name) => ended |= &*xml::local_name(name).0 == "opml",
            _ => {}
        }
    }
    out.cut = !ended;
    is_opml.then_some(out)
}

impl Opml {
    /// Takes in an outline; the answer is the name of the folder that it is.
    fn take(&mut self, element: &Element<'_>, open: &[Option<String>]) -> Option<String> {
        // The names of attributes are written in all ways.
        let said = |names: &[&str]| {
            let values = names.iter().filter_map(|name| element.attribute(name));
            values.map(|value| line(&value)).find(|value| !value.is_empty())
        };
        let title = said(&["text", "title", "Text", "Title", "TITLE", "TEXT"]).unwrap_or_default();
        let feed = said(&["xmlUrl", "xmlurl", "xmlURL", "XMLURL", "XmlUrl", "feedUrl"]);
        let page = said(&["htmlUrl", "htmlurl", "htmlURL", "HTMLURL", "HtmlUrl", "url", "URL"]);
        if feed.is_none() && page.is_none() {
            return (!title.is_empty()).then_some(title);
        }
        let read = |text: &Option<String>| CanonicalUrl::parse(&web_url(text.as_deref()?)).ok();
        let entry = OpmlEntry {
            title,
            feed: read(&feed),
            page: read(&page),
            folders: open.iter().flatten().cloned().collect(),
        };
        match entry.feed.is_some() || entry.page.is_some() {
            true if self.entries.len() < MAX_ENTRIES => self.entries.push(entry),
            true => {}
            false => self.unreadable += 1,
        }
        None
    }
}

fn line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text[..floor_boundary(text.as_bytes(), MAX_BYTES)].to_owned()
}

/// Writes a list. Folders are not written.
pub fn write_opml(title: &str, entries: &[OpmlEntry]) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n  <head>\n    <title>{}</title>\n  </head>\n  <body>\n",
        escaped(title)
    );
    for entry in entries {
        let name = escaped(&entry.title);
        out += &format!("    <outline text=\"{name}\" title=\"{name}\"");
        if let Some(feed) = &entry.feed {
            out += &format!(" type=\"rss\" xmlUrl=\"{}\"", escaped(feed.as_str()));
        }
        if let Some(page) = &entry.page {
            out += &format!(" htmlUrl=\"{}\"", escaped(page.as_str()));
        }
        out += "/>\n";
    }
    out + "  </body>\n</opml>\n"
}

/// A text as it stands in XML; what XML cannot hold is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> Option<CanonicalUrl> {
        CanonicalUrl::parse(text).ok()
    }

    #[test]
    fn lists_of_readers_are_read_with_their_folders() {
        let text = r#"<?xml version="1.0" encoding="UTF-8"?><opml version="1.0"><head><title>Mine</title></head>
            <body><outline text="News"><outline text="A &amp; B" title="x" type="rss"
              xmlUrl="https://a.test/feed?x=1&amp;y=2" htmlUrl="https://a.test/"/>
              <outline title="Deep"><outline text="C" xmlurl="http://c.test/rss"></outline></outline></outline>
            <outline text="D" type="link" url="https://d.test/"/><outline text="E" xmlUrl="nonsense"/></body></opml>"#;
        let list = parse_opml(text.as_bytes()).unwrap();
        let [a, c, d] = &list.entries[..] else { panic!("{list:?}") };
        assert_eq!((a.title.as_str(), &a.feed), ("A & B", &url("https://a.test/feed?x=1&y=2")));
        assert_eq!((&a.page, &a.folders[..]), (&url("https://a.test/"), &["News".to_owned()][..]));
        assert_eq!((c.title.as_str(), c.folders.len()), ("C", 2));
        assert_eq!((&d.feed, &d.page), (&None, &url("https://d.test/")));
        assert_eq!(list.unreadable, 1);
    }

    #[test]
    fn broken_lists_give_what_can_be_read() {
        let cut = b"<opml><body><outline text=News><outline text='A' xmlUrl='https://a.test/f' <outline xmlUrl=\"https://b.test/f\"/></body>";
        let list = parse_opml(cut).unwrap();
        let feeds: Vec<_> = list.entries.iter().filter_map(|e| e.feed.as_ref()).collect();
        assert_eq!(feeds.len(), 2, "{list:?}");
        let latin = b"<?xml version='1.0' encoding='iso-8859-1'?><opml><outline text='gr\xf6\xdfer' xmlUrl='https://a.test/f'/>";
        assert_eq!(parse_opml(latin).unwrap().entries[0].title, "größer");
        for none in ["", "hello", "<html><body>x</body></html>", "<rss><channel></channel></rss>"] {
            assert_eq!(parse_opml(none.as_bytes()), None, "{none}");
        }
        assert_eq!(parse_opml(b"<opml version='2.0'/>"), Some(Opml::default()));
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_again(titles in proptest::collection::vec("[ -~äß体<>&\"']{1,30}", 0..6)) {
            let entries: Vec<OpmlEntry> = titles.iter().enumerate().map(|(n, title)| OpmlEntry {
                title: title.split_whitespace().collect::<Vec<_>>().join(" "),
                feed: url(&format!("https://a{n}.test/feed?a=1&b=2")),
                page: url("https://a.test/"),
                folders: Vec::new(),
            }).collect();
            let text = write_opml("Mine & <yours>", &entries);
            prop_assert_eq!(parse_opml(text.as_bytes()).unwrap().entries, entries);
        }

        #[test]
        fn no_bytes_make_it_fail(parts in proptest::collection::vec(prop_oneof![Just("<opml>"),
            Just("<outline "), Just("text='"), Just("xmlUrl=\"http://a.test/"), Just("'"), Just("\">"), Just("/>"),
            Just("</outline>"), Just("<!--"), Just("&amp;&"), Just("é")], 0..24)) {
            parse_opml(parts.concat().as_bytes());
        }
    }
}
