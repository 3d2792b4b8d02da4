//! Attacks on the pages of `argiope serve`: each is tried over real sockets, refused, and the server goes on.

use crate::rig::{Rig, SHORT_LIMIT};
use crate::served::{Served, TOKEN, encoded};
use crate::watched::{Answer, Asked, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use xtask::process::wait_until;

const FETCHED_AT: &str = "20991231235959";

/// A directory with a page in it, and a server on it.
fn served(name: &str) -> Result<Option<(Rig, Served, Watched)>> {
    let Some(rig) = Rig::new(name, &[])? else { return Ok(None) };
    let web = Watched::start(&[loopback(221)], |asked| match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        _ => page("a page", ["/"]),
    })?;
    rig.crawl("data", &[&web.url(0, "/")])?;
    let served = Served::start(&rig, "data")?;
    Ok(Some((rig, served, web)))
}

#[test]
fn forged_requests_change_nothing() -> Result<()> {
    let Some((_rig, mut served, _web)) = served("web-forged")? else { return Ok(()) };
    let (address, cookie) = (served.address(), served.as_operator());
    let csrf = served.csrf().to_owned();
    let form = format!("csrf={csrf}&id=1&act=pause");
    let origin = |from: &str| format!("{cookie}Origin: {from}\r\n");
    let bearer = "Authorization: Bearer wrong\r\n".to_owned();
    let cases = [
        ("nobody", String::new(), &*form),
        ("without the field of our forms", cookie.clone(), "id=1&act=pause"),
        ("with a wrong one", cookie.clone(), "csrf=00&id=1&act=pause"),
        ("from another origin", origin("https://evil.example"), &form),
        ("from another port", origin("http://127.0.0.1:1"), &form),
        ("from a sandbox", origin("null"), &form),
        ("from another site", format!("{cookie}Sec-Fetch-Site: cross-site\r\n"), &form),
        ("from a neighbour", format!("{cookie}Sec-Fetch-Site: same-site\r\n"), &form),
        ("with a wrong token", bearer, &form),
        ("with a made-up cookie", format!("Cookie: argiope-{}=1\r\n", address.port()), &form),
    ];
    for (who, headers, body) in cases {
        for path in ["/crawl/job", "/crawl/stop", "/crawl/start", "/crawl/site", "/logout"] {
            let body = match path {
                "/crawl/site" => format!("{body}&name=example.org"),
                _ => body.to_owned(),
            };
            let reply = served.send(&served.request("POST", path, &headers, &body))?;
            ensure!(reply.status == 403, "{who} at {path}: {}", reply.head);
        }
    }
    // A link does nothing, whoever follows it.
    for path in ["/crawl/job?id=1&act=pause", "/crawl/stop", "/logout"] {
        let reply = served.get_as_operator(&format!("{path}&csrf={csrf}"))?;
        ensure!(matches!(reply.status, 404 | 405), "{path}: {}", reply.head);
    }
    // Our own form is heard, and a job that is not there is said to be missing.
    let reply = served.post("/crawl/job", "id=77&act=pause")?;
    ensure!(reply.status == 303 && reply.header("location") == "/crawl", "{}", reply.head);
    let said = served.get_as_operator("/crawl")?.text();
    ensure!(said.contains("there is no job 77"), "{said}");
    ensure!(!served.get("/crawl")?.text().contains("there is no job 77"), "readers hear nothing");
    // What loses something is asked twice.
    let reply = served.post("/crawl/job", "id=1&act=drop")?;
    ensure!(reply.status == 200 && reply.text().contains("Drop job 1?"), "{}", reply.text());
    served.answers("forged requests")
}

#[test]
fn strangers_names_and_frames_lead_nowhere() -> Result<()> {
    let Some((_rig, mut served, _web)) = served("web-names")? else { return Ok(()) };
    let port = served.address().port();
    let hosts = [
        format!("Host: evil.example:{port}\r\n"),
        format!("Host: 127.0.0.1.evil.example:{port}\r\n"),
        "Host: 192.0.2.7\r\n".to_owned(),
        "Host: \r\n".to_owned(),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"),
        String::new(),
    ];
    for host in hosts {
        let request = format!("GET /crawl HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
        let reply = served.send(request.as_bytes())?;
        ensure!(matches!(reply.status, 400 | 421), "{host:?}: {}", reply.head);
        ensure!(!reply.text().contains("Jobs"), "{host:?} sees the page");
    }
    let absolute = format!(
        "GET http://evil.example/crawl HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    );
    let reply = served.send(absolute.as_bytes())?;
    ensure!(matches!(reply.status, 400 | 421), "absolute: {}", reply.head);
    // Frames and embedding.
    for path in ["/", "/crawl", "/login", "/nothing"] {
        let reply = served.get(path)?;
        let policy = reply.header("content-security-policy");
        for part in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"] {
            ensure!(policy.contains(part), "{path}: {policy}");
        }
        ensure!(!policy.contains("unsafe"), "{path}: {policy}");
        ensure!(reply.header("x-frame-options") == "DENY", "{path}: {}", reply.head);
        ensure!(reply.header("x-content-type-options") == "nosniff", "{path}: {}", reply.head);
        ensure!(reply.header("cross-origin-resource-policy") == "same-origin", "{path}");
        ensure!(reply.header("access-control-allow-origin").is_empty(), "{path}: {}", reply.head);
    }
    let embedded =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n";
    let reply = served.send(&served.request("GET", "/crawl", embedded, ""))?;
    ensure!(reply.status == 403, "{}", reply.head);
    let framed =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n";
    let reply = served.send(&served.request("GET", "/crawl", framed, ""))?;
    ensure!(reply.status == 403, "{}", reply.head);
    let link =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n";
    let reply = served.send(&served.request("GET", "/crawl", link, ""))?;
    ensure!(reply.status == 200, "a link leads here: {}", reply.head);
    served.answers("strangers")
}

#[test]
fn paths_and_values_that_are_too_much_or_no_text_are_refused() -> Result<()> {
    let Some((_rig, mut served, _web)) = served("web-values")? else { return Ok(()) };
    // Nothing outside the archive can be read.
    for path in [
        "/assets/../../../../etc/passwd",
        "/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%2f..%2f..%2fetc%2fpasswd",
        "/..//..//etc/passwd",
        "/memento/20260101000000/file:///etc/passwd",
        "/memento/20260101000000/../../../../etc/passwd",
        "/memento/20260101000000/http://127.0.0.1:1/../../etc/passwd",
        "/memento/../../etc/passwd",
        "/copy?url=file:///etc/passwd",
        "/copy?url=/etc/passwd&at=20260101000000",
    ] {
        let reply = served.get(path)?;
        ensure!((400..500).contains(&reply.status), "{path}: {}", reply.head);
        ensure!(!reply.text().contains("root:"), "{path} was read");
    }
    // No text, half a text, and what is no request at all.
    for path in [
        "/copy?url=%00",
        "/copy?url=%ff%fe",
        "/copy?url=%c0%af",
        "/copy?url=http://a%00b/",
        "/copy?url=http://a.test/&at=%F0%9F%92%A9%F0%9F%92%A9",
        "/memento/20260101000000/%ff%00",
        "/memento/99999999999999/http://a.test/",
        "/memento/x/http://a.test/",
        "/%00",
        "/%ff",
        "/%",
    ] {
        let reply = served.get(path)?;
        ensure!((400..500).contains(&reply.status), "{path}: {}", reply.head);
    }
    let raw: [&[u8]; 5] = [
        b"GET /\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        b"GET /\0 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: \0\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ];
    for bytes in raw {
        // Hung up on, or refused.
        let mut stream = served.connect()?;
        stream.write_all(bytes)?;
        stream.shutdown(std::net::Shutdown::Write)?;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let fine = answer.is_empty() || answer.starts_with("HTTP/1.1 4");
        ensure!(fine, "{:?}: {answer}", String::from_utf8_lossy(bytes));
    }
    // Too much of everything.
    let long = "x".repeat(100_000);
    let many: String = (0..1_000).map(|n| format!("a{n}=1&")).collect();
    let headers: String = (0..5_000).map(|n| format!("X-{n}: 1\r\n")).collect();
    let address = served.address();
    let body = "a".repeat(3 << 20);
    for (what, request) in [
        ("a long path", served.request("GET", &format!("/{long}"), "", "")),
        ("a long query", served.request("GET", &format!("/crawl?q={long}"), "", "")),
        ("many parameters", served.request("GET", &format!("/crawl?{many}"), "", "")),
        ("a long header", served.request("GET", "/crawl", &format!("X-A: {long}\r\n"), "")),
        ("many headers", served.request("GET", "/crawl", &headers, "")),
        ("a long body", served.request("POST", "/crawl/start", &served.as_operator(), &body)),
        ("a long login", served.request("POST", "/login", "", &format!("token={body}"))),
        ("a body that is said to be endless", format!("POST /crawl/start HTTP/1.1\r\nHost: {address}\r\n{}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 99999999999\r\nConnection: close\r\n\r\n", served.as_operator()).into_bytes()),
    ] {
        let reply = served.send(&request).with_context(|| what.to_owned())?;
        ensure!(matches!(reply.status, 400 | 413 | 414 | 431), "{what}: {}", reply.head);
        served.answers(what)?;
    }
    for method in ["TRACE", "CONNECT", "DELETE", "PUT", "PROPFIND"] {
        let reply = served.send(&served.request(method, "/crawl", &served.as_operator(), ""))?;
        ensure!((400..500).contains(&reply.status), "{method}: {}", reply.head);
    }
    // Nothing that is sent becomes a header of ours.
    let evil = "%0d%0aX-Evil:%201";
    for path in [
        format!("/crawl{evil}?token={TOKEN}"),
        format!("/crawl?token={TOKEN}&x={evil}"),
        format!("//evil.example/%2e%2e?token={TOKEN}"),
        format!("/\\evil.example?token={TOKEN}"),
    ] {
        let reply = served.get(&path)?;
        ensure!(!reply.head.lines().any(|line| line.starts_with("x-evil")), "{}", reply.head);
        let to = reply.header("location");
        let away = to.starts_with("//") || to.starts_with("/\\") || to.contains("://");
        ensure!(!away, "{path} leads to {to}");
    }
    let reply = served.post("/crawl/site", &format!("act=exclude&name=a.test{evil}"))?;
    ensure!(reply.status == 400, "{}", reply.head);
    let reply = served.post("/crawl/site", "act=exclude&name=//evil.example/x")?;
    ensure!(reply.header("location").starts_with("/site?name="), "{}", reply.head);
    served.answers("odd values")
}

#[test]
fn floods_and_slow_clients_are_ended_and_others_are_served() -> Result<()> {
    let Some((_rig, mut served, _web)) = served("web-flood")? else { return Ok(()) };
    let address = served.address();
    // Viewers of events are bounded, and their places come back when they go.
    let look = |served: &Served| -> Result<(TcpStream, u16)> {
        let mut stream = served.connect()?;
        let head = format!("GET /api/events HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.write_all(head.as_bytes())?;
        let mut first = [0; 12];
        stream.read_exact(&mut first)?;
        let status = std::str::from_utf8(&first[9..]).ok().and_then(|s| s.parse().ok());
        Ok((stream, status.context("no status")?))
    };
    let viewers: Vec<_> = (0..40).map(|_| look(&served)).collect::<Result<_>>()?;
    let taken = viewers.iter().filter(|(_, status)| *status == 200).count();
    ensure!(taken == 32, "{taken} look at once");
    ensure!(viewers.iter().all(|(_, status)| matches!(status, 200 | 503)), "others are told");
    served.answers("many viewers")?;
    drop(viewers);
    wait_until("viewers are let in again", SHORT_LIMIT, || Ok(look(&served)?.1 == 200))?;
    // Many questions at once: answered or sent away.
    std::thread::scope(|scope| -> Result<()> {
        let served = &served;
        let asked: Vec<_> = (0..200).map(|_| scope.spawn(|| served.get("/crawl"))).collect();
        let mut answered = 0;
        for one in asked {
            // Who is hung up on gets no answer at all.
            let Ok(Ok(reply)) = one.join() else { continue };
            ensure!(matches!(reply.status, 200 | 503), "{}", reply.head);
            answered += usize::from(reply.status == 200);
        }
        ensure!(answered > 10, "only {answered} of 200 were answered");
        Ok(())
    })?;
    served.answers("many questions")?;
    // Connections that say nothing: who comes then is told so at once, and soon they are gone.
    let silent: Vec<TcpStream> = (0..300).map(|_| served.connect()).collect::<Result<_>>()?;
    std::thread::sleep(Duration::from_millis(500));
    let begun = Instant::now();
    let told = served.get("/crawl");
    ensure!(begun.elapsed() < Duration::from_secs(5), "nobody was told: {told:?}");
    if let Ok(reply) = told {
        ensure!(reply.status == 503, "300 connections and room: {}", reply.head);
    }
    wait_until("they are hung up on", Duration::from_secs(20), || {
        Ok(served.get("/crawl").is_ok_and(|reply| reply.status == 200))
    })?;
    drop(silent);
    served.answers("a flood of connections")?;
    // Slow in every way, side by side.
    std::thread::scope(|scope| -> Result<()> {
        let served = &served;
        let head = scope.spawn(move || drip(served, b"GET /crawl HTTP/1.1\r\nX-A: "));
        let post = format!(
            "POST /login HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n"
        );
        let body = scope.spawn(move || drip(served, post.as_bytes()));
        let reader = scope.spawn(move || never_reads(served));
        let limit = [("a head", head, 15), ("a body", body, 40), ("a reader", reader, 60)];
        for (what, one, most) in limit {
            let took = one.join().map_err(|_| anyhow::anyhow!("{what} panicked"))??;
            ensure!(took < Duration::from_secs(most), "{what} was borne for {took:?}");
        }
        Ok(())
    })?;
    served.answers("slow clients")
}

/// Sends a byte a second until it is hung up on; says how long that took.
fn drip(served: &Served, first: &[u8]) -> Result<Duration> {
    let mut stream = served.connect()?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    stream.write_all(first)?;
    let begun = Instant::now();
    let mut piece = [0; 4096];
    while begun.elapsed() < Duration::from_secs(90) {
        if stream.write_all(b"x").is_err() {
            break;
        }
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(_) => {}
            Err(e)
                if matches!(
                    e.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) => {}
            Err(_) => break,
        }
    }
    Ok(begun.elapsed())
}

/// Asks for page after page and reads nothing; says when it was hung up on.
fn never_reads(served: &Served) -> Result<Duration> {
    let mut stream = served.connect()?;
    stream.set_write_timeout(Some(Duration::from_secs(1)))?;
    let one = format!("GET /crawl HTTP/1.1\r\nHost: {}\r\n\r\n", served.address()).repeat(200);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(90) {
        match stream.write(one.as_bytes()) {
            Ok(_) => {}
            Err(e)
                if matches!(
                    e.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) => {}
            Err(_) => break,
        }
    }
    Ok(begun.elapsed())
}

const SCRIPT: &str = "<script>alert(1)</script>";
const IMG: &str = "\"><img src=x onerror=alert(1)>";

/// A site that puts scripts wherever it can.
fn hostile(asked: &Asked) -> Answer {
    let links = format!(
        "<a href=\"/page/{IMG}\">{SCRIPT}</a><a href=\"/svg\">x</a><a href=\"/script\">x</a>\
         <a href=\"/odd\">x</a><a href=\"/none\">x</a><a href=\"/lost{IMG}\">x</a><a href=\"/away\">x</a>\
         <a href=\"/more/1\">x</a><a href=\"javascript:alert(1)\">x</a>"
    );
    let path = asked.path.as_str();
    match path {
        "/robots.txt" => {
            Answer::text(format!("User-agent: *\nDisallow: /forbidden{SCRIPT}\n# {SCRIPT}\n"))
        }
        "/" => Answer::html(format!("<title>{SCRIPT}{IMG}</title><h1>{SCRIPT}</h1>{links}")),
        "/svg" => Answer::of(
            "image/svg+xml",
            format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{SCRIPT}</svg>"),
        ),
        "/script" => Answer::html(format!(
            "<title>run</title><p>words {SCRIPT}<link rel=preconnect href=//evil.example><form action=/crawl/stop method=post>"
        ))
        .header("Set-Cookie: argiope-1=stolen")
        .header("X-Evil: 1")
        .header("Refresh: 0; url=http://evil.example/")
        .header("Content-Security-Policy: default-src *")
        .header("Access-Control-Allow-Origin: *"),
        "/odd" => Answer::of("text/x-odd\"><script>alert(1)</script>", "odd"),
        "/none" => Answer::html(format!("<meta name=robots content=noarchive><p>secret {SCRIPT}")),
        "/away" => Answer::to(&format!("http://{IMG}/")),
        _ if path.starts_with("/lost") => Answer::status(500),
        _ => {
            let n: u32 = path.rsplit('/').next().and_then(|n| n.parse().ok()).unwrap_or(0);
            page(IMG, [format!("/more/{}", n + 1)]).later(Duration::from_millis(50))
        }
    }
}

#[test]
fn what_a_hostile_site_says_is_never_run() -> Result<()> {
    let Some(rig) = Rig::new("web-stored", &[])? else { return Ok(()) };
    let web = Watched::start(&[loopback(222)], hostile)?;
    let flags = ["--types", "html,text,image", "--max-pages", "400"];
    let mut running = rig.start_crawl("data", &[&flags[..], &[&web.url(0, "/")]].concat())?;
    wait_until("the odd pages are fetched", SHORT_LIMIT, || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        Ok(web.paths(0).contains_key("/more/9"))
    })?;
    let mut served = Served::start(&rig, "data")?;
    // The crawl page while it runs, and its events.
    let live = served.get("/crawl")?;
    ensure!(live.status == 200 && live.text().contains("A crawl is running"), "{}", live.text());
    harmless("/crawl", &live.text())?;
    let events = first_event(&served)?;
    ensure!(events.contains("/more/"), "no pages in {events}");
    ensure!(events.lines().all(|line| line.is_empty() || line.starts_with("data: {")), "{events}");
    running.wait(SHORT_LIMIT)?.ok()?;
    // A copy has one address, that of its own time; any other leads there.
    let copy = |path: &str| -> Result<String> {
        let any = format!("/memento/{FETCHED_AT}/{}", web.url(0, path));
        let reply = served.get(&any)?;
        Ok(if reply.status == 302 { reply.header("location").to_owned() } else { any })
    };
    for path in ["/script", "/svg"] {
        let reply = served.get_as_operator(&copy(path)?)?;
        ensure!(reply.status == 200, "{path}: {}", reply.text());
        ensure!(reply.text().contains("<script>alert(1)"), "these are the bytes: {}", reply.text());
        let policy = reply.header("content-security-policy");
        ensure!(policy.starts_with("sandbox; default-src 'none'"), "{path}: {policy}");
        ensure!(!policy.contains("allow-") && !policy.contains("script-src"), "{path}: {policy}");
        ensure!(reply.head.matches("content-security-policy").count() == 1, "{}", reply.head);
        ensure!(reply.header("x-content-type-options") == "nosniff", "{}", reply.head);
        for gone in ["set-cookie", "x-evil", "refresh", "access-control-allow-origin"] {
            ensure!(reply.header(gone).is_empty(), "{gone} was given out again: {}", reply.head);
        }
        ensure!(!reply.header("memento-datetime").is_empty(), "{}", reply.head);
    }
    ensure!(served.get(&copy("/svg")?)?.header("content-type") == "image/svg+xml", "its type");
    let odd = served.get(&copy("/odd")?)?;
    if odd.status == 200 {
        let kind = odd.header("content-type");
        ensure!(matches!(kind, "text/plain" | "application/octet-stream"), "{}", odd.head);
    }
    let none = served.get(&copy("/none")?)?;
    ensure!(none.status == 403 && !none.text().contains("secret"), "{}", none.text());
    // Programs get what came; in a browser nothing is connected to either.
    let exact = served.get(&copy("/script")?)?.text();
    ensure!(exact.contains("<link rel=preconnect"), "{exact}");
    let agent = "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n";
    let shown = served.send(&served.request("GET", &copy("/script")?, agent, ""))?.text();
    ensure!(shown.contains("<l1nk rel=preconnect") && !shown.contains("<link"), "{shown}");
    // The frame around a copy.
    let frame = served.get(&format!("/copy?url={}", encoded(&web.url(0, "/"))))?;
    ensure!(frame.status == 200 && frame.text().contains("<iframe"), "{}", frame.text());
    ensure!(frame.text().contains("sandbox=\"\""), "{}", frame.text());
    harmless("/copy", &frame.text())?;
    // What is said of names and errors is text as well.
    for path in [
        format!("/copy?url={}", encoded(SCRIPT)),
        format!("/copy?url=http://a.test/&at={}", encoded(SCRIPT)),
        format!("/memento/{FETCHED_AT}/http://a.test/{}", encoded(IMG)),
        format!("/{}", encoded(SCRIPT)),
    ] {
        harmless(&path, &served.get(&path)?.text())?;
    }
    served.post("/crawl/start", &format!("urls={}", encoded(&format!("http://a b/{SCRIPT}"))))?;
    let said = served.get_as_operator("/crawl")?.text();
    ensure!(said.contains("That was not done"), "{said}");
    harmless("a sentence", &said)?;
    served.answers("a hostile site")
}

/// No markup of a stranger's is in the page.
fn harmless(path: &str, html: &str) -> Result<()> {
    for bad in ["<script>alert", "<img src=x", "onerror=alert(1)>", "href=\"javascript:"] {
        let clean = html.replace("&lt;img src=x onerror=alert(1)&gt;", "");
        ensure!(!clean.contains(bad), "{path} holds {bad}: {html}");
    }
    Ok(())
}

/// The first picture that is sent.
fn first_event(served: &Served) -> Result<String> {
    let mut stream = served.connect()?;
    let head = format!("GET /api/events HTTP/1.1\r\nHost: {}\r\n\r\n", served.address());
    stream.write_all(head.as_bytes())?;
    let mut seen = Vec::new();
    let mut piece = [0; 16 << 10];
    let end = Instant::now() + SHORT_LIMIT;
    while Instant::now() < end {
        let n = stream.read(&mut piece)?;
        ensure!(n > 0, "no event: {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&piece[..n]);
        let text = String::from_utf8_lossy(&seen);
        if let Some((_, after)) = text.split_once("data: ")
            && let Some((event, _)) = after.split_once("\n\n")
        {
            return Ok(format!("data: {event}"));
        }
    }
    anyhow::bail!("no event came")
}
