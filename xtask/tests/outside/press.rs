//! Three small sites of news, made up: a story that all of them have, an article that is written anew once, pictures, and
//! titles that mean harm.

use crate::watched::{Answer, Asked, Watched, loopback};
use anyhow::Result;
use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

/// The names of the sites, what they call themselves, and the language they are in.
pub const SITES: [(&str, &str, &str); 3] = [
    ("harbour.test", "Harbour Post", "en"),
    ("valley.test", "Valley Gazette", "en"),
    ("kurier.test", "Kurier am Fluss", "de"),
];
const ADDRESSES: [u8; 3] = [231, 232, 233];

/// The sites, being served.
pub struct Press {
    pub web: Watched,
}

/// An article: whose, what its address ends with, its title, how many hours ago, what it is about, its text.
struct Article {
    site: usize,
    slug: &'static str,
    title: &'static str,
    hours: i64,
    section: &'static str,
    text: &'static [&'static str],
    picture: bool,
}

const BRIDGE: &[&str] = &[
    "The second bridge over the Alder opens on 12 January, two months earlier than planned, the harbour office said on Monday.",
    "Tests of the new bearings and of the lifting span ended in October without a fault, so that the last weeks of trial runs are no longer needed.",
    "About 14,000 cars a day are expected to leave the old bridge, which is to be closed for repairs from February until the summer of next year.",
    "Cyclists and people on foot get a path of four metres on the side of the harbour. Buses of lines 4 and 9 change their route on the first day.",
    "The bridge cost 61 million, three million less than the council had allowed. What is left goes into quieter asphalt on the northern ramp.",
];
const BRIDGE_TOO: &[&str] = &[
    "Traffic crosses the second bridge over the Alder from 12 January on, two months earlier than planned, as the harbour office announced on Monday.",
    "Tests of the new bearings and the lifting span ended in October without a fault, and the last weeks of trial runs are no longer needed.",
    "About 14,000 cars a day are expected to leave the old bridge, which will be closed for repairs from February until the summer of next year.",
    "A path of four metres is for cyclists and people on foot. Bus lines 4 and 9 change their route on the first day.",
    "With 61 million the bridge cost three million less than the council had allowed; the rest pays for quieter asphalt on the northern ramp.",
];
const FERRY: &[&str] = &[
    "From the first of December the ferry to the islands leaves every two hours and no longer every hour, the line says in its winter timetable.",
    "The first boat leaves at six in the morning and the last returns at ten at night. On Sundays the boat of eight o'clock is left out.",
    "Tickets that were bought for hourly boats stay good. Whoever has a monthly ticket gets a tenth of its price back until March.",
    "The line gives repairs of the older of its two boats as the reason. It is to be back in the water before Easter.",
];
const FERRY_NEW: &[&str] = &[
    "From the first of December the ferry to the islands leaves every ninety minutes and no longer every hour, the line says in a corrected winter timetable.",
    "The first boat leaves at six in the morning and the last returns at eleven at night. On Sundays the boat of eight o'clock is left out.",
    "Tickets that were bought for hourly boats stay good. Whoever has a monthly ticket gets a fifth of its price back until March.",
    "The line gives repairs of the older of its two boats as the reason. It is to be back in the water before Easter.",
];
const MUSEUM: &[&str] = &[
    "The town museum shows forty maps of the old coast, the oldest drawn in 1598, in an exhibition that is open from Saturday on.",
    "Many of them were never shown before: they had lain in the cellar of the customs house, rolled up and forgotten, until it was rebuilt.",
    "Visitors can lay today's coast over the old ones at a large table of light and see how the sandbanks have moved eastward.",
    "The exhibition is free on the first day and on all Wednesdays. Guided walks along the real coast belong to it.",
];
const HORSES: &[&str] = &[
    "What the stars hold for you this week: the horoscope of the paper for all twelve signs, written by the desk as every Sunday.",
    "Whoever was born in spring finds something that was lost long ago, and should look for it in places that are dry and dark.",
    "Whoever was born in winter should not begin anything new before Thursday, and rather end what was begun in the summer.",
    "All others may expect a quiet week with a surprise at its end, most likely from somebody who lives on a hill.",
];
const WEATHER: &[&str] = &[
    "Rain is expected until Thursday, with wind from the west; from Friday on it becomes clear and cold, the weather station says.",
    "At night the temperature falls below zero in the valley for the first time this autumn, so that the gritters are being made ready.",
    "On the coast the wind reaches seven on Wednesday. The harbour office asks owners of small boats to look after their moorings.",
    "The coming weekend will be the sunniest since September, with a view as far as the islands.",
];
const SCHACH: &[&str] = &[
    "Der Schachverein am Fluss hat das Turnier der drei Städte gewonnen und steigt damit nach elf Jahren wieder in die erste Klasse auf.",
    "Im letzten Spiel am Sonntag reichte ein Unentschieden, das nach fünf Stunden und achtzig Zügen feststand.",
    "Gefeiert wurde im alten Bahnhof, in dem der Verein seit dem Umbau auch seine Abende für Anfänger abhält.",
    "Die neue Spielzeit beginnt im Februar. Der Verein sucht dafür noch Bretter, Uhren und Leute, die Kuchen backen.",
];
const HARM: &[&str] = &[
    "This article has a title that no page should believe: it holds markup, a script and a word without an end.",
    "Whoever shows it has to show it as text, and whoever lays it out has to break the word somewhere, on a phone above all.",
    "There is nothing else to be said about it, but an article has some length, and so this paragraph goes on for a while.",
    "It ends here, with a last sentence that says again that nothing in it is to be believed by a browser.",
];
const RIGHT: &[&str] = &[
    "افتتحت المكتبة العامة في المدينة قاعة جديدة للقراءة تضم أكثر من عشرة آلاف كتاب وخرائط قديمة للساحل.",
    "وتفتح القاعة أبوابها كل يوم من الصباح حتى المساء، والدخول إليها مجاني لجميع الزوار طوال الشهر الأول.",
    "وقالت إدارة المكتبة إن الكتب جمعت من مكتبات صغيرة أغلقت خلال السنوات الماضية في القرى المجاورة.",
    "وستقام في القاعة أمسيات للقراءة كل أسبوع، وورش للأطفال في أيام العطل، ومعارض صغيرة للخط.",
];

const ARTICLES: [Article; 10] = [
    Article {
        site: 0,
        slug: "second-bridge-opens-early",
        title: "Second bridge opens two months early",
        hours: 1,
        section: "Town",
        text: BRIDGE,
        picture: true,
    },
    Article {
        site: 1,
        slug: "bridge-over-the-alder-from-january",
        title: "Second bridge over the Alder to open in January",
        hours: 3,
        section: "Local",
        text: BRIDGE_TOO,
        picture: true,
    },
    Article {
        site: 0,
        slug: "ferry-winter-timetable",
        title: "Ferry to the islands leaves less often in winter",
        hours: 5,
        section: "Travel",
        text: FERRY,
        picture: true,
    },
    Article {
        site: 1,
        slug: "maps-of-the-old-coast",
        title: "Museum shows forty maps of the old coast",
        hours: 20,
        section: "Culture",
        text: MUSEUM,
        picture: true,
    },
    Article {
        site: 1,
        slug: "horoscope-of-the-week",
        title: "Your horoscope for the week",
        hours: 26,
        section: "Life",
        text: HORSES,
        picture: false,
    },
    Article {
        site: 0,
        slug: "rain-until-thursday",
        title: "Rain until Thursday, then clear and cold",
        hours: 29,
        section: "Weather",
        text: WEATHER,
        picture: true,
    },
    Article {
        site: 2,
        slug: "schachverein-steigt-auf",
        title: "Schachverein steigt nach elf Jahren wieder auf",
        hours: 7,
        section: "Sport",
        text: SCHACH,
        picture: true,
    },
    Article {
        site: 2,
        slug: "titel-ohne-ende",
        title: "<script>document.title='broken'</script><img src=x onerror=document.title='broken'> Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenherstellerverbandsvorsitzendenstellvertreter",
        hours: 50,
        section: "Dies und das",
        text: HARM,
        picture: false,
    },
    Article {
        site: 2,
        slug: "library-hall",
        title: "المكتبة العامة تفتتح قاعة جديدة للقراءة وعشرة آلاف كتاب",
        hours: 52,
        section: "Kultur",
        text: RIGHT,
        picture: false,
    },
    Article {
        site: 0,
        slug: "picture-that-is-missing",
        title: "Harbour cranes get a coat of green paint",
        hours: 54,
        section: "Town",
        text: MUSEUM_CRANES,
        picture: true,
    },
];
const MUSEUM_CRANES: &[&str] = &[
    "The four cranes of the old quay are painted green until spring, in the colour they had when they were built in 1911.",
    "The work begins with the tallest, which has not lifted anything for thirty years and is a landmark for ships that come in.",
    "The port gives forty thousand for it. Pupils of the art school paint the doors of the machine rooms as they like.",
    "While the work goes on, the path along the quay leads around the cranes, on boards over the water.",
];

impl Press {
    /// Serves them on loopback.
    pub fn start() -> Result<Press> {
        let addresses = ADDRESSES.map(loopback);
        // One time for all, so that an article says the same whenever it is asked for.
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as i64;
        Ok(Press { web: Watched::start(&addresses, move |asked| answer(asked, now))? })
    }

    /// The front page of a site, under its own name.
    pub fn front(&self, site: usize) -> String {
        format!("http://www.{}:{}/", SITES[site].0, self.web.address(site).port())
    }

    /// Names and addresses, as the configuration has them.
    pub fn hosts(&self) -> Vec<String> {
        let of = |(n, (name, ..)): (usize, &(&str, &str, &str))| {
            let at: IpAddr = loopback(ADDRESSES[n]);
            format!("www.{name}={at}")
        };
        SITES.iter().enumerate().map(of).collect()
    }

    /// A configuration with which they can be collected at once.
    pub fn config(&self) -> String {
        let hosts: Vec<String> = self.hosts().iter().map(|host| format!("{host:?}")).collect();
        format!(
            "[crawl]\ndelay = \"0s\"\naddress_gap = \"0s\"\n\n[fetch]\nallow_private = true\nhosts = [{}]\n",
            hosts.join(", ")
        )
    }
}

/// A day and a time some hours ago, as ISO 8601 has it.
fn ago(now: i64, hours: i64) -> (String, String) {
    let then = now - 3_600 * hours;
    let (days, hour, minute) = (then / 86_400 + 719_468, then % 86_400 / 3_600, then % 3_600 / 60);
    // Days since 0000-03-01, see "chrono-compatible low-level date algorithms".
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{day:02}");
    let time = format!("{date}T{hour:02}:{minute:02}:00Z");
    (date, time)
}

fn path(article: &Article, now: i64) -> String {
    format!("/{}/{}", ago(now, article.hours).0.replace('-', "/"), article.slug)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn answer(asked: &Asked, now: i64) -> Answer {
    let of_site = || ARTICLES.iter().filter(|article| article.site == asked.host);
    match asked.path.as_str() {
        "/" => front(asked.host, now),
        "/missing.svg" => Answer::status(404),
        picture if picture.ends_with(".svg") => Answer::of("image/svg+xml", drawn(picture)),
        page => match of_site().find(|article| path(article, now) == page) {
            Some(article) => written(article, asked, now),
            None => Answer::status(404),
        },
    }
}

/// A front page: a heading, a menu, and a block for each article.
fn front(site: usize, now: i64) -> Answer {
    let (_, name, language) = SITES[site];
    let mut html = format!(
        "<!doctype html><html lang={language}><meta charset=utf-8><title>{name}</title><header><h1>{name}</h1>\
         <nav><a href=/about>About us</a> <a href=/contact>Contact</a></nav></header><main>"
    );
    for article in ARTICLES.iter().filter(|article| article.site == site) {
        html.push_str(&format!(
            "<article><h2><a href=\"{}\">{}</a></h2>{}<p>{}</p><time datetime=\"{}\"></time></article>\n",
            path(article, now),
            escaped(article.title),
            if article.picture { format!("<img src=\"{}\" alt=\"\">", picture(article)) } else { String::new() },
            escaped(article.text[0]),
            ago(now, article.hours).1,
        ));
    }
    Answer::html(html + "</main><footer><a href=/imprint>Imprint</a></footer></html>")
}

fn picture(article: &Article) -> String {
    match article.slug {
        "picture-that-is-missing" => "/missing.svg".to_owned(),
        slug => format!("/{slug}.svg"),
    }
}

/// An article; the one about the ferry is another one when it is asked for again.
fn written(article: &Article, asked: &Asked, now: i64) -> Answer {
    let (_, name, language) = SITES[article.site];
    let text = match article.slug {
        "ferry-winter-timetable" if asked.before > 0 => FERRY_NEW,
        _ => article.text,
    };
    let host = asked.head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim().to_owned())
    });
    let origin = format!("http://{}", host.unwrap_or_default());
    let (title, time) = (escaped(article.title), ago(now, article.hours).1);
    let image = match article.picture {
        true => format!("<meta property=\"og:image\" content=\"{origin}{}\">", picture(article)),
        false => String::new(),
    };
    let paragraphs: String = text.iter().map(|p| format!("<p>{}</p>\n", escaped(p))).collect();
    Answer::html(format!(
        "<!doctype html><html lang={language}><head><meta charset=utf-8><title>{title} - {name}</title>\
         <meta property=\"og:type\" content=\"article\"><meta property=\"og:title\" content=\"{title}\">\
         <meta property=\"og:site_name\" content=\"{name}\"><meta property=\"og:description\" content=\"{}\">\
         <meta property=\"article:published_time\" content=\"{time}\"><meta property=\"article:section\" content=\"{}\">{image}</head>\
         <body><header><a href=/>{name}</a></header><main><article><h1>{title}</h1><p>By <span rel=author>the desk</span> \
         <time datetime=\"{time}\">{time}</time></p>{paragraphs}</article></main><footer><a href=/imprint>Imprint</a></footer></body></html>",
        escaped(text[0]),
        article.section,
    ))
}

/// A picture that is a little different for each name: hills, water and a sun.
fn drawn(name: &str) -> String {
    let seed = name.bytes().fold(7_u32, |sum, b| sum.wrapping_mul(31).wrapping_add(b.into()));
    let (hue, high, sun) = (seed % 360, 70 + seed / 360 % 60, 40 + seed / 7 % 240);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 320 200\" width=\"320\" height=\"200\">\
         <rect width=\"320\" height=\"200\" fill=\"hsl({hue},40%,82%)\"/><circle cx=\"{sun}\" cy=\"55\" r=\"24\" fill=\"hsl(45,90%,72%)\"/>\
         <path d=\"M0 {} Q80 {high} 160 130 T320 {} V200 H0Z\" fill=\"hsl({hue},35%,55%)\"/>\
         <rect y=\"165\" width=\"320\" height=\"35\" fill=\"hsl(205,40%,50%)\"/></svg>",
        high + 40,
        high + 20
    )
}
