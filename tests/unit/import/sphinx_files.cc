// SPDX-License-Identifier: Apache-2.0
// Tests the readers of single CMU Sphinx files, on files made here.
#include <gtest/gtest.h>

#include <cmath>

#include "builder/import/sphinx_mdef.h"
#include "builder/import/sphinx_s3.h"
#include "builder/import/sphinx_sendump.h"
#include "tests/unit/import/sphinx_writer.h"
#include "tests/unit/scratch.h"

namespace asr::sphinx {
namespace {

using namespace test;

// ---- the s3 container

TEST(S3, ReadsBothByteOrdersWithAndWithoutChecksum) {
  const Scratch scratch;
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  for (const bool big_endian : {false, true}) {
    for (const bool with_checksum : {false, true}) {
      spill(scratch / "means", s3_file({2, 2, 2, 1, 2}, values, big_endian, with_checksum));
      const Gaussians means = read_gaussians(scratch / "means");
      EXPECT_EQ(means.n_codebooks, 2u);
      EXPECT_EQ(means.n_densities, 2u);
      EXPECT_EQ(means.stream_dims, (std::vector<uint32_t>{1, 2}));
      EXPECT_EQ(means.values, values);
    }
  }
}

TEST(S3, ReadsTheHeaderOfBeforeS3) {
  const Scratch scratch;
  std::string file = s3_file({1, 1, 1, 2}, {1, 2}, false, false);
  file = "0.1\nan old file\n*end_comment*\n" + file.substr(file.find("endhdr\n") + 7);
  spill(scratch / "means", file);
  EXPECT_EQ(read_gaussians(scratch / "means").values, (std::vector<float>{1, 2}));
}

TEST(S3, RefusesWhatDoesNotAddUp) {
  const Scratch scratch;
  const auto expect_refused = [&](const std::string &bytes, const char *part) {
    spill(scratch / "means", bytes);
    expect_error([&] { read_gaussians(scratch / "means"); }, ASR_BAD_FILE, part);
  };
  std::string good = s3_file({1, 1, 1, 2}, {1, 2});
  expect_refused("text", "is text, not a parameter file of Sphinx");
  expect_refused("s3\nversion 1.0\n", "header");
  expect_refused(good + "1234", "checksum");
  expect_refused(good + "1", "32-bit words");
  expect_refused(s3_file({1, 1, 1, 3}, {1, 2}), "holds 2 values");
  expect_refused(s3_file({0, 1, 1, 2}, {}), "number of codebooks");
  expect_refused(s3_file({0x7fffffff, 1, 0x7fffffff, 0x7fffffff}, {1}), "sizes ask for");
  expect_refused(s3_file({1, 1, 1, 2}, {1, NAN}), "finite");
  // Whole files of other parameters are not damaged.
  expect_refused(s3_file({2, 1, 4}, {30, 10, 0, 0, 0, 0, 0, 0}), "so it has other parameters than the means or variances");
  expect_refused(s3_file({2, 1, 4}, {30, 10, 0, 0, 0, 0, 0, 0}, false, false), "is damaged, or has other parameters than");
  good[good.size() - 5] = static_cast<char>(good[good.size() - 5] ^ 1);
  expect_refused(good, "checksum");
}

TEST(S3, MixtureWeightsAreNormalisedFlooredAndNormalisedAgain) {
  const Scratch scratch;
  spill(scratch / "mixture_weights", s3_file({2, 1, 4}, {30, 10, 0, 0, 0, 0, 0, 0}));
  const MixtureWeights weights = read_mixture_weights(scratch / "mixture_weights", 0.01);
  const double sum = 0.75 + 0.25 + 2 * 0.01;
  EXPECT_FLOAT_EQ(weights.values[0], static_cast<float>(0.75 / sum));
  EXPECT_FLOAT_EQ(weights.values[1], static_cast<float>(0.25 / sum));
  EXPECT_FLOAT_EQ(weights.values[2], static_cast<float>(0.01 / sum));
  EXPECT_FLOAT_EQ(weights.values[7], 0.25f);  // a senone without counts
  spill(scratch / "mixture_weights", s3_file({1, 1, 2}, {1, -1}));
  expect_error([&] { read_mixture_weights(scratch / "mixture_weights", 0.01); }, ASR_BAD_FILE, "negative");
}

TEST(S3, TransitionsAreNormalisedAndFlooredWhereAllowed) {
  const Scratch scratch;
  spill(scratch / "tmat", s3_file({1, 2, 3}, {6, 2, 0, 0, 1, 9999999}));
  const TransitionMatrices matrices = read_transition_matrices(scratch / "tmat", 1e-4);
  EXPECT_EQ(matrices.n_states, 2u);
  EXPECT_DOUBLE_EQ(matrices.values[0], 0.75);
  EXPECT_DOUBLE_EQ(matrices.values[1], 0.25);
  EXPECT_EQ(matrices.values[2], 0);
  EXPECT_EQ(matrices.values[3], 0);
  EXPECT_NEAR(matrices.values[4], 1e-4, 1e-7);
  EXPECT_NEAR(matrices.values[4] + matrices.values[5], 1, 1e-12);
  spill(scratch / "tmat", s3_file({1, 1, 2}, {0, 0}));
  expect_error([&] { read_transition_matrices(scratch / "tmat", 1e-4); }, ASR_BAD_FILE, "cannot be left");
  spill(scratch / "tmat", s3_file({1, 2, 2}, {1, 1, 1, 1}));
  expect_error([&] { read_transition_matrices(scratch / "tmat", 1e-4); }, ASR_BAD_FILE, "destinations");
}

TEST(S3, SurvivesDamage) {
  const Scratch scratch;
  const std::string path = scratch / "f";
  spill(path, s3_file({2, 1, 2, 1}, {1, 2, 3, 4}, false, false));
  EXPECT_GT(count_refused_damages(path, [&] { read_gaussians(path); }), 0u);
  spill(path, s3_file({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1}));
  EXPECT_GT(count_refused_damages(path, [&] { read_mixture_weights(path, 1e-7); }), 0u);
  EXPECT_GT(count_refused_damages(path, [&] { read_transition_matrices(path, 1e-7); }), 0u);
  spill(path, s3_file({1, 2, 2}, {1, 2, 3, 4}));
  EXPECT_GT(count_refused_damages(path, [&] { read_feature_transform(path); }), 0u);
}

// ---- mdef

MdefSource small_mdef() {
  return {8,
          6,
          2,
          {{"AA", "-", "-", '-', false, 0, {0, 1}},
           {"B", "-", "-", '-', false, 1, {2, 3}},
           {"SIL", "-", "-", '-', true, 0, {4, 5}},
           {"AA", "B", "SIL", 'e', false, 0, {6, 1}},
           {"B", "SIL", "AA", 'b', false, 1, {2, 7}},
           {"B", "AA", "AA", 's', false, 1, {2, 7}},
           {"B", "AA", "AA", 'i', false, 1, {2, 3}}}};
}

void expect_small_mdef(const Mdef &mdef) {
  EXPECT_EQ(mdef.n_emitting, 2u);
  EXPECT_EQ(mdef.n_senones, 8u);
  EXPECT_EQ(mdef.n_transition_matrices, 2u);
  EXPECT_EQ(mdef.base_names, (std::vector<std::string>{"AA", "B", "SIL"}));
  EXPECT_EQ(mdef.fillers, (std::vector<bool>{false, false, true}));
  const MdefSource source = small_mdef();
  ASSERT_EQ(mdef.phones.size(), source.phones.size());
  for (size_t i = 0; i < mdef.phones.size(); ++i) {
    const MdefPhone &phone = mdef.phones[i];
    const PhoneLine &line = source.phones[i];
    EXPECT_EQ(phone.base, source.number(line.base));
    EXPECT_EQ(phone.transition_matrix, line.matrix);
    for (uint32_t k = 0; k < 2; ++k) EXPECT_EQ(mdef.senones[phone.sequence * 2 + k], line.senones[k]);
    if (line.left == "-") continue;
    EXPECT_EQ(phone.left, source.number(line.left));
    EXPECT_EQ(phone.right, source.number(line.right));
    EXPECT_EQ(phone.position, std::string("ibes").find(line.position));
  }
}

TEST(Mdef, ReadsTextAndBothBinaryOrders) {
  const Scratch scratch;
  for (const std::string &bytes :
       {text_mdef(small_mdef()), binary_mdef(small_mdef(), false), binary_mdef(small_mdef(), true)}) {
    spill(scratch / "mdef", bytes);
    expect_small_mdef(read_mdef(scratch / "mdef"));
  }
}

TEST(Mdef, RefusesWhatIsOutOfRange) {
  const Scratch scratch;
  struct Case {
    const char *part;
    void (*damage)(MdefSource &);
  };
  const Case cases[] = {{"senone 8 of 8", [](MdefSource &m) { m.phones[3].senones[0] = 8; }},
                        {"transition matrix 2 of 2", [](MdefSource &m) { m.phones[0].matrix = 2; }}};
  for (const Case &c : cases) {
    MdefSource source = small_mdef();
    c.damage(source);
    for (const std::string &bytes : {text_mdef(source), binary_mdef(source)}) {
      spill(scratch / "mdef", bytes);
      expect_error([&] { read_mdef(scratch / "mdef"); }, ASR_BAD_FILE, c.part);
    }
  }
}

TEST(Mdef, NamesTheLineOfAnError) {
  const std::pair<const char *, const char *> changes[] = {
      {"0.3", "0.4"},   {"n_tri", "n_try"},  {"3 n_base", "x n_base"}, {"3 n_base", "4 n_base"}, {"AA B SIL e", "AA B SIL x"},
      {"AA B", "AA C"}, {"AA - -", "B - -"}, {"7 N\n", "7\n"},         {" 2 7 N", " 2 -7 N"},    {"4 n_tri", "3 n_tri"}};
  for (const auto &[from, to] : changes) {
    std::string text = text_mdef(small_mdef());
    text.replace(text.find(from), strlen(from), to);
    expect_error([&] { parse_text_mdef(text, "mdef"); }, ASR_BAD_FILE, "mdef:");
  }
}

TEST(Mdef, SurvivesDamage) {
  const Scratch scratch;
  const std::string path = scratch / "mdef";
  spill(path, text_mdef(small_mdef()));
  EXPECT_GT(count_refused_damages(path, [&] { read_mdef(path); }), 0u);
  spill(path, binary_mdef(small_mdef()));
  EXPECT_GT(count_refused_damages(path, [&] { read_mdef(path); }), std::filesystem::file_size(path));
}

// ---- sendump

uint8_t some_weight(uint32_t stream, uint32_t density, uint32_t senone) {
  return static_cast<uint8_t>((stream * 7 + density * 3 + senone) % 16);
}

void expect_weights(const std::string &path, const SendumpSource &source, double (*value)(uint8_t)) {
  const auto weights = read_sendump(path, source.n_senones, source.n_streams, source.n_densities);
  ASSERT_EQ(weights.size(), size_t{source.n_senones} * source.n_streams * source.n_densities);
  size_t at = 0;
  for (uint32_t s = 0; s < source.n_senones; ++s) {
    for (uint32_t j = 0; j < source.n_streams; ++j) {
      for (uint32_t k = 0; k < source.n_densities; ++k, ++at) {
        const double expected = -value(source.weight(j, k, s)) * 1024 * std::log(1.0001);
        EXPECT_NEAR(weights[at], expected, 1e-6) << s << " " << j << " " << k;
      }
    }
  }
}

TEST(Sendump, ReadsEightBits) {
  const Scratch scratch;
  for (const bool big_endian : {false, true}) {
    for (const uint32_t padding : {0u, 3u}) {
      const SendumpSource source = {2, 3, 5, some_weight, padding, big_endian};
      spill(scratch / "sendump", sendump_8_bit(source));
      expect_weights(scratch / "sendump", source, [](uint8_t v) { return double(v); });
    }
  }
}

TEST(Sendump, ReadsFourBits) {
  const Scratch scratch;
  for (const bool big_endian : {false, true}) {
    for (const uint32_t n_senones : {4u, 5u}) {
      const SendumpSource source = {2, 3, n_senones, some_weight, 0, big_endian};
      spill(scratch / "sendump", sendump_4_bit(source));
      expect_weights(scratch / "sendump", source, [](uint8_t code) { return 10.0 * code + 3; });
    }
  }
}

TEST(Sendump, RefusesOtherSizesAndDamage) {
  const Scratch scratch;
  const std::string path = scratch / "sendump";
  spill(path, sendump_8_bit({2, 3, 5, some_weight}));
  expect_error([&] { read_sendump(path, 6, 2, 3); }, ASR_BAD_FILE, "mdef 6");
  expect_error([&] { read_sendump(path, 5, 2, 4); }, ASR_BAD_FILE, "means has 4");
  expect_error([&] { read_sendump(path, 5, 3, 3); }, ASR_BAD_FILE, "streams");
  EXPECT_GT(count_refused_damages(path, [&] { read_sendump(path, 5, 2, 3); }), std::filesystem::file_size(path));
  spill(path, sendump_4_bit({2, 3, 5, some_weight}));
  EXPECT_GT(count_refused_damages(path, [&] { read_sendump(path, 5, 2, 3); }), std::filesystem::file_size(path));
}

}  // namespace
}  // namespace asr::sphinx
