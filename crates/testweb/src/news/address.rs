//! Where everything is: the hosts and paths of a site.

use super::calendar::Moment;
use super::plan::Piece;
use super::sites::{Feed, Form, SITES, Section, Site, Twin};

/// Host and path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) path: String,
}

impl Address {
    pub(crate) fn new(host: impl Into<String>, path: impl Into<String>) -> Self {
        Address { host: host.into(), path: path.into() }
    }
}

/// The section an article stands in.
pub(crate) fn section_of(site: &Site, subject: &str) -> Section {
    let sections = site.sections();
    sections.iter().find(|s| s.subject == subject).copied().unwrap_or(sections[0])
}

/// A title as it stands in a URL.
pub(crate) fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.to_lowercase().chars() {
        match c {
            'ä' => slug.push_str("ae"),
            'ö' => slug.push_str("oe"),
            'ü' => slug.push_str("ue"),
            'ß' => slug.push_str("ss"),
            c if c.is_ascii_alphanumeric() => slug.push(c),
            '\'' => {}
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// The number an article has on its site.
pub(crate) fn number(piece: &Piece) -> usize {
    410_000 + piece.id * 37 + piece.site
}

/// Where an article stands.
pub(crate) fn article(piece: &Piece) -> Address {
    let site = &SITES[piece.site];
    let section = section_of(site, piece.subject);
    let name = section.slug;
    let id = number(piece);
    let day = Moment::at(piece.published, site.lang.zone());
    let mut slug = slug(&piece.versions[0].text.title);
    // A second time, and a common headline, need another name.
    if piece.copy_of.is_some() || matches!(site.form, Form::Slug | Form::Month) {
        slug = format!("{slug}-{}", piece.id % 89);
    }
    let (year, month) = (day.year, day.month);
    let path = match site.form {
        Form::DatePath => format!("/{}/{slug}", day.ymd("/")),
        Form::SlugId => format!("/{name}/{slug}-{id}.html"),
        Form::Query => format!("/story.php?id={id}"),
        Form::Blog => format!("/{year}/{month:02}/{slug}/"),
        Form::SlugHex => format!("/article/{slug}-{:06x}", id * 7919 % 0xff_ffff),
        Form::SectionId => format!("/news/{name}-{}", id + 6_000_000),
        Form::Slug => format!("/{name}/{slug}.html"),
        Form::SlugA => format!("/{name}/{slug}-a{id}.html"),
        Form::Month => format!("/{name}/{year}-{month:02}/{slug}"),
        Form::Shtml => format!("/g/{name}/{}/doc-{id}.shtml", day.ymd("-")),
        Form::Column => format!("/n1/{year}/{month:02}{:02}/c1001-{id}.html", day.day),
        Form::Compact => format!("/a/{}/{id}.htm", day.ymd("")),
        Form::Number => format!("/article/{id}"),
        Form::Detail => format!("/detail/{:06x}", id * 7919 % 0xff_ffff),
    };
    if piece.forbidden {
        return Address::new(site.front_host(), format!("/members{path}"));
    }
    Address::new(site.host(&section), path)
}

/// The second page of an article, where its site makes one.
pub(crate) fn twin(piece: &Piece) -> Option<Address> {
    let Address { host, path } = article(piece);
    let between = if path.contains('?') { '&' } else { '?' };
    match SITES[piece.site].twin {
        Twin::None => None,
        Twin::Amp => Some(Address::new(host, format!("{}/amp", path.trim_end_matches('/')))),
        Twin::Print => Some(Address::new(host, format!("{path}{between}print=1"))),
    }
}

/// The front of a section; further pages from 2 on.
pub(crate) fn section(site: &Site, section: &Section, page: usize) -> Address {
    let root = if site.section_hosts { String::new() } else { format!("/{}", section.slug) };
    let path = if page > 1 { format!("{root}/page/{page}/") } else { format!("{root}/") };
    Address::new(site.host(section), path)
}

/// All articles on a place.
pub(crate) fn tag(piece: &Piece) -> Address {
    let name = slug(&piece.tag);
    let name = if name.is_empty() {
        format!("{:x}", xxhash_rust::xxh3::xxh3_64(piece.tag.as_bytes()) >> 40)
    } else {
        name
    };
    Address::new(SITES[piece.site].front_host(), format!("/tag/{name}"))
}

/// All articles of an author.
pub(crate) fn author(piece: &Piece) -> Option<Address> {
    let name = piece.author.as_deref()?;
    let slug = slug(name);
    let slug = if slug.is_empty() {
        format!("{:x}", xxhash_rust::xxh3::xxh3_64(name.as_bytes()) >> 40)
    } else {
        slug
    };
    Some(Address::new(SITES[piece.site].front_host(), format!("/author/{slug}")))
}

/// The path of the feed on the front page's host.
pub(crate) fn feed(site: &Site) -> Option<&'static str> {
    match site.feed {
        Feed::None => None,
        Feed::Rss | Feed::RssCut | Feed::RssBroken => Some("/feed/rss.xml"),
        Feed::Atom => Some("/feed/atom.xml"),
        Feed::Json => Some("/feed.json"),
    }
}
