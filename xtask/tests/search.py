"""Searches every file below a folder for words: as it lies, and in whatever gzip members and zstd
files it holds. Prints the number of words found, then one line for each: the word and its file."""

import pathlib
import shutil
import subprocess
import sys
import zlib

folder, words = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_bytes().split()


def members(data):
    """What begins as a gzip member and can be unpacked, at any byte."""
    at = data.find(b"\x1f\x8b\x08")
    while at >= 0:
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
        try:
            yield unpacker.decompress(data[at:])
        except zlib.error:
            pass
        at = data.find(b"\x1f\x8b\x08", at + 1)


def frames(path):
    if path.suffix == ".zst" and shutil.which("zstd"):
        yield subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout


found = set()
for path in sorted(folder.rglob("*")):
    if path.is_file() and path.name != "suffixes.dat":
        data = path.read_bytes()
        for part in [data, *members(data), *frames(path)]:
            found.update((word.decode(), str(path)) for word in words if word in part)
print(len({word for word, _ in found}))
for word, path in sorted(found):
    print(word, path)
