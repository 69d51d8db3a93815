// SPDX-License-Identifier: Apache-2.0
#include "builder/train/em.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "builder/train/densities.h"
#include "builder/train/device_sums.h"
#include "builder/train/rows_of_mixtures.h"
#include "builder/train/shared_covariances.h"
#include "plugins/common/posteriors-inl.h"

namespace asr::train {
namespace {

constexpr uint64_t kMomentPieces = 16;  // pieces of all rows

// Sums the statistics of one of a mixture's pieces.
Statistics sum_piece(const RowsOfMixtures &rows_of, const RowsOfMixtures::Piece &piece, const TrainingRows &rows,
                     const MixtureModel &model, bool full) {
  const Mixture &mixture = model.mixtures[piece.mixture];
  Statistics statistics(model, mixture, full);
  Densities densities(model, mixture);
  std::vector<double> shares;
  for (const uint64_t *number = piece.first; number < piece.last; ++number) {
    const StateShare of_state = rows.share(*number);
    const uint32_t weight_row = rows_of.weight_row(of_state.state);
    const auto share = static_cast<double>(of_state.share);
    const double log_density = densities.shares(rows.row(of_state.row), weight_row, &shares);
    for (double &of_gaussian : shares) of_gaussian = posterior_in_sum(of_gaussian, share);
    statistics.add(rows.row(of_state.row), weight_row, shares, log_likelihood_in_sum(log_density, share));
  }
  return statistics;
}

// Sums small mixtures side by side, large ones piece by piece.
void sum_on_host(const RowsOfMixtures &rows_of, const TrainingRows &rows, const MixtureModel &model,
                 const std::vector<size_t> &mixtures, bool full, ThreadPool *pool,
                 const std::function<void(size_t mixture, const Statistics &statistics)> &take) {
  std::vector<size_t> small;
  for (const size_t mixture : mixtures) {
    const uint64_t n_pieces = rows_of.n_pieces(mixture);
    if (n_pieces == 1) {
      small.push_back(mixture);
      continue;
    }
    std::vector<std::optional<Statistics>> pieces(n_pieces);
    pool->run(n_pieces, [&](size_t i) { pieces[i].emplace(sum_piece(rows_of, rows_of.piece(mixture, i), rows, model, full)); });
    for (size_t i = 1; i < pieces.size(); ++i) pieces[0]->add(*pieces[i]);
    take(mixture, *pieces[0]);
  }
  pool->run(small.size(), [&](size_t i) { take(small[i], sum_piece(rows_of, rows_of.piece(small[i], 0), rows, model, full)); });
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
    std::vector<std::vector<double>> sums(kMomentPieces, std::vector<double>(d));
    pool->run(kMomentPieces, [&](size_t piece) {
      for (uint64_t i = n * piece / kMomentPieces; i < n * (piece + 1) / kMomentPieces; ++i) {
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
    const RowsOfMixtures rows_of(model, rows, stream, pool);
    std::vector<size_t> mixtures;
    for (size_t i = 0; i < model.mixtures.size(); ++i) {
      if (model.mixtures[i].stream == stream) mixtures.push_back(i);
    }
    const bool is_done = rows.device != nullptr && rows.device->sum(rows, model, rows_of, mixtures, full, pool, take);
    if (!is_done) sum_on_host(rows_of, rows, model, mixtures, full, pool, take);
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
