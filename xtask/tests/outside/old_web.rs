//! A site as sites once were, behind TLS: frames, image maps, pages made from query strings,
//! refreshes. All its pages are found and nothing else is asked for.

use crate::certificates::Authority;
use crate::rig::{CRAWL_LIMIT, Rig, count, summary};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;
use xtask::nginx::Nginx;

/// Every page of the site and what stands on it. A name with `?id=` is a dynamic page.
const PAGES: &[(&str, &str)] = &[
    (
        "/index.html",
        "<frameset cols='20%,80%'><frame src='menu.html'><frame src=\"top/main.html\">\
         <noframes><body><a href='plain.html'>without frames</a></body></noframes></frameset>",
    ),
    ("/menu.html", "<a href='map.html' target=main>map</a><iframe src='inner.html'></iframe>"),
    ("/plain.html", "<a href='HTTPS://SITE.TEST:{port}/item?id=1'>item</a>"),
    ("/inner.html", "<meta http-equiv=Refresh content='5; URL=after.html'>wait"),
    ("/after.html", "<link rel=next href='next.html'><a href='#top'>top</a>"),
    ("/next.html", "<base href='/far/'><a href='away.html'>moved base</a>"),
    ("/far/away.html", "<a href='../map.html'>back</a>"),
    (
        "/top/main.html",
        "<a href='../item?id=2&amp;lang=en'>two</a><a href='../item?id=2&lang=de'>zwei</a>\
         <form action='/search.html' method=post><input name=q></form>\
         <form action='/found.html'><input name=q></form>",
    ),
    (
        "/map.html",
        "<img src='map.gif' usemap='#m'><map name=m><area shape=rect coords='0,0,9,9' \
         href='area/north.html'><AREA SHAPE=default HREF=area/south.html><area nohref></map>\
         <object data='movie.swf' type='application/x-shockwave-flash'></object>\
         <embed src='sound.mid'><applet code='Clock.class' archive='clock.jar'></applet>\
         <a href='javascript:void(0)'>script</a><a href='mailto:nobody@localhost'>mail</a>\
         <a href='ftp://localhost/'>files</a>",
    ),
    ("/area/north.html", "<a href='/item?id=3'>three</a><a href='/item?id=1'>one again</a>"),
    ("/area/south.html", "<a href=\"/item?id=&quot;\">odd</a>"),
    ("/item?id=1", "first"),
    ("/item?id=2&lang=en", "second"),
    ("/item?id=2&lang=de", "zweite"),
    ("/item?id=3", "<a href='?id=4'>next</a>"),
    ("/item?id=4", "<a href='?id=1'>round</a>"),
    ("/item?id=%22", "quoted"),
];

/// What stands around on the server and is no page of the site.
const OTHERS: &[&str] =
    &["/search.html", "/found.html", "/movie.swf", "/sound.mid", "/Clock.class", "/clock.jar"];

#[test]
fn frames_image_maps_and_dynamic_pages_behind_tls_are_crawled_whole() -> Result<()> {
    let Some(rig) = Rig::new("old-web", &["nginx", "openssl"])? else { return Ok(()) };
    let authority = Authority::new(&rig.dir)?;
    authority.sign("site", "DNS:site.test", 2020..2045)?;
    let port = TcpListener::bind("127.0.2.51:0")?.local_addr()?.port();
    let root = rig.folder("site")?;
    write_site(&root, port)?;
    // A dynamic page is a file whose name holds the query.
    let settings = format!(
        "listen 127.0.2.51:{port} ssl; {} location = /item {{ default_type text/html; \
         try_files /items/$query_string =404; }}",
        authority.nginx("site")
    );
    let nginx = Nginx::serve(&root, &rig.dir, &settings)?;

    let start = format!("https://site.test:{port}/index.html");
    let host = "fetch.hosts=site.test=127.0.2.51";
    let trust = format!("fetch.extra_ca={}", authority.file());
    let told = rig.crawl("data", &[&start, "--set", &trust, "--set", host])?;
    let wanted: BTreeSet<&str> = PAGES.iter().map(|(path, _)| *path).collect();
    let hits = nginx.pages()?;
    let got: BTreeSet<&str> = hits.iter().map(|hit| hit.uri.as_str()).collect();
    let (lost, extra): (Vec<_>, Vec<_>) =
        (wanted.difference(&got).collect(), got.difference(&wanted).collect());
    ensure!(lost.is_empty() && extra.is_empty(), "not asked for {lost:?}, too much {extra:?}");
    ensure!(hits.len() == wanted.len(), "something was asked for twice: {hits:?}");
    ensure!(hits.iter().all(|hit| hit.status == 200 && hit.method == "GET"), "{hits:?}");
    ensure!(count(&told, "fetched")? as usize == PAGES.len(), "the summary says {told}");
    rig.verify("data")?;

    // Without the authority the same certificate is a stranger's.
    let done = rig.start_crawl("wary", &[&start, "--set", host])?;
    let told = summary(&done.wait(CRAWL_LIMIT)?.ok().context("the wary crawl")?)?;
    ensure!(count(&told, "fetched")? == 0, "a page came over an untrusted connection: {told}");
    let row = rig.doc("wary", &start)?;
    ensure!(row["outcome"] == "tls-failed", "doc says {row}");
    Ok(())
}

fn write_site(root: &Path, port: u16) -> Result<()> {
    let others = OTHERS.iter().map(|path| (*path, "nothing"));
    for (path, body) in PAGES.iter().copied().chain(others) {
        let file = match path.split_once("?") {
            Some((_, query)) => root.join("items").join(query),
            None => root.join(&path[1..]),
        };
        std::fs::create_dir_all(file.parent().context("a page lies in a folder")?)?;
        let body = body.replace("{port}", &port.to_string());
        std::fs::write(&file, format!("<html><title>{path}</title>{body}</html>"))?;
    }
    Ok(())
}
