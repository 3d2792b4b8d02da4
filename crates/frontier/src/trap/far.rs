//! Calendars that are asked for a time that nobody has plans for.

use argiope_model::{CanonicalUrl, Time};

/// So many months ahead nothing is planned.
pub(super) const FAR: i64 = 36;

/// How many months lie between now and the month that a URL names: a year and a month next to each other,
/// in the path or as parameters. Less than nothing where it is past.
pub fn months_ahead(url: &CanonicalUrl, now: Time) -> Option<i64> {
    let this_month = 1970 * 12 + now.0 / (31_556_952_000 / 12);
    let text = url.path_and_query();
    let numbers: Vec<(usize, &str)> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| (digits.as_ptr() as usize - text.as_ptr() as usize, digits))
        .collect();
    numbers.windows(2).find_map(|pair| {
        let [(at, year), (then, month)] = pair else { return None };
        let near = then - at <= 12 && year.len() == 4 && month.len() <= 2;
        let number = |digits: &str| digits.parse::<i64>().unwrap_or(0);
        let (year, month) = (number(year), number(month));
        (near && (1..=12).contains(&month)).then(|| year * 12 + month - 1 - this_month)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_and_a_month_side_by_side_tell_how_far_it_is() {
        let now = Time(1_794_787_200_000);
        let ahead = |path: &str| {
            months_ahead(&CanonicalUrl::parse(&format!("http://a.test{path}")).unwrap(), now)
        };
        assert_eq!([ahead("/2026/11/16/"), ahead("/2026-12")], [Some(0), Some(1)]);
        assert_eq!([ahead("/2031/05/16/"), ahead("/cal?year=2040&month=1")], [Some(54), Some(158)]);
        assert_eq!(ahead("/1999/01/"), Some(-334));
        for path in ["/post/4711", "/2031/13/", "/a/20310/05", "/2031"] {
            assert_eq!(ahead(path), None, "{path}");
        }
    }
}
