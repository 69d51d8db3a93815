# SPDX-License-Identifier: Apache-2.0
"""Tests many streams of many threads, and many results in one process. SENONE_MORE=1: 10,000 results instead of 600."""

from __future__ import annotations

import gc
import os
import threading
import unittest
from pathlib import Path

from common import SENTENCE, engine, samples

N_RESULTS = 10000 if os.environ.get("SENONE_MORE") == "1" else 600
LEAST_GROWTH = 4 << 20  # bytes; natural growth of the allocators and threads


def resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Load(unittest.TestCase):
    def test_64_streams_of_16_threads(self) -> None:
        texts: list[str] = []

        def work() -> None:
            streams = [engine().stream(lattice_beam=4) for _ in range(4)]
            for begin in range(0, len(samples()), 1600):
                for stream in streams:
                    stream.feed(samples()[begin : begin + 1600])
            texts.extend(stream.result().text for stream in streams)

        threads = [threading.Thread(target=work) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(texts, [SENTENCE] * 64)

    def test_results_do_not_make_the_process_grow(self) -> None:
        audio = samples("low")

        def recognize(n: int) -> None:
            for _ in range(n):
                result = engine().recognize(audio)
                self.assertEqual(result.text, "low")
                assert result.lattice is not None
                self.assertGreater(len(result.lattice.arc_word), 0)

        recognize(N_RESULTS // 4)
        before = resident_bytes()
        recognize(N_RESULTS)
        growth = resident_bytes() - before
        print(f"{N_RESULTS} results: {before >> 10} KiB resident before, {growth >> 10} KiB more after")
        self.assertLess(growth, LEAST_GROWTH)


if __name__ == "__main__":
    unittest.main()
