//! The truth: what a reader who knows everything would say of the web as it stands.

use super::NewsWeb;
use super::address::{self, Address};
use super::calendar::Moment;
use super::plan::{Change, Piece, Role};
use super::sites::{Front, Meta, Quirk, SITES};
use serde_json::{Value, json};
use std::collections::HashSet;

impl NewsWeb {
    /// The truth about the present edition, as JSON.
    ///
    /// * `sites`: `site`, `name`, `language`, `front`, `answers`, `front_headlines` (articles whose
    ///   headlines stand on the front page), `no_articles` (pages that are none).
    /// * `articles`: everything a site has written so far. `url` is the address, `urls` others of the
    ///   same article; `event` is what happened, `story` what is written about it in one language;
    ///   `linked` says where it is linked from (`front`, `section`, `feed`, `news-sitemap`), empty
    ///   for what only archives know; `copy_of` names the article of the same site that it repeats;
    ///   `date_stated` is `exact` where its page says the zone, else `local`; `version` counts
    ///   from 1, `change` is what the last one changed and `changed_in` its edition.
    pub fn truth(&self) -> Value {
        let edition = self.edition();
        let pieces = self.pieces.iter().filter(|piece| piece.since() <= edition);
        let sites = (0..SITES.len()).map(|site| self.site_truth(site, edition));
        json!({
            "edition": edition,
            "sites": sites.collect::<Vec<_>>(),
            "articles": pieces.map(|piece| self.article_truth(piece, edition)).collect::<Vec<_>>(),
        })
    }

    fn site_truth(&self, number: usize, edition: u32) -> Value {
        let site = &SITES[number];
        let urls = |pieces: Vec<&Piece>| -> Vec<String> {
            pieces.iter().map(|piece| self.url(&address::article(piece))).collect()
        };
        let shown = match site.front {
            Front::Script => Vec::new(),
            _ => urls(self.on_front(number, edition)),
        };
        let mut others: HashSet<String> = HashSet::new();
        for section in site.sections() {
            others.extend((1..=3).map(|page| self.url(&address::section(site, &section, page))));
        }
        others.extend(
            super::PLAIN.iter().map(|path| self.url(&Address::new(site.front_host(), *path))),
        );
        for piece in self.pieces.iter().filter(|piece| piece.site == number) {
            others.insert(self.url(&address::tag(piece)));
            others.extend(address::author(piece).map(|at| self.url(&at)));
        }
        let mut others: Vec<String> = others.into_iter().collect();
        others.sort();
        json!({
            "site": site.domain,
            "name": site.name,
            "language": site.lang.code(),
            "front": self.url(&Address::new(site.front_host(), "/")),
            "answers": site.quirk != Quirk::Down,
            "forbidden": (site.quirk == Quirk::Forbidden).then_some("/members/"),
            "crawl_delay": (site.quirk == Quirk::CrawlDelay).then_some(1),
            "old_sitemap": (site.quirk == Quirk::OldSitemap).then_some("/archive/"),
            "front_headlines": shown,
            "members": urls(self.members(number, edition)),
            "no_articles": others,
        })
    }

    fn article_truth(&self, piece: &Piece, edition: u32) -> Value {
        let site = &SITES[piece.site];
        let (version, count) = piece.at(edition);
        let has = |pieces: Vec<&Piece>| pieces.iter().any(|other| other.id == piece.id);
        let section = address::section_of(site, piece.subject);
        let is_script = site.front == Front::Script;
        let linked: Vec<&str> = [
            ("front", !is_script && has(self.on_front(piece.site, edition))),
            ("section", !is_script && has(self.in_section(piece.site, &section, 1, edition))),
            ("feed", address::feed(site).is_some() && has(self.in_feed(piece.site, edition))),
            ("news-sitemap", site.news_sitemap && has(self.in_news_sitemap(piece.site, edition))),
        ]
        .iter()
        .filter(|(_, is)| *is)
        .map(|(name, _)| *name)
        .collect();
        let iso = |ms: i64| Moment::at(ms, 0).iso();
        // The time element tells the zone as well as what machines are told.
        let exact = site.meta != Meta::Nothing || piece.site % 2 == 1;
        json!({
            "id": piece.id,
            "site": site.domain,
            "language": site.lang.code(),
            "url": self.url(&address::article(piece)),
            "urls": address::twin(piece).map(|at| vec![self.url(&at)]).unwrap_or_default(),
            "event": piece.event,
            "story": format!("{}-{}", piece.event, site.lang.code()),
            "role": match piece.role {
                Role::Own => "own",
                Role::Agency => "agency",
                Role::FollowUp => "follow-up",
                Role::Series => "series",
                Role::Again => "again",
                Role::Old => "old",
            },
            "copy_of": piece.copy_of,
            "forbidden": piece.forbidden,
            "linked": linked,
            "title": version.text.title,
            "author": piece.author,
            "published": iso(piece.published),
            "modified": version.modified.map(iso),
            "date_stated": if exact { "exact" } else { "local" },
            "section": section.label,
            "subject": piece.subject,
            "text": version.text.paragraphs.join("\n"),
            "since": piece.since(),
            "version": count,
            "changed_in": version.edition,
            "change": match version.change {
                Change::Written => "written",
                Change::Headline => "headline",
                Change::Number => "number",
                Change::Paragraph => "paragraph",
            },
        })
    }
}
