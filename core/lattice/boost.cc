// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/boost.h"

#include <algorithm>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/printable.h"
#include "core/lattice/prune.h"

namespace asr {
namespace {

// Scores to subtract: none.
class NoScores : public WordScores {
 public:
  uint32_t start() override { return 0; }
  double advance(uint32_t, uint32_t, uint32_t *next) override { return *next = 0; }
  double end(uint32_t) override { return 0; }
};

}  // namespace

std::vector<std::vector<std::string>> boosted_phrases(const std::string &text) {
  std::vector<std::vector<std::string>> phrases;
  std::istringstream lines(text);
  lines.seekg(static_cast<std::streamoff>(begin_of_text(text)));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> phrase;
    for (std::string word; words >> word;) phrase.push_back(word);
    if (!phrase.empty() && phrase[0][0] != '#') phrases.push_back(std::move(phrase));
  }
  return phrases;
}

std::string UnheardPhrases::what() const {
  constexpr size_t kMaxWordBytes = 40, kMaxListBytes = kMaxMessageBytes / 2;
  std::string list;
  size_t n_listed = 0;
  for (; n_listed < missing.size() && list.size() < kMaxListBytes; ++n_listed) {
    char word[kMaxWordBytes + 1];
    print_into(word, sizeof(word), missing[n_listed]);  // cuts no character in half, and shows zero bytes
    list += std::string(list.empty() ? "'" : ", '") + word + "'";
  }
  if (n_listed < missing.size()) list += format(" and %zu more", missing.size() - n_listed);
  return format("%zu of %zu phrases have words that the graph lacks (", phrases.size(), n_all) + list +
         "), so that they are never heard";
}

GraphBoost::GraphBoost(const Boost &given, const WordIndex &index) {
  boost.bonus = given.bonus;
  unheard.n_all = given.phrases.size();
  std::unordered_set<std::string> missing;
  for (const std::vector<std::string> &phrase : given.phrases) {
    std::vector<std::string> spelled;
    for (const std::string &word : phrase) {
      if (const std::string *const found = index.find(word)) {
        spelled.push_back(*found);
      } else if (missing.insert(word).second) {
        unheard.missing.push_back(word);
      }
    }
    if (spelled.size() == phrase.size()) {
      boost.phrases.push_back(std::move(spelled));
    } else {
      unheard.phrases.push_back(phrase);
    }
  }
}

BoostScores::BoostScores(const Boosts &boosts, WordText text_of, const StopToken &stop)
    : text_of_(std::move(text_of)), states_(1) {
  for (const auto &boost : boosts) {
    for (const std::vector<std::string> &phrase : boost->phrases) {
      stop.check();
      add(phrase, boost->bonus);
    }
  }
  link(stop);
}

void BoostScores::add(const std::vector<std::string> &phrase, double bonus) {
  uint32_t state = 0;
  for (const std::string &word : phrase) {
    const uint32_t number = number_of_.emplace(word, static_cast<uint32_t>(number_of_.size())).first->second;
    const auto [next, is_new] = states_[state].next.emplace(number, static_cast<uint32_t>(states_.size()));
    state = next->second;
    if (is_new) states_.emplace_back();
  }
  states_[state].bonus += bonus;
}

// Links states with shorter prefixes first.
void BoostScores::link(const StopToken &stop) {
  std::vector<uint32_t> order = {0};
  for (size_t i = 0; i < order.size(); ++i) {
    stop.check();
    const uint32_t state = order[i];
    for (const auto &[number, next] : states_[state].next) {
      states_[next].shorter = state == 0 ? 0 : step(states_[state].shorter, number);
      states_[next].bonus += states_[states_[next].shorter].bonus;
      order.push_back(next);
    }
  }
}

uint32_t BoostScores::step(uint32_t state, uint32_t number) const {
  for (;;) {
    const auto next = states_[state].next.find(number);
    if (next != states_[state].next.end()) return next->second;
    if (state == 0) return 0;
    state = states_[state].shorter;
  }
}

uint32_t BoostScores::number_of(uint32_t word) {
  const auto [symbol, is_new] = number_of_symbol_.emplace(word, kNoWord);
  if (is_new) {
    const auto found = number_of_.find(text_of_(word));
    if (found != number_of_.end()) symbol->second = found->second;
  }
  return symbol->second;
}

double BoostScores::advance(uint32_t state, uint32_t word, uint32_t *next) {
  const uint32_t number = number_of(word);
  *next = number == kNoWord ? 0 : step(state, number);
  return -states_[*next].bonus;
}

CompactLattice boosted(const CompactLattice &lattice, BoostScores *scores, double acoustic_scale, double lattice_beam,
                       const StopToken &stop) {
  NoScores none;
  const CompactLattice all = rescore(lattice, none, *scores, {kMaxBoostedStates, kMaxBoostedArcs, stop});
  stop.check();
  return prune(all, acoustic_scale, lattice_beam);
}

}  // namespace asr
