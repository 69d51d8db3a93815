// SPDX-License-Identifier: Apache-2.0
// SearchChannel is a back end's channel on a device that searches there. It has the channel's job as the last advance left it,
// and on the host the settled parts of its path and lattice. The back end's Search is derived from it and owns the device
// memory. Where that is short, a channel that no job works on may be parked: what its buffers hold moves to the host, and the
// memory is free for others until the channel's next job.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "plugins/common/search_options.h"
#include "plugins/gpu/search/channel_outcome.h"
#include "plugins/gpu/search/channel_size.h"
#include "plugins/gpu/search/search_graph.h"
#include "plugins/gpu/search/search_lattice.h"
#include "plugins/gpu/search/search_path.h"
#include "search/search_job.h"

namespace asr::gpu {

class SearchChannel : public ChannelOutcome {
 public:
  using Rows = decltype(SearchJob::rows);  // address of a row of log-likelihoods

  const SearchGraph &graph() const { return graph_; }
  uint32_t n_pdfs() const { return graph_.view().n_pdfs; }
  bool has_begun() const { return job_.begin == 0; }

  // True while lanes hold the channel for a job, so that it must not be parked. Its device memory is written to, or was and
  // is to be read.
  bool is_held() const { return is_held_; }
  void set_held(bool held) { is_held_ = held; }

  // Return jobs. The first consumes rows, and begins the channel if it has not begun. The second writes the lattice.
  // The third is the rest of a job that was done in part.
  SearchJob job(Rows rows, size_t stride, uint32_t n_frames) const {
    SearchJob job = job_;
    job.rows = rows;
    job.row_stride = static_cast<uint32_t>(stride);
    job.n_frames = died() ? 0 : n_frames;
    job.n_consumed = 0;
    job.status = kSearchRunning;
    job.overflow = 0;
    job.output = 0;
    clear_results(&job);
    return job;
  }
  SearchJob begin_job() const { return job({}, 0, 0); }
  SearchJob lattice_job(bool use_final) const {
    check_lattices();
    SearchJob writing = job({}, 0, 0);
    writing.output = 1;
    writing.use_final = use_final ? 1 : 0;
    return writing;
  }
  SearchJob rest_of(const SearchJob &done) const {
    SearchJob rest =
        job(done.rows + size_t{done.n_consumed} * done.row_stride, done.row_stride, done.n_frames - done.n_consumed);
    rest.use_final = done.use_final;
    rest.output = done.output != 0 && done.has_written == 0 ? 1 : 0;
    return rest;
  }

  // Takes the results of a job. Returns true if the job is not done.
  bool take(const SearchJob &job) {
    job_ = job;
    n_frames_ += job.n_consumed;
    if (job.status == kSearchDied || job.status == kSearchNegativeCycle) die();
    if (job.status == kSearchNegativeCycle) {
      fail(ASR_INVALID_ARGUMENT,
           "graph: a cycle of epsilon arcs has a negative cost; correct the graph or word_insertion_cost");
    }
    return job.status == kSearchOverflow || (job.output != 0 && job.has_written == 0);
  }
  // Frames whose rows the device keeps for the next job (asr_backend_api::left).
  uint32_t n_left() const { return n_left_; }
  // Forgets the results of the preceding job. The rest of a job that was done in part keeps the first part's results.
  void forget_results() { written_.reset(); }

  // Returns a reader of the lattice's frames that have settled since the last call, if any. Once they are read,
  // take_settled() keeps them.
  std::optional<LatticeReader> settled() {
    return lattice_ ? lattice_->settled(&job_.lattice, lattice_buffers(job_)) : std::nullopt;
  }
  void take_settled(const LatticeReader &reader) { lattice_->take_settled(reader); }
  // Returns a reader of the lattice that the last job wrote. Once it is read, take_written() keeps it for lattice().
  LatticeReader written() const {
    return LatticeReader::of_written(job_.lattice, lattice_buffers(job_), job_.written, tokens_address(job_, job_.current ^ 1));
  }
  void take_written(const LatticeReader &reader) {
    WrittenLattice written{{}, {}, {}, job_.written.reached_final != 0, job_.use_final != 0};
    for (const SearchToken &token : reader.tokens()) {
      written.costs.push_back(token.cost);
      written.final_costs.push_back(written.reached_final ? graph_.view().final_costs[token.state] : 0.0f);
    }
    reader.append_written(&written.frames);
    written_ = std::move(written);
  }

  // See asr_backend_api::lattices. The arrays are made on any thread, once for each written lattice, and are valid until the
  // next call.
  void check_lattices() const { check_makes_lattices(lattice_beam_, lattice_.has_value()); }
  bool has_wanted_lattice(bool use_final) const { return written_ && written_->use_final == use_final; }
  void lattice(asr_raw_lattice *lattice) {
    WrittenLattice written = std::exchange(written_, std::nullopt).value();
    lattice_->output(std::move(written.frames), written.costs, written.final_costs, lattice);
    lattice->n_frames = n_frames_;
    lattice->reached_final = written.reached_final ? 1 : 0;
    lattice->beam_died = died() ? 1 : 0;
  }
  void lattice_piece(asr_raw_lattice *piece) {
    check_lattices();
    *piece = {};
    lattice_->take_piece(piece);
    piece->n_frames = n_frames_;
    piece->beam_died = died() ? 1 : 0;
  }

 protected:
  SearchChannel(const SearchGraph &graph, const asr_search_options &options)
      : graph_(graph),
        path_(graph.view(), checked(options).acoustic_scale, options.word_insertion_cost),
        lattice_beam_(options.lattice_beam) {
    if (lattice_beam_ > 0 && graph.epsilon_ranks() != nullptr) {
      lattice_.emplace(graph, lattice_beam_);
      job_.lattice.lattice_beam = lattice_beam_;
    }
    job_.begin = 1;
    job_.beam = {options.beam, options.acoustic_scale, options.word_insertion_cost,
                 std::max(options.max_active, options.min_active), options.min_active};
  }
  ~SearchChannel() = default;

  // Returns the size with which a parked channel comes back: larger in the buffers that overflowed, and smaller in others that
  // were nearly empty. Only the first overflow of a job may shrink buffers: from then on they grow until its frames fit.
  ChannelSize parked_size(const ChannelSize &size, uint32_t overflow, bool may_shrink) const {
    ChannelSize parked = grown(size, overflow).value_or(size);
    if (!may_shrink) return parked;
    const auto shrink = [](uint32_t *capacity, uint32_t before, uint32_t n_used) {
      constexpr uint32_t kLeast = 1u << 10;
      if (*capacity == before) *capacity = std::min(before, std::max(2 * std::min(n_used, UINT32_MAX / 2), kLeast));
    };
    shrink(&parked.max_tokens, size.max_tokens, job_.n_tokens);
    shrink(&parked.max_records, size.max_records, job_.n_records);
    shrink(&parked.max_links, size.max_links, job_.lattice.n_links);
    shrink(&parked.max_frames, size.max_frames, job_.lattice.n_frames);
    return parked;
  }

  // Returns the size with larger buffers for an overflow of the channel's own; none if it has no part in the overflow.
  std::optional<ChannelSize> grown(ChannelSize size, uint32_t overflow) const {
    const bool frames_full = (overflow & kFramesFull) != 0 && (job_.lattice.n_taken == 0 || job_.output != 0);
    if ((overflow & (kTokensFull | kTraceFull | kLinksFull)) == 0 && !frames_full) return std::nullopt;
    const auto add = [](uint32_t *capacity, uint32_t more) {
      constexpr uint32_t kMost = 1u << 30;
      if (*capacity > kMost - more) fail(ASR_OUT_OF_MEMORY, "a frame needs more than %u tokens, records or links", kMost);
      *capacity += more;
    };
    if ((overflow & kTokensFull) != 0) add(&size.max_tokens, size.max_tokens);
    if ((overflow & kTraceFull) != 0) add(&size.max_records, size.max_records);
    if ((overflow & kLinksFull) != 0) add(&size.max_links, size.max_links / 2);
    if (frames_full) add(&size.max_frames, size.max_frames);
    return size;
  }

  PathEnd path_end(const SearchEnd &end) const {
    const bool reached_final = end.reached_final != 0;
    const float final_cost = reached_final ? graph_.view().final_costs[end.state] : 0.0f;
    return {n_frames_, died(), reached_final, final_cost, job_.n_active, job_.n_arcs_expanded, end.n_common};
  }

  const SearchGraph &graph_;
  SearchJob job_{};
  SearchPath path_;

 private:
  bool is_held_ = false;

  struct WrittenLattice {
    std::vector<LatticeFrame> frames;
    std::vector<float> costs, final_costs;  // costs of the newest tokens
    bool reached_final, use_final;
  };

 protected:
  const float lattice_beam_;
  uint32_t n_left_ = 0;
  std::optional<SearchLattice> lattice_;
  std::optional<WrittenLattice> written_;
  std::atomic<uint32_t> n_frames_{0};  // also read while a lattice is made on another thread
};

}  // namespace asr::gpu
