//! `news`: headlines at once, collected news, and the sites they come from.

mod collect;
mod follow;
mod keep;
mod list;
mod look;
mod opml;
mod quick;
mod sites;
mod test;
mod why;

use crate::args::Global;
use crate::args_news::{News, NewsAction};
use std::process::ExitCode;

pub use follow::{follow, read as followed_sites, source, unfollow};

pub use opml::{export as export_opml, import as import_opml};
pub use quick::quick_look;

pub fn news(global: &Global, args: News) -> anyhow::Result<ExitCode> {
    match args.action {
        NewsAction::Quick(args) => quick::quick(global, &args),
        NewsAction::Collect(args) => collect::collect(global, *args),
        NewsAction::List(args) => list::list(global, &args),
        NewsAction::Sites(args) => sites::sites(global, &args),
        NewsAction::Read(args) => keep::read(global, &args),
        NewsAction::Rules(args) => keep::rules(global, &args),
        NewsAction::Saved(args) => keep::saved(global, &args),
    }
}
