//! The media type of a body: what the header says, else what the bytes look like.
//!
//! * What this is: the MIME Sniffing standard without what only a browser needs. A header that
//!   can be read is believed, with two exceptions the standard makes too: text that old servers
//!   label as a matter of course is checked to be text, and a feed sent as HTML is a feed.
//! * Its place: `crawl` asks before it decides what to do with a body.
//! * Invariants: every body has a type; no bytes and no header at all are `text/plain`.
//! * What is not here: sniffing among image, sound and film formats when the header names one.

use crate::extension::essence_of_extension;
use crate::fold::is_space;
use crate::mime::MediaType;

/// How many bytes are looked at.
const SNIFF_BYTES: usize = 1445;

/// The media type by header, then by bytes, then by the ending of the file name in the URL.
pub fn media_type(
    content_type_header: Option<&str>,
    first_bytes: &[u8],
    url_path_extension: Option<&str>,
) -> MediaType {
    let bytes = &first_bytes[..first_bytes.len().min(SNIFF_BYTES)];
    let declared = content_type_header
        .and_then(MediaType::parse_header)
        .filter(|m| !matches!(m.essence.as_str(), "unknown/unknown" | "application/unknown"));
    let Some(declared) = declared else {
        return MediaType::plain(by_bytes(bytes, url_path_extension));
    };
    match declared.essence.as_str() {
        "text/plain" if content_type_header.is_some_and(is_thoughtless) && is_binary(bytes) => {
            MediaType::plain(signature(bytes).unwrap_or("application/octet-stream"))
        }
        "text/html" => match feed(bytes) {
            Some(essence) => MediaType { essence: essence.to_owned(), ..declared },
            None => declared,
        },
        _ => declared,
    }
}

/// The headers that old servers send with everything they do not know.
fn is_thoughtless(header: &str) -> bool {
    matches!(
        header,
        "text/plain"
            | "text/plain; charset=ISO-8859-1"
            | "text/plain; charset=iso-8859-1"
            | "text/plain; charset=UTF-8"
    )
}

fn by_bytes(bytes: &[u8], extension: Option<&str>) -> &'static str {
    if let Some(essence) = markup(bytes).or_else(|| signature(bytes)) {
        return essence;
    }
    let named = extension.and_then(essence_of_extension);
    match (named, is_binary(bytes)) {
        (Some(essence), true) if !essence.starts_with("text/") => essence,
        (Some(essence), false) if is_textual(essence) => essence,
        (_, true) => "application/octet-stream",
        (_, false) => "text/plain",
    }
}

fn is_textual(essence: &str) -> bool {
    matches!(
        crate::type_group(essence),
        "text" | "html" | "xml" | "json" | "css" | "script" | "feed"
    ) || essence == "image/svg+xml"
}

/// HTML and XML by their first tag.
fn markup(bytes: &[u8]) -> Option<&'static str> {
    const TAGS: [&[u8]; 17] = [
        b"<!doctype html",
        b"<html",
        b"<head",
        b"<script",
        b"<iframe",
        b"<h1",
        b"<div",
        b"<font",
        b"<table",
        b"<a",
        b"<style",
        b"<title",
        b"<b",
        b"<body",
        b"<br",
        b"<p",
        b"<!--",
    ];
    let text = skip_spaces(skip_mark(bytes));
    let is_html = |tag: &&[u8]| {
        text.get(..tag.len()).is_some_and(|t| t.eq_ignore_ascii_case(tag))
            && (**tag == *b"<!--" || matches!(text.get(tag.len()), Some(b' ' | b'>')))
    };
    if TAGS.iter().any(is_html) {
        return Some("text/html");
    }
    text.starts_with(b"<?xml").then(|| xml_kind(text))
}

/// XHTML and feeds announce themselves soon after the XML declaration.
fn xml_kind(text: &[u8]) -> &'static str {
    if let Some(essence) = feed(text) {
        return essence;
    }
    let has = |needle: &[u8]| memchr::memmem::find(text, needle).is_some();
    if has(b"<html") && has(b"http://www.w3.org/1999/xhtml") {
        "application/xhtml+xml"
    } else if has(b"<svg") {
        "image/svg+xml"
    } else {
        "text/xml"
    }
}

/// The kind of feed, if the root element is one.
fn feed(bytes: &[u8]) -> Option<&'static str> {
    let mut text = skip_mark(bytes);
    loop {
        text = skip_spaces(text);
        let end = if text.starts_with(b"<!--") {
            memchr::memmem::find(text, b"-->")? + 3
        } else if text.starts_with(b"<?") {
            memchr::memmem::find(text, b"?>")? + 2
        } else if text.starts_with(b"<!") {
            memchr::memchr(b'>', text)? + 1
        } else {
            break;
        };
        text = &text[end..];
    }
    let is_root = |tag: &[u8]| {
        text.starts_with(tag) && text.get(tag.len()).is_some_and(|&b| is_space(b) || b == b'>')
    };
    if is_root(b"<rss") {
        Some("application/rss+xml")
    } else if is_root(b"<feed") {
        Some("application/atom+xml")
    } else if is_root(b"<rdf:RDF") {
        let has = |needle: &[u8]| memchr::memmem::find(text, needle).is_some();
        (has(b"http://purl.org/rss/1.0/") && has(b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"))
            .then_some("application/rss+xml")
    } else {
        None
    }
}

/// Formats by the bytes they begin with. A dot stands for any byte.
fn signature(bytes: &[u8]) -> Option<&'static str> {
    const SIGNATURES: [(&[u8], &str); 29] = [
        (b"%PDF-", "application/pdf"),
        (b"%!PS-Adobe-", "application/postscript"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"RIFF....WEBPVP", "image/webp"),
        (b"RIFF....WAVE", "audio/wave"),
        (b"RIFF....AVI ", "video/avi"),
        (b"BM", "image/bmp"),
        (b"\0\0\x01\0", "image/x-icon"),
        (b"\0\0\x02\0", "image/x-icon"),
        (b"FORM....AIFF", "audio/aiff"),
        (b"ID3", "audio/mpeg"),
        (b"OggS\0", "application/ogg"),
        (b"MThd\0\0\0\x06", "audio/midi"),
        (b"fLaC", "audio/flac"),
        (b"\x1a\x45\xdf\xa3", "video/webm"),
        (b"....ftyp", "video/mp4"),
        (b"\0\x01\0\0", "font/ttf"),
        (b"OTTO", "font/otf"),
        (b"ttcf", "font/collection"),
        (b"wOFF", "font/woff"),
        (b"wOF2", "font/woff2"),
        (b"\x1f\x8b\x08", "application/gzip"),
        (b"PK\x03\x04", "application/zip"),
        (b"Rar!\x1a\x07", "application/x-rar-compressed"),
        (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    ];
    let text_mark = bytes.starts_with(b"\xfe\xff") || bytes.starts_with(b"\xff\xfe");
    if text_mark || bytes.starts_with(b"\xef\xbb\xbf") {
        return Some("text/plain");
    }
    let fits = |pattern: &[u8]| {
        bytes.len() >= pattern.len()
            && pattern.iter().zip(bytes).all(|(&p, &b)| p == b'.' || p == b)
    };
    let found = SIGNATURES.iter().find(|(pattern, _)| fits(pattern)).map(|&(_, essence)| essence);
    // Two letters are too little to tell a picture from a text that begins with them.
    found.filter(|&e| e != "image/bmp" || is_binary(bytes))
}

/// Whether there are bytes that no text has.
fn is_binary(bytes: &[u8]) -> bool {
    let has_mark =
        [&b"\xfe\xff"[..], b"\xff\xfe", b"\xef\xbb\xbf"].iter().any(|m| bytes.starts_with(m));
    !has_mark && bytes.iter().any(|&b| matches!(b, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f))
}

fn skip_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn skip_spaces(bytes: &[u8]) -> &[u8] {
    let spaces = bytes.iter().take_while(|&&b| is_space(b)).count();
    &bytes[spaces..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sniffed(header: Option<&str>, bytes: &[u8], extension: Option<&str>) -> String {
        media_type(header, bytes, extension).essence
    }

    #[test]
    fn a_header_is_believed() {
        assert_eq!(sniffed(Some("text/plain; charset=utf-8"), b"<html>", None), "text/plain");
        assert_eq!(
            sniffed(Some("application/octet-stream"), b"%PDF-", Some("pdf")),
            "application/octet-stream"
        );
        assert_eq!(
            media_type(Some("text/html;charset=X"), b"", None).charset.as_deref(),
            Some("X")
        );
    }

    #[test]
    fn a_thoughtless_header_is_checked() {
        assert_eq!(sniffed(Some("text/plain"), b"plain words", None), "text/plain");
        assert_eq!(sniffed(Some("text/plain"), b"\x1f\x8b\x08\0\0", None), "application/gzip");
        assert_eq!(sniffed(Some("text/plain"), b"a\0b", None), "application/octet-stream");
        assert_eq!(
            sniffed(Some("text/html"), b"<?xml version='1.0'?><!-- x --><rss version='2.0'>", None),
            "application/rss+xml"
        );
        assert_eq!(sniffed(Some("text/html"), b"<feed>", None), "application/atom+xml");
    }

    #[test]
    fn without_a_header_the_bytes_decide_then_the_extension() {
        for (bytes, extension, want) in [
            (&b"\n <!DOCTYPE HTML>"[..], None, "text/html"),
            (b"\xef\xbb\xbf<html >", None, "text/html"),
            (b"<article>", None, "text/plain"),
            (b"<?xml version='1.0'?><x/>", None, "text/xml"),
            (
                b"<?xml?><!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'>",
                None,
                "application/xhtml+xml",
            ),
            (b"%PDF-1.4", Some("html"), "application/pdf"),
            (b"\0\0\0\x18ftypmp42", None, "video/mp4"),
            (b"body { color: red }", Some("css"), "text/css"),
            (b"# Title", Some("md"), "text/markdown"),
            (
                b"\0\x02\x03",
                Some("docx"),
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            ),
            (b"\0\x02\x03", Some("txt"), "application/octet-stream"),
            (b"words", Some("zip"), "text/plain"),
            (b"BMW is a maker of cars", None, "text/plain"),
            (b"", None, "text/plain"),
        ] {
            assert_eq!(sniffed(None, bytes, extension), want, "{}", bytes.escape_ascii());
            assert_eq!(sniffed(Some("unknown/unknown"), bytes, extension), want);
            assert_eq!(sniffed(Some("nonsense"), bytes, extension), want);
        }
    }
}
