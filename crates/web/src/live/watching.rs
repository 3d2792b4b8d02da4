//! The crawl as it runs, as server-sent events: one poller for all who look.
//!
//! * Asked once a second, and only while somebody looks; every viewer gets the same bytes.
//! * Invariants: at most [`VIEWERS`] look at once, more are sent away with 503. Nobody looks longer than [`LONGEST`];
//!   browsers come back by themselves. A viewer who does not take what it is sent misses pictures, and holds none up.

use super::telling::Picture;
use crate::app::{App, Shared};
use crate::failure::Failure;
use argiope_crawl::Question;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

/// Viewers at once.
const VIEWERS: usize = 32;
/// From one picture to the next.
const EVERY: Duration = Duration::from_secs(1);
/// Something is sent this often, so that who has gone is noticed.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Nobody looks longer at a time.
const LONGEST: Duration = Duration::from_secs(3600);
/// Sentences kept for the next page.
const SAID: usize = 64;
/// How long a sentence is shown.
const SHOWN: Duration = Duration::from_secs(10);

/// A sentence: for which page, since when.
type Said = (String, Instant, Result<String, String>);

/// Who looks, and what operators were last told.
pub(crate) struct Watching {
    room: Arc<Semaphore>,
    /// The latest picture, while somebody polls.
    latest: Mutex<Option<watch::Receiver<Bytes>>>,
    said: Mutex<Vec<Said>>,
}

impl Default for Watching {
    fn default() -> Self {
        let room = Arc::new(Semaphore::new(VIEWERS));
        Watching { room, latest: Mutex::default(), said: Mutex::default() }
    }
}

impl Watching {
    /// Keeps a sentence for whoever looks at a page next; it is kept here, so that no link can put words on our pages.
    pub fn say(&self, place: &str, told: Result<String, String>) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.retain(|(at, since, _)| at != place && since.elapsed() < SHOWN);
        if said.len() == SAID {
            drop(said.remove(0));
        }
        said.push((place.to_owned(), Instant::now(), told));
    }

    /// What was said for a page lately.
    pub fn said(&self, place: &str) -> Option<Result<String, String>> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |(at, since, _): &&Said| at == place && since.elapsed() < SHOWN;
        said.iter().find(of).map(|(.., told)| told.clone())
    }
}

/// How the crawl stands now.
pub(super) async fn look(app: &App) -> Result<Picture, Failure> {
    let status = app.ask(Question::Status).await?;
    let jobs = app.ask(Question::Jobs).await?;
    Ok(Picture::new(status.first().unwrap_or(&serde_json::Value::Null), &jobs))
}

/// How far a collection of news is that runs just now, as a sentence; empty where none does.
pub(crate) async fn gathering(app: &App) -> String {
    look(app).await.map(|picture| picture.gathering).unwrap_or_default()
}

fn event(picture: &Picture) -> Bytes {
    // JSON has no line breaks of its own, so one line is the whole event.
    let json = serde_json::to_string(picture).unwrap_or_default();
    format!("data: {json}\n\n").into()
}

/// Polls for all, until nobody looks any more.
async fn poll(app: Arc<App>, to: watch::Sender<Bytes>) {
    loop {
        let picture = match look(&app).await {
            Ok(picture) => picture,
            Err(failure) => Picture::nobody(&failure.why),
        };
        let event = event(&picture);
        to.send_if_modified(|latest| {
            let news = *latest != event;
            *latest = event;
            news
        });
        sleep(EVERY).await;
        let mut latest = app.watching.latest.lock().unwrap_or_else(PoisonError::into_inner);
        // The one that is kept for those to come does not look.
        if to.receiver_count() <= 1 {
            *latest = None;
            return;
        }
    }
}

/// Takes part in what is polled; begins to poll where nobody does.
fn take_part(app: &Arc<App>) -> watch::Receiver<Bytes> {
    let mut latest = app.watching.latest.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = &*latest {
        let mut mine = known.clone();
        // What is known already is news to this one.
        mine.mark_changed();
        return mine;
    }
    let (to, from) = watch::channel(Bytes::new());
    *latest = Some(from.clone());
    tokio::spawn(poll(app.clone(), to));
    from
}

struct Viewer {
    pictures: watch::Receiver<Bytes>,
    until: Instant,
    _room: OwnedSemaphorePermit,
}

impl Viewer {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if Instant::now() >= self.until {
                return None;
            }
            match timeout(HEARTBEAT, self.pictures.changed()).await {
                Err(_) => return Some(Bytes::from_static(b": still here\n\n")),
                Ok(Err(_)) => return None,
                Ok(Ok(())) => {
                    let picture = self.pictures.borrow_and_update().clone();
                    if !picture.is_empty() {
                        return Some(picture);
                    }
                }
            }
        }
    }
}

/// `/api/events`: a picture of the crawl whenever it changes.
pub(super) async fn events(axum::extract::State(app): Shared) -> Result<Response, Response> {
    let room = app.watching.room.clone().try_acquire_owned().map_err(|_| {
        Failure::nobody("too many look at the crawl at once; load the page again later").as_json()
    })?;
    let viewer = Viewer { pictures: take_part(&app), until: Instant::now() + LONGEST, _room: room };
    let events = stream::unfold(viewer, |mut viewer| async move {
        let next = viewer.next().await?;
        Some((Ok::<_, Infallible>(next), viewer))
    });
    let head = [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((head, Body::from_stream(events)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_for_one_page_and_few_are_kept() {
        let watching = Watching::default();
        watching.say("crawl", Ok("one".into()));
        watching.say("crawl", Err("two".into()));
        assert_eq!(watching.said("crawl"), Some(Err("two".into())));
        assert_eq!(watching.said("site a.test"), None);
        for n in 0..3 * SAID {
            watching.say(&format!("site {n}"), Ok(String::new()));
        }
        assert_eq!(watching.said.lock().unwrap().len(), SAID);
    }

    #[test]
    fn an_event_is_one_line_whatever_is_told() {
        let picture = Picture::nobody("two\nlines\r\n\ndata: forged");
        let event = event(&picture);
        let text = std::str::from_utf8(&event).unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.starts_with("data: {") && text.ends_with("}\n\n"));
    }
}
