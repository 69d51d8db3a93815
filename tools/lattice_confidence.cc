// SPDX-License-Identifier: Apache-2.0
// Implements `senone lattice confidence`: words with times and confidences, as a CTM file.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "core/lattice/confusion_network.h"
#include "tools/lattice.h"

namespace asr::tool {
namespace {

struct ConfidenceOptions {
  LatticeInput input;
  bool minimum_risk = false, network = false;
  double frame_shift_ms = 10;
};

std::vector<SlotWord> words_of(const ConfusionNetwork &network, const std::vector<WordPlace> &places) {
  std::vector<SlotWord> words;
  for (size_t i = 0; i < places.size(); ++i) {
    SlotWord word{places[i].word, 0, places[i].begin, places[i].end};
    for (const SlotWord &other : network.slots[2 * i + 1]) {
      if (other.word == word.word) word.posterior = other.posterior;
    }
    words.push_back(word);
  }
  return words;
}

void print_ctm(const std::string &id, const std::vector<SlotWord> &words, const WordSymbols &symbols, double frame_s) {
  for (const SlotWord &word : words) {
    printf("%s 1 %.3f %.3f %s %.6f\n", id.c_str(), frame_s * word.begin, frame_s * (word.end - word.begin),
           symbols.text(word.word).c_str(), word.posterior);
  }
}

// Prints a line per slot, except slots that no path uses: "utt-id begin end { word posterior } ...", <eps> for no word.
void print_network(const std::string &id, const ConfusionNetwork &network, const WordSymbols &symbols, double frame_s) {
  for (const std::vector<SlotWord> &slot : network.slots) {
    const auto said = std::find_if(slot.begin(), slot.end(), [](const SlotWord &word) { return word.word != 0; });
    if (said == slot.end()) continue;
    std::string line = format("%s %.3f %.3f", id.c_str(), frame_s * said->begin, frame_s * said->end);
    for (const SlotWord &word : slot) line += format(" %s %.6f", symbols.text(word.word).c_str(), word.posterior);
    printf("%s\n", line.c_str());
  }
}

void run(const ConfidenceOptions &options) {
  const WordSymbols symbols(options.input.words_path);
  const double scale = options.input.acoustic_scale, frame_s = options.frame_shift_ms / 1000;
  const LatticesTried tried = options.input.for_each([&](const std::string &id, const CompactLattice &lattice) {
    MinimumRisk result;
    if (options.minimum_risk) {
      result = minimum_risk(lattice, scale);
    } else {
      const std::vector<WordPlace> best = best_words(lattice, scale);
      result.network = fold_onto(lattice, best, scale);
      result.words = words_of(result.network, best);
    }
    options.network ? print_network(id, result.network, symbols, frame_s) : print_ctm(id, result.words, symbols, frame_s);
  });
  tried.check(options.input.path);
}

}  // namespace

void add_lattice_confidence(Command lattice) {
  Command command = lattice.command("confidence", "Words with times and confidences: CTM lines");
  const auto options = std::make_shared<ConfidenceOptions>();
  add_lattice_path(command, &options->input);
  add_words_path(command, &options->input);
  add_acoustic_scale(command, &options->input);
  command.flag("--minimum-risk", options->minimum_risk, "The words with the fewest expected errors, not the best path's");
  command.flag("--network", options->network, "Print the confusion network: a line for each slot, words by posterior");
  add_frame_shift(command, &options->frame_shift_ms);
  command.callback([options] { run(*options); });
}

}  // namespace asr::tool
