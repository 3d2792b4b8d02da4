//! The control socket: how visitors ask the process that owns a data directory.
//!
//! The owner listens on a loopback port of the system's choice and writes the port and a
//! random token into `control.json`, readable by its user alone: so it works on every system
//! and with every path length. One question a connection, one JSON line each way.

use crate::ask::{Asked, Question, answer, cycle_row, cycled, find, job_state, status};
use crate::data_dir::DataDir;
use crate::filters::{returning, to_change};
use crate::follow::Followers;
use crate::live::{Live, Look};
use crate::member::SEAT;
use crate::run::{Instruction, SiteChange};
use crate::settings::EngineSettings;
use crate::sites::{changed_row, to_delay, to_exclude, to_forgive};
use argiope_model::{Job, JobId};
use argiope_store::Store;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc as blocking};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// No question is longer: a filter has its lists of domains in it.
const MAX_QUESTION: usize = 16 << 20;
/// No answer is longer.
const MAX_ANSWER: u64 = 256 << 20;
/// No answer takes longer.
const PATIENCE: Duration = Duration::from_secs(30);
/// A question must be there after this long, however slowly it is sent.
const ASKING: Duration = Duration::from_secs(2);
/// A commit takes no longer, where there is room for it.
const WRITING: Duration = Duration::from_secs(20);
/// Who changes a filter waits no longer for what comes back.
const LOOKED_FOR: Duration = Duration::from_secs(8);
/// Who wants to see what is being done waits no longer.
const LOOKING: Duration = Duration::from_millis(500);
/// What an asker hears who comes too late.
const ENDING: &str = "the crawl is ending, or an import runs: try again in a moment";
/// Who comes too late asks again after this long, whoever has the directory then.
const AGAIN: Duration = Duration::from_millis(50);
/// And waits no longer for that.
const AGAIN_FOR: Duration = Duration::from_secs(10);
/// What is heard by who wants it to end.
const ENDED: &str = "the crawl is ending already, or an import runs";
/// What an asker hears whose change holds and is not safe yet.
const UNWRITTEN: &str =
    "it holds from now on, but could not be written down yet; is the disk full?";
/// Askers answered at once; more are hung up on.
const MAX_ASKERS: usize = 16;
/// What an asker with another owner's token hears.
const WRONG_TOKEN: &str = "wrong token";

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
    port: u16,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
        self.over.store(true, Ordering::SeqCst);
        // A last visitor wakes the listener, so that it sees that it is over.
        if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
            let _ = self.thread.take().map(JoinHandle::join);
        }
    }
}

type Orders = mpsc::Sender<Instruction>;

/// Everything an owner answers from.
pub struct Owner {
    /// The directory.
    pub dir: Arc<DataDir>,
    /// Its store.
    pub store: Arc<dyn Store>,
    /// What follows it.
    pub followers: Followers,
    /// The status.
    pub live: Arc<Live>,
    /// How it crawls.
    pub settings: EngineSettings,
    /// Where changes go while a crawl runs; whoever only reads writes them down.
    pub orders: Option<Orders>,
    /// How it leaves, where it only keeps the directory open for others to look at.
    pub leave: Option<Leave>,
}

/// Called when somebody wants to work in the directory; whoever gave it lets the directory go soon after.
pub type Leave = Box<dyn Fn() + Send + Sync>;

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
    let over = Arc::new(AtomicBool::new(false));
    let ended = over.clone();
    let desk = Arc::new((token, owner));
    let thread = std::thread::Builder::new().name("control".to_owned()).spawn(move || {
        for stream in listener.incoming() {
            if ended.load(Ordering::SeqCst) {
                return;
            }
            let Ok(stream) = stream else {
                // Out of descriptors, most likely.
                std::thread::sleep(Duration::from_millis(20));
                continue;
            };
            // A thread each, so that a slow asker keeps nobody waiting.
            if Arc::strong_count(&desk) > MAX_ASKERS {
                continue;
            }
            let desk = desk.clone();
            let asker = std::thread::Builder::new().name("asker".to_owned());
            let served = asker.spawn(move || {
                if let Err(e) = serve(&stream, &desk.0, &desk.1) {
                    tracing::debug!(error = %e, "a control connection failed");
                }
            });
            if let Err(e) = served {
                tracing::debug!(error = %e, "a control connection was not served");
            }
        }
    })?;
    Ok(Listening { file, port: address.port, over, thread: Some(thread) })
}

/// Reads one line, whole within [`ASKING`].
fn read_question(mut stream: &TcpStream) -> io::Result<Vec<u8>> {
    let end = Instant::now() + ASKING;
    let mut line = Vec::new();
    let mut piece = [0; 16 << 10];
    while !line.ends_with(b"\n") && line.len() < MAX_QUESTION {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut piece)? {
            0 => break,
            n => line.extend_from_slice(&piece[..n]),
        }
    }
    Ok(line)
}

fn serve(stream: &TcpStream, token: &str, owner: &Owner) -> io::Result<()> {
    stream.set_write_timeout(Some(ASKING))?;
    let line = read_question(stream)?;
    if line.is_empty() {
        return Ok(());
    }
    let asked = match serde_json::from_slice::<Letter>(&line) {
        Ok(letter) if letter.token == token => match (&letter.question, &owner.orders) {
            (Question::SetJob(id, state), Some(orders)) => set_job(owner, orders, *id, state),
            (Question::Forgive { name }, Some(orders)) => forgive(owner, orders, name),
            (Question::Exclude { name }, Some(orders)) => exclude(owner, orders, name),
            (Question::Delay { name, delay_ms }, Some(orders)) => {
                set_delay(owner, orders, name, *delay_ms)
            }
            (Question::Cycle { target, every }, Some(orders)) => {
                cycle(owner, orders, target, *every)
            }
            (Question::SetFilter { job, text }, Some(orders)) => {
                change_filter(owner, orders, *job, text.as_deref())
            }
            (Question::Status, Some(orders)) => {
                status(&*owner.store, Some((&owner.live, look(orders))))
            }
            (Question::Status, None) if owner.leave.is_some() => status(&*owner.store, None),
            (Question::Status, None) => following(status(&*owner.store, None)),
            (Question::Stop, Some(orders)) => match orders.blocking_send(Instruction::Stop) {
                Ok(()) => Asked::Rows(Vec::new()),
                Err(_) => Asked::Sorry(ENDED.to_owned()),
            },
            (Question::Leave, None) if owner.leave.is_some() => {
                owner.leave.iter().for_each(|leave| leave());
                Asked::Rows(Vec::new())
            }
            (question, _) => {
                let Owner { dir, store, followers, live, settings, .. } = owner;
                let live = owner.leave.is_none().then_some(&**live);
                answer(question, dir, &**store, followers, settings, live)
            }
        },
        Ok(_) => Asked::Sorry(WRONG_TOKEN.to_owned()),
        Err(e) => Asked::Sorry(format!("not a question: {e}")),
    };
    let mut out = serde_json::to_vec(&asked)?;
    out.push(b'\n');
    (&mut { stream }).write_all(&out)
}

/// Has the crawl do something, and waits until that is written down.
fn ordered(
    orders: &Orders,
    order: impl FnOnce(blocking::SyncSender<()>) -> Instruction,
) -> Result<(), Asked> {
    let (done, told) = blocking::sync_channel(1);
    let sorry = |why: &str| Asked::Sorry(why.to_owned());
    orders.blocking_send(order(done)).map_err(|_| sorry(ENDING))?;
    told.recv_timeout(WRITING).map_err(|e| match e {
        blocking::RecvTimeoutError::Timeout => sorry(UNWRITTEN),
        blocking::RecvTimeoutError::Disconnected => sorry(ENDING),
    })
}

/// As [`ordered`], with what is answered then.
fn answered(
    orders: &Orders,
    rows: Vec<Value>,
    order: impl FnOnce(blocking::SyncSender<()>) -> Instruction,
) -> Asked {
    ordered(orders, order).map_or_else(|sorry| sorry, |()| Asked::Rows(rows))
}

fn set_job(owner: &Owner, orders: &Orders, id: u32, state: &str) -> Asked {
    let state = match job_state(&*owner.store, id, state) {
        Ok(state) => state,
        Err(why) => return Asked::Sorry(why),
    };
    answered(orders, Vec::new(), |done| Instruction::Job(JobId(id), state, Some(done)))
}

fn forgive(owner: &Owner, orders: &Orders, name: &str) -> Asked {
    match to_forgive(&*owner.store, owner.dir.suffixes(), name) {
        Ok(change) => change_sites(orders, name, change, |_| {}),
        Err(why) => Asked::Sorry(why),
    }
}

fn exclude(owner: &Owner, orders: &Orders, name: &str) -> Asked {
    match to_exclude(&*owner.store, owner.dir.suffixes(), name) {
        Ok((change, queued)) => {
            change_sites(orders, name, change, |row| row["queued"] = json!(queued))
        }
        Err(why) => Asked::Sorry(why),
    }
}

/// Sets the delay of a site; answers when that holds and is written down.
fn set_delay(owner: &Owner, orders: &Orders, name: &str, delay_ms: Option<u64>) -> Asked {
    let (name, row) = match to_delay(owner.dir.suffixes(), &*owner.store, name, delay_ms) {
        Ok(change) => change,
        Err(why) => return Asked::Sorry(why),
    };
    answered(orders, vec![row], |done| Instruction::Delay(name, delay_ms, done))
}

/// Sets how often a page is visited; answers when that is written down.
fn cycle(owner: &Owner, orders: &Orders, target: &str, every: Option<u64>) -> Asked {
    let found = match find(target, owner.dir.suffixes(), &*owner.store) {
        Ok(Some(found)) => found,
        Ok(None) => {
            return Asked::Unknown(format!("{target} is not known here; no job has met it"));
        }
        Err(e) => return Asked::Sorry(e.to_string()),
    };
    let row = cycle_row(&found.1.url, &cycled(&found.1, every));
    answered(orders, vec![row], |done| Instruction::Cycle(found.0, every, done))
}

/// Has a job obey another filter; answers when that holds and is written down, and what comes back is
/// queued, or when finding it takes longer than anybody waits.
fn change_filter(owner: &Owner, orders: &Orders, job: Option<u32>, text: Option<&str>) -> Asked {
    let (change, row, mut told) = match to_change(&*owner.store, job, text) {
        Ok(change) => change,
        Err(why) => return Asked::Sorry(why),
    };
    let job = Job { filter: change.text.clone(), ..row.job };
    let (filter, looking) = (change.filter.clone(), change.looking.clone());
    if let Err(sorry) = ordered(orders, |done| Instruction::Filter(change, done)) {
        return sorry;
    }
    let (store, orders) = (owner.store.clone(), orders.clone());
    let (found, number) = blocking::sync_channel(1);
    let finder = std::thread::Builder::new().name("again".to_owned()).spawn(move || {
        let _looking = looking;
        let again = |urls| Ok(orders.blocking_send(Instruction::Again(job.id, urls)).is_ok());
        let _ = found.send(returning(&*store, &job, filter.as_deref(), again));
    });
    if let Err(e) = finder {
        return Asked::Sorry(e.to_string());
    }
    told["urls"] = match number.recv_timeout(LOOKED_FOR) {
        Ok(Ok(number)) => json!(number),
        Ok(Err(e)) => return Asked::Sorry(e.to_string()),
        Err(_) => Value::Null,
    };
    Asked::Rows(vec![told])
}

/// Has sites excluded or forgiven; answers when that holds and is written down.
fn change_sites(
    orders: &Orders,
    name: &str,
    change: SiteChange,
    more: impl FnOnce(&mut Value),
) -> Asked {
    let mut row = changed_row(name, &change);
    more(&mut row);
    answered(orders, vec![row], |done| {
        Instruction::Sites(SiteChange { done: Some(done), ..change })
    })
}

/// How a fleet stands, by one who only follows it.
fn following(mut asked: Asked) -> Asked {
    if let Asked::Rows(rows) = &mut asked {
        rows.iter_mut().for_each(|row| row["state"] = json!("following"));
    }
    asked
}

/// What the crawl is doing right now; nothing where it has no time to say.
fn look(orders: &Orders) -> Look {
    let (to, seen) = blocking::sync_channel(1);
    match orders.try_send(Instruction::Look(to)) {
        Ok(()) => seen.recv_timeout(LOOKING).unwrap_or_default(),
        Err(_) => Look::default(),
    }
}

/// Asks the owner of a directory; `None` when there is none.
///
/// A change that comes too late for a crawl that is ending waits until that has ended.
pub fn ask_owner(data: &Path, question: &Question) -> Result<Option<Asked>, ControlError> {
    let begun = Instant::now();
    loop {
        match ask_once(data, question)? {
            Some(Asked::Sorry(why)) if why == ENDING && begun.elapsed() < AGAIN_FOR => {
                std::thread::sleep(AGAIN);
            }
            asked => return Ok(asked),
        }
    }
}

fn ask_once(data: &Path, question: &Question) -> Result<Option<Asked>, ControlError> {
    let Ok(text) = fs::read_to_string(control_file(data)) else { return Ok(None) };
    let Ok(address) = serde_json::from_str::<Address>(&text) else { return Ok(None) };
    // A file left by a killed owner leads nowhere, or to a stranger.
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, address.port)) else {
        return Ok(None);
    };
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let letter = Letter { token: address.token, question: question.clone() };
    let mut out = serde_json::to_vec(&letter)?;
    out.push(b'\n');
    let mut line = Vec::new();
    let told = stream
        .write_all(&out)
        .and_then(|()| BufReader::new((&stream).take(MAX_ANSWER)).read_until(b'\n', &mut line));
    match told {
        // It ended while it was asked: there is no owner any more.
        Err(e)
            if matches!(e.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) =>
        {
            return Ok(None);
        }
        told => told?,
    };
    // A stranger at a port left behind: whether there is an owner, the lock will tell.
    match serde_json::from_slice(&line) {
        Ok(Asked::Sorry(why)) if why == WRONG_TOKEN => Ok(None),
        Ok(asked) => Ok(Some(asked)),
        Err(_) => Ok(None),
    }
}

/// Asks one of the workers that keep their pages in a root, whichever answers first; `None` when none
/// works there. Each knows the whole fleet.
pub fn ask_worker(root: &Path, question: &Question) -> Result<Option<Asked>, ControlError> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    for seat in entries.map(|entry| entry.path()).filter(|path| path.join(SEAT).exists()) {
        if let Some(asked) = ask_owner(&seat, question)? {
            return Ok(Some(asked));
        }
    }
    Ok(None)
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
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let _ = fs::remove_file(path);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

#[cfg(not(unix))]
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)
}
