//! A crawl that is to be started, as somebody has filled it in: checked before anything is started.
//!
//! * Invariants: only http and https; every flag is one of those named here, so that nobody can allow private
//!   addresses, or anything else, from the page. What the configuration allows is what the crawl allows.

use crate::app::Start;
use argiope_model::CanonicalUrl;
use serde::Deserialize;

/// Start URLs at most.
const URLS: usize = 1_000;
/// Characters of a start URL.
const URL_LENGTH: usize = 8_000;
/// Characters of what a crawl is about.
const ABOUT: usize = 500;
/// The longest delay, in seconds: a day.
pub(crate) const LONGEST_DELAY_S: f64 = 86_400.0;

/// The fields of the form, and of `POST /api/crawl`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StartForm {
    /// A URL a line; none goes on with what is open.
    pub urls: String,
    pub scope: String,
    pub max_pages: String,
    pub max_depth: String,
    pub delay: String,
    pub order: String,
    pub about: String,
}

pub(crate) const SCOPES: [(&str, &str); 4] = [
    ("domain", "their sites, with all hosts"),
    ("host", "their hosts only"),
    ("prefix", "what lies below them"),
    ("any", "everything they lead to"),
];

pub(crate) const ORDERS: [(&str, &str); 3] =
    [("breadth", "breadth first"), ("depth", "depth first"), ("best", "the best first")];

/// What is to be started, or what is wrong with the form.
pub(crate) fn start_order(form: &StartForm) -> Result<Start, String> {
    let mut urls = Vec::new();
    for line in form.urls.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if urls.len() == URLS {
            return Err(format!(
                "at most {URLS} start URLs can be given here; `argiope crawl --seeds FILE` takes more"
            ));
        }
        let short: String = line.chars().take(100).collect();
        if line.len() > URL_LENGTH {
            return Err(format!("the start URL that begins with {short} is too long"));
        }
        let whole = if line.contains("://") { line.to_owned() } else { format!("https://{line}") };
        match CanonicalUrl::parse(&whole) {
            _ if line.starts_with('-') => {
                return Err(format!("{short} is no URL; flags are not taken here"));
            }
            // What was written goes on, not what it means to us: the crawl says the same of it as anywhere else.
            Ok(_) => urls.push(whole),
            Err(e) => return Err(format!("{short} cannot be crawled: {e}")),
        }
    }
    let mut flags = Vec::new();
    let mut flag = |name: &str, value: String| flags.push((name.to_owned(), value));
    if let Some(scope) = chosen("scope", &form.scope, &SCOPES)? {
        flag("--scope", scope);
    }
    if let Some(pages) = whole_number("the most pages", &form.max_pages, 1_000_000_000)? {
        flag("--max-pages", pages);
    }
    if let Some(depth) = whole_number("the depth", &form.max_depth, 65_000)? {
        flag("--max-depth", depth);
    }
    if let Some(ms) = delay_ms(&form.delay)? {
        flag("--delay", format!("{ms}ms"));
    }
    if let Some(order) = chosen("order", &form.order, &ORDERS)? {
        flag("--order", order);
    }
    let about = form.about.trim();
    if about.len() > ABOUT || about.contains(char::is_control) {
        return Err(format!("what it is about is told in {ABOUT} characters at most, in one line"));
    }
    if !about.is_empty() {
        flag("--about", about.to_owned());
    }
    if urls.is_empty() && !flags.is_empty() {
        return Err("there is no start URL; write one in each line".to_owned());
    }
    Ok(Start { urls, flags })
}

fn chosen(what: &str, value: &str, of: &[(&str, &str)]) -> Result<Option<String>, String> {
    match value.trim() {
        "" => Ok(None),
        value if of.iter().any(|(name, _)| *name == value) => Ok(Some(value.to_owned())),
        _ => {
            let names: Vec<&str> = of.iter().map(|(name, _)| *name).collect();
            Err(format!("the {what} is one of {}", names.join(", ")))
        }
    }
}

fn whole_number(what: &str, value: &str, most: u64) -> Result<Option<String>, String> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(None);
    }
    match value.parse::<u64>() {
        Ok(n @ 1..) if n <= most => Ok(Some(n.to_string())),
        _ => Err(format!("{what} is a number from 1 to {most}")),
    }
}

/// A delay in milliseconds, from `5`, `2.5`, `5s`, `500ms` or `2m`; nothing where nothing is written.
pub(crate) fn delay_ms(text: &str) -> Result<Option<u64>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let units = [("ms", 0.001), ("min", 60.0), ("m", 60.0), ("s", 1.0)];
    let unit = units.iter().find_map(|(unit, s)| Some((text.strip_suffix(unit)?, *s)));
    let (number, unit) = unit.unwrap_or((text, 1.0));
    match number.trim().parse::<f64>() {
        Ok(n) if n.is_finite() && n >= 0.0 && n * unit <= LONGEST_DELAY_S => {
            Ok(Some((n * unit * 1000.0).round() as u64))
        }
        _ => Err("the delay is a time such as 5s, 500ms or 2m, a day at most".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(urls: &str) -> StartForm {
        StartForm { urls: urls.to_owned(), ..StartForm::default() }
    }

    #[test]
    fn a_filled_form_becomes_flags_and_urls() {
        let order = start_order(&StartForm {
            urls: "https://a.test/\r\n\n  b.test/x \n".into(),
            scope: "host".into(),
            max_pages: " 500 ".into(),
            max_depth: "3".into(),
            delay: "2.5".into(),
            order: "best".into(),
            about: "spiders and webs".into(),
        });
        let order = order.unwrap();
        assert_eq!(order.urls, ["https://a.test/", "https://b.test/x"]);
        let flags: Vec<String> = order.flags.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let expected = [
            "--scope=host",
            "--max-pages=500",
            "--max-depth=3",
            "--delay=2500ms",
            "--order=best",
            "--about=spiders and webs",
        ];
        assert_eq!(flags, expected);
        assert_eq!(start_order(&form("")).unwrap(), Start::default(), "goes on with what is open");
    }

    #[test]
    fn what_cannot_be_crawled_is_refused_before_anything_starts() {
        for bad in [
            "file:///etc/passwd",
            "ftp://a.test/",
            "javascript://a.test/%0aalert(1)",
            "gopher://a.test/",
            "http://",
            "--allow-private",
            "http://a b/",
            "data:text/html,x",
        ] {
            assert!(start_order(&form(bad)).is_err(), "{bad}");
        }
        assert!(start_order(&form(&format!("http://a.test/{}", "x".repeat(9_000)))).is_err());
        assert!(start_order(&form(&"http://a.test/\n".repeat(1_001))).is_err());
        let with = |change: fn(&mut StartForm)| {
            let mut form = form("http://a.test/");
            change(&mut form);
            start_order(&form)
        };
        assert!(with(|f| f.scope = "everything".into()).is_err());
        assert!(with(|f| f.max_pages = "0".into()).is_err());
        assert!(with(|f| f.max_pages = "-1".into()).is_err());
        assert!(with(|f| f.delay = "1e300".into()).is_err());
        assert!(with(|f| f.delay = "NaN".into()).is_err());
        assert!(with(|f| f.about = "a\0b".into()).is_err());
        assert!(with(|f| f.order = "best --set x=y".into()).is_err());
    }

    #[test]
    fn delays_are_read_as_people_write_them() {
        for (text, ms) in [("5", 5_000), ("5s", 5_000), ("500ms", 500), ("2m", 120_000), ("0", 0)] {
            assert_eq!(delay_ms(text), Ok(Some(ms)), "{text}");
        }
        assert_eq!(delay_ms("  "), Ok(None));
        assert!(delay_ms("2 days").is_err());
        assert!(delay_ms("-1").is_err());
    }
}
