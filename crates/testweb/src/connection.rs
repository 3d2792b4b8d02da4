//! One connection: requests in, answers out, one after another.
//!
//! An answer leaves in a single write (head and body in one buffer). Every wait has a limit: a
//! silent client is dropped after [`IDLE`], and so is one that does not take its answer.

use crate::request::{self, Parsed, Request};
use crate::serve::{Hit, Shared};
use crate::web::Response;
use bytes::{Buf, Bytes, BytesMut};
use std::fmt::Write;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// How long a connection may be silent, or an answer wait to be taken.
const IDLE: Duration = Duration::from_secs(60);

/// Serves a connection until either side has had enough.
///
/// `site` is the site of the listener, or nothing where the `Host` header decides.
pub(crate) async fn converse(
    mut stream: TcpStream,
    shared: &Shared,
    site: Option<usize>,
    number: u64,
) {
    let mut input = BytesMut::with_capacity(2048);
    let mut output = BytesMut::new();
    loop {
        let request = match request::parse(&input) {
            Parsed::Incomplete => {
                input.reserve(2048);
                match timeout(IDLE, stream.read_buf(&mut input)).await {
                    Ok(Ok(1..)) => continue,
                    _ => return,
                }
            }
            Parsed::Refused(status) => {
                write_answer(&mut output, &refusal(status), false, false);
                let _ = timeout(IDLE, stream.write_all(&output)).await;
                // What the client is still sending is not read; closing says so.
                let _ = timeout(IDLE, stream.shutdown()).await;
                return;
            }
            Parsed::Request(request, used) => {
                input.advance(used);
                request
            }
        };
        let began = shared.started.elapsed();
        if !shared.options.latency.is_zero() {
            sleep(shared.options.latency).await;
        }
        let keep_alive = request.keep_alive && shared.options.keep_alive;
        let site = site.or_else(|| shared.site_of_host(request.host.as_deref()?));
        let response = answer(shared, site, &request);
        write_answer(&mut output, &response, request.head_only, keep_alive);
        let sent = timeout(IDLE, stream.write_all(&output)).await;
        output.clear();
        shared.record(|ended| Hit {
            began,
            ended,
            site,
            path: request.target,
            connection: number,
            status: response.status,
        });
        if !keep_alive || !matches!(sent, Ok(Ok(()))) {
            let _ = timeout(IDLE, stream.shutdown()).await;
            return;
        }
    }
}

fn answer(shared: &Shared, site: Option<usize>, request: &Request) -> Response {
    let Some(site) = site else { return refusal(421) };
    let mut response = shared.web.respond(site, &request.target);
    not_modified(&mut response, request);
    response
}

/// Says that nothing has changed to a client that knows the answer by its tag.
pub(crate) fn not_modified(response: &mut Response, request: &Request) {
    let tag = response.header("ETag");
    if tag.is_some() && tag == request.if_none_match.as_deref() {
        response.status = 304;
        response.headers.retain(|(name, _)| *name != "Content-Type");
        response.body = Bytes::new();
    }
}

fn refusal(status: u16) -> Response {
    let mut headers = vec![("Content-Type", "text/plain".to_owned())];
    if status == 405 {
        headers.push(("Allow", "GET, HEAD".to_owned()));
    }
    Response { status, headers, body: Bytes::from(format!("{}\n", reason(status))) }
}

pub(crate) fn write_answer(
    out: &mut BytesMut,
    response: &Response,
    head_only: bool,
    keep_alive: bool,
) {
    out.reserve(512 + response.body.len());
    let status = response.status;
    // Writing into memory cannot fail.
    let _ = write!(out, "HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in &response.headers {
        for part in [name, ": ", value, "\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    }
    if status != 304 {
        let _ = write!(out, "Content-Length: {}\r\n", response.body.len());
    }
    let connection = if keep_alive { "keep-alive" } else { "close" };
    let _ = write!(out, "Connection: {connection}\r\n\r\n");
    if !head_only {
        out.extend_from_slice(&response.body);
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Unknown",
    }
}
