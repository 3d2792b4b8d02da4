//! What goes wrong on our side is said in one clear sentence, and damages nothing.

use crate::rig::Rig;
use crate::sites::Graph;
use anyhow::{Context, Result, ensure};
use xtask::nginx::Nginx;
use xtask::process::Finished;

/// The refusal: exit 1 or 2, a sentence (at most `lines` lines) that names every one of `words`.
pub fn refused(done: &Finished, lines: usize, words: &[&str]) -> Result<()> {
    let said: Vec<&str> = done.err.lines().filter(|line| !line.trim().is_empty()).collect();
    let text = said.join("\n");
    ensure!(matches!(done.code, Some(1 | 2)), "exit {:?} instead of 1 or 2: {text}", done.code);
    ensure!(
        (1..=lines).contains(&said.len()),
        "{} lines instead of a sentence: {text}",
        said.len()
    );
    ensure!(!text.contains("panicked") && !text.contains("Os {"), "not for people: {text}");
    let unsaid: Vec<_> = words.iter().filter(|word| !text.contains(**word)).collect();
    ensure!(unsaid.is_empty(), "the message does not name {unsaid:?}: {text}");
    Ok(())
}

#[test]
fn an_unusable_data_directory_is_refused_with_a_sentence() -> Result<()> {
    let Some(rig) = Rig::new("bad-data", &[])? else { return Ok(()) };
    std::fs::write(rig.dir.join("a-file"), "not a directory")?;
    let start = "http://127.0.0.1:9/";
    for place in ["a-file", "a-file/beneath", "/proc/argiope"] {
        let done = rig.run(place, &Rig::crawl_args(&[start]))?;
        refused(&done, 1, &[place]).with_context(|| format!("--data {place}"))?;
    }
    let kept = std::fs::read_to_string(rig.dir.join("a-file"))?;
    ensure!(kept == "not a directory", "the file was changed");
    Ok(())
}

#[test]
fn a_corrupt_configuration_is_refused_with_its_line() -> Result<()> {
    let Some(rig) = Rig::new("bad-config", &[])? else { return Ok(()) };
    let cases: [(&str, &[&str]); 4] = [
        ("[crawl\ndelay = ", &["bad.toml", "1"]),
        ("[crawl]\n\ndleay = \"1s\"\n", &["bad.toml", "3", "dleay", "delay"]),
        ("[crawl]\ndelay = \"soon\"\n", &["bad.toml", "2", "soon"]),
        ("[crwal]\ndelay = \"1s\"\n", &["bad.toml", "1", "crwal", "crawl"]),
    ];
    for (text, words) in cases {
        std::fs::write(rig.dir.join("bad.toml"), text)?;
        let crawl = Rig::crawl_args(&["http://127.0.0.1:9/"]);
        let args = [&["--config", "bad.toml"], crawl.as_slice()].concat();
        // A message may show the line with a mark under it.
        refused(&rig.run("data", &args)?, 6, words).with_context(|| format!("{text:?}"))?;
    }
    let crawl = Rig::crawl_args(&["http://127.0.0.1:9/"]);
    let missing = [&["--config", "none.toml"], crawl.as_slice()].concat();
    refused(&rig.run("data", &missing)?, 1, &["none.toml"])
}

#[test]
fn bad_seeds_are_named_and_the_rest_loads() -> Result<()> {
    let Some(rig) = Rig::new("bad-seeds", &["nginx"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    Graph(vec![vec![1], vec![2], vec![]]).write(&root, 100)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;

    refused(&rig.run("none", &Rig::crawl_args(&["--seeds", "absent"]))?, 1, &["absent"])?;
    std::fs::write(rig.dir.join("empty"), "")?;
    refused(&rig.run("none", &Rig::crawl_args(&["--seeds", "empty"]))?, 2, &[])?;

    let lines = format!(
        "not a url\n{}{}\nftp://example.org/\n\n# a remark\nhttp://[broken/\n",
        nginx.origin,
        Graph::uri(0)
    );
    std::fs::write(rig.dir.join("seeds"), lines)?;
    let done = rig.run("data", &Rig::crawl_args(&["--seeds", "seeds"]))?.ok()?;
    let told: Vec<&str> = done.err.lines().filter(|line| line.contains("seeds")).collect();
    for number in ["1", "3", "6"] {
        let named = told
            .iter()
            .any(|line| line.split(|c: char| !c.is_ascii_digit()).any(|word| word == number));
        ensure!(named, "line {number} of the seeds is not named: {}", done.err);
    }
    ensure!(nginx.pages()?.len() == 3, "the good seed was not crawled: {:?}", nginx.pages()?);
    Ok(())
}

#[test]
fn wrong_usage_exits_with_2() -> Result<()> {
    let Some(rig) = Rig::new("bad-usage", &[])? else { return Ok(()) };
    let cases: [&[&str]; 4] = [
        &["crawl", "--order", "sideways", "http://127.0.0.1:9/"],
        &["crawl", "--max-pages", "many", "http://127.0.0.1:9/"],
        &["crawl", "--no-such-flag"],
        &["no-such-command"],
    ];
    for args in cases {
        let done = rig.run("data", args)?;
        ensure!(done.code == Some(2), "{args:?}: exit {:?}\n{}", done.code, done.err);
    }
    ensure!(!rig.dir.join("data").exists(), "wrong usage made a data directory");
    Ok(())
}
