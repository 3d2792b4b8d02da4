//! How long this process may ask and write.
//!
//! * What this is: the one answer to "may a request be sent now?". Whoever owns a data directory may
//!   for ever; a worker of a fleet may until the deadline of its lease, which each renewal moves on.
//! * Its place: visits wait for it before they ask; the fetcher asks it once more as a request leaves;
//!   `fleet` moves it.
//! * Invariant: past the deadline nothing is sent, whatever the rest of the program believes.
//! * Two clocks are asked: one does not jump, the other goes on while the machine sleeps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::Notify;

/// The deadline, and what was done under it.
#[derive(Default)]
pub(crate) struct Tenure {
    /// `None`: for ever.
    until: RwLock<Option<(Instant, SystemTime)>>,
    moved: Notify,
    /// Pages that this process brought in.
    pages: AtomicU64,
    /// Their bytes.
    bytes: AtomicU64,
}

impl Tenure {
    /// One that has run out, to be renewed.
    pub fn run_out() -> Self {
        let until = RwLock::new(Some((Instant::now(), SystemTime::now())));
        Tenure { until, ..Tenure::default() }
    }

    /// Moves the deadline.
    pub fn renew(&self, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        let until = Some((deadline, SystemTime::now() + left));
        *self.until.write().unwrap_or_else(PoisonError::into_inner) = until;
        self.moved.notify_waiters();
    }

    /// Whether a request may be sent now.
    pub fn holds(&self) -> bool {
        let until = *self.until.read().unwrap_or_else(PoisonError::into_inner);
        until.is_none_or(|(steady, wall)| Instant::now() < steady && SystemTime::now() < wall)
    }

    /// How long requests may be sent without a renewal.
    pub fn left(&self) -> Duration {
        let until = *self.until.read().unwrap_or_else(PoisonError::into_inner);
        until.map_or(Duration::MAX, |(steady, _)| steady.saturating_duration_since(Instant::now()))
    }

    /// Returns when a request may be sent.
    pub async fn until_held(&self) {
        while !self.holds() {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            // From here on no renewal is missed.
            moved.as_mut().enable();
            if !self.holds() {
                moved.await;
            }
        }
    }

    /// Counts pages that are committed.
    pub fn count(&self, pages: u64, bytes: u64) {
        self.pages.fetch_add(pages, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Pages and bytes that this process brought in.
    pub fn counted(&self) -> (u64, u64) {
        (self.pages.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

/// Pages per second, from one look to the next.
pub(crate) struct Speed(Instant, u64);

impl Speed {
    pub fn new() -> Self {
        Speed(Instant::now(), 0)
    }

    /// The speed since the last look.
    pub fn look(&mut self, pages: u64) -> f64 {
        let took = self.0.elapsed().max(Duration::from_millis(1));
        let speed = pages.saturating_sub(self.1) as f64 / took.as_secs_f64();
        *self = Speed(Instant::now(), pages);
        speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenure_without_a_deadline_holds_and_one_that_has_run_out_does_not() {
        assert!(Tenure::default().holds());
        let tenure = Tenure::run_out();
        assert!(!tenure.holds());
        tenure.renew(Instant::now() + Duration::from_secs(60));
        assert!(tenure.holds());
    }

    #[tokio::test]
    async fn who_waits_goes_on_with_a_renewal_and_not_before() {
        let tenure = std::sync::Arc::new(Tenure::run_out());
        let waiting = tokio::spawn({
            let tenure = tenure.clone();
            async move { tenure.until_held().await }
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!waiting.is_finished());
        tenure.renew(Instant::now() + Duration::from_secs(60));
        tokio::time::timeout(Duration::from_secs(5), waiting).await.unwrap().unwrap();
    }
}
