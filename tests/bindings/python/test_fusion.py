# SPDX-License-Identifier: Apache-2.0
"""Acoustic models that an engine has beside its own: streams choose from them and fuse them."""

from __future__ import annotations

import unittest
from typing import Any

from common import BUNDLE, SENTENCE, TONES, engine, samples

import senone


def cost(own: senone.Engine, **config: Any) -> float:
    result = own.recognize(samples(), **config)
    assert result.text == SENTENCE
    return result.alternatives[0].acoustic_cost


class Fusion(unittest.TestCase):
    def test_models_are_chosen_and_fused(self) -> None:
        with senone.Engine(BUNDLE, device="cpu", n_threads=2) as own:
            own.add_model("wide", TONES / "wide")
            own.add_model("again", BUNDLE)
            plain, wide = cost(own), cost(own, models=["wide"])
            self.assertNotEqual(plain, wide)
            self.assertEqual(cost(own, models=[""]), plain)
            self.assertEqual(cost(own, models={"wide": 1, "": 0}), wide)
            for rule in ("sum", "log_sum", "max", "follow", "select"):
                self.assertEqual(cost(own, models=("", "again"), fusion=rule), plain)
                cost(own, models={"": 1, "wide": 2}, fusion=rule, follow_ms=50, select_ms=50)
            self.assertTrue(min(plain, wide) < cost(own, models=["", "wide"]) < max(plain, wide))
            own.remove_model("wide")
            self.assertRaisesRegex(senone.NotFound, "wide", own.recognize, samples(), models=["wide"])
            self.assertRaises(senone.NotFound, own.remove_model, "wide")

    def test_misuse_is_refused(self) -> None:
        for config in (
            {"models": "wide"},
            {"models": [3]},
            {"models": 3},
            {"models": {"": "x"}},
            {"models": []},
            {"models": [""], "fusion": "mean"},
            {"models": [""], "follow_ms": 5},
            {"models": [""], "select_ms": 1.5},
            {"models": {"": -1}},
        ):
            self.assertRaises(senone.InvalidArgument, engine().recognize, samples(), **config)
        self.assertRaises(senone.InvalidArgument, engine().add_model, "", BUNDLE)
        self.assertRaises(senone.NotFound, engine().add_model, "x", TONES / "none")


if __name__ == "__main__":
    unittest.main()
