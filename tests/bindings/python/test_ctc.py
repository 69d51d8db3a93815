# SPDX-License-Identifier: Apache-2.0
"""Tests senone.ctc by pyctcdecode's call sequences: labels of letters and of pieces, language models, hotwords,
batches. A plain enumeration of all alignments is the reference of the scores."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import senone
from senone.ctc import LMState, build_ctcdecoder

Array = npt.NDArray[Any]

ARPA = """\\data\\
ngram 1=6
ngram 2=4

\\1-grams:
-1.0\t<unk>\t0
-99\t<s>\t-0.3
-0.7\t</s>
-0.9\tbug\t-0.2
-1.1\tbun\t-0.25
-0.8\tis\t-0.4

\\2-grams:
-0.2\t<s> bug
-0.5\tbug is
-0.4\tis bun
-0.3\tbun </s>

\\end\\
"""
LETTERS = [" ", "b", "g", "i", "n", "s", "u", ""]
PIECES = ["▁bug", "▁bu", "n", "g", "▁is", ""]


def logits(labels: list[str], path: list[str], seed: int = 0, height: float = 7.0) -> Array:
    """Rows whose best labels are the path's, with noise."""
    rows = np.random.default_rng(seed).normal(size=(len(path), len(labels)))
    rows[np.arange(len(path)), [labels.index(label) for label in path]] += height
    return rows.astype(np.float32)


def log_softmax(rows: Array) -> Array:
    centred = rows - rows.max(axis=1, keepdims=True)
    result: Array = centred - np.log(np.exp(centred).sum(axis=1, keepdims=True))
    return result


def probabilities(labels: list[str], rows: Array) -> dict[str, float]:
    """ln of the probability of each text, as a sum over all alignments, where texts are distinct with their blanks."""
    log_probs, sums = log_softmax(rows.astype(np.float64)), {}
    for path in itertools.product(range(len(labels)), repeat=len(rows)):
        kept = [label for k, label in enumerate(path) if k == 0 or label != path[k - 1]]
        text = " ".join("".join(labels[label] for label in kept).split())
        score = sum(log_probs[t, label] for t, label in enumerate(path))
        sums[text] = np.logaddexp(sums.get(text, -math.inf), score)
    return sums


class Texts(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    arpa: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.arpa = str(Path(cls.folder.name) / "lm.arpa")
        Path(cls.arpa).write_text(ARPA)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def test_letters(self) -> None:
        decoder = build_ctcdecoder(LETTERS)
        path = ["b", "b", "", "u", "n", " ", "", "i", "s", "", "s"]
        rows = logits(LETTERS, path)
        self.assertEqual(decoder.decode(rows), "bun iss")
        text, state, frames, logit_score, lm_score = decoder.decode_beams(rows)[0]
        self.assertEqual((text, state), ("bun iss", None))
        self.assertEqual(frames, [("bun", (0, 5)), ("iss", (7, 11))])
        self.assertEqual(logit_score, lm_score)

    def test_scores_are_sums_over_all_alignments(self) -> None:
        labels = ["a", "b", " ", ""]
        for seed in range(4):
            rows = np.random.default_rng(seed).normal(size=(5, 4)) * 1.5
            expected = probabilities(labels, rows)
            beams = build_ctcdecoder(labels).decode_beams(rows, 10000, -1000.0, -1000.0)
            self.assertEqual(len(beams), len({beam[0] for beam in beams}))
            found = {beam[0]: beam[3] for beam in beams}
            self.assertEqual(set(found), set(expected))
            for text, score in found.items():
                self.assertAlmostEqual(score, expected[text], 9, text)
            self.assertEqual([beam[4] for beam in beams], sorted((beam[4] for beam in beams), reverse=True))

    def test_probabilities_and_types(self) -> None:
        decoder = build_ctcdecoder(LETTERS)
        rows = logits(LETTERS, ["b", "u", "", "g"])
        beams = decoder.decode_beams(rows)
        probabilities_of = np.exp(log_softmax(rows.astype(np.float64)))
        for kind in (probabilities_of, log_softmax(rows), rows.astype(np.float64), rows.tolist(), np.asfortranarray(rows)):
            self.assertEqual(decoder.decode(kind), "bug")
            self.assertAlmostEqual(decoder.decode_beams(kind)[0][3], beams[0][3], 4)
        self.assertEqual(decoder.decode(np.zeros((0, 8))), "")

    def test_labels(self) -> None:
        rows = logits(LETTERS, ["b", " ", "i", "", "i"])
        for labels in (
            ["|", *LETTERS[1:]],
            [*LETTERS[:-1], "[PAD]"],
            [*LETTERS[:-1], "<pad>"],
            [*LETTERS[:-1], "_"],
            LETTERS[:-1],
        ):
            self.assertEqual(build_ctcdecoder(labels).decode(rows), "b ii", labels)
        unknown = ["<unk>", *LETTERS[1:]]
        self.assertEqual(build_ctcdecoder(unknown).decode(rows), "b\u2047ii")

    def test_pieces(self) -> None:
        path = ["▁bug", "", "▁is", "▁is", "▁bu", "n", "", "n"]
        rows = logits(PIECES, path)
        decoder = build_ctcdecoder(PIECES)
        beam = decoder.decode_beams(rows)[0]
        self.assertEqual(beam[0], "bug is bunn")
        self.assertEqual(beam[2], [("bug", (0, 1)), ("is", (2, 4)), ("bunn", (4, 8))])
        wordpieces = ["bug", "bu", "##n", "##g", "is", "[PAD]"]
        self.assertEqual(build_ctcdecoder(wordpieces).decode(rows), "bug is bunn")

    def test_language_model(self) -> None:
        # After noise between "bug" and "bun" the model decides.
        rows = logits(LETTERS, ["b", "u", "g", " ", "i", "s", " ", "b", "u", "n"])
        rows[2, [2, 4]], rows[9, [2, 4]] = 6.0, (6.5, 6.0)
        without = build_ctcdecoder(LETTERS)
        self.assertTrue(without.decode(rows).endswith("bug"))
        decoder = build_ctcdecoder(LETTERS, self.arpa, alpha=1.0, beta=0.5)
        text, state, frames, logit_score, lm_score = decoder.decode_beams(rows)[0]
        self.assertEqual(text, "bug is bun")
        self.assertIsInstance(state, LMState)
        ln10 = math.log(10)
        self.assertAlmostEqual(lm_score - logit_score, (-0.2 - 0.5 - 0.4 - 0.3) * ln10 + 3 * 0.5, 4)
        decoder.reset_params(alpha=0.5, lm_score_boundary=False)
        beam = decoder.decode_beams(rows)[0]
        self.assertAlmostEqual(beam[4] - beam[3], 0.5 * (-0.9 - 0.5 - 0.4) * ln10 + 1.5, 4)

    def test_unknown_words(self) -> None:
        rows = logits(LETTERS, ["g", "u", "n"], height=12.0)
        decoder = build_ctcdecoder(LETTERS, self.arpa, alpha=1.0, beta=0.0, unk_score_offset=-2.0)
        beam = decoder.decode_beams(rows, token_min_logp=-1.0)[0]
        self.assertEqual(beam[0], "gun")
        # Backing off from <s>, <unk>, the offset, and </s> after an unknown word.
        self.assertAlmostEqual(beam[4] - beam[3], (-0.3 - 1.0 - 2.0 - 0.7) * math.log(10), 4)
        known = build_ctcdecoder(LETTERS, self.arpa, unigrams=["bug"], alpha=1.0, beta=0.0, unk_score_offset=-2.0)
        rows = logits(LETTERS, ["i", "s"], height=12.0)
        beam = known.decode_beams(rows, token_min_logp=-1.0)[0]
        self.assertAlmostEqual(beam[4] - beam[3], (-0.3 - 0.8 - 2.0 - 0.4 - 0.7) * math.log(10), 4)

    def test_state(self) -> None:
        decoder = build_ctcdecoder(LETTERS, self.arpa, alpha=1.0, beta=0.0)
        state = decoder.decode_beams(logits(LETTERS, ["b", "u", "g"]))[0][1]
        rows = logits(LETTERS, ["i", "s"], height=12.0)
        for start, expected in ((state, -0.5), (None, -0.3 - 0.8), (pickle.loads(pickle.dumps(state)), -0.5)):
            beam = decoder.decode_beams(rows, token_min_logp=-1.0, lm_start_state=start)[0]
            self.assertAlmostEqual(beam[4] - beam[3], (expected - 0.4 - 0.7) * math.log(10), 4)
        self.assertEqual(decoder.decode(rows, lm_start_state=state), "is")

    def test_hotwords(self) -> None:
        rows = logits(LETTERS, ["b", "u", "g"])
        rows[2, [2, 4]] = 5.0, 4.5
        for path in (None, self.arpa):
            decoder = build_ctcdecoder(LETTERS, path, alpha=0.1)
            self.assertEqual(decoder.decode(rows), "bug")
            self.assertEqual(decoder.decode(rows, hotwords=["bun"], hotword_weight=4.0), "bun")
            self.assertEqual(decoder.decode(rows, hotwords=["is bun "], hotword_weight=4.0), "bun")
            beam = decoder.decode_beams(rows, hotwords=("bun",), hotword_weight=4.0)[0]
            plain = next(b for b in decoder.decode_beams(rows) if b[0] == "bun")
            self.assertAlmostEqual(beam[4] - plain[4], 4.0, 6)

    def test_batches(self) -> None:
        decoder = build_ctcdecoder(LETTERS, self.arpa)
        utterances = [logits(LETTERS, path) for path in (["b", "u", "g"], ["i", "s"], ["b", "u", "n"] * 2)] * 4
        expected = [decoder.decode(rows) for rows in utterances]
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            for given in (None, pool):
                self.assertEqual(decoder.decode_batch(given, utterances), expected)
                beams = decoder.decode_beams_batch(given, utterances, beam_width=5)
                self.assertEqual([texts[0][0] for texts in beams], expected)
                self.assertEqual({len(beam) for texts in beams for beam in texts}, {4})

    def test_threads_and_copies(self) -> None:
        decoder = build_ctcdecoder(LETTERS, self.arpa)
        rows = logits(LETTERS, ["b", "u", "g", " ", "i", "s"])
        texts: list[str] = []
        work = lambda: texts.extend(decoder.decode(rows) for _ in range(10))  # noqa: E731
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(texts, ["bug is"] * 80)
        self.assertEqual(pickle.loads(pickle.dumps(decoder)).decode(rows), "bug is")
        decoder.cleanup()
        decoder.cleanup()
        with self.assertRaisesRegex(senone.InvalidState, "build another"):
            decoder.decode(rows)

    def test_forked_processes(self) -> None:
        # In a process of its own: a fork beside other tests' threads may inherit a lock that one of them holds.
        program = (
            "import os, sys, test_ctc\n"
            "decoder = test_ctc.build_ctcdecoder(test_ctc.LETTERS, sys.argv[1])\n"
            "rows = test_ctc.logits(test_ctc.LETTERS, ['b', 'u', 'g'])\n"
            "child = os.fork()\n"
            "is_right = decoder.decode(rows) == 'bug'\n"
            "if child == 0: os._exit(5 if is_right else 6)\n"
            "os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if is_right else 7)\n"
        )
        run = subprocess.run([sys.executable, "-c", program, self.arpa], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 5, run.stderr)

    def test_letters_stay_as_they_are(self) -> None:
        # Normal form C has this letter as two characters, which are not labels.
        labels = [label if label != "g" else "\u0958" for label in LETTERS]
        path = Path(self.folder.name) / "letters.arpa"
        path.write_text(ARPA.replace("bug", "bu\u0958"), encoding="utf-8")
        decoder = build_ctcdecoder(labels, str(path), alpha=1.0, beta=0.0)
        beam = decoder.decode_beams(logits(labels, ["b", "u", "\u0958"], height=12.0), token_min_logp=-1.0)[0]
        self.assertEqual(beam[0], "bu\u0958")
        self.assertAlmostEqual(beam[4] - beam[3], (-0.2 - 0.2 - 0.7) * math.log(10), 4)

    def test_messages(self) -> None:
        binary = Path(self.folder.name) / "lm.bin"
        binary.write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0")
        rows = logits(LETTERS, ["b"])
        bad = rows.copy()
        bad[0, 0] = math.nan
        decoder = build_ctcdecoder(LETTERS, self.arpa)
        calls: list[tuple[Any, type[Exception], str]] = [
            (lambda: build_ctcdecoder(["a", "a"]), ValueError, r"\['a'\] more than once"),
            (lambda: build_ctcdecoder(["▁a", " "]), ValueError, "pieces of words"),
            (lambda: build_ctcdecoder("abc"), ValueError, "must be a list of strings"),
            (lambda: build_ctcdecoder(LETTERS, str(binary)), ValueError, "binary file of KenLM; give the ARPA file"),
            (lambda: build_ctcdecoder(LETTERS, "nosuch.arpa"), senone.NotFound, "nosuch.arpa"),
            (lambda: decoder.decode(rows[0]), ValueError, r"have 1 dimensions; they must be \(time, vocabulary\)"),
            (lambda: decoder.decode(rows[:, :5]), ValueError, "but there are 8 labels"),
            (lambda: decoder.decode(bad), senone.BadAudio, "row 0: value 0"),
            (lambda: decoder.decode(rows, beam_width=0), ValueError, "beam_width is 0"),
            (lambda: decoder.decode(rows, hotwords="bug"), ValueError, "hotwords is of type str"),
            (lambda: decoder.decode(rows, lm_start_state=3), ValueError, "lm_start_state is of type int"),  # type: ignore[arg-type]
            (lambda: decoder.decode(rows, lm_start_state=LMState(1 << 60)), ValueError, "not of this language model"),
            (lambda: decoder.save_to_dir("x"), NotImplementedError, "keep the labels and the ARPA file"),
            (lambda: type(decoder).load_from_hf_hub("x"), NotImplementedError, "call build_ctcdecoder"),
        ]
        for call, error, message in calls:
            with self.assertRaisesRegex(error, message):
                call()


if __name__ == "__main__":
    unittest.main()
