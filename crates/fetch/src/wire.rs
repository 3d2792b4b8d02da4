//! The bytes between us and a server, and the tap that remembers each head as it came.
//!
//! * Its place: `connection` gives a [`Wire`] to the HTTP client; the client reads and writes
//!   through it and never shows the raw head, so the [`Tap`] keeps a copy on the way in.
//! * States of a tap: *head* (bytes are copied until the blank line; interim 1xx heads are
//!   dropped), then *body* (bytes are only counted) until [`Tap::next_answer`].
//! * What is not here: the TLS handshake (`tls`).

use hyper::rt::ReadBufCursor;
use memchr::memchr;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// The most that one read brings in.
const READ_BYTES: usize = 32 << 10;

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
}

impl Wire {
    pub(crate) fn new(stream: Stream, tap: Arc<Mutex<Tap>>) -> Self {
        Wire { stream, tap }
    }

    fn stream(&mut self) -> Pin<&mut dyn Both> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp),
            Stream::Tls(tls) => Pin::new(&mut **tls),
        }
    }
}

impl hyper::rt::Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // The cursor can only be filled by copying. The detour over the stack costs less than
        // a microsecond per page and lets the tap look at the bytes.
        let mut space = [const { MaybeUninit::uninit() }; READ_BYTES];
        let room = into.remaining().min(READ_BYTES);
        let mut buf = ReadBuf::uninit(&mut space[..room]);
        ready!(self.stream().poll_read(cx, &mut buf))?;
        into.put_slice(buf.filled());
        self.tap.lock().unwrap_or_else(PoisonError::into_inner).feed(buf.filled());
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
}

impl Tap {
    /// A tap that keeps heads up to `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Tap { head: Vec::new(), searched: 0, in_head: true, limit, received: 0 }
    }

    /// Gets ready for the answer to the next request.
    pub(crate) fn next_answer(&mut self) {
        self.head.clear();
        self.searched = 0;
        self.in_head = true;
        self.received = 0;
    }

    /// The head as received.
    pub(crate) fn take_head(&mut self) -> Vec<u8> {
        self.in_head = false;
        std::mem::take(&mut self.head)
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.received += bytes.len() as u64;
        if !self.in_head {
            return;
        }
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
        let mut tap = Tap::new(64 << 10);
        for part in bytes.chunks(piece) {
            tap.feed(part);
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
        let mut tap = Tap::new(8192);
        for _ in 0..100 {
            tap.feed(&[b'x'; 1000]);
        }
        assert_eq!(tap.take_head().len(), 8192);
    }
}
