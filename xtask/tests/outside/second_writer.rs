//! One owner, many visitors: beside a running crawl everything can be asked, and only a second writer
//! is refused.

use crate::bad_input::refused;
use crate::rig::Rig;
use crate::slow_server::SlowServer;
use anyhow::{Context, Result, ensure};
use std::time::Duration;
use xtask::process::wait_until;

#[test]
fn a_second_writer_is_refused_while_questions_are_answered() -> Result<()> {
    let Some(rig) = Rig::new("second", &[])? else { return Ok(()) };
    let server = SlowServer::start(1, 10_000, Duration::from_millis(50))?;
    let start = server.urls()[0].clone();
    let mut running = rig.start_crawl("data", &[&start])?;
    wait_until("ten pages", Duration::from_secs(60), || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        Ok(server.counts().pages >= 10)
    })?;
    // The first page is committed at the latest a second after it came.
    std::thread::sleep(Duration::from_millis(1500));

    let before = server.counts().pages;
    let done = rig.run("data", &Rig::crawl_args(&["http://127.0.0.1:9/"]))?;
    refused(&done, 1, &[]).context("a second crawl")?;

    let questions: [&[&str]; 4] =
        [&["status"], &["jobs"], &["doc", start.as_str()], &["show", start.as_str()]];
    let ask = |when: &str| -> Result<()> {
        for question in questions {
            let done = rig.run("data", question)?.ok();
            let done = done.with_context(|| format!("{question:?} {when}"))?;
            ensure!(!done.out_text().trim().is_empty(), "{question:?} {when} said nothing");
        }
        let shown = rig.run("data", &["show", &start])?.ok()?.out_text();
        ensure!(shown.starts_with("<title>Host 0</title>"), "show gave {shown:.60}");
        let row = rig.run("data", &["--format", "json", "doc", &start])?.ok()?.out_text();
        let row: serde_json::Value = serde_json::from_str(row.trim()).context("doc is JSON")?;
        ensure!(row["url"] == start.as_str() && row["status"] == 200, "doc says {row}");
        Ok(())
    };
    ask("beside the crawl")?;
    ensure!(running.is_running()?, "the crawl did not survive the visitors");
    wait_until("the crawl to go on", Duration::from_secs(20), || {
        Ok(server.counts().pages > before)
    })?;
    running.kill()?;
    ask("without a crawl")?;
    rig.verify("data")
}
