//! What may be fetched, what next, when again.
//!
//! # The life of a URL
//!
//! ```text
//!            admit: no                      result: done
//!  found ──▶ skipped                  ┌──▶ fetched · redirected · failed · skipped
//!    │                                │
//!    └─────▶ queued ──▶ handed out ───┤   result: try again
//!              ▲  (its row stays in   └──▶ waiting (calendar) ──┐
//!              │   the ready queue)                             │
//!              └────────────────────────────────────────────────┘
//! ```
//!
//! A page's links are put before [`admit`], which asks scope, file-name ending and depth in
//! that order, and before the host's robots.txt where that is known. What is admitted gets a [`Place`] in the ready queue of its host and a DocId,
//! once. A URL that is handed out stays in the queue until its result deletes the row, so a
//! crash gives it back for free. A known page that a job meets for the first time, or on a
//! shorter way than before, is queued once more to be *expanded*: its stored links are put
//! before `admit` again, and nothing is requested. A URL has one row: a job that meets one
//! queued for another waits for its turn.
//!
//! # The life of a host
//!
//! ```text
//!  scheduled (on disk, wakes at a time)
//!      │  claim, written durably with the next batch
//!      ▼
//!  loaded: located ─▶ robots.txt known ─▶ waiting (a delay runs) ◀──▶ ready ──▶ all connections out
//!      │                    ▲  a day old: asked again      │ no good answer for a set time
//!      │                    └───────────────────────────   ▼
//!      │                                               given up: its rows are refused
//!      │  nothing left, or room needed
//!      ▼
//!  released: scheduled again, or asleep when it has no rows
//! ```
//!
//! [`Frontier`] holds only loaded hosts: for each a *window* onto the first rows of its ready
//! queue and the times from which its connections may be used again. The delay runs from the
//! end of one answer to the start of the next request. The window covers every unclaimed row
//! up to the *cursor*; rows beyond the cursor are on disk and come with a refill.
//!
//! [`Frontier::next`] hands out a [`Task`]: find the host's address (where addresses keep a gap),
//! ask for its robots.txt, run an errand (a robots.txt that lies with another host), visit a URL,
//! or refuse it: forbidden by robots.txt, or its host was given up or excluded by hand ([`Exclusions`]). A robots.txt counts as a
//! request like any other. How a host answers shapes its [`Temper`]: a pause on top of the delay,
//! healed by good answers. What a host asked of us is put into a [`HostNote`] and committed at
//! once, so that a crash does not forget it.
//!
//! A row keeps in its place how many pages without news led to it, one found on the other: by that
//! [`Traps`] recognises series of pages without end. What is suspected is put at a place behind all others
//! of its host, what is paused is refused.
//!
//! Who moves what: the engine (`crawl`) reports events and performs what [`Frontier::wants`]
//! asks; the store keeps the rows. Nothing here does I/O or reads a clock: time comes as an
//! argument.

mod address;
mod admit;
mod best;
mod budget;
mod choosing;
mod delays;
mod exchange;
mod exclusions;
mod heap;
mod order;
mod parts;
pub mod revisit;
mod robots;
mod rules;
mod seen;
mod sinking;
mod task;
mod temper;
pub mod topic;
mod trap;
mod window;

pub use address::{Network, Turn};
pub use admit::{Admission, SkipReason, admit};
pub use best::{Merit, Merits, OTHER_SITE};
pub use budget::{BadBudgets, Budgets, SiteBudget};
pub use delays::Delays;
pub use exchange::{Entry, HostNote, HostWindow, Named, Refill, Release, RobotsFile, Wants};
pub use exclusions::{Exclusions, NotAName, site_name};
pub use heap::{Answered, Counts, Frontier, Politeness};
pub use order::{
    Place, SHARES, Score, first_place_of_links, page_of, place_of_link, place_of_redirect,
    place_of_score, place_of_seed,
};
pub use robots::{MAX_ROBOTS_BYTES, Robots, Rule, Verdict, is_product_token};
pub use rules::{Brake, RobotsUse, Waiting};
pub use seen::SeenCache;
pub use task::{Errand, Task};
pub use temper::{Heard, Manner, Patience, Temper};
pub use trap::{Gist, Held, Judged, Lead, Read, Trap, Traps, months_ahead};
