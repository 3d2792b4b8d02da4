//! A link farm of a thousand sites and a million pages takes at most a twentieth of the requests of a crawl
//! that also has a hundred honest sites; and a cap on the pages of a site is exact.

use crate::farm::{Farm, Plan, Seen};
use crate::rig::{CRAWL_LIMIT, Rig, count, summary};
use anyhow::{Result, ensure};
use std::io::Write;
use std::time::{Duration, Instant};
use xtask::process::Running;

/// A web that is served, and how it is crawled.
struct Scene {
    rig: Rig,
    farm: Farm,
    honest: usize,
}

impl Scene {
    fn new(name: &str, plan: Plan, starts: &[&str]) -> Result<Option<Scene>> {
        let Some(rig) = Rig::new(name, &[])? else { return Ok(None) };
        let honest = plan.honest_pages() as usize;
        let farm = Farm::serve(plan)?;
        std::fs::write(rig.dir.join("seeds"), starts.join("\n"))?;
        let proxy = format!("proxy = \"http://{}\"", farm.address);
        let config = format!("[fetch]\n{proxy}\n[crawl]\naddress_gap = \"0s\"\n");
        std::fs::write(rig.dir.join("argiope.toml"), config)?;
        Ok(Some(Scene { rig, farm, honest }))
    }

    fn start(&self, data: &str, flags: &[&str]) -> Result<Running> {
        let always =
            ["--seeds", "seeds", "--scope", "any", "--no-index", "--no-links", "--no-archive"];
        let args = Rig::plain_args(&[&always, flags].concat());
        let args = [&["--config", "argiope.toml"], args.as_slice()].concat();
        Running::start(&mut self.rig.argiope(data, &args), &self.rig.dir, "crawl")
    }

    /// Crawls until so many honest pages were asked for, and kills the crawl then.
    fn until(&self, pages: usize, flags: &[&str]) -> Result<Seen> {
        let mut running = self.start("data", flags)?;
        let begun = Instant::now();
        let enough = || self.farm.seen().pages.len() >= pages;
        while !enough() && begun.elapsed() < CRAWL_LIMIT && running.is_running()? {
            std::thread::sleep(Duration::from_millis(5));
        }
        let seen = self.farm.seen();
        running.kill()?;
        ensure!(seen.pages.len() >= pages, "{} of {pages} honest pages", seen.pages.len());
        Ok(seen)
    }
}

/// Crawls until every honest page was asked for, and says what had been by then.
fn crawl(name: &str, plan: Plan, starts: &[&str], flags: &[&str]) -> Result<Option<Seen>> {
    let Some(scene) = Scene::new(name, plan, starts)? else { return Ok(None) };
    let seen = scene.until(scene.honest, flags)?;
    let _ = writeln!(
        std::io::stderr(),
        "{name}: {} honest requests, {} to the farm",
        seen.honest,
        seen.farm
    );
    Ok(Some(seen))
}

fn takes_a_twentieth_at_most(seen: Option<Seen>) -> Result<()> {
    let Some(seen) = seen else { return Ok(()) };
    let (farm, all) = (seen.farm, seen.farm + seen.honest);
    ensure!(farm * 20 <= all, "the farm took {farm} of {all} requests");
    Ok(())
}

const QUICK: [&str; 2] = ["--delay", "0s"];

fn homes(sites: usize) -> Vec<String> {
    (0..sites).map(|n| format!("http://honest{n}.test/")).collect()
}

#[test]
fn a_farm_that_is_a_start_url_itself_takes_a_twentieth_at_most() -> Result<()> {
    let starts = ["http://honest0.test/", "http://farm0.test/"];
    takes_a_twentieth_at_most(crawl("farm-start", Plan::linked(4), &starts, &QUICK)?)
}

#[test]
fn a_farm_with_five_entrances_takes_a_twentieth_at_most() -> Result<()> {
    let mut plan = Plan::linked(4);
    plan.entrances.extend((0..5).map(|n| (n * 17 + 2, n as u64)));
    takes_a_twentieth_at_most(crawl("farm-entrances", plan, &["http://honest0.test/"], &QUICK)?)
}

#[test]
fn a_farm_beside_sites_that_link_to_nobody_takes_a_twentieth_at_most() -> Result<()> {
    let mut plan = Plan::lonely();
    plan.entrances.extend((0..3).map(|n| (n * 30 + 1, n as u64)));
    let starts = homes(100);
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    takes_a_twentieth_at_most(crawl("farm-lonely", plan, &starts, &QUICK)?)
}

#[test]
fn idle_connections_do_not_pour_into_the_farm_while_honest_hosts_wait() -> Result<()> {
    let mut plan = Plan::linked(4);
    plan.pages.iter_mut().for_each(|pages| *pages = (*pages / 5).max(8));
    plan.entrances.insert(0, 0);
    let starts = ["http://honest0.test/"];
    takes_a_twentieth_at_most(crawl("farm-delay", plan, &starts, &["--delay", "200ms"])?)
}

#[test]
fn a_crawl_that_is_killed_remembers_the_farm() -> Result<()> {
    let mut plan = Plan::linked(4);
    plan.entrances.extend([(0, 0), (40, 1)]);
    let Some(scene) = Scene::new("farm-killed", plan, &["http://honest0.test/"])? else {
        return Ok(());
    };
    // Long enough for the tree of sites to be written.
    let slow = ["--delay", "100ms"];
    scene.until(scene.honest / 4, &slow)?;
    scene.until(scene.honest / 2, &QUICK)?;
    let seen = scene.until(scene.honest, &QUICK)?;
    let _ = writeln!(
        std::io::stderr(),
        "farm-killed: {} honest requests, {} to the farm",
        seen.honest,
        seen.farm
    );
    takes_a_twentieth_at_most(Some(seen))
}

#[test]
fn when_the_others_are_done_the_farm_goes_on() -> Result<()> {
    let mut plan = Plan::linked(4);
    plan.pages.iter_mut().for_each(|pages| *pages = (*pages / 5).max(8));
    plan.entrances.insert(50, 0);
    let Some(scene) = Scene::new("farm-goes-on", plan, &["http://honest0.test/"])? else {
        return Ok(());
    };
    let most = (scene.honest + 600).to_string();
    let running = scene.start("data", &["--delay", "0s", "--max-pages", &most])?;
    let told = summary(&running.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(count(&told, "fetched")? as usize == scene.honest + 600, "{told}");
    ensure!(scene.farm.seen().pages.len() == scene.honest, "not every honest page");
    Ok(())
}

#[test]
fn without_a_farm_budgets_change_no_page() -> Result<()> {
    let Some(scene) = Scene::new("farm-none", Plan::linked(8), &["http://honest0.test/"])? else {
        return Ok(());
    };
    for budgets in ["on", "off", "on", "off"] {
        let data = format!("data-{budgets}");
        let _ = std::fs::remove_dir_all(scene.rig.dir.join(&data));
        let set = format!("crawl.budgets={budgets}");
        let running = scene.start(&data, &["--delay", "0s", "--set", &set])?;
        let told = summary(&running.wait(CRAWL_LIMIT)?.ok()?)?;
        let _ = writeln!(std::io::stderr(), "budgets {budgets}: {} pages/s", told["pages_per_s"]);
        ensure!(count(&told, "fetched")? as usize == scene.honest, "{told}");
    }
    Ok(())
}

#[test]
fn a_cap_on_the_pages_of_a_site_is_exact_and_can_be_raised() -> Result<()> {
    let Some(rig) = Rig::new("site-cap", &[])? else { return Ok(()) };
    let plan = Plan::linked(4);
    let pages = plan.pages.clone();
    let farm = Farm::serve(plan)?;
    let config = format!("[fetch]\nproxy = \"http://{}\"\n", farm.address);
    std::fs::write(rig.dir.join("argiope.toml"), config)?;
    for (cap, connections) in [("7", "4"), ("40", "16")] {
        let flags =
            ["http://honest0.test/", "--scope", "any", "--delay", "0s", "--connections-per-host"];
        let flags = [flags.as_slice(), &[connections, "--max-pages-per-site", cap]].concat();
        let args = [&["--config", "argiope.toml"], Rig::plain_args(&flags).as_slice()].concat();
        let mut command = rig.argiope("data", &args);
        let told =
            summary(&Running::start(&mut command, &rig.dir, "crawl")?.wait(CRAWL_LIMIT)?.ok()?)?;
        let seen = farm.seen();
        let cap: u64 = cap.parse()?;
        for (site, pages) in pages.iter().enumerate() {
            let home = format!("honest{site}.test/");
            let asked = seen.pages.keys().filter(|url| url.starts_with(&home)).count() as u64;
            ensure!(asked == cap.min(*pages), "{asked} of {pages} pages of site {site}, cap {cap}");
        }
        let capped = pages.iter().filter(|pages| **pages > cap).count() as u64;
        ensure!(count(&told, "capped_sites")? == capped, "{capped} sites are larger: {told}");
    }
    rig.verify("data")
}
