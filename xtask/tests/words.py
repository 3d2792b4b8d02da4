"""Words and their places, known without Argiope, and held against what it says.

    python3 words.py make FOLDER [--pages N] [--seed N] > truth.json
    python3 words.py check BINARY DATA ORIGIN TRUTH
    python3 words.py marks BINARY DATA ORIGIN TRUTH
    python3 words.py known BINARY DATA ORIGIN ROOT START [--most N]

`make` writes pages into FOLDER. A page is put together from pieces whose words and places follow
from how they are made, so no program that finds words is needed: a word takes one place; the parts
of a dotted or hyphenated word one each, its other forms stand at the first; every character of
Chinese, Japanese, Korean and Thai (with its marks) takes one, a pair stands at its first.

`check` compares the whole dictionary (`words`), the places of every word (`word`), the words of
every page (`doc --words`) and what `search` finds and shows; `marks` what it marks in what it shows.

`known` asks for every title and main heading of the files below ROOT that no other page has as a
title or heading of any rank, and counts how often its page comes first and among the first ten.

All print one line per problem, then a summary, and exit with 1 when there is any problem.
"""

import collections
import html
import html.parser
import json
import pathlib
import random
import re
import subprocess
import sys
import unicodedata

STOP = {"the", "and", "with", "not"}
CONNECTED = {
    "zh": "中国人民图书馆收藏了许多古老的地图和书籍学生们每天来这里阅读",
    "ja": "東京の図書館でカタカナとひらがなを勉強しました美しい庭があります",
    "ko": "도서관에서한국어를공부하고아름다운정원을보았습니다",
    "th": "ห้องสมุดแห่งนี้มีหนังสือเก่าและแผนที่มากมายทุกคนอ่านภาษาไทยที่นี่",
}
SPACED = {
    "ar": "مكتبة كتاب مدينة قديمة خريطة حديقة جميلة طلاب قراءة سفينة",
    "ru": "библиотека старинный карта город книга чтение район ёлка Йод Сад",
    "accented": "café Zürich naïve Łódź Ærø straße São señor Việt façade",
}
# As they are written, their parts, and their other forms.
COMPOUNDS = [
    ("node.js", ["node", "js"], ["node.js", "nodejs"]),
    ("e-mail", ["e", "mail"], ["e-mail", "email"]),
    ("Well-Tempered", ["well", "tempered"], ["well-tempered", "welltempered"]),
    ("v1.2", ["v1", "2"], ["v1.2", "v12"]),
    ("3.14", ["3", "14"], ["3.14"]),
    ("555-1234", ["555", "1234"], ["555-1234", "5551234"]),
    ("1,000", ["1,000"], ["1000"]),
    ("2026", ["2026"], []),
    ("x86", ["x86"], []),
    ("café-bar", ["cafe", "bar"], ["cafe-bar", "cafebar"]),
    ("don't", ["don't"], []),
]
# As they are written these are asked for, not listed: the dictionary has the parts and the whole
# without its signs. A number with a dot is one word.
SIGNED = {other for _, _, others in COMPOUNDS for other in others if re.search(r"[a-z-].*", other)
          and re.search(r"[-.]", other)}
ODD = {"ß": "ss", "æ": "ae", "ø": "o", "ł": "l"}


def folded(word):
    """Lower case without accents; й is a letter of its own."""
    out = ""
    for c in word.lower():
        if c == "й":
            out += c
            continue
        for part in unicodedata.normalize("NFKD", c):
            if not 0x300 <= ord(part) <= 0x36F and not 0x64B <= ord(part) <= 0x65F:
                out += ODD.get(part, part)
    # What was taken apart is put together again: syllables of Korean, voiced Kana.
    return unicodedata.normalize("NFC", out)


def characters(text):
    """A character and its marks."""
    out = []
    for c in text:
        if out and (unicodedata.category(c) == "Mn" or c == "\u0e33"):
            out[-1] += c
        else:
            out.append(c)
    return out


class Text:
    """A text while it grows: what is written, and which words stand where."""

    def __init__(self):
        self.places, self.at, self.written = collections.defaultdict(list), 0, []

    def piece(self, written, parts, others=()):
        for part in parts:
            self.at += 1
            if part not in STOP:
                self.places[part].append(self.at)
        for other in others:
            self.places[other].append(self.at - len(parts) + 1)
        self.written.append(written)

    def word(self, word):
        self.piece(word, [folded(word)])

    def connected(self, run):
        units = characters(unicodedata.normalize("NFC", run))
        first = self.at + 1
        self.piece(run, units)
        for n, pair in enumerate(zip(units, units[1:])):
            self.places["".join(pair)].append(first + n)


def make(folder, pages, seed):
    dice = random.Random(seed)
    folder = pathlib.Path(folder)
    heads, tails = "b d f g k l m n p r t v z".split(), "ak om un ir ep ul".split()
    coined = sorted({dice.choice(heads) + dice.choice("aeiou") + dice.choice(heads)
                     + dice.choice("aeiou") + dice.choice(heads) + dice.choice(tails)
                     for _ in range(400)})
    truth = {}
    for page in range(pages):
        text = Text()
        text.word("Heading")
        text.word(f"own{page}word")
        heading = " ".join(text.written)
        text.written = []
        for _ in range(dice.randrange(30, 160)):
            match dice.randrange(14):
                case 0:
                    text.word(dice.choice(sorted(STOP)))
                case 1 | 2:
                    text.piece(*dice.choice(COMPOUNDS))
                case 3 | 4:
                    script = CONNECTED[dice.choice(sorted(CONNECTED))]
                    units = characters(script)
                    begin = dice.randrange(len(units) - 8)
                    text.connected("".join(units[begin:begin + dice.randrange(1, 9)]))
                case 5 | 6:
                    text.word(dice.choice(SPACED[dice.choice(sorted(SPACED))].split()))
                case _:
                    word = dice.choice(coined[:40] if dice.random() < 0.5 else coined)
                    text.word(dice.choice([word, word.title(), word.upper()]))
        body = []
        for written in text.written:
            written = html.escape(written)
            body.append(dice.choice(["{}", "{}", "{}", "{},", "({})", "<b>{}</b>", "<p>{}</p>"])
                        .format(written))
        before = text.written
        text.written = []
        targets = range(1, pages) if page == 0 else [page % (pages - 1) + 1]
        anchors = []
        for target in targets:
            text.word(f"way{target}there")
            anchors.append(f'<a href="/w{target}.html" title="hiddenattribute">'
                           f"way{target}there</a>")
        (folder / f"w{page}.html").write_text(
            f"<!doctype html><html><head><meta charset=utf-8><title>Titled{page}only</title>"
            f"<style>.hiddenstyle {{ color: red }}</style></head><body><h1>{heading}</h1>"
            f"<script>var hiddenscript = 1;</script><p>{' '.join(body)}\n<p>{' '.join(anchors)}"
            "<!-- hiddencomment --></body></html>")
        truth[f"/w{page}.html"] = {"places": text.places, "text": heading.split() + before}
    json.dump(truth, sys.stdout, ensure_ascii=False)


class Asked:
    """The program, asked; and what was wrong with its answers."""

    def __init__(self, binary, data):
        self.command, self.problems, self.checked = [binary, "--data", data], 0, 0

    def rows(self, *args, codes=(0,)):
        done = subprocess.run([*self.command, "--format", "json", *args], capture_output=True)
        if done.returncode not in codes:
            sys.exit(f"{args} ended with {done.returncode}: {done.stderr.decode()}")
        if done.returncode:
            return None
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    def same(self, what, told, wanted):
        self.checked += 1
        if told != wanted:
            self.problem(f"{what}: {str(told)[:400]} instead of {str(wanted)[:400]}")

    def problem(self, what):
        self.problems += 1
        if self.problems <= 60:
            print(what)

    def done(self, **more):
        print(json.dumps({"checked": self.checked, "problems": self.problems, **more}))
        sys.exit(1 if self.problems else 0)


def read(truth, origin):
    """The pages, and the words with the places where they stand."""
    truth = json.loads(pathlib.Path(truth).read_text())
    words = collections.defaultdict(dict)
    for page, known in truth.items():
        for word, places in known["places"].items():
            words[word][origin + page] = sorted(places)
    return truth, words


def marks(binary, data, origin, truth):
    truth, words = read(truth, origin)
    asked = Asked(binary, data)
    asked.done(snippets=found(asked, truth, words, origin, marked))


def check(binary, data, origin, truth):
    truth, words = read(truth, origin)
    asked = Asked(binary, data)
    told = {row["word"]: row for row in asked.rows("words", "--limit", "0")}
    listed = words.keys() - SIGNED
    asked.same("words that are not there", sorted(told.keys() - listed), [])
    asked.same("words that are missing", sorted(listed - told.keys()), [])
    for word, pages in words.items():
        if word in told:
            counts = told[word]["documents"], told[word]["occurrences"]
            asked.same(f"counts of {word}", counts, (len(pages), sum(map(len, pages.values()))))
    asked.same("numbers of words", len({row["word_id"] for row in told.values()}), len(told))

    for word, pages in words.items():
        rows = asked.rows("word", word)
        asked.same(f"places of {word}", {row["url"]: row["positions"] for row in rows}, pages)
        asked.same(f"rows of {word}", len(rows), len(pages))
        if word in told:
            asked.same(f"numbers of {word}", {row["word_id"] for row in rows},
                       {told[word]["word_id"]})
    for page, known in truth.items():
        told_of = {row["word"]: sorted(row["positions"])
                   for row in asked.rows("doc", origin + page, "--words")}
        wanted = {word: sorted(places) for word, places in known["places"].items()
                  if word not in SIGNED}
        asked.same(f"words of {page}", told_of, wanted)
    for unseen in ["hiddenattribute", "hiddenstyle", "hiddenscript", "hiddencomment",
                   "titled1only", *sorted(STOP)]:
        asked.same(f"places of {unseen}", asked.rows("word", unseen), [])

    substrings(asked, truth, origin)
    shown = found(asked, truth, words, origin, snippet)
    asked.done(words=len(words), pages=len(truth), snippets=shown)


def runs(known):
    """The pieces of a page that are written without spaces, as characters with their marks."""
    scripts = "".join(CONNECTED.values())
    return [characters(piece) for piece in known["text"] if piece[0] in scripts]


def substrings(asked, truth, origin):
    """Any two or more characters in a row are found, and only where they stand."""
    dice = random.Random(5)
    all_runs = [(page, run) for page, known in truth.items() for run in runs(known)]
    for _ in range(60):
        _, run = dice.choice([(page, run) for page, run in all_runs if len(run) > 2])
        length = dice.randrange(2, len(run) + 1)
        begin = dice.randrange(len(run) - length + 1)
        wanted = run[begin:begin + length]
        holders = collections.Counter()
        for page, other in all_runs:
            for at in range(len(other) - length + 1):
                holders[origin + page] += other[at:at + length] == wanted
        holders = {page: count for page, count in holders.items() if count}
        word = "".join(wanted)
        told = {row["url"]: len(row["positions"]) for row in asked.rows("word", word)}
        asked.same(f"places of {word}", told, holders)


def found(asked, truth, words, origin, each):
    """Search finds exactly the pages with a word; gives how many hits `each` looked at."""
    dice = random.Random(6)
    plain = sorted(word for word in words if re.fullmatch(r"[a-z]{7,9}", word))
    chosen = dice.sample(plain, min(40, len(plain)))
    for name in SPACED:
        chosen += [folded(word) for word in SPACED[name].split()]
    chosen += [other for _, _, others in COMPOUNDS for other in others]
    chosen += [f"own{page}word" for page in range(0, len(truth), 5)]
    pairs = sorted(word for word in words if any(c in "".join(CONNECTED.values()) for c in word)
                   and len(characters(word)) == 2)
    chosen += dice.sample(pairs, min(60, len(pairs)))
    shown = 0
    for word in chosen:
        pages = words.get(word, {})
        rows = asked.rows("search", "--limit", "1000", "--", word)
        total, hits = rows[-1]["total"], rows[:-1]
        hits = [hit for hit in hits if not hit.get("partial")]
        urls = {hit["url"] for hit in hits}
        if len(urls) + sum(len(hit.get("alike", [])) for hit in hits) >= total:
            missing = sorted(pages.keys() - urls)
            asked.same(f"pages without {word} in a search", missing[:5], [])
        if word.isascii() and word.isalpha():
            asked.same(f"pages with {word} in a search", (total, urls), (len(pages), set(pages)))
        for hit in hits:
            if hit["url"] in pages:
                shown += 1
                each(asked, word, hit, truth[hit["url"].removeprefix(origin)])
    return shown


def snippet(asked, word, hit, known):
    """A snippet is a piece of the text, cut between words or characters, and shows the word."""
    name = f"snippet of {hit['url']} for {word}"
    asked.same(f"{name}: odd characters", re.findall(r"[\x00-\x1f\ufffd]", hit["snippet"]), [])
    pieces = hit["snippet"].removeprefix("…").removesuffix("…").split()
    if not pieces:
        asked.problem(f"{name} is empty")
        return
    shown = folded(" ".join(pieces))
    # Of a dotted or hyphenated word a part is enough.
    parts = next((parts for _, parts, others in COMPOUNDS if word in others), [word])
    if not any(part in shown for part in parts):
        asked.problem(f"{name} does not show it: {shown}")
    # Runs without spaces may be cut between characters, never between one and its marks.
    units = {unit for run in runs(known) for unit in run}
    for unit in (unit for piece in pieces for unit in characters(re.sub(r"[(),]", "", piece))):
        if unit[0] in "".join(CONNECTED.values()) or unicodedata.category(unit[0]) == "Mn":
            asked.same(f"{name} shows a torn character {unit!r}", unit in units, True)
    # Other words are whole; of a dotted or hyphenated one a part may be.
    whole = {part for piece in known["text"] for part in re.split(r"[-.]", piece)}
    for piece in (pieces[0], pieces[-1]):
        parts = re.split(r"[-.]", re.sub(r"^\(|[),.]+$", "", piece))
        for part in parts:
            if part and part[0] not in "".join(CONNECTED.values()) and part not in whole \
                    and not re.fullmatch(r"way\d+there|Heading|own\d+word", part):
                asked.problem(f"{name} is cut inside a word: {piece!r}")


def marked(asked, word, hit, _known):
    """The marks of a row are bytes of its snippet, and the word stands there."""
    name = f"snippet of {hit['url']} for {word}"
    text = hit["snippet"].encode()
    told = [text[begin:end].decode("utf-8", "replace") for begin, end in hit["marks"]]
    asked.checked += 1
    forms = [form for mark in told for form in (folded(mark), re.sub(r"[-.,]", "", folded(mark)))]
    parts = next((parts for _, parts, others in COMPOUNDS if word in others), [])
    if not any(part in form for form in forms for part in [word, *parts]):
        asked.problem(f"{name}: marked is {told} in {hit['snippet'][:120]!r}")
    if any(mark.strip() != mark or not mark for mark in told):
        asked.problem(f"{name}: marks hold more than words: {told}")


class Names(html.parser.HTMLParser):
    """The title and the first main heading of a page; of one without, its first heading."""

    def __init__(self):
        super().__init__()
        self.open, self.title, self.heading, self.main, self.all = None, None, None, False, []

    def handle_starttag(self, tag, attributes):
        if tag == "title" and self.title is None or re.fullmatch("h[1-6]", tag):
            self.open = tag
            self.all.append("")
        elif tag == "br" and self.open:
            self.all[-1] += " "

    def handle_endtag(self, tag):
        if tag != self.open:
            return
        self.open = None
        if tag == "title":
            self.title = self.all[-1]
        elif self.heading is None or tag == "h1" and not self.main:
            self.heading, self.main = self.all[-1], tag == "h1"

    def handle_data(self, data):
        if self.open:
            self.all[-1] += data.replace("¶", " ")


def bare(text):
    return " ".join(re.findall(r"\w+", folded(text)))


def known(binary, data, origin, root, start, most):
    asked = Asked(binary, data)
    root = pathlib.Path(root)
    owners, queries = collections.defaultdict(set), []
    pages = [row["url"] for row in asked.rows("top", "--limit", "1000000")] + [origin + start]
    for url in sorted(set(pages)):
        path = root / url.removeprefix(origin + "/")
        if not url.startswith(origin) or path.suffix != ".html" or not path.is_file():
            continue
        names = Names()
        names.feed(path.read_bytes().decode("utf-8", "replace"))
        for kind, text in (("title", names.title), ("heading", names.heading)):
            text = " ".join((text or "").split())
            if bare(text):
                queries.append((kind, text, url))
        for text in names.all:
            owners[bare(text)].add(url)
    out = {}
    for kind in ("title", "heading"):
        own = sorted({(text, url) for k, text, url in queries
                      if k == kind and len(owners[bare(text)]) == 1})
        random.Random(3).shuffle(own)
        own = own[:most]
        first = ten = refused = 0
        for text, url in own:
            rows = asked.rows("search", "--limit", "10", "--", text, codes=(0, 2))
            refused += rows is None
            urls = [] if rows is None else [hit["url"] for hit in rows[:-1]]
            first += urls[:1] == [url]
            ten += url in urls
            if urls[:1] != [url]:
                place = urls.index(url) + 1 if url in urls else "-"
                what = "refused" if rows is None else urls[:1]
                print(f"{kind} {place}: {text!r} is {url}, first came {what}")
        out[kind] = {"asked": len(own), "first": first, "ten": ten, "refused": refused}
    print(json.dumps(out))


def option(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


if __name__ == "__main__":
    match sys.argv[1]:
        case "make":
            make(sys.argv[2], option("--pages", 60), option("--seed", 1))
        case "check":
            check(*sys.argv[2:6])
        case "marks":
            marks(*sys.argv[2:6])
        case "known":
            known(*sys.argv[2:7], option("--most", 400))
