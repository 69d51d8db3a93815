# SPDX-License-Identifier: Apache-2.0
"""Tests senone.Decoder with the bundle of tests/api/token_bundle.h: a token a word, 20 ms a frame."""

from __future__ import annotations

import math
import threading
import unittest
from typing import Any

import numpy as np
import numpy.typing as npt

import senone
from common import BUNDLE, TONES

TOKENS = TONES / "tokens"
COLUMNS = {".": 0, "l": 1, "m": 2, "h": 3, "H": 4}


def rows(frames: str) -> npt.NDArray[np.float32]:
    scores = np.full((len(frames), 5), 1e-5, np.float32)
    for t, frame in enumerate(frames):
        scores[t, COLUMNS[frame]] = 1 - 4e-5
    return np.log(scores)


class Tensor:
    """A tensor of another library: DLPack alone."""

    def __init__(self, values: npt.NDArray[Any], device: int = 1) -> None:
        self._values, self._device = values, device
        self.ndim, self.shape = values.ndim, values.shape

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self._device, 0)


class Decoding(unittest.TestCase):
    decoder: senone.Decoder

    @classmethod
    def setUpClass(cls) -> None:
        cls.decoder = senone.Decoder(TOKENS, "cpu", n_threads=2)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.decoder.close()

    def test_words_and_times(self) -> None:
        self.assertEqual(self.decoder.n_tokens, 5)
        (result,) = self.decoder.decode(rows("..ll....m.hH"))
        self.assertEqual(result.text, "low mid high")
        times = [(round(word.start_s / 0.02), round(word.end_s / 0.02)) for word in result.words]
        self.assertEqual(times, [(2, 4), (8, 9), (10, 12)])
        self.assertGreater(result.words[0].confidence, 0.5)
        assert result.lattice is not None

    def test_batches_and_lists(self) -> None:
        frames = ["..ll..mm..", "hh.l", "", ".m" * 40]
        texts = ["low mid", "high low", "", "mid " * 39 + "mid"]
        self.assertEqual([result.text for result in self.decoder.decode([rows(f) for f in frames])], texts)
        longest = max(len(f) for f in frames)
        batch = np.stack([np.concatenate([rows(f), rows("h" * (longest - len(f)))]) for f in frames])
        results = self.decoder.decode(batch, [len(f) for f in frames])
        self.assertEqual([result.text for result in results], texts)
        self.assertEqual([result.text for result in self.decoder.decode(batch[:2], np.array([10, 4]))], texts[:2])

    def test_many_at_once(self) -> None:
        frames = ["".join("lmh"[(i >> k) % 3] + "." for k in range(6)) for i in range(50)]
        words = {"l": "low", "m": "mid", "h": "high"}
        expected = [" ".join(words[f] for f in frame if f != ".") for frame in frames]
        self.assertEqual([result.text for result in self.decoder.decode([rows(f) for f in frames])], expected)

    def test_types(self) -> None:
        scores = rows("..l.m")
        kinds: list[Any] = [
            scores.astype(np.float64),
            scores.astype(np.float16),
            np.asfortranarray(scores),
            scores.tolist(),
            Tensor(scores),
            memoryview(scores),
        ]
        for kind in kinds:
            self.assertEqual([result.text for result in self.decoder.decode([kind])], ["low mid"], type(kind))
        closed = np.where(scores < -5, -math.inf, scores)
        self.assertEqual(self.decoder.decode(closed)[0].text, "low mid")

    def test_no_copy(self) -> None:
        from senone._scores import as_scores

        scores = rows("..l.m")
        self.assertTrue(np.shares_memory(as_scores(scores, 2, 5), scores))
        self.assertTrue(np.shares_memory(as_scores(Tensor(scores), 2, 5), scores))

    def test_streams(self) -> None:
        for key, frames in (("a", "..ll" * 20), ("b", "m...." * 20)):
            for at in range(0, len(frames), 7):
                self.decoder.feed(key, rows(frames[at : at + 7]))
        self.assertEqual(self.decoder.finish("b").text, " ".join(["mid"] * 20))
        self.assertEqual(self.decoder.finish("a").text, " ".join(["low"] * 20))
        with self.assertRaisesRegex(senone.InvalidState, "no stream has the key 'a'"):
            self.decoder.finish("a")
        self.decoder.feed("c", rows("l"))
        self.decoder.cancel("c")
        self.decoder.cancel("c")

    def test_threads(self) -> None:
        texts: list[str] = []

        def work() -> None:
            texts.extend(result.text for result in self.decoder.decode([rows("..l.m")] * 20))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(texts, ["low mid"] * 160)

    def test_messages(self) -> None:
        good = rows("..l")
        bad = good.copy()
        bad[1, 2] = math.nan
        wrong: list[tuple[Any, Any, type[Exception], str]] = [
            (good[:, :4], None, senone.InvalidArgument, r"shape \[3, 4\]; this model needs \[T, 5\]"),
            ([good[0]], None, senone.InvalidArgument, r"shape \[5\]; this model needs \[T, 5\]"),
            (good[None, :, :4], None, senone.InvalidArgument, r"this model needs \[B, T, 5\]"),
            (good[None], [4], senone.InvalidArgument, r"lengths are \[4\]"),
            (good[None], [1, 1], senone.InvalidArgument, "there must be 1"),
            ([good], [3], senone.InvalidArgument, "lengths are for scores"),
            ([np.array([["x"] * 5])], None, senone.InvalidArgument, "they must be numbers"),
            ([Tensor(good, device=2)], None, senone.InvalidArgument, "memory of another device"),
            (bad, None, senone.BadAudio, "frame 1: value 2 is not a number"),
            (np.full((3, 5), -math.inf), None, senone.BadAudio, "all log-likelihoods are -inf"),
        ]
        for scores, lengths, error, message in wrong:
            with self.assertRaisesRegex(error, message):
                self.decoder.decode(scores, lengths)
        self.assertEqual(self.decoder.decode(good)[0].text, "low")
        with self.assertRaisesRegex(senone.Unsupported, "has no Gaussians"):
            self.decoder.engine.recognize(np.zeros(16000, np.int16))

    def test_settings(self) -> None:
        with senone.Decoder(self.decoder.engine, lattice_beam=0, blank_skip=0.99) as decoder:
            (result,) = decoder.decode(rows("." * 50 + "l" + "." * 50 + "m"))
            self.assertEqual(result.text, "low mid")
            self.assertEqual([round(word.start_s / 0.02) for word in result.words], [50, 101])
            self.assertIsNone(result.lattice)
        with senone.Decoder(BUNDLE, "cpu", blank_skip=0.99) as decoder, self.assertRaisesRegex(senone.Unsupported, "no blank"):
            decoder.decode(np.zeros((3, decoder.n_tokens), np.float32))


if __name__ == "__main__":
    unittest.main()
