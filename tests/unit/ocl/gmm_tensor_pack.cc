// SPDX-License-Identifier: Apache-2.0
// Tests how diagonal Gaussians are packed for the products of warpgroups, which only one kind of GPU has: scores are computed
// from the packed bytes, column by column, and compared with the double reference.
#include "plugins/gpu/scores/gmm_tensor_pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/thread_pool.h"
#include "plugins/common/halves.h"
#include "plugins/common/packing.h"
#include "plugins/gpu/scores/gmm_states.h"
#include "reference/gmm.h"
#include "reference/random_gmm.h"

namespace asr {
namespace {

class TensorPackTest : public testing::Test {
 protected:
  void set_model(uint32_t n_states, uint32_t min_gaussians, uint32_t max_gaussians) {
    options_.n_states = n_states;
    options_.min_gaussians = min_gaussians, options_.max_gaussians = max_gaussians;
    options_.stream_dims = {18};
    model_ = reference::random_gmm(options_);
    view_.emplace(model_);
  }

  TensorPack pack(const std::vector<uint32_t> &states, const TensorLayout &layout = {true, false}) {
    centre_ = feature_centre(*view_->get());
    const TensorPacker packer(*view_->get(), centre_, pool_);
    dims_ = packer.dims_of(0);
    return packer.pack(0, states, dims_, layout);
  }

  // The base-2 score of one column of a tile.
  double column_score(const TensorPack &pack, size_t tile, uint32_t column, const float *features) const {
    const uint32_t *const words = pack.fragments.data() + tile * pack.n_steps * (pack.halved ? size_t{32} : 64);
    const auto weight = [&](size_t k, size_t lo) {
      if (pack.halved && lo == 1) return 0.0;
      const uint32_t pair = words[lo * pack.n_steps * 32 + k / 8 * 32 + size_t{column} * 4 + k % 8 / 2];
      return double(half_value(uint16_t(k % 2 == 0 ? pair : pair >> 16)));
    };
    double score = pack.tiles[tile].constants[column];
    for (size_t d = 0; d < dims_.size(); ++d) {
      const double x = (double(features[dims_[d].dim]) - dims_[d].centre) * dims_[d].scale;
      score += (weight(2 * d, 0) + weight(2 * d, 1)) * x + (weight(2 * d + 1, 0) + weight(2 * d + 1, 1)) * x * x;
    }
    return score;
  }

  // The scores of all states that a pack has. By fours, lane q has columns 2 q and 2 q + 1; otherwise a state has all.
  std::map<uint32_t, double> scores(const TensorPack &pack, const float *features) const {
    const uint32_t n_lanes = pack.four_tiles > 0 ? 4 : 1, n_columns = 8 / n_lanes;
    std::map<uint32_t, double> scores;
    std::vector<double> sums(n_lanes, 0);
    for (size_t tile = 0; tile < pack.tiles.size(); ++tile) {
      for (uint32_t lane = 0; lane < n_lanes; ++lane) {
        for (uint32_t c = 0; c < n_columns; ++c) {
          sums[lane] += std::exp2(column_score(pack, tile, lane * n_columns + c, features));
        }
        const int32_t state = pack.tiles[tile].states[lane];
        if (state < 0) continue;
        EXPECT_TRUE(scores.emplace(state, std::log(sums[lane])).second) << "state " << state << " ends twice";
        sums[lane] = 0;
      }
      if (pack.four_tiles > 0 && (tile + 1) % pack.four_tiles == 0) sums.assign(n_lanes, 0);  // of states that are not there
    }
    return scores;
  }

  void expect_scores(const TensorPack &pack, const std::vector<uint32_t> &states) {
    const std::vector<float> features = reference::random_features(options_, 1);
    const std::map<uint32_t, double> found = scores(pack, features.data());
    EXPECT_EQ(found.size(), states.size());
    for (const uint32_t state : states) {
      ASSERT_EQ(found.count(state), 1u) << "state " << state;
      const double expected = reference::log_likelihood(*view_->get(), state, features.data());
      ASSERT_NEAR(found.at(state), expected, pack.halved ? 0.02 + 1e-3 * std::abs(expected) : 2e-3) << "state " << state;
    }
  }

  static std::vector<uint32_t> every(uint32_t n, uint32_t step = 1) {
    std::vector<uint32_t> states;
    for (uint32_t s = 0; s < n; s += step) states.push_back(s);
    return states;
  }

  ThreadPool pool_{2};
  reference::RandomGmm options_;
  AcousticModel model_;
  std::optional<AcousticView> view_;
  std::vector<float> centre_;
  std::vector<TensorDim> dims_;
};

TEST_F(TensorPackTest, SmallMixturesOfOneSizeLieByFours) {
  for (const auto &[least, most, four_tiles] : {std::tuple{5, 8, 4}, std::tuple{1, 1, 4}, std::tuple{9, 16, 8}}) {
    for (const uint32_t n_states : {1u, 4u, 11u}) {
      set_model(n_states, uint32_t(least), uint32_t(most));
      const TensorPack packed = pack(every(n_states));
      ASSERT_EQ(packed.four_tiles, uint32_t(four_tiles));
      EXPECT_EQ(packed.tiles.size(), size_t((n_states + 3) / 4) * uint32_t(four_tiles));
      EXPECT_EQ(packed.starts.size(), (n_states + 3) / 4 + 1);
      EXPECT_EQ(packed.starts.back(), packed.tiles.size());
      expect_scores(packed, every(n_states));
    }
  }
}

TEST_F(TensorPackTest, StatesThatOtherKernelsScoreAreLeftOut) {
  set_model(23, 9, 16);
  const TensorPack packed = pack(every(23, 3));
  EXPECT_EQ(packed.four_tiles, 8u);
  expect_scores(packed, every(23, 3));
}

// A part of a model lies as the whole, even if its states alone would lie otherwise.
TEST_F(TensorPackTest, PartsLieAsTheWhole) {
  set_model(24, 1, 20);
  const auto sizes_up_to = [&](uint32_t n_max) {
    std::vector<uint32_t> states;
    for (const uint32_t s : every(24)) {
      if (codebook_of(*view_->get(), s, 0).n_gaussians <= n_max) states.push_back(s);
    }
    return states;
  };
  const std::vector<uint32_t> small = sizes_up_to(8), some = sizes_up_to(16);
  ASSERT_FALSE(small.empty());
  ASSERT_LT(some.size(), 24u);
  for (const uint32_t four_tiles : {0u, 8u}) {
    for (const std::vector<uint32_t> &states : {small, some}) {
      const TensorPack packed = pack(states, {true, false, four_tiles});
      EXPECT_EQ(packed.four_tiles, four_tiles);
      expect_scores(packed, states);
    }
  }
}

TEST_F(TensorPackTest, MixturesOfManySizesLieOneByOne) {
  for (const auto &[least, most] : {std::pair{1, 16}, std::pair{17, 20}}) {
    set_model(40, uint32_t(least), uint32_t(most));
    const TensorPack packed = pack(every(40));
    EXPECT_EQ(packed.four_tiles, 0u);
    EXPECT_EQ(packed.starts.size(), 41u);
    expect_scores(packed, every(40));
  }
}

TEST_F(TensorPackTest, HalvedModelsHaveNoLo) {
  set_model(6, 9, 16);
  const TensorPack whole = pack(every(6)), halved = pack(every(6), {true, true});
  EXPECT_TRUE(halved.halved);
  EXPECT_EQ(2 * halved.fragments.size(), whole.fragments.size());
  expect_scores(halved, every(6));
}

// A full Gaussian that is far longer than wide would lose its shape in halves. A few such states are left to FP32; for many the
// model stays whole.
TEST_F(TensorPackTest, LongGaussiansAreNotHalved) {
  options_.covariance = ASR_COVARIANCE_FULL;
  set_model(40, 1, 1);
  const size_t n = options_.stream_dims[0], n_values = n * (n + 1) / 2;
  for (const size_t n_long : {0u, 2u, 20u}) {
    for (size_t i = 0; i < model_.precisions.size(); ++i) {
      const size_t k = i % n_values;  // row r begins with r (r + 1) / 2
      size_t row = 0;
      while ((row + 1) * (row + 2) / 2 <= k) ++row;
      model_.precisions[i] = k == row * (row + 3) / 2 ? 1.0f : k == 1 ? (i / n_values < n_long ? 0.999f : 0.3f) : 0.0f;
    }
    view_.emplace(model_);
    centre_ = feature_centre(*view_->get());
    const TensorPacker packer(*view_->get(), centre_, pool_);
    StreamStates states = states_of_stream(*view_->get(), 0);
    choose_tensor_states(packer, 0, packer.dims_of(0), true, &states);
    EXPECT_EQ(states.halves_tensor, n_long < 20) << n_long;
    EXPECT_EQ(states.direct.size(), n_long < 20 ? n_long : 0u);
    EXPECT_EQ(states.tensor.size() + states.direct.size(), 40u);
  }
}

TEST_F(TensorPackTest, NoStates) {
  set_model(3, 1, 8);
  const TensorPack packed = pack({});
  EXPECT_TRUE(packed.tiles.empty());
  EXPECT_EQ(packed.starts, (std::vector<uint32_t>{0}));
}

}  // namespace
}  // namespace asr
