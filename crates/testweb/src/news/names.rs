//! Who, where and how many: the facts of an event.
//!
//! Names are made of syllables that can be written in Latin letters and in Chinese characters, so
//! that an event can be told in several languages. What happens in China alone has Chinese names.

use super::sites::Lang;
use crate::draw::Draw;

const SYLLABLES: [(&str, &str); 32] = [
    ("ka", "卡"),
    ("ro", "罗"),
    ("mi", "米"),
    ("len", "伦"),
    ("da", "达"),
    ("vi", "维"),
    ("so", "索"),
    ("ber", "贝"),
    ("ta", "塔"),
    ("nor", "诺"),
    ("el", "埃"),
    ("ma", "马"),
    ("ri", "里"),
    ("gan", "甘"),
    ("bo", "博"),
    ("lin", "林"),
    ("sa", "萨"),
    ("fe", "费"),
    ("to", "托"),
    ("hel", "赫"),
    ("ni", "尼"),
    ("os", "奥"),
    ("pe", "佩"),
    ("lu", "卢"),
    ("ar", "阿"),
    ("de", "德"),
    ("wen", "文"),
    ("ki", "基"),
    ("zo", "佐"),
    ("ha", "哈"),
    ("ju", "朱"),
    ("tam", "坦"),
];
const FAMILIES: [&str; 16] = [
    "王", "李", "张", "刘", "陈", "杨", "赵", "黄", "周", "吴", "徐", "孙", "胡", "郭", "何", "高",
];
const GIVEN: [&str; 20] = [
    "卫", "建", "晓", "志", "明", "丽", "海", "国", "文", "雪", "春", "立", "永", "佳", "思", "远",
    "宏", "静", "云", "航",
];
const PLACES: [&str; 20] = [
    "青", "临", "安", "东", "河", "阳", "宁", "松", "岭", "川", "湖", "泽", "云", "望", "嘉", "平",
    "淮", "澜", "石", "桐",
];

/// A name in the scripts it may be written in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Name {
    given: String,
    family: String,
    han: String,
}

impl Name {
    /// A person; one of China where `native`.
    pub(crate) fn person(draw: &mut Draw, native: bool) -> Self {
        let (given, given_han) = syllables(draw, 2);
        let count = 2 + draw.below(2);
        let (family, family_han) = syllables(draw, count);
        let native_han = [draw.pick(&FAMILIES), draw.pick(&GIVEN), draw.pick(&GIVEN)].concat();
        let han = if native { native_han } else { format!("{given_han}·{family_han}") };
        Name { given, family, han }
    }

    /// A place, a firm or a thing.
    pub(crate) fn thing(draw: &mut Draw, native: bool) -> Self {
        let count = 2 + draw.below(2);
        let (family, family_han) = syllables(draw, count);
        let native_han = [draw.pick(&PLACES), draw.pick(&PLACES)].concat();
        let han = if native { native_han } else { family_han };
        Name { given: String::new(), family, han }
    }

    /// All of the name.
    pub(crate) fn full(&self, lang: Lang) -> String {
        match lang {
            Lang::Zh => self.han.clone(),
            _ if self.given.is_empty() => self.family.clone(),
            _ => format!("{} {}", self.given, self.family),
        }
    }

    /// What a person is called at the second time.
    pub(crate) fn short(&self, lang: Lang) -> String {
        match lang {
            Lang::Zh => self.han.clone(),
            _ => self.family.clone(),
        }
    }
}

fn syllables(draw: &mut Draw, count: usize) -> (String, String) {
    let (mut latin, mut han) = (String::new(), String::new());
    for _ in 0..count {
        let (sound, character) = draw.pick(&SYLLABLES);
        latin.push_str(sound);
        han.push_str(character);
    }
    let capital = latin[..1].to_ascii_uppercase() + &latin[1..];
    (capital, han)
}

/// What is true of an event, whoever tells it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) persons: [Name; 2],
    pub(crate) firms: [Name; 2],
    /// The place, another one, the region or river.
    pub(crate) places: [Name; 3],
    pub(crate) thing: Name,
    /// A few, some dozens, a person's age, degrees, hundreds.
    pub(crate) few: u64,
    pub(crate) dozens: u64,
    pub(crate) age: u64,
    pub(crate) degrees: u64,
    pub(crate) hundreds: u64,
    pub(crate) year: u64,
    /// Tenths of a per cent.
    pub(crate) share: u64,
    pub(crate) share2: u64,
    pub(crate) money: u64,
    pub(crate) goals: u64,
    pub(crate) points: u64,
    pub(crate) sky: [usize; 2],
    pub(crate) rises: bool,
}

const EN_SKY: [&str; 6] = ["rain", "sunshine", "fog", "snow showers", "strong wind", "light cloud"];
const DE_SKY: [&str; 6] = ["Regen", "Sonnenschein", "Nebel", "Schneeregen", "Sturm", "Hochnebel"];
const ZH_SKY: [&str; 6] = ["小雨", "晴天", "大雾", "阵雪", "大风", "薄云"];

impl Facts {
    /// Facts of an event.
    pub(crate) fn new(draw: &mut Draw, native: bool) -> Self {
        let few = 3 + draw.below(6) as u64;
        let sky = draw.below(6);
        let fill = |mut name: Name, sound: &str, han: &str| {
            name.family.push_str(sound);
            name.han.push_str(han);
            name
        };
        Facts {
            persons: [Name::person(draw, native), Name::person(draw, native)],
            firms: [Name::thing(draw, native), Name::thing(draw, native)],
            places: [
                fill(Name::thing(draw, native), "burg", "市"),
                fill(Name::thing(draw, native), "stad", "市"),
                Name::thing(draw, native),
            ],
            thing: Name::thing(draw, native),
            few,
            dozens: 12 + draw.below(76) as u64,
            age: 19 + draw.below(30) as u64,
            degrees: 4 + draw.below(18) as u64,
            hundreds: 110 + draw.below(860) as u64,
            year: 1951 + draw.below(60) as u64,
            share: 11 + draw.below(85) as u64,
            share2: 11 + draw.below(85) as u64,
            money: 21 + draw.below(900) as u64,
            goals: 1 + draw.below(4) as u64,
            points: 12_000 + draw.below(5_000) as u64,
            sky: [sky, (sky + 1 + draw.below(5)) % 6],
            rises: draw.below(2) == 0,
        }
    }

    /// The same people and places with other figures.
    pub(crate) fn with_numbers(&self, draw: &mut Draw) -> Self {
        let Facts { few, dozens, hundreds, year, .. } = Facts::new(draw, false);
        Facts { few, dozens, hundreds, year, ..self.clone() }
    }

    /// What stands for a key in a sentence.
    pub(crate) fn value(&self, key: &str, lang: Lang, day: &str, next_day: &str) -> String {
        let tenths = |value: u64| match lang {
            Lang::De => format!("{},{}", value / 10, value % 10),
            _ => format!("{}.{}", value / 10, value % 10),
        };
        let thousands = |value: u64| match lang {
            Lang::En => format!("{},{:03}", value / 1000, value % 1000),
            Lang::De => format!("{}.{:03}", value / 1000, value % 1000),
            Lang::Zh => value.to_string(),
        };
        let sky = |nth: usize| match lang {
            Lang::En => EN_SKY[self.sky[nth]],
            Lang::De => DE_SKY[self.sky[nth]],
            Lang::Zh => ZH_SKY[self.sky[nth]],
        };
        match key {
            "P1" => self.persons[0].full(lang),
            "P2" => self.persons[1].full(lang),
            "p1" => self.persons[0].short(lang),
            "p2" => self.persons[1].short(lang),
            "O" => self.firms[0].full(lang),
            "O2" => self.firms[1].full(lang),
            "L" => self.places[0].full(lang),
            "L2" => self.places[1].full(lang),
            "R" => self.places[2].full(lang),
            "X" => self.thing.full(lang),
            "n1" => self.few.to_string(),
            "n2" => self.dozens.to_string(),
            "n2b" => self.age.to_string(),
            "n2c" => self.degrees.to_string(),
            "n3" => self.hundreds.to_string(),
            "n4" => self.year.to_string(),
            "pct" => tenths(self.share),
            "pct2" => tenths(self.share2),
            "m" => self.money.to_string(),
            "m2" => thousands(1000 + self.money * 3),
            "s1" => (self.goals + 1).to_string(),
            "s2" => (self.goals / 2).to_string(),
            "place" => match lang {
                Lang::En => {
                    ["second", "third", "fourth", "fifth"][self.few as usize % 4].to_owned()
                }
                _ => (2 + self.few % 4).to_string(),
            },
            "idx" => thousands(self.points),
            "updown" => match (lang, self.rises) {
                (Lang::En, true) => "higher",
                (Lang::En, false) => "lower",
                (Lang::De, true) => "fester",
                (Lang::De, false) => "schwächer",
                (Lang::Zh, true) => "上涨",
                (Lang::Zh, false) => "下跌",
            }
            .to_owned(),
            "w1" => sky(0).to_owned(),
            "W1" => sky(0)[..1].to_uppercase() + &sky(0)[1..],
            "w2" => sky(1).to_owned(),
            "day" => day.to_owned(),
            "fday" => next_day.to_owned(),
            _ => unreachable!("the grammar has a key {key} that no fact answers"),
        }
    }
}
