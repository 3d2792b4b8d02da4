//! The sites that are followed as OPML, in and out.

use super::follow::{self, Wanted, add, edit, file_of, site_of};
use crate::args::Global;
use crate::config::is_site;
use argiope_model::CanonicalUrl;
use argiope_parse::{OpmlEntry, parse_opml, write_opml};
use serde_json::Value;

/// What came of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Sites that are followed now and were not.
    pub new: usize,
    /// Sites that were followed, and have a feed more.
    pub more: usize,
    /// Entries of sites that were followed as they are.
    pub known: usize,
    /// Entries that cannot be read.
    pub unreadable: usize,
    /// Whether the list broke off.
    pub cut: bool,
}

impl Imported {
    /// As a sentence.
    pub fn said(&self) -> String {
        let sites = |n: usize| crate::output::plural(n as u64, "site", "sites");
        let mut said = format!("{} more followed", sites(self.new));
        if self.more > 0 {
            said += &format!(", {} followed already with a feed more", sites(self.more));
        }
        if self.known > 0 {
            let entries = crate::output::plural(self.known as u64, "entry", "entries");
            said += &format!(", {entries} known already");
        }
        if self.unreadable > 0 {
            let entries = crate::output::plural(self.unreadable as u64, "entry", "entries");
            said += &format!(", {entries} without a URL that can be read");
        }
        if self.cut {
            said += "; the list breaks off, its end is missing, and it may have had more";
        }
        said + "."
    }
}

/// Follows the sites of an OPML document.
pub fn import(global: &Global, bytes: &[u8]) -> anyhow::Result<Imported> {
    let Some(list) = parse_opml(bytes) else {
        anyhow::bail!("that is no OPML: it has no outlines");
    };
    let mut done = Imported { unreadable: list.unreadable, cut: list.cut, ..Imported::default() };
    if list.entries.is_empty() {
        return Ok(done);
    }
    edit(&file_of(global), |doc, recipes| {
        for entry in &list.entries {
            let Some(wanted) = wanted(entry).filter(|wanted| is_site(&wanted.site).is_ok()) else {
                done.unreadable += 1;
                continue;
            };
            let before = recipes.len();
            let followed = add(doc, recipes, &wanted)?;
            match (recipes.len() > before, followed.new) {
                (true, _) => done.new += 1,
                (false, true) => done.more += 1,
                (false, false) => done.known += 1,
            }
        }
        Ok(())
    })?;
    Ok(done)
}

/// What an entry asks for: its page says which site it is, its feed what is read.
fn wanted(entry: &OpmlEntry) -> Option<Wanted> {
    let url = entry.page.as_ref().or(entry.feed.as_ref())?;
    let site = site_of(url).to_owned();
    // A page with the feed of a site that is elsewhere is one of its front pages.
    let mut wanted = follow::wanted(entry.page.as_ref().unwrap_or(url).as_str()).ok()?;
    if entry.feed.is_some() {
        wanted.feed = entry.feed.clone();
        wanted.front = entry.page.clone().or(wanted.front);
    }
    if entry.feed.as_ref().is_some_and(|feed| entry.page.as_ref() == Some(feed)) {
        wanted.front = None;
    }
    let name = entry.title.trim();
    wanted.name = (!name.is_empty() && name != site).then(|| name.to_owned());
    wanted.site = site;
    Some(wanted)
}

/// The sites that are followed as OPML: an outline for each of their feeds, one for a site without. `read`
/// are rows of feeds that were found and read, and of what sites are called that have no name of their own.
pub fn export(global: &Global, read: &[Value]) -> anyhow::Result<String> {
    let mut entries = Vec::new();
    for recipe in follow::read(global)? {
        let parse = |text: &String| CanonicalUrl::parse(text).ok();
        let page = recipe.front.first().and_then(parse);
        let found = || read.iter().filter(|row| row["site"] == *recipe.site);
        let told = found().find_map(|row| row["name"].as_str());
        let is_nameless = recipe.name.is_empty() || recipe.name == recipe.site;
        let name = told.filter(|_| is_nameless).unwrap_or(&recipe.name);
        let found = found().filter_map(|row| CanonicalUrl::parse(row["url"].as_str()?).ok());
        let mut feeds: Vec<CanonicalUrl> = recipe.feeds.iter().filter_map(parse).collect();
        for feed in found {
            if !feeds.contains(&feed) {
                feeds.push(feed);
            }
        }
        let bare = feeds.is_empty().then_some(None);
        for feed in feeds.into_iter().map(Some).chain(bare) {
            let (title, page) = (name.to_owned(), page.clone());
            entries.push(OpmlEntry { title, feed, page, folders: Vec::new() });
        }
    }
    Ok(write_opml("Sites whose news are followed", &entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_of_feeds_of_one_host_are_one_entry_and_too_many_are_refused() {
        use clap::Parser;
        let dir = tempfile::tempdir().unwrap();
        let args = ["argiope", "--data", dir.path().to_str().unwrap(), "status"];
        let global = crate::args::Cli::parse_from(args).global;
        let long = "feeds-of-a-host-with-many".repeat(11);
        let list = |count: usize| {
            let outline =
                |n| format!("<outline text=\"A\" xmlUrl=\"https://www.a.test/{long}/{n}.rss\"/>");
            format!("<opml><body>{}</body></opml>", (0..count).map(outline).collect::<String>())
        };
        let done = import(&global, list(3_000).as_bytes()).unwrap();
        assert_eq!((done.new, done.more, done.known), (1, 2_999, 0));
        assert_eq!(follow::read(&global).unwrap()[0].feeds.len(), 3_000);
        let error = import(&global, list(4_000).as_bytes()).unwrap_err().to_string();
        assert!(error.contains("nothing was changed"), "{error}");
        assert_eq!(follow::read(&global).unwrap()[0].feeds.len(), 3_000);
    }

    #[test]
    fn what_was_exported_is_imported_as_it_was() {
        use clap::Parser;
        let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [one, two] = dirs.each_ref().map(|dir| {
            let args = ["argiope", "--data", dir.path().to_str().unwrap(), "status"];
            crate::args::Cli::parse_from(args).global
        });
        let text = r#"<opml><body><outline text="Folder">
            <outline text="A's &amp; news" xmlUrl="https://feeds.burner.test/a" htmlUrl="https://www.a.test/"/>
            <outline text="A sport" xmlUrl="https://www.a.test/sport.rss" htmlUrl="https://www.a.test/sport/"/>
            <outline text="B" xmlUrl="https://blog.b.test/feed/"/><outline text="C" htmlUrl="http://c.test/x/"/>
            <outline text="B" xmlUrl="https://blog.b.test/feed/"/><outline xmlUrl="::"/></outline>"#;
        let done = import(&one, text.as_bytes()).unwrap();
        assert_eq!(done, Imported { new: 3, more: 1, known: 1, unreadable: 1, cut: true });
        assert!(done.said().contains("breaks off"), "{}", done.said());
        let sites = follow::read(&one).unwrap();
        let names: Vec<&str> = sites.iter().map(|recipe| recipe.name.as_str()).collect();
        assert_eq!(names, ["A's & news", "B", "C"]);
        assert_eq!(sites[0].site, "a.test");
        assert_eq!(sites[0].feeds, ["https://feeds.burner.test/a", "https://www.a.test/sport.rss"]);
        assert_eq!(sites[0].front, ["https://www.a.test/", "https://a.test/"]);
        assert_eq!(sites[1].feeds, ["https://blog.b.test/feed/"]);
        assert_eq!(sites[2].front, ["http://c.test/x/"]);
        let exported = export(&one, &[]).unwrap();
        assert!(!import(&two, exported.as_bytes()).unwrap().cut);
        assert_eq!(export(&two, &[]).unwrap(), exported);
        assert!(import(&two, b"<html></html>").is_err());
        follow::follow(&two, "d.test").unwrap();
        let read = [
            serde_json::json!({ "site": "c.test", "url": "http://www.c.test/feed" }),
            serde_json::json!({ "site": "c.test", "name": "What pages call it" }),
            serde_json::json!({ "site": "d.test", "name": "The D" }),
        ];
        let exported = export(&two, &read).unwrap();
        assert!(exported.contains("\"The D\"") && !exported.contains("What pages"), "{exported}");
        assert!(exported.contains("xmlUrl=\"http://www.c.test/feed\""), "{exported}");
    }
}
