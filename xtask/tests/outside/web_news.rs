//! The pages of the news: every one of them in a real Chromium, from the first site that is followed to the undoing of a mark;
//! and those who would misuse them.

use crate::exchange::python_with;
use crate::press::Press;
use crate::rig::{CRAWL_LIMIT, Rig, skip};
use crate::served::{Served, TOKEN, encoded};
use crate::watched::{Answer, Watched, loopback};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use xtask::process;

fn python(rig: &Rig, python: &Path, script: &str, args: &[&str]) -> Result<String> {
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script)).args(args);
    let done = process::run(&mut command, &rig.dir, script, CRAWL_LIMIT)?;
    let said = done.out_text();
    done.ok().with_context(|| format!("{script} found something"))?;
    Ok(said)
}

#[test]
fn the_news_in_a_browser() -> Result<()> {
    let name = "web-news";
    let Some(rig) = Rig::new(name, &["chromium", "python3"])? else { return Ok(()) };
    let Some(browser) = python_with("playwright, axe_playwright_python") else {
        return skip(name, "playwright is not installed");
    };
    let press = Press::start()?;
    std::fs::write(rig.dir.join("argiope.toml"), press.config())?;
    let served = Served::start(&rig, "data")?;
    let base = format!("http://{}", served.address());
    let shots = rig.folder("pictures")?;
    let fronts: Vec<String> = (0..3).map(|site| press.front(site)).collect();
    let hosts = press.hosts().join(",");
    let mut args = vec![base.as_str(), shots.to_str().context("a path")?, TOKEN, hosts.as_str()];
    args.extend(fronts.iter().map(String::as_str));
    let said = python(&rig, &browser, "news.py", &args)?;
    let done: Value = serde_json::from_str(said.lines().last().context("it said nothing")?)?;
    ensure!(done["views"].as_u64() > Some(30), "{done}");
    // Feeds of views, held against the standard by somebody else's parser.
    for (n, query) in ["", "?unread=0&articles=1", "?q=bridge", "?site=harbour.test&hidden=1"]
        .into_iter()
        .enumerate()
    {
        let reply = served.get(&format!("/news.atom{query}"))?;
        ensure!(reply.status == 200, "{query}: {}", reply.text());
        let file = rig.dir.join(format!("{n}.atom"));
        std::fs::write(&file, &reply.body)?;
        let rows = python(&rig, &browser, "atom.py", &[file.to_str().context("a path")?])?;
        ensure!(!rows.trim().is_empty(), "{query}: an empty feed");
    }
    // The same for programs.
    let of = |path: &str| -> Result<Value> { Ok(serde_json::from_slice(&served.get(path)?.body)?) };
    let first = of("/api/news?limit=2&articles=1")?;
    let next = first["next"].as_str().context("there is more")?;
    let second = of(&format!("/api/news?limit=2&articles=1&cursor={next}"))?;
    ensure!(first["rows"][0]["doc"] != second["rows"][0]["doc"], "{second}");
    ensure!(of("/api/news/overview")?["rows"][0]["articles"].as_u64() >= Some(9), "few articles");
    let story = &of("/api/news?q=bridge")?["rows"][0]["story"];
    let articles = of(&format!("/api/news/story/{story}"))?;
    ensure!(articles["rows"].as_array().map(Vec::len) == Some(3), "{articles}");
    if let Some(folder) = std::env::var_os("ARGIOPE_PICTURES") {
        for name in ["news.png", "story.png"] {
            std::fs::copy(shots.join(name), Path::new(&folder).join(name))?;
        }
    }
    served.stop()?;
    rig.run("data", &["verify"])?.ok().context("verify")?;
    Ok(())
}

#[test]
fn strangers_change_nothing_in_the_news_and_look_nowhere() -> Result<()> {
    let Some(rig) = Rig::new("web-news-strangers", &[])? else { return Ok(()) };
    let web = Watched::start(&[loopback(234)], |_| Answer::html("<h1>inside</h1>"))?;
    // Nothing was said of private addresses: none is asked.
    let mut served = Served::start(&rig, "data")?;
    let inside = web.url(0, "/");
    let look = format!("/news/quick?site={}", encoded(&inside));
    let api = format!("/api/news/quick?site={}", encoded(&inside));
    let cross =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n";
    for (path, status) in [(&look, 403), (&api, 401)] {
        let reply = served.get(path)?;
        ensure!(reply.status == status, "a stranger at {path}: {}", reply.head);
        let headers = format!("{}{cross}", served.as_operator());
        let reply = served.send(&served.request("GET", path, &headers, ""))?;
        ensure!(reply.status == 403, "a picture on another page at {path}: {}", reply.head);
    }
    let reply = served.get_as_operator(&look)?;
    ensure!(reply.text().contains("role=\"alert\""), "{}", reply.text());
    for site in [
        "http://localhost/",
        "http://169.254.169.254/latest/",
        "http://[::1]/",
        "http://0.0.0.0/",
        "file:///etc/passwd",
        "--help",
        "http://10.0.0.1/",
        "javascript:1",
        "http://2130706433/",
    ] {
        let path = format!("/news/quick?site={}", encoded(site));
        let reply = served.get_as_operator(&path)?;
        ensure!(reply.text().contains("role=\"alert\""), "{site}: {}", reply.text());
        ensure!(!reply.text().contains("root:"), "{site}");
    }
    ensure!(web.all().is_empty(), "somebody looked inside: {:?}", web.all());

    let (cookie, csrf) = (served.as_operator(), served.csrf().to_owned());
    let evil = format!("{cookie}Origin: https://evil.example\r\n");
    let posts = [
        ("/news/read", "kind=story&number=1&read=1"),
        ("/news/read/all", "view="),
        ("/news/rules", "act=add&action=hide&words=x"),
        ("/news/saved", "act=add&name=x&view=q%3Dx"),
        ("/news/sites", "act=add&site=evil.example"),
        ("/news/collect", "site="),
        ("/news/undo", "number=1"),
        ("/news/sites/import", "opml=x"),
    ];
    for (path, fields) in posts {
        let whole = format!("csrf={csrf}&{fields}");
        for (who, headers, body) in [
            ("nobody", "", whole.as_str()),
            ("without the field of our forms", cookie.as_str(), fields),
            ("from another origin", evil.as_str(), whole.as_str()),
        ] {
            let reply = served.send(&served.request("POST", path, headers, body))?;
            ensure!(reply.status == 403, "{who} at {path}: {}", reply.head);
        }
        if path != "/news/rules" && path != "/news/sites" {
            let reply = served.get_as_operator(path)?;
            ensure!(reply.status == 405, "a link at {path}: {}", reply.head);
        }
    }
    for path in ["/api/news/read", "/api/news/rules", "/api/news/sites", "/api/news/collect"] {
        let kind = "Content-Type: application/json\r\n";
        let reply = served.send(&served.request("POST", path, kind, "{}"))?;
        ensure!(reply.status == 401, "a stranger at {path}: {}", reply.head);
        let reply = served.send(&served.request("POST", path, &format!("{cookie}{kind}"), "{}"))?;
        ensure!(reply.status == 403, "a cookie alone at {path}: {}", reply.head);
    }
    let overview = served.get("/api/news/overview")?.text();
    ensure!(overview.contains("\"rules\":[]") && !overview.contains("evil"), "{overview}");

    // Pictures of others are for the pages of the news only.
    for (path, wide) in [
        ("/news", true),
        ("/news/sites", true),
        ("/", false),
        ("/crawl", false),
        ("/newsletter", false),
    ] {
        let reply = served.get(path)?;
        let policy = reply.header("content-security-policy");
        ensure!(policy.contains("http: https:") == wide, "{path}: {policy}");
        ensure!(
            !policy.contains("unsafe") && policy.contains("default-src 'none'"),
            "{path}: {policy}"
        );
    }
    // Odd values are said to be so, and nobody is led away.
    for path in [
        "/news?day=soon",
        "/news?after=x.y",
        "/news?site=%00",
        "/news/story/99999",
        "/news/story/x",
        "/news/story/-1",
    ] {
        let reply = served.get(path)?;
        ensure!(reply.status < 500, "{path}: {}", reply.head);
    }
    let reply = served.post("/news/read/all", "view=%2F%2Fevil.example%0d%0aX-Evil%3A1")?;
    ensure!(
        reply.header("location") == "/news" && !reply.head.contains("x-evil"),
        "{}",
        reply.head
    );
    let long = format!("act=add&action=hide&words={}", "x".repeat(5_000));
    ensure!(served.post("/news/rules", &long)?.status == 303, "a long rule");
    ensure!(served.get("/api/news/overview")?.text().contains("\"rules\":[]"), "it was taken");
    served.answers("strangers at the news")
}
