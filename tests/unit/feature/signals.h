// SPDX-License-Identifier: Apache-2.0
// Common code of the front end's tests: signals, front ends of every kind, comparison of rows.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/feature/front_end.h"
#include "reference/mfcc.h"

namespace asr::test {

// Makes noise of varying level, with an offset; samples are whole numbers, so float and double agree.
inline std::vector<float> random_signal(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 1);
  std::vector<float> signal;
  for (size_t i = 0; i < n; ++i) {
    const float level = 2000 * (1.2f + std::sin(static_cast<float>(i) / 900));
    signal.push_back(std::round(100 + level * noise(random)));
  }
  return signal;
}

inline std::vector<double> to_double(const std::vector<float> &values) { return {values.begin(), values.end()}; }

inline reference::Rows random_rows(size_t n, uint32_t n_columns, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> value(-64, 64);
  reference::Rows rows(n, reference::Row(n_columns));
  for (auto &row : rows) {
    for (double &x : row) x = value(random) / 8.0;
  }
  return rows;
}

inline std::vector<float> flat(const reference::Rows &rows) {
  std::vector<float> out;
  for (const auto &row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

inline void expect_rows_near(const float *got, size_t n_got, const reference::Rows &want, double tolerance) {
  ASSERT_EQ(n_got, want.size());
  for (size_t t = 0; t < want.size(); ++t) {
    for (size_t i = 0; i < want[t].size(); ++i) {
      ASSERT_NEAR(got[t * want[t].size() + i], want[t][i], tolerance) << "row " << t << ", dimension " << i;
    }
  }
}

// Cuts n into random pieces, some of them empty.
inline std::vector<size_t> random_pieces(size_t n, size_t largest, std::mt19937 &random) {
  std::uniform_int_distribution<size_t> size(0, largest);
  std::vector<size_t> pieces;
  for (size_t left = n; left > 0; left -= pieces.back()) pieces.push_back(std::min(left, size(random)));
  return pieces;
}

// Returns the front end of PocketSphinx's en-us model.
inline FrontEnd en_us_front_end() {
  FrontEnd f = sphinx_front_end();
  f.low_hz = 130;
  f.high_hz = 6800;
  f.n_mel = 25;
  f.dct = DctKind::kOrthonormal;
  f.lifter = 22;
  return f;
}

}  // namespace asr::test
