# SPDX-License-Identifier: Apache-2.0
"""The library's decoder of recordings (asr_audio): the bytes of a WAV or AU file, or of samples without a header, become
samples. Used by _audio.py; `senone recognize` decodes with the same code."""

from __future__ import annotations

import ctypes
from array import array
from dataclasses import dataclass

from ._errors import Error, check
from ._library import asr_audio_config, asr_audio_info, lib, text

MIX, ALL = -1, -2  # channels

FORMATS = {"file": 0, "file_or_s16le": 1, "s16le": 2, "s16be": 3, "f32le": 4, "mulaw": 5, "alaw": 6}


def kind_of(data: bytes) -> str:
    """Returns the name of a file's format that is neither samples nor WAV or AU; "" if data begins like none."""
    decoder = Decoder("file_or_s16le", 16000, 1, MIX)
    try:
        decoder.push(data)
    except Error:
        return decoder.info().format_name
    return ""


@dataclass(frozen=True)
class Info:
    """What is known of a recording so far, as asr_audio_info."""

    format_name: str
    is_known: bool
    has_header: bool
    rate: int
    n_channels: int
    n_out_channels: int
    n_bits: int
    is_float: bool
    is_other: bool


class Decoder:
    """Bytes in, float32 samples out. One thread at a time. Raises InvalidArgument."""

    def __init__(self, kind: str, rate: int, n_channels: int, channel: int) -> None:
        self._handle: ctypes.c_void_p | None = None
        config = asr_audio_config()
        lib.asr_audio_config_default(ctypes.byref(config))
        config.format = FORMATS[kind]
        config.sample_rate_hz, config.n_channels, config.channel = rate, n_channels, channel
        handle = ctypes.c_void_p()
        check(lib.asr_audio_open(ctypes.byref(config), ctypes.byref(handle)))
        self._handle = handle

    def push(self, data: bytes) -> None:
        """Takes the next bytes. Raises Unsupported, BadFile, InvalidArgument (the recording lacks the channel)."""
        check(lib.asr_audio_push(self._handle, data, len(data)))

    def finish(self) -> None:
        """Takes the end of the input. Raises as `push`."""
        check(lib.asr_audio_finish(self._handle))

    def read(self, n: int) -> array[float]:
        """Returns the next samples, at most n of each channel, channels interleaved; none if none is ready."""
        samples = (ctypes.c_float * (n * self.info().n_out_channels))()
        n_read = ctypes.c_size_t()
        check(lib.asr_audio_read(self._handle, samples, n, ctypes.byref(n_read)))
        piece = array("f")
        piece.frombytes(memoryview(samples).cast("B")[: 4 * n_read.value * self.info().n_out_channels])
        return piece

    def info(self) -> Info:
        """Returns what is known so far."""
        found = asr_audio_info(size=ctypes.sizeof(asr_audio_info))
        check(lib.asr_audio_get_info(self._handle, ctypes.byref(found)))
        return Info(
            text(found.format_name),
            bool(found.is_known),
            bool(found.has_header),
            found.sample_rate_hz,
            found.n_channels,
            found.n_out_channels,
            found.n_bits,
            bool(found.is_float),
            bool(found.is_other),
        )

    def warnings(self) -> list[str]:
        """Returns new warnings, messages whose subject is the recording."""
        messages: list[str] = []
        while (message := lib.asr_audio_warning(self._handle)) is not None:
            messages.append(text(message))
        return messages

    def close(self) -> None:
        """Frees the decoder. May be called again."""
        handle, self._handle = self._handle, None
        if handle is not None:
            lib.asr_audio_close(handle)

    def __del__(self) -> None:
        self.close()
