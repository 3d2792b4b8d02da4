//! Numbers of sessions in URLs: the same page under another address for every visitor and visit.
//!
//! Only what is well known to be one is taken out, and only where its value looks like one: a page
//! number that happens to be called `sid` stays.

use crate::CanonicalUrl;

/// Names of parameters that carry the number of a session, lower case.
const NAMES: &[&str] = &[
    "phpsessid",
    "jsessionid",
    "sessionid",
    "session_id",
    "sessid",
    "sid",
    "s",
    "zenid",
    "oscsid",
    "cfid",
    "cftoken",
    "asp.net_sessionid",
];
/// Numbers of sessions are at least so long.
const LEAST: usize = 16;

fn is_session(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let named = NAMES.contains(&name.as_str()) || name.starts_with("aspsessionid");
    let plain = |b: u8| b.is_ascii_alphanumeric() || b",-_.!".contains(&b);
    named
        && value.len() >= LEAST
        && value.bytes().all(plain)
        && value.bytes().any(|b| b.is_ascii_digit())
}

impl CanonicalUrl {
    /// The URL without numbers of sessions; `None` where it has none.
    pub fn without_session(&self) -> Option<CanonicalUrl> {
        let text = self.as_str();
        if !text.contains(['?', ';']) {
            return None;
        }
        let (path, query) = match text.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (text, None),
        };
        let held = |piece: &&str| {
            piece.split_once('=').is_some_and(|(name, value)| is_session(name, value))
        };
        // `/page;jsessionid=0123456789ABCDEF`
        let mut pieces = path.split(';');
        let mut out = pieces.next().unwrap_or_default().to_owned();
        pieces.filter(|piece| !held(piece)).for_each(|piece| {
            out.push(';');
            out.push_str(piece);
        });
        if let Some(query) = query {
            let left: Vec<&str> = query.split('&').filter(|piece| !held(piece)).collect();
            if !left.is_empty() {
                out.push('?');
                out.push_str(&left.join("&"));
            }
        }
        (out != text).then(|| CanonicalUrl::parse(&out).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(text: &str) -> Option<String> {
        let url = CanonicalUrl::parse(text).unwrap();
        url.without_session().map(|url| url.as_str().to_owned())
    }

    #[test]
    fn numbers_of_sessions_are_taken_out_and_nothing_else() {
        let id = "9f86d081884c7d659a2f";
        let is = |text: &str, left: &str| {
            assert_eq!(bare(&text.replace("~", id)).as_deref(), Some(left), "{text}");
        };
        is("http://h.test/p?PHPSESSID=~", "http://h.test/p");
        is("http://h.test/p?a=1&sid=~&b=2", "http://h.test/p?a=1&b=2");
        is("http://h.test/p;jsessionid=~?a=1", "http://h.test/p?a=1");
        is("http://h.test/p;v=1;jsessionid=~", "http://h.test/p;v=1");
        for stays in [
            "http://h.test/p",
            "http://h.test/p?sid=17",
            "http://h.test/p?s=how+to+knit+a+web",
            "http://h.test/p?session=~",
            "http://h.test/p?q=PHPSESSID",
            "http://h.test/p?s=onlyletterslikewords",
        ] {
            assert_eq!(bare(&stays.replace("~", id)), None, "{stays}");
        }
    }
}
