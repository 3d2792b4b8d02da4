//! Revisit policies on webs with known change rates: a short version of what
//! `cargo xtask bench freshness` measures.

use argiope_sim::freshness::{
    Budget, Importance, Measured, Mixture, Policy, Rhythm, Web, best_for, simulate,
};
use std::time::Duration;

fn budget(per_page: f64, rounds: usize) -> Budget {
    Budget { per_page, rounds, delay: Duration::from_secs(10), per_site: None }
}

/// Shares of the optimum, cold and learned, in the mean over webs of several mixtures.
fn shares(policy: Policy) -> (f64, f64) {
    let mixtures = [
        Mixture::Gamma(1.0, 1.2),
        Mixture::LogNormal(0.15, 2.2),
        Mixture::Power(0.5, 0.01, 50.0),
        Mixture::two(0.5, 0.05, 5.0),
        Mixture::ordinary(),
    ];
    let (mut cold, mut learned, mut count) = (0.0, 0.0, 0.0);
    for (seed, mixture) in (1..).zip(&mixtures) {
        for importance in [Importance::Equal, Importance::Zipf(0.8)] {
            let web = Web::draw(seed, 300, mixture, importance, Rhythm::Poisson);
            let (_, best) = best_for(&web, 0.3);
            let measured = simulate(&web, policy, &budget(0.3, 20));
            cold += measured.fresh_in(0..10) / best;
            learned += measured.fresh_in(10..20) / best;
            count += 1.0;
        }
    }
    (cold / count, learned / count)
}

#[test]
fn fresh_is_close_to_the_optimum_and_above_the_others() {
    let (cold, learned) = shares(Policy::Fresh);
    assert!(cold > 0.85 && learned > 0.95, "cold {cold}, learned {learned}");
    for other in [Policy::Fixed, Policy::Fr, Policy::Selective] {
        let (other_cold, other_learned) = shares(other);
        assert!(cold > other_cold && learned > other_learned, "{other:?}: {other_cold}");
    }
}

#[test]
fn with_rates_known_the_simulation_reaches_the_computed_optimum() {
    let web = Web::draw(5, 2000, &Mixture::LogNormal(0.2, 1.5), Importance::Equal, Rhythm::Poisson);
    let (_, best) = best_for(&web, 0.5);
    let share = simulate(&web, Policy::Known, &budget(0.5, 20)).fresh_in(2..20) / best;
    assert!((0.985..1.01).contains(&share), "{share}");
}

#[test]
fn fixed_keeps_pages_of_one_rate_as_fresh_as_the_formula_says() {
    let web = Web::draw(5, 2000, &Mixture::Same(0.4), Importance::Equal, Rhythm::Poisson);
    let measured = simulate(&web, Policy::Fixed, &budget(0.5, 20));
    let x: f64 = 0.4 / 0.5;
    let (fresh, age) =
        ((1.0 - (-x).exp()) / x, 2.0 * (0.5 - 1.0 / x + (1.0 - (-x).exp()) / (x * x)));
    assert!((measured.fresh_in(1..20) - fresh).abs() < 0.01, "{measured:?}");
    assert!((measured.age_in(1..20) - age).abs() < 0.02, "{measured:?}");
}

fn holds(measured: &Measured) {
    // A day's visits: the budget, and the hour of it that may be saved up.
    assert!(measured.most_per_day <= 1.0 + 1.0 / 24.0 + 0.01, "{}", measured.most_per_day);
    assert!(measured.least_gap_s >= 10.0, "{}", measured.least_gap_s);
    // Five minutes of a day are 0.35 % of it.
    assert!(measured.same_hour < 0.02, "{}", measured.same_hour);
}

#[test]
fn budget_and_politeness_hold_for_a_year_and_the_hour_of_visits_moves() {
    for rhythm in [Rhythm::Poisson, Rhythm::Bursty, Rhythm::Daily] {
        let web = Web::draw(2, 1000, &Mixture::ordinary(), Importance::Zipf(0.8), rhythm);
        for policy in [Policy::Fixed, Policy::Fr, Policy::Selective, Policy::Fresh] {
            let measured = simulate(&web, policy, &budget(0.2, 72));
            assert!(measured.days > 364.0);
            holds(&measured);
        }
    }
}

#[test]
fn a_site_with_a_budget_of_its_own_keeps_it_and_is_still_visited_well() {
    // Ten sites of a hundred pages, thirty visits a day each but for their own twenty.
    let web = Web::draw(6, 1000, &Mixture::ordinary(), Importance::Zipf(0.8), Rhythm::Poisson);
    let tight = Budget { per_site: Some(20.0), ..budget(0.3, 30) };
    let fresh = simulate(&web, Policy::Fresh, &tight);
    let share = fresh.visits as f64 / (fresh.days * 10.0 * 20.0);
    assert!((0.85..1.0001).contains(&share), "{share}");
    let (_, best) = best_for(&web, 0.2);
    assert!(fresh.fresh_in(15..30) > 0.92 * best, "{} of {best}", fresh.fresh_in(15..30));
}

#[test]
fn rhythms_do_not_upset_what_is_learned() {
    for rhythm in [Rhythm::Bursty, Rhythm::Daily] {
        let web = Web::draw(3, 500, &Mixture::ordinary(), Importance::Zipf(0.8), rhythm);
        let fresh = simulate(&web, Policy::Fresh, &budget(0.5, 20)).fresh_in(10..20);
        let known = simulate(&web, Policy::Known, &budget(0.5, 20)).fresh_in(10..20);
        let fixed = simulate(&web, Policy::Fixed, &budget(0.5, 20)).fresh_in(10..20);
        assert!(fresh > 0.95 * known && fresh > fixed, "{rhythm:?}: {fresh} {known} {fixed}");
    }
}

#[test]
fn honest_last_modified_dates_help_from_the_start() {
    let web = Web::draw(4, 500, &Mixture::Gamma(1.0, 1.2), Importance::Equal, Rhythm::Poisson);
    let told = simulate(&web, Policy::FreshTold, &budget(0.09, 10)).fresh_in(0..10);
    let untold = simulate(&web, Policy::Fresh, &budget(0.09, 10)).fresh_in(0..10);
    assert!(told > untold, "{told} {untold}");
}

#[test]
fn equal_webs_and_seeds_give_equal_histories() {
    let run = || {
        let web = Web::draw(9, 200, &Mixture::ordinary(), Importance::Equal, Rhythm::Bursty);
        simulate(&web, Policy::Fresh, &budget(0.5, 6))
    };
    assert_eq!(run(), run());
}
