// SPDX-License-Identifier: Apache-2.0
// `senone train`: a bundle from recordings, their texts and a dictionary, without another model (docs/training.md).
#include <algorithm>
#include <cinttypes>
#include <memory>

#include "builder/align/dictionary_words.h"
#include "builder/text/text_file.h"
#include "builder/train/new/lda.h"
#include "builder/train/new/stages.h"
#include "builder/train/semi_tied.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "tools/audio_file.h"
#include "tools/progress.h"
#include "tools/train.h"
#include "tools/training_recordings.h"

namespace asr::tool {
namespace {

constexpr uint32_t kMonophoneGaussians = 8;
constexpr uint32_t kLdaContext = 3;                         // frames on each side
constexpr uint64_t kFramesOfLeaf = 800, kMaxLeaves = 6000;  // of the default tree

struct TrainArguments {
  std::vector<std::string> data;
  std::string lexicon, g2p, transcripts, out, until = "lda", device = "cpu";
  uint32_t n_jobs = 0, n_gaussians = 8, n_lda = 40;
  uint32_t n_leaves = 0;  // 0: by the frames
};

void check(const TrainArguments &arguments) {
  if (arguments.data.empty()) throw UsageError("train: no recordings; name folders, tables or lists of them");
  if (arguments.lexicon.empty()) throw UsageError("train: give the dictionary, --lexicon");
  if (arguments.out.empty()) throw UsageError("train: give the bundle to make, --out");
}

// Kaldi's MFCCs with deltas; of telephone speech if the recordings have less than 16 kHz.
FrontEnd front_end_of(uint32_t rate_hz) {
  FrontEnd front_end = kaldi_front_end();
  front_end.use_energy = false;
  front_end.cmn = CmnKind::kBatch;
  front_end.dynamic = DynamicKind::kRegressionSquared;
  if (rate_hz < 16000) {
    front_end.sample_rate_hz = 8000;
    front_end.window_samples = 200;
    front_end.shift_samples = 80;
    front_end.fft_samples = 256;
    front_end.high_hz = 4000;
    front_end.vtln_high_hz = 3500;
  }
  return front_end;
}

// Replaces texts by words of the dictionary. Recordings with other words are left out.
Lexicon find_words(const TrainArguments &arguments, const HmmSet &set, TrainingRecordings *recordings) {
  DictionaryWords dictionary(arguments.lexicon, set, arguments.g2p, 1);
  std::vector<std::string> all;
  std::vector<TrainingRecording> kept;
  for (TrainingRecording &recording : recordings->recordings) {
    try {
      for (std::string &word : recording.text) word = dictionary.form_of(word);
    } catch (const Error &error) {
      if (error.code() == ASR_OUT_OF_MEMORY) throw;
      std::string why = error.what();
      const std::string of_library = "asr_aligner_config.g2p";
      if (const size_t at = why.find(of_library); at != std::string::npos) why.replace(at, of_library.size(), "--g2p");
      recordings->left_out.push_back(recording.id + ": " + why);
      continue;
    }
    all.insert(all.end(), recording.text.begin(), recording.text.end());
    kept.push_back(std::move(recording));
  }
  if (kept.empty()) {
    fail(ASR_BAD_FILE, "no recording has only words of %s; the first, %s", arguments.lexicon.c_str(),
         recordings->left_out.front().c_str());
  }
  recordings->recordings = std::move(kept);
  return dictionary.lexicon_of(all);
}

void print_round(const char *stage, const train::RoundReport &report) {
  printf("%s: step %zu of %zu, round %u: %" PRIu64 " Gaussians, log-likelihood per frame %.4f", stage, report.step,
         report.n_steps, report.round, report.n_gaussians, report.log_likelihood);
  if (report.n_left_out > 0) printf(", %zu utterances not aligned", report.n_left_out);
  printf("\n");
  flush_stdout();
}

class TrainRun {
 public:
  explicit TrainRun(const TrainArguments &arguments)
      : arguments_(arguments),
        directory_(arguments.out),
        recordings_(read_training_recordings(arguments.data, arguments.transcripts)),
        monophones_(train::make_monophones(
            train::phones_of_dictionary(read_text(arguments.lexicon, {"a dictionary"}), arguments.lexicon), arguments.lexicon)),
        lexicon_(find_words(arguments, monophones_, &recordings_)),
        front_end_(front_end_of(sample_rate_of(recordings_))),
        device_(choose_device(arguments.device), train::ForcedAligner::options(arguments.n_jobs)),
        pool_(arguments.n_jobs) {}

  void run() {
    Progress progress("training");
    progress_ = &progress;
    train::Stage stage = train_stages();
    progress.update(-1, "writing " + arguments_.out);
    for (const auto &[number, why] : stage.left_out) recordings_.left_out.push_back(utterances_[number].id + ": " + why);
    write(stage);
    progress.hide();
    report(stage);
  }

 private:
  const TrainArguments &arguments_;
  const double start_s_ = wall_seconds();
  OutputDirectory directory_;
  TrainingRecordings recordings_;
  const HmmSet monophones_;
  const Lexicon lexicon_;
  FrontEnd front_end_;
  const Device device_;
  ThreadPool pool_;
  Progress *progress_ = nullptr;
  std::vector<train::TrainingUtterance> utterances_;

  train::StageData data(const char *stage) {
    return {
        device_,
        lexicon_,
        utterances_,
        &pool_,
        arguments_.out,
        {[this, stage](double share, const std::string &what) { progress_->update(share, std::string(stage) + ", " + what); },
         [this, stage](const train::RoundReport &report) {
           progress_->hide();
           print_round(stage, report);
         },
         [this](const std::string &warning) {
           progress_->hide();
           print_line(stderr, "senone: warning: %s", warning.c_str());
         }}};
  }

  std::unique_ptr<train::RowsFile> extract_rows(const FrontEnd &front_end) {
    auto rows = std::make_unique<train::RowsFile>(directory_.file("rows"), front_end.n_dims());
    RecordingRows reader(device_, front_end, "model", train::ForcedAligner::options(1).window_frames,
                         AudioOptions().raw_rate_hz);
    utterances_ = extract(&reader, progress_, &recordings_, rows.get());
    if (!utterances_.empty()) return rows;
    fail(ASR_BAD_FILE, "none of the recordings can be trained on; the first, %s", recordings_.left_out.front().c_str());
  }

  train::Stage train_stages() {
    train::Stage stage;
    {
      const auto rows = extract_rows(front_end_);
      train::Recipe recipe;
      recipe.flat = true;
      recipe.n_gaussians = kMonophoneGaussians;
      stage = train_monophones(data("monophones"), monophones_, rows.get(), recipe);
      if (arguments_.until == "monophones") return stage;
      stage = train_in_context(data("triphones"), stage, rows.get(), tree_of(stage), recipe_in_context());
      if (arguments_.until == "triphones") return stage;
    }
    const auto rows = lda_rows(stage);
    train::Recipe recipe = recipe_in_context();
    recipe.semi_tied = true;
    stage = train_in_context(data("LDA and MLLT"), stage, rows.get(), tree_of(stage), recipe);
    train::append_transform(stage.transform, &front_end_);
    return stage;
  }

  train::TreeOptions tree_of(const train::Stage &stage) const {
    train::TreeOptions tree;
    tree.n_leaves = arguments_.n_leaves;
    if (tree.n_leaves == 0) tree.n_leaves = static_cast<uint32_t>(std::min(stage.n_rows / kFramesOfLeaf, kMaxLeaves));
    return tree;
  }

  train::Recipe recipe_in_context() const {
    train::Recipe recipe;
    recipe.n_gaussians = arguments_.n_gaussians;
    return recipe;
  }

  // The front end gets the transform.
  std::unique_ptr<train::RowsFile> lda_rows(const train::Stage &stage) {
    front_end_.dynamic = DynamicKind::kNone;
    const auto cepstra = extract_rows(front_end_);
    const uint32_t n_ceps = front_end_.n_ceps;
    const std::vector<double> transform =
        train::lda_transform(cepstra->map(), n_ceps, utterances_, stage.rows.pdfs, kLdaContext, arguments_.n_lda, &pool_);
    auto rows = std::make_unique<train::RowsFile>(directory_.file("rows"), arguments_.n_lda);
    train::add_transformed(transform, cepstra->map(), n_ceps, utterances_, kLdaContext, &pool_, rows.get());
    front_end_.dynamic = DynamicKind::kSplice;
    front_end_.splice_left = front_end_.splice_right = kLdaContext;
    front_end_.transform.assign(transform.begin(), transform.end());
    front_end_.transform_rows = arguments_.n_lda;
    front_end_.transform_cols = (2 * kLdaContext + 1) * n_ceps;
    return rows;
  }

  void write(const train::Stage &stage) {
    Bundle bundle;
    bundle.name = arguments_.out;
    bundle.source = "senone train";
    bundle.front_end = front_end_;
    bundle.decoding.acoustic_scale = 0.06;
    bundle.decoding.word_insertion_cost = 2;
    bundle.made_by.push_back(this_step());
    write_acoustic_model(stage.acoustic, directory_.file("acoustic.bin"));
    write_hmm_set(stage.set, directory_.file("hmms.bin"));
    write_bundle_index(bundle, directory_, {"acoustic.bin", "hmms.bin"});
    directory_.commit();
  }

  void report(const train::Stage &stage) const {
    for (const std::string &why : recordings_.left_out) print_line(stderr, "senone: warning: left out: %s", why.c_str());
    const size_t n_used = utterances_.size() - stage.left_out.size();
    const size_t n_all = n_used + recordings_.left_out.size();
    print_line(stdout, "%s: %" PRIu64 " Gaussians of %u states, from %zu recordings, %" PRIu64 " frames",
               arguments_.out.c_str(), stage.acoustic.n_gaussians(), stage.acoustic.n_states, n_used, stage.n_rows);
    printf("%.1f s, peak memory %.0f MB\n", wall_seconds() - start_s_, double(peak_memory_bytes()) / 1e6);
    if (n_used == n_all) return;
    fail(ASR_BAD_FILE, "%zu of %zu recordings were left out; the model is made of the others", n_all - n_used, n_all);
  }
};

}  // namespace

void add_train_new(Command train) {
  const auto arguments = std::make_shared<TrainArguments>();
  train.option(
      "data", arguments->data,
      "Recordings: folders with a text beside each, data directories of Kaldi, tables (.csv, .tsv), lists `path [id]`");
  train.option("--lexicon", arguments->lexicon, "Dictionary of the words and their phones");
  train.option("--g2p", arguments->g2p, "Model of senone g2p, which pronounces the words that the dictionary lacks");
  train.option("--transcripts", arguments->transcripts,
               "What is said: lines `words (id)`, or `id words`; default: beside the recordings");
  train.option("--out", arguments->out, "Bundle to make, or an older one to replace");
  train.option("--until", arguments->until, "Last stage")
      .one_of(std::vector<std::string>{"monophones", "triphones", "lda"})
      .shows_default();
  train.option("--gaussians", arguments->n_gaussians, "Gaussians of a state in context").range(1u, 4096u).shows_default();
  train.option("--leaves", arguments->n_leaves, "States in context, at most; default: one for 800 frames, up to 6000")
      .range(1u, kMaxPdfs);
  train.option("--lda-dims", arguments->n_lda, "Features that the transform keeps").range(1u, 91u).shows_default();
  train.option("--device", arguments->device, "What aligns and sums statistics (see `senone devices`)").shows_default();
  train.option("--jobs", arguments->n_jobs, "Threads; default: one for each core; does not change the result")
      .range(1u, kMaxThreads);
  add_quiet(train);
  train.callback([arguments, train] {
    if (train.got_command()) return;
    check(*arguments);
    TrainRun(*arguments).run();
  });
}

}  // namespace asr::tool
