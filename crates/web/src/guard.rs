//! Who may ask for what: host names, the token, forged requests, and the headers of every answer.
//!
//! * On loopback everybody on the machine may read; elsewhere reading needs the token too. Whatever changes
//!   something needs it always.
//! * A browser brings the token once (`?token=…`, or the form at `/login`) and then has a cookie made from it; a program
//!   sends `Authorization: Bearer …` with every request.
//! * Invariants: a name that is not ours is refused, so that no stranger's name leads to a reader's own machine. With a
//!   cookie, a change is made only by a form of ours (its `csrf` field), from our own origin.
//! * What is not here: limits on connections (`door`) and on questions (`app`).

use crate::api::is_for_programs;
use crate::app::App;
use crate::failure::Failure;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use ring::hmac;
use ring::rand::SystemRandom;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// No request takes longer until its answer begins.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a path and its query.
const URI_BYTES: usize = 16 << 10;
/// Bytes of a request's body.
pub(crate) const BODY_BYTES: usize = 1 << 20;
/// Bytes of all headers.
const HEADER_BYTES: usize = 32 << 10;
/// Parameters of a query.
const PARAMETERS: usize = 64;
/// What our own pages may do: load our style and script, and talk to us.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'";

/// What the pages of the news may do beside that: show the pictures of the sites that are followed.
const NEWS_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data: http: https:; \
    connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'";

/// 128 random bits.
pub fn new_token() -> String {
    let random = SystemRandom::new();
    let bytes: [u8; 16] =
        ring::rand::generate(&random).expect("the system has randomness").expose();
    data_encoding::HEXLOWER.encode(&bytes)
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Somebody without the token.
    Reader,
    /// A browser that has brought the token.
    Browser,
    /// A program that brings the token with each request.
    Program,
}

impl Caller {
    /// Whether it has shown the token.
    pub fn is_operator(self) -> bool {
        self != Caller::Reader
    }
}

/// Knows the token.
pub(crate) struct Guard {
    address: SocketAddr,
    names: Vec<String>,
    token: String,
    key: hmac::Key,
}

impl Guard {
    pub fn new(address: SocketAddr, names: Vec<String>, token: String) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
        Guard { address, names, token, key }
    }

    /// Whether everybody who gets here may read.
    fn is_open(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// A value that only who knows the token can make.
    pub fn signed(&self, of: &str) -> String {
        data_encoding::HEXLOWER.encode(hmac::sign(&self.key, of.as_bytes()).as_ref())
    }

    /// Whether two texts are the same; how long that takes tells nothing.
    pub fn same(&self, a: &str, b: &str) -> bool {
        let tag = hmac::sign(&self.key, a.as_bytes());
        hmac::verify(&self.key, b.as_bytes(), tag.as_ref()).is_ok()
    }

    /// Whether it is the token.
    pub fn is_token(&self, text: &str) -> bool {
        self.same(&self.token, text)
    }

    /// What a form of ours carries in its field `csrf`.
    pub fn form_token(&self) -> String {
        self.signed("form")
    }

    /// The cookie of a browser that has brought the token. Browsers keep cookies of all ports together.
    pub fn cookie(&self) -> String {
        let (name, value) = (self.cookie_name(), self.signed("cookie"));
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000")
    }

    /// Takes the cookie away.
    pub fn no_cookie(&self) -> String {
        format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", self.cookie_name())
    }

    fn cookie_name(&self) -> String {
        format!("argiope-{}", self.address.port())
    }

    /// Whether a change may be made; `csrf` is what came with the form.
    pub fn may_act(&self, caller: Caller, csrf: &str) -> Result<(), Failure> {
        match caller {
            Caller::Program => Ok(()),
            Caller::Browser if self.same(&self.form_token(), csrf) => Ok(()),
            Caller::Browser => Err(Failure::forbidden(
                "this form is not one of ours, or of an earlier start; load the page again and repeat",
            )),
            Caller::Reader => Err(Failure::forbidden(
                "that needs the token that `argiope serve` printed; enter it at /login",
            )),
        }
    }

    fn caller(&self, headers: &HeaderMap) -> Caller {
        let text = |name: HeaderName| headers.get(name).and_then(|v| v.to_str().ok());
        let bearer = text(header::AUTHORIZATION).and_then(|v| v.strip_prefix("Bearer "));
        if bearer.is_some_and(|token| self.is_token(token)) {
            return Caller::Program;
        }
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|v| v.to_str().ok());
        let ours = cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(n, value)| n == name && self.same(&self.signed("cookie"), value));
        if ours { Caller::Browser } else { Caller::Reader }
    }

    /// Whether the name that was asked for is one of ours.
    fn is_ours(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        match name.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || !self.is_open(),
            Err(_) => {
                name.eq_ignore_ascii_case("localhost")
                    || self.names.iter().any(|ours| ours.eq_ignore_ascii_case(name))
            }
        }
    }

    /// Whether a request that changes something comes from our own pages, as far as a browser tells.
    fn is_from_us(&self, headers: &HeaderMap, host: &str) -> bool {
        let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
        let site = text("sec-fetch-site").is_none_or(|site| matches!(site, "same-origin" | "none"));
        let origin = text("origin").is_none_or(|origin| {
            origin.split_once("://").is_some_and(|(_, from)| from.eq_ignore_ascii_case(host))
        });
        site && origin
    }
}

/// Looks at every request before anybody else does.
pub(crate) async fn watch(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let json = is_for_programs(path);
    let news = path == "/news" || path.starts_with("/news/");
    let policy = if news { NEWS_POLICY } else { POLICY };
    let answer = match admit(&app.guard, &mut request) {
        Ok(None) => match tokio::time::timeout(PATIENCE, next.run(request)).await {
            Ok(answer) => in_words(answer, json),
            Err(_) => said(Failure::nobody("that took too long; ask for less"), json),
        },
        Ok(Some(elsewhere)) => elsewhere,
        Err(failure) => said(failure, json),
    };
    with_headers(answer, policy)
}

/// What the server itself refuses, a form without its fields for example, is told as everything else is.
fn in_words(answer: Response, json: bool) -> Response {
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
    let bare = kind.is_none_or(|kind| kind.starts_with("text/plain"));
    if json || !bare || !answer.status().is_client_error() {
        return answer;
    }
    let why = match answer.status() {
        StatusCode::METHOD_NOT_ALLOWED => {
            "that cannot be done here; go back to the page and use its buttons"
        }
        StatusCode::PAYLOAD_TOO_LARGE => "that is too long; ask for less",
        _ => "this form could not be read; go back to the page and fill it in again",
    };
    said(Failure { status: answer.status(), why: why.to_owned() }, false)
}

fn said(failure: Failure, json: bool) -> Response {
    if json { failure.as_json() } else { failure.into_response() }
}

/// Lets a request in, sends it elsewhere, or refuses it.
fn admit(guard: &Guard, request: &mut Request) -> Result<Option<Response>, Failure> {
    let uri = request.uri();
    let asked = uri.path_and_query().map_or(0, |all| all.as_str().len());
    if asked > URI_BYTES || uri.query().is_some_and(|q| q.split('&').count() > PARAMETERS) {
        let why = "the address is too long; ask for less".to_owned();
        return Err(Failure { status: StatusCode::URI_TOO_LONG, why });
    }
    let heads = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
    if heads.sum::<usize>() > HEADER_BYTES {
        let why = "the head of the request is too long".to_owned();
        return Err(Failure { status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why });
    }
    // What is announced to be too long need not be waited for.
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok());
    if announced.and_then(|n| n.parse::<u64>().ok()).is_some_and(|n| n > BODY_BYTES as u64) {
        let why = "the body of the request is too long".to_owned();
        return Err(Failure { status: StatusCode::PAYLOAD_TOO_LARGE, why });
    }
    // More than one name is none.
    let mut named = request.headers().get_all(header::HOST).iter().map(|v| v.to_str());
    let host = match (named.next(), named.next()) {
        (Some(Ok(host)), None) => host,
        _ => "",
    };
    if !guard.is_ours(host) || uri.authority().is_some_and(|a| !guard.is_ours(a.as_str())) {
        return Err(Failure {
            status: StatusCode::MISDIRECTED_REQUEST,
            why: "this name is not ours; `argiope serve --name NAME` makes it so".to_owned(),
        });
    }
    let reading = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if !reading && !guard.is_from_us(request.headers(), host) {
        return Err(Failure::forbidden("changes are made from our own pages only"));
    }
    // A copy in its sandbox may lead to other copies; they say themselves who may frame them.
    let copy = request.uri().path().starts_with("/memento/");
    if !copy && is_embedded_elsewhere(request.headers()) {
        return Err(Failure::forbidden("other sites may lead here, and no more"));
    }
    if is_for_us_to_fetch(request.uri().path()) && is_part_of_a_page(request.headers()) {
        return Err(Failure::forbidden(
            "a quick look is for people and programs, not for pictures",
        ));
    }
    if *request.method() == Method::GET
        && let Some((token, rest)) = token_in(request.uri())
        && !is_for_programs(request.uri().path())
    {
        if !guard.is_token(&token) {
            return Err(Failure::forbidden(
                "that is not the token; `argiope serve` prints it when it starts",
            ));
        }
        let cookie = [(header::SET_COOKIE, guard.cookie())];
        return Ok(Some((cookie, Redirect::to(&rest)).into_response()));
    }
    let caller = guard.caller(request.headers());
    let path = request.uri().path();
    let free = matches!(path, "/login" | "/healthz" | "/readyz") || path.starts_with("/assets/");
    if !guard.is_open() && !caller.is_operator() && !free {
        if reading && !is_for_programs(path) {
            return Ok(Some(Redirect::to("/login").into_response()));
        }
        return Err(Failure {
            status: StatusCode::UNAUTHORIZED,
            why: "that needs the token: Authorization: Bearer …".to_owned(),
        });
    }
    request.extensions_mut().insert(caller);
    Ok(None)
}

/// Whether a page of another site wants to show or read this within itself, as far as a browser tells.
fn is_embedded_elsewhere(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
    let from = text("sec-fetch-site").is_some_and(|s| matches!(s, "cross-site" | "same-site"));
    let leads = text("sec-fetch-mode") == Some("navigate")
        && text("sec-fetch-dest").is_none_or(|dest| dest == "document");
    from && !leads
}

/// Whether we fetch something for who asks this.
fn is_for_us_to_fetch(path: &str) -> bool {
    matches!(path, "/news/quick" | "/api/news/quick")
}

/// Whether a page wants this as a picture, a script or the like: the pages of the news show pictures whose addresses
/// strangers write, and one of them may lead here, with the reader's cookie.
fn is_part_of_a_page(headers: &HeaderMap) -> bool {
    let dest = headers.get("sec-fetch-dest").and_then(|v| v.to_str().ok());
    dest.is_some_and(|dest| !matches!(dest, "document" | "empty"))
}

/// The token in a query, and the path with the rest of the query.
fn token_in(uri: &Uri) -> Option<(String, String)> {
    let pairs: Vec<&str> = uri.query()?.split('&').collect();
    let token = pairs.iter().find_map(|pair| pair.strip_prefix("token="))?;
    let rest: Vec<&str> =
        pairs.iter().copied().filter(|pair| !pair.starts_with("token=")).collect();
    // Two slashes, of either kind, would begin the name of another host.
    let path = format!("/{}", uri.path().trim_start_matches(['/', '\\']));
    let rest = if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) };
    Some((token.to_owned(), rest))
}

fn with_headers(mut answer: Response, policy: &'static str) -> Response {
    let headers = answer.headers_mut();
    let ours = [
        ("content-security-policy", policy),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in ours {
        let name = HeaderName::from_static(name);
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str) -> Guard {
        Guard::new(address.parse().unwrap(), vec!["crawl.example".into()], "secret".into())
    }

    #[test]
    fn only_our_own_names_lead_here() {
        let here = guard("127.0.0.1:7070");
        for ours in ["127.0.0.1:7070", "localhost:7070", "[::1]:7070", "Crawl.Example"] {
            assert!(here.is_ours(ours), "{ours}");
        }
        for other in ["evil.example:7070", "192.0.2.1:7070", "", "localhost.evil.example"] {
            assert!(!here.is_ours(other), "{other}");
        }
        assert!(guard("0.0.0.0:7070").is_ours("192.0.2.1:7070"));
    }

    #[test]
    fn a_picture_cannot_look_at_a_site() {
        for (dest, is) in [("image", true), ("iframe", true), ("document", false), ("empty", false)]
        {
            let headers =
                HeaderMap::from_iter([("sec-fetch-dest".parse().unwrap(), dest.parse().unwrap())]);
            assert_eq!(is_part_of_a_page(&headers), is, "{dest}");
        }
        assert!(is_for_us_to_fetch("/news/quick") && !is_part_of_a_page(&HeaderMap::new()));
    }

    #[test]
    fn a_cookie_or_the_token_makes_an_operator_and_nothing_else_does() {
        let guard = guard("127.0.0.1:7070");
        let caller = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            guard.caller(&headers)
        };
        let cookie = guard.cookie();
        let pair = cookie.split(';').next().unwrap();
        assert_eq!(caller("cookie", &format!("x=1; {pair}")), Caller::Browser);
        assert_eq!(caller("cookie", "argiope-7070=secret"), Caller::Reader);
        assert_eq!(caller("authorization", "Bearer secret"), Caller::Program);
        assert_eq!(caller("authorization", "Bearer secre"), Caller::Reader);
        assert!(guard.may_act(Caller::Browser, "").is_err());
        assert!(guard.may_act(Caller::Browser, &guard.form_token()).is_ok());
        assert!(guard.may_act(Caller::Reader, &guard.form_token()).is_err());
    }

    #[test]
    fn a_token_in_a_query_is_taken_out() {
        let uri: Uri = "//evil.example/a?x=1&token=secret&y=2".parse().unwrap();
        let (token, rest) = token_in(&uri).unwrap();
        assert_eq!((token.as_str(), rest.starts_with("//")), ("secret", false), "{rest}");
        let uri: Uri = "/search?q=a&token=secret".parse().unwrap();
        assert_eq!(token_in(&uri).unwrap().1, "/search?q=a");
    }
}
