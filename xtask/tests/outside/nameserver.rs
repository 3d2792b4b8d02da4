//! A name server on a loopback port that answers as a test tells it to and counts the questions.

use crate::watched::thread;
use anyhow::{Context, Result};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What is said about a name.
pub enum Said {
    /// Its addresses, those of the family asked for, and for how many seconds they hold.
    Addresses(Vec<IpAddr>, u32),
    /// There is no such name, for so many seconds.
    Unknown(u32),
}

/// One question.
#[derive(Clone, Debug)]
pub struct Question {
    /// The name, without the last dot.
    pub name: String,
    /// Whether addresses of IPv6 are wanted.
    pub v6: bool,
    /// When it came.
    pub at: Instant,
}

/// A running name server; its thread ends with the test process.
pub struct NameServer {
    address: SocketAddr,
    questions: Arc<Mutex<Vec<Question>>>,
}

impl NameServer {
    /// Starts one; `say` gets the name and how often it was asked for before (in that family).
    pub fn start(say: impl Fn(&Question, usize) -> Said + Send + 'static) -> Result<NameServer> {
        let socket = UdpSocket::bind(("127.0.0.1", 0)).context("bind a name server")?;
        let address = socket.local_addr()?;
        let questions = Arc::new(Mutex::new(Vec::<Question>::new()));
        let all = questions.clone();
        thread(move || {
            let mut packet = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut packet) {
                let Some((question, end)) = read(&packet[..length]) else { continue };
                let before = {
                    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                    let same = |q: &&Question| q.name == question.name && q.v6 == question.v6;
                    let before = all.iter().filter(same).count();
                    all.push(question.clone());
                    before
                };
                let reply = written(&packet[..end], &question, say(&question, before));
                let _ = socket.send_to(&reply, from);
            }
        });
        Ok(NameServer { address, questions })
    }

    /// The setting that makes a crawl ask it.
    pub fn setting(&self) -> String {
        format!("fetch.dns_servers={}", self.address)
    }

    /// The questions about a name so far, of both families.
    pub fn asked(&self, name: &str) -> Vec<Question> {
        let all = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|question| question.name == name).cloned().collect()
    }
}

/// The question of a packet, and where it ends.
fn read(packet: &[u8]) -> Option<(Question, usize)> {
    let (mut labels, mut at) = (Vec::new(), 12);
    loop {
        let length = usize::from(*packet.get(at)?);
        let label = packet.get(at + 1..at + 1 + length)?;
        at += 1 + length;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(label).to_ascii_lowercase());
    }
    let v6 = packet.get(at..at + 2)? == [0, 28];
    Some((Question { name: labels.join("."), v6, at: Instant::now() }, at + 4))
}

/// The answer to a question, which is repeated in it.
fn written(asked: &[u8], question: &Question, said: Said) -> Vec<u8> {
    let mut out = asked.to_vec();
    out[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0]);
    match said {
        Said::Addresses(addresses, seconds) => {
            for address in addresses.into_iter().filter(|ip| ip.is_ipv6() == question.v6) {
                let bytes = match address {
                    IpAddr::V4(ip) => ip.octets().to_vec(),
                    IpAddr::V6(ip) => ip.octets().to_vec(),
                };
                let kind = if question.v6 { 28 } else { 1 };
                out[7] += 1;
                out.extend([0xc0, 12, 0, kind, 0, 1]);
                out.extend(seconds.to_be_bytes());
                out.extend([0, bytes.len() as u8]);
                out.extend(bytes);
            }
        }
        Said::Unknown(seconds) => {
            out[3] |= 3;
            out[9] = 1;
            // The zone's start of authority: its last number is how long a "no" holds.
            out.extend([0xc0, 12, 0, 6, 0, 1]);
            out.extend(seconds.to_be_bytes());
            out.extend([0, 22, 0, 0]);
            for number in [1, 3600, 600, 86_400, seconds] {
                out.extend(number.to_be_bytes());
            }
        }
    }
    out
}
