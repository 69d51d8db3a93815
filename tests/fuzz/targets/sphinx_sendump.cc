// SPDX-License-Identifier: Apache-2.0
// Fuzzes quantised mixture weights of CMU Sphinx.
#include "builder/import/sphinx_sendump.h"
#include "tests/fuzz/target.h"
#include "tests/unit/import/sphinx_writer.h"

namespace asr::fuzz {

namespace {

uint8_t some_weight(uint32_t stream, uint32_t density, uint32_t senone) {
  return static_cast<uint8_t>((stream * 7 + density * 3 + senone) % 16);
}

}  // namespace

std::vector<std::string> seeds() {
  return {test::sendump_8_bit({2, 3, 5, some_weight}), test::sendump_8_bit({2, 3, 5, some_weight, 3, true}),
          test::sendump_4_bit({2, 3, 5, some_weight})};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {},
                   [](const std::string &bytes) { sphinx::read_sendump(fuzz::file("sendump", bytes), 5, 2, 3); });
}
