//! `export`: the archive, its pages and its links in forms other tools read.

use super::{now, print_json, visit};
use crate::Usage;
use crate::args::{Export, ExportWhat, Format, Global, GraphAs, PageChoice};
use crate::output::{self, bytes, count, plural};
use anyhow::Context;
use argiope_archive::warc_date;
use argiope_crawl::{
    DataDir, GraphForm, PageFilter, PagesExported, StoredLinks, TreeExported, TreeOrder, WaczOrder,
    export_cdxj, export_graph, export_jsonl, export_text, export_text_tree, export_tree,
    export_wacz, export_warc,
};
use argiope_store::Store;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

type Failure = Box<dyn std::error::Error + Send + Sync>;

pub fn export(global: &Global, args: Export) -> anyhow::Result<ExitCode> {
    let json = global.format == Format::Json;
    // What cannot be understood is said before anything is opened.
    let filter = match &args.what {
        ExportWhat::Text { pages, .. }
        | ExportWhat::Jsonl { pages, .. }
        | ExportWhat::Tree { pages, .. } => filter(pages)?,
        _ => PageFilter::default(),
    };
    let (dir, store) = visit(global)?;
    let (dir, store) = (&*dir, &*store);
    match args.what {
        ExportWhat::Warc { out } => {
            let written = told(export_warc(dir, store, &out), &out)?;
            for (path, length) in &written {
                if json {
                    print_json(&[json!({ "file": path, "bytes": length })])?;
                } else {
                    output::print([format!("{}  {}", path.display(), bytes(*length))])?;
                }
            }
        }
        ExportWhat::Cdxj { out } => {
            let mut lines = 0;
            written(out.as_deref(), |to| {
                lines = export_cdxj(dir, store, to)?;
                Ok(())
            })?;
            if let Some(path) = &out {
                output::talk(format!("{} in {}", plural(lines, "line", "lines"), path.display()));
            }
        }
        ExportWhat::Text { out: Some(out), .. } if !json => {
            let done = told(export_text_tree(dir, store, &filter, &out), &out)?;
            report(done, Some(&out));
        }
        ExportWhat::Text { out, .. } | ExportWhat::Jsonl { out, .. } if json => {
            pages(out.as_deref(), |to| export_jsonl(dir, store, &filter, to))?;
        }
        ExportWhat::Text { out, .. } => {
            pages(out.as_deref(), |to| export_text(dir, store, &filter, to))?;
        }
        ExportWhat::Jsonl { out, .. } => {
            pages(out.as_deref(), |to| export_jsonl(dir, store, &filter, to))?;
        }
        ExportWhat::Wacz { out, title, text, anyway } => {
            let software = format!("argiope/{}", env!("CARGO_PKG_VERSION"));
            let order = WaczOrder { title, text, anyway, software, now: now() };
            wacz(json, dir, store, &order, &out)?;
        }
        ExportWhat::Tree { out, all_versions, .. } => {
            let order = TreeOrder { filter, all_versions };
            let done = told(export_tree(dir, store, &order, &out), &out)?;
            tree(json, done, &out)?;
        }
        ExportWhat::Graph { form, out } => {
            let form = match form {
                GraphAs::Edges => GraphForm::Edges,
                GraphAs::Graphml => GraphForm::GraphMl,
                GraphAs::Webgraph => GraphForm::WebGraph,
            };
            let done = told(export_graph(&StoredLinks::new(dir, store), form, &out), &out)?;
            if json {
                print_json(&[json!({ "file": out, "nodes": done.nodes, "edges": done.edges })])?;
            } else {
                let (nodes, edges) = (count(done.nodes), count(done.edges));
                output::talk(format!("{nodes} pages and {edges} links in {}", out.display()));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn wacz(
    json: bool,
    dir: &DataDir,
    store: &dyn Store,
    order: &WaczOrder,
    out: &Path,
) -> anyhow::Result<()> {
    let done = told(export_wacz(dir, store, order, out), out)?;
    if json {
        let mut row = json!(done);
        row["file"] = json!(out);
        return print_json(&[row]);
    }
    output::print([format!("{}  {}", out.display(), bytes(done.bytes))])?;
    output::talk(format!(
        "{} and {} in {}",
        plural(done.pages, "page", "pages"),
        plural(done.records, "record", "records"),
        plural(done.segments, "WARC file", "WARC files"),
    ));
    if done.asked_not > 0 {
        output::talk(format!(
            "Left out: {} of pages that ask that no copy be shown; --anyway takes them in.",
            plural(done.asked_not, "record", "records")
        ));
    }
    Ok(())
}

fn tree(json: bool, done: TreeExported, out: &Path) -> anyhow::Result<()> {
    if json {
        let mut row = json!(done);
        row["index"] = json!(out.join("index.jsonl"));
        return print_json(&[row]);
    }
    output::talk(format!(
        "{} of {} in {}, {}; index.jsonl there says which is which",
        plural(done.files, "file", "files"),
        plural(done.pages, "page", "pages"),
        out.display(),
        bytes(done.bytes),
    ));
    if done.unreadable > 0 {
        output::talk(format!(
            "Left out: {} whose bytes are not kept or cannot be read.",
            plural(done.unreadable, "version", "versions")
        ));
    }
    if done.asked_not > 0 {
        output::talk(format!(
            "Left out: {} that ask not to be shown; --anyway takes them in.",
            plural(done.asked_not, "version", "versions")
        ));
    }
    Ok(())
}

fn filter(choice: &PageChoice) -> anyhow::Result<PageFilter> {
    let since = match &choice.since {
        None => None,
        Some(text) => Some(warc_date(text).ok_or_else(|| {
            Usage(format!("--since {text}: no date; write 2026-01-31 or 2026-01-31T12:00:00Z"))
        })?),
    };
    Ok(PageFilter { sites: choice.site.clone(), since, anyway: choice.anyway })
}

/// Writes pages to a file or to standard output and says how many.
fn pages(
    out: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<PagesExported, Failure>,
) -> anyhow::Result<()> {
    let mut done = PagesExported::default();
    written(out, |to| {
        done = write(to)?;
        Ok(())
    })?;
    report(done, out);
    Ok(())
}

fn report(done: PagesExported, out: Option<&Path>) {
    if let Some(path) = out {
        output::talk(format!("{} in {}", plural(done.pages, "page", "pages"), path.display()));
    }
    if done.asked_not > 0 {
        output::talk(format!(
            "Left out: {} that ask not to be shown; --anyway takes them in.",
            plural(done.asked_not, "page", "pages")
        ));
    }
}

/// Opens where results go and closes it.
fn written(
    out: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> anyhow::Result<()> {
    match out {
        None => {
            let mut stdout = BufWriter::new(output::exact());
            write(&mut stdout).map_err(anyhow::Error::from_boxed)?;
            Ok(stdout.flush()?)
        }
        Some(path) => {
            let file =
                File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
            let mut file = BufWriter::new(file);
            told(write(&mut file), path)?;
            file.flush().with_context(|| format!("cannot write {}", path.display()))
        }
    }
}

fn told<T>(result: Result<T, Failure>, out: &Path) -> anyhow::Result<T> {
    let result = result.map_err(anyhow::Error::from_boxed);
    result.with_context(|| format!("cannot export to {}", out.display()))
}
