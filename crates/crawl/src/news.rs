//! News: the articles and stories of the sites that are followed, kept beside the crawl, and the
//! questions asked of them.
//!
//! * What this is: what is asked and what may be changed ([`NewsOrder`], [`NewsAct`]). Below: `state` follows the change
//!   log, `intake` makes articles of pages by the rules of `judge` and with what `hint` knows of them, `table` holds them in memory and `log` on disk,
//!   `reader` keeps what is the reader's, `answer` answers, `purge` forgets and verifies.
//! * Its place: beside the engine, like words and back-links. Articles can be made again from the pages; what the reader
//!   has read, ruled and saved cannot.
//! * What is not here: which pages are fetched (`gather`), what an article's text is (`parse`), which articles are one
//!   story (`argiope_news`).

mod answer;
mod hint;
mod intake;
mod judge;
mod log;
mod purge;
mod reader;
mod row;
mod state;
mod table;
#[cfg(test)]
mod tests;

pub use answer::is_of_site;
pub(crate) use purge::forget_news;
pub use purge::verify_news;
pub use state::{Gained, NewsState};

use crate::versions::VersionError;
use argiope_news::Sites;
use argiope_store::StoreError;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Where the sites whose news are followed come from; asked often, so the answer is to be at hand.
#[derive(Clone)]
pub struct NewsSource(Arc<dyn Fn() -> Arc<Sites> + Send + Sync>);

impl NewsSource {
    /// From whoever knows.
    pub fn new(ask: impl Fn() -> Arc<Sites> + Send + Sync + 'static) -> Self {
        NewsSource(Arc::new(ask))
    }

    /// The sites as they are now.
    pub fn sites(&self) -> Arc<Sites> {
        (self.0)()
    }
}

impl Default for NewsSource {
    fn default() -> Self {
        let none = Arc::new(Sites::default());
        NewsSource::new(move || none.clone())
    }
}

impl std::fmt::Debug for NewsSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewsSource")
    }
}

/// Which news are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewsOrder {
    /// Only of these sites; a site or a host.
    pub sites: Vec<String>,
    /// Only on this subject.
    pub subject: Option<String>,
    /// Published (or seen, where that is not known) at or after this time, in milliseconds. A negative number is so long
    /// before whenever it is asked: a saved view of the last two days stays one.
    pub since: Option<i64>,
    /// Before this time, in milliseconds; negative as above.
    pub until: Option<i64>,
    /// Only with these words, in the language of searches.
    pub query: Option<String>,
    /// Only in this language.
    pub language: Option<String>,
    /// Only what was not read.
    pub unread: bool,
    /// Only what a keep rule has marked.
    pub kept: bool,
    /// Only what an alert rule has marked.
    pub alerts: bool,
    /// Also what a hide rule hides.
    pub hidden: bool,
    /// Articles one by one, not stories.
    pub articles: bool,
    /// Articles with their whole texts.
    pub texts: bool,
    /// How many.
    pub limit: usize,
    /// After this place, as an answer named it.
    pub after: Option<(i64, u64)>,
}

/// What a rule does with news that have its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleAction {
    /// They are marked, and shown whatever a hide rule says.
    Keep,
    /// They are not shown.
    Hide,
    /// They are marked, and can be asked for alone.
    Alert,
}

/// A rule over words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordRule {
    /// Its number; 0 before it has one.
    pub id: u32,
    /// What it does.
    pub action: RuleAction,
    /// The words: all of them must stand in title, summary or text; a "phrase" in quotes as it is.
    pub words: String,
    /// Only for this site.
    pub site: Option<String>,
}

/// A span of time back from whenever it is asked, as people write it (`12h`, `2d`, `1w`): a negative number of milliseconds,
/// as orders have it.
pub fn back_of(text: &str) -> Option<i64> {
    let text = text.trim().trim_start_matches('-');
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let length = match unit {
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => return None,
    };
    let number: i64 = number.parse().ok().filter(|number| *number > 0)?;
    number.checked_mul(-length)
}

/// The same the other way.
pub fn back_as(ms: i64) -> Option<String> {
    let back = ms.checked_neg().filter(|back| *back > 0)?;
    let units = [(7 * 86_400_000, "w"), (86_400_000, "d"), (3_600_000, "h"), (60_000, "m")];
    let (length, unit) = units.into_iter().find(|(length, _)| back % length == 0)?;
    Some(format!("{}{unit}", back / length))
}

/// A view that was saved under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedView {
    /// Its number; 0 before it has one.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// What it shows.
    pub order: NewsOrder,
}

/// A change to what the reader has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NewsAct {
    /// Articles were read, or are unread again.
    Read {
        /// Documents.
        docs: Vec<u64>,
        /// Stories: all their articles.
        stories: Vec<u64>,
        /// Whether they were read.
        read: bool,
    },
    /// All that an order shows was read, each story whole.
    ReadAll {
        /// What is shown.
        order: NewsOrder,
        /// Only what was there by then, in milliseconds.
        seen: Option<i64>,
    },
    /// A new rule.
    AddRule(WordRule),
    /// A rule less.
    RemoveRule(u32),
    /// A new saved view.
    Save(SavedView),
    /// A saved view less.
    Unsave(u32),
}

/// Why there are no news.
#[derive(Debug, thiserror::Error)]
pub enum NewsError {
    /// The operating system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A file that can be made again is damaged.
    #[error("{} is damaged; remove it, it is made again from the pages", .0.display())]
    Damaged(PathBuf),
    /// A file was written by a newer program.
    #[error("{} was written by a newer Argiope (form {found}); use that one", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its form.
        found: u32,
    },
    /// A row cannot be written.
    #[error("news cannot be written down: {0}")]
    Row(String),
    /// A page that may be an article cannot be read just now.
    #[error("{url} cannot be read")]
    Page {
        /// The page.
        url: String,
        /// Why not.
        #[source]
        source: VersionError,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
