// SPDX-License-Identifier: Apache-2.0
#include "tests/stress/result.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace asr::stress {
namespace {

constexpr double kCostTolerance = 1e-4;         // relative
constexpr double kAlternativeTolerance = 0.01;  // absolute, on the cost above the best
constexpr double kConfidenceTolerance = 0.01;
constexpr double kInnerShare = 0.8;  // inner share of the lattice; alternatives beyond it may depend on the last bits of scores

// FNV-1a hash.
class Digest {
 public:
  void add(const void *bytes, size_t n) {
    for (size_t i = 0; i < n; ++i) value_ = (value_ ^ static_cast<const unsigned char *>(bytes)[i]) * 1099511628211u;
  }
  template <typename T>
  void add(const T *values, size_t n) {
    add(static_cast<const void *>(values), n * sizeof(T));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 14695981039346656037u;
};

void check(asr_status status) {
  if (status != ASR_OK) fail(status, "%s", asr_last_error());
}

void add_lattice(const asr_lattice &lattice, Digest *digest) {
  const size_t s = lattice.n_states, a = lattice.n_arcs;
  digest->add(lattice.state_time_s, s);
  digest->add(lattice.end_graph_cost, s);
  digest->add(lattice.end_acoustic_cost, s);
  digest->add(lattice.end_posterior, s);
  digest->add(lattice.arc_from, a);
  digest->add(lattice.arc_to, a);
  digest->add(lattice.arc_word_id, a);
  digest->add(lattice.arc_graph_cost, a);
  digest->add(lattice.arc_acoustic_cost, a);
  digest->add(lattice.arc_posterior, a);
  if (s > 0) digest->add(lattice.transition_id, lattice.alignment_begin[a + s]);
}

bool near(double a, double b, double relative) {
  return std::abs(a - b) <= relative * std::max({1.0, std::abs(a), std::abs(b)});
}

// Returns an alternative of `from` that is missing in `in` although it should be there, or has another cost there.
std::string missing_alternative(const Found &from, const Found &in, const char *where) {
  double reach = kInnerShare * std::min(from.lattice_beam, in.lattice_beam);
  for (const Found *list : {&from, &in}) {
    if (list->alternatives.size() < list->max_alternatives || list->alternatives.empty()) continue;
    reach = std::min(reach, list->alternatives.back().above_best - kAlternativeTolerance);
  }
  for (const Found::Alternative &alternative : from.alternatives) {
    if (alternative.above_best > reach) break;
    const auto same = std::find_if(in.alternatives.begin(), in.alternatives.end(),
                                   [&](const Found::Alternative &other) { return other.text == alternative.text; });
    if (same == in.alternatives.end()) {
      return format("%s lacks '%s', %.4f above the best", where, alternative.text.c_str(), alternative.above_best);
    }
    if (std::abs(same->above_best - alternative.above_best) > kAlternativeTolerance) {
      return format("'%s' is %.4f above the best instead of %.4f", alternative.text.c_str(), same->above_best,
                    alternative.above_best);
    }
  }
  return "";
}

}  // namespace

Found found_in(const asr_event *event, uint32_t max_alternatives) {
  Found found;
  Digest digest;
  found.flags = asr_event_flags(event) & ~static_cast<uint32_t>(ASR_FLAG_FELL_BACK);
  found.max_alternatives = max_alternatives;
  digest.add(&found.flags, 1);
  for (size_t i = 0; i < asr_event_n_words(event, 0); ++i) {
    asr_word word;
    word.size = sizeof(word);
    check(asr_event_word(event, 0, i, &word));
    found.words += format("%s%s (%.4f-%.4f)", i > 0 ? " " : "", word.text, word.start_s, word.end_s);
    found.confidences.push_back(word.confidence);
  }
  digest.add(found.words.data(), found.words.size());
  digest.add(found.confidences.data(), found.confidences.size());
  asr_lattice lattice{};
  lattice.size = sizeof(lattice);
  const bool has_lattice = asr_event_lattice(event, &lattice) == ASR_OK;
  double best = 0;
  for (size_t i = 0; i < asr_event_n_alternatives(event); ++i) {
    double costs[2];
    check(asr_event_alternative_costs(event, i, &costs[0], &costs[1]));
    digest.add(costs, 2);
    if (i == 0) found.graph_cost = costs[0], found.acoustic_cost = costs[1];
    if (!has_lattice) continue;
    const double cost = costs[0] + lattice.acoustic_scale * costs[1];
    if (i == 0) best = cost;
    found.alternatives.push_back({asr_event_alternative_text(event, i), cost - best});
  }
  if (has_lattice) {
    found.lattice_beam = lattice.beam;
    add_lattice(lattice, &digest);
  }
  found.digest = digest.value();
  return found;
}

std::string difference(const Found &expected, const Found &found) {
  if (found.words != expected.words) {
    return format("words '%s', flags %u, %zu alternatives instead of '%s', flags %u, %zu alternatives", found.words.c_str(),
                  found.flags, found.alternatives.size(), expected.words.c_str(), expected.flags, expected.alternatives.size());
  }
  if (found.flags != expected.flags) return format("flags %u instead of %u", found.flags, expected.flags);
  if (!near(found.graph_cost, expected.graph_cost, kCostTolerance) ||
      !near(found.acoustic_cost, expected.acoustic_cost, kCostTolerance)) {
    return format("costs %.6f and %.6f instead of %.6f and %.6f", found.graph_cost, found.acoustic_cost, expected.graph_cost,
                  expected.acoustic_cost);
  }
  for (size_t i = 0; i < expected.confidences.size(); ++i) {
    const double a = double(found.confidences[i]), b = double(expected.confidences[i]);
    if (std::abs(a - b) > kConfidenceTolerance) return format("confidence %.4f of word %zu instead of %.4f", a, i + 1, b);
  }
  const std::string missing = missing_alternative(expected, found, "the lattice");
  return missing.empty() ? missing_alternative(found, expected, "the expected lattice") : missing;
}

}  // namespace asr::stress
