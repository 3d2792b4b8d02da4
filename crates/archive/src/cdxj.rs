//! CDXJ lines: the index format that replay tools read.
//!
//! `SURT-key timestamp {json}`; sorted bytewise, lines are an index. Values are strings, as
//! pywb writes them.

use crate::{digest_base32, surt};
use argiope_model::{Location, PayloadDigest, Time};
use serde::Serialize;

#[derive(Serialize)]
struct Fields<'a> {
    url: &'a str,
    mime: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    digest: String,
    length: String,
    offset: String,
    filename: &'a str,
}

/// The line for one record, without a line end. As pywb writes them, a revisit's type is
/// `warc/revisit` whatever `mime` says, and its status is left out; so is a status of 0 (none).
#[allow(clippy::too_many_arguments)] // One argument per column; a struct would only be unpacked.
pub fn cdxj_line(
    url: &str,
    time: Time,
    mime: &str,
    status: u16,
    digest: &PayloadDigest,
    location: Location,
    filename: &str,
    revisit: bool,
) -> String {
    let fields = Fields {
        url,
        mime: match mime {
            _ if revisit => "warc/revisit",
            "" => "unk",
            known => known,
        },
        status: (status != 0 && !revisit).then(|| status.to_string()),
        digest: digest_base32(digest),
        length: location.length.to_string(),
        offset: location.offset.to_string(),
        filename,
    };
    let json = serde_json::to_string(&fields).expect("strings are JSON");
    format!("{} {} {json}", surt(url), time.digits14())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_key_time_and_json() {
        let location = Location { segment: 1, offset: 295, length: 348 };
        let line = |mime, status, revisit| {
            let url = "http://www.Example.com/a\"b?y=2&x=1";
            cdxj_line(url, Time(0), mime, status, &[0; 20], location, "a.warc.gz", revisit)
        };
        assert_eq!(
            line("text/html", 200, false),
            "com,example)/a\"b?x=1&y=2 19700101000000 \
             {\"url\":\"http://www.Example.com/a\\\"b?y=2&x=1\",\"mime\":\"text/html\",\
             \"status\":\"200\",\"digest\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\
             \"length\":\"348\",\"offset\":\"295\",\"filename\":\"a.warc.gz\"}"
        );
        assert!(line("text/html", 200, true).contains("\"mime\":\"warc/revisit\",\"digest\""));
        assert!(line("", 0, false).contains("\"mime\":\"unk\",\"digest\""));
    }
}
