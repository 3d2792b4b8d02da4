//! Revisit policies on webs with known change rates, a JSON row per web, budget and policy.
//!
//! ```console
//! $ cargo run --release -p argiope-sim --example freshness -- compare --seeds 20 --pages 1000
//! $ cargo run --release -p argiope-sim --example freshness -- cases FILE --seeds 20
//! $ cargo run --release -p argiope-sim --example freshness -- year --pages 100000
//! ```
//!
//! `compare` draws webs from mixtures of its own; `cases` reads `change_rates`, `weights` and
//! `budget` from JSON lines (in visits and changes per day), whatever their mixture; `year` measures
//! how long a year of virtual time takes. Of each web: the computed optimum (evenly spaced visits),
//! and for each policy its freshness as a share of that, from a cold start (the first ten visits per
//! page after the first crawl) and learned (the ten after these).

use anyhow::{Context, Result, bail};
use argiope_sim::freshness::{
    Budget, Importance, Measured, Mixture, Policy, Rhythm, Web, best_for, simulate,
};
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

/// Rounds of the budget through all pages: the cold ones and those after.
const COLD: usize = 10;
const ROUNDS: usize = 20;

struct Asked {
    seeds: u64,
    pages: usize,
    days: f64,
    policies: Vec<Policy>,
}

const ALL: [Policy; 6] =
    [Policy::Fixed, Policy::Fr, Policy::Selective, Policy::Fresh, Policy::FreshTold, Policy::Known];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((what, rest)) = words.split_first() else { bail!("compare, cases FILE or year?") };
    let (file, rest) = match (what.as_str(), rest.split_first()) {
        ("cases", Some((file, rest))) => (Some(file.clone()), rest),
        ("cases", None) => bail!("cases needs a file"),
        _ => (None, rest),
    };
    let mut asked = Asked { seeds: 20, pages: 1000, days: 365.0, policies: ALL.to_vec() };
    for pair in rest.chunks(2) {
        let [flag, value] = pair else { bail!("{} needs a value", pair[0]) };
        match flag.as_str() {
            "--seeds" => asked.seeds = value.parse().context("--seeds takes a number")?,
            "--pages" => asked.pages = value.parse().context("--pages takes a number")?,
            "--days" => asked.days = value.parse().context("--days takes a number")?,
            "--policies" => {
                asked.policies = value.split(',').map(policy).collect::<Result<_>>()?;
            }
            _ => bail!("unknown flag {flag}"),
        }
    }
    match what.as_str() {
        "compare" => compare(&asked),
        "cases" => cases(&file.unwrap_or_default(), &asked),
        "year" => year(&asked),
        _ => bail!("compare, cases FILE or year, not {what}"),
    }
}

fn policy(name: &str) -> Result<Policy> {
    let known = ["fixed", "fr", "selective", "fresh", "told", "known"];
    let place = known.iter().position(|known| *known == name);
    Ok(ALL[place.with_context(|| format!("{name} is none of {}", known.join(", ")))?])
}

fn mixtures() -> Vec<(&'static str, Mixture)> {
    vec![
        ("gamma", Mixture::Gamma(1.0, 1.2)),
        ("gamma, spread", Mixture::Gamma(0.3, 1.0)),
        ("lognormal", Mixture::LogNormal(0.15, 2.2)),
        ("lognormal, narrow", Mixture::LogNormal(0.5, 1.0)),
        ("power law", Mixture::Power(0.5, 0.01, 50.0)),
        ("power law, steep", Mixture::Power(1.2, 0.05, 100.0)),
        ("two kinds", Mixture::two(0.5, 0.05, 5.0)),
        ("mostly fast", Mixture::two(0.2, 0.2, 3.0)),
        ("five decades", Mixture::Wide(0.001, 100.0)),
        ("ordinary", Mixture::ordinary()),
    ]
}

fn compare(asked: &Asked) -> Result<()> {
    let importances = [("equal", Importance::Equal), ("Zipf", Importance::Zipf(0.8))];
    for (name, mixture) in mixtures() {
        for (spread, importance) in importances {
            for per_page in [0.09, 0.3, 0.9] {
                let web =
                    |seed| Web::draw(seed, asked.pages, &mixture, importance, Rhythm::Poisson);
                row(asked, &[name, spread, "Poisson"], per_page, web)?;
            }
        }
    }
    for (rhythm, named) in [(Rhythm::Bursty, "bursty"), (Rhythm::Daily, "daily")] {
        for per_page in [0.3, 0.9] {
            let web = |seed| {
                let importance = Importance::Zipf(0.8);
                Web::draw(seed, asked.pages, &Mixture::ordinary(), importance, rhythm)
            };
            row(asked, &["ordinary", "Zipf", named], per_page, web)?;
        }
    }
    Ok(())
}

fn cases(file: &str, asked: &Asked) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("could not read {file}"))?;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).context("a case is a JSON object a line")?;
        let numbers = |name: &str| -> Result<Vec<f64>> {
            let all = case["input"][name].as_array().with_context(|| format!("no {name}"))?;
            Ok(all.iter().filter_map(Value::as_f64).collect())
        };
        let (rates, weights) = (numbers("change_rates")?, numbers("weights")?);
        let budget = case["input"]["budget"].as_f64().context("no budget")?;
        let per_page = budget / rates.len().max(1) as f64;
        let web = |seed| Web::of(seed, rates.clone(), weights.clone(), Rhythm::Poisson);
        let name = case["id"].as_str().unwrap_or("a case");
        row(asked, &[name, "as given", "Poisson"], per_page, web)?;
    }
    Ok(())
}

fn row(asked: &Asked, names: &[&str; 3], per_page: f64, web: impl Fn(u64) -> Web) -> Result<()> {
    let mut all: Vec<Vec<(Measured, f64)>> = vec![Vec::new(); asked.policies.len()];
    for seed in 1..=asked.seeds {
        let web = web(seed);
        let (_, best) = best_for(&web, per_page);
        for (policy, results) in asked.policies.iter().zip(&mut all) {
            let budget =
                Budget { per_page, rounds: ROUNDS, delay: Duration::from_secs(10), per_site: None };
            results.push((simulate(&web, *policy, &budget), best));
        }
    }
    for (policy, results) in asked.policies.iter().zip(&all) {
        let mean = |f: &dyn Fn(&Measured, f64) -> f64| {
            results.iter().map(|(m, best)| f(m, *best)).sum::<f64>() / results.len() as f64
        };
        let curve: Vec<f64> = (0..ROUNDS).map(|n| mean(&|m, best| m.fresh[n] / best)).collect();
        let row = json!({
            "mixture": names[0], "importance": names[1], "rhythm": names[2],
            "per_page": per_page, "policy": policy.name(), "seeds": results.len(),
            "optimum": mean(&|_, best| best),
            "cold": mean(&|m, best| m.fresh_in(0..COLD) / best),
            "learned": mean(&|m, best| m.fresh_in(COLD..ROUNDS) / best),
            "fresh": mean(&|m, _| m.fresh_in(COLD..ROUNDS)),
            "age_days": mean(&|m, _| m.age_in(COLD..ROUNDS)),
            "visits_per_change": mean(&|m, _| m.visits as f64 / m.detected.max(1) as f64),
            "budget_used": mean(&|m, _| m.visits as f64 / (m.days * per_page) / pages(&web)),
            "most_per_day": mean(&|m, _| m.most_per_day),
            "least_gap_s": results.iter().map(|(m, _)| m.least_gap_s).fold(f64::MAX, f64::min),
            "same_time_of_day": mean(&|m, _| m.same_hour),
            "curve": curve,
        });
        writeln!(std::io::stdout(), "{row}")?;
    }
    Ok(())
}

fn pages(web: &impl Fn(u64) -> Web) -> f64 {
    web(1).rates.len() as f64
}

fn year(asked: &Asked) -> Result<()> {
    let per_page = 0.3;
    let mixture = Mixture::ordinary();
    let web = Web::draw(1, asked.pages, &mixture, Importance::Zipf(0.8), Rhythm::Poisson);
    let (_, best) = best_for(&web, per_page);
    let rounds = (asked.days * per_page).ceil().max(2.0) as usize - 1;
    for policy in &asked.policies {
        let begun = Instant::now();
        let budget = Budget { per_page, rounds, delay: Duration::from_secs(10), per_site: None };
        let measured = simulate(&web, *policy, &budget);
        let row = json!({
            "policy": policy.name(), "pages": asked.pages, "days": measured.days,
            "visits": measured.visits, "seconds": begun.elapsed().as_secs_f64(),
            "share_of_optimum": measured.fresh_in(rounds / 2..rounds) / best,
            "most_per_day": measured.most_per_day, "least_gap_s": measured.least_gap_s,
            "same_time_of_day": measured.same_hour,
        });
        writeln!(std::io::stdout(), "{row}")?;
    }
    Ok(())
}
