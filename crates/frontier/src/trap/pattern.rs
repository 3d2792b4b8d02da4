//! Patterns: which URLs are counted together.
//!
//! A URL belongs to up to four: its whole site (or host, see [`Group`]), the first part of its path or
//! the top, what lies below that part's folder, and its own folder or the names of its parameters. Their names are what people see, and what is kept.

use argiope_model::CanonicalUrl;

/// What a suspicion speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PatternId(pub u64);

/// The names of the patterns of a URL, the narrowest first; the last is all of its group.
pub(crate) fn patterns(url: &CanonicalUrl, group: &str) -> Vec<String> {
    let (origin, path) = (url.origin(), url.path());
    let mut out = Vec::with_capacity(3);
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match url.query() {
        Some(query) => {
            let mut names: Vec<&str> = query.split(['&', ';']).map(name_of).collect();
            names.sort_unstable();
            names.dedup();
            names.truncate(MAX_NAMES);
            out.push(format!("{origin}{}?{}", general(&parts), names.join("&")));
        }
        None if parts.len() > 2 => {
            let folder = &parts[..parts.len() - 1];
            out.push(format!("{origin}{}/…", general(folder)));
            // What lies below a folder of the first part, and not in it.
            let below = format!("{origin}/{}/…/…", generalised(parts[0]));
            out.push(below);
        }
        None => {}
    }
    if parts.len() > 1 || url.query().is_some() {
        let first = format!("{origin}/{}/…", generalised(parts[0]));
        if !out.contains(&first) {
            out.push(first);
        }
    } else {
        out.push(format!("{origin}{TOP}"));
    }
    out.push(format!("{group}/…"));
    out
}

/// How the pattern of what lies at the top of a host ends.
pub(crate) const TOP: &str = "/*";

/// Parameters that tell patterns apart, at most.
const MAX_NAMES: usize = 8;
/// Parts of a path that tell patterns apart, at most.
const MAX_PARTS: usize = 6;

fn name_of(parameter: &str) -> &str {
    parameter.split_once('=').map_or(parameter, |(name, _)| name)
}

fn general(parts: &[&str]) -> String {
    parts.iter().take(MAX_PARTS).map(|part| format!("/{}", generalised(part))).collect()
}

/// A part of a path with what looks like a number or an identifier left out.
fn generalised(part: &str) -> String {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    if part.len() >= 12
        && digits >= 3
        && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    {
        return "*".to_owned();
    }
    let mut out = String::with_capacity(part.len());
    for c in part.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            c => out.push(c),
        }
    }
    out
}

/// The words of a URL in no order, each once: what URLs have in common whose parts stand in another order.
pub(crate) fn shuffled(url: &CanonicalUrl) -> u32 {
    let text = url.path_and_query().to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '%');
    let mut words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.dedup();
    id_of(&format!("{} {}", url.origin(), words.join(" "))).0 as u32
}

/// The last part of a URL that is not empty.
pub(crate) fn last_part(url: &CanonicalUrl) -> &str {
    url.path_and_query().rsplit('/').find(|part| !part.is_empty()).unwrap_or_default()
}

/// The number of a pattern.
pub(crate) fn id_of(name: &str) -> PatternId {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    PatternId(hash ^ (hash >> 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Vec<String> {
        patterns(&CanonicalUrl::parse(url).unwrap(), "a.test")
    }

    #[test]
    fn numbers_and_identifiers_are_left_out() {
        let want =
            ["http://a.test/cal/#/#/…", "http://a.test/cal/…/…", "http://a.test/cal/…", "a.test/…"];
        assert_eq!(of("http://a.test/cal/2026/11/16.html"), want);
        assert_eq!(of("http://a.test/cal/2030/1/2"), want);
        let session = of("http://a.test/s/9f8e7d6c5b4a3210/page");
        assert_eq!(session[0], "http://a.test/s/*/…");
    }

    #[test]
    fn parameters_count_by_their_names() {
        let want = ["http://a.test/list?page&sort", "http://a.test/list/…", "a.test/…"];
        assert_eq!(of("http://a.test/list?sort=up&page=3"), want);
        assert_eq!(of("http://a.test/list?page=9&sort=down&page=1"), want);
    }

    #[test]
    fn what_lies_at_the_top_is_a_part_of_its_own() {
        assert_eq!(of("http://a.test/x.html"), ["http://a.test/*", "a.test/…"]);
        assert_eq!(of("http://a.test/"), ["http://a.test/*", "a.test/…"]);
    }
}
