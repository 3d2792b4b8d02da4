//! Recipes of sites as they stand in a file: `news/sites.toml`, files that people bring, and the text that
//! comes with the program.
//!
//! All are read by [`read_recipes`]. Every fault names its line and what to write instead; reading goes on
//! behind it. What an entry does not say is taken from the recipe that comes with the program for that site,
//! if there is one; without any, patterns stay empty and the collector finds things out by itself.
//! Not here: writing the file (`command::news`), and what recipes mean (the crate `news`).

use super::document::{key_start, position};
use super::nearest;
use super::problem::{ConfigError, Problem};
use super::quantity::parse_duration;
use super::words::domain;
use super::written::short;
use argiope_model::{CanonicalUrl, Suffixes};
use argiope_news::{
    ArticleRule, Part, Pattern, PatternError, Recipe, front_pages, host_of, is_home,
};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;
use toml_edit::{Document, Item, TableLike, Value};

/// The recipes that come with the program.
const SHIPPED: &str = include_str!("recipes.toml");
/// How the file of those is named in messages.
const SHIPPED_NAME: &str = "built in";
/// What an entry may say.
const KEYS: [&str; 8] =
    ["name", "site", "front", "feeds", "patterns", "subjects", "article", "cycle"];
/// What may be said of articles.
const ARTICLE: [&str; 2] = ["needs", "without"];
/// How often a site may be looked at.
const CYCLES: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(366 * 24 * 3600);

/// Reads the recipes of a file.
pub fn read_recipes(path: &Path, text: &str) -> Result<Vec<Recipe>, ConfigError> {
    read(path, text, shipped_recipes())
}

/// The recipes that come with the program.
pub fn shipped_recipes() -> &'static [Recipe] {
    static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| {
        read(Path::new(SHIPPED_NAME), SHIPPED, &[]).expect("a test reads the built-in recipes")
    });
    &RECIPES
}

/// The recipes of a file on disk; none if there is no file.
pub fn recipes_of(path: &Path) -> Result<Option<Vec<Recipe>>, ConfigError> {
    match super::document::read(path) {
        Ok(Some(text)) => read_recipes(path, &text).map(Some),
        Ok(None) => Ok(None),
        Err(problem) => Err(ConfigError::new(vec![problem])),
    }
}

fn read(path: &Path, text: &str, shipped: &[Recipe]) -> Result<Vec<Recipe>, ConfigError> {
    let document = Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let (line, column) = position(text.as_bytes(), at);
        let reason = error.message().lines().collect::<Vec<_>>().join(", ");
        let text = format!("{}:{line}:{column}: {reason}", path.display());
        ConfigError::new(vec![Problem { line, text }])
    })?;
    let mut reader = Reader { path, text, shipped, problems: Vec::new() };
    let recipes = reader.root(document.as_table());
    match reader.problems.is_empty() {
        true => Ok(recipes),
        false => Err(ConfigError::new(reader.problems)),
    }
}

/// A site as URLs write it: a domain, or a host with its port.
fn name_of_site(word: &str) -> Option<String> {
    let host = host_of(word);
    let port = word.strip_prefix(host).filter(|port| !port.is_empty());
    match port.map(|port| port[1..].parse::<u16>()) {
        None => domain(host),
        Some(Ok(80)) => domain(host),
        Some(port) => Some(format!("{}:{}", domain(host)?, port.ok()?)),
    }
}

/// Whether a name can be a site: a registrable domain, or a server at home, an address or a name without a dot with its
/// port. Else why not.
pub fn is_site(name: &str) -> Result<(), String> {
    static SUFFIXES: LazyLock<Suffixes> = LazyLock::new(Suffixes::built_in);
    if SUFFIXES.is_suffix(name) {
        return Err(format!(
            "{name} is an ending under which others have their sites; write one of them: www.{name}, example.{name}"
        ));
    }
    let host = host_of(name);
    if host != name && !is_home(host) {
        let site = SUFFIXES.site_of(host);
        return Err(format!(
            "{name} has a port; write {site}, all its hosts and ports belong to it"
        ));
    }
    match SUFFIXES.site_of(name) {
        site if site == name => Ok(()),
        site => {
            Err(format!("{name} is a host of {site}; write {site}, all its hosts belong to it"))
        }
    }
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    shipped: &'a [Recipe],
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn line(&self, at: usize) -> usize {
        position(self.text.as_bytes(), at).0
    }

    fn complain(&mut self, at: usize, fault: impl AsRef<str>) {
        let line = self.line(at);
        let text = format!("{}:{line}: {}", self.path.display(), fault.as_ref());
        self.problems.push(Problem { line, text });
    }

    fn root(&mut self, root: &dyn TableLike) -> Vec<Recipe> {
        let mut recipes: Vec<Recipe> = Vec::new();
        let mut places: Vec<usize> = Vec::new();
        for (name, item) in root.iter() {
            let at = key_start(root, name);
            match item {
                _ if name != "site" => {
                    let name = short(name);
                    self.complain(
                        at,
                        format!("{name} stands outside a site; begin one with [[site]]"),
                    );
                }
                Item::ArrayOfTables(tables) => {
                    for table in tables {
                        let at = table.span().map_or(at, |span| span.start);
                        let Some(recipe) = self.site(at, table) else { continue };
                        let first = recipes.iter().position(|known| known.site == recipe.site);
                        if let Some(first) = first {
                            let first = self.line(places[first]);
                            let site = &recipe.site;
                            self.complain(
                                at,
                                format!("{site} is written twice; the first is in line {first}"),
                            );
                        }
                        places.push(at);
                        recipes.push(recipe);
                    }
                }
                _ => self.complain(at, "a site begins with [[site]] alone on a line"),
            }
        }
        recipes
    }

    fn site(&mut self, at: usize, rows: &dyn TableLike) -> Option<Recipe> {
        self.known(rows, &KEYS, "an entry of a site");
        let Some(item) = rows.get("site") else {
            self.complain(at, "a site without its name; write site = \"example.org\"");
            return None;
        };
        let at = key_start(rows, "site");
        let Some(site) = item.as_str().and_then(name_of_site) else {
            self.complain(at, "site is not a name; write for example site = \"example.org\"");
            return None;
        };
        if let Err(why) = is_site(&site) {
            self.complain(at, format!("site {why}"));
            return None;
        }
        let shipped = self.shipped.iter().find(|recipe| recipe.site == site);
        let mut recipe = shipped.cloned().unwrap_or_else(|| Recipe {
            name: site.clone(),
            front: front_pages(&site),
            site,
            ..Recipe::default()
        });
        let before = self.problems.len();
        for (word, item) in rows.iter() {
            let at = key_start(rows, word);
            match word {
                "name" => match item.as_str().map(str::trim).filter(|name| !name.is_empty()) {
                    Some(name) => recipe.name = name.to_owned(),
                    None => self.complain(at, "name is not a text in quotes"),
                },
                "front" => {
                    let pages = self.urls(at, word, item);
                    let stray = |page: &&CanonicalUrl| !recipe.is_for(page);
                    if let Some(page) = pages.iter().find(stray) {
                        let site = &recipe.site;
                        self.complain(at, format!("front {page} is not of {site}"));
                    }
                    if !pages.is_empty() {
                        recipe.front = pages.iter().map(ToString::to_string).collect();
                    }
                }
                "feeds" => {
                    let feeds = self.urls(at, word, item);
                    recipe.feeds = feeds.iter().map(ToString::to_string).collect();
                }
                "patterns" => recipe.patterns = self.patterns(at, item, &recipe.site),
                "subjects" => recipe.subjects = self.subjects(at, item),
                "article" => recipe.article = self.article(at, item),
                "cycle" => recipe.cycle = self.cycle(at, item),
                _ => {}
            }
        }
        (self.problems.len() == before).then_some(recipe)
    }

    /// Complains of keys that are not known.
    fn known(&mut self, rows: &dyn TableLike, keys: &[&'static str], of: &str) {
        for (word, _) in rows.iter().filter(|(word, _)| !keys.contains(word)) {
            let hint = match nearest::word(word, keys.iter().copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("it has {}", keys.join(", ")),
            };
            let at = key_start(rows, word);
            self.complain(at, format!("{} does not belong in {of}; {hint}", short(word)));
        }
    }

    /// One text or a list of them, each with its place.
    fn texts(&mut self, at: usize, word: &str, item: &Item) -> Vec<(usize, String)> {
        let fault = format!("{word} is not a text in quotes, or a list of them");
        let mut out = Vec::new();
        match item {
            Item::Value(Value::String(text)) => out.push((at, text.value().trim().to_owned())),
            Item::Value(Value::Array(list)) => {
                for value in list {
                    let at = value.span().map_or(at, |span| span.start);
                    match value.as_str() {
                        Some(text) => out.push((at, text.trim().to_owned())),
                        None => self.complain(at, &fault),
                    }
                }
            }
            _ => self.complain(at, fault),
        }
        out
    }

    fn urls(&mut self, at: usize, word: &str, item: &Item) -> Vec<CanonicalUrl> {
        let mut out = Vec::new();
        for (at, text) in self.texts(at, word, item) {
            match CanonicalUrl::parse(&text) {
                Ok(url) => out.push(url),
                Err(error) => self.complain(at, format!("{word} {:?}: {error}", short(&text))),
            }
        }
        out
    }

    fn patterns(&mut self, at: usize, item: &Item, site: &str) -> Vec<Pattern> {
        let mut out = Vec::new();
        for (at, text) in self.texts(at, "patterns", item) {
            let bare = text.split_once("://").map_or(&*text, |(_, rest)| rest);
            let host = bare.split('/').next().unwrap_or_default();
            let before = host_of(host).strip_suffix(host_of(site));
            if !before.is_some_and(|before| before.is_empty() || before.ends_with('.')) {
                let text = short(&text);
                self.complain(
                    at,
                    format!("pattern {text:?} begins with no host of {site}: write www.{site}/… or {{section}}.{site}/…"),
                );
                continue;
            }
            match Pattern::parse(&text) {
                Ok(pattern) => out.push(pattern),
                Err(error) => {
                    let near = match &error {
                        PatternError::Unknown(name) => near_part(name),
                        _ => String::new(),
                    };
                    self.complain(at, format!("pattern {:?}: {error}{near}", short(&text)));
                }
            }
        }
        out
    }

    fn subjects(&mut self, at: usize, item: &Item) -> Vec<(String, String)> {
        let Some(rows) = item.as_table_like() else {
            self.complain(at, "subjects is not a table; write subjects = { sports = \"sport\" }");
            return Vec::new();
        };
        let mut out = Vec::new();
        for (section, item) in rows.iter() {
            match item.as_str().map(str::trim).filter(|subject| !subject.is_empty()) {
                Some(subject) => out.push((section.to_owned(), subject.to_lowercase())),
                None => {
                    let at = key_start(rows, section);
                    let section = short(section);
                    self.complain(
                        at,
                        format!("{section} names no subject; write {section} = \"sport\""),
                    );
                }
            }
        }
        out
    }

    fn article(&mut self, at: usize, item: &Item) -> ArticleRule {
        let mut rule = ArticleRule::default();
        let Some(rows) = item.as_table_like() else {
            self.complain(
                at,
                "article is not a table; write article = { needs = [\"date\", \"id\"] }",
            );
            return rule;
        };
        self.known(rows, &ARTICLE, "article");
        for (word, item) in rows.iter().filter(|(word, _)| ARTICLE.contains(word)) {
            let at = key_start(rows, word);
            for (at, text) in self.texts(at, word, item) {
                match (word, Part::named(&text)) {
                    ("without", _) if text.is_empty() => {
                        self.complain(at, "without holds no words")
                    }
                    ("without", _) => rule.without.push(text),
                    (_, Some(part)) => rule.needs.push(part),
                    (_, None) => {
                        let near = near_part(&text);
                        let text = short(&text);
                        let known = Part::NAMES[..6].join(", ");
                        self.complain(
                            at,
                            format!("{text:?} is no part of a URL; parts are {known}{near}"),
                        );
                    }
                }
            }
        }
        rule
    }

    fn cycle(&mut self, at: usize, item: &Item) -> Option<Duration> {
        let text = match item {
            Item::Value(Value::Integer(n)) => n.value().to_string(),
            item => item.as_str().unwrap_or_default().to_owned(),
        };
        if !text.is_empty() && text.trim().bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            let n = text.trim();
            self.complain(at, format!("cycle {n} has no unit; write \"{n}m\" or \"{n}s\""));
            return None;
        }
        match parse_duration(&text) {
            Ok(cycle) if CYCLES.contains(&cycle) => Some(cycle),
            Ok(_) => {
                self.complain(at, "cycle is too short or too long; it may be 1s to 366d");
                None
            }
            Err(fault) => {
                self.complain(at, format!("cycle is {fault}"));
                None
            }
        }
    }
}

/// The end of a sentence about a part that does not exist.
fn near_part(name: &str) -> String {
    let near = nearest::word(name, Part::NAMES.into_iter());
    near.map_or_else(String::new, |near| format!("; did you mean {near}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sites(text: &str) -> Result<Vec<Recipe>, String> {
        read_recipes(Path::new("sites.toml"), text).map_err(|e| e.to_string())
    }

    #[test]
    fn every_recipe_that_comes_with_the_program_is_read() {
        for recipe in shipped_recipes() {
            assert!(!recipe.patterns.is_empty() && !recipe.front.is_empty(), "{}", recipe.site);
        }
        assert!(shipped_recipes().iter().any(|recipe| recipe.site == "sina.com.cn"));
    }

    #[test]
    fn the_example_is_read_whole() {
        let text = r#"
            [[site]]
            name = "Sina"
            site = "sina.com.cn"
            front = ["http://www.sina.com.cn/"]
            feeds = []
            patterns = ["{section}.sina.com.cn/{scope}/{subject}/{date}/{id}.shtml"]
            subjects = { sports = "sport", finance = "business" }
            article = { needs = ["date", "id"], without = ["/video/"] }
            cycle = "10m"
        "#;
        let recipe = &sites(text).unwrap()[0];
        assert_eq!((recipe.name.as_str(), recipe.front.len()), ("Sina", 1));
        assert_eq!(recipe.patterns.len(), 1);
        assert_eq!(recipe.cycle, Some(Duration::from_secs(600)));
        assert_eq!(recipe.article.needs, [Part::Date, Part::Id]);
        assert_eq!(recipe.article.without, ["/video/"]);
        assert_eq!(recipe.subjects[1], ("finance".to_owned(), "business".to_owned()));
    }

    #[test]
    fn what_is_not_said_comes_from_the_recipe_that_is_shipped_or_is_left_to_be_found_out() {
        let text = "[[site]]\nsite = 'sina.com.cn'\ncycle = '1h'\n[[site]]\nsite = 'Example.ORG'\n";
        let recipes = sites(text).unwrap();
        assert!(recipes[0].patterns.len() > 1);
        assert_eq!(recipes[0].name, "Sina");
        assert_eq!(recipes[0].cycle, Some(Duration::from_secs(3600)));
        assert_eq!((recipes[1].site.as_str(), recipes[1].patterns.len()), ("example.org", 0));
        assert_eq!(recipes[1].front, ["https://www.example.org/", "https://example.org/"]);
        assert_eq!(sites("# nothing\n").unwrap(), []);
    }

    #[test]
    fn mistakes_name_their_line_and_what_to_write() {
        for (text, said) in [
            ("[[site]]\nname = 'a'", "sites.toml:1: a site without its name; write site"),
            (
                "[[site]]\nsite = 'www.a.test:8443'",
                "www.a.test:8443 has a port; write a.test, all its hosts and ports belong to it",
            ),
            (
                "[[site]]\nsite = 'a.test'\npaterns = []",
                ":3: paterns does not belong in an entry of a site; did you mean patterns?",
            ),
            (
                "[[site]]\nsite = 'a.test'\nzzzzzzzzzzz = []",
                ":3: zzzzzzzzzzz does not belong in an entry of a site; it has name, site",
            ),
            ("[[site]]\nsite = 'http://a.test/x'", ":2: site is not a name"),
            ("[[site]]\nsite = 7", ":2: site is not a name"),
            (
                "[[site]]\nsite = 'a.test'\nfront = ['https://b.test/']",
                ":3: front https://b.test/ is not of a.test",
            ),
            (
                "[[site]]\nsite = 'a.test'\nfront = [\n'https://a.test/',\n'nope']",
                ":5: front \"nope\": ",
            ),
            (
                "[[site]]\nsite = 'a.test'\npatterns = ['a.test/{dat}']",
                ":3: pattern \"a.test/{dat}\": {dat} is no part of a URL",
            ),
            ("[[site]]\nsite = 'a.test'\npatterns = ['a.test/{dat}']", "did you mean date?"),
            ("[[site]]\nsite = 'a.test'\npatterns = ['/{section}/{id}']", "no host of a.test"),
            ("[[site]]\nsite = 'a.test'\narticle = { needs = ['slugg'] }", "did you mean slug?"),
            (
                "[[site]]\nsite = 'a.test'\narticle = { need = ['slug'] }",
                "need does not belong in article; did you mean needs?",
            ),
            ("[[site]]\nsite = 'a.test'\ncycle = 'often'", ":3: cycle is not a duration"),
            ("[[site]]\nsite = 'a.test'\ncycle = '1ms'", ":3: cycle is too short"),
            ("[[site]]\nsite = 'a.test'\ncycle = '10'", ":3: cycle 10 has no unit; write \"10m\""),
            ("[[site]]\nsite = 'a.test'\ncycle = 10", ":3: cycle 10 has no unit"),
            (
                "[[site]]\nsite = 'www.a.test'",
                ":2: site www.a.test is a host of a.test; write a.test",
            ),
            ("[[site]]\nsite = 'co.uk'", ":2: site co.uk is an ending under which others"),
            ("[[site]]\nsite = 'a.test'\nsubjects = { sport = 1 }", ":3: sport names no subject"),
            (
                "[[site]]\nsite = 'a.test'\nfront = 3",
                ":3: front is not a text in quotes, or a list",
            ),
            (
                "[[site]]\nsite = 'a.test'\n[[site]]\nsite = 'A.test'",
                ":3: a.test is written twice; the first is in line 1",
            ),
            (
                "[[sites]]\nsite = 'a.test'",
                ":1: sites stands outside a site; begin one with [[site]]",
            ),
            ("[site]\nsite = 'a.test'", ":1: a site begins with [[site]]"),
            ("[[site]\n", "sites.toml:1:"),
        ] {
            let error = sites(text).unwrap_err();
            assert!(error.contains(said), "{text}\n{error}");
        }
    }
}
