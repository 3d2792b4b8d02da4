//! Reads robots.txt line by line: which line says what.
//!
//! Called by the parser in the parent module. Lenient exactly where real files need it (see
//! [`Field::of`] and [`split`]); every other line is passed over without ending a group (RFC
//! 9309, 2.2.4). Never allocates, never fails.

use super::MAX_ROBOTS_BYTES;
use memchr::{memchr, memchr2, memrchr2};

/// What is read of one line. No URL in use comes near; the rest of a longer line is dropped.
pub(super) const MAX_LINE_BYTES: usize = 16_663;

/// The records that mean something to a crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// Beginnings of keys and what they stand for. Beginnings, because `Disallowed:` and
/// `User-agents:` occur and are meant; the misspelled ones are those real files have.
const KEYS: [(&str, Field); 13] = [
    ("user-agent", Field::UserAgent),
    ("useragent", Field::UserAgent),
    ("user agent", Field::UserAgent),
    ("allow", Field::Allow),
    ("disallow", Field::Disallow),
    ("dissallow", Field::Disallow),
    ("dissalow", Field::Disallow),
    ("disalow", Field::Disallow),
    ("diasllow", Field::Disallow),
    ("disallaw", Field::Disallow),
    ("sitemap", Field::Sitemap),
    ("site-map", Field::Sitemap),
    ("crawl-delay", Field::CrawlDelay),
];

impl Field {
    fn of(key: &[u8]) -> Option<Field> {
        let begins = |name: &str| {
            key.get(..name.len()).is_some_and(|k| k.eq_ignore_ascii_case(name.as_bytes()))
        };
        KEYS.iter().find(|(name, _)| begins(name)).map(|&(_, field)| field)
    }
}

/// One line that says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// From 1, as an editor shows it.
    pub number: u32,
    pub field: Field,
    /// Without surrounding whitespace and comment; may be empty.
    pub value: &'a [u8],
}

/// The lines of a file that say something, in order.
pub(super) fn lines(file: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut rest = without_mark(within_limit(file));
    let mut number = 0;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (line, after) = cut_line(rest);
            rest = after;
            number += 1;
            if let Some((field, value)) = split(&line[..line.len().min(MAX_LINE_BYTES)]) {
                return Some(Line { number, field, value });
            }
        }
        None
    })
}

/// The file up to the limit, without a line that the limit cuts: half a path is another path.
fn within_limit(file: &[u8]) -> &[u8] {
    let Some(head) = file.get(..MAX_ROBOTS_BYTES).filter(|head| head.len() < file.len()) else {
        return file;
    };
    if matches!(file[MAX_ROBOTS_BYTES], b'\n' | b'\r') {
        return head;
    }
    &head[..memrchr2(b'\n', b'\r', head).map_or(0, |end| end + 1)]
}

/// Without a byte order mark, or the part of one that a careless editor left.
fn without_mark(file: &[u8]) -> &[u8] {
    let mark = b"\xEF\xBB\xBF";
    let length = file.iter().zip(mark).take_while(|(byte, mark)| byte == mark).count();
    &file[length..]
}

/// The first line and what comes after its end (CR, LF or CRLF).
fn cut_line(text: &[u8]) -> (&[u8], &[u8]) {
    let Some(end) = memchr2(b'\n', b'\r', text) else {
        return (text, &[]);
    };
    let length = if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
    (&text[..end], &text[end + length..])
}

/// Key and value of a line. Where the colon was forgotten, two words alone are key and value;
/// a sitemap's URL alone is a sitemap.
fn split(line: &[u8]) -> Option<(Field, &[u8])> {
    let line = trim(&line[..memchr(b'#', line).unwrap_or(line.len())]);
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let (key, value) = if let Some(colon) = memchr(b':', line) {
        (trim(&line[..colon]), trim(&line[colon + 1..]))
    } else {
        let gap = line.iter().position(blank)?;
        let value = trim(&line[gap..]);
        if value.iter().any(blank) {
            return None;
        }
        (&line[..gap], value)
    };
    if let Some(field) = Field::of(key) {
        return Some((field, value));
    }
    let web = key.eq_ignore_ascii_case(b"http") || key.eq_ignore_ascii_case(b"https");
    let named = || line.windows(7).any(|word| word.eq_ignore_ascii_case(b"sitemap"));
    (web && named()).then_some((Field::Sitemap, line))
}

/// Without ASCII whitespace at both ends; the vertical tab counts here.
fn trim(mut text: &[u8]) -> &[u8] {
    let white = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0B;
    while let [first, rest @ ..] = text
        && white(first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && white(last)
    {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str) -> Vec<(u32, Field, String)> {
        lines(file.as_bytes())
            .map(|l| (l.number, l.field, String::from_utf8_lossy(l.value).into_owned()))
            .collect()
    }

    #[test]
    fn lines_end_with_cr_lf_or_both_and_are_counted_once() {
        let file = "user-agent: a\r\nallow: /1\rallow: /2\n\nallow: /3\r\r\nallow: /4";
        let numbers: Vec<u32> = read(file).iter().map(|line| line.0).collect();
        assert_eq!(numbers, [1, 2, 3, 5, 7]);
    }

    #[test]
    fn comments_and_whitespace_are_no_part_of_a_value() {
        let file = " \tDisAllow\t : \x0B/a b \t# why\n#allow: /x\n  \nallow:#\n";
        let expected = [(1, Field::Disallow, "/a b".into()), (4, Field::Allow, String::new())];
        assert_eq!(read(file), expected);
    }

    #[test]
    fn a_forgotten_colon_is_seen_between_two_words_only() {
        assert_eq!(read("disallow /a"), [(1, Field::Disallow, "/a".into())]);
        assert_eq!(read("disallow /a /b\ndisallow\nallow all of it"), []);
    }

    #[test]
    fn a_whole_or_partial_byte_order_mark_is_passed_over_at_the_start_only() {
        for mark in [&b"\xEF\xBB\xBF"[..], b"\xEF\xBB", b"\xEF", b""] {
            let file = [mark, b"allow: /"].concat();
            assert_eq!(lines(&file).count(), 1, "{mark:?}");
        }
        assert_eq!(lines(b"\xEF\x11\xBFallow: /").count(), 0);
        assert_eq!(lines(b"\n\xEF\xBB\xBFallow: /").count(), 0);
    }

    #[test]
    fn a_line_cut_by_the_limit_is_dropped_and_one_that_just_fits_is_kept() {
        let last = b"\ndisallow: /private/area";
        let filler = |length: usize| vec![b'#'; length - last.len()];
        let fits = [filler(MAX_ROBOTS_BYTES).as_slice(), last].concat();
        assert_eq!(lines(&fits).count(), 1);
        assert_eq!(lines(&[fits.as_slice(), b"\nallow: /"].concat()).count(), 1);
        assert_eq!(lines(&[fits.as_slice(), b"/more\n"].concat()).count(), 0);
        assert_eq!(lines(&vec![b'a'; MAX_ROBOTS_BYTES * 2]).count(), 0);
    }

    #[test]
    fn what_is_beyond_the_limit_of_a_line_is_dropped_and_the_next_line_is_read() {
        let file = format!("allow: /{}\nallow: /b", "a".repeat(2 * MAX_LINE_BYTES));
        let lengths: Vec<usize> = lines(file.as_bytes()).map(|line| line.value.len()).collect();
        assert_eq!(lengths, [16_663 - "allow: ".len(), 2]);
    }

    #[test]
    fn the_url_of_a_sitemap_alone_on_a_line_is_a_sitemap() {
        let file = "https://example.org/my-Sitemap.xml\nhttps://example.org/about\n";
        let expected = [(1, Field::Sitemap, "https://example.org/my-Sitemap.xml".into())];
        assert_eq!(read(file), expected);
    }
}
