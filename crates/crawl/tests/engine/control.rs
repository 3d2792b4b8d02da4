//! Visitors beside a running crawl.

use crate::support::{Opened, Place, Running, order, plain, served_slowly, settings, within};
use argiope_crawl::{
    Access, Asked, DataDir, DataDirError, Ended, Following, Instruction, LinkOrder, Live, Owner,
    Question, SearchOrder, TopBy, answer, ask_owner, listen,
};
use argiope_model::JobState;
use argiope_testweb::{ServeOptions, Web, serve};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

async fn ask(data: &Path, question: Question) -> Asked {
    let data = data.to_owned();
    let asked = tokio::task::spawn_blocking(move || ask_owner(&data, &question));
    within(20, asked).await.unwrap().expect("the owner answers").expect("there is an owner")
}

fn rows(asked: Asked) -> Vec<Value> {
    match asked {
        Asked::Rows(rows) | Asked::Piece(rows, _) => rows,
        Asked::Sorry(why) | Asked::Wrong(why) | Asked::Unknown(why) => panic!("{why}"),
    }
}

fn owner(opened: &Opened) -> (Owner, mpsc::Receiver<Instruction>) {
    let (orders, ordered) = mpsc::channel(4);
    let (dir, store) = (opened.dir.clone(), opened.store.clone());
    let followers = opened.followers();
    let live = Arc::new(Live::default());
    (
        Owner {
            dir,
            store,
            followers,
            live,
            settings: settings(),
            orders: Some(orders),
            leave: None,
        },
        ordered,
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn visitors_are_answered_while_a_crawl_runs_and_may_change_its_jobs() {
    let options = ServeOptions { latency: Duration::from_millis(20), ..ServeOptions::default() };
    let web = Arc::new(Web::new(plain(1, 200)));
    let served = serve(web, options).await.expect("loopback ports");
    let place = Place::new();
    let opened = place.open();
    let (dir, store) = (opened.dir.clone(), opened.store.clone());
    let followers = opened.followers();
    let running = Running::start(opened, settings(), Some(order(&served.bases())));
    let (live, orders) = (running.live.clone(), running.orders.clone());
    let owner = Owner {
        dir,
        store,
        followers,
        live,
        settings: settings(),
        orders: Some(orders),
        leave: None,
    };
    let listening = listen(owner).expect("a control socket");
    running.until_fetched(10).await;

    let status = rows(ask(&place.path, Question::Status).await);
    assert_eq!(status[0]["state"], "crawling");
    assert!(status[0]["fetched"].as_u64() >= Some(10), "{status:?}");
    let jobs = rows(ask(&place.path, Question::Jobs).await);
    assert_eq!((&jobs[0]["job"], &jobs[0]["state"]), (&json!(1), &json!("open")));
    let doc = rows(ask(&place.path, Question::Doc(served.base(0))).await);
    assert_eq!((&doc[0]["state"], &doc[0]["depth"]), (&json!("fetched"), &json!(0)));
    let number = doc[0]["doc"].to_string();
    let same = rows(ask(&place.path, Question::Doc(number)).await);
    assert_eq!(same[0]["url"], json!(served.base(0)));
    let captures = rows(ask(&place.path, Question::Captures(served.base(0))).await);
    assert_eq!((captures.len(), &captures[0]["status"]), (1, &json!(200)));
    let unknown = ask(&place.path, Question::Doc("http://nowhere.test/".to_owned())).await;
    assert!(matches!(unknown, Asked::Unknown(why) if why.contains("not known")));
    let nobody = ask(&place.path, Question::SetJob(7, "paused".to_owned())).await;
    assert!(matches!(nobody, Asked::Sorry(why) if why.contains("no job 7")));
    let strange = ask(&place.path, Question::SetJob(1, "asleep".to_owned())).await;
    assert!(matches!(strange, Asked::Sorry(_)));

    rows(ask(&place.path, Question::SetJob(1, "paused".to_owned())).await);
    let summary = running.end().await;
    assert_eq!(summary.jobs[0].state, JobState::Paused);
    drop(listening);
    assert!(ask_owner(&place.path, &Question::Status).unwrap().is_none(), "nobody is there");
    let opened = place.open();
    let followers = opened.followers();
    let idle =
        answer(&Question::Status, &opened.dir, &*opened.store, &followers, &settings(), None);
    assert_eq!(rows(idle)[0]["state"], "idle");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn back_links_are_known_of_every_committed_page_while_a_crawl_runs_and_after_it() {
    let served = served_slowly(plain(1, 60)).await;
    let place = Place::new();
    let opened = place.open();
    let (dir, store) = (opened.dir.clone(), opened.store.clone());
    let followers = opened.followers();
    let running = Running::start(opened, settings(), Some(order(&served.bases())));
    let (live, orders) = (running.live.clone(), running.orders.clone());
    let owner = Owner {
        dir: dir.clone(),
        store: store.clone(),
        followers: followers.clone(),
        live,
        settings: settings(),
        orders: Some(orders),
        leave: None,
    };
    let listening = listen(owner).expect("a control socket");
    let following = Following::start(followers.links.clone()).expect("a thread");
    running.until_fetched(5).await;
    let front = served.base(0);
    let out = rows(ask(&place.path, Question::LinksOut { source: front.clone() }).await);
    assert!(!out.is_empty() && out.iter().all(|row| row["source"] == json!(front)), "{out:?}");
    let target = out[0]["target"].as_str().expect("a target").to_owned();
    let order = LinkOrder { after: None, pages: 99 };
    let found = rows(ask(&place.path, Question::Links { target: target.clone(), order }).await);
    assert!(found[0]["backlinks"].as_u64() >= Some(1), "{found:?}");
    let from_front = |row: &&Value| row["source"] == json!(front);
    let words: Vec<&Value> = found.iter().filter(from_front).map(|row| &row["words"]).collect();
    let said: Vec<&Value> =
        out.iter().filter(|row| row["target"] == json!(target)).map(|row| &row["words"]).collect();
    assert_eq!(words, said, "the words of the page that links");
    let by = |by, of_sites| Question::Top { by, of_sites, limit: 1_000, all: false };
    let ranked = rows(ask(&place.path, by(TopBy::Rank, false)).await);
    assert!((sum(&ranked, "rank") - 1.0).abs() < 1e-9, "while it crawls: {ranked:?}");
    assert_eq!(running.end().await.ended, Ended::Done);
    drop((listening, following));

    // Afterwards: as many as the pages say, by the links of each.
    let say = |question| rows(answer(&question, &dir, &*store, &followers, &settings(), None));
    let mut pages = Vec::new();
    let mut after = None;
    while let Some((key, row)) = store.scan_urls(after, 1).expect("a store").pop() {
        pages.push(row.url.to_string());
        after = Some(key);
    }
    let mut linking =
        std::collections::BTreeMap::<String, std::collections::BTreeSet<String>>::new();
    for page in &pages {
        for row in say(Question::LinksOut { source: page.clone() }) {
            if matches!(row["kind"].as_str(), Some("a" | "area" | "frame" | "iframe")) {
                let target = row["target"].as_str().expect("a target").to_owned();
                linking.entry(target).or_default().insert(page.clone());
            }
        }
    }
    for page in &pages {
        let doc = say(Question::Doc(page.clone()));
        let number = linking.get(page).map_or(0, |pages| pages.len());
        assert_eq!(doc[0]["backlinks"], json!(number), "{page}");
    }
    let top = say(Question::Top { by: TopBy::Backlinks, of_sites: false, limit: 1, all: false });
    let most = pages.iter().filter_map(|page| linking.get(page)).map(|pages| pages.len()).max();
    assert_eq!(top[0]["backlinks"].as_u64(), most.map(|n| n as u64));
    let ranked = say(by(TopBy::Rank, false));
    assert_eq!(ranked.len(), pages.len(), "every known URL has a rank, the new ones, too");
    assert!((sum(&ranked, "rank") - 1.0).abs() < 1e-9, "{ranked:?}");
    let first = say(Question::Doc(ranked[0]["url"].as_str().expect("a URL").to_owned()));
    assert_eq!(first[0]["rank"], ranked[0]["rank"]);
    let harmonic = say(by(TopBy::Harmonic, false));
    assert!(sum(&harmonic, "harmonic") > 0.0 && harmonic[0]["rank"].is_f64(), "{harmonic:?}");
    assert!((sum(&say(by(TopBy::Rank, true)), "rank") - 1.0).abs() < 1e-9);
    let wrong = answer(&by(TopBy::Backlinks, true), &dir, &*store, &followers, &settings(), None);
    assert!(matches!(wrong, Asked::Wrong(_)), "{wrong:?}");
}

fn sum(rows: &[Value], name: &str) -> f64 {
    rows.iter().filter_map(|row| row[name].as_f64()).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_owner_is_refused_with_a_sentence_and_does_no_harm() {
    let served = served_slowly(plain(1, 100)).await;
    let place = Place::new();
    let running = place.start(settings(), Some(order(&served.bases())));
    running.until_fetched(1).await;
    let begun = Instant::now();
    let refused = DataDir::open(&place.path, Access::Own, crate::support::now());
    let refused = refused.expect_err("it has an owner");
    assert!(matches!(refused, DataDirError::Owned { .. }));
    let sentence = refused.to_string();
    assert!(sentence.contains(&format!("process {}", std::process::id())), "{sentence}");
    assert!(sentence.contains("argiope status"), "{sentence}");
    assert!(begun.elapsed() < Duration::from_secs(1), "at once");
    assert_eq!(running.end().await.ended, Ended::Done);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_hostile_askers_keep_nobody_waiting() {
    let place = Place::new();
    let opened = place.open();
    let (owner, _orders) = owner(&opened);
    let _listening = listen(owner).expect("a control socket");
    let address = control(&place.path);
    let port = address["port"].as_u64().expect("a port") as u16;
    // Some say nothing, one speaks for ever, one garbage, one with another's token.
    let mut silent: Vec<TcpStream> =
        (0..6).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    silent[0].write_all(b"{\"token\"").unwrap();
    let told = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        // It may hang up before the end of what it does not want.
        let _ = stream.write_all(bytes);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    assert!(told(b"GET / HTTP/1.1\r\n\r\n").contains("not a question"));
    told(&vec![b'x'; 1 << 20]);
    let stranger = json!({ "token": "0", "question": "status" });
    assert!(told(format!("{stranger}\n").as_bytes()).contains("wrong token"));
    let begun = Instant::now();
    rows(ask(&place.path, Question::Status).await);
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    // Those who say nothing are hung up on.
    let mut rest = Vec::new();
    silent[1].set_read_timeout(Some(Duration::from_secs(8))).unwrap();
    assert_eq!(silent[1].read_to_end(&mut rest).unwrap(), 0);
}

#[test]
fn a_change_that_comes_too_late_is_neither_lost_nor_refused() {
    let place = Place::new();
    let opened = place.open();
    let (owner, mut orders) = owner(&opened);
    let listening = listen(owner).expect("a control socket");
    let delay = Question::Delay { name: "example.org".to_owned(), delay_ms: Some(5_000) };
    let asker = std::thread::spawn({
        let path = place.path.clone();
        move || ask_owner(&path, &delay).expect("no failure")
    });
    // It was taken, but the crawl ends before it is obeyed; then it is over, but not gone yet.
    let order = orders.blocking_recv().expect("an order");
    assert!(matches!(order, Instruction::Delay(..)));
    drop((order, orders));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!asker.is_finished(), "whoever has the directory next is to be asked");
    drop(listening);
    assert!(asker.join().unwrap().is_none(), "nobody has it now");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_owner_left_behind_leads_nobody_astray() {
    let place = Place::new();
    let opened = place.open();
    drop(opened);
    let file = place.path.join("control.json");
    let nobody = |text: &str| {
        std::fs::write(&file, text).unwrap();
        ask_owner(&place.path, &Question::Status).expect("no failure").is_none()
    };
    assert!(nobody("") && nobody("{") && nobody("[1,2]"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // A stranger has the port now, and speaks another language.
    let strangers = std::thread::spawn(move || {
        for words in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"", b"\xff\xfe\n"] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut question = [0; 512];
            let _ = stream.read(&mut question);
            let _ = stream.write_all(words);
        }
    });
    let address = json!({ "port": port, "token": "00", "pid": 1 }).to_string();
    assert!(nobody(&address) && nobody(&address) && nobody(&address));
    strangers.join().unwrap();
    // And now nobody has it.
    assert!(nobody(&address));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_visitors_at_once_both_get_in() {
    let place = Place::new();
    drop(place.open());
    let path: PathBuf = place.path.clone();
    let visit = move || {
        let path = path.clone();
        tokio::task::spawn_blocking(move || {
            let dir = DataDir::open(&path, Access::Visit, crate::support::now()).map(drop);
            dir.map_err(|e| e.to_string())
        })
    };
    let visits: Vec<_> = (0..6).map(|_| visit()).collect();
    for visitor in visits {
        within(15, visitor).await.unwrap().expect("each has its turn");
    }
}

#[cfg(unix)]
#[test]
fn the_token_is_for_its_user_alone_and_goes_with_the_owner() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let opened = place.open();
    let (owner, _orders) = owner(&opened);
    let listening = listen(owner).expect("a control socket");
    let file = place.path.join("control.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(control(&place.path)["token"].as_str().map(str::len), Some(32));
    drop(listening);
    assert!(!file.exists());
    drop(opened);
    // Nothing of it holds the directory any longer.
    DataDir::open(&place.path, Access::Own, crate::support::now()).expect("free again");
}

fn control(data: &Path) -> Value {
    let text = std::fs::read_to_string(data.join("control.json")).expect("control.json");
    serde_json::from_str(&text).expect("an address")
}

#[test]
fn whoever_only_keeps_a_directory_leaves_it_to_one_who_works() {
    let place = Place::new();
    let opened = place.open();
    let (dir, store, followers) = (opened.dir.clone(), opened.store.clone(), opened.followers());
    let (asked, leaving) = std::sync::mpsc::channel();
    let owner = Owner {
        dir,
        store,
        followers,
        live: Arc::new(Live::default()),
        settings: settings(),
        orders: None,
        leave: Some(Box::new(move || asked.send(()).expect("somebody hears it"))),
    };
    let listening = listen(owner).expect("a control socket");
    let keeper = std::thread::spawn(move || {
        leaving.recv().expect("it is asked to leave");
        drop((listening, opened));
    });
    let status = rows(ask_owner(&place.path, &Question::Status).unwrap().expect("an owner"));
    assert_eq!(status[0]["state"], "idle");
    let search = Question::Search(SearchOrder { query: "web".to_owned(), ..Default::default() });
    assert!(!matches!(ask_owner(&place.path, &search).unwrap(), Some(Asked::Sorry(_))));
    drop(place.open());
    keeper.join().expect("it has left");
}
