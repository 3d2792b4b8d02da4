//! robots.txt: any file has rules, and every path an answer.
//!
//! Input: a line with a path, then the file.
#![no_main]

use argiope_frontier::Robots;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let end = data.iter().position(|&b| b == b'\n').unwrap_or(data.len());
    let path = String::from_utf8_lossy(&data[..end]);
    let robots = Robots::parse(&data[end..], "argiope");
    for path in [&*path, "/", "/robots.txt", "", "/a/b?c=d&e"] {
        let _ = robots.verdict(path);
    }
    let _ = (robots.crawl_delay(), robots.sitemaps().len(), robots.heap_bytes());
});
