//! Unpacking: what a stream's filters undo.
//!
//! * What this is: [`unpack`]: deflate, LZW, run lengths, two spellings in ASCII, and the
//!   predictors that go with the first two.
//! * Its place: `file` calls it with the filters of a stream; it calls `flate2`.
//! * Invariants: never more than the limit comes out of it; a damaged end does not make the
//!   beginning worthless.
//! * What is not here: pictures. A stream packed as one is not unpacked.

use super::object::{Dict, Object, hex_digit, is_white};
use std::io::Read;

/// Undoes one filter; `None` where it is not one of ours.
pub(super) fn unpack(data: &[u8], filter: &[u8], params: &Dict, limit: usize) -> Option<Vec<u8>> {
    let number =
        |key: &[u8], other: u32| params.get(key).and_then(Object::count).unwrap_or(other) as usize;
    let plain = match filter {
        b"FlateDecode" | b"Fl" => inflate(data, limit),
        b"LZWDecode" | b"LZW" => lzw(data, number(b"EarlyChange", 1) != 0, limit),
        b"ASCIIHexDecode" | b"AHx" => return Some(ascii_hex(data)),
        b"ASCII85Decode" | b"A85" => return Some(ascii_85(data)),
        b"RunLengthDecode" | b"RL" => return Some(run_lengths(data, limit)),
        b"Crypt" => return Some(data.to_vec()),
        _ => return None,
    };
    let predictor = number(b"Predictor", 1);
    if predictor < 2 {
        return Some(plain);
    }
    // Wider rows than this are no table of ours.
    let (colors, bits) = (number(b"Colors", 1).min(32), number(b"BitsPerComponent", 8).min(16));
    let columns = number(b"Columns", 1).min(1 << 20);
    let row = (colors * bits * columns).div_ceil(8).max(1);
    let pixel = (colors * bits).div_ceil(8).max(1);
    Some(match predictor {
        2 if bits == 8 => tiff(plain, row, pixel),
        2 => plain,
        _ => png(&plain, row, pixel),
    })
}

fn inflate(data: &[u8], limit: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let _ = flate2::read::ZlibDecoder::new(data).take(limit as u64).read_to_end(&mut out);
    if out.is_empty() && data.len() > 2 {
        // Some writers forget the two bytes in front, others damage them.
        let raw = flate2::read::DeflateDecoder::new(&data[2..]);
        let _ = raw.take(limit as u64).read_to_end(&mut out);
    }
    out
}

fn lzw(data: &[u8], early: bool, limit: usize) -> Vec<u8> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    let mut out: Vec<u8> = Vec::new();
    // Where in `out` the bytes of a code stand, and how many they are.
    let mut table: Vec<(usize, usize)> = Vec::new();
    let (mut bits, mut held, mut width) = (0_u32, 0_u32, 9_u32);
    let mut last: Option<(usize, usize)> = None;
    for &byte in data {
        bits = bits << 8 | u32::from(byte);
        held += 8;
        if held < width {
            continue;
        }
        held -= width;
        let code = (bits >> held) as usize & ((1 << width) - 1);
        bits &= (1 << held) - 1;
        match code {
            CLEAR => {
                table.clear();
                width = 9;
                last = None;
                continue;
            }
            END => break,
            _ => {}
        }
        let begin = out.len();
        let known = code.checked_sub(258).map(|n| table.get(n).copied());
        match (known, last) {
            (None, _) => out.push(code as u8),
            (Some(Some((from, len))), _) => out.extend_from_within(from..from + len),
            (Some(None), Some((from, len))) if code == 258 + table.len() => {
                out.extend_from_within(from..from + len);
                out.push(out[from]);
            }
            _ => break,
        }
        if out.len() > limit {
            out.truncate(limit);
            break;
        }
        if let Some((from, len)) = last
            && table.len() < 4096 - 258
        {
            // The last code's bytes and the first of this one stand side by side.
            table.push((from, len + 1));
        }
        last = Some((begin, out.len() - begin));
        width = match table.len() + 258 + usize::from(early) {
            0..512 => 9,
            512..1024 => 10,
            1024..2048 => 11,
            _ => 12,
        };
    }
    out
}

fn ascii_hex(data: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> =
        data.iter().take_while(|&&b| b != b'>').filter_map(|&b| hex_digit(b)).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
}

fn ascii_85(data: &[u8]) -> Vec<u8> {
    let (mut out, mut group, mut filled) = (Vec::new(), 0_u32, 0);
    let data = data.strip_prefix(b"<~").unwrap_or(data);
    for &byte in data {
        match byte {
            b'z' if filled == 0 => out.extend([0; 4]),
            b'!'..=b'u' => {
                group = group.wrapping_mul(85).wrapping_add(u32::from(byte - b'!'));
                filled += 1;
                if filled == 5 {
                    out.extend(group.to_be_bytes());
                    (group, filled) = (0, 0);
                }
            }
            b'~' => break,
            _ if is_white(byte) => {}
            _ => break,
        }
    }
    if filled > 1 {
        for _ in filled..5 {
            group = group.wrapping_mul(85).wrapping_add(84);
        }
        out.extend(&group.to_be_bytes()[..filled - 1]);
    }
    out
}

fn run_lengths(data: &[u8], limit: usize) -> Vec<u8> {
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(&length) = data.get(at)
        && out.len() < limit
    {
        at += 1;
        match length {
            0..128 => {
                let end = (at + usize::from(length) + 1).min(data.len());
                out.extend_from_slice(&data[at..end]);
                at = end;
            }
            128 => break,
            129.. => {
                let Some(&byte) = data.get(at) else { break };
                out.extend(std::iter::repeat_n(byte, 257 - usize::from(length)));
                at += 1;
            }
        }
    }
    out.truncate(limit);
    out
}

fn tiff(mut data: Vec<u8>, row: usize, pixel: usize) -> Vec<u8> {
    for line in data.chunks_mut(row) {
        for i in pixel..line.len() {
            line[i] = line[i].wrapping_add(line[i - pixel]);
        }
    }
    data
}

fn png(data: &[u8], row: usize, pixel: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    let mut above = vec![0; row];
    for line in data.chunks(row + 1) {
        let (kind, line) = (line[0], &line[1..]);
        let mut now = vec![0; row];
        for (i, &byte) in line.iter().enumerate() {
            let left = i.checked_sub(pixel).map_or(0, |l| now[l]);
            let corner = i.checked_sub(pixel).map_or(0, |l| above[l]);
            let up: u8 = above[i];
            let guess = match kind {
                1 => left,
                2 => up,
                3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
                4 => paeth(left, up, corner),
                _ => 0,
            };
            now[i] = byte.wrapping_add(guess);
        }
        out.extend_from_slice(&now[..line.len()]);
        above = now;
    }
    out
}

fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let [l, u, c] = [left, up, corner].map(i16::from);
    let guess = l + u - c;
    let [by_l, by_u, by_c] = [l, u, c].map(|x| (guess - x).abs());
    if by_l <= by_u && by_l <= by_c {
        left
    } else if by_u <= by_c {
        up
    } else {
        corner
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn plain(data: &[u8], filter: &[u8]) -> Vec<u8> {
        unpack(data, filter, &Dict::new(), 1 << 20).unwrap_or_default()
    }

    #[test]
    fn what_was_packed_comes_out_as_it_was() {
        assert_eq!(plain(b"48656C6C6F>", b"AHx"), b"Hello");
        assert_eq!(plain(b"<~87cURD]i,\"Ebo80~>", b"ASCII85Decode"), b"Hello World!");
        assert_eq!(plain(b"\x02abc\xfed\x80zzz", b"RL"), b"abcddd");
        // The example of the standard.
        let packed = [0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01];
        assert_eq!(plain(&packed, b"LZWDecode"), [45, 45, 45, 45, 45, 65, 45, 45, 45, 66]);
        assert_eq!(unpack(b"", b"DCTDecode", &Dict::new(), 10), None);
    }

    #[test]
    fn a_bomb_gives_no_more_than_the_limit() {
        let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(&vec![b'a'; 1 << 20]).expect("memory");
        let bomb = packer.finish().expect("memory");
        assert_eq!(unpack(&bomb, b"Fl", &Dict::new(), 1000).map(|v| v.len()), Some(1000));
        assert!(!plain(&bomb[..bomb.len() / 2], b"Fl").is_empty(), "a cut end");
        let runs = [0x81, b'x'].repeat(1000);
        assert_eq!(unpack(&runs, b"RL", &Dict::new(), 500).map(|v| v.len()), Some(500));
    }
}
