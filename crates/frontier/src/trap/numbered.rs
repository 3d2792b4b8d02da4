//! Pages that are numbered: how many there can be.
//!
//! Where URLs differ in nothing but a few numbers, and the numbers do not grow any more, there are no more
//! pages than numbers: such a site ends, whatever its pages say. A counter or a calendar grows.

use argiope_model::CanonicalUrl;

/// Numbers of a URL that are looked at, at most.
const MOST: usize = 4;
/// More pages than this are not taken for a site that ends.
const PAGES: u64 = 20_000;
/// Pages after which numbers should not grow by more than a quarter.
const EARLY: u32 = 32;

/// The numbers in the URLs of a pattern.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    /// The URL without its numbers.
    form: Box<str>,
    ranges: Vec<Range>,
    /// They differ in something else, too.
    mixed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    least: u64,
    most: u64,
    /// How far apart they were early.
    early: u64,
}

impl Numbered {
    /// Counts a URL, the so-manieth of its pattern.
    pub fn count(&mut self, url: &CanonicalUrl, pages: u32) {
        let path = url.path_and_query();
        // The first page of a site often has an address of its own.
        if self.mixed || path == "/" {
            return;
        }
        let (form, numbers) = split(path);
        if self.ranges.is_empty() {
            self.form = form.as_str().into();
            let range = |n: &u64| Range { least: *n, most: *n, early: 0 };
            self.ranges = numbers.iter().map(range).collect();
        }
        self.mixed = *self.form != form || numbers.is_empty() || numbers.len() > MOST;
        for (range, n) in self.ranges.iter_mut().zip(numbers) {
            range.least = range.least.min(n);
            range.most = range.most.max(n);
            if pages <= EARLY {
                range.early = range.most - range.least;
            }
        }
    }

    /// Its numbers tell nothing.
    pub fn give_up(&mut self) {
        self.mixed = true;
    }

    /// Whether there can be no more pages than were made out early.
    pub fn are_bounded(&self) -> bool {
        let grown = |r: &Range| (r.most - r.least) * 4 > r.early * 5;
        let many = self.ranges.iter().map(|r| r.most - r.least + 1);
        let many = many.fold(1u64, |all, n| all.saturating_mul(n));
        !self.mixed && many > 1 && many <= PAGES && !self.ranges.iter().any(grown)
    }
}

/// A URL without its numbers, and the numbers; those beyond all bounds are as large as can be.
fn split(path: &str) -> (String, Vec<u64>) {
    let mut numbers = Vec::new();
    let mut form = String::with_capacity(path.len());
    for c in path.chars() {
        match (c.to_digit(10), numbers.last_mut()) {
            (Some(d), Some(n)) if form.ends_with('#') => {
                *n = u64::saturating_add(u64::saturating_mul(*n, 10), u64::from(d));
            }
            (Some(d), _) => {
                numbers.push(u64::from(d));
                form.push('#');
            }
            (None, _) => form.push(c),
        }
    }
    (form, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_bounded(urls: impl Iterator<Item = String>) -> bool {
        let mut numbers = Numbered::default();
        for (at, url) in urls.enumerate() {
            numbers.count(&CanonicalUrl::parse(&url).unwrap(), at as u32 + 1);
        }
        numbers.are_bounded()
    }

    #[test]
    fn numbers_by_lot_are_bounded_and_counters_and_calendars_are_not() {
        let lot = |n: u64| n * 7919 % 1000;
        assert!(are_bounded((0..100).map(|n| format!("http://a.test/p{}.html", lot(n)))));
        assert!(are_bounded((0..100).map(|n| format!("http://a.test/{}?v={}", lot(n), n % 9))));
        assert!(!are_bounded((0..100).map(|n| format!("http://a.test/p{n}.html"))));
        let month = |n: u64| format!("http://a.test/cal/{}/{:02}", 2026 + n / 12, 1 + n % 12);
        assert!(!are_bounded((0..100).map(month)));
        let lot = |n: u64| (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        assert!(!are_bounded((0..100).map(|n| format!("http://a.test/{}", lot(n)))));
        assert!(!are_bounded((0..100).map(|n| format!("http://a.test/{:x}", lot(n)))));
        assert!(!are_bounded((0..100).map(|_| "http://a.test/same".to_owned())));
    }
}
