# SPDX-License-Identifier: Apache-2.0
"""Phrases of a grammar by the scores of a CTC network: the functions of speech-to-phrase's decoder, over Senone's
search.
    import senone.phrases as fst
    grammar = fst.build_grammar(n_tokens, blank_id, arcs, finals)        # int32 [N, 4]: from, to, token, id
    ids, best_cost, second_cost = fst.decode(grammar, log_probs, T, V, blank_id, 0.0)
    search = fst.Search(grammar)                                         # the same while the rows come
    search.feed(rows)
    ids, best_cost, second_cost = search.result()
docs/drop-in.md tells what equals the original. Any threads may use a grammar. Calls release the interpreter's lock.
"""

from __future__ import annotations

import ctypes
import math
import os
from typing import Any, Literal, Optional

from ._build_library import asr_ctc_grammar_info, asr_ctc_phrase, asr_ctc_search_config, build_lib, check_build
from ._config import choice, encoded
from ._errors import InvalidArgument
from ._handle import Handle, Owner
from ._numbers import real, uint32, whole
from ._numpy import numpy

Distinct = Literal["times", "ids"]
Decoded = tuple[list[int], Optional[float], Optional[float]]

_DISTINCT = {"times": 0, "ids": 1}

__all__ = ["Grammar", "Search", "build_grammar", "decode", "load_grammar", "save_grammar"]


class Grammar(Owner):
    """A grammar of `build_grammar` or `load_grammar`. It never changes.
    n_tokens, blank_id: as given to `build_grammar`. n_states, n_arcs: its size.
    """

    def __init__(self, pointer: int) -> None:
        self._lib = build_lib()
        self._handle = Handle(pointer, self._lib.asr_ctc_grammar_close, "the grammar was closed; build another")
        info = asr_ctc_grammar_info(size=ctypes.sizeof(asr_ctc_grammar_info))
        check_build(self._lib.asr_ctc_grammar_get_info(pointer, ctypes.byref(info)))
        self.n_tokens, self.blank_id = int(info.n_tokens), int(info.blank)
        self.n_states, self.n_arcs = int(info.n_states), int(info.n_arcs)

    def __repr__(self) -> str:
        return f"<senone.phrases.Grammar of {self.n_states} states and {self.n_arcs} arcs>"


class Search(Owner):
    """A search that takes rows as they come. One thread at a time.
    beam, token_bonus: see `decode`. distinct: what makes the second best phrase another one: "times" (default; other
    ids, or the same ones in other frames, as in the original) or "ids".
    """

    def __init__(
        self, grammar: Grammar, beam: float = 0.0, token_bonus: float = 0.0, *, distinct: Distinct = "times"
    ) -> None:
        self._lib = build_lib()
        config = asr_ctc_search_config()
        self._lib.asr_ctc_search_config_default(ctypes.byref(config))
        config.beam, config.token_bonus = max(0.0, real("beam", beam)), real("token_bonus", token_bonus)
        config.distinct = choice("distinct", distinct, _DISTINCT)
        pointer = ctypes.c_void_p()
        with _handle_of(grammar) as of_grammar:
            check_build(self._lib.asr_ctc_search_open(of_grammar, ctypes.byref(config), ctypes.byref(pointer)))
        assert pointer.value is not None
        self._handle = Handle(pointer.value, self._lib.asr_ctc_search_close, "the search was closed; open another")

    def feed(self, rows: Any) -> None:
        """Searches the next log probabilities [T, V]; -inf closes a token. Raises InvalidArgument (shape), BadAudio (a
        value is neither finite nor -inf; nothing is searched then)."""
        scores = numpy("scores").ascontiguousarray(rows, dtype="float32")
        if scores.ndim != 2:
            raise InvalidArgument(f"rows have the shape {list(scores.shape)}; they must be [T, V]")
        self._feed(scores.ctypes.data, len(scores), scores.shape[1])

    def result(self) -> Decoded:
        """Returns ids, their cost, and the cost of the second best phrase, if the rows end here; None for a cost that
        does not exist. More rows may follow."""
        phrase = asr_ctc_phrase(size=ctypes.sizeof(asr_ctc_phrase))
        with self._handle as pointer:
            check_build(self._lib.asr_ctc_search_result(pointer, ctypes.byref(phrase)))
            ids = phrase.ids[: phrase.n_ids]
        best, second = (None if math.isinf(cost) else cost for cost in (phrase.best_cost, phrase.second_cost))
        return ids, best, second

    def reset(self) -> None:
        """Begins anew."""
        with self._handle as pointer:
            check_build(self._lib.asr_ctc_search_reset(pointer))

    def _feed(self, address: int, n_rows: int, row_length: int) -> None:
        with self._handle as pointer:
            check_build(self._lib.asr_ctc_search_feed(pointer, address, n_rows, row_length))


def build_grammar(num_tokens: int, blank_id: int, arcs: Any, finals: Any) -> Grammar:
    """Makes a grammar of arcs that begin in state 0.
    num_tokens: tokens of the network. blank_id: CTC's blank, which may be num_tokens. arcs: int32 [N, 4], or its
    buffer: from, to, token, id; -1 is no token or no id. finals: int32 states in which phrases end. Raises
    InvalidArgument (names the arc), Unsupported (an id without a token; too large).
    """
    rows, states = _int32("arcs", arcs), _int32("finals", finals)
    if rows.size % 4 != 0:
        raise InvalidArgument(f"arcs have {rows.size} numbers; each has four: from, to, token and id")
    pointer = ctypes.c_void_p()
    check_build(
        build_lib().asr_ctc_grammar_open(
            uint32("num_tokens", whole("num_tokens", num_tokens)),
            uint32("blank_id", whole("blank_id", blank_id)),
            rows.ctypes.data,
            rows.size // 4,
            states.ctypes.data,
            states.size,
            ctypes.byref(pointer),
        )
    )
    assert pointer.value is not None
    return Grammar(pointer.value)


def save_grammar(grammar: Grammar, path: str | os.PathLike[str]) -> None:
    """Writes a grammar to one file. Raises IoFailure."""
    with _handle_of(grammar) as pointer:
        check_build(build_lib().asr_ctc_grammar_save(pointer, encoded("path", os.fspath(path))))


def load_grammar(path: str | os.PathLike[str]) -> Grammar:
    """Reads a file of `save_grammar`. Raises NotFound, BadFile (also for files of OpenFst, as the original writes
    them: build the grammar again), IoFailure."""
    pointer = ctypes.c_void_p()
    check_build(build_lib().asr_ctc_grammar_load(encoded("path", os.fspath(path)), ctypes.byref(pointer)))
    assert pointer.value is not None
    return Grammar(pointer.value)


def decode(
    grammar: Grammar,
    logprobs: Any,
    T: int,
    V: int,
    blank_id: int,
    beam: float,
    token_bonus: float = 0.0,
    *,
    distinct: Distinct = "times",
) -> Decoded:
    """Returns the ids of the best phrase, its cost, and that of the second best one; ids are empty, and costs None, if
    there is none.
    logprobs: float32, T rows of V. beam: in each frame, tokens whose log probability is further below the best one's
    of the grammar are left out; 0 searches all. token_bonus: subtracted for each id when phrases are compared, not in
    the costs. distinct: see `Search`. Raises InvalidArgument (sizes, another blank than the grammar's), BadAudio (a
    value is neither finite nor -inf).
    """
    rows = numpy("scores").ascontiguousarray(_from_bytes(logprobs, "float32"), dtype="float32")
    T, V = whole("T", T), whole("V", V)
    if not (T >= 0 and V > 0 and rows.size >= T * V):
        raise InvalidArgument(f"logprobs have {rows.size} values; T = {T!r} rows of V = {V!r} need as many as their product")
    with Search(grammar, beam, token_bonus, distinct=distinct) as search:
        if blank_id != grammar.blank_id:
            raise InvalidArgument(f"blank_id is {blank_id!r}; the grammar was built with {grammar.blank_id}")
        search._feed(rows.ctypes.data, T, V)
        return search.result()


def _handle_of(grammar: object) -> Handle:
    if not isinstance(grammar, Grammar):
        raise InvalidArgument(f"grammar is of type {type(grammar).__name__}; it must be of build_grammar or load_grammar")
    return grammar._handle


def _from_bytes(values: Any, kind: str) -> Any:
    """Returns an array of the numbers that bytes contain; other values as they are. Raises InvalidArgument."""
    is_bytes = isinstance(values, (bytes, bytearray)) or (isinstance(values, memoryview) and values.format == "B")
    if is_bytes and len(values) % 4 != 0:
        raise InvalidArgument(f"there are {len(values)} bytes; numbers of {kind} have four each")
    return numpy("bytes").frombuffer(values, kind) if is_bytes else values


def _int32(name: str, values: Any) -> Any:
    """Returns whole numbers as a contiguous array of int32. Bytes are those of int32. Raises InvalidArgument."""
    np = numpy(name)
    given = np.asarray(_from_bytes(values, "int32"))
    array = given.astype(np.int32) if given.size else np.zeros(0, np.int32)
    if given.size and (given.dtype.kind not in "iu" or not (array == given).all()):
        raise InvalidArgument(f"{name} are {given.dtype}; they must be whole numbers of 32 bits")
    return np.ascontiguousarray(array).reshape(-1)
