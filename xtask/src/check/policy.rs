//! Who may depend on whom, read from `cargo metadata`.
//!
//! * Outside crates: an allowed licence, from the registry, no git sources.
//! * Rooms: a heavy outside crate is a direct dependency of one crate of ours only.
//! * Layers: the edges between our crates are those of the table, no others.
//!
//! Development dependencies are free of the last two: tests may use what they like.

use super::licence;
use anyhow::{Context, Result};
use serde_json::Value;

/// Our crates, each with those it may know. A new crate gets a row here first.
const LAYERS: &[(&str, &[&str])] = &[
    ("argiope-model", &[]),
    ("argiope-filter", &["argiope-model"]),
    ("argiope-frontier", &["argiope-model"]),
    ("argiope-parse", &["argiope-model"]),
    ("argiope-testweb", &["argiope-model"]),
    ("argiope-news", &["argiope-model", "argiope-parse"]),
    ("argiope-archive", &["argiope-model"]),
    ("argiope-fetch", &["argiope-model"]),
    ("argiope-store", &["argiope-model", "argiope-frontier"]),
    ("argiope-graph", &["argiope-model", "argiope-store"]),
    ("argiope-index", &["argiope-model", "argiope-store", "argiope-archive"]),
    (
        "argiope-crawl",
        &[
            "argiope-model",
            "argiope-frontier",
            "argiope-store",
            "argiope-fetch",
            "argiope-filter",
            "argiope-parse",
            "argiope-archive",
            "argiope-graph",
            "argiope-index",
            "argiope-news",
        ],
    ),
    (
        "argiope-cli",
        &[
            "argiope-model",
            "argiope-frontier",
            "argiope-store",
            "argiope-fetch",
            "argiope-filter",
            "argiope-parse",
            "argiope-archive",
            "argiope-crawl",
            "argiope-news",
            "argiope-testweb",
            "argiope-web",
        ],
    ),
    ("argiope-web", &["argiope-model", "argiope-archive", "argiope-crawl"]),
    (
        "argiope-sim",
        &["argiope-model", "argiope-frontier", "argiope-store", "argiope-fetch", "argiope-crawl"],
    ),
    ("xtask", &[]),
];

/// Heavy outside crates and the room each lives in.
const ROOMS: &[(&str, &str)] = &[
    ("axum", "argiope-web"),
    ("brotli-decompressor", "argiope-fetch"),
    ("chardetng", "argiope-parse"),
    ("clap", "argiope-cli"),
    ("fjall", "argiope-store"),
    ("frostem", "argiope-index"),
    ("html5gum", "argiope-parse"),
    ("http-body-util", "argiope-fetch"),
    ("hyper", "argiope-fetch"),
    ("hyper-util", "argiope-web"),
    ("icu_normalizer", "argiope-index"),
    ("maud", "argiope-web"),
    ("publicsuffix", "argiope-model"),
    ("regex", "argiope-filter"),
    ("rhai", "argiope-filter"),
    ("tantivy", "argiope-index"),
    ("tokio-postgres", "argiope-store"),
    ("toml_edit", "argiope-cli"),
    ("tracing-subscriber", "argiope-cli"),
    ("unicode-segmentation", "argiope-index"),
    ("url", "argiope-model"),
    ("whatlang", "argiope-parse"),
];

/// Everything the metadata says against the rules.
pub fn findings(metadata: &Value) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().context("metadata without packages")? {
        let name = package["name"].as_str().context("package without a name")?;
        match package["source"].as_str() {
            None => ours(name, package, &mut found)?,
            Some(source) => outside(name, source, package, &mut found),
        }
    }
    Ok(found)
}

fn outside(name: &str, source: &str, package: &Value, found: &mut Vec<String>) {
    if !source.starts_with("registry+") {
        found.push(format!("{name} comes from {source}; dependencies come from the registry"));
    }
    let expression = package["license"].as_str().unwrap_or("");
    if !licence::allowed(expression) {
        found.push(format!("{name} has the licence \"{expression}\", which is not on the list"));
    }
}

fn ours(name: &str, package: &Value, found: &mut Vec<String>) -> Result<()> {
    let Some((_, may_know)) = LAYERS.iter().find(|(layer, _)| *layer == name) else {
        found.push(format!("{name} has no row in the table of layers"));
        return Ok(());
    };
    for dependency in package["dependencies"].as_array().context("package without dependencies")? {
        if dependency["kind"].as_str() == Some("dev") {
            continue;
        }
        let wanted = dependency["name"].as_str().context("dependency without a name")?;
        let is_ours = LAYERS.iter().any(|(layer, _)| *layer == wanted);
        if is_ours && !may_know.contains(&wanted) {
            found.push(format!("{name} must not know {wanted}"));
        }
        let room = ROOMS.iter().find(|(heavy, _)| *heavy == wanted);
        if let Some((_, room)) = room.filter(|(_, room)| *room != name) {
            found.push(format!("{name} depends on {wanted}, which lives in {room}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn wrong_layers_rooms_sources_and_licences_are_found_and_tests_are_free() {
        let dependency = |name: &str, kind: Value| json!({"name": name, "kind": kind});
        let metadata = json!({"packages": [
            {"name": "argiope-parse", "source": null, "dependencies": [
                dependency("argiope-store", Value::Null), dependency("hyper", Value::Null),
                dependency("fjall", json!("dev")), dependency("argiope-model", Value::Null)]},
            {"name": "argiope-new", "source": null, "dependencies": []},
            {"name": "far", "source": "git+https://example.org/far", "license": "MIT"},
            {"name": "strict", "source": "registry+https://example.org", "license": "AGPL-3.0"},
        ]});
        let found = findings(&metadata).unwrap();
        assert_eq!(found.len(), 5, "{found:#?}");
        assert!(found[0].contains("must not know argiope-store"));
        assert!(found[1].contains("lives in argiope-fetch"));
    }
}
