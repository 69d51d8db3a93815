// SPDX-License-Identifier: Apache-2.0
// Files read whole or mapped, and outputs that appear complete or not at all. Errors are asr::Error and name the file. Inputs
// must be regular files: pipes and devices are refused, and opening one never blocks.
//
// Somebody else may own the directory of an output and exchange what is in it at any moment. So outputs (output.cc) resolve
// their path once and then hold its directory: all files are created, renamed and removed relative to that descriptor, and
// modes are set on descriptors of files that this process has created.
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

// FileAt names a file: by a path, or by a name in a directory that is held open, whatever becomes of that directory's path.
// Readers and writers take either.
class FileAt {
 public:
  using Held = std::shared_ptr<const Descriptor>;

  FileAt(const std::string &path) : FileAt(nullptr, path, path) {}
  FileAt(const char *path) : FileAt(std::string(path)) {}
  // `path` is for messages. `replaced` is the directory whose file of this name will be replaced, if it is another one.
  FileAt(Held directory, std::string name, std::string path, Held replaced = nullptr)
      : held_(std::move(directory)), replaced_(std::move(replaced)), name_(std::move(name)), path_(std::move(path)) {}

  // For the calls of the *at family: openat(file.directory(), file.name(), ...).
  int directory() const;
  int replaced_directory() const;
  const char *name() const { return name_.c_str(); }
  const std::string &path() const { return path_; }
  const Held &held() const { return held_; }  // nullptr: the name is a path

 private:
  Held held_, replaced_;
  std::string name_, path_;
};

// InputFile is a regular file, open for reading at any offset.
class InputFile {
 public:
  explicit InputFile(const FileAt &file);
  // One that was opened, or could not be: then errno is set. `path` is for messages.
  InputFile(Descriptor descriptor, const std::string &path);
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

// Throws ASR_BAD_FILE without reading a file of more than max_bytes.
std::string read_file(const FileAt &place, size_t max_bytes = SIZE_MAX);
std::string read_file(const InputFile &file, size_t max_bytes = SIZE_MAX);

// Size and asr::checksum of a file, computed by reading it in pieces.
struct FileSum {
  uint64_t size = 0, checksum = 0;
};
FileSum sum_file(const FileAt &place);
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

// Resolves the path of an output, once, to a name in a directory that is held open. The name is no symbolic link: an output
// replaces what the link leads to, which need not exist yet. A link of another user is refused (only root's and the user's own
// are followed), because its owner would choose the file that is replaced.
FileAt output_place(const FileAt &path);

// Opens a directory for outputs by the same rule; it and its parents are made if they do not exist.
FileAt::Held hold_output_directory(const std::string &path);

// OutputFile writes a file through a temporary one beside it. commit() flushes, checks for a full disk and renames. Without
// commit() the temporary is removed and the older file stays unchanged. Pipes and devices are written in place. So is what a
// descriptor leads to, /dev/stdout or /proc/self/fd/3, even a regular file: by the descriptor itself if it is this process's,
// from its position on, and at the end of the file if it is another's.
//
// The new file belongs to the user of the process. Its permissions are those that the umask leaves and the older file has, so
// replacing a file never opens it to more users. If the older file is the user's own and nobody else can write to its
// directory, it gets exactly the older permissions: somebody else could otherwise put a file there whose permissions suit him.
// Owners are never changed.
class OutputFile {
 public:
  // `mode`: permissions before the umask.
  explicit OutputFile(const FileAt &file, mode_t mode = 0666);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  void write(const void *data, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  uint64_t position() const { return position_; }
  void pad_to(uint64_t alignment);  // writes zero bytes up to the next multiple
  void commit();

 private:
  const FileAt file_;
  std::vector<char> buffer_;
  std::string temporary_;  // name beside the file; empty if written in place, and after a commit
  Descriptor descriptor_;
  uint64_t position_ = 0;
  void flush();
  void open_in_place();
  void remove();
  int rename_temporary();  // 0 or errno
};

// OutputDirectory creates a directory that gets its name on commit() and leaves nothing behind otherwise. `path` must not
// exist, or must be a bundle directory; commit() then replaces that bundle file by file. The directory is held open and has
// files only, which are created relative to its descriptor.
class OutputDirectory {
 public:
  explicit OutputDirectory(const std::string &path);
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory &) = delete;
  OutputDirectory &operator=(const OutputDirectory &) = delete;
  FileAt file(const std::string &name) const;  // for writing `name` until commit
  // Adds a file of another directory. It becomes a hard link if only the user and root can change the file, or else a copy.
  void add(const std::string &name, const std::string &source) const;
  void commit();

 private:
  const FileAt place_;
  std::string temporary_;           // empty after a commit
  FileAt::Held directory_, older_;  // the temporary one; the bundle that is replaced, or nullptr
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
