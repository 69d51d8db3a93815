// SPDX-License-Identifier: Apache-2.0
// Keys of the search: costs as numbers that atomic operations order, and the hash that spreads states.
#ifndef SENONE_KERNELS_SEARCH_KEYS_H
#define SENONE_KERNELS_SEARCH_KEYS_H

#include "plugins/gpu/runtime/rounded-inl.h"
#ifdef __cplusplus
namespace asr {
typedef unsigned long long SearchKey;  // the 64 bits that CUDA's atomic operations take
#else
typedef ulong SearchKey;
#endif

// A cost as an unsigned number of the same order; -0 is 0.
DEVICE uint32_t ordered(float cost) {
  const uint32_t bits = as_uint(add_rounded(cost, 0.0f));
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
DEVICE float cost_of(uint32_t key) { return as_float((key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key); }

// Orders by the cost and then by `low`.
DEVICE SearchKey make_key(float cost, uint32_t low) { return (SearchKey)ordered(cost) << 32 | low; }

// The known part of a key: its bin of costs, or kNoBin, and its bits from `top` on.
typedef struct KeyPrefix {
  uint32_t bin, top;
  SearchKey bits;
} KeyPrefix;

FIXED uint32_t kNoBin = 0xffffffffu;

// The k-th smallest key, shared by a block's threads (search_select-inl.h).
typedef struct KthKey {
  SearchKey key;
  uint32_t bin, n_in_bin, n_left;  // its bin or digit, the keys there, and its number among these
  uint32_t n_few;                  // collected keys
} KthKey;

DEVICE uint32_t hash_of(uint32_t state) { return state * 0x9e3779b1u; }

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_KEYS_H
