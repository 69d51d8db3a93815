// SPDX-License-Identifier: Apache-2.0
// Tests the extension "statistics": sums over rows on the device against the double reference (T1 and T2).
#include "core/backend/asr_backend_statistics.h"

#include <cmath>
#include <random>

#include "reference/statistics.h"
#include "tests/conformance/harness.h"

namespace asr::test {
namespace {

using reference::StatisticsProblem;

// View owns the arrays that a mixture's view points to.
struct View {
  explicit View(const StatisticsProblem &p) : dims(p.dims), means(p.means) {
    const size_t d = dims.size(), n = means.size() / d;
    for (size_t k = 0; k < n; ++k) {
      double log_norm = -0.5 * static_cast<double>(d) * std::log(2 * M_PI);
      if (p.full_covariances) {
        add_inverse(&p.covariances[k * d * d], &log_norm);
      } else {
        for (size_t i = 0; i < d; ++i) {
          precisions.push_back(1 / p.covariances[k * d + i]);
          log_norm -= 0.5 * std::log(p.covariances[k * d + i]);
        }
      }
      log_norms.push_back(log_norm);
    }
    for (const double weight : p.weights) log_weights.push_back(std::log(weight));
  }
  asr_mixture_view get() const {
    const auto n = static_cast<uint32_t>(log_norms.size());
    return {dims.data(),
            static_cast<uint32_t>(dims.size()),
            n,
            static_cast<uint32_t>(log_weights.size()) / n,
            0,
            means.data(),
            precisions.data(),
            log_norms.data(),
            log_weights.data()};
  }
  // Adds the inverse of a factor [d][d] by columns: column c solves L z = e_c.
  void add_inverse(const double *factor, double *log_norm) {
    const size_t d = dims.size();
    for (size_t c = 0; c < d; ++c) {
      std::vector<double> z(d);
      for (size_t r = c; r < d; ++r) {
        z[r] = r == c ? 1 : 0;
        for (size_t j = c; j < r; ++j) z[r] -= factor[r * d + j] * z[j];
        precisions.push_back(z[r] /= factor[r * d + r]);
      }
      *log_norm -= std::log(factor[c * d + c]);
    }
  }
  std::vector<uint32_t> dims;
  std::vector<double> means, precisions, log_norms, log_weights;
};

struct Shape {
  uint32_t d, n_gaussians, n_weight_rows, n_shares;
};

constexpr uint32_t kRowDims = 43, kRows = 3000;

class StatisticsTest : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (IsSkipped()) return;
    api_ = extension_of<asr_backend_statistics_api>(api(), ASR_BACKEND_STATISTICS);
    if (api_ == nullptr) GTEST_SKIP() << entry().id << ": the host sums the statistics of training";
    device_ = open();
    uint32_t serves = 0;
    check(api_->prepare(device_->get(), &serves));
    if (serves == 0) GTEST_SKIP() << entry().id << ": lacks double arithmetic";
    rows_.resize(size_t{kRows} * kRowDims);
    for (float &value : rows_) value = static_cast<float>(2 * normal());
  }

  double normal() { return normal_(random_); }
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  // Draws a mixture, and shares with rows in ascending order. A tenth of the weights and of the shares are 0.
  StatisticsProblem draw(const Shape &shape, bool full_covariances, bool full_moments) {
    StatisticsProblem p;
    p.full_covariances = full_covariances, p.full_moments = full_moments;
    p.n_row_dims = kRowDims, p.rows = rows_;
    for (uint32_t i = 0; i < shape.d; ++i) p.dims.push_back((7 * i + 3) % kRowDims);
    for (uint32_t k = 0; k < shape.n_gaussians; ++k) {
      for (uint32_t r = 0; r < shape.d; ++r) {
        p.means.push_back(normal());
        if (!full_covariances) p.covariances.push_back(0.5 + 4 * uniform());
        for (uint32_t c = 0; full_covariances && c < shape.d; ++c) {
          p.covariances.push_back(c > r ? 0 : c < r ? 0.2 * normal() : 0.7 + uniform());
        }
      }
    }
    for (uint32_t row = 0; row < shape.n_weight_rows; ++row) {
      for (uint32_t k = 0; k < shape.n_gaussians; ++k) p.weights.push_back(uniform() < 0.1 && k > 0 ? 0 : 0.1 + uniform());
    }
    for (uint32_t i = 0; i < shape.n_shares; ++i) {
      const auto share = static_cast<float>(uniform());
      const auto weight_row = static_cast<uint32_t>(uniform() * shape.n_weight_rows);
      p.shares.push_back({static_cast<uint32_t>(uint64_t{i} * kRows / shape.n_shares), weight_row, share < 0.1f ? 0 : share});
    }
    return p;
  }

  // Returns the sums of all problems, with the rows loaded in chunks.
  std::vector<double> sum(const std::vector<StatisticsProblem> &problems, uint32_t chunk_rows = kRows) {
    std::vector<View> views(problems.begin(), problems.end());
    std::vector<asr_mixture_view> mixtures;
    std::vector<uint32_t> numbers;
    size_t n_values = 0;
    for (size_t i = 0; i < views.size(); ++i) {
      mixtures.push_back(views[i].get());
      numbers.push_back(static_cast<uint32_t>(i));
      const size_t d = problems[i].dims.size(), size = problems[i].full_moments ? d * (d + 1) / 2 : d;
      n_values += problems[i].weights.size() + mixtures[i].n_gaussians * (d + size) + 1;
    }
    const asr_sums_view view = {sizeof view,
                                problems[0].full_covariances ? 1u : 0u,
                                problems[0].full_moments ? 1u : 0u,
                                static_cast<uint32_t>(mixtures.size()),
                                static_cast<uint32_t>(numbers.size()),
                                mixtures.data(),
                                numbers.data()};
    asr_backend_sums *sums = nullptr;
    check(api_->sums_begin(device_->get(), &view, &sums));
    for (uint32_t first = 0; first < kRows; first += chunk_rows) {
      add(problems, first, std::min(chunk_rows, kRows - first), sums);
    }
    Guarded<double> values(n_values);
    check(api_->read(device_->get(), sums, values.data()));
    api_->sums_end(sums);
    EXPECT_TRUE(values.bands_intact());
    EXPECT_EQ(values.n_unwritten(), 0u);
    return {values.data(), values.data() + n_values};
  }

  void add(const std::vector<StatisticsProblem> &problems, uint32_t first, uint32_t n, asr_backend_sums *sums) {
    std::vector<asr_row_share> shares;
    std::vector<uint64_t> share_begin = {0};
    for (const StatisticsProblem &p : problems) {
      for (const auto &share : p.shares) {
        if (share.row >= first && share.row < first + n) shares.push_back({share.row - first, share.weight_row, share.share});
      }
      share_begin.push_back(shares.size());
    }
    asr_backend_rows *rows = nullptr;
    check(api_->load_rows(device_->get(), rows_.data() + size_t{first} * kRowDims, n, kRowDims, &rows));
    check(api_->add(device_->get(), sums, rows, shares.data(), share_begin.data()));
    api_->free_rows(rows);
  }

  static void expect_sums(const std::vector<StatisticsProblem> &problems, const std::vector<double> &found) {
    size_t at = 0;
    for (size_t i = 0; i < problems.size(); ++i) {
      for (const reference::StatisticsSum &sum : reference::sum_statistics(problems[i])) {
        if (std::isinf(sum.value)) {
          ASSERT_EQ(found[at], sum.value) << "sum " << i;
        } else {
          ASSERT_NEAR(found[at], sum.value, 1e-10 * sum.magnitude) << "sum " << i << " value " << at;
        }
        ++at;
      }
    }
    EXPECT_EQ(at, found.size());
  }

  const asr_backend_statistics_api *api_ = nullptr;
  std::unique_ptr<Device> device_;
  std::vector<float> rows_;
  std::mt19937_64 random_{7};
  std::normal_distribution<double> normal_;
};

// One Gaussian and many, one dimension and many, states without rows and with all of them.
TEST_P(StatisticsTest, SumsAreThoseOfTheReference) {
  const std::vector<Shape> shapes = {{1, 1, 1, 1},   {39, 8, 1, 100}, {3, 2, 4, 65}, {13, 70, 5, 700},
                                     {39, 1, 1, 64}, {9, 3, 2, 0},    {8, 1, 1, 2},  {40, 4, 1, 3000}};
  for (const bool full_covariances : {false, true}) {
    for (const bool full_moments : {false, true}) {
      std::vector<StatisticsProblem> problems;
      for (const Shape &shape : shapes) problems.push_back(draw(shape, full_covariances, full_moments));
      expect_sums(problems, sum(problems));
    }
  }
}

// Chunks of any size leave the bits as they are.
TEST_P(StatisticsTest, ChunksChangeNoBit) {
  for (const bool full : {false, true}) {
    const std::vector<StatisticsProblem> problems = {draw({13, 5, 3, 2500}, full, full), draw({39, 2, 1, 300}, full, full)};
    const std::vector<double> whole = sum(problems);
    for (const uint32_t chunk_rows : {1500u, 999u, 61u}) {
      const std::vector<double> cut = sum(problems, chunk_rows);
      ASSERT_EQ(cut.size(), whole.size());
      for (size_t i = 0; i < cut.size(); ++i) ASSERT_EQ(cut[i], whole[i]) << chunk_rows << " rows, value " << i;
    }
  }
}

// Rows far from all Gaussians, and rows whose weights are all 0.
TEST_P(StatisticsTest, DensitiesOfZero) {
  StatisticsProblem p = draw({13, 4, 2, 300}, false, false);
  for (size_t i = 0; i < size_t{100} * kRowDims; ++i) rows_[i] *= 1e9f;
  p.rows = rows_;
  expect_sums({p}, sum({p}));
  for (size_t k = 0; k < 4; ++k) p.weights[4 + k] = 0;
  const std::vector<double> found = sum({p});
  expect_sums({p}, found);
  EXPECT_EQ(found.back(), -INFINITY);
  for (size_t k = 0; k < 4; ++k) EXPECT_EQ(found[4 + k], 0);
  for (StatisticsProblem::Share &share : p.shares) share.share = share.weight_row == 1 ? 0 : share.share;
  EXPECT_TRUE(std::isfinite(sum({p}).back()));
}

// The device's memory for launches is taken by `add`. It ends with the last sums, or with a failure.
TEST_P(StatisticsTest, LaunchesKeepNoMemory) {
  if (bench() == nullptr || bench()->memory == nullptr) GTEST_SKIP() << entry().id << ": does not count its memory";
  const auto n_bytes = [&] {
    asr_backend_memory memory{};
    memory.size = sizeof(memory);
    check(bench()->memory(device_->get(), &memory));
    return memory.total_bytes;
  };
  const uint64_t before = n_bytes();
  const StatisticsProblem p = draw({13, 4, 2, 2000}, false, true);
  const View mixture(p);
  const asr_mixture_view of_mixture = mixture.get();
  const uint32_t number = 0;
  const asr_sums_view view = {sizeof view, 0, 1, 1, 1, &of_mixture, &number};
  asr_backend_sums *first = nullptr, *second = nullptr;
  check(api_->sums_begin(device_->get(), &view, &first));
  const uint64_t of_sums = n_bytes() - before;
  add({p}, 0, kRows, first);
  EXPECT_GE(n_bytes(), before + of_sums + p.shares.size() * 4 * sizeof(double));
  check(api_->sums_begin(device_->get(), &view, &second));
  api_->sums_end(first);
  EXPECT_GT(n_bytes(), before + of_sums);
  asr_backend_rows *rows = nullptr;
  check(api_->load_rows(device_->get(), rows_.data(), 1, kRowDims, &rows));
  const asr_row_share share = {0, 2, 1};
  const uint64_t begins[] = {0, 1};
  EXPECT_EQ(api_->add(device_->get(), second, rows, &share, begins), ASR_INVALID_ARGUMENT);
  api_->free_rows(rows);
  EXPECT_EQ(n_bytes(), before + of_sums);
  api_->sums_end(second);
  expect_sums({p}, sum({p}));
  EXPECT_EQ(n_bytes(), before);
}

TEST_P(StatisticsTest, WrongCalls) {
  const StatisticsProblem p = draw({3, 2, 2, 4}, false, false);
  const View mixture(p);
  asr_mixture_view of_mixture = mixture.get();
  uint32_t number = 1;
  const asr_sums_view view = {sizeof view, 0, 0, 1, 1, &of_mixture, &number};
  asr_backend_sums *sums = nullptr;
  const auto refused = [&](asr_status status, const char *why) {
    EXPECT_EQ(status, ASR_INVALID_ARGUMENT) << why;
    EXPECT_NE(std::string(api().last_error()).find(why), std::string::npos) << api().last_error();
  };
  refused(api_->sums_begin(device_->get(), &view, &sums), "mixture 1");
  number = 0;
  of_mixture.n_gaussians = 0;
  refused(api_->sums_begin(device_->get(), &view, &sums), "0 Gaussians");
  of_mixture.n_gaussians = 2;
  check(api_->sums_begin(device_->get(), &view, &sums));
  asr_backend_rows *rows = nullptr;
  check(api_->load_rows(device_->get(), rows_.data(), 10, kRowDims, &rows));
  const auto add = [&](const asr_row_share &share, uint64_t begin) {
    const uint64_t share_begin[] = {begin, 1};
    return api_->add(device_->get(), sums, rows, &share, share_begin);
  };
  refused(add({10, 0, 1}, 0), "row 10");
  refused(add({0, 2, 1}, 0), "weights 2");
  refused(add({0, 0, -1}, 0), "-1");
  refused(add({0, 0, NAN}, 0), "nan");
  refused(add({0, 0, 1}, 1), "begin at 0");
  api_->free_rows(rows);
  check(api_->load_rows(device_->get(), rows_.data(), 10, 3, &rows));
  refused(add({0, 0, 1}, 0), "3 features");
  api_->free_rows(rows);
  api_->sums_end(sums);
  api_->free_rows(nullptr);
  api_->sums_end(nullptr);
}

SENONE_INSTANTIATE(StatisticsTest);

}  // namespace
}  // namespace asr::test
