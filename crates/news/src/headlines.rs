//! The headlines of a front page, found by its structure.
//!
//! * What this is: of all links of a page those that lead to its articles, in the order of the
//!   page, each once, with what the page shows of them.
//! * Its place: the quick look and the collector call it for pages without a recipe.
//! * How a link is judged: by its words (how many, in a heading or not), by the shape of its URL, by
//!   where it stands (`region`), and by its company: links at equal places of repeated blocks,
//!   and links whose URLs are of one shape, are headlines together or not at all.
//! * Then: all links to one URL are one headline; its title is the best of their texts, and its
//!   block (`block`) gives summary, picture, time and section.
//! * Invariants: equal pages give equal headlines; time is nearly linear in the page.
//! * What is not here: what the site says elsewhere (feeds, sitemaps), and recipes.

mod block;
mod labels;
mod naming;
mod prose;
mod region;
mod title;

use crate::learned::Learned;
use crate::service::{is_beside, is_service};
use crate::shape::{article_score, dates_in_url, has_mark, is_section_url, query_score, shape};
use crate::sites;
use argiope_model::{CanonicalUrl, Suffixes, Time};
use argiope_parse::Outline;
use block::is_wide;
use region::Region;
pub use region::is_popular_heading;
use std::collections::{HashMap, HashSet};
use title::{Shown, is_declared, is_named_title, title, word_count};

/// What the URL of a link must reach to be that of an article by itself.
const SURE: f32 = 2.0;
/// What a link must reach to be a headline.
const ENOUGH: f32 = 2.0;
/// What a link has by itself that is a headline whatever stands at equal places.
const PLAIN: f32 = 5.0;
/// Bytes of the URLs of a page; a long base stands in each of them.
const MAX_URL_BYTES: usize = 16 << 20;

/// A headline of a front page.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// The article.
    pub url: CanonicalUrl,
    /// Its title, in one line.
    pub title: String,
    /// The heading it stands under; empty if there is none.
    pub section: String,
    /// Its summary, in one line; empty if there is none.
    pub summary: String,
    /// Its picture.
    pub picture: Option<CanonicalUrl>,
    /// The time as the page shows it; empty if it shows none.
    pub shown_time: String,
    /// That time, if it can be read.
    pub time: Option<Time>,
    /// How sure it is: 2 is the least.
    pub score: f32,
}

/// A link, judged.
struct Link {
    node: usize,
    target: usize,
    title: String,
    region: Region,
    /// Whether it stands in a heading, or one in it.
    heading: bool,
    /// Whether its title is only what a picture shows.
    pictured: bool,
    /// Whether it leads to another site.
    foreign: bool,
    /// By itself.
    own: f32,
    /// The group of links at equal places.
    place: u64,
    /// What a post says before the link that is its own.
    post: String,
}

/// All links to one URL.
struct Target {
    url: CanonicalUrl,
    by_url: f32,
    /// Whether the site taught that such URLs are articles.
    learned: bool,
    foreign: bool,
    shape: usize,
    links: Vec<usize>,
    score: f32,
    /// The link that stands for it.
    best: usize,
    /// Whether that stands in a list of links to other sites, where URLs tell nothing.
    listed: bool,
    /// Whether a link says that it is paid for.
    is_paid: bool,
    taken: bool,
}

/// Links at equal places.
#[derive(Default)]
struct Group<'r> {
    own: f32,
    by_url: f32,
    words: f32,
    count: f32,
    foreign: f32,
    /// How many say a result of a game, how many have to do with a heading.
    results: f32,
    headings: f32,
    hosts: HashSet<&'r str>,
}

impl Group<'_> {
    /// Whether it is a list of what other sites have: long titles to sites of all kinds.
    fn is_link_list(&self) -> bool {
        self.count >= 10.0
            && self.foreign >= 0.7 * self.count
            && self.hosts.len() >= 5
            && self.words >= 3.5 * self.count
    }

    /// Whether its links are results of games.
    fn is_results(&self) -> bool {
        self.count >= 3.0 && self.results >= 0.7 * self.count
    }

    /// Whether its links are names: of teams, of shares, of services of the house.
    fn is_names(&self) -> bool {
        self.count >= 5.0 && self.words <= 2.2 * self.count && self.headings == 0.0
    }
}

/// Whether a title is a result of a game: names with two numbers.
fn is_result(title: &str) -> bool {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_number = |word: &&str| word.len() <= 3 && word.bytes().all(|b| b.is_ascii_digit());
    let (numbers, others): (Vec<&str>, Vec<&str>) = words.partition(is_number);
    numbers.len() >= 2 && (1..=6).contains(&others.len())
}

/// The headlines of a page at `url`, of a site of which something may be known already.
pub fn headlines(
    page: &Outline,
    url: &CanonicalUrl,
    suffixes: &Suffixes,
    learned: &Learned,
    now: Time,
) -> Vec<Headline> {
    let mut reading = Reading::new(page, url, suffixes, learned);
    reading.drop_common_titles();
    reading.name_by_card();
    reading.name_by_post();
    reading.judge_by_company();
    reading.name_by_rank();
    reading.drop_foreign();
    reading.doubt_unmarked();
    reading.learn_from_shapes();
    reading.finish(now)
}

struct Reading<'p> {
    page: &'p Outline,
    base: CanonicalUrl,
    links: Vec<Link>,
    targets: Vec<Target>,
    shapes: usize,
}

impl<'p> Reading<'p> {
    fn new(page: &'p Outline, url: &CanonicalUrl, suffixes: &Suffixes, learned: &Learned) -> Self {
        let base =
            page.inside(0, &["base"]).find_map(|n| url.join(page.attribute(n, "href")?).ok());
        let base = base.unwrap_or_else(|| url.clone());
        let joiner = base.joiner();
        // bbc.com and bbc.co.uk are of one house.
        let house = |url: &CanonicalUrl| match sites::place(url) {
            at if sites::is_home(at) => at.to_owned(),
            host => suffixes.site_of(host).split('.').next().unwrap_or_default().to_owned(),
        };
        let own_house = house(url);
        let regions = region::regions(page, |link| {
            let to = page.attribute(link, "href").and_then(|href| joiner.join(href.trim()).ok());
            to.is_some_and(|to| article_score(&to) >= SURE && house(&to) == own_house)
        });
        let mut known: HashMap<CanonicalUrl, usize> = HashMap::new();
        let mut shapes: HashMap<String, usize> = HashMap::new();
        let (mut links, mut targets): (Vec<Link>, Vec<Target>) = (Vec::new(), Vec::new());
        let mut room = MAX_URL_BYTES;
        let mut paragraphs = prose::Paragraphs::new(page);
        for node in page.inside(0, &["a"]) {
            let Some(href) = page.attribute(node, "href") else { continue };
            let href = href.trim();
            // A form that a script has not filled is no link.
            let is_form = ["${", "{{", "<%"].iter().any(|mark| href.contains(mark));
            if href.is_empty() || href.starts_with('#') || is_form {
                continue;
            }
            let Ok(to) = joiner.join(href) else { continue };
            let is_front = || to.path() == "/" && to.query().is_none();
            if to == *url || is_front() && house(&to) == own_house {
                continue;
            }
            let mut to = without_tracking(&to);
            // The same with a slash at its end and without.
            if let Some(other) = with_other_end(&to).filter(|other| known.contains_key(other)) {
                to = other;
            }
            if !known.contains_key(&to) {
                let Some(left) = room.checked_sub(to.as_str().len()) else { continue };
                room = left;
            }
            let target = *known.entry(to.clone()).or_insert_with(|| {
                let count = shapes.len();
                let shape = *shapes.entry(shape(&to)).or_insert(count);
                let foreign = house(&to) != own_house;
                let doubt = match () {
                    () if foreign => 1.0,
                    () if is_beside(&to, url) => 4.0,
                    () => 0.0,
                };
                let by_url = by_url(&to, learned) - doubt;
                targets.push(Target {
                    learned: learned.hint(&to) > 0.0,
                    url: to,
                    by_url,
                    foreign,
                    shape,
                    links: Vec::new(),
                    score: f32::MIN,
                    best: 0,
                    listed: false,
                    is_paid: false,
                    taken: false,
                });
                targets.len() - 1
            });
            let Shown { text: title, heading, pictured } = title(page, node);
            let mut own = by_words(&title) + targets[target].by_url;
            own += if heading || is_declared(page, node) {
                2.0
            } else if is_named_title(page, node) {
                1.0
            } else {
                0.0
            };
            let rel = page.attribute(node, "rel").unwrap_or_default().to_ascii_lowercase();
            let is_paid = rel.split(' ').any(|r| r == "sponsored");
            if ["author", "tag"].iter().any(|word| rel.split(' ').any(|r| r == *word)) {
                own -= 4.0;
            }
            if !heading {
                own += paragraphs.stand(node).worth();
            }
            let foreign = targets[target].foreign;
            targets[target].links.push(links.len());
            targets[target].is_paid |= is_paid;
            links.push(Link {
                node,
                target,
                title,
                region: if is_paid { Region::Around } else { regions[node] },
                heading,
                pictured,
                foreign,
                own,
                place: place(page, node),
                post: String::new(),
            });
        }
        Reading { page, base, links, targets, shapes: shapes.len() }
    }

    /// Where nearly all headlines have a number or a day in their URLs, what has neither is hardly
    /// one: a service, an offer, a part of the site.
    fn doubt_unmarked(&mut self) {
        let is_good = |t: &&Target| !t.foreign && t.score >= ENOUGH;
        let all = self.targets.iter().filter(is_good).count();
        let marked = self.targets.iter().filter(is_good).filter(|t| has_mark(&t.url)).count();
        if all < 10 || marked * 10 < all * 7 {
            return;
        }
        for target in self.targets.iter_mut().filter(|t| !has_mark(&t.url)) {
            target.score -= if marked * 10 < all * 8 { 2.0 } else { 4.0 };
        }
    }

    /// Links at equal places share half of their judgement.
    fn judge_by_company(&mut self) {
        let mut groups: HashMap<u64, Group<'_>> = HashMap::new();
        for link in self.links.iter().filter(|l| l.region != Region::Around && !l.title.is_empty())
        {
            let target = &self.targets[link.target];
            let group = groups.entry(link.place).or_default();
            group.own += link.own;
            group.by_url += target.by_url;
            group.words += word_count(&link.title);
            group.count += 1.0;
            group.results += f32::from(u8::from(is_result(&link.title)));
            group.headings += f32::from(u8::from(link.heading));
            if link.foreign {
                group.foreign += 1.0;
                group.hosts.insert(target.url.host());
            }
        }
        let mut judged: Vec<(usize, f32, bool)> = Vec::new();
        for (at, link) in self.links.iter().enumerate() {
            if link.region == Region::Around || link.title.is_empty() {
                continue;
            }
            let Some(group) = groups.get(&link.place) else { continue };
            let (count, by_url) = (group.count, self.targets[link.target].by_url);
            let listed = link.foreign && group.is_link_list();
            let mut score = match () {
                () if listed => {
                    (link.own - by_url + (group.own - group.by_url) / count) / 2.0 + 1.0
                }
                () if count >= 3.0 => {
                    let all = (link.own + group.own / count) / 2.0 + 0.3;
                    // What is plainly a headline is one among links of all kinds, too.
                    if link.own >= PLAIN && !link.foreign { all.max(ENOUGH) } else { all }
                }
                () => link.own,
            };
            let is_name = || {
                let target = &self.targets[link.target];
                let is_dated = dates_in_url(&target.url).iter().any(|date| date.day > 0);
                word_count(&link.title) < 3.0 && !target.learned && !is_dated
            };
            score -= match () {
                () if group.is_results() => 6.0,
                () if group.is_names() && is_name() => 3.0,
                () => 0.0,
            };
            // A list of names, whatever they lead to.
            if count >= 4.0 && group.words < 2.3 * count && by_url < 3.0 {
                score -= 1.0;
            }
            score -= match link.region {
                Region::Head if link.own < 3.5 => 6.0,
                Region::Beside | Region::Popular => 0.8,
                _ => 0.0,
            };
            judged.push((at, score, listed));
        }
        for (at, score, listed) in judged {
            let link = &self.links[at];
            let target = &mut self.targets[link.target];
            let worth = |link: &Link, score: f32| match () {
                () if link.heading => score + 1.0,
                () if link.pictured => score - 1.5,
                () => score,
            };
            let better = worth(link, score);
            if target.score == f32::MIN || better > worth(&self.links[target.best], target.score) {
                target.score = score;
                target.best = at;
                target.listed = listed;
            }
        }
    }

    /// A site with headlines of its own shows those of others in boxes; only where all stand
    /// together they count alike.
    fn drop_foreign(&mut self) {
        let mut places: HashMap<u64, (u32, u32)> = HashMap::new();
        for link in &self.links {
            let (own, foreign) = places.entry(link.place).or_default();
            *(if link.foreign { foreign } else { own }) += 1;
        }
        let own = self.targets.iter().filter(|t| !t.foreign && t.score >= ENOUGH).count();
        let listed = self.targets.iter().filter(|t| t.listed && t.score >= ENOUGH).count();
        if own < 5 || 2 * own < listed {
            return;
        }
        for target in self.targets.iter_mut().filter(|t| t.foreign) {
            let (own, foreign) = places[&self.links[target.best].place];
            if 3 * own < foreign {
                target.score -= 4.0;
            }
        }
    }

    /// URLs of one shape are articles together: what is nearly a headline is one where nearly all
    /// of its shape are, and what is hardly one is none where hardly any are.
    fn learn_from_shapes(&mut self) {
        let mut by_shape = vec![(0.0_f32, 0.0_f32); self.shapes];
        for target in &self.targets {
            let counts = &mut by_shape[target.shape];
            counts.1 += 1.0;
            if target.score >= ENOUGH {
                counts.0 += 1.0;
            }
        }
        for target in &mut self.targets {
            if target.score == f32::MIN || target.is_paid {
                continue;
            }
            if target.listed {
                target.taken = target.score >= ENOUGH;
                continue;
            }
            let (good, all) = by_shape[target.shape];
            let share = good / all;
            let words = word_count(&self.links[target.best].title);
            if all >= 4.0 && share >= 0.6 && words >= 1.5 {
                target.score += 1.2;
            } else if all >= 4.0 && share <= 0.2 || all <= 1.0 && is_section_url(&target.url) {
                target.score -= 1.0;
            }
            target.taken = target.score >= ENOUGH && words >= 1.0 && !is_service(&target.url);
        }
    }

    fn finish(&self, now: Time) -> Vec<Headline> {
        let mut order: Vec<&Target> = self.targets.iter().filter(|t| t.taken).collect();
        order.sort_by_key(|t| self.links[t.best].node);
        // Places of all links of all headlines, to know where a block ends.
        let mut places: Vec<usize> = order.iter().flat_map(|t| self.own_nodes(t)).collect();
        places.sort_unstable();
        let headline_nodes: Vec<usize> = places.clone();
        let headings: Vec<usize> = self
            .page
            .inside(0, &["h1", "h2", "h3", "h4", "h5", "h6"])
            .filter(|&h| {
                let from = headline_nodes.partition_point(|&n| n < h);
                let is_headline =
                    headline_nodes.get(from).is_some_and(|&n| n < self.page.nodes[h].end);
                !is_headline
                    && !self
                        .page
                        .ancestors(h)
                        .take(3)
                        .any(|a| headline_nodes.binary_search(&a).is_ok())
            })
            .collect();
        let mut seen: HashMap<String, CanonicalUrl> = HashMap::new();
        let mut out = Vec::with_capacity(order.len());
        for target in order {
            let link = &self.links[target.best];
            let own: Vec<usize> = self.own_nodes(target).collect();
            let block = block::block(self.page, link.node, &own, &places);
            let title = link.title.clone();
            // The same words twice are the same article, with another number of a list in its URL.
            let width: usize = title.chars().map(|c| 1 + usize::from(is_wide(c))).sum();
            if width > 15 && seen.insert(title.clone(), target.url.clone()).is_some() {
                continue;
            }
            let (shown_time, time) = block::time(self.page, block, now);
            let mut summary = link.post.clone();
            if summary.is_empty() {
                summary = block::summary(self.page, block, &own, &title);
            }
            if summary.is_empty() {
                summary = block::summary_behind(self.page, block, &own, &places);
            }
            out.push(Headline {
                url: target.url.clone(),
                section: block::section(self.page, block, &headings),
                summary,
                picture: block::picture(self.page, block, &self.base),
                shown_time,
                time,
                score: target.score,
                title,
            });
        }
        out
    }

    fn own_nodes<'r>(&'r self, target: &'r Target) -> impl Iterator<Item = usize> + 'r {
        target.links.iter().map(|&l| self.links[l].node)
    }
}

/// Without what only says where a click came from: the whole query where the path is that of
/// an article by itself, else what is known for it; the rest in order.
pub fn without_tracking(url: &CanonicalUrl) -> CanonicalUrl {
    let Some(query) = url.query() else { return url.clone() };
    let bare = url.without_query();
    let score = article_score(&bare);
    if score >= 1.5 {
        return bare;
    }
    // Where the path has a number of its own, only another number can matter.
    let is_named = score >= 1.0 && has_mark(&bare);
    let is_tracking = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        let known = [
            "ref", "referrer", "source", "fbclid", "gclid", "cmp", "cmpid", "icid", "from", "spm",
            "iref", "iid", "hpt", "ncid", "xtor", "smid", "ito",
        ];
        name.starts_with("utm_")
            || name.starts_with("ns_")
            || known.contains(&&*name)
            || is_named && query_score(pair) <= 0.0
    };
    let kept: Vec<&str> = query.split('&').filter(|pair| !is_tracking(pair)).collect();
    let text =
        if kept.is_empty() { bare.to_string() } else { format!("{bare}?{}", kept.join("&")) };
    CanonicalUrl::parse(&text).map_or_else(|_| url.clone(), |kept| kept.with_sorted_query())
}

/// The URL with a slash at the end of its path if it has none, without it if it has one.
fn with_other_end(url: &CanonicalUrl) -> Option<CanonicalUrl> {
    if url.query().is_some() || article_score(url) < 1.0 {
        return None;
    }
    let other = match url.as_str().strip_suffix('/') {
        Some(bare) => bare.to_owned(),
        None => format!("{url}/"),
    };
    CanonicalUrl::parse(&other).ok()
}

/// What a URL says for a link: by its form, and by what its site taught; where that is sure, a
/// form that means nothing elsewhere is no reproach.
fn by_url(url: &CanonicalUrl, learned: &Learned) -> f32 {
    let (form, hint) = (article_score(url), learned.hint(url));
    if hint >= 2.0 { form.max(1.0) + hint } else { form + hint }
}

/// What the words of a link say for it.
fn by_words(title: &str) -> f32 {
    let count = word_count(title);
    let letters = title.chars().count();
    let mut score = match count {
        c if c >= 5.0 => 2.0,
        c if c >= 4.0 => 1.6,
        c if c >= 3.0 => 0.8,
        c if c >= 2.0 => -0.3,
        _ => -2.0,
    };
    if letters > 260 {
        score -= 1.5;
    }
    // A price, a rate, a result.
    let digits = title.chars().filter(char::is_ascii_digit).count();
    if digits * 4 > letters {
        score -= 2.0;
    }
    if letters < 10 && !title.chars().any(is_wide) {
        score -= 1.0;
    }
    score
}

/// Where a link stands, as one number: the elements around it with their first class, up to the
/// fifth. Equal numbers are equal places of repeated blocks.
fn place(page: &Outline, link: usize) -> u64 {
    let mut text = String::new();
    let around = std::iter::once(link).chain(page.ancestors(link).take(5));
    for node in around {
        text.push('/');
        text.push_str(&page.nodes[node].name);
        let class = page.attribute(node, "class").unwrap_or_default();
        let first = class.split_whitespace().next().unwrap_or_default();
        text.push('.');
        // Numbers in a class count the blocks.
        text.extend(first.chars().filter(|c| !c.is_ascii_digit()));
    }
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_parse::parse_outline;

    fn found(html: &str) -> Vec<(String, String)> {
        let url = CanonicalUrl::parse("https://n.test/").unwrap();
        let page = parse_outline(html.as_bytes(), Some("utf-8"));
        let all = headlines(&page, &url, &Suffixes::built_in(), &Learned::default(), Time(0));
        all.into_iter().map(|h| (h.url.path().to_owned(), h.title)).collect()
    }

    #[test]
    fn a_link_over_a_card_has_the_title_of_the_card() {
        let card = |n: usize| {
            format!(
                "<article><div><a href='/town/a-new-bridge-{n}0000{n}' aria-label='Article:'></a><div><img src=x>\
                 <h3>Bridge number {n} is opened today</h3><p>Text</p></div></div></article>"
            )
        };
        let all = found(&(1..6).map(card).collect::<String>());
        assert_eq!(all.len(), 5, "{all:?}");
        assert_eq!(all[0].1, "Bridge number 1 is opened today");
        let kicker = "<h3><span>A row in town</span><span class=sr-only>: </span>";
        let cards = (1..6).map(card).collect::<String>().replace("<h3>", kicker);
        assert_eq!(found(&cards)[0].1, "Bridge number 1 is opened today");
    }

    #[test]
    fn a_list_of_links_to_other_sites_is_one_of_headlines() {
        let row = |n: usize| {
            let to = match n % 3 {
                0 => format!("https://site{n}.example/"),
                1 => format!("https://site{n}.example/2026/11/16/bridge"),
                _ => format!("https://site{n}.example/wiki/Bridge"),
            };
            format!(
                "<tr><td><a href='vote?id=4711{n}&how=up'><div title=upvote></div></a></td>\
                 <td class=title><span class=titleline><a href='{to}'>Bridge number {n} is opened today</a>\
                 <span> (<a href='from?site=site{n}'>site{n}.example</a>)</span></span></td></tr>\
                 <tr><td></td><td><a href='user?id=ann{n}'>ann{n}</a> <a href='item?id=4711{n}'>1{n} comments</a></td></tr>"
            )
        };
        let rows: String = (1..=20).map(row).collect();
        let all = found(&format!("<table>{rows}</table>"));
        assert_eq!(all.len(), 20, "{all:?}");
        assert_eq!(all[2], ("/".to_owned(), "Bridge number 3 is opened today".to_owned()));
    }

    #[test]
    fn posts_in_a_row_are_named_by_the_headings_before_their_links() {
        let post = |n: usize| {
            format!(
                "<h3>Bridge number {n}</h3>It was built in a year. <a href='/2025/01/01/old.html'>As told</a> before.\
                 <p>posted by Ann <a href='/2026/11/1{n}/bridge_{n}.html'>permalink</a> |\
                 <a href='/2026/11/1{n}/bridge_{n}.html'>comments</a></p>"
            )
        };
        let all = found(&format!("<div>{}</div>", (1..6).map(post).collect::<String>()));
        assert_eq!(all.len(), 5, "{all:?}");
        assert_eq!(all[1], ("/2026/11/12/bridge_2.html".to_owned(), "Bridge number 2".to_owned()));
    }

    #[test]
    fn what_has_no_number_among_those_that_have_is_doubted() {
        let story = |n: usize| {
            format!(
                "<li><a href='/town/story-of-the-day-{n}00000{n}.html'>A story of day {n} is told here</a></li>"
            )
        };
        let offer = "<div><p><a href='/compare/money-at-home'>Compare what your money earns at home</a></p></div>";
        let all = found(&format!("<ul>{}</ul>{offer}", (1..20).map(story).collect::<String>()));
        assert_eq!(all.len(), 19, "{all:?}");
        assert_eq!(found(&offer.replace("money-at-home", "what-money-earns-at-home")).len(), 1);
    }

    #[test]
    fn where_a_click_came_from_makes_no_second_article() {
        for (url, want) in [
            (
                "https://n.test/articles/ASVVN8AW73WB2LM.html?iref=top_01",
                "https://n.test/articles/ASVVN8AW73WB2LM.html",
            ),
            (
                "https://n.test/view/AKR20261118294214149?section=news/top",
                "https://n.test/view/AKR20261118294214149",
            ),
            ("https://n.test/board12345/show?id=4711", "https://n.test/board12345/show?id=4711"),
            ("https://n.test/a?iref=b&p=7", "https://n.test/a?p=7"),
        ] {
            assert_eq!(without_tracking(&CanonicalUrl::parse(url).unwrap()).as_str(), want);
        }
    }

    #[test]
    fn what_is_declared_an_article_may_have_a_short_title() {
        let post = |n: usize| {
            let long =
                if n.is_multiple_of(4) { "New site" } else { "What we have learned of trains" };
            format!(
                "<li><a href='/blog/post{n}' itemtype='http://schema.org/Article'>\
                 <span itemprop=headline>{long} {n}</span> <time>September {n}, 2020</time></a></li>"
            )
        };
        let list = (1..9).map(post).collect::<String>();
        assert_eq!(found(&list).len(), 8, "{:?}", found(&list));
        assert!(found(&list.replace("Article", "Thing")).len() < 8);
    }

    /// Ten times as many would take hours where each looked at all the others.
    #[test]
    fn large_pages_of_one_kind_of_element_come_to_an_end() {
        for (around, element) in [
            ("<p>", "<a href=/x></a>"),
            ("", "Ad<br>"),
            ("", "<b>Trending</b>"),
            ("<a href=/x>one</a>", "Ad<br>"),
            ("<a href=/x>one two three four</a>", "<b>Trending</b>"),
        ] {
            assert!(found(&format!("<body>{around}{}", element.repeat(190_000))).is_empty());
        }
    }

    #[test]
    fn results_of_games_and_lists_of_names_are_no_headlines() {
        let game = |n: usize| {
            format!(
                "<li><a href='/match/north-town-v-south-town/88123{n}'><span>North Town</span>\
                 <span>{n}</span><span>-</span><span>0</span><span>South Town</span></a></li>"
            )
        };
        assert!(found(&(1..9).map(game).collect::<String>()).is_empty());
        let name = |n: usize| {
            format!("<td><a href='/share/a-long-name-of-a-share/88123{n}'>Share {n}a</a></td>")
        };
        assert!(found(&(1..9).map(name).collect::<String>()).is_empty());
        let story = |n: usize| {
            format!(
                "<li><a href='/sport/a-late-goal-for-the-town-88123{n}'>North Town win {n}-0 against South Town after \
                 a long night</a></li>"
            )
        };
        assert_eq!(found(&(1..9).map(story).collect::<String>()).len(), 8);
    }

    #[test]
    fn forms_that_scripts_fill_are_no_links() {
        let card = |to: &str, title: &str| {
            format!("<article><h3><a href='{to}'>{title}</a></h3></article>")
        };
        let mut cards: String = (1..7)
            .map(|n| {
                card(
                    &format!("/town/bridge-{n}0000{n}"),
                    &format!("Bridge number {n} is opened today"),
                )
            })
            .collect();
        cards += &card("/town/{{slug}}-900009", "The {{title}} of a story");
        cards += &card("/town/${slug}-900009", "The ${title} of a story");
        assert_eq!(found(&cards).len(), 6);
    }

    #[test]
    fn a_slash_at_the_end_makes_no_second_article() {
        let story = |n: usize| {
            format!(
                "<article><h2><a href='/2026/11/1{n}/bridge-{n}/'>Bridge number {n} is opened today</a></h2>\
                 <div>It is <a href='/2026/11/1{n}/bridge-{n}'>longer by {n} feet than others</a>.</div></article>"
            )
        };
        let all = found(&(1..7).map(story).collect::<String>());
        assert_eq!(all.len(), 6, "{all:?}");
        assert_eq!(all[0].1, "Bridge number 1 is opened today");
    }

    #[test]
    fn where_one_subscribes_is_no_headline() {
        let card = |url: &str, title: &str| {
            format!("<a class=card href='{url}'><article><h3>{title}</h3><p>Text</p></article></a>")
        };
        let stories: String = (1..9)
            .map(|n| {
                card(&format!("/town/bridge-number-{n}-is-opened"), &format!("Bridge {n} is open"))
            })
            .collect();
        for url in
            ["/newsletters/the-morning-for-busy-people", "/town/our-newsletter-for-busy-people"]
        {
            let all = found(&format!("{stories}{}", card(url, "The morning for busy people")));
            assert_eq!(all.len(), 8, "{url} {all:?}");
        }
    }

    #[test]
    fn a_title_goes_before_what_a_picture_shows() {
        let card = |n: usize| {
            format!(
                "<div><a href='/town/bridge_{n}0000{n}'><img alt='A lot of people on bridge {n} in the morning sun'></a>\
                 <a href='/town/bridge_{n}0000{n}'><div>Bridge {n} opens</div></a></div>"
            )
        };
        let all = found(&(1..7).map(card).collect::<String>());
        assert_eq!(all.len(), 6, "{all:?}");
        assert_eq!(all[0].1, "Bridge 1 opens");
    }

    #[test]
    fn prices_and_lists_of_names_are_no_headlines() {
        let rate = |n: usize| {
            format!("<li><a href='/rates/de000846900{n}'>Gold {n}.277,89 USD+0,0{n}%</a></li>")
        };
        assert!(found(&(1..9).map(rate).collect::<String>()).is_empty());
    }
}
