//! The made-up web over sockets.
//!
//! * What this is: listeners on loopback addresses, the record of who asked for what, and the
//!   handle that stops it all.
//! * Its place: runs on the caller's tokio runtime; every connection is a task (`connection`).
//! * Invariants: answers are the bytes of [`Web::respond`] of [`Served::web`]; dropping [`Served`]
//!   ends every listener and every connection; only loopback addresses are ever bound.
//! * What is not here: TLS, HTTP/2, request bodies.

use crate::connection::converse;
use crate::web::Web;
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// How many connections may wait to be accepted at one listener.
const BACKLOG: u32 = 4096;

/// Where the sites listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Bind {
    /// One listener for each site on consecutive loopback addresses from 127.0.0.1 on, ports
    /// chosen by the system; where an address cannot be had, 127.0.0.1 with another port.
    #[default]
    PerSite,
    /// One listener on 127.0.0.1; the `Host` header names the site ([`Web::host`], with or
    /// without a port). Clients need to be told that those names live there.
    ByHost,
}

/// How to serve.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Where the sites listen.
    pub bind: Bind,
    /// How long every answer waits before it is sent.
    pub latency: Duration,
    /// Whether a connection may carry more than one request.
    pub keep_alive: bool,
    /// Whether to keep a [`Hit`] for every request.
    pub log: bool,
    /// How many connections are answered at once; more wait until one of them ends.
    pub max_connections: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        ServeOptions {
            bind: Bind::PerSite,
            latency: Duration::ZERO,
            keep_alive: true,
            log: true,
            max_connections: 8192,
        }
    }
}

/// One request that was answered. Times count from the start of serving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// When the whole request head had arrived.
    pub began: Duration,
    /// When the whole answer had been handed to the system.
    pub ended: Duration,
    /// The site that was asked; nothing if the `Host` header named none.
    pub site: Option<usize>,
    /// Path and query.
    pub path: String,
    /// The connection it came over, counted from nought in the order of acceptance.
    pub connection: u64,
    /// The status of the answer.
    pub status: u16,
}

/// What the tasks of a served web share.
pub(crate) struct Shared {
    pub(crate) web: Web,
    pub(crate) options: ServeOptions,
    pub(crate) started: Instant,
    hosts: HashMap<String, usize>,
    hits: Mutex<Vec<Hit>>,
    requests: AtomicU64,
    connections: AtomicU64,
    room: Arc<Semaphore>,
}

impl Shared {
    pub(crate) fn site_of_host(&self, host: &str) -> Option<usize> {
        let name = host.split_once(':').map_or(host, |(name, _)| name);
        self.hosts.get(name).copied()
    }

    /// Counts a request that has just been answered.
    pub(crate) fn record(&self, hit: impl FnOnce(Duration) -> Hit) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if self.options.log {
            let hit = hit(self.started.elapsed());
            self.hits.lock().unwrap_or_else(PoisonError::into_inner).push(hit);
        }
    }
}

/// A web that is being served; dropping it stops serving.
pub struct Served {
    shared: Arc<Shared>,
    addresses: Vec<SocketAddr>,
    _listeners: JoinSet<()>,
}

impl Served {
    /// The web as it is served: with the origins of the sockets in its absolute links.
    pub fn web(&self) -> &Web {
        &self.shared.web
    }

    /// The URL of a site's front page: `http://127.0.0.5:41234/`.
    ///
    /// # Panics
    /// If there is no such site.
    pub fn base(&self, site: usize) -> String {
        format!("{}/", self.shared.web.origin(site))
    }

    /// The URL of every site's front page.
    pub fn bases(&self) -> Vec<String> {
        (0..self.shared.web.spec().sites).map(|site| self.base(site)).collect()
    }

    /// The socket a site listens on.
    ///
    /// # Panics
    /// If there is no such site.
    pub fn address(&self, site: usize) -> SocketAddr {
        self.addresses[site]
    }

    /// When serving began: the nought of every [`Hit`].
    pub fn started(&self) -> Instant {
        self.shared.started
    }

    /// Every request so far, in the order of arrival; empty unless [`ServeOptions::log`].
    pub fn hits(&self) -> Vec<Hit> {
        let mut hits = self.shared.hits.lock().unwrap_or_else(PoisonError::into_inner).clone();
        hits.sort_by_key(|hit| hit.began);
        hits
    }

    /// How many requests have been answered.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// How many connections have been accepted.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }
}

/// Serves a web on loopback until the handle is dropped.
pub async fn serve(web: Arc<Web>, options: ServeOptions) -> io::Result<Served> {
    let sites = web.spec().sites;
    let mut listeners = Vec::new();
    match options.bind {
        Bind::PerSite => {
            for site in 0..sites {
                let listener = listen(address_of(site)).or_else(|_| listen(Ipv4Addr::LOCALHOST))?;
                listeners.push((listener, Some(site)));
            }
        }
        Bind::ByHost => listeners.push((listen(Ipv4Addr::LOCALHOST)?, None)),
    }
    let mut addresses = Vec::with_capacity(sites);
    for (listener, _) in &listeners {
        addresses.push(listener.local_addr()?);
    }
    let origins = match options.bind {
        Bind::PerSite => addresses.iter().map(|address| format!("http://{address}")).collect(),
        Bind::ByHost => {
            addresses.resize(sites, addresses[0]);
            let port = addresses[0].port();
            (0..sites).map(|site| format!("http://{}:{port}", web.host(site))).collect()
        }
    };
    let shared = Arc::new(Shared {
        hosts: (0..sites).map(|site| (web.host(site), site)).collect(),
        web: Web::clone(&web).with_origins(origins),
        started: Instant::now(),
        hits: Mutex::default(),
        requests: AtomicU64::new(0),
        connections: AtomicU64::new(0),
        room: Arc::new(Semaphore::new(options.max_connections.max(1))),
        options,
    });
    let mut tasks = JoinSet::new();
    for (listener, site) in listeners {
        tasks.spawn(accept(listener, Arc::clone(&shared), site));
    }
    Ok(Served { shared, addresses, _listeners: tasks })
}

/// The address of a site: 127.0.0.1 to 127.0.0.254, then 127.0.1.1 and so on.
fn address_of(site: usize) -> Ipv4Addr {
    let block = site / 254;
    Ipv4Addr::new(127, (block >> 8) as u8, block as u8, (site % 254 + 1) as u8)
}

fn listen(address: Ipv4Addr) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((address, 0)))?;
    socket.listen(BACKLOG)
}

/// Accepts connections for as long as the task lives; its connections die with it.
async fn accept(listener: TcpListener, shared: Arc<Shared>, site: Option<usize>) {
    let mut conversations = JoinSet::new();
    loop {
        while conversations.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: give the open connections a moment to end.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // Taken after accepting, so that listeners without visitors hold no room.
        let Ok(room) = Arc::clone(&shared.room).acquire_owned().await else { return };
        let _ = stream.set_nodelay(true);
        let number = shared.connections.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(&shared);
        conversations.spawn(async move {
            converse(stream, &shared, site, number).await;
            drop(room);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_have_consecutive_loopback_addresses() {
        assert_eq!(address_of(0), Ipv4Addr::new(127, 0, 0, 1));
        assert_eq!(address_of(253), Ipv4Addr::new(127, 0, 0, 254));
        assert_eq!(address_of(254), Ipv4Addr::new(127, 0, 1, 1));
    }
}
