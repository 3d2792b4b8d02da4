//! Records and texts that were removed: what lies in their places.
//!
//! * What this is: a removed record becomes a small `metadata` record that says so, in a gzip
//!   member of exactly the length of the old one; a removed text becomes a skippable zstd frame of
//!   its length. No other offset moves, and every reader walks on as before.
//! * Its place: `crawl` calls it when pages are forgotten, as the owner of the directory.
//! * Invariants: what is written depends on the place and the time alone, so doing it twice does
//!   it once; when [`blank_records`] and [`blank_texts`] return, it is on the disk.
//! * The member is padded with zeros inside the record's block, in stored deflate blocks: plain
//!   gzip, a plain record. Zeros need no room: where the file system knows holes, the pages of the
//!   file that hold nothing else are given back to it. Padding in the gzip header would be shorter to write, but some readers
//!   take only short headers. Where a member is too short even for the bare record in stored form,
//!   it is packed and padded in the header, and where it is shorter still it is an empty member.
//! * What is not here: which records go, and who still needs their payloads (`crawl`).

use crate::prepared::gzip_member_small;
use crate::record::{line, record_id};
use crate::segment_files::{text_segment_name, warc_segment_name};
use crate::{ArchiveError, WarcHeaders};
use argiope_model::{Location, Time};
use flate2::Crc;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// Header and checksum of a gzip member.
const AROUND: u64 = 18;
/// The head of a stored block, and the most it holds.
const BLOCK_HEAD: u64 = 5;
const BLOCK: u64 = 65_535;
/// An empty member: header, an empty deflate stream, checksum.
const EMPTY_MEMBER: u64 = AROUND + 2;
/// What the block of a tombstone begins with.
const SAYS: &str = "Removed on request.\n";
const END: &[u8] = b"\r\n\r\n";
const SKIPPABLE: [u8; 4] = 0x184d_2a50_u32.to_le_bytes();
/// The head of a skippable frame.
const FRAME_HEAD: u64 = 8;

/// Whether a record is what is left of one that was removed.
pub fn is_tombstone(headers: &WarcHeaders) -> bool {
    // No other record of ours is of this type.
    headers.record_type() == "metadata" && headers.target_uri().is_none()
}

/// Puts tombstones into the places of records of the archive in `dir`, and syncs them.
pub fn blank_records(dir: &Path, places: &[Location], time: Time) -> Result<(), ArchiveError> {
    each_file(places, |segment, places| {
        let path = dir.join(warc_segment_name(segment));
        over(&path, places, EMPTY_MEMBER, |out, at| {
            let name = format!("{} {}", warc_segment_name(segment), at.offset);
            member(out, at.length, time, &name)
        })
    })
}

/// Empties the places of texts of the text store in `dir`, and syncs them.
pub fn blank_texts(dir: &Path, places: &[Location]) -> Result<(), ArchiveError> {
    each_file(places, |segment, places| {
        let path = dir.join(text_segment_name(segment));
        over(&path, places, FRAME_HEAD, |out, at| {
            // A text is shorter than what a frame can hold.
            let length = u32::try_from(at.length - FRAME_HEAD).unwrap_or(u32::MAX);
            out.write_all(&SKIPPABLE)?;
            out.write_all(&length.to_le_bytes())?;
            fill(out, 0, at.length - FRAME_HEAD, &mut Crc::new())
        })
    })
}

/// Places that follow each other without a gap, as one, up to a length: what lies there is one
/// tombstone then, and most of it one hole.
pub fn merge_places(places: &[Location]) -> Vec<Location> {
    let mut places = places.to_vec();
    places.sort_unstable();
    places.dedup();
    let mut out: Vec<Location> = Vec::new();
    for at in places {
        match out.last_mut() {
            Some(last)
                if last.segment == at.segment
                    && last.offset + last.length == at.offset
                    && last.length + at.length <= MOST_MERGED =>
            {
                last.length += at.length;
            }
            _ => out.push(at),
        }
    }
    out
}

/// Calls `each` with the places of one segment at a time, in their order.
fn each_file(
    places: &[Location],
    mut each: impl FnMut(u32, &[Location]) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    let mut places = places.to_vec();
    places.sort_unstable();
    places.dedup();
    places.chunk_by(|a, b| a.segment == b.segment).try_for_each(|of| each(of[0].segment, of))
}

/// Writes over places of a file, whatever lies there: damage must not keep a page from going.
/// All places are looked at before the first is written; `least` is the least length of one.
fn over(
    path: &Path,
    places: &[Location],
    least: u64,
    mut write: impl FnMut(&mut BufWriter<&File>, Location) -> std::io::Result<()>,
) -> Result<(), ArchiveError> {
    untie(path).map_err(ArchiveError::io("copy", path))?;
    let file = File::options().write(true).open(path);
    let file = file.map_err(ArchiveError::io("open", path))?;
    let length = file.metadata().map_err(ArchiveError::io("read", path))?.len();
    for at in places {
        let within = at.offset.checked_add(at.length).is_some_and(|end| end <= length);
        if !within || at.length < least {
            let reason = "what is to be removed does not fit into the file".to_owned();
            return Err(ArchiveError::Damaged { path: path.to_owned(), offset: at.offset, reason });
        }
    }
    let mut out = BufWriter::with_capacity(64 << 10, &file);
    for at in places {
        let done = out.seek(SeekFrom::Start(at.offset)).and_then(|_| write(&mut out, *at));
        done.map_err(ArchiveError::io("write", path))?;
    }
    out.flush().and_then(|()| file.sync_all()).map_err(ArchiveError::io("sync", path))?;
    drop(out);
    // The zeros are there; that they need room is no failure.
    let _ = give_back(path, places);
    Ok(())
}

/// A tombstone that is made of several is not longer: somebody may read it at once.
const MOST_MERGED: u64 = 16 << 20;
/// What a file system gives away at once.
const PAGE: u64 = 4096;

/// Makes holes of the pages of these places that are all zeros. What is read there stays the same.
#[cfg(target_os = "linux")]
fn give_back(path: &Path, places: &[Location]) -> std::io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use std::os::unix::fs::FileExt;
    let file = File::options().read(true).write(true).open(path)?;
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let mut page = [0; PAGE as usize];
    for at in places {
        let (mut offset, end) = (at.offset.next_multiple_of(PAGE), at.offset + at.length);
        let mut from = offset;
        while offset + PAGE <= end {
            file.read_exact_at(&mut page, offset)?;
            offset += PAGE;
            if page.iter().any(|b| *b != 0) {
                if offset - PAGE > from {
                    fallocate(&file, hole, from, offset - PAGE - from)?;
                }
                from = offset;
            }
        }
        if offset > from {
            fallocate(&file, hole, from, offset - from)?;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn give_back(_: &Path, _: &[Location]) -> std::io::Result<()> {
    Ok(())
}

/// Gives a file bytes of its own where it shares them with a copy of the crawl: what is removed here
/// is still known there.
#[cfg(unix)]
fn untie(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let own = path.with_extension("part");
    // What a crash has left of doing this holds what is to go.
    if own.exists() {
        std::fs::remove_file(&own)?;
    }
    if std::fs::metadata(path)?.nlink() < 2 {
        return Ok(());
    }
    std::fs::copy(path, &own)?;
    File::open(&own)?.sync_all()?;
    std::fs::rename(&own, path)?;
    match path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        Some(dir) => File::open(dir)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
fn untie(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Writes a gzip member of `length` bytes that holds a tombstone.
fn member(out: &mut impl Write, length: u64, time: Time, name: &str) -> std::io::Result<()> {
    if let Some((blocks, plain)) = blocks_of(length)
        && let Some((start, padding)) = record_of(plain, time, name)
    {
        return stored(out, blocks, plain, &start, padding);
    }
    let mut bare = head(time, name, 0, "");
    bare.extend_from_slice(END);
    let packed = Some(gzip_member_small(&bare)).filter(|packed| packed.len() as u64 <= length);
    let packed = packed.unwrap_or_else(|| {
        let mut empty = GZIP_HEAD.to_vec();
        empty.extend_from_slice(&[3, 0]);
        empty.extend_from_slice(&[0; 8]);
        empty
    });
    out.write_all(&padded(&packed, length))
}

/// How many stored blocks a member of this length has, and what they hold together.
fn blocks_of(length: u64) -> Option<(u64, u64)> {
    let inside = length.checked_sub(AROUND)?;
    let blocks = inside.div_ceil(BLOCK_HEAD + BLOCK);
    Some((blocks, inside.checked_sub(blocks * BLOCK_HEAD)?))
}

/// The beginning of a record of exactly `plain` bytes, and the length of its padding.
fn record_of(plain: u64, time: Time, name: &str) -> Option<(Vec<u8>, u64)> {
    // Where the number of digits changes there is a length that only one more space makes.
    for space in ["", " "] {
        for digits in 1..=20 {
            let sample = head(time, name, 0, space).len() as u64 - 1 + digits;
            let block = plain.checked_sub(sample + END.len() as u64)?;
            let padding = block.checked_sub(SAYS.len() as u64)?;
            if block.to_string().len() as u64 == digits {
                let mut start = head(time, name, block, space);
                start.extend_from_slice(SAYS.as_bytes());
                return Some((start, padding));
            }
        }
    }
    None
}

fn head(time: Time, name: &str, block: u64, space: &str) -> Vec<u8> {
    let mut out = b"WARC/1.1\r\n".to_vec();
    line(&mut out, "WARC-Type", "metadata");
    line(&mut out, "WARC-Record-ID", &record_id("metadata", name, time, &[]));
    line(&mut out, "WARC-Date", &time.iso_seconds());
    line(&mut out, "Content-Type", "application/octet-stream");
    line(&mut out, "Content-Length", &format!("{space}{block}"));
    out.extend_from_slice(b"\r\n");
    out
}

/// Writes `start`, so many zeros and the end of the record as stored blocks.
fn stored(
    out: &mut impl Write,
    blocks: u64,
    plain: u64,
    start: &[u8],
    padding: u64,
) -> std::io::Result<()> {
    out.write_all(&GZIP_HEAD)?;
    let mut crc = Crc::new();
    // What a record begins and ends with is short: the first block takes in the one and the last
    // the other, as every block but those is full of zeros.
    let (mut at, mut left) = (0, plain);
    for n in (0..blocks).rev() {
        let size = left.min(BLOCK);
        let len = u16::try_from(size).unwrap_or(u16::MAX);
        out.write_all(&[u8::from(n == 0)])?;
        out.write_all(&len.to_le_bytes())?;
        out.write_all(&(!len).to_le_bytes())?;
        piece(out, at, at + size, start, padding, &mut crc)?;
        at += size;
        left -= size;
    }
    out.write_all(&crc.sum().to_le_bytes())?;
    out.write_all(&crc.amount().to_le_bytes())
}

/// The bytes from `from` to `to` of: `start`, `padding` zeros, the end of a record.
fn piece(
    out: &mut impl Write,
    from: u64,
    to: u64,
    start: &[u8],
    padding: u64,
    crc: &mut Crc,
) -> std::io::Result<()> {
    let begins = start.len() as u64;
    let ends = begins + padding;
    let cut = |bytes: &[u8], offset: u64| {
        let len = bytes.len() as u64;
        let (a, b) = (from.clamp(offset, offset + len), to.clamp(offset, offset + len));
        ((a - offset) as usize, (b - offset) as usize)
    };
    let (a, b) = cut(start, 0);
    crc.update(&start[a..b]);
    out.write_all(&start[a..b])?;
    let zeros = to.clamp(begins, ends) - from.clamp(begins, ends);
    fill(out, 0, zeros, crc)?;
    let (a, b) = cut(END, ends);
    crc.update(&END[a..b]);
    out.write_all(&END[a..b])
}

fn fill(out: &mut impl Write, byte: u8, mut count: u64, crc: &mut Crc) -> std::io::Result<()> {
    let some = [byte; 4096];
    while count > 0 {
        let n = count.min(4096);
        crc.update(&some[..n as usize]);
        out.write_all(&some[..n as usize])?;
        count -= n;
    }
    Ok(())
}

/// A small member made longer by its header: an empty name is one byte, an extra field two and
/// more. Only members of a few hundred bytes come here.
fn padded(member: &[u8], length: u64) -> Vec<u8> {
    let missing = usize::try_from(length).unwrap_or(0).saturating_sub(member.len());
    let mut out = member[..10].to_vec();
    match missing {
        0 => {}
        1 => {
            out[3] |= 8;
            out.push(0);
        }
        _ => {
            let extra = (missing - 2).min(usize::from(u16::MAX));
            out[3] |= 4;
            out.extend_from_slice(&(extra as u16).to_le_bytes());
            out.extend(std::iter::repeat_n(0, extra));
        }
    }
    out.extend_from_slice(&member[10..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WarcReader;

    const NOW: Time = Time(1_769_860_800_000);

    fn made(length: u64) -> Vec<u8> {
        let mut out = Vec::new();
        member(&mut out, length, NOW, "x").unwrap();
        out
    }

    #[test]
    fn a_tombstone_has_exactly_the_length_asked_for() {
        let long = [65_535, 65_536, 65_540, 65_558, 65_559, 131_080, 131_098, 131_099, 1_000_000];
        for length in (EMPTY_MEMBER..3_000).chain(9_900..10_400).chain(long) {
            assert_eq!(made(length).len() as u64, length);
        }
    }

    #[test]
    fn readers_walk_over_it_and_learn_that_something_was_removed() {
        for length in (200..2_000).chain(9_900..10_400).chain([65_559, 131_099, 300_000]) {
            let mut file = made(length);
            file.extend_from_slice(&made(400));
            let found: Vec<_> = WarcReader::new(&file[..]).keep_payloads(1 << 20).collect();
            assert_eq!(found.len(), 2, "{length}: {found:?}");
            let first = found[0].as_ref().unwrap_or_else(|e| panic!("{length}: {e:?}"));
            assert!(is_tombstone(&first.headers), "{length}");
            assert_eq!(first.length, Some(length));
            let said = first.payload.as_deref().unwrap_or_default();
            assert!(said.is_empty() || said.starts_with(SAYS.as_bytes()), "{length}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_removed_here_stays_where_a_copy_shares_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let (here, there) = (dir.path().join(text_segment_name(1)), dir.path().join("there"));
        std::fs::write(&here, [7; 100]).unwrap();
        std::fs::hard_link(&here, &there).unwrap();
        std::fs::write(here.with_extension("part"), "left by a crash").unwrap();
        let place = Location { segment: 1, offset: 10, length: 50 };
        blank_texts(dir.path(), &[place]).unwrap();
        assert_eq!(std::fs::read(&there).unwrap(), [7; 100]);
        let here = std::fs::read(&here).unwrap();
        assert!(here[..10] == [7; 10] && here[60..] == [7; 40] && !here[10..60].contains(&7));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else is left");
    }

    /// On a file system that knows holes; others say nothing here.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_removed_needs_no_room_and_is_read_as_before() {
        use std::os::unix::fs::MetadataExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(warc_segment_name(1));
        let write = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            File::open(&path).unwrap().sync_all().unwrap();
        };
        let size = 300_000;
        write(&vec![7; size as usize + 20_000]);
        let before = std::fs::metadata(&path).unwrap().blocks();
        let place = Location { segment: 1, offset: 10_000, length: size };
        blank_records(dir.path(), &[place], NOW).unwrap();
        let all = std::fs::read(&path).unwrap();
        let mut expected = Vec::new();
        member(&mut expected, size, NOW, &format!("{} 10000", warc_segment_name(1))).unwrap();
        assert_eq!(all.len(), size as usize + 20_000);
        assert!(all[..10_000].iter().chain(&all[310_000..]).all(|b| *b == 7), "others' bytes");
        assert_eq!(all[10_000..310_000], expected);
        // Whether holes are known here is tried on a file of nothing else.
        let sample = dir.path().join("sample");
        std::fs::write(&sample, vec![0; 8 * PAGE as usize]).unwrap();
        File::open(&sample).unwrap().sync_all().unwrap();
        give_back(&sample, &[Location { segment: 1, offset: 0, length: 8 * PAGE }]).unwrap_or(());
        if std::fs::metadata(&sample).unwrap().blocks() == 0 {
            let after = std::fs::metadata(&path).unwrap().blocks();
            assert!(after * 3 < before, "{after} of {before} blocks are still taken");
        }
    }

    #[test]
    fn neighbours_are_one_tombstone_and_readers_walk_over_it() {
        let place = |segment, offset, length| Location { segment, offset, length };
        let all = [place(1, 700, 100), place(1, 100, 200), place(1, 300, 300), place(2, 600, 50)];
        let merged = merge_places(&all);
        assert_eq!(merged, [place(1, 100, 500), place(1, 700, 100), place(2, 600, 50)]);
        let long = [place(1, 0, MOST_MERGED), place(1, MOST_MERGED, 1000)];
        assert_eq!(merge_places(&long), long);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(warc_segment_name(1));
        let file: Vec<u8> = (0..8).flat_map(|_| made(1000)).collect();
        std::fs::write(&path, &file).unwrap();
        let gone = [place(1, 1000, 1000), place(1, 2000, 1000), place(1, 3000, 1000)];
        for _ in 0..2 {
            blank_records(dir.path(), &merge_places(&gone), NOW).unwrap();
            let held = std::fs::read(&path).unwrap();
            let found: Vec<_> = WarcReader::new(&held[..]).map(|entry| entry.unwrap()).collect();
            let offsets: Vec<u64> = found.iter().map(|entry| entry.offset).collect();
            assert_eq!(offsets, [0, 1000, 4000, 5000, 6000, 7000]);
            assert!(found.iter().all(|entry| is_tombstone(&entry.headers)));
            assert!(held[..1000] == file[..1000] && held[4000..] == file[4000..]);
        }
    }

    #[test]
    fn what_is_too_short_for_a_record_is_an_empty_member() {
        for length in EMPTY_MEMBER..100 {
            let mut file = made(length);
            file.extend_from_slice(&made(400));
            let found: Vec<_> = WarcReader::new(&file[..]).collect();
            assert_eq!(found.len(), 1, "{length}");
            assert_eq!(found[0].as_ref().unwrap().offset, length);
        }
    }
}
