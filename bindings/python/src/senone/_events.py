# SPDX-License-Identifier: Apache-2.0
"""Events and their contents: words, alternatives, lattices. All are plain values except lattices, which keep their event."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_double, sizeof
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import TYPE_CHECKING, Any

from ._errors import Error, NotFound, check, error_of
from ._library import asr_lattice, asr_rows, asr_word, lib, text
from ._numpy import numpy

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]


class EventKind(IntEnum):
    """The values of asr_event_kind; later versions of the library may add some."""

    READY = 1  # the stream accepts audio
    SPEECH_START = 2  # audio has begun
    PARTIAL = 3  # the best words so far; later ones may differ
    ENDPOINT = 4  # the utterance is complete; FINAL follows
    FINAL = 5  # the words of the utterance
    ERROR = 6  # the stream has failed: Event.error says why
    END = 7  # no event follows
    PROBABLY_FINISHED = 8  # silence of early_endpoint_ms after the last word; has the words so far
    SPEECH_RESUMED = 9  # takes the last PROBABLY_FINISHED back
    NO_INPUT = 10  # audio of no_input_ms had no words; comes between utterances
    ROWS = 11  # the next rows of a stream with an output: Event.rows

    @classmethod
    def _missing_(cls, value: object) -> EventKind:
        """Returns a member for a kind that this package does not know."""
        unknown = int.__new__(cls, value)  # type: ignore[call-overload]
        unknown._name_, unknown._value_ = f"UNKNOWN_{value}", value
        return unknown  # type: ignore[no-any-return]


class Flag(IntFlag):
    """Flags of PARTIAL and FINAL events (ASR_FLAG_*)."""

    NOT_FINAL_STATE = 1  # the final state was not reached: the words may stop in the middle of a sentence
    BEAM_DIED = 2  # no path survived to the end of the audio
    NO_SPEECH = 4  # the audio was too short for one frame, or held no words
    BEAM_NARROWED = 8  # the lattice is narrower than lattice_beam: see Lattice.beam
    FELL_BACK = 16  # the device was lost; the engine's fallback decoded this
    CANCELLED = 32  # Stream.cancel_utterance dropped the utterance: no words, no lattice
    REJECTED = 64  # probably misrecognised: Event.out_of_grammar is above the stream's reject_threshold
    CUT = 128  # longest_utterance_ms has cut the utterance, and the next one goes on with what was being said


@dataclass(frozen=True)
class Word:
    """A recognised word.
    start_s, end_s: seconds from the first sample fed. confidence: 0..1, the share of the lattice with this word here, times 1 -
    Event.out_of_grammar if that is known; -1 without a lattice and in partial events. id: its number in the bundle's words.txt.
    rule, tags: labels of the grammar: the public rule of the sentence ("" without), and the word's tags.
    """

    text: str
    start_s: float
    end_s: float
    confidence: float
    id: int
    rule: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alternative:
    """One hypothesis. Costs are natural logarithms, negated; the best hypothesis has the least graph_cost + acoustic_scale *
    acoustic_cost (acoustic_cost is unscaled). rule, tags: labels of the grammar, as in its words."""

    text: str
    words: tuple[Word, ...]
    graph_cost: float
    acoustic_cost: float
    rule: str = ""
    tags: tuple[str, ...] = ()


class _Memory:
    """Exposes memory of the library to numpy, and keeps `owner` while an array uses it."""

    def __init__(self, owner: object, address: int, n: int, typestr: str) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, True), "shape": (n,), "typestr": typestr}


def _array(owner: object, address: int | None, n: int, typestr: str) -> npt.NDArray[Any]:
    """Returns a read-only array [n] over the library's memory, without a copy."""
    np = numpy("arrays of events")
    if n == 0 or not address:
        return np.empty(0, typestr)  # type: ignore[no-any-return]
    return np.asarray(_Memory(owner, address, n, typestr))  # type: ignore[no-any-return]


class _Handle:
    """Owns an asr_event, which is freed with its last user, so a copy must not own it too."""

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer
        self._process = os.getpid()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a lattice cannot be copied or pickled; copy its arrays")

    def __del__(self) -> None:
        if self._process == os.getpid():
            lib.asr_event_free(self.pointer)


class Lattice:
    """The alternatives of an utterance as a graph. Arrays are read-only memory of the library, valid as long as they are kept.
    S states, A arcs, each arc a word. A path begins in state 0, follows arcs and ends in a state whose end costs are finite.
    Its cost is the sum over its arcs and over its end of graph_cost + acoustic_scale * acoustic_cost: natural logarithms,
    negated. Arcs are grouped by state, in the order of the states, and lead to higher-numbered states. A posterior is the share
    of an arc or an end in all paths, each weighted by exp(-cost). Times are seconds from the first sample fed.
    n_states, n_arcs, n_frames: S, A and the frames of every path. beam: its width (natural log). acoustic_scale: the stream's.
    state_time_s, end_graph_cost (inf if no path ends here), end_acoustic_cost, end_posterior: [S] float64. arc_from, arc_to,
    arc_word_id: [A] uint32. arc_graph_cost, arc_acoustic_cost, arc_posterior, arc_start_s, arc_end_s: [A] float64.
    transition_id: uint32, one per frame. alignment_begin: [A + S + 1] uint64:
    transition_id[alignment_begin[i]:alignment_begin[i + 1]] belongs to arc i if i < A, otherwise to the end in state i - A.
    """

    def __init__(self, handle: _Handle, found: asr_lattice) -> None:
        s, a = found.n_states, found.n_arcs
        self.n_states: int = s
        self.n_arcs: int = a
        self.n_frames: int = found.n_frames
        self.beam: float = found.beam
        self.acoustic_scale: float = found.acoustic_scale
        self.state_time_s: Doubles = _array(handle, found.state_time_s, s, "f8")
        self.end_graph_cost: Doubles = _array(handle, found.end_graph_cost, s, "f8")
        self.end_acoustic_cost: Doubles = _array(handle, found.end_acoustic_cost, s, "f8")
        self.end_posterior: Doubles = _array(handle, found.end_posterior, s, "f8")
        self.arc_from: npt.NDArray[np.uint32] = _array(handle, found.arc_from, a, "u4")
        self.arc_to: npt.NDArray[np.uint32] = _array(handle, found.arc_to, a, "u4")
        self.arc_word_id: npt.NDArray[np.uint32] = _array(handle, found.arc_word_id, a, "u4")
        self.arc_graph_cost: Doubles = _array(handle, found.arc_graph_cost, a, "f8")
        self.arc_acoustic_cost: Doubles = _array(handle, found.arc_acoustic_cost, a, "f8")
        self.arc_posterior: Doubles = _array(handle, found.arc_posterior, a, "f8")
        self.arc_start_s: Doubles = _array(handle, found.arc_start_s, a, "f8")
        self.arc_end_s: Doubles = _array(handle, found.arc_end_s, a, "f8")
        n_parts = a + s + 1 if s > 0 else 0
        self.alignment_begin: npt.NDArray[np.uint64] = _array(handle, found.alignment_begin, n_parts, "u8")
        n_ids = int(self.alignment_begin[-1]) if n_parts > 0 else 0
        self.transition_id: npt.NDArray[np.uint32] = _array(handle, found.transition_id, n_ids, "u4")
        self._handle = handle
        self._arc_texts = found.arc_word
        self._arc_word: npt.NDArray[np.object_] | None = None

    @property
    def arc_word(self) -> npt.NDArray[np.object_]:
        """[A] str: the arcs' words. Created at the first use; each distinct word is one object."""
        if self._arc_word is None:
            np = numpy("lattices")
            ids, first, inverse = np.unique(self.arc_word_id, return_index=True, return_inverse=True)
            words = np.empty(len(ids), object)
            words[:] = [text(self._arc_texts[int(i)]) for i in first]
            self._arc_word = words[inverse]
        assert self._arc_word is not None
        return self._arc_word

    def __repr__(self) -> str:
        return f"<senone.Lattice of {self.n_states} states and {self.n_arcs} arcs>"


class Event:
    """One event of a stream.
    kind: an EventKind. time_s: the event's position in the audio, seconds from the first sample fed. text: the words, joined by
    blanks, of PARTIAL, PROBABLY_FINISHED and FINAL; the message of ERROR; else "". words: the words of the best alternative.
    n_stable_words: number of first words that are certain. Every later event of the utterance begins with them, with the same
    times (a FINAL with a lattice has its own). All are certain in FINAL. out_of_grammar: probability that the speech is not in
    the grammar, 0..1; -1 if it was not compared. rejected: True if that is above the stream's reject_threshold, None if it was
    not compared; the words are those of the nearest sentence of the grammar. alternatives: best first, with distinct words.
    flags: see Flag. lattice: for FINAL events of streams with a lattice_beam, else None. lattice_beam: its width, which is less
    than the stream's if limits of time or memory allow no more; None without a lattice. rows: for ROWS events, else None.
    first_frame: the number of the frame of their first row, from 0; else None. error: the exception of an ERROR event, else
    None. Copies and pickles have neither lattice nor rows.
    """

    kind: EventKind
    time_s: float
    text: str
    flags: Flag
    alternatives: tuple[Alternative, ...]
    out_of_grammar: float
    n_stable_words: int
    lattice_beam: float | None
    error: Error | None
    first_frame: int | None

    _handle: _Handle  # owns the target of `_found`
    _found: asr_lattice | None = None
    _lattice: Lattice | None = None
    _rows: asr_rows | None = None

    @property
    def rows(self) -> npt.NDArray[np.float32] | None:
        """The rows of a ROWS event, [n_rows, n_feature_dims] or [n_rows, n_states], else None. The array is read-only memory of
        the library, valid as long as it is kept. Needs numpy."""
        if self._rows is None:
            return None
        n_rows, n_values = self._rows.n_rows, self._rows.n_values
        return _array(self._handle, self._rows.values, n_rows * n_values, "f4").reshape(n_rows, n_values)

    @property
    def lattice(self) -> Lattice | None:
        """The lattice of a FINAL event of a stream with a lattice_beam, else None. Needs numpy."""
        if self._lattice is None and self._found is not None:
            self._lattice = Lattice(self._handle, self._found)
        return self._lattice

    @property
    def rejected(self) -> bool | None:
        """True if something else was probably said; None if the words were not compared with other speech."""
        return Flag.REJECTED in self.flags if self.out_of_grammar >= 0 else None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_handle", "_found", "_lattice", "_rows")}

    @property
    def words(self) -> tuple[Word, ...]:
        """Words of the best alternative."""
        return self.alternatives[0].words if self.alternatives else ()

    def __repr__(self) -> str:
        return f"<senone.{type(self).__name__} {self.kind.name} {self.time_s:.2f} s {self.text!r}>"


class Result(Event):
    """A FINAL event: the words of an utterance."""


def take_event(pointer: int) -> Event:
    """Reads an asr_event and takes ownership of it."""
    handle = _Handle(pointer)
    kind = EventKind(lib.asr_event_get_kind(pointer))
    event = Result() if kind == EventKind.FINAL else Event()
    event.kind = kind
    event.time_s = lib.asr_event_time_s(pointer)
    event.text = text(lib.asr_event_text(pointer))
    event.flags = Flag(lib.asr_event_flags(pointer))
    event.alternatives = tuple(_alternative(pointer, a) for a in range(lib.asr_event_n_alternatives(pointer)))
    event.out_of_grammar = lib.asr_event_out_of_grammar(pointer)
    event.n_stable_words = lib.asr_event_n_stable_words(pointer)
    if kind == EventKind.FINAL:
        event._handle, event._found = handle, _lattice(handle)
    event.first_frame = None
    if kind == EventKind.ROWS:
        event._handle, event._rows = handle, asr_rows(size=ctypes.sizeof(asr_rows))
        check(lib.asr_event_rows(pointer, byref(event._rows)))
        event.first_frame = event._rows.first_frame
    event.lattice_beam = event._found.beam if event._found is not None else None
    status = lib.asr_event_status(pointer)
    event.error = error_of(status, event.text) if status != 0 else None
    return event


def _alternative(pointer: int, number: int) -> Alternative:
    graph_cost, acoustic_cost = c_double(), c_double()
    check(lib.asr_event_alternative_costs(pointer, number, byref(graph_cost), byref(acoustic_cost)))
    words = []
    word = asr_word(size=sizeof(asr_word))
    for index in range(lib.asr_event_n_words(pointer, number)):
        check(lib.asr_event_word(pointer, number, index, byref(word)))
        rule, tags = text(word.rule), _tags(word.tags)
        words.append(Word(text(word.text), word.start_s, word.end_s, word.confidence, word.word_id, rule, tags))
    sentence = text(lib.asr_event_alternative_text(pointer, number))
    rule, tags = text(lib.asr_event_rule(pointer, number)), _tags(lib.asr_event_tags(pointer, number))
    return Alternative(sentence, tuple(words), graph_cost.value, acoustic_cost.value, rule, tags)


def _tags(joined: bytes | None) -> tuple[str, ...]:
    return tuple(text(joined).split("\n")) if joined else ()


def _lattice(handle: _Handle) -> asr_lattice | None:
    found = asr_lattice(size=ctypes.sizeof(asr_lattice))
    try:
        check(lib.asr_event_lattice(handle.pointer, byref(found)))
    except NotFound:
        return None
    return found


__all__ = ["Alternative", "Event", "EventKind", "Flag", "Lattice", "Result", "Word", "take_event"]

