//! What the words of a URL say about what a house has besides articles: lists, persons, shops,
//! games, what is paid for.
//!
//! * What this is: words of paths and hosts, weighed. Sections are called so too, so for most of
//!   them a title behind the word makes a service of a doubt.
//! * Its place: `shape` weighs URLs with it.
//! * What is not here: dates and forms, see `shape`.

use crate::shape::{dates_in_url, has_mark, is_opaque};
use argiope_model::CanonicalUrl;

/// Whether a URL is that of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// Nothing says so.
    No,
    /// A word says so, and a title behind it that it may be an article.
    Perhaps,
    /// Surely.
    Sure,
}

/// Words of a path that no article has.
const NEVER: &[&str] = &[
    "abo",
    "account",
    "accounts",
    "ads",
    "adclick",
    "anzeigen",
    "cart",
    "click",
    "classifieds",
    "clickout",
    "clk",
    "codici-sconto",
    "contact",
    "contacts",
    "cookie",
    "cookies",
    "copyright",
    "coupons",
    "datenschutz",
    "deeplink",
    "faq",
    "feed",
    "feeds",
    "gutschein",
    "gutscheine",
    "impressum",
    "imprint",
    "ilan",
    "kontakt",
    "legal-notices",
    "login",
    "mentions-legales",
    "my",
    "preisvergleich",
    "privacy",
    "public-notices",
    "redir",
    "redirect",
    "register",
    "registrieren",
    "rss",
    "search",
    "settings",
    "signin",
    "signup",
    "sitemap",
    "subscribe",
    "subscription",
    "subscriptions",
    "suche",
    "terms",
    "vergleichswelt",
    "wp-admin",
    "wp-content",
    "wp-login",
];

/// Words for what is paid for, be it dated or not.
const PAID: &[&str] = &[
    "advertorial",
    "advertorials",
    "brand-content",
    "brandcontent",
    "branded-content",
    "brandedcontent",
    "brandmedia",
    "brandvoice",
    "contenido-patrocinado",
    "contenu-sponsorise",
    "contenuti-sponsorizzati",
    "especial-publicitario",
    "native-advertising",
    "oglasno-sporocilo",
    "paid-content",
    "paid-post",
    "paidcontent",
    "paidpost",
    "partner-content",
    "partnercontent",
    "promoted",
    "publi-redactionnel",
    "publieditorial",
    "publiredaktion",
    "publireportage",
    "publireportaje",
    "publirreportage",
    "publirreportaje",
    "sponsored",
    "sponsored-content",
    "sponsored-post",
];

/// What is new each day and is no news: only a title makes an article of it.
const PLAY: &[&str] = &[
    "astrology",
    "crossword",
    "crosswords",
    "crucigramas",
    "horoscope",
    "horoscopes",
    "horoscopo",
    "horoskop",
    "horoskope",
    "kreuzwortraetsel",
    "lotto",
    "mots-croises",
    "oroscopo",
    "puzzle",
    "puzzles",
    "sudoku",
];

/// Lists and persons: the next part of the path is their name, however long.
const LISTS: &[&str] = &[
    "archiv",
    "archive",
    "archives",
    "auteur",
    "author",
    "authors",
    "autor",
    "autoren",
    "autores",
    "categoria",
    "categorias",
    "categorie",
    "categories",
    "category",
    "etiqueta",
    "etiquetas",
    "keyword",
    "keywords",
    "member",
    "members",
    "profil",
    "profile",
    "profiles",
    "schlagwort",
    "stichwort",
    "tag",
    "tags",
    "tema",
    "temas",
    "thema",
    "themen",
    "topic",
    "topics",
    "trending",
    "user",
    "users",
    "usuario",
];

/// What sections are called too: an article of theirs has a number and a title, or a long title.
const SECTIONS: &[&str] = &[
    "a-propos",
    "about",
    "about-us",
    "acerca",
    "acerca-de",
    "advertise",
    "advertising",
    "boutique",
    "careers",
    "chi-siamo",
    "download",
    "epaper",
    "help",
    "jobs",
    "legal",
    "newsletter",
    "newsletters",
    "qui-sommes-nous",
    "quienes-somos",
    "service",
    "services",
    "shop",
    "store",
    "ueber-uns",
    "vergleich",
    "weather",
    "wetter",
];

/// What one does to an article; the query says to which.
const ACTIONS: &[&str] = &[
    "downvote", "fave", "favorite", "flag", "hide", "like", "reply", "report", "unhide", "upvote",
    "vote",
];

/// What a house has on a host of its own besides its news.
const BESIDE: &[&str] = &[
    "games", "puzzles", "quiz", "receita", "receitas", "receta", "recetas", "recette", "recettes",
    "recipe", "recipes", "rezept", "rezepte", "ricetta", "ricette",
];

/// First parts of hosts on which a house sells, plays and talks.
const SERVICE_HOSTS: &[&str] = &[
    "abo",
    "abonnement",
    "abonnements",
    "abos",
    "account",
    "accounts",
    "acquisti",
    "ad",
    "ads",
    "adserver",
    "advertising",
    "angebot",
    "angebote",
    "annonces",
    "anzeigen",
    "app",
    "apps",
    "boutique",
    "careers",
    "casino",
    "classifieds",
    "click",
    "clicklogger",
    "clk",
    "codicisconto",
    "coupon",
    "coupons",
    "dating",
    "deals",
    "download",
    "downloads",
    "emploi",
    "emplois",
    "empleo",
    "epaper",
    "games",
    "giochi",
    "gutschein",
    "gutscheine",
    "help",
    "hilfe",
    "immo",
    "immobilien",
    "immobilier",
    "job",
    "jobs",
    "jeux",
    "juegos",
    "karriere",
    "kiosk",
    "kleinanzeigen",
    "konto",
    "login",
    "lotto",
    "mail",
    "marktplatz",
    "mediadaten",
    "newsletter",
    "newsletters",
    "occasion",
    "partnersuche",
    "pay",
    "preisvergleich",
    "produkte",
    "products",
    "pubads",
    "publicidad",
    "publicidade",
    "profil",
    "profile",
    "rabatte",
    "secure",
    "shop",
    "shopping",
    "spiele",
    "store",
    "subscribe",
    "subscription",
    "suscripciones",
    "support",
    "tarife",
    "tickets",
    "tienda",
    "trauer",
    "vorteile",
    "vouchers",
    "werbung",
];

/// Of these, what articles are about too.
const TOPIC_HOSTS: &[&str] = &[
    "app",
    "apps",
    "games",
    "giochi",
    "immo",
    "immobilien",
    "jeux",
    "job",
    "jobs",
    "juegos",
    "karriere",
    "spiele",
];

/// Parts of a path that single offers stand under.
const OFFERS: &[&str] = &["employer", "job", "offer", "stellenanzeigen", "vacancy"];

/// Parts of a path that articles stand under.
const STORY_WORDS: &[&str] = &[
    "article", "articles", "articolo", "articulo", "artigo", "artikel", "news", "noticia",
    "noticias", "stories", "story",
];

/// Names below a country that are no site.
const SECOND_LEVEL: &[&str] =
    &["ac", "co", "com", "edu", "gob", "gov", "gouv", "go", "ne", "net", "or", "org"];

/// The word of a host for services of a house: `shop.`, `stellenmarkt.`, `auto-occasion.`
fn service_word(host: &str) -> Option<&str> {
    let labels: Vec<&str> = host.split('.').collect();
    let own = match labels.len() {
        n if n >= 3 && SECOND_LEVEL.contains(&labels[n - 2]) => n - 3,
        n => n.saturating_sub(2),
    };
    let mut words = labels.into_iter().take(own).flat_map(|label| label.split('-'));
    words.find_map(|word| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_it = SERVICE_HOSTS.contains(&word) || word.len() > 5 && word.ends_with("markt");
        is_it.then_some(word)
    })
}

/// Whether a URL is that of a list, a person or a service for sure, by its host and the words of its
/// path.
pub fn is_service(url: &CanonicalUrl) -> bool {
    service(url) == Service::Sure
}

/// Whether a URL is that of something which the house of a front page has on another host besides
/// its news.
pub(crate) fn is_beside(url: &CanonicalUrl, front: &CanonicalUrl) -> bool {
    let bare = |host: &str| host.trim_start_matches("www.").to_owned();
    bare(url.host()) != bare(front.host())
        && url.path().split('/').any(|part| BESIDE.contains(&part.to_ascii_lowercase().as_str()))
}

/// Whether a URL is that of a list, a person or a service. A section may be called so too; its
/// articles have a day in their URLs, which none of these has but archives and what is played
/// each day, or a number and a title.
pub(crate) fn service(url: &CanonicalUrl) -> Service {
    let path = url.path().to_ascii_lowercase();
    let parts: Vec<&str> = path.split('/').filter(|s| !s.is_empty()).collect();
    let last = parts.last().copied().unwrap_or_default();
    let slug = last.split(['-', '_']).filter(|word| word.len() > 1).count();
    let (is_titled, is_long) = (slug >= 4, slug >= 5);
    let has = |list: &[&str]| parts.iter().any(|part| list.contains(part));
    if has(PAID) || has(PLAY) && !is_titled || ACTIONS.contains(&last) && url.query().is_some() {
        return Service::Sure;
    }
    if dates_in_url(url).iter().any(|date| date.day > 0) && !path.contains("/archiv") {
        return Service::No;
    }
    // Where one subscribes to letters, not news of them.
    if last.split(['-', '_', '.']).any(|word| word == "newsletter") {
        return Service::Sure;
    }
    let mut found = Service::No;
    if let Some(word) = service_word(url.host()) {
        let is_offer = has(OFFERS);
        if is_offer || !TOPIC_HOSTS.contains(&word) || !(is_titled || has(STORY_WORDS)) {
            return Service::Sure;
        }
        found = Service::Perhaps;
    }
    if !is_titled && !has_mark(&url.without_query()) && is_named_in_query(url) {
        return Service::Sure;
    }
    for (at, part) in parts.iter().map(|part| stem(part)).enumerate() {
        let part = &part;
        let behind = parts.len() - 1 - at;
        // The last part names the article, but for `/more/login`.
        if behind == 0 && parts.len() > 2 {
            continue;
        }
        // The identity of an article, not beside the word.
        let is_apart = behind >= 2 && (is_titled || url.path().rsplit('/').any(is_opaque));
        match () {
            () if NEVER.contains(part) => return Service::Sure,
            () if SECTIONS.contains(part) && is_titled && has_mark(url) => {}
            // A section below another is called so, too.
            () if SECTIONS.contains(part) && at > 0 && has_mark(url) => found = Service::Perhaps,
            () if LISTS.contains(part) && is_apart => found = Service::Perhaps,
            () if part.starts_with("newsletter") => return Service::Sure,
            () if (SECTIONS.contains(part) || PLAY.contains(part)) && (is_long || is_apart) => {
                found = Service::Perhaps;
            }
            () if LISTS.contains(part) || SECTIONS.contains(part) || PLAY.contains(part) => {
                return Service::Sure;
            }
            () => {}
        }
    }
    found
}

/// A part of a path without what says how its page is made: `wetter.html`.
fn stem(part: &str) -> &str {
    let ends = [".html", ".htm", ".php", ".aspx", ".jsp"];
    ends.iter().find_map(|end| part.strip_suffix(end)).unwrap_or(part)
}

/// Whether a query names a page of the house: `/page?name=about`.
fn is_named_in_query(url: &CanonicalUrl) -> bool {
    let query = url.query().unwrap_or_default().to_ascii_lowercase();
    let mut pairs = query.split('&').filter_map(|p| p.split_once('='));
    pairs.any(|(name, value)| {
        matches!(name, "name" | "page" | "p" | "view" | "site" | "action" | "do")
            && (NEVER.contains(&value) || SECTIONS.contains(&value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> CanonicalUrl {
        CanonicalUrl::parse(&format!("https://n.test{path}")).unwrap()
    }

    #[test]
    fn services_of_a_house_are_known_by_their_hosts() {
        let host = |host: &str| {
            is_service(&CanonicalUrl::parse(&format!("https://{host}/a/b-c-d")).unwrap())
        };
        for service in ["shop.n.test", "stellenmarkt.n.co.uk", "auto-occasion.n.test", "ad3.n.test"]
        {
            assert!(host(service), "{service}");
        }
        for none in ["www.n.test", "sport.n.test", "games.co.uk", "shop.test"] {
            assert!(!host(none), "{none}");
        }
        let offer = "https://jobs.n.test/job/4711/area-sales-manager-of-the-south";
        assert!(is_service(&CanonicalUrl::parse(offer).unwrap()));
        assert!(!is_service(&CanonicalUrl::parse(&offer.replace("/job/", "/town/")).unwrap()));
        assert!(!is_service(&url("/news/wetter/id_101147074/rain-in-the-whole-valley.html")));
        assert!(is_service(&url("/wetter/valley")));
        assert!(is_service(&url("/thema/one-two-three-four-12345")));
    }

    #[test]
    fn a_title_behind_a_word_makes_a_doubt_of_a_service() {
        for (path, want) in [
            ("/blog/topics/retail/what-shops-want-from-us-now", Service::Perhaps),
            ("/topics/what-shops-want-from-us-now", Service::Sure),
            ("/category/world/europe", Service::Sure),
            ("/weather/articles/cx2k9l0p3w7o", Service::Perhaps),
            ("/jobs/why-nobody-wants-to-work-here", Service::Perhaps),
            ("/jobs/berlin", Service::Sure),
            ("/login/why-nobody-wants-to-work-here", Service::Sure),
            ("/sponsored/2026/11/16/a-b-c-d-e", Service::Sure),
            ("/crosswords/2026/11/16/mini", Service::Sure),
            ("/2026/11/16/crosswords/a-man-who-makes-them-all", Service::No),
            ("/vote?id=123456&how=up", Service::Sure),
            ("/news/vote", Service::No),
            ("/economy/service/0,1518,755952,00.html", Service::Perhaps),
            ("/service/0,1518,755952,00.html", Service::Sure),
            ("/preisvergleich/a2665371.html", Service::Sure),
            ("/redir/8uksxL0Mofc111Xb_Fmd_7Vn1ZuqYk1_pEcWI8nbdVr", Service::Sure),
            ("/click?to=one-two-three-four-five", Service::Sure),
            ("/newsletters/the-morning-for-all-of-us", Service::Sure),
            ("/town/our-newsletter-for-all-of-us-4207064", Service::Sure),
            ("/2026/11/16/a-newsletter-for-all-of-us", Service::No),
            ("/newsletter/town/what-shops-want-from-us-4207064", Service::No),
            ("/wetter.html", Service::Sure),
            ("/impressum.php", Service::Sure),
            ("/page?name=about", Service::Sure),
            ("/page?name=anna", Service::No),
            ("/page?page=About", Service::Sure),
            ("/news/fire-in-the-old-town-3847562.html?site=newsletter", Service::No),
        ] {
            assert_eq!(service(&url(path)), want, "{path}");
        }
        let game = CanonicalUrl::parse("https://games.n.test/story/10/11/02/1/Slug").unwrap();
        assert_eq!(service(&game), Service::Perhaps);
    }

    #[test]
    fn what_a_house_has_on_another_host_is_beside_its_news() {
        let food = CanonicalUrl::parse("https://cooking.n.test/recipes/101-soup-for-all").unwrap();
        assert!(is_beside(&food, &url("/")) && !is_beside(&food, &food));
    }
}
