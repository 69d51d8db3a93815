# SPDX-License-Identifier: Apache-2.0
"""Tests senone.Decoder with tensors in memory of the engine's device. OpenCL's buffers are made through its C interface, in the
engine's context; PoCL is enough. Devices that are not there are skipped."""

from __future__ import annotations

import ctypes
import unittest
from typing import Any

import numpy as np
import numpy.typing as npt

import senone
from senone._device_scores import _DLTensor
from test_scores import TOKENS, Tensor, rows

_OPENCL = 4  # of DLPack
_COPY = 1 << 5 | 1 << 0  # CL_MEM_COPY_HOST_PTR and CL_MEM_READ_WRITE


class Buffer:
    """A tensor in a buffer of a context, which DLPack describes."""

    def __init__(self, cl: ctypes.CDLL, context: int | None, values: npt.NDArray[Any], steps: int = 1) -> None:
        spread = np.full((*values.shape[:-2], values.shape[-2] * steps, values.shape[-1]), np.nan, values.dtype)
        spread[..., ::steps, :] = values
        self._cl, error = cl, ctypes.c_int32()
        self._memory = cl.clCreateBuffer(context, _COPY, spread.nbytes, spread.ctypes.data, ctypes.byref(error))
        assert error.value == 0, error.value
        self.ndim, self.shape = values.ndim, values.shape
        strides = [s // values.dtype.itemsize for s in spread.strides]
        strides[-2] *= steps
        self._tensor = _DLTensor(self._memory, (_OPENCL, 0), values.ndim, (2, values.dtype.itemsize * 8, 1))
        self._shape, self._strides = (ctypes.c_int64 * self.ndim)(*values.shape), (ctypes.c_int64 * self.ndim)(*strides)
        self._tensor.shape = ctypes.cast(self._shape, ctypes.POINTER(ctypes.c_int64))
        self._tensor.strides = ctypes.cast(self._strides, ctypes.POINTER(ctypes.c_int64))

    def __del__(self) -> None:
        self._cl.clReleaseMemObject(ctypes.c_void_p(self._memory))

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_OPENCL, 0)

    def __dlpack__(self) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self._tensor), b"dltensor", None)


class OnDevice(unittest.TestCase):
    cl: ctypes.CDLL
    decoder: senone.Decoder

    @classmethod
    def setUpClass(cls) -> None:
        try:
            cls.cl = ctypes.CDLL("libOpenCL.so.1")
            cls.decoder = senone.Decoder(TOKENS, "ocl_nvidia:0", n_threads=2)
        except (OSError, senone.NoDevice) as error:
            raise unittest.SkipTest(str(error)) from None
        cls.cl.clCreateBuffer.restype = ctypes.c_void_p
        cls.cl.clCreateBuffer.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]

    @classmethod
    def tearDownClass(cls) -> None:
        cls.decoder.close()

    def buffer(self, values: npt.NDArray[Any], steps: int = 1) -> Buffer:
        return Buffer(self.cl, self.decoder.engine.memory.context, values, steps)

    def test_the_engine_says_where_rows_may_be(self) -> None:
        self.assertEqual(self.decoder.engine.memory.kind, "opencl")
        with senone.Engine(TOKENS, "cpu") as engine:
            self.assertEqual(engine.memory.kind, "host")

    def test_words_are_those_of_the_host(self) -> None:
        scores = rows("..ll....m.hH")
        for values in (self.buffer(scores), self.buffer(scores, 3), self.buffer(scores.astype(np.float16))):
            (result,) = self.decoder.decode(values)
            self.assertEqual(result.text, "low mid high")
        (wanted,), (found,) = self.decoder.decode(scores), self.decoder.decode(self.buffer(scores))
        self.assertEqual(found.words, wanted.words)
        self.assertEqual(found.alternatives, wanted.alternatives)

    def test_batches_and_lists(self) -> None:
        frames = ["..ll..mm..", "hh.l.hhhhh"]
        batch = np.stack([rows(f) for f in frames])
        results = self.decoder.decode(self.buffer(batch), [10, 4])
        self.assertEqual([result.text for result in results], ["low mid", "high low"])
        results = self.decoder.decode([self.buffer(rows("..l")), rows(".m.")])
        self.assertEqual([result.text for result in results], ["low", "mid"])

    def test_streams(self) -> None:
        for part in ("..ll....", "..mm....", "........", "..h....."):
            self.decoder.feed("a", self.buffer(rows(part)))
        self.assertEqual(self.decoder.finish("a").text, "low mid high")

    def test_what_is_refused(self) -> None:
        with self.assertRaisesRegex(senone.InvalidArgument, "shape"):
            self.decoder.decode(self.buffer(rows("..l")[:, :4].copy()))
        with self.assertRaisesRegex(senone.InvalidArgument, "float32, float16 or bfloat16"):
            self.decoder.decode(self.buffer(rows("..l").astype(np.float64)))
        with self.assertRaisesRegex(senone.InvalidArgument, "engine is on opencl"):
            tensor = self.buffer(rows("..l"))
            tensor._tensor.device.device_type = 2
            tensor.__class__.__dlpack__, dlpack = lambda self, **_: dlpack(self), tensor.__class__.__dlpack__  # type: ignore
            try:
                self.decoder.decode(tensor)
            finally:
                tensor.__class__.__dlpack__ = dlpack  # type: ignore
        with self.assertRaisesRegex(senone.InvalidArgument, "another device"):
            self.decoder.decode(Tensor(rows("..l"), 10))
        bad = rows("..l")
        bad[1, 2] = np.nan
        with self.assertRaisesRegex(senone.BadAudio, "frame 1: value 2"):
            self.decoder.decode(self.buffer(bad))


if __name__ == "__main__":
    unittest.main()
