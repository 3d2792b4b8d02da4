//! TLS: the handshake, with the roots the system trusts and those the settings add.
//!
//! * Its place: `route` makes a connected stream of an `https` URL secure before HTTP begins.
//! * Roots are those of the system, or of `SSL_CERT_FILE` and `SSL_CERT_DIR` where set. They are
//!   read with the first `https` URL: a crawl without one pays nothing. Certificates that the
//!   settings add are read at the start, so that a wrong file is noticed then.
//!   A server whose own certificate is among them is trusted, however that was signed.
//! * Invariant: a certificate that does not hold ends the request with its reason; nothing is
//!   ever sent over a stream that was not verified.
//! * What is not here: asking whether a certificate was revoked.

mod words;

use crate::failure::Failure;
use crate::names::without_dot;
use crate::settings::FetchError;
use crate::wire::Language;
use argiope_model::{OutcomeKind, Time};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error, PeerMisbehaved,
    RootCertStore, SignatureScheme,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Makes streams secure.
pub(crate) struct Tls {
    extra: Vec<CertificateDer<'static>>,
    connectors: OnceLock<Result<Connectors, String>>,
}

/// One for each language of HTTP, since each is offered alone.
#[derive(Clone)]
struct Connectors {
    http1: TlsConnector,
    http2: TlsConnector,
}

/// Why a stream could not be made secure.
pub(crate) struct Unsecured {
    pub(crate) failure: Failure,
    /// Whether the server went away because of the language that was offered.
    pub(crate) wants_another_language: bool,
}

impl Tls {
    /// Trusts the system's roots and the certificates in these PEM files.
    pub(crate) fn new(extra_ca: &[PathBuf]) -> Result<Self, FetchError> {
        let mut extra = Vec::new();
        for path in extra_ca {
            extra.extend(
                read_certificates(path)
                    .map_err(|why| FetchError::Certificates { path: path.clone(), why })?,
            );
        }
        Ok(Tls { extra, connectors: OnceLock::new() })
    }

    /// Shakes hands with `host`, as a URL writes it.
    pub(crate) async fn secure(
        &self,
        host: &str,
        tcp: TcpStream,
        language: Language,
    ) -> Result<Box<TlsStream<TcpStream>>, Unsecured> {
        let failed = |why: String| Unsecured {
            failure: Failure::new(OutcomeKind::TlsFailed, why),
            wants_another_language: false,
        };
        let connectors = self.connectors.get_or_init(|| connectors(&self.extra));
        let connectors = connectors.as_ref().map_err(|why| failed(why.clone()))?;
        let connector = match language {
            Language::Http1 => &connectors.http1,
            Language::Http2 => &connectors.http2,
        };
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let name = ServerName::try_from(without_dot(bare).to_owned())
            .map_err(|_| failed(format!("{host} cannot be the name of a certificate")))?;
        match connector.connect(name, tcp).await {
            Ok(secured) => Ok(Box::new(secured)),
            Err(error) => Err(Unsecured {
                wants_another_language: words::tls_cause(&error).is_some_and(is_about_language),
                ..failed(words::words(&error))
            }),
        }
    }
}

/// Whether a handshake failed over what is to be spoken on the stream.
fn is_about_language(error: &Error) -> bool {
    matches!(
        error,
        Error::NoApplicationProtocol
            | Error::AlertReceived(AlertDescription::NoApplicationProtocol)
            | Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedApplicationProtocol)
    )
}

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let found = found.map_err(|e| match e {
        rustls::pki_types::pem::Error::Io(e) => e.to_string(),
        e => format!("it is not PEM: {e}"),
    })?;
    if found.is_empty() {
        return Err("there is none in it (PEM is expected)".into());
    }
    for certificate in &found {
        let usable = RootCertStore::empty().add(certificate.clone());
        usable.map_err(|_| "one of them is damaged".to_owned())?;
    }
    Ok(found)
}

fn connectors(extra: &[CertificateDer<'static>]) -> Result<Connectors, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    roots.add_parsable_certificates(extra.iter().cloned());
    if roots.is_empty() {
        return Err("the system has no root certificates; install ca-certificates".to_owned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), provider.clone())
        .build()
        .map_err(|e| e.to_string())?;
    let verifier = Arc::new(Verifier { usual: verifier, given: extra.to_vec() });
    let connector = |language: &[u8]| -> Result<TlsConnector, String> {
        let mut config = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?
            // Not less safe than the usual way: it asks the usual verifier.
            .dangerous()
            .with_custom_certificate_verifier(verifier.clone())
            .with_no_client_auth();
        config.alpn_protocols = vec![language.to_vec()];
        Ok(TlsConnector::from(Arc::new(config)))
    };
    Ok(Connectors { http1: connector(b"http/1.1")?, http2: connector(b"h2")? })
}

/// The usual verifier, which can also tell a self-signed certificate from a strange one, and
/// takes a certificate that the settings name as it is: one that signed itself as an authority,
/// as tools make them by default, is otherwise refused as a server's.
#[derive(Debug)]
struct Verifier {
    usual: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl Verifier {
    /// Whether a certificate that is trusted as it is holds for this name at this time.
    fn verify_given(
        &self,
        certificate: &CertificateDer<'_>,
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        let fields = read_fields(certificate);
        let [from, to] = fields.and_then(|f| f.validity()).ok_or(CertificateError::BadEncoding)?;
        let now = Time(0).plus(Duration::from_secs(now.as_secs())).digits14();
        match (from <= now, now <= to) {
            (true, true) => Ok(ServerCertVerified::assertion()),
            (false, _) => Err(CertificateError::NotValidYet.into()),
            (_, false) => Err(CertificateError::Expired.into()),
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.usual.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        let Err(Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::Other(_),
        )) = verified
        else {
            return verified;
        };
        if self.given.contains(end_entity) {
            return self.verify_given(end_entity, server_name, now);
        }
        match read_fields(end_entity).is_some_and(|f| f.issuer == f.subject) {
            true => Err(Error::General("the certificate is self-signed".into())),
            false => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

/// Some fields of a certificate, as they stand in it.
struct Fields<'a> {
    issuer: &'a [u8],
    validity: &'a [u8],
    subject: &'a [u8],
}

/// Finds the fields of a certificate; `None` if it cannot be read.
fn read_fields(der: &[u8]) -> Option<Fields<'_>> {
    let (_, certificate, _) = element(der)?;
    let (_, mut rest, _) = element(certificate)?;
    // An optional version in a tag of its own, serial number, algorithm.
    if rest.first() == Some(&0xa0) {
        rest = element(rest)?.2;
    }
    for _ in 0..2 {
        rest = element(rest)?.2;
    }
    let (_, issuer, rest) = element(rest)?;
    let (_, validity, rest) = element(rest)?;
    let (_, subject, _) = element(rest)?;
    Some(Fields { issuer, validity, subject })
}

impl Fields<'_> {
    /// From when to when it holds, in 14 digits each.
    fn validity(&self) -> Option<[String; 2]> {
        let (from_kind, from, rest) = element(self.validity)?;
        let (to_kind, to, _) = element(rest)?;
        let digits = |kind: u8, text: &[u8]| {
            let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
            // Times before 2050 have two digits for the year (RFC 5280, 4.1.2.5.1).
            let century = match (kind, text.get(..2)?) {
                (0x18, _) => "",
                (_, year) if year < "50" => "20",
                _ => "19",
            };
            let all = format!("{century}{text}");
            (all.len() == 14 && all.bytes().all(|b| b.is_ascii_digit())).then_some(all)
        };
        Some([digits(from_kind, from)?, digits(to_kind, to)?])
    }
}

/// The first element of DER bytes: its tag, its content, what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, mut rest) = rest.split_first()?;
    let mut len = usize::from(first);
    if first >= 0x80 {
        let count = usize::from(first & 0x7f);
        let bytes = rest.get(..count).filter(|b| b.len() <= 4)?;
        len = bytes.iter().fold(0, |n, b| n << 8 | usize::from(*b));
        rest = &rest[count..];
    }
    Some((tag, rest.get(..len)?, &rest[len..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_certificates_are_read_in_both_forms() {
        let validity = b"\x17\x0d490101000000Z\x18\x0f20991231235959Z";
        let fields = Fields { issuer: b"", validity, subject: b"" };
        assert_eq!(fields.validity().unwrap(), ["20490101000000", "20991231235959"]);
        let validity = b"\x17\x0d500101000000Z\x17\x0b5001010000Z";
        assert!(Fields { issuer: b"", validity, subject: b"" }.validity().is_none());
        let cut = b"\x30\x82\xff\xff\x30\x03\x02\x01\x01";
        for end in 0..=cut.len() {
            assert!(read_fields(&cut[..end]).is_none());
        }
    }
}
