//! File names by their endings.
//!
//! * What this is: the well-known endings and the media type each stands for.
//! * Its place: the filters of a job leave out URLs whose ending says they are not wanted;
//!   `sniff` asks for a type when nothing else tells.
//! * Invariants: endings of pages and of programs that make pages (`html`, `php`, `cgi` …) are
//!   never left out, whatever is wanted. Neither are those that code hosts show as pages.
//! * What is not here: endings that say nothing certain.

use crate::group::is_wanted;
use std::collections::BTreeSet;

/// Endings and media types.
#[rustfmt::skip]
const EXTENSIONS: &[(&str, &[&str])] = &[
    ("application/pdf", &["pdf"]),
    ("text/plain", &["txt", "log", "diff", "patch"]),
    ("text/markdown", &["md", "markdown"]),
    ("text/csv", &["csv"]),
    ("text/tab-separated-values", &["tsv"]),
    ("text/calendar", &["ics"]),
    ("text/vcard", &["vcf"]),
    ("text/css", &["css", "scss", "less"]),
    ("text/javascript", &["js", "mjs", "cjs"]),
    ("application/wasm", &["wasm"]),
    ("application/json", &["json", "map"]),
    ("application/ld+json", &["jsonld"]),
    ("application/xml", &["xml", "xsl", "xslt", "xsd", "dtd"]),
    ("application/rss+xml", &["rss"]),
    ("application/atom+xml", &["atom"]),
    ("application/rdf+xml", &["rdf"]),
    ("image/png", &["png", "apng"]),
    ("image/jpeg", &["jpg", "jpeg", "jpe", "jfif"]),
    ("image/gif", &["gif"]),
    ("image/webp", &["webp"]),
    ("image/avif", &["avif"]),
    ("image/heic", &["heic", "heif"]),
    ("image/svg+xml", &["svg", "svgz"]),
    ("image/x-icon", &["ico", "cur"]),
    ("image/bmp", &["bmp"]),
    ("image/tiff", &["tif", "tiff"]),
    ("image/vnd.adobe.photoshop", &["psd"]),
    ("audio/mpeg", &["mp3", "mp2"]),
    ("audio/mp4", &["m4a"]),
    ("audio/aac", &["aac"]),
    ("audio/ogg", &["ogg", "oga", "opus"]),
    ("audio/wave", &["wav"]),
    ("audio/flac", &["flac"]),
    ("audio/midi", &["mid", "midi"]),
    ("audio/aiff", &["aif", "aiff"]),
    ("audio/x-ms-wma", &["wma"]),
    ("audio/x-mpegurl", &["m3u", "m3u8"]),
    ("video/mp4", &["mp4", "m4v"]),
    ("video/mpeg", &["mpg", "mpeg"]),
    ("video/webm", &["webm"]),
    ("video/x-matroska", &["mkv"]),
    ("video/quicktime", &["mov", "qt"]),
    ("video/avi", &["avi"]),
    ("video/x-ms-wmv", &["wmv", "asf"]),
    ("video/x-flv", &["flv", "f4v"]),
    ("video/ogg", &["ogv"]),
    ("video/3gpp", &["3gp"]),
    ("font/woff", &["woff"]),
    ("font/woff2", &["woff2"]),
    ("font/ttf", &["ttf", "ttc"]),
    ("font/otf", &["otf"]),
    ("application/vnd.ms-fontobject", &["eot"]),
    ("application/msword", &["doc", "dot"]),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", &["docx", "docm", "dotx"]),
    ("application/vnd.ms-excel", &["xls", "xlt"]),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", &["xlsx", "xlsm"]),
    ("application/vnd.ms-powerpoint", &["ppt", "pps"]),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", &["pptx", "ppsx"]),
    ("application/vnd.oasis.opendocument.text", &["odt"]),
    ("application/vnd.oasis.opendocument.spreadsheet", &["ods"]),
    ("application/vnd.oasis.opendocument.presentation", &["odp"]),
    ("application/vnd.oasis.opendocument.graphics", &["odg"]),
    ("application/rtf", &["rtf"]),
    ("application/epub+zip", &["epub"]),
    ("application/x-mobipocket-ebook", &["mobi", "azw", "azw3"]),
    ("application/postscript", &["ps", "eps"]),
    ("image/vnd.djvu", &["djvu"]),
    ("application/zip", &["zip"]),
    ("application/gzip", &["gz", "tgz"]),
    ("application/x-bzip2", &["bz2", "tbz", "tbz2"]),
    ("application/x-xz", &["xz", "txz"]),
    ("application/x-lzma", &["lzma"]),
    ("application/zstd", &["zst"]),
    ("application/x-7z-compressed", &["7z"]),
    ("application/x-rar-compressed", &["rar"]),
    ("application/x-tar", &["tar"]),
    ("application/x-cpio", &["cpio"]),
    ("application/x-iso9660-image", &["iso", "img"]),
    ("application/x-apple-diskimage", &["dmg"]),
    ("application/vnd.debian.binary-package", &["deb", "udeb"]),
    ("application/x-rpm", &["rpm"]),
    ("application/java-archive", &["jar", "war", "ear"]),
    ("application/vnd.android.package-archive", &["apk"]),
    ("application/vnd.ms-cab-compressed", &["cab"]),
    ("application/warc", &["warc", "wacz"]),
    ("application/octet-stream", &["exe", "msi", "bin", "dll", "so", "dylib", "class", "pyc", "whl", "pkg", "crx", "xpi", "dat", "db", "sqlite", "torrent", "sig", "asc", "swf", "crt", "cer", "der", "p7s", "pem"]),
];

/// Endings under which sites that show source code serve pages.
const SHOWN_AS_PAGES: [&str; 4] = ["md", "markdown", "diff", "patch"];

/// The media type an ending (lower case, without its dot) stands for.
pub(crate) fn essence_of_extension(extension: &str) -> Option<&'static str> {
    let known = EXTENSIONS.iter().find(|(_, endings)| endings.contains(&extension));
    match (known, extension) {
        (Some((essence, _)), _) => Some(essence),
        (None, "html" | "htm" | "shtml") => Some("text/html"),
        (None, "xhtml" | "xht") => Some("application/xhtml+xml"),
        _ => None,
    }
}

/// The endings of file names that need not be fetched when only `wanted` is asked for (groups,
/// media types, see [`is_wanted`]).
pub fn default_skip_extensions(wanted: &BTreeSet<String>) -> BTreeSet<String> {
    EXTENSIONS
        .iter()
        .filter(|(essence, _)| !is_wanted(essence, wanted))
        .flat_map(|(_, endings)| endings.iter())
        .filter(|ending| !SHOWN_AS_PAGES.contains(ending))
        .map(|ending| (*ending).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(wanted: &[&str]) -> BTreeSet<String> {
        default_skip_extensions(&wanted.iter().map(|s| (*s).to_owned()).collect())
    }

    #[test]
    fn what_is_not_wanted_is_skipped_by_its_ending() {
        let html = skipped(&["html"]);
        for e in ["png", "pdf", "zip", "exe", "mp4", "woff2", "docx", "js", "css", "jar"] {
            assert!(html.contains(e), "{e}");
        }
        let more = skipped(&["html", "pdf", "image/*", "application/zip"]);
        assert!(!more.contains("pdf") && !more.contains("svg") && !more.contains("zip"));
        assert!(more.contains("gz") && more.contains("mp3"));
        assert!(skipped(&["all"]).is_empty());
    }

    #[test]
    fn pages_are_never_skipped() {
        let none = skipped(&[]);
        for e in [
            "html", "htm", "xhtml", "shtml", "php", "php5", "asp", "aspx", "jsp", "jspx", "cgi",
            "pl", "cfm", "do", "action", "md", "py", "rb", "phtml", "jhtml", "mhtml", "",
        ] {
            assert!(!none.contains(e), "{e}");
        }
    }

    #[test]
    fn an_ending_stands_for_one_type() {
        let mut seen = BTreeSet::new();
        for (_, endings) in EXTENSIONS {
            for e in *endings {
                assert!(seen.insert(e), "{e} twice");
            }
        }
        assert_eq!(essence_of_extension("htm"), Some("text/html"));
        assert_eq!(essence_of_extension("unheard-of"), None);
    }
}
