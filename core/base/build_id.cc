// SPDX-License-Identifier: Apache-2.0
#include "core/base/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include "core/base/error.h"

namespace asr {
namespace {

using Note = ElfW(Nhdr);

constexpr size_t padded(size_t n_bytes) { return (n_bytes + 3) / 4 * 4; }

// Returns the id that a segment of notes holds, or "".
std::string id_in(const uint8_t *notes, size_t n_bytes) {
  for (size_t at = 0; at + sizeof(Note) <= n_bytes;) {
    Note note;
    memcpy(&note, notes + at, sizeof(note));
    const size_t name = at + sizeof(Note), id = name + padded(note.n_namesz), end = id + padded(note.n_descsz);
    if (end > n_bytes || end < at) return "";
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0) {
      std::string text;
      for (size_t i = 0; i < note.n_descsz; ++i) text += format("%02x", notes[id + i]);
      return text;
    }
    at = end;
  }
  return "";
}

// Takes the id of the object that contains this function; of the other objects nothing.
int take_id(dl_phdr_info *object, size_t, void *id) {
  const auto own = reinterpret_cast<uintptr_t>(&take_id);
  bool is_own = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    is_own = is_own || (segment.p_type == PT_LOAD && own >= begin && own - begin < segment.p_memsz);
  }
  for (int i = 0; is_own && i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto *notes = reinterpret_cast<const uint8_t *>(object->dlpi_addr + segment.p_vaddr);
    std::string found = id_in(notes, segment.p_memsz);
    if (!found.empty()) *static_cast<std::string *>(id) = std::move(found);
  }
  return is_own ? 1 : 0;
}

}  // namespace

const std::string &build_id() {
  static const std::string &id = *new std::string([] {
    std::string found;
    dl_iterate_phdr(take_id, &found);
    return found;
  }());
  return id;
}

}  // namespace asr
