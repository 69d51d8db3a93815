// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace asr::cuda {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

const asr_search_options &checked(const asr_search_options &o) {
  if (!(o.beam > 0 && o.beam < kInfinity)) fail(ASR_INVALID_ARGUMENT, "beam %g is not above 0", double{o.beam});
  if (!(o.acoustic_scale >= 0 && o.acoustic_scale < kInfinity)) {
    fail(ASR_INVALID_ARGUMENT, "acoustic_scale %g is negative or not finite", double{o.acoustic_scale});
  }
  if (!std::isfinite(o.word_insertion_cost)) fail(ASR_INVALID_ARGUMENT, "word_insertion_cost is not finite");
  if (o.max_active == 0) fail(ASR_INVALID_ARGUMENT, "max_active is 0; give at least 1");
  return o;
}

template <typename T>
void copy(T *to, const T *from, size_t n, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDefault, stream), "copying a channel");
}

constexpr size_t words_of(size_t n_bytes) { return n_bytes / sizeof(uint32_t); }

}  // namespace

ChannelMemory::ChannelMemory(uint32_t max_tokens, uint32_t max_records, uint32_t max_settled)
    : max_tokens_(max_tokens),
      max_records_(max_records),
      max_settled_(max_settled),
      memory_(2 * max_tokens * words_of(sizeof(SearchToken)) + max_records * words_of(sizeof(TraceRecord)) +
              max_settled * words_of(sizeof(TraceStep))) {}

void ChannelMemory::give(SearchJob *job) {
  job->max_tokens = max_tokens_, job->max_records = max_records_, job->max_settled = max_settled_;
  job->tokens[0] = reinterpret_cast<SearchToken *>(memory_.data());
  job->tokens[1] = job->tokens[0] + max_tokens_;
  job->records = reinterpret_cast<TraceRecord *>(job->tokens[1] + max_tokens_);
  job->settled = reinterpret_cast<TraceStep *>(job->records + max_records_);
}

Search::Search(const SearchGraph &graph, const asr_search_options &options, ChannelMemory memory)
    : graph_(graph),
      memory_(std::move(memory)),
      path_(graph.view(), checked(options).acoustic_scale, options.word_insertion_cost) {
  memory_.give(&job_);
  job_.graph = graph.tables();
  job_.beam = {options.beam, options.acoustic_scale, options.word_insertion_cost,
               std::max(options.max_active, options.min_active), options.min_active};
}

SearchJob Search::job(const float *rows, size_t stride, uint32_t n_frames) const {
  SearchJob job = job_;
  job.rows = rows;
  job.row_stride = static_cast<uint32_t>(stride);
  job.n_frames = died_ ? 0 : n_frames;
  job.n_consumed = 0;
  job.status = SearchStatus::kRunning;
  job.begin = false;
  return job;
}

SearchJob Search::begin_job() const {
  SearchJob first = job(nullptr, 0, 0);
  first.begin = true;
  return first;
}

bool Search::take(const SearchJob &job) {
  job_ = job;
  job_.wide = job.wide && job.status == SearchStatus::kOverflow;  // only as long as it must
  n_frames_ += job.n_consumed;
  died_ = died_ || job.status == SearchStatus::kDied || job.status == SearchStatus::kNegativeCycle;
  if (job.status == SearchStatus::kNegativeCycle) {
    fail(ASR_INVALID_ARGUMENT, "graph: a cycle of epsilon arcs has a negative cost; correct the graph or word_insertion_cost");
  }
  return job.status == SearchStatus::kOverflow;
}

void Search::prepare(cudaStream_t stream) {
  if (job_.n_settled > job_.max_settled / 2) drain_settled(stream);
  if (job_.n_compacted > job_.max_records / 2) grow(kTraceFull, stream);
}

void Search::grow(uint32_t overflow, cudaStream_t stream) {
  if (job_.n_settled > 0) drain_settled(stream);
  if ((overflow & kEntriesFull) != 0) job_.wide = true;
  if ((overflow & (kTokensFull | kTraceFull)) == 0) return;
  const uint32_t max_tokens = job_.max_tokens * ((overflow & kTokensFull) != 0 ? 2 : 1);
  const uint32_t max_records = job_.max_records * ((overflow & kTraceFull) != 0 ? 2 : 1);
  ChannelMemory memory(max_tokens, max_records, job_.max_settled);
  const SearchJob before = job_;
  memory.give(&job_);
  job_.n_compacted = 0;
  copy(job_.tokens[job_.current], before.tokens[job_.current], job_.n_tokens, stream);
  copy(job_.records, before.records, job_.n_records, stream);
  check(cudaStreamSynchronize(stream), "copying a channel");
  memory_ = std::move(memory);
}

void Search::drain_settled(cudaStream_t stream) {
  std::vector<TraceStep> steps(job_.n_settled);
  copy(steps.data(), job_.settled, steps.size(), stream);
  check(cudaStreamSynchronize(stream), "reading a path");
  path_.settle(steps.data(), steps.size());
  job_.n_settled = 0;
}

void Search::best_path(bool use_final, PinnedArray<TraceStep> *steps, SearchEnd *end, cudaStream_t stream, asr_path *path) {
  steps->reserve(job_.n_records + size_t{job_.n_settled});
  TraceStep *const settled_steps = steps->data() + job_.n_records;
  launch_search_path({job_.graph, job_.tokens[job_.current], job_.records, job_.settled, job_.n_tokens, job_.n_settled,
                      use_final, end, steps->data(), settled_steps},
                     stream);
  check(cudaGetLastError(), "launching a kernel");
  check(cudaStreamSynchronize(stream), "reading a path");
  path_.settle(settled_steps, job_.n_settled);
  job_.n_settled = 0;
  const double cost = path_.path(steps->data(), end->n_steps);
  path->arcs = path_.arcs().data();
  path->n_arcs = path_.arcs().size();
  path->n_frames = n_frames_;
  path->reached_final = end->reached_final;
  path->beam_died = died_ ? 1 : 0;
  path->final_cost = end->reached_final != 0 ? graph_.view().final_costs[end->state] : 0.0f;
  path->total_cost = cost + double{path->final_cost};
  path->n_tokens = job_.n_active;
  path->n_arcs_expanded = job_.n_arcs_expanded;
}

}  // namespace asr::cuda
