//! Which paths there are: what they take, what they answer.

use super::table::{Answer, Endpoint, Kind, Param, Place, Verb};
use super::{acting, atom, cdx, health, memento, meter, openapi, reading, suggest, versions};

const URL: Param =
    Param::new("url", Kind::Text(1, 2_000), "A URL, or the number of a document.").needed();
pub(super) const CURSOR: Param = Param::new("cursor", Kind::Cursor, "`next` of the answer before.");
const AT: Param =
    Param::new("at", Kind::Moment, "As it was then: 2026-01-31, 2026-01-31T12:00:00Z.");
const ARCHIVED: Param =
    Param::new("url", Kind::Text(1, 2_000), "The URL.").at(Place::Path).needed();

pub(super) const fn limit(most: u64, default: &'static str) -> Param {
    Param::new("limit", Kind::Number(1, most), "How many.").default(default)
}

const JOB: &str = "job:int kind:str state:str seeds:[str] files:[str]? scope:str order:str filter:str? \
    fetched:int queued:int failed:int skipped:obj bytes:int created:time run_s:num limits:obj";
const HOST: &str = "site:str host:str? state:str pages:int queued:int known:int errors:int bytes:int disk:int \
    delay_s:num? next:time? robots:str? since:time? note:str? ~budget:obj? suspicion:int traps:[obj]";
const LINK: &str = "source:str target:str words:str kind:str nofollow:bool count:int first_seen:time? last_seen:time?";

/// A path that is read, with nothing special about it.
pub(super) const fn get(path: &'static str, about: &'static str) -> Endpoint {
    Endpoint {
        verb: Verb::Get,
        path,
        route: path,
        about,
        params: &[],
        answer: Answer::Elsewhere,
        failures: &[],
        lenient: false,
        guarded: false,
        act: reading::status,
    }
}

pub(super) const fn post(path: &'static str, about: &'static str) -> Endpoint {
    Endpoint { verb: Verb::Post, ..get(path, about) }
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Endpoint> {
    ALL.iter().chain(super::news_table::ALL)
}

static ALL: &[Endpoint] = &[
    Endpoint {
        params: &[
            Param::new(
                "q",
                Kind::Text(1, 500),
                "Words, \"a phrase\", site:example.org, lang:en, -without.",
            )
            .needed(),
            limit(100, "20"),
            Param::new("offset", Kind::Number(0, reading::DEEPEST), "Hits left out before them.")
                .default("0"),
            Param::new(
                "sort",
                Kind::Choice(&["relevance", "date"]),
                "The best first, or the last changed.",
            )
            .default("relevance"),
            AT,
            Param::new("all", Kind::Flag, "Pages that are nearly the same one by one.")
                .default("false"),
            Param::new("facets", Kind::Flag, "Count the pages by site, language and year.")
                .default("false"),
            Param::new("explain", Kind::Flag, "Tell what each score is made of.").default("false"),
            CURSOR,
        ],
        answer: Answer::Rows(
            "rank:int score:num doc:int url:str title:str snippet:str marks:[any] marked:str site:str language:str? \
             fetched_at:time changed_at:time partial:bool alike:[int] alike_urls:[str] ~at:time ~from:time \
             ~until:time? ~explain:[obj]",
            "total:int took_ms:num partial:int timed_out:bool did_you_mean:str? ignored:[any] ~at:time ~facets:obj",
        ),
        act: reading::search,
        ..get("/api/search", "Pages that hold words.")
    },
    Endpoint {
        params: &[Param::new("q", Kind::Text(0, 500), "What was typed so far.").needed()],
        answer: Answer::Suggestions,
        act: suggest::suggest,
        ..get("/api/suggest", "Completions of the last word, as OpenSearch has them.")
    },
    Endpoint {
        params: &[URL],
        answer: Answer::Rows(
            "doc:int url:str state:str outcome:str? detail:str? status:int? type:str? bytes:int? first_seen:time \
             fetched_at:time? last_modified:time? changed_at:time? visits:int changes:int change_rate:num? due:time? \
             cycle:str? cycle_s:int? cycle_by:str? lied:bool records:any fr_max:any depth:int backlinks:int? rank:num? \
             title:str? description:str? described_by:str? language:str? asks:[str]? job:int attempts:int captures:int",
            "",
        ),
        failures: &[404],
        act: reading::doc,
        ..get("/api/doc", "All that is known of a page.")
    },
    Endpoint {
        params: &[
            URL,
            Param::new("changed", Kind::Flag, "Only versions that say something else.")
                .default("false"),
            limit(1_000, "1000"),
        ],
        answer: Answer::Rows(
            "time:time status:int? bytes:int digest:str? last_modified:time? changed:bool change:num reason:str \
             outcome:str detail:str? type:str? revisit:bool etag:str? title:str? language:str? words:int? \
             noarchive:bool lied:bool? job:int",
            "url:str total:int",
        ),
        failures: &[404],
        act: versions::history,
        ..get("/api/history", "The versions of a page, oldest first.")
    },
    Endpoint {
        params: &[URL, AT],
        answer: Answer::Rows(
            "url:str time:time title:str description:str language:str? cut:bool text:str",
            "",
        ),
        failures: &[403, 404],
        act: versions::text,
        ..get("/api/text", "The text of a version of a page.")
    },
    Endpoint {
        params: &[
            URL,
            Param::new(
                "from",
                Kind::Moment,
                "The older version; left out, the last with another text.",
            ),
            Param::new("to", Kind::Moment, "The newer version; left out, the last."),
        ],
        answer: Answer::Rows(
            "field:str line:int removed:str added:str",
            "url:str from:time to:time words_removed:int words_added:int changed:bool change:num reason:str",
        ),
        failures: &[403, 404],
        act: versions::diff,
        ..get("/api/diff", "What changed from one version to another, word by word.")
    },
    Endpoint {
        params: &[URL, limit(200, "50"), CURSOR],
        answer: Answer::Rows(LINK, "~target:str ~backlinks:int ~sites:int ~others:int"),
        failures: &[404],
        act: reading::links,
        ..get(
            "/api/links",
            "Links to a URL with their words; `limit` counts the pages that hold them.",
        )
    },
    Endpoint {
        params: &[URL],
        answer: Answer::Rows(LINK, ""),
        failures: &[404],
        act: reading::links_out,
        ..get("/api/links/out", "The links of a page.")
    },
    Endpoint {
        params: &[URL, limit(50, "12")],
        answer: Answer::Rows("side:str url:str words:str rank:num? state:str? of:int", ""),
        failures: &[404],
        act: reading::around,
        ..get(
            "/api/around",
            "The most important pages that link to a page (`in`) and that it links to (`out`).",
        )
    },
    Endpoint {
        params: &[URL],
        answer: Answer::Rows("word:str word_id:str doc:int url:str positions:[int]", ""),
        failures: &[404],
        act: reading::doc_words,
        ..get("/api/doc/words", "The words of a page, with their places.")
    },
    Endpoint {
        params: &[URL],
        answer: Answer::Rows("doc:int url:str same_percent:num", ""),
        failures: &[404],
        act: reading::near,
        ..get("/api/near", "Pages that are nearly the same.")
    },
    Endpoint {
        params: &[Param::new("url", Kind::Text(1, 2_000), "The URL, known or not.").needed()],
        answer: Answer::Rows("rule:str verdict:str detail:str", "url:str state:str due:time?"),
        act: reading::explain,
        ..get(
            "/api/explain",
            "Why a URL was or was not fetched, rule by rule, and when it will be.",
        )
    },
    Endpoint {
        params: &[limit(1_000, "100"), CURSOR],
        answer: Answer::Rows(HOST, "total:int"),
        act: reading::sites,
        ..get("/api/sites", "The hosts, those first that have something to say for themselves.")
    },
    Endpoint {
        params: &[Param::new("name", Kind::Text(1, 300), "A site, a host or an origin.").needed()],
        answer: Answer::Rows(
            HOST,
            "name:str urls:int captures:int cut:bool states:obj step_s:int step:str? times:[obj] errors:[obj] \
             types:[obj] top:[obj]",
        ),
        failures: &[404],
        act: reading::site,
        ..get(
            "/api/site",
            "The hosts of a name, and beside them what they are made of and have been through.",
        )
    },
    Endpoint {
        answer: Answer::Rows("first:time? last:time?", ""),
        act: reading::span,
        ..get("/api/span", "The first and the last visit, in one row.")
    },
    Endpoint {
        route: "",
        answer: Answer::Types(&["text/event-stream"]),
        ..get("/api/events", "How the crawl stands, as server-sent events, whenever it changes.")
    },
    Endpoint { answer: Answer::Rows(JOB, ""), act: reading::jobs, ..get("/api/jobs", "All jobs.") },
    Endpoint {
        answer: Answer::Rows(
            "state:str note:str? brake:str? fetched:int queued:int failed:int errors:int bytes:int requests:int \
             connections:int hosts:int hosts_waiting:int hosts_ready:int hosts_asked:int next_host_ms:int? \
             pages_per_s:num mb_per_min:num left_s:int? elapsed_s:num skipped:obj workers:[obj] queues:obj jobs:[obj] \
             waiting:[obj] memory:obj?",
            "",
        ),
        act: reading::status,
        ..get("/api/status", "How the crawl stands, in one row.")
    },
    Endpoint {
        params: &[
            Param::new("prefix", Kind::Text(0, 100), "Those that begin so."),
            Param::new("top", Kind::Flag, "The most frequent, not all in their order.")
                .default("false"),
            limit(1_000, "100"),
            CURSOR,
        ],
        answer: Answer::Rows("word_id:str word:str documents:int occurrences:int", ""),
        act: reading::words,
        ..get("/api/words", "The dictionary.")
    },
    Endpoint {
        params: &[
            Param::new("w", Kind::Text(1, 100), "The word.").needed(),
            Param::new(
                "top",
                Kind::Flag,
                "Those that hold it most often first, in one piece, with totals.",
            )
            .default("false"),
            limit(1_000, "100"),
            CURSOR,
        ],
        answer: Answer::Rows(
            "~word:str ~word_id:str doc:int url:str ~places:int positions:[int]",
            "~word:str ~word_id:str ~documents:int ~occurrences:int",
        ),
        act: reading::word,
        ..get("/api/word", "Where a word stands, page by page.")
    },
    Endpoint {
        params: &[
            Param::new("by", Kind::Choice(&["backlinks", "sites", "rank", "harmonic"]), "By what.")
                .default("backlinks"),
            Param::new(
                "of",
                Kind::Choice(&["pages", "sites"]),
                "Of what; sites by rank or harmonic.",
            )
            .default("pages"),
            Param::new("all", Kind::Flag, "Also URLs that no job has met.").default("false"),
            limit(500, "50"),
        ],
        answer: Answer::Rows(
            "~doc:int? ~url:str? ~site:str ~pages:int ~backlinks:int ~sites:int ~rank:num? ~harmonic:num?",
            "",
        ),
        act: reading::top,
        ..get("/api/top", "What stands first among pages, or among sites.")
    },
    Endpoint {
        params: &[limit(1_000, "100"), CURSOR],
        answer: Answer::Rows("url:str outcome:str source:str? words:str? malformed:bool", ""),
        act: reading::broken,
        ..get(
            "/api/broken",
            "Links that lead nowhere; those to one URL stay together, whatever `limit` says.",
        )
    },
    Endpoint {
        params: &[
            Param::new(
                "target",
                Kind::Text(1, 2_000),
                "A URL, a site or a host; left out, everything.",
            )
            .many(20),
            limit(200, "30"),
        ],
        answer: Answer::Rows(
            "id:str news:str url:str title:str time:time status:int change:num reason:str added:str removed:str \
             moved_to:str?",
            "",
        ),
        act: reading::feed,
        ..get("/api/feed", "What is new and what has changed, newest first.")
    },
    Endpoint {
        params: &[
            Param::new("urls", Kind::Web, "Start URLs; none goes on with what is open.")
                .at(Place::Body)
                .many(100),
            Param::new(
                "scope",
                Kind::Choice(&["host", "domain", "prefix", "any"]),
                "What belongs to it.",
            )
            .at(Place::Body),
            Param::new("max_pages", Kind::Number(1, 1_000_000_000), "It ends after so many pages.")
                .at(Place::Body),
            Param::new("max_depth", Kind::Number(1, 1_000), "Links from a start URL.")
                .at(Place::Body),
            Param::new("delay", Kind::Seconds(86_400), "Seconds between two requests to a host.")
                .at(Place::Body),
            Param::new("order", Kind::Choice(&["breadth", "depth", "best"]), "Which pages first.")
                .at(Place::Body),
            Param::new("about", Kind::Text(1, 200), "Words: pages about them first.")
                .at(Place::Body),
        ],
        answer: Answer::Object("message:str"),
        act: acting::crawl,
        ..post("/api/crawl", "Start a crawl.")
    },
    Endpoint {
        answer: Answer::Object("message:str"),
        act: acting::stop,
        ..post("/api/crawl/stop", "End the crawl in order.")
    },
    Endpoint {
        params: &[
            Param::new("id", Kind::Number(0, u32::MAX as u64), "The number of the job.")
                .at(Place::Path),
            Param::new("action", Kind::Choice(&["pause", "resume", "drop"]), "What is done.")
                .at(Place::Path),
        ],
        answer: Answer::Rows(JOB, ""),
        failures: &[404],
        act: acting::job,
        ..post("/api/jobs/{id}/{action}", "Pause, resume or drop a job.")
    },
    Endpoint {
        params: &[Param::new("name", Kind::Text(1, 300), "A site, a host or an origin.")
            .at(Place::Body)
            .needed()],
        answer: Answer::Rows("site:str state:str hosts:int queued:int", ""),
        act: acting::site,
        ..post("/api/sites/exclude", "Leave the hosts of a name alone.")
    },
    Endpoint {
        params: &[Param::new("name", Kind::Text(1, 300), "A site, a host or an origin.")
            .at(Place::Body)
            .needed()],
        answer: Answer::Rows("site:str state:str hosts:int", ""),
        act: acting::site,
        ..post("/api/sites/forgive", "Try the hosts of a name again.")
    },
    Endpoint {
        params: &[
            Param::new("name", Kind::Text(1, 300), "A site, a host or an origin.")
                .at(Place::Body)
                .needed(),
            Param::new("delay", Kind::Text(0, 20), "5s, 500ms, 2m; left out: as configured.")
                .at(Place::Body),
        ],
        answer: Answer::Rows("site:str delay_by_hand_s:num? hosts:int", ""),
        act: acting::delay,
        ..post("/api/sites/delay", "How long to wait between requests to the hosts of a name.")
    },
    Endpoint {
        answer: Answer::Object("openapi:str info:obj paths:obj components:obj"),
        act: openapi::openapi,
        ..get("/api/openapi.json", "This description.")
    },
    Endpoint {
        params: cdx::PARAMS,
        answer: Answer::Types(&[
            "text/x-cdxj",
            "text/x-ndjson",
            "text/plain",
            "application/link-format",
        ]),
        lenient: true,
        act: cdx::cdx,
        ..get("/cdx", "Captures, as the CDX servers of web archives list them.")
    },
    Endpoint {
        route: "/timemap/link/{*url}",
        params: &[ARCHIVED],
        answer: Answer::Types(&["application/link-format"]),
        failures: &[404],
        lenient: true,
        act: memento::timemap_link,
        ..get("/timemap/link/{url}", "The versions of a URL, as Memento has them (RFC 7089).")
    },
    Endpoint {
        route: "/timemap/json/{*url}",
        params: &[ARCHIVED],
        answer: Answer::Object(
            "original_uri:str self:str timegate_uri:str timemap_uri:obj mementos:obj",
        ),
        failures: &[404],
        lenient: true,
        act: memento::timemap_json,
        ..get("/timemap/json/{url}", "The versions of a URL, as Memento has them, in JSON.")
    },
    Endpoint {
        route: "/timegate/{*url}",
        params: &[
            ARCHIVED,
            Param::new(
                "accept-datetime",
                Kind::Text(0, 60),
                "The time that is wanted, as HTTP writes it.",
            )
            .at(Place::Header),
        ],
        failures: &[404],
        lenient: true,
        act: memento::timegate,
        ..get("/timegate/{url}", "The version of a URL nearest to a time.")
    },
    Endpoint {
        answer: Answer::Types(&["text/plain"]),
        act: meter::metrics,
        ..get("/metrics", "Counters of the crawl and of the server, for Prometheus.")
    },
    Endpoint {
        answer: Answer::Types(&["text/plain"]),
        lenient: true,
        act: health::healthz,
        ..get("/healthz", "Whether the process lives.")
    },
    Endpoint {
        answer: Answer::Types(&["text/plain"]),
        lenient: true,
        act: health::readyz,
        ..get("/readyz", "Whether it can answer.")
    },
    Endpoint {
        params: &[
            Param::new("q", Kind::Text(1, 500), "A search; left out, what is new."),
            Param::new("site", Kind::Text(1, 300), "Without q: what is new at a site or a host."),
            limit(100, "30"),
        ],
        answer: Answer::Types(&["application/atom+xml"]),
        act: atom::feed,
        ..get("/feed.atom", "Any search as an Atom feed, or what is new.")
    },
    Endpoint {
        answer: Answer::Types(&["application/opensearchdescription+xml"]),
        lenient: true,
        act: atom::opensearch,
        ..get("/opensearch.xml", "How browsers search here.")
    },
];
