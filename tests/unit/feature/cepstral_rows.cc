// SPDX-License-Identifier: Apache-2.0
#include "core/feature/cepstral_rows.h"

#include "tests/unit/feature/signals.h"

namespace asr {
namespace {

// Rows that are normalised as a whole are those of all frames at once, however few of them are made at a time.
TEST(CepstralRows, BatchRowsAreMadeAFewAtATime) {
  const FrontEnd f = sphinx_front_end();
  const FeatureTables tables(f);
  std::mt19937 random(3);
  for (const size_t n_frames : {size_t{0}, size_t{1}, size_t{7}, size_t{1024}, size_t{1026}, size_t{3500}}) {
    const std::vector<float> cepstra = test::flat(test::random_rows(n_frames, f.n_ceps, 5));
    Normaliser normaliser(f, CmnKind::kBatch);
    std::vector<float> normalised;
    normaliser.push(cepstra.data(), n_frames, &normalised);
    normaliser.finish(&normalised);
    while (normaliser.take(&normalised)) {
    }
    DynamicFeatures dynamic(*tables.view()->dynamics);
    dynamic.push(normalised.data(), n_frames);
    dynamic.finish();
    const std::vector<float> want(dynamic.rows(), dynamic.rows() + dynamic.ready_rows() * dynamic.n_dims());

    CepstralRows rows(tables, CmnKind::kBatch);
    rows.add(cepstra, n_frames);
    ASSERT_EQ(rows.ready_rows(), 0u);
    rows.finish();
    std::vector<float> got;
    while (rows.ready_rows() > 0) {
      ASSERT_LT(rows.ready_rows(), 2000u);
      const size_t n = 1 + random() % rows.ready_rows();
      got.insert(got.end(), rows.rows(), rows.rows() + n * rows.n_dims());
      rows.consume(n);
    }
    EXPECT_EQ(got, want) << n_frames;
  }
}

}  // namespace
}  // namespace asr
