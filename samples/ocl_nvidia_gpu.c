/* SPDX-License-Identifier: Apache-2.0 */
/* ocl_nvidia_gpu BUNDLE FILE.raw [DEVICE]: recognises on an NVIDIA GPU through OpenCL.
 * Prints the device, the words of the recording (16-bit mono samples at the model's rate) and the speed beside the CPU's.
 * DEVICE is one of `senone devices`, such as ocl_nvidia:1; without it the first GPU is taken.
 *
 *     cc ocl_nvidia_gpu.c gpu_sample.c $(pkg-config --cflags --libs senone) -o ocl_nvidia_gpu
 */
#include "gpu_sample.h"

int main(int argc, char **argv) {
  const gpu_sample sample = {
      "ocl_nvidia_gpu", "ocl_nvidia",
      "it needs an NVIDIA GPU, NVIDIA's driver with its OpenCL, libOpenCL.so.1 and libsenone_ocl_nvidia.so among the plugins"};
  return gpu_sample_run(&sample, argc, argv);
}
