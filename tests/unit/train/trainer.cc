// SPDX-License-Identifier: Apache-2.0
// Training from the flat start on rows that were made from known states: the states and their Gaussians must come back.
#include "builder/train/trainer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmath>
#include <csignal>
#include <random>

#include "core/base/error.h"
#include "tests/unit/scratch.h"
#include "tests/unit/train/failing_sums.h"

namespace asr::train {
namespace {

constexpr uint32_t kDims = 3;

// Phones A, B and C of two states each, silence of one.
HmmSet two_state_phones() {
  HmmSet set;
  set.n_pdfs = 7;
  set.topologies = {{2, {{0, 0, 0.5f}, {0, 1, 1}, {1, 1, 0.5f}, {1, 2, 1}, {kEntry, 0, 0}}},
                    {1, {{0, 0, 0.5f}, {0, 1, 1}, {kEntry, 0, 0}}}};
  set.hmms = {{0, {0, 1}}, {0, {2, 3}}, {0, {4, 5}}, {1, {6}}};
  set.phones = {{"A", false, 0}, {"B", false, 1}, {"C", false, 2}, {"SIL", true, 3}};
  set.silence = 3;
  return set;
}

constexpr char kLexicon[] = "ab A B\nca C A\nbc B C\nbc(2) C B\n";

AcousticModel any_model() {
  AcousticModel model;
  model.n_dims = kDims;
  model.n_states = 7;
  model.streams = {{{0, 1, 2}}};
  for (uint32_t state = 0; state < 7; ++state) {
    model.codebooks.push_back({0, 1, state, uint64_t{state} * kDims});
    model.means.insert(model.means.end(), {float(state), 0, 0});
    model.covariance_of.push_back(state);
    model.precision_at.push_back(uint64_t{state} * kDims);
    model.precisions.insert(model.precisions.end(), {1, 1, 1});
    model.state_codebook.push_back(state);
    model.state_weight.push_back(state);
    model.log_weights.push_back(0);
  }
  return model;
}

// The centre of the rows of a state.
std::vector<double> centre(uint32_t state) {
  return {6 * std::cos(state * 0.9), 6 * std::sin(state * 0.9), state == 6 ? -8.0 : 2.0 * (state % 2)};
}

class Speech {
 public:
  // common: deviation of the part that all features of a row share.
  explicit Speech(double common = 0)
      : common_(common), lexicon_(parse_sphinx_lexicon(kLexicon, "lexicon", set_, &n_left_out_)), graphs_(set_, lexicon_, {}) {}

  void say(const Transcript &words, const std::vector<uint32_t> &states, uint32_t frames_each) {
    std::vector<float> rows;
    const uint64_t first = rows_.n_rows();
    for (const uint32_t state : states) {
      const uint32_t n = frames_each == 0 ? 3 + random_() % 8 : frames_each;
      for (uint32_t i = 0; i < n; ++i) {
        truth_.push_back(state);
        const double common = common_ * normal_(random_);
        for (const double x : centre(state)) rows.push_back(static_cast<float>(x + common + 0.5 * normal_(random_)));
      }
    }
    rows_.add(rows.data(), rows.size() / kDims);
    utterances_.push_back(
        {"utterance" + std::to_string(utterances_.size()), words, first, static_cast<uint32_t>(rows_.n_rows() - first)});
  }

  void say_much() {
    const std::vector<std::pair<Transcript, std::vector<uint32_t>>> all = {
        {{"ab"}, {6, 0, 1, 2, 3, 6}},
        {{"ca"}, {6, 4, 5, 0, 1, 6}},
        {{"bc"}, {6, 2, 3, 4, 5, 6}},
        {{"ab", "ca"}, {6, 0, 1, 2, 3, 4, 5, 0, 1, 6}},
        {{"bc", "ab"}, {6, 4, 5, 2, 3, 6, 0, 1, 2, 3}},  // the second pronunciation, and silence between
    };
    for (int i = 0; i < 100; ++i) say(all[i % 5].first, all[i % 5].second, 0);
  }

  AcousticModel train(const Recipe &recipe, uint32_t n_threads = 2, std::vector<RoundReport> *rounds = nullptr) {
    return train(recipe, choose_device("cpu"), n_threads,
                 {[](double, const std::string &) {},
                  [&](const RoundReport &report) {
                    if (rounds != nullptr) rounds->push_back(report);
                  },
                  [](const std::string &warning) { ADD_FAILURE() << warning; }});
  }
  AcousticModel train(const Recipe &recipe, const DeviceEntry &entry, uint32_t n_threads, const TrainingReports &reports) {
    const Device device(entry, ForcedAligner::options(n_threads));
    ThreadPool pool(n_threads);
    Trainer trainer(device, set_, graphs_, &rows_, utterances_, &pool, reports);
    AcousticModel model = trainer.train(any_model(), recipe, "model");
    left_out_ = trainer.left_out();
    transform_ = trainer.transform();
    return model;
  }

  const TranscriptGraphs &graphs() const { return graphs_; }
  const std::vector<uint32_t> &truth() const { return truth_; }
  const std::map<size_t, std::string> &left_out() const { return left_out_; }
  const std::vector<double> &transform() const { return transform_; }
  std::vector<TrainingUtterance> &utterances() { return utterances_; }
  RowsFile &rows() { return rows_; }

 private:
  const double common_;
  const HmmSet set_ = two_state_phones();
  size_t n_left_out_ = 0;
  const Lexicon lexicon_;
  const TranscriptGraphs graphs_;
  test::Scratch scratch_;
  RowsFile rows_{scratch_ / "rows", kDims};
  std::vector<TrainingUtterance> utterances_;
  std::vector<uint32_t> truth_;
  std::map<size_t, std::string> left_out_;
  std::vector<double> transform_;
  std::mt19937 random_{5};
  std::normal_distribution<double> normal_;
};

Recipe flat_recipe() {
  Recipe recipe;
  recipe.flat = true;
  return recipe;
}

TEST(Trainer, FlatStartFindsTheStates) {
  for (const bool full : {false, true}) {
    Speech speech;
    speech.say_much();
    Recipe recipe = flat_recipe();
    recipe.full = full;
    const AcousticModel model = speech.train(recipe);
    EXPECT_TRUE(speech.left_out().empty());
    for (uint32_t state = 0; state < 7; ++state) {
      const asr_gmm_codebook &codebook = model.codebooks[model.state_codebook[state]];
      for (uint32_t i = 0; i < kDims; ++i) EXPECT_NEAR(model.means[codebook.first_mean + i], centre(state)[i], 0.2) << state;
      const uint64_t at = model.precision_at[model.covariance_of[codebook.first_gaussian]];
      EXPECT_NEAR(model.precisions[at], 4, 1) << state;  // the deviation is 0.5
    }
    // Alignment with it gives every row its state.
    const Device device(choose_device("cpu"), ForcedAligner::options(1));
    const ForcedAligner aligner(device, model, 1000);
    for (size_t i = 0; i < 10; ++i) {
      const TrainingUtterance &utterance = speech.utterances()[i];
      std::vector<AlignmentJob> jobs(1);
      jobs[0].rows = speech.rows().map() + utterance.first_row * kDims;
      jobs[0].n_rows = utterance.n_rows;
      jobs[0].graph = speech.graphs().graph(utterance.words);
      aligner.align(&jobs);
      const auto first = speech.truth().begin() + static_cast<ptrdiff_t>(utterance.first_row);
      EXPECT_EQ(jobs[0].states, std::vector<uint32_t>(first, first + utterance.n_rows));
    }
  }
}

TEST(Trainer, AnyNumberOfThreadsGivesTheSameModel) {
  Speech speech;
  speech.say_much();
  Recipe recipe = flat_recipe();
  recipe.n_gaussians = 4;
  recipe.full = true;
  recipe.smooth = 20;
  for (const double lattice_beam : {0.0, 8.0}) {
    recipe.lattice_beam = lattice_beam;
    const AcousticModel one = speech.train(recipe, 1), three = speech.train(recipe, 3);
    EXPECT_GT(one.n_gaussians(), 14u);
    EXPECT_EQ(one.means, three.means);
    EXPECT_EQ(one.precisions, three.precisions);
    EXPECT_EQ(one.log_weights, three.log_weights);
  }
}

// Frames between states that are hard to tell apart belong to both.
TEST(Trainer, FramesAreSharedInLattices) {
  Speech speech(6);
  speech.say_much();
  const AcousticModel model = speech.train(flat_recipe());
  const Device device(choose_device("cpu"), ForcedAligner::options(1));
  const TrainingUtterance &utterance = speech.utterances()[0];
  const auto shares_of = [&](double lattice_beam) {
    std::vector<AlignmentJob> jobs(1);
    jobs[0].rows = speech.rows().map() + utterance.first_row * kDims;
    jobs[0].n_rows = utterance.n_rows;
    jobs[0].graph = speech.graphs().graph(utterance.words);
    ForcedAligner(device, model, 1000, lattice_beam).align(&jobs);
    EXPECT_EQ(jobs[0].states.size(), utterance.n_rows);
    return jobs[0].shares;
  };
  EXPECT_TRUE(shares_of(0).empty());
  EXPECT_EQ(shares_of(1e-3).size(), utterance.n_rows);
  const std::vector<StateShare> shares = shares_of(20);
  EXPECT_GT(shares.size(), utterance.n_rows);
  std::vector<double> sums(utterance.n_rows);
  for (const auto &[row, state, share] : shares) sums[row] += static_cast<double>(share);
  for (const double sum : sums) EXPECT_NEAR(sum, 1, 1e-6);
}

// Each round of estimation after an alignment raises the likelihood of the frames by their shares.
TEST(Trainer, LatticesTrainAsPathsDo) {
  Speech speech(1.5);
  speech.say_much();
  Recipe recipe = flat_recipe();
  recipe.n_gaussians = 2;
  std::vector<RoundReport> paths, lattices;
  speech.train(recipe, 2, &paths);
  recipe.lattice_beam = 10;
  speech.train(recipe, 2, &lattices);
  ASSERT_EQ(paths.size(), lattices.size());
  EXPECT_NE(paths.back().log_likelihood, lattices.back().log_likelihood);
  EXPECT_NEAR(paths.back().log_likelihood, lattices.back().log_likelihood, 0.1);
  for (size_t i = 1; i < lattices.size(); ++i) {
    if (lattices[i].step != lattices[i - 1].step) continue;
    EXPECT_GE(lattices[i].log_likelihood, lattices[i - 1].log_likelihood - 1e-4);
  }
}

TEST(Trainer, SemiTiedFeaturesAreLikelier) {
  Recipe recipe = flat_recipe();
  std::vector<RoundReport> plain, tied;
  Speech speech(1.5);
  speech.say_much();
  speech.train(recipe, 2, &plain);
  EXPECT_TRUE(speech.transform().empty());
  const std::vector<float> before(speech.rows().map(), speech.rows().map() + speech.rows().n_rows() * kDims);
  recipe.semi_tied = true;
  const AcousticModel model = speech.train(recipe, 2, &tied);
  EXPECT_EQ(model.covariance, ASR_COVARIANCE_DIAGONAL);
  // All features share noise of variance 2.25 beside 0.25 of their own: ln |A W A'| is that of W.
  const double variance = 2.25 + 0.25, determinant = 0.25 * 0.25 * (0.25 + 3 * 2.25);
  EXPECT_NEAR(tied.back().log_likelihood - plain.back().log_likelihood, 0.5 * std::log(std::pow(variance, 3) / determinant),
              0.1);
  // The rows are those of the transform that is given.
  ASSERT_EQ(speech.transform().size(), size_t{kDims} * kDims);
  for (size_t row = 0; row < before.size(); row += kDims) {
    for (uint32_t i = 0; i < kDims; ++i) {
      double sum = 0;
      for (uint32_t j = 0; j < kDims; ++j)
        sum += speech.transform()[size_t{i} * kDims + j] * static_cast<double>(before[row + j]);
      ASSERT_NEAR(speech.rows().map()[row + i], sum, 1e-4) << "row " << row / kDims;
    }
  }
}

// A floor as large as the variance of all data is that of the new features.
TEST(Trainer, FloorIsThatOfTheTransformedRows) {
  Speech speech(1.5);
  speech.say_much();
  Recipe recipe = flat_recipe();
  recipe.semi_tied = true;
  recipe.variance_floor = 1;
  const AcousticModel model = speech.train(recipe);
  const float *const rows = speech.rows().map();
  const uint64_t n = speech.rows().n_rows();
  for (uint32_t i = 0; i < kDims; ++i) {
    double mean = 0, square = 0;
    for (uint64_t row = 0; row < n; ++row) mean += static_cast<double>(rows[row * kDims + i]) / static_cast<double>(n);
    for (uint64_t row = 0; row < n; ++row) square += std::pow(static_cast<double>(rows[row * kDims + i]) - mean, 2);
    for (const uint64_t at : model.precision_at) {
      EXPECT_NEAR(model.precisions[at + i] * square / static_cast<double>(n), 1, 1e-3);
    }
  }
}

TEST(Trainer, AnyNumberOfThreadsGivesTheSameTransform) {
  std::vector<std::vector<double>> transforms;
  std::vector<std::vector<float>> precisions;
  for (const uint32_t n_threads : {1u, 3u}) {
    Speech speech(1);
    speech.say_much();
    Recipe recipe = flat_recipe();
    recipe.n_gaussians = 2;
    recipe.semi_tied = true;
    precisions.push_back(speech.train(recipe, n_threads).precisions);
    transforms.push_back(speech.transform());
  }
  EXPECT_EQ(transforms[0], transforms[1]);
  EXPECT_EQ(precisions[0], precisions[1]);
}

TEST(Trainer, SharedCovariancesStayShared) {
  for (const CovarianceSharing sharing : {CovarianceSharing::kState, CovarianceSharing::kAll}) {
    Speech speech;
    speech.say_much();
    Recipe recipe = flat_recipe();
    recipe.n_gaussians = 4;
    recipe.full = true;
    recipe.sharing = sharing;
    const AcousticModel model = speech.train(recipe);
    EXPECT_GT(model.n_gaussians(), 14u);
    EXPECT_EQ(model.precision_at.size(), sharing == CovarianceSharing::kAll ? 1u : 7u);
  }
}

TEST(Trainer, CovarianceClassesStayShared) {
  std::vector<std::vector<float>> precisions;
  for (const uint32_t n_threads : {1u, 3u}) {
    Speech speech;
    speech.say_much();
    Recipe recipe = flat_recipe();
    recipe.n_gaussians = 4;
    recipe.full = true;
    recipe.sharing = CovarianceSharing::kClasses;
    recipe.n_covariance_classes = 3;
    const AcousticModel model = speech.train(recipe, n_threads);
    EXPECT_GT(model.n_gaussians(), 14u);
    EXPECT_LE(model.precision_at.size(), 3u);
    EXPECT_GT(model.precision_at.size(), 1u);
    precisions.push_back(model.precisions);
  }
  EXPECT_EQ(precisions[0], precisions[1]);
}

TEST(Trainer, SilenceHasANumberOfItsOwn) {
  for (const auto &[n_gaussians, n_silence] : {std::pair{2u, 5u}, {4u, 1u}, {0u, 3u}}) {
    Speech speech;
    speech.say_much();
    Recipe recipe = flat_recipe();
    recipe.n_gaussians = n_gaussians;
    recipe.n_silence_gaussians = n_silence;
    recipe.min_frames = 1;
    const AcousticModel model = speech.train(recipe);
    for (uint32_t state = 0; state < 7; ++state) {
      const uint32_t expected = state == 6 ? n_silence : std::max(n_gaussians, 1u);
      EXPECT_EQ(model.codebooks[model.state_codebook[state]].n_gaussians, expected) << state;
    }
  }
}

TEST(Trainer, LikelihoodRisesWithinAStep) {
  Speech speech;
  speech.say_much();
  Recipe recipe = flat_recipe();
  recipe.n_gaussians = 2;
  recipe.min_frames = 1;
  std::vector<RoundReport> rounds;
  speech.train(recipe, 2, &rounds);
  size_t n_compared = 0;
  for (size_t i = 1; i < rounds.size(); ++i) {
    if (rounds[i].step != rounds[i - 1].step) continue;
    EXPECT_GE(rounds[i].log_likelihood, rounds[i - 1].log_likelihood - 1e-9) << "step " << rounds[i].step;
    ++n_compared;
  }
  EXPECT_GE(n_compared, 6u);
  EXPECT_EQ(rounds.back().step, rounds.back().n_steps);
}

// A warning tells of it before the round is reported, which is the first to end.
TEST(Trainer, TheHostTakesOverFromADeviceThatFails) {
  Speech speech;
  speech.say_much();
  const AcousticModel expected = speech.train(flat_recipe());
  test::FailingSums::fails_in = "add";
  std::vector<std::string> heard;
  const auto train = [&](size_t fails_after) {
    heard.clear();
    return speech.train(flat_recipe(), test::FailingSums::entry(), 2,
                        {[](double, const std::string &) {},
                         [&](const RoundReport &report) {
                           heard.push_back("round " + std::to_string(report.round));
                           if (heard.size() > fails_after) fail(ASR_IO, "failed for this test");
                         },
                         [&](const std::string &warning) { heard.push_back(warning); }});
  };
  const AcousticModel model = train(SIZE_MAX);
  EXPECT_EQ(model.means, expected.means);
  EXPECT_EQ(model.precisions, expected.precisions);
  ASSERT_GE(heard.size(), 3u);
  EXPECT_EQ(heard[0].rfind("cpu:0: ", 0), 0u) << heard[0];
  EXPECT_NE(heard[0].find("; the host sums the statistics from here on"), std::string::npos) << heard[0];
  for (size_t i = 1; i < heard.size(); ++i) EXPECT_EQ(heard[i].rfind("round ", 0), 0u) << heard[i];
  // Training that fails later has warned.
  test::expect_error([&] { train(2); }, ASR_IO, "failed for this test");
  ASSERT_EQ(heard.size(), 3u);
  EXPECT_EQ(heard[0].rfind("cpu:0: ", 0), 0u) << heard[0];
}

TEST(Trainer, ShortUtterancesAreLeftOut) {
  Speech speech;
  speech.say_much();
  speech.say({"ab"}, {0, 1, 2}, 1);  // three frames, four states without the silence
  speech.train(flat_recipe());
  ASSERT_EQ(speech.left_out().size(), 1u);
  EXPECT_EQ(speech.left_out().begin()->first, 100u);
}

TEST(Trainer, NothingToAlignIsAnError) {
  Speech speech;
  speech.say({"ab"}, {0, 1, 2}, 1);
  speech.say({"ca"}, {4, 0}, 1);
  test::expect_error(
      [&] { speech.train(flat_recipe()); }, ASR_BAD_FILE,
      "none of 2 utterances can be aligned; the first, utterance0: its 3 frames are fewer than the 6 states of its "
      "words and of silence around them; check its transcript");
}

// A model aligns utterances with frames for their words, though not for silence around them.
TEST(Trainer, ShortUtterancesAreTrainedOnWithAModel) {
  Speech speech;
  speech.say({"ab"}, {0, 1, 2, 3}, 1);
  Recipe recipe;
  recipe.beam = 1e5;
  speech.train(recipe);
  EXPECT_TRUE(speech.left_out().empty());
}

TEST(TranscriptGraphs, TellsTheUnknownWord) {
  const Speech speech;
  EXPECT_EQ(speech.graphs().unknown_word({"ab", "bc"}), "");
  EXPECT_EQ(speech.graphs().unknown_word({"ab", "cab", "x"}), "cab");
}

TEST(TranscriptGraphs, StatesAreOfTheFirstPronunciations) {
  const Speech speech;
  EXPECT_EQ(speech.graphs().states({"bc", "ab"}), (std::vector<uint32_t>{6, 2, 3, 4, 5, 0, 1, 2, 3, 6}));
}

TEST(EqualStretches, AreAsEqualAsCanBe) {
  EXPECT_EQ(equal_stretches({7, 8}, 5), (std::vector<uint32_t>{7, 7, 7, 8, 8}));
  EXPECT_EQ(equal_stretches({7, 8}, 2), (std::vector<uint32_t>{7, 8}));
  EXPECT_TRUE(equal_stretches({7, 8}, 1).empty());
  EXPECT_TRUE(equal_stretches({}, 5).empty());
}

TEST(Recipe, SizesAreDoubledUpToTheLast) {
  Recipe recipe = flat_recipe();
  recipe.n_gaussians = 6;
  recipe.full = true;
  const std::vector<TrainingStep> steps = steps_of(recipe, 9);
  std::vector<uint32_t> sizes;
  for (const TrainingStep &step : steps) {
    if (step.n_gaussians > 0) sizes.push_back(step.n_gaussians);
  }
  EXPECT_EQ(sizes, (std::vector<uint32_t>{2, 4, 6}));
  EXPECT_TRUE(steps[0].equal_stretches);
  size_t n_untied = 0, n_full = 0, n_equal = 0;
  for (const TrainingStep &step : steps) {
    n_untied += step.unties;
    n_full += step.makes_full;
    n_equal += step.equal_stretches;
  }
  EXPECT_EQ(n_untied, 1u);
  EXPECT_EQ(n_full, 1u);
  EXPECT_EQ(n_equal, 1u);
  recipe = {};
  recipe.n_gaussians = 8;  // as the start has
  EXPECT_EQ(steps_of(recipe, 8).size(), recipe.n_alignments);
}

TEST(RowsFile, HasNoNameAndKeepsRows) {
  const test::Scratch scratch;
  RowsFile file(scratch / "rows", 2);
  struct stat status {};
  EXPECT_NE(stat((scratch / "rows").c_str(), &status), 0);
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  file.add(rows.data(), 1);
  file.add(rows.data() + 2, 2);
  ASSERT_EQ(file.n_rows(), 3u);
  EXPECT_EQ(std::vector<float>(file.map(), file.map() + 6), rows);
}

TEST(RowsFile, TransformsItsRows) {
  const test::Scratch scratch;
  RowsFile file(scratch / "rows", 2);
  std::vector<float> rows;
  for (int i = 0; i < 5000; ++i) rows.insert(rows.end(), {float(i), 1});
  file.add(rows.data(), 5000);
  const float *const mapped = file.map();
  ThreadPool pool(3);
  file.transform({2, 1, -1, 3}, &pool);
  for (ptrdiff_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(mapped[2 * i], 2 * i + 1);
    ASSERT_EQ(mapped[2 * i + 1], 3 - i);
  }
}

// The limit of a file's size simulates a full disk: a part of the rows is written before it is met.
TEST(RowsFile, KeepsItsRowsWhereTheDiskIsFull) {
  const test::Scratch scratch;
  RowsFile file(scratch / "rows", 2);
  const std::vector<float> rows = {1, 2, 3, 4, 5, 6};
  file.add(rows.data(), 1);
  rlimit whole{};
  getrlimit(RLIMIT_FSIZE, &whole);
  const rlimit small{12, whole.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  test::expect_error([&] { file.add(rows.data() + 2, 2); }, ASR_IO, "the file of features cannot be written");
  setrlimit(RLIMIT_FSIZE, &whole);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(file.n_rows(), 1u);
  file.add(rows.data() + 2, 2);
  EXPECT_EQ(std::vector<float>(file.map(), file.map() + 6), rows);
}

TEST(RowsFile, SaysWhereItCannotBe) {
  test::expect_error([] { RowsFile("/nowhere/rows", 2); }, ASR_IO, "/nowhere/rows: the file of features cannot be created");
}

}  // namespace
}  // namespace asr::train
