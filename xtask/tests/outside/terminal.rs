//! What pages say of themselves does not command a terminal, whichever command shows it.

use crate::rig::Rig;
use crate::watched::{Answer, Watched, loopback};
use anyhow::{Result, ensure};

/// A title that would name the window, ring, and turn what follows around.
const TITLE: &str = "&#27;]0;x&#7; Harbour &#x9d;bridge &#x202e;opens &#127;early &#x2066;today";
const TEXT: &str = "The second bridge over the Alder opens on Monday, two months earlier than planned, the harbour office said.";

fn is_wild(c: char) -> bool {
    c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn titles_do_not_command_the_terminal() -> Result<()> {
    let Some(rig) = Rig::new("terminal", &[])? else { return Ok(()) };
    let article = |n: u32| {
        format!(
            "<html><head><title>{TITLE} {n}</title><meta name=description content='{TITLE}'>\
             <meta property=og:type content=article><meta name=author content='{TITLE}'></head>\
             <body><article><h1>{TITLE} {n}</h1><p>{TITLE}. {TEXT}</p><p>{TEXT} {n}</p></article>\
             <a href=/ title='{TITLE}'>{TITLE}</a><a href=/gone>{TITLE}</a>"
        )
    };
    let front = (1..5).map(|n| {
        format!("<h2><a href=/2026/11/1{n}/a-bridge-opens-{n}>{TITLE} number {n}</a></h2><p>{TEXT}")
    });
    let front = format!("<title>{TITLE}</title>{}", front.collect::<String>());
    let web = Watched::start(&[loopback(96)], move |asked| match asked.path.as_str() {
        "/" => Answer::html(front.clone()),
        "/robots.txt" | "/gone" => Answer::status(404).header("X-Title: \u{1b}]0;x\u{7}"),
        path if path.starts_with("/2026/") => {
            let n = path.chars().last().and_then(|c| c.to_digit(10)).unwrap_or(0);
            Answer::html(article(n))
        }
        _ => Answer::status(404),
    })?;
    let (site, url) = (web.url(0, "/"), web.url(0, "/2026/11/11/a-bridge-opens-1"));
    rig.crawl("data", &[&site])?;
    let collect =
        ["news", "collect", "--allow-private", "--delay", "0s", "--sites", &site, "--set"];
    rig.run("data", &[&collect[..], &["crawl.address_gap=0s"]].concat())?.ok()?;
    let rows = rig.rows("data", &["news", "list"])?;
    let story = rows.first().map(|row| row["story"].to_string()).unwrap_or_default();
    ensure!(!story.is_empty(), "there are no news");
    let gone = web.url(0, "/gone");
    for args in [
        &["news", "list"][..],
        &["news", "list", "--articles", "--text"],
        &["news", "list", "--story", &story],
        &["news", "quick", &site, "--allow-private"],
        &["news", "sites", "test", "--fetch", "--allow-private", &url],
        &["news", "sites"],
        &["search", "bridge"],
        &["word", "bridge"],
        &["doc", &url],
        &["doc", "--words", &url],
        &["history", &url],
        &["links", &site],
        &["links", "--out", &url],
        &["links", &gone],
        &["broken"],
        &["top"],
        &["explain", &url],
        &["jobs"],
        &["sites"],
    ] {
        for format in ["text", "json"] {
            let done = rig.run("data", &[&["--format", format], args].concat())?;
            let done = done.ok()?;
            let said = done.out_text() + &done.last_words();
            let at = said.find(is_wild).map(|at| &said[at..]);
            ensure!(at.is_none(), "{args:?}: {at:?}");
            ensure!(!done.out_text().is_empty(), "{args:?} says nothing");
        }
    }
    let listed = rig.run("data", &["news", "list"])?.ok()?.out_text();
    ensure!(listed.contains("]0;x Harbour bridge opens early today"), "{listed}");
    // What was asked for as it is stays so.
    let shown = rig.run("data", &["show", &url])?.ok()?.out_text();
    ensure!(shown.contains(TITLE), "{shown}");
    Ok(())
}
