# SPDX-License-Identifier: Apache-2.0
"""Tests senone.riva by the call sequences of riva-asrlib-decoder, over the graph of test_lm_decoder and its plain
Viterbi search."""

from __future__ import annotations

import os
import struct
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

os.environ.setdefault("SENONE_DEVICE", "cpu")

import numpy as np

import senone
from senone import riva
from test_lm_decoder import WORDS, Array, graph, log_softmax, logits_of, sentence_costs, write_graph

TOKENS = ("0012203330310", "20012", "3303310020220010002200", "0012")
SENTENCES = ("low high", "mid low", "high mid mid low", "low")


class Words(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    path: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name)
        write_graph(cls.path / "TLG.fst", *graph())
        (cls.path / "words.txt").write_text("<eps> 0\n" + "".join(f"{word} {k}\n" for k, word in enumerate(WORDS, 1)))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def config(self, nbest: int = 1) -> riva.BatchedMappedDecoderCudaConfig:
        config = riva.BatchedMappedDecoderCudaConfig()
        config.n_input_per_chunk = 50
        config.online_opts.decoder_opts.default_beam = 40.0
        config.online_opts.decoder_opts.lattice_beam = 9.0
        config.online_opts.decoder_opts.max_active = 7000
        config.online_opts.decoder_opts.blank_ilabel = 1
        config.online_opts.determinize_lattice = True
        config.online_opts.max_batch_size = 2
        config.online_opts.num_channels = 4
        config.online_opts.frame_shift_seconds = 0.03
        config.online_opts.lattice_postprocessor_opts.nbest = nbest
        return config

    def decoder(self, nbest: int = 1) -> riva.BatchedMappedDecoderCuda:
        return riva.BatchedMappedDecoderCuda(self.config(nbest), str(self.path / "TLG.fst"), str(self.path / "words.txt"), 4)

    def batch(self) -> tuple[Array, Array]:
        rows = [log_softmax(logits_of(tokens, seed, 8.0)) for seed, tokens in enumerate(TOKENS)]
        longest = max(map(len, rows))
        padded = np.stack([np.concatenate([r, np.zeros((longest - len(r), 4), np.float32)]) for r in rows])
        return padded.astype(np.float32), np.array([len(r) for r in rows], np.int64)

    def test_decode_mbr(self) -> None:
        logits, lengths = self.batch()
        decoder = self.decoder()
        results = decoder.decode_mbr(logits, lengths)
        self.assertEqual([" ".join(word for word, *_ in words).lower() for words in results], list(SENTENCES))
        word, start_s, end_s, confidence = results[0][0]
        self.assertEqual(word, "Low")
        self.assertTrue(0 <= start_s <= 2 * 0.03 + 1e-6 < end_s <= 6 * 0.03 + 1e-6, (start_s, end_s))
        self.assertTrue(0.5 < confidence <= 1)
        listed = decoder.decode_mbr([rows[:n] for rows, n in zip(logits, lengths)], lengths)
        self.assertEqual(listed, results)
        self.assertEqual(decoder.decode_mbr(logits[:1], [0]), [[]])

    def test_decode_nbest(self) -> None:
        logits, lengths = self.batch()
        words = list(WORDS)
        for rows, n, found in zip(logits, lengths, self.decoder(5).decode_nbest(logits, lengths)):
            costs = {sentence.strip(): sum(pair) for sentence, pair in sentence_costs(rows[:n], 1.0).items()}
            order = sorted(costs, key=lambda sentence: costs[sentence])
            order = [sentence for sentence in order if costs[sentence] < costs[order[0]] + 8.9][:5]
            texts = [" ".join(words[w - 1] for w in result.words).lower() for result in found]
            self.assertEqual(texts[: len(order)], order)
            for sentence, result in zip(order, found):
                self.assertAlmostEqual(-result.score, costs[sentence], 3)
                self.assertEqual(len(result.words), len(result.word_durations_seconds))
            with self.assertRaisesRegex(NotImplementedError, "ilabels are not available"):
                found[0].ilabels

    def test_decode_write_lattice(self) -> None:
        logits, lengths = self.batch()
        decoder, keys = self.decoder(), [f"utterance-{k}" for k in range(4)]
        text, binary = self.path / "lattices.txt", self.path / "lattices.ark"
        decoder.decode_write_lattice(logits, lengths, keys, f"ark,t:{text}")
        decoder.decode_write_lattice(logits, lengths, keys, f"ark:{binary}")
        blocks = text.read_text().split("\n\n")
        self.assertEqual([block.split(" ")[0] for block in blocks if block], keys)
        for block, n in zip(blocks, lengths):
            arcs = [line.split("\t") for line in block.split("\n")[1:]]
            best = {0: (0.0, 0)}
            ends = []
            for fields in arcs:
                cost, n_frames = best[int(fields[0])]
                graph_cost, acoustic_cost, labels = fields[-1].split(",")
                total = cost + float(graph_cost) + float(acoustic_cost)
                frames = n_frames + len(labels.split("_") if labels else [])
                if len(fields) == 2:
                    ends.append((total, frames))
                elif int(fields[1]) not in best or total < best[int(fields[1])][0]:
                    best[int(fields[1])] = (total, frames)
            index = keys.index(block.split(" ")[0])
            expected = min(sum(pair) for pair in sentence_costs(logits[index, :n], 1.0).values())
            self.assertAlmostEqual(min(ends)[0], expected, 3)
            self.assertEqual({frames for _, frames in ends}, {int(n)})
        start = binary.read_bytes()
        self.assertTrue(start.startswith(b"utterance-0 " + struct.pack("<i", 2125659606)))
        self.assertEqual(start.count(b"compactlattice44"), 4)
        with self.assertRaisesRegex(ValueError, "must be ark:FILE"):
            decoder.decode_write_lattice(logits, lengths, keys, "ark:|gzip -c >x")
        with self.assertRaisesRegex(ValueError, "3 keys for 4"):
            decoder.decode_write_lattice(logits, lengths, keys[:3], f"ark:{binary}")

    def test_online(self) -> None:
        logits, lengths = self.batch()
        config = self.config(3).online_opts
        decoder = riva.BatchedMappedOnlineDecoderCuda(config, str(self.path / "TLG.fst"), str(self.path / "words.txt"), 4)
        results: dict[int, Any] = {}
        main = threading.current_thread()
        for corr_id in range(4):
            self.assertTrue(decoder.try_init_corr_id(corr_id))

            def callback(result: Any, corr_id: int = corr_id) -> None:
                results[corr_id] = (*result, threading.current_thread() is main)

            decoder.set_lattice_callback(corr_id, callback)
        at = 0
        open_ids = list(range(4))
        while open_ids:
            chunks = [logits[k, at : min(at + 5, lengths[k])] for k in open_ids]
            last = [at + 5 >= lengths[k] for k in open_ids]
            channels, partials = decoder.decode_batch(open_ids, chunks, [at == 0] * len(open_ids), last)
            self.assertEqual((len(set(channels)), len(partials)), (len(open_ids), len(open_ids)))
            open_ids = [k for k, is_last in zip(open_ids, last) if not is_last]
            at += 5
        decoder.wait_for_lattice_callback()
        expected = self.decoder().decode_mbr(logits, lengths)
        for corr_id in range(4):
            lattice, words, hypotheses, is_main = results[corr_id]
            self.assertEqual([word for word, *_ in words], [word for word, *_ in expected[corr_id]])
            self.assertIsInstance(lattice, senone.Lattice)
            self.assertLessEqual(len(hypotheses), 3)
            self.assertFalse(is_main)
        with self.assertRaisesRegex(senone.InvalidState, "utterance 9 has no first chunk"):
            decoder.decode_batch([9], [logits[0]], [False], [True])

    def test_messages(self) -> None:
        files = (str(self.path / "TLG.fst"), str(self.path / "words.txt"))
        logits, lengths = self.batch()

        def made(member: str, value: object) -> Any:
            config = self.config()
            target: Any = config.online_opts
            *parents, name = member.split(".")
            for parent in parents:
                target = getattr(target, parent)
            setattr(target, name, value)
            return riva.BatchedMappedDecoderCuda(config, *files, 4)

        calls: list[tuple[Any, type[Exception], str]] = [
            (lambda: made("frame_shift_seconds", 0.0), ValueError, "frame_shift_seconds is 0.0"),
            (lambda: made("decoder_opts.length_penalty", -1.0), NotImplementedError, "length_penalty is -1.0"),
            (lambda: made("lattice_postprocessor_opts.lm_scale", 0.5), NotImplementedError, "lm_scale is 0.5"),
            (lambda: made("decoder_opts.default_beem", 1.0), AttributeError, "no member default_beem"),
            (lambda: riva.BatchedMappedDecoderCuda(self.config(), *files, 3), senone.BadFile, "input label 4"),
            (lambda: riva.BatchedMappedDecoderCuda(self.config(), "no.fst", files[1], 4), senone.NotFound, "no.fst"),
            (lambda: self.decoder().decode_mbr(logits[:, :, :3], lengths), ValueError, r"needs \[B, T, 4\]"),
            (lambda: self.decoder().decode_mbr(logits, [99] * 4), ValueError, "logits_lengths are"),
        ]
        for call, error, message in calls:
            with self.assertRaisesRegex(error, message):
                call()


if __name__ == "__main__":
    unittest.main()
