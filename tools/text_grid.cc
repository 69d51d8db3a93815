// SPDX-License-Identifier: Apache-2.0
#include "tools/text_grid.h"

#include <charconv>
#include <cmath>

#include "builder/text/text_file.h"
#include "builder/text/unicode.h"
#include "core/base/error.h"

namespace asr::tool {
namespace {

// The values of a TextGrid's text: numbers, quoted texts and flags that stand by themselves. All else are comments, such as
// "xmin =" and "intervals [1]:", so both formats have the same values.
class Values {
 public:
  Values(const std::string &text, const std::string &source) : text_(text), source_(source) {}

  double number() {
    const std::string value = next();
    double parsed = 0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (error != std::errc() || stop != value.data() + value.size() || !std::isfinite(parsed)) refuse("a number", value);
    return parsed;
  }

  size_t count() {
    const double n = number();
    if (n < 0 || n > static_cast<double>(text_.size()) || n != std::floor(n)) refuse("a count", format("%g", n));
    return static_cast<size_t>(n);
  }

  std::string quoted() {
    const std::string value = next();
    if (value.empty() || value.front() != '"') refuse("a quoted text", value);
    return value.substr(1);
  }

  bool exists() {
    const std::string value = next();
    if (value != "<exists>" && value != "<absent>") refuse("<exists>", value);
    return value == "<exists>";
  }

 private:
  const std::string &text_, &source_;
  size_t at_ = 0;

  [[noreturn]] void refuse(const char *wanted, const std::string &value) const {
    fail(ASR_BAD_FILE, "%s: has '%.40s' where a TextGrid has %s; save it from Praat as a text file", source_.c_str(),
         value.c_str(), wanted);
  }

  // Returns the next value, texts with their first quote; "" at the end.
  std::string next() {
    for (;;) {
      at_ = text_.find_first_not_of(" \t\r\n", at_);
      if (at_ == std::string::npos) {
        at_ = text_.size();
        return "";
      }
      if (text_[at_] == '"') return text_to_quote();
      const size_t end = std::min(text_.find_first_of(" \t\r\n", at_), text_.size());
      std::string token = text_.substr(at_, end - at_);
      at_ = end;
      if (token[0] == '!') at_ = std::min(text_.find('\n', at_), text_.size());  // a comment up to the end of the line
      if (token[0] == '<' || token[0] == '-' || (token[0] >= '0' && token[0] <= '9')) return token;
    }
  }

  // A quote within a text is doubled.
  std::string text_to_quote() {
    std::string value = "\"";
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"' && (at_ + 1 == text_.size() || text_[++at_] != '"')) return value;
      value += text_[at_];
    }
    fail(ASR_BAD_FILE, "%s: ends within a quoted text; check how it was copied", source_.c_str());
  }
};

std::vector<LabelledInterval> covering(const std::vector<LabelledInterval> &labelled, double duration_s) {
  std::vector<LabelledInterval> all;
  double end_s = 0;
  for (const LabelledInterval &interval : labelled) {
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

std::string tier_text(size_t number, const IntervalTier &tier, double duration_s) {
  const std::vector<LabelledInterval> intervals = covering(tier.intervals, duration_s);
  std::string text = format(
      "    item [%zu]:\n        class = \"IntervalTier\"\n        name = %s\n        xmin = 0\n"
      "        xmax = %.4f\n        intervals: size = %zu\n",
      number, quoted(tier.name).c_str(), duration_s, intervals.size());
  for (size_t i = 0; i < intervals.size(); ++i) {
    text += format("        intervals [%zu]:\n            xmin = %.4f\n            xmax = %.4f\n            text = %s\n", i + 1,
                   intervals[i].begin_s, intervals[i].end_s, quoted(intervals[i].label).c_str());
  }
  return text;
}

}  // namespace

// Praat's default is UTF-16 for texts with letters beyond ASCII.
TextGrid parse_text_grid(std::string bytes, const std::string &source) {
  if (bytes.compare(0, 12, "ooBinaryFile") == 0) {
    fail(ASR_BAD_FILE, "%s: is a binary file of Praat; save it there as a text file", source.c_str());
  }
  const bool is_big = bytes.compare(0, 2, "\xfe\xff") == 0;
  if (is_big || bytes.compare(0, 2, "\xff\xfe") == 0) bytes = from_utf16(std::string_view(bytes).substr(2), is_big);
  const std::string text = text_of(std::move(bytes), source, {"a TextGrid"});
  Values values(text, source);
  if (values.quoted() != "ooTextFile" || values.quoted() != "TextGrid") {
    fail(ASR_BAD_FILE, "%s: is no TextGrid; save it from Praat as a text file", source.c_str());
  }
  values.number();
  values.number();
  if (!values.exists()) return {};
  TextGrid grid;
  for (size_t n = values.count(); n > 0; --n) {
    const bool has_intervals = values.quoted() == "IntervalTier";
    IntervalTier tier{values.quoted(), {}};
    values.number();
    values.number();
    for (size_t n_intervals = values.count(); n_intervals > 0; --n_intervals) {
      LabelledInterval interval{values.number(), 0, ""};
      if (has_intervals) interval.end_s = values.number();
      interval.label = values.quoted();
      tier.intervals.push_back(std::move(interval));
    }
    has_intervals ? grid.tiers.push_back(std::move(tier)) : grid.point_tiers.push_back(std::move(tier.name));
  }
  return grid;
}

std::string text_grid(const std::vector<IntervalTier> &tiers, double duration_s) {
  std::string text = format(
      "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\nxmin = 0\nxmax = %.4f\ntiers? <exists>\nsize = %zu\nitem "
      "[]:\n",
      duration_s, tiers.size());
  for (size_t i = 0; i < tiers.size(); ++i) text += tier_text(i + 1, tiers[i], duration_s);
  return text;
}

}  // namespace asr::tool
