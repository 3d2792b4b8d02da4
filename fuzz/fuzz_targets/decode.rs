//! Content codings: any bytes under any coding end, in bounded memory.
//!
//! Input: a line with the coding, then the body.
#![no_main]

use argiope_fetch::decoded_reader;
use libfuzzer_sys::fuzz_target;
use std::io::{self, Read};

/// A small body may unpack to anything; the engine stops at a limit too.
const LIMIT: u64 = 4 << 20;

fuzz_target!(|data: &[u8]| {
    let Some(end) = data.iter().position(|&b| b == b'\n') else { return };
    let coding = String::from_utf8_lossy(&data[..end]);
    if let Ok(reader) = decoded_reader(&data[end + 1..], &coding) {
        let _ = io::copy(&mut reader.take(LIMIT), &mut io::sink());
    }
});
