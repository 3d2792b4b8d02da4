//! `/news`: the stories, by day, with what narrows them and the quick look.

use super::cards::{Around, by_day};
use super::narrow::View;
use super::notice::said;
use super::quick::{chips, finder};
use super::side::{saved, side};
use super::{followed, head, now, overview};
use crate::app::{App, Shared};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page_with};
use crate::live::forms::{button, csrf, hint};
use crate::live::gathering;
use crate::view::parts::Asked;
use crate::words::{list, number, plural, text};
use argiope_crawl::Question;
use axum::extract::{Extension, Query, State};
use axum::http::StatusCode;
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;

/// Stories on a page.
const SHOWN: usize = 30;

pub(super) async fn news(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    // A script that only counts anew leaves what was said of the last action to whoever looks.
    let counts = asked.iter().any(|(name, _)| name == "bare");
    let (view, now) = (View::of(asked), now());
    let overview = overview(&app).await?;
    let asked = match view.order(now, SHOWN) {
        Ok(order) => app.ask_piece(Question::News(order)).await,
        Err(wrong) => Err(wrong),
    };
    let (rows, rest, sorry) = match asked {
        Ok((rows, rest)) => (rows, rest, None),
        // A search that is written wrongly, most likely: said beside the field.
        Err(why) if matches!(why.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT) => {
            (Vec::new(), None, Some(why.why))
        }
        Err(why) => return Err(why),
    };
    let next = rest.and_then(|rest| match rest {
        Question::News(order) => order.after,
        _ => None,
    });
    let around = Around {
        app: &app,
        caller,
        now,
        view: &view,
        languages: list(&overview, "languages").len() > 1,
    };
    let feed = view.from(None).at("/news.atom");
    let name = heading(&view, &overview);
    let head = html! {
        (head())
        link rel="alternate" type="application/atom+xml" title={ (name) } href=(feed);
    };
    let unread = number(&overview, "unread");
    let bare = followed(&overview).next().is_none()
        && number(&overview, "articles") + number(&overview, "hidden") == 0;
    let body = html! {
        @if !counts { (said(&app, caller, &view.query())) }
        (under_way(&app, &view).await)
        div.top {
            h1 { (name) " " span.quiet.tally { @if unread > 0 { (plural(unread, "unread", "unread")) } } }
            @if !bare { p.links { a href=(feed) { "Atom feed" span.unseen { " of this view" } } a href="/news/sites" { "Sites" } a href="/news/rules" { "Rules" } } }
        }
        @if bare { (welcome(&app, caller)) }
        @else {
            (quick_look(caller, &overview))
            div.news {
                (side(&view, &overview, now))
                div.stories {
                    (narrowed(&app, caller, &view, &overview))
                    @if let Some(why) = &sorry { p.note.bad role="alert" { (why) } }
                    @else if rows.is_empty() { (nothing(&app, caller, &view, &overview).await) }
                    @else {
                        (by_day(&rows, &around))
                        nav.pager aria-label="Pages" {
                            @if !view.is_first() { a.button.second rel="first" href=(view.from(None).at("/news")) { "← Newest" } }
                            @if let Some(next) = next { a.button.second rel="next" href=(view.from(Some(next)).at("/news")) { "Older →" } }
                        }
                        p.quiet.small.only-wide { "Keys: " kbd { "j" } " and " kbd { "k" } " move between stories, " kbd { "o" } " opens one, " kbd { "v" }
                            " opens where it comes from, " kbd { "m" } " marks it, " kbd { "/" } " searches. Days are UTC." }
                    }
                }
            }
        }
    };
    let frame = Frame { title: &name, tab: Tab::News, query: None };
    Ok(page_with(&app, caller, &frame, head, body))
}

/// How far a collection is that runs just now; `news.js` keeps it up to date and says when it is over.
async fn under_way(app: &App, view: &View) -> Markup {
    let gathering = gathering(app).await;
    html! {
        @if !gathering.is_empty() {
            p.note #gathering {
                span { (gathering) } " "
                a href="/crawl" { "See how it goes on" }
                a href=(view.from(None).at("/news")) hidden { "Show what came in" }
            }
        }
    }
}

/// What the view is called: the name it was saved under, or what it is.
fn heading(view: &View, overview: &Value) -> String {
    let here = view.from(None);
    match saved(overview).into_iter().find(|saved| View::of_order(&saved.order) == here) {
        Some(saved) => saved.name,
        None => "News".to_owned(),
    }
}

/// Where nothing is followed yet.
fn welcome(app: &App, caller: Caller) -> Markup {
    html! {
        p.lead { "Follow the sites whose news you care about. Argiope finds their headlines and feeds by itself, keeps every article
            and its later versions, and puts the same story from several sources together." }
        div.cards.begin {
            section.card {
                h2 { "Follow a site" }
                @if caller.is_operator() {
                    form.stack method="post" action="/news/sites" {
                        (csrf(app))
                        input type="hidden" name="act" value="add";
                        label for="first" { "Its name, its front page, or a feed" }
                        input id="first" name="site" type="text" required maxlength="2000" placeholder="example.org" autocomplete="off" spellcheck="false";
                        button type="submit" { "Follow it" }
                    }
                    p.quiet { "Have you a list from another reader? " a href="/news/sites" { "Bring it as OPML" } "." }
                } @else { (hint("Following a site")) }
            }
            section.card data-look {
                h2 { "Have a quick look" }
                @if caller.is_operator() {
                    p { "The headlines of any site as they are now. Nothing is stored." }
                    (finder(""))
                } @else { (hint("A quick look at a site")) }
            }
        }
        @if caller.is_operator() { div #looked {} }
    }
}

/// The quick look on top: sites that are followed, and a field for any other.
fn quick_look(caller: Caller, overview: &Value) -> Markup {
    html! {
        section.quick.card data-look {
            h2 { "A quick look" }
            @if caller.is_operator() {
                (finder(""))
                (chips(overview, ""))
                div #looked {}
            } @else { (hint("A quick look at what a site says now")) }
        }
    }
}

/// The search field, what narrows the view, and what can be done with it.
fn narrowed(app: &App, caller: Caller, view: &View, overview: &Value) -> Markup {
    let parts = view.parts(overview);
    let unread = number(overview, "unread") > 0;
    html! {
        form.find.within action="/news" role="search" {
            label.unseen for="news-q" { "Search the news" }
            input id="news-q" name="q" type="search" value=(view.get("q")) placeholder="Search the news" autocomplete="off" maxlength="500";
            @for name in super::narrow::NAMES.iter().filter(|name| **name != "q" && !view.get(name).is_empty()) {
                input type="hidden" name=(name) value=(view.get(name));
            }
            button type="submit" { "Search" }
        }
        @if !parts.is_empty() {
            p.chips aria-label="Shown are" role="group" {
                @for (name, said) in &parts {
                    a.chip href=(view.with(name, "").at("/news")) { bdi { (said) } span aria-hidden="true" { " ×" } span.unseen { ", take away" } }
                }
                @if parts.len() > 1 { a href="/news" { "Show everything" } }
            }
        }
        @if caller.is_operator() {
            div.row.acts {
                @if unread {
                    form.inline method="post" action="/news/read/all" {
                        (csrf(app))
                        input type="hidden" name="view" value=(view.from(None).query());
                        input type="hidden" name="shown" value=(now().to_string());
                        button.second.small type="submit" { "Mark all as read" }
                    }
                }
                @if !parts.is_empty() { (save(app, view)) }
            }
        }
    }
}

fn save(app: &App, view: &View) -> Markup {
    html! {
        details.save {
            summary { "Save this view" }
            form.row method="post" action="/news/saved" {
                (csrf(app))
                input type="hidden" name="act" value="add";
                input type="hidden" name="view" value=(view.from(None).query());
                label for="save-name" { "Name" }
                input id="save-name" name="name" type="text" required maxlength="100" autocomplete="off";
                button.small type="submit" { "Save" }
            }
        }
    }
}

/// How many rules do something.
fn rules(overview: &Value, action: &str) -> usize {
    list(overview, "rules").iter().filter(|rule| text(rule, "action") == action).count()
}

/// Why there is nothing to be seen, and what to do about it.
async fn nothing(app: &App, caller: Caller, view: &View, overview: &Value) -> Markup {
    let hidden = number(overview, "hidden");
    if number(overview, "articles") + hidden > 0 {
        return html! {
            p.note {
                @if !view.is_first() { "There is nothing older. " a href=(view.from(None).at("/news")) { "Back to the newest" } "." }
                @else if !view.get("unread").is_empty() { "You have read all of it. " a href=(view.with("unread", "").at("/news")) { "Show what was read too" } "." }
                @else if !view.get("alerts").is_empty() && rules(overview, "alert") == 0 { "An alert marks news that have words you name. There is no rule for that yet: " a href="/news/rules" { "make one" } "." }
                @else if !view.get("kept").is_empty() && rules(overview, "keep") == 0 { "News are kept by rules over their words. There is none yet: " a href="/news/rules" { "make one" } "." }
                @else if view.is_all() { "Everything there is, is hidden by a rule. " a href="/news?hidden=1" { "Show it all the same" } "." }
                @else { "Nothing was found that fits all of that. " a href="/news" { "Show everything" } "." }
                @if hidden > 0 && view.get("hidden").is_empty() && !view.is_all() {
                    " " (plural(hidden, "article is", "articles are")) " hidden by rules; " a href=(view.with("hidden", "1").at("/news")) { "look there too" } "."
                }
            }
        };
    }
    let status = app.ask(Question::Status).await.ok();
    let status = status.as_deref().and_then(<[Value]>::first).unwrap_or(&Value::Null);
    let works = matches!(text(status, "state"), "crawling" | "watching");
    let sites = followed(overview).count() as u64;
    html! {
        section.card.empty {
            h2 { @if works { "Being collected" } @else { "Nothing has been collected yet" } }
            @if works { p { "The first articles appear here in a moment. " a href=(view.at("/news")) { "Look again" } ", or " a href="/crawl" { "see how it goes on" } "." } }
            @else {
                p { (plural(sites, "site is", "sites are")) " followed. Collecting looks at their front pages and feeds, and fetches the articles they name, politely: it takes some minutes." }
                @if caller.is_operator() { (button(app, "/news/collect", &[], "", "Collect now", "Collect now")) }
                @else { (hint("Collecting")) }
            }
        }
    }
}
