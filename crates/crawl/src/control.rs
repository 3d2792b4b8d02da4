//! The control socket: how visitors ask the process that owns a data directory.
//!
//! The owner listens on a loopback port of the system's choice and writes the port and a
//! random token into `control.json`, readable by its user alone: so it works on every system
//! and with every path length. One question a connection, one JSON line each way.

use crate::ask::{Asked, Question, answer};
use crate::data_dir::DataDir;
use crate::live::Live;
use argiope_model::{JobId, JobState};
use argiope_store::Store;
use serde::{Deserialize, Serialize};
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// No question is longer.
const MAX_QUESTION: u64 = 64 << 10;
/// No answer takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why an owner could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// It did not answer.
    #[error("the crawl that owns this directory does not answer")]
    Io(#[from] io::Error),
    /// It answered something else.
    #[error("the crawl that owns this directory gave an unreadable answer; is it another version?")]
    Garbled(#[from] serde_json::Error),
}

#[derive(Serialize, Deserialize)]
struct Address {
    port: u16,
    token: String,
    pid: u32,
}

#[derive(Serialize, Deserialize)]
struct Letter {
    token: String,
    question: Question,
}

/// Listens until dropped.
pub struct Listening {
    file: PathBuf,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// Everything an owner answers from.
pub struct Owner {
    /// The directory.
    pub dir: Arc<DataDir>,
    /// Its store.
    pub store: Arc<dyn Store>,
    /// The status.
    pub live: Arc<Live>,
    /// Where changes of jobs go.
    pub orders: mpsc::Sender<(JobId, JobState)>,
}

/// Starts to listen for the owner of a directory.
pub fn listen(owner: Owner) -> io::Result<Listening> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let token = token();
    let address = Address {
        port: listener.local_addr()?.port(),
        token: token.clone(),
        pid: std::process::id(),
    };
    let file = control_file(owner.dir.path());
    let part = file.with_extension("part");
    write_private(&part, &serde_json::to_vec(&address)?)?;
    fs::rename(&part, &file)?;
    std::thread::Builder::new().name("control".to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            // One at a time: answers are short, and a slow asker is cut off.
            if let Err(e) = serve(&stream, &token, &owner) {
                tracing::debug!(error = %e, "a control connection failed");
            }
        }
    })?;
    Ok(Listening { file })
}

fn serve(stream: &TcpStream, token: &str, owner: &Owner) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_QUESTION)).read_line(&mut line)?;
    let asked = match serde_json::from_str::<Letter>(&line) {
        Ok(letter) if letter.token == token => match &letter.question {
            Question::SetJob(id, state) => set_job(owner, *id, state),
            question => answer(question, &owner.dir, &*owner.store, Some(&owner.live)),
        },
        Ok(_) => Asked::Sorry("wrong token".to_owned()),
        Err(e) => Asked::Sorry(format!("not a question: {e}")),
    };
    let mut out = serde_json::to_vec(&asked)?;
    out.push(b'\n');
    (&mut { stream }).write_all(&out)
}

fn set_job(owner: &Owner, id: u32, state: &str) -> Asked {
    let state = match state {
        "open" => JobState::Open,
        "paused" => JobState::Paused,
        "dropped" => JobState::Dropped,
        other => return Asked::Sorry(format!("a job cannot be set to {other}")),
    };
    match owner.orders.blocking_send((JobId(id), state)) {
        Ok(()) => Asked::Rows(Vec::new()),
        Err(_) => Asked::Sorry("the crawl is ending".to_owned()),
    }
}

/// Asks the owner of a directory; `None` when there is none.
pub fn ask_owner(data: &Path, question: &Question) -> Result<Option<Asked>, ControlError> {
    let Ok(text) = fs::read_to_string(control_file(data)) else { return Ok(None) };
    let Ok(address) = serde_json::from_str::<Address>(&text) else { return Ok(None) };
    // A file left by a killed owner leads nowhere, or to a stranger that knows no token.
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, address.port)) else {
        return Ok(None);
    };
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let letter = Letter { token: address.token, question: question.clone() };
    let mut out = serde_json::to_vec(&letter)?;
    out.push(b'\n');
    stream.write_all(&out)?;
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
}

fn control_file(data: &Path) -> PathBuf {
    data.join("control.json")
}

/// 128 random bits from the standard library's seeded hasher.
fn token() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

#[cfg(unix)]
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let _ = fs::remove_file(path);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

#[cfg(not(unix))]
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)
}
