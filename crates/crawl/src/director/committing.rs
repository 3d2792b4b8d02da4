//! Where groups are committed: on a thread of their own, or here, in a simulation.

use crate::committer::Committer;
use crate::group::{Event, Group};
use std::sync::{Arc, Mutex, PoisonError, mpsc as blocking};
use std::time::Duration;
use tokio::sync::mpsc;

/// What takes groups, one at a time.
pub(crate) enum Committing {
    /// The committer's own thread.
    Thread(blocking::SyncSender<Group>),
    /// A task on the one thread there is; a commit takes some virtual time.
    Here(Arc<Mutex<Committer>>, Duration, mpsc::Sender<Event>),
}

impl Committing {
    pub(crate) fn here(committer: Committer, takes: Duration, events: mpsc::Sender<Event>) -> Self {
        Committing::Here(Arc::new(Mutex::new(committer)), takes, events)
    }

    /// Gives it a group; it is free.
    pub(crate) fn give(&self, group: Group) {
        match self {
            Committing::Thread(sender) => {
                // The channel holds one: this does not wait.
                let _ = sender.send(group);
            }
            Committing::Here(committer, takes, events) => {
                let (committer, takes, events) = (committer.clone(), *takes, events.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(takes).await;
                    let event = {
                        let mut committer =
                            committer.lock().unwrap_or_else(PoisonError::into_inner);
                        committer.perform(group)
                    };
                    tokio::time::sleep(takes).await;
                    let _ = events.send(event).await;
                });
            }
        }
    }
}
