// SPDX-License-Identifier: Apache-2.0
#include "tools/installed_models.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "core/base/error.h"

namespace asr::tool {
namespace {

namespace fs = std::filesystem;

constexpr char kSubdirectory[] = "senone/models";

std::string variable(const char *name) {
  const char *const value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

bool is_bundle(const fs::path &path) {
  std::error_code error;
  return fs::is_regular_file(path / "senone.json", error);
}

bool has_graph(const InstalledModel &model) {
  std::error_code error;
  return fs::is_regular_file(fs::path(model.path) / "graph.bin", error);
}

std::string joined(const std::vector<std::string> &parts) {
  std::string all;
  for (const std::string &part : parts) all += (all.empty() ? "" : ", ") + part;
  return all;
}

// Adds the bundles of a directory by name. A directory that cannot be read has none.
void add_bundles(const std::string &directory, std::set<std::string> *names, std::vector<InstalledModel> *found) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    if (is_bundle(entry->path())) paths.push_back(entry->path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path &path : paths) {
    if (names->insert(path.filename()).second) found->push_back({path.filename(), path});
  }
}

}  // namespace

std::vector<std::string> model_directories() {
  std::vector<std::string> directories;
  const auto add = [&](const fs::path &path) {
    if (path.is_absolute() && std::find(directories.begin(), directories.end(), path) == directories.end()) {
      directories.push_back(path);
    }
  };
  const std::string listed = variable("SENONE_MODEL_PATH");
  for (size_t begin = 0; begin < listed.size();) {
    const size_t end = std::min(listed.find(':', begin), listed.size());
    add(listed.substr(begin, end - begin));
    begin = end + 1;
  }
  if (!listed.empty()) return directories;
  const std::string data = variable("XDG_DATA_HOME"), home = variable("HOME");
  if (!data.empty()) {
    add(fs::path(data) / kSubdirectory);
  } else if (!home.empty()) {
    add(fs::path(home) / ".local/share" / kSubdirectory);
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) add(program.parent_path().parent_path() / "share" / kSubdirectory);
  add(fs::path("/usr/local/share") / kSubdirectory);
  add(fs::path("/usr/share") / kSubdirectory);
  return directories;
}

std::vector<InstalledModel> installed_models() {
  std::vector<InstalledModel> found;
  std::set<std::string> names;
  for (const std::string &directory : model_directories()) add_bundles(directory, &names, &found);
  return found;
}

std::string find_model(const std::string &given) {
  if (!given.empty() && (given.find('/') != std::string::npos || is_bundle(given))) return given;
  std::vector<std::string> names;
  std::string path;
  for (const InstalledModel &model : installed_models()) {
    if (given.empty() ? !has_graph(model) : model.name != given) continue;
    names.push_back(model.name);
    path = model.path;
  }
  if (names.size() == 1) return path;
  if (!given.empty()) return given;
  if (names.empty()) {
    fail(ASR_NOT_FOUND, "no bundle with a graph is installed in %s; name one with --model",
         joined(model_directories()).c_str());
  }
  fail(ASR_NOT_FOUND, "several bundles are installed: %s; choose one with --model", joined(names).c_str());
}

}  // namespace asr::tool
