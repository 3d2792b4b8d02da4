//! What operators do: start, go on, stop; pause, resume and drop jobs; exclude and forgive sites, change their delay.
//!
//! * Every action is a POST, allowed by the guard before its fields are looked at; afterwards the browser is led
//!   back to the page it came from, where a sentence says what came of it.
//! * Invariants: where a browser is led is never taken from the request. What loses something (dropping a job) is done
//!   only when it was said twice.

use super::forms::button;
use super::order::{StartForm, delay_ms, start_order};
use crate::app::{App, Shared, Start};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page};
use crate::words::{encoded, number, plural, seconds};
use argiope_crawl::Question;
use axum::extract::{Extension, Form, State};
use axum::response::{IntoResponse, Redirect, Response};
use maud::html;
use serde::Deserialize;
use serde_json::Value;

/// Characters of the name of a site.
const NAME: usize = 300;

#[derive(Deserialize)]
pub(super) struct Starting {
    #[serde(default)]
    csrf: String,
    /// Goes on with what is open, without start URLs.
    #[serde(default)]
    go_on: String,
    #[serde(flatten)]
    form: StartForm,
}

#[derive(Deserialize)]
pub(super) struct Stopping {
    #[serde(default)]
    csrf: String,
}

#[derive(Deserialize)]
pub(super) struct OfJob {
    #[serde(default)]
    csrf: String,
    id: u32,
    act: String,
    #[serde(default)]
    sure: String,
}

#[derive(Deserialize)]
pub(super) struct OfSite {
    #[serde(default)]
    csrf: String,
    name: String,
    act: String,
    #[serde(default)]
    delay: String,
}

/// Says what came of it on the crawl page.
fn back(app: &App, told: Result<String, String>) -> Response {
    app.watching.say("crawl", told);
    Redirect::to("/crawl").into_response()
}

/// A question that changes something: what came of it, in words.
async fn done(
    app: &App,
    question: Question,
    words: impl FnOnce(&Value) -> String,
) -> Result<String, String> {
    match app.ask(question).await {
        Ok(rows) => Ok(words(rows.first().unwrap_or(&Value::Null))),
        Err(failure) => Err(failure.why),
    }
}

pub(super) async fn start(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(starting): Form<Starting>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &starting.csrf)?;
    let order = match &*starting.go_on {
        "yes" => Ok(Start::default()),
        _ if starting.form.urls.trim().is_empty() => {
            Err("there is no start URL; write one in each line".to_owned())
        }
        _ => start_order(&starting.form),
    };
    let told = match order {
        Ok(order) => app.with_desk(move |desk| desk.start(&order)).await?,
        Err(why) => Err(why),
    };
    Ok(back(&app, told))
}

pub(super) async fn stop(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(stopping): Form<Stopping>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &stopping.csrf)?;
    let told = done(&app, Question::Stop, |_| {
        "The crawl ends in order; what is open goes on with the next start.".to_owned()
    });
    let told = told.await;
    Ok(back(&app, told))
}

pub(super) async fn job(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(of): Form<OfJob>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &of.csrf)?;
    let id = of.id;
    let (state, words) = match &*of.act {
        "pause" => ("paused", format!("Job {id} is paused; nothing more is fetched for it.")),
        "resume" => (
            "open",
            format!(
                "Job {id} is open again; a crawl that runs takes it up, otherwise “Go on with what is open” does."
            ),
        ),
        "drop" if of.sure == "yes" => {
            ("dropped", format!("Job {id} is dropped; what it has fetched stays."))
        }
        "drop" => return Ok(sure(&app, caller, id)),
        _ => return Err(Failure::wrong("a job can be paused, resumed and dropped")),
    };
    let told = done(&app, Question::SetJob(id, state.to_owned()), |_| words).await;
    Ok(back(&app, told))
}

/// Asks once more before a job is dropped.
fn sure(app: &App, caller: Caller, id: u32) -> Response {
    let number = id.to_string();
    let fields = [("id", &*number), ("act", "drop"), ("sure", "yes")];
    let body = html! {
        h1 { "Drop job " (id) "?" }
        p.lead { "What it has fetched stays, but what it has still queued is lost and it cannot be resumed. Pausing keeps both." }
        div.row {
            (button(app, "/crawl/job", &fields, "danger", "Drop it", "Drop it"))
            a.button.second href="/crawl" { "Keep it" }
        }
    };
    let frame = Frame { title: "Drop a job", tab: Tab::Crawl, query: None };
    page(app, caller, &frame, body).into_response()
}

/// The name of a site as it came, where it can be one.
fn site_named(name: &str) -> Result<String, Failure> {
    let name = name.trim();
    if name.is_empty() || name.len() > NAME || name.contains(char::is_control) {
        return Err(Failure::wrong("name a site, a host or an origin: example.org"));
    }
    Ok(name.to_owned())
}

pub(super) async fn site(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(of): Form<OfSite>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &of.csrf)?;
    let name = site_named(&of.name)?;
    let told = match &*of.act {
        "exclude" => {
            let question = Question::Exclude { name: name.clone() };
            done(&app, question, |row| {
                let (hosts, queued) = (number(row, "hosts"), number(row, "queued"));
                let (hosts, queued) =
                    (plural(hosts, "host", "hosts"), plural(queued, "URL", "URLs"));
                format!(
                    "{name} is excluded: {hosts} with {queued} queued. Nothing more is asked of it."
                )
            })
            .await
        }
        "forgive" => {
            let question = Question::Forgive { name: name.clone() };
            done(&app, question, |_| format!("{name} will be asked again.")).await
        }
        "delay" => match delay_ms(&of.delay) {
            Ok(delay_ms) => {
                let question = Question::Delay { name: name.clone(), delay_ms };
                done(&app, question, |row| delay_words(&name, row)).await
            }
            Err(why) => Err(why),
        },
        _ => {
            return Err(Failure::wrong(
                "a site can be excluded, forgiven, or asked at another pace",
            ));
        }
    };
    app.watching.say(&format!("site {name}"), told);
    Ok(Redirect::to(&format!("/site?name={}", encoded(&name))).into_response())
}

fn delay_words(name: &str, row: &Value) -> String {
    match row["delay_by_hand_s"].as_f64() {
        Some(s) => format!(
            "{name} is asked every {} from now on, or as rarely as its robots.txt and its server ask for.",
            seconds(s)
        ),
        None => format!("{name} is asked as the configuration says."),
    }
}
