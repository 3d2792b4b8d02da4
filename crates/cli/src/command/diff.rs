//! `diff`: what changed on a page from one version to another, word by word.

use super::history::{pruned, versions, with_shelf};
use super::moment::moment;
use super::{now, print_json};
use crate::args::{Format, Global};
use crate::args_history::Diff;
use crate::output::{self, Style};
use anyhow::{Context, anyhow, bail};
use argiope_archive::Piece;
use argiope_crawl::{DiffLine, Difference, NoDifference, Versions, near_changes};
use argiope_model::{Capture, OutcomeKind, Time};
use std::fmt::Write;
use std::process::ExitCode;

/// Lines without a change that are shown around one.
const AROUND: usize = 2;

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
        Format::Json => print_json(&two.rows())?,
        _ => output::print_painted(lines(&two, output::in_colour()))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn two(
    global: &Global,
    page: &Versions,
    args: &Diff,
    from: Option<Time>,
    to: Option<Time>,
) -> anyhow::Result<Difference> {
    let two = with_shelf(global, |shelf| Difference::between(shelf, page, from, to, args.anyway));
    two.map_err(|why| match why {
        NoDifference::Hidden(_) => anyhow!("{why}; --anyway shows it to you alone"),
        NoDifference::NoText(_) => anyhow!("{why}; `argiope show --at` shows its bytes"),
        NoDifference::Unreadable(e) => e.into(),
        NoDifference::NoPair(why) => anyhow!(why),
    })
}

/// A line with its changes written out, spaced as its words were.
fn written(line: &DiffLine<'_>, mark: impl Fn(&Piece<'_>) -> String) -> String {
    let mut out = String::new();
    for (spaced, piece) in &line.pieces {
        if *spaced {
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
    output::clean(text).replace(['\n', '\t'], " ")
}

fn marked(colour: bool) -> impl Fn(&Piece<'_>) -> String + Copy {
    move |piece: &Piece<'_>| match (piece, colour) {
        (Piece::Same(text), _) => tame(&ends(text)),
        (Piece::Gone(text), true) => output::paint(Style::Struck, &tame(text)),
        (Piece::Come(text), true) => output::paint(Style::Green, &tame(text)),
        (Piece::Gone(text), false) => format!("[-{}-]", tame(text)),
        (Piece::Come(text), false) => format!("{{+{}+}}", tame(text)),
    }
}

/// The lines that changed, with what went and came.
pub fn changed_lines(two: &Difference, colour: bool) -> Vec<String> {
    let [title, lines] = two.lines();
    let changed = |line: &&DiffLine<'_>| line.changed;
    let of_text = lines.iter().filter(changed).map(|line| written(line, marked(colour)));
    title
        .iter()
        .map(|line| format!("title: {}", written(line, marked(colour))))
        .chain(of_text)
        .collect()
}

fn lines(two: &Difference, colour: bool) -> Vec<String> {
    let mark = marked(colour);
    let mut out = vec![
        format!("--- {}  {}", two.times[0].iso_seconds(), two.url),
        format!("+++ {}  {}", two.times[1].iso_seconds(), two.url),
    ];
    let [title, lines] = two.lines();
    out.extend(title.iter().map(|line| format!("title: {}", written(line, mark))));
    let mut left_out = false;
    for (line, near) in lines.iter().zip(near_changes(&lines, AROUND)) {
        if !near {
            left_out = true;
            continue;
        }
        if std::mem::take(&mut left_out) {
            out.push("…".to_owned());
        }
        out.push(written(line, mark));
    }
    if lines.iter().all(|line| !line.changed) && title.is_empty() {
        out.truncate(2);
        out.push("The words are the same.".to_owned());
    }
    out
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

fn html(two: &Difference) -> String {
    let mark = |piece: &Piece<'_>| match piece {
        Piece::Same(text) => escaped(text),
        Piece::Gone(text) => format!("<del>{}</del>", escaped(text)),
        Piece::Come(text) => format!("<ins>{}</ins>", escaped(text)),
    };
    let [title, text] = two.lines();
    let language = two.language().unwrap_or_default();
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
    for line in title {
        let _ = writeln!(out, "<h2>{}</h2>", written(&line, mark));
    }
    for line in text {
        let class = if line.changed { "" } else { " class=\"same\"" };
        let _ = writeln!(out, "<p{class}>{}</p>", written(&line, mark));
    }
    out.push_str("</html>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_archive::TextBlob;
    use serde_json::json;

    fn two(old: &str, new: &str) -> Difference {
        let blob = |text: &str| TextBlob {
            text: text.to_owned(),
            title: "t".into(),
            ..TextBlob::default()
        };
        let times = [Time(0), Time(1000)];
        Difference::of("http://a.test/?a&b".into(), times, [blob(old), blob(new)])
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
        let rows = two.rows();
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
