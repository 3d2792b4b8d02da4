//! What can be written into the search field.

use maud::{Markup, html};

/// The query language, in a table.
pub(crate) fn language() -> Markup {
    let rows = [
        ("spider web", "both words; pages with some of them follow where there are few"),
        ("\"spider web\"", "side by side; \"spider web\"~3 at most three places apart"),
        ("spider OR moth", "one of them"),
        ("spider -silk", "without a word"),
        ("(rain OR snow) garden", "what belongs together"),
        ("gard*", "words that begin so"),
        ("spidre~2", "words that are spelled nearly so"),
        ("intitle:garden", "in the title; inurl: in the address"),
        ("site:example.org", "pages of a site"),
        ("lang:en type:pdf", "in a language, of a type"),
        ("link:https://example.org/", "pages that link there"),
        ("after:2026-01 before:2026-03", "whose text changed last in that time"),
        ("first-seen:2026-01", "that were met then or later"),
    ];
    html! {
        section.help {
            h2 { "What can be written" }
            div.scroll {
                table {
                    thead { tr { th scope="col" { "Written so" } th scope="col" { "Finds" } } }
                    tbody { @for (written, finds) in rows { tr { td { code { (written) } } td { (finds) } } } }
                }
            }
            p.quiet { "Keys: " kbd { "/" } " goes to the search field, " kbd { "j" } " and " kbd { "k" }
                " move between the pages found, " kbd { "Enter" } " opens one." }
        }
    }
}
