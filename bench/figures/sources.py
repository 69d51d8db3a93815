# SPDX-License-Identifier: Apache-2.0
"""Inputs of every figure, and the back ends that several figures compare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from results import Results, read_json


@dataclass(frozen=True)
class Sources:
    """Our measurements, the papers' figures with the papers' numbers, and figures of other programs."""

    results: Results
    papers: dict[str, Any]
    peers: dict[str, Any]


def read_sources(folder: Path) -> Sources:
    """Reads the measurements of `folder`, and papers.json and peers.json beside this file."""
    here = Path(__file__).parent
    return Sources(Results(folder), read_json(here / 'papers.json'), read_json(here / 'peers.json'))


@dataclass(frozen=True)
class BackEnd:
    """A back end on a machine. `prefix` begins the names of its files in bench/results; `colour` is a key of COLOURS."""

    label: str
    prefix: str
    colour: str
    mark: str = 'o'


CUDA = BackEnd('CUDA, H200', 'cuda_nvidia_h200', 'cuda')
CUDA_FP32 = BackEnd('CUDA FP32, H200', 'cuda_fp32_nvidia_h200', 'cuda', '^')
OCL_NVIDIA = BackEnd('ocl_nvidia, H200', 'ocl_nvidia_nvidia_h200', 'ocl_nvidia')
OCL_NVIDIA_FP32 = BackEnd('ocl_nvidia FP32, H200', 'ocl_nvidia_fp32_nvidia_h200', 'ocl_nvidia', '^')
OCL_AMD = BackEnd('ocl_amd, H200 (cross test)', 'ocl_amd_nvidia_h200', 'ocl_amd')
AMD_GPU = BackEnd('ocl_amd, AMD GPU', 'ocl_amd_amd', 'ocl_amd')
TURIN = BackEnd('core of EPYC Turin, not quiet', 'cpu_amd_epyc_turin', 'cpu')
XEON = BackEnd('core of Xeon, AVX-512', 'cpu_intel_xeon_avx512', 'cpu', 's')
MILAN = BackEnd('core of EPYC Milan', 'cpu_amd_epyc_milan', 'cpu', '^')
