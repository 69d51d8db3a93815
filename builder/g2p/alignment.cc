// SPDX-License-Identifier: Apache-2.0
#include "builder/g2p/alignment.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>

namespace asr {

namespace {

constexpr int kMaxIterations = 30;
constexpr double kMinGain = 1e-4;  // nats per word; iterations with a smaller gain end
constexpr uint32_t kNone = 0xffffffff;

// Shapes of units. Shapes with two letters do not pay: such units see less of the word, and more of them are rare
// (docs/g2p.md).
struct Shape {
  uint32_t n_letters, n_phones;
};
constexpr Shape kShapes[] = {{1, 0}, {1, 1}, {1, 2}, {0, 1}};
constexpr size_t kShapeCount = std::size(kShapes);

// Units without letters are only for words that have no other alignment, such as "w".
bool allows(const Shape &shape, const SpelledWord &word) {
  return shape.n_letters > 0 || word.phones.size() > 2 * word.letters.size();
}

class Aligner {
 public:
  explicit Aligner(const std::vector<SpelledWord> &words) : words_(words) {
    for (const SpelledWord &word : words) add_arcs(word);
    counts_.assign(units_.size(), 1.0);
  }
  AlignedWords run(const std::function<void(double share)> &progress);

 private:
  const std::vector<SpelledWord> &words_;
  std::vector<G2pUnit> units_;
  std::unordered_map<uint64_t, uint32_t> number_of_;
  std::vector<uint32_t> arcs_;  // [word][position][shape]: the unit that ends there
  std::vector<double> weights_, counts_;
  double scale_ = 0;
  std::vector<double> forward_, backward_;

  void add_arcs(const SpelledWord &word);
  double count(const SpelledWord &word, const uint32_t *arcs);
  void maximise();
  std::vector<uint32_t> best_way(const SpelledWord &word, const uint32_t *arcs) const;
};

size_t n_places(const SpelledWord &word) { return (word.letters.size() + 1) * (word.phones.size() + 1); }

void Aligner::add_arcs(const SpelledWord &word) {
  for (size_t i = 0; i <= word.letters.size(); ++i) {
    for (size_t j = 0; j <= word.phones.size(); ++j) {
      for (const Shape &shape : kShapes) {
        if (shape.n_letters > i || shape.n_phones > j || !allows(shape, word)) {
          arcs_.push_back(kNone);
          continue;
        }
        G2pUnit unit;
        if (shape.n_letters > 0) unit.letter = word.letters[i - 1];
        for (uint32_t k = 0; k < shape.n_phones; ++k) unit.phones[k] = word.phones[j - shape.n_phones + k];
        const uint64_t key = uint64_t{unit.letter} << 32 | uint64_t{unit.phones[0]} << 16 | unit.phones[1];
        const auto [found, added] = number_of_.emplace(key, static_cast<uint32_t>(units_.size()));
        if (added) units_.push_back(unit);
        arcs_.push_back(found->second);
      }
    }
  }
}

void Aligner::maximise() {
  double sum = 0;
  for (double count : counts_) sum += count;
  const double factor = std::exp(scale_);
  weights_.resize(units_.size());
  for (size_t i = 0; i < units_.size(); ++i) weights_[i] = counts_[i] / sum * (units_[i].letter == kNoSymbol ? 1 : factor);
}

double Aligner::count(const SpelledWord &word, const uint32_t *arcs) {
  const size_t n = n_places(word), width = word.phones.size() + 1;
  forward_.assign(n, 0);
  backward_.assign(n, 0);
  forward_[0] = backward_[n - 1] = 1;
  for (size_t at = 0; at < n; ++at) {
    double sum = forward_[at];
    for (size_t s = 0; s < kShapeCount; ++s) {
      const uint32_t unit = arcs[at * kShapeCount + s];
      if (unit != kNone) sum += forward_[at - kShapes[s].n_letters * width - kShapes[s].n_phones] * weights_[unit];
    }
    forward_[at] = sum;
  }
  const double total = forward_[n - 1];
  if (!std::isnormal(total)) return NAN;
  for (size_t at = n; at-- > 0;) {
    if (backward_[at] == 0) continue;
    for (size_t s = 0; s < kShapeCount; ++s) {
      const uint32_t unit = arcs[at * kShapeCount + s];
      if (unit == kNone) continue;
      const size_t from = at - kShapes[s].n_letters * width - kShapes[s].n_phones;
      const double through = weights_[unit] * backward_[at];
      backward_[from] += through;
      counts_[unit] += forward_[from] * through / total;
    }
  }
  return std::log(total) - scale_ * static_cast<double>(word.letters.size());
}

std::vector<uint32_t> Aligner::best_way(const SpelledWord &word, const uint32_t *arcs) const {
  const size_t n = n_places(word), width = word.phones.size() + 1;
  std::vector<double> best(n, 0);
  std::vector<size_t> by(n, kShapeCount);
  best[0] = 1;
  for (size_t at = 0; at < n; ++at) {
    for (size_t s = 0; s < kShapeCount; ++s) {
      const uint32_t unit = arcs[at * kShapeCount + s];
      if (unit == kNone) continue;
      const double value = best[at - kShapes[s].n_letters * width - kShapes[s].n_phones] * weights_[unit];
      if (value > best[at] * (1 + 1e-9)) {
        best[at] = value;
        by[at] = s;
      }
    }
  }
  std::vector<uint32_t> way;
  if (!std::isnormal(best[n - 1])) return way;
  for (size_t at = n - 1; at > 0;) {
    const size_t s = by[at];
    way.push_back(arcs[at * kShapeCount + s]);
    at -= kShapes[s].n_letters * width + kShapes[s].n_phones;
  }
  std::reverse(way.begin(), way.end());
  return way;
}

AlignedWords Aligner::run(const std::function<void(double share)> &progress) {
  AlignedWords out;
  scale_ = std::log(static_cast<double>(units_.size()));
  for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
    maximise();
    counts_.assign(units_.size(), 0);
    double sum = 0;
    size_t n_letters = 0, n_words = 0;
    const uint32_t *arcs = arcs_.data();
    for (const SpelledWord &word : words_) {
      const double value = count(word, arcs);
      arcs += n_places(word) * kShapeCount;
      if (std::isnan(value)) continue;
      sum += value;
      n_letters += word.letters.size();
      ++n_words;
    }
    progress(double(iteration + 1) / kMaxIterations);
    out.log_likelihoods.push_back(sum);
    if (n_words == 0) break;
    scale_ = -sum / static_cast<double>(n_letters);
    const size_t k = out.log_likelihoods.size();
    if (k > 1 && sum - out.log_likelihoods[k - 2] < kMinGain * static_cast<double>(n_words)) break;
  }
  maximise();
  const uint32_t *arcs = arcs_.data();
  for (const SpelledWord &word : words_) {
    std::vector<uint32_t> way = best_way(word, arcs);
    arcs += n_places(word) * kShapeCount;
    if (way.empty()) {
      ++out.n_left_out;
    } else {
      out.words.push_back(std::move(way));
    }
  }
  std::vector<uint32_t> used;
  for (const auto &way : out.words) used.insert(used.end(), way.begin(), way.end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::sort(used.begin(), used.end(), [&](uint32_t a, uint32_t b) { return units_[a] < units_[b]; });
  std::vector<uint32_t> number(units_.size(), kNone);
  for (uint32_t unit : used) {
    number[unit] = static_cast<uint32_t>(out.units.size());
    out.units.push_back(units_[unit]);
  }
  for (auto &way : out.words) {
    for (uint32_t &unit : way) unit = number[unit];
  }
  return out;
}

}  // namespace

AlignedWords align_words(const std::vector<SpelledWord> &words, const std::function<void(double share)> &progress) {
  return Aligner(words).run(progress);
}

}  // namespace asr
