//! `news read`, `news rules`, `news saved`: what the reader has.

use super::follow;
use super::list::order;
use crate::Usage;
use crate::args::{Format, Global};
use crate::args_news::{Read, Rules, RulesAction, Saved, SavedAction};
use crate::command::ask::ask;
use crate::command::print_json;
use crate::config::human_duration;
use crate::output::{self, plural, table};
use argiope_crawl::{NewsAct, NewsOrder, Question, RuleAction, SavedView, WordRule};
use argiope_model::Time;
use serde_json::Value;
use std::process::ExitCode;
use std::time::Duration;

pub fn read(global: &Global, args: &Read) -> anyhow::Result<ExitCode> {
    if args.stories.is_empty() && !args.all {
        return Err(Usage(
            "which stories? `argiope news list` shows their numbers; --all means everything"
                .to_owned(),
        )
        .into());
    }
    let act = match args.all {
        true => {
            let order = NewsOrder { hidden: true, ..NewsOrder::default() };
            NewsAct::ReadAll { order, seen: None }
        }
        false => {
            NewsAct::Read { docs: Vec::new(), stories: args.stories.clone(), read: !args.undo }
        }
    };
    let row = acted(global, act)?;
    if let Some(row) = row {
        let marked = row["read"].as_u64().or(row["unread"].as_u64()).unwrap_or(0);
        let state = if args.undo { "unread again" } else { "read" };
        output::talk(format!("Marked as {state}: {}.", plural(marked, "article", "articles")));
    }
    Ok(ExitCode::SUCCESS)
}

/// Does something; the row that says what became of it, unless it was printed as JSON.
fn acted(global: &Global, act: NewsAct) -> anyhow::Result<Option<Value>> {
    let rows = ask(global, &Question::NewsAct(act))?;
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(None);
    }
    Ok(Some(rows.into_iter().next().unwrap_or_default()))
}

/// A list out of the overview.
fn of_overview<T: serde::de::DeserializeOwned>(
    global: &Global,
    name: &str,
) -> anyhow::Result<Vec<T>> {
    let rows = ask(global, &Question::NewsOverview)?;
    let list = rows.first().map(|row| row[name].clone()).unwrap_or_default();
    Ok(serde_json::from_value(list)?)
}

pub fn rules(global: &Global, args: &Rules) -> anyhow::Result<ExitCode> {
    match &args.action {
        None | Some(RulesAction::List) => {
            let rules: Vec<WordRule> = of_overview(global, "rules")?;
            if global.format == Format::Json {
                let rows = rules.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
                print_json(&rows)?;
            } else if rules.is_empty() {
                output::talk(
                    "There are no rules: `argiope news rules add hide 'horoscope'` makes one.",
                );
            } else {
                let row = |rule: &WordRule| {
                    let site = rule.site.clone().unwrap_or_else(|| "all".to_owned());
                    vec![
                        rule.id.to_string(),
                        name_of(rule.action).to_owned(),
                        site,
                        rule.words.clone(),
                    ]
                };
                let rows: Vec<Vec<String>> = rules.iter().map(row).collect();
                output::print(table(&[">rule", "does", "site", "words"], &rows))?;
            }
        }
        Some(RulesAction::Add { action, words, site }) => {
            let action = match action.as_str() {
                "keep" => RuleAction::Keep,
                "hide" => RuleAction::Hide,
                "alert" => RuleAction::Alert,
                other => {
                    let why = format!("{other} is nothing a rule does; write keep, hide or alert");
                    return Err(Usage(why).into());
                }
            };
            let rule = WordRule { id: 0, action, words: words.clone(), site: site.clone() };
            if let Some(row) = acted(global, NewsAct::AddRule(rule))? {
                let id = &row["rule"]["id"];
                let on = site.as_ref().map_or(String::new(), |site| format!(", of {site} alone"));
                output::talk(format!(
                    "Rule {id}: {} what has {words}{on}; `argiope news rules remove {id}` undoes it.",
                    name_of(action)
                ));
                if let Some(site) = site
                    && let Ok(wanted) = follow::wanted(site)
                    && !follow::read(global)?.iter().any(|recipe| recipe.is_for(&wanted.url))
                {
                    output::talk(format!("{site} is not followed; the rule waits until it is."));
                }
            }
        }
        Some(RulesAction::Remove { id }) => {
            if acted(global, NewsAct::RemoveRule(*id))?.is_some() {
                output::talk(format!("Rule {id} is no more."));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn name_of(action: RuleAction) -> &'static str {
    match action {
        RuleAction::Keep => "keep",
        RuleAction::Hide => "hide",
        RuleAction::Alert => "alert",
    }
}

pub fn saved(global: &Global, args: &Saved) -> anyhow::Result<ExitCode> {
    match &args.action {
        None | Some(SavedAction::List) => {
            let views: Vec<SavedView> = of_overview(global, "saved")?;
            if global.format == Format::Json {
                let rows = views.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?;
                print_json(&rows)?;
            } else if views.is_empty() {
                output::talk(
                    "Nothing is saved: `argiope news saved add spiders --query spider` saves a view.",
                );
            } else {
                let row = |view: &SavedView| {
                    vec![view.id.to_string(), view.name.clone(), flags(&view.order)]
                };
                let rows: Vec<Vec<String>> = views.iter().map(row).collect();
                output::print(table(&[">view", "name", "shows"], &rows))?;
            }
        }
        Some(SavedAction::Add { name, view }) => {
            let view = SavedView { id: 0, name: name.clone(), order: order(view)? };
            if let Some(row) = acted(global, NewsAct::Save(view))? {
                let again = match row["replaced"] == true {
                    true => "Saved in place of the view that had this name",
                    false => "Saved",
                };
                output::talk(format!("{again}: `argiope news list --saved '{name}'` shows it."));
            }
        }
        Some(SavedAction::Remove { view }) => {
            let views: Vec<SavedView> = of_overview(global, "saved")?;
            let named = views.iter().find(|saved| saved.name == view.trim());
            let id = named.map(|saved| saved.id).or_else(|| view.trim().parse().ok());
            let Some(id) = id else {
                anyhow::bail!("nothing is saved as {view}; `argiope news saved` lists what is");
            };
            if acted(global, NewsAct::Unsave(id))?.is_some() {
                output::talk(format!("Saved view {view} is no more."));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// An order as the flags of `news list` would write it.
fn flags(order: &NewsOrder) -> String {
    let time = |time: i64| match u64::try_from(-time) {
        Ok(back) if time < 0 => human_duration(Duration::from_millis(back)),
        _ => Time(time).iso_seconds(),
    };
    let mut parts = Vec::new();
    let mut part = |name: &str, value: Option<String>| {
        parts.extend(value.map(|value| format!("--{name} {value}")));
    };
    let quoted = |text: &Option<String>| text.as_ref().map(|text| format!("'{text}'"));
    part("site", (!order.sites.is_empty()).then(|| order.sites.join(",")));
    part("subject", order.subject.clone());
    part("since", order.since.map(time));
    part("until", order.until.map(time));
    part("query", quoted(&order.query));
    part("language", order.language.clone());
    let set = [
        ("unread", order.unread),
        ("kept", order.kept),
        ("alerts", order.alerts),
        ("hidden", order.hidden),
        ("articles", order.articles),
    ];
    parts.extend(set.iter().filter(|(_, on)| *on).map(|(name, _)| format!("--{name}")));
    if parts.is_empty() { "everything".to_owned() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_view_is_written_as_its_flags() {
        let order = NewsOrder {
            query: Some("a b".to_owned()),
            since: Some(-7 * 86_400_000),
            unread: true,
            ..NewsOrder::default()
        };
        assert_eq!(flags(&order), "--since 7d --query 'a b' --unread");
        assert_eq!(flags(&NewsOrder::default()), "everything");
    }
}
