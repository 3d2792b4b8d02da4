//! The commands, one module per kind.

pub mod ask;
pub mod check;
pub mod crawl;
pub mod demo;
pub mod export;
pub mod import;
pub mod links;
pub mod settings;
pub mod show;
pub mod sites;
pub mod status;
pub mod wiring;

use crate::args::Global;
use crate::config::{self, Flags};
use crate::{Usage, output};
use anyhow::Context;
use argiope_crawl::{Access, DataDir};
use argiope_model::Time;
use argiope_store::{EmbeddedStore, Store};
use serde_json::Value;
use std::sync::Arc;
use std::time::SystemTime;

/// The time now.
pub fn now() -> Time {
    Time::from_system(SystemTime::now())
}

/// Memory for a store that is only looked at.
const VISIT_MEMORY: u64 = 48 << 20;
/// Memory for a link graph that is only looked at.
const VISIT_LINK_MEMORY: u64 = 16 << 20;

/// Loads the configuration; a mistake in it is wrong usage.
pub fn load(global: &Global, flags: Flags<'_>) -> anyhow::Result<config::Loaded> {
    config::load(global.config.as_deref(), &global.data, flags)
        .map_err(|e| Usage(e.to_string()).into())
}

/// Opens a directory that no crawl owns, to look at it.
pub fn visit(global: &Global) -> anyhow::Result<(Arc<DataDir>, Arc<dyn Store>)> {
    let dir = DataDir::open(&global.data, Access::Visit, now())?;
    let store = EmbeddedStore::open(&dir.store(), VISIT_MEMORY)
        .with_context(|| format!("cannot open the crawl in {}", global.data.display()))?;
    Ok((Arc::new(dir), Arc::new(store)))
}

/// Prints rows as JSON lines.
pub fn print_json(rows: &[Value]) -> anyhow::Result<()> {
    output::print(rows.iter().map(Value::to_string))
}
