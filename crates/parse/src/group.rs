//! Groups of media types, the words of `--types`.
//!
//! * What this is: a name for each kind of body a person would ask for.
//! * Its place: the command line and `crawl` ask [`is_wanted`]; `extension` applies the same
//!   answer to file names.
//! * Invariants: every media type is in exactly one group.
//! * What is not here: what is wanted by default; that is the job's.

use std::collections::BTreeSet;

/// The group of a media type: `html`, `text`, `pdf`, `image`, `audio`, `video`, `font`, `xml`,
/// `json`, `css`, `script`, `feed`, `document`, `archive` or `other`.
pub fn type_group(essence: &str) -> &'static str {
    match essence {
        "text/html" | "application/xhtml+xml" => return "html",
        "application/pdf" | "application/x-pdf" => return "pdf",
        "text/css" => return "css",
        "text/xml" | "application/xml" | "application/xml-dtd" => return "xml",
        "application/rss+xml"
        | "application/atom+xml"
        | "application/rdf+xml"
        | "application/feed+json"
        | "text/x-opml" => return "feed",
        "application/json" | "text/json" | "application/x-ndjson" | "application/jsonl" => {
            return "json";
        }
        "application/rtf"
        | "text/rtf"
        | "application/msword"
        | "application/postscript"
        | "application/x-ole-storage"
        | "application/epub+zip"
        | "application/vnd.ms-excel"
        | "application/vnd.ms-powerpoint"
        | "application/vnd.visio"
        | "application/x-mobipocket-ebook"
        | "image/vnd.djvu"
        | "application/x-tex" => return "document",
        "application/ogg" => return "audio",
        "application/vnd.ms-fontobject" => return "font",
        _ => {}
    }
    if is_script(essence) {
        return "script";
    }
    if is_archive(essence) {
        return "archive";
    }
    let (kind, subtype) = essence.split_once('/').unwrap_or((essence, ""));
    match kind {
        "image" => "image",
        "audio" => "audio",
        "video" => "video",
        "font" => "font",
        _ if subtype.starts_with("font-") || subtype.starts_with("x-font") => "font",
        _ if subtype.starts_with("vnd.openxmlformats-officedocument")
            || subtype.starts_with("vnd.oasis.opendocument")
            || subtype.starts_with("vnd.ms-word")
            || subtype.starts_with("vnd.ms-excel") =>
        {
            "document"
        }
        _ if subtype.ends_with("+xml") => "xml",
        _ if subtype.ends_with("+json") => "json",
        "text" => "text",
        _ => "other",
    }
}

fn is_script(essence: &str) -> bool {
    matches!(
        essence,
        "text/javascript"
            | "application/javascript"
            | "application/x-javascript"
            | "application/ecmascript"
            | "text/ecmascript"
            | "text/jscript"
            | "text/livescript"
            | "text/x-javascript"
            | "text/x-ecmascript"
            | "application/x-ecmascript"
            | "application/wasm"
    )
}

fn is_archive(essence: &str) -> bool {
    let subtype = essence.strip_prefix("application/").unwrap_or_default();
    let subtype = subtype.strip_prefix("x-").unwrap_or(subtype);
    matches!(
        subtype,
        "zip"
            | "zip-compressed"
            | "gzip"
            | "tar"
            | "gtar"
            | "bzip"
            | "bzip2"
            | "xz"
            | "lzma"
            | "zstd"
            | "7z-compressed"
            | "rar"
            | "rar-compressed"
            | "vnd.rar"
            | "java-archive"
            | "iso9660-image"
            | "apple-diskimage"
            | "debian-package"
            | "vnd.debian.binary-package"
            | "rpm"
            | "redhat-package-manager"
            | "cpio"
            | "compress"
            | "warc"
            | "vnd.android.package-archive"
            | "vnd.ms-cab-compressed"
            | "xpinstall"
    )
}

/// Whether a media type is asked for: by `all`, its group, its own name, or `image/*`.
pub fn is_wanted(essence: &str, wanted: &BTreeSet<String>) -> bool {
    wanted.contains("all")
        || wanted.contains(type_group(essence))
        || wanted.contains(essence)
        || essence.split_once('/').is_some_and(|(kind, _)| {
            wanted.iter().any(|w| w.strip_suffix("/*").is_some_and(|k| k == kind))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_one_group() {
        for (essence, group) in [
            ("text/html", "html"),
            ("application/xhtml+xml", "html"),
            ("text/plain", "text"),
            ("text/markdown", "text"),
            ("application/pdf", "pdf"),
            ("image/svg+xml", "image"),
            ("application/font-woff", "font"),
            ("application/ld+json", "json"),
            ("application/mathml+xml", "xml"),
            ("application/rss+xml", "feed"),
            ("text/css", "css"),
            ("application/javascript", "script"),
            ("application/vnd.oasis.opendocument.text", "document"),
            ("application/x-tar", "archive"),
            ("application/octet-stream", "other"),
            ("nonsense", "other"),
            ("", "other"),
        ] {
            assert_eq!(type_group(essence), group, "{essence}");
        }
    }

    #[test]
    fn wanted_is_a_group_a_type_a_family_or_all() {
        let set = |w: &[&str]| w.iter().map(|s| (*s).to_owned()).collect::<BTreeSet<_>>();
        assert!(is_wanted("text/html", &set(&["html"])));
        assert!(is_wanted("image/png", &set(&["image/*"])));
        assert!(is_wanted("image/png", &set(&["html", "image/png"])));
        assert!(is_wanted("x/y", &set(&["all"])));
        assert!(!is_wanted("image/png", &set(&["html", "image/gif", "video/*"])));
        assert!(!is_wanted("text/html", &set(&[])));
    }
}
