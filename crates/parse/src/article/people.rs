//! Names of authors, as bylines write them.
//!
//! * What this is: what stands around a name is taken away (`By`, dates, roles), several names are
//!   parted, and what is no name (`admin`, a URL) is none.
//! * Its place: `facts` hands in what the page calls its author.

use crate::article::tree::fold;
use crate::article::when;

/// Words that lead to a name.
const BEFORE: &str = "by|by:|von|par|por|door|di|da|od|av|af|words by|text by|story by|written by|posted by|\
    published by|author:|author|autor:|autor|autorin:|autorin|auteur|auteur:|\
    geschrieben von|verfasst von|veröffentlicht von|ein artikel von|ein beitrag von|\
    eingestellt von|erstellt von|gepostet von|publié par|écrit par|rédigé par|escrito por|\
    publicado por|scritto da|text:|text|reported by|reviewed by|medically reviewed by|\
    view all posts by|zeige alle beiträge von|alle beiträge von|alle artikel von|more by|\
    more from|voir tous les articles de|ver todas las entradas de|\
    ver todos los artículos de|mehr von|articles by|posts by|by staff writer|verfasser:|\
    redakteur:|editor:|posted on|veröffentlicht am|veröffentlicht|published on|published|publié le|posted|updated|last updated|aktualisiert|автор:|作者：|作者:|文/|文:|記者：|筆者：|글:|记者|posté par|article by|written by:|redaktion:|ein beitrag von|beitrag von|blog beitrag von|gastbeitrag von|\
    ein gastbeitrag von|een artikel van|tekst:|текст:|di:|por:|foto y texto:|texto:|testo di|记者：|记者:|撰文：|文：|編輯：|责任编辑：";

/// Words of publishing that stand behind names.
pub(super) const PUBLISHING: &str = "updated published posted publié publiée posté veröffentlicht erschienen aktualisiert \
    publicado publicada actualizado actualizada atualizado pubblicato pubblicata aggiornato gepubliceerd geplaatst \
    bijgewerkt publicerad publicerat uppdaterad publiceret udgivet opdateret publisert oppdatert opublikowano \
    opublikowane aktualizacja publikováno vydáno aktualizováno опубликовано опубликована обновлено опубліковано \
    оновлено yayınlanma yayımlanma yayınlandı güncelleme δημοσιεύτηκε δημοσίευση ενημέρωση نشر نُشر";

/// Small words between a name and a date, and words of publishing in scripts without spaces.
const SMALL: &str = " on| at| am| um| vom| le| il| el| em| op| den| dne| dnia| στις| بتاريخ|公開|更新|配信|发布|发表|發布|發表|发布时间：|입력|등록|수정";

/// What begins a line about a picture, or about who made the site.
const PICTURES: &str = "photo|foto|фото|image|bild:|bilder:|picture|illustration|graphic|video:|getty|写真|撮影|fotoğraf|developed by|powered by|filed under";

/// What calls itself an author and is none.
const NOBODY: &str = "admin|administrator|webmaster|root|user|guest|anonymous|wordpress|default|unknown|none|\
    null|undefined|editor|author|authors|by|share|follow|follow author|about the author|\
    test|n/a|advertisement|facebook|twitter|instagram|email|login|redaktion online|\
    super user|site admin|no author|the author|zeige alle artikel|zeige alle beiträge|\
    alle beiträge anzeigen|more posts|guest author|read more|beitrags-autor|beitragsautor|\
    website|follow us|print|wpadmin|about author|comments|posts|view all posts|\
    see all posts|uhr|clock|min read|minutes|full bio|view bio|read bio|see full bio|view profile|\
    view more posts|last modified|log in|sign in|sign up|get app|authored by|post|via|menu|search|\
    mon|tue|wed|thu|fri|sat|sun|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec";

/// The names in what a page calls its author.
pub(crate) fn names(raw: &str) -> Vec<String> {
    let text = fold(raw);
    if text.starts_with("http://")
        || text.starts_with("https://")
        || text.starts_with("www.") && text.contains('/')
    {
        return Vec::new();
    }
    if text.chars().count() > 200 {
        return Vec::new();
    }
    let lower = text.trim_start_matches(['(', '[', '©', ' ']).to_lowercase();
    if PICTURES.split('|').any(|p| lower.starts_with(p)) {
        return Vec::new();
    }
    // A date is not the name; the name stands before it, else behind.
    if let Some(read) = when::first(&text, true) {
        let before = names_in(&text[..read.start]);
        return if before.is_empty() {
            names_in(&text[read.end.min(text.len())..])
        } else {
            before
        };
    }
    names_in(&text)
}

/// The names in a text without a date.
fn names_in(text: &str) -> Vec<String> {
    let mut text = text.to_owned();
    // What tells of publishing is no part of a name, nor is what stands behind it.
    let words = text.split(' ').scan(0, |at, word| {
        let from = *at;
        *at += word.len() + 1;
        Some((from, word))
    });
    let cut = words.skip(1).find(|(_, word)| {
        let word = word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        PUBLISHING.split(' ').any(|p| p == word)
    });
    if let Some((at, _)) = cut
        && !people_words(&text[..at]).is_empty()
    {
        text.truncate(at);
    }
    for word in SMALL.split('|') {
        if let Some(cut) = text.trim_end().strip_suffix(word) {
            text = cut.to_owned();
        }
    }
    loop {
        let trimmed = text.trim_matches(|c: char| {
            c.is_whitespace()
                || matches!(
                    c,
                    '|' | '•' | '·' | ',' | ';' | ':' | '-' | '–' | '—' | '/' | '»' | '>'
                )
        });
        let lower = trimmed.to_lowercase();
        let lead = BEFORE
            .split('|')
            .filter(|b| {
                lower.strip_prefix(*b).is_some_and(|rest| {
                    rest.is_empty()
                        || !b.ends_with(|c: char| c.is_alphanumeric())
                        || rest.starts_with([' ', ':'])
                })
            })
            .map(|b| b.chars().count())
            .max();
        match lead {
            Some(count) => text = trimmed.chars().skip(count).collect(),
            None => {
                text = trimmed.to_owned();
                break;
            }
        }
    }
    // A number begins a time, a telephone, a count.
    if let Some(at) = text.find(|c: char| c.is_ascii_digit())
        && at > 3
        && text[..at].ends_with([' ', '|', '('])
    {
        text.truncate(at);
    }
    for at in [
        " on Monday",
        " on Tuesday",
        " on Wednesday",
        " on Thursday",
        " on Friday",
        " on Saturday",
        " on Sunday",
        " am ",
        " vor ",
        " před ",
        " on ",
        " at ",
        " il y a ",
        " in: ",
    ] {
        if let Some(cut) = text.find(at)
            && cut >= 3
        {
            text.truncate(cut);
        }
    }
    let text = text.trim_start_matches(['|', ' ']).to_owned();
    let mut text = text.trim_end_matches(['|', ' ', ',', '(']).to_owned();
    // Roles in brackets.
    if let Some((name, _)) = text.split_once(" (")
        && name.contains(' ')
    {
        text = name.to_owned();
    }
    // Roles and houses behind a bar.
    for bar in [" | ", "|", " - ", " • ", " · ", " – ", " — ", " // "] {
        if let Some((name, _)) = text.split_once(bar) {
            text = name.to_owned();
        }
    }
    let mut out: Vec<String> = Vec::new();
    let mut rest = text.as_str();
    let mut parts = Vec::new();
    while let Some((at, len)) =
        [" and ", " und ", " et ", " & ", " y ", "; ", " / ", " with ", " und Von ", "、"]
            .iter()
            .filter_map(|s| rest.find(s).map(|at| (at, s.len())))
            .min()
    {
        parts.push(&rest[..at]);
        rest = &rest[at + len..];
    }
    parts.push(rest);
    for part in parts {
        let pieces: Vec<&str> = part.split(", ").collect();
        // `Doe, Jane` is one; `Jane Doe, John Roe` are two; `Jane Doe, PhD` is one.
        if pieces.len() > 1
            && pieces.iter().all(|p| (2..=4).contains(&p.split(' ').count()) && !is_role(p))
        {
            for piece in pieces {
                add(&mut out, piece);
            }
        } else if let [last, first] = pieces[..]
            && !last.contains(' ')
            && !is_role(first)
            && first.split(' ').count() <= 2
        {
            add(&mut out, &format!("{first} {last}"));
        } else if let [name, place] = pieces[..]
            && (2..=4).contains(&name.split(' ').count())
            && !place.contains(' ')
            && place.chars().nth(1).is_some_and(char::is_lowercase)
        {
            // `Jane Doe, Lille`, not `Jane Doe, MA`.
            add(&mut out, name);
        } else if pieces.len() > 2 && pieces[0].contains(' ') {
            add(&mut out, pieces[0]);
        } else {
            add(&mut out, part);
        }
    }
    out
}

/// The words of a text that may be of a name: not those that lead to one.
fn people_words(text: &str) -> &str {
    let text = text.trim_matches(|c: char| !c.is_alphabetic());
    let lower = text.to_lowercase();
    if BEFORE.split('|').any(|b| b == lower) { "" } else { text }
}

/// Whether all words of a name begin as words of names do: with a capital, in a script without
/// such, or as the small words in names.
pub(crate) fn is_cased(name: &str) -> bool {
    name.split(' ').enumerate().all(|(at, word)| {
        word.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_lowercase())
            || at > 0
                && matches!(
                    word,
                    "van"
                        | "von"
                        | "der"
                        | "den"
                        | "de"
                        | "del"
                        | "della"
                        | "di"
                        | "da"
                        | "dos"
                        | "du"
                        | "la"
                        | "le"
                        | "al"
                        | "el"
                        | "bin"
                        | "ibn"
                        | "ter"
                        | "ten"
                        | "zu"
                        | "mit"
                        | "y"
                        | "e"
                )
    })
}

fn is_role(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "editor",
        "writer",
        "reporter",
        "expert",
        "redakt",
        "staff",
        "correspond",
        "author",
        "director",
        "manager",
        "phd",
        "m.d",
        "founder",
        "analyst",
        "consult",
        "team",
        "news",
    ]
    .iter()
    .any(|r| lower.contains(r))
}

/// Whether a name is one for programs: `page.head.author`.
fn is_key(name: &str) -> bool {
    name.matches('.').count() >= 2
        && name
            .split('.')
            .all(|part| part.len() > 1 && part.chars().all(|c| c.is_ascii_lowercase()))
}

fn add(out: &mut Vec<String>, name: &str) {
    let name = name.trim_start_matches(['(', '[']).trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, ',' | ';' | ':' | '|' | '@' | '"' | '-' | '.') && c != '.'
    });
    let name = name.trim();
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let lower = name.to_lowercase();
    let words = name.split(' ').count();
    if letters < 2
        || name.starts_with(|c: char| c.is_ascii_digit())
        || name.chars().count() > 80
        || words > 9
        || NOBODY.split('|').any(|n| n == lower)
        || PUBLISHING.split(' ').any(|p| p == lower)
        || lower.contains("://")
        || lower.contains('{')
        || is_key(name)
    {
        return;
    }
    if (lower.contains('@') || lower.contains("[at]")) && lower.contains('.') {
        return;
    }
    if !out.iter().any(|o| o.to_lowercase() == lower) && out.len() < 20 {
        out.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_days_and_keys_are_nobody() {
        for line in ["Full Bio", "View more posts", "Sat", "Log In", "page.head.extra.author"] {
            assert_eq!(names(line), [""; 0], "{line}");
        }
        assert_eq!(names("By J.R.R. Tolkien"), ["J.R.R. Tolkien"]);
    }

    #[test]
    fn words_of_publishing_are_no_part_of_names() {
        for line in [
            "Anna Berg, Publié le 16 novembre 2026 à 16h44",
            "Par Anna Berg, publié le 16 novembre 2026",
            "Anna Berg | Publié hier",
            "Anna Berg, veröffentlicht am 16.11.2026",
            "Anna Berg - Publicado el 16 de noviembre de 2026",
            "Anna Berg, pubblicato il 16 novembre 2026",
            "Anna Berg, publicado em 16 de novembro de 2026",
            "Anna Berg, gepubliceerd op 16 november 2026",
            "Anna Berg, Publicerad den 16 november 2026",
            "Anna Berg, opublikowano 16 listopada 2026",
            "Anna Berg, Опубликовано 16 ноября 2026, 22:15",
            "Anna Berg Δημοσιεύτηκε στις 16 Νοεμβρίου 2026",
            "Published by Anna Berg on 16 November 2026",
            "Publié le 16 novembre 2026 par Anna Berg",
        ] {
            assert_eq!(names(line), ["Anna Berg"], "{line}");
        }
    }
}
