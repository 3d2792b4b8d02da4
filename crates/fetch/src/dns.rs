//! A small client of the name service, for the servers that the settings name.
//!
//! * Its place: `names` asks it where no address is given by hand and keeps what it says.
//! * How: one question per datagram, over a socket of its own whose port the system picks at
//!   random, with a random number in it; answers from elsewhere or to other questions are passed
//!   over. An answer that does not fit comes over TCP. Both address families are asked for at
//!   once. Servers are tried in turn, beginning with the one that answered last.
//! * What is not here: recursion (the servers do that), search domains, the hosts file, DNSSEC.

mod message;

use message::{Family, MAX_ALIASES, Name, Reply};
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

/// How long one server may take for one question.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a question is asked in all.
const TRIES: usize = 3;
/// When one family has answered, how long the other may keep everyone waiting.
const OTHER_FAMILY: Duration = Duration::from_millis(500);
/// Addresses are kept at least and at most this long, whatever the zone says.
const SECONDS_KEPT: (u32, u32) = (30, 86_400);
/// A "no" is kept at most this long.
const SECONDS_DENIED: u32 = 60;
/// How long it is remembered that no server had an answer.
const SECONDS_FAILED: u32 = 30;
/// The largest answer over a datagram; we do not offer to take more.
const DATAGRAM_BYTES: usize = 4096;

/// What is known of a name, and for how long.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) addresses: Result<Vec<IpAddr>, &'static str>,
    pub(crate) good_for: Duration,
}

impl Known {
    fn new(addresses: Result<Vec<IpAddr>, &'static str>, seconds: u32) -> Self {
        Known { addresses, good_for: Duration::from_secs(seconds.into()) }
    }
}

/// Asks name servers.
pub(crate) struct Dns {
    servers: Vec<SocketAddr>,
    /// The server to begin with.
    first: AtomicUsize,
    patience: Duration,
}

impl Dns {
    /// A client of these servers, of which there is at least one.
    pub(crate) fn new(servers: &[SocketAddr]) -> Self {
        Dns { servers: servers.to_vec(), first: AtomicUsize::new(0), patience: PATIENCE }
    }

    /// The addresses of a name: IPv4 first, then in turn.
    pub(crate) async fn lookup(&self, host: &str) -> Known {
        let Some(name) = Name::of(host) else {
            return Known::new(Err("no address: this cannot be a name"), SECONDS_KEPT.1);
        };
        let (v4, v6) = both(self.family(&name, Family::V4), self.family(&name, Family::V6)).await;
        let whole = v4.is_some() && v6.is_some();
        let (mut lists, mut exists) = ([Vec::new(), Vec::new()], false);
        let (mut seconds, mut denied) = (u32::MAX, None);
        for (reply, list) in [v4, v6].into_iter().zip(&mut lists) {
            match reply {
                Some(Reply::Found(ips, s)) => {
                    *list = ips;
                    seconds = seconds.min(s);
                }
                Some(Reply::None { exists: e, seconds: s }) => {
                    exists |= e;
                    let s = s.unwrap_or(SECONDS_DENIED).clamp(1, SECONDS_DENIED);
                    denied = Some(denied.map_or(s, |d: u32| d.min(s)));
                }
                _ => {}
            }
        }
        let all = interleave(&lists[0], &lists[1]);
        if !all.is_empty() {
            // Half an answer is kept for the shortest time; a "no" for one family is whole.
            let seconds = if whole { seconds } else { 0 };
            return Known::new(Ok(all), seconds.clamp(SECONDS_KEPT.0, SECONDS_KEPT.1));
        }
        match denied {
            None => Known::new(Err("no address: the name service does not answer"), SECONDS_FAILED),
            Some(s) if exists => Known::new(Err("no address: the name has none"), s),
            Some(s) => Known::new(Err("no address: name not known"), s),
        }
    }

    /// The addresses of one family; aliases that end outside an answer are asked for. `None`:
    /// no server has said anything of use.
    async fn family(&self, name: &Name, family: Family) -> Option<Reply> {
        let (mut name, mut shortest) = (name.clone(), u32::MAX);
        for _ in 0..MAX_ALIASES {
            match self.ask(&name, family).await? {
                Reply::Alias(target, seconds) => {
                    shortest = shortest.min(seconds);
                    name = target;
                }
                Reply::Found(ips, seconds) => {
                    return Some(Reply::Found(ips, seconds.min(shortest)));
                }
                other => return Some(other),
            }
        }
        Some(Reply::None { exists: true, seconds: None })
    }

    async fn ask(&self, name: &Name, family: Family) -> Option<Reply> {
        let first = self.first.load(Relaxed);
        for n in 0..TRIES.max(self.servers.len()) {
            let at = (first + n) % self.servers.len();
            let asked = ask_server(self.servers[at], name, family);
            match timeout(self.patience, asked).await {
                Ok(Ok(Reply::Refused)) | Ok(Err(_)) | Err(_) => {}
                Ok(Ok(reply)) => {
                    if n > 0 {
                        self.first.store(at, Relaxed);
                    }
                    return Some(reply);
                }
            }
        }
        None
    }
}

/// Both replies; the second is waited for only a little while once the first has brought
/// addresses, so that a server that ignores one family does not delay every page.
async fn both(
    v4: impl Future<Output = Option<Reply>>,
    v6: impl Future<Output = Option<Reply>>,
) -> (Option<Reply>, Option<Reply>) {
    tokio::pin!(v4, v6);
    let found = |r: &Option<Reply>| matches!(r, Some(Reply::Found(..)));
    tokio::select! {
        a = &mut v4 => {
            let rest = if found(&a) { timeout(OTHER_FAMILY, v6).await.ok().flatten() } else { v6.await };
            (a, rest)
        }
        b = &mut v6 => {
            let rest = if found(&b) { timeout(OTHER_FAMILY, v4).await.ok().flatten() } else { v4.await };
            (rest, b)
        }
    }
}

/// One of each in turn, so that a dead family costs one try and not all of them.
pub(crate) fn interleave(first: &[IpAddr], second: &[IpAddr]) -> Vec<IpAddr> {
    let mut all = Vec::with_capacity(first.len() + second.len());
    for n in 0..first.len().max(second.len()) {
        all.extend(first.get(n));
        all.extend(second.get(n));
    }
    all
}

async fn ask_server(server: SocketAddr, name: &Name, family: Family) -> io::Result<Reply> {
    let id = random_id()?;
    let question = message::question(id, name, family);
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    // Connected: datagrams from elsewhere do not come in, and a closed port is told at once.
    socket.connect(server).await?;
    socket.send(&question).await?;
    let mut buffer = [0; DATAGRAM_BYTES];
    loop {
        let len = socket.recv(&mut buffer).await?;
        match message::reply(&buffer[..len], id, name, family) {
            Some(Reply::Cut) => return ask_stream(server, id, &question, name, family).await,
            Some(reply) => return Ok(reply),
            // Not an answer to this question: forged, late or damaged. The real one may follow.
            None => {}
        }
    }
}

async fn ask_stream(
    server: SocketAddr,
    id: u16,
    question: &[u8],
    name: &Name,
    family: Family,
) -> io::Result<Reply> {
    let mut stream = TcpStream::connect(server).await?;
    let len = u16::try_from(question.len()).map_err(io::Error::other)?;
    stream.write_all(&[&len.to_be_bytes(), question].concat()).await?;
    let len = stream.read_u16().await?;
    let mut answer = vec![0; usize::from(len)];
    stream.read_exact(&mut answer).await?;
    match message::reply(&answer, id, name, family) {
        None | Some(Reply::Cut) => Ok(Reply::Refused),
        Some(reply) => Ok(reply),
    }
}

/// Reads an answer of a name server from bytes, for fuzzing: how many addresses it holds for
/// `a.test`, whose question with the number 7 it must repeat.
#[doc(hidden)]
pub fn name_answer_from_bytes(bytes: &[u8]) -> usize {
    let name = Name::of("a.test");
    let replies = [Family::V4, Family::V6]
        .map(|family| name.as_ref().and_then(|name| message::reply(bytes, 7, name, family)));
    let addresses = |reply: Option<Reply>| match reply {
        Some(Reply::Found(ips, _)) => ips.len(),
        _ => 0,
    };
    replies.into_iter().map(addresses).sum()
}

/// A number that nobody can guess, from the generator that TLS uses.
fn random_id() -> io::Result<u16> {
    let mut bytes = [0; 2];
    let random = rustls::crypto::ring::default_provider().secure_random;
    random.fill(&mut bytes).map_err(|_| io::Error::other("no random numbers"))?;
    Ok(u16::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_is_silent_is_left_for_one_that_answers() {
        let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let good = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let servers = [silent.local_addr().unwrap(), good.local_addr().unwrap()];
        let mut dns = Dns::new(&servers);
        dns.patience = Duration::from_millis(100);
        tokio::spawn(async move {
            let mut buffer = [0; 512];
            while let Ok((len, from)) = good.recv_from(&mut buffer).await {
                let mut answer = buffer[..len].to_vec();
                // The name exists; it has an address if IPv4 was asked for.
                answer[2..4].copy_from_slice(&[0x81, 0x80]);
                if answer[len - 3] == 1 {
                    answer[7] = 1;
                    answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 99, 0, 4, 192, 0, 2, 1]);
                }
                good.send_to(&answer, from).await.unwrap();
            }
        });
        let known = dns.lookup("a.test").await;
        assert_eq!(known.addresses, Ok(vec!["192.0.2.1".parse().unwrap()]));
        assert_eq!(dns.first.load(Relaxed), 1, "the next question goes to it at once");
    }

    #[test]
    fn families_take_turns() {
        let ips = |list: &[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect::<Vec<_>>();
        let all = interleave(&ips(&["192.0.2.1"]), &ips(&["::1", "::2", "::3"]));
        assert_eq!(all, ips(&["192.0.2.1", "::1", "::2", "::3"]));
    }
}
