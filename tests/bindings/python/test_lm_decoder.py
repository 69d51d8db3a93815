# SPDX-License-Identifier: Apache-2.0
"""Tests senone.lm_decoder by the call sequence of the laboratories' real-time client, over a TLG.fst that the test
writes. The reference is a plain Viterbi search of the same graph."""

from __future__ import annotations

import math
import os
import struct
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

os.environ.setdefault("SENONE_DEVICE", "cpu")

import numpy as np
import numpy.typing as npt

import senone
from senone import lm_decoder

Array = npt.NDArray[Any]
Arc = tuple[int, int, float, int]  # input label, output label, cost, next state

WORDS = {"Low": (1, 2), "mid": (2,), "high": (3, 3, 1)}
COSTS = {"Low": 1.0, "mid": 1.5, "high": 2.0}
END_COST = 0.5


def graph() -> tuple[list[list[Arc]], dict[int, float]]:
    """Words in any order, by CTC: a blank (label 1) comes between equal tokens."""
    arcs: list[list[Arc]] = [[(1, 0, 0.0, 0)]]
    finals, begins, ends = {0: END_COST}, [], []
    for number, (word, tokens) in enumerate(WORDS.items(), 1):
        before = None
        for k, token in enumerate(tokens):
            arcs.append([(token + 1, 0, 0.0, len(arcs))])
            state = len(arcs) - 1
            if before is None:
                begins.append((token + 1, number, COSTS[word], state))
            else:
                arcs.append([(1, 0, 0.0, len(arcs)), (token + 1, 0, 0.0, state)])
                arcs[before].append((1, 0, 0.0, len(arcs) - 1))
                if tokens[k - 1] != token:
                    arcs[before].append((token + 1, 0, 0.0, state))
            before = state
        assert before is not None
        arcs[before].append((1, 0, 0.0, 0))
        finals[before] = END_COST
        ends.append((before, tokens[-1]))
    arcs[0] += begins
    for state, token in ends:
        arcs[state] += [begin for begin in begins if begin[0] != token + 1]
    return arcs, finals


def write_graph(path: Path, arcs: list[list[Arc]], finals: dict[int, float]) -> None:
    """Writes OpenFst's binary form of type vector."""
    names = b"".join(struct.pack("<i", len(name)) + name for name in (b"vector", b"standard"))
    header = struct.pack("<iiQqqq", 2, 0, 3, 0, len(arcs), sum(len(of_state) for of_state in arcs))
    states = b"".join(
        struct.pack("<fq", finals.get(state, math.inf), len(of_state)) + b"".join(struct.pack("<iifi", *arc) for arc in of_state)
        for state, of_state in enumerate(arcs)
    )
    path.write_bytes(struct.pack("<i", 2125659606) + names + header + states)


def sentence_costs(rows: Array, scale: float) -> dict[str, tuple[float, float]]:
    """Returns (graph cost, acoustic cost) of the best path of each sentence."""
    arcs, finals = graph()
    words = list(WORDS)
    best: dict[tuple[int, str], tuple[float, float]] = {(0, ""): (0.0, 0.0)}
    for row in rows:
        following: dict[tuple[int, str], tuple[float, float]] = {}
        for (state, text), (graph_cost, acoustic_cost) in best.items():
            for label, word, cost, target in arcs[state]:
                key = (target, f"{text} {words[word - 1]}".lower() if word else text)
                new = (graph_cost + cost, acoustic_cost - float(row[label - 1]))
                if key not in following or new[0] + scale * new[1] < following[key][0] + scale * following[key][1]:
                    following[key] = new
        best = following
    sentences: dict[str, tuple[float, float]] = {}
    for (state, text), (graph_cost, acoustic_cost) in best.items():
        if state in finals:
            new = (graph_cost + finals[state], acoustic_cost)
            if text not in sentences or new[0] + scale * new[1] < sentences[text][0] + scale * sentences[text][1]:
                sentences[text] = new
    return sentences


def log_softmax(logits: Array) -> Array:
    centred = logits - logits.max(axis=1, keepdims=True)
    result: Array = centred - np.log(np.exp(centred).sum(axis=1, keepdims=True))
    return result


def logits_of(tokens: str, seed: int = 0, height: float = 4.0) -> Array:
    rows = np.random.default_rng(seed).normal(size=(len(tokens), 4))
    rows[np.arange(len(tokens)), [int(token) for token in tokens]] += height
    return rows.astype(np.float32)


NO_PRIORS = np.zeros((1, 4), np.float32)


class Sentences(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    resource: lm_decoder.DecodeResource

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        path = Path(cls.folder.name)
        write_graph(path / "TLG.fst", *graph())
        (path / "words.txt").write_text("<eps> 0\n" + "".join(f"{word} {k}\n" for k, word in enumerate(WORDS, 1)))
        cls.resource = lm_decoder.DecodeResource(str(path / "TLG.fst"), "", "", str(path / "words.txt"), "")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.resource.close()
        cls.folder.cleanup()

    def decoder(self, scale: float = 0.5, blank_skip: float = 1.0, nbest: int = 100) -> lm_decoder.BrainSpeechDecoder:
        options = lm_decoder.DecodeOptions(7000, 200, 40.0, 12.0, scale, blank_skip, 0.0, nbest)
        return lm_decoder.BrainSpeechDecoder(self.resource, options)

    def test_the_clients_calls(self) -> None:
        decoder = self.decoder()
        self.assertEqual(decoder.result(), [])
        for seed, tokens in enumerate(("0012203330310", "20012", "3303310020220010002200")):
            logits = logits_of(tokens, seed)
            decoder.Reset()
            for row in logits:
                lm_decoder.DecodeNumpy(decoder, row[None], NO_PRIORS, math.log(2))
                self.assertLessEqual(len(decoder.result()), 1)
            decoder.FinishDecoding()
            rows = log_softmax(logits)
            rows[:, 0] -= math.log(2)
            expected = sentence_costs(rows, 0.5)
            found = decoder.result()
            order = sorted(expected, key=lambda s: expected[s][0] + 0.5 * expected[s][1])
            least = sum(cost * factor for cost, factor in zip(expected[order[0]], (1, 0.5)))
            wanted = [s for s in order if expected[s][0] + 0.5 * expected[s][1] < least + 11.9]
            self.assertTrue(decoder.DecodedSomething())
            self.assertGreater(len(wanted), 1)
            self.assertEqual([result.sentence for result in found][: min(100, len(wanted))], wanted[:100])
            for result in found[: len(wanted)]:
                graph_cost, acoustic_cost = expected[result.sentence]
                self.assertAlmostEqual(-result.lm_score, graph_cost, 3)
                self.assertAlmostEqual(-result.ac_score, acoustic_cost, 3)
            self.assertTrue(found[0].sentence.startswith(" "))
            decoder.FinishDecoding()
            self.assertEqual(decoder.result(), found)

    def test_rescore(self) -> None:
        path = Path(self.folder.name)
        names = ["G.fst", "G_no_prune.fst"]
        # The graph's own costs of words, and a bigram that backs off from state 1 (after "low") and begins there.
        unigram = [[(k, k, cost, 0) for k, cost in enumerate(COSTS.values(), 1)]]
        bigram = [
            [(1, 1, 2.0, 1), (2, 2, 1.0, 0), (3, 3, 0.5, 0)],
            [(4, 0, 0.7, 0), (3, 3, 0.1, 0), (2, 2, 9.0, 0)],
        ]
        write_graph(path / names[0], unigram, {0: END_COST})
        write_graph(path / names[1], bigram, {0: 0.25, 1: 4.0})
        words = "<eps> 0\n" + "".join(f"{word} {k}\n" for k, word in enumerate(WORDS, 1)) + "#0 4\n"
        (path / "words_0.txt").write_text(words)
        resource = lm_decoder.DecodeResource(
            str(path / "TLG.fst"), *(str(path / name) for name in names), str(path / "words_0.txt"), ""
        )
        options = lm_decoder.DecodeOptions(7000, 200, 60.0, 20.0, 0.5, 1.0, 0.0, 6)
        decoder = lm_decoder.BrainSpeechDecoder(resource, options)
        decoder.Rescore()
        logits = logits_of("0012203330310", 5, 2.0)
        lm_decoder.DecodeNumpy(decoder, logits, NO_PRIORS, 0.0)
        decoder.FinishDecoding()
        before = decoder.result()
        decoder.Rescore()
        costs = {"low": (2.0, 1), "mid": (1.0, 0), "high": (0.5, 0)}
        expected = []
        for sentence, (graph_cost, acoustic_cost) in sentence_costs(log_softmax(logits), 0.5).items():
            spoken, after_low, new = sentence.split(), False, 0.0
            for word in spoken:
                backed_off = costs[word][0] + (0.7 if after_low else 0.0)
                listed = {"high": 0.1, "mid": 9.0}.get(word, math.inf) if after_low else math.inf
                new += min(backed_off, listed)
                after_low = word == "low"
            new += min(4.0, 0.7 + 0.25) if after_low else 0.25
            expected.append((new + 0.5 * acoustic_cost, sentence, new, acoustic_cost))
        found = decoder.result()
        self.assertEqual(len(found), len(before))
        for result, (_, sentence, new, acoustic_cost) in zip(found, sorted(expected)):
            self.assertEqual(result.sentence, sentence)
            self.assertAlmostEqual(-result.lm_score, new, 3)
            self.assertAlmostEqual(-result.ac_score, acoustic_cost, 3)
        self.assertNotEqual([result.sentence for result in found], [result.sentence for result in before])
        resource.close()

    def test_partial_results(self) -> None:
        decoder = self.decoder()
        logits = logits_of("001122000022001122000000000000")
        lm_decoder.DecodeNumpy(decoder, logits[:20], NO_PRIORS, 0.0)
        for _ in range(6000):  # rows are searched in the background
            if decoder.result():
                break
            time.sleep(0.01)
        self.assertIn(decoder.result()[0].sentence, (" low", " low mid", " low mid low"))
        lm_decoder.DecodeNumpy(decoder, logits[20:], NO_PRIORS, 0.0)
        decoder.FinishDecoding()
        self.assertEqual(decoder.result()[0].sentence, " low mid low")

    def test_priors_and_log_probs(self) -> None:
        logits = logits_of("0120")
        priors = np.tile(np.log(np.array([0.4, 0.3, 0.2, 0.1], np.float32)), (4, 1))
        one, two = self.decoder(nbest=1), self.decoder(nbest=1)
        lm_decoder.DecodeNumpy(one, logits, priors, 1.0)
        rows = log_softmax(logits) - priors
        rows[:, 0] -= 1.0
        lm_decoder.DecodeNumpyLogProbs(two, rows)
        one.FinishDecoding()
        two.FinishDecoding()
        self.assertEqual(len(one.result()), 1)
        self.assertEqual(one.result()[0].sentence, " low")
        self.assertAlmostEqual(one.result()[0].ac_score, two.result()[0].ac_score, 4)

    def test_blanks_are_skipped(self) -> None:
        rows = np.full((9, 4), math.log(0.001 / 3), np.float32)
        for t, token in enumerate((0, 3, 0, 0, 0, 3, 1, 0, 0)):
            rows[t, token] = math.log(0.999)
        kept = [1, 4, 5, 6]  # the last blank between the two 3s stays
        skipping, plain = self.decoder(blank_skip=0.99), self.decoder()
        for at in range(0, 9, 2):
            lm_decoder.DecodeNumpyLogProbs(skipping, rows[at : at + 2])
        lm_decoder.DecodeNumpyLogProbs(plain, rows[kept])
        for decoder in (skipping, plain):
            decoder.FinishDecoding()
            self.assertEqual(decoder.result()[0].sentence, " high")
        self.assertAlmostEqual(skipping.result()[0].ac_score, plain.result()[0].ac_score, 4)

    def test_nothing_crashes(self) -> None:
        decoder = self.decoder()
        decoder.Rescore()
        decoder.FinishDecoding()
        decoder.Rescore()
        self.assertEqual((decoder.result(), decoder.DecodedSomething()), ([], False))
        decoder.Reset()
        lm_decoder.DecodeNumpy(decoder, np.zeros((0, 4)), np.zeros((0, 4)), 0.0)
        decoder.FinishDecoding()
        self.assertEqual(decoder.result(), [])
        with self.assertRaisesRegex(senone.InvalidState, "call Reset"):
            lm_decoder.DecodeNumpy(decoder, logits_of("0"), NO_PRIORS, 0.0)
        decoder.Reset()
        decoder.SetOpt(lm_decoder.DecodeOptions(100, 10, 20.0, 5.0, 1.0, 1.0, 0.0, 1))
        lm_decoder.DecodeNumpy(decoder, logits_of("0120"), NO_PRIORS, 0.0)
        decoder.FinishDecoding()
        self.assertEqual([result.sentence for result in decoder.result()], [" low"])

    def test_messages(self) -> None:
        words = str(Path(self.folder.name) / "words.txt")
        decoder = self.decoder()
        good = (7000, 200, 17.0, 8.0, 1.0, 1.0, 0.0, 10)
        bad = log_softmax(logits_of("012"))
        bad[1, 2] = math.nan
        finished = self.decoder()
        lm_decoder.DecodeNumpy(finished, logits_of("012"), NO_PRIORS, 0.0)
        finished.FinishDecoding()
        calls: list[tuple[Any, type[Exception], str]] = [
            (lambda: lm_decoder.DecodeResource("", "", "", "words.txt", ""), NotImplementedError, "name TLG.fst"),
            (lambda: lm_decoder.DecodeResource("no.fst", "", "", words, ""), senone.NotFound, "no.fst"),
            (lambda: lm_decoder.DecodeResource(words, "", "", words, ""), senone.BadFile, "words.txt"),
            (lambda: lm_decoder.DecodeOptions(*good[:6], 1.0, 10), NotImplementedError, "length_penalty is 1.0"),
            (lambda: lm_decoder.DecodeOptions(*good[:7], 0), ValueError, "nbest is 0"),
            (lambda: lm_decoder.DecodeOptions(*good[:2], math.nan, *good[3:]), ValueError, "beam is nan"),
            (lambda: lm_decoder.BrainSpeechDecoder(3, lm_decoder.DecodeOptions(*good)), ValueError, "takes a DecodeResource"),  # type: ignore[arg-type]
            (lambda: lm_decoder.DecodeNumpy(decoder, np.zeros(4), NO_PRIORS, 0.0), ValueError, r"must both be \[T, V\]"),
            (lambda: lm_decoder.DecodeNumpyLogProbs(decoder, np.zeros((2, 3))), ValueError, r"the graph needs \[T, 4\]"),
            (lambda: lm_decoder.DecodeNumpyLogProbs(decoder, bad), senone.BadAudio, "frame 1: value 2"),
            (lambda: finished.Rescore(), senone.InvalidState, "Rescore needs G.fst"),
            (lambda: lm_decoder.DecodeResource("x", "G.fst", "", words, ""), ValueError, "go together"),
        ]
        for call, error, message in calls:
            with self.assertRaisesRegex(error, message):
                call()


if __name__ == "__main__":
    unittest.main()
