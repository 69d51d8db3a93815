# SPDX-License-Identifier: Apache-2.0
"""Tests alignment in the process."""

from __future__ import annotations

import threading
import unittest
from pathlib import Path

from common import RECORDING, SENTENCE, TONES, samples

import senone
from senone import _build_library
from senone._library import library_path

MODEL = TONES / "model"
LEXICON = TONES / "tones.dict"
STARTS = (0.2, 0.7, 1.2)  # each word lasts 0.3 s


@unittest.skipUnless(Path(library_path(_build_library.SONAME)).exists(), "this build has no libsenone_build")
class Alignments(unittest.TestCase):
    def check(self, alignment: senone.Alignment) -> None:
        self.assertEqual([word.text.lower() for word in alignment.words], SENTENCE.split())
        self.assertEqual([word.number for word in alignment.words], [0, 1, 2])
        for word, start_s in zip(alignment.words, STARTS):
            self.assertAlmostEqual(word.start_s, start_s, delta=0.03)
            self.assertAlmostEqual(word.end_s, start_s + 0.3, delta=0.03)
            self.assertGreater(word.confidence, 0.9)
            self.assertEqual([phone.name for phone in word.phones], [word.text.upper()])
            self.assertEqual(word.phones[0].likeliest, word.text.upper())
            self.assertEqual((word.phones[0].start_s, word.phones[-1].end_s), (word.start_s, word.end_s))
        self.assertEqual(alignment.not_said, ())
        self.assertAlmostEqual(alignment.duration_s, 1.7, delta=0.03)

    def test_words_have_their_times(self) -> None:
        self.check(senone.align(MODEL, LEXICON, RECORDING, SENTENCE))
        with senone.Aligner(MODEL, LEXICON) as aligner:
            self.check(aligner.align(samples(), SENTENCE))
            self.check(aligner.align(samples() / 32768, SENTENCE.upper().split()))
            self.check(aligner.align(samples().tobytes(), SENTENCE, 16000))
        with self.assertRaises(senone.InvalidState):
            aligner.align(samples(), SENTENCE)

    def test_a_text_with_errors(self) -> None:
        with senone.Aligner(MODEL, LEXICON) as aligner:
            with self.assertRaisesRegex(senone.BadAudio, "the first 'high' at 0\\."):
                aligner.align(samples("low"), "high")
            words = aligner.align(samples(), "low high", lenient=True).words
        self.assertEqual([word.text for word in words], ["low", "[foreign]", "high"])
        self.assertEqual([word.number for word in words], [0, None, 1])
        self.assertEqual(words[1].phones[0].name, "MID")

    def test_errors(self) -> None:
        with senone.Aligner(MODEL, LEXICON) as aligner:
            with self.assertRaisesRegex(senone.InvalidArgument, "'zap'"):
                aligner.align(samples(), "low zap")
            with self.assertRaisesRegex(senone.InvalidArgument, "no words"):
                aligner.align(samples(), " ")
            with self.assertRaisesRegex(senone.BadAudio, "no samples"):
                aligner.align(b"", "low")
            with self.assertRaisesRegex(senone.InvalidArgument, "skip_cost"):
                aligner.align(samples(), "low", lenient=True, skip_cost=-1)
            with self.assertRaises(senone.NotFound):
                aligner.align("/no/such.wav", "low")
        with self.assertRaises(senone.NotFound):
            senone.Aligner(MODEL, "/no/such.dict")
        with self.assertRaises(senone.InvalidArgument):
            senone.Aligner(MODEL, LEXICON, n_g2p_best=0)

    def test_threads_share_an_aligner(self) -> None:
        with senone.Aligner(MODEL, LEXICON) as aligner:
            expected = aligner.align(samples(), SENTENCE)
            found: list[senone.Alignment] = []
            threads = [
                threading.Thread(target=lambda: found.append(aligner.align(samples(), SENTENCE))) for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(found, [expected] * 4)


if __name__ == "__main__":
    unittest.main()
