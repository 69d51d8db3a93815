// SPDX-License-Identifier: Apache-2.0
// LDA on drawn rows: covariances of the transformed rows, summed plainly, are what equation T12 says.
#include "builder/train/new/lda.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/unit/scratch.h"

namespace asr::train {
namespace {

constexpr uint32_t kDims = 2, kContext = 1, kInputs = 6, kOutputs = 4, kClasses = 3;

TEST(Splice, RepeatsTheEnds) {
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  std::vector<float> spliced(10);
  splice(rows.data(), 3, 2, 0, 2, spliced.data());
  EXPECT_EQ(spliced, (std::vector<float>{1, 2, 1, 2, 1, 2, 3, 4, 5, 6}));
  splice(rows.data(), 3, 2, 2, 2, spliced.data());
  EXPECT_EQ(spliced, (std::vector<float>{1, 2, 3, 4, 5, 6, 5, 6, 5, 6}));
}

struct Drawn {
  std::vector<float> rows;
  std::vector<uint32_t> pdfs;
  std::vector<TrainingUtterance> utterances;
};

Drawn draw() {
  Drawn drawn;
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (uint32_t utterance = 0; utterance < 40; ++utterance) {
    const uint32_t n = 20 + utterance % 7;
    drawn.utterances.push_back({"", {}, drawn.pdfs.size(), n});
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t pdf = i / 4 % kClasses;
      drawn.pdfs.push_back(utterance == 5 ? kNoState : pdf);
      drawn.rows.push_back(static_cast<float>(3.0 * pdf + 2 * normal(random)));
      drawn.rows.push_back(
          static_cast<float>((pdf == 1 ? 4 : 0) + 0.3 * static_cast<double>(drawn.rows.back()) + normal(random)));
    }
  }
  return drawn;
}

TEST(Lda, WhitensClassesAndSeparatesThem) {
  const Drawn drawn = draw();
  ThreadPool pool(2);
  const std::vector<double> transform =
      lda_transform(drawn.rows.data(), kDims, drawn.utterances, drawn.pdfs, kContext, kOutputs, &pool);
  ASSERT_EQ(transform.size(), size_t{kOutputs} * kInputs);
  const test::Scratch scratch;
  RowsFile file(scratch / "rows", kOutputs);
  add_transformed(transform, drawn.rows.data(), kDims, drawn.utterances, kContext, &pool, &file);
  ASSERT_EQ(file.n_rows(), drawn.pdfs.size());
  std::vector<std::vector<double>> means(kClasses, std::vector<double>(kOutputs));
  std::vector<double> n(kClasses), mean(kOutputs);
  double n_all = 0;
  for (size_t i = 0; i < drawn.pdfs.size(); ++i) {
    if (drawn.pdfs[i] == kNoState) continue;
    n[drawn.pdfs[i]] += 1;
    n_all += 1;
    for (uint32_t r = 0; r < kOutputs; ++r) {
      const auto value = static_cast<double>(file.map()[i * kOutputs + r]);
      means[drawn.pdfs[i]][r] += value;
      mean[r] += value;
    }
  }
  std::vector<double> within(kOutputs * kOutputs), total(kOutputs * kOutputs);
  for (size_t i = 0; i < drawn.pdfs.size(); ++i) {
    const uint32_t pdf = drawn.pdfs[i];
    if (pdf == kNoState) continue;
    const auto value = [&](uint32_t r) { return static_cast<double>(file.map()[i * kOutputs + r]); };
    for (uint32_t r = 0; r < kOutputs; ++r) {
      for (uint32_t c = 0; c < kOutputs; ++c) {
        within[r * kOutputs + c] += (value(r) - means[pdf][r] / n[pdf]) * (value(c) - means[pdf][c] / n[pdf]) / n_all;
        total[r * kOutputs + c] += (value(r) - mean[r] / n_all) * (value(c) - mean[c] / n_all) / n_all;
      }
    }
  }
  double last = INFINITY;
  for (uint32_t r = 0; r < kOutputs; ++r) {
    for (uint32_t c = 0; c < kOutputs; ++c) {
      EXPECT_NEAR(within[r * kOutputs + c], r == c, 1e-4);
      if (r != c) {
        EXPECT_NEAR(total[r * kOutputs + c], 0, 1e-4);
      }
    }
    EXPECT_LE(total[r * kOutputs + r], last + 1e-4);
    last = total[r * kOutputs + r];
  }
  EXPECT_GT(total[0], 2);  // classes differ there
}

TEST(Lda, AnyNumberOfThreadsGivesTheSame) {
  const Drawn drawn = draw();
  ThreadPool one(1), three(3);
  EXPECT_EQ(lda_transform(drawn.rows.data(), kDims, drawn.utterances, drawn.pdfs, kContext, kOutputs, &one),
            lda_transform(drawn.rows.data(), kDims, drawn.utterances, drawn.pdfs, kContext, kOutputs, &three));
}

TEST(Lda, RefusesRowsThatDependOnEachOther) {
  Drawn drawn = draw();
  std::fill(drawn.rows.begin(), drawn.rows.end(), 1.0f);
  ThreadPool pool(1);
  test::expect_error([&] { lda_transform(drawn.rows.data(), kDims, drawn.utterances, drawn.pdfs, kContext, kOutputs, &pool); },
                     ASR_BAD_FILE, "the spliced features of all recordings depend on each other");
}

}  // namespace
}  // namespace asr::train
