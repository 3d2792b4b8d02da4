//! The pages, a module for each part of the house.

mod help;
mod home;
mod lists;
mod login;
mod new;
mod page;
pub(crate) mod parts;
pub(crate) mod past;
mod plot;
pub(crate) mod reading;
mod search;
mod site;
mod sites;
mod slider;
pub(crate) mod versions;
mod words;

use crate::app::App;
use crate::failure::Failure;
use axum::Router;
use axum::routing::{get, post};
use std::sync::Arc;

/// The pages.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(home::home))
        .route("/search", get(search::search))
        .route("/page", get(page::page_view))
        .route("/page/text", get(reading::text_view))
        .route("/page/diff", get(reading::diff_view))
        .route("/page/links", get(reading::links_view))
        .route("/sites", get(sites::sites))
        .route("/site", get(site::site))
        .route("/broken", get(lists::broken))
        .route("/top", get(lists::top))
        .route("/words", get(words::words))
        .route("/word", get(words::word))
        .route("/new", get(new::new))
        .route("/login", get(login::form).post(login::login))
        .route("/logout", post(login::logout))
        .fallback(|| async { Failure::unknown("there is no page of this name") })
}
