//! Points in time as flags name them.

use crate::Usage;
use argiope_crawl::moment_of;
use argiope_model::Time;

/// Reads a time, or says how one is written.
pub fn moment(flag: &str, text: &str, now: Time) -> anyhow::Result<Time> {
    let wrong = || {
        Usage(format!(
            "{flag} {text}: no time; write 2026-01-31, 2026-01-31T12:00, '2 days ago' or yesterday"
        ))
    };
    moment_of(text, now).ok_or_else(|| wrong().into())
}
