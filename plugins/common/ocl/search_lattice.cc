// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/search_lattice.h"

#include <algorithm>

namespace asr::ocl {
namespace {

// n elements from a place in the pool, `first` elements on.
template <typename T>
void start_copy(ChannelPool &pool, uint64_t place, uint64_t first, size_t n, std::vector<T> *to) {
  to->resize(n);
  pool.queue().read(pool.memory().get(), place * sizeof(uint32_t) + first * sizeof(T), to->data(), n * sizeof(T));
}

std::vector<LatticeLink> links_of(const DeviceFrames &from, uint32_t first, uint32_t n) {
  const auto begin = from.links.begin() + (first - from.first_link);
  std::vector<LatticeLink> links(begin, begin + n);
  std::sort(links.begin(), links.end(), [](const LatticeLink &a, const LatticeLink &b) { return a.arc < b.arc; });
  return links;
}

LatticeFrame frame_of(const DeviceFrames &from, const SearchFrame &frame) {
  LatticeFrame made;
  made.emitting = links_of(from, frame.first_link, frame.n_emitting);
  made.epsilon = links_of(from, frame.first_link + frame.n_emitting, frame.n_epsilon);
  made.n_tokens = frame.n_tokens;
  return made;
}

}  // namespace

bool SearchLattice::start_settled_frames(ChannelPool &pool, const ChannelMemory &memory, const SearchLinks &lattice) {
  if (lattice.last_settled == 0 || lattice.last_settled < n_known()) return false;
  const auto first = static_cast<uint32_t>(n_known() - lattice.first_frame);
  start_copy(pool, memory.frames(), first, lattice.last_settled + 1 - lattice.first_frame - first, &copied_.frames);
  return true;
}

void SearchLattice::start_settled_links(ChannelPool &pool, const ChannelMemory &memory) {
  const SearchFrame &last = copied_.frames.back();
  copied_.first_link = copied_.frames.front().first_link;
  const size_t n_links = last.first_link + last.n_emitting + last.n_epsilon - copied_.first_link;
  start_copy(pool, memory.links(), copied_.first_link, n_links, &copied_.links);
  start_copy(pool, memory.extras(), copied_.first_link, n_links + 1, &copied_.extras);
}

void SearchLattice::take_settled(SearchLinks *lattice) {
  const size_t n_before = n_known();
  std::vector<LatticeFrame> &frames = frames_.frames();
  for (const SearchFrame &frame : copied_.frames) {
    const size_t after_links = n_known() > 0 ? 1 : 0;  // as first_extra() of kernels/search_prune.h
    const auto extra =
        copied_.extras.begin() + static_cast<std::ptrdiff_t>(frame.first_link - copied_.first_link + after_links);
    frames.push_back(frame_of(copied_, frame));
    frames.back().extra.assign(extra, extra + frame.n_tokens);
  }
  frames_.settle_pieces(n_before, lattice->last_settled);
  lattice->n_taken = lattice->last_settled - lattice->first_frame;
}

void SearchLattice::start_written(ChannelPool &pool, const ChannelMemory &memory, const SearchJob &job) {
  copied_.first_link = job.lattice.n_links;
  start_copy(pool, memory.frames(), job.lattice.n_frames, job.written.n_frames, &copied_.frames);
  start_copy(pool, memory.links(), job.lattice.n_links, job.written.n_links, &copied_.links);
  start_copy(pool, memory.tokens(job.current ^ 1), 0, job.written.n_tokens, &copied_.tokens);
}

void SearchLattice::output(bool reached_final, asr_raw_lattice *lattice) {
  std::vector<float> costs, final_costs;
  for (const SearchToken &token : copied_.tokens) {
    costs.push_back(token.cost);
    final_costs.push_back(reached_final ? graph_.view().final_costs[token.state] : 0.0f);
  }
  std::vector<LatticeFrame> &frames = frames_.frames();
  const size_t n_settled = frames.size();
  for (size_t i = copied_.frames.size(); i-- > 0;) frames.push_back(frame_of(copied_, copied_.frames[i]));
  frames_.output(costs, final_costs, lattice);
  frames.resize(n_settled);
}

}  // namespace asr::ocl
