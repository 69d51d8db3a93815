// SPDX-License-Identifier: Apache-2.0
// Implements `senone align`: the times of words and phones of recordings whose text is known (docs/alignment.md).
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "builder/align/aligned_words.h"
#include "builder/align/dictionary_words.h"
#include "builder/align/goodness.h"
#include "builder/align/text_graph.h"
#include "builder/graph/build.h"
#include "builder/graph/bundle_parts.h"
#include "builder/graph/phone_loop.h"
#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "core/base/limits.h"
#include "core/base/thread_pool.h"
#include "core/model/acoustic_model.h"
#include "core/model/bundle.h"
#include "tools/alignment_output.h"
#include "tools/progress.h"
#include "tools/recording_rows.h"
#include "tools/tool.h"
#include "tools/utterance_source.h"
#include "tools/word_errors.h"

namespace asr::tool {
namespace {

using train::AlignmentJob;
using train::ForcedAligner;

// Widths of the searches for a path, one after another until one is found.
constexpr double kWidenings[] = {1, 4, 16};

// The search for any phones is this much narrower, since it has no text that it must keep to.
constexpr double kFreeShare = 0.25;

// A word is taken as not said if other phones fit its frames better by this on average. Of the words that were said 0.3 % are
// below (AN4 dev), of others in their place 82 % (docs/alignment.md).
constexpr double kNotSaid = -4;

// A text is taken as another one if its frames fit worse by this on average. Right texts have -1.2 and more (AN4 dev), texts of
// which one word in ten is wrong -2.8 and more.
constexpr double kOtherText = -3;

struct AlignArguments {
  RecognizeOptions recordings;  // model, files, list, features, cmn, ...
  std::string lexicon, g2p, transcripts, device = "cpu";
  AlignmentPaths out;
  uint32_t n_g2p_variants = 1, n_jobs = 0;
  double beam = 200;
  GraphOptions graph;
  Leniency leniency{false, 40, 30};
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

// An utterance on its way to the output.
struct Item {
  std::string id;
  Words text;   // words as they are written
  Words words;  // the same in the dictionary's form
  std::vector<float> rows;
  std::string problem;
};

class AlignRun {
 public:
  AlignRun(const AlignArguments &arguments, const Bundle &bundle, const HmmSet &set)
      : arguments_(arguments),
        bundle_(bundle),
        set_(set),
        dictionary_(arguments.lexicon, set, arguments.g2p, arguments.n_g2p_variants),
        graphs_(set, graph_options(arguments, bundle, set), arguments.leniency),
        texts_(arguments.transcripts),
        device_(choose_device(arguments.device, "--device"), ForcedAligner::options(arguments.n_jobs)),
        aligner_(device_, read_acoustic_model(bundle.file("acoustic.bin")), arguments.beam),
        phone_loop_(make_phone_loop(set, {})),
        pool_(arguments.n_jobs),
        output_(arguments.out) {}

  // Returns the number of utterances and of those that failed.
  std::pair<size_t, size_t> run() {
    Progress progress("align");
    UtteranceSource source(arguments_.recordings);
    RecordingRows reader(device_, bundle_.front_end, arguments_.recordings.cmn, ForcedAligner::options(1).window_frames,
                         arguments_.recordings.audio.raw_rate_hz);
    std::vector<Item> items;
    for (Utterance utterance; source.next(&utterance); ++n_) {
      progress.update(source.size() ? static_cast<double>(n_) / static_cast<double>(*source.size()) : -1, utterance.id);
      items.push_back(read(source, &reader, &utterance));
      if (items.size() == ForcedAligner::kMaxJobs) align(&progress, &items);
    }
    align(&progress, &items);
    if (n_failed_ < n_) output_.commit();
    return {n_, n_failed_};
  }

 private:
  const AlignArguments &arguments_;
  const Bundle &bundle_;
  const HmmSet &set_;
  DictionaryWords dictionary_;
  TextGraphs graphs_;
  const Texts texts_;
  const Device device_;
  const ForcedAligner aligner_;
  const GraphData phone_loop_;
  ThreadPool pool_;
  AlignmentOutput output_;
  std::set<std::string> ids_;
  size_t n_ = 0, n_failed_ = 0;

  static GraphOptions graph_options(const AlignArguments &arguments, const Bundle &bundle, const HmmSet &set) {
    GraphOptions options = arguments.graph;
    options.filler_phones = filler_phones(bundle, set);
    return options;
  }

  Item read(const UtteranceSource &source, RecordingRows *reader, Utterance *utterance) {
    Item item;
    item.id = utterance->id;
    try {
      if (!ids_.insert(item.id).second) {
        fail(ASR_BAD_FILE, "\"%s\" is the id of two recordings; give each one of its own", item.id.c_str());
      }
      if (!utterance->error.empty()) fail(ASR_BAD_FILE, "%s", utterance->error.c_str());
      if (!utterance->warning.empty()) print_line(stderr, "senone: warning: %s", utterance->warning.c_str());
      if (!arguments_.out.text_grids.empty() && item.id.find('/') != std::string::npos) {
        fail(ASR_INVALID_ARGUMENT, "the id \"%s\" has a slash, so it is no name for a file; give it another for --textgrid",
             item.id.c_str());
      }
      item.text = texts_.of(*utterance);
      for (const std::string &word : item.text) item.words.push_back(dictionary_.form_of(word));
      asr_engine_info info{};
      info.n_feature_dims = bundle_.front_end.n_dims();
      source.prepare(utterance, info);
      item.rows = utterance->input == ASR_INPUT_FLOAT ? reader->read(utterance->path) : std::move(utterance->rows);
      if (item.rows.empty()) fail(ASR_BAD_AUDIO, "it has no frames; check that it is not empty");
    } catch (const Error &error) {
      if (error.code() == ASR_OUT_OF_MEMORY || error.code() == ASR_DEVICE_LOST) throw;
      item.problem = error.what();
    }
    return item;
  }

  void align(Progress *progress, std::vector<Item> *items) {
    std::vector<AlignmentJob> jobs(items->size());
    pool_.run(items->size(), [&](size_t i) {
      Item &item = (*items)[i];
      if (!item.problem.empty()) return;
      jobs[i].rows = item.rows.data();
      jobs[i].n_rows = static_cast<uint32_t>(item.rows.size() / bundle_.front_end.n_dims());
      jobs[i].graph = graphs_.graph(item.words, dictionary_.lexicon());
    });
    for (const double widening : kWidenings) search(widening, &jobs);
    const bool is_compared = arguments_.out.has_goodness || !arguments_.leniency.allowed;
    const std::vector<AlignmentJob> free_paths =
        is_compared ? paths_of_any_phones(jobs) : std::vector<AlignmentJob>(jobs.size());
    for (size_t i = 0; i < items->size(); ++i) {
      Item &item = (*items)[i];
      if (item.problem.empty()) item.problem = jobs[i].problem;
      const TimedTranscript transcript = timed(item, jobs[i], free_paths[i]);
      if (item.problem.empty() && !arguments_.leniency.allowed) check_is_said(transcript, progress, &item);
      if (item.problem.empty()) {
        output_.write(transcript);
      } else {
        progress->hide();
        ++n_failed_;
        const bool is_named = item.problem.compare(0, item.id.size() + 2, item.id + ": ") == 0;
        print_line(stderr, "senone: %s%s", is_named ? "" : (item.id + ": ").c_str(), item.problem.c_str());
      }
    }
    items->clear();
  }

  // Searches the jobs that have rows and no path yet.
  void search(double widening, std::vector<AlignmentJob> *jobs) const {
    std::vector<AlignmentJob> tried;
    std::vector<size_t> which;
    for (size_t i = 0; i < jobs->size(); ++i) {
      AlignmentJob &job = (*jobs)[i];
      if (job.n_rows == 0 || !job.transition_ids.empty()) continue;
      job.problem.clear();
      which.push_back(i);
      tried.push_back(std::move(job));
    }
    if (tried.empty()) return;
    aligner_.align(&tried, widening);
    for (size_t i = 0; i < which.size(); ++i) (*jobs)[which[i]] = std::move(tried[i]);
  }

  // Warns of words that other phones fit better, or refuses the whole text.
  static void check_is_said(const TimedTranscript &transcript, Progress *progress, Item *item) {
    std::vector<const TimedWord *> not_said;
    double sum = 0, spoken_s = 0;
    for (const TimedWord &word : transcript.words) {
      const double word_s = word.end_s() - word.begin_s();
      double of_word = 0;
      for (const TimedPhone &phone : word.phones) of_word += phone.goodness.value_or(0) * (phone.end_s - phone.begin_s);
      if (of_word < kNotSaid * word_s) not_said.push_back(&word);
      sum += of_word;
      spoken_s += word_s;
    }
    if (sum < kOtherText * spoken_s) {
      const TimedWord &first = not_said.empty() ? transcript.words.front() : *not_said.front();
      item->problem = format(
          "its text does not seem to be said: %zu of %zu words do not fit the audio, the first '%s' at %.2f s; "
          "correct the text, or give --lenient, which finds what differs",
          std::max<size_t>(1, not_said.size()), transcript.words.size(), item->text[first.number].c_str(), first.begin_s());
      return;
    }
    if (!not_said.empty()) progress->hide();
    for (const TimedWord *word : not_said) {
      print_line(stderr,
                 "senone: warning: %s: the word '%s' at %.2f s does not fit the audio; check the text, or give --lenient",
                 item->id.c_str(), item->text[word->number].c_str(), word->begin_s());
    }
  }

  // The same rows with any phones; a job without a path stays without.
  std::vector<AlignmentJob> paths_of_any_phones(const std::vector<AlignmentJob> &jobs) const {
    std::vector<AlignmentJob> free_paths(jobs.size());
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].transition_ids.empty()) continue;
      free_paths[i].rows = jobs[i].rows;
      free_paths[i].n_rows = jobs[i].n_rows;
      free_paths[i].graph = phone_loop_;
    }
    for (const double widening : kWidenings) search(kFreeShare * widening, &free_paths);
    return free_paths;
  }

  TimedTranscript timed(const Item &item, const AlignmentJob &job, const AlignmentJob &free_path) const {
    const FrontEnd &front_end = bundle_.front_end;
    const double shift_s = front_end.shift_samples / front_end.sample_rate_hz;
    TimedTranscript transcript{item.id, job.n_rows * shift_s, {}, item.text};
    for (const AlignedWord &word : aligned_words(job, set_)) {
      TimedWord timed_word{word.number, {}};
      for (const AlignedPhone &phone : word.phones) {
        timed_word.phones.push_back(
            {set_.phones[phone.phone].name, phone.begin * shift_s, phone.end * shift_s, phone.log_likelihood});
      }
      if (!free_path.transition_ids.empty()) {
        const std::vector<PhoneGoodness> rated = rate(word, free_path);
        for (size_t i = 0; i < rated.size(); ++i) {
          timed_word.phones[i].goodness = rated[i].goodness;
          timed_word.phones[i].likeliest = set_.phones[rated[i].likeliest].name;
        }
      }
      transcript.words.push_back(std::move(timed_word));
    }
    return transcript;
  }
};

void run_align(const AlignArguments &arguments) {
  check_usage(arguments);
  const double start_s = wall_seconds();
  const Bundle bundle = read_bundle(arguments.recordings.model);
  const HmmSet set = read_hmms(bundle);
  check_contexts(bundle, set);
  AlignRun run(arguments, bundle, set);
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
