# SPDX-License-Identifier: Apache-2.0
"""Compiles grammars in the process."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Literal, TypedDict

from ._build_library import asr_build_config, asr_build_info, build_lib, check_build
from ._config import choice, encoded
from ._errors import InvalidArgument
from ._handle import Handle, Owner
from ._installed import find_model
from ._library import text
from ._lines import Lines, joined, utf8
from ._numbers import real

try:
    from typing import Unpack
except ImportError:  # Python 3.10 and older
    from typing import TYPE_CHECKING

    if TYPE_CHECKING:
        from typing_extensions import Unpack

Unknown = Literal["refuse", "drop"]
LetterCase = Literal["as is", "lower", "upper"]

_UNKNOWN = {"refuse": 0, "drop": 1}
_LETTER_CASE = {"as is": 0, "lower": 1, "upper": 2}


class GrammarConfig(TypedDict, total=False):
    """Keyword arguments of `GrammarBuilder.jsgf` and its siblings. Missing ones have the library's defaults.
    name: name of the grammar in messages; default "grammar". rule: the one to recognise; default: all public rules, in SRGS the
        root.
    unknown: treatment of words in no lexicon: "refuse" (default: the grammar is refused, and the message lists them) or "drop"
        (alternatives that need them are left out; `Grammar.unknown` lists them).
    letter_case: case of the grammar's words, "as is" (default), "lower" or "upper", for a lexicon that is all in one case;
        letters of all scripts.
    silence_prob: probability of silence between words, 0..1; default 0.3. filler_prob: of each other filler there, 0..1;
        default 1e-4.
    transition_scale, self_loop_scale: weights of the costs between HMM states, and of staying in one, 0..100; default 1, 0.1.
    """

    name: str
    rule: str
    unknown: Unknown
    letter_case: LetterCase
    silence_prob: float
    filler_prob: float
    transition_scale: float
    self_loop_scale: float


class Grammar(bytes):
    """A compiled grammar: the bytes of a graph archive, for `Engine.add_graph` or a file.
    unknown: distinct words in no lexicon, which were dropped. guessed: words pronounced by the model of
    `GrammarBuilder.set_g2p`. n_classes: classes that it uses; such a grammar can be rebuilt, unless it was pickled. n_states,
    n_arcs: size of the graph. n_words: word symbols, one per combination of word, tags and rule. A grammar is immutable, and
    copying returns the same object.
    """

    unknown: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()
    n_classes: int = 0
    n_states: int = 0
    n_arcs: int = 0
    n_words: int = 0
    _result: Handle | None = None  # for a grammar with classes

    def __copy__(self) -> Grammar:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Grammar:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_result"}

    def __del__(self) -> None:
        if self._result is not None:
            self._result.close_soon()

    def __repr__(self) -> str:
        return f"<senone.Grammar of {self.n_words} words, {self.n_states} states and {self.n_arcs} arcs>"


class GrammarBuilder(Owner):
    """Compiles grammars for the acoustic model of a bundle: its phones, HMMs and filler words, which are read once.
    bundle: its path, or the name of an installed one. Grammars use the words of the lexicons added before. Any threads may use one builder at once; calls
    release the interpreter's lock. Its grammars outlive it. Raises InvalidArgument, NotFound (the bundle, or hmms.bin in it),
    BadFile, IoFailure, Unsupported (a model with unknown contexts), OutOfMemory; ImportError without libsenone_build.
    """

    def __init__(self, bundle: str | os.PathLike[str]) -> None:
        pointer = ctypes.c_void_p()
        self._lib = build_lib()
        self._bundle = find_model(os.fspath(bundle))
        check_build(self._lib.asr_builder_open(encoded("bundle", self._bundle), ctypes.byref(pointer)))
        assert pointer.value is not None
        self._handle = Handle(pointer.value, self._lib.asr_builder_close, "the builder was closed; open another")

    def add_lexicon(self, lexicon: str | bytes | os.PathLike[str] | None = None, name: str = "lexicon") -> None:
        """Adds the words of a dictionary in CMU Sphinx form: lines "word phone phone ...", variants as "word(2)".
        lexicon: its path, or its text: bytes, or a string with a line break in it; None: the file lexicon.dict in the bundle,
        which that of senone-model-en-us has. name: name of a text in messages. Known
        words get these pronunciations in addition; pronunciations with phones missing in the model are left out. Raises
        InvalidArgument, NotFound, BadFile (also if no pronunciation is left), IoFailure, OutOfMemory, InvalidState (closed);
        nothing has changed then.
        """
        if lexicon is None:
            lexicon = os.path.join(self._bundle, "lexicon.dict")
        is_text = isinstance(lexicon, bytes) or (isinstance(lexicon, str) and "\n" in lexicon)
        with self._handle as pointer:
            if is_text:
                data = utf8("lexicon", lexicon)
                status = self._lib.asr_builder_add_lexicon_text(pointer, data, len(data), encoded("name", name))
            else:
                path = encoded("lexicon", os.fspath(lexicon))
                status = self._lib.asr_builder_add_lexicon(pointer, path)
            check_build(status)

    def set_g2p(self, model: str | os.PathLike[str] | None, n_best: int = 1) -> None:
        """Lets a model of `senone g2p` pronounce words in no lexicon, up to n_best (1..256) ways each; None removes the model.
        `Grammar.guessed` lists them. Raises InvalidArgument, NotFound, BadFile, IoFailure, OutOfMemory, InvalidState (closed).
        """
        path = None if model is None else encoded("model", os.fspath(model))
        if not isinstance(n_best, int) or not 1 <= n_best <= 256:
            raise InvalidArgument(f"n_best is {n_best!r}; it must be a whole number of 1..256")
        with self._handle as pointer:
            check_build(self._lib.asr_builder_set_g2p(pointer, path, n_best))

    def set_class(self, class_name: str, phrases: Lines, **config: Unpack[GrammarConfig]) -> None:
        """Sets the phrases that grammars use as $class_name in place of a word: a text with one phrase per line, or a list.
        Phrases may have tags: "ada lovelace {7}". They are equally likely. Without phrases nothing can be said there.
        class_name: UTF-8 without blanks, control characters and any of $;=|()[]*+<>{}"/. config: see `GrammarConfig`, for these
        phrases; rule is ignored. Raises InvalidArgument, BadFile, Unsupported, OutOfMemory, InvalidState (closed); nothing has
        changed then.
        """
        self._change_class(self._lib.asr_builder_set_class, class_name, phrases, config)

    def add_to_class(self, class_name: str, phrases: Lines, **config: Unpack[GrammarConfig]) -> None:
        """Adds phrases to a class; takes time by their number, except for an occasional call. Otherwise as `set_class`."""
        self._change_class(self._lib.asr_builder_add_to_class, class_name, phrases, config)

    def build_again(self, grammar: Grammar) -> Grammar:
        """Rebuilds a grammar of this builder with the current classes, in the time that joining them takes.
        Its words and their pronunciations stay as when it was built. Raises InvalidArgument (no grammar, another builder's
        grammar, or one that was pickled), BadFile, Unsupported, OutOfMemory, InvalidState (closed).
        """
        if not isinstance(grammar, Grammar):
            raise InvalidArgument(f"grammar is of type {type(grammar).__name__}; it must be a senone.Grammar")
        result = ctypes.c_void_p()
        with self._handle as pointer:
            if grammar.n_classes == 0:
                return grammar
            if grammar._result is None:
                raise InvalidArgument("grammar was pickled; compile it again")
            with grammar._result as before:
                check_build(self._lib.asr_build_again(pointer, before, ctypes.byref(result)))
        return self._grammar(result)

    def jsgf(self, rules: str | bytes, **config: Unpack[GrammarConfig]) -> Grammar:
        """Compiles rules in JSGF. config: see `GrammarConfig`.
        Raises BadFile with line, column and cause, InvalidArgument (an unknown word, or a setting out of its range),
        Unsupported (beyond a limit), OutOfMemory, InvalidState (closed).
        """
        return self._compile(self._lib.asr_build_jsgf, "rules", rules, config)

    def srgs(self, rules: str | bytes, **config: Unpack[GrammarConfig]) -> Grammar:
        """Compiles rules in the XML form of SRGS 1.0 (GRXML), in UTF-8. config, raises: as `jsgf`."""
        return self._compile(self._lib.asr_build_srgs, "rules", rules, config)

    def phrases(self, lines: Lines, **config: Unpack[GrammarConfig]) -> Grammar:
        """Compiles a choice of phrases: one per line of a text, or the items of a list. Ignores empty lines and lines that
        begin with "#". config, raises: as `jsgf`."""
        return self._compile(self._lib.asr_build_phrases, "lines", joined("lines", lines), config)

    def words(self, lines: Lines, **config: Unpack[GrammarConfig]) -> Grammar:
        """Compiles words, spoken in any number and order: one per line of a text, or the items of a list. config, raises: as
        `jsgf`."""
        return self._compile(self._lib.asr_build_words, "lines", joined("lines", lines), config)

    def _compile(self, function: Any, argument: str, value: str | bytes, config: GrammarConfig) -> Grammar:
        data = utf8(argument, value)
        native = _native_config(config)
        result = ctypes.c_void_p()
        with self._handle as pointer:
            check_build(function(pointer, data, len(data), ctypes.byref(native), ctypes.byref(result)))
        return self._grammar(result)

    def _change_class(self, function: Any, name: str, phrases: Lines, config: GrammarConfig) -> None:
        data = utf8("phrases", joined("phrases", phrases))
        native = _native_config(config)
        with self._handle as pointer:
            check_build(function(pointer, encoded("class_name", name), data, len(data), ctypes.byref(native)))

    def _grammar(self, result: ctypes.c_void_p) -> Grammar:
        """Takes ownership of the result."""
        assert result.value is not None
        handle: Handle | None = Handle(result.value, self._lib.asr_build_free, "the grammar was closed")
        try:
            info = asr_build_info(size=ctypes.sizeof(asr_build_info))
            check_build(self._lib.asr_build_get_info(result, ctypes.byref(info)))
            grammar = Grammar(ctypes.string_at(info.bytes, info.n_bytes))
            grammar.unknown = tuple(text(info.unknown[i]) for i in range(info.n_unknown))
            grammar.guessed = tuple(text(info.guessed[i]) for i in range(info.n_guessed))
            grammar.n_states, grammar.n_arcs, grammar.n_words = info.n_states, info.n_arcs, info.n_words
            grammar.n_classes = info.n_classes
            if info.n_classes > 0:
                grammar._result, handle = handle, None
            return grammar
        finally:
            if handle is not None:
                handle.close()


def _native_config(config: GrammarConfig) -> asr_build_config:
    """Raises InvalidArgument for unknown settings and values that do not fit their field; the library checks the rest."""
    native = asr_build_config()
    build_lib().asr_build_config_default(ctypes.byref(native))
    for name, value in config.items():
        if name in ("name", "rule"):
            setattr(native, name, encoded(name, value))
        elif name == "unknown":
            native.unknown = choice(name, value, _UNKNOWN)
        elif name == "letter_case":
            native.letter_case = choice(name, value, _LETTER_CASE)
        elif name in GrammarConfig.__annotations__:
            setattr(native, name, real(name, value))
        else:
            raise InvalidArgument(f"a grammar has no setting {name}; it has {', '.join(sorted(GrammarConfig.__annotations__))}")
    return native
