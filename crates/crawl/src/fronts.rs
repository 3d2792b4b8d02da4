//! The front pages and feeds of a site, and where they are to be found if nobody has said so.
//!
//! * What this is: what a recipe names ([`fronts`], [`feeds`]), and for a site that is followed by its name alone the
//!   addresses a browser would try ([`guessed`]): with TLS, and without it where nobody answers there.
//! * Its place: the director asks for them as a run begins, and notes which of them answer.

use argiope_model::CanonicalUrl;
use argiope_news::{Recipe, front_pages, is_article_url, is_section_url, plain_front_pages};

fn parsed(urls: &[String]) -> Vec<CanonicalUrl> {
    urls.iter().filter_map(|url| CanonicalUrl::parse(url).ok()).collect()
}

/// The front pages of a site: those that its recipe names, else where sites have them.
pub(crate) fn fronts(recipe: &Recipe) -> Vec<CanonicalUrl> {
    match recipe.front.is_empty() {
        true => parsed(&front_pages(&recipe.site)),
        false => parsed(&recipe.front),
    }
}

/// The feeds that a recipe names.
pub(crate) fn feeds(recipe: &Recipe) -> Vec<CanonicalUrl> {
    parsed(&recipe.feeds)
}

/// Front pages of a site of which nothing but its name is known.
pub(crate) struct Guessed {
    pub https: Vec<CanonicalUrl>,
    /// The same without TLS.
    pub plain: Vec<CanonicalUrl>,
}

/// Where a site may have its front pages, if nobody has said so; `None` where its recipe does, and of servers at home.
pub(crate) fn guessed(recipe: &Recipe) -> Option<Guessed> {
    let (https, plain) = (front_pages(&recipe.site), plain_front_pages(&recipe.site));
    let is_guessed = recipe.front.is_empty() || recipe.front == https;
    (is_guessed && https != plain).then(|| Guessed { https: parsed(&https), plain: parsed(&plain) })
}

/// Whether an address, to which an article of a site leads now, is no article of it: a front page, or
/// elsewhere.
pub(crate) fn leads_away(recipe: &Recipe, to: &CanonicalUrl) -> bool {
    let is_front = to.path() == "/" || is_section_url(to) && !is_article_url(to);
    !recipe.is_for(to) || is_front || fronts(recipe).contains(to)
}
