# SPDX-License-Identifier: Apache-2.0
"""Tests ``python -m senone.batch`` on this host: inputs, outputs, failures, ends of every kind."""

from __future__ import annotations

import bz2
import dataclasses
import gzip
import importlib.util
import json
import lzma
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from batch_common import BatchTest, children
from common import BUNDLE, RECORDING, SENTENCE, TONES, engine
from senone._measure import measured_state
from senone.batch._common import Failure, Item, Settings, failed_record, printable
from senone.batch._files import resolve
from senone.batch._output import JsonLines
from senone.batch._source import read_items

WAVE_OF_RATE_0 = struct.pack(
    "<4sI4s4sIHHIIHH4sI", b"RIFF", 9036, b"WAVE", b"fmt ", 16, 1, 1, 0, 0, 2, 16, b"data", 9000
)
TWO = ("--device", "cpu", "--workers", 2, "--threads", 1)


class Inputs(BatchTest):
    def test_a_folder(self) -> None:
        below = self.folder / "recordings" / "below"
        below.mkdir(parents=True)
        shutil.copy(RECORDING, below / "b.raw")
        shutil.copy(TONES / "low.raw", self.folder / "recordings" / "a.raw")
        (below / "notes.md").write_text("no recording")
        done = self.run_batch("--device", "cpu", self.folder / "recordings")
        self.assertEqual(
            {record["id"]: record["text"] for record in self.records()},
            {str(self.folder / "recordings" / "a.raw"): "low", str(below / "b.raw"): SENTENCE},
        )
        self.assertRegex(done.stdout, r"^2 recordings, 2\.\d s of audio in [\d.]+ s, [\d.]+ times real time\ncpu:0 ")

    def test_lists_and_manifests(self) -> None:
        blank = self.folder / "with blank.raw"
        shutil.copy(RECORDING, blank)
        (self.folder / "list.txt").write_text(f"# comment\n{RECORDING} one\n\n{blank}\ttwo\n{RECORDING}\n")
        manifest = self.folder / "manifest"
        manifest.write_text(
            f'\ufeff{{"audio_filepath": "{RECORDING}", "id": "three", "duration": 2}}\n{{"path": "{blank}", "id": 4}}\n'
        )
        self.run_batch("--device", "cpu", self.folder / "list.txt", "--manifest", manifest, "--in-order")
        self.assertEqual([record["id"] for record in self.records()], ["one", "two", str(RECORDING), "three", "4"])

    def test_lists_packed_and_written_elsewhere(self) -> None:
        plain = f"# list\n{RECORDING}\tone\n".encode()
        forms = {
            "plain.txt": plain,
            "mark.txt": b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"),
            "gz.txt.gz": gzip.compress(plain),
            "xz.list.xz": lzma.compress(plain),
            "bz2.lst.bz2": bz2.compress(plain),
            "lines.jsonl.gz": gzip.compress(f'{{"path": "{RECORDING}", "id": "one"}}\n'.encode()),
        }
        for name, content in forms.items():
            (self.folder / name).write_bytes(content)
            items, _ = read_items([str(self.folder / name)], [], [])
            self.assertEqual([(item.id, item.path) for item in items], [("one", str(RECORDING))], name)
        bad = {"utf16.txt": plain.decode().encode("utf-16"), "cut.txt.gz": gzip.compress(plain)[:-9]}
        for (name, content), said in zip(bad.items(), ("is text in UTF-16", "ends too early"), strict=True):
            (self.folder / name).write_bytes(content)
            with self.assertRaisesRegex(Failure, said):
                read_items([str(self.folder / name)], [], [])

    def test_a_limit_of_length(self) -> None:
        long = self.folder / "long.raw"
        long.write_bytes(RECORDING.read_bytes() + bytes(2 * 16000 * 5))
        self.run_batch("--device", "cpu", "--max-hours", "0.001", long, RECORDING, "--in-order")
        cut, whole = self.records()
        self.assertEqual((cut["text"], cut["audio_s"]), (SENTENCE, 3.6))
        self.assertIn("is longer than the 0.001 hours of --max-hours: the rest is left out", cut["warnings"][0])
        self.assertNotIn("warnings", whole)
        self.run_batch("--max-hours", "0", RECORDING, status=2)

    def test_a_recording_of_hours_is_read_twice_for_its_mean(self) -> None:
        long = self.folder / "long.raw"
        shutil.copy(RECORDING, long)
        os.truncate(long, 2 * 16000 * 3700)
        with engine().stream(input="int16", cmn="batch", max_backlog_ms=0) as stream:  # keeps all cepstra
            stream.feed(long.read_bytes())
            kept = stream.result()
            stream.close()
        with mock.patch("senone._engine.measured_state", side_effect=measured_state) as measured:
            twice = engine().recognize(long, cmn="batch", lattice_beam=0, n_best=1)
            self.assertEqual(measured.call_count, 1)
        self.assertEqual((twice.alternatives, twice.time_s), (kept.alternatives, kept.time_s))
        self.run_batch("--device", "cpu", "--cmn", "batch", long)
        record = self.records()[0]
        for name in ("text", "graph_cost", "acoustic_cost"):
            self.assertEqual(record[name], getattr(kept.alternatives[0], name))

    def test_names_that_are_no_utf_8(self) -> None:
        folder = self.folder / "names"
        folder.mkdir()
        name = os.fsencode(folder) + b"/\xff\xc3\xa4.raw"
        shutil.copy(RECORDING, name)
        for _ in range(2):
            self.run_batch("--device", "cpu", folder)
        self.assertEqual([(r["id"], r["text"]) for r in self.records()], [(f"{folder}/\\xffä.raw", SENTENCE)])

    def test_a_recording_named_twice_has_one_result(self) -> None:
        done = self.run_batch("--device", "cpu", RECORDING, RECORDING)
        self.assertEqual(len(self.records()), 1)
        self.assertIn("named more than once", done.stderr)

    def test_lists_of_kaldi_and_paths_with_blanks(self) -> None:
        blank = self.folder / "with a blank.raw"
        shutil.copy(RECORDING, blank)
        lines = f"u1 {RECORDING}\nu2 {blank}\nu3 flac -dc x.flac |\nu4 /no/such.wav\n"
        (self.folder / "wav.scp").write_text(lines)
        (self.folder / "scp.txt").write_text(lines)
        (self.folder / "own.txt").write_text(f'"{blank}" u1\n{blank}\tu2\nsox x |\n/no/such.wav u4\n{blank}\n')
        for name, ids in (
            ("wav.scp", ["u1", "u2", "u3", "u4"]),
            ("scp.txt", ["u1", "u2", "u3", "u4"]),
            ("own.txt", ["u1", "u2", "sox", "u4", str(blank)]),
        ):
            with self.subTest(name):
                out = self.folder / f"{name}.jsonl"
                self.run_batch("--device", "cpu", "--out", out, self.folder / name, status=1)
                records = {record["id"]: record for record in map(json.loads, out.read_text().splitlines())}
                self.assertEqual(sorted(records), sorted(ids))
                for number, record_id in enumerate(ids):
                    self.assertEqual("error" in records[record_id], number in (2, 3), records[record_id])
                self.assertIn("is a command (a pipe)", records[ids[2]]["error"])

    def test_a_bad_line_costs_itself(self) -> None:
        good = json.dumps({"path": str(RECORDING), "id": "good"})
        for name, line, fault in (
            ("many.txt", "a b c", "is not `path [id]`"),
            ("cut.txt", f"u {RECORDING} 0.5 1.25", "is a line of Kaldi's segments"),
            ("table.txt", "wav_filename,wav_filesize,transcript", "is a row of a table with commas"),
            ("rows.txt", "/data/a.wav,1234,go forward ten", "is a row of a table with commas"),
            ("part.jsonl", '{"audio_filepath": "a.wav", "offset": 1.5, "duration": 2}', "asks for a part of a recording"),
            ("short.scp", "u1", "is not an id and a path"),
            ("broken.jsonl", "no", "is no JSON object"),
            ("nameless.jsonl", '{"id": "a"}', "names no recording"),
            ("deep.jsonl", "[" * 100000, "is no JSON object"),
            ("surrogate.jsonl", '{"path": "\\ud800.wav"}', '"\\ud800.wav" can be no file\'s name'),
        ):
            with self.subTest(name):
                usual = {".txt": f"{RECORDING} good", ".scp": f"good {RECORDING}", ".jsonl": good}[Path(name).suffix]
                (self.folder / name).write_text(f"{line}\n{usual}\n{line}\n")
                out = self.folder / f"out of {name}.jsonl"
                done = self.run_batch("--device", "cpu", "--in-order", "--out", out, self.folder / name, status=1)
                first, heard, last = map(json.loads, out.read_text().splitlines())
                self.assertEqual((heard["id"], heard["text"]), ("good", SENTENCE))
                for number, record in ((1, first), (3, last)):
                    self.assertEqual(record["id"], f"{self.folder / name}: line {number}")
                    self.assertIn(f"{name}: line {number}: {fault}", record["error"])
                    self.assertIn(f"{name}: line {number}: {fault}", done.stderr)
                self.assertIn("2 of 3 results", done.stderr)
        (self.folder / "none.txt").write_text("a b c\n")
        done = self.run_batch("--out", self.folder / "none.jsonl", self.folder / "none.txt", status=1)
        self.assertIn("1 of 1 results", done.stderr)

    def test_inputs_that_make_no_sense(self) -> None:
        (self.folder / "twice.txt").write_text(f"{RECORDING} x\n{TONES / 'low.raw'} x\n")
        (self.folder / "empty").mkdir()
        for words, status, arguments in (
            ("no recordings; name", 2, ()),
            ('line 2: the id "x" is that of', 1, (self.folder / "twice.txt",)),
            ("empty: no recordings (", 1, (self.folder / "empty",)),
            ("/no/list.txt: cannot be read", 1, ("/no/list.txt",)),
            ("--jobs", 2, (RECORDING, "--jobs", 0)),
            ("number 0", 2, (RECORDING, "--ray", "--device", "cuda:1")),
            ("--devices names devices of this host", 2, (RECORDING, "--ray", "--devices", "cuda:0,cuda:1")),
            ("not allowed with", 2, (RECORDING, "--device", "cpu", "--devices", "cpu")),
            ("ends in no known format", 2, (RECORDING, "--out", self.folder / "out.csv")),
            ("frob", 1, (RECORDING, "--device", "frob")),
            ("beam is -1", 1, (RECORDING, "--device", "cpu", "--beam", -1)),
            ("/no/bundle", 1, (RECORDING, "--model", "/no/bundle")),
            ("cannot be written", 1, (RECORDING, "--out", "/no/folder/out.jsonl")),
        ):
            with self.subTest(words):
                done = self.run_batch(*arguments, status=status)
                self.assertIn(words, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)
                self.assertFalse(self.out.exists())


class Results(BatchTest):
    def test_they_are_those_of_one_engine(self) -> None:
        self.run_batch("--device", "cpu", RECORDING, "--nbest", 3, "--confidence", "--beam", 900)
        record = self.records()[0]
        best, *others = engine().recognize(RECORDING, lattice_beam=8, n_best=3, beam=900).alternatives
        costs = (record["graph_cost"], record["acoustic_cost"])
        self.assertEqual((record["text"], costs), (best.text, (best.graph_cost, best.acoustic_cost)))
        self.assertEqual([other["text"] for other in record["others"]], [other.text for other in others])
        expected = [
            {
                "word": w.text,
                "start_s": round(w.start_s, 6),
                "end_s": round(w.end_s, 6),
                "confidence": round(w.confidence, 6),
            }
            for w in best.words
        ]
        self.assertEqual(record["words"], expected)
        self.assertEqual((record["reached_final"], record["beam_died"], record["audio_s"]), (True, False, 1.7))
        self.assertEqual((record["lattice_beam"], record["flags"]), (8, []))
        self.assertEqual((record["out_of_grammar"], record["rejected"]), (None, None))  # the bundle has no background

    def test_a_recording_that_fails_has_an_error_and_ends_nothing(self) -> None:
        (self.folder / "empty.wav").touch()
        (self.folder / "text.wav").write_text("no audio")
        (self.folder / "short.raw").write_bytes(bytes(4))
        os.mkfifo(self.folder / "pipe.wav")
        (self.folder / "odd.wav").write_bytes(WAVE_OF_RATE_0 + bytes(9000))
        names = ("empty.wav", "text.wav", "short.raw", "pipe.wav", "odd.wav")
        failing = ["/no/file.wav", *(self.folder / name for name in names)]
        done = self.run_batch("--device", "cpu", *failing, RECORDING, status=1)
        records = {Path(record["file"]).name: record for record in self.records()}
        self.assertEqual(records.pop(RECORDING.name)["text"], SENTENCE)
        for name, words in (
            ("file.wav", "does not exist"),
            ("empty.wav", "is empty"),
            ("text.wav", "text.wav: "),
            ("short.raw", "less than a frame of 10 ms"),
            ("pipe.wav", "is a pipe or device"),
            ("odd.wav", "has 0 samples a second"),
        ):
            record = records.pop(name)
            self.assertEqual(set(record), {"id", "file", "error"})
            self.assertTrue(record["error"].startswith(record["file"]) and words in record["error"], record)
        self.assertEqual(records, {})
        self.assertIn("6 of 7 results", done.stderr)

    def test_errors_are_tried_again_when_asked(self) -> None:
        late = self.folder / "late.raw"
        self.run_batch("--device", "cpu", late, RECORDING, status=1)
        shutil.copy(RECORDING, late)
        self.run_batch("--device", "cpu", late, RECORDING, status=1)
        self.run_batch("--device", "cpu", late, RECORDING, "--retry-failed")
        self.assertEqual([record["text"] for record in self.records()], [SENTENCE, SENTENCE])

    def test_without_numpy(self) -> None:
        self.environment["NO_NUMPY"] = "1"
        self.run_batch("--device", "cpu", RECORDING, "--nbest", 2)
        self.assertEqual(self.records()[0]["text"], SENTENCE)


class Ends(BatchTest):
    def test_a_killed_run_goes_on(self) -> None:
        names = self.recordings(150)
        for n in (10, 60):
            process = self.start(*TWO, names)
            self.wait_for(lambda: self.n_lines() > n)
            workers = children(process)
            process.kill()
            process.communicate()
            self.assertLess(self.n_lines(), 150)
            self.wait_for(
                lambda: not any(Path(f"/proc/{pid}/fd/0").exists() for pid in workers)
            )  # they end by themselves
        with self.out.open("a") as file:
            file.write('{"id": "slow 14')  # a truncated line
        done = self.run_batch(*TWO, names)
        self.assertIn("of 150 recordings have results", done.stderr)
        self.check_once(150)

    def test_a_worker_whose_batch_was_killed_ends_without_a_word(self) -> None:
        given = Settings(str(BUNDLE), "cpu", None, 1, 1, 16000, None, 1, -1, 24, {})
        settings = json.dumps(dataclasses.asdict(given))
        item = json.dumps([0, "id", str(RECORDING)])
        for told in ("", settings[:20], settings + "\n", settings + "\n" + item + "\n"):
            read, write = os.pipe()
            os.close(read)  # nobody will take its answers
            done = subprocess.run(
                [sys.executable, "-m", "senone.batch._worker"],
                input=told.encode(),
                stdout=write,
                stderr=subprocess.PIPE,
                env=self.environment,
                timeout=60,
                check=False,
            )
            os.close(write)
            self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), told)

    def test_a_killed_worker_takes_nothing_along(self) -> None:
        process = self.start(*TWO, self.recordings(150))
        self.wait_for(lambda: self.n_lines() > 20)
        os.kill(children(process)[0], signal.SIGKILL)
        stdout, stderr = process.communicate()
        self.assertEqual(process.returncode, 0, stderr)
        self.assertIn("was killed by signal 9", stderr)
        self.assertIn("150 recordings", stdout)
        self.check_once(150)

    def test_a_recording_that_kills_workers_has_an_error(self) -> None:
        names = self.recordings(60)
        poisons = [self.folder / f"poison{i}.raw" for i in range(3)]
        for poison in poisons:
            shutil.copy(RECORDING, poison)
        done = self.run_batch(*TWO, names, *poisons, "--jobs", 8, status=1)
        records = {record["id"]: record for record in self.records()}
        for poison in poisons:
            self.assertIn("was killed by signal 9 while it recognised this", records.pop(str(poison))["error"])
        self.assertEqual([record["text"] for record in records.values()], ["low"] * 60)
        self.assertLessEqual(done.stderr.count("was killed by signal 9"), 9)

    def test_two_runs_on_one_output_are_refused(self) -> None:
        first = self.start(*TWO, self.recordings(60))
        self.wait_for(lambda: self.n_lines() > 0)
        first.send_signal(signal.SIGSTOP)  # stopped, so that it does not end before the second one has begun
        second = self.run_batch("--device", "cpu", RECORDING, status=1)
        first.send_signal(signal.SIGCONT)
        self.assertIn("another run writes to it", second.stderr)
        first.communicate()
        self.assertEqual(first.returncode, 0)
        self.check_once(60)

    def test_signals_end_it_cleanly(self) -> None:
        names = self.recordings(100)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(*TWO, names)
            n = self.n_lines()
            self.wait_for(lambda: self.n_lines() > n)
            workers = children(process)
            process.send_signal(number)
            stderr = process.communicate()[1]
            self.assertEqual(process.returncode, -number)
            self.assertRegex(stderr, r"interrupted; \d+ results are in .*out\.jsonl, and the same command goes on")
            self.assertNotIn("Traceback", stderr)
            self.assertFalse(any(Path(f"/proc/{pid}/fd/0").exists() for pid in workers))
            self.assertTrue(self.out.read_bytes().endswith(b"}\n"))
        self.run_batch(*TWO, names)
        self.check_once(100)

    def test_files_of_others_are_left_alone(self) -> None:
        for text in ('{"text": "other"}\n', "words\n", "no line", '{"id": 3}\n'):
            self.out.write_text(text)
            done = self.run_batch("--device", "cpu", RECORDING, status=1)
            self.assertIn("name another output", done.stderr)
            self.assertEqual(self.out.read_text(), text)

    def test_a_full_disk_is_said_and_leaves_whole_lines(self) -> None:
        limit = "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
        command = self.command("--device", "cpu", self.recordings(20))
        command[1:3] = ["-c", f"{limit}; sys.argv[0] = '-'; runpy.run_module('senone.batch', run_name='__main__')"]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("out.jsonl: cannot be written: File too large", done.stderr)
        self.assertTrue(0 < len(self.records()) < 20)
        self.run_batch("--device", "cpu", self.folder / "slow.txt")
        self.check_once(20)

    def test_outputs_are_files(self) -> None:
        self.out.symlink_to("/dev/full")
        self.assertIn("is a pipe or device", self.run_batch("--device", "cpu", RECORDING, status=1).stderr)

    def test_order_of_the_input(self) -> None:
        slow, quick = self.recordings(20), self.recordings(20, "quick")
        self.run_batch(*TWO, slow, quick, "--in-order")
        self.assertEqual(
            [record["id"] for record in self.records()],
            [f"slow {i}" for i in range(20)] + [f"quick {i}" for i in range(20)],
        )


class FilesOfOthers(unittest.TestCase):
    """Somebody else may exchange what is in the output's folder between any two steps."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out, self.victim = self.folder / "out.jsonl", self.folder / "victim"
        self.victim.write_text("precious")
        self.out.write_text('{"id": "good", "file": "a"}\n{"id": "bad", "file": "b", "error": "c"}\n')

    def test_a_link_in_place_of_the_partial_output_is_not_written_through(self) -> None:
        unlink = os.unlink

        def unlink_and_link(path: Any, **where: Any) -> None:
            unlink(path, **where)
            if os.fspath(path).endswith(".partial"):
                (self.folder / "out.jsonl.partial").symlink_to(self.victim)

        older = self.out.read_text()
        (self.folder / "out.jsonl.partial").write_text("of a killed run")
        with mock.patch("os.unlink", unlink_and_link), self.assertRaisesRegex(Failure, "cannot be written: File exists"):
            JsonLines(self.out, retry_failed=True)
        self.assertEqual(self.victim.read_text(), "precious")
        self.assertEqual((self.out.read_text(), self.out.is_symlink()), (older, False))

    def test_an_exchanged_folder_is_not_written_to(self) -> None:
        work = self.folder / "work"
        work.mkdir()
        output = JsonLines(work / "new.jsonl")
        work.rename(self.folder / "moved")
        other = self.folder / "other"
        other.mkdir()
        (other / "new.jsonl").write_text("")
        work.symlink_to(other)
        output.close()  # removes an empty output
        self.assertEqual([path.name for path in other.iterdir()], ["new.jsonl"])
        self.assertEqual(list((self.folder / "moved").iterdir()), [])

    def test_a_replaced_output_is_not_opened_to_more_users(self) -> None:
        self.out.chmod(0o600)
        output = JsonLines(self.out, retry_failed=True)
        output.close()
        self.assertEqual(stat.S_IMODE(self.out.stat().st_mode), 0o600)
        self.assertEqual(self.out.read_text(), '{"id": "good", "file": "a"}\n')

    def test_a_replacement_is_narrow_from_the_beginning(self) -> None:
        self.out.chmod(0o600)
        opened: list[int] = []
        really = os.open

        def open_and_look(path: Any, flags: int, *rest: Any, **where: Any) -> int:
            descriptor = really(path, flags, *rest, **where)
            if flags & os.O_EXCL:
                opened.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
            return descriptor

        with mock.patch("os.open", open_and_look):
            JsonLines(self.out, retry_failed=True).close()
        self.assertEqual(opened, [0o600])

    def test_a_link_to_a_descriptor_is_no_path(self) -> None:
        link, log = self.folder / "link.jsonl", self.folder / "log"
        with open(log, "w") as file:
            link.symlink_to(f"/proc/self/fd/{file.fileno()}")
            log.unlink()
            with self.assertRaisesRegex(Failure, "leads to a descriptor of a process"):
                JsonLines(link)
        self.assertEqual([path.name for path in self.folder.glob("log*")], [])

    def test_folders_are_made_and_found_by_links_of_this_user(self) -> None:
        link = self.folder / "link"
        link.symlink_to("made")
        for _ in range(2):
            outer, name = resolve(link)
            inner = outer.folder(name)
            self.assertEqual(inner.names(), [])
            inner.close()
            outer.close()
        outer, name = resolve(self.out)
        self.assertRaises(NotADirectoryError, outer.folder, name)
        outer.close()

    def test_messages_are_one_line(self) -> None:
        self.assertEqual(printable("a\n\r\t\x1b[31m\x7f\x9b\u202e\u2028ä\\"), "a\\n\\r\\t\\x1b[31m\\x7f\\u009b\\u202e\\u2028ä\\")
        self.assertEqual(printable("a\u00a0b\u200b\u200c\u3000"), "a\\u00a0b\\u200b\u200c\\u3000")  # joiners stay
        name = "x\n\x1b[31m"
        record = failed_record(Item(0, name, name), f"{name}: does not exist")
        self.assertEqual((record["id"], record["file"]), (name, name))
        self.assertEqual(record["error"], "x\\n\\x1b[31m: does not exist")
        for arguments in (["--model", "/x", "--out", "y.jsonl", name], ["--out", name, name], [f"--{name}"]):
            run = subprocess.run([sys.executable, "-m", "senone.batch", *arguments], capture_output=True, text=True)
            self.assertNotEqual(run.returncode, 0)
            self.assertNotIn("\x1b", run.stderr)
            self.assertNotIn("x\n", run.stderr)

    def test_links_of_this_user_are_followed_and_replaced_files_are_their_targets(self) -> None:
        link = self.folder / "link.jsonl"
        link.symlink_to("out.jsonl")
        output = JsonLines(link, retry_failed=True)
        output.close()
        self.assertTrue(link.is_symlink())
        self.assertEqual(self.out.read_text(), '{"id": "good", "file": "a"}\n')

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a link away")
    def test_links_of_other_users_are_not_followed(self) -> None:
        link = self.folder / "link.jsonl"
        link.symlink_to(self.folder / "new.jsonl")
        os.chown(link, 65534, 65534, follow_symlinks=False)
        with self.assertRaisesRegex(Failure, "is a symbolic link of user 65534, which is not followed"):
            JsonLines(link)
        self.assertFalse((self.folder / "new.jsonl").exists())
        with self.assertRaisesRegex(Failure, "is a symbolic link of user 65534, which is not followed"):
            resolve(link)


@unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
class Parquet(BatchTest):
    def setUp(self) -> None:
        super().setUp()
        self.out = self.folder / "out.parquet"

    def n_lines(self) -> int:
        journal = self.out / "_journal.jsonl"
        return journal.read_bytes().count(b"\n") if journal.exists() else 0

    def records(self) -> list[dict[str, object]]:
        parquet = importlib.import_module("pyarrow.parquet")
        return parquet.read_table(self.out).to_pylist()  # type: ignore[no-any-return]

    def test_a_killed_run_goes_on(self) -> None:
        names = self.recordings(100)
        process = self.start(*TWO, names)
        self.wait_for(lambda: self.n_lines() > 10)
        process.kill()
        process.communicate()
        process = self.start(*TWO, names)
        self.wait_for(lambda: self.n_lines() > 40)
        process.send_signal(signal.SIGINT)
        process.communicate()
        self.assertEqual(len(list(self.out.glob("*"))), 1)  # the earlier results are one part
        self.run_batch(*TWO, names)
        self.assertEqual(len(list(self.out.glob("part-*.parquet"))), 2)
        self.check_once(100)

    def test_a_run_killed_between_part_and_journal(self) -> None:
        self.run_batch("--device", "cpu", RECORDING)
        (self.out / "_journal.jsonl").write_text(
            json.dumps({"id": str(RECORDING), "file": "x", "error": "older"}) + "\n"
        )
        self.run_batch("--device", "cpu", RECORDING, TONES / "low.raw")
        self.assertEqual(sorted(str(record["text"]) for record in self.records()), ["low", SENTENCE])

    def test_columns_and_retries(self) -> None:
        late = self.folder / "late.raw"
        self.run_batch("--device", "cpu", RECORDING, late, "--nbest", 2, status=1)
        records = {record["id"]: record for record in self.records()}
        self.assertIn("does not exist", str(records[str(late)]["error"]))
        self.assertEqual(records[str(RECORDING)]["words"][0]["word"], "low")  # type: ignore[index]
        shutil.copy(RECORDING, late)
        self.run_batch("--device", "cpu", RECORDING, late, "--retry-failed")
        self.assertEqual([record["error"] for record in self.records()], [None, None])

    def test_two_runs_and_files_of_others_are_refused(self) -> None:
        first = self.start(*TWO, self.recordings(60))
        self.wait_for(lambda: self.n_lines() > 0)
        self.assertIn("another run", self.run_batch("--device", "cpu", RECORDING, status=1).stderr)
        first.communicate()
        (self.out / "precious.partial").write_text("x")
        (self.out / "part-000009.partial").write_text("of a killed run")
        self.run_batch("--device", "cpu", RECORDING)
        self.assertEqual([path.name for path in self.out.glob("*.partial")], ["precious.partial"])
        (self.out / "other.parquet").write_text("x")
        self.assertIn("other.parquet: is no result", self.run_batch("--device", "cpu", RECORDING, status=1).stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a link away")
    def test_a_link_of_another_user_is_not_followed(self) -> None:
        private = self.folder / "private"
        private.mkdir()
        self.out.symlink_to(private)
        os.chown(self.out, 65534, 65534, follow_symlinks=False)
        self.assertIn("is a symbolic link of user 65534", self.run_batch("--device", "cpu", RECORDING, status=1).stderr)
        self.assertEqual(list(private.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
