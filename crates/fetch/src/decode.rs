//! Undoing content codings: gzip, deflate, br, zstd, and lists of them.
//!
//! * Its place: after the fetch, on whatever thread parses. Works in a stream with bounded
//!   memory, whatever the size of the body, and stops at `max_decoded_bytes`.
//! * What is not here: chunked transfer, which is undone while the body is read.

use crate::body::{Body, BodyBytes, BodyReader};
use crate::fetcher::Fetcher;
use crate::inflate::{self, Gunzip, Inflate};
use crate::settings::FetchError;
use crate::spool::{self, Gathering};
use argiope_model::{FetchOutcome, OutcomeKind};
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Deref;

/// More codings than this on one body are an attack, not a format.
const MAX_CODINGS: usize = 5;
/// 16 MB of window: RFC 9659 lets a server ask for 8, a few ask for more; 128 MB would be a risk.
const ZSTD_WINDOW_LOG: u32 = 24;

/// A body without content codings.
#[derive(Debug)]
pub enum Decoded<'a> {
    /// There was nothing to undo.
    Same(&'a Body),
    /// The decoded bytes.
    New(Body),
}

impl Deref for Decoded<'_> {
    type Target = Body;

    fn deref(&self) -> &Body {
        match self {
            Decoded::Same(body) => body,
            Decoded::New(body) => body,
        }
    }
}

/// Why a body could not be decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The bytes do not follow the coding.
    #[error("not valid {coding}: {cause}")]
    Broken {
        /// The `Content-Encoding` as sent.
        coding: String,
        /// What the decoder said.
        cause: String,
        /// What came out before.
        so_far: Body,
    },
    /// The decoded body would be larger than the limit.
    #[error("more than {} when decoded", argiope_model::figures::bytes(*limit))]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// A real coding that is not known here, or too many at once.
    #[error("content-encoding {coding:?} is not supported")]
    Unsupported {
        /// The `Content-Encoding` as sent.
        coding: String,
    },
    /// Our own disk.
    #[error(transparent)]
    Ours(FetchError),
}

impl DecodeError {
    /// How the fetch ended then; an error only if it was our own disk.
    pub fn into_outcome(self, status: u16) -> Result<FetchOutcome, FetchError> {
        let kind = match self {
            DecodeError::Ours(error) => return Err(error),
            DecodeError::TooLarge { .. } => OutcomeKind::TooLarge,
            DecodeError::Broken { .. } | DecodeError::Unsupported { .. } => {
                OutcomeKind::BadEncoding
            }
        };
        Ok(FetchOutcome::with_detail(kind, status, self.to_string()))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// The codings to undo, in the order the server applied them.
fn codings(header: &str) -> Result<Vec<Coding>, DecodeError> {
    let unsupported = || DecodeError::Unsupported { coding: header.into() };
    let mut list = Vec::new();
    for name in header.split(',').map(|n| n.trim().to_ascii_lowercase()) {
        list.push(match name.as_str() {
            "gzip" | "x-gzip" => Coding::Gzip,
            "deflate" | "x-deflate" => Coding::Deflate,
            "br" => Coding::Brotli,
            "zstd" => Coding::Zstd,
            "compress" | "x-compress" | "bzip2" | "lzma" | "xz" | "exi" | "pack200-gzip"
            | "aes128gcm" | "dcb" | "dcz" => return Err(unsupported()),
            // Like browsers: `utf-8`, `none`, `8bit` and other mistakes mean nothing was done.
            _ => continue,
        });
    }
    if list.len() > MAX_CODINGS { Err(unsupported()) } else { Ok(list) }
}

/// Marks a failed read of our own spool file on its way through the decoders.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct OurDisk(io::Error);

struct Ours<'a>(BodyReader<'a>);

impl Read for Ours<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf).map_err(|e| io::Error::other(OurDisk(e)))
    }
}

impl BufRead for Ours<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf().map_err(|e| io::Error::other(OurDisk(e)))
    }

    fn consume(&mut self, n: usize) {
        self.0.consume(n);
    }
}

type Layer<'a> = Box<dyn BufRead + 'a>;

fn undo(coding: Coding, source: Layer<'_>) -> io::Result<Layer<'_>> {
    fn buffered<'a>(reader: impl Read + 'a) -> Layer<'a> {
        Box::new(BufReader::with_capacity(32 << 10, reader))
    }
    Ok(match coding {
        Coding::Gzip => buffered(Gunzip::new(source)),
        Coding::Deflate => buffered(Inflate::new(source)),
        Coding::Brotli => buffered(brotli_decompressor::Decompressor::new(source, 8 << 10)),
        Coding::Zstd => {
            let mut zstd = zstd::stream::read::Decoder::with_buffer(source)?;
            zstd.window_log_max(ZSTD_WINDOW_LOG)?;
            buffered(zstd)
        }
    })
}

/// A reader of the decoded bytes, for a body that is stored already.
pub fn decoded_reader<'a>(
    body: impl Read + 'a,
    content_encoding: &str,
) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut layer: Layer<'a> = Box::new(BufReader::new(body));
    for &coding in codings(content_encoding).map_err(io::Error::other)?.iter().rev() {
        layer = undo(coding, layer)?;
    }
    Ok(layer)
}

impl Fetcher {
    /// Undoes the codings that a `Content-Encoding` header names. Blocks for the time the work
    /// takes; memory stays in the budget, larger results go to a spool file.
    pub fn decode<'a>(
        &self,
        body: &'a Body,
        content_encoding: &str,
    ) -> Result<Decoded<'a>, DecodeError> {
        let codings = codings(content_encoding)?;
        // An empty body needs no decoder: servers send the header with 304 and empty pages too.
        if codings.is_empty() || body.is_empty() {
            return Ok(Decoded::Same(body));
        }
        let limit = self.settings().max_decoded_bytes;
        if let ([Coding::Gzip], Body::Memory(gzip)) = (&codings[..], body)
            && let Some(size) = inflate::announced_size(gzip)
            && size as u64 <= limit
            && let Some(share) = self.spool().room_for(size)
            && let Some(bytes) = inflate::gunzip_whole(gzip, size)
        {
            return Ok(Decoded::New(Body::Memory(BodyBytes { bytes, _share: share })));
        }
        let mut gathering = Gathering::new(self.spool(), None);
        let result = (|| -> Result<(), Stop> {
            let mut layer: Layer<'_> = Box::new(Ours(body.reader().map_err(Stop::Ours)?));
            for &coding in codings.iter().rev() {
                layer = undo(coding, layer)?;
            }
            loop {
                let piece = layer.fill_buf()?;
                if piece.is_empty() {
                    return Ok(());
                }
                if gathering.len() + piece.len() as u64 > limit {
                    return Err(Stop::TooLarge);
                }
                if gathering.push(piece) {
                    gathering.flush().map_err(Stop::Ours)?;
                }
                let n = piece.len();
                layer.consume(n);
            }
        })();
        if gathering.must_flush() && !matches!(result, Err(Stop::Ours(_) | Stop::TooLarge)) {
            gathering.flush().map_err(DecodeError::Ours)?;
        }
        match result {
            Ok(()) => Ok(Decoded::New(gathering.finish())),
            Err(Stop::TooLarge) => Err(DecodeError::TooLarge { limit }),
            Err(Stop::Ours(error)) => Err(DecodeError::Ours(error)),
            Err(Stop::Broken(error)) => Err(match (error.downcast::<OurDisk>(), body) {
                (Ok(OurDisk(e)), Body::Spooled(f)) => DecodeError::Ours(spool::failed(&f.path, e)),
                (cause, _) => DecodeError::Broken {
                    coding: content_encoding.into(),
                    cause: match cause {
                        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                            "it ends too early".into()
                        }
                        Err(e) => e.to_string(),
                        Ok(e) => e.to_string(),
                    },
                    so_far: gathering.finish(),
                },
            }),
        }
    }
}

impl Fetcher {
    /// Gathers a body that comes from somewhere else than the wire: in memory while the budget
    /// has room, else in a spool file. Blocks for the time the reading takes.
    pub fn gather(&self, source: &mut dyn Read) -> io::Result<Body> {
        let mut gathering = Gathering::new(self.spool(), None);
        let mut piece = vec![0; 64 << 10];
        loop {
            let n = source.read(&mut piece)?;
            if n == 0 {
                break;
            }
            if gathering.push(&piece[..n]) {
                gathering.flush().map_err(io::Error::other)?;
            }
        }
        if gathering.must_flush() {
            gathering.flush().map_err(io::Error::other)?;
        }
        Ok(gathering.finish())
    }
}

enum Stop {
    Broken(io::Error),
    TooLarge,
    Ours(FetchError),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Broken(error)
    }
}
