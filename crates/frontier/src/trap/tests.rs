use super::*;

/// A small web that makes its pages as they are asked for, walked as a crawl would: by levels, what is
/// held back behind everything else, the longest line first.
struct Walk {
    traps: Traps,
    suffixes: Suffixes,
    known: HashSet<String>,
    queue: BTreeMap<(bool, u8, usize), (String, u8)>,
    asked: Vec<String>,
    found: usize,
}

impl Walk {
    fn new() -> Self {
        Walk {
            traps: Traps::new(1 << 20, []),
            suffixes: Suffixes::built_in(),
            known: HashSet::new(),
            queue: BTreeMap::new(),
            asked: Vec::new(),
            found: 0,
        }
    }

    fn add(&mut self, url: String, line: u8) -> bool {
        let new = self.known.insert(url.clone());
        if new {
            self.found += 1;
            self.queue.insert((false, 0, self.found), (url, line));
        }
        new
    }

    /// Asks for everything, at most so many pages.
    fn walk(&mut self, start: &str, most: usize, web: impl Fn(&str) -> (String, Vec<String>)) {
        self.add(start.to_owned(), 0);
        while let Some((place, (text, line))) = self.queue.pop_first() {
            let url = CanonicalUrl::parse(&text).unwrap();
            let group = self.traps.group(&url, &self.suffixes).to_owned();
            match self.traps.holds(&url, &group, line) {
                Some(Held::Paused) => continue,
                Some(Held::Back) if !place.0 => {
                    self.queue.insert((true, u8::MAX - line, usize::MAX - place.2), (text, line));
                    continue;
                }
                Some(Held::Last) if !place.0 => {
                    self.queue.insert((true, u8::MAX, usize::MAX - place.2), (text, line));
                    continue;
                }
                _ => {}
            }
            if self.asked.len() == most {
                return;
            }
            self.asked.push(text.clone());
            let (says, links) = web(&text);
            let to: Vec<CanonicalUrl> =
                links.iter().map(|link| CanonicalUrl::parse(link).unwrap()).collect();
            let gist = Gist::of(&says, &url, to.iter());
            let seen: Vec<Lead> = to
                .iter()
                .map(|link| Lead::of(&url, link, !self.known.contains(link.as_str())))
                .collect();
            let read = Read { url: &url, line, gist: &gist, ahead: None, links: &seen };
            let judged = self.traps.read(&read, &group);
            for link in to {
                self.add(link.as_str().to_owned(), judged.line);
            }
        }
    }
}

/// Words by lot from a small list.
fn prose(seed: u64, words: usize, of: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        letters(state % of)
    };
    (0..words).map(|_| word()).collect::<Vec<_>>().join(" ")
}

fn letters(mut n: u64) -> String {
    let mut out = String::from("w");
    for _ in 0..4 {
        out.push((b'a' + (n % 26) as u8) as char);
        n /= 26;
    }
    out
}

fn number(url: &str) -> u64 {
    let digits: String =
        url.rsplit('/').next().unwrap().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[test]
fn a_calendar_without_end_is_paused() {
    let mut walk = Walk::new();
    walk.walk("http://a.test/cal/1", 1000, |url| {
        let n = number(url);
        let day = |n: u64| format!("http://a.test/cal/{n}");
        (
            format!("Monday 3 of month {n}\nno events\nnext\nlast"),
            vec![day(n + 1), day(n.max(1) - 1)],
        )
    });
    assert!((160..180).contains(&walk.asked.len()), "{}", walk.asked.len());
    let known: Vec<_> = walk.traps.known().collect();
    assert_eq!(known[0].0, "http://a.test/cal/…");
    assert!(known[0].1.from == 0 && known[0].1.deepest >= LONG && known[0].1.examples.len() == 3);
}

#[test]
fn a_maze_of_made_up_text_is_paused_however_many_ways_lead_on() {
    for (ways, list) in [(1u64, 300u64), (2, 300), (10, 300), (40, 300), (10, 400_000)] {
        let mut walk = Walk::new();
        walk.walk("http://a.test/maze/1", 2000, |url| {
            let n = number(url);
            let to = |way: u64| {
                let next = (n + way + 1).wrapping_mul(0x5851_f42d_4c95_7f2d) >> 8;
                format!("http://a.test/maze/{next}")
            };
            let links = (0..ways).map(to).chain(["http://a.test/".to_owned()]).collect();
            (prose(n, 200, list), links)
        });
        assert!(walk.asked.len() < 190, "{ways} ways, {list} words: {}", walk.asked.len());
    }
}

#[test]
fn a_tree_of_made_up_pages_that_ends_is_read_whole() {
    let mut walk = Walk::new();
    // 1 + 10 + 100 + 1000 pages, each linking to those below, to the one above and to the first.
    walk.walk("http://a.test/t/1", 5000, |url| {
        let n = number(url);
        let mut links = vec!["http://a.test/t/1".to_owned(), format!("http://a.test/t/{}", n / 10)];
        links.retain(|link| number(link) > 0);
        if n < 1000 {
            links.extend((0..10).map(|i| format!("http://a.test/t/{}", n * 10 + i)));
        }
        (prose(n, 100, 300), links)
    });
    assert_eq!(walk.asked.len(), 1 + 10 + 100 + 1000);
}

/// Pages of next to no text, as somebody makes them who needs a site: each has a page known before as its only
/// source, one of so many before it.
#[test]
fn a_deep_tree_of_pages_that_say_nothing_is_read_whole() {
    let shapes: [fn(u64) -> String; 3] = [
        |n| format!("http://a.test/p/{}/{n}.html", n % 10),
        |n| format!("http://a.test/p{n}"),
        |n| format!("http://a.test/page?id={n}"),
    ];
    for (at, shape) in shapes.into_iter().enumerate() {
        for (pages, within) in [(300, 40), (1000, 40), (500, 4), (1500, 400)] {
            for words in [0, 12] {
                for seed in 0..2 {
                    let mut below = vec![Vec::new(); pages];
                    let mut state = seed * 7919 + 17;
                    for page in 1..pages {
                        state = mixed(state);
                        below[page - 1 - (state % page.min(within) as u64) as usize]
                            .push(page as u64);
                    }
                    let mut walk = Walk::new();
                    walk.walk(&shape(0), 5000, |url| {
                        let n: u64 = url
                            .rsplit(['/', '=', 'p'])
                            .find_map(|p| p.trim_end_matches(".html").parse().ok())
                            .unwrap_or(0);
                        let to = below[n as usize].iter().map(|n| shape(*n)).collect();
                        (format!("Page {n}\n{}", prose(n, words, 6)), to)
                    });
                    assert_eq!(
                        walk.asked.len(),
                        pages,
                        "shape {at}, within {within}, {words} words, seed {seed}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_calendar_whose_days_lead_nowhere_is_paused() {
    let shapes: [fn(u64, u64) -> String; 3] = [
        |m, d| match d {
            0 => format!("http://a.test/cal/{m}"),
            d => format!("http://a.test/cal/{m}/{d}"),
        },
        |m, d| match d {
            0 => format!("http://a.test/cal?m={m}"),
            d => format!("http://a.test/cal?m={m}&d={d}"),
        },
        |m, d| match d {
            0 => format!("http://a.test/month/{m}"),
            d => format!("http://a.test/day/{m}-{d}"),
        },
    ];
    for (at, shape) in shapes.into_iter().enumerate() {
        for back in [false, true] {
            let mut walk = Walk::new();
            walk.walk(&shape(1000, 0), 1000, |url| {
                let numbers = url["http://a.test".len()..].split(|c: char| !c.is_ascii_digit());
                let numbers: Vec<u64> = numbers.filter_map(|n| n.parse().ok()).collect();
                let (m, day) = (numbers[0], numbers.get(1));
                match day {
                    None => {
                        let days = (1..=30).map(|d| shape(m, d));
                        let links = days.chain([shape(m + 1, 0), shape(m - 1, 0)]).collect();
                        (format!("Month {m}\nMo Tu We Th Fr Sa Su\nno events"), links)
                    }
                    Some(d) => (
                        format!("Day {d} of month {m}\nno events on this day\nsend us yours"),
                        if back { vec![shape(m, 0)] } else { Vec::new() },
                    ),
                }
            });
            assert!(walk.asked.len() < 130, "shape {at}: {}", walk.asked.len());
            let known: Vec<_> = walk.traps.known().collect();
            assert_eq!(known.len(), if at == 2 { 2 } else { 1 }, "{known:?}");
            assert!(known.iter().all(|(_, trap)| trap.deepest >= LONG && trap.score >= PAUSED));
            assert!(known.iter().all(|(_, trap)| !trap.examples.is_empty()), "{known:?}");
        }
    }
}

fn mixed(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n ^ (n >> 29)
}

#[test]
fn lists_that_lead_to_what_they_list_are_read_whole() {
    let mut walk = Walk::new();
    // 300 pages of lists, each known only from the one before, and ten articles on each.
    walk.walk("http://a.test/list?page=0", 5000, |url| {
        if let Some((_, page)) = url.split_once("page=") {
            let n: u64 = page.parse().unwrap();
            let mut links: Vec<String> =
                (0..10).map(|i| format!("http://a.test/article/{}", n * 10 + i)).collect();
            links.extend((n < 299).then(|| format!("http://a.test/list?page={}", n + 1)));
            return (format!("Page {n} of the list\nolder"), links);
        }
        (prose(number(url), 150, 2000), vec!["http://a.test/list?page=0".to_owned()])
    });
    assert_eq!(walk.asked.len(), 300 + 3000);
}

#[test]
fn pages_that_refer_to_each_other_are_read_whole_though_their_words_are_few() {
    for pages in [300u64, 3000] {
        let mut walk = Walk::new();
        walk.walk("http://a.test/p/0", 5000, |url| {
            let n = number(url);
            let to = |i: u64| (n * 31 + i * i * 17 + i + 1) % pages;
            let links = (0..8).map(|i| format!("http://a.test/p/{}", to(i))).collect();
            (prose(n, 100, 200), links)
        });
        assert!(walk.traps.known().next().is_none(), "{pages}");
    }
}

#[test]
fn what_is_forgiven_is_not_judged_again() {
    let mut walk = Walk::new();
    let web = |url: &str| {
        let next = format!("http://a.test/cal/{}", number(url) + 1);
        ("no events".to_owned(), vec![next])
    };
    walk.walk("http://a.test/cal/1", 1000, web);
    let (name, trap) = walk.traps.known().next().map(|(n, t)| (n.to_owned(), t.clone())).unwrap();
    let before = walk.asked.len();
    walk.traps.know(&name, Some(Trap { forgiven: Some(Time(7)), ..trap }));
    walk.walk(&format!("http://a.test/cal/{}", before + 1), 1000, web);
    walk.walk("http://a.test/cal/100000", 1000, web);
    assert_eq!(walk.asked.len(), 1000);
}

#[test]
fn mirrors_under_ever_new_names_are_one_site() {
    let mut walk = Walk::new();
    walk.walk("http://m0.a.test/x/1", 1000, |url| {
        let host: u64 = url["http://m".len()..].split('.').next().unwrap().parse().unwrap();
        let links =
            (0..5).map(|i| format!("http://m{}.a.test/x/{}", host * 5 + i + 1, i)).collect();
        (prose(number(url), 80, 3000), links)
    });
    assert!(walk.asked.len() <= 80, "{}", walk.asked.len());
}

#[test]
fn hosts_asked_for_by_name_and_addresses_are_watched_by_themselves() {
    let mut traps = Traps::new(1 << 20, []);
    let suffixes = Suffixes::built_in();
    let url = |text: &str| CanonicalUrl::parse(text).unwrap();
    let (one, ip) = (url("http://www.a.test/x"), url("http://127.0.0.1:81/x"));
    assert_eq!(traps.group(&one, &suffixes), "a.test");
    assert_eq!(traps.group(&ip, &suffixes), "http://127.0.0.1:81");
    traps.asked_for(&one);
    assert_eq!(traps.group(&one, &suffixes), "http://www.a.test");
}

#[test]
fn memory_stays_within_its_room() {
    let mut traps = Traps::new(256 << 10, []);
    for n in 0..4_000u64 {
        let url = CanonicalUrl::parse(&format!("http://h{}.test/{n}", n % 500)).unwrap();
        let gist = Gist::of(&prose(n, 300, 400_000), &url, std::iter::empty());
        traps.read(
            &Read { url: &url, line: 0, gist: &gist, ahead: None, links: &[] },
            url.authority(),
        );
    }
    let bytes: usize = traps.watches.values().map(Watch::bytes).sum();
    assert!(bytes < 1 << 20, "{bytes}");
}
