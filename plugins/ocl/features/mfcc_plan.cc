// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/features/mfcc_plan.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "plugins/gpu/features/mfcc_tiles.h"
#include "plugins/ocl/runtime/kernels.h"

namespace asr::gpu {
namespace {

constexpr uint32_t kPointsAnItem = 16, kMaxFrames = 64;

// Sizes of mfcc_512.cl.
constexpr uint32_t kRegisterPoints = 256, kRegisterFrames = 32, kRegisterGroupSize = 128, kGroupsAtOnce = 4;
constexpr size_t kPowerFloats = size_t{kRegisterPoints} * (kRegisterFrames + 1), kTableFloats = size_t{3} * kRegisterPoints,
                 kLaneFloats = kRegisterFrames * (1 + 24 / sizeof(float)), kExchangeFloats = size_t{16} * 17, kHeadFours = 32;
constexpr uint32_t kTensorCapability = 8;

// On CPUs the size is rounded up, so that one program serves many front ends.
size_t work_floats(const Device &device, const MfccOptions &o) {
  const size_t step = device.facts().is_cpu ? 4096 : 4;
  const size_t outputs = size_t{8} * kRegisterFrames * mfcc_n_tiles(o.n_mel);
  return (std::max(kRegisterGroupSize / 16 * kExchangeFloats, outputs) + step - 1) / step * step;
}

bool suits_registers(const Device &device, const MfccOptions &o, uint32_t n_points) {
  const DeviceFacts &facts = device.facts();
  const size_t n_floats = kPowerFloats + kTableFloats + kLaneFloats + 4 * kHeadFours + work_floats(device, o);
  return device.variant().mfcc_in_registers && (facts.is_cpu || facts.nvidia_capability >= kTensorCapability) &&
         n_points == kRegisterPoints && o.shift_samples % 2 == 0 && o.dither == 0 && mfcc_n_tiles(o.n_mel) / 2 < kHeadFours &&
         o.log_floor + o.log_add >= std::numeric_limits<float>::min() && n_floats * sizeof(float) <= facts.local_bytes;
}

// Local memory of mfcc.cl holds samples and a sum an item, then transforms, then spectra, log bands and cepstra.
MfccRoom room_in_memory(const Device &device, const MfccOptions &options, uint32_t n_points) {
  const uint32_t n_frames = std::clamp(device.variant().mfcc_points / n_points, 1u, kMaxFrames);
  const size_t rows = size_t{2} * n_points * n_frames, n_items = size_t{n_points} * n_frames / kPointsAnItem;
  const size_t spectra = size_t{n_points + 4 + options.n_mel_padded + options.n_ceps} * n_frames;
  const size_t n_floats = (std::max({rows, spectra, MfccBatch::local_floats(options, 1) + n_items}) + 1) / 2 * 2;
  if (n_floats * sizeof(float) > device.facts().local_bytes) {
    fail(ASR_UNSUPPORTED, "features: %u mel bands and %u cepstra do not fit the device's local memory; use the CPU",
         options.n_mel, options.n_ceps);
  }
  return {n_frames, n_floats - n_items};
}

// CPUs' compilers take very long over the unrolled transforms, so one program serves all front ends of a transform size there.
std::string compiled_in(const Device &device, const MfccOptions &o) {
  std::string options;
  if (device.facts().is_gpu) {
    options =
        format(" -DWINDOW_SAMPLES=%uu -DSHIFT_SAMPLES=%uu -DN_MEL=%uu -DN_CEPS=%uu -DDC_REMOVAL=%u -DENERGY=%u -DMAGNITUDE=%u",
               o.window_samples, o.shift_samples, o.n_mel, o.n_ceps, o.dc_removal, o.energy, o.magnitude);
  }
  if (device.facts().is_cpu) options += " -cl-opt-disable";
  return options;
}

Kernel kernel_in_registers(Device &device, const MfccOptions &o) {
  const bool nvidia = device.facts().nvidia_capability >= kTensorCapability;
  const std::string options = format("-DNVIDIA=%d -DWORK_FLOATS=%zu%s", nvidia ? 1 : 0, work_floats(device, o),
                                     nvidia ? " -cl-nv-maxrregcount=128 -cl-denorms-are-zero" : "");
  return device.program(kernel_mfcc_512, options + compiled_in(device, o)).kernel("mfcc_512");
}

Kernel kernel_in_memory(Device &device, const MfccOptions &o, uint32_t n_points, MfccRoom room) {
  const std::string options =
      format("-DN_POINTS=%u -DFRAMES=%u -DDITHER=%d -DLOCAL_FLOATS=%zu", n_points, room.n_frames, o.dither > 0 ? 1 : 0,
             room.sample_floats + size_t{n_points} * room.n_frames / kPointsAnItem);
  return device.program(kernel_mfcc, options + compiled_in(device, o)).kernel("mfcc");
}

}  // namespace

// PLP's levels come from mfcc.cl, which has floats throughout.
MfccPlan::MfccPlan(Device &device, const MfccOptions &options, uint32_t n_points, bool is_plp)
    : in_registers(!is_plp && suits_registers(device, options, n_points)),
      room(in_registers ? MfccRoom{kRegisterFrames, std::numeric_limits<size_t>::max()}
                        : room_in_memory(device, options, n_points)),
      group_size(in_registers ? kRegisterGroupSize : n_points * room.n_frames / kPointsAnItem),
      max_groups(in_registers ? kGroupsAtOnce * device.facts().n_compute_units : std::numeric_limits<uint32_t>::max()),
      kernel(in_registers ? kernel_in_registers(device, options) : kernel_in_memory(device, options, n_points, room)) {}

}  // namespace asr::gpu
