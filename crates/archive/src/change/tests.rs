//! Made-up pages of many kinds, and a made-up site whose every change is known.

use super::*;
use argiope_model::Time;

const DAY: i64 = 86_400_000;

fn change(old: &str, new: &str) -> Change {
    let old = Sight { title: "A page", text: old, time: None };
    let new = Sight { title: "A page", text: new, time: None };
    compare(&old, &new, &Volatile::default())
}

const PAGE: &str = "Spiders\nAn orb weaver builds a new web every evening.\nIt eats the old one \
                    first.\nThe silk is stronger than steel of the same weight.\nHome\nAbout";

#[test]
fn what_is_equal_is_the_same_and_a_word_is_a_change() {
    assert_eq!(change(PAGE, PAGE).reason, Reason::Same);
    let edited = change(PAGE, &PAGE.replace("evening", "morning"));
    assert!(edited.counts && edited.reason == Reason::Text);
    assert!(edited.share > 0.0 && edited.share < 0.1, "{edited:?}");
    assert_eq!(change(PAGE, "Quite other words stand here").share, 1.0);
    assert!(change(PAGE, &format!("{PAGE}\nOne more line")).counts);
    assert!(change(&format!("{PAGE}\nOne more line"), PAGE).counts);
}

#[test]
fn a_title_is_a_change_and_a_number_before_it_is_none() {
    let sight = |title| Sight { title, text: PAGE, time: None };
    let compared = |a, b| compare(&sight(a), &sight(b), &Volatile::default());
    assert_eq!(compared("Spiders", "Insects").reason, Reason::Title);
    assert!(compared("Spiders", "Insects").counts);
    assert_eq!(compared("(3) Inbox", "(4) Inbox").reason, Reason::Noise);
}

#[test]
fn labelled_advertisements_and_another_order_do_not_count() {
    let with = |ad: &str| format!("{PAGE}\nAdvertisement\n{ad}\nImprint");
    assert_eq!(
        change(&with("Buy our silk today"), &with("New shoes for eight feet")).reason,
        Reason::Noise
    );
    let inline = |ad: &str| format!("Sponsored: {ad}\n{PAGE}");
    assert!(!change(&inline("Silk"), &inline("Shoes for all")).counts);
    let (a, b) = ("Top\none\ntwo\nthree\nfour\nBottom", "Top\nthree\none\nfour\ntwo\nBottom");
    assert_eq!(change(a, b).reason, Reason::Order);
}

#[test]
fn an_error_page_does_not_count_and_the_page_behind_it_is_compared() {
    let mut watcher = Watcher::default();
    let mut see = |title, text| {
        let change = watcher.see(&Sight { title, text, time: None });
        change.map(|c| (c.counts, c.reason))
    };
    assert_eq!(see("Spiders", PAGE), None);
    let error = (false, Reason::ErrorPage);
    assert_eq!(
        see("Oops", "Home\nAbout\nSorry, something went wrong. Try again later."),
        Some(error)
    );
    assert_eq!(see("Login", "Please log in\nName\nPassword"), Some(error));
    assert_eq!(see("Spiders", PAGE), Some((false, Reason::Same)));
    assert_eq!(see("404", "Page not found\nHome"), Some(error));
    let edited = PAGE.replace("steel", "iron");
    assert_eq!(see("Spiders", &edited), Some((true, Reason::Text)));
}

#[test]
fn a_page_about_errors_may_change() {
    let page = "HTTP status codes\n404 not found: the server has nothing there\n410 gone: it had";
    assert!(change(page, &page.replace("it had", "it had something")).counts);
    assert!(change(page, "HTTP status codes\n404 not found: nothing there").counts);
}

#[test]
fn a_box_that_turns_is_known_by_what_comes_back() {
    let mut watcher = Watcher::default();
    let mut see = |item: &str, body: &str| {
        let text = format!("Home\nNews\nWeather\n{body}\n{item}\nImprint\nContact");
        watcher.see(&Sight { title: "t", text: &text, time: None }).map(|c| c.counts)
    };
    let body = "Long words of the page itself that nobody changes for a while";
    let ads = ["Cheap flights to the moon", "Eat more flies", "Silk for everyone", "Eight shoes"];
    see(ads[0], body);
    let first: Vec<_> = [1, 0, 2, 1, 3, 0, 2, 3, 1].map(|n| see(ads[n], body)).into();
    // The first cannot be told from an edit; from the first return on they can.
    assert_eq!(first[0], Some(true));
    assert!(first[1..].iter().all(|counts| *counts == Some(false)), "{first:?}");
    assert_eq!(see("An advertisement never seen before", body), Some(false));
    let edited = body.replace("nobody", "somebody");
    assert_eq!(see(ads[0], &edited), Some(true), "beside a box that turns");
    assert_eq!(see(ads[1], &edited), Some(false));
}

#[test]
fn boxes_that_the_site_has_in_common_are_known_at_once() {
    let ads = ["Cheap flights to the moon", "Eat more flies"];
    let known = ads.map(line_hash);
    let text = |ad| format!("{PAGE}\n{ad}\nImprint");
    let (old, new) = (text(ads[0]), text(ads[1]));
    let sight = |text| Sight { title: "t", text, time: None };
    let (old, new) = (sight(&old), sight(&new));
    let common = |line| known.contains(&line);
    assert!(!compare_on_site(&old, &new, &Volatile::default(), &common).counts);
    assert!(compare(&old, &new, &Volatile::default()).counts);
}

#[test]
fn a_date_that_was_that_of_the_visit_once_is_no_clock() {
    let text = |views| format!("{PAGE}\nPosted on 16 November 2026, {views} views");
    let (old, new) = (text(7), text(1200));
    let sight =
        |text, days| Sight { title: "t", text, time: Some(Time(1_794_824_553_000 + days * DAY)) };
    let change = compare(&sight(&old, 0), &sight(&new, 30), &Volatile::default());
    assert_eq!(change.reason, Reason::Noise);
    let moved = old.replace("16 November", "12 December");
    assert!(compare(&sight(&old, 0), &sight(&moved, 10), &Volatile::default()).counts);
}

#[test]
fn news_at_the_top_of_a_list_always_count() {
    let mut watcher = Watcher::default();
    for n in 0..40 {
        let items: Vec<String> =
            (n..n + 8).rev().map(|n| format!("Story {} of the day", name(n))).collect();
        let text = format!("News\n{}\nImprint", items.join("\n"));
        let change = watcher.see(&Sight { title: "News", text: &text, time: None });
        assert!(change.is_none_or(|c| c.counts), "story {n}");
    }
}

/// A word for a number.
fn name(mut n: u64) -> String {
    let mut out = String::new();
    n = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66;
    for _ in 0..6 {
        out.push(char::from(b'a' + (n % 26) as u8));
        n /= 26;
    }
    out
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

const ADS: [&str; 4] =
    ["Cheap flights to the moon", "Eat more flies", "Silk for everyone", "Eight new shoes"];

/// A page with everything that moves, and a body that is changed at known times.
struct MadeUp {
    page: u64,
    body: Vec<String>,
    list: Vec<String>,
    edits: u64,
    views: u64,
    /// Whether its advertisements say that they are.
    labelled: bool,
}

impl MadeUp {
    fn new(page: u64) -> Self {
        let line = |n: u64| {
            (0..12 + n % 9).map(|w| name(page * 1000 + n * 50 + w)).collect::<Vec<_>>().join(" ")
        };
        MadeUp {
            page,
            body: (0..6 + page % 5).map(line).collect(),
            list: (0..5).map(|n| format!("Item {}", name(page * 77 + n))).collect(),
            edits: 0,
            views: 1000 * page,
            labelled: true,
        }
    }

    fn edit(&mut self, dice: &mut Dice) {
        self.edits += 1;
        let fresh = name(self.page * 1_000_003 + self.edits * 7919);
        let line = dice.below(self.body.len() as u64) as usize;
        match dice.below(6) {
            0 => self.body.push(format!("{fresh} was added to the end of it")),
            1 if self.body.len() > 3 => drop(self.body.remove(line)),
            2 => self.list.insert(0, format!("Item {fresh}")),
            3 => self.body[line] = format!("{fresh} stands here now in place of all that was said"),
            4 => {
                self.body[line] =
                    format!("Version {} of it costs {} EUR", self.edits, 10 + self.edits)
            }
            _ => self.body[line] = format!("{} {fresh}", self.body[line]),
        }
    }

    fn seen(&mut self, at: Time, dice: &mut Dice) -> (String, String) {
        self.views += 1 + dice.below(40);
        if dice.below(25) == 0 {
            return match dice.below(4) {
                0 => (
                    "Error".into(),
                    "Home\nAbout\nSorry, something went wrong.\nTry again later.".into(),
                ),
                1 => ("Log in".into(), "Please log in to see this page\nName\nPassword".into()),
                2 => ("404".into(), "Page not found".into()),
                _ => ("Hold on".into(), "We are down for maintenance. Back soon!".into()),
            };
        }
        let iso = at.iso_seconds();
        let ad = ADS[dice.below(4) as usize];
        let label = if self.labelled { "Advertisement\n" } else { "" };
        let clock = match self.page % 3 {
            0 => format!("Server time: {} {}", &iso[..10], &iso[11..19]),
            1 => format!("It is {} now", &iso[11..16]),
            _ => format!("Last updated {} minutes ago", 1 + dice.below(50)),
        };
        let counter = match self.page % 4 {
            0 => format!("{} views", self.views),
            1 => format!("You are visitor number {}", self.views),
            2 => format!("Visitors:\n{}", self.views),
            _ => format!("This page was viewed {} times", self.views),
        };
        let text = format!(
            "Home\nAbout\n{clock}\n{}\n{}\n{label}{ad}\n{counter}\nShare: http://a.test/p{}?sid={:x}\n\
             Page generated in 0.{} seconds\n© 2001-{} Spider Works",
            self.body.join("\n"),
            self.list.join("\n"),
            self.page,
            dice.below(1 << 30),
            dice.below(1000),
            &iso[..4]
        );
        (format!("Page {}", name(self.page)), text)
    }
}

/// What is counted of a site: visits without a change and how many counted, changes and how many did
/// not.
#[derive(Debug, Default)]
struct Count {
    still: u32,
    falsely: u32,
    edits: u32,
    missed: u32,
}

/// Visits every page sixty times, page after page in rounds; `common` where lines of the site are
/// learned on the way.
fn visited(labelled: bool, mut common: Option<Commons>) -> Count {
    let mut dice = Dice(7);
    let mut out = Count::default();
    let mut pages: Vec<(MadeUp, Watcher, bool)> =
        (0..60).map(|page| (MadeUp::new(page), Watcher::default(), false)).collect();
    for round in 0..60 {
        for (site, watcher, open) in &mut pages {
            site.labelled = labelled;
            let hours = (site.page as i64 + round * 24) * 3_600_000;
            let at = Time(1_767_225_600_000 + hours + dice.below(DAY as u64 / 2) as i64);
            if dice.below([2, 5, 20][site.page as usize % 3]) == 0 {
                site.edit(&mut dice);
                *open = true;
            }
            let (title, text) = site.seen(at, &mut dice);
            let sight = Sight { title: &title, text: &text, time: Some(at) };
            let known = |line| common.as_ref().is_some_and(|common| common.has(line));
            let change = watcher.see_on_site(&sight, &known);
            if let Some(common) = &mut common {
                common.see(site.page, &text);
            }
            let Some(change) = change else {
                *open = false;
                continue;
            };
            // A change behind an error page is seen with the next visit.
            let is_error = text.len() < 100;
            match *open && !is_error {
                true => {
                    out.edits += 1;
                    out.missed += u32::from(!change.counts);
                    *open = false;
                }
                false => {
                    out.still += 1;
                    out.falsely += u32::from(change.counts);
                }
            }
        }
    }
    out
}

#[test]
fn on_a_made_up_site_under_one_in_a_hundred_is_false_or_missed() {
    let count = visited(true, None);
    println!("{count:?}");
    assert!(count.still > 2500 && count.edits > 700);
    assert!(count.falsely * 100 < count.still, "{count:?}");
    assert!(count.missed * 100 < count.edits, "{count:?}");
}

#[test]
fn so_it_is_where_advertisements_do_not_say_so_and_the_site_is_known() {
    let count = visited(false, Some(Commons::default()));
    println!("{count:?}");
    assert!(count.falsely * 100 < count.still, "{count:?}");
    assert!(count.missed * 100 < count.edits, "{count:?}");
    // A page alone must see an advertisement come back first.
    let alone = visited(false, None);
    println!("alone: {alone:?}");
    assert!(alone.falsely * 20 < alone.still, "{alone:?}");
    assert!(alone.missed * 100 < alone.edits, "{alone:?}");
}

/// Pages of real documentation, where it is installed: as text, tags taken out.
fn real_pages() -> Vec<String> {
    let mut folders = vec![std::path::PathBuf::from("/usr/share/doc")];
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "html" || e == "txt" || e == "md") {
                let Ok(text) = std::fs::read_to_string(&path) else { continue };
                let mut plain = String::new();
                let mut in_tag = false;
                for c in text.chars().take(40_000) {
                    match c {
                        '<' => in_tag = true,
                        '>' if in_tag => in_tag = false,
                        c if !in_tag => plain.push(c),
                        _ => {}
                    }
                }
                let lines: Vec<&str> =
                    plain.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
                if lines.len() > 12 {
                    out.push(lines.join("\n"));
                }
            }
        }
        if out.len() >= 150 {
            break;
        }
    }
    out
}

#[test]
fn real_pages_with_a_clock_are_still_and_every_edit_is_seen() {
    let pages = real_pages();
    if pages.is_empty() {
        println!("SKIPPED: no documentation is installed here");
        return;
    }
    let mut dice = Dice(11);
    let (mut edits, mut missed) = (0, Vec::new());
    // A sample of them: all take a minute.
    for page in pages.iter().step_by(pages.len() / 40 + 1) {
        let (was, is) = (Time(1_767_225_600_000), Time(1_767_225_600_000 + 5 * DAY + 777_000));
        let seen = |text: &str, at: Time, views: u64| {
            let iso = at.iso_seconds();
            format!("{text}\nServer time: {}\n{views} views\nGenerated in 0.{views} s", &iso[..19])
        };
        let compared = |old: &str, new: &str| {
            let (old, new) = (seen(old, was, 120), seen(new, is, 977));
            let old = Sight { title: "t", text: &old, time: Some(was) };
            compare(&old, &Sight { title: "t", text: &new, time: Some(is) }, &Volatile::default())
        };
        assert_eq!(compared(page, page).reason, Reason::Noise, "{page}");
        let lines: Vec<&str> = page.lines().collect();
        for _ in 0..4 {
            let mut edited: Vec<String> = lines.iter().map(|l| l.to_string()).collect();
            let n = dice.below(lines.len() as u64) as usize;
            match dice.below(4) {
                0 => drop(edited.remove(n)),
                1 => edited.insert(n, format!("A line about {} was put here", name(n as u64))),
                2 => edited[n] = format!("{} {}", edited[n], name(n as u64 + 7)),
                _ => {
                    let word = edited[n].split_whitespace().next().unwrap_or_default().to_owned();
                    edited[n] = edited[n].replacen(&word, &name(n as u64 + 99), 1);
                }
            }
            edits += 1;
            if !compared(page, &edited.join("\n")).counts {
                missed.push(lines[n].to_owned());
            }
        }
    }
    println!("{} pages, {edits} edits, missed: {missed:?}", pages.len());
    assert!(missed.len() * 100 < edits, "{missed:?}");
}
