# SPDX-License-Identifier: Apache-2.0
"""Text of results in the forms that the protocols share, and as JSON, SRT and VTT for files."""

from __future__ import annotations

from typing import Any, Iterable, Sequence

from senone._events import Alternative, Event, Word

_CUE_S = 6.0  # longest subtitle
_CUE_LETTERS = 80
_CUE_PAUSE_S = 0.7  # begins another subtitle


def is_heard(event: Event) -> bool:
    """Returns False for a result without words, and for one whose words are only the nearest of the grammar."""
    return bool(event.text) and event.rejected is not True


def heard_words(finals: Iterable[Event]) -> list[Word]:
    """Returns the words of the results that were heard, in order."""
    return [word for event in finals if is_heard(event) for word in event.words]


def text_of(finals: Iterable[Event]) -> str:
    """Returns the words as text."""
    return " ".join(event.text for event in finals if is_heard(event))


def confidence(words: Sequence[Word]) -> float:
    """Returns the mean of the words' confidences, 0 without words or without a lattice."""
    known = [word.confidence for word in words if word.confidence >= 0]
    return sum(known) / len(known) if known else 0.0


def file_json(finals: Sequence[Event], audio_s: float, warnings: Sequence[str]) -> dict[str, Any]:
    """Returns the result of a file, with the names of `senone recognize --json`."""
    found: dict[str, Any] = {"audio_s": round(audio_s, 3), "text": text_of(finals)}
    found["utterances"] = [_utterance(event) for event in finals]
    if warnings:
        found["warnings"] = list(warnings)
    return found


def _utterance(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = {
        "text": event.text if is_heard(event) else "",
        "words": [_word(word) for word in event.words] if is_heard(event) else [],
        "flags": [flag.name.lower() for flag in type(event.flags) if flag in event.flags and flag.name],
    }
    if event.out_of_grammar >= 0:
        found["out_of_grammar"] = round(event.out_of_grammar, 6)
        found["rejected"] = bool(event.rejected)
    if len(event.alternatives) > 1 and is_heard(event):
        found["others"] = [_other(other) for other in event.alternatives[1:]]
    return found


def _word(word: Word) -> dict[str, Any]:
    found: dict[str, Any] = {"word": word.text, "start_s": round(word.start_s, 3), "end_s": round(word.end_s, 3)}
    if word.confidence >= 0:
        found["confidence"] = round(word.confidence, 6)
    if word.tags:
        found["tags"] = list(word.tags)
    return found


def _other(other: Alternative) -> dict[str, Any]:
    return {"text": other.text, "words": [_word(word) for word in other.words]}


def subtitles(finals: Iterable[Event], is_vtt: bool) -> str:
    """Returns SRT or WebVTT: cues of at most 6 s and 80 letters that end where somebody pauses."""
    comma = "." if is_vtt else ","
    parts = ["WEBVTT\n\n"] if is_vtt else []
    for number, cue in enumerate(_cues(heard_words(finals)), 1):
        times = f"{_time(cue[0].start_s, comma)} --> {_time(cue[-1].end_s, comma)}"
        text = " ".join(word.text for word in cue)
        if is_vtt:
            text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        parts.append(("" if is_vtt else f"{number}\n") + f"{times}\n{text}\n\n")
    return "".join(parts)


def _cues(words: list[Word]) -> Iterable[list[Word]]:
    cue: list[Word] = []
    for word in words:
        if cue and (
            word.start_s - cue[-1].end_s > _CUE_PAUSE_S
            or word.end_s - cue[0].start_s > _CUE_S
            or sum(len(other.text) + 1 for other in cue) + len(word.text) > _CUE_LETTERS
        ):
            yield cue
            cue = []
        cue.append(word)
    if cue:
        yield cue


def _time(seconds: float, comma: str) -> str:
    ms = max(0, round(seconds * 1000))
    return f"{ms // 3600000:02}:{ms // 60000 % 60:02}:{ms // 1000 % 60:02}{comma}{ms % 1000:03}"
