//! `show`: one version of a page, from the archive. The owner of the directory says where it
//! lies; the files are read without asking anybody.

use super::history::{pruned, versions, with_shelf};
use super::moment::moment;
use super::now;
use crate::args::{Global, Show};
use crate::output;
use anyhow::{Context, bail};
use argiope_crawl::{Shelf, Versions, version_at};
use argiope_model::{Capture, OutcomeKind, Time};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

pub fn show(global: &Global, args: &Show) -> anyhow::Result<ExitCode> {
    let at = args.at.as_ref().map(|text| moment("--at", text, now())).transpose()?;
    let page = versions(global, &args.target)?;
    with_shelf(global, |shelf| match at {
        None => latest(shelf, &page, args),
        Some(at) => then(&global.data, shelf, &page, args, at),
    })
}

/// The latest version that has what is wanted.
fn latest(shelf: &Shelf<'_>, page: &Versions, args: &Show) -> anyhow::Result<ExitCode> {
    let last = page.captures.last().context("there is no capture")?;
    let has = |c: &Capture| if args.text { c.text.is_some() } else { c.record.is_some() };
    let Some(n) = page.captures.iter().rposition(has) else {
        allowed(page, last, args)?;
        match args.text {
            true => bail!("no text was extracted from {}: {}", page.url, last.outcome),
            false => bail!("nothing of {} is in the archive: {}", page.url, last.outcome),
        }
    };
    allowed(page, last, args)?;
    print(shelf, page, n, args)
}

/// The version of a time.
fn then(
    data: &Path,
    shelf: &Shelf<'_>,
    page: &Versions,
    args: &Show,
    at: Time,
) -> anyhow::Result<ExitCode> {
    let n = version_at(&page.captures, at);
    let shown = n.map(|n| page.captures[n].time);
    if let Some(gone) = pruned(data, page, shown, at) {
        bail!("{gone}");
    }
    let Some(n) = n else {
        let first = page.captures.first().map(|c| c.time.iso_seconds()).unwrap_or_default();
        bail!("there was no version of {} yet; its first visit was {first}", page.url);
    };
    let capture = &page.captures[n];
    // Who names the very visit wants what came, whatever it was.
    let meant = capture.time == at;
    if !capture.outcome.is_success() && !meant {
        let since = capture.time.iso_seconds();
        let good = |c: &&Capture| c.outcome.is_success();
        let before = page.captures[..n].iter().rev().find(good);
        let before = before.map_or("it was never there before".to_owned(), |c| {
            format!("--at {} shows it as it was before", c.time.iso_seconds())
        });
        match (capture.outcome.kind, &capture.outcome.detail) {
            (OutcomeKind::Redirect, Some(to)) => {
                bail!("{} had moved to {to} (seen {since}); {before}", page.url)
            }
            (OutcomeKind::ClientError, _) => bail!(
                "{} was gone then (status {}, seen {since}); {before}",
                page.url,
                capture.outcome.status
            ),
            _ => bail!(
                "{} was not there then ({}, seen {since}); {before}",
                page.url,
                capture.outcome
            ),
        }
    }
    allowed(page, capture, args)?;
    print(shelf, page, n, args)
}

/// A page may ask not to be shown.
fn allowed(page: &Versions, capture: &Capture, args: &Show) -> anyhow::Result<()> {
    if capture.directives.noarchive && !args.anyway && !args.headers {
        bail!(
            "{} asks that no copy of it be shown (noarchive); --anyway shows it to you alone",
            page.url
        );
    }
    Ok(())
}

fn print(shelf: &Shelf<'_>, page: &Versions, n: usize, args: &Show) -> anyhow::Result<ExitCode> {
    if args.text {
        let text = shelf.text(page, n)?;
        let outcome = &page.captures[n].outcome;
        let text =
            text.with_context(|| format!("no text was extracted from {}: {outcome}", page.url))?;
        writeln!(output::exact(), "{}", text.text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut opened = shelf.open(page, n)?;
    let mut out = output::exact();
    if args.headers {
        out.write_all(&opened.head)?;
    } else if args.raw {
        io::copy(&mut opened.payload, &mut out)?;
    } else {
        io::copy(&mut opened.plain()?, &mut out)
            .context("the body does not follow its content-encoding; --raw shows it as it is")?;
    }
    Ok(ExitCode::SUCCESS)
}
