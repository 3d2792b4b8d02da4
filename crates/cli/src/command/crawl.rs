//! `crawl`: from flags and configuration to a running engine and its summary.

use super::fleet::{self, Place};
use super::metrics;
use super::serve::Page;
use super::wiring::{engine_settings, new_job, opening, overrides};
use super::{load, now, open_store, print_json};
use crate::args::{Crawl, Format, Global};
use crate::config::{Flags, Override, Settings};
use crate::output::{self, bytes, count, plural, seconds};
use crate::progress::Progress;
use crate::{Usage, seeds};
use anyhow::{Context, bail};
use argiope_crawl::{
    Access, DataDir, Ended, Fleet, Follower, Followers, Following, Listening, Live, LiveTree,
    NewJob, Owner, Picked, Return, Run, Summary, excluded_starts, listen, open_jobs, pick_job,
    refused_starts, run, set_filter,
};
use argiope_fetch::is_private_address;
use argiope_filter::Saved;
use argiope_frontier::revisit::Pattern;
use argiope_model::{Aim, CanonicalUrl, Job, JobId, JobState, Order as Visits, Suffixes, Time};
use argiope_store::{JobRow, Store};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// What a run of the engine is for.
#[derive(Default)]
pub struct Order {
    /// The job given; `None` goes on with all open ones.
    pub picked: Option<Picked>,
    /// The fleet it is one of.
    pub fleet: Option<Fleet>,
    /// What it comes back to.
    pub keep: Return,
    /// Of that, only these pages.
    pub only: Vec<Pattern>,
    /// Only news are collected.
    pub news: Option<OnlyNews>,
    /// Nothing is said but why it waits.
    pub quiet: bool,
}

/// Which news are collected.
pub struct OnlyNews {
    /// Of these sites; of all that are followed where none is named.
    pub sites: Vec<String>,
    /// On this subject.
    pub subject: Option<String>,
}

pub fn crawl(global: &Global, args: Crawl) -> anyhow::Result<ExitCode> {
    crawl_kept(global, args, &[], Return::Never).map(|_| ExitCode::SUCCESS)
}

/// Crawls, and comes back to what was crawled where that is wanted: what came of that is told by
/// whoever asked.
pub fn crawl_kept(
    global: &Global,
    args: Crawl,
    more: &[Override],
    keep: Return,
) -> anyhow::Result<Option<Summary>> {
    let own_flags: Vec<Override> =
        overrides(&args).into_iter().chain(more.iter().cloned()).collect();
    let loaded = load(global, Flags { own: &own_flags, set: &args.set })?;
    let settings = &loaded.settings;
    let named = !args.urls.is_empty() || args.seeds.is_some();
    let piped = if named { None } else { seeds::piped() };
    let asked = named || piped.is_some();
    let seeds = match piped {
        Some(seeds) => seeds,
        None => seeds::collect(&args.urls, args.seeds.as_deref())?,
    };
    seeds.problems.iter().for_each(output::talk);
    if asked && seeds.urls.is_empty() {
        return Err(Usage("none of the start URLs can be used".to_owned()).into());
    }
    let filter = loaded.filter.as_ref().map(|said| said.as_ref().map(Saved::to_text));
    let aim = aim(&args)?;
    if aim.is_some() && !asked {
        return Err(Usage(
            "--about and --like need start URLs: argiope crawl URL --about WORDS".to_owned(),
        )
        .into());
    }
    let order = asked.then(|| match aim {
        None => NewJob { filter, ..new_job(settings, seeds.urls) },
        aim => NewJob { filter, aim, order: Visits::Best, ..new_job(settings, seeds.urls) },
    });
    if args.dry_run {
        return dry_run(global, settings, order).map(|_| None);
    }
    let kept = keep != Return::Never;
    let nothing = || {
        Usage(format!(
            "nothing is unfinished in {}; give a start URL: argiope crawl https://example.org/",
            global.data.display()
        ))
    };
    let url = global.store.as_deref();
    // A watch may have nothing but sites whose news are followed.
    let news = match kept {
        true => super::news::followed_sites(global)?.len() as u64,
        false => 0,
    };
    let follows = news > 0;
    if url.is_none() && order.is_none() && !follows && !global.data.join("manifest.json").exists() {
        return Err(nothing().into());
    }
    let place = match url {
        None => None,
        Some(url) => {
            let memory = engine_settings(settings).store_memory();
            Some(fleet::open(global, url, None, memory)?)
        }
    };
    let (dir, store): (_, Arc<dyn Store>) = match &place {
        None => own(global, settings)?,
        Some(place) => (place.dir.clone(), place.store.clone()),
    };
    let rows = store.jobs()?;
    let mut picked = match order {
        Some(order) => Some(pick_job(order, &rows, &Suffixes::built_in(), now())),
        None if kept => {
            if rows.is_empty() && !follows {
                return Err(nothing().into());
            }
            None
        }
        None if open_jobs(&rows).is_empty() => {
            if let Some(row) = rows.iter().find(|row| row.state == JobState::Limited) {
                output::talk(format!(
                    "Job {} stopped at a limit: its start URLs with a larger one go on.",
                    row.job.id
                ));
            }
            return Err(nothing().into());
        }
        None => None,
    };
    if let (Some(place), Some(picked)) = (&place, &mut picked) {
        place.number(picked)?;
    }
    let own_job = match &picked {
        Some(Picked::New(job) | Picked::Resumed(job)) => Some(job.id),
        _ => None,
    };
    if !settings.fetch.allow_private {
        spare_private(&rows, own_job)?;
    }
    if let Some(Picked::New(job) | Picked::Resumed(job)) = &picked {
        speak_of_excluded(&dir, &*store, &job.seeds)?;
        speak_of_filter(job)?;
    }
    if let Some(Picked::Resumed(job)) = &picked {
        change_filter(&*store, &rows, job)?;
    }
    let quiet = global.format == Format::Json;
    match &picked {
        Some(Picked::Finished(row)) if !kept && open_jobs(&rows).is_empty() => {
            if quiet {
                let counters = &row.counters;
                return print_json(&[json!({ "job": row.job.id.0, "ended": "done",
                    "fetched": 0, "documents": counters.fetched })])
                .map(|()| None);
            }
            output::talk(format!(
                "Job {} is done: {} were fetched and nothing is left. `argiope refresh` visits them again, `argiope watch` keeps them fresh; another --data DIR begins anew.",
                row.job.id,
                plural(row.counters.fetched, "page", "pages")
            ));
            return Ok(None);
        }
        Some(Picked::Resumed(job)) if !quiet => {
            let kept = job.filter.as_deref().map(Saved::from_text).transpose()?;
            let under = kept.map_or(String::new(), |f| format!(" under the filter {}", f.name));
            output::talk(format!("Going on with job {}{under}.", job.id));
        }
        _ => {}
    }
    if !quiet {
        let new = matches!(picked, Some(Picked::New(_)));
        opening(settings, new && output::on_terminal()).iter().for_each(output::talk);
    }
    let page = args.open.then(|| Page::beside(global, None, true)).transpose()?;
    let fleet = place.as_ref().map(|place| place.fleet(&loaded, false));
    if kept && !quiet {
        let budget = settings.revisit.per_day.map_or_else(
            || "as many visits a day as there are pages".to_owned(),
            |n| format!("at most {} a day", plural(n, "page", "pages")),
        );
        output::talk(format!(
            "Watching by {}, {budget}, until stopped (Ctrl-C).",
            settings.revisit.policy.name()
        ));
        if news > 0 {
            output::talk(format!(
                "The news of {} are collected as well, each in its own cycle.",
                plural(news, "site", "sites")
            ));
        }
    }
    let order = Order { picked, fleet, keep, quiet, ..Order::default() };
    let summary = execute(dir, store, settings, order)?;
    if !kept {
        report(global, settings, &summary, place.as_ref())?;
    }
    drop(place);
    match page {
        Some(page) if summary.ended != Ended::Stopped && output::on_terminal() => page.stay()?,
        Some(page) => page.finish(),
        None => {}
    }
    Ok(Some(summary))
}

/// A job on private addresses is not worked on by a run that may not ask there: all it has queued would be lost.
fn spare_private(rows: &[JobRow], own: Option<JobId>) -> anyhow::Result<()> {
    let is_private = |url: &CanonicalUrl| {
        let host = url.host().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(is_private_address)
    };
    for row in rows.iter().filter(|row| row.state == JobState::Open && Some(row.job.id) != own) {
        if let Some(url) = row.job.seeds.iter().find(|url| is_private(url)) {
            let id = row.job.id;
            bail!(
                "job {id} is open and begins at {url}, a private address, which this run may not ask: \
                 --allow-private (or fetch.allow_private = true in the configuration) goes on with it, \
                 `argiope jobs pause {id}` leaves it for later"
            );
        }
    }
    Ok(())
}

/// Says which start URLs will not be asked for, since their sites are excluded here.
fn speak_of_excluded(
    dir: &DataDir,
    store: &dyn Store,
    starts: &[CanonicalUrl],
) -> anyhow::Result<()> {
    let excluded = excluded_starts(dir, store, starts)?;
    if let [(url, name), ..] = &excluded[..] {
        let more = match excluded.len() {
            1 => String::new(),
            n => format!(", nor {} more start URLs", count(n as u64 - 1)),
        };
        let said = format!(
            "{url} is not asked for{more}: {name} was excluded here; `argiope sites forgive {name}` undoes that"
        );
        if excluded.len() == starts.len() {
            bail!(said);
        }
        output::talk(format!("{said}."));
    }
    Ok(())
}

/// Says which start URLs are asked for though the filter would refuse them.
fn speak_of_filter(job: &Job) -> anyhow::Result<()> {
    let refused = refused_starts(job)?;
    if let [(url, why), ..] = &refused[..] {
        let more = match refused.len() {
            1 => String::new(),
            n => format!(" (and {} more start URLs)", count(n as u64 - 1)),
        };
        output::talk(format!(
            "The filter refuses {url}{more}: {why}. Start URLs are asked for all the same; links like it are not followed."
        ));
    }
    Ok(())
}

/// A job that goes on under another filter asks for what only the former one refused.
fn change_filter(store: &dyn Store, rows: &[JobRow], job: &Job) -> anyhow::Result<()> {
    let before = rows.iter().find(|row| row.job.id == job.id).map(|row| &row.job.filter);
    if before.is_none_or(|before| *before == job.filter) {
        return Ok(());
    }
    let told = set_filter(store, Some(job.id.0), job.filter.as_deref(), now());
    let told = told.map_err(anyhow::Error::msg)?;
    let under = match told["filter"].as_str() {
        Some(name) => format!("under the filter {name}"),
        None => "without a filter".to_owned(),
    };
    let urls = plural(told["urls"].as_u64().unwrap_or(0), "URL", "URLs");
    output::talk(format!(
        "Job {} goes on {under}; {urls} that only the former one refused will be asked for.",
        job.id
    ));
    Ok(())
}

/// Takes ownership of the directory.
pub fn own(global: &Global, settings: &Settings) -> anyhow::Result<(Arc<DataDir>, Arc<dyn Store>)> {
    let dir = DataDir::open(&global.data, Access::Own, now())?;
    let memory = engine_settings(settings).store_memory();
    let store = open_store(&dir, memory)?;
    Ok((Arc::new(dir), store))
}

/// Runs the engine with its control socket, its progress line and its signals.
pub fn execute(
    dir: Arc<DataDir>,
    store: Arc<dyn Store>,
    settings: &Settings,
    order: Order,
) -> anyhow::Result<Summary> {
    let Order { picked, mut fleet, keep, only, news, quiet } = order;
    let begun = now();
    let mut engine = engine_settings(settings);
    engine.revisit.only = only;
    if let Some(OnlyNews { sites, subject }) = news {
        (engine.news.only, engine.news.sites, engine.news.subject) = (true, sites, subject);
    }
    let metrics = settings.metrics.listen.as_deref().map(metrics::listen).transpose()?;
    if let Some((_, address)) = &metrics {
        if !quiet {
            output::talk(format!("Prometheus may ask at http://{address}/metrics."));
        }
        if let Some(fleet) = &mut fleet {
            fleet.metrics = address.to_string();
        }
    }
    let followers = Followers::new(&dir, &store, &engine);
    let live = Arc::new(Live::default());
    let (stop, stopped) = watch::channel(false);
    let (orders_in, orders) = mpsc::channel(16);
    let _listening: Listening = listen(Owner {
        dir: dir.clone(),
        store: store.clone(),
        followers: followers.clone(),
        live: live.clone(),
        settings: engine.clone(),
        orders: Some(orders_in),
        leave: None,
    })
    .context("cannot open the control socket")?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if let Some(workers) = settings.crawl.workers {
        runtime.worker_threads(workers);
    }
    let runtime = runtime.enable_all().build().context("cannot start the worker threads")?;
    // The index and the graph of a fleet are for one to keep, not for each worker.
    let following = match &fleet {
        None => {
            let mut all = follow(settings, &followers)?;
            if let Some(tree) = settings.archive.tree.clone().filter(|_| settings.archive.enabled) {
                let tree = Arc::new(LiveTree::new(&dir, store.clone(), tree));
                let started = Following::start(tree);
                all.push(started.context("cannot start the thread that writes pages as files")?);
            }
            all
        }
        Some(_) => Vec::new(),
    };
    let progress = Progress::start(live.clone(), quiet);
    let outcome = runtime.block_on(async {
        tokio::spawn(wait_for_signals(stop));
        if let Some((listener, _)) = metrics {
            metrics::serve(listener, live.clone());
        }
        run(Run {
            dir,
            store,
            settings: engine,
            picked,
            live,
            stop: stopped,
            orders,
            fleet,
            keep,
            made_up: None,
        })
        .await
    });
    drop(progress);
    // Whoever stops a crawl wants it to end; the next start goes on.
    let all = outcome.as_ref().is_ok_and(|summary| summary.ended != Ended::Stopped);
    following.into_iter().for_each(|following| following.finish(all));
    // Requests that hang must not keep the program.
    runtime.shutdown_background();
    let mut summary = outcome?;
    count_articles(&mut summary, &followers, begun);
    Ok(summary)
}

/// Of pages for news, those that became articles are counted as new, and as changed those whose title or text did.
fn count_articles(summary: &mut Summary, followers: &Followers, begun: Time) {
    if summary.news.is_empty() {
        return;
    }
    let gained = match followers.news.gained(begun) {
        Ok(gained) => gained,
        Err(e) => return tracing::debug!("pages are counted, not articles: {e}"),
    };
    for (site, tally) in &mut summary.news {
        let gained = gained.get(site).copied().unwrap_or_default();
        tally.unchanged += tally.changed.saturating_sub(gained.changed);
        (tally.new, tally.changed) = (gained.new, gained.changed);
    }
}

/// Starts what follows the change log.
pub fn follow(settings: &Settings, followers: &Followers) -> anyhow::Result<Vec<Following>> {
    let mut all: Vec<Arc<dyn Follower>> = Vec::new();
    if settings.crawl.links {
        all.push(followers.links.clone());
    }
    if settings.crawl.index {
        all.push(followers.words.clone());
    }
    all.push(followers.news.clone());
    let all = all.into_iter().map(Following::start).collect::<Result<Vec<_>, _>>();
    all.context("cannot start the threads that follow the crawl")
}

/// The first signal ends the crawl in order, the second at once.
pub async fn wait_for_signals(stop: watch::Sender<bool>) {
    signal().await;
    let _ = stop.send(true);
    output::talk(
        "\nStopping: finishing what is under way. Again to stop at once; nothing is lost either way.",
    );
    signal().await;
    std::process::exit(130);
}

#[cfg(unix)]
pub async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
pub async fn signal() {
    let _ = tokio::signal::ctrl_c().await;
}

/// What a crawl is to be about.
fn aim(args: &Crawl) -> anyhow::Result<Option<Aim>> {
    if args.about.is_none() && args.like.is_empty() {
        return Ok(None);
    }
    if let Some(order) = args.order.as_deref().filter(|order| *order != "best") {
        let flag = if args.about.is_some() { "--about" } else { "--like" };
        return Err(Usage(format!(
            "{flag} is an order of its own and cannot go with --order {order}; leave one of them out"
        ))
        .into());
    }
    let about = args.about.as_deref().unwrap_or_default().trim().to_owned();
    if args.about.is_some() && !argiope_crawl::has_words(&about) {
        return Err(Usage(format!(
            "--about has no words that tell anything: {about:?}; say what the pages are about, as in --about \"garden spiders\""
        ))
        .into());
    }
    let mut like = Vec::new();
    for url in &args.like {
        match CanonicalUrl::parse(url) {
            Ok(url) => like.push(url),
            Err(e) => return Err(Usage(format!("--like {url}: {e}")).into()),
        }
    }
    Ok(Some(Aim { about, like }))
}

fn dry_run(
    global: &Global,
    settings: &Settings,
    order: Option<NewJob>,
) -> anyhow::Result<ExitCode> {
    let Some(order) = order else { bail!("--dry-run needs start URLs") };
    let Picked::New(job) = pick_job(order, &[], &Suffixes::built_in(), now()) else {
        bail!("no job came of it");
    };
    let names: Vec<&str> = job.scope.names.iter().map(String::as_str).collect();
    let filter = job.filter.as_deref().map(Saved::from_text).transpose()?;
    let types: Vec<&str> = job.wanted.types.iter().map(String::as_str).collect();
    output::print([
        format!("start URLs  {}", count(job.seeds.len() as u64)),
        format!("scope       {:?}: {}", job.scope.rule, names.join(", ")).to_lowercase(),
        format!("order       {:?}", job.order).to_lowercase(),
        format!("about       {}", job.aim.as_ref().map_or("anything".to_owned(), aim_words)),
        format!("types       {}", types.join(", ")),
        format!("filter      {}", filter.map_or("none".to_owned(), |saved| saved.name)),
        format!("delay       {:?} per host", settings.crawl.delay),
        format!("robots.txt  {}", if settings.crawl.robots { "obeyed" } else { "ignored" }),
        format!("data        {}", global.data.display()),
    ])?;
    output::talk("Nothing was requested or written.");
    Ok(ExitCode::SUCCESS)
}

/// What a crawl is about, for people.
fn aim_words(aim: &Aim) -> String {
    let words = Some(&aim.about).filter(|words| !words.is_empty()).cloned();
    let like = aim.like.iter().map(|url| format!("like {url}"));
    words.into_iter().chain(like).collect::<Vec<_>>().join(", ")
}

/// The summary object that ends `crawl --format json`.
pub fn summary_json(summary: &Summary) -> Value {
    let mut total = argiope_store::JobCounters::default();
    for row in &summary.jobs {
        let c = &row.counters;
        total.fetched += c.fetched;
        total.unchanged += c.unchanged;
        total.failed += c.failed;
        total.add_skipped(c);
        total.sitemaps += c.sitemaps;
        total.redirects += c.redirects;
        total.errors += c.errors;
        total.bytes += c.bytes;
        total.hosts += c.hosts;
        total.words += c.words;
        total.links += c.links;
        total.queued += c.queued;
    }
    let elapsed = summary.elapsed.as_secs_f64().max(0.001);
    let round = |x: f64| (x * 1000.0).round() / 1000.0;
    json!({
        "ended": summary.ended,
        "jobs": summary.jobs.iter().map(|row| row.job.id.0).collect::<Vec<_>>(),
        "fetched": total.fetched,
        "unchanged": total.unchanged,
        "failed": total.failed,
        "skipped": total
            .skipped()
            .into_iter()
            .map(|(name, n)| (name.to_owned(), json!(n)))
            .collect::<Value>(),
        "sitemaps": total.sitemaps,
        "capped_sites": summary.capped_sites,
        "redirects": total.redirects,
        "errors": total.errors,
        "queued": total.queued,
        "bytes": total.bytes,
        "hosts": total.hosts,
        "documents": total.fetched,
        "words": total.words,
        "links": total.links,
        "elapsed_s": round(elapsed),
        "pages_per_s": round(summary.fetched as f64 / elapsed),
        "mb_per_min": round(summary.bytes as f64 / 1e6 / elapsed * 60.0),
        "peak_rss_mb": round(summary.peak_memory as f64 / 1e6),
    })
}

fn report(
    global: &Global,
    settings: &Settings,
    summary: &Summary,
    place: Option<&Place>,
) -> anyhow::Result<()> {
    let row = summary_json(summary);
    if global.format == Format::Json {
        return print_json(&[row]);
    }
    let number = |name: &str| row[name].as_u64().unwrap_or(0);
    let verb = match summary.ended {
        Ended::Done => "Done",
        Ended::Limit => "Limit reached",
        Ended::Stopped => "Stopped",
    };
    let elapsed = summary.elapsed.as_secs_f64();
    let here = format!("{}, {}", plural(summary.fetched, "page", "pages"), bytes(summary.bytes));
    output::talk(match place {
        Some(_) => format!(
            "{verb} after {}: {} by all workers together, {here} by this one.",
            seconds(elapsed),
            plural(number("fetched"), "page", "pages")
        ),
        None => format!(
            "{verb} after {}: {here}, {:.1} pages/s.",
            seconds(elapsed),
            row["pages_per_s"].as_f64().unwrap_or(0.0)
        ),
    });
    let skipped: Vec<String> = [
        ("extension", "by extension"),
        ("type", "by type"),
        ("size", "by size"),
        ("depth", "by depth"),
        ("robots", "by robots.txt"),
        ("given_up", "of hosts given up"),
        ("excluded", "of sites excluded"),
        ("filter", "by the filter"),
        ("trap", "of series without end (`argiope sites` shows them)"),
        ("site_pages", "of sites at their cap"),
    ]
    .iter()
    .filter_map(|(name, why)| {
        let n = row["skipped"][*name].as_u64().filter(|n| *n > 0)?;
        Some(format!("{} {why}", count(n)))
    })
    .collect();
    let mut notes = Vec::new();
    if number("redirects") > 0 {
        notes.push(plural(number("redirects"), "redirect", "redirects"));
    }
    if number("failed") > 0 {
        notes.push(format!("{} failed", count(number("failed"))));
    }
    if !skipped.is_empty() {
        notes.push(format!("left alone: {}", skipped.join(", ")));
    }
    if summary.capped_sites > 0 {
        let sites = plural(summary.capped_sites as u64, "site", "sites");
        notes.push(format!("{sites} reached --max-pages-per-site"));
    }
    if number("queued") > 0 {
        notes.push(format!("{} still queued", count(number("queued"))));
    }
    if !notes.is_empty() {
        output::talk(format!("{}.", notes.join("; ")));
    }
    if number("fetched") == 0 && number("failed") > 0 && !settings.fetch.allow_private {
        output::talk(
            "Nothing was fetched; `argiope doc URL` says why. Private and loopback addresses need --allow-private.",
        );
    }
    let open = summary.jobs.iter().any(|r| matches!(r.state, JobState::Open | JobState::Limited));
    let data = global.data.display();
    if let Some(place) = place {
        output::talk(place.is_where());
        return Ok(());
    }
    match (summary.ended, open) {
        (Ended::Stopped, true) => {
            output::talk(format!("The same command goes on, or: argiope --data {data} crawl"))
        }
        (Ended::Limit, true) => output::talk("A larger limit goes on from here."),
        _ => output::talk(format!(
            "Everything is in {data}: `argiope --data {data} search WORDS` finds pages, `show URL` prints one."
        )),
    }
    Ok(())
}
