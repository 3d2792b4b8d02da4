//! Programs with a time limit.
//!
//! Every program the tests and benchmarks start is a [`Running`]: its output goes to files (no pipe
//! can fill up), it is killed when dropped, and waiting for it always has a limit. Memory is read
//! from `/proc`, so this works on Linux only.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A started program.
pub struct Running {
    child: Child,
    name: String,
    out: PathBuf,
    err: PathBuf,
    peak_anon: u64,
}

/// How a program ended.
#[derive(Debug)]
pub struct Finished {
    /// Exit code; none after a signal.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Where its standard output lies.
    pub out: PathBuf,
    /// Its standard error.
    pub err: String,
    /// Highest anonymous memory seen while it was watched, bytes.
    pub peak_anon: u64,
}

impl Running {
    /// Starts `command`, its output in `dir/NAME.out` and `dir/NAME.err`.
    pub fn start(command: &mut Command, dir: &Path, name: &str) -> Result<Running> {
        let (out, err) = (dir.join(format!("{name}.out")), dir.join(format!("{name}.err")));
        let child = command
            .stdin(Stdio::null())
            .stdout(File::create(&out).with_context(|| format!("create {}", out.display()))?)
            .stderr(File::create(&err).with_context(|| format!("create {}", err.display()))?)
            .process_group(0)
            .spawn()
            .with_context(|| format!("start {:?}", command.get_program()))?;
        Ok(Running { child, name: name.to_string(), out, err, peak_anon: 0 })
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has written to standard error so far.
    pub fn err_so_far(&self) -> String {
        text(&self.err)
    }

    /// Whether it still runs; looks at its memory on the way.
    pub fn is_running(&mut self) -> Result<bool> {
        if let Some(bytes) = anon_bytes(self.id()) {
            self.peak_anon = self.peak_anon.max(bytes);
        }
        Ok(self.child.try_wait().context("wait for a child")?.is_none())
    }

    /// `kill -9`, then waits until it is gone.
    pub fn kill(mut self) -> Result<Finished> {
        self.child.kill().context("kill a child")?;
        self.wait(Duration::from_secs(20))
    }

    /// Waits for the end. After `limit` the program and its group are killed and this is an error.
    pub fn wait(mut self, limit: Duration) -> Result<Finished> {
        let end = Instant::now() + limit;
        while self.is_running()? {
            if Instant::now() > end {
                self.kill_group();
                let tail = tail(&self.err_so_far());
                bail!("{} did not end within {limit:?}; its last words:\n{tail}", self.name);
            }
            std::thread::sleep(Duration::from_millis(3));
        }
        let status = self.child.wait().context("wait for a child")?;
        Ok(Finished {
            code: status.code(),
            signal: status.signal(),
            out: self.out.clone(),
            err: self.err_so_far(),
            peak_anon: self.peak_anon,
        })
    }

    fn kill_group(&mut self) {
        let group = format!("-{}", self.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.kill_group();
        }
    }
}

impl Finished {
    /// Standard output as text.
    pub fn out_text(&self) -> String {
        text(&self.out)
    }

    /// The last lines of standard error, for a failure message.
    pub fn last_words(&self) -> String {
        tail(&self.err)
    }

    /// Itself, or an error with its last words when it did not exit with 0.
    pub fn ok(self) -> Result<Finished> {
        if self.code != Some(0) {
            bail!("exit {:?}, signal {:?}:\n{}", self.code, self.signal, self.last_words());
        }
        Ok(self)
    }
}

/// Runs `command` to its end.
pub fn run(command: &mut Command, dir: &Path, name: &str, limit: Duration) -> Result<Finished> {
    Running::start(command, dir, name)?.wait(limit)
}

/// Runs a chore with its output on the terminal; anything but success is an error.
pub fn must(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    eprintln!("$ {shown}");
    let status = command.status().with_context(|| format!("start {shown}"))?;
    if !status.success() {
        bail!("{shown}: {status}");
    }
    Ok(())
}

/// Standard output of a command that must succeed.
pub fn output(command: &mut Command) -> Result<String> {
    let done = command.output().with_context(|| format!("start {}", shown(command)))?;
    if !done.status.success() {
        bail!("{}: {}\n{}", shown(command), done.status, String::from_utf8_lossy(&done.stderr));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Waits until `until` holds, at most `limit`.
pub fn wait_until(
    what: &str,
    limit: Duration,
    mut until: impl FnMut() -> Result<bool>,
) -> Result<()> {
    let end = Instant::now() + limit;
    while !until()? {
        if Instant::now() > end {
            bail!("waited {limit:?} in vain for {what}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Anonymous resident memory of a process, bytes.
fn anon_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kb| kb * 1024)
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}
