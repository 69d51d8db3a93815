# SPDX-License-Identifier: Apache-2.0
"""to_raw.py RECORDING RAW writes the first channel of a recording as 16-bit samples without a header, by libsndfile."""

import ctypes
import sys
from array import array


class Info(ctypes.Structure):
    """SF_INFO of sndfile.h."""

    _fields_ = [("frames", ctypes.c_int64)] + [
        (name, ctypes.c_int) for name in ("samplerate", "channels", "format", "sections", "seekable")
    ]


sndfile = ctypes.CDLL("libsndfile.so.1")
sndfile.sf_open.restype = ctypes.c_void_p
info = Info()
file = sndfile.sf_open(sys.argv[1].encode(), 0x10, ctypes.byref(info))
if not file:
    sys.exit(f"to_raw.py: {sys.argv[1]}: cannot be read")
samples = (ctypes.c_short * (info.frames * info.channels))()
sndfile.sf_readf_short(ctypes.c_void_p(file), samples, ctypes.c_int64(info.frames))
with open(sys.argv[2], "wb") as out:
    out.write(array("h", samples[:: info.channels]).tobytes())
