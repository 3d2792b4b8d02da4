use super::*;

const DAY: i64 = 86_400_000;

/// Puts articles `(site, day, title, text)` one after another; the stories they end in.
fn stories_of(articles: &[(&str, i64, &str, &str)]) -> Vec<u64> {
    let mut stories = Stories::default();
    let mut found = BTreeMap::new();
    for (at, (site, day, title, text)) in articles.iter().enumerate() {
        let doc = at as u64 + 1;
        let placed = stories.put(doc, site, Time(day * DAY), gist(title, text, None));
        told(&mut found, doc, placed);
    }
    found.into_values().collect()
}

/// Takes over what is said of articles and their stories.
fn told(found: &mut BTreeMap<u64, u64>, doc: u64, placed: Placed) {
    for (from, to) in placed.joined {
        found.values_mut().filter(|story| **story == from).for_each(|story| *story = to);
    }
    found.extend(placed.moved);
    found.insert(doc, placed.story);
}

const FIRE_A: (&str, &str) = (
    "Fire in Harwick warehouse leaves 26 injured",
    "A fire in a warehouse near Station Road in Harwick injured 26 people on Monday evening. It took \
     crews six hours to put it out. The head of the brigade, Clara Whitfield, said the cause was \
     unclear. Some 311 residents had to leave their homes.",
);
const FIRE_B: (&str, &str) = (
    "311 told to leave as blaze guts storage hall",
    "Flames destroyed a storage hall in Harwick and drove 311 neighbours out of their flats. At least \
     26 were taken to hospital with smoke poisoning. We do not know how it began, fire chief Clara \
     Whitfield told reporters near Station Road.",
);

#[test]
fn one_event_in_other_words_is_one_story() {
    let other = "The board of Veltra Motors accepted an offer of 640 million from Nordbank, as \
                 chief executive Jonas Marsh told investors in Norvik. Unions fear for 900 jobs.";
    let found = stories_of(&[
        ("a.test", 0, FIRE_A.0, FIRE_A.1),
        ("b.test", 0, "Veltra Motors accepts offer", other),
        ("c.test", 0, FIRE_B.0, FIRE_B.1),
    ]);
    assert_eq!(found, [1, 2, 1]);
}

#[test]
fn a_form_filled_in_anew_is_another_story() {
    let weather = |place: &str, high: u32, low: u32| {
        format!(
            "The day begins with clouds over the town of {place}, later the sun comes out. Highs reach {high} \
             degrees. A light wind blows from the west. At night it cools down to {low} degrees."
        )
    };
    let texts = [weather("Harwick", 18, 11), weather("Harwick", 22, 13), weather("Norvik", 27, 15)];
    let found = stories_of(&[
        ("a.test", 0, "The weather", &texts[0]),
        ("a.test", 1, "The weather", &texts[1]),
        ("b.test", 0, "The weather", &texts[2]),
    ]);
    assert_eq!(found, [1, 2, 3]);
}

#[test]
fn reposts_are_one_story_and_weeks_part() {
    let cut = &FIRE_A.1[..200];
    let found = stories_of(&[
        ("a.test", 0, FIRE_A.0, FIRE_A.1),
        ("b.test", 1, "Warehouse burns", cut),
        ("c.test", 20, FIRE_A.0, FIRE_A.1),
    ]);
    assert_eq!(found, [1, 1, 3]);
}

#[test]
fn chinese_is_compared_by_characters() {
    let found = stories_of(&[
        (
            "a.test",
            0,
            "平泽市仓库大火85人受伤",
            "平泽市一处仓库周一晚间起火，造成85人受伤，311名居民被迫离家。消防队长胡志远说，起火原因尚不清楚。",
        ),
        (
            "b.test",
            0,
            "安桐市议会通过新法",
            "安桐市议会以36票之差通过住房法，部长周卫晓表示，首批办事处将在明年开设，反对党批评费用过高。",
        ),
        (
            "c.test",
            0,
            "311人撤离：平泽市大火",
            "平泽市周一晚间的仓库大火迫使311名居民撤离，85人被送往医院。胡志远队长说消防员用了六个小时才扑灭火势。",
        ),
    ]);
    assert_eq!(found, [1, 2, 1]);
}

#[test]
fn a_changed_article_keeps_its_story_as_long_as_it_tells_it() {
    let mut stories = Stories::default();
    let first = gist(FIRE_A.0, FIRE_A.1, Some("en"));
    stories.put(1, "a.test", Time(0), first.clone());
    stories.put(2, "b.test", Time(0), gist(FIRE_B.0, FIRE_B.1, Some("en")));
    let longer = format!("{} The roof fell in at midnight.", FIRE_B.1);
    let longer = gist(FIRE_B.0, &longer, Some("en"));
    assert_eq!(stories.put(2, "b.test", Time(0), longer).story, 1);
    let changed = gist("Correction", "This article was withdrawn by the editors.", Some("en"));
    assert_eq!(stories.put(2, "b.test", Time(0), changed).story, 2);
    stories.put(2, "b.test", Time(0), gist(FIRE_B.0, FIRE_B.1, Some("en")));
    stories.forget(1);
    assert_eq!(stories.put(1, "a.test", Time(0), first).story, 1);
}

#[test]
fn what_was_written_down_comes_back() {
    let mut stories = Stories::default();
    stories.restore(7, "a.test", Time(0), gist(FIRE_A.0, FIRE_A.1, None), 5);
    let placed = stories.put(9, "b.test", Time(0), gist(FIRE_B.0, FIRE_B.1, None));
    assert_eq!(placed, Placed { story: 5, ..Placed::default() });
}

#[test]
fn gists_are_small_and_alike_for_alike_articles() {
    let long: String = (0..9000).map(|n| format!("Word{} stands here {n}. ", n % 700)).collect();
    let one = gist("A title", &long, None);
    assert_eq!(one.marks().count(), gist::MAX_MARKS);
    assert_eq!(one, gist("A title", &long, None));
    assert_eq!(gist("", "", None).marks().count(), 0);
    let none = stories_of(&[("a.test", 0, "", ""), ("b.test", 0, "", "")]);
    assert_eq!(none, [1, 2]);
}

const FIRE_DE: (&str, &str) = (
    "311 Anwohner nach Brand in Sicherheit",
    "In Harwick hat am Montag eine Lagerhalle nahe der Station Road gebrannt. Nach Angaben von Clara Whitfield, die \
     die Feuerwehr leitet, wurden 26 Menschen verletzt. Die Ursache ist noch nicht klar, und 311 Anwohner \
     mussten ihre Wohnungen verlassen.",
);

#[test]
fn one_event_in_two_languages_is_one_story() {
    let elsewhere = "Nach dem Brand in Norvik vom Montag hat Clara Whitfield eine Spende von 900 Kronen \
                     erhalten. Der Verein von Jonas Marsh will damit im Sommer ein Fest für die Feuerwehr ausrichten.";
    let found = stories_of(&[
        ("a.test", 0, FIRE_A.0, FIRE_A.1),
        ("b.test", 0, FIRE_DE.0, FIRE_DE.1),
        ("c.test", 0, "Verein von Jonas Marsh plant Fest im Sommer", elsewhere),
        ("d.test", 0, FIRE_B.0, FIRE_B.1),
        ("e.test", 3, FIRE_DE.0, FIRE_DE.1),
    ]);
    assert_eq!(found[..4], [1, 1, 3, 1]);
    let late =
        stories_of(&[("a.test", 0, FIRE_A.0, FIRE_A.1), ("b.test", 4, FIRE_DE.0, FIRE_DE.1)]);
    assert_eq!(late, [1, 2]);
}

#[test]
fn another_language_does_not_bring_two_stories_together() {
    let fair = "The fair in Harwick opened on the old market. Jonas Marsh counted 84 stalls and 17 bands, \
                and 500 children rode for free all day long while the sun shone. Clara Whitfield came late.";
    let found = stories_of(&[
        ("a.test", 0, FIRE_A.0, FIRE_A.1),
        ("b.test", 0, "Jonas Marsh opens the fair", fair),
        ("c.test", 0, FIRE_DE.0, FIRE_DE.1),
    ]);
    assert_ne!(found[0], found[1]);
}

#[test]
fn a_match_against_another_team_is_another_story() {
    let report = |other: &str, goals: &str, fans: u32| {
        format!(
            "Harwick beat {other} {goals} on Saturday. Jonas Marsh scored for Harwick in the second half, \
             and {other} never came back. The coach of {other} spoke of a bad day. Some {fans} people saw \
             how Jonas Marsh left the pitch with a sore knee, and {other} went home without a point."
        )
    };
    let found = stories_of(&[
        ("a.test", 0, "Harwick beat Norvik", &report("Norvik", "3:1", 8100)),
        ("b.test", 1, "Harwick beat Tarnow", &report("Tarnow", "2:1", 9400)),
    ]);
    assert_eq!(found, [1, 2]);
}

#[test]
fn chinese_reports_from_one_form_are_kept_apart_by_their_names() {
    let trial = |person: &str, bank: &str, years: u32| {
        format!(
            "{person}将入狱{years}年，法院周一认定这名男子主导了{bank}银行劫案。法庭共询问40名证人。辩护律师已宣布上诉，\
             称样本已被污染。几位熟悉{person}的人说，他话不多。{bank}银行的赃款下落不明。{person}没有回答记者的提问。"
        )
    };
    let (one, other) = (trial("朱马·尼塔", "罗塔", 3), trial("佐德·里基", "坦基", 7));
    let found = stories_of(&[
        ("a.test", 0, "罗塔案：朱马·尼塔被判刑", &one),
        ("b.test", 0, "坦基案：佐德·里基被判刑", &other),
    ]);
    assert_eq!(found, [1, 2]);
}

/// Pilots of one airline: a report, and what the strike costs, in other words and without a number in common.
const STRIKE: (&str, &str) = (
    "Iberwings pilots walk out, grounding 340 flights",
    "Iberwings pilots began a two-day walkout on Saturday after talks over weekend duty collapsed. The union Sepla said that \
     nine in ten of its members had stayed away. The airline cancelled 340 flights, most of them from Madrid.",
);
const COSTS: (&str, &str) = (
    "Pilots' stoppage costs Iberwings 'nine million a day'",
    "The chief executive of Iberwings has put a price on the dispute with its pilots. Each day of the stoppage costs the \
     airline nine million euros, he told investors. Sepla answered that rosters which leave crews one free weekend in six \
     cost more in the long run.",
);

#[test]
fn one_event_is_known_by_what_the_titles_say_where_no_number_is_shared() {
    let results = "The airline Nordair has carried more passengers than ever. Its chief executive told investors that \
                   bookings for the summer are strong and that crews would be hired in Oslo and Bergen.";
    let found = stories_of(&[
        ("a.test", 0, STRIKE.0, STRIKE.1),
        ("b.test", 0, "Nordair flies to a record summer", results),
        ("c.test", 0, COSTS.0, COSTS.1),
    ]);
    assert_eq!(found, [1, 2, 1]);
}

#[test]
fn a_repost_with_a_poll_below_it_is_the_same_story() {
    let poll = format!("{}\nPoll: are you worried? Yes 44 %, no 56 %. 1233 votes", STRIKE.1);
    let other = STRIKE.1.replace("340 flights", "355 flights");
    let found = stories_of(&[
        ("a.test", 0, STRIKE.0, STRIKE.1),
        ("b.test", 0, STRIKE.0, &poll),
        ("c.test", 0, STRIKE.0, &other),
    ]);
    assert_eq!(found, [1, 1, 1]);
}

/// A fire in Munich, in three languages and three scripts; another one elsewhere; another event in the same town.
const MUNICH: [(&str, &str); 3] = [
    (
        "Two dead as blaze sweeps Munich hotel",
        "A fire at a hotel near the main station of Munich killed two guests early on Tuesday. Some 140 people were brought to \
         safety, the Bavarian police said, and 12 were taken to hospital. Firefighters needed five hours.",
    ),
    (
        "慕尼黑酒店大火致两人死亡",
        "德国慕尼黑火车总站附近一家酒店周二凌晨发生火灾，两名住客身亡。警方说，140人被疏散，12人送往医院。消防员用了五个小时扑灭大火。",
    ),
    (
        "В Мюнхене сгорел отель, двое погибших",
        "Ночью во вторник в отеле у вокзала Мюнхена произошел пожар. Погибли два постояльца, 12 человек доставлены в больницу, \
         сообщила полиция Баварии. Пожарные эвакуировали 140 гостей и тушили огонь пять часов.",
    ),
];

#[test]
fn one_event_in_other_letters_is_one_story() {
    let elsewhere = "西班牙塞维利亚一家家具厂周二起火，三名工人受伤，消防员封锁了街道。厂方说损失约为80万欧元，起火原因正在调查，没有人死亡。";
    let opened = "慕尼黑一座新博物馆周二开幕，展出200幅画作。市长说，这座建筑耗资九千万欧元，工期比计划长了四年，首日就有三千名游客。";
    let found = stories_of(&[
        ("a.test", 0, MUNICH[0].0, MUNICH[0].1),
        ("b.test", 0, "塞维利亚家具厂起火三人受伤", elsewhere),
        ("c.test", 0, "慕尼黑新博物馆开幕", opened),
        ("d.test", 0, MUNICH[1].0, MUNICH[1].1),
        ("e.test", 0, MUNICH[2].0, MUNICH[2].1),
    ]);
    assert_eq!(found, [1, 2, 3, 1, 1]);
}

#[test]
fn two_common_words_in_two_languages_are_no_story() {
    let found = stories_of(&[
        (
            "a.test",
            0,
            "Orchid thought extinct found on roadside",
            "A school teacher has found an orchid that was thought to be extinct since 1968, beside a road near Westport. Fenwick, \
             who was waiting for her bus, counted eleven flowers.",
        ),
        (
            "b.test",
            0,
            "На улице Гоголя вырастет школа",
            "Новую школу построят на улице Гоголя в Твери, сообщил Захаров. Дорогу к ней проложат в следующем году, занятия начнутся \
             осенью.",
        ),
    ]);
    assert_eq!(found, [1, 2]);
}

#[test]
fn what_is_reported_on_every_day_is_of_its_day() {
    let found = stories_of(&[
        (
            "a.test",
            0,
            "London close: FTSE edges up as miners offset banks",
            "The FTSE 100 ended a quiet session 0.2 per cent higher, with miners lifted by copper while lenders slipped ahead of \
             Thursday's rate decision. The FTSE 250 was flat. Rio Tinto gained 2.1 per cent in London.",
        ),
        (
            "a.test",
            1,
            "London close: FTSE gives up gains as oil drops",
            "The FTSE 100 slid 0.4 per cent in London, wiping out the previous session's rise, as crude fell below 70 dollars. BP and \
             Shell led the losers. Lenders were steady before Thursday's rate decision. The FTSE 250 was flat.",
        ),
        (
            "b.test",
            1,
            "FTSE falls back with oil shares",
            "The FTSE 100 fell 0.4 per cent as crude dropped under 70 dollars a barrel, with BP and Shell the heaviest losers in \
             London. Lenders were little changed before Thursday's rate decision.",
        ),
    ]);
    assert_eq!(found, [1, 2, 2]);
}

/// A flash that seems to be about the fire in the warehouse, and the fire that it is about.
const FLASH: (&str, &str) = (
    "Fire in Harwick: Elm Lane is closed",
    "A fire has broken out in Harwick, the brigade said on Tuesday. Elm Lane is closed to cars.",
);
const SCHOOL: (&str, &str) = (
    "Elm Lane school loses its gym to a fire",
    "Elm Lane school in Harwick has lost its gym to a fire. All 480 pupils of Elm Lane school were counted on the playing field on \
     Tuesday, headmaster Marek Dolan said. Elm Lane is closed, and lessons will be held in the town hall.",
);

#[test]
fn an_article_leaves_for_the_story_that_it_tells_as_soon_as_there_is_one() {
    let mut stories = Stories::default();
    let mut found = BTreeMap::new();
    for (doc, day, (title, text)) in [(1, 0, FIRE_A), (2, 1, FLASH), (3, 1, SCHOOL)] {
        let placed =
            stories.put(doc, &format!("{doc}.test"), Time(day * DAY), gist(title, text, None));
        told(&mut found, doc, placed);
        let wanted: &[u64] = [&[1][..], &[1, 1], &[1, 2, 2]][doc as usize - 1];
        assert_eq!(found.values().copied().collect::<Vec<_>>(), wanted);
    }
}

/// Articles in many orders, changed and gone in between: what was told of their stories is how they are held.
#[test]
fn whoever_takes_over_what_is_told_knows_each_story() {
    let mut seed = 11_u64;
    let mut roll = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % most
    };
    let mut partings = 0;
    for _ in 0..40 {
        let mut stories = Stories::default();
        let mut found = BTreeMap::new();
        for _ in 0..40 {
            let doc = 1 + roll(14);
            if roll(8) == 0 {
                stories.forget(doc);
                found.remove(&doc);
                continue;
            }
            let (event, other) = (roll(4), roll(4));
            let facts = |of: u64, n: u64| {
                format!("Place{of} saw Person{of}x{} on day {}{of}. ", n % 3, 40 + n)
            };
            let text: String = (0..3).map(|n| facts(event, n)).collect();
            let text = text + &facts(other, roll(3)) + &facts(other, roll(3));
            let title = format!("Place{event} and Person{other}x{}", roll(3));
            let (site, time) = (format!("{}.test", roll(5)), Time(roll(3) as i64 * DAY));
            let placed = stories.put(doc, &site, time, gist(&title, &text, None));
            partings += placed.moved.len();
            told(&mut found, doc, placed);
            for (doc, story) in &found {
                let slot = stories.held.slot_of(*doc).expect("held");
                assert_eq!(stories.held.article(slot).map(|a| a.story), Some(*story), "{doc}");
            }
        }
    }
    assert!(partings > 50, "{partings}");
}

#[test]
fn two_thefts_of_a_day_are_two_stories_in_any_language() {
    let en = |town: &str, worth: &str, boss: &str, seen: u32| {
        format!(
            "Thieves broke into the museum of {town} and stole a painting worth {worth} million euros. \
             The director of the museum, {boss}, spoke of a heavy loss. {seen} visitors had seen the exhibition. \
             The alarm was switched off, said the police, and several suspects are being looked for."
        )
    };
    let de = |town: &str, worth: &str, boss: &str, seen: u32| {
        format!(
            "Einbrecher haben im Museum von {town} ein Gemälde im Wert von {worth} Millionen Euro gestohlen. \
             Der Direktor des Museums, {boss}, sprach von einem schweren Verlust. {seen} Besucher hatten die Ausstellung \
             gesehen. Die Alarmanlage war abgeschaltet, teilte die Polizei mit, mehrere Verdächtige werden gesucht."
        )
    };
    let (one, two) =
        (("Northolme", "37.6", "Tom Lund", 477), ("Vellamora", "67.2", "Eva Kern", 912));
    let texts = [
        en(one.0, one.1, one.2, one.3),
        de(one.0, "37,6", one.2, one.3),
        en(two.0, two.1, two.2, two.3),
        de(two.0, "67,2", two.2, two.3),
    ];
    // Of few articles nobody knows what is rare.
    let others: Vec<String> = (0..80)
        .map(|n| format!("The harbour of Place{n} is open. Mayor Name{n} paid {n}7 crowns for it."))
        .collect();
    let mut all = vec![
        ("a.test", 0, "Museum of Northolme robbed", texts[0].as_str()),
        ("d.test", 0, "Einbrecher rauben Museum in Vellamora aus", &texts[3]),
        ("c.test", 0, "Einbrecher rauben Museum in Northolme aus", &texts[1]),
        ("b.test", 0, "Museum of Vellamora robbed", &texts[2]),
    ];
    let mut more: Vec<_> = others.iter().map(|t| ("e.test", 0, "A harbour", t.as_str())).collect();
    more.append(&mut all);
    let found = stories_of(&more);
    assert_eq!(found[80..], [81, 82, 81, 82]);
}
