#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Log posteriors of a CTC phoneme model for recordings, as an archive of Kaldi.

ctc_scores.py OUT_FOLDER RECORDING ... writes into OUT_FOLDER the archive scores.ark with the model's outputs for each
recording (key: the file's stem), its tokens (tokens.txt), and classes.txt, which maps them to the phones of CMU Sphinx's
en-us dictionary. docs/ctc.md shows what to do with them. The model is that of the package hama (Apache-2.0), which this
needs beside numpy and soundfile: pip install hama==1.7.0 soundfile.
"""

import struct
import sys
import time
from pathlib import Path

import hama.asr
import numpy as np
import soundfile

# Tokens of the International Phonetic Alphabet for each phone of CMU Sphinx, and between words.
CLASSES = """
AA ɑ
AE æ
AH ə ʌ ɐ
AO ɔ ɒ
AW aʊ
AY aɪ
B b
CH t͡ʃ
D d
DH ð
EH ɛ
ER ɝ ɚ ɜ
EY eɪ e ẽ
F f
G g ɡ
HH h
IH ɪ ɨ
IY i ĩ
JH d͡ʒ
K k
L l ɫ
M m
N n
NG ŋ
OW oʊ o õ
OY ɔɪ
P p
R ɹ r ɻ
S s
SH ʃ
T t ɾ
TH θ
UH ʊ
UW u ũ
V v
W w
Y j
Z z
ZH ʒ
<wb> <wb>
"""


def write_matrix(file, key, matrix):
    rows, cols = matrix.shape
    file.write(key.encode() + b" \0BFM " + struct.pack("<bibi", 4, rows, 4, cols))
    file.write(np.ascontiguousarray(matrix, dtype="<f4").tobytes())


def scores(model, path):
    audio, rate = soundfile.read(path, dtype="float32", always_2d=True)
    mono = audio.mean(axis=1)
    if rate != model.model_sample_rate:
        mono = hama.asr._resample_linear(mono, rate, model.model_sample_rate)
    fed = {
        model._waveform_input_name: mono.reshape(1, -1),
        model._waveform_lengths_input_name: np.array([len(mono)], dtype=np.int64),
    }
    rows, n = model.session.run([model._log_probs_output_name, model._out_lengths_output_name], fed)
    return rows[0][: int(np.asarray(n).reshape(-1)[0])], len(mono) / model.model_sample_rate


def main(folder, *recordings):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    model = hama.asr.ASRModel()
    folder.joinpath("tokens.txt").write_text("\n".join(model.decoder_tokens) + "\n", encoding="utf-8")
    folder.joinpath("classes.txt").write_text(CLASSES.lstrip(), encoding="utf-8")
    seconds, start = 0.0, time.process_time()
    with open(folder / "scores.ark", "wb") as archive:
        for recording in recordings:
            matrix, length = scores(model, recording)
            write_matrix(archive, Path(recording).stem, matrix)
            seconds += length
    print(f"{len(recordings)} recordings, {seconds:.1f} s, RTF of the network {(time.process_time() - start) / seconds:.4f}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
