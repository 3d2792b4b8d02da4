"""Compares a replayed archive with the server it was taken from.

    python3 replay.py http://127.0.0.1:PORT/COLLECTION URLS

For every URL of the file: the replay must list it, answer with 200 and give the server's bytes.
Prints one line per problem and exits with 1 when there is any.
"""

import gzip
import json
import sys
import urllib.error
import urllib.parse
import urllib.request


def get(url):
    """Status and decoded body."""
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            body = answer.read()
            if answer.headers.get("Content-Encoding", "") == "gzip":
                body = gzip.decompress(body)
            return answer.status, body
    except urllib.error.HTTPError as error:
        return error.code, b""


def problems(base, url):
    """What is wrong with one URL."""
    query = urllib.parse.urlencode({"url": url, "output": "json"})
    _, listed = get(f"{base}/cdx?{query}")
    if not any(json.loads(line)["url"] == url for line in listed.splitlines() if line):
        yield "not listed"
    status, replayed = get(f"{base}/id_/{url}")
    _, original = get(url)
    if status != 200:
        yield f"replay answers {status}"
    elif replayed != original:
        yield f"replay gives {len(replayed)} bytes, the server {len(original)}"


def main():
    base, found = sys.argv[1], 0
    with open(sys.argv[2], encoding="utf-8") as urls:
        for url in urls.read().split():
            for problem in problems(base, url):
                print(f"{url}: {problem}")
                found += 1
    sys.exit(1 if found else 0)


main()
