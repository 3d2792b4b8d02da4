//! `/news/quick`: the headlines of a site as they are now. Nothing is stored.
//!
//! * We fetch on behalf of who asks, so only operators may ask. A page of another site cannot ask in their name: their cookie
//!   does not come with its requests.
//! * Invariants: a few looks at once, see [`crate::app::App::look`]; which addresses may be looked at is the desk's to say.

use super::age::age;
use super::cards::{begun, lang, picture, title, with_capital};
use super::notice::said;
use super::{followed, head, now, overview};
use crate::app::{App, Shared};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page_with};
use crate::live::forms::button;
use crate::view::parts::{Asked, Wanted, safe, short};
use crate::words::{encoded, list, plural, text};
use argiope_model::Time;
use axum::extract::{Extension, Query, State};
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;

/// Characters of a site.
const SITE: usize = 2_000;
/// Sites that are offered at first.
const CHIPS: usize = 6;
/// Headlines that are shown.
const SHOWN: usize = 60;

/// Looks at a site.
pub(crate) async fn look(app: &App, site: &str) -> Result<Vec<Value>, Failure> {
    let site = site.trim();
    if site.is_empty()
        || site.len() > SITE
        || site.contains(char::is_control)
        || site.starts_with('-')
    {
        return Err(Failure::wrong("name a site or its front page: example.org"));
    }
    app.look(site.to_owned()).await?.map_err(Failure::refused)
}

pub(super) async fn quick(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    if !caller.is_operator() {
        return Err(Failure::forbidden(
            "a quick look fetches pages for you, so it needs the token that `argiope serve` printed; enter it at /login",
        ));
    }
    let wanted = Wanted::of(asked);
    let site = wanted.get("site");
    let overview = overview(&app).await?;
    let looked = match site {
        "" => None,
        site => Some(look(&app, site).await),
    };
    let body = html! {
        @if wanted.get("bare").is_empty() { (said(&app, caller, "")) }
        p.crumb { a href="/news" { "News" } }
        h1 { "A quick look" @if !site.is_empty() { " at " bdi { (short(site, 100)) } } }
        section data-look {
            (finder(site))
            (chips(&overview, site))
        }
        @match looked {
            None => { p.quiet { "Name a site to see its headlines as they are now. Nothing is stored." } }
            Some(looked) => { div #looked { (found(&app, site, &overview, looked)) } }
        }
    };
    let frame = Frame { title: "A quick look", tab: Tab::News, query: None };
    Ok(page_with(&app, caller, &frame, head(), body))
}

/// The field for any site.
pub(super) fn finder(site: &str) -> Markup {
    html! {
        form.find.within action="/news/quick" {
            label.unseen for="look" { "Any site" }
            input id="look" name="site" type="text" value=(site) required maxlength=(SITE) placeholder="Any site: example.org" autocomplete="off" autocapitalize="none" spellcheck="false" inputmode="url";
            button type="submit" { "Look" }
        }
    }
}

/// The sites that are followed, each a quick look away.
pub(super) fn chips(overview: &Value, here: &str) -> Markup {
    let sites: Vec<&Value> = followed(overview).collect();
    let chip = |row: &Value| {
        let site = text(row, "site");
        let front = list(row, "front").first().and_then(Value::as_str).unwrap_or(site);
        html! {
            a.chip href={ "/news/quick?site=" (encoded(front)) } aria-current=[(here == front || here == site).then_some("true")] {
                bdi { (short(super::narrow::named(site, overview), 40)) }
            }
        }
    };
    html! {
        @if !sites.is_empty() {
            p.chips { @for row in sites.iter().take(CHIPS) { (chip(row)) } }
        }
        @if sites.len() > CHIPS {
            details.more-chips {
                summary { (plural((sites.len() - CHIPS) as u64, "more site", "more sites")) }
                p.chips { @for row in sites.iter().skip(CHIPS) { (chip(row)) } }
            }
        }
    }
}

/// Whether a site, as it was written, is followed already.
fn is_followed(site: &str, overview: &Value) -> bool {
    followed(overview).any(|row| argiope_crawl::is_of_site(site, text(row, "site")))
}

/// What was found, for a page of its own or in the middle of another.
fn found(app: &App, site: &str, overview: &Value, looked: Result<Vec<Value>, Failure>) -> Markup {
    let rows = match looked {
        Ok(rows) => rows,
        Err(failure) => return html! { p.note.bad role="alert" { (failure.sentence()) } },
    };
    let now = now();
    html! {
        div.row.looked {
            @if rows.is_empty() { p.note { "No headlines were found at " bdi { (short(site, 100)) } "." } }
            @else {
                h2 { span role="status" { strong { (plural(rows.len() as u64, "headline", "headlines")) } " of " bdi { (short(site, 100)) } " as they are now." } " "
                    span.quiet { "Nothing is stored." } }
            }
            @if !is_followed(site, overview) {
                (button(app, "/news/sites", &[("act", "add"), ("site", site)], "second small", "Follow this site", "Follow this site"))
            }
        }
        @if !rows.is_empty() { ol.headlines { @for row in rows.iter().take(SHOWN) { (headline(row, site, now)) } } }
    }
}

fn headline(row: &Value, site: &str, now: Time) -> Markup {
    let (url, code) = (text(row, "url"), text(row, "language"));
    let aside = [text(row, "section"), text(row, "subject")];
    let aside = aside.into_iter().find(|said| !said.is_empty());
    let written = text(row, "shown_time");
    html! {
        li.headline.hit {
            div.thumb { (picture(row, site.trim_start_matches("https://").trim_start_matches("http://").trim_start_matches("www."))) }
            div.told {
                p.kicker {
                    @if let Some(aside) = aside { span.subject { (short(&with_capital(aside), 40)) } }
                    @if !text(row, "time").is_empty() { (age(text(row, "time"), now)) }
                    @else if !written.is_empty() { span { (short(written, 40)) } }
                }
                h3 dir="auto" {
                    @if let Some(url) = safe(url) {
                        a href=(url) target="_blank" rel="noreferrer noopener" data-hit dir="auto" lang=[lang(code)] { (title(row)) }
                    } @else { span dir="auto" { (title(row)) } }
                }
                @if !text(row, "summary").is_empty() { p.summary dir="auto" { (begun(text(row, "summary"), 240)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_site_is_followed_with_all_its_hosts() {
        let overview = json!({ "sites": [{ "site": "a.test" }, { "site": "" }] });
        for site in ["a.test", "https://www.A.test/sport?x", "a.test:8080"] {
            assert!(is_followed(site, &overview), "{site}");
        }
        for site in ["b.test", "ba.test", "https://b.test/a.test", ""] {
            assert!(!is_followed(site, &overview), "{site}");
        }
    }

    #[test]
    fn headlines_are_text_and_lead_to_the_web_only() {
        let row = json!({ "title": "<script>x</script>", "url": "javascript:x", "summary": "<b>", "shown_time": "<i>" });
        let shown = headline(&row, "a.test", Time(0)).into_string();
        assert!(
            !shown.contains("<script") && !shown.contains("href") && !shown.contains("<b>"),
            "{shown}"
        );
    }
}
