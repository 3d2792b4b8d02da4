//! Searching by the real binary: every word at its place, in every script, whatever is asked.
//!
//! The pages are put together by `words.py` from words whose places follow from how they are made;
//! the same script compares. Changed and vanished pages are seen by another crawl and taken in from
//! its archive; forgotten ones are looked for in every file by `search.py`.

use crate::forget::search;
use crate::rig::{CRAWL_LIMIT, Rig, count, files_ending, knob};
use crate::sites::Dice;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use xtask::nginx::Nginx;
use xtask::process;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/words.py");
/// How long an answer to any query may take, the start of the program included.
const ANSWER: Duration = Duration::from_secs(10);

/// Runs the script on a data directory and gives its last line.
pub fn script(rig: &Rig, mode: &str, data: &str, args: &[&str]) -> Result<(Value, String)> {
    let mut command = Command::new("python3");
    let argiope = rig.argiope(data, &[]);
    command.args([SCRIPT, mode]).arg(argiope.get_program()).arg(rig.dir.join(data)).args(args);
    let done = process::run(&mut command, &rig.dir, mode, CRAWL_LIMIT)?;
    let said = done.out_text();
    done.ok().with_context(|| format!("{data} disagrees:\n{said}"))?;
    let last = said.lines().last().context("the comparison said nothing")?;
    let last = serde_json::from_str(last).with_context(|| format!("not a summary: {last}"))?;
    Ok((last, said))
}

/// Made-up pages with known words, crawled; what is known of them.
fn crawled(rig: &Rig, root: &Path, pages: u64) -> Result<(Nginx, String)> {
    let (pages, seed) = (pages.to_string(), knob("ARGIOPE_SEED", 1)?.to_string());
    let mut command = Command::new("python3");
    command.args([SCRIPT, "make"]).arg(root).args(["--pages", &pages, "--seed", &seed]);
    let truth = process::run(&mut command, &rig.dir, "truth", CRAWL_LIMIT)?.ok()?.out;
    let nginx = Nginx::serve(root, &rig.dir, "")?;
    rig.crawl("data", &[&format!("{}/w0.html", nginx.origin), "--scope", "host"])?;
    Ok((nginx, truth.to_string_lossy().into_owned()))
}

#[test]
fn every_word_stands_where_it_was_put_and_search_finds_it() -> Result<()> {
    let Some(rig) = Rig::new("search-truth", &["nginx", "python3"])? else { return Ok(()) };
    let (nginx, truth) = crawled(&rig, &rig.folder("site")?, 60)?;
    let (told, _) = script(&rig, "check", "data", &[&nginx.origin, &truth])?;
    ensure!(count(&told, "words")? > 600 && count(&told, "snippets")? > 500, "too little: {told}");
    rig.verify("data")?;

    // Made again from the texts, the index says the same.
    rig.run("data", &["reindex"])?.ok().context("reindex")?;
    let (again, _) = script(&rig, "check", "data", &[&nginx.origin, &truth])?;
    ensure!(again["words"] == told["words"], "{again} after {told}");
    rig.verify("data")
}

#[test]
fn the_marks_of_a_snippet_lie_on_the_words_in_every_script() -> Result<()> {
    let Some(rig) = Rig::new("search-marks", &["nginx", "python3"])? else { return Ok(()) };
    let (nginx, truth) = crawled(&rig, &rig.folder("site")?, 30)?;
    let (told, _) = script(&rig, "marks", "data", &[&nginx.origin, &truth])?;
    ensure!(count(&told, "snippets")? > 300, "too little: {told}");
    Ok(())
}

#[test]
fn any_bytes_as_a_query_give_an_answer_or_a_sentence_in_time() -> Result<()> {
    let Some(rig) = Rig::new("search-odd", &["nginx", "python3"])? else { return Ok(()) };
    crawled(&rig, &rig.folder("site")?, 20)?;
    let mut queries: Vec<Vec<u8>> = [
        "\"",
        "\"\"",
        "\"open",
        "(",
        ")",
        "()",
        "((((((((",
        "a OR",
        "OR",
        "OR OR OR",
        "-",
        "--",
        "-a",
        "-(a b)",
        "- a",
        "a -",
        "*",
        "a*",
        "**",
        "~",
        "a~",
        "a~9",
        "a~99999999999",
        "\"a b\"~x",
        "site:",
        "site:)",
        "intitle:",
        "intitle:intitle:a",
        "before:",
        "before:2026-99-99",
        "after:yesterday",
        "after:9999999999",
        "lang:",
        "lang:xx",
        "type:",
        "type:pdf",
        "link:",
        "link:http://[",
        "inurl:",
        "a:b",
        "https://example.org/?q=a&b=c#d",
        "\\",
        "\\\"",
        "a\\",
        "\t\n\r",
        " ",
        "",
        "…",
        "\u{0}x",
        "\u{202e}abc",
        "e\u{301}\u{301}\u{301}",
        "\u{feff}",
        "👩‍👩‍👧‍👦",
        "中",
        "中国人",
        "ภาษาไทย",
        "the",
        "the and with",
        "\"the and\"",
        "-the",
        "a OR (b -c) \"d e\" f*",
        "NOT a",
        "a AND b",
        "+a +b",
        "{a}",
        "[a TO b]",
        "a^4",
        "/a.*/",
        "a && b",
        "!a",
        "body:a",
        "_all:*",
        "<script>",
    ]
    .iter()
    .map(|query| query.replace('\0', "").into_bytes())
    .collect();
    for bytes in [&b"\xff"[..], b"a \xc3", b"\xc3(", b"\"\x80\"", b"site:\xfe\xff", b"\xed\xa0\x80"]
    {
        queries.push(bytes.to_vec());
    }
    for long in ["a ", "a", "(", "\"", "-a ", "a* ", "中", "a OR ", "a~2 ", "intitle:", "word"] {
        queries.push(long.repeat(100_000 / long.len()).into_bytes());
        queries.push(long.repeat(900 / long.len()).into_bytes());
    }
    let pieces = [
        "\"", "(", ")", "-", "*", "~", "~2", ":", "OR", " ", " ", "site:", "intitle:", "before:",
        "a", "heading", "own1word", "中国", "é", "\\", "2026", "…", ".", "'", "+", "&", "|",
        "\u{301}",
    ];
    let mut dice = Dice::new(knob("ARGIOPE_SEED", 1)?);
    for number in 0..knob("ARGIOPE_QUERIES", 300)? {
        let length = dice.below(12) + 1;
        let mut query: Vec<u8> = (0..length)
            .flat_map(|_| pieces[dice.below(pieces.len() as u64) as usize].bytes())
            .collect();
        if number % 10 == 0 {
            query = dice.bytes(length as usize * 3).into_iter().filter(|byte| *byte != 0).collect();
        }
        queries.push(query);
    }
    let (mut answered, mut refused, mut wrong) = (0, 0, Vec::new());
    for query in &queries {
        let shown = String::from_utf8_lossy(&query[..query.len().min(80)]).into_owned();
        let mut command = rig.argiope("data", &["--format", "json", "search", "--"]);
        command.arg(OsString::from_vec(query.clone()));
        let begun = Instant::now();
        let done = process::run(&mut command, &rig.dir, "odd", ANSWER)
            .with_context(|| format!("{shown:?}"))?;
        ensure!(begun.elapsed() < ANSWER, "{shown:?} took {:?}", begun.elapsed());
        match done.code {
            Some(0) => {
                let out = done.out_text();
                let last: Option<Value> =
                    out.lines().last().and_then(|line| serde_json::from_str(line).ok());
                if !last.is_some_and(|last| last["total"].is_u64() && last["took_ms"].is_number()) {
                    wrong.push(format!("{shown:?}: no total: {out}"));
                }
                answered += 1;
            }
            Some(2) => {
                // What is not text at all is refused before it is a query.
                let is_text = std::str::from_utf8(query).is_ok();
                if (is_text && !done.err.contains("(character ")) || done.err.trim().is_empty() {
                    wrong.push(format!("{shown:?}: no position: {}", done.last_words()));
                }
                refused += 1;
            }
            _ => wrong.push(format!("{shown:?}: {:?}, {}", done.code, done.last_words())),
        }
    }
    ensure!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), queries.len(), wrong.join("\n"));
    ensure!(answered > 100 && refused > 30, "{answered} answered, {refused} refused");
    Ok(())
}

const PAGES: usize = 90;

/// A word that only this page has, in this edition.
fn own(page: usize, edition: u64) -> String {
    let mut dice = Dice::new(edition * 1000 + page as u64 + 1);
    (0..20).map(|_| char::from(b'a' + dice.below(26) as u8)).collect()
}

fn site(root: &Path, pages: impl Iterator<Item = usize>, edition: u64) -> Result<()> {
    for page in pages {
        let word = own(page, edition);
        let mut text =
            format!("<!doctype html><title>{word}</title><h1>{word}</h1><p>It is {word}.");
        for to in 1..PAGES {
            if page == 0 || to == page % (PAGES - 1) + 1 {
                write!(text, " <a href=/p{to}.html>page {to}</a>")?;
            }
        }
        std::fs::write(root.join(format!("p{page}.html")), text)?;
    }
    Ok(())
}

/// The pages that `search` and `word` find for a word: they must agree.
fn holders(rig: &Rig, word: &str) -> Result<Vec<String>> {
    let urls = |rows: &[Value]| -> Vec<String> {
        rows.iter().filter_map(|row| row["url"].as_str()).map(str::to_owned).collect()
    };
    let (rows, places) = (rig.rows("data", &["search", word])?, rig.rows("data", &["word", word])?);
    let (hits, last) = rows.split_at(rows.len().saturating_sub(1));
    ensure!(last.first().is_some_and(|last| last["total"] == hits.len()), "{word}: {rows:?}");
    ensure!(urls(hits) == urls(&places), "{word}: {rows:?}, but {places:?}");
    Ok(urls(hits))
}

#[test]
fn changed_pages_are_found_by_their_new_words_and_vanished_and_forgotten_ones_by_none() -> Result<()>
{
    let needs = ["nginx", "python3", "cp"];
    let Some(rig) = Rig::new("search-change", &needs)? else { return Ok(()) };
    let root = rig.folder("site")?;
    site(&root, 0..PAGES, 1)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let at = |page: usize| format!("{}/p{page}.html", nginx.origin);
    rig.crawl("data", &[&at(0), "--scope", "host"])?;
    for page in 1..PAGES {
        ensure!(holders(&rig, &own(page, 1))? == [at(page)], "page {page} is not found alone");
    }

    // Every third changes, every fifth is gone: seen by another crawl.
    let changed = |page: usize| page.is_multiple_of(3);
    let vanished = |page: usize| page % 5 == 1 && !changed(page);
    site(&root, (1..PAGES).filter(|page| changed(*page)), 2)?;
    for page in (1..PAGES).filter(|page| vanished(*page)) {
        std::fs::remove_file(root.join(format!("p{page}.html")))?;
    }
    rig.crawl("other", &[&at(0), "--scope", "host"])?;
    let out = rig.dir.join("archive").to_string_lossy().into_owned();
    rig.run("other", &["export", "warc", "--out", &out])?.ok()?;
    let files = files_ending(Path::new(&out), ".warc.gz")?;
    let mut args = vec!["import", "warc"];
    args.extend(files.iter().filter_map(|file| file.to_str()));
    rig.run("data", &args)?.ok().context("import warc")?;
    for page in 1..PAGES {
        let (old, new) = (holders(&rig, &own(page, 1))?, holders(&rig, &own(page, 2))?);
        let wanted_old: &[String] = if changed(page) || vanished(page) { &[] } else { &[at(page)] };
        let wanted_new: &[String] = if changed(page) { &[at(page)] } else { &[] };
        ensure!(old == wanted_old, "page {page}, its old word: {old:?}");
        ensure!(new == wanted_new, "page {page}, its new word: {new:?}");
    }
    rig.verify("data")?;

    // Forgotten pages leave: of what they said in either edition no file holds anything.
    let forgotten = |page: usize| page % 4 == 1;
    let gone: Vec<usize> = (1..PAGES).filter(|page| forgotten(*page)).collect();
    let kept: Vec<usize> =
        (1..PAGES).filter(|page| !forgotten(*page) && !vanished(*page)).collect();
    let mut words: Vec<String> = gone.iter().map(|page| own(*page, 1)).collect();
    words.extend(gone.iter().filter(|page| changed(**page)).map(|page| own(*page, 2)));
    std::fs::write(rig.dir.join("words"), words.join("\n"))?;
    ensure!(search(&rig, "data", "words")?.0 == words.len(), "there is nothing to be found");
    let urls: Vec<String> = gone.iter().map(|page| at(*page)).collect();
    let args: Vec<&str> = ["forget"].into_iter().chain(urls.iter().map(String::as_str)).collect();
    rig.run("data", &args)?.ok().context("forget")?;
    let (found, listed) = search(&rig, "data", "words")?;
    ensure!(found == 0, "{found} of {} words are still there:\n{listed}", words.len());
    for word in &words {
        ensure!(holders(&rig, word)?.is_empty(), "{word} is still found");
    }
    for page in kept {
        let edition = if changed(page) { 2 } else { 1 };
        ensure!(holders(&rig, &own(page, edition))? == [at(page)], "page {page} went too");
    }
    rig.verify("data")
}
