//! Whole crawls on virtual time: does what must hold, hold, whatever happens?
//!
//! * What this is: the engine and the frontier as they are, with a made-up web, a paused clock
//!   and crashes at moments drawn from a seed. [`simulate`] runs a [`Scenario`] to its end and
//!   reports every [`Violation`] of a [`Rule`].
//! * Its place: a tool for development. Nothing of the program depends on it.
//! * States of a simulation: a run, ended by a crash, a stop or itself; another run on the same
//!   data directory; at the end a comparison with an independent walk over the world.
//! * Invariants: equal scenarios have equal histories, down to the millisecond. No rule is
//!   checked with what the engine says of itself, but for the number of hosts it has loaded.
//! * What is not here: sockets, real disks that fail, and the death of a process inside of a
//!   write; those are tested from outside.
//!
//! ```
//! use argiope_sim::{Scenario, simulate};
//!
//! let scenario = Scenario { hosts: 5, crashes: 1, ..Scenario::small(1) };
//! let report = simulate(&scenario)?;
//! assert_eq!(report.violated, 0, "{report}");
//! # Ok::<(), anyhow::Error>(())
//! ```

mod draw;
mod drive;
pub mod freshness;
mod pages;
mod scenario;
mod store;
mod truth;
mod watch;
mod web;
mod world;

pub use drive::{simulate, simulate_shown};
pub use scenario::{BEGAN, Broken, Report, Rule, Scenario, Violation};
