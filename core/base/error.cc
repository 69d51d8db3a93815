// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"

#include <cstdarg>
#include <cstdio>

namespace asr {
namespace {

std::string vformat(const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int length = vsnprintf(nullptr, 0, format, args);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  if (length > 0) vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

}  // namespace

std::string format(const char *format, ...) {
  va_list args;
  va_start(args, format);
  std::string text = vformat(format, args);
  va_end(args);
  return text;
}

void fail(asr_status code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const std::string text = vformat(format, args);
  va_end(args);
  throw Error(code, text);
}

}  // namespace asr
