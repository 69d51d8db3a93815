# SPDX-License-Identifier: Apache-2.0
"""Common drawing code of the figures: colours, bars with gaps, lines, and files with the same bytes for the same
measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from results import Missing, Value
from tables import Table, number

COLOURS = {
    'cuda': '#2f7d32',
    'ocl_nvidia': '#1565c0',
    'ocl_amd': '#c62828',
    'cpu': '#5d4037',
    'peer': '#8d8d8d',
    'paper': '#ef8e19',
}

matplotlib.rcParams.update(
    {
        'svg.hashsalt': 'senone',
        'svg.fonttype': 'none',
        'font.family': 'DejaVu Sans',
        'font.size': 9,
        'axes.titlesize': 10,
        'axes.spines.top': False,
        'axes.spines.right': False,
        'legend.frameon': False,
    }
)


@dataclass
class Drawing:
    """A paper's figure or table beside ours: a picture, tables, or both. `name` is the base name of the files."""

    name: str
    tables: list[Table]
    figure: Figure | None = None


@dataclass(frozen=True)
class Bar:
    """A bar: its label, its length, a key of COLOURS. `light` bars are the second of two kinds (the legend says which)."""

    label: str
    value: Value
    colour: str
    light: bool = False


@dataclass
class Line:
    """A line, or points where `style` is a mark only, in Matplotlib's letters."""

    label: str
    colour: str
    style: str = 'o-'
    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)

    def add(self, x: float, y: Value) -> None:
        """Appends a point; a missing value breaks the line, so that nothing is drawn where nothing was measured."""
        self.x.append(x)
        self.y.append(math.nan if isinstance(y, Missing) else y)


def new_figure(height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """Returns a figure with axes side by side. Margins are fixed, so that the picture does not depend on text metrics."""
    figure = Figure(figsize=(8, height))
    axes = figure.subplots(1, columns, squeeze=False)[0]
    return figure, list(axes)


def draw_bars(axes: Axes, bars: Sequence[Bar], unit: str, least: float) -> None:
    """Draws horizontal bars on a logarithmic axis from `least`, in order from the top. A missing bar shows its reason
    instead."""
    for index, bar in enumerate(bars):
        if isinstance(bar.value, Missing):
            axes.text(least * 1.1, index, bar.value.reason, va='center', style='italic', color='#777777', fontsize=8)
            continue
        axes.barh(index, bar.value - least, left=least, color=COLOURS[bar.colour], alpha=0.45 if bar.light else 1, height=0.7)
        axes.text(bar.value * 1.08, index, number(bar.value), va='center', fontsize=8)
    present = [bar.value for bar in bars if not isinstance(bar.value, Missing)]
    set_decades(axes, 'x', least, max(present, default=least * 10) * 8)
    axes.set_yticks(range(len(bars)), [bar.label for bar in bars])
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_xlabel(unit)


def set_decades(axes: Axes, axis: str, low: float, high: float) -> None:
    """Makes a logarithmic axis with at most five ticks, at powers of ten."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    ticks = [10.0**power for power in range(first, last + 1, 1 + (last - first) // 5)]
    scale, limits, target = (
        (axes.set_xscale, axes.set_xlim, axes.xaxis) if axis == 'x' else (axes.set_yscale, axes.set_ylim, axes.yaxis)
    )
    scale('log')
    target.set_major_locator(FixedLocator(ticks))
    target.set_minor_locator(NullLocator())
    limits(low, high)


def draw_lines(axes: Axes, lines: Sequence[Line]) -> None:
    """Draws lines with marks, on the axes' scales."""
    for line in lines:
        if any(not math.isnan(y) for y in line.y):
            axes.plot(line.x, line.y, line.style, color=COLOURS[line.colour], label=line.label, markersize=4, linewidth=1.2)


def shade(axes: Axes, low: float, high: float) -> None:
    """Draws a paper's range behind the bars."""
    axes.axvspan(low, high, color=COLOURS['paper'], alpha=0.3, linewidth=0, zorder=0)


def draw_gaps(figure: Figure, gaps: Sequence[str]) -> None:
    """Lists the figure's gaps at its foot."""
    for index, gap in enumerate(reversed(gaps)):
        figure.text(0.01, 0.01 + 0.14 / figure.get_figheight() * index, gap, style='italic', color='#777777', fontsize=7.5)


def save(drawing: Drawing, folder: Path) -> list[Path]:
    """Writes the picture as SVG and PNG; returns the files."""
    if drawing.figure is None:
        return []
    files = [folder / f'{drawing.name}.svg', folder / f'{drawing.name}.png']
    drawing.figure.savefig(files[0], metadata={'Date': None, 'Creator': f'Matplotlib {matplotlib.__version__}'})
    drawing.figure.savefig(files[1], dpi=130, metadata={'Software': None})
    return files
