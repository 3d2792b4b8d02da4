//! What robots.txt means, in sentences. The paragraphs are those of RFC 9309.

use super::*;

fn robots(file: &str) -> Robots {
    Robots::parse(file.as_bytes(), "argiope/1.0 (+https://example.org/bot)")
}

fn allowed(file: &str, path: &str) -> bool {
    robots(file).verdict(path).allowed
}

#[test]
fn without_a_file_everything_is_allowed() {
    let none = Robots::allow_all();
    assert_eq!(none.verdict("/a?b"), Verdict { allowed: true, rule: None });
    assert_eq!((none.crawl_delay(), none.sitemaps().len(), none.heap_bytes()), (None, 0, 0));
    assert_eq!(none, robots(""));
}

/// 2.2.1
#[test]
fn a_group_for_us_silences_the_one_for_everyone() {
    let file = "user-agent: *\ndisallow: /\nuser-agent: Argiope\ndisallow: /private";
    assert!(allowed(file, "/"));
    assert!(!allowed(file, "/private"));
    let without_rules = "user-agent: argiope\n\nuser-agent: other\ndisallow: /o\n\n\
                         user-agent: *\ndisallow: /e";
    assert!(allowed(without_rules, "/e"));
    assert!(!allowed(without_rules, "/o"), "empty lines end no group");
}

/// 2.2.1
#[test]
fn groups_for_the_same_name_are_one_group() {
    let file = "user-agent: argiope\ndisallow: /a\nuser-agent: x\ndisallow: /x\n\
                user-agent: y\nuser-agent: ARGIOPE\nuser-agent: z\ndisallow: /b";
    for (path, expected) in [("/a", false), ("/b", false), ("/x", true)] {
        assert_eq!(allowed(file, path), expected, "{path}");
    }
}

/// 2.2.2
#[test]
fn rules_before_the_first_user_agent_line_are_ignored() {
    assert!(allowed("disallow: /\nuser-agent: *\ndisallow: /a", "/b"));
}

/// 2.2.2
#[test]
fn an_empty_rule_says_nothing() {
    let file = "user-agent: argiope\ndisallow:\nallow:\nuser-agent: *\ndisallow: /";
    assert_eq!(robots(file).verdict("/"), Verdict { allowed: true, rule: None });
}

/// 2.2.2
#[test]
fn the_file_itself_is_always_allowed() {
    let file = "user-agent: *\ndisallow: /";
    assert!(allowed(file, "/robots.txt"));
    assert!(!allowed(file, "/robots.txt/x"));
    assert!(!allowed(file, "/a/robots.txt"));
}

/// 2.2.2: the table of paths, rule and URL exchanged as well.
#[test]
fn a_rule_and_a_url_are_compared_in_one_spelling() {
    let same = [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/%7Ejim/", "/~jim/"),
        ("/a(b)", "/a%28b%29"),
        ("/a+b", "/a%2Bb"),
        ("/a{b}|c d", "/a%7Bb%7D%7Cc%20d"),
        ("/*&back=/login", "/x?y&back=%2Flogin"),
    ];
    for (one, other) in same {
        let file = format!("user-agent: *\ndisallow: {one}");
        assert!(!allowed(&file, one) && !allowed(&file, other), "{one} {other}");
        if !one.contains('*') {
            let file = format!("user-agent: *\ndisallow: {other}");
            assert!(!allowed(&file, one) && !allowed(&file, other), "{other} {one}");
        }
    }
    let different = [("/a%2Fb", "/a/b"), ("/a%3Fb", "/a?b"), ("/a?b%26c", "/a?b&c"), ("/a", "/A")];
    for (one, other) in different {
        for (rule, path) in [(one, other), (other, one)] {
            assert!(allowed(&format!("user-agent: *\ndisallow: {rule}"), path), "{rule} {path}");
        }
    }
}

#[test]
fn an_escaped_rule_also_forbids_the_path_written_just_so() {
    for rule in ["/*%2F", "/*%", "/*%3A", "/*?*%2f"] {
        let file = format!("user-agent: *\ndisallow: {rule}");
        assert!(!allowed(&file, "/a?b=%3A%2Fc"), "{rule}");
        assert!(allowed(&file, "/a?b=c"), "{rule}");
    }
}

#[test]
fn needless_escapes_forbid_more_but_allow_only_as_written() {
    let file = "user-agent: *\ndisallow: /\nallow: /%7Ejim\nallow: /~mak";
    assert!(!allowed(file, "/~jim"));
    assert!(allowed(file, "/%7Ejim"));
    assert!(allowed(file, "/~mak") && allowed(file, "/%7Emak"));
}

#[test]
fn a_path_that_is_not_ascii_is_allowed_only_if_every_reading_allows_it() {
    let file = "user-agent: *\ndisallow: /\nallow: /ü/\nallow: /a";
    assert!(allowed(file, "/%C3%BC/"));
    assert!(!allowed(file, "/ü/"));
    assert!(allowed(file, "/aü/"));
    assert!(!allowed("user-agent: *\ndisallow: /ü", "/ü"));
    assert!(allowed("user-agent: *\nallow: /ü", "/ü"));
}

#[test]
fn a_longer_spelling_gives_a_rule_no_more_weight() {
    let file = "user-agent: *\nallow: /%7Ea\nallow: /x%3A\ndisallow: /~a/b\ndisallow: /x:b";
    assert!(!allowed(file, "/%7Ea/b"));
    assert!(!allowed(file, "/x%3Ab"));
}

#[test]
fn the_index_page_of_an_allowed_directory_is_its_directory() {
    let file = "user-agent: *\nallow: /a/index.html\ndisallow: /";
    assert!(allowed(file, "/a/index.html") && allowed(file, "/a/"));
    assert!(!allowed(file, "/a/b") && !allowed(file, "/a/index.htm"));
    assert!(allowed("user-agent: *\ndisallow: /a/index.html", "/a/"));
}

#[test]
fn the_verdict_names_the_line_and_the_pattern_as_written() {
    let robots = robots("\u{feff}# hello\r\nuser-agent: *\r\nDisallow: /b\u{fc}cher/*  # all\r\n");
    let rule = Rule { line: 3, allow: false, pattern: "/b\u{fc}cher/*" };
    let verdict = robots.verdict("/b%C3%BCcher/1");
    assert_eq!(verdict, Verdict { allowed: false, rule: Some(rule) });
}

#[test]
fn a_path_without_its_slash_or_with_a_fragment_is_read_all_the_same() {
    let file = "user-agent: *\ndisallow: /$\ndisallow: /?a";
    for path in ["", "#x", "/#x", "?a", "/?ab"] {
        assert!(!allowed(file, path), "{path:?}");
    }
    assert!(allowed(file, "/b#/?a"));
}

/// 2.2.4: a delay ends no group; it is for those named so far.
#[test]
fn a_delay_is_for_the_names_before_it() {
    let file = "user-agent: argiope\ncrawl-delay: 2.5\nuser-agent: x\ndisallow: /a\ncrawl-delay: 1\n\
                user-agent: *\ncrawl-delay: 30";
    assert_eq!(robots(file).crawl_delay(), Some(Duration::from_millis(2500)));
    assert!(!allowed(file, "/a"));
    let delay = |agent| Robots::parse(file.as_bytes(), agent).crawl_delay();
    assert_eq!(delay("x"), Some(Duration::from_secs(1)));
    assert_eq!(delay("other"), Some(Duration::from_secs(30)));
}

#[test]
fn a_delay_that_is_no_number_of_seconds_is_ignored() {
    for value in ["", "-1", "ten", "1e9", "inf", "NaN", "+3", ".", "1.2.3", "[5]", "5 s"] {
        let file = format!("user-agent: *\ncrawl-delay: {value}");
        assert_eq!(robots(&file).crawl_delay(), None, "{value}");
    }
    let huge = format!("user-agent: *\ncrawl-delay: {}", "9".repeat(400));
    assert_eq!(robots(&huge).crawl_delay(), None);
    let zero = robots("user-agent: *\ncrawl-delay: 0");
    assert_eq!(zero.crawl_delay(), Some(Duration::ZERO));
}

#[test]
fn sitemaps_are_kept_as_written_from_anywhere_up_to_a_thousand() {
    let file = "Sitemap: /A.xml\nuser-agent: x\ndisallow: /\nsite-map: https://e.org/b\nsitemap:";
    let found = robots(file);
    assert_eq!(found.sitemaps(), ["/A.xml".into(), "https://e.org/b".into()]);
    assert_eq!(robots(&"sitemap: /s\n".repeat(2_000)).sitemaps().len(), 1_000);
}

#[test]
fn only_the_rules_for_us_take_memory() {
    let others: String = (0..5_000).map(|n| format!("disallow: /{n}\n")).collect();
    let file = format!("user-agent: x\n{others}\nuser-agent: argiope\ndisallow: /a\n");
    let held = robots(&file).heap_bytes();
    assert!((1..200).contains(&held), "{held}");
    let all = Robots::parse(file.as_bytes(), "x").heap_bytes();
    assert!((5_000..500_000).contains(&all), "{all}");
}
