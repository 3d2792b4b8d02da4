//! The pages, a module for each part of the house.

mod home;
mod login;

use crate::app::App;
use crate::failure::Failure;
use axum::Router;
use axum::routing::{get, post};
use std::sync::Arc;

/// The pages.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(home::home))
        .route("/login", get(login::form).post(login::login))
        .route("/logout", post(login::logout))
        .fallback(|| async { Failure::unknown("there is no page of this name") })
}
