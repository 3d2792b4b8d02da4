//! Speed over time as lines: places in a box of fixed size, for SVG.

use crate::words::{count, seconds};
use serde::Serialize;
use serde_json::Value;

/// The box of a plot, in its own units.
pub(super) const WIDTH: f64 = 720.0;
pub(super) const HEIGHT: f64 = 120.0;

/// One line and what its ends mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Line {
    pub id: &'static str,
    pub title: &'static str,
    /// `x,y` pairs, as `polyline` takes them.
    pub points: String,
    /// The highest value, which touches the top.
    pub most: String,
    /// The latest value.
    pub last: String,
}

/// All lines, and how long they reach back.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Plot {
    pub span: String,
    pub lines: Vec<Line>,
}

/// The lines of what a crawl tells of its speed; none before there are two samples.
pub(super) fn plot(speed: &Value) -> Plot {
    let samples: Vec<[f64; 4]> = speed["samples"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|s| [0, 1, 2, 3].map(|n| s[n].as_f64().unwrap_or(0.0)))
        .collect();
    if samples.len() < 2 {
        return Plot::default();
    }
    let end = samples.last().map_or(0.0, |s| s[0]).max(f64::MIN_POSITIVE);
    let rates = |n: usize| {
        let rate = |pair: &[[f64; 4]]| {
            let took = (pair[1][0] - pair[0][0]).max(0.001);
            (pair[1][0], ((pair[1][n] - pair[0][n]) / took).max(0.0))
        };
        samples.windows(2).map(rate).collect::<Vec<_>>()
    };
    let queue: Vec<(f64, f64)> = samples.iter().map(|s| (s[0], s[3])).collect();
    let lines = vec![
        line("pages", "Pages a second", &rates(1), end, |v| format!("{v:.1}")),
        line("errors", "Errors a second", &rates(2), end, |v| format!("{v:.1}")),
        line("queue", "URLs queued", &queue, end, |v| count(v as u64)),
    ];
    Plot { span: seconds(end), lines }
}

fn line(
    id: &'static str,
    title: &'static str,
    values: &[(f64, f64)],
    end: f64,
    words: impl Fn(f64) -> String,
) -> Line {
    let most = values.iter().map(|(_, v)| *v).fold(0.0, f64::max);
    let last = values.last().map_or(0.0, |(_, v)| *v);
    let scale = if most > 0.0 { (HEIGHT - 4.0) / most } else { 0.0 };
    let place =
        |(x, y): &(f64, f64)| format!("{:.1},{:.1}", x / end * WIDTH, HEIGHT - 2.0 - y * scale);
    let points: Vec<String> = values.iter().map(place).collect();
    Line { id, title, points: points.join(" "), most: words(most), last: words(last) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_become_rates_that_fill_the_box() {
        let speed = json!({ "samples": [[0.0, 0, 0, 5], [1.0, 10, 0, 50], [2.0, 30, 1, 100], [4.0, 30, 1, 0]] });
        let plot = plot(&speed);
        assert_eq!(plot.span, "4.0 s");
        let [pages, errors, queue] = &plot.lines[..] else { panic!("three lines") };
        assert_eq!((pages.most.as_str(), pages.last.as_str()), ("20.0", "0.0"));
        assert_eq!(pages.points, "180.0,60.0 360.0,2.0 720.0,118.0");
        assert_eq!((errors.most.as_str(), queue.most.as_str()), ("1.0", "100"));
        assert!(queue.points.starts_with("0.0,"));
    }

    #[test]
    fn nothing_is_drawn_before_there_is_something() {
        assert_eq!(plot(&Value::Null), Plot::default());
        assert_eq!(plot(&json!({ "samples": [[0.0, 0, 0, 0]] })), Plot::default());
        let still = plot(&json!({ "samples": [[0.0, 0, 0, 0], [0.0, 0, 0, 0]] }));
        assert!(still.lines.iter().all(|l| !l.points.contains("NaN")), "{still:?}");
    }
}
