//! Feeds: what is new, and any search; and how browsers learn of the search.

use super::given::Given;
use super::typed;
use crate::app::App;
use crate::failure::Failure;
use crate::words::text;
use argiope_crawl::{
    AtomEntry, FeedEntry, FeedHead, FeedOrder, Question, SearchOrder, atom, atom_of, feed_id,
    xml_escaped,
};
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

/// `/feed.atom`: a search, the last changed first; or what is new.
pub(crate) fn feed(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let limit = given.number("limit", 30) as usize;
        let mut head = FeedHead {
            id: feed_id(&["feed", &given.asked()]),
            title: "What is new · Argiope".to_owned(),
            address: Some(format!("{}{}", given.base, given.raw)),
            about: Some(format!("{}/new", given.base)),
            now: given.now,
        };
        let out = if let Some(query) = given.text("q") {
            let order =
                SearchOrder { query: query.to_owned(), limit, by_date: true, ..Default::default() };
            let mut rows = app.ask(Question::Search(order)).await?;
            rows.pop();
            head.title = format!("{query} · Argiope");
            let q = crate::words::encoded(query);
            head.about = Some(format!("{}/search?q={q}&sort=date", given.base));
            atom_of(&head, &rows.iter().map(hit).collect::<Vec<_>>())
        } else {
            let targets = given.text("site").map(str::to_owned).into_iter().collect();
            let rows = app.ask(Question::Feed(FeedOrder { targets, limit })).await?;
            let entries: Result<Vec<FeedEntry>, _> =
                rows.into_iter().map(serde_json::from_value).collect();
            let entries = entries.map_err(|e| Failure::ours(e.to_string()))?;
            if let Some(site) = given.text("site") {
                head.title = format!("What is new at {site} · Argiope");
            }
            atom(&head, &entries)
        };
        Ok(typed("application/atom+xml; charset=utf-8", out))
    }
    .boxed()
}

/// A hit as an entry: the same as long as the page says the same.
fn hit(row: &Value) -> AtomEntry {
    let (url, changed) = (text(row, "url"), text(row, "changed_at"));
    AtomEntry {
        id: feed_id(&["hit", url, changed]),
        title: text(row, "title").to_owned(),
        updated: changed.to_owned(),
        url: url.to_owned(),
        category: "found".to_owned(),
        summary: text(row, "snippet").to_owned(),
    }
}

/// `/opensearch.xml`: how browsers and readers search here.
pub(crate) fn opensearch(_: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let base = xml_escaped(&given.base);
        let out = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
             <OpenSearchDescription xmlns=\"http://a9.com/-/spec/opensearch/1.1/\">\n  \
             <ShortName>Argiope</ShortName>\n  \
             <Description>Search the pages that are kept here.</Description>\n  \
             <InputEncoding>UTF-8</InputEncoding>\n  \
             <Image width=\"16\" height=\"16\" type=\"image/svg+xml\">{base}/assets/icon.svg</Image>\n  \
             <Url type=\"text/html\" template=\"{base}/search?q={{searchTerms}}\"/>\n  \
             <Url type=\"application/x-suggestions+json\" \
             template=\"{base}/api/suggest?q={{searchTerms}}\"/>\n  \
             <Url type=\"application/atom+xml\" template=\"{base}/feed.atom?q={{searchTerms}}\"/>\n  \
             <Url type=\"application/opensearchdescription+xml\" rel=\"self\" \
             template=\"{base}/opensearch.xml\"/>\n\
             </OpenSearchDescription>\n"
        );
        Ok(typed("application/opensearchdescription+xml; charset=utf-8", out))
    }
    .boxed()
}
