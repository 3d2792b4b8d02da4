"""Asks a served directory as programs do, and holds its answers against what others expect.

    web_api.py answers BASE TOKEN URL WORD   every path with values that mean something, against the description
    web_api.py archive BASE URL CDXJ         pywb and a Memento client read the archive protocols
    web_api.py paging BASE HOST              pieces are the whole, and cursors belong to their request
    web_api.py live BASE HOST                pieces stay put while a crawl adds pages

Prints one JSON row at the end. Shares nothing with the program.
"""

import json
import re
import sys
import time
import xml.etree.ElementTree as tree
from datetime import datetime

import requests


def fail(why):
    sys.exit(f"{sys.argv[1]}: {why}")


def same(got, wanted, what):
    if got != wanted:
        fail(f"{what}: {str(got)[:600]}\n  is not  {str(wanted)[:600]}")


def get(base, path, status=200, **query):
    answer = requests.get(base + path, params=query, timeout=30)
    if answer.status_code != status:
        fail(f"{answer.url}: {answer.status_code}, not {status}: {answer.text[:300]}")
    return answer


def answers(base, token, url, word):
    import schemathesis

    schema = schemathesis.openapi.from_url(base + "/api/openapi.json")
    head = {"Authorization": f"Bearer {token}"}
    site = url.split("/")[2].split(":")[0]
    one = {"url": url}
    asked = [
        ("/api/search", {"q": word, "facets": "true", "explain": "true", "limit": 5}),
        ("/api/search", {"q": word, "at": "2100-01-01", "sort": "date"}),
        ("/api/suggest", {"q": word[:3]}),
        ("/api/doc", one), ("/api/history", one), ("/api/text", one), ("/api/diff", one),
        ("/api/links", one), ("/api/links/out", one), ("/api/near", one), ("/api/explain", one),
        ("/api/around", one), ("/api/doc/words", one), ("/api/span", {}), ("/api/word", {"w": word, "top": "true"}),
        ("/api/explain", {"url": "http://nowhere.test/"}),
        ("/api/sites", {}), ("/api/site", {"name": site}), ("/api/jobs", {}), ("/api/status", {}),
        ("/api/words", {"prefix": word[:2]}), ("/api/words", {"top": "true"}), ("/api/word", {"w": word}),
        ("/api/top", {}), ("/api/top", {"by": "sites", "all": "true"}), ("/api/top", {"by": "rank"}),
        ("/api/top", {"by": "harmonic"}), ("/api/top", {"by": "rank", "of": "sites"}),
        ("/api/broken", {}), ("/api/feed", {}), ("/api/feed", {"target": site}),
        ("/api/openapi.json", {}),
        ("/cdx", one), ("/cdx", {**one, "output": "json", "matchType": "host"}), ("/cdx", {**one, "output": "link"}),
        ("/metrics", {}), ("/healthz", {}), ("/readyz", {}), ("/opensearch.xml", {}),
        ("/feed.atom", {}), ("/feed.atom", {"q": word}),
    ]
    for path, query in asked:
        answer = schema[path]["GET"].Case(query=query).call_and_validate()
        same(answer.status_code, 200, f"{path} {query}")
        if path.startswith("/api/") and "rows" in answer.json() and path not in ("/api/near", "/api/broken"):
            if not answer.json()["rows"]:
                fail(f"{path} {query} has no rows")
    for path in ("/timemap/link/", "/timemap/json/"):
        answer = schema[path + "{url}"]["GET"].Case(path_parameters={"url": url}).call_and_validate()
        same(answer.status_code, 200, path)
    posted = [
        ("/api/sites/exclude", {"name": "excluded.test"}), ("/api/sites/forgive", {"name": "excluded.test"}),
        ("/api/sites/delay", {"name": "slow.test", "delay": "5s"}), ("/api/sites/delay", {"name": "slow.test"}),
    ]
    for path, body in posted:
        answer = schema[path]["POST"].Case(body=body, headers=head, media_type="application/json")
        same(answer.call_and_validate().status_code, 200, path)
    for action in ("pause", "resume"):
        case = schema["/api/jobs/{id}/{action}"]["POST"].Case(
            path_parameters={"id": 1, "action": action}, headers=head)
        rows = case.call_and_validate().json()["rows"]
        same([row["job"] for row in rows], [1], action)
    described = tree.fromstring(get(base, "/opensearch.xml").content)
    templates = {u.get("type"): u.get("template") for u in described if u.tag.endswith("}Url")}
    for kind in ("application/x-suggestions+json", "application/atom+xml"):
        address = templates[kind].replace("{searchTerms}", word)
        same(get("", address).headers["content-type"].split(";")[0], kind, address)
    typed, completions = get(base, "/api/suggest", q="orb " + word[:3]).json()
    same((typed, f"orb {word}" in completions), ("orb " + word[:3], True), f"completions {completions}")
    refused(base, head)
    return {"asked": len(asked) + len(posted) + 4}


def refused(base, head):
    """What is wrong is said with the right status, as JSON."""
    tried = [
        ("GET", "/api/search", 400), ("GET", "/api/search?q=a&q=b", 400), ("GET", "/api/search?q=a&unknown=1", 400),
        ("GET", "/api/search?q=" + "a" * 501, 400), ("GET", "/api/search?q=a&limit=101", 400),
        ("GET", "/api/search?q=a&limit=-1", 400), ("GET", "/api/search?q=a&limit=99999999999999999999", 400),
        ("GET", "/api/search?q=%00", 400), ("GET", "/api/search?q=a&at=soon", 400),
        ("GET", "/api/words?cursor=AAAA", 400), ("GET", "/api/doc?url=http://nowhere.test/", 404),
        ("GET", "/api/nothing", 404), ("GET", "/api/site?name=nowhere.test", 404), ("DELETE", "/api/jobs", 405),
        ("GET", "/api/crawl", 405), ("GET", "/cdx", 400), ("GET", "/cdx?url=a.test&filter=~status:(", 400),
        ("GET", "/cdx?url=a.test&sort=closest", 400), ("GET", "/cdx?url=a.test&page=900&pageSize=900", 400), ("GET", "/timemap/link/http://nowhere.test/", 404),
    ]
    for method, path, status in tried:
        answer = requests.request(method, base + path, timeout=30)
        same((answer.status_code, answer.json()["status"]), (status, status), f"{method} {path}")
        if not answer.json()["error"]:
            fail(f"{path}: no sentence")
    acts = [
        ("/api/crawl", {"urls": ["file:///etc/passwd"]}), ("/api/crawl", {"urls": ["--allow-private"]}),
        ("/api/crawl", {"urls": "http://a.test/"}), ("/api/crawl", {"delay": "1s; rm"}),
        ("/api/crawl", {"urls": [], "allow_private": True}), ("/api/crawl", {"max_pages": 1.5}),
        ("/api/crawl", []), ("/api/sites/exclude", {}), ("/api/sites/exclude", {"name": 7}),
        ("/api/jobs/1/explode", None), ("/api/jobs/x/pause", None),
    ]
    for path, body in acts:
        without = requests.post(base + path, json=body, timeout=30)
        same(without.status_code, 401, f"{path} without the token")
        answer = requests.post(base + path, json=body, headers=head, timeout=30)
        same((answer.status_code, answer.json()["status"]), (400, 400), f"{path} {body}")
    unknown = requests.post(base + "/api/jobs/77/pause", headers=head, timeout=30)
    same(unknown.status_code, 404, "a job that is not there")
    form = requests.post(base + "/api/sites/exclude", data="name=x", headers=head, timeout=30)
    same(form.status_code in (400, 415), True, "a form in the place of JSON")
    # A browser: its cookie alone changes nothing, and with the field of our own forms it does.
    browser = requests.Session()
    token = head["Authorization"].split()[1]
    page = browser.get(base + "/", params={"token": token}, timeout=30)
    if token in page.url:
        fail("the token stays in the address")
    name = {"name": "excluded.test"}
    same(browser.post(base + "/api/sites/exclude", json=name, timeout=30).status_code, 403, "a cookie alone")
    field = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)[1]
    sent = browser.post(base + "/api/sites/exclude", json=name, headers={"x-argiope-csrf": field}, timeout=30)
    same(sent.status_code, 200, "a cookie and our own field")
    strange = requests.post(base + "/api/crawl/stop", headers={**head, "Origin": "http://evil.test"}, timeout=30)
    same(strange.status_code, 403, "from another origin")


def archive(base, url, exported):
    from memento_client import MementoClient
    from pywb.utils.memento import MementoUtils
    from pywb.warcserver.index.cdxops import process_cdx
    from pywb.warcserver.index.indexsource import FileIndexSource, RemoteIndexSource
    from pywb.warcserver.index.query import CDXQuery

    def theirs(params):
        """What pywb's own server would list from the exported index."""
        query = CDXQuery(dict(params))
        return [dict(row) for row in process_cdx(FileIndexSource(exported).load_index(query.params), query)]

    def key(row):
        return {name: row.get(name) for name in
                ("urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset", "filename")}

    host = "/".join(url.split("/")[:3]) + "/"
    first = theirs({"url": url})
    if len(first) < 2:
        fail(f"{url} has {len(first)} captures; two are needed")
    middle, last = first[0]["timestamp"], first[-1]["timestamp"]
    asked = [
        {"url": url}, {"url": url, "limit": "1"}, {"url": url, "sort": "reverse"},
        {"url": url, "sort": "reverse", "limit": "1"}, {"url": url, "closest": last, "sort": "closest"},
        {"url": url, "closest": middle, "sort": "closest", "limit": "1"}, {"url": url, "from": last},
        {"url": url, "to": middle}, {"url": url, "from": middle[:8], "to": last[:8]},
        {"url": host, "matchType": "host"}, {"url": host + "*"}, {"url": host, "matchType": "prefix", "limit": "9"},
        {"url": host, "matchType": "host", "filter": "=status:200"},
        {"url": host, "matchType": "host", "filter": "!=status:200"},
        {"url": host, "matchType": "host", "filter": "mime:html"},
        {"url": host, "matchType": "host", "filter": "!mime:html"},
        {"url": host, "matchType": "host", "filter": "~timestamp:20[0-9]{12}$"},
        {"url": host, "matchType": "host", "filter": "!~url:.*1.html"},
        {"url": "http://nowhere.test/"},
    ]
    rows = 0
    for params in asked:
        wanted = [key(row) for row in theirs(params)]
        rows += len(wanted)
        answer = get(base, "/cdx", output="json", **params)
        got = [key(json.loads(line)) for line in answer.text.splitlines()]
        same(got, wanted, f"/cdx {params}")
    # pywb's client, with the address it makes of a server's name, and with parameters of its own.
    remote = RemoteIndexSource.init_from_string(f"cdx+{base}/cdx")
    read = [key(row) for row in remote.load_index({"url": url, "closest": last})]
    same(read, [key(row) for row in theirs({"url": url, "closest": last, "sort": "closest"})], "RemoteIndexSource")
    plain = RemoteIndexSource(base + "/cdx?url={url}&output=cdxj", "{url}")
    same([key(row) for row in plain.load_index({"url": url})], [key(row) for row in first], "cdxj")
    # Of captures with the same content the first; of a day the first.
    digests = [json.loads(l)["digest"] for l in get(base, "/cdx", url=url, output="json", collapse="digest").text.splitlines()]
    wanted = [row["digest"] for n, row in enumerate(first) if n == 0 or row["digest"] != first[n - 1]["digest"]]
    same(digests, wanted, "collapse=digest")
    same(len(get(base, "/cdx", url=url, collapse="timestamp:4").text.splitlines()), 1, "collapse=timestamp:4")
    text = get(base, "/cdx", url=url, output="text", fl="timestamp,statuscode").text
    same(text.splitlines()[0].split()[0], first[0]["timestamp"], "fl")
    whole = len(theirs({"url": host, "matchType": "host"}))
    pages = int(get(base, "/cdx", url=host, matchType="host", showNumPages="true", pageSize=7).text)
    same(pages, -(-whole // 7), "showNumPages")
    together = []
    for page in range(pages):
        answer = get(base, "/cdx", url=host, matchType="host", page=page, pageSize=7)
        together += answer.text.splitlines()
    same(together, get(base, "/cdx", url=host, matchType="host").text.splitlines(), "pages")
    # Memento.
    timemap = get(base, "/timemap/link/" + url)
    same(timemap.headers["content-type"], "application/link-format", "the type of a TimeMap")
    links = MementoUtils.parse_links(timemap.text)
    times = {row["timestamp"] for row in first}
    mementos = {memento["url"].split("/")[4] for memento in links["mementos"]}
    same(mementos, times, "the versions of a TimeMap")
    same(links["original"]["url"], url, "the original of a TimeMap")
    listed = get(base, "/timemap/json/" + url).json()["mementos"]["list"]
    same(len(listed), len(links["mementos"]), "the versions of both TimeMaps")
    for stamp in (middle, last):
        client = MementoClient(timegate_uri=base + "/timegate/", check_native_timegate=False)
        info = client.get_memento_info(url, datetime.strptime(stamp, "%Y%m%d%H%M%S"))
        same(info["original_uri"], url, "the client's original")
        same(info["mementos"]["closest"]["uri"], [f"{base}/memento/{stamp}/{url}"], "the client's nearest version")
        for name, time_of in (("first", middle), ("last", last)):
            same(info["mementos"][name]["uri"], [f"{base}/memento/{time_of}/{url}"], f"the client's {name} version")
    gate = requests.get(base + "/timegate/" + url, allow_redirects=False, timeout=30)
    same((gate.status_code, gate.headers["vary"].lower()), (302, "accept-datetime"), "a TimeGate")
    wrong = requests.get(base + "/timegate/" + url, headers={"Accept-Datetime": "soon"}, timeout=30)
    same(wrong.status_code, 400, "a TimeGate that is asked for soon")
    return {"questions": len(asked), "rows": rows, "mementos": len(mementos)}


def pieces(base, path, pause=0.0, **query):
    """All rows of an answer in pieces, with their number."""
    rows, cursor, number = [], None, 0
    while True:
        body = get(base, path, **query, **({"cursor": cursor} if cursor else {})).json()
        rows += body["rows"]
        number, cursor = number + 1, body["next"]
        if not cursor:
            return rows, number
        if number > 5_000:
            fail(f"{path} does not end")
        time.sleep(pause)


def listing(base, host, pause=0.0, limit=7):
    """All captures of a host, followed by Link headers."""
    lines, address, number = [], f"{base}/cdx?url={host}&matchType=host&limit={limit}", 0
    while address:
        answer = requests.get(address, timeout=30)
        same(answer.status_code, 200, address)
        lines += answer.text.splitlines()
        address = answer.links.get("next", {}).get("url")
        number += 1
        time.sleep(pause)
    return lines, number


IDS = {
    "/api/words": lambda row: row["word"],
    "/api/word": lambda row: row["doc"],
    "/api/links": lambda row: (row["source"], row["words"], row["kind"]),
    "/api/sites": lambda row: row["host"],
    "/api/broken": lambda row: (row["url"], row["source"], row["words"]),
}


def paging(base, host):
    told = {}
    word = get(base, "/api/words", top="true", limit=1).json()["rows"][0]["word"]
    asked = [
        ("/api/words", {"prefix": ""}, 40), ("/api/word", {"w": word}, 3), ("/api/links", {"url": host}, 1),
        ("/api/broken", {}, 2), ("/api/sites", {}, 1), ("/api/search", {"q": word}, 4),
    ]
    for path, query, limit in asked:
        small, number = pieces(base, path, limit=limit, **query)
        large, few = pieces(base, path, limit=100, **query)
        name = IDS.get(path, lambda row: row["url"])
        same([name(row) for row in small], [name(row) for row in large], f"{path} in {number} pieces and in {few}")
        told[path] = [len(small), number]
        if number < 2 and path in ("/api/words", "/api/word", "/api/links"):
            fail(f"{path}: all in one piece")
    lines, number = listing(base, host)
    same(lines, listing(base, host, limit=5_000)[0], "/cdx")
    told["/cdx"] = [len(lines), number]
    cursor = get(base, "/api/words", limit=5).json()["next"]
    get(base, "/api/words", limit=5, cursor=cursor)
    for query in ({"limit": 6}, {"limit": 5, "prefix": "a"}):
        get(base, "/api/words", 400, cursor=cursor, **query)
    get(base, "/api/word", 400, w=word, cursor=cursor)
    for damaged in (cursor[:-1], "A" + cursor[1:], cursor + "AAAA", "%", "AAAA" * 20):
        get(base, "/api/words", 400, limit=5, cursor=damaged)
    return told


def live(base, host):
    def fetched():
        return get(base, "/api/status").json()["rows"][0]["fetched"]

    told = {}
    for what in ("/api/words", "/cdx"):
        begun = fetched()
        if what == "/cdx":
            before = listing(base, host, limit=5_000)[0]
            seen, number = listing(base, host, pause=0.02, limit=max(5, len(before) // 40))
        else:
            before = [row["word"] for row in pieces(base, what, limit=1000)[0]]
            rows, number = pieces(base, what, pause=0.02, limit=max(5, len(before) // 40))
            seen = [row["word"] for row in rows]
        came = fetched() - begun
        if came < 10:
            fail(f"{what}: only {came} pages came meanwhile")
        same(len(seen), len(set(seen)), f"{what}: rows told twice")
        lost = set(before) - set(seen)
        same(lost, set(), f"{what}: rows that were there and are not told")
        same(seen, sorted(seen, key=lambda text: text.encode()), f"{what}: the order")
        told[what] = {"before": len(before), "told": len(seen), "pieces": number, "pages_came": came}
    return told


acts = {"answers": answers, "archive": archive, "paging": paging, "live": live}
print(json.dumps(acts[sys.argv[1]](*sys.argv[2:])))
