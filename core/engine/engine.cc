// SPDX-License-Identifier: Apache-2.0
#include "core/engine/engine.h"

#include <algorithm>
#include <thread>

#include "core/base/error.h"

namespace asr {
namespace {

uint32_t n_threads_for(const EngineOptions &options) {
  return options.n_threads > 0 ? options.n_threads : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

Engine::Engine(const std::string &bundle_path, const EngineOptions &options)
    : model_(bundle_path, options),
      retired_(model_),
      results_(n_threads_for(options)),
      scheduler_(model_, &retired_) {}

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
  if (options.callback) callbacks_.require_thread();
  if (options.lattice_beam > 0) {
    if (model_.api()->lattice == nullptr) {
      fail(ASR_UNSUPPORTED,
           "asr_open: device %s makes no lattices; leave asr_stream_config.lattice_beam 0 or take another device",
           model_.device().entry().id.c_str());
    }
  }
  results_.require_thread();
  return std::make_shared<Stream>(options, model_, &scheduler_, &callbacks_, &results_);
}

}  // namespace asr
