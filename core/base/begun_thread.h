// SPDX-License-Identifier: Apache-2.0
// Starts the library's threads. The first action of begun_thread()'s may fail, as the preparation for calls of a plugin does
// without memory.
#pragma once

#include <functional>
#include <thread>

namespace asr {

// Returns a thread that takes no signals of the program's (SignalsBlocked). All threads of the library are made by it. Throws
// std::system_error if there is no thread.
std::thread quiet_thread(std::function<void()> body);

// Returns a quiet thread that has done `begin` and goes on with `body`. If begin throws, the thread has ended, and this throws
// the same. Throws std::system_error if there is no thread.
std::thread begun_thread(std::function<void()> begin, std::function<void()> body);

}  // namespace asr
