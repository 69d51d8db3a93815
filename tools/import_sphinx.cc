// SPDX-License-Identifier: Apache-2.0
// Implements `senone import sphinx MODEL_DIR OUT_BUNDLE`.
#include <memory>

#include "builder/import/sphinx.h"
#include "core/base/limits.h"
#include "tools/import.h"

namespace asr::tool {
namespace {

ReadModel add_sphinx(Command app) {
  const auto options = std::make_shared<SphinxOptions>();
  app.option("MODEL_DIR", options->model_dir, "Directory with means, variances, mdef, feat.params ...").required();
  app.option("--mdef", options->mdef, "Model definition, where it is not MODEL_DIR/mdef");
  app.option("--feat-params", options->feat_params, "Front end, where it is not MODEL_DIR/feat.params");
  app.option("--noisedict", options->noisedict, "Filler dictionary, where it is not MODEL_DIR/noisedict");
  app.option("--sample-rate", options->sample_rate_hz, "Sample rate in Hz, in the place of feat.params's")
      .range(double{kMinSampleRateHz}, double{kMaxSampleRateHz});
  app.option("--noise-removal", options->noise_removal, "true or false, in the place of feat.params's -remove_noise");
  return [options] { return import_sphinx(*options); };
}

const ImportKind kImportSphinx{"sphinx", "an acoustic model of CMU Sphinx", add_sphinx};

}  // namespace
}  // namespace asr::tool
