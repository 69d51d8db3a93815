# SPDX-License-Identifier: Apache-2.0
"""Puts the library's messages, which name C functions, fields and constants, into the terms of this package."""

from __future__ import annotations

import re

_FUNCTIONS = {
    "asr_open": "Engine.stream",
    "asr_engine_load": "senone.Engine",
    "asr_speaker_new": "Engine.speaker",
    "asr_adapt": "Speaker.adapt",
    "asr_speaker_get_warp": "Speaker.warp",
    "asr_speaker_set_warp": "Speaker.warp",
    "asr_speaker_get_transform": "Speaker.transform",
    "asr_speaker_get_mean_transform": "Speaker.mean_transform",
    "asr_engine_add_graph_bytes": "Engine.add_graph",
    "asr_stream_get_state": "Stream.state",
    "asr_stream_set_state": "Stream.set_state",
    "asr_builder_open": "senone.GrammarBuilder",
    "asr_builder_add_lexicon_text": "GrammarBuilder.add_lexicon",
    "asr_build_again": "GrammarBuilder.build_again",
}
_OWNERS = {"engine": "Engine", "speaker": "Speaker", "builder": "GrammarBuilder", "build": "GrammarBuilder"}
_ARGUMENTS = {
    "sample_rate_hz": "rate",
    "weights": "models",
    "rule": "fusion",
}
_CONSTANTS = {"DROP_UNKNOWN": "drop", "REFUSE_UNKNOWN": "refuse"}

_BEGIN = re.compile(r"^asr_\w+: ")  # the function that failed: the traceback has the caller
_FIELD = re.compile(r"\basr_(\w+)\.(\w+)")
_SETTING = re.compile(r"\bset its field (\w+)")
_FUNCTION = re.compile(r"\basr_\w+")
_OPTION = re.compile(r" \((?:no )?--[^)]*\)")  # of the command, beside the field
_CONSTANT = re.compile(
    r"\bASR_(?:CMN|ENDPOINT|VAD|INPUT|ADAPTATION|FUSION|AUDIO|SPEAKER|EVENT|FLAG|LOG|BUILD|WANTS)_(\w+)|\bASR_(\w+)"
)


def in_python(message: str) -> str:
    """Returns a message of the library with the names that callers of this package know."""
    if "asr_" not in message and "ASR_" not in message and "NULL" not in message:
        return message
    message = _OPTION.sub("", _SETTING.sub(r"set \1", _BEGIN.sub("", message)))
    message = re.sub(r"^n_warps is ", "vtln is ", message)
    message = _FIELD.sub(_argument, message)
    message = _CONSTANT.sub(_value, message)
    message = _FUNCTION.sub(_function, message)
    return re.sub(r"\bNULL\b", "None", message)


def _argument(match: re.Match[str]) -> str:
    struct, field = match[1], match[2]
    return _ARGUMENTS.get(field, field) if struct in ("fusion", "stream_config") else field


def _value(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    return f'"{_CONSTANTS.get(name, name.lower())}"'


def _function(match: re.Match[str]) -> str:
    name = match[0]
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    first, _, rest = name[len("asr_") :].partition("_")
    if first in _OWNERS and rest:
        return rest if rest in ("config", "info") else f"{_OWNERS[first]}.{rest}"
    whole = name[len("asr_") :]
    if whole in ("fusion", "status", "cmn", "fusion_rule", "stream_config", "stream"):
        return whole.replace("stream_config", "config")
    return f"Stream.{whole}"
