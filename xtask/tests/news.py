"""Drives the pages of the news in a real Chromium, from an empty directory on.

Usage: news.py BASE FOLDER TOKEN HOSTS FRONT FRONT FRONT

HOSTS are names and addresses (`www.a.test=127.0.2.1,...`), FRONT the front pages of three made-up sites. Everything that goes
wrong in the browser counts, as in web.py. Ends with a line of JSON; a failure is a sentence on standard error and exit
code 1.
"""

import json
import os
import re
import sys
import time
from datetime import datetime, timedelta
from urllib.parse import quote

from playwright.sync_api import expect, sync_playwright

from web import DESK, FLAGS, PHONE, Watched, check, looked_at, looked_at_here

# A picture that is missing on purpose; what a browser says of it is no mistake of ours.
EXPECTED = ("missing.svg", "the server responded with a status of 404")


class Reader:
    """Somebody with the token, at a window."""

    def __init__(self, browser, base, token, **options):
        self.base = base
        self.watched = Watched(browser, **options)
        self.page = self.watched.page
        if token:
            self.page.goto(f"{base}/news?token={token}")

    def go(self, path):
        self.page.goto(self.base + path)

    def said(self, words):
        expect(self.page.locator(".said").first).to_contain_text(words)

    def cards(self):
        return self.page.locator("article.story")

    def card(self, words):
        return self.page.locator("article.story", has_text=words)

    def button(self, name):
        return self.page.get_by_role("button", name=re.compile(name)).first

    def done(self):
        complaints = [c for c in self.watched.complaints if not any(known in c for known in EXPECTED)]
        check(not complaints, "\n".join(sorted(set(complaints))))
        self.watched.close()


def strangers(browser, base):
    """Without the token there is an explanation, and nothing to press."""
    reader = Reader(browser, base, None, viewport=DESK)
    reader.go("/news")
    expect(reader.page.locator("h1")).to_contain_text("News")
    check(reader.page.locator("main form[method=post]").count() == 0, "a stranger may follow a site")
    check(reader.page.get_by_role("link", name="bring it here").count() > 0, "nobody says how to follow a site")
    reader.done()


def begin(browser, base, token, fronts):
    """From nothing: a look, a site that is followed, and its news."""
    found = []
    reader = Reader(browser, base, token, viewport=DESK)
    page = reader.page
    for size in (DESK, PHONE):
        page.set_viewport_size(size)
        looked_at(reader.watched, base, "/news", 200, found)
    page.set_viewport_size(DESK)

    # A quick look, in place; nothing is stored.
    page.get_by_label("Any site").fill(fronts[0])
    page.get_by_role("button", name="Look").click()
    headlines = page.locator(".headline")
    expect(headlines).to_have_count(4, timeout=60_000)
    check(page.url == base + "/news", f"the look has led away: {page.url}")
    expect(page.locator("#looked")).to_contain_text("Nothing is stored")
    link = headlines.first.get_by_role("link")
    check(link.get_attribute("target") == "_blank", "a headline opens in place")
    looked_at_here(page, "the quick look in place", found)
    stored = page.request.get(base + "/api/news/overview").json()["rows"][0]
    check(stored["articles"] == 0 and stored["sites"] == [], f"a look was stored: {stored}")
    page.get_by_role("button", name="Follow this site").click()
    reader.said("harbour.test")
    check(page.url == base + "/news/sites", f"following leads to {page.url}")

    page.get_by_label("Its name, its front page, or a feed").fill("no site at all")
    reader.button("Follow it").click()
    expect(page.get_by_role("alert")).to_contain_text("not done")
    for front in fronts[1:]:
        page.get_by_label("Its name, its front page, or a feed").fill(front)
        reader.button("Follow it").click()
        reader.said(".test")
    expect(page.locator("table.arranged tbody tr")).to_have_count(3)

    # Followed, and nothing collected yet.
    looked_at(reader.watched, base, "/news", 200, found)
    reader.button("Collect now").click()
    expect(page.locator("main")).not_to_contain_text("That was not done")
    collected(reader, 9)
    check(not found, "\n".join(found))
    reader.done()


def collected(reader, least):
    """Waits until so many articles are there and nobody works any more."""
    end = time.time() + 240
    while time.time() < end:
        row = reader.page.request.get(reader.base + "/api/news/overview").json()["rows"][0]
        status = reader.page.request.get(reader.base + "/api/status").json()["rows"][0]
        if row["articles"] >= least and status["state"] == "idle":
            return
        time.sleep(1)
    raise AssertionError(f"only {row['articles']} articles were collected; the crawl is {status['state']}")


def again(browser, base, token):
    """A second round: an article that was written anew has two versions."""
    reader = Reader(browser, base, token, viewport=DESK)
    reader.go("/news/sites")
    reader.button("Collect the news of all").click()
    end = time.time() + 240
    rows = []
    while time.time() < end:
        rows = reader.page.request.get(base + "/api/news?q=ferry&articles=1").json()["rows"]
        if any(row["versions"] > 1 for row in rows):
            break
        time.sleep(1)
    check(any(row["versions"] > 1 for row in rows), f"no second version was found: {rows}")
    collected(reader, 9)
    reader.done()
    return next(row["story"] for row in rows if row["versions"] > 1)


def views(browser, base, token, fronts, bridge, ferry):
    """Every page, at two widths and in two themes."""
    paths = [
        ("/news", 200),
        ("/news?articles=1", 200),
        ("/news?q=bridge&unread=1", 200),
        ("/news?site=harbour.test&hidden=1", 200),
        ("/news?day=2001-01-01", 200),
        ("/news?day=soon", 200),
        (f"/news/story/{bridge}", 200),
        (f"/news/story/{ferry}", 200),
        ("/news/story/99999999", 404),
        ("/news/rules", 200),
        ("/news/sites", 200),
        ("/news/quick", 200),
        (f"/news/quick?site={quote(fronts[2], safe='')}", 200),
    ]
    found, seen = [], 0
    for size, theme in [(PHONE, "light"), (DESK, "light"), (PHONE, "dark"), (DESK, "dark")]:
        # A window on a story marks it; here nothing is to change.
        reader = Reader(browser, base, token, viewport=size, color_scheme=theme)
        reader.page.route("**/news/read", lambda route: route.fulfill(status=204))
        for path, status in paths:
            looked_at(reader.watched, base, path, status, found)
            check(reader.page.title() != "broken", f"{path}: a title was believed")
            check(reader.page.locator("img[src=x]").count() == 0, f"{path}: a title became markup")
            seen += 1
        reader.done()
    check(not found, "\n".join(sorted(set(found))))
    return seen


def read(browser, base, token):
    """Read marks: by a button, by opening, for all, and back."""
    reader = Reader(browser, base, token, viewport=DESK)
    page = reader.page

    def unread():
        return page.request.get(base + "/api/news/overview").json()["rows"][0]["unread"]

    reader.go("/news")
    before = unread()
    card = reader.card("Museum shows forty maps")
    expect(card).to_have_class(re.compile("unread"))
    card.get_by_role("button", name=re.compile("Mark as read")).click()
    expect(card).not_to_have_class(re.compile("unread"))
    wait_for(lambda: unread() == before - 1, "a mark by a button")
    card.get_by_role("button", name=re.compile("Mark as unread")).click()
    expect(card).to_have_class(re.compile("unread"))
    wait_for(lambda: unread() == before, "a mark that was taken back")

    # The source opens in a window of its own, and that marks it.
    with page.expect_popup() as popup:
        card.locator("a[data-out]").first.click()
    popup.value.close()
    expect(card).not_to_have_class(re.compile("unread"))
    wait_for(lambda: unread() == before - 1, "a mark by opening")

    # Keys: to a card, mark it, open it; a story that was opened is read.
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    first = reader.cards().first
    expect(first).to_have_class(re.compile("unread"))
    page.keyboard.press("m")
    expect(first).not_to_have_class(re.compile("unread"))
    page.keyboard.press("m")
    expect(first).to_have_class(re.compile("unread"))
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("o")
    page.wait_for_url(re.compile(r"/news/story/\d+"))
    wait_for(lambda: unread() < before - 1, "a mark by opening a story")
    page.go_back()
    expect(reader.cards().first).not_to_have_class(re.compile("unread"))
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    expect(page.locator("#news-q:focus")).to_have_count(1)

    # All of a view, and back.
    reader.go("/news?site=kurier.test")
    rest = unread()
    reader.button("Mark all as read").click()
    reader.said("now read")
    check(page.url == base + "/news?site=kurier.test", f"marking leads to {page.url}")
    check(0 < unread() < rest, f"{unread()} of {rest} are unread")
    reader.button("Undo").click()
    reader.said("unread again")
    check(unread() == rest, f"{unread()} of {rest} are unread after the undoing")
    reader.done()


def wait_for(condition, what):
    end = time.time() + 15
    while not condition():
        check(time.time() < end, f"{what} never came about")
        time.sleep(0.1)


def narrowed(browser, base, token):
    """Filters combine, stand in the address, and are taken away one by one."""
    reader = Reader(browser, base, token, viewport=DESK)
    page = reader.page
    reader.go("/news")
    all_of_them = reader.cards().count()
    check(reader.card("Second bridge").locator(".sources").inner_text().startswith("2 articles from 2 sources"),
          "the story of two sources is not one")
    side = page.locator(".side")
    side.get_by_role("link", name="Harbour Post").click()
    page.wait_for_url(base + "/news?site=harbour.test")
    check(0 < reader.cards().count() < all_of_them, "a site narrows nothing")
    page.get_by_label("Search the news").fill("bridge")
    page.locator("main form[role=search]").get_by_role("button").click()
    page.wait_for_url(re.compile("site=harbour.test.*q=bridge|q=bridge.*site=harbour.test"))
    expect(reader.cards()).to_have_count(1)
    check(page.locator("link[type='application/atom+xml']").get_attribute("href").count("q=bridge") == 1, "no feed of the view")

    # Saved, found again, and gone.
    page.locator("summary", has_text="Save this view").click()
    page.get_by_label("Name", exact=True).fill("Bridges & more")
    page.get_by_role("button", name="Save", exact=True).click()
    reader.said("saved as “Bridges & more”")
    expect(page.locator("h1")).to_contain_text("Bridges & more")
    page.locator(".stories .chips a.chip", has_text="Harbour Post").click()
    check(page.url.endswith("/news?q=bridge"), f"a chip leads to {page.url}")
    side.get_by_role("link", name="Bridges & more").click()
    expect(page.locator("h1")).to_contain_text("Bridges & more")
    reader.go("/news/rules")
    page.get_by_role("button", name="Remove the view").click()
    reader.said("is gone")
    reader.button("Undo").click()
    reader.said("is back")
    expect(page.get_by_role("link", name="Bridges & more").first).to_be_visible()
    reader.done()


def rules(browser, base, token):
    """Words that hide, keep and alert."""
    reader = Reader(browser, base, token, viewport=DESK)
    page = reader.page
    for action, words in [("hide", "horoscope"), ("keep", "museum"), ("alert", '"winter timetable"')]:
        reader.go("/news/rules")
        page.get_by_label("News with these words").select_option(action)
        page.get_by_label("Words", exact=True).fill(words)
        reader.button("Add the rule").click()
        reader.said(words)
    reader.go("/news")
    expect(reader.card("horoscope for the week")).to_have_count(0)
    expect(reader.card("Museum shows").locator(".badge", has_text="kept")).to_have_count(1)
    expect(reader.card("Ferry to the islands").locator(".badge", has_text="alert")).to_have_count(1)
    expect(reader.card("Ferry to the islands").locator(".badge", has_text="updated")).to_have_count(1)
    page.locator(".side").get_by_role("link", name="Alerts").click()
    expect(reader.cards()).to_have_count(1)
    reader.go("/news?hidden=1")
    expect(reader.card("horoscope for the week").locator(".badge", has_text="hidden")).to_have_count(1)
    reader.go("/news?kept=1")
    expect(reader.cards()).to_have_count(1)
    reader.go("/news/rules")
    page.get_by_role("button", name="Remove the rule horoscope").click()
    reader.said("is gone")
    reader.go("/news")
    expect(reader.card("horoscope for the week")).to_have_count(1)
    reader.button("Undo").click()
    reader.said("is back")
    expect(reader.card("horoscope for the week")).to_have_count(0)
    reader.done()


def story(browser, base, token, bridge, ferry):
    """A story of two sources; and one that was written anew, with what changed."""
    reader = Reader(browser, base, token, viewport=DESK)
    page = reader.page
    reader.go(f"/news/story/{bridge}")
    expect(page.locator("article.of-story")).to_have_count(2)
    expect(page.locator("main")).to_contain_text("Valley Gazette")
    reader.go(f"/news/story/{ferry}")
    expect(page.locator("section.versions h3").first).to_contain_text("2 versions")
    diff = page.locator(".diff")
    expect(diff.locator("ins", has_text="ninety").first).to_be_visible()
    expect(diff.locator("del", has_text="two hours").first).to_be_visible()
    page.locator("section.versions").get_by_role("link", name="what changed on the page").first.click()
    check("/page/diff" in page.url, f"what changed is at {page.url}")
    reader.done()
    # By the clock of the reader, half an hour off the full hour; in UTC without scripts.
    told = {}
    for zone, scripts in (("Asia/Kolkata", True), ("UTC", True), ("UTC", False)):
        reader = Reader(browser, base, token, viewport=DESK, timezone_id=zone, java_script_enabled=scripts)
        reader.go(f"/news/story/{ferry}")
        published = reader.page.locator("dl.facts time").first
        told[zone, scripts] = published.text_content()
        reader.done()
    there, utc, plain = (told[key] for key in told)
    check(plain == f"{utc} UTC", f"published {plain}, by the clock {utc}")
    moved = datetime.fromisoformat(there) - datetime.fromisoformat(utc)
    check(moved == timedelta(hours=5, minutes=30), f"published {utc} in UTC, {there} in India")


def sites(browser, base, token, folder):
    """A list out, a site less and back, a list in."""
    reader = Reader(browser, base, token, viewport=DESK)
    page = reader.page
    reader.go("/news/sites")
    with page.expect_download() as download:
        page.get_by_role("link", name="All of them as OPML").click()
    file = os.path.join(folder, "sites.opml")
    download.value.save_as(file)
    with open(file, encoding="utf-8") as opml:
        text = opml.read()
    check(all(name in text for name in ("harbour.test", "valley.test", "kurier.test")), f"the list: {text}")
    rows = page.locator("table.arranged tbody tr")
    page.get_by_role("button", name="No longer follow Valley Gazette").click()
    reader.said("valley.test")
    expect(rows).to_have_count(2)
    reader.button("Undo").click()
    reader.said("valley.test")
    expect(rows).to_have_count(3)
    page.get_by_role("button", name="No longer follow Valley Gazette").click()
    expect(rows).to_have_count(2)
    page.get_by_label("An OPML file").set_input_files(file)
    reader.button("Follow its sites").click()
    expect(rows).to_have_count(3)
    broken = os.path.join(folder, "broken.opml")
    with open(broken, "w", encoding="utf-8") as opml:
        opml.write("this is no list")
    page.get_by_label("An OPML file").set_input_files(broken)
    reader.button("Follow its sites").click()
    expect(page.locator(".said")).to_be_visible()
    expect(rows).to_have_count(3)
    os.remove(file)
    os.remove(broken)
    reader.done()


def without_scripts(browser, base, token, fronts):
    """The same walk with scripts off: look, narrow, read, mark, back."""
    reader = Reader(browser, base, token, viewport=PHONE, java_script_enabled=False)
    page = reader.page
    reader.go("/news")
    page.get_by_label("Any site").fill(fronts[1])
    page.get_by_role("button", name="Look").click()
    check("/news/quick?site=" in page.url, f"the look is at {page.url}")
    check(page.locator(".headline").count() == 3, "the look finds no headlines")
    reader.go("/news")
    page.locator("summary", has_text="Sites, subjects, days").click()
    page.locator(".side").get_by_role("link", name="Kurier am Fluss").click()
    check(page.url.endswith("/news?site=kurier.test"), f"narrowed at {page.url}")
    card = reader.card("Schachverein")
    card.get_by_role("button", name=re.compile("Mark as read")).click()
    check("/news?site=kurier.test#story" in page.url, f"marking leads to {page.url}")
    check("unread" not in card.get_attribute("class"), "the mark is not shown")
    card.get_by_role("button", name=re.compile("Mark as unread")).click()
    check("unread" in card.get_attribute("class"), "the mark stays")
    card.get_by_role("link", name=re.compile("Schachverein")).first.click()
    check("/news/story/" in page.url, f"a story is at {page.url}")
    check(page.get_by_role("link", name="The page as text").count() == 1, "there is no text")
    check(page.locator(".reading p").first.is_visible(), "the article cannot be read here")
    reader.done()


def pictures(browser, base, token, folder, fronts, bridge, ferry):
    """The pictures of the README, and those to be looked at."""
    # What was said of the last action is no part of them.
    time.sleep(11)
    for name, path, size, theme in [
        ("news", "/news", {"width": 1200, "height": 1000}, "light"),
        ("story", f"/news/story/{ferry}", {"width": 1200, "height": 1000}, "light"),
        ("news-dark", "/news", {"width": 1200, "height": 1000}, "dark"),
        ("news-phone", "/news", PHONE, "light"),
        ("story-phone", f"/news/story/{ferry}", PHONE, "dark"),
        ("bridge", f"/news/story/{bridge}", DESK, "light"),
        ("rules", "/news/rules", DESK, "light"),
        ("rules-phone", "/news/rules", PHONE, "dark"),
        ("quick", "/news/quick?site=" + quote(fronts[0], safe=""), DESK, "dark"),
        ("sites", "/news/sites", DESK, "light"),
        ("sites-phone", "/news/sites", PHONE, "light"),
    ]:
        reader = Reader(browser, base, token, viewport=size, color_scheme=theme)
        reader.page.route("**/news/read", lambda route: route.fulfill(status=204))
        reader.go(path)
        reader.page.wait_for_timeout(500)
        reader.page.screenshot(path=os.path.join(folder, f"{name}.png"), full_page=name != "news")
        reader.watched.close()


def main():
    base, folder, token, hosts, *fronts = sys.argv[1:]
    base = base.rstrip("/")
    names = [pair.split("=") for pair in hosts.split(",")]
    rules_of_names = ", ".join(f"MAP {name} {address}" for name, address in names)
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    with sync_playwright() as playwright:
        flags = [*FLAGS, f"--host-resolver-rules={rules_of_names}"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        try:
            strangers(browser, base)
            begin(browser, base, token, fronts)
            ferry = again(browser, base, token)
            with_bridge = Reader(browser, base, None, viewport=DESK)
            bridge = with_bridge.page.request.get(base + "/api/news?q=bridge").json()["rows"][0]["story"]
            with_bridge.done()
            seen = views(browser, base, token, fronts, bridge, ferry)
            narrowed(browser, base, token)
            rules(browser, base, token)
            pictures(browser, base, token, folder, fronts, bridge, ferry)
            read(browser, base, token)
            story(browser, base, token, bridge, ferry)
            sites(browser, base, token, folder)
            without_scripts(browser, base, token, fronts)
        except AssertionError as failure:
            print(failure, file=sys.stderr)
            return 1
        finally:
            browser.close()
    print(json.dumps({"views": seen}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
