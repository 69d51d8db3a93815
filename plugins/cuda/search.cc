// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/common/search_options.h"

namespace asr::cuda {
namespace {

constexpr uint32_t kMostRoom = 1u << 30;

template <typename T>
void copy(T *to, const T *from, size_t n, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDefault, stream), "copying a channel");
}

// Gives out parts of a piece of memory, one after the other, each at a multiple of 16 bytes; with none, counts them.
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

size_t size_in_memory(const ChannelSize &size) {
  SearchJob job;
  return give_parts(size, nullptr, &job);
}

}  // namespace

ChannelMemory::ChannelMemory(const ChannelSize &size) : size_(size), memory_(size_in_memory(size)) {}

void ChannelMemory::give(SearchJob *job) {
  give_parts(size_, memory_.data(), job);
  job->max_tokens = size_.max_tokens, job->max_records = size_.max_records, job->max_settled = size_.max_settled;
  job->lattice.max_links = size_.max_links, job->lattice.max_frames = size_.max_frames;
}

ChannelMemory IdleMemory::make(const ChannelSize &size) {
  try {
    return ChannelMemory(size);
  } catch (const Error &error) {
    if (error.code() != ASR_OUT_OF_MEMORY) throw;
  }
  for (auto *memories : {&free[0], &free[1], &outgrown}) memories->clear();
  return ChannelMemory(size);
}

uint64_t IdleMemory::n_bytes() const {
  uint64_t n = 0;
  for (const auto *memories : {&free[0], &free[1], &outgrown}) {
    for (const ChannelMemory &memory : *memories) n += memory.n_bytes();
  }
  return n;
}

Search::Search(const SearchGraph &graph, const asr_search_options &options, ChannelMemory memory, IdleMemory *idle)
    : graph_(graph),
      memory_(std::move(memory)),
      idle_(idle),
      path_(graph.view(), checked(options).acoustic_scale, options.word_insertion_cost),
      lattice_beam_(options.lattice_beam) {
  if (lattice_beam_ > 0 && graph.epsilon_ranks() != nullptr) {
    lattice_.emplace(graph, lattice_beam_);
    job_.lattice.lattice_beam = lattice_beam_;
  }
  memory_.give(&job_);
  job_.begin = true;
  job_.graph = graph.tables();
  job_.beam = {options.beam, options.acoustic_scale, options.word_insertion_cost,
               std::max(options.max_active, options.min_active), options.min_active};
}

SearchJob Search::job(const float *rows, size_t stride, uint32_t n_frames) const {
  SearchJob job = job_;
  job.rows = rows;
  job.row_stride = static_cast<uint32_t>(stride);
  job.n_frames = died() ? 0 : n_frames;
  job.n_consumed = 0;
  job.status = kSearchRunning;
  job.overflow = 0;
  job.output = job.has_written = job.has_path = false;
  job.path = {};
  return job;
}

SearchJob Search::rest_of(const SearchJob &done) const {
  SearchJob rest = job(done.rows + size_t{done.n_consumed} * done.row_stride, done.row_stride, done.n_frames - done.n_consumed);
  rest.use_final = done.use_final;
  rest.wants_common = done.wants_common;
  rest.output = done.output && !done.has_written;
  if (!done.has_path) rest.path = done.path;
  return rest;
}

void Search::forget_results() {
  wanted_path_.reset();
  written_.reset();
}

bool Search::take(const SearchJob &job) {
  job_ = job;
  n_frames_ += job.n_consumed;
  if (job.status == kSearchDied || job.status == kSearchNegativeCycle) die();
  if (job.status == kSearchNegativeCycle) {
    fail(ASR_INVALID_ARGUMENT, "graph: a cycle of epsilon arcs has a negative cost; correct the graph or word_insertion_cost");
  }
  const bool misses_path = job.path.end != nullptr && !job.has_path, misses_lattice = job.output && !job.has_written;
  return job.status == kSearchOverflow || misses_path || misses_lattice;
}

void Search::prepare(const SearchRooms *of_few, cudaStream_t stream) {
  ChannelSize size = memory_.size();
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
  const bool frames_full = (overflow & kFramesFull) != 0 && (job_.lattice.n_taken == 0 || job_.output);
  if ((overflow & (kTokensFull | kTraceFull | kLinksFull)) == 0 && !frames_full) return;
  ChannelSize size = memory_.size();
  const auto add = [](uint32_t *room, uint32_t more) {
    if (*room > kMostRoom - more) fail(ASR_OUT_OF_MEMORY, "a frame needs more than %u tokens, records or links", kMostRoom);
    *room += more;
  };
  if ((overflow & kTokensFull) != 0) add(&size.max_tokens, size.max_tokens);
  if ((overflow & kTraceFull) != 0) add(&size.max_records, size.max_records);
  if ((overflow & kLinksFull) != 0) add(&size.max_links, size.max_links / 2);
  if (frames_full) add(&size.max_frames, size.max_frames);
  resize(size, stream);
}

void Search::resize(const ChannelSize &size, cudaStream_t stream) {
  if (job_.n_settled > 0) drain_settled(stream);
  ChannelMemory memory = idle_->make(size);
  idle_->outgrown.reserve(idle_->outgrown.size() + 1);
  SearchJob grown = job_;
  memory.give(&grown);
  grown.n_compacted = 0;
  copy(grown.tokens[grown.current], job_.tokens[job_.current], job_.n_tokens, stream);
  copy(grown.records, job_.records, job_.n_records, stream);
  const SearchLinks &links = job_.lattice;
  copy(grown.lattice.frames, links.frames, links.n_frames, stream);
  copy(grown.lattice.links, links.links, links.n_links, stream);
  copy(grown.lattice.acoustic_costs, links.acoustic_costs, links.n_links, stream);
  copy(grown.lattice.extras, links.extras, links.n_links == 0 ? 0 : links.n_links + size_t{1}, stream);
  await(stream, "copying a channel");
  job_ = grown;
  idle_->outgrown.push_back(std::exchange(memory_, std::move(memory)));
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
  job.place = {};
  return job;
}

void Search::best_path(const SearchPathJob &done, asr_path *path) {
  keep_path(done);
  give_wanted_path(done.use_final ? ASR_WANTS_FINAL : 0, path);
}

void Search::keep_path(const SearchPathJob &done) {
  const SearchPathPlace &place = done.place;
  kept_settled_.insert(kept_settled_.end(), place.settled_steps, place.settled_steps + job_.n_settled);
  job_.n_settled = 0;
  const SearchEnd &end = *place.end;
  const bool reached_final = end.reached_final != 0;
  const float final_cost = reached_final ? graph_.view().final_costs[end.state] : 0.0f;
  wanted_path_ = {std::vector<PathStep>(place.steps, place.steps + end.n_steps),
                  {n_frames_, died(), reached_final, final_cost, job_.n_active, job_.n_arcs_expanded, end.n_common},
                  done.use_final,
                  done.wants_common};
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

void Search::check_lattices() const { check_makes_lattices(lattice_beam_, lattice_.has_value()); }

SearchJob Search::lattice_job(bool use_final) const {
  check_lattices();
  SearchJob writing = job(nullptr, 0, 0);
  writing.output = true;
  writing.use_final = use_final;
  return writing;
}

void Search::take_written(const LatticeReader &reader) {
  WrittenLattice written{{}, {}, {}, job_.written.reached_final != 0, job_.use_final};
  for (const SearchToken &token : reader.tokens()) {
    written.costs.push_back(token.cost);
    written.final_costs.push_back(written.reached_final ? graph_.view().final_costs[token.state] : 0.0f);
  }
  reader.append_written(&written.frames);
  written_ = std::move(written);
}

void Search::lattice(asr_raw_lattice *lattice) {
  WrittenLattice written = std::exchange(written_, std::nullopt).value();
  lattice_->output(std::move(written.frames), written.costs, written.final_costs, lattice);
  lattice->n_frames = n_frames_;
  lattice->reached_final = written.reached_final ? 1 : 0;
  lattice->beam_died = died() ? 1 : 0;
}

void Search::lattice_piece(asr_raw_lattice *piece) {
  check_lattices();
  *piece = {};
  lattice_->take_piece(piece);
  piece->n_frames = n_frames_;
  piece->beam_died = died() ? 1 : 0;
}

}  // namespace asr::cuda
