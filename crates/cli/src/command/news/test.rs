//! `news sites test`: what a URL means, and with --fetch what is read there.

use super::follow::{self, site_of};
use super::look::{Looker, Page};
use super::quick::{feed_of, found_on, is_html, plain};
use crate::args::{Format, Global};
use crate::args_news::TestUrl;
use crate::command::{load, now, print_json, wiring};
use crate::config::{Flags, recipes_of, shipped_recipes};
use crate::{Usage, output};
use anyhow::Context;
use argiope_model::{CanonicalUrl, Time, zone_text};
use argiope_news::{
    NoArticle, PageKind, Part, Recipe, Sites, UrlDate, UrlParts, common_recipe, feed_links,
    page_kind, place,
};
use argiope_parse::{
    Article, FeedTime, SitemapKind, When, is_sitemap, parse_article, parse_known_article,
    parse_outline, parse_sitemap,
};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

/// Headlines, entries and feeds that are shown.
const SHOWN: usize = 10;
/// Characters of a text that are shown.
const BEGINNING: usize = 240;

pub fn test(global: &Global, args: &TestUrl) -> anyhow::Result<ExitCode> {
    let url = follow::wanted(&args.url)?.url;
    let held = Held::find(global, args, &url)?;
    let mut row = held.row(&url);
    if args.fetch {
        let private = [("fetch.allow_private", "true".to_owned(), "--allow-private")];
        let own = if args.allow_private { &private[..] } else { &[] };
        let settings = load(global, Flags { own, set: &args.set })?.settings;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot start a thread")?;
        let mut looker = Looker::new(&wiring::engine_settings(&settings))?;
        let page = runtime.block_on(looker.page(&url))?;
        let shown = if global.format == Format::Json { usize::MAX } else { SHOWN };
        row["page"] = read(&page, &held, shown);
    }
    if global.format == Format::Json {
        print_json(&[row])?;
    } else {
        output::print(lines(&row))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The recipe that holds for a URL.
struct Held {
    /// Where it stands, for programs and for people.
    origin: (&'static str, String),
    recipe: Recipe,
}

impl Held {
    fn find(global: &Global, args: &TestUrl, url: &CanonicalUrl) -> anyhow::Result<Self> {
        if let Some(path) = &args.recipe {
            let recipes = recipes_of(path).map_err(|e| Usage(e.to_string()))?;
            let recipes =
                recipes.ok_or_else(|| Usage(format!("{}: no such file", path.display())))?;
            let Some(recipe) = Sites::new(recipes).of(url).cloned() else {
                let path = path.display();
                return Err(Usage(format!("{path} has no recipe for {}", place(url))).into());
            };
            return Ok(Held { origin: ("file", path.display().to_string()), recipe });
        }
        let followed = Sites::new(follow::read(global)?).of(url).cloned();
        let shipped = Sites::new(shipped_recipes().to_vec()).of(url).cloned();
        let is_shipped = |recipe: &Recipe| {
            shipped.as_ref().is_some_and(|shipped| shipped.patterns == recipe.patterns)
        };
        let common = |how: &str| Held {
            origin: ("common", format!("none; the forms that many sites share{how}")),
            recipe: common_recipe(site_of(url)),
        };
        Ok(match (followed, shipped.clone()) {
            (Some(own), _) if own.patterns.is_empty() => {
                let mut held = common(" (it is followed without patterns of its own)");
                held.recipe.subjects.clone_from(&own.subjects);
                held.recipe.name = own.name;
                held
            }
            (Some(own), _) if !is_shipped(&own) => {
                Held { origin: ("own", follow::file_of(global).display().to_string()), recipe: own }
            }
            (Some(recipe), _) | (None, Some(recipe)) => Held {
                origin: ("shipped", "the one that comes with the program".to_owned()),
                recipe,
            },
            (None, None) => common(" (it is not followed)"),
        })
    }

    fn row(&self, url: &CanonicalUrl) -> Value {
        let parts = self.recipe.parts(url);
        let (article, why) = self.article(url);
        json!({
            "url": url.as_str(),
            "site": site_of(url),
            "name": self.recipe.name,
            "recipe": self.origin.0,
            "where": self.origin.1,
            "parts": parts.as_ref().map(parts_row),
            "subject": parts.as_ref().and_then(|parts| self.recipe.subject(parts)),
            "article": article,
            "why": why,
        })
    }

    /// Whether a URL is that of an article, and why it is or not.
    fn article(&self, url: &CanonicalUrl) -> (Option<bool>, String) {
        let common = self.origin.0 == "common";
        match self.recipe.why_no_article(url) {
            None if common => (Some(true), "its form is that of an article, with a day".to_owned()),
            None => (Some(true), "a pattern fits, and it has all that is needed".to_owned()),
            Some(_) if common => {
                (None, "its form does not tell; what is on the page will".to_owned())
            }
            Some(NoArticle::NoPattern) => {
                let why = match self.recipe.patterns.len() {
                    1 => "its pattern does not fit".to_owned(),
                    n => format!("none of its {n} patterns fits"),
                };
                (Some(false), why)
            }
            Some(NoArticle::Without(part)) => {
                (Some(false), format!("it has no {}, which articles have", part.name()))
            }
            Some(NoArticle::With(word)) => {
                (Some(false), format!("it has {word} in it, which articles do not have"))
            }
        }
    }
}

fn parts_row(parts: &UrlParts) -> Value {
    let mut row = Map::new();
    let date = parts.date.map(|UrlDate { year, month, day }| format!("{year}-{month:02}-{day:02}"));
    for (name, value) in [
        ("section", &parts.section),
        ("scope", &parts.scope),
        ("subject", &parts.subject),
        ("date", &date),
        ("id", &parts.id),
        ("slug", &parts.slug),
    ] {
        if let Some(value) = value {
            row.insert(name.to_owned(), json!(value));
        }
    }
    Value::Object(row)
}

/// What is read on a page; so many headlines or entries of it are told.
fn read(page: &Page, held: &Held, shown: usize) -> Value {
    let mut row = json!({ "url": page.url.as_str(), "bytes": page.bytes.len() });
    if let Some(feed) = feed_of(page) {
        let when = |time: Option<FeedTime>| time.map(|time| time.time.iso_seconds());
        let entries = feed.entries.iter().take(shown).map(|entry| {
            json!({
                "title": plain(&entry.title),
                "url": entry.link.as_ref().map(CanonicalUrl::as_str),
                "time": when(entry.published.or(entry.updated)),
                "summary": plain(&entry.summary),
                "author": entry.author,
            })
        });
        row["entries"] = entries.collect();
        row["kind"] = json!("feed");
        row["title"] = json!(plain(&feed.title));
        row["language"] = json!(feed.language);
        row["count"] = json!(feed.entries.len());
        return row;
    }
    if !is_html(page) && is_sitemap(&page.bytes) {
        let list = parse_sitemap(&page.bytes, &page.url);
        let entries = list.urls.iter().take(shown).map(|entry| {
            let news = entry.news.as_deref();
            let time = news.and_then(|news| news.published).map(|time| time.time);
            json!({
                "title": news.map(|news| plain(&news.title)),
                "url": entry.url.as_str(),
                "time": time.or(entry.last_modified).map(Time::iso_seconds),
            })
        });
        row["entries"] = entries.collect();
        row["kind"] = match list.kind {
            SitemapKind::Index => json!("list of sitemaps"),
            _ => json!("sitemap"),
        };
        row["count"] = json!(list.urls.len());
        return row;
    }
    if !is_html(page) {
        row["kind"] = json!(page.media.essence);
        return row;
    }
    let outline = parse_outline(&page.bytes, page.charset());
    let kind = page_kind(&outline, &page.url);
    let by_recipe = held.article(&page.url).0;
    if kind == PageKind::Article || by_recipe == Some(true) {
        let article = parse_known_article(&page.bytes, page.charset(), Some(&page.url), now());
        row["kind"] = json!("article");
        tell(&mut row, &article);
        return row;
    }
    let recipe = Some(&held.recipe).filter(|_| held.origin.0 != "common");
    let found = found_on(&outline, &page.url, recipe);
    row["kind"] =
        json!(if kind == PageKind::Front || found.len() >= 3 { "front page" } else { "page" });
    tell(&mut row, &parse_article(&page.bytes, page.charset(), Some(&page.url), now()));
    row["count"] = json!(found.len());
    let shown = found.iter().take(shown).map(|headline| {
        let time = headline.time.map(Time::iso_seconds);
        json!({ "title": plain(&headline.title), "url": headline.url.as_str(), "time": time })
    });
    row["entries"] = shown.collect();
    let feeds = feed_links(&outline, &page.url);
    row["feeds"] = feeds.iter().take(SHOWN).map(|feed| json!(feed.url.as_str())).collect();
    row
}

/// What a page says of itself, an article or not.
fn tell(row: &mut Value, article: &Article) {
    // As the page says it: the day there is the day here.
    let when = |when: Option<When>| {
        when.map(|when| when.time.iso_in(when.offset_minutes.unwrap_or_default()))
    };
    let zone = article.published.and_then(|when| when.offset_minutes);
    row["title"] = json!(plain(&article.title));
    row["authors"] = json!(article.authors);
    row["published"] = json!(when(article.published));
    row["zone"] = json!(zone.map(zone_text));
    row["modified"] = json!(when(article.modified));
    row["picture"] = json!(article.picture);
    row["section"] = json!(article.section);
    row["language"] = json!(article.language);
    row["words"] = json!(article.text.split_whitespace().count());
    row["canonical"] = json!(article.canonical);
    row["summary"] = json!(plain(&article.summary));
    row["text"] = json!(article.text);
}

fn is_said(value: &Value) -> bool {
    !matches!(value, Value::Null) && value.as_array().is_none_or(|list| !list.is_empty())
}

/// All of it for people: a name and what there is, line by line.
fn lines(row: &Value) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        Value::Array(list) if list.is_empty() => "-".to_owned(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    };
    let line = |name: &str, value: &Value| format!("{name:<10} {}", text(value));
    let mut out = vec![line("url", &row["url"]), line("site", &row["site"])];
    out.push(line("recipe", &row["where"]));
    match row["parts"].as_object() {
        Some(parts) => {
            let named = Part::NAMES.iter().filter_map(|name| Some((name, parts.get(*name)?)));
            out.extend(named.map(|(name, value)| line(&format!("  {name}"), value)));
        }
        None => out.push(line("  parts", &json!("none: no form fits"))),
    }
    out.push(line("subject", &row["subject"]));
    let article = match row["article"].as_bool() {
        Some(true) => "yes",
        Some(false) => "no",
        None => "perhaps",
    };
    out.push(format!("{:<10} {article}: {}", "article", row["why"].as_str().unwrap_or_default()));
    let page = &row["page"];
    if page.is_null() {
        return out;
    }
    out.push(String::new());
    if page["url"] != row["url"] {
        out.push(line("it is at", &page["url"]));
    }
    for name in [
        "kind",
        "title",
        "authors",
        "published",
        "zone",
        "modified",
        "picture",
        "section",
        "language",
        "canonical",
        "words",
        "text",
        "feeds",
    ] {
        match page.get(name) {
            Some(Value::String(whole)) if name == "text" => {
                out.push(line(name, &json!(output::cut(&plain(whole), BEGINNING))));
            }
            // What is no article need not say who wrote it.
            Some(value) if page["kind"] != "article" && !is_said(value) => {}
            Some(value) => out.push(line(name, value)),
            None => {}
        }
    }
    if let Some(entries) = page["entries"].as_array() {
        let what = if page.get("text").is_some() { "headlines" } else { "entries" };
        out.push(line(what, &page["count"]));
        for entry in entries {
            if let Some(title) = entry["title"].as_str() {
                out.push(format!("  {}", output::cut(title, 90)));
            }
            out.push(format!("    {}", text(&entry["url"])));
        }
    }
    out
}
