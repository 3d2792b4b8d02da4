//! Flags of `history` and `diff`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope history https://example.org/
  argiope history 17 --limit 5                  the last five of document 17
  argiope --format json history https://example.org/ | jq 'select(.changed)'

Oldest first. A version counts as changed when its text says something else than the one before:
clocks, counters of views, rotating boxes, error pages in place of the page, and what a newer
Argiope reads in the same bytes do not. The column `change` tells how many of all words went or
came, and why.")]
pub struct History {
    /// A URL or a document number
    #[arg(value_name = "URL|ID")]
    pub target: String,
    /// Only the last so many versions
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Only versions that count as changed, and the first
    #[arg(long)]
    pub changed: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope diff https://example.org/             the last change of its text
  argiope diff https://example.org/ --from 2026-11-01 --to 2026-11-15
  argiope diff https://example.org/ --from '2 weeks ago' --html changes.html

Without --from the version is compared with the last one before it that says something else. What
went stands in [- -] and what came in {+ +}; on a terminal they are coloured instead.")]
pub struct Diff {
    /// A URL or a document number
    #[arg(value_name = "URL|ID")]
    pub target: String,
    /// The version of this time: 2026-11-15, 2026-11-15T10:00, '2 days ago'
    #[arg(long, value_name = "DATE")]
    pub from: Option<String>,
    /// Against the version of this time (default: the latest)
    #[arg(long, value_name = "DATE")]
    pub to: Option<String>,
    /// Write it as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Even where the page asks not to be shown (noarchive)
    #[arg(long)]
    pub anyway: bool,
}
