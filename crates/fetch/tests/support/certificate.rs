//! Certificates made for a test: just enough X.509 to be believed or refused for one reason.

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::sync::Arc;

const ECDSA_SHA256: &[u8] = &[0x30, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const P256_KEY: &[u8] = &[
    0x30, 0x13, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1,
    7,
];

/// A name and its key.
pub struct Identity {
    name: String,
    pkcs8: Vec<u8>,
}

/// What a certificate says.
pub struct Wish<'a> {
    /// Host names and IPv4 addresses it is for.
    pub names: &'a [&'a str],
    pub from: &'a str,
    pub to: &'a str,
    pub is_ca: bool,
}

impl Default for Wish<'_> {
    fn default() -> Self {
        Wish { names: &[], from: "20200101000000Z", to: "20990101000000Z", is_ca: false }
    }
}

impl Identity {
    pub fn new(name: &str) -> Self {
        let key =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new());
        Identity { name: name.into(), pkcs8: key.unwrap().as_ref().to_vec() }
    }

    fn key(&self) -> EcdsaKeyPair {
        let random = SystemRandom::new();
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &self.pkcs8, &random).unwrap()
    }

    /// A certificate for `subject`, signed by this one.
    pub fn certify(&self, subject: &Identity, wish: &Wish) -> CertificateDer<'static> {
        let mut extensions = Vec::new();
        if !wish.names.is_empty() {
            let names: Vec<u8> = wish
                .names
                .iter()
                .flat_map(|name| match name.parse::<std::net::Ipv4Addr>() {
                    Ok(ip) => der(0x87, &ip.octets()),
                    Err(_) => der(0x82, name.as_bytes()),
                })
                .collect();
            let value = der(4, &der(0x30, &names));
            extensions.extend(der(0x30, &[&der(6, &[0x55, 0x1d, 0x11]), &value[..]].concat()));
        }
        if wish.is_ca {
            let value = der(4, &der(0x30, &[1, 1, 0xff]));
            let oid = der(6, &[0x55, 0x1d, 0x13]);
            extensions.extend(der(0x30, &[&oid, &[1, 1, 0xff][..], &value].concat()));
        }
        let point = [&[0], subject.key().public_key().as_ref()].concat();
        let body = der(
            0x30,
            &[
                &der(0xa0, &[2, 1, 2])[..],
                &[2, 1, 1],
                ECDSA_SHA256,
                &common_name(&self.name),
                &der(
                    0x30,
                    &[der(0x18, wish.from.as_bytes()), der(0x18, wish.to.as_bytes())].concat(),
                ),
                &common_name(&subject.name),
                &der(0x30, &[P256_KEY, &der(3, &point)].concat()),
                &der(0xa3, &der(0x30, &extensions)),
            ]
            .concat(),
        );
        let signature = self.key().sign(&SystemRandom::new(), &body).unwrap();
        let signature = der(3, &[&[0], signature.as_ref()].concat());
        der(0x30, &[&body, ECDSA_SHA256, &signature].concat()).into()
    }

    /// What a server needs to present a certificate.
    pub fn server(
        &self,
        certificate: CertificateDer<'static>,
        alpn: &[&str],
    ) -> rustls::ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.pkcs8.clone()));
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        config.alpn_protocols = alpn.iter().map(|p| p.as_bytes().to_vec()).collect();
        config
    }
}

pub fn pem(certificate: &CertificateDer) -> String {
    let text = data_encoding::BASE64.encode(certificate);
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

fn common_name(name: &str) -> Vec<u8> {
    let pair = [der(6, &[0x55, 4, 3]), der(0x0c, name.as_bytes())].concat();
    der(0x30, &der(0x31, &der(0x30, &pair)))
}

fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len();
    let mut out = match len {
        0..128 => vec![tag, len as u8],
        128..256 => vec![tag, 0x81, len as u8],
        _ => vec![tag, 0x82, (len >> 8) as u8, len as u8],
    };
    out.extend_from_slice(content);
    out
}
