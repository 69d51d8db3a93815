// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/runtime/program_cache.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/user_directory.h"

namespace asr::gpu {
namespace {

constexpr char kName[] = "senone";

// The header of a file; the key and the binary follow.
struct Header {
  char magic[8] = {'s', 'e', 'n', 'o', 'n', 'e', 'c', 'l'};
  uint64_t version = 1, key_bytes = 0, binary_bytes = 0, checksum = 0;  // checksum: of key and binary
};

std::string base_of_user() {
  if (const char *const xdg = secure_getenv("XDG_CACHE_HOME"); xdg != nullptr && xdg[0] == '/') return xdg;
  const char *const home = secure_getenv("HOME");
  const bool is_own = home != nullptr && open_base_directory(home, IfMissing::kFail).get() >= 0;
  return is_own ? std::string(home) + "/.cache" : "";
}

Descriptor open_cache(const std::string &base) {
  return open_user_directory(open_base_directory(base, IfMissing::kMake), kName);
}

std::string file_name(const std::string &key) {
  return format("%016llx.clbin", static_cast<unsigned long long>(checksum(key.data(), key.size())));
}

}  // namespace

ProgramCache::ProgramCache() : ProgramCache(base_of_user()) {}

std::string ProgramCache::path(const std::string &key) const { return base_ + "/" + kName + "/" + file_name(key); }

std::string ProgramCache::load(const std::string &key) const {
  const Descriptor directory = open_cache(base_);
  if (directory.get() < 0) return "";
  std::string file;
  try {
    file = read_file(InputFile(open_user_file(directory, file_name(key)), path(key)));
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
  const auto directory = std::make_shared<const Descriptor>(open_cache(base_));
  if (directory->get() < 0) return;
  try {
    const std::string content = key + binary;
    Header header;
    header.key_bytes = key.size();
    header.binary_bytes = binary.size();
    header.checksum = checksum(content.data(), content.size());
    OutputFile file({directory, file_name(key), path(key)}, 0600);
    file.write(&header, sizeof header);
    file.write(content);
    file.commit();
  } catch (const std::exception &) {  // a full or read-only disk: it is compiled again the next time
  }
}

}  // namespace asr::gpu
