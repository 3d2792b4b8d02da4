//! What narrows the news: sites, subjects, days, languages, marks, saved views.

use super::age::day_heading;
use super::cards::with_capital;
use super::narrow::View;
use crate::view::parts::{language, short};
use crate::words::{count, list, number, text};
use argiope_crawl::SavedView;
use argiope_model::Time;
use maud::{Markup, html};
use serde_json::Value;

/// Days that are named at once; the others are folded away.
const DAYS: usize = 7;

/// One of a group: where it leads, what it is called, how many there are, and what else is said of it.
struct Choice {
    href: String,
    name: String,
    many: u64,
    unread: u64,
    here: bool,
}

fn choices(of: &[Choice]) -> Markup {
    html! {
        ul {
            @for one in of {
                li {
                    a href=(one.href) aria-current=[one.here.then_some("true")] { bdi { (one.name) } }
                    @if one.unread > 0 { span.count.fresh title={ (count(one.unread)) " unread of " (count(one.many)) } { (count(one.unread)) span.unseen { " unread" } } }
                    @else if one.many > 0 { span.count.quiet { (count(one.many)) } }
                }
            }
        }
    }
}

fn group(name: &str, of: &[Choice]) -> Markup {
    html! {
        @if !of.is_empty() { section { h2 { (name) } (choices(of)) } }
    }
}

/// A choice that is taken back when it is chosen again.
fn choice(view: &View, name: &str, value: &str, said: String, many: u64, unread: u64) -> Choice {
    let here = view.get(name) == value;
    let href = view.with(name, if here { "" } else { value }).at("/news");
    Choice { href, name: said, many, unread, here }
}

/// Everything beside the stories.
pub(super) fn side(view: &View, overview: &Value, now: Time) -> Markup {
    let each = |list_name: &str, field: &str, param: &str, said: &dyn Fn(&str) -> String| {
        let one = |row: &Value| {
            let value = text(row, field);
            choice(view, param, value, said(value), number(row, "articles"), 0)
        };
        list(overview, list_name)
            .iter()
            .filter(|row| !text(row, field).is_empty())
            .map(one)
            .collect::<Vec<_>>()
    };
    let sites: Vec<Choice> = list(overview, "sites")
        .iter()
        .map(|row| {
            let site = text(row, "site");
            let name = Some(text(row, "name")).filter(|name| !name.is_empty()).unwrap_or(site);
            let (many, unread) = (number(row, "articles"), number(row, "unread"));
            choice(view, "site", site, short(name, 40), many, unread)
        })
        .collect();
    let subjects =
        each("subjects", "subject", "subject", &|subject| short(&with_capital(subject), 40));
    let languages = each("languages", "language", "lang", &language);
    let days = each("days", "day", "day", &|day| day_heading(day, now));
    let (recent, older) = days.split_at(days.len().min(DAYS));
    let many = |name: &str| number(overview, name);
    let flag =
        |name: &str, said: &str, many: u64| choice(view, name, "1", said.to_owned(), many, 0);
    let mut marks = vec![
        flag("unread", "Unread only", many("unread")),
        flag("alerts", "Alerts", many("alerts")),
        flag("kept", "Kept", many("kept")),
        flag("hidden", "Also hidden ones", many("hidden")),
    ];
    marks.push(flag("articles", "Each article by itself", 0));
    let saved = saved(overview);
    let saved: Vec<Choice> = saved
        .iter()
        .map(|saved| {
            let there = View::of_order(&saved.order);
            let here = there == view.from(None);
            Choice {
                href: there.at("/news"),
                name: short(&saved.name, 60),
                many: 0,
                unread: 0,
                here,
            }
        })
        .collect();
    html! {
        details.side data-side {
            summary { "Sites, subjects, days" }
            nav.groups aria-label="Narrow the news" {
                (group("Saved views", &saved))
                section {
                    h2 { "Show" }
                    ul { li { a href="/news" aria-current=[view.is_all().then_some("true")] { "Everything" }
                        span.count.quiet { (count(many("articles"))) } } }
                    (choices(&marks))
                }
                (group("Sites", &sites))
                (group("Subjects", &subjects))
                @if languages.len() > 1 { (group("Languages", &languages)) }
                @if !recent.is_empty() {
                    section {
                        h2 { "Days" }
                        (choices(recent))
                        @if !older.is_empty() {
                            details { summary { "Older" } (choices(older)) }
                        }
                    }
                }
                section.manage {
                    h2 { "Arrange" }
                    ul {
                        li { a href="/news/sites" { "Sites that are followed" } }
                        li { a href="/news/rules" { "Rules and saved views" } }
                        li { a href="/news.opml" download="argiope-news.opml" { "Sites as OPML" } }
                    }
                }
            }
        }
    }
}

/// The saved views that can be read.
pub(super) fn saved(overview: &Value) -> Vec<SavedView> {
    let read = |row: &Value| serde_json::from_value(row.clone()).ok();
    list(overview, "saved").iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn choices_combine_and_are_taken_back() {
        let overview = json!({
            "articles": 5, "unread": 2,
            "sites": [{ "site": "a.test", "name": "<b>A", "articles": 3, "unread": 2 }],
            "subjects": [{ "subject": "sport", "articles": 3 }],
            "languages": [{ "language": "en", "articles": 5 }],
            "days": [{ "day": "2026-11-16", "articles": 5 }],
            "saved": [{ "id": 1, "name": "mine", "order": { "subject": "sport", "limit": 30 } }, { "id": "broken" }],
        });
        let view = View::read("subject=sport");
        let shown = side(&view, &overview, Time(0)).into_string();
        assert!(shown.contains("href=\"/news?site=a.test&amp;subject=sport\""), "{shown}");
        assert!(
            shown.contains("href=\"/news\" aria-current=\"true\""),
            "sport is taken back: {shown}"
        );
        assert!(shown.contains("&lt;b&gt;A") && !shown.contains("Languages"), "{shown}");
        assert!(
            shown.contains("href=\"/news?subject=sport\" aria-current=\"true\"><bdi>mine"),
            "{shown}"
        );
    }
}
