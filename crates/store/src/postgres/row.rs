//! Where rows lie: from the keys of [`crate::work`] to tables, partitions and the rest of the key.

use super::link::Sql;
use crate::StoreError;
use crate::row::{self, JobCounters, damaged};
use crate::work::{ReadyRow, Table, Write, key};
use argiope_model::{HostKey, JobState, UrlKey};
use std::collections::BTreeMap;

/// Rows of a list, written. Citus hands a list that comes from nowhere to its nodes as files, each over
/// a connection of its own; joined with a table that lies there already, the statement goes to the
/// shards as it is. Every partition has its row in `parts`.
macro_rules! upsert {
    ($into:expr, $columns:literal, $list:literal, $conflict:literal) => {
        Sql {
            plain: concat!($into, " SELECT x.part, ", $columns, " FROM ", $list, " ", $conflict),
            citus: concat!(
                $into,
                " SELECT p.part, ",
                $columns,
                " FROM parts p, ",
                $list,
                " WHERE p.part = x.part AND p.part = ANY($1) ",
                $conflict
            ),
        }
    };
}

/// The tables that batches write to, but for the rows of URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Hosts,
    Ready,
    Calendar,
    Schedule,
    Claims,
    Captures,
    Links,
    Payloads,
    Robots,
    Log,
    Inbox,
}

impl Place {
    /// Writes rows; a row that is there is replaced. The change log has none that is.
    pub fn upsert(self) -> Sql {
        macro_rules! values {
            ($table:literal) => {
                upsert!(
                    concat!("INSERT INTO ", $table, " (part, k, v)"),
                    "x.k, x.v",
                    "unnest($1::smallint[], $2::bytea[], $3::bytea[]) AS x(part, k, v)",
                    "ON CONFLICT (part, k) DO UPDATE SET v = excluded.v"
                )
            };
        }
        macro_rules! keys {
            ($table:literal) => {
                upsert!(
                    concat!("INSERT INTO ", $table, " (part, k)"),
                    "x.k",
                    "unnest($1::smallint[], $2::bytea[]) AS x(part, k)",
                    "ON CONFLICT (part, k) DO NOTHING"
                )
            };
        }
        match self {
            Self::Hosts => values!("hosts"),
            Self::Calendar => values!("calendar"),
            Self::Captures => values!("captures"),
            Self::Links => values!("links"),
            Self::Payloads => values!("payloads"),
            Self::Robots => values!("robots"),
            Self::Inbox => values!("inbox"),
            Self::Schedule => keys!("schedule"),
            Self::Claims => keys!("claims"),
            Self::Ready => upsert!(
                "INSERT INTO ready (part, k, u)",
                "x.k, x.u",
                "unnest($1::smallint[], $2::bytea[], $3::bigint[]) AS x(part, k, u)",
                "ON CONFLICT (part, k) DO UPDATE SET u = excluded.u"
            ),
            Self::Log => "INSERT INTO log (part, n, v)
                SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[])"
                .into(),
        }
    }

    /// Deletes rows.
    pub fn delete(self) -> &'static str {
        macro_rules! delete {
            ($table:literal) => {
                concat!(
                    "DELETE FROM ",
                    $table,
                    " WHERE (part, k) IN
                    (SELECT * FROM unnest($1::smallint[], $2::bytea[]))"
                )
            };
        }
        match self {
            Self::Hosts => delete!("hosts"),
            Self::Ready => delete!("ready"),
            Self::Calendar => delete!("calendar"),
            Self::Schedule => delete!("schedule"),
            Self::Claims => delete!("claims"),
            Self::Captures => delete!("captures"),
            Self::Links => delete!("links"),
            Self::Payloads => delete!("payloads"),
            Self::Robots => delete!("robots"),
            Self::Inbox => delete!("inbox"),
            Self::Log => unreachable!("the change log only grows"),
        }
    }

    /// Reads rows by their keys.
    pub fn select(self) -> &'static str {
        macro_rules! select {
            ($table:literal) => {
                concat!(
                    "SELECT part, k, v FROM ",
                    $table,
                    " WHERE (part, k) IN
                    (SELECT * FROM unnest($1::smallint[], $2::bytea[]))"
                )
            };
        }
        match self {
            Self::Hosts => select!("hosts"),
            Self::Calendar => select!("calendar"),
            Self::Captures => select!("captures"),
            Self::Links => select!("links"),
            Self::Payloads => select!("payloads"),
            Self::Robots => select!("robots"),
            Self::Inbox => select!("inbox"),
            _ => unreachable!("rows without values are not read by key"),
        }
    }
}

/// The rows of URLs: those nobody knew before, and others. That it is new was seen under the lease;
/// not looking again saves the server a fifth.
pub(super) const INSERT_URLS: &str = "INSERT INTO urls (part, k, doc, v)
    SELECT * FROM unnest($1::smallint[], $2::bytea[], $3::bigint[], $4::bytea[])";
pub(super) const UPSERT_URLS: Sql = upsert!(
    "INSERT INTO urls (part, k, doc, v)",
    "x.k, x.doc, x.v",
    "unnest($1::smallint[], $2::bytea[], $3::bigint[], $4::bytea[]) AS x(part, k, doc, v)",
    "ON CONFLICT (part, k) DO UPDATE SET v = excluded.v"
);
pub(super) const SELECT_URLS: &str = "SELECT part, k, v FROM urls WHERE (part, k) IN
    (SELECT * FROM unnest($1::smallint[], $2::bytea[]))";

/// Rows of one table: what each is to be, the last word on each counting. `None` deletes.
pub(super) type Rows = BTreeMap<(u16, Vec<u8>), Option<Vec<u8>>>;

/// Everything a batch writes that lies under a partition, and what does not.
#[derive(Default)]
pub(super) struct Sorted {
    pub places: BTreeMap<Place, Rows>,
    /// Kind, number and length.
    pub segments: BTreeMap<(u8, u32), u64>,
    pub exclusions: BTreeMap<String, Option<Vec<u8>>>,
    pub next_page: Option<u64>,
}

fn part_at(key: &[u8], at: usize) -> Result<u16, StoreError> {
    let bytes = key.get(at..at + 2).ok_or_else(|| damaged("keys", "short key"))?;
    Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
}

impl Sorted {
    pub fn add(&mut self, table: Table, write: Write) -> Result<(), StoreError> {
        let (key, value) = write;
        if table == Table::Meta {
            return self.add_meta(&key, value.as_deref());
        }
        let Some((place, part, rest)) = locate(table, &key)? else { return Ok(()) };
        let value = value.map(|v| v.to_vec());
        self.places.entry(place).or_default().insert((part, rest), value);
        Ok(())
    }

    pub fn put(&mut self, place: Place, part: u16, key: Vec<u8>, value: Option<Vec<u8>>) {
        self.places.entry(place).or_default().insert((part, key), value);
    }

    fn add_meta(&mut self, key: &[u8], value: Option<&[u8]>) -> Result<(), StoreError> {
        let number = |v: Option<&[u8]>| row::decode::<u64>("counters", v.unwrap_or(&[]));
        match key {
            [b'n'] => self.next_page = Some(number(value)?),
            [b's', kind, n @ ..] => {
                let n: [u8; 4] = n.try_into().map_err(|_| damaged("segments", "short key"))?;
                self.segments.insert((*kind, u32::from_be_bytes(n)), number(value)?);
            }
            [key::EXCLUSION, name @ ..] => {
                let name = std::str::from_utf8(name).map_err(|e| damaged("exclusions", e))?;
                self.exclusions.insert(name.to_owned(), value.map(<[u8]>::to_vec));
            }
            // How many documents a partition has lies beside its owner.
            _ => {}
        }
        Ok(())
    }
}

/// Where a row lies; `None` for what another row tells already.
pub(super) fn locate(
    table: Table,
    key: &[u8],
) -> Result<Option<(Place, u16, Vec<u8>)>, StoreError> {
    let plain = |place: Place| Ok(Some((place, part_at(key, 0)?, key[2..].to_vec())));
    match table {
        Table::Hosts => plain(Place::Hosts),
        Table::Captures => plain(Place::Captures),
        Table::Links => plain(Place::Links),
        Table::Payloads => plain(Place::Payloads),
        Table::Robots => plain(Place::Robots),
        Table::Log => plain(Place::Log),
        // The number is a column of the URL's row; rows of URLs are written apart.
        Table::Docs | Table::Urls | Table::Meta => Ok(None),
        Table::Queue => match key.first() {
            Some(&key::READY) => Ok(Some((Place::Ready, part_at(key, 1)?, key[3..].to_vec()))),
            Some(&key::CLAIM) => Ok(Some((Place::Claims, part_at(key, 1)?, key[3..].to_vec()))),
            // Where partitions have different owners the partition leads, and time follows.
            Some(&key::CALENDAR) => {
                let rest = [&key[1..9], &key[11..]].concat();
                Ok(Some((Place::Calendar, part_at(key, 9)?, rest)))
            }
            Some(&key::SCHEDULE) => {
                let rest = [&key[1..5], &key[7..]].concat();
                Ok(Some((Place::Schedule, part_at(key, 5)?, rest)))
            }
            _ => Err(damaged("queues", "an unknown kind of row")),
        },
    }
}

/// The URL of a ready row.
pub(super) fn ready_url(value: &[u8]) -> Result<i64, StoreError> {
    let ready: ReadyRow = row::decode("queues", value)?;
    Ok(ready.url as i64)
}

/// The key of a host from its partition and the rest of its key.
pub(super) fn host_key(part: i16, rest: &[u8]) -> Result<HostKey, StoreError> {
    let host = rest.try_into().map_err(|_| damaged("hosts", "short key"))?;
    Ok(HostKey { part: part as u16, host })
}

/// The key of a URL from its partition and the rest of its key.
pub(super) fn url_key(part: i16, rest: &[u8]) -> Result<UrlKey, StoreError> {
    let short = || damaged("URLs", "short key");
    let (host, url) = rest.split_at_checked(6).ok_or_else(short)?;
    let url = u64::from_be_bytes(url.try_into().map_err(|_| short())?);
    Ok(UrlKey { host: host_key(part, host)?, url })
}

/// States as numbers: what was written stays what it was.
pub(super) fn state_number(state: JobState) -> i16 {
    match state {
        JobState::Open => 0,
        JobState::Paused => 1,
        JobState::Limited => 2,
        JobState::Done => 3,
        JobState::Dropped => 4,
    }
}

pub(super) fn state_of(number: i16) -> Result<JobState, StoreError> {
    Ok(match number {
        0 => JobState::Open,
        1 => JobState::Paused,
        2 => JobState::Limited,
        3 => JobState::Done,
        4 => JobState::Dropped,
        other => return Err(damaged("jobs", format!("an unknown state {other}"))),
    })
}

/// The counters of a job in the order of their columns, which only grows.
pub(super) fn fields(counters: &mut JobCounters) -> [&mut u64; 23] {
    let c = counters;
    [
        &mut c.queued,
        &mut c.fetched,
        &mut c.unchanged,
        &mut c.failed,
        &mut c.skipped_extension,
        &mut c.skipped_depth,
        &mut c.skipped_type,
        &mut c.skipped_size,
        &mut c.redirects,
        &mut c.errors,
        &mut c.bytes,
        &mut c.hosts,
        &mut c.known,
        &mut c.words,
        &mut c.links,
        &mut c.run_ms,
        &mut c.skipped_robots,
        &mut c.skipped_given_up,
        &mut c.sitemaps,
        &mut c.skipped_excluded,
        &mut c.skipped_filter,
        &mut c.skipped_trap,
        &mut c.skipped_site_pages,
    ]
}

/// Adds what a writer has counted; what several know only together may be less than nothing in
/// between, and is nothing then.
pub(super) fn add(counters: &mut JobCounters, counted: &[i64]) {
    for (field, n) in fields(counters).into_iter().zip(counted) {
        *field = field.saturating_add_signed(*n);
    }
}
