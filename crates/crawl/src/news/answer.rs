//! Questions about news, and their answers as rows.
//!
//! * An order picks articles; a story is shown when one of its articles is picked, and then whole, but for what rules hide.
//! * Order: newest first by time and number. A story has the time of its newest article that is not hidden, so a reader
//!   who pages through sees each once.
//! * What is not here: what the reader has (`reader`), what a search is (`index`).

use super::intake::unpacked;
use super::row::{Body, Head};
use super::state::{NewsState, Open, is_nameless, nameless};
use super::{NewsAct, NewsError, NewsOrder, RuleAction};
use crate::ask::{Asked, Question};
use crate::backlinks::chain;
use crate::follow::Followers;
use argiope_index::{SearchError, SearchOptions, Sort};
use argiope_model::{CanonicalUrl, Time, zone_text};
use argiope_news::{QueryWords, RuleWords, Sites, place, subject_of};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

/// Rows of an answer at most, and where nobody says how many.
const MOST: usize = 500;
const USUAL: usize = 30;
/// Articles shown with a story.
const SHOWN: usize = 8;
/// Days of the overview.
const DAYS: usize = 60;
const DAY: i64 = 86_400_000;
/// Pages with the words of a query that are looked at.
const HITS: usize = 20_000;

/// What an order means here.
struct Wanted<'a> {
    order: &'a NewsOrder,
    /// Articles with the words of the query.
    hits: Option<HashSet<u32>>,
    /// Numbers of sites and of hosts.
    places: Option<(HashSet<u32>, HashSet<u32>)>,
    /// Absolute, in milliseconds.
    since: Option<i64>,
    until: Option<i64>,
    subject: Option<Option<u32>>,
    language: Option<Option<u32>>,
}

/// One place in a list: its time and number, and an article of it.
type Entry = (i64, u64, u32);

impl<'a> Wanted<'a> {
    fn new(open: &Open, order: &'a NewsOrder, hits: Option<&HashSet<u64>>, now: Time) -> Self {
        let time = |time: i64| if time < 0 { now.0.saturating_add(time) } else { time };
        let (since, until) = (order.since.map(time), order.until.map(time));
        let table = &open.table;
        let hits = hits.map(|docs| docs.iter().filter_map(|doc| table.of_doc(*doc)).collect());
        let places = (!order.sites.is_empty()).then(|| {
            let names = || order.sites.iter().map(|name| bare(name));
            let sites = names().filter_map(|name| table.sites.find(&name)).collect();
            (sites, names().filter_map(|name| table.hosts.find(&name)).collect())
        });
        let named = |name: &Option<String>| name.as_ref().map(|name| name.to_lowercase());
        // A section by any name that sites give it.
        let known = |name: &str| table.subjects.find(subject_of(name)?);
        let subject = named(&order.subject);
        let subject = subject.map(|name| table.subjects.find(name.trim()).or_else(|| known(&name)));
        let language = named(&order.language).map(|name| table.languages.find(&name));
        Wanted { order, hits, places, since, until, subject, language }
    }

    /// Whether an article is picked.
    fn picks(&self, open: &Open, n: u32) -> bool {
        let (row, order) = (&open.table.rows[n as usize], self.order);
        let placed = self
            .places
            .as_ref()
            .is_none_or(|(sites, hosts)| sites.contains(&row.site) || hosts.contains(&row.host));
        placed
            && self.since.is_none_or(|since| row.time >= since)
            && self.until.is_none_or(|until| row.time < until)
            && self.subject.is_none_or(|subject| subject == Some(row.subject))
            && self.language.is_none_or(|language| language == Some(row.language))
            && self.hits.as_ref().is_none_or(|hits| hits.contains(&n))
            && (!order.unread || !open.is_read(n))
            && (!order.kept || open.is_marked(n, RuleAction::Keep))
            && (!order.alerts || open.is_marked(n, RuleAction::Alert))
    }
}

/// Whether what somebody wrote, a name or a URL, is of a site.
pub fn is_of_site(written: &str, site: &str) -> bool {
    !site.is_empty() && nameless(site).is_at(&bare(written))
}

/// A site or a host as people write it, in the form that places have here.
fn bare(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let name = name.split_once("://").map_or(&*name, |(_, rest)| rest);
    match CanonicalUrl::parse(&format!("http://{name}")) {
        Ok(url) => place(&url).to_owned(),
        Err(_) => name.split('/').next().unwrap_or_default().to_owned(),
    }
}

impl Open {
    /// Of pages with the words of an order the articles that have them themselves: what stands beside an
    /// article is part of its page.
    fn having(
        &mut self,
        order: &NewsOrder,
        hits: &HashSet<u64>,
    ) -> Result<HashSet<u64>, NewsError> {
        let words = QueryWords::of(order.query.as_deref().unwrap_or_default());
        let mut out = HashSet::new();
        for doc in hits {
            let Some(n) = self.table.of_doc(*doc) else { continue };
            let at = self.table.rows[n as usize].at;
            let body = self.log()?.body(at)?;
            if words.are_in(&[&body.title, &body.summary, &unpacked(&body.text)]) {
                out.insert(*doc);
            }
        }
        Ok(out)
    }

    fn is_marked(&self, n: u32, action: RuleAction) -> bool {
        self.table.rules.get(&n).is_some_and(|rules| self.reader.has(rules, action))
    }

    fn is_hidden(&self, n: u32) -> bool {
        self.is_marked(n, RuleAction::Hide) && !self.is_marked(n, RuleAction::Keep)
    }

    /// An article that changed after it was read is unread again.
    fn is_read(&self, n: u32) -> bool {
        let row = &self.table.rows[n as usize];
        self.reader.read_at(row.doc).is_some_and(|at| at >= row.updated)
    }

    /// The articles of a story that are not hidden, newest first.
    fn shown_members(&self, n: u32, hidden: bool) -> Vec<u32> {
        let mut members = self.table.members(n);
        members.retain(|n| hidden || !self.is_hidden(*n));
        members.sort_by_key(|n| {
            let row = &self.table.rows[*n as usize];
            std::cmp::Reverse((row.time, row.doc))
        });
        members
    }

    /// Whether an article stands for its story: the newest that is not hidden.
    fn stands_for_story(&self, n: u32, hidden: bool) -> bool {
        let is_shown = |n: u32| hidden || !self.is_hidden(n);
        let age = |n: u32| {
            let row = &self.table.rows[n as usize];
            (row.time, row.doc)
        };
        let newer = |other: &u32| age(*other) > age(n) && is_shown(*other);
        is_shown(n) && !self.table.others(n).iter().any(newer)
    }

    /// The entries that an order shows, from its place on, at most so many.
    fn list(&mut self, wanted: &Wanted<'_>, most: usize) -> Vec<Entry> {
        self.table.newest_first();
        let (rows, order) = (&self.table.rows, self.table.order());
        let time = |n: &u32| rows[*n as usize].time;
        let asked = wanted.order;
        let start = match asked.after {
            Some((after, _)) => order.partition_point(|n| time(n) > after),
            None => 0,
        };
        let mut found: Vec<Entry> = Vec::new();
        for group in order[start..].chunk_by(|a, b| time(a) == time(b)) {
            let at = time(&group[0]);
            if found.len() >= most || wanted.since.is_some_and(|since| at < since) {
                break;
            }
            let mut here: Vec<Entry> = Vec::new();
            for n in group {
                let shown = asked.hidden || !self.is_hidden(*n);
                let picked = match asked.articles {
                    true => shown && wanted.picks(self, *n),
                    false => {
                        let picked = |n: &u32| wanted.picks(self, *n);
                        shown
                            && self.stands_for_story(*n, asked.hidden)
                            && (picked(n)
                                || self.shown_members(*n, asked.hidden).iter().any(picked))
                    }
                };
                if picked {
                    let row = &rows[*n as usize];
                    here.push((at, if asked.articles { row.doc } else { row.story }, *n));
                }
            }
            here.sort_unstable_by(|a, b| b.cmp(a));
            let is_next =
                |entry: &Entry| asked.after.is_none_or(|after| (entry.0, entry.1) < after);
            found.extend(here.into_iter().filter(is_next));
        }
        found.truncate(most);
        found
    }

    /// The text of an article, where its page allows to show it.
    fn text(&mut self, n: u32) -> Result<Value, NewsError> {
        let (_, body) = self.body(n)?;
        Ok(json!(body.quotable.then(|| unpacked(&body.text))))
    }

    /// What an article was before, where its page allows to show it: the earlier versions, the first ones first.
    fn past(&mut self, n: u32) -> Result<Value, NewsError> {
        let (head, body) = self.body(n)?;
        // Other pages that show it in other words come between.
        let from = body.past.len().saturating_sub(head.versions.saturating_sub(1) as usize);
        let rows = body.past[from..].iter().map(|past| {
            let text = body.quotable.then(|| unpacked(&past.text));
            json!({ "time": Time(past.since).to_string(), "title": past.title, "text": text })
        });
        Ok(rows.collect())
    }

    /// The row of an article.
    fn article_row(&mut self, n: u32, sites: &Sites) -> Result<Value, NewsError> {
        let (head, body) = self.body(n)?;
        let (updated, alerts) = (head.updated, self.alerts(n));
        let iso = |time: i64| Time(time).to_string();
        // As the page says it: the day there is the day here.
        let there = |time: i64| match body.zone {
            None | Some(0) => iso(time),
            Some(zone) => Time(time).iso_in(zone),
        };
        let source = self.source_of(sites, &head, &body);
        let story = self.table.rows[n as usize].story;
        Ok(json!({
            "doc": head.doc,
            "url": body.url,
            "site": head.site,
            "source": source,
            "title": body.title,
            "summary": body.summary,
            "authors": body.authors,
            "published": body.published.map(there),
            "exact": body.exact.name(),
            "zone": body.zone.map(zone_text),
            "modified": body.modified.map(there),
            "seen": iso(head.seen),
            "time": iso(head.time),
            "updated": updated.map(iso),
            "gone": self.table.gone(&head).map(iso),
            "versions": head.versions,
            "picture": body.picture,
            "section": body.section,
            "subject": head.subject,
            "language": head.language,
            "story": story,
            "read": self.is_read(n),
            "kept": self.is_marked(n, RuleAction::Keep),
            "hidden": self.is_hidden(n),
            "alerts": alerts,
            "words": head.words,
            "urls": body.urls,
        }))
    }

    fn alerts(&self, n: u32) -> Vec<String> {
        let rules = self.table.rules.get(&n).map_or(&[][..], Vec::as_slice);
        let known = rules.iter().filter_map(|id| self.reader.rule(*id));
        known
            .filter(|rule| rule.action == RuleAction::Alert)
            .map(|rule| rule.words.clone())
            .collect()
    }

    /// The row of a story, with all of its articles or the first of them.
    ///
    /// What stands for the story is one of those that were asked for: the view of a site shows that site's headlines.
    fn story_row(
        &mut self,
        members: &[u32],
        sites: &Sites,
        picked: impl Fn(&Open, u32) -> bool,
    ) -> Result<(Value, Vec<Value>), NewsError> {
        let mut rows = Vec::with_capacity(members.len());
        for n in members {
            rows.push(self.article_row(*n, sites)?);
        }
        let leads: Vec<&Value> = members
            .iter()
            .zip(&rows)
            .filter(|(n, _)| picked(self, **n))
            .map(|(_, row)| row)
            .collect();
        let leads = if leads.is_empty() { rows.iter().collect() } else { leads };
        let words = |row: &&&Value| row["words"].as_u64();
        let best = leads.iter().filter(|row| !row["picture"].is_null()).max_by_key(words);
        let Some(best) = best.or(leads.first()).copied() else { return Ok((Value::Null, rows)) };
        let mut sources: Vec<&str> = Vec::new();
        let mut alerts: Vec<&str> = Vec::new();
        for row in &rows {
            sources.extend(row["source"].as_str().filter(|name| !sources.contains(name)));
            let of_row = row["alerts"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for alert in of_row {
                if !alerts.contains(&alert) {
                    alerts.push(alert);
                }
            }
        }
        let story = json!({
            "story": rows[0]["story"],
            "title": best["title"],
            "summary": best["summary"],
            "url": best["url"],
            "site": best["site"],
            "source": best["source"],
            "picture": best["picture"],
            "subject": std::iter::once(best).chain(&rows).map(|row| &row["subject"]).find(|s| !s.is_null()),
            "language": best["language"],
            "time": rows[0]["time"],
            "first": rows[rows.len() - 1]["time"],
            "sources": sources,
            "count": rows.len(),
            "unread": rows.iter().filter(|row| row["read"] == false).count(),
            "updated": rows.iter().filter_map(|row| row["updated"].as_str()).max(),
            "gone": rows.iter().map(|row| row["gone"].as_str()).min().flatten(),
            "kept": rows.iter().any(|row| row["kept"] == true),
            "hidden": rows.iter().all(|row| row["hidden"] == true),
            "alerts": alerts,
            "articles": rows.iter().take(SHOWN).collect::<Vec<_>>(),
        });
        Ok((story, rows))
    }

    /// What there is, in one row.
    fn overview(
        &mut self,
        sites: &Sites,
        cycle: Duration,
        looked: &HashMap<String, Time>,
    ) -> Value {
        #[derive(Default, Clone)]
        struct Counts {
            articles: u64,
            unread: u64,
            hidden: u64,
            hidden_unread: u64,
            last: i64,
        }
        let mut by_site: BTreeMap<u32, Counts> = BTreeMap::new();
        let mut by_subject: HashMap<u32, u64> = HashMap::new();
        let mut by_language: HashMap<u32, u64> = HashMap::new();
        let mut by_day: BTreeMap<i64, u64> = BTreeMap::new();
        let (mut all, mut stories, mut alerts, mut hidden) = (Counts::default(), 0u64, 0u64, 0u64);
        self.table.newest_first();
        for n in self.table.order() {
            let row = &self.table.rows[*n as usize];
            let unread = u64::from(!self.is_read(*n));
            let site = by_site.entry(row.site).or_default();
            site.last = site.last.max(row.time);
            if self.is_hidden(*n) {
                hidden += 1;
                site.hidden += 1;
                site.hidden_unread += unread;
                continue;
            }
            site.articles += 1;
            site.unread += unread;
            all.articles += 1;
            all.unread += unread;
            stories += u64::from(self.stands_for_story(*n, false));
            alerts += u64::from(self.is_marked(*n, RuleAction::Alert));
            *by_subject.entry(row.subject).or_default() += 1;
            *by_language.entry(row.language).or_default() += 1;
            *by_day.entry(row.time.div_euclid(DAY)).or_default() += 1;
        }
        let table = &self.table;
        let counts = |site: &str| table.sites.find(site).and_then(|n| by_site.get(&n).cloned());
        let site_row = |site: &str, name: &str, front: &[String], every: Option<Duration>| {
            let counts = counts(site).unwrap_or_default();
            json!({ "site": site, "name": name, "front": front,
                "cycle": every.map(written), "followed": every.is_some(),
                "articles": counts.articles, "unread": counts.unread,
                "hidden": counts.hidden, "hidden_unread": counts.hidden_unread,
                "last": (counts.articles + counts.hidden > 0).then(|| Time(counts.last).to_string()),
                "looked": looked.get(site).map(Time::to_string) })
        };
        let mut of_sites: Vec<Value> = sites
            .recipes()
            .iter()
            .map(|r| {
                // Without a name of its own it is what its pages call it.
                let own = Some(&*r.name).filter(|_| !is_nameless(r));
                let name = own.or_else(|| self.called(&r.site)).unwrap_or(&r.site);
                site_row(&r.site, name, &r.front, Some(r.cycle.unwrap_or(cycle)))
            })
            .collect();
        let left = by_site.keys().filter_map(|n| table.sites.name(*n));
        let left = left.filter(|site| sites.recipes().iter().all(|r| r.site != **site));
        let called = |site| self.called(site).unwrap_or(site);
        of_sites.extend(left.map(|site| site_row(site, called(site), &[], None)));
        let named = |counts: HashMap<u32, u64>, names: &super::table::Names, key: &str| {
            let mut rows: Vec<(u64, String)> = counts
                .into_iter()
                .filter_map(|(n, count)| Some((count, names.name(n)?.to_owned())))
                .collect();
            rows.sort_by(|a, b| (b.0, &a.1).cmp(&(a.0, &b.1)));
            let row = |(count, name): (u64, String)| json!({ key: name, "articles": count });
            rows.into_iter().map(row).collect::<Vec<Value>>()
        };
        let days = by_day.iter().rev().take(DAYS).map(|(day, count)| {
            let date = Time(day * DAY).to_string();
            json!({ "day": &date[..10.min(date.len())], "articles": count })
        });
        json!({
            "articles": all.articles, "stories": stories, "unread": all.unread,
            "alerts": alerts, "hidden": hidden,
            "sites": of_sites,
            "subjects": named(by_subject, &table.subjects, "subject"),
            "languages": named(by_language, &table.languages, "language"),
            "days": days.collect::<Vec<_>>(),
            "rules": self.reader.rules(),
            "saved": self.reader.saved(),
        })
    }
}

impl Open {
    /// What a source is called: by its recipe, else as it calls itself, else by its site.
    fn source_of(&self, sites: &Sites, head: &Head, body: &Body) -> String {
        let recipe = sites.recipes().iter().find(|recipe| recipe.site == head.site);
        let name = recipe.filter(|recipe| !is_nameless(recipe)).map(|recipe| &*recipe.name);
        let told = name.or(body.source.as_deref()).or_else(|| self.called(&head.site));
        told.unwrap_or(&head.site).to_owned()
    }
}

/// A duration as the configuration writes it.
fn written(every: Duration) -> String {
    let seconds = every.as_secs();
    let unit = [(86_400, "d"), (3_600, "h"), (60, "m")];
    let fits = unit.iter().find(|(unit, _)| seconds >= *unit && seconds.is_multiple_of(*unit));
    fits.map_or(format!("{seconds}s"), |(unit, name)| format!("{}{name}", seconds / unit))
}

impl NewsState {
    pub(crate) fn answered(&self, question: &Question, followers: &Followers, now: Time) -> Asked {
        match self.answer(question, followers, now) {
            Ok(asked) => asked,
            Err(e) => Asked::Sorry(chain(&e)),
        }
    }

    fn answer(
        &self,
        question: &Question,
        followers: &Followers,
        now: Time,
    ) -> Result<Asked, NewsError> {
        self.bring_up()?;
        let sites = self.source.sites();
        self.name_sites(&sites)?;
        match question {
            Question::News(order) => {
                let hits = match found(order, followers, now) {
                    Ok(hits) => hits,
                    Err(asked) => return Ok(asked),
                };
                self.with(|open| {
                    let hits = hits.as_ref().map(|hits| open.having(order, hits)).transpose()?;
                    listed(open, order, hits.as_ref(), &sites, now)
                })
            }
            Question::Story(number) => self.with(|open| {
                let members = open.table.of_story(*number);
                let Some(first) = members.first() else { return Ok(unknown_story(*number)) };
                let members = open.shown_members(*first, true);
                let (story, mut rows) = open.story_row(&members, &sites, |_, _| true)?;
                for (n, row) in members.iter().zip(&mut rows) {
                    row["text"] = open.text(*n)?;
                    row["past"] = open.past(*n)?;
                }
                Ok(Asked::Rows([story].into_iter().chain(rows).collect()))
            }),
            Question::NewsOverview => {
                let looked = self.looked(&sites)?;
                self.with(|open| Ok(Asked::Rows(vec![open.overview(&sites, self.cycle, &looked)])))
            }
            Question::NewsFeeds => {
                let mut rows = self.feeds(&sites)?;
                // And what sites are called that have no name of their own.
                self.with(|open| {
                    for recipe in sites.recipes().iter().filter(|recipe| is_nameless(recipe)) {
                        let name = open.called(&recipe.site);
                        rows.extend(name.map(|name| json!({ "site": recipe.site, "name": name })));
                    }
                    Ok(())
                })?;
                Ok(Asked::Rows(rows))
            }
            Question::NewsAct(act) => self.act(act, followers, now),
            _ => Ok(Asked::Rows(Vec::new())),
        }
    }

    fn act(&self, act: &NewsAct, followers: &Followers, now: Time) -> Result<Asked, NewsError> {
        let row = |row: Value| Ok(Asked::Rows(vec![row]));
        match act {
            NewsAct::Read { docs, stories, read } => self.with(|open| {
                let mut all = Vec::new();
                for doc in docs {
                    let Some(n) = open.table.of_doc(*doc) else {
                        return Ok(Asked::Unknown(format!("no article has the number {doc}")));
                    };
                    all.push(open.table.rows[n as usize].doc);
                }
                for story in stories {
                    let members = open.table.of_story(*story);
                    if members.is_empty() {
                        return Ok(unknown_story(*story));
                    }
                    all.extend(members.iter().map(|n| open.table.rows[*n as usize].doc));
                }
                all.sort_unstable();
                all.dedup();
                open.reader.mark(&all, *read, now)?;
                let name = if *read { "read" } else { "unread" };
                row(json!({ name: all.len() }))
            }),
            NewsAct::ReadAll { order, seen } => {
                let hits = match found(order, followers, now) {
                    Ok(hits) => hits,
                    Err(asked) => return Ok(asked),
                };
                self.with(|open| {
                    let hits = hits.as_ref().map(|hits| open.having(order, hits)).transpose()?;
                    let wanted = Wanted::new(open, order, hits.as_ref(), now);
                    let entries = open.list(&wanted, usize::MAX);
                    let shown = entries.iter().flat_map(|entry| match order.articles {
                        true => vec![entry.2],
                        false => open.shown_members(entry.2, order.hidden),
                    });
                    let was_there = |n: &u32| {
                        let row = &open.table.rows[*n as usize];
                        // What was fetched long ago may have been taken in since.
                        let came = open.came.get(&row.doc).copied().unwrap_or(i64::MIN);
                        seen.is_none_or(|seen| came.max(row.seen).max(row.updated) <= seen)
                    };
                    let unread = shown.filter(|n| !open.is_read(*n) && was_there(n));
                    let docs: Vec<u64> = unread.map(|n| open.table.rows[n as usize].doc).collect();
                    open.reader.mark(&docs, true, now)?;
                    row(json!({ "read": docs.len(), "docs": docs }))
                })
            }
            NewsAct::AddRule(rule) => {
                if let Err(why) = RuleWords::checked(&rule.words) {
                    return Ok(Asked::Wrong(why));
                }
                let site = rule.site.as_deref().map(bare).filter(|site| !site.is_empty());
                let words = rule.words.trim().to_owned();
                let rule = super::WordRule { words, site, ..rule.clone() };
                let rule = self.with(|open| open.reader.add_rule(&rule))?;
                self.rule_again()?;
                row(json!({ "rule": rule }))
            }
            NewsAct::RemoveRule(id) => match self.with(|open| open.reader.remove_rule(*id))? {
                Some(rule) => row(json!({ "removed": rule })),
                None => Ok(Asked::Unknown(format!(
                    "no rule has the number {id}; `argiope news rules` lists them"
                ))),
            },
            NewsAct::Save(view) => {
                let name = view.name.trim();
                if name.is_empty() {
                    return Ok(Asked::Wrong("a saved view needs a name".to_owned()));
                }
                let order = NewsOrder { after: None, ..view.order.clone() };
                let long = |text: &Option<String>| text.as_ref().is_some_and(|t| t.len() > 500);
                if order.sites.len() > 20 || order.sites.join(",").len() > 500 {
                    return Ok(Asked::Wrong("a view names at most 20 sites".to_owned()));
                }
                if name.len() > 200
                    || [&order.query, &order.subject, &order.language].into_iter().any(long)
                {
                    return Ok(Asked::Wrong(
                        "name and words of a view are at most 500 letters".to_owned(),
                    ));
                }
                // A view that can never be shown is not kept.
                if let Err(wrong @ Asked::Wrong(_)) = found(&order, followers, now) {
                    return Ok(wrong);
                }
                let view = super::SavedView { name: name.to_owned(), order, ..view.clone() };
                self.with(|open| {
                    let replaced = open.reader.saved().iter().any(|saved| saved.name == view.name);
                    let view = open.reader.save(&view)?;
                    row(json!({ "saved": view, "replaced": replaced }))
                })
            }
            NewsAct::Unsave(id) => match self.with(|open| open.reader.unsave(*id))? {
                Some(view) => row(json!({ "removed": view })),
                None => Ok(Asked::Unknown(format!(
                    "no saved view has the number {id}; `argiope news saved` lists them"
                ))),
            },
        }
    }
}

fn unknown_story(number: u64) -> Asked {
    Asked::Unknown(format!("no story has the number {number}; `argiope news list` shows them"))
}

/// Pages with the words of an order; `None` where it has none.
fn found(
    order: &NewsOrder,
    followers: &Followers,
    now: Time,
) -> Result<Option<HashSet<u64>>, Asked> {
    let Some(query) = order.query.as_deref().filter(|query| !query.trim().is_empty()) else {
        return Ok(None);
    };
    let options = SearchOptions {
        limit: HITS,
        sort: Sort::Date,
        snippets: false,
        fold: false,
        suggest: false,
        links: false,
        now,
        ..SearchOptions::default()
    };
    match followers.words.search(query, &options) {
        Ok(answer) => Ok(Some(answer.hits.iter().map(|hit| hit.doc.0).collect())),
        Err(SearchError::Mistake(mistake)) => Err(Asked::Wrong(mistake.to_string())),
        Err(SearchError::Index(e)) => Err(Asked::Sorry(chain(&e))),
    }
}

/// A piece of a list, and how to ask for the next.
fn listed(
    open: &mut Open,
    order: &NewsOrder,
    hits: Option<&HashSet<u64>>,
    sites: &Sites,
    now: Time,
) -> Result<Asked, NewsError> {
    let limit = if order.limit == 0 { USUAL } else { order.limit.min(MOST) };
    let wanted = Wanted::new(open, order, hits, now);
    let mut entries = open.list(&wanted, limit + 1);
    let more = entries.len() > limit;
    entries.truncate(limit);
    let mut rows = Vec::with_capacity(entries.len());
    for (_, _, n) in &entries {
        rows.push(match order.articles {
            true if order.texts => {
                let mut row = open.article_row(*n, sites)?;
                row["text"] = open.text(*n)?;
                row
            }
            true => open.article_row(*n, sites)?,
            false => {
                let members = open.shown_members(*n, order.hidden);
                open.story_row(&members, sites, |open, n| wanted.picks(open, n))?.0
            }
        });
    }
    let last = entries.last().filter(|_| more);
    let next = last.map(|(time, number, _)| {
        Box::new(Question::News(NewsOrder { after: Some((*time, *number)), ..order.clone() }))
    });
    Ok(Asked::Piece(rows, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_named_as_hosts_are_called_here() {
        for (written, host) in [
            ("Example.org", "example.org"),
            (" https://www.example.org/news/?x ", "www.example.org"),
            ("Bücher.example", "xn--bcher-kva.example"),
            ("localhost:8000/x", "localhost:8000"),
            ("[::1]:8000", "[::1]:8000"),
            ("www.example.org:8443", "www.example.org"),
            ("", ""),
        ] {
            assert_eq!(bare(written), host, "{written}");
        }
    }
}
