//! `forget`: pages out of everything, with a receipt.

use super::{VISIT_MEMORY, is_worked_in, now, print_json, visit, with_files};
use crate::args::{Forget, Format, Global};
use crate::output::{self, bytes, count, plural};
use anyhow::{Context, bail};
use argiope_crawl::{ForgetPlan, Receipt, look};
use serde_json::json;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

pub fn forget(global: &Global, args: &Forget) -> anyhow::Result<ExitCode> {
    if is_worked_in(&global.data)? {
        bail!(
            "a crawl or an import is working in {}; stop it (Ctrl-C there), give this command again, and go \
             on with `argiope crawl`",
            global.data.display()
        );
    }
    let (dir, store) = visit(global)?;
    let plan = look(&dir, &*store, &args.targets, now())?;
    let json = global.format == Format::Json;
    if args.dry_run {
        match json {
            true => print_json(&[summary(&plan)])?,
            false => output::print(would_go(&plan))?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let asks = io::stdin().is_terminal() && io::stdout().is_terminal();
    if asks && !args.yes && !confirmed(&would_go(&plan))? {
        output::talk("Nothing was changed.");
        return Ok(ExitCode::FAILURE);
    }
    let receipt = with_files(VISIT_MEMORY, |files| argiope_crawl::forget(&dir, store, plan, files))
        .context("cannot forget")?;
    if json {
        print_json(&[json!(receipt)])?;
    } else {
        let kept = global.data.join("receipts").join(&receipt.id).with_extension("json");
        output::print(sentences(&receipt, &kept.display().to_string()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what would happen and asks.
pub fn confirmed(said: &[String]) -> anyhow::Result<bool> {
    said.iter().for_each(output::talk);
    let _ = write!(io::stderr(), "This cannot be undone. Go on? [y/N] ");
    let mut said = String::new();
    io::stdin().lock().read_line(&mut said).context("cannot read the answer")?;
    Ok(matches!(said.trim(), "y" | "Y" | "yes"))
}

fn summary(plan: &ForgetPlan) -> serde_json::Value {
    json!({
        "dry_run": true,
        "asked": plan.asked,
        "urls": plan.urls.len(),
        "hosts": plan.hosts,
        "captures": plan.captures,
        "records": plan.records.len(),
        "texts": plan.texts.len(),
        "bytes": plan.bytes(),
        "moved": plan.moved(),
    })
}

fn would_go(plan: &ForgetPlan) -> Vec<String> {
    let mut lines = vec![format!(
        "{} with {} would be forgotten: {} and {}, {}.",
        plural(plan.urls.len() as u64, "URL", "URLs"),
        plural(plan.captures, "capture", "captures"),
        plural(plan.records.len() as u64, "record", "records"),
        plural(plan.texts.len() as u64, "text", "texts"),
        bytes(plan.bytes()),
    )];
    if plan.moved() > 0 {
        lines.push(copies(plan.moved(), ["would be", "would be"]));
    }
    lines
}

fn copies(moved: u64, [one, many]: [&str; 2]) -> String {
    match moved {
        1 => format!("A page that stays has the same bytes; it {one} given a record of its own."),
        n => {
            let n = count(n);
            format!(
                "{n} captures of pages that stay have the same bytes; they {many} given records of their own."
            )
        }
    }
}

fn sentences(receipt: &Receipt, kept: &str) -> Vec<String> {
    let mut lines = vec![format!(
        "Forgotten: {} with {}; {} and {} ({}) removed from {}, the store written anew.",
        plural(receipt.urls.len() as u64, "URL", "URLs"),
        plural(receipt.captures, "capture", "captures"),
        plural(receipt.records, "record", "records"),
        plural(receipt.texts, "text", "texts"),
        bytes(receipt.bytes),
        plural(receipt.files.len() as u64, "file", "files"),
    )];
    let moved = receipt.moved.len() as u64;
    if moved > 0 {
        lines.push(copies(moved, ["was", "were"]));
    }
    lines.push(format!("Receipt: {kept}"));
    lines.push("What remains:".to_owned());
    lines.extend(receipt.remains.iter().map(|line| format!("  {line}")));
    lines
}
