// SPDX-License-Identifier: Apache-2.0
#include "tools/ctm.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "builder/text/unicode.h"
#include "core/base/error.h"
#include "core/base/parse_json.h"

namespace asr::tool {
namespace {

constexpr double kMinDoubt = 1e-4;

class Reader {
 public:
  Reader(const std::string &path, const TranscriptOptions &options) : path_(path), options_(options) {}

  std::map<std::string, ConfidentWords> read(const std::string &text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      ++line_number_;
      const size_t begin = line.find_first_not_of(" \t\r");
      if (begin == std::string::npos || line.compare(begin, 2, ";;") == 0) continue;
      line[begin] == '{' ? read_json(line) : read_ctm(line);
    }
    return std::move(all_);
  }

 private:
  const std::string &path_;
  const TranscriptOptions &options_;
  size_t line_number_ = 0;
  std::map<std::string, ConfidentWords> all_;

  [[noreturn]] void fail_here(const char *what) const {
    fail(ASR_BAD_FILE, "%s: line %zu: %s", path_.c_str(), line_number_, what);
  }

  void add(const std::string &id, const std::string &word, double confidence) {
    if (!(confidence >= 0 && confidence <= 1)) fail_here("the confidence is not within 0 ... 1");
    ConfidentWords &utterance = all_[id];
    const Words kept = kept_words(to_nfc(word), options_);  // empty for fillers
    utterance.words.insert(utterance.words.end(), kept.begin(), kept.end());
    utterance.confidences.resize(utterance.words.size(), confidence);
  }

  void read_ctm(const std::string &line) {
    std::istringstream fields(line);
    std::string id, channel, start, duration, word, confidence;
    if (!(fields >> id >> channel >> start >> duration >> word >> confidence)) {
      fail_here("a line of a CTM with confidences has six fields: utt-id, channel, start, duration, word, confidence");
    }
    char *end = nullptr;
    const double value = std::strtod(confidence.c_str(), &end);
    if (*end != 0) fail_here("the confidence is not a number");
    add(id, word, value);
  }

  void read_json(const std::string &line) {
    const JsonText parsed(line, path_, false);
    const nlohmann::json &json = parsed.root();
    if (!json.is_object() || !json.contains("id") || !json["id"].is_string()) fail_here("this is not JSON with an \"id\"");
    const std::string id = json["id"];
    all_[id];
    if (json.contains("error")) return;
    if (json.contains("rejected") && json["rejected"] == true) return;  // as in text, CTM and --hyp
    for (const nlohmann::json &item : json.value("words", nlohmann::json::array())) {
      const bool complete = item.is_object() && item.contains("word") && item["word"].is_string() &&
                            item.contains("confidence") && item["confidence"].is_number();
      if (!complete) fail_here("a word lacks its \"word\" or \"confidence\"");
      add(id, item["word"], item["confidence"]);
    }
  }
};

}  // namespace

std::map<std::string, ConfidentWords> parse_confident_words(const std::string &text, const std::string &path,
                                                            const TranscriptOptions &options) {
  return Reader(path, options).read(text);
}

void CrossEntropy::add(bool right, double confidence) {
  const double c = std::clamp(confidence, kMinDoubt, 1 - kMinDoubt);
  ++(right ? n_right_ : n_wrong_);
  log2_sum_ += std::log2(right ? c : 1 - c);
}

double CrossEntropy::normalised() const {
  if (n_right_ == 0 || n_wrong_ == 0) return std::numeric_limits<double>::quiet_NaN();
  const double right = double(n_right_), wrong = double(n_wrong_), p = right / (right + wrong);
  const double entropy = -right * std::log2(p) - wrong * std::log2(1 - p);
  return (entropy + log2_sum_) / entropy;
}

}  // namespace asr::tool
