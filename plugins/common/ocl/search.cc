// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/search.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/common/search_options.h"

namespace asr::ocl {

Search::Search(const SearchGraph &graph, const asr_search_options &options, ChannelPool &pool, const SearchRooms &rooms)
    : graph_(graph),
      pool_(pool),
      memory_(pool, {rooms.max_tokens, rooms.max_records, rooms.max_settled, options.lattice_beam > 0 ? rooms.max_links : 0,
                     options.lattice_beam > 0 ? rooms.max_frames : 0}),
      path_(graph.view(), checked(options).acoustic_scale, options.word_insertion_cost),
      lattice_beam_(options.lattice_beam) {
  if (lattice_beam_ > 0 && graph.epsilon_ranks() != nullptr) {
    lattice_.emplace(graph, lattice_beam_);
    job_.lattice.lattice_beam = lattice_beam_;
  }
  memory_.give(&job_);
  job_.begin = 1;
  job_.start_state = graph.view().start_state;
  job_.local_share = 0xffffffffu;
  job_.beam = {options.beam, options.acoustic_scale, options.word_insertion_cost,
               std::max(options.max_active, options.min_active), options.min_active};
  job_.bins_per_cost = static_cast<float>(kBins) / options.beam;
}

SearchJob Search::job(uint64_t rows, uint32_t stride, uint32_t n_frames) const {
  SearchJob job = job_;
  job.rows = rows;
  job.row_stride = stride;
  job.n_frames = died() ? 0 : n_frames;
  job.n_consumed = 0;
  job.status = kSearchRunning;
  job.output = 0;
  return job;
}

SearchJob Search::rest_of(const SearchJob &done) const {
  if (done.output != 0) return lattice_job(done.use_final != 0);
  return job(done.rows + uint64_t{done.n_consumed} * done.row_stride, done.row_stride, done.n_frames - done.n_consumed);
}

bool Search::take(const SearchJob &job) {
  job_ = job;
  n_frames_ += job.n_consumed;
  if (job.status == kSearchDied || job.status == kSearchNegativeCycle) die();
  if (job.status == kSearchNegativeCycle) {
    fail(ASR_INVALID_ARGUMENT, "graph: a cycle of epsilon arcs has a negative cost; correct the graph or word_insertion_cost");
  }
  return job.status == kSearchOverflow;
}

void Search::prepare() {
  if (job_.n_settled > job_.max_settled / 2) drain();
  if (job_.n_compacted > job_.max_records / 2) grow(kTraceFull);
  if (job_.lattice.n_kept > job_.lattice.max_links / 4 * 3 || job_.lattice.n_cramped > 1) grow(kLinksFull);
}

void Search::grow(uint32_t overflow) {
  if (job_.n_settled > 0) drain();
  const bool frames_full = (overflow & kFramesFull) != 0 && (job_.lattice.n_taken == 0 || job_.output != 0);
  if ((overflow & (kTokensFull | kTraceFull | kLinksFull)) == 0 && !frames_full) return;
  ChannelSize size = memory_.size();
  if ((overflow & kTokensFull) != 0) size.max_tokens *= 2;
  if ((overflow & kTraceFull) != 0) size.max_records *= 2;
  if ((overflow & kLinksFull) != 0) size.max_links += size.max_links / 2;
  if (frames_full) size.max_frames *= 2;
  ChannelMemory larger(pool_, size);
  const cl_mem memory = pool_.memory().get();
  const auto copy = [&](uint64_t from, uint64_t to, size_t n_bytes) {
    pool_.queue().copy(memory, from * sizeof(uint32_t), memory, to * sizeof(uint32_t), n_bytes);
  };
  copy(memory_.tokens(job_.current), larger.tokens(job_.current), job_.n_tokens * sizeof(SearchToken));
  copy(memory_.records(), larger.records(), job_.n_records * sizeof(TraceRecord));
  const SearchLinks &lattice = job_.lattice;
  copy(memory_.links(), larger.links(), lattice.n_links * sizeof(SearchLink));
  copy(memory_.extras(), larger.extras(), lattice.n_frames == 0 ? 0 : (lattice.n_links + size_t{1}) * sizeof(float));
  copy(memory_.frames(), larger.frames(), lattice.n_frames * sizeof(SearchFrame));
  pool_.queue().finish();
  memory_ = std::move(larger);
  memory_.give(&job_);
  job_.n_compacted = job_.lattice.n_cramped = 0;
}

void Search::start_draining() {
  drained_.resize(job_.n_settled);
  pool_.queue().read(pool_.memory().get(), memory_.settled() * sizeof(uint32_t), drained_.data(),
                     drained_.size() * sizeof(PathStep));
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
  return {memory_.tokens(job_.current), memory_.records(), 0, job_.n_tokens, job_.n_records};
}

void Search::best_path(const SearchEnd &end, const PathStep *steps, asr_path *path) {
  end_draining();
  const float final_cost = end.reached_final != 0 ? graph_.view().final_costs[end.state] : 0.0f;
  path_.give(steps, end.n_steps,
             {n_frames_, died(), end.reached_final != 0, final_cost, job_.n_active, job_.n_arcs_expanded, end.n_common}, path);
}

SearchJob Search::lattice_job(bool use_final) const {
  check_makes_lattices(lattice_beam_, lattice_.has_value());
  SearchJob writing = job(0, 0, 0);
  writing.output = 1;
  writing.use_final = use_final ? 1 : 0;
  return writing;
}

void Search::lattice(asr_raw_lattice *lattice) {
  lattice_->output(job_.written.reached_final != 0, lattice);
  lattice->n_frames = n_frames_;
  lattice->reached_final = job_.written.reached_final;
  lattice->beam_died = died() ? 1 : 0;
}

void Search::lattice_piece(asr_raw_lattice *piece) {
  check_makes_lattices(lattice_beam_, lattice_.has_value());
  *piece = {};
  lattice_->take_piece(piece);
  piece->n_frames = n_frames_;
  piece->beam_died = died() ? 1 : 0;
}

}  // namespace asr::ocl
