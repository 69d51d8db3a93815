// SPDX-License-Identifier: Apache-2.0
#include "core/feature/normalise.h"

#include "core/base/error.h"
#include "tests/unit/feature/signals.h"

namespace asr {
namespace {

std::vector<float> normalised(const FrontEnd &f, CmnKind kind, const reference::Rows &rows, size_t largest_piece) {
  Normaliser normaliser(f, kind);
  const std::vector<float> in = test::flat(rows);
  std::vector<float> out;
  std::mt19937 random(5);
  const float *next = in.data();
  for (size_t n : test::random_pieces(rows.size(), largest_piece, random)) {
    normaliser.push(next, n, &out);
    next += n * f.n_ceps;
  }
  normaliser.finish(&out);
  return out;
}

TEST(Normaliser, BatchSkipsNegativeC0InTheMeanOnly) {
  FrontEnd f = sphinx_front_end();
  f.n_ceps = 2;
  const reference::Rows rows = {{4, 1}, {-2, 100}, {8, 3}};
  EXPECT_EQ(normalised(f, CmnKind::kBatch, rows, 2), (std::vector<float>{-2, -1, -8, 98, 2, 1}));
  f.cmn_skip_negative_c0 = false;
  f.cmn_variance = true;
  const std::vector<float> got = normalised(f, CmnKind::kBatch, {{1, 5}, {3, 5}}, 1);
  EXPECT_EQ(got, (std::vector<float>{-1, 0, 1, 0}));
}

TEST(Normaliser, LiveUsesThePriorUntilTheWindowIsFull) {
  FrontEnd f = sphinx_front_end();
  f.n_ceps = 1;
  f.cmn_prior = {10};
  f.cmn_prior_frames = 2, f.cmn_window_frames = 4;
  // Sum 20 of 2 frames; the third frame makes it 20 + 12 + 12 + 16 = 60 of 5: mean 12, kept with weight 2. A frame with
  // negative c0 is left as it is.
  EXPECT_EQ(normalised(f, CmnKind::kLive, {{12}, {12}, {-1}, {16}, {12}}, 2), (std::vector<float>{2, 2, -1, 6, 0}));
}

TEST(Normaliser, AgreesWithTheReferenceForAnyPieces) {
  for (bool c0_last : {false, true}) {
    FrontEnd f = sphinx_front_end();
    f.c0_last = c0_last;
    const reference::Rows rows = test::random_rows(2500, f.n_ceps, 11);
    const reference::Rows live = reference::live_normalised(f, rows);
    for (size_t piece : {1, 37, 3000}) {
      const std::vector<float> got = normalised(f, CmnKind::kLive, rows, piece);
      EXPECT_EQ(got, normalised(f, CmnKind::kLive, rows, 1));
      test::expect_rows_near(got.data(), got.size() / f.n_ceps, live, 1e-5);
    }
    for (bool variance : {false, true}) {
      f.cmn_variance = variance;
      const std::vector<float> got = normalised(f, CmnKind::kBatch, rows, 100);
      test::expect_rows_near(got.data(), got.size() / f.n_ceps, reference::batch_normalised(f, rows), 1e-5);
    }
  }
}

TEST(Normaliser, NoneChangesNothingAndLiveVarianceIsRefused) {
  FrontEnd f = sphinx_front_end();
  const reference::Rows rows = test::random_rows(9, f.n_ceps, 1);
  EXPECT_EQ(normalised(f, CmnKind::kNone, rows, 4), test::flat(rows));
  EXPECT_TRUE(normalised(f, CmnKind::kBatch, {}, 1).empty());
  f.cmn_variance = true;
  EXPECT_THROW(Normaliser(f, CmnKind::kLive), Error);
}

}  // namespace
}  // namespace asr
