//! The archive is on disk before the store says so, in every group.
//!
//! A small crawl runs under strace. Read in order, the trace must never show a sync of the store's
//! journal beginning while bytes written to an archive segment have not been synced. This needs one
//! assumption: the same thread that appends a group commits it, so no later group's bytes are written
//! while a journal is being synced.

use crate::rig::{CRAWL_LIMIT, Rig};
use crate::sites::Graph;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::process::Command;
use xtask::nginx::Nginx;
use xtask::process;

const WRITES: &[&str] = &[
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev2",
    "sendfile",
    "copy_file_range",
    "splice",
];
const SYNCS: &[&str] = &["fsync", "fdatasync"];

#[test]
fn the_archive_is_synced_before_the_store_in_every_group() -> Result<()> {
    let Some(rig) = Rig::new("sync", &["nginx", "strace"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    Graph::made_up(400, 5).write(&root, 4000)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));

    let trace = rig.dir.join("trace");
    let crawl = rig.argiope("data", &Rig::crawl_args(&[&start, "--connections-per-host", "8"]));
    let mut command = Command::new("strace");
    let calls = format!("trace={},{}", WRITES.join(","), SYNCS.join(","));
    command.args(["-f", "-y", "-s", "0", "--seccomp-bpf", "-e", &calls, "-e", "signal=none", "-o"]);
    command.arg(&trace).arg(crawl.get_program()).args(crawl.get_args());
    process::run(&mut command, &rig.dir, "strace", CRAWL_LIMIT)?.ok().context("traced crawl")?;

    let text = std::fs::read_to_string(&trace).context("read the trace")?;
    let read = read(&text);
    ensure!(read.archive_writes > 0, "no write to a .warc.gz in the trace");
    ensure!(read.journal_syncs > 0, "no sync of a journal (store/*.jnl) in the trace");
    ensure!(
        read.too_early.is_empty(),
        "{} of {} journal syncs came before the archive's; the first:\n{}",
        read.too_early.len(),
        read.journal_syncs,
        read.too_early[0]
    );
    ensure!(read.groups >= 3, "only {} groups in the trace: too few to say", read.groups);
    Ok(())
}

/// What a trace says.
#[derive(Default)]
struct Read {
    archive_writes: usize,
    journal_syncs: usize,
    /// Journal syncs that had an archive sync since the one before.
    groups: usize,
    /// Journal syncs that began over unsynced archive bytes.
    too_early: Vec<String>,
}

fn read(trace: &str) -> Read {
    let mut read = Read::default();
    // Archive writes begun so far; how many of them the finished syncs cover; syncs under way.
    let (mut written, mut synced) = (0, 0);
    let mut under_way: BTreeMap<&str, usize> = BTreeMap::new();
    let mut new_group = false;
    for line in trace.lines() {
        let Some((pid, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(resumed) = rest.strip_prefix("<... ") {
            let call = resumed.split(' ').next().unwrap_or("");
            if SYNCS.contains(&call)
                && let Some(covers) = under_way.remove(pid)
            {
                (synced, new_group) = (synced.max(covers), true);
            }
            continue;
        }
        let Some((call, args)) = rest.split_once('(') else { continue };
        let file = args.split(['<', '>']).nth(1).unwrap_or("");
        let is_archive = args.contains(".warc.gz");
        if WRITES.contains(&call) && is_archive {
            read.archive_writes += 1;
            written += 1;
        } else if SYNCS.contains(&call) && is_archive {
            if rest.contains("<unfinished") {
                under_way.insert(pid, written);
            } else {
                (synced, new_group) = (written, true);
            }
        } else if SYNCS.contains(&call) && file.ends_with(".jnl") {
            read.journal_syncs += 1;
            if synced < written {
                read.too_early.push(line.to_string());
            }
            read.groups += usize::from(std::mem::take(&mut new_group));
        }
    }
    read
}

#[test]
fn a_trace_is_read_in_order_also_when_calls_overlap() {
    let good = "\
1 write(9</d/archive/a.warc.gz>, \"\"..., 10) = 10
1 fdatasync(9</d/archive/a.warc.gz>) = 0
1 write(7</d/store/0.jnl>, \"\"..., 10) = 10
1 fdatasync(7</d/store/0.jnl>) = 0
1 write(9</d/archive/a.warc.gz>, \"\"..., 10) = 10
1 fdatasync(9</d/archive/a.warc.gz> <unfinished ...>
2 write(3</tmp/x>, \"\"..., 1) = 1
1 <... fdatasync resumed>) = 0
1 fsync(7</d/store/0.jnl>) = 0
";
    let found = read(good);
    assert_eq!((found.archive_writes, found.journal_syncs, found.groups), (2, 2, 2));
    assert!(found.too_early.is_empty());
    let swapped: Vec<&str> = good.lines().collect();
    let early = [swapped[0], swapped[3], swapped[1]].join("\n");
    assert_eq!(read(&early).too_early.len(), 1);
    let overlapping = [swapped[4], swapped[5], swapped[8], swapped[7]].join("\n");
    assert_eq!(read(&overlapping).too_early.len(), 1);
}
