//! The tables of the embedded store, and how each is kept.
//!
//! fjall gives every table a memtable of its own and keeps the options a table was made with,
//! so a size given there would outlive a smaller memory setting. Here the memtables share one
//! bound: when together they grow beyond it, the largest is written out.

use fjall::config::{BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry};
use fjall::{
    AbstractTree, CompressionType, Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions,
};
use std::ops::Index;
use std::sync::Arc;

use crate::work::TABLES;
use crate::work::Table::{
    self, Captures, Docs, Hosts, Links, Log, Meta, Payloads, Queue, Robots, Urls,
};

impl Table {
    pub(super) fn name(self) -> &'static str {
        match self {
            Urls => "urls",
            Docs => "docs",
            Queue => "queue",
            Hosts => "hosts",
            Captures => "captures",
            Links => "links",
            Log => "log",
            Payloads => "payloads",
            Meta => "meta",
            Robots => "robots",
        }
    }

    fn options(self) -> KeyspaceCreateOptions {
        // Tables of about the size of a memtable: merging what was written out then rewrites
        // as much again, not the quarter of a gigabyte the first level would otherwise hold.
        let levels = fjall::compaction::Leveled::default()
            .with_table_target_size(TABLE_BYTES)
            .with_level_ratio_policy(vec![LEVEL_RATIO]);
        let options = KeyspaceCreateOptions::default()
            .max_memtable_size(u64::MAX)
            .compaction_strategy(Arc::new(levels));
        let options = match self {
            // Asked one by one, and most often for what is not there.
            Urls | Payloads | Hosts | Robots => options.filter_policy(FilterPolicy::all(
                FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(10.0)),
            )),
            // Read in ranges, or known to be there.
            _ => options.filter_policy(FilterPolicy::disabled()),
        };
        let options = match self {
            // Texts shrink by half, visits that found nothing new by more. Packing them once, where
            // they come to rest, is enough.
            Urls | Payloads | Captures => {
                options.data_block_compression_policy(CompressionPolicy::new([
                    CompressionType::None,
                    CompressionType::None,
                    CompressionType::None,
                    CompressionType::None,
                    CompressionType::None,
                    CompressionType::None,
                    CompressionType::Lz4,
                ]))
            }
            _ => options.data_block_compression_policy(CompressionPolicy::disabled()),
        };
        match self {
            // They are compressed already.
            Links | Robots => options.with_kv_separation(Some(
                KvSeparationOptions::default()
                    .separation_threshold(512)
                    .compression(CompressionType::None),
            )),
            _ => options,
        }
    }
}

const TABLE_BYTES: u64 = 16 << 20;
const LEVEL_RATIO: f32 = 8.0;

pub(super) struct Tables {
    all: [Keyspace; TABLES.len()],
    /// Bound of the memtables being filled; as much again may be on its way to the disk.
    memtables: u64,
}

impl Index<Table> for Tables {
    type Output = Keyspace;
    fn index(&self, table: Table) -> &Keyspace {
        &self.all[table as usize]
    }
}

impl Tables {
    pub fn open(db: &Database, memtables: u64) -> Result<Self, fjall::Error> {
        let open = |table: Table| db.keyspace(table.name(), || table.options());
        let all = [
            open(Urls)?,
            open(Docs)?,
            open(Queue)?,
            open(Hosts)?,
            open(Captures)?,
            open(Links)?,
            open(Log)?,
            open(Payloads)?,
            open(Meta)?,
            open(Robots)?,
        ];
        Ok(Tables { all, memtables })
    }

    /// Writes the largest memtable out when together they are too large.
    pub fn make_room(&self) -> Result<(), fjall::Error> {
        let sizes = self.all.iter().map(|table| (table.tree.active_memtable().size(), table));
        let sizes: Vec<(u64, &Keyspace)> = sizes.collect();
        let sum: u64 = sizes.iter().map(|(size, _)| size).sum();
        let largest = sizes.into_iter().max_by_key(|(size, _)| *size);
        // One that is still being written out may be followed by a second, no more.
        if let Some((_, largest)) = largest
            .filter(|(_, table)| sum > self.memtables && table.tree.sealed_memtable_count() < 2)
        {
            largest.rotate_memtable()?;
        }
        Ok(())
    }
}
