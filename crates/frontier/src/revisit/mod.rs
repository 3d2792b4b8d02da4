//! When to look at a page again.
//!
//! * What this is: one trait, [`Revisit`], and the policies behind it: [`Fixed`], [`Fr`] (with or
//!   without the [`Selective`] gate) and [`Fresh`]. A policy is `(state, event, now) -> (state,
//!   effects)`: time, importance and settings come in as arguments.
//! * States of a page: *found* (due at once) → visited, again and again → each visit gives a new
//!   [`PageState::due`]. A failed visit changes nothing but the time of the next try. A hint or a
//!   page that was expanded can make a page due earlier.
//! * Its place: the engine tells events and keeps the states; it decides what a change is. The
//!   simulator runs the same policies for years.
//! * Invariants: equal states, events and times give equal results. Errors are no records. The due
//!   time of a visited page is later than its visit. Visits drift through the day: no page is
//!   looked at at the same hour day after day.
//! * What is not here: politeness towards hosts, which the frontier's heap keeps whatever is due;
//!   what was stored of a visit; what counts as changed text.
//!
//! How the policies work and what they reach is told in `docs/freshness.md`.

mod belief;
mod budget;
mod children;
mod crowd;
mod fixed;
mod fr;
mod fresh;
mod optimum;
mod records;
mod rules;
mod state;
mod timing;

pub use belief::ChangeRate;
pub use budget::{Allowance, Spending};
pub use children::{Children, Selective};
pub use crowd::Knowledge;
pub use fixed::Fixed;
pub use fr::Fr;
pub use fresh::{Fresh, FreshSettings};
pub use optimum::{
    Classes, Demand, Goal, Optimum, age, find_price, freshness, mean_age, mean_freshness,
    optimal_rates, visit_rate,
};
pub use records::{MOST_RECORDS, next_fr_max};
pub use rules::{Pattern, PolicyName, Rule, RuleError, Said, interval, said};
pub use state::{Evidence, PageState, StateError, Trust};

use argiope_model::Time;

/// What a policy is told of a page besides its state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Page {
    /// A number that stays with the page and is spread evenly, such as its fingerprint.
    pub key: u64,
    /// How much the page counts, 1 where nothing is known.
    pub weight: f64,
    /// How much dearer a visit is than elsewhere, because its site has a budget of its own; 1
    /// where it has none ([`Spending::dearness`]).
    pub dearness: f64,
}

impl Page {
    /// An ordinary page.
    pub fn new(key: u64) -> Self {
        Page { key, weight: 1.0, dearness: 1.0 }
    }
}

/// What happened to a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// It is known from now on.
    Found,
    /// Its due time has come, or there is budget left: is it to be visited now ([`Step::visit`])?
    Turn,
    /// A visit was completed: the page was fetched, or the server said it is unchanged.
    Visited(Visit),
    /// A visit could not be completed.
    Failed,
    /// It is to be looked at now: the page that links to it is expanded again, or by hand.
    MadeDue,
    /// Something says that it may have changed.
    Hint(Hint),
}

/// A completed visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Visit {
    /// The extracted text differs from that of the capture before. The first visit changes nothing.
    pub changed: bool,
    /// What the server says of the page's last change.
    pub modified: Option<Time>,
    /// What the database knows of the page's direct internal children, where `selective` asks.
    pub children: Children,
}

/// Why a page may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A feed or a sitemap names a time of its last change.
    Modified(Time),
    /// A front page or a feed that links to it has changed: new links, new order.
    Mentioned,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The state after it.
    pub state: PageState,
    /// After [`Event::Turn`]: visit it now. Otherwise it was put off, without any request.
    pub visit: bool,
    /// The page is expanded again: its internal children are made due.
    pub expand: bool,
}

impl Step {
    fn only(state: PageState) -> Self {
        Step { state, visit: false, expand: false }
    }
}

/// A policy. What it knows of all pages together (`fresh` learns it) is its own; what it knows of
/// a page is the page's state.
pub trait Revisit: Send {
    /// The name in settings: `fixed`, `fr`, `selective`, `fresh`.
    fn name(&self) -> &'static str;

    /// Takes in an event.
    fn step(&mut self, page: &Page, state: PageState, event: Event, now: Time) -> Step;

    /// Whether budget that is left over goes to what is due next, before its time.
    fn eager(&self) -> bool {
        false
    }

    /// The page is no longer to be visited.
    fn forget(&mut self, _page: &Page) {}
}

#[cfg(test)]
mod tests;
