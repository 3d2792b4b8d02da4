//! Ready-made settings for common kinds of sites.
//!
//! A preset stands between the defaults and what the user says: it holds where nobody wrote anything,
//! and where a file only repeats a default, as one from `config init` does everywhere. The filter of a
//! preset has the same name and stands in `filters.toml`.
//! Invariant (tested): every value fits its key.

/// A preset.
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in a line.
    pub help: &'static str,
    /// Settings as they would stand in the file.
    pub settings: &'static [(&'static str, &'static str)],
}

/// The word for none, and the names of all.
pub(super) const NAMES: &[&str] = &["none", "news", "blogs", "forums", "docs"];

/// All presets.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "news",
        help: "Newspapers: articles and their lists, not their print, share and comment views.",
        settings: &[
            ("crawl.filter", r#""news""#),
            ("crawl.scope", r#""domain""#),
            ("crawl.sitemaps", "true"),
            ("revisit.round", r#""6h""#),
        ],
    },
    Preset {
        name: "blogs",
        help: "Blogs: posts, archives and tags, not reply links, shares, trackbacks and log-ins.",
        settings: &[
            ("crawl.filter", r#""blogs""#),
            ("crawl.scope", r#""host""#),
            ("crawl.sitemaps", "true"),
            ("revisit.round", r#""1d""#),
        ],
    },
    Preset {
        name: "forums",
        help: "Forums: threads and lists in one order, not reply forms, searches and members' tools.",
        settings: &[
            ("crawl.filter", r#""forums""#),
            ("crawl.scope", r#""host""#),
            ("crawl.query", r#""sort""#),
            ("revisit.round", r#""1d""#),
        ],
    },
    Preset {
        name: "docs",
        help: "Documentation: everything below the start URL, PDF too, not its search and raw copies.",
        settings: &[
            ("crawl.filter", r#""docs""#),
            ("crawl.scope", r#""prefix""#),
            ("crawl.types", r#"["html", "text", "pdf"]"#),
            ("revisit.round", r#""7d""#),
        ],
    },
];

/// The preset of a name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
