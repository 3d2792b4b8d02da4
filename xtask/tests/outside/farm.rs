//! A made-up web behind a proxy: honest sites, and a link farm of a thousand sites with a million pages.
//!
//! The proxy answers for every name and counts the requests for each, as a server would: robots.txt too.
//! `honestN.test` has a page `/` that leads to its others, and links to the homes of honest sites as the
//! web says; `farmN.test` has a thousand pages, each of which links to twenty pages of other farm sites.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

const FARM_SITES: u64 = 1000;
const FARM_PAGES: u64 = 1000;
const FARM_LINKS: u64 = 20;

/// What the honest part looks like, and how it leads to the farm.
#[derive(Clone)]
pub struct Plan {
    /// Pages of each honest site.
    pub pages: Vec<u64>,
    /// Honest sites that the home of an honest site links to.
    pub links: Vec<Vec<usize>>,
    /// Farm sites that the home of an honest site links to.
    pub entrances: BTreeMap<usize, u64>,
}

/// The running proxy. Threads end with the test process.
pub struct Farm {
    pub address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

/// What was asked for.
#[derive(Clone, Default)]
pub struct Seen {
    pub farm: u64,
    pub honest: u64,
    /// Different honest pages.
    pub pages: BTreeMap<String, u64>,
}

impl Plan {
    /// A hundred sites of very different size that link to nobody.
    pub fn lonely() -> Plan {
        let pages = (0..100).map(|n| 10 + mixed(n) % 60 + if n % 10 == 0 { 300 } else { 0 });
        Plan { pages: pages.collect(), links: vec![Vec::new(); 100], entrances: BTreeMap::new() }
    }

    /// The same, where each links to so many others, and all can be reached from the first.
    pub fn linked(others: usize) -> Plan {
        let mut plan = Plan::lonely();
        for n in 0..100 {
            let drawn = (0..others).map(|k| (mixed((n * 31 + k) as u64) % 100) as usize);
            plan.links[n].extend(drawn);
            if n > 0 {
                plan.links[(n - 1) / 4].push(n);
            }
        }
        plan
    }

    pub fn honest_pages(&self) -> u64 {
        self.pages.iter().sum()
    }

    fn answer(&self, host: &str, path: &str) -> Option<String> {
        let page: u64 =
            path.strip_prefix('/').map(|n| if n.is_empty() { "0" } else { n })?.parse().ok()?;
        let name = host.strip_suffix(".test")?;
        let mut out = String::from("<!doctype html><title>a page</title>");
        let mut link = |to: String| out.push_str(&format!("<a href=\"{to}\">on</a> "));
        if let Some(site) = name.strip_prefix("farm") {
            let site: u64 = site.parse().ok()?;
            (page < FARM_PAGES && site < FARM_SITES).then_some(())?;
            (1..9)
                .map(|k| page * 8 + k)
                .filter(|p| *p < FARM_PAGES)
                .for_each(|p| link(format!("/{p}")));
            for k in 0..FARM_LINKS {
                let drawn = mixed((site * FARM_PAGES + page) * FARM_LINKS + k);
                let (to, at) = (drawn % FARM_SITES, (drawn >> 20) % FARM_PAGES);
                let at = if drawn & 1 << 45 == 0 { String::new() } else { at.to_string() };
                link(format!("http://farm{to}.test/{at}"));
            }
        } else {
            let site: usize = name.strip_prefix("honest")?.parse().ok()?;
            let pages = *self.pages.get(site)?;
            (page < pages).then_some(())?;
            (1..9).map(|k| page * 8 + k).filter(|p| *p < pages).for_each(|p| link(format!("/{p}")));
            if page == 0 {
                self.links[site].iter().for_each(|to| link(format!("http://honest{to}.test/")));
                let entrance = self.entrances.get(&site);
                entrance.iter().for_each(|to| link(format!("http://farm{to}.test/")));
            }
        }
        Some(out)
    }
}

/// A number that looks drawn, always the same for the same one.
pub fn mixed(n: u64) -> u64 {
    let x = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 3
}

impl Farm {
    pub fn serve(plan: Plan) -> Result<Farm> {
        let listener = TcpListener::bind("127.0.0.1:0").context("bind a loopback address")?;
        let address = listener.local_addr()?;
        let (plan, seen) = (Arc::new(plan), Arc::new(Mutex::new(Seen::default())));
        let told = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (plan, seen) = (Arc::clone(&plan), Arc::clone(&told));
                std::thread::spawn(move || {
                    let _ = answer_all(&stream, &plan, &seen);
                });
            }
        });
        Ok(Farm { address, seen })
    }

    pub fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn answer_all(stream: &TcpStream, plan: &Plan, seen: &Mutex<Seen>) -> Result<()> {
    let mut lines = BufReader::new(stream).lines();
    while let Some(first) = lines.next().transpose()? {
        for line in lines.by_ref() {
            if line?.is_empty() {
                break;
            }
        }
        let url = first.split(' ').nth(1).unwrap_or_default();
        let Some((host, path)) = url.strip_prefix("http://").and_then(|rest| {
            let at = rest.find('/')?;
            Some((&rest[..at], &rest[at..]))
        }) else {
            continue;
        };
        let body = plan.answer(host, path);
        {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if host.starts_with("farm") {
                seen.farm += 1;
            } else {
                seen.honest += 1;
                if body.is_some() {
                    *seen.pages.entry(format!("{host}{path}")).or_default() += 1;
                }
            }
        }
        let (status, body) = match body {
            Some(body) => ("200 OK", body),
            None => ("404 Not Found", String::new()),
        };
        write!(
            &*stream,
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
    }
    Ok(())
}
