//! Names and numbers of things: partition, host key, URL key, DocId, job id.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How many partitions there always are; a site's partition is a hash of its name.
pub const PARTITIONS: u16 = 4096;

/// The key of a host (scheme, host name, port) inside its partition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostKey {
    /// Partition of the host's site.
    pub part: u16,
    /// Fingerprint of scheme, host name and port.
    pub host: [u8; 6],
}

impl HostKey {
    /// Length of the byte form.
    pub const LEN: usize = 8;

    /// Partition and fingerprint, big-endian, so that bytes sort as keys do.
    pub fn to_bytes(self) -> [u8; 8] {
        let mut out = [0; 8];
        out[..2].copy_from_slice(&self.part.to_be_bytes());
        out[2..].copy_from_slice(&self.host);
        out
    }

    /// Reads the byte form back.
    pub fn from_bytes(b: [u8; 8]) -> Self {
        let [p0, p1, host @ ..] = b;
        HostKey { part: u16::from_be_bytes([p0, p1]), host }
    }
}

impl fmt::Debug for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostKey({:03x}", self.part)?;
        self.host.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        f.write_str(")")
    }
}

/// The key of a site: the same payload is stored once per site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SiteKey {
    /// Partition of the site.
    pub part: u16,
    /// Fingerprint of its name.
    pub site: [u8; 6],
}

/// The key of a URL: its host's key and the fingerprint of its path and query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UrlKey {
    /// Host part of the key.
    pub host: HostKey,
    /// Fingerprint of path and query.
    pub url: u64,
}

impl UrlKey {
    /// Length of the byte form.
    pub const LEN: usize = 16;

    /// `part(2)·host_fp(6)·url_fp(8)`, big-endian.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut out = [0; 16];
        out[..8].copy_from_slice(&self.host.to_bytes());
        out[8..].copy_from_slice(&self.url.to_be_bytes());
        out
    }

    /// Reads the byte form back.
    pub fn from_bytes(b: [u8; 16]) -> Self {
        let [h0, h1, h2, h3, h4, h5, h6, h7, url @ ..] = b;
        UrlKey {
            host: HostKey::from_bytes([h0, h1, h2, h3, h4, h5, h6, h7]),
            url: u64::from_be_bytes(url),
        }
    }
}

/// The number of a URL for life: running number in the high 40 bits, partition in the low 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DocId(pub u64);

impl DocId {
    /// The `running`-th document of partition `part`.
    pub fn new(running: u64, part: u16) -> Self {
        debug_assert!(running < 1 << 40 && part < PARTITIONS);
        DocId(running << 12 | u64::from(part))
    }

    /// The partition that gave the number.
    pub fn part(self) -> u16 {
        (self.0 & 0xfff) as u16
    }

    /// The running number inside the partition.
    pub fn running(self) -> u64 {
        self.0 >> 12
    }
}

impl fmt::Display for DocId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a word: a stable hash of its folded form, never 0; 0 stands for a stop word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WordId(pub u64);

impl WordId {
    /// The number that all stop words have.
    pub const STOP: WordId = WordId(0);

    /// The number of a word in its folded form.
    pub fn of(folded: &str) -> Self {
        WordId(xxhash_rust::xxh3::xxh3_64(folded.as_bytes()).max(1))
    }
}

impl fmt::Display for WordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a job in its data directory, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u32);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doc_id_holds_its_parts_in_52_bits() {
        let id = DocId::new((1 << 40) - 1, 4095);
        assert_eq!(id.0, (1 << 52) - 1);
        assert_eq!((id.running(), id.part()), ((1 << 40) - 1, 4095));
    }

    #[test]
    fn the_number_of_a_word_is_the_same_on_every_machine_and_in_every_version() {
        assert_eq!(WordId::of("spider"), WordId(11353233897259354878));
        assert_eq!(WordId::of("中国"), WordId(9822245771723986127));
        assert_ne!(WordId::of(""), WordId::STOP);
    }

    #[test]
    fn keys_survive_their_byte_form_and_sort_alike() {
        let a = UrlKey { host: HostKey { part: 1, host: [1, 2, 3, 4, 5, 6] }, url: 7 };
        let b = UrlKey { host: HostKey { part: 1, host: [1, 2, 3, 4, 5, 7] }, url: 0 };
        assert_eq!(UrlKey::from_bytes(a.to_bytes()), a);
        assert!(a < b && a.to_bytes() < b.to_bytes());
    }
}
