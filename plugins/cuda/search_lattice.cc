// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search_lattice.h"

#include <algorithm>

namespace asr::cuda {
namespace {

template <typename T>
void start_copy(const T *from, size_t n, PinnedArray<T> *to, cudaStream_t stream) {
  if (n > to->size()) to->reserve(n + n / 2);
  check(cudaMemcpyAsync(to->data(), from, n * sizeof(T), cudaMemcpyDeviceToHost, stream), "reading a lattice");
}

}  // namespace

void LatticeReader::start_frames(const SearchLinks &lattice, uint32_t first, uint32_t n_frames, cudaStream_t stream) {
  n_frames_ = n_frames;
  start_copy(lattice.frames + first, n_frames, &frames_, stream);
}

void LatticeReader::start_links(const SearchLinks &lattice, uint32_t first, uint32_t n, cudaStream_t stream) {
  first_link_ = first;
  start_copy(lattice.links + first, n, &links_, stream);
  start_copy(lattice.acoustic_costs + first, n, &acoustic_costs_, stream);
}

void LatticeReader::start_settled(const SearchLinks &lattice, uint32_t first, uint32_t n_frames, cudaStream_t stream) {
  start_frames(lattice, first, n_frames, stream);
  const uint32_t n = lattice.settled_end - lattice.settled_begin;
  start_links(lattice, lattice.settled_begin, n, stream);
  start_copy(lattice.extras + lattice.settled_begin, n + size_t{1}, &extras_, stream);
  mark(stream);
}

void LatticeReader::mark(cudaStream_t stream) { check(cudaEventRecord(arrived_.get(), stream), "reading a lattice"); }

void LatticeReader::start(const SearchLinks &lattice, const SearchOutput &written, const SearchToken *tokens,
                          cudaStream_t stream) {
  start_frames(lattice, lattice.n_frames, written.n_frames, stream);
  start_links(lattice, lattice.n_links, written.n_links, stream);
  n_tokens_ = written.n_tokens;
  start_copy(tokens, written.n_tokens, &tokens_, stream);
  mark(stream);
}

std::vector<LatticeLink> LatticeReader::links_of(uint32_t first, uint32_t n) const {
  std::vector<LatticeLink> links(n);
  for (uint32_t i = 0; i < n; ++i) {
    const SearchLink &link = links_.data()[first - first_link_ + i];
    links[i] = {link.source, link.destination, link.arc, link.cost, acoustic_costs_.data()[first - first_link_ + i]};
  }
  std::sort(links.begin(), links.end(), [](const LatticeLink &a, const LatticeLink &b) { return a.arc < b.arc; });
  return links;
}

LatticeFrame LatticeReader::frame(uint32_t i) const {
  const SearchFrame &from = frames_.data()[i];
  LatticeFrame frame;
  frame.emitting = links_of(from.first_link, from.n_emitting);
  frame.epsilon = links_of(from.first_link + from.n_emitting, from.n_epsilon);
  frame.n_tokens = from.n_tokens;
  return frame;
}

void LatticeReader::append_settled(std::vector<LatticeFrame> *frames) const {
  for (uint32_t i = 0; i < n_frames_; ++i) {
    const uint32_t after_links = frames->empty() ? 0 : 1;  // as SearchLinks::first_extra
    const float *const extra = extras_.data() + (frames_.data()[i].first_link - first_link_) + after_links;
    frames->push_back(frame(i));
    frames->back().extra.assign(extra, extra + frames->back().n_tokens);
  }
}

void LatticeReader::append_written(std::vector<LatticeFrame> *frames) const {
  for (uint32_t i = n_frames_; i-- > 0;) frames->push_back(frame(i));
}

bool SearchLattice::start_settled(SearchLinks *lattice, LatticeReader *reader, cudaStream_t stream) {
  if (lattice->last_settled == 0 || lattice->last_settled < n_known_) return false;
  const auto first = static_cast<uint32_t>(n_known_ - lattice->first_frame);
  reader->start_settled(*lattice, first, lattice->last_settled + 1 - lattice->first_frame - first, stream);
  lattice->n_taken = lattice->last_settled - lattice->first_frame;
  n_known_ = lattice->last_settled + size_t{1};
  return true;
}

void SearchLattice::deliver_settled(const LatticeReader &reader) {
  std::lock_guard lock(mutex_);
  const size_t n_before = frames_.first_frame() + frames_.frames().size();
  reader.append_settled(&frames_.frames());
  frames_.settle_pieces(n_before, frames_.first_frame() + frames_.frames().size() - 1);
}

void SearchLattice::output(const LatticeReader &reader, const std::vector<float> &costs, const std::vector<float> &final_costs,
                           asr_raw_lattice *lattice) {
  std::lock_guard lock(mutex_);
  std::vector<LatticeFrame> &frames = frames_.frames();
  const size_t n_settled = frames.size();
  reader.append_written(&frames);
  frames_.output(costs, final_costs, lattice);
  frames.resize(n_settled);
}

void SearchLattice::take_piece(asr_raw_lattice *piece) {
  std::lock_guard lock(mutex_);
  frames_.take_piece(piece);
}

}  // namespace asr::cuda
