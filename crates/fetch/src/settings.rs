//! What the caller decides, and the only ways a fetch can fail on our side.

use crate::proxy::ProxyUrl;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Lets requests leave, or not; without a question to ask they always may.
#[derive(Clone, Default)]
pub struct Gate(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Gate {
    /// A gate that is open while this says so.
    pub fn new(is_open: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Gate(Some(Arc::new(is_open)))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.0.as_ref().is_none_or(|is_open| is_open())
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Gate(asked)" } else { "Gate(open)" })
    }
}

/// How to ask, how long to wait and how much to take.
#[derive(Clone, Debug)]
pub struct FetchSettings {
    /// The `User-Agent` header.
    pub user_agent: String,
    /// The `Accept-Language` header; none is sent without it.
    pub accept_language: Option<String>,
    /// How long one address may take to accept a connection.
    pub connect_timeout: Duration,
    /// How long a request may take from the name lookup to the last byte.
    pub total_timeout: Duration,
    /// The largest body taken, in bytes as transferred (before content decoding).
    pub max_body_bytes: u64,
    /// The largest body after content decoding.
    pub max_decoded_bytes: u64,
    /// The largest response head. Values below 8 KB count as 8 KB.
    pub max_header_bytes: usize,
    /// Whether private, loopback and link-local addresses may be connected to.
    pub allow_private: bool,
    /// Where large bodies wait. It belongs to one fetcher: leftovers in it are removed.
    pub spool_dir: PathBuf,
    /// Bodies above this many bytes go to a file.
    pub spool_above: usize,
    /// Bytes of all bodies in memory. When it is used up, bodies above 64 KB go to files.
    pub body_memory: usize,
    /// How many connections may wait for another request, over all hosts.
    pub idle_connections: usize,
    /// How long a connection may wait for another request.
    pub idle_timeout: Duration,
    /// Whether a request that was lost on a waiting connection is sent once more at once, on a new
    /// one. A server that had read it sees two requests in a row.
    pub ask_again: bool,
    /// Asked just before a request leaves, whether it still may.
    pub gate: Gate,
    /// Names whose address is given here instead of by the name service.
    pub resolve_overrides: Vec<(String, IpAddr)>,
    /// The name servers to ask, in this order; without any, the system is asked. Answers of
    /// these are kept as long as they say (30 seconds to a day), the system's for five minutes.
    pub dns_servers: Vec<SocketAddr>,
    /// PEM files with certificates to trust beside those of the system.
    pub extra_ca: Vec<PathBuf>,
    /// A proxy that all requests go through.
    pub proxy: Option<ProxyUrl>,
    /// The most that all connections together may receive in a second. Time that a request
    /// spends waiting for its turn does not count against its limit.
    pub max_bytes_per_second: Option<u64>,
}

impl Default for FetchSettings {
    fn default() -> Self {
        FetchSettings {
            user_agent: concat!("argiope/", env!("CARGO_PKG_VERSION")).into(),
            accept_language: None,
            connect_timeout: Duration::from_secs(10),
            total_timeout: Duration::from_secs(60),
            max_body_bytes: 100 << 20,
            max_decoded_bytes: 400 << 20,
            max_header_bytes: 64 << 10,
            allow_private: false,
            spool_dir: std::env::temp_dir().join("argiope-spool"),
            spool_above: 1 << 20,
            body_memory: 64 << 20,
            idle_connections: 256,
            idle_timeout: Duration::from_secs(60),
            ask_again: true,
            gate: Gate::default(),
            resolve_overrides: Vec::new(),
            dns_servers: Vec::new(),
            extra_ca: Vec::new(),
            proxy: None,
            max_bytes_per_second: None,
        }
    }
}

/// What went wrong on our side. The web's failures are outcomes, not errors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The spool directory could not be made or cleared.
    #[error("cannot prepare the spool directory {}", path.display())]
    SpoolDir {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A body could not be written to or read from its spool file.
    #[error("cannot use the spool file {}", path.display())]
    SpoolFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The program is stopping and no longer writes spool files.
    #[error("stopped while writing a spool file: {0}")]
    Stopped(String),
    /// A file of certificates to trust could not be used.
    #[error("cannot trust the certificates in {}: {why}", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// A setting holds characters that no HTTP header may hold.
    #[error("the {setting} cannot be sent as a header: {value:?}")]
    Header {
        /// The name of the setting.
        setting: &'static str,
        /// What it was set to.
        value: String,
    },
}
