//! The flags of `filter`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope filter test https://example.org/a?sort=up --filter forums
  argiope filter show docs                      what a name stands for
  argiope filter list                           all filters, and the presets
  argiope filter set mine.toml                  a job obeys another one, also while it is crawled

Filters stand in argiope.toml as [filters.NAME], or in files of their own; docs/filters.md tells all.")]
pub struct Filter {
    #[command(subcommand)]
    pub action: FilterAction,
}

#[derive(Debug, Subcommand)]
pub enum FilterAction {
    /// What a filter says of URLs, and which rule decides
    Test(Test),
    /// What a filter stands for, names resolved
    Show(Show),
    /// All filters that have a name, and the presets
    List,
    /// Have a job obey another filter from the next request on
    Set(Set),
}

/// Which filter is meant.
#[derive(Debug, Args)]
pub struct Which {
    /// A name from the configuration, or a file (.toml or .rhai) (default: that of crawl.filter)
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "job")]
    pub filter: Option<String>,
    /// The filter of a preset: news, blogs, forums, docs
    #[arg(long, value_name = "PRESET", conflicts_with = "job")]
    pub preset: Option<String>,
    /// The filter that a job obeys
    #[arg(long, value_name = "N")]
    pub job: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope filter test https://example.org/a --filter mine.toml
  argiope filter test https://example.org/t?sort=up https://example.org/t --preset forums
  argiope filter test - --filter mine.rhai < urls.txt
  argiope filter test https://example.org/a --job 1 --type pdf --size 2MB --language en
  argiope --format json filter test https://example.org/a --filter articles

Verdicts: yes, no, and later where the answer must tell (its type, its size, its language); what is
known of it may be said by --type, --size and --language. The exit code is 0 where every URL passes
and 1 where one does not.")]
pub struct Test {
    /// URLs; `-` reads them from standard input
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<String>,
    #[command(flatten)]
    pub which: Which,
    /// As if the answer were of this type: html, pdf, image/png, …
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// As if it had this size
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// As if it were in this language, or in none that can be told: en, unknown, …
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope filter show forums
  argiope filter show mine.toml
  argiope filter show --preset docs             its settings, too
  argiope filter show --job 1")]
pub struct Show {
    /// A name from the configuration, or a file (.toml or .rhai)
    #[arg(value_name = "NAME|FILE", conflicts_with_all = ["preset", "job"])]
    pub filter: Option<String>,
    /// A preset: its filter and its settings
    #[arg(long, value_name = "PRESET", conflicts_with = "job")]
    pub preset: Option<String>,
    /// The filter that a job obeys
    #[arg(long, value_name = "N")]
    pub job: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope filter set forums                     the only job obeys it from now on
  argiope filter set mine.rhai --job 2
  argiope filter set --none                     everything inside the scope is taken again

It holds from the next request on, while a crawl runs and when none does, in a fleet within a second
or two. What is queued and refused is skipped as its turn comes; what only the former filter refused
is queued again. Setting the former one undoes it.")]
pub struct Set {
    /// A name from the configuration, or a file (.toml or .rhai)
    #[arg(value_name = "NAME|FILE", required_unless_present = "none", conflicts_with = "none")]
    pub filter: Option<String>,
    /// No filter any more
    #[arg(long)]
    pub none: bool,
    /// The job, by its number (default: the only one)
    #[arg(long, value_name = "N")]
    pub job: Option<u32>,
}
