//! The encoding a page declares in its first bytes.
//!
//! * What this is: the prescan of the HTML standard: `<meta charset>`, `<meta http-equiv>` and
//!   the XML declaration, looked for in bytes whose encoding is not known yet.
//! * Its place: `charset` asks it when neither a byte order mark nor a header decided.
//! * Invariants: whatever is cut off by the end of the bytes counts as not there; `utf-16`
//!   declared in readable ASCII is a mistake for UTF-8.
//! * What is not here: guessing from the content, see `charset`.

use crate::fold::is_space;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem};

/// The declared encoding. `head_only`: stop where the body begins, for a search in more bytes
/// than the standard looks at.
pub(crate) fn declared(bytes: &[u8], head_only: bool) -> Option<&'static Encoding> {
    if bytes.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if bytes.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    in_meta(bytes, head_only).or_else(|| in_xml_declaration(bytes))
}

fn in_meta(bytes: &[u8], head_only: bool) -> Option<&'static Encoding> {
    let mut scan = Scan { bytes, at: 0 };
    loop {
        scan.at += memchr(b'<', bytes.get(scan.at..)?)?;
        let rest = &bytes[scan.at..];
        if rest.starts_with(b"<!--") {
            // The dashes that open a comment may also close it.
            scan.at += 2 + memmem::find(&rest[2..], b"-->")? + 3;
        } else if is_tag(rest, b"meta") {
            scan.at += 5;
            if let Some(encoding) = scan.meta()? {
                return Some(encoding);
            }
        } else if head_only && (is_tag(rest, b"body") || starts_with(rest, b"</head")) {
            return None;
        } else {
            let slash = usize::from(rest.get(1) == Some(&b'/'));
            match rest.get(1 + slash) {
                Some(b) if b.is_ascii_alphabetic() => {
                    scan.at += rest.iter().position(|&b| is_space(b) || b == b'>')?;
                    while scan.attribute()?.is_some() {}
                }
                _ if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) => {
                    scan.at += memchr(b'>', rest)? + 1;
                }
                _ => scan.at += 1,
            }
        }
    }
}

/// Whether a start tag of this name begins here.
fn is_tag(rest: &[u8], name: &[u8]) -> bool {
    starts_with(&rest[1..], name)
        && rest.get(1 + name.len()).is_some_and(|&b| is_space(b) || b == b'/')
}

fn starts_with(bytes: &[u8], prefix: &[u8]) -> bool {
    bytes.get(..prefix.len()).is_some_and(|b| b.eq_ignore_ascii_case(prefix))
}

/// A place in the bytes. Methods answer `None` when the bytes end first, which ends the scan.
struct Scan<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_spaces(&mut self) -> Option<u8> {
        while is_space(self.peek()?) {
            self.at += 1;
        }
        self.peek()
    }

    /// The next attribute of a tag, lower case; `Some(None)` at the end of the tag.
    fn attribute(&mut self) -> Option<Option<(Vec<u8>, Vec<u8>)>> {
        while is_space(self.peek()?) || self.peek()? == b'/' {
            self.at += 1;
        }
        if self.peek()? == b'>' {
            return Some(None);
        }
        let mut name = Vec::new();
        loop {
            match self.peek()? {
                b'=' if !name.is_empty() => break,
                b if is_space(b) => break,
                b'/' | b'>' => return Some(Some((name, Vec::new()))),
                b => name.push(b.to_ascii_lowercase()),
            }
            self.at += 1;
        }
        if self.skip_spaces()? != b'=' {
            return Some(Some((name, Vec::new())));
        }
        self.at += 1;
        let mut value = Vec::new();
        match self.skip_spaces()? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                let len = memchr(quote, &self.bytes[self.at..])?;
                value.extend_from_slice(&self.bytes[self.at..self.at + len]);
                self.at += len + 1;
            }
            b'>' => {}
            _ => {
                while !is_space(self.peek()?) && self.peek()? != b'>' {
                    value.push(self.peek()?);
                    self.at += 1;
                }
            }
        }
        value.make_ascii_lowercase();
        Some(Some((name, value)))
    }

    /// What a `<meta …>` declares; `Some(None)` when it declares nothing.
    fn meta(&mut self) -> Option<Option<&'static Encoding>> {
        const NAMES: [&[u8]; 3] = [b"http-equiv", b"content", b"charset"];
        let mut seen = [false; NAMES.len()];
        let (mut is_pragma, mut needs_pragma, mut charset) = (false, None, None);
        while let Some((name, value)) = self.attribute()? {
            let Some(which) = NAMES.iter().position(|n| *n == name) else { continue };
            if std::mem::replace(&mut seen[which], true) {
                continue;
            }
            match which {
                0 => is_pragma = value == b"content-type",
                1 if charset.is_none() => {
                    if let Some(found) = in_content(&value) {
                        charset = Some(found);
                        needs_pragma = Some(true);
                    }
                }
                1 => {}
                _ => {
                    charset = Encoding::for_label(&value);
                    needs_pragma = Some(false);
                }
            }
        }
        let stands = needs_pragma.is_some_and(|needs| !needs || is_pragma);
        Some(charset.filter(|_| stands).map(readable))
    }
}

/// The encoding in a `content` such as `text/html; charset=…`, lower case.
fn in_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        rest = &rest[memmem::find(rest, b"charset")? + 7..];
        let after = rest.trim_ascii_start();
        if let Some(value) = after.strip_prefix(b"=") {
            let value = value.trim_ascii_start();
            let label = match *value.first()? {
                quote @ (b'"' | b'\'') => &value[1..][..memchr(quote, &value[1..])?],
                _ => value.split(|&b| is_space(b) || b == b';').next()?,
            };
            return Encoding::for_label(label);
        }
    }
}

/// The encoding in `<?xml … encoding="…"?>`.
pub(crate) fn in_xml_declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    let declaration = bytes.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr(b'>', declaration)?];
    let rest = &declaration[memmem::find(declaration, b"encoding")? + 8..];
    let skip = |b: &[u8]| b.iter().take_while(|&&b| b <= b' ').count();
    let rest = rest[skip(rest)..].strip_prefix(b"=")?;
    let rest = &rest[skip(rest)..];
    let quote = *rest.first().filter(|b| matches!(b, b'"' | b'\''))?;
    let label = &rest[1..][..memchr(quote, &rest[1..])?];
    Encoding::for_label(label).map(readable)
}

/// What was declared in ASCII cannot be UTF-16, and `x-user-defined` means windows-1252.
fn readable(encoding: &'static Encoding) -> &'static Encoding {
    if encoding == UTF_16LE || encoding == UTF_16BE {
        UTF_8
    } else if encoding == X_USER_DEFINED {
        WINDOWS_1252
    } else {
        encoding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(html: &str) -> Option<&'static str> {
        declared(html.as_bytes(), false).map(Encoding::name)
    }

    #[test]
    fn declarations_are_found() {
        assert_eq!(name("<meta charset=utf-16>"), Some("UTF-8"));
        assert_eq!(name("<meta charset=x-user-defined>"), Some("windows-1252"));
        assert_eq!(name("<META/CHARSET='koi8-r' >"), Some("KOI8-R"));
        assert_eq!(name("<?xml version='1.0' encoding='euc-kr'?><html>"), Some("EUC-KR"));
        assert_eq!(name("<!--><meta charset=big5>"), Some("Big5"));
        assert_eq!(name("<meta charset=big5 charset=gbk>"), Some("Big5"));
        assert_eq!(
            name("<meta content='a charset charset = gbk;' http-equiv=Content-Type>"),
            Some("GBK")
        );
    }

    #[test]
    fn what_only_looks_like_a_declaration_is_not_one() {
        assert_eq!(name("<!-- <meta charset=big5> -->"), None);
        assert_eq!(name("<a title='<meta charset=big5>'>"), None);
        assert_eq!(name("<meta content='text/html; charset=gbk'>"), None);
        assert_eq!(name("<meta charset=nonsense>"), None);
        assert_eq!(name("<meta charset=gbk"), None);
        assert_eq!(name("<"), None);
    }
}
