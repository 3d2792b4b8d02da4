//! The crawl as it runs, what operators may do about it, and archived copies behind bars.
//!
//! ```text
//!  /crawl ──────────┐
//!                   ├─▶ telling (one picture of the crawl) ◀── watching (one poller for all viewers) ◀── /api/events
//!  forms (POST) ────┴─▶ acting: guard ─▶ order (checked) ─▶ desk ─▶ a sentence, said on the next page
//!  /memento, /copy ───▶ memento: bytes of the archive, sandboxed
//! ```
//!
//! * What this is: the crawl page, whole HTML that works without scripts; events for those with scripts; the forms.
//! * Invariants: the page and the events show the same picture ([`telling::Picture`]). Nothing is asked while nobody
//!   looks. Whatever changes something passes [`crate::guard::Guard::may_act`] first.
//! * What is not here: answering (`crawl`), starting processes (`cli`).

mod acting;
mod defuse;
pub(crate) mod forms;
mod memento;
mod order;
mod page;
mod plot;
mod telling;
mod watching;

use crate::app::App;
use axum::Router;
use axum::routing::{get, post};
use std::sync::Arc;

pub(crate) use order::delay_ms;
pub(crate) use watching::{Watching, gathering};
pub(crate) use {forms::site_forms, order::StartForm, order::start_order};

/// The crawl page, its events, its forms, and archived copies.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/crawl", get(page::crawl))
        .route("/crawl/start", post(acting::start))
        .route("/crawl/stop", post(acting::stop))
        .route("/crawl/job", post(acting::job))
        .route("/crawl/site", post(acting::site))
        .route("/api/events", get(watching::events))
        .route("/copy", get(memento::frame))
        .route("/memento/{at}/{*url}", get(memento::bytes))
        .route("/assets/crawl.js", get(crate::assets::crawl_script))
        .route("/assets/crawl.css", get(crate::assets::crawl_style))
}
