//! Room on the disk: the one module that asks the operating system beyond files and sockets.

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

/// The most memory this process has held, in bytes; 0 where the system does not tell.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or(0) << 10
}
