//! Licence expressions: may we use this?
//!
//! Reads SPDX expressions (`MIT OR (Apache-2.0 AND ISC)`, `Apache-2.0 WITH LLVM-exception`) and the
//! older `MIT/Apache-2.0`. `OR` needs one side allowed, `AND` both; `AND` binds tighter.

/// Licences that ask no more than notice or file-wise sharing.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// Whether the expression leaves us a way that uses allowed licences only.
pub fn allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut place = 0;
    either(&tokens, &mut place) == Some(true) && place == tokens.len()
}

fn either(tokens: &[&str], place: &mut usize) -> Option<bool> {
    let mut good = both(tokens, place)?;
    while tokens.get(*place) == Some(&"OR") {
        *place += 1;
        good |= both(tokens, place)?;
    }
    Some(good)
}

fn both(tokens: &[&str], place: &mut usize) -> Option<bool> {
    let mut good = single(tokens, place)?;
    while tokens.get(*place) == Some(&"AND") {
        *place += 1;
        good &= single(tokens, place)?;
    }
    Some(good)
}

fn single(tokens: &[&str], place: &mut usize) -> Option<bool> {
    let token = *tokens.get(*place)?;
    *place += 1;
    if token == "(" {
        let good = either(tokens, place)?;
        (tokens.get(*place) == Some(&")")).then(|| *place += 1)?;
        return Some(good);
    }
    if tokens.get(*place) == Some(&"WITH") {
        *place += 2; // an exception only ever permits more
    }
    Some(ALLOWED.contains(&token.trim_end_matches('+')))
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn one_allowed_side_of_or_is_enough_and_both_of_and_are_needed() {
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-3.0 AND ISC OR Zlib",
        ] {
            assert!(allowed(good), "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "", "MIT OR", "(MIT", "MIT MIT", "OR"] {
            assert!(!allowed(bad), "{bad}");
        }
    }
}
