# SPDX-License-Identifier: Apache-2.0
"""Scores in memory of a CUDA or OpenCL device, described by DLPack, for engines on that device. The library reads them there;
the tensor is kept until it has."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from ctypes import c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Any

from ._errors import InvalidArgument
from ._library import asr_device_rows, lib

_MEMORIES = {2: 1, 13: 1, 4: 2}  # DLPack's devices: CUDA's and managed memory, and OpenCL's, as asr_memory
_TYPES = {(2, 32): 0, (2, 16): 1, (4, 16): 2}  # DLPack's code and bits, as asr_value_type
_LEGACY_STREAM = 1  # of DLPack and of CUDA: its default stream, which the producer's stream is made to precede
NAMES = {0: "host", 1: "cuda", 2: "opencl"}


class _DLDevice(ctypes.Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device", _DLDevice),
        ("ndim", c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

# The library says by a semaphore of the C library that it has read rows, which needs no thread of the interpreter.
_libc = ctypes.CDLL(None)
_sem_post = ctypes.cast(_libc.sem_post, c_void_p).value
_SEMAPHORE_BYTES = 64  # at least sizeof(sem_t)


class Lease:
    """A tensor's memory, lent to the library for one call."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self.semaphore = (ctypes.c_uint64 * (_SEMAPHORE_BYTES // 8))()
        _libc.sem_init(ctypes.byref(self.semaphore), 0, 0)

    def is_over(self) -> bool:
        return int(_libc.sem_trywait(ctypes.byref(self.semaphore))) == 0


class Leases:
    """Those of a stream, and after it was closed of streams that are gone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._leases: list[Lease] = []

    def add(self, *leases: Lease) -> None:
        with self._lock:
            self._leases = [lease for lease in self._leases if not lease.is_over()] + list(leases)

    def take_all(self) -> list[Lease]:
        self.add()
        with self._lock:
            leases, self._leases = self._leases, []
        return leases


left_over = Leases()  # kept to the end of the process, if need be: the library writes to their semaphores


class DeviceScores:
    """Rows [T, V], or [B, T, V], in memory of a device."""

    def __init__(self, owner: Any, tensor: _DLTensor) -> None:
        n = tensor.ndim
        dtype = tensor.dtype
        if (dtype.code, dtype.bits) not in _TYPES or dtype.lanes != 1:
            raise InvalidArgument("scores on a device must be float32, float16 or bfloat16; convert them, such as by .float()")
        self._owner = owner
        self.memory = _MEMORIES[tensor.device.device_type]
        self.device_id = int(tensor.device.device_id)
        self._data = tensor.data
        self._offset = int(tensor.byte_offset)
        self._type, self._value_bytes = _TYPES[dtype.code, dtype.bits], dtype.bits // 8
        self.shape = [int(tensor.shape[i]) for i in range(n)]
        self._strides = [int(tensor.strides[i]) for i in range(n)] if tensor.strides else _packed_strides(self.shape)
        is_odd = n > 1 and self.shape[-1] > 1 and self._strides[-1] != 1
        if is_odd or (n > 1 and self.shape[-2] > 1 and self._strides[-2] < self.shape[-1]):
            raise InvalidArgument("the values of a row of scores must follow each other; use .contiguous()")

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: slice | None) -> DeviceScores:
        """[:n] are the first n; [None] is a batch of this one."""
        if key is None:
            return self._view(self._offset, [1, *self.shape], [0, *self._strides])
        n = len(range(*key.indices(len(self))))
        return self._view(self._offset, [n, *self.shape[1:]], self._strides)

    def __iter__(self) -> Iterator[DeviceScores]:
        """The utterances of a batch."""
        step = self._strides[0] * self._value_bytes
        return (self._view(self._offset + i * step, self.shape[1:], self._strides[1:]) for i in range(len(self)))

    def _view(self, offset: int, shape: list[int], strides: list[int]) -> DeviceScores:
        view: DeviceScores = object.__new__(DeviceScores)
        view.__dict__.update(self.__dict__)
        view._offset, view.shape, view._strides = offset, shape, strides
        return view

    def feed_to(self, pointer: Any, leases: Leases) -> int:
        """Feeds all rows to a stream; returns the status."""
        lease = Lease(self._owner)
        rows = asr_device_rows()
        lib.asr_device_rows_default(ctypes.byref(rows))
        rows.memory, rows.type = self.memory, self._type
        rows.rows, rows.offset = self._data, self._offset
        rows.stride = self._strides[0] if self.shape[0] > 1 else 0
        rows.stream = _LEGACY_STREAM if self.memory == 1 else None
        rows.release, rows.user = _sem_post, ctypes.addressof(lease.semaphore)
        leases.add(lease)
        return int(lib.asr_feed_device(pointer, ctypes.byref(rows), self.shape[0]))


def _packed_strides(shape: list[int]) -> list[int]:
    strides = [1]
    for n in reversed(shape[1:]):
        strides.insert(0, strides[0] * n)
    return strides


def is_on_device(values: Any) -> bool:
    """Returns True for a tensor in memory of a device that engines may be on."""
    return hasattr(values, "__dlpack_device__") and int(values.__dlpack_device__()[0]) in _MEMORIES


def device_scores(values: Any) -> DeviceScores:
    """Describes a tensor in memory of a device. Its producer's work comes before that of CUDA's default stream from now on."""
    if getattr(values, "requires_grad", False):
        values = values.detach()
    device = int(values.__dlpack_device__()[0])
    capsule = values.__dlpack__(stream=_LEGACY_STREAM) if _MEMORIES[device] == 1 else values.__dlpack__()
    tensor = ctypes.cast(_capsule_pointer(capsule, b"dltensor"), ctypes.POINTER(_DLTensor)).contents
    return DeviceScores((values, capsule), tensor)
