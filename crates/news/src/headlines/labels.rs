//! What stands beside a title and is known by its words or by how it is set off: labels, names of
//! authors, kickers.
//!
//! * What this is: judgements about elements in a link or a heading, without asking for their classes.
//! * Its place: `title` asks, beside its names of classes.
//! * Invariants: an element is judged by itself and by what stands right beside it.
//! * What is not here: which elements are asked about, and whether enough of a title is left.

use super::block::is_wide;
use super::title::word_count;
use argiope_parse::Outline;

/// Nodes of a heading among which a sign is looked for.
const MAX_NODES: usize = 400;

/// Words that say of what kind something is, or who may read it. They stand alone.
const LABELS: &[&str] = &[
    "abo",
    "analisi",
    "analyse",
    "analysis",
    "análise",
    "análisis",
    "ao vivo",
    "audio",
    "bildergalerie",
    "breaking",
    "breaking news",
    "canlı",
    "column",
    "comment",
    "commentaire",
    "con video",
    "diretta",
    "editorial",
    "eil",
    "eilmeldung",
    "en direct",
    "en directo",
    "en vivo",
    "enquête",
    "entretien",
    "entrevista",
    "esclusiva",
    "exclusif",
    "exclusiva",
    "exclusive",
    "exclusivo",
    "exklusiv",
    "explainer",
    "feature",
    "fotogalería",
    "fotos",
    "fotostrecke",
    "für abonnenten",
    "galeria de fotos",
    "galerie",
    "gallery",
    "im video",
    "in diretta",
    "in pictures",
    "interview",
    "intervista",
    "kolumne",
    "kommentar",
    "leitartikel",
    "listen",
    "live",
    "live blog",
    "live updates",
    "liveblog",
    "liveticker",
    "long read",
    "meinung",
    "minuto a minuto",
    "mit video",
    "op-ed",
    "opinie",
    "opinion",
    "opinione",
    "opinión",
    "opinião",
    "photo gallery",
    "photos",
    "podcast",
    "porträt",
    "premium",
    "reportage",
    "reportagem",
    "reportaje",
    "réservé aux abonnés",
    "solo suscriptores",
    "son dakika",
    "subscribers only",
    "the long read",
    "ticker",
    "ultima ora",
    "update",
    "updated",
    "urgente",
    "video",
    "vidéo",
    "vídeo",
    "watch",
    "watch video",
    "édito",
    "éditorial",
    "última hora",
    "видео",
    "мнение",
    "срочно",
    "эксклюзив",
    "عاجل",
    "فيديو",
    "مباشر",
    "حصري",
    "会員限定",
    "动画",
    "动图",
    "動画",
    "快讯",
    "有料会員記事",
    "独家",
    "直播",
    "視頻",
    "视频",
    "速報",
    "단독",
    "속보",
    "영상",
];

/// What a line about the author begins with.
const BY: &[&str] = &["af", "av", "by", "di", "door", "od", "par", "por", "von"];

/// Kinds of texts that are by somebody.
const WRITTEN: &[&str] = &[
    "analyse",
    "article",
    "column",
    "columna",
    "entretien",
    "essay",
    "gastbeitrag",
    "gespräch",
    "interview",
    "kolumne",
    "kommentar",
    "leitartikel",
    "reportage",
];

/// Whether a text says only of what kind something is.
pub(super) fn is_label(text: &str) -> bool {
    let is_edge = |c: char| !c.is_alphanumeric();
    let text = text.trim_matches(is_edge).to_lowercase();
    LABELS.contains(&text.as_str())
}

/// Whether a text says how long something takes: "2 min read", "4 Min.", "3 min de lecture".
pub(super) fn is_length(text: &str) -> bool {
    let text = text.to_lowercase();
    let (count, unit) = text.split_once(' ').unwrap_or_default();
    let known = ["min", "mins", "minute", "minutes", "minuten", "minuti", "minutos"];
    let (first, rest) = unit.split_once(' ').unwrap_or((unit, ""));
    let reads = ["", "read", "lesezeit", "lesedauer", "de lecture", "de lectura", "di lettura"];
    !count.is_empty()
        && count.bytes().all(|b| b.is_ascii_digit())
        && known.contains(&first.trim_end_matches('.'))
        && reads.contains(&rest)
}

/// Whether a text is a name with a letter in its midst: "Thomas L. Friedman".
pub(super) fn is_full_name(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_name = |word: &str| word.starts_with(char::is_uppercase);
    matches!(&*words, [first, letter, last]
        if is_name(first) && is_name(last) && is_name(letter) && letter.len() == 2 && letter.ends_with('.'))
}

/// Whether a text says by whom something is: "By Ann Smith", "Ein Kommentar von Ann Smith".
pub(super) fn is_by_somebody(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let small = |at: usize| words.get(at).map(|word| word.to_lowercase()).unwrap_or_default();
    let is_by = |at: usize| BY.contains(&small(at).trim_end_matches(':'));
    let is_name =
        |at: usize| words.get(at).and_then(|w| w.chars().next()).is_some_and(char::is_uppercase);
    let is_kind = |at: usize| {
        let word = small(at);
        WRITTEN.iter().any(|kind| word == *kind || word.ends_with(&format!("-{kind}")))
    };
    words.len() <= 12
        && (is_by(0) && is_name(1) && words.len() <= 8
            || (1..words.len().min(5))
                .any(|at| is_by(at) && is_name(at + 1) && (0..at).any(is_kind)))
}

/// Whether an element is the kicker before the rest of `whole`: on a line of its own, run into what follows
/// as only styles part it, closed by a full stop, or set off from a sentence that begins behind it.
pub(super) fn is_set_off(page: &Outline, node: usize, whole: &str) -> bool {
    let name = &*page.nodes[node].name;
    let text = page.line(node, 60, |_| false);
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let Some(rest) = whole.strip_prefix(&*text).filter(|_| letters >= 2) else { return false };
    if !matches!(name, "b" | "strong" | "em" | "i" | "span") || word_count(rest) < 3.0 {
        return false;
    }
    if is_closed(&text) && !rest.trim_start().starts_with(char::is_lowercase) {
        return true;
    }
    let end = page.nodes[node].end;
    let parent = page.nodes[node].parent;
    let next = (end..page.nodes[parent].end)
        .find(|&n| !page.nodes[n].name.is_empty() || !page.nodes[n].text.trim().is_empty());
    let Some(next) = next else { return false };
    let is_loud = |text: &str| !text.chars().any(char::is_lowercase);
    if page.nodes[next].name == "br" {
        return is_loud(&text) && !is_loud(rest);
    }
    if !page.nodes[next].name.is_empty() {
        return false;
    }
    let first = rest.trim_start().chars().next();
    let begins = first.is_some_and(|c| c.is_uppercase() || "«„“‘\"'¿¡".contains(c));
    let is_run_in =
        next == end && page.nodes[next].text.starts_with(|c: char| !c.is_whitespace()) && begins;
    let is_sentence = || {
        let second = rest.split_whitespace().nth(1).unwrap_or_default();
        begins && second.starts_with(char::is_lowercase)
    };
    is_run_in || matches!(name, "b" | "strong") && word_count(&text) <= 3.0 && is_sentence()
}

/// Whether a text is a word or a few with a full stop: "Politics.", and not "U.S." or "St."
fn is_closed(text: &str) -> bool {
    let bare = text.trim_end().strip_suffix(['.', '。']).unwrap_or_default();
    let letters = bare.chars().filter(|c| c.is_alphabetic()).count();
    letters >= if bare.chars().any(is_wide) { 2 } else { 4 }
        && !bare.contains(['.', '!', '?'])
        && word_count(bare) <= 3.0
}

/// Where a sign parts a kicker from the title, be it only for those who listen: the end of the sign.
pub(super) fn separator(page: &Outline, node: usize) -> Option<usize> {
    let is_sign = |n: usize| {
        let element = &page.nodes[n];
        !element.name.is_empty() && element.end - n <= 3 && page.line(n, 8, |_| false).trim() == ":"
    };
    let until = page.nodes[node].end.min(node + 1 + MAX_NODES);
    let sign = (node + 1..until).rev().find(|&n| is_sign(n))?;
    let end = page.nodes[sign].end;
    let says = |from: usize, to: usize| {
        (from..to).any(|n| page.nodes[n].text.chars().any(char::is_alphanumeric))
    };
    (says(node + 1, sign) && says(end, page.nodes[node].end)).then_some(end)
}
