//! The binary `argiope`: flags, configuration, wiring, exit codes.
//!
//! * Its place: the only crate that chooses implementations and talks to people.
//! * Output: results on stdout, talk on stderr; text for people, one JSON object per line with
//!   `--format json`; colour and progress on a terminal only.
//! * Exit codes: 0 done, 1 failed, 2 wrong usage.

mod args;
mod args_feed;
mod args_filter;
mod args_history;
mod args_news;
mod args_prune;
mod args_serve;
mod args_sites;
mod args_store;
mod args_watch;
mod command;
mod config;
mod output;
mod progress;
mod seeds;

use args::{Cli, Command, Format};
use clap::Parser;
use std::process::ExitCode;

/// A mistake of the user's, to be told apart from a failure by its exit code.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let filter = tracing_subscriber::EnvFilter::try_from_env("ARGIOPE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,fjall=error,lsm_tree=error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    match run(cli) {
        Ok(code) => code,
        Err(e) => {
            // A closed pipe (`argiope export cdxj | head`) is no failure of ours.
            let broken_pipe = e.chain().any(|c| {
                c.downcast_ref::<std::io::Error>()
                    .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
            });
            if broken_pipe {
                return ExitCode::SUCCESS;
            }
            output::talk(format!("argiope: {}", output::sentence(&e)));
            ExitCode::from(if e.is::<Usage>() { 2 } else { 1 })
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let Cli { global, command } = cli;
    let tabular = match &command {
        Command::Links(_) | Command::Top(_) | Command::Broken(_) => true,
        Command::News(args) => {
            matches!(&args.action, args_news::NewsAction::List(list) if list.story.is_none())
        }
        _ => false,
    };
    if global.format == Format::Csv && !tabular {
        return Err(Usage(
            "--format csv is for links, top, broken and news list; others have json".into(),
        )
        .into());
    }
    let alone = match &command {
        Command::Import(_) => "import",
        Command::Forget(_) => "forget",
        Command::Prune(_) => "prune",
        Command::Reindex(args) if args.from_archive => "reindex --from-archive",
        _ => "",
    };
    if !alone.is_empty() && command::fleet::is_meant(&global)? {
        return Err(Usage(format!(
            "{alone} works on a directory of its own, not on a fleet; `argiope store copy` makes one of a fleet"
        ))
        .into());
    }
    match command {
        Command::Crawl(args) => command::crawl::crawl(&global, *args),
        Command::Watch(args) => command::watch::watch(&global, *args),
        Command::Refresh(args) => command::watch::refresh(&global, &args),
        Command::Cycle(args) => command::watch::cycle(&global, &args),
        Command::Serve(args) => command::serve::serve(&global, &args),
        Command::Demo(args) => command::demo::demo(&global, &args),
        Command::Jobs(args) => command::ask::jobs(&global, &args),
        Command::Worker(args) => command::fleet::worker(&global, &args),
        Command::Status(args) if args.fleet => command::fleet::status(&global),
        Command::Status(_) => command::status::status(&global),
        Command::Sites(args) => command::sites::sites(&global, &args),
        Command::Explain(args) => command::sites::explain(&global, &args),
        Command::Doc(args) => command::ask::doc(&global, &args),
        Command::Search(args) => command::search::search(&global, &args),
        Command::Word(args) => command::search::word(&global, &args),
        Command::Words(args) => command::search::words(&global, &args),
        Command::Index(args) => command::index::index(&global, &args),
        Command::Reindex(args) => command::search::reindex(&global, &args),
        Command::Links(args) => command::links::links(&global, &args),
        Command::Top(args) => command::links::top(&global, &args),
        Command::Broken(args) => command::links::broken(&global, &args),
        Command::Show(args) => command::show::show(&global, &args),
        Command::History(args) => command::history::history(&global, &args),
        Command::Diff(args) => command::diff::diff(&global, &args),
        Command::News(args) => command::news::news(&global, args),
        Command::Feed(args) => command::feed::feed(&global, &args),
        Command::Filter(args) => command::filter::filter(&global, &args),
        Command::Verify(_) => command::check::verify(&global),
        Command::Export(args) => command::export::export(&global, args),
        Command::Import(args) => command::import::import(&global, args),
        Command::Store(args) => command::copy::store(&global, &args),
        Command::Forget(args) => command::forget::forget(&global, &args),
        Command::Prune(args) => command::prune::prune(&global, &args),
        Command::Config(args) => command::settings::config(&global, &args),
    }
}
