//! The solver of visit rates against computed optima: `freshness.jsonl`.
//!
//! Skipped visibly where the suites are absent.

#![allow(clippy::print_stdout)] // What was skipped and what was compared is to be seen.

use argiope_frontier::revisit::{Classes, Demand, Goal, mean_age, mean_freshness, optimal_rates};
use serde_json::Value;
use std::path::PathBuf;

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array().map(|all| all.iter().filter_map(Value::as_f64).collect())
}

fn close(ours: f64, expected: &Value, what: &str, id: &Value) -> usize {
    let Some(expected) = expected.as_f64() else { return 0 };
    assert!((ours - expected).abs() < 1e-6, "{id} {what}: {ours}, expected {expected}");
    1
}

fn rates_close(ours: &[f64], expected: &Value, what: &str, id: &Value) -> usize {
    let Some(expected) = numbers(expected) else { return 0 };
    assert_eq!(ours.len(), expected.len());
    for (ours, expected) in ours.iter().zip(&expected) {
        assert!((ours - expected).abs() < 1e-6, "{id} {what}: {ours}, expected {expected}");
    }
    expected.len()
}

#[test]
fn known_rates_get_the_optimal_visits_to_a_millionth() {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites");
    let suites = std::env::var_os("ARGIOPE_SUITES").map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(suites.join("freshness.jsonl")) else {
        println!("SKIPPED: freshness.jsonl not found in {}", suites.display());
        return;
    };
    let (mut cases, mut compared) = (0, 0);
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).expect("a case a line");
        let (id, input, expected) = (&case["id"], &case["input"], &case["expected"]);
        let changes = numbers(&input["change_rates"]).expect("change rates");
        let weights = numbers(&input["weights"]).expect("weights");
        let budget = input["budget"].as_f64().expect("a budget");
        let pages: Vec<Demand> = changes
            .iter()
            .zip(&weights)
            .map(|(change, weight)| Demand { change: *change, weight: *weight })
            .collect();

        let even = optimal_rates(Goal::Even, &pages, budget);
        let fresh = mean_freshness(Goal::Even, &pages, &even.rates);
        compared += rates_close(&even.rates, &expected["even_optimal_rates"], "even", id);
        compared += close(fresh, &expected["even_optimal_freshness"], "even freshness", id);
        let spent: f64 = even.rates.iter().sum();
        assert!((spent - budget).abs() < 1e-6 * budget, "{id}: {spent} of {budget}");

        let random = optimal_rates(Goal::Random, &pages, budget);
        let fresh = mean_freshness(Goal::Random, &pages, &random.rates);
        compared += rates_close(&random.rates, &expected["poisson_optimal_rates"], "random", id);
        compared += close(fresh, &expected["poisson_optimal_freshness"], "random freshness", id);

        let age = optimal_rates(Goal::Age, &pages, budget);
        compared += rates_close(&age.rates, &expected["age_optimal_rates"], "age", id);
        compared += close(mean_age(&pages, &age.rates), &expected["age_optimal"], "age", id);

        let same = vec![budget / pages.len() as f64; pages.len()];
        let fresh = mean_freshness(Goal::Even, &pages, &same);
        compared += close(fresh, &expected["uniform_freshness"], "uniform", id);
        compared += close(mean_age(&pages, &same), &expected["uniform_age"], "uniform age", id);

        // The price that is kept from classes is close enough to plan by.
        if pages.len() >= 100 {
            let mut classes = Classes::default();
            pages.iter().for_each(|page| classes.add(*page));
            let price = classes.price(Goal::Even, budget, 1.0);
            assert!((price / even.price - 1.0).abs() < 0.03, "{id}: {price} for {}", even.price);
        }
        cases += 1;
    }
    println!("freshness: {cases} cases, {compared} numbers within a millionth");
    assert!(cases >= 19 && compared > 10_000);
}
