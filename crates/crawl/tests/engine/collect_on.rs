//! News between runs, sites and jobs: what was found is not lost, what is followed stays followed, and budgets
//! hold.

use crate::collect::*;
use crate::raw::{Raw, http, missing};
use crate::support::{Place, Running, order, settings, within};
use argiope_crawl::{EngineSettings, NewJob, Return};
use argiope_frontier::SkipReason;
use argiope_news::Recipe;
use argiope_store::UrlState;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

fn asked_articles(site: &Raw) -> usize {
    asked(site).iter().filter(|path| number(path).is_some()).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn articles_that_wait_while_their_site_is_not_followed_are_fetched_when_it_is_again() {
    let told = new_paper(40);
    let site = paper(&told).await;
    let place = Place::new();
    let here = recipe("127.0.0.1", site.url("/"));
    let followed = Followed::of(vec![here.clone()]);
    let slow = in_turn(followed.settings(), 100);
    let running = Running::begin(place.open(), slow.clone(), None, Return::Watch);
    until("some articles", || asked_articles(&site) >= 3).await;
    // Its entry is gone for a moment: nothing is asked for.
    followed.set(Vec::new());
    let quiet = || async {
        let before = site.paths().len();
        tokio::time::sleep(Duration::from_millis(600)).await;
        site.paths().len() == before
    };
    while !quiet().await {}
    let before = asked_articles(&site);
    assert!(before < 40);
    followed.set(vec![here.clone()]);
    until("all of them", || asked_articles(&site) == 40).await;
    running.stop().await;

    // The same between runs.
    told.shown.store(80, Ordering::SeqCst);
    let running = Running::begin(place.open(), slow, None, Return::Due);
    until("more articles", || asked_articles(&site) >= 43).await;
    running.abandon();
    followed.set(Vec::new());
    place.come_back(followed.settings(), Return::Due).await;
    let left = place.open().in_state(UrlState::Skipped(SkipReason::Excluded)).len();
    assert!(left > 0);
    // They are no longer on the front page.
    told.shown.store(5, Ordering::SeqCst);
    followed.set(vec![here]);
    assert_eq!(collect(&place, &followed).await.new as usize, left);
    assert_eq!(asked_articles(&site), 80);
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn articles_of_a_site_that_was_given_up_are_fetched_when_it_answers_again() {
    let down = Arc::new(AtomicBool::new(true));
    let is_down = down.clone();
    let site = Raw::start(move |asked| match asked.path.as_str() {
        "/" if asked.before == 0 => front(&(0..30).map(path).collect::<Vec<_>>()),
        _ if is_down.load(Ordering::SeqCst) => Vec::new(),
        "/" => front(&[]),
        path => number(path).map_or_else(missing, |n| article(n, "Something was built.")),
    })
    .await;
    let place = Place::new();
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    let mut impatient = in_turn(followed.settings(), 0);
    impatient.patience.give_up_after = Duration::ZERO;
    place.come_back(impatient, Return::Due).await;
    let given_up = UrlState::Skipped(SkipReason::GivenUp);
    let left = place.open().in_state(given_up).len();
    assert!(left > 20, "{left}");
    down.store(false, Ordering::SeqCst);
    let tally = collect(&place, &followed).await;
    assert!(tally.new > 20, "{tally:?}");
    assert_eq!(asked_articles(&site), 30);
    assert_eq!(place.open().in_state(given_up).len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_of_a_followed_site_takes_nothing_out_of_its_cycle() {
    let shown = Arc::new(AtomicUsize::new(4));
    let told = shown.clone();
    let site = Raw::start(move |asked| match asked.path.as_str() {
        "/" => front(&(0..4).map(path).collect::<Vec<_>>()),
        "/sport/" => front(&(50..50 + told.load(Ordering::SeqCst)).map(path).collect::<Vec<_>>()),
        path => number(path).map_or_else(missing, |n| article(n, "Something was built.")),
    })
    .await;
    let place = Place::new();
    let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
    let tally = collect(&place, &followed).await;
    assert_eq!((tally.fronts, tally.new), (2, 8), "{tally:?}");
    for round in 1..3 {
        // A crawl that has met everything.
        let domains = vec![format!("x{round}.test")];
        place.crawl(settings(), NewJob { domains, ..order(&[site.url("/")]) }).await;
        shown.fetch_add(2, Ordering::SeqCst);
        let tally = collect(&place, &followed).await;
        assert_eq!((tally.fronts, tally.new), (2, 2), "{tally:?}");
        let known = tally.unchanged + tally.changed;
        assert_eq!(known as usize, 6 + 2 * round, "{tally:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_of_a_watch_hold_for_articles_that_are_checked() {
    for of_each_site in [false, true] {
        let told = new_paper(24);
        let site = paper(&told).await;
        let place = Place::new();
        let followed = Followed::of(vec![Recipe {
            cycle: Some(Duration::from_secs(1)),
            ..recipe("127.0.0.1", site.url("/"))
        }]);
        collect(&place, &followed).await;
        let before = site.paths().len();
        let mut settings = followed.settings();
        // For a site one in a quarter of an hour, and one at once; for all together one a second.
        match of_each_site {
            true => settings.revisit.per_site_day = Some(100.0),
            false => settings.revisit.per_day = Some(86_400.0),
        }
        let running = Running::begin(place.open(), settings, None, Return::Watch);
        tokio::time::sleep(Duration::from_secs(6)).await;
        running.stop().await;
        let visits = site.paths().len() - before;
        let allowed = if of_each_site { 1..=2 } else { 3..=9 };
        assert!(allowed.contains(&visits), "{of_each_site}: {:?}", &site.paths()[before..]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_news_are_wanted_until_the_front_page_was_read_for_them() {
    let at = |section: &str, n: usize| {
        format!("/{section}/2026/11/16/the-council-of-town-{n}-has-found")
    };
    for killed in [true, false] {
        let bad = Arc::new(AtomicBool::new(false));
        let is_bad = bad.clone();
        let site = Raw::start(move |asked| match asked.path.as_str() {
            "/" if is_bad.load(Ordering::SeqCst) => {
                // It is killed meanwhile, or the connection is lost.
                std::thread::sleep(Duration::from_millis(if killed { 300 } else { 0 }));
                Vec::new()
            }
            "/" if asked.conditional => http("304 Not Modified", &[("ETag", "\"a\"")], ""),
            "/" => {
                let all = (0..4).map(|n| at("sports", n)).chain((4..8).map(|n| at("politics", n)));
                let shown = front(&all.collect::<Vec<_>>());
                let shown = String::from_utf8(shown).unwrap();
                shown.replacen("\r\n", "\r\nETag: \"a\"\r\n", 1).into_bytes()
            }
            path if path.contains("/2026/") => article(1, "Said."),
            _ => missing(),
        })
        .await;
        let place = Place::new();
        let followed = Followed::of(vec![recipe("127.0.0.1", site.url("/"))]);
        let mut sport: EngineSettings = followed.settings();
        sport.news.subject = Some("sport".to_owned());
        let summary = place.come_back(sport, Return::Due).await;
        assert_eq!(summary.news["127.0.0.1"].new, 4, "{:?}", site.paths());
        bad.store(true, Ordering::SeqCst);
        if killed {
            let running = Running::begin(place.open(), followed.settings(), None, Return::Due);
            until("the front page", || site.counts()["/"] == 2).await;
            running.abandon();
        } else {
            assert!(collect(&place, &followed).await.unread > 0);
        }
        bad.store(false, Ordering::SeqCst);
        assert_eq!(collect(&place, &followed).await.new, 4, "{killed}: {:?}", site.paths());
        // Then it is asked under conditions again.
        let before = site.paths().len();
        assert_eq!(collect(&place, &followed).await.new, 0);
        assert!(site.paths().len() > before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_is_followed_by_its_name_is_asked_over_http_where_it_has_no_https() {
    // Nobody listens at port 443 there.
    let home = "127.213.7.9";
    let site = Raw::at_home(home, |asked| match asked.path.as_str() {
        "/" | "/sport/" => front(&(0..4).map(path).collect::<Vec<_>>()),
        path => number(path).map_or_else(missing, |n| article(n, "Something was built.")),
    });
    let Some(site) = site.await else {
        eprintln!("SKIPPED: port 80 of {home} is not to be had");
        return;
    };
    let place = Place::new();
    let named = Recipe { site: "named.test".to_owned(), ..Recipe::default() };
    let followed = Followed::of(vec![named]);
    let settings = || {
        let mut settings = followed.settings();
        // A round that waited for https would be long.
        settings.patience.backoff = Duration::from_secs(100);
        settings.patience.backoff_max = Duration::from_secs(1_000);
        for host in ["named.test", "www.named.test"] {
            settings.fetch.resolve_overrides.push((host.to_owned(), home.parse().unwrap()));
        }
        settings
    };
    let asked_over_https = || {
        let opened = place.open();
        let urls = ["https://www.named.test/", "https://named.test/"];
        let keys = urls.map(|text| crate::support::url(text).key(opened.dir.suffixes()));
        keys.map(|key| opened.store.captures(key).unwrap().len())
    };
    let tally = |summary: argiope_crawl::Summary| {
        assert!(summary.put_off.is_empty(), "{:?}", summary.put_off);
        summary.news["named.test"]
    };
    let first = tally(within(10, place.come_back(settings(), Return::Due)).await);
    // `www.` and the bare name, with a section each.
    assert_eq!((first.fronts, first.new, first.unread), (4, 8, 0), "{first:?}");
    assert_eq!(asked_over_https(), [1, 1]);
    let second = tally(within(10, place.come_back(settings(), Return::Due)).await);
    assert_eq!((second.fronts, second.unchanged, second.unread), (4, 8, 0), "{second:?}");
    assert_eq!((asked_over_https(), site.counts()["/"]), ([1, 1], 4));
    // Where it is down that is told, and nothing else is asked.
    drop(site);
    let down = within(60, place.come_back(settings(), Return::Due)).await;
    assert_eq!((down.news["named.test"].fronts, asked_over_https()), (0, [1, 1]));
    place.open().assert_verified();
}
