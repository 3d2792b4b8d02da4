//! The `content` of `<meta http-equiv=refresh>`, read as browsers read it.
//!
//! Its place: `extract` makes a link of it. The time to wait means nothing to a crawler and is
//! only checked to be there. Not here: the `Refresh` header, which has the same form.

use crate::fold::is_space;

/// The URL a refresh leads to; `None` when it is not a refresh or only reloads the page.
pub(crate) fn target(content: &str) -> Option<&str> {
    let rest = trim_start(content);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 && !rest.starts_with('.') {
        return None;
    }
    let rest = rest[digits..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !rest.starts_with([';', ',']) && trim_start(rest).len() == rest.len() {
        return None;
    }
    let rest = trim_start(rest);
    let rest = trim_start(rest.strip_prefix([';', ',']).unwrap_or(rest));
    if rest.is_empty() {
        return None;
    }
    let rest = strip_url_equals(rest).unwrap_or(rest);
    let url = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => rest[1..].split(quote).next().unwrap_or_default(),
        _ => rest,
    };
    (!url.is_empty()).then_some(url)
}

/// Skips `url =`; `None` when the text does not go on like that.
fn strip_url_equals(text: &str) -> Option<&str> {
    let head = text.get(..3)?;
    if !head.eq_ignore_ascii_case("url") {
        return None;
    }
    Some(trim_start(trim_start(&text[3..]).strip_prefix('=')?))
}

fn trim_start(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_is_read_as_browsers_do() {
        for (content, want) in [
            ("5; url='x'", Some("x")),
            ("0;URL=\"a b\"c", Some("a b")),
            ("0; url = /x?a=1;b", Some("/x?a=1;b")),
            ("1 foo", Some("foo")),
            ("1foo", None),
            ("1", None),
            ("1; url=", None),
            ("; url=x", None),
            ("0; ür", Some("ür")),
            ("", None),
        ] {
            assert_eq!(target(content), want, "{content:?}");
        }
    }
}
