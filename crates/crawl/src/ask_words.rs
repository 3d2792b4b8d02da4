//! Questions about words: searches, the places of a word, the dictionary, the words of a page.

use crate::ask::{Asked, Question, find};
use crate::backlinks::chain;
use crate::data_dir::{DataDir, text_dir};
use crate::words::{Words, hit_row};
use argiope_archive::{TextBlob, read_text};
use argiope_index::{Facets, IndexError, Posting, SearchError, SearchOptions, Sort, View};
use argiope_model::{DocId, Time};
use argiope_store::{Store, UrlRow};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What is wanted of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchOrder {
    /// As it was typed.
    pub query: String,
    /// Hits wanted.
    pub limit: usize,
    /// Hits left out before them.
    pub offset: usize,
    /// The last changed first, not the best.
    pub by_date: bool,
    /// Count the pages by site, language and year.
    pub facets: bool,
    /// Tell what each score is made of.
    pub explain: bool,
    /// Pages that are nearly the same one by one, not under the first of them.
    #[serde(default)]
    pub all: bool,
    /// The pages as they were at this time, not as they are.
    #[serde(default)]
    pub at: Option<Time>,
    /// By the pages' own words: neither what others call them nor how they are linked counts.
    #[serde(default)]
    pub own_words: bool,
}

/// Which words of the dictionary are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordOrder {
    /// Those that begin so.
    pub prefix: String,
    /// The most frequent, not all in their order.
    pub top: bool,
    /// Those after this one.
    pub after: Option<String>,
    /// So many.
    pub limit: usize,
}

/// Which places of a word are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceOrder {
    /// The word.
    pub word: String,
    /// Those in documents after this one.
    pub after: Option<u64>,
    /// Those of so many documents.
    pub limit: usize,
}

/// Answers a question about words.
pub(crate) fn about_words(
    question: &Question,
    dir: &DataDir,
    store: &dyn Store,
    words: &Words,
    now: Time,
) -> Asked {
    let answered = match question {
        Question::Search(order) => return search(order, words, now),
        Question::Word { word } => places(word, words),
        Question::WordPages { word, limit } => most_places(word, *limit, words),
        Question::Places(order) => places_after(order, words),
        Question::Suggest { prefix, limit } => words.view().and_then(|view| {
            let found = view.complete(prefix, *limit)?;
            Ok(Asked::Rows(found.into_iter().map(Value::String).collect()))
        }),
        Question::Words(order) => dictionary(order, words),
        Question::DocWords(target) => doc_words(target, dir, store, words),
        Question::DocNear(target) => doc_near(target, dir, store, words),
        _ => Ok(Asked::Rows(Vec::new())),
    };
    answered.unwrap_or_else(|e| Asked::Sorry(chain(&e)))
}

fn search(order: &SearchOrder, words: &Words, now: Time) -> Asked {
    let options = SearchOptions {
        limit: order.limit,
        offset: order.offset,
        sort: if order.by_date { Sort::Date } else { Sort::Relevance },
        facets: order.facets,
        explain: order.explain,
        at: order.at,
        fold: !order.all,
        links: !order.own_words,
        now,
        ..SearchOptions::default()
    };
    let answer = match words.search(&order.query, &options) {
        Ok(answer) => answer,
        Err(SearchError::Mistake(mistake)) => return Asked::Wrong(mistake.to_string()),
        Err(SearchError::Index(e)) => return Asked::Sorry(chain(&e)),
    };
    let mut rows: Vec<Value> = answer.hits.iter().map(|hit| hit_row(hit, order)).collect();
    let mut last = json!({
        "total": answer.total,
        "took_ms": (answer.took.as_secs_f64() * 1e6).round() / 1e3,
        "partial": answer.partial,
        "timed_out": answer.timed_out,
        "did_you_mean": answer.did_you_mean,
        "ignored": answer.ignored,
    });
    if let Some(at) = order.at {
        last["at"] = json!(at.to_string());
    }
    if let Some(facets) = &answer.facets {
        last["facets"] = facet_row(facets);
    }
    rows.push(last);
    Asked::Rows(rows)
}

fn facet_row(facets: &Facets) -> Value {
    let list = |rows: &[(String, u64)]| -> Vec<Value> {
        rows.iter().map(|(value, pages)| json!({ "value": value, "pages": pages })).collect()
    };
    json!({
        "site": list(&facets.sites),
        "language": list(&facets.languages),
        "year": list(&facets.years),
    })
}

fn places(word: &str, words: &Words) -> Result<Asked, IndexError> {
    let view = words.view()?;
    Ok(Asked::Rows(place_rows(word, &view, view.postings(word)?)))
}

fn places_after(order: &PlaceOrder, words: &Words) -> Result<Asked, IndexError> {
    let view = words.view()?;
    let found = view.postings_after(&order.word, order.after.map(DocId), order.limit)?;
    let last = found.last().filter(|_| found.len() >= order.limit).map(|last| last.doc.0);
    let rest = last
        .map(|doc| Box::new(Question::Places(PlaceOrder { after: Some(doc), ..order.clone() })));
    Ok(Asked::Piece(place_rows(&order.word, &view, found), rest))
}

fn place_rows(word: &str, view: &View, found: Vec<Posting>) -> Vec<Value> {
    let id = view.word_id(word).to_string();
    let rows = found.into_iter().map(|found| {
        json!({ "word": word, "word_id": id, "doc": found.doc.0, "url": found.url,
            "positions": found.positions })
    });
    rows.collect()
}

/// Places told of one page.
const PLACES: usize = 20;
/// Pages told of one word.
const PAGES: usize = 1_000;

fn most_places(word: &str, limit: usize, words: &Words) -> Result<Asked, IndexError> {
    let view = words.view()?;
    let found = view.most_places(word, limit.min(PAGES))?;
    let head = json!({ "word": word, "word_id": view.word_id(word).to_string(),
        "documents": found.documents, "occurrences": found.occurrences });
    let rows = found.pages.into_iter().map(|mut page| {
        let places = page.positions.len();
        page.positions.truncate(PLACES);
        json!({ "doc": page.doc.0, "url": page.url, "places": places,
            "positions": page.positions })
    });
    Ok(Asked::Rows([head].into_iter().chain(rows).collect()))
}

fn dictionary(order: &WordOrder, words: &Words) -> Result<Asked, IndexError> {
    let view = words.view()?;
    let found = match order.top {
        true => view.top_words(&order.prefix, order.limit)?,
        false => view.words(&order.prefix, order.after.as_deref(), order.limit)?,
    };
    let rest = (!order.top && found.len() >= order.limit).then_some(found.last()).flatten();
    let rest = rest.map(|last| {
        Box::new(Question::Words(WordOrder { after: Some(last.word.clone()), ..order.clone() }))
    });
    let rows = found.iter().map(|word| {
        json!({ "word_id": word.id.to_string(), "word": word.word, "documents": word.documents,
            "occurrences": word.occurrences })
    });
    Ok(Asked::Piece(rows.collect(), rest))
}

/// A page of the index with its text, or why it cannot be told.
fn indexed(
    target: &str,
    dir: &DataDir,
    store: &dyn Store,
    words: &Words,
) -> Result<Result<(UrlRow, View, TextBlob), String>, IndexError> {
    let Some((_, row)) = find(target, dir.suffixes(), store)? else {
        return Ok(Err(format!("{target} is not known here; no job has met it")));
    };
    let view = words.view()?;
    let Some(at) = view.text_of(row.doc)? else {
        return Ok(Err(format!("{} is not in the index", row.url)));
    };
    let text = read_text(&text_dir(dir.path()), at)?;
    Ok(Ok((row, view, text)))
}

fn doc_words(
    target: &str,
    dir: &DataDir,
    store: &dyn Store,
    words: &Words,
) -> Result<Asked, IndexError> {
    let (row, view, text) = match indexed(target, dir, store, words)? {
        Ok(found) => found,
        Err(unknown) => return Ok(Asked::Unknown(unknown)),
    };
    let rows = view.words_of(&text).into_iter().map(|(word, positions)| {
        json!({ "word": word.word, "word_id": word.id.to_string(), "doc": row.doc.0,
            "url": row.url.as_str(), "positions": positions })
    });
    Ok(Asked::Rows(rows.collect()))
}

fn doc_near(
    target: &str,
    dir: &DataDir,
    store: &dyn Store,
    words: &Words,
) -> Result<Asked, IndexError> {
    let (row, view, text) = match indexed(target, dir, store, words)? {
        Ok(found) => found,
        Err(unknown) => return Ok(Asked::Unknown(unknown)),
    };
    let rows = view
        .near(row.doc, &text.text)?
        .into_iter()
        .map(|near| json!({ "doc": near.doc.0, "url": near.url, "same_percent": near.same }));
    Ok(Asked::Rows(rows.collect()))
}
