"""Known-item and hub queries over a documentation site, with and without what its links say.

    python3 quality.py make ROOT START OUT --pages N --most M
    python3 quality.py ask BINARY DATA ORIGIN OUT

`make` reads the pages that can be reached from START (a path beneath ROOT) with a parser of its own,
holds one in ten of them back, links the others into OUT/site and writes OUT/queries.json:

  link  what a page held back calls another page, where all of those held back mean one page by it.
        The index never sees the link the query was taken from.
  hub   the name of a folder with ten pages or more; its index page is wanted. Where all pages lie in
        one folder: the title, without its number, of a page that ten pages or more name as the one
        above them (rel=up, or the key u of DocBook).

`ask` asks each of them twice and prints, for each kind, how many were asked, how many came first, how
many in ten, and the mean of one over the place: by the pages' own words, and with links and rank.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict, deque
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin

INDEX = ("index.html", "package-summary.html")


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.up, self.title = [], None, ""
        self.href, self.text, self.in_title = None, [], False

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "a":
            self.close_link()
            self.href, self.text = attrs.get("href"), []
            if attrs.get("accesskey") == "u":
                self.up = self.href
        elif tag == "link" and "up" in (attrs.get("rel") or "").lower().split():
            self.up = attrs.get("href")
        elif tag == "title":
            self.in_title = True

    def handle_endtag(self, tag):
        if tag == "a":
            self.close_link()
        elif tag == "title":
            self.in_title = False

    def handle_data(self, data):
        if self.in_title:
            self.title += data
        elif self.href is not None:
            self.text.append(data)

    def close_link(self):
        if self.href is not None:
            self.links.append((self.href, " ".join("".join(self.text).split())))
        self.href = None


def read(root, path):
    page = Page()
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as text:
        page.feed(text.read())
    page.close_link()
    return page


def target(path, href):
    """The path that a reference leads to, or nothing where it leads away."""
    joined = urldefrag(urljoin("http://site/" + path, (href or "").strip()))[0].split("?")[0]
    if not joined.startswith("http://site/"):
        return None
    to = unquote(joined[len("http://site/"):])
    return to + "index.html" if to == "" or to.endswith("/") else to


def walk(root, start, most, without=frozenset()):
    pages, queue, met = {}, deque([start]), {start}
    while queue and len(pages) < most:
        path = queue.popleft()
        if path in without or not path.endswith((".html", ".htm")):
            continue
        if not os.path.isfile(os.path.join(root, path)):
            continue
        pages[path] = page = read(root, path)
        for href, _ in page.links:
            to = target(path, href)
            if to and to not in met:
                met.add(to)
                queue.append(to)
    return pages


def number(text):
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def some(queries, most):
    return sorted(queries, key=lambda query: number(query["query"]))[:most]


def is_asked(words):
    return 3 <= len(words) <= 60 and re.search(r"[^\W\d_]{3}", words)


def make(root, start, out, most_pages, most):
    whole = walk(root, start, most_pages)
    held = {path for path in whole if path != start and number(path) % 10 == 0}
    kept = walk(root, start, most_pages, held)
    kept = {path: page for path, page in kept.items() if path in whole}
    called = defaultdict(set)
    for path in held:
        for href, words in whole[path].links:
            to = target(path, href)
            if to in whole and to != path:
                called[words].add(to)
    link = [
        {"kind": "link", "query": words, "path": next(iter(to))}
        for words, to in called.items()
        if len(to) == 1 and is_asked(words) and next(iter(to)) in kept
    ]
    folders, above = defaultdict(set), defaultdict(int)
    for path, page in kept.items():
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folders["/".join(parts[:depth])].add(path)
        if page.up:
            above[target(path, page.up)] += 1
    names = defaultdict(list)
    for folder, pages in folders.items():
        index = [f"{folder}/{name}" for name in INDEX if f"{folder}/{name}" in kept]
        if len(pages) >= 10 and index and index[0] != start:
            names[re.sub(r"[-_.]+", " ", folder.split("/")[-1])].append(index[0])
    for path, count in above.items():
        if count >= 10 and path in kept and path != start:
            title = " ".join(kept[path].title.split())
            names[re.sub(r"^(Chapter|Part|Appendix)?\s*[\dA-Z]+(\.\d+)*\.\s+", "", title)].append(path)
    hub = [
        {"kind": "hub", "query": name, "path": paths[0]}
        for name, paths in names.items()
        if len(paths) == 1 and is_asked(name)
    ]
    for path in kept:
        copy = os.path.join(out, "site", path)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        os.symlink(os.path.realpath(os.path.join(root, path)), copy)
    queries = some(link, most) + some(hub, most)
    with open(os.path.join(out, "queries.json"), "w", encoding="utf-8") as file:
        json.dump(queries, file)
    print(json.dumps({"pages": len(kept), "held": len(held), "link": len(link), "hub": len(hub)}))


def place(binary, data, query, url, flags):
    # Without signs, and no word that the query language knows.
    words = re.sub(r"[^\w\s]", " ", query).lower()
    command = [binary, "--data", data, "--format", "json", "search", *flags, "--", words]
    rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    for row in map(json.loads, rows[:-1]):
        if url == row["url"] or url in row["alike_urls"]:
            return row["rank"]
    return None


def ask(binary, data, origin, out):
    with open(os.path.join(out, "queries.json"), encoding="utf-8") as file:
        queries = json.load(file)
    told = {}
    for kind in ("link", "hub"):
        mine = [query for query in queries if query["kind"] == kind]
        told[kind] = {"asked": len(mine)}
        for name, flags in (("own_words", ["--own-words"]), ("with_links", [])):
            places = [
                place(binary, data, query["query"], f"{origin}/{query['path']}", flags)
                for query in mine
            ]
            told[kind][name] = {
                "first": sum(at == 1 for at in places),
                "ten": sum(at is not None for at in places),
                "mrr": round(sum(1 / at for at in places if at) / max(len(places), 1), 4),
            }
            if os.environ.get("QUALITY_MISSES"):
                for query, at in zip(mine, places):
                    if at != 1:
                        print(name, at, query, file=sys.stderr)
    print(json.dumps(told))


def main():
    mode, *args = sys.argv[1:]
    if mode == "make":
        root, start, out, _, pages, _, most = args
        make(root, start, out, int(pages), int(most))
    else:
        ask(*args)


if __name__ == "__main__":
    main()
