// SPDX-License-Identifier: Apache-2.0
// begun_thread() starts a thread whose first action may fail, as the preparation for calls of a plugin does without memory.
#pragma once

#include <functional>
#include <thread>

namespace asr {

// Returns a thread that has done `begin` and goes on with `body`. If begin throws, the thread has ended, and this throws the
// same. Throws std::system_error if there is no thread.
std::thread begun_thread(std::function<void()> begin, std::function<void()> body);

}  // namespace asr
