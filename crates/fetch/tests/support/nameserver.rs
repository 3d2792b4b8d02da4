//! A name server on a loopback port that answers as a test wants.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

/// What is said about a name.
#[derive(Clone, Debug)]
pub enum Say {
    /// Addresses with their seconds to live; those of the family that was asked for are told.
    Addresses(Vec<IpAddr>, u32),
    /// It is another name for this one.
    Alias(&'static str, u32),
    /// It does not exist.
    Unknown,
    /// The server has a problem.
    Broken,
    /// Nothing at all.
    Silence,
}

pub struct NameServer {
    pub address: SocketAddr,
    pub questions: Arc<AtomicUsize>,
    pub streams: Arc<AtomicUsize>,
}

/// How the server treats datagrams.
#[derive(Clone, Copy, PartialEq)]
pub enum Datagrams {
    Answered,
    /// Every answer is cut: the client must come over a stream.
    Cut,
    /// A forged answer with another number comes before the real one.
    Forged,
}

impl NameServer {
    pub async fn start(say: impl Fn(&str) -> Say + Send + Sync + 'static) -> Self {
        Self::with(Datagrams::Answered, say).await
    }

    pub async fn with(
        datagrams: Datagrams,
        say: impl Fn(&str) -> Say + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let socket = UdpSocket::bind(address).await.unwrap();
        let (questions, streams) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let say = Arc::new(say);
        let (counter, speaker) = (questions.clone(), say.clone());
        tokio::spawn(async move {
            let mut buffer = [0; 512];
            while let Ok((len, from)) = socket.recv_from(&mut buffer).await {
                counter.fetch_add(1, SeqCst);
                let Some(mut reply) = answer(&buffer[..len], &*speaker) else { continue };
                match datagrams {
                    Datagrams::Answered => {}
                    Datagrams::Cut => {
                        reply.truncate(len);
                        reply[2] |= 2;
                        reply[7] = 0;
                    }
                    Datagrams::Forged => {
                        let mut forged = reply.clone();
                        forged[0] ^= 0x55;
                        let at = forged.len() - 1;
                        forged[at] ^= 0x7f;
                        socket.send_to(&forged, from).await.unwrap();
                    }
                }
                socket.send_to(&reply, from).await.unwrap();
            }
        });
        let counter = streams.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counter.fetch_add(1, SeqCst);
                let len = stream.read_u16().await.unwrap();
                let mut question = vec![0; usize::from(len)];
                stream.read_exact(&mut question).await.unwrap();
                let reply = answer(&question, &*say).unwrap();
                stream.write_u16(reply.len() as u16).await.unwrap();
                stream.write_all(&reply).await.unwrap();
            }
        });
        NameServer { address, questions, streams }
    }

    pub fn asked(&self) -> usize {
        self.questions.load(SeqCst)
    }
}

fn answer(question: &[u8], say: &dyn Fn(&str) -> Say) -> Option<Vec<u8>> {
    let (mut name, mut at) = (String::new(), 12);
    while question[at] != 0 {
        let end = at + 1 + usize::from(question[at]);
        name.push_str(std::str::from_utf8(&question[at + 1..end]).unwrap());
        name.push('.');
        at = end;
    }
    let wants_v6 = question[at + 2] == 28;
    let mut out = question.to_vec();
    out[2..4].copy_from_slice(&[0x81, 0x80]);
    let mut record = |kind: u8, ttl: u32, data: &[u8]| {
        out[7] += 1;
        out.extend_from_slice(&[0xc0, 12, 0, kind, 0, 1]);
        out.extend_from_slice(&ttl.to_be_bytes());
        out.extend_from_slice(&(data.len() as u16).to_be_bytes());
        out.extend_from_slice(data);
    };
    match say(name.trim_end_matches('.')) {
        Say::Addresses(ips, ttl) => {
            for ip in ips {
                match ip {
                    IpAddr::V4(ip) if !wants_v6 => record(1, ttl, &ip.octets()),
                    IpAddr::V6(ip) if wants_v6 => record(28, ttl, &ip.octets()),
                    _ => {}
                }
            }
        }
        Say::Alias(other, ttl) => {
            let mut target = Vec::new();
            for label in other.split('.') {
                target.push(label.len() as u8);
                target.extend_from_slice(label.as_bytes());
            }
            target.push(0);
            record(5, ttl, &target);
        }
        Say::Unknown => out[3] |= 3,
        Say::Broken => out[3] |= 2,
        Say::Silence => return None,
    }
    Some(out)
}
