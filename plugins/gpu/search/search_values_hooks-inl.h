// SPDX-License-Identifier: Apache-2.0
// The hooks of search_lattice-inl.h and search_prune-inl.h for the type Values: values of a frame's tokens that many threads
// lower.
#ifndef SENONE_KERNELS_SEARCH_VALUES_HOOKS_H
#define SENONE_KERNELS_SEARCH_VALUES_HOOKS_H

#include "plugins/gpu/search/search_types.h"
#ifdef __cplusplus
namespace asr {
#endif

HOOKS_OF(ValuesHooks, Values)
HOOK(uint32_t, value_now, (const Values *values, uint32_t token))
HOOK(uint32_t, lower_value, (const Values *values, uint32_t token, uint32_t value))  // returns the earlier value
HOOK(void, set_value, (const Values *values, uint32_t token, uint32_t value))
HOOK(void, swap_values, (Values * a, Values *b))
END_HOOKS

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_VALUES_HOOKS_H
