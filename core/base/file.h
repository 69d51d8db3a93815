// SPDX-License-Identifier: Apache-2.0
// Files read whole or mapped, and outputs that appear complete or not at all. Errors are asr::Error naming the file. Inputs are
// regular files: a pipe or a device is refused, and opening one never waits.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/descriptor.h"

namespace asr {

// A regular file, open for reading at any offset.
class InputFile {
 public:
  explicit InputFile(const std::string &path);
  const std::string &path() const { return path_; }
  int descriptor() const { return descriptor_.get(); }
  const struct stat &status() const { return status_; }  // when it was opened
  size_t size() const { return static_cast<size_t>(status_.st_size); }
  size_t read(uint64_t offset, void *bytes, size_t size) const;  // returns fewer at the end of the file only

 private:
  std::string path_;
  Descriptor descriptor_;
  struct stat status_ {};
};

std::string read_file(const std::string &path);

// The size and asr::checksum of a file, read in pieces.
struct FileSum {
  uint64_t size = 0, checksum = 0;
};
FileSum sum_file(const std::string &path);

// A file read whole into pages of its own: whatever happens to the file afterwards, the bytes that were checked are the bytes
// that are used. What the library loads is read so. Moves, does not copy; an empty file has data() == nullptr and size() == 0.
class FileCopy {
 public:
  FileCopy() = default;
  explicit FileCopy(const std::string &path) : FileCopy(InputFile(path)) {}
  explicit FileCopy(const InputFile &file);
  // A copy of bytes in memory; `source` names them in errors.
  FileCopy(const void *bytes, size_t size, const std::string &source);
  FileCopy(FileCopy &&other) noexcept;
  FileCopy &operator=(FileCopy &&other) noexcept;
  ~FileCopy() { release(); }
  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }
  void release();  // gives the pages back; the object is empty then

 private:
  static FileCopy pages(size_t size, const std::string &source);  // that can be written; size > 0

  uint8_t *data_ = nullptr;
  size_t size_ = 0;
};

// A file mapped read-only, for inputs of tools that may be larger than memory. Truncating the file while it is mapped kills the
// process (SIGBUS). Moves, does not copy; an empty file has data() == nullptr and size() == 0.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&other) noexcept;
  ~MappedFile();
  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }

 private:
  const uint8_t *data_ = nullptr;
  size_t size_ = 0;
};

// Writes `path` through a temporary file beside it: commit() flushes, checks for a full disk and renames; without it the
// temporary is removed and an older `path` stays as it was. The mode of an older file stays, and links are followed.
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
  void remove();
  int rename_temporary();  // 0 or errno
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

// Removes the temporaries of all outputs that are not committed, for a process that ends at once. Outputs that other threads
// begin or commit afterwards wait for ever: none appears half.
void remove_unfinished_outputs();

// 64-bit FNV-1a over 8-byte words, each step folded; what bundles store. `hash` goes on from the bytes before, a multiple of 8.
constexpr uint64_t kEmptyChecksum = 0xcbf29ce484222325u;
uint64_t checksum(const void *data, size_t size, uint64_t hash = kEmptyChecksum);

// Behind the mark that editors put in front of UTF-8, if it is there.
size_t begin_of_text(std::string_view text);

}  // namespace asr
