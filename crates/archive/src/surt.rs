//! Sort-friendly URL keys: `com,example)/path?a=1&b=2`.
//!
//! The rules are those of the Wayback family of tools as pywb applies them (the Python package
//! `surt` with its defaults), wart by wart: an index is of use only if its keys are the ones the
//! reader computes. They go beyond canonical URLs: `www.` is dropped, everything is lower case,
//! parameters are sorted, session ids removed, escapes undone as often as possible and made anew.
//!
//! Differences: a host outside ASCII is not turned into punycode (canonical URLs have none), and
//! a text that `surt` refuses is its own key.

use crate::session::{strip_path_sessions, strip_query_sessions};
use std::net::Ipv4Addr;

/// The key under which CDXJ tools look a URL up.
pub fn surt(url: &str) -> String {
    if url.starts_with("filedesc") {
        return url.to_owned();
    }
    let bytes: Vec<u8> =
        url.trim_ascii().bytes().filter(|b| !matches!(b, b'\n' | b'\r' | b'\t')).collect();
    if bytes.is_empty() {
        return "-".to_owned();
    }
    match Parts::parse(bytes) {
        // Everything outside ASCII was escaped, so this loses nothing.
        Some(parts) => String::from_utf8_lossy(&parts.key()).into_owned(),
        None => url.to_owned(),
    }
}

struct Parts {
    scheme: Vec<u8>,
    host: Vec<u8>,
    port: Option<u16>,
    path: Vec<u8>,
    query: Vec<u8>,
}

impl Parts {
    /// `None` where the port is no port.
    fn parse(mut url: Vec<u8>) -> Option<Parts> {
        if scheme_len(&url).is_none() {
            url.splice(0..0, *b"http://");
        }
        let url = last_protocol(&url);
        let scheme_end = scheme_len(url)?;
        let scheme = url[..scheme_end].to_vec();
        let rest = &url[scheme_end + 1..];
        let rest = &rest[..position(rest, b'#').unwrap_or(rest.len())];
        let (rest, query) = match position(rest, b'?') {
            Some(at) => (&rest[..at], rest[at + 1..].to_vec()),
            None => (rest, Vec::new()),
        };
        let (authority, path) = match rest.strip_prefix(b"//") {
            Some(rest) => rest.split_at(position(rest, b'/').unwrap_or(rest.len())),
            None => (&b""[..], rest),
        };
        let (host, port) = split_authority(authority)?;
        let mut parts = Parts { scheme, host, port, path: path.to_vec(), query };
        if parts.host.is_empty() && !parts.path.is_empty() && parts.scheme.starts_with(b"http") {
            // `http:////example.com/`
            let start = parts.path.iter().take_while(|b| **b == b'/').count();
            let name = &parts.path[start..];
            let end = position(name, b'/').unwrap_or(name.len());
            parts.host = name[..end].to_vec();
            let mut path = b"/".to_vec();
            path.extend_from_slice(name.get(end + 1..).unwrap_or_default());
            parts.path = path;
        }
        Some(parts)
    }

    fn key(mut self) -> Vec<u8> {
        let host = canonical_host(&self.host);
        let has_host = !host.is_empty();
        let mut out = Vec::new();
        if has_host {
            let host = if self.scheme == b"dns" { &host[..] } else { without_www(&host) };
            for (n, label) in host.split(|b| *b == b'.').rev().enumerate() {
                if n > 0 {
                    out.push(b',');
                }
                out.extend_from_slice(label);
            }
            let default = match self.scheme.to_ascii_lowercase().as_slice() {
                b"http" => 80,
                b"https" => 443,
                _ => 0,
            };
            if let Some(port) = self.port.filter(|port| *port != default) {
                out.extend_from_slice(format!(":{port}").as_bytes());
            }
            out.push(b')');
        } else {
            out.extend_from_slice(&self.scheme);
            out.push(b':');
        }

        let mut path = unescape_repeatedly(self.path);
        if has_host {
            path = normal_path(&path);
        }
        path = escape(&path).to_ascii_lowercase();
        strip_path_sessions(&mut path);
        if path.len() > 1 && path.ends_with(b"/") {
            path.pop();
        }

        self.query = escape(&unescape_repeatedly(self.query));
        strip_query_sessions(&mut self.query);
        let query = sorted_query(&self.query.to_ascii_lowercase());
        out.extend_from_slice(&path);
        if !query.is_empty() {
            if path.is_empty() {
                out.push(b'/');
            }
            out.push(b'?');
            out.extend_from_slice(&query);
        }
        out
    }
}

fn position(bytes: &[u8], wanted: u8) -> Option<usize> {
    memchr::memchr(wanted, bytes)
}

/// Length of the scheme that stands before the first colon.
fn scheme_len(url: &[u8]) -> Option<usize> {
    let end = position(url, b':')?;
    let legal = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    (url[0].is_ascii_alphabetic() && url[..end].iter().all(legal)).then_some(end)
}

/// `http://https://example.com` means the last of them.
fn last_protocol(mut url: &[u8]) -> &[u8] {
    loop {
        let rest = url.strip_prefix(b"http://").or_else(|| url.strip_prefix(b"https://"));
        match rest {
            Some(rest) if rest.starts_with(b"http://") || rest.starts_with(b"https://") => {
                url = rest;
            }
            _ => return url,
        }
    }
}

fn split_authority(authority: &[u8]) -> Option<(Vec<u8>, Option<u16>)> {
    let end = authority.iter().rposition(|b| *b != b':').map_or(0, |at| at + 1);
    let authority = &authority[..end];
    let at = authority.iter().rposition(|b| *b == b'@').map_or(0, |at| at + 1);
    let address = &authority[at..];
    let (host, port) = match position(address, b'[') {
        Some(open) => {
            let inside = &address[open + 1..];
            let close = position(inside, b']').unwrap_or(inside.len());
            let after = inside.get(close + 1..).unwrap_or_default();
            (&inside[..close], position(after, b':').map(|colon| &after[colon + 1..]))
        }
        None => match position(address, b':') {
            Some(colon) => (&address[..colon], Some(&address[colon + 1..])),
            None => (address, None),
        },
    };
    let port = match port {
        None | Some(b"") => None,
        Some(digits) if digits.iter().all(u8::is_ascii_digit) => {
            Some(std::str::from_utf8(digits).ok()?.parse::<u16>().ok()?).filter(|p| *p != 0)
        }
        Some(_) => return None,
    };
    Some((host.to_ascii_lowercase(), port))
}

fn canonical_host(host: &[u8]) -> Vec<u8> {
    let host = replace_once_through(&unescape_repeatedly(host.to_vec()), b"..", b'.');
    let start = host.iter().position(|b| *b != b'.').unwrap_or(host.len());
    let end = host.iter().rposition(|b| *b != b'.').map_or(start, |at| at + 1);
    let host = &host[start..end];
    match address_of(host) {
        Some(ip) => ip.to_string().into_bytes(),
        None => escape(&host.to_ascii_lowercase()).to_ascii_lowercase(),
    }
}

fn without_www(host: &[u8]) -> &[u8] {
    let Some(rest) = host.strip_prefix(b"www") else { return host };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    rest[digits..].strip_prefix(b".").unwrap_or(host)
}

fn replace_once_through(text: &[u8], pair: &[u8; 2], by: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        match rest.strip_prefix(pair) {
            Some(after) => {
                out.push(by);
                rest = after;
            }
            None => {
                out.push(first);
                rest = tail;
            }
        }
    }
    out
}

/// The address that a host of digits means, in the ways of `inet_aton`.
fn address_of(host: &[u8]) -> Option<Ipv4Addr> {
    if host.is_empty() || !host[0].is_ascii_digit() {
        return None;
    }
    if host.iter().all(u8::is_ascii_digit) {
        // Any number of digits; the lowest four bytes count.
        let number = host
            .iter()
            .fold(0u32, |n, digit| n.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
        return Some(Ipv4Addr::from(number));
    }
    let parts: Vec<&[u8]> = host.split(|b| *b == b'.').collect();
    let octal = host[0] == b'0';
    let legal = |b: &u8| if octal { (b'0'..=b'7').contains(b) } else { b.is_ascii_digit() };
    if parts.len() > 4 || parts.iter().any(|p| p.is_empty() || !p.iter().all(legal)) {
        return None;
    }
    let mut numbers = Vec::with_capacity(4);
    for part in &parts {
        let radix = if part.len() > 1 && part[0] == b'0' { 8 } else { 10 };
        numbers.push(u64::from_str_radix(std::str::from_utf8(part).ok()?, radix).ok()?);
    }
    let last = numbers.pop()?;
    let room = 8 * (4 - numbers.len() as u32);
    if numbers.iter().any(|n| *n > 255) || last >= 1 << room {
        return None;
    }
    let high = numbers.iter().fold(0u64, |sum, n| sum << 8 | n);
    Some(Ipv4Addr::from(u32::try_from(high << room | last).ok()?))
}

/// Dot segments resolved (those above the root stay), repeated slashes joined.
fn normal_path(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|b| *b == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => {
                kept.pop();
            }
            other => kept.push(other),
        }
    }
    let mut out = b"/".to_vec();
    if let Some((last, before)) = kept.split_last() {
        for segment in before.iter().filter(|s| !s.is_empty()) {
            out.extend_from_slice(segment);
            out.push(b'/');
        }
        out.extend_from_slice(last);
    }
    out
}

fn unescape_repeatedly(mut text: Vec<u8>) -> Vec<u8> {
    loop {
        let once = unescape(&text);
        if once.len() == text.len() {
            return text;
        }
        text = once;
    }
}

fn unescape(text: &[u8]) -> Vec<u8> {
    let digit = |b: Option<&u8>| b.and_then(|b| char::from(*b).to_digit(16));
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let escaped = (text[at] == b'%')
            .then(|| Some(digit(text.get(at + 1))? * 16 + digit(text.get(at + 2))?))
            .flatten();
        match escaped {
            Some(byte) => {
                out.push(byte as u8);
                at += 3;
            }
            None => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

/// Escapes all but printable ASCII, and of that `#`, `%` and the space.
fn escape(text: &[u8]) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = Vec::with_capacity(text.len());
    for &b in text {
        if b.is_ascii_graphic() && b != b'#' && b != b'%' {
            out.push(b);
        } else {
            out.extend_from_slice(&[b'%', HEX[usize::from(b >> 4)], HEX[usize::from(b & 15)]]);
        }
    }
    out
}

/// Parameters sorted by name, then value; one without `=` before one with.
fn sorted_query(query: &[u8]) -> Vec<u8> {
    if query.len() <= 1 {
        return query.to_vec();
    }
    let mut parameters: Vec<(&[u8], Option<&[u8]>)> = query
        .split(|b| *b == b'&')
        .map(|p| match position(p, b'=') {
            Some(at) => (&p[..at], Some(&p[at + 1..])),
            None => (p, None),
        })
        .collect();
    parameters.sort_unstable();
    let mut out = Vec::with_capacity(query.len());
    for (n, (name, value)) in parameters.into_iter().enumerate() {
        if n > 0 {
            out.push(b'&');
        }
        out.extend_from_slice(name);
        if let Some(value) = value {
            out.push(b'=');
            out.extend_from_slice(value);
        }
    }
    out
}
