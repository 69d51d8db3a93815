# SPDX-License-Identifier: Apache-2.0
"""Tests that errors name this package's arguments, not the C library's functions, fields and constants."""

from __future__ import annotations

import os
import re
import unittest
from pathlib import Path

import senone
from common import TONES, engine
from senone._terms import in_python

SOURCE = Path(os.environ["SENONE_SOURCE"])


class Terms(unittest.TestCase):
    def test_fields_are_arguments(self) -> None:
        for message, said in (
            ("asr_open: asr_stream_config.sample_rate_hz is 1; its range is", "rate is 1; its range is"),
            ("asr_open: asr_fusion.rule is 9", "fusion is 9"),
            ("set asr_stream_config.cmn to ASR_CMN_LIVE", 'set cmn to "live"'),
            ("call it before asr_feed or after asr_reset", "call it before Stream.feed or after Stream.reset"),
            ("asr_builder_set_g2p: n_best is 0", "n_best is 0"),
            ("asr_align: let it differ (asr_align_config.lenient)", "let it differ (lenient)"),
            ("give a model of senone g2p (asr_aligner_config.g2p)", "give a model of senone g2p (g2p)"),
            (
                "add them with asr_builder_add_lexicon, or set its field unknown to ASR_BUILD_DROP_UNKNOWN",
                'add them with GrammarBuilder.add_lexicon, or set unknown to "drop"',
            ),
            ("asr_engine_load: bundle_path is NULL", "bundle_path is None"),
            ("/tmp/x: No such file", "/tmp/x: No such file"),
        ):
            self.assertEqual(in_python(message), said)

    def test_every_message_of_the_library(self) -> None:
        n = 0
        for folder in ("api", "core/engine", "core/stream", "core/rows", "core/session", "core/step", "builder/graph"):
            for path in sorted((SOURCE / folder).rglob("*.cc")):
                for message in re.findall(r'"((?:[^"\\]|\\.)*)"', path.read_text(encoding="utf-8")):
                    if " " not in message or "ASR_VERSION" in message:
                        continue
                    n += "asr_" in message
                    self.assertNotRegex(in_python(message), "asr_|ASR_")
        self.assertGreater(n, 50)

    def test_errors_of_calls(self) -> None:
        with self.assertRaises(senone.Error) as failure:
            engine().stream(beam=-1)
        self.assertRegex(str(failure.exception), "^beam is -1; ")
        with self.assertRaises(senone.Error) as failure:
            engine().stream(n_best=5)
        self.assertRegex(str(failure.exception), "^n_best is 5; ")
        with engine().stream() as stream, self.assertRaises(senone.Error) as failure:
            stream.end_utterance()
        self.assertIn("set endpoint for several", str(failure.exception))
        try:
            builder = senone.GrammarBuilder(TONES / "model")
        except ImportError as error:
            self.skipTest(str(error))
        with builder, self.assertRaises(senone.Error) as failure:
            builder.words(["low", "zork"])
        self.assertNotRegex(str(failure.exception), "asr_|ASR_")
        self.assertIn("zork", str(failure.exception))
