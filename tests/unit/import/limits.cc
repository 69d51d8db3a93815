// SPDX-License-Identifier: Apache-2.0
// Tests that small models of other systems that would need seconds or gigabytes are refused early.
#include "core/base/limits.h"

#include <ctime>

#include "builder/import/htk_model.h"
#include "builder/import/kaldi_model.h"
#include "builder/import/kaldi_tree.h"
#include "builder/import/sphinx_dictionary.h"
#include "builder/import/sphinx_feat_params.h"
#include "builder/import/sphinx_mdef.h"
#include "tests/unit/import/kaldi_writer.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::expect_error;
using test::KaldiWriter;
using test::Scratch;

// Transition-ids are transition-states times arcs: a probability for each must be in the file before they are made.
TEST(ImportLimits, KaldiTransitionIdsAreInTheFile) {
  constexpr int32_t kArcs = 20000, kStates = 20000;
  KaldiWriter w(true);
  w.token("<TransitionModel>")
      .token("<Topology>")
      .integers({1})
      .integers({-1, 0})
      .integer(1)
      .integer(2)
      .integer(0)
      .integer(kArcs);
  for (int32_t i = 0; i < kArcs; ++i) w.integer(1).real(0.5f);
  w.integer(-1).integer(0).token("</Topology>").token("<Triples>").integer(kStates);
  for (int32_t i = 0; i < kStates; ++i) w.integer(1).integer(0).integer(0);
  w.token("</Triples>").token("<LogProbs>").vector({0, 0, 0});
  const std::string bytes = w.bytes();
  kaldi::ObjectReader reader(bytes, "x.mdl");
  reader.begin_object();
  expect_error([&] { kaldi::read_transition_model(reader); }, ASR_BAD_FILE, "3 transition probabilities, but 400000000");
}

TEST(ImportLimits, KaldiTopologiesAreShort) {
  KaldiWriter w(true);
  w.token("<TransitionModel>").token("<Topology>").integers({1}).integers({-1, 0}).integer(1).integer(kMaxHmmStates + 2);
  const std::string bytes = w.bytes();
  kaldi::ObjectReader reader(bytes, "x.mdl");
  reader.begin_object();
  expect_error([&] { kaldi::read_transition_model(reader); }, ASR_BAD_FILE, "a topology has 130 states");
}

TEST(ImportLimits, KaldiFullCovariancesAreSmall) {
  KaldiWriter w(true);
  w.token("<DIMENSION>").integer(kMaxFullDims + 1).token("<NUMPDFS>").integer(1).token("<FullGMM>");
  const std::string bytes = w.bytes();
  kaldi::ObjectReader reader(bytes, "x.mdl");
  reader.begin_object();
  expect_error([&] { kaldi::read_gmms(reader, "x.mdl"); }, ASR_BAD_FILE, "has 513 dimensions");
}

kaldi::TransitionModel phones_of_one_state(uint32_t n_phones) {
  kaldi::TransitionModel model;
  model.entries = {{{0, 0, {{0, 0.5f}, {1, 0.5f}}}, {}}};
  model.entry_of.assign(n_phones + 1, 0);
  model.entry_of[0] = -1;
  model.ids.push_back({0, 0});
  model.log_probs.push_back(0);
  for (uint32_t phone = 1; phone <= n_phones; ++phone) {
    model.states.push_back({phone, 0, 0, 0});
    for (uint32_t arc = 0; arc < 2; ++arc) {
      model.ids.push_back({phone - 1, arc});
      model.log_probs.push_back(-0.7f);
    }
  }
  model.n_pdfs = 1;
  return model;
}

TEST(ImportLimits, KaldiContextsAreBounded) {
  const Scratch scratch;
  test::spill(scratch / "tree", "ContextDependency 3 1 ToPdf CE 0 EndContextDependency ");
  const kaldi::Tree tree(scratch / "tree");
  EXPECT_EQ(kaldi::make_hmm_set(phones_of_one_state(3), {}, "x.mdl", &tree).contexts.size(), 48u);
  expect_error([&] { kaldi::make_hmm_set(phones_of_one_state(300), {}, "x.mdl", &tree); }, ASR_UNSUPPORTED,
               "300 phones have 27180300 contexts");
}

// Each phone is looked up among the others: a look-up must not take linear time.
TEST(ImportLimits, ManyKaldiPhones) {
  const std::clock_t begin = std::clock();
  EXPECT_EQ(kaldi::make_hmm_set(phones_of_one_state(kMaxPhones), {}, "x.mdl").phones.size(), kMaxPhones);
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 5);
}

// A density of many dimensions occurs many times in a mixture: the model would have a copy for each.
TEST(ImportLimits, SharedHtkDensitiesAreBounded) {
  htk::ModelSet set;
  set.stream_dims = {kMaxDims};
  set.covariances.assign(1, std::vector<float>(kMaxDims, 1.0f));
  set.densities.push_back({std::vector<float>(kMaxDims), 0});
  const auto n = static_cast<uint32_t>(kMaxSharedFloats / kMaxDims + 1);
  set.states.push_back({{{std::vector<uint32_t>(n, 0), htk::kNone, std::vector<float>(n, -1)}}});
  expect_error([&] { htk::make_acoustic_model(set, "hmmdefs"); }, ASR_UNSUPPORTED, "hmmdefs: its mixtures share densities");
}

TEST(ImportLimits, HtkMatricesAreSmall) {
  const Scratch scratch;
  test::spill(scratch / "hmmdefs", "~t \"x\" <TRANSP> 131\n");
  expect_error([&] { htk::read_hmmdefs({scratch / "hmmdefs"}); }, ASR_BAD_FILE, "from 1 to 130");
}

TEST(ImportLimits, SphinxPhonesAreShort) {
  const Scratch scratch;
  std::string text =
      "0.3\n1 n_base\n0 n_tri\n130 n_state_map\n129 n_tied_state\n129 n_tied_ci_state\n1 n_tied_tmat\nA - - - n/a 0";
  for (int i = 0; i < 129; ++i) text += " " + std::to_string(i);
  test::spill(scratch / "mdef", text + " N\n");
  expect_error([&] { sphinx::read_mdef(scratch / "mdef"); }, ASR_BAD_FILE, "129 emitting states; up to 128");
}

TEST(ImportLimits, SphinxStreamsListEachDimensionOnce) {
  std::string text = "-feat 1s_c_d_ld_dd\n-ncep 512\n-nfilt 512\n-nfft 2048\n-svspec 0-2047";
  for (int i = 0; i < 20000; ++i) text += ",0-2047";
  expect_error([&] { sphinx::parse_feat_params(text, "feat.params", 0); }, ASR_BAD_FILE, "-svspec lists more than 4096");
}

TEST(ImportLimits, FillersOfManyPhones) {
  HmmSet set;
  std::string text;
  for (int i = 0; i < 60000; ++i) {
    const std::string name = "p" + std::to_string(i);
    set.phones.push_back({name, true, 0});
    text += "w" + std::to_string(i) + " " + name + "\n";
  }
  std::vector<std::string> notes;
  const std::clock_t begin = std::clock();
  EXPECT_EQ(sphinx::parse_noisedict(text, "noisedict", set, notes).size(), 60000u);
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 2);
}

}  // namespace
}  // namespace asr
