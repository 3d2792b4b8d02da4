//! The articles of the last days, and which marks they have.
//!
//! * What this is: articles in slots, for each mark the slots that have it, for each story its
//!   slots; how alike two articles are.
//! * Its place: [`super::Stories`] decides by it.
//! * Across languages: how alike what any language says is, and names and numbers.
//! * How alike: what speaks for one event and what against it is summed up (the cosine of facts, each mark with its weight
//!   and how rare it is; what titles and openings say; names that only one has; forms; time) and made a likelihood.
//! * Invariants: what is in a slot is in all three; memory is bounded by [`MOST`].

use super::gist::{Gist, Sort};
use argiope_model::Time;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Articles that are held whatever their age.
const FEW: usize = 4_000;
/// Articles that are held at most.
const MOST: usize = 40_000;
/// How long a story is held after its newest article.
const WINDOW: i64 = 4 * DAY;
pub(super) const DAY: i64 = 86_400_000;

/// Stories that are thought to be there before the first, so that the first are not taken for all.
const BEFORE: f32 = 30.0;
/// What a number counts more than a word or a name.
const NUMBER: f32 = 2.0;
/// What speaks for two articles telling of one event, by a logistic regression over pairs of articles (decision 30): how
/// alike names and numbers are; how much of the names in the titles the other says, on average; how much of one title
/// the other says, at best; how rare what stands in one title and in the other's opening is; how rare the third rarest
/// fact is that they share, and the third rarest mark that their openings share; each number that they share, four
/// at most.
const BY_FACTS: f32 = 3.34;
const BY_NAMED: f32 = 2.52;
const BY_TITLE: f32 = 3.35;
const BY_OPENING: f32 = 0.9;
const BY_RARE: f32 = 0.76;
const BY_RARE_OPENING: f32 = 0.59;
const BY_NUMBERS: f32 = 0.99;
/// And how alike what any language says is, the less the more words they share: that much of them is the whole of it.
const BY_THINGS: f32 = 8.0;
const FORM: f32 = 2.0;
/// What a share is taken for where there is nothing to share.
const NOTHING: f32 = 0.5;
/// What speaks against it: the same words about other numbers (a form that is filled in anew, as in weather reports).
const SERIES: f32 = 4.06;
/// That one has a name that it is about and the other lacks, or each has one, which counts against those that both
/// have; a day between them; one site, which has few reasons to tell a thing twice.
const ODD_NAME: f32 = 1.15;
const OTHER_NAMES: f32 = 3.27;
const DAYS: f32 = 0.47;
const SAME_SITE: f32 = 2.64;
/// And that both plainly are what is reported anew on every day, the weather or the markets, of two days.
const ANEW: f32 = 4.0;
const PLAINLY: f32 = 1.6;
const NEXT_DAY: f32 = 0.6;
/// What must be spoken for: the more articles there are, the rarer are their marks, and the more of them are alike by
/// chance.
const DOUBT: f32 = 0.12;
const CROWD: f32 = 1.82;
/// As many articles are thought to be there at least: few tell little of what is rare.
const LEAST: f32 = 70.0;
/// The weight of a name that an article is about: in the title and more than once in the text,
/// or said often.
const PROMINENT: f32 = 2.3;
/// Articles that are compared with one that is new.
const CANDIDATES: usize = 32;

/// What speaks for two articles in different languages telling of one event: how alike what any language says is, and
/// names and numbers; where letters are others, how alike names sound, and each number of one worth, four at most. And
/// against it: days, that each has a name that it is about and the other lacks, that numbers are others.
const BY_THINGS_ABROAD: f32 = 16.0;
const BY_FACTS_ABROAD: f32 = 13.0;
const BY_SOUNDS: f32 = 6.5;
const BY_NUMBERS_ABROAD: f32 = 2.7;
const DAYS_ABROAD: f32 = 0.7;
const OTHER_NAMES_ABROAD: f32 = 1.2;
const OTHER_NUMBERS_ABROAD: f32 = 2.0;
/// And that each has two numbers at least and none is in both: that counts less, the rarer a name is that they share.
/// Stories of one kind say the same things, of other people; so what is said counts there as far as a rare name is in both.
const NO_NUMBER_ABROAD: f32 = 4.0;
const BUT_A_NAME: f32 = 3.0;
const DOUBT_ABROAD: f32 = 6.0;
/// And there, where letters are others, that among more articles than so many more share a number by chance.
const CROWD_ABROAD: f32 = 0.6;
const CROWDED: f32 = 300.0;
/// What is added, squared, to what each says, as something that the other does not say.
const UNSAID: f32 = 10.0;
const UNSAID_FACTS: f32 = 30.0;
/// Against it: both have names, of this weight squared, and none sounds like one of the other.
const OTHER_SOUNDS: f32 = 4.0;
const SOUNDING: f32 = 12.0;
const PROMINENT_ABROAD: f32 = 2.0;
/// Articles of other languages that are compared with one that is new.
const ABROAD: usize = 12;
/// Entries of the index that are looked at for them.
const EFFORT: usize = 8_000;
/// An article.
pub(super) struct Article {
    pub doc: u64,
    pub story: u64,
    pub time: i64,
    site: u32,
    gist: Gist,
}

/// A mark, its weight and what it stands for.
type Mark = (u32, f32, Sort);

/// Marks are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u32(&mut self, mark: u32) {
        self.0 = u64::from(mark).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What two articles have in common, and what each has.
#[derive(Default)]
struct Sums {
    both: f32,
    one: f32,
    other: f32,
}

impl Sums {
    fn add(&mut self, one: f32, other: f32) {
        self.one += one * one;
        self.other += other * other;
        self.both += one * other;
    }

    fn cosine(&self) -> f32 {
        self.both / (self.one * self.other).sqrt().max(f32::MIN_POSITIVE)
    }

    /// The same where little is said, which may be alike by chance: as if each said something more that the other does
    /// not say.
    fn cosine_with_more(&self, unsaid: f32) -> f32 {
        self.both / ((self.one + unsaid) * (self.other + unsaid)).sqrt()
    }
}

/// The names that count most: of each what the other lacks, and of those that both have.
#[derive(Default)]
struct Tops {
    one: f32,
    other: f32,
    both: f32,
    /// How rare the rarest fact is that both have, of what can be.
    rarest: f32,
}

impl Tops {
    fn against(&self, top: f32) -> f32 {
        (top / self.both.max(0.1)).min(2.0)
    }

    /// How much one of the two is about a name that the other lacks.
    fn one_of_them(&self) -> f32 {
        self.against(self.one.max(self.other))
    }

    /// How much each is about one.
    fn each(&self) -> f32 {
        self.against(self.one.min(self.other))
    }
}

/// How many numbers each has, and both.
#[derive(Default)]
struct Numbers {
    one: u32,
    other: u32,
    both: u32,
}

impl Numbers {
    fn count(&mut self, x: Option<Mark>, y: Option<Mark>) {
        let is = |mark: Option<Mark>| u32::from(mark.is_some_and(|mark| mark.2 == Sort::Number));
        self.one += is(x);
        self.other += is(y);
        self.both += is(x.and(y));
    }

    /// Whether both have two at least and none is in both.
    fn are_others(&self) -> bool {
        self.one.min(self.other) >= 2 && self.both == 0
    }

    /// How many both have, four at most.
    fn some(&self) -> f32 {
        self.both.min(4) as f32
    }

    /// Which part of the numbers of the one that has fewer the other lacks. Fewer than two tell nothing.
    fn others(&self) -> f32 {
        let fewer = self.one.min(self.other);
        if fewer < 2 { 0.0 } else { 1.0 - self.both as f32 / fewer as f32 }
    }
}

/// What two articles have in common of what any language says: places and what happens, with numbers; how names sound;
/// the numbers alone.
#[derive(Default)]
struct Shared {
    things: Sums,
    /// Things and numbers that both say.
    count: f32,
    sounds: Sums,
    numbers: Numbers,
    /// How much both are about what is reported anew on every day.
    daily: f32,
}

impl Shared {
    /// How alike what is said is, the less the fewer things both say.
    fn likeness(&self) -> f32 {
        self.things.cosine_with_more(UNSAID) * self.count / (self.count + 1.0)
    }

    /// Whether names of some weight are told by both, and none sounds like one of the other.
    fn has_other_names(&self) -> bool {
        let Sums { one, other, both } = self.sounds;
        one.min(other) > SOUNDING && both == 0.0
    }

    /// Whether both are reports of one kind, of two days.
    fn are_of_two_days(&self, days: f32) -> bool {
        self.daily >= PLAINLY && days >= NEXT_DAY
    }
}

/// The three rarest marks that were seen.
#[derive(Default)]
struct Rarest([f32; 3]);

impl Rarest {
    fn add(&mut self, rarity: f32) {
        if let Some(at) = self.0.iter().position(|known| rarity > *known) {
            self.0[at..].rotate_right(1);
            self.0[at] = rarity;
        }
    }

    fn third(&self) -> f32 {
        self.0[2]
    }
}

/// What titles and openings say, see the weights.
struct Told {
    named: f32,
    title: f32,
    opening: f32,
    rare: f32,
}

/// What is in either, in the order of the hashes.
fn side_by_side<'a>(
    one: impl Iterator<Item = Mark> + 'a,
    other: impl Iterator<Item = Mark> + 'a,
) -> impl Iterator<Item = (Option<Mark>, Option<Mark>)> + 'a {
    let (mut a, mut b) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || {
        let order = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => x.0.cmp(&y.0),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        let x = if order.is_le() { a.next() } else { None };
        let y = if order.is_ge() { b.next() } else { None };
        Some((x, y))
    })
}

/// Letters that names are written in, by language: what is not named has Latin ones.
fn letters(language: u16) -> u8 {
    match &language.to_le_bytes() {
        b"ru" | b"uk" | b"be" | b"bg" | b"sr" | b"mk" | b"kk" | b"mn" => 1,
        b"el" => 2,
        b"ar" | b"fa" | b"ur" => 3,
        b"he" => 4,
        b"hi" | b"mr" | b"ne" => 5,
        b"zh" | b"ja" => 6,
        b"ko" => 7,
        b"th" => 8,
        _ => 0,
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Held {
    slots: Vec<Option<Article>>,
    /// The language of each slot.
    tongues: Vec<u16>,
    free: Vec<u32>,
    by_doc: HashMap<u64, u32>,
    postings: HashMap<u32, Vec<u32>, BuildHasherDefault<AsIs>>,
    stories: HashMap<u64, Vec<u32>>,
    languages: HashMap<u16, u32>,
    /// The newest three times: the third is now. One wrong date moves nothing.
    newest: [i64; 3],
    pruned: i64,
}

impl Held {
    pub fn article(&self, slot: u32) -> Option<&Article> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub fn slot_of(&self, doc: u64) -> Option<u32> {
        self.by_doc.get(&doc).copied()
    }

    /// The articles of a story, in the order they came in.
    pub fn members(&self, story: u64) -> &[u32] {
        self.stories.get(&story).map_or(&[], |slots| slots)
    }

    /// The language of an article.
    pub fn tongue(&self, slot: u32) -> u16 {
        self.tongues[slot as usize]
    }

    /// Takes in an article of a story.
    pub fn add(&mut self, doc: u64, site: &str, time: Time, gist: Gist, story: u64) -> u32 {
        self.remove(doc);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.tongues.push(0);
            (self.slots.len() - 1) as u32
        });
        for (mark, ..) in gist.marks().chain(gist.shared()) {
            self.postings.entry(mark).or_default().push(slot);
        }
        *self.languages.entry(gist.language()).or_default() += 1;
        self.by_doc.insert(doc, slot);
        self.stories.entry(story).or_default().push(slot);
        let site = site.bytes().fold(7_u32, |h, b| h.wrapping_mul(31).wrapping_add(u32::from(b)));
        self.tongues[slot as usize] = gist.language();
        self.slots[slot as usize] = Some(Article { doc, story, time: time.0, site, gist });
        if let Some(at) = self.newest.iter().position(|known| time.0 > *known) {
            self.newest[at..].rotate_right(1);
            self.newest[at] = time.0;
        }
        self.prune();
        slot
    }

    /// An article is no longer there.
    pub fn remove(&mut self, doc: u64) {
        let Some(slot) = self.by_doc.remove(&doc) else { return };
        let Some(article) = self.slots[slot as usize].take() else { return };
        for (mark, ..) in article.gist.marks().chain(article.gist.shared()) {
            if let Some(posting) = self.postings.get_mut(&mark) {
                if let Some(at) = posting.iter().position(|s| *s == slot) {
                    posting.swap_remove(at);
                }
                if posting.is_empty() {
                    self.postings.remove(&mark);
                }
            }
        }
        if let Some(count) = self.languages.get_mut(&article.gist.language()) {
            *count -= 1;
        }
        self.leave(slot, article.story);
        self.free.push(slot);
    }

    /// An article belongs to a story.
    pub fn assign(&mut self, slot: u32, story: u64) {
        let Some(article) = self.slots.get_mut(slot as usize).and_then(Option::as_mut) else {
            return;
        };
        let before = std::mem::replace(&mut article.story, story);
        if before == story {
            return;
        }
        self.leave(slot, before);
        self.stories.entry(story).or_default().push(slot);
    }

    /// A story has one article less.
    fn leave(&mut self, slot: u32, story: u64) {
        if let Some(slots) = self.stories.get_mut(&story) {
            slots.retain(|s| *s != slot);
            if slots.is_empty() {
                self.stories.remove(&story);
            }
        }
    }

    /// Drops stories that nobody adds to any more.
    fn prune(&mut self) {
        let now = self.newest[2];
        if self.by_doc.len() <= FEW || now < self.pruned + DAY / 24 && self.by_doc.len() <= MOST {
            return;
        }
        self.pruned = now;
        let newest = |slots: &Vec<u32>| {
            slots.iter().filter_map(|s| self.article(*s)).map(|a| a.time).max().unwrap_or(0)
        };
        let mut by_age: Vec<(i64, u64)> =
            self.stories.iter().map(|(story, slots)| (newest(slots), *story)).collect();
        by_age.sort_unstable();
        let mut left = self.by_doc.len();
        for (time, story) in by_age {
            if time >= now - WINDOW && left <= MOST - MOST / 10 || left <= FEW {
                break;
            }
            let docs: Vec<u64> =
                self.members(story).iter().filter_map(|s| Some(self.article(*s)?.doc)).collect();
            left -= docs.len();
            docs.into_iter().for_each(|doc| self.remove(doc));
        }
    }

    /// How many articles there are of a language.
    fn count_of(&self, language: u16) -> f32 {
        self.languages.get(&language).copied().unwrap_or(0) as f32
    }

    /// How rare a mark is among that many articles.
    fn rarity(&self, mark: u32, count: f32) -> f32 {
        let with = self.postings.get(&mark).map_or(0, Vec::len) as f32;
        (1.0 + (count + BEFORE) / (with + 0.5)).ln()
    }

    /// The articles of its language most like one that is held, each with its likeness, best first.
    pub fn like(&self, slot: u32) -> Vec<(u32, f32)> {
        let Some(article) = self.article(slot) else { return Vec::new() };
        let count = self.count_of(article.gist.language());
        let common = (self.by_doc.len() / 20).max(200);
        let mut sums = vec![0.0_f32; self.slots.len()];
        for (mark, weight, _) in article.gist.marks() {
            let Some(posting) = self.postings.get(&mark).filter(|p| p.len() <= common) else {
                continue;
            };
            let rarity = self.rarity(mark, count);
            for slot in posting {
                sums[*slot as usize] += weight * rarity * rarity;
            }
        }
        let found = sums.into_iter().enumerate().filter(|(_, sum)| *sum > 0.0);
        let mut best: Vec<(u32, f32)> = found
            .map(|(other, sum)| (other as u32, sum))
            .filter(|(other, _)| *other != slot && self.tongue(*other) == self.tongue(slot))
            .collect();
        let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if best.len() > CANDIDATES {
            best.select_nth_unstable_by(CANDIDATES, order);
        }
        best.truncate(CANDIDATES);
        for (other, likeness) in &mut best {
            *likeness = self.alike(slot, *other);
        }
        best.sort_unstable_by(order);
        best
    }

    /// How alike two articles are that are held.
    pub fn alike(&self, a: u32, b: u32) -> f32 {
        match (self.article(a), self.article(b)) {
            (Some(a), Some(b)) => self.likeness(a, b),
            _ => 0.0,
        }
    }

    /// The articles of other languages that share most that is rare with one that is held.
    pub fn abroad(&self, slot: u32) -> Vec<u32> {
        let Some(article) = self.article(slot) else { return Vec::new() };
        let count = self.by_doc.len() as f32;
        let facts = article.gist.marks().filter(|(_, _, sort)| *sort != Sort::Word);
        let marks = facts.chain(article.gist.shared()).filter_map(|(mark, weight, _)| {
            let posting = self.postings.get(&mark)?;
            let rarity = self.rarity(mark, count);
            Some((weight * rarity * rarity, posting))
        });
        let mut marks: Vec<(f32, &Vec<u32>)> = marks.collect();
        marks.sort_by_key(|(_, posting)| posting.len());
        let mut sums: HashMap<u32, f32, BuildHasherDefault<AsIs>> = HashMap::default();
        let mut left = EFFORT;
        for (weight, posting) in marks {
            left = left.saturating_sub(posting.len());
            if left == 0 {
                break;
            }
            for other in posting.iter().filter(|o| self.tongue(**o) != self.tongue(slot)) {
                *sums.entry(*other).or_default() += weight;
            }
        }
        let mut best: Vec<(u32, f32)> = sums.into_iter().collect();
        best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.into_iter().take(ABROAD).map(|(slot, _)| slot).collect()
    }

    /// How likely it is that two articles in different languages tell of one event.
    pub fn kinship(&self, a: u32, b: u32) -> f32 {
        let (Some(a), Some(b)) = (self.article(a), self.article(b)) else { return 0.0 };
        let days = (a.time - b.time).abs() as f32 / DAY as f32;
        if days > 3.0 {
            return 0.0;
        }
        let shared = self.shared(&a.gist, &b.gist);
        let mut said = BY_THINGS_ABROAD * shared.likeness();
        let mut sum = -DAYS_ABROAD * days - DOUBT_ABROAD;
        if letters(a.gist.language()) == letters(b.gist.language()) {
            let (facts, tops) = self.facts(&a.gist, &b.gist);
            sum += BY_FACTS_ABROAD * facts.cosine_with_more(UNSAID_FACTS).min(1.0)
                - OTHER_NAMES_ABROAD * tops.each();
            if shared.numbers.are_others() {
                said *= tops.rarest;
                sum -= NO_NUMBER_ABROAD - BUT_A_NAME * tops.rarest;
            }
        } else {
            sum += BY_SOUNDS * shared.sounds.cosine() + BY_NUMBERS_ABROAD * shared.numbers.some();
            sum -= OTHER_NUMBERS_ABROAD * shared.numbers.others();
            sum -= CROWD_ABROAD * (self.by_doc.len() as f32 / CROWDED).ln().max(0.0);
            if shared.has_other_names() {
                sum -= OTHER_SOUNDS;
            }
        }
        if shared.are_of_two_days(days) {
            sum -= ANEW;
        }
        1.0 / (1.0 + (-(sum + said)).exp())
    }

    /// What two articles have in common of what any language says.
    fn shared(&self, one: &Gist, other: &Gist) -> Shared {
        let count = self.by_doc.len() as f32;
        let mut out = Shared::default();
        for (x, y) in side_by_side(one.shared(), other.shared()) {
            let Some((mark, _, sort)) = x.or(y) else { continue };
            let rarity = self.rarity(mark, count);
            let sums = if sort == Sort::Name { &mut out.sounds } else { &mut out.things };
            let weigh = |mark: Option<Mark>| mark.map_or(0.0, |(_, weight, _)| weight * rarity);
            sums.add(weigh(x), weigh(y));
            if x.is_some() && y.is_some() && sort != Sort::Name {
                out.count += 1.0;
            }
            if let (Some((_, x, Sort::Pair)), Some((_, y, _))) = (x, y) {
                out.daily = out.daily.max(x.min(y));
            }
            out.numbers.count(x, y);
        }
        out
    }

    /// Names and numbers of two articles in different languages, and the names that count most.
    fn facts(&self, a: &Gist, b: &Gist) -> (Sums, Tops) {
        let count = self.count_of(a.language()) + self.count_of(b.language());
        let (mut facts, mut tops) = (Sums::default(), Tops::default());
        // Two have it.
        let most = (1.0 + (count + BEFORE) / 2.5).ln();
        for (x, y) in side_by_side(a.marks(), b.marks()) {
            let weigh = |mark: Option<Mark>| {
                let mark = mark.filter(|(_, _, sort)| *sort != Sort::Word);
                mark.map(|mark| (mark, mark.1 * self.rarity(mark.0, count)))
            };
            let (one, other) = (weigh(x), weigh(y));
            facts.one += one.map_or(0.0, |(_, weight)| weight * weight);
            facts.other += other.map_or(0.0, |(_, weight)| weight * weight);
            if let (Some(x), Some(y)) = (x, y)
                && one.or(other).is_some()
            {
                // What is a name in one language may be written like a word in the other.
                let rarity = self.rarity(x.0, count);
                facts.both += x.1 * y.1 * rarity * rarity;
                if x.2.is_name() && y.2.is_name() {
                    tops.rarest = tops.rarest.max((rarity / most).min(1.0));
                }
                if x.2 != Sort::Number {
                    tops.both = tops.both.max(x.1.max(y.1) * rarity);
                }
            } else if let Some((mark, weight)) = one.or(other)
                && mark.2.is_name()
                && mark.1 >= PROMINENT_ABROAD
            {
                let top = if one.is_some() { &mut tops.one } else { &mut tops.other };
                *top = top.max(weight);
            }
        }
        (facts, tops)
    }

    /// How likely it is that two articles tell of one event.
    fn likeness(&self, a: &Article, b: &Article) -> f32 {
        let days = (a.time - b.time).abs() as f32 / DAY as f32;
        if days > 4.0 || a.gist.language() != b.gist.language() {
            return 0.0;
        }
        let count = self.count_of(a.gist.language());
        // Of words, and of names and numbers: what both have, and what each has.
        let mut words = Sums::default();
        let mut facts = Sums::default();
        let mut tops = Tops::default();
        let mut numbers = Numbers::default();
        let mut rare = Rarest::default();
        for (x, y) in side_by_side(a.gist.marks(), b.gist.marks()) {
            let is_fact = [x, y].iter().flatten().any(|(_, _, sort)| *sort != Sort::Word);
            let sums = if is_fact { &mut facts } else { &mut words };
            let weigh = |(mark, weight, sort): Mark| {
                let factor = if sort == Sort::Number { NUMBER } else { 1.0 };
                weight * factor * self.rarity(mark, count)
            };
            let (one, other) = (x.map_or(0.0, weigh), y.map_or(0.0, weigh));
            sums.add(one, other);
            match (x, y) {
                (Some(x), Some(_)) if is_fact => {
                    if x.2 != Sort::Number {
                        tops.both = tops.both.max(one.max(other));
                    }
                    if x.2 != Sort::Pair {
                        rare.add(self.rarity(x.0, count));
                    }
                }
                (Some(x), None) if x.2.is_name() && x.1 >= PROMINENT => {
                    tops.one = tops.one.max(one);
                }
                (None, Some(y)) if y.2.is_name() && y.1 >= PROMINENT => {
                    tops.other = tops.other.max(other);
                }
                _ => {}
            }
            numbers.count(x, y);
        }
        let told = self.told(&a.gist, &b.gist, count);
        // The same things in the same words are a form.
        let own_words = (1.0 - FORM * words.cosine()).max(0.0);
        let mut sum = BY_FACTS * facts.cosine() + BY_RARE * rare.third() - DOUBT;
        sum -= CROWD * (count.max(LEAST) + BEFORE).ln();
        sum += BY_NAMED * told.named + BY_TITLE * told.title;
        sum += BY_OPENING * told.opening + BY_RARE_OPENING * told.rare;
        sum += BY_NUMBERS * numbers.some();
        let shared = self.shared(&a.gist, &b.gist);
        sum += BY_THINGS * own_words * shared.things.cosine();
        if shared.are_of_two_days(days) {
            sum -= ANEW;
        }
        sum -= SERIES * words.cosine() * numbers.others();
        sum -= ODD_NAME * tops.one_of_them() + OTHER_NAMES * tops.each();
        sum -= DAYS * days;
        if a.site == b.site {
            sum -= SAME_SITE;
        }
        1.0 / (1.0 + (-sum).exp())
    }

    /// What the titles and openings of two articles have in common.
    fn told(&self, one: &Gist, other: &Gist, count: f32) -> Told {
        // In the order of their hashes, as all marks are.
        let openings: [Vec<u32>; 2] =
            [one, other].map(|gist| gist.opening().map(|(mark, _)| mark).collect());
        // Of a title: how much of its names and of all of it the other says, and what of it stands in the other's opening.
        let shares = |one: &Gist, other: &Gist, opening: &[u32]| {
            let (mut names, mut all, mut opened) = ([0.0_f32; 2], [0.0_f32; 2], 0.0);
            for (mark, sort) in one.title() {
                let rarity = self.rarity(mark, count);
                let both = if other.has(mark) { rarity * rarity } else { 0.0 };
                all = [all[0] + rarity * rarity, all[1] + both];
                if sort.is_name() {
                    names = [names[0] + rarity * rarity, names[1] + both];
                }
                if sort != Sort::Pair && opening.binary_search(&mark).is_ok() {
                    opened += rarity;
                }
            }
            let share = |[all, both]: [f32; 2]| if all > 0.0 { both / all } else { NOTHING };
            (share(names), share(all), opened)
        };
        let (a, b) = (shares(one, other, &openings[1]), shares(other, one, &openings[0]));
        let mut rare = Rarest::default();
        one.opening()
            .filter(|(mark, sort)| *sort != Sort::Pair && openings[1].binary_search(mark).is_ok())
            .for_each(|(mark, _)| rare.add(self.rarity(mark, count)));
        Told {
            named: (a.0 + b.0) / 2.0,
            title: a.1.max(b.1),
            opening: (1.0 + a.2 + b.2).ln(),
            rare: rare.third(),
        }
    }
}
