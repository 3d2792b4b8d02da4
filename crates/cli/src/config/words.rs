//! Lists of words: what each word may be, and its one form.
//!
//! Called by `values`. Invariants: a word that was kept fits its kind (a network is one, a file
//! is there) and is in one form, lower case where case means nothing; no word stands twice.
//! [`networks`], [`servers`], [`hosts`] and [`rules`] read those forms for `settings`.
//! Not here: which lists there are (`keys`).

use super::cdn;
use super::keys::Word;
use super::values::Value;
use super::written::Raw;
use argiope_crawl::Keep;
use argiope_frontier::Network;
use argiope_frontier::revisit::Rule;
use argiope_model::CanonicalUrl;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::Path;

/// The word for the large content delivery networks.
const CDN: &str = "cdn";
/// Where name servers listen.
const DNS_PORT: u16 = 53;

/// Says what a written list means; relative paths begin at `folder`.
pub(super) fn list(
    of: Word,
    auto: bool,
    may_be_empty: bool,
    raw: &Raw,
    folder: &Path,
) -> Result<Value, String> {
    let example = of.example();
    let words = match raw {
        Raw::Text(text) if auto && text == "auto" => return Ok(Value::Auto),
        Raw::List(words) => words,
        _ if auto => return Err(format!(r#"is neither "auto" nor a list such as {example}"#)),
        _ => return Err(format!("is not a list; write for example {example}")),
    };
    if words.is_empty() && !may_be_empty {
        return Err(format!("is empty; write for example {example}"));
    }
    let mut kept: Vec<String> = Vec::with_capacity(words.len());
    for (n, word) in words.iter().enumerate() {
        let item = n + 1;
        let fits = if let Raw::Text(word) = word { of.fit(word, folder) } else { None };
        let word = match (fits, of, word) {
            (Some(word), ..) => word,
            (None, Word::File, Raw::Text(name)) if !name.trim().is_empty() => {
                let path = folder.join(name.trim());
                let path = path.display();
                return Err(format!("names a file that cannot be read (item {item}): {path}"));
            }
            _ => {
                let what = of.what();
                return Err(format!(
                    "holds something that is not {what} (item {item}); write for example {example}"
                ));
            }
        };
        if !kept.contains(&word) {
            kept.push(word);
        }
    }
    Ok(Value::Words(kept))
}

impl Word {
    fn what(self) -> &'static str {
        match self {
            Self::Domain => "a domain",
            Self::Type => "a kind of content",
            Self::Extension => "a file-name ending",
            Self::Any => "a word",
            Self::Network => "a network",
            Self::Server => "the address of a name server",
            Self::Host => "a name and its address",
            Self::Keep => "a name and its rule",
            Self::File => "the path of a file",
            Self::Rule => "a rule for revisits",
        }
    }

    /// A list of such words as it is written in the file.
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Domain => r#"["example.com"]"#,
            Self::Type => r#"["html", "text"]"#,
            Self::Extension => r#"["jpg", "zip"]"#,
            Self::Any => r#"["the", "of"]"#,
            Self::Network => r#"["cdn", "192.0.2.0/24"]"#,
            Self::Server => r#"["192.0.2.53", "[2001:db8::53]:5353"]"#,
            Self::Host => r#"["example.com=192.0.2.7"]"#,
            Self::Keep => r#"["example.com=daily", "www.example.org=last:5"]"#,
            Self::File => r#"["ca.pem"]"#,
            Self::Rule => {
                r#"["example.org/news/* every 1h", "*.pdf never", "example.org at most 500 a day"]"#
            }
        }
    }

    /// The word in its one form, if it is such a word.
    fn fit(self, word: &str, folder: &Path) -> Option<String> {
        let written = word.trim();
        let word = written.to_lowercase();
        let all = |word: &str, more: &[char]| {
            !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || more.contains(&c))
        };
        match self {
            Self::Domain => {
                let word = word.strip_prefix("*.").unwrap_or(&word);
                let labels = all(word, &['-', '_', '.']) && word.split('.').all(|l| !l.is_empty());
                let address = word.strip_prefix('[').and_then(|w| w.strip_suffix(']'));
                let fits = labels || address.is_some_and(|a| a.parse::<Ipv6Addr>().is_ok());
                fits.then(|| word.to_owned())
            }
            Self::Type => {
                let parts = word.split('/').count();
                let fits = word.is_ascii() && parts <= 2;
                (fits && word.split('/').all(|p| all(p, &['-', '+', '.']))).then_some(word)
            }
            Self::Any => (!word.is_empty() && !word.contains(char::is_whitespace)).then_some(word),
            Self::Extension => {
                let word = word.strip_prefix('.').unwrap_or(&word);
                all(word, &['-', '_', '.', '+', '~']).then(|| word.to_owned())
            }
            Self::Network => (word == CDN || word.parse::<Network>().is_ok()).then_some(word),
            Self::Rule => written.parse::<Rule>().ok().map(|_| written.to_owned()),
            Self::Server => server(&word).map(|address| address.to_string()),
            Self::Host => host(&word).map(|(name, ip)| format!("{name}={ip}")),
            Self::Keep => rule(&word).map(|(name, keep)| format!("{name}={keep}")),
            Self::File => {
                let path = folder.join(written);
                let readable = !written.is_empty() && path.is_file();
                let open = readable && std::fs::File::open(&path).is_ok();
                open.then(|| path.to_str().map(str::to_owned)).flatten()
            }
        }
    }
}

/// A domain as the hosts of URLs write it.
pub(super) fn domain(word: &str) -> Option<String> {
    let word = Word::Domain.fit(word, Path::new(""))?;
    let url = argiope_model::CanonicalUrl::parse(&format!("http://{word}/")).ok()?;
    Some(url.host().trim_end_matches('.').to_owned())
}

/// A kind of content in its one form.
pub(super) fn content(word: &str) -> Option<String> {
    Word::Type.fit(word, Path::new(""))
}

/// An address with or without a port.
fn server(word: &str) -> Option<SocketAddr> {
    let bracketed = word.strip_prefix('[').and_then(|w| w.strip_suffix(']'));
    let alone = bracketed.map_or_else(|| word.parse().ok(), |w| w.parse().ok().map(IpAddr::V6));
    let address = alone.map(|ip| SocketAddr::new(ip, DNS_PORT)).or_else(|| word.parse().ok());
    address.filter(|address| address.port() != 0)
}

/// A name as URLs write it, and its address.
fn host(word: &str) -> Option<(String, IpAddr)> {
    let (name, address) = word.split_once('=')?;
    let (name, address) = (name.trim(), address.trim());
    let ip = address.strip_prefix('[').and_then(|a| a.strip_suffix(']')).unwrap_or(address);
    let url = CanonicalUrl::parse(&format!("http://{name}/")).ok()?;
    // What a URL reads differently from a bare name (a port, a path, a user) is not one, and the
    // address of an address is never asked for.
    let plain = !name.contains(['/', ':', '@', '?', '#', '[', '*', '\\']);
    let named = plain && url.host().parse::<IpAddr>().is_err();
    Some((url.host().to_owned(), ip.parse().ok()?)).filter(|_| named)
}

/// The name of a site or a host, and its rule.
fn rule(word: &str) -> Option<(String, Keep)> {
    let (name, keep) = word.rsplit_once('=')?;
    let name = name.trim();
    let plain = !name.is_empty() && !name.contains(char::is_whitespace);
    Some((name.to_owned(), keep.trim().parse().ok()?)).filter(|_| plain)
}

/// The rules of a list.
pub(super) fn rules(words: &[String]) -> Vec<(String, Keep)> {
    words.iter().filter_map(|word| rule(word)).collect()
}

/// The networks of a list.
pub(super) fn networks(words: &[String]) -> Vec<Network> {
    let spelt = words.iter().flat_map(|word| match word.as_str() {
        CDN => cdn::NETWORKS.to_vec(),
        word => vec![word],
    });
    spelt.filter_map(|word| word.parse().ok()).collect()
}

/// The name servers of a list.
pub(super) fn servers(words: &[String]) -> Vec<SocketAddr> {
    words.iter().filter_map(|word| server(word)).collect()
}

/// The names of a list, with their addresses.
pub(super) fn hosts(words: &[String]) -> Vec<(String, IpAddr)> {
    words.iter().filter_map(|word| host(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_are_addresses_with_or_without_a_port() {
        for (word, address) in [
            ("192.0.2.53", "192.0.2.53:53"),
            ("192.0.2.53:5353", "192.0.2.53:5353"),
            ("2001:db8::53", "[2001:db8::53]:53"),
            ("[2001:db8::53]", "[2001:db8::53]:53"),
            ("[2001:db8::53]:5353", "[2001:db8::53]:5353"),
        ] {
            assert_eq!(server(word).map(|a| a.to_string()).as_deref(), Some(address));
        }
        for word in ["", "dns.test", "192.0.2.53:0", "192.0.2.53:x", "[192.0.2.53]", "192.0.2"] {
            assert_eq!(server(word), None, "{word}");
        }
    }

    #[test]
    fn hosts_are_written_as_urls_write_them() {
        let read = |word: &str| host(word).map(|(name, ip)| format!("{name} {ip}"));
        assert_eq!(read("example.com=192.0.2.7").as_deref(), Some("example.com 192.0.2.7"));
        assert_eq!(read("example.com = ::1").as_deref(), Some("example.com ::1"));
        assert_eq!(read("example.com=[::1]").as_deref(), Some("example.com ::1"));
        assert_eq!(read("bücher.test=192.0.2.7").as_deref(), Some("xn--bcher-kva.test 192.0.2.7"));
        for word in [
            "example.com",
            "=192.0.2.7",
            "example.com=",
            "example.com=example.org",
            "example.com:80=192.0.2.7",
            "example.com/x=192.0.2.7",
            "*.example.com=192.0.2.7",
            "192.0.2.1=192.0.2.7",
            "[::1]=192.0.2.7",
            "me@example.com=192.0.2.7",
        ] {
            assert_eq!(read(word), None, "{word}");
        }
    }

    #[test]
    fn a_rule_has_a_name_and_one_of_a_few_words() {
        let read = |word: &str| rule(word).map(|(name, keep)| format!("{name} {keep}"));
        assert_eq!(read("example.com=daily").as_deref(), Some("example.com daily"));
        assert_eq!(
            read("http://example.com:81 = last:3").as_deref(),
            Some("http://example.com:81 last:3")
        );
        for word in ["", "daily", "=daily", "a b=daily", "example.com=", "example.com=last:0"] {
            assert_eq!(read(word), None, "{word}");
        }
    }

    #[test]
    fn the_word_for_content_delivery_stands_for_networks_that_all_can_be_read() {
        let all = networks(&["cdn".to_owned(), "192.0.2.0/24".to_owned()]);
        assert_eq!(all.len(), cdn::NETWORKS.len() + 1);
        let holds = |ip: &str| all.iter().any(|network| network.contains(ip.parse().unwrap()));
        assert!(holds("104.16.1.1") && holds("151.101.1.1") && holds("2606:4700::1"));
        assert!(holds("192.0.2.9") && !holds("198.51.100.1"));
    }
}
