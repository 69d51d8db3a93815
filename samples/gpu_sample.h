/* SPDX-License-Identifier: Apache-2.0 */
/* The common code of the samples for the vendors' GPUs (gpu_sample.c). */
#ifndef SENONE_GPU_SAMPLE_H
#define SENONE_GPU_SAMPLE_H

typedef struct gpu_sample {
  const char *name;     /* name of the program */
  const char *back_end; /* "cuda": its devices are "cuda:0", "cuda:1", ... */
  const char *needs;    /* requirements of such a device, one sentence */
} gpu_sample;

/* Runs `NAME BUNDLE FILE.raw [DEVICE]`: prints the device, recognises the file on it, and compares its speed with the CPU's.
 * Without a usable device it prints the reason. Returns the program's exit code: 0, also without a device. */
int gpu_sample_run(const gpu_sample *sample, int argc, char **argv);

#endif
