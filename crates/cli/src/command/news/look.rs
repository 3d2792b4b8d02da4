//! Looking at a page at once, as a person's browser would: robots.txt, then the page, without the crawl's delay.
//!
//! * [`Looker::page`] asks for one page. Redirects are followed, on to other hosts too, each of which is asked for
//!   its robots.txt first; size and time are limited.
//! * Invariants: nothing is stored; what robots.txt forbids is not asked for; every failure is a sentence.
//! * What is not here: what the page says (`quick`, `test`).

use anyhow::Context;
use argiope_crawl::EngineSettings;
use argiope_fetch::{Answer, Fetcher, Head, Take};
use argiope_frontier::{MAX_ROBOTS_BYTES, Robots};
use argiope_model::{CanonicalUrl, FetchOutcome, OutcomeKind};
use argiope_parse::{MediaType, media_type};
use std::collections::HashMap;
use std::io::Read;
use std::time::{Duration, Instant};

/// The longest page, as sent.
const MAX_BYTES: u64 = 16 << 20;
/// The longest page, unpacked.
const MAX_DECODED: u64 = 32 << 20;
/// Redirects on the way to a page; browsers give up at 20.
const MAX_HOPS: usize = 10;
/// Redirects on the way to a robots.txt.
const MAX_ROBOTS_HOPS: usize = 5;
/// Nobody who wants a quick look waits longer for an answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Nor for a connection.
const CONNECT: Duration = Duration::from_secs(6);

/// A page as it was answered.
#[derive(Debug)]
pub struct Page {
    /// Where it is, behind all redirects.
    pub url: CanonicalUrl,
    /// What it is, by its header and its bytes.
    pub media: MediaType,
    /// The header as sent.
    pub content_type: Option<String>,
    /// Without content codings.
    pub bytes: Vec<u8>,
    /// When its last byte was here.
    pub arrived: Instant,
}

impl Page {
    /// The encoding that the header names.
    pub fn charset(&self) -> Option<&str> {
        self.media.charset.as_deref()
    }
}

/// Why there is no page.
#[derive(Debug)]
pub enum NoPage {
    /// The site does not want it.
    Forbidden(String),
    /// It was not asked: the address is private.
    Private(String),
    /// It answered, but not with a page.
    Answered(String),
    /// It could not be had.
    Failed(String),
}

impl std::fmt::Display for NoPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use NoPage::{Answered, Failed, Forbidden, Private};
        let (Forbidden(why) | Private(why) | Answered(why) | Failed(why)) = self;
        f.write_str(why)
    }
}

impl std::error::Error for NoPage {}

/// Looks at pages, one after the other.
pub struct Looker {
    fetcher: Fetcher,
    /// Our name in a robots.txt; `None`: nobody's wishes are obeyed.
    agent: Option<String>,
    /// By origin.
    robots: HashMap<String, Robots>,
    // Bodies stay in memory; what the fetcher needs for longer ones is removed with it.
    _spool: tempfile::TempDir,
}

impl Looker {
    pub fn new(settings: &EngineSettings) -> anyhow::Result<Self> {
        let spool = tempfile::Builder::new().prefix("argiope-look").tempdir();
        let spool = spool.context("cannot make a directory for what is on its way")?;
        let mut fetch = settings.fetch.clone();
        fetch.spool_dir = spool.path().join("spool");
        fetch.connect_timeout = fetch.connect_timeout.min(CONNECT);
        fetch.total_timeout = fetch.total_timeout.min(PATIENCE);
        fetch.max_body_bytes = fetch.max_body_bytes.min(MAX_BYTES);
        fetch.max_decoded_bytes = fetch.max_decoded_bytes.min(MAX_DECODED);
        let agent = settings.robots.then(|| settings.agent().to_owned());
        Ok(Looker { fetcher: Fetcher::new(fetch)?, agent, robots: HashMap::new(), _spool: spool })
    }

    /// Asks for a page.
    pub async fn page(&mut self, url: &CanonicalUrl) -> Result<Page, NoPage> {
        let mut at = url.clone();
        for _ in 0..=MAX_HOPS {
            self.may(&at).await?;
            // A redirect or an error needs no body.
            let take = |head: &Head| match head.status {
                200..300 => Take::Body,
                status => Take::Nothing(FetchOutcome::new(OutcomeKind::ClientError, status)),
            };
            let answer = self.ask(&at, take).await?;
            let arrived = Instant::now();
            let head = answer.head.as_ref();
            let status = head.map_or(0, |head| head.status);
            match status {
                300..400 => {
                    let to = head.and_then(Head::location);
                    let to = to.and_then(|to| at.join(to.trim()).ok());
                    at = to.ok_or_else(|| {
                        failed(format!("{at} leads elsewhere, but does not say where"))
                    })?;
                }
                200..300 => return self.read(at, answer, arrived),
                _ => return Err(NoPage::Answered(format!("{at} answers {}", named(status)))),
            }
        }
        Err(NoPage::Answered(format!("{url} leads from one page to the next and never arrives")))
    }

    /// Unpacks a good answer.
    fn read(&self, url: CanonicalUrl, answer: Answer, arrived: Instant) -> Result<Page, NoPage> {
        let head = answer.head.as_ref();
        let coding = head.and_then(Head::content_encoding).unwrap_or_default();
        let broken = |why: String| failed(format!("{url} cannot be unpacked: {why}"));
        let body = self.fetcher.decode(&answer.body, &coding).map_err(|e| broken(e.to_string()))?;
        let mut bytes = Vec::new();
        let mut reader = body.reader().map_err(|e| broken(e.to_string()))?;
        reader.read_to_end(&mut bytes).map_err(|e| broken(e.to_string()))?;
        let content_type = head.and_then(Head::content_type).map(|said| said.into_owned());
        let media = media_type(content_type.as_deref(), &bytes, url.extension().as_deref());
        Ok(Page { url, media, content_type, bytes, arrived })
    }

    /// Whether a page may be asked for: its host's robots.txt is read first.
    async fn may(&mut self, url: &CanonicalUrl) -> Result<(), NoPage> {
        let Some(agent) = self.agent.clone() else { return Ok(()) };
        let origin = url.origin().to_owned();
        if !self.robots.contains_key(&origin) {
            let robots = self.ask_robots(url, &agent).await?;
            self.robots.insert(origin.clone(), robots);
        }
        let verdict = self.robots[&origin].verdict(url.path_and_query());
        if verdict.allowed {
            return Ok(());
        }
        let rule = verdict.rule.map_or_else(String::new, |rule| {
            format!(" (line {}: Disallow: {})", rule.line, rule.pattern)
        });
        Err(NoPage::Forbidden(format!("{url} is not asked for: its robots.txt forbids it{rule}")))
    }

    async fn ask_robots(&self, url: &CanonicalUrl, agent: &str) -> Result<Robots, NoPage> {
        let mut at = url.robots_txt();
        for _ in 0..=MAX_ROBOTS_HOPS {
            let take = |head: &Head| match head.status {
                200..300 => Take::First(MAX_ROBOTS_BYTES as u64 + 1),
                status => Take::Nothing(FetchOutcome::new(OutcomeKind::ClientError, status)),
            };
            let answer = self.ask(&at, take).await?;
            let head = answer.head.as_ref();
            match head.map_or(0, |head| head.status) {
                200..300 => {
                    let coding = head.and_then(Head::content_encoding).unwrap_or_default();
                    let mut bytes = Vec::new();
                    if let Ok(body) = self.fetcher.decode(&answer.body, &coding)
                        && let Ok(reader) = body.reader()
                    {
                        // What is damaged towards its end counts as far as it can be read.
                        let _ = reader.take(MAX_ROBOTS_BYTES as u64 + 1).read_to_end(&mut bytes);
                    }
                    return Ok(Robots::parse(&bytes, agent));
                }
                300..400 => {
                    let to = head.and_then(Head::location);
                    match to.and_then(|to| at.join(to.trim()).ok()) {
                        Some(to) => at = to,
                        None => return Ok(Robots::allow_all()),
                    }
                }
                // "Too many requests" says "not now".
                status @ (429 | 500..) => {
                    let why = format!(
                        "{} is not asked: its robots.txt cannot be had now ({})",
                        url.host(),
                        named(status)
                    );
                    return Err(NoPage::Answered(why));
                }
                _ => return Ok(Robots::allow_all()),
            }
        }
        // Redirects without an end say that there is none.
        Ok(Robots::allow_all())
    }

    /// One request. A verdict of our own on the body is no failure.
    async fn ask(
        &self,
        url: &CanonicalUrl,
        take: impl FnOnce(&Head) -> Take,
    ) -> Result<Answer, NoPage> {
        let answer = self.fetcher.get(url, take).await.map_err(|e| failed(e.to_string()))?;
        match &answer.outcome {
            Some(outcome) if outcome.kind != OutcomeKind::ClientError => {
                Err(no_answer(url, outcome))
            }
            _ => Ok(answer),
        }
    }
}

fn failed(why: String) -> NoPage {
    NoPage::Failed(why)
}

/// A status as people know it.
fn named(status: u16) -> String {
    let name = match status {
        401 => " (it wants a password)",
        403 => " (forbidden)",
        404 => " (not found)",
        410 => " (gone)",
        429 => " (too many requests)",
        451 => " (blocked by law)",
        500 => " (it has an error)",
        502 | 504 => " (what is behind it does not answer)",
        503 => " (not available now)",
        _ => "",
    };
    format!("{status}{name}")
}

/// A sentence about a request without an answer.
fn no_answer(url: &CanonicalUrl, outcome: &FetchOutcome) -> NoPage {
    let host = url.authority();
    let why = outcome.detail.as_deref().unwrap_or_default();
    let with = |text: String| match why {
        "" => text,
        why => format!("{text}: {why}"),
    };
    failed(match outcome.kind {
        OutcomeKind::NoAddress => format!("there is no address for {host}; is the name right?"),
        OutcomeKind::ForbiddenAddress => {
            return NoPage::Private(format!(
                "{host} is a private address, which is not asked unless --allow-private is given"
            ));
        }
        OutcomeKind::ConnectFailed => with(format!("{host} cannot be reached")),
        OutcomeKind::ConnectionLost => with(format!("{host} broke off in the middle")),
        OutcomeKind::TimedOut => with(format!("{url} took too long")),
        OutcomeKind::TlsFailed => with(format!("{host} cannot be trusted")),
        OutcomeKind::TooLarge => {
            let most = MAX_BYTES >> 20;
            return NoPage::Answered(format!(
                "{url} is larger than {most} MB; that is no front page"
            ));
        }
        OutcomeKind::BadEncoding => with(format!("{url} cannot be unpacked")),
        // The reason says as much by itself.
        _ if !why.is_empty() => format!("{url}: {why}"),
        _ => format!("{url} answers with something that is not HTTP"),
    })
}
