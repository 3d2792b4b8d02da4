//! Places: what a path of a site names, and the path of everything that can be named.
//!
//! `Web::path` and `Web::place` are inverse: a path is read by finding the number at its end and
//! comparing with the path that number would have, so no table of paths is kept. Paths that name
//! nothing are 404; [`Place::Lost`] exists so that a broken link has something to point to.

use crate::draw::{Draw, Stream};
use crate::prose;
use crate::web::Web;
use std::fmt::Write;

/// What the second address of a page adds to the first.
const VARIANT: &str = "from=menu";

/// The most redirects in a row.
pub(crate) const MAX_HOPS: usize = 3;

/// Something a path of a site may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    /// A page; number zero is the front page.
    Page(usize),
    /// A second address of a page, told apart by its query string.
    Variant(usize),
    /// A redirect that reaches a page after so many hops, one to [`MAX_HOPS`].
    Moved { page: usize, hops: usize },
    /// A file that is not a page.
    File(usize),
    /// A page that `robots.txt` forbids.
    Private(usize),
    /// Nothing: the target of broken links.
    Lost(usize),
}

/// The endings of files, by number.
pub(crate) const ENDINGS: [&str; 3] = ["pdf", "png", "zip"];

impl Web {
    /// Path and query of a place.
    pub(crate) fn path(&self, site: usize, place: Place) -> String {
        let title = match place {
            Place::Page(page) | Place::Variant(page) => self.title(site, page),
            _ => String::new(),
        };
        self.path_with_title(site, place, &title)
    }

    /// Path and query of a place whose title is already known; only pages and variants need it.
    pub(crate) fn path_with_title(&self, site: usize, place: Place, title: &str) -> String {
        let nouns = self.topic(site).nouns;
        let mut path = String::with_capacity(64);
        match place {
            Place::Page(page) => self.push_page_path(&mut path, site, page, title),
            Place::Variant(page) => {
                self.push_page_path(&mut path, site, page, title);
                path.push(if path.contains('?') { '&' } else { '?' });
                path.push_str(VARIANT);
            }
            Place::Moved { page, hops } => {
                let _ = write!(path, "/moved/{hops}/{page}");
            }
            Place::File(number) => {
                path.push_str("/files/");
                prose::slug(&mut path, nouns[number % nouns.len()]);
                let _ = write!(path, "-{number}.{}", ENDINGS[number % ENDINGS.len()]);
            }
            Place::Private(number) => {
                let _ = write!(path, "/private/notes-{number}.html");
            }
            Place::Lost(number) => {
                path.push_str("/lost/");
                prose::slug(&mut path, nouns[number % nouns.len()]);
                let _ = write!(path, "-{number}.html");
            }
        }
        path
    }

    fn push_page_path(&self, path: &mut String, site: usize, page: usize, title: &str) {
        path.push('/');
        if page == 0 {
            return;
        }
        let mut draw = Draw::new(self.spec().seed, site, page, Stream::Path);
        let shape = if self.spec().plain { 0 } else { draw.below(100) };
        let section = self.section(site, page);
        if shape >= 92 {
            let _ = write!(path, "catalogue?section={section}&item={page}");
            return;
        }
        path.push_str(section);
        path.push('/');
        if shape >= 84 {
            let _ = write!(path, "{}/", 2003 + draw.below(20));
        }
        prose::slug(path, title);
        let _ = write!(path, "-{page}");
        path.push_str(match shape {
            84.. => "",
            70.. => "/",
            _ => ".html",
        });
    }

    /// What a path and query names, if it names something that exists.
    pub(crate) fn place(&self, site: usize, path: &str) -> Option<Place> {
        let number = last_number(path);
        let place = if path == "/" {
            Place::Page(0)
        } else if path.starts_with("/moved/") {
            let hops = path.split('/').nth(2)?.parse().ok()?;
            if !(1..=MAX_HOPS).contains(&hops) {
                return None;
            }
            Place::Moved { page: number?, hops }
        } else if path.starts_with("/files/") {
            Place::File(number?)
        } else if path.starts_with("/private/") {
            Place::Private(number?)
        } else if path.ends_with(VARIANT) {
            Place::Variant(number.unwrap_or(0))
        } else {
            Place::Page(number?)
        };
        let known = match place {
            Place::Private(_) if self.spec().plain => false,
            Place::Page(number)
            | Place::Variant(number)
            | Place::Moved { page: number, .. }
            | Place::File(number)
            | Place::Private(number) => number < self.spec().pages_per_site,
            Place::Lost(_) => false,
        };
        (known && self.path(site, place) == path).then_some(place)
    }

    /// The title of a page.
    pub(crate) fn title(&self, site: usize, page: usize) -> String {
        if page == 0 {
            return self.name(site);
        }
        let mut title = String::with_capacity(48);
        let mut draw = Draw::new(self.spec().seed, site, page, Stream::Title);
        prose::title(&mut title, &mut draw, self.topic(site));
        title
    }

    /// The department of a site that a page belongs to: that of its ancestor below the front page.
    pub(crate) fn section(&self, site: usize, page: usize) -> &'static str {
        let mut ancestor = page;
        while let Some(parent) = self.parent(ancestor)
            && parent != 0
        {
            ancestor = parent;
        }
        let sections = &self.topic(site).sections;
        sections[ancestor % sections.len()]
    }
}

fn last_number(text: &str) -> Option<usize> {
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let digits = text[..end].bytes().rev().take_while(u8::is_ascii_digit).count();
    text[end - digits..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WebSpec;
    use proptest::prelude::*;

    #[test]
    fn every_place_is_found_again_by_its_path() {
        let web = Web::new(WebSpec::demo());
        for site in 0..web.spec().sites {
            for page in 0..web.spec().pages_per_site {
                let places = [
                    Place::Page(page),
                    Place::Variant(page),
                    Place::Moved { page, hops: MAX_HOPS },
                    Place::File(page),
                    Place::Private(page),
                ];
                for place in places {
                    let path = web.path(site, place);
                    assert_eq!(web.place(site, &path), Some(place), "{path}");
                }
                assert_eq!(web.place(site, &web.path(site, Place::Lost(page))), None);
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_may_be_asked_for(path in ".{0,40}", tail in "/(moved|files)/[0-9]{0,25}/?[0-9]*") {
            let web = Web::new(WebSpec::demo());
            for path in [path, tail] {
                if let Some(place) = web.place(0, &path) {
                    prop_assert_eq!(web.path(0, place), path);
                }
            }
        }
    }
}
