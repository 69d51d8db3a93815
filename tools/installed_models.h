// SPDX-License-Identifier: Apache-2.0
// Installed bundles, which `senone models` lists and `senone recognize` finds by name. docs/bundle.md has the search path;
// bindings/python/src/senone/_installed.py has the same for Python.
#pragma once

#include <string>
#include <vector>

namespace asr::tool {

struct InstalledModel {
  std::string name;  // of its directory
  std::string path;
};

// Returns the directories that are searched, in order, whether they exist or not.
std::vector<std::string> model_directories();

// Returns the installed bundles by directory and name. Of two with one name the first is found.
std::vector<InstalledModel> installed_models();

// Returns the bundle that `given` means: its path; or, without a slash, the name of an installed bundle; or, if it is
// empty, the only installed bundle with a graph. What is none of these is returned as it is. Throws ASR_NOT_FOUND if it is
// empty and none, or more than one, is installed.
std::string find_model(const std::string &given);

}  // namespace asr::tool
