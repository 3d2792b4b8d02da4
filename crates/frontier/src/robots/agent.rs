//! Is this user-agent line meant for us? (RFC 9309, 2.2.1)
//!
//! Called by the parser in the parent module, once per file and once per user-agent line.

/// Whether a name may stand in a user-agent line by RFC 9309, 2.2.1: letters, `-` and `_`.
pub fn is_product_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(in_token)
}

fn in_token(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_')
}

/// The leading product token of a text, perhaps empty.
fn token(text: &[u8]) -> &[u8] {
    let length = text.iter().take_while(|&&byte| in_token(byte)).count();
    &text[..length]
}

/// Whom a user-agent line addresses, as far as it concerns us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addressed {
    Us,
    Everyone,
    Others,
}

/// Our name, cut from the user agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agent<'a> {
    /// Up to the version or comment. Empty: we have no name that a line could address.
    name: &'a [u8],
}

impl<'a> Agent<'a> {
    /// From a product token (`argiope`) or a whole user agent (`argiope/1.2 (+https://…)`).
    /// Words in a row are not a name: which of them would the site mean?
    pub(super) fn new(agent: &'a str) -> Agent<'a> {
        let end = agent.find(['/', '(']).unwrap_or(agent.len());
        let name = agent[..end].trim().as_bytes();
        let words = name.iter().any(u8::is_ascii_whitespace);
        Agent { name: if words || token(name).is_empty() { &[] } else { name } }
    }

    /// A line addresses the product token it begins with, whatever version or words follow. A
    /// name of ours that is no product token (`bot2`) is met by a line that writes it so, and
    /// by one that writes its token alone (`bot`), but not by `bot3`.
    pub(super) fn addressed(self, value: &[u8]) -> Addressed {
        if let [b'*', rest @ ..] = value
            && rest.first().is_none_or(u8::is_ascii_whitespace)
        {
            return Addressed::Everyone;
        }
        let end = value.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'/');
        let word = &value[..end.unwrap_or(value.len())];
        let ours = !self.name.is_empty()
            && (token(value).eq_ignore_ascii_case(self.name)
                || word.eq_ignore_ascii_case(self.name)
                || word.eq_ignore_ascii_case(token(self.name)));
        if ours { Addressed::Us } else { Addressed::Others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meets(agent: &str, value: &str) -> bool {
        Agent::new(agent).addressed(value.as_bytes()) == Addressed::Us
    }

    #[test]
    fn the_name_is_met_in_any_case_and_with_any_version() {
        for agent in ["argiope", "Argiope/1.2", "ARGIOPE (+https://example.org/bot)"] {
            for value in ["argiope", "ArgiOpe", "argiope/0.1", "argiope spider", "argiope2"] {
                assert!(meets(agent, value), "{agent} {value}");
            }
            for value in ["argiopes", "argio", "my-argiope", "", "*", "*argiope", "spider argiope"]
            {
                assert!(!meets(agent, value), "{agent} {value}");
            }
        }
    }

    #[test]
    fn a_name_with_digits_is_met_as_written_and_by_its_token() {
        assert!(meets("bot2/1.0", "Bot2"));
        assert!(meets("bot2", "bot2/3"));
        assert!(meets("bot2", "bot"));
        assert!(!meets("bot2", "bot3"));
        assert!(!meets("bot2", "bot21"));
    }

    #[test]
    fn no_name_or_several_words_are_met_by_no_line_but_the_one_for_everyone() {
        for agent in ["", " ", "/1.0", "foo bar", "*", "ツ", "2"] {
            for value in ["", "foo", "foo bar", "bar", "2", "ツ"] {
                assert!(!meets(agent, value), "{agent:?} {value:?}");
            }
            for value in ["*", "* ", "* everyone"] {
                let addressed = Agent::new(agent).addressed(value.as_bytes());
                assert_eq!(addressed, Addressed::Everyone, "{agent:?} {value:?}");
            }
        }
    }
}
