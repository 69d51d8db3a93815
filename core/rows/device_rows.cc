// SPDX-License-Identifier: Apache-2.0
#include "core/rows/device_rows.h"

#include "core/base/error.h"
#include "core/rows/speaker_track.h"

namespace asr {

namespace {

BackendPointer<asr_backend_signal> begin_signal(const LoadedModel &model, const StreamOptions &options, float warp) {
  const FeatureTables &tables = model.tables();
  const CmnKind cmn = options.cmn_of(tables.front_end());
  asr_signal_options signal_options{};
  signal_options.size = sizeof(signal_options);
  signal_options.warp = tables.warp_index(static_cast<double>(warp));
  signal_options.normalise_live = cmn == CmnKind::kLive;
  signal_options.normalise_whole = cmn == CmnKind::kBatch;
  asr_backend_signal *signal = nullptr;
  model.device().check(model.signals()->signal_begin(model.device().get(), model.features(), &signal_options, &signal));
  return {signal, model.signals()->signal_end};
}

}  // namespace

// A device takes running means or those of whole signals, and fuses no models.
bool DeviceRows::suit(const LoadedModel &model, const StreamOptions &options) {
  if (model.signals() == nullptr || options.fusion) return false;
  if (options.speaker && !model.transforms_signals()) return false;
  const FrontEnd &front_end = model.tables().front_end();
  const CmnKind cmn = options.cmn_of(front_end);
  const bool is_running = cmn == CmnKind::kLive && front_end.cmn_lookahead_frames == 0 && !front_end.cmn_variance;
  if (front_end.energy_range_db > 0) return false;  // the energy is normalised by its highest
  return cmn == CmnKind::kNone || is_running || (cmn == CmnKind::kBatch && model.most_whole_frames() > 0);
}

size_t DeviceRows::max_frames(const LoadedModel &model, const StreamOptions &options) {
  return options.cmn_of(model.tables().front_end()) == CmnKind::kBatch ? model.most_whole_frames() : SIZE_MAX;
}

DeviceRows::DeviceRows(const LoadedModel &model, const StreamOptions &options, float warp, SpeakerTrack *speaker)
    : RowSource(options.values_per_frame(model), model.options().window_frames),
      model_(model),
      options_(options),
      warp_(warp),
      max_frames_(max_frames(model, options)),
      speaker_(speaker),
      signal_(begin_signal(model, options, warp)),
      feed_(model.tables(), model.options().window_frames, options.cmn_of(model.tables().front_end()) == CmnKind::kBatch) {
  job_.signal = signal_.get();
}

void DeviceRows::add(const float *values, size_t n) {
  feed_.add_samples(values, n);
  if (max_frames_ < SIZE_MAX) samples_.insert(samples_.end(), values, values + n);
}

// No row was made yet: those of a stream that is normalised as a whole come after its end.
std::unique_ptr<RowSource> DeviceRows::replacement() {
  if (feed_.n_frames() <= max_frames_) return nullptr;
  auto rows = std::make_unique<PipelineRows>(model_, options_, warp_, nullptr, speaker_);
  rows->add(samples_.data(), samples_.size());
  if (has_ended()) rows->end();
  return rows;
}

void DeviceRows::begin_utterance() {
  if (speaker_ == nullptr || speaker_->transform() == transform_) return;
  const std::shared_ptr<const FeatureTransform> &transform = speaker_->transform();
  const float *const matrix = transform && transform->n_dims > 0 ? transform->matrix.data() : nullptr;
  model_.device().check(model_.signals()->set_transform(model_.device().get(), signal_.get(), matrix));
  transform_ = transform;
}

size_t DeviceRows::next_frames() {
  feed_.next_frames(&job_);
  return job_.n_frames;
}

WindowRows::Place DeviceRows::take(size_t n, WindowRows *window) {
  return add_step(n, speaker_ != nullptr && speaker_->keeps_rows(), window);
}

bool DeviceRows::drop(size_t n, WindowRows *window) {
  add_step(n, false, window);
  return n > 0 || job_.n_frames > 0;
}

WindowRows::Place DeviceRows::add_step(size_t n, bool returns_rows, WindowRows *window) {
  job_.n_rows = static_cast<uint32_t>(n);
  feed_.consume(n);
  return window->add_step(job_, returns_rows);
}

}  // namespace asr
