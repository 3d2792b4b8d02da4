//! Choosing: a row that promises little waits while one that promises more is near.
//!
//! * What this is: an order between hosts for jobs that are about something. A host is ready nearly always, and
//!   handing out whatever it has would spend most requests on hosts that have nothing. So a row waits for a
//!   better one of another host that is being asked, or may be asked in a moment, and for what pages under way
//!   could lead to.
//! * Invariant: it waits for no visit longer than [`PATIENCE`], and for no host's delay that is longer: slow
//!   hosts hold nobody up.

use crate::heap::Frontier;
use crate::order::{Place, Score};
use argiope_model::{JobId, Time};
use std::time::Duration;

/// How long a row waits for a better one.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many steps better that must be.
const STEPS: u16 = 16;

impl Frontier {
    /// The rows of a job wait for better ones.
    pub fn choose(&mut self, job: JobId) {
        self.choosy.insert(job);
    }

    /// Whether a row waits for a better one.
    pub(crate) fn chooses(&mut self, job: JobId, place: Place, now: Time) -> bool {
        self.chooses_until = None;
        let level = place.score().map_or(u16::MAX, Score::level);
        if !self.choosy.contains(&job) || level < STEPS {
            return false;
        }
        let better = Place { order: u64::from(level - STEPS) << 48, seq: 0 };
        let (since, by) = (Time(now.0 - PATIENCE.as_millis() as i64), now.plus(PATIENCE));
        let waits = self.hosts.values().any(|host| host.has_better(better, since, by));
        self.chooses_until = waits.then_some(by);
        waits
    }
}
