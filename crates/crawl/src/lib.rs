//! The engine: joins the stages.
//!
//! # The life of a page
//!
//! ```text
//!  director (one task)          visits (many tasks)              committer (one thread)
//!  ───────────────────          ───────────────────              ──────────────────────
//!  frontier.next() ──claim────▶ fetch: head, judge, body
//!      ◀──────answered───────── the connection is free again
//!                               decode, type, parse, resolve,
//!                               admit links, digest, compress
//!      ◀──────page done────────
//!  collects a group ──group─────────────────────────────────────▶ revisit or response?
//!                                                                 append to the archive, sync
//!                                                                 append the texts, sync
//!                                                                 one store batch, synced
//!      ◀──────committed (new rows, counters, refills)────────────
//!  offers the new rows to the frontier
//! ```
//!
//! The director hands out other tasks the same way: finding a host's address, asking for its
//! robots.txt (`robots`). What the frontier refuses needs no visit and is committed as it is.
//!
//! A group closes at 64 pages, 4 MB, 200 ms, or when nothing else is under way. While one group
//! is being committed the next is collected; past a group's worth nothing new is handed out. A page
//! counts as read when the batch that holds it is durable; until then a crash gives its URL
//! back, for the queue row is deleted by that same batch.
//!
//! A host's connection is given back at the end of the answer, so that parsing and committing
//! cost the host's time nothing. Links are placed by the number of the visit that found them, not
//! by when they arrive; on one connection the frontier lets nothing overtake what a visit under
//! way could still put before it, so breadth-first and depth-first are exact there.
//!
//! # Done
//!
//! A job is done when its committed count of queued rows is zero and nothing is under way:
//! decided after a commit, never from what is in memory.
//!
//! * Its place: `cli` gives the order and shows the [`Live`] status; everything else is called
//!   from here.
//! * The web, the clock and the committer's thread are arguments of a [`Run`] ([`MadeUp`]): a
//!   simulation runs this same code in virtual time.
//! * What is not here: deciding (`frontier`), keeping (`store`, `archive`), talking to people
//!   (`cli`).

mod around;
mod aside;
mod ask;
mod ask_words;
mod backlinks;
mod before;
mod cdx;
mod committer;
mod content;
mod control;
mod copy;
mod data_dir;
mod difference;
mod digests;
mod director;
mod disk;
mod explain;
mod export;
mod export_graph;
mod export_pages;
mod export_tree;
mod export_wacz;
mod feed;
mod filters;
mod fleet;
mod follow;
mod forget;
mod fronts;
mod gather;
mod group;
mod import;
mod judge;
mod links;
mod live;
mod live_tree;
mod log;
mod look;
mod member;
mod metrics;
mod moment;
mod news;
mod order;
mod overview;
mod rank;
mod retention;
mod robots;
mod run;
mod settings;
mod sites;
mod tenure;
mod texts;
mod topic;
mod trail;
mod traps;
mod verify;
mod versions;
mod visit;
mod words;
mod world;

pub use argiope_fetch::is_private_address;
pub use argiope_index::{IndexError, IndexSettings, span_of};
pub use ask::{Asked, LinkOrder, Question, TopBy, answer};
pub use ask_words::{PlaceOrder, SearchOrder, WordOrder};
pub use backlinks::Backlinks;
pub use cdx::{CdxFilter, CdxMatch, CdxOrder, CdxSort, CdxTest, Place as CdxPlace};
pub use control::{ControlError, Leave, Listening, Owner, ask_owner, ask_worker, listen};
pub use copy::{
    CopyError, CopyPlan, CopyStep, CopySummary, copy_to_dir, copy_to_fleet, plan_to_dir,
    plan_to_fleet,
};
pub use data_dir::{Access, DataDir, DataDirError, Manifest};
pub use difference::{DiffLine, Difference, NoDifference, near_changes};
pub use director::{NewsTally, PutOff, Return, Tally};
pub use disk::dir_bytes;
pub use export::{export_cdxj, export_warc};
pub use export_graph::{
    GraphEdge, GraphExported, GraphForm, GraphNode, LinkSource, StoredLinks, TakeEdge, TakeNode,
    export_graph, write_edges, write_graphml, write_webgraph,
};
pub use export_pages::{PageFilter, PagesExported, export_jsonl, export_text, export_text_tree};
pub use export_tree::{TreeExported, TreeOrder, export_tree, tree_path};
pub use export_wacz::{WaczExported, WaczOrder, export_wacz};
pub use feed::{
    AtomEntry, FeedEntry, FeedError, FeedHead, FeedOrder, News, atom, atom_of, feed_id, news,
    write_feed, write_whole, xml_escaped,
};
pub use filters::{FilterChange, refused_starts, set_filter};
pub use fleet::Fleet;
pub use follow::{Follower, Followers, Following};
pub use forget::{
    FileReceipt, ForgetError, ForgetPlan, Move, OpenStore, PruneOrder, Pruned, Receipt, StoreFiles,
    Survivor, Thinned, finish_forgetting, forget, look, look_prune, pruned_between,
};
pub use import::{
    ImportError, ImportOrder, ImportProblem, ImportSummary, ImportWatch, import_warc,
};
pub use live::{Live, Look, Snapshot, Worker};
pub use live_tree::LiveTree;
pub use member::{Follows, follows};
pub use metrics::{page as metrics_page, serve as serve_metrics};
pub use moment::moment_of;
pub use news::{
    Gained, NewsAct, NewsError, NewsOrder, NewsSource, NewsState, RuleAction, SavedView, WordRule,
    back_as, back_of, is_of_site, verify_news,
};
pub use order::{NewJob, Picked, open_jobs, pick_job, pick_news};
pub use retention::{Keep, NoRule};
pub use run::{Ended, EngineError, Instruction, Run, SiteChange, Summary, run};
pub use settings::{EngineSettings, NewsSettings, RevisitSettings, gap as address_gap};
pub use sites::{excluded_starts, forgive_site};
pub use texts::{Texts, TextsError, texts_again};
pub use topic::has_words;
pub use verify::{Absent, Problem, Verified, verify, verify_words};
pub use versions::{Opened, Shelf, VersionError, Versions, history, version_at};
pub use words::{Hold, Indexing, Words};
pub use world::{Clock, Coming, MadeUp, Web};
