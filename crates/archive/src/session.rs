//! Session ids in URLs, as the Wayback family of tools knows them, for `surt`.
//!
//! The patterns are regular expressions there, with a greedy start: of several matches the last
//! one is removed, once per kind.

use memchr::memchr;

/// Length of what `text` begins with, if it begins with a session id of some kind.
type SessionPattern = fn(&[u8]) -> Option<usize>;

/// Removes the last session id of each kind from a query.
pub(crate) fn strip_query_sessions(query: &mut Vec<u8>) {
    let patterns: [SessionPattern; 5] = [
        |q| after(q, b"jsessionid=").and_then(|n| run(q, n, 32, u8::is_ascii_alphanumeric)),
        |q| after(q, b"phpsessid=").and_then(|n| run(q, n, 32, u8::is_ascii_alphanumeric)),
        |q| after(q, b"sid=").and_then(|n| run(q, n, 32, u8::is_ascii_alphanumeric)),
        |q| {
            let name = run(q, after(q, b"aspsessionid")?, 8, u8::is_ascii_alphabetic)?;
            let value = after(&q[name..], b"=")?;
            run(q, name + value, 24, u8::is_ascii_alphabetic)
        },
        |q| {
            let id = after(q, b"cfid=")?;
            let id_end = id + memchr(b'&', &q[id..]).filter(|n| *n > 0)?;
            let token = id_end + after(&q[id_end..], b"&cftoken=")?;
            let end = token + memchr(b'&', &q[token..]).unwrap_or(q.len() - token);
            (end > token).then_some(end)
        },
    ];
    for pattern in patterns {
        let found = (0..query.len()).rev().find_map(|at| {
            let end = at + pattern(&query[at..])?;
            matches!(query.get(end), None | Some(b'&')).then_some((at, end))
        });
        if let Some((at, end)) = found {
            query.drain(at..(end + 1).min(query.len()));
        }
    }
}

/// Removes `/(S(24 characters))/` and `/(24 characters)/` before an `.aspx` file.
pub(crate) fn strip_path_sessions(path: &mut Vec<u8>) {
    let patterns: [SessionPattern; 2] = [
        |p| {
            let mut at = after(p, b"(")?;
            let mut groups = 0;
            while let Some(end) = lettered_group(&p[at..]) {
                at += end;
                groups += 1;
            }
            (groups > 0).then_some(at + after(&p[at..], b")/")?)
        },
        |p| {
            let end = run(p, after(p, b"(")?, 24, u8::is_ascii_alphanumeric)?;
            Some(end + after(&p[end..], b")/")?)
        },
    ];
    for pattern in patterns {
        let found = (1..path.len()).rev().find_map(|at| {
            if path[at - 1] != b'/' {
                return None;
            }
            let end = at + pattern(&path[at..])?;
            let file = &path[end..];
            let name = &file[..memchr(b'?', file).unwrap_or(file.len())];
            let aspx = file.windows(5).skip(1).position(|w| w == b".aspx")? + 1;
            (aspx <= name.len()).then_some((at, end))
        });
        if let Some((at, end)) = found {
            path.drain(at..end);
        }
    }
}

/// `x(24 characters)`
fn lettered_group(text: &[u8]) -> Option<usize> {
    let letter = run(text, 0, 1, u8::is_ascii_alphabetic)?;
    let open = letter + after(&text[letter..], b"(")?;
    let id = run(text, open, 24, u8::is_ascii_alphanumeric)?;
    Some(id + after(&text[id..], b")")?)
}

/// Length of `prefix` if `text` begins with it, without regard to case.
fn after(text: &[u8], prefix: &[u8]) -> Option<usize> {
    text.get(..prefix.len())?.eq_ignore_ascii_case(prefix).then_some(prefix.len())
}

/// The end of exactly `count` such bytes from `at` on.
fn run(text: &[u8], at: usize, count: usize, is: fn(&u8) -> bool) -> Option<usize> {
    text.get(at..at + count)?.iter().all(is).then_some(at + count)
}
