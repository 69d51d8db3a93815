// SPDX-License-Identifier: Apache-2.0
// Files read whole or mapped, and outputs that appear complete or not at all. Errors are asr::Error naming the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace asr {

std::string read_file(const std::string &path);

// A file mapped read-only; moves, does not copy. An empty file has data() == nullptr and size() == 0.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();
  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }
  void release_pages() const;  // what was read leaves this process's memory, and comes back where it is read again

 private:
  const uint8_t *data_ = nullptr;
  size_t size_ = 0;
};

// Writes `path` through a temporary file beside it: commit() flushes, checks for a full disk and renames; without it the
// temporary is removed and an older `path` stays as it was.
class OutputFile {
 public:
  explicit OutputFile(const std::string &path);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  void write(const void *data, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  uint64_t position() const { return position_; }
  void pad_to(uint64_t alignment);  // zero bytes up to a multiple
  void commit();

 private:
  std::string path_, temporary_;
  std::vector<char> buffer_;
  int descriptor_ = -1;
  uint64_t position_ = 0;
  void flush();
};

// A directory that appears under its name on commit() and leaves nothing behind otherwise. `path` must not exist, or be a
// bundle directory that commit() replaces file by file.
class OutputDirectory {
 public:
  explicit OutputDirectory(const std::string &path);
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory &) = delete;
  OutputDirectory &operator=(const OutputDirectory &) = delete;
  std::string file(const std::string &name) const;  // where to write `name` until commit
  void commit();

 private:
  std::string path_, temporary_;
  bool committed_ = false;
};

uint64_t checksum(const void *data, size_t size);  // 64-bit FNV-1a over 8-byte words, each step folded; what bundles store

}  // namespace asr
