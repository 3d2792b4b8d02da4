//! Made-up webs in which pages are about something.
//!
//! Six topics with words of their own. A page has a topic, a title and sentences in its words, mixed with
//! words that say nothing. Most links lead to pages of the same topic, in words of their titles; some
//! lead anywhere, in the same way or in words that say nothing ("more", "here"). One page in six is on the
//! wanted topic, and the topics lie in clusters, so that where one such page is others are near.

use anyhow::Result;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// What is asked for.
pub const ABOUT: &str = "spider silk";

const PAGES: usize = 1200;
const TOPICS: [[&str; 8]; 6] = [
    ["spider", "silk", "orb", "spinneret", "prey", "thread", "weaver", "venom"],
    ["bread", "flour", "oven", "yeast", "crust", "dough", "baker", "loaf"],
    ["sail", "harbour", "mast", "keel", "tide", "rudder", "anchor", "deck"],
    ["violin", "string", "bow", "concert", "tuning", "melody", "orchestra", "score"],
    ["glacier", "ice", "moraine", "valley", "snow", "crevasse", "summit", "melt"],
    ["loom", "cotton", "weft", "dye", "pattern", "fabric", "shuttle", "wool"],
];
const PLAIN: [&str; 10] =
    ["the", "and", "often", "people", "many", "first", "other", "between", "long", "made"];

struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn one<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Writes a web into a folder, beginning at `p0.html`; the file names of the pages on the topic.
pub fn write(seed: u64, root: &Path) -> Result<BTreeSet<String>> {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    // Runs of pages of one topic: neighbours by number are neighbours by links.
    let mut topics = vec![1];
    while topics.len() < PAGES {
        let (topic, length) = (draw.below(TOPICS.len()), 5 + draw.below(30));
        topics.extend(std::iter::repeat_n(topic, length));
    }
    topics.truncate(PAGES);
    let titles: Vec<String> = (topics.iter().enumerate())
        .map(|(n, topic)| {
            format!("{} {} {n}", draw.one(&TOPICS[*topic]), draw.one(&TOPICS[*topic]))
        })
        .collect();
    for (n, topic) in topics.iter().enumerate() {
        let mut text = format!("<title>{}</title><h1>{}</h1>\n", titles[n], titles[n]);
        for _ in 0..6 {
            text.push_str("<p>");
            for _ in 0..14 {
                let own = draw.below(3) == 0;
                let word = if own { draw.one(&TOPICS[*topic]) } else { draw.one(&PLAIN) };
                let _ = write!(text, "{word} ");
            }
            text.push_str("</p>\n");
        }
        // Every page leads on to the next two, so that all can be reached.
        let mut targets = vec![(2 * n + 1) % PAGES, (2 * n + 2) % PAGES];
        targets.extend((0..6).map(|_| (n + 1 + draw.below(12)) % PAGES));
        targets.extend((0..3).map(|_| draw.below(PAGES)));
        for to in targets {
            let words =
                if draw.below(4) == 0 { draw.one(&["more", "here", "next"]) } else { &titles[to] };
            let _ = writeln!(text, "<p>See <a href=\"p{to}.html\">{words}</a>.</p>");
        }
        std::fs::write(root.join(format!("p{n}.html")), text)?;
    }
    let wanted = topics.iter().enumerate().filter(|(_, topic)| **topic == 0);
    Ok(wanted.map(|(n, _)| format!("p{n}.html")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_web_is_the_same_every_time_and_has_pages_on_the_topic() -> Result<()> {
        let (one, two) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let wanted = write(1, one.path())?;
        assert_eq!(wanted, write(1, two.path())?);
        assert!((PAGES / 20..PAGES / 2).contains(&wanted.len()), "{}", wanted.len());
        let read = |dir: &Path| std::fs::read_to_string(dir.join("p7.html"));
        assert_eq!(read(one.path())?, read(two.path())?);
        assert_ne!(wanted, write(2, two.path())?);
        Ok(())
    }
}
