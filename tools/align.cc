// SPDX-License-Identifier: Apache-2.0
// Implements `senone align`: the times of words and phones of recordings whose text is known (docs/alignment.md).
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "builder/align/dictionary_words.h"
#include "builder/align/text_aligner.h"
#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "core/base/limits.h"
#include "tools/alignment_output.h"
#include "tools/progress.h"
#include "tools/recording_rows.h"
#include "tools/tool.h"
#include "tools/utterance_source.h"
#include "tools/word_errors.h"

namespace asr::tool {
namespace {

using train::ForcedAligner;

struct AlignArguments {
  RecognizeOptions recordings;  // model, files, list, features, cmn, ...
  std::string lexicon, g2p, transcripts, device = "cpu";
  AlignmentPaths out;
  uint32_t n_g2p_variants = 1, n_jobs = 0;
  double beam = TextAligner::kBeam;
  GraphOptions graph;
  Leniency leniency = kDefaultLeniency;
};

void check_usage(const AlignArguments &arguments) {
  const RecognizeOptions &recordings = arguments.recordings;
  if (recordings.files.empty() && (recordings.list + recordings.features).empty()) {
    throw UsageError("align: no recordings; name files, or give --list or --features");
  }
  if (!recordings.features.empty() && arguments.transcripts.empty()) {
    throw UsageError("align: --features has no files beside which a text could lie; give --transcripts");
  }
  const AlignmentPaths &out = arguments.out;
  if ((out.ctm + out.phone_ctm + out.json + out.text_grids).empty()) {
    throw UsageError("align: nothing is to be written; give --ctm, --phone-ctm, --json or --textgrid");
  }
  if (out.has_goodness && out.json.empty()) throw UsageError("align: --gop adds to --json; give it");
  if (!out.text_grids.empty() && !std::filesystem::is_directory(out.text_grids)) {
    throw UsageError("align: --textgrid " + out.text_grids + " is no folder; make it first");
  }
}

// The texts of recordings: lines of one file, or a file beside each recording.
class Texts {
 public:
  explicit Texts(const std::string &path) : path_(path) {
    const TranscriptOptions as_they_are{false, true, false};
    if (!path.empty()) transcripts_ = parse_transcripts(read_text(path, {"a file of transcripts"}), path, as_they_are);
  }

  Words of(const Utterance &utterance) const {
    Words words = path_.empty() ? beside(utterance.path) : line_of(utterance.id);
    if (words.empty()) fail(ASR_BAD_FILE, "%s: its text has no words; write what is said", utterance.id.c_str());
    return words;
  }

 private:
  const std::string path_;
  Transcripts transcripts_;

  Words line_of(const std::string &id) const {
    const auto found = transcripts_.find(to_nfc(id));
    if (found != transcripts_.end()) return found->second;
    fail(ASR_BAD_FILE, "%s: %s has no line for it; check that both have the same ids", id.c_str(), path_.c_str());
  }

  static Words beside(const std::string &recording) {
    for (const char *const suffix : {".lab", ".txt"}) {
      const std::string text = std::filesystem::path(recording).replace_extension(suffix).string();
      if (std::filesystem::exists(text)) return kept_words(read_text(text, {"the text of a recording"}), {false, true, false});
    }
    fail(ASR_BAD_FILE,
         "%s: no text lies beside it; write what is said into a .lab or .txt file of its name, or give --transcripts",
         recording.c_str());
  }
};

class AlignRun {
 public:
  explicit AlignRun(const AlignArguments &arguments)
      : arguments_(arguments),
        model_(arguments.recordings.model, arguments.graph),
        dictionary_(arguments.lexicon, model_.set, arguments.g2p, arguments.n_g2p_variants),
        texts_(arguments.transcripts),
        device_(choose_device(arguments.device, "--device"), ForcedAligner::options(arguments.n_jobs)),
        reader_(device_, model_.bundle.front_end, arguments.recordings.cmn, ForcedAligner::options(1).window_frames,
                arguments.recordings.audio.raw_rate_hz),
        aligner_(model_, device_, arguments.beam),
        pool_(arguments.n_jobs),
        output_(arguments.out) {}

  // Returns the number of utterances and of those that failed.
  std::pair<size_t, size_t> run() {
    Progress progress("align");
    UtteranceSource source(arguments_.recordings);
    std::vector<AlignmentItem> items;
    for (Utterance utterance; source.next(&utterance); ++n_) {
      progress.update(source.size() ? static_cast<double>(n_) / static_cast<double>(*source.size()) : -1, utterance.id);
      items.push_back(item_of(source, &utterance));
      if (items.size() == TextAligner::kMaxItems) align(&progress, &items);
    }
    align(&progress, &items);
    if (n_failed_ < n_) output_.commit();
    return {n_, n_failed_};
  }

 private:
  const AlignArguments &arguments_;
  const AlignmentModel model_;
  DictionaryWords dictionary_;
  const Texts texts_;
  const Device device_;
  RecordingRows reader_;
  const TextAligner aligner_;
  ThreadPool pool_;
  AlignmentOutput output_;
  std::set<std::string> ids_;
  size_t n_ = 0, n_failed_ = 0;

  AlignmentItem item_of(const UtteranceSource &source, Utterance *utterance) {
    AlignmentItem item;
    item.transcript.id = utterance->id;
    try {
      if (!ids_.insert(utterance->id).second) {
        fail(ASR_BAD_FILE, "\"%s\" is the id of two recordings; give each one of its own", utterance->id.c_str());
      }
      if (!utterance->error.empty()) fail(ASR_BAD_FILE, "%s", utterance->error.c_str());
      if (!utterance->warning.empty()) print_line(stderr, "senone: warning: %s", utterance->warning.c_str());
      if (!arguments_.out.text_grids.empty() && utterance->id.find('/') != std::string::npos) {
        fail(ASR_INVALID_ARGUMENT, "the id \"%s\" has a slash, so it is no name for a file; give it another for --textgrid",
             utterance->id.c_str());
      }
      item.transcript.text = texts_.of(*utterance);
      for (const std::string &word : item.transcript.text) item.words.push_back(dictionary_.form_of(word));
      item.lexicon = dictionary_.lexicon_of(item.words);
      asr_engine_info info{};
      info.n_feature_dims = model_.bundle.front_end.n_dims();
      source.prepare(utterance, info);
      if (utterance->input == ASR_INPUT_FLOAT) {
        item.more = reader_.open(utterance->path);
      } else {
        item.rows = std::move(utterance->rows);
      }
    } catch (const Error &error) {
      if (error.code() == ASR_OUT_OF_MEMORY || error.code() == ASR_DEVICE_LOST) throw;
      item.problem = error.what();
    }
    return item;
  }

  void align(Progress *progress, std::vector<AlignmentItem> *items) {
    aligner_.align({arguments_.leniency, arguments_.out.has_goodness}, &pool_, items);
    for (const AlignmentItem &item : *items) {
      const TimedTranscript &transcript = item.transcript;
      if (!item.problem.empty() || !item.doubtful.empty()) progress->hide();
      if (item.problem.empty()) {
        for (const size_t i : item.doubtful) warn_of(transcript, transcript.words[i]);
        output_.write(transcript);
      } else {
        ++n_failed_;
        const bool is_named = item.problem.compare(0, transcript.id.size() + 2, transcript.id + ": ") == 0;
        print_line(stderr, "senone: %s%s", is_named ? "" : (transcript.id + ": ").c_str(), item.problem.c_str());
      }
    }
    items->clear();
  }

  static void warn_of(const TimedTranscript &transcript, const TimedWord &word) {
    print_line(stderr, "senone: warning: %s: the word '%s' at %.2f s does not fit the audio; check the text, or give --lenient",
               transcript.id.c_str(), transcript.text[word.number].c_str(), word.begin_s());
  }
};

void run_align(const AlignArguments &arguments) {
  check_usage(arguments);
  const double start_s = wall_seconds();
  AlignRun run(arguments);
  const auto [n, n_failed] = run.run();
  if (n == 0) fail(ASR_BAD_FILE, "align: there are no recordings; check the list");
  print_line(stderr, "align: %zu of %zu recordings in %.2f s", n - n_failed, n, wall_seconds() - start_s);
  if (n_failed > 0) fail(ASR_BAD_FILE, "align: %zu of %zu recordings were not aligned", n_failed, n);
}

void add_align(Command senone) {
  const auto arguments = std::make_shared<AlignArguments>();
  RecognizeOptions &recordings = arguments->recordings;
  Command command = senone.command("align", "The times of words and phones in recordings whose text is known");
  command.option("files", recordings.files, "Recordings; the id is the name without folder and suffix");
  command.option("--model", recordings.model, "Bundle whose acoustic model is used; it needs no graph").required();
  command.option("--lexicon", arguments->lexicon, "Dictionary in the form of CMU Sphinx, Kaldi, MFA or HTK").required();
  command.option("--g2p", arguments->g2p, "Model of senone g2p, which pronounces the words that the dictionary lacks");
  command.option("--g2p-nbest", arguments->n_g2p_variants, "Pronunciations of each of these words")
      .range(1u, static_cast<uint32_t>(kMaxPronunciations))
      .shows_default();
  command.option("--list", recordings.list, "File of recordings: a line each, path and optional id");
  command.option("--features", recordings.features, "Archive of Kaldi instead of recordings: features, or MFCCs");
  command.option("--transcripts", arguments->transcripts,
                 "What is said: lines `words (id)`, or `id words`; default: a .lab or .txt file beside each recording");
  command.option("--ctm", arguments->out.ctm,
                 "File of words to write, in CTM: id, 1, start, duration, word; - is standard output");
  command.option("--phone-ctm", arguments->out.phone_ctm, "The same of phones");
  command.option("--json", arguments->out.json, "File of JSON lines to write: words and their phones");
  command.option("--textgrid", arguments->out.text_grids, "Folder for a TextGrid of each recording (Praat): words and phones");
  command.flag("--gop", arguments->out.has_goodness,
               "Goodness of pronunciation in --json: how well each phone fits compared with all, and which is likeliest");
  command.flag("--lenient", arguments->leniency.allowed,
               "The text may have errors: words may be missing, or be said that are not in it");
  command
      .option("--skip-cost", arguments->leniency.skip_cost,
              "With --lenient: cost of a word of the text that is not said (natural log)")
      .range(0.0, 1e6)
      .shows_default();
  command
      .option("--foreign-cost", arguments->leniency.foreign_cost,
              "With --lenient: cost of a phone that is said and is not in the text (natural log)")
      .range(5.0, 1e6)
      .shows_default();
  command
      .option("--beam", arguments->beam, "Width of the search (natural log, unscaled); twice 4 times as wide if none is found")
      .range(1.0, 1e6)
      .shows_default();
  command.option("--cmn", recordings.cmn, "Cepstral mean: of the model's choice, running, of the recording, none")
      .one_of({"model", "live", "batch", "none"})
      .shows_default();
  command.option("--raw-rate", recordings.audio.raw_rate_hz, "Sample rate of .raw files (16-bit little-endian mono)")
      .range(kMinSampleRateHz, kMaxSampleRateHz)
      .shows_default();
  command.option("--device", arguments->device, "What scores and searches (see `senone devices`)").shows_default();
  command.option("--jobs", arguments->n_jobs, "Threads; default: one for each core; does not change the result")
      .range(1u, kMaxThreads);
  add_quiet(command);
  command.callback([arguments] { run_align(*arguments); });
}

const Subcommand kAlign{"align", add_align};

}  // namespace
}  // namespace asr::tool
