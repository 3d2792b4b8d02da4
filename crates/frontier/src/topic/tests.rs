//! A small made-up web with two topics; what is read first where the order goes by the topic.

use super::*;
use argiope_model::HostKey;

struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

const PAGES: usize = 600;
/// One page of ten is on the topic.
const TOPICS: usize = 10;

struct Page {
    topic: usize,
    text: Vec<Word>,
    /// Where to, and in which words.
    links: Vec<(usize, Vec<Word>)>,
}

fn key(page: usize) -> UrlKey {
    UrlKey { host: HostKey { part: 1, host: [0; 6] }, url: page as u64 }
}

/// A word of a topic; the last ones are everybody's.
fn word(draw: &mut Draw, topic: usize) -> Word {
    (topic * 100 + draw.below(30)) as Word
}

fn web(seed: u64) -> Vec<Page> {
    let mut draw = Draw(seed);
    let mut topics: Vec<usize> = (0..PAGES).map(|_| draw.below(TOPICS)).collect();
    topics[..10].fill(1);
    let same =
        |topic: usize| -> Vec<usize> { (0..PAGES).filter(|page| topics[*page] == topic).collect() };
    let same: Vec<Vec<usize>> = (0..TOPICS).map(same).collect();
    let mut pages: Vec<Page> = Vec::new();
    for topic in &topics {
        let mut text = Vec::new();
        for _ in 0..80 {
            let own = draw.below(4) == 0;
            text.push(word(&mut draw, if own { *topic } else { TOPICS }));
        }
        pages.push(Page { topic: *topic, text, links: Vec::new() });
    }
    for page in 0..PAGES {
        for n in 0..7 {
            let to = match n {
                0 => (page + 1) % PAGES,
                1..4 => same[topics[page]][draw.below(same[topics[page]].len())],
                _ => draw.below(PAGES),
            };
            // Half of the links say what is behind them, some say what is not.
            let words = match draw.below(10) {
                0..5 => vec![word(&mut draw, topics[to]), word(&mut draw, TOPICS)],
                5 => vec![(draw.below(TOPICS) * 100) as Word],
                _ => vec![word(&mut draw, TOPICS)],
            };
            pages[page].links.push((to, words));
        }
    }
    pages
}

/// How many of the first fifth of the pages are on the topic.
fn harvest(web: &[Page], mut topic: Option<Topic>) -> usize {
    let mut queue: Vec<(usize, Score)> = vec![(0, Score::BEST)];
    let mut known = vec![false; PAGES];
    known[0] = true;
    let mut good = 0;
    for _ in 0..PAGES / 5 {
        // The first of the best.
        let Some(best) = queue.iter().map(|row| row.1).max() else { break };
        let at = queue.iter().position(|row| row.1 == best).unwrap();
        let page = queue.remove(at).0;
        good += usize::from(web[page].topic == 0);
        for (to, _) in &web[page].links {
            if !std::mem::replace(&mut known[*to], true) {
                queue.push((*to, Score::BEST));
            }
        }
        let Some(topic) = &mut topic else { continue };
        topic.read(key(page), 1, &web[page].text);
        for (to, words) in &web[page].links {
            let (target, folder) = (key(*to), 1);
            topic.link(key(page), LinkWords { target, folder, words, around: &[], url: &[] });
        }
        for (key, score) in topic.settle() {
            queue.iter_mut().filter(|row| row.0 as u64 == key.url).for_each(|row| row.1 = score);
        }
    }
    good
}

#[test]
fn three_times_the_pages_of_breadth_first_whether_words_or_an_example_are_given() {
    for seed in [1, 2, 3] {
        let web = web(seed);
        let all = web.iter().filter(|page| page.topic == 0).count();
        let breadth = harvest(&web, None);
        let words = harvest(&web, Some(Topic::about(vec![vec![0], vec![1], vec![2]])));
        let mut like = Topic::about(Vec::new());
        let example = web.iter().rposition(|page| page.topic == 0).unwrap();
        like.like(key(example), &web[example].text);
        let like = harvest(&web, Some(like));
        assert!(words >= 3 * breadth && like >= 3 * breadth, "{breadth} {words} {like} of {all}");
        assert!(10 * words >= 7 * all && 10 * like >= 7 * all, "{words} {like} of {all}");
    }
}

#[test]
fn the_parts_of_a_score_say_why() {
    let mut topic = Topic::about(vec![vec![7]]);
    topic.read(key(0), 1, &[7, 8, 9]);
    let link = |words: &'static [Word], target| LinkWords {
        target,
        folder: 1,
        words,
        around: &[],
        url: &[],
    };
    topic.link(key(0), link(&[7], key(1)));
    topic.link(key(0), link(&[50], key(2)));
    assert_eq!(topic.settle().len(), 2);
    assert!(topic.score(key(1)) > topic.score(key(2)));
    let part = |page, wanted: Part| {
        topic.parts(key(page)).unwrap().into_iter().find(|(part, _)| *part == wanted).unwrap().1
    };
    assert!(part(1, Part::Words) > 0.5 && part(2, Part::Words).abs() < 0.01);
    assert_eq!(part(1, Part::Way), part(2, Part::Way));
    assert_eq!(topic.parts(key(3)), None);
}

#[test]
fn what_is_read_or_gone_waits_no_more() {
    let mut topic = Topic::about(vec![vec![7]]);
    topic.read(key(0), 1, &[7, 8, 9]);
    let link = |target| LinkWords { target, folder: 1, words: &[7], around: &[], url: &[] };
    (1..4).for_each(|page| topic.link(key(0), link(key(page))));
    topic.settle();
    topic.read(key(1), 1, &[7]);
    topic.gone(key(2));
    (0..4).for_each(|page| topic.link(key(0), link(key(page))));
    topic.settle();
    let waits = |page| topic.score(key(page)).is_some();
    assert_eq!([waits(0), waits(1), waits(2), waits(3)], [false, false, false, true]);
    assert!(topic.relevance(key(1)).is_some());
}

#[test]
fn what_waits_is_bounded_and_the_best_are_kept() {
    let mut topic = Topic::about(vec![vec![7]]);
    topic.read(key(0), 1, &[7, 8, 9]);
    for page in 1..2 * MOST_WAITING {
        let words: &[Word] = if page % 100 == 0 { &[7] } else { &[50] };
        let target = key(page);
        topic.link(key(0), LinkWords { target, folder: 1, words, around: &[], url: &[] });
        if page % 64 == 0 {
            topic.settle();
        }
    }
    assert!(topic.waiting.len() <= MOST_WAITING);
    assert!(topic.score(key(100)).is_some(), "one of the first, and good");
}
