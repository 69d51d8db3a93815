// SPDX-License-Identifier: Apache-2.0
// ContextTable looks up a phone in context: a hash of the listed contexts and the order of the back-off, or the classes of
// neighbours with positions.
#include <algorithm>
#include <array>

#include "core/model/hmm_set.h"

namespace asr {
namespace {

// Phones are below 0xffff (HmmSet::validate), so that 16 bits hold each, kNoPhone becoming 0xffff.
uint64_t key(uint32_t base, uint32_t left, uint32_t right, uint8_t position) {
  return uint64_t(position) << 48 | uint64_t(base & 0xffff) << 32 | uint64_t(left & 0xffff) << 16 | uint64_t(right & 0xffff);
}

}  // namespace

ContextTable::ContextTable(const HmmSet &set) : set_(set) {
  hmm_of_.reserve(set.contexts.size());
  for (const ContextPhone &context : set.contexts) {
    hmm_of_.emplace(key(context.base, context.left, context.right, context.position), context.hmm);
    has_positions_ |= context.position != kAnyPosition;
  }
  const auto n_phones = static_cast<uint32_t>(set.phones.size());
  silence_ = edge_ = n_phones;
  if (set.phone_contexts.empty()) return;
  tells_positions_ = std::any_of(set.phone_contexts.begin(), set.phone_contexts.end(),
                                 [](const PhoneContexts &contexts) { return contexts.hmms.size() > 1; });
  if (tells_positions_) {
    silence_ = 2 * n_phones;
    edge_ = silence_ + 1;
  }
  in_position_.assign(4 * set.phones.size(), nullptr);
  for (const bool listed : {false, true}) {  // a listed position comes before any
    for (const PhoneContexts &contexts : set.phone_contexts) {
      if ((contexts.position != kAnyPosition) != listed) continue;
      for (uint8_t position = 0; position < 4; ++position) {
        if (!listed || position == contexts.position) in_position_[4 * size_t{contexts.base} + position] = &contexts;
      }
    }
  }
}

uint32_t ContextTable::neighbour(uint32_t phone, WordPosition position) const {
  if (!tells_neighbours_positions()) return set_.phones[phone].filler ? silence_ : phone;
  const bool inside = position == WordPosition::kInternal || position == WordPosition::kSingle;
  return 2 * phone + static_cast<uint32_t>(inside ? NeighbourForm::kInside : NeighbourForm::kAtEdge);
}

// Returns a neighbour's index among the classes of PhoneContexts.
size_t ContextTable::form_of(uint32_t neighbour) const {
  if (neighbour < silence_) return 3 * size_t{neighbour / 2} + neighbour % 2;
  if (neighbour == edge_ || set_.silence == kNoPhone) return 3 * set_.phones.size();
  return 3 * size_t{set_.silence} + static_cast<size_t>(NeighbourForm::kBetweenWords);
}

uint32_t ContextTable::find_between(uint32_t base, uint32_t left, uint32_t right, WordPosition position) const {
  if (in_position_.empty()) {
    return find(base, left >= silence_ ? set_.silence : left, right >= silence_ ? set_.silence : right, position);
  }
  const PhoneContexts *const contexts = in_position_[4 * size_t{base} + static_cast<size_t>(position)];
  if (contexts == nullptr) return set_.phones[base].hmm;
  if (!tells_positions_) return contexts->hmms.front();
  const size_t left_class = contexts->left_class[form_of(left)], right_class = contexts->right_class[form_of(right)];
  return contexts->hmms[left_class * contexts->n_right_classes + right_class];
}

uint32_t ContextTable::find(uint32_t base, uint32_t left, uint32_t right, WordPosition position) const {
  // Returns the HMM of base with neighbours l and r: at its own word position, else at any other.
  const auto listed = [&](uint32_t l, uint32_t r) -> const uint32_t * {
    const uint8_t own = static_cast<uint8_t>(position);
    const std::array<uint8_t, 6> positions = {own, 0, 1, 2, 3, kAnyPosition};
    const size_t first = has_positions_ ? 0 : positions.size() - 1;
    for (size_t i = first; i < positions.size(); ++i) {
      const auto found = hmm_of_.find(key(base, l, r, positions[i]));
      if (found != hmm_of_.end()) return &found->second;
    }
    return nullptr;
  };
  const auto is_filler = [&](uint32_t phone) { return phone != kNoPhone && set_.phones[phone].filler; };

  const bool has_silence = set_.silence != kNoPhone;
  const uint32_t near_left = has_silence && is_filler(left) ? set_.silence : left;
  const uint32_t near_right = has_silence && is_filler(right) ? set_.silence : right;
  if (const uint32_t *hmm = listed(near_left, near_right)) return *hmm;
  if (has_silence && left != kNoPhone && right != kNoPhone) {
    const bool at_begin = position == WordPosition::kBegin || position == WordPosition::kSingle;
    const bool at_end = position == WordPosition::kEnd || position == WordPosition::kSingle;
    if (const uint32_t *hmm = listed(at_begin ? set_.silence : near_left, at_end ? set_.silence : near_right)) return *hmm;
  }
  if (const uint32_t *hmm = listed(near_left, kNoPhone)) return *hmm;
  if (const uint32_t *hmm = listed(kNoPhone, near_right)) return *hmm;
  return set_.phones[base].hmm;
}

}  // namespace asr
