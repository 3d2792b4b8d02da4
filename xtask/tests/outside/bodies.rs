//! Bodies pass through byte-exact, and large ones do not grow the memory.

use crate::rig::{CRAWL_LIMIT, Rig, SHORT_LIMIT, files_ending, skip, summary};
use crate::sites::Dice;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;
use xtask::nginx::Nginx;
use xtask::{process, tools};

const LARGE: usize = 100_000_000;
const MEMORY: u64 = 256 << 20;

#[test]
fn bodies_of_100_mb_are_stored_exactly_inside_256_mb_of_memory() -> Result<()> {
    let Some(rig) = Rig::new("bodies", &["nginx"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    let files = site(&root)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    std::fs::write(rig.dir.join("argiope.toml"), "[store]\nmemory = \"256MB\"\n")?;
    let start = format!("{}/index.html", nginx.origin);
    let args = ["--types", "all", "--connections-per-host", "4", &start];
    let args = [&["--config", "argiope.toml"], Rig::crawl_args(&args).as_slice()].concat();
    let mut command = rig.argiope("data", &args);
    let done = process::run(&mut command, &rig.dir, "crawl", CRAWL_LIMIT)?.ok().context("crawl")?;
    summary(&done)?;
    let peak_mb = done.peak_anon >> 20;
    ensure!(done.peak_anon > 0, "the crawl's memory was never seen");
    ensure!(done.peak_anon <= MEMORY, "{peak_mb} MB of anonymous memory, more than 256");
    rig.verify("data")?;

    for name in &files {
        let url = format!("{}/{name}", nginx.origin);
        let shown = rig.run("data", &["show", &url, "--raw"])?.ok().context("show")?;
        same(&shown.out, &root.join(name)).with_context(|| format!("show {name}"))?;
    }
    if tools::find("warcio").is_none() {
        return skip("the warcio part of bodies_of_100_mb", "warcio is not installed");
    }
    let out = rig.dir.join("exported");
    let out_text = out.to_string_lossy().into_owned();
    rig.run("data", &["export", "warc", "--out", &out_text])?.ok().context("export warc")?;
    for name in &files {
        let url = format!("{}/{name}", nginx.origin);
        let payload = rig.dir.join("payload");
        let mut command = python_of_warcio()?;
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/payload.py"));
        command.arg(&url).arg(&payload).args(files_ending(&out, ".warc.gz")?);
        process::run(&mut command, &rig.dir, "payload", SHORT_LIMIT)?.ok().context("payload")?;
        same(&payload, &root.join(name)).with_context(|| format!("export warc {name}"))?;
    }
    std::fs::remove_dir_all(&rig.dir).context("remove some hundred megabytes")
}

/// Two large files, one that compresses and one that does not, and small ones of many kinds.
fn site(root: &Path) -> Result<Vec<String>> {
    let mut dice = Dice::new(4);
    let even: Vec<u8> = b"the same line again\n".iter().copied().cycle().take(LARGE).collect();
    let bodies = [
        ("large-random.bin", dice.bytes(LARGE)),
        ("large-even.txt", even),
        ("paper.pdf", [b"%PDF-1.4\n".to_vec(), dice.bytes(70_001)].concat()),
        ("picture.png", [b"\x89PNG\r\n\x1a\n".to_vec(), dice.bytes(3_000_017)].concat()),
        ("empty.txt", Vec::new()),
        ("zeros.bin", vec![0; 1_048_577]),
    ];
    let mut index = String::from("<title>Files</title>");
    for (name, body) in &bodies {
        std::fs::write(root.join(name), body).with_context(|| format!("write {name}"))?;
        index.push_str(&format!("<a href=\"{name}\">{name}</a>"));
    }
    std::fs::write(root.join("index.html"), index)?;
    Ok(bodies.iter().map(|(name, _)| (*name).to_string()).collect())
}

fn same(got: &Path, wanted: &Path) -> Result<()> {
    let (got, wanted) = (std::fs::read(got)?, std::fs::read(wanted)?);
    let differs = got.iter().zip(&wanted).position(|(a, b)| a != b);
    ensure!(
        got == wanted,
        "{} bytes instead of {}, the first different one at {differs:?}",
        got.len(),
        wanted.len()
    );
    Ok(())
}

/// The Python that has warcio: the one beside it, or the system's.
fn python_of_warcio() -> Result<Command> {
    let warcio = tools::find("warcio").context("no warcio")?;
    let beside = warcio.with_file_name("python3");
    Ok(Command::new(if beside.is_file() { beside } else { "python3".into() }))
}
