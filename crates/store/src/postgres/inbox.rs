//! What is told to the owner of another partition.
//!
//! A discovery of a partition that somebody else owns is laid into that partition's inbox, in the
//! same transaction as the page it was found on; the owner takes it out with one of its next
//! commits, as if it had found it itself. It is told once: its key is that of the group that sent it.
//! Until it is taken out it counts as queued, so that a job is not done while something is on its way.

use crate::StoreError;
use crate::batch::{Batch, Discovery, RobotsTold};
use crate::row::{VERSION, damaged, versioned};
use argiope_frontier::{Errand, Place, RobotsFile, SkipReason};
use argiope_model::{CanonicalUrl, HostKey, JobId, Role, UrlKey};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Message {
    Found(Found),
    /// The rest of a host's key.
    Forgive([u8; 6]),
    Exclude([u8; 6]),
    Errand(Asked),
    Robots(Told),
}

/// A robots.txt is wanted that lies with the owner's host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asked {
    host: [u8; 6],
    /// The whole key of the host whose robots.txt it is.
    of: [u8; 8],
    job: JobId,
    hops: u8,
    url: String,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Told {
    /// The host whose robots.txt it is.
    host: [u8; 6],
    job: JobId,
    url: String,
    file: RobotsFile,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Found {
    host: [u8; 6],
    url: u64,
    job: JobId,
    depth: u16,
    place: Place,
    skip: Option<SkipReason>,
    role: Role,
    hops: u8,
    again: bool,
    text: String,
}

impl Message {
    pub fn of(found: &Discovery) -> Self {
        let Discovery { url, key, job, depth, place, skip, role, hops, again } = found;
        Message::Found(Found {
            host: key.host.host,
            url: key.url,
            job: *job,
            depth: *depth,
            place: *place,
            skip: *skip,
            role: *role,
            hops: *hops,
            again: *again,
            text: url.as_str().to_owned(),
        })
    }

    /// The job that has it counted while it is on its way.
    pub fn job(&self) -> Option<JobId> {
        match self {
            Message::Found(found) => Some(found.job),
            _ => None,
        }
    }

    pub fn encode(&self) -> Vec<u8> {
        postcard::to_extend(self, vec![VERSION]).expect("writing to memory cannot fail")
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, StoreError> {
        let (_, body) = versioned("the inbox", bytes)?;
        postcard::from_bytes(body).map_err(|e| damaged("the inbox", e))
    }

    /// Adds it to what the owner does next.
    pub fn add_to(self, batch: &mut Batch, part: u16) -> Result<(), StoreError> {
        match self {
            Message::Forgive(host) => batch.forgive.push(HostKey { part, host }),
            Message::Exclude(host) => batch.exclude.push(HostKey { part, host }),
            Message::Errand(Asked { host, of, job, hops, url }) => batch.errands.push(Errand {
                robots_of: HostKey::from_bytes(of),
                at: HostKey { part, host },
                url: parsed(&url)?,
                hops,
                job,
            }),
            Message::Robots(Told { host, job, url, file }) => {
                let (of, url) = (HostKey { part, host }, parsed(&url)?);
                batch.robots_told.push(RobotsTold { of, url, job, file });
            }
            Message::Found(found) => {
                let Found { host, url, job, depth, place, skip, role, hops, again, text } = found;
                let key = UrlKey { host: HostKey { part, host }, url };
                let url = parsed(&text)?;
                let found = Discovery { url, key, job, depth, place, skip, role, hops, again };
                batch.discoveries.push(found);
            }
        }
        Ok(())
    }
}

fn parsed(url: &str) -> Result<CanonicalUrl, StoreError> {
    CanonicalUrl::parse(url).map_err(|e| damaged("the inbox", e))
}

/// Takes out of a batch what is for the owners of other partitions.
pub(super) fn split(batch: &mut Batch, mine: impl Fn(u16) -> bool) -> Vec<(u16, Message)> {
    let mut out = Vec::new();
    batch.discoveries.retain(|found| {
        let keep = mine(found.key.host.part);
        if !keep {
            out.push((found.key.host.part, Message::of(found)));
        }
        keep
    });
    for (hosts, message) in [
        (&mut batch.forgive, Message::Forgive as fn([u8; 6]) -> Message),
        (&mut batch.exclude, Message::Exclude),
    ] {
        hosts.retain(|k| {
            let keep = mine(k.part);
            if !keep {
                out.push((k.part, message(k.host)));
            }
            keep
        });
    }
    for errand in batch.errands.extract_if(.., |errand| !mine(errand.at.part)) {
        let Errand { robots_of, at, url, hops, job } = errand;
        let (of, url) = (robots_of.to_bytes(), url.as_str().to_owned());
        out.push((at.part, Message::Errand(Asked { host: at.host, of, job, hops, url })));
    }
    for told in batch.robots_told.extract_if(.., |told| !mine(told.of.part)) {
        let RobotsTold { of, url, job, file } = told;
        let url = url.as_str().to_owned();
        out.push((of.part, Message::Robots(Told { host: of.host, job, url, file })));
    }
    batch.claims.named.retain(|named| mine(named.host.part));
    // Whether the row is out, only its owner knows.
    batch.moves.retain(|to| mine(to.key.host.part));
    out
}

/// A partition that a batch changes directly; only its owner may.
pub(super) fn foreign(batch: &Batch, mine: impl Fn(u16) -> bool) -> Option<u16> {
    let pages = batch.pages.iter().chain(&batch.imports).map(|page| page.entry.key.host.part);
    let hosts = batch.notes.iter().map(|note| note.host.part);
    let hosts = hosts.chain(batch.releases.iter().map(|release| release.host.part));
    let hosts = hosts.chain(batch.robots.iter().map(|(host, _)| host.part));
    let forget = &batch.forget;
    let forgotten = forget.urls.iter().map(|k| k.host.part);
    let forgotten = forgotten.chain(forget.captures.iter().map(|(k, _)| k.host.part));
    let forgotten = forgotten.chain(forget.hosts.iter().map(|k| k.part));
    let forgotten = forgotten.chain(forget.payloads.iter().map(|payload| payload.site.part));
    let forgotten = forgotten.chain(forget.moved.iter().map(|moved| moved.key.host.part));
    pages.chain(hosts).chain(forgotten).find(|part| !mine(*part))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written once; must be read the same for ever.
    const FROZEN: &str =
        "050001020304050607ac0203020501040101011468747470733a2f2f6578616d706c652e6f72672f";

    #[test]
    fn a_message_is_written_as_it_was_and_leads_to_the_same_discovery() {
        let url = CanonicalUrl::parse("https://example.org/").unwrap();
        let key = UrlKey { host: HostKey { part: 9, host: [1, 2, 3, 4, 5, 6] }, url: 7 };
        let found = Discovery {
            url,
            key,
            job: JobId(300),
            depth: 3,
            place: Place { order: 2, seq: 5 },
            skip: Some(SkipReason::Robots),
            role: Role::Sitemap,
            hops: 1,
            again: true,
        };
        let written = Message::of(&found).encode();
        let hex: String = written.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hex, FROZEN);
        let mut batch = Batch::default();
        Message::decode(&written).unwrap().add_to(&mut batch, 9).unwrap();
        assert_eq!(Message::of(&batch.discoveries[0]), Message::of(&found));
        assert_eq!(batch.discoveries[0].key, key);
    }

    #[test]
    fn errands_and_what_came_of_them_are_written_as_they_were() {
        let frozen = |message: &Message, text: &str| {
            let written = message.encode();
            let hex: String = written.iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(hex, text);
            assert_eq!(&Message::decode(&written).unwrap(), message);
        };
        let url = "http://a.test/r".to_owned();
        let (host, of, job) = ([1; 6], [2; 8], JobId(3));
        let asked = Message::Errand(Asked { host, of, job, hops: 4, url: url.clone() });
        frozen(&asked, "0503010101010101020202020202020203040f687474703a2f2f612e746573742f72");
        let file = RobotsFile {
            asked: argiope_model::Time(5),
            until: argiope_model::Time(6),
            outcome: argiope_model::FetchOutcome::new(argiope_model::OutcomeKind::Fetched, 200),
            body: b"x".to_vec(),
        };
        frozen(
            &Message::Robots(Told { host, job, url, file }),
            "0504010101010101030f687474703a2f2f612e746573742f720a0c00c801000178",
        );
    }
}
