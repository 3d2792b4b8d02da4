//! A zip file of entries that are stored, not compressed: all that WACZ asks for.
//!
//! Its place: `wacz` writes through this. Sizes are known beforehand, checksums are not: each
//! entry's head is written again when its bytes have passed. Entries, files and numbers of any
//! size are written, the larger ones in the 64-bit form of the format. What is not here: reading,
//! compression, encryption.

use argiope_model::Time;
use sha2::{Digest, Sha256};
use std::io::{self, Read, Seek, SeekFrom, Write};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;
/// A field that stands in the 64-bit form.
const ELSEWHERE: u32 = u32::MAX;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// An ordinary file that its owner may write and all may read, as Unix says it.
const ATTRIBUTES: u32 = 0o100_644 << 16;

struct Entry {
    name: String,
    len: u64,
    crc: u32,
    at: u64,
    modified: (u16, u16),
}

/// Writes a zip file from its beginning to its end.
pub(crate) struct ZipWriter<W> {
    out: W,
    at: u64,
    entries: Vec<Entry>,
}

impl<W: Write + Seek> ZipWriter<W> {
    /// Begins at the beginning of `out`.
    pub(crate) fn new(out: W) -> Self {
        ZipWriter { out, at: 0, entries: Vec::new() }
    }

    /// Adds an entry of exactly `len` bytes of `source`; returns their SHA-256.
    pub(crate) fn add(
        &mut self,
        name: &str,
        source: &mut dyn Read,
        len: u64,
        modified: Time,
    ) -> io::Result<[u8; 32]> {
        let mut entry =
            Entry { name: name.to_owned(), len, crc: 0, at: self.at, modified: dos(modified) };
        let head = entry.local();
        self.out.write_all(&head)?;
        let (mut crc, mut sha256) = (flate2::Crc::new(), Sha256::new());
        let mut piece = vec![0; 128 << 10];
        let mut left = len;
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
            let n = source.read(&mut piece[..most])?;
            if n == 0 {
                let why = format!("{name} ends {left} bytes early");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
            }
            crc.update(&piece[..n]);
            sha256.update(&piece[..n]);
            self.out.write_all(&piece[..n])?;
            left -= n as u64;
        }
        entry.crc = crc.sum();
        self.at += head.len() as u64 + len;
        self.out.seek(SeekFrom::Start(entry.at))?;
        self.out.write_all(&entry.local())?;
        self.out.seek(SeekFrom::Start(self.at))?;
        self.entries.push(entry);
        Ok(sha256.finalize().into())
    }

    /// Writes the list of entries and gives the file back.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        let begins = self.at;
        let mut list = Vec::new();
        for entry in &self.entries {
            entry.central(&mut list);
        }
        let (count, length) = (self.entries.len() as u64, list.len() as u64);
        let large = count >= 0xffff || length >= 0xffff_ffff || begins >= 0xffff_ffff;
        if large {
            put32(&mut list, END_64);
            put64(&mut list, 44);
            put16(&mut list, 3 << 8 | 45);
            put16(&mut list, 45);
            put32(&mut list, 0);
            put32(&mut list, 0);
            put64(&mut list, count);
            put64(&mut list, count);
            put64(&mut list, length);
            put64(&mut list, begins);
            put32(&mut list, LOCATOR_64);
            put32(&mut list, 0);
            put64(&mut list, begins + length);
            put32(&mut list, 1);
        }
        let short = u16::try_from(count).unwrap_or(u16::MAX);
        put32(&mut list, END);
        put16(&mut list, 0);
        put16(&mut list, 0);
        put16(&mut list, short);
        put16(&mut list, short);
        put32(&mut list, narrow(length));
        put32(&mut list, narrow(begins));
        put16(&mut list, 0);
        self.out.write_all(&list)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

impl Entry {
    fn is_large(&self) -> bool {
        self.len >= u64::from(ELSEWHERE)
    }

    fn local(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.name.len());
        put32(&mut out, LOCAL);
        self.common(&mut out, if self.is_large() { 20 } else { 0 });
        out.extend_from_slice(self.name.as_bytes());
        if self.is_large() {
            put16(&mut out, 1);
            put16(&mut out, 16);
            put64(&mut out, self.len);
            put64(&mut out, self.len);
        }
        out
    }

    fn central(&self, out: &mut Vec<u8>) {
        let mut extra = Vec::new();
        if self.is_large() {
            put64(&mut extra, self.len);
            put64(&mut extra, self.len);
        }
        if self.at >= u64::from(ELSEWHERE) {
            put64(&mut extra, self.at);
        }
        let extra_len = if extra.is_empty() { 0 } else { extra.len() + 4 };
        put32(out, CENTRAL);
        put16(out, 3 << 8 | 45);
        self.common(out, extra_len as u16);
        put16(out, 0); // comment
        put16(out, 0); // disk
        put16(out, 0); // internal attributes
        put32(out, ATTRIBUTES);
        put32(out, narrow(self.at));
        out.extend_from_slice(self.name.as_bytes());
        if !extra.is_empty() {
            put16(out, 1);
            put16(out, extra.len() as u16);
            out.extend_from_slice(&extra);
        }
    }

    /// From the version needed to the length of the extra field.
    fn common(&self, out: &mut Vec<u8>, extra: u16) {
        put16(out, if extra > 0 { 45 } else { 20 });
        put16(out, FLAGS);
        put16(out, 0); // stored
        put16(out, self.modified.1);
        put16(out, self.modified.0);
        put32(out, self.crc);
        put32(out, narrow(self.len));
        put32(out, narrow(self.len));
        put16(out, self.name.len() as u16);
        put16(out, extra);
    }
}

/// Date and time as the format has them: from 1980 on, every other second.
fn dos(time: Time) -> (u16, u16) {
    let digits = time.digits14();
    let part = |from: usize, to: usize| digits.get(from..to).and_then(|d| d.parse::<u16>().ok());
    let number = |from: usize, to: usize| part(from, to).unwrap_or(0);
    let year = number(0, 4).clamp(1980, 2107) - 1980;
    let date = year << 9 | number(4, 6) << 5 | number(6, 8);
    let two_seconds = number(12, 14) / 2;
    (date, number(8, 10) << 11 | number(10, 12) << 5 | two_seconds)
}

fn narrow(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(ELSEWHERE)
}

fn put16(out: &mut Vec<u8>, n: u16) {
    out.extend_from_slice(&n.to_le_bytes());
}

fn put32(out: &mut Vec<u8>, n: u32) {
    out.extend_from_slice(&n.to_le_bytes());
}

fn put64(out: &mut Vec<u8>, n: u64) {
    out.extend_from_slice(&n.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
        bytes[at..at + len].iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
    }

    #[test]
    fn entries_are_stored_as_they_are_and_listed_at_the_end() {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let time = Time(1_709_164_802_000); // 2024-02-29T00:00:02Z
        let digest = zip.add("a/ä.txt", &mut &b"hello!"[..], 6, time).unwrap();
        assert_eq!(digest, crate::body_digest(b"hello!"));
        zip.add("b", &mut &b""[..], 0, time).unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        assert_eq!(&bytes[30..38], "a/ä.txt".as_bytes());
        assert_eq!(&bytes[38..44], b"hello!");
        let mut crc = flate2::Crc::new();
        crc.update(b"hello!");
        assert_eq!(number(&bytes, 14, 4), u64::from(crc.sum()), "the head was written again");
        assert_eq!(number(&bytes, 12, 2), 44 << 9 | 2 << 5 | 29);
        let end = bytes.len() - 22;
        assert_eq!(number(&bytes, end + 10, 2), 2);
        let list = number(&bytes, end + 16, 4) as usize;
        assert_eq!(number(&bytes, list, 4), u64::from(CENTRAL));
        assert_eq!(number(&bytes, list + 42, 4), 0);
    }

    #[test]
    fn a_source_that_ends_early_is_an_error() {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let failed = zip.add("a", &mut &b"abc"[..], 4, Time(0)).unwrap_err();
        assert!(failed.to_string().contains("1 bytes early"), "{failed}");
    }

    #[test]
    fn what_does_not_fit_into_32_bits_stands_in_the_extra_field() {
        let modified = (0, 0);
        let large = Entry { name: "x".into(), len: 5 << 32, crc: 7, at: 6 << 32, modified };
        let local = large.local();
        assert_eq!(number(&local, 18, 4), u64::from(ELSEWHERE));
        assert_eq!(number(&local, 28, 2), 20);
        assert_eq!(number(&local, 35, 8), 5 << 32);
        let mut central = Vec::new();
        large.central(&mut central);
        assert_eq!(number(&central, 42, 4), u64::from(ELSEWHERE));
        assert_eq!((number(&central, 47, 2), number(&central, 49, 2)), (1, 24));
        assert_eq!(number(&central, 51 + 16, 8), 6 << 32);
    }
}
