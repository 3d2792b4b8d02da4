//! `/metrics`: what the crawl counts, and what the server counts of itself, for Prometheus.
//!
//! * Invariants: what ends in `_total`, and the histogram, only grows while the process lives; labels come from a fixed
//!   set, whatever is asked for.

use super::given::Given;
use super::typed;
use crate::app::App;
use crate::failure::Failure;
use argiope_crawl::Question;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Upper bounds of the histogram, in milliseconds.
const BOUNDS_MS: [u64; 10] = [1, 5, 10, 25, 50, 100, 250, 1_000, 5_000, 30_000];

/// What is counted.
#[derive(Default)]
pub(crate) struct Meter {
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    took: Mutex<Took>,
    open: Arc<AtomicU64>,
    waiting: Arc<AtomicU64>,
}

#[derive(Default)]
struct Took {
    buckets: [u64; BOUNDS_MS.len()],
    count: u64,
    sum: Duration,
}

/// Counts as long as it lives.
pub(crate) struct Held(Arc<AtomicU64>);

impl Held {
    fn new(counter: &Arc<AtomicU64>) -> Self {
        counter.fetch_add(1, Relaxed);
        Held(counter.clone())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Meter {
    /// A connection is open as long as this lives.
    pub fn open(&self) -> Held {
        Held::new(&self.open)
    }

    /// A question waits for its turn as long as this lives.
    pub fn wait(&self) -> Held {
        Held::new(&self.waiting)
    }

    fn answered(&self, kind: &'static str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((kind, status)).or_default() += 1;
        let mut all = self.took.lock().unwrap_or_else(PoisonError::into_inner);
        for (bucket, bound) in all.buckets.iter_mut().zip(BOUNDS_MS) {
            *bucket += u64::from(took <= Duration::from_millis(bound));
        }
        all.count += 1;
        all.sum += took;
    }

    fn write(&self, out: &mut String, being_answered: usize) {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        head(out, "requests_total", "counter", "Requests answered, by what they asked for.");
        for ((kind, status), n) in &*requests {
            let labels = format!("{{kind=\"{kind}\",status=\"{status}\"}}");
            let _ = writeln!(out, "argiope_web_requests_total{labels} {n}");
        }
        let took = self.took.lock().unwrap_or_else(PoisonError::into_inner);
        head(out, "request_seconds", "histogram", "Seconds until an answer began.");
        for (bucket, bound) in took.buckets.iter().zip(BOUNDS_MS) {
            let bound = bound as f64 / 1_000.0;
            let _ = writeln!(out, "argiope_web_request_seconds_bucket{{le=\"{bound}\"}} {bucket}");
        }
        let (count, sum) = (took.count, took.sum.as_secs_f64());
        let _ = writeln!(out, "argiope_web_request_seconds_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(out, "argiope_web_request_seconds_sum {sum}");
        let _ = writeln!(out, "argiope_web_request_seconds_count {count}");
        let gauges = [
            ("open_connections", "Connections of clients.", self.open.load(Relaxed)),
            ("questions_waiting", "Questions that wait for a turn.", self.waiting.load(Relaxed)),
            ("questions_asked", "Questions being answered.", being_answered as u64),
        ];
        for (name, help, n) in gauges {
            head(out, name, "gauge", help);
            let _ = writeln!(out, "argiope_web_{name} {n}");
        }
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP argiope_web_{name} {help}\n# TYPE argiope_web_{name} {kind}");
}

/// Counts a request. The outermost of all who see it.
pub(crate) async fn measure(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    let kinds = ["api", "cdx", "timemap", "timegate", "memento", "metrics", "assets", "feed.atom"];
    let health = ["healthz", "readyz"].contains(&first).then_some("health");
    let kind = kinds.into_iter().find(|kind| *kind == first).or(health).unwrap_or("page");
    let began = Instant::now();
    let answer = next.run(request).await;
    app.meter.answered(kind, answer.status().as_u16(), began.elapsed());
    answer
}

/// The page of metrics; valid too where nobody crawls, or nobody answers.
pub(crate) fn metrics(app: &App, _: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let asked = app.ask(Question::Metrics).await;
        let answers = asked.is_ok();
        let rows = asked.unwrap_or_default();
        let mut out = rows.first().and_then(|row| row["text"].as_str()).unwrap_or("").to_owned();
        for (name, help, value) in [
            ("up", "Whether the data directory answers questions.", answers),
            ("crawling", "Whether a crawl runs in the data directory.", !rows.is_empty()),
        ] {
            head(&mut out, name, "gauge", help);
            let _ = writeln!(out, "argiope_web_{name} {}", u8::from(value));
        }
        app.meter.write(&mut out, app.being_answered());
        Ok(typed("text/plain; version=0.0.4; charset=utf-8", out))
    }
    .boxed()
}
