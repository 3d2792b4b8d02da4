//! `cargo xtask bench freshness`: how fresh each revisit policy keeps a changing web.
//!
//! **Measured**: the example `freshness` of the simulator. All policies visit the same made-up webs
//! with the same budget; how long each copy was fresh is exact, from the times of change. Shares are
//! of the computed optimum for the true rates (evenly spaced visits, Cho & Garcia-Molina), which no
//! policy is told. *Cold*: the first ten visits per page after a first crawl. *Learned*: the ten
//! after these.
//!
//! **Corpus**: ten mixtures of change rates, pages alike or of Zipf importance, budgets of 0.09, 0.3
//! and 0.9 visits a day per page; bursts and a daily rhythm for one of them; and a year of virtual
//! time on 100,000 pages. `--cases FILE` adds webs of others: JSON lines with `change_rates`,
//! `weights` and `budget`.
//!
//! **How**: `cargo xtask bench freshness --seeds 20 --pages 1000`. Rows, tables and plots are left in
//! `target/outside/bench-freshness/`.
//!
//! **Would be falsified by**: `fresh` below 85 % cold or 95 % learned in the mean, or not above
//! `fixed`; a year of 100,000 pages in more than ten minutes; a day with more visits than the budget
//! and an hour of it; a site visited again before its delay.

use super::plot::{Series, bars, lines};
use super::table::aligned;
use crate::{check, process, scratch};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const LEAST_COLD: f64 = 0.85;
const LEAST_LEARNED: f64 = 0.95;
const MOST_YEAR_S: f64 = 600.0;
const LEAST_GAP_S: f64 = 10.0;
const LIMIT: Duration = Duration::from_secs(4 * 3600);

/// Reads the flags, runs the example and shows what it says.
pub fn run(args: &[&str]) -> Result<()> {
    let (mut seeds, mut pages, mut year_pages) = ("20", "1000", "100000");
    let mut files = Vec::new();
    for pair in args.chunks(2) {
        match pair {
            ["--seeds", count] => seeds = count,
            ["--pages", count] => pages = count,
            ["--year-pages", count] => year_pages = count,
            ["--cases", file] => files.push(*file),
            _ => bail!("--seeds N, --pages N, --year-pages N and --cases FILE are known here"),
        }
    }
    let example = ["--release", "--package", "argiope-sim", "--example", "freshness"];
    process::must(check::cargo().arg("build").args(example))?;
    let dir = scratch().join("bench-freshness");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir)?;

    eprintln!("{seeds} webs of {pages} pages of each kind ...");
    let compared = rows(&dir, "compare", &["compare", "--seeds", seeds, "--pages", pages])?;
    let mut report = tables(&compared)?;
    plots(&dir, &compared)?;
    let mut judged = vec![("made-up webs", compared)];
    for file in files {
        eprintln!("the webs of {file} ...");
        let policies = ["--policies", "fixed,fr,fresh,known"];
        let all = [&["cases", file, "--seeds", seeds][..], &policies].concat();
        let theirs = rows(&dir, "cases", &all)?;
        report.push_str(&cases(&theirs)?);
        judged.push(("the webs of others", theirs));
    }
    eprintln!("a year of {year_pages} pages ...");
    let policies = ["--policies", "fixed,fresh"];
    let year = rows(&dir, "year", &[&["year", "--pages", year_pages][..], &policies].concat())?;
    report.push_str(&a_year(&year)?);
    for (what, rows) in &judged {
        report.push_str(&verdict(what, rows, pages.parse().context("--pages takes a number")?)?);
    }
    print!("{report}");
    std::fs::write(dir.join("report.txt"), &report)?;
    println!("\nrows and plots: {}", dir.display());
    Ok(())
}

fn rows(dir: &Path, name: &str, args: &[&str]) -> Result<Vec<Value>> {
    let mut command = Command::new(crate::target().join("release/examples/freshness"));
    command.args(args);
    let done = process::run(&mut command, dir, name, LIMIT)?.ok()?;
    let out = done.out_text();
    std::fs::write(dir.join(format!("{name}.jsonl")), &out)?;
    let row = |line: &str| serde_json::from_str(line).with_context(|| format!("no row: {line}"));
    out.lines().map(row).collect()
}

fn number(row: &Value, key: &str) -> Result<f64> {
    row[key].as_f64().with_context(|| format!("no {key} in {row}"))
}

fn word<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

fn mean<'a>(rows: impl Iterator<Item = &'a Value>, key: &str) -> Result<f64> {
    let all = rows.map(|row| number(row, key)).collect::<Result<Vec<_>>>()?;
    Ok(all.iter().sum::<f64>() / all.len().max(1) as f64)
}

/// The policies in the order in which they come.
fn policies(rows: &[Value]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        if !names.iter().any(|name| name == word(row, "policy")) {
            names.push(word(row, "policy").to_string());
        }
    }
    names
}

fn of<'a>(rows: &'a [Value], policy: &'a str) -> impl Iterator<Item = &'a Value> {
    rows.iter().filter(move |row| word(row, "policy") == policy)
}

fn tables(rows: &[Value]) -> Result<String> {
    let poisson: Vec<Value> =
        rows.iter().filter(|row| word(row, "rhythm") == "Poisson").cloned().collect();
    let mut text = String::from("\nShare of the optimum, mean of all webs\n");
    let heads = [
        "",
        "cold",
        "learned",
        "worst cold",
        "worst learned",
        "fresh",
        "age, days",
        "visits a change",
        "budget used",
    ];
    let mut cells = Vec::new();
    for policy in policies(&poisson) {
        let least = |key: &str| -> Result<f64> {
            let all =
                of(&poisson, &policy).map(|row| number(row, key)).collect::<Result<Vec<_>>>()?;
            Ok(all.into_iter().fold(f64::MAX, f64::min))
        };
        let all = |key: &str| mean(of(&poisson, &policy), key);
        cells.push(vec![
            policy.clone(),
            format!("{:.3}", all("cold")?),
            format!("{:.3}", all("learned")?),
            format!("{:.3}", least("cold")?),
            format!("{:.3}", least("learned")?),
            format!("{:.3}", all("fresh")?),
            format!("{:.1}", all("age_days")?),
            format!("{:.2}", all("visits_per_change")?),
            format!("{:.2}", all("budget_used")?),
        ]);
    }
    text.push_str(&aligned(&heads, &cells));

    let mut kinds: BTreeMap<(String, String, String), Vec<Value>> = BTreeMap::new();
    for row in rows {
        let key = |key| word(row, key).to_string();
        let budget = format!("{:.2}", number(row, "per_page")?);
        let name = format!("{}, {}, {}", key("mixture"), key("importance"), key("rhythm"));
        kinds.entry((name, budget, String::new())).or_default().push(row.clone());
    }
    let names = policies(rows);
    for (key, title) in [("cold", "cold"), ("learned", "learned")] {
        let _ = writeln!(text, "\nShare of the optimum, {title}");
        let heads: Vec<&str> = ["web", "visits a day", "optimum"]
            .into_iter()
            .chain(names.iter().map(String::as_str))
            .collect();
        let mut cells = Vec::new();
        for ((name, budget, _), rows) in &kinds {
            let mut line = vec![name.clone(), budget.clone()];
            line.push(format!("{:.3}", number(&rows[0], "optimum")?));
            for policy in &names {
                line.push(format!("{:.3}", mean(of(rows, policy), key)?));
            }
            cells.push(line);
        }
        text.push_str(&aligned(&heads, &cells));
    }
    Ok(text)
}

fn cases(rows: &[Value]) -> Result<String> {
    let names = policies(rows);
    let heads: Vec<String> = ["web", "visits a day", "optimum"]
        .into_iter()
        .map(String::from)
        .chain(names.iter().flat_map(|name| [format!("{name} cold"), "learned".to_string()]))
        .collect();
    let mut cells: Vec<Vec<String>> = Vec::new();
    for row in of(rows, &names[0]) {
        let mut line = vec![
            word(row, "mixture").to_string(),
            format!("{:.2}", number(row, "per_page")?),
            format!("{:.3}", number(row, "optimum")?),
        ];
        for policy in &names {
            let same = || of(rows, policy).filter(|other| other["mixture"] == row["mixture"]);
            line.push(format!("{:.3}", mean(same(), "cold")?));
            line.push(format!("{:.3}", mean(same(), "learned")?));
        }
        cells.push(line);
    }
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    Ok(format!("\nShare of the optimum, webs of others\n{}", aligned(&heads, &cells)))
}

fn a_year(rows: &[Value]) -> Result<String> {
    let heads = [
        "",
        "pages",
        "days",
        "visits",
        "seconds",
        "of the optimum",
        "most a day",
        "same time of day",
    ];
    let mut cells = Vec::new();
    for row in rows {
        cells.push(vec![
            word(row, "policy").to_string(),
            format!("{:.0}", number(row, "pages")?),
            format!("{:.0}", number(row, "days")?),
            format!("{:.0}", number(row, "visits")?),
            format!("{:.1}", number(row, "seconds")?),
            format!("{:.3}", number(row, "share_of_optimum")?),
            format!("{:.3}", number(row, "most_per_day")?),
            format!("{:.4}", number(row, "same_time_of_day")?),
        ]);
    }
    let slowest = rows.iter().map(|row| number(row, "seconds")).collect::<Result<Vec<_>>>()?;
    let slowest = slowest.into_iter().fold(0.0, f64::max);
    let verdict = if slowest <= MOST_YEAR_S { "holds" } else { "DOES NOT HOLD" };
    let table = aligned(&heads, &cells);
    Ok(format!("\nA year\n{table}{verdict}: {slowest:.0} s, at most {MOST_YEAR_S:.0}\n"))
}

fn verdict(what: &str, rows: &[Value], pages: f64) -> Result<String> {
    let all = |policy: &str, key: &str| mean(of(rows, policy), key);
    let (cold, learned) = (all("fresh", "cold")?, all("fresh", "learned")?);
    let (fixed_cold, fixed_learned) = (all("fixed", "cold")?, all("fixed", "learned")?);
    let mut polite = true;
    for row in rows {
        polite &= number(row, "least_gap_s")? >= LEAST_GAP_S;
        // Webs with a handful of visits a day have no even days.
        let many = word(row, "importance") != "as given";
        // An hour of the budget may be saved up, or a visit and a half; days cut visits in two.
        let saved = (1.0 / 24.0_f64).max(1.5 / (number(row, "per_page")? * pages));
        let most = 1.0 + saved + 1.0 / (number(row, "per_page")? * pages);
        polite &= !many || number(row, "most_per_day")? <= most;
    }
    let above = cold > fixed_cold && learned > fixed_learned;
    let holds = cold >= LEAST_COLD && learned >= LEAST_LEARNED && above && polite;
    let verdict = if holds { "holds" } else { "DOES NOT HOLD" };
    Ok(format!(
        "{verdict}, {what}: fresh {cold:.3} cold of {LEAST_COLD}, {learned:.3} learned of \
         {LEAST_LEARNED}; fixed {fixed_cold:.3}, {fixed_learned:.3}; budget and delay {}\n",
        if polite { "kept" } else { "NOT KEPT" }
    ))
}

fn plots(dir: &Path, rows: &[Value]) -> Result<()> {
    let names = policies(rows);
    let curve = |row: &Value| -> Vec<f64> {
        row["curve"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let poisson = |row: &&Value| word(row, "rhythm") == "Poisson";
    let mut all: Vec<Series> = Vec::new();
    for name in &names {
        let curves: Vec<Vec<f64>> = of(rows, name).filter(poisson).map(curve).collect();
        let length = curves.first().map_or(0, Vec::len);
        let at = |n: usize| curves.iter().map(|c| c[n]).sum::<f64>() / curves.len().max(1) as f64;
        all.push((name.clone(), (0..length).map(at).collect()));
    }
    let title = "Freshness as a share of the optimum, mean of all webs";
    let along = "visits per page since the first crawl";
    let svg = lines(title, "share of the optimum", along, 0.75, 1.0, &all);
    std::fs::write(dir.join("learning.svg"), svg)?;

    let mut groups: Vec<String> = Vec::new();
    for row in rows.iter().filter(poisson) {
        let name = word(row, "mixture").to_string();
        if !groups.contains(&name) {
            groups.push(name);
        }
    }
    let mut all: Vec<Series> = Vec::new();
    for name in &names {
        let mut values = Vec::new();
        for group in &groups {
            let same = of(rows, name).filter(poisson).filter(|row| word(row, "mixture") == group);
            values.push(mean(same, "learned")?);
        }
        all.push((name.clone(), values));
    }
    let title = "Freshness as a share of the optimum, learned, by mixture of change rates";
    let svg = bars(title, "share of the optimum", 0.5, 1.0, &groups, &all);
    std::fs::write(dir.join("mixtures.svg"), svg)?;
    Ok(())
}
