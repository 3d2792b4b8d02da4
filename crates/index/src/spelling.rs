//! Words a letter or two away from another, told while the dictionary is walked through.
//!
//! tantivy has automata for that; making one costs more than most searches, and each is used for one
//! word. This one is not made: its state is the set of places in the word that the letters read so
//! far may have reached, with each number of mistakes, and a step is a few operations on bits. A
//! mistake is a letter changed, missing, added, or swapped with its neighbour.
//!
//! Invariant: letters are bytes, so words are ASCII and at most [`LONGEST`] long; others are asked for
//! in other ways.

use tantivy_fst::Automaton;

/// Letters a word may have.
const LONGEST: usize = 30;
/// Mistakes there may be.
const MOST: usize = 2;

pub(crate) struct Near {
    /// Where each byte stands in the word.
    places: Box<[u32; 256]>,
    length: u32,
    mistakes: usize,
}

/// Places reached, by the number of mistakes; and those where the first of two swapped letters was
/// read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    at: [u32; MOST + 1],
    swapped: [u32; MOST + 1],
}

impl Near {
    /// Words at most so many mistakes away from one.
    pub fn to(word: &str, mistakes: usize) -> Option<Near> {
        if !word.is_ascii() || word.len() > LONGEST || mistakes > MOST {
            return None;
        }
        let mut places = Box::new([0; 256]);
        for (n, byte) in word.bytes().enumerate() {
            places[usize::from(byte)] |= 1 << n;
        }
        Some(Near { places, length: word.len() as u32, mistakes })
    }

    /// What is reached as well when letters of the word are left out.
    fn with_missing(&self, at: &mut [u32; MOST + 1]) {
        for mistakes in 1..=self.mistakes {
            at[mistakes] |= at[mistakes - 1] << 1;
        }
    }
}

impl Automaton for Near {
    type State = Reached;

    fn start(&self) -> Reached {
        let mut at = [1, 0, 0];
        self.with_missing(&mut at);
        Reached { at, swapped: [0; MOST + 1] }
    }

    fn is_match(&self, state: &Reached) -> bool {
        state.at.iter().any(|at| (at >> self.length) & 1 == 1)
    }

    fn can_match(&self, state: &Reached) -> bool {
        state.at.iter().chain(&state.swapped).any(|places| *places != 0)
    }

    fn accept(&self, state: &Reached, byte: u8) -> Reached {
        let here = self.places[usize::from(byte)];
        let within = (1u32 << (self.length + 1)) - 1;
        let mut next = Reached { at: [0; MOST + 1], swapped: [0; MOST + 1] };
        for mistakes in 0..=self.mistakes {
            next.at[mistakes] |= (state.at[mistakes] & here) << 1;
            // The second of two swapped letters is the first of the two in the word.
            next.at[mistakes] |= (state.swapped[mistakes] & here) << 2;
            if mistakes < self.mistakes {
                // A letter changed, or one too many.
                next.at[mistakes + 1] |= (state.at[mistakes] << 1) | state.at[mistakes];
                next.swapped[mistakes + 1] |= state.at[mistakes] & (here >> 1);
            }
        }
        self.with_missing(&mut next.at);
        next.at.iter_mut().for_each(|at| *at &= within);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(word: &str, other: &str, mistakes: usize) -> bool {
        let near = Near::to(word, mistakes).expect("a short word");
        let mut state = near.start();
        for byte in other.bytes() {
            state = near.accept(&state, byte);
            if !near.can_match(&state) {
                return false;
            }
        }
        near.is_match(&state)
    }

    #[test]
    fn mistakes_are_letters_changed_missing_added_or_swapped() {
        for other in
            ["spider", "spidar", "spidr", "spiders", "spidre", "pider", "xspider", "psider"]
        {
            assert!(is_near("spider", other, 1), "{other}");
        }
        for other in ["spidres", "sidar", "spierd", "spi", "web", "", "sipdre"] {
            assert!(!is_near("spider", other, 1), "{other}");
        }
        for other in ["spidres", "sidar", "sipdre", "spid", "xspiderx"] {
            assert!(is_near("spider", other, 2), "{other}");
        }
        assert!(!is_near("spider", "spi", 2) && !is_near("spider", "web", 2));
        assert!(is_near("a", "", 1) && !is_near("ab", "", 1));
    }

    #[test]
    fn what_cannot_be_told_is_refused() {
        assert!(Near::to("über", 1).is_none() && Near::to(&"x".repeat(31), 1).is_none());
        assert!(Near::to(&"x".repeat(30), 2).is_some());
    }
}
