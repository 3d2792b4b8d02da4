//! Bringing the token, and giving it back.

use crate::app::Shared;
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::bare_page;
use axum::extract::{Extension, Form, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Redirect, Response};
use maud::html;
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Brought {
    #[serde(default)]
    token: String,
}

#[derive(Deserialize)]
pub(crate) struct Leaving {
    #[serde(default)]
    csrf: String,
}

pub(crate) async fn form() -> Html<String> {
    let body = html! {
        h1 { "The token, please" }
        p.lead { "Starting, stopping and excluding need the token that " code { "argiope serve" } " printed when it started." }
        form.stack method="post" action="/login" {
            label for="token" { "Token" }
            input id="token" name="token" type="password" autocomplete="current-password" required;
            button type="submit" { "Go on" }
        }
    };
    bare_page("The token", body)
}

pub(crate) async fn login(
    State(app): Shared,
    Form(brought): Form<Brought>,
) -> Result<Response, Failure> {
    if !app.guard.is_token(brought.token.trim()) {
        return Err(Failure::forbidden(
            "that is not the token; `argiope serve` printed it when it started",
        ));
    }
    let cookie = [(header::SET_COOKIE, app.guard.cookie())];
    Ok((cookie, Redirect::to("/")).into_response())
}

pub(crate) async fn logout(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(leaving): Form<Leaving>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &leaving.csrf)?;
    let cookie = [(header::SET_COOKIE, app.guard.no_cookie())];
    Ok((cookie, Redirect::to("/")).into_response())
}
