// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/right_contexts.h"

#include "core/base/error.h"

namespace asr {

RightContexts::RightContexts(const HmmSet &set, const ContextTable &table) : table_(table) {
  if (table.n_neighbours() > kMaxNeighbours) {
    fail(ASR_UNSUPPORTED, "the model has %zu base phones; graphs can be built for at most %zu%s", set.phones.size(),
         table.tells_neighbours_positions() ? kMaxNeighbours / 2 - 1 : kMaxNeighbours - 1,
         table.tells_neighbours_positions() ? " with positions in words" : "");
  }
  for (uint32_t phone = 0; phone < set.phones.size(); ++phone) {
    for (const WordPosition position : {WordPosition::kBegin, WordPosition::kInternal}) {
      spoken_.set(table.neighbour(phone, position));
    }
  }
  all_ = spoken_;
  all_.set(silence_neighbour());
  all_.set(edge_neighbour());
}

uint32_t RightContexts::id(const NeighbourSet &neighbours) {
  const auto [place, added] = id_of_.emplace(neighbours, static_cast<uint32_t>(sets_.size()));
  if (added) sets_.push_back(neighbours);
  return place->second;
}

const std::vector<RightContexts::Class> &RightContexts::classes(uint32_t phone, WordPosition position, uint32_t left,
                                                                uint32_t neighbours) {
  const uint64_t key = uint64_t(neighbours) << 32 | uint64_t(phone) << 16 | uint64_t(left) << 4 | uint64_t(position);
  const auto [place, added] = classes_.try_emplace(key);
  if (!added) return place->second;
  std::vector<uint32_t> hmms;
  std::vector<NeighbourSet> members;
  const NeighbourSet all = sets_[neighbours];
  for (uint32_t right = 0; right < n_neighbours(); ++right) {
    if (!all[right]) continue;
    const uint32_t hmm = table_.find_between(phone, left, right, position);
    size_t at = 0;
    while (at < hmms.size() && hmms[at] != hmm) ++at;
    if (at == hmms.size()) {
      hmms.push_back(hmm);
      members.emplace_back();
    }
    members[at].set(right);
  }
  std::vector<Class> &result = place->second;
  for (size_t i = 0; i < hmms.size(); ++i) result.push_back({hmms[i], id(members[i])});
  return result;
}

}  // namespace asr
