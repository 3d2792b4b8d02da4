//! A form with a file in it, as browsers send it (RFC 7578). The body is in memory and bounded already.

/// The parts of a form: their names and bytes, in their order. `None` where it is no such form.
pub(super) fn parts<'a>(kind: &str, body: &'a [u8]) -> Option<Vec<(String, &'a [u8])>> {
    let (name, rest) = kind.split_once(';')?;
    if !name.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = parameter(rest, "boundary").filter(|boundary| !boundary.is_empty())?;
    let between = format!("--{boundary}");
    let mut out = Vec::new();
    let mut rest = &body[find(body, between.as_bytes())? + between.len()..];
    let next = format!("\r\n{between}");
    // The last one ends with two dashes.
    while !rest.starts_with(b"--") {
        let inside = rest.strip_prefix(b"\r\n")?;
        let head = find(inside, b"\r\n\r\n")?;
        let content = &inside[head + 4..];
        let end = find(content, next.as_bytes())?;
        let head = String::from_utf8_lossy(&inside[..head]);
        let disposition = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-disposition").then_some(value)
        })?;
        out.push((parameter(disposition, "name")?, &content[..end]));
        rest = &content[end + next.len()..];
    }
    Some(out)
}

/// A parameter of a header: `; name="value"`.
fn parameter(of: &str, name: &str) -> Option<String> {
    of.split(';').find_map(|part| {
        let (known, value) = part.split_once('=')?;
        known.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"').to_owned())
    })
}

fn find(within: &[u8], what: &[u8]) -> Option<usize> {
    within.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "multipart/form-data; boundary=\"x-7\"";

    #[test]
    fn fields_and_files_are_told_apart() {
        let body = b"--x-7\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nabc\r\n--x-7\r\n\
            content-disposition: form-data; name=\"opml\"; filename=\"a.opml\"\r\nContent-Type: text/xml\r\n\r\n<opml>\r\n--x\r\n</opml>\r\n--x-7--\r\n";
        let parts = parts(KIND, body).unwrap();
        assert_eq!(parts[0], ("csrf".to_owned(), &b"abc"[..]));
        assert_eq!(parts[1], ("opml".to_owned(), &b"<opml>\r\n--x\r\n</opml>"[..]));
    }

    #[test]
    fn what_is_no_such_form_is_none() {
        for (kind, body) in [
            ("application/x-www-form-urlencoded", &b"--x-7--"[..]),
            ("multipart/form-data; boundary=", b"----"),
            (KIND, b""),
            (KIND, b"--x-7"),
            (KIND, b"--x-7\r\nname=a\r\n\r\nb"),
            (KIND, b"--x-7\r\nContent-Disposition: form-data\r\n\r\nb\r\n--x-7--"),
            (KIND, b"--x-7\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x-"),
        ] {
            assert!(parts(kind, body).is_none(), "{kind} {}", String::from_utf8_lossy(body));
        }
        assert_eq!(parts(KIND, b"--x-7--\r\n"), Some(Vec::new()));
    }
}
