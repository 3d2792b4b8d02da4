//! Who links to each node, in a file that is read from start to end.
//!
//! Form: of each node that is linked to its number, how many link there and the steps between
//! their numbers, all of seven bits a byte. The pages of a site stand together, so that a link
//! takes one to three bytes. The file has no name: it is gone with whoever made it.

use crate::varint;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes read at once.
const CHUNK: usize = 256 << 10;

/// Who links to whom, as often as it is asked for.
pub trait InLists {
    /// Shows every node that is linked to and those that link there, each once, their numbers
    /// rising. Which node comes first does not matter, but it is the same each time.
    fn each(&self, take: &mut dyn FnMut(u32, &[u32])) -> io::Result<()>;
}

/// Writes the lists.
pub struct ListWriter {
    file: File,
    bytes: Vec<u8>,
    written: u64,
    links: u64,
}

/// The lists, written.
pub struct Lists {
    file: File,
    length: u64,
    links: u64,
    calm: bool,
}

impl ListWriter {
    /// Begins in a directory; nothing is left there whatever happens later.
    pub fn new(dir: &Path) -> io::Result<Self> {
        let path = dir.join("links-to-rank.tmp");
        let file =
            File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        fs::remove_file(&path)?;
        Ok(ListWriter { file, bytes: Vec::with_capacity(CHUNK), written: 0, links: 0 })
    }

    /// Adds the list of a node; the numbers rise.
    pub fn add(&mut self, node: u32, sources: &[u32]) -> io::Result<()> {
        varint::put(&mut self.bytes, u64::from(node));
        varint::put(&mut self.bytes, sources.len() as u64);
        let mut last = 0;
        for source in sources {
            varint::put(&mut self.bytes, u64::from(source - last));
            last = *source;
        }
        self.links += sources.len() as u64;
        if self.bytes.len() >= CHUNK { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.write_all(&self.bytes)?;
        self.written += self.bytes.len() as u64;
        self.bytes.clear();
        Ok(())
    }

    /// All is written. Read calmly, half of the time is left to others.
    pub fn finish(mut self, calm: bool) -> io::Result<Lists> {
        self.write()?;
        Ok(Lists { file: self.file, length: self.written, links: self.links, calm })
    }
}

impl Lists {
    /// How many links there are.
    pub fn links(&self) -> u64 {
        self.links
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> u64 {
        self.length
    }
}

impl InLists for Lists {
    fn each(&self, take: &mut dyn FnMut(u32, &[u32])) -> io::Result<()> {
        let mut breath = Breath::new(self.calm);
        let mut bytes: Vec<u8> = Vec::new();
        let mut sources: Vec<u32> = Vec::new();
        // Where the next list begins, and what was read, from there on.
        let (mut at, mut read) = (0, 0u64);
        loop {
            let begin = at;
            if read_list(&bytes, &mut at, &mut sources) {
                take(sources[0], &sources[1..]);
                continue;
            }
            at = begin;
            if read >= self.length {
                let whole = at == bytes.len();
                return if whole { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
            // What is left of the last piece goes before the next.
            bytes.drain(..at);
            at = 0;
            let more = (self.length - read).min(CHUNK.max(bytes.len()) as u64) as usize;
            let begin = bytes.len();
            bytes.resize(begin + more, 0);
            self.file.read_exact_at(&mut bytes[begin..], read)?;
            read += more as u64;
            breath.rest();
        }
    }
}

/// Reads the list at a place: the node, then its sources. Says whether the whole of it was there.
fn read_list(bytes: &[u8], at: &mut usize, out: &mut Vec<u32>) -> bool {
    out.clear();
    let Some(node) = varint::get(bytes, at) else { return false };
    let Some(count) = varint::get(bytes, at) else { return false };
    // Every number takes a byte at least.
    if bytes.len() - *at < count as usize {
        return false;
    }
    out.push(node as u32);
    let mut last = 0u32;
    for _ in 0..count {
        let Some(step) = varint::get(bytes, at) else { return false };
        last = last.wrapping_add(step as u32);
        out.push(last);
    }
    true
}

/// Leaves half of the time to others, where that is wanted.
pub(crate) struct Breath {
    since: Option<Instant>,
}

impl Breath {
    pub fn new(calm: bool) -> Self {
        Breath { since: calm.then(Instant::now) }
    }

    /// Rests as long as was worked since the last rest.
    pub fn rest(&mut self) {
        if let Some(since) = &mut self.since {
            std::thread::sleep(since.elapsed().min(Duration::from_secs(1)));
            *since = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_as_they_were_however_long() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = ListWriter::new(dir.path()).unwrap();
        let mut wanted = Vec::new();
        for node in 0..3_000u32 {
            let length = if node == 1_500 { 400_000 } else { node % 50 + 1 };
            let sources: Vec<u32> = (0..length).map(|n| n * (node % 7 + 1) + node).collect();
            writer.add(node * 3, &sources).unwrap();
            wanted.push((node * 3, sources));
        }
        let lists = writer.finish(false).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
        for _ in 0..2 {
            let mut found = Vec::new();
            lists.each(&mut |node, sources| found.push((node, sources.to_vec()))).unwrap();
            assert!(found == wanted);
        }
        assert_eq!(lists.links(), wanted.iter().map(|(_, s)| s.len() as u64).sum::<u64>());
        assert!(lists.bytes() < 5 * lists.links());
    }

    #[test]
    fn no_lists_are_no_lists() {
        let dir = tempfile::tempdir().unwrap();
        let lists = ListWriter::new(dir.path()).unwrap().finish(true).unwrap();
        lists.each(&mut |_, _| panic!("there is none")).unwrap();
    }
}
