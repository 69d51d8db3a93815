// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/search.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/common/search_options.h"

namespace asr::ocl {
namespace {

constexpr float kBins = 2048;  // of the histogram in kernels/search_select.h

}  // namespace

Search::Search(const SearchGraph &graph, const asr_search_options &options, ChannelPool &pool)
    : graph_(graph),
      pool_(pool),
      memory_(pool, kMaxTokens, kMaxRecords, kMaxSettled),
      path_(graph.view(), checked(options).acoustic_scale, options.word_insertion_cost) {
  memory_.give(&job_);
  job_.start_state = graph.view().start_state;
  job_.n_slots = kSlots;
  job_.beam = {options.beam,
               options.acoustic_scale,
               options.word_insertion_cost,
               kBins / options.beam,
               std::max(options.max_active, options.min_active),
               options.min_active};
}

SearchJob Search::job(uint64_t rows, uint32_t stride, uint32_t n_frames) const {
  SearchJob job = job_;
  job.rows = rows;
  job.row_stride = stride;
  job.n_frames = died_ ? 0 : n_frames;
  job.n_consumed = 0;
  job.status = kSearchRunning;
  job.begin = 0;
  return job;
}

SearchJob Search::begin_job() const {
  SearchJob first = job(0, 0, 0);
  first.begin = 1;
  return first;
}

bool Search::take(const SearchJob &job) {
  job_ = job;
  n_frames_ += job.n_consumed;
  died_ = died_ || job.status == kSearchDied || job.status == kSearchNegativeCycle;
  if (job.status == kSearchNegativeCycle) {
    fail(ASR_INVALID_ARGUMENT, "graph: a cycle of epsilon arcs has a negative cost; correct the graph or word_insertion_cost");
  }
  return job.status == kSearchOverflow;
}

void Search::prepare() {
  if (job_.n_settled > job_.max_settled / 2) drain_settled();
  if (job_.n_compacted > job_.max_records / 2) grow(kSearchTraceFull);
}

void Search::grow(uint32_t overflow) {
  if (job_.n_settled > 0) drain_settled();
  if ((overflow & (kSearchTokensFull | kSearchTraceFull)) == 0) return;
  const uint32_t max_tokens = job_.max_tokens * ((overflow & kSearchTokensFull) != 0 ? 2 : 1);
  const uint32_t max_records = job_.max_records * ((overflow & kSearchTraceFull) != 0 ? 2 : 1);
  ChannelMemory larger(pool_, max_tokens, max_records, job_.max_settled);
  const cl_mem memory = pool_.memory().get();
  const auto copy = [&](uint64_t from, uint64_t to, size_t n_bytes) {
    pool_.queue().copy(memory, from * sizeof(uint32_t), memory, to * sizeof(uint32_t), n_bytes);
  };
  copy(memory_.tokens(job_.current), larger.tokens(job_.current), job_.n_tokens * sizeof(SearchToken));
  copy(memory_.records(), larger.records(), job_.n_records * sizeof(SearchRecord));
  pool_.queue().finish();
  memory_ = std::move(larger);
  memory_.give(&job_);
  job_.n_compacted = 0;
}

void Search::drain_settled() {
  std::vector<SearchStep> steps(job_.n_settled);
  pool_.queue().read(pool_.memory().get(), memory_.settled() * sizeof(uint32_t), steps.data(),
                     steps.size() * sizeof(SearchStep));
  pool_.queue().finish();
  path_.settle(steps.data(), steps.size());
  job_.n_settled = 0;
}

void Search::best_path(const Kernel &kernel, uint32_t group_size, bool use_final, DeviceArray<SearchStep> *steps,
                       const DeviceArray<SearchEnd> &end, asr_path *path) {
  steps->reserve(job_.n_records);
  kernel.set(graph_.final_costs(), pool_.memory(), memory_.tokens(job_.current), memory_.records(), job_.n_tokens,
             use_final ? 1u : 0u, end, *steps);
  Queue &queue = pool_.queue();
  queue.launch(kernel, {1}, {group_size});
  SearchEnd found{};
  queue.read(end.get(), 0, &found, sizeof found);
  drain_settled();
  std::vector<SearchStep> unsettled(found.n_steps);
  queue.read(steps->get(), 0, unsettled.data(), unsettled.size() * sizeof(SearchStep));
  queue.finish();
  const double cost = path_.path(unsettled.data(), unsettled.size());
  path->arcs = path_.arcs().data();
  path->n_arcs = path_.arcs().size();
  path->n_frames = n_frames_;
  path->reached_final = found.reached_final;
  path->beam_died = died_ ? 1 : 0;
  path->final_cost = found.reached_final != 0 ? graph_.view().final_costs[found.state] : 0.0f;
  path->total_cost = cost + double{path->final_cost};
  path->n_tokens = job_.n_active;
  path->n_arcs_expanded = job_.n_arcs_expanded;
}

}  // namespace asr::ocl
