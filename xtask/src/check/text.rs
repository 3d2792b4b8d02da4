//! Rules about text that a simple scan can hold.
//!
//! Pure crates ask no clock, no disk, no network and no chance; no test is switched off; nothing is
//! left to do; no path of somebody's machine; files stay readable in length; relative links in
//! Markdown lead somewhere. The scan reads what git would commit. It knows lines, not syntax: a
//! comment line is passed over, and test code is what follows the first `#[cfg(test)]` of a file.

use crate::process;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// Crates whose decisions depend on their arguments alone.
const PURE: &[&str] = &["crates/model/src/", "crates/frontier/src/", "crates/parse/src/"];

/// What pure crates do without.
const IMPURE: &[&str] = &[
    "SystemTime::now",
    "Instant::now",
    "thread::sleep",
    "std::fs",
    "std::env::",
    "std::process::",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ToSocketAddrs",
    "tokio::",
    "rand::",
    "RandomState::new",
];

/// What no file holds. Each is written in two parts so that this file passes its own rule.
const NOWHERE: &[(&str, &str, &str)] = &[
    ("#[ign", "ore", "a test is switched off"),
    ("todo", "!(", "something is left to do"),
    ("unimpl", "emented!(", "something is left to do"),
    ("/wo", "rk/", "a path of one machine"),
];

const LONGEST: usize = 800;

/// Everything in the tree under `root` against the rules.
pub fn findings(root: &Path) -> Result<Vec<String>> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let files = process::output(Command::new("git").args(list).current_dir(root))?;
    let mut found = Vec::new();
    for name in files.split('\0').filter(|name| is_text(name)) {
        let path = root.join(name);
        if !path.is_file() {
            continue; // deleted, not yet committed
        }
        let text = std::fs::read_to_string(&path).with_context(|| format!("read {name}"))?;
        one_file(root, name, &text, &mut found);
    }
    Ok(found)
}

fn is_text(name: &str) -> bool {
    let known = [".rs", ".md", ".toml", ".py", ".sh", ".yml"];
    known.iter().any(|ext| name.ends_with(ext)) || name.starts_with(".ci/")
}

fn one_file(root: &Path, name: &str, text: &str, found: &mut Vec<String>) {
    for (number, line) in (1..).zip(text.lines()) {
        for (head, tail, why) in NOWHERE {
            if line.contains(&format!("{head}{tail}")) {
                found.push(format!("{name}:{number}: {why}"));
            }
        }
    }
    if name.starts_with("crates/") && name.ends_with(".rs") {
        let length = text.lines().count();
        if length > LONGEST {
            found.push(format!("{name}: {length} lines, more than {LONGEST}"));
        }
    }
    if name.ends_with(".rs") && PURE.iter().any(|dir| name.starts_with(dir)) {
        impure(name, text, found);
    }
    if name.ends_with(".md") {
        for (number, link) in links(text) {
            let at = Path::new(name).parent().unwrap_or(Path::new(""));
            if !root.join(at).join(&link).exists() {
                found.push(format!("{name}:{number}: the link {link} leads nowhere"));
            }
        }
    }
}

fn impure(name: &str, text: &str, found: &mut Vec<String>) {
    if name.ends_with("/tests.rs") || name.contains("/tests/") {
        return;
    }
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        if line.starts_with("#[cfg(test)]") {
            return;
        }
        if line.starts_with("//") {
            continue;
        }
        for word in IMPURE.iter().filter(|word| holds(line, word)) {
            found.push(format!("{name}:{number}: {word} in a crate that decides by arguments"));
        }
    }
}

/// Whether `line` holds `word` where a name begins (`rand::` is not in `operand::`).
fn holds(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
    })
}

/// Relative link targets with their lines, code left out.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect();
        for rest in prose.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or("");
            let target = target.split('#').next().unwrap_or("");
            if !target.is_empty() && !target.contains(':') {
                found.push((number, target.to_string()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(name: &str, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        one_file(Path::new(env!("CARGO_MANIFEST_DIR")), name, text, &mut found);
        found
    }

    #[test]
    fn clocks_are_found_in_pure_crates_only_and_not_in_their_tests() {
        let asks = "fn f() { let t = Instant::now(); }\n";
        assert_eq!(scan("crates/frontier/src/lib.rs", asks).len(), 1);
        assert!(scan("crates/crawl/src/lib.rs", asks).is_empty());
        let tested = format!("// Instant::now\n#[cfg(test)]\nmod tests {{ {asks} }}\n");
        assert!(scan("crates/frontier/src/lib.rs", &tested).is_empty());
        assert!(scan("crates/parse/src/a.rs", "let x = operand::new();\n").is_empty());
    }

    #[test]
    fn dead_links_switched_off_tests_and_machine_paths_are_found() {
        assert_eq!(scan("a.md", "see [x](nowhere.md), [y](src/lib.rs#top)\n").len(), 1);
        assert!(scan("a.md", "`[x](y)` [z](https://example.org) [w](#here)\n").is_empty());
        let off = format!("{}{}]", NOWHERE[0].0, NOWHERE[0].1);
        assert_eq!(scan("crates/store/src/lib.rs", &off).len(), 1);
        let path = format!("{}{}main", NOWHERE[3].0, NOWHERE[3].1);
        assert_eq!(scan("README.md", &path).len(), 1);
    }

    #[test]
    fn long_files_are_found_in_the_crates() {
        let long = "\n".repeat(LONGEST + 1);
        assert_eq!(scan("crates/store/src/lib.rs", &long).len(), 1);
    }
}
