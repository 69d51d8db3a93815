# SPDX-License-Identifier: Apache-2.0
"""Tests senone.phrases by speech-to-phrase's call sequence. The reference enumerates all alignments of all phrases."""

from __future__ import annotations

import itertools
import math
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import senone
import senone.phrases as fst

Array = npt.NDArray[Any]
Ids = tuple[int, ...]


def grammar_of(phrases: list[Ids]) -> tuple[Array, Array]:
    """Arcs of a choice of phrases, one state for each beginning, as templates give them."""
    states: dict[Ids, int] = {(): 0}
    arcs = []
    for phrase in phrases:
        for k in range(len(phrase)):
            if phrase[: k + 1] not in states:
                states[phrase[: k + 1]] = len(states)
                arcs.append((states[phrase[:k]], states[phrase[: k + 1]], phrase[k], phrase[k]))
    return np.array(arcs, np.int32).reshape(-1, 4), np.array([states[phrase] for phrase in set(phrases)], np.int32)


def random_rows(random: np.random.Generator, n_rows: int, n_tokens: int) -> Array:
    rows = random.normal(size=(n_rows, n_tokens)) * 2
    rows -= np.log(np.exp(rows).sum(axis=1, keepdims=True))
    return rows.astype(np.float32)


def alignments(rows: Array, phrases: set[Ids], blank: int) -> Iterator[tuple[float, Ids, Ids]]:
    """Yields the cost of each alignment of each phrase, the phrase, and the frames in which its ids begin."""
    for path in itertools.product(range(rows.shape[1]), repeat=len(rows)):
        begins = tuple(t for t, token in enumerate(path) if token != blank and (t == 0 or path[t - 1] != token))
        ids = tuple(path[t] for t in begins)
        if ids in phrases:
            yield -sum(float(rows[t, token]) for t, token in enumerate(path)), ids, begins


def two_best(rows: Array, phrases: list[Ids], blank: int, bonus: float, distinct: str) -> tuple[list[int], Any, Any]:
    """The result that `decode` defines. Frames count where a phrase of the same beginning could have gone on
    otherwise."""
    beginnings = {phrase[:k] for phrase in phrases for k in range(len(phrase) + 1)}
    ways = {b: len({other for other in beginnings if other[:-1] == b and other}) + (b in phrases) for b in beginnings}
    best: dict[Any, tuple[float, float, Ids]] = {}
    for cost, ids, begins in alignments(rows, set(phrases), blank):
        times = tuple(t for k, t in enumerate(begins) if ways[ids[:k]] > 1)
        key = (ids, times) if distinct == "times" else ids
        entry = (cost - bonus * len(ids), cost, ids)
        best[key] = min(best.get(key, entry), entry)
    order = sorted(best.values())
    costs = [cost for _, cost, _ in order] + [None, None]
    return list(order[0][2]) if order else [], costs[0], costs[1]


class Phrases(unittest.TestCase):
    def assert_same(self, found: Any, expected: Any, message: object = None) -> None:
        self.assertEqual(found[0], expected[0], message)
        for mine, theirs in zip(found[1:], expected[1:]):
            self.assertEqual(mine is None, theirs is None, message)
            if mine is not None:
                self.assertAlmostEqual(mine, theirs, 4, str(message))

    def test_equals_an_enumeration(self) -> None:
        random = np.random.default_rng(1)
        for case in range(60):
            n_tokens = int(random.integers(1, 4))
            phrases = list({tuple(int(t) for t in random.integers(0, n_tokens, random.integers(1, 4))) for _ in range(4)})
            rows = random_rows(random, int(random.integers(0, 7)), n_tokens + 1)
            bonus = float(random.choice([0.0, 0.8]))
            arcs, finals = grammar_of(phrases)
            grammar = fst.build_grammar(n_tokens, n_tokens, arcs, finals)
            for distinct in ("times", "ids"):
                found = fst.decode(grammar, rows, len(rows), n_tokens + 1, n_tokens, 0.0, bonus, distinct=distinct)
                expected = two_best(rows, phrases, n_tokens, bonus, distinct)
                self.assert_same(found, expected, (case, distinct, phrases, bonus))

    def test_arcs_without_tokens_ids_and_loops(self) -> None:
        # (0 | 1 2)+ with ids 10 and 12, and a way around by arcs that take no frame.
        arcs = [(0, 1, 0, 10), (0, 2, 1, -1), (2, 3, 2, 12), (3, 1, -1, -1), (1, 0, -1, -1), (7, 7, 0, 0)]
        grammar = fst.build_grammar(3, 3, np.array(arcs, np.int32), np.array([1], np.int32))
        rows = np.full((7, 4), -9.0, np.float32)
        for t, token in enumerate((0, 3, 0, 1, 1, 2, 3)):
            rows[t, token] = -0.1
        ids, best, second = fst.decode(grammar, rows, 7, 4, 3, 0.0)
        self.assertEqual(ids, [10, 10, 12])
        assert best is not None and second is not None
        self.assertAlmostEqual(best, 0.7, 5)
        self.assertGreater(second, best)

    def test_beam(self) -> None:
        arcs, finals = grammar_of([(0, 1), (1, 0)])
        grammar = fst.build_grammar(2, 2, arcs, finals)
        rows = np.log(np.array([[0.6, 0.3, 0.1], [0.05, 0.05, 0.9], [0.5, 0.4, 0.1]], np.float32))
        exact = fst.decode(grammar, rows, 3, 3, 2, 0.0)
        self.assert_same(fst.decode(grammar, rows, 3, 3, 2, 100.0), exact)
        narrow = fst.decode(grammar, rows, 3, 3, 2, 0.3)  # only 0, blank, and 0 or 1 are left
        self.assertEqual(narrow[0], [0, 1])
        self.assertEqual(fst.decode(grammar, rows, 3, 3, 2, 0.1), ([], None, None))

    def test_streams(self) -> None:
        random = np.random.default_rng(2)
        phrases: list[Ids] = [tuple(int(t) for t in random.integers(0, 5, 6)) for _ in range(30)]
        arcs, finals = grammar_of(phrases)
        grammar = fst.build_grammar(5, 5, arcs, finals)
        rows = random_rows(random, 40, 6)
        expected = fst.decode(grammar, rows, 40, 6, 5, 0.0)
        with fst.Search(grammar) as search:
            for _ in range(2):
                for at in range(0, 40, 7):
                    search.feed(rows[at : at + 7])
                    self.assert_same(search.result(), fst.decode(grammar, rows, min(at + 7, 40), 6, 5, 0.0))
                self.assert_same(search.result(), expected)
                search.reset()
            self.assertEqual(search.result(), ([], None, None))
        # Many rows: what no result needs any more is dropped on the way.
        long = np.tile(rows, (500, 1))
        loop = np.concatenate([arcs, [(int(f), 0, -1, -1) for f in finals]]).astype(np.int32)
        whole = fst.decode(fst.build_grammar(5, 5, loop, finals), long, len(long), 6, 5, 0.0)
        with fst.Search(fst.build_grammar(5, 5, loop, finals)) as search:
            for at in range(0, len(long), 1000):
                search.feed(long[at : at + 1000])
            self.assertEqual(search.result(), whole)
        self.assertEqual(len(whole[0]) % 6, 0)
        self.assertGreater(len(whole[0]), 1000)

    def test_types(self) -> None:
        arcs, finals = grammar_of([(0, 1), (1,)])
        rows = random_rows(np.random.default_rng(4), 5, 3)
        expected = fst.decode(fst.build_grammar(2, 2, arcs, finals), rows, 5, 3, 2, 0.0, 0.5)
        grammar: Any = fst.build_grammar(np.int64(2), np.int32(2), memoryview(arcs.tobytes()), finals.tolist())
        for kind in (rows.tobytes(), memoryview(rows), rows.astype(np.float64), rows.reshape(-1), np.asfortranarray(rows)):
            found = fst.decode(grammar, kind, np.int64(5), np.int64(3), np.int64(2), np.float32(0), np.float64(0.5))
            self.assertEqual(found, expected, type(kind))

    def test_files(self) -> None:
        random = np.random.default_rng(3)
        arcs = np.array([(0, 1, 1, 1), (0, 1, 2, 2), (1, 2, 0, 0), (5, 6, 3, 3)], np.int32)
        grammar = fst.build_grammar(4, 4, arcs.tobytes(), np.array([2], np.int32).tobytes())
        rows = random_rows(random, 8, 5)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "grammar"
            fst.save_grammar(grammar, path)
            loaded = fst.load_grammar(str(path))
            for beam in (0.0, 1.0):
                expected = fst.decode(grammar, rows, 8, 5, 4, beam)
                self.assertEqual(fst.decode(loaded, rows, 8, 5, 4, beam), expected)
            whole = path.read_bytes()
            damaged = [whole[:-3], whole[:20], b"", whole[:40] + b"\7" + whole[41:], whole + b"\0" * 8, b"\xd6\xfd\xb2\x7e" + whole]
            for content in damaged:
                path.write_bytes(content)
                with self.assertRaisesRegex(senone.BadFile, "grammar: is "):
                    fst.load_grammar(path)
            with self.assertRaises(senone.NotFound):
                fst.load_grammar(Path(folder) / "nosuch")
            with self.assertRaises(OSError):
                fst.save_grammar(grammar, Path(folder) / "no" / "such")

    def test_messages(self) -> None:
        arcs, finals = grammar_of([(0, 1)])
        grammar = fst.build_grammar(2, 2, arcs, finals)
        rows = np.zeros((3, 3), np.float32)
        bad = rows.copy()
        bad[1, 2] = math.nan
        closed = np.full((3, 3), -math.inf, np.float32)

        def build(*arc: int) -> Any:
            return fst.build_grammar(2, 2, np.array([arc], np.int32), np.array([1], np.int32))

        calls: list[tuple[Any, type[Exception], str]] = [
            (lambda: build(0, 1, 3, 3), ValueError, "arc 0 has the token 3 of 2"),
            (lambda: build(0, 1, 2, 2), ValueError, "arc 0 has the blank 2"),
            (lambda: build(0, -1, 0, 0), ValueError, "arc 0: -1 is no state"),
            (lambda: build(0, 1, -1, 4), NotImplementedError, "id 4 without a token"),
            (lambda: build(1, 2, 0, 0), ValueError, "no path leads from state 0 to a final state"),
            (lambda: build(0, 1, 0), ValueError, "each has four"),
            (lambda: fst.build_grammar(2, 2, arcs.astype(float), finals), ValueError, "whole numbers of 32 bits"),
            (lambda: fst.build_grammar(-1, 2, arcs, finals), ValueError, "num_tokens is -1"),
            (lambda: fst.decode(grammar, rows, 4, 3, 2, 0.0), ValueError, "logprobs have 9 values"),
            (lambda: fst.decode(grammar, rows, 3, 2, 2, 0.0), ValueError, "rows have 2 values"),
            (lambda: fst.decode(grammar, rows, 3.0, 3, 2, 0.0), ValueError, "T is 3.0"),  # type: ignore[arg-type]
            (lambda: fst.decode(grammar, b"12345", 1, 1, 2, 0.0), ValueError, "there are 5 bytes"),
            (lambda: fst.decode(grammar, rows, 3, 3, 0, 0.0), ValueError, "the grammar was built with 2"),
            (lambda: fst.decode(grammar, bad, 3, 3, 2, 0.0), senone.BadAudio, "row 1: value 2"),
            (lambda: fst.decode(3, rows, 3, 3, 2, 0.0), ValueError, "grammar is of type int"),  # type: ignore[arg-type]
            (lambda: fst.Search(grammar).feed(rows[0]), ValueError, r"must be \[T, V\]"),
        ]
        for call, error, message in calls:
            with self.assertRaisesRegex(error, message):
                call()
        self.assertEqual(fst.decode(grammar, closed, 3, 3, 2, 0.0), ([], None, None))
        self.assertEqual(fst.decode(grammar, rows, 0, 3, 2, 0.0), ([], None, None))
        grammar.close()
        with self.assertRaisesRegex(senone.InvalidState, "build another"):
            fst.decode(grammar, rows, 3, 3, 2, 0.0)


if __name__ == "__main__":
    unittest.main()
