use super::*;
use proptest::prelude::*;

/// Made-up prose: `words` words, another for every seed, in lines of forty.
fn prose(seed: u64, words: u64) -> String {
    let mut out = String::new();
    for n in 0..words {
        let word = mixed(seed.wrapping_mul(K) ^ n) % 5_000;
        out.push_str(&format!("w{word}"));
        out.push(if n % 40 == 39 { '\n' } else { ' ' });
    }
    out
}

/// A menu, as pages have around them.
fn menu(seed: u64, entries: u64) -> String {
    (0..entries).map(|n| format!("Menu {} {}\n", mixed(seed ^ n) % 900, seed)).collect()
}

/// A notice as long as a paragraph, which looks like text.
fn notice(seed: u64, words: u64) -> String {
    prose(seed ^ 0xffff, words)
}

/// Every twentieth word is another.
fn edited(text: &str, seed: u64) -> String {
    let lines = text.lines().enumerate().map(|(l, line)| {
        let words = line.split(' ').enumerate().map(|(n, word)| {
            let dice = mixed(seed ^ (l as u64) << 32 ^ n as u64);
            if dice.is_multiple_of(20) { format!("other{}", dice % 997) } else { word.to_owned() }
        });
        words.collect::<Vec<_>>().join(" ") + "\n"
    });
    lines.collect()
}

fn near(a: &str, b: &str) -> bool {
    Fingerprint::of(a).near(&Fingerprint::of(b))
}

/// Whether the first two pages of a site are near, or the first of two sites.
fn near_of(site: &[String], other: Option<&[String]>) -> bool {
    let siblings = |pages: &[String]| {
        let mut out = Siblings::default();
        for (n, page) in pages.iter().enumerate() {
            out.see(n as u64, &Fingerprint::of(page), TitlePrint::default());
        }
        out
    };
    let (here, there) = (siblings(site), other.map(siblings));
    let first = Fingerprint::of(&site[0]);
    let second = Fingerprint::of(other.map_or(&site[1], |other| &other[0]));
    let title = TitlePrint::default();
    let a = Known { page: 0, print: &first, title, siblings: &here };
    let (page, siblings) = if other.is_some() { (1 << 40, &here) } else { (1, &here) };
    let b = Known { page, print: &second, title, siblings: there.as_ref().unwrap_or(siblings) };
    near_among(a, b, other.is_none())
}

#[test]
fn a_text_with_one_word_in_twenty_changed_is_near() {
    let many = (0..200).filter(|n| {
        let text = prose(*n, 150 + n * 10);
        near(&text, &edited(&text, *n))
    });
    assert!(many.count() >= 196);
}

#[test]
fn another_text_is_not_near_and_a_short_one_to_nothing() {
    for n in 0..200 {
        assert!(!near(&prose(n, 400), &prose(n + 1, 400)));
    }
    assert!(!near("Not found.", "Not found."));
    assert!(Fingerprint::of("").is_empty());
}

#[test]
fn the_order_of_paragraphs_does_not_matter() {
    let text = prose(7, 800);
    let turned: Vec<&str> = text.lines().rev().collect();
    assert!(near(&text, &turned.join("\n")));
}

#[test]
fn case_signs_and_spaces_do_not_matter() {
    let text = prose(3, 300);
    let loud = text.to_uppercase().replace(' ', " — ");
    assert_eq!(Fingerprint::of(&text), Fingerprint::of(&loud));
    let (greek, loud) = ("Η αράχνη υφαίνει ιστό ".repeat(9), "Η ΑΡΆΧΝΗ ΥΦΑΊΝΕΙ ΙΣΤΌ ".repeat(9));
    assert_eq!(Fingerprint::of(&greek), Fingerprint::of(&loud));
}

#[test]
fn texts_without_spaces_have_marks_too() {
    let text: String = (0..300).filter_map(|n| char::from_u32(0x4e00 + n * 7)).collect();
    let other: String = (0..300).filter_map(|n| char::from_u32(0x4e03 + n * 11)).collect();
    let changed = text.replace(&text[30..33], "的");
    assert!(near(&text, &changed) && !near(&text, &other));
}

#[test]
fn what_all_pages_of_a_site_have_makes_no_two_of_them_near() {
    // More of the site than of the page.
    let site = menu(1, 60) + &notice(1, 1_000);
    let pages: Vec<String> = (0..6).map(|n| site.clone() + &prose(n, 200)).collect();
    assert!(near(&pages[0], &pages[1]), "the notice alone would make them so");
    assert!(!near_of(&pages, None));
}

#[test]
fn a_copy_on_the_same_site_is_near() {
    let site = menu(1, 60) + &notice(1, 600);
    let mut pages: Vec<String> = (0..6).map(|n| site.clone() + &prose(n, 300)).collect();
    pages[1] = site + &edited(&prose(0, 300), 9);
    assert!(near_of(&pages, None));
}

#[test]
fn an_article_is_found_again_inside_of_another_site() {
    let site = |n: u64| menu(n, 60) + &notice(n, 600);
    let pages = |of: u64, first: u64| -> Vec<String> {
        (0..6).map(|n| site(of) + &prose(first + n, 300)).collect()
    };
    let (here, there) = (pages(1, 0), pages(2, 0));
    assert!(!near(&here[0], &there[0]), "most of both is not the article");
    assert!(near_of(&here, Some(&there)));
    assert!(!near_of(&here, Some(&pages(2, 100))));
}

#[test]
fn an_article_is_found_again_on_its_own_site_with_much_more_around_it() {
    // Every page has surroundings of its own, so that the site says nothing about them.
    let mut pages: Vec<String> = (0..20).map(|n| notice(n, 300) + &prose(n, 400)).collect();
    pages[1] = notice(77, 900) + &edited(&prose(0, 400), 3);
    assert!(!near(&pages[0], &pages[1]), "most of both is not the article");
    assert!(near_of(&pages, None));
    pages[1] = notice(77, 900) + &prose(78, 400);
    assert!(!near_of(&pages, None));
}

#[test]
fn what_the_site_has_is_known_where_only_its_short_pages_show_it() {
    // Of the long pages none shows the notice among its smallest marks, or hardly.
    let site = notice(1, 90);
    let long = (0..30).map(|n| site.clone() + &prose(n, 20_000));
    let short = (100..106).map(|n| site.clone() + &prose(n, 80));
    let pages: Vec<String> = short.chain(long).collect();
    assert!(!near_of(&pages, None));
}

#[test]
fn pages_that_have_nothing_of_their_own_are_near() {
    // The same page again and again, as a site may give for any address.
    let pages: Vec<String> = (0..20).map(|n| edited(&prose(5, 400), n / 19)).collect();
    assert!(near_of(&pages, None));
}

#[test]
fn a_page_that_is_seen_again_counts_once() {
    let mut siblings = Siblings::default();
    let print = Fingerprint::of(&prose(1, 300));
    let title = TitlePrint::default();
    (0..9).for_each(|_| siblings.see(4, &print, title));
    let common = |siblings: &Siblings, but| {
        siblings.common(Known { page: 1, print: &print, title, siblings }, but)
    };
    assert_eq!((siblings.len(), common(&siblings, [8, 9])), (1, (Marks::NONE, 0)));
    siblings.see(5, &print, title);
    assert_eq!(common(&siblings, [8, 9]), (Marks(u64::MAX), 2));
    assert_eq!(common(&siblings, [8, 5]), (Marks::NONE, 0), "one alone says nothing");
}

#[test]
fn copies_on_a_small_site_are_not_taken_for_what_all_its_pages_have() {
    let (text, title) = (prose(1, 400), TitlePrint::of("The web of the garden spider"));
    let copies: Vec<String> = (0..3).map(|n| edited(&text, n)).collect();
    let mut here = Siblings::default();
    for (n, copy) in copies.iter().enumerate() {
        here.see(n as u64, &Fingerprint::of(copy), title);
    }
    let other = Fingerprint::of(&(menu(3, 30) + &text));
    let (nobody, first) = (Siblings::default(), Fingerprint::of(&copies[0]));
    let a = Known { page: 0, print: &first, title, siblings: &here };
    let b = Known { page: 77, print: &other, title, siblings: &nobody };
    assert!(near_among(a, b, false));
}

#[test]
fn pages_of_one_pattern_that_are_called_differently_are_not_near() {
    let of_words = |words: u64, titles: [&str; 2]| {
        let a = Fingerprint::of(&prose(4, words));
        // Three marks in four are those of the pattern.
        let other = |mark: &u32| if mark.is_multiple_of(4) { mark + 1 } else { *mark };
        let b = Fingerprint::from_marks(a.marks().iter().map(other));
        let nobody = Siblings::default();
        let [one, other] = titles.map(TitlePrint::of);
        let a = Known { page: 0, print: &a, title: one, siblings: &nobody };
        near_among(a, Known { page: 1, print: &b, title: other, siblings: &nobody }, true)
    };
    let called = |titles| of_words(500, titles);
    assert!(called(["open a file", "open a file"]));
    let akin = ["drop a spider", "drop a web"];
    assert!(called(akin) && !of_words(60, akin), "of short pages more must be the same");
    assert!(called(["How to open a file quickly", "How to open any file quickly"]), "one word");
    assert!(!called(["open a file", "seek in something"]));
    assert!(!called(["Spiders of the world, part 1", "Spiders of the world, part 2"]), "numbers");
    assert!(called(["", "open a file"]), "nothing to go by");
}

#[test]
fn lines_that_surround_a_page_weigh_little() {
    let (article, menu) = (prose(1, 300), notice(2, 900));
    let around = std::slice::from_ref(&(0..menu.lines().count() as u32)).to_vec();
    let page = menu.clone() + &article;
    let bare = Fingerprint::of(&article);
    assert!(!bare.near(&Fingerprint::of(&page)));
    assert!(bare.near(&Fingerprint::of_page(&page, &around)));
    assert!(!Fingerprint::of_page(&menu, &around).is_empty(), "where there is nothing else");
}

#[test]
fn a_title_is_kept_and_given_back() {
    let title = TitlePrint::of("One two three, one two four five six seven eight nine ten");
    assert_eq!(title.words().count(), TitlePrint::WORDS);
    assert_eq!(TitlePrint::from_words(title.words()), title);
    assert_eq!(TitlePrint::of("ONE: two"), TitlePrint::of("one — Two"));
}

#[test]
fn marks_are_kept_and_given_back() {
    let print = Fingerprint::of(&prose(8, 900));
    assert_eq!(print.marks().len(), Fingerprint::MARKS);
    assert_eq!(Fingerprint::from_marks(print.marks().iter().rev().copied()), print);
}

/// Marks are kept in indexes: other ones would need another format there.
#[test]
fn the_marks_of_a_text_never_change() {
    let print = Fingerprint::of(
        "The garden spider spins a wheel of silk and sits down in the middle of it, Ärger und 蜘蛛 \
         included, until something flies by.",
    );
    assert_eq!(&print.marks()[..3], FROZEN);
}

const FROZEN: &[u32] = &[1_552_635, 2_376_721, 3_949_005];

proptest! {
    #[test]
    fn any_texts_are_compared(a in "[a-d \\n]{0,300}", b: String) {
        let (a, b) = (Fingerprint::of(&a), Fingerprint::of(&b));
        prop_assert_eq!(a.near(&b), b.near(&a));
        prop_assert!(a.marks().is_sorted() && (0.0..=1.0).contains(&a.resemblance(&b)));
        prop_assert!(a.is_empty() || a.resemblance(&a) == 1.0);
    }
}
