//! `show`: one version of a page, from the archive. The owner of the directory says where it
//! lies; the files are read without asking anybody.

use super::ask::ask;
use crate::args::{Global, Show};
use crate::output;
use anyhow::{Context, bail};
use argiope_archive::{open_record, read_text};
use argiope_crawl::Question;
use argiope_fetch::decoded_reader;
use argiope_model::Location;
use serde_json::Value;
use std::io::{self, Read, Write};
use std::process::ExitCode;

pub fn show(global: &Global, args: &Show) -> anyhow::Result<ExitCode> {
    let captures = ask(global, &Question::Captures(args.target.clone()))?;
    let Some(last) = captures.last() else {
        let known = ask(global, &Question::Doc(args.target.clone()))?;
        if known.first().is_some_and(|row| row["state"] == "forgotten") {
            bail!("{} was forgotten on request; nothing of it is kept", args.target);
        }
        bail!("{} is known and was not fetched yet; `argiope doc` says more", args.target);
    };
    if last["noarchive"] == true && !args.anyway && !args.headers {
        bail!(
            "{} asks that no copy of it be shown (noarchive); --anyway shows it to you alone",
            args.target
        );
    }
    if args.text {
        let at = captures.iter().rev().find_map(|c| location(&c["text"]));
        let Some(at) = at else {
            bail!("no text was extracted from {}: {}", args.target, outcome(last));
        };
        let text = read_text(&global.data.join("text"), at)?;
        output::print([text.text])?;
        return Ok(ExitCode::SUCCESS);
    }
    let with_record = captures.iter().rev().find(|c| location(&c["record"]).is_some());
    let Some(capture) = with_record else {
        bail!("nothing of {} is in the archive: {}", args.target, outcome(last));
    };
    let at = location(&capture["record"]).context("the capture has no record")?;
    let warc = global.data.join("warc");
    let record = open_record(&warc, at)?;
    let mut out = io::stdout().lock();
    if args.headers {
        out.write_all(record.http_head())?;
        return Ok(ExitCode::SUCCESS);
    }
    let head = record.http_head().to_vec();
    let mut payload: Box<dyn Read> = Box::new(record);
    if capture["revisit"] == true {
        payload = Box::new(original(global, capture, &warc)?);
    }
    if args.raw {
        io::copy(&mut payload, &mut out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut plain = decoded_reader(payload, &content_encoding(&head))?;
    io::copy(&mut plain, &mut out)
        .context("the body does not follow its content-encoding; --raw shows it as it is")?;
    Ok(ExitCode::SUCCESS)
}

/// The record whose payload a revisit stands for.
fn original(
    global: &Global,
    capture: &Value,
    warc: &std::path::Path,
) -> anyhow::Result<argiope_archive::RecordReader> {
    let at = location(&capture["record"]).context("the capture has no record")?;
    let revisit = open_record(warc, at)?;
    let refers = |name: &str| revisit.headers().get(name).map(str::to_owned);
    let url = refers("WARC-Refers-To-Target-URI").context("the revisit refers to nothing")?;
    let digest = capture["digest"].clone();
    let earlier = ask(global, &Question::Captures(url.clone()))?;
    let first = earlier.iter().find(|c| c["revisit"] == false && c["digest"] == digest);
    let at = first.and_then(|c| location(&c["record"]));
    let at = at.with_context(|| format!("the original of the revisit, {url}, is not here"))?;
    Ok(open_record(warc, at)?)
}

fn location(value: &Value) -> Option<Location> {
    serde_json::from_value(value.clone()).ok()
}

fn outcome(capture: &Value) -> &str {
    capture["outcome"].as_str().unwrap_or("unknown")
}

/// The content-encoding of an archived head, codings joined by commas.
fn content_encoding(head: &[u8]) -> String {
    let head = String::from_utf8_lossy(head);
    let values = head.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-encoding").then(|| value.trim().to_owned())
    });
    values.collect::<Vec<_>>().join(",")
}
