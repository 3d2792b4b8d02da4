//! The pages for reading, as `argiope serve` gives them: a site whose pages change and whose authors mean harm is crawled
//! and visited again, and every page is asked for over plain HTTP.

use crate::rig::{Rig, SHORT_LIMIT};
use crate::watched::{Answer, Asked, Watched, loopback};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use xtask::process::{Running, wait_until};

/// What a hostile page calls itself, and a link of it.
const EVIL: &str = "&lt;script&gt;alert(1)&lt;/script&gt; &quot;onload=x";

fn site(asked: &Asked, round: usize) -> Answer {
    match asked.path.as_str() {
        "/robots.txt" => Answer::text("User-agent: *\nDisallow: /private/\n"),
        "/" => Answer::html(
            "<html lang=en><title>The garden journal</title><p>News of spiders and their webs in the garden.\
             <a href=/story>a story of the orb weaver</a> <a href=/evil>evil</a> <a href=/gone>a page that goes</a>\
             <a href=/missing>missing</a> <a href='javascript:alert(9)'>no link</a> <a href=/quiet>quiet</a>\
             <a href=https://elsewhere.test/>elsewhere</a>",
        ),
        "/story" => Answer::html(format!(
            "<html lang=en><title>The orb weaver</title><p>The spider spins its web at {}. The wind tears it down and \
             the rain washes the threads away.",
            ["dawn", "dusk"][round % 2]
        ))
        .header("Last-Modified: Mon, 02 Nov 2026 08:00:00 GMT"),
        "/evil" => Answer::html(format!(
            "<title>{EVIL}</title><p>A hostile spider <a href=/story>&lt;img src=x&gt; words</a>"
        )),
        "/quiet" => Answer::html(
            "<meta name=robots content=noarchive><title>Quiet</title><p>The quiet spider wants no copies.",
        ),
        "/gone" if round == 0 => Answer::html("<title>Goes</title><p>A spider page that goes."),
        _ => Answer::status(404),
    }
}

/// The pages, being served.
struct Pages {
    _running: Running,
    address: SocketAddr,
}

impl Pages {
    fn start(rig: &Rig, data: &str) -> Result<Pages> {
        let flags = ["--format", "json", "serve", "--listen", "127.0.0.1:0", "--no-open"];
        let mut running = Running::start(&mut rig.argiope(data, &flags), &rig.dir, "pages")?;
        let mut row = Value::Null;
        wait_until("it serves", SHORT_LIMIT, || {
            ensure!(running.is_running()?, "it ended: {}", running.err_so_far());
            let text = std::fs::read_to_string(rig.dir.join("pages.out")).unwrap_or_default();
            let line = text.lines().next().and_then(|line| serde_json::from_str(line).ok());
            row = line.unwrap_or_default();
            Ok(row["url"].is_string())
        })?;
        let url = row["url"].as_str().unwrap_or_default();
        let address = url.trim_start_matches("http://").trim_end_matches('/').parse()?;
        Ok(Pages { _running: running, address })
    }

    /// Status and text of a page; whatever is wrong with every page is found here.
    fn get(&self, path: &str) -> Result<(u16, String)> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(40)))?;
        let address = self.address;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no head")?;
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).context("no status")?;
        let lower = body.to_ascii_lowercase();
        for wrong in [
            "<script>",
            "<img src=x",
            "href=\"javascript:",
            " style=\"",
            " onload=",
            " onclick=",
            "<style",
            "NaN",
            "Some(",
            "&amp;lt;",
        ] {
            ensure!(
                !body.contains(wrong) && !lower.contains(wrong),
                "{path} holds {wrong}: {body}"
            );
        }
        if status == 200 {
            ensure!(lower.matches("<h1").count() == 1, "{path}: not one first heading");
            headings(body).with_context(|| format!("headings of {path}"))?;
        }
        Ok((status, body.to_owned()))
    }

    /// The page of a path that must be there and hold these.
    fn holds(&self, path: &str, wanted: &[&str]) -> Result<String> {
        let (status, body) = self.get(path)?;
        ensure!(status == 200, "{path}: {status}: {body}");
        for wanted in wanted {
            ensure!(body.contains(wanted), "{path} does not hold {wanted}: {body}");
        }
        Ok(body)
    }
}

/// No heading is more than one step below the one before it.
fn headings(body: &str) -> Result<()> {
    let mut last = 0;
    for piece in body.split("<h").skip(1) {
        let Some(level) = piece.chars().next().and_then(|c| c.to_digit(10)) else { continue };
        ensure!(level <= last + 1, "h{level} under h{last}");
        last = level;
    }
    Ok(())
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn every_page_for_reading_tells_what_is_kept_and_lets_nothing_through() -> Result<()> {
    let Some(rig) = Rig::new("web-views", &[])? else { return Ok(()) };
    let round = Arc::new(AtomicUsize::new(0));
    let now = round.clone();
    let web =
        Watched::start(&[loopback(61)], move |asked| site(asked, now.load(Ordering::SeqCst)))?;
    let at = |path: &str| web.url(0, path);
    rig.crawl("data", &[&at("/"), "--scope", "host"])?;
    round.store(1, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(1100));
    let again = ["refresh", "--all", "--delay", "0s", "--allow-private"];
    rig.run("data", &again)?.ok().context("refresh")?;

    let pages = Pages::start(&rig, "data")?;
    let page = |path: &str| format!("/page?url={}", encoded(&at(path)));
    pages.holds("/", &["pages are kept here"])?;
    let found =
        pages.holds("/search?q=spider", &["<mark>", "rel=\"alternate\"", "/feed.atom?q=spider"])?;
    ensure!(found.contains("5 pages") || found.contains("4 pages"), "{found}");
    pages.holds("/search?q=spider&lang=en", &["Language: ", "orb weaver"])?;
    pages.holds("/search?q=spidre", &["Did you mean", "What can be written"])?;
    pages.holds("/search?q=spider&at=2020-01-01", &["Nothing was found"])?;
    pages.holds("/search", &["What can be written"])?;
    for (path, wanted) in
        [("/search?q=%22open", "quotation mark"), ("/search?q=spider&at=soon", "is no time")]
    {
        let (status, body) = pages.get(path)?;
        ensure!(status == 400 && body.contains(wanted), "{path}: {status} {body}");
    }

    pages.holds(
        &page("/story"),
        &[
            "2026-11-02 08:00",
            "2 visits, 1 change",
            "a story of the orb weaver",
            "linking here: 2",
            "Next visit from",
        ],
    )?;
    pages.holds(&page("/evil"), &["&lt;script&gt;alert(1)", "&lt;img src=x&gt; words"])?;
    pages.holds(&page("/gone"), &["gone", "404"])?;
    let (status, unmet) =
        pages.get(&format!("/page?url={}", encoded("https://elsewhere.test/")))?;
    ensure!(
        status == 404 && unmet.contains(&at("/")) && unmet.contains("no job has met it"),
        "{unmet}"
    );
    let (status, odd) = pages.get("/page?url=javascript%3Aalert(1)")?;
    ensure!(status == 404 && odd.contains("Nothing is known"), "{odd}");

    let of = |view: &str, path: &str| format!("/page/{view}?url={}", encoded(&at(path)));
    pages.holds(&of("text", "/story"), &["at dusk"])?;
    pages.holds(&of("diff", "/story"), &["<del>dawn</del>", "<ins>dusk</ins>", "<select"])?;
    pages.holds(&of("links", "/story"), &["a story of the orb weaver"])?;
    let quiet = pages.holds(&of("text", "/quiet"), &["noarchive"])?;
    ensure!(!quiet.contains("wants no copies"), "{quiet}");

    let name = encoded(&web.url(0, ""));
    pages.holds("/sites", &[&web.url(0, ""), "1 host"])?;
    pages.holds(
        &format!("/site?name={name}"),
        &["Disallow: /private/", "Over time", "client-error 404", "Broken links", "1 change in"],
    )?;
    pages.holds("/broken", &["/missing", "client-error 404"])?;
    pages.holds(&format!("/broken?site={name}"), &["/missing"])?;
    for by in ["backlinks", "sites", "rank", "harmonic"] {
        pages.holds(&format!("/top?by={by}"), &["/story"])?;
    }
    pages.holds("/top?of=sites", &["Top sites"])?;
    pages.holds("/words?prefix=spi", &["/word?w=spider"])?;
    pages.holds("/words?by=alphabet", &["/word?w="])?;
    pages.holds("/word?w=spider", &[&at("/story")])?;
    pages.holds("/new", &["<del>dawn</del>", "<ins>dusk</ins>", "badge bad\">gone"])?;
    ensure!(pages.get("/site?name=nobody.test")?.0 == 404);
    ensure!(pages.get(&format!("/search?q={}", "x".repeat(3000)))?.0 == 400);
    Ok(())
}
