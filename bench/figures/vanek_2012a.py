# SPDX-License-Identifier: Apache-2.0
"""Vaněk et al. 2012a, optimised acoustic likelihoods on GPUs: figures 3 to 7. Vaněk et al. 2011 has figures 4 and 6 as its figures 1 and 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drawing import Bar, Drawing, Line, draw_bars, draw_gaps, draw_lines, new_figure, set_decades, shade
from results import Missing, NO_DEVICE_TIME, NOT_PRINTED, NO_PEER_FIGURE, Run, Value, inverse, scaled
from scores import GAUSSIANS, LARGE, MEDIUM, SMALL, counted_tflops, kernel_tflops, score, total_tflops
from sources import AMD_GPU, BackEnd, CUDA, CUDA_FP32, MILAN, OCL_AMD, OCL_NVIDIA, OCL_NVIDIA_FP32, Sources, TURIN, XEON
from tables import Table

DEVICES = [CUDA, OCL_NVIDIA, OCL_AMD, AMD_GPU, TURIN, XEON, MILAN]
GPU_PLUGINS = [CUDA, CUDA_FP32, OCL_NVIDIA, OCL_NVIDIA_FP32, OCL_AMD, AMD_GPU]
WINDOWS = [8, 16, 32, 64, 128, 256]
NO_KERNEL_TIME = Missing('a CPU has no kernel time of its own')
NOT_QUIET_CPU = Missing('measured on another core only')


def otherwise(back_end: BackEnd) -> Missing | None:
    """Returns the reason why a CPU core lacks a measurement; GPUs have their own reasons."""
    return NOT_QUIET_CPU if back_end.colour == 'cpu' else None


def kernel_or_gap(sources: Sources, back_end: BackEnd, size: str) -> Value:
    """Counted TFLOPS of kernels, windows of 256."""
    return kernel_tflops(sources.results, back_end, size, otherwise=NO_KERNEL_TIME if back_end.colour == 'cpu' else None)


def figure_3(sources: Sources) -> Drawing:
    """Counted TFLOPS of devices, 1,280k Gaussians."""
    table = Table(
        'Vaněk et al. 2012a, figure 3: counted TFLOPS of devices',
        '5000 states × 256 Gaussians × 36 dimensions, windows of 256 frames. The paper draws bars without numbers.',
        ['device', 'with transfers', 'kernels'],
    )
    bars = []
    for back_end in DEVICES:
        total = total_tflops(sources.results, back_end, LARGE, otherwise=otherwise(back_end))
        kernels = kernel_or_gap(sources, back_end, LARGE)
        table.add(back_end.label, total, kernels)
        bars.append(Bar(back_end.label, total, back_end.colour))
        if not isinstance(kernels, Missing):
            bars.append(Bar(f'{back_end.label}: kernels', kernels, back_end.colour, light=True))
    for row in sources.peers['gmm_5000x256x36']:
        tflops = counted_tflops(GAUSSIANS[LARGE], 1, row['us_per_frame'] * 1e-6)
        table.add(f'{row["peer"]}, {row["machine"]}', tflops, NO_KERNEL_TIME)
        bars.append(Bar(row['peer'], tflops, 'peer'))
    for row in sources.peers['gmm_5000x256x36_kernels']:
        tflops = counted_tflops(GAUSSIANS[LARGE], row['window'], row['kernel_ms_per_window'] * 1e-3)
        table.add(f'{row["peer"]}, {row["machine"]}', NO_PEER_FIGURE, tflops)
        bars.append(Bar(f'{row["peer"]}: kernels', tflops, 'peer', light=True))
    table.add('GPUs of 2010, the paper', NOT_PRINTED, NOT_PRINTED)
    figure, (axes,) = new_figure(4.6)
    draw_bars(axes, bars, 'counted TFLOPS; dark: with transfers, light: kernels alone', 1e-3)
    figure.suptitle('1,280k diagonal Gaussians, 36 dimensions, windows of 256 frames', fontsize=10)
    figure.subplots_adjust(left=0.4, right=0.97, top=0.92, bottom=0.12)
    return Drawing('vanek_2012a_figure_3', [table, earlier_implementations(sources)], figure)


def earlier_implementations(sources: Sources) -> Table:
    """Tables I to III of the paper."""
    table = Table(
        'Vaněk et al. 2012a, tables I to III: earlier implementations, as the paper gives them',
        'Nothing of ours stands beside them: models and GPUs are others. GFLOPS are counted.',
        ['table', 'by', 'GPU', 'model', 'real-time factor', 'counted GFLOPS'],
    )
    for row in sources.papers['vanek_2012a']['earlier']:
        table.add(row['table'], row['by'], row['gpu'], row['model'], row['rtf'], row['gflops'])
    return table


def figure_4(sources: Sources) -> Drawing:
    """Times real time of devices, for 80k, 194k and 1,280k Gaussians."""
    table = Table(
        'Vaněk et al. 2012a, figure 4 (2011, figure 1): real-time factor of devices',
        'Windows of 256 frames, transfers included, 100 frames a second. 80k is 5000 × 16, the size next to the '
        'paper\'s 81k; 194k is 5385 × 36. The paper draws 1,280k; the other two are those of its figure 7.',
        ['device', '80k', '194k', '1,280k'],
    )
    figure, panels = new_figure(4.2, 3)
    bars: list[list[Bar]] = [[], [], []]
    for back_end in DEVICES:
        factors = [
            score(sources.results, back_end, size, 256, 'rtf', otherwise=otherwise(back_end)) for size in (SMALL, MEDIUM, LARGE)
        ]
        table.add(back_end.label, *factors)
        for panel, factor in zip(bars, factors):
            panel.append(Bar(back_end.label, inverse(factor), back_end.colour))
    small, large = (
        {row['peer']: row['us_per_frame'] * 1e-4 for row in sources.peers[f'gmm_{size}']} for size in (SMALL, LARGE)
    )
    for peer in small:
        table.add(f'{peer}, Intel Xeon', small[peer], NO_PEER_FIGURE, large[peer])
        for panel, value in zip(bars, (1 / small[peer], NO_PEER_FIGURE, 1 / large[peer])):
            panel.append(Bar(peer, value, 'peer'))
    paper = sources.papers['vanek_2012a']['figure_4']
    slowest, fastest = paper['desktop_times_real_time']
    table.add('desktop GPUs of 2010, the paper', NOT_PRINTED, NOT_PRINTED, [1 / fastest, 1 / slowest])
    table.add('laptop GPUs of 2010, the paper', NOT_PRINTED, NOT_PRINTED, f'below {paper["laptop_rtf_below"]}')
    for axes, panel, name in zip(panels, bars, ('80k', '194k', '1,280k')):
        draw_bars(axes, panel, 'times real time', 0.1)
        set_decades(axes, 'x', 0.1, 9e5)
        axes.set_title(f'{name} Gaussians')
        if axes is not panels[0]:
            axes.set_yticklabels([])
    shade(panels[2], slowest, fastest)
    draw_gaps(figure, ['Shaded: desktop GPUs of 2010, by the text of Vaněk et al. 2012a.'])
    figure.subplots_adjust(left=0.29, right=0.98, top=0.92, bottom=0.17, wspace=0.08)
    return Drawing('vanek_2012a_figure_4', [table], figure)


def figure_5(sources: Sources) -> Drawing:
    """Counted TFLOPS of the back ends on one GPU, and the cross test."""
    table = Table(
        'Vaněk et al. 2012a, figure 5: CUDA, OpenCL and the cross test',
        '5000 states × 16 Gaussians × 36 dimensions, windows of 256 frames, counted TFLOPS. The cross test runs what is '
        'made for AMD on an NVIDIA GPU. The paper has 1,280k Gaussians on a GT 240 and an HD 5670, in bars without '
        'numbers.',
        ['back end', 'with transfers', 'kernels'],
    )
    totals, kernels = [], []
    for back_end in GPU_PLUGINS:
        total, kernel = total_tflops(sources.results, back_end, SMALL), kernel_tflops(sources.results, back_end, SMALL)
        table.add(back_end.label, total, kernel)
        totals.append(Bar(back_end.label, total, back_end.colour))
        kernels.append(Bar(back_end.label, kernel, back_end.colour, light=True))
    for row in kernels_of_peers(sources, 256):
        tflops = counted_tflops(GAUSSIANS[SMALL], 256, row['kernel_ms_per_window'] * 1e-3)
        table.add(f'{row["peer"]}, {row["machine"]}', NO_PEER_FIGURE, tflops)
        totals.append(Bar(row['peer'], NO_PEER_FIGURE, 'peer'))
        kernels.append(Bar(row['peer'], tflops, 'peer', light=True))
    table.add('GT 240 and HD 5670, the paper', NOT_PRINTED, NOT_PRINTED)
    figure, panels = new_figure(3.0, 2)
    draw_bars(panels[0], totals, 'counted TFLOPS with transfers', 1)
    draw_bars(panels[1], kernels, 'counted TFLOPS of the kernels', 1)
    panels[1].set_yticklabels([])
    figure.suptitle('80k diagonal Gaussians, 36 dimensions, windows of 256 frames', fontsize=10)
    figure.subplots_adjust(left=0.24, right=0.98, top=0.88, bottom=0.17, wspace=0.06)
    return Drawing('vanek_2012a_figure_5', [table], figure)


def kernels_of_peers(sources: Sources, window: int) -> list[dict[str, Any]]:
    """Other programs' kernels on 80k Gaussians."""
    return [row for row in sources.peers[f'gmm_{SMALL}_kernels'] if row['window'] == window]


def figure_6(sources: Sources) -> Drawing:
    """Time per frame over the window: whole calls and kernels."""
    overhead = ' to '.join(str(limit) for limit in sources.papers['vanek_2012a']['figure_6']['overhead_ms_per_window'])
    table = Table(
        'Vaněk et al. 2012a, figure 6 (2011, figure 2): µs a frame over the window',
        '5000 states × 16 Gaussians × 36 dimensions. "Total" has transfers and launches. The paper draws curves without '
        f'numbers; its text has {overhead} ms a window between total and kernels on a GT 240.',
        ['back end', 'time', *(str(window) for window in WINDOWS)],
    )
    lines = []
    for back_end in (CUDA, CUDA_FP32, OCL_NVIDIA, OCL_NVIDIA_FP32, OCL_AMD, TURIN):
        total = Line(f'{back_end.label}: total', back_end.colour, f'{back_end.mark}-')
        kernel = Line(f'{back_end.label}: kernels', back_end.colour, f'{back_end.mark}:')
        totals, kernels = [], []
        for window in WINDOWS:
            totals.append(score(sources.results, back_end, SMALL, window, 'us_per_frame', otherwise=otherwise(back_end)))
            per_window = score(
                sources.results,
                back_end,
                SMALL,
                window,
                'kernel_ms_per_window',
                otherwise=NO_KERNEL_TIME if back_end is TURIN else None,
            )
            kernels.append(scaled(per_window, 1000 / window))
            total.add(window, totals[-1])
            kernel.add(window, kernels[-1])
        table.add(back_end.label, 'total', *totals)
        table.add(back_end.label, 'kernels', *kernels)
        lines += [total, kernel]
    for peer, mark in (('the papers\' kernel in CUDA', 'x'), ('cuBLAS + log-sum-exp', '+')):
        line, cells = Line(peer, 'peer', f'{mark}:'), []
        for window in WINDOWS:
            times = [row['kernel_ms_per_window'] for row in kernels_of_peers(sources, window) if row['peer'] == peer]
            cells.append(times[0] * 1000 / window if times else NO_PEER_FIGURE)
            line.add(window, cells[-1])
        table.add(f'{peer}, H200', 'kernels', *cells)
        lines.append(line)
    figure, (axes,) = new_figure(4.4)
    set_decades(axes, 'y', 0.1, 400)
    axes.set_xscale('log', base=2)
    draw_lines(axes, lines)
    axes.set_xticks(WINDOWS, [str(window) for window in WINDOWS])
    axes.set_xlabel('frames in a window')
    axes.set_ylabel('µs a frame')
    axes.set_title('80k diagonal Gaussians, 36 dimensions')
    axes.legend(loc='upper left', bbox_to_anchor=(1.01, 1), fontsize=7.5)
    draw_gaps(
        figure, [f'Points of the H200 that are missing: {NO_DEVICE_TIME.reason}. Crosses: other programs\' kernels, H200.']
    )
    figure.subplots_adjust(left=0.08, right=0.68, top=0.92, bottom=0.15)
    return Drawing('vanek_2012a_figure_6', [table], figure)


@dataclass(frozen=True)
class GpuWay:
    """A way to recognise with a GPU. `prefix` begins the names of its measurements, one for each set of recordings."""

    label: str
    prefix: str
    mark: str

    def run_name(self, recordings: str) -> str:
        return self.prefix + {'AN4 dev': 'an4', 'kaldi_20k': 'kaldi_20k'}.get(recordings, 'none')

    def has(self, sources: Sources, recordings: str) -> bool:
        return sources.results.has(self.run_name(recordings))


GPU_WAYS = [
    GpuWay('GPU', 'cuda_nvidia_h200_accuracy_', 'o-'),
    GpuWay('hybrid, 1 thread', 'hybrid_cuda_nvidia_h200_accuracy_', 's--'),
    GpuWay('hybrid, 16 threads', 'hybrid_16_threads_cuda_nvidia_h200_accuracy_', '^--'),
]


def line_of(table: Table, run: Run, way: str, line: Line, time: str = 'rtf') -> Line:
    """Adds the measurements of a way to the table and to the line, which it returns. `time`: rtf or rtf_wall."""
    for row in run.rows:
        accuracy = 100 - row['wer_percent']
        table.add(run.options['set'], run.options['model'], f'Senone, {way}', row['beam'], accuracy, row[time])
        line.add(row[time], accuracy)
    return line


def line_of_gpu(sources: Sources, table: Table, recordings: str, way: GpuWay) -> Line:
    """Adds the measurements of a way to the table; returns them as a line."""
    run = sources.results.run(way.run_name(recordings)).expect('accuracy', jobs=16)
    return line_of(table, run, way.label, Line(way.label, 'cuda', way.mark), 'rtf_wall')


def line_of_cpu(table: Table, run: Run, way: str, label: str, mark: str) -> Line:
    """Adds the measurements of a core of a CPU to the table; returns them as a line."""
    line = Line(f'{run.options["model"]}: {label}', 'cpu', mark)
    return line_of(table, run.expect('accuracy', threads=1), way, line)


def line_of_selection(table: Table, run: Run) -> Line:
    """Adds the measurements of a CPU that scores all states, or a share of them, to the table; returns them as a line."""
    fast = bool(run.options['selection'])
    way = 'CPU fast, Xeon' if fast else 'CPU full, Xeon'
    return line_of_cpu(table, run, way, way, 'x--' if fast else 'x-')


def figure_7(sources: Sources) -> Drawing:
    """Word accuracy against the real-time factor at several beams."""
    table = Table(
        'Vaněk et al. 2012a, figure 7: word accuracy against the real-time factor',
        '100 − word error rate in percent, one core of an EPYC (Turin) that was not quiet: times are good to about 20 %. '
        'CPU fast scores a quarter of the clusters of states in each frame (`--cluster-share 0.25`); it and the CPU full beside it '
        'ran on a core of a Xeon. Rows of PocketSphinx are from other machines, at its default beams. GPU: an H200, 16 '
        'recordings at a time, and the time taken; hybrid: searched on cores of a Xeon.',
        ['recordings', 'models', 'by', 'beam', 'accuracy, %', 'real-time factor'],
    )
    sets = ('AN4 dev', 'LibriSpeech dev', 'kaldi_20k')
    figure, panels = new_figure(4.0, len(sets))
    styles = ('o-', 's-', '^-')
    for axes, recordings in zip(panels, sets):
        runs = [run for run in sources.results.named('cpu_amd_epyc_turin_accuracy_') if run.options['set'] == recordings]
        lines = [line_of_cpu(table, run, 'CPU full', 'CPU', style) for style, run in zip(styles, runs)]
        for run in sources.results.named('cpu_intel_xeon_accuracy_'):
            if run.options['set'] == recordings:
                lines.append(line_of_selection(table, run))
        lines += [line_of_gpu(sources, table, recordings, way) for way in GPU_WAYS if way.has(sources, recordings)]
        for row, mark in zip(sources.peers['accuracy'], 'x+x+'):
            if row['set'] == recordings:
                table.add(recordings, row['model'], row['peer'], 'default', 100 - row['wer_percent'], row['rtf'])
                lines.append(Line(f'{row["model"]}: {row["peer"]}', 'peer', mark, [row['rtf']], [100 - row['wer_percent']]))
        set_decades(axes, 'x', 3e-4, 1)
        draw_lines(axes, lines)
        axes.set_title(recordings)
        axes.set_xlabel('real-time factor')
        axes.legend(loc='upper left', bbox_to_anchor=(-0.15, -0.2), fontsize=7)
    panels[0].set_ylabel('word accuracy, %')
    for row in sources.papers['vanek_2011']['recogniser']:
        table.add(
            'Czech parliament',
            f'{row["model"]} Gaussians',
            '2011, CPU full',
            NOT_PRINTED,
            f'about {row["accuracy_percent"]}',
            f'about {row["cpu_rtf"]}',
        )
    loss = sources.papers['vanek_2012a']['figure_7']['fast_cpu_accuracy_loss_percent']
    table.add('Czech parliament', '81k Gaussians', '2012a, CPU fast', NOT_PRINTED, f'about {loss} less than full', NOT_PRINTED)
    figure.subplots_adjust(left=0.07, right=0.98, top=0.93, bottom=0.44, wspace=0.25)
    return Drawing('vanek_2012a_figure_7', [table], figure)
