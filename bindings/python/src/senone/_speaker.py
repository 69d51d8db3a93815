# SPDX-License-Identifier: Apache-2.0
"""A speaker to whose voice features and model are adapted."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._errors import InvalidArgument, check
from ._handle import Handle, Owner
from ._library import lib
from ._numbers import real, uint32
from ._numpy import numpy

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_FMLLR = 1  # ASR_SPEAKER_FMLLR
_VTLN = 2  # ASR_SPEAKER_VTLN
_MLLR = 4  # ASR_SPEAKER_MLLR


class Speaker(Owner):
    """A speaker, made by `Engine.speaker`: a transform of feature rows (fMLLR), a warp of the frequency axis (VTLN) and a
    transform of the model's means (MLLR). They are estimated from the audio of the speaker's streams.
    `Engine.stream` and `Engine.recognize` take it as ``speaker``, any number at once, of any engine of the same acoustic model.
    `adapt` estimates them; with adaptation="between_utterances" a stream does so itself. A speaker may outlive its
    engine; streams keep working after it was closed. Any threads may use one.
    """

    def __init__(self, engine: Handle, n_feature_dims: int) -> None:
        pointer = ctypes.c_void_p()
        with engine as opened:
            check(lib.asr_speaker_new(opened, ctypes.byref(pointer)))
        assert pointer.value is not None
        self._n_feature_dims = n_feature_dims
        self._handle = Handle(pointer.value, lib.asr_speaker_free, "the speaker was closed; make another")

    def set_methods(self, *, fmllr: bool = True, vtln: int = 0, mllr: bool = False) -> None:
        """Selects the estimates of `adapt`: a transform of rows, a warp, and a transform of the model's means.
        The warp is the likeliest of `vtln` warps, 11 or 21, from 0.80 to 1.20; 0: no warps. Warps are chosen from
        streams of audio that are opened later. Raises InvalidArgument, Unsupported (a filter bank too narrow to be
        warped), NoDevice, InvalidState (closed), OutOfMemory.
        """
        n_warps = uint32("vtln", vtln)
        methods = (_FMLLR if fmllr else 0) | (_VTLN if vtln else 0) | (_MLLR if mllr else 0)
        with self._handle as pointer:
            check(lib.asr_speaker_set_methods(pointer, methods, n_warps))

    @property
    def warp(self) -> float:
        """Initial warp of the speaker's streams, 0.8 to 1.25; 1: none. Setting another one discards the transforms, which
        belong to the old warp. Raises InvalidArgument, Unsupported (a filter bank too narrow), InvalidState (closed)."""
        value = ctypes.c_float()
        with self._handle as pointer:
            check(lib.asr_speaker_get_warp(pointer, ctypes.byref(value)))
        return value.value

    @warp.setter
    def warp(self, value: float) -> None:
        with self._handle as pointer:
            check(lib.asr_speaker_set_warp(pointer, real("warp", value)))

    def adapt(self) -> None:
        """Chooses the warp; if it stays the same, re-estimates the transforms from all speech up to a FINAL of the speaker's
        streams. The result is for utterances that begin later.
        Takes up to some seconds. FINALs without words, with Flag.REJECTED or with Flag.BEAM_DIED do not count; of more than 200
        s, a part is left out. Raises InvalidState (less than 1 s of words, or closed), OutOfMemory.
        """
        with self._handle as pointer:
            check(lib.asr_adapt(pointer))

    def transform(self) -> npt.NDArray[np.float32] | None:
        """Returns the transform y = A x + b: [n_feature_dims, n_feature_dims + 1] float32, with b in the last column. The
        result is a copy, or None without a transform. Needs numpy. Raises InvalidState (closed), OutOfMemory."""
        return self._values(lib.asr_speaker_get_transform)

    def mean_transform(self) -> npt.NDArray[np.float32] | None:
        """Returns the transform m' = A m + b of the model's means, as `transform` does that of rows. Needs numpy. Raises
        InvalidState (closed), OutOfMemory."""
        return self._values(lib.asr_speaker_get_mean_transform)

    def set_transform(self, transform: Any) -> None:
        """Replaces the transform, for utterances that begin later, and discards that of the means.
        transform: an array of the shape that `transform` returns; None removes the transform. Raises InvalidArgument (another
        shape, or a value is not finite), InvalidState (closed), OutOfMemory.
        """
        self._set_values(lib.asr_speaker_set_transform, transform)

    def set_mean_transform(self, transform: Any) -> None:
        """Replaces the transform of the means, for utterances that begin later.
        transform: as for `set_transform`. Raises InvalidArgument (also for means far beyond the model's rows), InvalidState
        (closed), OutOfMemory.
        """
        self._set_values(lib.asr_speaker_set_mean_transform, transform)

    def __repr__(self) -> str:
        return f"<senone.Speaker of rows of {self._n_feature_dims} features{', closed' if self._handle.closed else ''}>"

    @property
    def _shape(self) -> tuple[int, int]:
        return self._n_feature_dims, self._n_feature_dims + 1

    def _values(self, read: Callable[..., int]) -> npt.NDArray[np.float32] | None:
        np = numpy("transforms")
        values = np.empty(self._shape, np.float32)
        n = ctypes.c_size_t()
        with self._handle as pointer:
            check(read(pointer, values.ctypes.data, values.size, ctypes.byref(n)))
        return values if n.value > 0 else None

    def _set_values(self, write: Callable[..., int], transform: Any) -> None:
        values = None if transform is None else self._as_transform(transform)
        with self._handle as pointer:
            if values is None:
                check(write(pointer, None, 0))
            else:
                check(write(pointer, values.ctypes.data, values.size))

    def _as_transform(self, transform: Any) -> npt.NDArray[Any]:
        """Converts the values to C-contiguous float32. Raises InvalidArgument."""
        np = numpy("transforms")
        values = np.asarray(transform)
        if values.dtype.kind not in "fiu":
            raise InvalidArgument(f"transform is of {values.dtype}; it must be of numbers")
        if values.shape != self._shape:
            raise InvalidArgument(f"transform has the shape {list(values.shape)}; this speaker needs {list(self._shape)}")
        return np.ascontiguousarray(values, dtype=np.float32)  # type: ignore[no-any-return]
