// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/search/search.h"

#include <array>
#include <numeric>
#include <utility>

namespace asr::gpu {
namespace {

// The parts of the pool that hold something of a job's channel, in an order of their own. Offsets and sizes in bytes.
struct UsedPart {
  uint64_t offset;
  size_t n;
};
using UsedParts = std::array<UsedPart, 6>;

UsedParts used_parts(const SearchJob &job) {
  const ChannelOffsets at = channel_offsets(job);
  const ChannelLattice &lattice = job.lattice;
  return {{{at.tokens[job.current], job.n_tokens * sizeof(SearchToken)},
           {at.records, job.n_records * sizeof(TraceRecord)},
           {at.links, lattice.n_links * sizeof(SearchLink)},
           {at.acoustic_costs, lattice.n_links * sizeof(float)},
           {at.extras, lattice.n_frames == 0 ? 0 : (lattice.n_links + size_t{1}) * sizeof(float)},
           {at.frames, lattice.n_frames * sizeof(SearchFrame)}}};
}

size_t n_bytes_of(const UsedParts &parts) {
  return std::accumulate(parts.begin(), parts.end(), size_t{0}, [](size_t n, const UsedPart &part) { return n + part.n; });
}

}  // namespace

Search::Search(const SearchGraph &graph, const asr_search_options &options, ChannelPool &pool, ChannelMemory memory,
               const ChannelSize &size)
    : SearchChannel(graph, options), pool_(pool), memory_(std::move(memory)), size_(size) {
  if (!is_parked()) memory_.give(&job_);
  job_.start_state = graph.view().start_state;
  job_.local_share = 0xffffffffu;
}

void Search::prepare() {
  if (is_parked()) return;
  if (job_.n_settled > job_.max_settled / 2) drain();
  if (job_.n_compacted > job_.max_records / 2) grow(kTraceFull);
  if (job_.lattice.n_kept > job_.lattice.max_links / 4 * 3 || job_.n_early_prunings > 1) grow(kLinksFull);
}

void Search::grow(uint32_t overflow) {
  if (job_.n_settled > 0) drain();
  const auto size = grown(size_, overflow);
  if (!size) return;
  ChannelMemory larger(pool_, *size);
  SearchJob grown = job_;
  larger.give(&grown);
  grown.n_compacted = grown.n_early_prunings = 0;
  const cl_mem memory = pool_.memory().get();
  const UsedParts from = used_parts(job_), to = used_parts(grown);
  for (size_t i = 0; i < from.size(); ++i) pool_.queue().copy(memory, from[i].offset, memory, to[i].offset, from[i].n);
  pool_.queue().finish();
  memory_ = std::move(larger);
  size_ = *size;
  job_ = grown;
}

void Search::park(uint32_t overflow, bool may_shrink) {
  if (job_.n_settled > 0) drain();
  const ChannelSize size = parked_size(size_, overflow, may_shrink);
  const UsedParts parts = used_parts(job_);
  std::vector<std::byte> parked(n_bytes_of(parts));
  std::byte *to = parked.data();
  for (const UsedPart &part : parts) {
    pool_.queue().read(pool_.memory().get(), part.offset, to, part.n);
    to += part.n;
  }
  pool_.queue().finish();
  parked_ = std::move(parked);
  size_ = size;
  memory_ = ChannelMemory();
}

void Search::bring_back() {
  if (!is_parked()) return;
  ChannelMemory memory(pool_, size_);
  SearchJob back = job_;
  memory.give(&back);
  back.n_compacted = back.n_early_prunings = 0;
  const std::byte *from = parked_.data();
  for (const UsedPart &part : used_parts(back)) {
    pool_.queue().write(pool_.memory().get(), part.offset, from, part.n);
    from += part.n;
  }
  pool_.queue().finish();
  job_ = back;
  memory_ = std::move(memory);
  parked_ = {};
}

void Search::renew(SearchJob *job) const {
  memory_.give(job);
  job->n_settled = job_.n_settled;
  job->n_compacted = job_.n_compacted;
  job->n_early_prunings = job_.n_early_prunings;
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

}  // namespace asr::gpu
