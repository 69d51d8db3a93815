// SPDX-License-Identifier: Apache-2.0
// A loop over tasks on all cores. What loads large files uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace asr {

uint32_t n_usable_cores();  // that this process may use; at least 1

// Calls task(0) ... task(n_tasks - 1), several at once, on threads that end before it returns; where the system gives no
// threads, on the caller's. Every task runs; then it throws what the first of those that failed threw.
void run_in_parallel(size_t n_tasks, const std::function<void(size_t)> &task);

}  // namespace asr
