// SPDX-License-Identifier: Apache-2.0
#include "tools/recording_list.h"

#include <filesystem>
#include <sstream>

#include "builder/text/text_file.h"
#include "core/base/error.h"

namespace asr::tool {
namespace {

namespace fs = std::filesystem;

constexpr char kBlanks[] = " \t\r\f\v";

std::string trimmed(const std::string &text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

bool is_file(const std::string &path) {
  std::error_code error;
  return path == "-" || fs::exists(path, error);
}

// A line's path and id; an empty id is the path's stem.
struct Fields {
  std::string path, id;
};

// Splits at the first blanks.
Fields split(const std::string &line) {
  const size_t end = line.find_first_of(kBlanks);
  return end == std::string::npos ? Fields{line, ""} : Fields{line.substr(0, end), trimmed(line.substr(end))};
}

Fields fields_of_scp(const std::string &line) {
  const Fields fields = split(line);
  if (fields.id.empty()) fail(ASR_BAD_FILE, "is not an id and a path, as wav.scp has them");
  return {fields.id, fields.path};
}

// Refuses lines "utterance recording begin end" of Kaldi's file `segments`.
void check_no_segment(const std::string &line) {
  std::istringstream fields(line);
  std::string utterance, recording, rest;
  double begin_s, end_s;
  if (!(fields >> utterance >> recording >> begin_s >> end_s) || fields >> rest || is_file(line)) return;
  fail(ASR_BAD_FILE, "is a line of Kaldi's segments; parts of recordings are not read; cut them out into files");
}

// Refuses rows of a table, such as DeepSpeech's "wav_filename,wav_filesize,transcript".
void check_no_table(const std::string &line) {
  if (line.find(',') == std::string::npos || is_file(line) || is_file(split(line).path)) return;
  if (line.find(".wav,") == std::string::npos && line.find(".flac,") == std::string::npos &&
      line.find(".mp3,") == std::string::npos && line.find("filename,") == std::string::npos && line.find("path,") != 0) {
    return;
  }
  fail(ASR_BAD_FILE, "is a row of a table with commas (CSV); make lines of \"path [id]\" of it");
}

Fields fields_of_list(const std::string &line) {
  if (line[0] == '"') {
    const size_t end = line.find('"', 1);
    if (end == std::string::npos) fail(ASR_BAD_FILE, "has a quote without an end");
    return {line.substr(1, end - 1), trimmed(line.substr(end + 1))};
  }
  const size_t tab = line.find('\t');
  if (tab != std::string::npos) return {trimmed(line.substr(0, tab)), trimmed(line.substr(tab))};
  Fields fields = split(line);
  if (!fields.id.empty() && !is_file(fields.path) && is_file(line)) return {line, ""};
  check_no_segment(line);
  check_no_table(line);
  if (fields.id.find_first_of(kBlanks) != std::string::npos) {
    fail(ASR_BAD_FILE, "is not \"path [id]\"; put a path with blanks in double quotes");
  }
  return fields;
}

Utterance recording_of(const std::string &line, bool is_scp) {
  Fields fields = is_scp || line.back() == '|' ? fields_of_scp(line) : fields_of_list(line);
  Utterance recording;
  recording.path = fields.path;
  recording.id = fields.id.empty() ? fs::path(fields.path).stem().string() : fields.id;
  if (recording.path.empty()) recording.error = "names no recording";
  if (line.back() == '|') {
    recording.error = "is a command (a pipe); commands are not run, write its output to a file and name that";
  }
  return recording;
}

// Returns true if the first line of two words is "id path".
bool looks_like_scp(const std::string &text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    const Fields fields = split(line);
    if (line.empty() || line[0] == '#' || line[0] == '"' || fields.id.empty()) continue;
    return !is_file(fields.path) && !is_file(line) && (line.back() == '|' || is_file(fields.id));
  }
  return false;
}

}  // namespace

std::vector<Utterance> read_recording_list(const std::string &name) {
  const bool is_named_scp = name.rfind("scp:", 0) == 0;
  const std::string path = is_named_scp ? name.substr(4) : name;
  const std::string text = read_text(path, {"a list of recordings", {}, Characters::kAsTheyAre});
  const bool is_scp = is_named_scp || fs::path(path).extension() == ".scp" || looks_like_scp(text);
  std::vector<Utterance> recordings;
  std::istringstream lines(text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = trimmed(line);
    if (line.empty() || line[0] == '#') continue;
    Utterance recording;
    try {
      recording = recording_of(line, is_scp);
    } catch (const Error &error) {
      recording.id = recording.path = line;
      recording.error = error.what();
    }
    recording.place = format("%s:%zu", path.c_str(), number);
    if (!recording.error.empty()) recording.error = recording.place + ": " + recording.id + ": " + recording.error;
    recordings.push_back(std::move(recording));
  }
  return recordings;
}

}  // namespace asr::tool
