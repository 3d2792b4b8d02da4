//! Texts: PDF and plain text have one, and each can be made again from the archive.

use crate::raw::{Raw, http, missing};
use crate::support::{Opened, Place, order, served, settings, url, wanted};
use argiope_archive::{read_text, text_segment_name};
use argiope_crawl::{
    Asked, EngineSettings, NewJob, Question, SearchOrder, Texts, answer, texts_again, verify,
    verify_words,
};
use argiope_model::{Capture, Location};
use argiope_store::{Batch, Forget, Moved};
use argiope_testweb::WebSpec;
use std::collections::BTreeMap;
use std::fs;

/// One page with a line of Latin letters, in the encoding of Windows.
fn pdf(title: &str, line: &[u8]) -> Vec<u8> {
    let content = [b"BT /F1 12 Tf 72 720 Td (", line, b") Tj ET"].concat();
    let mut out = b"%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n\
        2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj\n\
        3 0 obj << /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 \
        << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >> >> >> \
        endobj\n"
        .to_vec();
    out.extend(
        format!(
            "5 0 obj << /Title ({title}) >> endobj\n4 0 obj << /Length {} >> stream\n",
            content.len()
        )
        .into_bytes(),
    );
    out.extend(content);
    out.extend(b"\nendstream endobj\ntrailer << /Root 1 0 R /Info 5 0 R >>\n%%EOF\n");
    out
}

async fn site() -> Raw {
    Raw::start(|asked| {
        let sent = |kind: &str, body: Vec<u8>| http("200 OK", &[("Content-Type", kind)], body);
        match asked.path.as_str() {
            "/" => sent(
                "text/html; charset=utf-8",
                b"<title>Start</title><a href=/orb.pdf>paper</a> <a href=/twin.pdf>twin</a> \
                  <a href=/scan.pdf>scan</a> <a href=/notes.txt>notes</a> <a href=/list.csv>list</a>"
                    .to_vec(),
            ),
            "/orb.pdf" | "/twin.pdf" => sent("application/pdf", pdf("Orb weavers", b"caf\xe9 spinneret")),
            "/scan.pdf" => sent("application/pdf", b"%PDF-1.4 torn".to_vec()),
            "/notes.txt" => sent("text/plain", "Seide: na\u{ef}ve Spinnw\u{e4}rter spinneret".chars().map(|c| c as u8).collect()),
            "/list.csv" => sent("text/csv", b"name,legs\nspider,8\n".to_vec()),
            _ => missing(),
        }
    })
    .await
}

fn order_all(site: &Raw) -> NewJob {
    NewJob { wanted: wanted(&["html", "text", "pdf"]), ..order(&[site.url("/")]) }
}

/// Title, text and language of every page that has a text.
fn texts(opened: &Opened) -> BTreeMap<String, (String, String)> {
    let mut out = BTreeMap::new();
    for (key, row) in opened.all() {
        for capture in opened.store.captures(key).unwrap() {
            if let Some(at) = capture.text {
                let blob = read_text(&opened.dir.text(), at).unwrap();
                out.insert(format!("{} {}", row.url, capture.time), (blob.title, blob.text));
            }
        }
    }
    out
}

fn captures(opened: &Opened, path: &str) -> Vec<Capture> {
    opened.store.captures(url(path).key(opened.dir.suffixes())).unwrap()
}

fn again(opened: &Opened) -> Texts {
    texts_again(&opened.dir, &*opened.store, &settings(), |_| {}).expect("texts")
}

fn found(opened: &Opened, query: &str) -> Vec<(String, String)> {
    let followers = opened.followers();
    followers.words.catch_up(true, |_| {}).expect("an index");
    let order = SearchOrder { query: query.to_owned(), limit: 10, ..SearchOrder::default() };
    let question = Question::Search(order);
    match answer(&question, &opened.dir, &*opened.store, &followers, &settings(), None) {
        Asked::Rows(mut rows) => {
            rows.pop();
            let text = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_owned();
            let mut hits: Vec<_> =
                rows.iter().map(|row| (text(row, "url"), text(row, "snippet"))).collect();
            hits.sort();
            hits
        }
        _ => panic!("no rows"),
    }
}

fn agrees(opened: &Opened) {
    let mut found =
        verify(&opened.dir, &*opened.store, &Default::default(), |_| {}).expect("a report");
    if opened.dir.index().exists() {
        verify_words(&*opened.store, &opened.followers().words, &mut found).expect("an index");
    }
    assert_eq!(found.problems, vec![]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pdf_and_plain_text_are_found_by_their_words() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order_all(&site)).await;
    let opened = place.open();
    let hits = found(&opened, "spinneret");
    let urls: Vec<&str> = hits.iter().map(|(url, _)| url.as_str()).collect();
    // The twin is folded under the paper, or the other way round.
    assert!(urls.contains(&site.url("/notes.txt").as_str()), "{urls:?}");
    assert!(urls.iter().any(|url| url.ends_with(".pdf")), "{urls:?}");
    let hits = found(&opened, "cafe intitle:weavers");
    assert!(
        hits.iter()
            .all(|(url, snippet)| url.ends_with(".pdf") && snippet.contains("café spinneret")),
        "{hits:?}"
    );
    assert!(!hits.is_empty());
    assert_eq!(found(&opened, "spinnwärter naïve").len(), 1, "Latin letters nobody declared");
    assert_eq!(found(&opened, "legs spider")[0].0, site.url("/list.csv"));
    let scan = captures(&opened, &site.url("/scan.pdf"));
    assert_eq!(scan[0].text, None);
    let said = scan[0].outcome.to_string();
    assert_eq!(said, "fetched 200: no text: it is damaged or no PDF at all");
    assert!(scan[0].record.is_some(), "the page is kept all the same");
    agrees(&opened);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_texts_are_made_again_from_the_archive() {
    let web = WebSpec { sites: 1, pages_per_site: 60, mean_page_bytes: 2000, ..WebSpec::demo() };
    let (served, place) = (served(web).await, Place::new());
    // Short segments, so that there are several to lose.
    let settings = EngineSettings { segment_bytes: 8 << 10, ..settings() };
    place.crawl(settings.clone(), order(&served.bases())).await;
    let opened = place.open();
    let before = texts(&opened);
    assert!(before.len() > 40, "{}", before.len());
    assert_eq!(
        again(&opened),
        Texts { captures: again(&opened).captures, whole: before.len() as u64, ..Texts::default() }
    );
    let known = found(&opened, "site:127.0.0.1").len();

    // One is damaged, one is cut, one is gone; then all are.
    let at = |n: u32| opened.dir.text().join(text_segment_name(n));
    let mut bytes = fs::read(at(1)).unwrap();
    bytes[100] ^= 1;
    fs::write(at(1), &bytes).unwrap();
    let cut = fs::read(at(2)).unwrap();
    fs::write(at(2), &cut[..cut.len() / 2]).unwrap();
    fs::remove_file(at(3)).unwrap();
    let report = verify(&opened.dir, &*opened.store, &Default::default(), |_| {}).unwrap();
    assert!(report.problem_count > 2);
    assert!(
        report.problems.iter().all(|p| p.problem.contains("reindex --from-archive")),
        "{:?}",
        report.problems
    );
    let made = again(&opened);
    assert!(made.made > 2 && made.whole > 2 && made.lost + made.unreadable == 0, "{made:?}");
    assert_eq!(texts(&opened), before);
    agrees(&opened);
    fs::remove_dir_all(opened.dir.text()).unwrap();
    let made = again(&opened);
    assert_eq!((made.made, made.whole), (before.len() as u64, 0), "{made:?}");
    assert_eq!(texts(&opened), before);
    assert_eq!(found(&opened, "site:127.0.0.1").len(), known);
    agrees(&opened);
    // A crawl goes on as ever.
    drop(opened);
    place.crawl(settings, order(&served.bases())).await;
    agrees(&place.open());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_had_no_text_are_given_one_and_common_texts_stay_common() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order_all(&site)).await;
    let opened = place.open();
    let before = texts(&opened);
    // As an earlier version left it: a PDF without a text.
    let mut moved = Vec::new();
    for path in ["/orb.pdf", "/twin.pdf"] {
        let key = url(&site.url(path)).key(opened.dir.suffixes());
        for capture in opened.store.captures(key).unwrap() {
            moved.push(Moved { key, capture: Capture { text: None, ..capture }, payload: None });
        }
    }
    let forget = Forget { moved, ..Forget::default() };
    opened.store.commit(Batch { forget, ..Batch::default() }).unwrap();
    assert_eq!(texts(&opened).len(), before.len() - 2);
    assert_eq!(again(&opened).made, 2);
    assert_eq!(texts(&opened), before);
    fs::remove_dir_all(opened.dir.text()).unwrap();
    assert_eq!(again(&opened).made, before.len() as u64);
    assert_eq!(texts(&opened), before);
    agrees(&opened);
    // What has no record cannot be made again, and no pointer is left that leads nowhere.
    let key = url(&site.url("/notes.txt")).key(opened.dir.suffixes());
    let capture = opened.store.captures(key).unwrap().remove(0);
    let nowhere = Location { segment: 99, offset: 0, length: 10 };
    let capture = Capture { text: Some(nowhere), record: None, ..capture };
    let forget = Forget { moved: vec![Moved { key, capture, payload: None }], ..Forget::default() };
    opened.store.commit(Batch { forget, ..Batch::default() }).unwrap();
    let made = again(&opened);
    assert_eq!((made.made, made.lost), (0, 1));
    assert_eq!(captures(&opened, &site.url("/notes.txt"))[0].text, None);
}
