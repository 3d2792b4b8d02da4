use super::*;

fn site(n: u32) -> SiteKey {
    let [a, b, c, d] = n.to_be_bytes();
    SiteKey { part: (n % 4096) as u16, site: [a, b, c, d, 1, 1] }
}

fn all(sites: impl IntoIterator<Item = u32>) -> Vec<(SiteKey, bool)> {
    sites.into_iter().map(|n| (site(n), true)).collect()
}

/// A hundred honest sites below one start URL, each linking to the next ones.
fn honest(budgets: &mut Budgets) {
    budgets.begin(JobId(1), [site(0)]);
    budgets.loaded(site(0));
    budgets.link(site(0), &all(1..100));
    for n in 1..100 {
        budgets.link(site(n), &all([(n * 7) % 100, (n * 13) % 100, (n * 29) % 100]));
    }
}

/// Two hundred sites of a farm of a thousand, as if drawn.
fn some_of_the_farm(n: u32) -> Vec<(SiteKey, bool)> {
    let drawn = |k: u32| {
        let x = (n * 200 + k).wrapping_mul(0x9e37_79b9);
        (x ^ (x >> 15)).wrapping_mul(0x85eb_ca6b) >> 12
    };
    all((0..200).map(|k| 1000 + drawn(k) % 1000))
}

fn ask(budgets: &mut Budgets, n: u32, times: u64) {
    let number = budgets.known[&site(n)];
    (0..times).for_each(|_| budgets.asked(number));
}

fn tier(budgets: &Budgets, n: u32) -> u8 {
    budgets.tier(budgets.known[&site(n)])
}

#[test]
fn a_thousand_sites_that_link_to_each_other_are_held_however_many_links_they_have() {
    let mut budgets = Budgets::with_bytes(8 << 20);
    honest(&mut budgets);
    budgets.link(site(50), &all([1000]));
    budgets.link(site(1000), &all(1001..1200));
    (1000..1100).for_each(|n| budgets.link(site(n), &some_of_the_farm(n)));
    (0..100).for_each(|n| ask(&mut budgets, n, 20));
    (1000..1020).for_each(|n| ask(&mut budgets, n, 5));
    budgets.judge(Time(7));
    for n in 0..100 {
        assert_eq!(tier(&budgets, n), 0, "honest site {n}");
    }
    for n in (1000..2000).filter(|n| budgets.known.contains_key(&site(*n))) {
        assert!(tier(&budgets, n) >= HELD, "farm site {n}");
    }
    let farm = budgets.of(site(1100)).unwrap();
    assert!(farm.held && farm.linking > 2 && farm.over_since == Some(Time(7)), "{farm:?}");
    assert!(farm.share < budgets.of(site(3)).unwrap().share / 1000.0);
    budgets.judge(Time(9));
    assert_eq!(budgets.of(site(1100)).unwrap().over_since, Some(Time(7)));
}

#[test]
fn a_farm_with_many_entrances_is_one_branch() {
    let mut budgets = Budgets::with_bytes(8 << 20);
    honest(&mut budgets);
    for n in 0..10 {
        budgets.link(site(n * 9 + 3), &all([1000 + n]));
    }
    for _ in 0..3 {
        (1000..1010).for_each(|n| budgets.link(site(n), &some_of_the_farm(n)));
        budgets.judge(Time(1));
    }
    let farms = (1000..1010).filter(|n| {
        let above = budgets.sites[budgets.known[&site(*n)] as usize].parent;
        budgets.sites[above as usize].key.is_some_and(|key| key >= site(1000))
    });
    // One is entered from an honest site, the others hang below it.
    assert_eq!(farms.count(), 9);
}

#[test]
fn what_is_alone_goes_on_at_full_speed() {
    let mut budgets = Budgets::with_bytes(1 << 20);
    budgets.begin(JobId(1), [site(1), site(2)]);
    let (one, two) = (budgets.loaded(site(1)), budgets.loaded(site(2)));
    ask(&mut budgets, 1, 100_000);
    ask(&mut budgets, 2, 1);
    budgets.judge(Time(1));
    assert_eq!(budgets.tier(two), 0);
    // Twice its half is within budget.
    assert_eq!(budgets.tier(one), 0);
    budgets.begin(JobId(1), (3..100).map(site));
    for n in 3..100 {
        budgets.loaded(site(n));
    }
    budgets.judge(Time(2));
    assert!((1..HELD).contains(&budgets.tier(one)), "it sinks, and is not held: it is one site");
    for n in 2..100 {
        let number = budgets.known[&site(n)];
        budgets.unloaded(number, true);
    }
    budgets.judge(Time(3));
    assert_eq!(budgets.tier(one), 0);
    assert_eq!(budgets.of(site(1)).unwrap().over_since, None);
}

#[test]
fn one_site_vouches_once_for_a_branch_and_not_for_each_site_in_it() {
    let mut budgets = Budgets::with_bytes(8 << 20);
    honest(&mut budgets);
    budgets.link(site(50), &all([1000]));
    budgets.link(site(1000), &all(1001..1100));
    // Another entrance; too few links for it to be hung below the first.
    budgets.link(site(60), &all([2000]));
    budgets.link(site(2000), &all((1001..1100).step_by(15)));
    ask(&mut budgets, 1000, 100);
    budgets.judge(Time(1));
    let above = budgets.sites[budgets.known[&site(2000)] as usize].parent;
    assert_eq!(budgets.sites[above as usize].key, Some(site(60)));
    assert!(tier(&budgets, 1050) >= HELD);
}

#[test]
fn a_farm_is_held_when_the_others_of_its_branch_are_done_and_these_never_wait_for_it() {
    let mut budgets = Budgets::with_bytes(8 << 20);
    honest(&mut budgets);
    // Twenty sites are known through the fiftieth, and other sites know them too; one leads to a farm.
    budgets.link(site(50), &all(200..220));
    (1..40).for_each(|n| budgets.link(site(n), &all([200 + n % 20])));
    budgets.link(site(200), &all([1000]));
    budgets.link(site(1000), &all(1001..1200));
    (1000..1020).for_each(|n| ask(&mut budgets, n, 5));
    budgets.judge(Time(1));
    assert!(tier(&budgets, 1100) >= HELD);
    (200..220).for_each(|n| assert!(tier(&budgets, n) < HELD, "site {n}"));
    for n in (200..220).chain([50]) {
        let number = budgets.loaded(site(n));
        budgets.unloaded(number, true);
    }
    budgets.judge(Time(2));
    assert!(tier(&budgets, 1100) >= HELD, "it is all that its branch has left, and held");
}

#[test]
fn the_more_sites_hang_behind_a_link_the_longer_they_wait() {
    let mut budgets = Budgets::with_bytes(8 << 20);
    honest(&mut budgets);
    budgets.link(site(50), &all([1000]));
    budgets.link(site(1000), &all(1001..1200));
    budgets.link(site(60), &all([3000]));
    budgets.link(site(3000), &all(3001..3030));
    ask(&mut budgets, 1000, 50);
    ask(&mut budgets, 3000, 50);
    budgets.judge(Time(1));
    let (farm, small) = (tier(&budgets, 1100), tier(&budgets, 3010));
    assert!(HELD <= small && small < farm, "{small} {farm}");
}

#[test]
fn links_from_other_sites_raise_a_budget() {
    let mut budgets = Budgets::with_bytes(1 << 20);
    budgets.begin(JobId(1), (0..10).map(site));
    (0..10).for_each(|n| budgets.link(site(n), &all([100, 200 + n])));
    budgets.judge(Time(1));
    let (many, one) = (budgets.of(site(100)).unwrap(), budgets.of(site(200)).unwrap());
    assert_eq!((many.linking, one.linking), (10, 1));
    assert!(many.share > 2.0 * one.share, "{many:?} {one:?}");
}

#[test]
fn memory_is_bounded_and_what_does_not_fit_counts_as_one() {
    let mut budgets = Budgets::with_bytes(100 * SITE_BYTES * 2);
    budgets.begin(JobId(1), [site(0)]);
    budgets.link(site(0), &all(1..5000));
    assert_eq!(budgets.sites.len(), 100);
    assert!(budgets.edges <= budgets.max_edges);
    assert_eq!(budgets.loaded(site(4999)), STRAYS);
    assert_eq!(budgets.of(site(4999)), None);
    budgets.judge(Time(1));
}

#[test]
fn the_byte_form_holds_everything_and_damage_is_noticed() {
    let mut budgets = Budgets::with_bytes(8 << 20);
    honest(&mut budgets);
    (0..100).for_each(|n| ask(&mut budgets, n, u64::from(n) * 50));
    budgets.judge(Time(5));
    let bytes = budgets.to_bytes();
    let mut again = Budgets::from_bytes(&bytes, 8 << 20).unwrap();
    again.judge(Time(6));
    for n in 0..100 {
        assert_eq!(again.of(site(n)), budgets.of(site(n)), "site {n}");
    }
    for at in 0..bytes.len() {
        let mut bad = bytes.clone();
        bad[at] ^= 0x41;
        assert!(Budgets::from_bytes(&bad, 8 << 20).is_err(), "byte {at}");
        assert!(Budgets::from_bytes(&bytes[..at], 8 << 20).is_err(), "cut at {at}");
    }
    let mut newer = bytes;
    newer[4] = 9;
    let told = Budgets::from_bytes(&newer, 8 << 20).unwrap_err();
    assert!(told.to_string().contains("newer Argiope"), "{told}");
}

#[test]
fn a_circle_of_parents_is_damage() {
    let mut budgets = Budgets::with_bytes(1 << 20);
    budgets.begin(JobId(1), [site(1), site(2)]);
    let (one, two) = (budgets.known[&site(1)], budgets.known[&site(2)]);
    budgets.sites[one as usize].parent = two;
    budgets.sites[two as usize].parent = one;
    assert!(Budgets::from_bytes(&budgets.to_bytes(), 1 << 20).is_err());
}
