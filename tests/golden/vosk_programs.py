# SPDX-License-Identifier: Apache-2.0
"""vosk_programs.py BUNDLE COMMAND RECORDING... runs programs of the shape of Vosk's examples. COMMAND has the JSON results of `senone
recognize --endpoint command` of the same recordings."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
import wave
from typing import Iterator

import vosk
from vosk import BatchModel, BatchRecognizer, KaldiRecognizer, Model, SetLogLevel, SpkModel

SILENCE = bytes(2 * 16000)
CARDS = '["ace two three four five six seven eight nine ten jack queen king of", "hearts diamonds clubs spades", "[unk]"]'


def pieces(path: str, n: int = 4000) -> Iterator[bytes]:
    with wave.open(path, "rb") as recording:
        assert (recording.getnchannels(), recording.getsampwidth(), recording.getframerate()) == (1, 2, 16000)
        while data := recording.readframes(n):
            yield data


def said(recognizer: KaldiRecognizer, data: Iterator[bytes]) -> str:
    """Returns the words of all results, as test_simple and test_text print them."""
    texts = []
    for piece in data:
        if recognizer.AcceptWaveform(piece):
            texts.append(json.loads(recognizer.Result())["text"])
        else:
            assert set(json.loads(recognizer.PartialResult())) == {"partial"}
    texts.append(json.loads(recognizer.FinalResult())["text"])
    return " ".join(text for text in texts if text)


def simple(model: Model, expected: dict[str, str]) -> None:
    for path, text in expected.items():
        for n in (4000, 1000, 10**6):
            assert said(KaldiRecognizer(model, 16000), pieces(path, n)) == text, (path, n, text)


def words(model: Model, path: str, text: str) -> None:
    recognizer = KaldiRecognizer(model, 16000)
    recognizer.SetWords(True)
    recognizer.SetPartialWords(True)
    found, partial = [], {}
    for piece in [*pieces(path), SILENCE, SILENCE]:
        if recognizer.AcceptWaveform(piece):
            found += json.loads(recognizer.Result()).get("result", [])
        else:
            partial = json.loads(recognizer.PartialResult()) or partial
    found += json.loads(recognizer.FinalResult()).get("result", [])
    assert " ".join(word["word"] for word in found) == text
    assert all(0 < word["conf"] < 1 and word["start"] < word["end"] for word in found), found
    assert all(one["end"] <= other["start"] + 1e-6 for one, other in zip(found, found[1:]))


def grammar(model: Model, expected: dict[str, str]) -> None:
    """Words in another order than the grammar has them; speech that it does not hold; another grammar after a result."""
    recognizer = KaldiRecognizer(model, 16000, CARDS)
    for path, text in expected.items():
        if "/cards/" in path or not text:
            found = said(recognizer, pieces(path))
            assert found == text if text else set(found.split()) == {"[unk]"}, (path, found)
    recognizer.SetGrammar('["yes", "no", "turn on the light", "[unk]"]')
    path = next(iter(expected))
    assert said(recognizer, pieces(path)) == "[unk]"
    ready = [recognizer.AcceptWaveform(piece) for piece in pieces(path)][-1]
    while not ready:
        ready = recognizer.AcceptWaveform(SILENCE[:3200])
    recognizer.SetGrammar('["yes", "no", "turn on the light"]')
    assert json.loads(recognizer.Result())["text"] == "[unk]"  # of the grammar that it was said to
    assert said(recognizer, pieces(path)) == ""
    recognizer.SetGrammar("[]")  # the model's own
    assert said(recognizer, pieces(path)) == expected[path]


def alternatives(model: Model, path: str, text: str) -> None:
    recognizer = KaldiRecognizer(model, 16000)
    recognizer.SetMaxAlternatives(10)
    recognizer.SetWords(True)
    for piece in pieces(path):
        recognizer.AcceptWaveform(piece)
    found = json.loads(recognizer.FinalResult())["alternatives"]
    assert found[0]["text"] == text and 0 < found[0]["confidence"] < 1
    assert 1 <= len(found) <= 10
    assert [word["word"] for word in found[0]["result"]] == text.split()
    recognizer.SetNLSML(True)
    for piece in pieces(path):
        recognizer.AcceptWaveform(piece)
    assert f"<instance>{text}</instance>" in recognizer.FinalResult()
    assert "<noinput/>" in recognizer.FinalResult()


def reset(model: Model, path: str, text: str) -> None:
    recognizer = KaldiRecognizer(model, 16000)
    for piece in pieces(path):
        recognizer.AcceptWaveform(piece)
    recognizer.Reset()
    assert json.loads(recognizer.FinalResult()) == {"text": ""}
    assert said(recognizer, pieces(path)) == text


def endpointer(model: Model, path: str, text: str) -> None:
    """How much silence ends an utterance; PyPI's release has no methods for the settings."""
    library = ctypes.CDLL(os.path.join(os.path.dirname(vosk.__file__), "libvosk.so"))
    library.vosk_recognizer_set_endpointer_delays.argtypes = [ctypes.c_void_p] + 3 * [ctypes.c_float]
    library.vosk_recognizer_set_endpointer_mode.argtypes = [ctypes.c_void_p, ctypes.c_int]

    def silence_s(set_up: str, *values: float) -> float:
        recognizer = KaldiRecognizer(model, 16000)
        if set_up:
            handle = int(vosk._ffi.cast("intptr_t", recognizer._handle))
            getattr(library, "vosk_recognizer_set_endpointer_" + set_up)(handle, *values)
        for piece in pieces(path):
            if recognizer.AcceptWaveform(piece):
                return 0
        for n in range(1, 200):
            if recognizer.AcceptWaveform(SILENCE[:3200]):
                assert json.loads(recognizer.Result())["text"] == text
                return n / 10
        raise AssertionError("no endpoint")

    # Results may be ready some calls late where the machine is busy, but a mode that is four times as long never is.
    assert silence_s("mode", 3) > 0.8
    assert silence_s("delays", 5, 3, 20) > 2.5
    assert silence_s("") < 19


def subtitles(model: Model, path: str) -> None:
    recognizer = KaldiRecognizer(model, 16000)
    recognizer.SetWords(True)
    with wave.open(path, "rb") as recording:
        lines = recognizer.SrtResult(_Samples(recording)).splitlines()
    assert " --> " in lines[1] and "clubs" in " ".join(lines), lines


class _Samples:
    def __init__(self, recording: wave.Wave_read) -> None:
        self._recording = recording

    def read(self, n: int) -> bytes:
        return self._recording.readframes(n // 2)


def batch(bundle: str, expected: dict[str, str]) -> None:
    model = BatchModel(bundle)
    recognizers = {path: BatchRecognizer(model, 16000) for path in expected}
    for path, recognizer in recognizers.items():
        for piece in pieces(path):
            recognizer.AcceptWaveform(piece)
        recognizer.FinishStream()
    model.Wait()
    for path, recognizer in recognizers.items():
        found = []
        while result := recognizer.Result():
            found.append(json.loads(result)["text"])
        assert " ".join(text for text in found if text) == expected[path], (path, found)
        assert recognizer.GetPendingChunks() == 0


def threads(model: Model, expected: dict[str, str]) -> None:
    failures = []

    def run() -> None:
        for path, text in expected.items():
            found = said(KaldiRecognizer(model, 16000), pieces(path))
            if found != text:
                failures.append((path, found))

    running = [threading.Thread(target=run) for _ in range(6)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failures, failures


def refusals(model: Model) -> None:
    for make in (
        lambda: Model("/no/such/model"),
        lambda: SpkModel("model-spk"),
        lambda: KaldiRecognizer(model, 10.0),
        lambda: KaldiRecognizer(model, 16000, "one two three"),
    ):
        try:
            make()
        except Exception as error:
            assert "Failed to create" in str(error), error
        else:
            raise AssertionError("it was taken")
    assert model.vosk_model_find_word("clubs") > 0 > model.vosk_model_find_word("qwertyuiop")
    assert json.loads(KaldiRecognizer(model, 16000).FinalResult()) == {"text": ""}  # as test_empty


def main() -> None:
    bundle, command, *recordings = sys.argv[1:]
    SetLogLevel(-1)
    expected = dict.fromkeys(recordings, "")
    with open(command, encoding="utf-8") as lines:
        results = [json.loads(line) for line in lines]
    for path in recordings:
        parts = [each["text"] for each in results if os.path.basename(path) in str(each) and not each["rejected"]]
        expected[path] = " ".join(part for part in parts if part)
    assert all(bool(text) for path, text in expected.items() if "/cards/" in path) and "" in expected.values(), expected
    model = Model(bundle)
    longest = max(expected, key=lambda path: len(expected[path]))
    simple(model, expected)
    words(model, longest, expected[longest])
    grammar(model, expected)
    alternatives(model, longest, expected[longest])
    reset(model, longest, expected[longest])
    endpointer(model, recordings[0], expected[recordings[0]])
    subtitles(model, longest)
    batch(bundle, expected)
    threads(model, expected)
    refusals(model)
    print(f"python: {len(recordings)} recordings have the words of the command, in ten programs")


main()
