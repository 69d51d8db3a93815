// SPDX-License-Identifier: Apache-2.0
#include "core/engine/device_rows.h"

namespace asr {
namespace {

BackendPointer<asr_backend_signal> begin_signal(const LoadedModel &model, const StreamOptions &options, float warp) {
  const FeatureTables &tables = model.tables();
  const bool is_live = options.cmn_of(tables.front_end()) == CmnKind::kLive;
  const asr_signal_options signal_options{sizeof(signal_options), tables.warp_index(static_cast<double>(warp)), is_live};
  asr_backend_signal *signal = nullptr;
  model.device().check(model.signals()->signal_begin(model.device().get(), model.features(), &signal_options, &signal));
  return {signal, model.signals()->signal_end};
}

}  // namespace

// A device keeps running means only, transforms nobody's rows and fuses no models.
bool DeviceRows::suit(const LoadedModel &model, const StreamOptions &options) {
  if (model.signals() == nullptr || options.speaker || options.fusion) return false;
  const FrontEnd &front_end = model.tables().front_end();
  const CmnKind cmn = options.cmn_of(front_end);
  const bool is_running = cmn == CmnKind::kLive && front_end.cmn_lookahead_frames == 0 && !front_end.cmn_variance;
  if (front_end.energy_range_db > 0) return false;  // normalised by utterance
  return cmn == CmnKind::kNone || is_running;
}

DeviceRows::DeviceRows(const LoadedModel &model, const StreamOptions &options, float warp)
    : RowSource(values_per_frame(options, model), model.options().window_frames),
      signal_(begin_signal(model, options, warp)),
      feed_(model.tables(), model.options().window_frames) {
  job_.signal = signal_.get();
}

size_t DeviceRows::next_frames() {
  feed_.next_frames(&job_);
  return job_.n_frames;
}

WindowRows::Place DeviceRows::take(size_t n, WindowRows *window) {
  job_.n_rows = static_cast<uint32_t>(n);
  feed_.consume(n);
  return window->add_step(job_);
}

bool DeviceRows::drop(size_t n, WindowRows *window) {
  take(n, window);
  return n > 0 || job_.n_frames > 0;
}

}  // namespace asr
