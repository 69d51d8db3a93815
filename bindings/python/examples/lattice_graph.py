# SPDX-License-Identifier: Apache-2.0
"""Draws the lattice of a recording with graphviz: python lattice_graph.py BUNDLE RECORDING [BEAM] | dot -Tsvg >lattice.svg

BEAM is the lattice's width (natural log), 4 unless given. Arcs show word, posterior and time; likely ones are thick.
"""

from __future__ import annotations

import sys

import numpy as np

import senone


def quoted(text: str) -> str:
    """Quotes a string for graphviz."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def graphviz(lattice: senone.Lattice) -> str:
    """Returns the lattice in graphviz's language: states left to right, ends as double circles."""
    lines = ["digraph lattice {", "  rankdir=LR; node [shape=circle];"]
    for state in range(lattice.n_states):
        shape = "doublecircle" if np.isfinite(lattice.end_graph_cost[state]) else "circle"
        lines.append(f"  {state} [shape={shape}, xlabel={quoted(f'{lattice.state_time_s[state]:.2f} s')}];")
    for arc in range(lattice.n_arcs):
        posterior = float(lattice.arc_posterior[arc])
        label = quoted(f"{lattice.arc_word[arc]} {posterior:.2f}")
        lines.append(
            f"  {lattice.arc_from[arc]} -> {lattice.arc_to[arc]} [label={label}, penwidth={0.3 + 3 * posterior:.2f}];"
        )
    return "\n".join([*lines, "}"])


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    beam = float(sys.argv[3]) if len(sys.argv) == 4 else 4.0
    result = senone.Engine(sys.argv[1]).recognize(sys.argv[2], lattice_beam=beam)
    if result.lattice is None:
        sys.exit("lattice_graph: BEAM must be above 0")
    print(graphviz(result.lattice))


if __name__ == "__main__":
    try:
        main()
    except senone.Error as error:
        sys.exit(f"lattice_graph: {error}")
