// SPDX-License-Identifier: Apache-2.0
#include "core/stream/given_rows.h"

#include <cstring>

namespace asr {
namespace {

inline float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace
}  // namespace asr

#define DEVICE static inline
#include "core/base/half_values-inl.h"
#undef DEVICE

namespace asr {
namespace {

template <typename Value, typename Convert>
std::vector<float> converted(const void *first, size_t n, size_t row_length, size_t stride, const Convert &convert) {
  std::vector<float> packed;
  packed.reserve(n * row_length);
  const auto *const bytes = static_cast<const char *>(first);
  for (size_t row = 0; row < n; ++row) {
    for (size_t i = 0; i < row_length; ++i) {
      Value value;  // which need not be aligned
      memcpy(&value, bytes + (row * stride + i) * sizeof(Value), sizeof(Value));
      packed.push_back(convert(value));
    }
  }
  return packed;
}

}  // namespace

const void *first_value(const asr_device_rows &rows) { return static_cast<const char *>(rows.rows) + rows.offset; }

std::vector<float> packed_host_rows(const asr_device_rows &rows, size_t n, size_t row_length) {
  const size_t stride = rows.stride > 0 ? rows.stride : row_length;
  const void *const first = first_value(rows);
  switch (rows.type) {
    case ASR_VALUE_FLOAT16:
      return converted<uint16_t>(first, n, row_length, stride, float_of_half);
    case ASR_VALUE_BFLOAT16:
      return converted<uint16_t>(first, n, row_length, stride, float_of_bfloat);
    case ASR_VALUE_FLOAT32:
      break;
  }
  const bool is_aligned = reinterpret_cast<uintptr_t>(first) % alignof(float) == 0;
  if (stride == row_length && is_aligned) return {};
  return converted<float>(first, n, row_length, stride, [](float value) { return value; });
}

}  // namespace asr
