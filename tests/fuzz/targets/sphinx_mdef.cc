// SPDX-License-Identifier: Apache-2.0
// Fuzzes model definitions of CMU Sphinx, text and binary.
#include "builder/import/sphinx_mdef.h"
#include "tests/fuzz/target.h"
#include "tests/unit/import/sphinx_writer.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  const test::MdefSource mdef = {8,
                                 6,
                                 2,
                                 {{"AA", "-", "-", '-', false, 0, {0, 1}},
                                  {"B", "-", "-", '-', false, 1, {2, 3}},
                                  {"SIL", "-", "-", '-', true, 0, {4, 5}},
                                  {"AA", "B", "SIL", 'e', false, 0, {6, 1}},
                                  {"B", "AA", "AA", 's', false, 1, {2, 7}}}};
  return {test::text_mdef(mdef), test::binary_mdef(mdef), test::binary_mdef(mdef, true)};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) { sphinx::read_mdef(fuzz::file("mdef", bytes)); });
}
