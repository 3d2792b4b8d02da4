//! The cap on what all connections together may receive, and what it does to a request's time.
//!
//! * How: the cap works like a slow line. Bytes that were read get a place on it, one after the
//!   other over all connections, and are handed on when their place has passed. A connection that
//!   waits for its bytes reads no more, so the server is slowed down by the network itself.
//! * Its place: `wire` charges what it reads; `fetcher` gives a request more time by as much as
//!   the cap has held it up ([`Patience`]), so that no page fails for our own thrift.
//! * What is counted: bytes of HTTP as we read them, without what TLS, TCP and IP add.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout_at;

/// The least and the most that one read brings in under a cap.
const PIECE: (u64, u64) = (512, 16 << 10);

/// A cap over all connections.
#[derive(Debug)]
pub(crate) struct Throttle {
    bytes_per_second: u64,
    /// When the line is free again.
    free: Mutex<Instant>,
}

impl Throttle {
    pub(crate) fn new(bytes_per_second: u64) -> Self {
        Throttle { bytes_per_second: bytes_per_second.max(1), free: Mutex::new(Instant::now()) }
    }

    /// How much to read at once: a twentieth of a second's worth, within reason.
    pub(crate) fn piece(&self) -> usize {
        (self.bytes_per_second / 20).clamp(PIECE.0, PIECE.1) as usize
    }

    /// Gives these bytes a place on the line; they have to wait so long.
    pub(crate) fn charge(&self, bytes: usize) -> Duration {
        let time = Duration::from_secs_f64(bytes as f64 / self.bytes_per_second as f64);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        *free = (*free).max(now) + time;
        *free - now
    }
}

/// The time a request was held up by us, which does not count against it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patience(Arc<AtomicU64>);

impl Patience {
    /// Grants a request so much more time.
    pub(crate) fn grant(&self, more: Duration) {
        let micros = u64::try_from(more.as_micros()).unwrap_or(u64::MAX);
        self.0.fetch_add(micros, Relaxed);
    }

    /// All that was granted.
    pub(crate) fn granted(&self) -> Duration {
        Duration::from_micros(self.0.load(Relaxed))
    }

    /// Waits for `work` as long as `limit` and what is granted meanwhile allow.
    pub(crate) async fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut work = pin!(work);
        let start = tokio::time::Instant::now();
        loop {
            let granted = self.granted();
            match timeout_at(start + limit + granted, work.as_mut()).await {
                Ok(done) => return Some(done),
                Err(_) if self.granted() == granted => return None,
                Err(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_wait_for_all_that_came_before_them() {
        let throttle = Throttle::new(1000);
        let waits: Vec<_> = [500, 500, 1000].map(|n| throttle.charge(n).as_millis()).to_vec();
        for (wait, due) in waits.iter().zip([500, 1000, 2000]) {
            assert!((due - 100..=due).contains(wait), "{waits:?}");
        }
    }

    #[tokio::test]
    async fn time_that_was_granted_does_not_count() {
        let patience = Patience::default();
        let (limit, more) = (Duration::from_millis(50), Duration::from_millis(100));
        let slow = async {
            patience.grant(more);
            tokio::time::sleep(more).await;
        };
        assert_eq!(patience.within(limit, slow).await, Some(()));
        let too_slow = tokio::time::sleep(limit * 2 + more);
        assert_eq!(Patience::default().within(limit, too_slow).await, None);
    }
}
