//! The paths of the news: what they take, what they answer.

use super::news;
use super::table::{Answer, Endpoint, Kind, Param, Place};
use super::tables::{CURSOR, get, limit, post};

/// What narrows the news, as the address of a page has it.
const YES: Kind = Kind::Choice(&["1", "0", "true", "false"]);
const SITE: Param = Param::new("site", Kind::Text(1, 300), "Only of this site or host.").many(20);
const SUBJECT: Param = Param::new("subject", Kind::Text(1, 100), "Only on this subject.");
const DAY: Param = Param::new("day", Kind::Moment, "Only of this day (UTC): 2026-01-31.");
const SINCE: Param = Param::new("since", Kind::Moment, "Not older than this.");
const UNTIL: Param = Param::new("until", Kind::Moment, "Older than this.");
const Q: Param =
    Param::new("q", Kind::Text(1, 500), "Only with these words, written as for /api/search.");
const LANG: Param = Param::new("lang", Kind::Text(1, 35), "Only in this language: en, de, zh.");
const UNREAD: Param = Param::new("unread", YES, "Only what was not read.");
const ALERTS: Param = Param::new("alerts", YES, "Only what an alert rule has marked.");
const KEPT: Param = Param::new("kept", YES, "Only what a keep rule has marked.");
const HIDDEN: Param = Param::new("hidden", YES, "Also what a hide rule hides.");
const ARTICLES: Param = Param::new("articles", YES, "Articles one by one, not stories.");
const TEXTS: Param = Param::new("texts", YES, "With `articles`: the whole text of each.");

/// A name or an address of a site, in a body.
const FOLLOWED: Param =
    Param::new("site", Kind::Text(1, 2_000), "A site, the URL of its front page, or a feed.")
        .at(Place::Body)
        .needed();
const NUMBER: Param =
    Param::new("id", Kind::Number(1, u32::MAX as u64), "Its number.").at(Place::Path);

const ROW: &str = "story:int title:str summary:str url:str site:str source:str picture:str? subject:str? language:str? \
    time:time updated:time? gone:time? kept:bool hidden:bool alerts:[str] ~first:time ~sources:[str] ~count:int ~unread:int \
    ~articles:[obj] ~doc:int ~authors:[str] ~published:time? ~zone:str? ~modified:time? ~seen:time ~versions:int ~section:str? \
    ~read:bool ~words:int ~urls:[str] ~text:str?";

pub(super) static ALL: &[Endpoint] = &[
    Endpoint {
        params: &[
            SITE,
            SUBJECT,
            DAY,
            SINCE,
            UNTIL,
            Q,
            LANG,
            UNREAD,
            ALERTS,
            KEPT,
            HIDDEN,
            ARTICLES,
            TEXTS,
            limit(200, "30"),
            CURSOR,
        ],
        answer: Answer::Rows(ROW, ""),
        act: news::news,
        ..get("/api/news", "Collected news, newest first: stories, or articles one by one.")
    },
    Endpoint {
        params: &[
            Param::new("n", Kind::Number(0, 1 << 53), "The number of the story.").at(Place::Path)
        ],
        answer: Answer::Rows(ROW, ""),
        failures: &[404],
        act: news::story,
        ..get("/api/news/story/{n}", "A story, then its articles with their texts, newest first.")
    },
    Endpoint {
        answer: Answer::Rows(
            "articles:int stories:int unread:int alerts:int hidden:int sites:[obj] subjects:[obj] languages:[obj] \
             days:[obj] rules:[obj] saved:[obj]",
            "",
        ),
        act: news::overview,
        ..get(
            "/api/news/overview",
            "Sites, subjects, languages, days, rules and saved views, with their counts.",
        )
    },
    Endpoint {
        params: &[Param::new("site", Kind::Text(1, 2_000), "A site, or the URL of a front page.")
            .needed()],
        answer: Answer::Rows(
            "n:int title:str url:str summary:str section:str? subject:str? picture:str? time:time? shown_time:str",
            "",
        ),
        guarded: true,
        act: news::quick,
        ..get("/api/news/quick", "The headlines of a site as they are now; nothing is stored.")
    },
    Endpoint {
        params: &[
            Param::new("docs", Kind::Number(0, u64::MAX >> 11), "Numbers of articles.")
                .at(Place::Body)
                .many(1_000),
            Param::new(
                "stories",
                Kind::Number(0, u64::MAX >> 11),
                "Numbers of stories: all their articles.",
            )
            .at(Place::Body)
            .many(1_000),
            Param::new("read", Kind::Flag, "Whether they were read.")
                .at(Place::Body)
                .default("true"),
        ],
        answer: Answer::Rows("~read:int ~unread:int", ""),
        failures: &[404],
        act: news::read,
        ..post("/api/news/read", "Mark articles and stories as read, or as unread again.")
    },
    Endpoint {
        params: &[
            Param::new(
                "action",
                Kind::Choice(&["keep", "hide", "alert"]),
                "What happens to news with the words.",
            )
            .at(Place::Body)
            .needed(),
            Param::new(
                "words",
                Kind::Text(1, 300),
                "All must stand in the article; a \"phrase\" as it is.",
            )
            .at(Place::Body)
            .needed(),
            Param::new("site", Kind::Text(1, 300), "Only at this site.").at(Place::Body),
        ],
        answer: Answer::Rows("rule:obj", ""),
        act: news::add_rule,
        ..post("/api/news/rules", "A new rule over words.")
    },
    Endpoint {
        params: &[NUMBER],
        answer: Answer::Rows("removed:obj", ""),
        failures: &[404],
        act: news::remove_rule,
        ..post("/api/news/rules/{id}/remove", "A rule less.")
    },
    Endpoint {
        params: &[
            Param::new("name", Kind::Text(1, 100), "Its name.").at(Place::Body).needed(),
            SITE.at(Place::Body),
            SUBJECT.at(Place::Body),
            DAY.at(Place::Body),
            SINCE.at(Place::Body),
            UNTIL.at(Place::Body),
            Q.at(Place::Body),
            LANG.at(Place::Body),
            UNREAD.at(Place::Body),
            ALERTS.at(Place::Body),
            KEPT.at(Place::Body),
            HIDDEN.at(Place::Body),
            ARTICLES.at(Place::Body),
        ],
        answer: Answer::Rows("saved:obj", ""),
        act: news::save,
        ..post(
            "/api/news/saved",
            "Save a view under a name: what /api/news with these parameters answers.",
        )
    },
    Endpoint {
        params: &[NUMBER],
        answer: Answer::Rows("removed:obj", ""),
        failures: &[404],
        act: news::unsave,
        ..post("/api/news/saved/{id}/remove", "A saved view less.")
    },
    Endpoint {
        params: &[FOLLOWED],
        answer: Answer::Object("message:str"),
        act: news::follow,
        ..post("/api/news/sites", "Follow a site.")
    },
    Endpoint {
        params: &[FOLLOWED],
        answer: Answer::Object("message:str"),
        act: news::unfollow,
        ..post("/api/news/sites/remove", "No longer follow a site; what was collected stays.")
    },
    Endpoint {
        params: &[Param::new("opml", Kind::Document(900_000), "An OPML document.")
            .at(Place::Body)
            .needed()],
        answer: Answer::Object("message:str"),
        act: news::import,
        ..post("/api/news/sites/import", "Follow the sites of an OPML document.")
    },
    Endpoint {
        params: &[Param::new(
            "sites",
            Kind::Text(1, 2_000),
            "Only of these sites that are followed.",
        )
        .at(Place::Body)
        .many(100)],
        answer: Answer::Object("message:str"),
        act: news::collect,
        ..post("/api/news/collect", "Collect the news of the sites that are followed, once.")
    },
    Endpoint {
        params: &[
            SITE,
            SUBJECT,
            DAY,
            SINCE,
            UNTIL,
            Q,
            LANG,
            UNREAD,
            ALERTS,
            KEPT,
            HIDDEN,
            ARTICLES,
            limit(100, "30"),
        ],
        answer: Answer::Types(&["application/atom+xml"]),
        act: news::feed,
        ..get("/news.atom", "Any view of the news as an Atom feed.")
    },
    Endpoint {
        answer: Answer::Types(&["text/x-opml"]),
        act: news::opml,
        ..get("/news.opml", "The sites that are followed, as OPML.")
    },
];
