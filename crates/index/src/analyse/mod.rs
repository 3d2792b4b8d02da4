//! Words: the one analysis that pages and queries go through.

mod feed;
mod fold;
mod hash;
mod numbers;
mod split;
mod stem;
mod stop;
mod tokens;

pub(crate) use feed::{BEGIN, END, Feed, Flow, Parents, Replay};
pub(crate) use fold::folded;
pub(crate) use hash::quick_hash;
pub use numbers::WordNumbers;
pub(crate) use split::events;
pub(crate) use stem::{Rules, Stems, has_stems};
pub use stop::DEFAULT_STOP_WORDS;
pub(crate) use stop::StopList;
pub(crate) use tokens::{Form, Token, Walk};
