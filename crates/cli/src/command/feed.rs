//! `feed`: what is new and what has changed, for feed readers. The owner of the directory finds it,
//! where there is one.

use super::ask::ask;
use super::{now, print_json};
use crate::args::{Format, Global};
use crate::args_feed::Feed;
use crate::output;
use anyhow::Context;
use argiope_crawl::{
    FeedEntry, FeedHead, FeedOrder, Question, SearchOrder, atom, feed_id, write_feed, write_whole,
};
use argiope_model::CanonicalUrl;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Pages looked at for a search: those that changed last.
const FOUND: usize = 500;

pub fn feed(global: &Global, args: &Feed) -> anyhow::Result<ExitCode> {
    let targets = match &args.search {
        Some(query) => found(global, query)?,
        None => args.targets.clone(),
    };
    let limit = args.limit as usize;
    // Words that no page holds are about nothing, not about everything.
    let rows = match args.search.is_some() && targets.is_empty() {
        true => Vec::new(),
        false => ask(global, &Question::Feed(FeedOrder { targets, limit }))?,
    };
    if global.format == Format::Json {
        match &args.output {
            Some(path) => {
                let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
                write_whole(path, lines.as_bytes()).with_context(|| cannot_write(path))?;
            }
            None => print_json(&rows)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let entries =
        rows.into_iter().map(serde_json::from_value).collect::<Result<Vec<FeedEntry>, _>>();
    let (head, entries) = (head(global, args), entries.context("the answer cannot be read")?);
    match &args.output {
        None => writeln!(output::exact(), "{}", atom(&head, &entries).trim_end())?,
        Some(path) => {
            write_feed(path, &head, &entries).with_context(|| cannot_write(path))?;
            let entries = output::plural(entries.len() as u64, "entry", "entries");
            output::talk(format!("{entries} in {}", path.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// The pages that hold words, the last changed first.
fn found(global: &Global, query: &str) -> anyhow::Result<Vec<String>> {
    let order =
        SearchOrder { query: query.to_owned(), limit: FOUND, by_date: true, ..Default::default() };
    let rows = ask(global, &Question::Search(order))?;
    let whole = rows.iter().filter(|row| row["partial"] != true);
    Ok(whole.filter_map(|row| row["url"].as_str().map(str::to_owned)).collect())
}

fn head(global: &Global, args: &Feed) -> FeedHead {
    let data = absolute(&global.data);
    let what = match (&args.search, &args.targets[..]) {
        (Some(query), _) => format!("search {query}"),
        (None, []) => "everything".to_owned(),
        (None, targets) => targets.join(", "),
    };
    let title = args.title.clone().unwrap_or_else(|| format!("What changed: {what}"));
    let file = args.output.as_deref().map(|path| file_url(&absolute(path)));
    FeedHead {
        id: feed_id(&["feed", &data.to_string_lossy(), &what]),
        title,
        address: args.address.clone().or(file),
        about: match &args.targets[..] {
            [one] if args.search.is_none() => about(one),
            _ => None,
        },
        now: now(),
    }
}

fn about(target: &str) -> Option<String> {
    let url = if target.contains("://") { target.to_owned() } else { format!("https://{target}/") };
    CanonicalUrl::parse(&url).ok().map(|url| url.as_str().to_owned())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A path as a URL: what is no plain letter is written in hexadecimal.
fn file_url(path: &Path) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-._~".contains(&b);
    let bytes = path.to_string_lossy().replace('\\', "/").into_bytes();
    let mut out = String::from("file://");
    if bytes.first() != Some(&b'/') {
        out.push('/');
    }
    for b in bytes {
        match plain(b) {
            true => out.push(char::from(b)),
            false => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_an_address() {
        assert_eq!(file_url(Path::new("/tmp/a b/ä.xml")), "file:///tmp/a%20b/%C3%A4.xml");
        assert_eq!(about("example.org").as_deref(), Some("https://example.org/"));
        assert_eq!(about("http://example.org/x?y").as_deref(), Some("http://example.org/x?y"));
    }
}
