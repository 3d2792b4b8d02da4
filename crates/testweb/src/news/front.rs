//! Pages that list articles: front pages, section fronts, archives, tags, authors.

use super::calendar::Moment;
use super::page::{advertisement, bottom, escape, most_read, top};
use super::plan::Piece;
use super::sites::{Front, Quirk, SITES, Section, Site};
use super::{NewsWeb, Words, address};
use std::fmt::Write;

/// How an article is shown on a page of links.
struct Item {
    url: String,
    title: String,
    summary: String,
    time: String,
    label: &'static str,
    picture: String,
}

fn items(web: &NewsWeb, pieces: &[&Piece], edition: u32, from: &str) -> Vec<Item> {
    let item = |(nth, piece): (usize, &&Piece)| {
        let site = &SITES[piece.site];
        let (version, _) = piece.at(edition);
        let mut url = web.url(&address::article(piece));
        // Every second link tells where it was clicked.
        if site.tracking && nth % 2 == 0 {
            let between = if url.contains('?') { '&' } else { '?' };
            url = format!("{url}{between}utm_source={from}&amp;utm_medium=teaser");
        }
        Item {
            url,
            title: escape(&version.text.title),
            summary: escape(version.summary()),
            time: Moment::at(piece.published, site.lang.zone()).shown(site.lang, piece.site),
            label: address::section_of(site, piece.subject).label,
            picture: format!("/img/{}.png", piece.id),
        }
    };
    pieces.iter().enumerate().map(item).collect()
}

/// The front page of a site.
pub(crate) fn front(web: &NewsWeb, number: usize, edition: u32) -> String {
    let site = &SITES[number];
    if site.front == Front::Script {
        return script(site, &top(web, site, site.name, ""));
    }
    let pieces = web.on_front(number, edition);
    let mut html = top(web, site, site.name, "");
    html.push_str(&advertisement(site, 0));
    let items = items(web, &pieces, edition, "front");
    match site.front {
        Front::Hero => hero(&mut html, site, &items),
        Front::Cards => cards(&mut html, site, &items),
        Front::Table => table(&mut html, site, &items),
        Front::Portal => portal(&mut html, web, site, &pieces, edition),
        Front::List | Front::Script => list(&mut html, site, &items),
    }
    if site.quirk == Quirk::Forbidden {
        let words = Words::of(site.lang);
        let _ = write!(html, "<section><h2><a href=\"/members/\">{}</a></h2><ul>", words.members);
        for piece in web.members(number, edition) {
            let (url, title) = (web.url(&address::article(piece)), &piece.versions[0].text.title);
            let _ = write!(html, "<li><h3><a href=\"{url}\">{}</a></h3></li>", escape(title));
        }
        html.push_str("</ul></section>\n");
    }
    html.push_str(&most_read(web, number, edition));
    html.push_str(&advertisement(site, 1));
    html + &bottom(site)
}

/// The front of a section; from its second page on an archive.
pub(crate) fn section(
    web: &NewsWeb,
    number: usize,
    section: &Section,
    page: usize,
    edition: u32,
) -> String {
    let site = &SITES[number];
    let mut html = top(web, site, section.label, "");
    if site.front == Front::Script {
        return script(site, &html);
    }
    let pieces = web.in_section(number, section, page, edition);
    let _ = writeln!(html, "<h1>{}</h1>", escape(section.label));
    let items = items(web, &pieces, edition, section.slug);
    match site.front {
        Front::Table => table(&mut html, site, &items),
        Front::Cards => cards(&mut html, site, &items),
        _ => list(&mut html, site, &items),
    }
    if page < 3 {
        let older = web.url(&address::section(site, section, page + 1));
        let words = Words::of(site.lang);
        let _ = writeln!(
            html,
            "<div class=\"pages\"><b>{page}</b> <a href=\"{older}\">{}</a> <a rel=\"next\" href=\"{older}\">{}</a></div>",
            page + 1,
            words.older
        );
    }
    html.push_str(&advertisement(site, 2));
    html + &bottom(site)
}

/// Articles with something in common: a tag, an author.
pub(crate) fn listing(
    web: &NewsWeb,
    number: usize,
    title: &str,
    pieces: &[&Piece],
    edition: u32,
) -> String {
    let site = &SITES[number];
    let mut html = top(web, site, title, "");
    let _ = writeln!(html, "<h1>{}</h1>", escape(title));
    list(&mut html, site, &items(web, pieces, edition, "list"));
    html + &bottom(site)
}

/// A page that is none of these.
pub(crate) fn plain(web: &NewsWeb, number: usize, title: &str) -> String {
    let site = &SITES[number];
    let words = Words::of(site.lang);
    let mut html = top(web, site, title, "");
    let _ = writeln!(html, "<h1>{}</h1>\n<p>{}</p>", escape(title), words.page_text);
    html + &bottom(site)
}

fn script(site: &Site, top: &str) -> String {
    // Everything but the head is made by the script.
    let head = top.split("<body>").next().unwrap_or_default();
    format!(
        "{head}<body><div id=\"root\"></div><noscript>{}</noscript>\
         <script src=\"/app.js\"></script></body></html>\n",
        site.name
    )
}

fn hero(html: &mut String, site: &Site, items: &[Item]) {
    html.push_str("<main class=\"front\">\n");
    for (nth, item) in items.iter().enumerate() {
        let Item { url, title, summary, time, label, picture } = item;
        let _ = match nth {
            0 => writeln!(
                html,
                "<section class=\"hero\"><a href=\"{url}\"><img src=\"{picture}\" alt=\"\"></a>\
                 <span class=\"kicker\">{label}</span><h1><a href=\"{url}\">{title}</a></h1><p>{summary}</p></section>\n\
                 <div class=\"grid\">"
            ),
            1..4 => writeln!(
                html,
                "<article class=\"teaser big\"><a href=\"{url}\"><img src=\"{picture}\" alt=\"{title}\"></a>\
                 <h2><a href=\"{url}\">{title}</a></h2><p>{summary}</p><time>{time}</time></article>"
            ),
            _ => writeln!(
                html,
                "<article class=\"teaser\"><span class=\"kicker\">{label}</span><h3><a href=\"{url}\">{title}</a></h3></article>"
            ),
        };
        if nth == 5 {
            html.push_str(&advertisement(site, 5));
        }
    }
    html.push_str("</div></main>\n");
}

fn cards(html: &mut String, site: &Site, items: &[Item]) {
    html.push_str("<div class=\"cards\">\n");
    for (nth, item) in items.iter().enumerate() {
        let Item { url, title, summary, time, label, picture } = item;
        let _ = writeln!(
            html,
            "<a class=\"card\" href=\"{url}\"><div class=\"pic\" style=\"background-image:url({picture})\"></div>\
             <div class=\"label\">{label}</div><div class=\"card-title\">{title}</div>\
             <div class=\"card-text\">{summary}</div><div class=\"when\">{time}</div></a>"
        );
        if nth % 7 == 6 {
            html.push_str(&advertisement(site, nth));
        }
    }
    html.push_str("</div>\n");
}

fn list(html: &mut String, site: &Site, items: &[Item]) {
    let words = Words::of(site.lang);
    html.push_str("<ul class=\"stream\">\n");
    for item in items {
        let Item { url, title, summary, time, label, .. } = item;
        let _ = writeln!(
            html,
            "<li><span class=\"time\">{time}</span> <em>{label}</em><h2><a href=\"{url}\">{title}</a></h2>\
             <p>{summary} <a class=\"more\" href=\"{url}\">{}</a></p></li>",
            words.more
        );
    }
    html.push_str("</ul>\n");
}

fn table(html: &mut String, site: &Site, items: &[Item]) {
    let words = Words::of(site.lang);
    html.push_str("<table width=\"760\" cellpadding=\"4\"><tr><td width=\"520\" valign=\"top\">\n");
    for (nth, item) in items.iter().enumerate() {
        let Item { url, title, summary, time, picture, .. } = item;
        if nth < 4 {
            let _ = writeln!(
                html,
                "<table><tr><td><a href=\"{url}\"><img src=\"{picture}\" width=\"120\" border=\"0\"></a></td>\
                 <td><a href=\"{url}\"><font size=\"4\"><b>{title}</b></font></a><br><font size=\"1\">{time}</font><br>\
                 <font size=\"2\">{summary}</font> <a href=\"{url}\"><font size=\"1\">{}</font></a></td></tr></table>",
                words.more
            );
        } else {
            let _ =
                writeln!(html, "&#8226; <a href=\"{url}\"><font size=\"2\">{title}</font></a><br>");
        }
    }
    html.push_str("</td><td valign=\"top\" bgcolor=\"#eeeeee\">\n");
    html.push_str(&advertisement(site, 3));
    html.push_str("</td></tr></table>\n");
}

fn portal(html: &mut String, web: &NewsWeb, site: &Site, pieces: &[&Piece], edition: u32) {
    html.push_str("<div class=\"portal\">\n");
    for section in site.sections() {
        let of: Vec<&Piece> =
            pieces.iter().copied().filter(|p| p.subject == section.subject).collect();
        let url = web.url(&address::section(site, &section, 1));
        let _ = write!(
            html,
            "<div class=\"box\"><h4><a href=\"{url}\">{}</a></h4><ul>",
            escape(section.label)
        );
        for item in items(web, &of, edition, "portal") {
            let _ = write!(
                html,
                "<li><a href=\"{}\" target=\"_blank\">{}</a></li>",
                item.url, item.title
            );
        }
        html.push_str("</ul></div>\n");
    }
    html.push_str("</div>\n");
}
