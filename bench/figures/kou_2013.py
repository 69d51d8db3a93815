# SPDX-License-Identifier: Apache-2.0
"""Kou et al. 2013, MFCC on a GPU: tables 1 to 3."""

from __future__ import annotations

from typing import Any

from drawing import Drawing, Line, draw_gaps, draw_lines, new_figure, set_decades
from results import Missing, NO_DEVICE_TIME, NO_PEER_FIGURE, Value, scaled
from sources import BackEnd, CUDA, MILAN, OCL_AMD, OCL_NVIDIA, Sources, TURIN, XEON
from tables import Cell, Table

BACK_ENDS = [CUDA, OCL_NVIDIA, OCL_AMD, TURIN, XEON, MILAN]
WARPS = [1, 11, 21]
ONE_KERNEL = Missing('not measured apart: one kernel does all stages')
ONE_PASS = Missing('not measured apart: a frame goes through all stages at once')
OTHER_CORE = Missing('measured on another core only')


def us_per_frame(sources: Sources, back_end: BackEnd, n_warps: int) -> Value:
    """µs per frame for all warps together, including transfers on GPUs."""
    name = f'{back_end.prefix}_mfcc'
    if sources.results.has(name):
        sources.results.run(name).expect('mfcc', rate_hz=16000.0, mel=40, ceps=13)
    return sources.results.value(
        name, 'us_per_frame', OTHER_CORE if back_end.colour == 'cpu' else NO_DEVICE_TIME, n_warps=n_warps
    )


def kernel_us_per_frame(sources: Sources, back_end: BackEnd, n_warps: int) -> Value:
    """µs per frame without transfers on GPUs; CPUs have no transfers."""
    name = f'{back_end.prefix}_mfcc'
    if back_end.colour == 'cpu':
        return us_per_frame(sources, back_end, n_warps)
    milliseconds = sources.results.value(name, 'kernel_ms', NO_DEVICE_TIME, n_warps=n_warps)
    frames = sources.results.value(name, 'n_frames', NO_DEVICE_TIME, n_warps=n_warps)
    return frames if isinstance(frames, Missing) else scaled(milliseconds, 1e3 / frames)


def stages(sources: Sources, title: str, rows: list[dict[str, Any]], n_warps: int) -> Table:
    """Returns a table by stage: the paper's rows with ours beside them."""
    table = Table(
        title,
        'µs a frame, 25 ms windows every 10 ms at 16 kHz. The paper: 24 bands, an Intel Core i7-2600 with Julius 4.2.1\'s '
        'code and a GTX 580. Ours: 40 bands, 13 cepstra; GPUs without transfers.',
        ['stage', 'paper, CPU', 'paper, GPU', *(short_name(back_end) for back_end in BACK_ENDS)],
    )
    for row in rows:
        ours: list[Cell] = [ONE_PASS if back_end.colour == 'cpu' else ONE_KERNEL for back_end in BACK_ENDS]
        if row['stage'] == 'total':
            ours = [kernel_us_per_frame(sources, back_end, n_warps) for back_end in BACK_ENDS]
        table.add(row['stage'], str(row['cpu_us']), str(row['gpu_us']), *ours)
    return table


def short_name(back_end: BackEnd) -> str:
    """Shortens a name for the heads of wide tables."""
    return {
        CUDA: 'CUDA',
        OCL_NVIDIA: 'ocl_nvidia',
        OCL_AMD: 'ocl_amd',
        TURIN: 'Turin core',
        XEON: 'Xeon core',
        MILAN: 'Milan core',
    }[back_end]


def peers(sources: Sources) -> Table:
    """Numbers of Julius and Kaldi."""
    table = Table(
        'Kou et al. 2013: Julius and Kaldi beside ours', 'One core, one warp, µs a frame.', ['program', 'machine', 'µs a frame']
    )
    for row in sources.peers['mfcc']:
        table.add(row['peer'], row['machine'], row['us_per_frame'])
    for back_end in (XEON, MILAN, TURIN):
        table.add('Senone', back_end.label, us_per_frame(sources, back_end, 1))
    return table


def tables_1_to_3(sources: Sources) -> Drawing:
    """Makes all three tables, and a figure of the third."""
    paper = sources.papers['kou_2013']
    table = Table(
        'Kou et al. 2013, table 3: real-time factor in percent for 1, 11 and 21 warps',
        'Transfers included. 0.01 % is 10,000 times real time.',
        ['system', *(f'warps: {n}' for n in WARPS)],
    )
    lines = []
    for row, mark in zip(paper['table_3'], 'Ds^'):
        printed = [row['rtf_percent'][str(n)] for n in WARPS]
        table.add(f'{row["system"]}, the paper', *(str(factor) for factor in printed))
        lines.append(Line(f'{row["system"]}, the paper', 'paper', f'{mark}--', [float(n) for n in WARPS], printed))
    for back_end in BACK_ENDS:
        line = Line(back_end.label, back_end.colour, f'{back_end.mark}-')
        factors = [scaled(us_per_frame(sources, back_end, n), 1e-2) for n in WARPS]
        table.add(back_end.label, *factors)
        for n, factor in zip(WARPS, factors):
            line.add(n, factor)
        lines.append(line)
    no_warps: list[Cell] = [NO_PEER_FIGURE, NO_PEER_FIGURE]
    for row in sources.peers['mfcc']:
        table.add(f'{row["peer"]}, {row["machine"]}', [us / 100 for us in row['us_per_frame']], *no_warps)
        line = Line(f'{row["peer"]}, {row["machine"]}', 'peer', 's' if 'Kaldi' in row['peer'] else 'v')
        line.add(1, max(row['us_per_frame']) / 100)
        lines.append(line)
    figure, (axes,) = new_figure(4.2)
    set_decades(axes, 'y', 1e-4, 100)
    draw_lines(axes, lines)
    axes.set_xticks(WARPS)
    axes.set_xlabel('warps')
    axes.set_ylabel('real-time factor, %')
    axes.set_title('MFCC for several warps')
    axes.legend(loc='upper left', bbox_to_anchor=(1.01, 1), fontsize=7.5)
    draw_gaps(figure, [f'GPUs with 11 warps: {NO_DEVICE_TIME.reason}. Julius and Kaldi: the slower of several runs.'])
    figure.subplots_adjust(left=0.09, right=0.6, top=0.92, bottom=0.17)
    first = stages(sources, 'Kou et al. 2013, table 1: by stage, one warp', paper['table_1'], 1)
    second = stages(sources, 'Kou et al. 2013, table 2: by stage, 21 warps', paper['table_2'], 21)
    return Drawing('kou_2013_tables', [first, second, table, peers(sources)], figure)
