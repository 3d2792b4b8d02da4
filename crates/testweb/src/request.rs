//! Requests: the head of an HTTP/1.x request, read from bytes that anybody may have sent.
//!
//! Only what the server acts on is kept. Bodies are never read: a request that announces one is
//! answered and its connection closed.

/// The longest request head that is read.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// What the bytes received so far amount to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// The head has not ended yet.
    Incomplete,
    /// Not a request; answer with this status and close.
    Refused(u16),
    /// A request, and how many bytes its head took.
    Request(Request, usize),
}

/// What matters of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// Path and query.
    pub(crate) target: String,
    /// `HEAD`: the answer has no body.
    pub(crate) head_only: bool,
    pub(crate) host: Option<String>,
    pub(crate) keep_alive: bool,
    pub(crate) if_none_match: Option<String>,
}

/// Reads a request from the front of `bytes`.
pub(crate) fn parse(bytes: &[u8]) -> Parsed {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        let too_long = bytes.len() >= MAX_HEAD_BYTES;
        return if too_long { Parsed::Refused(431) } else { Parsed::Incomplete };
    };
    if end > MAX_HEAD_BYTES {
        return Parsed::Refused(431);
    }
    let Ok(head) = std::str::from_utf8(&bytes[..end]) else {
        return Parsed::Refused(400);
    };
    match read_head(head) {
        Ok(request) => Parsed::Request(request, end + 4),
        Err(status) => Parsed::Refused(status),
    }
}

fn read_head(head: &str) -> Result<Request, u16> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(400);
    };
    let modern = match version {
        "HTTP/1.1" => true,
        "HTTP/1.0" => false,
        _ if version.starts_with("HTTP/") => return Err(505),
        _ => return Err(400),
    };
    let head_only = match method {
        "GET" => false,
        "HEAD" => true,
        _ if method.bytes().all(|b| b.is_ascii_uppercase()) && !method.is_empty() => {
            return Err(405);
        }
        _ => return Err(400),
    };
    let mut request = Request {
        target: origin_form(target).ok_or(400_u16)?,
        head_only,
        host: None,
        keep_alive: modern,
        if_none_match: None,
    };
    let mut has_body = false;
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(400_u16)?;
        let value = value.trim();
        if name.is_empty() || name.contains([' ', '\t']) {
            return Err(400);
        } else if name.eq_ignore_ascii_case("host") {
            request.host = Some(value.to_ascii_lowercase());
        } else if name.eq_ignore_ascii_case("connection") {
            request.keep_alive = if modern {
                !value.eq_ignore_ascii_case("close")
            } else {
                value.eq_ignore_ascii_case("keep-alive")
            };
        } else if name.eq_ignore_ascii_case("if-none-match") {
            request.if_none_match = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("content-length") {
            has_body |= value != "0";
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            has_body = true;
        }
    }
    if modern && request.host.is_none() {
        return Err(400);
    }
    request.keep_alive &= !has_body;
    Ok(request)
}

/// Path and query of a request target, which may also be a whole URL.
fn origin_form(target: &str) -> Option<String> {
    if target.starts_with('/') {
        return Some(target.to_owned());
    }
    let rest = target.strip_prefix("http://")?;
    Some(rest.find('/').map_or("/", |slash| &rest[slash..]).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_is_read_up_to_its_empty_line() {
        let bytes = b"GET /a?b HTTP/1.1\r\nHost: X.test\r\nIf-None-Match: \"1\"\r\n\r\nGET";
        let Parsed::Request(request, used) = parse(bytes) else { panic!("a request") };
        assert_eq!(used, bytes.len() - 3);
        assert_eq!((request.target.as_str(), request.head_only), ("/a?b", false));
        assert_eq!(request.host.as_deref(), Some("x.test"));
        assert_eq!(request.if_none_match.as_deref(), Some("\"1\""));
        assert!(request.keep_alive);
    }

    #[test]
    fn what_is_not_a_request_is_refused_with_its_status() {
        for (bytes, status) in [
            ("\x16\x03\x01\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("GET a HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost x\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\n\r\n", 405),
            ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        ] {
            assert_eq!(parse(bytes.as_bytes()), Parsed::Refused(status), "{bytes}");
        }
        assert_eq!(parse(&[b'a'; MAX_HEAD_BYTES]), Parsed::Refused(431));
    }

    #[test]
    fn connections_stay_open_by_version_and_wish() {
        for (head, keep) in [
            ("GET / HTTP/1.0\r\n\r\n", false),
            ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n", false),
        ] {
            let Parsed::Request(request, _) = parse(head.as_bytes()) else { panic!("{head}") };
            assert_eq!(request.keep_alive, keep, "{head}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_may_arrive(bytes: Vec<u8>, tail in "[A-Z/ :.a-z0-9\r\n]{0,60}\r\n\r\n") {
            let _ = parse(&bytes);
            let _ = parse(tail.as_bytes());
        }
    }
}
