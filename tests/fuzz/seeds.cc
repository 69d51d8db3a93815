// SPDX-License-Identifier: Apache-2.0
// With libFuzzer, fuzz_TARGET --write-seeds DIR writes the target's seeds into DIR and exits before libFuzzer begins.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  if (*argc != 3 || strcmp((*argv)[1], "--write-seeds") != 0) return 0;
  const std::filesystem::path folder = (*argv)[2];
  std::filesystem::create_directories(folder);
  size_t number = 0;
  for (const std::string &seed : asr::fuzz::seeds()) {
    std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
  }
  exit(0);
}
