//! What changed on a page from one visit to another.
//!
//! * What this is: the difference of two texts word by word ([`word_diff`]), and whether it counts
//!   ([`compare`]): clocks, ages, counters of views, session numbers, rotating boxes, another order
//!   of the same lines, error pages and requests to log in do not.
//! * Its place: pure, like everything it decides from: two texts, when they were seen, and what is
//!   remembered of the page ([`Volatile`]). Who has several texts of a page in their order asks a
//!   [`Watcher`], which chooses what is compared with what.
//! * Invariants: bounded time and memory whatever the texts are.
//! * What is not here: which texts a page had (`store`), and what made them (`parse`): texts of two
//!   versions of the parser are not to be compared.

mod commons;
mod diff;
mod judge;
mod noise;
mod words;

pub use commons::Commons;
pub use judge::{Change, Reason, Sight, Volatile, compare, compare_on_site, line_hash};
pub use noise::steady;
pub(crate) use words::stands_alone;
pub use words::{Piece, word_diff};

/// Looks at the texts of one page, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Watcher {
    memory: Volatile,
    /// The last sight that was the page itself.
    last: Option<(String, String, Option<argiope_model::Time>)>,
}

impl Watcher {
    /// One that remembers what another has learned.
    pub fn with(memory: Volatile) -> Self {
        Watcher { memory, last: None }
    }

    /// One that looks at the same texts again, with what is known of them by now.
    pub fn again(self) -> Self {
        Watcher::with(self.memory.settled())
    }

    /// What is remembered.
    pub fn memory(&self) -> &Volatile {
        &self.memory
    }

    /// Looks at the next text, of which it is known that the page had not changed: what it differs in
    /// moves by itself.
    pub fn see_noise(&mut self, new: &Sight<'_>) {
        if let Some((title, text, time)) = &self.last {
            self.memory.turns(&Sight { title, text, time: *time }, new);
        }
        self.last = Some((new.title.to_owned(), new.text.to_owned(), new.time));
    }

    /// Two looks at the page a moment apart: what they differ in moves by itself.
    pub fn see_twice(&mut self, one: &Sight<'_>, other: &Sight<'_>) {
        self.memory.turns(one, other);
    }

    /// Looks at the next text; nothing to say of the first.
    ///
    /// What is compared is the last sight of the page itself: an error page in between is none.
    pub fn see(&mut self, new: &Sight<'_>) -> Option<Change> {
        self.see_on_site(new, &|_| false)
    }

    /// As [`Watcher::see`], with lines that pages of the site have in common
    /// ([`compare_on_site`], [`Commons`]).
    pub fn see_on_site(&mut self, new: &Sight<'_>, common: &dyn Fn(u64) -> bool) -> Option<Change> {
        let change = self.last.as_ref().map(|(title, text, time)| {
            let old = Sight { title, text, time: *time };
            let change = compare_on_site(&old, new, &self.memory, common);
            if !matches!(change.reason, Reason::ErrorPage | Reason::Same) {
                self.memory.learn(&old, new);
            }
            change
        });
        if change.is_none_or(|change| change.reason != Reason::ErrorPage) {
            self.last = Some((new.title.to_owned(), new.text.to_owned(), new.time));
        }
        change
    }
}

#[cfg(test)]
mod tests;
