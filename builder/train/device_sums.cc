// SPDX-License-Identifier: Apache-2.0
#include "builder/train/device_sums.h"

#include <algorithm>
#include <new>
#include <utility>

#include "builder/train/densities.h"
#include "core/base/error.h"

namespace asr::train {
namespace {

constexpr uint64_t kMaxValues = uint64_t{1} << 25;  // of sums that are on the device together: 256 MiB

uint64_t n_values_of(const MixtureModel &model, const Mixture &mixture, bool full) {
  const uint64_t d = model.n_values(mixture), n = mixture.n_gaussians();
  return mixture.weights.size() + n * (d + (full ? d * (d + 1) / 2 : d)) + 1;
}

// Takes the next values of the device's sums.
Statistics take_values(const MixtureModel &model, const Mixture &mixture, bool full, const double **values) {
  Statistics statistics(model, mixture, full);
  const auto fill = [&](std::vector<double> *to) {
    std::copy_n(*values, to->size(), to->begin());
    *values += to->size();
  };
  fill(&statistics.occupancies);
  fill(&statistics.first);
  fill(&statistics.second);
  statistics.log_likelihood = *(*values)++;
  return statistics;
}

}  // namespace

// Group holds the mixtures whose sums are on the device together.
class DeviceSums::Group {
 public:
  Group(const MixtureModel &model, const RowsOfMixtures &rows_of, bool full) : model_(model), rows_of_(rows_of), full_(full) {}

  // Takes mixtures from `next` on, at least one. Returns the number of the first that is left.
  size_t take(const std::vector<size_t> &mixtures, size_t next) {
    do {
      const Mixture &mixture = model_.mixtures[mixtures[next]];
      const uint64_t n_pieces = rows_of_.n_pieces(mixtures[next]), n = n_pieces * n_values_of(model_, mixture, full_);
      if (n_values_ > 0 && n_values_ + n > kMaxValues) break;
      n_values_ += n;
      for (uint64_t i = 0; i < n_pieces; ++i) {
        pieces_.push_back(rows_of_.piece(mixtures[next], i));
        mixture_of_.push_back(static_cast<uint32_t>(mixtures_.size()));
      }
      mixtures_.push_back(mixtures[next]);
    } while (++next < mixtures.size());
    return next;
  }

  // Calls begin(view) with the parameters of the mixtures.
  template <typename Begin>
  void describe(ThreadPool *pool, Begin begin) const {
    std::vector<std::unique_ptr<Densities>> densities(mixtures_.size());
    pool->run(mixtures_.size(),
              [&](size_t i) { densities[i] = std::make_unique<Densities>(model_, model_.mixtures[mixtures_[i]]); });
    std::vector<asr_mixture_view> views;
    views.reserve(densities.size());
    for (const auto &of_mixture : densities) views.push_back(of_mixture->view());
    const asr_sums_view view = {sizeof view,
                                model_.full ? 1u : 0u,
                                full_ ? 1u : 0u,
                                static_cast<uint32_t>(views.size()),
                                static_cast<uint32_t>(pieces_.size()),
                                views.data(),
                                mixture_of_.data()};
    begin(view);
  }

  // Takes the shares of rows first ... first + n - 1, in the order of the pieces.
  void take_shares(const TrainingRows &rows, uint64_t first, uint64_t n, ThreadPool *pool) {
    shares_begin_.assign(1, 0);
    for (RowsOfMixtures::Piece &piece : pieces_) {
      const auto is_before = [&](uint64_t number) { return rows.share(number).row < first + n; };
      shares_begin_.push_back(shares_begin_.back() +
                              static_cast<uint64_t>(std::partition_point(piece.first, piece.last, is_before) - piece.first));
    }
    shares_.resize(shares_begin_.back());
    pool->run(pieces_.size(), [&](size_t i) {
      for (uint64_t at = shares_begin_[i]; at < shares_begin_[i + 1]; ++at) {
        const StateShare share = rows.share(*pieces_[i].first++);
        shares_[at] = {static_cast<uint32_t>(share.row - first), rows_of_.weight_row(share.state), share.share};
      }
    });
  }
  const std::vector<asr_row_share> &shares() const { return shares_; }
  const std::vector<uint64_t> &shares_begin() const { return shares_begin_; }

  // Returns memory for all sums, not filled.
  double *values() {
    values_.reset(new double[n_values_]);
    return values_.get();
  }

  void give(ThreadPool *pool, const std::function<void(size_t mixture, const Statistics &statistics)> &take) const {
    std::vector<uint64_t> first_value;
    uint64_t n = 0;
    for (const size_t mixture : mixtures_) {
      first_value.push_back(n);
      n += rows_of_.n_pieces(mixture) * n_values_of(model_, model_.mixtures[mixture], full_);
    }
    pool->run(mixtures_.size(), [&](size_t i) {
      const Mixture &mixture = model_.mixtures[mixtures_[i]];
      const double *values = values_.get() + first_value[i];
      Statistics statistics = take_values(model_, mixture, full_, &values);
      for (uint64_t piece = 1; piece < rows_of_.n_pieces(mixtures_[i]); ++piece) {
        statistics.add(take_values(model_, mixture, full_, &values));
      }
      take(mixtures_[i], statistics);
    });
  }

 private:
  const MixtureModel &model_;
  const RowsOfMixtures &rows_of_;
  const bool full_;
  uint64_t n_values_ = 0;
  std::vector<size_t> mixtures_;
  std::vector<RowsOfMixtures::Piece> pieces_;  // shares that are not summed yet
  std::vector<uint32_t> mixture_of_;           // of each piece
  std::vector<asr_row_share> shares_;
  std::vector<uint64_t> shares_begin_;
  std::unique_ptr<double[]> values_;
};

std::unique_ptr<DeviceSums> DeviceSums::of(const Device &device, uint64_t chunk_bytes) {
  const auto *const api = extension_of<asr_backend_statistics_api>(*device.api(), ASR_BACKEND_STATISTICS);
  if (api == nullptr) return nullptr;
  uint32_t serves = 0;
  device.check(api->prepare(device.get(), &serves));
  if (serves == 0) return nullptr;
  return std::unique_ptr<DeviceSums>(new DeviceSums(device, *api, chunk_bytes));
}

DeviceSums::Rows DeviceSums::load(const TrainingRows &rows, uint64_t first, uint64_t n) const {
  asr_backend_rows *loaded = nullptr;
  device_.check(api_.load_rows(device_.get(), rows.row(first), static_cast<uint32_t>(n), rows.n_dims, &loaded));
  return {loaded, api_.free_rows};
}

void DeviceSums::sum_group(const TrainingRows &rows, Group *group, ThreadPool *pool) {
  asr_backend_sums *begun = nullptr;
  group->describe(pool, [&](const asr_sums_view &view) { device_.check(api_.sums_begin(device_.get(), &view, &begun)); });
  const std::unique_ptr<asr_backend_sums, void (*)(asr_backend_sums *)> sums(begun, api_.sums_end);
  const uint64_t row_bytes = rows.n_dims * sizeof(float);
  const uint64_t n_chunk = std::clamp<uint64_t>(chunk_bytes_ / row_bytes, 1, UINT32_MAX);
  const uint64_t n_resident = device_.entry().info.memory_bytes / 2 / (n_chunk * row_bytes);
  for (uint64_t first = 0, chunk = 0; first < rows.states.size(); first += n_chunk, ++chunk) {
    const uint64_t n = std::min(n_chunk, rows.states.size() - first);
    if (chunk == resident_.size() && chunk < n_resident) resident_.push_back(load(rows, first, n));
    const Rows passing = chunk < resident_.size() ? Rows(nullptr, api_.free_rows) : load(rows, first, n);
    group->take_shares(rows, first, n, pool);
    const asr_backend_rows *const on_device = passing ? passing.get() : resident_[chunk].get();
    device_.check(api_.add(device_.get(), sums.get(), on_device, group->shares().data(), group->shares_begin().data()));
  }
  device_.check(api_.read(device_.get(), sums.get(), group->values()));
}

bool DeviceSums::sum(const TrainingRows &rows, const MixtureModel &model, const RowsOfMixtures &rows_of,
                     const std::vector<size_t> &mixtures, bool full, ThreadPool *pool,
                     const std::function<void(size_t mixture, const Statistics &statistics)> &take) {
  for (size_t next = 0; next < mixtures.size() && failure_.empty();) {
    Group group(model, rows_of, full);
    next = group.take(mixtures, next);
    try {
      sum_group(rows, &group, pool);
    } catch (const Error &error) {
      if (error.code() == ASR_BAD_FILE) throw;  // of a covariance, on any device
      failure_ = error.what();
    } catch (const std::bad_alloc &) {  // the host's own sums need less memory
      failure_ = "out of memory";
    }
    if (!failure_.empty()) {
      resident_.clear();
      break;
    }
    group.give(pool, take);
    has_summed_ = has_summed_ || next == mixtures.size();
  }
  return failure_.empty();
}

}  // namespace asr::train
