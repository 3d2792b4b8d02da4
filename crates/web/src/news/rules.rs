//! `/news/rules`: words that keep, hide or alert, and the views that were saved.

use super::narrow::View;
use super::notice::said;
use super::side::saved;
use super::{followed, head, overview};
use crate::app::{App, Shared};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page_with};
use crate::live::forms::{button, csrf, hint};
use crate::view::parts::short;
use crate::words::{list, number, text};
use argiope_crawl::SavedView;
use axum::extract::{Extension, State};
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;

/// What a rule does: its name, and what that means.
pub(super) const ACTIONS: [(&str, &str); 3] = [
    ("keep", "Keep: marked, and shown whatever else is hidden"),
    ("hide", "Hide: not shown unless you ask for it"),
    ("alert", "Alert: marked, and in a list of their own"),
];

pub(super) async fn rules(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
) -> Result<Html<String>, Failure> {
    let overview = overview(&app).await?;
    let rules = list(&overview, "rules");
    let views = saved(&overview);
    let body = html! {
        (said(&app, caller, "page=rules"))
        p.crumb { a href="/news" { "News" } }
        h1 { "Rules and saved views" }
        h2 { "Rules" }
        p.lead { "News with all the words of a rule are kept, hidden or raise an alert. Rules hold for what is there and for what comes." }
        @if rules.is_empty() { p.quiet { "There is no rule yet." } } @else { (rules_table(&app, caller, rules)) }
        @if caller.is_operator() { (rule_form(&app, &overview)) } @else { (hint("Making rules")) }
        h2 { "Saved views" }
        @if views.is_empty() { p.quiet { "None yet. Narrow the " a href="/news" { "news" } " by site, subject or words, and “Save this view” is there." } }
        @else { (views_table(&app, caller, &views, &overview)) }
    };
    let frame = Frame { title: "Rules and saved views", tab: Tab::News, query: None };
    Ok(page_with(&app, caller, &frame, head(), body))
}

fn rules_table(app: &App, caller: Caller, rules: &[Value]) -> Markup {
    html! {
        div.scroll {
            table.arranged {
                thead { tr { th scope="col" { "What happens" } th.wrap scope="col" { "Words" } th scope="col" { "Where" } @if caller.is_operator() { th scope="col" { span.unseen { "Act" } } } } }
                tbody {
                    @for row in rules {
                        @let (id, words) = (number(row, "id").to_string(), text(row, "words"));
                        @let class = match text(row, "action") { "keep" => "badge good", "alert" => "badge alert", _ => "badge" };
                        tr {
                            td { span class=(class) { (text(row, "action")) } }
                            td.wrap { bdi { (short(words, 200)) } }
                            td { (row["site"].as_str().map_or("everywhere".to_owned(), |site| short(site, 60))) }
                            @if caller.is_operator() {
                                td.n { (button(app, "/news/rules", &[("act", "remove"), ("id", &id)], "second small", "Remove", &format!("Remove the rule {}", short(words, 60)))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn rule_form(app: &App, overview: &Value) -> Markup {
    html! {
        form.stack.card method="post" action="/news/rules" {
            (csrf(app))
            input type="hidden" name="act" value="add";
            label for="rule-action" { "News with these words" }
            select id="rule-action" name="action" { @for (value, said) in ACTIONS { option value=(value) { (said) } } }
            label for="rule-words" { "Words" }
            input id="rule-words" name="words" type="text" required maxlength="300" autocomplete="off" aria-describedby="rule-help";
            p.quiet.small #rule-help { "All of them must stand in the title, the summary or the text; a \"phrase in quotes\" as it is." }
            label for="rule-site" { "Only at this site (may stay empty)" }
            input id="rule-site" name="site" type="text" maxlength="300" list="rule-sites" autocomplete="off" spellcheck="false";
            datalist id="rule-sites" { @for row in followed(overview) { option value=(text(row, "site")) {} } }
            button type="submit" { "Add the rule" }
        }
    }
}

fn views_table(app: &App, caller: Caller, views: &[SavedView], overview: &Value) -> Markup {
    html! {
        div.scroll {
            table.arranged {
                thead { tr { th.wrap scope="col" { "Name" } th.wrap scope="col" { "Shows" } th scope="col" { "Feed" } @if caller.is_operator() { th scope="col" { span.unseen { "Act" } } } } }
                tbody {
                    @for saved in views {
                        @let view = View::of_order(&saved.order);
                        @let said: Vec<String> = view.parts(overview).into_iter().map(|(_, said)| said).collect();
                        tr {
                            td.wrap { a href=(view.at("/news")) { bdi { (short(&saved.name, 100)) } } }
                            td.wrap { @if said.is_empty() { "everything" } @else { bdi { (short(&said.join(" · "), 200)) } } }
                            td { a href=(view.at("/news.atom")) { "Atom" span.unseen { " feed of " (short(&saved.name, 60)) } } }
                            @if caller.is_operator() {
                                td.n { (button(app, "/news/saved", &[("act", "remove"), ("id", &saved.id.to_string())], "second small", "Remove", &format!("Remove the view {}", short(&saved.name, 60)))) }
                            }
                        }
                    }
                }
            }
        }
    }
}
