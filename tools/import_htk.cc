// SPDX-License-Identifier: Apache-2.0
// Implements `senone import htk HMMDEFS OUT_BUNDLE` and `senone import julius BINHMM OUT_BUNDLE`.
#include <memory>

#include "builder/import/htk.h"
#include "core/base/limits.h"
#include "tools/import.h"

namespace asr::tool {
namespace {

void add_common(Command app, HtkOptions &options) {
  app.option("--hmm-list", options.hmm_list, "Phones in context and the HMMs they stand for (tiedlist, logicalTri)");
  app.option("--config", options.config, "HTK configuration of the features, such as HCopy's");
  app.option("--sample-rate", options.sample_rate_hz, "Sample rate in Hz, where the configuration has no SOURCERATE")
      .range(double{kMinSampleRateHz}, double{kMaxSampleRateHz})
      .shows_default();
  app.flag("--features-only", options.features_only, "The features come from elsewhere; audio is not recognised");
}

ReadModel add_htk(Command app) {
  const auto options = std::make_shared<HtkOptions>();
  const auto macros = std::make_shared<std::vector<std::string>>();
  options->models.resize(1);
  app.option("HMMDEFS", options->models[0], "The HMMs as text (MMF)").required();
  app.option("--macros", *macros, "Files of macros that HMMDEFS uses, in order");
  add_common(app, *options);
  return [options, macros] {
    HtkOptions all = *options;
    all.models.insert(all.models.begin(), macros->begin(), macros->end());
    return import_htk(all);
  };
}

ReadModel add_julius(Command app) {
  const auto options = std::make_shared<HtkOptions>();
  options->models.resize(1);
  options->energy_scale = 1;
  app.option("BINHMM", options->models[0], "Binary HMMs of Julius").required();
  add_common(app, *options);
  return [options] { return import_julius(*options); };
}

const ImportKind kHtk{"htk", "an acoustic model of HTK", add_htk};
const ImportKind kJulius{"julius", "an acoustic model of Julius in binary form", add_julius};

}  // namespace
}  // namespace asr::tool
