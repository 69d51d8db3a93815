// SPDX-License-Identifier: Apache-2.0
#include "tools/alignment_output.h"

#include <functional>

#include "core/base/error.h"
#include "core/base/json_writer.h"

namespace asr::tool {
namespace {

std::string label(const TimedTranscript &transcript, const TimedWord &word) {
  return word.number == kForeign ? kForeignLabel : transcript.text[word.number];
}

std::unique_ptr<OutputFile> opened(const std::string &path) {
  if (path.empty()) return nullptr;
  return std::make_unique<OutputFile>(path == "-" ? "/dev/stdout" : path);
}

void write_ctm_line(OutputFile *file, const std::string &id, double begin_s, double end_s, const std::string &label) {
  file->write(format("%s 1 %.3f %.3f %s\n", id.c_str(), begin_s, end_s - begin_s, label.c_str()));
}

// An interval of a tier; those without a label lie between the others.
struct Interval {
  double begin_s, end_s;
  std::string label;
};

// Returns the intervals with others between them, so that they cover the recording, as Praat requires.
std::vector<Interval> covering(const std::vector<Interval> &labelled, double duration_s) {
  std::vector<Interval> all;
  double end_s = 0;
  for (const Interval &interval : labelled) {
    if (interval.begin_s > end_s) all.push_back({end_s, interval.begin_s, ""});
    all.push_back(interval);
    end_s = interval.end_s;
  }
  if (end_s < duration_s) all.push_back({end_s, duration_s, ""});
  return all;
}

// In Praat's text files quotes within a text are doubled.
std::string quoted(const std::string &text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string tier(int number, const std::string &name, const std::vector<Interval> &labelled, double duration_s) {
  const std::vector<Interval> intervals = covering(labelled, duration_s);
  std::string text = format(
      "    item [%d]:\n        class = \"IntervalTier\"\n        name = \"%s\"\n        xmin = 0\n"
      "        xmax = %.4f\n        intervals: size = %zu\n",
      number, name.c_str(), duration_s, intervals.size());
  for (size_t i = 0; i < intervals.size(); ++i) {
    text += format("        intervals [%zu]:\n            xmin = %.4f\n            xmax = %.4f\n            text = %s\n", i + 1,
                   intervals[i].begin_s, intervals[i].end_s, quoted(intervals[i].label).c_str());
  }
  return text;
}

// Praat's long text format (Boersma and Weenink, Praat manual, "TextGrid file formats").
std::string text_grid(const TimedTranscript &transcript) {
  std::vector<Interval> words, phones;
  for (const TimedWord &word : transcript.words) {
    words.push_back({word.begin_s(), word.end_s(), label(transcript, word)});
    for (const TimedPhone &phone : word.phones) phones.push_back({phone.begin_s, phone.end_s, phone.name});
  }
  return format(
             "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\nxmin = 0\nxmax = %.4f\ntiers? <exists>\nsize = 2\n"
             "item []:\n",
             transcript.duration_s) +
         tier(1, "words", words, transcript.duration_s) + tier(2, "phones", phones, transcript.duration_s);
}

void put_times(double begin_s, double end_s, JsonWriter *json) {
  json->key("start");
  json->value(begin_s);
  json->key("end");
  json->value(end_s);
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
      has_goodness_(paths.has_goodness),
      ctm_(opened(paths.ctm)),
      phone_ctm_(opened(paths.phone_ctm)),
      json_(opened(paths.json)) {}

void AlignmentOutput::write(const TimedTranscript &transcript) {
  for (const TimedWord &word : transcript.words) {
    if (ctm_) write_ctm_line(ctm_.get(), transcript.id, word.begin_s(), word.end_s(), label(transcript, word));
    if (!phone_ctm_) continue;
    for (const TimedPhone &phone : word.phones) {
      write_ctm_line(phone_ctm_.get(), transcript.id, phone.begin_s, phone.end_s, phone.name);
    }
  }
  if (json_) json_->write(json_line(transcript, has_goodness_));
  if (text_grids_.empty()) return;
  OutputFile file(text_grids_ + "/" + transcript.id + ".TextGrid");
  file.write(text_grid(transcript));
  file.commit();
}

void AlignmentOutput::commit() {
  for (const auto &file : {ctm_.get(), phone_ctm_.get(), json_.get()}) {
    if (file != nullptr) file->commit();
  }
}

}  // namespace asr::tool
