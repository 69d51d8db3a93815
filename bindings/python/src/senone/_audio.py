# SPDX-License-Identifier: Apache-2.0
"""Reads recordings piece by piece or as arrays: WAV through the standard library, other formats through libsndfile
(_sndfile.py)."""

from __future__ import annotations

import ctypes
import logging
import os
import stat
import sys
import wave
from array import array
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Union

from ._errors import BadAudio, BadFile, InvalidArgument, IoFailure, NotFound
from ._numpy import has_numpy, numpy
from ._sndfile import Damaged, Missing, SoundFile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Samples = Union[npt.NDArray[np.int16], npt.NDArray[np.float32]]

logger = logging.getLogger("senone")

_PIECE = 16000  # samples of each channel


class Recording:
    """A recording that is read piece by piece, so that memory does not grow with its length.
    rate: samples per second. n_channels: interleaved in the pieces. input: type of the pieces, as a stream's setting: "int16"
    (bytes of 16-bit samples) or "float" (float32, full scale -1..1). audio_s: seconds read so far. warnings: sentences,
    complete after the last piece. A file ending in .raw holds 16-bit little-endian mono samples at raw_rate. Raises NotFound,
    IoFailure, BadFile, BadAudio.
    """

    def __init__(self, path: str | os.PathLike[str], raw_rate: int = 16000) -> None:
        self.path = Path(path)
        self.rate, self.n_channels, self.input = raw_rate, 1, "int16"
        self.warnings: list[str] = []
        self._n_samples = 0
        self._source = self._open(raw_rate)

    @property
    def audio_s(self) -> float:
        """Seconds read so far."""
        return self._n_samples / self.rate

    def __iter__(self) -> Iterator[Any]:
        """Yields pieces of up to a second at 16 kHz."""
        width = 2 if self.input == "int16" else 4  # bytes per sample in a piece
        while True:
            try:
                piece = self._read()
            except Damaged as error:
                raise BadFile(f"{self.path}: damaged audio: {error}") from None
            except OSError as error:
                raise IoFailure(f"{self.path}: cannot be read: {error.strerror}") from None
            n = memoryview(piece).nbytes // (width * self.n_channels)
            if n == 0:
                break
            self._n_samples += n
            yield piece
        self._check_length()

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._source.close()

    def _open(self, raw_rate: int) -> Any:
        _check_readable(self.path)
        try:
            if self.path.suffix.lower() == ".raw":
                return self.path.open("rb")
            return self._open_audio()
        except OSError as error:
            raise IoFailure(f"{self.path}: cannot be read: {error.strerror}") from None

    def _open_audio(self) -> Any:
        source = self._open_wave()
        if self.rate < 1:
            source.close()
            raise BadFile(f"{self.path}: says that it has {self.rate} samples a second; check how it was recorded")
        return source

    def _open_wave(self) -> Any:
        try:
            file = wave.open(str(self.path), "rb")
        except (wave.Error, EOFError) as error:
            return self._open_sound(f"is no WAV file of integer samples ({error})")
        width = file.getsampwidth()
        if width != 2 and not has_numpy():
            file.close()
            return self._open_sound(f"has samples of {8 * width} bits")
        if not 1 <= width <= 4:
            raise BadAudio(f"{self.path}: samples of {8 * width} bits; convert it to 16 bits")
        self.rate, self.n_channels, self.input = (
            file.getframerate(),
            file.getnchannels(),
            "int16" if width == 2 else "float",
        )
        return file

    def _open_sound(self, problem: str) -> Any:
        try:
            file = SoundFile(self.path)
        except Missing:
            raise BadFile(
                f"{self.path}: {problem}; other files than WAV of integers need libsndfile: pip install soundfile, or install "
                "the system's libsndfile1"
            ) from None
        except Damaged as error:
            raise BadFile(f"{self.path}: cannot be read: {error}") from None
        self.rate, self.n_channels, self.input = file.rate, file.n_channels, "float"
        return file

    def _read(self) -> Any:
        if isinstance(self._source, SoundFile):
            return self._source.read(_PIECE)
        if isinstance(self._source, wave.Wave_read):
            data, width = self._source.readframes(_PIECE), self._source.getsampwidth()
            data = data[: len(data) // (width * self.n_channels) * width * self.n_channels]
            return data if width == 2 else _from_pcm(data, width)
        data = self._source.read(2 * _PIECE)
        return _native(data[: len(data) // 2 * 2])

    def _check_length(self) -> None:
        if isinstance(self._source, wave.Wave_read) and self._n_samples < self._source.getnframes():
            n = self._source.getnframes()
            self.warnings.append(f"{self.path}: cut short: {self._n_samples} samples are there, its header says {n}")
        if self._n_samples == 0:
            raise BadAudio(f"{self.path}: no audio in it; check how it was recorded")


def read_audio(path: str | os.PathLike[str], raw_rate: int = 16000) -> tuple[Samples, int]:
    """Reads a recording: samples [n] or [n, channels], int16 or float32 of full scale -1..1, and their rate in Hz.

    A file ending in .raw holds 16-bit little-endian mono samples at raw_rate. Raises NotFound, IoFailure, BadFile, BadAudio.
    """
    np = numpy("arrays of samples")
    with Recording(path, raw_rate) as recording:
        data = b"".join(bytes(piece) if isinstance(piece, bytes) else piece.tobytes() for piece in recording)
        log_warnings(recording)
    samples = np.frombuffer(data, np.int16 if recording.input == "int16" else np.float32)
    return (samples if recording.n_channels == 1 else samples.reshape(-1, recording.n_channels)), recording.rate


def log_warnings(recording: Recording) -> None:
    """Logs the defects of a recording that can still be read."""
    for sentence in recording.warnings:
        logger.warning("%s", sentence)


def _check_readable(path: Path) -> None:
    try:
        status = path.stat()
    except FileNotFoundError:
        raise NotFound(f"{path}: does not exist") from None
    except OSError as error:
        raise IoFailure(f"{path}: cannot be read: {error.strerror}") from None
    if stat.S_ISDIR(status.st_mode):
        raise IoFailure(f"{path}: is a directory; name a recording")
    if not stat.S_ISREG(status.st_mode):  # opening it may block for ever
        raise IoFailure(f"{path}: is a pipe or device, not a file; name a recording")
    if status.st_size == 0:
        raise BadFile(f"{path}: is empty; check how it was recorded")


def _from_pcm(data: bytes, width: int) -> array[float]:
    """Converts integers of `width` bytes, 1 (unsigned), 3 or 4, to float32 of full scale -1..1."""
    np = numpy("samples that are not of 16 bits")
    if width == 1:
        samples = (np.frombuffer(data, np.uint8).astype(np.float32) - np.float32(128)) / np.float32(128)
    elif width == 3:
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        samples = (wide.view("<i4")[:, 0] / 2.0**31).astype(np.float32)
    else:
        samples = (np.frombuffer(data, "<i4") / 2.0**31).astype(np.float32)
    return array("f", samples.tobytes())


def _native(data: bytes) -> bytes:
    """Converts little-endian 16-bit samples to the machine's byte order."""
    if sys.byteorder == "little":
        return data
    samples = array("h", data)
    samples.byteswap()
    return samples.tobytes()


def as_audio(values: Any, n_channels: int, kind: str) -> tuple[Any, int, int]:
    """Returns the argument of `Stream.feed` as memory of samples of the type `kind` ("int16" or "float32"). That is its owner,
    its address and the number of samples per channel. int16 becomes float by 1/32768. Objects with the buffer protocol need no
    numpy: 16-bit samples, also as bytes in the machine's byte order, float32 or float64; their channels are interleaved. Raises
    InvalidArgument."""
    if not hasattr(values, "__array__"):
        try:
            view = memoryview(values)
        except TypeError:  # a list, or what else numpy takes
            pass
        else:
            return _of_buffer(values, view, n_channels, kind)
    np = numpy("arrays of samples")
    samples = np.asarray(values)
    if samples.dtype.type not in (np.int16, np.float32, np.float64):
        raise InvalidArgument(
            f"samples are {samples.dtype}; they must be int16, or float32 or float64 of full scale -1..1"
        )
    if kind == "int16" and samples.dtype.type is not np.int16:
        raise InvalidArgument(f'samples are {samples.dtype}; a stream with input="int16" takes int16')
    if samples.ndim == 1 and n_channels == 1:
        n = _n_samples(samples.shape[0], 1, n_channels)
    elif samples.ndim == 2 and samples.shape[1] == n_channels:
        n = samples.shape[0]
    else:
        shape = "[n]" if n_channels == 1 else f"[n, {n_channels}]"
        raise InvalidArgument(f"samples have the shape {list(samples.shape)}; n_channels={n_channels} needs {shape}")
    if kind == "float32" and samples.dtype.type is np.int16:
        samples = samples.astype(np.float32) / np.float32(32768)
    with np.errstate(over="ignore"):  # values beyond float32 become infinite, which is refused
        owner = np.ascontiguousarray(samples, dtype=kind)
    return owner, owner.ctypes.data, n


def _of_buffer(values: Any, view: memoryview, n_channels: int, kind: str) -> tuple[Any, int, int]:
    """`as_audio` of an object's memory."""
    code = view.format.lstrip("@=" + ("<" if sys.byteorder == "little" else ">"))
    if code in ("B", "b", "c"):
        code = "h"
        n = _n_samples(view.nbytes, 2, n_channels)
    elif code not in ("h", "f", "d"):
        raise InvalidArgument(
            f"the samples' memory has the format {view.format!r}; it must be bytes or h of 16-bit samples, f (float32) or d "
            "(float64) of full scale -1..1"
        )
    elif view.ndim == 1:
        n = _n_samples(len(view), 1, n_channels)
    elif view.ndim == 2 and view.shape is not None and view.shape[1] == n_channels:
        n = view.shape[0]
    else:
        shape = list(view.shape or ())
        raise InvalidArgument(f"samples have the shape {shape}; n_channels={n_channels} needs [n, {n_channels}]")
    if kind == "int16" and code != "h":
        raise InvalidArgument(f'samples have the format {code!r}; a stream with input="int16" takes 16-bit samples')
    if isinstance(values, array) and code == ("h" if kind == "int16" else "f"):
        return values, values.buffer_info()[0], n
    data = values if isinstance(values, bytes) else view.tobytes()
    if kind == "int16" or code == "f":
        return data, ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0, n
    if has_numpy():
        np = numpy("arrays of samples")
        floats = np.frombuffer(data, np.int16 if code == "h" else np.float64).astype(np.float32)
        if code == "h":
            floats /= np.float32(32768)
        return floats, floats.ctypes.data, n
    numbers = array(code, data)
    converted = array("f", (x / 32768 for x in numbers) if code == "h" else numbers)
    return converted, converted.buffer_info()[0], n


def _n_samples(n: int, n_each: int, n_channels: int) -> int:
    """Returns the samples per channel in n items, where n_each items make a sample."""
    if n % (n_each * n_channels) != 0:
        kind = "bytes" if n_each == 2 else "samples"
        raise InvalidArgument(f"{n} {kind} are no whole number of samples of {n_channels} channels")
    return n // (n_each * n_channels)


def as_rows(values: Any, row_length: int) -> tuple[npt.NDArray[Any], int]:
    """Returns rows [T, row_length] of features or log-likelihoods as C-contiguous float32, and T. Raises InvalidArgument."""
    np = numpy("rows")
    rows = np.asarray(values)
    if rows.dtype.kind not in "fiu":
        raise InvalidArgument(f"rows are {rows.dtype}; they must be numbers")
    if rows.ndim != 2 or rows.shape[1] != row_length:
        raise InvalidArgument(f"rows have the shape {list(rows.shape)}; this stream needs [T, {row_length}]")
    return np.ascontiguousarray(rows, dtype=np.float32), rows.shape[0]
