// SPDX-License-Identifier: Apache-2.0
// Files read whole or mapped, and outputs that appear complete or not at all. Errors are asr::Error and name the file. Inputs
// must be regular files: pipes and devices are refused, and opening one never blocks.
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

// InputFile is a regular file, open for reading at any offset.
class InputFile {
 public:
  explicit InputFile(const std::string &path);
  const std::string &path() const { return path_; }
  int descriptor() const { return descriptor_.get(); }
  const struct stat &status() const { return status_; }  // status at the time of opening
  size_t size() const { return static_cast<size_t>(status_.st_size); }
  size_t read(uint64_t offset, void *bytes, size_t size) const;  // returns less than `size` only at the end of the file

 private:
  std::string path_;
  Descriptor descriptor_;
  struct stat status_ {};
};

// Throws ASR_BAD_FILE without reading a file of more than most_bytes.
std::string read_file(const std::string &path, size_t most_bytes = SIZE_MAX);

// Size and asr::checksum of a file, computed by reading it in pieces.
struct FileSum {
  uint64_t size = 0, checksum = 0;
};
FileSum sum_file(const std::string &path);
FileSum sum_file(const InputFile &file);

// FileCopy holds a whole file in pages of its own. Later changes of the file do not reach it, so the checked bytes are the
// bytes used. The library loads its files this way. Movable, not copyable; an empty file has data() == nullptr and size() == 0.
class FileCopy {
 public:
  FileCopy() = default;
  explicit FileCopy(const std::string &path) : FileCopy(InputFile(path)) {}
  explicit FileCopy(const InputFile &file);
  // Copies bytes in memory; `source` names them in errors.
  FileCopy(const void *bytes, size_t size, const std::string &source);
  FileCopy(FileCopy &&other) noexcept;
  FileCopy &operator=(FileCopy &&other) noexcept;
  ~FileCopy() { release(); }
  const uint8_t *data() const { return data_; }
  size_t size() const { return size_; }
  void release();  // frees the pages; the object is empty afterwards

 private:
  static FileCopy pages(size_t size, const std::string &source);  // writable pages; size > 0

  uint8_t *data_ = nullptr;
  size_t size_ = 0;
};

// MappedFile maps a file read-only, for tool inputs that may exceed memory. Truncating the file while it is mapped kills the
// process (SIGBUS). Movable, not copyable; an empty file has data() == nullptr and size() == 0.
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

// OutputFile writes `path` through a temporary file beside it. commit() flushes, checks for a full disk and renames. Without
// commit() the temporary is removed and an older `path` stays unchanged. The mode of an older file is kept, and symbolic links
// are followed.
class OutputFile {
 public:
  explicit OutputFile(const std::string &path);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  void write(const void *data, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  uint64_t position() const { return position_; }
  void pad_to(uint64_t alignment);  // writes zero bytes up to the next multiple
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

// OutputDirectory creates a directory that gets its name on commit() and leaves nothing behind otherwise. `path` must not
// exist, or must be a bundle directory; commit() then replaces that bundle file by file.
class OutputDirectory {
 public:
  explicit OutputDirectory(const std::string &path);
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory &) = delete;
  OutputDirectory &operator=(const OutputDirectory &) = delete;
  std::string file(const std::string &name) const;  // path for writing `name` until commit
  void commit();

 private:
  std::string path_, temporary_;
  bool committed_ = false;
};

// Removes the temporaries of all uncommitted outputs, for a process that ends at once. Outputs that other threads begin or
// commit afterwards block for ever, so that none appears half written.
void remove_unfinished_outputs();

// 64-bit FNV-1a over 8-byte words, each step folded; bundles store it. `hash` continues from earlier bytes, whose number is a
// multiple of 8.
constexpr uint64_t kEmptyChecksum = 0xcbf29ce484222325u;
uint64_t checksum(const void *data, size_t size, uint64_t hash = kEmptyChecksum);

// Returns the offset of the text after a UTF-8 byte order mark; 0 without one.
size_t begin_of_text(std::string_view text);

}  // namespace asr
