# SPDX-License-Identifier: Apache-2.0
"""Reads recordings through libsndfile if it is installed: the system's, or the one in the package soundfile. Used by
_audio.py."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from array import array
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_int64, c_void_p
from pathlib import Path

SFM_READ = 0x10


class _Info(ctypes.Structure):
    """SF_INFO of sndfile.h."""

    _fields_ = [
        ("frames", c_int64),
        ("samplerate", c_int),
        ("channels", c_int),
        ("format", c_int),
        ("sections", c_int),
        ("seekable", c_int),
    ]


_FUNCTIONS = {
    "sf_open": (c_void_p, [c_char_p, c_int, POINTER(_Info)]),
    "sf_readf_float": (c_int64, [c_void_p, POINTER(c_float), c_int64]),
    "sf_error": (c_int, [c_void_p]),
    "sf_strerror": (c_char_p, [c_void_p]),
    "sf_close": (c_int, [c_void_p]),
}


def _candidates() -> Iterator[str]:
    yield "libsndfile.so.1"
    package = importlib.util.find_spec("_soundfile_data")
    for folder in (package.submodule_search_locations or []) if package is not None else []:
        yield from map(str, sorted(Path(folder).glob("libsndfile*.so*")))


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL | None:
    for name in _candidates():
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        for function, (result, parameters) in _FUNCTIONS.items():
            getattr(library, function).restype = result
            getattr(library, function).argtypes = parameters
        return library
    return None


class Missing(Exception):
    """libsndfile is not installed."""


class Damaged(Exception):
    """The file is unreadable, with the reason."""


class SoundFile:
    """An open recording of any format that libsndfile knows. Raises Missing, Damaged."""

    def __init__(self, path: os.PathLike[str]) -> None:
        self._file: int | None = None
        library = _library()
        if library is None:
            raise Missing
        self._library = library
        info = _Info()
        self._file = library.sf_open(os.fsencode(path), SFM_READ, byref(info))
        if not self._file:
            raise Damaged(self._error())
        self.rate = int(info.samplerate)
        self.n_channels = int(info.channels)

    def read(self, n: int) -> array[float]:
        """Reads the next n samples of each channel, interleaved, full scale -1..1; fewer only at the end."""
        samples = (c_float * (n * self.n_channels))()
        n_read = self._library.sf_readf_float(self._file, samples, n)
        if self._library.sf_error(self._file) != 0:
            raise Damaged(self._error())
        piece = array("f")
        piece.frombytes(memoryview(samples).cast("B")[: 4 * n_read * self.n_channels])
        return piece

    def close(self) -> None:
        """Closes the file. May be called again."""
        if self._file:
            self._library.sf_close(self._file)
        self._file = None

    def __del__(self) -> None:
        self.close()

    def _error(self) -> str:
        return (self._library.sf_strerror(self._file) or b"").decode("utf-8", "replace").strip()
