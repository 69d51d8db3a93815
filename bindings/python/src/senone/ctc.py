# SPDX-License-Identifier: Apache-2.0
"""Texts of the scores of a CTC network without a graph: the interface of pyctcdecode, over Senone's search.
    from senone.ctc import build_ctcdecoder
    decoder = build_ctcdecoder(labels, "lm.arpa", alpha=0.5, beta=1.5)
    text = decoder.decode(logits)                                        # [T, V]: logits, or probabilities
    text, lm_state, frames, logit_score, lm_score = decoder.decode_beams(logits)[0]
docs/drop-in.md tells what equals the original. Any threads may use a decoder. Calls release the interpreter's lock.
"""

from __future__ import annotations

import ctypes
import logging
import math
import os
import re
import weakref
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

from ._build_library import (
    asr_ctc_beam,
    asr_ctc_decode_config,
    asr_ctc_decoder_config,
    build_lib,
    check_build,
)
from ._config import encoded
from ._errors import InvalidArgument, Unsupported
from ._handle import Handle
from ._numbers import real, uint32, whole
from ._numpy import numpy

_log = logging.getLogger(__name__)

WordFrames = tuple[str, tuple[int, int]]
OutputBeam = tuple[str, Optional["LMState"], list[WordFrames], float, float]
OutputBeamMPSafe = tuple[str, list[WordFrames], float, float]

_PIECE = "\u2581"
_LEAST_PROBABILITY = 1e-15
_SPECIAL = {name: re.compile(rf"^[<\[]{name}[>\]]$", re.IGNORECASE) for name in ("pad", "unk")}

__all__ = ["BeamSearchDecoderCTC", "LMState", "OutputBeam", "build_ctcdecoder"]


class LMState:
    """The words before, for `lm_start_state` of the decoder that returned it. Any process may use it with a decoder of
    the same language model."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LMState) and other._number == self._number

    def __hash__(self) -> int:
        return hash(self._number)


class BeamSearchDecoderCTC:
    """A decoder of `build_ctcdecoder`. Copies, pickles and forked processes read the language model again."""

    def __init__(
        self,
        labels: list[str],
        is_bpe: bool,
        lm_path: str | None,
        unigrams: list[str] | None,
        params: dict[str, float],
    ) -> None:
        self._made_of = (labels, is_bpe, lm_path, unigrams)
        self._params = params
        self._labels, self._is_bpe, self._has_lm = labels, is_bpe, lm_path is not None
        lib = build_lib()
        config = asr_ctc_decoder_config()
        lib.asr_ctc_decoder_config_default(ctypes.byref(config))
        config.labels, config.n_labels = _strings("labels", labels), len(labels)
        config.has_pieces = int(is_bpe)
        config.lm_path = encoded("kenlm_model_path", lm_path)
        if unigrams is not None:
            config.has_unigrams = 1
            config.unigrams, config.n_unigrams = _strings("unigrams", unigrams), len(unigrams)
        pointer = ctypes.c_void_p()
        check_build(lib.asr_ctc_decoder_open(ctypes.byref(config), ctypes.byref(pointer)))
        assert pointer.value is not None
        self._handle = Handle(pointer.value, lib.asr_ctc_decoder_close, "the decoder was cleaned up; build another")
        weakref.finalize(self, self._handle.close_soon)

    def __getstate__(self) -> Any:
        return (self._made_of, self._params)

    def __setstate__(self, state: Any) -> None:
        made_of, params = state
        self.__init__(*made_of, params)  # type: ignore[misc]

    def reset_params(
        self,
        alpha: float | None = None,
        beta: float | None = None,
        unk_score_offset: float | None = None,
        lm_score_boundary: bool | None = None,
    ) -> None:
        """Changes what is not None. Raises InvalidArgument."""
        given = {"alpha": alpha, "beta": beta, "unk_score_offset": unk_score_offset, "lm_score_boundary": lm_score_boundary}
        self._params = {**self._params, **{name: real(name, value) for name, value in given.items() if value is not None}}

    def cleanup(self) -> None:
        """Frees the language model. May be called again; other calls raise InvalidState afterwards."""
        self._handle.close()

    def decode(
        self,
        logits: Any,
        beam_width: int = 100,
        beam_prune_logp: float = -10.0,
        token_min_logp: float = -5.0,
        hotwords: Iterable[str] | None = None,
        hotword_weight: float = 10.0,
        lm_start_state: LMState | None = None,
    ) -> str:
        """Returns the best text of an utterance [T, V]. Raises as `decode_beams`."""
        beams = self.decode_beams(
            logits, beam_width, beam_prune_logp, token_min_logp, True, hotwords, hotword_weight, lm_start_state
        )
        return beams[0][0]

    def decode_beams(
        self,
        logits: Any,
        beam_width: int = 100,
        beam_prune_logp: float = -10.0,
        token_min_logp: float = -5.0,
        prune_history: bool = False,
        hotwords: Iterable[str] | None = None,
        hotword_weight: float = 10.0,
        lm_start_state: LMState | None = None,
    ) -> list[OutputBeam]:
        """Returns texts, the best one first: (text, language model's state, [(word, (start frame, end frame))], score
        of the rows, score with language model and hotwords).
        logits: [T, V]; rows of probabilities, whose sums are 1, are taken as such. beam_width: maximum number of texts.
        beam_prune_logp: texts that are worse than the best by more are dropped. token_min_logp: labels that are less
        probable are left out, except a frame's best. prune_history: of texts that the language model cannot tell apart
        keep the best. hotwords: words, or phrases as their words, that get hotword_weight each. lm_start_state: of the
        text before. Raises ValueError (shape), InvalidArgument (settings), BadAudio (NaN).
        """
        if self._handle.foreign:
            self.__setstate__(self.__getstate__())
        log_probs = self._log_probs(logits)
        words = [] if hotwords is None else [word for phrase in _texts("hotwords", hotwords) for word in phrase.split()]
        lib = build_lib()
        config = asr_ctc_decode_config()
        lib.asr_ctc_decode_config_default(ctypes.byref(config))
        config.beam_width = uint32("beam_width", whole("beam_width", beam_width))
        config.prune_history = int(bool(prune_history))
        config.beam_prune_logp = real("beam_prune_logp", beam_prune_logp)
        config.token_min_logp = real("token_min_logp", token_min_logp)
        config.hotwords, config.n_hotwords = _strings("hotwords", words), len(words)
        config.hotword_weight = real("hotword_weight", hotword_weight)
        params = self._params
        config.alpha, config.beta = params["alpha"], params["beta"]
        config.unk_score_offset = params["unk_score_offset"]
        config.lm_score_boundary = int(bool(params["lm_score_boundary"]))
        if lm_start_state is not None and self._has_lm:
            if not isinstance(lm_start_state, LMState):
                kind = type(lm_start_state).__name__
                raise InvalidArgument(f"lm_start_state is of type {kind}; it must be a state of decode_beams, or None")
            config.has_start_state, config.start_state = 1, lm_start_state._number
        beams = ctypes.c_void_p()
        with self._handle as pointer:
            status = lib.asr_ctc_decode(
                pointer, log_probs.ctypes.data, len(log_probs), ctypes.byref(config), ctypes.byref(beams)
            )
            check_build(status)
        try:
            return [self._beam(beams, i) for i in range(lib.asr_ctc_beams_count(beams))]
        finally:
            lib.asr_ctc_beams_free(beams)

    def decode_batch(
        self,
        pool: Any,
        logits_list: Sequence[Any],
        beam_width: int = 100,
        beam_prune_logp: float = -10.0,
        token_min_logp: float = -5.0,
        hotwords: Iterable[str] | None = None,
        hotword_weight: float = 10.0,
    ) -> list[str]:
        """Returns the best texts of utterances, in their order. pool: see `decode_beams_batch`."""
        words = None if hotwords is None else list(hotwords)

        def work(logits: Any) -> str:
            return self.decode(logits, beam_width, beam_prune_logp, token_min_logp, words, hotword_weight)

        return _mapped(pool, work, logits_list)

    def decode_beams_batch(
        self,
        pool: Any,
        logits_list: Sequence[Any],
        beam_width: int = 100,
        beam_prune_logp: float = -10.0,
        token_min_logp: float = -5.0,
        prune_history: bool = False,
        hotwords: Iterable[str] | None = None,
        hotword_weight: float = 10.0,
    ) -> list[list[OutputBeamMPSafe]]:
        """Returns the texts of utterances, in their order, as `decode_beams` without the language model's state.
        pool: a pool of multiprocessing, for whose size threads of this process are used, since they decode at the same
        time; None: one after another.
        """
        words = None if hotwords is None else list(hotwords)

        def work(logits: Any) -> list[OutputBeamMPSafe]:
            beams = self.decode_beams(
                logits, beam_width, beam_prune_logp, token_min_logp, prune_history, words, hotword_weight
            )
            return [(text, frames, logit_score, lm_score) for text, _, frames, logit_score, lm_score in beams]

        return _mapped(pool, work, logits_list)

    def save_to_dir(self, filepath: str) -> None:
        """Raises Unsupported: keep the labels and the ARPA file, and build the decoder from them."""
        raise Unsupported("save_to_dir is not available; keep the labels and the ARPA file, and call build_ctcdecoder again")

    load_from_dir = load_from_hf_hub = classmethod(lambda cls, *args, **options: _refuse_loading())

    def _log_probs(self, logits: Any) -> Any:
        """Returns rows of log probabilities, as the original makes them, in its precision until they are summed."""
        np = numpy("logits")
        rows = np.asarray(logits)
        if rows.dtype.kind in "iub":
            rows = rows.astype(np.float64)
        if rows.dtype.kind != "f":
            raise InvalidArgument(f"logits are {rows.dtype}; they must be numbers")
        if rows.ndim != 2:
            raise InvalidArgument(f"logits have {rows.ndim} dimensions; they must be (time, vocabulary)")
        if rows.shape[1] != len(self._labels):
            raise InvalidArgument(
                f"logits have the shape {rows.shape}, but there are {len(self._labels)} labels, with the blank, "
                "which is added behind the others if none is named"
            )
        if len(rows) == 0:
            return np.zeros((0, len(self._labels)), np.float64)
        if math.isclose(rows.sum(axis=1).mean(), 1):
            log_probs = np.log(np.clip(rows, _LEAST_PROBABILITY, 1))
        else:
            most = rows.max(axis=1, keepdims=True)
            most[~np.isfinite(most)] = 0
            centred = rows - most
            with np.errstate(divide="ignore"):
                log_probs = centred - np.log(np.exp(centred).sum(axis=1, keepdims=True))
            log_probs = np.clip(log_probs, np.log(_LEAST_PROBABILITY), 0)
        return np.ascontiguousarray(log_probs, np.float64)

    def _beam(self, beams: ctypes.c_void_p, index: int) -> OutputBeam:
        lib = build_lib()
        beam = asr_ctc_beam(size=ctypes.sizeof(asr_ctc_beam))
        check_build(lib.asr_ctc_beams_get(beams, index, ctypes.byref(beam)))
        text = " ".join(beam.text.decode().split())
        frames = [(int(beam.start_frames[i]), int(beam.end_frames[i])) for i in range(beam.n_words)]
        state = LMState(int(beam.lm_state)) if self._has_lm else None
        return text, state, list(zip(text.split(), frames)), beam.logit_score, beam.lm_score


def build_ctcdecoder(
    labels: list[str],
    kenlm_model_path: str | os.PathLike[str] | None = None,
    unigrams: Collection[str] | None = None,
    alpha: float = 0.5,
    beta: float = 1.5,
    unk_score_offset: float = -10.0,
    lm_score_boundary: bool = True,
) -> BeamSearchDecoderCTC:
    """Builds a decoder.
    labels: of a row's values. "" is the blank, as are "[pad]", "<pad>" and, if there is none of them, "_"; without
    any, it is added at the end. " " comes between words; "|" does if there is no " ". Labels with "\u2581" in front,
    or pieces with "##", are those of pieces of words. kenlm_model_path: a language model in ARPA form; binary ones of
    KenLM are refused. unigrams: the words that are known; by default those of a file whose name ends in .arpa. alpha,
    beta: weight of the language model, and what each word adds.
    unk_score_offset: log10, added for unknown words. lm_score_boundary: whether texts are whole sentences.
    Raises InvalidArgument, NotFound, BadFile, IoFailure.
    """
    given = _texts("labels", labels)
    is_bpe = any(label.startswith(("##", _PIECE)) for label in given)
    if len(set(given)) < len(given):
        twice = sorted({label for label in given if given.count(label) > 1})
        raise InvalidArgument(f"labels have {twice} more than once; each must be there once")
    if is_bpe and any(" " in label for label in given):
        raise InvalidArgument("labels have a blank although they are pieces of words; use \u2581 where a word begins")
    params = {
        "alpha": real("alpha", alpha),
        "beta": real("beta", beta),
        "unk_score_offset": real("unk_score_offset", unk_score_offset),
        "lm_score_boundary": real("lm_score_boundary", lm_score_boundary),
    }
    path = None if kenlm_model_path is None else os.fspath(kenlm_model_path)
    words = None if unigrams is None else sorted(set(_texts("unigrams", unigrams)))
    if path is not None:
        _refuse_binary(path)
        if words is None and path.endswith(".arpa"):
            words = _unigrams_of(path)
        elif words is None:
            _log.warning("no unigrams are given, and the name of %s does not end in .arpa: no word is known", path)
    return BeamSearchDecoderCTC(_normalised(given, is_bpe), is_bpe, path, words, params)


def _normalised(labels: list[str], is_bpe: bool) -> list[str]:
    """Returns the labels with the blank as "", and with "\u2581" or " " between words."""
    result = list(labels)
    if is_bpe and any(label.startswith("##") for label in labels):
        result = [_with_mark(label) for label in result]
    if not is_bpe and "|" in result and " " not in result:
        result[result.index("|")] = " "
    result = ["" if _SPECIAL["pad"].match(label) else label for label in result]
    if not is_bpe and "_" in result and "" not in result:
        result[result.index("_")] = ""
    if "" not in result:
        result.append("")
    unknown = f"{_PIECE}\u2047{_PIECE}" if is_bpe else "\u2047"
    return [unknown if _SPECIAL["unk"].match(label) else label for label in result]


def _with_mark(label: str) -> str:
    """Returns a piece with "##" inside words as one with "\u2581" at their beginning."""
    if label.startswith("##"):
        return label[2:]
    is_special = re.match(r"^[<\[].+[>\]]$", label) or label in ("", _PIECE, f"{_PIECE}\u2047{_PIECE}")
    return label if is_special else _PIECE + label


def _refuse_binary(path: str) -> None:
    """Raises InvalidArgument for a file of KenLM's own form, which only KenLM reads."""
    try:
        with open(path, "rb") as file:
            start = file.read(32)
    except OSError:
        return  # the library has the message
    if start.startswith(b"mmap lm http://kheafield.com"):
        raise InvalidArgument(f"kenlm_model_path {path} is a binary file of KenLM; give the ARPA file that it was made of")


def _unigrams_of(path: str) -> list[str]:
    """Returns the words of an ARPA file that have a back-off weight, as the original takes them."""
    words: set[str] = set()
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            is_inside = False
            for line in file:
                line = line.strip()
                if line == "\\1-grams:":
                    is_inside = True
                elif line in ("\\2-grams:", "\\end\\"):
                    break
                elif is_inside:
                    fields = line.split("\t")
                    if len(fields) == 3:
                        words.add(fields[1])
    except OSError:
        return []  # the library has the message
    return sorted(words)


def _texts(name: str, values: Any) -> list[str]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidArgument(f"{name} is of type {type(values).__name__}; it must be a list of strings")
    result = list(values)
    for value in result:
        if not isinstance(value, str):
            raise InvalidArgument(f"{name} has {value!r}; each must be a string")
    return result


def _strings(name: str, values: list[str]) -> Any:
    """Returns an array of strings for the library. Raises InvalidArgument."""
    for value in values:
        if "\0" in value:
            raise InvalidArgument(f"{name} has {value!r}; each must be a string without NUL")
    return (ctypes.c_char_p * len(values))(*(value.encode("utf-8", "surrogatepass") for value in values))


def _mapped(pool: Any, work: Any, items: Sequence[Any]) -> list[Any]:
    if pool is None:
        return [work(item) for item in items]
    n_threads = getattr(pool, "_processes", None) or getattr(pool, "_max_workers", None) or os.cpu_count() or 1
    with ThreadPoolExecutor(n_threads) as threads:
        return list(threads.map(work, items))


def _refuse_loading() -> Any:
    raise Unsupported("decoders are not loaded from directories or hubs; call build_ctcdecoder with labels and the ARPA file")
