//! The recipes that come with the program.
//!
//! * What this is: the example of the documents, and forms that many sites share.
//! * Its place: the collector asks for them before it finds things out by itself; what a person
//!   adds comes first.
//! * Invariants: every pattern can be read, which a test holds.
//! * What is not here: sites one by one. What is not in the documents is found out by itself.

use crate::recipe::{ArticleRule, Part, Pattern, Recipe};
use std::time::Duration;

/// How often to look at the front pages of a newspaper.
const NEWSPAPER: Duration = Duration::from_secs(15 * 60);

/// The recipes that come with the program.
pub fn shipped_recipes() -> Vec<Recipe> {
    vec![sina()]
}

/// The forms of URLs that many sites share, for a site of which nothing else is known: the first
/// label of the host or of the path is the section.
pub fn common_recipe(site: &str) -> Recipe {
    let forms = [
        "{*}.SITE/{section}/{date}/{slug}",
        "{section}.SITE/{date}/{slug}",
        "SITE/{section}/{date}/{slug}",
        "{*}.SITE/{date}/{section}/{slug}",
    ];
    Recipe {
        name: site.to_owned(),
        site: site.to_owned(),
        front: vec![format!("https://www.{site}/"), format!("https://{site}/")],
        patterns: patterns(&forms, site),
        subjects: subjects(),
        article: ArticleRule { needs: vec![Part::Date], without: Vec::new() },
        cycle: Some(NEWSPAPER),
    }
}

fn patterns(forms: &[&str], site: &str) -> Vec<Pattern> {
    forms.iter().filter_map(|form| Pattern::parse(&form.replace("SITE", site)).ok()).collect()
}

/// Sections as sites call them, and the subject each belongs to.
fn subjects() -> Vec<(String, String)> {
    [
        ("sport", "sports sport deportes esporte esportes deporte sporten"),
        ("business", "business finance money economy wirtschaft economie economia economía stock tech-business"),
        ("world", "world international mundo monde ausland welt global news"),
        ("politics", "politics politik politique politica política"),
        ("technology", "tech technology digital netzwelt tecnologia tecnología it"),
        ("science", "science wissen wissenschaft sciences ciencia scienza"),
        ("culture", "culture kultur cultura arts ent entertainment feuilleton"),
        ("health", "health gesundheit sante salud salute"),
    ]
    .iter()
    .flat_map(|(subject, names)| {
        names.split(' ').map(|name| (name.to_owned(), (*subject).to_owned()))
    })
    .collect()
}

/// sina.com.cn, as document B describes it: the section is the first label of the host, then come
/// the scope (`g`: the world), the special subject, the day and the number of the article.
fn sina() -> Recipe {
    let forms = [
        "{section}.SITE/{scope}/{subject}/{date}/{id}.shtml",
        "{section}.SITE/{scope}/{date}/{id}.shtml",
        "{section}.SITE/{date}/{id}.shtml",
    ];
    let fronts = ["www", "news", "sports", "finance", "tech", "ent"];
    Recipe {
        name: "Sina".to_owned(),
        site: "sina.com.cn".to_owned(),
        front: fronts.iter().map(|host| format!("http://{host}.sina.com.cn/")).collect(),
        patterns: patterns(&forms, "sina.com.cn"),
        subjects: subjects(),
        article: ArticleRule {
            needs: vec![Part::Section, Part::Date, Part::Id],
            without: Vec::new(),
        },
        cycle: Some(NEWSPAPER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::CanonicalUrl;

    #[test]
    fn every_pattern_is_read_and_every_front_page_is_of_its_site() {
        for recipe in shipped_recipes() {
            assert!(!recipe.patterns.is_empty() && !recipe.front.is_empty());
            for front in &recipe.front {
                assert!(recipe.is_for(CanonicalUrl::parse(front).unwrap().host()), "{front}");
            }
        }
    }

    #[test]
    fn a_site_nobody_knows_is_read_by_its_common_forms() {
        let recipe = common_recipe("n.test");
        assert_eq!(recipe.patterns.len(), 4);
        let url = CanonicalUrl::parse("https://www.n.test/politik/2026-11-16/a-b-c").unwrap();
        let parts = recipe.parts(&url).unwrap();
        assert_eq!(recipe.subject(&parts), Some("politics"));
        assert!(recipe.is_article(&url));
        for path in ["politik/2026/11/16/a-b-c", "2026/11/16/politik/a-b-c"] {
            let url = CanonicalUrl::parse(&format!("https://www.n.test/{path}")).unwrap();
            let parts = recipe.parts(&url).unwrap();
            assert_eq!((recipe.subject(&parts), parts.date.unwrap().day), (Some("politics"), 16));
        }
        assert!(!recipe.is_article(&CanonicalUrl::parse("https://www.n.test/politik/").unwrap()));
    }
}
