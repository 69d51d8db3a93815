# SPDX-License-Identifier: Apache-2.0
"""Words of scores that a neural network computes elsewhere."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from ._config import RecognizeConfig, RowsMemory, StreamConfig
from ._device_scores import NAMES, DeviceScores, device_scores, is_on_device
from ._engine import Engine, EngineMemory
from ._errors import InvalidArgument, InvalidState
from ._events import EventKind, Result
from ._numpy import numpy
from ._stream import Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

_CPU_DEVICES = (1, 3)  # of DLPack: memory of the host, also pinned


def as_scores(values: Any, n_dims: int, row_length: int) -> Any:
    """Returns scores [T, V] or [B, T, V] as a numpy array of float32, without a copy if they are contiguous float32 in memory
    of the host: an array of numpy, a tensor that has DLPack (torch, jax, cupy), or what has the buffer protocol. Raises
    InvalidArgument."""
    np = numpy("scores")
    if hasattr(values, "__dlpack_device__") and int(values.__dlpack_device__()[0]) not in _CPU_DEVICES:
        raise InvalidArgument(
            "the scores are in memory of another device than the engine's; copy them to the host first, such as by .cpu(), or load "
            "the engine on their device"
        )
    if getattr(values, "requires_grad", False):
        values = values.detach()
    try:
        is_tensor = hasattr(values, "__dlpack__") and not isinstance(values, np.ndarray)
        scores = np.from_dlpack(values) if is_tensor else np.asarray(values)
    except (TypeError, ValueError, RuntimeError, BufferError):
        scores = np.asarray(values)  # such as a tensor of a type that DLPack lacks
    if scores.dtype.kind not in "fiu":
        raise InvalidArgument(f"scores are {scores.dtype}; they must be numbers")
    _check_shape(scores.shape, n_dims, row_length)
    return np.ascontiguousarray(scores, dtype=np.float32)


def scores_for(memory: EngineMemory, values: Any, n_dims: int, row_length: int) -> Any:
    """Returns scores as `as_scores`, or DeviceScores of a tensor in memory of the engine's device, which is not copied."""
    if memory.kind == "host" or not is_on_device(values):
        return as_scores(values, n_dims, row_length)
    scores = device_scores(values)
    if NAMES[scores.memory] != memory.kind or (memory.kind == "cuda" and scores.device_id != memory.ordinal):
        raise InvalidArgument(
            f"the scores are in memory of {NAMES[scores.memory]} device {scores.device_id}, but the engine is on {memory.kind} device "
            f"{memory.ordinal}; copy them there, or load the engine on their device"
        )
    _check_shape(scores.shape, n_dims, row_length)
    return scores


def memory_of(rows: Any) -> RowsMemory:
    """Returns where checked scores are, as a stream's rows_memory."""
    return cast(RowsMemory, NAMES[rows.memory]) if isinstance(rows, DeviceScores) else "host"


def _check_shape(shape: Any, n_dims: int, row_length: int) -> None:
    if len(shape) != n_dims or shape[-1] != row_length:
        wanted = f"[T, {row_length}]" if n_dims == 2 else f"[B, T, {row_length}]"
        raise InvalidArgument(f"scores have the shape {list(shape)}; this model needs {wanted}")


class Decoder:
    """Makes words of the log posteriors of a network, with a bundle of `senone import tokens` and `senone graph`, or of any
    other: then they are the log-likelihoods of its states. docs/ctc.md has the formulas.
        decoder = senone.Decoder("bundle")
        results = decoder.decode(log_probs, lengths)      # [B, T, V], or a list of [T, V]
        print(results[0].text, results[0].words[0].start_s)
        print(decoder.feed("caller 1", rows).text)        # rows as they come: the words so far
        print(decoder.finish("caller 1").text)
    bundle: its path, or an `Engine` that has it. device, max_lanes, n_threads: as for `Engine`. config: settings of the streams,
    see `RecognizeConfig`, such as beam, blank_penalty and blank_skip; lattice_beam is 8 and n_best 10 unless one of them is given,
    and lattice_beam=0 is faster.
    Any threads may use one decoder. Calls release the interpreter's lock while they feed and wait.
    """

    def __init__(
        self,
        bundle: str | os.PathLike[str] | Engine,
        device: str | None = None,
        *,
        max_lanes: int = 8,
        n_threads: int = 0,
        **config: Unpack[RecognizeConfig],
    ) -> None:
        self._owns = not isinstance(bundle, Engine)
        self.engine = (
            bundle if isinstance(bundle, Engine) else Engine(bundle, device, max_lanes=max_lanes, n_threads=n_threads)
        )
        self._n_at_once = 2 * max_lanes
        self._memory = self.engine.memory
        self._config = cast(StreamConfig, dict(config))
        self._config["input"] = "loglikes"
        self._config["max_backlog_ms"] = 0
        if "lattice_beam" not in config and "n_best" not in config:
            self._config["lattice_beam"], self._config["n_best"] = 8.0, 10
        self._lock = threading.Lock()
        self._streams: dict[Hashable, Stream] = {}

    @property
    def n_tokens(self) -> int:
        """The length V of a row of scores."""
        return self.engine.info.n_states

    def decode(self, scores: Any, lengths: Sequence[int] | Any | None = None) -> list[Result]:
        """Returns the results of utterances, in their order.
        scores: [B, T, V], a list of [T, V], or [T, V] for one utterance; see `as_scores` about their types. -inf closes a token
        in a frame. lengths: frames of each utterance of [B, T, V]; None: all T. Raises InvalidArgument (shape, lengths),
        BadAudio (a value is not a number, or a frame has no open token), and what `Stream` raises.
        """
        utterances = list(self._utterances(scores, lengths))
        results: list[Result] = []
        waiting: deque[Stream] = deque()
        with contextlib.ExitStack() as stack:
            for rows in utterances:
                if len(waiting) >= self._n_at_once:
                    results.append(waiting.popleft().result())
                stream = self.engine.stream(**cast(StreamConfig, {**self._config, "rows_memory": memory_of(rows)}))
                stack.callback(stream.close)
                if len(rows) > 0:
                    stream.feed(rows)
                stream.finish()
                waiting.append(stream)
            results.extend(stream.result() for stream in waiting)
        return results

    def feed(self, key: Hashable, rows: Any) -> Result | None:
        """Feeds the next rows [T, V] of a stream, which begins with its first rows, and returns the latest words of what has been
        searched so far: a partial result, or None if there is no new one. Rows are searched while the caller goes on."""
        checked = scores_for(self._memory, rows, 2, self.n_tokens)
        with self._lock:
            if key not in self._streams:
                config = cast(StreamConfig, dict(self._config))
                config.setdefault("partial_interval_ms", 200)
                config["rows_memory"] = memory_of(checked)
                self._streams[key] = self.engine.stream(**config)
            stream = self._streams[key]
        if len(checked) > 0:
            stream.feed(checked)
        latest = None
        for event in stream.ready():
            if event.error is not None:
                raise event.error
            if event.kind is EventKind.PARTIAL:
                latest = cast(Result, event)
        return latest

    def finish(self, key: Hashable) -> Result:
        """Ends a stream and returns its result. Raises InvalidState if none has this key."""
        with self._lock:
            if key not in self._streams:
                raise InvalidState(f"no stream has the key {key!r}; feed it rows first")
            stream = self._streams.pop(key)
        try:
            stream.finish()
            return stream.result()
        finally:
            stream.close()

    def cancel(self, key: Hashable) -> None:
        """Drops a stream, if there is one with this key."""
        with self._lock:
            stream = self._streams.pop(key, None)
        if stream is not None:
            stream.close()

    def close(self) -> None:
        """Drops all streams, and closes the engine if the decoder loaded it."""
        with self._lock:
            streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.close()
        if self._owns:
            self.engine.close()

    def __enter__(self) -> Decoder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _utterances(self, scores: Any, lengths: Any) -> Iterator[Any]:
        if isinstance(scores, (list, tuple)):
            if lengths is not None:
                raise InvalidArgument("lengths are for scores [B, T, V]; utterances of a list have their own")
            for rows in cast(Iterable[Any], scores):
                yield scores_for(self._memory, rows, 2, self.n_tokens)
            return
        n_dims = getattr(scores, "ndim", 3)
        batch = scores_for(self._memory, scores, 2 if n_dims == 2 else 3, self.n_tokens)
        if n_dims == 2:
            batch = batch[None]
        n_frames = [batch.shape[1]] * len(batch) if lengths is None else [int(n) for n in lengths]
        if len(n_frames) != len(batch) or any(not 0 <= n <= batch.shape[1] for n in n_frames):
            raise InvalidArgument(f"lengths are {n_frames}; there must be {len(batch)}, of 0..{batch.shape[1]}")
        for rows, n in zip(batch, n_frames):
            yield rows[:n]

