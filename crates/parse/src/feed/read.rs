//! RSS of all versions and Atom, from the tree of a document.
//!
//! * What this is: where the parts of a feed and of its entries are to be found, in each
//!   vocabulary, and which of several counts.
//! * Its place: `feed` calls it for XML. It calls `feed::text` for texts and `date` for times.
//! * Invariants: what is missing is empty or `None`; every URL is absolute.
//! * What is not here: JSON, see `feed::json`.

use super::text::Raw;
use super::tree::{Space, Tree, tree};
use super::{Enclosure, Feed, FeedEntry, FeedKind, MAX_NAMES, absolute, bounded, read_date};
use argiope_model::CanonicalUrl;
use std::borrow::Cow;

/// Steps up from an element that are looked at for a base.
const MAX_BASES: usize = 8;

/// Reads a feed; `None` if the document is none.
pub(super) fn read(source: &str, url: Option<&CanonicalUrl>) -> Option<Feed> {
    let tree = tree(source);
    let root = root(&tree)?;
    let kind = kind(&tree, root);
    let named = |name: &str| tree.children(root).find(|&n| *tree.nodes[n].name == *name);
    let channel = match kind {
        FeedKind::Atom => root,
        _ => named("channel").unwrap_or(root),
    };
    let mut reading = Reading { tree: &tree, url: url.cloned(), channel, author: String::new() };
    if reading.url.is_none() {
        // Without an address of its own, a feed is where its site is.
        reading.url = reading.home(channel);
    }
    if kind == FeedKind::Atom {
        reading.author = reading.authors(channel);
    }
    let is_single = *tree.nodes[root].name == *"entry";
    let mut feed = if is_single { Feed::empty(kind) } else { reading.head(kind, root) };
    feed.ill_formed = tree.ill_formed;
    let mut entries = Vec::new();
    if is_single {
        entries.push(root)
    } else {
        reading.entries(root, &mut entries)
    }
    feed.entries = bounded(entries.into_iter().map(|node| reading.entry(node, kind)));
    Some(feed)
}

/// The element a feed begins with.
fn root(tree: &Tree<'_>) -> Option<usize> {
    let is = |n: usize, names: &[&str]| names.contains(&&*tree.nodes[n].name);
    let all = 1..tree.nodes.len();
    let whole = all.clone().find(|&n| is(n, &["rss", "rdf", "feed", "channel", "entry"]));
    let found = whole.or_else(|| all.clone().any(|n| is(n, &["item"])).then_some(0))?;
    // RDF says many things; it is a feed only with something of RSS in it.
    let is_feed = !is(found, &["rdf"]) || all.into_iter().any(|n| is(n, &["channel", "item"]));
    is_feed.then_some(found)
}

fn kind(tree: &Tree<'_>, root: usize) -> FeedKind {
    match &*tree.nodes[root].name {
        "feed" | "entry" => FeedKind::Atom,
        "rdf" => FeedKind::Rdf,
        _ => FeedKind::Rss,
    }
}

struct Reading<'r, 't> {
    tree: &'r Tree<'t>,
    url: Option<CanonicalUrl>,
    channel: usize,
    /// Who wrote all of it, if the feed says so.
    author: String,
}

impl<'t> Reading<'_, 't> {
    /// The entries of a feed, wherever they stand, but not those inside of others.
    fn entries(&self, of: usize, out: &mut Vec<usize>) {
        let end = self.tree.nodes[of].end;
        let mut next = of + 1;
        while next < end {
            let node = &self.tree.nodes[next];
            let core = matches!(node.space, Space::Core | Space::Atom | Space::Other);
            if core && matches!(&*node.name, "item" | "entry") {
                out.push(next);
                next = node.end.max(next + 1);
            } else {
                next += 1;
            }
        }
    }

    /// The children with one of these names, in the vocabularies that a feed is written in.
    fn of(&self, node: usize, names: &[&str]) -> impl Iterator<Item = usize> {
        self.tree.children(node).filter(move |&n| {
            let child = &self.tree.nodes[n];
            matches!(child.space, Space::Core | Space::Atom) && names.contains(&&*child.name)
        })
    }

    fn in_space(&self, node: usize, space: Space, name: &str) -> impl Iterator<Item = usize> {
        self.tree.children(node).filter(move |&n| {
            let child = &self.tree.nodes[n];
            child.space == space && *child.name == *name
        })
    }

    /// The first of them that says something, as one line.
    fn line_of(&self, mut nodes: impl Iterator<Item = usize>) -> Option<String> {
        nodes.find_map(|n| Some(self.raw(n).line()).filter(|line| !line.is_empty()))
    }

    /// Its characters, those of elements inside included.
    fn characters(&self, node: usize) -> Cow<'_, str> {
        let end = self.tree.nodes[node].end;
        if end == node + 1 {
            return Cow::Borrowed(self.tree.nodes[node].text.trim());
        }
        let mut all = String::new();
        for inside in &self.tree.nodes[node..end] {
            all.push_str(&inside.text);
        }
        Cow::Owned(all.trim().to_owned())
    }

    /// A text, as its type says and as it looks.
    fn raw(&self, node: usize) -> Raw<'_> {
        let kind = self.tree.attribute(node, "type").unwrap_or_default().to_ascii_lowercase();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let mode = self.tree.attribute(node, "mode").unwrap_or_default().to_ascii_lowercase();
        let has_elements = self.tree.nodes[node].end > node + 1;
        let is_coded = mode == "base64"
            || self.tree.attribute(node, "encoding").is_some_and(|e| e == "base64");
        if is_coded && let Some(text) = decoded(&self.tree.nodes[node].text) {
            return if kind == "text/plain" {
                Raw::Plain(Cow::Owned(text))
            } else {
                Raw::Unsure(Cow::Owned(text))
            };
        }
        if has_elements && mode != "escaped" {
            return Raw::Html(Cow::Borrowed(self.tree.inner(node)));
        }
        let text = self.characters(node);
        match (kind, self.tree.nodes[node].space) {
            ("html" | "text/html" | "xhtml" | "application/xhtml+xml", _) => Raw::Html(text),
            ("text" | "text/plain" | "plain", _) => Raw::Plain(text),
            // Some declare the type of nothing and send base64 all the same.
            (other, _) if other.contains('/') && !other.contains("xml") && !has_elements => {
                match decoded(&text) {
                    Some(decoded) => Raw::Unsure(Cow::Owned(decoded)),
                    None => Raw::Unsure(text),
                }
            }
            (_, Space::Content) => Raw::Html(text),
            _ => Raw::Unsure(text),
        }
    }

    /// What relative references in an element begin from.
    fn base(&self, node: usize) -> Option<CanonicalUrl> {
        let mut said = Vec::new();
        let mut at = node;
        while said.len() < MAX_BASES {
            said.extend(self.tree.attribute(at, "xml:base"));
            if at == 0 {
                break;
            }
            at = self.tree.nodes[at].parent;
        }
        let mut base = self.url.clone();
        for reference in said.iter().rev() {
            base = absolute(reference, base.as_ref()).or(base);
        }
        base
    }

    fn absolute(&self, reference: &str, node: usize) -> Option<CanonicalUrl> {
        absolute(reference, self.base(node).as_ref())
    }

    /// Where an element leads: the page it stands for, not the feed and not what is enclosed.
    fn link(&self, node: usize) -> Option<CanonicalUrl> {
        let mut second = None;
        for link in self.of(node, &["link"]) {
            let Some(href) = self.tree.attribute(link, "href") else {
                let text = self.characters(link);
                let resource = self.tree.attribute(link, "rdf:resource");
                let text = if text.is_empty() { resource.unwrap_or_default() } else { text };
                if let Some(url) = self.absolute(&text, link) {
                    return Some(url);
                }
                continue;
            };
            let rel = self.tree.attribute(link, "rel").unwrap_or(Cow::Borrowed("alternate"));
            let rel = rel.trim().rsplit('/').next().unwrap_or_default();
            if !rel.is_empty() && !rel.eq_ignore_ascii_case("alternate") {
                continue;
            }
            let url = self.absolute(&href, link);
            let kind = self.tree.attribute(link, "type").unwrap_or_default();
            if kind.is_empty() || kind.contains("html") {
                if url.is_some() {
                    return url;
                }
            } else {
                second = second.or(url);
            }
        }
        second.or_else(|| self.absolute(&self.tree.attribute(node, "HREF")?, node))
    }

    /// The site of a feed, where that is written in full.
    fn home(&self, channel: usize) -> Option<CanonicalUrl> {
        let links = self.of(channel, &["link"]).filter_map(|link| {
            let href = self.tree.attribute(link, "href");
            absolute(&href.unwrap_or_else(|| self.characters(link).into_owned().into()), None)
        });
        let mut links = links;
        links.next()
    }

    fn head(&self, kind: FeedKind, root: usize) -> Feed {
        let at = self.channel;
        let dublin = |name| self.in_space(at, Space::Dublin, name);
        let language = self.line_of(self.of(at, &["language"]));
        let language = language.or_else(|| self.line_of(dublin("language"))).or_else(|| {
            let said = [at, root].iter().find_map(|&n| self.tree.attribute(n, "xml:lang"));
            said.map(|l| l.trim().to_owned()).filter(|l| !l.is_empty())
        });
        let texts = &["description", "subtitle", "tagline", "abstract"];
        let mut texts = self
            .of(at, texts)
            .chain(self.in_space(at, Space::Itunes, "summary"))
            .chain(self.in_space(at, Space::Itunes, "subtitle"));
        let updated = &["updated", "modified", "lastbuilddate", "pubdate"];
        let mut times = self.of(at, updated).chain(dublin("date"));
        let picture = self.of(at, &["logo", "image", "icon"]).find_map(|n| self.image(n));
        let minutes = self.line_of(self.of(at, &["ttl"])).and_then(|t| t.parse().ok());
        Feed {
            kind,
            title: self
                .line_of(self.of(at, &["title"]).chain(dublin("title")))
                .or_else(|| self.line_of(self.in_space(at, Space::Itunes, "title")))
                .unwrap_or_default(),
            link: self.link(at).or_else(|| self.absolute(&self.about(at)?, at)),
            language,
            description: texts.next().map(|n| self.raw(n).line()).unwrap_or_default(),
            updated: times
                .find_map(|n| read_date(&self.characters(n)))
                .or_else(|| read_date(&self.tree.attribute(at, "LASTMOD")?)),
            picture: picture
                .or_else(|| self.in_space(at, Space::Itunes, "image").find_map(|n| self.image(n))),
            minutes,
            ..Feed::empty(kind)
        }
    }

    fn about(&self, node: usize) -> Option<Cow<'t, str>> {
        self.tree.attribute(node, "rdf:about").filter(|about| !about.is_empty())
    }

    fn entry(&self, node: usize, kind: FeedKind) -> FeedEntry {
        let dublin = |name| self.in_space(node, Space::Dublin, name);
        let media = self.media(node);
        let of_media = |name: &str| {
            let mut found = media.iter().copied().filter(|&n| *self.tree.nodes[n].name == *name);
            found.next()
        };
        let title = self.line_of(self.of(node, &["title"]).chain(dublin("title")));
        let title = title.or_else(|| self.line_of(of_media("title").into_iter()));
        let own_id = self.line_of(self.of(node, &["guid", "id"])).or_else(|| {
            self.about(node).map(Cow::into_owned).or_else(|| self.line_of(dublin("identifier")))
        });
        let link = self.link(node);
        let link = link.or_else(|| self.permanent(node, own_id.as_deref()));
        let content = self
            .in_space(node, Space::Content, "encoded")
            .chain(self.of(node, &["content", "fullitem", "body"]))
            .chain(self.in_space(node, Space::Xhtml, "body"))
            .chain(self.in_space(node, Space::Xhtml, "div"))
            .find(|&n| !self.tree.inner(n).trim().is_empty())
            .map(|n| self.raw(n));
        let summary = self
            .of(node, &["description", "summary", "abstract"])
            .chain(dublin("description"))
            .chain(self.in_space(node, Space::Itunes, "summary"))
            .chain(self.in_space(node, Space::Itunes, "subtitle"))
            .chain(of_media("description"))
            .find(|&n| !self.tree.inner(n).trim().is_empty())
            .map(|n| match (kind, self.raw(n)) {
                // What RSS describes with is HTML; Atom says so if it is.
                (FeedKind::Rss | FeedKind::Rdf, Raw::Unsure(text)) if !text.contains('\n') => {
                    Raw::Html(text)
                }
                (_, raw) => raw,
            });
        let enclosures = self.enclosures(node, &media);
        let picture = self.picture(node, &media, &enclosures).or_else(|| {
            let shown = summary.as_ref().and_then(Raw::picture);
            let shown = shown.or_else(|| content.as_ref().and_then(Raw::picture));
            self.absolute(&shown?, node)
        });
        let (published, updated) = self.times(node);
        FeedEntry {
            id: own_id.or_else(|| link.as_ref().map(ToString::to_string)).unwrap_or_default(),
            title: title.unwrap_or_default(),
            link,
            summary: summary.map(|raw| raw.body()).unwrap_or_default(),
            content: content.map(|raw| raw.body()).unwrap_or_default(),
            author: self.author(node, kind),
            published,
            updated,
            categories: self.categories(node, &media),
            picture,
            enclosures,
            comments: self.comments(node),
        }
    }

    /// An identity that is an address too, or the place of the content.
    fn permanent(&self, node: usize, id: Option<&str>) -> Option<CanonicalUrl> {
        let lasts = self.of(node, &["guid"]).all(|guid| {
            let said = self.tree.attribute(guid, "isPermaLink").unwrap_or_default();
            !said.eq_ignore_ascii_case("false")
        });
        let by_id = id.filter(|_| lasts).and_then(|id| match self.about(node) {
            Some(about) => self.absolute(&about, node),
            None => absolute(id, None),
        });
        by_id.or_else(|| {
            let mut content = self.of(node, &["content"]);
            let src = content.find_map(|n| self.tree.attribute(n, "src"))?;
            self.absolute(&src, node)
        })
    }

    /// When an entry appeared, and when it changed.
    fn times(&self, node: usize) -> (Option<super::FeedTime>, Option<super::FeedTime>) {
        let of = |names: &[&str]| {
            let mut found = self.of(node, names);
            found.find_map(|n| read_date(&self.characters(n)))
        };
        let terms = |name| {
            let mut found = self.in_space(node, Space::DublinTerms, name);
            found.find_map(|n| read_date(&self.characters(n)))
        };
        let mut dates = self.in_space(node, Space::Dublin, "date");
        let date = dates.find_map(|n| read_date(&self.characters(n)));
        let published = of(&["pubdate", "published", "issued"])
            .or_else(|| terms("issued"))
            .or(date)
            .or_else(|| of(&["created"]))
            .or_else(|| terms("created"));
        let updated = of(&["updated", "modified"]).or_else(|| terms("modified"));
        (published, updated.or_else(|| read_date(&self.tree.attribute(node, "LASTMOD")?)))
    }

    /// Who wrote it. Atom lets the source or the whole feed say so.
    fn author(&self, node: usize, kind: FeedKind) -> String {
        let own = self.authors(node);
        if !own.is_empty() || kind != FeedKind::Atom {
            return own;
        }
        let mut source = self.of(node, &["source"]);
        let source = source.next().map(|n| self.authors(n)).filter(|a| !a.is_empty());
        source.unwrap_or_else(|| self.author.clone())
    }

    fn authors(&self, node: usize) -> String {
        let mut names: Vec<String> = Vec::new();
        let people = self
            .of(node, &["author"])
            .chain(self.in_space(node, Space::Dublin, "creator"))
            .chain(self.in_space(node, Space::Dublin, "author"))
            .chain(self.in_space(node, Space::Itunes, "author"));
        for person in people {
            let part = |name| self.line_of(self.of(person, &[name]));
            let name = part("name").or_else(|| part("email")).unwrap_or_else(|| {
                person_name(&super::text::Raw::Unsure(self.characters(person)).line()).to_owned()
            });
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
            if names.len() == MAX_NAMES {
                break;
            }
        }
        names.join(", ")
    }

    fn categories(&self, node: usize, media: &[usize]) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        let of_media = media.iter().copied().filter(|&n| *self.tree.nodes[n].name == *"category");
        let all = self
            .of(node, &["category"])
            .chain(self.in_space(node, Space::Dublin, "subject"))
            .chain(self.in_space(node, Space::Itunes, "category"))
            .chain(of_media);
        for category in all {
            let said = ["label", "term", "text"];
            let said = said.iter().find_map(|name| self.tree.attribute(category, name));
            let text = self.raw(category).line();
            let text = match said.filter(|s| !s.trim().is_empty()) {
                Some(said) if text.is_empty() => said.trim().to_owned(),
                _ => text,
            };
            if !text.is_empty() && !out.contains(&text) {
                out.push(text);
            }
            if out.len() == MAX_NAMES {
                break;
            }
        }
        out
    }

    /// What an entry says in the words of Media RSS, in groups or not.
    fn media(&self, node: usize) -> Vec<usize> {
        let inside = node + 1..self.tree.nodes[node].end;
        inside.filter(|&n| self.tree.nodes[n].space == Space::Media).collect()
    }

    fn enclosures(&self, node: usize, media: &[usize]) -> Vec<Enclosure> {
        let mut out: Vec<Enclosure> = Vec::new();
        let links = self.of(node, &["link"]).filter(|&n| {
            let rel = self.tree.attribute(n, "rel");
            rel.is_some_and(|rel| rel.trim().to_ascii_lowercase().ends_with("enclosure"))
        });
        let of_media = media.iter().copied().filter(|&n| *self.tree.nodes[n].name == *"content");
        for found in self.of(node, &["enclosure"]).chain(links).chain(of_media) {
            let said = |name| self.tree.attribute(found, name);
            let Some(url) = said("url").or_else(|| said("href")) else { continue };
            let Some(url) = self.absolute(&url, found) else { continue };
            if out.iter().all(|e| e.url != url) {
                let medium = said("medium").map(|m| format!("{}/*", m.trim()));
                let kind = said("type").map(|t| t.trim().to_ascii_lowercase()).or(medium);
                let bytes = said("length").or_else(|| said("fileSize"));
                let bytes = bytes.and_then(|b| b.trim().parse().ok());
                out.push(Enclosure { url, kind: kind.unwrap_or_default(), bytes });
            }
            if out.len() == MAX_NAMES {
                break;
            }
        }
        out
    }

    fn picture(
        &self,
        node: usize,
        media: &[usize],
        enclosures: &[Enclosure],
    ) -> Option<CanonicalUrl> {
        let enclosed = enclosures.iter().find(|e| e.is_picture()).map(|e| e.url.clone());
        enclosed
            .or_else(|| {
                let thumbs = media.iter().filter(|&&n| *self.tree.nodes[n].name == *"thumbnail");
                let mut urls = thumbs.filter_map(|&n| Some((n, self.tree.attribute(n, "url")?)));
                urls.find_map(|(n, url)| self.absolute(&url, n))
            })
            .or_else(|| self.in_space(node, Space::Itunes, "image").find_map(|n| self.image(n)))
            .or_else(|| self.of(node, &["image"]).find_map(|n| self.image(n)))
    }

    /// A picture, given by attribute, by an element inside, or by text.
    fn image(&self, node: usize) -> Option<CanonicalUrl> {
        let said = self.tree.attribute(node, "href").or_else(|| self.tree.attribute(node, "url"));
        let inside = || self.line_of(self.of(node, &["url"]));
        let text = self.tree.nodes[node].text.trim();
        let url = said.map(Cow::into_owned).or_else(inside).unwrap_or_else(|| text.to_owned());
        self.absolute(&url, node)
    }

    fn comments(&self, node: usize) -> Option<CanonicalUrl> {
        let mut own = self.of(node, &["comments"]);
        own.find_map(|n| self.absolute(&self.characters(n), n)).or_else(|| {
            let mut replies = self.of(node, &["link"]).filter(|&n| {
                let said = |name| self.tree.attribute(n, name).unwrap_or_default();
                said("rel").trim().eq_ignore_ascii_case("replies") && !said("type").contains("xml")
            });
            replies.find_map(|n| self.absolute(&self.tree.attribute(n, "href")?, n))
        })
    }
}

/// The name in `someone@example.org (Some One)` and `Some One <someone@example.org>`.
fn person_name(text: &str) -> &str {
    let text = text.trim();
    if let Some((before, after)) = text.split_once('(')
        && before.contains('@')
    {
        return after.trim_end_matches(')').trim();
    }
    match text.split_once('<') {
        Some((name, _)) if !name.trim().is_empty() => name.trim().trim_matches('"'),
        _ => match text.split_once(" (") {
            Some((name, rest)) if rest.contains('@') => name.trim(),
            _ => text,
        },
    }
}

/// Base64, if that is what it is and a text is in it.
fn decoded(text: &str) -> Option<String> {
    let mut letters: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    while letters.last() == Some(&b'=') {
        letters.pop();
    }
    let bytes = data_encoding::BASE64_NOPAD.decode(&letters).ok()?;
    String::from_utf8(bytes).ok().filter(|text| !text.is_empty())
}
