//! The news of the sites that are followed: stories by day, a story with its articles, a quick look at any site,
//! rules, saved views and sites.
//!
//! ```text
//!  /news ──▶ narrow (what the address asks for) ─▶ Question::News, NewsOverview ─▶ page: side · cards
//!  /news/story/N ──▶ story: its articles, their versions, the newest difference
//!  /news/quick ────▶ quick: Desk::quick, for operators; nothing is stored
//!  forms (POST) ───▶ acting: guard ─▶ Question::NewsAct or Desk ─▶ notice: a sentence, and a way back
//! ```
//!
//! * What this is: whole HTML that works without scripts. `news.js` marks what is opened, shows the quick look in place
//!   and adds keys.
//! * Invariants: what a view shows is in its address and nowhere else, so that every view can be kept, sent, fed and saved.
//!   Titles, names and summaries are text. Pictures come from the sites themselves and learn nothing of who looks; only
//!   these pages may load any. Whatever changes something passes [`crate::guard::Guard::may_act`] first.
//! * What is not here: collecting, grouping and rules (`crawl`), fetching for the quick look (`cli`), JSON (`api`).

mod acting;
mod age;
mod cards;
mod multipart;
mod narrow;
mod notice;
mod page;
mod quick;
mod rules;
mod side;
mod sites;
mod story;

use crate::app::App;
use crate::assets;
use crate::failure::Failure;
use crate::words::list;
use argiope_model::Time;
use axum::Router;
use axum::routing::{get, post};
use serde_json::Value;
use std::sync::Arc;
use std::time::SystemTime;

pub(crate) use acting::{name_of, rule_of, view_name};
pub(crate) use narrow::{View, order_of};
pub(crate) use notice::Notices;
pub(crate) use quick::look;

/// The pages of the news, and what they do.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/news", get(page::news))
        .route("/news/quick", get(quick::quick))
        .route("/news/story/{number}", get(story::story))
        .route("/news/rules", get(rules::rules).post(acting::rules))
        .route("/news/saved", post(acting::saved))
        .route("/news/sites", get(sites::sites).post(acting::sites))
        .route("/news/sites/import", post(acting::import))
        .route("/news/collect", post(acting::collect))
        .route("/news/read", post(acting::read))
        .route("/news/read/all", post(acting::read_all))
        .route("/news/undo", post(acting::undo))
        .route("/assets/news.js", get(assets::news_script))
        .route("/assets/news.css", get(assets::news_style))
}

/// The time, for ages and days.
fn now() -> Time {
    Time::from_system(SystemTime::now())
}

/// What there is of news, in one row.
async fn overview(app: &App) -> Result<Value, Failure> {
    let rows = app.ask(argiope_crawl::Question::NewsOverview).await?;
    Ok(rows.into_iter().next().unwrap_or_default())
}

/// The sites that are followed; of others there may be articles still.
fn followed(overview: &Value) -> impl Iterator<Item = &Value> {
    list(overview, "sites").iter().filter(|row| row["followed"] != false)
}

/// What all these pages have in their heads.
fn head() -> maud::Markup {
    maud::html! {
        link rel="stylesheet" href="/assets/news.css";
        script src="/assets/news.js" defer {}
    }
}
