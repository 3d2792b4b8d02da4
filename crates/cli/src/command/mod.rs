//! The commands, one module per kind.

pub mod ask;
pub mod check;
pub mod copy;
pub mod crawl;
pub mod demo;
pub mod diff;
pub mod export;
pub mod feed;
pub mod filter;
pub mod fleet;
pub mod forget;
pub mod history;
pub mod import;
pub mod index;
pub mod keeper;
pub mod links;
pub mod metrics;
pub mod moment;
pub mod news;
pub mod prune;
pub mod search;
pub mod serve;
pub mod settings;
pub mod show;
pub mod sites;
pub mod status;
pub mod watch;
pub mod wiring;

use crate::args::Global;
use crate::config::{self, Flags};
use crate::{Usage, output};
use anyhow::Context;
use argiope_crawl::{Access, Asked, DataDir, Question, StoreFiles, ask_owner, finish_forgetting};
use argiope_model::Time;
use argiope_store::{EmbeddedStore, Store, StoreError};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// The time now.
pub fn now() -> Time {
    Time::from_system(SystemTime::now())
}

/// Memory for a store that is only looked at.
pub const VISIT_MEMORY: u64 = 48 << 20;

/// Loads the configuration; a mistake in it is wrong usage.
pub fn load(global: &Global, flags: Flags<'_>) -> anyhow::Result<config::Loaded> {
    config::load(global.config.as_deref(), &global.data, flags)
        .map_err(|e| Usage(e.to_string()).into())
}

/// Opens a directory that no crawl owns, or the store of a fleet, to look at it.
pub fn visit(global: &Global) -> anyhow::Result<(Arc<DataDir>, Arc<dyn Store>)> {
    if let Some(reader) = fleet::reader(global, Access::Visit, VISIT_MEMORY)? {
        return Ok((reader.dir, reader.store));
    }
    let dir = DataDir::open(&global.data, Access::Visit, now())?;
    let store = open_store(&dir, VISIT_MEMORY)?;
    Ok((Arc::new(dir), store))
}

/// Whether somebody works in a directory; whoever only keeps it open leaves it to us.
pub fn is_worked_in(data: &Path) -> anyhow::Result<bool> {
    let asked = ask_owner(data, &Question::Leave)?;
    Ok(asked.is_some_and(|asked| !matches!(asked, Asked::Rows(_))))
}

/// Opens the store of a directory; a forgetting that was cut short is finished first.
pub fn open_store(dir: &DataDir, memory: u64) -> anyhow::Result<Arc<dyn Store>> {
    Ok(Arc::new(open_embedded(dir, memory)?))
}

/// As [`open_store`], for who needs the embedded store itself.
pub fn open_embedded(dir: &DataDir, memory: u64) -> anyhow::Result<EmbeddedStore> {
    let done = with_files(memory, |files| finish_forgetting(dir, files))
        .context("a forgetting or pruning that was cut short cannot be finished")?;
    if let Some(receipt) = done {
        let kept = dir.path().join("receipts").join(&receipt.id).with_extension("json");
        output::talk(format!(
            "A {} that was cut short is finished; its receipt is {}.",
            if receipt.keep.is_some() { "pruning" } else { "forgetting" },
            kept.display()
        ));
    }
    EmbeddedStore::open(&dir.store(), memory)
        .with_context(|| format!("cannot open the crawl in {}", dir.path().display()))
}

/// How the store's files are opened and written anew.
pub fn with_files<T>(memory: u64, act: impl FnOnce(&StoreFiles<'_>) -> T) -> T {
    let open = |path: &Path| -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(EmbeddedStore::open(path, memory)?))
    };
    let rewrite = |path: &Path| EmbeddedStore::rewrite(path, memory);
    act(&StoreFiles { open: &open, rewrite: &rewrite })
}

/// Prints rows as JSON lines.
pub fn print_json(rows: &[Value]) -> anyhow::Result<()> {
    output::print_json(rows)
}
