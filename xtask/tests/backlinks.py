"""Who links to whom, counted without Argiope, and held against what it says.

    python3 backlinks.py walk START > truth.jsonl
    python3 backlinks.py check BINARY DATA TRUTH... [--without URL]... [--every N]
    python3 backlinks.py degrees BINARY DATA LINKS.graphml EDGES.tsv

`walk` asks the site itself for every page, reads it with Python's own parser (with html5lib when
HTML5LIB is set) and joins references as the URL standard has it. It prints one object per URL: url,
status, page (whether its links count), links ([target, words, kind, nofollow, count]), malformed
([reference, words]), description.

`check` compares with `top` (the counts of every URL), `links` of every URL that was visited and of
some others (of every Nth with --every), `doc` of some, and `broken`, as JSON and as CSV. A later
TRUTH replaces what an earlier one says of a URL; the pages of --without are not there at all.

`degrees` reads the exported graph with NetworkX and compares its in-degrees with `top`.

All print one line per problem, then a summary, and exit with 1 when there is any problem.
"""

import collections
import csv
import io
import ipaddress
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import quote, unquote_to_bytes, urlsplit

from walk import REFRESH, Site, decoded

COUNTING = {"a", "area", "frame", "iframe"}
HTML = ("text/html", "application/xhtml+xml")
# What a link's words may stand in; everything else begins a new word.
INLINE = {"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "button", "cite", "code", "data", "del",
          "dfn", "em", "font", "i", "img", "input", "ins", "kbd", "label", "mark", "q", "rp", "rt",
          "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u",
          "var", "wbr"}
UNSEEN = {"script", "style", "template", "title", "iframe", "noembed"}
WORDS_BYTES = 512


def folded(text):
    """White space as HTML has it, folded, and no longer than words are kept."""
    text = re.sub(r"[ \t\n\r\f]+", " ", text.replace("\0", "")).strip(" ")
    return text.encode()[:WORDS_BYTES].decode("utf-8", "ignore").strip(" ")


class Links:
    """Reads the events of a parser: links with their words, the base, the description."""

    def __init__(self):
        self.found, self.base, self.open, self.unseen, self.description = [], None, None, [], ""

    def start(self, tag, attributes):
        if tag not in INLINE and self.open:
            self.open["text"].append(" ")
        rel = attributes.get("rel", "").lower().split()
        if tag == "a":
            self.close()
            href = attributes.get("href", attributes.get("xlink:href"))
            if href is not None:
                self.open = {"href": href, "text": [], "alt": "", "rel": rel,
                             "title": folded(attributes.get("title", ""))}
        elif tag == "img" and self.open:
            self.open["alt"] = self.open["alt"] or folded(attributes.get("alt", ""))
        elif tag == "area" and "href" in attributes:
            words = folded(attributes.get("alt", "")) or folded(attributes.get("title", ""))
            self.found.append((attributes["href"], words, "area", "nofollow" in rel))
        elif tag in ("frame", "iframe") and "src" in attributes:
            self.found.append((attributes["src"], folded(attributes.get("title", "")), tag, False))
        elif tag == "base" and "href" in attributes and self.base is None:
            self.base = attributes["href"]
        elif tag == "link" and "href" in attributes:
            kind = None
            if "canonical" in rel:
                kind = "canonical"
            elif "alternate" in rel and "stylesheet" not in rel:
                kind = "alternate"
            elif {"next", "prev", "previous"} & set(rel):
                kind = "sequence"
            if kind:
                words = folded(attributes.get("title", ""))
                self.found.append((attributes["href"], words, kind, "nofollow" in rel))
        elif tag == "meta":
            content = attributes.get("content", "")
            if attributes.get("http-equiv", "").strip().lower() == "refresh":
                target = REFRESH.match(content).group(1).strip()
                if target:
                    self.found.append((target, "", "refresh", False))
            elif attributes.get("name", "").lower() == "description":
                self.description = self.description or folded(content)
        if tag in UNSEEN:
            self.unseen.append(tag)

    def end(self, tag):
        if tag in self.unseen:
            del self.unseen[self.unseen.index(tag):]
        if tag == "a":
            self.close()
        elif tag not in INLINE and self.open:
            self.open["text"].append(" ")

    def text(self, data):
        if self.open and not self.unseen:
            self.open["text"].append(data)

    def close(self):
        if self.open:
            link, self.open = self.open, None
            words = folded("".join(link["text"])) or link["alt"] or link["title"]
            self.found.append((link["href"], words, "a", "nofollow" in link["rel"]))


class Standard(HTMLParser):
    """Events of Python's own parser."""

    def __init__(self, links):
        super().__init__(convert_charrefs=True)
        self.links = links
        self.handle_endtag, self.handle_data = links.end, links.text

    def handle_starttag(self, tag, pairs):
        attributes = {}
        for name, value in pairs:
            attributes.setdefault(name, value or "")
        self.links.start(tag, attributes)

    def handle_startendtag(self, tag, pairs):
        self.handle_starttag(tag, pairs)


def read_page(text):
    """The links of a page."""
    links = Links()
    if os.environ.get("HTML5LIB"):
        import html5lib
        tree = html5lib.parse(text, treebuilder="etree")
        for token in html5lib.getTreeWalker("etree")(tree):
            if token["type"] in ("StartTag", "EmptyTag"):
                links.start(token["name"], {name: value for (_, name), value in
                                            token["data"].items()})
            elif token["type"] == "EndTag":
                links.end(token["name"])
            elif token["type"] in ("Characters", "SpaceCharacters"):
                links.text(token["data"])
    else:
        parser = Standard(links)
        parser.feed(text)
        parser.close()
    links.close()
    return links


def tidy(text, safe, charset="utf-8"):
    """Escapes what must be, spells escapes in one way."""
    text = quote(text.encode(charset, "xmlcharrefreplace"), safe)

    def one(match):
        byte = unquote_to_bytes(match.group())
        plain = re.fullmatch(rb"[A-Za-z0-9._~-]", byte)
        return byte.decode() if plain else match.group().upper()

    return re.sub(r"%[0-9A-Fa-f]{2}", one, text)


def host_of(authority):
    """Host and port in one spelling; raises ValueError when there is none."""
    authority = authority.rsplit("@", 1)[-1]
    found = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::([0-9]*))?", authority)
    if not found or not found.group(1) or int(found.group(2) or 0) > 65535:
        raise ValueError(authority)
    host = unquote_to_bytes(found.group(1)).decode("utf-8").lower()
    if host.startswith("["):
        host = f"[{ipaddress.IPv6Address(host[1:-1]).compressed}]"
    elif not host.isascii():
        host = host.encode("idna").decode()
    elif re.search(r"[\x00-\x20\"#%/:<>?@\[\\\]^|\x7f]", host):
        raise ValueError(host)
    return host, found.group(2) or ""


def joined(base, href, charset="utf-8"):
    """The URL of a reference; None for other schemes; ValueError when it is malformed."""
    href = re.sub(r"[\t\n\r]", "", href.strip("".join(map(chr, range(33)))))
    href = href.split("#", 1)[0]
    here = urlsplit(base)
    scheme, rest = here.scheme, href
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", href)
    if found:
        scheme, rest = found.group(1).lower(), href[found.end():]
        if scheme not in ("http", "https"):
            return None
    rest, mark, query = rest.partition("?")
    rest = rest.replace("\\", "/")
    if rest.startswith("//") or (found and scheme != here.scheme):
        authority, slash, path = rest.lstrip("/").partition("/")
        host, port = host_of(authority)
        path = slash + path
    else:
        host, port, path = here.hostname, str(here.port or ""), rest
        if ":" in host:
            host = f"[{host}]"
        if not path:
            path = here.path
            if not mark:
                mark, query = ("?" if "?" in base else ""), here.query
        elif not path.startswith("/"):
            path = here.path.rsplit("/", 1)[0] + "/" + path
    out = []
    segments = re.sub(r"%2[eE]", ".", path or "/").split("/")[1:]
    for at, segment in enumerate(segments):
        if segment in (".", ".."):
            out = out[:-1] if segment == ".." else out
            if at == len(segments) - 1:
                out.append("")
        else:
            out.append(segment)
    path = "/" + tidy("/".join(out), "/%:@!$&'()*+,;=~[]|")
    if mark:
        query = tidy(query, "/?%:@!$&()*+,;=~[]|`{}\\^", charset)
    if port == {"http": "80", "https": "443"}[scheme]:
        port = ""
    return f"{scheme}://{host}{':' + port if port else ''}{path}{mark}{query}"


def described(url, answer, body):
    """One line of the truth."""
    kind = answer.getheader("Content-Type", "")
    row = {"url": url, "status": answer.status, "page": False, "links": [], "malformed": [],
           "description": ""}
    charset, base = "utf-8", url
    if answer.status in (301, 302, 303, 307, 308):
        found = [(answer.getheader("Location", ""), "", "redirect", False)]
    elif answer.status == 200 and kind.split(";")[0].strip().lower() in HTML:
        label = re.search(rb"charset\s*=\s*[\"']?([\w-]+)", kind.encode() + b" " + body[:1024], re.I)
        charset = label.group(1).decode().lower() if label else "utf-8"
        page = read_page(decoded(body, kind))
        found, row["page"], row["description"] = page.found, True, page.description
        try:
            base = page.base is not None and joined(url, page.base) or url
        except ValueError:
            pass
    else:
        return row
    links, seen = collections.Counter(), set()
    for href, words, kind, nofollow in found:
        plain = href.strip("".join(map(chr, range(33))))
        if plain.startswith("#"):
            continue
        try:
            target = joined(base, href, charset)
            if target:
                links[target, words, kind, nofollow] += 1
        except (ValueError, UnicodeError):
            if plain.split("#")[0] not in seen:
                seen.add(plain.split("#")[0])
                row["malformed"].append([plain, words])
    row["links"] = [[*link, count] for link, count in links.items()]
    return row


def walk(start):
    """Asks for everything that can be reached on the start's host."""
    start = joined(start, "")
    site = Site(start)
    queue, seen = collections.deque([start]), {start}
    while queue:
        url = queue.popleft()
        row = described(url, *site.get(url))
        print(json.dumps(row))
        for target, _, _, nofollow, _ in row["links"]:
            here = urlsplit(target).netloc == site.netloc and target.startswith("http:")
            if here and not nofollow and target not in seen:
                seen.add(target)
                queue.append(target)


class Said:
    """What the program says."""

    def __init__(self, binary, data):
        self.command = [binary, "--data", data]

    def out(self, form, *args):
        done = subprocess.run([*self.command, "--format", form, *args], capture_output=True,
                              text=True, encoding="utf-8", check=False)
        if done.returncode:
            raise SystemExit(f"{args}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def rows(self, *args):
        return [json.loads(line) for line in self.out("json", *args).splitlines()]

    def table(self, *args):
        """The same rows, from the CSV."""
        return list(csv.DictReader(io.StringIO(self.out("csv", *args), newline="")))


def as_text(row):
    """A JSON row as its CSV line should read."""
    text = {None: "", True: "true", False: "false"}
    return {name: text[value] if value is None or isinstance(value, bool) else str(value)
            for name, value in row.items()}


class Check:
    """The truth, the program, and what they disagree on."""

    def __init__(self, binary, data, truth):
        self.said, self.truth, self.problems = Said(binary, data), truth, []
        self.links = collections.defaultdict(dict)
        self.counts = collections.defaultdict(set)
        for source, row in truth.items():
            for target, words, kind, nofollow, count in row["links"]:
                self.links[target][source, words, kind, nofollow] = count
                if kind in COUNTING:
                    self.counts[target].add(source)

    def differ(self, what, truth, said):
        """Notes what one has and the other has not."""
        if truth != said:
            less = [row for row in truth.items() if said.get(row[0]) != row[1]]
            more = [row for row in said.items() if truth.get(row[0]) != row[1]]
            self.problems.append(f"{what}: counted {len(truth)} rows {less[:4]}, "
                                 f"said {len(said)} rows {more[:4]}")

    def top(self):
        """Counts of everything, the order, and the list cut short."""
        rows = self.said.rows("top", "--all", "--limit", "100000000")
        self.differ("top", {url: len(sources) for url, sources in self.counts.items()},
                    {row["url"]: row["backlinks"] for row in rows})
        counts = [row["backlinks"] for row in rows]
        if counts != sorted(counts, reverse=True):
            self.problems.append("top is not in order")
        sites = {row["url"]: len({urlsplit(url).hostname for url in self.counts[row["url"]]})
                 for row in rows}
        self.differ("sites", sites, {row["url"]: row["sites"] for row in rows})
        first = [row["backlinks"] for row in rows if row["doc"] is not None][:20]
        if [row["backlinks"] for row in self.said.rows("top")] != first:
            self.problems.append("top without --all is not the head of what it knows")
        if self.said.table("top", "--limit", "50") != [
                as_text(row) for row in self.said.rows("top", "--limit", "50")]:
            self.problems.append("top: CSV and JSON differ")

    def one(self, url, closely):
        """The links to one URL; `doc` too when looking closely."""
        rows = self.said.rows("links", url)
        said = {(row["source"], row["words"], row["kind"], row["nofollow"]): row["count"]
                for row in rows}
        if len(said) != len(rows):
            self.problems.append(f"links {url}: rows stand twice")
        self.differ(f"links {url}", self.links[url], said)
        if not closely:
            return
        if self.said.table("links", url) != [as_text(row) for row in rows]:
            self.problems.append(f"links {url}: CSV and JSON differ")
        if url in self.truth:
            doc = self.said.rows("doc", url)[0]
            if doc["backlinks"] != len(self.counts[url]):
                self.problems.append(f"doc {url}: {doc['backlinks']}, {len(self.counts[url])}")

    def leading(self, url, met, out):
        """Who leads to a broken URL, also through what redirects to it."""
        if not self.links[url]:
            out[url, None, "", False] += 1
        for source, words, kind, _ in self.links[url]:
            out[url, source, words, False] += 1
            if kind == "redirect" and source not in met:
                met.add(source)
                self.leading(source, met, out)

    def broken(self):
        """What leads nowhere, and every page that leads there."""
        rows = self.said.rows("broken")
        if self.said.table("broken") != [as_text(row) for row in rows]:
            self.problems.append("broken: CSV and JSON differ")
        truth, said = collections.Counter(), collections.Counter()
        for url, row in self.truth.items():
            for href, words in row["malformed"]:
                truth[href, url, words, True] += 1
            # Other endings are not asked for by default.
            if row["status"] in (404, 410) and re.search(r"(/|\.html?|/[^./]*)(\?|$)", url):
                self.leading(url, {url}, truth)
        for row in rows:
            said[row["url"], row["source"], row["words"], row["malformed"]] += 1
        self.differ("broken", truth, said)
        return len(truth)


def check(binary, data, *rest):
    """Compares and tells."""
    files, without, every = [], set(), 1
    rest = list(rest)
    while rest:
        word = rest.pop(0)
        if word == "--without":
            without.add(rest.pop(0))
        elif word == "--every":
            every = int(rest.pop(0))
        else:
            files.append(word)
    truth = {}
    for name in files:
        with open(name, encoding="utf-8") as lines:
            truth.update((row["url"], row) for row in map(json.loads, lines))
    for url in without:
        truth.pop(url)
    checked = Check(binary, data, truth)
    checked.top()
    urls = sorted(truth)[::every] + sorted(set(checked.links) - set(truth))[::20 * every]
    for at, url in enumerate(urls):
        checked.one(url, at % 25 == 0)
    broken = checked.broken()
    tell(checked.problems, {
        "pages": sum(row["page"] for row in truth.values()), "targets": len(checked.counts),
        "backlinks": sum(map(len, checked.counts.values())),
        "rows": sum(map(len, checked.links.values())), "links": len(urls), "broken": broken})


def degrees(binary, data, graphml, edges):
    """In-degrees as NetworkX has them: every page that links counts once."""
    import networkx
    top = Said(binary, data).rows("top", "--all", "--limit", "100000000")
    counts = {row["url"]: row["backlinks"] for row in top}
    problems = []

    def compare(name, graph, url_of):
        for node, degree in graph.in_degree():
            if degree != counts.get(url_of(node), 0):
                problems.append(f"{name} {url_of(node)}: {degree}, top says "
                                f"{counts.get(url_of(node), 0)}")

    graph = networkx.read_graphml(graphml)
    compare("graphml", graph, lambda node: graph.nodes[node]["url"])
    listed = networkx.DiGraph()
    with open(edges, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            listed.add_edge(row["source"], row["target"])
    compare("edges", listed, lambda node: node)
    missing = [url for url in counts if url not in listed]
    if missing:
        problems.append(f"not in the edge list: {missing[:5]}")
    tell(problems, {"nodes": len(graph), "edges": listed.number_of_edges(), "targets": len(counts)})


def tell(problems, summary):
    """The end of every comparison."""
    print("\n".join(problems[:50]))
    print(json.dumps({**summary, "problems": len(problems)}))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    {"walk": walk, "check": check, "degrees": degrees}[sys.argv[1]](*sys.argv[2:])
