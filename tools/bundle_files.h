// SPDX-License-Identifier: Apache-2.0
// New bundles that keep files of another: for `senone graph` and `senone train`.
#pragma once

#include <string>
#include <vector>

#include "core/model/bundle.h"

namespace asr::tool {

// Links or copies the bundle's files into `directory`, except the ones in `names`, whose files it adds.
void keep_files(const Bundle &bundle, const OutputDirectory &directory, std::vector<std::string> *names);

}  // namespace asr::tool
