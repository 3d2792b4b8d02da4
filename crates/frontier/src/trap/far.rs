//! Calendars that are asked for a time that nobody has plans for.

use argiope_model::{CanonicalUrl, Time};

/// So many years ahead nothing is planned.
const AHEAD: i64 = 3;

/// Whether a URL names a month that lies years ahead: a year and a month next to each other, in the path
/// or as parameters.
pub fn lies_far_ahead(url: &CanonicalUrl, now: Time) -> bool {
    let this_year = 1970 + now.0 / 31_556_952_000;
    let text = url.path_and_query();
    let numbers: Vec<(usize, &str)> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| (digits.as_ptr() as usize - text.as_ptr() as usize, digits))
        .collect();
    numbers.windows(2).any(|pair| {
        let [(at, year), (then, month)] = pair else { return false };
        let near = then - at <= 12 && year.len() == 4 && month.len() <= 2;
        let number = |digits: &str| digits.parse::<i64>().unwrap_or(0);
        near && (this_year + AHEAD..10_000).contains(&number(year))
            && (1..=12).contains(&number(month))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_month_years_ahead_is_far() {
        let now = Time(1_794_787_200_000);
        let far = |path: &str| {
            lies_far_ahead(&CanonicalUrl::parse(&format!("http://a.test{path}")).unwrap(), now)
        };
        assert!(far("/2031/05/16/") && far("/cal?year=2040&month=1") && far("/cal/2030-12.html"));
        assert!(!far("/2026/12/") && !far("/1999/01/") && !far("/2028/05/"));
        assert!(!far("/post/4711") && !far("/2031/13/") && !far("/a/20310/05") && !far("/2031"));
    }
}
