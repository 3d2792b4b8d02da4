//! `config init` and `config show`.

use super::{load, print_json};
use crate::args::{Config, ConfigAction, Format, Global};
use crate::config::{self, Flags, Override};
use crate::output::{self, table};
use anyhow::{Context, bail};
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

pub fn config(global: &Global, args: &Config) -> anyhow::Result<ExitCode> {
    match &args.action {
        ConfigAction::Init { force } => init(global, *force),
        ConfigAction::Show { set, preset } => show(global, set, preset.as_deref()),
    }
}

fn init(global: &Global, force: bool) -> anyhow::Result<ExitCode> {
    let path = global.config.clone().unwrap_or_else(|| PathBuf::from(config::FILE_NAME));
    let mut open = OpenOptions::new();
    open.write(true);
    if force {
        open.create(true).truncate(true);
    } else {
        open.create_new(true);
    }
    match open.open(&path) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {
            bail!("{} exists; --force replaces it", path.display())
        }
        file => {
            let cannot = || format!("cannot write {}", path.display());
            file.with_context(cannot)?
                .write_all(config::template().as_bytes())
                .with_context(cannot)?;
        }
    }
    output::talk(format!("Wrote {}.", path.display()));
    Ok(ExitCode::SUCCESS)
}

fn show(global: &Global, set: &[String], preset: Option<&str>) -> anyhow::Result<ExitCode> {
    let own = preset.map(|name| ("crawl.preset", name.to_owned(), "--preset"));
    let own: Vec<Override> = own.into_iter().collect();
    let loaded = load(global, Flags { own: &own, set })?;
    let rows = loaded.rows();
    if global.format == Format::Json {
        print_json(&rows.iter().map(|row| json!(row)).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let cells: Vec<Vec<String>> =
        rows.iter().map(|r| vec![r.key.to_string(), r.value.clone(), r.origin.clone()]).collect();
    output::print(table(&["setting", "value", "from"], &cells))?;
    if loaded.file.is_none() {
        output::talk("No configuration file; `argiope config init` writes one.");
    }
    Ok(ExitCode::SUCCESS)
}
