//! The vocabulary: what the sites are about, and the words they use.
//!
//! A table. Nouns take an `s` in the plural and verbs an `s` in the third person, so that the
//! sentence patterns of `prose` can bend them without a grammar. All words are ASCII.

/// What a site is about.
pub(crate) struct Topic {
    /// The name of the first site of this topic.
    pub(crate) title: &'static str,
    /// The subject in running text.
    pub(crate) subject: &'static str,
    /// Directories of the site, and the names of its departments.
    pub(crate) sections: [&'static str; 5],
    pub(crate) nouns: &'static [&'static str],
    pub(crate) adjectives: &'static [&'static str],
    pub(crate) verbs: &'static [&'static str],
    pub(crate) places: &'static [&'static str],
}

macro_rules! topic {
    ($title:literal, $subject:literal, $sections:expr, $nouns:expr, $adjectives:expr, $verbs:expr,
     $places:expr) => {
        Topic {
            title: $title,
            subject: $subject,
            sections: $sections,
            nouns: &$nouns,
            adjectives: &$adjectives,
            verbs: &$verbs,
            places: &$places,
        }
    };
}

/// The topics, in the order in which sites take them.
#[rustfmt::skip]
pub(crate) const TOPICS: [Topic; 12] = [
    topic!("Orb and Thread", "spiders' webs", ["silk", "orbs", "hunters", "fieldwork", "questions"],
        ["web", "spider", "thread", "spiral", "anchor", "orb", "spinneret", "funnel", "trap", "moth", "hub",
         "radius line", "egg case", "signal thread", "wing", "leg", "dewdrop", "bridge line"],
        ["sticky", "silver", "taut", "patient", "banded", "hidden", "elastic", "torn", "golden", "nocturnal",
         "dew-covered", "invisible"],
        ["spin", "mend", "anchor", "sense", "measure", "eat", "repair", "shake", "guard", "abandon"],
        ["hedge", "window frame", "reed bed", "attic", "fence corner", "meadow edge", "cellar", "garden gate"]),
    topic!("The Patient Garden", "gardens", ["beds", "soil", "seasons", "tools", "harvest"],
        ["rose", "seed", "root", "bed", "spade", "worm", "bulb", "trellis row", "apple tree", "herb", "fern",
         "compost heap", "snail", "lawn", "pot", "cutting", "weed", "watering can"],
        ["shady", "fertile", "overgrown", "fragrant", "thirsty", "early", "late", "sandy", "mulched", "wild",
         "sheltered", "evergreen"],
        ["plant", "water", "prune", "shade", "feed", "crowd", "cover", "loosen", "protect", "outgrow"],
        ["south wall", "greenhouse", "orchard", "vegetable plot", "rockery", "pond margin", "cold frame", "terrace"]),
    topic!("Night Sky Notebook", "astronomy", ["planets", "stars", "telescopes", "observing", "almanac"],
        ["star", "planet", "comet", "moon", "lens", "mirror", "crater", "nebula cloud", "meteor", "orbit",
         "eclipse", "galaxy arm", "ring", "spectrum line", "sunspot", "asteroid", "tripod", "dome"],
        ["faint", "bright", "distant", "red", "double", "variable", "icy", "dark", "southern", "spiral",
         "rising", "polar"],
        ["orbit", "reveal", "outshine", "eclipse", "scatter", "bend", "follow", "reflect", "pull", "resolve"],
        ["eastern horizon", "observatory", "hilltop", "zenith", "desert camp", "southern sky", "back yard", "ecliptic"]),
    topic!("Slow Kitchen", "cooking", ["soups", "bread", "preserves", "techniques", "stories"],
        ["soup", "loaf crust", "onion", "stove", "spice", "pan", "broth", "dumpling", "lemon", "sauce", "oven",
         "knife", "crumb", "pickle", "stew", "bean", "ladle", "recipe"],
        ["warm", "salty", "crisp", "slow", "smoky", "bitter", "tender", "golden", "sour", "simple", "roasted", "sweet"],
        ["simmer", "season", "sweeten", "brown", "thicken", "salt", "warm", "soften", "garnish", "accompany"],
        ["kitchen table", "market hall", "cellar shelf", "bakery", "back burner", "larder", "village feast", "hearth"]),
    topic!("Source to Sea", "rivers", ["sources", "floods", "fish", "boats", "maps"],
        ["river", "current", "bend", "ford", "salmon run", "island", "weir", "bank", "delta", "heron", "raft",
         "pool", "flood", "channel", "boulder", "tributary stream", "otter", "spring"],
        ["swift", "muddy", "deep", "cold", "braided", "broad", "frozen", "winding", "shallow", "tidal", "clear", "restless"],
        ["carve", "flood", "carry", "feed", "cross", "cool", "drown", "turn", "join", "undercut"],
        ["gorge", "estuary mouth", "upper valley", "mill pond", "ferry landing", "flood plain", "waterfall", "old harbour"]),
    topic!("Hive Letters", "bees", ["hives", "honey", "forage", "swarms", "winter"],
        ["bee", "hive", "comb", "queen", "drone", "swarm", "frame", "blossom", "smoker", "larva cell", "keeper",
         "nectar flow", "brood nest", "skep", "waggle dance", "honey jar", "worker", "sting"],
        ["busy", "gentle", "waxen", "humming", "sealed", "strong", "queenless", "amber", "crowded", "drowsy",
         "stingless", "early"],
        ["visit", "cap", "warm", "defend", "follow", "cluster around", "gather from", "raise", "smell", "replace"],
        ["lime avenue", "heather moor", "apiary", "flight board", "clover field", "honey house", "hollow oak", "roof garden"]),
    topic!("Above the Tree Line", "mountains", ["peaks", "glaciers", "huts", "routes", "weather"],
        ["peak", "ridge", "glacier", "rope", "hut", "moraine wall", "summit", "cairn", "crevasse", "boulder field",
         "path", "guide", "avalanche", "marmot", "cornice", "col", "rucksack", "cloud"],
        ["steep", "granite", "snowy", "windy", "exposed", "silent", "jagged", "remote", "icy", "sunlit", "narrow", "ancient"],
        ["climb", "overlook", "shelter", "block", "cross", "bury", "mark", "outlast", "shadow", "split"],
        ["north face", "high pass", "valley head", "bivouac ledge", "snow field", "base camp", "saddle", "southern spur"]),
    topic!("Warp and Weft", "weaving", ["looms", "dyes", "patterns", "fibres", "guilds"],
        ["loom", "shuttle", "yarn", "pattern", "heddle", "bobbin", "blanket", "fleece", "knot", "selvedge edge",
         "spindle", "ribbon", "tapestry panel", "dye bath", "treadle", "reed", "weaver", "cloth"],
        ["woollen", "striped", "indigo", "fine", "coarse", "tangled", "handspun", "loose", "dense", "faded",
         "checked", "linen"],
        ["weave", "cross", "tighten", "dye", "unravel", "border", "lift", "repeat", "colour", "bind"],
        ["workshop", "guild hall", "mill loft", "dye garden", "cloth market", "spinning room", "museum case", "attic loom"]),
    topic!("Lamps of the Coast", "lighthouses", ["lamps", "keepers", "wrecks", "fog", "charts"],
        ["lamp", "keeper", "tower", "lens", "reef", "foghorn", "ship", "beam", "log book", "stair", "gull", "storm",
         "buoy", "signal", "harbour pilot", "window pane", "shoal", "tide"],
        ["flashing", "lonely", "salt-worn", "white", "rotating", "stormy", "abandoned", "tall", "automatic",
         "foggy", "striped", "faithful"],
        ["warn", "guide", "outlast", "signal", "sweep", "answer", "light", "watch", "save", "mark"],
        ["headland", "outer reef", "lantern room", "keeper's cottage", "harbour wall", "sand bar", "skerry", "channel mouth"]),
    topic!("Feather Diary", "birds", ["nests", "songs", "migration", "hides", "lists"],
        ["bird", "nest", "feather", "owl", "wren", "egg", "song", "flock", "beak", "swallow", "heron", "perch",
         "feeder", "fledgling", "call", "hawk", "ringer", "roost"],
        ["migrating", "speckled", "shy", "early", "long-billed", "crested", "young", "loud", "grey", "northern",
         "resting", "rare"],
        ["feed", "imitate", "follow", "chase", "line", "answer", "circle", "guard", "greet", "leave"],
        ["salt marsh", "church tower", "hide", "ploughed field", "reed bed", "sea cliff", "old quarry", "winter roost"]),
    topic!("Escapement", "clocks", ["pendulums", "makers", "sundials", "repairs", "towers"],
        ["clock", "pendulum", "wheel", "spring", "dial", "hand", "bell", "weight", "pinion", "escapement lever",
         "watchmaker", "hour", "sundial", "chime", "case", "bearing", "key", "balance"],
        ["brass", "accurate", "slow", "jewelled", "wound", "silent", "striking", "portable", "oiled", "worn",
         "astronomical", "wooden"],
        ["drive", "regulate", "strike", "count", "turn", "stop", "release", "outlive", "divide", "correct"],
        ["workbench", "bell chamber", "town hall", "museum", "ship's cabin", "railway station", "mantel shelf", "repair shop"]),
    topic!("Span", "bridges", ["arches", "cables", "builders", "tolls", "ruins"],
        ["bridge", "arch", "cable", "pier", "toll house", "keystone", "rivet", "deck", "tower", "mason", "truss frame",
         "parapet", "plank", "engineer", "caisson", "footpath", "girder", "bearing"],
        ["stone", "suspended", "iron", "narrow", "covered", "medieval", "swaying", "broad", "ruined", "movable",
         "wooden", "graceful"],
        ["span", "support", "carry", "join", "stiffen", "replace", "cross", "outlast", "bear", "brace"],
        ["gorge", "city quay", "pilgrim road", "railway cutting", "canal lock", "ferry crossing", "market street", "estuary"]),
];

/// Beginnings, middles and ends of coined names.
pub(crate) const SYLLABLES: [&[&str]; 3] = [
    &[
        "Mar", "Tol", "Bren", "Ash", "Kel", "Ori", "Vand", "Sel", "Hav", "Lum", "Pern", "Dor",
        "Wil", "Ess", "Fal", "Gren", "Isk", "Jor", "Nev", "Ruth", "Quil", "Ulm", "Yar", "Zel",
    ],
    &["e", "a", "in", "o", "er", "i", "un", "el", "ar", "os", "ina", "ema", "ori", "ul", "eth"],
    &[
        "lund", "wick", "dale", "mere", "stead", "ford", "holm", "bury", "gate", "ley", "rick",
        "son", "berg", "march", "well", "combe", "field", "thorpe", "by", "ness",
    ],
];

/// Times of the year and of the day.
pub(crate) const SEASONS: [&str; 10] = [
    "spring",
    "summer",
    "autumn",
    "winter",
    "March",
    "June",
    "October",
    "December",
    "early May",
    "late August",
];
