"""Drives the pages in a real Chromium.

Usage: web.py read BASE FOLDER URL...   every view of a crawled web, at two widths and in two themes
       web.py live BASE FOLDER           a crawl that is running: it moves without the page being loaded again
       web.py act BASE FOLDER TOKEN URL every operator action, on an empty directory and a site at URL

Everything that goes wrong in the browser counts: console errors, failed requests, what axe finds, pages wider than
the window. Ends with a line of JSON; a failure is a sentence on standard error and exit code 1.
"""

import json
import os
import re
import sys
from urllib.parse import quote

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1440, "height": 900}


class Watched:
    """A browser context whose complaints are collected."""

    def __init__(self, browser, **options):
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(15_000)
        self.complaints = []
        self.page = self.context.new_page()
        self.watch(self.page)

    def watch(self, page):
        def said(message):
            if message.type in ("error", "warning"):
                self.complaints.append(f"{page.url}: {message.type}: {message.text}")

        page.on("console", said)
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))

        def failed(request):
            # A stream that ends because the page is left is no failure.
            if "/api/events" not in request.url and "ERR_ABORTED" not in (request.failure or ""):
                self.complaints.append(f"{request.url}: {request.failure}")

        page.on("requestfailed", failed)

    def close(self):
        self.context.close()


def check(condition, sentence):
    if not condition:
        raise AssertionError(sentence)


def looked_at(watched, base, path, status, found):
    page = watched.page
    # The stream of the crawl page never ends: the document is enough.
    answer = page.goto(base + path, wait_until="load")
    check(answer.status == status, f"{path}: status {answer.status}")
    check(page.locator("h1").count() == 1, f"{path}: {page.locator('h1').count()} h1")
    check(page.title().endswith("Argiope"), f"{path}: title {page.title()!r}")
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    check(wide <= 0, f"{path}: {wide} px wider than the window of {page.viewport_size['width']}")
    looked_at_here(page, path, found)


def looked_at_here(page, path, found):
    """What axe finds on the page as it is now."""
    results = Axe().run(page)
    for violation in results.response["violations"]:
        nodes = "; ".join(node["html"][:160] for node in violation["nodes"][:3])
        found.append(f"{path}: axe {violation['id']} ({violation['impact']}): {nodes}")


def views(urls):
    first, other = urls[0], urls[-1]
    named = quote(first, safe="")
    host = re.sub(r"^https?://([^/]+)/.*$", r"\1", first)
    name = quote(re.sub(r":\d+$", "", host), safe="")
    return [
        ("/", 200),
        ("/search?q=spider", 200),
        ("/search?q=spider&page=2", 200),
        ("/search?q=spider&sort=date", 200),
        ("/search?q=zzzzunknown", 200),
        ("/search?q=%22not+closed", 400),
        ("/search?q=", 200),
        (f"/page?url={named}", 200),
        (f"/page?url={quote(other, safe='')}", 200),
        (f"/page/text?url={named}", 200),
        (f"/page/diff?url={named}", 200),
        (f"/page/links?url={named}", 200),
        ("/page?url=http%3A%2F%2Fnowhere.example%2F", 404),
        ("/sites", 200),
        (f"/site?name={name}", 200),
        ("/site?name=nowhere.example", 404),
        ("/broken", 200),
        ("/top", 200),
        ("/top?by=rank", 200),
        ("/words", 200),
        ("/words?prefix=sp", 200),
        ("/word?w=spider", 200),
        ("/word?w=zzzzunknown", 200),
        ("/new", 200),
        ("/crawl", 200),
        ("/login", 200),
        ("/nothing-of-this-name", 404),
    ]


def read(browser, base, folder, urls):
    found, complaints, seen = [], [], 0
    for width, theme in [(PHONE, "light"), (DESK, "light"), (PHONE, "dark"), (DESK, "dark")]:
        watched = Watched(browser, viewport=width, color_scheme=theme)
        for path, status in views(urls):
            looked_at(watched, base, path, status, found)
            seen += 1
        # What the browser says of a page that is not there is no mistake of ours.
        complaints += [c for c in watched.complaints if "the server responded with a status of 40" not in c]
        watched.close()
    check(not found, "\n".join(sorted(set(found))))
    check(not complaints, "\n".join(sorted(set(complaints))))
    without_scripts(browser, base)
    with_keys(browser, base)
    pictures(browser, base, folder, urls)
    return {"views": seen}


def without_scripts(browser, base):
    """Searching, narrowing, paging, and reading a page with scripts off."""
    watched = Watched(browser, viewport=PHONE, java_script_enabled=False)
    page = watched.page
    page.goto(base + "/")
    page.get_by_role("searchbox").first.fill("spider")
    page.get_by_role("button", name="Search").first.click()
    check("q=spider" in page.url, f"not at the results: {page.url}")
    results = page.locator("ol.hits > li")
    check(results.count() == 10, f"{results.count()} results without scripts")
    first = results.first.get_by_role("link").first.inner_text()
    page.locator("a[rel=next]").first.click()
    check(page.locator("ol.hits > li").first.get_by_role("link").first.inner_text() != first, "the second page is the first")
    page.go_back()
    page.locator("ol.hits > li").first.get_by_role("link").first.click()
    check(page.url.startswith(base + "/page"), f"a result leads to {page.url}")
    page.get_by_role("link", name=re.compile("[Tt]ext")).first.click()
    check("/page/text" in page.url, f"the text is at {page.url}")
    check(len(page.locator("main").inner_text()) > 200, "there is no text")
    watched.close()


def with_keys(browser, base):
    """The keyboard: to the field, through suggestions, through results."""
    watched = Watched(browser, viewport=DESK)
    page = watched.page
    page.goto(base + "/search?q=web")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    field = page.locator("input[type=search]:focus")
    expect(field).to_have_count(1)
    field.fill("")
    page.keyboard.type("spid")
    options = page.get_by_role("option")
    expect(options.first).to_be_visible()
    page.keyboard.press("ArrowDown")
    chosen = page.locator("[role=option][aria-selected=true]").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/search\?.*q=spid"))
    check(chosen.split()[0] in page.url, f"the suggestion {chosen!r} leads to {page.url}")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/page\?"))
    check(not watched.complaints, "\n".join(watched.complaints))
    watched.close()


def pictures(browser, base, folder, urls):
    """The pictures of the README."""
    named = quote(urls[0], safe="")
    shots = [
        ("search", "/search?q=spider+web", "light"),
        ("page", f"/page?url={named}", "light"),
        ("diff", f"/page/diff?url={named}", "light"),
    ]
    for name, path, theme in shots:
        watched = Watched(browser, viewport={"width": 1200, "height": 800}, color_scheme=theme)
        watched.page.goto(base + path, wait_until="load")
        watched.page.wait_for_timeout(300)
        watched.page.screenshot(path=os.path.join(folder, f"{name}.png"))
        watched.close()


def live(browser, base, folder, rest):
    """The crawl page of a crawl that runs, and its picture."""
    watched = Watched(browser, viewport={"width": 1200, "height": 1000}, color_scheme="dark")
    page = watched.page
    page.goto(base + "/crawl")
    expect(page.locator("#newest tbody tr").first).to_be_visible(timeout=60_000)
    newest = page.locator("#newest tbody").inner_text()
    expect(page.locator("#newest tbody")).not_to_have_text(newest, timeout=30_000)
    fill = page.locator("svg.plot polyline").first.evaluate("line => getComputedStyle(line).fill")
    check(fill == "none", f"the lines of the plots are filled with {fill}")
    # The line of the speed has some points by then.
    page.wait_for_timeout(2_500)
    page.screenshot(path=os.path.join(folder, "crawl.png"))
    check(not watched.complaints, "\n".join(watched.complaints))
    watched.close()
    return {"live": True}


def goes_on(page):
    """Has a crawl go on that ended with its only job, where it did."""
    stop = page.get_by_role("button", name="Stop the crawl")
    go_on = page.get_by_role("button", name="Go on with what is open")
    expect(go_on.or_(stop).first).to_be_visible(timeout=30_000)
    if go_on.is_visible():
        go_on.click()
    expect(stop).to_be_visible(timeout=60_000)


def act(browser, base, folder, rest):
    """Everything an operator does, in the order of a first day."""
    token, url = rest
    watched = Watched(browser, viewport=DESK, color_scheme="dark")
    page, found = watched.page, []
    page.goto(base + "/crawl")
    check(page.locator("textarea").count() == 0, "a reader may start a crawl")
    page.goto(base + "/login")
    page.get_by_label("Token").fill("not the token")
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("h1")).to_have_text("Not allowed")
    page.goto(base + "/login")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Go on").click()
    page.wait_for_url(base + "/")

    page.goto(base + "/crawl")
    page.get_by_label("Start URLs").fill("ftp://example.org/")
    page.get_by_role("button", name="Start the crawl").click()
    expect(page.get_by_role("alert")).to_contain_text("ftp")
    page.get_by_label("Start URLs").fill(url)
    page.get_by_label("Delay between requests").fill("250ms")
    page.get_by_role("button", name="Start the crawl").click()
    expect(page.get_by_role("status").first).to_contain_text("running", timeout=60_000)
    stop = page.get_by_role("button", name="Stop the crawl")
    expect(stop).to_be_visible()
    # Without loading the page again, the numbers grow and pages come in.
    pages = page.locator("#numbers dd").first
    before = pages.inner_text()
    expect(pages).not_to_have_text(before, timeout=30_000)
    expect(page.locator("#newest tbody tr").first).to_be_visible(timeout=30_000)
    looked_at(watched, base, "/crawl", 200, found)
    page.set_viewport_size(PHONE)
    looked_at(watched, base, "/crawl", 200, found)
    page.set_viewport_size(DESK)

    page.get_by_role("button", name="Pause job 1").click()
    expect(page.get_by_role("status").first).to_contain_text("paused")
    expect(page.get_by_role("button", name="Resume job 1")).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Resume job 1").click()
    expect(page.get_by_role("status").first).to_contain_text("open again")
    goes_on(page)

    name = re.sub(r"^https?://([^:/]+).*$", r"\1", url)
    page.goto(f"{base}/site?name={name}")
    page.get_by_label("Delay between requests").fill("1s")
    page.get_by_role("button", name="Set it").click()
    expect(page.get_by_role("status").first).to_contain_text("1")
    looked_at(watched, base, f"/site?name={name}", 200, found)
    page.get_by_role("button", name=re.compile("Exclude")).first.click()
    expect(page.get_by_role("status").first).to_be_visible()
    page.goto(f"{base}/site?name={name}")
    page.get_by_role("button", name=re.compile("Ask again")).first.click()
    expect(page.get_by_role("status").first).to_be_visible()

    page.goto(base + "/crawl")
    goes_on(page)
    stop.click()
    expect(page.get_by_role("status").first).to_contain_text("ends in order")
    expect(page.locator("h1")).to_contain_text("Nothing is being crawled", timeout=60_000)
    page.get_by_role("button", name="Drop job 1").click()
    expect(page.locator("h1")).to_have_text("Drop job 1?")
    looked_at_here(page, "the question before dropping", found)
    page.get_by_role("button", name=re.compile("Drop")).first.click()
    expect(page.get_by_role("status").first).to_contain_text("dropped")

    page.goto(base + "/copy?url=" + quote(url, safe=""))
    expect(page.frame_locator("iframe").locator("body")).not_to_be_empty()
    looked_at_here(page, "/copy", found)
    page.get_by_role("button", name="Give the token back").click()
    page.goto(base + "/crawl")
    check(page.locator("textarea").count() == 0, "the token was not given back")
    check(not found, "\n".join(sorted(set(found))))
    complaints = [c for c in watched.complaints if "the server responded with a status of 40" not in c]
    check(not complaints, "\n".join(complaints))
    watched.close()
    return {"actions": 12}


def main():
    what, base, folder, *rest = sys.argv[1:]
    base = base.rstrip("/")
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        try:
            done = {"read": read, "live": live, "act": act}[what](browser, base, folder, rest)
        except AssertionError as failure:
            print(failure, file=sys.stderr)
            return 1
        finally:
            browser.close()
    print(json.dumps(done))
    return 0


if __name__ == "__main__":
    sys.exit(main())
