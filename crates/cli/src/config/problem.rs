//! What is wrong with the configuration, and where.
//!
//! Made by every step of loading; printed by the command line. Invariants: all problems of a
//! load are kept, not only the first; each is one line that begins with its place
//! (`argiope.toml:12: `), so that editors can jump to it.
//! Not here: exit codes and colours.

use std::fmt;

/// Lines printed at most; more say only that a file is not a configuration.
const SHOWN: usize = 50;

/// Everything that is wrong with the configuration.
#[derive(Debug)]
pub struct ConfigError {
    problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Debug)]
pub(super) struct Problem {
    /// Line in the file, for sorting; 0 for what has no line.
    pub line: usize,
    /// The whole sentence with its place.
    pub text: String,
}

impl ConfigError {
    /// Gathers problems in the order of their lines; those without a line come last.
    pub(super) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.line.wrapping_sub(1));
        Self { problems }
    }

    /// The problems, one sentence each.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.problems.iter().map(|problem| problem.text.as_str())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, line) in self.lines().take(SHOWN).enumerate() {
            let newline = if n == 0 { "" } else { "\n" };
            write!(f, "{newline}{line}")?;
        }
        match self.problems.len().checked_sub(SHOWN) {
            Some(more @ 1..) => write!(f, "\n… and {more} more"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}
