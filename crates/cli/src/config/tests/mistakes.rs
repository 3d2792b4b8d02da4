//! Wrong configurations: every mistake is refused, in its line, with what to write instead.

use super::*;

fn complaints(text: &str) -> Vec<String> {
    match load_text(text.as_bytes(), &[]) {
        Ok(_) => Vec::new(),
        Err(error) => error.lines().map(str::to_owned).collect(),
    }
}

fn flag_complaints(overrides: &[Override]) -> Vec<String> {
    let error = load_text(b"", overrides).expect_err("the flags are wrong");
    error.lines().map(str::to_owned).collect()
}

#[test]
fn every_setting_misspelt_by_a_letter_is_refused_with_its_right_name() {
    for key in KEYS {
        let letters: Vec<char> = key.leaf().chars().collect();
        for n in 0..letters.len() {
            let mut missing = letters.clone();
            missing.remove(n);
            let mut doubled = letters.clone();
            doubled.insert(n, letters[n]);
            let mut wrong = letters.clone();
            wrong[n] = 'x';
            let mut swapped = letters.clone();
            swapped.swap(n, (n + 1) % letters.len());
            for slip in [missing, doubled, wrong, swapped] {
                let slip: String = slip.into_iter().collect();
                if slip == key.leaf() || slip.len() < 3 {
                    continue;
                }
                let (table, leaf) = (key.table(), key.leaf());
                let expected =
                    format!("{table}.{slip} is not a setting; did you mean {table}.{leaf}?");
                let found = complaints(&format!("[{table}]\n{slip} = 1\n"));
                assert_eq!(found, [format!("argiope.toml:2: {expected}")]);
            }
        }
    }
}

#[test]
fn all_mistakes_of_a_file_are_told_with_their_lines() {
    let text = "\
delay = \"5s\"
[crawl]
delay = \"tenn\"
dealy = \"10s\"
connections = 0
scope = \"domian\"
order = 3
retries = \"3\"
types = []
domains = [\"https://a.test/\"]
max_pages = 0
workers = 2.5
[fetch]
connections = 5
allow_private = \"yes\"
contact = \"gr\u{fc}n\"
connect_timeout = \"50ms\"
[store]
memory = \"64MB\"
flux_compensator = 1
[archve]
enabled = true
";
    assert_eq!(
        complaints(text),
        [
            "argiope.toml:1: delay is not a setting; did you mean crawl.delay?",
            r#"argiope.toml:3: crawl.delay = "tenn" is not a duration; write for example "10s" or "500ms""#,
            "argiope.toml:4: crawl.dealy is not a setting; did you mean crawl.delay?",
            "argiope.toml:5: crawl.connections = 0 is out of range; allowed are 1 to 65535",
            r#"argiope.toml:6: crawl.scope = "domian" is not one of host, domain, prefix, list, any; did you mean domain?"#,
            "argiope.toml:7: crawl.order = 3 is not one of breadth, depth, best; write it in quotes",
            r#"argiope.toml:8: crawl.retries = "3" is not a whole number; write it without quotes"#,
            r#"argiope.toml:9: crawl.types = [] is empty; write for example ["html", "text"]"#,
            r#"argiope.toml:10: crawl.domains = ["https://a.test/"] holds something that is not a domain (item 1); write for example ["example.com"]"#,
            "argiope.toml:11: crawl.max_pages = 0 is too small; the minimum is 1; without the line there is no limit",
            "argiope.toml:12: crawl.workers = 2.5 is not a whole number",
            "argiope.toml:14: fetch.connections is not a setting; did you mean crawl.connections?",
            r#"argiope.toml:15: fetch.allow_private = "yes" is not true or false"#,
            "argiope.toml:16: fetch.contact = \"gr\u{fc}n\" holds characters a request cannot carry; use one line of plain ASCII",
            r#"argiope.toml:17: fetch.connect_timeout = "50ms" is out of range; allowed are 100ms to 1d"#,
            r#"argiope.toml:19: store.memory = "64MB" is too small; the minimum is 128MB"#,
            "argiope.toml:20: store.flux_compensator is not a setting; [store] has memory, lease",
            "argiope.toml:21: [archve] is not a table of settings; did you mean [archive]?",
        ]
    );
}

#[test]
fn mistakes_in_lists_and_addresses_are_told_with_their_lines() {
    let text = "\
[crawl]
robots = \"obay\"
address_gap = \"soon\"
address_exempt = [\"cdn\", \"192.0.2.0/33\"]
max_redirects = 51
max_bytes = 0
[fetch]
max_headers = \"1KB\"
dns_servers = [\"dns.test\"]
hosts = [\"a.test=192.0.2.7\", \"b.test\"]
proxy = \"ftp://me:secret@proxy.test\"
extra_ca = [\"nowhere.pem\", \"\"]
";
    assert_eq!(
        complaints(text),
        [
            r#"argiope.toml:2: crawl.robots = "obay" is not one of obey, ignore; did you mean obey?"#,
            r#"argiope.toml:3: crawl.address_gap = "soon" is not a duration; write for example "10s" or "500ms", or "auto""#,
            r#"argiope.toml:4: crawl.address_exempt = ["cdn", "192.0.2.0/33"] holds something that is not a network (item 2); write for example ["cdn", "192.0.2.0/24"]"#,
            "argiope.toml:5: crawl.max_redirects = 51 is out of range; allowed are 0 to 50",
            "argiope.toml:6: crawl.max_bytes = 0 is too small; the minimum is 1B; without the line there is no limit",
            r#"argiope.toml:8: fetch.max_headers = "1KB" is too small; the minimum is 8KB"#,
            r#"argiope.toml:9: fetch.dns_servers = ["dns.test"] holds something that is not the address of a name server (item 1); write for example ["192.0.2.53", "[2001:db8::53]:5353"]"#,
            r#"argiope.toml:10: fetch.hosts = ["a.test=192.0.2.7", "b.test"] holds something that is not a name and its address (item 2); write for example ["example.com=192.0.2.7"]"#,
            r#"argiope.toml:11: fetch.proxy = "ftp://me:***@proxy.test" cannot be used: a proxy begins with http:// or socks5://; without the line servers are asked directly"#,
            r#"argiope.toml:12: fetch.extra_ca = ["nowhere.pem", ""] names a file that cannot be read (item 1): nowhere.pem"#,
        ]
    );
}

#[test]
fn a_password_is_in_no_complaint() {
    for text in [
        "proxy = \"http://me:secret@\"",
        "proxy = \"http://me:secret\\u0040proxy.test:99999\"",
        "proxy = ['http://me:secret@proxy.test']",
        "proxy = \"http://me:secret@proxy.test\"\nproxy = \"http://me:secret@proxy.test\"",
        "proxy = \"http://me:secret@proxy.test",
    ] {
        let said = complaints(&format!("[fetch]\n{text}\n")).join("\n");
        assert!(!said.is_empty() && !said.contains("secret"), "{said}");
    }
    let error = load_set(b"", &["fetch.proxy=me:secret@proxy.test"]).unwrap_err();
    assert!(error.to_string().starts_with("--set fetch.proxy=me:***@proxy.test cannot be used"));
}

#[test]
fn mistakes_behind_a_syntax_error_are_told_too() {
    let text = "\
[crawl]
delay = 10s
order = \"deep\"
delay = \"1s\"
delay = \"2s\"
[fetch
max_body = 1
[store]
memory = 1
[crawl]
scope = 1
[archive]
enabled = 1
";
    let found = complaints(text);
    let places: Vec<_> = found.iter().map(|l| l.split(' ').next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "argiope.toml:2:9:",
            "argiope.toml:3:",
            "argiope.toml:5:",
            "argiope.toml:6:7:",
            "argiope.toml:9:",
            "argiope.toml:10:",
            "argiope.toml:13:",
        ],
        "{found:#?}"
    );
    assert_eq!(found[2], "argiope.toml:5: crawl.delay is written twice; the first is in line 4");
    assert_eq!(found[5], "argiope.toml:10: crawl is written twice; the first is in line 1");
}

#[test]
fn an_open_list_does_not_blame_the_lines_behind_it() {
    let found = complaints("[crawl]\ntypes = [\"html\"\norder = \"depth\"\nscope = \"any\"\n");
    assert_eq!(found.len(), 1, "{found:#?}");
}

#[test]
fn tables_and_settings_are_not_taken_for_each_other() {
    assert_eq!(
        complaints("crawl = 5"),
        ["argiope.toml:1: crawl is a table; write [crawl] alone on a line"]
    );
    let setting = "crawl.delay is a setting, not a table; write delay = … below [crawl]";
    for text in ["[crawl.delay]\nx = 1", "[[crawl.delay]]", "[crawl]\ndelay = { s = 1 }"] {
        let found = complaints(text);
        assert!(found[0].ends_with(setting) && found.len() == 1, "{found:?}");
    }
    assert!(complaints("[[crawl]]")[0].contains("crawl is a table"));
    assert!(complaints("[delay]")[0].contains("did you mean the setting crawl.delay?"));
    assert!(complaints("crawl.delay = 5\nfetch = { contact = \"a@b.test\" }").is_empty());
}

#[test]
fn settings_that_clash_are_refused_at_the_one_written_last() {
    assert_eq!(
        complaints("[crawl]\nconnections = 2\nconnections_per_host = 4"),
        [
            "argiope.toml:2: crawl.connections = 2 is less than crawl.connections_per_host = 4 (argiope.toml:3)"
        ]
    );
    assert_eq!(
        complaints("[fetch]\nconnect_timeout = \"2m\""),
        [
            "argiope.toml:2: fetch.connect_timeout = \"2m\" is more than fetch.page_timeout = \"60s\" (default)"
        ]
    );
    assert_eq!(
        complaints("[crawl]\nbackoff = \"2h\""),
        [
            "argiope.toml:2: crawl.backoff = \"2h\" is more than crawl.backoff_max = \"1h\" (default)"
        ]
    );
    let both = [
        ("crawl.connections", "2".to_owned(), "--connections"),
        ("crawl.connections_per_host", "3".to_owned(), "--connections-per-host"),
    ];
    assert_eq!(flag_complaints(&both), ["--connections 2 is less than --connections-per-host 3"]);
}

#[test]
fn flags_are_refused_by_their_own_name_and_do_not_hide_the_file() {
    assert_eq!(
        flag_complaints(&[("crawl.delay", "tenn".to_owned(), "--delay")]),
        [r#"--delay tenn is not a duration; write for example "10s" or "500ms""#]
    );
    assert_eq!(
        flag_complaints(&[("crawl.types", String::new(), "--types")]),
        [r#"--types "" is empty; write for example ["html", "text"]"#]
    );
    let over = [("crawl.delay", "1s".to_owned(), "--delay")];
    let error = load_text(b"[crawl]\ndelay = true", &over).unwrap_err();
    assert!(error.to_string().starts_with("argiope.toml:2: crawl.delay = true is not a duration"));
}

#[test]
fn set_is_refused_as_the_file_is() {
    let said = |set: &[&str]| {
        let error = load_set(b"", set).expect_err("the settings are wrong");
        error.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        said(&["crawl.dealy=5s", "crawl.delay=tenn", "delay", "zzz.zzz=1", "crawl.retries='3'"]),
        [
            "--set: crawl.dealy is not a setting; did you mean crawl.delay?",
            "--set delay is not KEY=VALUE; write for example crawl.delay=5s",
            "--set: zzz.zzz is not a setting; settings stand in the tables crawl, revisit, news, fetch, store, archive, retention, index, metrics",
            r#"--set crawl.delay=tenn is not a duration; write for example "10s" or "500ms""#,
            "--set crawl.retries='3' is not a whole number; write it without quotes",
        ]
    );
    assert_eq!(
        said(&["crawl.connections=2", "crawl.connections_per_host=3"]),
        ["--set crawl.connections=2 is less than --set crawl.connections_per_host=3"]
    );
    let own = [("crawl.delay", "1s".to_owned(), "--delay")];
    let set = ["crawl.delay=2s".to_owned()];
    let error = load_with(b"", Flags { own: &own, set: &set }).unwrap_err();
    let twice = "--set crawl.delay=2s and --delay 1s set the same; give one of them";
    assert_eq!(error.to_string(), twice);
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_reason() {
    let here = tempfile::tempdir().unwrap();
    let said =
        |path: &Path| load(Some(path), here.path(), Flags::default()).unwrap_err().to_string();
    assert!(said(&here.path().join("none.toml")).ends_with("none.toml: no such file"));
    assert!(said(here.path()).ends_with("cannot be read: it is a directory"));
    let file = here.path().join("a.toml");
    std::fs::write(&file, b"[crawl]\n# caf\xe9\n").unwrap();
    assert!(said(&file).ends_with("a.toml:2:6: this is not UTF-8 text; save it as UTF-8"));
    std::fs::write(&file, vec![b'#'; 1_000_001]).unwrap();
    assert!(said(&file).ends_with("too large for a configuration file (1 MB)"));
}

#[test]
fn garbage_is_refused_or_read_but_never_panics() {
    let mut seed = 42u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    let whole = template();
    let pieces = [
        "[",
        "]",
        "[[",
        "]]",
        "=",
        "\"",
        "\"\"\"",
        "'",
        "'''",
        "{",
        "}",
        ",",
        ".",
        "\n",
        "\r\n",
        "\r",
        " ",
        "#",
        "crawl",
        "delay",
        "\u{feff}",
        "ß",
        "\0",
        "1",
        "-",
        "inf",
        "nan",
        "1e999",
        "1979-05-27",
        "true",
        "\\u0000",
        "\\",
        "[crawl]\n",
        "delay = 1\n",
        "a.b.c",
        "99999999999999999999",
        "\u{1b}[31m",
        "\"\" = 1\n",
        "\"\\u001b\" = 1\n",
    ];
    for round in 0..1_500 {
        let mut text = if round % 2 == 0 { whole.clone().into_bytes() } else { Vec::new() };
        for _ in 0..=random(20) {
            let at = random(text.len() + 1);
            match random(4) {
                0 if at < text.len() => text[at] = u8::try_from(random(256)).unwrap(),
                1 if at < text.len() => {
                    let end = (at + random(40)).min(text.len());
                    text.drain(at..end);
                }
                _ => {
                    let piece = pieces[random(pieces.len())].bytes();
                    text.splice(at..at, piece);
                }
            }
        }
        if let Err(error) = load_text(&text, &[]) {
            let said = error.to_string();
            assert!(!said.contains(['\u{1b}', '\0', '\r']), "{said:?}");
        }
    }
}
