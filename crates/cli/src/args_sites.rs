//! Flags of `sites`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  argiope sites                                 every host, those in trouble first
  argiope sites example.org                     the hosts of one site
  argiope sites exclude example.org             leave a site alone from now on, also while crawling
  argiope sites forgive example.org             ask hosts again that were given up or excluded
  argiope sites delay example.org 5s            wait so long between requests to it")]
pub struct Sites {
    #[command(subcommand)]
    pub action: Option<SiteAction>,
    /// A site (example.org) or a host (www.example.org); all without it
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum SiteAction {
    /// Ask nothing more of a site or a host, in this crawl and in later ones
    #[command(after_help = "Examples:
  argiope sites exclude example.org              all its hosts, those met later included
  argiope sites exclude calendar.example.org     one host
  argiope sites exclude http://example.org:8080  one origin

It holds from the next request on, while a crawl runs and when none does. What is queued is skipped,
what was fetched stays. `argiope sites forgive` undoes it.")]
    Exclude {
        /// A site (example.org), a host (www.example.org) or an origin, with its scheme
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Set how long to wait between requests to a site or a host, in this crawl and in later ones
    #[command(after_help = "Examples:
  argiope sites delay example.org 5s             all its hosts, those met later included
  argiope sites delay www.example.org 500ms      one host; the narrowest name counts
  argiope sites delay example.org none           as configured again

It holds from the next request on, while a crawl runs and when none does, instead of the delay that is
configured. A longer Crawl-delay of a robots.txt, and a server that asks to wait, are obeyed all the same.")]
    Delay {
        /// A site (example.org), a host (www.example.org) or an origin, with its scheme
        #[arg(value_name = "NAME")]
        name: String,
        /// 5s, 500ms, 2m; none takes it back
        #[arg(value_name = "TIME|none")]
        delay: String,
    },
    /// Forget how a site or a host has behaved, that it was excluded or looked like a trap, and ask it again
    #[command(after_help = "Examples:
  argiope sites forgive example.org                        all its hosts, and what was paused there
  argiope sites forgive 'https://example.org/calendar/…'   one series of pages that was paused; the dots
                                                           need not be typed")]
    Forgive {
        /// A site (example.org), a host (www.example.org) or a pattern that `argiope sites` shows
        #[arg(value_name = "NAME")]
        name: String,
    },
}
