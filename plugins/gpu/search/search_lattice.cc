// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/search/search_lattice.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace asr {
namespace {

template <typename T>
uint64_t element(uint64_t array, size_t i) {
  return array + i * sizeof(T);
}

}  // namespace

void LatticeReader::set_links(const LatticeBuffers &buffers, uint32_t first_link, size_t n_links) {
  first_link_ = first_link;
  links_ = {element<SearchLink>(buffers.links, first_link), n_links};
  acoustic_costs_ = {element<float>(buffers.acoustic_costs, first_link), n_links};
}

LatticeReader LatticeReader::of_settled(const ChannelLattice &lattice, const LatticeBuffers &buffers, uint32_t first,
                                        uint32_t n_frames) {
  const uint32_t first_link = lattice.settled_begin, n_links = lattice.settled_end - first_link;
  LatticeReader reader;
  reader.set_links(buffers, first_link, n_links);
  reader.frames_ = {element<SearchFrame>(buffers.frames, first), n_frames};
  reader.extras_ = {element<float>(buffers.extras, first_link), n_links + size_t{1}};
  return reader;
}

LatticeReader LatticeReader::of_written(const ChannelLattice &lattice, const LatticeBuffers &buffers,
                                        const SearchOutput &written, uint64_t tokens) {
  LatticeReader reader;
  reader.set_links(buffers, lattice.n_links, written.n_links);
  reader.frames_ = {element<SearchFrame>(buffers.frames, lattice.n_frames), written.n_frames};
  reader.tokens_ = {tokens, written.n_tokens};
  return reader;
}

std::vector<LatticeLink> LatticeReader::links_of(uint32_t first, uint32_t n) const {
  std::vector<LatticeLink> links(n);
  for (uint32_t i = 0; i < n; ++i) {
    const SearchLink &link = links_.host[first - first_link_ + i];
    links[i] = {link.source, link.destination, link.arc, link.cost, acoustic_costs_.host[first - first_link_ + i]};
  }
  std::sort(links.begin(), links.end(), [](const LatticeLink &a, const LatticeLink &b) { return a.arc < b.arc; });
  return links;
}

LatticeFrame LatticeReader::frame(size_t i) const {
  const SearchFrame &from = frames_.host[i];
  LatticeFrame frame;
  frame.emitting = links_of(from.first_link, from.n_emitting);
  frame.epsilon = links_of(from.first_link + from.n_emitting, from.n_epsilon);
  frame.n_tokens = from.n_tokens;
  return frame;
}

void LatticeReader::append_settled(std::vector<LatticeFrame> *frames) const {
  for (size_t i = 0; i < frames_.n; ++i) {
    const uint32_t after_links = frames->empty() ? 0 : 1;  // as first_extra_of() of search_costs-inl.h
    const float *const extra = extras_.host + (frames_.host[i].first_link - first_link_) + after_links;
    LatticeFrame settled = frame(i);
    settled.extra.assign(extra, extra + settled.n_tokens);
    frames->push_back(std::move(settled));
  }
}

void LatticeReader::append_written(std::vector<LatticeFrame> *frames) const {
  for (size_t i = frames_.n; i-- > 0;) frames->push_back(frame(i));
}

std::optional<LatticeReader> SearchLattice::settled(ChannelLattice *lattice, const LatticeBuffers &buffers) {
  if (lattice->last_settled == 0 || lattice->last_settled < n_known_) return std::nullopt;
  const auto first = static_cast<uint32_t>(n_known_ - lattice->first_frame);
  const uint32_t last = lattice->last_settled - lattice->first_frame;
  lattice->n_taken = last;
  n_known_ = lattice->last_settled + size_t{1};
  return LatticeReader::of_settled(*lattice, buffers, first, last + 1 - first);
}

void SearchLattice::take_settled(const LatticeReader &reader) {
  std::lock_guard lock(mutex_);
  const size_t n_before = frames_.first_frame() + frames_.frames().size();
  reader.append_settled(&frames_.frames());
  frames_.settle_pieces(n_before, frames_.first_frame() + frames_.frames().size() - 1);
}

void SearchLattice::output(std::vector<LatticeFrame> written, const std::vector<float> &costs,
                           const std::vector<float> &final_costs, asr_raw_lattice *lattice) {
  std::lock_guard lock(mutex_);
  std::vector<LatticeFrame> &frames = frames_.frames();
  const size_t n_settled = frames.size();
  frames.insert(frames.end(), std::make_move_iterator(written.begin()), std::make_move_iterator(written.end()));
  frames_.output(costs, final_costs, lattice);
  frames.resize(n_settled);
}

void SearchLattice::take_piece(asr_raw_lattice *piece) {
  std::lock_guard lock(mutex_);
  frames_.take_piece(piece);
}

}  // namespace asr
