//! Other languages and other charsets, a little of each.
//!
//! Sentences are fixed; what is tested with them is charset and language, not vocabulary. Every
//! character of a tongue exists in its charset, which a test holds fast.

/// A language as a page is written in it.
pub(crate) struct Tongue {
    /// The value of `lang`.
    pub(crate) code: &'static str,
    pub(crate) charset: Charset,
    /// Empty for English, which `prose` writes.
    pub(crate) sentences: &'static [&'static str],
}

/// How characters become bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    Utf8,
    Latin1,
    Windows1251,
}

impl Charset {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Latin1 => "iso-8859-1",
            Self::Windows1251 => "windows-1251",
        }
    }

    /// Writes a text in this charset, with a question mark for what it lacks.
    pub(crate) fn encode(self, text: String) -> Vec<u8> {
        match self {
            Self::Utf8 => text.into_bytes(),
            Self::Latin1 => text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect(),
            Self::Windows1251 => text.chars().map(windows_1251).collect(),
        }
    }
}

fn windows_1251(character: char) -> u8 {
    match character {
        '\0'..='\x7F' => character as u8,
        'А'..='я' => (character as u32 - 'А' as u32) as u8 + 0xC0,
        'Ё' => 0xA8,
        'ё' => 0xB8,
        _ => b'?',
    }
}

/// What almost all pages are written in.
pub(crate) const ENGLISH: Tongue = Tongue { code: "en", charset: Charset::Utf8, sentences: &[] };

const GERMAN: &[&str] = &[
    "Die Kreuzspinne knüpft ihr Netz jede Nacht neu.",
    "Am frühen Morgen hängen Tautropfen an den Fäden.",
    "Wer den Garten liebt, lässt auch die Spinnen wohnen.",
    "Über dem Fluss spannt sich eine alte Brücke aus Stein.",
    "Im Frühling blühen die Bäume am südlichen Hang.",
    "Der Wärter zündete die Lampe an und schrieb den Wind ins Buch.",
    "Das Brot braucht Zeit, Wärme und ein wenig Geduld.",
    "Später erzählte er, die Vögel hätten ihm den Weg gezeigt.",
];
const FRENCH: &[&str] = &[
    "L'araignée répare sa toile avant que le soleil se lève.",
    "Près de la rivière, les pêcheurs attendent l'été.",
    "Le vieux phare éclaire encore l'entrée du port.",
    "Une abeille passe de fleur en fleur sans se presser.",
    "La soupe mijote doucement à côté de la fenêtre.",
    "On a retrouvé l'horloge, arrêtée à midi, derrière le théâtre.",
    "Là-haut, le glacier garde la mémoire des hivers passés.",
    "Chaque étoile a son nom, même la plus légère.",
];
const SPANISH: &[&str] = &[
    "La araña teje su tela entre dos ramas del jardín.",
    "El río baja frío de la montaña y no se detiene.",
    "Mañana volverán las golondrinas al campanario.",
    "El pan de ayer también alimenta a los pájaros.",
    "Desde el faro se ve la niebla antes de que llegue.",
    "¿Quién recuerda el puente viejo y su peaje?",
    "La abuela tejía mantas de lana según la luna.",
    "Por la noche, el cometa cruzó el cielo del sur.",
];
const RUSSIAN: &[&str] = &[
    "Паук плетёт свою сеть на краю старого сада.",
    "Утром на каждой нити блестит роса.",
    "Река течёт медленно, но никогда не возвращается.",
    "Над горой взошла луна, и стало совсем тихо.",
    "Пчёлы собирают мёд, пока цветёт липа.",
    "Хозяин маяка записал в книгу ветер и время.",
    "Мост стоит здесь триста лет и помнит всех мастеров.",
    "Зимой птицы прилетают к окну за хлебом.",
];
const JAPANESE: &[&str] = &[
    "蜘蛛は朝露の前に巣を直します。",
    "川はゆっくり海へ流れていきます。",
    "庭のすみに古い時計があります。",
    "灯台の光が霧の中で見えました。",
    "春になると、鳥たちが山から帰ってきます。",
    "パンを焼くには時間と静けさが必要です。",
];

/// The tongues that pages which are not English take turns in.
pub(crate) const FOREIGN: [Tongue; 6] = [
    Tongue { code: "de", charset: Charset::Latin1, sentences: GERMAN },
    Tongue { code: "fr", charset: Charset::Latin1, sentences: FRENCH },
    Tongue { code: "es", charset: Charset::Utf8, sentences: SPANISH },
    Tongue { code: "ru", charset: Charset::Windows1251, sentences: RUSSIAN },
    Tongue { code: "ru", charset: Charset::Utf8, sentences: RUSSIAN },
    Tongue { code: "ja", charset: Charset::Utf8, sentences: JAPANESE },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tongue_fits_its_charset() {
        for tongue in &FOREIGN {
            for sentence in tongue.sentences {
                let questions = sentence.matches('?').count();
                let bytes = tongue.charset.encode((*sentence).to_owned());
                assert_eq!(bytes.iter().filter(|&&b| b == b'?').count(), questions, "{sentence}");
            }
        }
    }

    #[test]
    fn bytes_are_those_of_the_charset() {
        assert_eq!(Charset::Latin1.encode("für".into()), b"f\xFCr");
        assert_eq!(Charset::Windows1251.encode("Ёж я".into()), b"\xA8\xE6 \xFF");
        assert_eq!(Charset::Utf8.encode("ä".into()), b"\xC3\xA4");
    }
}
