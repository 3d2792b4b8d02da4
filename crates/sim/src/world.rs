//! A world of hosts: what each is like, drawn from the seed.
//!
//! * What this is: fates, rules, troubles, speeds and addresses of hosts. Times are counted in
//!   milliseconds from the beginning of the world.
//! * Its place: [`crate::web`] answers by it, [`crate::truth`] walks over it.
//! * Invariant: nothing here depends on what is asked or when; the same seed is the same world.

use crate::draw::{About, Draw};
use crate::scenario::Scenario;
use argiope_frontier::Robots;
use argiope_model::OutcomeKind;
use std::net::{IpAddr, Ipv4Addr};

/// The name under which the simulated crawl asks.
pub(crate) const AGENT: &str = "argiope";
/// A trouble that is over after this long costs nobody a page: the tries of a page take longer.
pub(crate) const BRIEF_MS: i64 = 1_500_000;
const HOUR_MS: i64 = 3_600_000;

/// What becomes of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It always answers.
    Steady,
    /// It has one trouble, and a short one.
    Brief,
    /// It has troubles that may cost it pages.
    Rough,
    /// It never answers.
    Dead,
}

/// Where the rules of a host are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// There are none.
    Nowhere,
    /// In its robots.txt.
    Here,
    /// Behind redirects over these hosts.
    Behind(Vec<usize>),
    /// Behind redirects without an end.
    Loop,
}

/// What a trouble does to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// No answer of this kind.
    Silent(OutcomeKind),
    /// A status, perhaps with a time to come back at.
    Status(u16, Option<Later>),
}

/// A `Retry-After`, in seconds or as a date so far ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Later {
    Seconds(u64),
    Date(u64),
}

/// A time during which a host does not answer as it should.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trouble {
    pub from: i64,
    pub until: i64,
    pub kind: Kind,
    /// Only its robots.txt is troubled.
    pub robots_only: bool,
}

/// One host.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub fate: Fate,
    pub pages: u32,
    /// Milliseconds until it answers: at least, and how much more at most.
    pub latency: (u64, u64),
    pub place: Place,
    /// Its robots.txt.
    pub text: String,
    pub sitemap: bool,
    /// It asks for so much time between requests that it takes days.
    pub patient: bool,
    pub troubles: Vec<Trouble>,
    /// How often its address changes, in milliseconds; 0: never.
    pub moves_every: i64,
    pub start: bool,
}

/// A world.
pub(crate) struct World {
    pub seed: u64,
    pub hosts: Vec<Host>,
    shared_addresses: u64,
}

impl World {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let hosts = (0..scenario.hosts).map(|n| Host::draw(scenario, n)).collect();
        let shared_addresses = scenario.hosts as u64 / 20 + 1;
        let mut world = World { seed: scenario.seed, hosts, shared_addresses };
        world.send_robots_elsewhere();
        world
    }

    /// Some rules lie with other hosts; where those are unreliable, so is who relies on them.
    fn send_robots_elsewhere(&mut self) {
        let count = self.hosts.len() as u64;
        for n in 0..self.hosts.len() {
            let mut draw = Draw::new(self.seed, About::Host, (1 << 40) + n as u64);
            if self.hosts[n].place != Place::Here || !draw.percent(12) {
                continue;
            }
            let hops = draw.between(1, 4);
            let over: Vec<usize> = (0..hops).map(|_| draw.below(count) as usize).collect();
            let steady = over.iter().all(|at| self.hosts[*at].fate == Fate::Steady);
            if !steady && draw.percent(80) {
                continue;
            }
            let host = &mut self.hosts[n];
            host.place = Place::Behind(over);
            if !steady && host.fate != Fate::Dead {
                host.fate = Fate::Rough;
            }
        }
    }

    /// The address of a host at a time, and until when it holds.
    pub(crate) fn address(&self, host: usize, at: i64) -> (IpAddr, i64) {
        let every = self.hosts[host].moves_every;
        let (turn, until) = match every {
            0 => (0, i64::MAX),
            every => (at / every, (at / every + 1) * every),
        };
        let mut draw = Draw::new(self.seed, About::Address, host as u64 + ((turn as u64) << 32));
        let bits = match draw.below(100) {
            // One address of a network that carries many sites.
            0..10 => u32::from(Ipv4Addr::new(198, 19, 0, 1)),
            10..50 => 0xC612_0000 + draw.below(self.shared_addresses) as u32,
            _ => 0x0A00_0000 + host as u32,
        };
        (IpAddr::V4(bits.into()), until)
    }

    /// The rules that hold for a host once its robots.txt was answered.
    pub(crate) fn rules(&self, host: usize) -> Robots {
        let host = &self.hosts[host];
        match host.place {
            Place::Nowhere | Place::Loop => Robots::allow_all(),
            Place::Here | Place::Behind(_) => Robots::parse(host.text.as_bytes(), AGENT),
        }
    }

    /// How long a request takes that begins then.
    pub(crate) fn latency(&self, host: usize, at: i64) -> u64 {
        let (least, more) = self.hosts[host].latency;
        let mut draw = Draw::new(self.seed, About::Latency, (host as u64) << 40 ^ at as u64);
        least + draw.below(more + 1)
    }
}

impl Host {
    fn draw(scenario: &Scenario, n: usize) -> Self {
        let mut draw = Draw::new(scenario.seed, About::Host, n as u64);
        // The first host is there to be relied on.
        let fate = match draw.below(100) {
            _ if n == 0 => Fate::Steady,
            0..60 => Fate::Steady,
            60..80 => Fate::Brief,
            80..92 => Fate::Rough,
            _ => Fate::Dead,
        };
        let latency = match draw.below(100) {
            0..4 => (3_000, 17_000),
            4..20 => (400, 1_200),
            _ => (20, 300),
        };
        let mut pages = draw.between(1, 2 * scenario.pages_per_host as u64) as u32;
        // Who is found late and takes long would take twice as long.
        let early = n < first_late(scenario.hosts);
        let patient = early && fate != Fate::Dead && draw.percent(7);
        // A delay as long as a robots.txt is kept, or longer.
        let endless = !patient && early && scenario.days >= 3.0 && draw.percent(2);
        let place = match draw.below(100) {
            _ if patient || endless => Place::Here,
            0..30 => Place::Nowhere,
            30..33 => Place::Loop,
            _ => Place::Here,
        };
        let mut text = String::from("User-agent: *\n");
        if patient {
            pages = pages.max(8);
            let share = draw.between(20, 95) as f64 / 100.0;
            // Every other request may be for the robots.txt.
            let every = scenario.days * share * 86_400.0 / f64::from(pages) / 1.5;
            text += &format!("Crawl-delay: {every:.1}\n");
        } else if endless {
            pages = pages.min(3);
            let every = (scenario.days.min(20.0) / 10.0).max(1.05) * 86_400.0;
            text += &format!("Crawl-delay: {every:.0}\n");
        } else if draw.percent(25) {
            text += &format!("Crawl-delay: {}\n", draw.pick(&["0", "0.5", "3", "15", "20", "90"]));
        }
        text += match draw.below(100) {
            0..40 => "Disallow: /d4/\n",
            40..55 => "Disallow: /d\nAllow: /d1/\nAllow: /d2/\n",
            55..58 => "Disallow: /\n",
            58..70 => "Disallow: /*3$\n",
            _ => "Disallow:\n",
        };
        let sitemap = place == Place::Here && draw.percent(30);
        if sitemap {
            text += &format!("Sitemap: http://h{n}.test/sitemap.xml\n");
        }
        let moves_every = if draw.percent(15) { draw.between(1, 12) as i64 * HOUR_MS } else { 0 };
        let troubles = match fate {
            Fate::Steady => Vec::new(),
            Fate::Brief => vec![Trouble::draw(&mut draw, scenario, BRIEF_MS)],
            Fate::Rough => {
                let count = draw.between(1, 5);
                let longest = [BRIEF_MS, 4 * HOUR_MS, 24 * HOUR_MS];
                (0..count)
                    .map(|_| {
                        let longest = draw.pick(&longest);
                        Trouble::draw(&mut draw, scenario, longest)
                    })
                    .collect()
            }
            Fate::Dead => {
                let kind = Kind::Silent(draw.pick(&SILENT));
                vec![Trouble { from: i64::MIN, until: i64::MAX, kind, robots_only: false }]
            }
        };
        // Of many hosts few are given; links lead to the others.
        let share = (20_000 / scenario.hosts as u64).clamp(4, 40);
        let start = n == 0 || (early && draw.percent(share));
        Host { fate, pages, latency, place, text, sitemap, patient, troubles, moves_every, start }
    }

    /// What troubles a request that begins then.
    pub(crate) fn trouble(&self, at: i64, robots: bool) -> Option<Kind> {
        let now = |t: &&Trouble| t.from <= at && at < t.until && (robots || !t.robots_only);
        self.troubles.iter().find(now).map(|t| t.kind)
    }
}

const SILENT: [OutcomeKind; 4] = [
    OutcomeKind::NoAddress,
    OutcomeKind::ConnectFailed,
    OutcomeKind::ConnectionLost,
    OutcomeKind::TimedOut,
];

impl Trouble {
    fn draw(draw: &mut Draw, scenario: &Scenario, longest: i64) -> Self {
        // Most hosts are done in the first minutes: troubles come then, or at any time.
        let all = (scenario.days * 86_400_000.0) as u64;
        let from = match draw.percent(60) {
            true => draw.below(600_000) as i64 - 200_000,
            false => draw.below(all) as i64,
        };
        let until = from + 1_000 + draw.below(longest as u64 - 1_000) as i64;
        let later = |draw: &mut Draw, most: u64| match draw.below(3) {
            0 => None,
            1 => Some(Later::Seconds(draw.spread(most))),
            _ => Some(Later::Date(draw.spread(most))),
        };
        // A wait of more than a week is as good as a no.
        let brief = longest <= BRIEF_MS;
        let most = if brief { 6 * 3600 } else { 9 * 86_400 };
        let kind = match draw.below(6) {
            0 => Kind::Status(429, later(draw, most)),
            1 | 2 => Kind::Status(503, later(draw, most)),
            3 => Kind::Status(500, None),
            _ => Kind::Silent(draw.pick(&SILENT)),
        };
        Trouble { from, until, kind, robots_only: draw.percent(25) }
    }
}

/// From this host on only patient hosts lead to a host, so that it is found late.
pub(crate) fn first_late(hosts: usize) -> usize {
    hosts - hosts * 3 / 10
}
