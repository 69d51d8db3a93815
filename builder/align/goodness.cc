// SPDX-License-Identifier: Apache-2.0
#include "builder/align/goodness.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace asr {

std::vector<PhoneGoodness> rate(const AlignedWord &word, const train::AlignmentJob &free_path) {
  std::vector<PhoneGoodness> rated;
  for (const AlignedPhone &phone : word.phones) {
    const auto costs = free_path.costs.begin();
    const double cost = std::accumulate(costs + phone.begin, costs + phone.end, 0.0);
    std::map<uint32_t, uint32_t> n_frames;
    for (uint32_t frame = phone.begin; frame < phone.end; ++frame) {
      ++n_frames[free_path.graph.transitions[free_path.transition_ids[frame]].phone];
    }
    const auto likeliest =
        std::max_element(n_frames.begin(), n_frames.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
    rated.push_back({phone.log_likelihood + cost / (phone.end - phone.begin), likeliest->first});
  }
  return rated;
}

}  // namespace asr
