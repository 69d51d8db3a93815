# SPDX-License-Identifier: Apache-2.0
"""Chen et al. 2018, memory of a GPU over the size of the graph."""

from __future__ import annotations

from drawing import Drawing, Line, draw_gaps, draw_lines, new_figure, set_decades
from results import NO_DEVICE_TIME, NOT_PRINTED, Run
from sources import CUDA, OCL_NVIDIA, Sources
from tables import Table


def graph_memory(sources: Sources) -> Drawing:
    """Memory over the arcs of the graph, on the CPU and on a GPU with one stream."""
    table = Table(
        'Chen et al. 2018, memory over the size of the graph',
        'MB of 10⁶ bytes. A CPU process: the most that was resident, model, graph and search of one stream, at any '
        'beam measured. A GPU: all that the back end took with one stream, lattices included. The paper draws curves '
        'without numbers.',
        ['models and graph', 'states', 'arcs', 'graph.bin, MB', 'CPU process, MB', 'CUDA, MB', 'ocl_nvidia, MB'],
    )
    runs = sorted(
        sources.results.named('cpu_amd_epyc_turin_accuracy_'), key=lambda run: float(run.expect('accuracy').options['arcs'])
    )
    process, file = Line('CPU process, peak', 'cpu', 'o'), Line('graph.bin', 'peer', 's')
    devices = [Line(f'{back_end.label}, one stream', back_end.colour, 'D') for back_end in (CUDA, OCL_NVIDIA)]
    for run in runs:
        arcs, graph_mb = run.options['arcs'], run.options['graph_mb']
        peak = most(run)
        on_devices = [
            (
                sources.results.value(f'{back_end.prefix}_decode_lanes1', 'device_memory_mb', result='lattice')
                if run.options['set'] == 'kaldi_20k'
                else NO_DEVICE_TIME
            )
            for back_end in (CUDA, OCL_NVIDIA)
        ]
        table.add(
            f'{run.options["set"]}: {run.options["model"]}',
            f'{run.options["states"]:,}',
            f'{arcs:,}',
            graph_mb,
            peak,
            *on_devices,
        )
        process.add(arcs, peak)
        file.add(arcs, graph_mb)
        for line, value in zip(devices, on_devices):
            line.add(arcs, value)
    table.add('30,000 words, several trigrams: the paper', *[NOT_PRINTED] * 6)
    figure, (axes,) = new_figure(3.4)
    set_decades(axes, 'x', 5e3, 1e8)
    set_decades(axes, 'y', 0.05, 1e4)
    draw_lines(axes, [process, file, *devices])
    axes.set_xlabel('arcs of the graph')
    axes.set_ylabel('MB')
    axes.set_title('Memory over the size of the graph')
    axes.legend(loc='upper left', fontsize=8)
    draw_gaps(figure, [f'GPUs with other graphs than kaldi_20k\'s: {NO_DEVICE_TIME.reason}.'])
    figure.subplots_adjust(left=0.08, right=0.98, top=0.91, bottom=0.19)
    return Drawing('chen_2018_memory', [table], figure)


def most(run: Run) -> float:
    """Returns the largest peak over a run's beams."""
    return max(float(row['peak_memory_mb']) for row in run.rows)
