// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/arpa.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr double kLn10 = 2.302585092994046;
constexpr double kMaxRounding = 1e-4;  // by which the logarithm of probability 1 may be above 0 in a rounded file

class ArpaReader {
 public:
  ArpaReader(const std::string &text, const std::string &source) : text_(text), source_(source) {}

  NgramModel read() {
    do {
      if (!next_line())
        fail(ASR_BAD_FILE, "%s: has no line \\data\\, so it is no language model in ARPA form; name one", source_.c_str());
    } while (trimmed() != "\\data\\");
    read_counts();
    std::optional<NgramBuilder> builder;
    for (size_t level = 0; level < counts_.size(); ++level) read_section(level, builder);
    if (trimmed() != "\\end\\") bad("\\end\\ expected after the last n-gram");
    return builder->finish();
  }

 private:
  const std::string &text_;
  const std::string &source_;
  size_t at_ = 0, line_number_ = 0;
  std::string_view line_;
  std::vector<uint32_t> counts_;
  std::unordered_map<std::string_view, uint32_t> word_ids_;
  std::vector<std::string_view> fields_;

  [[noreturn]] void bad(const std::string &what) const {
    fail(ASR_BAD_FILE, "%s: line %zu: %s; correct the line, or make the model again", source_.c_str(), line_number_,
         what.c_str());
  }
  [[noreturn]] void end_of_file(const char *missing) const {
    fail(ASR_BAD_FILE, "%s: line %zu: the file ends before %s; it is truncated; get it again", source_.c_str(), line_number_,
         missing);
  }

  bool next_line() {
    if (at_ >= text_.size()) return false;
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = std::string_view(text_).substr(at_, end - at_);
    at_ = end + 1;
    ++line_number_;
    return true;
  }

  void next_filled_line(const char *wanted) {
    do {
      if (!next_line()) end_of_file(wanted);
    } while (trimmed().empty());
  }

  std::string_view trimmed() const {
    const size_t begin = line_.find_first_not_of(" \t\r"), end = line_.find_last_not_of(" \t\r");
    return begin == std::string_view::npos ? std::string_view() : line_.substr(begin, end - begin + 1);
  }

  void split() {
    fields_.clear();
    for (size_t at = line_.find_first_not_of(" \t\r"); at != std::string_view::npos;) {
      const size_t end = std::min(line_.find_first_of(" \t\r", at), line_.size());
      fields_.push_back(line_.substr(at, end - at));
      at = line_.find_first_not_of(" \t\r", end);
    }
  }

  float cost(std::string_view field, bool is_probability) const {
    double log10 = 0;
    if (!field.empty() && field[0] == '+') field.remove_prefix(1);
    const auto parsed = std::from_chars(field.data(), field.data() + field.size(), log10);
    if (parsed.ec != std::errc() || parsed.ptr != field.data() + field.size() || !std::isfinite(log10)) {
      bad("'" + std::string(field) + "' is not a number");
    }
    if (is_probability && log10 > kMaxRounding) {
      fail(ASR_BAD_FILE, "%s: line %zu: %.*s is the logarithm of a probability above 1; correct the model, or make it anew",
           source_.c_str(), line_number_, static_cast<int>(field.size()), field.data());
    }
    if (std::abs(log10) > kMaxLogProbability) bad("'" + std::string(field) + "' is beyond a logarithm's limit of 1e10");
    return static_cast<float>(-kLn10 * (is_probability ? std::min(log10, 0.0) : log10));
  }

  void read_counts() {
    for (next_filled_line("the n-gram counts"); trimmed()[0] != '\\'; next_filled_line("\\1-grams:")) {
      size_t order = 0;
      unsigned long long count = 0;
      if (sscanf(std::string(trimmed()).c_str(), "ngram %zu = %llu", &order, &count) != 2) bad("'ngram N=count' expected");
      if (order != counts_.size() + 1) bad("counts must be given for 1-grams, 2-grams and so on, in order");
      if (order > kMaxNgramOrder) bad(format("n-grams of more than %zu words cannot be read", kMaxNgramOrder));
      if (count > text_.size() / (2 * order + 2)) bad("the count is larger than the file can hold");
      counts_.push_back(static_cast<uint32_t>(count));
    }
    if (counts_.empty() || counts_[0] == 0) bad("no n-gram counts found");
  }

  // On entry the current line is the section's heading; on return it is the next heading.
  void read_section(size_t level, std::optional<NgramBuilder> &builder) {
    const std::string heading = format("\\%zu-grams:", level + 1);
    if (trimmed() != heading) bad(heading + " expected");
    std::vector<std::string> words;
    std::vector<float> unigram_costs;
    if (level > 0) builder->reserve(level, counts_[level]);
    uint32_t n = 0;
    std::vector<uint32_t> ids(level + 1);
    for (next_filled_line("\\end\\"); trimmed()[0] != '\\' || !is_heading(); next_filled_line("\\end\\")) {
      split();
      const bool has_backoff = fields_.size() == level + 3;
      if (fields_.size() != level + 2 && !has_backoff) bad(format("a logarithm and %zu words expected", level + 1));
      const float word_cost = cost(fields_[0], true), backoff = has_backoff ? cost(fields_.back(), false) : 0.0f;
      if (++n > counts_[level]) bad(format("more %zu-grams than the %u announced", level + 1, counts_[level]));
      if (level == 0) {
        if (!word_ids_.emplace(fields_[1], n - 1).second) {
          const auto is_ascii = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
          const bool has_accents = !std::all_of(fields_[1].begin(), fields_[1].end(), is_ascii);
          fail(ASR_BAD_FILE, "%s: line %zu: the word '%.*s' is listed twice%s", source_.c_str(), line_number_,
               static_cast<int>(fields_[1].size()), fields_[1].data(),
               has_accents ? ", maybe with two codes of one accent; make the model of texts in Unicode's normal form C"
                           : " in the 1-grams; keep one of them and lower the number of 1-grams in \\data\\");
        }
        words.emplace_back(fields_[1]);
        unigram_costs.insert(unigram_costs.end(), {word_cost, backoff});
        continue;
      }
      for (size_t k = 0; k <= level; ++k) {
        const auto id = word_ids_.find(fields_[k + 1]);
        if (id == word_ids_.end()) bad("'" + std::string(fields_[k + 1]) + "' is not among the 1-grams");
        ids[k] = id->second;
      }
      builder->add(level, ids.data(), word_cost, backoff);
    }
    if (n != counts_[level]) bad(format("%u %zu-grams announced but %u found", counts_[level], level + 1, n));
    if (level > 0) return;
    builder.emplace(std::move(words), counts_.size(), source_);
    for (uint32_t i = 0; i < n; ++i) {
      const float *const costs = &unigram_costs[size_t{2} * i];
      builder->add(0, &i, costs[0], costs[1]);
    }
  }

  bool is_heading() const {
    const std::string_view text = trimmed();
    return text == "\\end\\" || (text.size() > 7 && text.substr(text.size() - 7) == "-grams:");
  }
};

}  // namespace

NgramModel parse_arpa(const std::string &text, const std::string &source) { return ArpaReader(text, source).read(); }

NgramModel read_arpa(const std::string &path) {
  return parse_arpa(read_text(path, {"a language model in ARPA form", {Format::kArpa}}), path);
}

}  // namespace asr
