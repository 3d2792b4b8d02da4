//! Asking through a proxy.
//!
//! * Its place: `route` opens a way through it where the settings name one; `request` writes
//!   plain requests in the form it wants.
//! * How: an HTTP proxy is sent plain requests whole, with the full URL, and opens a tunnel for
//!   TLS (`CONNECT`). A SOCKS 5 proxy opens a tunnel for everything. Either learns the name of
//!   the server, not its address: it looks the name up itself.
//! * Invariant: user name and password go to the proxy alone; they are in no message, no log, no
//!   `Debug`, and never inside a tunnel.

use crate::failure::{Failure, io_words};
use crate::names::literal;
use argiope_model::OutcomeKind;
use hyper::header::HeaderValue;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::str::FromStr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer to `CONNECT` with a larger head is not read.
const MAX_HEAD_BYTES: usize = 8 << 10;

/// What there is to say when a proxy does not let us in.
pub(crate) const WRONG_CREDENTIALS: &str = "the proxy wants another user name or password (407)";

/// Where a proxy is: `http://[user:password@]host[:port]` or `socks5://…`.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyUrl {
    kind: Kind,
    host: String,
    port: u16,
    credentials: Option<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Http,
    Socks5,
}

/// Why a text is not the URL of a proxy. The text is not repeated: it may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyUrlError {
    /// A scheme that is neither `http` nor `socks5`.
    #[error("a proxy begins with http:// or socks5://")]
    Scheme,
    /// The host is missing or cannot be one.
    #[error("the proxy has no usable host name")]
    Host,
    /// The port is not a number from 1 to 65535.
    #[error("the proxy's port is not a number from 1 to 65535")]
    Port,
    /// User name or password are too long or wrongly escaped.
    #[error("the proxy's user name or password cannot be used")]
    Credentials,
}

impl FromStr for ProxyUrl {
    type Err = ProxyUrlError;

    fn from_str(text: &str) -> Result<Self, ProxyUrlError> {
        let (scheme, rest) = text.trim().split_once("://").ok_or(ProxyUrlError::Scheme)?;
        let (kind, default_port) = match scheme.to_ascii_lowercase().as_str() {
            "http" => (Kind::Http, 80),
            "socks5" | "socks5h" => (Kind::Socks5, 1080),
            _ => return Err(ProxyUrlError::Scheme),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (user, place) = match rest.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, rest),
        };
        let credentials = user.map(credentials).transpose()?;
        // The colons of an address in brackets are not that of the port.
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (place, None),
        };
        let port = match port {
            Some(port) => port.parse().ok().filter(|p| *p != 0).ok_or(ProxyUrlError::Port)?,
            None => default_port,
        };
        let is_name = |h: &str| {
            h.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)) && !h.is_empty()
        };
        if literal(host).is_none() && !is_name(host) {
            return Err(ProxyUrlError::Host);
        }
        Ok(ProxyUrl { kind, host: host.to_ascii_lowercase(), port, credentials })
    }
}

/// User name and password, which a URL may write with escapes.
fn credentials(text: &str) -> Result<(String, String), ProxyUrlError> {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let plain = |part: &str| -> Option<String> {
        let mut out = Vec::with_capacity(part.len());
        let mut rest = part.bytes();
        while let Some(b) = rest.next() {
            out.push(match b {
                b'%' => {
                    let digit = |b: u8| char::from(b).to_digit(16);
                    let value = digit(rest.next()?)? * 16 + digit(rest.next()?)?;
                    u8::try_from(value).ok()?
                }
                b => b,
            });
        }
        // SOCKS has one byte for the length; a control character would split a header.
        let text = String::from_utf8(out).ok()?;
        (text.len() < 256 && !text.contains(char::is_control)).then_some(text)
    };
    match (plain(user), plain(password)) {
        (Some(user), Some(password)) if !user.is_empty() && !user.contains(':') => {
            Ok((user, password))
        }
        _ => Err(ProxyUrlError::Credentials),
    }
}

/// Without user name and password.
impl fmt::Display for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.kind == Kind::Http { "http" } else { "socks5" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

/// Without user name and password.
impl fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProxyUrl({self})")
    }
}

impl ProxyUrl {
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Whether plain requests are sent to the proxy itself, with the full URL.
    pub(crate) fn takes_plain_requests(&self) -> bool {
        self.kind == Kind::Http
    }

    /// The header that goes with requests to the proxy itself.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let (user, password) = self.credentials.as_ref()?;
        let pair = data_encoding::BASE64.encode(format!("{user}:{password}").as_bytes());
        let mut value = HeaderValue::from_str(&format!("Basic {pair}")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Opens a tunnel to a server through a connection to the proxy.
    pub(crate) async fn tunnel(
        &self,
        tcp: &mut TcpStream,
        host: &str,
        port: u16,
    ) -> Result<(), Failure> {
        let opened = match self.kind {
            Kind::Http => self.connect(tcp, host, port).await,
            Kind::Socks5 => self.socks(tcp, host, port).await,
        };
        match opened {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(failed(format!("the proxy opens no way: {why}"))),
            Err(e) => Err(failed(format!("the proxy opens no way: {}", io_words(&e)))),
        }
    }

    /// `CONNECT`; says why not if the proxy refuses.
    async fn connect(
        &self,
        tcp: &mut TcpStream,
        host: &str,
        port: u16,
    ) -> io::Result<Option<String>> {
        let mut ask = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
        if let Some(value) = self.authorization() {
            let value = value.to_str().map_err(io::Error::other)?;
            ask.push_str(&format!("Proxy-Authorization: {value}\r\n"));
        }
        ask.push_str("\r\n");
        tcp.write_all(ask.as_bytes()).await?;
        // Byte by byte: what follows the head belongs to the tunnel.
        let mut head = Vec::with_capacity(128);
        while !head.ends_with(b"\r\n\r\n") && !head.ends_with(b"\n\n") {
            if head.len() >= MAX_HEAD_BYTES {
                return Ok(Some("its answer has no end".into()));
            }
            head.push(tcp.read_u8().await?);
        }
        let status = head.get(9..12).filter(|_| head.starts_with(b"HTTP/1."));
        Ok(match status {
            Some([b'2', _, _]) => None,
            Some(b"407") => Some("it wants another user name or password (407)".into()),
            Some(code) if code.iter().all(u8::is_ascii_digit) => {
                Some(format!("it answers {}", String::from_utf8_lossy(code)))
            }
            _ => Some("its answer is not HTTP".into()),
        })
    }

    /// SOCKS 5 (RFC 1928, 1929); says why not if the proxy refuses.
    async fn socks(
        &self,
        tcp: &mut TcpStream,
        host: &str,
        port: u16,
    ) -> io::Result<Option<String>> {
        let (version, password) = (5, 2);
        let ways: &[u8] = if self.credentials.is_some() { &[0, password] } else { &[0] };
        tcp.write_all(&[&[version, ways.len() as u8], ways].concat()).await?;
        let chosen = [tcp.read_u8().await?, tcp.read_u8().await?];
        match (chosen, &self.credentials) {
            ([5, 0], _) => {}
            ([5, 2], Some((user, secret))) => {
                let mut ask = vec![1];
                for part in [user, secret] {
                    ask.push(part.len() as u8);
                    ask.extend_from_slice(part.as_bytes());
                }
                tcp.write_all(&ask).await?;
                if [tcp.read_u8().await?, tcp.read_u8().await?][1] != 0 {
                    return Ok(Some("it wants another user name or password".into()));
                }
            }
            ([5, _], _) => return Ok(Some("it wants a user name and a password".into())),
            _ => return Ok(Some("it does not speak SOCKS 5".into())),
        }
        let mut ask = vec![version, 1, 0];
        match literal(host) {
            Some(IpAddr::V4(ip)) => {
                ask.push(1);
                ask.extend_from_slice(&ip.octets());
            }
            Some(IpAddr::V6(ip)) => {
                ask.push(4);
                ask.extend_from_slice(&ip.octets());
            }
            None => {
                let Ok(len) = u8::try_from(host.len()) else {
                    return Ok(Some("the name is too long".into()));
                };
                ask.extend_from_slice(&[3, len]);
                ask.extend_from_slice(host.as_bytes());
            }
        }
        ask.extend_from_slice(&port.to_be_bytes());
        tcp.write_all(&ask).await?;
        let mut answer = [0; 4];
        tcp.read_exact(&mut answer).await?;
        let why = match answer[1] {
            0 => {
                // The address it uses, which is of no interest, and its port.
                let len = match answer[3] {
                    1 => 4,
                    4 => 16,
                    _ => usize::from(tcp.read_u8().await?),
                };
                tcp.read_exact(&mut vec![0; len + 2]).await?;
                return Ok(None);
            }
            2 => "it does not permit it",
            3 => "the network cannot be reached",
            4 => "the host cannot be reached",
            5 => "connection refused",
            _ => "it failed",
        };
        Ok(Some(why.into()))
    }
}

pub(crate) fn failed(why: String) -> Failure {
    Failure::new(OutcomeKind::ConnectFailed, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_with_all_their_parts() {
        for (text, place, authorization) in [
            ("http://proxy.test:3128", "http://proxy.test:3128", None),
            ("HTTP://Proxy.test/", "http://proxy.test:80", None),
            ("socks5://[::1]", "socks5://[::1]:1080", None),
            ("http://u:p@127.0.0.1:8080", "http://127.0.0.1:8080", Some("Basic dTpw")),
            ("http://u:a%40b%3Ac@h:1", "http://h:1", Some("Basic dTphQGI6Yw==")),
            ("http://u@h:1", "http://h:1", Some("Basic dTo=")),
        ] {
            let proxy: ProxyUrl = text.parse().unwrap();
            assert_eq!(proxy.to_string(), place);
            assert_eq!(proxy.authorization().as_ref().map(|v| v.to_str().unwrap()), authorization);
        }
    }

    #[test]
    fn what_is_no_proxy_is_refused_without_repeating_it() {
        for (text, why) in [
            ("proxy:3128", ProxyUrlError::Scheme),
            ("ftp://proxy", ProxyUrlError::Scheme),
            ("http://", ProxyUrlError::Host),
            ("http://u:secret@", ProxyUrlError::Host),
            ("http://a b", ProxyUrlError::Host),
            ("http://h/path", ProxyUrlError::Host),
            ("http://h:0", ProxyUrlError::Port),
            ("http://h:99999", ProxyUrlError::Port),
            ("http://u:secret%0d@h", ProxyUrlError::Credentials),
            ("http://:secret@h", ProxyUrlError::Credentials),
            ("http://u:secret%zz@h", ProxyUrlError::Credentials),
        ] {
            let refused = text.parse::<ProxyUrl>().unwrap_err();
            assert_eq!(refused, why, "{text}");
            assert!(!refused.to_string().contains("secret"));
        }
    }

    #[test]
    fn the_password_is_never_shown() {
        let proxy: ProxyUrl = "http://someone:secret@h:1".parse().unwrap();
        let shown = format!("{proxy} {proxy:?} {:?}", proxy.authorization());
        assert!(!shown.contains("secret") && !shown.contains("someone"), "{shown}");
        assert!(!shown.contains("Basic"), "{shown}");
    }
}
