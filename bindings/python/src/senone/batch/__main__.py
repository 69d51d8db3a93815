# SPDX-License-Identifier: Apache-2.0
"""``python -m senone.batch``: see ``--help``."""

from __future__ import annotations

import contextlib
import sys
from typing import Sequence

import senone

from ._common import Failure, Item, Record, UsageFailure, failed_record, n_cores, printable
from ._local import LocalRun, default_devices, spread
from ._options import Options, parse
from ._output import InOrder, Output, open_output
from ._progress import Progress
from ._signals import Interrupted, die_of, end_on_signals, uninterrupted
from ._source import read_items

MOST_HELD = 10000  # most results that wait for earlier ones; beyond that, the batch waits for the late recordings


class Batch:
    """A run with its inputs and outputs."""

    def __init__(self, options: Options, items: list[Item], output: Output) -> None:
        self._options = options
        self._items = items
        self._output = output
        self.progress = Progress(len(items), options.quiet)
        self._in_order = InOrder(output, items) if options.in_order else None
        self._most_held = MOST_HELD

    def run(self) -> None:
        """Recognises everything. Raises Failure."""
        for item in self._items:
            if item.fault:
                self.progress.say(item.fault)
                self._take(item, failed_record(item, item.fault), "no device")
        n_all, self._items = len(self._items), [item for item in self._items if not item.fault]
        self._most_held = MOST_HELD + n_all - len(self._items)  # faults are held from the beginning
        if not self._items:
            return
        if self._options.ray is None:
            self._run_here()
        else:
            self._run_on_ray(self._options.ray)

    def _run_here(self) -> None:
        options = self._options
        workers = spread(options.settings, options.devices or default_devices(), options.workers, n_cores())
        with contextlib.closing(
            LocalRun(workers, options.retries, self._take, self.progress.say, self.progress.show)
        ) as run:
            self._begin(run.names)
            run.run(self._items, len(self._items), self._may_go_on)

    def _run_on_ray(self, address: str) -> None:
        from ._ray import RayRun

        options = self._options
        with contextlib.closing(RayRun(options.settings, address, options.workers, options.retries)) as run:
            self._begin(run.names)
            for item, record, worker in run.results(self._items):
                self._take(item, record, worker)

    def _begin(self, names: list[str]) -> None:
        if not self._options.quiet:
            self.progress.say(f"{len(self._items)} recordings on {', '.join(names)}")
        self.progress.begin()

    def _take(self, item: Item, record: Record, worker: str) -> None:
        with uninterrupted():
            if self._in_order is not None:
                self._in_order.write(item.number, record)
            elif not self._output.write(record):
                return
            self.progress.add(record, worker)

    def _may_go_on(self) -> bool:
        return self._in_order is None or self._in_order.n_held < self._most_held


def _run(options: Options) -> int:
    items, n_again = read_items(options.inputs, options.lists, options.manifests)
    output = open_output(options.out, options.retry_failed)
    out = printable(options.out)
    left = [item for item in items if item.id not in output.done]
    batch = Batch(options, left, output)
    say = batch.progress.say
    if n_again:
        say(f"{n_again} recordings were named more than once; each is recognised once")
    if len(left) < len(items):
        say(f"{len(items) - len(left)} of {len(items)} recordings have results in {out} already")
    try:
        if left:
            batch.run()
    except Interrupted:
        say(f"interrupted; {len(output.done)} results are in {out}, and the same command goes on from there")
        raise
    finally:
        batch.progress.hide()
        with uninterrupted():
            output.close()
    print(batch.progress.summary(), flush=True)
    if output.n_failed:
        say(f"{output.n_failed} of {len(output.done)} results in {out} are errors; --retry-failed tries those again")
    return 1 if output.n_failed else 0


def main(arguments: Sequence[str]) -> int:
    """Runs the batch and returns the exit status."""
    try:
        return _run(parse(arguments))
    except (Failure, senone.Error) as error:
        print(f"senone.batch: {printable(str(error))}", file=sys.stderr)
        return 2 if isinstance(error, UsageFailure) else 1


if __name__ == "__main__":
    end_on_signals()
    try:
        status = main(sys.argv[1:])
    except Interrupted as interrupted:
        die_of(interrupted.number)
    sys.exit(status)
