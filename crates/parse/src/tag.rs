//! The names of elements and attributes that mean something here.
//!
//! * What this is: a fixed-size name and what it stands for.
//! * Its place: `extract` fills a [`Name`] from the tokenizer and asks what it is.
//! * Invariants: a name is compared as one number, so a tag costs no allocation and no
//!   chain of string comparisons; names longer than 16 bytes mean nothing.
//! * What is not here: what an element does, see `extract`.

/// Whether an element of this name, in lower case, never has an end.
pub(crate) fn is_void(name: &[u8]) -> bool {
    const VOID: &[&[u8]] = &[
        b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta",
        b"param", b"source", b"track", b"wbr",
    ];
    VOID.contains(&name)
}

/// A lower-case name of up to 16 bytes, as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    bytes: [u8; 16],
    /// Number of bytes pushed; more than 16 when the name does not fit.
    len: u8,
}

impl Name {
    #[inline]
    pub(crate) fn push(&mut self, s: &[u8]) {
        let at = usize::from(self.len);
        match self.bytes.get_mut(at..at + s.len()) {
            Some(room) => {
                room.copy_from_slice(s);
                self.len += s.len() as u8;
            }
            None => self.len = 17,
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn number(&self) -> u128 {
        if self.len > 16 { 0 } else { u128::from_le_bytes(self.bytes) }
    }

    /// What element this is the name of.
    #[inline]
    pub(crate) fn tag(&self) -> Tag {
        tag(self.number())
    }

    /// What attribute this is the name of.
    #[inline]
    pub(crate) fn slot(&self) -> Option<Slot> {
        slot(self.number())
    }
}

const fn number(name: &str) -> u128 {
    let name = name.as_bytes();
    let mut out = 0;
    let mut i = 0;
    while i < name.len() {
        out |= (name[i] as u128) << (8 * i);
        i += 1;
    }
    out
}

/// Builds a function from names to values; the names become constants of a `match`.
macro_rules! names {
    ($(#[$doc:meta])* $function:ident -> $ty:ty { $($($name:literal)|+ => $value:expr,)+ _ => $other:expr }) => {
        $(#[$doc])*
        fn $function(name: u128) -> $ty {
            $($(if name == const { number($name) } { return $value; })+)+
            $other
        }
    };
}

/// Elements by what they do to the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    A,
    Area,
    Base,
    /// An element that surrounds what a page says, by its kind; a block as well.
    Around(u8),
    /// Begins and ends a line of its own.
    Block,
    Br,
    /// A table cell: apart from its neighbour, on the same line.
    Cell,
    /// SVG `foreignObject` and `desc`: HTML inside again.
    Island,
    Frame,
    Heading(u8),
    Html,
    Iframe,
    Img,
    Link,
    Meta,
    /// Text that is neither shown nor markup.
    Raw,
    Plaintext,
    Script,
    /// `svg` and `math`.
    Foreign,
    Template,
    Textarea,
    Title,
    Xmp,
    Other,
}

names! {
    /// In the order of how often they occur on ordinary pages.
    tag -> Tag {
        "div" | "li" | "p" | "ul" | "tr" | "dd" | "dt" | "dl" | "section" | "pre" | "table"
        | "tbody" => Tag::Block,
        "a" => Tag::A,
        "span" | "code" | "b" | "i" | "em" | "strong" | "path" | "button" | "input" | "label"
        | "small" | "tt" | "sup" | "sub" | "font" | "source" | "picture" | "use" => Tag::Other,
        "td" | "th" => Tag::Cell,
        "img" => Tag::Img,
        "br" => Tag::Br,
        "svg" | "math" => Tag::Foreign,
        "script" => Tag::Script,
        "meta" => Tag::Meta,
        "link" => Tag::Link,
        "h1" => Tag::Heading(1),
        "h2" => Tag::Heading(2),
        "h3" => Tag::Heading(3),
        "h4" => Tag::Heading(4),
        "h5" => Tag::Heading(5),
        "h6" => Tag::Heading(6),
        "style" | "noembed" => Tag::Raw,
        "title" => Tag::Title,
        "html" => Tag::Html,
        "area" => Tag::Area,
        "base" => Tag::Base,
        "frame" => Tag::Frame,
        "iframe" => Tag::Iframe,
        "plaintext" => Tag::Plaintext,
        "foreignobject" | "desc" => Tag::Island,
        "nav" => Tag::Around(0),
        "header" => Tag::Around(1),
        "footer" => Tag::Around(2),
        "aside" => Tag::Around(3),
        "template" => Tag::Template,
        "textarea" => Tag::Textarea,
        "xmp" => Tag::Xmp,
        "address" | "article" | "blockquote" | "body" | "caption" | "center"
        | "colgroup" | "details" | "dialog" | "dir" | "fieldset" | "figcaption" | "figure"
        | "form" | "frameset" | "hgroup" | "hr" | "legend" | "listing"
        | "main" | "menu" | "noframes" | "noscript" | "ol" | "optgroup" | "option"
        | "search" | "select" | "summary" | "tfoot" | "thead" => Tag::Block,
        _ => Tag::Other
    }
}

/// The attributes that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Href,
    Src,
    Alt,
    Title,
    Rel,
    Name,
    Content,
    HttpEquiv,
    Lang,
    Property,
    /// `xlink:href` of an SVG link.
    XlinkHref,
    /// `xml:lang` of XHTML.
    XmlLang,
}

/// How many slots there are.
pub(crate) const SLOTS: usize = 12;

names! {
    slot -> Option<Slot> {
        "href" => Some(Slot::Href),
        "title" => Some(Slot::Title),
        "rel" => Some(Slot::Rel),
        "alt" => Some(Slot::Alt),
        "content" => Some(Slot::Content),
        "name" => Some(Slot::Name),
        "property" => Some(Slot::Property),
        "http-equiv" => Some(Slot::HttpEquiv),
        "src" => Some(Slot::Src),
        "lang" => Some(Slot::Lang),
        "xlink:href" => Some(Slot::XlinkHref),
        "xml:lang" => Some(Slot::XmlLang),
        _ => None
    }
}

impl Slot {
    #[inline]
    pub(crate) const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl Tag {
    /// Which attributes of a start tag are worth reading, as bits of [`Slot`].
    #[inline]
    pub(crate) fn slots(self) -> u16 {
        const fn bits(slots: &[Slot]) -> u16 {
            let mut out = 0;
            let mut i = 0;
            while i < slots.len() {
                out |= slots[i].bit();
                i += 1;
            }
            out
        }
        match self {
            Tag::A => const { bits(&[Slot::Href, Slot::XlinkHref, Slot::Rel, Slot::Title]) },
            Tag::Area => const { bits(&[Slot::Href, Slot::Alt, Slot::Title, Slot::Rel]) },
            Tag::Frame | Tag::Iframe => const { bits(&[Slot::Src, Slot::Title]) },
            Tag::Link => const { bits(&[Slot::Href, Slot::Rel, Slot::Title]) },
            Tag::Meta => {
                const { bits(&[Slot::Name, Slot::Content, Slot::HttpEquiv, Slot::Property]) }
            }
            Tag::Base => const { Slot::Href.bit() },
            Tag::Html => const { bits(&[Slot::Lang, Slot::XmlLang]) },
            Tag::Img => const { Slot::Alt.bit() },
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(s: &str) -> Name {
        let mut n = Name::default();
        for piece in s.as_bytes().chunks(3) {
            n.push(piece);
        }
        n
    }

    #[test]
    fn names_are_known_however_they_arrive() {
        assert_eq!(name("a").tag(), Tag::A);
        assert_eq!(name("blockquote").tag(), Tag::Block);
        assert_eq!(name("h6").tag(), Tag::Heading(6));
        assert_eq!(name("http-equiv").slot(), Some(Slot::HttpEquiv));
        assert_eq!(name("custom-element").tag(), Tag::Other);
    }

    #[test]
    fn a_long_name_is_nothing_known() {
        assert_eq!(name("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").tag(), Tag::Other);
        let mut long = Name::default();
        for _ in 0..1000 {
            long.push(b"href");
        }
        assert_eq!(long.slot(), None);
        long.push(b"x");
        assert_eq!(long.slot(), None);
    }
}
