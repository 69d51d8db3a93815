// SPDX-License-Identifier: Apache-2.0
#include "core/decode/rejection.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace asr {
namespace {

// Fitted to AN4 dev and LibriSpeech dev (docs/rejection.md): the cost difference per frame at which both are equally likely,
// and the slope there.
constexpr double kEven = -0.07, kSlope = 17;

// Same for the variation of the sound, in decibels, over the frames with speech and some frames around them.
constexpr double kEvenVariation_db = 1.2, kVariationSlope = 10;
constexpr size_t kAround = 10;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

void HeardPath::add(const asr_path_arc *arcs, uint64_t n, const std::function<bool(uint32_t transition_id)> &is_silence) {
  for (uint64_t i = 0; i < n; ++i) {
    if (arcs[i].word != 0) ++n_words;
    if (arcs[i].transition_id != 0) is_speech.push_back(!is_silence(arcs[i].transition_id));
  }
}

HeardPath heard_path(const asr_path &path, float word_cost, const std::function<bool(uint32_t transition_id)> &is_silence,
                     HeardPath before) {
  HeardPath heard = std::move(before);
  heard.add(path.arcs, path.n_arcs, is_silence);
  heard.cost = path.total_cost;
  for (size_t i = 0; i < heard.n_words; ++i) heard.cost -= static_cast<double>(word_cost);
  return heard;
}

float out_of_grammar(const HeardPath &grammar, const Background &background) {
  const size_t n = std::max(grammar.is_speech.size(), background.path.is_speech.size());
  size_t n_speech = 0, first = n, last = 0;
  for (size_t i = 0; i < n; ++i) {
    const auto speaks = [i](const HeardPath &path) { return i < path.is_speech.size() && path.is_speech[i]; };
    if (!speaks(grammar) && !speaks(background.path)) continue;
    ++n_speech;
    first = std::min(first, i);
    last = i;
  }
  const double more = (grammar.cost - background.path.cost) / static_cast<double>(std::max<size_t>(n_speech, 1));
  const double is_in = logistic(-kSlope * (more - kEven));
  const std::optional<double> variation_db = background.sound.variation_db(first - std::min(first, kAround), last + kAround);
  const double is_speech = variation_db ? logistic(kVariationSlope * (*variation_db - kEvenVariation_db)) : 1;
  return static_cast<float>(1 - is_in * is_speech);
}

}  // namespace asr
