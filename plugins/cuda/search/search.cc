// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search/search.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/error.h"

namespace asr::gpu {
namespace {

template <typename T>
void copy(T *to, const T *from, size_t n, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDefault, stream), "copying a channel");
}

// Parts divides a piece of memory into successive parts at multiples of 16 bytes. Without memory it only counts the bytes.
class Parts {
 public:
  explicit Parts(uint4 *memory) : memory_(memory) {}
  template <typename T>
  void give(size_t n, T **part) {
    *part = reinterpret_cast<T *>(memory_ + n_given_);
    n_given_ += (n * sizeof(T) + sizeof(uint4) - 1) / sizeof(uint4);
  }
  size_t n_given() const { return n_given_; }

 private:
  uint4 *const memory_;
  size_t n_given_ = 0;
};

size_t give_parts(const ChannelSize &size, uint4 *memory, SearchJob *job) {
  Parts parts(memory);
  parts.give(size.max_tokens, &job->tokens[0]);
  parts.give(size.max_tokens, &job->tokens[1]);
  parts.give(size.max_records, &job->records);
  parts.give(size.max_settled, &job->settled);
  parts.give(size.max_links, &job->lattice.links);
  parts.give(size.max_links, &job->lattice.acoustic_costs);
  parts.give(size.max_links + size_t{1}, &job->lattice.extras);
  parts.give(size.max_frames, &job->lattice.frames);
  return parts.n_given();
}

// The parts of a channel's memory that hold something, in an order of their own.
struct UsedPart {
  std::byte *data;
  size_t n;
};
using UsedParts = std::array<UsedPart, 6>;

UsedParts used_parts(const SearchJob &job) {
  const auto part = [](auto *data, size_t n) { return UsedPart{reinterpret_cast<std::byte *>(data), n * sizeof *data}; };
  const SearchLinks &l = job.lattice;
  return {part(job.tokens[job.current], job.n_tokens),
          part(job.records, job.n_records),
          part(l.frames, l.n_frames),
          part(l.links, l.n_links),
          part(l.acoustic_costs, l.n_links),
          part(l.extras, l.n_links == 0 ? 0 : l.n_links + size_t{1})};
}

size_t n_bytes_of(const UsedParts &parts) {
  return std::accumulate(parts.begin(), parts.end(), size_t{0}, [](size_t n, const UsedPart &part) { return n + part.n; });
}

size_t size_in_memory(const ChannelSize &size) {
  SearchJob job;
  return give_parts(size, nullptr, &job);
}

}  // namespace

ChannelMemory::ChannelMemory(const ChannelSize &size) : size_(size), memory_(size_in_memory(size)) {}

void ChannelMemory::give(SearchJob *job) {
  give_parts(size_, memory_.data(), job);
  set_size(size_, job);
}

bool IdleMemory::release() {
  bool had_some = false;
  for (auto *memories : {&free[0], &free[1], &outgrown}) {
    had_some = had_some || !memories->empty();
    memories->clear();
  }
  had_some = had_some || !kept.empty();
  kept.clear();
  return had_some;
}

uint64_t IdleMemory::n_bytes() const {
  uint64_t n = 0;
  for (const auto *memories : {&free[0], &free[1], &outgrown}) {
    for (const ChannelMemory &memory : *memories) n += memory.n_bytes();
  }
  for (const KeptRows &rows : kept) n += rows.n_bytes();
  return n;
}

Search::Search(const SearchGraph &graph, const asr_search_options &options, ChannelMemory memory, const ChannelSize &size,
               IdleMemory *idle)
    : SearchChannel(graph, options), memory_(std::move(memory)), size_(size), idle_(idle) {
  if (!is_parked()) memory_.give(&job_);
  job_.graph = search_tables(graph);
}

SearchJob Search::job(Rows rows, size_t stride, uint32_t n_frames) const {
  SearchJob job = SearchChannel::job(rows, stride, n_left_ + n_frames);
  job.kept_rows = kept_.rows[kept_.current].data();
  job.kept_stride = kept_.stride;
  job.n_kept = n_left_;
  return job;
}

void Search::let_leave(uint32_t max_left, SearchJob *job) {
  if (job->n_frames > max_left || (job->n_kept > 0 && job->n_frames > job->n_kept && job->kept_stride != job->row_stride)) return;
  if (kept_.n_bytes() == 0 && !idle_->kept.empty()) {
    kept_ = std::move(idle_->kept.back());
    idle_->kept.pop_back();
  }
  const uint32_t stride = job->n_frames > job->n_kept ? job->row_stride : job->kept_stride;
  const size_t n = size_t{max_left} * stride;
  if (kept_.rows[0].size() < n || kept_.rows[1].size() < n) {
    if (job->n_kept > 0) return;
    try {
      for (Array<float> &rows : kept_.rows) rows.reserve(n);
    } catch (const Error &error) {
      if (error.code() != ASR_OUT_OF_MEMORY) throw;
      return;
    }
  }
  kept_.stride = stride;
  job->may_leave = true;
}

void Search::keep_left(const SearchJob &done, cudaStream_t stream) {
  const uint32_t n_taken_kept = std::min(done.n_consumed, done.n_kept), n_still = done.n_kept - n_taken_kept;
  const uint32_t n_taken = done.n_consumed - n_taken_kept, n_rows = done.n_frames - done.n_kept - n_taken;
  kept_.current ^= 1;
  float *const to = kept_.rows[kept_.current].data();
  copy(to, done.kept_rows + size_t{n_taken_kept} * done.kept_stride, size_t{n_still} * kept_.stride, stream);
  copy(to + size_t{n_still} * kept_.stride, done.rows + size_t{n_taken} * done.row_stride, size_t{n_rows} * kept_.stride, stream);
  n_left_ = n_still + n_rows;
}

SearchJob Search::rest_of(const SearchJob &done) const {
  SearchJob rest = SearchChannel::rest_of(done);
  const uint32_t n_taken_kept = std::min(done.n_consumed, done.n_kept);
  rest.rows = done.rows + size_t{done.n_consumed - n_taken_kept} * done.row_stride;
  rest.kept_rows = done.kept_rows + size_t{n_taken_kept} * done.kept_stride;
  rest.n_kept = done.n_kept - n_taken_kept;
  rest.wants_common = done.wants_common;
  if (!done.has_path) rest.path = done.path;
  return rest;
}

void Search::forget_results() {
  SearchChannel::forget_results();
  wanted_path_.reset();
}

bool Search::take(const SearchJob &job) {
  n_left_ = 0;
  const bool misses_path = job.path.end != nullptr && !job.has_path;
  return SearchChannel::take(job) || misses_path;
}

void Search::prepare(const SearchCapacities *of_few, cudaStream_t stream) {
  if (is_parked()) return;
  ChannelSize size = size_;
  if (of_few != nullptr && size.max_records < of_few->max_records_of_few) {
    size.max_records = of_few->max_records_of_few;
    if (lattice_) size.max_links = std::max(size.max_links, of_few->max_links_of_few);
    resize(size, stream);
  }
  if (job_.n_settled > job_.max_settled / 2) drain_settled(stream);
  if (job_.n_compacted > job_.max_records / 2) grow(kTraceFull, stream);
  if (job_.lattice.n_kept > job_.lattice.max_links / 8 * 7) grow(kLinksFull, stream);
}

void Search::grow(uint32_t overflow, cudaStream_t stream) {
  if (const auto size = grown(size_, overflow)) resize(*size, stream);
}

void Search::resize(const ChannelSize &size, cudaStream_t stream) {
  if (job_.n_settled > 0) drain_settled(stream);
  ChannelMemory memory(size);
  idle_->outgrown.reserve(idle_->outgrown.size() + 1);
  SearchJob grown = job_;
  memory.give(&grown);
  grown.n_compacted = 0;
  const UsedParts from = used_parts(job_), to = used_parts(grown);
  for (size_t i = 0; i < from.size(); ++i) copy(to[i].data, from[i].data, from[i].n, stream);
  await(stream, "copying a channel");
  job_ = grown;
  size_ = size;
  idle_->outgrown.push_back(std::exchange(memory_, std::move(memory)));
}

void Search::park(uint32_t overflow, bool may_shrink, cudaStream_t stream) {
  if (job_.n_settled > 0) drain_settled(stream);
  const ChannelSize size = parked_size(size_, overflow, may_shrink);
  const UsedParts parts = used_parts(job_);
  std::vector<std::byte> parked(n_bytes_of(parts));
  std::byte *to = parked.data();
  for (const UsedPart &part : parts) {
    copy(to, part.data, part.n, stream);
    to += part.n;
  }
  await(stream, "parking a channel");
  parked_ = std::move(parked);
  size_ = size;
  memory_ = ChannelMemory();
}

void Search::bring_back(cudaStream_t stream) {
  if (!is_parked()) return;
  ChannelMemory memory(size_);
  SearchJob back = job_;
  memory.give(&back);
  back.n_compacted = 0;
  const std::byte *from = parked_.data();
  for (const UsedPart &part : used_parts(back)) {
    copy(part.data, from, part.n, stream);
    from += part.n;
  }
  await(stream, "bringing back a channel");
  job_ = back;
  memory_ = std::move(memory);
  parked_ = {};
}

void Search::renew(SearchJob *job) {
  memory_.give(job);
  job->n_settled = job_.n_settled;
  job->n_compacted = job_.n_compacted;
}

void Search::drain_settled(cudaStream_t stream) {
  std::vector<PathStep> steps(job_.n_settled);
  copy(steps.data(), job_.settled, steps.size(), stream);
  await(stream, "reading a path");
  kept_settled_.insert(kept_settled_.end(), steps.begin(), steps.end());
  wanted_path_.reset();  // it does not go on from these
  job_.n_settled = 0;
}

SearchPathJob Search::path_job(uint32_t wants) const {
  SearchPathJob job = path_job_of(job_);
  job.use_final = (wants & ASR_WANTS_FINAL) != 0;
  job.wants_common = (wants & ASR_WANTS_COMMON) != 0;
  job.output = {};
  return job;
}

void Search::best_path(const SearchPathJob &done, asr_path *path) {
  keep_path(done);
  give_wanted_path(done.use_final ? ASR_WANTS_FINAL : 0, path);
}

void Search::keep_path(const SearchPathJob &done) {
  const PathOutput &output = done.output;
  kept_settled_.insert(kept_settled_.end(), output.settled_steps, output.settled_steps + job_.n_settled);
  job_.n_settled = 0;
  wanted_path_ = {std::vector<PathStep>(output.steps, output.steps + output.end->n_steps), path_end(*output.end),
                  done.use_final, done.wants_common};
}

bool Search::give_wanted_path(uint32_t wants, asr_path *path) {
  if (!wanted_path_ || wanted_path_->use_final != ((wants & ASR_WANTS_FINAL) != 0)) return false;
  if ((wants & ASR_WANTS_COMMON) != 0 && !wanted_path_->has_common) return false;
  settle_kept();
  path_.give(wanted_path_->steps.data(), wanted_path_->steps.size(), wanted_path_->end, path);
  wanted_path_.reset();
  return true;
}

void Search::settle_kept() {
  path_.settle(kept_settled_.data(), kept_settled_.size());
  kept_settled_.clear();
}

}  // namespace asr::gpu
