# SPDX-License-Identifier: Apache-2.0
"""Recordings as arrays: WAV through the standard library, other formats through soundfile where it is installed."""

from __future__ import annotations

import importlib
import logging
import os
import wave
from pathlib import Path
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ._errors import BadAudio, BadFile, InvalidArgument, IoFailure, NotFound

Samples = Union[npt.NDArray[np.int16], npt.NDArray[np.float32]]

logger = logging.getLogger("senone")


def read_audio(path: str | os.PathLike[str], raw_rate: int = 16000) -> tuple[Samples, int]:
    """Reads a recording: samples [n] or [n, channels], int16 or float32 of full scale -1..1, and their rate in Hz.

    A file ending in .raw holds 16-bit little-endian mono samples at raw_rate. Raises NotFound, IoFailure, BadFile, BadAudio.
    """
    path = Path(path)
    _check_readable(path)
    if path.suffix.lower() == ".raw":
        data = path.read_bytes()
        return np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.int16, copy=False), raw_rate
    try:
        with wave.open(str(path), "rb") as file:
            return _read_wave(path, file), file.getframerate()
    except (wave.Error, EOFError) as error:
        return _read_with_soundfile(path, f"is no WAV file of integer samples ({error})")


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise IoFailure(f"{path}: is a directory; name a recording")
    try:
        with path.open("rb") as file:
            empty = file.read(1) == b""
    except FileNotFoundError:
        raise NotFound(f"{path}: does not exist") from None
    except OSError as error:
        raise IoFailure(f"{path}: cannot be read: {error.strerror}") from None
    if empty:
        raise BadFile(f"{path}: is empty; check how it was recorded")


def _read_wave(path: Path, file: wave.Wave_read) -> Samples:
    n_channels, width = file.getnchannels(), file.getsampwidth()
    data = file.readframes(file.getnframes())
    n = len(data) // (width * n_channels)
    if n < file.getnframes():
        logger.warning("%s: cut short: %d samples are there, its header says %d", path, n, file.getnframes())
    data = data[: n * width * n_channels]
    samples = _from_pcm(data, width)
    if samples is None:
        raise BadAudio(f"{path}: samples of {8 * width} bits; convert it to 16 bits")
    return samples if n_channels == 1 else samples.reshape(n, n_channels)


def _from_pcm(data: bytes, width: int) -> Samples | None:
    """Little-endian integers of `width` bytes; None if there is no such width."""
    if width == 2:
        return np.frombuffer(data, "<i2").astype(np.int16, copy=False)
    if width == 1:  # unsigned
        return (np.frombuffer(data, np.uint8).astype(np.float32) - np.float32(128)) / np.float32(128)
    if width == 3:
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        return (wide.view("<i4")[:, 0] / 2.0**31).astype(np.float32)
    if width == 4:
        return (np.frombuffer(data, "<i4") / 2.0**31).astype(np.float32)
    return None


def _read_with_soundfile(path: Path, problem: str) -> tuple[Samples, int]:
    try:
        soundfile = importlib.import_module("soundfile")
    except (ImportError, OSError):
        raise BadFile(f"{path}: {problem}; other formats need the package soundfile: pip install soundfile") from None
    try:
        samples, rate = soundfile.read(str(path), dtype="float32")
    except Exception as error:  # soundfile's exceptions differ by version
        raise BadFile(f"{path}: cannot be read: {error}") from None
    return samples, int(rate)


def as_audio(values: Any, n_channels: int, kind: str) -> tuple[npt.NDArray[Any], int]:
    """What `Stream.feed` was given, as a C-contiguous array of the type `kind` ("int16" or "float32") and its number of samples
    of each channel. int16 becomes float by 1/32768. Bytes are 16-bit samples in the machine's order. Raises InvalidArgument."""
    array = np.frombuffer(values, np.int16) if isinstance(values, (bytes, bytearray, memoryview)) else np.asarray(values)
    if array.dtype.type not in (np.int16, np.float32, np.float64):
        raise InvalidArgument(f"samples are {array.dtype}; they must be int16, or float32 or float64 of full scale -1..1")
    if kind == "int16" and array.dtype.type is not np.int16:
        raise InvalidArgument(f'samples are {array.dtype}; a stream with input="int16" takes int16')
    if array.ndim == 2 and array.shape[1] == n_channels:
        n = array.shape[0]
    elif array.ndim == 1 and n_channels == 1:
        n = array.shape[0]
    else:
        shape = "[n]" if n_channels == 1 else f"[n, {n_channels}]"
        raise InvalidArgument(f"samples have the shape {list(array.shape)}; n_channels={n_channels} needs {shape}")
    if kind == "float32" and array.dtype.type is np.int16:
        array = array.astype(np.float32) / np.float32(32768)
    return np.ascontiguousarray(array, dtype=kind), n


def as_rows(values: Any, row_length: int) -> tuple[npt.NDArray[Any], int]:
    """Rows [T, row_length] of features or log-likelihoods as C-contiguous float32, and T. Raises InvalidArgument."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise InvalidArgument(f"rows are {array.dtype}; they must be numbers")
    if array.ndim != 2 or array.shape[1] != row_length:
        raise InvalidArgument(f"rows have the shape {list(array.shape)}; this stream needs [T, {row_length}]")
    return np.ascontiguousarray(array, dtype=np.float32), array.shape[0]
