//! What the reader has: what was read, rules over words, saved views, sites that were followed. `news/reader.json` of a data directory.
//!
//! * Invariants: the file is written whole or not at all. One that cannot be read is set aside under another name and
//!   said, never emptied in silence; one of a newer program is left alone, and nothing is changed while it is there.
//! * Numbers of rules and views are given once.

use super::{NewsError, RuleAction, SavedView, WordRule};
use crate::data_dir::write_whole;
use argiope_model::Time;
use argiope_news::{RuleWords, host_of};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const NAME: &str = "reader.json";
const VERSION: u32 = 1;

/// What stands in the file.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    version: u32,
    /// The last number given to a rule.
    #[serde(default)]
    last: u32,
    /// The last number given to a view.
    #[serde(default)]
    last_view: u32,
    /// Articles by their numbers, and when each was read, in milliseconds.
    #[serde(default)]
    read: BTreeMap<u64, i64>,
    /// Sites that were followed and are no longer.
    #[serde(default)]
    former: BTreeSet<String>,
    #[serde(default)]
    rules: Vec<WordRule>,
    #[serde(default)]
    saved: Vec<SavedView>,
}

/// A rule that can be held against texts.
struct Sharp {
    id: u32,
    site: Option<String>,
    words: RuleWords,
}

/// What the reader has.
pub(super) struct Reader {
    dir: PathBuf,
    kept: Kept,
    sharp: Vec<Sharp>,
}

impl Reader {
    /// Reads the file in a directory, if there is one.
    pub fn open(dir: &Path, now: Time) -> Result<Self, NewsError> {
        let path = dir.join(NAME);
        let fail = |source| NewsError::Io { action: "read", path: path.clone(), source };
        let kept = match fs::read(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => Kept::default(),
            Err(e) => return Err(fail(e)),
            Ok(bytes) => match read(&bytes) {
                Ok(kept) => kept,
                Err(Unread::Newer(found)) => return Err(NewsError::Newer { path, found }),
                Err(Unread::Damaged(why)) => {
                    let aside = dir.join(format!("reader.damaged-{}.json", now.digits14()));
                    fs::rename(&path, &aside).map_err(fail)?;
                    tracing::warn!(
                        "{} cannot be read ({why}): it is kept as {}, and what was read, the rules and the saved \
                         views begin anew; mend that file and move it back to have them again",
                        path.display(),
                        aside.display()
                    );
                    Kept::default()
                }
            },
        };
        let mut reader = Reader { dir: dir.to_owned(), kept, sharp: Vec::new() };
        reader.sharpen();
        Ok(reader)
    }

    fn sharpen(&mut self) {
        let sharp = |rule: &WordRule| {
            let words = RuleWords::parse(&rule.words).ok()?;
            Some(Sharp { id: rule.id, site: rule.site.clone(), words })
        };
        self.sharp = self.kept.rules.iter().filter_map(sharp).collect();
    }

    fn write(&mut self) -> Result<(), NewsError> {
        self.kept.version = VERSION;
        let text = serde_json::to_string(&self.kept).map_err(|e| NewsError::Row(e.to_string()))?;
        let fail =
            |source| NewsError::Io { action: "make the directory", path: self.dir.clone(), source };
        fs::create_dir_all(&self.dir).map_err(fail)?;
        write_whole(&self.dir, NAME, &text).map_err(|e| NewsError::Row(e.to_string()))
    }

    /// Sites that were followed and are no longer.
    pub fn former(&self) -> &BTreeSet<String> {
        &self.kept.former
    }

    pub fn part_with(&mut self, former: BTreeSet<String>) -> Result<(), NewsError> {
        self.kept.former = former;
        self.write()
    }

    /// No rule gets a number up to this one: the articles may know another by it.
    pub fn count_above(&mut self, id: u32) {
        self.kept.last = self.kept.last.max(id);
    }

    pub fn rules(&self) -> &[WordRule] {
        &self.kept.rules
    }

    pub fn rule(&self, id: u32) -> Option<&WordRule> {
        self.kept.rules.iter().find(|rule| rule.id == id)
    }

    pub fn saved(&self) -> &[SavedView] {
        &self.kept.saved
    }

    /// When an article was read, in milliseconds.
    pub fn read_at(&self, doc: u64) -> Option<i64> {
        self.kept.read.get(&doc).copied()
    }

    /// Marks articles as read, or as unread again.
    pub fn mark(&mut self, docs: &[u64], read: bool, now: Time) -> Result<(), NewsError> {
        for doc in docs {
            match read {
                true => self.kept.read.insert(*doc, now.0),
                false => self.kept.read.remove(doc),
            };
        }
        self.write()
    }

    /// A new rule, or the same one that there is.
    pub fn add_rule(&mut self, rule: &WordRule) -> Result<WordRule, NewsError> {
        let same =
            |r: &&WordRule| (r.action, &r.words, &r.site) == (rule.action, &rule.words, &rule.site);
        if let Some(there) = self.kept.rules.iter().find(same) {
            return Ok(there.clone());
        }
        self.kept.last += 1;
        let rule = WordRule { id: self.kept.last, ..rule.clone() };
        self.kept.rules.push(rule.clone());
        self.sharpen();
        self.write().map(|()| rule)
    }

    pub fn remove_rule(&mut self, id: u32) -> Result<Option<WordRule>, NewsError> {
        let Some(n) = self.kept.rules.iter().position(|rule| rule.id == id) else {
            return Ok(None);
        };
        let rule = self.kept.rules.remove(n);
        self.sharpen();
        self.write().map(|()| Some(rule))
    }

    /// A new saved view; one of the same name is replaced.
    pub fn save(&mut self, view: &SavedView) -> Result<SavedView, NewsError> {
        let there = self.kept.saved.iter().position(|saved| saved.name == view.name);
        let id = match there {
            Some(n) => self.kept.saved[n].id,
            None => {
                // Views once had their numbers from rules.
                let most = self.kept.saved.iter().map(|saved| saved.id).max().unwrap_or(0);
                self.kept.last_view = self.kept.last_view.max(most) + 1;
                self.kept.last_view
            }
        };
        let view = SavedView { id, ..view.clone() };
        match there {
            Some(n) => self.kept.saved[n] = view.clone(),
            None => self.kept.saved.push(view.clone()),
        }
        self.write().map(|()| view)
    }

    pub fn unsave(&mut self, id: u32) -> Result<Option<SavedView>, NewsError> {
        let Some(n) = self.kept.saved.iter().position(|view| view.id == id) else {
            return Ok(None);
        };
        let view = self.kept.saved.remove(n);
        self.write().map(|()| Some(view))
    }

    /// What was read as one article was read as another, which it turned out to be.
    pub fn read_as(&mut self, one: u64, other: u64) -> Result<(), NewsError> {
        let Some(at) = self.read_at(one) else { return Ok(()) };
        if self.read_at(other).is_some_and(|known| known >= at) {
            return Ok(());
        }
        self.kept.read.insert(other, at);
        self.write()
    }

    /// The rules that fit an article of a site and a host, by their numbers.
    pub fn fitting(&self, places: [&str; 2], texts: &[&str]) -> Vec<u32> {
        let is_of = |place: &str, of: &str| {
            let host = host_of(place);
            let is_below = |below: &str| below.is_empty() || below.ends_with('.');
            place == of || host.strip_suffix(of).is_some_and(is_below)
        };
        let fits = |rule: &&Sharp| {
            rule.site.as_deref().is_none_or(|of| places.iter().any(|place| is_of(place, of)))
                && rule.words.is_in(texts)
        };
        self.sharp.iter().filter(fits).map(|rule| rule.id).collect()
    }

    /// Whether any of these rules does something.
    pub fn has(&self, rules: &[u32], action: RuleAction) -> bool {
        rules.iter().any(|id| self.rule(*id).is_some_and(|rule| rule.action == action))
    }
}

enum Unread {
    Newer(u32),
    Damaged(String),
}

fn read(bytes: &[u8]) -> Result<Kept, Unread> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let damaged = |e: serde_json::Error| Unread::Damaged(e.to_string());
    let Version { version } = serde_json::from_slice(bytes).map_err(damaged)?;
    if version > VERSION {
        return Err(Unread::Newer(version));
    }
    serde_json::from_slice(bytes).map_err(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(action: RuleAction, words: &str) -> WordRule {
        WordRule { id: 0, action, words: words.to_owned(), site: None }
    }

    #[test]
    fn what_the_reader_has_is_there_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = Reader::open(dir.path(), Time(0)).unwrap();
        reader.mark(&[3, 5], true, Time(7)).unwrap();
        let hide = reader.add_rule(&rule(RuleAction::Hide, "horoscope")).unwrap();
        assert_eq!(reader.add_rule(&rule(RuleAction::Hide, "horoscope")).unwrap().id, hide.id);
        let again = Reader::open(dir.path(), Time(0)).unwrap();
        assert_eq!((again.read_at(5), again.read_at(4)), (Some(7), None));
        assert_eq!(again.fitting(["n.test", ""], &["Your Horoscope today"]), [hide.id]);
        let mut again = again;
        assert!(again.remove_rule(hide.id).unwrap().is_some());
        assert!(again.remove_rule(hide.id).unwrap().is_none());
        // Views have numbers of their own.
        let view =
            |name: &str| SavedView { id: 0, name: name.to_owned(), order: Default::default() };
        assert_eq!(again.save(&view("a")).unwrap().id, 1);
        assert_eq!(again.save(&view("b")).unwrap().id, 2);
        assert!(again.unsave(2).unwrap().is_some());
        assert_eq!(
            (again.save(&view("c")).unwrap().id, again.save(&view("a")).unwrap().id),
            (3, 1)
        );
        // Numbers are given once, also where the file was lost and the articles know some.
        assert!(again.add_rule(&rule(RuleAction::Keep, "x")).unwrap().id > hide.id);
        again.count_above(40);
        assert_eq!(again.add_rule(&rule(RuleAction::Keep, "y")).unwrap().id, 41);
    }

    #[test]
    fn rules_hold_for_a_site_or_a_host_and_what_is_below() {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = Reader::open(dir.path(), Time(0)).unwrap();
        for site in ["n.test", "www.n.test", "sport.n.test"] {
            let rule = rule(RuleAction::Hide, "x");
            reader.add_rule(&WordRule { site: Some(site.to_owned()), ..rule }).unwrap();
        }
        let of = |site, host| reader.fitting([site, host], &["x"]);
        assert_eq!(of("n.test", "www.n.test"), [1, 2]);
        assert_eq!(of("n.test", "live.sport.n.test"), [1, 3]);
        assert_eq!(of("n.test", "n.test"), [1]);
        assert!(of("other-n.test", "www.other-n.test").is_empty());
    }

    #[test]
    fn a_damaged_file_is_set_aside_and_a_newer_one_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(NAME), "{\"version\":1,\"read\":{\"3\"").unwrap();
        let reader = Reader::open(dir.path(), Time(0)).unwrap();
        assert!(reader.rules().is_empty());
        let names: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["reader.damaged-19700101000000.json"]);
        fs::write(dir.path().join(NAME), "{\"version\":9}").unwrap();
        assert!(matches!(
            Reader::open(dir.path(), Time(0)),
            Err(NewsError::Newer { found: 9, .. })
        ));
        assert!(dir.path().join(NAME).exists());
    }
}
