//! The configuration as a user meets it: where it comes from and what it means.
//!
//! What happens to wrong ones stands in `mistakes`.

mod mistakes;

use super::keys::{KEYS, Key, Kind, Preset, Word};
use super::*;
use std::time::Duration;

/// Loads a file of this text, and flags over it.
fn load_text(text: &[u8], overrides: &[Override]) -> Result<Loaded, ConfigError> {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join(FILE_NAME), text).unwrap();
    let nowhere = here.path().join("data");
    let strip = format!("{}/", here.path().display());
    match load_beside(here.path(), None, &nowhere, overrides) {
        Ok(mut loaded) => {
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
        Kind::Duration { .. } => ("11s", "11s"),
        Kind::Size { .. } => ("333MB", "333MB"),
        Kind::Count { .. } => ("7", "7"),
        Kind::Text { .. } => ("Bot", "Bot"),
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
    for (row, default) in loaded.rows().iter().zip(defaults().rows()) {
        assert_eq!((row.key, &row.value), (default.key, &default.value));
        let limit = row.value == "-";
        assert_eq!(row.origin.starts_with("argiope.toml:"), !limit, "{}", row.key);
    }
    let all: String = template()
        .lines()
        .map(|l| {
            l.strip_prefix("# max_")
                .map_or_else(|| format!("{l}\n"), |limit| format!("max_{limit}\n"))
        })
        .collect();
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
        let over_file = load_text(template().as_bytes(), &[(key.name, plain, "--it")]).unwrap();
        assert_ne!(from_file.settings, defaults().settings, "{} changes nothing", key.name);
        assert_eq!(from_file.settings, from_flag.settings);
        assert_eq!(from_file.settings, over_file.settings);
        for (loaded, origin) in
            [(from_file, "argiope.toml:3"), (from_flag, "--it"), (over_file, "--it")]
        {
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
        let loaded = load_beside(here.path(), flag, data.path(), &[]).unwrap();
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
        load_beside(here.path(), Some(&named), data.path(), &[]).unwrap().settings.crawl.delay,
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
