//! The page of an article.
//!
//! Around the article stands what stands around articles: navigation, an advertisement, links to
//! other articles between the paragraphs, what is read most (which changes with every edition on
//! half of the sites), a newsletter, comments, a footer.

use super::address;
use super::calendar::Moment;
use super::plan::{Piece, Version};
use super::sites::{Lang, Meta, SITES, Site, Twin};
use super::{NewsWeb, Words};
use serde_json::json;
use std::fmt::Write;

/// Text within HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Version {
    /// The first paragraph, as teasers have it.
    pub(crate) fn summary(&self) -> &str {
        &self.text.paragraphs[0]
    }
}

/// What every page of a site begins with, up to its content.
pub(crate) fn top(web: &NewsWeb, site: &Site, title: &str, head: &str) -> String {
    let words = Words::of(site.lang);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"{}\"><head><meta charset=\"{}\">\n<title>{} - {}</title>\n{head}",
        site.lang.code(),
        site.charset.name(),
        escape(title),
        site.name
    );
    let home = web.url(&address::Address::new(site.front_host(), "/"));
    if let Some(path) = address::feed(site) {
        let kind = match path.rsplit('.').next() {
            Some("json") => "application/feed+json",
            _ if path.contains("atom") => "application/atom+xml",
            _ => "application/rss+xml",
        };
        let _ = writeln!(
            html,
            "<link rel=\"alternate\" type=\"{kind}\" title=\"{}\" href=\"{path}\">",
            site.name
        );
    }
    let _ = write!(
        html,
        "</head>\n<body>\n<header class=\"site-head\"><a class=\"logo\" href=\"{home}\">{}</a>\
         <form action=\"/search\"><input name=\"q\"><button>{}</button></form></header>\n<nav><ul>",
        site.name, words.search
    );
    let _ = write!(html, "<li><a href=\"{home}\">{}</a></li>", words.home);
    for section in site.sections() {
        let url = web.url(&address::section(site, &section, 1));
        let _ = write!(html, "<li><a href=\"{url}\">{}</a></li>", escape(section.label));
    }
    let _ = writeln!(
        html,
        "<li><a href=\"/newsletter\">{}</a></li><li><a href=\"/login\">{}</a></li></ul></nav>",
        words.newsletter, words.login
    );
    html
}

/// What every page of a site ends with.
pub(crate) fn bottom(site: &Site) -> String {
    let words = Words::of(site.lang);
    format!(
        "<footer><p>© {}</p><ul><li><a href=\"/about\">{}</a></li><li><a href=\"/contact\">{}</a></li>\
         <li><a href=\"/privacy\">{}</a></li><li><a href=\"/jobs\">{}</a></li></ul></footer>\n</body></html>\n",
        site.name, words.about, words.contact, words.privacy, words.jobs
    )
}

/// An advertisement, with a headline as advertisements have them.
pub(crate) fn advertisement(site: &Site, nth: usize) -> String {
    let words = Words::of(site.lang);
    let line = words.slogans[nth % words.slogans.len()];
    format!(
        "<div class=\"ad-slot\" id=\"ad{nth}\"><small>{}</small>\
         <a rel=\"sponsored nofollow\" href=\"http://ads.offer-market.test/click?c={nth}\">{line}</a></div>\n",
        words.advertisement
    )
}

/// What is read most.
pub(crate) fn most_read(web: &NewsWeb, site: usize, edition: u32) -> String {
    let words = Words::of(SITES[site].lang);
    let mut pieces: Vec<&Piece> = web.current(site, edition);
    pieces.retain(|piece| piece.copy_of.is_none());
    let turn = if site.is_multiple_of(2) { edition as usize } else { 0 };
    pieces.sort_by_key(|piece| (piece.id * 7 + turn * 13) % 31);
    // New articles are not read by most at once, so that half of the sites show the same all day.
    pieces.retain(|piece| turn > 0 || piece.since() == 0);
    let mut html = format!("<aside class=\"most-read\"><h3>{}</h3><ol>", words.most_read);
    for piece in pieces.iter().take(5) {
        let url = web.url(&address::article(piece));
        let title = escape(&piece.versions[0].text.title);
        let _ = write!(html, "<li><a href=\"{url}\">{title}</a></li>");
    }
    html + "</ol></aside>\n"
}

/// The page of an article.
pub(crate) fn render(web: &NewsWeb, piece: &Piece, edition: u32, as_twin: bool) -> String {
    let site = &SITES[piece.site];
    let words = Words::of(site.lang);
    let (version, _) = piece.at(edition);
    let title = &version.text.title;
    let url = web.url(&address::article(piece));
    // A second printing does not say where the first is.
    let canonical = match site.meta {
        Meta::Nothing if site.twin == Twin::None => String::new(),
        _ => format!("<link rel=\"canonical\" href=\"{url}\">\n"),
    };
    let head = canonical + &about(web, site, piece, version);
    let published = Moment::at(piece.published, site.lang.zone());
    let shown = published.shown(site.lang, piece.site);
    if as_twin {
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"{}\"><head><meta charset=\"{}\"><title>{}</title>\n{head}</head><body>\
             <h1>{}</h1>\n<p>{shown}</p>\n",
            site.lang.code(),
            site.charset.name(),
            escape(title),
            escape(title)
        );
        for paragraph in &version.text.paragraphs {
            let _ = writeln!(html, "<p>{}</p>", escape(paragraph));
        }
        return html + "</body></html>\n";
    }
    let mut html = top(web, site, title, &head);
    html.push_str(&advertisement(site, piece.id));
    let section = address::section_of(site, piece.subject);
    let section_url = web.url(&address::section(site, &section, 1));
    let item = site.meta == Meta::Microdata;
    let scope = if item { " itemscope itemtype=\"https://schema.org/NewsArticle\"" } else { "" };
    let prop = |name: &str| if item { format!(" itemprop=\"{name}\"") } else { String::new() };
    let _ = writeln!(
        html,
        "<div class=\"crumbs\"><a href=\"/\">{}</a> &rsaquo; <a href=\"{section_url}\">{}</a></div>",
        words.home,
        escape(section.label)
    );
    // Old pages know no article element.
    let (open, close) = match piece.site % 3 {
        0 => (format!("<article class=\"story\"{scope}>"), "</article>"),
        1 => (format!("<div class=\"content-main\"{scope}>"), "</div>"),
        _ => {
            (format!("<table width=\"100%\"><tr><td class=\"text\"{scope}>"), "</td></tr></table>")
        }
    };
    let _ = writeln!(html, "{open}<h1{}>{}</h1>", prop("headline"), escape(title));
    html.push_str(&byline(web, site, piece, &published, &shown, version));
    let _ = writeln!(
        html,
        "<figure><img src=\"/img/{}.png\" alt=\"\" width=\"640\" height=\"360\"><figcaption>{}</figcaption></figure>",
        piece.id, words.caption
    );
    let _ = writeln!(html, "<div class=\"body\"{}>", prop("articleBody"));
    let related = web.related(piece, edition);
    for (nth, paragraph) in version.text.paragraphs.iter().enumerate() {
        let lead = match (nth, site.lang) {
            (0, Lang::Zh) => format!("<p class=\"lead\">　　{}</p>\n", escape(paragraph)),
            (0, _) => format!("<p class=\"lead\">{}</p>\n", escape(paragraph)),
            (_, Lang::Zh) => format!("<p>　　{}</p>\n", escape(paragraph)),
            _ => format!("<p>{}</p>\n", escape(paragraph)),
        };
        html.push_str(&lead);
        if nth == 2 {
            if let Some(other) = related.first() {
                let (url, title) =
                    (web.url(&address::article(other)), &other.versions[0].text.title);
                let _ = writeln!(
                    html,
                    "<div class=\"inline-related\">{} <a href=\"{url}\">{}</a></div>",
                    words.see_also,
                    escape(title)
                );
            }
            html.push_str(&advertisement(site, piece.id + 1));
        }
    }
    html.push_str("</div>\n");
    let tag = web.url(&address::tag(piece));
    let _ = writeln!(
        html,
        "<div class=\"tags\">{}: <a rel=\"tag\" href=\"{tag}\">{}</a></div>",
        words.topics,
        escape(&piece.tag)
    );
    if let Some(twin) = address::twin(piece).filter(|_| site.twin == Twin::Print) {
        let _ = writeln!(
            html,
            "<a class=\"print\" href=\"{}\">{}</a>",
            escape(&web.url(&twin)),
            words.print
        );
    }
    html.push_str(close);
    let _ = write!(html, "\n<section class=\"related\"><h3>{}</h3><ul>", words.related);
    for other in related.iter().skip(1).take(4) {
        let (url, title) = (web.url(&address::article(other)), &other.versions[0].text.title);
        let _ = write!(html, "<li><a href=\"{url}\">{}</a></li>", escape(title));
    }
    html.push_str("</ul></section>\n");
    html.push_str(&most_read(web, piece.site, edition));
    let _ = writeln!(
        html,
        "<div class=\"newsletter\"><h4>{}</h4><p>{}</p><form><input type=\"email\"></form></div>\n\
         <div id=\"comments\"><h4>{}</h4><div class=\"comment\"><b>{}</b><p>{}</p></div></div>",
        words.newsletter, words.newsletter_line, words.comments, words.commenter, words.comment
    );
    html + &bottom(site)
}

/// Who wrote it and when, as readers see it.
fn byline(
    web: &NewsWeb,
    site: &Site,
    piece: &Piece,
    published: &Moment,
    shown: &str,
    version: &Version,
) -> String {
    let words = Words::of(site.lang);
    let item = site.meta == Meta::Microdata;
    let time = match (item, piece.site % 2) {
        (true, _) => format!(
            "<time itemprop=\"datePublished\" datetime=\"{}\">{shown}</time>",
            published.iso()
        ),
        (false, 0) => format!("<span class=\"date\">{shown}</span>"),
        (false, _) => format!("<time datetime=\"{}\">{shown}</time>", published.iso()),
    };
    let by = match (&piece.author, address::author(piece)) {
        (Some(name), Some(at)) => {
            let url = web.url(&at);
            let inner = match item {
                true => format!("<span itemprop=\"author\">{name}</span>"),
                false => name.clone(),
            };
            match piece.site % 4 {
                0 | 3 => format!(
                    "<span class=\"byline\">{} <a rel=\"author\" href=\"{url}\">{inner}</a></span> ",
                    words.by
                ),
                1 => format!("<div class=\"author\">{} {inner}</div>", words.by),
                _ => format!("<span class=\"writer\">{} {inner}</span> | ", words.by),
            }
        }
        _ => String::new(),
    };
    let changed = version.modified.filter(|_| piece.site % 2 == 1).map(|ms| {
        let at = Moment::at(ms, site.lang.zone()).shown(site.lang, piece.site);
        format!(" <span class=\"updated\">{} {at}</span>", words.updated)
    });
    format!("<div class=\"meta-line\">{by}{time}{}</div>\n", changed.unwrap_or_default())
}

/// What the head of the page says about the article.
fn about(web: &NewsWeb, site: &Site, piece: &Piece, version: &Version) -> String {
    let zone = site.lang.zone();
    let url = web.url(&address::article(piece));
    let image = format!("{}/img/{}.png", web.origin(&site.front_host()), piece.id);
    let published = Moment::at(piece.published, zone).iso();
    let modified = version.modified.map(|ms| Moment::at(ms, zone).iso());
    let section = address::section_of(site, piece.subject).label;
    let title = &version.text.title;
    let amp = match (site.twin, address::twin(piece)) {
        (Twin::Amp, Some(at)) => format!("<link rel=\"amphtml\" href=\"{}\">\n", web.url(&at)),
        _ => String::new(),
    };
    match site.meta {
        Meta::Nothing | Meta::Microdata => amp,
        Meta::JsonLd => {
            let author =
                piece.author.as_ref().map(|name| json!([{"@type": "Person", "name": name}]));
            let publisher = json!({"@type": "Organization", "name": site.name});
            let about = json!({
                "@context": "https://schema.org",
                "@type": "NewsArticle",
                "headline": title,
                "mainEntityOfPage": url,
                "datePublished": published,
                "dateModified": modified.unwrap_or(published),
                "author": author.unwrap_or_else(|| publisher.clone()),
                "publisher": publisher,
                "image": [image],
                "articleSection": section,
                "inLanguage": site.lang.code(),
            });
            format!("{amp}<script type=\"application/ld+json\">{about}</script>\n")
        }
        Meta::OpenGraph => {
            let mut head = format!(
                "<meta property=\"og:type\" content=\"article\">\n<meta property=\"og:title\" content=\"{}\">\n\
                 <meta property=\"og:url\" content=\"{url}\">\n<meta property=\"og:image\" content=\"{image}\">\n\
                 <meta property=\"og:site_name\" content=\"{}\">\n\
                 <meta property=\"og:description\" content=\"{}\">\n\
                 <meta property=\"article:section\" content=\"{}\">\n\
                 <meta property=\"article:published_time\" content=\"{published}\">\n",
                escape(title),
                site.name,
                escape(version.summary()),
                escape(section)
            );
            if let Some(modified) = modified {
                let _ = writeln!(
                    head,
                    "<meta property=\"article:modified_time\" content=\"{modified}\">"
                );
            }
            if let Some(name) = &piece.author {
                let _ = writeln!(head, "<meta name=\"author\" content=\"{name}\">");
            }
            amp + &head
        }
    }
}
