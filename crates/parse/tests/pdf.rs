//! PDF: what documents of every make say, and what no document may do.
//!
//! The documents are written here, byte by byte: every way to number, pack and encode that a writer
//! may choose, one at a time.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

use argiope_parse::{NoText, Page, parse_pdf};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::fmt::Write as _;
use std::io::Write as _;

fn packed(data: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
    packer.write_all(data).unwrap();
    packer.finish().unwrap()
}

fn stream(dict: &str, data: &[u8]) -> Vec<u8> {
    let mut out = format!("<< {dict} /Length {} >>\nstream\n", data.len()).into_bytes();
    out.extend_from_slice(data);
    out.extend_from_slice(b"\nendstream");
    out
}

/// A file of these objects, numbered from 1; the first is the catalogue.
fn file(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
    for (i, object) in objects.iter().enumerate() {
        writeln!(out, "{} 0 obj", i + 1).unwrap();
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    write!(out, "trailer << /Root 1 0 R {trailer} >>\nstartxref\n0\n%%EOF\n").unwrap();
    out
}

fn object(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// A document of one page with one font, and what else there is.
fn one_page(content: &[u8], font: &str, more: Vec<Vec<u8>>, trailer: &str) -> Vec<u8> {
    let mut objects = vec![
        object("<< /Type /Catalog /Pages 2 0 R >>"),
        object("<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F1 5 0 R >> >> >>"),
        object("<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>"),
        stream("/Filter /FlateDecode", &packed(content)),
        object(font),
    ];
    objects.extend(more);
    file(&objects, trailer)
}

const HELVETICA: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
const WINDOWS: &str =
    "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /Encoding /WinAnsiEncoding >>";

fn text(bytes: &[u8]) -> String {
    let (page, why) = parse_pdf(bytes);
    assert_eq!(why, None, "{}", page.text);
    page.text
}

#[test]
fn words_are_told_apart_by_gaps_and_rows() {
    let content = b"BT /F1 12 Tf 72 700 Td (Orb) Tj ( webs ) Tj [(are wo) -20 (ven) -400 (at)] TJ \
        0 -14 Td (night by spi-) Tj 0 -14 Td (ders.) Tj 0 -60 Td (Next) ' ET";
    assert_eq!(
        text(&one_page(content, HELVETICA, vec![], "")),
        "Orb webs are woven at night by spiders.\nNext"
    );
}

#[test]
fn letters_follow_the_encoding_of_their_font() {
    let content = b"BT /F1 10 Tf (caf\xe9 \x93na\xefve\x94 \\200 5) Tj ET";
    assert_eq!(text(&one_page(content, WINDOWS, vec![], "")), "café “naïve” € 5");
    let named = "<< /Type /Font /Subtype /Type1 /BaseFont /X /Encoding << /Type /Encoding \
        /Differences [1 /Zcaron /uni0436 /f_f_i /afii10017 65 /eacute.sc /nosuchname] >> >>";
    let content = b"BT /F1 10 Tf <01020304> Tj (AC) Tj ET";
    assert_eq!(text(&one_page(content, named, vec![], "")), "ŽжffiАéC");
}

/// A font with two-byte codes that are the characters' own, told by a map.
fn composite(chars: &str) -> (String, Vec<Vec<u8>>, String) {
    let units: Vec<u16> = chars.encode_utf16().collect();
    let mut map = "1 begincodespacerange <0000> <ffff> endcodespacerange\n".to_owned();
    let _ = writeln!(map, "{} beginbfchar", units.len());
    let mut shown = String::new();
    for (i, unit) in units.iter().enumerate() {
        let _ = writeln!(map, "<{:04x}> <{unit:04x}>", i + 3);
        let _ = write!(shown, "{:04x}", i + 3);
    }
    map.push_str("endbfchar");
    let font = "<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /Identity-H \
        /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>";
    let below =
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /DW 500 /W [3 [500 600] 9 20 700] >>";
    let map = stream("/Filter [/FlateDecode]", &packed(map.as_bytes()));
    (font.to_owned(), vec![object(below), map], shown)
}

#[test]
fn composite_fonts_say_what_they_mean_by_a_map() {
    let words = "Съешь ещё 蜘蛛 कीड़ा ﬁn";
    let (font, more, shown) = composite(words);
    let content =
        format!("q 0.5 0 0 0.5 10 20 cm BT /F1 1 Tf 24 0 0 24 72 700 Tm <{shown}> Tj ET Q");
    assert_eq!(text(&one_page(content.as_bytes(), &font, more, "")), "Съешь ещё 蜘蛛 कीड़ा fin");
}

#[test]
fn maps_that_every_reader_has_are_known_by_their_encoding() {
    let font = |name: &str| {
        format!(
            "<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /{name} /DescendantFonts [6 0 R] >>"
        )
    };
    let below = object("<< /Type /Font /Subtype /CIDFontType0 >>");
    for (name, shown, want) in [
        ("UniGB-UCS2-H", "8718 86db", "蜘蛛"),
        ("90ms-RKSJ-H", "9277e581 41", "蜘蛛A"),
        ("GBK-EUC-H", "d6a9d6eb", "蜘蛛"),
        ("KSCms-UHC-H", "b0c5b9cc", "거미"),
    ] {
        let content = format!("BT /F1 10 Tf <{shown}> Tj ET");
        assert_eq!(text(&one_page(content.as_bytes(), &font(name), vec![below.clone()], "")), want);
    }
}

#[test]
fn packed_objects_and_later_versions_of_them_are_found() {
    // Pages, page and font stand in one stream, as since version 1.5.
    let inside = [
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /Contents [4 0 R 9 0 R] /Resources << /Font << /F1 5 0 R >> >> >>",
        HELVETICA,
    ];
    let (mut head, mut body) = (String::new(), String::new());
    for (number, object) in [2, 3, 5].iter().zip(inside) {
        let _ = write!(head, "{number} {} ", body.len());
        body.push_str(object);
        body.push(' ');
    }
    let dict = format!("/Type /ObjStm /N 3 /First {} /Filter /FlateDecode", head.len());
    let mut out = b"%PDF-1.5\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n6 0 obj\n".to_vec();
    out.extend(stream(&dict, &packed((head + &body).as_bytes())));
    out.extend(b"\nendobj\n4 0 obj\n");
    out.extend(stream("", b"BT /F1 9 Tf (first) Tj ET"));
    out.extend(b"\nendobj\n9 0 obj\n");
    out.extend(stream(
        "/Filter /ASCIIHexDecode",
        b"42 54202F463120392054662028206261636B2920546A 204554>",
    ));
    out.extend(
        b"\nendobj\n7 0 obj << /Type /XRef /Root 1 0 R /Length 0 >> stream\nendstream endobj\n",
    );
    assert_eq!(text(&out), "first back");
    // Added to: the later object counts.
    out.extend(b"4 0 obj\n");
    out.extend(stream("", b"BT /F1 9 Tf (second) Tj ET"));
    out.extend(b"\nendobj\n");
    assert_eq!(text(&out), "second back");
}

#[test]
fn text_in_forms_and_what_it_is_to_be_read_as_count() {
    let content = b"BT /F1 10 Tf 0 100 Td (before) Tj ET q 1 0 0 1 0 50 cm /Fm Do Q \
        BI /W 1 /H 1 ID (not text) EI BT /F1 10 Tf /Span << /ActualText <FEFF00660069006E> >> BDC (x) Tj (y) Tj EMC ET";
    let mut page = one_page(content, HELVETICA, vec![], "");
    let form = stream(
        "/Type /XObject /Subtype /Form /Resources << /Font << /F1 5 0 R >> /XObject << /Fm 6 0 R >> >>",
        b"BT /F1 10 Tf (within) Tj ET /Fm Do",
    );
    page.extend(b"\n6 0 obj\n");
    page.extend(form);
    page.extend(
        b"\nendobj\n2 0 obj << /Type /Pages /Kids [3 0 R] /Resources \
        << /Font << /F1 5 0 R >> /XObject << /Fm 6 0 R >> >> >> endobj\n",
    );
    let got = text(&page);
    assert!(got.starts_with("before\nwithin") && got.ends_with("fin"), "{got}");
    assert!(!got.contains("not text") && !got.contains('x'), "{got}");
}

fn described(trailer: &str, more: Vec<Vec<u8>>) -> Page {
    let content = b"BT /F1 10 Tf (The first line says it) Tj 0 -90 Td (and more) Tj ET";
    parse_pdf(&one_page(content, HELVETICA, more, trailer)).0
}

#[test]
fn the_title_is_the_one_stated_or_the_first_line() {
    assert_eq!(described("", vec![]).title, "The first line says it");
    for (stated, title) in [
        ("(Orb \\227 webs)", "Orb Š webs"),
        ("<FEFF0441044204300442044C044F>", "статья"),
        ("(Microsoft Word - Orb weavers.doc)", "Orb weavers.doc"),
        ("(report-final.dvi)", "The first line says it"),
        ("(untitled)", "The first line says it"),
        ("( )", "The first line says it"),
    ] {
        let info = object(&format!("<< /Title {stated} >>"));
        assert_eq!(described("/Info 6 0 R", vec![info]).title, title, "{stated}");
    }
    let xml = b"<x:xmpmeta><dc:title><rdf:Alt><rdf:li xml:lang='x-default'>Webs &amp; orbs</rdf:li></rdf:Alt></dc:title>";
    let meta = stream("/Type /Metadata /Subtype /XML", xml);
    let catalog = object("<< /Type /Catalog /Pages 2 0 R /Metadata 6 0 R /Lang (de-AT) >>");
    let page = described("/Root 7 0 R", vec![meta, catalog]);
    assert_eq!((page.title.as_str(), page.language.as_deref()), ("Webs & orbs", Some("de")));
}

#[test]
fn links_out_of_the_document_are_links() {
    let content = b"BT /F1 10 Tf (see) Tj ET";
    let mut bytes = one_page(content, HELVETICA, vec![], "");
    bytes.extend(
        b"\n3 0 obj << /Type /Page /Parent 2 0 R /Contents 4 0 R /Annots [ \
          << /Subtype /Link /A << /S /URI /URI (http://example.com/a) >> >> \
          << /Subtype /Link /Dest [3 0 R /Fit] >> ] >> endobj\n",
    );
    let page = parse_pdf(&bytes).0;
    let links: Vec<&str> = page.links.iter().map(|link| link.href.as_str()).collect();
    assert_eq!(links, ["http://example.com/a"]);
}

#[test]
fn a_document_without_text_says_why() {
    let why = |bytes: &[u8]| parse_pdf(bytes).1;
    assert_eq!(why(b""), Some(NoText::NotPdf));
    assert_eq!(why(b"%PDF-1.4 and then nothing"), Some(NoText::NotPdf));
    assert_eq!(why(&one_page(b"0 0 m 9 9 l S", HELVETICA, vec![], "")), Some(NoText::Pictures));
    let shown = b"BT /F1 10 Tf (secret) Tj ET";
    let locked = one_page(shown, HELVETICA, vec![], "/Encrypt << /Filter /Standard /V 1 >>");
    assert_eq!(why(&locked), Some(NoText::Encrypted));
    let mute = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [6 0 R] >>";
    assert_eq!(why(&one_page(shown, mute, vec![object("<< >>")], "")), Some(NoText::Fonts));
    assert_eq!(NoText::Encrypted.to_string(), "it is encrypted");
}

#[test]
fn a_damaged_table_or_end_costs_nothing() {
    let whole = one_page(b"BT /F1 10 Tf (still here) Tj ET", HELVETICA, vec![], "");
    let cut = whole.len() - 60;
    assert_eq!(text(&whole[..cut]), "still here", "without a trailer, pages are looked for");
    let mut junk = b"HTTP junk before\r\n".to_vec();
    junk.extend_from_slice(&whole);
    assert_eq!(text(&junk), "still here");
}

#[test]
fn hostile_documents_end_soon_and_stay_small() {
    // A tree of pages, a chain of forms and a chain of references that lead back to themselves.
    let circle = file(
        &[
            object("<< /Type /Catalog /Pages 2 0 R >>"),
            object("<< /Type /Pages /Kids [2 0 R 2 0 R 3 0 R] >>"),
            object("<< /Type /Page /Contents 4 0 R /Resources 5 0 R >>"),
            object("4 0 R"),
            object("[5 0 R]"),
        ],
        "",
    );
    assert!(parse_pdf(&circle).0.text.is_empty());
    let doubling = stream(
        "/Subtype /Form /Resources << /XObject << /Fm 6 0 R >> >>",
        "/Fm Do ".repeat(1000).as_bytes(),
    );
    let mut bytes = one_page(b"/Fm Do", HELVETICA, vec![doubling], "");
    bytes.extend(b"\n2 0 obj << /Kids [3 0 R] /Resources << /XObject << /Fm 6 0 R >> >> >> endobj");
    assert!(parse_pdf(&bytes).0.truncated, "a thousand to the eighth forms are not drawn");
    // A stream that unpacks to a lot, in two layers, a thousand times.
    let bomb = packed(&packed(&vec![b' '; 40 << 20]));
    let more = vec![stream("/Filter [/FlateDecode /FlateDecode]", &bomb)];
    let mut bytes = one_page(b"", HELVETICA, more, "");
    let list = "6 0 R ".repeat(1000);
    bytes.extend(format!("\n3 0 obj << /Type /Page /Contents [{list}] >> endobj").into_bytes());
    assert!(parse_pdf(&bytes).0.text.is_empty());
    // Resources that are copied for every page and every font.
    let names: String = (0..20_000).map(|n| format!("/F{n} 5 0 R ")).collect();
    let kids = "3 0 R 4 0 R ".repeat(10_000);
    let tree = file(
        &[
            object("<< /Type /Catalog /Pages 2 0 R >>"),
            object(&format!("<< /Kids [{kids}] /Resources << /Font << {names} >> >> >>")),
            object("<< /Type /Page /Contents 6 0 R >>"),
            object(&format!("<< /Kids [{kids}] >>")),
            object(HELVETICA),
            stream("", "/F1 9 Tf /None 9 Tf ".repeat(5_000).as_bytes()),
        ],
        "",
    );
    assert!(parse_pdf(&tree).0.text.is_empty());
    for nested in ["[", "<<", "(", "<</A ", "1 0 obj ", "1 0 obj ["] {
        parse_pdf(format!("1 0 obj {}", nested.repeat(50_000)).as_bytes());
    }
}

#[test]
fn every_cut_and_every_flipped_byte_is_survived() {
    let (font, more, shown) = composite("weaver");
    let content = format!("BT /F1 10 Tf <{shown}> Tj [(ab) 3 <0304>] TJ ET");
    let whole = one_page(content.as_bytes(), &font, more, "/Info << /Title (t) >>");
    for at in 0..whole.len() {
        parse_pdf(&whole[..at]);
        for flip in [0x01, 0x20, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= flip;
            parse_pdf(&bytes);
        }
    }
}
