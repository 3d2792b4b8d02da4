//! The sites whose news are followed: `news/sites.toml` of the data directory.
//!
//! * [`source`] hands them to whoever asks, read again when the file has changed; [`follow`] and [`unfollow`]
//!   change the file, and leave what people have written in it as it is.
//! * Invariants: the file is written whole or not at all, by one process at a time; a file with mistakes is not
//!   written. An entry that is removed is kept in `news/removed.toml`, and comes back with its site. A file that cannot be read leaves the sites as they were, which is said once.

use crate::args::Global;
use crate::config::{
    MAX_CONFIG_BYTES, is_site, read_recipes, recipes_of, shipped_recipes, within_reach,
};
use crate::{Usage, output};
use anyhow::Context;
use argiope_crawl::NewsSource;
use argiope_model::{CanonicalUrl, Suffixes};
use argiope_news::{Recipe, Sites, common_recipe, front_pages, is_feed_url, is_home, place};
use argiope_parse::web_url;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

/// What a new file begins with.
const HEAD: &str = "\
# Sites whose news are followed. `argiope news sites add` writes here; edit it as you like.
# An entry may also have name, feeds, patterns, subjects, article and cycle; `argiope news sites test URL`
# says what a URL means by it.
";

/// Editors take a file away, or empty it, before they write it anew.
const SAVED: Duration = Duration::from_secs(3);

/// The site of a URL: the registrable domain, or a server at home with its port.
pub fn site_of(url: &CanonicalUrl) -> &str {
    static SUFFIXES: LazyLock<Suffixes> = LazyLock::new(Suffixes::built_in);
    SUFFIXES.site_of(place(url))
}

/// The file of a data directory.
pub fn file_of(global: &Global) -> PathBuf {
    global.data.join("news").join("sites.toml")
}

/// The sites that are followed; none where there is no file. A mistake in it is wrong usage.
pub fn read(global: &Global) -> anyhow::Result<Vec<Recipe>> {
    let recipes = recipes_of(&file_of(global)).map_err(|e| Usage(e.to_string()))?;
    Ok(recipes.unwrap_or_default())
}

/// The sites that a file (`news/sites.toml` of a data directory) names, read again when it has changed.
pub fn source(file: &Path) -> NewsSource {
    source_after(file, SAVED)
}

/// The same; a file that is gone or empty counts after so long.
fn source_after(file: &Path, saved: Duration) -> NewsSource {
    #[derive(Default)]
    struct Known {
        /// Of the file that was read last; `None` before anybody looked.
        stamp: Option<Option<(SystemTime, u64)>>,
        /// `None` before a file could be read; one that is not there could.
        sites: Option<Arc<Sites>>,
        /// Since when there is nothing in it any more.
        none: Option<Instant>,
    }
    let (file, known) = (file.to_owned(), Mutex::new(Known::default()));
    let unknown = Arc::new(Sites::unknown());
    NewsSource::new(move || {
        let stamp = fs::metadata(&file).and_then(|is| Ok((is.modified()?, is.len()))).ok();
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_none = stamp.is_none_or(|(_, length)| length == 0);
        match known.sites.clone().filter(|sites| is_none && !sites.is_empty()) {
            Some(had) => {
                if known.none.get_or_insert_with(Instant::now).elapsed() < saved {
                    return had;
                }
            }
            None => known.none = None,
        }
        if known.stamp != Some(stamp) {
            known.stamp = Some(stamp);
            match recipes_of(&file) {
                Ok(recipes) => {
                    known.sites = Some(Arc::new(Sites::new(recipes.unwrap_or_default())));
                }
                Err(e) => output::talk(format!(
                    "{e}\nUntil that is mended the sites whose news are followed stay as they were."
                )),
            }
        }
        known.sites.clone().unwrap_or_else(|| unknown.clone())
    })
}

/// What came of following a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The site as it is followed now.
    pub recipe: Recipe,
    /// Whether anything changed.
    pub new: bool,
    /// What to tell, a sentence.
    pub said: String,
}

/// Follows a site: by its name, or by the URL of a front page or feed.
pub fn follow(global: &Global, what: &str) -> anyhow::Result<Followed> {
    let wanted = wanted(what)?;
    is_site(&wanted.site).map_err(Usage)?;
    let file = file_of(global);
    edit(&file, |doc, recipes| {
        let again = take_back(&file, doc, recipes, &wanted.site)?;
        let mut followed = add(doc, recipes, &wanted)?;
        if again {
            followed.new = true;
            followed.said = format!("{} is followed again, by the entry it had.", wanted.site);
        }
        Ok(followed)
    })
}

/// Entries of sites that are no longer followed, so that what was written of them is not lost.
fn removed_beside(file: &Path) -> PathBuf {
    file.with_file_name("removed.toml")
}

/// What is kept of removed entries.
fn removed(file: &Path) -> anyhow::Result<DocumentMut> {
    let path = removed_beside(file);
    let at = || {
        format!(
            "cannot read {}, which keeps the entries of sites that were removed; mend or move it",
            path.display()
        )
    };
    match fs::read_to_string(&path) {
        Ok(text) => text.parse().with_context(at),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(DocumentMut::new()),
        Err(e) => Err(e).with_context(at),
    }
}

/// Whether an entry is that of a site.
fn is_of(table: &Table, site: &str) -> bool {
    table.get("site").and_then(Item::as_str) == Some(site)
}

/// Keeps an entry that is about to be removed.
fn put_aside(file: &Path, mut table: Table, site: &str) -> anyhow::Result<()> {
    let mut doc = removed(file)?;
    tables(&mut doc).retain(|known| !is_of(known, site));
    table.set_position(None);
    table.decor_mut().set_prefix("\n");
    tables(&mut doc).push(table);
    write_whole(&removed_beside(file), &doc.to_string())
}

/// Puts back the entry that a site had when it was removed, where there is none by now.
fn take_back(
    file: &Path,
    doc: &mut DocumentMut,
    recipes: &mut Vec<Recipe>,
    site: &str,
) -> anyhow::Result<bool> {
    // What cannot be read stays as it is, and hinders nobody from following.
    let mut removed = removed(file).unwrap_or_default();
    let kept = tables(&mut removed).iter().find(|table| is_of(table, site)).cloned();
    let Some(mut table) = kept.filter(|_| !recipes.iter().any(|known| known.site == site)) else {
        return Ok(false);
    };
    // What is no longer understood is no entry.
    let Ok(recipe) = reread(&table) else { return Ok(false) };
    table.set_position(None);
    tables(doc).push(table);
    recipes.push(recipe);
    Ok(true)
}

/// Follows the sites of a file of recipes; a sentence about each.
pub fn follow_file(global: &Global, path: &Path) -> anyhow::Result<Vec<String>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let new = read_recipes(path, &text).map_err(|e| Usage(e.to_string()))?;
    let mut from: DocumentMut =
        text.parse().with_context(|| format!("cannot read {}", path.display()))?;
    if new.is_empty() {
        return Err(
            Usage(format!("{} has no site; begin one with [[site]]", path.display())).into()
        );
    }
    edit(&file_of(global), |doc, recipes| {
        let mut said = Vec::new();
        for (recipe, table) in new.iter().zip(tables(&mut from).iter()) {
            let site = &recipe.site;
            if recipes.iter().any(|known| known.site == *site) {
                said.push(format!(
                    "{site} is followed already; `argiope news sites remove {site}` first, or edit its entry."
                ));
                continue;
            }
            let mut table = table.clone();
            let before = table.decor().prefix().and_then(|text| text.as_str()).unwrap_or_default();
            if !before.starts_with('\n') {
                let before = format!("\n{before}");
                table.decor_mut().set_prefix(before);
            }
            // Entries stand in the order of their positions: this one comes last.
            table.set_position(None);
            tables(doc).push(table);
            recipes.push(recipe.clone());
            said.push(format!("{site} is followed by that recipe."));
        }
        Ok(said)
    })
}

/// No longer follows a site; what was collected stays.
pub fn unfollow(global: &Global, what: &str) -> anyhow::Result<String> {
    let wanted = wanted(what)?;
    let file = file_of(global);
    let known = |recipes: &[Recipe]| {
        let exact = recipes.iter().position(|recipe| recipe.site == place(&wanted.url));
        let own = || recipes.iter().position(|recipe| recipe.site == wanted.site);
        let at = place(&wanted.url);
        exact.or_else(own).or_else(|| recipes.iter().position(|r| r.is_at(at) && names(r, at)))
    };
    if known(&read(global)?).is_none() {
        anyhow::bail!("{} is not followed{}", wanted.site, near(global, &wanted));
    }
    edit(&file, |doc, recipes| {
        let at = known(recipes).context("it was removed meanwhile")?;
        let tables = tables(doc);
        let table = tables.get(at).cloned().context("an entry is missing")?;
        put_aside(&file, table, &recipes[at].site)?;
        // What stands before the first entry is the head of the file.
        let head =
            tables.get(at).and_then(|table| table.decor().prefix()?.as_str().map(str::to_owned));
        tables.remove(at);
        let head = head.filter(|_| at == 0).unwrap_or_default();
        let kept = head.rfind("\n\n").map_or("", |end| &head[..end + 1]).to_owned();
        if at == 0 {
            let next = tables.get_mut(0).map(Table::decor_mut);
            match next {
                Some(decor) => {
                    let own =
                        decor.prefix().and_then(|p| p.as_str()).unwrap_or_default().to_owned();
                    decor.set_prefix(format!("{kept}{own}"));
                }
                None => doc.set_trailing(kept),
            }
        }
        Ok(format!("{} is no longer followed; what was collected stays.", wanted.site))
    })
}

/// The end of a sentence about a site that is not followed.
pub fn near(global: &Global, wanted: &Wanted) -> String {
    let sites: Vec<String> =
        read(global).unwrap_or_default().into_iter().map(|recipe| recipe.site).collect();
    let first = |site: &str| site.split('.').next().unwrap_or_default().to_owned();
    let same = sites.iter().find(|site| first(site) == first(&wanted.site));
    let slips = |site: &&String| within_reach(&wanted.site, site).unwrap_or(usize::MAX);
    let close = || sites.iter().filter(|site| slips(site) < usize::MAX).min_by_key(slips);
    match same.or_else(close) {
        Some(near) => format!("; did you mean {near}?"),
        None if sites.is_empty() => "; no site is".to_owned(),
        None => "; `argiope news sites` lists those that are".to_owned(),
    }
}

/// What somebody wants to follow.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The registrable domain, or a server at home with its port.
    pub site: String,
    /// The URL that was given, or what a browser would make of the name.
    pub url: CanonicalUrl,
    /// Whether it was no more than a name.
    pub bare: bool,
    /// What it is called, where that is known.
    pub name: Option<String>,
    /// A page that is to be one of its front pages.
    pub front: Option<CanonicalUrl>,
    /// A feed that is to be read.
    pub feed: Option<CanonicalUrl>,
}

/// Reads a name or URL as people write them: `example.org`, `localhost:8000`, `https://example.org/news/`.
pub fn wanted(what: &str) -> anyhow::Result<Wanted> {
    let what = &web_url(what.trim());
    let fault = |why: String| {
        Usage(format!("{what:?} is no site: {why}; write example.org or https://www.example.org/"))
    };
    let bare = !what.contains("://");
    if bare && (what.starts_with(['/', '.', '~', '\\']) || Path::new(what).is_file()) {
        return Err(fault("it is a file, and those of recipes end in .toml".to_owned()).into());
    }
    let name = what.split(['/', '?', '#']).next().unwrap_or_default();
    // `mailto:someone` and `javascript:…` are no names with a port.
    let port = name.rsplit_once(':').filter(|_| !name.ends_with(']')).map(|(_, port)| port);
    if bare
        && port.is_some_and(|port| port.parse::<u16>().is_err())
        && name.matches(':').count() < 2
    {
        return Err(fault("it has no port that is a number".to_owned()).into());
    }
    // An IPv6 address needs its brackets.
    let what = match what.parse::<std::net::Ipv6Addr>() {
        Ok(ip) => format!("[{ip}]"),
        Err(_) => what.to_owned(),
    };
    let scheme = match (bare, port) {
        (false, _) => "",
        (true, None | Some("443")) if !is_home(name) => "https://",
        _ => "http://",
    };
    let url = CanonicalUrl::parse(&format!("{scheme}{what}")).map_err(|e| fault(e.to_string()))?;
    let host = url.host().trim_end_matches('.');
    let site = site_of(&url).to_owned();
    let bare = bare && url.path() == "/" && url.query().is_none() && port.is_none();
    let bare = bare && (host == site || host.strip_prefix("www.") == Some(&site));
    let feed = is_feed_url(&url).then(|| url.clone());
    let front = match feed.is_some() {
        true => front_of_feed(&url, &site),
        // Whoever names an article means its site.
        false if common_recipe(&site).is_article(&url) => None,
        false => (!bare).then(|| url.clone()),
    };
    Ok(Wanted { site, bare, name: None, front, feed, url })
}

/// The front page of a site that is known by its feed, where it is not to be guessed: a server at home, or at a port,
/// has no other than the one there; a feed without TLS tells of a site without.
fn front_of_feed(feed: &CanonicalUrl, site: &str) -> Option<CanonicalUrl> {
    let port = feed.authority().strip_prefix(feed.host()).unwrap_or_default();
    if feed.is_https() && port.is_empty() && !is_home(site) {
        return None;
    }
    let host = feed.host();
    let own = host == site || host.strip_prefix("www.") == Some(site) || is_home(site);
    let host = if own { host.to_owned() } else { format!("www.{site}") };
    let scheme = if feed.is_https() { "https" } else { "http" };
    CanonicalUrl::parse(&format!("{scheme}://{host}{port}/")).ok()
}

/// Whether a recipe names a page or a feed there.
fn names(recipe: &Recipe, at: &str) -> bool {
    let named = recipe.front.iter().chain(&recipe.feeds);
    named.filter_map(|url| CanonicalUrl::parse(url).ok()).any(|url| place(&url) == at)
}

/// Adds a site, a front page or a feed.
pub fn add(
    doc: &mut DocumentMut,
    recipes: &mut Vec<Recipe>,
    wanted: &Wanted,
) -> anyhow::Result<Followed> {
    let site = &wanted.site;
    let place = if wanted.feed.is_some() { site } else { place(&wanted.url) };
    // At home each port may be a site of its own, unless somebody has written that it is not.
    let is_it = |recipe: &Recipe| match is_home(place) {
        true => recipe.site == *place || recipe.is_at(place) && names(recipe, place),
        false => recipe.is_at(place),
    };
    let fitting = recipes.iter().enumerate().filter(|(_, recipe)| is_it(recipe));
    let known = fitting.max_by_key(|(_, recipe)| recipe.site.len()).map(|(at, _)| at);
    if let Some(at) = known {
        return more(doc, recipes, at, wanted);
    }
    let shipped = shipped_recipes().iter().find(|recipe| recipe.site == *site);
    let mut table = Table::new();
    if let Some(name) = wanted.name.as_deref().filter(|_| shipped.is_none()) {
        table["name"] = value(name);
    }
    table["site"] = value(site.as_str());
    let fronts = shipped.map_or_else(|| front_pages(site), |recipe| recipe.front.clone());
    if let Some(front) = &wanted.front
        && !fronts.iter().any(|known| known == front.as_str())
    {
        let kept = shipped.map(|recipe| recipe.front.as_slice()).unwrap_or_default();
        let kept = kept.iter().map(String::as_str).filter(|known| !same_page(known, front));
        table["front"] = value(Array::from_iter(std::iter::once(front.as_str()).chain(kept)));
    }
    if let Some(feed) = &wanted.feed {
        table["feeds"] = value(Array::from_iter([feed.as_str()]));
    }
    table.decor_mut().set_prefix("\n");
    let recipe = reread(&table)?;
    tables(doc).push(table);
    recipes.push(recipe.clone());
    let how = match shipped {
        Some(_) => " by the recipe that comes with the program",
        None if wanted.feed.is_some() => "; its feed is read, and more of it found out",
        None => "; what its URLs mean is found out",
    };
    Ok(Followed { recipe, new: true, said: format!("{site} is followed{how}.") })
}

/// Adds a front page or a feed to a site that is followed.
fn more(
    doc: &mut DocumentMut,
    recipes: &mut [Recipe],
    at: usize,
    wanted: &Wanted,
) -> anyhow::Result<Followed> {
    let recipe = &mut recipes[at];
    let table = tables(doc).get_mut(at).context("an entry is missing")?;
    let site = recipe.site.clone();
    let mut said = format!("{site} is followed already");
    let mut new = false;
    let feed = wanted.feed.as_ref().filter(|feed| !recipe.feeds.iter().any(|f| f == feed.as_str()));
    // The first page of a site is the same under its bare name.
    let front = wanted.front.as_ref().filter(|front| {
        wanted.feed.is_none()
            && !is_root(&site, front)
            && !recipe.front.iter().any(|known| same_page(known, front))
    });
    for (key, list, url, what) in [
        ("feeds", &mut recipe.feeds, feed, "its feeds"),
        ("front", &mut recipe.front, front, "its front pages"),
    ] {
        let Some(url) = url else { continue };
        match table.get_mut(key).and_then(Item::as_array_mut) {
            Some(there) => there.push(url.as_str()),
            None => {
                let pages = list.iter().map(String::as_str).chain([url.as_str()]);
                table[key] = value(Array::from_iter(pages));
            }
        }
        // An entry may get thousands of feeds, one by one; all of them are read again before they are written.
        list.push(url.as_str().to_owned());
        said += &format!("; {url} is now one of {what}");
        new = true;
    }
    Ok(Followed { recipe: recipe.clone(), new, said: said + "." })
}

/// An entry as it will be read from the file.
fn reread(table: &Table) -> anyhow::Result<Recipe> {
    let mut alone = DocumentMut::new();
    tables(&mut alone).push(table.clone());
    let read = read_recipes(Path::new("sites.toml"), &alone.to_string());
    let recipe = read.map_err(|e| Usage(e.to_string()))?.into_iter().next();
    recipe.context("the entry is missing")
}

/// Whether a URL is the first page of a site, under its own name or that with `www`.
fn is_root(site: &str, url: &CanonicalUrl) -> bool {
    let host = url.host();
    let own = host == site || host.strip_prefix("www.") == Some(site);
    own && !is_home(site) && url.path_and_query() == "/"
}

/// Whether both are one page, however it is asked for.
fn same_page(page: &str, url: &CanonicalUrl) -> bool {
    let bare = |text: &str| {
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        text.strip_prefix("www.").unwrap_or(text).trim_end_matches('/').to_owned()
    };
    bare(page) == bare(url.as_str())
}

/// The entries of a file.
fn tables(doc: &mut DocumentMut) -> &mut ArrayOfTables {
    let item = doc.entry("site").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    if !item.is_array_of_tables() {
        *item = Item::ArrayOfTables(ArrayOfTables::new());
    }
    item.as_array_of_tables_mut().expect("it was made just now")
}

/// Changes the file: alone, and whole or not at all.
pub fn edit<T>(
    file: &Path,
    change: impl FnOnce(&mut DocumentMut, &mut Vec<Recipe>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let at = |what: &str| format!("cannot {what} {}", file.display());
    fs::create_dir_all(folder).with_context(|| at("make the directory of"))?;
    let lock = File::create(folder.join("sites.lock")).with_context(|| at("lock"))?;
    lock.lock().with_context(|| at("lock"))?;
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => HEAD.to_owned(),
        Err(e) => return Err(e).with_context(|| at("read")),
    };
    let mut recipes = read_recipes(file, &text).map_err(|e| Usage(e.to_string()))?;
    let mut doc: DocumentMut = text.parse().with_context(|| at("read"))?;
    let head =
        tables(&mut doc).is_empty().then(|| doc.trailing().as_str().unwrap_or_default().to_owned());
    let done = change(&mut doc, &mut recipes)?;
    // The comments of a file without entries stand before the first one that comes.
    if let Some(head) = head
        && let Some(first) = tables(&mut doc).get_mut(0)
    {
        first.decor_mut().set_prefix(format!("{head}\n"));
        doc.set_trailing("");
    }
    let new = doc.to_string();
    if new.len() as u64 > MAX_CONFIG_BYTES {
        anyhow::bail!(
            "{} would be larger than {} MB and could not be read any more: nothing was changed; follow fewer sites at once",
            file.display(),
            MAX_CONFIG_BYTES / 1_000_000
        );
    }
    if new != text {
        // What would not be read again is not written.
        read_recipes(file, &new).map_err(|e| Usage(e.to_string()))?;
        write_whole(file, &new)?;
    }
    Ok(done)
}

/// Writes a file whole or not at all.
fn write_whole(file: &Path, text: &str) -> anyhow::Result<()> {
    let beside = file.with_extension("new");
    let write = || {
        let mut out = File::create(&beside)?;
        out.write_all(text.as_bytes())?;
        out.sync_all()?;
        fs::rename(&beside, file)
    };
    write().with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn global(data: &Path) -> Global {
        use clap::Parser;
        let args = ["argiope", "--data", data.to_str().unwrap(), "status"];
        crate::args::Cli::parse_from(args).global
    }

    #[test]
    fn names_and_urls_are_read_as_people_write_them() {
        for (what, site, url, bare) in [
            ("example.org", "example.org", "https://example.org/", true),
            ("www.example.org", "example.org", "https://www.example.org/", true),
            ("www.example.org/", "example.org", "https://www.example.org/", true),
            ("news.example.co.uk", "example.co.uk", "https://news.example.co.uk/", false),
            ("example.org/news", "example.org", "https://example.org/news", false),
            ("localhost:8000", "localhost:8000", "http://localhost:8000/", false),
            ("127.0.0.1:8000/x", "127.0.0.1:8000", "http://127.0.0.1:8000/x", false),
            ("127.0.0.1", "127.0.0.1", "http://127.0.0.1/", true),
            ("[::1]:8000", "[::1]:8000", "http://[::1]:8000/", false),
            ("www.a.test:26000", "a.test", "http://www.a.test:26000/", false),
            ("http://WWW.Example.org", "example.org", "http://www.example.org/", false),
            ("Bücher.example", "xn--bcher-kva.example", "https://xn--bcher-kva.example/", true),
        ] {
            let found = wanted(what).unwrap();
            assert_eq!(
                (found.site.as_str(), found.url.as_str(), found.bare),
                (site, url, bare),
                "{what}"
            );
        }
        for what in
            ["", " ", "mailto:me", "http://", "ftp://a.test/", "a b.test", "javascript:alert(1)"]
        {
            assert!(wanted(what).is_err(), "{what}");
        }
    }

    #[test]
    fn at_home_each_port_is_a_site_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let global = global(dir.path());
        for what in
            ["http://127.0.0.1/", "http://127.0.0.1:8101/", "127.0.0.1:8102", "localhost:8101"]
        {
            assert!(follow(&global, what).unwrap().new, "{what}");
            assert!(!follow(&global, what).unwrap().new, "{what}");
        }
        let section = follow(&global, "http://127.0.0.1:8102/sport/").unwrap();
        assert_eq!(
            (section.recipe.site.as_str(), section.recipe.front.len()),
            ("127.0.0.1:8102", 2)
        );
        let sites = Sites::new(read(&global).unwrap());
        let of = |url: &str| sites.of(&CanonicalUrl::parse(url).unwrap()).unwrap().site.clone();
        assert_eq!(of("http://127.0.0.1:8101/a/b"), "127.0.0.1:8101");
        assert_eq!(of("http://localhost:8101/a/b"), "localhost:8101");
        // What has no entry of its own is of the one without a port.
        assert_eq!(of("http://127.0.0.1:9000/"), "127.0.0.1");
        unfollow(&global, "127.0.0.1:8101").unwrap();
        assert_eq!(read(&global).unwrap().len(), 3);
        let entry = "[[site]]\nsite = 'localhost'\nfront = ['http://localhost:8000/']\n\
            patterns = ['localhost/{section}/{slug}']\n[[site]]\nsite = '[::1]:8000'\n\
            patterns = ['[::1]:8000/{section}/{date}/{slug}']\n";
        fs::write(file_of(&global), entry).unwrap();
        assert_eq!(read(&global).unwrap()[1].patterns.len(), 1);
        assert!(!follow(&global, "http://localhost:8000/").unwrap().new);
        assert!(!follow(&global, "[::1]:8000").unwrap().new);
        unfollow(&global, "localhost:8000").unwrap();
        unfollow(&global, "http://[::1]:8000/").unwrap();
        assert_eq!(read(&global).unwrap(), []);
    }

    #[test]
    fn sites_are_added_and_removed_and_what_people_wrote_stays() {
        let dir = tempfile::tempdir().unwrap();
        let global = global(dir.path());
        let file = file_of(&global);
        assert_eq!(read(&global).unwrap(), []);
        assert!(unfollow(&global, "example.org").is_err());
        assert!(!file.parent().unwrap().exists());
        let followed = follow(&global, "example.org").unwrap();
        assert!(followed.new);
        assert_eq!(followed.recipe.front, ["https://www.example.org/", "https://example.org/"]);
        for again in ["example.org", "http://www.example.org/", "www.example.org"] {
            let followed = follow(&global, again).unwrap();
            assert!(!followed.new, "{again}: {}", followed.said);
            assert!(followed.said.contains("already"));
        }
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text, format!("{HEAD}\n[[site]]\nsite = \"example.org\"\n"));
        fs::write(
            &file,
            format!("{text}cycle = '5m'  # short\n\n# Another\n[[site]]\nsite='b.test'\n"),
        )
        .unwrap();
        follow(&global, "https://www.example.org/sport/").unwrap();
        follow(&global, "https://feeds.example.org/all.rss").unwrap();
        assert!(!follow(&global, "https://feeds.example.org/all.rss").unwrap().new);
        let recipe = &read(&global).unwrap()[0];
        assert_eq!(recipe.front.len(), 3);
        assert_eq!(recipe.feeds, ["https://feeds.example.org/all.rss"]);
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.contains("cycle = '5m'  # short\n") && text.contains("\n# Another\n"),
            "{text}"
        );
        unfollow(&global, "www.example.org").unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with(HEAD) && text.contains("# Another\n[[site]]\nsite='b.test'"),
            "{text}"
        );
        unfollow(&global, "b.test").unwrap();
        assert_eq!(read(&global).unwrap(), []);
        // What was written of a site comes back with it.
        let again = follow(&global, "example.org").unwrap();
        assert!(again.new && again.said.contains("again, by the entry it had"), "{}", again.said);
        assert_eq!((again.recipe.front.len(), again.recipe.cycle.is_some()), (3, true));
        assert!(!follow(&global, "example.org").unwrap().new);
        unfollow(&global, "example.org").unwrap();
        assert_eq!(read(&global).unwrap(), []);
        follow(&global, "http://127.0.0.1:8000/").unwrap();
        follow(&global, "localhost:8001/feed.xml").unwrap();
        let sites = read(&global).unwrap();
        let fronts = |what: &str| follow(&global, what).unwrap().recipe.front;
        assert_eq!(fronts("http://d.test:8802/rss.xml"), ["http://d.test:8802/"]);
        assert_eq!(fronts("feed://www.e.test/rss.xml"), ["http://www.e.test/"]);
        assert_eq!(fronts("feed:http://feeds.f.test/rss.xml"), ["http://www.f.test/"]);
        assert_eq!(fronts("https://g.test/rss.xml"), ["https://www.g.test/", "https://g.test/"]);
        for (what, said) in [("co.uk", "an ending"), ("github.io", "an ending")] {
            let error = follow(&global, what).unwrap_err();
            assert!(error.to_string().contains(said) && error.is::<Usage>(), "{error}");
        }
        follow(&global, "x.github.io").unwrap();
        let error = unfollow(&global, "x.co.uk").unwrap_err();
        assert!(!error.is::<Usage>(), "{error}");
        assert_eq!(error.to_string(), "x.co.uk is not followed; did you mean x.github.io?");
        let error = unfollow(&global, "x.gihtub.io").unwrap_err().to_string();
        assert_eq!(error, "gihtub.io is not followed; did you mean x.github.io?");
        let error = unfollow(&global, "y.co.uk").unwrap_err().to_string();
        assert!(error.contains("lists those that are"), "{error}");
        assert_eq!(sites[0].front, ["http://127.0.0.1:8000/"]);
        assert_eq!(sites[1].front, ["http://localhost:8001/"]);
        assert_eq!(sites[1].feeds, ["http://localhost:8001/feed.xml"]);
        // An article is no front page.
        let followed = follow(&global, "https://www.c.test/2026/11/16/a-title").unwrap();
        assert_eq!(followed.recipe.front, ["https://www.c.test/", "https://c.test/"]);
    }

    #[test]
    fn a_site_with_a_recipe_that_is_shipped_needs_no_more_than_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let global = global(dir.path());
        let followed = follow(&global, "http://www.sina.com.cn/").unwrap();
        assert!(followed.said.contains("recipe that comes with"), "{}", followed.said);
        assert!(!followed.recipe.patterns.is_empty());
        let text = fs::read_to_string(file_of(&global)).unwrap();
        assert!(text.ends_with("\n[[site]]\nsite = \"sina.com.cn\"\n"), "{text}");
    }

    #[test]
    fn a_file_with_mistakes_keeps_the_sites_and_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let global = global(dir.path());
        let file = file_of(&global);
        let source = source_after(&file, Duration::ZERO);
        let patient = source_after(&file, Duration::from_secs(3_600));
        assert!(source.sites().is_empty() && !source.sites().is_unknown());
        follow(&global, "example.org").unwrap();
        assert_eq!(source.sites().recipes().len(), 1);
        fs::write(&file, "[[site]]\nsit = 'a.test'\n").unwrap();
        assert_eq!(source.sites().recipes().len(), 1);
        let error = follow(&global, "b.test").unwrap_err().to_string();
        assert!(error.contains("sites.toml:2: sit does not belong"), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "[[site]]\nsit = 'a.test'\n");
        // Who begins with such a file knows nothing of them.
        assert!(self::source(&file).sites().is_unknown());
        fs::write(&file, "[[site]]\nsite = 'a.test'\n").unwrap();
        assert_eq!(patient.sites().recipes().len(), 1);
        // Editors take a file away before they write it anew.
        fs::write(&file, "").unwrap();
        assert!(source.sites().is_empty());
        assert_eq!(patient.sites().recipes().len(), 1);
        fs::remove_file(&file).unwrap();
        assert!(source.sites().is_empty());
        assert_eq!(patient.sites().recipes().len(), 1);
        fs::write(&file, "[[site]]\nsite = 'b.test'\n[[site]]\nsite = 'c.test'\n").unwrap();
        assert_eq!(patient.sites().recipes().len(), 2);
    }

    #[test]
    fn entries_that_were_removed_are_not_written_over_where_they_cannot_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let global = global(dir.path());
        for site in ["a.test", "b.test"] {
            follow(&global, site).unwrap();
        }
        unfollow(&global, "a.test").unwrap();
        let removed = removed_beside(&file_of(&global));
        let text = fs::read_to_string(&removed).unwrap();
        let mistaken = text.replace("[[site]]", "[[site]");
        fs::write(&removed, &mistaken).unwrap();
        let error = unfollow(&global, "b.test").unwrap_err().to_string();
        assert!(error.contains("removed.toml") && error.contains("mend"), "{error}");
        assert_eq!(fs::read_to_string(&removed).unwrap(), mistaken);
        assert_eq!(read(&global).unwrap().len(), 1);
        follow(&global, "c.test").unwrap();
        fs::write(&removed, &text).unwrap();
        unfollow(&global, "b.test").unwrap();
        let kept = fs::read_to_string(&removed).unwrap();
        assert!(kept.contains("a.test") && kept.contains("b.test"), "{kept}");
    }
}
