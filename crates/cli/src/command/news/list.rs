//! `news list`: collected news as text, stories with their sources, newest first.

use super::follow;
use super::quick::plain;
use crate::Usage;
use crate::args::{Format, Global};
use crate::args_news::{List, View};
use crate::command::ask::{ask, ask_pieces};
use crate::command::diff::changed_lines;
use crate::command::links::print_rows;
use crate::command::{now, print_json};
use crate::config::parse_duration;
use crate::output::{self, Style, count, cut_wide, padded, plural, wrapped};
use anyhow::bail;
use argiope_archive::{TextBlob, warc_date};
use argiope_crawl::{Difference, NewsOrder, Question, SavedView, back_of, span_of};
use argiope_model::Time;
use argiope_news::subject_of;
use serde_json::Value;
use std::process::ExitCode;

/// Rows asked for at once.
const PIECE: usize = 200;
/// Columns of a title and of a text, however narrow the terminal.
const LEAST: usize = 30;
/// Columns before what stands below its columns.
const INDENT: usize = 4;
/// Columns in which a text is read, however wide it is.
const READ: usize = 96;
/// Subjects named where one is not known.
const SUBJECTS: usize = 20;
const STORY_FIELDS: [&str; 9] =
    ["story", "time", "title", "subject", "sources", "count", "unread", "updated", "url"];
const ARTICLE_FIELDS: [&str; 12] = [
    "doc", "story", "time", "title", "subject", "source", "site", "language", "authors", "read",
    "url", "text",
];
/// Sources named under a story.
const SOURCES: usize = 5;

pub fn list(global: &Global, args: &List) -> anyhow::Result<ExitCode> {
    if let Some(number) = args.story {
        return story(global, number);
    }
    let mut order = order(&args.view)?;
    if let Some(name) = &args.saved {
        order = joined(saved(global, name)?, order);
        check_span(&order)?;
    }
    let mut rows = Vec::new();
    // One more than is shown tells whether there is more.
    let first = NewsOrder { limit: args.limit.saturating_add(1).min(PIECE), ..order.clone() };
    ask_pieces(global, &Question::News(first), |piece| {
        rows.extend(piece);
        Ok(rows.len() <= args.limit)
    })?;
    let is_cut = rows.len() > args.limit;
    rows.truncate(args.limit);
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    if global.format == Format::Csv {
        let fields = if order.articles { &ARTICLE_FIELDS[..] } else { &STORY_FIELDS };
        let fields =
            if order.texts { fields } else { fields.strip_suffix(&["text"]).unwrap_or(fields) };
        print_rows(global.format, fields, &rows, true)?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        output::talk(nothing(global, &order)?);
        return Ok(ExitCode::SUCCESS);
    }
    let shown = Shown::new();
    rows.iter_mut().for_each(output::clean_row);
    match order.articles {
        true => output::print_painted(shown.articles(&rows))?,
        false => output::print_painted(shown.stories(&rows))?,
    }
    if is_cut {
        let what = |n| match order.articles {
            true => plural(n, "article", "articles"),
            false => plural(n, "story", "stories"),
        };
        output::talk(format!("The newest {}; --limit N shows more.", what(args.limit as u64)));
    }
    Ok(ExitCode::SUCCESS)
}

/// What the flags ask for.
pub fn order(args: &View) -> anyhow::Result<NewsOrder> {
    let since = args.since.as_deref().map(|text| moment("--since", text)).transpose()?;
    let until = args.until.as_deref().map(|text| moment("--until", text)).transpose()?;
    let order = NewsOrder {
        sites: args.site.clone(),
        subject: args.subject.clone(),
        since,
        until,
        query: args.query.clone(),
        language: args.language.clone(),
        unread: args.unread,
        kept: args.kept,
        alerts: args.alerts,
        hidden: args.hidden,
        articles: args.articles || args.text,
        texts: args.text,
        limit: 0,
        after: None,
    };
    check_span(&order)?;
    Ok(order)
}

/// Refuses a span of time in which nothing can lie.
fn check_span(order: &NewsOrder) -> anyhow::Result<()> {
    let at = |time: i64| if time < 0 { now().0.saturating_add(time) } else { time };
    let (Some(since), Some(until)) = (order.since.map(at), order.until.map(at)) else {
        return Ok(());
    };
    if since >= until {
        let why = "--since is not before --until, so nothing lies between them; with --since 2h --until 1h the hour \
                   before the last is shown";
        return Err(Usage(why.to_owned()).into());
    }
    Ok(())
}

/// A point in time, in milliseconds; what is counted back from now is negative, and stays so when it is saved.
fn moment(flag: &str, text: &str) -> anyhow::Result<i64> {
    // `-2d` is what `2d` means.
    let text = text.trim();
    let text =
        text.strip_prefix('-').filter(|rest| rest.ends_with(char::is_alphabetic)).unwrap_or(text);
    let back = back_of(text).map(|ms| -ms).or_else(|| {
        let is_counted = text.trim().ends_with(|c: char| c.is_ascii_alphabetic());
        let length = is_counted.then(|| parse_duration(text).ok()).flatten()?;
        i64::try_from(length.as_millis()).ok()
    });
    if let Some(back) = back.filter(|back| *back > 0) {
        return Ok(-back);
    }
    span_of(text, now()).map(|(from, _)| from.0).ok_or_else(|| {
        Usage(format!("{flag} {text}: no time; write 12h, 2d, 1w, 2026-01-31 or yesterday")).into()
    })
}

fn saved(global: &Global, name: &str) -> anyhow::Result<NewsOrder> {
    let rows = ask(global, &Question::NewsOverview)?;
    let views = rows.first().map(|row| row["saved"].clone()).unwrap_or_default();
    let views: Vec<SavedView> = serde_json::from_value(views)?;
    match views.into_iter().find(|view| view.name == name) {
        Some(view) => Ok(view.order),
        None => bail!("nothing is saved as {name}; `argiope news saved` lists what is"),
    }
}

/// What was saved, and what the flags say besides.
fn joined(saved: NewsOrder, flags: NewsOrder) -> NewsOrder {
    NewsOrder {
        sites: if flags.sites.is_empty() { saved.sites } else { flags.sites },
        subject: flags.subject.or(saved.subject),
        since: flags.since.or(saved.since),
        until: flags.until.or(saved.until),
        query: flags.query.or(saved.query),
        language: flags.language.or(saved.language),
        unread: flags.unread || saved.unread,
        kept: flags.kept || saved.kept,
        alerts: flags.alerts || saved.alerts,
        hidden: flags.hidden || saved.hidden,
        articles: flags.articles || saved.articles,
        texts: flags.texts || saved.texts,
        limit: 0,
        after: None,
    }
}

/// Why there is nothing, and what to do.
fn nothing(global: &Global, order: &NewsOrder) -> anyhow::Result<String> {
    let rows = ask(global, &Question::NewsOverview)?;
    let overview = rows.first().cloned().unwrap_or_default();
    let followed = overview["sites"].as_array().map_or(0, Vec::len);
    if let Some(said) = nothing_of(global, order, &overview) {
        return Ok(said);
    }
    let on = order.subject.as_deref().map(|subject| subject.trim().to_lowercase());
    let on = on.map(|subject| subject_of(&subject).map_or(subject.clone(), str::to_owned));
    let subjects: Vec<&str> = overview["subjects"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|row| text(row, "subject"))
        .filter(|subject| !subject.is_empty())
        .collect();
    if let Some(on) = on.filter(|on| !subjects.is_empty() && !subjects.contains(&&**on)) {
        let there = subjects[..subjects.len().min(SUBJECTS)].join(", ");
        let more = if subjects.len() > SUBJECTS { " and others" } else { "" };
        return Ok(format!("Nothing is on {on}; the subjects that there are: {there}{more}."));
    }
    let (articles, hidden) = (number(&overview["articles"]), number(&overview["hidden"]));
    Ok(match (followed, articles) {
        (0, _) => {
            "No site is followed yet: `argiope news sites add https://www.example.org/`, then \
                   `argiope news collect`."
                .to_owned()
        }
        (_, 0) if hidden > 0 => {
            "Rules hide all there is; --hidden shows it, `argiope news rules` lists them."
                .to_owned()
        }
        (_, 0) => {
            "No articles yet: `argiope news collect` fetches those of the sites that are followed; \
                   pages crawled with --no-archive tell too little to be among them."
                .to_owned()
        }
        _ if *order == NewsOrder::default() => "There is nothing to show.".to_owned(),
        (_, n) => {
            format!("Nothing fits among {}; ask for less.", plural(n, "article", "articles"))
        }
    })
}

/// What to say of a site that is asked for and has nothing.
fn nothing_of(global: &Global, order: &NewsOrder, overview: &Value) -> Option<String> {
    let known: Vec<&Value> = overview["sites"].as_array().into_iter().flatten().collect();
    if known.is_empty() {
        return None;
    }
    for site in &order.sites {
        let wanted = follow::wanted(site).ok()?;
        let host = wanted.url.host();
        let is_its = |row: &&&Value| {
            let name = text(row, "site");
            name == wanted.site || host.strip_suffix(name).is_some_and(|sub| sub.ends_with('.'))
        };
        match known.iter().find(is_its) {
            None => {
                let near = follow::near(global, &wanted);
                let site = site.trim();
                return Some(format!(
                    "{site} is not followed, and nothing was collected of it{near}"
                ));
            }
            Some(row) if number(&row["articles"]) + number(&row["hidden"]) == 0 => {
                let site = text(row, "site");
                return Some(format!(
                    "Nothing was collected of {site} yet: `argiope news collect --sites {site}` looks."
                ));
            }
            Some(_) => {}
        }
    }
    None
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn text<'r>(row: &'r Value, name: &str) -> &'r str {
    row[name].as_str().unwrap_or_default()
}

fn story(global: &Global, number: u64) -> anyhow::Result<ExitCode> {
    let mut rows = ask(global, &Question::Story(number))?;
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    rows.iter_mut().for_each(output::clean_row);
    output::print_painted(Shown::new().whole(&rows))?;
    Ok(ExitCode::SUCCESS)
}

/// How rows are shown.
struct Shown {
    now: Time,
    colour: bool,
    width: usize,
}

impl Shown {
    fn new() -> Self {
        Shown { now: now(), colour: output::in_colour(), width: output::width() }
    }

    fn bold(&self, text: &str) -> String {
        self.in_colour(Style::Bold, text)
    }

    fn faint(&self, text: &str) -> String {
        self.in_colour(Style::Faint, text)
    }

    fn in_colour(&self, style: Style, text: &str) -> String {
        match self.colour {
            true => output::paint(style, text),
            false => text.to_owned(),
        }
    }

    fn age(&self, iso: &str) -> String {
        let Some((time, _)) = span_of(iso, self.now) else { return "-".to_owned() };
        let seconds = self.now.since(time).as_secs();
        match seconds {
            0..60 => "now".to_owned(),
            60..3_600 => format!("{} min", seconds / 60),
            3_600..172_800 => format!("{} h", seconds / 3_600),
            172_800..5_184_000 => format!("{} d", seconds / 86_400),
            _ => iso.get(..10).unwrap_or(iso).to_owned(),
        }
    }

    /// When an article appeared, as its page tells it.
    fn moment(&self, row: &Value) -> String {
        let minutes = |time: Time| time.iso_seconds()[..16].replace('T', " ");
        let zone = text(row, "zone");
        let shift =
            zone.get(1..).and_then(|zone| zone.split_once(':')).and_then(|(hours, minutes)| {
                let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
                Some(if zone.starts_with('-') { -minutes } else { minutes })
            });
        match (span_of(text(row, "time"), self.now), shift.filter(|minutes| *minutes != 0)) {
            (None, _) => "-".to_owned(),
            (Some((time, _)), None) => format!("{} UTC", minutes(time)),
            (Some((time, _)), Some(shift)) => {
                format!("{} {zone}", minutes(Time(time.0 + shift * 60_000)))
            }
        }
    }

    /// Marks of a row: alerts, kept, hidden, gone, changed.
    fn marks(&self, row: &Value) -> String {
        let alerts = row["alerts"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut marks: Vec<String> =
            alerts.map(|words| self.in_colour(Style::Red, &format!("[alert: {words}]"))).collect();
        if row["kept"] == true {
            marks.push("[kept]".to_owned());
        }
        if row["hidden"] == true {
            marks.push("[hidden]".to_owned());
        }
        if row["gone"].is_string() {
            marks.push("[gone]".to_owned());
        }
        if row["updated"].is_string() {
            marks.push(format!("[changed {}]", self.age(text(row, "updated"))));
        }
        if marks.is_empty() { String::new() } else { format!("  {}", marks.join(" ")) }
    }

    /// Lines for a list: number, age, subject in columns, then the title, and what is told about it. Where
    /// there is no room beside the columns, the rest stands below them.
    fn entry(
        &self,
        widths: (usize, usize, usize),
        key: &str,
        row: &Value,
        unread: bool,
        about: &str,
    ) -> Vec<String> {
        let (wide, age, subject) = widths;
        let beside = wide + age + subject + 6;
        if self.width >= beside + LEAST {
            let line = self.line(widths, key, row, unread);
            return vec![line, format!("{}{}", " ".repeat(beside), self.faint(about))];
        }
        let room = self.width.saturating_sub(INDENT).max(LEAST - INDENT);
        let head = [
            number(&row[key]).to_string(),
            self.age(text(row, "time")),
            text(row, "subject").to_owned(),
        ];
        let head: Vec<String> = head.into_iter().filter(|part| !part.is_empty()).collect();
        let mut lines = vec![format!("{}{}", head.join("  "), self.marks(row))];
        for title in wrapped(text(row, "title"), room) {
            let title = if unread { self.bold(&title) } else { title };
            lines.push(format!("{}{title}", " ".repeat(INDENT)));
        }
        for part in about.split(" · ") {
            // An address stays whole, to be opened.
            let parts =
                if part.contains("://") { vec![part.to_owned()] } else { wrapped(part, room) };
            lines.extend(
                parts.iter().map(|part| format!("{}{}", " ".repeat(INDENT), self.faint(part))),
            );
        }
        lines
    }

    fn line(&self, widths: (usize, usize, usize), key: &str, row: &Value, unread: bool) -> String {
        let (wide, age, subject) = widths;
        let room = self.width.saturating_sub(wide + age + subject + 6).max(LEAST);
        let title = cut_wide(text(row, "title"), room);
        let title = if unread { self.bold(&title) } else { title };
        format!(
            "{:>wide$}  {:>age$}  {}  {title}{}",
            number(&row[key]),
            self.age(text(row, "time")),
            padded(text(row, "subject"), subject),
            self.marks(row),
        )
    }

    /// The text of an article, paragraph by paragraph.
    /// What changed in an article with each of its versions, word by word.
    fn changes(&self, row: &Value) -> Vec<String> {
        let now = row["updated"].as_str().unwrap_or_else(|| text(row, "seen"));
        let past = row["past"].as_array().into_iter().flatten();
        let all: Vec<(&Value, &str)> =
            past.map(|past| (past, text(past, "time"))).chain([(row, now)]).collect();
        let mut lines = Vec::new();
        for pair in all.windows(2).rev() {
            let [(old, before), (new, time)] = [pair[0], pair[1]];
            let (Some(before), Some(at)) = (warc_date(before), warc_date(time)) else { continue };
            lines.push(format!("  changed {} UTC:", at.iso_seconds()[..16].replace('T', " ")));
            if text(old, "text").is_empty() || text(new, "text").is_empty() {
                lines.push(self.faint("    its page does not allow to quote it"));
                continue;
            }
            let blob = |row: &Value| TextBlob {
                title: text(row, "title").to_owned(),
                text: text(row, "text").to_owned(),
                ..TextBlob::default()
            };
            let url = text(row, "url").to_owned();
            let two = Difference::of(url, [before, at], [blob(old), blob(new)]);
            let changed = changed_lines(&two, self.colour).into_iter();
            lines.extend(changed.map(|line| format!("    {line}")));
        }
        lines
    }

    fn text(&self, row: &Value) -> Vec<String> {
        let room = self.width.saturating_sub(2).clamp(LEAST, READ);
        let mut lines = Vec::new();
        for paragraph in text(row, "text").lines() {
            let wrapped = wrapped(&plain(paragraph), room);
            if !wrapped.is_empty() {
                lines.push(String::new());
                lines.extend(wrapped.into_iter().map(|line| format!("  {line}")));
            }
        }
        lines
    }

    fn widths(&self, key: &str, rows: &[Value]) -> (usize, usize, usize) {
        let most = |of: &dyn Fn(&Value) -> usize| rows.iter().map(of).max().unwrap_or(0);
        (
            most(&|row| number(&row[key]).to_string().len()),
            most(&|row| self.age(text(row, "time")).chars().count()),
            most(&|row| output::wide(text(row, "subject"))),
        )
    }

    fn stories(&self, rows: &[Value]) -> Vec<String> {
        let widths = self.widths("story", rows);
        let mut lines = Vec::new();
        for row in rows {
            let sources: Vec<&str> =
                row["sources"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let mut about = sources[..sources.len().min(SOURCES)].join(", ");
            if sources.len() > SOURCES {
                about.push_str(&format!(" and {} more", sources.len() - SOURCES));
            }
            if number(&row["count"]) > 1 {
                about.push_str(&format!(" · {} articles", count(number(&row["count"]))));
            }
            about.push_str(&format!(" · {}", text(row, "url")));
            lines.extend(self.entry(widths, "story", row, number(&row["unread"]) > 0, &about));
        }
        lines
    }

    fn articles(&self, rows: &[Value]) -> Vec<String> {
        let widths = self.widths("doc", rows);
        let mut lines = Vec::new();
        for row in rows {
            let about = format!("{} · {}", text(row, "source"), text(row, "url"));
            lines.extend(self.entry(widths, "doc", row, row["read"] == false, &about));
            let text = self.text(row);
            if !text.is_empty() {
                lines.extend(text);
                lines.push(String::new());
            }
        }
        lines
    }

    /// A story with all of its articles.
    fn whole(&self, rows: &[Value]) -> Vec<String> {
        let Some((story, articles)) = rows.split_first() else { return Vec::new() };
        let mut lines = vec![format!("{}{}", self.bold(text(story, "title")), self.marks(story))];
        if !text(story, "summary").is_empty() {
            lines.push(text(story, "summary").to_owned());
        }
        let sources = story["sources"].as_array().map_or(0, Vec::len) as u64;
        let mut about = vec![format!("story {}", number(&story["story"]))];
        about.extend(story["subject"].as_str().map(str::to_owned));
        about.push(plural(articles.len() as u64, "article", "articles"));
        about.push(plural(sources, "source", "sources"));
        lines.push(self.faint(&about.join(" · ")));
        for row in articles {
            lines.push(String::new());
            let title = plain(text(row, "title"));
            let title = if row["read"] == false { self.bold(&title) } else { title };
            lines.push(format!("  {}: {title}{}", text(row, "source"), self.marks(row)));
            let mut about = vec![self.moment(row)];
            let authors: Vec<&str> =
                row["authors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            if !authors.is_empty() {
                about.push(format!("by {}", authors.join(", ")));
            }
            about.push(plural(number(&row["words"]), "word", "words"));
            about.push(plural(number(&row["versions"]), "version", "versions"));
            lines.push(self.faint(&format!("  {}", about.join(" · "))));
            lines.push(format!("  {}", text(row, "url")));
            for url in row["urls"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                lines.push(self.faint(&format!("  also {url}")));
            }
            if number(&row["versions"]) > 1 {
                lines.extend(self.changes(row));
            }
            lines.extend(self.text(row));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(story: u64, time: &str, title: &str, subject: Option<&str>) -> Value {
        json!({ "story": story, "time": time, "title": title, "subject": subject, "url": "http://a.test/x",
            "sources": ["A", "B"], "count": 3, "unread": 1, "alerts": ["flood"], "kept": false,
            "hidden": false, "updated": null })
    }

    #[test]
    fn stories_stand_in_columns() {
        let shown = Shown { now: Time(1_731_196_800_000), colour: false, width: 80 };
        let rows = [
            row(7, "2024-11-09T23:00:00.000Z", "A flood", Some("world")),
            row(1200, "2024-11-01T00:00:00.000Z", "Long ago", None),
        ];
        let lines = shown.stories(&rows);
        assert_eq!(lines[0], "   7  1 h  world  A flood  [alert: flood]");
        assert_eq!(lines[1], "                  A, B · 3 articles · http://a.test/x");
        assert_eq!(lines[2], "1200  9 d         Long ago  [alert: flood]");
    }

    #[test]
    fn on_a_narrow_terminal_titles_stand_below_their_columns() {
        let shown = Shown { now: Time(1_731_196_800_000), colour: false, width: 40 };
        let title = "The second bridge over the Alder opens two months earlier";
        let rows = [row(39594, "2024-11-09T23:00:00.000Z", title, Some("environment"))];
        assert_eq!(
            shown.stories(&rows),
            [
                "39594  1 h  environment  [alert: flood]",
                "    The second bridge over the Alder",
                "    opens two months earlier",
                "    A, B",
                "    3 articles",
                "    http://a.test/x",
            ]
        );
    }

    #[test]
    fn a_story_is_read_in_its_own_time_and_within_the_window() {
        let shown = Shown { now: Time(1_731_196_800_000), colour: false, width: 40 };
        let story = json!({ "story": 7, "title": "A flood", "summary": "", "sources": ["A"] });
        let article = json!({ "source": "A", "title": "A flood", "time": "2024-11-09T23:00:00.000Z", "zone": "-03:30",
            "url": "http://a.test/x", "versions": 1, "words": 12, "authors": ["B. C."],
            "text": "The river rose by two metres over night.\nNobody was\u{1b}[31m hurt." });
        let lines = shown.whole(&[story, article]);
        assert!(
            lines.contains(
                &"  2024-11-09 19:30 -03:30 · by B. C. · 12 words · 1 version".to_owned()
            ),
            "{lines:?}"
        );
        let from =
            lines.iter().position(|line| line.contains("http://a.test/x")).expect("its address");
        assert_eq!(
            lines[from + 1..],
            ["", "  The river rose by two metres over", "  night.", "", "  Nobody was [31m hurt."]
        );
    }

    #[test]
    fn times_are_counted_back_or_named() {
        assert_eq!(moment("--since", "2d").expect("a time"), -2 * 86_400_000);
        assert_eq!(moment("--since", "12h").expect("a time"), -12 * 3_600_000);
        assert_eq!(moment("--since", "1w").expect("a time"), -7 * 86_400_000);
        assert_eq!(moment("--since", "2024-11-10").expect("a time"), 1_731_196_800_000);
        assert_eq!(moment("--since", "-1d").expect("a time"), -86_400_000);
        assert!(moment("--since", "soon").is_err());
        let span = |since, until| {
            check_span(&NewsOrder {
                since: Some(since),
                until: Some(until),
                ..NewsOrder::default()
            })
        };
        assert!(span(-7_200_000, -3_600_000).is_ok() && span(0, -3_600_000).is_ok());
        assert!(span(-3_600_000, -7_200_000).expect_err("a mistake").is::<Usage>());
    }
}
