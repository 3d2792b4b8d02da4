//! What it costs to undo a content coding: decodes one page again and again.
//!
//! Measured: microseconds and decoded MB per second on one thread. Corpus: a file, gzipped here
//! at level 6 as servers do. The page travels once over a loopback socket, to be a body.
//!
//! ```text
//! cargo run --release -p argiope-fetch --example decoding -- page.html 20000
//! ```
//!
//! Falsified by: a decoder that is faster on the same file in the same minute.

use argiope_fetch::{FetchSettings, Fetcher, Take};
use argiope_model::CanonicalUrl;
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let page = std::fs::read(args.next().ok_or("usage: decoding FILE [TIMES]")?)?;
    let times: u32 = args.next().map_or(Ok(10_000), |n| n.parse())?;
    let spool_dir = std::env::temp_dir().join(format!("argiope-decoding-{}", std::process::id()));
    let fetcher = Fetcher::new(FetchSettings {
        allow_private: true,
        spool_dir: spool_dir.clone(),
        ..FetchSettings::default()
    })?;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::new(6));
    gzip.write_all(&page)?;
    for (coding, encoded) in [("gzip", gzip.finish()?), ("zstd", zstd::encode_all(&page[..], 3)?)] {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let answer = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
            let url = CanonicalUrl::parse(&format!("http://{}/", listener.local_addr()?))?;
            let reply = encoded.clone();
            let serve = tokio::spawn(async move {
                let (mut stream, _) = listener.accept().await?;
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", reply.len());
                stream.read_buf(&mut Vec::with_capacity(4096)).await?;
                stream.write_all(&[head.as_bytes(), &reply].concat()).await
            });
            let answer = fetcher.get(&url, |_| Take::Body).await?;
            serve.await??;
            Ok::<_, Box<dyn std::error::Error>>(answer)
        })?;
        let clock = Instant::now();
        let mut bytes = 0;
        for _ in 0..times {
            bytes += fetcher.decode(&answer.body, coding)?.len();
        }
        let seconds = clock.elapsed().as_secs_f64();
        println!(
            "{coding}: {} -> {} bytes, {:.1} µs each, {:.0} MB/s",
            encoded.len(),
            page.len(),
            seconds / f64::from(times) * 1e6,
            bytes as f64 / seconds / 1e6
        );
    }
    std::fs::remove_dir_all(spool_dir)?;
    Ok(())
}
