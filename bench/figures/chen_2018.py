# SPDX-License-Identifier: Apache-2.0
"""Chen et al. 2018, a decoder on GPUs with lattices: its tables, the ablation, and many sequences."""

from __future__ import annotations

from matplotlib.figure import Figure

from drawing import Drawing, Line, draw_gaps, draw_lines, new_figure, set_decades
from results import Missing, NO_DEVICE_TIME, NO_PEER_FIGURE, NOT_PRINTED, Value, inverse
from sources import BackEnd, CUDA, MILAN, OCL_AMD, OCL_NVIDIA, Sources
from tables import Table

STREAMS = [1, 4, 8, 12, 16, 32, 64, 128, 512]
SETTINGS = {'beam': 13.0, 'max_active': 7000, 'states': 2511512, 'arcs': 6118644}
RESULTS = ('best path', 'determinised')
ABLATIONS = {  # ends of file names
    'a block for a stream': 'block',
    'without staging of links in shared memory': 'unstaged',
    'pruning every 8 frames': 'prune8',
    'pruning every 64 frames': 'prune64',
}
NO_SWITCH = Missing('not measured: the back end has no switch for it yet, and no device time')
NO_LATTICES = Missing('not measured: lattices with this back end')


def real_time_factor(sources: Sources, back_end: BackEnd, streams: int, result: str) -> Value:
    """Returns a number of `senone bench decode` on kaldi_20k with given scores."""
    name = f'{back_end.prefix}_decode' if back_end is MILAN else f'{back_end.prefix}_decode_lanes{streams}'
    if sources.results.has(name):
        run = sources.results.run(name).expect('decode', lanes=streams, **SETTINGS)
        if result != 'best path' and run.find('rtf', result=result) is None:
            return NO_LATTICES
    return sources.results.value(name, 'rtf', NO_DEVICE_TIME, result=result)


def table_1(sources: Sources) -> Drawing:
    """Quality of best paths and lattices."""
    table = Table(
        'Chen et al. 2018, table 1: quality of lattices',
        'The paper: Switchboard, beam 14. Ours: kaldi_20k, beam 13, lattice beam 8, at most 7000 tokens; Kaldi on the CPU '
        'beside it. Errors in percent. GPUs make the CPU\'s lattices.',
        ['system', 'density', 'word errors', 'rescored', 'oracle errors', 'NCE'],
    )
    for row in sources.papers['chen_2018']['table_1']:
        table.add(f'{row["system"]}, the paper', row['density'], row['wer'], row['rescored'], row['oracle'], row['nce'])
    rescored = Missing('not rescored: the graph has the full language model')
    quality = sources.results.run('cpu_lattices_kaldi_20k').expect('lattices', beam=13.0, lattice_beam=8.0, max_active=7000)
    rows = {row['system']: row for row in quality.rows}
    columns = ('density', 'wer_percent', 'oracle_percent', 'nce')
    full = [rows['kaldi'][column] for column in columns]
    weak = [rows['weak'][column] for column in columns]
    table.add('Senone, Kaldi\'s graph', full[0], full[1], rescored, full[2], full[3])
    table.add('Senone, graph of a weak language model', weak[0], weak[1], rows['rescored']['wer_percent'], weak[2], weak[3])
    for row in sources.peers['lattices']:
        table.add(row['system'], row['density'], row['wer'], rescored, row['oracle'], row['nce'])
    return Drawing('chen_2018_table_1', [table])


def table_2(sources: Sources) -> Drawing:
    """Real-time factors of one stream and of many, best paths and lattices."""
    note = (
        'The paper: Switchboard, 30,000 words, beam 14, another GPU. Ours and Kaldi\'s: kaldi_20k, beam 13, lattice beam 8, at '
        'most 7000 tokens, scores given. Lattices are determinised.'
    )
    table = Table('Chen et al. 2018, table 2: real-time factors', note, ['system', 'best path', 'lattices'])
    for row in sources.papers['chen_2018']['table_2']:
        table.add(
            f'{row["system"]}, the paper', *(NOT_PRINTED if row[key] is None else row[key] for key in ('best_path', 'lattice'))
        )
    for back_end, streams in ((MILAN, 1), (CUDA, 1), (CUDA, 8), (CUDA, 128), (OCL_NVIDIA, 1), (OCL_NVIDIA, 128)):
        factors = [real_time_factor(sources, back_end, streams, result) for result in RESULTS]
        table.add(f'Senone, {back_end.label}, streams: {streams}', *factors)
    for result in ('best_path', 'determinised'):
        name = 'best path' if result == 'best_path' else result
        row = next(row for row in sources.peers['decoding_cpu'] if row['result'] == name)
        cells = [row['rtf'], NO_PEER_FIGURE]
        table.add(f'{row["peer"]}, {row["machine"]}', *(cells if result == 'best_path' else reversed(cells)))
    for row in sources.peers['decoding_gpu']['rows']:
        if row['streams'] in (1, 128):
            table.add(
                f'{sources.peers["decoding_gpu"]["peer"]}, H200, streams: {row["streams"]}',
                1 / row['best_path'],
                1 / row['determinised'],
            )
    return Drawing('chen_2018_table_2', [table, many_streams(sources), ablation(sources)], draw_streams(sources))


def many_streams(sources: Sources) -> Table:
    """Times real time over the number of streams."""
    table = Table(
        'Chen et al. 2018, many sequences: times real time over streams',
        'The paper decodes 8 sequences at once. Ours: the first three recordings of kaldi_20k in all streams, windows of '
        '32 frames. Kaldi\'s CUDA decoder: all recordings.',
        ['system', 'result', *(str(streams) for streams in STREAMS)],
    )
    for back_end in (CUDA, OCL_NVIDIA, OCL_AMD):
        for result in RESULTS:
            factors = [real_time_factor(sources, back_end, streams, result) for streams in STREAMS]
            table.add(back_end.label, result, *(inverse(factor) for factor in factors))
    peer = sources.peers['decoding_gpu']
    rows = {row['streams']: row for row in peer['rows']}
    for result in ('best_path', 'determinised'):
        cells = [rows[streams][result] if streams in rows else NO_PEER_FIGURE for streams in STREAMS]
        table.add(f'{peer["peer"]}, H200', result.replace('_', ' '), *cells)
    return table


def draw_streams(sources: Sources) -> Figure:
    """Draws the same numbers as lines, with the paper's points."""
    figure, panels = new_figure(3.8, 2)
    for axes, result, key, paper in zip(
        panels, ('best path', 'determinised'), ('best_path', 'determinised'), ('best_path', 'lattice')
    ):
        lines = []
        for back_end in (CUDA, OCL_NVIDIA, OCL_AMD):
            line = Line(back_end.label, back_end.colour, f'{back_end.mark}-')
            for streams in STREAMS:
                line.add(streams, inverse(real_time_factor(sources, back_end, streams, result)))
            lines.append(line)
        kaldi = Line('Kaldi\'s CUDA decoder, H200', 'peer', 's-')
        for row in sources.peers['decoding_gpu']['rows']:
            speed = row[key]
            if speed is not None:
                kaldi.add(row['streams'], max(speed) if isinstance(speed, list) else speed)
        table = sources.papers['chen_2018']['table_2']
        points = Line('the paper: another task and GPU', 'paper', 'D')
        points.add(1, 1 / min(row[paper] for row in table if row[paper] and '8 sequences' not in row['system']))
        points.add(8, 1 / table[-1][paper])
        set_decades(axes, 'y', 10, 4e4)
        axes.set_xscale('log', base=2)
        draw_lines(axes, [*lines, kaldi, points])
        axes.set_xlabel('streams')
        axes.set_title('best paths' if result == 'best path' else 'lattices, determinised')
    panels[0].set_ylabel('times real time')
    panels[0].legend(loc='lower right', fontsize=7)
    draw_gaps(figure, ['ocl_amd: lattices not measured. Kaldi\'s lattices at 512 streams: the faster of two runs.'])
    figure.subplots_adjust(left=0.08, right=0.98, top=0.92, bottom=0.17, wspace=0.15)
    return figure


def ablation(sources: Sources) -> Table:
    """Gain of each optimisation of the search."""
    table = Table(
        'Chen et al. 2018, table 2, ablation: real-time factors with and without',
        'The paper adds one optimisation after the other (rows of table 2). Ours that can be told apart in committed '
        'measurements: a stream is one block from 12 streams on, and a cluster of blocks below, so both are measured, '
        'but at different loads.',
        ['optimisation', 'streams', 'best path', 'lattices'],
    )
    for label, streams in (('a cluster of blocks for a stream', 8), ('a block for a stream', 12)):
        table.add(label, str(streams), *(real_time_factor(sources, CUDA, streams, result) for result in RESULTS))
    for label, variant in ABLATIONS.items():
        name = f'{CUDA.prefix}_decode_lanes1_{variant}'
        table.add(label, '1', *(sources.results.value(name, 'rtf', NO_SWITCH, result=result) for result in RESULTS))
    return table
