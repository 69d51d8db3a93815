// SPDX-License-Identifier: Apache-2.0
#include "builder/g2p/unit_ngram.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace asr {
namespace {

constexpr uint32_t kNone = 0xffffffff;

// Returns the child of a node for a unit, or kNone.
uint32_t find_child(const UnitNgram &model, uint32_t node, uint32_t unit) {
  if (node >= model.first_child.size() - 1) return kNone;
  const auto begin = model.units.begin() + model.first_child[node], end = model.units.begin() + model.first_child[node + 1];
  const auto found = std::lower_bound(begin, end, unit);
  return found != end && *found == unit ? static_cast<uint32_t>(found - model.units.begin()) : kNone;
}

class Estimator {
 public:
  Estimator(const std::vector<std::vector<uint32_t>> &words, uint32_t order) : order_(order) {
    for (const auto &word : words) {
      text_.push_back(kBegin);
      text_.insert(text_.end(), word.begin(), word.end());
      text_.push_back(kEnd);
    }
  }

  UnitNgram run() {
    model_.order = order_;
    build_trie();
    find_suffixes();
    count_continuations();
    smooth();
    return std::move(model_);
  }

 private:
  const uint32_t order_;
  std::vector<uint32_t> text_;  // words, separated by kBegin and kEnd
  UnitNgram model_;
  std::vector<uint32_t> level_end_;          // [order + 1]: end of the nodes of up to k units
  std::vector<uint32_t> counts_, suffixes_;  // [n_nodes]: counts for smoothing; the n-gram without its first unit

  void build_trie();
  std::vector<uint32_t> sorted_places() const;
  void find_suffixes();
  void count_continuations();
  std::array<double, 4> discounts(uint32_t level) const;
  void smooth();
  void smooth_history(uint32_t history, const std::array<double, 4> &discounts);
};

// Builds the trie level by level: sorts the text positions of n-grams by their units and cuts them into nodes.
void Estimator::build_trie() {
  struct Range {
    uint32_t begin, end;  // range of positions; empty at the end of a word
  };
  const std::vector<uint32_t> places = sorted_places();
  std::vector<Range> ranges = {{0, static_cast<uint32_t>(places.size())}}, next;
  const auto add = [&](uint32_t unit, Range range) {
    model_.units.push_back(unit);
    counts_.push_back(range.end - range.begin);
    next.push_back(unit == kEnd ? Range{0, 0} : range);
  };
  model_.units = {0};
  counts_ = {0};
  level_end_ = {1};
  for (uint32_t level = 1; level <= order_; ++level) {
    for (const Range &range : ranges) {
      model_.first_child.push_back(model_.n_nodes());
      for (uint32_t begin = range.begin, end; begin < range.end; begin = end) {
        const uint32_t unit = text_[places[begin] + level - 1];
        for (end = begin + 1; end < range.end && text_[places[end] + level - 1] == unit;) ++end;
        add(unit, {begin, end});
      }
    }
    level_end_.push_back(model_.n_nodes());
    ranges = std::move(next);
    next.clear();
  }
  model_.first_child.push_back(model_.n_nodes());
}

std::vector<uint32_t> Estimator::sorted_places() const {
  std::vector<uint32_t> places(text_.size());
  std::iota(places.begin(), places.end(), 0u);
  std::sort(places.begin(), places.end(), [&](uint32_t a, uint32_t b) {
    for (uint32_t k = 0; k < order_; ++k, ++a, ++b) {
      if (text_[a] != text_[b]) return text_[a] < text_[b];
      if (text_[a] == kEnd) break;
    }
    return false;
  });
  return places;
}

void Estimator::find_suffixes() {
  suffixes_.assign(model_.n_nodes(), 0);
  const uint32_t n_inner = static_cast<uint32_t>(model_.first_child.size()) - 1;
  for (uint32_t node = 1; node < n_inner; ++node) {
    for (uint32_t child = model_.first_child[node]; child < model_.first_child[node + 1]; ++child) {
      suffixes_[child] = find_child(model_, suffixes_[node], model_.units[child]);
    }
  }
}

// Kneser and Ney: below the highest order an n-gram counts once for each preceding unit, unless it begins a word.
void Estimator::count_continuations() {
  for (uint32_t level = 1; level < order_; ++level) {
    const uint32_t begin = level_end_[level - 1], end = level_end_[level];
    std::vector<uint32_t> continuations(end - begin, 0);
    for (uint32_t node = end; node < level_end_[level + 1]; ++node) ++continuations[suffixes_[node] - begin];
    for (uint32_t node = begin; node < end; ++node) {
      if (continuations[node - begin] > 0) counts_[node] = continuations[node - begin];
    }
  }
}

// Returns Chen and Goodman's discounts for n-grams counted once, twice and more often, from the numbers of such n-grams.
std::array<double, 4> Estimator::discounts(uint32_t level) const {
  std::array<double, 5> n{};
  for (uint32_t node = level_end_[level - 1]; node < level_end_[level]; ++node) {
    if (counts_[node] <= 4) ++n[counts_[node]];
  }
  std::array<double, 4> discounts{0, 0.5, 0.75, 0.9};
  if (n[1] == 0 || n[2] == 0 || n[3] == 0 || n[4] == 0) return discounts;
  const double y = n[1] / (n[1] + 2 * n[2]);
  for (uint32_t k = 1; k <= 3; ++k) {
    const double discount = k - (k + 1) * y * n[k + 1] / n[k];
    if (discount > 0 && discount < k) discounts[k] = discount;
  }
  return discounts;
}

void Estimator::smooth() {
  model_.probability.assign(model_.n_nodes(), 0);
  model_.backoff.assign(model_.first_child.size() - 1, 1);
  for (uint32_t level = 1; level <= order_; ++level) {
    const std::array<double, 4> of_level = discounts(level);
    for (uint32_t history = level == 1 ? 0 : level_end_[level - 2]; history < level_end_[level - 1]; ++history) {
      smooth_history(history, of_level);
    }
  }
}

void Estimator::smooth_history(uint32_t history, const std::array<double, 4> &discounts) {
  const uint32_t begin = model_.first_child[history], end = model_.first_child[history + 1];
  const auto is_event = [&](uint32_t node) { return model_.units[node] != kBegin; };
  double total = 0, kept = 0;
  for (uint32_t node = begin; node < end; ++node) {
    if (!is_event(node)) continue;
    total += counts_[node];
    kept += counts_[node] - discounts[std::min<uint32_t>(counts_[node], 3)];
  }
  if (total == 0) return;
  const double backoff = (total - kept) / total;
  if (history != 0) model_.backoff[history] = backoff;
  for (uint32_t node = begin; node < end; ++node) {
    if (!is_event(node)) continue;
    const double lower = history == 0 ? 1.0 / (level_end_[1] - 2) : model_.probability[suffixes_[node]];
    model_.probability[node] = (counts_[node] - discounts[std::min<uint32_t>(counts_[node], 3)]) / total + backoff * lower;
  }
}

}  // namespace

UnitNgram estimate_ngram(const std::vector<std::vector<uint32_t>> &words, uint32_t order) {
  return Estimator(words, order).run();
}

double ngram_probability(const UnitNgram &model, const std::vector<uint32_t> &history, uint32_t unit) {
  double weight = 1;
  for (size_t begin = history.size() - std::min<size_t>(history.size(), model.order - 1);; ++begin) {
    uint32_t node = 0;
    for (size_t i = begin; i < history.size() && node != kNone; ++i) node = find_child(model, node, history[i]);
    if (node == kNone) continue;
    const uint32_t child = find_child(model, node, unit);
    if (child != kNone) return weight * model.probability[child];
    weight *= model.backoff[node];
  }
}

}  // namespace asr
