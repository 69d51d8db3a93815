# SPDX-License-Identifier: Apache-2.0
"""Writes results as a folder of Parquet files, which pyarrow and pandas read as one table.
New results go to a journal of JSON lines in the folder. Whenever it has PART of them they become one file, which appears
complete; then the journal is emptied. If a run is killed in between, the next run finds results in both, and uses the file's.
"""

from __future__ import annotations

import importlib
import os
import re
import stat
from pathlib import Path
from typing import Any

from ._common import Failure, Record, printable
from ._files import resolve
from ._output import JsonLines, failing

PART = 10000
JOURNAL = "_journal.jsonl"  # Parquet readers ignore files with an underscore


def _pyarrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise Failure(
            "Parquet needs the package pyarrow: pip install pyarrow, or name an --out that ends in .jsonl"
        ) from None


def _schema(arrow: Any) -> Any:
    word = arrow.struct(
        [
            ("word", arrow.string()),
            ("start_s", arrow.float64()),
            ("end_s", arrow.float64()),
            ("confidence", arrow.float64()),
        ]
    )
    alternative = [
        ("text", arrow.string()),
        ("graph_cost", arrow.float64()),
        ("acoustic_cost", arrow.float64()),
        ("words", arrow.list_(word)),
    ]
    return arrow.schema(
        [
            ("id", arrow.string()),
            ("file", arrow.string()),
            ("error", arrow.string()),
            ("audio_s", arrow.float64()),
            *alternative,
            ("reached_final", arrow.bool_()),
            ("beam_died", arrow.bool_()),
            ("out_of_grammar", arrow.float64()),
            ("rejected", arrow.bool_()),
            ("lattice_beam", arrow.float64()),
            ("flags", arrow.list_(arrow.string())),
            ("others", arrow.list_(arrow.struct(alternative))),
            ("warnings", arrow.list_(arrow.string())),
        ]
    )


class ParquetFolder:
    """A folder of Parquet files; see Output."""

    def __init__(self, folder: Path, retry_failed: bool) -> None:
        self._arrow, self._parquet = _pyarrow()
        self._schema = _schema(self._arrow)
        self._folder = folder
        try:
            outer, name = resolve(folder)
            try:
                self._held = outer.folder(name)
            finally:
                outer.close()
        except NotADirectoryError:
            raise Failure(
                f"{printable(str(folder))}: is a file; results in Parquet are a folder, so name another one"
            ) from None
        except OSError as error:
            raise failing(folder, error) from None
        self._journal = JsonLines(folder / JOURNAL, retry_failed, self._held)
        self.done: set[str] = set()
        self.n_failed = 0
        self._n_parts = 0
        names = self._held.names()
        for name in names:
            if re.fullmatch(r"part-\d{6,}\.partial", name):
                self._held.remove(name)
        for part in [folder / name for name in names if name.endswith(".parquet")]:
            if re.fullmatch(r"part-\d{6,}", part.stem) is None:
                raise Failure(f"{printable(str(part))}: is no result of senone.batch; name another output")
            self._read_part(part, retry_failed)
        self._new = [record for record in self._journal.records() if record["id"] not in self.done]
        self.done.update(record["id"] for record in self._new)
        self.n_failed += sum("error" in record for record in self._new)

    def write(self, record: Record) -> bool:
        """See Output."""
        if record["id"] in self.done:
            return False
        self._journal.write(record)
        self._new.append(record)
        self.done.add(record["id"])
        self.n_failed += "error" in record
        if len(self._new) >= PART:
            self._flush()
        return True

    def close(self) -> None:
        """See Output."""
        self._flush()
        self._journal.close()

    def _flush(self) -> None:
        """Converts the journal to a file."""
        if self._new:
            part = self._folder / f"part-{self._n_parts:06d}.parquet"
            self._write_part(part, self._arrow.Table.from_pylist(self._new, schema=self._schema))
            self._n_parts += 1
            self._new = []
        self._journal.clear()

    def _write_part(self, part: Path, table: Any) -> None:
        partial = part.with_suffix(".partial")
        try:
            with os.fdopen(self._held.create(partial.name, part.name), "wb") as file:
                self._parquet.write_table(table, file)
                file.flush()
                os.fsync(file.fileno())
            self._held.rename(partial.name, part.name)
        except OSError as error:
            self._held.remove(partial.name)
            raise failing(partial, error) from None

    def _read_table(self, part: Path, columns: list[str] | None = None) -> Any:
        with os.fdopen(self._held.open(part.name, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError("not a regular file")
            return self._parquet.read_table(file, columns=columns)

    def _read_part(self, part: Path, retry_failed: bool) -> None:
        """Reads the ids of an older file; with retry_failed, drops its errors."""
        try:
            table = self._read_table(part, ["id", "error"])
        except (OSError, ValueError) as error:
            raise Failure(
                f"{printable(str(part))}: is no result of senone.batch: {error}; name another output"
            ) from None
        self._n_parts = max(self._n_parts, int(part.stem.partition("-")[2]) + 1)
        failed = table["error"].is_valid().to_pylist()
        if retry_failed and any(failed):
            whole = self._read_table(part)
            self._write_part(part, whole.filter(self._arrow.array([not each for each in failed])))
        for name, is_failed in zip(table["id"].to_pylist(), failed):
            if not (retry_failed and is_failed):
                self.done.add(name)
                self.n_failed += is_failed
