//! Pages that are numbered: how many there can be.
//!
//! Where URLs differ in nothing but a few numbers, and the numbers do not grow any more, there are no more
//! pages than numbers: such a site ends, whatever its pages say. A counter or a calendar grows.

use argiope_model::CanonicalUrl;

/// Numbers of a URL that are looked at, at most.
const MOST: usize = 4;
/// Forms of URLs, at most.
const FORMS: usize = 6;
/// More pages than this are not taken for a site that ends.
const PAGES: u64 = 20_000;
/// Pages of a form that are enough to tell.
const ENOUGH: u32 = 24;

/// The numbers in the URLs of a pattern.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    forms: Vec<Form>,
    /// They differ in something else, too.
    mixed: bool,
}

/// URLs that differ in nothing but numbers.
#[derive(Debug)]
struct Form {
    /// The URL without its numbers.
    text: Box<str>,
    ranges: Vec<Range>,
    pages: u32,
    /// How wide the ranges were after so many pages.
    before: Vec<(u32, Vec<u64>)>,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    least: u64,
    most: u64,
}

impl Range {
    fn width(&self) -> u64 {
        self.most - self.least
    }
}

impl Numbered {
    /// Counts a URL.
    pub fn count(&mut self, url: &CanonicalUrl) {
        if self.mixed {
            return;
        }
        let (text, numbers) = split(url.path_and_query());
        self.mixed = numbers.len() > MOST;
        let at = self.forms.iter().position(|form| *form.text == *text).unwrap_or_else(|| {
            let range = |n: &u64| Range { least: *n, most: *n };
            let ranges = numbers.iter().map(range).collect();
            self.forms.push(Form { text: text.into(), ranges, pages: 0, before: Vec::new() });
            self.forms.len() - 1
        });
        self.mixed |= self.forms.len() > FORMS;
        let form = &mut self.forms[at];
        form.pages += 1;
        for (range, n) in form.ranges.iter_mut().zip(numbers) {
            range.least = range.least.min(n);
            range.most = range.most.max(n);
        }
        // Often while they are few, then now and then.
        if form.pages.is_multiple_of((form.pages / 8).max(1).next_power_of_two()) {
            form.before.push((form.pages, form.ranges.iter().map(Range::width).collect()));
        }
    }

    /// Its numbers tell nothing.
    pub fn give_up(&mut self) {
        self.mixed = true;
    }

    /// Whether there can be no more pages than were made out early.
    pub fn are_bounded(&self) -> bool {
        let many: u64 = self.forms.iter().map(Form::many).fold(0, u64::saturating_add);
        !self.mixed && (2..=PAGES).contains(&many) && !self.forms.iter().any(Form::grows)
    }
}

impl Form {
    /// How many pages there can be.
    fn many(&self) -> u64 {
        let each = self.ranges.iter().map(|range| range.width().saturating_add(1));
        each.fold(1, u64::saturating_mul)
    }

    /// Whether its numbers grew by more than a tenth while its pages grew by a third.
    fn grows(&self) -> bool {
        let then = self.before.iter().rev().find(|(pages, _)| pages * 4 <= self.pages * 3);
        let Some((_, widths)) = then.filter(|_| self.pages >= ENOUGH) else { return false };
        let grown = |(range, then): (&Range, &u64)| range.width() * 10 > then * 11;
        self.ranges.iter().zip(widths).any(grown)
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
        for url in urls {
            numbers.count(&CanonicalUrl::parse(&url).unwrap());
        }
        numbers.are_bounded()
    }

    #[test]
    fn numbers_by_lot_are_bounded_and_counters_and_calendars_are_not() {
        let lot = |n: u64| ((n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % 1000;
        assert!(are_bounded((0..100).map(|n| format!("http://a.test/p{}.html", lot(n)))));
        assert!(are_bounded((0..100).map(|n| format!("http://a.test/{}?v={}", lot(n), n % 9))));
        assert!(are_bounded((0..100).map(|n| match n % 3 {
            0 => "http://a.test/start".to_owned(),
            k => format!("http://a.test/{}{}.html", ["leaf", "core"][k as usize - 1], lot(n)),
        })));
        assert!(!are_bounded((0..100).map(|n| format!("http://a.test/p{n}.html"))));
        let month = |n: u64| format!("http://a.test/cal/{}/{:02}", 2026 + n / 12, 1 + n % 12);
        assert!(!are_bounded((0..100).map(month)));
        let lot = |n: u64| (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        assert!(!are_bounded((0..100).map(|n| format!("http://a.test/{}", lot(n)))));
        assert!(!are_bounded((0..100).map(|n| format!("http://a.test/{:x}", lot(n)))));
        assert!(!are_bounded((0..100).map(|_| "http://a.test/same".to_owned())));
    }
}
