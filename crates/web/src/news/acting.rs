//! What operators do with the news: read marks, rules, saved views, sites, collecting, and taking things back.
//!
//! * Every action is a POST, allowed by the guard before its fields are looked at; afterwards the browser is led back, and
//!   a sentence says what came of it.
//! * Invariants: where a browser is led is made here, from a view whose names we know; never taken from the request.

use super::cards::story_at;
use super::multipart::parts;
use super::narrow::View;
use super::notice::Undo;
use super::rules::ACTIONS;
use crate::app::{App, FollowAct, Shared};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::view::parts::short;
use crate::words::{list, plural};
use argiope_archive::warc_date;
use argiope_crawl::{NewsAct, Question, RuleAction, SavedView, WordRule};
use axum::body::Bytes;
use axum::extract::{Extension, Form, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::Value;

/// Characters of a site, of words, of a name.
const SITE: usize = 2_000;
const WORDS: usize = 300;
const NAME: usize = 100;
/// Stories that a saved view shows at once.
const SAVED: usize = 30;

/// Where a browser is led: a story, a page of arrangements, or a view.
fn back(view: &str, mark: &str) -> String {
    if let Some(number) = view.strip_prefix("story=").and_then(|n| n.parse::<u64>().ok()) {
        return format!("{}{mark}", story_at(number));
    }
    match view {
        "page=rules" => "/news/rules".to_owned(),
        "page=sites" => "/news/sites".to_owned(),
        view => format!("{}{mark}", View::read(view).at("/news")),
    }
}

/// Asks for a change; its row.
async fn done(app: &App, act: NewsAct) -> Result<Value, Failure> {
    Ok(app.ask(Question::NewsAct(act)).await?.into_iter().next().unwrap_or_default())
}

/// Text that came from a form: something, not too long, in one line.
fn line(text: &str, most: usize, what: &str) -> Result<String, Failure> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > most || text.contains(char::is_control) {
        return Err(Failure::wrong(format!("{what}, at most {most} characters")));
    }
    Ok(text.to_owned())
}

/// A site as it came from a form or a program.
pub(crate) fn name_of(site: &str) -> Result<String, Failure> {
    let site = line(site, SITE, "name a site, its front page or a feed: example.org")?;
    match site.starts_with('-') {
        true => Err(Failure::wrong("a site does not begin with a dash: example.org")),
        false => Ok(site),
    }
}

/// The name of a view.
pub(crate) fn view_name(name: &str) -> Result<String, Failure> {
    line(name, NAME, "give the view a name")
}

/// A rule as it came from a form or a program.
pub(crate) fn rule_of(action: &str, words: &str, site: &str) -> Result<WordRule, Failure> {
    let action = match action {
        "keep" => RuleAction::Keep,
        "hide" => RuleAction::Hide,
        "alert" => RuleAction::Alert,
        _ => {
            let names = ACTIONS.map(|(name, _)| name).join(", ");
            return Err(Failure::wrong(format!("a rule does one of these: {names}")));
        }
    };
    let words = line(words, WORDS, "write the words of the rule")?;
    let site = match site.trim() {
        "" => None,
        site => Some(name_of(site)?),
    };
    Ok(WordRule { id: 0, action, words, site })
}

#[derive(Deserialize)]
pub(super) struct Reading {
    #[serde(default)]
    csrf: String,
    kind: String,
    number: u64,
    read: String,
    #[serde(default)]
    view: String,
    /// Asked by a script, which shows it by itself.
    #[serde(default)]
    quiet: String,
}

pub(super) async fn read(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(of): Form<Reading>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &of.csrf)?;
    let (docs, stories) = match &*of.kind {
        "doc" => (vec![of.number], Vec::new()),
        "story" => (Vec::new(), vec![of.number]),
        _ => return Err(Failure::wrong("articles and stories can be read")),
    };
    let act = NewsAct::Read { docs, stories, read: of.read == "1" };
    done(&app, act).await?;
    if of.quiet == "1" {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(Redirect::to(&back(&of.view, &format!("#{}{}", of.kind, of.number))).into_response())
}

#[derive(Deserialize)]
pub(super) struct ReadingAll {
    #[serde(default)]
    csrf: String,
    #[serde(default)]
    view: String,
    /// When the page was made: what came in since was not seen.
    #[serde(default)]
    shown: String,
}

pub(super) async fn read_all(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(of): Form<ReadingAll>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &of.csrf)?;
    let now = super::now();
    let shown = warc_date(&of.shown).unwrap_or(now);
    let order = View::read(&of.view).from(None).order(now, 0)?;
    let row = done(&app, NewsAct::ReadAll { order, seen: Some(shown.0) }).await?;
    let docs: Vec<u64> = list(&row, "docs").iter().filter_map(Value::as_u64).collect();
    if docs.is_empty() {
        app.notices.say(Ok("There was nothing unread in this view.".to_owned()), None);
    } else {
        let many = plural(docs.len() as u64, "article is", "articles are");
        app.notices.say(Ok(format!("{many} now read.")), Some(Undo::Unread(docs)));
    }
    Ok(Redirect::to(&back(&of.view, "")).into_response())
}

#[derive(Deserialize)]
pub(super) struct OfRule {
    #[serde(default)]
    csrf: String,
    act: String,
    #[serde(default)]
    action: String,
    #[serde(default)]
    words: String,
    #[serde(default)]
    site: String,
    #[serde(default)]
    id: u32,
}

pub(super) async fn rules(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(of): Form<OfRule>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &of.csrf)?;
    let (told, undo) = match &*of.act {
        "add" => {
            let added = async {
                let rule = rule_of(&of.action, &of.words, &of.site)?;
                done(&app, NewsAct::AddRule(rule.clone())).await?;
                Ok(added_rule(&rule))
            };
            (in_words(added.await)?, None)
        }
        "remove" => {
            let removed = done(&app, NewsAct::RemoveRule(of.id)).await;
            let rule = removed.as_ref().ok().and_then(of_removed::<WordRule>);
            let said = |_| match &rule {
                Some(rule) => format!("The rule for {} is gone.", short(&rule.words, 100)),
                None => "The rule is gone.".to_owned(),
            };
            (in_words(removed.map(said))?, rule.clone().map(Undo::Rule))
        }
        _ => return Err(Failure::wrong("a rule can be added and removed")),
    };
    app.notices.say(told, undo);
    Ok(Redirect::to("/news/rules").into_response())
}

fn added_rule(rule: &WordRule) -> String {
    let words = short(&rule.words, 100);
    let place = rule.site.as_ref().map(|site| format!(" at {}", short(site, 60)));
    let place = place.unwrap_or_default();
    match rule.action {
        RuleAction::Keep => format!("News with {words}{place} are kept."),
        RuleAction::Hide => format!("News with {words}{place} are hidden from now on."),
        RuleAction::Alert => format!("News with {words}{place} raise an alert."),
    }
}

/// What was removed, as the answer tells it.
fn of_removed<T: for<'a> Deserialize<'a>>(row: &Value) -> Option<T> {
    serde_json::from_value(row["removed"].clone()).ok()
}

/// What went wrong by the hand of who asks is said on the page; everything else is a failure.
fn in_words(told: Result<String, Failure>) -> Result<Result<String, String>, Failure> {
    match told {
        Ok(said) => Ok(Ok(said)),
        Err(failure) if failure.status == StatusCode::SERVICE_UNAVAILABLE => Err(failure),
        Err(failure) => Ok(Err(failure.why)),
    }
}

#[derive(Deserialize)]
pub(super) struct OfView {
    #[serde(default)]
    csrf: String,
    act: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    view: String,
    #[serde(default)]
    id: u32,
}

pub(super) async fn saved(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(of): Form<OfView>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &of.csrf)?;
    let (told, undo, to) = match &*of.act {
        "add" => {
            let view = View::read(&of.view).from(None);
            let added = async {
                let (name, order) = (view_name(&of.name)?, view.order(super::now(), SAVED)?);
                let said = format!("This view is saved as “{name}”.");
                done(&app, NewsAct::Save(SavedView { id: 0, name, order })).await?;
                Ok(said)
            };
            (in_words(added.await)?, None, view.at("/news"))
        }
        "remove" => {
            let removed = done(&app, NewsAct::Unsave(of.id)).await;
            let view = removed.as_ref().ok().and_then(of_removed::<SavedView>);
            let said = |_| match &view {
                Some(view) => format!("The view “{}” is gone.", short(&view.name, 100)),
                None => "The view is gone.".to_owned(),
            };
            let told = in_words(removed.map(said))?;
            (told, view.clone().map(Undo::Saved), "/news/rules".to_owned())
        }
        _ => return Err(Failure::wrong("a view can be saved and removed")),
    };
    app.notices.say(told, undo);
    Ok(Redirect::to(&to).into_response())
}

#[derive(Deserialize)]
pub(super) struct OfSite {
    #[serde(default)]
    csrf: String,
    act: String,
    #[serde(default)]
    site: String,
}

async fn follow(app: &App, act: FollowAct) -> Result<Result<String, String>, Failure> {
    app.with_desk(move |desk| desk.follow(&act)).await
}

pub(super) async fn sites(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(of): Form<OfSite>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &of.csrf)?;
    let site = match name_of(&of.site) {
        Ok(site) => site,
        Err(wrong) => {
            app.notices.say(Err(wrong.why), None);
            return Ok(Redirect::to("/news/sites").into_response());
        }
    };
    let (told, undo) = match &*of.act {
        "add" => (follow(&app, FollowAct::Add(site)).await?, None),
        "remove" => {
            let told = follow(&app, FollowAct::Remove(site.clone())).await?;
            let undo = told.is_ok().then_some(Undo::Site(site));
            (told, undo)
        }
        _ => return Err(Failure::wrong("a site can be followed, or no longer followed")),
    };
    app.notices.say(told, undo);
    Ok(Redirect::to("/news/sites").into_response())
}

pub(super) async fn import(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Failure> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let parts = parts(kind, &body).unwrap_or_default();
    let named = |name: &str| {
        let part = parts.iter().find(|(known, _)| known == name);
        part.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
    };
    app.guard.may_act(caller, &named("csrf"))?;
    let opml = parts.iter().find(|(known, _)| known == "opml");
    let opml = opml.map(|(_, bytes)| bytes.to_vec()).unwrap_or_default();
    let told = match opml.iter().all(u8::is_ascii_whitespace) {
        true => Err("the file is empty; choose an OPML file".to_owned()),
        false => follow(&app, FollowAct::Import(opml)).await?,
    };
    app.notices.say(told, None);
    Ok(Redirect::to("/news/sites").into_response())
}

#[derive(Deserialize)]
pub(super) struct Collecting {
    #[serde(default)]
    csrf: String,
    #[serde(default)]
    site: String,
}

pub(super) async fn collect(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(of): Form<Collecting>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &of.csrf)?;
    let sites = match of.site.trim() {
        "" => Vec::new(),
        site => vec![name_of(site)?],
    };
    let told = app.with_desk(move |desk| desk.collect(&sites)).await?;
    app.notices.say(told, None);
    Ok(Redirect::to("/news").into_response())
}

#[derive(Deserialize)]
pub(super) struct Undoing {
    #[serde(default)]
    csrf: String,
    number: u64,
    #[serde(default)]
    view: String,
}

/// Does what was taken back, and says so.
async fn again(app: &App, act: NewsAct, said: &str) -> Result<Result<String, String>, Failure> {
    in_words(done(app, act).await.map(|_| said.to_owned()))
}

pub(super) async fn undo(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Form(of): Form<Undoing>,
) -> Result<Response, Failure> {
    app.guard.may_act(caller, &of.csrf)?;
    let Some(undo) = app.notices.take(of.number) else {
        app.notices.say(Err("it is too late to take that back".to_owned()), None);
        return Ok(Redirect::to(&back(&of.view, "")).into_response());
    };
    let taken_back = match undo.clone() {
        Undo::Site(site) => follow(&app, FollowAct::Add(site)).await,
        Undo::Unread(docs) => {
            let many = plural(docs.len() as u64, "article is", "articles are");
            let act = NewsAct::Read { docs, stories: Vec::new(), read: false };
            again(&app, act, &format!("{many} unread again.")).await
        }
        Undo::Rule(rule) => again(&app, NewsAct::AddRule(rule), "The rule is back.").await,
        Undo::Saved(view) => again(&app, NewsAct::Save(view), "The view is back.").await,
    };
    let told = match taken_back {
        Ok(told) => told,
        // Nobody answered: it can be tried again.
        Err(failure) => {
            app.notices.say(Err(failure.why), Some(undo));
            return Ok(Redirect::to(&back(&of.view, "")).into_response());
        }
    };
    app.notices.say(told, None);
    Ok(Redirect::to(&back(&of.view, "")).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_led_to_our_own_pages_only() {
        assert_eq!(back("", ""), "/news");
        assert_eq!(back("site=a.test&after=5.7", "#story9"), "/news?site=a.test&after=5.7#story9");
        assert_eq!(back("story=12", "#doc3"), "/news/story/12#doc3");
        assert_eq!(back("page=rules", "#x"), "/news/rules");
        for evil in ["//evil.example", "story=//evil", "/\\evil", "x=1\r\nX: 1", "story=-1"] {
            assert_eq!(back(evil, ""), "/news", "{evil}");
        }
    }

    #[test]
    fn rules_are_held_against_their_form() {
        let rule = rule_of("hide", " horoscope ", "").unwrap();
        assert_eq!((rule.words.as_str(), rule.site), ("horoscope", None));
        assert_eq!(rule_of("alert", "x", "a.test").unwrap().site.as_deref(), Some("a.test"));
        for (action, words, site) in
            [("drop", "x", ""), ("keep", " ", ""), ("keep", "a\nb", ""), ("keep", "x", "--flag")]
        {
            assert!(rule_of(action, words, site).is_err(), "{action} {words:?} {site}");
        }
        assert!(rule_of("keep", &"x".repeat(301), "").is_err());
    }
}
