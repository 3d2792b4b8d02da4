//! Whether the process lives, and whether it can answer.

use super::given::Given;
use super::typed;
use crate::app::App;
use crate::failure::Failure;
use argiope_crawl::Question;
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

const PLAIN: &str = "text/plain; charset=utf-8";

/// The process lives.
pub(crate) fn healthz(_: &App, _: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async { Ok(typed(PLAIN, "ok\n".to_owned())) }.boxed()
}

/// The data directory answers.
pub(crate) fn readyz(app: &App, _: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        // Whatever it says, it speaks; but a store that fails is of no use.
        app.ask(Question::Jobs).await.map_err(|failure| Failure::nobody(failure.why))?;
        Ok(typed(PLAIN, "ready\n".to_owned()))
    }
    .boxed()
}
