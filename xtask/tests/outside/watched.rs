//! Hosts that answer as a test tells them to, and remember when they were asked and answered.
//!
//! A listener per host, a thread per connection. An answer is either whole (a status, headers, a
//! body; the connection stays open) or wild: a function writes what it likes until it ends or the
//! client goes away. The end of a whole answer is noted before its bytes are written: no client
//! can have seen them earlier, so a pause measured from it is never shorter than the real one.

use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The running hosts; they stop listening when dropped.
pub struct Watched {
    addresses: Vec<SocketAddr>,
    seen: Arc<Mutex<Vec<Seen>>>,
    over: Arc<AtomicBool>,
}

/// One request as its host saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Which host.
    pub host: usize,
    /// Path and query as sent.
    pub path: String,
    /// The whole head as sent.
    pub head: String,
    /// When its first byte was there.
    pub arrived: Instant,
    /// When a whole answer was about to be written.
    pub answered: Option<Instant>,
}

/// A request that wants an answer.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Which host.
    pub host: usize,
    /// Path and query as sent.
    pub path: String,
    /// How often this path was asked of this host before.
    pub before: usize,
    /// The whole head as sent.
    pub head: String,
}

/// Writes what it likes.
type Wild = Box<dyn FnOnce(&mut TcpStream) -> io::Result<()> + Send>;

/// What a host says.
pub enum Answer {
    /// An ordinary answer, begun after a while.
    Whole { status: u16, headers: Vec<String>, body: Vec<u8>, after: Duration },
    /// Anything; then the connection is closed.
    Wild(Wild),
    /// These bytes, and then the connection is reset.
    Reset(Vec<u8>),
}

impl Answer {
    /// A good answer of this type.
    pub fn of(kind: &str, body: impl Into<Vec<u8>>) -> Answer {
        let headers = vec![format!("Content-Type: {kind}")];
        Answer::Whole { status: 200, headers, body: body.into(), after: Duration::ZERO }
    }

    /// A page.
    pub fn html(body: impl Into<Vec<u8>>) -> Answer {
        Answer::of("text/html; charset=utf-8", body)
    }

    /// A plain text, such as a robots.txt.
    pub fn text(body: impl Into<Vec<u8>>) -> Answer {
        Answer::of("text/plain", body)
    }

    /// Nothing but a status.
    pub fn status(status: u16) -> Answer {
        Answer::Whole { status, headers: Vec::new(), body: Vec::new(), after: Duration::ZERO }
    }

    /// A redirect.
    pub fn to(location: &str) -> Answer {
        Answer::status(302).header(&format!("Location: {location}"))
    }

    /// Whatever a function writes; the connection is closed after it.
    pub fn wild(write: impl FnOnce(&mut TcpStream) -> io::Result<()> + Send + 'static) -> Answer {
        Answer::Wild(Box::new(write))
    }

    /// The same with one more header.
    pub fn header(mut self, line: &str) -> Answer {
        if let Answer::Whole { headers, .. } = &mut self {
            headers.push(line.to_string());
        }
        self
    }

    /// The same, later.
    pub fn later(mut self, pause: Duration) -> Answer {
        if let Answer::Whole { after, .. } = &mut self {
            *after = pause;
        }
        self
    }
}

/// A page with links.
pub fn page<S: AsRef<str>>(title: &str, links: impl IntoIterator<Item = S>) -> Answer {
    let mut html = format!("<!doctype html><title>{title}</title><h1>{title}</h1>\n");
    for link in links {
        html.push_str(&format!("<p><a href=\"{0}\">{0}</a>\n", link.as_ref()));
    }
    Answer::html(html)
}

/// The loopback address of a test's host.
pub fn loopback(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 2, last))
}

impl Watched {
    /// A host per address, on ports chosen by the system.
    pub fn start(
        addresses: &[IpAddr],
        answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> Result<Watched> {
        let addresses: Vec<_> = addresses.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
        Watched::start_at(&addresses, answer)
    }

    /// A host per address and port.
    pub fn start_at(
        wanted: &[SocketAddr],
        answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
    ) -> Result<Watched> {
        let answer: Arc<dyn Fn(&Asked) -> Answer + Send + Sync> = Arc::new(answer);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let over = Arc::new(AtomicBool::new(false));
        let mut addresses = Vec::new();
        for (host, wanted) in wanted.iter().enumerate() {
            let listener = TcpListener::bind(wanted).with_context(|| format!("bind {wanted}"))?;
            addresses.push(listener.local_addr()?);
            let (answer, seen, over) = (answer.clone(), seen.clone(), over.clone());
            thread(move || {
                for stream in listener.incoming() {
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                    let Ok(stream) = stream else { continue };
                    let (answer, seen) = (answer.clone(), seen.clone());
                    thread(move || {
                        let _ = answer_all(stream, host, &*answer, &seen);
                    });
                }
            });
        }
        Ok(Watched { addresses, seen, over })
    }

    /// The address of a host.
    pub fn address(&self, host: usize) -> SocketAddr {
        self.addresses[host]
    }

    /// A URL of a host.
    pub fn url(&self, host: usize, path: &str) -> String {
        format!("http://{}{path}", self.addresses[host])
    }

    /// The first page of every host.
    pub fn starts(&self) -> Vec<String> {
        (0..self.addresses.len()).map(|host| self.url(host, "/")).collect()
    }

    /// Everything asked of a host so far, in order.
    pub fn seen(&self, host: usize) -> Vec<Seen> {
        lock(&self.seen).iter().filter(|seen| seen.host == host).cloned().collect()
    }

    /// Everything asked so far.
    pub fn all(&self) -> Vec<Seen> {
        lock(&self.seen).clone()
    }

    /// The paths asked of a host, robots.txt among them, each with how often.
    pub fn paths(&self, host: usize) -> BTreeMap<String, usize> {
        let mut paths = BTreeMap::new();
        for seen in self.seen(host) {
            *paths.entry(seen.path).or_default() += 1;
        }
        paths
    }

    /// Nothing but these paths was asked of a host, and each of them.
    pub fn saw_exactly<S: AsRef<str>>(
        &self,
        host: usize,
        wanted: impl IntoIterator<Item = S>,
    ) -> Result<()> {
        let wanted: BTreeSet<String> = wanted.into_iter().map(|s| s.as_ref().into()).collect();
        let got: BTreeSet<String> = self.paths(host).into_keys().collect();
        let (lost, extra) = (wanted.difference(&got), got.difference(&wanted));
        ensure!(
            wanted == got,
            "host {host}: not asked for {:?}; asked for without leave {:?}",
            lost.take(20).collect::<Vec<_>>(),
            extra.take(20).collect::<Vec<_>>()
        );
        Ok(())
    }

    /// The shortest pause of a host and what stands around it; none when it was asked once.
    /// A request that came while another was being answered counts as no pause at all.
    pub fn shortest_pause(&self, host: usize) -> Option<(Duration, String)> {
        let seen = self.seen(host);
        let mut shortest: Option<(Duration, String)> = None;
        for pair in seen.windows(2) {
            let pause = match pair[0].answered {
                Some(end) => pair[1].arrived.saturating_duration_since(end),
                None => Duration::ZERO,
            };
            if shortest.as_ref().is_none_or(|(least, _)| pause < *least) {
                shortest = Some((pause, format!("from {} to {}", pair[0].path, pair[1].path)));
            }
        }
        shortest
    }

    /// The pause of a host is never shorter than this.
    pub fn keeps_pause(&self, host: usize, least: Duration) -> Result<()> {
        let (pause, between) = self.shortest_pause(host).context("a host was hardly asked")?;
        ensure!(pause >= least, "host {host}: a pause of {pause:?} {between}, less than {least:?}");
        Ok(())
    }

    /// The most requests of a host that were being answered at once.
    pub fn most_at_once(&self, host: usize) -> usize {
        let seen = self.seen(host);
        let open = |at: Instant| {
            let under_way = |s: &&Seen| s.arrived <= at && s.answered.is_none_or(|end| end > at);
            seen.iter().filter(under_way).count()
        };
        seen.iter().map(|one| open(one.arrived)).max().unwrap_or(0)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for address in &self.addresses {
            // Wakes the listener, so that it sees that it is over.
            let _ = TcpStream::connect_timeout(address, Duration::from_secs(1));
        }
    }
}

/// How long bytes before a reset have to arrive.
const BEFORE_RESET: Duration = Duration::from_millis(50);

/// Waits for a whole head and looks at it without taking it. None when the client is gone.
fn look(stream: &TcpStream) -> io::Result<Option<(Instant, Vec<u8>)>> {
    let mut buffer = vec![0; 16_384];
    if stream.peek(&mut buffer)? == 0 {
        return Ok(None);
    }
    let arrived = Instant::now();
    loop {
        let there = stream.peek(&mut buffer)?;
        if let Some(end) = buffer[..there].windows(4).position(|four| four == b"\r\n\r\n") {
            buffer.truncate(end + 4);
            return Ok(Some((arrived, buffer)));
        }
        if arrived.elapsed() > Duration::from_secs(10) || there == buffer.len() {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Answers the requests of one connection until one side has enough.
fn answer_all(
    mut stream: TcpStream,
    host: usize,
    answer: &dyn Fn(&Asked) -> Answer,
    all: &Mutex<Vec<Seen>>,
) -> Result<()> {
    stream.set_nodelay(true)?;
    while let Some((arrived, head)) = look(&stream)? {
        let mut taken = vec![0; head.len()];
        // Closing a connection resets it when something was left unread.
        stream.read_exact(&mut taken[..head.len() - 1])?;
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1).unwrap_or("/").to_string();
        let (number, before) = {
            let mut all = lock(all);
            let before = all.iter().filter(|s| s.host == host && s.path == path).count();
            let head = head.clone();
            all.push(Seen { host, path: path.clone(), head, arrived, answered: None });
            (all.len() - 1, before)
        };
        let answer = answer(&Asked { host, path, before, head });
        if let Answer::Reset(bytes) = answer {
            stream.write_all(&bytes)?;
            std::thread::sleep(BEFORE_RESET);
            lock(all)[number].answered = Some(Instant::now());
            return Ok(());
        }
        stream.read_exact(&mut taken[..1])?;
        match answer {
            Answer::Reset(_) => {}
            Answer::Wild(write) => {
                let _ = write(&mut stream);
                lock(all)[number].answered = Some(Instant::now());
                return Ok(());
            }
            Answer::Whole { status, headers, body, after } => {
                std::thread::sleep(after);
                let mut whole = format!("HTTP/1.1 {status} Said\r\n");
                for header in headers {
                    whole.push_str(&format!("{header}\r\n"));
                }
                whole.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
                let whole = [whole.into_bytes(), body].concat();
                lock(all)[number].answered = Some(Instant::now());
                stream.write_all(&whole)?;
            }
        }
    }
    Ok(())
}

fn lock(all: &Mutex<Vec<Seen>>) -> MutexGuard<'_, Vec<Seen>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread of its own that ends with its work or the test process.
pub fn thread(work: impl FnOnce() + Send + 'static) {
    let started = std::thread::Builder::new().stack_size(256 * 1024).spawn(work);
    started.expect("the system allows a few hundred threads");
}

#[test]
fn a_watched_host_measures_pauses_and_what_is_asked_at_once() -> Result<()> {
    let hosts = Watched::start(&[loopback(1)], |asked| match asked.path.as_str() {
        "/reset" => Answer::Reset(b"HTTP/1.1 200 OK\r\n".to_vec()),
        "/slow" => Answer::text("slow").later(Duration::from_millis(300)),
        _ => Answer::text("quick"),
    })?;
    let ask = |path: &str| -> Result<()> {
        let mut stream = TcpStream::connect(hosts.address(0))?;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes())?;
        let mut line = [0; 12];
        stream.read_exact(&mut line)?;
        ensure!(&line == b"HTTP/1.1 200", "{line:?}");
        Ok(())
    };
    ask("/a")?;
    std::thread::sleep(Duration::from_millis(100));
    ask("/b")?;
    hosts.keeps_pause(0, Duration::from_millis(100))?;
    assert!(hosts.keeps_pause(0, Duration::from_millis(5000)).is_err());
    assert_eq!(hosts.most_at_once(0), 1);
    std::thread::scope(|scope| {
        let both = [scope.spawn(|| ask("/slow")), scope.spawn(|| ask("/slow"))];
        both.map(|one| one.join().expect("a client thread"))
    })
    .into_iter()
    .collect::<Result<Vec<()>>>()?;
    assert_eq!(hosts.most_at_once(0), 2);
    assert!(hosts.keeps_pause(0, Duration::from_millis(1)).is_err());
    hosts.saw_exactly(0, ["/a", "/b", "/slow"])?;
    assert!(hosts.saw_exactly(0, ["/a", "/b"]).is_err());
    let mut stream = TcpStream::connect(hosts.address(0))?;
    stream.write_all(b"GET /reset HTTP/1.1\r\nHost: x\r\n\r\n")?;
    let broken = stream.read_to_end(&mut Vec::new()).map_err(|error| error.kind());
    assert_eq!(broken, Err(io::ErrorKind::ConnectionReset));
    Ok(())
}
