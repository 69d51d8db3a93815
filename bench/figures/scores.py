# SPDX-License-Identifier: Apache-2.0
"""Numbers of `senone bench gmm` and `fullgmm`, for the figures of Vaněk et al. 2011, 2012a and 2012b.

Counted TFLOPS follow the papers' convention, not the operations done. They are frames × Gaussians × (4 D + 9) for diagonal
Gaussians of D dimensions, and 5 D (D − 1) / 2 more for full covariances."""

from __future__ import annotations

from results import Missing, NO_AMD_GPU, NO_DEVICE_TIME, Results, Value, scaled
from sources import AMD_GPU, BackEnd

SMALL = '5000x16x36'
MEDIUM = '5385x36x36'
LARGE = '5000x256x36'
GAUSSIANS = {SMALL: 80_000, MEDIUM: 193_860, LARGE: 1_280_000}


def file_of(results: Results, back_end: BackEnd, benchmark: str, size: str) -> str:
    """Returns the run's name. Names for 5000x16x36 may lack the size."""
    name = f'{back_end.prefix}_{benchmark}'
    return name if size == SMALL and results.has(name) else f'{name}_{size}'


def score(
    results: Results,
    back_end: BackEnd,
    size: str,
    window: int,
    column: str,
    benchmark: str = 'gmm',
    otherwise: Missing | None = None,
) -> Value:
    """Returns a column of the row of `window`; Missing if this back end was not measured with this size or window."""
    name = file_of(results, back_end, benchmark, size)
    if results.has(name):
        states, gaussians, dims = (int(part) for part in size.split('x'))
        results.run(name).expect(benchmark, states=states, gaussians=gaussians, dims=dims)
    gap = otherwise or (NO_AMD_GPU if back_end is AMD_GPU else NO_DEVICE_TIME)
    return results.value(name, column, gap, window=window)


def total_tflops(
    results: Results, back_end: BackEnd, size: str, window: int = 256, benchmark: str = 'gmm', otherwise: Missing | None = None
) -> Value:
    """Returns counted TFLOPS of whole calls, including transfers."""
    return scaled(score(results, back_end, size, window, 'gflops', benchmark, otherwise), 1e-3)


def kernel_tflops(
    results: Results, back_end: BackEnd, size: str, window: int = 256, benchmark: str = 'gmm', otherwise: Missing | None = None
) -> Value:
    """Returns counted TFLOPS of the kernels alone."""
    return scaled(score(results, back_end, size, window, 'kernel_gflops', benchmark, otherwise), 1e-3)


def counted_tflops(gaussians: int, frames: int, seconds: float, full: bool = False, dims: int = 36) -> float:
    """Returns counted TFLOPS from a peer's time."""
    operations = 4 * dims + 9 + (5 * dims * (dims - 1) / 2 if full else 0)
    return gaussians * frames * operations / seconds / 1e12
