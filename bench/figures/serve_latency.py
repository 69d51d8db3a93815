# SPDX-License-Identifier: Apache-2.0
"""The server: latency from the end of speech to the result over the number of streams."""

from __future__ import annotations

from drawing import Drawing, Line, draw_lines, new_figure, set_decades
from sources import Sources
from tables import Table


def serve_latency(sources: Sources) -> Drawing:
    """Median and 99th percentile, and below what the server's process took."""
    run = sources.results.run('cpu_intel_xeon_serve_telephone').expect('serve')
    table = Table(
        'The server: latency by number of streams',
        'From sending the end of the last word to the arrival of the result, in ms, of telephone streams with a grammar '
        'of commands; cores are processor time for a second of wall time. Others: what the other processes of the '
        'machine took meanwhile.',
        ['streams', 'results', 'median', '99 %', 'cores of the server', 'of its interpreter', 'of the clients', 'others', 'MB'],
    )
    median, high = Line('median', 'cpu', 'o-'), Line('99 %', 'paper', 's-')
    server, interpreter = Line('the server', 'cpu', 'o-'), Line('its interpreter', 'ocl_nvidia', '^-')
    for row in run.rows:
        streams = float(row['streams'])
        columns = ('results', 'median_ms', 'high_ms', 'cores', 'interpreter_cores', 'client_cores', 'other_cores', 'memory_mb')
        table.add(f'{streams:g}', *[float(row[name]) for name in columns])
        for line, name in ((median, 'median_ms'), (high, 'high_ms'), (server, 'cores'), (interpreter, 'interpreter_cores')):
            line.add(streams, float(row[name]))
    figure, (left, right) = new_figure(3.2, 2)
    draw_lines(left, [median, high])
    set_decades(left, 'y', 100, 1e5)
    left.set_ylabel('ms from the end of speech to the result')
    draw_lines(right, [server, interpreter])
    right.set_ylim(0, None)
    right.set_ylabel('cores')
    for axes in (left, right):
        axes.set_xlim(0, None)
        axes.set_xlabel('telephone streams')
        axes.legend(loc='upper left', fontsize=8)
    figure.subplots_adjust(left=0.09, right=0.98, top=0.95, bottom=0.16, wspace=0.22)
    return Drawing('serve_latency', [table], figure)
