//! `filter`: what filters say of URLs, what they stand for, and which one a job obeys.
//!
//! `test` and `show` need no data directory unless a job is named; `set` asks whoever works on the
//! job, as everything in `ask` does. Nothing is decided here.

use super::ask::ask;
use super::{load, print_json};
use crate::Usage;
use crate::args::{Format, Global};
use crate::args_filter::{Filter, FilterAction, Set, Show, Test, Which};
use crate::config::{Flags, Loaded, NO_FILTER, Override, PRESETS, parse_size, preset};
use crate::output::{self, plural, table};
use anyhow::Context;
use argiope_crawl::Question;
use argiope_filter::{Known, Saved, Verdict};
use argiope_model::{CanonicalUrl, Suffixes};
use argiope_parse::type_group;
use serde_json::{Value, json};
use std::io::BufRead;
use std::process::ExitCode;

pub fn filter(global: &Global, args: &Filter) -> anyhow::Result<ExitCode> {
    match &args.action {
        FilterAction::Test(args) => test(global, args),
        FilterAction::Show(args) => show(global, args),
        FilterAction::List => list(global),
        FilterAction::Set(args) => set(global, args),
    }
}

/// The filter that flags name.
fn meant(global: &Global, which: &Which) -> anyhow::Result<Saved> {
    let none = |what: &str| Usage(format!("{what} has no filter"));
    if which.job.is_some() {
        let row = ask(global, &Question::Filter { job: which.job })?.pop().unwrap_or_default();
        let text = row["text"].as_str();
        let text = text.ok_or_else(|| none(&format!("job {}", row["job"])))?;
        return Ok(Saved::from_text(text)?);
    }
    match loaded(global, which)?.filter {
        Some(Some(filter)) => Ok(filter),
        _ => Err(Usage(
            "name a filter: --filter NAME or FILE, --preset NAME, or --job N; `argiope filter list` lists those that have a name".to_owned(),
        )
        .into()),
    }
}

fn loaded(global: &Global, which: &Which) -> anyhow::Result<Loaded> {
    let mut own: Vec<Override> = Vec::new();
    own.extend(which.filter.clone().map(|word| ("crawl.filter", word, "--filter")));
    own.extend(which.preset.clone().map(|word| ("crawl.preset", word, "--preset")));
    load(global, Flags { own: &own, set: &[] })
}

fn test(global: &Global, args: &Test) -> anyhow::Result<ExitCode> {
    let saved = meant(global, &args.which)?;
    let filter = argiope_filter::Filter::new(&saved)?;
    let size = args.size.as_deref().map(parse_size).transpose();
    let size = size.map_err(|fault| Usage(format!("--size is {fault}")))?;
    let kind = args.kind.as_deref().map(|word| match word.contains('/') {
        true => (word, type_group(word)),
        false => (word, word),
    });
    let language =
        args.language.as_deref().map(|word| Some(word).filter(|word| *word != "unknown"));
    let known = Known { kind, size, language };
    let suffixes = Suffixes::built_in();
    let mut rows = Vec::new();
    for url in urls(&args.urls)? {
        rows.push(match CanonicalUrl::parse(url.trim()) {
            Ok(url) => {
                let why = filter.explain(&url, &suffixes, known);
                json!({ "url": url.as_str(), "verdict": why.verdict.name(), "rule": why.rule(),
                    "detail": why.detail })
            }
            Err(e) => json!({ "url": url.trim(), "verdict": "no", "rule": "url",
                "detail": e.to_string() }),
        });
    }
    if global.format == Format::Json {
        print_json(&rows)?;
    } else {
        let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let cells =
            rows.iter().map(|row| ["url", "verdict", "rule", "detail"].map(|n| text(row, n)));
        let cells: Vec<Vec<String>> = cells.map(Vec::from).collect();
        output::print(table(&["url", "verdict", "rule", "detail"], &cells))?;
    }
    let refused = rows.iter().any(|row| row["verdict"] == Verdict::No.name());
    Ok(ExitCode::from(u8::from(refused)))
}

/// The URLs given, those of standard input too.
fn urls(given: &[String]) -> anyhow::Result<Vec<String>> {
    let mut out = Vec::new();
    for word in given {
        if word != "-" {
            out.push(word.clone());
            continue;
        }
        for line in std::io::stdin().lock().lines() {
            let line = line.context("cannot read standard input")?;
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                out.push(line.to_owned());
            }
        }
    }
    Ok(out)
}

fn show(global: &Global, args: &Show) -> anyhow::Result<ExitCode> {
    let Show { filter, preset: name, job } = args;
    let which = Which { filter: filter.clone(), preset: name.clone(), job: *job };
    let saved = meant(global, &which)?;
    let from = match job {
        Some(_) => "the job".to_owned(),
        None => loaded(global, &which)?.filters.origin(&saved.name),
    };
    let settings = name.as_deref().and_then(preset).map_or(&[][..], |preset| preset.settings);
    if global.format == Format::Json {
        let settings: Value = settings.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
        let row = json!({ "filter": saved.name, "from": from, "rule": saved.rule,
            "settings": if settings.is_null() { json!({}) } else { settings } });
        print_json(&[row])?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut lines: Vec<String> =
        settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    if !lines.is_empty() {
        lines.push(String::new());
    }
    let from = if from == "-" { String::new() } else { format!(" ({from})") };
    lines.push(format!("{}{from}:", saved.name));
    lines.extend(saved.rule.lines().into_iter().map(|line| format!("  {line}")));
    output::print(lines)?;
    Ok(ExitCode::SUCCESS)
}

fn list(global: &Global) -> anyhow::Result<ExitCode> {
    let loaded = load(global, Flags::default())?;
    let book = &loaded.filters;
    let mut rows: Vec<Value> = Vec::new();
    for name in book.names() {
        let rule = book.find(name, std::path::Path::new(""))?.rule;
        let help = rule.summary();
        rows.push(
            json!({ "name": name, "kind": "filter", "from": book.origin(name), "help": help }),
        );
    }
    rows.extend(PRESETS.iter().map(|preset| {
        json!({ "name": preset.name, "kind": "preset", "from": "built in", "help": preset.help })
    }));
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let cell = |row: &Value, name: &str| output::cut(row[name].as_str().unwrap_or_default(), 88);
    let cells = rows.iter().map(|row| ["name", "kind", "from", "help"].map(|n| cell(row, n)));
    let cells: Vec<Vec<String>> = cells.map(Vec::from).collect();
    output::print(table(&["name", "kind", "from", "what it says"], &cells))?;
    Ok(ExitCode::SUCCESS)
}

fn set(global: &Global, args: &Set) -> anyhow::Result<ExitCode> {
    let word = args.filter.as_deref().filter(|word| *word != NO_FILTER);
    let text = match word {
        None => None,
        Some(word) => {
            let which = Which { filter: Some(word.to_owned()), preset: None, job: None };
            let filter = loaded(global, &which)?.filter.flatten();
            filter.map(|filter| filter.to_text())
        }
    };
    let rows = ask(global, &Question::SetFilter { job: args.job, text })?;
    if global.format == Format::Json {
        print_json(&rows)?;
    } else {
        rows.iter().for_each(|row| output::talk(set_words(row)));
    }
    Ok(ExitCode::SUCCESS)
}

/// What setting a filter came to.
fn set_words(row: &Value) -> String {
    let job = &row["job"];
    let now = match row["filter"].as_str() {
        Some(name) => format!("obeys {name}"),
        None => "has no filter".to_owned(),
    };
    if row["changed"] == false {
        return format!("Job {job} {now} already.");
    }
    let back = match row["urls"].as_u64() {
        Some(0) => String::new(),
        Some(n) => {
            let urls = plural(n, "URL", "URLs");
            format!("; {urls} that only the former one refused will be asked for")
        }
        None => "; what only the former one refused is being queued again".to_owned(),
    };
    let undo = match row["former"].as_str() {
        Some(name) => {
            format!("`argiope filter set {name} --job {job}` goes back to the former one")
        }
        None => format!("`argiope filter set --none --job {job}` takes it off again"),
    };
    format!("Job {job} {now} from now on{back}. {undo}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_setting_a_filter_came_to_says_how_to_go_back() {
        let row = json!({ "job": 1, "filter": "new", "former": "old", "urls": 2, "changed": true });
        assert_eq!(
            set_words(&row),
            "Job 1 obeys new from now on; 2 URLs that only the former one refused will be asked for. `argiope filter set old --job 1` goes back to the former one."
        );
        let row = json!({ "job": 1, "filter": "new", "former": null, "urls": 0, "changed": true });
        assert!(
            set_words(&row).ends_with("`argiope filter set --none --job 1` takes it off again.")
        );
        let row = json!({ "job": 1, "filter": null, "former": null, "urls": 0, "changed": false });
        assert_eq!(set_words(&row), "Job 1 has no filter already.");
    }
}
