// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/forced.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "plugins/common/state_set.h"
#include "plugins/cpu/gmm_asked.h"

namespace asr::cpu {
namespace {

constexpr size_t kTaskRows = 16 * kAskedFrames, kWholeRows = 64;  // of a task; scored for all states at once

StateSet all_states(uint32_t n) {
  StateSet states(n);
  for (uint32_t s = 0; s < n; ++s) states.add(s);
  return states;
}

}  // namespace

Forced::Forced(const asr_acoustic_view &view)
    : gmm_(view, {}), all_(units_of_all(gmm_.packed())), units_(gmm_.packed(), all_, all_states(view.n_states)) {}

void Forced::score(const float *rows, const uint32_t *states, size_t n_rows, float *loglikes, ThreadPool &pool) const {
  for (size_t i = 0; i < n_rows; ++i) {
    if (states[i] >= gmm_.n_states())
      fail(ASR_INVALID_ARGUMENT, "forced states: row %zu is of state %u, but the model has %u", i, states[i], gmm_.n_states());
  }
  Call call{rows, states, loglikes, std::vector<size_t>(n_rows)};
  std::iota(call.order.begin(), call.order.end(), size_t{0});
  if (all_.empty()) {
    for (size_t first = 0; first < n_rows; first += kWholeRows)
      score_all(call, first, std::min(kWholeRows, n_rows - first), pool);
    return;
  }
  const auto unit = [&](size_t row) { return units_.unit_of(states[row]); };
  std::sort(call.order.begin(), call.order.end(),
            [&](size_t a, size_t b) { return unit(a) != unit(b) ? unit(a) < unit(b) : a < b; });
  pool.run((n_rows + kTaskRows - 1) / kTaskRows, [&](size_t task) {
    const size_t first = task * kTaskRows;
    score_units(call, first, std::min(kTaskRows, n_rows - first));
  });
}

// Scores call.order[first] to call.order[first + n - 1].
void Forced::score_units(const Call &call, size_t first, size_t n) const {
  const uint32_t n_dims = gmm_.n_dims();
  std::vector<float> rows;
  rows.reserve(n * n_dims);
  for (size_t i = first; i < first + n; ++i) {
    const float *const row = call.rows + call.order[i] * n_dims;
    rows.insert(rows.end(), row, row + n_dims);
  }
  AskedRows asked(units_);
  asked.begin(rows.data(), n);
  for (size_t at = first; asked.next_tile(); at += asked.n_frames()) {
    uint32_t unit = UINT32_MAX;
    for (uint32_t frame = 0; frame < asked.n_frames(); ++frame) {
      const size_t row = call.order[at + frame];
      const uint32_t state = call.states[row];
      const bool is_asked = units_.unit_of(state) == unit;
      const AskedRows::Scores scores = is_asked ? asked.asked(asked.n_asked() - 1, frame) : asked.ask(state, frame);
      unit = units_.unit_of(state);
      const auto lane = std::lower_bound(scores.states.begin(), scores.states.end(), state) - scores.states.begin();
      call.loglikes[row] = scores.loglikes[lane];
    }
  }
}

// Scores rows `first` to first + n - 1 for all states.
void Forced::score_all(const Call &call, size_t first, size_t n, ThreadPool &pool) const {
  std::vector<float> loglikes(n * gmm_.n_states());
  ChosenStates chosen;
  gmm_.score(call.rows + first * gmm_.n_dims(), static_cast<uint32_t>(n), loglikes.data(), pool, chosen);
  for (size_t i = 0; i < n; ++i) call.loglikes[first + i] = loglikes[i * gmm_.n_states() + call.states[first + i]];
}

}  // namespace asr::cpu
