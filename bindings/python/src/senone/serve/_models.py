# SPDX-License-Identifier: Apache-2.0
"""The bundles that are served: engines on every device, and the grammars that clients send."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import senone
from senone._grammar import GrammarBuilder

from ._log import log_error
from ._options import Bundle, Options
from ._refused import Refused

_KEPT_GRAMMARS = 64  # compiled grammars that no stream uses, for clients that come again
MAX_PHRASE = 1000  # characters
UNKNOWN = "[unk]"  # what Vosk's grammars call other speech


class _Graph:
    """A compiled grammar and the engines that have it."""

    def __init__(self, name: str, grammar: bytes) -> None:
        self.name = name
        self.grammar = grammar
        self.n_users = 0
        self.engines: set[int] = set()  # by index


class Lease:
    """One stream's place on an engine, with the graph that it searches; `release` gives it back."""

    def __init__(self, model: Model, index: int, graph: _Graph | None) -> None:
        self.engine = model.engines[index]
        self.graph = graph.name if graph else ""
        self._model: Model | None = model
        self._index = index
        self._graph = graph

    def release(self) -> None:
        """May be called again."""
        model, self._model = self._model, None
        if model is not None:
            model._release(self._index, self._graph)

    def lose(self) -> None:
        """Says that the engine has lost its device, so that no other stream goes there."""
        if self._model is not None:
            self._model._lose(self._index)


class Model:
    """A bundle, loaded on each device. Loading, `grammar` and `lease` take time and are called on other threads than the
    loop's, any of them at once. A model that was replaced lives until its last stream ends."""

    def __init__(self, bundle: Bundle, options: Options) -> None:
        self.name = bundle.name
        self.language = bundle.language
        self.engines = [
            senone.Engine(
                bundle.path,
                device=device,
                fallback=options.fallback,
                max_lanes=options.lanes,
                n_threads=options.threads,
                max_callback_threads=2,  # they take turns in the interpreter anyway
            )
            for device in options.devices
        ]
        self.rate = int(self.engines[0].info.sample_rate_hz)
        self.is_grammar = _rejects(bundle.path)
        self._max_phrases = options.limits.phrases
        self._lock = threading.Lock()
        self._n_streams = [0] * len(self.engines)
        self._lost: set[int] = set()  # engines, by index
        self._graphs: OrderedDict[str, _Graph] = OrderedDict()
        self._builder: GrammarBuilder | None = None
        if bundle.lexicon is not None:
            self._builder = GrammarBuilder(bundle.path)
            self._builder.add_lexicon(bundle.lexicon)
            if bundle.g2p is not None:
                self._builder.set_g2p(bundle.g2p)

    def lease(self, phrases: list[str] | None = None, srgs: str | None = None) -> Lease:
        """Chooses the engine with the fewest streams of those that have their device. phrases, srgs: the grammar to search, any
        number of the phrases in any order, or SRGS; None: the bundle's graph. Raises Refused, senone.Error."""
        graph = None
        if phrases is not None or srgs is not None:
            graph = self._graph(srgs if srgs is not None else _srgs(self._checked(phrases or [])))
        with self._lock:
            index = min(range(len(self.engines)), key=lambda index: (index in self._lost, self._n_streams[index]))
            is_lost = index in self._lost
            self._n_streams[index] += 1
        lease = Lease(self, index, graph)
        try:
            if is_lost:
                raise Refused(503, "device", f"no device is left for the model {self.name}; try again later")
            if graph is not None:
                self._add_graph(graph, index)
        except BaseException as error:
            if isinstance(error, senone.DeviceLost):
                lease.lose()
            lease.release()
            raise
        return lease

    def streams(self) -> list[int]:
        """Returns the number of streams of each engine."""
        return list(self._n_streams)

    def lost(self) -> list[bool]:
        """Returns whether each engine has lost its device, which is known once a stream has failed there."""
        return [index in self._lost for index in range(len(self.engines))]

    def waiting_s(self) -> list[float]:
        """Returns the audio that each engine has not searched yet."""
        return [engine.stats().waiting_s for engine in self.engines]

    def close(self) -> None:
        """Streams that are open go on."""
        for engine in self.engines:
            engine.close()

    def _graph(self, text: str) -> _Graph:
        """Returns the compiled grammar, with one more user."""
        if self._builder is None:
            raise Refused(400, "grammar", f"the model {self.name} is served without --lexicon, which grammars need")
        key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        with self._lock:
            graph = self._graphs.get(key)
            if graph is not None:
                graph.n_users += 1
                self._graphs.move_to_end(key)
                return graph
        grammar = self._builder.srgs(text, unknown="drop")
        with self._lock:
            graph = self._graphs.setdefault(key, _Graph(f"client:{key}", grammar))
            graph.n_users += 1
            self._forget_graphs()
        return graph

    def _add_graph(self, graph: _Graph, index: int) -> None:
        with self._lock:
            if index in graph.engines:
                return
        self.engines[index].add_graph(graph.name, graph.grammar)
        with self._lock:
            graph.engines.add(index)

    def _release(self, index: int, graph: _Graph | None) -> None:
        with self._lock:
            self._n_streams[index] -= 1
            if graph is not None:
                graph.n_users -= 1

    def _lose(self, index: int) -> None:
        with self._lock:
            if index in self._lost:
                return
            self._lost.add(index)
        log_error("an engine has lost its device", model=self.name, engine=index, device=self.engines[index].info.device_id)

    def _forget_graphs(self) -> None:
        """Removes the unused grammars beyond `_KEPT_GRAMMARS`, the oldest first. Called with the lock."""
        unused = [key for key, graph in self._graphs.items() if graph.n_users == 0]
        for key in unused[: max(0, len(unused) - _KEPT_GRAMMARS)]:
            graph = self._graphs.pop(key)
            for index in graph.engines:
                self.engines[index].remove_graph(graph.name)

    def _checked(self, phrases: list[str]) -> list[str]:
        if len(phrases) > self._max_phrases:
            raise Refused(400, "grammar", f"{len(phrases)} phrases are more than the {self._max_phrases} of a grammar")
        for phrase in phrases:
            if len(phrase) > MAX_PHRASE:
                raise Refused(400, "grammar", f"a phrase has over {MAX_PHRASE} characters")
        kept = [phrase for phrase in phrases if phrase != UNKNOWN and phrase.strip()]
        if not kept:
            raise Refused(400, "grammar", "the grammar has no phrases")
        return kept


def _srgs(phrases: list[str]) -> str:
    """Returns the grammar of any number of phrases in any order; its text cannot end an element, whatever the phrases are."""
    items = "".join(f"<item>{escape(' '.join(_plain(phrase).split()))}</item>" for phrase in phrases)
    return (
        '<grammar xmlns="http://www.w3.org/2001/06/grammar" version="1.0" mode="voice" xml:lang="en" root="phrases">'
        f'<rule id="phrases" scope="public"><item repeat="1-"><one-of>{items}</one-of></item></rule></grammar>'
    )


def _plain(phrase: str) -> str:
    """Blanks out control characters, which XML cannot hold, and quotes, which join words in SRGS."""
    return "".join(" " if c == '"' or ord(c) < 32 or 0xD800 <= ord(c) < 0xE000 or ord(c) in (0xFFFE, 0xFFFF) else c for c in phrase)


def _rejects(path: str) -> bool:
    """Returns True if the bundle's graph is a grammar, which rejects other speech, rather than a language model."""
    try:
        decoding: Any = json.loads((Path(path) / "senone.json").read_text(encoding="utf-8"))["decoding"]
        return bool(decoding.get("reject_threshold", 0) > 0)
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False
