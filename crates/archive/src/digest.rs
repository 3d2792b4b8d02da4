//! The two digests of a capture, whole or piece by piece, and their comparison with WARC headers.

use argiope_model::PayloadDigest;
use data_encoding::{BASE32, HEXLOWER_PERMISSIVE};
use sha1::{Digest, Sha1};
use sha2::Sha256;

/// SHA-1 of the stored payload, fed piece by piece.
#[derive(Clone, Default)]
pub struct PayloadHasher(Sha1);

impl PayloadHasher {
    /// Nothing hashed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes.
    pub fn finish(self) -> PayloadDigest {
        self.0.finalize().into()
    }
}

/// SHA-256 of the decoded body, fed piece by piece.
#[derive(Clone, Default)]
pub struct BodyHasher(Sha256);

impl BodyHasher {
    /// Nothing hashed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes.
    pub fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

/// SHA-1 of a stored payload.
pub fn payload_digest(payload: &[u8]) -> PayloadDigest {
    Sha1::digest(payload).into()
}

/// SHA-256 of a decoded body.
pub fn body_digest(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}

/// The base-32 form that WARC and CDX tools write.
pub fn digest_base32(digest: &PayloadDigest) -> String {
    BASE32.encode(digest)
}

/// How the digests a record states compare with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DigestCheck {
    /// None is stated, or none of this record's own bytes (a revisit).
    Absent,
    /// All that are stated and understood agree.
    Right,
    /// Stated in an algorithm or notation that is not understood.
    Unknown(String),
    /// The bytes are not the ones the writer saw.
    Wrong {
        /// The header's value.
        stated: String,
        /// The digest of the bytes, in the notation of the header.
        found: String,
    },
}

impl DigestCheck {
    /// Both verdicts together: a wrong one wins, then an unknown one, then a right one.
    pub(crate) fn and(self, other: DigestCheck) -> DigestCheck {
        let rank = |c: &DigestCheck| match c {
            DigestCheck::Absent => 0,
            DigestCheck::Right => 1,
            DigestCheck::Unknown(_) => 2,
            DigestCheck::Wrong { .. } => 3,
        };
        if rank(&other) > rank(&self) { other } else { self }
    }
}

/// SHA-1 of bytes as they pass, compared at the end with what a WARC header states.
pub(crate) struct Digester {
    stated: Option<String>,
    sha1: Sha1,
    sha256: Option<Sha256>,
}

impl Digester {
    /// Begins; `stated` is a header's value, `sha1:VALUE` and the like.
    pub(crate) fn new(stated: Option<&str>) -> Self {
        let sha256 = matches!(stated.map(algorithm), Some("sha256")).then(Sha256::new);
        Digester { stated: stated.map(str::to_owned), sha1: Sha1::new(), sha256 }
    }

    /// Takes in the next bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.sha1.update(bytes);
        if let Some(sha256) = &mut self.sha256 {
            sha256.update(bytes);
        }
    }

    /// The SHA-1, and how the stated digest compares.
    pub(crate) fn finish(self) -> (PayloadDigest, DigestCheck) {
        let sha1: PayloadDigest = self.sha1.finalize().into();
        let Some(stated) = self.stated else { return (sha1, DigestCheck::Absent) };
        let check = match (algorithm(&stated), self.sha256) {
            ("sha1", _) => compare(stated, "sha1", &sha1),
            ("sha256", Some(sha256)) => compare(stated, "sha256", &sha256.finalize()),
            _ => DigestCheck::Unknown(stated),
        };
        (sha1, check)
    }
}

/// Reads the value of a SHA-1 digest as archives write it, in base 32 or in hexadecimal.
pub fn payload_digest_from_text(value: &str) -> Option<PayloadDigest> {
    let bytes = match value.len() {
        40 => HEXLOWER_PERMISSIVE.decode(value.as_bytes()),
        _ => BASE32.decode(value.to_ascii_uppercase().as_bytes()),
    };
    bytes.ok()?.try_into().ok()
}

fn algorithm(stated: &str) -> &'static str {
    let name = stated.split_once(':').map_or("", |(name, _)| name.trim());
    match () {
        () if name.eq_ignore_ascii_case("sha1") || name.eq_ignore_ascii_case("sha-1") => "sha1",
        () if name.eq_ignore_ascii_case("sha256") || name.eq_ignore_ascii_case("sha-256") => {
            "sha256"
        }
        () => "",
    }
}

/// Both base-32 and hexadecimal values are in use.
fn compare(stated: String, name: &str, found: &[u8]) -> DigestCheck {
    let value = stated.split_once(':').map_or("", |(_, value)| value.trim());
    let hex = value.len() == 2 * found.len();
    let decoded = if hex {
        HEXLOWER_PERMISSIVE.decode(value.as_bytes())
    } else {
        BASE32.decode(value.to_ascii_uppercase().as_bytes())
    };
    match decoded {
        Err(_) => DigestCheck::Unknown(stated),
        Ok(value) if value == found => DigestCheck::Right,
        Ok(_) => {
            let text = if hex { HEXLOWER_PERMISSIVE.encode(found) } else { BASE32.encode(found) };
            DigestCheck::Wrong { stated, found: format!("{name}:{text}") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_the_whole_give_the_same_digest() {
        let mut p = PayloadHasher::new();
        let mut b = BodyHasher::new();
        for piece in [&b"hel"[..], b"", b"lo"] {
            p.update(piece);
            b.update(piece);
        }
        assert_eq!(p.finish(), payload_digest(b"hello"));
        assert_eq!(b.finish(), body_digest(b"hello"));
        assert_eq!(digest_base32(&payload_digest(b"")), "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    }

    #[test]
    fn base32_hex_and_unknown_digests_are_told_apart() {
        let check = |stated: &str| Digester::new(Some(stated)).finish().1;
        assert_eq!(check("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"), DigestCheck::Right);
        assert_eq!(check("sha1:DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"), DigestCheck::Right);
        assert!(matches!(check("md5:aa"), DigestCheck::Unknown(_)));
        assert!(matches!(check("sha1:?"), DigestCheck::Unknown(_)));
        assert!(matches!(
            check("sha1:4I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
            DigestCheck::Wrong { .. }
        ));
    }
}
