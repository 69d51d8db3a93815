// SPDX-License-Identifier: Apache-2.0
// The scalar part of MFCC on the CPU: tables, and jobs cut into blocks of one frame per vector lane. Frames of different jobs
// share blocks, so that many streams with a frame each fill the lanes. Jobs for the same samples with different warps share
// everything up to the spectrum (the two-kernel scheme of Kou et al. 2013).
#include "plugins/cpu/mfcc.h"

#include <algorithm>
#include <cmath>
#include <new>

#include "plugins/cpu/mfcc_block.h"

namespace asr::cpu {
namespace {

constexpr size_t kBlocksPerTask = 16;
constexpr size_t kMaxLanes = 16;

// Jobs for the same frames, in ascending order of their warps.
struct Group {
  const asr_extract_job *jobs;
  size_t n_jobs;
  uint64_t first_lane;  // counted over all groups
};

bool same_frames(const asr_extract_job &a, const asr_extract_job &b) {
  return a.samples == b.samples && a.n_frames == b.n_frames && a.first_frame == b.first_frame;
}

// Groups neighbours in `jobs`, and sorts each group.
std::vector<Group> group_jobs(std::vector<asr_extract_job> *jobs, uint64_t *n_lanes) {
  std::vector<Group> groups;
  *n_lanes = 0;
  for (auto first = jobs->begin(); first != jobs->end();) {
    const auto end = std::find_if_not(first, jobs->end(), [&](const asr_extract_job &job) { return same_frames(*first, job); });
    if (first->n_frames > 0) groups.push_back({&*first, static_cast<size_t>(end - first), *n_lanes});
    *n_lanes += first->n_frames;
    std::sort(first, end, [](const asr_extract_job &a, const asr_extract_job &b) { return a.warp < b.warp; });
    first = end;
  }
  return groups;
}

MfccLane lane_at(const std::vector<Group> &groups, uint64_t number, uint32_t shift) {
  const auto after = std::upper_bound(groups.begin(), groups.end(), number,
                                      [](uint64_t n, const Group &group) { return n < group.first_lane; });
  const Group &group = *(after - 1);
  const auto row = static_cast<uint32_t>(number - group.first_lane);
  const asr_extract_job &job = group.jobs[0];
  return {job.samples + size_t{row} * shift, job.first_frame + row, group.jobs, group.n_jobs, row};
}

struct FreeAligned {
  void operator()(float *p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using Scratch = std::unique_ptr<float[], FreeAligned>;

Scratch make_scratch(size_t n_floats) { return Scratch(new (std::align_val_t{64}) float[n_floats]); }

}  // namespace

struct Mfcc::Tables : MfccTables {
  using MfccTables::MfccTables;
};

Mfcc::Mfcc(const asr_features_view &view) : tables_(std::make_unique<const Tables>(view)) {}
Mfcc::~Mfcc() = default;

void Mfcc::extract(const asr_extract_job *jobs, size_t n_jobs, ThreadPool &pool) const {
  std::vector<asr_extract_job> sorted(jobs, jobs + n_jobs);
  uint64_t n_lanes = 0;
  const std::vector<Group> groups = group_jobs(&sorted, &n_lanes);
  const size_t lanes_per_block = mfcc_block_lanes(), lanes_per_task = kBlocksPerTask * lanes_per_block;
  pool.run((n_lanes + lanes_per_task - 1) / lanes_per_task, [&](size_t task) {
    const Scratch scratch = make_scratch(mfcc_scratch_floats(tables_->view));
    const uint64_t end = std::min<uint64_t>(n_lanes, (task + 1) * lanes_per_task);
    MfccLane lanes[kMaxLanes];
    for (uint64_t begin = task * lanes_per_task; begin < end; begin += lanes_per_block) {
      const size_t n = std::min<uint64_t>(lanes_per_block, end - begin);
      for (size_t i = 0; i < n; ++i) lanes[i] = lane_at(groups, begin + i, tables_->view.shift_samples);
      mfcc_block(*tables_, lanes, n, scratch.get());
    }
  });
}

}  // namespace asr::cpu
