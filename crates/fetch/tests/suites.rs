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

#[tokio::test]
async fn raw_replies_neither_crash_nor_hang() {
    let Some(cases) = suite("wpt-misc.jsonl") else { return };
    let kit = kit();
    let mut count = 0;
    for case in cases.iter().filter(|c| c["kind"] == "http-h1-asis") {
        ask(&kit, &case_bytes(&case["input"]["response_bytes"])).await;
        count += 1;
    }
    assert!(count > 0);
}

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
    // Statuses of one digit are refused here; a browser takes them.
    assert_eq!(odd, ["0 OK", "1 OK"]);
}

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
    // A length that is no number is refused here; a browser reads on until the server closes.
    assert!(odd.len() <= 6 && odd.iter().all(|h| !is_number(h)), "{odd:#?}");
}

fn is_number(header: &str) -> bool {
    header.split([':', ',']).skip(1).all(|value| value.trim().parse::<u64>().is_ok())
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

#[tokio::test]
async fn parser_cases_neither_crash_nor_hang() {
    let Some(cases) = suite("http-llhttp.jsonl") else { return };
    let (kit, mut count, mut odd) = (kit(), 0, Vec::new());
    for case in cases.iter().filter(|c| c["kind"] == "http1-response") {
        let got = ask(&kit, &case_bytes(&case["input"]["bytes"])).await;
        count += 1;
        // One request has one answer: only cases of one complete message can be compared.
        let (expected, plain) = (&case["expected"], case["input"]["type"] == "response");
        if plain && expected["messages"] == 1 && expected["status"].as_u64() >= Some(200) {
            let want = (
                expected["status"].as_u64().unwrap() as u16,
                expected["body"].as_str().unwrap_or_default().as_bytes().to_vec(),
            );
            if got.as_ref() != Some(&want) {
                odd.push((
                    case["id"].clone(),
                    got.map(|(status, body)| (status, String::from_utf8(body))),
                ));
            }
        }
    }
    // Two cases expect what follows the first answer or what their own text got wrong.
    assert!(count > 0 && odd.len() <= 2, "{} of {count}: {odd:#?}", odd.len());
}
