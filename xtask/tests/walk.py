"""An independent walk over one site, with nothing but Python's standard library.

    python3 walk.py http://127.0.0.1:8080/index.html

Follows a, area, frame, iframe and meta refresh from every text/html page of the start URL's host,
redirects included, and prints one JSON object per URL: uri, status, type, strict, wide.

`strict` is reached by those links alone. `wide` also counts links a crawler may follow for a reason
of its own: link rel canonical, alternate, next, prev and the like; links inside elements whose
content browsers treat as text (noframes, iframe, title, textarea); links of XHTML pages. What
a crawler asks for beyond `strict` must be in `wide`; what it leaves out of `strict` is lost.
"""

import collections
import http.client
import json
import re
import sys
from html.parser import HTMLParser
from urllib.parse import quote, urldefrag, urljoin, urlsplit

LINKS = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
TEXT_ONLY = {"noframes", "iframe", "noembed", "xmp", "title", "textarea"}
RELS = {"canonical", "alternate", "next", "prev", "previous", "first", "last", "start", "up",
        "contents", "index", "glossary", "copyright", "help", "search", "author", "license",
        "home", "bookmark", "top"}
REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?[\"']?([^\"']*)", re.IGNORECASE)


class Page(HTMLParser):
    """Collects (link, strict) pairs and the base."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.links, self.base, self.text_only = [], None, []

    def handle_starttag(self, tag, pairs):
        attributes = {}
        for name, value in pairs:
            attributes.setdefault(name, value or "")  # the first of a duplicate counts
        strict = not self.text_only
        if tag in LINKS and LINKS[tag] in attributes:
            self.links.append((attributes[LINKS[tag]], strict))
        elif tag == "base" and self.base is None and "href" in attributes and strict:
            self.base = attributes["href"]
        elif tag == "meta" and attributes.get("http-equiv", "").strip().lower() == "refresh":
            target = REFRESH.match(attributes.get("content", "")).group(1).strip()
            if target:
                self.links.append((target, strict))
        elif tag == "link" and "href" in attributes:
            if RELS & set(attributes.get("rel", "").lower().split()):
                self.links.append((attributes["href"], False))
        if tag in TEXT_ONLY:
            self.text_only.append(tag)

    def handle_startendtag(self, tag, pairs):
        self.handle_starttag(tag, pairs)  # a slash does not close an element in HTML

    def handle_endtag(self, tag):
        if tag in self.text_only:
            del self.text_only[self.text_only.index(tag):]


def joined(base, link):
    """Joins as RFC 3986 (5.2) has it: unlike urljoin, empty segments of a path stay."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
        return urljoin(base, link)
    here = urlsplit(base)
    path = here.path.rsplit("/", 1)[0] + "/" + parts.path
    out = []
    for segment in path.split("/")[1:]:
        if segment == "..":
            out = out[:-1]
        elif segment != ".":
            out.append(segment)
    if path.rsplit("/", 1)[1] in (".", ".."):
        out.append("")
    query = "?" + parts.query if parts.query else ""
    return f"{here.scheme}://{here.netloc}/{'/'.join(out)}{query}"


def absolute(base, link):
    """The URL without its fragment, or none when it is not one we could ask for."""
    link = re.sub(r"[\t\r\n]", "", link.strip("\x00\x1f \t\r\n\f"))
    try:
        url = urldefrag(joined(base, link)).url
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            return None
    except ValueError:
        return None
    safe = "/%:@!$&'()*+,;=~-._[]|"
    query = "?" + quote(parts.query, safe + "?") if parts.query else ""
    return f"{parts.scheme}://{parts.netloc.lower()}{quote(parts.path or '/', safe)}{query}"


def decoded(body, kind):
    """The page as text: charset of the header, else of the first kilobyte, else UTF-8."""
    found = re.search(rb"charset\s*=\s*[\"']?([\w-]+)", kind.encode() + b" " + body[:1024], re.I)
    try:
        return body.decode(found.group(1).decode() if found else "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


class Site:
    """One keep-alive connection to the start URL's host."""

    def __init__(self, start):
        self.netloc = urlsplit(start).netloc
        self.connection = http.client.HTTPConnection(self.netloc, timeout=30)

    def get(self, url):
        parts = urlsplit(url)
        target = parts.path + ("?" + parts.query if parts.query else "")
        for attempt in (1, 2):
            try:
                self.connection.request("GET", target)
                answer = self.connection.getresponse()
                return answer, answer.read()
            except (http.client.HTTPException, OSError):
                self.connection.close()
                if attempt == 2:
                    raise


def links_of(url, answer, body):
    """(URL, strict) for everything an answer leads to."""
    if answer.status in (301, 302, 303, 307, 308):
        return [(absolute(url, answer.getheader("Location", "")), True)]
    kind = answer.getheader("Content-Type", "").split(";")[0].strip().lower()
    if answer.status != 200 or kind not in ("text/html", "application/xhtml+xml"):
        return []
    page = Page()
    page.feed(decoded(body, answer.getheader("Content-Type", "")))
    page.close()
    base = absolute(url, page.base) if page.base else url
    html = kind == "text/html"
    return [(absolute(base or url, link), strict and html) for link, strict in page.links]


def reached(start, graph, only_strict):
    """Everything reachable from the start."""
    seen, queue = {start}, collections.deque([start])
    while queue:
        for target, strict in graph.get(queue.popleft(), ()):
            if (strict or not only_strict) and target not in seen:
                seen.add(target)
                queue.append(target)
    return seen


def main():
    start = absolute(sys.argv[1], "")
    site, graph, answers = Site(start), {}, {}
    queue, seen = collections.deque([start]), {start}
    while queue:
        url = queue.popleft()
        answer, body = site.get(url)
        kind = answer.getheader("Content-Type", "").split(";")[0].strip().lower()
        answers[url] = (answer.status, kind)
        graph[url] = [(target, strict) for target, strict in links_of(url, answer, body)
                      if target and urlsplit(target).netloc == site.netloc
                      and target.startswith("http:")]
        for target, _ in graph[url]:
            if target not in seen:
                seen.add(target)
                queue.append(target)
    strict = reached(start, graph, True)
    for url, (status, kind) in answers.items():
        print(json.dumps({"uri": url.split(site.netloc, 1)[1], "status": status, "type": kind,
                          "strict": url in strict, "wide": True}))


if __name__ == "__main__":
    main()
