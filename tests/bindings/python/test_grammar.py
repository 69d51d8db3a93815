# SPDX-License-Identifier: Apache-2.0
"""Tests grammars compiled in the process, and recognition with them."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from common import BUNDLE, TONES, engine, samples

import senone
from senone import _build_library
from senone._library import library_path

MODEL = TONES / "model"
LEXICON = TONES / "tones.dict"
TOP = "#JSGF V1.0;\ngrammar g;\npublic <top> = low mid high {H};\n"


def builder() -> senone.GrammarBuilder:
    made = senone.GrammarBuilder(MODEL)
    made.add_lexicon(LEXICON)
    return made


@unittest.skipUnless(Path(library_path(_build_library.SONAME)).exists(), "this build has no libsenone_build")
class Grammars(unittest.TestCase):
    def test_a_grammar_is_heard(self) -> None:
        grammar = builder().jsgf(TOP)
        self.assertIsInstance(grammar, bytes)
        engine().add_graph("top", grammar)
        result = engine().recognize(samples(), graph="top")
        self.assertEqual((result.text, result.alternatives[0].rule), ("low mid high", "top"))
        self.assertEqual([word.tags for word in result.words], [(), (), ("H",)])
        engine().remove_graph("top")

    def test_the_dictionary_of_the_bundle(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(MODEL, folder, dirs_exist_ok=True)
            with senone.GrammarBuilder(folder) as made:
                with self.assertRaisesRegex(senone.NotFound, "lexicon.dict"):
                    made.add_lexicon()
                shutil.copy(LEXICON, Path(folder, "lexicon.dict"))
                made.add_lexicon()
                self.assertEqual(made.words(["low"]), builder().words(["low"]))

    def test_notations(self) -> None:
        with builder() as made:
            phrases = made.phrases("low mid high\nlow\n")
            self.assertEqual(phrases, made.phrases(["low mid high", "low"]))
            self.assertEqual(phrases, made.phrases(item for item in ("low mid high", "low")))
            self.assertEqual(made.words(b"low\nmid\n"), made.words(["low", "mid"]))
            self.assertNotEqual(made.words(["low"]), made.phrases(["low"]))
            srgs = made.srgs('<grammar root="a"><rule id="a">low mid high</rule></grammar>')
        self.assertEqual((phrases.unknown, phrases.n_words), ((), 3))
        self.assertEqual(repr(phrases), f"<senone.Grammar of 3 words, {phrases.n_states} states and {phrases.n_arcs} arcs>")
        for grammar in (phrases, srgs):  # the grammars outlive their builder
            engine().add_graph("grammar", grammar)
            self.assertEqual(engine().recognize(samples(), graph="grammar").text, "low mid high")

    def test_a_grammar_goes_through_files_and_pickles(self) -> None:
        grammar = builder().phrases(["low", "zap"], unknown="drop")
        again = pickle.loads(pickle.dumps(grammar))
        self.assertEqual((again, again.unknown, again.n_arcs), (grammar, ("zap",), grammar.n_arcs))
        path = TONES / "written.sgraph"
        path.write_bytes(grammar)
        engine().add_graph("written", path)
        self.assertEqual(engine().recognize(samples("low"), graph="written").text, "low")

    def test_classes_change(self) -> None:
        made = builder()
        made.set_class("tones", ["mid high {MH}"])
        grammar = made.jsgf("#JSGF V1.0;\ngrammar g;\npublic <top> = low $tones;\n")
        self.assertEqual((grammar.n_classes, grammar.guessed), (1, ()))
        engine().add_graph("tones", grammar)
        result = engine().recognize(samples(), graph="tones")
        self.assertEqual((result.text, result.words[2].tags), ("low mid high", ("MH",)))
        made.set_class("tones", "low {L}\n")
        made.add_to_class("tones", b"high")
        again = made.build_again(grammar)
        engine().add_graph("tones", again)
        self.assertNotEqual(engine().recognize(samples(), graph="tones").text, "low mid high")
        self.assertEqual(made.build_again(again), again)
        with self.assertRaisesRegex(senone.InvalidArgument, "another builder"):
            builder().build_again(grammar)
        with self.assertRaisesRegex(senone.InvalidArgument, "pickled"):
            made.build_again(pickle.loads(pickle.dumps(grammar)))
        with self.assertRaisesRegex(senone.InvalidArgument, "cannot name a class"):
            made.set_class("$tones", "low")
        plain = made.words(["low"])
        self.assertIs(made.build_again(plain), plain)
        engine().remove_graph("tones")

    def test_g2p_is_checked(self) -> None:
        made = builder()
        made.set_g2p(None)
        with self.assertRaisesRegex(senone.NotFound, "no such"):
            made.set_g2p("no such.g2p")
        with self.assertRaisesRegex(senone.InvalidArgument, "n_best is 0"):
            made.set_g2p(LEXICON, n_best=0)

    def test_lexicons_are_files_or_texts(self) -> None:
        made = senone.GrammarBuilder(str(MODEL))
        with self.assertRaises(senone.InvalidArgument):
            made.words(["low"])
        made.add_lexicon(str(LEXICON))
        made.add_lexicon("bass LOW\n")
        made.add_lexicon(b"treble HIGH")
        self.assertEqual(made.words(["low", "bass", "treble"]).unknown, ())
        with self.assertRaisesRegex(senone.BadFile, "^mine"):
            made.add_lexicon("bass LAW\n", name="mine")
        with self.assertRaisesRegex(senone.NotFound, "no such"):
            made.add_lexicon("no such")

    def test_settings(self) -> None:
        made = builder()
        both = "#JSGF V1.0;\ngrammar g;\npublic <a> = LOW;\npublic <b> = MID HIGH;\n"
        self.assertEqual(made.jsgf(both, letter_case="lower", rule="b").n_words, 2)
        self.assertEqual(made.phrases(["low", "zap low", "blip"], unknown="drop").unknown, ("blip", "zap"))
        self.assertNotEqual(made.words(["low"], silence_prob=0.5), made.words(["low"]))
        with self.assertRaisesRegex(senone.InvalidArgument, "zap"):
            made.phrases(["zap"])
        for config, message in (
            ({"unknown": "keep"}, "unknown is 'keep'; it must be one of refuse, drop"),
            ({"letter_case": 3}, "letter_case is 3"),
            ({"silence_prob": "x"}, "silence_prob is 'x'; it must be a number"),
            ({"silence_prob": 2}, "silence_prob is 2"),
            ({"rule": b"a"}, "rule is b'a'; it must be a string"),
            ({"rle": "a"}, "a grammar has no setting rle; it has filler_prob, letter_case, name"),
        ):
            with self.assertRaisesRegex(senone.InvalidArgument, message):
                made.jsgf(both, **config)  # type: ignore[arg-type]

    def test_errors_have_the_librarys_message(self) -> None:
        made = builder()
        with self.assertRaisesRegex(senone.BadFile, "^menu: line 3, column "):
            made.jsgf("#JSGF V1.0;\ngrammar g;\npublic <a> = (low;\n", name="menu")
        with self.assertRaisesRegex(senone.BadFile, "^grammar: "):
            made.srgs("")
        with self.assertRaisesRegex(senone.NotFound, "/no/such"):
            senone.GrammarBuilder("/no/such")
        with self.assertRaisesRegex(senone.NotFound, "hmms.bin"):
            senone.GrammarBuilder(BUNDLE)
        for wrong in (3, None, "\udc80"):
            with self.assertRaisesRegex(senone.InvalidArgument, "^rules "):
                made.jsgf(wrong)  # type: ignore[arg-type]
        for lines in (["low\nmid"], [3]):
            with self.assertRaisesRegex(senone.InvalidArgument, "each must be a string without line breaks"):
                made.words(lines)  # type: ignore[arg-type]
        made.close()
        made.close()
        with self.assertRaisesRegex(senone.InvalidState, "closed"):
            made.words(["low"])

    def test_threads_share_a_builder(self) -> None:
        made = builder()
        expected, grammars = made.jsgf(TOP), []
        threads = [threading.Thread(target=lambda: grammars.append(made.jsgf(TOP))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(grammars, [expected] * 4)

    def test_recognising_does_not_load_the_library(self) -> None:
        code = "import senone, sys; sys.exit('senone_build' in open('/proc/self/maps').read())"
        subprocess.run([sys.executable, "-c", code], check=True)


class Missing(unittest.TestCase):
    def test_the_message_says_what_to_do(self) -> None:
        code = "import senone\ntry:\n    senone.GrammarBuilder('x')\nexcept ImportError as error:\n    print(error)\n"
        alone = TONES / "alone"
        alone.mkdir(exist_ok=True)
        link = alone / "libsenone.so.0"
        if not link.exists():
            link.symlink_to(Path(os.environ["SENONE_LIBRARY"]).resolve())
        environment = {**os.environ, "SENONE_LIBRARY": str(link)}
        printed = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
        self.assertRegex(printed.stdout, "libsenone_build.so.0, which compiles grammars, cannot be loaded: .*; install OpenFst")


if __name__ == "__main__":
    unittest.main()
