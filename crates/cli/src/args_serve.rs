//! Flags of `serve` and `demo`.

use clap::Args;
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  argiope serve                                     at http://127.0.0.1:7070/
  argiope --data news serve --listen 127.0.0.1:0    at any free port
  argiope serve --listen 0.0.0.0:7070 --token \"$(cat token)\" --name crawl.example.org

On this machine everybody may read. Starting, stopping and excluding need the token that is
printed at the start; where other machines can ask, reading needs it too. A crawl that runs in
the same directory is shown as it goes, whoever started it; one that is begun while this runs
takes the directory over by itself.")]
pub struct Serve {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7070")]
    pub listen: String,
    /// What operators must know, eight characters or more (default: made up at every start)
    #[arg(long, value_name = "TEXT", env = "ARGIOPE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// A name of this machine under which browsers find it, beside its addresses and localhost
    #[arg(long = "name", value_name = "NAME")]
    pub names: Vec<String>,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Let the page look at the news of private, loopback and link-local addresses, and collect them
    #[arg(long)]
    pub allow_private: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope demo                          a tour: live crawl, search, history and links in the browser
  argiope demo --keep here              the same; everything stays in the directory `here`
  argiope demo --quick                  no page; crawl, show what came of it and end")]
pub struct Demo {
    /// Keep the demo's data here instead of removing it
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Leave the page open until Ctrl-C, also where nobody sits at a terminal
    #[arg(long, conflicts_with = "quick")]
    pub stay: bool,
    /// No page: crawl, show what came of it and end
    #[arg(long)]
    pub quick: bool,
    /// Where the page listens (default: 127.0.0.1:7070, or a free port)
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
}
