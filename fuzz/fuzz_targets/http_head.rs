//! The heads of answers: read from the wire in pieces, asked for headers, and kept.
//!
//! Input: a byte of choices, then the head as received.
#![no_main]

use argiope_archive::{http_head_for_archive, http_status};
use argiope_fetch::head_from_bytes;
use argiope_model::Time;
use argiope_parse::header_directives;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, raw)) = data.split_first() else { return };
    let (dechunked, decoded) = (choice & 1 != 0, choice & 2 != 0);
    let length = u64::from(choice >> 2);
    let kept = http_head_for_archive(raw, length, dechunked, decoded);
    assert!(kept.ends_with(b"\n"));
    http_status(raw);
    http_status(&kept);
    let Some(head) = head_from_bytes(raw) else { return };
    let _ = (head.content_type(), head.content_encoding(), head.location(), head.is_chunked());
    let now = Time(1_000_000);
    assert!(head.retry_after(now).is_none_or(|then| then >= now), "later is not before now");
    let tags: Vec<_> = head.x_robots_tags().collect();
    header_directives(tags.iter().map(AsRef::as_ref), "argiope");
});
