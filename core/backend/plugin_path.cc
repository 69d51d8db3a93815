// SPDX-License-Identifier: Apache-2.0
// Locates the plugins: SENONE_PLUGIN_PATH, else a directory relative to the library that contains this code. For tools that
// contain the core the program takes the library's part. The current directory is never used. A plugin becomes code of this
// process, so owner and mode of the plugin and its directory are checked.
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/backend/plugin_loader.h"
#include "core/base/error.h"
#include "core/base/user_directory.h"

namespace asr {
namespace {

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The loaded object, library or program, that contains this code.
struct OwnObject {
  const char *name = nullptr;  // of a library: the path by which it was loaded
  bool is_program = false;
};

// Called for each loaded object. The program has the headers that the system has told of; in some C libraries it has a name,
// too.
int find_own_object(dl_phdr_info *object, size_t, void *result) {
  const auto here = reinterpret_cast<ElfW(Addr)>(&find_own_object);
  for (size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || here - (object->dlpi_addr + part.p_vaddr) >= part.p_memsz) continue;
    const bool is_program =
        object->dlpi_name[0] == '\0' || reinterpret_cast<uintptr_t>(object->dlpi_phdr) == getauxval(AT_PHDR);
    *static_cast<OwnObject *>(result) = {object->dlpi_name, is_program};
    return 1;
  }
  return 0;
}

// Returns <libdir>/senone/plugins beside libsenone, or <prefix>/<libdir>/senone/plugins for a program in <prefix>/bin. "" if
// unknown.
std::string installed_plugin_directory() try {
  OwnObject own;
  if (dl_iterate_phdr(find_own_object, &own) == 0) return "";
  std::error_code error;
  const auto file = std::filesystem::canonical(own.is_program ? "/proc/self/exe" : own.name, error);
  if (error) return "";
  const auto libdir = own.is_program ? file.parent_path().parent_path() / SENONE_LIBDIR : file.parent_path();
  return libdir / "senone" / "plugins";
} catch (const std::exception &) {  // out of memory
  return "";
}

// Computed while the library is being loaded. A library loaded by a relative path knows no other name of its own. The
// path becomes wrong once the program changes its directory.
const std::string kInstalledDirectory = installed_plugin_directory();

}  // namespace

std::string why_untrusted(const std::string &path) {
  if (path[0] != '/') return "is not an absolute path; give one";
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? "" : "cannot be examined: " + std::generic_category().message(errno);
  }
  return why_others_may_change(status);
}

std::string without_links(const std::string &directory) {
  std::error_code error;
  if (geteuid() != 0 || directory[0] != '/') return directory;
  const std::string path = std::filesystem::canonical(directory, error);
  return error ? directory : path;
}

std::string why_replaceable(const std::string &directory) {
  if (geteuid() != 0) return "";
  for (std::filesystem::path above = directory; above.has_relative_path();) {
    above = above.parent_path();
    struct stat status {};
    if (stat(above.c_str(), &status) != 0) {
      return errno == ENOENT ? "" : "cannot be examined: " + std::generic_category().message(errno);
    }
    constexpr uid_t kNobody = 65534;  // owns the directories of users that a container lacks, such as root
    if (status.st_uid == kNobody) status.st_uid = 0;
    if (status.st_uid == 0 && (status.st_mode & S_ISVTX) != 0) continue;  // entries of others stay what they are
    const std::string why = why_others_may_change(status);
    if (!why.empty()) return "lies in " + above.string() + ", which " + why;
  }
  return "";
}

LoadOptions default_load_options() {
  LoadOptions options;
  if (const char *path = secure_getenv("SENONE_PLUGIN_PATH")) {
    options.directories = split(path, ':');
    options.named = true;
  } else if (!kInstalledDirectory.empty()) {
    options.directories.push_back(kInstalledDirectory);
  }
  if (const char *names = secure_getenv("SENONE_PLUGINS")) options.only = split(names, ',');
  return options;
}

}  // namespace asr
