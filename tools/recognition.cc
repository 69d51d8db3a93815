// SPDX-License-Identifier: Apache-2.0
#include "tools/recognition.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace asr::tool {
namespace {

// A subtitle ends at a pause, or when it is long to read or to hear.
constexpr double kCuePause_s = 0.8, kCueLength_s = 6;
constexpr size_t kCueCharacters = 72;

std::string srt_time(double seconds) {
  const long ms = std::lround(1000 * seconds);
  return format("%02ld:%02ld:%02ld,%03ld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

}  // namespace

std::string to_json(const Recognition &r) {
  nlohmann::ordered_json json{{"id", r.id}, {"file", r.path}};
  if (!r.error.empty()) {
    json["error"] = r.error;
    return json.dump() + "\n";
  }
  json["audio_s"] = r.audio_s;
  json["text"] = r.text;
  json["graph_cost"] = r.graph_cost;
  json["acoustic_cost"] = r.acoustic_cost;
  json["reached_final"] = (r.flags & ASR_FLAG_NOT_FINAL_STATE) == 0;
  json["beam_died"] = (r.flags & ASR_FLAG_BEAM_DIED) != 0;
  json["words"] = nlohmann::ordered_json::array();
  for (const RecognisedWord &word : r.words) {
    nlohmann::ordered_json item{{"word", word.text}, {"start_s", word.start_s}, {"end_s", word.end_s}};
    if (word.confidence >= 0) item["confidence"] = word.confidence;
    json["words"].push_back(item);
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string to_ctm(const Recognition &r) {
  std::string text;
  for (const RecognisedWord &word : r.words) {
    text += format("%s 1 %.2f %.2f %s", r.id.c_str(), word.start_s, word.end_s - word.start_s, word.text.c_str());
    text += word.confidence >= 0 ? format(" %.3f\n", static_cast<double>(word.confidence)) : "\n";
  }
  return text;
}

std::string to_srt(const Recognition &r) {
  std::string all;
  int number = 0;
  for (size_t begin = 0, end; begin < r.words.size(); begin = end) {
    std::string cue = r.words[begin].text;
    for (end = begin + 1; end < r.words.size(); ++end) {
      const RecognisedWord &word = r.words[end];
      const bool breaks = word.start_s - r.words[end - 1].end_s > kCuePause_s ||
                          word.end_s - r.words[begin].start_s > kCueLength_s ||
                          cue.size() + 1 + word.text.size() > kCueCharacters;
      if (breaks) break;
      cue += " " + word.text;
    }
    all += format("%d\n%s --> %s\n%s\n\n", ++number, srt_time(r.words[begin].start_s).c_str(),
                  srt_time(r.words[end - 1].end_s).c_str(), cue.c_str());
  }
  return all;
}

std::string to_hyp(const Recognition &r) { return r.text + (r.text.empty() ? "(" : " (") + r.id + ")\n"; }

}  // namespace asr::tool
