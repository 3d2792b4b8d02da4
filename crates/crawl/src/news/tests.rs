//! Articles taken in without a crawl: writing anew, merging, and what others say of them.

use super::intake::{Seen, is_passing, unpacked};
use super::judge::address;
use super::row::Hint;
use super::state::{FILE, Open};
use super::{RuleAction, WordRule, back_as, back_of};
use crate::versions::VersionError;
use argiope_archive::ArchiveError;
use argiope_model::{CanonicalUrl, Time};
use argiope_news::Recipe;
use argiope_parse::{Article, Sure, When};
use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

const DAY: i64 = 86_400_000;
const NOON: i64 = 1_800_000_000_000 / DAY * DAY + DAY / 2;

fn site() -> Recipe {
    Recipe { site: "n.test".to_owned(), ..Recipe::default() }
}

fn url(path: &str) -> CanonicalUrl {
    CanonicalUrl::parse(&format!("http://www.n.test{path}")).unwrap()
}

/// A text of its own for each number, in which an edition is a few words.
fn text(n: u64, edition: u32) -> String {
    let word = |k: u64| format!("w{:x}", (n * 977 + k).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40);
    let body: Vec<String> = (0..120).map(word).collect();
    format!("Edition {edition} of {n} says this much.\n{}.", body.join(" "))
}

fn seen(doc: u64, path: &str, time: i64, title: &str, text: String) -> Seen {
    let article = Article { title: title.to_owned(), text, ..Article::default() };
    Seen { doc, url: url(path), time: Time(time), quotable: true, article }
}

fn opened(dir: &Path) -> Open {
    Open::new(dir, Time(NOON)).expect("it opens")
}

/// What there is, as it would be shown.
fn all(open: &mut Open) -> Vec<(u64, u32, String, Vec<String>)> {
    let order = open.table.newest_first().to_vec();
    let mut out = Vec::new();
    for n in order {
        let (head, body) = open.body(n).expect("a row");
        out.push((head.doc, head.versions, body.title, body.urls));
    }
    out
}

#[test]
fn a_file_that_is_mostly_replaced_rows_is_written_anew_and_says_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let (mut appended, mut shrunk) = (0, false);
    for edition in 0..12 {
        for doc in 0..60 {
            let (path, title) = (format!("/2027/01/{doc}"), format!("Title of {doc}"));
            let time = NOON + i64::from(edition) * 60_000;
            open.take(&seen(doc, &path, time, &title, text(doc, edition).repeat(4)), &site())
                .expect("taken");
        }
        open.mark().expect("written");
        let now = fs::metadata(dir.path().join(FILE)).unwrap().len();
        shrunk |= now < appended;
        appended = now;
    }
    assert!(shrunk, "it was never written anew, and has {appended} bytes");
    let rows = all(&mut open);
    assert_eq!(rows.len(), 60);
    assert!(rows.iter().all(|row| row.1 == 12), "{:?}", rows[0]);
    drop(open);
    assert!(!dir.path().join("articles.log.part").exists());
    let mut open = opened(dir.path());
    assert_eq!(all(&mut open), rows);
    // A row that is found changed after that is still the same article.
    open.take(&seen(7, "/2027/01/7", NOON + DAY, "Title of 7", text(7, 99)), &site()).unwrap();
    assert_eq!(
        all(&mut open).iter().filter(|row| row.0 == 7).map(|row| row.1).collect::<Vec<_>>(),
        [13]
    );
}

#[test]
fn two_rows_that_turn_out_to_be_one_are_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let take = |open: &mut Open, seen: &Seen| open.take(seen, &site()).expect("taken");
    take(&mut open, &seen(1, "/2027/01/a", NOON, "The first", text(1, 0)));
    take(&mut open, &seen(2, "/2027/01/b", NOON, "The second", text(2, 0)));
    assert_eq!(all(&mut open).len(), 2);
    // The second page shows the first article now, and says so.
    let mut moved = seen(2, "/2027/01/b", NOON + 1, "The first", text(1, 0));
    moved.article.canonical = Some(url("/2027/01/a").as_str().to_owned());
    take(&mut open, &moved);
    let row = (1, 1, "The first".to_owned(), vec![url("/2027/01/b").as_str().to_owned()]);
    assert_eq!(all(&mut open), std::slice::from_ref(&row));
    open.mark().expect("written");
    drop(open);
    let mut open = opened(dir.path());
    assert_eq!(all(&mut open), [row]);
    assert_eq!((open.table.of_doc(2), open.table.live), (open.table.of_doc(1), 1));
    assert!(open.table.of_story(2).is_empty());
    // Either page may change it.
    take(&mut open, &seen(1, "/2027/01/a", NOON + 2, "The first", text(1, 1)));
    assert_eq!(all(&mut open)[0].1, 2);
}

#[test]
fn an_article_that_left_its_story_is_where_it_went_after_a_restart_and_when_it_changes() {
    let told = [
        (
            "Fire in Harwick warehouse leaves 26 injured",
            "A fire in a warehouse near Station Road in Harwick injured 26 people on Monday evening. It took crews six hours to \
             put it out. The head of the brigade, Clara Whitfield, said the cause was unclear. Some 311 residents had to leave \
             their homes.",
        ),
        (
            "Fire in Harwick: Elm Lane is closed",
            "A fire has broken out in Harwick, the brigade said on Tuesday. Elm Lane is closed to cars.",
        ),
        (
            "Elm Lane school loses its gym to a fire",
            "Elm Lane school in Harwick has lost its gym to a fire. All 480 pupils of Elm Lane school were counted on the playing \
             field on Tuesday, headmaster Marek Dolan said. Elm Lane is closed, and lessons will be held in the town hall.",
        ),
    ];
    let stories = |open: &Open| -> Vec<u64> {
        (1..=3)
            .filter_map(|doc| Some(open.table.rows[open.table.of_doc(doc)? as usize].story))
            .collect()
    };
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let take = |open: &mut Open, doc: u64, time: i64, (title, text): (&str, &str)| {
        let host = CanonicalUrl::parse(&format!("http://www.n{doc}.test/{doc}")).unwrap();
        let recipe = Recipe { site: format!("n{doc}.test"), ..Recipe::default() };
        let page = seen(doc, "/", time, title, text.to_owned());
        open.take(&Seen { url: host, ..page }, &recipe).expect("taken");
    };
    take(&mut open, 1, NOON - 2 * DAY, told[0]);
    take(&mut open, 2, NOON - DAY, told[1]);
    assert_eq!(stories(&open), [1, 1]);
    take(&mut open, 3, NOON - DAY, told[2]);
    let again = |mut open: Open| {
        open.mark().expect("written");
        opened(dir.path())
    };
    assert_eq!(stories(&open), [1, 2, 2]);
    open = again(open);
    assert_eq!(stories(&open), [1, 2, 2]);
    assert_eq!((open.table.of_story(1).len(), open.table.of_story(2).len()), (1, 2));
    // The school had a fire of its own; the flash becomes a report of the other.
    take(&mut open, 2, NOON, told[0]);
    assert_eq!(stories(&open), [1, 1, 3]);
    open = again(open);
    assert_eq!(stories(&open), [1, 1, 3]);
    // And comes back: its number is that of a story again.
    take(&mut open, 2, NOON + 1, told[2]);
    let last = stories(&open);
    assert_eq!(last[0], 1);
    assert_eq!(last[1], last[2]);
    assert_eq!(stories(&again(open)), last);
}

#[test]
fn hints_count_where_the_page_says_less_whenever_they_come() {
    let day = |has_clock: bool, zone: Option<i16>, time: i64| When {
        time: Time(time),
        offset_minutes: zone,
        has_clock,
        has_zone: zone.is_some(),
        sure: Sure::Stated,
    };
    let hint = || Hint {
        published: Some(NOON - 3_600_000),
        authors: vec!["Ada Byron".to_owned()],
        subject: Some("sport".to_owned()),
        weight: 3,
        summary: "What the feed says.".to_owned(),
        ..Hint::default()
    };
    for hint_first in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let mut open = opened(dir.path());
        let paths = ["/a", "/b", "/c", "/d"];
        let told: Vec<_> = paths.iter().map(|path| (address(&url(path)), hint())).collect();
        if hint_first {
            open.told(told.clone()).unwrap();
            // A restart in between.
            open.mark().unwrap();
            open = opened(dir.path());
        }
        for (doc, path) in (1..).zip(paths) {
            let mut page = seen(doc, path, NOON, &format!("Title {doc}"), text(doc, 0));
            page.article.published = match path {
                "/a" => None,
                "/b" => Some(day(false, None, NOON - DAY / 2)),
                "/c" => Some(day(true, Some(60), NOON - 7_200_000)),
                _ => Some(day(false, None, NOON - 9 * DAY)),
            };
            if path == "/c" {
                page.article.authors = vec!["Its own".to_owned()];
                page.article.section = Some("Politics".to_owned());
                page.article.summary = "Its own summary.".to_owned();
            }
            open.take(&page, &site()).unwrap();
        }
        if !hint_first {
            open.told(told).unwrap();
        }
        open.mark().unwrap();
        let mut open = opened(dir.path());
        let mut of = |doc: u64| {
            let n = open.table.of_doc(doc).unwrap();
            open.body(n).unwrap()
        };
        for doc in [1, 2] {
            let (head, body) = of(doc);
            assert_eq!((body.published, head.time), (Some(NOON - 3_600_000), NOON - 3_600_000));
            assert_eq!((head.subject.as_deref(), &*body.authors[0]), (Some("sport"), "Ada Byron"));
            assert_eq!(body.summary, "What the feed says.");
        }
        let (head, body) = of(3);
        assert_eq!(
            (body.published, head.subject.as_deref()),
            (Some(NOON - 7_200_000), Some("politics"))
        );
        assert_eq!((&*body.authors[0], &*body.summary), ("Its own", "Its own summary."));
        // Another day than the page says is another time.
        assert_eq!(of(4).1.published, Some(NOON - 9 * DAY));
    }
}

#[test]
fn a_page_that_names_its_section_is_not_of_the_one_that_leads_there() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let mut page = seen(1, "/a", NOON, "Title", text(1, 0));
    page.article.section = Some("Gardening".to_owned());
    open.take(&page, &site()).unwrap();
    let on = |weight| Hint { weight, subject: Some("sport".to_owned()), ..Hint::default() };
    open.told(vec![(address(&page.url), on(1))]).unwrap();
    assert_eq!(open.body(0).unwrap().0.subject, None);
    // What is said of it alone is another thing.
    open.told(vec![(address(&page.url), on(3))]).unwrap();
    let (head, body) = open.body(0).unwrap();
    assert_eq!(
        (head.subject.as_deref(), body.section.as_deref()),
        (Some("sport"), Some("Gardening"))
    );
}

#[test]
fn hints_are_not_quoted_where_the_page_forbids_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let mut page = seen(1, "/a", NOON, "Title", text(1, 0));
    page.quotable = false;
    open.take(&page, &site()).unwrap();
    open.told(vec![(address(&page.url), Hint { summary: "Words.".to_owned(), ..Hint::default() })])
        .unwrap();
    assert_eq!(open.body(0).unwrap().1.summary, "");
}

#[test]
fn two_pages_of_an_article_that_was_edited_between_their_visits_are_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let minute = 60_000;
    open.take(&seen(1, "/front/135932.html", NOON, "A prize in Ostend", text(1, 0)), &site())
        .unwrap();
    let edited = "A prize in Ostend for a film";
    open.take(&seen(2, "/culture/135932.html", NOON + minute, edited, text(1, 1)), &site())
        .unwrap();
    assert_eq!(all(&mut open).len(), 2);
    let again = seen(1, "/front/135932.html", NOON + 2 * minute, edited, text(1, 1));
    open.take(&again, &site()).unwrap();
    let rows = all(&mut open);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((rows[0].0, rows[0].1, &*rows[0].2), (1, 2, edited));
    open.take(&again, &site()).unwrap();
    assert_eq!(all(&mut open), rows);
}

#[test]
fn a_change_that_another_page_brought_first_is_a_version_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let at = |doc, path: &str, minute: i64, edition| {
        seen(doc, path, NOON + minute * 60_000, "A vote in the town", text(1, edition))
    };
    open.take(&at(1, "/politics/155930.html", 0, 0), &site()).unwrap();
    open.take(&at(2, "/front/155930.html", 5, 1), &site()).unwrap();
    open.take(&at(1, "/politics/155930.html", 6, 1), &site()).unwrap();
    assert_eq!(all(&mut open).iter().map(|row| row.1).collect::<Vec<_>>(), [2]);
    // The next change is seen on both pages and counted once.
    open.take(&at(1, "/politics/155930.html", 9, 2), &site()).unwrap();
    open.take(&at(2, "/front/155930.html", 9, 2), &site()).unwrap();
    assert_eq!(all(&mut open).iter().map(|row| row.1).collect::<Vec<_>>(), [3]);
}

#[test]
fn what_an_article_was_before_is_kept_with_it_also_when_it_goes_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let at = |minute: i64, edition| {
        seen(1, "/a", NOON + minute * 60_000, "A vote in the town", text(1, edition))
    };
    for (minute, edition) in [(0, 0), (5, 1), (9, 0)] {
        open.take(&at(minute, edition), &site()).unwrap();
    }
    let (head, body) = open.body(0).unwrap();
    assert_eq!((head.versions, unpacked(&body.text)), (3, text(1, 0)));
    let past: Vec<(i64, String)> =
        body.past.iter().map(|past| (past.since - NOON, unpacked(&past.text))).collect();
    assert_eq!(past, [(0, text(1, 0)), (5 * 60_000, text(1, 1))]);
    assert_eq!(body.since, NOON + 9 * 60_000);
}

#[test]
fn a_rule_that_was_made_since_stays_when_an_older_capture_comes() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let at = |doc, path: &str, time| seen(doc, path, time, "A vote in the town", text(1, 0));
    open.take(&at(1, "/a", NOON), &site()).unwrap();
    let id = open.reader.add_rule(&rule("vote")).unwrap().id;
    while open.rule().unwrap() {}
    open.take(&at(2, "/b", NOON - 60_000), &site()).unwrap();
    let n = open.table.of_doc(2).unwrap();
    assert_eq!((n, open.table.rules.get(&n)), (0, Some(&vec![id])));
}

#[test]
fn an_article_is_gone_when_none_of_its_pages_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let at = |doc, path: &str| seen(doc, path, NOON, "A vote in the town", text(1, 0));
    open.take(&at(1, "/amp/a"), &site()).unwrap();
    open.take(&at(2, "/a"), &site()).unwrap();
    let gone = |open: &mut Open| {
        let (head, _) = open.body(0).unwrap();
        assert_eq!(head.pages.len(), 2);
        open.table.gone(&head)
    };
    open.lost(1, Some(NOON + 1)).unwrap();
    assert_eq!(gone(&mut open), None);
    open.lost(2, Some(NOON + 2)).unwrap();
    assert_eq!(gone(&mut open), Some(NOON + 2));
    open.mark().unwrap();
    let mut open = opened(dir.path());
    assert_eq!(gone(&mut open), Some(NOON + 2));
    open.lost(1, None).unwrap();
    assert_eq!(gone(&mut open), None);
}

#[test]
fn what_was_read_as_another_article_is_read_and_still_gone_where_that_was() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    open.take(&seen(1, "/a", NOON, "The first", text(1, 0)), &site()).unwrap();
    open.take(&seen(2, "/b", NOON, "The second", text(2, 0)), &site()).unwrap();
    open.reader.mark(&[2], true, Time(NOON)).unwrap();
    open.lost(1, Some(NOON + 1)).unwrap();
    open.lost(2, Some(NOON + 1)).unwrap();
    // The second page shows the first article now, and says so.
    let mut moved = seen(2, "/b", NOON + 1, "The first", text(1, 0));
    moved.article.canonical = Some(url("/a").as_str().to_owned());
    open.take(&moved, &site()).unwrap();
    assert_eq!((all(&mut open).len(), open.reader.read_at(1)), (1, Some(NOON)));
    let (head, _) = open.body(0).unwrap();
    assert_eq!(open.table.gone(&head), Some(NOON + 1));
}

#[test]
fn what_was_taken_in_is_known_by_when_and_once_for_each_version() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let page = |time, edition| {
        let mut page = seen(1, "/a", time, "The first", text(1, edition));
        page.article.site = Some("The N".to_owned());
        page
    };
    open.take(&page(NOON - DAY, 0), &site()).unwrap();
    let first = open.came.insert(1, 5);
    // Captured long ago, and taken in just now.
    assert!(first.is_some_and(|at| at > 1_700_000_000_000), "{first:?}");
    // What others say of it is no version.
    let hint = Hint { summary: "Words.".to_owned(), ..Hint::default() };
    open.told(vec![(address(&url("/a")), hint)]).unwrap();
    assert_eq!(open.came.get(&1), Some(&5));
    open.take(&page(NOON, 1), &site()).unwrap();
    assert!(open.came[&1] > 5);
    open.mark().unwrap();
    assert!(opened(dir.path()).came.is_empty());
}

fn rule(words: &str) -> WordRule {
    WordRule { id: 0, action: RuleAction::Hide, words: words.to_owned(), site: None }
}

#[test]
fn rules_and_marks_of_what_is_gone_stay_when_others_are_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    for doc in 1..=3 {
        let page = seen(doc, &format!("/{doc}"), NOON, &format!("Title {doc}"), text(doc, 0));
        open.take(&page, &site()).unwrap();
    }
    open.mark().unwrap();
    let id = open.reader.add_rule(&rule("title 2")).unwrap().id;
    while open.rule().unwrap() {}
    open.lost(3, Some(NOON)).unwrap();
    open.mark().unwrap();
    let told = |by: u64| Hint { summary: format!("By {by}."), by: vec![by], ..Hint::default() };
    open.told(vec![(77, told(8)), (78, told(9))]).unwrap();
    open.mark().unwrap();
    for _ in 0..2 {
        let mut open = opened(dir.path());
        open.forget(&BTreeSet::from([1, 9]), &BTreeSet::new(), &BTreeSet::new()).unwrap();
        for mut open in [open, opened(dir.path())] {
            assert_eq!(all(&mut open).iter().map(|row| row.0).collect::<Vec<_>>(), [3, 2]);
            let n = open.table.of_doc(2).unwrap();
            assert_eq!(open.table.rules.get(&n), Some(&vec![id]));
            assert_eq!(open.table.lost.get(&3), Some(&NOON));
            assert_eq!((open.hints.of(77).is_some(), open.hints.of(78)), (true, None));
        }
    }
    let bytes = fs::read(dir.path().join(FILE)).unwrap();
    let holds = |words: &str| bytes.windows(words.len()).any(|part| part == words.as_bytes());
    assert!(holds("Title 2") && !holds("Title 1") && !holds("By 9."));
}

#[test]
fn what_a_forgotten_page_told_of_an_article_goes_though_it_is_an_article_itself() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    for doc in 1..=2 {
        let page = seen(doc, &format!("/{doc}"), NOON, &format!("Title {doc}"), text(doc, 0));
        open.take(&page, &site()).unwrap();
    }
    let hint = Hint { summary: "Told by the first.".to_owned(), by: vec![1], ..Hint::default() };
    open.told(vec![(address(&url("/2")), hint)]).unwrap();
    open.mark().unwrap();
    open.forget(&BTreeSet::from([1]), &BTreeSet::new(), &BTreeSet::new()).unwrap();
    // Its own page is there and makes it again.
    assert_eq!(all(&mut open).len(), 0);
    let bytes = fs::read(dir.path().join(FILE)).unwrap();
    assert!(!bytes.windows(7).any(|part| part == b"Told by"));
}

#[test]
fn an_article_under_an_address_for_every_visit_is_one_and_does_not_grow() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    let page = |doc: u64| seen(doc, &format!("/a?visit={doc}"), NOON, "A title of it", text(1, 0));
    for doc in 1..=300 {
        open.take(&page(doc), &site()).unwrap();
    }
    open.mark().unwrap();
    let mut open = opened(dir.path());
    let (head, body) = open.body(0).unwrap();
    assert_eq!((open.table.live, head.pages.len(), body.urls.len()), (1, 50, 20));
    let length = fs::metadata(dir.path().join(FILE)).unwrap().len();
    for doc in 200..=300 {
        open.take(&page(doc), &site()).unwrap();
    }
    open.mark().unwrap();
    assert_eq!(fs::metadata(dir.path().join(FILE)).unwrap().len(), length);
    assert_eq!(open.table.of_doc(300), Some(0));
}

#[test]
fn what_waits_is_written_in_pieces_and_outlives_writing_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    open.take(&seen(1, "/1", NOON, "Title", text(1, 0)), &site()).unwrap();
    let hint = |n: u64| Hint { summary: format!("{n}"), by: vec![7], ..Hint::default() };
    open.told((100..2_100).map(|n| (n, hint(n))).collect()).unwrap();
    open.mark().unwrap();
    open.forget(&BTreeSet::new(), &BTreeSet::new(), &BTreeSet::new()).unwrap();
    let open = opened(dir.path());
    assert!((100..2_100).all(|n| open.hints.of(n) == Some(&hint(n))));
}

#[test]
fn a_file_of_hints_that_wait_is_not_written_anew_at_every_mark() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    open.take(&seen(1, "/1", NOON, "Title", text(1, 0)), &site()).unwrap();
    let hint = |n: u64| Hint { summary: format!("{n} {}", "words ".repeat(60)), ..Hint::default() };
    let path = dir.path().join(FILE);
    let length = || fs::metadata(&path).unwrap().len();
    open.told((100..5_100).map(|n| (n, hint(n))).collect()).unwrap();
    open.mark().unwrap();
    assert!(length() > 1 << 20, "{}", length());
    let mut before = length();
    for n in 5_100..5_110 {
        open.told(vec![(n, hint(n))]).unwrap();
        open.mark().unwrap();
        // Nothing of it is of no use: it only grows, also after it was opened again.
        assert!(length() > before, "{n}");
        before = length();
        if n == 5_105 {
            open = opened(dir.path());
        }
    }
}

#[test]
fn what_a_disk_or_a_store_refuses_is_tried_again_and_what_is_not_kept_is_not() {
    let io = |error: io::Error| {
        let path = "1.warc".into();
        VersionError::Archive(ArchiveError::Io { action: "open", path, source: error })
    };
    // Too many open files; an error of the disk; no such file.
    assert!(is_passing(&io(io::Error::from_raw_os_error(24))));
    assert!(is_passing(&VersionError::Encoding(io::Error::from_raw_os_error(5).into())));
    assert!(is_passing(&VersionError::Asking("the store is gone".into())));
    assert!(!is_passing(&io(io::Error::from_raw_os_error(2))));
    let torn = io::Error::new(io::ErrorKind::InvalidData, "no gzip");
    assert!(!is_passing(&VersionError::Encoding(torn.into())));
    assert!(!is_passing(&VersionError::NotKept(String::new())));
    assert!(!is_passing(&VersionError::NoOriginal(String::new())));
}

#[test]
fn spans_back_are_read_and_written() {
    for (text, ms) in
        [("2d", -172_800_000), ("12h", -43_200_000), ("1w", -604_800_000), ("5m", -300_000)]
    {
        assert_eq!((back_of(text), back_as(ms).as_deref()), (Some(ms), Some(text)));
    }
    assert_eq!(
        (back_of("-2d"), back_as(-7 * 86_400_000).as_deref()),
        (Some(-172_800_000), Some("1w"))
    );
    for text in ["", "d", "2", "0d", "2026-01-31", "yesterday", "2x", "é", "99999999999999999d"] {
        assert_eq!(back_of(text), None, "{text}");
    }
    assert_eq!((back_as(0), back_as(5), back_as(-1)), (None, None, None));
}

#[test]
fn a_site_is_called_what_most_of_its_pages_call_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut open = opened(dir.path());
    assert_eq!(open.called("n.test"), None);
    for (doc, name) in [(1, "N Sport"), (2, "The N"), (3, "The N"), (4, " ")] {
        let mut page = seen(doc, &format!("/{doc}"), NOON, &format!("Title {doc}"), text(doc, 0));
        page.article.site = Some(name.to_owned());
        open.take(&page, &site()).unwrap();
    }
    // One that changes often says it no louder.
    for edition in 1..4 {
        let mut page = seen(1, "/1", NOON + i64::from(edition), "Title 1", text(1, edition));
        page.article.site = Some("N Sport".to_owned());
        open.take(&page, &site()).unwrap();
    }
    open.mark().unwrap();
    assert_eq!(open.called("n.test"), Some("The N"));
    assert_eq!(opened(dir.path()).called("n.test"), Some("The N"));
}
