//! Who the pages ask: whoever works in the data directory, or the directory itself.
//!
//! ```text
//!  kept open here ──somebody wants to work: Leave──▶ theirs ──nobody answers any more──▶ kept open here
//!     (we answer)                                    (we ask them)
//! ```
//!
//! * What this is: the [`Desk`] of the pages. While nobody works in the directory it is kept open here, its words and links
//!   are followed, and a control socket answers visitors. Whoever wants to work asks us to leave.
//! * A crawl that is started from the page is a process of its own: `argiope crawl`.
//! * Invariants: the directory is never opened while somebody else has it; a question waits [`PATIENCE`] at most.

use super::ask::ask_whoever_works;
use super::{VISIT_MEMORY, fleet, news, now, open_store};
use crate::args::Global;
use crate::output;
use anyhow::Context;
use argiope_crawl::{
    Access, Asked, DataDir, DataDirError, EngineSettings, Followers, Following, Listening, Live,
    Owner, Question, answer, ask_owner, listen,
};
use argiope_store::Store;
use argiope_web::{Desk, FollowAct, Start};
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// A question waits no longer for somebody to answer it.
const PATIENCE: Duration = Duration::from_secs(10);
/// Whoever asked us to leave has this long to come in.
const LEFT: Duration = Duration::from_secs(2);
/// From one try to the next.
const AGAIN: Duration = Duration::from_millis(50);
/// Lines kept of what a crawl says.
const SAID: usize = 30;
/// A crawl that was started answers after this long, or says why not.
const STARTING: Duration = Duration::from_secs(15);
/// A crawl that has worked for so long runs.
const SETTLED: Duration = Duration::from_millis(800);
/// A crawl that was asked to end has ended after this long.
const ENDING: Duration = Duration::from_secs(40);

/// Who the pages ask.
pub struct Keeper {
    global: Global,
    settings: EngineSettings,
    held: Mutex<Held>,
    crawl: Mutex<Option<Started>>,
    me: Weak<Keeper>,
}

#[derive(Default)]
struct Held {
    kept: Option<Arc<Kept>>,
    /// Not to be opened before.
    not_before: Option<Instant>,
}

/// The directory, kept open.
struct Kept {
    dir: Arc<DataDir>,
    store: Arc<dyn Store>,
    followers: Followers,
    // Dropped in this order: nobody is let in any more, then following ends.
    _listening: Listening,
    _following: Vec<Following>,
}

/// A crawl that was started from the page.
struct Started {
    child: Child,
    said: Arc<Mutex<VecDeque<String>>>,
}

impl Keeper {
    pub fn new(global: &Global, settings: EngineSettings) -> Arc<Self> {
        Arc::new_cyclic(|me| Keeper {
            global: global.clone(),
            settings,
            held: Mutex::default(),
            crawl: Mutex::default(),
            me: me.clone(),
        })
    }

    /// Says at once what would be wrong later.
    pub fn look(&self) -> anyhow::Result<()> {
        if ask_owner(&self.global.data, &Question::Status)?.is_some() {
            return Ok(());
        }
        match self.keep() {
            Err(e) if e.downcast_ref::<DataDirError>().is_some_and(is_owned) => Ok(()),
            other => other.map(|_| ()),
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the directory, or says who has it.
    fn keep(&self) -> anyhow::Result<Arc<Kept>> {
        let mut held = self.held();
        if let Some(kept) = &held.kept {
            return Ok(kept.clone());
        }
        let (dir, store): (Arc<DataDir>, Arc<dyn Store>) =
            match fleet::reader(&self.global, Access::Keep, VISIT_MEMORY)? {
                Some(reader) => (reader.dir, reader.store),
                None => {
                    let dir = DataDir::open(&self.global.data, Access::Keep, now())?;
                    let store = open_store(&dir, VISIT_MEMORY)?;
                    (Arc::new(dir), store)
                }
            };
        let followers = Followers::new(&dir, &store, &self.settings);
        let me = self.me.clone();
        let listening = listen(Owner {
            dir: dir.clone(),
            store: store.clone(),
            followers: followers.clone(),
            live: Arc::new(Live::default()),
            settings: self.settings.clone(),
            orders: None,
            leave: Some(Box::new(move || {
                if let Some(me) = me.upgrade() {
                    me.leave();
                }
            })),
        });
        let listening = listening.context("cannot open the control socket")?;
        let following = vec![
            Following::start(followers.links.clone())?,
            Following::start(followers.words.clone())?,
            Following::start(followers.news.clone())?,
        ];
        let kept =
            Arc::new(Kept { dir, store, followers, _listening: listening, _following: following });
        held.kept = Some(kept.clone());
        Ok(kept)
    }

    /// Leaves the directory to somebody else, soon.
    fn leave(&self) {
        let kept = {
            let mut held = self.held();
            held.not_before = Some(Instant::now() + LEFT);
            held.kept.take()
        };
        // Whoever asked waits for its answer on a thread of what is dropped here.
        std::thread::spawn(move || drop(kept));
    }

    fn try_ask(&self, question: &Question) -> anyhow::Result<Option<Asked>> {
        let (kept, waits) = {
            let held = self.held();
            (held.kept.clone(), held.not_before.is_some_and(|t| Instant::now() < t))
        };
        if let Some(kept) = kept {
            return Ok(Some(self.answer(&kept, question)));
        }
        if let Some(asked) = ask_whoever_works(&self.global, question)? {
            return Ok(Some(asked));
        }
        if waits {
            return Ok(None);
        }
        match self.keep() {
            Ok(kept) => Ok(Some(self.answer(&kept, question))),
            Err(e) if e.downcast_ref::<DataDirError>().is_some_and(is_owned) => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn answer(&self, kept: &Kept, question: &Question) -> Asked {
        let Kept { dir, store, followers, .. } = kept;
        answer(question, dir, &**store, followers, &self.settings, None)
    }

    /// Starts `argiope crawl` in a process of its own.
    fn begin(&self, order: &Start) -> anyhow::Result<String> {
        self.beside("The crawl", |command| {
            command.arg("crawl");
            for (flag, value) in &order.flags {
                command.arg(format!("{flag}={value}"));
            }
            // Whatever follows is a URL, however it begins.
            command.arg("--").args(&order.urls);
        })
    }

    /// Starts `argiope news collect` in a process of its own.
    fn gather(&self, sites: &[String]) -> anyhow::Result<String> {
        if sites.is_empty() && news::followed_sites(&self.global)?.is_empty() {
            anyhow::bail!("no site is followed yet; follow one first");
        }
        self.beside("The collection of news", |command| {
            command.args(["news", "collect"]);
            if !sites.is_empty() {
                command.arg(format!("--sites={}", sites.join(",")));
            }
            if self.settings.fetch.allow_private {
                command.arg("--allow-private");
            }
        })
    }

    /// Starts this program once more for the same directory, and waits until it works or has said why not.
    fn beside(&self, what: &str, say: impl FnOnce(&mut Command)) -> anyhow::Result<String> {
        let mut running = self.crawl.lock().unwrap_or_else(PoisonError::into_inner);
        let works = |asked: &Asked| match asked {
            Asked::Rows(rows) => rows.first().is_some_and(|row| row["state"] != "idle"),
            _ => false,
        };
        if self.held().kept.is_none()
            && ask_owner(&self.global.data, &Question::Status)?.is_some_and(|asked| works(&asked))
        {
            anyhow::bail!(
                "a crawl is running here already; stop it first, or wait until it is done"
            );
        }
        let mut command = Command::new(std::env::current_exe().context("who am I?")?);
        command.arg("--data").arg(&self.global.data);
        if let Some(config) = &self.global.config {
            command.arg("--config").arg(config);
        }
        if let Some(store) = &self.global.store {
            // Not among the arguments, where everybody on the machine could read its password.
            command.env("ARGIOPE_STORE", store);
        }
        for archive in &self.global.archive {
            command.arg("--archive").arg(archive);
        }
        say(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start this program once more")?;
        let said = Arc::new(Mutex::new(VecDeque::new()));
        if let Some(stderr) = child.stderr.take() {
            let said = said.clone();
            std::thread::spawn(move || listen_to(BufReader::new(stderr), &said));
        }
        let begun = Instant::now();
        let (id, mut started) = (child.id(), Started { child, said });
        let mut works_since: Option<Instant> = None;
        while begun.elapsed() < STARTING {
            if let Some(status) = started.child.try_wait()? {
                // What was said last may still be on its way.
                std::thread::sleep(Duration::from_millis(100));
                let said = started.said();
                let why = if said.is_empty() { status.to_string() } else { said };
                return if status.success() { Ok(why) } else { anyhow::bail!("{why}") };
            }
            let works = self.held().kept.is_none()
                && matches!(ask_owner(&self.global.data, &Question::Status), Ok(Some(_)));
            // What is over at once has more to say than that it runs.
            works_since = works_since.or_else(|| works.then(Instant::now));
            if works_since.is_some_and(|since| since.elapsed() > SETTLED) {
                break;
            }
            std::thread::sleep(AGAIN);
        }
        *running = Some(started);
        Ok(format!("{what} is running (process {id})."))
    }

    /// Ends what was started here, and lets the directory go.
    pub fn end(&self) {
        let started = self.crawl.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut started) = started
            && matches!(started.child.try_wait(), Ok(None))
        {
            output::talk(
                "The crawl that was started from the page ends too; the next start goes on with it.",
            );
            let _ = ask_owner(&self.global.data, &Question::Stop);
            let begun = Instant::now();
            while matches!(started.child.try_wait(), Ok(None)) && begun.elapsed() < ENDING {
                std::thread::sleep(AGAIN);
            }
        }
        let kept = self.held().kept.take();
        drop(kept);
    }
}

impl Started {
    fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Keeps the last lines of what a crawl says.
fn listen_to(lines: impl BufRead, said: &Mutex<VecDeque<String>>) {
    for line in lines.lines().map_while(Result::ok) {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() == SAID {
            said.pop_front();
        }
        said.push_back(line);
    }
}

fn is_owned(e: &DataDirError) -> bool {
    matches!(e, DataDirError::Owned { .. })
}

impl Desk for Keeper {
    fn ask(&self, question: &Question) -> Result<Asked, String> {
        let begun = Instant::now();
        loop {
            match self.try_ask(question) {
                Ok(Some(asked)) => return Ok(asked),
                Ok(None) if begun.elapsed() < PATIENCE => std::thread::sleep(AGAIN),
                Ok(None) => {
                    return Err(format!(
                        "somebody is working in {} and answers no questions (an export or a check, perhaps); this page comes back when it is done",
                        self.global.data.display()
                    ));
                }
                Err(e) => return Err(output::sentence(&e)),
            }
        }
    }

    fn data(&self) -> &Path {
        &self.global.data
    }

    fn start(&self, order: &Start) -> Result<String, String> {
        self.begin(order).map_err(|e| output::sentence(&e))
    }

    fn quick(&self, site: &str) -> Result<Vec<Value>, String> {
        // Mistakes in the file of sites are no reason not to look at one.
        let followed = news::followed_sites(&self.global).unwrap_or_default();
        let looked = news::quick_look(&self.settings, &followed, site);
        looked.map(|looked| looked.rows).map_err(|e| output::sentence(&e))
    }

    fn follow(&self, act: &FollowAct) -> Result<String, String> {
        let done = match act {
            FollowAct::Add(what) => news::follow(&self.global, what).map(|followed| followed.said),
            FollowAct::Remove(what) => news::unfollow(&self.global, what),
            FollowAct::Import(text) => {
                news::import_opml(&self.global, text).map(|done| done.said())
            }
            FollowAct::Export => {
                let read = match self.ask(&Question::NewsFeeds) {
                    Ok(Asked::Rows(rows)) => rows,
                    _ => Vec::new(),
                };
                news::export_opml(&self.global, &read)
            }
        };
        done.map_err(|e| output::sentence(&e))
    }

    fn collect(&self, sites: &[String]) -> Result<String, String> {
        self.gather(sites).map_err(|e| output::sentence(&e))
    }
}
