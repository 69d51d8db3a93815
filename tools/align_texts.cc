// SPDX-License-Identifier: Apache-2.0
#include "tools/align_texts.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include "builder/align/dictionary_words.h"
#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "builder/text/unpack.h"
#include "core/base/error.h"
#include "tools/csv.h"
#include "tools/recording_list.h"
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

// Returns the tier of intervals with the text. Which of several has it is told by its name, because all others may have labels,
// too.
const IntervalTier &text_tier(const TextGrid &grid, const std::string &path) {
  constexpr const char *kNames[] = {"words", "text", "utterances", "sentences", "transcription"};
  if (grid.tiers.empty() && !grid.point_tiers.empty()) {
    fail(ASR_BAD_FILE, "%s: has no tier of intervals but %zu of points, the first '%s'; write the text on one of intervals",
         path.c_str(), grid.point_tiers.size(), grid.point_tiers.front().c_str());
  }
  if (grid.tiers.empty()) fail(ASR_BAD_FILE, "%s: has no tiers; write what is said on one of intervals", path.c_str());
  if (grid.tiers.size() == 1) return grid.tiers.front();
  for (const IntervalTier &tier : grid.tiers) {
    const std::string name = to_lower(tier.name);
    if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return tier;
  }
  fail(ASR_BAD_FILE, "%s: has %zu tiers of intervals; name the one with the text \"words\", or leave only that", path.c_str(),
       grid.tiers.size());
}

Words words_of_text_grid(const std::string &path) {
  Words words;
  const TextGrid grid = parse_text_grid(unpack(read_file(path), path), path);
  for (const LabelledInterval &interval : text_tier(grid, path).intervals) {
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

// Returns the column with one of the names, whatever their case; the number of columns if there is none.
size_t column_of(const std::vector<std::string> &header, std::initializer_list<const char *> names) {
  const auto is_named = [&](const std::string &column) {
    const size_t begin = std::min(column.find_first_not_of(' '), column.size());
    const std::string name = to_lower(column.substr(begin, column.find_last_not_of(' ') + 1 - begin));
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return static_cast<size_t>(std::find_if(header.begin(), header.end(), is_named) - header.begin());
}

// Returns the part that a line of segments names; *id: its first word.
RecordingPart part_of(const std::string &line, const std::map<std::string, Utterance> &recordings, std::string *id) {
  std::istringstream fields(line);
  std::string recording, rest;
  RecordingPart part;
  if (!(fields >> *id >> recording >> part.begin_s >> part.end_s) || fields >> rest) {
    fail(ASR_BAD_FILE, "has not the four words of a segment: id, recording, begin and end");
  }
  if (part.end_s == -1) part.end_s = std::numeric_limits<double>::infinity();
  if (!(part.begin_s >= 0)) fail(ASR_BAD_FILE, "begins before the recording; check its times");
  if (!(part.end_s > part.begin_s)) fail(ASR_BAD_FILE, "ends before it begins; check its times");
  const auto found = recordings.find(recording);
  if (found == recordings.end())
    fail(ASR_BAD_FILE, "names the recording \"%s\", which wav.scp does not have", recording.c_str());
  if (!found->second.error.empty()) fail(ASR_BAD_FILE, "%s", found->second.error.c_str());
  part.path = found->second.path;
  return part;
}

}  // namespace

KaldiRecordings read_kaldi_data(const std::string &folder) {
  KaldiRecordings data;
  std::vector<Utterance> whole = read_recording_list("scp:" + folder + "/wav.scp");
  const std::string path = folder + "/segments";
  std::error_code unknown;
  if (!fs::exists(path, unknown)) {
    data.recordings = std::move(whole);
    return data;
  }
  std::map<std::string, Utterance> by_id;
  for (Utterance &recording : whole) by_id.try_emplace(recording.id, recording);
  std::istringstream lines(read_text(path, {"a list of segments", {}, Characters::kAsTheyAre}));
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    Utterance segment;
    segment.number = data.parts.size();
    segment.id = segment.place = format("%s:%zu", path.c_str(), number);
    data.parts.emplace_back();
    try {
      std::string id;
      data.parts.back() = part_of(line, by_id, &id);
      segment.id = id;
      segment.path = data.parts.back().path;
    } catch (const Error &error) {
      segment.error = error.what();
    }
    data.recordings.push_back(std::move(segment));
  }
  return data;
}

RecordingTable read_recording_table(const std::string &path) {
  const std::vector<CsvRow> rows = parse_csv(read_text(path, {"a table of recordings", {}, Characters::kAsTheyAre}), path);
  if (rows.size() < 2)
    fail(ASR_BAD_FILE, "%s: has no rows; write a header, as path,text, and a row for each recording", path.c_str());
  const std::vector<std::string> &header = rows.front().fields;
  const size_t paths = column_of(header, {"path", "file", "filename", "file_name", "audio", "audio_filepath", "wav_filename"});
  const size_t texts = column_of(header, {"text", "sentence", "transcript", "transcription"});
  const size_t ids = column_of(header, {"id", "utt_id", "utterance"});
  for (const auto &[column, name] : {std::pair(paths, "path"), std::pair(texts, "text")}) {
    if (column == header.size()) {
      fail(ASR_BAD_FILE, "%s: its first line names no column \"%s\"; write a header, as path,text", path.c_str(), name);
    }
  }
  RecordingTable table;
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::vector<std::string> &fields = rows[i].fields;
    Utterance recording;
    recording.number = table.recordings.size();
    recording.place = format("%s:%zu", path.c_str(), rows[i].line);
    recording.id = recording.place;
    if (fields.size() != header.size()) {
      recording.error = format("has %zu fields, and the first line %zu; put fields with separators in double quotes",
                               fields.size(), header.size());
    } else if (fields[paths].empty()) {
      recording.error = "names no recording";
    } else {
      recording.path = (fs::path(path).parent_path() / fields[paths]).string();
      recording.id = ids < header.size() && !fields[ids].empty() ? fields[ids] : fs::path(fields[paths]).stem().string();
      table.texts.try_emplace(to_nfc(recording.id), kept_words(to_nfc(fields[texts]), kAsTheyAre));
    }
    table.recordings.push_back(std::move(recording));
  }
  return table;
}

std::vector<Utterance> recordings_below(const std::string &folder, std::vector<std::string> *passed_over) {
  std::vector<fs::path> paths;
  std::vector<fs::path> folders{folder};  // to be read
  while (!folders.empty()) {
    const fs::path next = std::move(folders.back());
    folders.pop_back();
    std::error_code error;
    fs::directory_iterator entry(next, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::error_code unknown;  // of links that lead nowhere, for example
      if (entry->is_directory(unknown)) {
        const bool is_link = entry->is_symlink(unknown);
        if (!is_link) folders.push_back(entry->path());
        if (is_link) passed_over->push_back(entry->path().string() + ": is a link to a folder, which is not followed");
      } else if (is_recording(entry->path()) && entry->is_regular_file(unknown)) {
        paths.push_back(entry->path());
      }
    }
    if (!error) continue;
    if (next == folder) fail(ASR_IO, "%s: cannot be read: %s", folder.c_str(), error.message().c_str());
    passed_over->push_back(next.string() + ": the folder cannot be read: " + error.message());
  }
  std::sort(passed_over->begin(), passed_over->end());
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
