//! The sites of the news web, each of its own kind.
//!
//! A site is a row of a table: what its front page looks like, how its URLs are made, what its pages
//! say about themselves, and how its server behaves.

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lang {
    /// English.
    En,
    /// German.
    De,
    /// Chinese.
    Zh,
}

impl Lang {
    /// All of them.
    pub const ALL: [Lang; 3] = [Lang::En, Lang::De, Lang::Zh];

    /// As pages name it.
    pub fn code(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::De => "de",
            Lang::Zh => "zh",
        }
    }

    /// Hours from Greenwich.
    pub(crate) fn zone(self) -> i64 {
        match self {
            Lang::En => 0,
            Lang::De => 1,
            Lang::Zh => 8,
        }
    }
}

/// The structure of a front page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Front {
    /// One large, the others in a grid.
    Hero,
    /// Cards: the whole card is a link.
    Cards,
    /// A list with a heading, a time and a line or two each.
    List,
    /// Tables, fonts and spacers.
    Table,
    /// Blocks of bare links, a block for each section.
    Portal,
    /// Nothing but a script.
    Script,
}

/// The form of an article's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `/2026/11/16/a-title`
    DatePath,
    /// `/section/a-title-123456.html`
    SlugId,
    /// `/story.php?id=123456`
    Query,
    /// `/2026/11/a-title/`
    Blog,
    /// `/article/a-title-1f3a5c`
    SlugHex,
    /// `/news/section-1234567`
    SectionId,
    /// `/section/a-title.html`
    Slug,
    /// `/section/a-title-a123456.html`
    SlugA,
    /// `/section/2026-11/a-title`
    Month,
    /// `/g/section/2026-11-16/doc-123456.shtml`
    Shtml,
    /// `/n1/2026/1116/c1001-123456.html`
    Column,
    /// `/a/20261116/123456.htm`
    Compact,
    /// `/article/123456`
    Number,
    /// `/detail/1f3a5c`
    Detail,
}

/// What an article's page says about itself for machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meta {
    JsonLd,
    Microdata,
    OpenGraph,
    Nothing,
}

/// A feed, and what is the matter with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feed {
    None,
    Rss,
    /// RSS that ends in the middle of its last entry.
    RssCut,
    /// RSS with a bare ampersand and an unclosed tag.
    RssBroken,
    Atom,
    Json,
}

/// A second page with the same article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twin {
    None,
    Amp,
    Print,
}

/// How bytes are made of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    Utf8,
    Windows1252,
    Gb18030,
}

/// How a server behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quirk {
    None,
    /// `robots.txt` forbids a section.
    Forbidden,
    /// `robots.txt` asks for a second between requests.
    CrawlDelay,
    /// Its general sitemap has thousands of old pages.
    OldSitemap,
    /// Every answer takes its time.
    Slow,
    /// Some pages answer 503 when they are asked for the first time.
    Busy,
    /// Nobody answers.
    Down,
}

/// A site.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) name: &'static str,
    pub(crate) domain: &'static str,
    pub(crate) lang: Lang,
    pub(crate) front: Front,
    pub(crate) form: Form,
    /// Whether sections have hosts of their own.
    pub(crate) section_hosts: bool,
    pub(crate) charset: Charset,
    pub(crate) meta: Meta,
    pub(crate) feed: Feed,
    pub(crate) news_sitemap: bool,
    pub(crate) twin: Twin,
    /// Whether links carry tracking parameters.
    pub(crate) tracking: bool,
    /// How many articles the front page shows.
    pub(crate) shown: usize,
    /// What it writes about; everything where empty.
    pub(crate) subjects: &'static [&'static str],
    pub(crate) quirk: Quirk,
}

/// A section: its name in URLs, its label, its subject.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) slug: &'static str,
    pub(crate) label: &'static str,
    pub(crate) subject: &'static str,
}

const fn section(slug: &'static str, label: &'static str, subject: &'static str) -> Section {
    Section { slug, label, subject }
}

const SECTIONS: [[Section; 5]; 6] = [
    [
        section("politics", "Politics", "politics"),
        section("business", "Business", "business"),
        section("sport", "Sport", "sport"),
        section("world", "World", "panorama"),
        section("science", "Science", "science"),
    ],
    [
        section("nation", "Nation", "politics"),
        section("money", "Money", "business"),
        section("sports", "Sports", "sport"),
        section("local", "Local", "panorama"),
        section("tech", "Science & Tech", "science"),
    ],
    [
        section("politik", "Politik", "politics"),
        section("wirtschaft", "Wirtschaft", "business"),
        section("sport", "Sport", "sport"),
        section("panorama", "Panorama", "panorama"),
        section("wissen", "Wissen", "science"),
    ],
    [
        section("inland", "Inland", "politics"),
        section("geld", "Geld", "business"),
        section("sport", "Sport", "sport"),
        section("vermischtes", "Vermischtes", "panorama"),
        section("forschung", "Forschung", "science"),
    ],
    [
        section("china", "国内", "politics"),
        section("finance", "财经", "business"),
        section("sports", "体育", "sport"),
        section("society", "社会", "panorama"),
        section("tech", "科技", "science"),
    ],
    [
        section("politics", "时政", "politics"),
        section("money", "经济", "business"),
        section("sports", "体育", "sport"),
        section("life", "民生", "panorama"),
        section("science", "科学", "science"),
    ],
];

impl Site {
    /// Its sections.
    pub(crate) fn sections(&self) -> Vec<Section> {
        let number = SITES.iter().position(|site| site.domain == self.domain).unwrap_or(0);
        let style = self.lang as usize * 2 + number % 2;
        SECTIONS[style].iter().filter(|s| self.covers(s.subject)).copied().collect()
    }

    /// Whether it writes about a subject.
    pub(crate) fn covers(&self, subject: &str) -> bool {
        self.subjects.is_empty() || self.subjects.contains(&subject)
    }

    /// The host of the front page.
    pub(crate) fn front_host(&self) -> String {
        format!("www.{}", self.domain)
    }

    /// The host of a section.
    pub(crate) fn host(&self, section: &Section) -> String {
        if self.section_hosts {
            format!("{}.{}", section.slug, self.domain)
        } else {
            self.front_host()
        }
    }
}

/// What most sites have in common.
const USUAL: Site = Site {
    name: "",
    domain: "",
    lang: Lang::En,
    front: Front::List,
    form: Form::SlugId,
    section_hosts: false,
    charset: Charset::Utf8,
    meta: Meta::Nothing,
    feed: Feed::None,
    news_sitemap: false,
    twin: Twin::None,
    tracking: false,
    shown: 12,
    subjects: &[],
    quirk: Quirk::None,
};

/// All sites.
pub(crate) static SITES: [Site; 20] = [
    Site {
        name: "The Harbour Courier",
        domain: "harbour-courier.test",
        front: Front::Hero,
        form: Form::DatePath,
        meta: Meta::JsonLd,
        feed: Feed::Rss,
        news_sitemap: true,
        twin: Twin::Amp,
        ..USUAL
    },
    Site {
        name: "Northmoor Daily",
        domain: "northmoor-daily.test",
        front: Front::Cards,
        section_hosts: true,
        meta: Meta::OpenGraph,
        feed: Feed::Atom,
        tracking: true,
        shown: 16,
        ..USUAL
    },
    Site {
        name: "Evening Ledger",
        domain: "evening-ledger.test",
        front: Front::Table,
        form: Form::Query,
        charset: Charset::Windows1252,
        twin: Twin::Print,
        ..USUAL
    },
    Site {
        name: "Valley Post",
        domain: "valley-post.test",
        form: Form::Blog,
        meta: Meta::Microdata,
        feed: Feed::RssCut,
        quirk: Quirk::Forbidden,
        ..USUAL
    },
    Site {
        name: "Capital Wire",
        domain: "capital-wire.test",
        front: Front::Script,
        form: Form::SlugHex,
        meta: Meta::JsonLd,
        feed: Feed::Rss,
        ..USUAL
    },
    Site {
        name: "The Sporting Globe",
        domain: "sporting-globe.test",
        front: Front::Cards,
        form: Form::Slug,
        meta: Meta::OpenGraph,
        subjects: &["sport"],
        quirk: Quirk::Busy,
        ..USUAL
    },
    Site {
        name: "Coastline Today",
        domain: "coastline-today.test",
        front: Front::Portal,
        form: Form::SectionId,
        meta: Meta::OpenGraph,
        shown: 24,
        quirk: Quirk::Slow,
        ..USUAL
    },
    Site {
        name: "Old Mill Gazette",
        domain: "oldmill-gazette.test",
        form: Form::Slug,
        feed: Feed::Rss,
        tracking: true,
        quirk: Quirk::OldSitemap,
        ..USUAL
    },
    Site {
        name: "Nordauer Tagblatt",
        domain: "nordauer-tagblatt.test",
        lang: Lang::De,
        front: Front::Hero,
        form: Form::SlugA,
        meta: Meta::JsonLd,
        feed: Feed::Rss,
        news_sitemap: true,
        ..USUAL
    },
    Site {
        name: "Lindenberger Rundschau",
        domain: "lindenberger-rundschau.test",
        lang: Lang::De,
        front: Front::Cards,
        section_hosts: true,
        charset: Charset::Windows1252,
        meta: Meta::OpenGraph,
        feed: Feed::Atom,
        ..USUAL
    },
    Site {
        name: "Der Morgenbote",
        domain: "morgenbote.test",
        lang: Lang::De,
        front: Front::Table,
        form: Form::Compact,
        charset: Charset::Windows1252,
        ..USUAL
    },
    Site {
        name: "Elbauer Wirtschaftsblatt",
        domain: "wirtschaftsblatt-elbau.test",
        lang: Lang::De,
        form: Form::Month,
        meta: Meta::Microdata,
        feed: Feed::Json,
        subjects: &["business", "politics", "science"],
        quirk: Quirk::CrawlDelay,
        ..USUAL
    },
    Site {
        name: "Seeblick Online",
        domain: "seeblick-online.test",
        lang: Lang::De,
        front: Front::Cards,
        form: Form::Number,
        feed: Feed::RssBroken,
        twin: Twin::Print,
        tracking: true,
        shown: 18,
        ..USUAL
    },
    Site {
        name: "Stadtanzeiger Auental",
        domain: "stadtanzeiger-auental.test",
        lang: Lang::De,
        quirk: Quirk::Down,
        ..USUAL
    },
    Site {
        name: "南江新闻网",
        domain: "nanjiang-news.test",
        lang: Lang::Zh,
        front: Front::Portal,
        form: Form::Shtml,
        section_hosts: true,
        charset: Charset::Gb18030,
        meta: Meta::OpenGraph,
        shown: 30,
        ..USUAL
    },
    Site {
        name: "长河日报",
        domain: "changhe-daily.test",
        lang: Lang::Zh,
        form: Form::Column,
        feed: Feed::Rss,
        ..USUAL
    },
    Site {
        name: "岭上晚报",
        domain: "lingshang-evening.test",
        lang: Lang::Zh,
        front: Front::Cards,
        form: Form::Compact,
        charset: Charset::Gb18030,
        twin: Twin::Print,
        ..USUAL
    },
    Site {
        name: "东湖时报",
        domain: "donghu-times.test",
        lang: Lang::Zh,
        front: Front::Hero,
        form: Form::Number,
        meta: Meta::JsonLd,
        news_sitemap: true,
        shown: 15,
        ..USUAL
    },
    Site {
        name: "新阳网",
        domain: "xinyang-net.test",
        lang: Lang::Zh,
        front: Front::Table,
        form: Form::Query,
        charset: Charset::Gb18030,
        ..USUAL
    },
    Site {
        name: "云海资讯",
        domain: "yunhai-info.test",
        lang: Lang::Zh,
        front: Front::Portal,
        form: Form::Detail,
        meta: Meta::OpenGraph,
        feed: Feed::Json,
        tracking: true,
        shown: 24,
        ..USUAL
    },
];
