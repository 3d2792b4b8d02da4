//! PDF: any bytes are read in bounded time, and twice the same.
#![no_main]

use argiope_parse::parse_pdf;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let first = parse_pdf(data);
    assert!(first.0.text.len() <= 16 << 20);
    if data.len() < 4096 {
        assert_eq!(first, parse_pdf(data));
    }
});
