# SPDX-License-Identifier: Apache-2.0
"""The times of words and phones in recordings whose text is known."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._audio import Recording, as_audio, log_warnings
from ._build_library import (
    asr_align_config,
    asr_aligned_phone,
    asr_aligned_word,
    asr_aligner_config,
    asr_alignment_info,
    build_lib,
    check_build,
)
from ._config import encoded
from ._decoder import MIX
from ._errors import BadAudio, InvalidArgument
from ._handle import Handle, Owner
from ._library import text as decoded
from ._lines import utf8
from ._numbers import real, uint32

_FLOAT = 1  # ASR_INPUT_FLOAT
_FOREIGN = 2**32 - 1  # ASR_FOREIGN_WORD


@dataclass(frozen=True)
class AlignedPhone:
    """A phone of a word. start_s, end_s: seconds from the beginning of the recording. log_likelihood: mean of its frames.
    goodness: how much better it fits than the best phones, per frame in natural log: about 0 if it is said, else negative.
    likeliest: the phone that fits most of its frames best."""

    name: str
    start_s: float
    end_s: float
    log_likelihood: float
    goodness: float
    likeliest: str


@dataclass(frozen=True)
class AlignedWord:
    """A word that is said. text: as the text writes it, or "[foreign]". start_s, end_s: seconds from the beginning of the
    recording. confidence: 0..1, that the word was said here. number: of the text's words, from 0; None: the text does not have
    it."""

    text: str
    start_s: float
    end_s: float
    confidence: float
    number: int | None
    phones: tuple[AlignedPhone, ...]


@dataclass(frozen=True)
class Alignment:
    """The words of a recording in the order of their times. duration_s: of its frames. not_said: numbers of the text's words,
    from 0, that are not said."""

    words: tuple[AlignedWord, ...]
    duration_s: float
    not_said: tuple[int, ...]


class Aligner(Owner):
    """Aligns recordings with their texts, with the model of a bundle (which needs no graph) and a dictionary.
    bundle, lexicon: their paths; the dictionary has the form of CMU Sphinx, Kaldi, MFA or HTK. g2p: a model of `senone g2p`,
    which pronounces words that the dictionary lacks, up to n_g2p_best (1..256) ways each. Any threads may use one aligner at
    once; calls release the interpreter's lock. Raises InvalidArgument, NotFound, BadFile, IoFailure, Unsupported (a model with
    unknown contexts), OutOfMemory; ImportError without libsenone_build.
    """

    def __init__(
        self,
        bundle: str | os.PathLike[str],
        lexicon: str | os.PathLike[str],
        *,
        g2p: str | os.PathLike[str] | None = None,
        n_g2p_best: int = 1,
    ) -> None:
        pointer = ctypes.c_void_p()
        self._lib = build_lib()
        config = asr_aligner_config()
        self._lib.asr_aligner_config_default(ctypes.byref(config))
        if g2p is not None:
            config.g2p = encoded("g2p", os.fspath(g2p))
        config.n_g2p_best = uint32("n_g2p_best", n_g2p_best)
        status = self._lib.asr_aligner_open(
            encoded("bundle", os.fspath(bundle)),
            encoded("lexicon", os.fspath(lexicon)),
            ctypes.byref(config),
            ctypes.byref(pointer),
        )
        check_build(status)
        assert pointer.value is not None
        self._handle = Handle(pointer.value, self._lib.asr_aligner_close, "the aligner was closed; open another")

    def align(
        self,
        audio: Any,
        text: str | Sequence[str],
        rate: int | None = None,
        *,
        lenient: bool = False,
        skip_cost: float | None = None,
        foreign_cost: float | None = None,
    ) -> Alignment:
        """Aligns a recording with its text.
        audio: the path of a recording, an array [n] or [n, channels] of int16, or of float32 or float64 with full scale -1..1,
        or bytes of 16-bit samples. text: what is said, words between blanks, or a list of words. rate: samples per second of an
        array or a .raw file; None: the model's.
        lenient: the text may have errors: its words may not be said, and others may be. skip_cost, foreign_cost: costs of a word
        of the text that is not said, and of a phone that the text does not have (natural log; docs/alignment.md).
        Raises NotFound, IoFailure, BadFile, BadAudio (not finite, empty, or a text that is not said, with the place),
        InvalidArgument (also a word without a pronunciation), Unsupported, OutOfMemory, InvalidState (closed).
        """
        config = asr_align_config()
        self._lib.asr_align_config_default(ctypes.byref(config))
        config.lenient = int(bool(lenient))
        for name, cost in (("skip_cost", skip_cost), ("foreign_cost", foreign_cost)):
            if cost is not None:
                setattr(config, name, real(name, cost))
        config.input = _FLOAT
        owner, address, n = self._samples(audio, rate, config)
        data = utf8("text", text if isinstance(text, str) else " ".join(text))
        result = ctypes.c_void_p()
        with self._handle as pointer:
            status = self._lib.asr_align(
                pointer, address, n, data, len(data), ctypes.byref(config), ctypes.byref(result)
            )
            check_build(status)
        del owner  # kept alive until here
        try:
            return self._alignment(result)
        finally:
            self._lib.asr_alignment_free(result)

    def _samples(self, audio: Any, rate: int | None, config: asr_align_config) -> tuple[Any, int, int]:
        """Returns floats: their owner, address and number per channel; sets the rate and the channels."""
        if isinstance(audio, (str, os.PathLike)):
            with Recording(audio, 16000 if rate is None else rate, channel=MIX) as recording:
                audio = memoryview(b"".join(piece.tobytes() for piece in recording)).cast("f")
                log_warnings(recording)
            rate = recording.rate
        shape: tuple[int, ...] = getattr(audio, "shape", None) or (len(audio),)
        if len(shape) == 2:
            config.n_channels = uint32("channels", int(shape[1]))
        elif len(shape) != 1:
            raise InvalidArgument(f"audio has the shape {list(shape)}; it must be [n] or [n, channels]")
        if shape[0] == 0:
            raise BadAudio("no audio: the recording has no samples")
        config.sample_rate_hz = 0 if rate is None else uint32("rate", rate)
        return as_audio(audio, int(config.n_channels), "float32")

    def _alignment(self, result: ctypes.c_void_p) -> Alignment:
        info = asr_alignment_info(size=ctypes.sizeof(asr_alignment_info))
        check_build(self._lib.asr_alignment_get_info(result, ctypes.byref(info)))
        phone = asr_aligned_phone(size=ctypes.sizeof(asr_aligned_phone))
        phones = []
        for i in range(info.n_phones):
            check_build(self._lib.asr_alignment_phone(result, i, ctypes.byref(phone)))
            name, likeliest = decoded(phone.name), decoded(phone.likeliest)
            phones.append(
                AlignedPhone(name, phone.start_s, phone.end_s, phone.log_likelihood, phone.goodness, likeliest)
            )
        word = asr_aligned_word(size=ctypes.sizeof(asr_aligned_word))
        words = []
        for i in range(info.n_words):
            check_build(self._lib.asr_alignment_word(result, i, ctypes.byref(word)))
            number = None if word.number == _FOREIGN else int(word.number)
            of_word = tuple(phones[word.first_phone : word.first_phone + word.n_phones])
            words.append(AlignedWord(decoded(word.text), word.start_s, word.end_s, word.confidence, number, of_word))
        not_said = tuple(int(info.not_said[i]) for i in range(info.n_not_said))
        return Alignment(tuple(words), info.duration_s, not_said)


def align(
    bundle: str | os.PathLike[str],
    lexicon: str | os.PathLike[str],
    audio: Any,
    text: str | Sequence[str],
    rate: int | None = None,
    **options: Any,
) -> Alignment:
    """Aligns one recording with its text. For several, an `Aligner` reads the model and the dictionary once.
    bundle, lexicon: as for `Aligner`. audio, text, rate, options, raises: as for `Aligner.align`."""
    with Aligner(bundle, lexicon) as aligner:
        return aligner.align(audio, text, rate, **options)
