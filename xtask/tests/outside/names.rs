//! Names are asked for where the settings say, as often as their answers allow, over both families.

use crate::nameserver::{NameServer, Said};
use crate::rig::{Rig, count};
use crate::watched::{Answer, Asked, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use std::net::{IpAddr, Ipv6Addr, TcpListener};
use std::time::Duration;

fn site(asked: &Asked) -> Answer {
    let answer = match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        "/" => page("index", (1..10).map(|n| format!("/{n}"))),
        path => page(path, ["/"]),
    };
    // Every page needs a connection of its own, and so the address.
    answer.header("Connection: close")
}

#[test]
fn answers_of_a_name_server_are_kept_as_long_as_they_say() -> Result<()> {
    let Some(rig) = Rig::new("names", &[])? else { return Ok(()) };
    let hosts = Watched::start(&[loopback(1), loopback(2)], site)?;
    // The short-lived name moves: every later question leads to the second host. An answer is
    // kept for 30 seconds at least, whatever it says.
    let ports = (hosts.address(0).port(), hosts.address(1).port());
    let names = NameServer::start(move |question, _| match question.name.as_str() {
        "long.test" => Said::Addresses(vec![loopback(1)], 3600),
        "short.test" => Said::Addresses(vec![loopback(1)], 1),
        "other.test" => Said::Addresses(vec![loopback(2)], 3600),
        _ => Said::Unknown(20),
    })?;
    let dns = names.setting();
    let urls = [
        format!("http://long.test:{}/", ports.0),
        format!("http://short.test:{}/", ports.0),
        format!("http://other.test:{}/", ports.1),
        format!("http://none.test:{}/", ports.0),
        format!("http://none.test:{}/more", ports.0),
    ];
    let mut args = vec!["--allow-private", "--delay", "3500ms", "--set", &dns];
    args.extend(["--set", "crawl.retry_delay=500ms", "--set", "crawl.backoff=100ms"]);
    args.extend(urls.iter().map(String::as_str));
    let told = rig.crawl_plain("data", &args)?;
    ensure!(count(&told, "fetched")? == 30, "not every page: {told}");
    ensure!(hosts.seen(0).len() == 22 && hosts.seen(1).len() == 11, "{:?}", hosts.paths(0));

    let families = |name: &str| {
        let asked = names.asked(name);
        let v6 = asked.iter().filter(|question| question.v6).count();
        (asked.len() - v6, v6)
    };
    for name in ["long.test", "other.test"] {
        ensure!(families(name) == (1, 1), "{name} was asked for {:?} times", families(name));
    }
    let short = names.asked("short.test");
    let (v4, _) = families("short.test");
    ensure!((2..=3).contains(&v4), "short.test was asked for {v4} times in 35 seconds");
    let again = short.iter().filter(|q| !q.v6).nth(1).context("a second question")?.at;
    let kept = again - short[0].at;
    ensure!(kept >= Duration::from_secs(30), "short.test was asked for again after {kept:?}");
    // A name that does not exist is tried again as any host is, but hardly asked for again.
    let (v4, _) = families("none.test");
    ensure!((1..=2).contains(&v4), "none.test was asked for {v4} times");
    for url in &urls[3..] {
        let row = rig.doc("data", url)?;
        ensure!(row["outcome"] == "no-address", "doc says {row}");
    }
    Ok(())
}

#[test]
fn names_of_ipv6_and_names_from_the_settings_are_crawled() -> Result<()> {
    let name = "names-v6";
    let Some(rig) = Rig::new(name, &[])? else { return Ok(()) };
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        return crate::rig::skip(name, "there is no IPv6 on loopback");
    }
    let hosts = Watched::start(&[IpAddr::V6(Ipv6Addr::LOCALHOST), loopback(3)], site)?;
    let names = NameServer::start(|question, _| match question.name.as_str() {
        "six.test" => Said::Addresses(vec![Ipv6Addr::LOCALHOST.into()], 60),
        // Nobody listens at its first address.
        "both.test" => Said::Addresses(vec![loopback(77), Ipv6Addr::LOCALHOST.into()], 60),
        _ => Said::Unknown(60),
    })?;
    let (dns, six) = (names.setting(), hosts.address(0).port());
    let urls = [
        format!("http://six.test:{six}/"),
        format!("http://both.test:{six}/"),
        format!("http://[::1]:{six}/"),
        format!("http://given.test:{}/", hosts.address(1).port()),
    ];
    let mut args = vec!["--set", &dns, "--set", "fetch.hosts=given.test=127.0.2.3"];
    args.extend(urls.iter().map(String::as_str));
    let told = rig.crawl("data", &args)?;
    ensure!(count(&told, "fetched")? == 40, "not every page: {told}");
    ensure!(hosts.seen(0).len() == 33, "{} requests over IPv6 for 33", hosts.seen(0).len());
    ensure!(names.asked("given.test").is_empty(), "a name from the settings was asked for");
    let head = &hosts.seen(0)[0].head.to_ascii_lowercase();
    ensure!(head.contains(&format!("test:{six}\r\n")) || head.contains("[::1]"), "{head}");
    Ok(())
}
