//! What the web answers: one request, one answer, whatever happens on the way.
//!
//! * What this is: an HTTP/1.1 client for crawling, which speaks HTTP/2 with servers that insist.
//!   [`Fetcher::get`] asks for one URL; the caller sees the [`Head`] before the body is read and
//!   says whether to [`Take`] it; [`Fetcher::decode`] undoes the content codings afterwards, on
//!   whatever thread; [`Fetcher::locate`] tells which address a request would go to.
//! * Its place: the engine calls it, once per URL that the frontier released. It knows `model`
//!   alone.
//! * States of a request: resolve, check the address, connect (or reuse an idle connection), TLS,
//!   head, judge, body. Every one can end it with a [`FetchOutcome`]; one time limit spans all.
//! * Invariants: what the web does is never an `Err`, only our own disk is. A body is whole or
//!   it is not there. Memory for bodies stays inside one budget shared by all requests, and
//!   larger bodies lie in spool files that vanish with the value that owns them. No connection
//!   is opened to a private address unless the settings allow it.
//! * What is not here: politeness, redirect following and retries later on (`frontier` and the
//!   engine decide those), parsing, and the archive.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use argiope_fetch::{FetchSettings, Fetcher, Take};
//! use argiope_model::{CanonicalUrl, FetchOutcome, OutcomeKind};
//!
//! let fetcher = Fetcher::new(FetchSettings::default())?;
//! let url = CanonicalUrl::parse("http://example.com/")?;
//! let answer = fetcher
//!     .get(&url, |head| match head.content_type() {
//!         Some(mime) if mime.starts_with("image/") => {
//!             Take::Nothing(FetchOutcome::new(OutcomeKind::UnwantedType, head.status))
//!         }
//!         _ => Take::Body,
//!     })
//!     .await?;
//! if let (None, Some(head)) = (&answer.outcome, &answer.head) {
//!     let coding = head.content_encoding().unwrap_or_default();
//!     let page = fetcher.decode(&answer.body, &coding)?;
//!     assert!(page.bytes().is_some_and(|b| b.starts_with(b"<!doctype")));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`FetchOutcome`]: argiope_model::FetchOutcome

mod address;
mod answer;
mod body;
mod connection;
mod decode;
mod dial;
mod dns;
mod failure;
mod fetcher;
mod head;
mod idle;
mod inflate;
mod names;
mod proxy;
mod request;
mod route;
mod settings;
mod spool;
mod throttle;
mod tls;
mod wire;

pub use address::is_private as is_private_address;
pub use answer::{Answer, Take};
pub use body::{Body, BodyBytes, BodyReader, SpoolFile};
pub use decode::{DecodeError, Decoded, decoded_reader};
pub use dns::name_answer_from_bytes;
pub use fetcher::Fetcher;
pub use head::{Head, head_from_bytes};
pub use proxy::{ProxyUrl, ProxyUrlError};
pub use request::Conditions;
pub use route::Located;
pub use settings::{FetchError, FetchSettings, Gate};
