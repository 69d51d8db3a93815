// SPDX-License-Identifier: Apache-2.0
#include "tools/bundle_files.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"

namespace asr::tool {

void keep_files(const Bundle &bundle, const OutputDirectory &directory, const std::string &out,
                std::vector<std::string> *names) {
  namespace fs = std::filesystem;
  for (const auto &[name, file] : bundle.files) {
    if (std::find(names->begin(), names->end(), name) != names->end()) continue;
    std::error_code error;
    fs::create_hard_link(fs::canonical(bundle.file(name)), directory.file(name), error);
    if (error) fs::copy_file(bundle.file(name), directory.file(name), error);
    if (error) fail(ASR_IO, "%s: cannot be copied to %s: %s", bundle.file(name).c_str(), out.c_str(), error.message().c_str());
    names->push_back(name);
  }
}

}  // namespace asr::tool
