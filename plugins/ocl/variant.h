// SPDX-License-Identifier: Apache-2.0
// The differences between the OpenCL back ends: the vendor of their devices, their kernels and how these are launched. Each
// plugin fills in one Variant; backend.cc makes the back end of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plugins/ocl/runtime/program.h"

namespace asr::gpu {

// The facts about a device that are known before it is opened.
struct DeviceFacts {
  cl_device_id id = nullptr;
  std::string name;
  std::string driver;  // device, driver and platform with their versions: a compiled kernel is for these only
  uint32_t vendor_id = 0, n_compute_units = 0;
  uint32_t nvidia_capability = 0;  // its first number; 0 for other devices
  uint64_t memory_bytes = 0;
  size_t local_bytes = 0, group_size = 0;  // most of a work-group
  bool is_cpu = false, is_gpu = false, is_little_endian = false, has_compiler = false, has_int64_atomics = false,
       has_fp64 = false, has_subgroups = false;
};

// Options with which the scoring kernels of a variant are compiled and launched.
struct GmmTuning {
  uint32_t lanes, parts, dims, factor_rows;  // GmmLayout
  std::vector<uint32_t> tile_rows;           // rows of a work-group: the least that is enough, else the last
  uint32_t group_blocks;                     // blocks, or lanes of fours, of a work-group
  uint32_t group_size;
  bool rows_in_local;       // features lie in local memory; else they are tiled beforehand
  uint32_t shared_rows;     // rows of a work-group that mixes shared codebooks,
  uint32_t shared_entries;  // and entries
};

// MatrixCores names the vendor whose matrix products the kernels may use (gmm_tensor.h).
enum class MatrixCores { kNone, kNvidia, kCdna };

struct Variant {
  const char *name;    // name of the back end
  const char *vendor;  // vendor of its devices, in words
  uint32_t vendor_id;
  const KernelSource *gmm_score;
  // Candidates for a device (gmm_tuning.h), the one that is shipped for its architecture first.
  std::vector<GmmTuning> (*gmm_tunings)(const DeviceFacts &facts, bool full);
  uint32_t mfcc_points;  // complex numbers of the transforms of a work-group, 4096 at least for windows of 8192 samples
  bool mfcc_in_registers = false;  // usual windows are transformed in the registers of 16 work-items (mfcc_plan.h)
  MatrixCores matrix_cores = MatrixCores::kNone;
  // By steps: 4, 9, 10, and then the same of halved models (gmm_wgmma.h); nullptr without nvcc.
  std::array<const KernelSource *, 6> gmm_wgmma{};
  // For 3 and for 5 steps without gains, and then the same with gains (mfcc_sums_kernel.h); nullptr without nvcc.
  std::array<const KernelSource *, 4> mfcc_sums{};
};

}  // namespace asr::gpu
