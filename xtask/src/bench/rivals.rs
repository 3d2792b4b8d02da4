//! The programs measured side by side, each as one command over the same site.
//!
//! Every program gets the same start URL and its own defaults, except what politeness would decide:
//! no delay, no robots.txt, several connections to the one host. wget2 leaves out images, styles and
//! scripts so that it asks for the same pages.

use crate::tools;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Our crawl: archive, store, syncs and digests as a user gets them.
    Argiope,
    /// `wget2` in its plain recursive mode: files in a folder.
    Wget2,
    /// The same without the request for compressed answers; tells what that costs it.
    Wget2Plain,
    /// The load generator on the list of the site's URLs: what fetching alone costs.
    Wrk,
}

impl Program {
    /// All of them, in the order of the table.
    pub const ALL: [Program; 4] =
        [Program::Argiope, Program::Wget2, Program::Wget2Plain, Program::Wrk];

    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Program::Argiope => "argiope",
            Program::Wget2 => "wget2",
            Program::Wget2Plain => "wget2 --no-compression",
            Program::Wrk => "wrk (fetch only)",
        }
    }

    /// Its file name in a run's directory.
    pub fn slug(self) -> &'static str {
        match self {
            Program::Argiope => "argiope",
            Program::Wget2 => "wget2",
            Program::Wget2Plain => "wget2-plain",
            Program::Wrk => "wrk",
        }
    }

    /// Exit codes of a complete run: wget2 says 8 when the site has a dead link.
    pub fn good_codes(self) -> &'static [i64] {
        match self {
            Program::Wget2 | Program::Wget2Plain => &[0, 8],
            Program::Argiope | Program::Wrk => &[0],
        }
    }

    /// Whether it can run here.
    pub fn is_here(self) -> bool {
        match self {
            Program::Argiope => true,
            Program::Wget2 | Program::Wget2Plain => tools::find("wget2").is_some(),
            Program::Wrk => tools::find("wrk").is_some(),
        }
    }

    /// The command that crawls `start` and keeps what it keeps in `keep`.
    pub fn command(self, order: &Order, keep: &Path) -> Result<Command> {
        let connections = order.connections.to_string();
        Ok(match self {
            Program::Argiope => {
                let mut command = Command::new(&order.argiope);
                command.arg("--data").arg(keep).args(["--format", "json", "crawl", &order.start]);
                command.args(["--delay", "0s", "--allow-private"]);
                command.args(["--connections-per-host", &connections]);
                command
            }
            Program::Wget2 | Program::Wget2Plain => {
                let mut command = Command::new(tools::find("wget2").context("no wget2")?);
                command.args(["--recursive", "--level=inf", "--no-robots", "--quiet"]);
                command.args(["--ignore-tags=img,link,script", "--no-config"]);
                command.arg(format!("--max-threads={connections}"));
                if self == Program::Wget2Plain {
                    command.arg("--no-compression");
                }
                command.arg("--directory-prefix").arg(keep).arg(&order.start);
                command
            }
            Program::Wrk => {
                let mut command = Command::new(tools::find("wrk").context("no wrk")?);
                command.args(["--threads", "1", "--connections", &connections]);
                command.args(["--duration", "2s", "--script"]);
                command.arg(&order.wrk_script).arg(&order.origin);
                command
            }
        })
    }
}

/// What all programs are told.
pub struct Order {
    /// The product's binary.
    pub argiope: PathBuf,
    /// `http://ADDRESS:PORT`.
    pub origin: String,
    /// The first page.
    pub start: String,
    /// Connections to the one host.
    pub connections: usize,
    /// A script that makes wrk ask for the site's URLs in turn.
    pub wrk_script: PathBuf,
}

/// The script for wrk: every URL of the list in turn, and the count of answers at the end.
pub fn wrk_script(uris: &[String]) -> String {
    let list: Vec<String> = uris.iter().map(|uri| format!("  {uri:?},")).collect();
    format!(
        "local uris = {{\n{}\n}}\nlocal at = 0\n\
         request = function()\n  at = at % #uris + 1\n  return wrk.format(nil, uris[at])\nend\n\
         done = function(summary)\n  io.write(\"answers \", summary.requests, \"\\n\")\nend\n",
        list.join("\n")
    )
}
