// SPDX-License-Identifier: Apache-2.0
#include "tools/alignment_output.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/json_writer.h"
#include "tools/text_grid.h"

namespace asr::tool {
namespace {

std::string label(const TimedTranscript &transcript, const TimedWord &word) {
  return word.number == kForeign ? kForeignLabel : transcript.text[word.number];
}

std::unique_ptr<OutputFile> opened(const std::string &path) {
  if (path.empty()) return nullptr;
  return std::make_unique<OutputFile>(path == "-" ? "/dev/stdout" : path);
}

// Milliseconds are rounded before they are subtracted, so that lines that follow each other do not overlap.
void write_ctm_line(OutputFile *file, const std::string &id, double begin_s, double end_s, const std::string &label) {
  const double begin_ms = std::round(begin_s * 1000), end_ms = std::round(end_s * 1000);
  file->write(format("%s 1 %.3f %.3f %s\n", id.c_str(), begin_ms / 1000, (end_ms - begin_ms) / 1000, label.c_str()));
}

std::string text_grid_of_words(const TimedTranscript &transcript) {
  IntervalTier words{"words", {}}, phones{"phones", {}};
  for (const TimedWord &word : transcript.words) {
    words.intervals.push_back({word.begin_s(), word.end_s(), label(transcript, word)});
    for (const TimedPhone &phone : word.phones) phones.intervals.push_back({phone.begin_s, phone.end_s, phone.name});
  }
  return text_grid({words, phones}, transcript.duration_s);
}

// A subtitle ends with a sentence, before a pause, or when it would be longer than this. The limits are those of the BBC's
// guidelines: two lines of 37 letters.
constexpr double kSubtitlePause_s = 0.8, kMaxSubtitle_s = 7;
constexpr size_t kMaxLineLetters = 37, kMaxLetters = 2 * kMaxLineLetters;

std::string subtitle_time(double s) {
  const auto ms = static_cast<unsigned>(s * 1000 + 0.5);
  return format("%02u:%02u:%02u,%03u", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

size_t n_letters(const std::string &text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

// Returns the words with a line break before the first that does not fit the first line.
std::string in_lines(const std::vector<std::string> &words) {
  std::string text;
  size_t n_line = 0;
  bool is_broken = false;
  for (const std::string &word : words) {
    const size_t n = n_letters(word);
    if (!text.empty() && !is_broken && n_line + 1 + n > kMaxLineLetters) {
      text += '\n';
      is_broken = true;
    } else if (!text.empty()) {
      text += ' ';
      ++n_line;
    }
    text += word;
    n_line += n;
  }
  return text;
}

// SubRip. What is said and is not in the text has no subtitle.
std::string subtitles(const TimedTranscript &transcript) {
  std::string text;
  std::vector<std::string> words;
  double begin_s = 0, end_s = 0;
  size_t n_written = 0, n = 0;
  const auto end = [&] {
    if (words.empty()) return;
    text += format("%zu\n%s --> %s\n%s\n\n", ++n_written, subtitle_time(begin_s).c_str(), subtitle_time(end_s).c_str(),
                   in_lines(words).c_str());
    words.clear();
  };
  for (const TimedWord &word : transcript.words) {
    if (word.number == kForeign) continue;
    const std::string &written = transcript.text[word.number];
    const bool ends_sentence = !words.empty() && strchr(".?!", words.back().back()) != nullptr;
    const bool is_long = word.end_s() - begin_s > kMaxSubtitle_s || n + 1 + n_letters(written) > kMaxLetters;
    if (ends_sentence || is_long || word.begin_s() - end_s > kSubtitlePause_s) end();
    if (words.empty()) begin_s = word.begin_s();
    n = words.empty() ? n_letters(written) : n + 1 + n_letters(written);
    words.push_back(written);
    end_s = word.end_s();
  }
  end();
  return text;
}

// Writes a file whole, in a folder that is made if it is missing.
void write_file(const std::string &path, const std::string &text) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(folder, error);
  if (error) {
    fail(ASR_IO, "%s: the folder cannot be made: %s; give another folder to write to", folder.c_str(), error.message().c_str());
  }
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void put_times(double begin_s, double end_s, JsonWriter *json) {
  const auto rounded = [](double s) { return std::round(s * 1e4) / 1e4; };
  json->key("start");
  json->value(rounded(begin_s));
  json->key("end");
  json->value(rounded(end_s));
}

void put_word(const TimedTranscript &transcript, const TimedWord &word, bool has_goodness, JsonWriter *json) {
  json->begin_object();
  json->key("word");
  json->value(label(transcript, word));
  if (word.number != kForeign) {
    json->key("number");
    json->value(word.number);
  }
  put_times(word.begin_s(), word.end_s(), json);
  if (word.phones.front().goodness) {
    json->key("confidence");
    json->value(std::round(word.confidence() * 1e4) / 1e4);
  }
  json->key("phones");
  json->begin_array();
  for (const TimedPhone &phone : word.phones) {
    json->begin_object();
    json->key("phone");
    json->value(phone.name);
    put_times(phone.begin_s, phone.end_s, json);
    json->key("log_likelihood");
    json->value(phone.log_likelihood);
    if (has_goodness && phone.goodness) {
      json->key("goodness");
      json->value(*phone.goodness);
      json->key("likeliest");
      json->value(phone.likeliest);
    }
    json->end_object();
  }
  json->end_array();
  json->end_object();
}

std::string json_line(const TimedTranscript &transcript, bool has_goodness) {
  JsonWriter json;
  json.begin_object();
  json.key("id");
  json.value(transcript.id);
  json.key("duration");
  json.value(transcript.duration_s);
  json.key("words");
  json.begin_array();
  for (const TimedWord &word : transcript.words) put_word(transcript, word, has_goodness, &json);
  json.end_array();
  json.key("not_said");
  json.begin_array();
  for (const uint32_t number : not_said(transcript)) json.value(number);
  json.end_array();
  json.end_object();
  return json.text() + "\n";
}

}  // namespace

AlignmentOutput::AlignmentOutput(const AlignmentPaths &paths)
    : text_grids_(paths.text_grids),
      subtitles_(paths.subtitles),
      has_goodness_(paths.has_goodness),
      ctm_(opened(paths.ctm)),
      phone_ctm_(opened(paths.phone_ctm)),
      json_(opened(paths.json)) {}

void AlignmentOutput::write(const TimedTranscript &transcript) {
  if (!text_grids_.empty()) write_file(text_grid_of(transcript.id), text_grid_of_words(transcript));
  if (!subtitles_.empty()) write_file(subtitles_of(transcript.id), subtitles(transcript));
  for (const TimedWord &word : transcript.words) {
    if (ctm_) write_ctm_line(ctm_.get(), transcript.id, word.begin_s(), word.end_s(), label(transcript, word));
    if (!phone_ctm_) continue;
    for (const TimedPhone &phone : word.phones) {
      write_ctm_line(phone_ctm_.get(), transcript.id, phone.begin_s, phone.end_s, phone.name);
    }
  }
  if (json_) json_->write(json_line(transcript, has_goodness_));
}

bool AlignmentOutput::has_all_of(const std::string &id) const {
  if (ctm_ || phone_ctm_ || json_) return false;
  const auto is_written = [](const std::string &path) {
    std::error_code unknown;
    return std::filesystem::is_regular_file(path, unknown) && std::filesystem::file_size(path, unknown) > 0;
  };
  const bool has_grid = text_grids_.empty() || is_written(text_grid_of(id));
  return has_grid && (subtitles_.empty() || is_written(subtitles_of(id)));
}

std::string AlignmentOutput::text_grid_of(const std::string &id) const {
  return text_grids_.empty() ? "" : text_grids_ + "/" + id + ".TextGrid";
}

std::string AlignmentOutput::subtitles_of(const std::string &id) const {
  return subtitles_.empty() ? "" : subtitles_ + "/" + id + ".srt";
}

void AlignmentOutput::commit() {
  for (const auto &file : {ctm_.get(), phone_ctm_.get(), json_.get()}) {
    if (file != nullptr) file->commit();
  }
}

}  // namespace asr::tool
