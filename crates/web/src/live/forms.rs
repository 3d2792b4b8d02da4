//! The forms of operators. Each carries the field `csrf`; readers see where to bring the token instead.

use super::order::{ORDERS, SCOPES};
use crate::app::App;
use crate::guard::Caller;
use crate::words::text;
use maud::{Markup, html};
use serde_json::Value;

/// The field by which we know our own forms.
pub(crate) fn csrf(app: &App) -> Markup {
    html! { input type="hidden" name="csrf" value=(app.guard.form_token()); }
}

/// What was said of the last action on a page, to operators.
pub(super) fn said(app: &App, caller: Caller, place: &str) -> Markup {
    let told = app.watching.said(place).filter(|_| caller.is_operator());
    html! {
        @match told {
            Some(Ok(done)) => { p.note.said role="status" { (done) } }
            Some(Err(why)) => { p.note.said.bad role="alert" { "That was not done: " (why) } }
            None => {}
        }
    }
}

/// Where readers are told how to act.
pub(crate) fn hint(what: &str) -> Markup {
    html! { p.quiet { (what) " needs the token: " a href="/login" { "bring it here" } "." } }
}

/// A form of one button, with hidden fields.
pub(crate) fn button(
    app: &App,
    action: &str,
    fields: &[(&str, &str)],
    class: &str,
    name: &str,
    label: &str,
) -> Markup {
    html! {
        form.inline method="post" action=(action) {
            (csrf(app))
            @for (field, value) in fields { input type="hidden" name=(field) value=(value); }
            button type="submit" class=(class) aria-label=(label) { (name) }
        }
    }
}

/// Starting a crawl from URLs.
pub(super) fn start_form(app: &App) -> Markup {
    html! {
        form.stack.start method="post" action="/crawl/start" {
            (csrf(app))
            label for="urls" { "Start URLs, one a line" }
            textarea id="urls" name="urls" rows="4" required maxlength="1000000" placeholder="https://example.org/" spellcheck="false" {}
            div.fields {
                div {
                    label for="scope" { "What belongs to it" }
                    select id="scope" name="scope" {
                        @for (value, words) in SCOPES { option value=(value) { (words) } }
                    }
                }
                div {
                    label for="order" { "Order" }
                    select id="order" name="order" {
                        @for (value, words) in ORDERS { option value=(value) { (words) } }
                    }
                }
                div {
                    label for="max_pages" { "Pages at most" }
                    input id="max_pages" name="max_pages" type="number" min="1" inputmode="numeric" placeholder="no limit";
                }
                div {
                    label for="max_depth" { "Links deep at most" }
                    input id="max_depth" name="max_depth" type="number" min="1" inputmode="numeric" placeholder="no limit";
                }
                div {
                    label for="delay" { "Delay between requests to a host" }
                    input id="delay" name="delay" type="text" maxlength="20" placeholder="as configured, e.g. 5s";
                }
                div {
                    label for="about" { "About (words, for the best first)" }
                    input id="about" name="about" type="text" maxlength="500" placeholder="anything";
                }
            }
            button type="submit" { "Start the crawl" }
        }
    }
}

/// Pausing, resuming and dropping a job; those that fit its state are shown, all are there.
pub(super) fn job_forms(app: &App, id: u64, state: &str) -> Markup {
    let id = id.to_string();
    let one = |act: &str, name: &str, shown: bool, class: &str| {
        let label = format!("{name} job {id}");
        html! {
            span data-act=(act) hidden[!shown] {
                (button(app, "/crawl/job", &[("id", &id), ("act", act)], class, name, &label))
            }
        }
    };
    html! {
        (one("pause", "Pause", state == "open", "second"))
        (one("resume", "Resume", state == "paused", "second"))
        (one("drop", "Drop", matches!(state, "open" | "paused"), "second"))
    }
}

/// What operators may do about a site, for the view of a site; `row` is its row of `Sites`.
pub(crate) fn site_forms(app: &App, caller: Caller, name: &str, row: &Value) -> Markup {
    if !caller.is_operator() {
        return hint("Excluding a site, forgiving it or changing its delay");
    }
    let place = format!("site {name}");
    let excluded = text(row, "state") == "excluded";
    let by_hand = row["delay_by_hand_s"].as_f64();
    let label = |what: &str| format!("{what} {name}");
    html! {
        (said(app, caller, &place))
        div.row {
            @if excluded {
                (button(app, "/crawl/site", &[("name", name), ("act", "forgive")], "", "Ask it again", &label("Ask again:")))
                span.quiet { "It was excluded; what was left alone is asked for again." }
            } @else {
                (button(app, "/crawl/site", &[("name", name), ("act", "exclude")], "danger", "Exclude it", &label("Exclude")))
                (button(app, "/crawl/site", &[("name", name), ("act", "forgive")], "second", "Forgive it", &label("Forgive")))
                span.quiet { "Excluded, nothing more is asked of it; what was fetched stays. Forgiven, it is asked again whatever it has done." }
            }
        }
        form.row method="post" action="/crawl/site" {
            (csrf(app))
            input type="hidden" name="name" value=(name);
            input type="hidden" name="act" value="delay";
            label for="site-delay" { "Delay between requests" }
            input id="site-delay" name="delay" type="text" maxlength="20" size="8" placeholder="e.g. 5s"
                value=(by_hand.map(|s| format!("{s}s")).unwrap_or_default());
            button.second type="submit" { "Set it" }
            span.quiet { "Empty: as configured. What its robots.txt or its server asks for is kept in any case." }
        }
    }
}
