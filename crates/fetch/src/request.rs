//! What we say to a server.
//!
//! The headers that never change are made once; a request copies them and adds its host.

use crate::settings::{FetchError, FetchSettings};
use argiope_model::CanonicalUrl;
use bytes::Bytes;
use http_body_util::Empty;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{Request, Uri};

/// Makes requests.
pub(crate) struct Requests {
    headers: HeaderMap,
}

impl Requests {
    pub(crate) fn new(settings: &FetchSettings) -> Result<Self, FetchError> {
        let value = |setting, text: &str| {
            HeaderValue::from_str(text)
                .map_err(|_| FetchError::Header { setting, value: text.into() })
        };
        let mut headers = HeaderMap::with_capacity(8);
        // The host goes first in a request; this holds its place.
        headers.insert(header::HOST, HeaderValue::from_static(""));
        headers.insert(header::USER_AGENT, value("user agent", &settings.user_agent)?);
        let accept = HeaderValue::from_static("text/html,application/xhtml+xml,*/*;q=0.8");
        headers.insert(header::ACCEPT, accept);
        if let Some(language) = &settings.accept_language {
            headers.insert(header::ACCEPT_LANGUAGE, value("accepted language", language)?);
        }
        let codings = HeaderValue::from_static("gzip, br, deflate, zstd");
        headers.insert(header::ACCEPT_ENCODING, codings);
        Ok(Requests { headers })
    }

    /// Asks for a URL.
    pub(crate) fn get(&self, url: &CanonicalUrl) -> Request<Empty<Bytes>> {
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = target(url.path_and_query());
        let mut headers = self.headers.clone();
        if let Ok(host) = HeaderValue::from_str(url.authority()) {
            headers.insert(header::HOST, host);
        }
        *request.headers_mut() = headers;
        request
    }
}

/// Path and query as the request line writes them. A URL may hold a few characters that the
/// client does not let through; those go escaped.
fn target(path_and_query: &str) -> Uri {
    if let Ok(target) =
        PathAndQuery::from_maybe_shared(Bytes::copy_from_slice(path_and_query.as_bytes()))
    {
        return target.into();
    }
    let mut escaped = String::with_capacity(path_and_query.len() + 16);
    for b in path_and_query.bytes() {
        if b.is_ascii_alphanumeric() || b"-._~:/?[]@!$&'()*+,;=%".contains(&b) {
            escaped.push(char::from(b));
        } else {
            escaped.push_str(&format!("%{b:02X}"));
        }
    }
    Uri::try_from(escaped).unwrap_or_default()
}
