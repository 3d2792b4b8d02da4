//! The web itself: what every path of every site answers.
//!
//! [`Web::respond`] is pure but for the edition: it renders on demand and keeps nothing. A web knows the origins of
//! its sites because absolute links need them; `serve` gives it those of its sockets.

use crate::draw::{Draw, Stream};
use crate::place::Place;
use crate::spec::WebSpec;
use crate::words::{TOPICS, Topic};
use crate::{file, href, page, prose};
use argiope_model::CanonicalUrl;
use bytes::Bytes;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A made-up web.
#[derive(Clone, Debug)]
pub struct Web {
    spec: WebSpec,
    origins: Vec<String>,
    sites: HashMap<String, usize>,
    /// How often the authors have been at work; shared by all copies.
    edition: Arc<AtomicU32>,
}

/// What a site answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status.
    pub status: u16,
    /// Headers without those of the connection; names as they are usually written.
    pub headers: Vec<(&'static str, String)>,
    /// The body, without any encoding for transport.
    pub body: Bytes,
}

impl Response {
    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

impl Web {
    /// A web whose sites have made-up names: `http://orb-and-thread.test`.
    pub fn new(mut spec: WebSpec) -> Self {
        spec.sites = spec.sites.max(1);
        spec.pages_per_site = spec.pages_per_site.max(1);
        let edition = Arc::default();
        let web = Web { spec, origins: Vec::new(), sites: HashMap::new(), edition };
        let origins = (0..web.spec.sites).map(|site| format!("http://{}", web.host(site)));
        let origins = origins.collect();
        web.with_origins(origins)
    }

    /// The same web at other origins (`http://127.0.0.5:41234`, no slash at the end), one for
    /// each site; sites beyond the list keep theirs.
    pub fn with_origins(mut self, origins: Vec<String>) -> Self {
        let kept = self.origins.get(origins.len()..).unwrap_or_default().to_vec();
        self.origins = origins;
        self.origins.extend(kept);
        self.origins.truncate(self.spec.sites);
        self.sites = self.origins.iter().cloned().zip(0..).collect();
        self
    }

    /// What this web was made from.
    pub fn spec(&self) -> &WebSpec {
        &self.spec
    }

    /// A new edition: front pages and a quarter of the others say something new from now on.
    pub fn next_edition(&self) {
        self.edition.fetch_add(1, Ordering::SeqCst);
    }

    /// The last edition that changed a page; 0 for a page as it was first written.
    pub(crate) fn revision(&self, site: usize, page: usize) -> u32 {
        let changed = |edition: &u32| {
            let item = page * 64 + *edition as usize;
            page == 0 || Draw::new(self.spec.seed, site, item, Stream::Edition).below(4) == 0
        };
        (1..=self.edition.load(Ordering::SeqCst)).rev().find(changed).unwrap_or(0)
    }

    /// Scheme, host and port of a site.
    ///
    /// # Panics
    /// If there is no such site.
    pub fn origin(&self, site: usize) -> &str {
        &self.origins[site]
    }

    /// The front page of every site.
    pub fn start_urls(&self) -> Vec<CanonicalUrl> {
        let parse = |origin: &String| {
            CanonicalUrl::parse(&format!("{origin}/")).expect("an origin and a slash are a URL")
        };
        self.origins.iter().map(parse).collect()
    }

    /// The site that lives at an origin.
    pub fn site_of(&self, origin: &str) -> Option<usize> {
        self.sites.get(origin).copied()
    }

    /// The made-up name of a site's host: `orb-and-thread.test`, `orb-and-thread-2.test` …
    pub fn host(&self, site: usize) -> String {
        let mut host = String::new();
        prose::slug(&mut host, self.topic(site).title);
        if let round @ 1.. = site / TOPICS.len() {
            let _ = write!(host, "-{}", round + 1);
        }
        host + ".test"
    }

    /// What a whole URL answers; nothing if none of the sites lives there.
    pub fn respond_to(&self, url: &CanonicalUrl) -> Option<Response> {
        Some(self.respond(self.site_of(url.origin())?, url.path_and_query()))
    }

    /// What a site answers to a path and query.
    pub fn respond(&self, site: usize, path_and_query: &str) -> Response {
        if site >= self.spec.sites {
            return answer(404, "text/plain", "no such site\n");
        }
        if path_and_query == "/robots.txt" {
            return self.robots();
        }
        match self.place(site, path_and_query) {
            Some(Place::Page(number) | Place::Variant(number)) => {
                let (kind, body) = page::render(self, site, number);
                let mut response = answer(200, &kind, body);
                self.date(&mut response, site, number, self.revision(site, number));
                response
            }
            Some(Place::Moved { page, hops }) => self.redirect(site, path_and_query, page, hops),
            Some(Place::File(number)) => {
                let (kind, body) = file::make(self, site, number);
                let mut response = answer(200, kind, body);
                self.date(&mut response, site, self.spec.pages_per_site + number, 0);
                response
            }
            Some(Place::Private(number)) => {
                answer(200, "text/html; charset=utf-8", private(self, site, number))
            }
            Some(Place::Lost(_)) | None => {
                answer(404, "text/html; charset=utf-8", missing(self, site))
            }
        }
    }

    fn robots(&self) -> Response {
        let forbidden = if self.spec.plain { "" } else { " /private/" };
        answer(200, "text/plain", format!("User-agent: *\nDisallow:{forbidden}\n"))
    }

    fn redirect(&self, site: usize, from: &str, page: usize, hops: usize) -> Response {
        let mut draw = Draw::new(self.spec.seed, site, page * 4 + hops, Stream::Redirect);
        let path = self.path(site, Web::hop(page, hops));
        let location = match draw.below(3) {
            0 => format!("{}{path}", self.origins[site]),
            1 => href::relative(from, &path),
            _ => path,
        };
        let mut response = answer(draw.pick(&[301, 302, 307, 308]), "text/plain", "moved\n");
        response.headers.push(("Location", location));
        response
    }

    /// Gives a response its validators: a made-up day of January 2024, or one month later for every
    /// revision, and a tag.
    fn date(&self, response: &mut Response, site: usize, item: usize, revision: u32) {
        const MONTHS: [(&str, usize); 6] =
            [("Jan", 0), ("Feb", 3), ("Mar", 4), ("Apr", 0), ("May", 2), ("Jun", 5)];
        const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        let mut draw = match revision as usize {
            0 => Draw::new(self.spec.seed, site, item, Stream::Headers),
            n => Draw::new(self.spec.seed, site, item * 64 + n, Stream::Edition),
        };
        let (month, shift) = MONTHS[revision as usize % MONTHS.len()];
        // Every month has 28 days.
        let days = if revision == 0 { 31 } else { 28 };
        let (day, hour, minute) = (draw.below(days), draw.below(24), draw.below(60));
        let date = format!(
            "{}, {:02} {month} 2024 {hour:02}:{minute:02}:00 GMT",
            DAYS[(day + shift) % 7],
            day + 1
        );
        response.headers.push(("Last-Modified", date));
        response.headers.push(("ETag", format!("\"{:016x}\"", draw.number())));
    }

    /// What a site is about.
    pub(crate) fn topic(&self, site: usize) -> &'static Topic {
        &TOPICS[site % TOPICS.len()]
    }

    /// What a site calls itself.
    pub(crate) fn name(&self, site: usize) -> String {
        let mut name = self.topic(site).title.to_owned();
        if site >= TOPICS.len() {
            name.push_str(" of ");
            prose::name(&mut name, &mut Draw::new(self.spec.seed, site, 0, Stream::Title));
        }
        name
    }
}

fn answer(status: u16, kind: &str, body: impl Into<Bytes>) -> Response {
    Response { status, headers: vec![("Content-Type", kind.to_owned())], body: body.into() }
}

/// A page that `robots.txt` forbids.
fn private(web: &Web, site: usize, number: usize) -> String {
    let name = web.name(site);
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><title>Private notes {number}</title></head><body>\
         <h1>Private notes {number}</h1><p>Not for visitors of {name}.</p></body></html>\n"
    )
}

/// What is shown where nothing is.
fn missing(web: &Web, site: usize) -> String {
    let name = web.name(site);
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><title>Not found</title></head><body>\
         <h1>Not found</h1><p>{name} has no such page. <a href=\"/\">Home</a></p></body></html>\n"
    )
}
