# SPDX-License-Identifier: Apache-2.0
"""Tests that installed bundles are found by name."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import senone
from common import BUNDLE, SENTENCE, TONES, samples
from senone._installed import find_model, installed_models, model_directories


class Installed(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.first, self.second = Path(folder.name, "first"), Path(folder.name, "second")
        for name in ("first/tones", "second/tones", "second/others"):
            shutil.copytree(BUNDLE, Path(folder.name, name))
        (self.first / "no-bundle").mkdir()

    def _path(self, value: str) -> "unittest.mock._patch_dict":
        return unittest.mock.patch.dict(os.environ, {"SENONE_MODEL_PATH": value})

    def test_names(self) -> None:
        with self._path(f"{self.first}:relative::/no/such:{self.second}"):
            self.assertEqual(installed_models(), {"tones": self.first / "tones", "others": self.second / "others"})
            self.assertEqual(find_model("others"), str(self.second / "others"))
            for given in ("zork", "./others", str(BUNDLE), ""):
                self.assertEqual(find_model(given), given)
            engine = senone.Engine("others", device="cpu", n_threads=1)
            self.assertEqual(engine.recognize(samples()).text, SENTENCE)
            self.assertRaises(senone.NotFound, senone.Engine, "zork")
        with self._path(str(TONES)):
            try:
                senone.GrammarBuilder("model").close()
            except ImportError as error:
                self.skipTest(str(error))

    @unittest.skipIf(os.geteuid() == 0, "root may search every directory")
    def test_a_directory_that_may_not_be_searched(self) -> None:
        (self.first / "no-bundle").chmod(0)
        self.addCleanup((self.first / "no-bundle").chmod, 0o755)
        with self._path(str(self.first)):
            self.assertEqual(installed_models(), {"tones": self.first / "tones"})

    def test_directories(self) -> None:
        with unittest.mock.patch.dict(os.environ, {"SENONE_MODEL_PATH": "", "XDG_DATA_HOME": "/x"}):
            found = model_directories()
        self.assertEqual((found[0], found[-1]), (Path("/x/senone/models"), Path("/usr/share/senone/models")))
        self.assertTrue(all(path.is_absolute() for path in found))
        self.assertIn(Path(sys.prefix, "share/senone/models"), found)  # of bundles that pip installed


if __name__ == "__main__":
    unittest.main()
