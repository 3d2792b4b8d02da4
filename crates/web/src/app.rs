//! What all requests share: the desk, the guard, and the limits on asking.
//!
//! * Invariants: at most [`AT_ONCE`] questions are asked at a time. At most [`IN_LINE`] wait for a turn, and none longer than
//!   [`PATIENCE`]; all others are sent away with 503.

use crate::api::Meter;
use crate::failure::Failure;
use crate::guard::Guard;
use crate::live::Watching;
use crate::news::Notices;
use argiope_crawl::{Asked, Question};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Questions asked at once.
const AT_ONCE: usize = 8;
/// Questions that are asked or wait for their turn.
const IN_LINE: usize = 64;
/// Nobody waits longer for a turn.
const PATIENCE: Duration = Duration::from_secs(10);
/// Sites that are looked at for somebody at once.
const LOOKS: usize = 3;

/// Whoever answers: the process that owns the data directory, or that directory itself. Every call blocks.
pub trait Desk: Send + Sync + 'static {
    /// Answers a question. The error is a sentence: nobody can answer now.
    fn ask(&self, question: &Question) -> Result<Asked, String>;
    /// Where the pages lie.
    fn data(&self) -> &Path;
    /// Starts a crawl beside this process; the answer is a sentence either way.
    fn start(&self, order: &Start) -> Result<String, String>;
    /// The headlines of a site's front page as it is now; nothing is stored. The rows are those of
    /// `argiope news quick --format json`.
    fn quick(&self, site: &str) -> Result<Vec<Value>, String>;
    /// Changes which sites are followed; the answer is a sentence, or the OPML that was asked for.
    fn follow(&self, act: &FollowAct) -> Result<String, String>;
    /// Collects news beside this process, of these sites or of all; the answer is a sentence.
    fn collect(&self, sites: &[String]) -> Result<String, String>;
}

/// A change to the sites whose news are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowAct {
    /// Follow a site: its name, or the URL of a front page or feed.
    Add(String),
    /// No longer follow a site.
    Remove(String),
    /// Follow the sites of an OPML document, in whatever encoding.
    Import(Vec<u8>),
    /// Say them as OPML.
    Export,
}

/// A crawl that is to be started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Start URLs; none goes on with what is open.
    pub urls: Vec<String>,
    /// Flags and their values, as `argiope crawl` takes them: `("--max-pages", "500")`.
    pub flags: Vec<(String, String)>,
}

/// What all requests share.
pub(crate) struct App {
    desk: Arc<dyn Desk>,
    pub guard: Guard,
    pub watching: Watching,
    pub notices: Notices,
    looks: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    pub meter: Meter,
    line: Semaphore,
    heavy: Semaphore,
}

/// As handlers get it.
pub(crate) type Shared = axum::extract::State<Arc<App>>;

impl App {
    pub fn new(desk: Arc<dyn Desk>, guard: Guard) -> Self {
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        let line = Semaphore::new(IN_LINE);
        App {
            desk,
            guard,
            watching: Watching::default(),
            notices: Notices::default(),
            looks: Arc::new(Semaphore::new(LOOKS)),
            turns,
            line,
            heavy: Semaphore::new(1),
            meter: Meter::default(),
        }
    }

    /// Does something that blocks with the desk, in its turn.
    pub async fn with_desk<T: Send + 'static>(
        &self,
        act: impl FnOnce(&dyn Desk) -> T + Send + 'static,
    ) -> Result<T, Failure> {
        let waiting = self.meter.wait();
        let _place = self.line.try_acquire().map_err(|_| Failure::busy())?;
        let turn = tokio::time::timeout(PATIENCE, self.turns.clone().acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return Err(Failure::busy()) };
        drop(waiting);
        let desk = self.desk.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            act(&*desk)
        });
        done.await.map_err(|_| Failure::ours("something went wrong here; the log says what"))
    }

    /// Looks at the headlines of a site. That waits for a server somewhere, so it takes no turn from those who
    /// ask here; a few at once are the most.
    pub async fn look(&self, site: String) -> Result<Result<Vec<Value>, String>, Failure> {
        let room = self.looks.clone().try_acquire_owned();
        let room = room.map_err(|_| {
            Failure::nobody("some sites are being looked at just now; try again in a moment")
        })?;
        let desk = self.desk.clone();
        let looked = tokio::task::spawn_blocking(move || {
            let _room = room;
            desk.quick(&site)
        });
        looked.await.map_err(|_| Failure::ours("something went wrong here; the log says what"))
    }

    /// Does something that blocks with the desk, beside the turns; whoever calls bounds how often.
    pub fn apart(&self, act: impl FnOnce(&dyn Desk) + Send + 'static) {
        let desk = self.desk.clone();
        tokio::task::spawn_blocking(move || act(&*desk));
    }

    /// Asks; a piece and what to ask for the next one.
    pub async fn ask_piece(
        &self,
        question: Question,
    ) -> Result<(Vec<Value>, Option<Question>), Failure> {
        // Whoever takes a long text apart needs many times its size: one after the other.
        let heavy = matches!(question, Question::DocWords(_) | Question::DocNear(_));
        let _alone = match heavy {
            true => Some(self.alone().await?),
            false => None,
        };
        heard(self.with_desk(move |desk| desk.ask(&question)).await?)
    }

    /// A turn at what only one may do at a time.
    pub async fn alone(&self) -> Result<SemaphorePermit<'_>, Failure> {
        let turn = tokio::time::timeout(PATIENCE, self.heavy.acquire()).await;
        turn.ok().and_then(Result::ok).ok_or_else(Failure::busy)
    }

    /// Questions being answered.
    pub fn being_answered(&self) -> usize {
        AT_ONCE - self.turns.available_permits()
    }

    /// Asks; all rows where the answer is not in pieces, the first piece where it is.
    pub async fn ask(&self, question: Question) -> Result<Vec<Value>, Failure> {
        Ok(self.ask_piece(question).await?.0)
    }
}

/// What a desk has said: a piece and what to ask for the next one, or why there is none.
pub(crate) fn heard(
    asked: Result<Asked, String>,
) -> Result<(Vec<Value>, Option<Question>), Failure> {
    match asked.map_err(Failure::nobody)? {
        Asked::Rows(rows) => Ok((rows, None)),
        Asked::Piece(rows, rest) => Ok((rows, rest.map(|rest| *rest))),
        Asked::Unknown(why) => Err(Failure::unknown(why)),
        Asked::Wrong(why) => Err(Failure::wrong(why)),
        Asked::Sorry(why) => Err(Failure::refused(why)),
    }
}
