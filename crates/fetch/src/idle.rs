//! Connections waiting for another request to the same host.
//!
//! At most `limit` in all; the one waiting longest goes first. Those beyond their time are
//! closed when the next connection comes or goes, so an engine at rest may keep them longer.

use crate::connection::Connection;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) struct Idle {
    limit: usize,
    timeout: Duration,
    waiting: Mutex<Waiting>,
}

/// A waiting connection and its number in the queue.
struct Held {
    number: u64,
    connection: Box<Connection>,
}

#[derive(Default)]
struct Waiting {
    /// Per origin, the one that waited least last.
    by_origin: HashMap<Arc<str>, Vec<Held>>,
    /// All of them, the one that waited longest first.
    by_age: BTreeMap<u64, (Instant, Arc<str>)>,
    next: u64,
}

impl Idle {
    pub(crate) fn new(limit: usize, timeout: Duration) -> Self {
        Idle { limit, timeout, waiting: Mutex::default() }
    }

    /// A connection to this origin that can still be used, if there is one.
    pub(crate) fn take(&self, origin: &str) -> Option<Box<Connection>> {
        loop {
            let (mut connection, _closed_after_unlock) = {
                let mut waiting = self.lock();
                let old = waiting.expired(self.timeout);
                (waiting.take(origin)?, old)
            };
            if connection.is_usable() {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection for later.
    pub(crate) fn put(&self, connection: Box<Connection>) {
        if self.limit == 0 {
            return;
        }
        let mut waiting = self.lock();
        let mut old = waiting.expired(self.timeout);
        while waiting.by_age.len() >= self.limit {
            old.extend(waiting.oldest());
        }
        waiting.put(connection);
        drop(waiting);
        // Closing is a system call: not while others wait for the lock.
        drop(old);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn take(&mut self, origin: &str) -> Option<Box<Connection>> {
        let list = self.by_origin.get_mut(origin)?;
        let Held { number, connection } = list.pop()?;
        if list.is_empty() {
            self.by_origin.remove(origin);
        }
        self.by_age.remove(&number);
        Some(connection)
    }

    fn put(&mut self, connection: Box<Connection>) {
        let number = self.next;
        self.next += 1;
        let origin = connection.origin.clone();
        self.by_age.insert(number, (Instant::now(), origin.clone()));
        self.by_origin.entry(origin).or_default().push(Held { number, connection });
    }

    fn oldest(&mut self) -> Option<Held> {
        let (number, (_, origin)) = self.by_age.pop_first()?;
        let list = self.by_origin.get_mut(&origin)?;
        let at = list.iter().position(|held| held.number == number)?;
        let held = list.remove(at);
        if list.is_empty() {
            self.by_origin.remove(&origin);
        }
        Some(held)
    }

    fn expired(&mut self, timeout: Duration) -> Vec<Held> {
        let mut old = Vec::new();
        while let Some(entry) = self.by_age.first_entry()
            && entry.get().0.elapsed() >= timeout
        {
            old.extend(self.oldest());
        }
        old
    }
}
