//! What sites have in common: the forms of their URLs, and what they call their sections.
//!
//! * What this is: forms that many sites share, with the words for subjects in several languages.
//! * Its place: the collector asks for them where the recipe of a site has no patterns.
//! * Invariants: every form can be read, which a test holds.
//! * What is not here: recipes of single sites; the command line brings those, as a text that is
//!   read like the ones people write.

use crate::letters::folded;
use crate::recipe::{ArticleRule, Part, Pattern, Recipe};
use crate::sites::{host_of, is_home};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Forms in which the section stands in the path.
const PATHS: [&str; 16] = [
    // /sport/2026/11/16/a-title, and with a subsection
    "{section}/{date}/{slug}",
    "{section}/{date}/{slug}/",
    "{section}/{*}/{date}/{slug}",
    "{section}/{*}/{date}/{slug}/",
    // /2026/11/16/sport/a-title
    "{date}/{section}/{slug}",
    "{date}/{section}/{slug}/",
    // /2026/11/16/a-title/, as WordPress has it
    "{date}/{slug}",
    "{date}/{slug}/",
    // /sport/a-title-20261116.html, /sport/a-title-123456.html, /sport/123456.html
    "{section}/{slug}-{date}.html",
    "{section}/{slug}-{id}.html",
    "{section}/{*}/{slug}-{id}.html",
    "{section}/{id}.html",
    // /sport/a-title-123456
    "{section}/{slug}-{id}",
    "{section}/{*}/{slug}-{id}",
    // /news?id=7
    "{section}?id={id}",
    "{section}/{*}?id={id}",
];

/// Forms in which the section is the first label of the host: sports.example.org/2026/11/16/a-title.
const HOSTS: [&str; 5] =
    ["{date}/{slug}", "{date}/{slug}/", "{*}/{*}/{date}/{slug}", "{slug}-{id}.html", "{*}?id={id}"];

/// Sections that say nothing of what is in them.
const PLAIN: [&str; 16] = [
    "news", "article", "articles", "story", "stories", "post", "posts", "blog", "index", "home",
    "en", "archive", "content", "p", "a", "m",
];

/// Subjects, with what sites call them: in small letters, without accents. What people live in and through as a society
/// is one; what happens nearby, to their homes or to their cars are others.
#[rustfmt::skip]
const SUBJECTS: [(&str, &str); 19] = [
    ("sport", "sport sports deportes deporte desporto esporte esportes sporten sportit urheilu sportul спорт 体育 體育 スポーツ 스포츠 رياضة الرياضة football soccer futbol fussball calcio tennis basketball nba olympics olympia αθλητικα σπορ athlitika spor sportas sporty футбол хоккей ποδοσφαιρο podosfairo voetbal fotboll fotbal 축구 야구 サッカー 野球 כדורגל ספורט खेल กีฬา"),
    ("politics", "politics politik politique politica politiek polityka политика політика 政治 时政 정치 سياسة السياسة elections election wahl wahlen πολιτικη politiki politika siyaset elecciones eleicoes elezioni parlament parlement"),
    ("business", "business finance finances money economy economics economic markets market wirtschaft finanzen borse boerse geld economie economia negocios ekonomi ekonomia ekonomika biznes byznys gospodarka економіка экономика финансы бизнес 财经 財經 经济 金融 経済 ビジネス マネー 경제 금융 اقتصاد الاقتصاد اعمال مال stock companies unternehmen empresas entreprises οικονομια oikonomia επιχειρησεις naringsliv talous penge erhverv okonomi finans borsa כלכלה व्यापार เศรษฐกิจ"),
    ("world", "world international internacional internazionale internazionali mundo monde ausland welt mondo global weltweit foreign wereld buitenland swiat мир мире в-мире світ 国际 國際 国際 海外 세계 국제 العالم دولي عالمي europe europa africa asia americas middle-east κοσμος διεθνη kosmos diethni zagranica zahranici svet zahranicni dunya dis-haberler utrikes ulkomaat udland utenriks varlden verden esteri extranjero etranger kulfold"),
    ("local", "local lokal lokales regional regionales region regions regiones regiony regio national inland domestic nacional us-news us uk uk-news deutschland france espana nation panorama vermischtes 民生 国内 地方 地域 지역 전국 محليات محلي المحليات kraj polska domaci domov gundem binnenland inrikes indland innenriks kotimaa sverige italia brasil cotidiano pais interni cronaca belfold россия украина в-россии регионы ελλαδα ellada τοπικα topika yerel lokalt"),
    ("society", "society gesellschaft societe sociedad sociedade societa общество суспільство 社会 社會 사회 مجتمع المجتمع κοινωνια koinonia spoleczenstwo spolecnost spolocnost toplum samenleving maatschappij samhalle samfund samfunn yhteiskunta obshchestvo obschestvo tarsadalom soziales"),
    ("technology", "tech technology technik digital netzwelt tecnologia technologie technologia technologies teknik teknologi teknoloji технологии технології tekhnologii 科技 数码 數碼 it it과학 テクノロジー デジタル 기술 تكنولوجيا تقنية التكنولوجيا gadgets ai computing internet τεχνολογια tehnologie tekniikka computer informatique 테크 טכנולוגיה"),
    ("science", "science sciences wissen wissenschaft forschung ciencia ciencias scienza scienze wetenschap nauka наука 科学 科學 サイエンス 과학 علوم العلوم space επιστημη επιστημες epistimi epistimes veda bilim vetenskap videnskab vitenskap tiede stiinta tudomany מדע"),
    ("health", "health gesundheit sante salud sanidad saude salute sanita gezondheid zdrowie здоровье медицина 健康 医疗 医療 ヘルス 건강 의료 صحة الصحة طب medicine medizin wellness υγεια ygeia igeia zdravi zdravie zdravlje saglik halsa sundhed helse terveys sanatate egeszseg בריאות สุขภาพ"),
    ("culture", "culture kultur cultura cultuur kultura культура шоу-бизнес arts art kunst ent entertainment entretenimiento entretenimento feuilleton music musik musique musica movies film films cinema cine kino кино books livres libros theatre television tv stars celebrity spettacoli 文化 娱乐 娛樂 エンタメ 芸能 カルチャー 문화 생활문화 연예 ثقافة الثقافة فن فنون πολιτισμος politismos τεχνες kultur-sanat sanat noje kulttuuri viihde underholdning rozrywka zabava spectacles espectaculos תרבות मनोरंजन บันเทิง"),
    ("opinion", "opinion opinions meinung opiniao opinioni opinie opinie-en-analyse avis commentisfree comment commentary editorial editorials editoriales columns columnas columnistas kolumnen kommentare kommentar мнения мнение думки 评论 評論 社説 社论 オピニオン 사설 오피니언 칼럼 رأي اراء مقالات idees debats debate debates debatt debat tribune tribunes αποψεις γνωμες apopseis gnomes nazory nazor komentare komentarze publicystyka yazarlar gorus ledare asikter meninger mielipide pareri velemeny דעות"),
    ("environment", "environment climate umwelt klima environnement climat medio-ambiente medioambiente meio-ambiente ambiente clima planete planeta planet экология довкілля 环境 環境 환경 بيئة البيئة مناخ energy energie nature natur περιβαλλον perivallon srodowisko klimat zivotni-prostredi cevre milieu klimaat miljo ymparisto ekologia ecologie ecologia"),
    ("weather", "weather wetter meteo tiempo previsao погода 天气 天氣 天気 날씨 طقس الطقس καιρος kairos pogoda pocasi pocasie hava-durumu hava weer vader vejr vaer idojaras el-tiempo previsioni"),
    ("travel", "travel reise reisen voyage voyages viajes viagens viagem viaggi reizen turismo tourisme tourismus tourism путешествия туризм 旅游 旅遊 旅行 여행 سفر سياحة السفر ταξιδια ταξιδι taxidia podroze turystyka cestovani cestovanie seyahat resor rejser matkailu matkat utazas"),
    ("lifestyle", "lifestyle life leben leute style fashion mode moda food gastro gastronomia gastronomie cuisine cocina cucina recipes rezepte recetas essen familie family famille estilo stil стиль образ-жизни 时尚 生活 ライフ 暮らし くらし 生活情報 생활 라이프 منوعات اسلوب-حياة styl-zycia styl zivotni-styl yasam yemek livsstil ζωη zoi vida leefstijl eten elamantapa elama ruoka tendances tendencias"),
    ("education", "education bildung schule schulen uni campus educacion educacao istruzione scuola onderwijs образование освіта 教育 교육 تعليم التعليم enseignement ecole παιδεια εκπαιδευση paideia ekpaideusi edukacja nauka-i-szkola vzdelani skolstvi egitim utbildning skola uddannelse utdanning koulutus educatie oktatas חינוך"),
    ("crime", "crime justice law justiz recht police polizei krimi kriminalitat blaulicht policia policiales policial sucesos tribunales faits-divers fait-divers justica giustizia происшествия криминал proisshestviya 法治 事件 事件事故 事故 사건 사건사고 حوادث جرائم αστυνομικο αστυνομικα δικαιοσυνη astynomiko astynomika kryminalne kriminal cerna-kronika adliye asayis misdaad brott rikos 司法"),
    ("cars", "auto autos cars motor motori motores mobility mobilitat mobilitaet automobile automobil automotive motoring авто автомобили 汽车 汽車 車 クルマ 자동차 سيارات السيارات αυτοκινητο aftokinito motoryzacja moto otomobil otomotiv bilar biler autot"),
    ("military", "military mil defence defense militar militaer armee army armia вооружение армия 军事 軍事 국방 جيش obrana savunma defensa difesa"),
];

/// The forms of URLs that many sites share, for a site of which nothing else is known: the first
/// label of the path or of the host is the section. A form with a day is that of an article.
pub fn common_recipe(site: &str) -> Recipe {
    let (named, bare): (Vec<&str>, Vec<&str>) =
        PATHS.iter().partition(|path| path.contains("{section}"));
    // Another host than `www` may be a section itself, or not: the forms that only fit if it is
    // come before those in which it does not matter.
    let on = |hosts: &'static [&'static str], paths: &[&str]| -> Vec<String> {
        paths
            .iter()
            .flat_map(|path| hosts.iter().map(move |host| format!("{host}/{path}")))
            .collect()
    };
    let forms = [
        on(&["www.SITE", "SITE"], &named),
        on(&["{section}.SITE"], &HOSTS),
        on(&["{*}.SITE"], &named),
        on(&["www.SITE", "SITE", "{*}.SITE"], &bare),
    ];
    Recipe {
        name: site.to_owned(),
        site: site.to_owned(),
        front: front_pages(site),
        patterns: forms
            .iter()
            .flatten()
            .filter_map(|form| Pattern::parse(&form.replace("SITE", host_of(site))).ok())
            .collect(),
        article: ArticleRule { needs: vec![Part::Date], without: Vec::new() },
        ..Recipe::default()
    }
}

/// Where a site shows its headlines if nobody says otherwise.
pub fn front_pages(site: &str) -> Vec<String> {
    if is_home(site) {
        return vec![format!("http://{site}/")];
    }
    vec![format!("https://www.{site}/"), format!("https://{site}/")]
}

/// The same without TLS, for a site that does not answer with it.
pub fn plain_front_pages(site: &str) -> Vec<String> {
    front_pages(site).iter().map(|front| front.replacen("https://", "http://", 1)).collect()
}

/// The subject that a section belongs to, by what sites call it in several languages; as it stands
/// in a URL or above a list.
pub fn subject_of(section: &str) -> Option<&'static str> {
    /// Both sides are folded alike, whatever that makes of the letters of a script.
    static WORDS: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
        let each = |(subject, names): &(&'static str, &'static str)| {
            let subject = *subject;
            names.split(' ').map(move |name| (folded(name), subject)).collect::<Vec<_>>()
        };
        SUBJECTS.iter().flat_map(each).collect()
    });
    let section = unescaped(section).trim().replace([' ', '_'], "-");
    WORDS.get(&folded(&section)).copied()
}

/// Whether a section says nothing of what is in it.
pub(crate) fn is_plain_section(section: &str) -> bool {
    PLAIN.iter().any(|plain| section.eq_ignore_ascii_case(plain))
        || section.bytes().all(|b| b.is_ascii_digit())
}

/// A piece of a URL as people read it: bytes that stand as `%E4` are put together.
fn unescaped(piece: &str) -> String {
    let mut out = Vec::with_capacity(piece.len());
    let mut rest = piece.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        out.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::CanonicalUrl;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(&format!("https://{text}")).unwrap()
    }

    #[test]
    fn a_site_nobody_knows_is_read_by_its_common_forms() {
        let recipe = common_recipe("n.test");
        assert_eq!(recipe.patterns.len(), 3 * PATHS.len() + HOSTS.len());
        let said = |text: &str| {
            let parts = recipe.parts(&url(text)).unwrap_or_else(|| panic!("{text}"));
            let subject = recipe.subject(&parts).map(str::to_owned);
            (subject, parts.date.map(|d| d.day), parts.slug, parts.id)
        };
        let some = |text: &str| Some(text.to_owned());
        for text in [
            "www.n.test/politik/2026-11-16/a-b-c",
            "n.test/politik/2026/11/16/a-b-c/",
            "www.n.test/2026/11/16/politik/a-b-c",
            "edition.n.test/2026/11/16/politics/a-b-c",
            "politics.n.test/2026/11/16/a-b-c",
            "politics.n.test/g/x/2026-11-16/a-b-c",
            "www.n.test/politics/2026/nov/16/a-b-c",
            "www.n.test/politics/europe/2026/11/16/a-b-c",
            "www.n.test:8000/politics/a-b-c-20261116.html",
        ] {
            assert_eq!(said(text), (some("politics"), Some(16), some("a-b-c"), None), "{text}");
            assert!(recipe.is_article(&url(text)), "{text}");
        }
        let plain = (None, Some(16), some("a-b-c"), None);
        assert_eq!(said("n.test/2026/11/16/a-b-c/"), plain);
        assert_eq!(said("www.n.test/2026/11/16/a-b-c"), plain);
        for text in [
            "www.n.test/sport/a-b-c-123456.html",
            "sport.n.test/a-b-c-123456.html",
            "www.n.test/sport/tennis/a-b-c-123456",
        ] {
            assert_eq!(said(text), (some("sport"), None, some("a-b-c"), some("123456")), "{text}");
        }
        assert_eq!(said("n.test/news?id=7"), (None, None, None, some("7")));
        assert!(!recipe.is_article(&url("www.n.test/politik/")));
        assert!(!recipe.is_article(&url("www.n.test/about/team-2.html")));
    }

    #[test]
    fn sections_are_known_in_several_languages() {
        for (section, subject) in [
            ("deportes", "sport"),
            ("Wirtschaft", "business"),
            ("体育", "sport"),
            ("%E4%BD%93%E8%82%B2", "sport"),
            ("Middle East", "world"),
            ("opinión", "opinion"),
            ("commentisfree", "opinion"),
            ("Sociedad", "society"),
            ("société", "society"),
            ("Gesellschaft", "society"),
            ("society", "society"),
            ("社会", "society"),
            ("사회", "society"),
            ("общество", "society"),
            ("مجتمع", "society"),
            ("Κοινωνία", "society"),
            ("Społeczeństwo", "society"),
            ("samhälle", "society"),
            ("tribunales", "crime"),
            ("Sanidad", "health"),
            ("Planète", "environment"),
            ("planete", "environment"),
            ("Idées", "opinion"),
            ("débats", "opinion"),
            ("faits-divers", "crime"),
            ("Αθλητικά", "sport"),
            ("ΚΟΣΜΟΣ", "world"),
            ("παιδεία", "education"),
            ("ygeia", "health"),
            ("Οικονομία", "business"),
            ("politismos", "culture"),
            ("πολιτική", "politics"),
            ("الرياضة", "sport"),
            ("منوعات", "lifestyle"),
            ("국제", "world"),
            ("IT", "technology"),
            ("IT과학", "technology"),
            ("происшествия", "crime"),
            ("В мире", "world"),
            ("暮らし", "lifestyle"),
            ("地域", "local"),
            ("スポーツ", "sport"),
            ("Świat", "world"),
            ("kraj", "local"),
            ("zahraničí", "world"),
            ("Věda", "science"),
            ("Gündem", "local"),
            ("DÜNYA", "world"),
            ("sağlık", "health"),
            ("binnenland", "local"),
            ("Utrikes", "world"),
            ("nöje", "culture"),
            ("Motoryzacja", "cars"),
        ] {
            assert_eq!(subject_of(section), Some(subject), "{section}");
        }
        assert_eq!(subject_of("laliga"), None);
        assert_eq!(subject_of("%E4%B"), None);
        // Each word belongs to one subject, as it is compared.
        let mut words: Vec<String> =
            SUBJECTS.iter().flat_map(|(_, names)| names.split(' ')).map(folded).collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
    }

    #[test]
    fn servers_at_home_are_asked_without_tls() {
        assert_eq!(front_pages("n.test"), ["https://www.n.test/", "https://n.test/"]);
        assert_eq!(plain_front_pages("n.test"), ["http://www.n.test/", "http://n.test/"]);
        assert_eq!(front_pages("127.0.0.1"), ["http://127.0.0.1/"]);
        assert_eq!(front_pages("localhost"), ["http://localhost/"]);
        assert_eq!(front_pages("127.0.0.1:8101"), ["http://127.0.0.1:8101/"]);
        assert_eq!(front_pages("[::1]"), ["http://[::1]/"]);
    }
}
