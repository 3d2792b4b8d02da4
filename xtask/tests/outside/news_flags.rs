//! What `news` makes of flags: it does what they say, or says why not.

use crate::press::Press;
use crate::rig::Rig;
use anyhow::{Result, ensure};
use std::fs;

#[test]
fn flags_of_the_news_are_taken_or_refused_with_a_sentence() -> Result<()> {
    let Some(rig) = Rig::new("news_flags", &[])? else { return Ok(()) };
    let press = Press::start()?;
    fs::create_dir_all(rig.dir.join("data"))?;
    fs::write(rig.dir.join("data/argiope.toml"), press.config())?;
    let fronts = format!("{},{}", press.front(0), press.front(1));
    rig.run("data", &["news", "collect", "--sites", &fronts])?.ok()?;
    let news = |args: &[&str]| rig.run("data", &[&["news"], args].concat());
    let figures = || rig.rows("data", &["news", "sites"]);
    let before = figures()?;
    ensure!(before.iter().any(|row| row["articles"].as_u64() > Some(0)), "{before:?}");

    for (args, code, words) in [
        (&["list", "--limit", "0"][..], 2, "at least 1"),
        (&["quick", "example.org", "--limit", "0"], 2, "at least 1"),
        (&["list", "--since", "1h", "--until", "2h"], 2, "--since is not before --until"),
        (&["list", "--since", "-1d", "--query", "-river bridge"], 0, ""),
        (&["list", "--subject", "gardening"], 0, "the subjects that there are: "),
        (&["saved", "add", "x", "--limit", "3"], 2, "--limit"),
        (&["saved", "add", "x", "--story", "3"], 2, "--story"),
        (&["saved", "add", "x", "--query", "\"unclosed"], 2, "quot"),
        (&["saved", "add", "x", "--query", "bridge"], 0, "Saved: "),
        (&["saved", "add", "x", "--query", "ferry"], 0, "in place of"),
        (&["saved", "add", "y", "--unread"], 0, "Saved: "),
        (&["saved", "remove", "x"], 0, "no more"),
        (&["saved", "remove", "2"], 0, "no more"),
        (&["saved", "remove", "x"], 1, "nothing is saved as x"),
        (&["saved", "remove", "7"], 1, "no saved view has the number 7"),
        (&["rules", "remove", "7"], 1, "no rule has the number 7"),
        (&["sites", "remove", "absent.test"], 1, "is not followed"),
        (&["sites", "add", "co.uk"], 2, "an ending under which others have their sites"),
        (&["rules", "add", "hide", "a OR b"], 2, "knows no OR"),
        (&["rules", "add", "hide", "castel*"], 2, "as they are"),
        (&["rules", "add", "hide", "--", "-x"], 2, "almost everything"),
        (
            &["rules", "add", "keep", "zzz", "--site", "nosuch.test"],
            0,
            "nosuch.test is not followed",
        ),
        (&["rules", "add", "hide", "the"], 0, "Rule 2"),
    ] {
        let done = news(args)?;
        let said = done.last_words();
        ensure!(
            done.code == Some(code) && said.contains(words),
            "{args:?}: {:?} {said}",
            done.code
        );
    }

    // Rules hide articles from lists, not from figures, and what is hidden can be read as well.
    ensure!(figures()? == before, "{before:?}\n{:?}", figures()?);
    news(&["read", "--all"])?.ok()?;
    let after = figures()?;
    ensure!(after.iter().all(|row| row["unread"] == 0), "{after:?}");
    news(&["rules", "remove", "2"])?.ok()?;

    // A subject by any name; a table.
    let rows = rig.rows("data", &["news", "list", "--limit", "200"])?;
    let subject = |row: &serde_json::Value| row["subject"] == "culture";
    let there = rows.iter().filter(|row| subject(row)).count();
    for name in ["culture", "Kultur", "文化"] {
        let found = rig.rows("data", &["news", "list", "--subject", name, "--limit", "200"])?;
        ensure!(there > 0 && found.len() == there, "{name}: {} of {there}", found.len());
    }
    let table = news(&["list", "--limit", "200", "--format", "csv"])?.ok()?.out_text();
    ensure!(table.starts_with("story,time,title,subject,sources,"), "{table}");
    ensure!(table.lines().count() == rows.len() + 1, "{table}");

    // A browser of one's own, and none.
    let quick = ["news", "quick", &press.front(0), "--open", "1"];
    let seen = rig.dir.join("seen");
    let script = rig.dir.join("browser");
    fs::write(&script, format!("#!/bin/sh\necho \"$1\" > {}\n", seen.display()))?;
    let mut command = rig.argiope("data", &quick);
    let path = format!("sh {} %s", script.display());
    let status = command.env("BROWSER", path).output()?.status;
    ensure!(status.success(), "{status}");
    std::thread::sleep(std::time::Duration::from_millis(500));
    ensure!(fs::read_to_string(&seen)?.starts_with("http://www."), "no browser was started");
    let mut command = rig.argiope("data", &quick);
    for name in ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"] {
        command.env_remove(name);
    }
    if !cfg!(target_os = "macos") {
        let done = command.output()?;
        ensure!(done.status.code() == Some(1), "{done:?}");
        ensure!(String::from_utf8_lossy(&done.stderr).contains("no browser"), "{done:?}");
    }
    Ok(())
}
