//! From what is known of a link to how likely a page worth reading lies behind it.
//!
//! A handful of numbers, each weighed; the weights begin at what is usual and are corrected by every
//! page that is read.

use serde::{Deserialize, Serialize};

/// What speaks for a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The same for all links.
    Base,
    /// The words of the link.
    Words,
    /// The text around it.
    Around,
    /// The words of the URL.
    Url,
    /// Words of links and URLs, by where they led before.
    Led,
    /// The pages that hold the link.
    Parent,
    /// The way there: how far behind the last page that was about it.
    Way,
    /// What else was read of the site.
    Site,
    /// What else was read of the folder.
    Folder,
    /// What else was read from the pages that hold the link.
    Siblings,
    /// How many pages link to it.
    Links,
}

/// How many parts there are.
pub const PARTS: usize = 11;

impl Part {
    /// All of them.
    pub const ALL: [Part; PARTS] = [
        Part::Base,
        Part::Words,
        Part::Around,
        Part::Url,
        Part::Led,
        Part::Parent,
        Part::Way,
        Part::Site,
        Part::Folder,
        Part::Siblings,
        Part::Links,
    ];

    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Part::Base => "base",
            Part::Words => "link words",
            Part::Around => "text around",
            Part::Url => "URL words",
            Part::Led => "where such words led",
            Part::Parent => "linking pages",
            Part::Way => "way there",
            Part::Site => "site so far",
            Part::Folder => "folder so far",
            Part::Siblings => "links beside it",
            Part::Links => "number of links",
        }
    }

    /// The usual weight.
    fn usual(self) -> f32 {
        match self {
            Part::Base => -2.0,
            Part::Words => 2.5,
            Part::Around => 1.0,
            Part::Url => 1.5,
            Part::Led => 1.0,
            Part::Parent => 1.5,
            Part::Way => 1.0,
            Part::Site => 0.5,
            Part::Folder => 0.5,
            Part::Siblings => 0.7,
            Part::Links => 0.2,
        }
    }
}

/// The numbers of a link.
pub(super) type Numbers = [f32; PARTS];

/// The weights.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Guess {
    weights: Numbers,
    /// How much each was moved so far.
    moved: Numbers,
}

impl Default for Guess {
    fn default() -> Self {
        Guess { weights: Part::ALL.map(Part::usual), moved: [1.0; PARTS] }
    }
}

/// How boldly weights are corrected.
const STEP: f32 = 0.25;
/// How strongly they are drawn back to what is usual.
const PULL: f32 = 0.002;

impl Guess {
    /// What each part adds.
    pub fn parts(&self, numbers: &Numbers) -> Numbers {
        std::array::from_fn(|n| self.weights[n] * numbers[n])
    }

    pub fn sum(&self, numbers: &Numbers) -> f32 {
        self.weights.iter().zip(numbers).map(|(w, x)| w * x).sum()
    }

    /// What was behind a link with these numbers.
    pub fn learn(&mut self, numbers: &Numbers, worth: f32) {
        let guessed = chance(self.sum(numbers));
        let error = worth - guessed;
        for (n, number) in numbers.iter().enumerate() {
            let slope = error * number;
            self.moved[n] += slope * slope;
            self.weights[n] += STEP * slope / self.moved[n].sqrt();
            self.weights[n] += PULL * (Part::ALL[n].usual() - self.weights[n]);
            if n > 0 {
                self.weights[n] = self.weights[n].max(0.0);
            }
        }
    }
}

/// From a sum to a chance.
fn chance(sum: f32) -> f32 {
    1.0 / (1.0 + (-sum).exp())
}
