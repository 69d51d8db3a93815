#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""noisy_features.py IN OUT [--deviation D] [--seed N] [--only KEY] [--frames N]

Copies a binary archive of Kaldi's float matrices. Gaussian noise of deviation D is added to every value (0, the default: none), the
same on every machine. --only keeps one utterance, --frames the first N rows of each. bench/gpu_kit.sh makes what bench/accept.sh
recognises with it."""
import argparse
import math
import random
import struct


def read_archive(path):
    """Yields (key, number of columns, rows one after another)."""
    with open(path, 'rb') as file:
        data = file.read()
    at = 0
    while at < len(data):
        blank = data.index(b' ', at)
        key = data[at:blank].decode()
        magic, size_rows, n_rows, size_cols, n_cols = struct.unpack_from('<5sBiBi', data, blank + 1)
        if magic != b'\0BFM ' or size_rows != 4 or size_cols != 4:
            raise SystemExit(f'{path}: {key} is not a binary matrix of floats')
        at = blank + 1 + 15
        yield key, n_cols, struct.unpack_from(f'<{n_rows * n_cols}f', data, at)
        at += 4 * n_rows * n_cols


def write_matrix(file, key, n_cols, values):
    file.write(key.encode() + b' ' + struct.pack('<5sBiBi', b'\0BFM ', 4, len(values) // n_cols, 4, n_cols))
    file.write(struct.pack(f'<{len(values)}f', *values))


def normal(generator):
    """Implements Box and Muller's method: random.gauss may change between versions of Python."""
    radius = math.sqrt(-2 * math.log(1 - generator.random()))
    return radius * math.cos(2 * math.pi * generator.random())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('input')
    parser.add_argument('output')
    parser.add_argument('--deviation', type=float, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only')
    parser.add_argument('--frames', type=int)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    n_written = 0
    with open(options.output, 'wb') as file:
        for key, n_cols, values in read_archive(options.input):
            if options.only not in (None, key):
                continue
            if options.frames is not None:
                values = values[:options.frames * n_cols]
            if options.deviation > 0:
                values = [value + options.deviation * normal(generator) for value in values]
            write_matrix(file, key, n_cols, values)
            n_written += 1
    if n_written == 0:
        raise SystemExit(f'{options.input}: no utterance to write')


if __name__ == '__main__':
    main()
