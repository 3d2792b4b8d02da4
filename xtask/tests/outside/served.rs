//! `argiope serve` as a process, and a client that sends exactly the bytes it is given.

use crate::rig::{Rig, SHORT_LIMIT};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use xtask::process::{Running, wait_until};

/// What operators of these tests know.
pub const TOKEN: &str = "a-token-for-tests";
/// Nobody waits longer for an answer.
const PATIENCE: Duration = Duration::from_secs(40);

/// The pages, being served.
pub struct Served {
    running: Running,
    address: SocketAddr,
    cookie: String,
    csrf: String,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    /// The head, names in small letters.
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    fn read(bytes: &[u8]) -> Result<Reply> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
        let end = end.with_context(|| format!("no head in {}", String::from_utf8_lossy(bytes)))?;
        let head: String = String::from_utf8_lossy(&bytes[..end])
            .lines()
            .map(|line| match line.split_once(':') {
                Some((name, value)) => format!("{}:{value}\n", name.to_ascii_lowercase()),
                None => format!("{line}\n"),
            })
            .collect();
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok());
        let status = status.with_context(|| format!("no status in {head}"))?;
        Ok(Reply { status, head, body: bytes[end..].to_vec() })
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The value of a header, empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let of = |line: &str| line.split_once(": ").is_some_and(|(n, _)| n == name);
        let line = self.head.lines().find(|line| of(line));
        line.and_then(|line| line.split_once(": ")).map_or("", |(_, value)| value.trim())
    }
}

impl Served {
    /// Serves a data directory and waits until it answers.
    pub fn start(rig: &Rig, data: &str) -> Result<Served> {
        let flags = ["serve", "--listen", "127.0.0.1:0", "--no-open", "--token", TOKEN];
        let mut command = rig.argiope(data, &[&["--format", "json"], &flags[..]].concat());
        let name = format!("serve-{data}");
        let mut running = Running::start(&mut command, &rig.dir, &name)?;
        let out: PathBuf = rig.dir.join(format!("{name}.out"));
        let mut row = Value::Null;
        wait_until("it serves", SHORT_LIMIT, || {
            ensure!(running.is_running()?, "it ended: {}", running.err_so_far());
            let text = std::fs::read_to_string(&out).unwrap_or_default();
            row =
                text.lines().next().and_then(|l| serde_json::from_str(l).ok()).unwrap_or_default();
            Ok(row["url"].is_string())
        })?;
        let url = row["url"].as_str().unwrap_or_default();
        let address = url.trim_start_matches("http://").trim_end_matches('/').parse()?;
        let mut served = Served { running, address, cookie: String::new(), csrf: String::new() };
        let login = served.get(&format!("/crawl?token={TOKEN}"))?;
        ensure!(login.status == 303, "the token is not taken: {}", login.head);
        let cookie = login.header("set-cookie").split(';').next().unwrap_or_default();
        served.cookie = cookie.to_owned();
        let page = served.send(&served.request("GET", "/crawl", &served.as_operator(), ""))?.text();
        let csrf = page.split("name=\"csrf\" value=\"").nth(1).and_then(|s| s.split('"').next());
        served.csrf = csrf.context("no form on the page of an operator")?.to_owned();
        Ok(served)
    }

    /// Ends it as a signal would.
    pub fn stop(self) -> Result<()> {
        let pid = self.running.id().to_string();
        xtask::process::must(std::process::Command::new("kill").arg(pid))?;
        let done = self.running.wait(SHORT_LIMIT)?;
        ensure!(done.code == Some(0), "it ended badly: {}", done.last_words());
        Ok(())
    }

    pub fn is_running(&mut self) -> Result<bool> {
        self.running.is_running()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn csrf(&self) -> &str {
        &self.csrf
    }

    /// The header of a browser that has brought the token.
    pub fn as_operator(&self) -> String {
        format!("Cookie: {}\r\n", self.cookie)
    }

    /// A whole request, with further header lines, that asks for the connection to be closed.
    pub fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> Vec<u8> {
        let mut out = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}",
            self.address
        );
        if !body.is_empty() || method == "POST" {
            out.push_str(&format!("Content-Length: {}\r\n", body.len()));
            if !headers.to_ascii_lowercase().contains("content-type") {
                out.push_str("Content-Type: application/x-www-form-urlencoded\r\n");
            }
        }
        format!("{out}\r\n{body}").into_bytes()
    }

    pub fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect_timeout(&self.address, PATIENCE).context("connect")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// Sends bytes and reads until the other end closes.
    pub fn send(&self, bytes: &[u8]) -> Result<Reply> {
        let mut stream = self.connect()?;
        // Whoever refuses may close before everything is sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let mut piece = [0; 64 << 10];
        loop {
            match stream.read(&mut piece) {
                Ok(0) => break,
                Ok(n) => answer.extend_from_slice(&piece[..n]),
                Err(_) if !answer.is_empty() => break,
                Err(e) => return Err(e).context("no answer"),
            }
        }
        Reply::read(&answer)
    }

    pub fn get(&self, path: &str) -> Result<Reply> {
        self.send(&self.request("GET", path, "", ""))
    }

    pub fn get_as_operator(&self, path: &str) -> Result<Reply> {
        self.send(&self.request("GET", path, &self.as_operator(), ""))
    }

    /// Posts a form of an operator; its fields without the one that forms carry.
    pub fn post(&self, path: &str, fields: &str) -> Result<Reply> {
        let body = format!("csrf={}&{fields}", self.csrf);
        self.send(&self.request("POST", path, &self.as_operator(), &body))
    }

    /// It answers as ever, and at once.
    pub fn answers(&mut self, after: &str) -> Result<()> {
        ensure!(self.is_running()?, "it ended after {after}: {}", self.running.err_so_far());
        let begun = Instant::now();
        let reply = self.get("/crawl").with_context(|| format!("after {after}"))?;
        ensure!(reply.status == 200, "after {after}: {}", reply.head);
        ensure!(begun.elapsed() < Duration::from_secs(5), "slow after {after}");
        Ok(())
    }
}

/// Percent-encoded, for a field or a query.
pub fn encoded(text: &str) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_.".contains(b);
    let one = |b: u8| if plain(&b) { (b as char).to_string() } else { format!("%{b:02X}") };
    text.bytes().map(one).collect()
}
