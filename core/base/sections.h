// SPDX-License-Identifier: Apache-2.0
// The common layout of Senone's binary files: a fixed header with magic and version, then arrays ("sections"). Each section
// begins at a multiple of 64 bytes, in an order fixed by the format. The header holds their counts. All values are little
// endian. acoustic.bin, hmms.bin and graph.bin use it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"

namespace asr {

constexpr uint64_t kSectionAlignment = 64;

// MemoryOutput has the interface of OutputFile and collects the bytes in memory.
class MemoryOutput {
 public:
  void write(const void *data, size_t size) { bytes_.append(static_cast<const char *>(data), size); }
  void write(std::string_view text) { bytes_.append(text); }
  void pad_to(uint64_t alignment) { bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment); }
  const std::string &bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Output: OutputFile or MemoryOutput.
template <typename Output, typename T>
void write_section(Output &output, const std::vector<T> &values) {
  static_assert(std::is_trivially_copyable_v<T>);
  output.pad_to(kSectionAlignment);
  output.write(values.data(), values.size() * sizeof(T));
}

// SectionReader returns the header and then, in order, the sections of a file in memory. It checks that each lies inside the
// file. Without data (nullptr) it checks sizes only and returns nullptr.
class SectionReader {
 public:
  SectionReader(const void *data, uint64_t size, std::string source)
      : data_(static_cast<const uint8_t *>(data)), size_(size), source_(std::move(source)) {}

  // The header must begin with this magic (8 bytes), followed by this version (u32).
  template <typename Header>
  Header header(const char (&magic)[9], uint32_t version) {
    static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) >= 12);
    check_magic(magic, version);
    Header header;
    memcpy(&header, take(1, sizeof(Header), "header"), sizeof(Header));
    return header;
  }

  // Returns a section of `count` values in place; nullptr if count is 0.
  template <typename T>
  const T *section(uint64_t count, const char *name) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kSectionAlignment);
    align();
    return reinterpret_cast<const T *>(take(count, sizeof(T), name));
  }

  template <typename T>
  std::vector<T> copy(uint64_t count, const char *name) {
    const T *values = section<T>(count, name);
    return std::vector<T>(values, values + count);
  }

  void finish() const;  // fails if bytes are left over

 private:
  const uint8_t *data_;
  uint64_t size_;
  std::string source_;
  uint64_t position_ = 0;

  void check_magic(const char *magic, uint32_t version) const;
  void align();
  const uint8_t *take(uint64_t count, uint64_t bytes_each, const char *name);
};

}  // namespace asr
