// SPDX-License-Identifier: Apache-2.0
// Rounds of expectation and maximisation over rows whose states, or shares of states, are known. The results have the
// same bits for any number of threads and on any device. Each mixture's rows are summed in pieces of fixed numbers, which
// are added in order.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "builder/train/estimate.h"
#include "builder/train/state_shares.h"
#include "core/base/thread_pool.h"

namespace asr::train {

class DeviceSums;

constexpr uint32_t kNoState = 0xffffffffu;  // state of a row that is left out

// All rows of the training data, and the state that each belongs to.
struct TrainingRows {
  uint32_t n_dims = 0;
  const float *values = nullptr;  // [states.size()][n_dims], finite
  std::vector<uint32_t> states;
  // Replaces `states` in sums over states, row by row. Empty: each row is its state's alone.
  std::vector<StateShare> shares = {};
  DeviceSums *device = nullptr;  // sums statistics; NULL: the host does

  const float *row(uint64_t i) const { return values + i * n_dims; }
  uint64_t n_shares() const { return shares.empty() ? states.size() : shares.size(); }
  StateShare share(uint64_t i) const { return shares.empty() ? StateShare{i, states[i], 1} : shares[i]; }
  uint64_t n_used() const;
};

struct Moments {
  std::vector<double> mean, variance;  // [n_dims]
};

// Returns the moments of all rows that have a state.
Moments moments_of(const TrainingRows &rows, ThreadPool *pool);

// Sums the statistics of every mixture, by number. full: second moments of all pairs of dimensions. `take` may be
// called on several threads at once, once for a mixture, or twice with the same statistics if the rows' device fails.
void sum_statistics(const TrainingRows &rows, const MixtureModel &model, bool full, ThreadPool *pool,
                    const std::function<void(size_t mixture, const Statistics &statistics)> &take);

// Estimates every mixture anew. Returns the log-likelihood of the rows that have a state under the model as it was; a row with
// several states counts by its shares.
double em_round(const TrainingRows &rows, const EstimateOptions &options, ThreadPool *pool, MixtureModel *model);

}  // namespace asr::train
