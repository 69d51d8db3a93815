// SPDX-License-Identifier: Apache-2.0
// Which rows of log-likelihoods of the host an advance has to bring to a device, for back ends that search there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asr {

struct SharedRows {
  std::vector<uint64_t> begins;  // of each task, where its rows begin; 0 of those without
  std::vector<size_t> uploads;   // tasks whose rows are brought, one behind the other
  uint64_t n_floats = 0;
};

// Neighbours with the same rows share them. A task has host_rows (or nullptr), n_frames and search->n_pdfs().
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
