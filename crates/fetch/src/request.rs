//! What we say to a server.
//!
//! The headers that never change are made once; a request copies them and adds its host.

use crate::settings::{FetchError, FetchSettings};
use crate::wire::Language;
use argiope_model::{CanonicalUrl, Time};
use bytes::Bytes;
use http_body_util::Empty;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::uri::PathAndQuery;
use hyper::{Request, Uri, Version};

/// What an earlier answer said of itself: the server may answer that nothing has changed since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The `ETag` it had.
    pub etag: Option<Box<str>>,
    /// Its `Last-Modified`.
    pub modified: Option<Time>,
}

impl Conditions {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.modified.is_none()
    }

    fn add_to(&self, headers: &mut HeaderMap) {
        let value = |text: &str| HeaderValue::from_str(text).ok();
        if let Some(etag) = self.etag.as_deref().and_then(value) {
            headers.insert(header::IF_NONE_MATCH, etag);
        }
        if let Some(since) = self.modified.and_then(Time::http_date).as_deref().and_then(value) {
            headers.insert(header::IF_MODIFIED_SINCE, since);
        }
    }
}

/// Makes requests.
pub(crate) struct Requests {
    headers: HeaderMap,
    /// Set where plain requests go to a proxy: what opens it to us, if anything does.
    proxy: Option<Option<HeaderValue>>,
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
        let proxy = settings.proxy.as_ref().filter(|proxy| proxy.takes_plain_requests());
        Ok(Requests { headers, proxy: proxy.map(|proxy| proxy.authorization()) })
    }

    /// Whether the request for a URL is read by a proxy rather than by the server.
    pub(crate) fn go_to_proxy(&self, url: &CanonicalUrl) -> bool {
        self.proxy.is_some() && !url.is_https()
    }

    /// Asks for a URL, in the form that the language and a proxy on the way want.
    pub(crate) fn get(
        &self,
        url: &CanonicalUrl,
        conditions: &Conditions,
        language: Language,
    ) -> Request<Empty<Bytes>> {
        let mut request = Request::new(Empty::new());
        let mut headers = self.headers.clone();
        conditions.add_to(&mut headers);
        let target = target(url.path_and_query());
        if let (Language::Http1, Ok(host)) = (language, HeaderValue::from_str(url.authority())) {
            headers.insert(header::HOST, host);
        }
        *request.uri_mut() = match (language, &self.proxy) {
            (Language::Http2, _) => {
                // HTTP/2 has pseudo-headers instead, which are made of the full URL.
                headers.remove(header::HOST);
                *request.version_mut() = Version::HTTP_2;
                whole(url, target)
            }
            (Language::Http1, Some(authorization)) if !url.is_https() => {
                if let Some(value) = authorization {
                    headers.insert(header::PROXY_AUTHORIZATION, value.clone());
                }
                whole(url, target)
            }
            _ => target.into(),
        };
        *request.headers_mut() = headers;
        request
    }
}

/// Scheme and host in front of the path.
fn whole(url: &CanonicalUrl, target: PathAndQuery) -> Uri {
    let uri = Uri::builder().scheme(url.scheme()).authority(url.authority());
    uri.path_and_query(target.clone()).build().unwrap_or_else(|_| target.into())
}

/// Path and query as the request line writes them. A URL may hold a few characters that the
/// client does not let through; those go escaped.
fn target(path_and_query: &str) -> PathAndQuery {
    if let Ok(target) =
        PathAndQuery::from_maybe_shared(Bytes::copy_from_slice(path_and_query.as_bytes()))
    {
        return target;
    }
    let mut escaped = String::with_capacity(path_and_query.len() + 16);
    for b in path_and_query.bytes() {
        if b.is_ascii_alphanumeric() || b"-._~:/?[]@!$&'()*+,;=%".contains(&b) {
            escaped.push(char::from(b));
        } else {
            escaped.push_str(&format!("%{b:02X}"));
        }
    }
    PathAndQuery::try_from(escaped).unwrap_or_else(|_| PathAndQuery::from_static("/"))
}
