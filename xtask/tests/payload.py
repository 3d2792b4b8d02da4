"""Writes the stored payload of one URL: payload.py URL OUT WARC..., read with warcio."""

import shutil
import sys

from warcio.archiveiterator import ArchiveIterator


def main():
    url, out, *files = sys.argv[1:]
    for name in files:
        with open(name, "rb") as stream:
            for record in ArchiveIterator(stream):
                kind, target = record.rec_type, record.rec_headers.get_header("WARC-Target-URI")
                if kind == "response" and target == url:
                    with open(out, "wb") as payload:
                        shutil.copyfileobj(record.content_stream(), payload)
                    return
    sys.exit(f"no response record of {url}")


main()
