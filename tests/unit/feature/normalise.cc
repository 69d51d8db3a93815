// SPDX-License-Identifier: Apache-2.0
#include "core/feature/normalise.h"

#include <cmath>

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
  while (normaliser.take(&out)) {
  }
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

// By hand: 10 dB are 2.303 nepers, so that energies below 7.697 are 1 - 0.5 * 2.303.
TEST(Normaliser, EnergyOfTheHighest) {
  FrontEnd f = htk_front_end();
  f.n_ceps = 2, f.use_energy = true, f.cmn = CmnKind::kBatch;
  f.energy_range_db = 10, f.energy_scale = 0.5;
  const reference::Rows rows = {{4, 9}, {-2, 10}, {1, 8}, {5, 3}};
  const std::vector<float> got = normalised(f, CmnKind::kBatch, rows, 2);
  const float floor = 1 - 0.5f * std::log(10.0f);
  const std::vector<float> want = {2, 0.5, -4, 1, -1, 0, 3, floor};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_FLOAT_EQ(got[i], want[i]) << i;
  f.cmn_cepstra = false;
  const std::vector<float> energy_alone = normalised(f, CmnKind::kBatch, rows, 3);
  for (size_t t = 0; t < rows.size(); ++t) {
    EXPECT_EQ(energy_alone[2 * t], rows[t][0]);
    EXPECT_EQ(energy_alone[2 * t + 1], got[2 * t + 1]);
  }
  for (const CmnKind kind : {CmnKind::kLive, CmnKind::kNone}) EXPECT_THROW(Normaliser(f, kind), Error);
  f.cmn_cepstra = f.cmn_variance = true;
  const reference::Rows random = test::random_rows(50, 2, 4);
  test::expect_rows_near(normalised(f, CmnKind::kBatch, random, 9).data(), 50, reference::batch_normalised(f, random), 1e-5);
  EXPECT_TRUE(normalised(f, CmnKind::kBatch, {}, 1).empty());
}

TEST(Normaliser, BadEnergyRangesAreRefused) {
  const auto refusal = [](auto change) -> std::string {
    FrontEnd f = htk_front_end();
    f.use_energy = true, f.cmn = CmnKind::kBatch, f.energy_range_db = 50;
    change(f);
    try {
      f.validate("test");
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal([](FrontEnd &) {}), "");
  const std::string needs = "test: front_end.energy_range_db needs use_energy and cmn \"batch\"; import the model again";
  EXPECT_EQ(refusal([](FrontEnd &f) { f.use_energy = false; }), needs);
  EXPECT_EQ(refusal([](FrontEnd &f) { f.cmn = CmnKind::kNone; }), needs);
  EXPECT_EQ(refusal([](FrontEnd &f) { f.cmn_cepstra = false, f.energy_range_db = 0; }),
            "test: front_end.cmn_cepstra must not be false without energy_range_db; import the model again");
}

// Makes noise, then speech of that level, 30 dB above the noise, with a pause in the middle.
reference::Rows recording(const FrontEnd &f, double level, size_t n_noise, size_t n_speech, uint32_t seed) {
  reference::Rows rows = test::random_rows(n_noise + n_speech, f.n_ceps, seed);
  const uint32_t c0 = f.c0_last ? f.n_ceps - 1 : 0;
  for (size_t t = 0; t < rows.size(); ++t) {
    const bool pause = t > n_noise + n_speech / 2 && t < n_noise + n_speech / 2 + 30;
    rows[t][c0] = level + rows[t][c0] / 2 - (t < n_noise || pause ? 35 : 0);
    rows[t][(c0 + 1) % f.n_ceps] += 5;
  }
  return rows;
}

// Returns the mean difference of the first coefficients from batch normalisation, over the first second of speech.
double offset(const FrontEnd &f, const reference::Rows &rows, size_t n_noise, uint32_t i) {
  const std::vector<float> live = normalised(f, CmnKind::kLive, rows, 100), batch = normalised(f, CmnKind::kBatch, rows, 100);
  double sum = 0;
  for (size_t t = n_noise; t < n_noise + 100; ++t) sum += (live[t * f.n_ceps + i] - batch[t * f.n_ceps + i]) / 100;
  return sum;
}

TEST(Normaliser, LiveFollowsTheLevelAndTheChannelFromTheStart) {
  const FrontEnd f = test::en_us_front_end();
  FrontEnd running = f;
  running.cmn_lookahead_frames = 0;
  std::vector<double> live_c0, running_c0;
  for (const double level : {35.0, 60.0}) {
    const reference::Rows rows = recording(f, level, 40, 400, 3);
    live_c0.push_back(offset(f, rows, 40, 0));
    running_c0.push_back(offset(running, rows, 40, 0));
    EXPECT_NEAR(offset(f, rows, 40, 1), 0, 1) << level;
    EXPECT_NEAR(live_c0.back(), 0, 9) << level;  // 8 dB: silence before speech counts in proportion to speech
  }
  EXPECT_NEAR(live_c0[0], live_c0[1], 2);
  EXPECT_GT(running_c0[1] - running_c0[0], 20);
}

// A minute of noise before the first word, or between two, must not become the mean.
TEST(Normaliser, LiveIsNotMovedByPauses) {
  const FrontEnd f = test::en_us_front_end();
  const reference::Rows quick = recording(f, 50, 40, 400, 3), late = recording(f, 50, 6000, 400, 3);
  const std::vector<float> a = normalised(f, CmnKind::kLive, quick, 100), b = normalised(f, CmnKind::kLive, late, 100);
  for (size_t t = 100; t < 400; ++t) EXPECT_NEAR(a[(40 + t) * f.n_ceps], b[(6000 + t) * f.n_ceps], 15) << t;
}

TEST(Normaliser, LiveGoesOnFromAState) {
  const FrontEnd f = test::en_us_front_end();
  const reference::Rows rows = recording(f, 60, 20, 400, 3);
  const std::vector<float> in = test::flat(rows);
  std::vector<float> first, cold, warm;
  Normaliser before(f, CmnKind::kLive);
  before.push(in.data(), rows.size(), &first);
  before.finish(&first);
  MeanState learned;
  ASSERT_TRUE(before.get_state(&learned));
  const std::string bytes = state_to_bytes(learned, f);
  const MeanState state = state_from_bytes(bytes.data(), bytes.size(), f, "test");
  EXPECT_EQ(state_to_bytes(state, f), bytes);
  Normaliser after(f, CmnKind::kLive, &state), anew(f, CmnKind::kLive);
  after.push(in.data(), 30, &warm);
  anew.push(in.data(), 30, &cold);
  EXPECT_EQ(cold.size(), 0u);  // these frames are held until speech
  ASSERT_EQ(warm.size(), size_t{30} * f.n_ceps);
  const std::vector<float> batch = normalised(f, CmnKind::kBatch, rows, 100);
  for (size_t t = 0; t < 30; ++t) EXPECT_NEAR(warm[t * f.n_ceps], batch[t * f.n_ceps], 5) << t;
}

TEST(Normaliser, FramesThatWaitCanBeReleased) {
  const FrontEnd f = test::en_us_front_end();
  const std::vector<float> in = test::flat(recording(f, 60, 20, 400, 3));
  Normaliser normaliser(f, CmnKind::kLive);
  std::vector<float> out;
  normaliser.push(in.data(), 41, &out);
  EXPECT_EQ(out.size(), f.n_ceps);  // each is held for 40 more frames
  normaliser.release_waiting(&out);
  EXPECT_EQ(out.size(), size_t{41} * f.n_ceps);
  normaliser.release_waiting(&out);
  EXPECT_EQ(out.size(), size_t{41} * f.n_ceps);
}

// Measures the frames as often as the model needs it, then normalises them by the state, through bytes.
std::vector<float> measured(const FrontEnd &f, const reference::Rows &rows, size_t largest_piece) {
  const std::vector<float> in = test::flat(rows);
  std::mt19937 random(7);
  const auto pass = [&](Normaliser *normaliser, std::vector<float> *out) {
    const float *next = in.data();
    for (size_t n : test::random_pieces(rows.size(), largest_piece, random)) {
      normaliser->push(next, n, out);
      next += n * f.n_ceps;
    }
  };
  MeanState state = WholeMean(f).state();
  std::vector<float> out;
  for (uint32_t i = 0; i < WholeMean::n_passes(f); ++i) {
    Normaliser measuring(f, CmnKind::kMeasure, &state);
    pass(&measuring, &out);
    measuring.finish(&out);
    EXPECT_TRUE(out.empty());
    EXPECT_FALSE(measuring.has_blocks());
    EXPECT_TRUE(measuring.get_state(&state));
    const std::string bytes = state_to_bytes(state, f);
    state = state_from_bytes(bytes.data(), bytes.size(), f, "test");
  }
  Normaliser normaliser(f, CmnKind::kBatch, &state);
  pass(&normaliser, &out);
  EXPECT_EQ(out.size(), in.size());  // none is held
  normaliser.finish(&out);
  EXPECT_FALSE(normaliser.has_blocks());
  return out;
}

// Every kind of batch normalisation: the same bits whether frames were held or measured.
TEST(Normaliser, AMeasuredSignalNeedsNoHeldFrames) {
  FrontEnd f = htk_front_end();
  f.n_ceps = 13, f.cmn = CmnKind::kBatch;
  const reference::Rows rows = test::random_rows(3000, 13, 4);
  EXPECT_EQ(WholeMean::n_passes(f), 1u);
  EXPECT_EQ(measured(f, rows, 100), normalised(f, CmnKind::kBatch, rows, 100));
  f.cmn_skip_negative_c0 = true;
  EXPECT_EQ(measured(f, rows, 7), normalised(f, CmnKind::kBatch, rows, 3000));
  f.cmn_variance = true;
  EXPECT_EQ(WholeMean::n_passes(f), 2u);
  EXPECT_EQ(measured(f, rows, 100), normalised(f, CmnKind::kBatch, rows, 100));
  f.use_energy = true, f.energy_range_db = 10, f.energy_scale = 0.5;
  EXPECT_EQ(measured(f, rows, 100), normalised(f, CmnKind::kBatch, rows, 100));
  f.cmn_cepstra = false;
  EXPECT_EQ(WholeMean::n_passes(f), 1u);
  EXPECT_EQ(measured(f, rows, 100), normalised(f, CmnKind::kBatch, rows, 100));
  EXPECT_TRUE(measured(f, {}, 1).empty());
}

TEST(Normaliser, BadStatesAreRefused) {
  const FrontEnd f = test::en_us_front_end();
  const std::string good = state_to_bytes(LiveMean(f).state(), f);
  const auto refused = [&](const std::string &bytes, const FrontEnd &front_end) {
    try {
      state_from_bytes(bytes.data(), bytes.size(), front_end, "asr_stream_set_state");
      return std::string("no error");
    } catch (const Error &error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refused(good, f), "no error");
  for (size_t n = 0; n < good.size(); ++n) EXPECT_NE(refused(good.substr(0, n), f), "no error") << n;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_NE(refused(bad, f), "no error") << i;
  }
  EXPECT_NE(refused(good + '\0', f).find("is damaged"), std::string::npos);
  EXPECT_NE(refused("", f).find("no state"), std::string::npos);
  FrontEnd other = f;
  other.low_hz = 100;
  EXPECT_NE(refused(good, other).find("another front end"), std::string::npos);
  other = f;
  other.dynamic = DynamicKind::kNone, other.cmn_prior.clear(), other.cmn_lookahead_frames = 7;
  EXPECT_EQ(refused(good, other), "no error");  // the cepstra are the same
  LiveMeanState endless = LiveMean(f).state();
  endless.speech_sum[2] = NAN;
  EXPECT_NE(refused(state_to_bytes(endless, f), f).find("is damaged"), std::string::npos);
  endless = LiveMean(f).state();
  endless.n_speech = -1;
  EXPECT_NE(refused(state_to_bytes(endless, f), f).find("is damaged"), std::string::npos);
}

TEST(Normaliser, RunningUsesThePriorUntilTheWindowIsFull) {
  FrontEnd f = sphinx_front_end();
  f.cmn_lookahead_frames = 0;
  f.n_ceps = 1;
  f.cmn_prior = {10};
  f.cmn_prior_frames = 2, f.cmn_window_frames = 4;
  // Sum 20 of 2 frames; the third frame makes it 20 + 12 + 12 + 16 = 60 of 5: mean 12, kept with weight 2. A frame with
  // negative c0 stays unchanged.
  EXPECT_EQ(normalised(f, CmnKind::kLive, {{12}, {12}, {-1}, {16}, {12}}, 2), (std::vector<float>{2, 2, -1, 6, 0}));
}

TEST(Normaliser, AgreesWithTheReferenceForAnyPieces) {
  for (bool c0_last : {false, true}) {
    FrontEnd f = sphinx_front_end();
    f.c0_last = c0_last;
    const reference::Rows rows = test::random_rows(2500, f.n_ceps, 11);
    for (const uint32_t lookahead : {0u, 1u, 40u, 900u}) {
      f.cmn_lookahead_frames = lookahead;
      const reference::Rows heard = lookahead == 0 ? rows : recording(f, 50, 300, 1300, lookahead);
      const reference::Rows live =
          lookahead == 0 ? reference::running_normalised(f, heard) : reference::live_normalised(f, heard);
      for (size_t piece : {1, 37, 3000}) {
        const std::vector<float> got = normalised(f, CmnKind::kLive, heard, piece);
        EXPECT_EQ(got, normalised(f, CmnKind::kLive, heard, 1));
        test::expect_rows_near(got.data(), got.size() / f.n_ceps, live, 1e-5);
      }
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
