//! Feeds: what a site says is new.
//!
//! * What this is: RSS 0.9 to 2.0, Atom 0.3 and 1.0 and JSON Feed, read into one form: the feed
//!   with its title and its entries, all texts without markup, all links absolute.
//! * Its place: `news` and `crawl` call [`parse_feed`] with a body and its `Content-Type`. XML goes
//!   through `feed::tree` and `feed::read`, JSON through `feed::json`.
//! * Invariants: no bytes make it fail; time is linear in them; a feed that is broken, cut off or
//!   mislabelled gives what can be read, and `ill_formed` says so. What entries repeat (bases, the author of
//!   all) takes no more than [`MAX_BYTES`] in all: the entries behind are left out.
//! * What is not here: gzip (the caller unpacks), HTML to be shown, and podcasts beyond their
//!   enclosures.

mod json;
mod read;
mod text;
mod tree;

use crate::charset;
use crate::date;
use crate::mime::MediaType;
use crate::prescan;
use argiope_model::{CanonicalUrl, Time};
use std::borrow::Cow;

/// Bytes of all entries together.
const MAX_BYTES: usize = 64 << 20;
/// Authors, subjects and files of an entry.
const MAX_NAMES: usize = 50;

/// The family a feed belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedKind {
    /// RSS 0.91 to 2.0.
    Rss,
    /// RSS 0.90 and 1.0.
    Rdf,
    /// Atom 0.3 and 1.0, a single entry included.
    Atom,
    /// JSON Feed.
    Json,
}

/// A feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feed {
    /// The family.
    pub kind: FeedKind,
    /// Its title, in one line.
    pub title: String,
    /// The page it belongs to.
    pub link: Option<CanonicalUrl>,
    /// Its language, as written (`en-us`).
    pub language: Option<String>,
    /// What it says about itself, in one line.
    pub description: String,
    /// When it changed last.
    pub updated: Option<FeedTime>,
    /// Its picture or icon.
    pub picture: Option<CanonicalUrl>,
    /// How many minutes it may be kept, as it says.
    pub minutes: Option<u32>,
    /// The name of the character encoding it was read in.
    pub charset: &'static str,
    /// Whether it is against the rules of its format, as far as that was noticed.
    pub ill_formed: bool,
    /// The entries, in the order of the feed.
    pub entries: Vec<FeedEntry>,
}

/// An entry of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedEntry {
    /// What it is known by: its own identity, else its link.
    pub id: String,
    /// Its title, in one line.
    pub title: String,
    /// Its page.
    pub link: Option<CanonicalUrl>,
    /// Its summary: a line per block.
    pub summary: String,
    /// Its content, if the feed has more than a summary: a line per block.
    pub content: String,
    /// Who wrote it: names, with commas between.
    pub author: String,
    /// When it appeared.
    pub published: Option<FeedTime>,
    /// When it changed last, if that is said apart.
    pub updated: Option<FeedTime>,
    /// Its subjects.
    pub categories: Vec<String>,
    /// Its picture.
    pub picture: Option<CanonicalUrl>,
    /// Files that belong to it.
    pub enclosures: Vec<Enclosure>,
    /// The page of its comments.
    pub comments: Option<CanonicalUrl>,
}

/// A file that belongs to an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enclosure {
    /// Where it is.
    pub url: CanonicalUrl,
    /// Its media type, as the feed says; empty if it does not.
    pub kind: String,
    /// Its size, as the feed says.
    pub bytes: Option<u64>,
}

/// A point in time as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedTime {
    /// The point; read as UTC where no zone is given.
    pub time: Time,
    /// Minutes east of Greenwich, if the zone is given.
    pub zone: Option<i16>,
}

impl Enclosure {
    fn is_picture(&self) -> bool {
        let is_image = |e: String| matches!(&*e, "jpg" | "jpeg" | "png" | "gif" | "webp" | "avif");
        self.kind.starts_with("image/")
            || self.kind.is_empty() && self.url.extension().is_some_and(is_image)
    }
}

impl FeedEntry {
    /// How much it holds.
    fn bytes(&self) -> usize {
        let url = |url: &Option<CanonicalUrl>| url.as_ref().map_or(0, |url| url.as_str().len());
        let texts = [&self.id, &self.title, &self.summary, &self.content, &self.author];
        size_of::<FeedEntry>()
            + texts.into_iter().chain(&self.categories).map(String::len).sum::<usize>()
            + [&self.link, &self.picture, &self.comments].into_iter().map(url).sum::<usize>()
            + self.enclosures.iter().map(|e| e.url.as_str().len() + e.kind.len()).sum::<usize>()
    }
}

/// The entries that there is room for.
fn bounded(entries: impl Iterator<Item = FeedEntry>) -> Vec<FeedEntry> {
    let mut room = MAX_BYTES;
    let fits = |entry: &FeedEntry| {
        let left = room.checked_sub(entry.bytes());
        room = left.unwrap_or(0);
        left.is_some()
    };
    entries.take_while(fits).collect()
}

impl Feed {
    fn empty(kind: FeedKind) -> Self {
        Feed {
            kind,
            title: String::new(),
            link: None,
            language: None,
            description: String::new(),
            updated: None,
            picture: None,
            minutes: None,
            charset: "UTF-8",
            ill_formed: false,
            entries: Vec::new(),
        }
    }
}

/// Reads a feed; `None` if the bytes are none. `content_type` is the header it came with, and
/// `url` its address, which relative links begin from.
pub fn parse_feed(
    bytes: &[u8],
    content_type: Option<&str>,
    url: Option<&CanonicalUrl>,
) -> Option<Feed> {
    let media = content_type.and_then(MediaType::parse_header);
    let Decoded { text, charset, wrong } = decoded(bytes, media.as_ref());
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let mut feed =
        if start.starts_with('{') { json::read(start, url) } else { read::read(&text, url) }?;
    let is_plain = media.is_some_and(|m| m.essence == "text/plain");
    feed.charset = charset;
    feed.ill_formed |= wrong || is_plain;
    Some(feed)
}

struct Decoded<'b> {
    text: Cow<'b, str>,
    charset: &'static str,
    /// Whether the bytes are not what they are said to be.
    wrong: bool,
}

/// The text of a document of XML that came without a header.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    decoded(bytes, None).text
}

/// The text of a feed: by byte order mark, by what the bytes can only be, by header, by
/// declaration, else by a look at them.
fn decoded<'b>(bytes: &'b [u8], media: Option<&MediaType>) -> Decoded<'b> {
    if let Some((text, charset)) = wide(bytes) {
        return Decoded { text: Cow::Owned(text), charset, wrong: false };
    }
    let blank = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let header = media.and_then(|m| m.charset.as_deref()).map(|c| c.trim_matches(['\'', '"']));
    let said = header.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes()));
    let start = &bytes[blank..];
    let named = prescan::in_xml_declaration(start);
    let is_unknown = named.is_none()
        && start.starts_with(b"<?xml")
        && memchr::memmem::find(&start[..start.len().min(200)], b"encoding=").is_some();
    let declared = said.or(named).or(match bytes {
        [b'<', 0, ..] => Some(encoding_rs::UTF_16LE),
        [0, b'<', ..] => Some(encoding_rs::UTF_16BE),
        _ => None,
    });
    // Text of another encoding is hardly ever UTF-8 by accident, except for those that use
    // nothing but ASCII bytes.
    let is_utf8 = !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok();
    let mut choice = match declared {
        Some(encoding) if !is_utf8 || !encoding.is_ascii_compatible() => Some(encoding),
        None if bytes.is_ascii() => Some(encoding_rs::UTF_8),
        _ => None,
    };
    // What says UTF-8 and is not is something else.
    let is_false = choice == Some(encoding_rs::UTF_8) && std::str::from_utf8(bytes).is_err();
    if is_false && !is_mostly_utf8(bytes) {
        choice = None;
    }
    let (encoding, mark) = charset::decide(bytes, choice.map(|e| e.name()), false);
    let text = charset::decode(&bytes[mark..], encoding);
    let wrong = is_false || is_unknown || declared.is_none() && encoding != encoding_rs::UTF_8;
    Decoded { text, charset: encoding.name(), wrong }
}

/// Whether only few sequences are damaged, as where a text was cut at a fixed length.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good > 4 * bad
}

/// UTF-32, by its byte order mark.
fn wide(bytes: &[u8]) -> Option<(String, &'static str)> {
    let (read, charset): (fn([u8; 4]) -> u32, _) = match bytes {
        [0, 0, 0xFE, 0xFF, ..] | [0, 0, 0, b'<', ..] => (u32::from_be_bytes, "UTF-32BE"),
        [0xFF, 0xFE, 0, 0, ..] | [b'<', 0, 0, 0, ..] => (u32::from_le_bytes, "UTF-32LE"),
        _ => return None,
    };
    let codes = bytes.chunks_exact(4).map(|c| read([c[0], c[1], c[2], c[3]]));
    let letters = codes.map(|c| char::from_u32(c).unwrap_or(char::REPLACEMENT_CHARACTER));
    Some((letters.filter(|c| *c != '\u{feff}').collect(), charset))
}

/// A reference as a URL; one that is not absolute needs a base.
fn absolute(reference: &str, base: Option<&CanonicalUrl>) -> Option<CanonicalUrl> {
    let reference = reference.trim();
    if reference.is_empty() {
        return None;
    }
    match base {
        Some(base) => base.join(reference).ok(),
        None => CanonicalUrl::parse(reference).ok(),
    }
}

/// A date as feeds and front pages write it, with or without a time of day.
pub fn read_date(text: &str) -> Option<FeedTime> {
    date::read_with_zone(text).map(|(time, zone)| FeedTime { time, zone })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RSS: &str = "<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY who 'us'>]><rss version='2.0' \
        xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:m='http://search.yahoo.com/mrss/' \
        xmlns:content='http://purl.org/rss/1.0/modules/content/'><channel><title>News of &who;</title>\
        <link>https://n.test/</link><language>en-gb</language><ttl>15</ttl><image><title>no</title>\
        <url>/logo.png</url></image><item><title>A &lt;b&gt;bold&lt;/b&gt; step &amp;amp; more</title>\
        <link> /2026/a?x=1&y=2 </link><guid isPermaLink='false'>7</guid><dc:creator>Ann</dc:creator>\
        <pubDate>Mon, 16 Nov 2026 08:00:00 +0100</pubDate><category>World</category>\
        <description><![CDATA[<p>One.</p><p>Two.</p>]]></description>\
        <content:encoded>&lt;p&gt;All of it&lt;/p&gt;</content:encoded>\
        <m:group><m:content url='/p.jpg' medium='image'/></m:group>\
        <enclosure url='/s.mp3' type='audio/mpeg' length='9'/><comments>/a#c</comments></item>";

    fn read(text: &str) -> Feed {
        let url = CanonicalUrl::parse("https://n.test/feed").unwrap();
        parse_feed(text.as_bytes(), None, Some(&url)).unwrap()
    }

    #[test]
    fn a_feed_that_breaks_off_gives_what_it_has() {
        let feed = read(RSS);
        assert!(feed.ill_formed);
        assert_eq!((feed.title.as_str(), feed.minutes), ("News of us", Some(15)));
        assert_eq!(feed.picture.unwrap().as_str(), "https://n.test/logo.png");
        assert_eq!(feed.language.as_deref(), Some("en-gb"));
        let entry = &feed.entries[0];
        assert_eq!(entry.title, "A bold step & more");
        assert_eq!(entry.link.as_ref().unwrap().as_str(), "https://n.test/2026/a?x=1&y=2");
        assert_eq!((entry.id.as_str(), entry.author.as_str()), ("7", "Ann"));
        assert_eq!((entry.summary.as_str(), entry.content.as_str()), ("One.\nTwo.", "All of it"));
        assert_eq!(entry.published.unwrap().time.iso_seconds(), "2026-11-16T07:00:00Z");
        assert_eq!(entry.published.unwrap().zone, Some(60));
        assert_eq!(entry.categories, ["World"]);
        assert_eq!(entry.picture.as_ref().unwrap().as_str(), "https://n.test/p.jpg");
        assert_eq!(entry.enclosures[0].bytes, Some(9));
        assert_eq!(entry.comments.as_ref().unwrap().as_str(), "https://n.test/a");
    }

    #[test]
    fn fields_and_entries_that_are_not_closed_end_where_the_next_begin() {
        let feed = read("<rss><channel><title>T<item><title>a<link>/a<item><title>b<link>/b");
        let links: Vec<_> = feed.entries.iter().map(|e| e.link.as_ref().unwrap().path()).collect();
        assert_eq!((feed.title.as_str(), links), ("T", vec!["/a", "/b"]));
        assert_eq!(feed.entries[1].title, "b");
    }

    #[test]
    fn atom_is_read_with_its_bases_and_its_source_is_not_taken_for_itself() {
        let feed = read(
            "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://b.test/x/'><title>F</title>
             <author><name>Bob</name></author><entry xml:base='y/'><source><title>Other</title>
             <link href='http://o.test/'/></source><title type='xhtml'><div
             xmlns='http://www.w3.org/1999/xhtml'>a <em>b</em></div></title>
             <link rel='self' href='no'/><link href='z'/><id>urn:1</id>
             <updated>2026-11-16T08:00:00Z</updated><content type='html'>&lt;img src='q.png'&gt;t</content>
             </entry></feed>",
        );
        let entry = &feed.entries[0];
        assert_eq!((entry.title.as_str(), entry.author.as_str()), ("a b", "Bob"));
        assert_eq!(entry.link.as_ref().unwrap().as_str(), "http://b.test/x/y/z");
        assert_eq!(entry.picture.as_ref().unwrap().as_str(), "http://b.test/x/y/q.png");
        assert!(!feed.ill_formed);
    }

    #[test]
    fn wrong_encodings_are_survived() {
        let title = |bytes: &[u8], header| parse_feed(bytes, header, None).unwrap().title;
        let utf8 = "<?xml version='1.0' encoding='iso-8859-1'?><rss><channel><title>größer</title>";
        assert_eq!(title(utf8.as_bytes(), Some("text/xml; charset=iso-8859-1")), "größer");
        let latin = b"<?xml version='1.0' encoding='utf-8'?><rss><channel><title>gr\xf6\xdfer als alle</title>";
        assert_eq!(title(latin, None), "größer als alle");
        let wide: Vec<u8> = "\u{feff}<rss><channel><title>日本</title>"
            .chars()
            .flat_map(|c| u32::from(c).to_be_bytes())
            .collect();
        assert_eq!(title(&wide, None), "日本");
        let cut = "<rss><channel><title>日本語のニュース".as_bytes();
        assert!(title(&cut[..cut.len() - 1], None).starts_with("日本語のニュー"));
    }

    #[test]
    fn many_entries_take_no_longer_than_their_number() {
        // Quadratic work would be minutes here.
        let atom = "<entry xmlns:a='b' xml:base='c/'><title>t".repeat(30_000);
        assert_eq!(read(&format!("<feed>{atom}")).entries.len(), 30_000);
        let rss = "<item><title>a<link>/b".repeat(30_000);
        assert_eq!(read(&format!("<rss><channel>{rss}")).entries.len(), 30_000);
        let words = "xmlns ".repeat(100_000);
        assert_eq!(read(&format!("<feed><entry {words} a='b'/></feed>")).entries.len(), 1);
    }

    #[test]
    fn what_all_entries_repeat_is_held_within_bounds() {
        let held = |feed: &Feed| feed.entries.iter().map(FeedEntry::bytes).sum::<usize>();
        let author = "Ann and all of hers ".repeat(25_000);
        let entries = "<entry><title>t</title></entry>".repeat(6_000);
        let feed = read(&format!("<feed><author><name>{author}</name></author>{entries}"));
        assert!(feed.entries.len() > 100 && held(&feed) <= MAX_BYTES, "{}", feed.entries.len());
        let base = format!("http://b.test/{}/", "x".repeat(7_000));
        let entries = "<entry><link href='z'/></entry>".repeat(20_000);
        let feed = read(&format!("<feed xml:base='{base}'>{entries}"));
        assert!(feed.entries.len() > 1_000 && held(&feed) <= MAX_BYTES, "{}", feed.entries.len());
        let names: String = (0..100_000).map(|n| format!("<category>c{n}</category>")).collect();
        let feed = read(&format!("<rss><channel><item><title>t</title>{names}"));
        assert_eq!(feed.entries[0].categories.len(), MAX_NAMES);
    }

    #[test]
    fn what_is_no_feed_is_none() {
        for text in
            ["", "hello", "<html><body>x</body></html>", "<rdf:RDF></rdf:RDF>", "{\"a\": 1}"]
        {
            assert_eq!(parse_feed(text.as_bytes(), None, None), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_fail(parts in proptest::collection::vec(
            prop_oneof![Just("<rss>"), Just("<item>"), Just("</item>"), Just("<title>"), Just("</title>"),
                Just("<link href='"), Just("'/>"), Just("<![CDATA["), Just("]]>"), Just("&amp;&eacute;&"),
                Just("<entry xml:base='"), Just("<a:content xmlns:a='"), Just("é"), Just("{\"items\":["),
                Just("<feed"), Just(">"), Just("<!--"), Just("\\ud800"), Just("2026-11-16")], 0..24)) {
            parse_feed(parts.concat().as_bytes(), None, None);
        }
    }
}
