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
mod region;

use crate::ago::read_time;
use crate::learned::Learned;
use crate::shape::{article_score, is_section_url, is_service, shape};
use argiope_model::{CanonicalUrl, Suffixes, Time};
use argiope_parse::Outline;
use block::is_wide;
use region::Region;
use std::collections::{HashMap, HashSet};

/// Bytes of a title.
const MAX_TITLE_BYTES: usize = 400;
/// What a link must reach to be a headline.
const ENOUGH: f32 = 2.0;

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
    /// Whether it leads to another site.
    foreign: bool,
    /// By itself.
    own: f32,
    /// The group of links at equal places.
    place: u64,
}

/// All links to one URL.
struct Target {
    url: CanonicalUrl,
    by_url: f32,
    foreign: bool,
    shape: usize,
    links: Vec<usize>,
    score: f32,
    /// The link that stands for it.
    best: usize,
    taken: bool,
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
    reading.judge_by_company();
    reading.drop_foreign();
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
        let regions = region::regions(page);
        // bbc.com and bbc.co.uk are of one house.
        let house = |host: &str| {
            let site = suffixes.site_of(host);
            site.split('.').next().unwrap_or_default().to_owned()
        };
        let own_house = house(url.host());
        let mut known: HashMap<CanonicalUrl, usize> = HashMap::new();
        let mut shapes: HashMap<String, usize> = HashMap::new();
        let (mut links, mut targets): (Vec<Link>, Vec<Target>) = (Vec::new(), Vec::new());
        for node in page.inside(0, &["a"]) {
            let Some(href) = page.attribute(node, "href") else { continue };
            let href = href.trim();
            if href.is_empty() || href.starts_with('#') {
                continue;
            }
            let Ok(to) = joiner.join(href) else { continue };
            if to == *url || to.path() == "/" && to.query().is_none() {
                continue;
            }
            let to = without_tracking(&to);
            let target = *known.entry(to.clone()).or_insert_with(|| {
                let count = shapes.len();
                let shape = *shapes.entry(shape(&to)).or_insert(count);
                let foreign = house(to.host()) != own_house;
                let by_url = by_url(&to, learned) - if foreign { 1.0 } else { 0.0 };
                targets.push(Target {
                    url: to,
                    by_url,
                    foreign,
                    shape,
                    links: Vec::new(),
                    score: f32::MIN,
                    best: 0,
                    taken: false,
                });
                targets.len() - 1
            });
            let (mut title, heading) = title(page, node);
            // A time that leads to something is not its title.
            if title.len() <= 30 && read_time(&title, Time(0)).is_some() {
                title.clear();
            }
            let mut own = by_words(&title) + targets[target].by_url;
            own += if heading {
                2.0
            } else if is_named_title(page, node) {
                1.0
            } else {
                0.0
            };
            let rel = page.attribute(node, "rel").unwrap_or_default().to_ascii_lowercase();
            if ["sponsored", "author", "tag"].iter().any(|word| rel.split(' ').any(|r| r == *word))
            {
                own -= 4.0;
            }
            if !heading && is_in_prose(page, node) {
                own -= 3.0;
            }
            let foreign = targets[target].foreign;
            targets[target].links.push(links.len());
            links.push(Link {
                node,
                target,
                title,
                region: regions[node],
                heading,
                foreign,
                own,
                place: place(page, node),
            });
        }
        Reading { page, base, links, targets, shapes: shapes.len() }
    }

    /// Words that lead to several articles say nothing about any of them: "read more".
    fn drop_common_titles(&mut self) {
        let mut targets: HashMap<&str, Vec<usize>> = HashMap::new();
        for link in self.links.iter().filter(|l| !l.title.is_empty()) {
            let known = targets.entry(&link.title).or_default();
            if known.len() < 3 && !known.contains(&link.target) {
                known.push(link.target);
            }
        }
        let common: HashSet<String> = targets
            .into_iter()
            .filter(|(_, t)| t.len() >= 3)
            .map(|(title, _)| title.to_owned())
            .collect();
        for link in self.links.iter_mut().filter(|l| common.contains(&l.title)) {
            link.title.clear();
        }
    }

    /// Links at equal places share half of their judgement.
    fn judge_by_company(&mut self) {
        let mut groups: HashMap<u64, (f32, f32)> = HashMap::new();
        for link in self.links.iter().filter(|l| l.region != Region::Around && !l.title.is_empty())
        {
            let (sum, count) = groups.entry(link.place).or_default();
            *sum += link.own;
            *count += 1.0;
        }
        for (at, link) in self.links.iter().enumerate() {
            if link.region == Region::Around || link.title.is_empty() {
                continue;
            }
            let (sum, count) = groups.get(&link.place).copied().unwrap_or((link.own, 1.0));
            let mut score =
                if count >= 3.0 { (link.own + sum / count) / 2.0 + 0.3 } else { link.own };
            score -= match link.region {
                Region::Popular => 6.0,
                Region::Head if link.own < 3.5 => 6.0,
                Region::Beside => 0.8,
                _ => 0.0,
            };
            let target = &mut self.targets[link.target];
            let better = score + if link.heading { 1.0 } else { 0.0 };
            let known = target.score
                + if target.score > f32::MIN && self.links[target.best].heading {
                    1.0
                } else {
                    0.0
                };
            if target.score == f32::MIN || better > known {
                target.score = score;
                target.best = at;
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
        if own < 5 {
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
            if target.score == f32::MIN {
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
            if title.chars().count() > 15
                && seen.insert(title.clone(), target.url.clone()).is_some()
            {
                continue;
            }
            let (shown_time, time) = block::time(self.page, block, now);
            let mut summary = block::summary(self.page, block, &title);
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
fn without_tracking(url: &CanonicalUrl) -> CanonicalUrl {
    let Some(query) = url.query() else { return url.clone() };
    let bare = url.without_query();
    if article_score(&bare) >= 1.5 {
        return bare;
    }
    let is_tracking = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        let known =
            ["ref", "referrer", "source", "fbclid", "gclid", "cmp", "cmpid", "icid", "from", "spm"];
        name.starts_with("utm_") || known.contains(&&*name)
    };
    let kept: Vec<&str> = query.split('&').filter(|pair| !is_tracking(pair)).collect();
    let text =
        if kept.is_empty() { bare.to_string() } else { format!("{bare}?{}", kept.join("&")) };
    CanonicalUrl::parse(&text).map_or_else(|_| url.clone(), |kept| kept.with_sorted_query())
}

/// Whether a link stands in running text: its block says much more than the link does.
fn is_in_prose(page: &Outline, link: usize) -> bool {
    let block = page.ancestors(link).find(|&a| page.is_block(a));
    let Some(block) = block.filter(|&b| matches!(&*page.nodes[b].name, "p" | "em" | "blockquote"))
    else {
        return false;
    };
    let all = page.line(block, 800, |_| false);
    let others = page.line(block, 800, |n| page.nodes[n].name == "a");
    others.len() > 40 && 2 * others.len() > all.len()
}

/// What a URL says for a link: by its form, and by what its site taught; where that is sure, a
/// form that means nothing elsewhere is no reproach.
fn by_url(url: &CanonicalUrl, learned: &Learned) -> f32 {
    let (form, hint) = (article_score(url), learned.hint(url));
    if hint >= 2.0 { form.max(1.0) + hint } else { form + hint }
}

/// How many words a text has; a letter of a script without spaces is half of one.
fn word_count(text: &str) -> f32 {
    let wide = text.chars().filter(|c| is_wide(*c)).count() as f32;
    let words = text.split(|c: char| c.is_whitespace() || is_wide(c));
    let words = words.filter(|w| w.chars().any(char::is_alphanumeric)).count() as f32;
    words + wide / 2.0
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
    if letters < 10 && !title.chars().any(is_wide) {
        score -= 1.0;
    }
    score
}

/// Whether the class of the link or what is right around it calls it a title.
fn is_named_title(page: &Outline, link: usize) -> bool {
    let near = std::iter::once(link)
        .chain(page.ancestors(link).take(2))
        .chain(page.children(link).take(3));
    near.filter_map(|n| page.attribute(n, "class")).any(|class| {
        let class = class.to_ascii_lowercase();
        ["title", "headline", "heading", "hed", "titulo", "titre"]
            .iter()
            .any(|word| class.contains(word))
    })
}

/// The title a link shows, and whether it has to do with a heading.
fn title(page: &Outline, link: usize) -> (String, bool) {
    const HEADINGS: &[&str] = &["h1", "h2", "h3", "h4", "h5", "h6"];
    let all = |node| page.line(node, MAX_TITLE_BYTES, |_| false);
    for heading in page.inside(link, HEADINGS) {
        let text = all(heading);
        if !text.is_empty() {
            return (text, true);
        }
    }
    let in_heading = page.ancestors(link).take(4).any(|a| HEADINGS.contains(&&*page.nodes[a].name));
    let whole = all(link);
    // A card that is one link: its title is the part that is called so, else its first lines.
    let parts: Vec<usize> = leaf_blocks(page, link);
    if parts.len() > 1 {
        let named = (link + 1..page.nodes[link].end).find(|&n| {
            let class = page.attribute(n, "class").unwrap_or_default().to_ascii_lowercase();
            let is_named = ["title", "headline", "hed"].iter().any(|word| class.contains(word));
            is_named && !page.nodes[n].name.is_empty() && word_count(&all(n)) >= 2.0
        });
        if let Some(named) = named {
            return (all(named), in_heading);
        }
        let first = parts.iter().map(|&p| all(p)).find(|t| word_count(t) >= 3.0);
        if let Some(first) = first {
            return (first, in_heading);
        }
    }
    if !whole.is_empty() {
        return (whole, in_heading);
    }
    // A picture says what it shows, which is rarely a title.
    let said = page.attribute(link, "aria-label").or_else(|| page.attribute(link, "title"));
    let shown = || page.inside(link, &["img"]).find_map(|image| page.attribute(image, "alt"));
    let said = said.or_else(shown);
    (
        said.map(|s| s.split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default(),
        in_heading,
    )
}

/// The blocks inside of a link that hold no other blocks and say something.
fn leaf_blocks(page: &Outline, link: usize) -> Vec<usize> {
    let inside = link + 1..page.nodes[link].end;
    let is_block = |n: usize| {
        page.is_block(n) && !page.is_hidden(n)
            || page.nodes[n].name == "span" && page.nodes[n].parent == link
    };
    inside
        .filter(|&n| {
            is_block(n)
                && !(n + 1..page.nodes[n].end).any(|inner| page.is_block(inner))
                && !page.line(n, 20, |_| false).is_empty()
        })
        .collect()
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
