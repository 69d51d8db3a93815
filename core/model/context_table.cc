// SPDX-License-Identifier: Apache-2.0
// ContextTable looks up a phone in context: a hash of the listed contexts, and the order of the back-off.
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
