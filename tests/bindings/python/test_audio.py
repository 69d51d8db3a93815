# SPDX-License-Identifier: Apache-2.0
"""Tests that Engine.recognize, its bytes and senone.batch hear the same words in the same files (docs/audio.md), and that what
they do not hear is named."""

from __future__ import annotations

import ctypes
import json
import logging
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from typing import Any

import numpy as np
import senone
from senone import _sndfile

from common import BUNDLE, SENTENCE, engine, samples

TO_THE_END = (0, 0x7FFFFFFF, 0xFFFFFFFF)


def table(values: "np.typing.NDArray[np.int16]", decode: Any) -> bytes:
    """Encodes samples with the nearest code word of G.711."""
    words = np.array([decode(i) for i in range(256)])
    return np.abs(words[None, :] - values[:, None].astype(np.int64)).argmin(1).astype(np.uint8).tobytes()


def ulaw(byte: int) -> int:
    bits = ~byte & 0xFF
    magnitude = (((bits & 15) * 8 + 132) << (bits >> 4 & 7)) - 132
    return -magnitude if bits & 0x80 else magnitude


def alaw(byte: int) -> int:
    bits = byte ^ 0x55
    exponent, step = bits >> 4 & 7, (bits & 15) * 16 + 8
    magnitude = step if exponent == 0 else (step + 256) << (exponent - 1)
    return magnitude if bits & 0x80 else -magnitude


def encodings(values: "np.typing.NDArray[np.int16]") -> dict[tuple[int, int], bytes]:
    """Returns the data of WAV files by their codec and bits a sample."""
    wide = values.astype("<i4") << 16
    return {
        (1, 8): np.clip(((values.astype(np.int32) + 128) >> 8) + 128, 0, 255).astype(np.uint8).tobytes(),
        (1, 16): values.astype("<i2").tobytes(),
        (1, 24): wide.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes(),
        (1, 32): wide.tobytes(),
        (3, 32): (values / 32768).astype("<f4").tobytes(),
        (3, 64): (values / 32768).astype("<f8").tobytes(),
        (6, 8): table(values, alaw),
        (7, 8): table(values, ulaw),
    }


def wav(
    data: bytes, codec: int = 1, bits: int = 16, n_channels: int = 1, rate: int = 16000, size: int | None = None
) -> bytes:
    block = n_channels * bits // 8
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, codec, n_channels, rate, rate * block, block, bits)
    head = struct.pack("<4sI4s", b"RIFF", 36 + len(data) if size is None else size, b"WAVE")
    return head + form + struct.pack("<4sI", b"data", len(data) if size is None else size) + data


def swapped(data: bytes, n_bytes: int) -> bytes:
    """Returns samples of n_bytes in the other byte order."""
    return np.frombuffer(data, np.uint8).reshape(-1, n_bytes)[:, ::-1].tobytes()


def in_container(container: str, codec: int, bits: int, data: bytes) -> bytes:
    """Returns a WAV or AU file of mono samples at 16 kHz, whose codec is WAV's."""
    n_bytes, end = bits // 8, ">" if container in ("RIFX", "AU") else "<"
    if end == ">":
        data = swapped(data, n_bytes)
    if container == "AU":
        if (codec, bits) == (1, 8):
            data = (np.frombuffer(data, np.uint8) ^ 128).tobytes()  # signed
        number = {(7, 8): 1, (1, 8): 2, (1, 16): 3, (1, 24): 4, (1, 32): 5, (3, 32): 6, (3, 64): 7, (6, 8): 27}
        return struct.pack(">4s5I", b".snd", 24, len(data), number[codec, bits], 16000, 1) + data
    form = struct.pack(end + "HHIIHH", codec, 1, 16000, 16000 * n_bytes, n_bytes, bits)
    if container == "extensible":
        form = struct.pack("<H", 0xFFFE) + form[2:] + struct.pack("<HHIH", 22, bits, 0, codec)
        form += bytes.fromhex("000000001000800000aa00389b71")
    is_64 = container == "RF64"
    chunks = b"ds64" + struct.pack("<IQQQI", 28, len(data) + 200, len(data), 0, 0) if is_64 else b""
    chunks += b"fmt " + struct.pack(end + "I", len(form)) + form
    chunks += b"data" + struct.pack(end + "I", 0xFFFFFFFF if is_64 else len(data)) + data
    name = container.encode() if container.startswith("R") else b"RIFF"
    return name + struct.pack(end + "I", 0xFFFFFFFF if is_64 else len(chunks) + 4) + b"WAVE" + chunks


# Formats of libsndfile by their numbers there: a container and a code of samples.
OF_LIBSNDFILE = {
    "flac": 0x170002, "aiff": 0x020002, "caf": 0x180002, "w64": 0x0B0002, "sphere": 0x070002, "voc": 0x080002,
    "vorbis": 0x200060, "opus": 0x200064, "mp3": 0x230082, "ima": 0x010012, "ms": 0x010013,
}  # fmt: skip


def write_sndfile(path: Path, number: int, values: "np.typing.NDArray[np.int16]") -> None:
    """Writes mono samples at 16 kHz by libsndfile."""
    library = _sndfile._library()
    assert library is not None
    library.sf_open.restype = ctypes.c_void_p
    library.sf_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(_sndfile._Info)]
    library.sf_writef_short.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    info = _sndfile._Info(samplerate=16000, channels=1, format=number)
    file = library.sf_open(str(path).encode(), 0x20, ctypes.byref(info))
    if not file:
        raise OSError(library.sf_strerror(None))
    library.sf_writef_short(file, values.ctypes.data, len(values))
    library.sf_close(file)


class Audio(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    def batch(self, *arguments: Any) -> dict[str, dict[str, Any]]:
        out = self.folder / "out.jsonl"
        out.unlink(missing_ok=True)
        command = [sys.executable, "-m", "senone.batch", "--model", BUNDLE, "--device", "cpu", "--quiet", "--out", out]
        subprocess.run([*map(str, command), *map(str, arguments)], check=False, capture_output=True)
        results = map(json.loads, out.read_text().splitlines())
        return {Path(result["file"]).name: result for result in results}

    def expect_words(self, names: Any) -> None:
        """Expects the words of files of the folder by path, bytes and senone.batch."""
        for name in names:
            with self.subTest(name):
                path = self.folder / name
                self.assertEqual(engine().recognize(path, lattice_beam=0).text, SENTENCE)
                self.assertEqual(engine().recognize(path.read_bytes(), lattice_beam=0).text, SENTENCE)
        results = self.batch(*[self.folder / name for name in names])
        self.assertEqual({name: result.get("text") for name, result in results.items()}, dict.fromkeys(names, SENTENCE))

    def test_forty_formats(self) -> None:
        """The formats of docs/audio.md that the library decodes: eight codes in five containers."""
        names = []
        for (codec, bits), data in encodings(samples()).items():
            for container in ("RIFF", "RIFX", "RF64", "extensible", "AU"):
                names.append(f"{container}-{codec}-{bits}." + ("au" if container == "AU" else "wav"))
                self.write(names[-1], in_container(container, codec, bits, data))
        self.assertEqual(len(names), 40)
        self.expect_words(names)

    def test_formats_of_libsndfile(self) -> None:
        if _sndfile._library() is None:
            self.skipTest("no libsndfile here")
        for name, number in OF_LIBSNDFILE.items():
            write_sndfile(self.folder / f"a.{name}", number, samples())
        self.expect_words([f"a.{name}" for name in OF_LIBSNDFILE])

    def test_what_is_there_of_a_cut_file_is_heard(self) -> None:
        if _sndfile._library() is None:
            self.skipTest("no libsndfile here")
        for name, words in (
            ("flac", "is damaged or cut short at "),
            ("vorbis", "has no end of a stream, so that it may be cut short at "),
            ("mp3", "is cut short: it ends at "),
        ):
            path = self.folder / f"cut.{name}"
            write_sndfile(path, OF_LIBSNDFILE[name], np.tile(samples(), 4))
            path.write_bytes(path.read_bytes()[: path.stat().st_size * 6 // 10])
            with self.subTest(name), self.assertLogs("senone", "WARNING") as logged:
                text = engine().recognize(path).text
                self.assertTrue(text.startswith(SENTENCE), text)
                self.assertIn(f"{path}: {words}", logged.output[0])
                self.assertEqual(engine().recognize(path.read_bytes()).text, text)
                result = self.batch(path)[path.name]
                self.assertEqual(result["text"], text)
                self.assertIn(words, result["warnings"][0])
        self.write("begin.flac", (self.folder / "cut.flac").read_bytes()[:100])
        with self.assertRaises(senone.BadFile):
            engine().recognize(self.folder / "begin.flac")

    def test_values_that_are_no_numbers(self) -> None:
        values = samples().astype("<f4") / 32768
        values[-1000], values[-990] = np.nan, np.inf
        path = self.write("bad.wav", wav(values.tobytes(), 3, 32))
        place = f"sample {len(values) - 1000} of channel 0 (at "
        with self.assertLogs("senone", "WARNING") as logged:
            self.assertEqual(engine().recognize(path).text, SENTENCE)
        self.assertIn(f"{path}: {place}", logged.output[0])
        self.assertIn("has 2 values in all that are no number", logged.output[1])
        result = self.batch(path)["bad.wav"]
        self.assertEqual(result["text"], SENTENCE)
        self.assertIn(place, result["warnings"][0])
        with self.assertRaisesRegex(senone.BadAudio, f"sample {len(values) - 1000} of channel 0 is not a number"):
            engine().recognize(values)

    def test_bytes_that_are_no_samples(self) -> None:
        """A stream takes bytes for 16-bit samples, and says so of those that are not."""
        floats = samples().astype("<f4") / 32768
        ogg = b"OggS" + bytes(range(256)) * 8
        for data, words in ((floats.tobytes(), "look like float32"), (ogg, "those of a file, Ogg, and no samples")):
            with engine().stream() as stream, self.assertRaisesRegex(senone.InvalidArgument, words):
                stream.feed(data)
        for data in (samples().tobytes(), wav(samples().tobytes()), memoryview(floats), bytes(4000) + samples().tobytes()):
            with engine().stream() as stream:
                for begin in range(0, len(data), 1000):
                    stream.feed(data[begin : begin + 1000])
                self.assertEqual(stream.result().text, SENTENCE)
        noise = np.random.default_rng(1).integers(-32768, 32767, 100000, dtype=np.int16)
        with engine().stream() as stream:
            for begin in range(0, len(noise), 1000):
                stream.feed(noise[begin : begin + 1000].tobytes())

    def test_the_same_words_with_any_size_in_the_header(self) -> None:
        files = {}
        for (codec, bits), data in encodings(samples()).items():
            for size in (None, *TO_THE_END, 4800):
                files[f"{codec}-{bits}-{size}.wav"] = wav(data, codec, bits, size=size)
        self.assertEqual(len(files), 40)
        logging.getLogger("senone").disabled = True
        self.addCleanup(setattr, logging.getLogger("senone"), "disabled", False)
        for name, data in files.items():
            with self.subTest(name):
                self.assertEqual(engine().recognize(self.write(name, data), lattice_beam=0).text, SENTENCE)
                self.assertEqual(engine().recognize(data, lattice_beam=0).text, SENTENCE)
        results = self.batch(self.folder)
        self.assertEqual({name: result.get("text") for name, result in results.items()}, dict.fromkeys(files, SENTENCE))
        warned = {name for name, result in results.items() if "warnings" in result}
        self.assertEqual(warned, {name for name in files if name.endswith("-4800.wav")})

    def test_what_the_header_does_not_tell_of_is_named(self) -> None:
        data = samples().tobytes()
        for name, file, words in (
            ("half.wav", wav(data, size=1000), "has 500 samples by its header, and "),
            ("cut.wav", wav(data)[:-100], "is cut short: 100 bytes "),
            ("two.wav", wav(data) + wav(data), "is 2 recordings one after another"),
            ("other.wav", wav(data) + wav(data, rate=8000), "another recording follows, of 8000 samples"),
        ):
            with self.subTest(name), self.assertLogs("senone", "WARNING") as logged:
                path = self.write(name, file)
                self.assertTrue(engine().recognize(path).text.startswith(SENTENCE))
                self.assertIn(f"{path}: {words}", logged.output[0])
                engine().recognize(file)
                self.assertIn(f"audio: {words}", logged.output[1])
        warnings = self.batch(self.folder)["half.wav"]["warnings"]
        self.assertIn("has 500 samples by its header", warnings[0])

    def test_other_formats_are_refused_with_the_remedy(self) -> None:
        webm = b"\x1a\x45\xdf\xa3" + b"\x93" * 3000
        for audio in (webm, bytearray(webm), self.write("a.webm", webm), self.write("a.raw", webm)):
            with self.assertRaisesRegex(senone.Unsupported, "is WebM or Matroska, which is not read; convert it"):
                engine().recognize(audio)
        self.assertIn("is WebM or Matroska", self.batch(self.write("b.wav", webm))["b.wav"]["error"])

    def test_flac_is_a_file_in_bytes_too(self) -> None:
        flac = self.write("a.flac", b"fLaC" + b"\0" * 100)
        with unittest.mock.patch.object(_sndfile, "_library", lambda: None):
            for audio in (flac, flac.read_bytes()):
                with self.assertRaisesRegex(senone.Unsupported, "is FLAC, .*pip install soundfile"):
                    engine().recognize(audio)
        if _sndfile._library() is None:
            self.skipTest("no libsndfile here")
        for audio in (flac, flac.read_bytes()):
            with self.assertRaises(senone.BadFile):
                engine().recognize(audio)
        values = samples()  # in AIFF, which needs libsndfile as FLAC does
        comm = struct.pack(">hIh", 1, len(values), 16) + bytes.fromhex("400cfa00000000000000")  # 16000 as an 80-bit float
        body = b"COMM" + struct.pack(">I", len(comm)) + comm
        body += b"SSND" + struct.pack(">III", 8 + 2 * len(values), 0, 0) + values.astype(">i2").tobytes()
        aiff = b"FORM" + struct.pack(">I", 4 + len(body)) + b"AIFF" + body
        self.assertEqual(engine().recognize(aiff).text, SENTENCE)
        self.assertEqual(engine().recognize(self.write("a.aiff", aiff)).text, SENTENCE)
        self.assertEqual(self.batch(self.folder / "a.aiff")["a.aiff"]["text"], SENTENCE)
        read, rate = senone.read_audio(aiff)
        self.assertEqual((rate, (read * 32768 == values).all()), (16000, True))

    def test_channels(self) -> None:
        values = samples()
        one = wav(np.stack([values, np.zeros_like(values)], 1).tobytes(), n_channels=2)
        phase = wav(np.stack([values, -values], 1).tobytes(), n_channels=2)
        self.assertEqual(engine().recognize(one, channel=0).text, SENTENCE)
        self.assertNotEqual(engine().recognize(one, channel=1).text, SENTENCE)
        with self.assertLogs("senone", "WARNING") as logged:
            self.assertEqual(engine().recognize(phase).text, SENTENCE)
        self.assertIn("channels that cancel each other", logged.output[0])
        with self.assertRaisesRegex(senone.InvalidArgument, "has 2 channels, of which number 2"):
            engine().recognize(one, channel=2)
        self.write("one.wav", one)
        self.write("phase.wav", phase)
        results = self.batch("--channel", "0", self.folder)
        self.assertEqual([results[name]["text"] for name in ("one.wav", "phase.wav")], [SENTENCE] * 2)
        self.assertNotEqual(self.batch("--channel", "1", self.folder)["one.wav"]["text"], SENTENCE)
        mixed = self.batch(self.folder)["phase.wav"]
        self.assertIn("channels that cancel each other", mixed["warnings"][0])
        self.assertEqual(mixed["text"], SENTENCE)
        stereo, _ = senone.read_audio(one)
        self.assertEqual(stereo.shape, (len(values), 2))

    def test_samples_without_a_header(self) -> None:
        values = samples()
        forms = encodings(values)
        named = {
            "s16le": forms[1, 16],
            "s16be": values.astype(">i2").tobytes(),
            "f32le": forms[3, 32],
            "mulaw": forms[7, 8],
            "alaw": forms[6, 8],
        }
        for form, data in named.items():
            with self.subTest(form):
                self.write("a.bin", data)
                self.assertEqual(self.batch("--raw-format", form, self.folder / "a.bin")["a.bin"]["text"], SENTENCE)
        self.assertEqual(engine().recognize(named["mulaw"], input="ulaw").text, SENTENCE)
        self.assertEqual(engine().recognize(named["alaw"], input="alaw").text, SENTENCE)
        with engine().stream(input="ulaw") as stream:
            stream.feed(np.frombuffer(named["mulaw"], np.uint8))
            self.assertEqual(stream.result().text, SENTENCE)
        with engine().stream(input="alaw") as stream:
            self.assertRaises(senone.InvalidArgument, stream.feed, values)
            stream.feed(memoryview(named["alaw"]))
            self.assertEqual(stream.result().text, SENTENCE)

    def test_transposed_arrays_are_named(self) -> None:
        values = samples().astype(np.float32) / 32768
        for n in (1, 2):
            with self.assertRaisesRegex(senone.InvalidArgument, r"shape \[\d, \d+\]: it is transposed"):
                engine().recognize(np.stack([values] * n))
            with engine().stream(n_channels=n) as stream:
                with self.assertRaisesRegex(senone.InvalidArgument, "they are transposed"):
                    stream.feed(np.stack([values] * n))


if __name__ == "__main__":
    unittest.main()
