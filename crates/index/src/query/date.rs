//! Days, as a query writes them.

use argiope_model::Time;

/// The beginning of a year, month or day: `2024`, `2024-05`, `2024-05-31`.
pub(crate) fn beginning(text: &str) -> Option<Time> {
    let mut parts = text.split('-');
    let mut number = |digits: usize| -> Option<Option<i64>> {
        match parts.next() {
            None => Some(None),
            Some(part) if part.len() <= digits && part.bytes().all(|b| b.is_ascii_digit()) => {
                part.parse().ok().map(Some)
            }
            Some(_) => None,
        }
    };
    let year = number(4)??;
    let month = number(2)?.unwrap_or(1);
    let day = number(2)?.unwrap_or(1);
    if parts.next().is_some() || year == 0 || !(1..=12).contains(&month) {
        return None;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !(1..=longest).contains(&day) {
        return None;
    }
    Some(Time(days_from_civil(year, month, day) * 86_400_000))
}

/// The year of a time.
pub(crate) fn year_of(time: Time) -> i64 {
    time.iso_seconds().split('-').next().and_then(|year| year.parse().ok()).unwrap_or(0)
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day ends them.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read() {
        let told = |text| beginning(text).map(|t| t.iso_seconds());
        assert_eq!(told("2024-02-29").as_deref(), Some("2024-02-29T00:00:00Z"));
        assert_eq!(told("1999").as_deref(), Some("1999-01-01T00:00:00Z"));
        assert_eq!(told("2023-12").as_deref(), Some("2023-12-01T00:00:00Z"));
        for bad in ["", "2023-02-29", "2024-13", "2024-1-1-1", "x", "20245", "-5", "2024-", "0"] {
            assert_eq!(beginning(bad), None, "{bad}");
        }
    }
}
