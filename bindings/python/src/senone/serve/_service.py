# SPDX-License-Identifier: Apache-2.0
"""Admits connections, watches them, and owns their streams; the protocols are built on it.

A connection is a coroutine of asyncio. The library's threads recognise, and their events wake it (`Inbox.take_async`).
Whatever may block, such as compiling a grammar, runs on a few threads of `Service.run`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any, AsyncIterator, Awaitable, Callable, TypeVar

import senone
from senone._events import Event, EventKind
from senone._stream import Stream

from ._log import log, log_failure
from ._metrics import Metrics
from ._models import MAX_PHRASE, Lease, Model
from ._options import Options
from ._refused import Gone, Refused, refusal
from ._results import is_heard

_T = TypeVar("_T")

_PIECE_S = 0.25  # of audio that is fed at a time
_BACKLOG_MS = 1000  # of audio beyond which a client waits
_FIRST_DELAY_S, _LAST_DELAY_S = 0.005, 0.1  # between attempts to feed
_WATCH_S = 0.25
_THREADS = 4
STOPPING, LAG = "stopping", "lag"  # reasons of an interruption


class Service:
    """The models and the connections of one server. All of it runs on one event loop."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.limits = options.limits
        self.models: dict[str, Model] = {}
        self.stopping = False
        self.metrics = Metrics(lambda: list(self.models.values()))
        self._pool = ThreadPoolExecutor(_THREADS, "senone serve")
        self._long_pool = ThreadPoolExecutor(1, "senone load")  # so that a long grammar keeps only other grammars waiting
        self._connections: set[Connection] = set()
        self._numbers = itertools.count(1)
        self._loading = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None
        self._empty = asyncio.Event()
        self._empty.set()
        self.lost = asyncio.Event()  # no model has a device left

    @property
    def n_connections(self) -> int:
        return len(self._connections)

    async def run(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Calls a function that may block, for a moment, on another thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def run_long(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """`run` for a function that takes seconds, such as loading a bundle or compiling a grammar; one at a time."""
        return await asyncio.get_running_loop().run_in_executor(self._long_pool, function, *arguments)

    async def start(self) -> None:
        """Loads the bundles. Raises senone.Error, ImportError."""
        await self._load()
        self._watching = asyncio.ensure_future(self._watch())

    async def reload(self) -> None:
        """Loads the bundles again. Streams that are open go on with the old ones; on failure all do."""
        try:
            await self._load()
        except Exception:
            log_failure("the bundles were not loaded again; the old ones stay")

    async def _load(self) -> None:
        async with self._loading:
            loaded: dict[str, Model] = {}
            try:
                for bundle in self.options.bundles:
                    begin_s = time.monotonic()
                    model = loaded[bundle.name] = await self.run_long(Model, bundle, self.options)
                    devices = [engine.info.device_id for engine in model.engines]
                    seconds = round(time.monotonic() - begin_s, 3)
                    log("model loaded", model=model.name, rate=model.rate, devices=devices, seconds=seconds)
            except BaseException:
                for model in loaded.values():
                    await self.run(model.close)
                raise
            replaced, self.models = self.models, loaded
            for model in replaced.values():
                await self.run(model.close)

    async def stop(self) -> None:
        """Refuses new connections, waits for those that are open, and ends them once the grace is over. Called again, it ends
        them at once."""
        grace_s = 0.0 if self.stopping else self.limits.grace_s
        self.stopping = True
        log("stopping", connections=self.n_connections, grace_s=grace_s)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._empty.wait(), grace_s)
        for connection in list(self._connections):
            connection.interrupt(STOPPING)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._empty.wait(), self.limits.lag_s)

    async def close(self) -> None:
        """Frees everything, after the last connection."""
        if self._watching is not None:
            self._watching.cancel()
        for model in self.models.values():
            await self.run(model.close)
        self._pool.shutdown(wait=False)
        self._long_pool.shutdown(wait=False)

    def model(self, name: Any, language: Any = None) -> Model:
        """Returns a model by its name, or else the first of the language, or else the first; both are what a client has sent.
        Raises Refused."""
        for each in (name, language):
            if each is not None and not isinstance(each, str):
                raise Refused(400, "malformed", "a model and a language are named by texts")
        if name:
            if name not in self.models:
                raise Refused(404, "model", f"there is no model {name[:100]!r}; there are {', '.join(self.models)}")
            return self.models[name]
        models = list(self.models.values())
        wanted = language or models[0].language
        return min(models, key=lambda model: _distance(wanted, model.language))

    @contextlib.asynccontextmanager
    async def connection(self, protocol: str, peer: str) -> AsyncIterator[Connection]:
        """Admits a connection, and closes its stream at the end. Raises Refused."""
        self.check_room()
        connection = Connection(self, next(self._numbers), protocol, peer)
        self._connections.add(connection)
        self._empty.clear()
        self.metrics.connections.labels(protocol).inc()
        try:
            yield connection
        except Gone as gone:
            connection.reason = gone.reason
            raise
        except Refused as refused:
            connection.reason = refused.reason
            raise
        except asyncio.CancelledError:
            connection.reason = "cancelled"
            raise
        except BaseException:
            connection.reason = "internal"
            raise
        finally:
            await connection.close()
            self._connections.discard(connection)
            self.metrics.connections.labels(protocol).dec()
            self.metrics.ended.labels(protocol, connection.reason).inc()
            if not self._connections:
                self._empty.set()

    def check_room(self) -> None:
        """Raises Refused if no connection is admitted now."""
        if self.stopping:
            raise self.refuse(Refused(503, STOPPING, "the server is stopping"))
        if len(self._connections) >= self.limits.connections:
            raise self.refuse(Refused(503, "full", f"all {self.limits.connections} connections are taken; try again later"))

    def refuse(self, refused: Refused) -> Refused:
        """Counts a refusal and returns it."""
        self.metrics.refused.labels(refused.reason).inc()
        return refused

    async def _watch(self) -> None:
        """Interrupts the connections whose client does nothing, or does not read, and sees when there is no device left."""
        while True:
            await asyncio.sleep(_WATCH_S)
            if all(all(model.lost()) for model in self.models.values()):
                self.lost.set()
            now_s = time.monotonic()
            for connection in list(self._connections):
                connection.check_time(now_s)


class Connection:
    """A client and its stream, if it has one. It is used by the task that made it, and by tasks of that."""

    def __init__(self, service: Service, number: int, protocol: str, peer: str) -> None:
        self.service = service
        self.protocol = protocol
        self.peer = peer
        self.number = number
        self.reason = "done"
        self.audio_s = 0.0
        self.n_results = 0
        self.session: Session | None = None
        self._model = ""
        self._task = asyncio.current_task()
        self._begin_s = time.monotonic()
        self._receiving_since: float | None = None
        self._sending_since: dict[asyncio.Task[Any] | None, float] = {}
        self._interrupted: str | None = None

    async def receive(self, read: Awaitable[_T]) -> _T | None:
        """Waits for the client. None: it is to end, as the server stops. Raises Gone if the client does nothing."""
        if self._interrupted is not None:
            if asyncio.iscoroutine(read):
                read.close()
            self._end()
            return None
        self._receiving_since = time.monotonic()
        try:
            return await read
        except asyncio.CancelledError:
            if self._interrupted is None:
                raise
            _uncancel()
            self._end()
            return None
        finally:
            self._receiving_since = None

    async def send(self, write: Awaitable[Any]) -> None:
        """Waits until the client has room for what is written. Raises Gone if it does not read, or has left."""
        task = asyncio.current_task()
        self._sending_since[task] = time.monotonic()
        try:
            await write
        except asyncio.CancelledError:
            if self._interrupted != LAG:
                raise
            _uncancel()
            raise Gone(LAG, 1008) from None
        except (OSError, RuntimeError):  # aiohttp: "Cannot write to closing transport"
            raise Gone("vanished") from None
        finally:
            del self._sending_since[task]

    def interrupt(self, reason: str) -> None:
        """Makes `receive` return, or its next call. Only a lag ends `send`, so that no result is lost."""
        if self._interrupted in (reason, LAG):
            return
        self._interrupted = reason
        if self._receiving_since is not None and self._task is not None:
            self._task.cancel()
        if reason == LAG:
            for task in self._sending_since:
                if task is not None:
                    task.cancel()

    def check_time(self, now_s: float) -> None:
        """Interrupts what takes too long."""
        limits = self.service.limits
        if self._sending_since and now_s - min(self._sending_since.values()) > limits.lag_s:
            self.interrupt(LAG)
        elif self._receiving_since is not None and now_s - self._receiving_since > limits.idle_s:
            self.interrupt("idle")

    def _end(self) -> None:
        """Raises Gone unless the server stops, when the conversation may still end well."""
        assert self._interrupted is not None
        self.reason = self._interrupted
        if self._interrupted != STOPPING:
            raise Gone(self._interrupted, 1008)

    async def open(
        self, model: Model, *, phrases: list[str] | None = None, srgs: str | None = None, rate: int | None = None, **config: Any
    ) -> Session:
        """Opens the stream, in place of an earlier one. Raises Refused."""
        await self.close_stream()
        rate = rate or model.rate
        try:
            model, lease, stream = await self._place(model, phrases, srgs, {"rate": rate, "max_backlog_ms": _BACKLOG_MS, **config})
        except senone.NotFound:
            raise Refused(400, "model", f"the model {model.name} has no graph of its own; send a grammar") from None
        except senone.Error as error:
            raise self.failed(error) from None
        self._model = model.name
        width = {"float": 4, "int16": 2}.get(config.get("input", "float"), 1)
        self.session = Session(self, lease, stream, rate, width, config.get("n_channels", 1))
        return self.session

    async def _place(
        self, model: Model, phrases: list[str] | None, srgs: str | None, config: dict[str, Any]
    ) -> tuple[Model, Lease, Stream]:
        """Opens a stream on an engine that has its device. Raises Refused, senone.Error."""
        while True:
            try:
                model, lease = await self._lease(model, phrases, srgs)
            except senone.DeviceLost:
                continue  # to the next engine; the last one is refused
            try:
                return model, lease, lease.engine.stream(graph=lease.graph, **config)
            except senone.DeviceLost:
                lease.lose()
                lease.release()
            except BaseException:
                lease.release()
                raise

    async def _lease(self, model: Model, phrases: list[str] | None, srgs: str | None) -> tuple[Model, Lease]:
        """Returns a place on the model, or on that of its name which a reload has put there, also while the grammar compiles.
        Raises Refused, senone.Error."""
        while True:
            model = self.service.models.get(model.name, model)
            if phrases is None and srgs is None:
                return model, model.lease()
            try:
                lease = await self.service.run_long(model.lease, phrases, srgs)
            except senone.Error:
                if self.service.models.get(model.name, model) is model:
                    raise
                continue  # the model was closed
            if self.service.models.get(model.name, model) is model:
                return model, lease
            lease.release()

    def failed(self, error: senone.Error) -> Refused:
        """Returns what the client is told of an error of the library."""
        refused = refusal(error)
        if refused.status >= 500:
            log("recognition failed", connection=self.number, error=str(error))
        return refused

    async def close_stream(self) -> None:
        """Closes the stream, if there is one; a task that is cancelled does, too."""
        session, self.session = self.session, None
        if session is not None:
            await asyncio.shield(asyncio.ensure_future(self.service.run(session.close)))

    async def close(self) -> None:
        """Closes the stream and logs the connection."""
        await self.close_stream()
        log(
            "connection ended",
            connection=self.number,
            protocol=self.protocol,
            peer=self.peer,
            model=self._model,
            audio_s=round(self.audio_s, 3),
            results=self.n_results,
            seconds=round(time.monotonic() - self._begin_s, 3),
            reason=self.reason,
        )


class Session:
    """A stream of the library for one connection: samples in, events out. Raises Refused where the library fails."""

    def __init__(
        self, connection: Connection, lease: Lease, stream: Stream, rate: int, sample_bytes: int, n_channels: int
    ) -> None:
        self._connection = connection
        self._lease = lease
        self._stream = stream
        self._rate = rate
        self._frame_bytes = sample_bytes * n_channels
        self._rest = b""  # of a sample that a message has cut
        self._fed_s = 0.0
        self._finished = False
        self._boosts: list[tuple[list[str], float]] = []
        self._marks: deque[tuple[float, float]] = deque(maxlen=1000)  # end of what was fed, when
        self._audio = connection.service.metrics.audio.labels(connection.protocol)

    async def feed(self, data: bytes) -> None:
        """Feeds interleaved samples; a message may end within one. Waits while too much audio is not recognised yet."""
        data = self._rest + data if self._rest else data
        n_bytes = len(data) - len(data) % self._frame_bytes
        self._rest = bytes(data[n_bytes:])
        step = max(1, int(_PIECE_S * self._rate)) * self._frame_bytes
        view = memoryview(data)
        for begin in range(0, n_bytes, step):
            piece = view[begin : min(begin + step, n_bytes)]
            await self.feed_samples(piece, len(piece) // self._frame_bytes)

    async def feed_samples(self, samples: Any, n: int) -> None:
        """Feeds at once n samples of each channel, of a type that the stream takes."""
        connection = self._connection
        connection.audio_s += n / self._rate
        if connection.audio_s > connection.service.limits.audio_s:
            raise Refused(413, "audio", f"more than {connection.service.limits.audio_s:g} s of audio")
        delay_s = _FIRST_DELAY_S
        while True:
            try:
                self._stream.try_feed(samples)
                break
            except senone.Busy:
                await asyncio.sleep(delay_s)
                delay_s = min(2 * delay_s, _LAST_DELAY_S)
            except senone.Error as error:
                raise self._failed(error) from None
        self._fed_s += n / self._rate
        self._marks.append((self._fed_s, time.monotonic()))
        self._audio.inc(n / self._rate)

    def ready(self) -> list[Event]:
        """Takes the events that have come."""
        return [self._counted(event) for event in self._stream.ready()]

    async def events(self) -> AsyncIterator[Event]:
        """Waits for each event, up to and including END."""
        async for event in self._stream:
            yield self._counted(event)

    def finish(self) -> None:
        """Says that the audio is complete."""
        self._finished = True
        try:
            self._stream.finish()
        except senone.Error as error:
            raise self._failed(error) from None

    async def finals(self) -> list[Event]:
        """Finishes, and returns the results up to the end."""
        self.finish()
        return [event async for event in self.events() if event.kind == EventKind.FINAL]

    async def boost_always(self, phrases: list[str], bonus: float) -> None:
        """Makes phrases likelier, in every utterance of the stream. Raises Refused."""
        limit = self._connection.service.limits.phrases
        if len(phrases) > limit:
            raise Refused(400, "grammar", f"{len(phrases)} phrases are more than the {limit} that may be boosted")
        if any(len(phrase) > MAX_PHRASE for phrase in phrases):
            raise Refused(400, "grammar", f"a phrase has over {MAX_PHRASE} characters")
        lines = [line for line in (" ".join(phrase.split()) for phrase in phrases) if line]
        known = await self._connection.service.run_long(self._known, lines, bonus)
        self._boosts.append((known, bonus))

    def _known(self, phrases: list[str], bonus: float) -> list[str]:
        """Boosts phrases, and returns those whose words the graph has. Clients give names to whatever graph is served."""
        try:
            self._boost([(phrases, bonus)])
            return phrases
        except senone.NotFound:
            if len(phrases) == 1:
                return []
        middle = len(phrases) // 2
        return self._known(phrases[:middle], bonus) + self._known(phrases[middle:], bonus)

    def _boost(self, boosts: list[tuple[list[str], float]]) -> None:
        try:
            for phrases, bonus in boosts:
                if phrases:
                    self._stream.boost(phrases, bonus)
        except senone.NotFound:
            raise
        except senone.Error as error:
            raise self._failed(error) from None

    def reset(self) -> None:
        """Begins again, as a new stream."""
        self._rest, self._fed_s, self._finished = b"", 0.0, False
        self._marks.clear()
        try:
            self._stream.reset()
        except senone.Error as error:
            raise self._failed(error) from None

    def close(self) -> None:
        """Frees the stream; waits for a running callback."""
        try:
            self._stream.close()
        finally:
            self._lease.release()

    def _failed(self, error: senone.Error) -> Refused:
        if isinstance(error, senone.DeviceLost):
            self._lease.lose()
        return self._connection.failed(error)

    def _counted(self, event: Event) -> Event:
        if event.error is not None:
            raise self._failed(event.error)
        if event.kind == EventKind.FINAL:
            connection = self._connection
            metrics = connection.service.metrics
            connection.n_results += 1
            kind = "heard" if is_heard(event) else "rejected" if event.rejected else "empty"
            metrics.results.labels(connection.protocol, kind).inc()
            latency_s = self._latency(event)
            if latency_s is not None:
                metrics.latency.labels(connection.protocol).observe(latency_s)
            if not self._finished:
                self._boost(self._boosts)  # a boost is for one utterance
        return event

    def _latency(self, final: Event) -> float | None:
        """Returns the time since the end of the last word was fed; None without words, or if that is too long ago to know."""
        if not final.words:
            return None
        end_s = min(final.words[-1].end_s, self._fed_s)
        if not self._marks or self._marks[0][0] > end_s and len(self._marks) == self._marks.maxlen:
            return None
        for fed_s, at_s in self._marks:
            if fed_s >= end_s:
                return time.monotonic() - at_s
        return None


def _distance(wanted: str, has: str) -> int:
    """Returns 0 for the same tag of a language, 1 for the same language (en-GB, en_US), 2 for others."""
    one, other = (tag.lower().replace("_", "-") for tag in (wanted, has))
    return 0 if one == other else 1 if one.split("-")[0] == other.split("-")[0] else 2


def _uncancel() -> None:
    """Python 3.11 and later count cancellations; this one has been dealt with."""
    task = asyncio.current_task()
    uncancel = getattr(task, "uncancel", None)
    if uncancel is not None:
        uncancel()
