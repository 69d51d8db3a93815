# SPDX-License-Identifier: Apache-2.0
"""Tests streams: order of events, callbacks, coroutines, ends of every kind."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import unittest
import warnings
from typing import Any

import numpy as np
from common import BUNDLE, SENTENCE, TONES, engine, samples

import senone
from senone import EventKind

ALL = [EventKind.READY, EventKind.SPEECH_START, EventKind.ENDPOINT, EventKind.FINAL, EventKind.END]


def run_python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)


class Streams(unittest.TestCase):
    def test_events_after_the_block(self) -> None:
        with engine().stream() as stream:
            stream.feed(samples())
        events = list(stream)
        self.assertEqual([event.kind for event in events], ALL)
        self.assertEqual(events[3].text, SENTENCE)
        self.assertEqual(list(stream), [])

    def test_rows(self) -> None:
        info = engine().info
        for output, n_values in (("features", info.n_feature_dims), ("loglikes", info.n_states)):
            with engine().stream(output=output) as stream:
                stream.feed(samples())
            events = list(stream)
            kinds = [event.kind for event in events]
            self.assertEqual(set(kinds[1:-1]), {EventKind.ROWS})
            found = [event for event in events if event.kind == EventKind.ROWS]
            n_before = 0
            for event in found:
                assert event.rows is not None
                self.assertEqual(event.first_frame, n_before)
                self.assertEqual(event.rows.shape[1], n_values)
                n_before += event.rows.shape[0]
            self.assertIsNone(events[0].rows)
            self.assertIsNone(copy.copy(found[0]).rows)
            whole = engine().rows(samples(), output=output)
            np.testing.assert_array_equal(whole, np.concatenate([event.rows for event in found]))
            self.assertEqual(engine().recognize(whole, input=output).text, SENTENCE)
        self.assertRaises(senone.InvalidArgument, engine().rows, samples(), output="words")
        self.assertRaises(senone.InvalidArgument, engine().stream, output="rows")
        self.assertRaises(senone.InvalidArgument, engine().stream, output="loglikes", lattice_beam=8.0)

    def test_events_in_the_block(self) -> None:
        with engine().stream(partial_interval_ms=300) as stream:
            for begin in range(0, len(samples()), 1000):
                stream.feed(samples()[begin : begin + 1000])
            stream.finish()
            events = list(stream)
        partials = [event for event in events if event.kind == EventKind.PARTIAL]
        self.assertEqual(events[-2].text, SENTENCE)
        self.assertEqual(events[-2].n_stable_words, len(events[-2].words))
        for partial in partials:
            stable = [(word.text, word.end_s) for word in partial.words[: partial.n_stable_words]]
            self.assertEqual(stable, [(word.text, word.end_s) for word in events[-2].words[: len(stable)]])
        self.assertGreater(partials[-1].n_stable_words, 0)

    def test_partials_that_nobody_takes_are_replaced(self) -> None:
        stream = engine().stream(partial_interval_ms=10)
        stream.feed(samples())
        stream.finish()
        while not stream._inbox._events or stream._inbox._events[-1].kind != EventKind.END:
            time.sleep(0.01)
        kinds = [event.kind for event in stream]
        self.assertEqual(kinds.count(EventKind.PARTIAL), 1)
        self.assertEqual(kinds[-1], EventKind.END)

    def test_ready_does_not_wait(self) -> None:
        with engine().stream() as stream:
            first = stream.next()
            assert first is not None
            self.assertEqual(first.kind, EventKind.READY)
            self.assertEqual(list(stream.ready()), [])
            self.assertRaises(senone.Timeout, stream.next, 0.01)

    def test_result_finishes(self) -> None:
        stream = engine().stream(lattice_beam=8)
        stream.feed(samples("high_low"))
        result = stream.result()
        self.assertEqual(result.text, "high low")
        self.assertIsNotNone(result.lattice)
        self.assertRaises(senone.InvalidState, stream.feed, samples())
        self.assertRaises(senone.InvalidState, stream.result)

    def test_a_stream_of_many_utterances(self) -> None:
        with engine().stream(endpoint="dictation", longest_utterance_ms=30000) as stream:
            for _ in range(2):
                stream.feed(samples("high_low"))
                stream.end_utterance()
        texts = [event.text for event in stream if event.kind == EventKind.FINAL]
        self.assertEqual(texts, ["high low"] * 2)
        self.assertRaises(senone.InvalidArgument, engine().stream, endpoint="soon")

    def test_many_utterances_are_no_one_result(self) -> None:
        for audio in (samples("high_low"), np.zeros(16000, np.int16)):
            with engine().stream(endpoint="command") as stream:
                stream.feed(audio)
                self.assertRaisesRegex(ValueError, r"iterate over its events \(for event in stream\)", stream.result)
            self.assertRaisesRegex(ValueError, "iterate over its events", asyncio.run, stream.result_async())
            self.assertEqual(list(stream)[-1].kind, EventKind.END)
            with self.assertRaisesRegex(ValueError, r"open a stream, .* \(for event in stream\)"):
                engine().recognize(audio, endpoint="command")  # type: ignore[call-arg]
        self.assertEqual(engine().recognize(samples(), endpoint="off").text, SENTENCE)  # type: ignore[call-arg]

    def test_reset_after_the_end(self) -> None:
        stream = engine().stream()
        for _ in range(3):
            stream.feed(samples())
            stream.finish()
            self.assertEqual([event.kind for event in stream], ALL)
            self.assertRaises(senone.InvalidState, stream.feed, samples())
            self.assertIsNone(stream.next())
            stream.reset()
        stream.feed(samples())
        self.assertEqual(stream.result().text, SENTENCE)
        stream.reset()
        stream.cancel()
        self.assertRaises(senone.Cancelled, stream.result)
        stream.reset()
        stream.feed(samples())
        self.assertEqual(stream.result().text, SENTENCE)
        stream.close()
        self.assertRaisesRegex(senone.InvalidState, "was closed; open another", stream.reset)
        self.assertIsNone(stream.next(timeout=5))

    def test_a_stream_that_ended_is_freed_with_its_last_reference(self) -> None:
        streams = [engine().stream() for _ in range(20)]
        for stream in streams:
            stream.feed(samples("low"))
            stream.result()
        handles = [stream._handle for stream in streams]
        self.assertFalse(any(handle.closed for handle in handles))
        del stream, streams
        gc.collect()
        end_s = time.monotonic() + 60  # another thread closes
        while not all(handle.closed for handle in handles) and time.monotonic() < end_s:
            time.sleep(0.001)
        self.assertTrue(all(handle.closed for handle in handles))
        with engine().stream() as stream:
            stream.feed(samples("low"))
            stream.result()
        with engine().stream() as stream:
            self.assertRaises(senone.InvalidState, stream.end_utterance)

    def test_no_background(self) -> None:
        with engine().stream() as stream:
            stream.feed(samples())
        final = list(stream)[-2]
        self.assertEqual((final.out_of_grammar, final.rejected), (-1, None))
        self.assertRaises(senone.Unsupported, engine().stream, reject_threshold=0.5)
        with engine().stream(reject_threshold=-1) as stream:
            stream.feed(samples())
        self.assertFalse(list(stream)[-2].flags & senone.Flag.REJECTED)

    def test_early_endpoints(self) -> None:
        with engine().stream(endpoint="command", silence_at_end_ms=1000, early_endpoint_ms=150) as stream:
            stream.feed(np.concatenate([samples("high_low"), np.zeros(8000, samples().dtype)]))
        kinds = [event.kind for event in stream]
        self.assertIn(EventKind.PROBABLY_FINISHED, kinds)
        self.assertIn(EventKind.SPEECH_RESUMED, kinds)

    def test_nobody_spoke_and_nothing_is_fed(self) -> None:
        with engine().stream(endpoint="command", no_input_ms=500, idle_ms=100) as stream:
            stream.feed(np.zeros(16000, samples().dtype))
            stream.feed(samples("high_low"))
            kinds = []
            for event in stream:
                kinds.append(event.kind)
                if event.kind == EventKind.FINAL:
                    break
        self.assertIn(EventKind.NO_INPUT, kinds)

    def test_cancelled_utterances_and_streams_begun_anew(self) -> None:
        with engine().stream(endpoint="dictation", vad="on", pre_roll_ms=200) as stream:
            for _ in range(3):
                stream.feed(samples("high_low"))
                stream.cancel_utterance()
                stream.feed(samples())
                stream.finish()
                self.assertRaises(senone.InvalidState, stream.cancel_utterance)
                final = next(event for event in stream if event.kind == EventKind.FINAL)
                if final.flags & senone.Flag.CANCELLED:
                    self.assertEqual(final.text, "")
                    final = next(event for event in stream if event.kind == EventKind.FINAL)
                self.assertEqual(final.text, SENTENCE)
                stream.reset()
        self.assertRaises(senone.InvalidArgument, engine().stream, vad="perhaps")

    def test_words_have_rule_and_tags(self) -> None:
        with senone.Engine(BUNDLE, device="cpu", n_threads=2) as tagged:
            tagged.add_graph("tagged", TONES / "tagged.sgraph")
            best = tagged.recognize(samples("low"), graph="tagged").alternatives[0]
            self.assertEqual((best.words[0].rule, best.words[0].tags, best.rule, best.tags), ("ends", ("L",), "ends", ("L",)))
            best = tagged.recognize(samples("high_low")[:11200], graph="tagged").alternatives[0]
            self.assertEqual(best.words[0].tags, ("H", "more"))
            best = tagged.recognize(samples("low")).alternatives[0]
            self.assertEqual((best.words[0].rule, best.words[0].tags, best.rule, best.tags), ("", (), "", ()))

    def test_phrases_are_boosted(self) -> None:
        for phrases, text in ((["high mid"], "high mid"), ("# none\nhigh mid", "high mid"), (None, "high low")):
            with engine().stream(acoustic_scale=0.02, lattice_beam=8, word_insertion_cost=2) as stream:
                stream.boost("high high", bonus=0.5)
                stream.boost(phrases, bonus=5)
                stream.feed(samples("high_low"))
            self.assertEqual(stream.result().text, text)
        with engine().stream(lattice_beam=8) as stream:
            for bad in (5, ["a\nb"], "\ud800", {"low": 10.0}):
                self.assertRaises(senone.InvalidArgument, stream.boost, bad)
            self.assertRaises(senone.InvalidArgument, stream.boost, "low", "much")
            self.assertRaises(senone.InvalidArgument, stream.boost, "low", 1001)
        with engine().stream() as stream:
            self.assertRaises(senone.InvalidState, stream.boost, "low")

    def test_boosted_phrases_are_normalised_and_the_unknown_refused_or_logged(self) -> None:
        with engine().stream(lattice_beam=8) as stream:
            with self.assertRaises(senone.NotFound) as refused:
                stream.boost("cafe\u0301\nlow, high")
            self.assertIn("2 of 2 phrases have words that the graph lacks ('caf\u00e9', 'low,')", str(refused.exception))
            stream.boost("LOW")
        self.assertRaises(senone.InvalidArgument, engine().stream, lattice_beam=8, allow_unknown_boosts=2)
        allowing = engine().stream(lattice_beam=8, allow_unknown_boosts=True)
        with self.assertLogs("senone", "WARNING") as logged, allowing as stream:
            stream.boost("cafe\u0301\nlow")
            stream.feed(samples("high_low"))
            stream.result()
        self.assertIn("1 of 2 phrases have words that the graph lacks ('caf\u00e9')", logged.output[0])

    def test_phrases_of_an_engine_and_of_a_graph_are_boosted(self) -> None:
        config: Any = {"acoustic_scale": 0.02, "lattice_beam": 8, "word_insertion_cost": 2}
        with senone.Engine(BUNDLE, device="cpu", n_threads=2) as own:

            def text() -> str:
                return own.recognize(samples("high_low"), **config).text

            self.assertEqual(text(), "high low")
            for graph in (None, ""):
                own.boost(["High MID"], 5, graph)
                self.assertEqual(text(), "high mid")
                own.boost(None, graph=graph)
                self.assertEqual(text(), "high low")
            self.assertRaises(senone.NotFound, own.boost, "low", 5, "none")
            self.assertRaises(senone.NotFound, own.boost, "high mid\nnever heard", 8)
            self.assertRaises(senone.InvalidArgument, own.boost, "low", allow_unknown=1)
            with self.assertLogs("senone", "WARNING") as logged:
                own.boost("high mid\nnever heard", 5, allow_unknown=True)
            self.assertIn("1 of 2 phrases have words that the graph lacks ('never', 'heard')", logged.output[0])
            self.assertEqual(text(), "high mid")

    def test_streams_choose_a_graph(self) -> None:
        ends = TONES / "ends.sgraph"
        with senone.Engine(BUNDLE, device="cpu", n_threads=2) as many:
            many.add_graph("ends", TONES / "ends")
            many.add_graph("bytes", ends.read_bytes())
            many.add_graph("file", ends)
            for graph in ("ends", "bytes", "file"):
                self.assertEqual(many.recognize(samples("low"), graph=graph).words[0].id, 2)
            self.assertEqual(many.recognize(samples("low")).words[0].id, 1)
            with many.stream(endpoint="command") as stream:
                for graph in ("ends", ""):
                    stream.set_graph(graph)
                    stream.feed(np.concatenate([samples("low"), np.tile(samples("low")[:3000], 8)]))
            self.assertEqual([e.words[0].id for e in stream if e.kind == EventKind.FINAL], [2, 1])
            with many.stream() as stream:
                stream.feed(samples("low"))
                self.assertRaises(senone.InvalidState, stream.set_graph, "ends")
                self.assertRaises(senone.NotFound, stream.set_graph, "none")
            many.remove_graph("ends")
            self.assertRaises(senone.NotFound, many.stream, graph="ends")
            self.assertRaises(senone.InvalidArgument, many.remove_graph, "")
            self.assertRaises(senone.BadFile, many.add_graph, "ends", b"no graph")
            self.assertRaises(senone.Unsupported, many.add_graph, "ends", TONES / "bundle_with_mean")
            many.add_graph("", ends)
            self.assertEqual(many.info.n_words, 3)

    def test_reset_with_a_callback(self) -> None:
        kinds: list[EventKind] = []
        stream = engine().stream(callback=lambda event: kinds.append(event.kind))
        for _ in range(2):
            stream.feed(samples())
            stream.finish()
            stream.wait()
            self.assertEqual(kinds[0], EventKind.READY)
            self.assertEqual(kinds[-1], EventKind.END)
            kinds.clear()
            stream.reset()
        stream.close()

    def test_try_feed_never_waits(self) -> None:
        stream = engine().stream(max_backlog_ms=100, input="int16")
        long = np.zeros(16000 * 60, np.int16)
        stream.try_feed(long)
        with self.assertRaises(senone.Busy):
            for _ in range(100):
                stream.try_feed(long)
        stream.close()

    def test_an_utterance_has_a_greatest_length(self) -> None:
        words = np.concatenate([samples("low_mid_high")] * 3)
        whole = engine().stream()
        whole.feed(words[:16000])
        stream = engine().stream(max_utterance_s=1)
        with self.assertRaises(senone.InvalidState):
            stream.feed(words)
        self.assertEqual(stream.result().text, whole.result().text)

    def test_a_state_is_carried_to_the_next_stream(self) -> None:
        live = senone.Engine(os.environ["SENONE_TONES"] + "/bundle_with_mean", "cpu", n_threads=1)
        first = live.stream(cmn="live")
        fresh = first.state()
        first.feed(samples("low_mid_high"))
        first.result()
        state = first.state()
        self.assertEqual(len(state), len(fresh))
        self.assertNotEqual(state, fresh)
        first.reset()
        self.assertEqual(first.state(), fresh)
        with live.stream(cmn="live") as second:
            second.set_state(state)
            self.assertEqual(second.state(), state)
            self.assertRaises(senone.InvalidArgument, second.set_state, state[:-1])
            second.feed(samples())
            self.assertRaises(senone.InvalidState, second.set_state, state)
        with engine().stream() as without:
            self.assertRaises(senone.InvalidState, without.state)

    def test_a_measured_mean_gives_the_same_result(self) -> None:
        with engine().stream(cmn="batch") as stream:
            stream.feed(samples())
            kept = stream.result()
        with engine().stream(cmn="measure") as measuring:
            measuring.feed(samples())
            self.assertEqual(measuring.result().text, "")
            state = measuring.state()
        with engine().stream(cmn="batch") as stream:
            stream.set_state(state)
            stream.feed(samples())
            self.assertEqual(stream.result().alternatives, kept.alternatives)
        self.assertEqual((engine().info.is_batch, engine().info.n_measurements), (False, 1))
        with engine().stream(cmn="live") as live, self.assertRaises(senone.InvalidState):
            live.set_state(state)  # the bundle has a running mean, without a state

    def test_what_was_done_and_waits(self) -> None:
        with senone.Engine(BUNDLE, "cpu", n_threads=1, max_callback_threads=1) as counted:
            before = counted.stats()
            self.assertEqual((before.n_streams, before.fed_s, before.n_steps), (0, 0.0, 0))
            with counted.stream(cmn="batch") as stream:
                stream.feed(samples())
                waiting = stream.stats()
                self.assertAlmostEqual(waiting.waiting_s, len(samples()) / 16000)
                self.assertEqual(waiting.searched_s, 0)
                self.assertEqual(counted.stats().n_streams, 1)
                stream.result()
                self.assertEqual(stream.stats().waiting_s, 0)
            after = counted.stats()
            self.assertAlmostEqual(after.fed_s, len(samples()) / 16000)
            self.assertEqual(after.waiting_s, 0)
            self.assertGreater(after.n_lanes, 0)
        self.assertRaises(senone.InvalidArgument, senone.Engine, BUNDLE, "cpu", max_callback_threads=1025)

    def test_cancel_ends_with_an_error_event(self) -> None:
        stream = engine().stream()
        stream.feed(samples())
        stream.cancel()
        events = list(stream)
        self.assertEqual([event.kind for event in events[-2:]], [EventKind.ERROR, EventKind.END])
        self.assertIsInstance(events[-2].error, senone.Cancelled)
        cancelled = engine().stream()
        cancelled.cancel()
        self.assertRaises(senone.Cancelled, cancelled.result)

    def test_an_exception_in_the_block_closes(self) -> None:
        with self.assertRaises(KeyError):
            with engine().stream() as stream:
                raise KeyError
        self.assertRaises(senone.InvalidState, stream.feed, samples())

    def test_streams_outlive_their_engine(self) -> None:
        loaded = senone.Engine(os.environ["SENONE_TONES"] + "/bundle", "cpu", n_threads=1)
        stream = loaded.stream()
        loaded.close()
        stream.feed(samples())
        self.assertEqual(stream.result().text, SENTENCE)

    def test_closing_wakes_a_feed_that_waits(self) -> None:
        stream = engine().stream(max_backlog_ms=100)
        outcome: list[BaseException] = []

        def feed() -> None:
            try:
                while True:
                    stream.feed(np.zeros(16000 * 60, np.int16))
            except senone.Error as error:
                outcome.append(error)

        thread = threading.Thread(target=feed)
        thread.start()
        time.sleep(0.2)
        stream.close()
        thread.join(20)
        self.assertFalse(thread.is_alive())
        self.assertIsInstance(outcome[0], (senone.Cancelled, senone.InvalidState))

    def test_other_threads_run_while_one_waits(self) -> None:
        stream = engine().stream()
        thread = threading.Thread(target=stream.next)  # takes READY
        thread.start()
        thread.join()
        waiter = threading.Thread(target=lambda: list(stream))
        waiter.start()
        count = 0
        end = time.monotonic() + 0.1
        while time.monotonic() < end:
            count += 1
        self.assertGreater(count, 1000)
        stream.finish()
        waiter.join(20)
        self.assertFalse(waiter.is_alive())


class Callbacks(unittest.TestCase):
    def test_events_come_to_the_callback(self) -> None:
        events: list[senone.Event] = []
        threads = set()

        def receive(event: senone.Event) -> None:
            events.append(event)
            threads.add(threading.get_ident())

        with engine().stream(callback=receive) as stream:
            stream.feed(samples())
        self.assertEqual([event.kind for event in events], ALL)
        self.assertNotIn(threading.get_ident(), threads)
        self.assertRaises(senone.InvalidState, stream.next)

    def test_what_a_callback_raises_comes_out_of_the_block(self) -> None:
        calls = []

        def receive(event: senone.Event) -> None:
            calls.append(event)
            raise ZeroDivisionError("in the callback")

        with self.assertRaisesRegex(ZeroDivisionError, "in the callback"):
            with engine().stream(callback=receive):
                pass
        self.assertEqual(len(calls), 1)

    def test_a_callback_may_feed_and_finish_but_not_close(self) -> None:
        opened = threading.Event()
        refused: list[BaseException] = []
        texts = []

        def receive(event: senone.Event) -> None:
            opened.wait()
            if event.kind == EventKind.READY:
                stream.feed(samples())
                for call in (stream.close, stream.wait):
                    try:
                        call()
                    except senone.InvalidState as error:
                        refused.append(error)
                stream.finish()
            if event.kind == EventKind.FINAL:
                texts.append(event.text)

        stream = engine().stream(callback=receive)
        opened.set()
        stream.wait()
        self.assertEqual(texts, [SENTENCE])
        self.assertEqual(len(refused), 2)

    def test_a_stream_that_nobody_holds_is_closed(self) -> None:
        states = []
        for _ in range(50):
            stream = engine().stream(callback=lambda event: None)
            stream.feed(samples())
            states.append(stream._handle)
        del stream
        gc.collect()
        end_s = time.monotonic() + 120  # another thread closes them
        while not all(state.closed for state in states) and time.monotonic() < end_s:
            time.sleep(0.01)
        self.assertTrue(all(state.closed for state in states))

    def test_the_interpreter_ends_with_streams_open(self) -> None:
        program = (
            "import senone, numpy, os\n"
            "engine = senone.Engine(os.environ['SENONE_TONES'] + '/bundle', 'cpu')\n"
            "streams = [engine.stream(callback=lambda event: None, partial_interval_ms=10) for _ in range(20)]\n"
            "for stream in streams: stream.feed(numpy.zeros(160000, numpy.int16))\n"
        )
        run = run_python(program)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_the_process_ends_while_daemon_threads_open_streams(self) -> None:
        program = (
            "import numpy, os, senone, threading, time\n"
            "engine = senone.Engine(os.environ['SENONE_TONES'] + '/bundle', 'cpu')\n"
            "def work():\n"
            "    while True:\n"
            "        stream = engine.stream(callback=lambda event: None)\n"
            "        stream.feed(numpy.zeros(16000, numpy.int16))\n"
            "        stream.finish()\n"
            "        stream.wait()\n"
            "threading.excepthook = lambda arguments: None\n"
            "for _ in range(4): threading.Thread(target=work, daemon=True).start()\n"
            "time.sleep(0.3)\n"
        )
        for _ in range(3):
            run = run_python(program)
            self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_a_child_ends_that_was_forked_while_threads_were_busy(self) -> None:
        program = (
            "import numpy, os, senone, sys, threading, time\n"
            "engine = senone.Engine(os.environ['SENONE_TONES'] + '/bundle', 'cpu')\n"
            "busy = engine.stream(max_backlog_ms=10)\n"
            "threading.Thread(target=lambda: busy.feed(numpy.zeros(60000000, numpy.int16)), daemon=True).start()\n"
            "heard = engine.stream(callback=lambda event: time.sleep(0.01), partial_interval_ms=10)\n"
            "heard.feed(numpy.zeros(160000, numpy.int16))\n"
            "time.sleep(0.1)\n"
            "child = os.fork()\n"
            "if child == 0: sys.exit(5)\n"
            "os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        )
        for _ in range(3):
            run = run_python(program)
            self.assertEqual(run.returncode, 5, run.stderr)

    def test_copies_are_plain_values_or_refused(self) -> None:
        result = engine().recognize(samples())
        for copied in (copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
            self.assertEqual((copied.text, copied.words, copied.kind), (SENTENCE, result.words, EventKind.FINAL))
            self.assertIsNone(copied.lattice)
        self.assertIsNotNone(result.lattice)
        for owner in (engine(), engine().stream(), engine().speaker(), result.lattice):
            with self.assertRaisesRegex(TypeError, "cannot be copied or pickled"):
                copy.deepcopy(owner)
        with self.assertRaisesRegex(TypeError, "open another"):
            copy.copy(engine())

    def test_timeouts_are_seconds(self) -> None:
        stream = engine().stream()
        stream.next()
        for timeout in (float("nan"), "x", []):
            with self.assertRaises(senone.InvalidArgument):
                stream.next(timeout=timeout)  # type: ignore[arg-type]
        stream.feed(samples())
        stream.finish()
        for timeout in (float("inf"), 1e12, 60):
            self.assertIsNotNone(stream.next(timeout=timeout))

    def test_the_exception_of_a_callback_is_that_of_later_calls(self) -> None:
        def fail(event: senone.Event) -> None:
            raise ZeroDivisionError("in the callback")

        with self.assertRaisesRegex(ZeroDivisionError, "in the callback"):
            with engine().stream(callback=fail) as stream:
                while True:
                    stream.feed(samples())
        with self.assertRaisesRegex(senone.InvalidArgument, "callback is 3"):
            engine().stream(callback=3)  # type: ignore[arg-type]

    def test_wrong_types_have_a_message(self) -> None:
        for audio in (None, 5, np.float32(1), ""):
            with self.assertRaises(senone.InvalidArgument):
                engine().recognize(audio)
        stream, speaker = engine().stream(), engine().speaker()
        for state in (5, "abc", None):
            with self.assertRaises(senone.InvalidArgument):
                stream.set_state(state)  # type: ignore[arg-type]
        for vtln in (2**32 + 11, -1, "x", 1.5):
            with self.assertRaises(senone.InvalidArgument):
                speaker.set_methods(vtln=vtln)  # type: ignore[arg-type]
        with self.assertRaises(senone.InvalidArgument):
            speaker.warp = "x"  # type: ignore[assignment]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(senone.BadAudio):
                stream.feed(np.full(100, 1e300))

    def test_a_forked_child_is_told(self) -> None:
        engine()
        child = os.fork()
        if child == 0:
            try:
                engine().stream()
            except senone.InvalidState:
                os._exit(7)
            os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)


class Coroutines(unittest.TestCase):
    def test_many_streams_in_one_loop(self) -> None:
        async def recognize() -> str:
            async with engine().stream() as stream:
                await stream.feed_async(samples())
                stream.finish()
                return [event.text async for event in stream if event.kind == EventKind.FINAL][0]

        async def everything() -> list[str]:
            return await asyncio.gather(*(recognize() for _ in range(50)))

        self.assertEqual(asyncio.run(everything()), [SENTENCE] * 50)

    def test_closing_wakes_readers_and_cancelled_waits_are_forgotten(self) -> None:
        async def run() -> None:
            stream = engine().stream()
            await stream._inbox.take_async()  # READY
            for _ in range(50):
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(stream._inbox.take_async(), 0.001)
            self.assertEqual(stream._inbox._waiting, [])
            reader = asyncio.create_task(stream._inbox.take_async())
            await asyncio.sleep(0.01)
            await asyncio.get_running_loop().run_in_executor(None, stream.close)
            self.assertIsNone(await asyncio.wait_for(reader, 60))

        asyncio.run(run())

    def test_the_loop_goes_on_while_events_are_waited_for(self) -> None:
        async def run() -> tuple[int, str]:
            n_ticks = 0
            stream = engine().stream()

            async def tick() -> None:
                nonlocal n_ticks
                for _ in range(20):
                    await asyncio.sleep(0.001)
                    n_ticks += 1
                stream.feed(samples())
                stream.finish()

            ticking = asyncio.create_task(tick())
            result = [event.text async for event in stream][3]
            await ticking
            return n_ticks, result

        self.assertEqual(asyncio.run(run()), (20, SENTENCE))

    def test_result_async_raises_what_failed(self) -> None:
        async def run() -> None:
            stream = engine().stream()
            stream.cancel()
            await stream.result_async()

        self.assertRaises(senone.Cancelled, asyncio.run, run())


if __name__ == "__main__":
    unittest.main()
