// SPDX-License-Identifier: Apache-2.0
#include "tools/recognition.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "core/base/error.h"

namespace asr::tool {
namespace {

using Json = nlohmann::ordered_json;

// A subtitle ends at a pause, or when it becomes long to read or to hear.
constexpr double kCuePause_s = 0.8, kCueLength_s = 6;
constexpr size_t kCueCharacters = 72;

std::string srt_time(double seconds) {
  const long ms = std::lround(1000 * seconds);
  return format("%02ld:%02ld:%02ld,%03ld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

// Rounds seconds and probabilities for people: 0.41 instead of 0.41000000000000003. Six decimals are far below a frame and
// cover the precision of a float.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

void add_alternative(const RecognisedAlternative &alternative, Json *json) {
  (*json)["text"] = alternative.text;
  (*json)["graph_cost"] = alternative.graph_cost;
  (*json)["acoustic_cost"] = alternative.acoustic_cost;
}

Json list_of_tags(const std::string &tags) {
  Json list = Json::array();
  std::istringstream lines(tags);
  for (std::string tag; std::getline(lines, tag);) list.push_back(tag);
  return list;
}

void add_words(const RecognisedAlternative &alternative, Json *json) {
  Json &words = (*json)["words"] = Json::array();
  for (const RecognisedWord &word : alternative.words) {
    words.push_back({{"word", word.text}, {"start_s", rounded(word.start_s)}, {"end_s", rounded(word.end_s)}});
    if (word.confidence >= 0) words.back()["confidence"] = rounded(word.confidence);
    if (!word.rule.empty()) words.back()["rule"] = word.rule;
    if (!word.tags.empty()) words.back()["tags"] = list_of_tags(word.tags);
  }
}

// Returns the names of ASR_FLAG_*, in lower case.
Json names_of_flags(const Recognition &r) {
  constexpr std::pair<uint32_t, const char *> kNames[] = {{ASR_FLAG_NOT_FINAL_STATE, "not_final_state"},
                                                          {ASR_FLAG_BEAM_DIED, "beam_died"},
                                                          {ASR_FLAG_NO_SPEECH, "no_speech"},
                                                          {ASR_FLAG_BEAM_NARROWED, "beam_narrowed"},
                                                          {ASR_FLAG_FELL_BACK, "fell_back"},
                                                          {ASR_FLAG_CANCELLED, "cancelled"},
                                                          {ASR_FLAG_REJECTED, "rejected"},
                                                          {ASR_FLAG_CUT, "cut"}};
  Json names = Json::array();
  for (const auto &[flag, name] : kNames) {
    if (r.has(flag)) names.push_back(name);
  }
  return names;
}

}  // namespace

std::string to_text(const Recognition &r) {
  if (r.is_left_out) return "\n";
  if (r.others.empty()) return r.best.text + "\n";
  std::string lines;
  int number = 0;
  const auto add = [&](const RecognisedAlternative &alternative) {
    const double cost = alternative.graph_cost + r.acoustic_scale * alternative.acoustic_cost;
    lines += format("%d\t%.3f\t%s\n", ++number, cost, alternative.text.c_str());
  };
  add(r.best);
  for (const RecognisedAlternative &alternative : r.others) add(alternative);
  return lines;
}

std::string to_json(const Recognition &r) {
  Json json{{"id", r.id}, {"file", r.path}};
  if (!r.error.empty()) {
    json["error"] = r.error;
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";  // also accepts names that are not UTF-8
  }
  if (r.part > 0) json["utterance"] = r.part;
  json["audio_s"] = rounded(r.audio_s);
  add_alternative(r.best, &json);
  json["reached_final"] = !r.has(ASR_FLAG_NOT_FINAL_STATE);
  json["beam_died"] = r.has(ASR_FLAG_BEAM_DIED);
  const bool is_compared = r.out_of_grammar >= 0;
  json["out_of_grammar"] = is_compared ? Json(rounded(static_cast<double>(r.out_of_grammar))) : Json();
  json["rejected"] = is_compared ? Json(r.has(ASR_FLAG_REJECTED)) : Json();
  json["lattice_beam"] = r.lattice_beam ? Json(rounded(*r.lattice_beam)) : Json();
  json["flags"] = names_of_flags(r);
  add_words(r.best, &json);
  for (const RecognisedAlternative &other : r.others) {
    Json item;
    add_alternative(other, &item);
    add_words(other, &item);
    json["others"].push_back(item);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_ctm(const Recognition &r) {
  std::string text;
  if (r.is_left_out) return text;
  for (const RecognisedWord &word : r.best.words) {
    text += format("%s 1 %.2f %.2f %s", r.id.c_str(), word.start_s, word.end_s - word.start_s, word.text.c_str());
    text += word.confidence >= 0 ? format(" %.3f\n", static_cast<double>(word.confidence)) : "\n";
  }
  return text;
}

std::string to_srt(const Recognition &r, int *number) {
  std::string all;
  if (r.is_left_out) return all;
  const std::vector<RecognisedWord> &words = r.best.words;
  for (size_t begin = 0, end; begin < words.size(); begin = end) {
    std::string cue = words[begin].text;
    for (end = begin + 1; end < words.size(); ++end) {
      const RecognisedWord &word = words[end];
      const bool breaks = word.start_s - words[end - 1].end_s > kCuePause_s ||
                          word.end_s - words[begin].start_s > kCueLength_s ||
                          cue.size() + 1 + word.text.size() > kCueCharacters;
      if (breaks) break;
      cue += " " + word.text;
    }
    all += format("%d\n%s --> %s\n%s\n\n", ++*number, srt_time(words[begin].start_s).c_str(),
                  srt_time(words[end - 1].end_s).c_str(), cue.c_str());
  }
  return all;
}

std::string to_hyp(const Recognition &r) {
  std::string text = r.is_left_out ? "" : r.best.text;
  for (const Recognition &part : r.parts) {
    if (!part.is_left_out) text += (text.empty() ? "" : " ") + part.best.text;
  }
  return text + (text.empty() ? "(" : " (") + r.id + ")\n";
}

}  // namespace asr::tool
