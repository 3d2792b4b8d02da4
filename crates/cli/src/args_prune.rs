//! Flags of `prune`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope prune --keep daily --dry-run          what would go if one version a day stayed
  argiope prune --keep last:5 example.org       the last five versions of every page of a site
  argiope prune --keep weekly --older-than 30d  one a week of what is older than thirty days
  argiope prune                                 by the rules of the configuration ([retention])

Rules: all; daily, weekly, monthly and yearly keep the last version of every such time (UTC, a week
begins on Monday), as it was first seen in it; last:N keeps the N last versions, where visits that
found the same bytes are one version. Whatever the rule, the latest version of a page stays, and so does the latest good one.

What stays is read as before: a version whose bytes stood in a record that goes is given a record of
its own. Pages keep how often they were visited and had changed. `show --at` and `diff` say where a
version was pruned. The places of what went are blank; a receipt in DIR/receipts lists them.

Without --keep the rules are those of the configuration, retention.keep and retention.sites. Stop a
running crawl first; should this command be killed, the next one to open the directory finishes it.")]
pub struct Prune {
    /// URLs, sites (example.org) or hosts (www.example.org); none is everything
    #[arg(value_name = "URL|SITE")]
    pub targets: Vec<String>,
    /// Which versions stay: all, daily, weekly, monthly, yearly, last:N
    #[arg(long, value_name = "RULE")]
    pub keep: Option<String>,
    /// All pages of this site or host, as if it were named without --site
    #[arg(long, value_name = "NAME")]
    pub site: Vec<String>,
    /// Leave versions alone that are younger than this: 30d, 12h
    #[arg(long, value_name = "TIME")]
    pub older_than: Option<String>,
    /// Say what would go and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}
