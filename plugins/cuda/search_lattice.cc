// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search_lattice.h"

#include <algorithm>

namespace asr::cuda {
namespace {

template <typename T>
void start_copy(const T *from, size_t n, PinnedArray<T> *to, cudaStream_t stream) {
  to->reserve(n);
  check(cudaMemcpyAsync(to->data(), from, n * sizeof(T), cudaMemcpyDeviceToHost, stream), "reading a lattice");
}

}  // namespace

void LatticeReader::start_table(const SearchLinks &lattice, uint32_t first, uint32_t end, cudaStream_t stream) {
  lattice_ = lattice;
  first_ = first;
  n_frames_ = end - first;
  start_copy(lattice.frames + first, n_frames_, &table_, stream);
}

void LatticeReader::start_tokens(const SearchToken *tokens, uint32_t n_tokens, cudaStream_t stream) {
  start_copy(tokens, n_tokens, &tokens_, stream);
}

void LatticeReader::start_links(cudaStream_t stream) {
  if (n_frames_ == 0) return;
  const SearchFrame &last = table_.data()[n_frames_ - 1];
  first_link_ = table_.data()[0].first_link;
  const size_t n_links = last.first_link + last.n_emitting + last.n_epsilon - first_link_;
  start_copy(lattice_.links + first_link_, n_links, &links_, stream);
  start_copy(lattice_.acoustic_costs + first_link_, n_links, &acoustic_costs_, stream);
  start_copy(lattice_.extras + first_link_, n_links + 1, &extras_, stream);
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

void LatticeReader::append_to(std::vector<LatticeFrame> *frames) const {
  for (uint32_t t = 0; t < n_frames_; ++t) {
    const SearchFrame &frame = table_.data()[t];
    LatticeFrame &added = frames->emplace_back();
    added.emitting = links_of(frame.first_link, frame.n_emitting);
    added.epsilon = links_of(frame.first_link + frame.n_emitting, frame.n_epsilon);
    added.n_tokens = frame.n_tokens;
    if (frame.is_pruned == 0) continue;
    const float *const extra =
        extras_.data() + (frame.first_link - first_link_) + (lattice_.first_frame + first_ + t > 0 ? 1 : 0);
    added.extra.assign(extra, extra + frame.n_tokens);
  }
}

uint32_t SearchLattice::first_missing(const SearchLinks &lattice) const {
  return static_cast<uint32_t>(n_known() - lattice.first_frame);
}

void SearchLattice::take_settled(SearchLinks *lattice, LatticeReader *reader, cudaStream_t stream) {
  const size_t n_before = n_known();
  if (lattice->last_settled == 0 || lattice->last_settled < n_before) return;
  reader->start_table(*lattice, first_missing(*lattice), lattice->last_settled + 1 - lattice->first_frame, stream);
  check(cudaStreamSynchronize(stream), "reading a lattice");
  reader->start_links(stream);
  check(cudaStreamSynchronize(stream), "reading a lattice");
  reader->append_to(&frames_.frames());
  constexpr size_t kPiece = LatticeFrames::kPieceFrames;
  for (size_t last = (n_before + kPiece - 1) / kPiece * kPiece; last <= lattice->last_settled; last += kPiece) {
    if (last > 0) frames_.settle(last);
  }
  lattice->n_taken = lattice->last_settled - lattice->first_frame;
}

void SearchLattice::output(const LatticeReader &reader, const std::vector<float> &costs, const std::vector<float> &final_costs,
                           asr_raw_lattice *lattice) {
  std::vector<LatticeFrame> &frames = frames_.frames();
  const size_t n_settled = frames.size();
  reader.append_to(&frames);
  frames_.output(costs, final_costs, lattice);
  frames.resize(n_settled);
}

}  // namespace asr::cuda
