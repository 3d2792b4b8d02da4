//! Servers that speak TLS on loopback ports, with certificates of their own making.

use super::certificate::{Identity, Wish, pem};
use super::{Kit, Server};
use argiope_fetch::FetchSettings;
use argiope_model::CanonicalUrl;
use std::future::Future;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// An issuer that a kit trusts, and a server that it has certified.
pub struct Secure {
    pub issuer: Identity,
    pub server: Server,
    files: tempfile::TempDir,
}

impl Secure {
    /// Runs `talk` on every connection whose handshake succeeds. The certificate of
    /// `localhost.test` says what `wish` says; `change` may spoil the rest.
    pub async fn start<F, W>(wish: &Wish<'_>, alpn: &[&str], talk: F) -> Secure
    where
        F: Fn(TlsStream<TcpStream>) -> W + Clone + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let issuer = Identity::new("the tests' issuer");
        let own = Identity::new("a server");
        let config = own.server(issuer.certify(&own, wish), alpn);
        Self::with(issuer, config, talk).await
    }

    pub async fn with<F, W>(issuer: Identity, config: rustls::ServerConfig, talk: F) -> Secure
    where
        F: Fn(TlsStream<TcpStream>) -> W + Clone + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let server = Server::start(move |tcp, _| {
            let (acceptor, talk) = (acceptor.clone(), talk.clone());
            async move {
                if let Ok(stream) = acceptor.accept(tcp).await {
                    talk(stream).await;
                }
            }
        })
        .await;
        let files = tempfile::tempdir().unwrap();
        let root = issuer.certify(&issuer, &Wish { is_ca: true, ..Wish::default() });
        std::fs::write(files.path().join("ca.pem"), pem(&root)).unwrap();
        Secure { issuer, server, files }
    }

    /// A kit that trusts the issuer and finds `*.test` here.
    pub fn kit(&self) -> Kit {
        self.kit_with(|_| {})
    }

    pub fn kit_with(&self, change: impl FnOnce(&mut FetchSettings)) -> Kit {
        Kit::with(|s| {
            s.extra_ca = vec![self.files.path().join("ca.pem")];
            s.resolve_overrides = vec![("good.test".into(), [127, 0, 0, 1].into())];
            change(s);
        })
    }

    pub fn url(&self, path: &str) -> CanonicalUrl {
        let text = format!("https://good.test:{}{path}", self.server.port);
        CanonicalUrl::parse(&text).unwrap()
    }
}
