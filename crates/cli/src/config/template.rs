//! The file `config init` writes: every setting with its help and its default.
//!
//! Printed from the table of settings, so it cannot fall behind. Invariant (tested): loading it
//! gives exactly the defaults; settings without one stand commented out.
//! Not here: writing it to disk.

use super::keys::{KEYS, Kind, Preset, TABLES, Word};
use super::quantity::{human_duration, human_size};
use std::time::Duration;

const HEAD: &str = "\
# Settings of Argiope. A flag on the command line goes before what is written here.
# `argiope config show` prints every setting with its value and where that comes from.
#
# Durations: \"500ms\", \"10s\", \"2m\", \"1h30m\", \"1d\", or a plain number of seconds.
# Sizes: \"256MB\", \"1GB\" (MB = 1,000,000 bytes), \"512KiB\", \"1GiB\" (KiB = 1,024 bytes),
# or a plain number of bytes.
";

const FILTERS: &str = "
# Filters: which URLs a job takes, by rules that can be joined; see docs/filters.md.
# `argiope crawl --filter articles` obeys one, `argiope filter test URL` says what it does.
#
# [filters.articles]
# domain = [\"example.org\", \"example.net\"]
# max_path_depth = 6
# not = [\"noise\", { suffix = [\"/print\"] }]
#
# [filters.noise]
# any = [{ param = [\"sort\", \"reply\"] }, { regex = '/(tag|share)/' }, { script = \"mine.rhai\" }]
";

/// A configuration file that says what holds without one.
pub fn template() -> String {
    let mut text = HEAD.to_owned();
    for (table, help) in TABLES {
        text += &format!("\n# {help}\n[{table}]\n");
        for key in KEYS.iter().filter(|key| key.table() == *table) {
            text += &format!("\n# {}\n", key.help);
            if let Some(allowed) = allowed(key.kind) {
                text += &format!("# {allowed}\n");
            }
            text += &match key.preset {
                Preset::Is(value) => format!("{} = {value}\n", key.leaf()),
                Preset::Unset { example, without } => {
                    format!("# Without it {without}.\n# {} = {example}\n", key.leaf())
                }
            };
        }
    }
    text + FILTERS
}

/// What may be written, where the help alone does not say it.
fn allowed(kind: Kind) -> Option<String> {
    let duration = |ms| human_duration(Duration::from_millis(ms));
    match kind {
        Kind::Keep => Some("One of: all, daily, weekly, monthly, yearly, last:5.".to_owned()),
        Kind::Filter => Some("A name from [filters], a file (.toml or .rhai), or none.".to_owned()),
        Kind::Choice(words) => Some(format!("One of: {}.", words.join(", "))),
        Kind::Size { min } if min > 1 => Some(format!("At least {}.", human_size(min))),
        Kind::Count { min, max } if max < u64::MAX => Some(format!("From {min} to {max}.")),
        Kind::Duration { min_ms, max_ms, .. } if min_ms > 0 => {
            Some(format!("From {} to {}.", duration(min_ms), duration(max_ms)))
        }
        Kind::Words {
            of:
                of @ (Word::Network | Word::Server | Word::Host | Word::Keep | Word::File | Word::Rule),
            ..
        } => Some(format!("For example: {}.", of.example())),
        _ => None,
    }
}
