//! When something is due in which partition, so that most commits need not look.
//!
//! Of every partition held, the first time on the calendar and on the schedule is known, or a time
//! before which there is nothing: what was first has been taken away, and what comes now has not
//! been looked for. It is looked for when the answer hangs on it.

use crate::work::Marks;
use argiope_model::{HostKey, Time, UrlKey};
use std::collections::{BTreeSet, HashMap};

#[derive(Default)]
pub(super) struct PartMarks {
    pub calendar: Firsts,
    pub schedule: Firsts,
}

impl Marks for PartMarks {
    fn wakes(&mut self, wake: u32, host: HostKey) {
        self.schedule.note(host.part, i64::from(wake));
    }

    fn due(&mut self, due: Time, url: UrlKey) {
        self.calendar.note(url.host.part, due.0.max(0));
    }
}

/// The first time of each partition; `vague` where it is only known that nothing is before it.
#[derive(Debug, Default)]
pub(super) struct Firsts {
    parts: HashMap<u16, (i64, bool)>,
    /// By time; of the same time, those that are certain come first.
    order: BTreeSet<(i64, bool, u16)>,
}

impl Firsts {
    /// This is the first of a partition.
    pub fn set(&mut self, part: u16, first: Option<i64>) {
        self.put(part, first.map(|time| (time, false)));
    }

    fn put(&mut self, part: u16, first: Option<(i64, bool)>) {
        let before = match first {
            Some(first) => self.parts.insert(part, first),
            None => self.parts.remove(&part),
        };
        if let Some((time, vague)) = before {
            self.order.remove(&(time, vague, part));
        }
        if let Some((time, vague)) = first {
            self.order.insert((time, vague, part));
        }
    }

    /// Something was added.
    pub fn note(&mut self, part: u16, time: i64) {
        if self.parts.get(&part).is_none_or(|(first, _)| time <= *first) {
            self.put(part, Some((time, false)));
        }
    }

    /// Something was taken away.
    pub fn gone(&mut self, part: u16, time: i64) {
        if self.parts.get(&part).is_some_and(|(first, _)| *first == time) {
            self.put(part, Some((time, true)));
        }
    }

    /// Partitions that may have something then or sooner, the earliest first.
    pub fn until(&self, time: i64) -> impl Iterator<Item = u16> + '_ {
        self.order.range(..=(time, true, u16::MAX)).map(|(_, _, part)| *part)
    }

    /// The earliest of all, or the partitions that have to be looked at before that can be told.
    pub fn first(&self) -> Result<Option<i64>, Vec<u16>> {
        let vague: Vec<u16> =
            self.order.iter().take_while(|(_, vague, _)| *vague).map(|(.., part)| *part).collect();
        match vague.is_empty() {
            true => Ok(self.order.first().map(|(time, ..)| *time)),
            false => Err(vague),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_known_until_it_is_taken_away() {
        let mut firsts = Firsts::default();
        assert_eq!(firsts.first(), Ok(None));
        firsts.note(1, 50);
        firsts.note(2, 40);
        firsts.note(2, 60);
        assert_eq!(firsts.first(), Ok(Some(40)));
        firsts.gone(2, 60);
        assert_eq!(firsts.first(), Ok(Some(40)), "what is not first does not matter");
        firsts.gone(2, 40);
        assert_eq!(firsts.first(), Err(vec![2]));
        firsts.set(2, Some(60));
        assert_eq!(firsts.first(), Ok(Some(50)));
        assert_eq!(firsts.until(55).collect::<Vec<_>>(), [1]);
        firsts.set(1, None);
        assert_eq!(firsts.first(), Ok(Some(60)));
    }

    #[test]
    fn nobody_looks_where_another_is_as_early() {
        let mut firsts = Firsts::default();
        firsts.note(1, 10);
        firsts.note(2, 10);
        firsts.gone(1, 10);
        assert_eq!(firsts.first(), Ok(Some(10)));
    }
}
