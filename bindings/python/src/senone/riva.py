# SPDX-License-Identifier: Apache-2.0
"""Words of logits by a graph, many utterances at once: the interface of riva-asrlib-decoder's python_decoder, over
Senone's engine.
    from senone.riva import BatchedMappedDecoderCuda, BatchedMappedDecoderCudaConfig
    config = BatchedMappedDecoderCudaConfig()
    config.online_opts.frame_shift_seconds = 0.04
    decoder = BatchedMappedDecoderCuda(config, "TLG.fst", "words.txt", n_tokens)
    for words in decoder.decode_mbr(log_probs, lengths):                 # [B, T, V], or a list of [T, V]
        for word, start_s, end_s, confidence in words: ...
docs/drop-in.md tells what equals the original. The device is that of SENONE_DEVICE, else the best.
"""

from __future__ import annotations

import math
import os
import struct
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Callable, Optional

from ._build_library import build_lib, check_build
from ._config import encoded
from ._engine import Engine
from ._errors import InvalidArgument, InvalidState, Unsupported
from ._events import Alternative, EventKind, Lattice, Result
from ._numbers import uint32, whole
from ._numpy import numpy
from ._scores import memory_of, scores_for
from ._stream import Stream

CTMWord = tuple[str, float, float, float]
LatticeCallback = Callable[[tuple[Optional[Lattice], list[CTMWord], list["NBestResult"]]], None]

__all__ = [
    "BatchedMappedDecoderCuda",
    "BatchedMappedDecoderCudaConfig",
    "BatchedMappedOnlineDecoderCuda",
    "BatchedMappedOnlineDecoderCudaConfig",
    "CudaDecoderConfig",
    "DeterminizeLatticePhonePrunedOptions",
    "LatticePostprocessorConfig",
    "MinimumBayesRiskOptions",
    "NBestResult",
    "OnlineEndpointConfig",
    "OnlineEndpointRule",
    "PartialHypothesisEx",
    "WordBoundaryInfoNewOpts",
]


class _Fields:
    """A configuration whose misspelt members are refused."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in type(self).__annotations__:
            raise AttributeError(f"{type(self).__name__} has no member {name}")
        super().__setattr__(name, value)


@dataclass
class OnlineEndpointRule(_Fields):
    """Ignored, as everything about endpoints."""

    must_contain_nonsilence: bool = True
    min_trailing_silence: float = 1.0
    max_relative_cost: float = math.inf
    min_utterance_length: float = 0.0


@dataclass
class OnlineEndpointConfig(_Fields):
    """Ignored: utterances end where their caller says."""

    silence_phones: str = ""
    rule1: OnlineEndpointRule = field(default_factory=OnlineEndpointRule)
    rule2: OnlineEndpointRule = field(default_factory=OnlineEndpointRule)
    rule3: OnlineEndpointRule = field(default_factory=OnlineEndpointRule)
    rule4: OnlineEndpointRule = field(default_factory=OnlineEndpointRule)
    rule5: OnlineEndpointRule = field(default_factory=OnlineEndpointRule)


@dataclass
class CudaDecoderConfig(_Fields):
    """The search. ntokens_pre_allocated and capacities of queues have no effect, since queues grow. blank_ilabel:
    input label of the blank, its number + 1; 0: the last token. length_penalty: 0."""

    default_beam: float = 15.0
    lattice_beam: float = 10.0
    ntokens_pre_allocated: int = 1000000
    main_q_capacity: int = -1
    aux_q_capacity: int = -1
    max_active: int = 10000
    endpointing_config: OnlineEndpointConfig = field(default_factory=OnlineEndpointConfig)
    blank_penalty: float = 0.0
    blank_ilabel: int = 0
    length_penalty: float = 0.0


@dataclass
class DeterminizeLatticePhonePrunedOptions(_Fields):
    """Ignored: lattices are determinised exactly."""

    delta: float = 2.0**-10
    max_mem: int = 50000000
    phone_determinize: bool = True
    word_determinize: bool = True
    minimize: bool = False


@dataclass
class MinimumBayesRiskOptions(_Fields):
    """Ignored: words are those of the best path, with their posteriors in the lattice."""

    decode_mbr: bool = True
    print_silence: bool = False


@dataclass
class WordBoundaryInfoNewOpts(_Fields):
    """Ignored: words have their times from the search."""

    silence_label: int = 0
    partial_word_label: int = 0
    reorder: bool = True


@dataclass
class LatticePostprocessorConfig(_Fields):
    """nbest: maximum number of results of decode_nbest. Scales other than these and a word_ins_penalty are refused."""

    word_boundary_rxfilename: str = ""
    mbr_opts: MinimumBayesRiskOptions = field(default_factory=MinimumBayesRiskOptions)
    wip_opts: WordBoundaryInfoNewOpts = field(default_factory=WordBoundaryInfoNewOpts)
    max_expand: float = 0.0
    acoustic_scale: float = 1.0
    lm_scale: float = 1.0
    acoustic2lm_scale: float = 0.0
    lm2acoustic_scale: float = 0.0
    word_ins_penalty: float = 0.0
    nbest: int = 1


@dataclass
class BatchedMappedOnlineDecoderCudaConfig(_Fields):
    """max_batch_size: utterances that are searched together. frame_shift_seconds: from one row to the next; it must be
    set. Numbers of threads and channels have no effect, since they follow the work."""

    max_batch_size: int = 400
    num_channels: int = -1
    num_post_processing_worker_threads: int = -1
    determinize_lattice: bool = True
    num_decoder_copy_threads: int = 2
    frame_shift_seconds: float = 3.4028234663852886e38
    decoder_opts: CudaDecoderConfig = field(default_factory=CudaDecoderConfig)
    det_opts: DeterminizeLatticePhonePrunedOptions = field(default_factory=DeterminizeLatticePhonePrunedOptions)
    lattice_postprocessor_opts: LatticePostprocessorConfig = field(default_factory=LatticePostprocessorConfig)
    use_lattice_postprocessor: bool = True
    use_final_probs: bool = True


@dataclass
class BatchedMappedDecoderCudaConfig(_Fields):
    """n_input_per_chunk has no effect: the engine cuts utterances into windows of its own."""

    online_opts: BatchedMappedOnlineDecoderCudaConfig = field(default_factory=BatchedMappedOnlineDecoderCudaConfig)
    n_input_per_chunk: int = 50


@dataclass(frozen=True)
class NBestResult:
    """One of several hypotheses. score: the negated sum of its costs. words: numbers of words.txt."""

    score: float
    words: list[int]
    word_start_times_seconds: list[float]
    word_durations_seconds: list[float]

    @property
    def ilabels(self) -> list[int]:
        """Raises Unsupported."""
        raise Unsupported("ilabels are not available; lattices have the labels of each frame")


@dataclass(frozen=True)
class PartialHypothesisEx:
    """The best words so far. score: the negated sum of their costs. words: their texts."""

    score: float
    words: list[str]
    word_start_times_frames: list[int]
    word_end_times_frames: list[int]


class _Graph:
    """The engine of a TLG.fst, and the settings of its streams."""

    def __init__(
        self, config: BatchedMappedOnlineDecoderCudaConfig, wfst: str, symbols: str, n_tokens: int
    ) -> None:
        self.config = config
        search, after = config.decoder_opts, config.lattice_postprocessor_opts
        _refuse("decoder_opts.length_penalty", search.length_penalty, 0.0)
        for name, only in (("acoustic_scale", 1), ("lm_scale", 1), ("acoustic2lm_scale", 0), ("lm2acoustic_scale", 0)):
            _refuse(f"lattice_postprocessor_opts.{name}", getattr(after, name), only)
        _refuse("lattice_postprocessor_opts.word_ins_penalty", after.word_ins_penalty, 0.0)
        _refuse("use_final_probs", config.use_final_probs, True)
        self.frame_shift_s = float(config.frame_shift_seconds)
        if not 1e-4 <= self.frame_shift_s <= 0.5:
            raise InvalidArgument(f"frame_shift_seconds is {self.frame_shift_s}; set it to the time from one row to the next")
        n_tokens = whole("num_tokens_including_blank", n_tokens)
        blank = search.blank_ilabel - 1 if search.blank_ilabel > 0 else n_tokens - 1
        with tempfile.TemporaryDirectory() as folder:
            bundle = os.path.join(folder, "bundle")
            check_build(
                build_lib().asr_ctc_bundle(
                    encoded("wfst_path_on_disk", wfst),
                    encoded("symbol_table_path_on_disk", symbols),
                    uint32("num_tokens_including_blank", n_tokens),
                    uint32("blank_ilabel", blank),
                    1000 * self.frame_shift_s,
                    encoded("folder", bundle),
                )
            )
            self.engine = Engine(bundle, max_lanes=min(max(1, int(config.max_batch_size)), 1024))
            self._memory = self.engine.memory

    def open(self, rows: Any, *, n_best: int, lattice: bool = True, partials: bool = False) -> Stream:
        search = self.config.decoder_opts
        return self.engine.stream(
            input="loglikes",
            beam=float(search.default_beam),
            max_active=int(search.max_active),
            lattice_beam=float(search.lattice_beam) if lattice or n_best > 1 else 0.0,
            n_best=n_best,
            blank_penalty=float(search.blank_penalty),
            partial_interval_ms=max(1, round(1000 * self.frame_shift_s)) if partials else 0,
            max_backlog_ms=0,
            rows_memory=memory_of(rows),
        )

    def rows(self, values: Any, n_dims: int) -> Any:
        """Returns scores, in memory of the engine's device if they are there, else on the host."""
        is_cuda = getattr(values, "is_cuda", False) or type(values).__module__.partition(".")[0] == "cupy"
        if is_cuda and self._memory.kind != "cuda":
            values = values.cpu() if hasattr(values, "cpu") else values.get()
        return scores_for(self._memory, values, n_dims, self.engine.info.n_states)


class BatchedMappedDecoderCuda:
    """Decodes batches of whole utterances. wfst_path_on_disk: TLG.fst, whose input labels are token number + 1. Any
    threads may use one decoder. Raises InvalidArgument, Unsupported (settings), NotFound, BadFile, IoFailure."""

    def __init__(
        self,
        config: BatchedMappedDecoderCudaConfig,
        wfst_path_on_disk: str,
        symbol_table_path_on_disk: str,
        num_tokens_including_blank: int,
    ) -> None:
        self._graph = _Graph(
            config.online_opts, wfst_path_on_disk, symbol_table_path_on_disk, num_tokens_including_blank
        )

    def decode_mbr(self, logits: Any, logits_lengths: Any) -> list[list[CTMWord]]:
        """Returns (word, start, end, confidence) of each utterance, times in seconds.
        logits: log probabilities [B, T, V], or a list of [T, V]. logits_lengths: rows of each utterance. Raises
        InvalidArgument (shapes), BadAudio."""
        return [_ctm(result) for result in self._results(logits, logits_lengths, 1)]

    def decode_nbest(self, logits: Any, logits_lengths: Any) -> list[list[NBestResult]]:
        """Returns up to lattice_postprocessor_opts.nbest hypotheses of each utterance, the best first. Otherwise as
        `decode_mbr`."""
        n_best = max(1, int(self._graph.config.lattice_postprocessor_opts.nbest))
        results = self._results(logits, logits_lengths, n_best)
        return [[_hypothesis(a, result) for a in result.alternatives] for result in results]

    def decode_write_lattice(
        self, logits: Any, logits_lengths: Any, keys: Sequence[str], output_wspecifier: str
    ) -> None:
        """Writes compact lattices of Kaldi. output_wspecifier: "ark:FILE" or "ark,t:FILE". Otherwise as
        `decode_mbr`."""
        kind, _, path = output_wspecifier.partition(":")
        options = kind.split(",")
        if options[0] != "ark" or set(options[1:]) - {"t", "b", "f", "nf"} or not path or "|" in path:
            raise InvalidArgument(f"output_wspecifier is {output_wspecifier!r}; it must be ark:FILE or ark,t:FILE")
        results = list(self._results(logits, logits_lengths, 1))
        if len(keys) != len(results):
            raise InvalidArgument(f"there are {len(keys)} keys for {len(results)} utterances")
        with open(path, "wb") as file:
            for key, result in zip(keys, results):
                assert result.lattice is not None
                file.write(f"{key} ".encode())
                (_write_text if "t" in options else _write_binary)(result.lattice, file)

    def _results(self, logits: Any, lengths: Any, n_best: int) -> Iterator[Result]:
        graph = self._graph
        if isinstance(logits, (list, tuple)):
            utterances = [graph.rows(rows, 2) for rows in logits]
        else:
            utterances = list(graph.rows(logits, 3))
        n_rows = [int(n) for n in lengths]
        if len(n_rows) != len(utterances) or any(not 0 <= n <= len(u) for n, u in zip(n_rows, utterances)):
            raise InvalidArgument(f"logits_lengths are {n_rows}; each of {len(utterances)} utterances has as many rows at most")
        waiting: deque[Stream] = deque()
        try:
            for rows, n in zip(utterances, n_rows):
                if len(waiting) >= 2 * max(1, int(graph.config.max_batch_size)):
                    yield waiting[0].result()
                    waiting.popleft().close()
                stream = graph.open(rows, n_best=n_best)
                waiting.append(stream)
                if n > 0:
                    stream.feed(rows[:n])
                stream.finish()
            while waiting:
                yield waiting[0].result()
                waiting.popleft().close()
        finally:
            for stream in waiting:
                stream.close()


class BatchedMappedOnlineDecoderCuda:
    """Decodes utterances whose rows come in chunks, each with a number (correlation id). Otherwise as
    `BatchedMappedDecoderCuda`."""

    def __init__(
        self,
        config: BatchedMappedOnlineDecoderCudaConfig,
        wfst_path_on_disk: str,
        symbol_table_path_on_disk: str,
        num_tokens_including_blank: int,
    ) -> None:
        self._graph = _Graph(config, wfst_path_on_disk, symbol_table_path_on_disk, num_tokens_including_blank)
        self._lock = threading.Lock()
        self._streams: dict[int, Stream] = {}
        self._partials: dict[int, PartialHypothesisEx] = {}
        self._callbacks: dict[int, LatticeCallback] = {}
        self._channels: dict[int, int] = {}
        self._finals: dict[int, Result] = {}
        self._ending: list[threading.Thread] = []

    def try_init_corr_id(self, corr_id: int, wait_for_us: int = 0) -> bool:
        """Returns True: there is room for any number of utterances."""
        del corr_id, wait_for_us
        return True

    def set_lattice_callback(self, corr_id: int, callback: LatticeCallback) -> None:
        """Calls back, on another thread, with (lattice, words as of decode_mbr, hypotheses) after the utterance's last
        chunk."""
        with self._lock:
            self._callbacks[corr_id] = callback

    def decode_batch(
        self,
        corr_ids: Sequence[int],
        logits: Sequence[Any],
        is_first_chunk: Sequence[bool],
        is_last_chunk: Sequence[bool],
    ) -> tuple[list[int], list[PartialHypothesisEx]]:
        """Searches a chunk [T, V] of each utterance, and returns their channels and the best words so far, which lack
        the last few rows. Raises InvalidArgument (lengths, shapes), InvalidState (an utterance without its first
        chunk), BadAudio."""
        if not len(corr_ids) == len(logits) == len(is_first_chunk) == len(is_last_chunk):
            raise InvalidArgument("corr_ids, logits, is_first_chunk and is_last_chunk have different lengths")
        chunks = [self._graph.rows(rows, 2) for rows in logits]
        for corr_id, rows, is_first, is_last in zip(corr_ids, chunks, is_first_chunk, is_last_chunk):
            self._feed(corr_id, rows, bool(is_first), bool(is_last))
        channels = [self._channels[corr_id] for corr_id in corr_ids]
        partials = [self._partial(corr_id) for corr_id in corr_ids]
        for corr_id, is_last in zip(corr_ids, is_last_chunk):
            if is_last:
                self._end(corr_id)
        return channels, partials

    def wait_for_lattice_callback(self) -> None:
        """Waits until the callbacks of all utterances that have ended have returned."""
        while self._ending:
            self._ending.pop().join()

    def _feed(self, corr_id: int, rows: Any, is_first: bool, is_last: bool) -> None:
        if is_first:
            self._drop(corr_id)
            n_best = max(1, int(self._graph.config.lattice_postprocessor_opts.nbest))
            self._streams[corr_id] = self._graph.open(rows, n_best=n_best, partials=True)
            used = set(self._channels.values())
            self._channels[corr_id] = next(k for k in range(len(used) + 1) if k not in used)
            self._partials[corr_id] = PartialHypothesisEx(0.0, [], [], [])
        if corr_id not in self._streams:
            raise InvalidState(f"the utterance {corr_id} has no first chunk; set is_first_chunk")
        if len(rows) > 0:
            self._streams[corr_id].feed(rows)
        if is_last:
            self._streams[corr_id].finish()

    def _partial(self, corr_id: int) -> PartialHypothesisEx:
        """Takes the partial results that are there."""
        for event in self._streams[corr_id].ready():
            if event.error is not None:
                raise event.error
            if event.kind in (EventKind.PARTIAL, EventKind.FINAL) and event.alternatives:
                best, shift_s = event.alternatives[0], self._graph.frame_shift_s
                self._partials[corr_id] = PartialHypothesisEx(
                    _score(best, 1.0),
                    [word.text for word in best.words],
                    [round(word.start_s / shift_s) for word in best.words],
                    [round(word.end_s / shift_s) for word in best.words],
                )
            if event.kind is EventKind.FINAL:
                assert isinstance(event, Result)
                self._finals[corr_id] = event
        return self._partials[corr_id]

    def _end(self, corr_id: int) -> None:
        stream, callback = self._streams.pop(corr_id), self._callbacks.pop(corr_id, None)
        self._channels.pop(corr_id)
        self._partials.pop(corr_id)
        final: Result | None = self._finals.pop(corr_id, None)

        def work() -> None:
            result = final if final is not None else stream.result()
            stream.close()
            if callback is not None:
                callback((result.lattice, _ctm(result), [_hypothesis(a, result) for a in result.alternatives]))

        thread = threading.Thread(target=work, name="senone riva", daemon=True)
        thread.start()
        self._ending.append(thread)

    def _drop(self, corr_id: int) -> None:
        stream = self._streams.pop(corr_id, None)
        self._channels.pop(corr_id, None)
        if stream is not None:
            stream.close()


def _refuse(name: str, value: object, only: object) -> None:
    if value != only:
        raise Unsupported(f"{name} is {value}; only {only} is possible")


def _ctm(result: Result) -> list[CTMWord]:
    return [(word.text, word.start_s, word.end_s, word.confidence) for word in result.words]


def _score(alternative: Alternative, acoustic_scale: float) -> float:
    return -(alternative.graph_cost + acoustic_scale * alternative.acoustic_cost)


def _hypothesis(alternative: Alternative, result: Result) -> NBestResult:
    words = alternative.words
    scale = result.lattice.acoustic_scale if result.lattice is not None else 1.0
    return NBestResult(
        _score(alternative, scale),
        [word.id for word in words],
        [word.start_s for word in words],
        [word.end_s - word.start_s for word in words],
    )


def _parts(lattice: Lattice) -> Iterator[tuple[int, int, int, float, float, Any]]:
    """Yields (from, to or -1 at an end, word, graph cost, acoustic cost, labels of its frames) of arcs and ends, by
    state."""
    np = numpy("lattices")
    begin, ids, n_arcs = lattice.alignment_begin, lattice.transition_id, lattice.n_arcs
    first = np.searchsorted(lattice.arc_from, np.arange(lattice.n_states + 1))
    for state in range(lattice.n_states):
        for a in range(first[state], first[state + 1]):
            labels = ids[begin[a] : begin[a + 1]]
            costs = float(lattice.arc_graph_cost[a]), float(lattice.arc_acoustic_cost[a])
            yield state, int(lattice.arc_to[a]), int(lattice.arc_word_id[a]), *costs, labels
        if math.isfinite(lattice.end_graph_cost[state]):
            labels = ids[begin[n_arcs + state] : begin[n_arcs + state + 1]]
            yield state, -1, 0, float(lattice.end_graph_cost[state]), float(lattice.end_acoustic_cost[state]), labels


def _write_text(lattice: Lattice, file: BinaryIO) -> None:
    lines = ["\n"]
    for state, to, word, graph_cost, acoustic_cost, labels in _parts(lattice):
        weight = f"{graph_cost:.9g},{acoustic_cost:.9g},{'_'.join(map(str, labels))}"
        lines.append(f"{state}\t{to}\t{word}\t{weight}\n" if to >= 0 else f"{state}\t{weight}\n")
    file.write("".join([*lines, "\n"]).encode())


def _write_binary(lattice: Lattice, file: BinaryIO) -> None:
    def weight(graph_cost: float, acoustic_cost: float, labels: Any) -> bytes:
        return struct.pack("<ffi", graph_cost, acoustic_cost, len(labels)) + bytes(labels.astype("<i4").tobytes())

    none = weight(math.inf, math.inf, numpy("lattices").zeros(0))
    ends = [none] * lattice.n_states
    arcs: list[list[bytes]] = [[] for _ in range(lattice.n_states)]
    for state, to, word, graph_cost, acoustic_cost, labels in _parts(lattice):
        packed = weight(graph_cost, acoustic_cost, labels)
        if to < 0:
            ends[state] = packed
        else:
            arcs[state].append(struct.pack("<ii", word, word) + packed + struct.pack("<i", to))
    names = b"".join(struct.pack("<i", len(name)) + name for name in (b"vector", b"compactlattice44"))
    header = struct.pack("<iiQqqq", 2, 0, 3, 0 if lattice.n_states > 0 else -1, lattice.n_states, lattice.n_arcs)
    file.write(struct.pack("<i", 2125659606) + names + header)
    for end, of_state in zip(ends, arcs):
        file.write(end + struct.pack("<q", len(of_state)) + b"".join(of_state))
