use super::*;

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

#[test]
fn the_day_in_a_url_is_a_time() {
    let day = |path: &str| day_in(&url(&format!("http://n.test{path}"))).map(|t| t.to_string());
    assert!(day("/2026/11/16/a-b").unwrap().starts_with("2026-11-16T00:00:00"));
    assert!(day("/x/2024-02-29/1.html").unwrap().starts_with("2024-02-29"));
    assert!(day("/2025/03/01/a").unwrap().starts_with("2025-03-01"));
    assert_eq!(day("/2026/11/a-b"), None);
}

#[test]
fn old_by_its_url_is_what_tells_a_day_long_ago_or_a_year() {
    let now = Time::of_day(2026, 11, 18).unwrap();
    let old = |path: &str| is_old(&url(&format!("http://n.test{path}")), now);
    for path in [
        "/sport/2019/03/14/old-story-7",
        "/2026/10/01/a-b",
        "/x/2013-12-01/081.shtml",
        "/2019/03/a-b-c",
        "/201903/a-b-c",
        "/2019/a-b-c",
        "/archive/2024/a-b-c-77",
    ] {
        assert!(old(path), "{path}");
    }
    for path in [
        "/2026/11/16/a-b",
        "/2026/10/25/a-b",
        "/2026/10/a-b",
        "/2026/02/a-b",
        "/2025/a-b",
        "/a-b-2019",
        "/news/1999-1",
        "/2026/11/16/what-we-know-of-2013-12-01",
        "/sport/123456.html",
        "/a",
    ] {
        assert!(!old(path), "{path}");
    }
}

#[test]
fn sections_are_those_with_a_subject_and_a_few_others() {
    let link = |to: &str, words: &str| Link {
        url: url(to),
        words: words.into(),
        kind: LinkKind::Anchor,
        nofollow: false,
        count: 1,
    };
    let links = [
        link("http://www.n.test/garden-and-home", "Our garden, our home and you"),
        link("http://www.n.test/allerlei/", "Allerlei"),
        link("http://garten.n.test/", "Garten"),
        link("http://www.n.test/politik/", "Politik"),
        link("http://www.n.test/s3/", "Sport"),
        link("http://www.n.test/impressum", "Impressum"),
        link("http://shop.n.test/", "Shop"),
        link("http://www.n.test/2026/11/16/a-story-that-is-told", "A story"),
        link("http://other.test/politik/", "Politik"),
    ];
    let recipe = Recipe {
        site: "n.test".to_owned(),
        front: vec!["http://www.n.test/".to_owned()],
        ..Recipe::default()
    };
    let of = |subject| {
        let reading = Reading::new(&recipe, subject);
        let front = url("http://www.n.test/");
        let found: Vec<String> = reading.sections(&links, &front).map(|u| u.to_string()).collect();
        found
    };
    let politics = "http://www.n.test/politik/";
    let known = [politics, "http://www.n.test/s3/"];
    let others = ["http://www.n.test/allerlei/", "http://garten.n.test/"];
    assert_eq!(of(None), [known, others].concat());
    assert_eq!(of(Some("politics")), [politics]);
}

#[test]
fn of_many_sitemaps_those_with_news_are_read() {
    let now = Time(1_800_000_000_000);
    let at = |n: usize| url(&format!("http://n.test/sitemap-{n}.xml"));
    let chosen = |all: Vec<(CanonicalUrl, Option<Time>)>| -> Vec<String> {
        let all = sitemaps_worth_reading(all, now);
        all.iter().map(|url| url.path().to_owned()).collect()
    };
    let news = url("http://n.test/sitemap-news.xml");
    assert_eq!(chosen(vec![(at(1), Some(now)), (news, None)]), ["/sitemap-news.xml"]);
    let aged = (0..9).map(|n| (at(n), Some(Time(now.0 - n as i64 * DAY_MS)))).collect();
    assert_eq!(chosen(aged).len(), 4);
    let bare = (0..9).map(|n| (at(n), None)).collect();
    assert_eq!(chosen(bare), ["/sitemap-0.xml", "/sitemap-8.xml"]);
    assert_eq!(chosen(vec![(at(5), None)]), ["/sitemap-5.xml"]);
}

#[test]
fn subjects_are_told_by_hosts_paths_headings_and_the_page() {
    let recipe = Recipe { site: "n.test".to_owned(), ..Recipe::default() };
    let reading = Reading::new(&recipe, Some("Sports"));
    let on = |text: &str, words: &[&str], here: &[String]| {
        reading.is_on_subject(&url(text), words, here)
    };
    assert!(on("http://sports.n.test/x/1.html", &[], &[]));
    assert!(on("http://www.n.test/sport/2026/11/16/a-b", &[], &[]));
    assert!(on("http://www.n.test/a/b-c-d-e-f", &["Sport heute"], &[]));
    assert!(on("http://www.n.test/a/b-c-d-e-f", &[], &["sport".to_owned()]));
    assert!(!on("http://www.n.test/politics/2026/11/16/a-b", &[], &["sport".to_owned()]));
    assert!(!on("http://www.n.test/a/b-c-d-e-f", &[], &[]));
}

#[test]
fn what_cannot_be_had_is_asked_for_more_rarely_unless_it_is_a_front_page() {
    let recipe = Recipe { site: "n.test".to_owned(), ..Recipe::default() };
    let sites = Arc::new(Sites::new(vec![recipe]));
    let source = crate::news::NewsSource::new(move || sites.clone());
    let gather = Gather::new(&NewsSettings { source, ..NewsSettings::default() });
    let now = Time(1_800_000_000_000);
    let of = |text: &str, kind, seed, age: i64, failures| {
        gather.cadence(&url(text), kind, seed, Time(now.0 - age), failures, now)
    };
    let minutes = |n: u64| Duration::from_secs(60 * n);
    let (feed, day) = ("http://n.test/feed", 86_400_000);
    assert_eq!(of(feed, Kind::Feed, false, 0, 0), Cadence::Every(minutes(15)));
    assert_eq!(of(feed, Kind::Feed, false, 0, 2), Cadence::Slow(minutes(60)));
    assert_eq!(of(feed, Kind::Feed, false, 0, 200), Cadence::Slow(SLOW));
    assert_eq!(of("http://n.test/", Kind::Front, true, 9 * day, 9), Cadence::Every(minutes(15)));
    assert_eq!(of("http://n.test/sitemap.xml", Kind::Feed, false, 0, 0), Cadence::Slow(SLOW));
    assert_eq!(of("http://n.test/a", Kind::Article, false, day, 0), Cadence::Every(minutes(15)));
    assert_eq!(of("http://n.test/a", Kind::Article, false, 3 * day, 0), Cadence::Policy);
    assert_eq!(of("http://m.test/", Kind::Front, true, 0, 0), Cadence::Never);
}

#[test]
fn a_headline_that_stands_in_two_sections_is_asked_for_at_both() {
    let link = |to: &str, words: &str| Link {
        url: url(&format!("http://n.test{to}")),
        words: words.into(),
        kind: LinkKind::Anchor,
        nofollow: false,
        count: 1,
    };
    let title = "The council of a town has found a way";
    let shown = Headline {
        url: url("http://n.test/sport/2026/11/16/a-way.html"),
        title: title.to_owned(),
        section: String::new(),
        summary: String::new(),
        picture: None,
        shown_time: String::new(),
        time: None,
        score: 0.0,
    };
    let links = [
        link("/sport/2026/11/16/a-way.html", title),
        link("/local/2026/11/16/a-way.html", title),
        link("/local/2026/11/16/a-way.html?from=box", title),
        link("/local/2026/11/16/another.html", title),
        link("/comments/2026/11/16/a-way.html", "12 comments"),
    ];
    let also: Vec<String> = also_at(&[shown], &links).iter().map(ToString::to_string).collect();
    assert_eq!(also, ["http://n.test/local/2026/11/16/a-way.html"]);
}

#[test]
fn where_a_site_answers_without_tls_only_it_is_not_asked_with() {
    let recipe = Recipe { site: "n.test".to_owned(), ..Recipe::default() };
    let named = Recipe {
        front: vec!["https://m.test/".to_owned()],
        site: "m.test".to_owned(),
        ..Recipe::default()
    };
    let home = Recipe { site: "localhost".to_owned(), ..Recipe::default() };
    assert!(guessed(&named).is_none() && guessed(&home).is_none());
    let plain = guessed(&recipe).unwrap().plain;
    let sites = Arc::new(Sites::new(vec![recipe]));
    let source = crate::news::NewsSource::new(move || sites.clone());
    let gather = Gather::new(&NewsSettings { source, ..NewsSettings::default() });
    let now = Time(1_800_000_000_000);
    let of = |text: &str, failures| {
        gather.cadence(&url(text), Kind::Front, text.starts_with("https"), now, failures, now)
    };
    let every = Cadence::Every(Duration::from_secs(900));
    assert_eq!((of("https://n.test/", 9), of("http://n.test/", 0)), (every, every));
    assert_ne!(of("http://n.test/", 9), every);
    gather.ask_plainly("n.test", plain);
    assert_eq!((of("https://n.test/", 0), of("http://n.test/", 9)), (Cadence::Never, every));
    assert_eq!(of("https://n.test/sport/", 0), every);
    gather.ask_plainly("n.test", Vec::new());
    assert_eq!(of("https://n.test/", 0), every);
}
