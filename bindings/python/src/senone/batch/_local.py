# SPDX-License-Identifier: Apache-2.0
"""Uses every device of this host: one or more worker processes per device, each with an engine; recordings go to the least
loaded.
If a process dies, its recordings are recognised again, at most `retries` times. A recording may have caused the death. So its
last attempt runs alone, where no other recording suffers or is blamed.
"""

from __future__ import annotations

import dataclasses
import json
import os
import selectors
import subprocess
import sys
from collections import deque
from typing import Callable, Iterable

import senone

from ._common import Failure, Item, Record, Settings, failed_record
from ._recognizer import Fate
from ._worker import DEVICE_LOST

MOST_DEATHS = 5  # consecutive deaths of a worker without a result
TICK_S = 0.2
READ_BYTES = 1 << 20

OnRecord = Callable[[Item, Record, str], None]


def default_devices() -> list[str]:
    """Returns the device of SENONE_DEVICE, else all devices of the best back end. Raises Failure."""
    named = os.environ.get("SENONE_DEVICE")
    if named:
        return [named]
    usable = [device.id for device in senone.devices() if device.usable]
    if not usable:
        raise Failure("no device can be used; `senone devices` says why")
    return [name for name in usable if name.partition(":")[0] == usable[0].partition(":")[0]]


def spread(settings: Settings, devices: list[str], n_workers: int, n_cores: int) -> list[Settings]:
    """Returns the settings of each worker: devices in turn; workers on the same host cores share them."""
    named = [devices[i % len(devices)] for i in range(n_workers or len(devices))]
    n_on_cpu = sum(name.partition(":")[0] == "cpu" for name in named)
    workers = []
    for name in named:
        threads = settings.threads
        if name.partition(":")[0] == "cpu" and n_on_cpu > 1 and threads == 0:
            threads = max(1, n_cores // n_on_cpu)
        workers.append(dataclasses.replace(settings, device=name, threads=threads))
    return workers


class _Worker:
    """A process with its assigned recordings."""

    def __init__(self, settings: Settings, label: str) -> None:
        self.settings = settings
        self.name = settings.device or ""
        self.label = label  # unique if several share a device
        self.items: dict[int, Item] = {}
        self.n_jobs = 0  # 0: not ready
        self.n_deaths = 0  # since its last result
        self.alone = False  # it runs a last attempt, and gets no other recordings
        self.failure = ""
        self._rest = b""
        self.start()

    def start(self) -> None:
        """Starts a process; it becomes ready later."""
        self.n_jobs, self.alone, self.failure, self._rest = 0, False, "", b""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "senone.batch._worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # only the batch itself gets Ctrl-C
        )
        self._send(json.dumps(dataclasses.asdict(self.settings)))

    def give(self, item: Item) -> None:
        """Sends a recording to recognise."""
        self.items[item.number] = item
        self._send(json.dumps(item))

    def read(self) -> list[bytes] | None:
        """Returns complete lines of its answers; None once it has ended."""
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), READ_BYTES)
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        return lines

    def end(self) -> None:
        """Kills the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except OSError:  # unread input
                pass

    def how_it_ended(self) -> str:
        """Describes its end in words."""
        status = self.process.returncode
        if status == DEVICE_LOST:
            return "lost its device"
        return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"

    @property
    def free(self) -> int:
        """Returns the number of recordings it accepts now: a few more than it works on, so that it never waits for the next."""
        return 0 if self.n_jobs == 0 or self.alone else self.n_jobs + self.n_jobs // 4 + 1 - len(self.items)

    @property
    def load(self) -> float:
        """Returns its recordings per concurrent job."""
        return len(self.items) / self.n_jobs if self.n_jobs else 0.0

    def _send(self, line: str) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:  # it has died, which reading will detect
            pass


class LocalRun:
    """Recognises all items. on_record gets each result once; say gets messages for the user; tick is called continually."""

    def __init__(
        self,
        workers: Iterable[Settings],
        retries: int,
        on_record: OnRecord,
        say: Callable[[str], None],
        tick: Callable[[], None],
    ) -> None:
        self._retries = retries
        self._on_record, self._say, self._tick = on_record, say, tick
        self._waiting: deque[Item] = deque()
        self._last_attempts: deque[Item] = deque()
        self._n_failures: dict[int, int] = {}
        self._n_left = 0
        self._begun = False
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Worker] = []
        try:
            for settings in workers:
                n_same = sum(worker.settings.device == settings.device for worker in self._workers)
                self._workers.append(_Worker(settings, f", worker {n_same + 1}" if n_same else ""))
                self._watch(self._workers[-1])
            while any(worker.n_jobs == 0 for worker in self._workers):
                self._receive()
        except BaseException:
            self.close()
            raise

    @property
    def names(self) -> list[str]:
        """Names of the devices."""
        return [worker.name for worker in self._workers]

    def run(self, items: Iterable[Item], n_items: int, may_go_on: Callable[[], bool]) -> None:
        """Recognises items, taken as workers become free, while may_go_on allows it. Raises Failure if no worker is left."""
        source = iter(items)
        self._n_left, self._begun = n_items, True
        while self._n_left > 0:
            while len(self._waiting) < len(self._workers) and may_go_on():
                item = next(source, None)
                if item is None:
                    break
                self._waiting.append(item)
                self._give_out()
            self._give_out()
            self._receive()
            self._tick()

    def close(self) -> None:
        """Ends all workers."""
        for worker in self._workers:
            worker.end()
        self._selector.close()

    def _watch(self, worker: _Worker) -> None:
        assert worker.process.stdout is not None
        self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)

    def _give_out(self) -> None:
        """Sends recordings to the least loaded workers with free capacity."""
        reserved = None
        if self._last_attempts and not any(worker.alone for worker in self._workers):
            ready = [worker for worker in self._workers if worker.n_jobs]
            reserved = min(ready, key=lambda worker: len(worker.items), default=None)
            if reserved is not None and not reserved.items:
                reserved.alone = True
                reserved.give(self._last_attempts.popleft())
        while self._waiting:
            free = [worker for worker in self._workers if worker.free > 0 and worker is not reserved]
            if not free:
                return
            min(free, key=lambda worker: worker.load).give(self._waiting.popleft())

    def _receive(self) -> None:
        """Reads the answers of workers, or waits briefly."""
        for key, _ in self._selector.select(TICK_S):
            worker: _Worker = key.data
            lines = worker.read()
            if lines is None:
                self._bury(worker)
                continue
            for line in lines:
                self._take(worker, json.loads(line))

    def _take(self, worker: _Worker, answer: dict[str, object]) -> None:
        if "failed" in answer:
            worker.failure = str(answer["failed"])
        elif "ready" in answer:
            worker.name = f"{answer['ready']}{worker.label}"
            assert isinstance(answer["jobs"], int)
            worker.n_jobs = answer["jobs"]
        else:
            number, record = answer["number"], answer["record"]
            assert isinstance(number, int) and isinstance(record, dict)
            item = worker.items.pop(number)
            worker.n_deaths, worker.alone = 0, False
            if answer["fate"] == Fate.DONE.value:
                self._finish(item, record, worker.name)
            else:
                self._try_again(item, record, worker.name, is_suspect=answer["fate"] == Fate.LOST.value)

    def _finish(self, item: Item, record: Record, name: str) -> None:
        self._n_left -= 1
        self._n_failures.pop(item.number, None)
        self._on_record(item, record, name)

    def _try_again(self, item: Item, record: Record, name: str, is_suspect: bool) -> None:
        """Handles a failed attempt with this record as its result. is_suspect: it may have harmed the worker."""
        n = self._n_failures[item.number] = self._n_failures.get(item.number, 0) + 1
        if n > self._retries:
            self._finish(item, record, name)
        elif n == self._retries and is_suspect:
            self._last_attempts.append(item)
        else:
            self._waiting.append(item)

    def _bury(self, worker: _Worker) -> None:
        """Handles the end of a worker: its recordings go to others, and a new worker replaces it."""
        self._selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
        worker.end()
        items = list(worker.items.values())
        worker.items.clear()
        worker.n_deaths += not worker.alone  # a death in a last attempt is the recording's fault
        how = f"cannot start: {worker.failure}" if worker.failure else worker.how_it_ended()
        problem = f"the worker on {worker.name} {how}"
        if not self._begun:
            raise Failure(worker.failure or problem)
        for item in items:
            self._try_again(
                item, failed_record(item, f"{problem} while it recognised this"), worker.name, is_suspect=True
            )
        if worker.failure or worker.n_deaths >= MOST_DEATHS:
            self._workers.remove(worker)
            if not self._workers:
                raise Failure(f"{problem}; no worker is left")
            self._say(f"{problem}; the others go on without it")
            return
        self._say(f"{problem}; {len(items)} recordings are tried again, and another worker begins")
        worker.start()
        self._watch(worker)
