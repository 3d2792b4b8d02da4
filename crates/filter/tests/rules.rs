//! Every kind of rule, and how what is not known yet goes through `all`, `any` and `not`.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

use argiope_filter::{Explanation, Filter, Known, Rule, Saved, Verdict};
use argiope_model::{CanonicalUrl, Suffixes};
use proptest::prelude::*;
use std::sync::LazyLock;

static SUFFIXES: LazyLock<Suffixes> = LazyLock::new(Suffixes::built_in);

fn list(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn filter(rule: Rule) -> Filter {
    Filter::new(&Saved { name: "test".to_owned(), rule }).expect("the test's rule")
}

fn explain(rule: Rule, url: &str, known: Known<'_>) -> Explanation {
    let url = CanonicalUrl::parse(url).expect("the test's URL");
    let filter = filter(rule);
    let why = filter.explain(&url, &SUFFIXES, known);
    assert_eq!(filter.judge(&url, &SUFFIXES, known).verdict, why.verdict, "{why:?}");
    why
}

/// What a rule says of a URL of which nothing else is known.
fn says(rule: &Rule, url: &str) -> Verdict {
    explain(rule.clone(), url, Known::default()).verdict
}

fn passes(rule: &Rule, url: &str) -> bool {
    match says(rule, url) {
        Verdict::Yes => true,
        Verdict::No => false,
        Verdict::Unknown => panic!("{url} is all that this rule asks about"),
    }
}

#[test]
fn a_domain_means_itself_and_what_lies_below() {
    let rule = Rule::Domain(list(&["example.org", "a.b.test", "127.0.0.1"]));
    for good in [
        "http://example.org/",
        "https://www.deep.example.org:8080/x",
        "http://a.b.test/",
        "http://127.0.0.1:9/",
        "http://example.org./",
    ] {
        assert!(passes(&rule, good), "{good}");
    }
    for bad in ["http://notexample.org/", "http://org/", "http://b.test/", "http://0.0.1/"] {
        assert!(!passes(&rule, bad), "{bad}");
    }
}

#[test]
fn prefixes_are_of_urls_or_of_paths() {
    let rule = Rule::Prefix(list(&["https://a.test/docs/", "https://a.test/docs/deep/", "/blog/"]));
    assert!(passes(&rule, "https://a.test/docs/x"));
    assert!(passes(&rule, "https://a.test/docs/deep/x"));
    assert!(passes(&rule, "http://b.test/blog/?p=1"));
    assert!(!passes(&rule, "http://a.test/docs/x"));
    assert!(!passes(&rule, "https://a.test/doc"));
    assert!(!passes(&rule, "https://a.test/x/blog/"));
}

#[test]
fn suffixes_are_of_paths_in_any_case_and_protocols_are_schemes() {
    let rule = Rule::Suffix(list(&[".pdf", "/print"]));
    assert!(passes(&rule, "http://a.test/x.PDF?v=1"));
    assert!(passes(&rule, "http://a.test/a/print"));
    assert!(!passes(&rule, "http://a.test/x.html?f=.pdf"));
    let rule = Rule::Protocol(list(&["https"]));
    assert!(passes(&rule, "https://a.test/") && !passes(&rule, "http://a.test/"));
}

#[test]
fn expressions_look_for_themselves_alone_though_they_are_searched_for_together() {
    let rule = Rule::All(vec![
        Rule::Regex(list(&["/[0-9]{4}/", "news"])),
        Rule::Not(Box::new(Rule::Regex(list(&["(?i)/TAG/", r"\?page=\d+$"])))),
    ]);
    assert!(passes(&rule, "http://a.test/2024/x"));
    assert!(passes(&rule, "http://news.test/"));
    assert!(!passes(&rule, "http://a.test/2024/tag/x"));
    assert!(!passes(&rule, "http://a.test/news?page=12"));
    assert!(!passes(&rule, "http://a.test/x"));
}

#[test]
fn depth_counts_segments_and_empty_ones_do_not_count() {
    let rule = Rule::All(vec![Rule::MinPathDepth(1), Rule::MaxPathDepth(2)]);
    let urls = ["http://a.test/", "http://a.test//b/", "http://a.test/b/c", "http://a.test/b/c/d"];
    assert_eq!(urls.map(|url| passes(&rule, url)), [false, true, true, false]);
}

#[test]
fn parameters_are_had_counted_and_confined() {
    let has = Rule::Param(list(&["sort", "utm_*"]));
    assert!(passes(&has, "http://a.test/?x=1&sort"));
    assert!(passes(&has, "http://a.test/?utm_source=x"));
    assert!(!passes(&has, "http://a.test/?sorted=1"));
    assert!(!passes(&has, "http://a.test/sort"));
    let few = Rule::MaxParams(1);
    assert!(passes(&few, "http://a.test/") && passes(&few, "http://a.test/?a=1"));
    assert!(!passes(&few, "http://a.test/?a=1&b=2"));
    let only = Rule::OnlyParams(list(&["page", "id"]));
    assert!(passes(&only, "http://a.test/") && passes(&only, "http://a.test/?id=1&page=2"));
    assert!(!passes(&only, "http://a.test/?id=1&s=2"));
    assert!(!passes(&Rule::OnlyParams(Vec::new()), "http://a.test/?id=1"));
}

#[test]
fn type_size_and_language_are_not_known_before_the_answer() {
    let url = "http://a.test/x";
    let html = Known { kind: Some(("text/html", "html")), ..Known::default() };
    for rule in [Rule::Type(list(&["html"])), Rule::Type(list(&["text/html", "pdf"]))] {
        assert_eq!(says(&rule, url), Verdict::Unknown);
        assert_eq!(explain(rule, url, html).verdict, Verdict::Yes);
    }
    assert_eq!(explain(Rule::Type(list(&["pdf"])), url, html).verdict, Verdict::No);
    let sized = |size| Known { size: Some(size), ..Known::default() };
    assert_eq!(says(&Rule::MaxSize(10), url), Verdict::Unknown);
    assert_eq!(explain(Rule::MaxSize(10), url, sized(10)).verdict, Verdict::Yes);
    assert_eq!(explain(Rule::MaxSize(10), url, sized(11)).verdict, Verdict::No);
    assert_eq!(explain(Rule::MinSize(10), url, sized(9)).verdict, Verdict::No);
    let spoken = |language| Known { language: Some(language), ..Known::default() };
    let rule = Rule::Language(list(&["en", "pt-br"]));
    assert_eq!(says(&rule, url), Verdict::Unknown);
    for (language, verdict) in [
        (Some("en"), Verdict::Yes),
        (Some("en-GB"), Verdict::Yes),
        (Some("pt-BR"), Verdict::Yes),
        (Some("pt"), Verdict::No),
        (Some("eng"), Verdict::No),
        (None, Verdict::No),
    ] {
        assert_eq!(explain(rule.clone(), url, spoken(language)).verdict, verdict, "{language:?}");
    }
    let rule = Rule::Language(list(&["en", "unknown"]));
    assert_eq!(explain(rule, url, spoken(None)).verdict, Verdict::Yes);
}

/// A rule that says what it is told to say of any URL.
fn saying(verdict: Verdict) -> Rule {
    match verdict {
        Verdict::Yes => Rule::MaxPathDepth(99),
        Verdict::No => Rule::MinPathDepth(99),
        Verdict::Unknown => Rule::MaxSize(1),
    }
}

#[test]
fn the_three_verdicts_are_joined_as_kleene_did_it() {
    use Verdict::{No, Unknown, Yes};
    let url = "http://a.test/";
    for (a, b, all, any) in [
        (Yes, Yes, Yes, Yes),
        (Yes, No, No, Yes),
        (Yes, Unknown, Unknown, Yes),
        (No, No, No, No),
        (No, Unknown, No, Unknown),
        (Unknown, Unknown, Unknown, Unknown),
    ] {
        for (a, b) in [(a, b), (b, a)] {
            let both = || vec![saying(a), saying(b)];
            assert_eq!(says(&Rule::All(both()), url), all, "{a:?} and {b:?}");
            assert_eq!(says(&Rule::Any(both()), url), any, "{a:?} or {b:?}");
        }
    }
    for (a, not) in [(Yes, No), (No, Yes), (Unknown, Unknown)] {
        assert_eq!(says(&Rule::Not(Box::new(saying(a))), url), not);
    }
}

#[test]
fn the_rule_that_decided_is_named_with_the_way_to_it() {
    let rule = Rule::All(vec![
        Rule::Domain(list(&["a.test"])),
        Rule::Not(Box::new(Rule::Named {
            name: "noise".to_owned(),
            rule: Box::new(Rule::Any(vec![
                Rule::Param(list(&["sort"])),
                Rule::Suffix(list(&["/print"])),
            ])),
        })),
    ]);
    let why = explain(rule.clone(), "http://a.test/x?sort=up", Known::default());
    assert_eq!(why.rule(), "test > all > not > noise > any > param sort");
    assert_eq!(why.detail, "its query has the parameter sort");
    let why = explain(rule.clone(), "http://b.test/x?sort=up", Known::default());
    assert_eq!(why.rule(), "test > all > domain a.test");
    assert_eq!(why.detail, "b.test belongs to none of the domains");
    let why = explain(rule, "http://a.test/x", Known::default());
    assert_eq!((why.verdict, &*why.rule()), (Verdict::Yes, "test > all"));
    assert!(why.detail.starts_with("its host is a.test, its query has none"), "{}", why.detail);
    let why = explain(Rule::MaxSize(9), "http://a.test/x", Known::default());
    assert_eq!(
        (why.verdict.name(), &*why.detail),
        ("later", "its size is known only from its answer")
    );
}

#[test]
fn what_cannot_be_used_is_said_in_a_sentence() {
    let problem =
        |rule| Filter::new(&Saved { name: "x".to_owned(), rule }).unwrap_err().to_string();
    assert_eq!(problem(Rule::Regex(list(&["a(b"]))), "unclosed group");
    assert_eq!(
        problem(Rule::Regex(list(&["(a{1000}){1000}{99}"]))),
        "the expressions are too large"
    );
    let mut deep = Rule::MaxParams(1);
    for _ in 0..70 {
        deep = Rule::Not(Box::new(deep));
    }
    assert!(problem(deep).contains("deep"));
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let leaf = prop_oneof![
        Just(saying(Verdict::Yes)),
        Just(saying(Verdict::No)),
        Just(Rule::MaxSize(5)),
        Just(Rule::MinSize(3)),
        Just(Rule::Type(list(&["html"]))),
        Just(Rule::Language(list(&["en"]))),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Rule::All),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Rule::Any),
            inner.prop_map(|rule| Rule::Not(Box::new(rule))),
        ]
    })
}

proptest! {
    /// A verdict holds whatever becomes known later, and at the end there is one.
    #[test]
    fn more_knowledge_changes_no_verdict(rule in any_rule(), size in 0u64..8, html: bool, en: bool) {
        let url = "http://a.test/x";
        let kind = if html { ("text/html", "html") } else { ("image/png", "image") };
        let head = Known { kind: Some(kind), size: Some(size), language: None };
        let body = Known { language: Some(en.then_some("en")), ..head };
        let stages = [Known::default(), Known { size: None, ..head }, head, body];
        let verdicts = stages.map(|known| explain(rule.clone(), url, known).verdict);
        for pair in verdicts.windows(2) {
            prop_assert!(pair[0] == Verdict::Unknown || pair[0] == pair[1], "{:?}", verdicts);
        }
        prop_assert!(verdicts[3] != Verdict::Unknown);
    }
}
