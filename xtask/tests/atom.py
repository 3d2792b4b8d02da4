"""Reads an Atom feed and holds it against RFC 4287; prints its entries as JSON rows.

Shares nothing with the program: the parser is the one of Python's library.
"""

import json
import re
import sys
import xml.etree.ElementTree as tree
from urllib.parse import urlsplit

ATOM = "{http://www.w3.org/2005/Atom}"
# RFC 3339, with the capital letters that RFC 4287 wants.
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def fail(why):
    sys.exit(f"{sys.argv[1]}: {why}")


def one(parent, name):
    found = parent.findall(ATOM + name)
    if len(found) != 1:
        fail(f"{parent.tag} has {len(found)} of {name}")
    return found[0]


def text(parent, name):
    element = one(parent, name)
    # type="text" is what holds without one: no child elements.
    if len(element) or element.get("type", "text") != "text":
        fail(f"{name} is no plain text")
    return element.text or ""


def iri(value):
    if not urlsplit(value).scheme or re.search(r"[\s<>\"]", value):
        fail(f"{value!r} is no address")
    return value


def date(parent):
    value = text(parent, "updated")
    if not DATE.fullmatch(value):
        fail(f"{value!r} is no date")
    return value


def links(parent, rel):
    found = [l for l in parent.findall(ATOM + "link") if l.get("rel", "alternate") == rel]
    return [iri(l.get("href") or fail("a link without href")) for l in found]


with open(sys.argv[1], "rb") as file:
    feed = tree.parse(file).getroot()
if feed.tag != ATOM + "feed":
    fail(f"it is no feed: {feed.tag}")
iri(text(feed, "id"))
if not text(feed, "title"):
    fail("no title")
updated = date(feed)
if len(links(feed, "alternate")) > 1 or len(links(feed, "self")) > 1:
    fail("too many links")
if not text(one(feed, "author"), "name"):
    fail("nobody is its author")
known = {"id", "title", "updated", "author", "link", "generator", "entry"}
for child in feed:
    if child.tag.removeprefix(ATOM) not in known:
        fail(f"{child.tag} is not known")
ids, times = set(), []
for entry in feed.findall(ATOM + "entry"):
    row = {
        "id": iri(text(entry, "id")),
        "title": text(entry, "title"),
        "time": date(entry),
        "url": links(entry, "alternate"),
        "news": one(entry, "category").get("term"),
        "summary": text(entry, "summary"),
        "self": links(feed, "self"),
    }
    if len(row["url"]) != 1:
        fail("an entry without content needs one link to its page")
    row["url"] = row["url"][0]
    if row["id"] in ids:
        fail(f"{row['id']} stands there twice")
    ids.add(row["id"])
    times.append(row["time"])
    print(json.dumps(row))
if times != sorted(times, reverse=True):
    fail("the newest is not the first")
if times and times[0] != updated:
    fail(f"the feed is of {updated} and its last entry of {times[0]}")
