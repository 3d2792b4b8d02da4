//! `verify` and `export`.

use super::{print_json, visit};
use crate::args::{Export, ExportWhat, Format, Global};
use crate::output::{self, bytes, count, plural};
use anyhow::Context;
use argiope_crawl::{export_cdxj, export_warc, verify as check};
use serde_json::json;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

pub fn verify(global: &Global) -> anyhow::Result<ExitCode> {
    let (dir, store) = visit(global)?;
    let terminal = output::on_terminal() && global.format == Format::Text;
    let found = check(&dir, &*store, |step| {
        if terminal {
            let _ = write!(io::stderr(), "\r\x1b[KChecking {step}");
        }
    })?;
    if terminal {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    if global.format == Format::Json {
        let mut rows = vec![json!({
            "checked": { "records": found.records, "captures": found.captures,
                         "urls": found.urls, "texts": found.texts },
            "problems": found.problem_count,
        })];
        rows.extend(found.problems.iter().map(|p| json!(p)));
        print_json(&rows)?;
    } else {
        output::print(found.problems.iter().map(|p| format!("{}: {}", p.place, p.problem)))?;
        output::print([format!(
            "Checked {} records, {} captures, {} texts and {} URLs: {}.",
            count(found.records),
            count(found.captures),
            count(found.texts),
            count(found.urls),
            match found.problem_count {
                0 => "all agree".to_owned(),
                n => plural(n, "problem", "problems"),
            }
        )])?;
    }
    Ok(ExitCode::from(u8::from(found.problem_count > 0)))
}

pub fn export(global: &Global, args: Export) -> anyhow::Result<ExitCode> {
    let (dir, store) = visit(global)?;
    match args.what {
        ExportWhat::Warc { out } => {
            let written = export_warc(&dir, &*store, &out)
                .map_err(anyhow::Error::from_boxed)
                .with_context(|| format!("cannot export to {}", out.display()))?;
            for (path, length) in &written {
                if global.format == Format::Json {
                    print_json(&[json!({ "file": path, "bytes": length })])?;
                } else {
                    output::print([format!("{}  {}", path.display(), bytes(*length))])?;
                }
            }
        }
        ExportWhat::Cdxj { out: None } => {
            let mut stdout = BufWriter::new(io::stdout().lock());
            export_cdxj(&dir, &*store, &mut stdout).map_err(anyhow::Error::from_boxed)?;
            stdout.flush()?;
        }
        ExportWhat::Cdxj { out: Some(path) } => {
            let file =
                File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
            let mut file = BufWriter::new(file);
            let lines = export_cdxj(&dir, &*store, &mut file).map_err(anyhow::Error::from_boxed)?;
            file.flush()?;
            output::talk(format!("{} in {}", plural(lines, "line", "lines"), path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}
