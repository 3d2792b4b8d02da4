//! What changes something. The router has seen the token, and the values are within their bounds.

use super::given::Given;
use super::json;
use super::reading::envelope;
use crate::app::App;
use crate::failure::Failure;
use crate::live::{StartForm, delay_ms, start_order};
use argiope_crawl::Question;
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json as object};

/// Starts a crawl, as the form of the crawl page does.
pub(crate) fn crawl(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let text = |name: &str| given.text(name).unwrap_or_default().to_owned();
        let form = StartForm {
            urls: given.all("urls").join("\n"),
            scope: text("scope"),
            max_pages: text("max_pages"),
            max_depth: text("max_depth"),
            delay: given.text("delay").map(|seconds| format!("{seconds}s")).unwrap_or_default(),
            order: text("order"),
            about: text("about"),
        };
        let order = start_order(&form).map_err(Failure::wrong)?;
        let started = app.with_desk(move |desk| desk.start(&order)).await?;
        let message = started.map_err(Failure::refused)?;
        Ok(json(&object!({ "message": message })))
    }
    .boxed()
}

/// Has the crawl end in order.
pub(crate) fn stop(app: &App, _: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        app.ask(Question::Stop).await?;
        let message = "The crawl is ending; what is open goes on with the next start.";
        Ok(json(&object!({ "message": message })))
    }
    .boxed()
}

/// Pauses, resumes or drops a job.
pub(crate) fn job(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let id = given.number("id", 0);
        let state = match given.text("action") {
            Some("pause") => "paused",
            Some("resume") => "open",
            _ => "dropped",
        };
        let is_meant = |row: &Value| row["job"].as_u64() == Some(id);
        if !app.ask(Question::Jobs).await?.iter().any(is_meant) {
            return Err(Failure::unknown(format!("there is no job {id}; /api/jobs lists them")));
        }
        app.ask(Question::SetJob(id as u32, state.to_owned())).await?;
        let rows = app.ask(Question::Jobs).await?.into_iter().filter(is_meant).collect();
        Ok(envelope(rows, None, Value::Null))
    }
    .boxed()
}

/// Leaves a site alone, or tries it again.
pub(crate) fn site(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let name = given.needed("name");
        let question = match given.path {
            "/api/sites/exclude" => Question::Exclude { name },
            _ => Question::Forgive { name },
        };
        Ok(envelope(app.ask(question).await?, None, Value::Null))
    }
    .boxed()
}

/// Sets how long to wait between requests.
pub(crate) fn delay(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let delay_ms = delay_ms(given.text("delay").unwrap_or_default()).map_err(Failure::wrong)?;
        let question = Question::Delay { name: given.needed("name"), delay_ms };
        Ok(envelope(app.ask(question).await?, None, Value::Null))
    }
    .boxed()
}
