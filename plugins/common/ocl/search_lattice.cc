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

}  // namespace

void LatticeReader::start_table(ChannelPool &pool, const ChannelMemory &memory, const SearchLinks &lattice, uint32_t first,
                                uint32_t end) {
  first_number_ = lattice.first_frame + first;
  start_copy(pool, memory.frames(), first, end - first, &table_);
}

void LatticeReader::start_tokens(ChannelPool &pool, const ChannelMemory &memory, uint32_t current, uint32_t n_tokens) {
  start_copy(pool, memory.tokens(current), 0, n_tokens, &tokens_);
}

void LatticeReader::start_links(ChannelPool &pool, const ChannelMemory &memory) {
  if (table_.empty()) return;
  const SearchFrame &last = table_.back();
  first_link_ = table_.front().first_link;
  const size_t n_links = last.first_link + last.n_emitting + last.n_epsilon - first_link_;
  start_copy(pool, memory.links(), first_link_, n_links, &links_);
  start_copy(pool, memory.extras(), first_link_, n_links + 1, &extras_);
}

std::vector<LatticeLink> LatticeReader::links_of(uint32_t first, uint32_t n) const {
  const auto begin = links_.begin() + (first - first_link_);
  std::vector<LatticeLink> links(begin, begin + n);
  std::sort(links.begin(), links.end(), [](const LatticeLink &a, const LatticeLink &b) { return a.arc < b.arc; });
  return links;
}

void LatticeReader::append_to(std::vector<LatticeFrame> *frames) const {
  for (size_t t = 0; t < table_.size(); ++t) {
    const SearchFrame &frame = table_[t];
    LatticeFrame &added = frames->emplace_back();
    added.emitting = links_of(frame.first_link, frame.n_emitting);
    added.epsilon = links_of(frame.first_link + frame.n_emitting, frame.n_epsilon);
    added.n_tokens = frame.n_tokens;
    if (frame.is_pruned == 0) continue;
    const auto extra = extras_.begin() + (frame.first_link - first_link_) + (first_number_ + t > 0 ? 1 : 0);
    added.extra.assign(extra, extra + frame.n_tokens);
  }
}

uint32_t SearchLattice::first_missing(const SearchLinks &lattice) const {
  return static_cast<uint32_t>(n_known() - lattice.first_frame);
}

void SearchLattice::take_settled(ChannelPool &pool, const ChannelMemory &memory, SearchLinks *lattice) {
  const size_t n_before = n_known();
  if (lattice->last_settled == 0 || lattice->last_settled < n_before) return;
  LatticeReader reader;
  reader.start_table(pool, memory, *lattice, first_missing(*lattice), lattice->last_settled + 1 - lattice->first_frame);
  pool.queue().finish();
  reader.start_links(pool, memory);
  pool.queue().finish();
  reader.append_to(&frames_.frames());
  frames_.settle_pieces(n_before, lattice->last_settled);
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

}  // namespace asr::ocl
