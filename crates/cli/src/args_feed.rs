//! Flags of `feed`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope feed -o news.xml                      everything in the directory, for a feed reader
  argiope feed example.org -o example.xml --address https://me.example/example.xml
  argiope feed https://example.org/ https://example.org/docs/
  argiope feed --search 'spider OR web' -o spiders.xml
  argiope --format json feed example.org | jq 'select(.news == \"gone\")'

Newest first: an entry for every page that was seen for the first time, and for every version that
changed (as `history` counts it: clocks, counters and boxes do not), with the words that came and
went; for pages that are gone, that lead elsewhere, and that are back. An entry keeps its id, so a
reader shows it once.

With --search it is about pages that hold these words now. The file is replaced whole: call it
after each crawl, and serve it from wherever you like.")]
pub struct Feed {
    /// URLs, sites (example.org) or hosts (www.example.org); none is everything
    #[arg(value_name = "URL|SITE")]
    pub targets: Vec<String>,
    /// Pages that hold these words, as `search` finds them
    #[arg(long, value_name = "QUERY", conflicts_with = "targets")]
    pub search: Option<String>,
    /// Entries at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
    /// Write into this file (default: standard output)
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The title of the feed
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Where the feed will be found, which readers want to know (default: the file)
    #[arg(long, value_name = "URL")]
    pub address: Option<String>,
}
