// SPDX-License-Identifier: Apache-2.0
#include "core/rows/given_rows.h"

#include "core/backend/asr_backend_given.h"
#include "core/rows/token_rows.h"

namespace asr {
namespace {

std::shared_ptr<asr_backend_given_map> load_map(const LoadedModel &model, const StreamOptions &options) {
  const TokenMap map(*model.scores(), options);
  asr_given_map_view view{};
  view.size = sizeof(view);
  view.n_columns = model.n_columns();
  view.n_states = model.n_states();
  if (!map.is_one_to_one()) view.column_begin = map.begins.data(), view.columns = map.columns.data();
  view.offsets = map.offsets.data();
  return model.given_map(view);
}

}  // namespace

GivenRows::GivenRows(const LoadedModel &model, const StreamOptions &options)
    : RowSource(options.values_per_frame(model), model.options().window_frames), map_(load_map(model, options)) {}

void GivenRows::add_given(std::vector<GivenSpan> spans) {
  for (GivenSpan &span : spans) {
    const size_t n = span.n_rows;
    spans_.push_back(std::move(span));
    n_waiting_ += n;
  }
}

WindowRows::Place GivenRows::take(size_t n, WindowRows *window) {
  std::vector<GivenSpan> taken;
  move_rows(n, &spans_, &taken);
  n_waiting_ -= n;
  return window->add_given(map_, std::move(taken));
}

bool GivenRows::drop(size_t n, WindowRows *) {
  std::vector<GivenSpan> dropped;
  move_rows(n, &spans_, &dropped);
  n_waiting_ -= n;
  return false;
}

}  // namespace asr
