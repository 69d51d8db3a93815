// SPDX-License-Identifier: Apache-2.0
// Checks that every back end makes in `score`, and in an `advance` that reads a score buffer. All throw ASR_INVALID_ARGUMENT.
#pragma once

#include "core/backend/asr_backend.h"
#include "core/base/error.h"

namespace asr {

inline void check_buffer(const char *slot, uint32_t buffer) {
  if (buffer > 1) fail(ASR_INVALID_ARGUMENT, "%s: there is no score buffer %u; give 0 or 1", slot, buffer);
}

inline void check_score(uint32_t n_rows, uint32_t max_rows, uint32_t buffer) {
  check_buffer("score", buffer);
  if (n_rows <= max_rows) return;
  fail(ASR_INVALID_ARGUMENT, "score: %u rows are more than max_lanes * window_frames = %u", n_rows, max_rows);
}

// Checks that the graph's pdfs are states of the model.
inline void check_model(uint32_t n_pdfs, uint32_t n_states) {
  if (n_states >= n_pdfs) return;
  fail(ASR_INVALID_ARGUMENT, "advance: the graph has %u pdfs but the acoustic model %u; they do not belong together", n_pdfs,
       n_states);
}

inline void check_scored_rows(const char *slot, uint32_t first_row, uint32_t n_rows, uint32_t n_scored) {
  if (uint64_t{first_row} + n_rows <= n_scored) return;
  fail(ASR_INVALID_ARGUMENT, "%s: rows %u to %u are asked for but only %u were scored", slot, first_row, first_row + n_rows,
       n_scored);
}

}  // namespace asr
