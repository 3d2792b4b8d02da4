//! What programs ask: JSON for everything the pages show, archive protocols, feeds, metrics.
//!
//! ```text
//!  table (paths, parameters, answers) ──▶ router: method, token, parameters checked ──▶ a function per path
//!                                   └───▶ /api/openapi.json
//! ```
//!
//! * What this is: one [`table`] says which paths there are, what they take and what they answer. The router checks
//!   requests by it, and the description is written from it, so that the two cannot disagree.
//! * Its place: asks through `App` as the pages do.
//! * Invariants: whatever is wrong is answered with a status and `{"status", "error"}`. Every parameter has a bound, and
//!   one that is not known is refused. What is answered in pieces goes on with a cursor that only this server can make.
//! * What is not here: the pages (`view`), the live crawl (`live`), who may ask (`guard`).

mod acting;
mod atom;
mod cdx;
mod cursor;
mod given;
mod health;
mod memento;
mod meter;
mod news;
mod news_table;
mod openapi;
mod reading;
mod schema;
mod suggest;
mod table;
mod tables;
mod versions;

pub(crate) use given::base;
pub(crate) use memento::{memento_headers, place};
pub(crate) use meter::{Meter, measure};

use crate::app::App;
use crate::failure::Failure;
use crate::guard::Caller;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Extension, FromRequest, RawPathParams, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use given::Given;
use serde_json::Value;
use std::sync::Arc;
use table::{Endpoint, Verb};

/// Whether a path is one that programs ask for: what is wrong there is said as JSON.
pub(crate) fn is_for_programs(path: &str) -> bool {
    let under = ["/api/", "/timemap/", "/timegate/"];
    under.iter().any(|start| path.starts_with(start))
        || matches!(
            path,
            "/cdx"
                | "/metrics"
                | "/healthz"
                | "/readyz"
                | "/feed.atom"
                | "/news.atom"
                | "/news.opml"
        )
}

/// The paths for programs.
pub(crate) fn routes() -> Router<Arc<App>> {
    let mut router = Router::new();
    for endpoint in tables::all().filter(|endpoint| !endpoint.route.is_empty()) {
        let route =
            any(move |state, caller, path, request| answer(endpoint, state, caller, path, request));
        router = router.route(endpoint.route, route);
    }
    let unknown = || async {
        Failure::unknown("there is nothing of this name; /api/openapi.json lists what there is")
            .as_json()
    };
    router.route("/api", any(unknown)).route("/api/{*rest}", any(unknown))
}

async fn answer(
    endpoint: &'static Endpoint,
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
    path: RawPathParams,
    request: Request,
) -> Response {
    let allowed = match (endpoint.verb, request.method()) {
        (Verb::Get, &Method::GET | &Method::HEAD) | (Verb::Post, &Method::POST) => true,
        (_, _) => false,
    };
    if !allowed {
        let verbs = match endpoint.verb {
            Verb::Get => "GET, HEAD",
            Verb::Post => "POST",
        };
        let status = StatusCode::METHOD_NOT_ALLOWED;
        let why = format!("{} is asked for with {verbs}", endpoint.path);
        return ([(header::ALLOW, verbs)], Failure { status, why }.as_json()).into_response();
    }
    let (parts, body) = request.into_parts();
    if caller == Caller::Reader && (endpoint.guarded || endpoint.verb == Verb::Post) {
        let status = StatusCode::UNAUTHORIZED;
        let why = "that needs the token that `argiope serve` printed: Authorization: Bearer …";
        let failure = Failure { status, why: why.to_owned() };
        return ([(header::WWW_AUTHENTICATE, "Bearer")], failure.as_json()).into_response();
    }
    if endpoint.verb == Verb::Post {
        let csrf = parts.headers.get("x-argiope-csrf").and_then(|v| v.to_str().ok());
        if let Err(failure) = app.guard.may_act(caller, csrf.unwrap_or_default()) {
            return failure.as_json();
        }
    }
    let body = match endpoint.verb {
        Verb::Get => None,
        Verb::Post => match read(&parts.headers, Request::from_parts(parts.clone(), body)).await {
            Ok(body) => body,
            Err(failure) => return failure.as_json(),
        },
    };
    let given = Given::read(endpoint, &path, &parts.uri, &parts.headers, body);
    let answered = match given {
        Ok(given) => (endpoint.act)(&app, given).await,
        Err(failure) => Err(failure),
    };
    answered.unwrap_or_else(|failure| failure.as_json())
}

/// The body of a request: JSON, or nothing.
async fn read(headers: &HeaderMap, request: Request) -> Result<Option<Value>, Failure> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let bytes = Bytes::from_request(request, &()).await.map_err(|rejection| Failure {
        status: rejection.status(),
        why: "the body could not be read, or is too long".to_owned(),
    })?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if kind != "application/json" {
        return Err(Failure {
            status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
            why: "the body is to be JSON: Content-Type: application/json".to_owned(),
        });
    }
    let wrong = |e| Failure::wrong(format!("the body is no JSON: {e}"));
    serde_json::from_slice(&bytes).map(Some).map_err(wrong)
}

/// An answer in JSON.
fn json(value: &Value) -> Response {
    typed("application/json; charset=utf-8", value.to_string())
}

/// An answer of some type.
fn typed(kind: &'static str, body: String) -> Response {
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}
