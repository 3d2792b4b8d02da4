//! Processor time, anonymous memory and bytes on disk of this process.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

/// Clock ticks per second in `/proc/self/stat`: fixed by the kernel's interface.
const TICKS: f64 = 100.0;

pub struct Gauge {
    begun: Instant,
    cpu_before: f64,
    peak_anon_kb: u64,
    samples: u64,
    last: (f64, u64),
}

impl Gauge {
    pub fn new() -> Self {
        let cpu_before = cpu_now();
        Gauge { begun: Instant::now(), cpu_before, peak_anon_kb: 0, samples: 0, last: (0.0, 0) }
    }

    /// Looks at the memory, every few calls.
    pub fn sample(&mut self) {
        self.samples += 1;
        if self.samples.is_multiple_of(8) {
            self.peak_anon_kb = self.peak_anon_kb.max(anon_kb());
        }
    }

    pub fn cpu_s(&self) -> f64 {
        cpu_now() - self.cpu_before
    }

    pub fn elapsed_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    pub fn peak_anon_mb(&self) -> f64 {
        self.peak_anon_kb.max(anon_kb()) as f64 * 1024.0 / 1e6
    }

    /// One line about what came since the last.
    pub fn lap(&mut self, urls: u64, state: String) -> String {
        let cpu = self.cpu_s();
        let (last_cpu, last_urls) = std::mem::replace(&mut self.last, (cpu, urls));
        let us = (cpu - last_cpu) * 1e6 / urls.saturating_sub(last_urls).max(1) as f64;
        let (peak, elapsed) = (self.peak_anon_mb(), self.elapsed_s());
        let anon = anon_kb() / 1000;
        format!(
            "{urls} urls: {us:.2} us/url lately, {anon} MB now, {peak:.0} MB peak, {elapsed:.0} s; {state}"
        )
    }
}

fn cpu_now() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in parentheses may hold blanks; user and system time are 14th and 15th.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = rest.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

fn anon_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Bytes this process has written.
pub fn written_bytes() -> f64 {
    let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find_map(|l| l.strip_prefix("wchar:"));
    line.and_then(|l| l.trim().parse().ok()).unwrap_or(0.0)
}

/// Blocks used: journals are made larger than what is in them.
pub fn disk_bytes(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => disk_bytes(&entry.path()),
        Ok(meta) => meta.blocks() * 512,
        Err(_) => 0,
    });
    sizes.sum()
}
