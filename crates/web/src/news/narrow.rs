//! Which news are asked for: between the address of a page, an order for the desk, and words for people.
//!
//! * Invariants: names that are not known are left out of every address we make. Where a list goes on (`after`) belongs to one
//!   view; whoever changes the view begins anew.

use crate::failure::Failure;
use crate::view::parts::{Wanted, language};
use crate::words::{encoded, list, plural, text};
use argiope_crawl::{NewsOrder, back_as, back_of, span_of};
use argiope_model::Time;
use axum::extract::Query;
use axum::http::Uri;
use serde_json::Value;

/// Everything that narrows a view.
pub(crate) const NAMES: [&str; 12] = [
    "site", "subject", "day", "since", "until", "q", "lang", "unread", "alerts", "kept", "hidden",
    "articles",
];
/// Those of them that are there or not.
const FLAGS: [&str; 5] = ["unread", "alerts", "kept", "hidden", "articles"];
/// Sites that a view names at most.
const SITES: usize = 20;
/// Characters of a value.
const VALUE: usize = 500;
const DAY: i64 = 86_400_000;

/// A view as its address says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    wanted: Wanted,
    after: Option<(i64, u64)>,
}

impl View {
    /// What an address asks for.
    pub fn of(asked: Vec<(String, String)>) -> View {
        let asked = Wanted::of(asked);
        let place = |text: &str| {
            let (time, number) = text.split_once('.')?;
            Some((time.parse().ok()?, number.parse().ok()?))
        };
        let after = place(asked.get("after"));
        let mut wanted = Wanted::default();
        for name in NAMES {
            let value = asked.get(name);
            let value = if FLAGS.contains(&name) { flag(value) } else { value };
            if value.chars().count() <= VALUE {
                wanted = wanted.with(name, value);
            }
        }
        View { wanted, after }
    }

    /// What a form of ours carries: the query of an address.
    pub fn read(query: &str) -> View {
        // A browser has decoded it once; the rest is as [`View::query`] wrote it.
        let uri = format!("/?{query}").parse::<Uri>().ok();
        let pairs = uri.and_then(|uri| Query::<Vec<(String, String)>>::try_from_uri(&uri).ok());
        View::of(pairs.map(|pairs| pairs.0).unwrap_or_default())
    }

    /// The view of an order, a saved one for example.
    pub fn of_order(order: &NewsOrder) -> View {
        let iso = |ms: Option<i64>| {
            ms.map(|ms| back_as(ms).unwrap_or_else(|| Time(ms).iso_seconds())).unwrap_or_default()
        };
        let some = |text: &Option<String>| text.clone().unwrap_or_default();
        let yes = |yes: bool| if yes { "1".to_owned() } else { String::new() };
        let day = match (order.since, order.until) {
            (Some(from), Some(to)) if from > 0 && to - from == DAY && from % DAY == 0 => {
                iso(Some(from)).get(..10).map(str::to_owned)
            }
            _ => None,
        };
        let (since, until) = match day {
            Some(_) => (String::new(), String::new()),
            None => (iso(order.since), iso(order.until)),
        };
        let values = [
            order.sites.join(","),
            some(&order.subject),
            day.unwrap_or_default(),
            since,
            until,
            some(&order.query),
            some(&order.language),
            yes(order.unread),
            yes(order.alerts),
            yes(order.kept),
            yes(order.hidden),
            yes(order.articles),
        ];
        let names = NAMES.iter().map(|name| (*name).to_owned());
        View::of(names.zip(values).collect())
    }

    /// A value; empty where there is none.
    pub fn get(&self, name: &str) -> &str {
        self.wanted.get(name)
    }

    /// Whether it begins at its beginning.
    pub fn is_first(&self) -> bool {
        self.after.is_none()
    }

    /// Whether all news are shown, but for where the list goes on.
    pub fn is_all(&self) -> bool {
        NAMES.iter().all(|name| self.get(name).is_empty())
    }

    /// The same from its beginning, with another value; empty takes it away.
    pub fn with(&self, name: &str, value: &str) -> View {
        View { wanted: self.wanted.with(name, value), after: None }
    }

    /// The same, from a place on.
    pub fn from(&self, after: Option<(i64, u64)>) -> View {
        View { after, ..self.clone() }
    }

    /// Where it is shown.
    pub fn at(&self, path: &str) -> String {
        match self.query() {
            query if query.is_empty() => path.to_owned(),
            query => format!("{path}?{query}"),
        }
    }

    /// As the query of an address, always in the same order.
    pub fn query(&self) -> String {
        let mut pairs: Vec<String> = NAMES
            .iter()
            .filter(|name| !self.get(name).is_empty())
            .map(|name| format!("{name}={}", encoded(self.get(name))))
            .collect();
        pairs.extend(self.after.map(|(time, number)| format!("after={time}.{number}")));
        pairs.join("&")
    }

    /// As an order for the desk.
    pub fn order(&self, now: Time, limit: usize) -> Result<NewsOrder, Failure> {
        let order = order_of(|name| self.get(name).to_owned(), now).map_err(Failure::wrong)?;
        Ok(NewsOrder { limit, after: self.after, ..order })
    }

    /// What narrows it, in words: the name of each part, and what it says.
    pub fn parts(&self, overview: &Value) -> Vec<(&'static str, String)> {
        let mut out = Vec::new();
        for name in NAMES {
            let value = self.get(name);
            let said = match name {
                _ if value.is_empty() => continue,
                "site" => {
                    let names: Vec<&str> = value.split(',').map(|s| named(s, overview)).collect();
                    names.join(", ")
                }
                "day" => super::age::day_words(value),
                "since" if back_of(value).is_some() => format!("of the last {}", spelled(value)),
                "until" if back_of(value).is_some() => format!("older than {}", spelled(value)),
                "since" => format!("since {}", value.trim_end_matches('Z').replace('T', " ")),
                "until" => format!("before {}", value.trim_end_matches('Z').replace('T', " ")),
                "q" => format!("“{value}”"),
                "lang" => language(value),
                "unread" => "unread".to_owned(),
                "alerts" => "alerts".to_owned(),
                "kept" => "kept".to_owned(),
                "hidden" => "also hidden ones".to_owned(),
                "articles" => "each article by itself".to_owned(),
                _ => value.to_owned(),
            };
            out.push((name, said));
        }
        out
    }
}

/// A span of time in words: `2d` is “2 days”.
fn spelled(span: &str) -> String {
    let (number, unit) = span.split_at(span.len().saturating_sub(1));
    let name = match unit {
        "m" => "minute",
        "h" => "hour",
        "d" => "day",
        _ => "week",
    };
    plural(number.parse().unwrap_or(0), name, &format!("{name}s"))
}

/// What a followed site is called.
pub(super) fn named<'a>(site: &'a str, overview: &'a Value) -> &'a str {
    let of = list(overview, "sites").iter().find(|row| text(row, "site") == site);
    of.map(|row| text(row, "name")).filter(|name| !name.is_empty()).unwrap_or(site)
}

fn flag(value: &str) -> &str {
    if matches!(value, "1" | "true") { "1" } else { "" }
}

/// The order of named values, as the pages and the API take them; where sites stand with commas between them.
pub(crate) fn order_of(get: impl Fn(&str) -> String, now: Time) -> Result<NewsOrder, String> {
    let some = |name: &str| Some(get(name)).filter(|value| !value.is_empty());
    let span = |name: &str| match some(name) {
        None => Ok(None),
        Some(written) => span_of(&written, now).map(Some).ok_or_else(|| {
            format!("{name}={written} is no time; write 2026-01-31, yesterday or 2d")
        }),
    };
    let sites: Vec<String> = get("site")
        .split(',')
        .map(str::trim)
        .filter(|site| !site.is_empty())
        .map(str::to_owned)
        .collect();
    if sites.len() > SITES {
        return Err(format!("at most {SITES} sites can be named at once"));
    }
    let day = span("day")?;
    // `2d` stays two days back from whenever it is asked, but for where a day bounds it, too.
    let bound = |name: &str| match some(name).as_deref().and_then(back_of) {
        Some(back) if day.is_some() => Ok(Some(now.0 + back)),
        Some(back) => Ok(Some(back)),
        None => span(name).map(|span| span.map(|of| of.0.0)),
    };
    let later = [bound("since")?, day.map(|of| of.0.0)];
    let earlier = [bound("until")?, day.map(|of| of.1.0)];
    let yes = |name: &str| !flag(&get(name)).is_empty();
    Ok(NewsOrder {
        sites,
        subject: some("subject"),
        since: later.into_iter().flatten().max(),
        until: earlier.into_iter().flatten().min(),
        query: some("q"),
        language: some("lang"),
        unread: yes("unread"),
        kept: yes("kept"),
        alerts: yes("alerts"),
        hidden: yes("hidden"),
        articles: yes("articles"),
        texts: yes("texts"),
        limit: 0,
        after: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn view(query: &str) -> View {
        View::read(query)
    }

    #[test]
    fn an_address_survives_the_way_to_an_order_and_back() {
        let now = Time(1_763_300_000_000);
        for query in [
            "",
            "site=a.test&subject=sport&day=2026-11-14&q=a%20b%26c&lang=en&unread=1",
            "site=a.test%2Cb.test&since=2026-11-14T10%3A00%3A00Z&kept=1&hidden=1&articles=1",
            "since=2d&until=12h",
        ] {
            let order = view(query).order(now, 30).unwrap();
            assert_eq!(View::of_order(&order).query(), query);
            assert_eq!(
                view(query).at("/news").trim_start_matches("/news?"),
                if query.is_empty() { "/news" } else { query }
            );
        }
    }

    #[test]
    fn what_is_not_known_is_left_out_and_a_change_begins_anew() {
        let here = view("evil=%2F%2Fx&unread=yes&site=a.test&after=-5.7&q=");
        assert_eq!(here.query(), "site=a.test&after=-5.7");
        assert_eq!(here.with("unread", "1").query(), "site=a.test&unread=1");
        assert_eq!(view("after=x").query(), "");
        assert_eq!(view(&format!("q={}", "x".repeat(501))).query(), "");
        let from = here.from(Some((9, 1)));
        assert_eq!((from.is_first(), from.order(Time(0), 1).unwrap().after), (false, Some((9, 1))));
    }

    #[test]
    fn days_bound_a_view_on_both_sides() {
        let order = view("day=2026-11-14&since=2026-11-14T06:00:00Z").order(Time(0), 5).unwrap();
        let (since, until) = (Time(order.since.unwrap()), Time(order.until.unwrap()));
        assert_eq!(since.iso_seconds(), "2026-11-14T06:00:00Z");
        assert_eq!(until.iso_seconds(), "2026-11-15T00:00:00Z");
        assert!(view("day=soon").order(Time(0), 5).is_err());
        let many: Vec<String> = (0..21).map(|n| format!("{n}.test")).collect();
        assert!(view(&format!("site={}", many.join(","))).order(Time(0), 5).is_err());
    }

    #[test]
    fn what_narrows_is_said_in_words() {
        let overview = json!({ "sites": [{ "site": "a.test", "name": "The A" }] });
        let parts = view("site=a.test,b.test&q=x&unread=1&lang=de&day=2026-11-14").parts(&overview);
        let spans = view("since=2d&until=1h").parts(&overview);
        assert_eq!((&*spans[0].1, &*spans[1].1), ("of the last 2 days", "older than 1 hour"));
        let said: Vec<&str> = parts.iter().map(|(_, said)| said.as_str()).collect();
        assert_eq!(said, ["The A, b.test", "14 November 2026", "“x”", "German (de)", "unread"]);
    }
}
