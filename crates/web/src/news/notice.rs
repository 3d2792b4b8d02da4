//! What was said of the last action, and the way back from it.
//!
//! * Kept in memory and for a short time: a sentence in the address of a page could be written by anybody. There is one
//!   at a time, for whoever may act and looks next. It is told once; while there is a way back, again.
//! * What is taken back is done by the same acts as everything else.

use crate::app::App;
use crate::guard::Caller;
use crate::live::forms::button;
use argiope_crawl::{SavedView, WordRule};
use maud::{Markup, html};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a sentence is shown.
const SHOWN: Duration = Duration::from_secs(10);
/// How long there is a way back.
const BACK: Duration = Duration::from_secs(120);

/// How an action is taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undo {
    /// These articles are unread again.
    Unread(Vec<u64>),
    /// This rule is there again.
    Rule(WordRule),
    /// This view is saved again.
    Saved(SavedView),
    /// This site is followed again, by the entry it had.
    Site(String),
}

struct Notice {
    number: u64,
    since: Instant,
    told: Result<String, String>,
    undo: Option<Undo>,
    /// It was told and there is nothing to take back.
    over: bool,
}

/// The last sentence.
#[derive(Default)]
pub(crate) struct Notices(Mutex<Option<Notice>>);

impl Notices {
    /// Says what came of an action.
    pub fn say(&self, told: Result<String, String>, undo: Option<Undo>) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = last.as_ref().map_or(1, |last| last.number + 1);
        *last = Some(Notice { number, since: Instant::now(), told, undo, over: false });
    }

    /// The way back from the action of this number, once.
    pub fn take(&self, number: u64) -> Option<Undo> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = last.as_mut()?;
        (last.number == number && last.since.elapsed() < BACK).then(|| last.undo.take()).flatten()
    }

    /// The sentence, and the number of the way back where there is one.
    fn shown(&self) -> Option<(Result<String, String>, Option<u64>)> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = last.as_mut().filter(|last| !last.over)?;
        let long = if last.undo.is_some() { BACK } else { SHOWN };
        let number = last.undo.as_ref().map(|_| last.number);
        last.over = last.undo.is_none();
        (last.since.elapsed() < long).then(|| (last.told.clone(), number))
    }
}

/// What was said last, to operators; `view` is the query of where they are led back to.
pub(super) fn said(app: &App, caller: Caller, view: &str) -> Markup {
    // It is for whoever may act, and stays for them.
    let told = caller.is_operator().then(|| app.notices.shown()).flatten();
    html! {
        @match told {
            Some((Ok(done), undo)) => {
                div.note.said role="status" {
                    (done) " "
                    @if let Some(number) = undo {
                        (button(app, "/news/undo", &[("number", &number.to_string()), ("view", view)], "second small", "Undo", "Undo that"))
                    }
                }
            }
            Some((Err(why), _)) => { p.note.said.bad role="alert" { "That was not done: " (why) } }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_way_back_and_it_is_gone_once() {
        let notices = Notices::default();
        assert_eq!(notices.shown(), None);
        notices.say(Ok("one".into()), Some(Undo::Unread(vec![7])));
        assert_eq!(notices.shown(), Some((Ok("one".into()), Some(1))));
        assert_eq!(notices.shown(), Some((Ok("one".into()), Some(1))));
        assert_eq!(notices.take(2), None);
        assert_eq!(notices.take(1), Some(Undo::Unread(vec![7])));
        assert_eq!(notices.take(1), None);
        notices.say(Err("two".into()), None);
        assert_eq!(notices.shown(), Some((Err("two".into()), None)));
        assert_eq!(notices.shown(), None);
    }
}
