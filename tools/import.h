// SPDX-License-Identifier: Apache-2.0
// The common part of the kinds of `senone import`. A kind is one file tools/import_<kind>.cc that registers itself:
//   static const ImportKind kImportSphinx{"sphinx", "acoustic models of CMU Sphinx", add_sphinx};
// add_sphinx adds the kind's own options to its command and returns the function that reads the model.
#pragma once

#include <functional>

#include "builder/import/imported_model.h"
#include "tools/tool.h"

namespace asr::tool {

using ReadModel = std::function<ImportedModel()>;

struct ImportKind {
  ImportKind(const char *name, const char *what, ReadModel (*add)(Command app));
};

}  // namespace asr::tool
