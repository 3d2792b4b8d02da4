//! Reading a `Content-Type`.
//!
//! * What this is: the parser of the MIME Sniffing standard for one media type, and the rule of
//!   the Fetch standard for several headers joined by commas.
//! * Its place: `sniff` asks it first; everything it cannot read is left to the bytes.
//! * Invariants: the essence is lower case; the character encoding is kept as written.
//! * What is not here: parameters other than `charset`; nobody asks for them.

/// A media type, reduced to what a crawler needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MediaType {
    /// Type and subtype in lower case: `text/html`.
    pub essence: String,
    /// The value of the `charset` parameter, as written.
    pub charset: Option<String>,
}

impl MediaType {
    /// A media type without parameters.
    pub(crate) fn plain(essence: &str) -> Self {
        MediaType { essence: essence.to_owned(), charset: None }
    }

    /// Reads one media type; `None` when the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches(is_http_space);
        let (kind, rest) = text.split_once('/')?;
        let (subtype, parameters) = match rest.split_once(';') {
            Some((subtype, parameters)) => (subtype, Some(parameters)),
            None => (rest, None),
        };
        let subtype = subtype.trim_end_matches(is_http_space);
        if !is_token(kind) || !is_token(subtype) {
            return None;
        }
        let essence = format!("{kind}/{subtype}").to_ascii_lowercase();
        Some(MediaType { essence, charset: parameters.and_then(charset_of) })
    }

    /// Reads the values of one or more `Content-Type` headers, joined by commas: the last one
    /// that can be read counts, and keeps the charset of an equal one before it.
    pub fn parse_header(value: &str) -> Option<Self> {
        let mut out: Option<MediaType> = None;
        for part in split_at_commas(value) {
            match MediaType::parse(part) {
                Some(new) if new.essence == "*/*" => {}
                Some(mut new) => {
                    if let Some(old) = out.filter(|old| old.essence == new.essence) {
                        new.charset = new.charset.or(old.charset);
                    }
                    out = Some(new);
                }
                None => {}
            }
        }
        out
    }
}

/// The first `charset` of `name=value; name="value"`, if its value is allowed.
fn charset_of(parameters: &str) -> Option<String> {
    let mut rest = parameters;
    loop {
        rest = rest.trim_start_matches(is_http_space);
        let end = rest.find([';', '='])?;
        let (name, is_value) = (&rest[..end], rest.as_bytes()[end] == b'=');
        rest = &rest[end + 1..];
        if !is_value {
            continue;
        }
        let value;
        if let Some(quoted) = rest.strip_prefix('"') {
            let (text, len) = unquote(quoted);
            value = text;
            let after = &quoted[len..];
            rest = after.split_once(';').map_or("", |(_, rest)| rest);
        } else {
            let (text, after) = rest.split_once(';').unwrap_or((rest, ""));
            value = text.trim_end_matches(is_http_space).to_owned();
            rest = after;
            if value.is_empty() {
                continue;
            }
        }
        if name.eq_ignore_ascii_case("charset") && value.chars().all(is_value_char) {
            return Some(value);
        }
    }
}

/// The text up to the closing quote without its escapes, and the bytes read.
fn unquote(text: &str) -> (String, usize) {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (out, at + 1),
            '\\' => out.push(chars.next().map_or('\\', |(_, c)| c)),
            c => out.push(c),
        }
    }
    (out, text.len())
}

/// Splits at commas that are not inside quotes.
fn split_at_commas(value: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    value.split(move |c| {
        let was_escaped = escaped;
        escaped = quoted && c == '\\' && !was_escaped;
        if c == '"' && !was_escaped {
            quoted = !quoted;
        }
        c == ',' && !quoted
    })
}

fn is_http_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' ')
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

fn is_value_char(c: char) -> bool {
    matches!(c, '\t' | ' '..='~' | '\u{80}'..='\u{ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(String, Option<String>)> {
        MediaType::parse(text).map(|m| (m.essence, m.charset))
    }

    #[test]
    fn a_media_type_is_read_with_its_charset() {
        let html = || "text/html".to_owned();
        assert_eq!(
            parsed(" Text/HTML ; a=b; CharSet=\"u\\tf-8\""),
            Some((html(), Some("utf-8".into())))
        );
        assert_eq!(
            parsed("text/html;a=\";charset=x\";charset=y"),
            Some((html(), Some("y".into())))
        );
        assert_eq!(parsed("text/html;charset"), Some((html(), None)));
        assert_eq!(parsed("text"), None);
        assert_eq!(parsed("te xt/html"), None);
    }

    #[test]
    fn of_several_headers_the_last_readable_counts() {
        let header = |v| MediaType::parse_header(v).map(|m| (m.essence, m.charset));
        assert_eq!(header("text/html, bogus"), Some(("text/html".into(), None)));
        assert_eq!(
            header("text/plain;charset=a, text/plain"),
            Some(("text/plain".into(), Some("a".into())))
        );
        assert_eq!(header("text/plain;charset=a, text/html"), Some(("text/html".into(), None)));
        assert_eq!(header("*/*"), None);
    }
}
