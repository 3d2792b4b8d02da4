//! Documents that are no pages: PDF and plain text are found by their words, and every text can be
//! taken from the archive again.
//!
//! One PDF is written here byte by byte, in two scripts; others are made by Ghostscript. What they
//! say is told by `pdftotext`, which shares nothing with us.

use crate::rig::{Rig, SHORT_LIMIT};
use anyhow::{Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use xtask::nginx::Nginx;
use xtask::process::{self, Running};

const LATIN: &str = "Café spinnerets: naïve façade";
const CYRILLIC: &str = "Паук плетёт паутину";

/// A page with a line in each of two scripts. Letters beyond Latin have codes of two bytes, which
/// only the map that comes along explains.
fn pdf() -> Vec<u8> {
    let latin: Vec<u8> = LATIN.chars().map(|c| c as u8).collect();
    let (mut map, mut shown) = (String::new(), String::new());
    for (code, unit) in CYRILLIC.encode_utf16().enumerate() {
        let _ = writeln!(map, "<{:04x}> <{unit:04x}>", code + 1);
        let _ = write!(shown, "{:04x}", code + 1);
    }
    let count = CYRILLIC.encode_utf16().count();
    let map = format!(
        "1 begincodespacerange <0000> <ffff> endcodespacerange {count} beginbfchar\n{map}endbfchar"
    );
    let mut content = b"BT /F1 14 Tf 72 720 Td (".to_vec();
    content.extend(latin);
    content.extend(format!(") Tj /F2 14 Tf 0 -60 Td <{shown}> Tj ET").into_bytes());
    let stream = |data: &[u8]| {
        let head = format!("<< /Length {} >>\nstream\n", data.len()).into_bytes();
        [head, data.to_vec(), b"\nendstream".to_vec()].concat()
    };
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
          /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>"
            .to_vec(),
        stream(&content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_vec(),
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Made /Encoding /Identity-H \
          /DescendantFonts [7 0 R] /ToUnicode 8 0 R >>"
            .to_vec(),
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Made /DW 550 \
          /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
            .to_vec(),
        stream(map.as_bytes()),
        b"<< /Title (On orb weavers) >>".to_vec(),
    ];
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (nth, object) in objects.iter().enumerate() {
        let _ = writeln!(table, "{:010} 00000 n ", out.len());
        out.extend(format!("{} 0 obj\n", nth + 1).into_bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let (start, size) = (out.len(), objects.len() + 1);
    let end = format!("trailer\n<< /Size {size} /Root 1 0 R /Info 9 0 R >>\nstartxref\n{start}\n");
    out.extend([table.as_bytes(), end.as_bytes(), b"%%EOF\n"].concat());
    out
}

fn site(root: &Path) -> Result<()> {
    let start = "<!doctype html><title>Start</title><a href=/orb.pdf>paper</a> \
        <a href=/notes.txt>notes</a> <a href=/torn.pdf>torn</a> <p>spinnerets on a page";
    std::fs::write(root.join("index.html"), start)?;
    std::fs::write(root.join("orb.pdf"), pdf())?;
    std::fs::write(root.join("torn.pdf"), "%PDF-1.7\nnothing more")?;
    let notes: Vec<u8> = "Früh gehört: spinnerets of the Größe".chars().map(|c| c as u8).collect();
    Ok(std::fs::write(root.join("notes.txt"), notes)?)
}

/// URL and snippet of the pages that hold all the words.
fn hits(rig: &Rig, query: &str) -> Result<Vec<(String, String)>> {
    let rows = rig.rows("data", &["search", query])?;
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let hits = rows.iter().filter(|row| row["partial"] == false && row["url"].is_string());
    Ok(hits.map(|row| (text(row, "url"), text(row, "snippet"))).collect())
}

#[test]
fn pdf_and_plain_text_are_found_by_their_words_and_survive_the_loss_of_their_texts() -> Result<()> {
    let Some(rig) = Rig::new("documents", &["nginx"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    site(&root)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let at = |path: &str| format!("{}{path}", nginx.origin);
    rig.crawl("data", &[&at("/"), "--scope", "host", "--types", "html,pdf,text"])?;

    let (paper, notes) = (at("/orb.pdf"), at("/notes.txt"));
    for (query, url, shown) in [
        ("cafe spinnerets", &paper, LATIN),
        ("паутину", &paper, CYRILLIC),
        ("intitle:weavers", &paper, LATIN),
        ("type:pdf naive", &paper, LATIN),
        ("gehört", &notes, "Früh gehört: spinnerets of the Größe"),
    ] {
        let found = hits(&rig, query)?;
        ensure!(found.len() == 1 && found[0].0 == *url, "{query}: {found:?}");
        ensure!(found[0].1.contains(shown), "{query} shows {:?}", found[0].1);
    }
    let places = rig.rows("data", &["word", "spinnerets"])?;
    let holders: Vec<&str> = places.iter().filter_map(|row| row["url"].as_str()).collect();
    ensure!(holders.len() == 3, "{holders:?}");
    let doc = rig.doc("data", &paper)?;
    ensure!(doc["type"] == "application/pdf" && doc["title"] == "On orb weavers", "{doc}");
    let torn = rig.doc("data", &at("/torn.pdf"))?;
    let said = torn["detail"].as_str().unwrap_or_default();
    ensure!(torn["outcome"] == "fetched" && said.starts_with("no text: "), "{torn}");
    rig.verify("data")?;

    // The texts are lost: that is told, with what helps.
    let before = rig.rows("data", &["words"])?;
    ensure!(before.len() > 10, "{before:?}");
    std::fs::remove_dir_all(rig.dir.join("data/text"))?;
    let told = rig.run("data", &["verify"])?;
    ensure!(told.code == Some(1) && told.out_text().contains("reindex --from-archive"), "{told:?}");
    let told = rig.run("data", &["reindex"])?;
    ensure!(told.code == Some(1) && told.err.contains("reindex --from-archive"), "{told:?}");
    let told = rig.run("data", &["reindex", "--from-archive"])?.ok()?;
    ensure!(told.err.contains("Made 3 texts again"), "{}", told.err);
    ensure!(rig.rows("data", &["words"])? == before, "other words than before");
    ensure!(hits(&rig, "паутину")?[0].1.contains(CYRILLIC), "the snippet is lost");
    rig.verify("data")?;
    // There is nothing left to do.
    let told = rig.run("data", &["reindex", "--from-archive"])?.ok()?;
    ensure!(told.err.contains("No text had to be made again"), "{}", told.err);
    rig.verify("data")
}

#[test]
fn a_kill_while_texts_are_made_again_costs_nothing() -> Result<()> {
    let Some(rig) = Rig::new("documents-kill", &["nginx"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    let mut start = "<!doctype html><title>Start</title>".to_owned();
    for page in 0..600 {
        write!(start, "<a href=/p{page}.html>{page}</a> ")?;
        let text = format!("<!doctype html><title>Page {page}</title><p>own{page}word and more");
        std::fs::write(root.join(format!("p{page}.html")), text)?;
    }
    std::fs::write(root.join("index.html"), start)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    rig.crawl("data", &[&format!("{}/", nginx.origin), "--scope", "host"])?;
    let before = rig.rows("data", &["words"])?;
    std::fs::remove_dir_all(rig.dir.join("data/text"))?;
    for pause in [2, 5, 10, 20, 40, 80, 120, 160, 200] {
        let mut command = rig.argiope("data", &["reindex", "--from-archive"]);
        let running = Running::start(&mut command, &rig.dir, "killed")?;
        std::thread::sleep(Duration::from_millis(pause));
        drop(running); // it is killed
    }
    rig.run("data", &["reindex", "--from-archive"])?.ok()?;
    ensure!(rig.rows("data", &["words"])? == before, "other words than before");
    rig.verify("data")
}

/// How often each word occurs.
fn words(text: &str) -> BTreeMap<String, usize> {
    let mut out = BTreeMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *out.entry(word.to_lowercase()).or_default() += 1;
    }
    out
}

#[test]
fn the_words_of_a_pdf_are_those_that_another_reader_finds() -> Result<()> {
    let needs = ["nginx", "gs", "pdftotext"];
    let Some(rig) = Rig::new("documents-judge", &needs)? else { return Ok(()) };
    let root = rig.folder("site")?;
    site(&root)?;
    // Text set word by word, in fonts that are embedded, packed and encoded as Ghostscript likes it.
    let mut drawn =
        "%!\n/latin { findfont dup length dict begin { 1 index /FID ne { def } { pop pop } \
        ifelse } forall /Encoding ISOLatin1Encoding def currentdict end definefont pop } def\n\
        /T /Times-Roman latin /H /Helvetica-Bold latin /C /Courier latin\n"
            .to_owned();
    for (page, font) in ["T", "H", "C"].iter().enumerate() {
        writeln!(drawn, "/{font} findfont 11 scalefont setfont")?;
        for row in 0..50 {
            let words = "efficient fjord caf\\351 na\\357ve \\374ber AVATAR To. well-known x = y+1";
            writeln!(drawn, "72 {} moveto (row {row} of {page}: {words}) show", 770 - 14 * row)?;
        }
        writeln!(drawn, "showpage")?;
    }
    std::fs::write(rig.dir.join("drawn.ps"), drawn)?;
    let mut links = String::new();
    for level in ["1.3", "1.4", "1.7"] {
        let name = format!("gs-{level}.pdf");
        let mut gs = Command::new("gs");
        gs.args(["-q", "-dBATCH", "-dNOPAUSE", "-sDEVICE=pdfwrite"]);
        gs.arg(format!("-dCompatibilityLevel={level}"));
        gs.arg(format!("-sOutputFile={}", root.join(&name).display()));
        process::run(gs.arg(rig.dir.join("drawn.ps")), &rig.dir, "gs", SHORT_LIMIT)?.ok()?;
        write!(links, "<a href=/{name}>{name}</a>")?;
    }
    std::fs::write(root.join("index.html"), format!("<a href=/orb.pdf>own</a> {links}"))?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    rig.crawl("data", &[&format!("{}/", nginx.origin), "--scope", "host", "--types", "html,pdf"])?;
    for name in ["orb.pdf", "gs-1.3.pdf", "gs-1.4.pdf", "gs-1.7.pdf"] {
        let ours = rig.run("data", &["show", &format!("{}/{name}", nginx.origin), "--text"])?;
        let mut judge = Command::new("pdftotext");
        judge.args(["-q", "-enc", "UTF-8"]).arg(root.join(name)).arg("-");
        let theirs = process::run(&mut judge, &rig.dir, "pdftotext", SHORT_LIMIT)?.ok()?;
        let (ours, theirs) = (words(&ours.ok()?.out_text()), words(&theirs.out_text()));
        ensure!(theirs.len() > 5, "{name}: {theirs:?}");
        ensure!(ours == theirs, "{name}: {ours:?}\nbut pdftotext: {theirs:?}");
    }
    Ok(())
}
