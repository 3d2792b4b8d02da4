//! Name service messages on the wire: one question out, the addresses of one answer in.
//!
//! * Its place: `dns` sends and receives what is written and read here. No socket, no clock.
//! * Invariants: every byte of an answer is foreign. Reading never goes beyond the message,
//!   compression pointers only lead backwards and a name ends after 255 bytes, so every walk is
//!   bounded; at most [`MAX_RECORDS`] records are looked at.
//! * What is not here: any record that is neither an address, an alias nor the mark of an
//!   authority (which says for how long a "no" is good).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The header of every message.
const HEADER_BYTES: usize = 12;
/// A name in its wire form is never longer.
const MAX_NAME_BYTES: usize = 255;
/// More records than this in one answer are not looked at.
const MAX_RECORDS: usize = 256;
/// More aliases than this in a row are a loop or a joke.
pub(super) const MAX_ALIASES: usize = 8;
const CLASS_IN: u16 = 1;

/// Which addresses to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Family {
    V4 = 1,
    V6 = 28,
}

const ALIAS: u16 = 5;
const AUTHORITY: u16 = 6;

/// A name in its wire form, lower case, without compression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(Vec<u8>);

impl Name {
    /// The wire form of a host name; `None` if it can have none.
    pub(super) fn of(host: &str) -> Option<Self> {
        let host = host.strip_suffix('.').unwrap_or(host);
        let mut wire = Vec::with_capacity(host.len() + 2);
        for label in host.split('.') {
            let len = u8::try_from(label.len()).ok().filter(|n| (1..64).contains(n))?;
            wire.push(len);
            wire.extend(label.bytes().map(|b| b.to_ascii_lowercase()));
        }
        wire.push(0);
        (wire.len() <= MAX_NAME_BYTES).then_some(Name(wire))
    }
}

/// What a server said about one question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Addresses, and for how many seconds they are good.
    Found(Vec<IpAddr>, u32),
    /// The name stands for another one whose addresses are not in this answer.
    Alias(Name, u32),
    /// The name exists but not for this family, or does not exist; for how many seconds, if said.
    None { exists: bool, seconds: Option<u32> },
    /// The answer did not fit; ask over a stream.
    Cut,
    /// The server cannot or will not say.
    Refused,
}

/// Writes a question.
pub(super) fn question(id: u16, name: &Name, family: Family) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER_BYTES + name.0.len() + 4);
    out.extend_from_slice(&id.to_be_bytes());
    // A query that wants recursion; one question, nothing else.
    out.extend_from_slice(&[1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    out.extend_from_slice(&name.0);
    out.extend_from_slice(&(family as u16).to_be_bytes());
    out.extend_from_slice(&CLASS_IN.to_be_bytes());
    out
}

/// Reads an answer; `None` if it is not one to this question.
pub(super) fn reply(message: &[u8], id: u16, name: &Name, family: Family) -> Option<Reply> {
    let mut reader = Reader { message, at: 0 };
    if reader.u16()? != id {
        return None;
    }
    let flags = reader.u16()?;
    let [questions, answers, authorities] = [reader.u16()?, reader.u16()?, reader.u16()?];
    reader.u16()?;
    let (is_answer, operation, cut, code) =
        (flags >> 15 == 1, flags >> 11 & 15, flags >> 9 & 1 == 1, flags & 15);
    if !is_answer || operation != 0 || questions != 1 {
        return None;
    }
    let asked = (reader.name()?, reader.u16()?, reader.u16()?);
    if asked != (name.clone(), family as u16, CLASS_IN) {
        return None;
    }
    if cut {
        return Some(Reply::Cut);
    }
    if !matches!(code, 0 | 3) {
        return Some(Reply::Refused);
    }
    Some(reader.answer(name, family, answers, authorities, code == 0).unwrap_or(Reply::Refused))
}

/// A record of the answer that is of use here.
enum Record {
    Address(IpAddr),
    Alias(Name),
}

struct Reader<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn answer(
        &mut self,
        asked: &Name,
        family: Family,
        answers: u16,
        authorities: u16,
        exists: bool,
    ) -> Option<Reply> {
        let mut records = Vec::new();
        for _ in 0..usize::from(answers).min(MAX_RECORDS) {
            let (owner, kind, seconds, data) = self.record()?;
            let end = self.at;
            let record = match (kind, data.len()) {
                (ALIAS, _) => {
                    let mut target = Reader { message: self.message, at: end - data.len() };
                    Record::Alias(target.name()?)
                }
                (k, 4) if k == Family::V4 as u16 && family == Family::V4 => {
                    let octets: [u8; 4] = data.try_into().ok()?;
                    Record::Address(Ipv4Addr::from(octets).into())
                }
                (k, 16) if k == Family::V6 as u16 && family == Family::V6 => {
                    let octets: [u8; 16] = data.try_into().ok()?;
                    Record::Address(Ipv6Addr::from(octets).into())
                }
                _ => continue,
            };
            records.push((owner, seconds, record));
        }
        // The records may stand in any order: the chain of aliases is followed by name.
        let (mut name, mut seconds) = (asked.clone(), u32::MAX);
        for _ in 0..=MAX_ALIASES {
            let mut found = Vec::new();
            let mut alias = None;
            for (_, ttl, record) in records.iter().filter(|(owner, ..)| *owner == name) {
                match record {
                    Record::Address(ip) if !found.contains(ip) => {
                        found.push(*ip);
                        seconds = seconds.min(*ttl);
                    }
                    Record::Address(_) => {}
                    Record::Alias(target) => {
                        seconds = seconds.min(*ttl);
                        alias = Some(target);
                    }
                }
            }
            if !found.is_empty() {
                return Some(Reply::Found(found, seconds));
            }
            match alias {
                Some(target) => name = target.clone(),
                None if name == *asked || !exists => break,
                None if authorities > 0 => break,
                None => return Some(Reply::Alias(name, seconds)),
            }
        }
        Some(Reply::None { exists, seconds: self.denied_for(authorities) })
    }

    /// For how long a "no" is good: the lesser of the authority record's own time and the last
    /// number in it.
    fn denied_for(&mut self, authorities: u16) -> Option<u32> {
        for _ in 0..usize::from(authorities).min(MAX_RECORDS) {
            let (_, kind, seconds, data) = self.record()?;
            if kind == AUTHORITY {
                let minimum = data.last_chunk::<4>().map(|b| u32::from_be_bytes(*b))?;
                return Some(seconds.min(minimum));
            }
        }
        None
    }

    /// The next record: owner, kind, seconds to live, data.
    fn record(&mut self) -> Option<(Name, u16, u32, &'a [u8])> {
        let owner = self.name()?;
        let kind = self.u16()?;
        let class = self.u16()?;
        let seconds = self.u32()?;
        let len = usize::from(self.u16()?);
        let data = self.message.get(self.at..self.at + len)?;
        self.at += len;
        // Records of another class are none that was asked for; times with the top bit set are
        // zero by RFC 2181.
        let kind = if class == CLASS_IN { kind } else { 0 };
        Some((owner, kind, if seconds >> 31 == 1 { 0 } else { seconds }, data))
    }

    fn name(&mut self) -> Option<Name> {
        let mut wire = Vec::with_capacity(32);
        let mut at = self.at;
        // Where the name's own bytes end; what pointers lead to lies elsewhere.
        let mut end = None;
        loop {
            let len = *self.message.get(at)?;
            match len >> 6 {
                0 => {
                    let label = self.message.get(at..at + 1 + usize::from(len))?;
                    wire.extend(label.iter().map(u8::to_ascii_lowercase));
                    if wire.len() > MAX_NAME_BYTES {
                        return None;
                    }
                    at += label.len();
                    if len == 0 {
                        self.at = end.unwrap_or(at);
                        return Some(Name(wire));
                    }
                }
                3 => {
                    let low = *self.message.get(at + 1)?;
                    let target = usize::from(u16::from_be_bytes([len & 0x3f, low]));
                    // Backwards only, so that no pointer is followed twice.
                    if target >= at {
                        return None;
                    }
                    end.get_or_insert(at + 2);
                    at = target;
                }
                _ => return None,
            }
        }
    }

    fn u16(&mut self) -> Option<u16> {
        let bytes = self.message.get(self.at..)?.first_chunk::<2>()?;
        self.at += 2;
        Some(u16::from_be_bytes(*bytes))
    }

    fn u32(&mut self) -> Option<u32> {
        let bytes = self.message.get(self.at..)?.first_chunk::<4>()?;
        self.at += 4;
        Some(u32::from_be_bytes(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::of(text).unwrap()
    }

    /// An answer to `a.test`: the question, then records as (owner, kind, seconds, data).
    fn message(flags: u16, answers: &[(&[u8], u16, u32, &[u8])], authorities: u16) -> Vec<u8> {
        let mut out = question(7, &name("a.test"), Family::V4);
        out[2..4].copy_from_slice(&flags.to_be_bytes());
        let count = u16::try_from(answers.len()).unwrap() - authorities;
        out[6..8].copy_from_slice(&count.to_be_bytes());
        out[8..10].copy_from_slice(&authorities.to_be_bytes());
        for (owner, kind, seconds, data) in answers {
            out.extend_from_slice(owner);
            out.extend_from_slice(&kind.to_be_bytes());
            out.extend_from_slice(&[0, 1]);
            out.extend_from_slice(&seconds.to_be_bytes());
            out.extend_from_slice(&u16::try_from(data.len()).unwrap().to_be_bytes());
            out.extend_from_slice(data);
        }
        out
    }

    fn read(message: &[u8]) -> Option<Reply> {
        reply(message, 7, &name("a.test"), Family::V4)
    }

    /// Points at the question's name.
    const ASKED: &[u8] = &[0xc0, 12];

    #[test]
    fn addresses_are_read_with_the_shortest_time() {
        let m = message(
            0x8180,
            &[(ASKED, 1, 300, &[192, 0, 2, 1]), (ASKED, 1, 60, &[192, 0, 2, 2])],
            0,
        );
        let ips = vec!["192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap()];
        assert_eq!(read(&m), Some(Reply::Found(ips, 60)));
    }

    #[test]
    fn aliases_are_followed_whatever_the_order_of_the_records() {
        let (b, c) = (name("b.test").0, name("c.test").0);
        let records: [(&[u8], u16, u32, &[u8]); 3] =
            [(&c, 1, 900, &[192, 0, 2, 9]), (&b, 5, 30, &c), (ASKED, 5, 600, &b)];
        let ips = vec!["192.0.2.9".parse().unwrap()];
        assert_eq!(read(&message(0x8180, &records, 0)), Some(Reply::Found(ips, 30)));
        // The end of the chain is not in the answer.
        let m = message(0x8180, &records[1..], 0);
        assert_eq!(read(&m), Some(Reply::Alias(name("c.test"), 30)));
        // A loop has no end.
        let loops: [(&[u8], u16, u32, &[u8]); 2] = [(ASKED, 5, 9, &b), (&b, 5, 9, ASKED)];
        let got = read(&message(0x8180, &loops, 0));
        assert_eq!(got, Some(Reply::None { exists: true, seconds: None }));
    }

    #[test]
    fn addresses_of_other_names_are_not_believed() {
        let other = name("other.test").0;
        let m = message(0x8180, &[(&other, 1, 300, &[192, 0, 2, 1])], 0);
        assert_eq!(read(&m), Some(Reply::None { exists: true, seconds: None }));
    }

    #[test]
    fn a_no_says_for_how_long() {
        let authority = [&[0, 0][..], &[0; 16], &45_u32.to_be_bytes()].concat();
        let m = message(0x8183, &[(ASKED, 6, 3600, &authority)], 1);
        assert_eq!(read(&m), Some(Reply::None { exists: false, seconds: Some(45) }));
        assert_eq!(read(&message(0x8182, &[], 0)), Some(Reply::Refused));
        assert_eq!(read(&message(0x8380, &[], 0)), Some(Reply::Cut));
    }

    #[test]
    fn what_is_no_answer_to_the_question_is_passed_over() {
        let good = message(0x8180, &[(ASKED, 1, 300, &[192, 0, 2, 1])], 0);
        assert_eq!(reply(&good, 8, &name("a.test"), Family::V4), None, "another id");
        assert_eq!(reply(&good, 7, &name("b.test"), Family::V4), None, "another name");
        assert_eq!(reply(&good, 7, &name("a.test"), Family::V6), None, "another family");
        assert_eq!(read(&message(0x0100, &[], 0)), None, "a question");
        let shouted = reply(&good, 7, &name("A.TEST"), Family::V4);
        assert!(matches!(shouted, Some(Reply::Found(..))), "names have no case");
    }

    #[test]
    fn damaged_answers_end_without_harm() {
        let (b, looping) = (name("b.test").0, [0xc0_u8, 24]);
        let good = message(0x8180, &[(ASKED, 5, 300, &b), (&b, 1, 300, &[192, 0, 2, 1])], 0);
        for end in 0..good.len() {
            assert!(!matches!(read(&good[..end]), Some(Reply::Found(..))), "cut at {end}");
        }
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                let _ = read(&bad);
            }
        }
        // A pointer to itself.
        assert_eq!(read(&message(0x8180, &[(&looping, 1, 1, &[1; 4])], 0)), Some(Reply::Refused));
    }

    #[test]
    fn only_names_that_fit_can_be_asked() {
        assert!(Name::of(&"a".repeat(63)).is_some() && Name::of("a.").is_some());
        for bad in ["", ".", "a..b", &"a".repeat(64), &"abc.".repeat(64)] {
            assert!(Name::of(bad).is_none(), "{bad}");
        }
    }
}
