//! Plots as SVG, written by hand: lines over a number, and bars in groups.

use std::fmt::Write as _;

/// Colours that can be told apart, also by those who see fewer (Okabe and Ito).
const COLOURS: [&str; 6] = ["#d55e00", "#e69f00", "#56b4e9", "#0072b2", "#009e73", "#cc79a7"];
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 70.0;

/// A named row of numbers.
pub type Series = (String, Vec<f64>);

/// The frame of a plot whose upward axis goes from `low` to `high`.
struct Frame {
    text: String,
    low: f64,
    high: f64,
}

impl Frame {
    fn new(title: &str, upward: &str, low: f64, high: f64, step: f64) -> Self {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>"
        );
        let mut frame = Frame { text, low, high };
        frame.label(LEFT, 24.0, "start", title, " font-size=\"16\"");
        frame.label(LEFT - 50.0, TOP - 10.0, "start", upward, " fill=\"#555\"");
        let mut value = low;
        while value <= high + 1e-9 {
            let y = frame.y(value);
            let _ = writeln!(
                frame.text,
                "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>",
                WIDTH - RIGHT
            );
            frame.label(LEFT - 8.0, y + 4.0, "end", &format!("{value:.2}"), " fill=\"#555\"");
            value += step;
        }
        frame
    }

    fn y(&self, value: f64) -> f64 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.02);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }

    fn label(&mut self, x: f64, y: f64, anchor: &str, words: &str, more: &str) {
        let words = words.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{more}>{words}</text>"
        );
    }

    fn legend(&mut self, place: usize, name: &str) {
        let (x, y) = (WIDTH - RIGHT + 16.0, TOP + 10.0 + 22.0 * place as f64);
        let colour = COLOURS[place % COLOURS.len()];
        let _ = writeln!(
            self.text,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"14\" height=\"10\" fill=\"{colour}\"/>",
            y - 9.0
        );
        self.label(x + 20.0, y, "start", name, "");
    }

    fn done(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// Lines: each series over 1, 2, 3 …
pub fn lines(
    title: &str,
    upward: &str,
    along: &str,
    low: f64,
    high: f64,
    all: &[Series],
) -> String {
    let frame = Frame::new(title, upward, low, high, (high - low) / 5.0);
    let most = all.iter().map(|(_, values)| values.len()).max().unwrap_or(1).max(2);
    let named = (0..most).filter(|n| n % 2 == 0 || most < 12).map(|n| (n, format!("{}", n + 1)));
    drawn(frame, along, most, named, all)
}

/// Lines: each series over 0 to 100 percent of something, from 0 to 1.
pub fn shares(title: &str, upward: &str, along: &str, all: &[Series]) -> String {
    let frame = Frame::new(title, upward, 0.0, 1.0, 0.2);
    let most = all.iter().map(|(_, values)| values.len()).max().unwrap_or(1).max(2);
    let named = (0..=10).map(|n| (n * (most - 1) / 10, format!("{} %", 10 * n)));
    drawn(frame, along, most, named, all)
}

fn drawn(
    mut frame: Frame,
    along: &str,
    most: usize,
    named: impl Iterator<Item = (usize, String)>,
    all: &[Series],
) -> String {
    let x = |n: usize| LEFT + (WIDTH - LEFT - RIGHT) * n as f64 / (most - 1) as f64;
    for (n, at) in named {
        frame.label(x(n), HEIGHT - BOTTOM + 20.0, "middle", &at, " fill=\"#555\"");
    }
    let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
    frame.label(middle, HEIGHT - BOTTOM + 45.0, "middle", along, " fill=\"#555\"");
    for (place, (name, values)) in all.iter().enumerate() {
        let points: Vec<String> = (values.iter().enumerate())
            .map(|(n, value)| format!("{:.1},{:.1}", x(n), frame.y(*value)))
            .collect();
        let _ = writeln!(
            frame.text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.5\"/>",
            points.join(" "),
            COLOURS[place % COLOURS.len()]
        );
        frame.legend(place, name);
    }
    frame.done()
}

/// Bars: a group for each name, in it a bar of each series.
pub fn bars(
    title: &str,
    upward: &str,
    low: f64,
    high: f64,
    groups: &[String],
    all: &[Series],
) -> String {
    let mut frame = Frame::new(title, upward, low, high, (high - low) / 5.0);
    let wide = (WIDTH - LEFT - RIGHT) / groups.len().max(1) as f64;
    let bar = 0.8 * wide / all.len().max(1) as f64;
    for (place, (name, values)) in all.iter().enumerate() {
        for (n, value) in values.iter().enumerate() {
            let x = LEFT + wide * (n as f64 + 0.1) + bar * place as f64;
            let (y, foot) = (frame.y(*value), frame.y(low));
            let _ = writeln!(
                frame.text,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
                bar * 0.92,
                (foot - y).max(0.0),
                COLOURS[place % COLOURS.len()]
            );
        }
        frame.legend(place, name);
    }
    for (n, group) in groups.iter().enumerate() {
        // Long names share the room: every other one stands lower.
        let y = HEIGHT - BOTTOM + 18.0 + 16.0 * (n % 3) as f64;
        let x = LEFT + wide * (n as f64 + 0.5);
        frame.label(x, y, "middle", group, " font-size=\"11\"");
    }
    frame.done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_whole_and_hold_their_names() {
        let all = [("a < b".to_string(), vec![0.5, 0.9]), ("c".to_string(), vec![0.7, 2.0])];
        let groups = ["x".to_string(), "y".to_string()];
        for plot in [
            lines("title", "up", "along", 0.0, 1.0, &all),
            shares("title", "up", "along", &all),
            bars("title", "up", 0.0, 1.0, &groups, &all),
        ] {
            assert!(plot.starts_with("<svg ") && plot.ends_with("</svg>\n"));
            assert!(plot.contains(">a &lt; b</text>") && !plot.contains("NaN"));
        }
    }
}
