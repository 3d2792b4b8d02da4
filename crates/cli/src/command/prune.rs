//! `prune`: old versions out of the archive by a rule, with a receipt.

use super::forget::confirmed;
use super::{VISIT_MEMORY, is_worked_in, load, now, print_json, visit, with_files};
use crate::Usage;
use crate::args::{Format, Global};
use crate::args_prune::Prune;
use crate::config::{Flags, Override};
use crate::output::{self, bytes, count, plural};
use anyhow::{Context, bail};
use argiope_crawl::{ForgetPlan, PruneOrder, Receipt, look_prune};
use argiope_model::Time;
use serde_json::json;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

pub fn prune(global: &Global, args: &Prune) -> anyhow::Result<ExitCode> {
    let order = order(global, args)?;
    if is_worked_in(&global.data)? {
        bail!(
            "a crawl or an import is working in {}; stop it (Ctrl-C there), give this command again, and go \
             on with `argiope crawl`",
            global.data.display()
        );
    }
    let (dir, store) = visit(global)?;
    let plan = look_prune(&dir, &*store, &order, now())?;
    let json = global.format == Format::Json;
    if args.dry_run || plan.captures == 0 {
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
        .context("cannot prune")?;
    if json {
        print_json(&[json!(receipt)])?;
    } else {
        let kept = global.data.join("receipts").join(&receipt.id).with_extension("json");
        output::print(sentences(&receipt, &kept.display().to_string()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is asked for: flags go before the configuration, and a rule in the flags is for all sites.
fn order(global: &Global, args: &Prune) -> anyhow::Result<PruneOrder> {
    let mut own: Vec<Override> = Vec::new();
    own.extend(args.keep.clone().map(|keep| ("retention.keep", keep, "--keep")));
    own.extend(args.older_than.clone().map(|age| ("retention.older_than", age, "--older-than")));
    let retention = load(global, Flags { own: &own, set: &[] })?.settings.retention;
    let sites = if args.keep.is_some() { Vec::new() } else { retention.sites };
    if args.keep.is_none() && sites.is_empty() && retention.keep == Default::default() {
        return Err(Usage(
            "which versions are to stay? Say --keep daily or --keep last:5, or write retention.keep into the \
             configuration"
                .to_owned(),
        )
        .into());
    }
    let age = i64::try_from(retention.older_than.as_millis()).unwrap_or(i64::MAX);
    let before = match age {
        // Everything is older than nothing, also what a clock of another day has written.
        0 => Time(i64::MAX),
        age => Time(now().0.saturating_sub(age)),
    };
    Ok(PruneOrder {
        targets: args.targets.iter().chain(&args.site).cloned().collect(),
        keep: retention.keep,
        sites,
        before_ms: before.0,
    })
}

fn summary(plan: &ForgetPlan) -> serde_json::Value {
    json!({
        "dry_run": true,
        "asked": plan.asked,
        "keep": plan.prune.as_ref().map(|order| order.keep),
        "sites": plan.prune.as_ref().map(|order| &order.sites),
        "pages": plan.versions.len(),
        "captures": plan.captures,
        "records": plan.records.len(),
        "texts": plan.texts.len(),
        "bytes": plan.bytes(),
        "moved": plan.moved(),
    })
}

fn would_go(plan: &ForgetPlan) -> Vec<String> {
    if plan.captures == 0 {
        return vec![
            "Nothing is to be pruned: all versions that are here stay by this rule.".to_owned(),
        ];
    }
    let mut lines = vec![format!(
        "{} of {} would go: {} and {}, {}.",
        plural(plan.captures, "version", "versions"),
        plural(plan.versions.len() as u64, "page", "pages"),
        plural(plan.records.len() as u64, "record", "records"),
        plural(plan.texts.len() as u64, "text", "texts"),
        bytes(plan.bytes()),
    )];
    lines.extend(copies(plan.moved(), "would be"));
    lines
}

fn copies(moved: u64, verb: &str) -> Option<String> {
    match moved {
        0 => None,
        1 => Some(format!("A version that stays {verb} given a record of its own.")),
        n => {
            let verb = if verb == "was" { "were" } else { verb };
            Some(format!("{} versions that stay {verb} given records of their own.", count(n)))
        }
    }
}

fn sentences(receipt: &Receipt, kept: &str) -> Vec<String> {
    let mut lines = vec![format!(
        "Pruned: {} of {}; {} and {} ({}) removed from {}.",
        plural(receipt.captures, "version", "versions"),
        plural(receipt.versions.len() as u64, "page", "pages"),
        plural(receipt.records, "record", "records"),
        plural(receipt.texts, "text", "texts"),
        bytes(receipt.bytes),
        plural(receipt.files.len() as u64, "file", "files"),
    )];
    lines.extend(copies(receipt.moved.len() as u64, "was"));
    lines.push(format!("Receipt: {kept}"));
    lines
}
