// SPDX-License-Identifier: Apache-2.0
#include "builder/train/em.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "builder/train/densities.h"
#include "builder/train/shared_covariances.h"

namespace asr::train {
namespace {

constexpr uint64_t kPieceRows = 4096, kMostPieces = 16;  // rows and number of a mixture's pieces

// The rows of each mixture of a stream, or their shares, in their order.
class RowsOfMixtures {
 public:
  RowsOfMixtures(const MixtureModel &model, const TrainingRows &rows, size_t stream, bool full)
      : model_(model), rows_(rows), stream_(stream), full_(full), begin_(model.mixtures.size() + 1) {
    for_each_share([&](uint64_t, uint32_t state) { ++begin_[model.state_mixture[cell(state)] + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<uint64_t> next(begin_.begin(), begin_.end() - 1);
    numbers_.resize(begin_.back());
    for_each_share([&](uint64_t i, uint32_t state) { numbers_[next[model.state_mixture[cell(state)]]++] = i; });
  }

  uint64_t n_pieces(size_t mixture) const { return std::clamp<uint64_t>(n_rows(mixture) / kPieceRows, 1, kMostPieces); }

  // Returns the statistics of one of a mixture's pieces.
  Statistics sum(size_t mixture, uint64_t piece) const {
    const Mixture &own = model_.mixtures[mixture];
    Statistics statistics(model_, own, full_);
    Densities densities(model_, own);
    std::vector<double> shares;
    const uint64_t n = n_rows(mixture), n_all = n_pieces(mixture);
    for (uint64_t i = n * piece / n_all; i < n * (piece + 1) / n_all; ++i) {
      const StateShare of_state = rows_.share(numbers_[begin_[mixture] + i]);
      const size_t weight_row = model_.state_weight_row[cell(of_state.state)];
      const auto share = static_cast<double>(of_state.share);
      const double log_likelihood = share * densities.shares(rows_.row(of_state.row), weight_row, &shares);
      for (double &of_gaussian : shares) of_gaussian *= share;
      statistics.add(rows_.row(of_state.row), weight_row, shares, log_likelihood);
    }
    return statistics;
  }

 private:
  template <typename Action>
  void for_each_share(Action action) const {
    for (uint64_t i = 0; i < rows_.n_shares(); ++i) {
      const uint32_t state = rows_.share(i).state;
      if (state != kNoState) action(i, state);
    }
  }
  size_t cell(uint32_t state) const { return size_t{state} * model_.streams.size() + stream_; }
  uint64_t n_rows(size_t mixture) const { return begin_[mixture + 1] - begin_[mixture]; }

  const MixtureModel &model_;
  const TrainingRows &rows_;
  const size_t stream_;
  const bool full_;
  std::vector<uint64_t> begin_;    // [n_mixtures + 1]
  std::vector<uint64_t> numbers_;  // numbers of shares
};

Statistics sum_pieces(const RowsOfMixtures &rows, size_t mixture, ThreadPool *pool) {
  std::vector<std::optional<Statistics>> pieces(rows.n_pieces(mixture));
  pool->run(pieces.size(), [&](size_t i) { pieces[i].emplace(rows.sum(mixture, i)); });
  for (size_t i = 1; i < pieces.size(); ++i) pieces[0]->add(*pieces[i]);
  return *pieces[0];
}

}  // namespace

uint64_t TrainingRows::n_used() const {
  return states.size() - static_cast<uint64_t>(std::count(states.begin(), states.end(), kNoState));
}

Moments moments_of(const TrainingRows &rows, ThreadPool *pool) {
  const uint32_t d = rows.n_dims;
  Moments moments{std::vector<double>(d), std::vector<double>(d)};
  const uint64_t n = rows.states.size();
  const double n_used = static_cast<double>(rows.n_used());
  const auto mean_of = [&](const auto &value) {
    std::vector<std::vector<double>> sums(kMostPieces, std::vector<double>(d));
    pool->run(kMostPieces, [&](size_t piece) {
      for (uint64_t i = n * piece / kMostPieces; i < n * (piece + 1) / kMostPieces; ++i) {
        if (rows.states[i] == kNoState) continue;
        for (uint32_t dim = 0; dim < d; ++dim) sums[piece][dim] += value(dim, static_cast<double>(rows.row(i)[dim]));
      }
    });
    std::vector<double> means(d);
    for (uint32_t dim = 0; dim < d; ++dim) {
      for (const std::vector<double> &sum : sums) means[dim] += sum[dim];
      means[dim] /= n_used;
    }
    return means;
  };
  moments.mean = mean_of([](uint32_t, double x) { return x; });
  moments.variance = mean_of([&](uint32_t dim, double x) { return (x - moments.mean[dim]) * (x - moments.mean[dim]); });
  return moments;
}

void sum_statistics(const TrainingRows &rows, const MixtureModel &model, bool full, ThreadPool *pool,
                    const std::function<void(size_t mixture, const Statistics &statistics)> &take) {
  for (size_t stream = 0; stream < model.streams.size(); ++stream) {
    const RowsOfMixtures rows_of(model, rows, stream, full);
    std::vector<size_t> small;
    for (size_t i = 0; i < model.mixtures.size(); ++i) {
      if (model.mixtures[i].stream != stream) continue;
      if (rows_of.n_pieces(i) == 1) {
        small.push_back(i);
      } else {
        take(i, sum_pieces(rows_of, i, pool));
      }
    }
    pool->run(small.size(), [&](size_t i) { take(small[i], rows_of.sum(small[i], 0)); });
  }
}

double em_round(const TrainingRows &rows, const EstimateOptions &options, ThreadPool *pool, MixtureModel *model) {
  std::vector<Mixture> estimated(model->mixtures.size());
  std::vector<double> log_likelihoods(model->mixtures.size());
  sum_statistics(rows, *model, model->full, pool, [&](size_t mixture, const Statistics &statistics) {
    estimated[mixture] = estimate(*model, statistics, options);
    log_likelihoods[mixture] = statistics.log_likelihood;
  });
  model->mixtures = std::move(estimated);
  share_covariances(options, pool, model);
  return std::accumulate(log_likelihoods.begin(), log_likelihoods.end(), 0.0);
}

}  // namespace asr::train
