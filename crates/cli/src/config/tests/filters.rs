//! Filters as they are written: every rule, names of names, and mistakes with file and line.

use super::*;
use argiope_filter::Rule;
use std::path::Path;

/// Files beside each other, the configuration among them; what is said of the first is that of
/// `crawl.filter`.
fn load_files(files: &[(&str, &str)], flag: Option<&str>) -> Result<Loaded, String> {
    let here = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(here.path().join(name), text).unwrap();
    }
    let nowhere = here.path().join("data");
    let strip = format!("{}/", here.path().display());
    let word = |word: &str| match word.contains('.') {
        true => here.path().join(word).display().to_string(),
        false => word.to_owned(),
    };
    let own: Vec<Override> =
        flag.map(|flag| ("crawl.filter", word(flag), "--filter")).into_iter().collect();
    load_beside(here.path(), None, &nowhere, Flags { own: &own, set: &[] })
        .map_err(|e| e.to_string().replace(&strip, ""))
}

/// What a filter of the configuration stands for.
fn rule(text: &str) -> Rule {
    let loaded = load_files(&[(FILE_NAME, text)], Some("it")).unwrap_or_else(|e| panic!("{e}"));
    loaded.filter.flatten().expect("a filter").rule
}

fn list(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn every_rule_can_be_written_and_several_lines_must_all_hold() {
    let got = rule(
        r#"
        [filters.it]
        domain = ["Example.ORG", "*.bücher.example"]
        prefix = "https://example.org/docs/"
        suffix = [".html", "/"]
        protocol = "https"
        regex = '/\d+'
        min_path_depth = 1
        max_path_depth = 5
        param = "id"
        no_param = ["sort", "utm_*"]
        max_params = 3
        only_params = ["id", "page"]
        type = ["html", "Image/PNG"]
        min_size = 10
        max_size = "2MB"
        language = ["EN", "unknown"]
        "#,
    );
    let Rule::All(rules) = got else { panic!("{got:?}") };
    let wanted = [
        Rule::Domain(list(&["example.org", "xn--bcher-kva.example"])),
        Rule::Prefix(list(&["https://example.org/docs/"])),
        Rule::Suffix(list(&[".html", "/"])),
        Rule::Protocol(list(&["https"])),
        Rule::Regex(list(&["/\\d+"])),
        Rule::MinPathDepth(1),
        Rule::MaxPathDepth(5),
        Rule::Param(list(&["id"])),
        Rule::Not(Box::new(Rule::Param(list(&["sort", "utm_*"])))),
        Rule::MaxParams(3),
        Rule::OnlyParams(list(&["id", "page"])),
        Rule::Type(list(&["html", "image/png"])),
        Rule::MinSize(10),
        Rule::MaxSize(2_000_000),
        Rule::Language(list(&["en", "unknown"])),
    ];
    assert_eq!(rules, wanted);
}

#[test]
fn rules_lie_within_rules_and_names_stand_for_rules() {
    let text = r#"
        [filters.it]
        any = [{ domain = "a.test" }, { all = ["noise", { max_params = 1 }] }]
        [filters.noise]
        not = ["deeper", { suffix = "/print" }]
        [filters.deeper]
        param = "sort"
        [[filters.tables.all]]
        protocol = "https"
        [[filters.tables.all]]
        filter = ["noise", "deeper"]
    "#;
    let named = |name: &str, rule| Rule::Named { name: name.to_owned(), rule: Box::new(rule) };
    let deeper = || named("deeper", Rule::Param(list(&["sort"])));
    let noise = || {
        let both = Rule::Any(vec![deeper(), Rule::Suffix(list(&["/print"]))]);
        named("noise", Rule::Not(Box::new(both)))
    };
    let wanted = Rule::Any(vec![
        Rule::Domain(list(&["a.test"])),
        Rule::All(vec![noise(), Rule::MaxParams(1)]),
    ]);
    assert_eq!(rule(text), wanted);
    let loaded = load_files(&[(FILE_NAME, text)], Some("tables")).unwrap();
    let both = Rule::Any(vec![noise(), deeper()]);
    let wanted = Rule::All(vec![Rule::Protocol(list(&["https"])), both]);
    assert_eq!(loaded.filter.flatten().unwrap().rule, wanted);
}

#[test]
fn lists_and_scripts_are_read_from_files_beside_and_kept_whole() {
    let files = [
        (
            FILE_NAME,
            "[crawl]\nfilter = 'it'\n[filters.it]\ndomain_file = 'list.txt'\nscript = 'my.rhai'\n",
        ),
        ("list.txt", "# targets\nb.test\na.test  # twice\n\nA.test\n"),
        ("my.rhai", "fn crawl(url) { url.depth < 3 }"),
    ];
    let loaded = load_files(&files, None).unwrap();
    let script = Rule::Script {
        name: "my.rhai".to_owned(),
        text: "fn crawl(url) { url.depth < 3 }".to_owned(),
    };
    let wanted = Rule::All(vec![Rule::Domain(list(&["a.test", "b.test"])), script.clone()]);
    assert_eq!(loaded.filter.flatten().unwrap().rule, wanted);
    // A script may be the filter, and a file of its own may use names of the configuration.
    let loaded = load_files(&files, Some("my.rhai")).unwrap();
    assert_eq!(loaded.filter.flatten().unwrap().rule, script);
    let files = [
        (FILE_NAME, "[filters.here]\nmax_params = 1\n"),
        ("own.toml", "filter = 'here'\nnot = 'there'\n[filters.there]\nparam = 'x'\n"),
    ];
    let loaded = load_files(&files, Some("own.toml")).unwrap();
    let Rule::All(rules) = loaded.filter.flatten().unwrap().rule else { panic!("two rules") };
    assert_eq!(rules.len(), 2);
}

#[test]
fn mistakes_are_told_with_file_and_line_and_what_to_write() {
    for (text, said) in [
        (
            "[filters.a]\ndomian = 'x'\n",
            "argiope.toml:2: domian is not a rule of a filter; did you mean domain?",
        ),
        (
            "[filters.a]\nfilter = 'b'\n[filters.b]\nall = ['c']\n[filters.c]\nnot = 'a'\n",
            "filters lead in a circle: ",
        ),
        ("[filters.a]\nnot = 'a'\n", "argiope.toml:2: filters lead in a circle: a > a"),
        (
            "[filters.noise]\nmax_params = 1\n[filters.a]\nnot = 'nosie'\n",
            "argiope.toml:4: there is no filter \"nosie\"; did you mean noise?",
        ),
        (
            "[filters.a]\nregex = 'a(b'\n",
            "argiope.toml:2: regex \"a(b\" is not an expression: unclosed group",
        ),
        (
            "[filters.a]\nprefix = 'docs/'\n",
            "argiope.toml:2: prefix \"docs/\" begins neither with https:// nor with /",
        ),
        (
            "[filters.a]\nprotocol = 'ftp'\n",
            "argiope.toml:2: protocol \"ftp\" is not http or https",
        ),
        ("[filters.a]\nmax_size = 'big'\n", "argiope.toml:2: max_size is "),
        ("[filters.a]\nmax_params = -1\n", "argiope.toml:2: max_params is not a whole number"),
        ("[filters.a]\ndomain = []\n", "argiope.toml:2: domain is empty"),
        ("[filters.a]\ndomain = ['a b']\n", "argiope.toml:2: domain \"a b\" is not a domain"),
        (
            "[filters.a]\ntype = 'a/b/c'\n",
            "argiope.toml:2: type \"a/b/c\" is not a kind of content",
        ),
        (
            "[filters.a]\nlanguage = 'english'\n",
            "argiope.toml:2: language \"english\" is not a language",
        ),
        ("[filters.a]\nany = []\n", "argiope.toml:2: any needs a rule"),
        ("[filters.a]\nany = [1]\n", "argiope.toml:2: any holds rules in braces"),
        ("[filters.a]\n", "argiope.toml:1: a filter without a rule"),
        ("[filters]\na = 1\n", "argiope.toml:2: filters.a is not a table"),
        ("[filters.none]\nmax_params = 1\n", "argiope.toml:1: none means no filter"),
        ("[filters.a]\ndomain_file = 'no.txt'\n", "argiope.toml:2: no.txt: no such file"),
        ("[filters.a]\n\n\nscript = 'no.rhai'\n", "argiope.toml:4: no.rhai: no such file"),
        (
            "[crawl]\nfilter = 'nosie'\n",
            "argiope.toml:2: crawl.filter = 'nosie' is not known: there is no filter \"nosie\"",
        ),
        ("[crawl]\npreset = 'new'\n", "did you mean news?"),
    ] {
        let told = load_files(&[(FILE_NAME, text)], None).expect_err(text);
        assert!(told.contains(said), "{text}: {told}");
        assert!(told.starts_with("argiope.toml:"), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
    let scripts = [
        (FILE_NAME, "[filters.a]\nscript = 'bad.rhai'\n"),
        ("bad.rhai", "fn crawl(url) {\n  url.depth >\n}\n"),
    ];
    let told = load_files(&scripts, None).expect_err("a script that cannot be read");
    assert!(told.starts_with("bad.rhai:3: "), "{told}");
    let lists = [(FILE_NAME, "[filters.a]\ndomain_file = 'l.txt'\n"), ("l.txt", "a.test\nb c\n")];
    let told = load_files(&lists, None).expect_err("a list that cannot be read");
    assert_eq!(told, "l.txt:2: \"b c\" is not a domain");
    for (name, text, said) in [
        ("own.toml", "domain = \n", "own.toml:1:"),
        ("own.toml", "dom = 'x'\n", "own.toml:1: dom is not a rule"),
        ("own.toml", "", "own.toml:1: a filter without a rule"),
        ("own.toml", "all = ['nowhere']\n", "own.toml:1: there is no filter \"nowhere\""),
        ("my.rhai", "\nfn crawl(url) { hots }", "my.rhai:2: "),
    ] {
        let told = load_files(&[(name, text)], Some(name)).expect_err(text);
        assert!(told.starts_with(said), "{told}");
    }
    assert_eq!(load_files(&[], Some("no.toml")).unwrap_err(), "no.toml: no such file");
    assert_eq!(load_files(&[], Some("no.rhai")).unwrap_err(), "no.rhai: no such file");
    let told = load_files(&[], Some("forms")).unwrap_err();
    assert!(
        told.starts_with("--filter forms is not known: ") && told.contains("did you mean forums?"),
        "{told}"
    );
}

#[test]
fn a_preset_holds_where_nobody_says_anything_else() {
    let origin = |loaded: &Loaded, key: &str| {
        let row = loaded.rows().iter().find(|row| row.key == key).unwrap();
        (row.value.clone(), row.origin.clone())
    };
    let flag = ("crawl.preset", "docs".to_owned(), "--preset");
    let alone = load_text(b"", std::slice::from_ref(&flag)).unwrap();
    assert_eq!(origin(&alone, "crawl.scope"), ("prefix".to_owned(), "preset docs".to_owned()));
    assert_eq!(alone.filter.as_ref().unwrap().as_ref().unwrap().name, "docs");
    // A file that repeats every default says nothing.
    let repeated = load_text(template().as_bytes(), std::slice::from_ref(&flag)).unwrap();
    assert_eq!(repeated.settings, alone.settings);
    // Whoever says something else is heard, in the file and by a flag.
    let said =
        load_text(b"[crawl]\nscope = \"host\"\nfilter = \"none\"\n", std::slice::from_ref(&flag))
            .unwrap();
    assert_eq!(origin(&said, "crawl.scope").0, "host");
    assert!(matches!(said.filter, Some(None)), "no filter at all");
    let scope = ("crawl.scope", "domain".to_owned(), "--scope");
    let said = load_text(b"[crawl]\npreset = \"docs\"\n", &[scope]).unwrap();
    assert_eq!(origin(&said, "crawl.scope"), ("domain".to_owned(), "--scope".to_owned()));
    assert_eq!(origin(&said, "revisit.round").1, "preset docs");
    for preset in PRESETS {
        let flag = ("crawl.preset", preset.name.to_owned(), "--preset");
        let loaded = load_text(b"", &[flag]).unwrap_or_else(|e| panic!("{e}"));
        for (key, _) in preset.settings {
            assert_eq!(origin(&loaded, key).1, format!("preset {}", preset.name), "{key}");
        }
        assert!(preset.help.len() <= 90 && preset.help.ends_with('.'), "{}", preset.help);
    }
}

#[test]
fn presets_leave_out_copies_and_doors_and_no_page() {
    let suffixes = argiope_model::Suffixes::built_in();
    for (preset, good, bad) in [
        (
            "news",
            &[
                "/",
                "/2026/11/16/a-story.html",
                "/tag/spiders/",
                "/story?page=2",
                "/2026/why-we-register/",
                "/cartoons/1",
                "/politics/how-to-login-safely",
                "/comments/1234",
                "/s?utm_source=feed",
            ][..],
            &[
                "/login",
                "/user/login?next=/",
                "/story/print",
                "/story?share=x",
                "/cart/",
                "/story/amp/",
                "/story/comments/feed/",
                "/story?replytocom=7",
                "/account/sign-in",
            ][..],
        ),
        (
            "blogs",
            &[
                "/",
                "/2026/11/a-post/",
                "/tag/silk/",
                "/page/3/",
                "/?p=12",
                "/?m=202611",
                "/feed/",
                "/a-post/comment-page-2/",
                "/2026/05/login/",
            ],
            &[
                "/a-post/?replytocom=9",
                "/a-post/?share=mail",
                "/wp-login.php?action=x",
                "/wp-admin/edit.php",
                "/a-post/trackback/",
                "/wp-json/wp/v2/posts",
                "/a-post.html?m=1",
            ],
        ),
        (
            "forums",
            &[
                "/",
                "/viewtopic.php?f=2&t=17",
                "/viewtopic.php?f=2&t=17&start=20",
                "/viewforum.php?f=2",
                "/index.php?topic=5.0",
                "/t/a-topic/17?page=2",
                "/threads/search-engines.12/",
                "/showthread.php?t=3",
                "/index.php?action=profile;u=1",
                "/t/print-quality/5",
            ],
            &[
                "/viewforum.php?f=2&sk=t&sort=a",
                "/posting.php?mode=reply&f=2&t=17",
                "/ucp.php?mode=login",
                "/search.php?keywords=x",
                "/index.php?action=search",
                "/memberlist.php",
                "/threads/a.1/reply",
                "/showthread.php?t=3&mode=print",
                "/index.php?action=login",
                "/threads/a.1/unread",
                "/printthread.php?t=3",
                "/viewtopic.php?t=17&view=unread",
                "/f/?order=desc",
            ],
        ),
        (
            "docs",
            &[
                "/",
                "/guide/install.html",
                "/genindex.html",
                "/api/search_index.html",
                "/login.html",
                "/_modules/a/b.html",
                "/latest/searching/",
            ],
            &[
                "/search.html?q=x",
                "/search",
                "/guide/?highlight=web",
                "/_sources/index.rst.txt",
                "/en/latest/_sources/a.rst.txt",
                "/w/index.php?title=A&oldid=7",
            ],
        ),
    ] {
        let saved = Book::built_in().find(preset, Path::new("")).unwrap();
        let filter = argiope_filter::Filter::new(&saved).unwrap();
        let takes = |path: &str| {
            let url = format!("https://www.example.org{path}");
            let url = argiope_model::CanonicalUrl::parse(&url).unwrap();
            let judged = filter.judge(&url, &suffixes, Default::default());
            judged.verdict == argiope_filter::Verdict::Yes
        };
        good.iter().for_each(|path| assert!(takes(path), "{preset} should take {path}"));
        bad.iter().for_each(|path| assert!(!takes(path), "{preset} should not take {path}"));
    }
}
