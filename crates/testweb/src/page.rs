//! Pages as HTML: the links of the structure between paragraphs of prose.
//!
//! Every edge of a page is written exactly once; whatever else looks like an address (in a
//! comment, in a script, in `src` of an image, in a scheme that is not fetched) is not a link.
//! The size of a page is drawn first and filled with paragraphs until its links just fit.

use crate::draw::{Draw, Stream};
use crate::href;
use crate::place::Place;
use crate::prose;
use crate::structure::{Edge, How, Layout};
use crate::tongue::{ENGLISH, FOREIGN, Tongue};
use crate::web::Web;
use crate::words::Topic;
use std::fmt::Write;

/// About how much room a link takes, its words included.
const LINK_BYTES: usize = 110;

/// The content type and the bytes of a page.
pub(crate) fn render(web: &Web, site: usize, page: usize) -> (String, Vec<u8>) {
    let spec = web.spec();
    let mut draw = Draw::new(spec.seed, site, page, Stream::Body);
    let layout = web.layout(site, page);
    let tongue = if !spec.plain && page != 0 && draw.below(12) == 0 {
        &FOREIGN[draw.below(FOREIGN.len())]
    } else {
        &ENGLISH
    };
    let size = spec.mean_page_bytes / 2 + draw.below(spec.mean_page_bytes + 1);
    let declared = spec.plain || draw.below(3) > 0;
    let mut writer = Writer {
        web,
        site,
        page,
        topic: web.topic(site),
        tongue,
        base: web.path(site, Place::Page(page)),
        draw,
        out: String::with_capacity(size + 1024),
    };
    let mut edges = web.edges(site, page);
    writer.head(layout, &mut edges);
    match layout {
        Layout::Frameset => writer.frames(&edges),
        _ => writer.body(edges, size),
    }
    let charset = tongue.charset;
    let kind = if declared {
        format!("text/html; charset={}", charset.name())
    } else {
        "text/html".to_owned()
    };
    (kind, charset.encode(writer.out))
}

struct Writer<'a> {
    web: &'a Web,
    site: usize,
    page: usize,
    topic: &'static Topic,
    tongue: &'static Tongue,
    /// What relative references are relative to.
    base: String,
    draw: Draw,
    out: String,
}

impl Writer<'_> {
    fn head(&mut self, layout: Layout, edges: &mut Vec<Edge>) {
        let title = self.web.title(self.site, self.page);
        let name = self.web.name(self.site);
        let origin = self.web.origin(self.site);
        let path = |page| self.web.path(self.site, Place::Page(page)).replace('&', "&amp;");
        let charset = self.tongue.charset.name();
        let _ = write!(
            self.out,
            "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"{charset}\">\n<title>{title}",
            self.tongue.code
        );
        if self.page != 0 {
            let _ = write!(self.out, " - {name}");
        }
        let _ = write!(
            self.out,
            "</title>\n<meta name=\"description\" content=\"{name}: a site about {}.\">\n\
             <link rel=\"canonical\" href=\"{origin}{}\">\n",
            self.topic.subject,
            path(self.page),
        );
        let neighbours =
            [("prev", self.web.previous(self.page)), ("next", self.web.next(self.page))];
        for (relation, neighbour) in neighbours {
            if let (Some(neighbour), true) = (neighbour, layout != Layout::Frameset) {
                let _ =
                    writeln!(self.out, "<link rel=\"{relation}\" href=\"{}\">", path(neighbour));
            }
        }
        if layout == Layout::Based {
            self.base = format!("/{}/", self.draw.pick(&self.topic.sections));
            let origin = if self.draw.below(2) == 0 { origin } else { "" };
            let _ = writeln!(self.out, "<base href=\"{origin}{}\">", self.base);
        }
        if let Some(at) = edges.iter().position(|edge| edge.how == How::Refresh) {
            let edge = edges.remove(at);
            let target = self.web.path(edge.site, edge.place).replace('&', "&amp;");
            let seconds = self.draw.pick(&["5; url=", "10;URL=", "30; Url="]);
            let _ =
                writeln!(self.out, "<meta http-equiv=\"refresh\" content=\"{seconds}{target}\">");
        }
        self.out.push_str("<style>body{max-width:44em;margin:auto;font-family:serif}</style>\n");
        if !self.web.spec().plain && self.draw.below(4) == 0 {
            self.out.push_str(
                "<script>var menu = '<a href=\"/never/from-a-script.html\">menu</a>';</script>\n\
                 <!-- <a href=\"/never/from-a-comment.html\">an old link</a> -->\n",
            );
        }
        self.out.push_str("</head>\n");
    }

    fn frames(&mut self, edges: &[Edge]) {
        let rows = vec!["*"; edges.len()].join(",");
        let _ = writeln!(self.out, "<frameset rows=\"{rows}\">");
        for edge in edges {
            self.out.push_str("<frame");
            self.attribute("src", edge, &self.target_title(edge));
            self.out.push_str(">\n");
        }
        self.out.push_str("<noframes><p>");
        self.sentences(3);
        self.out.push_str("</p></noframes>\n</frameset>\n</html>\n");
    }

    fn body(&mut self, edges: Vec<Edge>, size: usize) {
        let title = self.web.title(self.site, self.page);
        let (navigation, edges): (Vec<Edge>, Vec<Edge>) =
            edges.into_iter().partition(|edge| edge.label.is_some());
        let (maps, mut edges): (Vec<Edge>, Vec<Edge>) =
            edges.into_iter().partition(|edge| edge.how == How::Area);
        self.out.push_str("<body>\n<nav>");
        for edge in &navigation {
            self.out.push_str("<a");
            self.attribute("href", edge, &self.target_title(edge));
            let _ = write!(self.out, ">{}</a> ", edge.label.unwrap_or_default());
        }
        let _ = write!(self.out, "</nav>\n<h1>{title}</h1>\n");
        if self.page == 0 {
            let (subject, sections) = (self.topic.subject, self.topic.sections.join(", "));
            let _ = writeln!(self.out, "<p>{title} is about {subject}: {sections}.</p>");
        }
        if !maps.is_empty() {
            self.map(&maps);
        }

        edges.reverse();
        let mut block = 0;
        while self.out.len() + edges.len() * LINK_BYTES < size || block == 0 {
            match block % 7 {
                3 => self.heading(),
                5 => self.list(),
                6 if self.draw.below(3) == 0 => self.table(),
                _ => self.paragraph(edges.pop()),
            }
            block += 1;
        }
        if !edges.is_empty() {
            self.out.push_str("<h2>Read on</h2>\n<ul>\n");
            while let Some(edge) = edges.pop() {
                self.out.push_str("<li>");
                self.link(&edge);
                self.out.push_str("</li>\n");
            }
            self.out.push_str("</ul>\n");
        }
        self.news();
        self.footer();
    }

    /// What the last edition has added.
    fn news(&mut self) {
        let revision = self.web.revision(self.site, self.page) as usize;
        if revision == 0 {
            return;
        }
        let (seed, item) = (self.web.spec().seed, self.page * 64 + revision);
        let draw = Draw::new(seed, self.site, item, Stream::Edition);
        let before = std::mem::replace(&mut self.draw, draw);
        self.paragraph(None);
        self.draw = before;
    }

    fn map(&mut self, edges: &[Edge]) {
        let image = self.web.path(self.site, Place::File(1 % self.web.spec().pages_per_site));
        let _ = write!(
            self.out,
            "<p><img src=\"{image}\" alt=\"A map of this page\" usemap=\"#places\"></p>\n\
             <map name=\"places\">\n"
        );
        for (nth, edge) in edges.iter().enumerate() {
            let _ = write!(self.out, "<area shape=\"rect\" coords=\"{0},0,{0}9,40\"", nth + 1);
            let title = self.target_title(edge);
            self.attribute("href", edge, &title);
            let _ = writeln!(self.out, " alt=\"{title}\">");
        }
        self.out.push_str("</map>\n");
    }

    fn heading(&mut self) {
        self.out.push_str("<h2>");
        prose::title(&mut self.out, &mut self.draw, self.topic);
        self.out.push_str("</h2>\n");
    }

    fn paragraph(&mut self, edge: Option<Edge>) {
        self.out.push_str("<p>");
        let count = 3 + self.draw.below(5);
        self.sentences(count);
        self.out.push_str("</p>\n");
        if let Some(edge) = edge {
            self.out.push_str("<p>");
            self.sentences(1);
            self.out.push_str(self.draw.pick(&["See ", "More: ", "Compare ", "Then read "]));
            self.link(&edge);
            self.out.push_str(".</p>\n");
        }
    }

    fn list(&mut self) {
        self.out.push_str("<ul>\n");
        for _ in 0..2 + self.draw.below(4) {
            self.out.push_str("<li>");
            self.sentences(1);
            self.out.push_str("</li>\n");
        }
        self.out.push_str("</ul>\n");
    }

    fn table(&mut self) {
        self.out.push_str("<table>\n<tr><th>Where</th><th>What</th><th>How many</th></tr>\n");
        for _ in 0..3 + self.draw.below(4) {
            let place = self.draw.pick(self.topic.places);
            let noun = self.draw.pick(self.topic.nouns);
            let count = 2 + self.draw.below(500);
            let _ = writeln!(self.out, "<tr><td>{place}</td><td>{noun}s</td><td>{count}</td></tr>");
        }
        self.out.push_str("</table>\n");
    }

    fn footer(&mut self) {
        self.out.push_str("<footer><p>Written at ");
        prose::name(&mut self.out, &mut self.draw);
        if !self.web.spec().plain {
            for _ in 0..self.draw.below(3) {
                self.out.push_str(", ");
                href::hopeless(&mut self.out, &mut self.draw);
            }
        }
        self.out.push_str(".</p></footer>\n</body>\n</html>\n");
    }

    fn sentences(&mut self, count: usize) {
        for _ in 0..count {
            match self.tongue.sentences {
                [] => prose::sentence(&mut self.out, &mut self.draw, self.topic),
                sentences => self.out.push_str(self.draw.pick(sentences)),
            }
            self.out.push(' ');
        }
    }

    fn link(&mut self, edge: &Edge) {
        let title = self.target_title(edge);
        if edge.how == How::Iframe {
            self.out.push_str("<iframe");
            self.attribute("src", edge, &title);
            let _ = write!(self.out, " title=\"{title}\"></iframe>");
            return;
        }
        let upper = !self.web.spec().plain && self.draw.below(12) == 0;
        let (open, name, close) =
            if upper { ("<A", "HREF", "</A>") } else { ("<a", "href", "</a>") };
        self.out.push_str(open);
        self.attribute(name, edge, &title);
        for part in [">", &title, close] {
            self.out.push_str(part);
        }
    }

    fn attribute(&mut self, name: &str, edge: &Edge, title: &str) {
        let here = (self.site, self.base.as_str());
        let path = self.web.path_with_title(edge.site, edge.place, title);
        let there = (edge.site, path.as_str());
        href::attribute(&mut self.out, &mut self.draw, self.web, name, here, there);
    }

    /// The words of a link: the title of the page it leads to, whatever the way there.
    fn target_title(&self, edge: &Edge) -> String {
        match edge.place {
            Place::Page(page) | Place::Variant(page) | Place::Moved { page, .. } => {
                self.web.title(edge.site, page)
            }
            Place::File(number) => format!("File {number}"),
            Place::Private(number) => format!("Private notes {number}"),
            Place::Lost(number) => format!("Lost page {number}"),
        }
    }
}
