//! Progress of a running crawl: one line that is redrawn on a terminal, a line every ten
//! seconds elsewhere.

#![allow(clippy::print_stderr)] // The progress line is drawn here.

use crate::output;
use argiope_crawl::{Live, Snapshot};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const REDRAW: Duration = Duration::from_millis(200);
const REPORT: Duration = Duration::from_secs(10);

/// Draws until dropped.
pub struct Progress {
    over: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Progress {
    /// Starts drawing; `quiet` says only why the crawl waits.
    pub fn start(live: Arc<Live>, quiet: bool) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = over.clone();
        let terminal = output::on_terminal() && !quiet;
        let thread = Some({
            std::thread::spawn(move || {
                let mut reported = Instant::now();
                let mut note: Option<String> = None;
                let mut told = false;
                while !seen.load(Ordering::Relaxed) {
                    std::thread::sleep(REDRAW);
                    let now = live.snapshot();
                    let clear = if terminal { "\r\x1b[K" } else { "" };
                    if now.note != note {
                        note.clone_from(&now.note);
                        match &note {
                            Some(note) => eprintln!("{clear}Paused: {}", output::clean(note)),
                            None => eprintln!("{clear}Going on."),
                        }
                    }
                    if let Some(said) = brake(&now, &mut told).filter(|_| !quiet) {
                        eprintln!("{clear}{}", output::clean(&said));
                    }
                    if terminal {
                        output::line(line(&now, output::width()));
                    } else if !quiet && reported.elapsed() >= REPORT {
                        reported = Instant::now();
                        output::talk(line(&now, usize::MAX));
                    }
                }
                if terminal {
                    eprint!("\r\x1b[K");
                }
            })
        });
        Progress { over, thread }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What politeness costs, told once: whoever wonders about the speed learns where it comes from.
fn brake(now: &Snapshot, told: &mut bool) -> Option<String> {
    let why = now.brake.as_ref().filter(|_| !*told)?;
    *told = true;
    // What a host itself asks for, or somebody has set, is not to be shortened by a flag.
    let faster = match why.ends_with(')') {
        true => "",
        false => "; for a site of your own: --delay 0 --connections-per-host 8",
    };
    Some(format!("Politeness is the brake: {why}{faster}"))
}

/// One line: pages, queue, speed, connections, hosts and why they wait, errors, time left.
fn line(now: &Snapshot, width: usize) -> String {
    let mut parts = vec![
        output::plural(now.fetched, "page", "pages"),
        format!("{} queued", output::count(now.queued)),
        format!("{:.1}/s", now.pages_per_s),
        format!("{:.1} MB/min", now.mb_per_min),
        format!("{} requests", now.requests),
    ];
    if now.again.visited > 0 {
        let again = output::count(now.again.visited);
        let changed = output::count(now.again.changed);
        parts.insert(1, format!("{again} visited again, {changed} changed"));
    }
    if let Some(next) = now.next_visit.filter(|_| now.queued == 0 && now.requests == 0) {
        parts.push(format!("next visit {}", next.iso_seconds()));
    }
    if now.state == "stopping" {
        parts.insert(0, "stopping".to_owned());
    }
    if now.hosts_waiting > 0 && now.hosts_ready == 0 {
        let next = now.next_host_ms.unwrap_or(0) as f64 / 1000.0;
        let hosts = output::plural(now.hosts_waiting as u64, "host waits", "hosts wait");
        parts.push(format!("{hosts} for the delay, next in {next:.0} s"));
    } else if now.hosts == 0
        && now.queued > 0
        && now.requests == 0
        && let Some(ms) = now.next_host_ms
    {
        parts.push(format!("next try in {} s", ms.div_ceil(1000)));
    }
    if now.errors > 0 {
        parts.push(output::plural(now.errors, "error", "errors"));
    }
    if let Some(left) = now.left_s.filter(|_| now.state == "crawling") {
        parts.push(format!("{} left", output::seconds(left as f64)));
    }
    let mut line = parts.join(" · ");
    if line.chars().count() > width {
        line = line.chars().take(width.saturating_sub(1)).collect();
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn politeness_is_named_as_the_brake_once() {
        let mut told = false;
        let free = Snapshot::default();
        assert_eq!(brake(&free, &mut told), None);
        let why = Some("each host is asked every 10 s at most".to_owned());
        let braked = Snapshot { brake: why, ..Snapshot::default() };
        let said = brake(&braked, &mut told).unwrap();
        assert!(said.contains("each host is asked every 10 s at most; for a site of your own"));
        assert_eq!(brake(&braked, &mut told), None);
    }

    #[test]
    fn the_line_says_why_hosts_wait_and_fits_its_width() {
        let now = Snapshot {
            state: "crawling".to_owned(),
            fetched: 1200,
            queued: 3,
            hosts_waiting: 2,
            next_host_ms: Some(4000),
            left_s: Some(75),
            ..Snapshot::default()
        };
        let full = line(&now, usize::MAX);
        assert!(full.starts_with("1,200 pages · 3 queued"), "{full}");
        assert!(full.contains("2 hosts wait for the delay, next in 4 s"), "{full}");
        assert!(full.ends_with("1 min 15 s left"), "{full}");
        assert_eq!(line(&now, 20).chars().count(), 20);
    }
}
