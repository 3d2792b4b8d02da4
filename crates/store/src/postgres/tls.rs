//! TLS to the server, as `sslmode` asks for it.
//!
//! * Roots are those of one file, or the system's. A certificate that the file holds itself is trusted as it
//!   is: servers of PostgreSQL often have one that they signed themselves.
//! * `require` looks at no certificate: who listens on the way is kept out, who stands in it is not.
//! * Not here: certificates of our own, revocation, binding the password to the channel.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

/// What is looked at before anything is said to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    Nothing,
    Issuer,
    IssuerAndName,
}

/// Makes lines secure.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// Trusts the certificates of a file, or those of the system.
    pub fn new(check: Check, root: Option<&Path>) -> Result<Self, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut verifier =
            Verifier { provider: provider.clone(), usual: None, given: Vec::new(), check };
        if check != Check::Nothing {
            let mut roots = RootCertStore::empty();
            match root {
                Some(path) => {
                    verifier.given = read_certificates(path).map_err(|why| {
                        format!("the certificates in {} cannot be used: {why}", path.display())
                    })?;
                    roots.add_parsable_certificates(verifier.given.iter().cloned());
                }
                None => {
                    let system = rustls_native_certs::load_native_certs();
                    roots.add_parsable_certificates(system.certs);
                }
            }
            if roots.is_empty() {
                return Err("no root certificate is known to check its own with; name one with sslrootcert=FILE".into());
            }
            let usual = WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone());
            verifier.usual = Some(usual.build().map_err(|e| e.to_string())?);
        }
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?
            // What is not checked is what the one who runs it said not to check.
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(Tls(TlsConnector::from(Arc::new(config))))
    }
}

/// Why a line could not be made secure, in the words of a person; `None` where that was not it.
pub(super) fn words(error: &tokio_postgres::Error) -> Option<String> {
    let source = std::error::Error::source(error)?;
    if source.to_string() == "server does not support TLS" {
        return Some(
            "it does not offer TLS, which sslmode asks for; turn ssl on there, or use \
            sslmode=disable on a network you trust"
                .into(),
        );
    }
    let cause: &Error = source.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref()?;
    Some(match cause {
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::Other(_)) => {
            "its certificate was issued by nobody that is trusted here; name the root with sslrootcert=FILE".into()
        }
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "its certificate is for another name; connect by the name it holds, or use sslmode=verify-ca".into(),
        Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "its certificate has expired".into()
        }
        Error::InvalidCertificate(why) => format!("its certificate does not hold: {why}"),
        other => format!("the line could not be made secure: {other}"),
    })
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    use rustls::pki_types::pem::Error;
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let found = found.map_err(|e| match e {
        Error::Io(e) => e.to_string(),
        e => format!("it is not PEM: {e}"),
    })?;
    match found.is_empty() {
        true => Err("there is none in it (PEM is expected)".into()),
        false => Ok(found),
    }
}

#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// Nobody to ask where nothing is checked.
    usual: Option<Arc<WebPkiServerVerifier>>,
    given: Vec<CertificateDer<'static>>,
    check: Check,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(usual) = &self.usual else { return Ok(ServerCertVerified::assertion()) };
        let verified = usual.verify_server_cert(end_entity, intermediates, name, ocsp, now);
        match verified {
            // The name is looked at last: everything else holds.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.check == Check::Issuer => Ok(ServerCertVerified::assertion()),
            // As an authority it is no server's for the usual verifier, which has looked at its time before.
            Err(Error::InvalidCertificate(
                CertificateError::UnknownIssuer | CertificateError::Other(_),
            )) if self.given.contains(end_entity) => {
                if self.check == Check::IssuerAndName {
                    verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Secured;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, name: &str) -> io::Result<Handshake> {
        Ok(Handshake { connector: self.0.clone(), name: name.to_owned() })
    }
}

/// A handshake to be made with the server of this name.
pub(super) struct Handshake {
    connector: TlsConnector,
    name: String,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Secured;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Secured>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async move {
            let name = ServerName::try_from(self.name).map_err(io::Error::other)?;
            self.connector.connect(name, stream).await.map(Secured)
        })
    }
}

/// A secure line.
pub(super) struct Secured(client::TlsStream<Socket>);

impl TlsStream for Secured {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Secured {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Secured {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
