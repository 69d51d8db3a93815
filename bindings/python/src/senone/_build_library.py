# SPDX-License-Identifier: Apache-2.0
"""Declares the functions and structs of asr_build.h for ctypes, as _library.py does for asr.h. The first builder loads
libsenone_build: it needs OpenFst and other libraries, which recognition does not."""

from __future__ import annotations

import ctypes
import functools
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

from ._errors import error_of
from ._library import declare, library_path, text


class asr_build_config(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("rule", c_char_p),
        ("unknown", c_int),
        ("letter_case", c_int),
        ("silence_prob", c_double),
        ("filler_prob", c_double),
        ("transition_scale", c_double),
        ("self_loop_scale", c_double),
    ]


class asr_build_info(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("bytes", c_void_p),
        ("n_bytes", c_size_t),
        ("unknown", POINTER(c_char_p)),
        ("n_unknown", c_size_t),
        ("n_arcs", c_uint64),
        ("n_states", c_uint32),
        ("n_words", c_uint32),
        ("guessed", POINTER(c_char_p)),
        ("n_guessed", c_size_t),
        ("n_classes", c_size_t),
    ]


class asr_aligner_config(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("g2p", c_char_p), ("n_g2p_best", c_uint32), ("reserved", c_uint32)]


class asr_align_config(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("input", c_int),
        ("sample_rate_hz", c_uint32),
        ("n_channels", c_uint32),
        ("channel", c_int32),
        ("lenient", c_uint32),
        ("skip_cost", c_double),
        ("foreign_cost", c_double),
    ]


class asr_alignment_info(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("duration_s", c_double),
        ("n_words", c_size_t),
        ("n_phones", c_size_t),
        ("n_text_words", c_size_t),
        ("not_said", POINTER(c_uint32)),
        ("n_not_said", c_size_t),
    ]


class asr_aligned_word(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("text", c_char_p),
        ("start_s", c_double),
        ("end_s", c_double),
        ("confidence", c_float),
        ("number", c_uint32),
        ("first_phone", c_size_t),
        ("n_phones", c_size_t),
    ]


class asr_aligned_phone(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("likeliest", c_char_p),
        ("start_s", c_double),
        ("end_s", c_double),
        ("log_likelihood", c_float),
        ("goodness", c_float),
    ]


class asr_ctc_grammar_info(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n_tokens", c_uint32),
        ("blank", c_uint32),
        ("n_states", c_uint32),
        ("n_arcs", c_uint32),
    ]


class asr_ctc_search_config(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("beam", c_double),
        ("token_bonus", c_double),
        ("distinct", c_int),
        ("reserved", c_uint32),
    ]


class asr_ctc_phrase(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("ids", POINTER(c_int32)),
        ("n_ids", c_size_t),
        ("best_cost", c_double),
        ("second_cost", c_double),
    ]


class asr_ctc_decoder_config(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("labels", POINTER(c_char_p)),
        ("n_labels", c_size_t),
        ("has_pieces", c_uint32),
        ("has_unigrams", c_uint32),
        ("lm_path", c_char_p),
        ("unigrams", POINTER(c_char_p)),
        ("n_unigrams", c_size_t),
    ]


class asr_ctc_decode_config(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("beam_width", c_uint32),
        ("prune_history", c_uint32),
        ("beam_prune_logp", c_double),
        ("token_min_logp", c_double),
        ("hotwords", POINTER(c_char_p)),
        ("n_hotwords", c_size_t),
        ("hotword_weight", c_double),
        ("alpha", c_double),
        ("beta", c_double),
        ("unk_score_offset", c_double),
        ("lm_score_boundary", c_uint32),
        ("has_start_state", c_uint32),
        ("start_state", c_uint64),
    ]


class asr_ctc_beam(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("text", c_char_p),
        ("start_frames", POINTER(c_int32)),
        ("end_frames", POINTER(c_int32)),
        ("n_words", c_size_t),
        ("logit_score", c_double),
        ("lm_score", c_double),
        ("lm_state", c_uint64),
    ]


_CLASS = (c_int, [c_void_p, c_char_p, c_char_p, c_size_t, POINTER(asr_build_config)])
_BUILD = (c_int, [c_void_p, c_char_p, c_size_t, POINTER(asr_build_config), POINTER(c_void_p)])

# name: (result, parameters)
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "asr_build_last_error": (c_char_p, []),
    "asr_builder_open": (c_int, [c_char_p, POINTER(c_void_p)]),
    "asr_builder_add_lexicon": (c_int, [c_void_p, c_char_p]),
    "asr_builder_add_lexicon_text": (c_int, [c_void_p, c_char_p, c_size_t, c_char_p]),
    "asr_builder_set_g2p": (c_int, [c_void_p, c_char_p, c_uint32]),
    "asr_builder_set_class": _CLASS,
    "asr_builder_add_to_class": _CLASS,
    "asr_builder_close": (None, [c_void_p]),
    "asr_build_config_default": (None, [POINTER(asr_build_config)]),
    "asr_build_jsgf": _BUILD,
    "asr_build_srgs": _BUILD,
    "asr_build_phrases": _BUILD,
    "asr_build_words": _BUILD,
    "asr_build_again": (c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "asr_build_get_info": (c_int, [c_void_p, POINTER(asr_build_info)]),
    "asr_build_free": (None, [c_void_p]),
    "asr_aligner_config_default": (None, [POINTER(asr_aligner_config)]),
    "asr_aligner_open": (c_int, [c_char_p, c_char_p, POINTER(asr_aligner_config), POINTER(c_void_p)]),
    "asr_aligner_close": (None, [c_void_p]),
    "asr_align_config_default": (None, [POINTER(asr_align_config)]),
    "asr_align": (
        c_int,
        [c_void_p, c_void_p, c_size_t, c_char_p, c_size_t, POINTER(asr_align_config), POINTER(c_void_p)],
    ),
    "asr_alignment_get_info": (c_int, [c_void_p, POINTER(asr_alignment_info)]),
    "asr_alignment_word": (c_int, [c_void_p, c_size_t, POINTER(asr_aligned_word)]),
    "asr_alignment_phone": (c_int, [c_void_p, c_size_t, POINTER(asr_aligned_phone)]),
    "asr_alignment_free": (None, [c_void_p]),
    "asr_ctc_grammar_open": (
        c_int,
        [c_uint32, c_uint32, c_void_p, c_size_t, c_void_p, c_size_t, POINTER(c_void_p)],
    ),
    "asr_ctc_grammar_save": (c_int, [c_void_p, c_char_p]),
    "asr_ctc_grammar_load": (c_int, [c_char_p, POINTER(c_void_p)]),
    "asr_ctc_grammar_get_info": (c_int, [c_void_p, POINTER(asr_ctc_grammar_info)]),
    "asr_ctc_grammar_close": (None, [c_void_p]),
    "asr_ctc_search_config_default": (None, [POINTER(asr_ctc_search_config)]),
    "asr_ctc_search_open": (c_int, [c_void_p, POINTER(asr_ctc_search_config), POINTER(c_void_p)]),
    "asr_ctc_search_feed": (c_int, [c_void_p, c_void_p, c_size_t, c_size_t]),
    "asr_ctc_search_result": (c_int, [c_void_p, POINTER(asr_ctc_phrase)]),
    "asr_ctc_search_reset": (c_int, [c_void_p]),
    "asr_ctc_search_close": (None, [c_void_p]),
    "asr_ctc_bundle": (c_int, [c_char_p, c_char_p, c_uint32, c_uint32, c_double, c_char_p]),
    "asr_ctc_lm_open": (c_int, [c_char_p, c_char_p, POINTER(c_void_p)]),
    "asr_ctc_lm_cost": (c_int, [c_void_p, POINTER(c_uint32), c_size_t, POINTER(c_double)]),
    "asr_ctc_lm_close": (None, [c_void_p]),
    "asr_ctc_decoder_config_default": (None, [POINTER(asr_ctc_decoder_config)]),
    "asr_ctc_decoder_open": (c_int, [POINTER(asr_ctc_decoder_config), POINTER(c_void_p)]),
    "asr_ctc_decoder_close": (None, [c_void_p]),
    "asr_ctc_decode_config_default": (None, [POINTER(asr_ctc_decode_config)]),
    "asr_ctc_decode": (
        c_int,
        [c_void_p, c_void_p, c_size_t, POINTER(asr_ctc_decode_config), POINTER(c_void_p)],
    ),
    "asr_ctc_beams_count": (c_size_t, [c_void_p]),
    "asr_ctc_beams_get": (c_int, [c_void_p, c_size_t, POINTER(asr_ctc_beam)]),
    "asr_ctc_beams_free": (None, [c_void_p]),
}

SONAME = "libsenone_build.so.0"


@functools.lru_cache(None)
def build_lib() -> ctypes.CDLL:
    """Loads libsenone_build: the one beside SENONE_LIBRARY, else the wheel's, else the system's. Raises ImportError."""
    path = library_path(SONAME)
    try:
        return declare(FUNCTIONS, path)
    except OSError as error:
        raise ImportError(
            f"senone: {path}, which compiles grammars, cannot be loaded: {error}; install OpenFst, utf8proc, "
            "liblzma, libbz2 and zlib (Debian: libfst-dev libutf8proc-dev liblzma-dev libbz2-dev zlib1g-dev), and then this "
            "package again with pip"
        ) from None


def check_build(status: int) -> None:
    """Raises the exception of this thread's failed call."""
    if status != 0:
        raise error_of(status, text(build_lib().asr_build_last_error()))
