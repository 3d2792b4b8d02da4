//! Completions while somebody types, as OpenSearch has them: `["typed", ["completion", …]]`.

use super::given::Given;
use super::typed;
use crate::app::App;
use crate::failure::Failure;
use argiope_crawl::Question;
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;

/// Completions.
const SHOWN: usize = 8;

pub(crate) fn suggest(app: &App, given: Given) -> BoxFuture<'_, Result<Response, Failure>> {
    async move {
        let typed_so_far = given.needed("q");
        let (before, begun) = last_word(&typed_so_far);
        let mut found: Vec<String> = Vec::new();
        if !begun.is_empty() {
            let question = Question::Suggest { prefix: begun.to_owned(), limit: SHOWN };
            // Whoever types is not told that words are not indexed just now.
            let rows = match app.ask(question).await {
                Err(failure) if failure.status == 409 => Vec::new(),
                rows => rows?,
            };
            let words = rows.iter().filter_map(|row| row.as_str());
            found.extend(words.map(|word| format!("{before}{word}")));
        }
        let body = json!([typed_so_far, found]).to_string();
        Ok(typed("application/x-suggestions+json", body))
    }
    .boxed()
}

/// What stands before the word that is being typed, and its beginning; none within `site:` and the like.
fn last_word(typed: &str) -> (&str, &str) {
    let behind = |is_end: &dyn Fn(char) -> bool| {
        let last = typed.char_indices().rev().find(|(_, c)| is_end(*c));
        last.map_or(0, |(at, c)| at + c.len_utf8())
    };
    let part = behind(&char::is_whitespace);
    let word = behind(&|c| !c.is_alphanumeric());
    if typed[part..word].contains(':') { (typed, "") } else { typed.split_at(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_completed_and_what_stands_before_it_kept() {
        assert_eq!(last_word("spider we"), ("spider ", "we"));
        assert_eq!(last_word("\"orb we"), ("\"orb ", "we"));
        assert_eq!(last_word("-we"), ("-", "we"));
        assert_eq!(last_word("ein\u{a0}ü-ö"), ("ein\u{a0}ü-", "ö"));
        assert_eq!(last_word("site:exa"), ("site:exa", ""));
        assert_eq!(last_word("we "), ("we ", ""));
        assert_eq!(last_word(""), ("", ""));
    }
}
