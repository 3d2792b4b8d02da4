//! The ready queue, the calendar, and the life of a host on disk: scheduled, claimed, given
//! back, asleep.

use super::key::{self, ASLEEP};
use super::overlay::Work;
use super::{Base, DueRow, Marks, ReadyRow, Table};
use crate::StoreError;
use crate::row::{self, HostRow, damaged};
use argiope_frontier::{Entry, HostNote, Named, Release, Trap};
use argiope_model::{CanonicalUrl, HostKey, Time};

impl<B: Base> Work<'_, B> {
    /// Adds a ready row and, where its host is not loaded, makes sure it is scheduled.
    pub(super) fn enqueue(&mut self, entry: Entry) -> Result<(), StoreError> {
        let host_key = entry.key.host;
        let ready = ReadyRow::of(entry.key, &self.read_row(entry.key).head);
        let k = key::ready(host_key, entry.place);
        self.put(Table::Queue, k, row::encode(&ready));
        let host = self.known_host(host_key)?;
        host.ready += 1;
        if host.claimed {
            self.queued.push(entry);
            return Ok(());
        }
        self.schedule(host_key)
    }

    /// Puts an unclaimed host with ready rows on the schedule, as early as it may be asked.
    pub(super) fn schedule(&mut self, k: HostKey) -> Result<(), StoreError> {
        let now = self.now;
        let host = self.known_host(k)?;
        let wake = key::wake_of(host.wakes_at().max(Time(now.0 / 1000 * 1000)));
        if host.claimed || host.ready == 0 || host.wake.is_some_and(|w| w <= wake) {
            return Ok(());
        }
        let old = host.wake.replace(wake);
        if let Some(old) = old {
            self.delete(Table::Queue, key::schedule(old, k));
        }
        self.put_scheduled(wake, k);
        Ok(())
    }

    fn put_scheduled(&mut self, wake: u32, host: HostKey) {
        self.kept.marks.wakes(wake, host);
        self.put(Table::Queue, key::schedule(wake, host), []);
    }

    /// Writes down what is known of a loaded host.
    pub(super) fn note(&mut self, note: HostNote) -> Result<(), StoreError> {
        if let Some(host) = self.host(note.host)?.filter(|host| host.claimed) {
            (host.not_before, host.temper) = (note.not_before, note.temper);
        }
        Ok(())
    }

    pub(super) fn forgive(&mut self, k: HostKey) -> Result<(), StoreError> {
        let Some(host) = self.host(k)? else { return Ok(()) };
        let was = std::mem::take(&mut host.temper);
        // It was to be looked at at once; now it is to be asked, and keeps the time it was promised.
        if (was.given_up.is_some() || was.excluded)
            && let Some(wake) = host.wake.filter(|wake| *wake != ASLEEP)
        {
            host.wake = None;
            self.delete(Table::Queue, key::schedule(wake, k));
            self.schedule(k)?;
        }
        Ok(())
    }

    /// Nothing is asked of a host any more: what it has is looked at at once, to be refused.
    pub(super) fn exclude(&mut self, k: HostKey) -> Result<(), StoreError> {
        let Some(host) = self.host(k)? else { return Ok(()) };
        host.temper.excluded = true;
        match host.wake {
            Some(ASLEEP) => Ok(()),
            _ => self.schedule(k),
        }
    }

    /// Writes down that a name is excluded, or no longer is.
    pub(super) fn exclusion(&mut self, name: &str, on: bool) -> Result<(), StoreError> {
        let k = key::exclusion(name);
        if !on {
            self.delete(Table::Meta, k);
        } else if self.base.get(Table::Meta, &k, |_| Ok(()))?.is_none() {
            self.put(Table::Meta, k, row::encode(&self.now));
        }
        Ok(())
    }

    /// Writes down the delay of a name, or that it has none.
    pub(super) fn delay(&mut self, name: &str, ms: Option<u64>) {
        let k = key::delay(name);
        match ms {
            Some(ms) => self.put(Table::Meta, k, row::encode(&ms)),
            None => self.delete(Table::Meta, k),
        }
    }

    /// Writes down that a pattern is a trap, or no longer is.
    pub(super) fn trap(&mut self, name: &str, trap: Option<&Trap>) {
        let k = key::trap(name);
        match trap {
            Some(trap) => self.put(Table::Meta, k, row::encode(trap)),
            None => self.delete(Table::Meta, k),
        }
    }

    pub(super) fn release(&mut self, release: Release) -> Result<(), StoreError> {
        self.delete(Table::Queue, key::claim(release.host));
        let host = self.known_host(release.host)?;
        host.claimed = false;
        (host.not_before, host.temper) = (release.not_before, release.temper);
        let idle = host.ready > 0 && host.wake.is_none();
        // Who put it to sleep did not know of the rows that this batch queued.
        let asleep = release.asleep && self.queued.iter().all(|e| e.key.host != release.host);
        if asleep && idle {
            let host = self.known_host(release.host)?;
            host.wake = Some(ASLEEP);
            self.put_scheduled(ASLEEP, release.host);
            return Ok(());
        }
        self.schedule(release.host)
    }

    /// Moves what is due from the calendar into the ready queues, and what waits for hosts that
    /// will not be asked.
    pub(super) fn calendar(&mut self, excluded: &[HostKey]) -> Result<(), StoreError> {
        for DueRow { due, url: url_key, place, job } in
            self.base.due(&self.kept.marks, self.now, excluded)?
        {
            self.delete(Table::Queue, key::calendar(due, url_key));
            let Some(row) = self.row(url_key)? else {
                return Err(damaged("the calendar", "a row without its URL"));
            };
            row.dirty = true;
            row.head.due = None;
            let entry = Entry {
                key: url_key,
                place,
                url: CanonicalUrl::parse(&row.url).map_err(|e| damaged("URLs", e))?,
                doc: row.head.doc,
                job,
                depth: row.head.depth,
                attempts: row.head.attempts,
                expand: row.head.expand,
                role: row.head.role,
                hops: row.head.hops,
                again: row.head.is_again(),
            };
            self.enqueue(entry)?;
        }
        Ok(())
    }

    /// Hosts that slept because none of their jobs was worked on are due again.
    pub(crate) fn wake_sleepers(&mut self) -> Result<(), StoreError> {
        let sleepers = self.base.sleepers()?;
        sleepers.into_iter().try_for_each(|host| self.schedule(host))
    }

    /// Claims hosts whatever the schedule says, but for those that are claimed already.
    pub(super) fn claim_named(&mut self, named: Vec<Named>) -> Result<Vec<HostKey>, StoreError> {
        let mut claimed = Vec::new();
        for Named { host: k, origin } in named {
            if self.host(k)?.is_none() {
                self.new_host(k, HostRow::new(&origin));
            }
            if !self.known_host(k)?.claimed {
                self.take(k)?;
                claimed.push(k);
            }
        }
        Ok(claimed)
    }

    /// Claims hosts that are due, those scheduled by this very batch included.
    pub(super) fn claim(&mut self, limit: usize) -> Result<Vec<HostKey>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let now = key::wake_of(self.now);
        let mut due = self.base.scheduled(&self.kept.marks, now, limit)?;
        due.extend(self.scheduled(now));
        let mut claimed = Vec::new();
        for k in due {
            if claimed.len() >= limit {
                break;
            }
            let host = self.known_host(k)?;
            // The schedule was read as it stood before this batch.
            if host.wake.is_some_and(|w| w <= now && !host.claimed) {
                self.take(k)?;
                claimed.push(k);
            }
        }
        Ok(claimed)
    }

    /// Takes a host off the schedule and claims it.
    fn take(&mut self, k: HostKey) -> Result<(), StoreError> {
        let host = self.known_host(k)?;
        host.claimed = true;
        if let Some(wake) = host.wake.take() {
            self.delete(Table::Queue, key::schedule(wake, k));
        }
        self.put(Table::Queue, key::claim(k), []);
        Ok(())
    }
}
