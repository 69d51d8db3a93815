// SPDX-License-Identifier: Apache-2.0
// Looks for GPUs without OpenCL, so that no driver is loaded where there is none: loading drivers changes the process (PoCL's
// takes 70 MB, starts threads, handles signals and writes to the user's cache).
#pragma once

#include <string>

namespace asr::gpu {

// Returns true if this machine shows any sign of a GPU of NVIDIA or AMD. It only reads names of files and PCI numbers. root: of
// the file system, for tests.
bool gpus_here(const std::string &root = "");

}  // namespace asr::gpu
