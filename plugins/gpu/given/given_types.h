// SPDX-License-Identifier: Apache-2.0
// Tables of the extension "given", which the host makes (plugins/gpu/given/given.h) and given-inl.h reads.
#ifndef SENONE_KERNELS_GIVEN_TYPES_H
#define SENONE_KERNELS_GIVEN_TYPES_H

#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

// Macros, because OpenCL C takes no other constants for sizes of arrays.
#define kGivenThreads 128u  // of a block

// Rows of one call that follow each other at a stride.
typedef struct GivenJob {
  uint64_t begin, stride;  // bytes. begin: CUDA's address of the first row, or its offset in OpenCL's buffer
  uint32_t type;           // asr_value_type
  uint32_t n_rows, first_row;
  uint32_t reserved;
} GivenJob;

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_GIVEN_TYPES_H
