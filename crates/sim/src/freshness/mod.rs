//! Years of revisits in seconds: which policy keeps a changing web freshest at equal budget?
//!
//! * What this is: a [`Web`] whose pages change at known rates, and [`simulate`], which lets a
//!   revisit policy of the frontier visit it for as long as is wanted, at most so many visits a day
//!   and with the usual delay between two visits to a host. How long each copy was fresh is exact:
//!   it follows from the times of change, not from looking now and then.
//! * Its place: a tool for development, beside the crawls of this crate. `examples/freshness.rs`
//!   prints what `cargo xtask bench freshness` shows.
//! * Invariants: the same web and seed have the same changes whoever looks. Policies hear what a
//!   crawler would hear, never a rate.
//! * What is not here: bytes, parsing, the engine. A change is a change of the text.

mod mixture;
mod run;
mod web;

pub use mixture::{Importance, Mixture};
pub use run::{Budget, Known, Measured, Policy, best_for, simulate};
pub use web::{Rhythm, Web};
