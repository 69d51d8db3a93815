// SPDX-License-Identifier: Apache-2.0
// Streams that fuse acoustic models: cepstra of each model's front end, and their log-likelihoods.
#include <functional>

#include "core/step/scheduler.h"

namespace asr {

void Scheduler::extract_fused() {
  const asr_backend_api &api = *model_.api();
  for (const StreamPointer &stream : streams_) {
    Stream &s = *stream;
    if (!s.makes_rows() || !s.fusion_) continue;
    for_stream(stream, [&] {
      for (size_t i = 0; i < s.fusion_->n_front_ends(); ++i) {
        asr_extract_job job;
        if (!s.rows_->next_extract(i, &job)) continue;
        model_.device().check(api.extract(model_.device().get(), s.fusion_->features(i), &job, 1));
        if (const LiveMeanState *state = s.rows_->extracted(i)) s.carried_.update(*state);
        s.progressed_ = true;
      }
    });
  }
}

// Fuses the scores that the device does not. A device whose advances overlap searches this window next, so its scores are
// awaited here.
void Scheduler::combine(Window *now, const Window &before) {
  if (!now->rows.is_fused_here() || loss()) return;
  if (model_.overlaps()) {
    await(*now, before);
    if (loss()) return;
    for_window(*now, [&] { model_.device().check(model_.api()->wait(model_.device().get(), 0)); });
  }
  const auto combine = [&](size_t part) { now->rows.combine(part); };
  team_.run(now->rows.n_fused_parts(), std::ref(combine));  // a function of its own would need memory
}

}  // namespace asr
