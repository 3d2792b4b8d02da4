//! Draws: the only source of variety, derived from (seed, site, item, stream).
//!
//! Everything that looks random comes from here. A stream separates questions from one another:
//! asking one thing more about a page's layout does not move its links or its title.

use xxhash_rust::xxh3::xxh3_64;

/// The question a sequence of draws answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    Title = 1,
    Path,
    Layout,
    Links,
    Body,
    Redirect,
    Headers,
    File,
    Edition,
    News,
}

/// A reproducible sequence of choices.
pub(crate) struct Draw(u64);

impl Draw {
    /// The sequence that belongs to one question about one item of one site.
    pub(crate) fn new(seed: u64, site: usize, item: usize, stream: Stream) -> Self {
        let mut key = [0; 32];
        for (part, value) in
            key.chunks_exact_mut(8).zip([seed, site as u64, item as u64, stream as u64])
        {
            part.copy_from_slice(&value.to_le_bytes());
        }
        Draw(xxh3_64(&key))
    }

    /// The sequence of a number that was drawn before.
    pub(crate) fn of(number: u64) -> Self {
        Draw(number)
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
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.number()) * end as u128) >> 64) as usize
    }

    /// True `share` times in a thousand.
    pub(crate) fn per_mille(&mut self, share: u32) -> bool {
        self.below(1000) < share as usize
    }

    /// One of several; `choices` is never empty.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_below_their_end_and_reach_every_value() {
        let mut draw = Draw::new(7, 0, 0, Stream::Body);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[draw.below(5)] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(draw.below(0), 0);
    }

    #[test]
    fn streams_of_one_item_are_independent() {
        let first = |stream| Draw::new(7, 3, 4, stream).number();
        assert_ne!(first(Stream::Title), first(Stream::Links));
        assert_eq!(first(Stream::Title), first(Stream::Title));
    }
}
