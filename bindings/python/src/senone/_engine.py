# SPDX-License-Identifier: Apache-2.0
"""A model and its graphs on a device."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union, cast

from ._audio import Recording, log_warnings, transposed
from ._config import Output, RecognizeConfig, StreamConfig, choice, encoded, flag
from ._decoder import MIX
from ._device_scores import NAMES as MEMORY_NAMES
from ._errors import BadAudio, InvalidArgument, Unsupported, check
from ._events import Result
from ._handle import Handle, Owner
from ._inbox import EventCallback
from ._installed import find_model
from ._library import asr_engine_config, asr_engine_info, asr_engine_memory, asr_engine_stats, lib, text
from ._lines import Lines, joined, normalised, utf8
from ._measure import measured_state
from ._numbers import real, uint32
from ._numpy import numpy
from ._speaker import Speaker
from ._stream import Stream

try:
    from typing import Unpack
except ImportError:  # Python 3.10 and older
    if TYPE_CHECKING:
        from typing_extensions import Unpack

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Path = Union[str, "os.PathLike[str]"]

_PIECE = 16000  # samples or rows fed at a time, so that Ctrl-C takes effect soon


@dataclass(frozen=True)
class EngineMemory:
    """kind: "host": rows of a device cannot be fed; "cuda": of device number `ordinal` of this process; "opencl": buffers of
    `context`, a cl_context as a number, whose device is `device`. They belong to the engine."""

    kind: str
    ordinal: int
    context: int | None
    device: int | None


@dataclass(frozen=True)
class EngineInfo:
    """Properties of an engine.
    device_id, device_name: the device it was loaded on. sample_rate_hz: the model's; other rates are resampled. frame_shift_ms:
    duration of a frame. n_feature_dims: row length of features. n_states: row length of log-likelihoods. n_words: word symbols
    of the graph "". n_graph_states, n_graph_arcs: its size. search_device_id, search_device_name: the device that searches.
    is_batch: cmn "model" is "batch", but for endpoints and partial results. n_measurements: how often cmn "measure" needs the
    audio, 1 or 2; the state of the first stream begins the second.
    """

    device_id: str
    device_name: str
    sample_rate_hz: float
    frame_shift_ms: float
    n_feature_dims: int
    n_states: int
    n_words: int
    n_graph_states: int
    n_graph_arcs: int
    search_device_id: str
    search_device_name: str
    is_batch: bool
    n_measurements: int


@dataclass(frozen=True)
class EngineStats:
    """Counts what an engine has done since it was loaded. Counters only grow; rates come from two readings.
    n_streams: streams that are not closed yet. fed_s: audio that was fed, of all streams. searched_s: how much of it has been
    searched, or dropped as background. waiting_s: fed to streams that have not ended, and not searched yet. busy_s: time that
    the engine's threads have spent in steps; its growth by that of searched_s is the real-time factor. n_steps: steps that
    searched. n_lanes: the streams that they advanced, summed.
    """

    n_streams: int
    fed_s: float
    searched_s: float
    waiting_s: float
    busy_s: float
    n_steps: int
    n_lanes: int


class Engine(Owner):
    """A bundle (a directory made by `senone import` and `senone graph`), loaded on a device.
    bundle: its path, or the name of an installed one (docs/bundle.md). device: "cpu", "cuda:0", ... as `devices` lists them; None: SENONE_DEVICE if set, else the best.
    max_lanes: streams that one step advances together, 1..1024; more may be open. window_frames: the most frames a stream
    advances in a step, 8..256. n_threads: host threads of the CPU back end, 0: one per core. fallback: "cpu": decodes the
    unfinished utterances of a lost device again there. device_timeout_ms: a search that takes longer has lost its device; 0:
    60,000. search_device: searches, while `device` scores; None: `device` does both. model_bits: 16: the device may keep
    Gaussians in 16 bits a parameter. n_best_gaussians: of the Gaussians that states share only so many, the likeliest of a
    frame, are mixed; 0: all. cluster_share: between 0 and 1: each frame scores this share of the clusters of states with
    Gaussians of their own, the nearest, and estimates the others; 0: it scores all. max_callback_threads: most threads that run
    callbacks; 0: as many as run at once.
    Raises InvalidArgument, NotFound (the bundle, or a part of it), BadFile, IoFailure, NoDevice (with device and reason),
    Unsupported, OutOfMemory. Streams keep working after it was closed. Any threads may use one engine.
    """

    def __init__(
        self,
        bundle: Path,
        device: str | None = None,
        *,
        max_lanes: int = 8,
        window_frames: int = 32,
        n_threads: int = 0,
        fallback: str | None = None,
        device_timeout_ms: int = 0,
        search_device: str | None = None,
        model_bits: int = 32,
        n_best_gaussians: int = 0,
        cluster_share: float = 0,
        max_callback_threads: int = 0,
    ) -> None:
        config = asr_engine_config()
        lib.asr_engine_config_default(ctypes.byref(config))
        config.device = encoded("device", device)
        config.fallback = encoded("fallback", fallback)
        config.max_lanes = uint32("max_lanes", max_lanes)
        config.window_frames = uint32("window_frames", window_frames)
        config.n_threads = uint32("n_threads", n_threads)
        config.device_timeout_ms = uint32("device_timeout_ms", device_timeout_ms)
        config.search_device = encoded("search_device", search_device)
        config.model_bits = uint32("model_bits", model_bits)
        config.n_best_gaussians = uint32("n_best_gaussians", n_best_gaussians)
        config.cluster_share = cluster_share
        config.max_callback_threads = uint32("max_callback_threads", max_callback_threads)
        pointer = ctypes.c_void_p()
        check(lib.asr_engine_load(encoded("bundle", find_model(os.fspath(bundle))), ctypes.byref(config), ctypes.byref(pointer)))
        assert pointer.value is not None
        self._handle = Handle(pointer.value, lib.asr_engine_close, "the engine was closed; load another")
        self._info = self._read_info()

    @property
    def info(self) -> EngineInfo:
        """Properties of the engine and its device."""
        return self._info

    def stats(self) -> EngineStats:
        """What the engine has done so far, for monitoring. Does not wait. Raises InvalidState (closed)."""
        found = asr_engine_stats(size=ctypes.sizeof(asr_engine_stats))
        with self._handle as pointer:
            check(lib.asr_engine_get_stats(pointer, ctypes.byref(found)))
        return EngineStats(
            found.n_streams,
            found.fed_s,
            found.searched_s,
            found.waiting_s,
            found.busy_s,
            found.n_steps,
            found.n_lanes,
        )

    def recognize(self, audio: Any, rate: int | None = None, **config: Unpack[RecognizeConfig]) -> Result:
        """Recognises a recording and waits for its words.
        audio: the path of a recording, the bytes of a file, an array [n] or [n, channels] of int16, or of float32 or float64
        with full scale -1..1, or bytes of 16-bit samples. WAV, AU and .raw files (16 bits, mono) need nothing else, FLAC, Ogg,
        MP3 and others libsndfile (pip install soundfile). docs/audio.md has the formats. Bytes are taken for a file if they begin
        like one, unless `input` says what they are. With input="features" or "loglikes": an array [T, n_feature_dims] or
        [T, n_states].
        rate: samples per second of an array or a .raw file; None: the model's. config: see `RecognizeConfig`; lattice_beam is 8
        and n_best 10 unless one of them is given, and lattice_beam=0 is faster.
        Raises NotFound, IoFailure, BadFile, BadAudio (not finite, or empty), InvalidArgument, Unsupported, DeviceLost,
        OutOfMemory.
        """
        settings = cast(StreamConfig, dict(config))
        if settings.get("endpoint", "off") != "off":
            raise InvalidArgument(
                "recognize returns one result, and a recording with endpoints has many; open a stream, feed it the recording, "
                "and iterate over its events (for event in stream)"
            )
        default_lattice = "lattice_beam" not in settings and "n_best" not in settings
        if default_lattice:
            settings["lattice_beam"], settings["n_best"] = 8.0, 10
        with contextlib.ExitStack() as stack:
            pieces = self._prepare(audio, rate, settings, stack)
            try:
                stream = self.stream(**settings)
            except Unsupported:
                if not default_lattice:
                    raise
                settings["lattice_beam"], settings["n_best"] = 0.0, 1
                stream = self.stream(**settings)
            with stream:
                if isinstance(pieces, Recording):
                    again = functools.partial(Recording, audio, pieces.rate, channel=config.get("channel", MIX))
                    state = measured_state(self, pieces, again, settings)
                    if state is not None:
                        stream.set_state(state)
                for piece in pieces:
                    stream.feed(piece)
                result = stream.result()
                stream.close()
        return result

    def rows(
        self, audio: Any, rate: int | None = None, *, output: Output = "loglikes", **config: Unpack[RecognizeConfig]
    ) -> npt.NDArray[np.float32]:
        """Returns the rows of a recording, for a decoder of your own: the log-likelihoods of all senones, [T, n_states], or with
        output="features" the features [T, n_feature_dims].
        audio, rate: as in `recognize`. config: such as cmn, speaker, input. The engine needs no graph. Natural logarithms, not
        scaled. For audio that is still to come, take the ROWS events of `stream(output=...)`. Raises as `recognize`.
        """
        array_module = numpy("rows")
        choice("output", output, {"features": 1, "loglikes": 2})
        settings = cast(StreamConfig, dict(config))
        settings["output"] = output
        found: list[Any] = []
        with contextlib.ExitStack() as stack:
            pieces = self._prepare(audio, rate, settings, stack)
            with self.stream(**settings) as stream:
                for piece in pieces:
                    stream.feed(piece)
                    found.extend(event.rows for event in stream.ready() if event.rows is not None)
                stream.finish()
                for event in stream:
                    if event.error is not None:
                        raise event.error
                    if event.rows is not None:
                        found.append(event.rows)
                stream.close()
        n_values = self._info.n_feature_dims if output == "features" else self._info.n_states
        return array_module.concatenate(found) if found else array_module.empty((0, n_values), "f4")  # type: ignore[no-any-return]

    def stream(self, *, callback: EventCallback | None = None, **config: Unpack[StreamConfig]) -> Stream:
        """Opens a stream: one source of audio.
        callback: a function that gets each event on a thread of the library, never two at once. Its exceptions cancel the
        stream and are raised by `Stream.wait`. None: events are taken from the stream. config: see `StreamConfig`, such as
        rate=8000, partial_interval_ms=500, lattice_beam=8, n_best=10.
        Raises InvalidArgument (with the setting and its range), Unsupported, OutOfMemory, DeviceLost, InvalidState (the engine
        or the speaker was closed).
        """
        row_length = self._info.n_states if config.get("input") == "loglikes" else self._info.n_feature_dims
        return Stream(self._handle, row_length, config, callback)

    def speaker(self) -> Speaker:
        """Makes a speaker without adaptation data, for the setting ``speaker`` of streams.
        Reads the acoustic model again, unless another speaker of the engine has it in memory. Raises Unsupported (a model with
        rows of over 96 values), NotFound, BadFile, IoFailure, OutOfMemory, InvalidState (closed).
        """
        return Speaker(self._handle, self._info.n_feature_dims)

    def add_graph(self, name: str, graph: Path | bytes | bytearray | memoryview) -> None:
        """Loads a graph under a name, by which streams choose it; "" is the bundle's own.
        graph: the path of a bundle or of a graph archive (`senone graph --archive`), or the bytes of an archive, such as a
        `Grammar`. It must be made for the engine's acoustic model. If a graph has the name, it is replaced: current utterances
        go on with it, later ones use the new graph. Raises InvalidArgument, NotFound, BadFile, IoFailure, Unsupported (made for
        another model), DeviceLost, OutOfMemory, InvalidState (closed); nothing has changed then.
        """
        with self._handle as pointer:
            if isinstance(graph, (bytes, bytearray, memoryview)):
                graph = bytes(graph)
                status = lib.asr_engine_add_graph_bytes(pointer, encoded("name", name), graph, len(graph))
            else:
                status = lib.asr_engine_add_graph(pointer, encoded("name", name), encoded("graph", os.fspath(graph)))
            check(status)
        if name == "":
            self._info = self._read_info()

    def remove_graph(self, name: str) -> None:
        """Removes a graph by its name; streams that have chosen it keep it. Raises NotFound, InvalidArgument (the bundle's own,
        "", cannot be removed), InvalidState (closed)."""
        with self._handle as pointer:
            check(lib.asr_engine_remove_graph(pointer, encoded("name", name)))

    def boost(
        self, phrases: Lines | None, bonus: float = 5.0, graph: str | None = None, *, allow_unknown: bool = False
    ) -> None:
        """Boosts phrases, as `Stream.boost`, in all later utterances of streams with a `lattice_beam`.
        graph: the name of a graph, or None: every graph of the engine. None as phrases removes those of the same graph; otherwise
        calls add up. allow_unknown: leaves out phrases with words that the graph lacks, and the logger warns of them. Raises
        NotFound (no such graph; words that it lacks), InvalidArgument, Unsupported (over 1 MiB), OutOfMemory, InvalidState
        (closed)."""
        data = None if phrases is None else utf8("phrases", normalised(joined("phrases", phrases)))
        n_bytes, allowed = 0 if data is None else len(data), flag("allow_unknown", allow_unknown)
        with self._handle as pointer:
            name = encoded("graph", graph)
            check(lib.asr_engine_boost(pointer, name, data, n_bytes, real("bonus", bonus), allowed))

    def add_model(self, name: str, bundle: Path) -> None:
        """Loads the acoustic model of a bundle and gives it a name, for the setting ``models`` of streams.

        bundle: its path; its model must have the states, the sample rate and the frame shift of the engine's own, and needs no
        graph. If a model has the name, it is replaced for streams that are opened later. Raises InvalidArgument (also for "",
        the engine's own), NotFound, BadFile, IoFailure, Unsupported (other states; more than 32 models), DeviceLost,
        OutOfMemory, InvalidState (closed); all is then as it was.
        """
        with self._handle as pointer:
            check(lib.asr_engine_add_model(pointer, encoded("name", name), encoded("bundle", os.fspath(bundle))))

    def remove_model(self, name: str) -> None:
        """Takes a model's name away; streams that have the model keep it. Raises NotFound, InvalidArgument (the engine's own, "",
        stays), InvalidState (closed)."""
        with self._handle as pointer:
            check(lib.asr_engine_remove_model(pointer, encoded("name", name)))

    def __repr__(self) -> str:
        return f"<senone.Engine on {self._info.device_id} ({self._info.device_name})>"

    def _prepare(self, audio: Any, rate: int | None, settings: StreamConfig, stack: contextlib.ExitStack) -> Iterable[Any]:
        """Returns the pieces to feed; sets the rate, the channels, and the input type."""
        is_path = isinstance(audio, (str, os.PathLike))
        if not is_path and (not hasattr(audio, "__len__") or getattr(audio, "shape", None) == ()):
            raise InvalidArgument(f"audio is a {type(audio).__name__}; it must be a path, an array or bytes")
        if is_path and not os.fspath(audio):
            raise InvalidArgument("audio is an empty path; name a recording")
        if settings.get("input") in ("features", "loglikes"):
            if is_path:
                raise InvalidArgument(f"{os.fspath(audio)}: features and log-likelihoods are given as arrays")
            return _pieces(audio)
        if is_path:
            recording = self._open(audio, rate, settings, stack)
            assert recording is not None
            return recording
        is_bytes = isinstance(audio, (bytes, bytearray)) or (isinstance(audio, memoryview) and audio.format in "Bbc")
        if is_bytes and "input" not in settings and len(audio) > 0:
            file = self._open(bytes(audio), rate, settings, stack)
            if file is not None:
                return file
        if rate is not None:
            settings["rate"] = rate
        shape: tuple[int, ...] = getattr(audio, "shape", None) or (len(audio),)
        if end := transposed(shape, "it is"):
            raise InvalidArgument(f"audio has the shape {list(shape)}: {end}")
        if len(shape) == 2 and "n_channels" not in settings:
            settings["n_channels"] = shape[1]
        if shape[0] == 0:
            raise BadAudio("no audio: the recording has no samples")
        return _pieces(audio, settings.get("n_channels", 1))

    def _open(
        self, source: Path | bytes, rate: int | None, settings: StreamConfig, stack: contextlib.ExitStack
    ) -> Recording | None:
        """Opens a file, which the stack closes. None: bytes that are no file."""
        channel = settings.get("channel", MIX)
        recording = Recording(source, rate or int(self._info.sample_rate_hz), channel=channel)
        stack.enter_context(recording)
        if isinstance(source, bytes) and not recording.has_header:
            return None
        if rate is not None and rate != recording.rate:
            raise InvalidArgument(f"rate is {rate}, but the file says {recording.rate} Hz; leave the rate out")
        if settings.get("n_channels", recording.n_channels) != recording.n_channels:
            raise InvalidArgument(
                f"n_channels is {settings['n_channels']}, but the file has {recording.n_channels}; leave it out"
            )
        stack.callback(log_warnings, recording)
        settings["rate"] = recording.rate
        settings["input"] = "float"
        settings["n_channels"] = 1
        settings.pop("channel", None)
        return recording

    @property
    def memory(self) -> EngineMemory:
        """The memory in which tensors of scores may be (rows_memory of `Engine.stream`, `Decoder`)."""
        found = asr_engine_memory(size=ctypes.sizeof(asr_engine_memory))
        with self._handle as pointer:
            check(lib.asr_engine_get_memory(pointer, ctypes.byref(found)))
        return EngineMemory(MEMORY_NAMES[found.memory], found.ordinal, found.context, found.device)

    def _read_info(self) -> EngineInfo:
        found = asr_engine_info(size=ctypes.sizeof(asr_engine_info))
        with self._handle as pointer:
            check(lib.asr_engine_get_info(pointer, ctypes.byref(found)))
        return EngineInfo(
            text(found.device_id),
            text(found.device_name),
            found.sample_rate_hz,
            found.frame_shift_ms,
            found.n_feature_dims,
            found.n_states,
            found.n_words,
            found.n_graph_states,
            found.n_graph_arcs,
            text(found.search_device_id),
            text(found.search_device_name),
            bool(found.is_batch),
            found.n_measurements,
        )


def _pieces(values: Any, n_channels: int = 1) -> Iterator[Any]:
    n = _PIECE * n_channels  # whole samples of interleaved channels
    for begin in range(0, len(values), n):
        yield values[begin : begin + n]
