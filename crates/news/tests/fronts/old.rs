//! Fronts in layouts of old and of small sites, written by hand: tables, lists of terms, paragraphs that
//! hold a headline with its teaser, tickers, cards that are one link.

use argiope_model::{CanonicalUrl, Suffixes, Time};
use argiope_news::{Learned, headlines};
use argiope_parse::parse_outline;

type Stories = [(&'static str, &'static str); 8];

const EN: Stories = [
    (
        "Council agrees on new bridge over the river",
        "After years of debate the members voted with a clear majority on Tuesday.",
    ),
    (
        "Trains stop at noon in all northern towns",
        "A broken signal box keeps thousands of people waiting since early morning.",
    ),
    (
        "Doctors warn of a long winter with flu",
        "Hospitals expect twice as many patients as last year.",
    ),
    (
        "Farmers count their losses after the storm",
        "Hail and wind destroyed whole fields within an hour.",
    ),
    ("Museum opens a wing for young painters", "The rooms show works of artists under thirty."),
    (
        "Minister resigns after row over the budget",
        "The opposition had asked for this step for weeks.",
    ),
    (
        "Scientists find water under the old desert",
        "Measurements from orbit show a reservoir of great size.",
    ),
    ("Port city votes for a free bus network", "Nearly two thirds said yes on Sunday."),
];

const DE: Stories = [
    (
        "Stadtrat beschließt neue Brücke über den Fluss",
        "Nach jahrelanger Debatte stimmten die Mitglieder am Dienstag mit klarer Mehrheit zu.",
    ),
    (
        "Bahnverkehr im Norden steht bis Mittag still",
        "Ein defektes Stellwerk lässt Tausende warten, die Reparatur dauert bis zum Abend.",
    ),
    (
        "Ärzte warnen vor langer Grippewelle",
        "Die Kliniken rechnen mit doppelt so vielen Kranken wie im Vorjahr.",
    ),
    (
        "Bauern zählen ihre Verluste nach dem Sturm",
        "Hagel und Wind haben binnen einer Stunde ganze Felder zerstört.",
    ),
    (
        "Museum eröffnet Flügel für junge Maler",
        "Gezeigt werden Werke von Künstlern unter dreißig, der Eintritt ist frei.",
    ),
    (
        "Ministerin tritt nach Haushaltsstreit zurück",
        "Die Opposition hatte den Schritt seit Wochen gefordert.",
    ),
    (
        "Forscher finden Wasser unter der Wüste",
        "Messungen aus dem All zeigen ein Reservoir von großem Ausmaß.",
    ),
    (
        "Hafenstadt stimmt für kostenlose Busse",
        "Fast zwei Drittel sagten am Sonntag Ja, eine Parkgebühr soll es zahlen.",
    ),
];

const FR: Stories = [
    (
        "Le conseil municipal vote un nouveau pont sur le fleuve",
        "Après des années de débat, les élus ont tranché mardi à une nette majorité.",
    ),
    (
        "Les trains du nord à l'arrêt jusqu'à midi",
        "Une panne de signalisation bloque des milliers de voyageurs depuis l'aube.",
    ),
    (
        "Grippe : les médecins redoutent un long hiver",
        "Les hôpitaux attendent deux fois plus de malades que l'an dernier.",
    ),
    (
        "Tempête : les agriculteurs comptent leurs pertes",
        "La grêle et le vent ont détruit des champs entiers en une heure.",
    ),
    (
        "Le musée ouvre une aile aux jeunes peintres",
        "Les salles montrent des œuvres d'artistes de moins de trente ans.",
    ),
    ("Démission de la ministre du Budget", "L'opposition réclamait ce départ depuis des semaines."),
    (
        "De l'eau découverte sous le désert",
        "Des mesures depuis l'orbite révèlent un réservoir immense.",
    ),
    (
        "La ville portuaire choisit les bus gratuits",
        "Près des deux tiers des habitants ont dit oui dimanche.",
    ),
];

const ES: Stories = [
    (
        "El ayuntamiento aprueba un nuevo puente sobre el río",
        "Tras años de debate, los concejales votaron el martes con clara mayoría.",
    ),
    (
        "Los trenes del norte, parados hasta mediodía",
        "Una avería en la señalización deja a miles de viajeros esperando.",
    ),
    (
        "Los médicos advierten de un largo invierno de gripe",
        "Los hospitales esperan el doble de pacientes que el año pasado.",
    ),
    (
        "Los agricultores cuentan sus pérdidas tras la tormenta",
        "El granizo y el viento destruyeron campos enteros en una hora.",
    ),
    (
        "El museo abre un ala para jóvenes pintores",
        "Las salas muestran obras de artistas menores de treinta años.",
    ),
    (
        "Dimite la ministra de Hacienda por el presupuesto",
        "La oposición lo pedía desde hacía semanas.",
    ),
    (
        "Hallan agua bajo el viejo desierto",
        "Las mediciones desde la órbita muestran un gran depósito.",
    ),
    ("La ciudad portuaria vota por autobuses gratuitos", "Casi dos tercios dijeron sí el domingo."),
];

const RU: Stories = [
    (
        "Городской совет одобрил строительство нового моста",
        "После долгих споров депутаты проголосовали во вторник подавляющим большинством.",
    ),
    (
        "Поезда на севере стоят до полудня",
        "Из-за поломки тысячи пассажиров ждут отправления с самого утра.",
    ),
    (
        "Врачи предупреждают о долгой зиме с гриппом",
        "Больницы ждут вдвое больше пациентов, чем в прошлом году.",
    ),
    ("Фермеры подсчитывают убытки после бури", "Град и ветер за час уничтожили целые поля."),
    (
        "Музей открыл крыло для молодых художников",
        "В залах показывают работы авторов моложе тридцати лет.",
    ),
    ("Министр ушёл в отставку из-за бюджета", "Оппозиция требовала этого шага несколько недель."),
    ("Учёные нашли воду под старой пустыней", "Измерения с орбиты показали огромный резервуар."),
    (
        "Портовый город выбрал бесплатные автобусы",
        "Почти две трети жителей сказали да в воскресенье.",
    ),
];

const JA: Stories = [
    (
        "市議会、川に新しい橋の建設を可決",
        "長年の議論の末、火曜日に賛成多数で可決された。工事は春に始まる。",
    ),
    (
        "北部の鉄道、正午まで全線で運転見合わせ",
        "信号の故障で数千人が足止めとなり、復旧は夕方になる見込み。",
    ),
    (
        "医師ら、長引くインフルエンザに警鐘",
        "病院は昨年の倍の患者を見込み、早めの予防接種を呼びかけている。",
    ),
    ("嵐の後、農家が被害の把握急ぐ", "ひょうと強風で一時間のうちに畑が全滅した地域もある。"),
    ("美術館に若手画家の新館オープン", "三十歳未満の作家の作品を展示し、週末は入場無料となる。"),
    ("予算めぐる対立で大臣が辞任", "野党は数週間前から辞任を求めていた。後任は近く決まる。"),
    ("古い砂漠の地下に水、研究者が発見", "軌道上からの観測で大きな貯水層が確認された。"),
    ("港町、無料バス網に賛成多数", "日曜の投票で三分の二近くが賛成した。"),
];

const AR: Stories = [
    (
        "المجلس البلدي يوافق على بناء جسر جديد فوق النهر",
        "صوت الأعضاء يوم الثلاثاء بأغلبية واضحة بعد سنوات من النقاش.",
    ),
    ("توقف القطارات في الشمال حتى الظهر", "عطل في الإشارات يترك آلاف المسافرين في الانتظار."),
    (
        "أطباء يحذرون من شتاء طويل مع الإنفلونزا",
        "تتوقع المستشفيات ضعف عدد المرضى مقارنة بالعام الماضي.",
    ),
    ("مزارعون يحصون خسائرهم بعد العاصفة", "دمر البرد والرياح حقولا كاملة خلال ساعة واحدة."),
    ("متحف يفتح جناحا للرسامين الشباب", "تعرض القاعات أعمال فنانين دون الثلاثين."),
    ("استقالة وزيرة المالية بسبب الموازنة", "كانت المعارضة تطالب بذلك منذ أسابيع."),
    ("علماء يعثرون على ماء تحت الصحراء القديمة", "تظهر القياسات من المدار خزانا كبيرا."),
    ("مدينة ساحلية تصوت لحافلات مجانية", "وافق نحو ثلثي السكان يوم الأحد."),
];

struct Layout {
    name: &'static str,
    stories: Stories,
    /// Where an article is; `{n}` is its number.
    to: &'static str,
    before: &'static str,
    /// An article: `{u}` its URL, `{h}` its title, `{t}` its teaser.
    item: &'static str,
    behind: &'static str,
    /// Whether it shows teasers that are found.
    is_told: bool,
}

const LAYOUTS: [Layout; 9] = [
    Layout {
        name: "nested tables",
        stories: DE,
        to: "/index.php?id=47{n}1",
        before: "<table width=800><tr><td width=150><b>Rubriken</b><br><a href='/index.php?rubrik=Politik'>Politik</a><br><a href='/index.php?rubrik=Kontakt'>Kontakt zur Redaktion</a></td><td>",
        item: "<table><tr><td><a href='{u}'><img src='/bild/{n}.jpg'></a></td><td><font size=1>19.11.2026 1{n}:05</font><br><a href='{u}'><font size=4><b>{h}</b></font></a><br><font size=2>{t} <a href='{u}'>mehr</a></font></td></tr></table><hr>",
        behind: "</td></tr></table><p><a href='/impressum.html'>Impressum</a> | <a href='/agb.html'>Allgemeine Geschäftsbedingungen des Verlags</a></p>",
        is_told: true,
    },
    Layout {
        name: "list of terms",
        stories: FR,
        to: "/article/47{n}1.html",
        before: "<ul><li><a href='/monde/'>Monde</a><li><a href='/abonnement'>Abonnez-vous au journal dès maintenant</a></ul><dl>",
        item: "<dt><a href='{u}'>{h}</a> <small>1{n}h30</small></dt><dd>{t}</dd>",
        behind: "</dl><div><a href='/mentions-legales'>Mentions légales</a> <a href='/cgu'>Conditions générales d'utilisation du site</a></div>",
        is_told: true,
    },
    Layout {
        name: "dates before links",
        stories: ES,
        to: "/noticia.php?id=47{n}1",
        before: "<a href='/politica'>Política</a> <a href='/deportes'>Deportes</a><h2>Últimas noticias</h2><ul>",
        item: "<li>19/11/2026 1{n}:15 - <a href='{u}'>{h}</a></li>",
        behind: "</ul><h2>Servicios</h2><ul><li><a href='/loteria'>Lotería de Navidad</a></li><li><a href='/tiempo'>El tiempo en su ciudad</a></li></ul><p><a href='/aviso-legal'>Aviso legal</a> <a href='/quienes-somos'>Quiénes somos y dónde estamos</a></p>",
        is_told: false,
    },
    Layout {
        name: "a picture and a title",
        stories: RU,
        to: "/news/47{n}1/",
        before: "<div class=wrap>",
        item: "<div class=b><a href='{u}'><img src='/i/{n}.jpg' alt='Фото: пресс-служба городской администрации'></a><div><a href='{u}'>{h}</a><span class=d>19 ноября 2026, 1{n}:00</span><div class=an>{t}</div></div></div>",
        behind: "</div><a href='/about/'>О редакции</a><a href='/rules/'>Правила использования материалов сайта</a>",
        is_told: false,
    },
    Layout {
        name: "bold titles with times",
        stories: JA,
        to: "/articles/47{n}1",
        before: "<p><a href='/politics'>政治</a> <a href='/economy'>経済</a></p><div>",
        item: "<p><a href='{u}'><strong>{h}</strong></a> <small>(11月19日 1{n}:20)</small><br>{t}</p>",
        behind: "</div><p><a href='/company'>会社案内</a> <a href='/privacy'>プライバシーポリシー</a></p>",
        is_told: true,
    },
    Layout {
        name: "ticker",
        stories: FR,
        to: "/2026/11/19/breve-47{n}1.shtml",
        before: "<h3>En continu</h3><table>",
        item: "<tr><td class=heure>1{n}:10</td><td><a href='{u}'>{h}</a></td></tr>",
        behind: "</table><div><a href='/publicite'>Publicité</a> <a href='/cookies'>Gestion des cookies et de la vie privée</a></div>",
        is_told: false,
    },
    Layout {
        name: "cards that are links",
        stories: AR,
        to: "/story/47{n}1",
        before: "<header><nav><a href='/politics'>سياسة</a></nav></header><main>",
        item: "<a href='{u}'><img src='/m/{n}.webp'><div><span>سياسة</span><h3>{h}</h3><p>{t}</p><time>منذ {n} ساعات</time></div></a>",
        behind: "</main><footer><a href='/about'>من نحن</a></footer>",
        is_told: true,
    },
    Layout {
        name: "cards of bold words",
        stories: DE,
        to: "/a/47{n}1",
        before: "<div>",
        item: "<a href='{u}'><strong>{h}</strong><span>{t}</span><small>vor {n} Stunden</small></a>",
        behind: "</div><a href='/impressum'>Impressum</a><a href='/jobs'>Offene Stellen bei uns im Haus</a>",
        is_told: true,
    },
    Layout {
        name: "paragraphs with kickers",
        stories: EN,
        to: "/stories/{n}.html",
        before: "<center><a href='/sports'>Sports</a> | <a href='/classifieds'>Classifieds</a></center>",
        item: "<p><font color=red>LOCAL</font> <b><a href='{u}'>{h}</a></b><br><i>By Ann Smith</i><br>{t} <a href='{u}'>Full story</a></p>",
        behind: "<p>The Daily has been the paper of our county since 1874. <a href='/about/history-of-our-paper'>Read about our long history</a> or <a href='/subscribe'>subscribe today for a free week</a>. We are at 4 Main Street and look forward to your visit.</p>",
        is_told: true,
    },
];

#[test]
fn fronts_of_old_and_small_sites_give_their_headlines() {
    let url = CanonicalUrl::parse("https://www.daily.example/").unwrap();
    for layout in &LAYOUTS {
        let fill = |text: &str, n: usize| text.replace("{n}", &(n + 1).to_string());
        let items = layout.stories.iter().enumerate().map(|(n, (title, teaser))| {
            let item = fill(layout.item, n).replace("{u}", &fill(layout.to, n));
            item.replace("{h}", title).replace("{t}", teaser)
        });
        let html = format!("{}{}{}", layout.before, items.collect::<String>(), layout.behind);
        let page = parse_outline(html.as_bytes(), Some("utf-8"));
        let now = Time(1_795_100_000_000);
        let found = headlines(&page, &url, &Suffixes::built_in(), &Learned::default(), now);
        let titles: Vec<&str> = found.iter().map(|h| h.title.as_str()).collect();
        let want: Vec<&str> = layout.stories.iter().map(|(title, _)| *title).collect();
        assert_eq!(titles, want, "{}", layout.name);
        for (headline, (_, teaser)) in found.iter().zip(layout.stories) {
            assert!(!layout.is_told || headline.summary == teaser, "{}: {headline:?}", layout.name);
        }
    }
}

#[test]
fn a_section_of_two_has_two_headlines_among_its_menus() {
    let menu = |names: &[&str]| -> String {
        let links: Vec<String> =
            names.iter().map(|name| format!("<a href='/c/{name}'>{name}</a>")).collect();
        format!("<p>{}</p>", links.join(" "))
    };
    let item = |n: usize| {
        let title = EN[n].0;
        let slug = title.to_lowercase().replace(' ', "-");
        format!(
            "<p><a href='/a/{slug}-3762{n}'>{title}</a> <small>18 November 2026, 18:19</small></p>"
        )
    };
    let html = format!(
        "{}<hr><h1>Politics</h1>{}{}<hr>{}<p>© 2026 The Daily</p>",
        menu(&["science", "culture", "sport", "economy", "local", "politics"]),
        item(0),
        item(1),
        menu(&["about", "contact", "imprint", "login", "weather", "archive", "privacy"]),
    );
    let url = CanonicalUrl::parse("https://www.daily.example/c/politics").unwrap();
    let page = parse_outline(html.as_bytes(), Some("utf-8"));
    let now = Time(1_795_100_000_000);
    let found = headlines(&page, &url, &Suffixes::built_in(), &Learned::default(), now);
    let titles: Vec<&str> = found.iter().map(|h| h.title.as_str()).collect();
    assert_eq!(titles, [EN[0].0, EN[1].0]);
}
