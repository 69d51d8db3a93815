# SPDX-License-Identifier: Apache-2.0
"""Writes results to disk, once per recording: to a file of JSON lines, or a folder of Parquet files (_parquet.py).
A result is in the file as soon as `write` returns. A killed run leaves at most a truncated last line, which the next run
removes; the lock goes with the process.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import BinaryIO, Protocol

from ._common import Failure, Item, Record, UsageFailure, printable
from ._files import Folder, resolve

JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
SYNC_S = 10  # interval of syncs to disk, against a crash of the system
BEGIN = b'{"id": "'  # beginning of every line


class Output(Protocol):
    """The destination of results. done: ids of recordings with a result. n_failed: how many of these results are errors."""

    done: set[str]
    n_failed: int

    def write(self, record: Record) -> bool:
        """Writes a result. Returns False if the recording already has one, which stays. Raises Failure."""

    def close(self) -> None:
        """Flushes everything and closes the output."""


def open_output(name: str, retry_failed: bool) -> Output:
    """Begins an output or continues one. Raises Failure, for example when another run is writing there."""
    from ._parquet import ParquetFolder

    path = Path(name)
    if path.suffix == ".parquet":
        return ParquetFolder(path, retry_failed)
    if path.suffix not in JSON_SUFFIXES:
        raise UsageFailure(f"--out {printable(name)}: ends in no known format: .jsonl (JSON lines) or .parquet")
    return JsonLines(path, retry_failed)


def failing(path: Path, error: OSError) -> Failure:
    """Writing or reading failed."""
    return Failure(f"{printable(str(path))}: cannot be written: {error.strerror}")


def open_locked(folder: Folder, name: str, path: Path) -> int:
    """Returns a descriptor of the file of this name, locked against other runs. path: for messages. Raises Failure."""
    while True:
        try:
            file = folder.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            raise failing(path, error) from None
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise Failure(f"{printable(str(path))}: is a pipe or device; results need a file, to go on from")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file), folder.status(name)):
                return file
        except BlockingIOError:
            os.close(file)
            raise Failure(
                f"{printable(str(path))}: another run writes to it; wait for its end, or name another output"
            ) from None
        except FileNotFoundError:
            pass
        except OSError as error:  # a file system without locks
            os.close(file)
            raise failing(path, error) from None
        os.close(file)  # the file was replaced before it was locked


class JsonLines:
    """A file with one line per recording."""

    def __init__(self, path: Path, retry_failed: bool = False, folder: Folder | None = None) -> None:
        """folder: the file's, if it is held open already; close() closes it."""
        self.done: set[str] = set()
        self.n_failed = 0
        self._path = path
        try:
            self._folder, self._name = (folder, path.name) if folder is not None else resolve(path)
        except OSError as error:
            raise failing(path, error) from None
        self._file = open_locked(self._folder, self._name, path)
        self._synced_s = time.monotonic()
        try:
            if retry_failed:
                self._drop_failed()
            self._size = self._read_older()
        except OSError as error:
            raise failing(path, error) from None

    def write(self, record: Record) -> bool:
        """See Output."""
        if record["id"] in self.done:
            return False
        self._append(json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        self.done.add(record["id"])
        self.n_failed += "error" in record
        return True

    def close(self) -> None:
        """See Output."""
        try:
            if os.fstat(self._file).st_size == 0:  # empty: the run never began
                self._folder.remove(self._name)
            os.fsync(self._file)
        except OSError as error:
            raise failing(self._path, error) from None
        finally:
            os.close(self._file)
            self._folder.close()

    def records(self) -> list[Record]:
        """Returns the whole content."""
        with self._reader() as file:
            return [json.loads(line) for line in file]

    def clear(self) -> None:
        """Truncates it."""
        os.ftruncate(self._file, 0)
        self._size = self.n_failed = 0
        self.done.clear()

    def _append(self, line: bytes) -> None:
        try:
            for begin in range(0, len(line), 1 << 30):
                left = memoryview(line)[begin : begin + (1 << 30)]
                while left:
                    left = left[os.write(self._file, left) :]
            self._size += len(line)
            if time.monotonic() - self._synced_s > SYNC_S:
                os.fsync(self._file)
                self._synced_s = time.monotonic()
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise failing(self._path, error) from None

    def _read_older(self) -> int:
        """Reads the ids of an earlier run; returns the bytes to keep."""
        size = 0
        with self._reader() as file:
            begin = file.read(len(BEGIN))
            if begin != BEGIN[: len(begin)]:
                raise self._foreign()
            file.seek(0)
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    self._remove_cut_off(line, size)
                    break
                name, failed = self._id_of(line, number)
                self.done.add(name)
                self.n_failed += failed
                size += len(line)
        return size

    def _drop_failed(self) -> None:
        """Atomically replaces this file by one without the errors."""
        partial = self._name + ".partial"
        self._folder.remove(partial)
        replacement = self._folder.create(partial, self._name)
        try:
            fcntl.flock(replacement, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with self._reader() as old, os.fdopen(os.dup(replacement), "wb") as new:
                for number, line in enumerate(old, 1):
                    if not line.endswith(b"\n") or not self._id_of(line, number)[1]:
                        new.write(line)
                new.flush()
                os.fsync(new.fileno())
            self._folder.rename(partial, self._name)
        except BaseException:
            self._folder.remove(partial)
            os.close(replacement)
            raise
        os.close(self._file)
        self._file = replacement

    def _reader(self) -> BinaryIO:
        """Returns a file object that reads this file from its begin. Writing goes on at the end (O_APPEND)."""
        os.lseek(self._file, 0, os.SEEK_SET)
        return os.fdopen(os.dup(self._file), "rb")

    def _id_of(self, line: bytes, number: int) -> tuple[str, bool]:
        """Returns the id of a line and whether it is an error. Only the first two values are parsed: there may be millions of
        lines."""
        try:
            if not line.startswith(BEGIN) or not line.endswith(b"}\n"):
                raise ValueError
            text = line.decode()
            name, end = scanstring(text, len(BEGIN))
            _, end = scanstring(text, end + len(', "file": "'))
        except ValueError:
            raise self._foreign(number) from None
        return name, text.startswith(', "error": "', end)

    def _remove_cut_off(self, line: bytes, size: int) -> None:
        """Removes the last line, which a killed run was writing. Raises Failure if it may be something else."""
        if not line.startswith(BEGIN[: len(line)]):
            raise self._foreign()
        os.ftruncate(self._file, size)

    def _foreign(self, number: int = 1) -> Failure:
        return Failure(f"{printable(str(self._path))}: line {number} is no result of senone.batch; name another output")


class InOrder:
    """Holds results back until those of all earlier recordings are written."""

    def __init__(self, output: Output, items: list[Item]) -> None:
        self._output = output
        self._order = iter([item.number for item in items])
        self._next = next(self._order, None)
        self._held: dict[int, Record] = {}

    def write(self, number: int, record: Record) -> None:
        """Takes the result of a recording; call once per recording."""
        self._held[number] = record
        while self._next in self._held:
            assert self._next is not None
            self._output.write(self._held.pop(self._next))
            self._next = next(self._order, None)

    @property
    def n_held(self) -> int:
        """Number of results that wait for others."""
        return len(self._held)
