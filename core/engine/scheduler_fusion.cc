// SPDX-License-Identifier: Apache-2.0
// Streams that fuse acoustic models: cepstra of each model's front end, and their log-likelihoods.
#include <functional>

#include "core/engine/scheduler.h"

namespace asr {

void Scheduler::extract_fused() {
  const asr_backend_api &api = *model_.api();
  for (const StreamPointer &stream : streams_) {
    Stream &s = *stream;
    if (!s.makes_rows() || !s.fusion_) continue;
    for_stream(stream, [&] {
      for (size_t i = 0; i < s.rows_->n_pipelines(); ++i) {
        asr_extract_job job;
        if (!s.rows_->next_extract(i, &job)) continue;
        model_.device().check(api.extract(model_.device().get(), s.fusion_->features(i), &job, 1));
        s.rows_->extracted(i);
        s.progressed_ = true;
      }
      if (const LiveMeanState *state = s.rows_->live_state()) s.carried_.update(*state);
    });
  }
}

// Fuses the window's scores. A device whose advances overlap searches this window next, so its scores are awaited here.
void Scheduler::combine(Window *now, const Window &before) {
  if (now->fused.empty() || loss()) return;
  if (model_.overlaps()) {
    await(*now, before);
    if (loss()) return;
    for_window(*now, [&] { model_.device().check(model_.api()->wait(model_.device().get(), 0)); });
  }
  const auto combine = [&](size_t part) { now->fused.combine(part, model_.n_states(), now->loglikes.data()); };
  team_.run(now->fused.n_scored_parts(), std::ref(combine));  // a function of its own would need memory
}

}  // namespace asr
