//! Jobs that are about something: what was read is told to their topics, rows move to their scores.
//!
//! * What this is: the place where a [`Topic`] lives while a crawl runs, and the file it is kept in between runs.
//! * The file is a cache. Whoever cannot read it begins anew: the queue keeps its order, the words
//!   that were given are known, and the rest is learned from the next pages. Example pages that were read
//!   are in it too.
//! * On a fleet each worker learns from what it reads itself.
//! * What is not here: judging (`frontier`), words (`crate::topic`), moving rows (`store`).

use super::Director;
use crate::group::PageDone;
use crate::topic::{TopicPage, folder_of, forms};
use argiope_frontier::Score;
use argiope_frontier::topic::{LinkWords, Topic};
use argiope_model::{Job, JobId, Time, UrlKey};
use argiope_store::{Move, Next, UrlState};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// It is written this often, where something was read; less often where that takes long.
const KEEP_MS: i64 = 10_000;
/// The form of the file.
const VERSION: u8 = 1;

fn file_of(data: &Path, job: JobId) -> PathBuf {
    data.join(format!("topic-{}.bin", job.0))
}

/// What is kept of a job's topic.
pub(crate) fn kept_topic(data: &Path, job: JobId) -> Option<Topic> {
    let path = file_of(data, job);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return None,
        Err(e) => {
            tracing::warn!("cannot read {}, the topic is learned anew: {e}", path.display());
            return None;
        }
    };
    let kept = bytes.split_first().filter(|(version, _)| **version == VERSION);
    let kept = kept.and_then(|(_, rest)| postcard::from_bytes(rest).ok());
    if kept.is_none() {
        tracing::warn!("cannot use {}, the topic is learned anew", path.display());
    }
    kept
}

impl Director {
    /// A page of a job is back: its topic judges it and its links. Links that are new get their scores,
    /// those that wait are moved.
    pub(super) fn tell_topic(&mut self, job: &Job, page: &mut PageDone, moves: &mut Vec<Move>) {
        let Some(aim) = &job.aim else { return };
        let said = page.topic.take();
        page.known.clear();
        if matches!(page.next, Next::Retry(_)) {
            return;
        }
        let (key, data) = (page.entry.key, self.dir.path());
        let live = self.live.clone();
        let mut topics = live.topics();
        let topic = topics.entry(job.id).or_insert_with(|| {
            let kept = self.shared.blocking(|| kept_topic(data, job.id));
            kept.unwrap_or_else(|| Topic::about(forms(&aim.about)))
        });
        let example = aim.like.contains(&page.entry.url) || self.examples.contains(&key);
        let TopicPage { text, links } = said.map(|said| *said).unwrap_or_default();
        match (&text, &page.next) {
            (_, Next::Expanded) => {}
            (Some(text), _) => {
                if example {
                    topic.like(key, text);
                }
                topic.read(key, folder_of(key, &page.entry.url), text);
            }
            (None, Next::Done(UrlState::Redirected)) if example => {
                self.examples.extend(page.found.iter().map(|found| found.key));
                topic.gone(key);
            }
            (None, _) => {
                if example {
                    let rest = match aim.about.is_empty() && aim.like.len() == 1 {
                        true => "links are followed in the order they are found",
                        false => "the order goes by what else was given",
                    };
                    tracing::warn!("the example {} cannot be read: {rest}", page.entry.url);
                }
                topic.gone(key);
            }
        }
        let knows = |topic: &Topic, key| topic.score(key).is_some();
        let known: HashSet<UrlKey> =
            links.iter().map(|link| link.key).filter(|key| knows(topic, *key)).collect();
        for link in &links {
            let (target, folder) = (link.key, link.folder);
            let (words, around, url) = (&*link.words, &*link.around, &*link.url);
            topic.link(key, LinkWords { target, folder, words, around, url });
        }
        let news = topic.settle();
        let mut placed = HashSet::new();
        for found in page.found.iter_mut().filter(|found| found.skip.is_none()) {
            found.score = Some(topic.score(found.key).unwrap_or(Score::of_share(0.0)));
            placed.insert(found.key);
        }
        // What was found just now is put where it belongs; what is known moves there.
        let moved = |key: &UrlKey| known.contains(key) || !placed.contains(key);
        let moved = news.into_iter().filter(|(key, _)| moved(key));
        moves.extend(moved.map(|(key, score)| Move { key, job: job.id, score, may_fall: true }));
        self.topics_changed = true;
    }

    /// Writes down what was learned, now and then; `last`: whenever anything has changed.
    pub(super) fn keep_topics(&mut self, now: Time, last: bool) {
        let due = now.0 - self.topics_kept.0 >= KEEP_MS.max(50 * self.topics_took);
        if !self.topics_changed || !(due || last) {
            return;
        }
        self.topics_changed = false;
        let data = self.dir.path();
        for (job, topic) in self.live.topics().iter() {
            let (path, new) = (file_of(data, *job), data.join(format!("topic-{}.new", job.0)));
            let bytes = postcard::to_extend(topic, vec![VERSION]).unwrap_or_default();
            let write = || fs::write(&new, bytes).and_then(|()| fs::rename(&new, &path));
            if let Err(e) = self.shared.blocking(write) {
                tracing::warn!("cannot write {}: {e}", path.display());
            }
        }
        self.topics_kept = self.now();
        self.topics_took = self.topics_kept.0 - now.0;
    }
}
