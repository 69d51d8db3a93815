# SPDX-License-Identifier: Apache-2.0
"""Common code of the tests: the tone bundle of SENONE_TONES, loaded once on the CPU, and its recordings."""

from __future__ import annotations

import functools
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

import senone

TONES = Path(os.environ["SENONE_TONES"])
BUNDLE = TONES / "bundle"
RECORDING = TONES / "low_mid_high.raw"
SENTENCE = "low mid high"


@functools.lru_cache(None)
def engine() -> senone.Engine:
    return senone.Engine(BUNDLE, device="cpu", n_threads=2)


@functools.lru_cache(None)
def samples(name: str = "low_mid_high") -> npt.NDArray[np.int16]:
    return np.fromfile(TONES / f"{name}.raw", np.int16)
