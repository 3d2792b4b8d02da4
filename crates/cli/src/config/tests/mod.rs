//! The configuration as a user meets it: where it comes from and what it means.
//!
//! What happens to wrong ones stands in `mistakes`.

mod filters;
mod mistakes;

use super::keys::{KEYS, Key, Kind, Preset, Word};
use super::*;
use std::time::Duration;

/// Loads a file of this text, and flags over it.
fn load_text(text: &[u8], own: &[Override]) -> Result<Loaded, ConfigError> {
    load_with(text, Flags { own, set: &[] })
}

/// Loads a file of this text, and `--set` over it.
fn load_set(text: &[u8], set: &[&str]) -> Result<Loaded, ConfigError> {
    let set: Vec<String> = set.iter().map(|word| (*word).to_owned()).collect();
    load_with(text, Flags { own: &[], set: &set })
}

fn load_with(text: &[u8], flags: Flags<'_>) -> Result<Loaded, ConfigError> {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join(FILE_NAME), text).unwrap();
    let nowhere = here.path().join("data");
    let strip = format!("{}/", here.path().display());
    match load_beside(here.path(), None, &nowhere, flags) {
        Ok(mut loaded) => {
            // It lies in the data directory, which is another one each time.
            assert_eq!(loaded.settings.news.sites, nowhere.join("news/sites.toml"));
            loaded.settings.news.sites.clear();
            for row in &mut loaded.rows {
                row.origin = row.origin.replace(&strip, "");
            }
            Ok(loaded)
        }
        Err(error) => Err(ConfigError::new(
            error.lines().map(|l| Problem { line: 1, text: l.replace(&strip, "") }).collect(),
        )),
    }
}

fn defaults() -> Loaded {
    load_text(b"", &[]).expect("an empty file is valid")
}

/// A file that is there.
const A_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

/// A valid value that is not the default: in the file, as a flag, and as it is shown.
fn another(key: &Key) -> (String, String, String) {
    let (plain, shown) = match key.kind {
        Kind::Choice(words) => {
            let default = match key.preset {
                Preset::Is(text) => text.trim_matches('"'),
                Preset::Unset { .. } => "",
            };
            let word = *words.iter().find(|word| **word != default).unwrap();
            (word, word)
        }
        Kind::Words { of: Word::Domain, .. } => ("a.test,b.test", "a.test, b.test"),
        Kind::Words { of: Word::Type, .. } => ("pdf,application/json", "pdf, application/json"),
        Kind::Words { of: Word::Extension, .. } => ("jpg,tar.gz", "jpg, tar.gz"),
        Kind::Words { of: Word::Any, .. } => ("the,of", "the, of"),
        Kind::Words { of: Word::Network, .. } => {
            ("192.0.2.0/24,2001:DB8::/32", "192.0.2.0/24, 2001:db8::/32")
        }
        Kind::Words { of: Word::Server, .. } => {
            ("192.0.2.53,[2001:db8::53]:5353", "192.0.2.53:53, [2001:db8::53]:5353")
        }
        Kind::Words { of: Word::Host, .. } => {
            ("A.test=192.0.2.7,a.test=::1", "a.test=192.0.2.7, a.test=::1")
        }
        Kind::Words { of: Word::Keep, .. } => {
            ("A.test=daily,b.test=last:3", "a.test=daily, b.test=last:3")
        }
        Kind::Words { of: Word::File, .. } => (A_FILE, A_FILE),
        Kind::Words { of: Word::Rule, .. } => {
            ("a.test/* every 1h,*.pdf never", "a.test/* every 1h, *.pdf never")
        }
        Kind::Duration { .. } => ("11s", "11s"),
        Kind::Size { .. } => ("333MB", "333MB"),
        Kind::Count { .. } => ("7", "7"),
        Kind::Text { .. } => ("Bot", "Bot"),
        Kind::Filter => ("forums", "forums"),
        Kind::Keep => ("last:3", "last:3"),
        Kind::Proxy => ("http://me:secret@proxy.test:3128", "http://proxy.test:3128"),
        Kind::Flag => match key.preset {
            Preset::Is("true") => ("false", "false"),
            _ => ("true", "true"),
        },
    };
    let file = match key.kind {
        Kind::Count { .. } | Kind::Flag => plain.to_owned(),
        Kind::Words { .. } => {
            let words: Vec<_> = plain.split(',').map(|word| format!("{word:?}")).collect();
            format!("[{}]", words.join(", "))
        }
        _ => format!("{plain:?}"),
    };
    (file, plain.to_owned(), shown.to_owned())
}

#[test]
fn the_template_says_exactly_what_holds_without_a_file() {
    let loaded = load_text(template().as_bytes(), &[]).expect("the template is valid");
    assert_eq!(loaded.settings, defaults().settings);
    assert_eq!(loaded.settings, super::defaults());
    for (row, default) in loaded.rows().iter().zip(defaults().rows()) {
        assert_eq!((row.key, &row.value), (default.key, &default.value));
        let limit = row.value == "-";
        assert_eq!(row.origin.starts_with("argiope.toml:"), !limit, "{}", row.key);
    }
    let mut all = template();
    for key in KEYS.iter().filter(|key| matches!(key.preset, Preset::Unset { .. })) {
        let commented = format!("# {} = ", key.leaf());
        assert_eq!(all.matches(&commented).count(), 1, "{commented}");
        all = all.replace(&commented, &commented[2..]);
    }
    let loaded = load_text(all.as_bytes(), &[]).expect("the examples are valid");
    assert!(loaded.rows().iter().all(|row| row.value != "-"), "{all}");
}

#[test]
fn every_setting_can_be_written_in_the_file_and_as_a_flag() {
    for key in KEYS {
        let (file, plain, shown) = another(key);
        let text = format!("# one\n[{}]\n{} = {file}\n", key.table(), key.leaf());
        let from_file = load_text(text.as_bytes(), &[]).unwrap_or_else(|e| panic!("{text}{e}"));
        let from_flag = load_text(b"", &[(key.name, plain.clone(), "--it")]).unwrap();
        let from_set = load_set(b"", &[&format!("{}={plain}", key.name)]).unwrap();
        let over_file = load_text(template().as_bytes(), &[(key.name, plain, "--it")]).unwrap();
        assert_ne!(from_file.settings, defaults().settings, "{} changes nothing", key.name);
        assert_eq!(from_file.settings, from_flag.settings);
        assert_eq!(from_file.settings, from_set.settings);
        assert_eq!(from_file.settings, over_file.settings);
        for (loaded, origin) in [
            (from_file, "argiope.toml:3"),
            (from_flag, "--it"),
            (from_set, "--set"),
            (over_file, "--it"),
        ] {
            let row = loaded.rows().iter().find(|row| row.key == key.name).unwrap();
            assert_eq!((row.value.as_str(), row.origin.as_str()), (shown.as_str(), origin));
            assert_eq!(row.help, key.help);
        }
    }
}

#[test]
fn every_word_of_a_choice_means_something_of_its_own() {
    for key in KEYS {
        let Kind::Choice(words) = key.kind else { continue };
        let settings: Vec<_> = words
            .iter()
            .map(|w| load_text(b"", &[(key.name, (*w).to_owned(), "--it")]).unwrap().settings)
            .collect();
        for (n, one) in settings.iter().enumerate() {
            assert!(!settings[n + 1..].contains(one), "{} {}", key.name, words[n]);
        }
    }
}

#[test]
fn the_file_is_looked_up_here_then_in_the_data_directory() {
    let (here, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let delay = |flag: Option<&Path>| {
        let loaded = load_beside(here.path(), flag, data.path(), Flags::default()).unwrap();
        (loaded.settings.crawl.delay.as_secs(), loaded.file)
    };
    assert_eq!(delay(None), (10, None));
    let in_data = data.path().join(FILE_NAME);
    std::fs::write(&in_data, "[crawl]\ndelay = 1").unwrap();
    assert_eq!(delay(None), (1, Some(in_data)));
    let in_here = here.path().join(FILE_NAME);
    std::fs::write(&in_here, "\u{feff}[crawl]\r\ndelay = \"2s\"\r\n").unwrap();
    assert_eq!(delay(None), (2, Some(in_here)));
    let named = here.path().join("other.toml");
    std::fs::write(&named, "[crawl]\ndelay = 0.5").unwrap();
    assert_eq!(delay(Some(&named)), (0, Some(named.clone())));
    assert_eq!(
        load_beside(here.path(), Some(&named), data.path(), Flags::default())
            .unwrap()
            .settings
            .crawl
            .delay,
        Duration::from_millis(500)
    );
}

#[test]
fn values_mean_what_the_engine_needs() {
    let text = br#"
        [crawl]
        domains = ["*.Docs.Example.com", "[::1]", "docs.example.com"]
        skip_extensions = [".JPG", "zip"]
        workers = 3
        max_depth = 0
        max_time = "1h"
        [fetch]
        contact = "https://example.com/bot"
    "#;
    let settings = load_text(text, &[]).unwrap().settings;
    assert_eq!(settings.crawl.domains, ["docs.example.com", "[::1]"]);
    let endings = ["jpg", "zip"].map(str::to_owned).into();
    assert_eq!(settings.crawl.skip_extensions, SkipExtensions::These(endings));
    assert_eq!(settings.crawl.workers, Some(3));
    assert_eq!(settings.crawl.limits.depth, Some(0));
    assert_eq!(settings.crawl.limits.time_ms, Some(3_600_000));
    assert!(settings.fetch.user_agent.ends_with(" (+https://example.com/bot)"));
    let settings = defaults().settings;
    assert_eq!(settings.crawl.workers, None);
    assert_eq!(settings.crawl.skip_extensions, SkipExtensions::Auto);
    assert_eq!(settings.fetch.accept_language, None);
    assert_eq!(settings.fetch.user_agent, concat!("Argiope/", env!("CARGO_PKG_VERSION")));
    assert_eq!(settings.store.memory, 256_000_000);
    assert!(settings.crawl.robots && settings.crawl.sitemaps);
    assert_eq!(settings.crawl.backoff_max, Duration::from_secs(3_600));
    assert_eq!(settings.fetch.contact, None);
}

#[test]
fn the_gap_between_requests_to_an_address_follows_from_the_delay() {
    let gap = |text: &str| {
        let crawl = load_text(text.as_bytes(), &[]).unwrap().settings.crawl;
        argiope_crawl::address_gap(crawl.address_gap, crawl.delay)
    };
    assert_eq!(gap(""), Duration::from_secs(1));
    assert_eq!(gap("[crawl]\ndelay = \"3s\""), Duration::from_millis(300));
    assert_eq!(gap("[crawl]\ndelay = 0"), Duration::ZERO);
    assert_eq!(gap("[crawl]\ndelay = \"1h\""), Duration::from_secs(1));
    assert_eq!(gap("[crawl]\naddress_gap = \"5s\""), Duration::from_secs(5));
    assert_eq!(gap("[crawl]\naddress_gap = 0"), Duration::ZERO);
    assert_eq!(gap("[crawl]\naddress_gap = \"auto\""), Duration::from_secs(1));
}

#[test]
fn large_content_delivery_networks_are_exempt_unless_somebody_says_otherwise() {
    let exempt = |text: &str, ip: &str| {
        let settings = load_text(text.as_bytes(), &[]).unwrap().settings;
        settings.crawl.address_exempt.iter().any(|n| n.contains(ip.parse().unwrap()))
    };
    assert!(exempt("", "104.16.0.1") && !exempt("", "192.0.2.1"));
    assert!(!exempt("[crawl]\naddress_exempt = []", "104.16.0.1"));
    let both = "[crawl]\naddress_exempt = [\"CDN\", \"192.0.2.1\"]";
    assert!(exempt(both, "104.16.0.1") && exempt(both, "192.0.2.1"));
}

#[test]
fn names_may_have_several_addresses_and_servers_keep_their_order() {
    let text = br#"
        [fetch]
        hosts = ["example.com=192.0.2.7", "example.com=2001:db8::7", "b.test=192.0.2.8"]
        dns_servers = ["2001:db8::53", "192.0.2.53"]
        proxy = "socks5://me:secret@proxy.test"
        max_bandwidth = "2MB"
    "#;
    let loaded = load_text(text, &[]).unwrap();
    let fetch = &loaded.settings.fetch;
    let addresses: Vec<_> = fetch.hosts.iter().filter(|(name, _)| name == "example.com").collect();
    assert_eq!(addresses.len(), 2);
    let servers: Vec<String> = fetch.dns_servers.iter().map(ToString::to_string).collect();
    assert_eq!(servers, ["[2001:db8::53]:53", "192.0.2.53:53"]);
    assert_eq!(fetch.max_bandwidth, Some(2_000_000));
    // Neither the rows nor a debug print may give the password away.
    assert!(fetch.proxy.is_some());
    assert!(!format!("{loaded:?}").contains("secret"));
    let rows = serde_json::to_string(loaded.rows()).unwrap();
    assert!(rows.contains("socks5://proxy.test:1080") && !rows.contains("secret"));
}

#[test]
fn relative_files_begin_at_the_configuration_file() {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("ca.pem"), "").unwrap();
    let file = folder.join("own.toml");
    std::fs::write(&file, "[fetch]\nextra_ca = [\"ca.pem\"]").unwrap();
    let loaded = load(Some(&file), here.path(), Flags::default()).unwrap();
    assert_eq!(loaded.settings.fetch.extra_ca, [folder.join("ca.pem")]);
}

#[test]
fn values_of_set_may_be_quoted_as_in_the_file() {
    let set = [
        "crawl.delay=\"5s\"",
        " crawl.types = ['html', \"pdf\"]",
        "fetch.user_agent='A = b'",
        "crawl.domains=\"a.test,b.test\"",
        "crawl.retries=1",
        "crawl.retries=3",
    ];
    let settings = load_set(b"[crawl]\nretries = 7", &set).unwrap().settings;
    assert_eq!(settings.crawl.delay, Duration::from_secs(5));
    assert_eq!(settings.crawl.types, ["html", "pdf"].map(str::to_owned).into());
    assert_eq!(settings.fetch.user_agent, "A = b");
    assert_eq!(settings.crawl.domains, ["a.test", "b.test"]);
    assert_eq!(settings.crawl.retries, 3);
}

#[test]
fn rows_keep_their_types_for_programs() {
    let loaded = defaults();
    let row = |key: &str| {
        let row = loaded.rows().iter().find(|row| row.key == key).unwrap();
        serde_json::to_value(row).unwrap()["value"].clone()
    };
    assert_eq!(row("crawl.connections"), 300);
    assert_eq!(row("crawl.delay"), "10s");
    assert_eq!(row("crawl.types"), serde_json::json!(["html", "text"]));
    assert_eq!(row("crawl.max_pages"), serde_json::Value::Null);
    assert_eq!(row("archive.enabled"), true);
    assert_eq!(row("fetch.contact"), "");
}
