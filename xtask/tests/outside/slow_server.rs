//! Many slow hosts in one process: a listener per loopback address, a thread per connection.
//!
//! Every host has an index that links to its pages; every answer takes the same time. The server
//! counts what is being answered at once, over all hosts and per host.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The running hosts. Threads end with the test process.
pub struct SlowServer {
    addresses: Vec<SocketAddr>,
    counts: Arc<Mutex<Counts>>,
}

/// The most of everything at one time.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Requests being answered at once.
    pub answering: usize,
    /// Hosts with a request being answered at once.
    pub hosts: usize,
    /// Requests being answered at once by the busiest host.
    pub per_host: usize,
    /// Pages answered, robots.txt not counted.
    pub pages: usize,
    answering_now: BTreeMap<usize, usize>,
}

#[derive(Clone, Copy)]
struct Host {
    number: usize,
    pages: usize,
    delay: Duration,
}

impl SlowServer {
    /// `hosts` hosts of `pages` pages each; every answer takes `delay`.
    pub fn start(hosts: usize, pages: usize, delay: Duration) -> Result<SlowServer> {
        let counts = Arc::new(Mutex::new(Counts::default()));
        let mut addresses: Vec<SocketAddr> = Vec::new();
        for number in 0..hosts {
            let last = u8::try_from(number % 250 + 1)?;
            let address = Ipv4Addr::new(127, 0, u8::try_from(number / 250 + 3)?, last);
            let listener = TcpListener::bind((address, 0)).context("bind a loopback address")?;
            addresses.push(listener.local_addr()?);
            let host = Host { number, pages, delay };
            let counts = Arc::clone(&counts);
            thread(move || {
                for stream in listener.incoming().flatten() {
                    let counts = Arc::clone(&counts);
                    thread(move || {
                        let _ = answer_all(&stream, host, &counts);
                    });
                }
            });
        }
        Ok(SlowServer { addresses, counts })
    }

    /// The first page of every host.
    pub fn urls(&self) -> Vec<String> {
        self.addresses.iter().map(|address| format!("http://{address}/")).collect()
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        with(&self.counts, |now| now.clone())
    }
}

/// Answers the requests of one connection until the client closes it.
fn answer_all(stream: &TcpStream, host: Host, counts: &Mutex<Counts>) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream);
    loop {
        let (mut path, mut line) = (String::new(), String::new());
        while lines.read_line(&mut line)? > 0 && !line.trim().is_empty() {
            if path.is_empty() {
                path = line.split(' ').nth(1).unwrap_or("/").to_string();
            }
            line.clear();
        }
        if path.is_empty() {
            return Ok(());
        }
        with(counts, |now| {
            *now.answering_now.entry(host.number).or_default() += 1;
            now.hosts = now.hosts.max(now.answering_now.len());
            now.per_host = now.per_host.max(now.answering_now[&host.number]);
            now.answering = now.answering.max(now.answering_now.values().sum());
        });
        std::thread::sleep(host.delay);
        with(counts, |now| {
            now.pages += usize::from(path != "/robots.txt");
            let left = now.answering_now.get(&host.number).copied().unwrap_or(1) - 1;
            if left == 0 {
                now.answering_now.remove(&host.number);
            } else {
                now.answering_now.insert(host.number, left);
            }
        });
        let (status, body) = match path.as_str() {
            "/robots.txt" => ("404 Not Found", "none".to_string()),
            "/" => ("200 OK", index(host)),
            _ => ("200 OK", format!("<title>{path}</title><p>host {} {path}", host.number)),
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n"
        );
        (&*stream).write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
    }
}

fn index(host: Host) -> String {
    let links = (1..host.pages).map(|page| format!("<a href=\"/{page}.html\">{page}</a>\n"));
    format!("<title>Host {}</title>\n{}", host.number, links.collect::<String>())
}

fn with<T>(counts: &Mutex<Counts>, act: impl FnOnce(&mut Counts) -> T) -> T {
    act(&mut counts.lock().unwrap_or_else(PoisonError::into_inner))
}

fn thread(work: impl FnOnce() + Send + 'static) {
    let started = std::thread::Builder::new().stack_size(128 * 1024).spawn(work);
    started.expect("the system allows a few hundred threads");
}

#[test]
fn the_slow_server_counts_what_is_asked_at_once() -> Result<()> {
    let server = SlowServer::start(64, 2, Duration::from_millis(500))?;
    let clients: Vec<_> = (0..320)
        .map(|client| {
            let address = server.addresses[client % 64];
            std::thread::spawn(move || -> Result<String> {
                let mut stream = TcpStream::connect(address)?;
                stream.write_all(b"GET /1.html HTTP/1.1\r\nHost: x\r\n\r\n")?;
                let mut line = String::new();
                BufReader::new(stream).read_line(&mut line)?;
                Ok(line)
            })
        })
        .collect();
    for client in clients {
        assert!(client.join().expect("a client thread")?.contains("200"));
    }
    let seen = server.counts();
    assert_eq!((seen.answering, seen.hosts, seen.per_host, seen.pages), (320, 64, 5, 320));
    Ok(())
}
