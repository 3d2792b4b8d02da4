//! News: articles of a followed site, once each, with their changes; and what is asked of them.

use crate::collect::{Followed, collect, front, number, path, recipe};
use crate::raw::{Asked as Request, Raw, http, missing, redirect};
use crate::support::{Opened, Place, now, order, settings, url};
use argiope_crawl::{
    Asked, EngineSettings, Followers, NewsAct, NewsOrder, NewsSettings, NewsSource, Owner,
    Question, Return, RuleAction, SavedView, StoreFiles, WordRule, answer, ask_owner, forget,
    listen, look, verify_news,
};
use argiope_news::{Recipe, Sites};
use argiope_store::{EmbeddedStore, Store, StoreError};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SITE: &str = "127.0.0.1";

fn followed(sites: &[&str]) -> EngineSettings {
    let recipe = |site: &&str| Recipe {
        name: "The Daily Web".to_owned(),
        site: (*site).to_owned(),
        ..Recipe::default()
    };
    let sites = Arc::new(Sites::new(sites.iter().map(recipe).collect()));
    let source = NewsSource::new(move || sites.clone());
    EngineSettings { news: NewsSettings { source, ..NewsSettings::default() }, ..settings() }
}

const BRIDGE_TEXT: [&str; 6] = [
    "After nine years of work the BRIDGE over the Lindau narrows was opened on Sunday by the mayor of Westhaven.",
    "Some four thousand people walked across before the first lorry was let on to the new carriageway at noon.",
    "The engineer Ruth Almgren said that the piers had to be sunk twice as deep as was planned in the beginning.",
    "Ferries which have carried commuters since the last century will be sold to an operator on the northern islands.",
    "Tolls are to pay for the concrete within thirty years, provided that traffic grows as the ministry expects it to.",
    "Opponents of the scheme held up banners and pointed to eelgrass meadows that were dredged for the approach road.",
];
const COMET_TEXT: [&str; 6] = [
    "Astronomers at the Zanzibar observatory have followed a comet with two tails since the beginning of the week.",
    "It can be seen with bare eyes low in the western sky for about forty minutes after sunset, weather permitting.",
    "Professor Juma Okello explained that the faint blue tail consists of gas while the bright yellow one is dust.",
    "The icy body comes from far beyond Neptune and will not return for another eleven thousand years or so.",
    "Amateurs photographed it above fishing boats in the harbour and shared their pictures with the institute.",
    "A spacecraft that happens to be near has been told to turn its cameras towards the nucleus next month.",
];
const RACE_TEXT: [&str; 6] = [
    "Only half a second lay between Ines Carvalho and her rival at the end of forty-two kilometres in Porto.",
    "The winner had been last of the leading group at the turning point, troubled by a stitch and by the heat.",
    "Spectators threw water at the runners when the stands along the avenue ran out of paper cups in the afternoon.",
    "Her coach Manuel Pires told reporters that nobody in the team had believed in a medal after the injury in May.",
    "Second place went to a student who ran the distance for the first time and had entered on the last day.",
    "The organisers counted nineteen thousand starters, among them a man of eighty-three dressed as a rooster.",
];

fn article(path: &str, title: &str, text: &[&str], day: u32) -> Vec<u8> {
    let lines: String = text.iter().map(|line| format!("<p>{line}</p>")).collect();
    let body = format!(
        "<!doctype html><html lang=en><head><title>{title} - The Daily Web</title>\
         <link rel=canonical href='{path}'>\
         <meta property='og:type' content='article'>\
         <meta property='article:published_time' content='2024-11-{day:02}T08:00:00Z'></head>\
         <body><nav><a href=/>front</a></nav><article><h1>{title}</h1>{lines}</article></body></html>"
    );
    http("200 OK", &[("Content-Type", "text/html; charset=utf-8")], body)
}

/// A newspaper. In its second edition the first article says something else, in its third only the page around it does.
async fn newspaper(edition: Arc<AtomicUsize>) -> Raw {
    Raw::start(move |asked| {
        let edition = edition.load(Ordering::SeqCst);
        let links = "<a href=/2024/11/10/bridge-opens-at-last>Bridge opens at last</a> \
            <a href='/2024/11/10/bridge-opens-at-last?utm_source=front'>Bridge</a> \
            <a href=/amp/2024/11/10/bridge-opens-at-last>Bridge, small</a> \
            <a href=/2024/11/11/comet-over-the-harbour>A comet over the harbour</a> \
            <a href=/sport/2024/11/12/marathon-won-by-a-hair>Marathon won by a hair</a> \
            <a href=/tag/bridges>bridges</a> <a href=/moved>moved</a>";
        let first =
            BRIDGE_TEXT[0].replace("BRIDGE", ["long bridge", "very long bridge"][edition.min(1)]);
        let bridge = [&[first.as_str()], &BRIDGE_TEXT[1..]].concat();
        let of_bridge = "/2024/11/10/bridge-opens-at-last";
        match asked.path.split('?').next().unwrap_or_default() {
            "/" => http(
                "200 OK",
                &[("Content-Type", "text/html")],
                format!("<title>The Daily Web, edition {edition}</title>{links}"),
            ),
            path if path.ends_with(of_bridge) => {
                article(of_bridge, "Bridge opens at last", &bridge, 10)
            }
            path @ "/2024/11/11/comet-over-the-harbour" => {
                article(path, "A comet over the harbour", &COMET_TEXT, 11)
            }
            path @ "/sport/2024/11/12/marathon-won-by-a-hair" => {
                article(path, "Marathon won by a hair", &RACE_TEXT, 12)
            }
            "/tag/bridges" => article("/tag/bridges", "All about bridges", &RACE_TEXT, 1),
            "/moved" => redirect(of_bridge),
            _ => missing(),
        }
    })
    .await
}

struct Desk {
    opened: Opened,
    followers: Followers,
    settings: EngineSettings,
}

impl Desk {
    fn of(place: &Place, settings: EngineSettings) -> Self {
        let opened = place.open();
        let followers = Followers::new(&opened.dir, &opened.store, &settings);
        Desk { opened, followers, settings }
    }

    fn ask(&self, question: &Question) -> Asked {
        let Opened { dir, store } = &self.opened;
        answer(question, dir, &**store, &self.followers, &self.settings, None)
    }

    fn rows(&self, question: &Question) -> Vec<Value> {
        match self.ask(question) {
            Asked::Rows(rows) | Asked::Piece(rows, _) => rows,
            other => panic!("{other:?}"),
        }
    }

    fn articles(&self) -> Vec<Value> {
        self.rows(&Question::News(NewsOrder {
            articles: true,
            hidden: true,
            ..NewsOrder::default()
        }))
    }

    fn titles(&self, order: NewsOrder) -> Vec<String> {
        let rows = self.rows(&Question::News(order));
        rows.iter().map(|row| row["title"].as_str().unwrap_or_default().to_owned()).collect()
    }

    fn act(&self, act: NewsAct) -> Value {
        self.rows(&Question::NewsAct(act)).remove(0)
    }

    fn overview(&self) -> Value {
        self.rows(&Question::NewsOverview).remove(0)
    }
}

fn with_files<T>(act: impl FnOnce(&StoreFiles<'_>) -> T) -> T {
    let open = |path: &Path| -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(EmbeddedStore::open(path, 16 << 20)?))
    };
    let rewrite = |path: &Path| EmbeddedStore::rewrite(path, 16 << 20);
    act(&StoreFiles { open: &open, rewrite: &rewrite })
}

const MARATHON: &str = "Marathon won by a hair";
const COMET: &str = "A comet over the harbour";
const BRIDGE: &str = "Bridge opens at last";

#[tokio::test(flavor = "multi_thread")]
async fn articles_are_found_once_each_and_their_changes_are_versions() {
    let edition = Arc::new(AtomicUsize::new(0));
    let site = newspaper(edition.clone()).await;
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;

    // What was crawled before anybody followed the site is taken in.
    let desk = Desk::of(&place, followed(&[SITE]));
    let rows = desk.articles();
    let titles: Vec<&str> = rows.iter().filter_map(|row| row["title"].as_str()).collect();
    assert_eq!(titles, [MARATHON, COMET, BRIDGE]);
    let bridge = &rows[2];
    assert_eq!(bridge["urls"].as_array().map(Vec::len), Some(2), "{bridge}");
    assert_eq!(bridge["published"], "2024-11-10T08:00:00.000Z");
    assert_eq!((&bridge["versions"], &bridge["updated"]), (&1.into(), &Value::Null));
    assert_eq!((&bridge["source"], &bridge["site"]), (&"The Daily Web".into(), &SITE.into()));
    assert_eq!((&rows[0]["subject"], &bridge["subject"]), (&"sport".into(), &Value::Null));
    let overview = desk.overview();
    assert_eq!((&overview["articles"], &overview["unread"]), (&3.into(), &3.into()), "{overview}");
    assert_eq!(overview["days"].as_array().map(Vec::len), Some(3));
    let doc = bridge["doc"].as_u64().expect("a number");
    desk.act(NewsAct::Read { docs: vec![doc], stories: Vec::new(), read: true });
    assert_eq!(desk.overview()["unread"], 2);
    drop(desk);

    // The second edition.
    edition.store(1, Ordering::SeqCst);
    place.come_back(settings(), Return::All).await;
    let desk = Desk::of(&place, followed(&[SITE]));
    let rows = desk.articles();
    assert_eq!(rows.len(), 3);
    assert_eq!((&rows[2]["versions"], &rows[2]["read"]), (&2.into(), &false.into()), "{}", rows[2]);
    assert!(rows[2]["updated"].is_string());
    assert!(rows[..2].iter().all(|row| row["versions"] == 1), "{rows:?}");
    assert_eq!(desk.overview()["unread"], 3);
    drop(desk);

    // The third: only the front page is another.
    edition.store(2, Ordering::SeqCst);
    place.come_back(settings(), Return::All).await;
    let desk = Desk::of(&place, followed(&[SITE]));
    assert_eq!(desk.articles(), rows);
    let mut checked = Default::default();
    verify_news(&desk.opened.dir, &*desk.opened.store, &mut checked).expect("it is read");
    assert_eq!((checked.articles, &checked.problems[..]), (3, &[][..]));

    // Made again they are the same, but for what was read, which is kept elsewhere.
    desk.followers.news.rebuild().expect("made again");
    assert_eq!(desk.articles(), rows);
    // No longer followed, they stay.
    drop(desk);
    assert_eq!(Desk::of(&place, followed(&[])).articles().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_in_since_a_page_was_made_is_not_read_with_it() {
    let site = newspaper(Arc::default()).await;
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;
    // Fetched before that, and followed after.
    let made = now();
    let desk = Desk::of(&place, followed(&[SITE]));
    assert_eq!(desk.articles().len(), 3);
    let read = |seen: i64| {
        let order = NewsOrder { articles: true, ..NewsOrder::default() };
        desk.act(NewsAct::ReadAll { order, seen: Some(seen) })["read"].clone()
    };
    assert_eq!((read(made.0), read(now().0)), (0.into(), 3.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_comes_back_brings_what_came_meanwhile() {
    let edition = Arc::new(AtomicUsize::new(0));
    let site = newspaper(edition.clone()).await;
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;
    assert_eq!(Desk::of(&place, followed(&[SITE])).articles().len(), 3);
    let reader = || fs::read_to_string(place.path.join("news/reader.json")).unwrap_or_default();
    // Nobody is parted with where it is not known who is followed.
    let unknown = Arc::new(Sites::unknown());
    let mut nobody = followed(&[]);
    nobody.news.source = NewsSource::new(move || unknown.clone());
    assert_eq!(Desk::of(&place, nobody).articles().len(), 3);
    assert!(!reader().contains(SITE));
    assert_eq!(Desk::of(&place, followed(&[])).articles().len(), 3);
    assert!(reader().contains(SITE));
    edition.store(1, Ordering::SeqCst);
    place.come_back(settings(), Return::All).await;

    let desk = Desk::of(&place, followed(&[SITE]));
    let rows = desk.articles();
    let versions: Vec<_> = rows.iter().map(|row| row["versions"].as_u64()).collect();
    assert_eq!(versions, [Some(1), Some(1), Some(2)]);
    assert!(!reader().contains(SITE));
    desk.followers.news.rebuild().expect("made again");
    assert_eq!(desk.articles(), rows);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_is_taken_back_is_a_version_though_it_looks_like_a_box_that_turns() {
    let edition = Arc::new(AtomicUsize::new(0));
    let now = edition.clone();
    let site = Raw::start(move |asked: &Request| {
        let Some(n) = number(&asked.path) else {
            return if asked.path == "/" { front(&[path(1), path(2)]) } else { missing() };
        };
        let edited = now.load(Ordering::SeqCst) == 1 && n == 1;
        let toll = if edited { "Fourteen houses were flooded" } else { "Nine houses were flooded" };
        let body = format!(
            "<title>The council of town {n} has found a new way to build</title><meta property='og:type' content='article'>
             <main><h1>The council of town {n} has found a new way to build</h1><p>The river rose in the night and nobody in town {n}
             was warned of it in time.</p><p>{toll} before the water fell again, said the brigade of town {n} on Monday.</p></main>"
        );
        http("200 OK", &[("Content-Type", "text/html; charset=utf-8")], &body)
    })
    .await;
    let place = Place::new();
    let followed = Followed::of(vec![recipe(SITE, site.url("/"))]);
    // As the visits come, and not from all that is kept of them.
    for (now, most) in [(0, 1), (1, 2), (0, 3), (1, 4)] {
        edition.store(now, Ordering::SeqCst);
        collect(&place, &followed).await;
        let rows = Desk::of(&place, followed.settings()).articles();
        let mut versions: Vec<_> = rows.iter().map(|row| row["versions"].as_u64()).collect();
        versions.sort();
        assert_eq!(versions, [Some(1), Some(most)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_pick_and_page() {
    let site = newspaper(Arc::default()).await;
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;
    let desk = Desk::of(&place, followed(&[SITE]));
    desk.followers.words.catch_up(true, |_| {}).expect("an index");
    let all = NewsOrder::default();
    assert_eq!(desk.titles(all.clone()), [MARATHON, COMET, BRIDGE]);
    let day = |day: i64| 1_731_196_800_000 + (day - 10) * 86_400_000;
    for (order, titles) in [
        (NewsOrder { subject: Some("sport".to_owned()), ..all.clone() }, &[MARATHON][..]),
        (NewsOrder { subject: Some("opera".to_owned()), ..all.clone() }, &[]),
        (NewsOrder { since: Some(day(11)), ..all.clone() }, &[MARATHON, COMET]),
        (NewsOrder { until: Some(day(11)), ..all.clone() }, &[BRIDGE]),
        (NewsOrder { query: Some("zanzibar".to_owned()), ..all.clone() }, &[COMET]),
        (NewsOrder { sites: vec![SITE.to_owned()], ..all.clone() }, &[MARATHON, COMET, BRIDGE]),
        (NewsOrder { sites: vec!["other.test".to_owned()], ..all.clone() }, &[]),
        (NewsOrder { language: Some("de".to_owned()), ..all.clone() }, &[]),
    ] {
        assert_eq!(desk.titles(order.clone()), titles, "{order:?}");
    }
    let mut paged = Vec::new();
    let mut next = Some(Question::News(NewsOrder { limit: 1, ..all.clone() }));
    while let Some(question) = next.take() {
        let Asked::Piece(rows, rest) = desk.ask(&question) else { panic!("no piece") };
        assert!(rows.len() <= 1);
        paged.extend(rows.iter().map(|row| row["title"].as_str().unwrap_or_default().to_owned()));
        next = rest.map(|rest| *rest);
    }
    assert_eq!(paged, [MARATHON, COMET, BRIDGE]);
    let wrong = NewsOrder { query: Some("\"open".to_owned()), ..all.clone() };
    assert!(matches!(desk.ask(&Question::News(wrong)), Asked::Wrong(_)));
    assert!(matches!(desk.ask(&Question::Story(987_654)), Asked::Unknown(_)));
    let first = desk.rows(&Question::News(all.clone())).remove(0);
    let mut story = desk.rows(&Question::Story(first["story"].as_u64().expect("a number")));
    assert_eq!((story.len(), &story[0]["title"]), (2, &MARATHON.into()));
    // Beside what lists show of it, an article has its text here, and its earlier selves.
    let row = story[1].as_object_mut().expect("a row");
    let (text, past) = (row.remove("text"), row.remove("past"));
    assert!(text.is_some_and(|text| text.as_str().is_some_and(|text| text.len() > 50)));
    assert_eq!(past, Some(Value::Array(Vec::new())));
    assert_eq!(story[0]["articles"][0], story[1]);

    // Rules and saved views.
    let rule =
        |action, words: &str| WordRule { id: 0, action, words: words.to_owned(), site: None };
    desk.act(NewsAct::AddRule(rule(RuleAction::Hide, "zanzibar")));
    let alert = desk.act(NewsAct::AddRule(rule(RuleAction::Alert, "\"long bridge\"")));
    assert_eq!(desk.titles(all.clone()), [MARATHON, BRIDGE]);
    assert_eq!(desk.titles(NewsOrder { alerts: true, ..all.clone() }), [BRIDGE]);
    assert_eq!(desk.titles(NewsOrder { hidden: true, ..all.clone() }), [MARATHON, COMET, BRIDGE]);
    let overview = desk.overview();
    assert_eq!((&overview["hidden"], &overview["alerts"]), (&1.into(), &1.into()));
    assert_eq!(desk.act(NewsAct::ReadAll { order: all.clone(), seen: None })["read"], 2);
    assert!(matches!(
        desk.ask(&Question::NewsAct(NewsAct::AddRule(rule(RuleAction::Keep, " ")))),
        Asked::Wrong(_)
    ));
    let view = SavedView { id: 0, name: "sport".to_owned(), order: all.clone() };
    let saved = desk.act(NewsAct::Save(view));
    drop(desk);

    // All of it is there again.
    let desk = Desk::of(&place, followed(&[SITE]));
    assert_eq!(desk.titles(all.clone()), [MARATHON, BRIDGE]);
    assert_eq!(desk.overview()["unread"], 0);
    assert_eq!(desk.overview()["saved"][0], saved["saved"]);
    let id = alert["rule"]["id"].as_u64().expect("a number") as u32;
    assert_eq!(desk.act(NewsAct::RemoveRule(id))["removed"]["id"], id);
    assert!(matches!(desk.ask(&Question::NewsAct(NewsAct::RemoveRule(id))), Asked::Unknown(_)));
    assert_eq!(desk.overview()["alerts"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_file_is_cut_and_a_damaged_one_is_made_again() {
    let edition = Arc::new(AtomicUsize::new(0));
    let site = newspaper(edition.clone()).await;
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;
    let file = place.path.join("news/articles.log");
    let desk = Desk::of(&place, followed(&[SITE]));
    let rows = desk.articles();
    let whole = fs::read(&file).expect("the file");
    drop(desk);
    for length in [whole.len() - 1, whole.len() / 2, 40, 15, 3, 0] {
        fs::write(&file, &whole[..length]).expect("a torn file");
        assert_eq!(Desk::of(&place, followed(&[SITE])).articles(), rows, "{length} bytes");
        assert_eq!(fs::read(&file).expect("the file").len(), whole.len(), "{length} bytes");
    }
    for place_in_file in (16..whole.len()).step_by(97) {
        let mut damaged = whole.clone();
        damaged[place_in_file] ^= 0x55;
        fs::write(&file, &damaged).expect("a damaged file");
        assert_eq!(Desk::of(&place, followed(&[SITE])).articles(), rows, "byte {place_in_file}");
    }
    fs::write(&file, "argiope news 99\n").expect("a newer file");
    let desk = Desk::of(&place, followed(&[SITE]));
    let Asked::Sorry(why) = desk.ask(&Question::NewsOverview) else { panic!("it is newer") };
    assert!(why.contains("newer"), "{why}");
    assert!(fs::read_to_string(&file).expect("the file").contains("99"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_is_in_no_file_of_the_news() {
    let site = newspaper(Arc::default()).await;
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;
    let desk = Desk::of(&place, followed(&[SITE]));
    assert_eq!(desk.articles().len(), 3);
    let Desk { opened: Opened { dir, store }, followers, .. } = desk;
    drop(followers);
    let gone = vec![
        site.url("/2024/11/11/comet-over-the-harbour"),
        site.url("/2024/11/10/bridge-opens-at-last"),
    ];
    let plan = look(&dir, &*store, &gone, now()).expect("a plan");
    with_files(|files| forget(&dir, store, plan, files)).expect("it is forgotten");
    drop(dir);
    let bytes = fs::read(place.path.join("news/articles.log")).expect("the file");
    let holds = |words: &str| bytes.windows(words.len()).any(|part| part == words.as_bytes());
    assert!(holds("Marathon") && !holds("comet") && !holds("zanzibar"));
    let desk = Desk::of(&place, followed(&[SITE]));
    let rows = desk.articles();
    let urls: Vec<&str> = rows.iter().filter_map(|row| row["url"].as_str()).collect();
    // Another address of the second was not forgotten, and is an article of its own now.
    assert_eq!(urls.len(), 2, "{urls:?}");
    assert!(!urls.iter().any(|found| gone.iter().any(|gone| url(gone) == url(found))));
    let mut checked = Default::default();
    verify_news(&desk.opened.dir, &*desk.opened.store, &mut checked).expect("it is read");
    assert_eq!(checked.problems, []);
}

const SHORT: &str = "The ferry to the island runs again from Monday. It was held up for nine days by ice in the \
    strait, the harbour office said.<br><br>Tickets that were bought before the storm are still good.";

/// A paper whose pages say nothing about themselves; its feed and the front of its section do.
async fn taciturn() -> Raw {
    Raw::start(move |asked| {
        let html = |body: String| http("200 OK", &[("Content-Type", "text/html")], body);
        match asked.path.as_str() {
            "/" => html(
                "<title>The Quiet Paper</title><link rel=alternate type='application/rss+xml' href='/rss'>\
                 <nav><a href=/sport/>Sport</a></nav><main>\
                 <article><h2><a href=/n/4711.html>The ferry to the island runs again from Monday</a></h2>\
                 <p>Nine days of ice have come to an end.</p></article>\
                 <article><h2><a href=/n/4713.html>This page went away before anybody could read it</a></h2></article>\
                 </main>"
                    .to_owned(),
            ),
            "/sport/" => html(
                "<title>Sport</title><main>\
                 <article><h2><a href=/n/4712.html>Marathon was won by half a second on the last metres</a></h2></article>\
                 <article><h2><a href=/n/4714.html>Rowers of the town come home with two cups this year</a></h2></article>\
                 </main>"
                    .to_owned(),
            ),
            "/rss" => http(
                "200 OK",
                &[("Content-Type", "application/rss+xml")],
                format!(
                    "<rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/'><channel><title>The Quiet Paper</title>\
                     <item><title>Ferry</title><link>/n/4711.html</link><category>Wirtschaft</category>\
                     <dc:creator>Ada Byron</dc:creator><pubDate>{}</pubDate></item></channel></rss>",
                    "Mon, 16 Nov 2020 07:30:00 +0700"
                ),
            ),
            "/n/4711.html" => html(format!(
                "<title>Ferry runs again</title><h1>Ferry runs again</h1><div>{SHORT}</div>"
            )),
            "/n/4712.html" | "/n/4714.html" => html(format!(
                "<title>Race {0}</title><h1>Won in the end, page {0}</h1><div>{1}</div>",
                asked.path,
                RACE_TEXT[..3].join("<br><br>")
            )),
            "/n/4713.html" => html(format!("<title>Error 404</title><h1>Error 404</h1><div>{SHORT}</div>")),
            _ => missing(),
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn short_articles_count_where_headlines_lead_and_feeds_and_fronts_tell_of_them() {
    let site = taciturn().await;
    let place = Place::new();
    let mut settings = followed(&[SITE]);
    let front = vec![site.url("/")];
    let recipe =
        Recipe { site: SITE.to_owned(), front, feeds: vec![site.url("/rss")], ..Recipe::default() };
    let sites = Arc::new(Sites::new(vec![recipe]));
    settings.news.source = NewsSource::new(move || sites.clone());
    settings.news.only = true;
    let began = now();
    place.come_back(settings.clone(), Return::Due).await;

    let desk = Desk::of(&place, settings.clone());
    let rows = desk.articles();
    let of = |end: &str| {
        let mut found =
            rows.iter().filter(|row| row["url"].as_str().is_some_and(|u| u.ends_with(end)));
        found.next().unwrap_or_else(|| panic!("no {end} in {rows:?}"))
    };
    assert_eq!(rows.len(), 3, "{rows:?}");
    let ferry = of("4711.html");
    assert_eq!(
        (&ferry["subject"], &ferry["authors"][0]),
        (&"business".into(), &"Ada Byron".into())
    );
    assert_eq!(ferry["published"], "2020-11-16T00:30:00.000Z");
    assert_eq!(
        (&of("4712.html")["subject"], &of("4714.html")["subject"]),
        (&"sport".into(), &"sport".into())
    );
    let gained = desk.followers.news.gained(began).expect("numbers");
    assert_eq!((gained[SITE].new, gained[SITE].changed), (3, 0));
    drop(desk);

    // It is in the rows, and the same when they are made again.
    let desk = Desk::of(&place, settings.clone());
    assert_eq!(desk.articles(), rows);
    desk.followers.news.rebuild().expect("made again");
    assert_eq!(desk.articles(), rows);

    // When the feed is forgotten, so is what it said.
    let Desk { opened: Opened { dir, store }, followers, .. } = desk;
    drop(followers);
    let plan = look(&dir, &*store, &[site.url("/rss")], now()).expect("a plan");
    with_files(|files| forget(&dir, store, plan, files)).expect("it is forgotten");
    drop(dir);
    let bytes = fs::read(place.path.join("news/articles.log")).expect("the file");
    assert!(!bytes.windows(9).any(|part| part == b"Ada Byron"));
    let left = Desk::of(&place, settings).articles();
    let ferry = left.iter().find(|row| row["doc"] == ferry["doc"]).expect("it stays");
    assert_eq!((left.len(), ferry["authors"].as_array().map(Vec::len)), (3, Some(0)), "{ferry}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_at_any_byte_of_the_last_batch_loses_and_doubles_nothing() {
    let edition = Arc::new(AtomicUsize::new(0));
    let site = newspaper(edition.clone()).await;
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;
    let file = place.path.join("news/articles.log");
    let first = Desk::of(&place, followed(&[SITE])).articles().len();
    let before = fs::read(&file).expect("the file").len();
    edition.store(1, Ordering::SeqCst);
    place.come_back(settings(), Return::All).await;
    let desk = Desk::of(&place, followed(&[SITE]));
    let rows = desk.articles();
    drop(desk);
    let whole = fs::read(&file).expect("the file");
    assert!(whole.len() > before && rows.len() == first);
    let desk = Desk::of(&place, followed(&[SITE]));
    let Opened { dir, store } = &desk.opened;
    // Every byte near both ends, and some between.
    let near = |n: usize| n < before + 40 || n + 40 > whole.len() || n.is_multiple_of(13);
    for length in (before..whole.len()).filter(|n| near(*n)) {
        fs::write(&file, &whole[..length]).expect("a torn file");
        let followers = Followers::new(dir, store, &desk.settings);
        let again = Desk {
            opened: Opened { dir: dir.clone(), store: store.clone() },
            followers,
            settings: desk.settings.clone(),
        };
        assert_eq!(again.articles(), rows, "{length} bytes of {}", whole.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_of_a_running_crawl_answers_for_the_news() {
    let site = newspaper(Arc::default()).await;
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;
    let desk = Desk::of(&place, followed(&[SITE]));
    let Desk { opened: Opened { dir, store }, followers, settings } = desk;
    let listening = listen(Owner {
        dir,
        store,
        followers,
        live: Arc::default(),
        settings,
        orders: None,
        leave: None,
    })
    .expect("a control socket");
    let data = place.path.clone();
    let ask = |question: Question| {
        let data = data.clone();
        tokio::task::spawn_blocking(move || {
            ask_owner(&data, &question).expect("an answer").expect("an owner")
        })
    };
    let Asked::Piece(rows, _) = ask(Question::News(NewsOrder::default())).await.unwrap() else {
        panic!("no piece")
    };
    assert_eq!(rows.len(), 3);
    let story = rows[0]["story"].as_u64().expect("a number");
    let act = NewsAct::Read { docs: Vec::new(), stories: vec![story], read: true };
    assert!(
        matches!(ask(Question::NewsAct(act)).await.unwrap(), Asked::Rows(rows) if rows[0]["read"] == 1)
    );
    assert!(
        matches!(ask(Question::NewsOverview).await.unwrap(), Asked::Rows(rows) if rows[0]["unread"] == 2)
    );
    assert!(matches!(ask(Question::Story(999_999)).await.unwrap(), Asked::Unknown(_)));
    drop(listening);
}

#[tokio::test(flavor = "multi_thread")]
async fn articles_that_are_no_more_are_marked_and_left_alone_and_stay_readable() {
    const AT: [&str; 3] = [
        "/2024/11/10/bridge-opens-at-last",
        "/2024/11/11/comet-over-the-harbour",
        "/sport/2024/11/12/marathon-won-by-a-hair",
    ];
    let edition = Arc::new(AtomicUsize::new(0));
    let told = edition.clone();
    let site = Raw::start(move |asked| {
        let edition = told.load(Ordering::SeqCst);
        let headline = |to: &&str| {
            format!("<h2><a href='{to}'>A headline of some length that leads to {to}</a></h2>")
        };
        let links: String = AT.iter().map(headline).collect();
        match asked.path.as_str() {
            "/" => http("200 OK", &[("Content-Type", "text/html")], links),
            path if path == AT[0] && edition == 1 => http("410 Gone", &[], ""),
            path if path == AT[0] => article(path, BRIDGE, &BRIDGE_TEXT, 10),
            path if path == AT[1] && edition == 1 => redirect("/"),
            path if path == AT[1] => article(path, COMET, &COMET_TEXT, 11),
            path if path == AT[2] && edition > 0 => {
                redirect("/sport/2024/11/12/the-marathon-again-7")
            }
            path if path.starts_with("/sport/2024/") => article(path, MARATHON, &RACE_TEXT, 12),
            _ => missing(),
        }
    })
    .await;
    let recipe = Recipe { site: SITE.to_owned(), front: vec![site.url("/")], ..Recipe::default() };
    let sites = Arc::new(Sites::new(vec![recipe]));
    let source = NewsSource::new(move || sites.clone());
    let news = NewsSettings { source, only: true, ..NewsSettings::default() };
    let round = EngineSettings { news, ..settings() };
    let place = Place::new();
    let summary = place.come_back(round.clone(), Return::Due).await;
    assert_eq!(summary.news[SITE].new, 3, "{:?}", site.paths());
    edition.store(1, Ordering::SeqCst);
    let tally = place.come_back(round.clone(), Return::Due).await.news[SITE];
    assert_eq!((tally.gone, tally.moved, tally.failed), (2, 1, 0), "{tally:?}");
    let gone = |desk: &Desk| {
        let rows = desk.articles();
        let gone = rows.iter().filter(|row| row["gone"].is_string());
        let gone: Vec<String> = gone.map(|row| row["title"].as_str().unwrap().to_owned()).collect();
        (rows.len(), gone)
    };
    let wanted = (3, vec![COMET.to_owned(), BRIDGE.to_owned()]);
    let desk = Desk::of(&place, round.clone());
    assert_eq!(gone(&desk), wanted);
    let story = desk.articles()[2]["story"].as_u64().unwrap();
    let rows = desk.rows(&Question::Story(story));
    assert!(rows[0]["gone"].is_string(), "{}", rows[0]);
    assert!(rows[1]["text"].as_str().is_some_and(|text| text.contains("Lindau")), "{}", rows[1]);
    drop(desk);
    // They are not asked for again in the next rounds, ...
    let before = site.counts();
    place.come_back(round.clone(), Return::Due).await;
    for path in &AT[..2] {
        assert_eq!(site.counts()[*path], before[*path], "{path}");
    }
    assert_eq!(site.counts()["/"], before["/"] + 1);
    // ... stay marked where all of it is made again, ...
    fs::remove_file(place.path.join("news/articles.log")).unwrap();
    assert_eq!(gone(&Desk::of(&place, round.clone())), wanted);
    // ... and are not any more where they are there again.
    edition.store(2, Ordering::SeqCst);
    let all = NewsSettings { only: false, ..round.news.clone() };
    place.come_back(EngineSettings { news: all, ..round.clone() }, Return::All).await;
    assert_eq!(gone(&Desk::of(&place, round.clone())), (3, Vec::new()));
}
