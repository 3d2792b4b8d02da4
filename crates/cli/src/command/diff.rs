//! `diff`: what changed on a page from one version to another, word by word.

use super::history::{pruned, versions, with_shelf};
use super::moment::moment;
use super::{now, print_json};
use crate::args::{Format, Global};
use crate::args_history::Diff;
use crate::output;
use anyhow::{Context, bail};
use argiope_archive::{Piece, Sight, TextBlob, Volatile, compare, word_diff};
use argiope_crawl::Versions;
use argiope_model::{Capture, OutcomeKind, Time};
use serde_json::json;
use std::fmt::Write;
use std::process::ExitCode;

/// Lines without a change that are shown around one.
const AROUND: usize = 2;

/// Two versions and what they say.
struct Two {
    url: String,
    times: [Time; 2],
    texts: [TextBlob; 2],
}

pub fn diff(global: &Global, args: &Diff) -> anyhow::Result<ExitCode> {
    let read = |flag: &str, text: &Option<String>| {
        text.as_ref().map(|text| moment(flag, text, now())).transpose()
    };
    let (from, to) = (read("--from", &args.from)?, read("--to", &args.to)?);
    let page = versions(global, &args.target)?;
    for at in [from, to].into_iter().flatten() {
        let is_shown = |c: &&Capture| c.time <= at && c.outcome.kind == OutcomeKind::Fetched;
        let shown = page.captures.iter().rev().find(is_shown).map(|c| c.time);
        if let Some(gone) = pruned(&global.data, &page, shown, at) {
            bail!("{gone}");
        }
    }
    let two = two(global, &page, args, from, to)?;
    if let Some(path) = &args.html {
        std::fs::write(path, html(&two))
            .with_context(|| format!("cannot write {}", path.display()))?;
        output::talk(format!("{}: open it in a browser", path.display()));
        return Ok(ExitCode::SUCCESS);
    }
    match global.format {
        Format::Json => print_json(&rows(&two))?,
        _ => output::print(lines(&two, output::is_shown()))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn two(
    global: &Global,
    page: &Versions,
    args: &Diff,
    from: Option<Time>,
    to: Option<Time>,
) -> anyhow::Result<Two> {
    with_shelf(global, |shelf| {
        let (old, new) = match shelf.pair(page, from, to)? {
            Ok(pair) => pair,
            Err(why) => bail!(why),
        };
        let captures = [&page.captures[old], &page.captures[new]];
        if captures.iter().any(|c| c.directives.noarchive) && !args.anyway {
            bail!(
                "{} asks that no copy of it be shown (noarchive); --anyway shows it to you alone",
                page.url
            );
        }
        let text = |n: usize| {
            let text = shelf.text(page, n)?;
            text.with_context(|| {
                format!(
                    "no text was extracted from the version of {}; `argiope show --at` shows its bytes",
                    page.captures[n].time.iso_seconds()
                )
            })
        };
        Ok(Two {
            url: page.url.to_string(),
            times: captures.map(|c| c.time),
            texts: [text(old)?, text(new)?],
        })
    })
}

impl Two {
    /// Title and text with what was done to them.
    fn pieces(&self) -> [Vec<Piece<'_>>; 2] {
        let [old, new] = &self.texts;
        let title = match old.title == new.title {
            true => Vec::new(),
            false => word_diff(&old.title, &new.title),
        };
        [title, word_diff(&old.text, &new.text)]
    }
}

impl Two {
    /// Whether there was space before a piece, in the text that it is a part of.
    fn is_spaced(&self, piece: &Piece<'_>) -> bool {
        let (which, part) = match piece {
            Piece::Gone(part) => (0, part),
            Piece::Same(part) | Piece::Come(part) => (1, part),
        };
        let TextBlob { title, text, .. } = &self.texts[which];
        [title, text].into_iter().any(|whole| {
            let begin = (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
            whole.get(..begin).is_some_and(|before| before.ends_with(char::is_whitespace))
        })
    }
}

fn rows(two: &Two) -> Vec<serde_json::Value> {
    let sight = |n: usize| Sight {
        title: &two.texts[n].title,
        text: &two.texts[n].text,
        time: Some(two.times[n]),
    };
    let change = compare(&sight(0), &sight(1), &Volatile::default());
    let [title, text] = two.pieces();
    let (mut gone, mut come) = (0, 0);
    let mut out = Vec::new();
    for (field, pieces) in [("title", title), ("text", text)] {
        let mut line = 1;
        let mut at = 0;
        while at < pieces.len() {
            match (&pieces[at], pieces.get(at + 1)) {
                (Piece::Same(same), _) => {
                    line += same.matches('\n').count();
                    at += 1;
                }
                (Piece::Gone(old), Some(Piece::Come(new))) => {
                    out.push(json!({ "field": field, "line": line, "removed": old, "added": new }));
                    (gone, come) = (gone + count(old), come + count(new));
                    line += new.matches('\n').count();
                    at += 2;
                }
                (Piece::Gone(old), _) => {
                    out.push(json!({ "field": field, "line": line, "removed": old, "added": "" }));
                    gone += count(old);
                    at += 1;
                }
                (Piece::Come(new), _) => {
                    out.push(json!({ "field": field, "line": line, "removed": "", "added": new }));
                    come += count(new);
                    line += new.matches('\n').count();
                    at += 1;
                }
            }
        }
    }
    let head = json!({
        "url": two.url,
        "from": two.times[0].to_string(),
        "to": two.times[1].to_string(),
        "words_removed": gone,
        "words_added": come,
        "changed": change.counts,
        "change": (change.share * 10_000.0).round() / 10_000.0,
        "reason": change.reason,
    });
    [head].into_iter().chain(out).collect()
}

fn count(text: &str) -> usize {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count()
}

/// A line of the difference: its words, and whether any of them changed.
type Line<'a> = (Vec<Piece<'a>>, bool);

/// The pieces, line by line.
fn by_lines<'a>(pieces: &[Piece<'a>]) -> Vec<Line<'a>> {
    let mut out: Vec<Line<'a>> = Vec::new();
    let mut here: Line<'a> = (Vec::new(), false);
    for piece in pieces {
        let (text, make): (&'a str, fn(&'a str) -> Piece<'a>) = match piece {
            Piece::Same(text) => (text, Piece::Same),
            Piece::Gone(text) => (text, Piece::Gone),
            Piece::Come(text) => (text, Piece::Come),
        };
        for (n, part) in text.split('\n').enumerate() {
            if n > 0 {
                out.push(std::mem::take(&mut here));
            }
            if !part.trim().is_empty() {
                here.1 |= !matches!(piece, Piece::Same(_));
                here.0.push(make(part.trim()));
            }
        }
    }
    out.push(here);
    out.retain(|line| !line.0.is_empty());
    out
}

/// A line with its changes written out, spaced as its words were.
fn written(two: &Two, line: &Line<'_>, mark: impl Fn(&Piece<'_>) -> String) -> String {
    let mut out = String::new();
    for piece in &line.0 {
        if !out.is_empty() && two.is_spaced(piece) {
            out.push(' ');
        }
        out.push_str(&mark(piece));
    }
    out
}

/// Words that are shown of those that stayed, at each end.
const SHOWN: usize = 15;

/// The ends of a long text.
fn ends(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() <= 3 * SHOWN {
        return text.to_owned();
    }
    format!("{} … {}", words[..SHOWN].join(" "), words[words.len() - SHOWN..].join(" "))
}

/// What stands in one line must not command the terminal.
fn tame(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn lines(two: &Two, colour: bool) -> Vec<String> {
    let mark = |piece: &Piece<'_>| match (piece, colour) {
        (Piece::Same(text), _) => tame(&ends(text)),
        (Piece::Gone(text), true) => format!("\x1b[31;9m{}\x1b[0m", tame(text)),
        (Piece::Come(text), true) => format!("\x1b[32m{}\x1b[0m", tame(text)),
        (Piece::Gone(text), false) => format!("[-{}-]", tame(text)),
        (Piece::Come(text), false) => format!("{{+{}+}}", tame(text)),
    };
    let mut out = vec![
        format!("--- {}  {}", two.times[0].iso_seconds(), two.url),
        format!("+++ {}  {}", two.times[1].iso_seconds(), two.url),
    ];
    let [title, text] = two.pieces();
    out.extend(by_lines(&title).iter().map(|line| format!("title: {}", written(two, line, mark))));
    let lines = by_lines(&text);
    let near = |n: usize| {
        lines[n.saturating_sub(AROUND)..lines.len().min(n + AROUND + 1)].iter().any(|l| l.1)
    };
    let mut left_out = false;
    for (n, line) in lines.iter().enumerate() {
        if !near(n) {
            left_out = true;
            continue;
        }
        if std::mem::take(&mut left_out) {
            out.push("…".to_owned());
        }
        out.push(written(two, line, mark));
    }
    if lines.iter().all(|line| !line.1) && title.is_empty() {
        out.truncate(2);
        out.push("The words are the same.".to_owned());
    }
    out
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

fn html(two: &Two) -> String {
    let mark = |piece: &Piece<'_>| match piece {
        Piece::Same(text) => escaped(text),
        Piece::Gone(text) => format!("<del>{}</del>", escaped(text)),
        Piece::Come(text) => format!("<ins>{}</ins>", escaped(text)),
    };
    let [title, text] = two.pieces();
    let language = two.texts[1].language.as_deref().unwrap_or_default();
    let mut out = String::new();
    let url = escaped(&two.url);
    let (from, to) = (two.times[0].iso_seconds(), two.times[1].iso_seconds());
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"{}\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>What changed: {url}</title>\n\
         <style>\n:root {{ color-scheme: light dark }}\n\
         body {{ font: 16px/1.5 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; \
         overflow-wrap: break-word }}\n\
         header {{ border-bottom: 1px solid #8888; margin-bottom: 1em }}\n\
         del {{ background: #d334; color: inherit }}\nins {{ background: #2a54; color: inherit; \
         text-decoration: none }}\n.same {{ opacity: .7 }}\n</style>\n<header>\n<h1>What changed</h1>\n\
         <p><code>{url}</code><br><time>{from}</time> <del>what went</del><br>\
         <time>{to}</time> <ins>what came</ins></p>\n</header>\n",
        escaped(language),
    );
    for line in by_lines(&title) {
        let _ = writeln!(out, "<h2>{}</h2>", written(two, &line, mark));
    }
    for line in by_lines(&text) {
        let class = if line.1 { "" } else { " class=\"same\"" };
        let _ = writeln!(out, "<p{class}>{}</p>", written(two, &line, mark));
    }
    out.push_str("</html>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(old: &str, new: &str) -> Two {
        let blob = |text: &str| TextBlob {
            text: text.to_owned(),
            title: "t".into(),
            ..TextBlob::default()
        };
        Two {
            url: "http://a.test/?a&b".into(),
            times: [Time(0), Time(1000)],
            texts: [blob(old), blob(new)],
        }
    }

    #[test]
    fn words_are_marked_and_what_is_far_is_left_out() {
        let same = "one\ntwo\nthree\nfour\nfive";
        let two =
            two(&format!("{same}\nThe web, spun."), &format!("{same}\nThe net, spun.\nAnd more"));
        let close = self::two("at 10:20:00", "at 10:23:00");
        assert_eq!(lines(&close, false)[2], "at 10:[-20-]{+23+}:00");
        let shown = lines(&two, false);
        assert_eq!(shown[2..], ["…", "four", "five", "The [-web-] {+net+}, spun.", "{+And more+}"]);
        assert!(lines(&two, true).iter().any(|line| line.contains("\x1b[32mnet")));
        let rows = rows(&two);
        assert_eq!(rows[1]["removed"], "web");
        assert_eq!((&rows[0]["words_removed"], &rows[0]["words_added"]), (&json!(1), &json!(3)));
        assert_eq!(rows[0]["changed"], true);
    }

    #[test]
    fn a_page_for_a_browser_holds_no_markup_of_the_page() {
        let page = html(&two("a <script> b", "a <script>alert(1)</script> b"));
        assert!(!page.contains("<script") && page.contains("&lt;"));
        assert!(page.contains("<ins>") && page.contains("?a&amp;b"));
    }

    #[test]
    fn a_text_cannot_command_the_terminal() {
        assert!(lines(&two("a", "a \x1b[2J"), false).iter().all(|line| !line.contains('\x1b')));
    }
}
