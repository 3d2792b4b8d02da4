//! Room on the disk, files that may be open, memory held: the one module that asks the operating
//! system beyond files and sockets.

use std::io;
use std::path::Path;

/// Bytes an ordinary user may still write where `path` lies.
#[cfg(unix)]
pub(crate) fn free_bytes(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Unknown here; a full disk then shows when a write fails.
#[cfg(not(unix))]
pub(crate) fn free_bytes(_path: &Path) -> io::Result<u64> {
    Ok(u64::MAX)
}

/// Lets this process open as many files as it may, and says how many that is.
#[cfg(unix)]
pub(crate) fn open_files() -> u64 {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let wanted = rustix::process::Rlimit { current: limit.maximum, maximum: limit.maximum };
        if setrlimit(Resource::Nofile, wanted).is_ok() {
            limit = wanted;
        }
    }
    limit.current.unwrap_or(u64::MAX)
}

/// Unknown here; connections that cannot be opened then end as outcomes.
#[cfg(not(unix))]
pub(crate) fn open_files() -> u64 {
    u64::MAX
}

/// Bytes in the files of a directory and below.
pub fn dir_bytes(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    let bytes = entries.flatten().filter_map(|entry| {
        let meta = entry.metadata().ok()?;
        Some(if meta.is_dir() { dir_bytes(&entry.path()) } else { on_disk(&meta) })
    });
    bytes.sum()
}

/// What a file takes up; a journal is longer than that.
#[cfg(unix)]
fn on_disk(meta: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(meta) * 512
}

#[cfg(not(unix))]
fn on_disk(meta: &std::fs::Metadata) -> u64 {
    meta.len()
}

/// The most memory this process has held, in bytes; 0 where the system does not tell.
pub(crate) fn peak_memory() -> u64 {
    memory_line("VmHWM:")
}

/// The memory this process holds, in bytes; 0 where the system does not tell.
pub(crate) fn memory() -> u64 {
    memory_line("VmRSS:")
}

fn memory_line(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(name));
    line.and_then(|l| l.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or(0) << 10
}
