# SPDX-License-Identifier: Apache-2.0
"""The devices that engines can be loaded on."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from ._errors import check
from ._library import asr_device, lib, text


@dataclass(frozen=True)
class Device:
    """A device, or a plugin that was rejected.
    id: argument of `Engine(device=...)`: "cpu:0", "cuda:1". name: the driver's name. reason: "" if it is usable, else a
    message with the reason. memory_bytes: memory for models and streams, 0 if unknown. score: the usable device with the
    highest score is the default. n_cores: cores or multiprocessors.
    """

    id: str
    name: str
    reason: str
    memory_bytes: int
    score: int
    n_cores: int

    @property
    def usable(self) -> bool:
        """True if an engine can be loaded on it."""
        return not self.reason


def devices() -> list[Device]:
    """Probes every back end and returns its devices, best first, then rejected plugins with reasons. Raises `OutOfMemory`."""
    handle = ctypes.c_void_p()
    check(lib.asr_devices(ctypes.byref(handle)))
    try:
        return [_device(handle, index) for index in range(lib.asr_device_list_count(handle))]
    finally:
        lib.asr_device_list_free(handle)


def _device(handle: ctypes.c_void_p, index: int) -> Device:
    found = asr_device(size=ctypes.sizeof(asr_device))
    check(lib.asr_device_list_get(handle, index, ctypes.byref(found)))
    return Device(text(found.id), text(found.name), text(found.reason), found.memory_bytes, found.score, found.n_cores)
