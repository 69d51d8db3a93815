// SPDX-License-Identifier: Apache-2.0
// The kernels of the CUDA back end's mfcc_512_sums.cuh for OpenCL. NVIDIA's compiler of OpenCL C spills registers here and
// makes code that takes a third longer. A program's binary is PTX, so nvcc compiles these for the driver
// (cmake/SenoneKernels.cmake).
//   -D STEPS=3 or 5: of a quarter of a bank, GAINS=0 or 1 (plugins/gpu/features/mfcc_sums.h)
#include "plugins/cuda/features/mfcc_512_sums.cuh"

namespace {

using namespace asr;
using namespace asr::gpu;
using namespace asr::gpu::mfcc_512_sums;

static_assert(sizeof(Memory) <= 48 << 10, "what OpenCL gives a work-group");
static_assert(sizeof(MfccOutput) == 16, "as in plugins/ocl/features/mfcc_types.h");

}  // namespace

#define KERNEL(name, full, rows)                                                                                            \
  extern "C" __global__ void __launch_bounds__(kThreads, kBlocks)                                                           \
      name(MfccSumsOptions o, const float *window, const float2 *twiddles, const float2 *real_twiddles,                     \
           const double *positions, const MfccEdges *edges, const float *gains, const uint4 *dct, const MfccFrames *frames, \
           const MfccOutput *outputs, const float *samples, float *cepstra) {                                               \
    __shared__ Memory memory;                                                                                               \
    MfccTables t{};                                                                                                         \
    t.window_samples = o.window_samples, t.shift_samples = o.shift_samples, t.n_ceps = o.n_ceps;                            \
    t.preemphasis = o.preemphasis, t.log_add = o.log_add, t.log_floor = o.log_floor;                                        \
    t.preemphasis_in_frame = o.preemphasis_in_frame, t.dc_removal = o.dc_removal, t.magnitude = o.magnitude;                \
    t.energy_windowed = o.energy_windowed, t.energy_row = o.energy_row;                                                     \
    t.window = window, t.twiddles = twiddles, t.real_twiddles = real_twiddles;                                              \
    extract<full, rows, STEPS, GAINS != 0>(t, {o.n_lanes, o.n_frames_entries, samples, frames, outputs, cepstra},           \
                                           {positions, edges, gains, dct, STEPS, o.first_bin}, memory);                     \
  }

KERNEL(mfcc_512_sums_usual, 12, 13)  // windows of 384 to 416 samples
KERNEL(mfcc_512_sums_any, 0, 16)
