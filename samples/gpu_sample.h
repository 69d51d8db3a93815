/* SPDX-License-Identifier: Apache-2.0 */
/* The part that the samples of the vendors' GPUs share (gpu_sample.c). */
#ifndef SENONE_GPU_SAMPLE_H
#define SENONE_GPU_SAMPLE_H

typedef struct gpu_sample {
  const char *name;     /* of the program */
  const char *back_end; /* "cuda": its devices are "cuda:0", "cuda:1", ... */
  const char *needs;    /* what makes such a device usable, one sentence */
} gpu_sample;

/* Runs `NAME BUNDLE FILE.raw [DEVICE]`: says what the device is, recognises the file there, and compares its speed with the
 * CPU's. Without a usable device it says what is missing. Returns the program's exit code: 0, also without a device. */
int gpu_sample_run(const gpu_sample *sample, int argc, char **argv);

#endif
