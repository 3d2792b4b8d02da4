//! Pictures: bars over time, the timeline of a page, its neighbourhood; all as SVG.
//!
//! * Every picture is drawn twice, for a desk and for a phone; the style shows one of them.
//! * Invariants: sizes and places are attributes, never styles; a picture says in words what it shows.

use super::parts::{about, second, short};
use crate::words::{count, minute, text};
use argiope_archive::warc_date;
use maud::{Markup, html};
use serde_json::Value;

/// How wide a phone's drawing is.
const NARROW: f64 = 340.0;
/// How wide a drawing over the whole page is, and one that stands beside another.
pub(crate) const WHOLE: f64 = 1080.0;
pub(crate) const HALF: f64 = 540.0;

/// Both drawings of a picture: `wide` for a desk, and one for a phone.
pub(crate) fn both(wide: f64, draw: impl Fn(f64) -> Markup) -> Markup {
    html! {
        div.only-wide { (draw(wide)) }
        div.only-narrow { (draw(NARROW)) }
    }
}

fn f(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// What is drawn at one time: a whole and the part of it that is told apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// Milliseconds.
    pub time: i64,
    pub whole: f64,
    pub part: f64,
    pub said: String,
}

/// Bars over time. `step` is how long a bar stands for, in milliseconds; `top` what the highest value is called.
pub(crate) fn bars(
    label: &str,
    bars: &[Bar],
    step: i64,
    top: impl Fn(f64) -> String,
    width: f64,
) -> Markup {
    const HEIGHT: f64 = 150.0;
    const HEAD: f64 = 18.0;
    const FOOT: f64 = 22.0;
    let first = bars.first().map_or(0, |bar| bar.time);
    let last = bars.last().map_or(0, |bar| bar.time);
    let steps = ((last - first) / step.max(1) + 1) as f64;
    let each = (width / steps).min(60.0);
    let most = bars.iter().map(|bar| bar.whole.max(bar.part)).fold(0.0, f64::max);
    let room = HEIGHT - HEAD - FOOT;
    let high = |value: f64| {
        if most > 0.0 {
            (value / most * room).max(if value > 0.0 { 1.0 } else { 0.0 })
        } else {
            0.0
        }
    };
    let base = HEIGHT - FOOT;
    html! {
        svg.plot role="img" aria-label=(label) viewBox=(format!("0 0 {} {}", f(width), f(HEIGHT))) {
            line.axis x1="0" x2=(f(width)) y1=(f(HEAD)) y2=(f(HEAD)) {}
            line.axis x1="0" x2=(f(width)) y1=(f(base)) y2=(f(base)) {}
            text x="0" y="12" { (top(most)) }
            @for bar in bars {
                @let x = ((bar.time - first) / step.max(1)) as f64 * each;
                g {
                    title { (bar.said) }
                    rect.room x=(f(x)) y=(f(HEAD)) width=(f(each)) height=(f(room)) {}
                    rect.bar1 x=(f(x + each * 0.1)) y=(f(base - high(bar.whole))) width=(f(each * 0.8)) height=(f(high(bar.whole))) {}
                    rect.bar2 x=(f(x + each * 0.1)) y=(f(base - high(bar.part))) width=(f(each * 0.8)) height=(f(high(bar.part))) {}
                }
            }
            @if let (Some(a), Some(b)) = (bars.first(), bars.last()) {
                text x="0" y=(f(HEIGHT - 6.0)) { (said_time(a.time)) }
                @if bars.len() > 1 && each * steps > 260.0 {
                    text.end x=(f(each * steps)) y=(f(HEIGHT - 6.0)) { (said_time(b.time)) }
                }
            }
        }
    }
}

fn said_time(ms: i64) -> String {
    minute(&argiope_model::Time(ms).to_string())
}

/// What a visit was, for those who look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    First,
    Changed,
    Same,
    Error,
}

/// A visit on the timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    pub time: String,
    pub mark: Mark,
    pub href: String,
    pub said: String,
}

/// Where each of these times stands between 0 and `width`, in the order of time.
pub(crate) fn places(times: &[i64], width: f64) -> Vec<f64> {
    let (Some(first), Some(last)) = (times.iter().min(), times.iter().max()) else {
        return Vec::new();
    };
    let span = (last - first) as f64;
    let place = |time: &i64| match span > 0.0 {
        true => (time - first) as f64 / span * width,
        false => width / 2.0,
    };
    times.iter().map(place).collect()
}

/// The visits of a page: changes, visits that found it the same, errors. Each leads to its version.
pub(crate) fn timeline(label: &str, visits: &[Visit], width: f64) -> Markup {
    const HEIGHT: f64 = 84.0;
    const EDGE: f64 = 12.0;
    let times: Vec<i64> =
        visits.iter().map(|visit| warc_date(&visit.time).map_or(0, |time| time.0)).collect();
    let places = places(&times, width - 2.0 * EDGE);
    html! {
        svg.plot.timeline role="group" aria-label=(label) viewBox=(format!("0 0 {} {}", f(width), f(HEIGHT))) {
            line.axis x1="0" x2=(f(width)) y1="40" y2="40" {}
            @for (visit, x) in visits.iter().zip(&places) {
                @let x = x + EDGE;
                a href=(visit.href) aria-label=(visit.said) {
                    title { (visit.said) }
                    @match visit.mark {
                        Mark::First => { rect.first x=(f(x - 6.0)) y="34" width="12" height="12" rx="2" {} }
                        Mark::Changed => {
                            line.stem x1=(f(x)) x2=(f(x)) y1="16" y2="40" {}
                            circle.changed cx=(f(x)) cy="16" r="7" {}
                        }
                        Mark::Same => { circle.same cx=(f(x)) cy="40" r="4" {} }
                        Mark::Error => {
                            path.error d=(format!("M{0} 48l10 10m0 -10l-10 10", f(x - 5.0))) {}
                            rect.room x=(f(x - 6.0)) y="47" width="12" height="12" {}
                        }
                    }
                }
            }
            @if let (Some(a), Some(b)) = (visits.first(), visits.last()) {
                text x="0" y="80" { (second(&a.time)) }
                @if visits.len() > 1 { text.end x=(f(width)) y="80" { (second(&b.time)) } }
            }
        }
    }
}

/// A page beside another: its address and the words of the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    pub url: String,
    pub words: String,
}

/// The pages around a page: those that link to it left, those it links to right.
pub(crate) fn neighbourhood(
    url: &str,
    title: &str,
    sides: &[Vec<Neighbour>; 2],
    all: [u64; 2],
    width: f64,
) -> Markup {
    const LINE: f64 = 30.0;
    const HEAD: f64 = 26.0;
    let narrow = width < 500.0;
    let rows = sides.iter().map(Vec::len).max().unwrap_or(0).max(3) as f64;
    let height = HEAD + rows * LINE + 8.0;
    let (column, middle) = if narrow { (134.0, 44.0) } else { (370.0, 220.0) };
    let (letters, inside) = if narrow { (17, 4) } else { (52, 30) };
    let (centre, x_middle) = (HEAD + rows * LINE / 2.0, width / 2.0);
    let base = origin_of(url);
    let label = format!(
        "{} pages link here, this page links to {}; the highest ranking are shown",
        count(all[0]),
        count(all[1])
    );
    html! {
        svg.plot.around role="group" aria-label=(label) viewBox=(format!("0 0 {} {}", f(width), f(height))) {
            text x="0" y="14" { "linking here: " (count(all[0])) }
            text.end x=(f(width)) y="14" { "linked: " (count(all[1])) }
            @for (side, nodes) in sides.iter().enumerate() {
                @let gap = (rows - nodes.len() as f64) * LINE / 2.0;
                @for (n, node) in nodes.iter().enumerate() {
                    @let y = HEAD + gap + (n as f64 + 0.5) * LINE;
                    @let (x, from, to) = match side {
                        0 => (0.0, column, x_middle - middle / 2.0),
                        _ => (width - column, x_middle + middle / 2.0, width - column),
                    };
                    @let bend = (from + to) / 2.0;
                    @let (y1, y2) = if side == 0 { (y, centre) } else { (centre, y) };
                    path.edge d=(format!("M{} {}C{2} {1} {2} {4} {3} {4}", f(from), f(y1), f(bend), f(to), f(y2))) {}
                    a href=(about(&node.url)) {
                        title { (node.url) @if !node.words.is_empty() { " “" (short(&node.words, 120)) "”" } }
                        rect.node x=(f(x + 0.5)) y=(f(y - 12.0)) width=(f(column - 1.0)) height="24" rx="5" {}
                        // A drawing within the drawing ends where it ends.
                        svg x=(f(x + 7.0)) y=(f(y - 12.0)) width=(f(column - 10.0)) height="24" {
                            text.label x="0" y="16" { (near_name(&node.url, &base, letters)) }
                        }
                    }
                }
            }
            g {
                title { (title) }
                rect.centre x=(f(x_middle - middle / 2.0)) y=(f(centre - 18.0)) width=(f(middle)) height="36" rx="7" {}
                text.middle x=(f(x_middle)) y=(f(centre + 4.0)) { @if narrow { "here" } @else { (short(title, inside)) } }
            }
        }
    }
}

/// Scheme, host and port of a URL.
fn origin_of(url: &str) -> String {
    let after = url.find("://").map_or(0, |at| at + 3);
    let end = url[after..].find('/').map_or(url.len(), |at| after + at);
    url[..end].to_owned()
}

/// What a page is called beside one of `base`: its path at home, its host and path elsewhere, the end of its path where
/// that is long.
fn near_name(url: &str, base: &str, letters: usize) -> String {
    let name = match url.strip_prefix(base).filter(|rest| rest.starts_with('/')) {
        Some(path) => path,
        None => url.split_once("://").map_or(url, |(_, rest)| rest),
    };
    let end = name.trim_end_matches('/').rsplit_once('/').map(|(_, end)| format!("…/{end}"));
    match end {
        Some(end) if name.chars().count() > letters => short(&end, letters),
        _ => short(name, letters),
    }
}

/// The neighbours of a side out of rows.
pub(crate) fn side(rows: &[Value], side: &str, most: usize) -> Vec<Neighbour> {
    let here = rows.iter().filter(|row| row["side"] == side).take(most);
    here.map(|row| Neighbour {
        url: text(row, "url").to_owned(),
        words: text(row, "words").to_owned(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stand_in_their_proportions() {
        assert_eq!(places(&[0, 50, 100], 200.0), [0.0, 100.0, 200.0]);
        assert_eq!(places(&[7], 200.0), [100.0]);
        assert_eq!(places(&[7, 7], 200.0), [100.0, 100.0]);
        assert!(places(&[], 200.0).is_empty());
    }

    #[test]
    fn the_highest_bar_fills_the_room_and_nothing_is_drawn_beyond() {
        let bar = |time, whole, part| Bar { time, whole, part, said: "<x>".to_owned() };
        let drawn =
            bars("visits", &[bar(0, 10.0, 5.0), bar(120, 1.0, 0.0)], 60, |n| n.to_string(), 300.0);
        let drawn = drawn.into_string();
        assert!(drawn.contains("height=\"110\""), "{drawn}");
        assert!(
            drawn.contains("&lt;x&gt;") && !drawn.contains("<x>") && !drawn.contains("style="),
            "{drawn}"
        );
        assert!(!bars("none", &[], 60, |n| n.to_string(), 300.0).into_string().contains("NaN"));
    }

    #[test]
    fn neighbours_are_links_and_their_words_stay_words() {
        let node = |url: &str| Neighbour { url: url.to_owned(), words: "<script>".to_owned() };
        let sides = [vec![node("http://b.test/x")], vec![node("http://a.test/y?z=1")]];
        let drawn = neighbourhood("http://a.test/", "<b>", &sides, [1, 1], 720.0).into_string();
        assert!(drawn.contains("/page?url=http%3A%2F%2Fb.test%2Fx"), "{drawn}");
        assert!(drawn.contains(">b.test/x<") && drawn.contains(">/y?z=1<"), "{drawn}");
        assert!(!drawn.contains("<script>") && !drawn.contains("<b>"), "{drawn}");
        let name = |url: &str, letters| near_name(url, "http://a.test", letters);
        assert_eq!(name("http://a.test/stars/2019/the-moon-8", 17), "…/the-moon-8");
        assert_eq!(
            (name("http://a.test/", 17), name("http://a.testing/x", 17)),
            ("/".into(), "a.testing/x".into())
        );
    }
}
