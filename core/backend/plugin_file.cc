// SPDX-License-Identifier: Apache-2.0
#include "core/backend/plugin_file.h"

#include <link.h>

#include <cstring>
#include <fstream>
#include <vector>

namespace asr {

bool is_complete_shared_object(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff end = file.tellg();
  if (end < 0) return true;  // unreadable
  const auto size = uint64_t(end);

  ElfW(Ehdr) header{};
  file.seekg(0);
  if (!file.read(reinterpret_cast<char *>(&header), sizeof(header))) return true;
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr))) return true;

  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  const auto table_size = std::streamsize(segments.size() * sizeof(ElfW(Phdr)));
  if (header.e_phoff > size || !file.seekg(std::streamoff(header.e_phoff))) return false;
  if (!file.read(reinterpret_cast<char *>(segments.data()), table_size)) return false;
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type == PT_LOAD && (segment.p_offset > size || segment.p_filesz > size - segment.p_offset)) return false;
  }
  return true;
}

}  // namespace asr
