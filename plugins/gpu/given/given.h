// SPDX-License-Identifier: Apache-2.0
// The extension "given" on a device. GivenMap is a loaded map; GivenReader puts the kernel that reads rows of the device's
// memory into a score buffer behind earlier work of the compute queue. Each runtime defines launch() and the functions on the
// caller's memory (given.cc in plugins/cuda/given and plugins/ocl/given).
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/asr_backend_given.h"
#include "plugins/gpu/given/given_types.h"
#include "plugins/gpu/runtime/pinned_table.h"
#include "plugins/gpu/scores/acoustic.h"
#include "plugins/gpu/signals/returned_rows.h"
#include "runtime/device.h"

namespace asr::gpu {

struct GivenMap {
  GivenMap(Device &device, const asr_given_map_view &view);

  const uint32_t n_columns, n_states;
  const bool is_one_to_one;
  Array<uint32_t> begins, columns;
  Array<float> offsets;
};

class GivenReader {
 public:
  explicit GivenReader(Device &device);

  struct Job {
    const GivenMap *map;
    const asr_device_rows *given;
    uint64_t first_given;
    uint32_t first_row, n_rows;
  };
  // As in asr_backend_given_api; `returned` delivers the faults.
  void read(const std::vector<Job> &jobs, uint32_t n_rows, Acoustic *to, uint32_t buffer, uint32_t *faults,
            ReturnedRows<Device> *returned);

 private:
  // Jobs of a launch: those of the table from `first` on, with one map and, where kernels name it, one buffer.
  struct Launch {
    const GivenMap *map;
    const void *memory;
    uint32_t first, n_jobs, max_rows;  // max_rows: of a job
  };
  void launch(const Launch &launch, const Array<GivenJob> &jobs, Array<float> &scores);

  // Pinned memory of a call's table, which the device reads until `copied`.
  struct Turn {
    explicit Turn(const Context &context) : jobs(context) {}
    PinnedTable<GivenJob> jobs;
    Event copied;
  };

  Device &device_;
  Turn turns_[2];
  size_t turn_ = 0;
  Array<float> faults_;  // bits of uint32_t
};

inline uint32_t bytes_of(asr_value_type type) { return type == ASR_VALUE_FLOAT32 ? 4 : 2; }
inline uint64_t stride_bytes(const asr_device_rows &given, uint32_t n_columns) {
  return (given.stride > 0 ? given.stride : n_columns) * bytes_of(given.type);
}

// The buffer that a launch names, and where in it or in all memory the rows begin.
const void *memory_of(const asr_device_rows &given);
uint64_t begin_of(const asr_device_rows &given);

// As the slots of asr_backend_given_api, on any thread.
void check_given(const Device &device, const asr_device_rows &given, uint64_t n_rows, uint32_t n_columns);
bool is_given_ready(const Device &device, const asr_device_rows &given);
void describe_memory(const Device &device, asr_engine_memory *memory);
void make_given(const asr_engine_memory &memory, const void *values, size_t n_bytes, uint32_t delay_ms, asr_device_rows *given);
void free_made_given(asr_device_rows *given);

// An acoustic model with one Gaussian for all of its states, for the score buffers that it has.
class StandIn {
 public:
  explicit StandIn(uint32_t n_states);
  const asr_acoustic_view &view() const { return view_; }

 private:
  const uint32_t zero_ = 0;
  const uint64_t first_ = 0;
  const float none_ = 0, one_ = 1;
  const asr_gmm_stream stream_{1, &zero_};
  const asr_gmm_codebook codebook_{0, 1, 0, 0};
  const std::vector<uint32_t> state_codebook_;
  const std::vector<uint64_t> state_weight_;
  asr_acoustic_view view_{};
};

}  // namespace asr::gpu
