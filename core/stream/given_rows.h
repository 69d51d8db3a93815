// SPDX-License-Identifier: Apache-2.0
// Rows in memory of the engine's device, as they come from asr_feed_device through an Intake to the device. The memory is the
// caller's, who is told when nothing refers to a piece of rows any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "asr.h"

namespace asr {

// The rows of one call.
struct GivenPiece {
  explicit GivenPiece(const asr_device_rows &described) : rows(described) {}
  ~GivenPiece() {
    if (rows.release != nullptr) rows.release(rows.user);
  }
  GivenPiece(const GivenPiece &) = delete;
  GivenPiece &operator=(const GivenPiece &) = delete;

  const asr_device_rows rows;
  uint64_t first_frame = 0;  // of the stream
};

// Some of them.
struct GivenSpan {
  std::shared_ptr<const GivenPiece> piece;
  uint64_t first_row;
  size_t n_rows;
};

// Moves the first n_rows of `from` to the end of `to`; there are as many.
template <typename Spans>
void move_rows(size_t n_rows, Spans *from, std::vector<GivenSpan> *to) {
  while (n_rows > 0) {
    GivenSpan &span = from->front();
    const size_t n = n_rows < span.n_rows ? n_rows : span.n_rows;
    to->push_back({span.piece, span.first_row, n});
    span.first_row += n;
    span.n_rows -= n;
    n_rows -= n;
    if (span.n_rows == 0) from->pop_front();
  }
}

// Returns n rows on the host as floats that follow each other; empty if they are that already.
std::vector<float> packed_host_rows(const asr_device_rows &rows, size_t n, size_t row_length);
// Returns the address of the first value of rows on the host.
const void *first_value(const asr_device_rows &rows);

}  // namespace asr
