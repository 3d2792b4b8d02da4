//! WACZ: an archive with its index and its list of pages in one file, for replay in a browser.
//!
//! * What this is: version 1.1.1 of the format. A zip of stored entries: `archive/*.warc.gz`,
//!   `indexes/index.cdx.gz` (blocks of sorted CDXJ lines, one gzip member each) with `index.idx`
//!   (the first line of each block and where it lies), `pages/pages.jsonl`, `datapackage.json` with
//!   the SHA-256 of each of them, and `datapackage-digest.json` with that of the former.
//! * Its place: `crawl` says which records and pages go in; this knows the format.
//! * Invariant: the file appears under its name when it is whole, by renaming.
//! * What is not here: signatures, reading.

use crate::zip::ZipWriter;
use crate::{ArchiveError, Compression, body_digest};
use argiope_model::Time;
use data_encoding::HEXLOWER;
use serde::Serialize;
use serde_json::json;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// Lines in a block of the index: readers fetch a block to answer for one URL.
const BLOCK_LINES: usize = 300;
const VERSION: &str = "1.1.1";

/// What a WACZ says of itself.
#[derive(Clone, Debug, Default)]
pub struct WaczInfo {
    /// Name and version of the program.
    pub software: String,
    /// A title for people.
    pub title: String,
    /// When it is made.
    pub created: Time,
    /// The page to show first: its URL and when it was captured.
    pub main_page: Option<(String, Time)>,
}

/// One line of the list of pages.
#[derive(Clone, Debug, Serialize)]
pub struct WaczPage<'a> {
    /// Tells pages of this file apart.
    pub id: String,
    /// The URL.
    pub url: &'a str,
    /// When it was captured, as WARC writes it.
    pub ts: String,
    /// Its title.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub title: &'a str,
    /// Its text, where it is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
}

#[derive(Serialize)]
struct Resource {
    name: String,
    path: String,
    hash: String,
    bytes: u64,
}

/// Writes a WACZ file.
pub struct WaczWriter {
    zip: ZipWriter<File>,
    info: WaczInfo,
    resources: Vec<Resource>,
    out: PathBuf,
    part: PathBuf,
}

impl WaczWriter {
    /// Begins the file that will be `out`; until it is finished it lies beside it as `.part`.
    pub fn create(out: &Path, info: WaczInfo) -> Result<Self, ArchiveError> {
        let mut part = out.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).map_err(ArchiveError::io("create", &part))?;
        let (zip, resources) = (ZipWriter::new(file), Vec::new());
        Ok(WaczWriter { zip, info, resources, out: out.to_owned(), part })
    }

    /// Adds a WARC file of exactly `len` bytes, gzipped record by record.
    pub fn add_warc(
        &mut self,
        name: &str,
        source: &mut dyn Read,
        len: u64,
    ) -> Result<(), ArchiveError> {
        self.add("archive", name, source, len)
    }

    /// Adds the index that was gathered.
    pub fn add_index(&mut self, index: WaczIndex) -> Result<(), ArchiveError> {
        let (blocks, list) = index.finish()?;
        self.add_file("indexes", "index.cdx.gz", &blocks)?;
        self.add_file("indexes", "index.idx", &list)
    }

    /// Adds the list of pages that was gathered.
    pub fn add_pages(&mut self, pages: WaczPages) -> Result<(), ArchiveError> {
        let path = pages.file.finish()?;
        self.add_file("pages", "pages.jsonl", &path)
    }

    /// Writes what describes the rest and lets the file appear; returns its length.
    pub fn finish(mut self) -> Result<u64, ArchiveError> {
        let package = self.package();
        let digest = json!({ "path": "datapackage.json", "hash": sha256(&body_digest(&package)) });
        let digest = format!("{digest:#}\n").into_bytes();
        for (name, bytes) in [("datapackage.json", package), ("datapackage-digest.json", digest)] {
            let added = self.zip.add(name, &mut &bytes[..], bytes.len() as u64, self.info.created);
            added.map_err(ArchiveError::io("write", &self.part))?;
        }
        let WaczWriter { zip, out, part, .. } = self;
        let file = zip.finish().map_err(ArchiveError::io("write", &part))?;
        let length = file
            .sync_all()
            .and_then(|()| file.metadata())
            .map_err(ArchiveError::io("sync", &part))?
            .len();
        fs::rename(&part, &out).map_err(ArchiveError::io("rename", &part))?;
        Ok(length)
    }

    /// Gives it up and removes what was written.
    pub fn abandon(self) {
        let _ = fs::remove_file(&self.part);
    }

    fn add_file(&mut self, folder: &str, name: &str, path: &Path) -> Result<(), ArchiveError> {
        let file = File::open(path).map_err(ArchiveError::io("open", path))?;
        let len = file.metadata().map_err(ArchiveError::io("look at", path))?.len();
        self.add(folder, name, &mut BufReader::new(file), len)
    }

    fn add(
        &mut self,
        folder: &str,
        name: &str,
        source: &mut dyn Read,
        len: u64,
    ) -> Result<(), ArchiveError> {
        let path = format!("{folder}/{name}");
        let digest = self
            .zip
            .add(&path, source, len, self.info.created)
            .map_err(ArchiveError::io("write", &self.part))?;
        let hash = sha256(&digest);
        self.resources.push(Resource { name: name.to_owned(), path, hash, bytes: len });
        Ok(())
    }

    fn package(&self) -> Vec<u8> {
        let created = self.info.created.iso_seconds();
        let mut package = json!({
            "profile": "data-package",
            "wacz_version": VERSION,
            "title": self.info.title,
            "software": self.info.software,
            "created": created,
            "modified": created,
            "resources": self.resources,
        });
        if let Some((url, time)) = &self.info.main_page {
            package["mainPageUrl"] = json!(url);
            package["mainPageDate"] = json!(time.iso_seconds());
        }
        format!("{package:#}\n").into_bytes()
    }
}

/// The index of a WACZ while it is gathered, in two files of a scratch directory.
pub struct WaczIndex {
    blocks: Scratch,
    list: Scratch,
    block: String,
    lines: usize,
    first: String,
    at: u64,
}

impl WaczIndex {
    /// Begins an index in `scratch`, which must exist.
    pub fn create(scratch: &Path) -> Result<Self, ArchiveError> {
        let mut list = Scratch::create(scratch.join("index.idx"))?;
        let meta = json!({ "format": "cdxj-gzip-1.0", "filename": "index.cdx.gz" });
        list.line(&format!("!meta 0 {meta}"))?;
        Ok(WaczIndex {
            blocks: Scratch::create(scratch.join("index.cdx.gz"))?,
            list,
            block: String::new(),
            lines: 0,
            first: String::new(),
            at: 0,
        })
    }

    /// Adds a line as [`crate::cdxj_line`] makes it; lines come sorted.
    pub fn push(&mut self, line: &str) -> Result<(), ArchiveError> {
        if self.lines == 0 {
            let key = line.find('{').map_or(line, |at| &line[..at]);
            self.first = key.trim_end().to_owned();
        }
        self.block.push_str(line);
        self.block.push('\n');
        self.lines += 1;
        if self.lines == BLOCK_LINES { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<(), ArchiveError> {
        let plain = self.block.as_bytes();
        let packed =
            crate::prepared::gzip_member(Compression::Level1, |out| out.extend_from_slice(plain));
        self.blocks.write(&packed)?;
        let place = json!({
            "offset": self.at,
            "length": packed.len(),
            "digest": sha256(&body_digest(&packed)),
            "filename": "index.cdx.gz",
        });
        self.list.line(&format!("{} {place}", self.first))?;
        self.at += packed.len() as u64;
        self.block.clear();
        self.lines = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<(PathBuf, PathBuf), ArchiveError> {
        if self.lines > 0 {
            self.end_block()?;
        }
        Ok((self.blocks.finish()?, self.list.finish()?))
    }
}

/// The list of pages of a WACZ while it is gathered.
pub struct WaczPages {
    file: Scratch,
}

impl WaczPages {
    /// Begins a list in `scratch`, which must exist; `has_text` says whether texts are in it.
    pub fn create(scratch: &Path, has_text: bool) -> Result<Self, ArchiveError> {
        let mut file = Scratch::create(scratch.join("pages.jsonl"))?;
        let head = json!({
            "format": "json-pages-1.0",
            "id": "pages",
            "title": "All Pages",
            "hasText": has_text,
        });
        file.line(&head.to_string())?;
        Ok(WaczPages { file })
    }

    /// Adds a page.
    pub fn push(&mut self, page: &WaczPage<'_>) -> Result<(), ArchiveError> {
        self.file.line(&serde_json::to_string(page).expect("strings are JSON"))
    }
}

/// A file that is written once and then read.
struct Scratch {
    path: PathBuf,
    file: io::BufWriter<File>,
}

impl Scratch {
    fn create(path: PathBuf) -> Result<Self, ArchiveError> {
        let file = File::create(&path).map_err(ArchiveError::io("create", &path))?;
        Ok(Scratch { path, file: io::BufWriter::with_capacity(128 << 10, file) })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.file.write_all(bytes).map_err(ArchiveError::io("write", &self.path))
    }

    fn line(&mut self, line: &str) -> Result<(), ArchiveError> {
        self.write(line.as_bytes())?;
        self.write(b"\n")
    }

    fn finish(mut self) -> Result<PathBuf, ArchiveError> {
        self.file.flush().map_err(ArchiveError::io("write", &self.path))?;
        Ok(self.path)
    }
}

fn sha256(digest: &[u8; 32]) -> String {
    format!("sha256:{}", HEXLOWER.encode(digest))
}
