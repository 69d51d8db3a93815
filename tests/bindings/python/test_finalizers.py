# SPDX-License-Identifier: Apache-2.0
"""Objects without references are closed by another thread: a collection waits for nothing, whatever lock its thread holds."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import unittest

from common import engine, samples

import senone
from senone import _stream
from senone._handle import Handle, Owner


def run_python(program: str) -> subprocess.CompletedProcess[str]:
    """A program that hangs ends with a trace of its threads."""
    begin = "import faulthandler, gc, os, senone, threading, time\nfaulthandler.dump_traceback_later(60, exit=True)\n"
    return subprocess.run([sys.executable, "-c", begin + program], capture_output=True, text=True)


def n_live_becomes(n: int) -> bool:
    """Waits until the library has n streams."""
    end_s = time.monotonic() + 60
    while _stream._n_live != n and time.monotonic() < end_s:
        time.sleep(0.001)
    return _stream._n_live == n


class Blocked:
    """A stream whose callback waits until `go_on` is set; its cycle of references needs a collection."""

    def __init__(self) -> None:
        self.inside, self.go_on = inside, go_on = threading.Event(), threading.Event()

        def callback(event: senone.Event) -> None:
            inside.set()
            go_on.wait()

        self.stream = engine().stream(callback=callback)
        self.me = self
        self.inside.wait()


class Finalizers(unittest.TestCase):
    def setUp(self) -> None:
        engine()
        gc.collect()
        self.assertTrue(n_live_becomes(0))

    def test_a_collection_may_hold_a_lock_that_the_callback_wants(self) -> None:
        run = run_python(
            "lock, inside = threading.Lock(), threading.Event()\n"
            "def callback(event):\n"
            "    inside.set()\n"
            "    with lock: pass\n"
            "engine = senone.Engine(os.environ['SENONE_TONES'] + '/bundle', 'cpu')\n"
            "gc.disable()\n"
            "class Owner: pass\n"
            "owner = Owner()\n"
            "owner.stream, owner.me = engine.stream(callback=callback), owner\n"
            "with lock:\n"
            "    inside.wait()\n"
            "    del owner\n"
            "    gc.collect()\n"
            "print('collected')\n"
        )
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "collected\n", ""))

    def test_a_collection_may_happen_inside_the_inbox(self) -> None:
        run = run_python(
            "engine = senone.Engine(os.environ['SENONE_TONES'] + '/bundle', 'cpu')\n"
            "stream = engine.stream()\n"
            "stream.next()\n"
            "inbox = stream._inbox\n"
            "with inbox._changed:\n"
            "    del stream\n"
            "print('collected')\n"
        )
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "collected\n", ""))

    def test_a_blocked_callback_delays_no_other_stream(self) -> None:
        blocked = Blocked()
        go_on = blocked.go_on
        del blocked
        gc.collect()
        for _ in range(20):
            stream = engine().stream()
            stream.feed(samples())
            del stream
        self.assertTrue(n_live_becomes(1))
        go_on.set()
        self.assertTrue(n_live_becomes(0))

    def test_a_callback_may_drop_its_own_stream(self) -> None:
        streams: list[senone.Stream] = []
        opened, dropped = threading.Event(), threading.Event()

        def callback(event: senone.Event) -> None:
            opened.wait()
            streams.clear()
            dropped.set()

        streams.append(engine().stream(callback=callback))
        opened.set()
        self.assertTrue(dropped.wait(60))
        self.assertTrue(n_live_becomes(0))

    def test_another_thread_closes(self) -> None:
        closed_by: list[threading.Thread] = []
        closed = threading.Event()

        def free(pointer: int) -> None:
            closed_by.append(threading.current_thread())
            closed.set()

        owner = Owner()
        owner._handle = Handle(1, free, "it was closed")
        del owner
        self.assertTrue(closed.wait(60))
        self.assertEqual(closed_by[0].name, "senone closer")
        self.assertTrue(closed_by[0].daemon)

    def test_the_end_of_the_interpreter_closes_what_was_dropped(self) -> None:
        run = run_python(
            "engine = senone.Engine(os.environ['SENONE_TONES'] + '/bundle', 'cpu')\n"
            "inside, n_done = threading.Event(), 0\n"
            "def callback(event):\n"
            "    global n_done\n"
            "    inside.set()\n"
            "    time.sleep(0.2)\n"
            "    n_done += 1\n"
            "stream = engine.stream(callback=callback)\n"
            "inside.wait()\n"
            "del stream\n"
            "for _ in range(10): engine.stream()\n"
            "import atexit, senone._stream\n"
            "atexit._run_exitfuncs()\n"
            "print(n_done, senone._stream._n_live)\n"
            "del engine\n"
        )
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "1 0\n", ""))

    def test_the_end_of_the_interpreter_waits_for_no_callback_for_ever(self) -> None:
        run = run_python(
            "import senone._stream\n"
            "senone._stream._LONGEST_CLOSING_S = 0.5\n"
            "engine = senone.Engine(os.environ['SENONE_TONES'] + '/bundle', 'cpu')\n"
            "lock, inside = threading.Lock(), [threading.Event(), threading.Event()]\n"
            "lock.acquire()\n"
            "def blocked(i):\n"
            "    def callback(event):\n"
            "        inside[i].set()\n"
            "        lock.acquire()\n"
            "    return callback\n"
            "streams = [engine.stream(callback=blocked(0)), engine.stream(callback=blocked(1)), engine.stream()]\n"
            "for each in inside: each.wait()\n"
            "print('exits')\n"
        )
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "exits\n", ""))

    def test_a_forked_process_closes_its_own(self) -> None:
        blocked = Blocked()
        go_on = blocked.go_on
        del blocked
        gc.collect()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                own = senone.Engine(os.environ["SENONE_TONES"] + "/bundle", "cpu", n_threads=1)
                for _ in range(5):
                    own.stream().feed(samples())
                status = 0 if n_live_becomes(0) else 2
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        go_on.set()
        self.assertTrue(n_live_becomes(0))
