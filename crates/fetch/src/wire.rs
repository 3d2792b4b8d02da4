//! The bytes between us and a server, and the tap that remembers each head as it came.
//!
//! * Its place: `connection` gives a [`Wire`] to the HTTP client; the client reads and writes
//!   through it and never shows the raw head, so the [`Tap`] keeps a copy on the way in.
//! * Under a cap (`throttle`) bytes that were read are held until their turn has come.
//! * States of a tap: *head* (bytes are copied until the blank line; interim 1xx heads are
//!   dropped), then *body* (bytes are only counted) until [`Tap::next_answer`].
//! * What is not here: the TLS handshake (`tls`).

use crate::throttle::{Patience, Throttle};
use bytes::{Buf, Bytes};
use hyper::rt::ReadBufCursor;
use memchr::memchr;
use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_rustls::client::TlsStream;

/// The most that one read brings in.
const READ_BYTES: usize = 32 << 10;

/// What may come in beyond a head's limit without anything of use in it: heads that only
/// announce others, the framing of chunks, frames that carry nothing.
const IDLE_TALK_BYTES: u64 = 256 << 10;
/// The same for HTTP/2, whose machinery reads ahead: a window full of the smallest frames.
const IDLE_FRAME_BYTES: u64 = 4 << 20;

/// What is spoken over a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Http1,
    Http2,
}

/// A way to a server.
pub(crate) enum Stream {
    Plain(TcpStream),
    /// Boxed, since its state is a kilobyte and most of a crawl's connections idle.
    Tls(Box<TlsStream<TcpStream>>),
}

/// What both kinds of stream can do.
trait Both: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Both for T {}

/// A stream as the HTTP client wants it, with a tap on what comes in.
pub(crate) struct Wire {
    stream: Stream,
    tap: Arc<Mutex<Tap>>,
    throttle: Option<Arc<Throttle>>,
    held: Option<Held>,
}

/// Bytes whose turn has not come.
struct Held {
    turn: Pin<Box<Sleep>>,
    bytes: Bytes,
}

impl Wire {
    pub(crate) fn new(
        stream: Stream,
        tap: Arc<Mutex<Tap>>,
        throttle: Option<Arc<Throttle>>,
    ) -> Self {
        Wire { stream, tap, throttle, held: None }
    }

    fn stream(&mut self) -> Pin<&mut dyn Both> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp),
            Stream::Tls(tls) => Pin::new(&mut **tls),
        }
    }

    fn tap(&self) -> MutexGuard<'_, Tap> {
        self.tap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads under a cap: what came in is held first and handed on in its turn.
    fn poll_read_held(
        &mut self,
        throttle: &Throttle,
        cx: &mut Context<'_>,
        into: &mut ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.held.is_none() {
            let mut space = [const { MaybeUninit::uninit() }; READ_BYTES];
            let mut buf = ReadBuf::uninit(&mut space[..throttle.piece().min(READ_BYTES)]);
            ready!(self.stream().poll_read(cx, &mut buf))?;
            if buf.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            let wait = throttle.charge(buf.filled().len());
            self.tap().patience.grant(wait);
            let bytes = Bytes::copy_from_slice(buf.filled());
            self.held = Some(Held { turn: Box::pin(sleep(wait)), bytes });
        }
        if let Some(held) = &mut self.held {
            ready!(held.turn.as_mut().poll(cx));
            let len = held.bytes.len().min(into.remaining());
            let now = held.bytes.split_to(len);
            if !held.bytes.has_remaining() {
                self.held = None;
            }
            into.put_slice(&now);
            self.tap().feed(&now)?;
        }
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(throttle) = self.throttle.clone() {
            return self.poll_read_held(&throttle, cx, &mut into);
        }
        // The cursor can only be filled by copying. The detour over the stack costs less than
        // a microsecond per page and lets the tap look at the bytes.
        let mut space = [const { MaybeUninit::uninit() }; READ_BYTES];
        let room = into.remaining().min(READ_BYTES);
        let mut buf = ReadBuf::uninit(&mut space[..room]);
        ready!(self.stream().poll_read(cx, &mut buf))?;
        into.put_slice(buf.filled());
        self.tap().feed(buf.filled())?;
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(cx)
    }
}

/// Remembers the head of the current answer and counts what came in.
pub(crate) struct Tap {
    head: Vec<u8>,
    /// Up to here `head` holds no end of a head.
    searched: usize,
    in_head: bool,
    limit: usize,
    /// Bytes received since the request, interim heads and chunk framing included.
    pub(crate) received: u64,
    /// How many of them there were when the answer last got on.
    got_on_at: u64,
    /// How many more may come without that.
    idle_talk: u64,
    /// Where the request learns how long we held it up.
    patience: Patience,
}

impl Tap {
    /// A tap that keeps heads up to `limit` bytes. Of HTTP/2 it keeps the first few bytes, which
    /// tell if it is that.
    pub(crate) fn new(language: Language, limit: usize) -> Self {
        let (limit, idle_talk) = match language {
            Language::Http1 => (limit, limit as u64 + IDLE_TALK_BYTES),
            Language::Http2 => (16, IDLE_FRAME_BYTES),
        };
        Tap {
            head: Vec::new(),
            searched: 0,
            in_head: true,
            limit,
            received: 0,
            got_on_at: 0,
            idle_talk,
            patience: Patience::default(),
        }
    }

    /// Gets ready for the answer to the next request.
    pub(crate) fn next_answer(&mut self, patience: &Patience) {
        self.patience = patience.clone();
        self.head.clear();
        self.searched = 0;
        self.in_head = true;
        self.received = 0;
        self.got_on_at = 0;
    }

    /// Notes that what came in so far was of use.
    pub(crate) fn got_on(&mut self) {
        self.got_on_at = self.received;
    }

    /// The head as received.
    pub(crate) fn take_head(&mut self) -> Vec<u8> {
        self.in_head = false;
        std::mem::take(&mut self.head)
    }

    /// The head, if its end has come.
    pub(crate) fn complete_head(self) -> Option<Vec<u8>> {
        (!self.in_head).then_some(self.head)
    }

    /// What the server has spoken, as far as the beginning of its answer tells: HTTP/2 begins
    /// with a frame of settings or of farewell.
    pub(crate) fn spoken(&self) -> Option<Language> {
        match self.head[..] {
            [0, _, _, 4 | 7, _, 0, 0, 0, 0, ..] => Some(Language::Http2),
            [b'H', b'T', b'T', b'P', b'/', b'1', ..] => Some(Language::Http1),
            _ => None,
        }
    }

    /// Takes note of bytes that came in; an error if they have led nowhere for too long.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.received += bytes.len() as u64;
        if self.in_head {
            self.keep(bytes);
        }
        if self.received - self.got_on_at > self.idle_talk {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "much was sent, nothing said"));
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) {
        // The client gives up on heads beyond the limit; here it only bounds memory.
        let room = self.limit.saturating_sub(self.head.len());
        // In small pieces: a read may bring a short head and a whole page behind it.
        for piece in bytes[..bytes.len().min(room)].chunks(1024) {
            self.head.extend_from_slice(piece);
            self.look_for_end();
            if !self.in_head {
                return;
            }
        }
    }

    fn look_for_end(&mut self) {
        loop {
            if self.searched == 0 {
                // Blank lines before a status line belong to no head.
                let blank = self.head.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
                self.head.drain(..blank);
            }
            let Some(end) = self.end_of_head() else { return };
            if !is_interim(&self.head) {
                self.head.truncate(end);
                self.in_head = false;
                return;
            }
            self.head.drain(..end);
            self.searched = 0;
        }
    }

    /// Where the blank line ends, if it is already here. Lines may end without a CR.
    fn end_of_head(&mut self) -> Option<usize> {
        while let Some(at) = memchr(b'\n', &self.head[self.searched..]) {
            let at = self.searched + at;
            match self.head[at + 1..] {
                [b'\n', ..] => return Some(at + 2),
                [b'\r', b'\n', ..] => return Some(at + 3),
                [] | [b'\r'] => {
                    self.searched = at;
                    return None;
                }
                _ => self.searched = at + 1,
            }
        }
        self.searched = self.head.len();
        None
    }
}

/// Whether a head announces another one. 101 does not: it is the last one in HTTP.
fn is_interim(head: &[u8]) -> bool {
    let status = head.get(9..12);
    head.starts_with(b"HTTP/1.")
        && status.is_some_and(|s| s[0] == b'1' && s.iter().all(u8::is_ascii_digit) && s != b"101")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tapped(bytes: &[u8], piece: usize) -> String {
        let mut tap = Tap::new(Language::Http1, 64 << 10);
        for part in bytes.chunks(piece) {
            tap.feed(part).unwrap();
        }
        assert_eq!(tap.received, bytes.len() as u64);
        String::from_utf8(tap.take_head()).unwrap()
    }

    #[test]
    fn the_final_head_is_kept_however_it_is_cut() {
        let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(3000));
        for (sent, kept) in [
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
            ("HTTP/1.0 404\n\nbody", "HTTP/1.0 404\n\n"),
            ("\r\nHTTP/1.1 200 OK\nA: b\r\n\r\n", "HTTP/1.1 200 OK\nA: b\r\n\r\n"),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n\
                 HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 500 no\r\n\r\n",
                "HTTP/1.1 200 OK\r\n\r\n",
            ),
            (long.as_str(), long.as_str()),
        ] {
            for piece in [1, 2, 3, 7, 1000, 100_000] {
                assert_eq!(tapped(sent.as_bytes(), piece), kept, "in pieces of {piece}");
            }
        }
    }

    #[test]
    fn an_endless_head_stays_inside_the_limit() {
        let mut tap = Tap::new(Language::Http1, 8192);
        for _ in 0..100 {
            tap.feed(&[b'x'; 1000]).unwrap();
        }
        assert_eq!(tap.take_head().len(), 8192);
    }

    #[test]
    fn talk_that_leads_nowhere_is_ended() {
        let mut tap = Tap::new(Language::Http1, 8192);
        let hint = b"HTTP/1.1 103 Hints\r\nLink: </>\r\n\r\n";
        let heard = (0..100_000).take_while(|_| tap.feed(hint).is_ok()).count();
        assert!(heard * hint.len() <= 8192 + IDLE_TALK_BYTES as usize, "{heard}");
        tap.next_answer(&Patience::default());
        for _ in 0..1000 {
            tap.feed(&[b'x'; 1000]).unwrap();
            tap.got_on();
        }
    }
}
