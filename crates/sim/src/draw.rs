//! Draws: everything that looks random follows from the seed and from what is asked.
//!
//! A draw belongs to a question about an item, so that one question more about a host does not
//! move what is drawn for another.

/// The question a sequence of draws answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum About {
    Scenario = 1,
    Host,
    Page,
    Latency,
    Address,
    Ending,
    Rates,
    Changes,
}

/// A sequence of choices that repeats itself.
pub(crate) struct Draw(u64);

impl Draw {
    /// The sequence that answers one question about one item.
    pub(crate) fn new(seed: u64, about: About, item: u64) -> Self {
        let mut draw = Draw(seed);
        for part in [about as u64, item] {
            draw.0 = draw.number() ^ part.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        }
        draw
    }

    /// The next number, all 64 bits of it (the splitmix64 step).
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from zero to one less than `end`; zero where `end` is zero.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(end)) >> 64) as u64
    }

    /// A number from `least` to `most`.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    /// A number up to `most`, small ones as likely as large ones: each doubling has its share.
    pub(crate) fn spread(&mut self, most: u64) -> u64 {
        let doublings = 64 - u64::from(most.leading_zeros());
        let bits = self.below(doublings + 1);
        self.below(1u64.checked_shl(bits as u32).unwrap_or(u64::MAX)).min(most)
    }

    /// True `share` times in a hundred.
    pub(crate) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    /// A number from 0 up to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// How long an event that happens once in a unit of time lets wait.
    pub(crate) fn waiting(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// A number around 0 with a spread of 1 (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        (2.0 * self.waiting()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A number of the gamma distribution of this shape and scale 1 (Marsaglia and Tsang).
    pub(crate) fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = self.unit().max(1e-300).powf(1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        loop {
            let x = self.normal();
            let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
            if v > 0.0 && -self.waiting() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }

    /// A sequence of its own, which does not move this one.
    pub(crate) fn fork(&mut self) -> Draw {
        Draw(self.number())
    }

    /// One of several; `choices` is never empty.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_repeat_themselves_and_differ_by_question() {
        let first = |about, item| Draw::new(7, about, item).number();
        assert_eq!(first(About::Host, 3), first(About::Host, 3));
        assert_ne!(first(About::Host, 3), first(About::Page, 3));
        assert_ne!(first(About::Host, 3), first(About::Host, 4));
    }

    #[test]
    fn draws_stay_in_their_bounds_and_reach_them() {
        let mut draw = Draw::new(7, About::Host, 0);
        let drawn: Vec<u64> = (0..500).map(|_| draw.between(2, 5)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&2), Some(&5)));
        let spread: Vec<u64> = (0..2000).map(|_| draw.spread(1000)).collect();
        assert!(spread.iter().all(|n| *n <= 1000));
        assert!(spread.iter().filter(|n| **n < 10).count() > 300);
        assert!(spread.iter().any(|n| *n > 500));
    }
}
