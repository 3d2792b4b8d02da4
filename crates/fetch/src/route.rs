//! The way to a server: from a URL to a stream that HTTP can be spoken on.
//!
//! * Its place: `fetcher` asks for a way when no idle connection leads there. Joins `names`,
//!   `address`, `dial`, `proxy` and `tls`.
//! * Invariants: the check against private addresses is made on the very addresses that are
//!   dialled, after the last lookup and before the first packet. Neither a redirect (a request of
//!   its own), nor a name that changes its address, nor a strange spelling of one gets around it.
//! * Behind a proxy it is the proxy that dials, so the check is as good as it can be: an address
//!   in the URL is checked, and a name is looked up here and refused if *any* of its addresses is
//!   private. A name that is not known here is sent on, since only the proxy may know it. A name
//!   that shows the proxy another address than us cannot be caught here: a proxy that can reach
//!   what it should not needs rules of its own. The proxy itself may have a private address.

use crate::address::is_private;
use crate::dial::dial;
use crate::failure::Failure;
use crate::names::Names;
use crate::proxy::{self, ProxyUrl};
use crate::settings::{FetchError, FetchSettings};
use crate::tls::{Tls, Unsecured};
use crate::wire::{Language, Stream};
use argiope_model::{CanonicalUrl, OutcomeKind, Time};
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// More addresses than this are not tried for one request.
const MAX_ADDRESSES: usize = 6;
/// How long a lookup may take whose only purpose is the check of a name behind a proxy.
const CHECK_PATIENCE: Duration = Duration::from_secs(5);
/// So many origins are remembered to insist on HTTP/2.
const MAX_INSISTING: usize = 4096;
/// When to ask again for what never changes.
const NEVER: Time = Time(i64::MAX);

/// Where a URL leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The address that is asked first; `None` where only a proxy knows it.
    pub ip: Option<IpAddr>,
    /// Until when that holds; the far future for addresses that are written in the URL or given
    /// by the settings, and behind a proxy.
    pub until: Time,
}

/// An open way to a server.
pub(crate) struct Way {
    pub(crate) stream: Stream,
    /// The server's address, unless a proxy hides it.
    pub(crate) ip: Option<IpAddr>,
}

/// Why a way could not be opened.
pub(crate) struct Blocked {
    pub(crate) failure: Failure,
    /// Whether the server went away because of the language that was offered.
    pub(crate) wants_another_language: bool,
}

impl From<Failure> for Blocked {
    fn from(failure: Failure) -> Self {
        Blocked { failure, wants_another_language: false }
    }
}

impl From<Unsecured> for Blocked {
    fn from(Unsecured { failure, wants_another_language }: Unsecured) -> Self {
        Blocked { failure, wants_another_language }
    }
}

/// Finds ways.
pub(crate) struct Routes {
    names: Names,
    tls: Tls,
    proxy: Option<ProxyUrl>,
    allow_private: bool,
    connect_timeout: Duration,
    /// Origins that speak HTTP/2 and nothing else.
    insisting: Mutex<HashSet<Box<str>>>,
}

impl Routes {
    pub(crate) fn new(settings: &FetchSettings) -> Result<Self, FetchError> {
        Ok(Routes {
            names: Names::new(&settings.resolve_overrides, &settings.dns_servers),
            tls: Tls::new(&settings.extra_ca)?,
            proxy: settings.proxy.clone(),
            allow_private: settings.allow_private,
            connect_timeout: settings.connect_timeout,
            insisting: Mutex::default(),
        })
    }

    /// The address that would be dialled first.
    pub(crate) async fn locate(&self, url: &CanonicalUrl) -> Result<Located, Failure> {
        if self.proxy.is_some() {
            self.check_behind_proxy(url.host()).await?;
            return Ok(Located { ip: None, until: NEVER });
        }
        let found = self.names.addresses(url.host()).await?;
        let ip = self.permitted(&found.list)?.first().copied();
        let until = found.until.map_or(NEVER, |until| {
            let left = until.saturating_duration_since(Instant::now());
            Time::from_system(SystemTime::now()).plus(left)
        });
        Ok(Located { ip, until })
    }

    /// Opens a way to the server of a URL; `asked` learns the address as soon as it is known.
    pub(crate) async fn open(
        &self,
        url: &CanonicalUrl,
        language: Language,
        asked: &mut Option<IpAddr>,
    ) -> Result<Way, Blocked> {
        let tcp = match &self.proxy {
            Some(proxy) => self.through(proxy, url).await?,
            None => self.direct(url, asked).await?,
        };
        let stream = match url.is_https() {
            true => {
                let limit = self.connect_timeout;
                let secured = self.tls.secure(url.host(), tcp, language);
                let Ok(secured) = timeout(limit, secured).await else {
                    let detail = format!("no handshake within {limit:?}");
                    return Err(Failure::new(OutcomeKind::TlsFailed, detail).into());
                };
                Stream::Tls(secured?)
            }
            false => Stream::Plain(tcp),
        };
        Ok(Way { stream, ip: *asked })
    }

    async fn direct(
        &self,
        url: &CanonicalUrl,
        asked: &mut Option<IpAddr>,
    ) -> Result<TcpStream, Failure> {
        let found = self.names.addresses(url.host()).await?;
        let ips = self.permitted(&found.list)?;
        *asked = ips.first().copied();
        let addresses: Vec<_> = ips.iter().map(|ip| SocketAddr::new(*ip, url.port())).collect();
        let (tcp, n) = dial(&addresses, self.connect_timeout).await?;
        let ip = ips[n];
        *asked = Some(ip);
        if found.list.first() != Some(&ip) {
            self.names.prefer(url.host(), ip);
        }
        Ok(tcp)
    }

    async fn through(&self, proxy: &ProxyUrl, url: &CanonicalUrl) -> Result<TcpStream, Failure> {
        self.check_behind_proxy(url.host()).await?;
        let unreachable =
            |f: Failure| proxy::failed(format!("the proxy cannot be reached: {}", f.detail));
        let found = self.names.addresses(proxy.host()).await.map_err(unreachable)?;
        let addresses: Vec<_> =
            found.list.iter().map(|ip| SocketAddr::new(*ip, proxy.port())).collect();
        let dialled = dial(&addresses, self.connect_timeout).await;
        let (mut tcp, n) = dialled.map_err(unreachable)?;
        if n > 0 {
            self.names.prefer(proxy.host(), addresses[n].ip());
        }
        if url.is_https() || !proxy.takes_plain_requests() {
            let limit = self.connect_timeout;
            let tunnel = proxy.tunnel(&mut tcp, url.host(), url.port());
            timeout(limit, tunnel).await.unwrap_or_else(|_| {
                Err(proxy::failed(format!("the proxy opens no way within {limit:?}")))
            })?;
        }
        Ok(tcp)
    }

    /// Refuses what must not be asked for through a proxy either.
    async fn check_behind_proxy(&self, host: &str) -> Result<(), Failure> {
        if self.allow_private {
            return Ok(());
        }
        let lookup = timeout(CHECK_PATIENCE, self.names.addresses(host)).await;
        match lookup {
            Ok(Ok(found)) => match found.list.iter().find(|ip| is_private(**ip)) {
                Some(ip) => Err(forbidden(*ip)),
                None => Ok(()),
            },
            // Not known here; it may be known there.
            Ok(Err(_)) | Err(_) => Ok(()),
        }
    }

    /// Those of the addresses that may be dialled; a failure if there are none.
    fn permitted(&self, all: &[IpAddr]) -> Result<Vec<IpAddr>, Failure> {
        let permitted = |ip: &IpAddr| self.allow_private || !is_private(*ip);
        let some: Vec<_> = all.iter().copied().filter(permitted).take(MAX_ADDRESSES).collect();
        match (some.is_empty(), all.first()) {
            (false, _) => Ok(some),
            (true, Some(ip)) => Err(forbidden(*ip)),
            (true, None) => Err(Failure::new(OutcomeKind::NoAddress, "no address")),
        }
    }

    /// What to speak with an origin: HTTP/1.1 unless it has insisted on HTTP/2.
    pub(crate) fn language(&self, origin: &str) -> Language {
        if self.insisting().contains(origin) { Language::Http2 } else { Language::Http1 }
    }

    /// Remembers what an origin wants to speak.
    pub(crate) fn learn_language(&self, origin: &str, language: Language) {
        let mut insisting = self.insisting();
        match language {
            Language::Http1 => {
                insisting.remove(origin);
            }
            Language::Http2 => {
                if insisting.len() >= MAX_INSISTING {
                    insisting.clear();
                }
                insisting.insert(origin.into());
            }
        }
    }

    fn insisting(&self) -> MutexGuard<'_, HashSet<Box<str>>> {
        self.insisting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forbidden(ip: IpAddr) -> Failure {
    Failure::new(OutcomeKind::ForbiddenAddress, format!("{ip} is not a public address"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use tokio::net::{TcpListener, UdpSocket};

    /// Serves one name, with a public address to the first lookup and this machine's to others.
    async fn rebinding() -> (SocketAddr, Arc<AtomicUsize>) {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let (address, lookups) = (socket.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let counter = lookups.clone();
        tokio::spawn(async move {
            let mut buffer = [0; 512];
            while let Ok((len, from)) = socket.recv_from(&mut buffer).await {
                let mut answer = buffer[..len].to_vec();
                answer[2..4].copy_from_slice(&[0x81, 0x80]);
                if answer[len - 3] == 1 {
                    let first = counter.fetch_add(1, SeqCst) == 0;
                    answer[7] = 1;
                    answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
                    answer.extend(if first { [8, 8, 8, 8] } else { [127, 0, 0, 1] });
                }
                socket.send_to(&answer, from).await.unwrap();
            }
        });
        (address, lookups)
    }

    #[tokio::test]
    async fn a_name_that_turns_private_is_refused_when_it_is_dialled() {
        let (names, lookups) = rebinding().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let settings = FetchSettings { dns_servers: vec![names], ..FetchSettings::default() };
        let routes = Routes::new(&settings).unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = CanonicalUrl::parse(&format!("http://rebound.test:{port}/")).unwrap();
        let located = routes.locate(&url).await.unwrap();
        assert_eq!(located.ip, Some([8, 8, 8, 8].into()), "it looked public when located");
        routes.names.forget();
        let blocked = routes.open(&url, Language::Http1, &mut None).await.err().unwrap();
        assert_eq!(blocked.failure.kind, OutcomeKind::ForbiddenAddress);
        assert_eq!(blocked.failure.detail, "127.0.0.1 is not a public address");
        assert_eq!(lookups.load(SeqCst), 2);
        let knock = timeout(Duration::from_millis(100), listener.accept()).await;
        assert!(knock.is_err(), "nothing was sent there");
    }
}
