//! Analysed words on their way into tantivy, packed into one text.
//!
//! A page is analysed once, outside of tantivy's threads; what tantivy is given as the text of a
//! field is the list of words that came out, and its tokenizer only has to read that list. A
//! byte below the space says where the word after it stands; words never hold such bytes.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// The word after it stands one place on.
const NEXT: u8 = 1;
/// A place without a word.
const SKIP: u8 = 2;
/// The word after it stands so many places back.
const BACK: u8 = 3;
const MAX_BACK: u32 = 27;

/// A feed does not keep more memory than this.
const KEPT: usize = 1 << 20;

/// How long a page waits for room before it goes on without.
const PATIENCE: Duration = Duration::from_secs(20);

/// Stands before the first word of a title or heading. No text holds it as a word.
pub(crate) const BEGIN: &str = "\u{E000}";
/// Stands after the last one.
pub(crate) const END: &str = "\u{E001}";

/// The words of a field, being collected.
#[derive(Default)]
pub(crate) struct Feed {
    text: String,
    position: u32,
    words: u32,
}

impl Feed {
    /// Adds a word at a position, at most a few places behind the furthest.
    pub fn push(&mut self, word: &str, position: u32) {
        debug_assert!(!word.bytes().any(|b| b < b' '));
        while self.position + 1 < position {
            self.text.push(char::from(SKIP));
            self.position += 1;
        }
        if position > self.position {
            self.text.push(char::from(NEXT));
            self.position = position;
        } else {
            let back = (self.position - position).min(MAX_BACK);
            self.text.push(char::from(BACK + back as u8));
        }
        self.text.push_str(word);
        self.words += 1;
    }

    /// The furthest position so far.
    pub fn position(&self) -> u32 {
        self.position
    }

    pub fn is_empty(&self) -> bool {
        self.words == 0
    }

    /// The packed words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Makes it empty again; its memory is kept, unless that is much.
    pub fn clear(&mut self) {
        (self.position, self.words) = (0, 0);
        self.text.clear();
        self.text.shrink_to(KEPT);
    }
}

/// How much is on its way: tantivy takes any number of pages into its queue, so the bytes in it
/// are bounded here. What is put in waits; reading a feed makes room.
#[derive(Default)]
pub(crate) struct Flow {
    bytes: Mutex<usize>,
    freed: Condvar,
}

impl Flow {
    /// Waits until there is room, then takes it. Something larger than the room goes alone; and
    /// if nothing is read for long, whoever writes next is told by tantivy why.
    pub fn put(&self, bytes: usize, room: usize) {
        let full = |under_way: &mut usize| *under_way > 0 && *under_way + bytes > room;
        let Ok(under_way) = self.bytes.lock() else { return };
        let waited = self.freed.wait_timeout_while(under_way, PATIENCE, full);
        if let Ok((mut under_way, _)) = waited {
            *under_way += bytes;
        }
    }

    fn read(&self, bytes: usize) {
        if let Ok(mut under_way) = self.bytes.lock() {
            *under_way = under_way.saturating_sub(bytes);
            self.freed.notify_one();
        }
    }

    /// What was under way was thrown away.
    pub fn clear(&self) {
        self.read(usize::MAX);
    }
}

/// Reads packed words.
#[derive(Clone, Default)]
pub(crate) struct Replay {
    token: Token,
    flow: Arc<Flow>,
}

impl Replay {
    /// A reader that makes room in `flow`.
    pub fn new(flow: Arc<Flow>) -> Self {
        Replay { token: Token::default(), flow }
    }
}

pub(crate) struct ReplayStream<'a> {
    text: &'a str,
    at: usize,
    position: usize,
    token: &'a mut Token,
}

impl Tokenizer for Replay {
    type TokenStream<'a> = ReplayStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> ReplayStream<'a> {
        self.token.reset();
        self.flow.read(text.len());
        ReplayStream { text, at: 0, position: 0, token: &mut self.token }
    }
}

impl TokenStream for ReplayStream<'_> {
    fn advance(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        loop {
            let Some(&sign) = bytes.get(self.at) else { return false };
            // Every word has its sign; a text that is none of ours is one word.
            self.at += usize::from(sign < b' ');
            self.token.position = match sign {
                SKIP => {
                    self.position += 1;
                    continue;
                }
                NEXT => {
                    self.position += 1;
                    self.position
                }
                back => self.position.saturating_sub(usize::from(back.saturating_sub(BACK))),
            };
            break;
        }
        let start = self.at;
        while bytes.get(self.at).is_some_and(|b| *b >= b' ') {
            self.at += 1;
        }
        self.token.text.clear();
        self.token.text.push_str(&self.text[start..self.at]);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// Tells a host and the domains above it: `a.b.org`, `b.org`, `org`.
#[derive(Clone, Default)]
pub(crate) struct Parents {
    token: Token,
}

pub(crate) struct ParentStream<'a> {
    rest: Option<&'a str>,
    token: &'a mut Token,
}

impl Tokenizer for Parents {
    type TokenStream<'a> = ParentStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> ParentStream<'a> {
        self.token.reset();
        ParentStream { rest: Some(text), token: &mut self.token }
    }
}

impl TokenStream for ParentStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(host) = self.rest.filter(|rest| !rest.is_empty()) else { return false };
        // The parts of an address are no domains.
        let is_address = host.ends_with(|c: char| c.is_ascii_digit() || c == ']');
        self.rest = host.split_once('.').map(|(_, parent)| parent).filter(|_| !is_address);
        self.token.text.clear();
        self.token.text.push_str(host);
        self.token.position = 0;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn replayed(text: &str) -> Vec<(String, usize)> {
        let mut replay = Replay::default();
        let mut stream = replay.token_stream(text);
        let mut out = Vec::new();
        while stream.advance() {
            out.push((stream.token().text.clone(), stream.token().position));
        }
        out
    }

    #[test]
    fn what_is_put_in_waits_for_what_is_read() {
        let flow = Arc::new(Flow::default());
        flow.put(900, 100);
        let waiting = {
            let flow = flow.clone();
            std::thread::spawn(move || flow.put(60, 100))
        };
        assert!(!waiting.is_finished());
        Replay::new(flow.clone()).token_stream(&"x".repeat(900));
        waiting.join().unwrap();
        assert_eq!(*flow.bytes.lock().unwrap(), 60);
        flow.clear();
        assert_eq!(*flow.bytes.lock().unwrap(), 0);
    }

    #[test]
    fn a_host_is_found_by_the_domains_above_it() {
        let mut parents = Parents::default();
        let mut told = |host: &str| {
            let mut stream = parents.token_stream(host);
            let mut out = Vec::new();
            while stream.advance() {
                out.push(stream.token().text.clone());
            }
            out.join(" ")
        };
        assert_eq!(told("docs.example.org"), "docs.example.org example.org org");
        assert_eq!(told("127.0.0.1"), "127.0.0.1");
        assert_eq!(told("[::1]"), "[::1]");
        assert_eq!(told("localhost"), "localhost");
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out(steps in proptest::collection::vec(("[a-cé中]{1,3}", 0u32..5, any::<bool>()), 0..20)) {
            let mut feed = Feed::default();
            let mut wanted = Vec::new();
            for (word, step, back) in steps {
                let position = if back {
                    feed.position().saturating_sub(step)
                } else {
                    feed.position() + step
                };
                feed.push(&word, position);
                wanted.push((word, position as usize));
            }
            prop_assert_eq!(replayed(feed.text()), wanted);
        }

        #[test]
        fn foreign_bytes_do_no_harm(text: String) {
            replayed(&text);
        }
    }
}
