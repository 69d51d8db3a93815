// SPDX-License-Identifier: Apache-2.0
// Tests import_sphinx on complete models made here, with every kind of tying, both weights and both byte orders. Some
// models have parts that are missing or do not fit together.
#include "builder/import/sphinx.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "reference/gmm.h"
#include "tests/unit/import/sphinx_writer.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

namespace fs = std::filesystem;
using namespace test;

constexpr uint32_t kDims = 39, kDensities = 4, kSenones = 8, kStreams = 3, kBase = 3;

// Three phones of two states, and triphones; the last two triphones share their senones.
MdefSource mdef_source() {
  return {kSenones,
          6,
          kBase,
          {{"AA", "-", "-", '-', false, 0, {0, 1}},
           {"B", "-", "-", '-', false, 1, {2, 3}},
           {"SIL", "-", "-", '-', true, 2, {4, 5}},
           {"AA", "B", "SIL", 'e', false, 0, {6, 1}},
           {"B", "SIL", "AA", 'b', false, 1, {2, 7}},
           {"B", "AA", "AA", 's', false, 1, {2, 7}}}};
}

uint8_t quantised_weight(uint32_t stream, uint32_t density, uint32_t senone) {
  return static_cast<uint8_t>((stream * 5 + density * 3 + senone) % 16);
}

// The complete content of a generated model, before it is written.
struct Model {
  uint32_t n_codebooks;
  std::vector<uint32_t> codebook_of;  // [senone]
  std::vector<float> means, variances, weights, transitions;
};

Model make_model(uint32_t n_codebooks, const std::vector<uint32_t> &codebook_of) {
  Model model{n_codebooks, codebook_of, {}, {}, {}, {}};
  std::mt19937 random(n_codebooks);
  std::uniform_real_distribution<float> uniform(0.1f, 2);
  for (uint32_t i = 0; i < n_codebooks * kDensities * kDims; ++i) {
    model.means.push_back(uniform(random) - 1);
    model.variances.push_back(uniform(random));
  }
  model.variances[5] = 0;  // real models have some: they are floored
  for (uint32_t i = 0; i < kSenones * kStreams * kDensities; ++i) model.weights.push_back(100 * uniform(random));
  for (uint32_t i = 0; i < kBase; ++i) {
    for (const float count : {6.f, 2.f, 0.f, 0.f, 3.f, 1.f}) model.transitions.push_back(count);
  }
  return model;
}

Model continuous() { return make_model(kSenones, {0, 1, 2, 3, 4, 5, 6, 7}); }
Model semi_continuous() { return make_model(1, std::vector<uint32_t>(kSenones, 0)); }
Model phonetically_tied() { return make_model(kBase, {0, 0, 1, 1, 2, 2, 0, 1}); }

struct Form {
  bool big_endian = false, binary_mdef = false, quantised = false;
};

void write_model(const Model &model, const Form &form, const std::string &dir) {
  fs::create_directories(dir);
  const bool big = form.big_endian;
  spill(dir + "/means", s3_file({model.n_codebooks, kStreams, kDensities, 13, 13, 13}, model.means, big));
  spill(dir + "/variances", s3_file({model.n_codebooks, kStreams, kDensities, 13, 13, 13}, model.variances, big));
  spill(dir + "/transition_matrices", s3_file({kBase, 2, 3}, model.transitions, big));
  spill(dir + "/mdef", form.binary_mdef ? binary_mdef(mdef_source(), big) : text_mdef(mdef_source()));
  spill(dir + "/feat.params", "-feat 1s_c_d_dd -svspec 0-12/13-25/26-38 -cmn batch\n");
  spill(dir + "/noisedict", "<sil> SIL\n");
  if (form.quantised) {
    spill(dir + "/sendump", sendump_4_bit({kStreams, kDensities, kSenones, quantised_weight, 0, big}));
  } else {
    spill(dir + "/mixture_weights", s3_file({kSenones, kStreams, kDensities}, model.weights, big));
  }
}

double weight_of(const Model &model, const Form &form, uint32_t s, uint32_t j, uint32_t k) {
  if (form.quantised) return std::pow(1.0001, -1024.0 * (10 * quantised_weight(j, k, s) + 3));
  double sum = 0;
  for (uint32_t i = 0; i < kDensities; ++i) sum += double(model.weights[(s * kStreams + j) * kDensities + i]);
  return model.weights[(s * kStreams + j) * kDensities + k] / sum;
}

// Computes the score of a senone by the definition of the format, from the written numbers.
double score_by_definition(const Model &model, const Form &form, uint32_t s, const float *x) {
  double total = 0;
  for (uint32_t j = 0; j < kStreams; ++j) {
    double sum = 0;
    for (uint32_t k = 0; k < kDensities; ++k) {
      double log_density = 0;
      for (uint32_t d = 0; d < 13; ++d) {
        const size_t at = ((model.codebook_of[s] * kStreams + j) * kDensities + k) * 13 + d;
        const double variance = std::max(double(model.variances[at]), 1e-4), diff = x[13 * j + d] - double(model.means[at]);
        log_density -= 0.5 * (std::log(2 * M_PI * variance) + diff * diff / variance);
      }
      sum += weight_of(model, form, s, j, k) * std::exp(log_density);
    }
    total += std::log(sum);
  }
  return total;
}

void expect_scores(const Model &model, const Form &form, const AcousticModel &acoustic) {
  const AcousticView view(acoustic);
  float x[kDims];
  for (uint32_t d = 0; d < kDims; ++d) x[d] = 0.1f * static_cast<float>(d % 7) - 0.3f;
  for (uint32_t s = 0; s < kSenones; ++s) {
    const double expected = score_by_definition(model, form, s, x);
    EXPECT_NEAR(reference::log_likelihood(*view.get(), s, x), expected, 1e-5 * std::abs(expected)) << s;
  }
}

void expect_hmms(const HmmSet &set) {
  ASSERT_EQ(set.phones.size(), 3u);
  EXPECT_EQ(set.phones[set.silence].name, "SIL");
  EXPECT_TRUE(set.phones[2].filler);
  EXPECT_EQ(set.hmms.size(), 5u);  // the last two triphones share one
  ASSERT_EQ(set.contexts.size(), 3u);
  EXPECT_EQ(set.contexts[1].hmm, set.contexts[2].hmm);
  EXPECT_EQ(set.hmms[set.contexts[0].hmm].pdfs, (std::vector<uint32_t>{6, 1}));
  EXPECT_EQ(ContextTable(set).find(0, 1, 2, WordPosition::kEnd), set.contexts[0].hmm);
  const std::vector<TopologyArc> &arcs = set.topologies[1].arcs;
  ASSERT_EQ(arcs.size(), 5u);
  EXPECT_EQ(arcs[1].to, 1u);
  EXPECT_FLOAT_EQ(arcs[1].cost, -std::log(0.25f));
  EXPECT_EQ(arcs[3].to, 2u);
  EXPECT_FLOAT_EQ(arcs[3].cost, -std::log(0.25f));
  EXPECT_EQ(arcs[4].from, kEntry);
}

TEST(SphinxModel, EveryKindInEveryForm) {
  const std::pair<Model, const char *> kinds[] = {
      {continuous(), "continuous"}, {semi_continuous(), "semi-continuous"}, {phonetically_tied(), "phonetically tied"}};
  for (const auto &[model, name] : kinds) {
    for (int bits = 0; bits < 8; ++bits) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(bits));
      const Form form = {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
      const Scratch scratch;
      write_model(model, form, scratch / "model");
      const ImportedModel imported = import_sphinx({scratch / "model", "", "", "", 0});
      EXPECT_EQ(imported.bundle.source, std::string("CMU Sphinx, ") + name);
      EXPECT_EQ(imported.bundle.name, "model");
      EXPECT_EQ(imported.acoustic.codebooks.size(), size_t{model.n_codebooks} * kStreams);
      EXPECT_TRUE(imported.notes.empty());
      expect_scores(model, form, imported.acoustic);
      expect_hmms(imported.hmms);
    }
  }
}

TEST(SphinxModel, MakesABundleThatReadsBack) {
  const Scratch scratch;
  write_model(phonetically_tied(), {}, scratch / "model");
  const ImportedModel imported = import_sphinx({scratch / "model", "", "", "", 0});
  write_imported_model(imported, scratch / "bundle");
  const Bundle bundle = read_bundle(scratch / "bundle");
  EXPECT_EQ(bundle.name, "model");
  EXPECT_EQ(bundle.filler_words.size(), 3u);
  expect_scores(phonetically_tied(), {}, read_acoustic_model(bundle.file("acoustic.bin")));
  expect_hmms(read_hmm_set(bundle.file("hmms.bin")));
}

TEST(SphinxModel, ExactWeightsGoBeforeQuantisedOnes) {
  const Scratch scratch;
  write_model(continuous(), {}, scratch / "model");
  write_model(continuous(), {false, false, true}, scratch / "model");
  expect_scores(continuous(), {}, import_sphinx({scratch / "model", "", "", "", 0}).acoustic);
}

TEST(SphinxModel, FilesMayLieElsewhere) {
  const Scratch scratch;
  write_model(continuous(), {}, scratch / "model");
  fs::rename(scratch / "model/mdef", scratch / "a.mdef");
  fs::rename(scratch / "model/feat.params", scratch / "a.params");
  fs::rename(scratch / "model/noisedict", scratch / "a.fillers");
  const SphinxOptions options = {scratch / "model", scratch / "a.mdef", scratch / "a.params", scratch / "a.fillers", 22050};
  EXPECT_EQ(import_sphinx(options).bundle.front_end.sample_rate_hz, 22050);
  expect_error([&] { import_sphinx({scratch / "model", "", "", "", 0}); }, ASR_NOT_FOUND, "feat.params");
  SphinxOptions wrong = options;
  wrong.noisedict = scratch / "none";
  expect_error([&] { import_sphinx(wrong); }, ASR_NOT_FOUND, "none");
}

TEST(SphinxModel, AFeatureTransformReducesTheDimensions) {
  const Scratch scratch;
  Model model = continuous();
  write_model(model, {}, scratch / "model");
  std::vector<float> transform(size_t{2} * 39, 0.0f);
  transform[3] = 1;
  transform[39 + 5] = 2;
  spill(scratch / "model/feature_transform", s3_file({1, 2, 39}, transform));
  spill(scratch / "model/feat.params", "");
  const std::vector<float> ones(size_t{kSenones} * kDensities * 2, 1.0f);
  spill(scratch / "model/means", s3_file({kSenones, 1, kDensities, 2}, ones));
  spill(scratch / "model/variances", s3_file({kSenones, 1, kDensities, 2}, ones));
  spill(scratch / "model/mixture_weights",
        s3_file({kSenones, 1, kDensities}, std::vector<float>(size_t{kSenones} * kDensities, 1)));
  const ImportedModel imported = import_sphinx({scratch / "model", "", "", "", 0});
  EXPECT_EQ(imported.bundle.front_end.n_dims(), 2u);
  EXPECT_EQ(imported.bundle.front_end.transform, transform);
  EXPECT_EQ(imported.acoustic.n_dims, 2u);
  // -ldadim takes the first rows of a longer matrix; a greater one takes all.
  std::vector<float> longer = transform;
  longer.resize(size_t{4} * 39, 0.0f);
  longer[2 * 39 + 1] = longer[3 * 39 + 2] = 1;
  spill(scratch / "model/feature_transform", s3_file({1, 4, 39}, longer));
  spill(scratch / "model/feat.params", "-lda feature_transform\n-ldadim 2\n");
  EXPECT_EQ(import_sphinx({scratch / "model", "", "", "", 0}).bundle.front_end.transform, transform);
  spill(scratch / "model/feature_transform", s3_file({1, 2, 39}, transform));
  spill(scratch / "model/feat.params", "-ldadim 29\n");
  EXPECT_EQ(import_sphinx({scratch / "model", "", "", "", 0}).bundle.front_end.transform, transform);
  transform[39 + 5] = 0;
  transform[39 + 3] = 4;
  spill(scratch / "model/feature_transform", s3_file({1, 2, 39}, transform));
  expect_error(
      [&] {
        import_sphinx({scratch / "model", "", "", "", 0});
      },
      ASR_BAD_FILE, "feature_transform: row 1 is zero, or a combination of the rows before it");
  spill(scratch / "model/feature_transform", s3_file({1, 2, 38}, std::vector<float>(size_t{2} * 38, 1)));
  expect_error([&] { import_sphinx({scratch / "model", "", "", "", 0}); }, ASR_BAD_FILE, "feature_transform: is for 38");
}

// Lacks one of its files, or has one of another model.
TEST(SphinxModel, RefusesAnIncompleteModel) {
  for (const char *name : {"means", "variances", "transition_matrices", "mdef", "feat.params", "mixture_weights"}) {
    const Scratch scratch;
    write_model(continuous(), {}, scratch / "model");
    fs::remove(scratch / "model" + "/" + name);
    expect_error([&] { import_sphinx({scratch / "model", "", "", "", 0}); }, ASR_NOT_FOUND, name);
  }
  expect_error([] { import_sphinx({"/none", "", "", "", 0}); }, ASR_NOT_FOUND, "/none");
  const Scratch scratch;
  write_model(continuous(), {}, scratch / "model");
  fs::remove(scratch / "model/noisedict");
  const ImportedModel without = import_sphinx({scratch / "model", "", "", "", 0});
  EXPECT_EQ(without.notes.size(), 1u);
  EXPECT_EQ(without.bundle.filler_words.size(), 3u);
}

TEST(SphinxModel, RefusesPartsOfDifferentModels) {
  const Model model = continuous();
  const std::vector<float> two_codebooks(size_t{2} * kDensities * kDims, 1.0f);
  const std::vector<float> one_stream(size_t{kSenones} * kDensities * kDims, 1.0f);
  struct Case {
    const char *name;
    std::string bytes;
    const char *part;
  };
  const Case cases[] = {
      {"variances", s3_file({2, kStreams, kDensities, 13, 13, 13}, two_codebooks), "means and variances"},
      {"variances", s3_file({kSenones, 1, kDensities, 39}, one_stream), "means and variances"},
      {"mixture_weights", s3_file({7, kStreams, kDensities}, std::vector<float>(size_t{7} * kStreams * kDensities, 1)),
       "7 senones"},
      {"transition_matrices", s3_file({2, 2, 3}, std::vector<float>(12, 1)), "2 of 2"},
      {"transition_matrices", s3_file({3, 3, 4}, std::vector<float>(36, 1)), "3 of 3"},
      {"feat.params", "-feat 1s_c_d_dd\n", "13/13/13 dimensions, but feat.params describes 39"},
  };
  for (const Case &c : cases) {
    const Scratch scratch;
    write_model(model, {}, scratch / "model");
    spill(scratch / "model" + "/" + c.name, c.bytes);
    expect_error([&] { import_sphinx({scratch / "model", "", "", "", 0}); }, ASR_BAD_FILE, c.part);
  }
  const Scratch scratch;
  write_model(make_model(2, std::vector<uint32_t>(kSenones, 0)), {}, scratch / "model");
  expect_error([&] { import_sphinx({scratch / "model", "", "", "", 0}); }, ASR_UNSUPPORTED, "has 2 codebooks");
}

}  // namespace
}  // namespace asr
