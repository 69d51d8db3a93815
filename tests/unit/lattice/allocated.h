// SPDX-License-Identifier: Apache-2.0
// How much memory a piece of code allocates. All of operator new in the test program is counted.
#pragma once

#include <cstddef>

namespace asr::test {

// Bytes held since its construction, at the worst moment; one at a time.
class PeakMemory {
 public:
  PeakMemory();
  size_t bytes() const;

 private:
  size_t before_;
};

}  // namespace asr::test
