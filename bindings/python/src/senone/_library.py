# SPDX-License-Identifier: Apache-2.0
"""Declares the functions and structs of asr.h for ctypes, in the header's order; asr.h is their manual.
A test compares this file with the header: every function with the number of its parameters, every struct with its size and
fields. ctypes releases the interpreter's lock during calls, except in functions that read events.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_float, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

EventFunction = CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)
LogFunction = CFUNCTYPE(None, c_int, c_char_p, c_void_p)


class asr_device(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("id", c_char_p),
        ("name", c_char_p),
        ("reason", c_char_p),
        ("memory_bytes", c_uint64),
        ("score", c_int32),
        ("n_cores", c_uint32),
    ]


class asr_engine_config(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("device", c_char_p),
        ("max_lanes", c_uint32),
        ("window_frames", c_uint32),
        ("n_threads", c_uint32),
        ("reserved", c_uint32),
        ("fallback", c_char_p),
        ("device_timeout_ms", c_uint32),
        ("search_device", c_char_p),
        ("model_bits", c_uint32),
        ("n_best_gaussians", c_uint32),
        ("cluster_share", c_float),
        ("max_callback_threads", c_uint32),
    ]


class asr_engine_info(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("device_id", c_char_p),
        ("device_name", c_char_p),
        ("sample_rate_hz", c_double),
        ("frame_shift_ms", c_double),
        ("n_feature_dims", c_uint32),
        ("n_states", c_uint32),
        ("n_words", c_uint32),
        ("n_graph_states", c_uint32),
        ("n_graph_arcs", c_uint64),
        ("search_device_id", c_char_p),
        ("search_device_name", c_char_p),
        ("is_batch", c_uint32),
        ("n_measurements", c_uint32),
    ]


class asr_engine_stats(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n_streams", c_uint32),
        ("reserved", c_uint32),
        ("fed_s", c_double),
        ("searched_s", c_double),
        ("waiting_s", c_double),
        ("busy_s", c_double),
        ("n_steps", c_uint64),
        ("n_lanes", c_uint64),
    ]


class asr_stream_stats(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("fed_s", c_double),
        ("searched_s", c_double),
        ("waiting_s", c_double),
    ]


class asr_fusion(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("rule", c_int),
        ("n_models", c_uint32),
        ("models", POINTER(c_char_p)),
        ("weights", POINTER(c_float)),
        ("follow_ms", c_uint32),
        ("select_ms", c_uint32),
    ]


class asr_stream_config(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("input", c_int),
        ("sample_rate_hz", c_uint32),
        ("n_channels", c_uint32),
        ("channel", c_int32),
        ("cmn", c_int),
        ("vtln_warp", c_float),
        ("beam", c_float),
        ("acoustic_scale", c_float),
        ("word_insertion_cost", c_float),
        ("max_active", c_uint32),
        ("min_active", c_uint32),
        ("partial_interval_ms", c_uint32),
        ("max_backlog_ms", c_uint32),
        ("callback", EventFunction),
        ("user_data", c_void_p),
        ("lattice_beam", c_float),
        ("n_best", c_uint32),
        ("endpoint", c_int),
        ("silence_at_end_ms", c_uint32),
        ("silence_after_words_ms", c_uint32),
        ("silence_without_words_ms", c_uint32),
        ("longest_utterance_ms", c_uint32),
        ("reserved", c_uint32),
        ("vad", c_int),
        ("pre_roll_ms", c_uint32),
        ("graph", c_char_p),
        ("early_endpoint_ms", c_uint32),
        ("reject_threshold", c_float),
        ("speaker", c_void_p),
        ("adaptation", c_int),
        ("reserved2", c_uint32),
        ("fusion", POINTER(asr_fusion)),
        ("max_utterance_s", c_uint32),
        ("reserved3", c_uint32),
        ("no_input_ms", c_uint32),
        ("idle_ms", c_uint32),
        ("blank_penalty", c_float),
        ("prior_scale", c_float),
        ("blank_skip", c_float),
        ("allow_unknown_boosts", c_uint32),
        ("output", c_int),
        ("rows_memory", c_int),
    ]


class asr_device_rows(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("memory", c_int),
        ("type", c_int),
        ("rows", c_void_p),
        ("offset", c_uint64),
        ("stride", c_uint64),
        ("event", c_void_p),
        ("stream", c_void_p),
        ("release", c_void_p),
        ("user", c_void_p),
    ]


class asr_engine_memory(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("memory", c_int),
        ("ordinal", c_uint32),
        ("uuid", ctypes.c_ubyte * 16),
        ("context", c_void_p),
        ("device", c_void_p),
    ]


class asr_word(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("text", c_char_p),
        ("start_s", c_double),
        ("end_s", c_double),
        ("confidence", c_float),
        ("word_id", c_uint32),
        ("rule", c_char_p),
        ("tags", c_char_p),
    ]


class asr_lattice(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n_states", c_uint32),
        ("n_frames", c_uint32),
        ("n_arcs", c_uint64),
        ("beam", c_double),
        ("acoustic_scale", c_double),
        ("state_time_s", c_void_p),
        ("end_graph_cost", c_void_p),
        ("end_acoustic_cost", c_void_p),
        ("end_posterior", c_void_p),
        ("arc_from", c_void_p),
        ("arc_to", c_void_p),
        ("arc_word_id", c_void_p),
        ("arc_word", POINTER(c_char_p)),
        ("arc_graph_cost", c_void_p),
        ("arc_acoustic_cost", c_void_p),
        ("arc_posterior", c_void_p),
        ("arc_start_s", c_void_p),
        ("arc_end_s", c_void_p),
        ("alignment_begin", c_void_p),
        ("transition_id", c_void_p),
    ]


class asr_rows(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("values", c_void_p),
        ("n_rows", c_uint32),
        ("n_values", c_uint32),
        ("first_frame", c_uint64),
    ]


class asr_audio_config(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("format", c_int),
        ("sample_rate_hz", c_uint32),
        ("n_channels", c_uint32),
        ("channel", c_int32),
    ]


class asr_audio_info(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("format_name", c_char_p),
        ("is_known", c_uint32),
        ("has_header", c_uint32),
        ("sample_rate_hz", c_uint32),
        ("n_channels", c_uint32),
        ("n_out_channels", c_uint32),
        ("n_bits", c_uint32),
        ("is_float", c_uint32),
        ("is_other", c_uint32),
        ("n_missing_bytes", c_uint64),
    ]


# name: (result, parameters)
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "asr_status_text": (c_char_p, [c_int]),
    "asr_last_error": (c_char_p, []),
    "asr_version": (c_char_p, []),
    "asr_set_log": (None, [LogFunction, c_int, c_void_p]),
    "asr_devices": (c_int, [POINTER(c_void_p)]),
    "asr_device_list_count": (c_size_t, [c_void_p]),
    "asr_device_list_get": (c_int, [c_void_p, c_size_t, POINTER(asr_device)]),
    "asr_device_list_free": (None, [c_void_p]),
    "asr_engine_config_default": (None, [POINTER(asr_engine_config)]),
    "asr_engine_load": (c_int, [c_char_p, POINTER(asr_engine_config), POINTER(c_void_p)]),
    "asr_engine_get_info": (c_int, [c_void_p, POINTER(asr_engine_info)]),
    "asr_engine_get_stats": (c_int, [c_void_p, POINTER(asr_engine_stats)]),
    "asr_engine_add_graph": (c_int, [c_void_p, c_char_p, c_char_p]),
    "asr_engine_add_graph_bytes": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t]),
    "asr_engine_remove_graph": (c_int, [c_void_p, c_char_p]),
    "asr_engine_boost": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t, c_float, c_uint32]),
    "asr_engine_add_model": (c_int, [c_void_p, c_char_p, c_char_p]),
    "asr_engine_remove_model": (c_int, [c_void_p, c_char_p]),
    "asr_engine_close": (None, [c_void_p]),
    "asr_speaker_new": (c_int, [c_void_p, POINTER(c_void_p)]),
    "asr_adapt": (c_int, [c_void_p]),
    "asr_speaker_set_methods": (c_int, [c_void_p, c_uint32, c_uint32]),
    "asr_speaker_get_warp": (c_int, [c_void_p, POINTER(c_float)]),
    "asr_speaker_set_warp": (c_int, [c_void_p, c_float]),
    "asr_speaker_get_transform": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(c_size_t)]),
    "asr_speaker_set_transform": (c_int, [c_void_p, c_void_p, c_size_t]),
    "asr_speaker_get_mean_transform": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(c_size_t)]),
    "asr_speaker_set_mean_transform": (c_int, [c_void_p, c_void_p, c_size_t]),
    "asr_speaker_free": (None, [c_void_p]),
    "asr_fusion_default": (None, [POINTER(asr_fusion)]),
    "asr_stream_config_default": (None, [POINTER(asr_stream_config)]),
    "asr_open": (c_int, [c_void_p, POINTER(asr_stream_config), POINTER(c_void_p)]),
    "asr_stream_get_state": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(c_size_t)]),
    "asr_stream_set_state": (c_int, [c_void_p, c_void_p, c_size_t]),
    "asr_stream_get_stats": (c_int, [c_void_p, POINTER(asr_stream_stats)]),
    "asr_feed": (c_int, [c_void_p, c_void_p, c_size_t]),
    "asr_device_rows_default": (None, [POINTER(asr_device_rows)]),
    "asr_feed_device": (c_int, [c_void_p, POINTER(asr_device_rows), c_size_t]),
    "asr_engine_get_memory": (c_int, [c_void_p, POINTER(asr_engine_memory)]),
    "asr_end_utterance": (c_int, [c_void_p]),
    "asr_try_feed": (c_int, [c_void_p, c_void_p, c_size_t]),
    "asr_cancel_utterance": (c_int, [c_void_p]),
    "asr_reset": (c_int, [c_void_p]),
    "asr_set_graph": (c_int, [c_void_p, c_char_p]),
    "asr_boost": (c_int, [c_void_p, c_char_p, c_size_t, c_float]),
    "asr_finish": (c_int, [c_void_p]),
    "asr_cancel": (c_int, [c_void_p]),
    "asr_result": (c_int, [c_void_p, POINTER(c_void_p)]),
    "asr_wait": (c_int, [c_void_p, c_int32]),
    "asr_close": (None, [c_void_p]),
    "asr_event_get_kind": (c_int, [c_void_p]),
    "asr_event_status": (c_int, [c_void_p]),
    "asr_event_flags": (c_uint32, [c_void_p]),
    "asr_event_time_s": (c_double, [c_void_p]),
    "asr_event_text": (c_char_p, [c_void_p]),
    "asr_event_n_alternatives": (c_size_t, [c_void_p]),
    "asr_event_alternative_text": (c_char_p, [c_void_p, c_size_t]),
    "asr_event_alternative_costs": (c_int, [c_void_p, c_size_t, POINTER(c_double), POINTER(c_double)]),
    "asr_event_rule": (c_char_p, [c_void_p, c_size_t]),
    "asr_event_tags": (c_char_p, [c_void_p, c_size_t]),
    "asr_event_n_words": (c_size_t, [c_void_p, c_size_t]),
    "asr_event_out_of_grammar": (c_float, [c_void_p]),
    "asr_event_n_stable_words": (c_size_t, [c_void_p]),
    "asr_event_word": (c_int, [c_void_p, c_size_t, c_size_t, POINTER(asr_word)]),
    "asr_event_lattice": (c_int, [c_void_p, POINTER(asr_lattice)]),
    "asr_event_rows": (c_int, [c_void_p, POINTER(asr_rows)]),
    "asr_event_free": (None, [c_void_p]),
    "asr_audio_config_default": (None, [POINTER(asr_audio_config)]),
    "asr_audio_open": (c_int, [POINTER(asr_audio_config), POINTER(c_void_p)]),
    "asr_audio_push": (c_int, [c_void_p, c_char_p, c_size_t]),
    "asr_audio_finish": (c_int, [c_void_p]),
    "asr_audio_read": (c_int, [c_void_p, POINTER(c_float), c_size_t, POINTER(c_size_t)]),
    "asr_audio_get_info": (c_int, [c_void_p, POINTER(asr_audio_info)]),
    "asr_audio_warning": (c_char_p, [c_void_p]),
    "asr_audio_close": (None, [c_void_p]),
}

# Functions that only read or free an event keep the interpreter's lock: with many streams, releasing and reacquiring it
# would take longer than the call.
READING = ("asr_event_",)

SONAME = "libsenone.so.0"


def library_path(soname: str) -> str:
    """Returns the path of the library: SENONE_LIBRARY, or its sibling `soname`; else the wheel's, else the system's."""
    named = os.environ.get("SENONE_LIBRARY")
    if named:
        return named if soname == SONAME else str(Path(named).with_name(soname))
    inside = Path(__file__).parent / "lib" / soname
    return str(inside) if inside.exists() else soname


def declare(functions: dict[str, tuple[Any, list[Any]]], path: str, reading: tuple[str, ...] = ()) -> ctypes.CDLL:
    """Loads a library with these functions. Functions whose names begin with one of `reading` keep the interpreter's lock.
    Raises OSError; ImportError if the library lacks a function."""
    library, locked = ctypes.CDLL(path), ctypes.PyDLL(path)
    for name, (result, parameters) in functions.items():
        try:
            function = getattr(locked if name.startswith(reading) else library, name)
        except AttributeError:
            raise ImportError(f"senone: {path} has no {name}; this package needs a newer library") from None
        function.restype, function.argtypes = result, parameters
        setattr(library, name, function)
    return library


def _load() -> ctypes.CDLL:
    path = library_path(SONAME)
    try:
        return declare(FUNCTIONS, path, READING)
    except OSError as error:
        raise ImportError(
            f"senone: {path} cannot be loaded: {error}; install the package with pip, or set SENONE_LIBRARY to {SONAME}"
        ) from None


lib = _load()


def text(value: bytes | None) -> str:
    """Decodes a string of the library, which is UTF-8 except perhaps for a model's words."""
    return (value or b"").decode("utf-8", "replace")


def version() -> str:
    """Returns the version of the loaded library, such as "0.2.0", or "0.3.0-dev" between releases."""
    return text(lib.asr_version())
