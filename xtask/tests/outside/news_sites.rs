//! `news sites`: the sites that are followed, in a file that people edit too.

use crate::rig::Rig;
use crate::watched::{Answer, Watched, loopback};
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::fs;

/// The example of the documents.
const SINA: &str = "http://sports.sina.com.cn/g/laliga/2013-12-01/08136911563.shtml";

#[test]
fn sites_are_followed_by_name_url_feed_and_recipe() -> Result<()> {
    let Some(rig) = Rig::new("news_sites", &[])? else { return Ok(()) };
    let file = rig.dir.join("data/news/sites.toml");
    let sites = |args: &[&str]| rig.run("data", &[&["news", "sites"], args].concat());
    let rows = || rig.rows("data", &["news", "sites"]);
    ensure!(rows()?.is_empty() && !rig.dir.join("data").exists(), "asking made a directory");

    sites(&["add", "example.org", "http://127.0.0.1:8000/", "https://www.example.net/sport/"])?
        .ok()?;
    sites(&["add", "https://news.example.com/rss.xml", "sina.com.cn"])?.ok()?;
    let again = sites(&["add", "www.example.org"])?.ok()?;
    ensure!(again.last_words().contains("already"), "{}", again.last_words());
    let text = fs::read_to_string(&file)?;
    ensure!(text.matches("[[site]]").count() == 5, "{text}");
    ensure!(text.ends_with("[[site]]\nsite = \"sina.com.cn\"\n"), "{text}");
    let listed = rows()?;
    let names: Vec<&str> = listed.iter().filter_map(|row| row["site"].as_str()).collect();
    ensure!(
        names == ["example.org", "127.0.0.1:8000", "example.net", "example.com", "sina.com.cn"]
    );
    ensure!(listed[2]["front"] == json!(["https://www.example.net/sport/"]), "{}", listed[2]);
    ensure!(listed[3]["feeds"] == json!(["https://news.example.com/rss.xml"]), "{}", listed[3]);

    // What people write stays, and what they write wrongly is told with its line.
    let edited =
        text.replace("site = \"example.org\"", "site = \"example.org\" # mine\ncycle = \"5m\"");
    fs::write(&file, &edited)?;
    ensure!(rows()?[0]["cycle"] == "5m");
    sites(&["remove", "example.net"])?.ok()?;
    let text = fs::read_to_string(&file)?;
    ensure!(text.contains("# mine") && !text.contains("example.net"), "{text}");
    fs::write(&file, text.replace("cycle", "cyle"))?;
    for args in [vec![], vec!["add", "b.test"], vec!["export"]] {
        let done = sites(&args)?;
        let said = done.last_words();
        ensure!(done.code == Some(2), "{args:?}: {said}");
        ensure!(
            said.contains("sites.toml:7: cyle") && said.contains("did you mean cycle?"),
            "{said}"
        );
    }
    fs::write(&file, &text)?;

    // A file of recipes.
    let recipe = rig.dir.join("mine.toml");
    fs::write(
        &recipe,
        "# Mine\n[[site]]\nsite = \"b.test\"\npatterns = [\"b.test/{section}/{id}\"]\n",
    )?;
    sites(&["add", "mine.toml"])?.ok()?;
    ensure!(fs::read_to_string(&file)?.contains("# Mine\n[[site]]\nsite = \"b.test\""));

    // To others and back.
    let list = sites(&["export"])?.ok()?.out_text();
    fs::write(rig.dir.join("list.opml"), &list)?;
    rig.run("other", &["news", "sites", "import", "list.opml"])?.ok()?;
    let back = rig.run("other", &["news", "sites", "export"])?.ok()?.out_text();
    ensure!(back == list, "{list}\n{back}");
    for (args, code, words) in [
        (vec!["remove", "example.info"], 1, "did you mean example.org?"),
        (vec!["add", "mailto:me"], 2, "no site"),
        (vec!["add", "absent.toml"], 1, "absent.toml"),
        (vec!["import", "mine.toml"], 1, "no OPML"),
        (vec!["import", "absent.opml"], 1, "absent.opml"),
        (vec!["test", "--recipe", "absent.toml", "b.test"], 2, "no such file"),
        (vec!["test", "--recipe", "mine.toml", "c.test"], 2, "no recipe for c.test"),
    ] {
        let done = sites(&args)?;
        let said = done.last_words();
        ensure!(done.code == Some(code) && said.contains(words), "{args:?}: {said}");
    }
    Ok(())
}

#[test]
fn a_url_is_told_part_by_part() -> Result<()> {
    let Some(rig) = Rig::new("news_sites_test", &[])? else { return Ok(()) };
    let web = Watched::start(&[loopback(94)], |asked| match asked.path.as_str() {
        "/2026/11/16/a-bridge" => Answer::html(
            "<html lang=en><head><title>A bridge is closed</title><meta property=og:type content=article>\
             <meta property=article:published_time content='2026-11-16T08:00:00+01:00'>\
             <meta name=author content='Ann Writer'></head><body><article><h1>A bridge is closed</h1>\
             <p>The old bridge over the river is closed for repairs until the spring, the town has said on Monday.</p>\
             <p>Those who want to cross it have to take the new one, which lies a mile to the north of it.</p></article>",
        ),
        "/robots.txt" => Answer::status(404),
        "/" => Answer::html("<link rel=alternate type=application/rss+xml href=/rss.xml><p>Hello"),
        _ => Answer::status(500),
    })?;
    let test = |args: &[&str]| -> Result<Value> {
        let mut rows = rig.rows("data", &[&["news", "sites", "test"], args].concat())?;
        ensure!(rows.len() == 1, "{rows:?}");
        Ok(rows.remove(0))
    };
    let row = test(&[SINA])?;
    let parts = json!({
        "section": "sports", "scope": "g", "subject": "laliga", "date": "2013-12-01", "id": "08136911563",
    });
    ensure!(row["parts"] == parts && row["subject"] == "sport", "{row}");
    ensure!(row["recipe"] == "shipped" && row["article"] == true, "{row}");
    let text = rig.run("data", &["news", "sites", "test", SINA])?.ok()?.out_text();
    for line in [
        "  section  sports",
        "  scope    g",
        "  subject  laliga",
        "  date     2013-12-01",
        "  id       08136911563",
    ] {
        ensure!(text.lines().any(|l| l == line), "{line:?} is missing:\n{text}");
    }
    let row = test(&["http://sports.sina.com.cn/"])?;
    ensure!(row["article"] == false && row["parts"].is_null(), "{row}");
    let row = test(&["https://www.example.org/politik/2026/11/16/a-b-c"])?;
    ensure!(row["recipe"] == "common" && row["subject"] == "politics", "{row}");

    let row = test(&["--fetch", "--allow-private", &web.url(0, "/2026/11/16/a-bridge")])?;
    let page = &row["page"];
    ensure!(page["kind"] == "article" && page["title"] == "A bridge is closed", "{page}");
    ensure!(page["authors"] == json!(["Ann Writer"]), "{page}");
    ensure!(page["published"] == "2026-11-16T08:00:00+01:00", "{page}");
    ensure!(page["text"].as_str().unwrap_or_default().starts_with("The old bridge"), "{page}");
    let row = test(&["--fetch", "--allow-private", &web.url(0, "/")])?;
    ensure!(row["page"]["feeds"] == json!([web.url(0, "/rss.xml")]), "{row}");
    let done = rig
        .run("data", &["news", "sites", "test", "--fetch", "--allow-private", &web.url(0, "/x")])?;
    ensure!(done.code == Some(1) && done.last_words().contains("500"));
    ensure!(!rig.dir.join("data").exists(), "a data directory was made");
    Ok(())
}

#[test]
fn rules_are_made_before_anything_was_collected_and_who_asks_is_told_what_to_do() -> Result<()> {
    let Some(rig) = Rig::new("news_before", &[])? else { return Ok(()) };
    for asked in [&["list"][..], &["rules"], &["saved"], &["read", "3"], &["list", "--story", "3"]]
    {
        let done = rig.run("data", &[&["news"], asked].concat())?;
        let said = done.last_words();
        ensure!(done.code == Some(1), "{asked:?}: {:?}", done.code);
        ensure!(said.contains("argiope news sites add URL") && said.contains("news collect"));
        ensure!(!rig.dir.join("data").exists(), "asking made a directory");
    }
    rig.run("data", &["news", "rules", "add", "hide", "horoscope"])?.ok()?;
    let rules = rig.rows("data", &["news", "rules"])?;
    ensure!(rules.len() == 1 && rules[0]["words"] == "horoscope", "{rules:?}");
    let listed = rig.run("data", &["news", "list"])?.ok()?;
    ensure!(listed.last_words().contains("argiope news sites add"), "{}", listed.last_words());
    Ok(())
}
