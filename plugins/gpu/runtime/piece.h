// SPDX-License-Identifier: Apache-2.0
// Piece is a part of the host's memory that goes to a device or comes from it, one of many that follow each other there.
#pragma once

#include <cstddef>

namespace asr {

template <typename T>
struct Piece {
  T *data;
  size_t n;
};

}  // namespace asr
