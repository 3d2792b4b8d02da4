//! `verify`.

use super::fleet;
use super::wiring::engine_settings;
use super::{VISIT_MEMORY, print_json, visit};
use crate::args::{Format, Global};
use crate::config;
use crate::output::{self, count, plural};
use argiope_crawl::{Access, Followers, verify as check, verify_news, verify_words};
use argiope_store::Store;
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;

pub fn verify(global: &Global) -> anyhow::Result<ExitCode> {
    let reader = fleet::reader(global, Access::Visit, VISIT_MEMORY)?;
    let ((dir, store), (absent, names)): ((_, Arc<dyn Store>), _) = match &reader {
        None => (visit(global)?, Default::default()),
        Some(reader) => ((reader.dir.clone(), reader.store.clone()), reader.absent()?),
    };
    let terminal = output::on_terminal() && global.format == Format::Text;
    let tell = |step: &str| {
        if terminal {
            output::line(format!("Checking {step}"));
        }
    };
    let mut found = check(&dir, &*store, &absent, tell)?;
    // Where nothing was ever indexed there is nothing to compare.
    if dir.index().exists() {
        if terminal {
            output::line("Checking the word index");
        }
        let settings = engine_settings(&config::defaults());
        let followers = Followers::new(&dir, &store, &settings);
        verify_words(&*store, &followers.words, &mut found)?;
    }
    verify_news(&dir, &*store, &mut found)?;
    if terminal {
        output::line("");
    }
    if let Some(line) = fleet::absent_line(&names) {
        output::talk(line);
    }
    if global.format == Format::Json {
        let mut rows = vec![json!({
            "checked": { "records": found.records, "captures": found.captures,
                         "urls": found.urls, "texts": found.texts,
                         "documents": found.documents, "past": found.past,
                         "articles": found.articles },
            "problems": found.problem_count, "not_here": names,
        })];
        rows.extend(found.problems.iter().map(|p| json!(p)));
        print_json(&rows)?;
    } else {
        output::print(found.problems.iter().map(|p| format!("{}: {}", p.place, p.problem)))?;
        output::print([format!(
            "Checked {} records, {} captures, {} texts, {} URLs, {} indexed pages and {} past \
             versions: {}.",
            count(found.records),
            count(found.captures),
            count(found.texts),
            count(found.urls),
            count(found.documents),
            count(found.past),
            match found.problem_count {
                0 => "all agree".to_owned(),
                n => plural(n, "problem", "problems"),
            }
        )])?;
    }
    Ok(ExitCode::from(u8::from(found.problem_count > 0)))
}
