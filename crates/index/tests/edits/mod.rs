//! Pages edited by script: words changed, other sites around the same article.

/// Numbers from a seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn pick<'a>(&mut self, words: &'a [String]) -> &'a str {
        &words[self.below(words.len())]
    }
}

/// The words of a text, as they are written.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// A page with one word in twenty replaced by another, the title included; tags, scripts and
/// styles stay.
pub fn edited(html: &str, vocabulary: &[String], dice: &mut Dice) -> String {
    let lower = html.to_ascii_lowercase();
    let mut out = String::with_capacity(html.len());
    let mut at = 0;
    while at < html.len() {
        let rest = &html[at..];
        let raw = ["script", "style", "textarea", "iframe"]
            .iter()
            .find(|name| lower[at..].strip_prefix('<').is_some_and(|tag| tag.starts_with(*name)));
        let length = match (raw, rest.starts_with('<')) {
            (Some(name), _) => {
                lower[at..].find(&format!("</{name}")).map_or(rest.len(), |n| n + name.len() + 2)
            }
            (None, true) if rest.starts_with("<!--") => {
                rest.find("-->").map_or(rest.len(), |n| n + 3)
            }
            (None, true) => rest.find('>').map_or(rest.len(), |n| n + 1),
            (None, false) => rest.find('<').unwrap_or(rest.len()),
        };
        let piece = &rest[..length.max(1)];
        match rest.starts_with('<') {
            true => out.push_str(piece),
            false => {
                for part in piece.split_inclusive(char::is_whitespace) {
                    let word = part.trim_end();
                    let wordy = word.contains(char::is_alphanumeric) && !word.contains(['&', '>']);
                    let changed = wordy && dice.below(20) == 0;
                    match changed {
                        true => out.push_str(&part.replace(word, dice.pick(vocabulary))),
                        false => out.push_str(part),
                    }
                }
            }
        }
        at += piece.len();
    }
    out
}

/// What a site has around its articles: menu, header, sidebar, footer of about `size` words. Every
/// second site says so in its markup, the others have nothing but `div`.
pub struct Site {
    name: String,
    pub host: String,
    header: Vec<String>,
    sidebar: Vec<String>,
    footer: Vec<String>,
    named: bool,
}

impl Site {
    pub fn new(n: u64, size: usize, vocabulary: &[String]) -> Self {
        let mut dice = Dice(n ^ 0x51_7e);
        let mut lines = |share: usize, least: usize, most: usize| {
            let (mut out, mut words) = (Vec::new(), 0);
            while words < size * share / 100 {
                let many = least + dice.below(most - least + 1);
                let line: Vec<&str> = (0..many).map(|_| dice.pick(vocabulary)).collect();
                words += many;
                out.push(line.join(" "));
            }
            out
        };
        Site {
            header: lines(35, 1, 4),
            sidebar: lines(35, 3, 28),
            footer: lines(30, 2, 35),
            name: format!("The {} Site", vocabulary[n as usize * 7 % vocabulary.len()]),
            host: format!("site{n}.test"),
            named: n.is_multiple_of(2),
        }
    }

    /// The article inside of the site.
    pub fn page(&self, title: &str, text: &str) -> String {
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
        let list = |lines: &[String], tag: &str| {
            let item = |line: &String| format!("<{tag}>{}</{tag}>\n", escaped(line));
            lines.iter().map(item).collect::<String>()
        };
        let (header, sidebar, footer) =
            (list(&self.header, "li"), list(&self.sidebar, "p"), list(&self.footer, "p"));
        let paragraphs: Vec<String> = text.lines().map(str::to_owned).collect();
        let (title, article) = (escaped(title), list(&paragraphs, "p"));
        let [top, side, foot] =
            if self.named { ["nav", "aside", "footer"] } else { ["div", "div", "div"] };
        format!(
            "<!doctype html><title>{title} - {name}</title><{top}><ul>{header}</ul></{top}>\
             <div><h1>{title}</h1>{article}</div><{side}>{sidebar}</{side}><{foot}>{footer}</{foot}>",
            name = self.name
        )
    }
}
