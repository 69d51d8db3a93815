# SPDX-License-Identifier: Apache-2.0
"""Reads recordings through libsndfile if it is installed: the system's, or the one in the package soundfile. Used by
_audio.py."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import io
import os
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_int64, c_void_p
from pathlib import Path
from typing import BinaryIO

SFM_READ = 0x10
_TYPE_MASK, _OGG = 0x0FFF0000, 0x00200000


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
    "sf_open_fd": (c_void_p, [c_int, c_int, POINTER(_Info), c_int]),
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

    def __init__(self, file: BinaryIO) -> None:
        """file: open for reading; it may also be a BytesIO."""
        self.damage = ""
        self._file: int | None = None
        self._memory: int | None = None  # a descriptor of a copy, since libsndfile reads descriptors
        library = _library()
        if library is None:
            raise Missing
        self._library = library
        info = _Info()
        # A copy, which libsndfile owns: a failed sf_open_fd may close the descriptor although it should not.
        self._file = library.sf_open_fd(os.dup(self._descriptor(file)), SFM_READ, byref(info), 1)
        if not self._file:
            self.close()
            raise Damaged(self._error())
        self.rate = int(info.samplerate)
        self.n_channels = int(info.channels)
        self.n_samples = int(info.frames)  # of each channel; beyond 2^62: unknown
        self.is_ogg = info.format & _TYPE_MASK == _OGG

    def _descriptor(self, file: BinaryIO) -> int:
        file.seek(0)
        if not isinstance(file, io.BytesIO):
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            return file.fileno()
        self._memory = os.memfd_create("recording")
        with os.fdopen(os.dup(self._memory), "wb") as copy:
            copy.write(file.getbuffer())
        os.lseek(self._memory, 0, os.SEEK_SET)
        return self._memory

    def read(self, n: int) -> bytes:
        """Reads the next n samples of each channel, interleaved float32, full scale -1..1; fewer only at the end. After damage,
        where libsndfile ends, `damage` says what it is."""
        samples = (c_float * (n * self.n_channels))()
        n_read = max(0, self._library.sf_readf_float(self._file, samples, n))
        if self._library.sf_error(self._file) != 0:
            self.damage = self._error()
        return bytes(memoryview(samples).cast("B")[: 4 * n_read * self.n_channels])

    def close(self) -> None:
        """Closes the file. May be called again."""
        if self._file:
            self._library.sf_close(self._file)
        self._file = None
        if self._memory is not None:
            os.close(self._memory)
        self._memory = None

    def __del__(self) -> None:
        self.close()

    def _error(self) -> str:
        text = (self._library.sf_strerror(self._file) or b"").decode("utf-8", "replace").strip(" .\n")
        return text[len("Error : ") :] if text.startswith("Error : ") else text
