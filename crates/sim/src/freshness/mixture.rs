//! How change rates and importances are spread over a web.

use crate::draw::Draw;

/// How change rates are spread. All rates are per day.
#[derive(Clone, Debug, PartialEq)]
pub enum Mixture {
    /// The same for all.
    Same(f64),
    /// Gamma: shape and mean.
    Gamma(f64, f64),
    /// Lognormal: median and the spread of its logarithm.
    LogNormal(f64, f64),
    /// Pareto: exponent, least and most.
    Power(f64, f64, f64),
    /// Uniform in the logarithm between two rates.
    Wide(f64, f64),
    /// Several, each with its share.
    Parts(Vec<(f64, Mixture)>),
}

impl Mixture {
    /// Two kinds of pages.
    pub fn two(share: f64, slow: f64, fast: f64) -> Self {
        Mixture::Parts(vec![(share, Mixture::Same(slow)), (1.0 - share, Mixture::Same(fast))])
    }

    /// A web as it is: some pages never change, most do rarely, some every hour.
    pub fn ordinary() -> Self {
        Mixture::Parts(vec![
            (0.3, Mixture::Same(0.0)),
            (0.55, Mixture::LogNormal(0.03, 1.5)),
            (0.1, Mixture::LogNormal(1.0, 0.7)),
            (0.05, Mixture::Same(24.0)),
        ])
    }

    /// The change rate of a page.
    pub(super) fn rate(&self, draw: &mut Draw) -> f64 {
        match self {
            Mixture::Same(rate) => *rate,
            Mixture::Gamma(shape, mean) => draw.gamma(*shape) * mean / shape,
            Mixture::LogNormal(median, spread) => median * (spread * draw.normal()).exp(),
            Mixture::Power(exponent, least, most) => {
                let rest = (least / most).powf(*exponent);
                let place = rest + (1.0 - rest) * draw.unit();
                least * place.powf(-1.0 / exponent)
            }
            Mixture::Wide(least, most) => least * (most / least).powf(draw.unit()),
            Mixture::Parts(parts) => {
                let mut left = draw.unit() * parts.iter().map(|(share, _)| share).sum::<f64>();
                for (share, part) in parts {
                    left -= share;
                    if left <= 0.0 {
                        return part.rate(draw);
                    }
                }
                parts.last().map_or(0.0, |(_, part)| part.rate(draw))
            }
        }
    }
}

/// How importance is spread over a web.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Importance {
    /// All pages count the same.
    Equal,
    /// The page of rank n counts n to the power of minus this.
    Zipf(f64),
}

impl Importance {
    pub(super) fn weights(self, pages: usize, draw: &mut Draw) -> Vec<f64> {
        let mut weights: Vec<f64> = match self {
            Importance::Equal => vec![1.0; pages],
            Importance::Zipf(power) => (1..=pages).map(|n| (n as f64).powf(-power)).collect(),
        };
        // Rank has nothing to do with the place in the web.
        for n in (1..pages).rev() {
            weights.swap(n, draw.below(n as u64 + 1) as usize);
        }
        weights
    }
}
