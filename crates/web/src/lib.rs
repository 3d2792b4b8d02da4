//! Pages and an API for people and programs.
//!
//! ```text
//!  browser ──▶ door (connections, slow clients) ──▶ guard (host name, token, forgery, headers)
//!                                                        │
//!              views, news (HTML) · api (JSON) · archive ▼
//!              protocols: each asks through ───────▶ App::ask ──▶ Desk (a blocking thread) ──▶ the owner
//! ```
//!
//! * What this is: `argiope serve`. Every page is made here as whole HTML; scripts only add comfort.
//! * Its place: `cli` brings the [`Desk`], which knows whether somebody works in the data directory. The questions are
//!   those of the control socket ([`Question`]); whatever a page shows can be asked as JSON too.
//! * Invariants: nothing that was fetched is shown unescaped, or outside a sandbox. Whatever changes
//!   something needs the token and comes from our own pages. Nothing waits or grows without a bound.
//! * What is not here: answering (`crawl`), starting a crawl (`cli`).

mod api;
mod app;
mod assets;
mod door;
mod failure;
mod guard;
mod layout;
mod live;
mod news;
mod view;
mod words;

pub use app::{Desk, FollowAct, Start};
pub use door::{Options, serve};
pub use guard::new_token;
pub use words::encoded;

pub use argiope_crawl::{Asked, Question};
