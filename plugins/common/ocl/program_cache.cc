// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/program_cache.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"

namespace asr::ocl {
namespace {

// The header of a file; the key and the binary follow.
struct Header {
  char magic[8] = {'s', 'e', 'n', 'o', 'n', 'e', 'c', 'l'};
  uint64_t version = 1, key_bytes = 0, binary_bytes = 0, checksum = 0;  // checksum: of key and binary
};

std::string user_directory() {
  if (const char *const xdg = secure_getenv("XDG_CACHE_HOME"); xdg != nullptr && xdg[0] == '/') {
    return std::string(xdg) + "/senone";
  }
  if (const char *const home = secure_getenv("HOME"); home != nullptr && home[0] == '/') {
    return std::string(home) + "/.cache/senone";
  }
  return "";
}

}  // namespace

ProgramCache::ProgramCache() : ProgramCache(user_directory()) {}

std::string ProgramCache::path(const std::string &key) const {
  return format("%s/%016llx.clbin", directory_.c_str(), static_cast<unsigned long long>(checksum(key.data(), key.size())));
}

std::string ProgramCache::load(const std::string &key) const {
  if (directory_.empty()) return "";
  std::string file;
  try {
    file = read_file(path(key));
  } catch (const Error &) {
    return "";
  }
  Header found;
  const Header expected;
  if (file.size() < sizeof found) return "";
  std::memcpy(&found, file.data(), sizeof found);
  const std::string content = file.substr(sizeof found);
  const bool whole = std::memcmp(found.magic, expected.magic, sizeof found.magic) == 0 && found.version == expected.version &&
                     found.key_bytes == key.size() && found.binary_bytes == content.size() - key.size() &&
                     content.compare(0, key.size(), key) == 0 && found.checksum == checksum(content.data(), content.size());
  return whole ? content.substr(key.size()) : "";
}

void ProgramCache::store(const std::string &key, const std::string &binary) const {
  if (directory_.empty()) return;
  try {
    const std::string content = key + binary;
    Header header;
    header.key_bytes = key.size();
    header.binary_bytes = binary.size();
    header.checksum = checksum(content.data(), content.size());
    std::filesystem::create_directories(directory_);
    OutputFile file(path(key));
    file.write(&header, sizeof header);
    file.write(content);
    file.commit();
  } catch (const std::exception &) {  // a full or read-only disk: it is compiled again the next time
  }
}

}  // namespace asr::ocl
