//! WARC files: sound or not, reading them ends, and records lie inside the file.
#![no_main]

use argiope_archive::WarcReader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut found = 0;
    for entry in WarcReader::new(data).keep_payloads(1 << 20) {
        found += 1;
        assert!(found <= data.len() * 64 + 1, "reading ends");
        match entry {
            Ok(entry) => {
                let end = entry.offset + entry.length.unwrap_or(0);
                assert!(end <= data.len() as u64, "a record lies inside the file");
                let _ = (entry.status(), entry.headers.target_uri(), entry.headers.iter().count());
            }
            Err(damage) => assert!(damage.offset + damage.length <= data.len() as u64),
        }
    }
});
