// SPDX-License-Identifier: Apache-2.0
// Runs a loop over tasks on all cores. Loaders of large files use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace asr {

uint32_t n_usable_cores();  // cores that this process may use; at least 1

// Calls task(0) ... task(n_tasks - 1) in parallel, on threads that end before it returns. If the system starts no threads, the
// caller runs them. All tasks run; then the exception of the first failed task is rethrown. n_threads: how many threads work,
// with the caller's; 0: one for each core, and at most eight.
void run_in_parallel(size_t n_tasks, const std::function<void(size_t)> &task, uint32_t n_threads = 0);

}  // namespace asr
