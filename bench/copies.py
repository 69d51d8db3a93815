#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""copies.py N PREFIX FILE... writes N copies of each FILE to PREFIX.copies.SUFFIX, one after the other. Files are Kaldi's
binary archives, or JSON lines of `senone recognize`. Every copy has ids of its own: copy 7 of "a" is "7-a"."""
import json
import sys


def ids_of(results):
    return [json.loads(line)["id"] for line in open(results, encoding="utf-8")]


# What stands before and after an id, by the file's suffix: JSON, matrices, and lattices, which are FSTs of OpenFst.
MARKS = {"json": (b'"id":"', b'"'), "ark": (b"", b" \0B"), "lat": (b"", b" \xd6\xfd\xb2\x7e")}


def renamed(data, ids, number, suffix):
    before, after = MARKS[suffix]
    for name in ids:
        old = before + name.encode() + after
        assert data.count(old) == 1, name
        data = data.replace(old, before + f"{number}-{name}".encode() + after)
    return data


def main():
    n, prefix, files = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    ids = ids_of(next(file for file in files if file.endswith(".json")))
    for file in files:
        data = open(file, "rb").read()
        suffix = file.rsplit(".", 1)[1]
        with open(f"{prefix}.copies.{suffix}", "wb") as copies:
            for number in range(n):
                copies.write(renamed(data, ids, number, suffix))


main()
