# SPDX-License-Identifier: Apache-2.0
"""Lists the recordings to recognise, from folders, lists, manifests and names on the command line."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from ._common import Failure, Item, UsageFailure, as_text, is_name, printable

RECORDINGS = frozenset(
    ".wav .raw .flac .ogg .oga .opus .mp3 .sph .nist .aif .aiff .aifc .au .snd .caf .w64 .rf64".split()
)  # suffixes of files taken from folders
LISTS = frozenset((".txt", ".lst", ".list", ".scp"))
MANIFESTS = frozenset((".jsonl", ".ndjson"))
PACKED = frozenset((".gz", ".xz", ".bz2"))  # suffixes of lists and manifests after their own
PATH_KEYS = ("path", "file", "audio", "audio_filepath")

Named = tuple[str, str, str, str]  # id, path, origin of the name, fault: of Item


def read_items(inputs: Sequence[str], lists: Sequence[str], manifests: Sequence[str]) -> tuple[list[Item], int]:
    """Returns the recordings in the order of the input, and the number of duplicate names. Raises Failure: for a file that cannot
    be read, and for an id of two recordings. Lines that name no recording are Items with a fault."""
    items: list[Item] = []
    places: dict[str, tuple[str, str]] = {}
    n_again = 0
    for name, path, place, fault in _all(inputs, lists, manifests):
        known = places.get(name)
        if known is None:
            places[name] = (path, place)
            items.append(Item(len(items), name, path, fault))
        elif known[0] == path:
            n_again += 1
        else:
            raise Failure(
                f'{place}: the id "{name}" is that of {printable(known[0])} ({known[1]}); give each its own id'
            )
    if not items:
        raise UsageFailure("no recordings; name recordings, folders, lists (.txt) or manifests (.jsonl)")
    return items, n_again


def _all(inputs: Sequence[str], lists: Sequence[str], manifests: Sequence[str]) -> Iterator[Named]:
    for name in inputs:
        plain = Path(name)
        suffix = (plain.with_suffix("") if plain.suffix.lower() in PACKED else plain).suffix.lower()
        if os.path.isdir(name):
            yield from _folder(name)
        elif suffix in LISTS:
            yield from _list(name)
        elif suffix in MANIFESTS:
            yield from _manifest(name)
        else:
            yield as_text(name), name, "the command line", ""
    for name in lists:
        yield from _list(name)
    for name in manifests:
        yield from _manifest(name)


def _folder(folder: str) -> Iterator[Named]:
    """Yields the recordings in it and below, in the order of their paths."""

    def refuse(error: OSError) -> None:
        raise Failure(f"{printable(str(error.filename))}: cannot be read: {error.strerror}")

    n = 0
    for root, folders, files in os.walk(folder, onerror=refuse):
        folders.sort()
        for file in sorted(files):
            if os.path.splitext(file)[1].lower() in RECORDINGS:
                path = os.path.join(root, file)
                n += 1
                yield as_text(path), path, f"the folder {printable(folder)}", ""
    if n == 0:
        raise Failure(f"{printable(folder)}: no recordings ({', '.join(sorted(RECORDINGS))}) in this folder")


# Openers of packed lists by their first bytes.
PACKINGS = ((b"\x1f\x8b", gzip.open), (b"\xfd7zXZ\0", lzma.open), (b"BZh", bz2.open))


def _open_list(path: str) -> IO[str]:
    """Opens a list or manifest, packed or plain. Text in UTF-16 is refused, which would have no lines of a list."""
    with open(path, "rb") as file:
        begin = file.read(6)
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Failure(f"{printable(path)}: is text in UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE >NEW")
    opener: Any = next((opener for magic, opener in PACKINGS if begin.startswith(magic)), open)
    text: IO[str] = opener(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="\n")
    return text


def _lines(path: str) -> Iterator[tuple[str, str]]:
    """Yields non-empty lines with their positions."""
    try:
        with _open_list(path) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield line.strip("\r\n"), f"{printable(path)}: line {number}"
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise Failure(f"{printable(path)}: its packed data is damaged or ends too early: {error}; get it again") from None
    except OSError as error:
        raise Failure(f"{printable(path)}: cannot be read: {error.strerror or error}") from None


def _list(path: str) -> Iterator[Named]:
    """Parses lines `path [id]`, or `id path` of Kaldi's wav.scp. A path with blanks stands in double quotes, has a tab behind it
    or is the whole line; in wav.scp it is the rest of the line. '#' begins a comment line."""
    lines = [(line.strip(), place) for line, place in _lines(path) if not line.lstrip().startswith("#")]
    is_scp = path.lower().endswith(".scp") or _looks_like_scp([line for line, _ in lines])
    for line, place in lines:
        try:
            recording, name = _fields(line, is_scp or line.endswith("|"))
        except _BadLine as error:
            yield place, line, place, f"{place}: {error}"
        else:
            yield as_text(name or recording), recording, place, ""


class _BadLine(Exception):
    """A line that names no recording; the others of its file do."""


def _fields(line: str, is_scp: bool) -> tuple[str, str]:
    """Returns a line's path and id; "": none."""
    first, *rest = line.split(None, 1)
    if is_scp:
        if not rest:
            raise _BadLine("is not an id and a path, as wav.scp has them")
        return rest[0], first
    if line.startswith('"') and '"' in line[1:]:
        recording, _, name = line[1:].partition('"')
        fields = [recording, name.strip()]
    elif "\t" in line:
        fields = [field.strip() for field in line.split("\t")]
    elif rest and not os.path.exists(first) and os.path.exists(line):
        fields = [line, ""]
    else:
        fields = line.split()
    if _is_segment(fields):
        raise _BadLine("is a line of Kaldi's segments; parts of recordings are not read; cut them out into files")
    if _is_row_of_table(line) and not os.path.exists(fields[0]):
        raise _BadLine("is a row of a table with commas (CSV); make lines of `path [id]` of it")
    if len(fields) > 2 or not fields[0]:
        raise _BadLine("is not `path [id]`; put a path with blanks in double quotes, or a tab behind it")
    return fields[0], fields[1] if len(fields) > 1 else ""


def _is_segment(fields: Sequence[str]) -> bool:
    """Returns whether a line is "utterance recording begin end" of Kaldi's file `segments`."""
    try:
        return len(fields) == 4 and float(fields[2]) >= 0 and float(fields[3]) >= 0
    except ValueError:
        return False


def _is_row_of_table(line: str) -> bool:
    """Returns whether a line is one such as DeepSpeech's "wav_filename,wav_filesize,transcript"."""
    return line.startswith("path,") or any(part in line for part in (".wav,", ".flac,", ".mp3,", "filename,"))


def _looks_like_scp(lines: Sequence[str]) -> bool:
    """Returns whether the first line of two words is `id path`: names a file only with the second."""
    for line in lines:
        first, *rest = line.split(None, 1)
        if not rest or line.startswith('"'):
            continue
        return not os.path.exists(first) and not os.path.exists(line) and (line.endswith("|") or os.path.exists(rest[0]))
    return False


def _manifest(path: str) -> Iterator[Named]:
    """Parses JSON objects, one per line: the path under one of PATH_KEYS, and perhaps an id."""
    for line, place in _lines(path):
        try:
            recording, name = _named_in(line)
        except _BadLine as error:
            yield place, as_text(line[:200]), place, f"{place}: {error}"
        else:
            yield as_text(name), recording, place, ""


def _named_in(line: str) -> tuple[str, str]:
    """Returns the path and the id of a manifest's line."""
    try:
        value = json.loads(line)
    except ValueError as error:
        raise _BadLine(f"is no JSON object: {error}") from None
    except RecursionError:
        raise _BadLine("is no JSON object, but a deeply nested value") from None
    if not isinstance(value, dict):
        raise _BadLine("is no JSON object")
    recording = next((value[key] for key in PATH_KEYS if key in value), None)
    if not isinstance(recording, str) or not recording:
        raise _BadLine('names no recording; give it as "path"')
    if not is_name(recording) or "\0" in recording:
        raise _BadLine(f"{json.dumps(recording)} can be no file's name; correct it")
    offset = value.get("offset")
    if isinstance(offset, (int, float)) and offset > 0:
        raise _BadLine("asks for a part of a recording (NeMo's offset); parts are not read; cut them out into files")
    name = value.get("id", as_text(recording))
    if not isinstance(name, (str, int)) or name == "":
        raise _BadLine('"id" must be a string')
    return recording, str(name)
