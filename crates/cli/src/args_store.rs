//! Flags of `store`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct Store {
    #[command(subcommand)]
    pub action: StoreAction,
}

#[derive(Debug, Subcommand)]
pub enum StoreAction {
    /// Copy a crawl with its pages; every document keeps its number
    Copy(Copy),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope store copy --from argiope-data --to postgres://db.example/argiope --archive ./pages
  argiope store copy --from postgres://db.example/argiope --archive ./pages --to back
  argiope store copy --from postgres://db.example/argiope --archive /a --archive /b --to back

Into PostgreSQL: the database is empty; the pages become those of a worker of the fleet, in a
directory of their own in ROOT. Into a directory: it is new or empty, no worker is at work, and
--archive names every directory in which one keeps its pages. What is copied from stays as it was.
Full files of pages are shared by both (hard links) where they lie on one file system, else
copied. A copy that was cut short is made whole by the same command.")]
pub struct Copy {
    /// What to copy: a data directory, or the store of a fleet (postgres://…)
    #[arg(long, value_name = "DIR|POSTGRES-URL")]
    pub from: String,
    /// Where to: the store of a fleet (postgres://…), or a new data directory
    #[arg(long, value_name = "POSTGRES-URL|DIR")]
    pub to: String,
    /// The directory in ROOT that the pages come into (default: worker-1, or the next that is free)
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Say what would be copied and copy nothing
    #[arg(long)]
    pub dry_run: bool,
}
