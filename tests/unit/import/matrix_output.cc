// SPDX-License-Identifier: Apache-2.0
// Tests that archives of `senone features` and `senone score` come back as they were through the reader of Kaldi's archives.
#include "tools/matrix_output.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "builder/import/kaldi_archive.h"
#include "tests/unit/scratch.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

using test::Scratch;

struct Entry {
  std::string key;
  uint32_t n_rows, n_cols;
  std::vector<float> values;
};

// Matrices of all kinds of shapes and values: few and many rows, equal values, steps and wide ranges.
std::vector<Entry> entries() {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<Entry> all;
  for (const uint32_t n_rows : {1u, 2u, 8u, 9u, 10u, 257u}) {
    for (const uint32_t n_cols : {1u, 39u}) {
      for (const float scale : {0.0f, 1e-6f, 1.0f, 1e6f}) {
        Entry entry{"u" + std::to_string(all.size()), n_rows, n_cols, {}};
        for (uint32_t i = 0; i < n_rows * n_cols; ++i) entry.values.push_back(-3 + scale * normal(random));
        all.push_back(std::move(entry));
      }
    }
  }
  all.push_back({"steps", 40, 1, std::vector<float>(40, 0)});
  all.back().values[39] = 1;
  return all;
}

void write(const std::string &specifier, bool compressed) {
  MatrixOutput output("features", specifier, compressed);
  for (const Entry &e : entries()) output.write(e.key, e.values.data(), e.n_rows, e.n_cols);
  output.commit();
}

// tolerance: the greatest error, as a share of the range of a matrix.
void expect_read(const std::string &specifier, float tolerance) {
  const auto found = kaldi::read_archive<float>(specifier);
  const std::vector<Entry> wanted = entries();
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto &[key, matrix] = found[i];
    EXPECT_EQ(key, wanted[i].key);
    ASSERT_EQ(matrix.n_rows, wanted[i].n_rows);
    ASSERT_EQ(matrix.n_cols, wanted[i].n_cols);
    const auto [lowest, highest] = std::minmax_element(wanted[i].values.begin(), wanted[i].values.end());
    const float allowed = tolerance * (*highest - *lowest) + (tolerance > 0 ? 1e-6f * std::abs(*lowest) : 0);
    for (size_t j = 0; j < matrix.values.size(); ++j) {
      ASSERT_LE(std::abs(matrix.values[j] - wanted[i].values[j]), allowed) << key << " " << j;
    }
  }
}

TEST(MatrixOutput, BinaryTextAndListAreExact) {
  const Scratch scratch;
  write("ark:" + (scratch / "b.ark"), false);
  expect_read("ark:" + (scratch / "b.ark"), 0);
  write("ark,t:" + (scratch / "t.ark"), false);
  expect_read("ark:" + (scratch / "t.ark"), 0);
  write("ark,scp:" + (scratch / "l.ark") + "," + (scratch / "l.scp"), false);
  expect_read("scp:" + (scratch / "l.scp"), 0);
}

// Two bytes err by half a step of 1/65535 of the range. One byte errs by half of the largest step, 1/126 of the distance
// between a quartile and the end, and by what the percentiles themselves are rounded to.
TEST(MatrixOutput, CompressedIsNear) {
  const Scratch scratch;
  write("ark,scp:" + (scratch / "c.ark") + "," + (scratch / "c.scp"), true);
  expect_read("scp:" + (scratch / "c.scp"), 1 / 126.0f + 1 / 65535.0f);
}

TEST(MatrixOutput, OtherSpecifiersAreRefused) {
  for (const char *specifier :
       {"", "x.ark", "ark:", "scp:x", "ark,scp:x", "ark,scp:x,", "ark,scp:-,x", "ark,scp:x,x", "ark,q:x"}) {
    EXPECT_THROW(MatrixOutput("features", specifier, false), UsageError) << specifier;
  }
  EXPECT_THROW(MatrixOutput("features", "ark,t:x", true), UsageError);
}

}  // namespace
}  // namespace asr::tool
