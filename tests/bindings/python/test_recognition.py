# SPDX-License-Identifier: Apache-2.0
"""Tests recordings, arrays, results, lattices and errors."""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import wave
from array import array
from pathlib import Path
from typing import Any

import numpy as np
from common import BUNDLE, RECORDING, SENTENCE, engine, samples

import senone
from senone import _sndfile


def write_wave(path: Path, data: bytes, width: int = 2, n_channels: int = 1, rate: int = 16000) -> str:
    with wave.open(str(path), "wb") as file:
        file.setparams((n_channels, width, rate, 0, "NONE", ""))
        file.writeframes(data)
    return str(path)


class Recognition(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_file_and_its_words(self) -> None:
        result = engine().recognize(RECORDING)
        self.assertEqual(result.text, SENTENCE)
        self.assertEqual([word.text for word in result.words], SENTENCE.split())
        for word, start_s in zip(result.words, (0.2, 0.7, 1.2)):
            self.assertAlmostEqual(word.start_s, start_s, delta=0.05)
            self.assertAlmostEqual(word.end_s, start_s + 0.3, delta=0.05)
            self.assertTrue(0.9 < word.confidence <= 1)

    def test_arrays_of_every_type_give_the_same_costs(self) -> None:
        whole = samples()
        scaled = whole.astype(np.float32) / 32768
        costs = {
            engine().recognize(audio, **config).alternatives[0].acoustic_cost
            for audio, config in (
                (whole, {}),
                (whole, {"input": "int16"}),
                (scaled, {}),
                (scaled.astype(np.float64), {}),
                (np.stack([whole, whole], 1), {}),
                (np.stack([whole, whole], 1)[:, :1], {}),
                (np.repeat(whole, 2)[::2], {}),
                (whole.astype(">i2"), {}),
                (whole.tobytes(), {}),
            )
        }
        self.assertEqual(len(costs), 1)

    def test_wave_files_of_every_width(self) -> None:
        whole = samples()
        wide = whole.astype("<i4") << 16
        packed = wide.view(np.uint8).reshape(-1, 4)
        stereo = np.stack([whole, whole], 1)
        files = [
            write_wave(self.folder / "16.wav", whole.tobytes()),
            write_wave(self.folder / "24.wav", packed[:, 1:].tobytes(), 3),
            write_wave(self.folder / "32.wav", wide.tobytes(), 4),
            write_wave(self.folder / "stereo.wav", stereo.tobytes(), 2, 2),
        ]
        texts = [engine().recognize(path).text for path in files]
        self.assertEqual(texts, [SENTENCE] * len(files))
        coarse, rate = senone.read_audio(write_wave(self.folder / "8.wav", bytes([0, 128, 192]), 1, rate=8000), 16000)
        self.assertEqual((coarse.tolist(), rate), ([-1, 0, 0.5], 8000))

    def test_floats_need_no_libsndfile(self) -> None:
        floats = (samples().astype("<f4") / 32768).tobytes()
        path = self.folder / "floats.wav"
        form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 3, 1, 16000, 64000, 4, 32)  # 3: floating point
        head = struct.pack("<4sI4s", b"RIFF", 36 + len(floats), b"WAVE")
        path.write_bytes(head + form + struct.pack("<4sI", b"data", len(floats)) + floats)
        with unittest.mock.patch.object(_sndfile, "_library", lambda: None):
            self.assertEqual(engine().recognize(path).text, SENTENCE)
            read, rate = senone.read_audio(path)
        self.assertEqual((read.dtype, rate, (read * 32768 == samples()).all()), (np.float32, 16000, True))

    def test_interleaved_channels(self) -> None:
        stereo = np.stack([samples(), np.zeros_like(samples())], 1)
        for values, kind in (
            (stereo.tobytes(), "int16"),
            (array("f", (stereo / 32768).astype("f4").tobytes()), "float"),
        ):
            with engine().stream(n_channels=2, channel=0, input=kind) as stream:
                stream.feed(values)
                self.assertEqual(stream.result().text, SENTENCE)
                self.assertRaises(senone.InvalidArgument, engine().stream(n_channels=2, input=kind).feed, values[:3])

    def test_buffers_need_no_numpy(self) -> None:
        data = samples().tobytes()
        stereo = np.stack([samples(), np.zeros_like(samples())], 1)
        floats = [x / 32768 for x in samples().tolist()]
        mono: list[Any] = [data, bytearray(data), memoryview(data), array("h", data), memoryview(array("h", data))]
        mono += [memoryview(array("h", stereo.tobytes()))[::2], (ctypes.c_int16 * len(samples())).from_buffer_copy(data)]
        real: list[Any] = [array("f", floats), memoryview(array("f", floats)), array("d", floats)]
        two: list[Any] = [stereo.tobytes(), array("h", stereo.tobytes()), memoryview(stereo), memoryview(stereo.tobytes())]
        costs = set()
        for modules in ({}, {"numpy": None}):  # with numpy and without
            with unittest.mock.patch.dict(sys.modules, modules):  # type: ignore[arg-type]
                for n_channels, kind, buffers in (
                    (1, "float", mono + real),
                    (1, "int16", mono),
                    (2, "float", two),
                    (2, "int16", two),
                ):
                    for values in buffers:
                        with engine().stream(n_channels=n_channels, channel=0, input=kind) as stream:  # type: ignore[typeddict-item]
                            stream.feed(values)
                            best = stream.result().alternatives[0]
                        costs.add((best.text, best.acoustic_cost))
                stream = engine().stream(input="int16")
                for wrong in (array("f", [0]), array("i", [0]), memoryview(b"\0" * 8).cast("B", (2, 2, 2)).cast("B").cast("d")):
                    self.assertRaises(senone.InvalidArgument, stream.feed, wrong)
                for odd in (b"\0\0\0", array("h", [0])):
                    self.assertRaises(senone.InvalidArgument, engine().stream(n_channels=2).feed, odd)
                with self.assertRaises(senone.InvalidArgument):
                    engine().stream().feed(array("i", [0]))
                self.assertEqual(engine().recognize(data, lattice_beam=0).text, SENTENCE)
                two_costs = engine().recognize(two[1], n_channels=2, channel=0, lattice_beam=0)
                self.assertEqual(two_costs.text, SENTENCE)
        self.assertEqual(len(costs), 1, costs)

    def test_other_rates_are_resampled(self) -> None:
        self.assertEqual(engine().recognize(np.repeat(samples(), 2), rate=32000).text, SENTENCE)

    def test_rows_of_features(self) -> None:
        rows = np.zeros((50, engine().info.n_feature_dims), np.float32)
        self.assertGreater(engine().recognize(rows, input="features").time_s, 0.4)

    def test_rows_of_log_likelihoods(self) -> None:
        rows = np.full((60, engine().info.n_states), -100.0)
        rows[:20, 0] = rows[20:40, 3] = rows[40:, 0] = 0  # silence, "high", silence
        result = engine().recognize(rows, input="loglikes")
        self.assertEqual(result.text, "high")
        self.assertAlmostEqual(result.words[0].start_s, 0.2, delta=0.02)

    def test_lattice_arrays_are_consistent(self) -> None:
        lattice = engine().recognize(RECORDING).lattice
        assert lattice is not None
        gc.collect()
        states, arcs = lattice.n_states, lattice.n_arcs
        for name in ("state_time_s", "end_graph_cost", "end_acoustic_cost", "end_posterior"):
            array = getattr(lattice, name)
            self.assertEqual((array.shape, array.dtype), ((states,), np.float64), name)
        for name in ("arc_graph_cost", "arc_acoustic_cost", "arc_posterior", "arc_start_s", "arc_end_s"):
            array = getattr(lattice, name)
            self.assertEqual((array.shape, array.dtype), ((arcs,), np.float64), name)
        self.assertTrue((lattice.arc_from < lattice.arc_to).all())
        self.assertTrue((np.diff(lattice.arc_from.astype(int)) >= 0).all())
        self.assertAlmostEqual(lattice.arc_posterior[lattice.arc_from == 0].sum(), 1)
        self.assertAlmostEqual(lattice.end_posterior.sum(), 1)
        self.assertTrue((lattice.arc_start_s == lattice.state_time_s[lattice.arc_from]).all())
        self.assertEqual(set(lattice.arc_word), {"low", "mid", "high"})
        self.assertEqual(lattice.alignment_begin.shape, (arcs + states + 1,))
        self.assertEqual(len(lattice.transition_id), lattice.alignment_begin[-1])
        self.assertFalse(lattice.arc_posterior.flags.writeable)

    def test_arrays_outlive_their_result(self) -> None:
        arrays = [engine().recognize(RECORDING).lattice.arc_posterior for _ in range(3)]  # type: ignore[union-attr]
        gc.collect()
        self.assertTrue(all((array == arrays[0]).all() and array.sum() > 0 for array in arrays))

    def test_alternatives_are_in_the_order_of_their_costs(self) -> None:
        result = engine().recognize(RECORDING, lattice_beam=8, n_best=5)
        assert result.lattice is not None
        scale = result.lattice.acoustic_scale
        costs = [a.graph_cost + scale * a.acoustic_cost for a in result.alternatives]
        self.assertEqual(len(costs), 5)
        self.assertEqual(costs, sorted(costs))
        self.assertEqual(len({a.text for a in result.alternatives}), 5)
        self.assertEqual(result.alternatives[0].text, result.text)

    def test_without_a_lattice(self) -> None:
        result = engine().recognize(RECORDING, lattice_beam=0)
        self.assertIsNone(result.lattice)
        self.assertIsNone(result.lattice_beam)
        self.assertEqual(engine().recognize(RECORDING, lattice_beam=6).lattice_beam, 6)
        self.assertEqual(result.words[0].confidence, -1)

    def test_devices(self) -> None:
        found = senone.devices()
        self.assertIn("cpu:0", [device.id for device in found if device.usable])
        self.assertEqual(engine().info.device_id, "cpu:0")
        self.assertEqual(engine().info.search_device_id, "cpu:0")
        with self.assertRaisesRegex(senone.NoDevice, 'search device "abacus"'):
            senone.Engine(BUNDLE, "cpu", search_device="abacus")
        self.assertTrue(all(device.reason for device in found if not device.usable))


class Errors(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def check(self, kind: type[senone.Error], words: str, call: object, *args: object, **config: object) -> None:
        with self.assertRaises(kind) as caught:
            call(*args, **config)  # type: ignore[operator]
        self.assertIn(words, str(caught.exception))
        self.assertEqual(caught.exception.status, kind.status)

    def test_messages_name_what_is_wrong(self) -> None:
        recognize = engine().recognize
        empty = self.folder / "empty.wav"
        empty.touch()
        text = self.folder / "text.wav"
        text.write_text("no audio")
        for kind, words, audio, config in (
            (senone.NotFound, "/no/file.wav", "/no/file.wav", {}),
            (senone.IoFailure, "is a directory", str(self.folder), {}),
            (senone.BadFile, "is empty", str(empty), {}),
            (senone.BadFile, "text.wav", str(text), {}),
            (senone.BadAudio, "no audio", np.zeros(0, np.int16), {}),
            (senone.BadAudio, "not a number", np.full(900, np.nan), {}),
            (senone.InvalidArgument, "int64", np.zeros(900, np.int64), {}),
            (senone.InvalidArgument, "shape", np.zeros((9, 9, 9), np.int16), {}),
            (senone.InvalidArgument, "[T, 39]", np.zeros((9, 3)), {"input": "features"}),
            (senone.InvalidArgument, "cmn", samples(), {"cmn": "frob"}),
            (senone.InvalidArgument, "beam", samples(), {"beam": -1}),
            (senone.InvalidArgument, "no setting baem", samples(), {"baem": 1}),
            (senone.InvalidArgument, "n_best", samples(), {"n_best": 1.5}),
            (senone.InvalidArgument, "n_best", samples(), {"n_best": -1}),
            (senone.InvalidArgument, "rate is ", samples(), {"rate": 5}),
        ):
            with self.subTest(words):
                self.check(kind, words, recognize, audio, **config)

    def test_engines(self) -> None:
        self.check(senone.NotFound, "/no/bundle", senone.Engine, "/no/bundle")
        self.check(senone.NoDevice, "frob", senone.Engine, BUNDLE, device="frob")
        self.check(senone.InvalidArgument, "max_lanes", senone.Engine, BUNDLE, max_lanes=-1)
        self.check(senone.InvalidArgument, "NUL", senone.Engine, "a\0b")
        closed = senone.Engine(BUNDLE, "cpu")
        closed.close()
        closed.close()
        self.check(senone.InvalidState, "closed", closed.stream)

    def test_errors_are_the_fitting_builtin_ones(self) -> None:
        self.assertRaises(FileNotFoundError, senone.Engine, "/no/bundle")
        self.assertRaises(ValueError, engine().recognize, samples(), beam=-1)

    def test_a_wave_file_cut_short_warns(self) -> None:
        path = Path(write_wave(self.folder / "cut.wav", samples().tobytes()))
        path.write_bytes(path.read_bytes()[:-4000])
        with self.assertLogs("senone", "WARNING") as logged:
            engine().recognize(path)
        self.assertIn("cut short", logged.output[0])

    def test_log_goes_to_logging(self) -> None:
        with self.assertLogs("senone", logging.DEBUG) as logged:
            senone.Engine(BUNDLE, "cpu").close()
        self.assertTrue(logged.output)

    def test_a_missing_library_is_said(self) -> None:
        environment = {**os.environ, "SENONE_LIBRARY": "/no/libsenone.so.0"}
        run = subprocess.run([sys.executable, "-c", "import senone"], env=environment, capture_output=True, text=True)
        self.assertIn("ImportError: senone: /no/libsenone.so.0 cannot be loaded", run.stderr)


if __name__ == "__main__":
    unittest.main()
