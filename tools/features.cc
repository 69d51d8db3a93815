// SPDX-License-Identifier: Apache-2.0
// Implements `senone features` and `senone score`: the feature rows that a model makes of recordings, and its log-likelihoods
// for them, as archives of Kaldi, for decoders and trainers of others.
#include <memory>
#include <optional>

#include "core/base/limits.h"
#include "core/model/bundle.h"
#include "tools/matrix_output.h"
#include "tools/progress.h"
#include "tools/recording_rows.h"
#include "tools/scorer.h"
#include "tools/tool.h"
#include "tools/utterance_source.h"

namespace asr::tool {
namespace {

struct Arguments {
  RecognizeOptions recordings;  // model, files, list, features, cmn, ...
  std::string device = "cpu";
  bool compress = false;
};

struct ArchiveCommand {
  const char *name;
  bool scores;  // false: features
};

// Returns the rows of an utterance, whether it is a recording or an entry of an archive.
std::vector<float> rows_of(const UtteranceSource &source, const Bundle &bundle, RecordingRows *reader, Utterance *utterance) {
  if (!utterance->error.empty()) fail(ASR_BAD_FILE, "%s", utterance->error.c_str());
  if (!utterance->warning.empty()) print_line(stderr, "senone: warning: %s", utterance->warning.c_str());
  asr_engine_info info{};
  info.n_feature_dims = bundle.front_end.n_dims();
  source.prepare(utterance, info);
  std::vector<float> rows = utterance->input == ASR_INPUT_FLOAT ? reader->read(utterance->path) : std::move(utterance->rows);
  if (rows.empty()) fail(ASR_BAD_AUDIO, "%s: it has no frames; check that it is not empty", utterance->id.c_str());
  return rows;
}

void run(const ArchiveCommand &kind, const Arguments &arguments) {
  const RecognizeOptions &recordings = arguments.recordings;
  const std::string command = kind.name;
  if (recordings.files.empty() && (recordings.list + recordings.features).empty()) {
    throw UsageError(command + ": no recordings; name files, or give --list or --features");
  }
  MatrixOutput output(command, recordings.matrices, arguments.compress);
  const Bundle bundle = read_bundle(recordings.model);
  check_has_gaussians(bundle);
  if (recordings.features.empty()) check_takes_audio(bundle);
  asr_backend_options options{};
  options.size = sizeof(options);
  options.max_lanes = 1;
  options.window_frames = Scorer::kRowsAtOnce;
  options.n_threads = recordings.n_threads;
  const Device device(choose_device(arguments.device, "--device"), options);
  std::optional<Scorer> scorer;
  if (kind.scores) scorer.emplace(device, bundle);
  const uint32_t n_cols = kind.scores ? scorer->n_pdfs() : bundle.front_end.n_dims();
  UtteranceSource source(recordings);
  RecordingRows reader(device, bundle.front_end, recordings.cmn, Scorer::kRowsAtOnce, recordings.audio.raw_rate_hz);
  size_t n = 0, n_failed = 0;
  uint64_t n_frames = 0;
  {
    Progress progress(kind.name);
    for (Utterance utterance; source.next(&utterance); ++n) {
      progress.update(source.size() ? static_cast<double>(n) / static_cast<double>(*source.size()) : -1, utterance.id);
      std::vector<float> values;
      try {
        values = rows_of(source, bundle, &reader, &utterance);
        if (scorer) values = scorer->score(values);
        if (values.size() / n_cols > INT32_MAX) fail(ASR_UNSUPPORTED, "%s: has too many frames", utterance.id.c_str());
      } catch (const Error &error) {
        if (error.code() == ASR_OUT_OF_MEMORY || error.code() == ASR_DEVICE_LOST) throw;
        progress.hide();
        print_line(stderr, "senone: %s", error.what());
        ++n_failed;
        continue;
      }
      const auto n_rows = static_cast<uint32_t>(values.size() / n_cols);
      output.write(utterance.id, values.data(), n_rows, n_cols);
      n_frames += n_rows;
    }
  }
  if (n_failed == n) fail(ASR_BAD_FILE, "%s: none of %zu utterances could be read", kind.name, n);
  output.commit();
  print_line(stderr, "%s: %zu utterances, %llu frames of %u values", recordings.matrices.c_str(), n - n_failed,
             static_cast<unsigned long long>(n_frames), n_cols);
  if (n_failed > 0) fail(ASR_BAD_FILE, "%s: %zu of %zu utterances are left out", recordings.matrices.c_str(), n_failed, n);
}

void add(Command senone, const ArchiveCommand &kind, const std::string &what) {
  const auto arguments = std::make_shared<Arguments>();
  RecognizeOptions &recordings = arguments->recordings;
  Command command = senone.command(kind.name, what);
  command.option("files", recordings.files, "Recordings; the id is the name without folder and suffix");
  command.option("--model", recordings.model, "Bundle whose front end and Gaussians are used").required();
  command.option("--list", recordings.list, "File of recordings: a line each, path and optional id");
  command.option("--features", recordings.features, "Archive of Kaldi instead of recordings: features, or MFCCs");
  command.option("--cmvn", recordings.cmvn, "Archive of CMVN statistics for the MFCCs of --features, instead of --cmn");
  command.option("--utt2spk", recordings.utt2spk, "Lines `utterance speaker`: who speaks, for --cmvn");
  command
      .option("--out", recordings.matrices,
              "Archive to write: ark:FILE, ark,t:FILE (text) or ark,scp:FILE,LIST; FILE - is standard output")
      .required();
  command.flag("--compress", arguments->compress, "One byte for each value, as Kaldi's compressed features");
  command.option("--cmn", recordings.cmn, "Cepstral mean: of the model's choice, running, of the recording, none")
      .one_of({"model", "live", "batch", "none"})
      .shows_default();
  command.option("--raw-rate", recordings.audio.raw_rate_hz, "Sample rate of .raw files (16-bit little-endian mono)")
      .range(kMinSampleRateHz, kMaxSampleRateHz)
      .shows_default();
  command.option("--device", arguments->device, "What computes (see `senone devices`)").shows_default();
  command.option("--threads", recordings.n_threads, "Threads of the CPU; default: one for each core").range(1u, kMaxThreads);
  add_quiet(command);
  command.callback([kind, arguments] { run(kind, *arguments); });
}

void add_features(Command senone) {
  add(senone, {"features", false}, "Write the feature rows of recordings, [frames][dimensions], as an archive of Kaldi");
}

void add_score(Command senone) {
  add(senone, {"score", true}, "Write the log-likelihoods of recordings, [frames][pdfs], as an archive of Kaldi");
}

const Subcommand kFeatures{"features", add_features};
const Subcommand kScore{"score", add_score};

}  // namespace
}  // namespace asr::tool
