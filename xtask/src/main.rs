//! `cargo xtask`: reads the command line and calls the chore.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "chores talk to the person at the desk"
)]

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask check                      format, clippy, docs, dependency policy, layers, text rules
cargo xtask check rules                the last three alone: no compiling, a second
cargo xtask test [FILTER]              fetch what the tests need, check, build, run every test
                                       (FILTER: no check, only the outside tests of that name)
cargo xtask fuzz [TARGET|all] [--seconds N]
                                       made-up bytes for every parser of foreign ones, 600 s each
cargo xtask bench crawl [--runs N] [--site PACKAGE|DIR]... [--connections-per-host N]
                                       CPU per 1,000 pages beside wget2 and the fetch-only limit
cargo xtask bench filters              time to ask a filter: domains, expressions, scripts
cargo xtask bench freshness [--seeds N] [--pages N] [--year-pages N] [--cases FILE]
                                       share of time fresh of every revisit policy at equal budget
cargo xtask bench frontier [--urls N]...
                                       CPU, memory and disk per discovered URL, small and large
cargo xtask bench fleet [--runs N] [--workers N] [--hosts N] [--pages N] [--site PACKAGE|DIR]
cargo xtask bench links [--runs N] [--site PACKAGE|DIR]... [--counts N] [--against BINARY]
                                       CPU per page with the link graph on and off
cargo xtask bench news [--seeds N] [--editions N] [--mistakes]
                                       articles and stories of the made-up news web, right and missed
cargo xtask bench quality [--site PACKAGE|DIR]... [--pages N] [--most N]
                                       known pages and hubs found with links and rank, and without
cargo xtask bench rank [--pages N]... [--measure pagerank|harmonic]...
                                       time and memory of ranks over millions of pages
cargo xtask bench order [--site PACKAGE|DIR]... [--webs N]
                                       rank and on-topic pages gathered by each order of visits
cargo xtask bench search [--runs N] [--site PACKAGE|DIR]... [--pages PACKAGE|DIR]...
                                       time of a query and CPU per page beside bare tantivy
cargo xtask bench web [--searches N] [--runs N] [--pages N] [--searched PACKAGE|DIR] [--crawled PACKAGE|DIR]
                                       time of a search beside a crawl, and what an open crawl view costs";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["check"] => xtask::check::run(),
        ["check", "rules"] => xtask::check::rules(),
        ["test"] => xtask::test::run(None),
        ["test", filter] => xtask::test::run(Some(filter)),
        ["fuzz", rest @ ..] => xtask::fuzz::run(rest),
        ["bench", "crawl", rest @ ..] => xtask::bench::crawl::run(rest),
        ["bench", "filters", rest @ ..] => xtask::bench::filters::run(rest),
        ["bench", "freshness", rest @ ..] => xtask::bench::freshness::run(rest),
        ["bench", "frontier", rest @ ..] => xtask::bench::frontier::run(rest),
        ["bench", "fleet", rest @ ..] => xtask::bench::fleet::run(rest),
        ["bench", "news", rest @ ..] => xtask::bench::news::run(rest),
        ["bench", "order", rest @ ..] => xtask::bench::order::run(rest),
        ["bench", "links", rest @ ..] => xtask::bench::links::run(rest),
        ["bench", "quality", rest @ ..] => xtask::bench::quality::run(rest),
        ["bench", "rank", rest @ ..] => xtask::bench::rank::run(rest),
        ["bench", "search", rest @ ..] => xtask::bench::search::run(rest),
        ["bench", "web", rest @ ..] => xtask::bench::web::run(rest),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
