//! Names of authors, as bylines write them.
//!
//! * What this is: what stands around a name is taken away (`By`, dates, roles), several names are
//!   parted, and what is no name (`admin`, a URL) is none.
//! * Its place: `facts` hands in what the page calls its author.

use crate::article::ago::{self, Past};
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
    ein gastbeitrag von|een artikel van|tekst:|текст:|di:|por:|foto y texto:|texto:|testo di|记者：|记者:|撰文：|文：|編輯：|责任编辑：|words and photos by|words and pictures by|words & photos by|text and photos by|\
    story and photos by|text & photos by|words:";

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
    mon|tue|wed|thu|fri|sat|sun|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|\
    monday|tuesday|wednesday|thursday|friday|saturday|sunday|lunes|martes|miércoles|jueves|viernes|sábado|domingo|\
    montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|\
    dimanche|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|segunda-feira|terça-feira|quarta-feira|\
    quinta-feira|sexta-feira|segunda|terça|quarta|quinta|sexta|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|\
    zondag|понедельник|вторник|среда|четверг|пятница|суббота|воскресенье|poniedziałek|wtorek|środa|czwartek|piątek|\
    sobota|niedziela|pazartesi|salı|çarşamba|perşembe|cuma|cumartesi|pazar";

/// Words for what somebody does at a paper.
const POSTS: &str = "reporter editor writer correspondent journalist columnist producer photographer critic contributor \
    presenter intern reporterin redakteur redakteurin korrespondent korrespondentin journalistin journaliste \
    correspondant correspondante rédacteur rédactrice periodista redactor redactora corresponsal giornalista \
    corrispondente jornalista repórter correspondente корреспондент журналист редактор обозреватель";

/// Words for what was made besides the words.
const SHOTS: &str = "photo photos photograph photographs photography picture pictures image images video videos \
    illustration illustrations foto fotos fotografía fotografías bilder";

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
    // Nor is one that is counted from today.
    if let Some(ago) =
        ago::first(&text).filter(|ago| ago.alone || !matches!(ago.past, Past::Day(_, None)))
    {
        let before = names_in(&text[..ago.start]);
        return if before.is_empty() { names_in(&text[ago.end..]) } else { before };
    }
    names_in(&text)
}

/// Where a text goes over to who took the pictures: `Words by Jane Doe. Photos by John Roe`.
fn shots(text: &str) -> Option<usize> {
    let mut last = "";
    let mut at = 0;
    for word in text.split(' ') {
        let is_shot = SHOTS
            .split_ascii_whitespace()
            .any(|shot| shot.eq_ignore_ascii_case(word.trim_end_matches(':')));
        let behind = text[at + word.len()..].trim_start();
        let leads = word.ends_with(':')
            || ["by ", "by:", "von ", "de ", "di "].iter().any(|by| behind.starts_with(by));
        if is_shot && leads && last.ends_with(['.', ';', ',', '|', '/', '·', '•', '–', '—', '-'])
        {
            return Some(at);
        }
        last = word;
        at += word.len() + 1;
    }
    None
}

/// The names in a text without a date.
fn names_in(text: &str) -> Vec<String> {
    let mut text = text.to_owned();
    if let Some(at) = shots(&text) {
        let words = text[..at].trim_end();
        text.truncate(words.strip_suffix('.').unwrap_or(words).len());
    }
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
    for part in parts.into_iter().flat_map(joined) {
        let pieces: Vec<&str> = part.split(", ").collect();
        let is_whole = |name: &str| (2..=4).contains(&name.split(' ').count()) && !is_role(name);
        if pieces.iter().skip(1).any(|piece| is_post(piece)) && is_whole(pieces[0]) {
            // `Jane Doe, Chief Reporter`
            for piece in pieces.into_iter().filter(|piece| is_whole(piece) && !is_post(piece)) {
                add(&mut out, piece);
            }
            continue;
        }
        if !out.is_empty() && is_post(part) && part.contains(' ') {
            // `Jane Doe, Health and Science Reporter`
            continue;
        }
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

/// Words between two people that are also parts of names (`e`), or words of other languages.
const AND: [&str; 7] = [" e ", " og ", " och ", " i ", " и ", " ve ", " ja "];

/// The people that such a word stands between: all of them have two names at least.
fn joined(text: &str) -> Vec<&str> {
    let is_whole = |name: &&str| name.trim().contains(' ') && is_cased(name.trim());
    let mut split = AND.iter().map(|and| text.split(and).collect::<Vec<_>>());
    split.find(|parts| parts.len() > 1 && parts.iter().all(is_whole)).unwrap_or(vec![text])
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

/// Whether a text says what somebody does at a paper.
fn is_post(text: &str) -> bool {
    text.split(|c: char| !c.is_alphabetic()).any(|word| {
        let word = word.to_lowercase();
        POSTS.split_ascii_whitespace().any(|post| post == word)
    })
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
    fn several_people_are_parted_in_many_languages() {
        for line in [
            "By Anna Berg and Tom Lund",
            "Von Anna Berg und Tom Lund",
            "di Anna Berg e Tom Lund",
            "Av Anna Berg och Tom Lund",
            "Anna Berg og Tom Lund",
        ] {
            assert_eq!(names(line), ["Anna Berg", "Tom Lund"], "{line}");
        }
        assert_eq!(names("Por Maria Andrade e Silva"), ["Maria Andrade e Silva"]);
        assert_eq!(names("Por Ana López en Nueva York"), ["Ana López en Nueva York"]);
    }

    #[test]
    fn days_of_the_week_and_days_counted_from_today_are_nobody() {
        for line in [
            "| Jueves 19/11/2026 10:20",
            "Hoy",
            "Ayer",
            "hace 2 horas",
            "Hoy, 10:20",
            "2 hours ago",
            "昨天",
        ] {
            assert_eq!(names(line), [""; 0], "{line}");
        }
        for line in [
            "Anna Berg, hace 2 horas",
            "Anna Berg | Hoy",
            "Anna Berg vor 2 Stunden",
            "Hoy, 10:20 | Anna Berg",
        ] {
            assert_eq!(names(line), ["Anna Berg"], "{line}");
        }
        assert_eq!(names("By Chris Hoy"), ["Chris Hoy"]);
    }

    #[test]
    fn what_somebody_does_is_no_part_of_a_name() {
        for line in [
            "Tom Bassett, Reporter",
            "By Tom Bassett, Chief Reporter",
            "By Tom Bassett, Health and Science Reporter",
            "Tom Bassett, Senior Editor, News",
            "Words by Tom Bassett. Photos by Ann Lee",
            "Words by Tom Bassett | Photos: Ann Lee",
            "Words and photos by Tom Bassett",
        ] {
            assert_eq!(names(line), ["Tom Bassett"], "{line}");
        }
        assert_eq!(names("By TOM BASSETT, Chief Reporter"), ["TOM BASSETT"]);
        assert_eq!(names("Tom Bassett, Chief Reporter, and Ann Lee"), ["Tom Bassett", "Ann Lee"]);
        assert_eq!(names("Tom Bassett, Ann Lee"), ["Tom Bassett", "Ann Lee"]);
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
