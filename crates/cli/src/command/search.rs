//! `search`, `word`, `words`, `reindex`: what the word index knows.

use super::ask::{Line, ask, ask_pieces};
use super::moment::moment;
use super::wiring::engine_settings;
use super::{load, now, print_json, visit};
use crate::args::{Format, Global, Reindex, Search, SortBy, Word, Words};
use crate::config::Flags;
use crate::output::{self, Style, count, plural, table};
use anyhow::bail;
use argiope_crawl::{
    Followers, IndexError, Question, SearchOrder, Texts, WordOrder, ask_owner, texts_again,
};
use serde_json::Value;
use std::process::ExitCode;
use std::time::Instant;

/// Words read at a time.
const PIECE: usize = 1_000;
/// Pages or words shown in text.
const SHOWN: usize = 50;
/// Values shown of each facet.
const FACETS: usize = 8;
/// Pages nearly the same that are named under a hit.
const ALIKE: usize = 3;
/// Where a match begins and ends in a row.
const MARKS: [char; 2] = ['\u{2}', '\u{3}'];

pub fn search(global: &Global, args: &Search) -> anyhow::Result<ExitCode> {
    let at = args.at.as_ref().map(|text| moment("--at", text, now())).transpose()?;
    let order = SearchOrder {
        at,
        query: args.query.join(" "),
        limit: args.limit,
        offset: args.offset,
        by_date: args.sort == SortBy::Date,
        facets: args.facets,
        explain: args.explain,
        all: args.all,
        own_words: args.own_words,
    };
    let mut rows = ask(global, &Question::Search(order))?;
    if global.format == Format::Json {
        for row in &mut rows {
            if let Some(row) = row.as_object_mut() {
                row.remove("marked");
            }
        }
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let last = rows.pop().unwrap_or_default();
    let bold = output::in_colour();
    for row in &rows {
        output::print_painted(hit_lines(row, bold))?;
    }
    ending(&last, rows.len()).iter().for_each(output::talk);
    Ok(ExitCode::SUCCESS)
}

/// A piece of a text with its matches in bold.
fn painted(marked: &str, bold: bool) -> String {
    let mut pieces = marked.split(MARKS[0]);
    let mut out = output::clean(pieces.next().unwrap_or_default()).into_owned();
    for piece in pieces {
        let (word, rest) = piece.split_once(MARKS[1]).unwrap_or((piece, ""));
        match bold {
            true => out.push_str(&output::paint(Style::Bold, word)),
            false => out.push_str(&output::clean(word)),
        }
        out.push_str(&output::clean(rest));
    }
    out
}

/// One page found, in a few lines.
fn hit_lines(row: &Value, bold: bool) -> Vec<String> {
    let mut row = row.clone();
    let marked = painted(row["marked"].as_str().unwrap_or_default(), bold);
    output::clean_row(&mut row);
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    let title = match text("title") {
        "" => text("url"),
        title => title,
    };
    let mut lines = vec![format!("{:>2}. {}", row["rank"], output::cut(title, 90))];
    lines.push(format!("    {}", text("url")));
    if !marked.is_empty() {
        lines.push(format!("    {marked}"));
    }
    let mut about = Vec::new();
    if row["partial"] == true {
        about.push("some of the words".to_owned());
    }
    let alike: Vec<&str> =
        row["alike_urls"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !alike.is_empty() {
        about.push(plural(alike.len() as u64, "page nearly the same", "pages nearly the same"));
    }
    let second = |name: &str| text(name).get(..19).unwrap_or_default().replace('T', " ");
    about.push(match (text("from"), text("until")) {
        ("", _) => format!("changed {}", text("changed_at").get(..10).unwrap_or("-")),
        (_, "") => format!("so since {}, and today", second("from")),
        _ => format!("so from {} until {}", second("from"), second("until")),
    });
    lines.push(format!("    {}", about.join(", ")));
    lines.extend(alike.iter().take(ALIKE).map(|url| format!("      = {url}")));
    if alike.len() > ALIKE {
        lines.push(format!("      and {} more; --all shows them", alike.len() - ALIKE));
    }
    for part in row["explain"].as_array().into_iter().flatten() {
        let score = part["score"].as_f64().unwrap_or(0.0);
        lines.push(format!("      {score:>9.3}  {}", part["part"].as_str().unwrap_or_default()));
    }
    lines.push(String::new());
    lines
}

/// How many there are, and what else is to be said.
fn ending(last: &Value, shown: usize) -> Vec<String> {
    let total = last["total"].as_u64().unwrap_or(0);
    let took = last["took_ms"].as_f64().unwrap_or(0.0);
    let mut lines = Vec::new();
    let pages = match total {
        0 => "No page holds that".to_owned(),
        n => plural(n, "page", "pages"),
    };
    let least = if last["timed_out"] == true { ", at least (the time ran out)" } else { "" };
    let some = match last["partial"].as_u64().unwrap_or(0) {
        0 => String::new(),
        n => format!("; {} with some of the words", plural(n, "page", "pages")),
    };
    lines.push(format!("{pages}{least}{some} ({took:.1} ms, {shown} shown)."));
    if let Some(at) = last["at"].as_str() {
        lines
            .push(format!("As it was at {at}; `argiope show URL --at {at}` shows a page of then."));
    }
    if let Some(meant) = last["did_you_mean"].as_str() {
        lines.push(format!("Did you mean: {meant}"));
    }
    let ignored: Vec<&str> =
        last["ignored"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !ignored.is_empty() {
        lines.push(format!(
            "Looked for in titles, headings and links only: {}.",
            ignored.join(", ")
        ));
    }
    for name in ["site", "language", "year"] {
        let values = last["facets"][name].as_array().map_or(&[][..], Vec::as_slice);
        if values.is_empty() {
            continue;
        }
        let value = |row: &Value| {
            let pages = count(row["pages"].as_u64().unwrap_or(0));
            format!("{} {pages}", row["value"].as_str().unwrap_or_default())
        };
        let shown: Vec<String> = values.iter().take(FACETS).map(value).collect();
        let more = if values.len() > FACETS { ", …" } else { "" };
        lines.push(format!("by {name}: {}{more}", shown.join(", ")));
    }
    lines
}

pub fn word(global: &Global, args: &Word) -> anyhow::Result<ExitCode> {
    let rows = ask(global, &Question::Word { word: args.word.clone() })?;
    let default = if global.format == Format::Json { 0 } else { SHOWN };
    let limit = match args.limit.unwrap_or(default) {
        0 => usize::MAX,
        n => n,
    };
    let shown = &rows[..rows.len().min(limit)];
    if global.format == Format::Json {
        print_json(shown)?;
        return Ok(ExitCode::SUCCESS);
    }
    output::print(shown.iter().flat_map(postings))?;
    let places: usize =
        rows.iter().map(|row| row["positions"].as_array().map_or(0, Vec::len)).sum();
    output::talk(match rows.len() {
        0 => format!(
            "No page holds {}; `argiope words --prefix` lists those that begin so.",
            args.word
        ),
        n => format!(
            "{} on {}{}.",
            plural(places as u64, "place", "places"),
            plural(n as u64, "page", "pages"),
            if shown.len() < n { "; --limit 0 lists all" } else { "" }
        ),
    });
    Ok(ExitCode::SUCCESS)
}

/// A line for each place: `position@document`, and the page.
fn postings(row: &Value) -> Vec<String> {
    let places: Vec<String> = row["positions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|position| format!("{position}@{}", row["doc"]))
        .collect();
    let width = places.iter().map(String::len).max().unwrap_or(0);
    let url = row["url"].as_str().unwrap_or_default();
    places.into_iter().map(|place| format!("{place:<width$}  {url}")).collect()
}

pub fn words(global: &Global, args: &Words) -> anyhow::Result<ExitCode> {
    let json = global.format == Format::Json;
    let default = if json && !args.top { 0 } else { SHOWN };
    let mut left = match args.limit.unwrap_or(default) {
        0 => usize::MAX,
        n => n,
    };
    let limit = if args.top { left } else { left.min(PIECE) };
    let order = WordOrder { prefix: args.prefix.clone(), top: args.top, after: None, limit };
    let mut cells: Vec<Vec<String>> = Vec::new();
    ask_pieces(global, &Question::Words(order), |mut rows| {
        rows.truncate(left);
        left -= rows.len();
        match json {
            true => print_json(&rows)?,
            false => cells.extend(rows.iter().map(|row| {
                let number = |name: &str| count(row[name].as_u64().unwrap_or(0));
                let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
                vec![number("documents"), number("occurrences"), text("word_id"), text("word")]
            })),
        }
        Ok(left > 0)
    })?;
    if !json && cells.is_empty() {
        output::talk("No word is known here.");
    } else if !json {
        output::print(table(&[">pages", ">places", ">word id", "word"], &cells))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The words of a document.
pub fn doc_words(global: &Global, target: &str) -> anyhow::Result<ExitCode> {
    let rows = ask(global, &Question::DocWords(target.to_owned()))?;
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let places = row["positions"].as_array().map_or(&[][..], Vec::as_slice);
            let shown: Vec<String> = places.iter().take(10).map(Value::to_string).collect();
            let more = if places.len() > 10 { " …" } else { "" };
            let word = row["word"].as_str().unwrap_or_default().to_owned();
            vec![count(places.len() as u64), word, shown.join(" ") + more]
        })
        .collect();
    output::print(table(&[">places", "word", "at"], &cells))?;
    Ok(ExitCode::SUCCESS)
}

/// The pages that are nearly the same as a document.
pub fn doc_near(global: &Global, target: &str) -> anyhow::Result<ExitCode> {
    let rows = ask(global, &Question::DocNear(target.to_owned()))?;
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        output::talk("No other page is nearly the same.");
        return Ok(ExitCode::SUCCESS);
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let url = row["url"].as_str().unwrap_or_default().to_owned();
            vec![format!("{} %", row["same_percent"]), row["doc"].to_string(), url]
        })
        .collect();
    output::print(table(&[">same", ">doc", "url"], &cells))?;
    Ok(ExitCode::SUCCESS)
}

pub fn reindex(global: &Global, args: &Reindex) -> anyhow::Result<ExitCode> {
    if ask_owner(&global.data, &Question::Status)?.is_some() {
        bail!(
            "a crawl is working in {} and indexes as it goes; stop it (Ctrl-C there) to begin anew",
            global.data.display()
        );
    }
    let settings = engine_settings(&load(global, Flags::default())?.settings);
    let begun = Instant::now();
    let (dir, store) = visit(global)?;
    let texts = args.from_archive.then(|| {
        let terminal = output::on_terminal() && global.format == Format::Text;
        let texts = texts_again(&dir, &*store, &settings, |texts| {
            if terminal {
                output::line(format!("Looking at {} captures", count(texts.captures)));
            }
        });
        if terminal {
            output::line("");
        }
        texts
    });
    let texts = texts.transpose()?;
    let followers = Followers::new(&dir, &store, &settings);
    {
        let mut line = Line::new();
        followers.words.rebuild(|at| line.show(at)).map_err(|e| match e {
            e @ IndexError::Archive(_) => anyhow::Error::new(e)
                .context("texts are lost; `argiope reindex --from-archive` makes them again"),
            e => e.into(),
        })?;
    }
    // Articles are read anew as well: the rules for them may have become better.
    followers.news.rebuild()?;
    let view = followers.words.view()?;
    let (size, past) = (view.size()?, view.past_size()?);
    let left_out = followers.words.unreadable();
    let elapsed = begun.elapsed().as_secs_f64();
    if global.format == Format::Json {
        let row = serde_json::json!({ "documents": size.documents, "bytes": size.disk,
            "past": { "documents": past.documents, "bytes": past.disk },
            "left_out": left_out, "texts": texts, "elapsed_s": elapsed });
        print_json(&[row])?;
    } else {
        if let Some(texts) = &texts {
            text_lines(texts).iter().for_each(output::talk);
        }
        output::talk(format!(
            "Indexed {} in {}: {}.",
            plural(size.documents, "page", "pages"),
            output::seconds(elapsed),
            output::bytes(size.disk)
        ));
        if past.documents > 0 {
            let versions = plural(past.documents, "version that is", "versions that are");
            output::talk(format!("And {versions} no more: {}.", output::bytes(past.disk)));
        }
        if left_out > 0 {
            let what_to_do = match args.from_archive {
                true => "`argiope verify` tells what is wrong with them",
                false => "`argiope reindex --from-archive` makes them again",
            };
            output::talk(format!(
                "Left out: {}, for want of texts that can be read; {what_to_do}.",
                plural(left_out, "page", "pages")
            ));
        }
    }
    Ok(ExitCode::from(u8::from(left_out > 0)))
}

/// What became of the texts.
fn text_lines(texts: &Texts) -> Vec<String> {
    let mut lines = vec![match texts.made {
        0 => format!("No text had to be made again; {} are whole.", count(texts.whole)),
        n => format!(
            "Made {} again from the archive; {} were whole.",
            plural(n, "text", "texts"),
            count(texts.whole)
        ),
    }];
    if texts.lost > 0 {
        let lost = plural(texts.lost, "text is", "texts are");
        lines.push(format!("{lost} lost: their pages were not archived."));
    }
    if texts.unreadable > 0 {
        let lost = plural(texts.unreadable, "text stays", "texts stay");
        lines.push(format!(
            "{lost} lost: the records they came from cannot be read; `argiope verify` lists them."
        ));
    }
    lines
}
