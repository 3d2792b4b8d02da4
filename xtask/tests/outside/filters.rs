//! Filters seen from outside: every kind of rule on a real site, scripts that misbehave, a filter
//! changed while a crawl runs, presets, and what is said of mistakes.

use crate::cluster::{CARELESS, Cluster};
use crate::fleet_together::Team;
use crate::rig::{CRAWL_LIMIT, Rig, SHORT_LIMIT, count, summary};
use crate::watched::{Answer, Asked, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use xtask::process::wait_until;

/// The links of a site with a little of everything.
const LINKS: [&str; 14] = [
    "/a",
    "/a/b/c/d",
    "/docs/one.html",
    "/docs/two.PDF",
    "/t?id=1",
    "/t?id=1&sort=up",
    "/t?id=1&page=2&x=3",
    "/print/a",
    "/2024/old",
    "/german",
    "/english",
    "/plain",
    "/long",
    "/kept",
];

fn site(asked: &Asked) -> Answer {
    match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        "/" => page("start", LINKS),
        "/german" => Answer::html("<html lang=de><p>Eine Spinne sitzt im Netz und wartet."),
        "/english" => Answer::html("<html lang=en><p>A spider sits in its web and waits."),
        "/plain" => Answer::text("only words, and no markup at all"),
        "/long" => Answer::html(format!("<p>{}", "web ".repeat(20_000))),
        "/docs/two.PDF" => Answer::of("application/pdf", "%PDF-1.4 not much of one"),
        path => page(path, [""; 0]),
    }
}

fn write(rig: &Rig, name: &str, text: &str) -> Result<()> {
    std::fs::write(rig.dir.join(name), text).with_context(|| format!("write {name}"))
}

#[test]
fn every_kind_of_rule_keeps_from_a_site_what_it_says() -> Result<()> {
    let Some(rig) = Rig::new("filters-rules", &[])? else { return Ok(()) };
    let web = Watched::start(&[loopback(90)], site)?;
    let all: BTreeSet<&str> = LINKS.into_iter().collect();
    let without = |some: &[&'static str]| {
        all.iter().copied().filter(|path| !some.contains(path)).collect::<BTreeSet<&str>>()
    };
    let only = |some: &[&'static str]| some.iter().copied().collect::<BTreeSet<&str>>();
    let with_query = ["/t?id=1", "/t?id=1&sort=up", "/t?id=1&page=2&x=3"];
    write(&rig, "list.txt", "# nobody\nexample.org\nexample.net\n")?;
    write(
        &rig,
        "no_print.rhai",
        "fn crawl(url) { url.segments.len() == 0 || url.segments[0] != \"print\" }",
    )?;
    // What is asked for; of answers that are refused, the last column says how many.
    let cases: &[(&str, BTreeSet<&str>, u64)] = &[
        ("domain = '127.0.2.90'", all.clone(), 0),
        ("domain = 'example.org'", only(&[]), 0),
        ("domain_file = 'list.txt'", only(&[]), 0),
        ("not = { prefix = '/docs/' }", without(&["/docs/one.html", "/docs/two.PDF"]), 0),
        ("suffix = ['.html', '.pdf']", only(&["/docs/one.html", "/docs/two.PDF"]), 0),
        ("protocol = 'https'", only(&[]), 0),
        ("regex = ['/[0-9]{4}/', '^http://127[^/]*/a$']", only(&["/2024/old", "/a"]), 0),
        (
            "max_path_depth = 1\nno_param = 'id'",
            without(
                &[
                    &with_query[..],
                    &["/a/b/c/d", "/docs/one.html", "/docs/two.PDF", "/print/a", "/2024/old"],
                ]
                .concat(),
            ),
            0,
        ),
        ("min_path_depth = 4", only(&["/a/b/c/d"]), 0),
        ("param = ['so*', 'page']", only(&["/t?id=1&sort=up", "/t?id=1&page=2&x=3"]), 0),
        ("max_params = 1", without(&with_query[1..]), 0),
        ("only_params = ['id', 'sort']", without(&with_query[2..]), 0),
        (
            "all = [{ param = 'id' }, { not = { any = [{ param = 'sort' }, { param = 'x' }] } }]",
            only(&["/t?id=1"]),
            0,
        ),
        ("type = 'html'", all.clone(), 2),
        ("any = [{ max_size = '10KB' }, { suffix = '/kept' }]", all.clone(), 1),
        ("any = [{ language = ['en', 'unknown'] }, { param = 'id' }]", all.clone(), 1),
        ("not = { language = 'de' }\nregex = '(man|ish)$'", only(&["/german", "/english"]), 1),
        ("script = 'no_print.rhai'", without(&["/print/a"]), 0),
    ];
    for (number, (rule, wanted, answers)) in cases.iter().enumerate() {
        write(&rig, "rule.toml", rule)?;
        let (data, before) = (format!("data{number}"), web.all().len());
        let args = [&web.url(0, "/"), "--filter", "rule.toml", "--types", "all"];
        let told = rig.crawl(&data, &args).with_context(|| format!("under {rule}"))?;
        let asked: BTreeSet<String> =
            web.all().split_off(before).into_iter().map(|s| s.path).collect();
        let asked: BTreeSet<&str> = asked.iter().map(String::as_str).collect();
        let asked = &asked - &only(&["/", "/robots.txt"]);
        ensure!(asked == *wanted, "under {rule}: asked for {asked:?}, wanted {wanted:?}");
        let skipped = (all.len() - wanted.len()) as u64 + answers;
        ensure!(count(&told["skipped"], "filter")? == skipped, "under {rule}: {told}");
        ensure!(count(&told, "fetched")? == 1 + all.len() as u64 - skipped, "under {rule}: {told}");
        ensure!(count(&told, "queued")? == 0 && told["ended"] == "done", "under {rule}: {told}");
    }
    // Nothing of an answer that is refused is kept, and it says why.
    let doc = rig.doc("data13", &web.url(0, "/plain"))?;
    ensure!(doc["state"] == "skipped: filter", "{doc}");
    ensure!(doc["detail"].as_str().is_some_and(|why| why.contains("text/plain")), "{doc}");
    let kept = rig.captures("data13")?;
    ensure!(kept.iter().all(|capture| !capture.url.ends_with("/plain")), "it is in the archive");
    let why = rig.rows("data7", &["explain", &web.url(0, "/print/a")])?;
    let rule =
        why.iter().find(|row| row["rule"] == "filter (job 1)").context("no row of the filter")?;
    ensure!(rule["verdict"] == "no", "{rule}");
    rig.verify("data13")
}

#[test]
fn scripts_that_loop_or_want_memory_are_stopped_and_the_crawl_ends() -> Result<()> {
    let Some(rig) = Rig::new("filters-scripts", &[])? else { return Ok(()) };
    let web = Watched::start(&[loopback(91)], |asked| match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        "/" => page("start", (0..60).map(|n| format!("/{}/{n}", ["good", "bad"][n % 2]))),
        path => page(path, [""; 0]),
    })?;
    for (name, script, at, why) in [
        ("loops", "  loop { let x = 1; }", 1, "operations"),
        ("grows", "  let s = \"xxxxxxxxxxxxxxxx\"; loop { s += s; }", 1, "texts of more than"),
        ("lists", "  let a = []; loop { a.push(a); }", 1, "lists of more than"),
        ("calls", "  return crawl(url);", 1, "calls within each other"),
        ("fails", "  return url.segments[9] == \"\";", 3, "bounds"),
    ] {
        let file = format!("{name}.rhai");
        let text = format!(
            "fn crawl(url) {{\n  if url.segments[0] == \"good\" {{ return true; }}\n{script}\n}}\n"
        );
        write(&rig, &file, &text)?;
        let before = web.all().len();
        let begun = Instant::now();
        let running = rig.start_crawl(name, &[&web.url(0, "/"), "--filter", &file])?;
        let done = running.wait(SHORT_LIMIT)?.ok().with_context(|| format!("under {file}"))?;
        let (told, err) = (summary(&done)?, &done.err);
        ensure!(told["ended"] == "done" && count(&told, "fetched")? == 31, "under {file}: {told}");
        ensure!(count(&told["skipped"], "filter")? == 30, "under {file}: {told}");
        let asked = web.all().split_off(before);
        ensure!(asked.iter().all(|seen| !seen.path.starts_with("/bad")), "under {file}");
        // One line for all thirty, with file and line and one of the URLs.
        let lines: Vec<&str> =
            err.lines().filter(|line| line.contains(&format!("{file}:{at}: "))).collect();
        ensure!(lines.len() == 1, "under {file} it says {err}");
        ensure!(lines[0].contains(why) && lines[0].contains("/bad/"), "under {file} it says {err}");
        let peak = told["peak_rss_mb"].as_f64().context("no memory in the summary")?;
        ensure!(peak < 400.0, "under {file} {peak} MB were held");
        eprintln!("{file}: {:.1} s, {peak:.0} MB", begun.elapsed().as_secs_f64());
    }
    Ok(())
}

#[test]
fn a_filter_changed_in_flight_is_obeyed_by_the_next_request_and_undone_by_the_former() -> Result<()>
{
    let Some(rig) = Rig::new("filters-flight", &[])? else { return Ok(()) };
    // Pages without end below /trap, and some good ones.
    let web = Watched::start(&[loopback(92)], |asked| {
        let n: usize = asked.path.rsplit('/').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        let answer = match asked.path.as_str() {
            "/robots.txt" => Answer::status(404),
            path if path.starts_with("/trap/") => {
                page(path, [1, 2].map(|m| format!("/trap/{}", 2 * n + m)))
            }
            path => page(path, ["/trap/0".to_owned(), format!("/good/{}", (n + 1).min(40))]),
        };
        answer.later(Duration::from_millis(5))
    })?;
    write(&rig, "argiope.toml", "[filters.no_trap]\nnot = { prefix = '/trap/' }\n")?;
    let mut running = rig.start_crawl("data", &[&web.url(0, "/good/0")])?;
    wait_until("the trap is walked into", SHORT_LIMIT, || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        Ok(web.paths(0).keys().filter(|path| path.starts_with("/trap/")).count() >= 10)
    })?;
    let said = rig.run("data", &["filter", "set", "no_trap"])?.ok()?;
    let at = Instant::now();
    ensure!(
        said.err.contains("Job 1 obeys no_trap") && said.err.contains("filter set --none"),
        "{}",
        said.err
    );
    let told = summary(&running.wait(SHORT_LIMIT)?.ok().context("it ends")?)?;
    let after =
        web.all().into_iter().filter(|seen| seen.arrived > at && seen.path.starts_with("/trap/"));
    let after: Vec<_> = after.map(|seen| seen.path).collect();
    ensure!(after.len() <= 1, "asked for after it was refused: {after:?}");
    ensure!(told["ended"] == "done" && count(&told, "queued")? == 0, "{told}");
    ensure!(web.paths(0).contains_key("/good/40"), "the good pages are all there");
    let skipped = count(&told["skipped"], "filter")?;
    ensure!(skipped > 0, "{told}");
    let jobs = rig.rows("data", &["jobs"])?;
    ensure!(jobs[0]["filter"] == "no_trap", "{jobs:?}");
    let tested = rig.run("data", &["filter", "test", "http://a.test/trap/1", "--job", "1"])?;
    ensure!(
        tested.code == Some(1) && tested.out_text().contains("it begins with /trap/"),
        "{}",
        tested.out_text()
    );

    // Taken off while nobody crawls, what it refused is queued; it goes on and is stopped again.
    let rows = rig.rows("data", &["filter", "set", "--none"])?;
    ensure!(rows[0]["former"] == "no_trap" && rows[0]["urls"] == skipped, "{rows:?}");
    let asked = web.all().len();
    let mut running = rig.start_crawl("data", &[])?;
    wait_until("the trap is walked into again", SHORT_LIMIT, || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        Ok(web.all().len() >= asked + 20)
    })?;
    rig.run("data", &["filter", "set", "no_trap", "--job", "1"])?.ok()?;
    let told = summary(&running.wait(SHORT_LIMIT)?.ok().context("it ends again")?)?;
    ensure!(told["ended"] == "done", "{told}");
    // The same order goes on with the filter the job has; nothing is left of it.
    let fetched = count(&told, "fetched")?;
    let again = rig.crawl("data", &[&web.url(0, "/good/0")])?;
    ensure!(again["documents"] == fetched && again["fetched"] == 0, "{again}");
    rig.verify("data")
}

#[test]
fn a_preset_leaves_out_copies_and_says_what_it_set() -> Result<()> {
    let Some(rig) = Rig::new("filters-presets", &[])? else { return Ok(()) };
    let web = Watched::start(&[loopback(93)], |asked| match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        "/docs/" => page(
            "docs",
            ["/docs/a.html", "/docs/search.html?q=x", "/docs/_sources/a.txt", "/other"],
        ),
        "/forum/" => page(
            "forum",
            [
                "/t?t=1",
                "/t?t=1&sort=up",
                "/t?sid=0123456789abcdef0&t=1",
                "/posting.php?mode=reply&t=1",
                "/login",
            ],
        ),
        path => page(path, [""; 0]),
    })?;
    let asked = |before: usize| -> BTreeSet<String> {
        web.all()
            .split_off(before)
            .into_iter()
            .map(|seen| seen.path)
            .filter(|p| p != "/robots.txt")
            .collect()
    };
    let mut before = 0;
    for (preset, start, wanted) in [
        ("docs", "/docs/", &["/docs/", "/docs/a.html"]),
        ("forums", "/forum/", &["/forum/", "/t?t=1"]),
    ] {
        rig.crawl(preset, &[&web.url(0, start), "--preset", preset])?;
        let wanted: BTreeSet<String> = wanted.iter().map(|path| (*path).to_owned()).collect();
        ensure!(asked(before) == wanted, "{preset}: {:?}", asked(before));
        before = web.all().len();
        let rows = rig.rows(preset, &["config", "show", "--preset", preset])?;
        let scope = rows.iter().find(|row| row["key"] == "crawl.scope").context("no scope")?;
        ensure!(scope["origin"] == format!("preset {preset}"), "{scope}");
    }
    // What the user says goes before.
    rig.crawl(
        "own",
        &[&web.url(0, "/docs/"), "--preset", "docs", "--scope", "host", "--filter", "none"],
    )?;
    ensure!(asked(before).len() == 5, "{:?}", asked(before));
    let list = rig.run("own", &["filter", "list"])?.ok()?.out_text();
    ensure!(["news", "blogs", "forums", "docs"].iter().all(|name| list.contains(name)), "{list}");
    Ok(())
}

#[test]
fn a_wrong_filter_is_told_with_file_and_line_before_anything_is_asked() -> Result<()> {
    let Some(rig) = Rig::new("filters-wrong", &[])? else { return Ok(()) };
    let web = Watched::start(&[loopback(94)], site)?;
    write(&rig, "bad.rhai", "fn crawl(url) {\n  url.depth >\n}\n")?;
    write(&rig, "list.txt", "a.test\nnot a domain\n")?;
    for (text, said) in [
        (
            "[filters.a]\nnot = 'b'\n[filters.b]\nall = ['a']\n",
            "argiope.toml:4: filters lead in a circle: a > b > a",
        ),
        ("[filters.a]\n\nfilter = 'nowhere'\n", "argiope.toml:3: there is no filter \"nowhere\""),
        ("[filters.a]\nregex = '('\n", "argiope.toml:2: regex \"(\" is not an expression"),
        (
            "[filters.a]\ndomains = 'x'\n",
            "argiope.toml:2: domains is not a rule of a filter; did you mean domain?",
        ),
        ("[filters.a]\nscript = 'bad.rhai'\n", "bad.rhai:3: "),
        ("[filters.a]\ndomain_file = 'list.txt'\n", "list.txt:2: "),
    ] {
        write(&rig, "argiope.toml", text)?;
        let done =
            rig.run("data", &["crawl", "--allow-private", &web.url(0, "/"), "--filter", "a"])?;
        ensure!(done.code == Some(2), "{text} gives {:?}: {}", done.code, done.err);
        ensure!(done.err.contains(said), "{text} gives {}", done.err);
    }
    write(&rig, "argiope.toml", "")?;
    let done = rig.run("data", &["crawl", &web.url(0, "/"), "--filter", "bad.rhai"])?;
    ensure!(done.code == Some(2) && done.err.contains("bad.rhai:3: "), "{}", done.err);
    ensure!(
        web.all().is_empty() && !rig.dir.join("data/manifest.json").exists(),
        "nothing was begun"
    );
    // A start URL that its own filter refuses is asked for, and that is said.
    let done = rig.run(
        "start",
        &[
            "crawl",
            "--allow-private",
            "--delay",
            "0s",
            &web.url(0, "/a"),
            "--filter",
            "docs",
            "--set",
            "crawl.filter=docs",
        ],
    )?;
    ensure!(done.code == Some(2) && done.err.contains("give one of them"), "{}", done.err);
    write(&rig, "own.toml", "prefix = '/docs/'\n")?;
    let args =
        ["crawl", "--allow-private", "--delay", "0s", &web.url(0, "/a"), "--filter", "own.toml"];
    let done = rig.run("start", &args)?.ok()?;
    ensure!(done.err.contains("Start URLs are asked for all the same"), "{}", done.err);
    ensure!(web.paths(0).contains_key("/a"), "{:?}", web.paths(0));
    Ok(())
}

#[test]
fn all_workers_of_a_fleet_obey_a_filter_that_one_command_has_set() -> Result<()> {
    let Some(rig) = Rig::new("filters-fleet", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    // Each host has pages without end and a few good ones.
    let addresses: Vec<_> = (95..103).map(loopback).collect();
    let web = Watched::start(&addresses, |asked| {
        let n: usize = asked.path.rsplit('/').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        match asked.path.as_str() {
            "/robots.txt" => Answer::status(404),
            path if path.starts_with("/trap/") => page(path, [format!("/trap/{}", n + 1)]),
            path => page(path, ["/trap/0".to_owned(), format!("/good/{}", (n + 1).min(5))]),
        }
    })?;
    let mut team = Team::new(rig, &cluster, &["--delay", "20ms"]);
    team.start(&["first", "second"])?;
    let starts: Vec<String> = (0..addresses.len()).map(|host| web.url(host, "/good/0")).collect();
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    let mut running = team.crawl(&starts)?;
    let trapped = || web.all().iter().filter(|seen| seen.path.starts_with("/trap/")).count();
    wait_until("the trap is walked into", CRAWL_LIMIT, || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        Ok(trapped() >= 100)
    })?;
    write(&team.rig, "argiope.toml", "[filters.no_trap]\nnot = { prefix = '/trap/' }\n")?;
    let set = |args: &[&str]| {
        let args = [args, &["--job", "1", "--store", &team.url]].concat();
        team.rig.rows("look", &args)
    };
    let rows = set(&["filter", "set", "no_trap"])?;
    ensure!(rows[0]["filter"] == "no_trap" && rows[0]["former"].is_null(), "{rows:?}");
    let at = Instant::now();
    let told = summary(&running.wait(CRAWL_LIMIT)?.ok().context("it ends")?)?;
    ensure!(told["ended"] == "done" && count(&told, "queued")? == 0, "{told}");
    let late = web.all().into_iter().filter(|seen| seen.path.starts_with("/trap/"));
    let late = late.map(|seen| seen.arrived.saturating_duration_since(at)).max();
    eprintln!("the last request for what was refused came {late:?} after the command");
    ensure!(late < Some(Duration::from_secs(5)), "asked for {late:?} after it was refused");
    for host in 0..addresses.len() {
        ensure!(web.paths(host).contains_key("/good/5"), "host {host}: {:?}", web.paths(host));
    }
    let rows = set(&["filter", "set", "--none"])?;
    ensure!(rows[0]["urls"].as_u64() == Some(count(&told["skipped"], "filter")?), "{rows:?}");
    team.end()?;
    Ok(())
}
