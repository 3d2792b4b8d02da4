//! The news for programs: what the pages of the news show and do, as JSON, Atom and OPML.

use super::given::Given;
use super::reading::envelope;
use super::{cursor, json, typed};
use crate::app::{App, FollowAct};
use crate::failure::Failure;
use crate::news::{View, look, name_of, order_of, rule_of, view_name};
use crate::words::{list, number, text};
use argiope_crawl::{
    AtomEntry, FeedHead, NewsAct, NewsOrder, Question, SavedView, atom_of, feed_id,
};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json as object};

type Answered<'a> = BoxFuture<'a, Result<Response, Failure>>;

/// Stories that a saved view shows at once.
const SAVED: usize = 30;

/// What the parameters ask for.
fn order(given: &Given) -> Result<NewsOrder, Failure> {
    let get = |name: &str| match name {
        "site" => given.all("site").join(","),
        name => given.text(name).unwrap_or_default().to_owned(),
    };
    let order = order_of(get, given.now).map_err(Failure::wrong)?;
    Ok(NewsOrder { limit: given.number("limit", 30) as usize, ..order })
}

pub(crate) fn news(app: &App, given: Given) -> Answered<'_> {
    async move {
        let after = cursor::opened::<(i64, u64)>(app, &given)?;
        let order = NewsOrder { after, ..order(&given)? };
        let (rows, rest) = app.ask_piece(Question::News(order)).await?;
        let after = rest.and_then(|rest| match rest {
            Question::News(order) => order.after,
            _ => None,
        });
        let next = after.map(|after| cursor::sealed(app, &given, &after));
        Ok(envelope(rows, next, Value::Null))
    }
    .boxed()
}

/// An answer that is rows and no more.
fn plain(app: &App, question: Question) -> Answered<'_> {
    async move { Ok(envelope(app.ask(question).await?, None, Value::Null)) }.boxed()
}

pub(crate) fn story(app: &App, given: Given) -> Answered<'_> {
    plain(app, Question::Story(given.number("n", 0)))
}

pub(crate) fn overview(app: &App, _: Given) -> Answered<'_> {
    plain(app, Question::NewsOverview)
}

pub(crate) fn quick(app: &App, given: Given) -> Answered<'_> {
    async move { Ok(envelope(look(app, &given.needed("site")).await?, None, Value::Null)) }.boxed()
}

pub(crate) fn read(app: &App, given: Given) -> Answered<'_> {
    let numbers =
        |name: &str| given.all(name).iter().filter_map(|text| text.parse().ok()).collect();
    let (docs, stories): (Vec<u64>, Vec<u64>) = (numbers("docs"), numbers("stories"));
    let read = given.text("read") != Some("false");
    plain(app, Question::NewsAct(NewsAct::Read { docs, stories, read }))
}

pub(crate) fn add_rule(app: &App, given: Given) -> Answered<'_> {
    async move {
        let text = |name: &str| given.text(name).unwrap_or_default();
        let rule = rule_of(text("action"), text("words"), text("site"))?;
        let rows = app.ask(Question::NewsAct(NewsAct::AddRule(rule))).await?;
        Ok(envelope(rows, None, Value::Null))
    }
    .boxed()
}

pub(crate) fn remove_rule(app: &App, given: Given) -> Answered<'_> {
    plain(app, Question::NewsAct(NewsAct::RemoveRule(given.number("id", 0) as u32)))
}

pub(crate) fn save(app: &App, given: Given) -> Answered<'_> {
    async move {
        let name = view_name(&given.needed("name"))?;
        let order = NewsOrder { limit: SAVED, ..order(&given)? };
        let act = NewsAct::Save(SavedView { id: 0, name, order });
        let rows = app.ask(Question::NewsAct(act)).await?;
        Ok(envelope(rows, None, Value::Null))
    }
    .boxed()
}

pub(crate) fn unsave(app: &App, given: Given) -> Answered<'_> {
    plain(app, Question::NewsAct(NewsAct::Unsave(given.number("id", 0) as u32)))
}

/// A change to the sites that are followed; the sentence that came of it.
fn followed(app: &App, act: Result<FollowAct, Failure>) -> Answered<'_> {
    async move {
        let act = act?;
        let told = app.with_desk(move |desk| desk.follow(&act)).await?;
        Ok(json(&object!({ "message": told.map_err(Failure::refused)? })))
    }
    .boxed()
}

pub(crate) fn follow(app: &App, given: Given) -> Answered<'_> {
    followed(app, name_of(&given.needed("site")).map(FollowAct::Add))
}

pub(crate) fn unfollow(app: &App, given: Given) -> Answered<'_> {
    followed(app, name_of(&given.needed("site")).map(FollowAct::Remove))
}

pub(crate) fn import(app: &App, given: Given) -> Answered<'_> {
    followed(app, Ok(FollowAct::Import(given.needed("opml").into_bytes())))
}

pub(crate) fn collect(app: &App, given: Given) -> Answered<'_> {
    async move {
        let sites = given.all("sites").iter().map(|site| name_of(site));
        let sites: Vec<String> = sites.collect::<Result<_, _>>()?;
        let told = app.with_desk(move |desk| desk.collect(&sites)).await?;
        Ok(json(&object!({ "message": told.map_err(Failure::refused)? })))
    }
    .boxed()
}

pub(crate) fn opml(app: &App, _: Given) -> Answered<'_> {
    async move {
        let told = app.with_desk(|desk| desk.follow(&FollowAct::Export)).await?;
        let file = [(header::CONTENT_DISPOSITION, "attachment; filename=\"argiope-news.opml\"")];
        let answer = typed("text/x-opml; charset=utf-8", told.map_err(Failure::refused)?);
        Ok((file, answer).into_response())
    }
    .boxed()
}

/// `/news.atom`: a view as a feed.
pub(crate) fn feed(app: &App, given: Given) -> Answered<'_> {
    async move {
        let order = order(&given)?;
        let view = View::of_order(&order);
        let overview = app.ask(Question::NewsOverview).await?.into_iter().next();
        let overview = overview.unwrap_or_default();
        let rows = app.ask(Question::News(order)).await?;
        let said: Vec<String> = view.parts(&overview).into_iter().map(|(_, said)| said).collect();
        let head = FeedHead {
            id: feed_id(&["news", &view.query()]),
            title: match said.is_empty() {
                true => "News · Argiope".to_owned(),
                false => format!("News: {} · Argiope", said.join(" · ")),
            },
            address: Some(format!("{}{}", given.base, given.raw)),
            about: Some(format!("{}{}", given.base, view.at("/news"))),
            now: given.now,
        };
        let mut entries: Vec<AtomEntry> = rows.iter().map(entry).collect();
        // What was changed last comes first, as readers of feeds expect it.
        entries.sort_by(|a, b| b.updated.cmp(&a.updated));
        Ok(typed("application/atom+xml; charset=utf-8", atom_of(&head, &entries)))
    }
    .boxed()
}

/// A story, or an article by itself: the same entry as long as it lives, newer when something was added to it or changed.
fn entry(row: &Value) -> AtomEntry {
    let url = text(row, "url");
    let id = match row["articles"].is_array() {
        true => feed_id(&["story", &number(row, "story").to_string()]),
        false => feed_id(&["article", url]),
    };
    let sources: Vec<&str> = list(row, "sources").iter().filter_map(Value::as_str).collect();
    let mut summary = text(row, "summary").to_owned();
    if sources.len() > 1 {
        summary = format!("{summary} ({})", sources.join(", ")).trim().to_owned();
    }
    AtomEntry {
        id,
        title: text(row, "title").to_owned(),
        updated: text(row, "updated").max(text(row, "time")).to_owned(),
        url: url.to_owned(),
        category: row["subject"].as_str().unwrap_or("news").to_owned(),
        summary,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_stays_the_same_entry_and_gets_newer() {
        let mut row = object!({ "story": 7, "url": "http://a.test/1", "title": "T", "summary": "S", "articles": [],
            "sources": ["A", "B"], "time": "2026-11-16T10:00:00.000Z", "updated": null, "subject": "sport" });
        let first = entry(&row);
        assert_eq!((&*first.summary, &*first.category), ("S (A, B)", "sport"));
        row["updated"] = object!("2026-11-16T12:00:00.000Z");
        row["url"] = object!("http://a.test/2");
        let later = entry(&row);
        assert_eq!(first.id, later.id);
        assert_eq!(later.updated, "2026-11-16T12:00:00.000Z");
        assert_ne!(entry(&object!({ "story": 7, "url": "http://a.test/1" })).id, first.id);
    }
}
