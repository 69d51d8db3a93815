// SPDX-License-Identifier: Apache-2.0
#include "core/feature/front_end.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/feature/mel.h"

namespace asr {
namespace {

std::string message_of(const std::function<void()> &body) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ASR_BAD_FILE);
    return error.what();
  }
  return "no error";
}

TEST(FrontEnd, PresetsAreValidAndHaveTheirRowLength) {
  for (const FrontEnd &f : {sphinx_front_end(), kaldi_front_end(), htk_front_end()}) EXPECT_NO_THROW(f.validate("preset"));
  EXPECT_EQ(sphinx_front_end().n_dims(), 39u);
  EXPECT_EQ(kaldi_front_end().n_dims(), 13u);
  EXPECT_EQ(htk_front_end().n_dims(), 39u);
}

TEST(FrontEnd, RowLengths) {
  FrontEnd f = sphinx_front_end();
  const auto n_dims = [&](DynamicKind kind) {
    f.dynamic = kind;
    return f.n_dims();
  };
  EXPECT_EQ(n_dims(DynamicKind::kNone), 13u);
  EXPECT_EQ(n_dims(DynamicKind::kSphinx_c_d), 26u);
  EXPECT_EQ(n_dims(DynamicKind::kSphinx_c_d_ld_dd), 52u);
  EXPECT_EQ(n_dims(DynamicKind::kSphinx_s2_4x), 51u);
  EXPECT_EQ(n_dims(DynamicKind::kSphinx_s3_1x39), 39u);
  f.splice_left = f.splice_right = 3;
  EXPECT_EQ(n_dims(DynamicKind::kSplice), 91u);
  f.transform.assign(size_t{40} * 91, 0);
  f.transform_rows = 40, f.transform_cols = 91;
  EXPECT_EQ(f.n_dims(), 40u);
  FrontEnd julius = htk_front_end();
  julius.drop_absolute_energy = true;
  EXPECT_EQ(julius.n_dims(), 38u);
}

TEST(FrontEnd, JsonRoundTrip) {
  for (const FrontEnd &f : {sphinx_front_end(), kaldi_front_end(), htk_front_end()}) {
    const std::string json = front_end_to_json(f);
    EXPECT_EQ(front_end_to_json(front_end_from_json(json, "test")), json);
  }
  FrontEnd f = kaldi_front_end();
  f.sample_rate_hz = 8000, f.high_hz = 3999.123456789, f.vtln_high_hz = 0;
  f.dynamic = DynamicKind::kSplice;
  f.splice_left = 1;
  f.transform = {0.1f, -1.5e-20f, 3e10f};
  f.transform.resize(size_t{2} * 27, 0.3f);
  f.transform_rows = 2, f.transform_cols = 27;
  const FrontEnd g = front_end_from_json(front_end_to_json(f), "test");
  EXPECT_EQ(g.high_hz, f.high_hz);
  EXPECT_EQ(g.transform, f.transform);
  EXPECT_EQ(g.dynamic, f.dynamic);
  EXPECT_EQ(g.window, f.window);
  EXPECT_EQ(g.dc_removal, f.dc_removal);
}

TEST(FrontEnd, BadJsonNamesTheSourceAndTheField) {
  const auto message = [](const std::string &json) { return message_of([&] { front_end_from_json(json, "senone.json"); }); };
  for (const char *json : {"", "{", "[]", "3", "{\"n_mel\":}", "\xff"}) {
    EXPECT_EQ(message(json).rfind("senone.json: front_end is not a JSON object", 0), 0u) << json;
  }
  const std::pair<const char *, const char *> wrong[] = {
      {R"({"n_mel": "40"})", "n_mel"},
      {R"({"n_mel": -1})", "n_mel"},
      {R"({"n_mel": 4294967296})", "n_mel"},
      {R"({"n_mel": 40.5})", "n_mel"},
      {R"({"magnitude": 1})", "magnitude"},
      {R"({"window": "blackman"})", "window"},
      {R"({"cmn": 2})", "cmn"},
      {R"({"low_hz": null})", "low_hz"},
      {R"({"low_hz": 1e999})", ""},
      {R"({"transform": [1, "x"]})", "transform"},
      {R"({"n_mels": 40})", "n_mels"},
      {R"({"fft_samples": 500})", "fft_samples"},
      {R"({"fft_samples": 16384})", "fft_samples"},
      {R"({"window_samples": 513})", "window_samples"},
      {R"({"shift_samples": 0})", "shift_samples"},
      {R"({"high_hz": 8001})", "high_hz"},
      {R"({"low_hz": 8000})", "low_hz"},
      {R"({"n_ceps": 41})", "n_ceps"},
      {R"({"n_ceps": 0})", "n_ceps"},
      {R"({"log_floor": 0})", "log_floor"},
      {R"({"cmn_prior": [1, 2]})", "cmn_prior"},
      {R"({"cmn": "live", "cmn_variance": true})", "cmn_variance"},
      {R"({"cmn_lookahead_frames": 1001})", "cmn_lookahead_frames"},
      {R"({"cmn_window_frames": 10})", "cmn_window_frames"},
      {R"({"dynamic": "1s_c_d_dd", "c0_last": true})", "c0_last"},
      {R"({"drop_absolute_energy": true})", "drop_absolute_energy"},
      {R"({"transform": [1, 2], "transform_rows": 1, "transform_cols": 2})", "transform_cols"},
      {R"({"transform_rows": 3})", "transform"},
      {R"({"splice_left": 65})", "splice_left"},
      {R"({"splice_right": 65})", "splice_right"},
      {R"({"delta_order": 5})", "delta_order"},
      {R"({"delta_window": 17})", "delta_window"},
      {R"({"sample_rate_hz": 999})", "sample_rate_hz"},
      {R"({"sample_rate_hz": 768001})", "sample_rate_hz"},
      {R"({"noise_removal": true, "use_energy": true})", "noise_removal"},
  };
  for (const auto &[json, field] : wrong) {
    const std::string text = message(json);
    EXPECT_EQ(text.rfind("senone.json: ", 0), 0u) << json;
    EXPECT_NE(text.find(field), std::string::npos) << json << " -> " << text;
  }
}

// Tables of thousands of bands would take seconds and gigabytes.
TEST(FrontEnd, TablesHaveLimits) {
  FrontEnd f = kaldi_front_end();
  f.fft_samples = f.window_samples = 8192;
  f.n_mel = f.n_ceps = kMaxMel;
  f.cmn_prior.clear();
  EXPECT_NO_THROW(f.validate("x"));
  f.n_mel = kMaxMel + 1;
  EXPECT_NE(message_of([&] { f.validate("x"); }).find("front_end.n_mel is 513"), std::string::npos);
  f.n_mel = kMaxMel;
  f.dynamic = DynamicKind::kSplice;
  f.splice_left = f.splice_right = 8;
  EXPECT_NE(message_of([&] { f.validate("x"); }).find("length of a feature row is 8704"), std::string::npos);
  f.transform.assign(size_t{2} * f.n_dims(), 0);
  f.transform_rows = 2, f.transform_cols = 17 * kMaxMel;
  EXPECT_NE(message_of([&] { f.validate("x"); }).find("inputs of the transform is 8704"), std::string::npos);
}

TEST(FrontEnd, DeepJsonIsRefused) {
  const std::string json = "{\"n_mel\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_NE(message_of([&] { front_end_from_json(json, "x"); }).find("nested more than 32 deep"), std::string::npos);
}

// The first bin of a band does not depend on the range of the search for it.
TEST(Mel, TrianglesAreThoseOfAllBins) {
  for (FrontEnd f : {sphinx_front_end(), kaldi_front_end(), htk_front_end()}) {
    for (const double warp : {0.8, 1.0, 1.25}) {
      for (uint32_t band = 0; band < f.n_mel; ++band) {
        if (warp != 1 && !warp_bends_fit(f, warp)) continue;
        const MelTriangle triangle = mel_triangle(f, band, warp);
        const double low = hz_to_mel(f.low_hz), step = (hz_to_mel(f.high_hz) - low) / (f.n_mel + 1);
        const double bin_hz = f.sample_rate_hz / f.fft_samples;
        const auto edge_hz = [&](uint32_t i) {
          const double hz = warp_hz(f, mel_to_hz(low + step * i), warp);
          return f.round_edges_to_bins ? std::floor(hz / bin_hz + 0.5) * bin_hz : hz;
        };
        uint32_t first = 0, n = 0;
        for (uint32_t bin = 0; bin < f.fft_samples / 2; ++bin) {
          const double margin = 1e-9;
          if (bin * bin_hz <= edge_hz(band) + margin || bin * bin_hz >= edge_hz(band + 2) - margin) continue;
          if (n++ == 0) first = bin;
        }
        EXPECT_EQ(triangle.weights.size(), n) << band;
        if (n == 0) continue;
        EXPECT_EQ(triangle.first_bin, first) << band;
      }
    }
  }
}

}  // namespace
}  // namespace asr
