#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs senone.ctc beside pyctcdecode, and senone.lm_decoder beside kaldi-decoder, on made-up scores: docs/drop-in.md.
    python3 -m venv venv && venv/bin/pip install 'numpy<2' pyctcdecode kenlm kaldi-decoder kaldifst
    export PYTHONPATH=bindings/python/src SENONE_LIBRARY=build/release/lib/libsenone.so.0 SENONE_DEVICE=cpu
    venv/bin/python bench/drop_in.py pyctcdecode [--unknown]
    venv/bin/python bench/drop_in.py kaldi-decoder
"""

from __future__ import annotations

import argparse
import logging
import math
import random
import struct
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from senone._build_library import build_lib

build_lib()  # before kaldifst, whose OpenFst is another one


def write_arpa(path: Path, sentences: list[list[str]]) -> None:
    """Writes a trigram of relative frequencies."""
    counts: list[Counter[tuple[str, ...]]] = [Counter(), Counter(), Counter()]
    for sentence in sentences:
        words = ["<s>", *sentence, "</s>"]
        for k in range(3):
            counts[k].update(tuple(words[i : i + k + 1]) for i in range(len(words) - k))
    levels = [{**counts[0], ("<unk>",): 1}, counts[1], {gram: n for gram, n in counts[2].items() if n > 1}]
    total = sum(counts[0].values())
    lines = ["\\data\\", *(f"ngram {k + 1}={len(level)}" for k, level in enumerate(levels))]
    for k, level in enumerate(levels):
        lines += ["", f"\\{k + 1}-grams:"]
        for gram, n in sorted(level.items()):
            log10 = math.log10(0.9 * n / total if k == 0 else 0.8 * n / counts[k - 1][gram[:-1]])
            backoff = "" if k == 2 or gram[-1] == "</s>" else f"\t{-random.random():.4f}"
            lines.append(f"{log10:.5f}\t{' '.join(gram)}{backoff}")
    path.write_text("\n".join([*lines, "", "\\end\\", ""]))


def noisy(labels: int, path: list[int], height: float, noise: float, generator: np.random.Generator) -> np.ndarray:
    rows = generator.normal(size=(len(path), labels)) * noise
    rows[np.arange(len(path)), path] += height
    return rows.astype(np.float32)


def frames(labels: list[int], blank: int) -> list[int]:
    """Labels as long as they last, with blanks between."""
    path: list[int] = []
    for label in labels:
        if path and path[-1] == label:
            path.append(blank)
        path += [label] * random.choice([1, 1, 2]) + [blank] * random.choice([0, 0, 1, 2])
    return path


def beside_pyctcdecode(with_unknown: bool) -> None:
    logging.disable(logging.WARNING)
    from pyctcdecode import build_ctcdecoder as original

    from senone.ctc import build_ctcdecoder

    generator = np.random.default_rng(0)
    words = sorted({"".join(random.choices("abcdeilnorst", k=random.randint(1, 7))) for _ in range(400)})
    sentences = [
        [random.choice(words[:40] if random.random() < 0.5 else words) for _ in range(random.randint(2, 9))]
        for _ in range(1500)
    ]
    letters = [*" abcdefghijklmnopqrstuvwxyz'", ""]
    pieces = {"▁" + word[:3] for word in words} | {word[3:] for word in words if len(word) > 3}
    pieces |= set("abcdeilnorst") | {"▁" + letter for letter in "abcdeilnorst"}
    kinds = {"letters": letters, "pieces": (["<unk>"] if with_unknown else []) + ["", *sorted(pieces)]}
    with tempfile.TemporaryDirectory() as folder:
        write_arpa(Path(folder) / "lm.arpa", sentences)
        for name, labels in kinds.items():
            for path in (None, str(Path(folder) / "lm.arpa")):
                theirs, mine = original(labels, path, alpha=0.6), build_ctcdecoder(labels, path, alpha=0.6)
                n, n_best, n_all, seconds = 0, 0, 0, [0.0, 0.0]
                for noise in (1.0, 2.0, 2.5) * 8:
                    sentence = random.choice(sentences)
                    spelled = list(" ".join(sentence))
                    if name == "pieces":
                        spelled = [p for word in sentence for p in ("▁" + word[:3], word[3:]) if p]
                    spoken = frames([labels.index(label) for label in spelled], labels.index(""))
                    rows = noisy(len(labels), spoken, 6, noise, generator)
                    hot = {"hotwords": random.sample(words, 3), "hotword_weight": 6.0} if n % 3 == 2 else {}
                    start = time.perf_counter()
                    a = theirs.decode_beams(rows, **hot)
                    middle = time.perf_counter()
                    b = mine.decode_beams(rows, **hot)
                    seconds = [seconds[0] + middle - start, seconds[1] + time.perf_counter() - middle]
                    is_same = len(a) == len(b) and all(
                        p[0] == q[0] and p[2] == q[2] and abs(p[3] - q[3]) < 1e-3 and abs(p[4] - q[4]) < 1e-3
                        for p, q in zip(a, b)
                    )
                    n, n_best, n_all = n + 1, n_best + (a[0][0] == b[0][0]), n_all + is_same
                what = f"{name}, {'with' if path else 'without'} a trigram"
                print(f"{what}: best text {n_best}, all beams {n_all} of {n}; {seconds[0]:.2f} s, senone {seconds[1]:.2f} s")


def write_graph(path: Path, arcs: list[list[tuple[int, int, float, int]]], finals: dict[int, float]) -> None:
    """Writes OpenFst's binary form of type vector."""
    names = b"".join(struct.pack("<i", len(name)) + name for name in (b"vector", b"standard"))
    header = struct.pack("<iiQqqq", 2, 0, 3, 0, len(arcs), sum(map(len, arcs)))
    with path.open("wb") as file:
        file.write(struct.pack("<i", 2125659606) + names + header)
        for state, of_state in enumerate(arcs):
            file.write(struct.pack("<fq", finals.get(state, math.inf), len(of_state)))
            file.write(b"".join(struct.pack("<iifi", *arc) for arc in of_state))


def word_loop(pronunciations: list[list[int]]) -> tuple[list[list[tuple[int, int, float, int]]], dict[int, float]]:
    """Returns a graph of words in any order by CTC, whose blank is token 0."""
    arcs: list[list[tuple[int, int, float, int]]] = [[(1, 0, 0.0, 0)]]
    finals, begins, ends = {0: 0.5}, [], []
    for number, tokens in enumerate(pronunciations, 1):
        before = None
        for k, token in enumerate(tokens):
            arcs.append([(token + 1, 0, 0.0, len(arcs))])
            state = len(arcs) - 1
            if before is None:
                begins.append((token + 1, number, random.uniform(3, 7), state))
            else:
                arcs.append([(1, 0, 0.0, len(arcs)), (token + 1, 0, 0.0, state)])
                arcs[before].append((1, 0, 0.0, len(arcs) - 1))
                if tokens[k - 1] != token:
                    arcs[before].append((token + 1, 0, 0.0, state))
            before = state
        arcs[before].append((1, 0, 0.0, 0))
        finals[before] = 0.5
        ends.append((before, tokens[-1]))
    arcs[0] += begins
    for state, token in ends:
        arcs[state] += [begin for begin in begins if begin[0] != token + 1]
    return arcs, finals


def beside_kaldi_decoder(n: int = 200) -> None:
    import kaldi_decoder
    import kaldifst

    from senone import lm_decoder

    generator = np.random.default_rng(0)
    words = [[random.randrange(1, 41) for _ in range(random.randrange(2, 7))] for _ in range(400)]
    with tempfile.TemporaryDirectory() as folder:
        graph, symbols = Path(folder) / "TLG.fst", Path(folder) / "words.txt"
        write_graph(graph, *word_loop(words))
        symbols.write_text("<eps> 0\n" + "".join(f"w{k} {k}\n" for k in range(1, len(words) + 1)))
        resource = lm_decoder.DecodeResource(str(graph), "", "", str(symbols), "")
        fst = kaldifst.StdVectorFst.read(str(graph))
    decoder = lm_decoder.BrainSpeechDecoder(resource, lm_decoder.DecodeOptions(7000, 200, 17.0, 8.0, 1.0, 1.0, 0.0, 1))
    options = kaldi_decoder.FasterDecoderOptions()
    options.beam, options.max_active = 17.0, 7000
    other = kaldi_decoder.FasterDecoder(fst, options)
    n_same, worst, seconds = 0, 0.0, [0.0, 0.0]
    for _ in range(n):
        spoken = [token for _ in range(random.randrange(3, 9)) for token in random.choice(words)]
        logits = noisy(41, frames(spoken, 0), 5, 1.5, generator)
        log_probs = logits - logits.max(axis=1, keepdims=True)
        log_probs -= np.log(np.exp(log_probs).sum(axis=1, keepdims=True))
        start = time.perf_counter()
        other.decode(kaldi_decoder.DecodableCtc(log_probs))
        _, path = other.get_best_path()
        _, _, ids, weight = kaldifst.get_linear_symbol_sequence(path)
        middle = time.perf_counter()
        decoder.Reset()
        lm_decoder.DecodeNumpy(decoder, logits, np.zeros((1, 41), np.float32), 0.0)
        decoder.FinishDecoding()
        seconds = [seconds[0] + middle - start, seconds[1] + time.perf_counter() - middle]
        best, cost = decoder.result()[0], weight.value1 + weight.value2
        n_same += best.sentence == "".join(f" w{k}" for k in ids)
        worst = max(worst, abs(-best.ac_score - best.lm_score - cost) / cost)
    print(f"sentences {n_same} of {n}, costs within {worst:.1e}; {seconds[0]:.2f} s, senone {seconds[1]:.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["pyctcdecode", "kaldi-decoder"])
    parser.add_argument("--unknown", action="store_true", help="with <unk> among the pieces")
    arguments = parser.parse_args()
    random.seed(0)
    if arguments.what == "pyctcdecode":
        beside_pyctcdecode(arguments.unknown)
    else:
        beside_kaldi_decoder()
