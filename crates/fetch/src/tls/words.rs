//! Why a handshake failed, in the words of a person.

use argiope_model::Time;
use rustls::pki_types::UnixTime;
use rustls::{
    AlertDescription as Alert, CertificateError as Cert, Error, InvalidMessage, PeerIncompatible,
};
use std::io;
use std::time::Duration;

/// More names of a certificate than this are not told.
const MAX_NAMES: usize = 5;

/// The words for a handshake that ended with this error.
pub(super) fn words(error: &io::Error) -> String {
    use io::ErrorKind as K;
    match tls_cause(error) {
        Some(error) => tls_words(error),
        None => match error.kind() {
            K::UnexpectedEof => "the server closed the connection during the handshake".into(),
            K::ConnectionReset | K::ConnectionAborted | K::BrokenPipe => {
                "the server reset the connection during the handshake".into()
            }
            _ => format!("the handshake broke off: {error}"),
        },
    }
}

/// The error of the protocol, if it was one.
pub(super) fn tls_cause(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

fn tls_words(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(why) => certificate_words(why),
        Error::General(words) => words.clone(),
        Error::NoCertificatesPresented => "the server has no certificate".into(),
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType
            | InvalidMessage::UnknownProtocolVersion
            | InvalidMessage::MessageTooLarge
            | InvalidMessage::InvalidEmptyPayload,
        ) => "the server does not speak TLS here".into(),
        Error::InvalidMessage(why) => format!("the server's handshake is damaged: {why:?}"),
        Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        )
        | Error::AlertReceived(Alert::ProtocolVersion) => {
            "the server speaks only versions of TLS before 1.2".into()
        }
        Error::PeerIncompatible(_)
        | Error::AlertReceived(Alert::HandshakeFailure | Alert::InsufficientSecurity) => {
            "the server and we have no cipher in common".into()
        }
        Error::NoApplicationProtocol | Error::AlertReceived(Alert::NoApplicationProtocol) => {
            "the server speaks neither HTTP/1.1 nor HTTP/2 here".into()
        }
        Error::AlertReceived(Alert::UnrecognisedName) => {
            "the server does not know the name it was asked for".into()
        }
        Error::AlertReceived(Alert::CertificateRequired | Alert::AccessDenied) => {
            "the server wants a certificate from us".into()
        }
        Error::AlertReceived(alert) => format!("the server broke off the handshake: {alert:?}"),
        Error::PeerMisbehaved(why) => format!("the server breaks the rules of TLS: {why:?}"),
        Error::PeerSentOversizedRecord => "the server does not speak TLS here".into(),
        other => format!("the handshake failed: {other}"),
    }
}

fn certificate_words(why: &Cert) -> String {
    match why {
        Cert::Expired => "the certificate has expired".into(),
        Cert::ExpiredContext { not_after, .. } => {
            format!("the certificate expired on {}", day(*not_after))
        }
        Cert::NotValidYet => "the certificate is not valid yet".into(),
        Cert::NotValidYetContext { not_before, .. } => {
            format!("the certificate is not valid before {}", day(*not_before))
        }
        Cert::NotValidForName => "the certificate is for another name".into(),
        Cert::NotValidForNameContext { expected, presented } => {
            let names: Vec<_> = presented.iter().take(MAX_NAMES).map(|n| bare(n)).collect();
            let more = match presented.len().saturating_sub(MAX_NAMES) {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            let list = if names.is_empty() { "no name".into() } else { names.join(", ") };
            format!("the certificate is not for {} but for {list}{more}", expected.to_str())
        }
        Cert::UnknownIssuer => "the certificate's issuer is not known".into(),
        Cert::Revoked => "the certificate has been revoked".into(),
        Cert::UnknownRevocationStatus => {
            "whether the certificate has been revoked is not known".into()
        }
        Cert::BadSignature => "the certificate's signature is wrong".into(),
        Cert::BadEncoding => "the certificate is damaged".into(),
        Cert::InvalidPurpose | Cert::InvalidPurposeContext { .. } => {
            "the certificate is not made for servers".into()
        }
        other => format!("the certificate does not hold: {other}"),
    }
}

/// A name out of the way the library prints it: `DnsName("a.test")`, `IpAddress(192.0.2.1)`.
/// It is the server's text, so it is cut short.
fn bare(name: &str) -> String {
    let inside = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    let name = inside.unwrap_or(name);
    name.trim_matches('"').chars().take(80).collect()
}

/// The day of a time, without the hour.
fn day(time: UnixTime) -> String {
    let mut text = Time(0).plus(Duration::from_secs(time.as_secs())).iso_seconds();
    text.truncate(10);
    text
}
