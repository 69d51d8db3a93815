// SPDX-License-Identifier: Apache-2.0
#include "tools/bundle_files.h"

#include <algorithm>

namespace asr::tool {

void keep_files(const Bundle &bundle, const OutputDirectory &directory, std::vector<std::string> *names) {
  for (const auto &[name, file] : bundle.files) {
    if (std::find(names->begin(), names->end(), name) != names->end()) continue;
    directory.add(name, bundle.file(name));
    names->push_back(name);
  }
}

}  // namespace asr::tool
