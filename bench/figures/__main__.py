# SPDX-License-Identifier: Apache-2.0
"""python3 -B bench/figures OUT [--results DIRECTORY]: draws the figures of the papers beside ours, and tables.md, into OUT.

`./dev figures` runs it. It reads committed JSON only: the measurements (default: bench/results), and papers.json and
peers.json beside this file."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import vanek_2012a
import vanek_2012b
import chen_2018
import chen_2018_memory
import kou_2013
import serve_latency
from drawing import Drawing, save
from results import FiguresError
from sources import Sources, read_sources

DRAWINGS: list[Callable[[Sources], Drawing]] = [
    vanek_2012a.figure_3,
    vanek_2012a.figure_4,
    vanek_2012a.figure_5,
    vanek_2012a.figure_6,
    vanek_2012a.figure_7,
    vanek_2012b.figure_1,
    vanek_2012b.word_errors,
    chen_2018.table_1,
    chen_2018.table_2,
    chen_2018_memory.graph_memory,
    kou_2013.tables_1_to_3,
    serve_latency.serve_latency,
]

HEAD = '''# Tables of the figures

Drawn by `./dev figures`; do not edit. [figures.md](../figures.md) says what each shows. A cell with a letter in
brackets is empty; the reason is below its table. "Counted" TFLOPS follow the papers' convention, not what is computed.
'''


def sources_of(sources: Sources) -> str:
    """Lists the sources of the papers' and other programs' numbers."""
    items = [f'- Paper {number}: {paper["source"]}.' for number, paper in sources.papers.items()]
    items.append(f'- Other programs: {sources.peers["source"]}')
    lines = [line for item in items for line in textwrap.wrap(item, 120, subsequent_indent='  ')]
    return '\n'.join(['## Sources', '', *lines]) + '\n'


def draw_all(sources: Sources, out: Path) -> list[Path]:
    """Writes everything; returns the files."""
    out.mkdir(parents=True, exist_ok=True)
    files, parts = [], [HEAD]
    for draw in DRAWINGS:
        drawing = draw(sources)
        files += save(drawing, out)
        parts.append(f'## {drawing.name}\n')
        if drawing.figure is not None:
            parts.append(f'![{drawing.name}]({drawing.name}.svg)\n')
        parts += [table.markdown() for table in drawing.tables]
    parts.append(sources_of(sources))
    tables = out / 'tables.md'
    tables.write_text('\n'.join(parts), encoding='utf-8')
    return [*files, tables]


def main() -> int:
    parser = argparse.ArgumentParser(description='draws the figures of the papers beside ours')
    parser.add_argument('out', type=Path)
    parser.add_argument('--results', type=Path, default=Path(__file__).parent.parent / 'results')
    options = parser.parse_args()
    try:
        files = draw_all(read_sources(options.results), options.out)
    except FiguresError as error:
        print(f'figures: {error}', file=sys.stderr)
        return 1
    for file in files:
        print(file)
    return 0


if __name__ == '__main__':
    sys.exit(main())
