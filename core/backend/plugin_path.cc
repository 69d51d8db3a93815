// SPDX-License-Identifier: Apache-2.0
// Where plugins are: SENONE_PLUGIN_PATH, else a directory whose place is known from that of the library that this code is
// linked into (or of the program, for tools that contain the core). Never the current directory.
#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>

#include "core/backend/plugin_loader.h"

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

// <libdir>/senone/plugins beside libsenone; <prefix>/<libdir>/senone/plugins for a program in <prefix>/bin. "" if unknown.
std::string installed_plugin_directory() {
  Dl_info info;
  link_map *object = nullptr;
  if (!dladdr1(reinterpret_cast<void *>(&installed_plugin_directory), &info, reinterpret_cast<void **>(&object),
               RTLD_DL_LINKMAP)) {
    return "";
  }
  const bool is_program = !object || object->l_name[0] == '\0';
  std::error_code error;
  const auto file = std::filesystem::canonical(is_program ? "/proc/self/exe" : object->l_name, error);
  if (error) return "";
  const auto libdir = is_program ? file.parent_path().parent_path() / SENONE_LIBDIR : file.parent_path();
  return libdir / "senone" / "plugins";
}

}  // namespace

LoadOptions default_load_options() {
  LoadOptions options;
  if (const char *path = secure_getenv("SENONE_PLUGIN_PATH")) {
    options.directories = split(path, ':');
  } else if (const std::string directory = installed_plugin_directory(); !directory.empty()) {
    options.directories.push_back(directory);
  }
  if (const char *names = secure_getenv("SENONE_PLUGINS")) options.only = split(names, ',');
  return options;
}

}  // namespace asr
