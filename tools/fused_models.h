// SPDX-License-Identifier: Apache-2.0
// The acoustic models that `senone recognize --fuse` adds to the engine, and how its streams fuse them.
#pragma once

#include <string>
#include <vector>

#include "api/asr.h"
#include "tools/recognize.h"

namespace asr::tool {

// Returns the number after the text's last ':', and cuts both off; 1 if there is none. A directory of the whole name is a
// bundle without a weight.
float take_weight(std::string *text);

class FusedModels {
 public:
  // Reads --fuse, --fuse-rule, --fuse-own and --fuse-ms.
  explicit FusedModels(const RecognizeOptions &options);
  FusedModels(const FusedModels &) = delete;
  FusedModels &operator=(const FusedModels &) = delete;

  void add_to(asr_engine *engine) const;
  // nullptr without --fuse; valid as long as this.
  const asr_fusion *fusion() const { return models_.size() > 1 ? &fusion_ : nullptr; }

 private:
  std::vector<std::string> models_;  // names, which are paths of bundles; the first is the engine's own, ""
  std::vector<float> weights_;
  std::vector<const char *> names_;
  asr_fusion fusion_;
};

}  // namespace asr::tool
