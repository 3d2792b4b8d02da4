//! What asking a filter costs: a JSON line for each kind, for `cargo xtask bench filters`.
//!
//! URLs are made up from a seed: hosts of two to four labels, some of which are among the domains.
//! Kinds are asked in turn, round after round, and the median of the rounds is told, so that a busy
//! machine slows all of them alike.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use argiope_filter::{Filter, Known, Rule, Saved, Verdict};
use argiope_model::{CanonicalUrl, Suffixes};
use std::hint::black_box;
use std::time::Instant;

const URLS: usize = 20_000;
const ROUNDS: usize = 21;

/// Numbers that repeat themselves.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

fn domain(n: u64) -> String {
    format!("site{n}.example{}.org", n % 7)
}

fn urls() -> Vec<CanonicalUrl> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let made = (0..URLS).map(|_| {
        // Half of them lie at domains of the short list, and so of the long one.
        let known = dice.below(2) == 0;
        let site = domain(if known { dice.below(10) } else { 1_000_000 + dice.below(1_000_000) });
        let host = ["", "www.", "a.b."][dice.below(3) as usize];
        let (a, b, c) = (dice.below(1000), dice.below(1000), dice.below(5));
        let url = format!("https://{host}{site}/section{c}/topic{a}/page-{b}.html?id={a}&page={c}");
        CanonicalUrl::parse(&url).expect("made-up URLs are URLs")
    });
    made.collect()
}

fn domains(n: u64) -> Rule {
    Rule::Domain((0..n).map(domain).collect())
}

fn regexes(n: u64) -> Rule {
    let one = |n: u64| format!("/(print|share|tag{n})/[0-9]+|[?&]sort{n}=(up|down)");
    Rule::Not(Box::new(Rule::Regex((0..n).map(one).collect())))
}

fn script() -> Rule {
    let text = r#"
        fn crawl(url) {
            if url.depth > 8 || "sort" in url.params { return false; }
            url.host.ends_with(".org") && !url.path.contains("/print/")
        }"#;
    Rule::Script { name: "bench.rhai".to_owned(), text: text.to_owned() }
}

fn main() {
    let (urls, suffixes) = (urls(), Suffixes::built_in());
    let kinds = [
        ("domains, 10", domains(10)),
        ("domains, 10,000", domains(10_000)),
        ("domains, 100,000", domains(100_000)),
        ("expressions, 1", regexes(1)),
        ("expressions, 20", regexes(20)),
        ("expressions, 200", regexes(200)),
        ("script", script()),
    ];
    let kinds = kinds.map(|(name, rule)| {
        let saved = Saved { name: name.to_owned(), rule };
        let filter = Filter::new(&saved).expect("the rules of the benchmark are good");
        (name, filter, Vec::new(), 0)
    });
    let mut kinds = Vec::from(kinds);
    for _ in 0..ROUNDS {
        for (_, filter, times, passed) in &mut kinds {
            let begun = Instant::now();
            let yes = |url: &&CanonicalUrl| {
                let judged = filter.judge(black_box(url), &suffixes, Known::default());
                judged.verdict == Verdict::Yes
            };
            *passed = urls.iter().filter(yes).count();
            times.push(begun.elapsed().as_secs_f64());
        }
    }
    for (name, _, mut times, passed) in kinds {
        times.sort_by(f64::total_cmp);
        let ns = times[ROUNDS / 2] * 1e9 / URLS as f64;
        println!("{{\"kind\":\"{name}\",\"ns\":{ns:.1},\"passed\":{passed},\"urls\":{URLS}}}");
    }
}
