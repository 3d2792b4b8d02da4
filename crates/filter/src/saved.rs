//! The text of a filter that goes with a job: whole, so that whoever reads it needs no other file.

use crate::rule::Rule;
use serde::{Deserialize, Serialize};

/// The newest form of the text.
const VERSION: u32 = 1;

/// A filter as it is kept with a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// What the user called it: a name of the configuration, or a file.
    pub name: String,
    /// Its rule; names, scripts and lists of domains are in it.
    pub rule: Rule,
}

/// Why a text is no filter.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// It was written by a newer program.
    #[error("the filter of the job has the form {0}, which this program is too old for")]
    Newer(u32),
    /// It cannot be read.
    #[error("the filter of the job cannot be read")]
    Unreadable(#[from] serde_json::Error),
}

#[derive(Serialize, Deserialize)]
struct Form {
    version: u32,
    name: String,
    rule: Rule,
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl Saved {
    /// The text.
    pub fn to_text(&self) -> String {
        let form = Form { version: VERSION, name: self.name.clone(), rule: self.rule.clone() };
        serde_json::to_string(&form).expect("rules are plain data")
    }

    /// Reads a text.
    pub fn from_text(text: &str) -> Result<Self, SavedError> {
        let Version { version } = serde_json::from_str(text)?;
        if version > VERSION {
            return Err(SavedError::Newer(version));
        }
        let Form { name, rule, .. } = serde_json::from_str(text)?;
        Ok(Saved { name, rule })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_it_was_written_for_ever() {
        let rule = Rule::All(vec![
            Rule::Domain(vec!["a.test".to_owned()]),
            Rule::Not(Box::new(Rule::Named {
                name: "forum".to_owned(),
                rule: Box::new(Rule::Param(vec!["sort".to_owned()])),
            })),
            Rule::MaxSize(9),
            Rule::Script { name: "s.rhai".to_owned(), text: "fn crawl(url) { true }".to_owned() },
        ]);
        let saved = Saved { name: "mine".to_owned(), rule };
        let text = r#"{"version":1,"name":"mine","rule":{"all":[{"domain":["a.test"]},{"not":{"named":{"name":"forum","rule":{"param":["sort"]}}}},{"max_size":9},{"script":{"name":"s.rhai","text":"fn crawl(url) { true }"}}]}}"#;
        assert_eq!(saved.to_text(), text);
        assert_eq!(Saved::from_text(text).unwrap(), saved);
    }

    #[test]
    fn a_newer_form_is_refused_with_its_number() {
        let e = Saved::from_text(r#"{"version":2,"rules":[]}"#).unwrap_err();
        assert!(e.to_string().contains("form 2"), "{e}");
        assert!(Saved::from_text("not {suffix = '.cgi'}").is_err());
    }
}
