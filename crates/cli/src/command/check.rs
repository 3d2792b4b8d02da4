//! `verify`.

use super::{print_json, visit};
use crate::args::{Format, Global};
use crate::output::{self, count, plural};
use argiope_crawl::verify as check;
use serde_json::json;
use std::io::{self, Write};
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
