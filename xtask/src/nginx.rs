//! A folder served by nginx on loopback, and what was asked of it.
//!
//! One process without a master, so that killing it ends it; every path it writes to lies in the
//! given directory, so that it runs as any user. The access log is unbuffered: a line is there when
//! the answer has been sent, in the order of sending.

use crate::process::{Running, wait_until};
use crate::tools;
use anyhow::{Context, Result, bail};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A running nginx; gone when dropped.
pub struct Nginx {
    _running: Running,
    log: PathBuf,
    /// `http://ADDRESS:PORT`, without a slash.
    pub origin: String,
}

/// One line of the access log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Answered with this status; 499 when the client went away.
    pub status: u16,
    /// Request method.
    pub method: String,
    /// Path and query as sent.
    pub uri: String,
    /// Content type of the answer, without parameters; empty when none.
    pub kind: String,
}

impl Nginx {
    /// Serves `root`; `settings` go into the server block (`limit_rate 64k;`). Files of the server
    /// itself lie in `dir`, which must exist.
    pub fn serve(root: &Path, dir: &Path, settings: &str) -> Result<Nginx> {
        let root = root.canonicalize().with_context(|| format!("serve {}", root.display()))?;
        let program = tools::find("nginx").context("nginx is not installed")?;
        let log = dir.join("access.log");
        std::fs::write(&log, "")?;
        let file = dir.join("nginx.conf");
        let (running, port) = on_free_port("nginx", |port| {
            std::fs::write(&file, config(&root, dir, port, settings))?;
            let mut command = Command::new(&program);
            command.arg("-c").arg(&file).arg("-p").arg(dir).arg("-e").arg(dir.join("error.log"));
            Running::start(&mut command, dir, "nginx")
        })?;
        Ok(Nginx { _running: running, log, origin: format!("http://127.0.0.1:{port}") })
    }

    /// Everything asked so far, robots.txt included. Requests that nginx itself could not read (a
    /// lone `%` in the path, say) are left out: it logs no path for those.
    pub fn hits(&self) -> Result<Vec<Hit>> {
        let text = std::fs::read_to_string(&self.log).context("read the access log")?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        Ok(whole.lines().filter_map(hit).filter(|hit| !hit.uri.is_empty()).collect())
    }

    /// Everything asked so far except robots.txt.
    pub fn pages(&self) -> Result<Vec<Hit>> {
        let mut hits = self.hits()?;
        hits.retain(|hit| hit.uri != "/robots.txt");
        Ok(hits)
    }

    /// Length of the access log: cheap to watch.
    pub fn log_bytes(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |meta| meta.len())
    }

    /// Forgets what was asked so far.
    pub fn clear(&self) -> Result<()> {
        let log = std::fs::OpenOptions::new().write(true).open(&self.log)?;
        log.set_len(0).context("empty the access log")
    }
}

/// Starts a server on a port chosen by the system and waits until it listens. Somebody else may
/// take the port between the choice and the start, so a server that ends is given another one.
pub fn on_free_port(
    name: &str,
    mut start: impl FnMut(u16) -> Result<Running>,
) -> Result<(Running, u16)> {
    let mut last_words = String::new();
    for _ in 0..5 {
        let port = TcpListener::bind(("127.0.0.1", 0)).context("bind")?.local_addr()?.port();
        let mut running = start(port)?;
        let mut ended = false;
        wait_until(&format!("{name} to listen"), Duration::from_secs(60), || {
            ended = !running.is_running()?;
            Ok(ended || is_listening(port)?)
        })?;
        if !ended {
            return Ok((running, port));
        }
        last_words = running.err_so_far();
    }
    bail!("{name} does not start: {last_words}")
}

/// Whether somebody listens on the port. Asks the system's table: a connection tried again and
/// again would sooner or later be given the very port it asks for, and meet itself.
fn is_listening(port: u16) -> Result<bool> {
    let table = std::fs::read_to_string("/proc/net/tcp").context("read the socket table")?;
    let address = format!(":{port:04X}");
    Ok(table.lines().any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let local = fields.next().unwrap_or("");
        local.ends_with(&address) && fields.nth(1) == Some("0A")
    }))
}

fn hit(line: &str) -> Option<Hit> {
    let mut fields = line.splitn(4, '\t');
    let status = fields.next()?.parse().ok()?;
    let method = fields.next()?.to_string();
    let uri = fields.next()?.to_string();
    let kind = fields.next()?.split(';').next()?.trim().trim_start_matches('-').to_string();
    Some(Hit { status, method, uri, kind })
}

fn config(root: &Path, dir: &Path, port: u16, settings: &str) -> String {
    let (root, dir) = (root.display(), dir.display());
    format!(
        r#"daemon off;
master_process off;
worker_processes 1;
worker_rlimit_nofile 4096;
pid "{dir}/nginx.pid";
error_log "{dir}/error.log";
events {{ worker_connections 2048; }}
http {{
    types {{
        text/html html htm;
        application/xhtml+xml xhtml;
        text/css css;
        text/javascript js;
        text/plain txt;
        text/xml xml;
        image/png png;
        image/gif gif;
        image/jpeg jpg jpeg;
        image/svg+xml svg;
        application/pdf pdf;
    }}
    default_type application/octet-stream;
    log_format plain escape=none '$status\t$request_method\t$request_uri\t$sent_http_content_type';
    access_log "{dir}/access.log" plain;
    client_body_temp_path "{dir}/body";
    proxy_temp_path "{dir}/proxy";
    fastcgi_temp_path "{dir}/fastcgi";
    uwsgi_temp_path "{dir}/uwsgi";
    scgi_temp_path "{dir}/scgi";
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        root "{root}";
        index index.html;
        autoindex on;
        {settings}
    }}
}}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_line_becomes_a_hit() {
        let found = hit("200\tGET\t/a%20b?c\ttext/html; charset=utf-8").unwrap();
        assert_eq!((found.status, found.uri.as_str()), (200, "/a%20b?c"));
        assert_eq!(found.kind, "text/html");
        assert_eq!(hit("404\tGET\t/\t-").unwrap().kind, "");
        assert_eq!(hit("torn"), None);
    }
}
