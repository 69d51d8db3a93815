# SPDX-License-Identifier: Apache-2.0
"""Tests speakers: adaptation, transforms, lifetimes."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import unittest

import numpy as np
import numpy.typing as npt
from common import BUNDLE, SENTENCE, engine, samples

import senone
from senone import EventKind


def identity() -> npt.NDArray[np.float32]:
    n = engine().info.n_feature_dims
    return np.eye(n, n + 1, dtype=np.float32)


def cost(speaker: senone.Speaker | None) -> float:
    return engine().recognize(samples(), speaker=speaker).alternatives[0].acoustic_cost


class Speakers(unittest.TestCase):
    def test_the_warp_is_set_and_searched(self) -> None:
        with engine().speaker() as speaker:
            self.assertEqual(speaker.warp, 1)
            plain = cost(speaker)
            speaker.warp = 0.9
            self.assertAlmostEqual(speaker.warp, 0.9, places=6)
            self.assertNotEqual(cost(speaker), plain)
            self.assertRaisesRegex(senone.InvalidArgument, "warp", setattr, speaker, "warp", 2)
            self.assertRaises(senone.InvalidArgument, speaker.set_methods, fmllr=False)
            self.assertRaises(senone.InvalidArgument, speaker.set_methods, vtln=5)
            speaker.warp = 1
            speaker.set_methods(fmllr=False, vtln=11)
            self.assertRaises(senone.InvalidState, speaker.adapt)
            for _ in range(3):
                engine().recognize(samples(), speaker=speaker)
            speaker.adapt()
            self.assertTrue(0.8 <= speaker.warp <= 1.2)
            self.assertIsNone(speaker.transform())

    def test_what_was_said_is_learned_from(self) -> None:
        with engine().speaker() as speaker:
            self.assertRaises(senone.InvalidState, speaker.adapt)
            self.assertEqual(engine().recognize(samples("low"), speaker=speaker).text, "low")
            self.assertRaisesRegex(senone.InvalidState, "100 are needed", speaker.adapt)
            for _ in range(2):
                self.assertEqual(engine().recognize(samples(), speaker=speaker).text, SENTENCE)
            self.assertIsNone(speaker.transform())
            speaker.adapt()
            transform = speaker.transform()
            assert transform is not None
            self.assertEqual((transform.shape, transform.dtype), (identity().shape, np.float32))
            self.assertFalse((transform == identity()).all())
            with engine().speaker() as other:
                self.assertIsNone(other.transform())

    def test_transforms_are_set_and_taken_away(self) -> None:
        speaker, alone = engine().speaker(), cost(None)
        self.assertAlmostEqual(cost(speaker), alone, delta=1e-3 * alone)
        shifted = identity()
        shifted[0, -1] = 10
        for transform, is_alone in ((identity(), True), (shifted, False), (None, True), (shifted.T.copy().T, False)):
            speaker.set_transform(transform)
            found = speaker.transform()
            self.assertTrue(found is None if transform is None else (found == transform).all())
            self.assertEqual(abs(cost(speaker) - alone) < 1e-3 * alone, is_alone)
        transform = speaker.transform()
        assert transform is not None
        transform[:] = 0  # must be a copy
        speaker.set_transform(identity().astype(int).tolist())
        self.assertTrue((speaker.transform() == identity()).all())
        for bad in (identity().T, identity()[:-1], identity().ravel(), identity() * np.nan, "none", 1):
            self.assertRaises(senone.InvalidArgument, speaker.set_transform, bad)
        self.assertTrue((speaker.transform() == identity()).all())

    def test_means_are_estimated_and_set(self) -> None:
        with engine().speaker() as speaker:
            speaker.set_methods(fmllr=False, mllr=True)
            for _ in range(3):
                engine().recognize(samples(), speaker=speaker)
            plain = cost(speaker)
            speaker.adapt()
            self.assertIsNone(speaker.transform())
            found = speaker.mean_transform()
            assert found is not None
            self.assertEqual((found.shape, found.dtype), (identity().shape, np.float32))
            adapted = cost(speaker)
            self.assertLess(adapted, plain)
            with engine().speaker() as other:
                other.set_mean_transform(found)
                self.assertEqual(cost(other), adapted)
                other.set_transform(None)
                self.assertIsNone(other.mean_transform())
            speaker.set_mean_transform(None)
            self.assertIsNone(speaker.mean_transform())
            self.assertAlmostEqual(cost(speaker), plain, delta=1e-3 * abs(plain))
            for bad in (identity().T, identity() * np.nan, identity() * 1e9, "none"):
                self.assertRaises(senone.InvalidArgument, speaker.set_mean_transform, bad)

    def test_streams_adapt_between_utterances(self) -> None:
        for adaptation in ("on_call", "between_utterances"):
            speaker = engine().speaker()
            with engine().stream(endpoint="dictation", speaker=speaker, adaptation=adaptation) as stream:
                for _ in range(2):
                    stream.feed(np.concatenate([samples(), samples()]))
                    stream.end_utterance()
            finals = [event for event in stream if event.kind == EventKind.FINAL]
            self.assertEqual(finals[0].text, f"{SENTENCE} {SENTENCE}")
            self.assertEqual(speaker.transform() is not None, adaptation == "between_utterances")

    def test_settings_are_checked(self) -> None:
        speaker = engine().speaker()
        for bad in (
            {"speaker": 5},
            {"speaker": speaker._handle},
            {"speaker": speaker, "input": "loglikes"},
            {"speaker": speaker, "adaptation": "sometimes"},
            {"speaker": speaker, "adaptation": "between_utterances"},
            {"endpoint": "dictation", "adaptation": "between_utterances"},
        ):
            with self.subTest(bad):
                self.assertRaises(senone.InvalidArgument, engine().stream, **bad)

    def test_streams_outlive_their_speaker_and_speakers_their_engine(self) -> None:
        loaded = senone.Engine(BUNDLE, "cpu", n_threads=1)
        speaker = loaded.speaker()
        stream = loaded.stream(speaker=loaded.speaker())
        loaded.close()
        gc.collect()
        stream.feed(samples())
        self.assertEqual(stream.result().text, SENTENCE)
        self.assertRaises(senone.InvalidState, loaded.speaker)
        self.assertEqual(engine().recognize(samples(), speaker=speaker).text, SENTENCE)

    def test_closed_speakers_are_refused(self) -> None:
        speaker = engine().speaker()
        self.assertNotIn("closed", repr(speaker))
        stream = engine().stream(speaker=speaker)
        speaker.close()
        speaker.close()
        self.assertIn("closed", repr(speaker))
        stream.feed(samples())
        self.assertEqual(stream.result().text, SENTENCE)
        for call in (speaker.adapt, speaker.transform, lambda: speaker.set_transform(None), lambda: cost(speaker)):
            self.assertRaisesRegex(senone.InvalidState, "the speaker was closed", call)

    def test_any_threads_use_one(self) -> None:
        speaker = engine().speaker()
        engine().recognize(np.concatenate([samples(), samples()]), speaker=speaker)
        outcome: list[object] = []

        def use() -> None:
            try:
                for _ in range(5):
                    speaker.adapt()
                    transform = speaker.transform()
                    engine().recognize(samples(), speaker=speaker)
                    speaker.set_transform(None)
                    outcome.append(transform is None or transform.shape == identity().shape)
            except BaseException as error:
                outcome.append(isinstance(error, senone.InvalidState))  # closed

        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        threads[0].join()
        speaker.close()
        for thread in threads:
            thread.join(60)
        self.assertTrue(outcome and all(outcome))

    def test_without_numpy(self) -> None:
        program = (
            "import sys; sys.modules['numpy'] = None\n"
            "import senone, os\n"
            "engine = senone.Engine(os.environ['SENONE_TONES'] + '/bundle', 'cpu')\n"
            "speaker = engine.speaker()\n"
            "recording = os.environ['SENONE_TONES'] + '/low_mid_high.raw'\n"
            "for i in range(2): engine.recognize(recording, speaker=speaker)\n"
            "speaker.adapt()\n"
            "speaker.set_transform(None)\n"
            "try: speaker.transform()\n"
            "except ImportError as error: print(error)\n"
        )
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("transforms need the package numpy", run.stdout)


if __name__ == "__main__":
    unittest.main()
