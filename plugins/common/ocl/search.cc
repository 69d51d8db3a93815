// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/search.h"

#include <algorithm>

namespace asr::ocl {

Search::Search(const SearchGraph &graph, const asr_search_options &options, ChannelPool &pool,
               const SearchCapacities &capacities)
    : SearchChannel(graph, options),
      pool_(pool),
      memory_(pool,
              {capacities.max_tokens, capacities.max_records, capacities.max_settled,
               options.lattice_beam > 0 ? capacities.max_links : 0, options.lattice_beam > 0 ? capacities.max_frames : 0}) {
  memory_.give(&job_);
  job_.start_state = graph.view().start_state;
  job_.local_share = 0xffffffffu;
}

void Search::prepare() {
  if (job_.n_settled > job_.max_settled / 2) drain();
  if (job_.n_compacted > job_.max_records / 2) grow(kTraceFull);
  if (job_.lattice.n_kept > job_.lattice.max_links / 4 * 3 || job_.n_early_prunings > 1) grow(kLinksFull);
}

void Search::grow(uint32_t overflow) {
  if (job_.n_settled > 0) drain();
  const auto size = grown(memory_.size(), overflow);
  if (!size) return;
  ChannelMemory larger(pool_, *size);
  SearchJob grown = job_;
  larger.give(&grown);
  grown.n_compacted = grown.n_early_prunings = 0;
  const cl_mem memory = pool_.memory().get();
  const ChannelOffsets from = channel_offsets(job_), to = channel_offsets(grown);
  const auto copy = [&](uint64_t from_offset, uint64_t to_offset, size_t n_bytes) {
    pool_.queue().copy(memory, from_offset, memory, to_offset, n_bytes);
  };
  copy(from.tokens[job_.current], to.tokens[job_.current], job_.n_tokens * sizeof(SearchToken));
  copy(from.records, to.records, job_.n_records * sizeof(TraceRecord));
  const ChannelLattice &lattice = job_.lattice;
  copy(from.links, to.links, lattice.n_links * sizeof(SearchLink));
  copy(from.acoustic_costs, to.acoustic_costs, lattice.n_links * sizeof(float));
  copy(from.extras, to.extras, lattice.n_frames == 0 ? 0 : (lattice.n_links + size_t{1}) * sizeof(float));
  copy(from.frames, to.frames, lattice.n_frames * sizeof(SearchFrame));
  pool_.queue().finish();
  memory_ = std::move(larger);
  job_ = grown;
}

void Search::start_draining() {
  drained_.resize(job_.n_settled);
  pool_.queue().read(pool_.memory().get(), channel_offsets(job_).settled, drained_.data(), drained_.size() * sizeof(PathStep));
}

void Search::end_draining() {
  path_.settle(drained_.data(), drained_.size());
  drained_.clear();
  job_.n_settled = 0;
}

void Search::drain() {
  start_draining();
  pool_.queue().finish();
  end_draining();
}

SearchPathJob Search::path_job() const {
  const ChannelOffsets at = channel_offsets(job_);
  return {at.tokens[job_.current] / sizeof(uint32_t), at.records / sizeof(uint32_t), 0, job_.n_tokens, job_.n_records};
}

void Search::best_path(const SearchEnd &end, const PathStep *steps, asr_path *path) {
  end_draining();
  path_.give(steps, end.n_steps, path_end(end), path);
}

}  // namespace asr::ocl
