//! What the form of a URL tells: an article, a section, a list of some kind; and its date.
//!
//! * What this is: dates in paths and queries, and the shape that URLs of one site share.
//! * Its place: `headlines` weighs links with it; recipes name the same parts one by one.
//! * Invariants: a date that does not exist is none.
//! * What is not here: what a page says about itself, see `hints`; words for services, see
//!   `service`.

use crate::service::{Service, service};
use argiope_model::CanonicalUrl;

/// A day that stands in a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UrlDate {
    /// 1990 to 2099.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31; 0 where only the month is given.
    pub day: u8,
}

/// The dates a URL holds: `/2026/11/16/`, `/2026-11-16/`, `/20261116/`, `-20261116`, `/2026/nov/16/`,
/// `/2026/1116/`, `?date=2026-11-16`, and months alone (`/2026/11/`, `/202611/`).
pub fn dates_in_url(url: &CanonicalUrl) -> Vec<UrlDate> {
    let mut out = Vec::new();
    let text = url.path_and_query();
    let parts: Vec<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|p| !p.is_empty()).collect();
    let mut at = 0;
    while at < parts.len() {
        let (found, taken) = date_at(&parts[at..]);
        out.extend(found);
        at += taken;
    }
    out
}

/// A date at the beginning of these parts, and how many it takes.
fn date_at(parts: &[&str]) -> (Option<UrlDate>, usize) {
    let number = |at: usize, len: usize| -> Option<u16> {
        let part = parts.get(at)?;
        (part.len() == len && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse().ok())?
    };
    let month =
        |at: usize| number(at, 2).or_else(|| number(at, 1)).or_else(|| named_month(parts.get(at)?));
    let first = parts[0];
    if let Some(year) = number(0, 4) {
        if let Some(both) = number(1, 4)
            && let Some(date) = checked(year, both / 100, both % 100)
        {
            return (Some(date), 2);
        }
        let day = number(2, 2).or_else(|| number(2, 1));
        if let Some(date) = month(1).and_then(|m| checked(year, m, day?)) {
            return (Some(date), 3);
        }
        if let Some(date) = month(1).and_then(|m| checked(year, m, 0)) {
            return (Some(date), 2);
        }
    }
    let digits = first.bytes().take_while(u8::is_ascii_digit).count();
    // Identities often begin with the day: 20261116083000, 2026111600123.
    if digits >= 8 && digits == first.len() && digits != 10 && digits != 13 {
        let part = |range: std::ops::Range<usize>| first[range].parse::<u16>().ok();
        let date = part(0..4).zip(part(4..6)).zip(part(6..8));
        return (date.and_then(|((y, m), d)| checked(y, m, d).filter(|_| d > 0)), 1);
    }
    if digits == 6 && first.len() == 6 {
        let value: u32 = first.parse().unwrap_or(0);
        let (year, month) = ((value / 100) as u16, (value % 100) as u16);
        return (checked(year, month, 0), 1);
    }
    (None, 1)
}

fn named_month(word: &str) -> Option<u16> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let word = word.to_ascii_lowercase();
    let at = NAMES.iter().position(|name| word.starts_with(name))?;
    (word.len() == 3 || word.len() > 3 && word.len() <= 9).then_some(at as u16 + 1)
}

/// The date, if there is such a day; a day of 0 stands for the month.
fn checked(year: u16, month: u16, day: u16) -> Option<UrlDate> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = match month {
        2 => 28 + u16::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let is_day = (1990..2100).contains(&year) && day <= length;
    is_day.then_some(UrlDate { year, month: month as u8, day: day as u8 })
}

/// Whether a URL has what names one article among many: a day, a month, a long number, or letters
/// and digits that mean nothing.
pub(crate) fn has_mark(url: &CanonicalUrl) -> bool {
    let is_id = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        let run = part.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
        run >= 5 || part.len() >= 8 && digits >= 3
    };
    !dates_in_url(url).is_empty()
        || url.path_and_query().split(|c: char| !c.is_ascii_alphanumeric()).any(is_id)
        || url.path().split('/').any(is_opaque)
}

/// Names in queries behind which the word for a section stands.
const SECTION_NAMES: [&str; 14] = [
    "cat",
    "categoria",
    "category",
    "channel",
    "kategorie",
    "ressort",
    "rubric",
    "rubrica",
    "rubrik",
    "rubrique",
    "seccion",
    "section",
    "sezione",
    "sport",
];

/// The word by which a query names a section: `/list?section=politics`.
pub fn section_in_query(url: &CanonicalUrl) -> Option<&str> {
    let (name, value) = url.query()?.split_once('=')?;
    let is_word = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '_');
    let is_number = value.len() <= 2 && value.bytes().all(|b| b.is_ascii_digit());
    (SECTION_NAMES.contains(&name)
        && (1..=24).contains(&value.len())
        && (is_number || value.chars().all(is_word)))
    .then_some(value)
}

/// Whether a URL looks like the front of a section: few short words, no long number, no query but one that names it.
pub fn is_section_url(url: &CanonicalUrl) -> bool {
    let segments: Vec<&str> = url.path().split('/').filter(|s| !s.is_empty()).collect();
    let is_plain = |s: &&str| {
        let stem = s.trim_end_matches(".html").trim_end_matches(".htm").trim_end_matches(".php");
        stem.split(['-', '_']).filter(|w| !w.is_empty()).count() <= 2
            && !stem.contains('%')
            && stem.bytes().filter(u8::is_ascii_digit).count() <= 1
            && stem.len() <= 24
    };
    let is_named = url.query().is_none() || section_in_query(url).is_some();
    is_named && segments.len() <= 2 && segments.iter().all(is_plain)
}

/// Whether a URL looks like that of an article.
pub fn is_article_url(url: &CanonicalUrl) -> bool {
    article_score(url) >= 0.8
}

/// How much a URL looks like that of an article: below 0 it does not, 2 and more it does.
pub(crate) fn article_score(url: &CanonicalUrl) -> f32 {
    let service = service(url);
    if service == Service::Sure {
        return -3.0;
    }
    let segments: Vec<&str> = url.path().split('/').filter(|s| !s.is_empty()).collect();
    if segments.is_empty() && url.query().is_none() {
        return -3.0;
    }
    let mut score = if service == Service::Perhaps { -2.0 } else { 0.0 };
    let dates = dates_in_url(url);
    if dates.iter().any(|d| d.day > 0) {
        score += 2.0;
    } else if !dates.is_empty() {
        score += 0.7;
    }
    let words = |s: &str| s.split(['-', '_', '+']).filter(|w| w.len() > 1).count();
    let longest = segments.iter().map(|s| words(s)).max().unwrap_or(0);
    let escaped = segments.iter().any(|s| s.matches('%').count() > 9);
    score += match longest {
        _ if escaped => 1.5,
        5.. => 2.0,
        4 => 1.7,
        3 => 1.0,
        _ => 0.0,
    };
    let query = url.query().unwrap_or_default();
    let id = |s: &str, least: usize| {
        s.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() >= least)
    };
    let last = segments.last().copied().unwrap_or_default();
    if id(url.path(), 5) {
        score += 1.3;
    } else if id(last, 3) {
        score += 0.8;
    } else {
        score += query.split('&').map(query_score).fold(0.0, f32::max);
    }
    if score < 1.0 && is_opaque(last) {
        score += 1.0;
    }
    if last.contains(".htm")
        || last.contains(".shtml")
        || last.contains(".php") && !query.is_empty()
    {
        score += 0.3;
    }
    if segments.len() >= 3 {
        score += 0.3;
    }
    if is_section_url(url) {
        score -= 1.5;
    }
    // Pictures and files are none.
    let is_file = |e: String| {
        matches!(&*e, "jpg" | "png" | "gif" | "pdf" | "mp3" | "xml" | "zip" | "js" | "css" | "apk")
    };
    if url.extension().is_some_and(is_file) {
        score -= 4.0;
    }
    score
}

/// Whether a part of a path is the name of an article that only its site understands: letters and
/// digits in no order that means something.
pub(crate) fn is_opaque(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default();
    let digits = stem.bytes().filter(u8::is_ascii_digit).count();
    let letters = stem.bytes().filter(u8::is_ascii_alphabetic).count();
    let turns = stem
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
        .count();
    let is_mixed = stem.bytes().any(|b| b.is_ascii_uppercase())
        && stem.bytes().any(|b| b.is_ascii_lowercase())
        && digits > 0;
    stem.len() >= 8 && letters >= 2 && (digits >= 2 && turns >= 3 || is_mixed)
}

/// How much a pair of a query looks like the number of an article.
pub(crate) fn query_score(pair: &str) -> f32 {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let name = name.to_ascii_lowercase();
    let lists =
        ["cat", "page", "paged", "start", "offset", "lang", "section", "limit", "ipp", "tag"];
    if lists.contains(&&*name) || !value.bytes().all(|b| b.is_ascii_digit()) {
        return 0.0;
    }
    match value.len() {
        4.. => 1.2,
        2..4 => 0.8,
        _ => 0.0,
    }
}

/// What URLs of one kind have in common: host, number of parts, and of each part its kind.
pub(crate) fn shape(url: &CanonicalUrl) -> String {
    let mut out = String::from(url.host());
    let segments: Vec<&str> = url.path().split('/').filter(|s| !s.is_empty()).collect();
    for (at, segment) in segments.iter().enumerate() {
        out.push('/');
        let (stem, extension) = segment.rsplit_once('.').unwrap_or((segment, ""));
        let digits = stem.bytes().filter(u8::is_ascii_digit).count();
        let words = stem.split(['-', '_']).count();
        out.push_str(match () {
            () if digits == stem.len() && digits > 0 => "9",
            () if words >= 3 || stem.contains('%') => "w-w-w",
            () if digits >= 4 => "w9",
            () if at + 1 == segments.len() => "w",
            () => "s",
        });
        if !extension.is_empty() {
            out.push('.');
            out.push_str(extension);
        }
    }
    if let Some(query) = url.query() {
        out.push('?');
        for pair in query.split('&') {
            out.push_str(pair.split('=').next().unwrap_or_default());
            out.push('&');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> CanonicalUrl {
        CanonicalUrl::parse(&format!("https://n.test{path}")).unwrap()
    }

    #[test]
    fn a_section_may_be_named_in_the_query() {
        let is = |path: &str| {
            is_section_url(&CanonicalUrl::parse(&format!("https://n.test{path}")).unwrap())
        };
        for path in ["/politics", "/list?section=politics", "/?cat=5", "/index.php?rubrik=sport"] {
            assert!(is(path), "{path}");
        }
        for path in
            ["/list?id=99", "/list?section=4711", "/list?section=a&page=2", "/list?section="]
        {
            assert!(!is(path), "{path}");
        }
    }

    #[test]
    fn days_and_months_in_urls_are_read() {
        let shown = |path: &str| {
            let all = dates_in_url(&url(path));
            let all = all.iter().map(|d| format!("{}-{}-{}", d.year, d.month, d.day));
            all.collect::<Vec<_>>().join(" ")
        };
        for (path, want) in [
            ("/2026/11/16/a-b-c", "2026-11-16"),
            ("/g/laliga/2013-12-01/08136911563.shtml", "2013-12-1"),
            ("/a-story-20261116.html", "2026-11-16"),
            ("/world/2013/jul/18/facebook", "2013-7-18"),
            ("/2026/1116/c90000-123.html", "2026-11-16"),
            ("/2026/11/a-b", "2026-11-0"),
            ("/202611/t20261116_1.htm", "2026-11-0"),
            ("/x?date=2026-11-16&id=4", "2026-11-16"),
            ("/20261116083000123", "2026-11-16"),
            ("/2026/13/45/x", ""),
            ("/20269999/x", ""),
            ("/news/1763280000", ""),
        ] {
            assert_eq!(shown(path), want, "{path}");
        }
    }

    #[test]
    fn articles_are_told_from_lists() {
        for path in [
            "/2026/11/16/a-b-c",
            "/news/world-europe-22544056",
            "/a/one-two-three-four-five",
            "/n/123456.html",
            "/articles/cx2k9l0p3w7o",
            "/legal/2014-09/07/c_1.htm",
            "/?p=1234",
        ] {
            assert!(article_score(&url(path)) >= 0.8, "{path} {}", article_score(&url(path)));
        }
        for path in [
            "/",
            "/world",
            "/tag/some-long-tag-name-here",
            "/author/ann-b-smith",
            "/de/politik/",
            "/impressum",
        ] {
            assert!(article_score(&url(path)) < 0.0, "{path} {}", article_score(&url(path)));
        }
        assert_eq!(shape(&url("/a/2026/b-c-d.html?x=1")), shape(&url("/q/2025/e-f-g-h.html?x=2")));
        assert_ne!(shape(&url("/a/b")), shape(&url("/a/b-c-d")));
    }

    #[test]
    fn what_names_one_article_is_a_mark() {
        for path in [
            "/2026/11/a",
            "/a-94187251.html",
            "/a/plus699c7187c1f940724fde0809/b",
            "/?p=12345",
            "/a-b-a-1368d0a9-78bd-4dae-89bd-3c1ca9bc47c3",
        ] {
            assert!(has_mark(&url(path)), "{path}");
        }
        for path in
            ["/a/b-c-d", "/thema/euro-2024-cup", "/finanzen/depot/?mc=8", "/video/daily-360"]
        {
            assert!(!has_mark(&url(path)), "{path}");
        }
    }
}
