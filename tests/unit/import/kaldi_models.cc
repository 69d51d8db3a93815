// SPDX-License-Identifier: Apache-2.0
// Tests Kaldi models: a small one in every format, damaged ones, and the real ones of SENONE_TEST_DATA. Scores of the real ones
// are compared with sums over the file's own values and with log-likelihoods written by Kaldi.
#include <cmath>
#include <cstdlib>
#include <random>
#include <sstream>

#include "builder/import/kaldi.h"
#include "builder/import/kaldi_archive.h"
#include "builder/import/kaldi_model.h"
#include "builder/import/silence_phones.h"
#include "builder/import/sums.h"
#include "core/base/file.h"
#include "reference/gmm.h"
#include "tests/unit/import/kaldi_writer.h"
#include "tests/unit/scratch.h"

namespace asr::kaldi {
namespace {

using test::Scratch;
using test::small_kaldi_model;

struct Form {
  bool binary, extended, full;
};

class Forms : public ::testing::TestWithParam<Form> {
 protected:
  Scratch scratch_;
  std::string path_ = scratch_ / "final.mdl";
  void SetUp() override { test::spill(path_, small_kaldi_model(GetParam().binary, GetParam().extended, GetParam().full)); }
};
INSTANTIATE_TEST_SUITE_P(Kaldi, Forms,
                         ::testing::Values(Form{true, false, false}, Form{true, true, true}, Form{false, false, true},
                                           Form{false, true, false}, Form{true, true, false}));

TEST_P(Forms, TransitionIdsAreNumberedByStatesAndArcs) {
  const Model model = read_model(path_);
  const TransitionModel &t = model.transitions;
  ASSERT_EQ(t.ids.size(), 8u);
  EXPECT_EQ(t.log_probs[3], -0.69315f);
  const HmmSet set = make_hmm_set(t, {}, path_);
  ASSERT_EQ(set.transitions.size(), 8u);
  const uint32_t loop_pdf = GetParam().extended ? 2 : 0;
  const struct {
    uint32_t phone, state, self_loop, pdf;
  } expected[] = {{0, 0, 1, loop_pdf}, {0, 0, 0, 0}, {1, 0, 1, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}, {1, 1, 1, 2}, {1, 1, 0, 2}};
  for (size_t id = 1; id < 8; ++id) {
    const Transition &got = set.transitions[id];
    EXPECT_EQ(got.phone, expected[id - 1].phone) << id;
    EXPECT_EQ(got.hmm_state, expected[id - 1].state) << id;
    EXPECT_EQ(got.self_loop, expected[id - 1].self_loop == 1) << id;
    EXPECT_EQ(got.pdf, expected[id - 1].pdf) << id;
    EXPECT_EQ(got.position, kAnyPosition) << id;
  }
  const Topology &topology = set.topologies[set.hmms[set.phones[1].hmm].topology];
  ASSERT_EQ(topology.n_states, 2u);
  ASSERT_EQ(topology.arcs.size(), 6u);  // three, two and the entry
  EXPECT_EQ(topology.arcs[2].to, 2u);
  EXPECT_EQ(topology.arcs[2].cost, 1.38629f);
}

TEST_P(Forms, GaussiansHaveTheMeansOfTheFile) {
  const Model model = read_model(path_);
  const AcousticModel &a = model.acoustic;
  EXPECT_EQ(a.covariance, GetParam().full ? ASR_COVARIANCE_FULL : ASR_COVARIANCE_DIAGONAL);
  EXPECT_EQ(a.n_states, 3u);
  EXPECT_EQ(a.n_gaussians(), 4u);
  EXPECT_EQ(a.log_weights[0], static_cast<float>(std::log(0.25)));
  if (!GetParam().full) {
    EXPECT_EQ(std::vector<float>(a.means.begin(), a.means.begin() + 4), (std::vector<float>{1, 2, 2, -2}));
  } else {  // the precision [2 .5; .5 1] times the mean gives (2, 1): the mean is (6, 4) / 7
    EXPECT_NEAR(a.means[0], 6.0 / 7, 1e-6);
    EXPECT_NEAR(a.means[1], 4.0 / 7, 1e-6);
    EXPECT_EQ(std::vector<float>(a.precisions.begin(), a.precisions.begin() + 3), (std::vector<float>{2, 0.5f, 1}));
  }
}

// A neural network stands behind the transition model, where Gaussians would.
TEST_P(Forms, TransitionsOfANetwork) {
  const TransitionModel expected = read_model(path_).transitions;
  const std::string bytes = test::slurp(path_), end = "</TransitionModel> ";
  ASSERT_NE(bytes.find(end), std::string::npos);
  test::spill(path_, bytes.substr(0, bytes.find(end) + end.size()) + "<Nnet3> input-node");
  test::expect_error([&] { read_model(path_); }, ASR_BAD_FILE, "--transitions-only");
  EXPECT_EQ(read_transitions(path_).log_probs, expected.log_probs);
  KaldiOptions options;
  options.model = path_;
  options.transitions_only = true;
  options.frame_shift_ms = 30;
  const ImportedModel model = import_kaldi(options);
  ASSERT_TRUE(model.bundle.scores.has_value());
  EXPECT_EQ(model.bundle.scores->n_states, 3u);
  EXPECT_EQ(model.bundle.scores->topology, TokenTopology::kNone);
  EXPECT_NEAR(model.bundle.front_end.shift_samples / model.bundle.front_end.sample_rate_hz, 0.03, 1e-12);
  write_imported_model(model, scratch_ / "bundle");
  EXPECT_EQ(read_hmm_set(scratch_ / "bundle/hmms.bin").transitions.size(), 8u);
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "bundle/acoustic.bin"));
}

TEST_P(Forms, NoDamageCrashes) {
  const size_t refused = test::count_refused_damages(path_, [&] { make_hmm_set(read_model(path_).transitions, {}, path_); });
  EXPECT_GT(refused, test::slurp(path_).size());  // at least every truncation, except for blanks at a text's end
}

// Every number of the rows of probabilities and weights, made larger or smaller.
TEST(KaldiModel, RowsThatDoNotAddUpAreRefusedWithTheirPlace) {
  const Scratch scratch;
  const std::string path = scratch / "final.mdl", text = small_kaldi_model(false, false, false);
  const auto read = [&](const std::string &model) {
    test::spill(path, model);
    read_model(path);
  };
  read(text);
  size_t n = 0;
  for (const char *token : {"<LogProbs>", "<WEIGHTS>"}) {
    for (size_t at = text.find(token); at != std::string::npos; at = text.find(token, at + 1)) {
      const size_t open = text.find('[', at), close = text.find(']', at);
      std::istringstream numbers(text.substr(open + 1, close - open - 1));
      std::vector<std::string> words;
      for (std::string word; numbers >> word;) words.push_back(word);
      for (size_t i = std::string(token) == "<LogProbs>" ? 1 : 0; i < words.size(); ++i) {
        std::string changed = text.substr(0, open + 1) + " ";
        for (size_t k = 0; k < words.size(); ++k)
          changed += (k == i ? std::to_string(std::stod(words[k]) + 0.2) : words[k]) + " ";
        const std::string message =
            std::string(token) == "<WEIGHTS>" ? "the weights of pdf " : "the probabilities of the transitions from ";
        test::expect_error([&] { read(changed + text.substr(close)); }, ASR_BAD_FILE, message);
        ++n;
      }
    }
  }
  EXPECT_EQ(n, 7u + 4u);
}

TEST(KaldiModel, SilencePhonesAreNamed) {
  const Scratch scratch;
  const auto set_of = [](const std::vector<std::string> &names) {
    HmmSet set;
    for (const std::string &name : names) set.phones.push_back({name, false, 0});
    return set;
  };
  test::spill(scratch / "silence.csl", "1:3:2\n");
  test::spill(scratch / "silence.txt", "pau\nsp\n");
  const std::vector<std::string> symbols = {"<eps>", "pau_B", "sp", "pau_E", "A"};
  const std::vector<std::string> csl = read_silence_names(scratch / "silence.csl", symbols);
  EXPECT_EQ(csl, (std::vector<std::string>{"pau_B", "pau_E", "sp"}));
  EXPECT_EQ(read_silence_names(scratch / "silence.txt", {}), (std::vector<std::string>{"pau", "sp"}));
  EXPECT_EQ(read_silence_names("sp,A", {}), (std::vector<std::string>{"sp", "A"}));
  HmmSet set = set_of({"A", "pau", "sp"});
  EXPECT_EQ(name_silence(&set, csl, "model"), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(set.silence, 1u);
  EXPECT_TRUE(!set.phones[0].filler && set.phones[1].filler && set.phones[2].filler);
  HmmSet known = set_of({"sp", "SIL"});
  name_silence(&known, {"sp", "SIL"}, "model");
  EXPECT_EQ(known.silence, 1u) << "SIL comes before others";
  test::expect_error([&] { name_silence(&set, {"pau", "xx"}, "model"); }, ASR_INVALID_ARGUMENT, "model: has no phone 'xx'");
  test::expect_error([&] { read_silence_names(scratch / "silence.csl", {}); }, ASR_INVALID_ARGUMENT, "phone 1, which no list");
  test::expect_error([&] { read_silence_names(scratch / "silence.csl", {}, "name them"); }, ASR_INVALID_ARGUMENT,
                     "which no list of phones names; name them");
  test::expect_error([&] { read_silence_names(",", {}); }, ASR_INVALID_ARGUMENT, "--silence: names no phones");
}

TEST(Sums, RowsThatDependOnOthersAreFound) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (uint32_t n_rows = 1; n_rows <= 40; n_rows += 3) {
    for (uint32_t n_used = n_rows; n_used <= n_rows + 6; n_used += 2) {
      const uint32_t n_cols = n_used + 1;
      std::vector<float> matrix(size_t{n_rows} * n_cols);
      for (float &value : matrix) value = normal(random) * 100;
      EXPECT_EQ(first_dependent_row(matrix, n_rows, n_cols, n_used), n_rows);
      const uint32_t row = random() % n_rows;
      std::vector<float> singular = matrix;
      for (uint32_t c = 0; c < n_used; ++c) {
        float sum = 0;
        for (uint32_t r = 0; r < row; ++r) sum += matrix[size_t{r} * n_cols + c] / 4;
        singular[size_t{row} * n_cols + c] = sum;
      }
      EXPECT_EQ(first_dependent_row(singular, n_rows, n_cols, n_used), row);
      matrix[size_t{row} * n_cols] = NAN;
      EXPECT_EQ(first_dependent_row(matrix, n_rows, n_cols, n_used), row);
    }
  }
}

TEST(KaldiModel, PhonesWithAllFourEndingsAreOneInFourPositions) {
  TransitionModel model;
  model.entries = {{{0, 0, {{0, 0.5f}, {1, 0.5f}}}, {}}};
  model.entry_of = {-1, 0, 0, 0, 0, 0, 0};
  model.ids.push_back({0, 0});
  model.log_probs.push_back(0);
  for (uint32_t phone = 1; phone <= 6; ++phone) {
    model.states.push_back({phone, 0, 0, 0});
    for (uint32_t arc = 0; arc < 2; ++arc) {
      model.ids.push_back({phone - 1, arc});
      model.log_probs.push_back(-0.7f);
    }
  }
  model.n_pdfs = 1;
  const std::vector<std::string> names = {"<eps>", "SIL", "A_B", "A_E", "A_I", "A_S", "O_S", "#0"};
  const HmmSet set = make_hmm_set(model, names, "model");
  ASSERT_EQ(set.phones.size(), 3u);
  EXPECT_EQ(set.silence, 0u);
  EXPECT_TRUE(set.phones[0].filler);
  EXPECT_EQ(set.phones[1].name, "A");
  EXPECT_EQ(set.phones[2].name, "O_S");
  const WordPosition positions[] = {WordPosition::kBegin, WordPosition::kEnd, WordPosition::kInternal, WordPosition::kSingle};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(set.transitions[3 + 2 * i].phone, 1u);
    EXPECT_EQ(set.transitions[3 + 2 * i].position, static_cast<uint8_t>(positions[i]));
  }
  EXPECT_EQ(set.transitions[11].position, kAnyPosition);
  EXPECT_TRUE(set.knows_contexts());
  model.states[3].forward_pdf = model.states[3].self_loop_pdf = 1;
  model.n_pdfs = 2;
  EXPECT_TRUE(make_hmm_set(model, names, "model").knows_contexts());  // A_I has its own pdf, whatever its neighbours
  test::expect_error([&] { make_hmm_set(model, {"<eps>", "SIL"}, "model"); }, ASR_BAD_FILE, "--phones");
}

TEST(KaldiModel, BundleKeepsTransitions) {
  Scratch scratch;
  const std::string path = scratch / "m.mdl";
  test::spill(path, small_kaldi_model(true, false, false));
  KaldiOptions options;
  options.model = path;
  options.features_only = true;
  write_imported_model(import_kaldi(options), scratch / "bundle");
  test::expect_error([&] { check_takes_audio(read_bundle(scratch / "bundle")); }, ASR_UNSUPPORTED, "rows of 2 values");
  const HmmSet set = read_hmm_set(scratch / "bundle/hmms.bin");
  ASSERT_EQ(set.transitions.size(), 8u);
  EXPECT_EQ(set.transitions[7].pdf, 2u);
  EXPECT_TRUE(set.transitions[6].self_loop);
  options.features_only = false;
  test::expect_error([&] { import_kaldi(options); }, ASR_INVALID_ARGUMENT, "2 dimensions, its features 13");
}

TEST(MfccConf, OptionsBecomeAFrontEnd) {
  Scratch scratch;
  const std::string path = scratch / "mfcc.conf";
  test::spill(
      path, "--sample-frequency=8000 # telephone\n\n# nothing\n--use-energy=false\n--window-type=hamming\n--high-freq=-200\n");
  const FrontEnd f = read_mfcc_conf(path);
  EXPECT_EQ(f.window_samples, 200u);
  EXPECT_EQ(f.shift_samples, 80u);
  EXPECT_EQ(f.fft_samples, 256u);
  EXPECT_EQ(f.high_hz, 3800);
  EXPECT_EQ(f.vtln_high_hz, 3500);
  EXPECT_EQ(f.window, WindowShape::kHamming);
  EXPECT_FALSE(f.use_energy);
  const auto conf = [&](const char *text) {
    test::spill(path, text);
    read_mfcc_conf(path);
  };
  test::expect_error([&] { conf("\n--num-ceps=x\n"); }, ASR_BAD_FILE, "mfcc.conf:2: --num-ceps=x is not a number");
  test::expect_error([&] { conf("--window-type=blackman\n"); }, ASR_UNSUPPORTED, "blackman");
  test::expect_error([&] { conf("--no-such=1\n"); }, ASR_BAD_FILE, "--no-such=1");
  test::expect_error([&] { conf("hello\n"); }, ASR_BAD_FILE, "mfcc.conf:1");
}

TEST(PlpConf, OptionsBecomeAFrontEnd) {
  Scratch scratch;
  const std::string path = scratch / "plp.conf";
  const auto conf = [&](const char *text) {
    test::spill(path, text);
    return read_plp_conf(path);
  };
  EXPECT_EQ(front_end_to_json(conf("\n")), front_end_to_json(kaldi_plp_front_end()));
  EXPECT_EQ(conf("").floor_gain, true);
  const FrontEnd f = conf(
      "--lpc-order=14\n--compress-factor=0.25\n--cepstral-scale=10\n--cepstral-lifter=0\n--num-ceps=15\n--htk-compat=true\n");
  EXPECT_EQ(f.lpc_order, 14u);
  EXPECT_EQ(f.compression, 0.25);
  EXPECT_EQ(f.cepstral_scale, 10);
  EXPECT_EQ(f.lifter, 0);
  EXPECT_EQ(f.n_ceps, 15u);
  EXPECT_TRUE(f.c0_last);
  test::expect_error([&] { conf("--num-ceps=14\n"); }, ASR_BAD_FILE, "plp.conf:1: --num-ceps=14 must lie in 1 ... 13");
  test::expect_error([&] { conf("--lpc-order=23\n"); }, ASR_BAD_FILE, "plp.conf:1: --lpc-order=23 must lie in 1 ... 22");
  test::expect_error([&] { conf("--num-mel-bins=23.5\n"); }, ASR_BAD_FILE, "--num-mel-bins=23.5 is not a whole number");
  test::expect_error([&] { conf("--compress-factor=2\n"); }, ASR_BAD_FILE, "--compress-factor=2 must lie in 0.01 ... 0.4");
  test::expect_error([&] { conf("--cepstral-scale=0\n"); }, ASR_BAD_FILE, "--cepstral-scale=0 must lie in 0.001 ... 1000");
  test::expect_error(
      [&] {
        test::spill(path, "--lpc-order=12\n");
        read_mfcc_conf(path);
      },
      ASR_BAD_FILE, "--lpc-order=12 is not an option that can be imported");
}

// Computes the score of a state in double from the file's own arrays (means times precisions, recomputed constants).
double plain_score(ObjectReader &reader, uint32_t n_dims, const std::vector<float> &x, double *stored_constants_error) {
  reader.expect("<DiagGMM>");
  reader.expect("<GCONSTS>");
  const auto constants = reader.vector<double>("constants");
  reader.expect("<WEIGHTS>");
  const auto weights = reader.vector<double>("weights");
  reader.expect("<MEANS_INVVARS>");
  const auto means = reader.matrix<double>("means");
  reader.expect("<INV_VARS>");
  const auto precisions = reader.matrix<double>("precisions");
  reader.expect("</DiagGMM>");
  double sum = 0, best = -INFINITY;
  std::vector<double> terms;
  for (size_t k = 0; k < weights.size(); ++k) {
    double constant = std::log(weights[k]) - 0.5 * n_dims * std::log(2 * M_PI), distance = 0;
    for (size_t d = 0; d < n_dims; ++d) {
      const double precision = precisions.row(k)[d], mean = means.row(k)[d] / precision;
      constant += 0.5 * std::log(precision) - 0.5 * mean * mean * precision;
      distance += means.row(k)[d] * x[d] - 0.5 * precision * x[d] * x[d];
    }
    *stored_constants_error = std::max(*stored_constants_error, std::abs(constant - constants[k]));
    terms.push_back(constant + distance);
    best = std::max(best, terms.back());
  }
  for (const double term : terms) sum += std::exp(term - best);
  return best + std::log(sum);
}

struct RealModel {
  const char *path, *phones;
  size_t n_phones, n_pdfs, n_gaussians, n_dims, n_transition_ids;
};

class RealModels : public ::testing::TestWithParam<RealModel> {};
INSTANTIATE_TEST_SUITE_P(
    Kaldi, RealModels,
    ::testing::Values(
        RealModel{"kaldi_20k/final.main.mdl", "kaldi_20k/phones.txt", 40, 4584, 20000, 24, 9188},
        RealModel{"kaldi_indonesian/exp/mono/40.mdl", "kaldi_indonesian/exp/mono/phones.txt", 34, 106, 979, 39, 948},
        RealModel{"kaldi_indonesian/exp/tri1/40.mdl", "kaldi_indonesian/exp/tri1/phones.txt", 34, 960, 10024, 39, 7860},
        RealModel{"kaldi_yesno/exp/mono/40.mdl", "kaldi_yesno/exp/mono/graph/phones.txt", 3, 11, 943, 39, 30},
        RealModel{"kaldi_mfa/mfa_test_lda40/final.mdl", "kaldi_mfa/mfa_test_lda40/phones.txt", 73, 80, 500, 40, 0},
        RealModel{"kaldi_mfa/mfa_test_lda40/final.alimdl", "", 73, 80, 500, 40, 0},
        RealModel{"kaldi_mfa/mfa_test_mono/final.mdl", "", 171, 132, 0, 39, 0},
        RealModel{"kaldi_mfa/navajo_mono_tri/final.mdl", "", 327, 296, 1581, 39, 0}));

TEST_P(RealModels, ScoresEqualAPlainEvaluationOfTheFile) {
  const char *data = getenv("SENONE_TEST_DATA");
  if (!data) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const RealModel &expected = GetParam();
  KaldiOptions options;
  options.model = std::string(data) + "/" + expected.path;
  if (*expected.phones) options.phones = std::string(data) + "/" + expected.phones;
  options.features_only = true;
  const ImportedModel model = import_kaldi(options);
  EXPECT_EQ(model.hmms.phones.size(), expected.n_phones);
  EXPECT_EQ(model.acoustic.n_states, expected.n_pdfs);
  EXPECT_EQ(model.acoustic.n_dims, expected.n_dims);
  if (expected.n_gaussians > 0) {
    EXPECT_EQ(model.acoustic.n_gaussians(), expected.n_gaussians);
  }
  if (expected.n_transition_ids > 0) {
    EXPECT_EQ(model.hmms.transitions.size(), expected.n_transition_ids + 1);
  }

  const std::string bytes = read_file(options.model);
  ObjectReader reader(bytes, options.model);
  reader.begin_object();
  read_transition_model(reader);
  reader.expect("<DIMENSION>");
  const uint32_t n_dims = reader.count("dimensions");
  reader.expect("<NUMPDFS>");
  const uint32_t n_pdfs = reader.count("pdfs");
  const AcousticView view(model.acoustic);
  double error = 0, constants_error = 0;
  for (uint32_t s = 0; s < n_pdfs; ++s) {  // at a mean of the preceding state, some distance away
    const uint64_t mean = model.acoustic.codebooks[s == 0 ? n_pdfs - 1 : s - 1].first_mean;
    const std::vector<float> x(model.acoustic.means.begin() + static_cast<std::ptrdiff_t>(mean),
                               model.acoustic.means.begin() + static_cast<std::ptrdiff_t>(mean + n_dims));
    const double plain = plain_score(reader, n_dims, x, &constants_error);
    error =
        std::max(error, std::abs(plain - reference::log_likelihood(*view.get(), s, x.data())) / (1 + 1e-3 * std::abs(plain)));
  }
  EXPECT_LT(error, 1e-3);
  EXPECT_LT(constants_error, 3e-3);
  RecordProperty("error", std::to_string(error));
}

TEST(RealModels, KaldiWroteTheSameLogLikelihoods) {
  const char *data = getenv("SENONE_TEST_DATA");
  if (!data) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string folder = std::string(data) + "/kaldi_20k/";
  const Model model = read_model(folder + "final.main.mdl");
  const AcousticView view(model.acoustic);
  ArchiveReader features("ark:" + folder + "test.feats.ark"), scores("ark:" + folder + "ref/first2.likes.ark");
  std::string key, scored;
  Matrix<float> x, expected;
  double error = 0;
  for (int utterance = 0; utterance < 2; ++utterance) {
    ASSERT_TRUE(features.next(&key, &x));
    ASSERT_TRUE(scores.next(&scored, &expected));
    ASSERT_EQ(key, scored);
    ASSERT_EQ(expected.n_rows, 40u);
    ASSERT_EQ(expected.n_cols, model.acoustic.n_states);
    for (uint32_t t = 0; t < expected.n_rows; ++t) {
      for (uint32_t s = 0; s < expected.n_cols; ++s) {
        error = std::max(error, std::abs(reference::log_likelihood(*view.get(), s, x.row(t)) - expected.row(t)[s]));
      }
    }
  }
  EXPECT_LT(error, 1e-3);  // Kaldi sums in float; 7.0e-4 was observed
  EXPECT_FALSE(scores.next(&scored, &expected));
}

TEST(RealModels, FeatureTransformOfMfa) {
  const char *data = getenv("SENONE_TEST_DATA");
  if (!data) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string folder = std::string(data) + "/kaldi_mfa/mfa_test_lda40/";
  KaldiOptions options;
  options.model = folder + "final.mdl";
  options.phones = folder + "phones.txt";
  options.lda = folder + "lda.mat";
  const ImportedModel model = import_kaldi(options);
  EXPECT_EQ(model.bundle.front_end.splice_left, 3u);
  EXPECT_EQ(model.bundle.front_end.splice_right, 3u);
  EXPECT_EQ(model.bundle.front_end.transform_cols, 91u);
  EXPECT_EQ(model.bundle.front_end.n_dims(), 40u);
}

}  // namespace
}  // namespace asr::kaldi
