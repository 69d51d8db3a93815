// SPDX-License-Identifier: Apache-2.0
// Measures the memory allocated by a piece of code. It counts all of operator new in the test program.
#pragma once

#include <cstddef>

namespace asr::test {

// The peak of bytes allocated since its construction; one object at a time.
class PeakMemory {
 public:
  PeakMemory();
  size_t bytes() const;

 private:
  size_t before_;
};

}  // namespace asr::test
