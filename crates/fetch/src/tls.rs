//! TLS: the handshake, with the roots the system trusts.
//!
//! * Its place: `fetcher` makes a connected stream of an `https` URL secure before HTTP begins.
//! * Roots are those of the system, or of `SSL_CERT_FILE` and `SSL_CERT_DIR` where set. They are
//!   read with the first `https` URL: a crawl without one pays nothing.
//! * Invariant: a certificate that does not hold ends the request with its reason; nothing is
//!   ever sent over a stream that was not verified.

use crate::failure::Failure;
use argiope_model::OutcomeKind;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::sync::{Arc, OnceLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Makes streams secure.
#[derive(Default)]
pub(crate) struct Tls(OnceLock<Result<TlsConnector, String>>);

impl Tls {
    /// Shakes hands with `host`, as a URL writes it.
    pub(crate) async fn secure(
        &self,
        host: &str,
        tcp: TcpStream,
    ) -> Result<Box<TlsStream<TcpStream>>, Failure> {
        let failed = |why: String| Failure::new(OutcomeKind::TlsFailed, why);
        let connector = self.0.get_or_init(connector).clone().map_err(failed)?;
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let name = ServerName::try_from(bare.to_owned())
            .map_err(|_| failed(format!("{host} cannot be the name of a certificate")))?;
        let secured = connector.connect(name, tcp).await;
        secured.map(Box::new).map_err(|e| failed(e.to_string()))
    }
}

fn connector() -> Result<TlsConnector, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (good, _) = roots.add_parsable_certificates(found.certs);
    if good == 0 {
        return Err("the system has no root certificates; install ca-certificates".to_owned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
