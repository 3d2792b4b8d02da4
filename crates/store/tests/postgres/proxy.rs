//! A line that can be cut: a Unix socket that passes bytes on to the server's.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

type Lines = Arc<Mutex<State>>;

#[derive(Default)]
struct State {
    open: Vec<UnixStream>,
    /// Cut when the server has answered this, before the client hears of it.
    cut_after: Option<&'static [u8]>,
    /// Nobody gets through.
    down: bool,
    /// How many lines there were when they fell silent.
    silent: usize,
    lines: usize,
    cuts: usize,
}

/// A proxy in a directory of its own.
pub struct Proxy {
    dir: tempfile::TempDir,
    lines: Lines,
}

impl Proxy {
    pub fn before(server: &Path) -> Proxy {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join(".s.PGSQL.5432")).unwrap();
        let server = server.join(".s.PGSQL.5432");
        let lines = Lines::default();
        let shared = lines.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = UnixStream::connect(&server) else { continue };
                let mut state = shared.lock().unwrap();
                if state.down {
                    continue;
                }
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                state.open.extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                state.lines += 1;
                let number = state.lines;
                let (there, back) = (shared.clone(), shared.clone());
                thread::spawn(move || pass(from, to, &there, number, false));
                thread::spawn(move || pass(server, client, &back, number, true));
            }
        });
        Proxy { dir, lines }
    }

    /// The URL of a database behind it.
    pub fn url(&self, database: &str) -> String {
        format!(
            "host={} user=postgres dbname={database} sslmode=disable",
            self.dir.path().display()
        )
    }

    /// Cuts every line that is open.
    pub fn cut(&self) {
        let mut state = self.lines.lock().unwrap();
        cut(&mut state);
    }

    /// Cuts a line once, when the server answers this: what it did is done, and nobody hears.
    pub fn cut_after(&self, answer: &'static [u8]) {
        self.lines.lock().unwrap().cut_after = Some(answer);
    }

    pub fn set_down(&self, down: bool) {
        let mut state = self.lines.lock().unwrap();
        state.down = down;
        if down {
            cut(&mut state);
        }
    }

    /// Passes nothing on any more over the lines that are open, and leaves them open.
    pub fn fall_silent(&self) {
        let mut state = self.lines.lock().unwrap();
        state.silent = state.lines;
    }

    /// How often a line was cut after an answer.
    pub fn cuts(&self) -> usize {
        self.lines.lock().unwrap().cuts
    }
}

fn cut(state: &mut State) {
    for line in state.open.drain(..) {
        let _ = line.shutdown(std::net::Shutdown::Both);
    }
}

fn pass(mut from: UnixStream, mut to: UnixStream, lines: &Lines, number: usize, watch: bool) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        {
            let mut state = lines.lock().unwrap();
            if number <= state.silent {
                continue;
            }
            let hit = |answer: &&[u8]| bytes[..n].windows(answer.len()).any(|w| w == *answer);
            if watch && state.cut_after.as_ref().is_some_and(hit) {
                (state.cut_after, state.cuts) = (None, state.cuts + 1);
                cut(&mut state);
                return;
            }
        }
        if to.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}
