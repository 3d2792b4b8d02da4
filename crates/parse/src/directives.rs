//! What a page asks of robots: in its `<meta>` tags and in the `X-Robots-Tag` header.
//!
//! * What this is: the few words that forbid something, read from both places into one value.
//! * Its place: `crawl` asks after `parse_html`, with the head of the answer and the name the
//!   crawler goes by.
//! * Invariants: words only ever forbid, so several sources are joined by [`Directives::and`]
//!   in any order; words that are not known, and words for other robots, change nothing.
//! * What is not here: `robots.txt` (`frontier`), `rel=nofollow` of single links (`collect`),
//!   and dates (`unavailable_after` is read over).

use crate::page::RobotsTag;
use argiope_model::Directives;

/// Directives that carry a value behind a colon, and so are not the name of a robot.
const WITH_VALUE: [&str; 4] =
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// What the `<meta>` tags of a page say to all robots and to `agent`.
pub fn meta_directives(tags: &[RobotsTag], agent: &str) -> Directives {
    let ours = tags.iter().filter(|tag| is_meant(&tag.name, agent));
    ours.fold(Directives::default(), |all, tag| all.and(self::words(&tag.content)))
}

/// What the values of all `X-Robots-Tag` headers say to all robots and to `agent`.
///
/// A value may name the robot it is meant for (`otherbot: noindex, nofollow`), and several
/// of them may have been joined to one by commas.
pub fn header_directives<'a>(values: impl Iterator<Item = &'a str>, agent: &str) -> Directives {
    let mut all = Directives::default();
    for value in values {
        let mut meant = true;
        for part in value.split(',') {
            let mut words = part;
            if let Some((name, rest)) = part.split_once(':').filter(|(n, _)| is_name(n)) {
                meant = is_meant(name.trim(), agent);
                words = rest;
            }
            if meant {
                all = all.and(self::words(words));
            }
        }
    }
    all
}

/// Reads a list of words.
pub(crate) fn words(text: &str) -> Directives {
    text.split([',', ';']).fold(Directives::default(), |all, part| all.and(self::part(part)))
}

/// Reads words without commas between them; a value after a colon is not one of them.
fn part(mut part: &str) -> Directives {
    let mut all = Directives::default();
    while let Some((before, after)) = part.split_once(':') {
        all = before.split_whitespace().fold(all, |all, word| all.and(self::word(word)));
        part = after;
        let name = before.split_whitespace().next_back().unwrap_or_default();
        if takes_value(name) {
            let after = after.trim_start();
            let end = after.find(char::is_whitespace).unwrap_or(after.len());
            all.nosnippet |= name.eq_ignore_ascii_case("max-snippet") && &after[..end] == "0";
            part = &after[end..];
        }
    }
    part.split_whitespace().fold(all, |all, word| all.and(self::word(word)))
}

fn word(word: &str) -> Directives {
    let is = |known: &str| word.eq_ignore_ascii_case(known);
    let none = is("none");
    Directives {
        noindex: none || is("noindex"),
        nofollow: none || is("nofollow"),
        noarchive: is("noarchive") || is("nocache"),
        nosnippet: is("nosnippet"),
    }
}

fn takes_value(word: &str) -> bool {
    WITH_VALUE.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Whether what stands before a colon is the name of a robot.
fn is_name(text: &str) -> bool {
    let name = text.trim();
    !name.is_empty() && !name.contains(char::is_whitespace) && !takes_value(name)
}

/// Whether a name means us: everybody, or our own name, with or without a version.
fn is_meant(name: &str, agent: &str) -> bool {
    let product = |text: &str| text.split('/').next().unwrap_or_default().to_ascii_lowercase();
    name == "*" || name.eq_ignore_ascii_case("robots") || product(name) == product(agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: Directives =
        Directives { noindex: true, nofollow: false, noarchive: false, nosnippet: false };
    const FOLLOW: Directives =
        Directives { noindex: false, nofollow: true, noarchive: false, nosnippet: false };
    const NOTHING: Directives =
        Directives { noindex: false, nofollow: false, noarchive: false, nosnippet: false };

    fn header(values: &[&str]) -> Directives {
        header_directives(values.iter().copied(), "argiope")
    }

    fn meta(tags: &[(&str, &str)]) -> Directives {
        let tag = |(name, content): &(&str, &str)| RobotsTag {
            name: (*name).to_owned(),
            content: (*content).to_owned(),
        };
        meta_directives(&tags.iter().map(tag).collect::<Vec<_>>(), "Argiope/0.1")
    }

    #[test]
    fn words_forbid_whatever_their_case_and_separator() {
        assert_eq!(meta(&[("robots", "NOINDEX")]), INDEX);
        assert_eq!(meta(&[("robots", "none")]), INDEX.and(FOLLOW));
        assert_eq!(meta(&[("robots", "index,NoFollow , unheard-of")]), FOLLOW);
        assert_eq!(meta(&[("robots", "noindex nofollow")]), INDEX.and(FOLLOW));
        assert_eq!(meta(&[("robots", "all, index, follow, noindexing, noneofthem")]), NOTHING);
        let all = meta(&[("robots", "noarchive"), ("robots", "nosnippet;none")]);
        assert!(all.noarchive && all.nosnippet && all.noindex && all.nofollow);
        assert!(meta(&[("robots", "max-snippet:0")]).nosnippet);
        assert_eq!(meta(&[("robots", "max-snippet:50 max-image-preview: none nofollow")]), FOLLOW);
    }

    #[test]
    fn tags_for_us_count_and_tags_for_others_do_not() {
        assert_eq!(meta(&[("ARGIOPE", "nofollow"), ("googlebot", "noindex")]), FOLLOW);
        assert_eq!(
            meta(&[("robots", "noindex"), ("argiope", "index, nofollow")]),
            INDEX.and(FOLLOW)
        );
        assert_eq!(meta(&[("argiope-news", "noindex")]), NOTHING);
    }

    #[test]
    fn a_header_value_may_begin_with_the_robot_it_is_meant_for() {
        assert_eq!(header(&["noindex, nofollow"]), INDEX.and(FOLLOW));
        assert_eq!(header(&["googlebot: noindex", "Argiope : nofollow"]), FOLLOW);
        assert_eq!(header(&["otherbot: noindex, nofollow"]), NOTHING);
        assert_eq!(header(&["otherbot: noindex, argiope: nofollow"]), FOLLOW);
        assert!(header(&["noindex, otherbot: nofollow", "*: noarchive"]).noarchive);
        assert_eq!(header(&["noindex, otherbot: nofollow"]), INDEX);
        assert_eq!(header(&[]), NOTHING);
    }

    #[test]
    fn a_directive_with_a_value_is_no_robot() {
        assert_eq!(header(&["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"]), INDEX);
        assert_eq!(
            header(&["Unavailable_After: Friday, 25-Jun-10 15:00:00 UTC, nofollow"]),
            FOLLOW
        );
        assert_eq!(header(&["max-snippet: 20, noindex", "max-image-preview: none"]), INDEX);
        assert_eq!(header(&[": noindex", ",,:", ""]), INDEX);
    }
}
