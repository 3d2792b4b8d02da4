//! Front pages made up from a seed, with the headlines they have.
//!
//! Layouts, languages, ways to write URLs and what surrounds the news are drawn apart from each
//! other, so that a few parts make many sites.

/// A sequence of numbers that look random, from a seed.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        let mut draw = Draw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03);
        draw.below(7);
        draw
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

struct Tongue {
    code: &'static str,
    words: &'static [&'static str],
    gap: &'static str,
    sections: &'static [&'static str],
    more: &'static str,
    popular: &'static str,
    service: &'static [&'static str],
    ago: &'static str,
    promo: &'static str,
    paid: &'static str,
}

const TONGUES: [Tongue; 6] = [
    Tongue {
        code: "en",
        words: &[
            "minister",
            "budget",
            "storm",
            "after",
            "court",
            "rules",
            "city",
            "new",
            "plan",
            "before",
            "match",
            "wins",
            "coast",
            "talks",
            "fail",
            "again",
            "market",
            "falls",
            "study",
            "finds",
            "thousands",
            "without",
            "power",
            "doctors",
            "warn",
            "over",
            "border",
            "deal",
            "close",
            "says",
        ],
        gap: " ",
        sections: &["World", "Business", "Sport", "Culture", "Science", "Health"],
        more: "Read more",
        popular: "Most read",
        service: &[
            "About us",
            "Contact",
            "Privacy policy",
            "Terms of use",
            "Advertise with us",
            "Subscribe",
        ],
        ago: "3 hours ago",
        promo: "Get our best stories in your inbox every morning",
        paid: "Sponsored",
    },
    Tongue {
        code: "de",
        words: &[
            "Minister",
            "Haushalt",
            "Sturm",
            "nach",
            "Gericht",
            "entscheidet",
            "Stadt",
            "neuer",
            "Plan",
            "vor",
            "Spiel",
            "gewinnt",
            "Küste",
            "Gespräche",
            "scheitern",
            "erneut",
            "Markt",
            "fällt",
            "Studie",
            "zeigt",
            "Tausende",
            "ohne",
            "Strom",
            "Ärzte",
            "warnen",
            "über",
            "Grenze",
            "Einigung",
            "nahe",
            "sagt",
        ],
        gap: " ",
        sections: &["Politik", "Wirtschaft", "Sport", "Kultur", "Wissen", "Gesundheit"],
        more: "Weiterlesen",
        popular: "Meistgelesen",
        service: &[
            "Über uns",
            "Kontakt",
            "Datenschutz",
            "Impressum",
            "Werben bei uns",
            "Abonnieren",
        ],
        ago: "vor 3 Stunden",
        promo: "Die besten Geschichten jeden Morgen in Ihrem Postfach",
        paid: "Anzeige",
    },
    Tongue {
        code: "fr",
        words: &[
            "le",
            "ministre",
            "budget",
            "tempête",
            "après",
            "la",
            "justice",
            "décide",
            "ville",
            "nouveau",
            "plan",
            "avant",
            "match",
            "gagne",
            "côte",
            "négociations",
            "échouent",
            "encore",
            "marché",
            "recule",
            "étude",
            "montre",
            "milliers",
            "sans",
            "courant",
            "médecins",
            "alertent",
            "sur",
            "frontière",
            "accord",
        ],
        gap: " ",
        sections: &["Monde", "Économie", "Sport", "Culture", "Sciences", "Santé"],
        more: "Lire la suite",
        popular: "Les plus lus",
        service: &[
            "Qui sommes-nous",
            "Contact",
            "Vie privée",
            "Mentions légales",
            "Publicité",
            "S'abonner",
        ],
        ago: "il y a 3 heures",
        promo: "Recevez chaque matin nos meilleurs articles par courriel",
        paid: "Publicité",
    },
    Tongue {
        code: "zh",
        words: &[
            "部长", "预算", "风暴", "之后", "法院", "裁定", "城市", "新", "计划", "之前", "比赛",
            "获胜", "海岸", "谈判", "失败", "再次", "市场", "下跌", "研究", "发现", "数千", "停电",
            "医生", "警告", "边境", "协议", "接近", "表示", "经济", "增长",
        ],
        gap: "",
        sections: &["国际", "财经", "体育", "文化", "科技", "健康"],
        more: "查看更多",
        popular: "点击排行",
        service: &["关于我们", "联系我们", "隐私政策", "使用条款", "广告服务", "订阅"],
        ago: "3小时前",
        promo: "每天早晨接收我们的精选文章",
        paid: "广告",
    },
    Tongue {
        code: "es",
        words: &[
            "el",
            "ministro",
            "presupuesto",
            "tormenta",
            "tras",
            "la",
            "justicia",
            "decide",
            "ciudad",
            "nuevo",
            "plan",
            "antes",
            "partido",
            "gana",
            "costa",
            "negociaciones",
            "fracasan",
            "otra",
            "vez",
            "mercado",
            "cae",
            "estudio",
            "revela",
            "miles",
            "sin",
            "luz",
            "médicos",
            "advierten",
            "sobre",
            "frontera",
        ],
        gap: " ",
        sections: &["Mundo", "Economía", "Deportes", "Cultura", "Ciencia", "Salud"],
        more: "Leer más",
        popular: "Lo más leído",
        service: &[
            "Quiénes somos",
            "Contacto",
            "Privacidad",
            "Aviso legal",
            "Publicidad",
            "Suscríbete",
        ],
        ago: "hace 3 horas",
        promo: "Reciba cada mañana las mejores historias en su correo",
        paid: "Publicidad",
    },
    Tongue {
        code: "ru",
        words: &[
            "министр",
            "бюджет",
            "шторм",
            "после",
            "суд",
            "решил",
            "город",
            "новый",
            "план",
            "перед",
            "матч",
            "победил",
            "берег",
            "переговоры",
            "сорвались",
            "снова",
            "рынок",
            "падает",
            "учёные",
            "выяснили",
            "тысячи",
            "без",
            "света",
            "врачи",
            "предупреждают",
            "граница",
            "сделка",
            "близка",
            "заявил",
            "сообщает",
        ],
        gap: " ",
        sections: &["Мир", "Экономика", "Спорт", "Культура", "Наука", "Здоровье"],
        more: "Читать далее",
        popular: "Самое читаемое",
        service: &[
            "О нас",
            "Контакты",
            "Политика конфиденциальности",
            "Условия использования",
            "Реклама",
            "Подписка",
        ],
        ago: "3 часа назад",
        promo: "Получайте лучшие материалы каждое утро на почту",
        paid: "Реклама",
    },
];

/// How many layouts there are.
pub const LAYOUTS: usize = 12;

/// A front page and the paths of its headlines.
pub struct Front {
    pub html: String,
    pub headlines: Vec<(String, String)>,
    pub language: &'static str,
}

struct Making {
    draw: Draw,
    tongue: &'static Tongue,
    scheme: usize,
    layout: usize,
    hashed: bool,
    out: String,
    truth: Vec<(String, String)>,
    number: usize,
}

/// The front page of a seed, in a layout.
pub fn front(seed: u64, layout: usize) -> Front {
    let mut draw = Draw::new(seed);
    let tongue = &TONGUES[draw.below(TONGUES.len())];
    let scheme = draw.below(9);
    let hashed = draw.chance(30);
    let number = 10_000 + draw.below(80_000);
    let mut making = Making {
        draw,
        tongue,
        scheme,
        layout,
        hashed,
        out: String::new(),
        truth: Vec::new(),
        number,
    };
    making.page();
    Front { html: making.out, headlines: making.truth, language: tongue.code }
}

impl Making {
    fn words(&mut self, least: usize, most: usize) -> String {
        let count = least + self.draw.below(most - least + 1);
        let words: Vec<&str> = (0..count).map(|_| self.draw.one(self.tongue.words)).collect();
        let text = words.join(self.tongue.gap);
        let mut letters = text.chars();
        letters.next().map(|c| c.to_uppercase().chain(letters).collect()).unwrap_or_default()
    }

    fn title(&mut self) -> String {
        // Some are short.
        if self.draw.chance(10) { self.words(3, 4) } else { self.words(5, 11) }
    }

    fn class(&mut self, name: &str) -> String {
        if !self.hashed {
            return name.to_owned();
        }
        // As style compilers name them, equal for equal parts.
        let sum: u32 = name.bytes().fold(17, |h, b| h.wrapping_mul(31).wrapping_add(u32::from(b)));
        format!("css-{sum:x}")
    }

    fn article(&mut self) -> (String, String) {
        self.number += 1 + self.draw.below(40);
        let n = self.number;
        let section = ["world", "business", "sport", "culture"][self.draw.below(4)];
        let slug: Vec<&str> = (0..5).map(|_| self.draw.one(TONGUES[0].words)).collect();
        let slug = slug.join("-");
        let day = 1 + self.draw.below(28);
        let path = match self.scheme {
            0 => format!("/2026/11/{day:02}/{slug}-{n}/"),
            1 => format!("/{section}/{slug}-{n}.html"),
            2 => format!("/{section}/{slug}"),
            3 => format!("/news/{n}.shtml"),
            4 => format!("/article.php?id={n}"),
            5 => format!("/a/202611{day:02}/c{n}.html"),
            6 => format!("/{section}/art{n}/{slug}"),
            7 => format!("/articles/c{}o", opaque(n)),
            _ => format!("/a/{:08x}-{:04x}-4f{}a", n * 7919, n % 65_536, n % 90),
        };
        (path, self.title())
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn page(&mut self) {
        let lang = self.tongue.code;
        self.push(&format!("<!doctype html><html lang={lang}><head><title>Daily</title><style>a{{}}</style></head><body>"));
        self.head();
        let count = 4 + self.draw.below(3);
        self.push("<div id=page><main>");
        let wraps = self.draw.chance(40);
        if wraps {
            self.push("<div class='container menu-closed'>");
        }
        for number in 0..count {
            self.section(number);
            if self.draw.chance(35) {
                self.advertisement();
            }
        }
        if wraps {
            self.push("</div>");
        }
        self.push("</main>");
        self.beside();
        self.push("</div>");
        self.foot();
        self.push("</body></html>");
    }

    fn head(&mut self) {
        let tags = [
            ("<header><nav>", "</nav></header>"),
            ("<div class='top-menu'>", "</div>"),
            ("<div class=css-9a1>", "</div>"),
        ];
        let tag = tags[self.draw.below(3)];
        self.push(tag.0);
        self.push("<a href=/><img src=/logo.png alt='The Daily'></a><ul>");
        for section in self.tongue.sections {
            self.push(&format!("<li><a href='/{}/'>{section}</a>", slug_of(section)));
            if self.draw.chance(60) {
                self.push("<div class=submenu><ul>");
                for _ in 0..4 {
                    let words = self.words(1, 3);
                    let path =
                        format!("/{}/{}/", slug_of(section), self.draw.one(TONGUES[0].words));
                    self.push(&format!("<li><a href='{path}'>{words}</a></li>"));
                }
                self.push("</ul></div>");
            }
            self.push("</li>");
        }
        self.push("</ul>");
        self.push(tag.1);
        if self.draw.chance(40) {
            // A line of the latest news.
            self.push("<div class=ticker><ul>");
            for _ in 0..4 {
                let (path, title) = self.article();
                self.push(&format!("<li><a href='{path}'>{title}</a></li>"));
                self.truth.push((path, title));
            }
            self.push("</ul></div>");
        }
        if self.draw.chance(50) {
            let kind = self.draw.one(&["tag", "t", "topics", "thema"]);
            self.push("<div class='trend-strip'>");
            for _ in 0..6 {
                let words = self.words(1, 3);
                let word = self.draw.one(TONGUES[0].words);
                let path = format!("/{kind}/{word}-{}", self.draw.one(TONGUES[0].words));
                self.push(&format!("<a href='{path}'>{words}</a>"));
            }
            self.push("</div>");
        }
    }

    fn section(&mut self, number: usize) {
        let name = self.tongue.sections[number % self.tongue.sections.len()];
        let path = format!("/{}/", slug_of(name));
        let class = self.class("section-block");
        self.push(&format!("<section class='{class}'>"));
        if number > 0 {
            self.push(&format!("<h2><a href='{path}'>{name}</a></h2>"));
        }
        let layout = self.layout;
        let count = 4 + self.draw.below(6);
        match layout {
            4 => self.push("<table border=0>"),
            1 | 6 | 9 => self.push("<ul>"),
            7 => self.push("<dl>"),
            _ => self.push("<div class=grid>"),
        }
        for place in 0..count {
            let (path, title) = self.article();
            self.item(&path, &title, layout, place, name);
            self.truth.push((path, title));
        }
        match layout {
            4 => self.push("</table>"),
            1 | 6 | 9 => self.push("</ul>"),
            7 => self.push("</dl>"),
            _ => self.push("</div>"),
        }
        if self.draw.chance(50) {
            self.push(&format!("<a class=more href='{path}'>{} {name}</a>", self.tongue.more));
        }
        self.push("</section>");
    }

    fn item(&mut self, path: &str, title: &str, layout: usize, place: usize, section: &str) {
        let summary = self.words(12, 22);
        let author = self.words(2, 2);
        let author_path = format!("/author/{}", self.draw.one(TONGUES[0].words));
        let (ago, more) = (self.tongue.ago, self.tongue.more);
        let class = self.class("story-card");
        let tracked = if self.draw.chance(30) {
            format!("{path}{}utm_source=home", if path.contains('?') { "&" } else { "?" })
        } else {
            path.to_owned()
        };
        let image = format!("/img/{}.jpg", self.draw.below(9999));
        let item = match layout {
            // Cards: picture, heading, summary, author, time.
            0 => format!(
                "<article class='{class}'><a href='{tracked}'><img src='{image}'></a><h3><a href='{path}'>{title}</a></h3><p>{summary}</p><a href='{author_path}'>{author}</a> <time datetime='2026-11-16T08:00:00Z'>{ago}</time></article>"
            ),
            // A plain list.
            1 => format!("<li><a href='{path}'>{title}</a></li>"),
            // The whole card is one link.
            2 => format!(
                "<a class='{class}' href='{path}'><div><img src='{image}'></div><div class=label>{section}</div><div class=head>{title}</div><div class=text>{summary}</div></a>"
            ),
            // Without headings, with classes that say nothing.
            3 => format!(
                "<div class='x{}'><div><a href='{path}'><img src='{image}' alt=''></a></div><div><span><a href='{path}'>{title}</a></span><div>{summary} <a href='{path}'>{more}</a></div></div></div>",
                place % 3
            ),
            // A table of old.
            4 => format!(
                "<tr><td><font size=2>&#8226; <a href='{path}'>{title}</a></font></td><td><font size=1>11-16</font></td></tr>"
            ),
            // Heading around a link, then the section as a label.
            5 => format!(
                "<div class='{class}'><span class=kicker><a href='/{}/'>{section}</a></span><h2 class=title><a href='{path}' title='{title}'>{title}</a></h2><div class=excerpt>{summary}</div></div>",
                slug_of(section)
            ),
            // A list with times and numbers of comments.
            6 => format!(
                "<li><span class=time>10:{:02}</span> <a href='{path}'>{title}</a> <a href='{path}#comments'>({})</a></li>",
                10 + place,
                self.draw.below(90)
            ),
            // Terms and descriptions.
            7 => format!(
                "<dt><a href='{path}'>{title}</a></dt><dd>{summary} <a href='{path}'>{more}</a></dd>"
            ),
            // The link inside of the heading inside of another link's card, picture behind.
            8 => format!(
                "<div class='{class}'><h4><a href='{path}'><span>{title}</span></a></h4><figure><a href='{path}' aria-label='{title}'><img data-src='{image}' src='data:image/gif;base64,R0'></a></figure></div>"
            ),
            // A lead with lesser stories under it.
            9 => format!(
                "<li class='{class}'><a href='{tracked}'>{title}</a>{}</li>",
                if place == 0 { format!("<p>{summary}</p>") } else { String::new() }
            ),
            // Deep wrappers of one purpose.
            10 => format!(
                "<div><div><div class='{class}'><div><a href='{path}'><h3>{title}</h3></a></div><div><div>{summary}</div><div><a href='{author_path}'>{author}</a><span>{ago}</span></div></div></div></div></div>"
            ),
            // Text first, heading as a block with a sign.
            _ => format!(
                "<div class='{class}'><a href='{path}'><strong>{title}</strong></a><br>{summary}<br><small>{ago} | <a href='/{}/'>{section}</a></small></div>",
                slug_of(section)
            ),
        };
        self.push(&item);
    }

    fn advertisement(&mut self) {
        let words = self.words(4, 8);
        let n = self.draw.below(9999);
        match self.draw.below(4) {
            0 => self.push(&format!("<div class='ad-slot'><a href='https://ads.example/click?id={n}'>{words}</a></div>")),
            // Made to look like the news, but for the word that the law asks for.
            2 => {
                let (class, paid) = (self.class("story-card"), self.tongue.paid);
                self.push(&format!("<article class='{class}'><span>{paid}</span><h3><a href='/partner-content/{n}-good-for-you'>{words}</a></h3></article>"));
            }
            1 => self.push(&format!("<div><a rel=sponsored href='https://shop.example/offer-{n}-buy-now-cheap'>{words}</a></div>")),
            _ => self.push(&format!("<div class=newsletter-box><p>{}</p><a href='/newsletter'>{}</a></div>", self.tongue.promo, self.tongue.promo)),
        }
    }

    fn beside(&mut self) {
        let tag = if self.draw.chance(50) {
            ("<aside>", "</aside>")
        } else {
            ("<div class=col-right>", "</div>")
        };
        self.push(tag.0);
        self.push(&format!("<div class=box><h3>{}</h3><ol>", self.tongue.popular));
        for _ in 0..5 {
            let (path, title) = if self.draw.chance(80) {
                let at = self.draw.below(self.truth.len());
                self.truth[at].clone()
            } else {
                // Shown here alone, and a headline all the same.
                let new = self.article();
                self.truth.push(new.clone());
                new
            };
            self.push(&format!("<li><a href='{path}'>{title}</a></li>"));
        }
        self.push("</ol></div>");
        for _ in 0..2 {
            let words = self.words(3, 6);
            let n = self.draw.below(9999);
            let word = self.draw.one(TONGUES[0].words);
            self.push(&format!("<div class=promo><a href='/shop/{n}-{word}'>{words}</a></div>"));
        }
        self.push(tag.1);
    }

    fn foot(&mut self) {
        let tags = [
            ("<footer>", "</footer>"),
            ("<div id=foot class=site-footer>", "</div>"),
            ("<div class=css-77f>", "</div>"),
        ];
        let tag = tags[self.draw.below(3)];
        self.push(tag.0);
        for (at, name) in self.tongue.service.iter().enumerate() {
            let path = ["about", "contact", "privacy", "terms", "advertise", "subscribe"][at];
            self.push(&format!("<a href='/{path}'>{name}</a>"));
        }
        for _ in 0..6 {
            let words = self.words(1, 3);
            let word = self.draw.one(TONGUES[0].words);
            self.push(&format!("<a href='https://{word}.partner.example/'>{words}</a>"));
        }
        self.push(tag.1);
    }
}

/// Letters and digits in no order.
fn opaque(n: usize) -> String {
    let signs = b"x7k2m9qr4w0zp5n8";
    let mut seed = n * 2_654_435_761;
    let mut out = String::new();
    for _ in 0..10 {
        out.push(char::from(signs[seed % signs.len()]));
        seed = seed / 3 + 17 * n;
    }
    out
}

fn slug_of(section: &str) -> String {
    let sum: u32 = section.bytes().fold(7, |h, b| h.wrapping_mul(31).wrapping_add(u32::from(b)));
    let names = ["world", "money", "sport", "culture", "science", "health", "politics", "life"];
    names[sum as usize % names.len()].to_owned()
}
