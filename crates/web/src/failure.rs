//! Why a request is not answered: a status and a sentence.

use crate::layout::bare_page;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use serde_json::json;

/// Why a request is not answered. As a page; [`Failure::as_json`] for programs.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub status: StatusCode,
    pub why: String,
}

impl Failure {
    fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Failure { status, why: why.into() }
    }

    /// Nothing is known of what is asked for.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, why)
    }

    /// The request is written wrongly.
    pub fn wrong(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, why)
    }

    /// The desk has said no.
    pub fn refused(why: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, why)
    }

    /// Who asks may not.
    pub fn forbidden(why: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, why)
    }

    /// Nobody can answer at the moment.
    pub fn nobody(why: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
    }

    /// Too many ask.
    pub fn busy() -> Self {
        Self::nobody("too many questions at once; try again in a moment")
    }

    /// A mistake of ours.
    pub fn ours(why: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, why)
    }

    /// The reason as a sentence of its own.
    pub fn sentence(&self) -> String {
        let mut letters = self.why.chars();
        let is_url = self.why.starts_with("http");
        let first = letters.next().into_iter();
        let first: String = match is_url {
            true => first.collect(),
            false => first.flat_map(char::to_uppercase).collect(),
        };
        let end = if self.why.ends_with(['.', '!', '?', '…']) { "" } else { "." };
        format!("{first}{}{end}", letters.as_str())
    }

    /// For programs.
    pub fn as_json(&self) -> Response {
        let body = json!({ "status": self.status.as_u16(), "error": self.why }).to_string();
        let head = [("content-type", "application/json; charset=utf-8")];
        (self.status, head, body).into_response()
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let title = match self.status.as_u16() {
            400 => "That could not be read",
            403 => "Not allowed",
            404 => "Not here",
            409 => "Not possible now",
            503 => "Nobody answers just now",
            _ => "Something went wrong",
        };
        let body = html! {
            h1 { (title) }
            p.lead { (self.sentence()) }
            p { a href="/" { "To the search" } }
        };
        (self.status, bare_page(title, body)).into_response()
    }
}
