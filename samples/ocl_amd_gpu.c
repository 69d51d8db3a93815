/* SPDX-License-Identifier: Apache-2.0 */
/* ocl_amd_gpu BUNDLE FILE.raw [DEVICE]: recognises on an AMD GPU through OpenCL; on any other OpenCL device if it is named.
 * Prints the device, the words of the recording (16-bit mono samples at the model's rate) and the speed beside the CPU's.
 * DEVICE is one of `senone devices`, such as ocl_amd:0; without it the first GPU is taken.
 *
 *     cc ocl_amd_gpu.c gpu_sample.c $(pkg-config --cflags --libs senone) -o ocl_amd_gpu
 */
#include "gpu_sample.h"

int main(int argc, char **argv) {
  const gpu_sample sample = {
      "ocl_amd_gpu", "ocl_amd",
      "it needs an AMD GPU, ROCm's or Mesa's OpenCL, libOpenCL.so.1 and libsenone_ocl_amd.so among the plugins"};
  return gpu_sample_run(&sample, argc, argv);
}
