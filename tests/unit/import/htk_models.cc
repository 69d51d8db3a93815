// SPDX-License-Identifier: Apache-2.0
// Tests HTK's hmmdefs: every macro in a small set, damaged ones, and the real English set of SENONE_TEST_DATA, with each number
// compared with the file's.
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "builder/import/htk.h"
#include "builder/import/htk_model.h"
#include "core/base/file.h"
#include "reference/gmm.h"
#include "tests/unit/import/htk_writer.h"
#include "tests/unit/scratch.h"

namespace asr::htk {
namespace {

using test::Scratch;

class HtkText : public ::testing::Test {
 protected:
  Scratch scratch_;
  std::string path_ = scratch_ / "hmmdefs";
  ModelSet read(const std::string &text) {
    test::spill(path_, text);
    return read_hmmdefs({path_});
  }
};

TEST_F(HtkText, MacrosStandForWhatTheyName) {
  const ModelSet set = read(test::kSmallHmmdefs);
  EXPECT_EQ(set.kind, kMfcc | kC0 | kDelta);
  const AcousticModel a = make_acoustic_model(set, path_);
  ASSERT_EQ(a.n_states, 2u);  // "shared" and the state of a-b+c
  EXPECT_EQ(a.codebooks[1].n_gaussians, 3u);
  EXPECT_EQ(a.means, (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  const uint64_t at = a.precision_at[a.covariance_of[2]];
  EXPECT_EQ(a.precisions[at], 0.25f);
  EXPECT_EQ(a.precisions[at + 1], 0.125f);
  EXPECT_EQ(a.log_weights[2], static_cast<float>(std::log(0.5)));

  const HmmSet hmms = make_hmm_set(set, {}, path_);
  ASSERT_EQ(hmms.phones.size(), 4u);
  EXPECT_EQ(hmms.phones[0].name, "b");
  EXPECT_EQ(hmms.silence, 1u);
  ASSERT_EQ(hmms.contexts.size(), 1u);
  EXPECT_EQ(hmms.contexts[0].left, hmms.find_phone("a"));
  EXPECT_EQ(hmms.contexts[0].right, hmms.find_phone("c"));
  EXPECT_EQ(hmms.hmms[0].pdfs, (std::vector<uint32_t>{1, 0}));
  const Topology &tee = hmms.topologies[hmms.hmms[1].topology];
  EXPECT_EQ(tee.arcs.back().from, kEntry);
  EXPECT_EQ(tee.arcs.back().to, 1u);
  EXPECT_EQ(tee.arcs.back().cost, static_cast<float>(-std::log(0.75)));
  EXPECT_EQ(hmms.topologies[0].arcs.size(), 6u);
}

TEST_F(HtkText, ListsNameLogicalPhones) {
  const HmmSet hmms = make_hmm_set(read(test::kSmallHmmdefs), {{"b", "a-b+c"}, {"a", "a"}, {"b+a", "a-b+c"}}, path_);
  EXPECT_EQ(hmms.phones.size(), 2u);
  ASSERT_EQ(hmms.contexts.size(), 1u);
  EXPECT_EQ(hmms.contexts[0].left, kNoPhone);
  test::expect_error([&] { make_hmm_set(read(test::kSmallHmmdefs), {{"b", "nobody"}}, "list"); }, ASR_BAD_FILE, "HMM nobody");
}

TEST_F(HtkText, Streams) {
  const ModelSet set = read(R"(~o <STREAMINFO> 2 2 1 <VECSIZE> 3 <USER>
~h x <BEGINHMM> <NUMSTATES> 3 <STATE> 2 <NUMMIXES> 1 2 <SWEIGHTS> 2 1 1
<STREAM> 1 <MEAN> 2 1 2 <VARIANCE> 2 1 1
<STREAM> 2 <MIXTURE> 1 0.5 <MEAN> 1 3 <VARIANCE> 1 1 <MIXTURE> 2 0.5 <MEAN> 1 4 <VARIANCE> 1 1
<TRANSP> 3 0 1 0 0 0.5 0.5 0 0 0 <ENDHMM>)");
  const AcousticModel a = make_acoustic_model(set, path_);
  ASSERT_EQ(a.streams.size(), 2u);
  EXPECT_EQ(a.streams[1].dims, (std::vector<uint32_t>{2}));
  EXPECT_EQ(a.codebooks[1].n_gaussians, 2u);
  const AcousticView view(a);
  const float x[] = {1, 2, 3.5f};
  EXPECT_NEAR(reference::log_likelihood(*view.get(), 0, x), -1.5 * std::log(2 * M_PI) - 0.125, 1e-6);
}

TEST_F(HtkText, FullCovariancesAreTransposedTriangles) {
  const ModelSet set = read(R"(~o <VECSIZE> 3 <FULLC> <USER>
~h x <BEGINHMM> <NUMSTATES> 3 <STATE> 2 <MEAN> 3 1 2 3 <INVCOVAR> 3 10 1 2 11 3 12
<TRANSP> 3 0 1 0 0 0.5 0.5 0 0 0 <ENDHMM>)");
  EXPECT_EQ(set.covariance, ASR_COVARIANCE_FULL);
  EXPECT_EQ(make_acoustic_model(set, path_).precisions, (std::vector<float>{10, 1, 11, 2, 3, 12}));
}

TEST_F(HtkText, NamesAreQuotedAsHtkQuotes) {
  const auto name_of = [&](const std::string &written) {
    return read("~o <VECSIZE> 1 <USER>\n~h " + written +
                " <BEGINHMM> <NUMSTATES> 3 <STATE> 2 <MEAN> 1 0 <VARIANCE> 1 1\n"
                "<TRANSP> 3 0 1 0 0 0.5 0.5 0 0 0 <ENDHMM>")
        .hmms[0]
        .name;
  };
  EXPECT_EQ(name_of(R"("\303\244")"), "\xc3\xa4");
  EXPECT_EQ(name_of(R"(\303\244)"), "\xc3\xa4");
  EXPECT_EQ(name_of(R"("b\"x")"), "b\"x");
  EXPECT_EQ(name_of(R"('b"x')"), "b\"x");
  EXPECT_EQ(name_of(R"('it\'s')"), "it's");
  EXPECT_EQ(name_of(R"("a\\b")"), "a\\b");
  EXPECT_EQ(name_of(R"("\1234")"), "S4");
  EXPECT_EQ(name_of(R"("\12x")"), "12x");
  EXPECT_EQ(name_of(R"("\777")"), "777");
  EXPECT_EQ(name_of("it's"), "it's");
  test::expect_error([&] { name_of("\"b\\\""); }, ASR_BAD_FILE, "without its end");
}

TEST_F(HtkText, RegressionClassesAreSkipped) {
  const std::string base = test::kSmallHmmdefs;
  for (const char *const classes :
       {"~r \"ST_sil_2_1\"\n", "~r \"tree\" <REGTREE> 2 ~b \"base\" <NODE> 1 2 2 3 <TNODE> 2 1 1\n",
        "~b 'global' <MMFIDMASK> * <PARAMETERS> MIXBASE <NUMCLASSES> 1 <CLASS> 1 {*.state[2-4]}\n"}) {
    EXPECT_EQ(read(base + classes).hmms.size(), 4u) << classes;
    EXPECT_EQ(read(classes + base).hmms.size(), 4u) << classes;
  }
}

TEST_F(HtkText, ProbabilitiesAddUpToOne) {
  const auto replaced = [](const std::string &from, const std::string &to) {
    std::string text = test::kSmallHmmdefs;
    return text.replace(text.find(from), from.size(), to);
  };
  read(replaced("0 0.5 0.25 0.25", "0 0.5 0.25 0.251"));
  test::expect_error([&] { read(replaced("0 0.5 0.25 0.25", "0 0.9 0.25 0.25")); }, ASR_BAD_FILE,
                     "hmmdefs:7: row 2 of a transition matrix adds up to 1.4, not 1");
  test::expect_error([&] { read(replaced("0 0.5 0.25 0.25", "0 0 0 0")); }, ASR_BAD_FILE, "row 2 of a transition matrix");
  test::expect_error([&] { read(replaced(" 0 0 0 0\n", " 0 0 0 1\n")); }, ASR_BAD_FILE, "row 4 of a transition matrix");
  test::expect_error([&] { read(replaced("<MIXTURE> 2 0.5", "<MIXTURE> 2 0.25")); }, ASR_BAD_FILE,
                     "the weights of a state add up to 0.75, not 1");
}

TEST_F(HtkText, SettingsThatChangeFeaturesAreDoneOrRefused) {
  HtkOptions options;
  options.models = {path_};
  options.config = scratch_ / "config";
  std::vector<std::string> notes;
  const auto import = [&](const std::string &config) {
    test::spill(options.config, config);
    htk_front_end_of(kMfcc | kC0 | kDelta | kAcceleration | kZeroMean, 39, options, notes);
  };
  for (const char *const refused : {"SIMPLEDIFFS = T", "HCOPY: SIMPLEDIFFS = TRUE", "WARPFREQ = 1.1", "DOUBLEFFT = T",
                                    "V1COMPAT = T", "MATTRANFN = lda.mat", "CMEANDIR = means"}) {
    test::expect_error([&] { import(refused); }, ASR_UNSUPPORTED, "changes the features");
  }
  for (const char *const refused :
       {"TARGETKIND = PLP_0", "TARGETKIND = MFCC_E", "TARGETKIND = MFCC_0_D_A_T", "TARGETKIND = NONSENSE"}) {
    test::expect_error([&] { import(refused); }, ASR_BAD_FILE, "TARGETKIND");
  }
  for (const char *const taken : {"SIMPLEDIFFS = F", "WARPFREQ = 1.0", "TARGETKIND = MFCC_0_D_A_Z", "TARGETKIND = MFCC_0",
                                  "TARGETKIND = MFCC_0_D_A_Z_C_K", "DOUBLEFFT = F\nV1COMPAT = FALSE"}) {
    import(taken);
  }
}

TEST_F(HtkText, ErrorsNameTheLine) {
  const auto replaced = [](const std::string &from, const std::string &to) {
    std::string text = test::kSmallHmmdefs;
    return text.replace(text.find(from), from.size(), to);
  };
  test::expect_error([&] { read(replaced("<MEAN> 2 5 6", "<MEAN> 2 5 x")); }, ASR_BAD_FILE, "hmmdefs:3: mean is \"x\"");
  test::expect_error([&] { read(replaced("~u \"m\" ~v", "~u \"q\" ~v")); }, ASR_BAD_FILE, "uses the mean \"q\"");
  test::expect_error([&] { read(replaced("<VARIANCE> 2 4 8", "<VARIANCE> 2 0 8")); }, ASR_BAD_FILE, "must be positive");
  test::expect_error([&] { read(replaced("<NUMSTATES> 4", "<NUMSTATES> 5")); }, ASR_BAD_FILE, "lacks a state");
  test::expect_error([&] { read(replaced("<VARIANCE> 2 1 2", "<INVCOVAR> 2 1 0 1")); }, ASR_BAD_FILE, "diagonal and full");
  test::expect_error([&] { read("~h x :\1"); }, ASR_BAD_FILE, "binary form");
  test::expect_error([&] { read("~o <VECSIZE> 3"); }, ASR_BAD_FILE, "defines no HMMs");
  test::expect_error([&] { make_acoustic_model(read(replaced("<MEAN> 2 3 4", "<MEAN> 1 3")), "set"); }, ASR_BAD_FILE,
                     "its 2 dimensions");
}

TEST_F(HtkText, NoDamageCrashes) {
  test::spill(path_, test::kSmallHmmdefs);
  const size_t refused = test::count_refused_damages(path_, [&] {
    const ModelSet set = read_hmmdefs({path_});
    make_acoustic_model(set, path_);
    make_hmm_set(set, {}, path_);
  });
  EXPECT_GT(refused, sizeof(test::kSmallHmmdefs) / 2);
}

TEST_F(HtkText, KindsBecomeFrontEnds) {
  HtkOptions options;
  options.models = {path_};
  std::vector<std::string> notes;
  const FrontEnd usual = htk_front_end_of(kMfcc | kC0 | kDelta | kAcceleration, 39, options, notes);
  EXPECT_EQ(usual.n_dims(), 39u);
  EXPECT_EQ(usual.n_ceps, 13u);
  EXPECT_EQ(usual.window_samples, 400u);
  options.config = scratch_ / "config";
  test::spill(options.config, "# features\nHCOPY: NUMCHANS = 26\nSOURCERATE=1250\nENORMALISE = F\nTRACE = 1\n");
  const FrontEnd other = htk_front_end_of(kMfcc | kEnergy | kDelta, 26, options, notes);
  EXPECT_EQ(other.sample_rate_hz, 8000);
  EXPECT_EQ(other.n_mel, 26u);
  EXPECT_TRUE(other.use_energy);
  EXPECT_NE(notes.back().find("TRACE"), std::string::npos);
  const auto from = [&](uint16_t kind, uint32_t n_dims) { htk_front_end_of(kind, n_dims, options, notes); };
  test::expect_error([&] { from(kMfcc, 12); }, ASR_UNSUPPORTED, "--features-only");
  test::expect_error([&] { from(kMfcc | kC0 | kDelta, 25); }, ASR_BAD_FILE, "25 dimensions");
  options.config.clear();
  const FrontEnd normalised = htk_front_end_of(kMfcc | kEnergy | kDelta, 26, options, notes);
  EXPECT_EQ(normalised.energy_range_db, 50);
  EXPECT_EQ(normalised.energy_scale, 0.1);
  EXPECT_EQ(normalised.cmn, CmnKind::kBatch);
  EXPECT_FALSE(normalised.cmn_cepstra);
  EXPECT_TRUE(htk_front_end_of(kMfcc | kEnergy | kDelta | kZeroMean, 26, options, notes).cmn_cepstra);
  options.energy_scale = 1;  // it cancels in differences
  EXPECT_EQ(htk_front_end_of(kMfcc | kEnergy | kDelta | kNoAbsoluteEnergy, 25, options, notes).energy_range_db, 0);
  options.config = scratch_ / "config";
  test::spill(options.config, "ENORMALISE = F\n");
  test::expect_error([&] { from(kMfcc | kEnergy | kDelta | kZeroMean, 26); }, ASR_UNSUPPORTED, "absolute energy");
}

TEST_F(HtkText, PlpAndEnergyBesideC0) {
  HtkOptions options;
  options.models = {path_};
  std::vector<std::string> notes;
  const auto from = [&](uint16_t kind, uint32_t n_dims) { return htk_front_end_of(kind, n_dims, options, notes); };
  const FrontEnd usual = from(kPlp | kC0 | kDelta | kAcceleration, 39);
  EXPECT_EQ(usual.lpc_order, 12u);
  EXPECT_EQ(usual.compression, 0.33);
  EXPECT_EQ(usual.n_ceps, 13u);
  EXPECT_EQ(usual.log_floor, 1);
  EXPECT_TRUE(usual.magnitude);
  EXPECT_FALSE(usual.floor_gain);
  EXPECT_EQ(front_end_to_json(usual), front_end_to_json(htk_plp_front_end()));

  options.config = scratch_ / "config";
  const auto config = [&](const std::string &text) { test::spill(options.config, text); };
  config(
      "TARGETKIND = PLP_E_D_A_0\nUSEPOWER = T\nNUMCHANS = 24\nLPCORDER = 14\nCOMPRESSFACT = 0.3\nCEPSCALE = 10\n"
      "ENORMALISE = F\nNUMCEPS = 12\n");
  notes.clear();
  const FrontEnd both = from(kPlp | kC0 | kEnergy | kDelta | kAcceleration, 42);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(both.lpc_order, 14u);
  EXPECT_EQ(both.compression, 0.3);
  EXPECT_EQ(both.cepstral_scale, 10);
  EXPECT_EQ(both.n_ceps, 14u);
  EXPECT_FALSE(both.magnitude);
  EXPECT_TRUE(both.use_energy && both.energy_beside_c0 && both.c0_last);
  config("COMPRESSFACT = 0.3\nENORMALISE = F\n");
  const FrontEnd mfcc = from(kMfcc | kC0 | kEnergy, 14);
  EXPECT_EQ(mfcc.lpc_order, 0u);
  EXPECT_TRUE(mfcc.energy_beside_c0);
  EXPECT_NE(notes.front().find("COMPRESSFACT is not used"), std::string::npos);

  config("WARPLCUTOFF = 300\nWARPUCUTOFF = 5400\n");
  const FrontEnd bent = from(kPlp | kC0, 13);
  EXPECT_TRUE(bent.vtln_htk_bends);
  EXPECT_EQ(bent.vtln_low_hz, 300);
  EXPECT_EQ(bent.vtln_high_hz, 5400);
  config("WARPUCUTOFF = 5400\n");
  EXPECT_FALSE(from(kPlp | kC0, 13).vtln_htk_bends);
  config("NUMCEPS = 11\nENORMALISE = F\n");
  test::expect_error([&] { from(kPlp | kC0 | kEnergy, 14); }, ASR_BAD_FILE, "NUMCEPS is 11, but the model has 12");
  config("LPCORDER = 11\n");
  test::expect_error([&] { from(kPlp | kC0, 13); }, ASR_BAD_FILE, "LPCORDER is \"11\"; it must be a number from 12 to 19");
  config("COMPRESSFACT = 0\n");
  test::expect_error([&] { from(kPlp | kC0, 13); }, ASR_BAD_FILE,
                     "COMPRESSFACT is \"0\"; it must be a number from 0.01 to 0.8");
  config("NUMCHANS = 12\n");
  test::expect_error([&] { from(kPlp | kC0, 13); }, ASR_BAD_FILE,
                     "12 cepstra of PLP need more than 12 channels and at most 64; correct NUMCHANS in --config");
  config("LPCORDER = 12.5\n");
  test::expect_error([&] { from(kPlp | kC0, 13); }, ASR_BAD_FILE, "LPCORDER is \"12.5\"; it must be whole");
  config("CEPLIFTER = 1e-310\n");
  test::expect_error([&] { from(kPlp | kC0, 13); }, ASR_BAD_FILE, "front_end.lifter must be 0 or at least 0.001");
  config("NUMCHANS = 12\nLPCORDER = 12\n");
  test::expect_error([&] { from(kPlp | kC0, 9); }, ASR_BAD_FILE, "LPCORDER is \"12\"; it must be a number from 8 to 11");
  config("ENORMALISE = F\n");
  test::expect_error([&] { from(kPlp | kC0 | kEnergy | kDelta | kNoAbsoluteEnergy, 27); }, ASR_UNSUPPORTED,
                     "_N beside _E and _0");
  test::expect_error([&] { from(kPlp | kC0 | kEnergy, 2); }, ASR_BAD_FILE, "2 dimensions");
  test::expect_error([&] { from(kPlp, 12); }, ASR_UNSUPPORTED, "not MFCC or PLP with c0");
}

// Compares every <MEAN>, <VARIANCE>, <GCONST> and <TRANSP> of the file, in order, with the parts read.
TEST(HtkData, EveryNumberEqualsTheFiles) {
  const char *data = getenv("SENONE_TEST_DATA");
  if (!data) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string folder = std::string(data) + "/htk_prosodylab_eng/eng/";
  const ModelSet set = read_hmmdefs({folder + "macros", folder + "hmmdefs"});
  EXPECT_EQ(set.hmms.size(), 70u);
  EXPECT_EQ(set.kind, kMfcc | kC0 | kDelta | kAcceleration);
  std::istringstream words(read_file(folder + "hmmdefs"));
  size_t n_means = 0, n_variances = 0, n_constants = 0, n_matrices = 0;
  double constant_error = 0;
  for (std::string word; words >> word;) {
    size_t n = 0;
    if (word == "<MEAN>") {
      words >> n;
      const Density &density = set.densities.at(n_means++);
      ASSERT_EQ(density.mean.size(), n);
      for (const float mean : density.mean) {
        words >> word;
        EXPECT_EQ(mean, std::stof(word));
      }
    } else if (word == "<VARIANCE>") {
      words >> n;
      for (const float precision : set.covariances.at(set.densities.at(n_variances++).covariance)) {
        words >> word;
        EXPECT_EQ(precision, static_cast<float>(1 / std::stod(word)));
      }
    } else if (word == "<GCONST>") {
      words >> word;
      double constant = 39 * std::log(2 * M_PI);
      for (const float precision : set.covariances[set.densities.at(n_constants++).covariance])
        constant -= std::log(double{precision});
      constant_error = std::max(constant_error, std::abs(constant - std::stod(word)));
    } else if (word == "<TRANSP>") {
      words >> n;
      const TransitionMatrix &matrix = set.transitions.at(n_matrices++);
      ASSERT_EQ(matrix.n, n);
      for (const double p : matrix.probs) {
        words >> word;
        EXPECT_EQ(p, std::stod(word));
      }
    }
  }
  EXPECT_EQ(n_means, set.densities.size());
  EXPECT_EQ(n_variances, set.densities.size());
  EXPECT_EQ(n_constants, set.densities.size());
  EXPECT_EQ(n_matrices, 70u);
  EXPECT_LT(constant_error, 2e-4);
}

TEST(HtkData, ImportedModel) {
  const char *data = getenv("SENONE_TEST_DATA");
  if (!data) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string folder = std::string(data) + "/htk_prosodylab_eng/eng/";
  HtkOptions options;
  options.models = {folder + "macros", folder + "hmmdefs"};
  const ImportedModel model = import_htk(options);
  EXPECT_EQ(model.hmms.phones.size(), 70u);
  EXPECT_EQ(model.acoustic.n_states, 207u);
  EXPECT_EQ(model.bundle.front_end.n_dims(), 39u);
  const uint32_t sp = model.hmms.find_phone("sp"), sil = model.hmms.find_phone("sil");
  EXPECT_EQ(model.hmms.silence, sil);
  EXPECT_EQ(model.hmms.hmms[model.hmms.phones[sp].hmm].pdfs[0], model.hmms.hmms[model.hmms.phones[sil].hmm].pdfs[1]);
}

}  // namespace
}  // namespace asr::htk
