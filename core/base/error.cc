// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <new>
#include <system_error>

#include "core/base/limits.h"
#include "core/base/printable.h"

namespace asr {
namespace {

// Returns a printable message with dots in place of its middle part. Its end has the remedy. Characters of UTF-8 stay whole.
std::string shortened(std::string message) {
  if (message.size() <= kMaxMessageBytes) return message;
  const auto continues = [&](size_t i) { return i < message.size() && (message[i] & 0xc0) == 0x80; };
  size_t end = kMaxMessageBytes * 3 / 4, begin = message.size() - kMaxMessageBytes / 4;
  while (end > 0 && continues(end)) --end;
  while (continues(begin)) ++begin;
  return message.substr(0, end) + " ... " + message.substr(begin);
}

std::string vformat(const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int length = vsnprintf(nullptr, 0, format, args);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  if (length > 0) vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

// Never destroyed: threads may outlive exit.
const Error *const g_out_of_memory =
    new Error(ASR_OUT_OF_MEMORY, "out of host memory; free some, or give the process more (ulimit -v)");

Error no_thread(const std::string &who) {
  return Error(ASR_OUT_OF_MEMORY,
               who + "no thread can be started: too many run, or memory is short; end some, or raise the limit (ulimit -u)");
}

}  // namespace

Error::Error(asr_status code, const std::string &message) : std::runtime_error(shortened(printable(message))), code_(code) {}

const Error &out_of_memory() noexcept { return *g_out_of_memory; }

Error current_error() noexcept {
  try {
    try {
      throw;
    } catch (const Error &error) {
      return error;
    } catch (const std::bad_alloc &) {
      return out_of_memory();
    } catch (const std::filesystem::filesystem_error &error) {
      return Error(ASR_IO, error.path1().string() + ": " + error.code().message());
    } catch (const std::system_error &error) {
      if (error.code() == std::errc::resource_unavailable_try_again) return no_thread("");
      return Error(ASR_INTERNAL, std::string("internal error: ") + error.what());
    } catch (const std::exception &error) {
      return Error(ASR_INTERNAL, std::string("internal error: ") + error.what());
    } catch (...) {
      return Error(ASR_INTERNAL, "internal error: an unknown exception");
    }
  } catch (...) {
    return out_of_memory();
  }
}

void fail_without_thread(const char *who) { throw no_thread(std::string(who) + ": "); }

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
