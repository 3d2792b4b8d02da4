//! Answers of name servers: any bytes are one, and hold no more addresses than they have room for.
#![no_main]

use argiope_fetch::name_answer_from_bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // An address takes four bytes, and every answer is read twice: as IPv4 and as IPv6.
    assert!(name_answer_from_bytes(data) <= data.len() / 2);
});
