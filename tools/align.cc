// SPDX-License-Identifier: Apache-2.0
// Implements `senone align`: the times of words and phones of recordings whose text is known (docs/alignment.md).
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "builder/align/dictionary_words.h"
#include "builder/align/text_aligner.h"
#include "builder/align/workers.h"
#include "core/base/limits.h"
#include "tools/align_texts.h"
#include "tools/alignment_output.h"
#include "tools/progress.h"
#include "tools/recording_rows.h"
#include "tools/tool.h"
#include "tools/utterance_source.h"

namespace asr::tool {
namespace {

struct AlignArguments {
  RecognizeOptions recordings;  // model, files, list, features, cmn, ...
  std::string folder, csv, lexicon, g2p, transcripts, device = "cpu";
  AlignmentPaths out;
  uint32_t n_g2p_variants = 1, n_jobs = 0;
  double beam = TextAligner::kBeam;
  GraphOptions graph;
  Leniency leniency = kDefaultLeniency;

  // The folder is one of Kaldi's.
  bool is_kaldi_data() const {
    std::error_code unknown;
    return !folder.empty() && std::filesystem::exists(folder + "/wav.scp", unknown);
  }
  std::string kaldi_text() const { return is_kaldi_data() && transcripts.empty() ? folder + "/text" : transcripts; }
};

using NamedOutput = std::pair<const char *, const std::string &>;

// The files of many recordings that are to be written.
std::vector<NamedOutput> outputs_of(const AlignmentPaths &out) {
  std::vector<NamedOutput> outputs;
  for (const NamedOutput &output : {NamedOutput{"--ctm", out.ctm}, {"--phone-ctm", out.phone_ctm}, {"--json", out.json}}) {
    if (!output.second.empty()) outputs.push_back(output);
  }
  return outputs;
}

bool are_one_file(const std::string &a, const std::string &b) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (fs::equivalent(a, b, unknown)) return true;
  return fs::weakly_canonical(a, unknown) == fs::weakly_canonical(b, unknown);
}

// Each output is a file of its own, and none that the run reads; those of recordings and their texts are checked one by one.
void check_outputs(const AlignArguments &arguments) {
  const std::vector<NamedOutput> outputs = outputs_of(arguments.out);
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!are_one_file(outputs[i].second, outputs[j].second)) continue;
      throw UsageError(format("align: %s and %s would write the same file, %s; name two", outputs[j].first, outputs[i].first,
                              outputs[i].second.c_str()));
    }
    const std::string data = arguments.is_kaldi_data() ? arguments.folder : "";
    for (const std::string &read : {arguments.lexicon, arguments.g2p, arguments.recordings.list, arguments.csv,
                                    arguments.kaldi_text(), data + "/wav.scp", data + "/segments"}) {
      if (read.empty() || outputs[i].second == "-" || !are_one_file(outputs[i].second, read)) continue;
      throw UsageError(format("align: %s %s would replace %s, which this run reads; name another file", outputs[i].first,
                              outputs[i].second.c_str(), read.c_str()));
    }
  }
}

void check_folder(const char *option, const std::string &path) {
  if (path.empty() || std::filesystem::is_directory(path)) return;
  throw UsageError(std::string("align: ") + option + " " + path + " is no folder; make it first");
}

void check_usage(const AlignArguments &arguments) {
  const RecognizeOptions &recordings = arguments.recordings;
  const bool are_named = !recordings.files.empty() || !(recordings.list + recordings.features).empty();
  if (!are_named && (arguments.folder + arguments.csv).empty()) {
    throw UsageError("align: no recordings; name files, or give --folder, --list, --csv or --features");
  }
  if (are_named + !arguments.folder.empty() + !arguments.csv.empty() > 1) {
    throw UsageError("align: --folder and --csv have recordings of their own; give one of them, or others");
  }
  if (!arguments.csv.empty() && !arguments.transcripts.empty()) {
    throw UsageError("align: --csv has the texts; leave it or --transcripts out");
  }
  if (!recordings.features.empty() && arguments.transcripts.empty()) {
    throw UsageError("align: --features has no files beside which a text could lie; give --transcripts");
  }
  const AlignmentPaths &out = arguments.out;
  if ((out.ctm + out.phone_ctm + out.json + out.text_grids + out.subtitles).empty()) {
    throw UsageError("align: nothing is to be written; give --ctm, --phone-ctm, --json, --textgrid or --srt");
  }
  if (out.has_goodness && out.json.empty()) throw UsageError("align: --gop adds to --json; give it");
  check_folder("--textgrid", out.text_grids);
  check_folder("--srt", out.subtitles);
  check_outputs(arguments);
}

// Returns the message with options instead of the fields that the library names.
std::string with_options(std::string message) {
  constexpr std::pair<const char *, const char *> kOptions[] = {{"asr_align_config.lenient", "--lenient"},
                                                                {"asr_aligner_config.g2p", "--g2p"}};
  for (const auto &[field, option] : kOptions) {
    const size_t at = message.find(field);
    if (at != std::string::npos) message.replace(at, std::string(field).size(), option);
  }
  return message;
}

// Recordings of a folder or a table, or those that the other options name.
class Source {
 public:
  Source(const AlignArguments &arguments, std::vector<Utterance> table)
      : found_(std::move(table)), has_safe_paths_(!arguments.folder.empty() && !arguments.is_kaldi_data()) {
    RecognizeOptions options = arguments.recordings;
    if (!arguments.csv.empty()) return;
    if (arguments.folder.empty()) {
      named_ = std::make_unique<UtteranceSource>(options);
    } else if (arguments.is_kaldi_data()) {
      KaldiRecordings data = read_kaldi_data(arguments.folder);
      found_ = std::move(data.recordings);
      parts_ = std::move(data.parts);
    } else {
      std::vector<std::string> passed_over;
      found_ = recordings_below(arguments.folder, &passed_over);
      for (const std::string &line : passed_over) print_line(stderr, "senone: warning: %s", line.c_str());
    }
  }

  bool next(Utterance *utterance) {
    if (named_) return named_->next(utterance);
    if (next_ == found_.size()) return false;
    *utterance = std::move(found_[next_++]);
    return true;
  }

  RecordingPart part_of(const Utterance &utterance) const {
    return parts_.empty() ? RecordingPart{utterance.path} : parts_[utterance.number];
  }

  std::optional<size_t> size() const { return named_ ? named_->size() : found_.size(); }

  // Ids of files below a folder are paths.
  bool has_safe_paths() const { return has_safe_paths_; }

  void prepare(Utterance *utterance, uint32_t n_dims) const {
    asr_engine_info info{};
    info.n_feature_dims = n_dims;
    if (named_) named_->prepare(utterance, info);
  }

 private:
  std::unique_ptr<UtteranceSource> named_;
  std::vector<Utterance> found_;
  std::vector<RecordingPart> parts_;  // of these, if they are parts
  const bool has_safe_paths_;
  size_t next_ = 0;
};

// What one thread aligns with. On the CPU each has a device without further threads, since recordings are independent of each
// other; another device is used by one thread.
struct Worker {
  Worker(const AlignArguments &arguments, const AlignmentModel &model, const DeviceEntry &entry, uint32_t n_threads,
         uint32_t n_items)
      : device(entry, TextAligner::options(n_threads, n_items)),
        reader(device, model.bundle.front_end, arguments.recordings.cmn, TextAligner::options(1, 1).window_frames,
               arguments.recordings.audio.raw_rate_hz),
        aligner(model, device, arguments.beam),
        pool(n_threads) {}

  const Device device;
  RecordingRows reader;
  const TextAligner aligner;
  ThreadPool pool;
};

// Recordings that a worker aligns together.
struct Group {
  std::vector<AlignmentItem> items;
  std::vector<RecordingPart> parts;  // of recordings that are still to be read; without a path for others
};

class AlignRun {
 public:
  explicit AlignRun(const AlignArguments &arguments)
      : arguments_(arguments),
        model_(arguments.recordings.model, arguments.graph),
        entry_(choose_device(arguments.device, "--device")),
        is_cpu_(entry_.id.rfind("cpu", 0) == 0),
        workers_([this] {
          return std::make_unique<Worker>(arguments_, model_, entry_, is_cpu_ ? 1 : arguments_.n_jobs, group_items());
        }),
        dictionary_(arguments.lexicon, model_.set, arguments.g2p, arguments.n_g2p_variants),
        table_(arguments.csv.empty() ? RecordingTable() : read_recording_table(arguments.csv)),
        texts_(arguments.csv.empty() ? Texts(arguments.kaldi_text()) : Texts(arguments.csv, std::move(table_.texts))),
        pool_(is_cpu_ ? arguments.n_jobs : 1),
        output_(arguments.out) {}

  // Throws at the end if a recording failed.
  void run() {
    Progress progress("align");
    Source source(arguments_, std::move(table_.recordings));
    std::vector<Group> groups;
    for (Utterance utterance; source.next(&utterance); ++n_) {
      progress.update(source.size() ? static_cast<double>(n_) / static_cast<double>(*source.size()) : -1, utterance.id);
      check_outputs(utterance);
      if (note_id(utterance) && is_done(utterance)) {
        ++n_there_;
        continue;
      }
      add(source, &utterance, &groups);
      if (groups.size() == kGroupsOfThread * pool_.n_threads() && is_full(groups.back())) align(&progress, &groups);
    }
    align(&progress, &groups);
    if (n_failed_ < n_) output_.commit();
    progress.hide();
    if (n_ == 0) fail(ASR_BAD_FILE, "align: there are no recordings; check the list");
    const std::string there = n_there_ > 0 ? format(", %zu of them earlier", n_there_) : "";
    print_line(stderr, "align: %zu of %zu recordings in %.2f s%s", n_ - n_failed_, n_, wall_seconds() - start_s_,
               there.c_str());
    if (n_failed_ > 0) fail(ASR_BAD_FILE, "align: %zu of %zu recordings were not aligned", n_failed_, n_);
  }

 private:
  // Threads take the next group when they have one done; results are written when all of these are.
  static constexpr size_t kGroupsOfThread = 4;

  const double start_s_ = wall_seconds();
  const AlignArguments &arguments_;
  const AlignmentModel model_;
  const DeviceEntry entry_;
  const bool is_cpu_;
  Workers<Worker> workers_;
  DictionaryWords dictionary_;
  RecordingTable table_;
  const Texts texts_;
  ThreadPool pool_;
  AlignmentOutput output_;
  std::map<std::string, std::pair<std::string, size_t>> ids_;  // the first recording of an id, and its number
  size_t n_ = 0, n_failed_ = 0, n_there_ = 0;

  // No file of many recordings may be a recording, its text, or a file of a recording.
  void check_outputs(const Utterance &utterance) const {
    for (const auto &[option, path] : outputs_of(arguments_.out)) {
      if (path == "-") continue;
      if (texts_.is_read(utterance, path)) {
        throw UsageError(format("align: %s %s would replace the recording or the text of \"%s\"; name another file", option,
                                path.c_str(), utterance.id.c_str()));
      }
      for (const std::string &own : {output_.text_grid_of(utterance.id), output_.subtitles_of(utterance.id)}) {
        if (own.empty() || !are_one_file(own, path)) continue;
        throw UsageError(
            format("align: %s %s is the file of \"%s\", too; name another", option, path.c_str(), utterance.id.c_str()));
      }
    }
  }

  // Returns whether the id is new.
  bool note_id(const Utterance &utterance) { return ids_.try_emplace(utterance.id, utterance.path, n_).second; }

  // Files of recordings of a folder are made once; another command continues where one was ended.
  bool is_done(const Utterance &utterance) const {
    return !arguments_.folder.empty() && output_.has_all_of(utterance.id) &&
           !texts_.is_text(utterance, output_.text_grid_of(utterance.id));
  }

  uint32_t group_items() const { return is_cpu_ ? 1 : TextAligner::kMaxItems; }
  bool is_full(const Group &group) const { return group.items.size() == group_items(); }

  void add(const Source &source, Utterance *utterance, std::vector<Group> *groups) {
    if (groups->empty() || is_full(groups->back())) groups->emplace_back();
    Group &group = groups->back();
    group.items.emplace_back();
    group.parts.emplace_back();
    AlignmentItem &item = group.items.back();
    item.transcript.id = utterance->id;
    try {
      if (!utterance->error.empty()) fail(ASR_BAD_FILE, "%s", utterance->error.c_str());
      check_id(source, *utterance);
      const std::string grid = output_.text_grid_of(utterance->id);
      if (texts_.is_text(*utterance, grid)) {
        fail(ASR_INVALID_ARGUMENT, "%s: is the text and would be replaced; give another folder to write to", grid.c_str());
      }
      if (!utterance->warning.empty()) print_line(stderr, "senone: warning: %s", utterance->warning.c_str());
      item.transcript.text = texts_.of(*utterance);
      for (const std::string &word : item.transcript.text) item.words.push_back(dictionary_.form_of(word));
      item.lexicon = dictionary_.lexicon_of(item.words);
      source.prepare(utterance, model_.bundle.front_end.n_dims());
      if (utterance->input == ASR_INPUT_FLOAT) {
        group.parts.back() = source.part_of(*utterance);
      } else {
        item.rows = std::move(utterance->rows);
      }
    } catch (const Error &error) {
      note(error, &item);
    }
  }

  // Notes why an item cannot be aligned, unless nothing else could be, either.
  static void note(const Error &error, AlignmentItem *item) {
    if (error.code() == ASR_OUT_OF_MEMORY || error.code() == ASR_DEVICE_LOST) throw error;
    item->problem = error.what();
  }

  void check_id(const Source &source, const Utterance &utterance) const {
    const std::string &id = utterance.id;
    const auto &[path, number] = ids_.at(id);
    if (number != n_) {
      const std::string both = path.empty() ? "" : ", " + path + " and " + utterance.path;
      fail(ASR_BAD_FILE, "\"%s\" is the id of two recordings%s; give each one of its own", id.c_str(), both.c_str());
    }
    const AlignmentPaths &out = arguments_.out;
    if (!(out.text_grids + out.subtitles).empty() && !source.has_safe_paths() && id.find('/') != std::string::npos) {
      fail(ASR_INVALID_ARGUMENT, "the id \"%s\" has a slash, so it is no name for a file; give it another for %s", id.c_str(),
           out.text_grids.empty() ? "--srt" : "--textgrid");
    }
    if (!(out.ctm + out.phone_ctm).empty() && id.find_first_of(" \t\r\n\v\f") != std::string::npos) {
      fail(ASR_INVALID_ARGUMENT, "the id \"%s\" has a blank, which separates the columns of CTM; rename the recording",
           id.c_str());
    }
  }

  void align(Progress *progress, std::vector<Group> *groups) {
    pool_.run(groups->size(), [&](size_t i) { align(&(*groups)[i]); });
    for (const Group &group : *groups) {
      for (const AlignmentItem &item : group.items) write(progress, item);
    }
    groups->clear();
  }

  void align(Group *group) {
    std::unique_ptr<Worker> worker = workers_.take();
    for (size_t i = 0; i < group->items.size(); ++i) {
      if (group->parts[i].path.empty()) continue;
      try {
        group->items[i].more = worker->reader.open(group->parts[i]);
      } catch (const Error &error) {
        note(error, &group->items[i]);
      }
    }
    worker->aligner.align({arguments_.leniency, arguments_.out.has_goodness}, &worker->pool, &group->items);
    for (AlignmentItem &item : group->items) item.more = nullptr;  // it uses the worker
    workers_.give_back(std::move(worker));
  }

  void write(Progress *progress, const AlignmentItem &item) {
    const TimedTranscript &transcript = item.transcript;
    std::string problem = with_options(item.problem);
    if (!problem.empty() || !item.doubtful.empty()) progress->hide();
    if (problem.empty()) {
      for (const size_t i : item.doubtful) warn_of(transcript, transcript.words[i]);
      try {
        output_.write(transcript);
      } catch (const Error &error) {
        problem = error.what();
        progress->hide();
      }
    }
    if (problem.empty()) return;
    ++n_failed_;
    const bool is_named = problem.compare(0, transcript.id.size() + 2, transcript.id + ": ") == 0;
    print_line(stderr, "senone: %s%s", is_named ? "" : (transcript.id + ": ").c_str(), problem.c_str());
  }

  static void warn_of(const TimedTranscript &transcript, const TimedWord &word) {
    print_line(stderr, "senone: warning: %s: the word '%s' at %.2f s does not fit the audio; check the text, or give --lenient",
               transcript.id.c_str(), transcript.text[word.number].c_str(), word.begin_s());
  }
};

void run_align(const AlignArguments &arguments) {
  check_usage(arguments);
  AlignRun(arguments).run();
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
  command.option("--folder", arguments->folder,
                 "Folder of recordings, each with its text beside it, or a data directory of Kaldi (wav.scp, text)");
  command.option(
      "--csv", arguments->csv,
      "Table of recordings and texts: a header with path, text and optionally id, rows with commas, semicolons or tabs");
  command.option("--features", recordings.features, "Archive of Kaldi instead of recordings: features, or MFCCs");
  command.option("--transcripts", arguments->transcripts,
                 "What is said: lines `words (id)`, or `id words`; default: a .lab, .txt or .TextGrid file beside each");
  command.option("--ctm", arguments->out.ctm,
                 "File of words to write, in CTM: id, 1, start, duration, word; - is standard output");
  command.option("--phone-ctm", arguments->out.phone_ctm, "The same of phones");
  command.option("--json", arguments->out.json, "File of JSON lines to write: words and their phones");
  command.option("--textgrid", arguments->out.text_grids, "Folder for a TextGrid of each recording (Praat): words and phones");
  command.option("--srt", arguments->out.subtitles, "Folder for subtitles of each recording (SubRip)");
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
