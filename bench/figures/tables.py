# SPDX-License-Identifier: Apache-2.0
"""Writes tables in Markdown. A missing value is an empty cell with a letter; the reasons follow the table."""

from __future__ import annotations

import string
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from results import Missing

Cell = str | float | Missing | Sequence[float] | None  # two numbers are a range; None is a meaningless cell


def number(value: float) -> str:
    """Formats three significant digits, without an exponent; four if the first is 1."""
    digits = 4 if f'{abs(value):e}'.startswith('1') else 3
    exponent = int(f'{value:.{digits - 1}e}'.split('e')[1])
    text = f'{value:,.{max(0, digits - 1 - exponent)}f}'
    return text.rstrip('0').rstrip('.') if '.' in text else text


@dataclass
class Table:
    """Rows of cells under columns; `note` is a paragraph above the table."""

    title: str
    note: str
    columns: list[str]
    rows: list[list[Cell]] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        """Appends a row."""
        assert len(cells) == len(self.columns), (self.title, cells)
        self.rows.append(list(cells))

    def markdown(self) -> str:
        """Returns the whole table, its title first."""
        letters: dict[str, str] = {}
        lines = [
            f'### {self.title}',
            '',
            *textwrap.wrap(self.note, 120),
            '',
            _line(self.columns),
            _line('---' for _ in self.columns),
        ]
        lines += [_line(_text(cell, letters) for cell in row) for row in self.rows]
        if letters:
            lines += ['', *(f'- ({letter}) {reason}' for reason, letter in letters.items())]
        return '\n'.join(lines) + '\n'


def _line(cells: Iterable[str]) -> str:
    return '| ' + ' | '.join(cells) + ' |'


def _text(cell: Cell, letters: dict[str, str]) -> str:
    if cell is None:
        return ''
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Missing):
        return f'({letters.setdefault(cell.reason, string.ascii_lowercase[len(letters)])})'
    if isinstance(cell, (int, float)):
        return number(cell)
    return '–'.join(number(value) for value in cell)
