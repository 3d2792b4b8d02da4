//! Followers of the change log, each in a thread of its own beside the crawl.
//!
//! A follower reads what the store has committed and keeps something that can be made again from
//! it: back-links, words. Nothing it does or fails to do ends a crawl; what it has not read is read
//! by its next start, or by whoever asks.

use crate::backlinks::{Backlinks, chain};
use crate::data_dir::DataDir;
use crate::news::NewsState;
use crate::settings::EngineSettings;
use crate::words::Words;
use argiope_index::IndexSettings;
use argiope_store::Store;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// From one look at the change log to the next.
const PAUSE: Duration = Duration::from_millis(500);

/// Why a follower could not go on.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Something that follows the change log.
pub trait Follower: Send + Sync {
    /// What it keeps.
    fn name(&self) -> &'static str;
    /// It is followed from now on.
    fn begin(&self) {}
    /// Reads a piece; says whether there is more.
    fn step(&self) -> Result<bool, Failure>;
    /// The crawl has ended. With `all`, everything is to be read; else what was read is to be kept.
    fn finish(&self, all: bool) -> Result<(), Failure>;
}

/// All followers of a data directory.
#[derive(Clone)]
pub struct Followers {
    /// Who links to whom.
    pub links: Arc<Backlinks>,
    /// Every word.
    pub words: Arc<Words>,
    /// Articles and stories of the sites whose news are followed.
    pub news: Arc<NewsState>,
}

impl Followers {
    /// Those of a directory; they open their files when they are first needed.
    pub fn new(dir: &DataDir, store: &Arc<dyn Store>, settings: &EngineSettings) -> Self {
        let links = Arc::new(Backlinks::new(dir, store.clone(), settings.link_memory()));
        let index = IndexSettings { memory: settings.index_memory(), ..settings.index.clone() };
        let called = settings.links.then(|| links.clone());
        let words = Words::new(dir, store.clone(), called, index, settings.hold.clone());
        let news = Arc::new(NewsState::new(dir, store.clone(), settings));
        Followers { links, words: Arc::new(words), news }
    }
}

/// A thread that follows until it is told to finish, or dropped.
pub struct Following {
    told: Arc<(Mutex<Told>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Finish { all: bool },
}

impl Following {
    /// Starts to follow.
    pub fn start(follower: Arc<dyn Follower>) -> std::io::Result<Self> {
        let told = Arc::new((Mutex::new(Told::Nothing), Condvar::new()));
        follower.begin();
        let heard = told.clone();
        let thread = std::thread::Builder::new().name(follower.name().to_owned());
        let thread = thread.spawn(move || {
            let mut well = true;
            let all = loop {
                if let Told::Finish { all } = waited(&heard) {
                    break all;
                }
                let followed = loop {
                    match follower.step() {
                        Ok(true) if said(&heard) == Told::Nothing => {}
                        other => break other,
                    }
                };
                match followed {
                    Ok(_) => well = true,
                    // A full disk may have room again later; it is said once.
                    Err(e) if std::mem::take(&mut well) => {
                        tracing::warn!("{} fall behind: {}", follower.name(), chain(&*e));
                    }
                    Err(_) => {}
                }
            };
            if let Err(e) = follower.finish(all) {
                let name = follower.name();
                tracing::warn!("{name} are brought up to date when asked for: {}", chain(&*e));
            }
        })?;
        Ok(Following { told, thread: Some(thread) })
    }

    /// Ends it. With `all`, everything that was committed is read first.
    pub fn finish(mut self, all: bool) {
        self.end(all);
    }

    fn end(&mut self, all: bool) {
        let (told, bell) = &*self.told;
        *told.lock().unwrap_or_else(PoisonError::into_inner) = Told::Finish { all };
        bell.notify_all();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.end(false);
        }
    }
}

fn said(told: &(Mutex<Told>, Condvar)) -> Told {
    *told.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits a while for something to be said.
fn waited((told, bell): &(Mutex<Told>, Condvar)) -> Told {
    let told = told.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = bell.wait_timeout_while(told, PAUSE, |told| *told == Told::Nothing);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}
