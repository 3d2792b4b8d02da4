//! `index`: keeps the words and the links of a fleet, or does what a crawl has left to do.
//!
//! The directory of `--data` is that of a reader: what is known lies in the fleet's store, the pages
//! with its workers, and the index here. While this runs it owns the directory and answers whoever
//! asks there.

use super::ask::Line;
use super::crawl::wait_for_signals;
use super::fleet::{self, Reader, absent_line};
use super::wiring::engine_settings;
use super::{load, print_json, visit};
use crate::args::{Format, Global, Index, Only};
use crate::config::Flags;
use crate::output::{self, bytes, count, plural, seconds};
use anyhow::{Context, bail};
use argiope_crawl::{
    Access, DataDir, EngineSettings, Follower, Followers, Following, Live, Owner, Question,
    ask_owner, listen,
};
use argiope_store::Store;
use serde_json::json;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often the line on the terminal is written anew, and missing pages are looked for.
const LOOK: Duration = Duration::from_millis(500);
const LOOK_FOR_ABSENT: Duration = Duration::from_secs(10);

pub fn index(global: &Global, args: &Index) -> anyhow::Result<ExitCode> {
    let settings = engine_settings(&load(global, Flags::default())?.settings);
    let settings = EngineSettings { links: args.only != Some(Only::Words), ..settings };
    if ask_owner(&global.data, &Question::Status)?.is_some() {
        bail!(
            "somebody works in {} already and indexes as it goes; `argiope status` asks it how far it is",
            global.data.display()
        );
    }
    let begun = Instant::now();
    let memory = settings.store_memory();
    let Some(reader) = fleet::reader(global, Access::Own, memory)? else {
        let (dir, store) = visit(global)?;
        let followers = Followers::new(&dir, &store, &settings);
        catch_up(args, &followers)?;
        return report(global, args, &followers, begun, &BTreeSet::new());
    };
    let store: Arc<dyn Store> = reader.store.clone();
    let followers = Followers::new(&reader.dir, &store, &settings);
    let absent = reader.absent()?.1;
    // Its words cannot be had, and what comes after it would wait for them.
    if let Some(line) = absent_line(&absent).filter(|_| args.only != Some(Only::Links)) {
        bail!("{}", line.trim_end_matches('.'));
    }
    if args.once {
        catch_up(args, &followers)?;
        return report(global, args, &followers, begun, &absent);
    }
    if global.format == Format::Text {
        output::talk(format!(
            "Following the fleet of {}; the index is in {}. Ctrl-C ends it.",
            reader.store.name(),
            global.data.display()
        ));
    }
    follow(args, &reader, &followers, &settings, absent)?;
    report(global, args, &followers, begun, &reader.absent()?.1)
}

/// Takes in all that is there.
fn catch_up(args: &Index, followers: &Followers) -> anyhow::Result<()> {
    if args.only != Some(Only::Words) {
        followers.links.catch_up()?;
    }
    if args.only != Some(Only::Links) {
        let mut line = Line::new();
        followers.words.catch_up(true, |at| line.show(at))?;
    }
    Ok(())
}

/// Follows until a signal comes.
fn follow(
    args: &Index,
    reader: &Reader,
    followers: &Followers,
    settings: &EngineSettings,
    mut absent: BTreeSet<String>,
) -> anyhow::Result<()> {
    let live = Arc::new(Live::default());
    let (dir, store): (Arc<DataDir>, Arc<dyn Store>) = (reader.dir.clone(), reader.store.clone());
    let _listening = listen(Owner {
        dir,
        store: store.clone(),
        followers: followers.clone(),
        live,
        settings: settings.clone(),
        orders: None,
        leave: None,
    })
    .context("cannot open the control socket")?;
    let mut all: Vec<Arc<dyn Follower>> = Vec::new();
    if args.only != Some(Only::Words) {
        all.push(followers.links.clone());
    }
    if args.only != Some(Only::Links) {
        all.push(followers.words.clone());
    }
    let following = all.into_iter().map(Following::start).collect::<Result<Vec<_>, _>>();
    let following = following.context("cannot start the threads that follow the fleet")?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build();
    let runtime = runtime.context("cannot start a thread")?;
    let (stop, stopped) = watch::channel(false);
    runtime.spawn(wait_for_signals(stop));
    let terminal = output::on_terminal();
    let mut looked = Instant::now();
    while !*stopped.borrow() {
        std::thread::sleep(LOOK);
        if terminal && let Ok(waiting) = followers.words.waiting() {
            output::line(match waiting {
                0 => "Everything is indexed.".to_owned(),
                n => format!("{} changes wait", count(n)),
            });
        }
        if looked.elapsed() > LOOK_FOR_ABSENT {
            looked = Instant::now();
            // A worker that joined later may keep its pages where nobody looks.
            if let Ok((_, now)) = reader.absent() {
                let new: BTreeSet<String> = now.difference(&absent).cloned().collect();
                absent_line(&new).iter().for_each(output::talk);
                absent = now;
            }
        }
    }
    if terminal {
        output::line("");
    }
    following.into_iter().for_each(|following| following.finish(false));
    runtime.shutdown_background();
    Ok(())
}

fn report(
    global: &Global,
    args: &Index,
    followers: &Followers,
    begun: Instant,
    absent: &BTreeSet<String>,
) -> anyhow::Result<ExitCode> {
    let elapsed = begun.elapsed().as_secs_f64();
    let words = args.only != Some(Only::Links);
    let size = words.then(|| followers.words.view()?.size()).transpose()?;
    let (documents, disk) = size.map_or((0, 0), |size| (size.documents, size.disk));
    let left_out = followers.words.unreadable();
    if global.format == Format::Json {
        print_json(&[json!({ "documents": documents, "bytes": disk, "left_out": left_out,
            "not_here": absent, "elapsed_s": elapsed })])?;
    } else {
        output::talk(match words {
            true => format!(
                "{} in the index after {}: {}.",
                plural(documents, "page is", "pages are"),
                seconds(elapsed),
                bytes(disk)
            ),
            false => format!("The links are counted, after {}.", seconds(elapsed)),
        });
        if left_out > 0 {
            output::talk(format!(
                "Left out: {}, for want of texts that can be read; `argiope reindex` takes them in when they can.",
                plural(left_out, "page", "pages")
            ));
        }
    }
    Ok(ExitCode::from(u8::from(left_out > 0)))
}
