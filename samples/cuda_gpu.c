/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_gpu BUNDLE FILE.raw [DEVICE]: recognises on an NVIDIA GPU through the CUDA back end.
 * Prints the device, the words of the recording (16-bit mono samples at the model's rate) and the speed beside the CPU's.
 * DEVICE is one of `senone devices`, such as cuda:1; without it the first GPU is taken.
 *
 *     cc cuda_gpu.c gpu_sample.c $(pkg-config --cflags --libs senone) -o cuda_gpu
 */
#include "gpu_sample.h"

int main(int argc, char **argv) {
  const gpu_sample sample = {
      "cuda_gpu", "cuda",
      "it needs an NVIDIA GPU of capability 7.5 or later, NVIDIA's driver, and libsenone_cuda.so among the plugins"};
  return gpu_sample_run(&sample, argc, argv);
}
