# SPDX-License-Identifier: Apache-2.0
"""Runs the batch over Ray Data: an actor for each GPU, or for a set of cores.
Ray restarts dead actors and gives their block of recordings to a living one. A block that fails too often is skipped. Its
recordings are then recognised one by one, so that the culprit is found and gets an error as its result. This process alone
writes the results, so a recording that was recognised twice has one.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import logging
import os
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import senone

from ._common import Failure, Item, Record, Settings, failed_record
from ._recognizer import GPU_JOBS, Fate, Recognizer
from ._worker import DEVICE_LOST

MOST_BLOCKS = 4096  # Ray's overhead grows with them
LEAST_IN_BLOCK = 32
LEAST_RETRIES = 2  # for a recording by itself, which may be sent to an actor that another one has just killed
MOST_CORES = 8  # per actor, without --threads
CALLS = 2  # concurrent calls per actor: one ends while the next one fills the device

Result = tuple[Item, Record, str]


class Actor:
    """Runs in a process of Ray's."""

    def __init__(self, settings: Settings) -> None:
        self._failure = ""
        try:
            self._recognizer = Recognizer(settings)
        except senone.Error as error:
            self._failure = str(error)  # an exception raised here would print pages of traceback
            return
        context = importlib.import_module("ray").get_runtime_context()
        self._name = f"{self._recognizer.engine.info.device_id} of actor {context.get_actor_id()[:8]}"
        self._slots = threading.BoundedSemaphore(self._recognizer.n_jobs)
        self._pool = ThreadPoolExecutor(CALLS * self._recognizer.n_jobs)

    def __call__(self, block: dict[str, Any]) -> dict[str, Any]:
        """Takes recordings and returns results; CALLS threads call it."""
        if self._failure:
            return {"answer": [json.dumps({"failed": self._failure})]}
        items = [Item(*json.loads(item)) for item in block["item"]]
        return {"answer": list(self._pool.map(self._answer, items))}

    def _answer(self, item: Item) -> str:
        with self._slots:
            record, fate = self._recognizer.recognize(item)
        if fate == Fate.LOST:  # Ray starts another actor
            os._exit(DEVICE_LOST)
        return json.dumps({"number": item.number, "fate": fate.value, "record": record, "worker": self._name})


class RayRun:
    """A cluster, and the path of recordings through it."""

    def __init__(self, settings: Settings, address: str, n_workers: int, retries: int) -> None:
        self._ray, self._data = _modules()
        self._retries = retries
        self._connect(address)
        resources = self._ray.cluster_resources()
        n_gpus, n_cpus = int(resources.get("GPU", 0)), int(resources.get("CPU", 1))
        on_cpu = settings.device.partition(":")[0] == "cpu" if settings.device else n_gpus == 0
        if on_cpu:
            threads = settings.threads or max(1, n_cpus // n_workers if n_workers else min(MOST_CORES, n_cpus))
            self._settings = dataclasses.replace(settings, device=settings.device or "cpu", threads=threads)
            self._n_workers = n_workers or max(1, n_cpus // threads)
            self._needs = {"num_cpus": threads}
            self._check(self._n_workers * threads, n_cpus, "cores")
        else:
            self._settings = settings
            self._n_workers = n_workers or n_gpus
            self._needs = {"num_gpus": 1, "num_cpus": 0}
            self._check(self._n_workers, n_gpus, "GPUs")

    @property
    def names(self) -> list[str]:
        """Names of the workers."""
        each = "a GPU" if "num_gpus" in self._needs else f"{self._settings.threads} threads"
        return [f"{self._n_workers} actors of Ray, each with {each}"]

    def results(self, items: list[Item]) -> Iterator[Result]:
        """Yields each item's result once, in the order of completion. Raises Failure."""
        missing = {item.number: item for item in items}
        together = (self._block_size(len(items)), CALLS, self._retries)
        alone = (1, 1, max(LEAST_RETRIES, self._retries))
        for way in (together, alone):
            for answer in self._answers(list(missing.values()), *way):
                number = answer["number"]
                if number in missing and (way == alone or answer["fate"] == Fate.DONE.value):
                    yield missing.pop(number), answer["record"], answer["worker"]
            if not missing:
                return
        for item in list(missing.values()):
            yield item, failed_record(item, "the actor died whenever it recognised this"), "actors that died"

    def close(self) -> None:
        """Disconnects from the cluster, and stops it if it was started here."""
        self._ray.shutdown()

    def _answers(self, items: list[Item], n_in_block: int, n_calls: int, retries: int) -> Iterator[dict[str, Any]]:
        """Yields the results of actors that work on n_calls blocks at a time."""
        rows = [{"item": json.dumps(item)} for item in items]
        dataset = self._data.from_items(rows, override_num_blocks=-(-len(rows) // n_in_block))
        n_workers = min(self._n_workers, -(-len(rows) // n_in_block))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Ray 2.60 deprecates this limit of retries and has no replacement yet
            answers = dataset.map_batches(
                Actor,
                fn_constructor_args=(self._settings,),
                batch_size=n_in_block,
                compute=self._data.ActorPoolStrategy(
                    size=n_workers,
                    max_tasks_in_flight_per_actor=2 * n_calls if n_calls > 1 else 1,
                    max_concurrent_calls_per_actor=n_calls,
                    enable_true_multi_threading=True,
                ),
                max_restarts=-1,
                max_task_retries=retries,
                **self._needs,
            )
        for row in answers.iter_rows():
            answer = json.loads(row["answer"])
            if "failed" in answer:
                raise Failure(answer["failed"])
            yield answer

    def _block_size(self, n: int) -> int:
        """Returns the recordings per block: enough to fill a device and to outweigh Ray's overhead, and some for every
        actor."""
        n_jobs = self._settings.jobs or self._settings.threads or GPU_JOBS
        shared_out = -(-n // (4 * self._n_workers))
        return max(1, min(shared_out, max(LEAST_IN_BLOCK, CALLS * n_jobs)), -(-n // MOST_BLOCKS))

    def _connect(self, address: str) -> None:
        context = self._data.DataContext.get_current()
        context.enable_progress_bars = context.print_on_execution_start = False
        context.max_errored_blocks = -1  # their recordings are retried one by one
        options: dict[str, Any] = {"address": address} if address else {}
        try:
            self._ray.init(logging_level=logging.ERROR, log_to_driver=False, **options)
        except Exception as error:  # Ray's exceptions differ by version
            raise Failure(f"Ray: {address or 'no cluster'} cannot be used: {error}") from None
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # failed blocks are retried: no traceback pages about them

    def _check(self, wanted: int, n: int, what: str) -> None:
        if wanted == 0 or wanted > n:
            self._ray.shutdown()
            raise Failure(
                f"{self._n_workers} workers need {wanted} {what}, and the cluster has {n}; change --workers or --threads"
            )


def _modules() -> tuple[Any, Any]:
    try:
        return importlib.import_module("ray"), importlib.import_module("ray.data")
    except ImportError as error:
        raise Failure(f"--ray needs Ray Data ({error}): pip install 'senone[ray]'") from None
