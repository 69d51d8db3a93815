// SPDX-License-Identifier: Apache-2.0
#include "tools/align_texts.h"

#include <algorithm>
#include <filesystem>

#include "builder/align/dictionary_words.h"
#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "core/base/error.h"
#include "tools/text_grid.h"

namespace asr::tool {
namespace {

namespace fs = std::filesystem;

constexpr TranscriptOptions kAsTheyAre{false, true, false};

constexpr const char *kRecordings[] = {".wav", ".flac", ".ogg", ".opus", ".mp3", ".aif", ".aiff", ".au", ".sph"};

bool is_recording(const fs::path &path) {
  const std::string suffix = to_lower(path.extension().string());
  return std::any_of(std::begin(kRecordings), std::end(kRecordings), [&](const char *known) { return suffix == known; });
}

// Returns the words of a tier. Which of several has the text is told by its name, because all others may have labels, too.
Words words_of_text_grid(const std::string &path) {
  std::vector<IntervalTier> tiers = parse_text_grid(read_text(path, {"a TextGrid"}), path);
  const auto is_text = [](const IntervalTier &tier) {
    const std::string name = to_lower(tier.name);
    return name == "words" || name == "text" || name == "utterances" || name == "sentences" || name == "transcription";
  };
  const IntervalTier *chosen = tiers.size() == 1 ? &tiers.front() : nullptr;
  if (chosen == nullptr) {
    const auto found = std::find_if(tiers.begin(), tiers.end(), is_text);
    if (found == tiers.end()) {
      fail(ASR_BAD_FILE, "%s: has %zu tiers of intervals; name the one with the text \"words\", or leave only that",
           path.c_str(), tiers.size());
    }
    chosen = &*found;
  }
  Words words;
  for (const LabelledInterval &interval : chosen->intervals) {
    for (std::string &word : kept_words(interval.label, kAsTheyAre)) words.push_back(std::move(word));
  }
  return words;
}

// Returns the file with the text of a recording; "" if none lies beside it.
std::string beside(const std::string &recording) {
  for (const char *const suffix : {".lab", ".txt", ".TextGrid"}) {
    std::string text = fs::path(recording).replace_extension(suffix).string();
    std::error_code unknown;
    if (fs::exists(text, unknown)) return text;
  }
  return "";
}

Words words_beside(const std::string &recording) {
  const std::string text = beside(recording);
  if (text.empty()) {
    fail(ASR_BAD_FILE,
         "%s: no text lies beside it; write what is said into a .lab, .txt or .TextGrid file of its name, or give "
         "--transcripts",
         recording.c_str());
  }
  if (fs::path(text).extension() == ".TextGrid") return words_of_text_grid(text);
  return kept_words(read_text(text, {"the text of a recording"}), kAsTheyAre);
}

}  // namespace

std::vector<Utterance> recordings_below(const std::string &folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (is_recording(entry->path()) && entry->is_regular_file(error)) paths.push_back(entry->path());
  }
  if (error) fail(ASR_IO, "%s: cannot be read: %s", folder.c_str(), error.message().c_str());
  if (paths.empty()) fail(ASR_NOT_FOUND, "%s: has no recordings (.wav, .flac, ...); check the folder", folder.c_str());
  std::sort(paths.begin(), paths.end());
  std::vector<Utterance> recordings;
  for (const fs::path &path : paths) {
    Utterance recording;
    recording.id = path.lexically_relative(folder).replace_extension().generic_string();
    recording.path = path.string();
    recording.number = recordings.size();
    recordings.push_back(std::move(recording));
  }
  return recordings;
}

Texts::Texts(const std::string &path) : path_(path) {
  if (!path.empty()) transcripts_ = parse_transcripts(read_text(path, {"a file of transcripts"}), path, kAsTheyAre);
}

bool Texts::is_text(const Utterance &utterance, const std::string &path) const {
  std::error_code missing;
  return path_.empty() && !path.empty() && fs::equivalent(beside(utterance.path), path, missing);
}

bool Texts::is_read(const Utterance &utterance, const std::string &path) const {
  std::error_code missing;
  return is_text(utterance, path) || (!utterance.path.empty() && fs::equivalent(utterance.path, path, missing));
}

Words Texts::of(const Utterance &utterance) const {
  Words words = path_.empty() ? words_beside(utterance.path) : line_of(utterance.id);
  words.erase(std::remove_if(words.begin(), words.end(), is_of_signs), words.end());
  if (words.empty()) fail(ASR_BAD_FILE, "%s: its text has no words; write what is said", utterance.id.c_str());
  return words;
}

Words Texts::line_of(const std::string &id) const {
  const auto found = transcripts_.find(to_nfc(id));
  if (found != transcripts_.end()) return found->second;
  fail(ASR_BAD_FILE, "%s: %s has no line for it; check that both have the same ids", id.c_str(), path_.c_str());
}

}  // namespace asr::tool
