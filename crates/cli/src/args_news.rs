//! Flags of `news`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope news quick example.org          headlines at once; nothing is stored
  argiope news sites add https://www.example.org/
  argiope news collect                    the news of all sites, once
  argiope watch                           again and again
  argiope news list --subject sport --since 2d
  argiope serve                           all of it as a page")]
pub struct News {
    #[command(subcommand)]
    pub action: NewsAction,
}

#[derive(Debug, Subcommand)]
pub enum NewsAction {
    /// The headlines of a site's front page at once; nothing is stored
    Quick(Quick),
    /// Fetch the news of the sites that are followed
    Collect(Box<Collect>),
    /// Collected news, the same story from several sources together
    List(List),
    /// The sites whose news are followed: add, remove, test, import and export
    Sites(NewsSites),
    /// Mark news as read
    Read(Read),
    /// Words that hide news, keep them or raise an alert
    Rules(Rules),
    /// Views saved under a name
    Saved(Saved),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope news quick example.org
  argiope news quick https://www.example.org/sport/ --limit 10
  argiope news quick example.org --open 3   the third in the browser")]
pub struct Quick {
    /// A site (example.org) or the URL of a front page
    #[arg(value_name = "SITE")]
    pub site: String,
    /// How many; without it 30 on a terminal, else all
    #[arg(long, value_name = "N", value_parser = some)]
    pub limit: Option<usize>,
    /// Open this one in the browser
    #[arg(long, value_name = "N")]
    pub open: Option<usize>,
    /// Only on this subject
    #[arg(long, value_name = "SUBJECT")]
    pub subject: Option<String>,
    /// Allow private, loopback and link-local addresses
    #[arg(long)]
    pub allow_private: bool,
    /// Any setting, as it is named in the configuration file; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope news collect
  argiope news collect --sites example.org,example.net --subject sport
  argiope news collect --watch              again and again, until stopped

A round looks at the front pages, feeds and news sitemaps of each site, fetches the articles that are new and asks for \
recent ones whether they have changed. Sites that are named and not yet followed are followed from then on. Stopped in \
the middle, the same command goes on.")]
pub struct Collect {
    /// Only these sites: names or front pages, with commas between them; may be repeated
    #[arg(long, value_name = "SITE", value_delimiter = ',')]
    pub sites: Vec<String>,
    /// Only articles on this subject
    #[arg(long, value_name = "SUBJECT")]
    pub subject: Option<String>,
    /// Go on until stopped, each site in its own cycle
    #[arg(long)]
    pub watch: bool,
    /// How often news are looked for where a recipe does not say
    #[arg(long, value_name = "TIME")]
    pub cycle: Option<String>,
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
    /// Allow private, loopback and link-local addresses
    #[arg(long)]
    pub allow_private: bool,
    /// Let Prometheus ask how it stands, at this address and port, under /metrics
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<String>,
    /// Any setting, as it is named in the configuration file; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope news list
  argiope news list --site example.org --subject sport --since 2d
  argiope news list --query '\"orb weaver\" OR spider' --since 2026-11-01
  argiope news list --story 120             read it: texts, sources, versions
  argiope news list --articles --text --format json
  argiope news list --limit 1000 --format csv")]
pub struct List {
    #[command(flatten)]
    pub view: View,
    /// One story with all its articles and their texts, by its number
    #[arg(long, value_name = "N")]
    pub story: Option<u64>,
    /// What was saved under this name
    #[arg(long, value_name = "NAME")]
    pub saved: Option<String>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = some)]
    pub limit: usize,
}

/// Which news are shown.
#[derive(Debug, Args)]
pub struct View {
    /// Only of this site or host; may be repeated
    #[arg(long, value_name = "SITE", value_delimiter = ',')]
    pub site: Vec<String>,
    /// Only on this subject, by any name that sites give it: sport, Sports, 体育
    #[arg(long, value_name = "SUBJECT")]
    pub subject: Option<String>,
    /// Not older than this: 12h, 2d, 1w, or a date
    #[arg(long, value_name = "TIME|DATE", allow_hyphen_values = true)]
    pub since: Option<String>,
    /// Older than this
    #[arg(long, value_name = "TIME|DATE", allow_hyphen_values = true)]
    pub until: Option<String>,
    /// Only with these words, written as for `search`
    #[arg(long, value_name = "QUERY", allow_hyphen_values = true)]
    pub query: Option<String>,
    /// Only in this language: en, de, zh
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Option<String>,
    /// Only what was not read
    #[arg(long)]
    pub unread: bool,
    /// Only what a keep rule has marked
    #[arg(long)]
    pub kept: bool,
    /// Only what an alert rule has marked
    #[arg(long)]
    pub alerts: bool,
    /// Also what a hide rule hides
    #[arg(long)]
    pub hidden: bool,
    /// Articles one by one, not stories
    #[arg(long)]
    pub articles: bool,
    /// Articles with their whole texts
    #[arg(long)]
    pub text: bool,
}

/// A number of things, of which none is no answer.
fn some(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it is at least 1".to_owned()),
        Ok(n) => Ok(n),
        Err(_) => Err("it is no number".to_owned()),
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope news sites                        what is followed, with its figures
  argiope news sites add https://www.example.org/
  argiope news sites add my-recipe.toml     sites with recipes of your own
  argiope news sites test https://www.example.org/2026/11/16/a-title
  argiope news sites import subscriptions.opml
  argiope news sites export > subscriptions.opml

They are kept in news/sites.toml in the data directory, to be edited by hand as well.")]
pub struct NewsSites {
    #[command(subcommand)]
    pub action: Option<NewsSitesAction>,
}

#[derive(Debug, Subcommand)]
pub enum NewsSitesAction {
    /// What is followed, with its figures
    List,
    /// Follow sites: a name, the URL of a front page or a feed, or a file of recipes
    Add {
        /// A name such as example.org, the URL of a page, or a file that ends in .toml
        #[arg(value_name = "SITE|URL|FILE", required = true)]
        sites: Vec<String>,
    },
    /// No longer follow sites; what was collected stays, and `add` brings their entries back
    Remove {
        /// example.org
        #[arg(value_name = "SITE", required = true)]
        sites: Vec<String>,
    },
    /// Say what a URL means: its recipe, its parts, whether it is an article
    Test(TestUrl),
    /// Follow the sites of an OPML file
    Import {
        /// The file; `-` is standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Write the sites that are followed as OPML
    Export,
}

#[derive(Debug, Args)]
pub struct TestUrl {
    /// The URL of an article, a front page or a feed
    #[arg(value_name = "URL")]
    pub url: String,
    /// Try these recipes, not those that are followed
    #[arg(long, value_name = "FILE")]
    pub recipe: Option<PathBuf>,
    /// Also fetch it, and say what is read there
    #[arg(long)]
    pub fetch: bool,
    /// Allow private, loopback and link-local addresses
    #[arg(long)]
    pub allow_private: bool,
    /// Any setting, as it is named in the configuration file; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope news read 120 134                 stories, by their numbers
  argiope news read --all
  argiope news read 120 --undo")]
pub struct Read {
    /// Numbers of stories
    #[arg(value_name = "STORY")]
    pub stories: Vec<u64>,
    /// Everything that there is now, what rules hide included
    #[arg(long, conflicts_with = "stories")]
    pub all: bool,
    /// They are unread again
    #[arg(long, conflicts_with = "all")]
    pub undo: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope news rules                        all of them
  argiope news rules add hide 'horoscope'
  argiope news rules add alert '\"orb weaver\"' --site example.org
  argiope news rules remove 2")]
pub struct Rules {
    #[command(subcommand)]
    pub action: Option<RulesAction>,
}

#[derive(Debug, Subcommand)]
pub enum RulesAction {
    /// All of them
    List,
    /// A new one
    Add {
        /// What happens: keep, hide, alert
        #[arg(value_name = "keep|hide|alert")]
        action: String,
        /// The words: all must stand in the article; a "phrase" in quotes as it is
        #[arg(value_name = "WORDS", allow_hyphen_values = true)]
        words: String,
        /// Only for this site
        #[arg(long, value_name = "SITE")]
        site: Option<String>,
    },
    /// One less
    Remove {
        /// Its number
        #[arg(value_name = "N")]
        id: u32,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope news saved                    all of them
  argiope news saved add spiders --query 'spider OR spiders' --since 7d
  argiope news list --saved spiders
  argiope news saved remove spiders")]
pub struct Saved {
    #[command(subcommand)]
    pub action: Option<SavedAction>,
}

#[derive(Debug, Subcommand)]
pub enum SavedAction {
    /// All of them
    List,
    /// A new one: what `news list` with these flags would show
    #[command(after_help = "Examples:
  argiope news saved add spiders --query 'spider OR spiders' --since 7d
  argiope news saved add unread-sport --subject sport --unread

One of the same name is replaced.")]
    Add {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        view: Box<View>,
    },
    /// One less
    Remove {
        /// Its name or its number
        #[arg(value_name = "NAME|N")]
        view: String,
    },
}
