//! Rows as the command line has them, and where they go on.

use super::given::Given;
use super::{cursor, json};
use crate::app::App;
use crate::failure::Failure;
use argiope_crawl::{FeedOrder, LinkOrder, PlaceOrder, Question, SearchOrder, TopBy, WordOrder};
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json as object};

/// Hits that can be reached by going on.
pub(crate) const DEEPEST: u64 = 10_000;

type Answered<'a> = BoxFuture<'a, Result<Response, Failure>>;

/// `{"rows": […], "next": …}`, and whatever stands beside the rows.
pub(crate) fn envelope(rows: Vec<Value>, next: Option<String>, beside: Value) -> Response {
    let mut out = match beside {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    out.insert("rows".to_owned(), rows.into());
    out.insert("next".to_owned(), next.into());
    json(&out.into())
}

/// Asks a question, from where the cursor says on.
async fn piece(
    app: &App,
    given: &Given,
    mut question: Question,
) -> Result<(Vec<Value>, Option<String>), Failure> {
    if let Some(place) = cursor::opened(app, given)? {
        go_on(&mut question, place);
    }
    let (rows, rest) = app.ask_piece(question).await?;
    Ok((rows, rest.map(|rest| cursor::sealed(app, given, &place(&rest)))))
}

/// Where a question begins.
fn place(question: &Question) -> Value {
    match question {
        Question::Links { order, .. } => object!(order.after),
        Question::Broken { after, .. } => object!(after),
        Question::Words(order) => object!(order.after),
        Question::Places(order) => object!(order.after),
        _ => Value::Null,
    }
}

/// Has a question begin elsewhere.
fn go_on(question: &mut Question, place: Value) {
    let read = || serde_json::from_value::<Option<u64>>(place.clone()).ok().flatten();
    match question {
        Question::Links { order, .. } => {
            order.after = serde_json::from_value(place).ok().flatten();
        }
        Question::Broken { after, .. } => *after = read(),
        Question::Places(order) => order.after = read(),
        Question::Words(order) => order.after = place.as_str().map(str::to_owned),
        _ => {}
    }
}

/// An answer that is rows and no more.
fn plain(app: &App, given: Given, question: Question) -> Answered<'_> {
    async move {
        let (rows, next) = piece(app, &given, question).await?;
        Ok(envelope(rows, next, Value::Null))
    }
    .boxed()
}

pub(crate) fn search(app: &App, given: Given) -> Answered<'_> {
    async move {
        let order = SearchOrder {
            query: given.needed("q"),
            limit: given.number("limit", 20) as usize,
            offset: given.number("offset", 0) as usize,
            by_date: given.text("sort") == Some("date"),
            facets: given.flag("facets"),
            explain: given.flag("explain"),
            all: given.flag("all"),
            at: given.moment("at"),
            own_words: false,
        };
        let offset = cursor::opened(app, &given)?.unwrap_or(order.offset);
        let order = SearchOrder { offset, ..order };
        let mut rows = app.ask(Question::Search(order.clone())).await?;
        let last = rows.pop().unwrap_or_default();
        let offset = order.offset + order.limit;
        let total = last["total"].as_u64().unwrap_or(0);
        let more = rows.len() == order.limit && (offset as u64) < total.min(DEEPEST);
        let next = more.then(|| cursor::sealed(app, &given, &offset));
        Ok(envelope(rows, next, last))
    }
    .boxed()
}

pub(crate) fn doc(app: &App, given: Given) -> Answered<'_> {
    let question = Question::Doc(given.needed("url"));
    plain(app, given, question)
}

pub(crate) fn near(app: &App, given: Given) -> Answered<'_> {
    let question = Question::DocNear(given.needed("url"));
    plain(app, given, question)
}

pub(crate) fn explain(app: &App, given: Given) -> Answered<'_> {
    async move {
        let mut rows = app.ask(Question::Explain { url: given.needed("url") }).await?;
        let last = rows.pop().unwrap_or_default();
        Ok(envelope(rows, None, last))
    }
    .boxed()
}

pub(crate) fn links(app: &App, given: Given) -> Answered<'_> {
    async move {
        let order = LinkOrder { after: None, pages: given.number("limit", 50) as usize };
        let question = Question::Links { target: given.needed("url"), order };
        let (mut rows, next) = piece(app, &given, question).await?;
        // Totals come with the first piece only.
        let totals = rows.first().is_some_and(|row| row.get("source").is_none());
        let beside = if totals { rows.remove(0) } else { Value::Null };
        Ok(envelope(rows, next, beside))
    }
    .boxed()
}

pub(crate) fn links_out(app: &App, given: Given) -> Answered<'_> {
    let question = Question::LinksOut { source: given.needed("url") };
    plain(app, given, question)
}

pub(crate) fn sites(app: &App, given: Given) -> Answered<'_> {
    async move {
        let limit = given.number("limit", 100) as usize;
        let skip = cursor::opened::<usize>(app, &given)?.unwrap_or(0);
        let rows = app.ask(Question::Sites { filter: None }).await?;
        let total = rows.len();
        let next = (skip + limit < total).then(|| cursor::sealed(app, &given, &(skip + limit)));
        let rows = rows.into_iter().skip(skip).take(limit).collect();
        Ok(envelope(rows, next, object!({ "total": total })))
    }
    .boxed()
}

pub(crate) fn site(app: &App, given: Given) -> Answered<'_> {
    async move {
        let name = given.needed("name");
        let rows = app.ask(Question::Sites { filter: Some(name.clone()) }).await?;
        // A name that is excluded and that no host has yet is made of nothing.
        let beside = match app.ask(Question::Site { name: name.clone() }).await {
            Ok(rows) => rows.into_iter().next().unwrap_or_default(),
            Err(failure) if failure.status == 404 => object!({ "name": name, "urls": 0, "captures": 0, "cut": false,
                "states": {}, "step_s": 0, "step": null, "times": [], "errors": [], "types": [], "top": [] }),
            Err(failure) => return Err(failure),
        };
        Ok(envelope(rows, None, beside))
    }
    .boxed()
}

pub(crate) fn around(app: &App, given: Given) -> Answered<'_> {
    let (target, limit) = (given.needed("url"), given.number("limit", 12) as usize);
    plain(app, given, Question::Around { target, limit })
}

pub(crate) fn doc_words(app: &App, given: Given) -> Answered<'_> {
    let question = Question::DocWords(given.needed("url"));
    plain(app, given, question)
}

pub(crate) fn span(app: &App, given: Given) -> Answered<'_> {
    plain(app, given, Question::Span)
}

pub(crate) fn jobs(app: &App, given: Given) -> Answered<'_> {
    plain(app, given, Question::Jobs)
}

pub(crate) fn status(app: &App, given: Given) -> Answered<'_> {
    plain(app, given, Question::Status)
}

pub(crate) fn words(app: &App, given: Given) -> Answered<'_> {
    let question = Question::Words(WordOrder {
        prefix: given.text("prefix").unwrap_or_default().to_owned(),
        top: given.flag("top"),
        after: None,
        limit: given.number("limit", 100) as usize,
    });
    plain(app, given, question)
}

pub(crate) fn word(app: &App, given: Given) -> Answered<'_> {
    let (word, limit) = (given.needed("w"), given.number("limit", 100) as usize);
    if !given.flag("top") {
        return plain(app, given, Question::Places(PlaceOrder { word, after: None, limit }));
    }
    async move {
        let mut rows = app.ask(Question::WordPages { word, limit }).await?;
        let totals = if rows.is_empty() { Value::Null } else { rows.remove(0) };
        Ok(envelope(rows, None, totals))
    }
    .boxed()
}

pub(crate) fn top(app: &App, given: Given) -> Answered<'_> {
    let by = match given.text("by") {
        Some("sites") => TopBy::Sites,
        Some("rank") => TopBy::Rank,
        Some("harmonic") => TopBy::Harmonic,
        _ => TopBy::Backlinks,
    };
    let of_sites = given.text("of") == Some("sites");
    let limit = given.number("limit", 50) as usize;
    let question = Question::Top { by, of_sites, limit, all: given.flag("all") };
    plain(app, given, question)
}

pub(crate) fn broken(app: &App, given: Given) -> Answered<'_> {
    let limit = given.number("limit", 100) as usize;
    plain(app, given, Question::Broken { after: None, limit })
}

pub(crate) fn feed(app: &App, given: Given) -> Answered<'_> {
    let targets = given.all("target").to_vec();
    let limit = given.number("limit", 30) as usize;
    plain(app, given, Question::Feed(FeedOrder { targets, limit }))
}
