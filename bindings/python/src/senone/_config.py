# SPDX-License-Identifier: Apache-2.0
"""Converts the settings of a stream, given as keyword arguments, to an asr_stream_config."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping
from typing import Literal, TypedDict, Union

from ._errors import InvalidArgument
from ._library import asr_fusion, asr_stream_config, lib
from ._numbers import real
from ._speaker import Speaker

Input = Literal["float", "int16", "ulaw", "alaw", "features", "loglikes"]
Output = Literal["words", "features", "loglikes"]
Cmn = Literal["model", "live", "batch", "none", "measure"]
RowsMemory = Literal["host", "cuda", "opencl"]
Endpoint = Literal["off", "command", "dictation", "captions"]
Vad = Literal["on", "off"]
Adaptation = Literal["on_call", "between_utterances", "off"]
Fusion = Literal["sum", "log_sum", "max", "follow", "select"]

_INPUTS = {"int16": 0, "float": 1, "features": 2, "loglikes": 3, "ulaw": 4, "alaw": 5}
_OUTPUTS = {"words": 0, "features": 1, "loglikes": 2}
_CMNS = {"model": 0, "live": 1, "batch": 2, "none": 3, "measure": 4}
_VADS = {"off": 1, "on": 2}
_ADAPTATIONS = {"on_call": 0, "between_utterances": 1, "off": 2}
_MEMORIES = {"host": 0, "cuda": 1, "opencl": 2}
_FUSIONS = {"sum": 0, "log_sum": 1, "max": 2, "follow": 3, "select": 4}
_ENDPOINTS = {"off": 0, "command": 1, "dictation": 2, "captions": 3}


class RecognizeConfig(TypedDict, total=False):
    """Keyword arguments of `Engine.recognize` and `Engine.stream`. Missing ones have the library's defaults.
    input: type of the fed data: "float" (default; audio of any type below), "int16" (audio, 16 bits kept unchanged), "ulaw" or "alaw"
        (bytes of G.711), "features"
        (rows [T, n_feature_dims], after all transforms) or "loglikes" (rows [T, n_states], natural log-likelihoods).
    n_channels: channels of the fed data, 1..64; default 1. channel: the one to recognise, from 0; default: their mean.
    cmn: cepstral mean normalisation: "model" (default), "live", "batch", "none". "live" gives partial events while audio is
        fed; "model" means "live" in a stream with partial_interval_ms or endpoint. "measure": no words; `Stream.state` is then
        the mean of all audio, with which a later stream with "batch" begins, which so keeps no cepstra.
    vtln_warp: warp of the frequency axis, 0.8..1.25; default 1, none.
    beam: width of the search (natural log, > 0). acoustic_scale: factor on log-likelihoods, > 0. word_insertion_cost: added to
        the cost of every word. max_active: most tokens kept per frame. Default: the graph's.
    blank_penalty, prior_scale: for input "loglikes" of a model of tokens, what is subtracted from the blank, and the share of
        the tokens' log priors that is. Default: the bundle's. blank_skip: probability of the blank, such as 0.999, beyond which
        only the first of several frames is searched; default 0: all are. rows_memory: where rows of "loglikes" are: "host"
        (default), or "cuda" or "opencl": tensors in memory of the engine's device (`Engine.memory`), which are not copied. Not with
        blank_skip, and with an endpoint only if there is a lattice_beam.
    min_active: fewest tokens kept per frame, if there are as many; default 200.
    partial_interval_ms: audio time between partial events; 0 (default): none.
    max_backlog_ms: feed blocks while the unprocessed audio is longer; 0: never; default 30000.
    max_utterance_s: greatest length of an utterance in seconds, 1..10000000; 0 (default): 86400, a day. `feed` raises
        InvalidState beyond it, and the results of what was fed before follow. No effect with an endpoint.
    reject_threshold: FINAL events with a higher out_of_grammar have Flag.REJECTED, 0..1. 0 (default): the graph's, 0.5 for
        grammars and off for language models. Below 0: off, there is no score.
    lattice_beam: > 0: FINAL events carry a lattice of this width (natural log; 6..10 is usual) and confidences; default 0.
    n_best: most alternatives in FINAL events, 0..10000; default 1; more needs a lattice_beam.
    graph: the name of the engine's graph to search; default "", the bundle's own.
    speaker: who speaks, made by `Engine.speaker`. The features are transformed for the voice, and the speech counts for
        `Speaker.adapt`. Not with input "loglikes". Default None, an unknown speaker.
    models: the acoustic models to use, names of `Engine.add_model`, or a dict of names and weights (0 leaves a model out); "" is
        the bundle's own. Default None: that one alone. Not with a speaker nor with input "loglikes".
    fusion: rule that makes one log-likelihood of theirs. "sum" (default): a weighted sum. "log_sum": the logarithm of the
        weighted sum of likelihoods. "max": the largest weighted likelihood. "follow": as "log_sum", with weights that follow
        the likelier models. "select": as "log_sum" until the likeliest model is known, then that one alone.
    follow_ms: time constant of "follow", 10..600000; default 1000. select_ms: speech that "select" decides after, 10..600000;
        default 1000.
    """

    input: Input
    n_channels: int
    channel: int
    cmn: Cmn
    vtln_warp: float
    beam: float
    acoustic_scale: float
    word_insertion_cost: float
    blank_penalty: float
    prior_scale: float
    blank_skip: float
    rows_memory: RowsMemory
    max_active: int
    min_active: int
    partial_interval_ms: int
    max_backlog_ms: int
    max_utterance_s: int
    reject_threshold: float
    lattice_beam: float
    n_best: int
    graph: str
    speaker: Union[Speaker, None]
    models: Union[Iterable[str], Mapping[str, float], None]
    fusion: Fusion
    follow_ms: int
    select_ms: int


class StreamConfig(RecognizeConfig, total=False):
    """Keyword arguments of `Engine.stream`: those of `RecognizeConfig`, and
    rate: sample rate of the fed audio in Hz, 1000..768000; default: the model's.
    endpoint: "off" (default): the stream is one utterance. "command", "dictation" or "captions": the stream is split into the
        utterances found, each with its SPEECH_START, ENDPOINT and FINAL. cmn "batch" is impossible then.
    silence_at_end_ms, silence_after_words_ms, silence_without_words_ms: milliseconds of silence after which an utterance ends.
        They count where the grammar or sentence may end, after any words, without words. 100..600000; default: the endpoint's.
    longest_utterance_ms: greatest length of an utterance; 100..600000; default: the endpoint's.
    vad: with an endpoint, whether a voice activity detector limits decoding to speech: "on" (default for audio) or "off".
    pre_roll_ms: audio before the first sound of an utterance that belongs to it; 20..5000; default 300.
    early_endpoint_ms: with an endpoint, silence after words until PROBABLY_FINISHED, which SPEECH_RESUMED takes back;
        100..600000; default 0: never.
    no_input_ms: with an endpoint, audio without words after which NO_INPUT comes; 100..600000; default 0: never.
    idle_ms: with an endpoint, time by the clock without a feed after which the utterance ends; 100..600000; default 0: never.
    output: "words" (default), or rows for a decoder of your own: "features" [T, n_feature_dims] or "loglikes" [T, n_states], in
        ROWS events. The engine then needs no graph.
    allow_unknown_boosts: `Stream.boost` leaves out phrases with words that the graph lacks, and the logger warns of them; default
        False: it raises NotFound.
    adaptation: when the speaker's transform is estimated: "on_call" (default: by `Speaker.adapt`), or also
        "between_utterances": after a FINAL of this stream, once there is 1 s of words and then with every fifth more. The next
        utterance waits for it. Needs a speaker and an endpoint. "off": as "on_call", but this stream's speech is not used.
    """

    rate: int
    endpoint: Endpoint
    silence_at_end_ms: int
    silence_after_words_ms: int
    silence_without_words_ms: int
    longest_utterance_ms: int
    vad: Vad
    pre_roll_ms: int
    early_endpoint_ms: int
    no_input_ms: int
    idle_ms: int
    allow_unknown_boosts: bool
    output: Output
    adaptation: Adaptation


_ENDPOINT_TIMES = (
    "silence_at_end_ms",
    "silence_after_words_ms",
    "silence_without_words_ms",
    "longest_utterance_ms",
    "early_endpoint_ms",
    "no_input_ms",
    "idle_ms",
)
_FUSION_TIMES = ("follow_ms", "select_ms")
_NAMES = frozenset(RecognizeConfig.__annotations__) | {"rate", "pre_roll_ms"} | frozenset(_ENDPOINT_TIMES)
_FIELDS = {"rate": "sample_rate_hz"}
_INTEGERS = {
    "rate": (0, 2**32 - 1),
    "n_channels": (0, 2**32 - 1),
    "channel": (-(2**31), 2**31 - 1),
    "max_active": (0, 2**32 - 1),
    "min_active": (0, 2**32 - 1),
    "partial_interval_ms": (0, 2**32 - 1),
    "max_backlog_ms": (0, 2**32 - 1),
    "max_utterance_s": (0, 2**32 - 1),
    "n_best": (0, 2**32 - 1),
    "pre_roll_ms": (0, 2**32 - 1),
    **dict.fromkeys(_ENDPOINT_TIMES, (0, 2**32 - 1)),
    **dict.fromkeys(_FUSION_TIMES, (0, 2**32 - 1)),
}


def native_config(config: StreamConfig) -> asr_stream_config:
    """Raises InvalidArgument for unknown settings and values that do not fit their field; the library checks the rest. The
    caller sets the speaker, whose pointer is lent for the call."""
    native = asr_stream_config()
    lib.asr_stream_config_default(ctypes.byref(native))
    native.input = _INPUTS["float"]
    for name, value in config.items():
        if name == "input":
            native.input = choice(name, value, _INPUTS)
        elif name == "output":
            native.output = choice(name, value, _OUTPUTS)
        elif name == "cmn":
            native.cmn = choice(name, value, _CMNS)
        elif name == "rows_memory":
            native.rows_memory = choice(name, value, _MEMORIES)
        elif name == "endpoint":
            native.endpoint = choice(name, value, _ENDPOINTS)
        elif name == "vad":
            native.vad = choice(name, value, _VADS)
        elif name == "adaptation":
            native.adaptation = choice(name, value, _ADAPTATIONS)
        elif name == "speaker":
            if not isinstance(value, (Speaker, type(None))):
                raise InvalidArgument(f"speaker is of type {type(value).__name__}; it must be a senone.Speaker")
        elif name in ("models", "fusion", *_FUSION_TIMES):
            continue
        elif name == "allow_unknown_boosts":
            native.allow_unknown_boosts = flag(name, value)
        elif name == "graph":
            native.graph = encoded(name, value)
        elif name in _NAMES:
            setattr(native, _FIELDS.get(name, name), _number(name, value))
        else:
            known = ", ".join(sorted(_NAMES | {"endpoint", "output", "vad", "adaptation", "allow_unknown_boosts"}))
            raise InvalidArgument(f"a stream has no setting {name}; it has {known}")
    _set_fusion(native, config)
    return native


def _set_fusion(native: asr_stream_config, config: StreamConfig) -> None:
    """Points to the models of the config, if it has any; ctypes keeps the objects."""
    fusion = asr_fusion()
    lib.asr_fusion_default(ctypes.byref(fusion))
    fusion.rule = choice("fusion", config.get("fusion", "sum"), _FUSIONS)
    for name in _FUSION_TIMES:
        setattr(fusion, name, _number(name, config.get(name, 0)))
    models = config.get("models")
    if models is None:
        return
    if isinstance(models, str) or not isinstance(models, Iterable):
        raise InvalidArgument(f"models is {models!r}; it must be names, or a dict of names and weights")
    names = [encoded("models", name) for name in models]
    weights = [real("models", weight) for weight in models.values()] if isinstance(models, Mapping) else [1.0] * len(names)
    fusion.n_models = len(names)
    fusion.models = (ctypes.c_char_p * len(names))(*names)
    fusion.weights = (ctypes.c_float * len(names))(*weights)
    native.fusion = ctypes.pointer(fusion)


def encoded(name: str, value: object) -> bytes | None:
    """Encodes a string argument for the library; None stays. Raises InvalidArgument."""
    if value is None:
        return None
    if not isinstance(value, str) or "\0" in value:
        raise InvalidArgument(f"{name} is {value!r}; it must be a string without NUL")
    return os.fsencode(value)


def flag(name: str, value: object) -> int:
    """Returns 0 or 1 for a bool. Raises InvalidArgument."""
    if not isinstance(value, bool):
        raise InvalidArgument(f"{name} is {value!r}; it must be True or False")
    return int(value)


def choice(name: str, value: object, choices: dict[str, int]) -> int:
    """Returns the number of one of the choices. Raises InvalidArgument."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidArgument(f"{name} is {value!r}; it must be one of {', '.join(choices)}")
    return choices[value]


def _number(name: str, value: object) -> Union[int, float]:
    if name not in _INTEGERS:
        return real(name, value)
    try:
        whole = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"{name} is {value!r}; it must be a number") from None
    lowest, highest = _INTEGERS[name]
    if whole != value or not lowest <= whole <= highest:
        raise InvalidArgument(f"{name} is {value!r}; it must be a whole number of {lowest}..{highest}")
    return int(whole)
