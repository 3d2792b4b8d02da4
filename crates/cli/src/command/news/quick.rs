//! `news quick`: the headlines of a site's front page, at once.
//!
//! * [`quick_look`] is the look itself, for the command and for the page. It stores nothing.
//! * What stands on the page is found by its structure; a recipe of the site, where there is one, has the last
//!   word on what is an article. Where a page hardly shows headlines but names a feed, that is read instead.

use super::follow::{self, site_of};
use super::look::{Looker, NoPage, Page};
use crate::args::{Format, Global};
use crate::args_news::Quick;
use crate::command::serve::open_browser;
use crate::command::{load, now, print_json, wiring};
use crate::config::{Flags, shipped_recipes};
use crate::{Usage, output};
use anyhow::Context;
use argiope_crawl::EngineSettings;
use argiope_model::{CanonicalUrl, LinkKind, Suffixes, Time};
use argiope_news::{
    Headline, Learned, NoArticle, Recipe, Sites, common_recipe, feed_links, headlines,
    is_article_url, subject_of,
};
use argiope_parse::{Feed, Outline, parse_feed, parse_html, parse_outline, resolve};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// A page with fewer headlines is none; its feed says more.
const FEW: usize = 3;
/// Pages that lead on to the next by themselves.
const MAX_LEADS: usize = 3;
/// A page with more bytes than this is meant to be read.
const LEAD_BYTES: usize = 16_000;
/// Characters of a summary.
const SUMMARY: usize = 300;
/// A look takes no longer, however many pages lead on to others.
const WHOLE: Duration = Duration::from_secs(25);
/// A terminal with fewer columns has no room for a title in one line.
const NARROW: usize = 60;
/// The shortest link that a recipe makes a headline, in characters.
const SHORTEST: usize = 6;

static SUFFIXES: LazyLock<Suffixes> = LazyLock::new(Suffixes::built_in);

/// What a look has found.
pub struct Looked {
    /// A row each, as the page and programs get them.
    pub rows: Vec<Value>,
    /// The page that was read, behind all redirects.
    pub url: CanonicalUrl,
    /// What the site is called.
    pub name: String,
    /// Whether it is a feed that was read.
    pub feed: bool,
    /// The page whose feed was read since it shows hardly any headlines.
    pub instead_of: Option<CanonicalUrl>,
    /// From the page's arrival to the rows.
    pub took: Duration,
}

/// Looks at a site: by its name, or by the URL of a front page or feed. Blocks.
pub fn quick_look(
    settings: &EngineSettings,
    followed: &[Recipe],
    site: &str,
) -> anyhow::Result<Looked> {
    let wanted = follow::wanted(site)?;
    let recipes = Sites::new([followed, shipped_recipes()].concat());
    let recipe = recipes.of(&wanted.url);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start a thread")?;
    let mut looker = Looker::new(settings)?;
    let all = async {
        let page = arrive(&mut looker, &fronts(&wanted, site, recipe)).await?;
        let page = led_on(&mut looker, page).await?;
        look_at(&mut looker, page, &recipes).await
    };
    runtime.block_on(async {
        match tokio::time::timeout(WHOLE, all).await {
            Ok(looked) => looked,
            Err(_) => anyhow::bail!(
                "{} has not shown its headlines within {} seconds; try again later, or name its front page or a feed",
                wanted.url.host(),
                WHOLE.as_secs()
            ),
        }
    })
}

/// The URLs to try: those of the recipe, else what browsers make of a name.
fn fronts(wanted: &follow::Wanted, said: &str, recipe: Option<&Recipe>) -> Vec<CanonicalUrl> {
    if said.contains("://") {
        return vec![wanted.url.clone()];
    }
    let rest = wanted.url.as_str().split_once("://").map_or("", |(_, rest)| rest);
    let mut texts: Vec<String> = Vec::new();
    if wanted.bare {
        texts.extend(recipe.and_then(|recipe| recipe.front.first()).cloned());
    }
    // A name with a port, or of a server at home, is seldom one with TLS.
    let schemes = if wanted.url.is_https() { ["https", "http"] } else { ["http", "https"] };
    for scheme in schemes {
        texts.push(format!("{scheme}://{rest}"));
        let host = wanted.url.host();
        if host == wanted.site && host.contains('.') && host.parse::<std::net::IpAddr>().is_err() {
            texts.push(format!("{scheme}://www.{rest}"));
        }
    }
    let mut urls: Vec<CanonicalUrl> = Vec::new();
    for url in texts.iter().filter_map(|text| CanonicalUrl::parse(text).ok()) {
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    urls
}

/// The first page that can be had; else why the first could not.
async fn arrive(looker: &mut Looker, urls: &[CanonicalUrl]) -> Result<Page, NoPage> {
    let mut first: Option<NoPage> = None;
    let mut answered: Vec<&str> = Vec::new();
    for url in urls {
        // Whoever has answered will not say more on another port.
        if answered.contains(&url.host()) {
            continue;
        }
        let no = match looker.page(url).await {
            Ok(page) => return Ok(page),
            // The site, or we ourselves, have said no.
            Err(no @ (NoPage::Forbidden(_) | NoPage::Private(_))) => return Err(no),
            Err(no) => no,
        };
        let has_answered = matches!(no, NoPage::Answered(_));
        if has_answered {
            answered.push(url.host());
        }
        // An answer says more than that there was none.
        if first.is_none() || has_answered && matches!(first, Some(NoPage::Failed(_))) {
            first = Some(no);
        }
    }
    Err(first.unwrap_or_else(|| NoPage::Failed("there is nothing to ask for".to_owned())))
}

async fn look_at(looker: &mut Looker, page: Page, recipes: &Sites) -> anyhow::Result<Looked> {
    if let Some(feed) = feed_of(&page) {
        return of_feed(&page, &feed, recipes);
    }
    if !is_html(&page) {
        anyhow::bail!(
            "{} is {}, not a page with headlines and no feed",
            page.url,
            page.media.essence
        );
    }
    let outline = parse_outline(&page.bytes, page.charset());
    let recipe = recipes.of(&page.url);
    let found = found_on(&outline, &page.url, recipe);
    if found.len() < FEW {
        let feeds = feed_links(&outline, &page.url);
        if let Some(link) = feeds.iter().find(|link| link.named)
            && let Ok(answer) = looker.page(&link.url).await
            && let Some(feed) = feed_of(&answer)
            && feed.entries.len() > found.len()
        {
            let looked = of_feed(&answer, &feed, recipes)?;
            return Ok(Looked { instead_of: Some(page.url), ..looked });
        }
    }
    if found.is_empty() {
        anyhow::bail!(
            "no headlines were found on {}; `argiope news sites test --fetch {}` says what is read there",
            page.url,
            page.url
        );
    }
    let known = Known::of(recipe, &page.url);
    let rows = found.iter().enumerate().map(|(n, headline)| known.row(n + 1, headline)).collect();
    let name = recipe.map_or_else(|| site_of(&page.url).to_owned(), |r| r.name.clone());
    Ok(Looked {
        rows,
        name,
        feed: false,
        instead_of: None,
        took: page.arrived.elapsed(),
        url: page.url,
    })
}

/// Whether a page is to be read as one.
pub fn is_html(page: &Page) -> bool {
    matches!(page.media.essence.as_str(), "text/html" | "application/xhtml+xml")
}

/// The feed that a page is.
pub fn feed_of(page: &Page) -> Option<Feed> {
    if is_html(page) {
        return None;
    }
    parse_feed(&page.bytes, page.content_type.as_deref(), Some(&page.url))
}

/// The page that a page leads to by itself, as browsers follow it: `<meta http-equiv=refresh>`.
async fn led_on(looker: &mut Looker, mut page: Page) -> Result<Page, NoPage> {
    for _ in 0..MAX_LEADS {
        // A page that has something to read loads itself anew now and then.
        if !is_html(&page) || page.bytes.len() > LEAD_BYTES {
            break;
        }
        let links = resolve(&parse_html(&page.bytes, page.charset()), &page.url).links;
        let to = links.into_iter().find(|link| link.kind == LinkKind::Refresh);
        let Some(to) = to.filter(|link| link.url != page.url) else { break };
        page = looker.page(&to.url).await?;
    }
    Ok(page)
}

fn of_feed(page: &Page, feed: &Feed, recipes: &Sites) -> anyhow::Result<Looked> {
    let entries: Vec<Headline> = feed.entries.iter().filter_map(of_entry).collect();
    if entries.is_empty() {
        anyhow::bail!("the feed {} has no entries with a title and a link", page.url);
    }
    let row = |(n, headline): (usize, &Headline)| {
        let recipe = recipes.of(&headline.url);
        Known::of(recipe, &headline.url).row(n + 1, headline)
    };
    let rows = entries.iter().enumerate().map(row).collect();
    let name = match feed.title.as_str() {
        "" => site_of(&page.url).to_owned(),
        title => title.to_owned(),
    };
    Ok(Looked {
        rows,
        name,
        feed: true,
        instead_of: None,
        took: page.arrived.elapsed(),
        url: page.url.clone(),
    })
}

/// An entry of a feed as a headline.
fn of_entry(entry: &argiope_parse::FeedEntry) -> Option<Headline> {
    let url = entry.link.clone()?;
    let title = match entry.title.as_str() {
        "" => output::cut(&entry.summary, 90),
        title => title.to_owned(),
    };
    let time = entry.published.or(entry.updated).map(|time| time.time);
    (!title.is_empty()).then(|| Headline {
        url,
        title,
        section: entry.categories.first().cloned().unwrap_or_default(),
        summary: output::cut(&entry.summary, SUMMARY),
        picture: entry.picture.clone(),
        shown_time: String::new(),
        time,
        score: 0.0,
    })
}

/// The headlines of a page: found by its structure. What fits a pattern of the recipe is one, what the recipe leaves out is
/// none; what it does not know counts where its URL looks like that of an article.
pub fn found_on(outline: &Outline, url: &CanonicalUrl, recipe: Option<&Recipe>) -> Vec<Headline> {
    let mut found = headlines(outline, url, &SUFFIXES, &Learned::default(), now());
    let Some(recipe) = recipe.filter(|recipe| !recipe.patterns.is_empty()) else { return found };
    let base =
        outline.inside(0, &["base"]).find_map(|n| url.join(outline.attribute(n, "href")?).ok());
    let base = base.unwrap_or_else(|| url.clone());
    let counts = |headline: &&Headline| match recipe.why_no_article(&headline.url) {
        None => true,
        Some(NoArticle::NoPattern) => recipe.is_for(&headline.url) && is_article_url(&headline.url),
        Some(_) => false,
    };
    let mut articles: Vec<Headline> = found.iter().filter(counts).cloned().collect();
    let mut known: HashSet<CanonicalUrl> = articles.iter().map(|one| one.url.clone()).collect();
    for node in outline.inside(0, &["a"]) {
        let to = outline.attribute(node, "href").and_then(|href| base.join(href.trim()).ok());
        let Some(to) = to.filter(|to| recipe.is_article(to)) else { continue };
        let title = outline.line(node, 400, |_| false);
        if title.chars().count() >= SHORTEST && known.insert(to.clone()) {
            articles.push(Headline {
                url: to,
                title,
                section: String::new(),
                summary: String::new(),
                picture: None,
                shown_time: String::new(),
                time: None,
                score: 0.0,
            });
        }
    }
    // A recipe that knows none of them is out of date: better what the page itself says.
    if !articles.is_empty() {
        found = articles;
    }
    found
}

/// What is known of the URLs of a host.
struct Known<'r> {
    recipe: Option<&'r Recipe>,
    common: Recipe,
}

impl<'r> Known<'r> {
    fn of(recipe: Option<&'r Recipe>, url: &CanonicalUrl) -> Self {
        Known { recipe, common: common_recipe(site_of(url)) }
    }

    fn row(&self, n: usize, headline: &Headline) -> Value {
        let own = self.recipe.filter(|recipe| recipe.is_for(&headline.url));
        let by = own.filter(|recipe| !recipe.patterns.is_empty()).unwrap_or(&self.common);
        let parts = by.parts(&headline.url).unwrap_or_default();
        // The heading over a list says more than a part of a URL that nobody knows.
        let by_url = own.unwrap_or(by).subject(&parts);
        let known = by_url.filter(|subject| own.is_some() || subject_of(subject).is_some());
        let subject = known.or_else(|| subject_of(&headline.section)).or(by_url);
        let shown = match (&*headline.shown_time, headline.time, parts.date) {
            ("", None, Some(day)) => format!("{}-{:02}-{:02}", day.year, day.month, day.day),
            (shown, ..) => shown.to_owned(),
        };
        let section = match &*headline.section {
            "" => parts.section.as_deref(),
            section => Some(section),
        };
        json!({
            "n": n,
            "title": plain(&headline.title),
            "url": headline.url.as_str(),
            "summary": output::cut(&plain(&headline.summary), SUMMARY),
            "section": section.map(plain),
            "subject": subject,
            "picture": headline.picture.as_ref().map(CanonicalUrl::as_str),
            "time": headline.time.map(Time::iso_seconds),
            "shown_time": plain(&shown),
        })
    }
}

/// A text from a page, harmless on a terminal and in one line.
pub fn plain(text: &str) -> String {
    output::clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn quick(global: &Global, args: &Quick) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let private = [("fetch.allow_private", "true".to_owned(), "--allow-private")];
    let own = if args.allow_private { &private[..] } else { &[] };
    let settings = load(global, Flags { own, set: &args.set })?.settings;
    let followed = follow::read(global).unwrap_or_else(|e| {
        output::talk(format!("{e}\nThe recipes of that file are left out."));
        Vec::new()
    });
    let is_read = output::is_shown() && global.format == Format::Text;
    if is_read {
        output::talk(format!("Asking {} …", plain(args.site.trim())));
    }
    let looked = quick_look(&wiring::engine_settings(&settings), &followed, &args.site)?;
    let mut rows = looked.rows;
    if let Some(wanted) = &args.subject {
        let wanted = wanted.trim().to_lowercase();
        let wanted = subject_of(&wanted).unwrap_or(&wanted);
        let subjects: BTreeSet<String> =
            rows.iter().filter_map(|row| Some(row["subject"].as_str()?.to_owned())).collect();
        rows.retain(|row| row["subject"] == *wanted);
        if rows.is_empty() {
            anyhow::bail!(
                "{} shows no headlines on {wanted} now{}",
                looked.name,
                others(&subjects)
            );
        }
        (1..).zip(&mut rows).for_each(|(n, row)| row["n"] = json!(n));
    }
    let all = rows.len();
    let mut opened = true;
    if let Some(n) = args.open {
        let Some(row) = n.checked_sub(1).and_then(|at| rows.get(at)) else {
            return Err(Usage(format!("--open {n}: there are the numbers 1 to {all}")).into());
        };
        opened = open(row);
        rows = vec![row.clone()];
    }
    rows.truncate(args.limit.unwrap_or(all));
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::from(u8::from(!opened)));
    }
    let is_asked = is_read && args.open.is_none() && std::io::stdin().is_terminal();
    let style = Style { colour: output::in_colour(), width: output::width(), numbered: is_asked };
    if args.open.is_some() {
        output::print_painted(rows.iter().flat_map(|row| style.lines(row)))?;
        return Ok(ExitCode::from(u8::from(!opened)));
    }
    if let Some(page) = &looked.instead_of {
        output::talk(format!("{page} shows hardly any headlines; these are from its feed."));
    }
    let from = if looked.feed { "the feed " } else { "" };
    let some = match rows.len() {
        n if n < all => format!(" ({n} shown; --limit {all} shows all)"),
        _ => String::new(),
    };
    output::talk(format!(
        "{}{some} from {from}{}, in {} ({} ms of it after the page had come).",
        output::plural(all as u64, "headline", "headlines"),
        looked.url,
        output::seconds(begun.elapsed().as_secs_f64()),
        looked.took.as_millis().max(1)
    ));
    if is_asked {
        return choose(&rows, &style);
    }
    output::print_painted(rows.iter().flat_map(|row| style.lines(row)))?;
    Ok(ExitCode::SUCCESS)
}

/// The subjects that there are, as the end of a sentence.
fn others(subjects: &BTreeSet<String>) -> String {
    let all: Vec<&str> = subjects.iter().map(String::as_str).collect();
    if all.is_empty() { String::new() } else { format!("; it has some on {}", all.join(", ")) }
}

/// How many rows fit into so many lines, one at least.
fn fitting(rows: &[Value], style: &Style, lines: usize) -> usize {
    let mut left = lines;
    let bare = Style { colour: false, ..*style };
    let fits = |row: &&Value| {
        let rows_of = |line: &String| output::wide(line).div_ceil(style.width.max(1)).max(1);
        let needs: usize = bare.lines(row).iter().map(rows_of).sum();
        let fits = needs <= left;
        left = left.saturating_sub(needs);
        fits
    };
    rows.iter().take_while(fits).count().clamp(1, rows.len().max(1))
}

/// Shows as many headlines as there is room for, the first ones first, and asks for numbers until there is none.
fn choose(rows: &[Value], style: &Style) -> anyhow::Result<ExitCode> {
    let mut shown = 0;
    let mut more = true;
    loop {
        if more && shown < rows.len() {
            let next = shown + fitting(&rows[shown..], style, output::height().saturating_sub(3));
            let next = next.min(rows.len());
            output::print_painted(rows[shown..next].iter().flat_map(|row| style.lines(row)))?;
            shown = next;
        }
        more = false;
        let is_rest = shown < rows.len();
        output::ask(&match is_rest {
            true => {
                format!("{shown} of {}. Number to open, Enter for more, q to end: ", rows.len())
            }
            false => "Number to open, Enter or q to end: ".to_owned(),
        });
        let mut line = String::new();
        if std::io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        if is_rest && line.trim().is_empty() {
            more = true;
            continue;
        }
        if is_end(&line) {
            return Ok(ExitCode::SUCCESS);
        }
        let n = line.trim().parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        match n.and_then(|at| rows.get(at)) {
            Some(row) if open(row) => {
                output::talk(format!("Opened: {}", row["title"].as_str().unwrap_or_default()));
            }
            Some(_) => {}
            None => output::talk(format!("There are the numbers 1 to {}.", rows.len())),
        }
    }
}

/// Whether somebody has had enough.
fn is_end(line: &str) -> bool {
    ["", "q", "quit", "exit"].contains(&&*line.trim().to_lowercase())
}

/// Opens an article in the browser, or says where it is; whether it was opened.
fn open(row: &Value) -> bool {
    let url = row["url"].as_str().unwrap_or_default();
    let opened = open_browser(url);
    if !opened {
        output::talk(format!("There is no browser here that could be opened; it is {url}"));
    }
    opened
}

/// How headlines are shown.
struct Style {
    colour: bool,
    width: usize,
    /// Whether a number opens them, so that their addresses need not be whole.
    numbered: bool,
}

impl Style {
    fn lines(&self, row: &Value) -> Vec<String> {
        let text = |name: &str| row[name].as_str().unwrap_or_default();
        let paint = |style: output::Style, text: String| match self.colour {
            true => output::paint(style, &text),
            false => text,
        };
        let room = self.width.saturating_sub(5).max(20);
        let cut = |text: &str| output::cut_wide(text, room);
        // Where there is little room, a title takes more lines; each begins below the first.
        let titles = match self.width < NARROW {
            true => output::wrapped(text("title"), room),
            false => vec![cut(text("title"))],
        };
        let mut lines = Vec::new();
        for (n, title) in titles.into_iter().enumerate() {
            let before = match n {
                0 => format!("{:>3}. ", row["n"].to_string()),
                _ => " ".repeat(5),
            };
            lines.push(format!("{before}{}", paint(output::Style::Bold, title)));
        }
        if !text("summary").is_empty() {
            lines.push(format!("     {}", cut(text("summary"))));
        }
        let when = match (text("time"), text("shown_time")) {
            ("", shown) => shown.to_owned(),
            (time, _) => time.get(..16).unwrap_or(time).replace('T', " "),
        };
        let about = [when.as_str(), text("section")];
        let about: Vec<&str> = about.into_iter().filter(|text| !text.is_empty()).collect();
        if !about.is_empty() {
            lines.push(format!("     {}", paint(output::Style::Faint, cut(&about.join(" · ")))));
        }
        let url = if self.numbered { cut(text("url")) } else { text("url").to_owned() };
        lines.push(paint(output::Style::Faint, format!("     {url}")));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_hang_below_their_beginning_where_there_is_little_room() {
        let row = json!({ "n": 7, "title": "The second bridge over the Alder opens early", "url": "http://a.test/x" });
        let lines = Style { colour: false, width: 30, numbered: false }.lines(&row);
        assert_eq!(
            lines,
            ["  7. The second bridge over", "     the Alder opens early", "     http://a.test/x"]
        );
        assert_eq!(Style { colour: false, width: 80, numbered: true }.lines(&row).len(), 2);
        assert!(is_end("q\n") && is_end("\n") && !is_end("1\n"));
    }
}
