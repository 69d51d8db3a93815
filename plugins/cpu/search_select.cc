// SPDX-License-Identifier: Apache-2.0
// Step 1 of a frame selects the tokens to expand. It is exact, with ties by state number, and linear in the number of tokens.
#include <algorithm>
#include <cstring>

#include "plugins/cpu/search.h"

namespace asr::cpu {
namespace {

constexpr uint32_t kBuckets = 1024;

// Returns a key that orders tokens by cost, then by state.
uint64_t key_of(const Token &token) {
  const float cost = token.cost + 0.0f;  // -0 becomes 0
  uint32_t bits;
  memcpy(&bits, &cost, sizeof(bits));
  bits = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return uint64_t{bits} << 32 | token.state;
}

}  // namespace

// Makes the selected tokens active: records them in the trace, with costs relative to the best token's.
void Search::select(SearchScratch &scratch) {
  select_beam(scratch);
  if (scratch.within.size() < options_.min_active) select_min_active(scratch);
  if (scratch.within.size() > std::max(options_.max_active, options_.min_active)) select_max_active(scratch);
  scratch.active.resize(scratch.within.size());
  for (size_t i = 0; i < scratch.active.size(); ++i) {
    const uint32_t slot = scratch.within[i];
    Token &token = tokens_.tokens[slot];
    scratch.active[i].set(token.state, token.cost - tokens_.best, record(token), slot);
  }
  n_tokens_ += scratch.active.size();
}

void Search::select_beam(SearchScratch &scratch) const {
  const PagedVector<Token> &tokens = tokens_.tokens;
  const float cutoff = tokens_.best + options_.beam;
  scratch.within.resize(tokens.size());
  size_t n = 0;
  for (size_t slot = 0; slot < tokens.size(); ++slot) {
    scratch.within[n] = static_cast<uint32_t>(slot);
    n += tokens[slot].cost <= cutoff ? 1 : 0;
  }
  scratch.within.resize(n);
}

// Selects the min_active best of all tokens, or all if there are no more.
void Search::select_min_active(SearchScratch &scratch) const {
  const PagedVector<Token> &tokens = tokens_.tokens;
  PagedVector<uint32_t> &within = scratch.within;
  within.resize(tokens.size());
  for (size_t slot = 0; slot < tokens.size(); ++slot) within[slot] = static_cast<uint32_t>(slot);
  if (within.size() <= options_.min_active) return;
  const auto before = [&](uint32_t a, uint32_t b) { return key_of(tokens[a]) < key_of(tokens[b]); };
  std::nth_element(within.begin(), within.begin() + options_.min_active, within.end(), before);
  within.resize(options_.min_active);
}

// Keeps the max_active best of scratch.within. A histogram over the beam finds the bucket that contains the limit; only the
// tokens of that bucket are partially sorted.
void Search::select_max_active(SearchScratch &scratch) const {
  const PagedVector<Token> &tokens = tokens_.tokens;
  const size_t limit = std::max(options_.max_active, options_.min_active);
  const float scale = kBuckets / options_.beam;
  const auto bucket_of = [&](uint32_t slot) {
    return std::min(kBuckets - 1, static_cast<uint32_t>((tokens[slot].cost - tokens_.best) * scale));
  };
  scratch.histogram.assign(kBuckets, 0);
  for (const uint32_t slot : scratch.within) ++scratch.histogram[bucket_of(slot)];
  uint32_t bucket = 0;
  size_t n_before = 0;
  while (n_before + scratch.histogram[bucket] < limit) n_before += scratch.histogram[bucket++];
  PagedVector<uint64_t> &keys = scratch.keys;
  keys.clear();
  for (const uint32_t slot : scratch.within) {
    if (bucket_of(slot) == bucket) keys.push_back(key_of(tokens[slot]));
  }
  const auto last = keys.begin() + static_cast<ptrdiff_t>(limit - n_before) - 1;
  std::nth_element(keys.begin(), last, keys.end());
  const auto excluded = [&](uint32_t slot) { return key_of(tokens[slot]) > *last; };
  scratch.within.erase(std::remove_if(scratch.within.begin(), scratch.within.end(), excluded), scratch.within.end());
}

}  // namespace asr::cpu
