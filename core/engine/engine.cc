// SPDX-License-Identifier: Apache-2.0
#include "core/engine/engine.h"

#include "core/base/error.h"

namespace asr {

std::shared_ptr<Stream> Engine::open(StreamOptions options) {
  const DecodingDefaults &decoding = model_.bundle().decoding;
  if (options.format.rate_hz == 0) {
    options.format.rate_hz = static_cast<uint32_t>(model_.bundle().front_end.sample_rate_hz);
  }
  if (!options.beam) options.beam = static_cast<float>(decoding.beam);
  if (!options.acoustic_scale) options.acoustic_scale = static_cast<float>(decoding.acoustic_scale);
  if (!options.word_insertion_cost) options.word_insertion_cost = static_cast<float>(decoding.word_insertion_cost);
  if (!options.max_active) options.max_active = decoding.max_active;
  if (options.is_audio()) model_.tables().warp_index(static_cast<double>(options.vtln_warp));
  if (options.callback) pool_.require_thread();
  return std::make_shared<Stream>(options, model_, &scheduler_, &pool_);
}

}  // namespace asr
