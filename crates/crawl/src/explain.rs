//! Why a URL was or was not fetched, and when it will be: every rule that spoke, in order.
//!
//! * What this is: the planner's rules asked one by one, without doing anything. It reads the
//!   store and changes nothing, so it answers for URLs that nobody has met yet as well.
//! * Its place: `ask` calls it, in the owner of a directory or without one.
//! * Invariant: the rules are those the crawl itself asks (`admit`, `Robots::verdict`, `Temper`);
//!   nothing is decided here a second time.

use crate::backlinks::Backlinks;
use crate::data_dir::DataDir;
use crate::director::budgets::judged_budgets;
use crate::director::topic::kept_topic;
use crate::filters::{explained, is_start};
use crate::live::Live;
use crate::settings::EngineSettings;
use crate::sites;
use crate::traps::trap_words;
use argiope_filter::Verdict;
use argiope_frontier::{Admission, Merit, Robots, SkipReason, Traps, admit, page_of};
use argiope_graph::Counts;
use argiope_model::{
    CanonicalUrl, Job, JobState, Order, OutcomeKind, Role, ScopeRule, Suffixes, Time, UrlKey,
};
use argiope_store::{HostRow, JobRow, Store, StoreError, UrlRow, UrlState};
use serde_json::{Value, json};
use std::time::Duration;

/// Rows counted before "more than" is said.
const COUNTED: usize = 100_000;

struct Saying(Vec<Value>);

impl Saying {
    fn say(&mut self, rule: impl Into<String>, verdict: &str, detail: impl Into<String>) {
        let (rule, detail) = (rule.into(), detail.into());
        self.0.push(json!({ "rule": rule, "verdict": verdict, "detail": detail }));
    }
}

pub(crate) fn explain(
    asked: &str,
    url: &CanonicalUrl,
    dir: &DataDir,
    store: &dyn Store,
    around: (&Backlinks, Option<&Live>),
    settings: &EngineSettings,
    now: Time,
) -> Result<Vec<Value>, StoreError> {
    let mut out = Saying(Vec::new());
    let key = url.key(dir.suffixes());
    let row = store.urls(&[key])?.pop().flatten();
    let host = store.hosts(&[key.host])?.pop().flatten();
    let written =
        if url.as_str() == asked { "as written".to_owned() } else { format!("taken as {url}") };
    out.say("url", "ok", written);

    let jobs = store.jobs()?;
    let wanted = scope_rows(&mut out, url, row.as_ref(), &jobs);
    let excluded = excluded_row(&mut out, url, dir, store)?;
    let trapped = trap_row(&mut out, url, row.as_ref(), dir, store)?;
    let forbidden = robots_row(&mut out, url, key, store, settings)?;
    limit_rows(&mut out, row.as_ref(), &jobs);
    let by_hand = sites::delays(store, dir.suffixes())?.of(url).map(|(_, delay)| delay);
    host_rows(&mut out, host.as_ref(), key, store, settings, excluded, (by_hand, now))?;
    budget_row(&mut out, url, dir, now);
    let last = last_attempt(&mut out, row.as_ref(), key, store)?;
    queue_row(&mut out, row.as_ref(), key, host.as_ref(), store)?;
    if let Some(row) = &row {
        match jobs.iter().find(|j| j.job.id == row.job() && j.job.aim.is_some()) {
            Some(job) => topic_row(&mut out, row, key, &job.job, dir, around.1),
            None => score_row(&mut out, row, key, &jobs, around),
        }
    }

    if let Some((row, plan)) = row.as_ref().and_then(|row| Some((row, row.plan?)))
        && !row.in_queue()
    {
        let next = plan.due.max(now).iso_seconds();
        out.say("revisit", "later", format!("`watch` and `refresh` visit it again from {next} on"));
    }
    let due = match &row {
        Some(row) if row.in_queue() => {
            let ready = host.as_ref().map_or(now, |h| h.not_before).max(now);
            Some(row.due.unwrap_or(ready).max(ready))
        }
        _ => None,
    };
    let state = match &row {
        Some(row) => state_words(row, last.as_deref()),
        None if jobs.is_empty() => "never met: there is no job yet".to_owned(),
        None if excluded => "never met; its site is excluded".to_owned(),
        None if forbidden => "never met; robots.txt would forbid it".to_owned(),
        None if trapped => "never met; it belongs to a series that is paused".to_owned(),
        None if wanted => "never met; a link to it would be followed".to_owned(),
        None => "never met; a link to it would not be followed".to_owned(),
    };
    out.0.push(json!({ "url": url.as_str(), "state": state, "due": due.map(|t| t.to_string()) }));
    Ok(out.0)
}

fn state_words(row: &UrlRow, last: Option<&str>) -> String {
    match row.state {
        UrlState::Queued if row.due.is_some() => "waiting to be tried again".to_owned(),
        UrlState::Queued => "queued".to_owned(),
        UrlState::Skipped(reason) => format!("skipped: {}", reason.name()),
        UrlState::Failed => match last {
            Some(last) => format!("failed: {last}"),
            None => "failed".to_owned(),
        },
        state => state.name().to_owned(),
    }
}

/// Scope, ending, filter and depth of every job; says whether one of them would take the URL.
fn scope_rows(out: &mut Saying, url: &CanonicalUrl, row: Option<&UrlRow>, jobs: &[JobRow]) -> bool {
    let suffixes = Suffixes::built_in();
    let mut wanted = false;
    let open = |job: &&JobRow| job.state != JobState::Dropped;
    for JobRow { job, .. } in jobs.iter().filter(open) {
        let name = |rule: &str| format!("{rule} (job {})", job.id.0);
        let met = row.filter(|row| row.jobs.contains(&job.id));
        let depth = met.map_or(0, |row| row.depth);
        if job.seeds.iter().any(|seed| job.query.apply(seed.clone()) == *url) {
            out.say(name("scope"), "yes", "it is a start URL");
        } else if met.is_some_and(|row| row.role == Role::Sitemap) {
            out.say(name("scope"), "yes", "robots.txt names it as a sitemap");
        } else if job.scope.contains(url, &suffixes) {
            out.say(name("scope"), "yes", scope_words(job));
        } else {
            out.say(name("scope"), "no", scope_words(job));
            continue;
        }
        if job.news && met.is_none() {
            let how = "it is asked for where a front page or a feed shows it as an article";
            out.say(name("news"), "maybe", how);
        }
        match admit(job, &suffixes, url, depth) {
            Admission::Skip(SkipReason::Extension) => {
                let ending = url.extension().unwrap_or_default();
                out.say(name("ending"), "no", format!(".{ending} files are not requested"));
                continue;
            }
            _ => out.say(name("ending"), "yes", "its file-name ending is not one of those skipped"),
        }
        match explained(job, url, &suffixes) {
            Ok(None) => {}
            Ok(Some(why)) => {
                let passes = why.verdict != Verdict::No || is_start(job, url);
                let start = if why.verdict == Verdict::No && passes {
                    "; start URLs are asked for in spite of that"
                } else {
                    ""
                };
                let words = format!("{} ({}){start}", why.detail, why.rule());
                out.say(name("filter"), why.verdict.name(), words);
                if !passes {
                    continue;
                }
            }
            Err(e) => out.say(name("filter"), "no", e.to_string()),
        }
        match (job.limits.depth, met) {
            (Some(most), Some(_)) if depth > most => {
                let words = format!("{}; {most} are followed", links(depth));
                out.say(name("depth"), "no", words);
                continue;
            }
            (_, Some(_)) => {
                out.say(name("depth"), "yes", links(depth));
            }
            (Some(most), None) => {
                out.say(name("depth"), "-", format!("not met yet; {most} links are followed"));
            }
            (None, None) => {}
        }
        wanted = true;
    }
    wanted
}

fn links(depth: u16) -> String {
    match depth {
        1 => "1 link from a start URL".to_owned(),
        n => format!("{n} links from a start URL"),
    }
}

fn scope_words(job: &Job) -> String {
    let names: Vec<&str> = job.scope.names.iter().map(|n| &**n).take(5).collect();
    let more = if job.scope.names.len() > 5 { ", …" } else { "" };
    let what = match job.scope.rule {
        ScopeRule::Host => "hosts",
        ScopeRule::Domain => "domains",
        ScopeRule::Prefix => "URLs that begin with",
        ScopeRule::List => "the start URLs alone",
        ScopeRule::Any => "any URL",
    };
    format!("the scope is {what} {}{more}", names.join(", ")).trim_end().to_owned()
}

/// Whether somebody excluded the URL's site; nothing is said where nobody did.
fn excluded_row(
    out: &mut Saying,
    url: &CanonicalUrl,
    dir: &DataDir,
    store: &dyn Store,
) -> Result<bool, StoreError> {
    let exclusions = sites::exclusions(store, dir.suffixes())?;
    let Some((name, since)) = exclusions.covering(url) else { return Ok(false) };
    out.say("exclusion", "no", format!("{name} was {}", sites::excluded_words(name, since)));
    Ok(true)
}

/// Whether the URL belongs to a series without end; nothing is said where it does not.
fn trap_row(
    out: &mut Saying,
    url: &CanonicalUrl,
    row: Option<&UrlRow>,
    dir: &DataDir,
    store: &dyn Store,
) -> Result<bool, StoreError> {
    let traps = Traps::new(0, store.traps()?);
    let refused = row.is_some_and(|row| row.state == UrlState::Skipped(SkipReason::Trap));
    let line = row.and_then(|row| row.place).map_or(0, |place| place.line());
    let line = if refused { u8::MAX } else { line };
    let Some((name, trap)) = traps.paused_by(url, dir.suffixes(), line) else { return Ok(false) };
    let words = trap_words(trap);
    let undo = format!("`argiope sites forgive '{name}'` asks for it after all");
    out.say("trap", "no", format!("{name} is paused since {}: {words}; {undo}", trap.since));
    Ok(true)
}

/// What robots.txt says; whether it forbids the URL.
fn robots_row(
    out: &mut Saying,
    url: &CanonicalUrl,
    key: UrlKey,
    store: &dyn Store,
    settings: &EngineSettings,
) -> Result<bool, StoreError> {
    if !settings.robots {
        out.say("robots", "-", "robots.txt is ignored (crawl.robots)");
        return Ok(false);
    }
    let Some(file) = store.robots(&[key.host])?.pop().flatten() else {
        out.say(
            "robots",
            "-",
            "robots.txt of this host has not been read yet; that comes before its first page",
        );
        return Ok(false);
    };
    if !(200..300).contains(&file.outcome.status) {
        let words =
            format!("no rules: robots.txt answered {} on {}", file.outcome.status, file.asked);
        out.say("robots", "yes", words);
        return Ok(false);
    }
    let robots = Robots::parse(&file.body, settings.agent());
    let verdict = robots.verdict(url.path_and_query());
    let words = match verdict.rule {
        Some(rule) => {
            let word = if rule.allow { "Allow" } else { "Disallow" };
            format!("line {}: {word}: {} (read {})", rule.line, rule.pattern, file.asked)
        }
        None => format!("no rule speaks of it (read {})", file.asked),
    };
    out.say("robots", if verdict.allowed { "yes" } else { "no" }, words);
    Ok(!verdict.allowed)
}

fn limit_rows(out: &mut Saying, row: Option<&UrlRow>, jobs: &[JobRow]) {
    for JobRow { job, state, counters } in jobs {
        let concerns = row.is_none_or(|row| row.jobs.contains(&job.id));
        if !concerns || *state == JobState::Dropped {
            continue;
        }
        let done = counters.fetched + counters.unchanged;
        let rule = format!("limits (job {})", job.id.0);
        match (state, job.limits.pages) {
            (JobState::Paused, _) => {
                out.say(rule, "no", "the job is paused; `argiope jobs resume` goes on")
            }
            (_, Some(most)) if done >= most => {
                out.say(rule, "no", format!("{done} of {most} pages are fetched"));
            }
            (JobState::Limited, _) => out.say(rule, "no", "a limit of the job is reached"),
            (_, Some(most)) => out.say(rule, "yes", format!("{done} of {most} pages are fetched")),
            _ => {}
        }
    }
}

/// What the site of a URL may take of a crawl without borders.
fn budget_row(out: &mut Saying, url: &CanonicalUrl, dir: &DataDir, now: Time) {
    let budgets = judged_budgets(dir.path(), now);
    let site = dir.suffixes().site_key(url.host());
    let Some(budget) = budgets.and_then(|all| all.of(site)) else { return };
    let linking = match budget.linking {
        1 => "1 site links to it".to_owned(),
        n => format!("{n} sites link to it"),
    };
    let share = 100.0 * budget.share;
    let words = format!("{} requests; {linking}; its share is {share:.3} %", budget.requests);
    match sites::over_words(Some(&budget)) {
        Some(over) => out.say("budget", "later", format!("{over} ({words})")),
        None => out.say("budget", "yes", words),
    }
}

/// What a URL promises to a job that is about something, part by part, or how much it was about it.
fn topic_row(
    out: &mut Saying,
    row: &UrlRow,
    key: UrlKey,
    job: &Job,
    dir: &DataDir,
    live: Option<&Live>,
) {
    let running = live.and_then(|live| live.topics().get(&job.id).cloned());
    let topic = running.or_else(|| kept_topic(dir.path(), job.id));
    if row.state == UrlState::Fetched {
        if let Some(relevance) = topic.and_then(|topic| topic.relevance(key)) {
            let words = format!("it is about what is wanted by {:.0} %", 100.0 * relevance);
            out.say("topic", if relevance >= 0.5 { "yes" } else { "no" }, words);
        }
        return;
    }
    let Some(place) = row.place.filter(|_| !row.expand && !row.is_again()) else { return };
    let Some(score) = place.score() else {
        let words = "it is held back until everything else of its host is done";
        return out.say("score", "later", words);
    };
    let mut words = format!("{} steps below the best", score.level());
    match topic.and_then(|topic| topic.parts(key)) {
        Some(parts) => {
            let sum: f32 = parts.iter().map(|(_, adds)| adds).sum();
            let chance = 100.0 / (1.0 + (-sum).exp());
            words.push_str(&format!("; a chance of {chance:.0} % to be about what is wanted"));
            let telling = parts.iter().filter(|(_, adds)| adds.abs() >= 0.005);
            let telling: Vec<String> =
                telling.map(|(part, adds)| format!("{} {adds:+.2}", part.name())).collect();
            words.push_str(&format!(": {}", telling.join(", ")));
        }
        None => words.push_str("; what that was made of is no longer remembered"),
    }
    words.push_str(&format!("; found by visit {}", page_of(Order::Best, place)));
    out.say("score", "yes", words);
}

/// What a queued URL of a job that goes best-first is worth, and what that is made of.
fn score_row(
    out: &mut Saying,
    row: &UrlRow,
    key: UrlKey,
    jobs: &[JobRow],
    (links, live): (&Backlinks, Option<&Live>),
) {
    let best = jobs.iter().any(|j| j.job.id == row.job() && j.job.order == Order::Best);
    let Some(place) = row.place.filter(|_| best && !row.expand && !row.is_again()) else { return };
    let Some(score) = place.score() else {
        let words = "it is held back until everything else of its host is done";
        return out.say("score", "later", words);
    };
    let mut words = match score.level() {
        0 => "as much as a start URL".to_owned(),
        level => format!("a start URL halved {level} times"),
    };
    if let Some(merit) = live.and_then(|live| live.merits().of(row.job(), key)) {
        let Merit { cash, links, .. } = merit;
        words.push_str(&format!("; cash {cash:.3e}, times links {links}"));
    }
    let halvings = live.map_or(0, |live| live.merits().halvings(key.host));
    if halvings > 0 {
        words.push_str(&format!("; halved {halvings} times: its host seldom has a page"));
    }
    let counts = links.view().and_then(|view| view.counts(&[key]));
    if let Some(counts) = counts.ok().and_then(|counts| counts.first().copied()) {
        let Counts { backlinks, sites } = counts;
        let counted = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let (pages, sites) = (counted(backlinks, "page"), counted(sites, "site"));
        words.push_str(&format!("; linked from {pages} of {sites}"));
    }
    words.push_str(&format!("; found by visit {}", page_of(Order::Best, place)));
    out.say("score", "yes", words);
}

fn host_rows(
    out: &mut Saying,
    host: Option<&HostRow>,
    key: UrlKey,
    store: &dyn Store,
    settings: &EngineSettings,
    excluded: bool,
    (by_hand, now): (Option<Duration>, Time),
) -> Result<(), StoreError> {
    let Some(host) = host else {
        out.say("host", "-", "no URL of this host has been met");
        return Ok(());
    };
    let file = store.robots(&[key.host])?.pop().flatten();
    let (_, named) = sites::robots_words(file.as_ref(), settings.agent());
    let delay = sites::delay(host, by_hand, named, settings).as_secs_f64();
    let state = sites::state(host, excluded, now);
    if excluded {
        out.say("host", "no", "excluded; it is asked for nothing");
        return Ok(());
    }
    let mut words = format!("{state}; asked every {delay} s at most");
    if by_hand.is_some() {
        words.push_str(" (set by hand)");
    } else if named.is_some_and(|named| named > settings.delay) {
        words.push_str(" (its robots.txt names that delay)");
    }
    if let Some(since) = host.temper.failing_since {
        words.push_str(&format!(
            "; no good answer to {} since {since}",
            sites::requests(host.temper.failures)
        ));
    }
    if host.not_before > now {
        words.push_str(&format!("; not before {}", host.not_before));
    }
    let verdict = match state {
        "given up" => "no",
        _ if host.not_before > now => "wait",
        _ => "yes",
    };
    out.say("host", verdict, words);
    Ok(())
}

fn last_attempt(
    out: &mut Saying,
    row: Option<&UrlRow>,
    key: UrlKey,
    store: &dyn Store,
) -> Result<Option<String>, StoreError> {
    let Some(row) = row else { return Ok(None) };
    let captures = store.captures(key)?;
    let Some(last) = captures.last() else { return Ok(None) };
    let verdict = match last.outcome.kind {
        OutcomeKind::Fetched | OutcomeKind::NotModified | OutcomeKind::Redirect => "yes",
        _ => "no",
    };
    let tries =
        if row.attempts > 1 { format!("; {} tries in a row", row.attempts) } else { String::new() };
    out.say("last visit", verdict, format!("{}: {}{tries}", last.time, last.outcome));
    Ok(Some(last.outcome.to_string()))
}

fn queue_row(
    out: &mut Saying,
    row: Option<&UrlRow>,
    key: UrlKey,
    host: Option<&HostRow>,
    store: &dyn Store,
) -> Result<(), StoreError> {
    let Some(row) = row else { return Ok(()) };
    let all = host.map_or(0, |h| h.ready);
    match (row.place, row.due) {
        (Some(_), Some(due)) => out.say("queue", "wait", format!("it is tried again at {due}")),
        (Some(place), None) => {
            let before = store.ready_before(key.host, place, COUNTED)?;
            let more = if before == COUNTED { "more than " } else { "" };
            out.say(
                "queue",
                "yes",
                format!("{more}{before} of {all} URLs of its host come before it"),
            );
        }
        (None, _) if row.state == UrlState::Forgotten => out.say(
            "forgotten",
            "no",
            "it was removed on request; only a new crawl that starts at it fetches it again",
        ),
        (None, _) => out.say("queue", "-", "it is not queued"),
    }
    Ok(())
}
