//! Sitemaps: the pages a site names itself.
//!
//! * What this is: every form of sitemap that is in use, read into a list of URLs: XML lists and
//!   indexes of lists, text with a URL per line, and RSS and Atom feeds.
//! * Its place: `crawl` calls it for the sitemaps it finds; calls `xml` for tags and `date` for
//!   the times of change.
//! * How XML is read: an entry (`url`, `sitemap`, `item`, `entry`) is open from its start tag to
//!   its end or to the next entry; a field (`loc`, `lastmod`, `link` …) has the text up to the
//!   next tag, whichever. So nothing needs to be closed, and broken files give what they have.
//! * Invariants: no bytes make it fail; time is linear in them; at most 50,000 URLs, all
//!   of them `http` or `https`, in the order of the file.
//! * What is not here: gzip (the caller unpacks), which URLs may stand in which sitemap (any:
//!   the scope of the job decides), and the hints about priority and frequency, which lie.

use crate::charset;
use crate::date;
use crate::feed::{FeedTime, read_date};
use crate::fold::one_line;
use crate::prescan;
use crate::xml::{self, Element, Piece};
use argiope_model::{CanonicalUrl, Joiner, MAX_URL_BYTES, Time};
use std::borrow::Cow;

/// The URLs of one file that are taken: as many as the protocol allows.
const MAX_URLS: usize = 50_000;
/// How much of a file is looked at to tell whether it is a sitemap.
const HEAD_BYTES: usize = 16 << 10;
/// The lines of a text that are looked at for the same purpose.
const HEAD_LINES: usize = 10;
/// Bytes of a field that are kept; a longer one is no URL.
const MAX_FIELD_BYTES: usize = 4 * MAX_URL_BYTES;

/// The vocabulary of the old RSS, up to its version.
const RSS: &str = "http://purl.org/rss/";

/// What a sitemap lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitemapKind {
    /// More sitemaps.
    Index,
    /// Pages.
    Urls,
}

/// A sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sitemap {
    /// What its URLs are.
    pub kind: SitemapKind,
    /// The URLs in the order of the file, repetitions included.
    pub urls: Vec<SitemapUrl>,
    /// Whether there are more than 50,000, which are left out.
    pub truncated: bool,
}

/// A URL of a sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitemapUrl {
    /// The page, or the sitemap.
    pub url: CanonicalUrl,
    /// When it changed last, as the sitemap says.
    pub last_modified: Option<Time>,
    /// What a news sitemap says of it.
    pub news: Option<Box<SitemapNews>>,
}

/// What a news sitemap says of an article.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SitemapNews {
    /// Its title, in one line.
    pub title: String,
    /// When it appeared.
    pub published: Option<FeedTime>,
    /// Its language (`en`), as written; empty if that is not said.
    pub language: String,
    /// The name of the paper; empty if that is not said.
    pub publication: String,
}

/// Reads a sitemap at `base`, free of content codings and of gzip.
pub fn parse_sitemap(bytes: &[u8], base: &CanonicalUrl) -> Sitemap {
    let text = decoded(bytes);
    let mut reading = Reading::new(base);
    if is_markup(&text) {
        xml::pieces(&text).all(|piece| reading.piece(piece));
        reading.close_entry();
    } else {
        text.lines().all(|line| reading.line(line));
    }
    reading.sitemap
}

/// Whether these bytes look like a sitemap: an XML list or index, a feed, or a text of nothing
/// but URLs.
pub fn is_sitemap(bytes: &[u8]) -> bool {
    let is_whole = bytes.len() <= HEAD_BYTES;
    let text = decoded(&bytes[..bytes.len().min(HEAD_BYTES)]);
    if is_markup(&text) {
        let first = xml::pieces(&text).find_map(|piece| match piece {
            Piece::Open(element) => Some(xml::local_name(element.name).0),
            _ => None,
        });
        // RDF says many things; it is a feed only with the words of RSS.
        return first.is_some_and(|root| {
            Root::of(&root).is_some() && (root != "rdf" || text.contains(RSS))
        });
    }
    let mut lines: Vec<&str> = text.lines().collect();
    if !is_whole && lines.len() > 1 {
        lines.pop();
    }
    let mut lines = lines.iter().filter_map(|line| listed(line)).take(HEAD_LINES).peekable();
    lines.peek().is_some()
        && lines.all(|line| is_absolute(line) && !line.contains(char::is_whitespace))
}

/// The text of a file: by byte order mark, by declaration, else by a look at the bytes.
fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let blank = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let declared = prescan::in_xml_declaration(&bytes[blank..]).or(match bytes {
        [b'<', 0, ..] => Some(encoding_rs::UTF_16LE),
        [0, b'<', ..] => Some(encoding_rs::UTF_16BE),
        _ => None,
    });
    let (encoding, mark) = charset::decide(bytes, declared.map(|e| e.name()), false);
    charset::decode(&bytes[mark..], encoding)
}

/// Whether to look for tags at all. Messages of the server's own may stand before the first.
fn is_markup(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let mut head = xml::pieces(text).take(16);
    text.starts_with('<')
        || head.any(|piece| match piece {
            Piece::Open(element) => Root::of(&xml::local_name(element.name).0).is_some(),
            _ => false,
        })
}

/// The line of a text list without what may surround it; `None` if there is nothing.
fn listed(line: &str) -> Option<&str> {
    let line = bare(line);
    (!line.is_empty() && !line.starts_with('#')).then_some(line)
}

/// Without white space, byte order marks and quotes around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '"' | '\0'))
}

fn is_absolute(text: &str) -> bool {
    let starts = |prefix: &str| {
        text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    starts("http://") || starts("https://") || starts("www.")
}

/// The outermost element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Urls,
    Index,
    Feed,
}

impl Root {
    fn of(name: &str) -> Option<Self> {
        match name {
            "urlset" => Some(Root::Urls),
            "sitemapindex" => Some(Root::Index),
            "rss" | "feed" | "rdf" => Some(Root::Feed),
            _ => None,
        }
    }
}

/// The text that is being gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// Where the entry is.
    Place,
    /// Where it is, if nothing better is said.
    Identity,
    /// When it changed.
    Changed,
    /// When it appeared, which counts if nothing says when it changed.
    Appeared,
    /// Text that stands in the entry itself.
    Bare,
    /// Of an article in a news sitemap: its title, its day, its language, its paper.
    NewsTitle,
    NewsDate,
    NewsLanguage,
    NewsName,
}

/// An entry that is open.
#[derive(Debug, Default)]
struct Entry<'t> {
    /// Fields have the prefix of their entry; others belong to extensions.
    prefix: &'t str,
    place: Option<CanonicalUrl>,
    identity: Option<CanonicalUrl>,
    changed: Option<Time>,
    appeared: Option<Time>,
    news: Option<Box<SitemapNews>>,
}

/// A sitemap that is being read.
#[derive(Debug)]
struct Reading<'t> {
    sitemap: Sitemap,
    joiner: Joiner,
    base: CanonicalUrl,
    root: Option<Root>,
    entry: Option<Entry<'t>>,
    field: Option<Field>,
    text: String,
    /// The element of an extension (a picture, a film) whose places are not pages.
    extension: Option<&'t str>,
}

impl<'t> Reading<'t> {
    fn new(base: &CanonicalUrl) -> Self {
        Reading {
            sitemap: Sitemap { kind: SitemapKind::Urls, urls: Vec::new(), truncated: false },
            joiner: base.joiner(),
            base: base.clone(),
            root: None,
            entry: None,
            field: None,
            text: String::new(),
            extension: None,
        }
    }

    /// Takes the next piece of XML; `false` when there is no need for more.
    fn piece(&mut self, piece: Piece<'t>) -> bool {
        match piece {
            Piece::Text(text) if self.field.is_some() => self.gather(&xml::unescaped(text)),
            Piece::Verbatim(text) if self.field.is_some() => self.gather(text),
            Piece::Text(_) | Piece::Verbatim(_) => {}
            Piece::Open(element) => {
                self.close_field();
                self.open(element);
            }
            Piece::Close(name) => {
                self.close_field();
                self.close(name);
            }
        }
        !self.sitemap.truncated
    }

    fn gather(&mut self, text: &str) {
        if self.text.len() <= MAX_FIELD_BYTES {
            self.text.push_str(text);
        }
    }

    fn open(&mut self, element: Element<'t>) {
        let (name, prefix) = xml::local_name(element.name);
        if self.root.is_none() {
            self.root = Root::of(&name);
            if self.root == Some(Root::Index) {
                self.sitemap.kind = SitemapKind::Index;
            }
            if self.root.is_some() {
                if let Some(base) = element.attribute("xml:base")
                    && let Ok(base) = self.base.join(&base)
                {
                    self.joiner = base.joiner();
                }
                return;
            }
        }
        let is_feed = self.root == Some(Root::Feed);
        match &*name {
            "url" | "sitemap" if !is_feed && self.may_be_entry(prefix) => {
                if self.root.is_none() && name == "sitemap" {
                    self.root = Some(Root::Index);
                    self.sitemap.kind = SitemapKind::Index;
                }
                self.open_entry(prefix);
                self.field = Some(Field::Bare);
            }
            "item" | "entry" if is_feed => {
                self.open_entry(prefix);
                let about = element.attribute("rdf:about").and_then(|about| self.url(&about));
                if let Some(entry) = &mut self.entry {
                    entry.identity = about;
                }
            }
            "image" | "video" | "news" | "source" if self.entry.is_some() => {
                if !element.is_empty {
                    self.extension = self.extension.or(Some(element.name));
                }
            }
            _ => self.open_field(&name, prefix, element),
        }
    }

    /// Inside an entry, elements of other prefixes belong to extensions.
    fn may_be_entry(&self, prefix: &str) -> bool {
        self.entry.as_ref().is_none_or(|entry| entry.prefix == prefix)
    }

    fn open_entry(&mut self, prefix: &'t str) {
        self.close_entry();
        self.entry = Some(Entry { prefix, ..Entry::default() });
    }

    fn open_field(&mut self, name: &str, prefix: &str, element: Element<'t>) {
        let is_news = |name: &&str| *xml::local_name(name).0 == *"news";
        if self.entry.is_some() && self.extension.as_ref().is_some_and(is_news) {
            self.field = match name {
                "title" => Some(Field::NewsTitle),
                "publication_date" => Some(Field::NewsDate),
                "language" => Some(Field::NewsLanguage),
                "name" => Some(Field::NewsName),
                _ => None,
            };
            return;
        }
        let Some(entry) = self.entry.as_ref().filter(|_| self.extension.is_none()) else { return };
        if prefix != entry.prefix {
            self.field = match (self.root, name) {
                // Feeds borrow the date from elsewhere.
                (Some(Root::Feed), "date") => Some(Field::Appeared),
                (Some(Root::Feed), _) => None,
                // Some mix prefixes; what is really elsewhere stands in an element of its own.
                (_, "loc") => Some(Field::Identity),
                _ => None,
            };
            return;
        }
        self.field = match (self.root, name) {
            (Some(Root::Feed), "link") => {
                let Some(href) = element.attribute("href") else {
                    self.field = Some(Field::Place);
                    return;
                };
                let rel = element.attribute("rel");
                if rel.is_none_or(|rel| rel.trim_ascii().eq_ignore_ascii_case("alternate")) {
                    self.place(&href);
                }
                None
            }
            (Some(Root::Feed), "guid" | "id") => Some(Field::Identity),
            (Some(Root::Feed), "updated" | "modified") => Some(Field::Changed),
            (Some(Root::Feed), "pubdate" | "published" | "issued") => Some(Field::Appeared),
            (Some(Root::Feed), _) => None,
            (_, "loc") => {
                // A second place in one entry is an entry that was not closed.
                if entry.place.is_some() {
                    let prefix = entry.prefix;
                    self.open_entry(prefix);
                }
                Some(Field::Place)
            }
            (_, "lastmod") => Some(Field::Changed),
            _ => None,
        };
    }

    fn close(&mut self, name: &str) {
        let (local, prefix) = xml::local_name(name);
        if self.extension == Some(name) {
            self.extension = None;
        } else if matches!(&*local, "url" | "sitemap" | "item" | "entry")
            && self.may_be_entry(prefix)
        {
            self.close_entry();
        }
    }

    fn close_field(&mut self) {
        let Some(field) = self.field.take() else { return };
        let text = std::mem::take(&mut self.text);
        match field {
            Field::Place => self.place(&text),
            Field::Bare if is_absolute(bare(&text)) => self.place(&text),
            Field::Bare => {}
            Field::Identity => {
                let url = self.url(&text).filter(|_| is_absolute(bare(&text)));
                if let Some(entry) = &mut self.entry {
                    entry.identity = url.or(entry.identity.take());
                }
            }
            Field::NewsTitle | Field::NewsDate | Field::NewsLanguage | Field::NewsName => {
                let line = one_line(text.as_bytes(), MAX_FIELD_BYTES);
                if let Some(entry) = &mut self.entry {
                    let news = entry.news.get_or_insert_default();
                    match field {
                        Field::NewsTitle => news.title = line,
                        Field::NewsDate => news.published = read_date(&line),
                        Field::NewsLanguage => news.language = line,
                        _ => news.publication = line,
                    }
                }
            }
            Field::Changed | Field::Appeared => {
                let time = date::read(&text);
                if let Some(entry) = &mut self.entry {
                    let known = match field {
                        Field::Changed => &mut entry.changed,
                        _ => &mut entry.appeared,
                    };
                    *known = known.or(time);
                }
            }
        }
        // The buffer is used again.
        self.text = text;
        self.text.clear();
    }

    /// The entry is at this place, if it has none yet.
    fn place(&mut self, reference: &str) {
        let url = self.url(reference);
        if let Some(entry) = &mut self.entry {
            entry.place = entry.place.take().or(url);
        }
    }

    fn close_entry(&mut self) {
        self.close_field();
        self.extension = None;
        let Some(entry) = self.entry.take() else { return };
        if let Some(url) = entry.place.or(entry.identity) {
            self.push(SitemapUrl {
                url,
                last_modified: entry.changed.or(entry.appeared),
                news: entry.news,
            });
        }
    }

    /// Takes the next line of a text; `false` when there is no need for more.
    fn line(&mut self, line: &str) -> bool {
        let Some(line) = listed(line) else { return true };
        // Anything else is prose.
        if (is_absolute(line) || line.starts_with('/') || self.is_own_host(line))
            && let Some(url) = self.url(line)
        {
            self.push(SitemapUrl { url, last_modified: None, news: None });
        }
        !self.sitemap.truncated
    }

    fn push(&mut self, url: SitemapUrl) {
        if self.sitemap.urls.len() >= MAX_URLS {
            self.sitemap.truncated = true;
        } else {
            self.sitemap.urls.push(url);
        }
    }

    /// The URL a reference means. Many leave out the scheme.
    fn url(&self, reference: &str) -> Option<CanonicalUrl> {
        let reference = bare(reference);
        if reference.is_empty() || reference.len() > MAX_FIELD_BYTES {
            return None;
        }
        if self.is_own_host(reference) || reference.starts_with("www.") {
            return CanonicalUrl::parse(&format!("{}://{reference}", self.base.scheme())).ok();
        }
        self.joiner.join(reference).ok()
    }

    /// Whether it begins with the name of the sitemap's own host.
    fn is_own_host(&self, reference: &str) -> bool {
        reference.strip_prefix(self.base.host()).is_some_and(|rest| rest.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_home(bytes: &[u8]) -> Sitemap {
        parse_sitemap(bytes, &CanonicalUrl::parse("https://h.test/map/sitemap.xml").unwrap())
    }

    /// `url date` of every entry.
    fn listed(text: &str) -> Vec<String> {
        let sitemap = at_home(text.as_bytes());
        let show = |u: &SitemapUrl| match u.last_modified {
            Some(time) => format!("{} {}", u.url, &time.iso_seconds()[..10]),
            None => u.url.to_string(),
        };
        sitemap.urls.iter().map(show).collect()
    }

    #[test]
    fn a_list_is_read_whatever_its_prefix() {
        let body = "<?xml version='1.0'?><!-- c --><m:urlset xmlns:m='x'>
            <m:url><m:loc> https://h.test/a?b=1&amp;c=2 </m:loc><m:lastmod>2026-01-31</m:lastmod></m:url>
            <m:url><m:lastmod>2025</m:lastmod><m:loc><![CDATA[/d?e&f]]></m:loc></m:url></m:urlset>";
        let want = ["https://h.test/a?b=1&c=2 2026-01-31", "https://h.test/d?e&f 2025-01-01"];
        assert_eq!(listed(body), want);
        assert_eq!(listed(&body.replace("m:", "")), want);
        assert_eq!(listed(&body.replace("loc>", "LOC>")), want);
        assert_eq!(
            listed("<urlset><url><x:loc>https://h.test/mixed</x:loc></url>"),
            ["https://h.test/mixed"]
        );
        assert!(is_sitemap(body.as_bytes()));
        assert_eq!(at_home(body.as_bytes()).kind, SitemapKind::Urls);
    }

    #[test]
    fn a_news_sitemap_tells_titles_days_and_languages() {
        let body = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'
            xmlns:news='http://www.google.com/schemas/sitemap-news/0.9'>
            <url><loc>/a</loc><news:news><news:publication><news:name>The Daily</news:name>
            <news:language>en</news:language></news:publication>
            <news:publication_date>2026-11-16T08:00:00+01:00</news:publication_date>
            <news:title>Storm &amp; flood</news:title></news:news></url><url><loc>/b</loc></url>";
        let sitemap = at_home(body.as_bytes());
        let news = sitemap.urls[0].news.as_deref().unwrap();
        assert_eq!((news.title.as_str(), news.language.as_str()), ("Storm & flood", "en"));
        assert_eq!(news.publication, "The Daily");
        let published = news.published.unwrap();
        assert_eq!(published.time.iso_seconds(), "2026-11-16T07:00:00Z");
        assert_eq!((published.zone, &sitemap.urls[1].news), (Some(60), &None));
    }

    #[test]
    fn an_index_lists_sitemaps() {
        let index =
            b"\xef\xbb\xbf\n<sitemapindex><sitemap><loc>a.xml.gz</loc></sitemap></sitemapindex>";
        let sitemap = at_home(index);
        assert_eq!(sitemap.kind, SitemapKind::Index);
        assert_eq!(sitemap.urls[0].url.as_str(), "https://h.test/map/a.xml.gz");
        assert!(is_sitemap(index));
        assert_eq!(at_home(b"<sitemap><loc>/b</loc>").kind, SitemapKind::Index);
    }

    #[test]
    fn pictures_and_films_are_not_pages() {
        assert_eq!(
            listed(
                "<urlset><url><image:image><image:loc>/i.png</image:loc></image:image><loc>/a</loc>
                 <image><loc>/j.png</loc></image><image:image/><video:url>/v</video:url>
                 <xhtml:link rel='alternate' href='/de/a'/><lastmod>2026-02-01</lastmod></url>
                 <url><image><loc>/k.png</loc></url><url><loc>/b</loc></url>"
            ),
            ["https://h.test/a 2026-02-01", "https://h.test/b"]
        );
    }

    #[test]
    fn broken_files_give_what_they_have() {
        assert_eq!(
            listed(
                "<urlset><url><loc>/1<url><loc>/2</loc><loc>/3</loc></url><loc>/no</loc>
                 <url>https://h.test/4</url><url>words</url><url><loc>/5?a&b</loc></url
                 <url><loc>mailto:x@y</loc></url><url><loc></loc></url><url><loc/></url>
                 <url><loc>http://[</loc></url><url><loc>/6"
            ),
            ["/1", "/2", "/3", "/4", "/5?a&b", "/6"].map(|p| format!("https://h.test{p}"))
        );
        assert_eq!(listed("<url><loc>/rootless</loc></url>"), ["https://h.test/rootless"]);
        assert_eq!(
            listed("Warning: in line 3\n<urlset><url><loc>/late</loc></url>"),
            ["https://h.test/late"]
        );
    }

    #[test]
    fn text_has_a_url_per_line() {
        let text = "# ours\r\nhttps://h.test/1\r\n\r\n  HTTP://H.test/2#x \nwww.h.test/3\n\"/4\"\nh.test/5\nftp://h.test/6\nsome words\n";
        assert_eq!(
            listed(text),
            [
                "https://h.test/1",
                "http://h.test/2",
                "https://www.h.test/3",
                "https://h.test/4",
                "https://h.test/5"
            ]
        );
        assert!(is_sitemap(b"\n# x\nhttps://h.test/1\nhttp://h.test/2"));
        assert!(is_sitemap("https://h.test/1\n".repeat(5000).as_bytes()));
    }

    #[test]
    fn feeds_list_their_items() {
        assert_eq!(
            listed(
                "<rss><channel><link>/no</link><item><link>/1</link><atom:link href='/no' rel='self'/>
                 <pubDate>Mon, 06 Sep 2010 00:01:00 +0000</pubDate></item>
                 <item><guid>https://h.test/2</guid><dc:date>2011-01-01</dc:date></item>
                 <item><guid>tag:x</guid></item><item><guid>17</guid></item></channel></rss>"
            ),
            ["https://h.test/1 2010-09-06", "https://h.test/2 2011-01-01"]
        );
        assert_eq!(
            listed(
                "<feed xml:base='https://h.test/blog/'><link href='/no'/><entry>
                 <link rel='edit' href='no'/><link rel='alternate' href='1'/><link href='no'/>
                 <published>2010-01-01</published><updated>2012-01-01</updated>
                 <source><id>http://no.test/</id></source></entry>
                 <entry><id>http://h.test/2</id></entry></feed>"
            ),
            ["https://h.test/blog/1 2012-01-01", "http://h.test/2"]
        );
        assert!(is_sitemap(b"<!-- a --><rss version='2.0'>"));
        assert!(is_sitemap(b"<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'>"));
        assert!(is_sitemap(b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>"));
    }

    #[test]
    fn other_files_are_none() {
        for body in [
            &b""[..],
            b"  \n",
            b"# only a comment",
            b"<!DOCTYPE html><html><urlset>",
            b"User-agent: *\nDisallow: /",
            b"https://h.test/1\nand more words",
            b"see https://h.test/",
            b"<rdf:RDF xmlns='http://example.com/'>",
            b"\x1f\x8b\x08",
            b"{}",
        ] {
            assert!(!is_sitemap(body), "{}", body.escape_ascii());
        }
        assert!(listed("<html><a href='/a'>a</a><link>/b</link><item><link>/c</link>").is_empty());
    }

    #[test]
    fn encodings_are_told_by_mark_declaration_or_bytes() {
        let xml = "<urlset><url><loc>/\u{e9}</loc></url></urlset>";
        let want = "https://h.test/%C3%A9";
        let wide = |text: &str, big: bool| -> Vec<u8> {
            let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
            text.encode_utf16().flat_map(bytes).collect()
        };
        let latin = b"<?xml version='1.0' encoding='iso-8859-1'?><urlset><url><loc>/\xe9</loc>";
        for bytes in [
            xml.as_bytes().to_vec(),
            wide(&format!("\u{feff}{xml}"), true),
            wide(&format!("\u{feff}{xml}"), false),
            wide(xml, true),
            wide(xml, false),
            wide(&format!("<?xml version='1.0' encoding='UTF-16'?>{xml}"), false),
            latin.to_vec(),
        ] {
            let shown = bytes.escape_ascii().to_string();
            let sitemap = at_home(&bytes);
            assert_eq!(sitemap.urls.len(), 1, "{shown}");
            assert_eq!(sitemap.urls[0].url.as_str(), want, "{shown}");
            assert!(is_sitemap(&bytes), "{shown}");
        }
    }

    #[test]
    fn beyond_the_limit_it_says_so() {
        let entry = "<url><loc>/x</loc></url>";
        let full = at_home(entry.repeat(MAX_URLS).as_bytes());
        assert_eq!((full.urls.len(), full.truncated), (MAX_URLS, false));
        let over = at_home(entry.repeat(MAX_URLS + 1).as_bytes());
        assert_eq!((over.urls.len(), over.truncated), (MAX_URLS, true));
        let over = at_home("https://h.test/\n".repeat(MAX_URLS + 1).as_bytes());
        assert_eq!((over.urls.len(), over.truncated), (MAX_URLS, true));
        let long = format!("<url><loc>/{}</loc></url>", "<!-- -->x".repeat(MAX_FIELD_BYTES + 10));
        assert!(at_home(long.as_bytes()).urls.is_empty());
    }
}
