//! The best visit rates for known change rates, importances and a budget.
//!
//! * What this is: three goals, each with its inverse for one page and a search for the *price*
//!   (the Lagrange multiplier λ) at which all pages together use the budget. A page's rate at a
//!   price is O(1); the search is a handful of passes over the pages.
//! * [`Goal::Even`]: share of time fresh, visits evenly spaced (Cho & Garcia-Molina 2003).
//!   [`Goal::Random`]: the same for visits at random times (Azar et al. 2018), where the rate is
//!   max(0, sqrt(weight·change/λ) − change). [`Goal::Age`]: least time since the first change not
//!   yet seen, visits evenly spaced.
//! * Its place: what `fresh` is measured against, and the reading of prices that it shares.
//! * Invariants: rates are never negative; they add up to the budget (to rounding) where any page
//!   changes; a page that never changes gets none.
//! * What is not here: how change rates become known ([`super::belief`]).
//!
//! Any unit of time will do, as long as change rates, visit rates and the budget share it.

use std::collections::BTreeMap;

/// What is to be made best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Share of time fresh, evenly spaced visits.
    Even,
    /// Share of time fresh, visits at random times.
    Random,
    /// Mean age, evenly spaced visits.
    Age,
}

/// A page as the solver sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Changes per unit of time.
    pub change: f64,
    /// How much the page counts.
    pub weight: f64,
}

/// The solution: a price and what each page gets at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// What a visit costs, in weighted freshness (or age) per visit.
    pub price: f64,
    /// Visits per unit of time, in the order of the pages.
    pub rates: Vec<f64>,
}

/// 1 − (1 + x)·e^−x: what one more visit wins, times the change rate, at x changes per visit.
pub(super) fn gain(x: f64) -> f64 {
    if x < 0.02 {
        // Near zero the closed form loses its digits.
        return x * x * (0.5 - x * (1.0 / 3.0 - x * (0.125 - x * (1.0 / 30.0 - x / 144.0))));
    }
    1.0 - (1.0 + x) * (-x).exp()
}

/// x²/2 − gain(x): the same for age, times the square of the change rate.
fn age_gain(x: f64) -> f64 {
    if x < 0.02 {
        return x * x * x * (1.0 / 3.0 - x * (0.125 - x * (1.0 / 30.0 - x / 144.0)));
    }
    0.5 * x * x - gain(x)
}

/// The x at which a rising function has a value: Newton's steps, kept inside a bracket.
fn inverse(value: f64, start: f64, f: fn(f64) -> f64, slope: fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, f64::INFINITY);
    let mut x = start;
    for _ in 0..60 {
        let off = f(x) - value;
        if off > 0.0 {
            high = high.min(x);
        } else {
            low = low.max(x);
        }
        let step = off / slope(x);
        let mut next = x - step;
        if !(next > low && next < high) {
            next = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * x };
        }
        if (next - x).abs() <= 1e-15 * x {
            return next;
        }
        x = next;
    }
    x
}

/// The rate a page gets at a price.
pub fn visit_rate(goal: Goal, page: Demand, price: f64) -> f64 {
    let Demand { change, weight } = page;
    let wanted = change > 0.0 && weight > 0.0 && price > 0.0 && change.is_finite();
    if !wanted {
        return 0.0;
    }
    match goal {
        Goal::Random => ((weight * change / price).sqrt() - change).max(0.0),
        Goal::Even => {
            let value = price * change / weight;
            if value >= 1.0 {
                return 0.0; // Not worth a single visit.
            }
            // Near 0 the gain is x²/2; near 1 it is 1 − x·e^−x.
            let start =
                if value < 0.5 { (2.0 * value).sqrt() } else { 1.5 - 1.2 * (1.0 - value).ln() };
            change / inverse(value, start, gain, |x| x * (-x).exp())
        }
        Goal::Age => {
            let value = price * change * change / weight;
            let start = if value < 0.3 { (3.0 * value).cbrt() } else { (2.0 * value + 2.0).sqrt() };
            change / inverse(value, start, age_gain, |x| -x * (-x).exp_m1())
        }
    }
}

/// The share of time a page is fresh at a visit rate ([`Goal::Age`] counts as evenly spaced).
pub fn freshness(goal: Goal, change: f64, rate: f64) -> f64 {
    if change <= 0.0 {
        return 1.0;
    }
    if rate <= 0.0 {
        return 0.0;
    }
    let x = change / rate;
    match goal {
        Goal::Random => 1.0 / (1.0 + x),
        Goal::Even | Goal::Age => -(-x).exp_m1() / x,
    }
}

/// The mean age of a page at a rate of evenly spaced visits; endless where it is never visited.
pub fn age(change: f64, rate: f64) -> f64 {
    if change <= 0.0 {
        return 0.0;
    }
    if rate <= 0.0 {
        return f64::INFINITY;
    }
    let x = change / rate;
    if x < 1e-3 {
        return x / rate * (1.0 / 6.0 - x / 24.0);
    }
    (0.5 - 1.0 / x - (-x).exp_m1() / (x * x)) / rate
}

/// The importance-weighted mean freshness at given rates.
pub fn mean_freshness(goal: Goal, pages: &[Demand], rates: &[f64]) -> f64 {
    let total: f64 = pages.iter().map(|page| page.weight).sum();
    let fresh =
        pages.iter().zip(rates).map(|(p, rate)| p.weight * freshness(goal, p.change, *rate));
    fresh.sum::<f64>() / total
}

/// The importance-weighted mean age at given rates of evenly spaced visits.
pub fn mean_age(pages: &[Demand], rates: &[f64]) -> f64 {
    let total: f64 = pages.iter().map(|page| page.weight).sum();
    pages.iter().zip(rates).map(|(p, rate)| p.weight * age(p.change, *rate)).sum::<f64>() / total
}

/// The best rates for a budget in visits per unit of time.
pub fn optimal_rates(goal: Goal, pages: &[Demand], budget: f64) -> Optimum {
    let spent = |price: f64| pages.iter().map(|page| visit_rate(goal, *page, price)).sum::<f64>();
    let price = find_price(budget, 1.0, 1e-13, spent);
    Optimum { price, rates: pages.iter().map(|page| visit_rate(goal, *page, price)).collect() }
}

/// The price at which what is spent is the budget. `spent` falls with the price; `guess` is where
/// the search begins, so that a price that moved a little is found in a few passes.
pub fn find_price(budget: f64, guess: f64, exact_to: f64, spent: impl Fn(f64) -> f64) -> f64 {
    let mut guess = if guess.is_finite() && guess > 0.0 { guess } else { 1.0 };
    if budget <= 0.0 {
        return f64::INFINITY;
    }
    // A bracket around the price, by ever longer steps.
    let (mut low, mut high, mut factor) = (f64::NAN, f64::NAN, 1.5);
    let (mut spent_low, mut spent_high) = (0.0, 0.0);
    for _ in 0..400 {
        let now = spent(guess);
        if now > budget {
            (low, spent_low) = (guess, now);
            guess *= factor;
        } else {
            (high, spent_high) = (guess, now);
            guess /= factor;
        }
        if !low.is_nan() && !high.is_nan() {
            break;
        }
        if guess < 1e-300 {
            return 0.0; // Nothing that could be bought uses the budget.
        }
        factor *= 1.5;
    }
    // Interpolation in logarithms with every third step a bisection.
    for turn in 0..200 {
        if high - low <= exact_to * high {
            break;
        }
        let (a, b) = (low.ln(), high.ln());
        let share = if turn % 3 == 2 || spent_high <= 0.0 {
            0.5
        } else {
            let (x, y) = ((spent_low / budget).ln(), (spent_high / budget).ln());
            (x / (x - y)).clamp(0.01, 0.99)
        };
        let middle = (a + share * (b - a)).exp();
        if !(middle > low && middle < high) {
            break;
        }
        let now = spent(middle);
        if now > budget {
            (low, spent_low) = (middle, now);
        } else {
            (high, spent_high) = (middle, now);
        }
    }
    high
}

/// Steps of a class: eight to a doubling, so that a page is at most 4.5 % from its class.
const STEPS: f64 = 8.0;

/// Pages counted by classes of weight and change rate, for a price that is kept up to date as
/// pages come, go and change their rates, without ever looking at all of them.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    counts: BTreeMap<(i32, i32), i64>,
}

impl Classes {
    fn class(page: Demand) -> Option<(i32, i32)> {
        let step = |x: f64| (x.log2() * STEPS).round() as i32;
        (page.change > 0.0 && page.weight > 0.0).then(|| (step(page.weight), step(page.change)))
    }

    /// Counts a page.
    pub fn add(&mut self, page: Demand) {
        self.count(page, 1);
    }

    /// No longer counts a page, which must be given as it was added.
    pub fn remove(&mut self, page: Demand) {
        self.count(page, -1);
    }

    fn count(&mut self, page: Demand, by: i64) {
        if let Some(class) = Self::class(page) {
            let count = self.counts.entry(class).or_default();
            *count += by;
            if *count == 0 {
                self.counts.remove(&class);
            }
        }
    }

    /// The price for a budget; `guess` is the last one.
    pub fn price(&self, goal: Goal, budget: f64, guess: f64) -> f64 {
        let value = |step: i32| (f64::from(step) / STEPS).exp2();
        find_price(budget, guess, 1e-6, |price| {
            let spent = self.counts.iter().map(|((weight, change), count)| {
                let page = Demand { change: value(*change), weight: value(*weight) };
                *count as f64 * visit_rate(goal, page, price)
            });
            spent.sum()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(changes: &[f64]) -> Vec<Demand> {
        changes.iter().map(|change| Demand { change: *change, weight: 1.0 }).collect()
    }

    #[test]
    fn the_published_example_is_met() {
        let pages = pages(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let even = optimal_rates(Goal::Even, &pages, 5.0);
        let shown: Vec<String> = even.rates.iter().map(|rate| format!("{rate:.2}")).collect();
        assert_eq!(shown, ["1.15", "1.36", "1.35", "1.14", "0.00"]);
        // The numbers of the design: random visits, the same rates evenly spaced, the optimum.
        let random = optimal_rates(Goal::Random, &pages, 5.0);
        let of = |goal, rates: &[f64]| (mean_freshness(goal, &pages, rates) * 1000.0).round();
        assert_eq!(of(Goal::Random, &random.rates), 297.0);
        assert_eq!(of(Goal::Even, &random.rates), 370.0);
        assert_eq!(of(Goal::Even, &even.rates), 374.0);
    }

    #[test]
    fn a_page_that_changes_too_often_is_left_alone() {
        let even = optimal_rates(Goal::Even, &pages(&[9.0, 1.0]), 1.0);
        assert!(even.rates[0] == 0.0 && (even.rates[1] - 1.0).abs() < 1e-9, "{even:?}");
    }

    #[test]
    fn a_price_scales_rates_as_the_formula_of_random_visits_says() {
        let page = Demand { change: 2.0, weight: 3.0 };
        let rate = visit_rate(Goal::Random, page, 0.5);
        assert!((rate - ((3.0_f64 * 2.0 / 0.5).sqrt() - 2.0)).abs() < 1e-12);
        assert_eq!(visit_rate(Goal::Random, page, 2.0), 0.0);
    }

    #[test]
    fn inverses_hold_over_the_whole_range() {
        for goal in [Goal::Even, Goal::Age] {
            for n in -80..60 {
                let x = 1.3_f64.powi(n).min(30.0);
                let page = Demand { change: 1.0, weight: 1.0 };
                let price = if goal == Goal::Even { gain(x) } else { age_gain(x) };
                let rate = visit_rate(goal, page, price);
                // Close to 1 the gain of a visit no longer tells one x from another.
                let exact = if goal == Goal::Even { 1e-9_f64.max(1e-15 * x.exp()) } else { 1e-9 };
                assert!((rate * x - 1.0).abs() < exact, "{goal:?} x {x}: {rate}");
            }
        }
    }

    #[test]
    fn nothing_to_buy_and_nothing_to_spend_are_no_trouble() {
        assert_eq!(optimal_rates(Goal::Even, &pages(&[0.0, 0.0]), 5.0).rates, [0.0, 0.0]);
        assert_eq!(optimal_rates(Goal::Even, &pages(&[1.0]), 0.0).rates, [0.0]);
        assert_eq!(optimal_rates(Goal::Age, &[], 1.0).rates, Vec::<f64>::new());
    }

    #[test]
    fn the_price_of_classes_is_close_to_the_exact_one_and_follows_pages_that_come_and_go() {
        let mut classes = Classes::default();
        let mut pages = Vec::new();
        for n in 0..5000_u32 {
            let change = 10_f64.powf(f64::from(n % 997) / 997.0 * 5.0 - 3.0);
            let weight = 10_f64.powf(f64::from(n % 31) / 31.0 - 1.0);
            pages.push(Demand { change, weight });
        }
        pages.iter().for_each(|page| classes.add(*page));
        let exact = optimal_rates(Goal::Even, &pages, 1500.0).price;
        let close = classes.price(Goal::Even, 1500.0, 1.0);
        assert!((close / exact - 1.0).abs() < 0.01, "{close} {exact}");
        for page in pages.drain(2500..) {
            classes.remove(page);
        }
        let exact = optimal_rates(Goal::Even, &pages, 1500.0).price;
        let close = classes.price(Goal::Even, 1500.0, close);
        assert!((close / exact - 1.0).abs() < 0.01, "{close} {exact}");
    }
}
