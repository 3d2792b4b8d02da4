//! Scripts: what they see, what stops them, and what is said about it.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

use argiope_filter::{Filter, Known, Rule, Saved, Verdict, check_script};
use argiope_model::{CanonicalUrl, Suffixes};
use std::sync::LazyLock;

static SUFFIXES: LazyLock<Suffixes> = LazyLock::new(Suffixes::built_in);

fn script(text: &str) -> Rule {
    Rule::Script { name: "my.rhai".to_owned(), text: text.to_owned() }
}

fn filter(rule: Rule) -> Filter {
    Filter::new(&Saved { name: "mine".to_owned(), rule }).expect("the test's script")
}

/// What a script says of a URL, or how it fails.
fn says(text: &str, url: &str) -> Result<bool, String> {
    let url = CanonicalUrl::parse(url).expect("the test's URL");
    let judged = filter(script(text)).judge(&url, &SUFFIXES, Known::default());
    match judged.failure {
        Some(failure) => {
            assert_eq!(judged.verdict, Verdict::No, "what fails is refused");
            Err(failure.to_string())
        }
        None => Ok(judged.verdict == Verdict::Yes),
    }
}

#[test]
fn a_script_sees_all_parts_of_a_url() {
    let url = "https://www.shop.example.co.uk:8443/a/b%20c/d.html?x=1&y=a+b%26c&x=2";
    for check in [
        "url.scheme == \"https\"",
        "url.host == \"www.shop.example.co.uk\"",
        "url.port == 8443",
        "url.domain == \"example.co.uk\"",
        "url.path == \"/a/b%20c/d.html\"",
        "url.segments == [\"a\", \"b%20c\", \"d.html\"]",
        "url.depth == 3",
        "url.query == \"x=1&y=a+b%26c&x=2\"",
        "url.params.x == \"1\" && url.params[\"y\"] == \"a b&c\" && url.params.z == ()",
        "\"x\" in url.params && !(\"z\" in url.params)",
        "url.text.starts_with(\"https://www.\") && url.text.contains(\"/d.html\")",
        "`${url}` == url.text",
        "url.segments.filter(|s| s.len() > 1).len() == 2",
        "url.path.split(\"/\").len() == 4 && parse_int(url.params.x) + 1 == 2",
        "switch url.host { \"a\" => false, _ => true }",
    ] {
        assert_eq!(says(&format!("fn crawl(url) {{ {check} }}"), url), Ok(true), "{check}");
    }
    let text = "fn is_old(n) { n < 5 }\nfn crawl(url) { if url.depth == 0 { return true; } !is_old(url.depth) }";
    assert_eq!(says(text, "http://a.test/"), Ok(true));
    assert_eq!(says(text, "http://a.test/b"), Ok(false));
}

#[test]
fn what_can_never_work_is_told_with_its_line_before_anything_is_crawled() {
    for (text, line, what) in [
        ("fn crawl(url) {\n  url.depth >\n}", 3, "unexpected"),
        ("fn crawl(url) {\n  let x = 1\n  x == 1 }", 3, "expecting"),
        ("fn keep(url) { true }", 1, "no `fn crawl(url)`"),
        ("fn crawl(a, b) { true }", 1, "no `fn crawl(url)`"),
        ("\n\nfn crawl(url) { hots }", 3, "hots"),
        ("fn crawl(url) {\n url.hots == \"a\" }", 2, "hots"),
        ("fn crawl(url) {\n frobnicate(url) }", 2, "frobnicate"),
        ("fn crawl(url) { 7 }", 1, "must say true or false, and says i64"),
        ("fn crawl(url) { }", 1, "says nothing"),
        ("import \"x\" as x;\nfn crawl(url) { true }", 1, "import"),
        ("fn crawl(url) { eval(\"true\") }", 1, "eval"),
        ("fn crawl(url) {\n sleep(10); true }", 2, "sleep"),
    ] {
        let (at, why) = check_script("my.rhai", text).expect_err(text);
        assert!(why.contains(what), "{text}: {why}");
        assert_eq!(at, line, "{text}: {why}");
    }
}

#[test]
fn a_script_that_fails_for_some_urls_says_where() {
    let text = "fn crawl(url) {\n  url.segments[1] == \"b\"\n}";
    assert_eq!(says(text, "http://a.test/a/b"), Ok(true));
    let why = says(text, "http://a.test/").unwrap_err();
    assert!(why.starts_with("my.rhai:2: ") && !why.contains("line 2"), "{why}");
    let why = says("fn crawl(url) { throw \"no idea\" }", "http://a.test/").unwrap_err();
    assert_eq!(why, "my.rhai:1: the script throws: no idea");
}

#[test]
fn a_failure_refuses_under_a_not_and_in_any_company_that_needs_it() {
    let url = CanonicalUrl::parse("http://a.test/").unwrap();
    let failing = || script("fn crawl(url) { throw 1 }");
    for rule in [
        Rule::Not(Box::new(failing())),
        Rule::Any(vec![failing(), Rule::MaxPathDepth(9)]),
        Rule::All(vec![Rule::MaxPathDepth(9), failing()]),
    ] {
        let judged = filter(rule).judge(&url, &SUFFIXES, Known::default());
        assert!(judged.verdict == Verdict::No && judged.failure.is_some());
    }
    // Who is not asked cannot fail.
    let rule = Rule::Any(vec![Rule::MaxPathDepth(9), failing()]);
    assert_eq!(filter(rule).judge(&url, &SUFFIXES, Known::default()).verdict, Verdict::Yes);
}

#[test]
fn a_script_without_end_is_stopped() {
    for text in [
        "fn crawl(url) { loop {} }",
        "fn crawl(url) { let x = 0; while true { x += 1; } true }",
        "fn crawl(url) { for i in 0..9999999999 { let x = i; } true }",
        "fn crawl(url) { crawl(url) }",
        "fn a(x) { b(x) } fn b(x) { a(x) } fn crawl(url) { a(1) }",
        "fn crawl(url) { let a = []; a.pad(1000, 0); for i in 0..9999 { a.sort(|x, y| y - x); } true }",
        "fn crawl(url) { let a = []; a.pad(1000, 0); a.map(|x| { let b = []; b.pad(1000, 0); b.map(|y| { let n = 0; while n < 40000 { n += 1; } }) }); true }",
        "fn crawl(url) { try { loop {} } catch { } true }",
    ] {
        let why = says(text, "http://a.test/").expect_err(text);
        assert!(why.contains("was stopped"), "{text}: {why}");
        assert!(why.starts_with("my.rhai:1: "), "{text}: {why}");
    }
    // The engine does not say where it was; where it began is said.
    let why = says("\n\nfn crawl(url) {\n  loop { }\n}", "http://a.test/").unwrap_err();
    assert!(why.starts_with("my.rhai:3: "), "{why}");
}

#[test]
fn a_script_that_wants_much_memory_is_stopped() {
    // On the stack of a worker thread.
    let attempts = [
        "fn crawl(url) { let s = \"xxxxxxxx\"; loop { s += s; } }",
        "fn crawl(url) { let s = \"xxxxxxxx\"; loop { s = s + s; } }",
        "fn crawl(url) { let s = \"x\"; s.pad(1000000000, \"y\"); true }",
        "fn crawl(url) { let a = []; loop { a.push(a.len()); } }",
        "fn crawl(url) { let a = []; loop { a += a; a.push(1); } }",
        "fn crawl(url) { let a = []; a.pad(1000000000, 1); true }",
        "fn crawl(url) { let a = []; loop { a = [a]; } }",
        "fn crawl(url) { let m = #{}; loop { m = #{x: m}; } }",
        "fn crawl(url) { let m = #{}; let i = 0; loop { m[`k${i}`] = i; i += 1; } }",
        "fn crawl(url) { let a = []; loop { a.push(\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"); } }",
        "fn crawl(url) { let s = \"xxxxxxxxxxxxxxxx\"; loop { s.replace(\"x\", s); } }",
        "fn crawl(url) { let s = \"xxxxxxxxxxxxxxxx\"; loop { s = `${s}${s}`; } }",
        "fn crawl(url) { let s = \"xxxxxxxxxxxxxxxx\"; loop { s.replace('x', s); } }",
        "fn crawl(url) { let a = [\"x\"]; loop { a = a.map(|s| s + s + s + s); } }",
        "fn crawl(url) { let a = [1, 2]; loop { a.append(a); } }",
        "fn crawl(url) { let a = [1, 2]; loop { a.insert(0, a); } }",
        "fn crawl(url) { let a = []; a.pad(900, \"x\"); let s = \"\"; loop { s += a.to_string(); } }",
    ];
    let worker = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for text in attempts {
            let why = says(text, "http://a.test/").expect_err(text);
            assert!(why.contains("was stopped"), "{text}: {why}");
        }
    });
    worker.unwrap().join().unwrap();
    let peak = peak_memory_mb();
    assert!(peak < 200, "{peak} MB at the most");
}

#[cfg(target_os = "linux")]
fn peak_memory_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[cfg(not(target_os = "linux"))]
fn peak_memory_mb() -> u64 {
    0
}

#[test]
fn calls_leave_nothing_behind_and_many_threads_may_ask() {
    let filter = filter(script("fn crawl(url) { let n = 0; n += url.depth; n == 2 }"));
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for (url, want) in
                    [("http://a.test/b/c", Verdict::Yes), ("http://a.test/", Verdict::No)]
                {
                    let url = CanonicalUrl::parse(url).unwrap();
                    for _ in 0..200 {
                        assert_eq!(filter.judge(&url, &SUFFIXES, Known::default()).verdict, want);
                    }
                }
            });
        }
    });
}
