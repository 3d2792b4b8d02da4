//! What machines are given: feeds, sitemaps, `robots.txt`.

use super::NewsWeb;
use super::address::{self, Address};
use super::calendar::{DAY, Moment};
use super::page::escape;
use super::plan::Piece;
use super::sites::{Feed, Quirk, SITES};
use serde_json::json;
use std::fmt::Write;

/// How many old pages the largest sitemap names.
pub(crate) const OLD_PAGES: usize = 5_000;
/// How many articles a feed has.
const ENTRIES: usize = 20;

/// The feed of a site: its type and its text.
pub(crate) fn feed(web: &NewsWeb, number: usize, edition: u32) -> Option<(&'static str, String)> {
    let site = &SITES[number];
    let pieces = web.in_feed(number, edition);
    let home = web.url(&Address::new(site.front_host(), "/"));
    Some(match site.feed {
        Feed::None => return None,
        Feed::Rss | Feed::RssCut | Feed::RssBroken => {
            ("application/rss+xml", rss(web, number, &pieces, edition, &home))
        }
        Feed::Atom => ("application/atom+xml", atom(web, number, &pieces, edition, &home)),
        Feed::Json => {
            let item = |piece: &&Piece| {
                let (version, _) = piece.at(edition);
                let url = web.url(&address::article(piece));
                json!({"id": url, "url": url, "title": version.text.title, "summary": version.summary(),
                    "date_published": Moment::at(piece.published, site.lang.zone()).iso()})
            };
            let items: Vec<_> = pieces.iter().map(item).collect();
            let feed = json!({"version": "https://jsonfeed.org/version/1.1", "title": site.name,
                "home_page_url": home, "items": items});
            ("application/feed+json", feed.to_string())
        }
    })
}

/// How many articles of a site its feed names.
pub(crate) const fn entries() -> usize {
    ENTRIES
}

fn rss(web: &NewsWeb, number: usize, pieces: &[&Piece], edition: u32, home: &str) -> String {
    let site = &SITES[number];
    let broken = site.feed == Feed::RssBroken;
    let name = if broken { format!("{} & mehr", site.name) } else { site.name.to_owned() };
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\
         <channel><title>{name}</title><link>{home}</link><description>{name}</description>\n"
    );
    if broken {
        xml.push_str("<image><url>/logo.png\n");
    }
    for piece in pieces {
        let (version, _) = piece.at(edition);
        let mut url = web.url(&address::article(piece));
        if site.tracking {
            let between = if url.contains('?') { "&amp;" } else { "?" };
            url = format!("{url}{between}utm_source=rss&amp;utm_medium=feed");
        }
        let _ = write!(
            xml,
            "<item><title>{}</title><link>{url}</link><guid isPermaLink=\"false\">{}-{}</guid>\
             <pubDate>{}</pubDate><description>{}</description>",
            escape(&version.text.title),
            site.domain,
            piece.id,
            Moment::at(piece.published, site.lang.zone()).mail(),
            escape(version.summary())
        );
        if let Some(author) = &piece.author {
            let _ = write!(xml, "<dc:creator>{author}</dc:creator>");
        }
        xml.push_str("</item>\n");
    }
    if site.feed == Feed::RssCut {
        // The last entry ends in the middle of its description.
        let end = xml.rfind("</description>").map_or(xml.len(), |at| at - 20);
        let end = (0..=end).rev().find(|at| xml.is_char_boundary(*at)).unwrap_or(0);
        xml.truncate(end);
        return xml;
    }
    xml + "</channel></rss>\n"
}

fn atom(web: &NewsWeb, number: usize, pieces: &[&Piece], edition: u32, home: &str) -> String {
    let site = &SITES[number];
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\
         <title>{}</title><link href=\"{home}\"/><id>{home}</id>\n",
        site.name
    );
    for piece in pieces {
        let (version, _) = piece.at(edition);
        let url = web.url(&address::article(piece));
        let published = Moment::at(piece.published, site.lang.zone()).iso();
        let updated = version.modified.map(|ms| Moment::at(ms, site.lang.zone()).iso());
        let _ = writeln!(
            xml,
            "<entry><title>{}</title><link href=\"{url}\"/><id>{url}</id><published>{published}</published>\
             <updated>{}</updated><summary>{}</summary></entry>",
            escape(&version.text.title),
            updated.unwrap_or_else(|| published.clone()),
            escape(version.summary())
        );
    }
    xml + "</feed>\n"
}

/// The sitemap of the last two days.
pub(crate) fn news_sitemap(web: &NewsWeb, number: usize, edition: u32) -> String {
    let site = &SITES[number];
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
        xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\">\n"
        .to_owned();
    for piece in web.in_news_sitemap(number, edition) {
        let (version, _) = piece.at(edition);
        let _ = writeln!(
            xml,
            "<url><loc>{}</loc><news:news><news:publication><news:name>{}</news:name><news:language>{}</news:language>\
             </news:publication><news:publication_date>{}</news:publication_date><news:title>{}</news:title></news:news></url>",
            web.url(&address::article(piece)),
            site.name,
            site.lang.code(),
            Moment::at(piece.published, site.lang.zone()).iso(),
            escape(&version.text.title)
        );
    }
    xml + "</urlset>\n"
}

/// The sitemap of all that was ever written.
pub(crate) fn old_sitemap(web: &NewsWeb, number: usize) -> String {
    let origin = web.origin(&SITES[number].front_host());
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
        .to_owned();
    for nth in 0..OLD_PAGES {
        let day = Moment::at(web.base() - (60 + nth as i64 / 4) * DAY, 0).ymd("-");
        let _ = writeln!(
            xml,
            "<url><loc>{origin}/archive/{nth}.html</loc><lastmod>{day}</lastmod></url>"
        );
    }
    xml + "</urlset>\n"
}

/// What robots are told.
pub(crate) fn robots(web: &NewsWeb, number: usize) -> String {
    let site = &SITES[number];
    let origin = web.origin(&site.front_host());
    let mut text = "User-agent: *\n".to_owned();
    text.push_str(match site.quirk {
        Quirk::Forbidden => "Disallow: /members/\n",
        Quirk::CrawlDelay => "Crawl-delay: 1\nDisallow: /search\n",
        _ => "Disallow: /search\n",
    });
    if site.news_sitemap {
        let _ = writeln!(text, "Sitemap: {origin}/sitemap-news.xml");
    }
    if site.quirk == Quirk::OldSitemap {
        let _ = writeln!(text, "Sitemap: {origin}/sitemap.xml");
    }
    text
}
