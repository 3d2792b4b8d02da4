//! What is remembered of a page's visits: 40 bytes, the same for every policy.
//!
//! * What this is: [`PageState`], with a fixed layout and a version byte, made to lie in the row
//!   of each of hundreds of millions of URLs. All policies read and write the same state, so that
//!   a page whose policy is changed keeps its history.
//! * Invariants: encoding and decoding are inverse; times are whole seconds; bytes of a newer
//!   version are refused.
//! * What is not here: importance, which the graph knows, and the policies' settings.

use argiope_model::Time;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Interval classes in which visits that found a change are counted; see [`super::belief`].
pub const SPANS: usize = 8;

/// The threshold of `selective` in ten-thousandths, at the start.
pub(super) const FIRST_THRESHOLD: u16 = 4_000;

/// What is remembered of a page's visits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageState {
    /// When the latest visit was completed; `None` before the first.
    pub last: Option<Time>,
    /// When the page should be looked at again.
    pub due: Time,
    /// Completed visits, unchanged ones included and errors not; stays at 65,535.
    pub records: u16,
    /// Bit n: the record n before the latest differs from the one before it.
    pub changes: u64,
    /// Visits that failed since the last completed one.
    pub failures: u8,
    /// `fr` as it stood at the latest visit or when the page was made due.
    pub fr: u8,
    /// The interval of `fr` in rounds.
    pub fr_max: u8,
    /// The threshold of `selective` in ten-thousandths.
    pub threshold: u16,
    /// A cycle set by hand, in quarters of an hour; 0 where none was.
    pub cycle: u16,
    /// Its due time is one for thinking it over, not yet for a visit.
    pub parked: bool,
    /// What was seen of the page's changes.
    pub evidence: Evidence,
    /// How far the page's server is believed.
    pub trust: Trust,
}

/// What was seen of a page's changes, enough for the likelihood of any change rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Days in which the page is known not to have changed.
    pub quiet_days: f32,
    /// Changes whose time is known.
    pub exact: u8,
    /// Visits that found a change, in quarters, by the length of the interval before them.
    pub spans: [u8; SPANS],
}

/// How far what a server says of a page's times is believed: lies and truths seen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// Visits at which Last-Modified agreed with what was seen; stays at 7.
    pub agreed: u8,
    /// Visits at which it did not; stays at 3.
    pub lied: u8,
    /// Hints since the last change that was seen; stays at 3.
    pub idle_hints: u8,
}

// Its one number with a point is never NaN: `from_bytes` refuses it, and days only add up.
impl Eq for PageState {}

/// Why bytes are no [`PageState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// A later program wrote it.
    #[error("the revisit state has version {0}, this program knows {known}", known = PageState::VERSION)]
    Newer(u8),
    /// Not what was written.
    #[error("a revisit state is {known} bytes long and begins with its version", known = PageState::BYTES)]
    Malformed,
}

impl Default for PageState {
    fn default() -> Self {
        PageState {
            last: None,
            due: Time(0),
            records: 0,
            changes: 0,
            failures: 0,
            fr: 0,
            fr_max: 1,
            threshold: FIRST_THRESHOLD,
            cycle: 0,
            parked: false,
            evidence: Evidence::default(),
            trust: Trust::default(),
        }
    }
}

fn seconds(time: Time) -> u32 {
    u32::try_from(time.0.div_euclid(1000).max(0)).unwrap_or(u32::MAX)
}

fn time(seconds: u32) -> Time {
    Time(i64::from(seconds) * 1000)
}

impl PageState {
    /// The version of the layout.
    pub const VERSION: u8 = 1;
    /// The length of the layout.
    pub const BYTES: usize = 40;

    /// The fixed layout: version, flags, last, due, records, changes, failures, fr, fr_max,
    /// threshold, cycle, quiet, exact, spans; numbers little-endian, times in seconds since 1970.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let Trust { agreed, lied, idle_hints } = self.trust;
        let trust = agreed.min(7) | lied.min(3) << 3 | idle_hints.min(3) << 5;
        let flags = trust | u8::from(self.parked) << 7;
        let mut bytes = [0; Self::BYTES];
        let mut at = 0;
        let mut put = |part: &[u8]| {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        };
        put(&[Self::VERSION, flags]);
        // No page was visited in the first second of 1970.
        put(&self.last.map_or(0, |last| seconds(last).max(1)).to_le_bytes());
        put(&seconds(self.due).to_le_bytes());
        put(&self.records.to_le_bytes());
        put(&self.changes.to_le_bytes());
        put(&[self.failures, self.fr, self.fr_max]);
        put(&self.threshold.to_le_bytes());
        put(&self.cycle.to_le_bytes());
        put(&self.evidence.quiet_days.to_le_bytes());
        put(&[self.evidence.exact]);
        put(&self.evidence.spans);
        debug_assert_eq!(at, Self::BYTES);
        bytes
    }

    /// Reads the fixed layout.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        match bytes.first() {
            Some(&Self::VERSION) => {}
            Some(&newer) if newer > Self::VERSION => return Err(StateError::Newer(newer)),
            _ => return Err(StateError::Malformed),
        }
        let bytes: &[u8; Self::BYTES] = bytes.try_into().map_err(|_| StateError::Malformed)?;
        let mut at = 1;
        let mut take = |count: usize| {
            at += count;
            &bytes[at - count..at]
        };
        let [flags] = part(take(1));
        let last = u32::from_le_bytes(part(take(4)));
        let due = u32::from_le_bytes(part(take(4)));
        let records = u16::from_le_bytes(part(take(2)));
        let changes = u64::from_le_bytes(part(take(8)));
        let [failures, fr, fr_max] = part(take(3));
        let threshold = u16::from_le_bytes(part(take(2)));
        let cycle = u16::from_le_bytes(part(take(2)));
        let quiet_days = f32::from_le_bytes(part(take(4)));
        let [exact] = part(take(1));
        let spans = part(take(SPANS));
        if !(quiet_days.is_finite() && quiet_days >= 0.0) {
            return Err(StateError::Malformed);
        }
        Ok(PageState {
            last: (last > 0).then(|| time(last)),
            due: time(due),
            records,
            changes,
            failures,
            fr,
            fr_max,
            threshold,
            cycle,
            evidence: Evidence { quiet_days, exact, spans },
            parked: flags >> 7 == 1,
            trust: Trust { agreed: flags & 7, lied: flags >> 3 & 3, idle_hints: flags >> 5 & 3 },
        })
    }

    /// The whole seconds of a time, as the state keeps it.
    pub(super) fn whole(at: Time) -> Time {
        time(seconds(at))
    }
}

/// A part of the layout; its length is the caller's.
fn part<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(bytes);
    part
}

impl Serialize for PageState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

impl<'de> Deserialize<'de> for PageState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = PageState;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "the {} bytes of a revisit state", PageState::BYTES)
            }
            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<PageState, E> {
                PageState::from_bytes(bytes).map_err(E::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<PageState, A::Error> {
                let mut bytes = Vec::with_capacity(PageState::BYTES);
                while let Some(byte) = seq.next_element::<u8>()? {
                    if bytes.len() == PageState::BYTES {
                        return Err(A::Error::custom(StateError::Malformed));
                    }
                    bytes.push(byte);
                }
                PageState::from_bytes(&bytes).map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Written by the first version; must be read for ever.
    const FROZEN: &str = "01ca00f1536580425565\
        2d00\
        ff03000000000080\
        0207130a0f6000000020410904000c00000000ff";

    fn frozen() -> PageState {
        PageState {
            last: Some(Time(1_700_000_000_000)),
            due: Time(1_700_086_400_000),
            records: 45,
            changes: 0x8000_0000_0000_03ff,
            failures: 2,
            fr: 7,
            fr_max: 19,
            threshold: 3_850,
            cycle: 96,
            parked: true,
            evidence: Evidence { quiet_days: 10.0, exact: 9, spans: [4, 0, 12, 0, 0, 0, 0, 255] },
            trust: Trust { agreed: 2, lied: 1, idle_hints: 2 },
        }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_layout_is_forty_bytes_and_stays_as_it_was_frozen() {
        assert_eq!(hex(&frozen().to_bytes()), FROZEN);
        assert_eq!(FROZEN.len(), 80);
        assert_eq!(PageState::from_bytes(&frozen().to_bytes()), Ok(frozen()));
    }

    #[test]
    fn newer_and_damaged_states_are_refused_with_a_sentence() {
        let mut bytes = frozen().to_bytes();
        assert_eq!(PageState::from_bytes(&bytes[..39]), Err(StateError::Malformed));
        assert_eq!(PageState::from_bytes(&[]), Err(StateError::Malformed));
        bytes[0] = 2;
        let refused = PageState::from_bytes(&bytes).unwrap_err().to_string();
        assert_eq!(refused, "the revisit state has version 2, this program knows 1");
    }

    #[test]
    fn serde_carries_the_same_bytes() {
        let text = serde_json::to_string(&frozen()).unwrap();
        assert_eq!(serde_json::from_str::<PageState>(&text).unwrap(), frozen());
        assert!(serde_json::from_str::<PageState>("[1,2]").is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_and_what_is_read_is_written_the_same(
            mut bytes in prop::collection::vec(any::<u8>(), 40)
        ) {
            bytes[0] = 1;
            if let Ok(state) = PageState::from_bytes(&bytes) {
                prop_assert_eq!(state.to_bytes().to_vec(), bytes);
            }
        }
    }
}
