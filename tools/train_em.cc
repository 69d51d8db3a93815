// SPDX-License-Identifier: Apache-2.0
// `senone train em`: new Gaussians for a bundle's states, by expectation and maximisation on transcribed speech
// (docs/training.md).
#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include "builder/graph/bundle_parts.h"
#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "builder/train/semi_tied.h"
#include "builder/train/trainer.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "tools/bundle_files.h"
#include "tools/progress.h"
#include "tools/recording_rows.h"
#include "tools/train.h"
#include "tools/utterance_source.h"
#include "tools/word_errors.h"

namespace asr::tool {
namespace {

constexpr uint32_t kMaxCovarianceClasses = 65536;

struct TrainEmArguments {
  RecognizeOptions recordings;  // model, list, features, cmn, ...
  std::string lexicon, transcripts, out, device = "cpu", smooth_to, shared_covariances, shared_correlations;
  std::optional<double> smooth;
  uint32_t n_jobs = 0;
  GraphOptions graph;
  train::Recipe recipe;
};

void check(const TrainEmArguments &arguments) {
  const RecognizeOptions &recordings = arguments.recordings;
  if (recordings.list.empty() == recordings.features.empty()) throw UsageError("train em: give one of --list and --features");
  if (recordings.features.empty() && !recordings.cmvn.empty()) throw UsageError("train em: --cmvn is for --features");
  if (recordings.cmvn.empty() && !recordings.utt2spk.empty()) throw UsageError("train em: --utt2spk is for --cmvn");
  const train::Recipe &recipe = arguments.recipe;
  if (recipe.tied && !recipe.flat) throw UsageError("train em: --tied is for --flat; give it too");
  if (recipe.full && recipe.semi_tied) {
    throw UsageError(
        "train em: --semi-tied is for diagonal covariances, and --full ones are the same in any space; give one of the two");
  }
}

void check_semi_tied(const TrainEmArguments &arguments, const AcousticModel &start, bool full) {
  const std::string &model = arguments.recordings.model;
  if (full) {
    throw UsageError("train em: --semi-tied is for diagonal covariances, and " + model +
                     " has full ones; leave it out, or give --flat");
  }
  if (!train::may_be_semi_tied(start.streams, start.n_dims)) {
    fail(ASR_UNSUPPORTED,
         "train em: --semi-tied transforms all features at once, but %s has %zu streams of them; leave it out, or train a "
         "model with one stream of all features",
         model.c_str(), start.streams.size());
  }
  if (start.n_dims > kMaxFullDims) {
    fail(ASR_UNSUPPORTED, "train em: --semi-tied is for up to %u features, but %s has %u; leave it out", kMaxFullDims,
         model.c_str(), start.n_dims);
  }
}

// Throws UsageError for options that training from this start would not use.
void check_options_of(const TrainEmArguments &arguments, const AcousticModel &start) {
  const train::Recipe &recipe = arguments.recipe;
  const bool full = recipe.full || (!recipe.flat && start.covariance == ASR_COVARIANCE_FULL);
  if (!full && (arguments.smooth || !arguments.smooth_to.empty())) {
    throw UsageError("train em: --smooth and --smooth-to are for full covariances; give --full too");
  }
  if (!full && !(arguments.shared_covariances + arguments.shared_correlations).empty()) {
    throw UsageError("train em: --share-covariances and --share-correlations are for full covariances; give --full too");
  }
  if (recipe.semi_tied) check_semi_tied(arguments, start, full);
  const uint32_t most = train::max_gaussians(start);
  if (!recipe.flat && recipe.n_gaussians > 0 && recipe.n_gaussians < most) {
    throw UsageError(format("train em: --gaussians %u is below the %u that a state of %s has; give more, or --flat",
                            recipe.n_gaussians, most, arguments.recordings.model.c_str()));
  }
}

// The training data as it is read: utterances with words that have pronunciations, and their rows.
class TrainingData {
 public:
  TrainingData(const TrainEmArguments &arguments, const Bundle &bundle, const train::TranscriptGraphs &graphs,
               const FileAt &rows_place)
      : graphs_(graphs),
        data_path_(arguments.recordings.list + arguments.recordings.features),
        lexicon_path_(arguments.lexicon),
        transcripts_path_(arguments.transcripts),
        transcripts_(parse_transcripts(read_text(arguments.transcripts, {"a file of transcripts"}), arguments.transcripts, {})),
        rows_(rows_place, bundle.front_end.n_dims()) {}

  // Returns the words of an utterance. Notes a reason and returns nullptr if it cannot be trained on. Throws if an
  // utterance of its name was there before: one of the two has the other's transcript.
  const Words *words_of(const Utterance &utterance) {
    if (!ids_.insert(utterance.id).second) {
      fail(ASR_BAD_FILE, "%s: utterance \"%s\" is there twice; give each recording an id of its own, as in its transcript",
           data_path_.c_str(), utterance.id.c_str());
    }
    const auto found = transcripts_.find(to_nfc(utterance.id));
    if (found == transcripts_.end()) {
      leave_out(utterance.id, transcripts_path_ + " has no line for it; check that both have the same ids");
      return nullptr;
    }
    ++n_matched_;
    const std::string unknown = graphs_.unknown_word(found->second);
    if (found->second.empty()) {
      leave_out(utterance.id, transcripts_path_ + " has no words for it; write what was said");
    } else if (!unknown.empty()) {
      leave_out(utterance.id, graphs_.why_unknown(unknown) + "; add it to " + lexicon_path_ + ", or correct the transcript");
    } else {
      return &found->second;
    }
    return nullptr;
  }

  void add(const std::string &id, const Words &words, const std::vector<float> &rows) {
    const uint64_t n_rows = rows.size() / rows_.n_dims();
    const auto is_usable = [](float value) { return std::abs(value) <= train::kMaxFeature; };  // NaN is not
    if (!std::all_of(rows.begin(), rows.end(), is_usable))
      return leave_out(id, "a feature is not a number, or beyond 1e10; check what made it");
    if (n_rows == 0 || n_rows > UINT32_MAX) return leave_out(id, "it has no frames; check that it is not empty");
    const uint64_t first_row = rows_.n_rows();
    rows_.add(rows.data(), n_rows);
    utterances_.push_back({id, words, first_row, static_cast<uint32_t>(n_rows)});
  }

  void leave_out(const std::string &id, const std::string &why) {
    const bool is_named = why.compare(0, id.size() + 2, id + ": ") == 0;  // errors of archives name the utterance
    left_out_.push_back(is_named ? why : id + ": " + why);
  }

  const std::vector<train::TrainingUtterance> &utterances() const { return utterances_; }
  train::RowsFile *rows() { return &rows_; }
  std::vector<std::string> &left_out() { return left_out_; }
  size_t n_transcripts() const { return transcripts_.size(); }
  size_t n_unheard() const { return transcripts_.size() - n_matched_; }  // transcripts that no recording has

 private:
  const train::TranscriptGraphs &graphs_;
  const std::string data_path_, lexicon_path_, transcripts_path_;
  const Transcripts transcripts_;
  std::set<std::string> ids_;  // all that were asked for
  size_t n_matched_ = 0;       // utterances with a transcript
  std::vector<train::TrainingUtterance> utterances_;
  train::RowsFile rows_;
  std::vector<std::string> left_out_;  // with reasons
};

// Rows of an archive that are the model's features already would not fit the model with a new transform.
void check_transformable(const TrainEmArguments &arguments, const FrontEnd &front_end, const Utterance &utterance) {
  if (!arguments.recipe.semi_tied || utterance.input != ASR_INPUT_FEATURES) return;
  const bool are_cepstra = utterance.row_length == front_end.n_ceps &&
                           (front_end.n_ceps != front_end.n_dims() || !arguments.recordings.cmvn.empty());
  if (are_cepstra || utterance.row_length != front_end.n_dims()) return;
  throw UsageError("train em: --semi-tied changes the model's features, and " + arguments.recordings.features +
                   " has them as they were; give recordings or MFCCs");
}

void read_data(const TrainEmArguments &arguments, const Bundle &bundle, const Device &device, Progress *progress,
               TrainingData *data) {
  UtteranceSource source(arguments.recordings);
  RecordingRows reader(device, bundle.front_end, arguments.recordings.cmn, train::ForcedAligner::options(1).window_frames,
                       arguments.recordings.audio.raw_rate_hz);
  asr_engine_info info{};
  info.n_feature_dims = bundle.front_end.n_dims();
  size_t n = 0;
  for (Utterance utterance; source.next(&utterance); ++n) {
    const double share = source.size() ? static_cast<double>(n) / static_cast<double>(*source.size()) : -1;
    progress->update(share, "reading features");
    if (!utterance.error.empty()) {
      if (arguments.recordings.features.rfind("ark:", 0) == 0) fail(ASR_BAD_FILE, "%s", utterance.error.c_str());
      data->leave_out(utterance.id, utterance.error);  // the other lines of a list are as good as without it
      continue;
    }
    const Words *const words = data->words_of(utterance);
    if (words == nullptr) continue;
    if (!utterance.warning.empty()) print_line(stderr, "senone: warning: %s", utterance.warning.c_str());
    try {
      check_transformable(arguments, bundle.front_end, utterance);
      source.prepare(&utterance, info);
      if (utterance.input == ASR_INPUT_FLOAT) utterance.rows = reader.read(utterance.path);
    } catch (const Error &error) {
      if (error.code() == ASR_OUT_OF_MEMORY || error.code() == ASR_DEVICE_LOST) throw;
      data->leave_out(utterance.id, error.what());
      continue;
    }
    data->add(utterance.id, *words, utterance.rows);
  }
  if (!data->utterances().empty()) return;
  const std::string path = arguments.recordings.list + arguments.recordings.features;
  if (n == 0) fail(ASR_BAD_FILE, "%s: has no utterances; check what wrote it", path.c_str());
  fail(ASR_BAD_FILE, "%s: none of its %zu utterances can be trained on; the first, %s", path.c_str(), n,
       data->left_out().front().c_str());
}

void print_left_out(const std::vector<std::string> &utterances) {
  for (const std::string &utterance : utterances) print_line(stderr, "senone: warning: left out: %s", utterance.c_str());
}

void print_round(const train::RoundReport &report) {
  printf("step %zu of %zu, round %u: %" PRIu64 " Gaussians, log-likelihood per frame %.4f", report.step, report.n_steps,
         report.round, report.n_gaussians, report.log_likelihood);
  if (report.n_left_out > 0) printf(", %zu utterances not aligned", report.n_left_out);
  printf("\n");
  flush_stdout();
}

void write_bundle(Bundle bundle, const AcousticModel &model, OutputDirectory *directory) {
  std::vector<std::string> names = {"acoustic.bin"};
  write_acoustic_model(model, directory->file("acoustic.bin"));
  keep_files(bundle, *directory, &names);
  bundle.made_by.push_back(this_step());
  write_bundle_index(bundle, *directory, names);
  directory->commit();
}

void print_summary(const AcousticModel &model, const std::string &out, size_t n_utterances, uint64_t n_frames,
                   const std::string &summed_by, double start_s) {
  const size_t n_parameters = model.means.size() + model.precisions.size() + model.log_weights.size();
  print_line(stdout, "%s: %" PRIu64 " Gaussians with %s covariances, %zu parameters, from %zu utterances, %" PRIu64 " frames",
             out.c_str(), model.n_gaussians(), model.covariance == ASR_COVARIANCE_FULL ? "full" : "diagonal", n_parameters,
             n_utterances, n_frames);
  printf("%.1f s, peak memory %.0f MB, statistics by %s\n", wall_seconds() - start_s, double(peak_memory_bytes()) / 1e6,
         summed_by.c_str());
}

std::string summed_by(const train::DeviceSums *sums) {
  if (sums == nullptr || !sums->has_summed()) return "the host";
  return sums->device_id() + (sums->failure().empty() ? "" : ", then the host");
}

void run_train_em(const TrainEmArguments &arguments) {
  check(arguments);
  const double start_s = wall_seconds();
  OutputDirectory directory(arguments.out);
  Bundle bundle = read_bundle(arguments.recordings.model);
  check_has_gaussians(bundle);
  if (arguments.recordings.features.empty()) check_takes_audio(bundle);
  const HmmSet set = read_hmms(bundle);
  check_contexts(bundle, set);
  const AcousticModel start = read_acoustic_model(bundle.file("acoustic.bin"));
  check_options_of(arguments, start);
  size_t n_left_out = 0;
  GraphOptions options = arguments.graph;
  options.filler_phones = filler_phones(bundle, set);
  const train::TranscriptGraphs graphs(set, read_sphinx_lexicon(arguments.lexicon, set, &n_left_out), options);
  const Device device(choose_device(arguments.device), train::ForcedAligner::options(arguments.n_jobs));
  ThreadPool pool(arguments.n_jobs);
  TrainingData data(arguments, bundle, graphs, directory.file("rows"));
  AcousticModel model;
  uint64_t n_frames = 0;
  size_t n_all = 0;
  std::string summer;
  {
    Progress progress("training");
    read_data(arguments, bundle, device, &progress, &data);
    n_all = data.utterances().size() + data.left_out().size();
    const train::TrainingReports reports{[&](double share, const std::string &what) { progress.update(share, what); },
                                         [&](const train::RoundReport &report) {
                                           progress.hide();
                                           print_round(report);
                                         },
                                         [&](const std::string &warning) {
                                           progress.hide();
                                           print_line(stderr, "senone: warning: %s", warning.c_str());
                                         }};
    train::Trainer trainer(device, set, graphs, data.rows(), data.utterances(), &pool, reports);
    model = trainer.train(start, arguments.recipe, arguments.out);
    if (arguments.recipe.semi_tied) train::append_transform(trainer.transform(), &bundle.front_end);
    n_frames = trainer.n_rows();
    summer = summed_by(trainer.device_sums());
    for (const auto &[number, why] : trainer.left_out()) data.leave_out(data.utterances()[number].id, why);
    progress.update(-1, "writing " + arguments.out);
    write_bundle(bundle, model, &directory);
  }
  if (n_left_out > 0) {
    print_line(stderr, "senone: warning: %s", list_left_out(graphs.lexicon(), n_left_out, arguments.lexicon).c_str());
  }
  print_left_out(data.left_out());
  if (data.n_unheard() > 0) {
    print_line(stderr, "senone: note: %zu of %zu lines of %s have no recording", data.n_unheard(), data.n_transcripts(),
               arguments.transcripts.c_str());
  }
  const size_t n_unused = data.left_out().size();
  print_summary(model, arguments.out, n_all - n_unused, n_frames, summer, start_s);
  if (n_unused > 0) fail(ASR_BAD_FILE, "%zu of %zu utterances were left out; the model is made of the others", n_unused, n_all);
}

// Reads --share-covariances or --share-correlations.
void set_sharing(const TrainEmArguments &arguments, train::Recipe *recipe) {
  recipe->shares_correlations = !arguments.shared_correlations.empty();
  const std::string sharing = arguments.shared_covariances + arguments.shared_correlations;
  if (sharing.empty()) return;
  if (sharing == "state") {
    recipe->sharing = train::CovarianceSharing::kState;
  } else if (sharing == "all") {
    recipe->sharing = train::CovarianceSharing::kAll;
  } else {
    const auto [end, error] = std::from_chars(sharing.data(), sharing.data() + sharing.size(), recipe->n_covariance_classes);
    if (error != std::errc() || end != sharing.data() + sharing.size() || recipe->n_covariance_classes < 2 ||
        recipe->n_covariance_classes > kMaxCovarianceClasses) {
      throw UsageError(format("train em: --share-%s \"%s\" must be state, all, or a number of classes of 2..%u",
                              recipe->shares_correlations ? "correlations" : "covariances", sharing.c_str(),
                              kMaxCovarianceClasses));
    }
    recipe->sharing = train::CovarianceSharing::kClasses;
  }
}

void add_data_options(Command command, TrainEmArguments *arguments) {
  RecognizeOptions &recordings = arguments->recordings;
  command.option("--model", recordings.model, "Bundle whose HMMs, contexts and front end the new one has").required();
  command.option("--lexicon", arguments->lexicon, "Dictionary in CMU Sphinx form").required();
  command.option("--list", recordings.list, "File of recordings: a line each, path and optional id");
  command.option("--features", recordings.features, "Archive of Kaldi instead of recordings: features, or MFCCs");
  command.option("--cmvn", recordings.cmvn, "Archive of CMVN statistics for the MFCCs of --features, instead of --cmn");
  command.option("--utt2spk", recordings.utt2spk, "Lines `utterance speaker`: who speaks, for --cmvn");
  command.option("--transcripts", arguments->transcripts, "What was said: lines `words (id)`, or `id words`").required();
  command.option("--out", arguments->out, "Bundle to make, or an older one to replace").required();
  command.option("--cmn", recordings.cmn, "Cepstral mean: of the model's choice, running, of the recording, none")
      .one_of({"model", "live", "batch", "none"})
      .shows_default();
  command.option("--raw-rate", recordings.audio.raw_rate_hz, "Sample rate of .raw files (16-bit little-endian mono)")
      .range(kMinSampleRateHz, kMaxSampleRateHz)
      .shows_default();
  command
      .option("--device", arguments->device,
              "What aligns utterances and sums statistics (see `senone devices`); does not change sums")
      .shows_default();
  command.option("--jobs", arguments->n_jobs, "Threads; default: one for each core; does not change the result")
      .range(1u, kMaxThreads);
}

void add_train_em_options(Command command, TrainEmArguments *arguments) {
  train::Recipe *const recipe = &arguments->recipe;
  command.flag("--flat", recipe->flat, "Begin with the mean and variance of all data instead of the model's Gaussians");
  command.flag("--tied", recipe->tied, "With --flat: states of a phone share Gaussians, whatever its neighbours");
  command.flag("--full", recipe->full, "Train full covariances");
  command.option(
      "--share-covariances", arguments->shared_covariances,
      "With --full: the Gaussians that have a covariance in common: those of a `state`, `all`, or those of each of N "
      "classes that are found by likelihood; default: none");
  command
      .option("--share-correlations", arguments->shared_correlations,
              "With --full: the Gaussians that have correlations in common, and variances of their own: the same values; "
              "default: none")
      .excludes("--share-covariances");
  command.flag("--semi-tied", recipe->semi_tied,
               "Estimate a transform of the features in which diagonal covariances fit best; it joins the front end");
  command.option("--gaussians", recipe->n_gaussians, "Gaussians of a state, by splitting; default: as the start has")
      .range(1u, 4096u);
  command
      .option("--silence-gaussians", recipe->n_silence_gaussians,
              "The same for states of silence and fillers alone; default: as --gaussians")
      .range(1u, 4096u);
  command.option("--rounds", recipe->n_rounds, "Rounds of estimation after an alignment").range(1u, 1000u).shows_default();
  command.option("--alignments", recipe->n_alignments, "Alignments with each number of Gaussians")
      .range(1u, 1000u)
      .shows_default();
  command.option("--variance-floor", recipe->variance_floor, "Least variance, as a share of that of all data")
      .range(1e-6, 1.0)
      .shows_default();
  command
      .option("--smooth", arguments->smooth,
              "With --full: frames of a prior that draws covariances towards what --smooth-to says; default: 200")
      .range(0.0, 1e9);
  command
      .option("--smooth-to", arguments->smooth_to,
              "Their diagonals, or the correlations that all Gaussians have in the mean; default: shared")
      .one_of(std::vector<std::string>{"diagonal", "shared"});
  command.option("--min-frames", recipe->min_frames, "Fewest frames that a Gaussian is estimated from")
      .range(1.0, 1e9)
      .shows_default();
  command
      .option("--weight-prior", recipe->weight_prior,
              "Frames of a prior that draws the weights of states that share Gaussians towards the start's")
      .range(0.0, 1e9)
      .shows_default();
  command.option("--beam", recipe->beam, "Width of the search that aligns (natural log)")
      .range(1.0, static_cast<double>(kMaxBeam))
      .shows_default();
  command
      .option("--lattice-beam", recipe->lattice_beam,
              "Share frames among the states of all alignments within this of the best (natural log); default: the best alone")
      .range(1e-3, static_cast<double>(kMaxBeam));
}

}  // namespace

void add_train_em(Command train) {
  const auto arguments = std::make_shared<TrainEmArguments>();
  Command command = train.command("em", "Train the Gaussians of a bundle's states by expectation and maximisation");
  add_data_options(command, arguments.get());
  add_train_em_options(command, arguments.get());
  add_quiet(command);
  command.callback([arguments] {
    arguments->recipe.smooth = arguments->smooth.value_or(arguments->recipe.smooth);
    arguments->recipe.smooth_to_shared = arguments->smooth_to != "diagonal";
    set_sharing(*arguments, &arguments->recipe);
    run_train_em(*arguments);
  });
}

}  // namespace asr::tool
