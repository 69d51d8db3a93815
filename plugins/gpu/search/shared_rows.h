// SPDX-License-Identifier: Apache-2.0
// share_rows() finds the rows of log-likelihoods that an advance must upload from the host, for back ends that search on a
// device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asr {

struct SharedRows {
  std::vector<uint64_t> begins;  // offset of each task's rows; 0 for a task without rows
  std::vector<size_t> uploads;   // tasks whose rows are uploaded, one after the other
  uint64_t n_floats = 0;
};

// Neighbouring tasks with the same rows share them. A task has host_rows (or nullptr), n_frames and search->n_pdfs().
template <typename Task>
SharedRows share_rows(const std::vector<Task> &tasks) {
  SharedRows shared;
  const auto n_of = [](const Task &task) { return uint64_t{task.n_frames} * task.search->n_pdfs(); };
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task &task = tasks[i], *const last = shared.uploads.empty() ? nullptr : &tasks[shared.uploads.back()];
    uint64_t begin = 0;
    if (task.host_rows != nullptr) {
      if (last == nullptr || last->host_rows != task.host_rows || n_of(*last) != n_of(task)) {
        shared.uploads.push_back(i);
        shared.n_floats += n_of(task);
      }
      begin = shared.n_floats - n_of(task);
    }
    shared.begins.push_back(begin);
  }
  return shared;
}

}  // namespace asr
