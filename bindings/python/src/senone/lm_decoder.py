# SPDX-License-Identifier: Apache-2.0
"""Sentences of a brain-to-text network's logits by a graph: the interface of the laboratories' lm_decoder, over
Senone's engine.
    from senone import lm_decoder
    resource = lm_decoder.DecodeResource("TLG.fst", "", "", "words.txt", "")
    options = lm_decoder.DecodeOptions(7000, 200, 17.0, 8.0, 1.5, 1.0, 0.0, 100)
    decoder = lm_decoder.BrainSpeechDecoder(resource, options)
    lm_decoder.DecodeNumpy(decoder, logits, log_priors, blank_penalty)   # [T, V] as rows come; column 0 is the blank
    decoder.FinishDecoding()
    sentence, ac_score = decoder.result()[0].sentence, decoder.result()[0].ac_score
    decoder.Reset()
docs/drop-in.md tells what equals the original. The device is that of SENONE_DEVICE, else the best.
"""

from __future__ import annotations

import ctypes
import dataclasses
import math
import os
import tempfile
import threading
import time
import weakref
from dataclasses import dataclass
from typing import Any

from ._build_library import build_lib, check_build
from ._config import encoded
from ._engine import Engine
from ._errors import InvalidArgument, InvalidState, Unsupported
from ._events import Alternative, EventKind
from ._handle import Handle
from ._numbers import real
from ._numpy import numpy
from ._stream import Stream

_SHIFT_MS = 10.0  # of rows; nobody sees times
_MIN_ROWS = 8  # fewer are searched only when more come, or at the end
_LONGEST_WAIT_S = 10.0  # for a partial result
_RESCORED = 2000  # sentences of the lattice that Rescore compares

__all__ = [
    "BrainSpeechDecoder",
    "DecodeNumpy",
    "DecodeNumpyLogProbs",
    "DecodeOptions",
    "DecodeResource",
    "DecodeResult",
]


@dataclass(frozen=True)
class DecodeOptions:
    """Settings of the search. ctc_blank_skip_threshold: rows whose blank is more probable are skipped, but for one
    between two equal tokens. length_penalty: 0; others are refused. nbest: maximum number of results of
    FinishDecoding."""

    max_active: int
    min_active: int
    beam: float
    lattice_beam: float
    acoustic_scale: float
    ctc_blank_skip_threshold: float
    length_penalty: float
    nbest: int

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = real(field.name, getattr(self, field.name))
            if not math.isfinite(value):
                raise InvalidArgument(f"{field.name} is {value}; it must be finite")
        if self.length_penalty != 0:
            raise Unsupported(f"length_penalty is {self.length_penalty}; only 0 is possible: put it into the costs of TLG.fst")
        if self.nbest < 1:
            raise InvalidArgument(f"nbest is {self.nbest}; it must be at least 1")


class DecodeResource:
    """A graph and its words, loaded once for any number of decoders.
    fst_path: TLG.fst, whose input labels are token number + 1. dict_path: words.txt. lm_fst_path, rescore_lm_fst_path:
    G.fst of the graph, and the larger one of Rescore; both or none ("" or None). unit_path: ignored. Raises
    InvalidArgument, NotFound, BadFile, IoFailure.
    """

    def __init__(
        self, fst_path: str, lm_fst_path: str, rescore_lm_fst_path: str, dict_path: str, unit_path: str = ""
    ) -> None:
        del unit_path
        if not fst_path:
            raise Unsupported("fst_path is empty: a search without a graph is senone.ctc; name TLG.fst")
        if bool(lm_fst_path) != bool(rescore_lm_fst_path):
            raise InvalidArgument("lm_fst_path and rescore_lm_fst_path go together: give G.fst and the larger one, or neither")
        paths = (lm_fst_path, rescore_lm_fst_path) if lm_fst_path else ()
        self._lms = tuple(_LanguageModel(path, dict_path) for path in paths)
        with tempfile.TemporaryDirectory() as folder:
            bundle = os.path.join(folder, "bundle")
            graph, words = encoded("fst_path", fst_path), encoded("dict_path", dict_path)
            check_build(build_lib().asr_ctc_bundle(graph, words, 0, 0, _SHIFT_MS, encoded("folder", bundle)))
            self.engine = Engine(bundle, window_frames=_MIN_ROWS)
        self.n_tokens = self.engine.info.n_states

    def close(self) -> None:
        """Frees the graph; streams that use it go on."""
        self.engine.close()


class _LanguageModel:
    """A language model as a graph over words."""

    def __init__(self, path: str, words: str) -> None:
        self._lib = build_lib()
        pointer = ctypes.c_void_p()
        check_build(
            self._lib.asr_ctc_lm_open(encoded("lm_fst_path", path), encoded("dict_path", words), ctypes.byref(pointer))
        )
        assert pointer.value is not None
        self._handle = Handle(pointer.value, self._lib.asr_ctc_lm_close, "the language model was closed")
        weakref.finalize(self, self._handle.close_soon)

    def cost(self, words: list[int]) -> float:
        """Returns -ln of the probability of the words; infinity if it has no path for them."""
        cost = ctypes.c_double()
        with self._handle as pointer:
            numbers = (ctypes.c_uint32 * len(words))(*words)
            check_build(self._lib.asr_ctc_lm_cost(pointer, numbers, len(words), ctypes.byref(cost)))
        return cost.value


@dataclass(frozen=True)
class DecodeResult:
    """ac_score: ln of the likelihood by the rows, without the acoustic scale. lm_score: ln of that by the graph.
    sentence: its words, each behind a blank, in lower case."""

    ac_score: float
    lm_score: float
    sentence: str


class BrainSpeechDecoder:
    """One utterance at a time: rows by DecodeNumpy or DecodeNumpyLogProbs, FinishDecoding, result, Reset. One thread
    at a time."""

    def __init__(self, resource: DecodeResource, opts: DecodeOptions) -> None:
        if not isinstance(resource, DecodeResource) or not isinstance(opts, DecodeOptions):
            raise InvalidArgument("BrainSpeechDecoder takes a DecodeResource and DecodeOptions")
        self._resource, self._opts = resource, opts
        self._lock = threading.Lock()
        self._stream: Stream | None = None
        self.Reset()

    def SetOpt(self, opts: DecodeOptions) -> None:
        """Changes the settings. Those of the search count from the next Reset on."""
        if not isinstance(opts, DecodeOptions):
            raise InvalidArgument(f"opts is of type {type(opts).__name__}; it must be DecodeOptions")
        self._opts = opts

    def Reset(self) -> None:
        """Begins anew."""
        with self._lock:
            if self._stream is not None:
                self._stream.close()
            self._stream = None
            self._results: list[DecodeResult] = []
            self._sentences: tuple[Alternative, ...] = ()  # of the lattice, for Rescore
            self._is_finished = False
            self._n_rows = 0
            self._skipped: Any = None  # the last row, if it was skipped
            self._last_best = 0

    def Decode(self, logp: Any) -> None:
        """Searches rows of log probabilities [T, V], and makes the best sentence so far the result, except for the
        last few rows. Raises InvalidArgument (shape), InvalidState (after FinishDecoding), BadAudio (NaN, or a row without open
        tokens)."""
        np = numpy("scores")
        rows = np.asarray(logp, dtype=np.float32)
        n_tokens = self._resource.n_tokens
        if rows.ndim != 2 or rows.shape[1] < n_tokens:
            raise InvalidArgument(f"rows have the shape {list(rows.shape)}; the graph needs [T, {n_tokens}]")
        with self._lock:
            if self._is_finished:
                raise InvalidState("the utterance has been finished; call Reset")
            kept = self._without_blanks(rows)
            if len(kept) == 0:
                return
            stream = self._open()
            stream.feed(np.ascontiguousarray(kept[:, :n_tokens]))
            self._n_rows += len(kept)
            self._take_partial(stream)

    def FinishDecoding(self) -> None:
        """Ends the utterance; the results are the nbest sentences, the best first, or none without rows."""
        with self._lock:
            if self._is_finished or self._stream is None:
                self._is_finished = True
                return
            self._is_finished = True
            self._stream.finish()
            final = self._stream.result()
            self._sentences = final.alternatives
            self._results = [_result(sentence) for sentence in self._sentences[: int(self._opts.nbest)]]
            self._stream.close()

    def Rescore(self) -> None:
        """Scores the sentences of FinishDecoding with the larger language model in place of the graph's, and gives the
        best again, as many as there were. Without results nothing happens. Raises InvalidState (no language models;
        not finished)."""
        with self._lock:
            if not self._results:
                return
            if not self._resource._lms or not self._is_finished:
                raise InvalidState("Rescore needs G.fst and the larger one in DecodeResource, and comes after FinishDecoding")
            original, larger = self._resource._lms
            scored = []
            for sentence in self._sentences:
                words = [word.id for word in sentence.words]
                graph_cost = sentence.graph_cost - original.cost(words) + larger.cost(words)
                if math.isfinite(graph_cost):
                    scored.append(dataclasses.replace(sentence, graph_cost=graph_cost))
            scale = self._scale
            scored.sort(key=lambda sentence: sentence.graph_cost + scale * sentence.acoustic_cost)
            self._sentences = ()
            self._results = [_result(sentence) for sentence in scored[: len(self._results)]]

    def DecodedSomething(self) -> bool:
        """Returns whether there is a sentence with words."""
        results = self._results
        return len(results) > 0 and results[0].sentence != ""

    def result(self) -> list[DecodeResult]:
        """Returns the sentences: the best one so far, or after FinishDecoding up to nbest."""
        return list(self._results)

    def _open(self) -> Stream:
        if self._stream is None:
            opts = self._opts
            many = int(opts.nbest) > 1
            self._scale = float(opts.acoustic_scale)
            n_best = max(int(opts.nbest), _RESCORED) if many and self._resource._lms else int(opts.nbest)
            self._stream = self._resource.engine.stream(
                input="loglikes",
                beam=float(opts.beam),
                acoustic_scale=float(opts.acoustic_scale),
                max_active=int(opts.max_active),
                min_active=int(opts.min_active),
                lattice_beam=float(opts.lattice_beam) if many else 0.0,
                n_best=n_best,
                partial_interval_ms=int(_SHIFT_MS),
                max_backlog_ms=0,
            )
        return self._stream

    def _without_blanks(self, rows: Any) -> Any:
        """Returns the rows that are searched: those whose blank is not beyond the threshold, and one such blank
        between two rows with the same best token."""
        np = numpy("scores")
        limit = float(self._opts.ctc_blank_skip_threshold)
        if not (np.exp(rows[:, 0]) > limit).any() and self._skipped is None:
            if len(rows) > 0:
                self._last_best = int(rows[-1].argmax())
            return rows
        kept = []
        for row in rows:
            if math.exp(row[0]) > limit:
                self._skipped = row
                continue
            best = int(row.argmax())
            if best != 0 and best == self._last_best and self._skipped is not None:
                kept.append(self._skipped)
            self._last_best, self._skipped = best, None
            kept.append(row)
        return np.array(kept, np.float32).reshape(-1, rows.shape[1])

    def _take_partial(self, stream: Stream) -> None:
        """Waits until the rows are searched, except for the last ones, which are too few to be."""
        until = time.monotonic() + _LONGEST_WAIT_S
        shift_s = _SHIFT_MS / 1000
        expected_s = (self._n_rows - _MIN_ROWS) * shift_s
        while True:
            is_searched = stream.stats().searched_s > expected_s
            for event in stream.ready():
                if event.error is not None:
                    raise event.error
                if event.kind is EventKind.PARTIAL and event.alternatives:
                    self._results = [_result(event.alternatives[0])]
            if is_searched or time.monotonic() > until:
                return
            time.sleep(0.0002)


def DecodeNumpy(decoder: BrainSpeechDecoder, input: Any, log_priors: Any, blank_penalty: float) -> None:
    """Searches logits [T, V]: their log softmax, less log_priors [T, V] or [1, V], less blank_penalty for the blank.
    Raises as `BrainSpeechDecoder.Decode`."""
    np = numpy("scores")
    logits, priors = np.asarray(input, dtype=np.float32), np.asarray(log_priors, dtype=np.float32)
    if logits.ndim != 2 or priors.ndim != 2 or priors.shape not in (logits.shape, (1, logits.shape[1])):
        raise InvalidArgument(f"logits {list(logits.shape)} and log_priors {list(priors.shape)} must both be [T, V]")
    centred = logits - logits.max(axis=1, keepdims=True)
    log_probs = centred - np.log(np.exp(centred).sum(axis=1, keepdims=True)) - priors
    log_probs[:, 0] -= real("blank_penalty", blank_penalty)
    decoder.Decode(log_probs)


def DecodeNumpyLogProbs(decoder: BrainSpeechDecoder, input: Any) -> None:
    """Searches log probabilities [T, V]. Raises as `BrainSpeechDecoder.Decode`."""
    decoder.Decode(input)


def _result(alternative: Alternative) -> DecodeResult:
    sentence = "".join(f" {word.text}" for word in alternative.words).replace("\u2581", " ").rstrip(" ")
    lowered = "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in sentence)
    return DecodeResult(-alternative.acoustic_cost, -alternative.graph_cost, lowered)
