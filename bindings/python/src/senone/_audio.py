# SPDX-License-Identifier: Apache-2.0
"""Reads recordings piece by piece or as arrays: WAV, AU and samples without a header through the library (_decoder.py), other
formats through libsndfile (_sndfile.py)."""

from __future__ import annotations

import ctypes
import io
import logging
import os
import stat
import sys
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, Union

from ._decoder import ALL, MIX, Decoder, kind_of
from ._errors import BadAudio, BadFile, Error, InvalidArgument, IoFailure, NotFound, Unsupported
from ._numpy import has_numpy, numpy
from ._sndfile import Damaged, Missing, SoundFile

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Samples = Union[npt.NDArray[np.int16], npt.NDArray[np.float32]]

logger = logging.getLogger("senone")

_T = TypeVar("_T")

_PIECE = 16000  # samples of each channel
_BYTES = 1 << 16  # read from a file at a time


class Recording:
    """A recording that is read piece by piece, so that memory does not grow with its length.

    source: its path, or the bytes of the file. raw_format: "s16le", "s16be", "f32le", "mulaw" or "alaw": such samples without a
    header, whatever they look like; None: a file, or, if the name ends in .raw or bytes begin like no file, "s16le".
    raw_rate, raw_channels: of samples without a header. channel: the one to read, from 0, MIX or ALL.

    rate: samples per second. n_channels: of the recording. n_out_channels: interleaved in the pieces, which are float32 of full
    scale -1..1. has_header: False: samples without one. is_int16: True: of 16-bit integers. audio_s: seconds read so far.
    warnings: messages, complete after the last piece. Raises NotFound, IoFailure, BadFile, BadAudio, Unsupported,
    InvalidArgument.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | bytes,
        raw_rate: int = 16000,
        *,
        raw_format: str | None = None,
        raw_channels: int = 1,
        channel: int = MIX,
    ) -> None:
        self.warnings: list[str] = []
        self._n_samples = self._n_of_sound = 0
        self._sound: SoundFile | None = None
        self._ended = False
        self._channel = channel
        self._file: BinaryIO
        if isinstance(source, bytes):
            self._name, kind = "audio", "file_or_s16le"
            self._file = io.BytesIO(source)
            self._n_bytes = len(source)
        else:
            path = Path(source)
            _check_readable(path)
            self._name, kind = str(path), "file_or_s16le" if path.suffix.lower() == ".raw" else "file"
            try:
                self._file = path.open("rb")
                self._n_bytes = os.fstat(self._file.fileno()).st_size
            except OSError as error:
                raise IoFailure(f"{path}: cannot be read: {error.strerror}") from None
        self._decoder = self._named(lambda: Decoder(raw_format or kind, raw_rate, raw_channels, channel))
        try:
            self._read_header()
        except BaseException:
            self._close()
            raise

    @property
    def audio_s(self) -> float:
        """Seconds read so far."""
        return self._n_samples / self.rate

    @property
    def max_length_s(self) -> float:
        """At least the length of the recording, from what its header says and the bytes that it has."""
        if self._sound is not None:
            return self._sound.n_samples / self.rate
        info = self._decoder.info()
        return self._n_bytes * 8 / max(1, info.n_bits * info.n_channels) / self.rate

    def __iter__(self) -> Iterator[array[float]]:
        """Yields pieces of up to a second at 16 kHz."""
        while True:
            piece = self._decoder.read(_PIECE)
            self._warn()
            if len(piece) > 0:
                self._n_samples += len(piece) // self.n_out_channels
                yield piece
            elif self._ended:
                break
            else:
                self._read_more()
        if self._n_samples == 0:
            raise BadAudio(f"{self._name}: no audio in it; check how it was recorded")

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()

    def _read_header(self) -> None:
        try:
            while not (info := self._decoder.info()).is_known and not self._ended:
                self._read_more()
        except (BadFile, Unsupported) as error:
            if not self._decoder.info().is_other:
                raise
            self._open_sound(error)
            info = self._decoder.info()
        if self._sound is not None:
            self.rate, self.n_channels, self.has_header, self.is_int16 = (
                self._sound.rate,
                self._sound.n_channels,
                True,
                False,
            )
        else:
            self.rate, self.n_channels, self.has_header = max(1, info.rate), info.n_channels, info.has_header
            self.is_int16 = info.n_bits == 16 and not info.is_float
        self.n_out_channels = self.n_channels if self._channel == ALL else 1

    def _open_sound(self, refused: Error) -> None:
        """Reads the file through libsndfile, and what that has decoded through a decoder, for its channels."""
        try:
            self._sound = SoundFile(self._file)
        except Missing:
            raise type(refused)(
                f"{refused}; or install libsndfile, which reads it: pip install soundfile, or the system's libsndfile1"
            ) from None
        except Damaged as error:
            if not self._decoder.info().format_name:
                raise refused from None
            raise BadFile(f"{self._name}: cannot be read: {error}") from None
        if self._sound.rate < 1:
            raise BadFile(
                f"{self._name}: says that it has {self._sound.rate} samples a second; check how it was recorded"
            )
        if self._channel >= self._sound.n_channels:
            raise InvalidArgument(
                f"{self._name}: has {self._sound.n_channels} channels, of which number {self._channel} was asked for; they are "
                "numbered from 0"
            )
        sound, self._ended = self._sound, False
        self._decoder = self._named(lambda: Decoder("f32le", sound.rate, sound.n_channels, self._channel))

    def _read_more(self) -> None:
        try:
            data = self._file.read(_BYTES) if self._sound is None else self._read_sound(self._sound)
        except OSError as error:
            raise IoFailure(f"{self._name}: cannot be read: {error.strerror}") from None
        self._ended = len(data) == 0
        self._named(self._decoder.finish if self._ended else lambda: self._decoder.push(data))

    def _read_sound(self, sound: SoundFile) -> bytes:
        """Reads the next samples of libsndfile, which ends at the first damage, and says if they end too early."""
        data = b"" if sound.damage else sound.read(_PIECE)
        self._n_of_sound += len(data) // (4 * sound.n_channels)
        if len(data) > 0:
            return data
        heard_s, told_s = self._n_of_sound / sound.rate, sound.n_samples / sound.rate
        is_known = sound.n_samples < 1 << 62
        is_short = is_known and heard_s + 0.1 < told_s  # headers of MP3 may be some frames off
        if sound.damage and self._n_of_sound == 0:
            raise BadFile(f"{self._name}: damaged audio: {sound.damage}")
        if sound.damage:
            missing = f"is damaged or cut short at {heard_s:.3f} s" + (f" of {told_s:.3f} s" if is_short else "")
            missing += f", what follows is not heard: {sound.damage}; check how it was recorded and copied"
        elif is_short:
            missing = f"is cut short: it ends at {heard_s:.3f} s of the {told_s:.3f} s that its header tells of; check how it "
            missing += "was copied"
        elif sound.is_ogg and not is_known:
            missing = f"has no end of a stream, so that it may be cut short at {heard_s:.3f} s; check how it was recorded and "
            missing += "copied"
        else:
            return data
        self.warnings.append(f"{self._name}: {missing}")
        return data

    def _named(self, call: Callable[[], _T]) -> _T:
        """Calls the decoder, and begins its error messages with the name of the recording."""
        try:
            return call()
        except Error as error:
            raise type(error)(f"{self._name}: {error}") from None

    def _warn(self) -> None:
        self.warnings += [f"{self._name}: {message}" for message in self._decoder.warnings()]

    def _close(self) -> None:
        if self._sound is not None:
            self._sound.close()
        self._decoder.close()
        self._file.close()


def read_audio(source: str | os.PathLike[str] | bytes, raw_rate: int = 16000) -> tuple[Samples, int]:
    """Reads a recording: samples [n] or [n, channels], and their rate in Hz. Files of 16-bit integers have int16, others float32
    of full scale -1..1.

    source: its path, or the bytes of the file. A file ending in .raw, or bytes, that begin like no file hold 16-bit
    little-endian mono samples at raw_rate. Raises NotFound, IoFailure, BadFile, BadAudio, Unsupported.
    """
    np = numpy("arrays of samples")
    with Recording(source, raw_rate, channel=ALL) as recording:
        data = b"".join(piece.tobytes() for piece in recording)
        log_warnings(recording)
    samples = np.frombuffer(data, np.float32)
    if recording.is_int16:
        samples = (samples * np.float32(32768)).astype(np.int16)
    return (samples if recording.n_channels == 1 else samples.reshape(-1, recording.n_channels)), recording.rate


def log_warnings(recording: Recording) -> None:
    """Logs the defects of a recording that can still be read."""
    for message in recording.warnings:
        logger.warning("%s", message)


def _check_readable(path: Path) -> None:
    try:
        status = path.stat()
    except FileNotFoundError:
        if str(path).rstrip().endswith("|"):
            raise NotFound(
                f"{path}: is a command (a pipe); commands are not run, write its output to a file and name that"
            ) from None
        raise NotFound(f"{path}: does not exist") from None
    except OSError as error:
        name = str(path) if len(str(path)) < 300 else f"{str(path)[:60]}..."  # a recording itself, as text
        raise IoFailure(f"{name}: cannot be read: {error.strerror}") from None
    if stat.S_ISDIR(status.st_mode):
        raise IoFailure(f"{path}: is a directory; name a recording")
    if not stat.S_ISREG(status.st_mode):  # opening it may block for ever
        raise IoFailure(f"{path}: is a pipe or device, not a file; name a recording")
    if status.st_size == 0:
        raise BadFile(f"{path}: is empty; check how it was recorded")


def as_audio(values: Any, n_channels: int, kind: str) -> tuple[Any, int, int]:
    """Returns the argument of `Stream.feed` as memory of samples of the type `kind` ("int16", "float32" or "uint8", G.711): its
    owner, its address and the number of samples per channel. int16 becomes float by 1/32768. Objects with the buffer protocol
    need no numpy: 16-bit samples, also as bytes in the machine's byte order, float32 or float64; their channels are
    interleaved. Raises InvalidArgument."""
    if not hasattr(values, "__array__"):
        try:
            view = memoryview(values)
        except TypeError:  # a list, or what else numpy takes
            pass
        else:
            return _of_buffer(values, view, n_channels, kind)
    np = numpy("arrays of samples")
    samples = np.asarray(values)
    if kind == "uint8":
        if samples.dtype.type is not np.uint8:
            raise InvalidArgument(f"samples are {samples.dtype}; a stream of G.711 takes uint8")
    elif samples.dtype.type not in (np.int16, np.float32, np.float64):
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
        raise InvalidArgument(
            f"samples have the shape {list(samples.shape)}; n_channels={n_channels} needs {shape}"
            + transposed(samples.shape, "; they are")
        )
    if kind == "float32" and samples.dtype.type is np.int16:
        samples = samples.astype(np.float32) / np.float32(32768)
    with np.errstate(over="ignore"):  # values beyond float32 become infinite, which is refused
        owner = np.ascontiguousarray(samples, dtype=kind)
    return owner, owner.ctypes.data, n


def transposed(shape: tuple[int, ...], begin: str) -> str:
    """Returns the end of a sentence if an array has its channels before its samples, or ""."""
    if len(shape) != 2 or shape[0] >= shape[1]:
        return ""
    return f"{begin} transposed: give " + ("audio[0]" if shape[0] == 1 else "audio.T, which has the samples first")


def check_begin(values: Any) -> None:
    """Raises InvalidArgument if the first bytes that a stream is fed are those of a file, except WAV and AU, of which only the
    header is no sound."""
    if not isinstance(values, (bytes, bytearray, memoryview)):
        return
    view = memoryview(values)
    if view.format in ("B", "b", "c") and view.ndim == 1 and (name := kind_of(bytes(view[:8192]))):
        raise InvalidArgument(
            f"the bytes are those of a file, {name}, and no samples; give whole files to Engine.recognize, or read them with "
            "senone.read_audio"
        )


def _are_floats(data: bytes) -> bool:
    """Returns True if the bytes are float32 within full scale: then the upper half of each is its sign, its exponent and its
    first digits, which every second sample of a sound is not."""
    n_found = 0
    for low, high in zip(data[2::4], data[3::4]):
        half = low | high << 8
        if half and not 0x3000 <= half & 0x7FFF <= 0x3F80:
            return False
        n_found += half != 0
    return n_found >= 32


def _of_buffer(values: Any, view: memoryview, n_channels: int, kind: str) -> tuple[Any, int, int]:
    """`as_audio` of an object's memory."""
    code = view.format.lstrip("@=" + ("<" if sys.byteorder == "little" else ">"))
    if kind == "uint8":
        if code not in ("B", "b", "c"):
            raise InvalidArgument(f"samples have the format {code!r}; a stream of G.711 takes bytes")
        data = values if isinstance(values, bytes) else view.tobytes()
        address = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0
        return data, address, _n_samples(view.nbytes, 1, n_channels)
    if code in ("B", "b", "c"):
        code = "h"
        n = _n_samples(view.nbytes, 2, n_channels)
        if view.ndim == 1 and _are_floats(bytes(view[:2048])):
            raise InvalidArgument(
                "the bytes look like float32, but bytes are taken for 16-bit samples; give a float32 array, or "
                'memoryview(data).cast("f")'
            )
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
