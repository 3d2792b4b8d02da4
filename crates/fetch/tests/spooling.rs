//! Large bodies: in files, byte for byte, and gone when nobody needs them.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_fetch::{Body, FetchSettings, Fetcher};
use support::{Kit, Server, bytes, noise};
use tokio::io::AsyncWriteExt;

fn reply(body: &[u8], chunked: bool) -> Vec<u8> {
    let mut reply = b"HTTP/1.1 200 OK\r\n".to_vec();
    if chunked {
        reply.extend(b"Transfer-Encoding: chunked\r\n\r\n");
        for chunk in body.chunks(10_007) {
            reply.extend(format!("{:x}\r\n", chunk.len()).bytes());
            reply.extend(chunk);
            reply.extend(b"\r\n");
        }
        reply.extend(b"0\r\n\r\n");
    } else {
        reply.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
        reply.extend(body);
    }
    reply
}

#[tokio::test]
async fn bodies_above_the_threshold_lie_in_files_until_dropped() {
    let kit = Kit::with(|s| s.spool_above = 100_000);
    for chunked in [false, true] {
        for (len, spooled) in
            [(99_999, false), (100_000, false), (100_001, true), (3_000_017, true)]
        {
            let body = noise(len);
            let server = Server::keep_alive(reply(&body, chunked)).await;
            let answer = kit.get(&server.url("/")).await;
            assert_eq!(answer.outcome, None);
            assert!(bytes(&answer.body) == body, "{len} bytes came differently");
            assert_eq!(kit.spooled_files(), usize::from(spooled), "{len} bytes");
            if let Body::Spooled(file) = &answer.body {
                assert_eq!(std::fs::metadata(file.path()).unwrap().len(), len as u64);
                assert_eq!(kit.fetcher.body_memory_used(), 0);
            } else {
                assert!(kit.fetcher.body_memory_used() >= len);
                assert!(answer.body.bytes().is_some());
            }
            drop(answer);
            assert_eq!((kit.spooled_files(), kit.fetcher.body_memory_used()), (0, 0));
        }
    }
}

#[tokio::test]
async fn bodies_go_to_files_when_the_memory_is_used_up() {
    let kit = Kit::with(|s| s.body_memory = 500_000);
    let (large, small) = (noise(200_000), noise(60_000));
    for chunked in [false, true] {
        let server = Server::keep_alive(reply(&large, chunked)).await;
        let tiny = Server::keep_alive(reply(&small, chunked)).await;
        let mut held = Vec::new();
        for n in 1..=6 {
            let answer = kit.get(&server.url("/")).await;
            assert!(bytes(&answer.body) == large);
            // The second may or may not fit: unknown lengths grow by doubling.
            if n != 2 {
                assert_eq!(matches!(answer.body, Body::Spooled(_)), n > 2, "body {n}");
            }
            held.push(answer);
        }
        // Small pages never go to disk.
        for _ in 0..3 {
            let answer = kit.get(&tiny.url("/")).await;
            assert!(matches!(&answer.body, Body::Memory(b) if **b == small[..]));
            held.push(answer);
        }
        assert!(kit.fetcher.body_memory_used() >= 380_000);
        drop(held);
        assert_eq!((kit.spooled_files(), kit.fetcher.body_memory_used()), (0, 0));
        let answer = kit.get(&server.url("/")).await;
        assert!(matches!(answer.body, Body::Memory(_)), "there is room again");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_megabytes_pass_with_little_memory() {
    let (piece, pieces) = (noise(1 << 20), 100_u64);
    let sent = piece.clone();
    let server = Server::start(move |mut stream, _| {
        let piece = sent.clone();
        async move {
            support::request(&mut stream).await;
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", pieces << 20);
            stream.write_all(head.as_bytes()).await.unwrap();
            for _ in 0..pieces {
                stream.write_all(&piece).await.unwrap();
            }
        }
    })
    .await;
    let kit = std::sync::Arc::new(Kit::with(|s| {
        s.total_timeout = std::time::Duration::from_secs(120);
    }));
    let (fetcher, url) = (kit.clone(), server.url("/"));
    let fetch = tokio::spawn(async move { fetcher.get(&url).await });
    let mut most = 0;
    while !fetch.is_finished() {
        most = most.max(kit.fetcher.body_memory_used());
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    let answer = fetch.await.unwrap();
    assert_eq!((answer.outcome.clone(), answer.body.len()), (None, pieces << 20));
    assert!(most <= 1 << 20, "{most} bytes were in memory at once");
    let Body::Spooled(file) = &answer.body else { panic!("not in a file") };
    let mut reader = std::io::BufReader::new(file.open().unwrap());
    let mut got = vec![0; 1 << 20];
    for _ in 0..pieces {
        std::io::Read::read_exact(&mut reader, &mut got).unwrap();
        assert!(got == piece);
    }
}

#[test]
fn leftovers_of_an_earlier_run_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("7.body"), "left").unwrap();
    std::fs::write(dir.path().join("note.txt"), "not ours").unwrap();
    let settings = FetchSettings { spool_dir: dir.path().into(), ..FetchSettings::default() };
    Fetcher::new(settings).unwrap();
    let left: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["note.txt"]);
}

#[tokio::test]
async fn a_spool_directory_that_vanishes_is_our_error() {
    let kit = Kit::with(|s| s.spool_above = 1000);
    let server = Server::keep_alive(reply(&noise(5000), false)).await;
    std::fs::remove_dir_all(kit.spool.path().join("spool")).unwrap();
    let failed = kit.fetcher.get(&server.url("/"), |_| argiope_fetch::Take::Body).await;
    assert!(matches!(failed, Err(argiope_fetch::FetchError::SpoolFile { .. })));
}

#[test]
fn a_user_agent_that_is_no_header_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let settings = FetchSettings {
        user_agent: "two\nlines".into(),
        spool_dir: dir.path().into(),
        ..FetchSettings::default()
    };
    let error = Fetcher::new(settings).err().unwrap();
    assert_eq!(error.to_string(), "the user agent cannot be sent as a header: \"two\\nlines\"");
}
