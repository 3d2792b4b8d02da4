//! How a run stands, for Prometheus: counters and gauges in the text format (version 0.0.4), over HTTP.
//!
//! * What this is: what this process has counted ([`Counted`]), the page that tells it ([`page`]) and the little
//!   server that gives it to whoever asks ([`serve`]).
//! * Its place: beside the run; the director counts, the status ([`crate::Live`]) tells the rest. A worker
//!   tells of itself, not of its fleet, but for what is queued.
//! * Invariants: what ends in `_total`, and the histogram, only grows while the process lives. Every series is
//!   there from the beginning. Whoever asks cannot make it hold more than [`MOST`] connections, nor read more
//!   than [`HEAD`] bytes, nor wait longer than [`PATIENCE`].
//! * What is not here: who may ask. It listens where it is told to, and tells everybody who gets there.

use crate::disk;
use crate::live::Live;
use argiope_model::OutcomeKind;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Connections at once.
const MOST: usize = 16;
/// Bytes of a request's head.
const HEAD: usize = 8 << 10;
/// How long a question, and an answer, may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Speed is told over this long, about.
const SPAN: Duration = Duration::from_secs(10);
/// Upper bounds of the commits' histogram, in milliseconds.
const BOUNDS_MS: [u64; 11] = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];
/// The outcomes that are failures.
const FAILURES: [OutcomeKind; 13] = [
    OutcomeKind::BadRedirect,
    OutcomeKind::ClientError,
    OutcomeKind::ServerError,
    OutcomeKind::UnwantedType,
    OutcomeKind::TooLarge,
    OutcomeKind::NoAddress,
    OutcomeKind::ForbiddenAddress,
    OutcomeKind::ConnectFailed,
    OutcomeKind::ConnectionLost,
    OutcomeKind::TimedOut,
    OutcomeKind::TlsFailed,
    OutcomeKind::BadResponse,
    OutcomeKind::BadEncoding,
];

/// How requests ended, by the name of the outcome.
pub(crate) type Outcomes = BTreeMap<&'static str, u64>;

/// What this process has counted, and the lengths of its queues.
#[derive(Default)]
pub(crate) struct Counted {
    pages: AtomicU64,
    bytes: AtomicU64,
    outcomes: Mutex<Outcomes>,
    terms: AtomicU64,
    commits: Mutex<Commits>,
    /// How far it was when, over the last seconds.
    lately: Mutex<VecDeque<(Instant, u64)>>,
    /// Answers being worked on.
    pub parsing: AtomicU64,
    /// Pages that wait to be committed, or are being.
    pub to_commit: AtomicU64,
    /// Rows of the queues in memory.
    pub rows: AtomicU64,
}

#[derive(Default)]
struct Commits {
    buckets: [u64; BOUNDS_MS.len()],
    count: u64,
    sum: Duration,
    groups: u64,
}

impl Counted {
    /// A commit was made: how long it took, what it brought in.
    pub fn commit(&self, took: Duration, pages: u64, bytes: u64, outcomes: &Outcomes) {
        let all = self.pages.fetch_add(pages, Relaxed);
        self.note(all);
        self.bytes.fetch_add(bytes, Relaxed);
        let mut commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        for (bucket, bound) in commits.buckets.iter_mut().zip(BOUNDS_MS) {
            *bucket += u64::from(took <= Duration::from_millis(bound));
        }
        commits.count += 1;
        commits.sum += took;
        if !outcomes.is_empty() {
            commits.groups += 1;
            let mut all = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
            outcomes.iter().for_each(|(name, n)| *all.entry(name).or_default() += n);
        }
    }

    /// Notes how far it was just now.
    fn note(&self, pages: u64) {
        let mut lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        if lately.back().is_none_or(|(at, _)| at.elapsed() >= SPAN / 40) {
            lately.push_back((Instant::now(), pages));
        }
        // One from before the span is kept, so that there is something to compare with.
        while lately.get(1).is_some_and(|(at, _)| at.elapsed() > SPAN) {
            lately.pop_front();
        }
    }

    /// Pages a second, lately.
    fn speed(&self) -> f64 {
        let lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((at, pages)) = lately.front() else { return 0.0 };
        let since = at.elapsed().max(SPAN / 40).as_secs_f64();
        (self.pages.load(Relaxed) - pages) as f64 / since
    }

    /// A term begins.
    pub fn term(&self) {
        self.terms.fetch_add(1, Relaxed);
    }
}

/// A page in the making.
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP argiope_{name} {help}\n# TYPE argiope_{name} {kind}");
    }

    fn row(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "argiope_{name}{labels} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.head(name, kind, help);
        self.row(name, "", value);
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.one(name, "counter", help, value);
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl std::fmt::Display) {
        self.one(name, "gauge", help, value);
    }

    /// A gauge with a row for each value of a label.
    fn gauges(&mut self, name: &str, help: &str, label: &str, rows: &[(&str, u64)]) {
        self.head(name, "gauge", help);
        for (value, n) in rows {
            self.row(name, &format!("{{{label}=\"{value}\"}}"), n);
        }
    }
}

/// The page that tells how a run stands.
pub fn page(live: &Live) -> String {
    let mut page = Page(String::new());
    let (shown, counted) = (live.snapshot(), live.counted());
    page.counter(
        "pages_total",
        "Pages fetched and committed by this process.",
        counted.pages.load(Relaxed),
    );
    page.counter("bytes_total", "Body bytes of answers committed.", counted.bytes.load(Relaxed));
    page.head("failures_total", "counter", "Requests that ended badly, by how.");
    {
        let outcomes = counted.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        for kind in FAILURES.map(OutcomeKind::name) {
            let n = outcomes.get(kind).copied().unwrap_or(0);
            page.row("failures_total", &format!("{{kind=\"{kind}\"}}"), n);
        }
    }
    commits(&mut page, counted);
    page.counter(
        "terms_total",
        "Times that work began from what the store holds: once, and again after a lost lease.",
        counted.terms.load(Relaxed),
    );
    page.counter(
        "store_retries_total",
        "Calls to the store that were sent again.",
        argiope_store::store_retries(),
    );
    page.gauge("pages_per_second", "Pages a second over the last ten.", counted.speed());
    page.gauge("urls_queued", "URLs queued in all jobs that are worked on.", shown.queued);
    page.gauge("rows_loaded", "Rows of the queues in memory.", counted.rows.load(Relaxed));
    let stages = [
        ("request", shown.requests as u64),
        ("parse", counted.parsing.load(Relaxed)),
        ("commit", counted.to_commit.load(Relaxed)),
    ];
    page.gauges("queue_length", "Visits under way, by where they are.", "stage", &stages);
    let hosts = [
        ("loaded", shown.hosts as u64),
        ("waiting", shown.hosts_waiting as u64),
        ("ready", shown.hosts_ready as u64),
        ("asked", shown.hosts_asked as u64),
    ];
    page.gauges("hosts", "Hosts in memory, by what they do; loaded are all.", "state", &hosts);
    page.gauge("open_connections", "Connections to hosts, idle ones included.", shown.connections);
    if let Some((partitions, lease)) = live.standing() {
        page.gauge("partitions_held", "Partitions that this worker holds.", partitions);
        let left = lease.as_secs_f64();
        page.gauge("lease_seconds", "Seconds until the lease runs out unless renewed.", left);
    }
    page.gauge("memory_bytes", "Memory that this process holds.", disk::memory());
    page.0
}

fn commits(page: &mut Page, counted: &Counted) {
    let commits = counted.commits.lock().unwrap_or_else(PoisonError::into_inner);
    page.counter("groups_total", "Commits that brought in answers.", commits.groups);
    page.head("commit_seconds", "histogram", "How long commits took, from archive to store.");
    for (bucket, bound) in commits.buckets.iter().zip(BOUNDS_MS) {
        let bound = bound as f64 / 1_000.0;
        page.row("commit_seconds_bucket", &format!("{{le=\"{bound}\"}}"), bucket);
    }
    page.row("commit_seconds_bucket", "{le=\"+Inf\"}", commits.count);
    page.row("commit_seconds_sum", "", commits.sum.as_secs_f64());
    page.row("commit_seconds_count", "", commits.count);
}

/// Gives the page to whoever asks, until it is dropped.
pub async fn serve(listener: TcpListener, live: Arc<Live>) {
    let room = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(room) = room.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of files, perhaps: they come back.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let live = live.clone();
        tokio::spawn(async move {
            let _ = tokio::time::timeout(2 * PATIENCE, answer(stream, &live)).await;
            drop(room);
        });
    }
}

async fn answer(mut stream: TcpStream, live: &Live) -> std::io::Result<()> {
    let mut head = Vec::new();
    let whole = |head: &[u8]| head.windows(4).any(|four| four == b"\r\n\r\n");
    let reading = async {
        while !whole(&head) && head.len() < HEAD {
            let mut piece = [0; 1024];
            match stream.read(&mut piece).await? {
                0 => break,
                n => head.extend_from_slice(&piece[..n]),
            }
        }
        Ok::<(), std::io::Error>(())
    };
    tokio::time::timeout(PATIENCE, reading).await.map_err(std::io::Error::other)??;
    let line = String::from_utf8_lossy(&head);
    let mut words = line.lines().next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let (status, body) = match (method, path) {
        _ if !whole(&head) => ("400 Bad Request", String::new()),
        ("GET" | "HEAD", "/metrics") => ("200 OK", page(live)),
        ("GET" | "HEAD", _) => ("404 Not Found", "What there is is at /metrics.\n".to_owned()),
        _ => ("405 Method Not Allowed", String::new()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    if method != "HEAD" {
        stream.write_all(body.as_bytes()).await?;
    }
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_counted_in_every_bucket_they_fit_into() {
        let live = Live::default();
        let outcomes: Outcomes = [("fetched", 2), ("timed-out", 1)].into();
        live.counted().commit(Duration::from_millis(30), 2, 700, &outcomes);
        live.counted().commit(Duration::from_secs(11), 0, 0, &Outcomes::new());
        let page = page(&live);
        let has = |line: &str| assert!(page.lines().any(|l| l == line), "{line} is not in {page}");
        has("argiope_pages_total 2");
        has("argiope_bytes_total 700");
        has("argiope_failures_total{kind=\"timed-out\"} 1");
        has("argiope_failures_total{kind=\"tls-failed\"} 0");
        has("argiope_groups_total 1");
        has("argiope_commit_seconds_bucket{le=\"0.025\"} 0");
        has("argiope_commit_seconds_bucket{le=\"0.05\"} 1");
        has("argiope_commit_seconds_bucket{le=\"10\"} 1");
        has("argiope_commit_seconds_bucket{le=\"+Inf\"} 2");
        has("argiope_commit_seconds_sum 11.03");
        has("argiope_commit_seconds_count 2");
        assert!(!page.contains("argiope_lease_seconds"), "who crawls alone has no lease");
    }

    #[tokio::test]
    async fn the_page_is_had_at_its_path_and_nothing_elsewhere() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, Arc::default()));
        let ask = async |request: String| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut answer = String::new();
            // Whoever sends more than is read may be cut off.
            let _ = stream.read_to_string(&mut answer).await;
            answer
        };
        let good = ask("GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n".to_owned()).await;
        assert!(
            good.starts_with("HTTP/1.1 200 OK\r\n") && good.contains("\nargiope_pages_total 0")
        );
        for (request, status) in [
            ("GET / HTTP/1.1\r\n\r\n", "404"),
            ("GET /metrics/ HTTP/1.1\r\n\r\n", "404"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
            ("GET /metrics", "400"),
            ("\r\n\r\n", "405"),
        ] {
            let answer = ask(request.to_owned()).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {answer}");
        }
        let long = format!("GET /metrics HTTP/1.1\r\nX: {}", "x".repeat(100_000));
        assert!(!ask(long).await.contains("argiope"));
        // Whoever says nothing does not keep others from asking.
        let _silent: Vec<TcpStream> = futures_of(MOST - 1, || TcpStream::connect(address)).await;
        assert!(ask("GET /metrics HTTP/1.0\r\n\r\n".to_owned()).await.contains("200 OK"));
    }

    async fn futures_of<F>(n: usize, make: impl Fn() -> F) -> Vec<TcpStream>
    where
        F: Future<Output = std::io::Result<TcpStream>>,
    {
        let mut out = Vec::new();
        for _ in 0..n {
            out.push(make().await.unwrap());
        }
        out
    }
}
