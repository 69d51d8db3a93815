// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/spelled_words.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace asr {
namespace {

constexpr char kWordMark[] = "\xe2\x96\x81";  // U+2581

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// Scores of SentencePiece's pairs are 0 for what is no pair, then -0, -1, -2 ...; those of its other models are logarithms.
bool all_ranks(const std::vector<float> &scores) {
  const auto is_rank = [](float score) { return score <= 0 && score == std::floor(score); };
  return !scores.empty() && std::all_of(scores.begin(), scores.end(), is_rank);
}

}  // namespace

SpelledWords::SpelledWords(const HmmSet &set, const ScoreModel &scores)
    : scores_(scores.piece_scores), are_ranks_(all_ranks(scores.piece_scores)) {
  for (uint32_t token = 0; token < set.phones.size(); ++token) {
    if (token == scores.blank || token == scores.delimiter) continue;
    const std::string &name = set.phones[token].name;
    marks_beginnings_ = marks_beginnings_ || name.rfind(kWordMark, 0) == 0;
    longest_ = std::max(longest_, name.size());
    token_of_.emplace(name, token);
  }
}

const uint32_t *SpelledWords::find(const std::string &text) const {
  const auto found = token_of_.find(text);
  return found == token_of_.end() ? nullptr : &found->second;
}

bool SpelledWords::pronounces(const std::string &word) {
  if (words_.count(word) > 0) return true;
  const std::string text = marks_beginnings_ ? kWordMark + word : word;
  std::vector<uint32_t> tokens = are_ranks_ ? by_pairs(text) : by_sum(text);
  if (tokens.empty()) return false;
  words_[word].push_back(std::move(tokens));
  return true;
}

// The best tokens of each beginning of the text; of equals those whose last token is shorter, as the first is then longer.
std::vector<uint32_t> SpelledWords::by_sum(const std::string &text) const {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  struct Best {
    double sum;
    size_t from;
    uint32_t token;
  };
  std::vector<Best> best(text.size() + 1, {kNone, 0, 0});
  best[0].sum = 0;
  for (size_t end = 1; end <= text.size(); ++end) {
    for (size_t begin = end; begin-- > 0 && end - begin <= longest_;) {
      if (best[begin].sum == kNone) continue;
      const uint32_t *const token = find(text.substr(begin, end - begin));
      if (token == nullptr) continue;
      const double sum = best[begin].sum + (scores_.empty() ? -1.0 : static_cast<double>(scores_[*token]));
      if (sum > best[end].sum) best[end] = {sum, begin, *token};
    }
  }
  std::vector<uint32_t> tokens;
  if (text.empty() || best[text.size()].sum == kNone) return tokens;
  for (size_t end = text.size(); end > 0; end = best[end].from) tokens.push_back(best[end].token);
  std::reverse(tokens.begin(), tokens.end());
  return tokens;
}

// Joins the neighbours whose joint token has the best score, the first of equals, until none are left.
std::vector<uint32_t> SpelledWords::by_pairs(const std::string &text) const {
  std::vector<std::string> pieces;
  for (const char byte : text) {
    if (pieces.empty() || begins_character(byte)) pieces.emplace_back();
    pieces.back() += byte;
  }
  for (;;) {
    size_t at = pieces.size();
    float best = -std::numeric_limits<float>::infinity();
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      const uint32_t *const joint = find(pieces[i] + pieces[i + 1]);
      if (joint != nullptr && scores_[*joint] > best) best = scores_[*joint], at = i;
    }
    if (at == pieces.size()) break;
    pieces[at] += pieces[at + 1];
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  std::vector<uint32_t> tokens;
  for (const std::string &piece : pieces) {
    const uint32_t *const token = find(piece);
    if (token == nullptr) return {};
    tokens.push_back(*token);
  }
  return tokens;
}

}  // namespace asr
