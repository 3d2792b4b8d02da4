//! Forgetting: afterwards a search of every file, packed or not, finds no word of the page.
//!
//! Pages carry markers that nothing else has: in their heads, titles, texts, link words and
//! comments. The search looks at every file of the directory as it lies, and unpacks whatever
//! looks like a gzip member or a zstd frame at any byte of it.

use crate::raw::{Raw, http, missing, redirect};
use crate::support::{Opened, Place, now, order, requests, served, settings, url};
use argiope_archive::{WarcReader, is_tombstone};
use argiope_crawl::{
    Access, Asked, DataDir, DataDirError, ForgetError, ImportOrder, ImportProblem, ImportSummary,
    ImportWatch, Question, Receipt, StoreFiles, WaczOrder, answer, export_cdxj, export_wacz,
    export_warc, finish_forgetting, forget, import_warc, look,
};
use argiope_model::{ScopeRule, Time};
use argiope_store::{EmbeddedStore, Store, StoreError, UrlState, decode_links};
use argiope_testweb::WebSpec;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MEMORY: u64 = 16 << 20;

/// Calls `act` with how the embedded store is opened and written anew.
fn with_files<T>(act: impl FnOnce(&StoreFiles<'_>) -> T) -> T {
    let open = |path: &Path| -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(EmbeddedStore::open(path, MEMORY)?))
    };
    let rewrite = |path: &Path| EmbeddedStore::rewrite(path, MEMORY);
    act(&StoreFiles { open: &open, rewrite: &rewrite })
}

fn try_forget(place: &Place, targets: &[&str]) -> Result<Receipt, ForgetError> {
    let Opened { dir, store } = place.open();
    let targets: Vec<String> = targets.iter().map(|t| (*t).to_owned()).collect();
    let plan = look(&dir, &*store, &targets, now())?;
    with_files(|files| forget(&dir, store, plan, files))
}

fn forgotten(place: &Place, targets: &[&str]) -> Receipt {
    try_forget(place, targets).expect("it is forgotten")
}

/// Everything that is in the files of a directory, unpacked where it is packed.
struct Search(Vec<(PathBuf, Vec<u8>)>);

impl Search {
    fn of(dir: &Path) -> Self {
        let mut all = Vec::new();
        let mut dirs = vec![dir.to_owned()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    dirs.push(path);
                    continue;
                }
                // Ours and the same for everybody; long, and slow to look through.
                if path.ends_with("suffixes.dat") {
                    continue;
                }
                let mut raw = fs::read(&path).unwrap();
                // A journal is long and nearly empty.
                raw.truncate(raw.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1));
                let mut plain = raw.clone();
                for at in 0..raw.len() {
                    if raw[at..].starts_with(&[0x1f, 0x8b, 8]) {
                        let mut member = flate2::read::GzDecoder::new(&raw[at..]);
                        let _ = member.read_to_end(&mut plain);
                    } else if raw[at..].starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
                        let frame = zstd::stream::read::Decoder::with_buffer(&raw[at..]);
                        let _ = frame.unwrap().single_frame().read_to_end(&mut plain);
                    }
                }
                all.push((path, plain));
            }
        }
        Search(all)
    }

    /// The files that hold these words, or ten letters of them in a row: packing by repetition
    /// may tear them.
    fn files_with(&self, words: &str) -> Vec<&Path> {
        let pieces: Vec<&[u8]> = words.as_bytes().windows(10.min(words.len())).collect();
        let mut begins = [false; 256];
        pieces.iter().for_each(|piece| begins[usize::from(piece[0])] = true);
        let is_one = |w: &[u8]| begins[usize::from(w[0])] && pieces.contains(&w);
        let holds = |bytes: &[u8]| bytes.windows(pieces[0].len()).any(is_one);
        self.0.iter().filter(|(_, plain)| holds(plain)).map(|(path, _)| path.as_path()).collect()
    }
}

/// Letters that look like chance.
fn marker(what: &str, page: &str) -> String {
    let mut state = what
        .bytes()
        .chain(page.bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'a' + (state >> 33) as u8 % 26)
    };
    (0..20).map(|_| next()).collect()
}

const PLACES: [&str; 6] = ["etag", "head", "title", "text", "words", "comment"];

fn markers(page: &str) -> Vec<String> {
    PLACES.iter().map(|place| marker(place, page)).collect()
}

/// A page with a marker everywhere, which links to these.
fn marked(path: &str, links: &[&str]) -> Vec<u8> {
    let m = |what: &str| marker(what, path);
    let links: String = links
        .iter()
        .map(|to| format!("<a href=\"{to}\">{} {}</a>\n", m("words"), marker("to", to)))
        .collect();
    let body = format!(
        "<!doctype html><title>{}</title><!-- {} --><p>{} {links}",
        m("title"),
        m("comment"),
        m("text"),
    );
    let etag = format!("\"{}\"", m("etag"));
    let headers = [("Content-Type", "text/html"), ("ETag", &etag), ("X-Head", &m("head"))];
    http("200 OK", &headers, body)
}

/// Indexes what was crawled, with what pages call each other.
fn index(place: &Place) {
    let opened = place.open();
    opened.followers().words.catch_up(true, |_| {}).expect("an index");
}

const ALL: [&str; 4] = ["/a", "/b", "/c", "/d"];

/// A site whose pages all link to each other; `/c` and `/d` are one page twice, and `/e` leads on.
async fn site() -> Raw {
    Raw::start(|asked| match asked.path.as_str() {
        "/" => marked("/", &["/a", "/b", "/c", "/d", "/e"]),
        "/a" | "/b" => marked(&asked.path, &ALL),
        "/c" | "/d" | "/f" => marked("/c", &["/a", "/b", "/f"]),
        "/e" => redirect(&format!("/a?{}", marker("to", "/e"))),
        _ => missing(),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_file_holds_a_word_of_a_forgotten_page_and_the_rest_is_as_it_was() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    index(&place);
    let before = Search::of(&place.path);
    for words in markers("/a").iter().chain(&markers("/b")) {
        assert!(!before.files_with(words).is_empty(), "{words} is not there to be found");
    }
    let receipt = forgotten(&place, &[&site.url("/a")]);
    assert_eq!((receipt.urls.len(), receipt.captures, receipt.records), (1, 1, 1));
    assert_eq!(receipt.urls, [site.url("/a")]);
    let after = Search::of(&place.path);
    for words in markers("/a") {
        assert_eq!(after.files_with(&words), Vec::<&Path>::new(), "{words}");
    }
    for words in markers("/b").iter().chain(&markers("/")) {
        assert!(!after.files_with(words).is_empty(), "{words} of another page");
    }
    assert!(!after.files_with(&marker("to", "/a")).is_empty(), "others' words for it are theirs");
    assert!(place.path.join("index/meta.json").exists(), "the index is still there");
    let opened = place.open();
    opened.assert_verified();
    assert_eq!(opened.rows()[&site.url("/a")].state, UrlState::Forgotten);
    assert!(opened.captures(&site.url("/a")).is_empty());
    assert!(place.path.join("receipts").join(format!("{}.json", receipt.id)).is_file());
    assert!(!place.path.join("forgetting.json").exists());
    for file in &receipt.files {
        assert_eq!(file.length.0, file.length.1, "nothing moved: {file:?}");
        assert_ne!(file.sha256.0, file.sha256.1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_with_the_same_bytes_keeps_them_in_a_record_of_its_own() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    // Whichever of the three came first has the payload, the others refer to it.
    let all = ["/c", "/d", "/f"].map(|path| site.url(path));
    let first = {
        let opened = place.open();
        let first = all.iter().find(|u| !opened.capture(u).revisit).expect("one of them");
        assert_eq!(all.iter().filter(|u| opened.capture(u).revisit).count(), 2);
        first.clone()
    };
    let receipt = forgotten(&place, &[&first]);
    assert_eq!((receipt.moved.len(), receipt.records, receipt.texts), (2, 3, 0));
    let opened = place.open();
    opened.assert_verified();
    let left: Vec<&String> = all.iter().filter(|u| **u != first).collect();
    let revisits: Vec<bool> = left.iter().map(|u| opened.capture(u).revisit).collect();
    assert_eq!(revisits.iter().filter(|r| **r).count(), 1, "one has it, the other refers to that");
    for address in &left {
        let capture = opened.capture(address);
        let text = argiope_archive::read_text(&opened.dir.text(), capture.text.unwrap()).unwrap();
        assert_eq!(text.title, marker("title", "/c"));
        let record = opened.record(address);
        assert!(String::from_utf8_lossy(&record.http_head).contains(&marker("head", "/c")));
        let refers = record.headers.get("WARC-Refers-To-Target-URI");
        assert!(refers.is_none_or(|to| to != first && left.iter().any(|u| *u == to)));
        if !capture.revisit {
            assert!(String::from_utf8_lossy(&record.payload).contains(&marker("text", "/c")));
        }
    }
    drop(opened);
    // The last of them takes everything with it.
    forgotten(&place, &[left[0], left[1]]);
    let after = Search::of(&place.path);
    for words in markers("/c") {
        assert_eq!(after.files_with(&words), Vec::<&Path>::new(), "{words}");
    }
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_forgotten_is_not_fetched_again_unless_a_new_crawl_starts_there() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    forgotten(&place, &[&site.url("/a"), &site.url("/e")]);
    let log = fs::read_to_string(place.path.join("log/crawl.log")).unwrap();
    assert!(log.contains(&format!("{}\n", site.url("/e"))), "that it was asked for stays: {log}");
    let asked = |path: &str| site.paths().iter().filter(|p| *p == path).count();
    assert_eq!((asked("/a"), asked("/b"), asked("/e")), (1, 1, 1));
    // Another order, which looks at all stored links again; and one that starts elsewhere.
    place.crawl(settings(), order(&[site.url("/"), site.url("/b")])).await;
    place.crawl(settings(), order(&[site.url("/x")])).await;
    assert_eq!((asked("/a"), asked("/b"), asked("/e")), (1, 1, 1));
    place.open().assert_verified();
    place.crawl(settings(), order(&[site.url("/a")])).await;
    assert_eq!((asked("/a"), asked("/e")), (2, 1), "it alone");
    let opened = place.open();
    assert_eq!(opened.rows()[&site.url("/a")].state, UrlState::Fetched);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_goes_whole_and_the_others_stay() {
    let spec = WebSpec { sites: 2, pages_per_site: 60, mean_page_bytes: 1500, ..WebSpec::demo() };
    let (web, place) = (served(spec).await, Place::new());
    let bases = web.bases();
    let both = argiope_crawl::NewJob { rule: ScopeRule::Host, ..order(&bases) };
    place.crawl(settings(), both).await;
    let named = |n: usize| url(&bases[n]).authority().to_owned();
    let asked = requests(&web);
    let of = |opened: &Opened, n: usize| {
        let here = |u: &String| url(u).authority() == named(n);
        opened.rows().into_iter().filter(|(u, _)| here(u)).map(|(_, row)| row).collect::<Vec<_>>()
    };
    let (known, words) = {
        let opened = place.open();
        let rows = of(&opened, 0);
        assert!(rows.iter().any(|row| row.state == UrlState::Redirected), "of every kind");
        let fetched = rows.iter().find(|r| r.state == UrlState::Fetched && r.depth > 1).unwrap();
        let text = opened.capture(fetched.url.as_str()).text.unwrap();
        let text = argiope_archive::read_text(&opened.dir.text(), text).unwrap();
        (rows.len(), text.text.chars().take(60).collect::<String>())
    };
    let receipt = forgotten(&place, &[&named(0)]);
    assert_eq!(receipt.urls.len(), known);
    assert_eq!(receipt.hosts.len(), 1);
    let opened = place.open();
    opened.assert_verified();
    assert!(of(&opened, 0).iter().all(|row| row.state == UrlState::Forgotten));
    assert!(of(&opened, 1).iter().all(|row| row.state != UrlState::Forgotten));
    let host = url(&bases[0]).key(opened.dir.suffixes()).host;
    assert_eq!(opened.store.robots(&[host]).unwrap(), [None]);
    assert_eq!(opened.store.hosts(&[host]).unwrap()[0].as_ref().unwrap().fetched, 0);
    drop(opened);
    assert!(
        words.len() > 40
            && Search::of(&place.path).0.iter().all(|(path, plain)| {
                !path.starts_with(place.path.join("warc"))
                    || !plain.windows(words.len()).any(|w| w == words.as_bytes())
            })
    );
    // Going on with the same order asks for nothing of it.
    place.crawl(settings(), order(&bases)).await;
    assert_eq!(requests(&web), asked);
    assert!(matches!(try_forget(&place, &[&named(0)]), Err(ForgetError::NothingLeft(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queued_page_is_forgotten_too_and_the_job_ends() {
    let (site, place) = (site().await, Place::new());
    let limits = argiope_model::Limits { pages: Some(1), ..Default::default() };
    let few = argiope_crawl::NewJob { limits, ..order(&[site.url("/")]) };
    place.crawl(settings(), few).await;
    assert!(!place.open().in_state(UrlState::Queued).is_empty());
    forgotten(&place, &["127.0.0.1"]);
    let opened = place.open();
    opened.assert_verified();
    let jobs = opened.store.jobs().unwrap();
    assert_eq!(jobs[0].counters.queued, 0);
    drop(opened);
    let asked = site.paths().len();
    place.crawl(settings(), order(&[site.url("/")])).await;
    assert_eq!(site.paths().len(), asked, "nothing is left to ask for");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_over_from_a_killed_crawl_goes_too() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    let words = marker("text", "/a");
    // Behind the committed ends, and on its way.
    for (dir, ending) in [("warc", ".gz"), ("text", ".zst")] {
        for entry in fs::read_dir(place.path.join(dir)).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().ends_with(ending) {
                let mut bytes = fs::read(&path).unwrap();
                bytes.extend_from_slice(words.as_bytes());
                fs::write(&path, bytes).unwrap();
            }
        }
    }
    fs::create_dir_all(place.path.join("spool/bodies")).unwrap();
    fs::write(place.path.join("spool/bodies/1"), &words).unwrap();
    forgotten(&place, &[&site.url("/a")]);
    assert_eq!(Search::of(&place.path).files_with(&words), Vec::<&Path>::new());
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_just_changing_its_name_is_not_missing() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    drop(place.open());
    let store = place.path.join("store");
    fs::rename(&store, place.path.join("store.old")).unwrap();
    place.open().assert_verified();
    fs::rename(&store, place.path.join("elsewhere")).unwrap();
    let gone = DataDir::open(&place.path, Access::Own, now());
    assert!(matches!(gone, Err(DataDirError::StoreGone(_))), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forgetting_that_stops_anywhere_is_finished_by_the_next_to_come() {
    for steps in 0..3 {
        let (site, place) = (site().await, Place::new());
        place.crawl(settings(), order(&[site.url("/")])).await;
        // A directory in the place of what has to be written stops it where it stands.
        let in_the_way = match steps {
            0 => place.path.join("store.new/in-the-way"),
            1 => place.path.join("receipts"),
            _ => place.path.join("store.old/in-the-way"),
        };
        if steps == 1 {
            fs::write(&in_the_way, "a file").unwrap();
        }
        let stopped = {
            let Opened { dir, store } = place.open();
            let targets = [site.url("/a"), site.url("/c")];
            let plan = look(&dir, &*store, &targets, now()).unwrap();
            let open = |path: &Path| -> Result<Arc<dyn Store>, StoreError> {
                Ok(Arc::new(EmbeddedStore::open(path, MEMORY)?))
            };
            let rewrite = |path: &Path| {
                let what = "a test";
                let stop = Err(StoreError::Damaged { what, why: "stopped".to_owned() });
                match steps {
                    0 => stop,
                    1 => EmbeddedStore::rewrite(path, MEMORY),
                    // Done, and not told.
                    _ => EmbeddedStore::rewrite(path, MEMORY).and(stop),
                }
            };
            forget(&dir, store, plan, &StoreFiles { open: &open, rewrite: &rewrite })
        };
        assert!(stopped.is_err(), "step {steps}");
        assert!(place.path.join("forgetting.json").is_file());
        if steps == 1 {
            fs::remove_file(&in_the_way).unwrap();
        }
        let opened = place.open();
        drop(opened.store);
        let receipt = with_files(|files| finish_forgetting(&opened.dir, files)).unwrap();
        let receipt = receipt.expect("there was something to finish");
        assert_eq!(receipt.urls.len(), 2);
        assert!(receipt.files.iter().all(|f| !f.sha256.0.is_empty()), "the digests from before");
        assert!(with_files(|files| finish_forgetting(&opened.dir, files)).unwrap().is_none());
        drop(opened.dir);
        let after = Search::of(&place.path);
        for words in markers("/a") {
            assert_eq!(after.files_with(&words), Vec::<&Path>::new(), "step {steps}: {words}");
        }
        place.open().assert_verified();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_changed_nothing_yet_is_begun_anew() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    let Opened { dir, store } = place.open();
    let plan = look(&dir, &*store, &[site.url("/a")], Time(now().0)).unwrap();
    drop(store);
    fs::write(place.path.join("forgetting.json"), serde_json::to_vec(&plan).unwrap()).unwrap();
    let receipt = with_files(|files| finish_forgetting(&dir, files)).unwrap().unwrap();
    assert_eq!(receipt.urls, [site.url("/a")]);
    // As an older version wrote it, which knew of no versions.
    let mut old = serde_json::to_value(&plan).unwrap();
    old["version"] = 1.into();
    old.as_object_mut().unwrap().retain(|name, _| name != "prune" && name != "versions");
    fs::write(place.path.join("forgetting.json"), old.to_string()).unwrap();
    let receipt = with_files(|files| finish_forgetting(&dir, files)).unwrap().unwrap();
    assert_eq!(receipt.urls, [site.url("/a")]);
    // What cannot be done is said once and stands in nobody's way.
    fs::write(place.path.join("forgetting.json"), serde_json::to_vec(&plan).unwrap()).unwrap();
    let again = with_files(|files| finish_forgetting(&dir, files));
    assert!(again.unwrap().is_some(), "its rows say that it was committed: done again");
    drop(dir);
    let opened = place.open();
    opened.assert_verified();
}

struct Quiet;

impl ImportWatch for Quiet {
    fn problem(&mut self, _: ImportProblem) {}
    fn progress(&mut self, _: &ImportSummary) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exports_leave_it_out_and_an_import_does_not_bring_it_back() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    let out = tempfile::tempdir().unwrap();
    let opened = place.open();
    let earlier = export_warc(&opened.dir, &*opened.store, &out.path().join("warc")).unwrap();
    drop(opened);
    forgotten(&place, &[&site.url("/a")]);
    let opened = place.open();
    let mut index = Vec::new();
    export_cdxj(&opened.dir, &*opened.store, &mut index).unwrap();
    let index = String::from_utf8(index).unwrap();
    assert!(index.contains("/b\"") && !index.contains("/a\""), "{index}");
    let wacz = out.path().join("site.wacz");
    let order = WaczOrder { now: now(), text: true, ..WaczOrder::default() };
    let done = export_wacz(&opened.dir, &*opened.store, &order, &wacz).unwrap();
    assert_eq!(done.asked_not, 0);
    // Its members lie in the file as they are: one after another, no tombstone among them.
    let whole = fs::read(&wacz).unwrap();
    let begins = whole.windows(3).position(|w| w == [0x1f, 0x8b, 8]).unwrap();
    let records: Vec<_> = WarcReader::new(&whole[begins..]).flatten().collect();
    assert!(records.len() as u64 > done.records);
    assert!(!records.iter().any(|r| is_tombstone(&r.headers)));
    let files = earlier.into_iter().map(|(path, _)| path).collect();
    let order = ImportOrder { files, dry_run: false };
    let store = opened.store.clone();
    let taken = import_warc(&opened.dir, store, &settings(), &order, &mut Quiet).unwrap();
    assert_eq!((taken.captures, taken.forgotten), (0, 1), "{taken:?}");
    assert_eq!(opened.rows()[&site.url("/a")].state, UrlState::Forgotten);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_is_told_that_it_was_forgotten() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    forgotten(&place, &[&site.url("/a")]);
    let opened = place.open();
    let ask = |question: Question| match answer(
        &question,
        &opened.dir,
        &*opened.store,
        &opened.followers(),
        &settings(),
        None,
    ) {
        Asked::Rows(rows) | Asked::Piece(rows, _) => rows,
        Asked::Sorry(why) | Asked::Wrong(why) | Asked::Unknown(why) => panic!("{why}"),
    };
    let doc = ask(Question::Doc(site.url("/a"))).remove(0);
    assert_eq!((&doc["state"], &doc["captures"]), (&"forgotten".into(), &0.into()));
    assert!(doc["title"].is_null());
    let rows = ask(Question::Explain { url: site.url("/a") });
    assert!(rows.iter().any(|row| row["rule"] == "forgotten" && row["verdict"] == "no"));
    let links = opened.store.links(&[url(&site.url("/b")).key(opened.dir.suffixes())]).unwrap();
    let links = decode_links(links[0].as_ref().unwrap()).unwrap();
    assert!(links.iter().any(|link| link.url.as_str() == site.url("/a")), "others link to it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_here_is_said_and_nothing_is_changed() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    let unknown = try_forget(&place, &[&site.url("/a"), &site.url("/never")]);
    assert!(matches!(unknown, Err(ForgetError::UnknownUrl(_))));
    assert!(matches!(try_forget(&place, &["other.test"]), Err(ForgetError::UnknownSite(_))));
    assert!(place.open().in_state(UrlState::Forgotten).is_empty());
    assert!(!place.path.join("receipts").exists());
}
