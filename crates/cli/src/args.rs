//! Flags and commands. Names are a promise; a command appears with the work that makes it true.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Argiope, the writing spider: crawls sites politely into a standard archive and never loses
/// a page.
#[derive(Debug, Parser)]
#[command(name = "argiope", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = "Examples:
  argiope demo                                  see it work, offline, in a minute
  argiope crawl https://example.org/            fetch a whole site; run again to go on
  argiope watch                                 keep it fresh until stopped
  argiope status                                ask a running crawl how far it is
  argiope explain https://example.org/page      why a page was fetched or was not
  argiope search spider web                     find pages by their words
  argiope links https://example.org/page        who links to it, and in which words
  argiope broken                                links that lead nowhere
  argiope show https://example.org/             print what was fetched
  argiope history https://example.org/          its versions, and what changed
  argiope serve                                 all of it as a web page")]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options that every command takes stand below its own.
const EVERYWHERE: &str = "Options of every command";

#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Where everything is kept
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "DIR", default_value = "argiope-data")]
    pub data: PathBuf,
    /// The configuration file (default: ./argiope.toml, then DIR/argiope.toml)
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Text for people, one JSON object per line, or a table for spreadsheets (links, top, broken)
    #[arg(long, global = true, help_heading = EVERYWHERE, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// The store on PostgreSQL that a fleet shares, instead of one in DIR
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "POSTGRES-URL")]
    #[arg(env = "ARGIOPE_STORE", hide_env_values = true)]
    pub store: Option<String>,
    /// Where the workers of a fleet keep their pages; any number may share one directory, and whoever
    /// reads may name several (default: that of --data)
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "DIR")]
    pub archive: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Csv,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Crawl until nothing is left or a limit is reached; goes on where it stopped
    Crawl(Box<Crawl>),
    /// Keep everything that was crawled fresh, until it is stopped
    Watch(Box<crate::args_watch::Watch>),
    /// Visit what is due once more, or everything
    Refresh(Box<crate::args_watch::Refresh>),
    /// How often a page is visited; set it by hand
    Cycle(crate::args_watch::Cycle),
    /// Join a fleet: work on everything that is open in a store on PostgreSQL
    Worker(Box<Worker>),
    /// Search, history, links and the crawl as a web page, with an API
    Serve(crate::args_serve::Serve),
    /// See the whole product work on a built-in made-up web, offline
    Demo(crate::args_serve::Demo),
    /// List jobs; pause, resume or drop one
    Jobs(Jobs),
    /// How the crawl stands: what it is doing right now, queues, speed, hosts
    Status(Status),
    /// The hosts of all crawls: how they answer, what they take up; exclude or forgive one
    Sites(crate::args_sites::Sites),
    /// Which URLs a job takes: test, show and set filters
    Filter(crate::args_filter::Filter),
    /// All that is known of a URL
    Doc(Doc),
    /// Why a URL was or was not fetched, and when it will be
    Explain(Explain),
    /// Find pages by their words
    Search(Search),
    /// Where a word stands: every place on every page
    Word(Word),
    /// The dictionary: every word and how often it occurs
    Words(Words),
    /// Index words and links: follow a fleet, or what a crawl has left
    Index(Index),
    /// Make the word index again from the texts, or these too from the archive
    Reindex(Reindex),
    /// Who links to a URL, and in which words
    Links(Links),
    /// The most linked pages, or those that rank highest
    Top(Top),
    /// Broken and malformed links, and the pages that hold them
    Broken(Broken),
    /// Print what was fetched
    Show(Show),
    /// The versions of a page: when it was seen, and whether it had changed
    History(crate::args_history::History),
    /// What changed on a page, word by word
    Diff(crate::args_history::Diff),
    /// What is new and what has changed, as an Atom feed
    Feed(crate::args_feed::Feed),
    /// The news of the sites you care about: headlines at once, collected stories
    News(crate::args_news::News),
    /// Check the archive against the store: every digest, every pointer
    Verify(Verify),
    /// Write the archive, its pages or its links in forms other tools read
    Export(Export),
    /// Take in archives that other tools made
    Import(Import),
    /// Move a crawl between a data directory and a fleet's store on PostgreSQL
    Store(crate::args_store::Store),
    /// Remove pages on request: from the archive, the texts, the links and the store
    Forget(Forget),
    /// Remove old versions of pages by a rule; what stays can be read as before
    Prune(crate::args_prune::Prune),
    /// Write or explain the configuration
    Config(Config),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope crawl https://example.org/
  argiope crawl https://example.org/docs/ --scope prefix --max-pages 500
  argiope crawl --seeds urls.txt --scope list --types html,pdf
  argiope crawl https://forum.example.org/ --preset forums
  argiope crawl https://example.org/ --about 'garden spiders' --max-pages 500
  argiope crawl https://example.org/ --like https://example.org/orb-weavers --max-pages 500
  argiope crawl https://example.org/ --filter mine.toml
  argiope crawl http://localhost:8000/ --allow-private --delay 0s --connections-per-host 4
  argiope crawl https://example.org/ --set fetch.contact=me@example.org --set crawl.sitemaps=false
  argiope crawl                                 goes on with everything unfinished
  argiope crawl https://example.org/ --store postgres://crawler@db.example/argiope --archive ./pages

The same command again goes on where it stopped, however it stopped.")]
pub struct Crawl {
    /// Start URLs; `-` reads them from standard input
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// Start URLs from a file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,
    /// What belongs to the crawl: host, domain, prefix, list, any
    #[arg(long, value_name = "SCOPE")]
    pub scope: Option<String>,
    /// Further domains that belong to it
    #[arg(long, value_name = "DOMAIN")]
    pub domain: Vec<String>,
    /// Order of visits: breadth, depth, best (what many important pages link to first)
    #[arg(long, value_name = "ORDER")]
    pub order: Option<String>,
    /// What it is about, in a few words: pages about it come first (implies --order best)
    #[arg(long, value_name = "WORDS")]
    pub about: Option<String>,
    /// A page like those that are wanted: pages like it come first (implies --order best); may be repeated
    #[arg(long, value_name = "URL")]
    pub like: Vec<String>,
    /// From the end of an answer to the next request to the same host
    #[arg(long, value_name = "TIME")]
    pub delay: Option<String>,
    /// robots.txt, robots tags and nofollow: obey, ignore (only for your own sites)
    #[arg(long, value_name = "POLICY")]
    pub robots: Option<String>,
    /// Requests at once
    #[arg(long, value_name = "N")]
    pub connections: Option<String>,
    /// Requests to one host at once; more than 1 only for your own sites
    #[arg(long, value_name = "N")]
    pub connections_per_host: Option<String>,
    /// Threads that parse and compress (default: one per core)
    #[arg(long, value_name = "N")]
    pub workers: Option<String>,
    /// Stop after so many pages
    #[arg(long, value_name = "N")]
    pub max_pages: Option<String>,
    /// Take at most so many pages of one site (registrable domain)
    #[arg(long, value_name = "N")]
    pub max_pages_per_site: Option<String>,
    /// Go at most so many links away from a start URL
    #[arg(long, value_name = "N")]
    pub max_depth: Option<String>,
    /// Stop after so long
    #[arg(long, value_name = "TIME")]
    pub max_time: Option<String>,
    /// Stop before more than so many bytes of pages are received
    #[arg(long, value_name = "SIZE")]
    pub max_bytes: Option<String>,
    /// Kinds of content to take: html, text, pdf, image, … or all
    #[arg(long, value_name = "TYPES")]
    pub types: Option<String>,
    /// Query strings: keep, drop, sort
    #[arg(long, value_name = "POLICY")]
    pub query: Option<String>,
    /// Take only what this filter lets through: a name from the configuration, or a file (.toml or .rhai);
    /// `none` takes off the one a job has
    #[arg(long, value_name = "NAME|FILE")]
    pub filter: Option<String>,
    /// Ready-made settings for a kind of site: news, blogs, forums, docs
    #[arg(long, value_name = "PRESET")]
    pub preset: Option<String>,
    /// Allow private, loopback and link-local addresses
    #[arg(long)]
    pub allow_private: bool,
    /// Count back-links later, when they are asked for
    #[arg(long)]
    pub no_links: bool,
    /// Index words later, when somebody searches
    #[arg(long)]
    pub no_index: bool,
    /// Keep no bodies; `show` will have nothing to show
    #[arg(long)]
    pub no_archive: bool,
    /// Keep pages as files below this directory too, as `export tree` would write them
    #[arg(long, value_name = "DIR")]
    pub tree: Option<String>,
    /// Any setting, as it is named in the configuration file; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Let Prometheus ask how it stands, at this address and port, under /metrics
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<String>,
    /// Say what would be done and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Show it as a web page while it runs, as `argiope serve` does, and open the browser
    #[arg(long)]
    pub open: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope worker --store postgres://crawler@db.example/argiope --archive /var/lib/argiope
  argiope worker --store postgres://crawler@db.example/argiope --archive ./pages --connections 200
  argiope worker --store postgres://crawler@db.example/argiope --metrics 127.0.0.1:9464

Workers share what is open fairly among themselves. A signal ends one in order, a second at once; the
others go on with what it had, also when it is killed. `argiope crawl URL --store …` gives them work,
`argiope status --fleet --store …` tells who does what.")]
pub struct Worker {
    /// The name by which the fleet knows it, and of its place in DIR (default: the machine's and a
    /// number, in the first place that is free)
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// From the end of an answer to the next request to the same host
    #[arg(long, value_name = "TIME")]
    pub delay: Option<String>,
    /// Requests at once
    #[arg(long, value_name = "N")]
    pub connections: Option<String>,
    /// Requests to one host at once; more than 1 only for your own sites
    #[arg(long, value_name = "N")]
    pub connections_per_host: Option<String>,
    /// robots.txt, robots tags and nofollow: obey, ignore (only for your own sites)
    #[arg(long, value_name = "POLICY")]
    pub robots: Option<String>,
    /// Threads that parse and compress (default: one per core)
    #[arg(long, value_name = "N")]
    pub workers: Option<String>,
    /// Let Prometheus ask how it stands, at this address and port, under /metrics
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<String>,
    /// Allow private, loopback and link-local addresses
    #[arg(long)]
    pub allow_private: bool,
    /// Any setting, as it is named in the configuration file; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope verify
  argiope verify --store postgres://crawler@db.example/argiope --archive ./pages

Of a fleet what lies in the directories that are named is checked, and the store.")]
pub struct Verify {}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope --data ./index index --store postgres://crawler@db.example/argiope --archive /shared/pages
  argiope --data ./index search spider web      while it follows, and afterwards
  argiope index --once                          what a crawl with --no-index has left to do
  argiope index --only links --store …          back-links alone

The index lies in the directory of --data, which remembers the fleet: who searches there need not
name it again. A signal ends it in order; it goes on where it was.")]
pub struct Index {
    /// End when everything that is there is indexed (without a fleet always so)
    #[arg(long)]
    pub once: bool,
    /// Only one of the two
    #[arg(long, value_enum, value_name = "WHAT")]
    pub only: Option<Only>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Only {
    /// Every word, for searches
    Words,
    /// Who links to whom
    Links,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope status
  argiope status --fleet --store postgres://crawler@db.example/argiope")]
pub struct Status {
    /// All workers of a fleet: what each holds and how fast it is
    #[arg(long)]
    pub fleet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope jobs
  argiope jobs pause 2")]
pub struct Jobs {
    #[command(subcommand)]
    pub action: Option<JobAction>,
}

#[derive(Debug, Subcommand)]
pub enum JobAction {
    /// List all jobs
    List,
    /// Set a job aside; its queue stays
    Pause { job: u32 },
    /// Work on it again
    Resume { job: u32 },
    /// Give it up; what it fetched stays
    Drop { job: u32 },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope explain https://example.org/private/
  argiope --format json explain https://example.org/")]
pub struct Explain {
    /// A URL, whether or not a crawl has met it
    #[arg(value_name = "URL")]
    pub url: String,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope links https://example.org/            who links here, and in which words
  argiope links https://example.org/ --out      where it links to
  argiope --format csv links https://example.org/ > links.csv

A page counts once for each URL that its latest version links to by what a reader follows: a, area,
frame, iframe. Other references (canonical, redirect, …) are listed and not counted. The URL need
not have been fetched.")]
pub struct Links {
    /// A URL or a document number
    #[arg(value_name = "URL|ID")]
    pub target: String,
    /// The links of this page instead of those to it
    #[arg(long)]
    pub out: bool,
    /// List so many at most; 0 lists all (default: 20 in text, all in json and csv)
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope top                                   the pages that most pages link to
  argiope top --by sites --limit 100            those that most sites link to
  argiope top --all                             also what lies outside the crawl
  argiope top --by rank                         by PageRank over all links; made anew if it is old
  argiope top --by harmonic                     by how near a page is to all that lead there
  argiope top --by rank --of sites              the sites that other sites lead to")]
pub struct Top {
    /// What counts: pages that link there, sites, or what all links together say
    #[arg(long, value_enum, default_value_t = TopBy::Backlinks)]
    pub by: TopBy,
    /// Pages, or sites (by rank and harmonic only)
    #[arg(long, value_enum, default_value_t = TopOf::Pages)]
    pub of: TopOf,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Also URLs that links lead to and no job has taken up; they have no rank
    #[arg(long)]
    pub all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TopBy {
    Backlinks,
    Sites,
    Rank,
    Harmonic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TopOf {
    Pages,
    Sites,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope broken
  argiope --format csv broken > broken.csv      one line for each page that holds one
  argiope --format json broken | jq -r .source | sort | uniq -c

A link is broken when the last visit to its URL failed for good, and malformed when what is written
there is no URL. Of one URL at most a thousand pages are listed; `argiope links URL` lists all.")]
pub struct Broken {
    /// List so many URLs at most; 0 lists all (default: 50 in text, all in json and csv)
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope doc https://example.org/a             what is known of a page
  argiope doc 17 --words                        its words and their places
  argiope doc 17 --near                         pages with nearly the same text, on any site")]
pub struct Doc {
    /// A URL or a document number
    #[arg(value_name = "URL|ID")]
    pub target: String,
    /// Its words, each with the places where it stands
    #[arg(long)]
    pub words: bool,
    /// Pages that are nearly the same, here and on other sites
    #[arg(long, conflicts_with = "words")]
    pub near: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope search spider web                     pages with both words
  argiope search '\"orb web\" -silk'            a phrase, without a word
  argiope search 'intitle:garden (rain OR snow) lang:en'
  argiope search 'site:example.org after:2026-01 report*' --sort date
  argiope search spider --all                   also pages that are nearly the same as one before
  argiope search price --at 2026-01-31          pages as they were then, those included that are gone
  argiope search 'price first-seen:2026-01..2026-03 -changed-after:\"2 weeks ago\"'

The language:
  spider web          both words; pages with some of them follow where there are few
  \"spider web\"        side by side; \"spider web\"~3 at most three places apart
  a OR b, -c, ( … )   one of them, without, what belongs together
  prefi*, word~2      words that begin so, words spelled nearly so
  site: intitle: inurl: link: lang: type:
  before: after:      when the text last changed; changed-before: and changed-after: mean the same
  first-seen:         when the page was met, on that day or later; first-seen-before:
  A day is 2026, 2026-01, 2026-01-31, 2026-01-31T12:00, yesterday, or \"2 days ago\" in quotes.")]
pub struct Search {
    /// What to look for
    #[arg(value_name = "QUERY", required = true)]
    pub query: Vec<String>,
    /// How many pages to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,
    /// Leave out so many before them
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub offset: usize,
    /// The best first, or those that changed last
    #[arg(long, value_enum, default_value_t = SortBy::Relevance)]
    pub sort: SortBy,
    /// Count the pages by site, language and year
    #[arg(long)]
    pub facets: bool,
    /// Say what each score is made of
    #[arg(long)]
    pub explain: bool,
    /// Pages that are nearly the same one by one, not under the first of them
    #[arg(long)]
    pub all: bool,
    /// By the pages' own words: without what others call them, their back-links and their rank
    #[arg(long)]
    pub own_words: bool,
    /// The pages as they were then: 2026-11-15, 2026-11-15T10:00, '2 days ago'
    #[arg(long, value_name = "DATE")]
    pub at: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope reindex                               after stop words or the language were changed
  argiope reindex --from-archive                after text/ was lost, or for a newer parser")]
pub struct Reindex {
    /// First take texts that are lost, damaged, missing or of an older parser from the archive again
    #[arg(long)]
    pub from_archive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SortBy {
    Relevance,
    Date,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope word spider                           position@document, and the page

A position is the place of the word in the visible text of the page, from 1.")]
pub struct Word {
    /// The word
    #[arg(value_name = "WORD")]
    pub word: String,
    /// List so many pages at most; 0 lists all (default: 50 in text, all in json)
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope words --top                           the most frequent words
  argiope words --prefix spid                   those that begin so")]
pub struct Words {
    /// Only words that begin so
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub prefix: String,
    /// The most frequent ones, not all in their order
    #[arg(long)]
    pub top: bool,
    /// List so many at most; 0 lists all (default: 50 in text and with --top, all in json)
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope show https://example.org/ > page.html
  argiope show https://example.org/ --text
  argiope show https://example.org/ --headers
  argiope show https://example.org/ --at 2026-11-15 --text
  argiope show https://example.org/ --at '2 days ago' > then.html

A date without a time means the end of that day; all times are UTC. `argiope history` lists them.")]
pub struct Show {
    /// A URL or a document number
    #[arg(value_name = "URL|ID")]
    pub target: String,
    /// As it was then: 2026-11-15, 2026-11-15T10:00, '2 days ago', yesterday
    #[arg(long, value_name = "DATE")]
    pub at: Option<String>,
    /// The extracted text
    #[arg(long, conflicts_with_all = ["headers", "raw"])]
    pub text: bool,
    /// The response head as archived
    #[arg(long, conflicts_with = "raw")]
    pub headers: bool,
    /// The body in the content-encoding the server used
    #[arg(long)]
    pub raw: bool,
    /// Even where the page asks not to be shown (noarchive)
    #[arg(long)]
    pub anyway: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope export warc --out archive/            for everything that reads WARC
  argiope export wacz --out site.wacz           one file for replay in a browser
  argiope export text --out texts/              a text file for each page
  argiope export jsonl --site example.org > pages.jsonl
  argiope export tree --out pages/              every page as a file, in directories like its URL
  argiope export graph --as graphml --out links.graphml")]
pub struct Export {
    #[command(subcommand)]
    pub what: ExportWhat,
}

#[derive(Debug, Subcommand)]
pub enum ExportWhat {
    /// The archive as WARC files: all of it, as a backup
    Warc {
        /// The directory to write them to
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// The archive with its index and its list of pages in one file, for replay in a browser
    Wacz {
        /// The file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Its title
        #[arg(long, value_name = "WORDS")]
        title: Option<String>,
        /// Put the texts into the list of pages, so that readers can search them
        #[arg(long)]
        text: bool,
        /// Also pages that ask that no copy be shown (noarchive)
        #[arg(long)]
        anyway: bool,
    },
    /// The index of the archive, sorted, as pywb and others read it
    Cdxj {
        /// The file to write; standard output without it
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// The text of every page: a file for each, or one after the other on standard output
    Text {
        /// The directory to write them to; standard output without it
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        #[command(flatten)]
        pages: PageChoice,
    },
    /// Every page as a JSON object on a line of its own, with its text
    Jsonl {
        /// The file to write; standard output without it
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        pages: PageChoice,
    },
    /// Every page as a file: a directory per crawl, in it one per host, in it the path of the URL
    Tree {
        /// The directory to write them to; index.jsonl in it says which file holds which URL
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Every version of every page, not the latest alone
        #[arg(long)]
        all_versions: bool,
        #[command(flatten)]
        pages: PageChoice,
    },
    /// The links between pages
    Graph {
        /// The form: edges (tab-separated), graphml (NetworkX, Gephi), webgraph (two files)
        #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = GraphAs::Edges)]
        form: GraphAs,
        /// The file to write; for webgraph the beginning of both names
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct PageChoice {
    /// Only pages of this site or host; may be repeated
    #[arg(long, value_name = "NAME")]
    pub site: Vec<String>,
    /// Only pages fetched at this time or later: 2026-01-31 or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// Also pages that ask not to be shown (noarchive, nosnippet)
    #[arg(long)]
    pub anyway: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphAs {
    Edges,
    Graphml,
    Webgraph,
}

#[derive(Debug, Args)]
pub struct Import {
    #[command(subcommand)]
    pub what: ImportWhat,
}

#[derive(Debug, Subcommand)]
pub enum ImportWhat {
    /// Responses in WARC files (also ARC), gzipped or not, sound or not
    #[command(after_help = "Examples:
  argiope import warc old/*.warc.gz
  argiope import warc crawl.warc.gz --dry-run   what would come in, and what would not

What is known already does not come in twice: the same command again goes on where it stopped.")]
    Warc {
        /// The files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Say what would come in and change nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope forget https://example.org/someone.html
  argiope forget example.org --dry-run          what would go, and which pages share its bytes
  argiope forget example.org www.example.com --yes

What has a scheme is one URL; a name without one is a site or a host, as `sites` takes it, and
means all its URLs. Nothing of them is left in the data directory but the URLs; a receipt with
digests of the files before and after is kept in DIR/receipts.

A forgotten URL is not fetched again because a link leads there, nor imported again. A new crawl
that starts at it takes it up again, and it alone. URLs of a site that were never met are not
among those forgotten: `argiope sites exclude` keeps a site out for good.

Stop a running crawl first; `argiope crawl` goes on afterwards. Should this command be killed, the
next one to open the directory finishes it.")]
pub struct Forget {
    /// URLs, sites (example.org) or hosts (www.example.org)
    #[arg(value_name = "URL|SITE", required = true)]
    pub targets: Vec<String>,
    /// Say what would go and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct Config {
    #[command(subcommand)]
    pub action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Write a commented configuration file
    Init {
        /// Replace an existing file
        #[arg(long)]
        force: bool,
    },
    /// Show each setting and where it comes from
    #[command(after_help = "Examples:
  argiope config show
  argiope config show --set crawl.delay=5s       what would hold with it
  argiope config show --preset forums            and with a preset")]
    Show {
        /// Ready-made settings for a kind of site: news, blogs, forums, docs
        #[arg(long, value_name = "PRESET")]
        preset: Option<String>,
        /// Any setting, as `crawl` takes it; may be repeated
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
}
