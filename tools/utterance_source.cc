// SPDX-License-Identifier: Apache-2.0
#include "tools/utterance_source.h"

#include <algorithm>
#include <filesystem>

#include "core/audio/sample_format.h"
#include "core/base/error.h"
#include "core/model/bundle.h"
#include "tools/audio_file.h"
#include "tools/hyp_file.h"
#include "tools/recording_list.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

void check_usage(const RecognizeOptions &options) {
  const int n_kinds = !options.features.empty() + !options.loglikes.empty() + !(options.files.empty() && options.list.empty());
  if (n_kinds == 0) throw UsageError("recognize: no recordings; name files or give --list FILE");
  if (n_kinds > 1) throw UsageError("recognize: give recordings, --features or --loglikes, only one of them");
  if (options.features.empty() && !options.cmvn.empty()) throw UsageError("recognize: --cmvn is for --features");
  if (options.cmvn.empty() && !options.has_speakers() && !options.utt2spk.empty())
    throw UsageError(
        "recognize: --utt2spk is for --cmvn, --adapt, --vtln search, --transforms, --mean-transforms and --warps; give one of "
        "them");
  if (options.has_speakers() && !options.loglikes.empty())
    throw UsageError(
        "recognize: --adapt and --transforms need recordings or --features; log-likelihoods cannot be transformed");
  if (!options.estimates("fmllr") && options.transforms.empty() && !options.save_transforms.empty())
    throw UsageError("recognize: --save-transforms saves those of --adapt fmllr or --transforms; give one of them");
  if (!options.estimates("mllr") && options.mean_transforms.empty() && !options.save_mean_transforms.empty())
    throw UsageError("recognize: --save-mean-transforms saves those of --adapt mllr or --mean-transforms; give one of them");
  if (!options.searches_warps() && options.warps.empty() && !options.save_warps.empty())
    throw UsageError("recognize: --save-warps saves those of --vtln search or --warps; give one of them");
  if (!(options.vtln + options.warps).empty() && !(options.features + options.loglikes).empty())
    throw UsageError("recognize: --vtln and --warps are for recordings, not for --features and --loglikes");
  if (options.listens_first() && std::count(options.files.begin(), options.files.end(), "-") > 0)
    throw UsageError(
        "recognize: --adapt and --vtln search read recordings again; standard input can be read once, name a file");
}

// Blanks and line ends would make it two fields; control characters would change the terminal that shows the line.
bool is_one_field(const std::string &id) {
  return !id.empty() && std::none_of(id.begin(), id.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

// Returns an output whose lines are separated by blanks, so that ids need to be without; nullptr if there is none.
const char *blank_separated(const RecognizeOptions &options) {
  if (options.ctm) return "--ctm";
  if (!options.hyp.empty()) return "--hyp";
  if (!options.matrices.empty()) return "--out";
  const bool is_archive = !options.lattice.empty() && std::filesystem::path(options.lattice).extension() != ".slf";
  return is_archive ? "--lattice" : nullptr;
}

}  // namespace

UtteranceSource::UtteranceSource(const RecognizeOptions &options)
    : checks_ids_(!options.hyp.empty()),
      checks_names_(options.saves_speakers() && options.utt2spk.empty()),
      blank_separated_(blank_separated(options)) {
  check_usage(options);
  for (const std::string &file : options.files) {
    Utterance recording;
    recording.id = std::filesystem::path(file).stem();
    recording.path = file;
    recordings_.push_back(std::move(recording));
  }
  if (!options.list.empty()) {
    for (Utterance &recording : read_recording_list(options.list)) recordings_.push_back(std::move(recording));
  }
  const auto is_input = [](const Utterance &recording) { return recording.path == "-"; };
  const auto n_inputs = std::count_if(recordings_.begin(), recordings_.end(), is_input);
  if (n_inputs > 1) {
    throw UsageError(
        format("recognize: - is given %td times; standard input can be read once, name files for the others", n_inputs));
  }
  if (options.listens_first() && n_inputs > 0)
    throw UsageError(
        "recognize: --adapt and --vtln search read recordings again; standard input can be read once, name a file");
  archive_path_ = options.features + options.loglikes;
  if (!archive_path_.empty()) archive_ = std::make_unique<kaldi::ArchiveReader>(archive_path_);
  if (!options.features.empty()) {
    features_.emplace(read_bundle(options.model).front_end, options.cmn, options.cmvn,
                      options.cmvn.empty() ? "" : options.utt2spk);
  }
  refuse_ids_named_twice(options);
  for (const Utterance &recording : recordings_) {
    if (recording.error.empty()) check_id(recording.id);
  }
  if (!archive_ && recordings_.empty()) {
    fail(ASR_BAD_FILE, "%s: names no recordings; give a line each, path and optional id", options.list.c_str());
  }
}

void UtteranceSource::check_id(const std::string &id) const {
  if (checks_ids_) check_hyp_id(id);
  if (blank_separated_ != nullptr && !is_one_field(id)) {
    fail(ASR_INVALID_ARGUMENT,
         "\"%s\" cannot be the id of a recording with %s, whose lines are separated by blanks: it is empty or has a "
         "blank or control character; rename the file, or give it another id in --list",
         id.c_str(), blank_separated_);
  }
  if (checks_names_ && !is_one_field(id)) {
    fail(ASR_INVALID_ARGUMENT,
         "recognize: \"%s\" cannot name a speaker in a saved file: it is empty or has a blank or control character; give it "
         "another id in --list, or --utt2spk",
         id.c_str());
  }
}

// Results are compared by their ids, so an id names one utterance. Recordings of the command line may have a common name in
// their folders unless results are written by it.
void UtteranceSource::refuse_ids_named_twice(const RecognizeOptions &options) {
  const bool writes_ids = !options.hyp.empty() || !options.lattice.empty() || !options.matrices.empty() || options.ctm;
  for (const Utterance &recording : recordings_) {
    const bool is_listed = !recording.place.empty();
    if (!is_listed && !writes_ids) continue;
    refuse_second(
        recording.id, is_listed ? recording.place : recording.path,
        is_listed ? "give each recording an id of its own after its path" : "give --list, with an id of its own for each");
  }
  if (!archive_) return;
  for (const auto &[key, place] : archive_->listed_keys()) refuse_second(key, place, "give each entry a key of its own");
  place_of_.clear();  // next() notes them again
}

// Throws if another utterance has the id.
void UtteranceSource::refuse_second(const std::string &id, const std::string &place, const char *remedy) {
  const auto [other, is_new] = place_of_.emplace(id, place);
  if (is_new) return;
  const size_t end = place.rfind(':');
  if (end != std::string::npos && other->second.compare(0, end + 1, place, 0, end + 1) == 0) {  // two lines of a list
    fail(ASR_BAD_FILE, "%s: lines %s and %s both have the id \"%s\"; %s", place.substr(0, end).c_str(),
         other->second.c_str() + end + 1, place.c_str() + end + 1, id.c_str(), remedy);
  }
  fail(ASR_BAD_FILE, "%s: has the id \"%s\", and so has %s; %s", place.c_str(), id.c_str(), other->second.c_str(), remedy);
}

bool UtteranceSource::next(Utterance *utterance) {
  *utterance = {};
  if (!archive_) {
    if (next_ == recordings_.size()) return false;
    *utterance = recordings_[next_++];
    utterance->number = n_given_++;
    return true;
  }
  kaldi::Matrix<float> matrix;
  try {
    if (!archive_->next(&utterance->id, &matrix)) return false;
    utterance->warning = archive_->warning();
    refuse_second(utterance->id, archive_->place(), "give each entry a key of its own");
    check_id(utterance->id);
  } catch (const Error &error) {
    if (error.code() == ASR_OUT_OF_MEMORY) throw;
    utterance->error = error.what();
  }
  if (archive_path_.rfind("scp:", 0) == 0) utterance->place = archive_->place();
  utterance->path = archive_path_;
  utterance->number = n_given_++;
  utterance->input = features_ ? ASR_INPUT_FEATURES : ASR_INPUT_LOGLIKES;
  utterance->n_rows = matrix.n_rows;
  utterance->row_length = matrix.n_cols;
  utterance->rows = std::move(matrix.values);
  return true;
}

std::optional<size_t> UtteranceSource::size() const {
  return archive_ ? std::nullopt : std::optional<size_t>(recordings_.size());
}

bool UtteranceSource::may_be_raw(const AudioOptions &options) const {
  const auto may_be = [&](const Utterance &recording) { return tool::may_be_raw(recording.path, options); };
  return std::any_of(recordings_.begin(), recordings_.end(), may_be);
}

void UtteranceSource::prepare(Utterance *utterance, const asr_engine_info &info) const {
  if (utterance->input == ASR_INPUT_FLOAT || utterance->n_rows == 0) return;
  if (features_) {
    const kaldi::Matrix<float> matrix{static_cast<uint32_t>(utterance->n_rows), static_cast<uint32_t>(utterance->row_length),
                                      std::move(utterance->rows)};
    utterance->rows = features_->rows(utterance->id, matrix);
    utterance->row_length = info.n_feature_dims;
    utterance->n_rows = utterance->rows.size() / info.n_feature_dims;
  } else if (utterance->row_length != info.n_states) {
    fail(ASR_BAD_FILE, "%s: rows have %zu log-likelihoods; the model has %u states", utterance->id.c_str(),
         utterance->row_length, info.n_states);
  }
  const std::string fault = fault_of_rows(utterance->rows.data(), utterance->n_rows, utterance->row_length, !features_, 0);
  if (!fault.empty()) fail(ASR_BAD_AUDIO, "%s: %s", utterance->id.c_str(), fault.c_str());
}

}  // namespace asr::tool
