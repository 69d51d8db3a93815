// SPDX-License-Identifier: Apache-2.0
#include "core/feature/dynamic.h"

#include "core/feature/dynamic_tables.h"
#include "tests/unit/feature/signals.h"

namespace asr {
namespace {

std::vector<FrontEnd> all_kinds() {
  std::vector<FrontEnd> kinds;
  for (DynamicKind kind : {DynamicKind::kNone, DynamicKind::kSphinx_c_d_dd, DynamicKind::kSphinx_c_d,
                           DynamicKind::kSphinx_c_d_ld_dd, DynamicKind::kSphinx_s2_4x, DynamicKind::kSphinx_s3_1x39,
                           DynamicKind::kRegressionSquared, DynamicKind::kRegressionRepeated, DynamicKind::kSplice}) {
    FrontEnd f;
    f.dynamic = kind;
    f.n_ceps = 5;
    f.splice_left = 4, f.splice_right = 2;
    kinds.push_back(f);
  }
  for (DynamicKind kind : {DynamicKind::kRegressionSquared, DynamicKind::kRegressionRepeated}) {
    for (uint32_t order = 0; order <= 3; ++order) {
      FrontEnd f;
      f.dynamic = kind;
      f.n_ceps = 3;
      f.delta_order = order, f.delta_window = 3;
      f.c0_last = order == 1;
      f.drop_absolute_energy = order > 0;
      kinds.push_back(f);
    }
  }
  for (uint32_t offset : {0, 1}) {
    FrontEnd f = kinds[8];
    f.transform_rows = 3, f.transform_cols = f.n_dims() + offset;
    for (uint32_t i = 0; i < f.transform_rows * f.transform_cols; ++i) f.transform.push_back(static_cast<float>(i % 7) - 3);
    kinds.push_back(f);
  }
  return kinds;
}

TEST(DynamicFeatures, EveryKindForAnyPieces) {
  std::mt19937 random(2);
  for (const FrontEnd &f : all_kinds()) {
    f.validate("test");
    for (size_t n : {0, 1, 2, 3, 4, 7, 9, 40, 1500}) {
      SCOPED_TRACE(testing::Message() << "kind " << int(f.dynamic) << " order " << f.delta_order << " frames " << n);
      const reference::Rows cepstra = test::random_rows(n, f.n_ceps, 17);
      const reference::Rows want = reference::dynamic(f, cepstra);
      const std::vector<float> in = test::flat(cepstra);
      const DynamicTables tables(f);
      DynamicFeatures dynamic(*tables.view());
      ASSERT_EQ(dynamic.n_dims(), f.n_dims());
      std::vector<float> got;
      const auto take = [&](size_t n_rows) {
        got.insert(got.end(), dynamic.rows(), dynamic.rows() + n_rows * f.n_dims());
        dynamic.consume(n_rows);
      };
      const float *next = in.data();
      for (size_t piece : test::random_pieces(n, 6, random)) {
        dynamic.push(next, piece);
        next += piece * f.n_ceps;
        take(random() % (dynamic.ready_rows() + 1));
      }
      dynamic.finish();
      take(dynamic.ready_rows());
      test::expect_rows_near(got.data(), got.size() / f.n_dims(), want, 1e-4);
    }
  }
}

// Rows come as soon as their right context is known: 3 frames for 1s_c_d_dd.
TEST(DynamicFeatures, DelayIsTheRightContext) {
  FrontEnd f;
  f.n_ceps = 1, f.dynamic = DynamicKind::kSphinx_c_d_dd;
  const DynamicTables tables(f);
  DynamicFeatures dynamic(*tables.view());
  const float frames[] = {1, 2, 4, 8};
  dynamic.push(frames, 3);
  EXPECT_EQ(dynamic.ready_rows(), 0u);
  dynamic.push(frames + 3, 1);
  ASSERT_EQ(dynamic.ready_rows(), 1u);
  EXPECT_EQ(std::vector<float>(dynamic.rows(), dynamic.rows() + 3), (std::vector<float>{1, 3, 6}));
  dynamic.finish();
  EXPECT_EQ(dynamic.ready_rows(), 4u);
}

// An impulse shows the kernel: Kaldi's second order has the 9 taps .04 .04 .01 -.04 -.1 -.04 .01 .04 .04.
TEST(DynamicFeatures, KaldiSecondOrderHasNineTaps) {
  FrontEnd f = kaldi_front_end();
  f.n_ceps = 1, f.dynamic = DynamicKind::kRegressionSquared;
  std::vector<float> impulse(13, 0);
  impulse[6] = 1;
  const DynamicTables tables(f);
  DynamicFeatures dynamic(*tables.view());
  dynamic.push(impulse.data(), impulse.size());
  dynamic.finish();
  const float second[] = {0, 0, 0.04f, 0.04f, 0.01f, -0.04f, -0.1f, -0.04f, 0.01f, 0.04f, 0.04f, 0, 0};
  const float first[] = {0, 0, 0, 0, 0.2f, 0.1f, 0, -0.1f, -0.2f, 0, 0, 0, 0};
  for (size_t t = 0; t < impulse.size(); ++t) {
    EXPECT_NEAR(dynamic.rows()[t * 3 + 1], first[t], 1e-7) << t;
    EXPECT_NEAR(dynamic.rows()[t * 3 + 2], second[t], 1e-7) << t;
  }
}

// A ramp's deltas at its start are 0.5, 0.8, 1, 1 ... HTK repeats the first delta for its accelerations, Kaldi the first frame.
// So only the first two frames differ.
TEST(DynamicFeatures, HtkRepeatsTheEdgeDeltas) {
  const auto accelerations = [](DynamicKind kind) {
    FrontEnd f = htk_front_end();
    f.n_ceps = 1, f.dynamic = kind;
    const DynamicTables tables(f);
    DynamicFeatures dynamic(*tables.view());
    for (int t = 0; t < 20; ++t) {
      const auto frame = static_cast<float>(t);
      dynamic.push(&frame, 1);
    }
    dynamic.finish();
    std::vector<float> out;
    for (size_t t = 0; t < 20; ++t) out.push_back(dynamic.rows()[t * 3 + 2]);
    return out;
  };
  const std::vector<float> htk = accelerations(DynamicKind::kRegressionRepeated);
  const std::vector<float> kaldi = accelerations(DynamicKind::kRegressionSquared);
  EXPECT_NEAR(htk[0], (1 * (0.8 - 0.5) + 2 * (1 - 0.5)) / 10, 1e-6);
  EXPECT_NEAR(htk[1], (1 * (1 - 0.5) + 2 * (1 - 0.5)) / 10, 1e-6);
  for (size_t t = 0; t < 20; ++t) {
    if (t < 2 || t >= 18) {
      EXPECT_GT(std::abs(htk[t] - kaldi[t]), 1e-3) << t;
    } else {
      EXPECT_NEAR(htk[t], kaldi[t], 1e-6) << t;
    }
  }
}

}  // namespace
}  // namespace asr
