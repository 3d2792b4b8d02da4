//! Raw replies and codings collected from other projects' tests: no crash, no hang, and the
//! same understanding where one is written down.
//!
//! The cases lie outside the repository; `ARGIOPE_SUITES` says where. Without them this is
//! skipped.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use support::{Kit, Server, bytes};

fn suite(name: &str) -> Option<Vec<Value>> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/suites");
    let dir =
        std::env::var_os("ARGIOPE_SUITES").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let Ok(text) = std::fs::read_to_string(dir.join(name)) else {
        println!("SKIPPED: {name} is not in {}", dir.display());
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Bytes of a case: text or base64.
fn case_bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => text.as_bytes().to_vec(),
        other => base64(other["b64"].as_str().unwrap()),
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group.iter().fold(0_u32, |acc, &c| acc << 6 | u32::from(digit(c)));
        let bits = bits << (6 * (4 - group.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    out
}

/// Status and body of an answer; `None` where it was refused or lost.
async fn ask(kit: &Kit, reply: &[u8]) -> Option<(u16, Vec<u8>)> {
    let server = Server::one_shot(reply).await;
    let answer = kit.get(&server.url("/")).await;
    match answer.outcome {
        Some(outcome) => {
            assert_ne!(outcome.kind.name(), "timed-out", "{}", String::from_utf8_lossy(reply));
            None
        }
        None => Some((answer.head.as_ref().unwrap().status, bytes(&answer.body))),
    }
}

fn kit() -> Kit {
    Kit::with(|s| s.total_timeout = Duration::from_secs(5))
}

/// One stray character (CR, HTAB, LF, NUL, SP) at each place of a small reply. What the standard
/// decides; elsewhere it leaves the choice to us and only the absence of harm is tested.
fn decided(character: &str, place: &str) -> Option<(bool, &'static str)> {
    let refused = |paragraph| Some((false, paragraph));
    let taken = |paragraph| Some((true, paragraph));
    match (character, place) {
        (_, "in-http" | "before-slash" | "after-slash" | "before-dot" | "after-dot") => {
            refused("RFC 9112 2.3: the version is HTTP, a slash, a digit, a dot, a digit")
        }
        ("CR" | "NUL", "after-colon" | "in-value" | "after-value") => {
            refused("RFC 9110 5.5: reject the message, or replace them (we reject)")
        }
        ("CR" | "NUL", "in-name" | "before-colon" | "leading") => {
            refused("RFC 9110 5.1: no such character in a name; RFC 9112 2.2: a bare CR is invalid")
        }
        ("CR" | "NUL", _) => refused("RFC 9112 4: no such character in a status line"),
        ("HTAB" | "SP", "after-colon" | "after-value") => {
            taken("RFC 9112 5: white space around a value is not part of it")
        }
        ("HTAB" | "SP", "in-value") => taken("RFC 9110 5.5: white space may be in a value"),
        ("HTAB" | "SP", "before-reason" | "after-reason") | ("SP", "after-num") => {
            taken("RFC 9112 4: the reason is any text, and to be ignored")
        }
        ("HTAB" | "SP", "leading") => {
            taken("RFC 9112 2.2: reject, or pass over the line (we pass over it)")
        }
        _ => None,
    }
}

#[tokio::test]
async fn raw_replies_do_no_harm_and_are_read_as_the_standard_decides() {
    let Some(cases) = suite("wpt-misc.jsonl") else { return };
    let (kit, mut count, mut by_rule) = (kit(), 0, 0);
    for case in cases.iter().filter(|c| c["kind"] == "http-h1-asis") {
        let got = ask(&kit, &case_bytes(&case["input"]["response_bytes"])).await;
        count += 1;
        let name = case["input"]["name"].as_str().unwrap();
        let mut parts = name.trim_end_matches(".asis").splitn(3, '_').skip(1);
        let (character, place) = (parts.next().unwrap(), parts.next().unwrap());
        if let Some((taken, paragraph)) = decided(character, place) {
            let page = taken.then(|| (200, b"Test.".to_vec()));
            assert_eq!(got, page, "{name}: {paragraph}");
            by_rule += 1;
        }
    }
    println!("{count} raw replies, {by_rule} decided by the standard");
    assert!(count >= 85 && by_rule >= 62, "{by_rule} of {count}");
}

/// Where the standard and a browser differ, we keep to the standard.
#[tokio::test]
async fn status_lines_are_read_as_browsers_read_them() {
    let Some(cases) = suite("wpt-misc.jsonl") else { return };
    let (kit, mut odd) = (kit(), Vec::new());
    for case in cases.iter().filter(|c| c["kind"] == "http-status-line") {
        let line = case["input"]["after_version"].as_str().unwrap();
        let got =
            ask(&kit, format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\n\r\n").as_bytes()).await;
        let want = case["expected"]["status"].as_u64();
        if got.map(|(status, _)| u64::from(status)) != want {
            odd.push(line.to_owned());
        }
    }
    // RFC 9112 4: a status has three digits. A browser takes these.
    assert_eq!(odd, ["0 OK", "1 OK"]);
}

/// Where the standard and a browser differ, we keep to the standard.
#[tokio::test]
async fn lengths_are_read_as_browsers_read_them() {
    let Some(cases) = suite("wpt-misc.jsonl") else { return };
    let (kit, mut odd) = (kit(), Vec::new());
    // The page is 42 bytes long whatever the headers say.
    let page = [b'x'; 42];
    for case in cases.iter().filter(|c| c["kind"] == "http-content-length") {
        let headers = case["input"]["headers"].as_str().unwrap();
        let reply = [format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n").as_bytes(), &page].concat();
        let got = ask(&kit, &reply).await.map(|(_, body)| body.len() as u64);
        if got != case["expected"]["length"].as_u64() {
            odd.push(headers.to_owned());
        }
    }
    // RFC 9112 6.3, rule 5: a length that is no number is an error that cannot be recovered
    // from; the answer is discarded. A browser reads on until the server closes.
    assert_eq!(
        odd,
        [
            "Content-Length: aaaah\r\nContent-Length: aaaah",
            "Content-Length: aaaah, aaaah",
            "Content-Length: aaaah",
            "Content-Length: 42s",
            "Content-Length: 30s",
            "Content-Length: -1",
        ]
    );
}

#[tokio::test]
async fn collected_codings_are_undone() {
    let Some(cases) = suite("wpt-misc.jsonl") else { return };
    let (kit, mut count) = (kit(), 0);
    for case in cases.iter().filter(|c| c["kind"] == "http-content-encoding") {
        let body = case_bytes(&case["input"]["body"]);
        let reply = [
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(),
            &body,
        ]
        .concat();
        let server = Server::one_shot(reply).await;
        let answer = kit.get(&server.url("/")).await;
        let coding = case["input"]["encoding"].as_str().unwrap();
        let decoded = kit.fetcher.decode(&answer.body, coding);
        let wrong = case["expected"]["error"].as_bool().unwrap();
        assert_eq!(decoded.is_err(), wrong, "{}: {decoded:?}", case["id"]);
        assert!(wrong || !decoded.unwrap().is_empty());
        count += 1;
    }
    assert!(count > 0);
}

/// Where we read a case differently than the parser it was written for, and why.
const READ_DIFFERENTLY: &[(&str, &str)] = &[
    // The parser reads a whole stream, we read the one answer to our one question.
    ("connection.md/HTTP 304 with Content-Length", "the case goes on to a second message"),
    ("connection.md/HTTP 304 with Transfer-Encoding", "the case goes on to a second message"),
    ("connection.md/HTTP 100 first, then 400", "RFC 9110 15.2: the final answer is the 404"),
    ("pipelining.md/Should parse multiple events", "the case goes on to further messages"),
    // Bytes behind a complete answer are not part of it; the connection is closed.
    ("connection.md/HTTP/1.1 with keep-alive disabled and 204 status", "RFC 9112 9.6, 6.3 rule 1"),
    ("connection.md/HTTP/1.1 with keep-alive disabled, content-length", "RFC 9112 9.6, 6.3 rule 6"),
    // The server closes before the message is complete; the parser just waits for more.
    ("connection.md/HTTP 103 first, then 200", "RFC 9112 8: 16 of 17 bytes"),
    ("content-length.md/Content-Length reset when no body is received", "RFC 9112 8: no body"),
    ("content-length.md/Tabs in `Content-Length` (surrounding)", "RFC 9112 8: no body"),
    ("transfer-encoding.md/Chunk extensions quoting", "RFC 9112 8: the last line is missing"),
    // We did not ask for another protocol.
    ("connection.md/HTTP 101 response with Upgrade and Content-Length header", "RFC 9110 7.8"),
    ("connection.md/HTTP 101 response with Upgrade and Transfer-Encoding header", "RFC 9110 7.8"),
    ("sample.md/RTSP response", "RFC 9112 2.3: not HTTP"),
    ("sample.md/ICE response", "RFC 9112 2.3: not HTTP"),
    ("sample.md/HTTP version 0.9", "RFC 9112 2.3, RFC 9110 2.5: another major version"),
    ("lenient-version.md/Invalid HTTP version (lenient)", "RFC 9112 2.3: another major version"),
    ("invalid.md/Bare CR after response line (lenient)", "RFC 9112 2.2: a bare CR is invalid"),
    // Allowed to be read, and read by browsers.
    ("invalid.md/Only LFs present and no body", "RFC 9112 2.2: a LF may end a line"),
    ("invalid.md/Only LFs present", "RFC 9112 2.2: a LF may end a line"),
    ("sample.md/No carriage ret", "RFC 9112 2.2: a LF may end a line"),
    // More tolerant than the standard asks for; nothing is misread by it.
    ("sample.md/Spaces in header name", "RFC 9110 5.1: the line is no field and passed over"),
    ("transfer-encoding.md/Trailing space on chunked body", "RFC 9112 7.1.1: white space is bad"),
    ("transfer-encoding.md/No extension after semicolon", "RFC 9112 7.1.1: a name must follow"),
    // The body in the file was written down with another end of line.
    ("sample.md/Google 301", "the case's own text"),
];

#[tokio::test]
async fn parser_cases_are_read_as_the_standard_decides() {
    let Some(cases) = suite("http-llhttp.jsonl") else { return };
    let (kit, mut count, mut odd) = (kit(), 0, Vec::new());
    for case in cases.iter().filter(|c| c["kind"] == "http1-response") {
        let got = ask(&kit, &case_bytes(&case["input"]["bytes"])).await;
        count += 1;
        let expected = &case["expected"];
        let want = (expected["error"] != true).then(|| {
            let status = expected["status"].as_u64().unwrap();
            let body = expected["body"].as_str().unwrap_or_default();
            (u16::try_from(status).unwrap(), body.as_bytes().to_vec())
        });
        if got != want {
            odd.push(case["id"].as_str().unwrap().trim_start_matches("http-llhttp/response/"));
        }
    }
    let mut known: Vec<_> = READ_DIFFERENTLY.iter().map(|(id, _)| *id).collect();
    known.sort_unstable();
    odd.sort_unstable();
    println!("{count} answers, {} read differently", odd.len());
    assert_eq!(odd, known);
}
