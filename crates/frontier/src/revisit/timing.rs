//! Where in the day a visit falls: spread over pages, moving from day to day, from no clock and no
//! randomness but the page's number and how often it was visited.

use argiope_model::Time;
use std::time::Duration;

/// A day in milliseconds.
pub(super) const DAY_MS: f64 = 86_400_000.0;

/// How far an interval is moved at most, as a share of it.
const MOVED: f64 = 1.0 / 16.0;

/// How far a page moves through its round from one round to the next.
const DRIFT: f64 = 0.061_803_398_875;

/// The splitmix64 step: even numbers out of any.
pub(super) fn mixed(key: u64, n: u64) -> u64 {
    let mut mixed = key ^ n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// A number from 0 up to 1 that belongs to the page and the count.
pub(super) fn unit(key: u64, n: u64) -> f64 {
    (mixed(key, n) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A length of time in days, moved a little: shorter or longer by up to a sixteenth, and each visit
/// otherwise. Evenly spaced is best; so little costs a few thousandths of freshness at most.
pub(super) fn moved(days: f64, key: u64, n: u64) -> f64 {
    days * (1.0 + MOVED * (2.0 * unit(key, n) - 1.0))
}

/// A time so many days after another.
pub(super) fn after(now: Time, days: f64) -> Time {
    let ms = (days * DAY_MS).clamp(1000.0, 1e15);
    Time(now.0.saturating_add(ms as i64))
}

/// Days from one time to a later one.
pub(super) fn days_between(from: Time, to: Time) -> f64 {
    (to.0.saturating_sub(from.0)).max(0) as f64 / DAY_MS
}

fn millis(round: Duration) -> i64 {
    i64::try_from(round.as_millis()).unwrap_or(i64::MAX).max(1000)
}

/// The number of the round in which a time lies.
pub(super) fn round_of(at: Time, round: Duration) -> i64 {
    at.0.div_euclid(millis(round))
}

/// When in a round a page has its turn. It wanders to the end of the round and back again, so that
/// consecutive turns are nearly one round apart and, but for where it turns back, never at the time
/// of the one before.
pub(super) fn turn_in(number: i64, round: Duration, key: u64) -> Time {
    let length = millis(round);
    let phase = (unit(key, 0) * 2.0 + number as f64 * DRIFT).rem_euclid(2.0);
    let share = if phase < 1.0 { phase } else { 2.0 - phase };
    let within = (share * (length - 1) as f64) as i64;
    Time(number.saturating_mul(length).saturating_add(within))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_move_through_the_round_and_stay_about_a_round_apart() {
        let day = Duration::from_secs(86_400);
        for key in 0..50 {
            let turns: Vec<Time> = (0..400).map(|n| turn_in(n, day, key)).collect();
            let mut hours = [false; 24];
            for (n, turn) in turns.iter().enumerate() {
                assert_eq!(round_of(*turn, day), n as i64);
                hours[(turn.0 % 86_400_000 / 3_600_000) as usize] = true;
            }
            assert!(hours.iter().all(|seen| *seen), "every hour has its day");
            let gaps: Vec<f64> = turns.windows(2).map(|p| days_between(p[0], p[1])).collect();
            assert!(gaps.iter().all(|gap| (0.87..1.13).contains(gap)), "{gaps:?}");
            let same_hour = gaps.iter().filter(|gap| (**gap - 1.0).abs() < 1.0 / 24.0).count();
            assert!(same_hour <= 400 / 16 + 1, "{same_hour}");
        }
    }

    #[test]
    fn moved_intervals_stay_close_and_keep_their_mean() {
        let all: Vec<f64> = (0..4000).map(|n| moved(8.0, 77, n)).collect();
        assert!(all.iter().all(|days| (7.5..=8.5).contains(days)));
        let mean = all.iter().sum::<f64>() / 4000.0;
        assert!((mean - 8.0).abs() < 0.02, "{mean}");
    }
}
