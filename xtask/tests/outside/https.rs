//! Pages behind TLS: fetched when the certificate holds, refused with its reason when it does not.

use crate::rig::{CRAWL_LIMIT, Rig, count, summary};
use anyhow::{Context, Result, ensure};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use xtask::nginx::Nginx;
use xtask::process::{self, Running};

const PAGES: usize = 30;

#[test]
fn a_site_behind_tls_is_crawled_when_its_certificate_holds() -> Result<()> {
    let Some(rig) = Rig::new("https", &["nginx", "openssl"])? else { return Ok(()) };
    certificates(&rig.dir)?;
    let root = rig.folder("site")?;
    for page in 0..PAGES {
        let next = (page + 1) % PAGES;
        let html = format!("<title>{page}</title><a href=\"{next}.html\">next</a>");
        std::fs::write(root.join(format!("{page}.html")), html)?;
    }
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let settings = format!(
        "listen 127.0.0.1:{port} ssl; ssl_certificate {0}/site.pem; ssl_certificate_key {0}/site.key;",
        rig.dir.display()
    );
    let _nginx = Nginx::serve(&root, &rig.dir, &settings)?;
    let start = format!("https://localhost:{port}/0.html");

    let mut trusting = rig.argiope("trusting", &Rig::crawl_args(&[&start]));
    trusting.env("SSL_CERT_FILE", rig.dir.join("ca.pem")).env_remove("SSL_CERT_DIR");
    let done = Running::start(&mut trusting, &rig.dir, "trusting")?.wait(CRAWL_LIMIT)?.ok()?;
    let fetched = count(&summary(&done)?, "fetched")? as usize;
    ensure!(fetched == PAGES, "{fetched} of {PAGES} pages fetched");
    rig.verify("trusting")?;

    let stranger = rig.dir.join("stranger.pem");
    let mut wary = rig.argiope("wary", &Rig::crawl_args(&[&start]));
    wary.env("SSL_CERT_FILE", &stranger).env_remove("SSL_CERT_DIR");
    let done = Running::start(&mut wary, &rig.dir, "wary")?.wait(CRAWL_LIMIT)?.ok()?;
    ensure!(count(&summary(&done)?, "fetched")? == 0, "a page came over an untrusted connection");
    let row = rig.run("wary", &["--format", "json", "doc", &start])?.ok()?.out_text();
    let row: serde_json::Value = serde_json::from_str(row.trim()).context("doc is JSON")?;
    ensure!(row["outcome"] == "tls-failed", "doc says {row}");
    let why = row["detail"].as_str().unwrap_or_default();
    ensure!(why.contains("issuer is not known"), "the reason is not told: {why}");
    Ok(())
}

/// An authority with a certificate for localhost, and another authority that signed nothing.
fn certificates(dir: &Path) -> Result<()> {
    let openssl = |args: &str| {
        let mut command = Command::new("openssl");
        process::output(command.current_dir(dir).args(args.split_whitespace()))
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    for name in ["ca", "stranger"] {
        openssl(&format!(
            "req -x509 {key} -days 30 -subj /CN={name} -keyout {name}.key -out {name}.pem"
        ))?;
    }
    openssl(&format!("req {key} -subj /CN=localhost -keyout site.key -out site.csr"))?;
    std::fs::write(dir.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n")?;
    openssl(
        "x509 -req -in site.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names -out site.pem",
    )?;
    Ok(())
}
