// SPDX-License-Identifier: Apache-2.0
#include "builder/g2p/pronounce.h"

#include <algorithm>
#include <map>

#include "builder/g2p/dictionary.h"
#include "builder/g2p/word_lattice.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

// Positions in a lattice: its nodes, then the middles of its arcs, between the two phones of a unit.
using Places = std::map<uint32_t, double>;  // position -> share of the ways at it

// A prefix of pronunciations, or a complete one.
struct Beginning {
  double share;  // share of the word's probability in ways with this prefix
  std::vector<uint32_t> phones;
  Places places;  // positions after the last phone; empty for a complete pronunciation
};

bool is_worse(const Beginning &a, const Beginning &b) {
  if (a.share != b.share) return a.share < b.share;
  return b.phones < a.phones;
}

// Search extends prefixes by one phone, the most probable first. A prefix's share is at least that of any extension, so
// pronunciations are found in the order of their posteriors.
class Search {
 public:
  Search(const G2pModel &model, const WordLattice &lattice, const G2pOptions &options)
      : model_(model), lattice_(lattice), options_(options) {}

  std::vector<G2pResult> run();

 private:
  const G2pModel &model_;
  const WordLattice &lattice_;
  const G2pOptions &options_;
  std::vector<Beginning> heap_;
  size_t n_steps_ = 0;  // number of visited arcs

  void push(Beginning beginning);
  Beginning pop();
  void spell_further(Beginning beginning);
};

void Search::push(Beginning beginning) {
  if (beginning.share < options_.min_share) return;
  heap_.push_back(std::move(beginning));
  std::push_heap(heap_.begin(), heap_.end(), is_worse);
}

Beginning Search::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), is_worse);
  Beginning best = std::move(heap_.back());
  heap_.pop_back();
  return best;
}

void Search::spell_further(Beginning beginning) {
  const uint32_t n_nodes = lattice_.n_nodes();
  std::map<uint16_t, Places> after;  // key: the next phone
  double whole = 0;
  // Arcs without phones lead to nodes with higher numbers, which the loop visits later.
  for (auto at = beginning.places.begin(); at != beginning.places.end(); ++at) {
    const auto [place, share] = *at;
    if (place >= n_nodes) {
      const WordLattice::Arc &arc = lattice_.arcs[place - n_nodes];
      after[model_.units[arc.unit].phones[1]][arc.to] += share;
      continue;
    }
    if (place + 1 == n_nodes) whole = share;
    n_steps_ += lattice_.first_arc[place + 1] - lattice_.first_arc[place];
    for (uint32_t i = lattice_.first_arc[place]; i < lattice_.first_arc[place + 1]; ++i) {
      const WordLattice::Arc &arc = lattice_.arcs[i];
      const G2pUnit &unit = model_.units[arc.unit];
      const double further = share * arc.share;
      if (unit.phones[0] == kNoSymbol) {
        beginning.places[arc.to] += further;
      } else if (unit.phones[1] == kNoSymbol) {
        after[unit.phones[0]][arc.to] += further;
      } else {
        after[unit.phones[0]][n_nodes + i] += further;
      }
    }
  }
  for (auto &[phone, places] : after) {
    Beginning longer{0, beginning.phones, {}};
    longer.places.swap(places);
    for (const auto &[place, share] : longer.places) longer.share += share;
    longer.phones.push_back(phone);
    push(std::move(longer));
  }
  if (whole > 0 && !beginning.phones.empty()) push({whole, std::move(beginning.phones), {}});
}

std::vector<G2pResult> Search::run() {
  std::vector<G2pResult> results;
  if (lattice_.n_nodes() == 0) return results;
  push({1, {}, {{0, 1}}});
  while (!heap_.empty() && results.size() < options_.n_best) {
    Beginning best = pop();
    if (best.places.empty()) {
      results.push_back({std::move(best.phones), best.share});
      continue;
    }
    if (n_steps_ >= kMaxSpellingSteps) {  // from here on only complete ones and the best prefix go on
      const auto is_part = [](const Beginning &beginning) { return !beginning.places.empty(); };
      heap_.erase(std::remove_if(heap_.begin(), heap_.end(), is_part), heap_.end());
      std::make_heap(heap_.begin(), heap_.end(), is_worse);
    }
    spell_further(std::move(best));
  }
  return results;
}

std::vector<uint16_t> letter_numbers(const G2pModel &model, const std::string &word) {
  const std::vector<uint32_t> letters = letters_of(word, "a word to pronounce");
  if (letters.empty() || letters.size() > kMaxSpelledLetters) {
    fail(ASR_INVALID_ARGUMENT, "'%.40s' has %zu letters; a word to pronounce has 1 to %zu", word.c_str(), letters.size(),
         kMaxSpelledLetters);
  }
  std::vector<uint16_t> numbers;
  for (const uint32_t letter : letters) {
    numbers.push_back(model.letter_number(letter));
    if (numbers.back() == kNoSymbol) {
      fail(ASR_INVALID_ARGUMENT,
           "'%s' has the letter '%s', which the dictionary of the pronunciation model has not; change the word or its case, or "
           "give its pronunciation in a dictionary",
           word.c_str(), letter_text(letter).c_str());
    }
  }
  return numbers;
}

}  // namespace

std::vector<G2pResult> pronounce(const G2pModel &model, const std::string &word, const G2pOptions &options) {
  return Search(model, make_word_lattice(model, letter_numbers(model, word), options.beam), options).run();
}

}  // namespace asr
