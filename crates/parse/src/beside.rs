//! The text around a link.
//!
//! * What this is: the block a link stands in, as far as it is near: what an author says of a page
//!   beside the words of the link itself.
//! * Its place: `crawl` asks for it where an order goes by what pages are about; others never pay
//!   for it, since a link keeps nothing but where it stands.

use crate::fold::floor_boundary;

/// Bytes before and after the words of a link.
const NEAR: usize = 200;

/// The text around a link whose `words` stand at byte `at` of a page's text: the rest of its
/// line up to some distance, before and after.
pub fn text_around<'t>(text: &'t str, at: u32, words: &str) -> (&'t str, &'t str) {
    let bytes = text.as_bytes();
    if at as usize > bytes.len() {
        return ("", "");
    }
    let mut from = floor_boundary(bytes, at as usize);
    // The mark of a link that begins a line lies before the line feed.
    while bytes.get(from).is_some_and(u8::is_ascii_whitespace) {
        from += 1;
    }
    let shown = bytes[from..].starts_with(words.as_bytes());
    let to = if shown { from + words.len() } else { from };
    let line = text[..from].rfind('\n').map_or(0, |n| n + 1);
    let begin = floor_boundary(bytes, from.saturating_sub(NEAR)).max(line);
    let rest = text[to..].find('\n').map_or(bytes.len(), |n| to + n);
    let end = floor_boundary(bytes, to.saturating_add(NEAR).min(bytes.len())).min(rest);
    (text[begin..from].trim(), text[to..end.max(to)].trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_html, resolve};
    use argiope_model::CanonicalUrl;

    fn around(html: &str) -> Vec<(String, String)> {
        let page = parse_html(html.as_bytes(), None);
        let found = resolve(&page, &CanonicalUrl::parse("http://a.test/").unwrap());
        let each = found.links.iter().zip(&found.at);
        each.map(|(link, at)| {
            let (before, after) = text_around(&page.text, *at, &link.words);
            (before.to_owned(), after.to_owned())
        })
        .collect()
    }

    fn pair(before: &str, after: &str) -> (String, String) {
        (before.to_owned(), after.to_owned())
    }

    #[test]
    fn it_is_the_rest_of_the_block() {
        let html = "<p>one</p><p>On webs: <a href=a>orb weavers</a> of the garden</p><p>two</p>";
        assert_eq!(around(html), [pair("On webs:", "of the garden")]);
        let list = "<ul><li><a href=a>here</a> spiders<li><a href=b>there</a> birds</ul>";
        assert_eq!(around(list), [pair("", "spiders"), pair("", "birds")]);
    }

    #[test]
    fn a_link_without_words_has_a_text_around_it_too() {
        assert_eq!(around("<p>see <a href=a><img alt=web></a> it</p>"), [pair("see", "it")]);
        assert_eq!(around("<a href=a></a>"), [pair("", "")]);
        assert_eq!(around("<link rel=next href=b>"), [pair("", "")]);
    }

    #[test]
    fn it_is_bounded_and_never_cuts_a_character() {
        let long = "\u{e4}".repeat(500);
        let (before, after) = &around(&format!("<p>{long} <a href=a>x</a> {long}</p>"))[0];
        assert!(before.len() <= NEAR && after.len() <= NEAR && before.len() > NEAR / 2);
        for at in 0..2000 {
            text_around(&long, at, "x");
            text_around("a\nb\n", at, "");
        }
    }
}
