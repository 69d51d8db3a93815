# SPDX-License-Identifier: Apache-2.0
"""Vaněk et al. 2012b, full-covariance mixtures on GPUs: figure 1, and the word errors of section V.A."""

from __future__ import annotations

from drawing import Bar, Drawing, Line, draw_bars, draw_gaps, draw_lines, new_figure, set_decades, shade
from results import Missing, NOT_PRINTED, inverse
from scores import GAUSSIANS, SMALL, counted_tflops, kernel_tflops, score, total_tflops
from sources import AMD_GPU, CUDA, CUDA_FP32, MILAN, OCL_AMD, OCL_NVIDIA, OCL_NVIDIA_FP32, Sources, TURIN, XEON
from tables import Table

DEVICES = [CUDA, CUDA_FP32, OCL_NVIDIA, OCL_NVIDIA_FP32, OCL_AMD, AMD_GPU, TURIN, XEON, MILAN]
NO_KERNEL_TIME = Missing('a CPU has no kernel time of its own')
NO_CPU_RUN = Missing('measured on another core only')


def figure_1(sources: Sources) -> Drawing:
    """Times real time and counted TFLOPS of devices, 80k Gaussians with full covariances."""
    table = Table(
        'Vaněk et al. 2012b, figure 1: full covariances',
        '5000 states × 16 Gaussians × 36 dimensions, windows of 256 frames, transfers included but in the last column. '
        'The paper has 1.4 to 59 times real time on six GPUs, in bars without numbers.',
        ['device', 'times real time', 'counted TFLOPS', 'counted TFLOPS of the kernels'],
    )
    speeds, counts = [], []
    for back_end in DEVICES:
        cpu = back_end.colour == 'cpu'
        otherwise = NO_CPU_RUN if cpu else None
        speed = inverse(score(sources.results, back_end, SMALL, 256, 'rtf', 'fullgmm', otherwise))
        total = total_tflops(sources.results, back_end, SMALL, benchmark='fullgmm', otherwise=otherwise)
        kernels = kernel_tflops(
            sources.results, back_end, SMALL, benchmark='fullgmm', otherwise=NO_KERNEL_TIME if cpu else None
        )
        table.add(back_end.label, speed, total, kernels)
        speeds.append(Bar(back_end.label, speed, back_end.colour))
        counts.append(Bar(back_end.label, total, back_end.colour))
    for row in sources.peers['fullgmm_5000x16x36']:
        tflops = counted_tflops(GAUSSIANS[SMALL], 1, row['us_per_frame'] * 1e-6, full=True)
        speed = 1e4 / row['us_per_frame']
        table.add(f'{row["peer"]}, {row["machine"]}', speed, tflops, NO_KERNEL_TIME)
        speeds.append(Bar(row['peer'], speed, 'peer'))
        counts.append(Bar(row['peer'], tflops, 'peer'))
    slowest, fastest = sources.papers['vanek_2012b']['figure_1']['times_real_time']
    table.add('six GPUs, the paper', [slowest, fastest], NOT_PRINTED, NOT_PRINTED)
    figure, panels = new_figure(4.2, 2)
    draw_bars(panels[0], speeds, 'times real time', 0.1)
    shade(panels[0], slowest, fastest)
    draw_bars(panels[1], counts, 'counted TFLOPS', 1e-3)
    panels[1].set_yticklabels([])
    figure.suptitle('80k Gaussians with full covariances, 36 dimensions, windows of 256 frames', fontsize=10)
    draw_gaps(figure, ['Shaded: six GPUs of 2012 and before, by the text of Vaněk et al. 2012b.'])
    figure.subplots_adjust(left=0.3, right=0.98, top=0.91, bottom=0.17, wspace=0.06)
    return Drawing('vanek_2012b_figure_1', [table], figure)


def word_errors(sources: Sources) -> Drawing:
    """Word errors over the number of parameters, by kind of covariance."""
    run = sources.results.run('train_halves_an4').expect('train_halves', words=5442)
    table = Table(
        'Vaněk et al. 2012b, section V.A: word errors with full covariances',
        'The paper: Czech read speech, 140,000 words. Ours: AN4, models of half of the training speakers recognise the other '
        'half, both ways, 5,442 words; parameters are those of the first half.',
        ['covariances', 'Gaussians of a state', 'parameters', 'word error rate, %'],
    )
    for model, errors in sources.papers['vanek_2012b']['word_errors_percent'].items():
        table.add(f'{model}, the paper', NOT_PRINTED, NOT_PRINTED, errors)
    lines: dict[str, Line] = {}
    styles = iter(('o-', 's-', '^-', 'D-'))
    colours = iter(('cpu', 'cuda', 'ocl_nvidia', 'ocl_amd'))
    for row in run.rows:
        table.add(row['covariances'], row['gaussians'], row['n_parameters'], row['wer_percent'])
        if row['covariances'] not in lines:
            lines[row['covariances']] = Line(row['covariances'], next(colours), next(styles))
        lines[row['covariances']].add(row['n_parameters'], row['wer_percent'])
    figure, panels = new_figure(3.4)
    axes = panels[0]
    set_decades(axes, 'x', 1e4, 3e6)
    draw_lines(axes, list(lines.values()))
    axes.set_xlabel('parameters of the model')
    axes.set_ylabel('word error rate, %')
    axes.set_ylim(6, 12)
    axes.legend(loc='upper left', bbox_to_anchor=(1.0, 1.0))
    figure.suptitle('AN4: covariances of models by `senone train em`', fontsize=10)
    figure.subplots_adjust(left=0.08, right=0.75, top=0.9, bottom=0.15)
    return Drawing('vanek_2012b_word_errors', [table], figure)
