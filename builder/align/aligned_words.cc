// SPDX-License-Identifier: Apache-2.0
#include "builder/align/aligned_words.h"

#include <numeric>

#include "core/lattice/alignment.h"

namespace asr {
namespace {

bool begins_word(uint8_t position) {
  return position == static_cast<uint8_t>(WordPosition::kBegin) || position == static_cast<uint8_t>(WordPosition::kSingle);
}

}  // namespace

std::vector<AlignedWord> aligned_words(const train::AlignmentJob &job, const HmmSet &set) {
  std::vector<AlignedWord> words;
  size_t n_words = 0;
  bool in_foreign = false;
  const auto transition = [&](uint32_t id) -> const Transition & { return job.graph.transitions[id]; };
  const auto n_frames = static_cast<uint32_t>(job.transition_ids.size());
  for (const PhoneSpan &phone : align_phones(job.transition_ids.data(), n_frames, 0, transition)) {
    const bool is_between = phone.position == kAnyPosition, is_foreign = is_between && !set.phones[phone.phone].filler;
    if (is_foreign && !in_foreign) words.push_back({kForeign, {}});
    in_foreign = is_foreign;
    if (is_between && !is_foreign) continue;
    if (!is_between && begins_word(phone.position)) words.push_back({job.words.at(n_words++) - 1, {}});
    const auto costs = job.costs.begin();
    const double cost = std::accumulate(costs + phone.begin, costs + phone.end, 0.0);
    words.back().phones.push_back({phone.phone, phone.begin, phone.end, -cost / (phone.end - phone.begin)});
  }
  return words;
}

}  // namespace asr
